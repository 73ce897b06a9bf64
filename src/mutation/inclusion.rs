//! Whether everything that one specification does another one does as well: `O!Init /\ [][O!Next]_vars` as a property of
//! the one, with the other instantiated under the same constants. Lamport, "Specifying Systems", section 10.8.
//! Inclusion both ways means the same reachable states and, stuttering aside, the same steps.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::tla::{Cfg, FairAction, Module, SpecificationFormula, lex};
use crate::toolchain::{CheckRequest, SpecText};

/// A specification whose text is translated, taken apart.
#[derive(Debug, Clone)]
pub(super) struct Side {
    pub(super) module: Module,
    pub(super) behaviour: SpecificationFormula,
}

impl Side {
    fn text_of(&self, name: &str) -> Option<String> {
        self.module.definition(name).map(|definition| definition.normalised(&self.module.source))
    }
}

/// A definition that the fairness of these actions is bound to, by quantifiers, arguments or a subscript, and that is
/// not the same in both. The text of the formulas is.
pub(super) fn bound_otherwise(sides: [&Side; 2], actions: &[FairAction]) -> Option<String> {
    let texts = actions.iter().flat_map(|fair| [&fair.bounds, &fair.arguments, &fair.subscript]);
    let words: BTreeSet<&str> =
        texts.flat_map(|text| lex(text, 0..text.len()).into_iter().map(|token| token.text(text))).collect();
    let mut names = BTreeSet::new();
    for (word, side) in words.into_iter().flat_map(|word| sides.map(|side| (word, side))) {
        if side.module.definition(word).is_some() {
            names.insert(word.to_owned());
            names.extend(side.module.closure(word));
        }
    }
    names.into_iter().find(|name| sides[0].text_of(name) != sides[1].text_of(name))
}

/// Names that neither specification uses.
const PREFIX: &str = "Tlaforge";

/// What the requests are made with.
pub(super) struct Inclusion<'a> {
    pub(super) cfg: &'a Cfg,
    pub(super) beside: &'a [(String, String)],
    /// What `beside` and both texts do not contain.
    prefix: String,
}

impl<'a> Inclusion<'a> {
    /// An error says why the question cannot be put so.
    pub(super) fn new(cfg: &'a Cfg, beside: &'a [(String, String)], sides: [&Side; 2]) -> Result<Self, String> {
        let mut prefix = PREFIX.to_owned();
        let texts = || sides.iter().map(|s| s.module.source.as_str()).chain(beside.iter().map(|(_, t)| t.as_str()));
        while texts().any(|text| text.contains(&prefix)) {
            prefix.push('_');
        }
        for side in sides {
            if !side.module.is_self_contained() {
                return Err("it extends a module beside it, whose variables are not known here".to_owned());
            }
            let substituted = |name: &&String| !side.module.constants.iter().any(|c| c.name == **name);
            let is_override = |(name, value): &(&String, &String)| value.starts_with("<-") && substituted(name);
            if let Some((name, _)) = cfg.constants.iter().find(is_override) {
                return Err(format!("the configuration puts another definition in the place of `{name}`"));
            }
            let lines = side.behaviour.init.iter().chain([&side.behaviour.next]);
            if lines.into_iter().any(|text| text.contains('\n')) {
                return Err(
                    "the initial predicate or the next-state relation is written out in the specification".to_owned()
                );
            }
        }
        Ok(Self { cfg, beside, prefix })
    }

    /// Whether `inner` has all variables of `outer`, so that what it does can be asked of the other.
    pub(super) fn covers(inner: &Side, outer: &Side) -> bool {
        let has = |name: &str| inner.module.variables.iter().any(|variable| variable.name == name);
        outer.module.variables.iter().all(|variable| has(&variable.name))
    }

    /// The check that holds where everything that `inner` does to the variables of `outer`, `outer` does as well.
    pub(super) fn request(&self, inner: &Side, outer: &Side) -> CheckRequest {
        let Self { prefix, .. } = self;
        let formula = format!("{prefix}Other!{prefix}Init /\\ [][{prefix}Other!{prefix}Next]_{}", variables(outer));
        self.with(inner, outer, &formula)
    }

    /// The check that holds where these actions are the same on every step of `inner`.
    pub(super) fn same_actions(&self, inner: &Side, outer: &Side, actions: &[FairAction]) -> CheckRequest {
        let Self { prefix, .. } = self;
        let mut formula = "[][".to_owned();
        for FairAction { bounds, action, arguments, .. } in actions {
            // Writing to a string cannot fail.
            let _ = write!(formula, " /\\ ({bounds} ({action}{arguments} <=> {prefix}Other!{action}{arguments}))");
        }
        let _ = write!(formula, "]_{}", variables(inner));
        self.with(inner, outer, &formula)
    }

    fn with(&self, inner: &Side, outer: &Side, formula: &str) -> CheckRequest {
        let Self { prefix, cfg, beside } = self;
        let text = format!(
            "---- MODULE {prefix}Inclusion ----\nEXTENDS {}\n{prefix}Other == INSTANCE {prefix}Original\n{prefix}Included == \
             {formula}\n====\n",
            inner.module.name
        );
        let property = vec![format!("{prefix}Included")];
        let cfg = Cfg {
            invariants: Vec::new(),
            properties: property,
            witnesses: Vec::new(),
            symmetry: Vec::new(),
            view: None,
            alias: None,
            postcondition: None,
            check_deadlock: Some(false),
            ..(*cfg).clone()
        };
        let mut all = beside.to_vec();
        all.push((inner.module.name.clone(), inner.module.source.clone()));
        all.push((format!("{prefix}Original"), self.renamed(outer)));
        let spec = SpecText { name: format!("{prefix}Inclusion"), text, local_modules: all };
        CheckRequest { spec, cfg_text: cfg.render(), cfg }
    }

    /// The other module under a name of its own, with names for its two parts.
    fn renamed(&self, side: &Side) -> String {
        let Self { prefix, .. } = self;
        let Side { module, behaviour } = side;
        let header = &module.source[module.header.clone()];
        let name = header.rfind(&module.name).map_or(module.header.end, |at| module.header.start + at);
        let end = module.terminator.as_ref().map_or(module.source.len(), |end| end.start);
        let init: Vec<String> = behaviour.init.iter().map(|part| format!("({part})")).collect();
        format!(
            "{}{prefix}Original{}\n{prefix}Init == {}\n{prefix}Next == {}\n{}",
            &module.source[..name],
            &module.source[name + module.name.len()..end],
            init.join(" /\\ "),
            behaviour.next,
            &module.source[end..],
        )
    }
}

fn variables(side: &Side) -> String {
    let names: Vec<&str> = side.module.variables.iter().map(|v| v.name.as_str()).collect();
    format!("<<{}>>", names.join(", "))
}
