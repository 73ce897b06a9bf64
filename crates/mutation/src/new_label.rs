//! Labels added by a mutant. No property can list a label that did not exist, so `pc \in [Procs -> {"a", "b"}]` is violated
//! by any new label, whatever the step does. Such violations must not count as kills.

use std::collections::BTreeSet;

use super::make::realign_lists;
use super::{Edit, Mutant, Operator};
use tlaforge_tla::{CONTRACT, Cfg, EFFECT, Module, NodeKind, Trace, Violation, ViolationKind};
use tlaforge_toolchain::CheckRequest;

/// The new label of a mutant, with the specification and configuration that may mention labels.
pub(super) struct NewLabel {
    /// The new label, in quotation marks.
    new: String,
    /// The label of the step that it splits, in quotation marks.
    old: String,
    /// The translated module of the mutant.
    module: Module,
    cfg: Cfg,
}

impl NewLabel {
    /// The new label of a mutant; `None` if its operator adds no label.
    pub(super) fn from_mutant(mutant: &Mutant, request: &CheckRequest) -> Option<Self> {
        if mutant.operator != Operator::SplitLabel {
            return None;
        }
        let name = mutant.edits.first()?.text.trim().trim_end_matches(':');
        let module = Module::parse(&request.spec.text).ok()?;
        let (new, old) = (format!("\"{name}\""), format!("\"{}\"", mutant.definition));
        Some(Self { new, old, module, cfg: request.cfg.clone() })
    }

    pub(super) fn name(&self) -> &str {
        self.new.trim_matches('"')
    }

    /// Whether the new name alone can explain the violation. It cannot if an invariant is false in a state in which no
    /// process is at the new label.
    pub(super) fn may_explain(&self, violated: &Violation, trace: Option<&Trace>) -> bool {
        let at_new = || {
            let pc = trace.and_then(|trace| trace.steps.last()?.state.get("pc"));
            // Without the state, the new label may be the reason.
            pc.is_none_or(|pc| pc.contains(&self.new))
        };
        let reads = || match &violated.name {
            Some(name) => self.reads_labels(name),
            None => self.checked_properties().any(|name| self.reads_labels(name)),
        };
        match violated.kind {
            ViolationKind::Invariant => reads() && at_new(),
            ViolationKind::Property | ViolationKind::ActionProperty => reads(),
            _ => false,
        }
    }

    /// The module with the new label added next to the old one in sets of strings, in definitions that properties use and
    /// the behaviour does not. `None` if there is no such set.
    pub(super) fn with_label_listed(&self) -> Option<String> {
        let module = &self.module;
        let closure_of = |name: &str| {
            let mut names = module.closure(name);
            names.insert(name.to_owned());
            names
        };
        let own = [&self.cfg.specification, &self.cfg.init, &self.cfg.next];
        let behaviour: BTreeSet<String> = own.into_iter().flatten().flat_map(|name| closure_of(name)).collect();
        let asked: BTreeSet<String> = self.checked_properties().flat_map(closure_of).collect();
        let (mut edits, mut lists) = (Vec::new(), Vec::new());
        // Not in the behaviour: a longer list there would be another mutant.
        for definition in asked.difference(&behaviour).filter_map(|name| module.definition(name)) {
            let tree = &definition.tree;
            for id in tree.ids() {
                let node = tree.node(id);
                let range = node.start..node.end;
                if matches!(node.kind, NodeKind::ConjunctionList | NodeKind::DisjunctionList)
                    && module.source[range].contains('\n')
                {
                    lists.push(node.start..node.end);
                }
                if node.kind != NodeKind::SetLiteral {
                    continue;
                }
                let elements: Vec<_> = tree.children(id).collect();
                let strings = elements.iter().all(|element| tree.kind(*element) == NodeKind::Text);
                let has_old = elements.iter().any(|element| tree.text(*element, &module.source) == self.old);
                if let Some(last) = elements.last().filter(|_| strings && has_old) {
                    let end = tree.node(*last).end;
                    edits.push(Edit { range: end..end, text: format!(", {}", self.new) });
                }
            }
        }
        edits.sort_by_key(|edit| edit.range.start);
        lists.sort_by_key(|list| list.start);
        if edits.is_empty() {
            return None;
        }
        let mut text = module.source.clone();
        for edit in realign_lists(&module.source, &lists, edits).into_iter().rev() {
            text.replace_range(edit.range, &edit.text);
        }
        Some(text)
    }

    /// The configuration without the properties that read labels.
    pub(super) fn without_label_properties(&self, cfg: &Cfg) -> Cfg {
        let mut cfg = cfg.clone();
        cfg.invariants.retain(|name| !self.reads_labels(name));
        cfg.properties.retain(|name| !self.reads_labels(name));
        cfg
    }

    fn checked_properties(&self) -> impl Iterator<Item = &str> {
        self.cfg.invariants.iter().chain(&self.cfg.properties).map(String::as_str)
    }

    /// Whether a property can list labels. A contract does not: it requires that one step does everything that the documents
    /// describe, so a split step violates it for a good reason.
    fn reads_labels(&self, property: &str) -> bool {
        let mut names = self.module.closure(property);
        names.insert(property.to_owned());
        if property.starts_with(CONTRACT) && names.iter().any(|name| name.starts_with(EFFECT)) {
            return false;
        }
        let mut all = names.iter().filter_map(|name| self.module.definition(name));
        all.any(|definition| definition.referenced_names().contains("pc"))
    }
}
