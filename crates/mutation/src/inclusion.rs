//! Inclusion of behaviours between two specifications: the checker verifies `O!Init /\ [][O!Next]_vars` as a property of
//! one, with the other instantiated as `O` under the same constants (Lamport, "Specifying Systems", section 10.8).
//! Inclusion both ways means the same reachable states and, up to stuttering, the same steps.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use tlaforge_tla::{Cfg, FairAction, Module, SpecificationFormula, lex};
use tlaforge_toolchain::{CheckRequest, SpecText};

/// A translated specification with its initial predicate, next-state relation and fairness.
#[derive(Debug, Clone)]
pub(super) struct ParsedSpec {
    pub(super) module: Module,
    pub(super) behaviour: SpecificationFormula,
}

impl ParsedSpec {
    fn normalized_definition(&self, name: &str) -> Option<String> {
        self.module.definition(name).map(|definition| definition.normalised(&self.module.source))
    }
}

/// A definition that quantifiers, arguments or subscripts of these fairness conditions use, and that differs between the
/// two specifications although the text of the conditions is the same.
pub(super) fn find_differing_binding(sides: [&ParsedSpec; 2], actions: &[FairAction]) -> Option<String> {
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
    names.into_iter().find(|name| sides[0].normalized_definition(name) != sides[1].normalized_definition(name))
}

/// Prefix of generated names; extended by `_` until neither specification contains it.
const PREFIX: &str = "Tlaforge";

/// Builds the check requests for inclusion.
pub(super) struct Inclusion<'a> {
    pub(super) cfg: &'a Cfg,
    pub(super) local_modules: &'a [(String, String)],
    /// A prefix that no text of the request contains.
    prefix: String,
}

impl<'a> Inclusion<'a> {
    /// The error says why inclusion cannot be expressed for these specifications.
    pub(super) fn new(
        cfg: &'a Cfg,
        local_modules: &'a [(String, String)],
        sides: [&ParsedSpec; 2],
    ) -> Result<Self, String> {
        let mut prefix = PREFIX.to_owned();
        let texts =
            || sides.iter().map(|s| s.module.source.as_str()).chain(local_modules.iter().map(|(_, t)| t.as_str()));
        while texts().any(|text| text.contains(&prefix)) {
            prefix.push('_');
        }
        for side in sides {
            if !side.module.is_self_contained() {
                return Err("it extends another module, whose variables are unknown here".to_owned());
            }
            let substituted = |name: &&String| !side.module.constants.iter().any(|c| c.name == **name);
            let is_override = |(name, value): &(&String, &String)| value.starts_with("<-") && substituted(name);
            if let Some((name, _)) = cfg.constants.iter().find(is_override) {
                return Err(format!("the configuration replaces the definition of `{name}`"));
            }
            // They are inserted into a line of another module, where a list over several lines would lose its
            // alignment.
            let lines = side.behaviour.init.iter().chain([&side.behaviour.next]);
            if lines.into_iter().any(|text| text.contains('\n')) {
                return Err(
                    "the initial predicate or the next-state relation is written out in the specification".to_owned()
                );
            }
        }
        Ok(Self { cfg, local_modules, prefix })
    }

    /// Whether `inner` has all variables of `outer`, so that its behaviours can be checked against `outer`.
    pub(super) fn has_variables_of(inner: &ParsedSpec, outer: &ParsedSpec) -> bool {
        let has = |name: &str| inner.module.variables.iter().any(|variable| variable.name == name);
        outer.module.variables.iter().all(|variable| has(&variable.name))
    }

    /// The check that holds if every behaviour of `inner`, restricted to the variables of `outer`, is one of `outer`.
    pub(super) fn request(&self, inner: &ParsedSpec, outer: &ParsedSpec) -> CheckRequest {
        let Self { prefix, .. } = self;
        let formula = format!("{prefix}Other!{prefix}Init /\\ [][{prefix}Other!{prefix}Next]_{}", variables(outer));
        self.build_request(inner, outer, &formula)
    }

    /// The check that holds if these actions are equivalent on every step of `inner`.
    pub(super) fn same_actions(&self, inner: &ParsedSpec, outer: &ParsedSpec, actions: &[FairAction]) -> CheckRequest {
        let Self { prefix, .. } = self;
        let mut formula = "[][".to_owned();
        for FairAction { bounds, action, arguments, .. } in actions {
            // Writing to a string cannot fail.
            let _ = write!(formula, " /\\ ({bounds} ({action}{arguments} <=> {prefix}Other!{action}{arguments}))");
        }
        let _ = write!(formula, "]_{}", variables(inner));
        self.build_request(inner, outer, &formula)
    }

    fn build_request(&self, inner: &ParsedSpec, outer: &ParsedSpec, formula: &str) -> CheckRequest {
        let Self { prefix, cfg, local_modules } = self;
        let text = format!(
            "---- MODULE {prefix}Inclusion ----\nEXTENDS {}\n{prefix}Other == INSTANCE {prefix}Original\n{prefix}Included == \
             {formula}\n====\n",
            inner.module.name
        );
        // SYMMETRY and VIEW are left out because they identify states that have to be compared one by one; deadlock,
        // because it is not the question here.
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
        let mut all = local_modules.to_vec();
        all.push((inner.module.name.clone(), inner.module.source.clone()));
        all.push((format!("{prefix}Original"), self.rename_module(outer)));
        let spec = SpecText { name: format!("{prefix}Inclusion"), text, local_modules: all };
        CheckRequest { spec, cfg_text: cfg.render(), cfg }
    }

    /// The other module under a generated name, with definitions for its initial predicate and next-state relation.
    fn rename_module(&self, side: &ParsedSpec) -> String {
        let Self { prefix, .. } = self;
        let ParsedSpec { module, behaviour } = side;
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

fn variables(side: &ParsedSpec) -> String {
    let names: Vec<&str> = side.module.variables.iter().map(|v| v.name.as_str()).collect();
    format!("<<{}>>", names.join(", "))
}
