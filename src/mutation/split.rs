//! A label that came into a specification is in no list of labels that a property has: `pc \in [Procs -> {"a", "b"}]`
//! would be violated by any new one, whatever the step does.

use std::collections::BTreeSet;

use super::make::aligned;
use super::{Edit, Mutant, Operator};
use crate::tla::{Cfg, Module, Trace, Violation, ViolationKind};
use crate::toolchain::CheckRequest;

/// A new label, and what its specification says of labels.
pub(super) struct NewLabel {
    /// In quotation marks.
    new: String,
    /// The label of the step that it splits, in quotation marks.
    old: String,
    /// Translated.
    module: Module,
    cfg: Cfg,
}

impl NewLabel {
    /// The one that a mutant has.
    pub(super) fn of(mutant: &Mutant, request: &CheckRequest) -> Option<Self> {
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

    /// Whether the name may be all that the violated property has to say against the mutant. An invariant that is false
    /// where no process is at the new label says more.
    pub(super) fn may_be_all(&self, violated: &Violation, trace: Option<&Trace>) -> bool {
        let at_new = || {
            let pc = trace.and_then(|trace| trace.steps.last()?.state.get("pc"));
            pc.is_none_or(|pc| pc.contains(&self.new))
        };
        let reads = || match &violated.name {
            Some(name) => self.reads_labels(name),
            None => self.listed_properties().any(|name| self.reads_labels(name)),
        };
        match violated.kind {
            ViolationKind::Invariant => reads() && at_new(),
            ViolationKind::Property | ViolationKind::ActionProperty => reads(),
            _ => false,
        }
    }

    /// The module with the new label beside the old one wherever that stands in a set of strings, in what properties
    /// depend on and the behaviour does not. `None` where there is no such set.
    pub(super) fn listed(&self) -> Option<String> {
        let module = &self.module;
        let below = |name: &str| {
            let mut names = module.closure(name);
            names.insert(name.to_owned());
            names
        };
        let own = [&self.cfg.specification, &self.cfg.init, &self.cfg.next];
        let behaviour: BTreeSet<String> = own.into_iter().flatten().flat_map(|name| below(name)).collect();
        let asked: BTreeSet<String> = self.listed_properties().flat_map(below).collect();
        let (mut edits, mut lists) = (Vec::new(), Vec::new());
        for definition in asked.difference(&behaviour).filter_map(|name| module.definition(name)) {
            let tree = &definition.tree;
            for id in tree.ids() {
                let node = tree.node(id);
                let range = node.start..node.end;
                if matches!(node.kind, "conj_list" | "disj_list") && module.source[range].contains('\n') {
                    lists.push(node.start..node.end);
                }
                if node.kind != "finite_set_literal" {
                    continue;
                }
                let elements: Vec<_> = tree.children(id).collect();
                let strings = elements.iter().all(|element| tree.node(*element).kind == "string");
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
        for edit in aligned(&module.source, &lists, edits).into_iter().rev() {
            text.replace_range(edit.range, &edit.text);
        }
        Some(text)
    }

    /// The configuration without the properties that read labels.
    pub(super) fn others(&self, cfg: &Cfg) -> Cfg {
        let mut cfg = cfg.clone();
        cfg.invariants.retain(|name| !self.reads_labels(name));
        cfg.properties.retain(|name| !self.reads_labels(name));
        cfg
    }

    fn listed_properties(&self) -> impl Iterator<Item = &str> {
        self.cfg.invariants.iter().chain(&self.cfg.properties).map(String::as_str)
    }

    fn reads_labels(&self, property: &str) -> bool {
        let mut names = self.module.closure(property);
        names.insert(property.to_owned());
        let mut all = names.iter().filter_map(|name| self.module.definition(name));
        all.any(|definition| definition.referenced_names().contains("pc"))
    }
}
