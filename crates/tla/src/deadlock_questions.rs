//! Questions that show whether a deadlock could occur at all. Pure.

use std::collections::BTreeSet;

use super::cfg::Cfg;
use super::definition::{Definition, DefinitionKind};
use super::disjuncts::Disjuncts;
use super::module::Module;
use super::next_relation::NextRelation;
use super::outcome::DEADLOCK;
use super::syntax::{Field, Id};
use super::vacuity::{MAX_QUESTIONS, Question, Subject, free_prefix, plain};

/// Limit on the instances of one step that get a predicate each.
const MAX_INSTANCES: usize = 12;

/// Asks, for each step that could prevent every deadlock, whether it is disabled in some reachable state. There are no
/// questions unless `Deadlock` covers a requirement; an error says why the steps are not known.
pub fn deadlock_questions(module: &Module, cfg: &Cfg) -> Result<Vec<Question>, String> {
    if !cfg.covers.contains_key(DEADLOCK) || cfg.check_deadlock == Some(false) {
        return Ok(Vec::new());
    }
    let prefix = free_prefix(module);
    let NextRelation { next, .. } = NextRelation::find(module, cfg)?;
    let steps = |parts: Disjuncts| -> Vec<(String, String)> {
        let parts = parts.actions.into_iter().filter(|action| !module.is_translators_end(&action.name));
        parts.map(|action| (action.label, action.formula)).collect()
    };
    let parts = Disjuncts::split(module, cfg, &prefix)?;
    let definitions = format!(
        "{}{prefix}Rest({prefix}Set) ==\n  IF {prefix}Set = {{}} THEN {{}} ELSE {prefix}Set \\ {{CHOOSE {prefix}X \\in {prefix}Set : TRUE}}\n",
        parts.definitions
    );
    let mut asked = steps(parts);
    let units = steps(Disjuncts::split_outermost(module, cfg, &prefix)?);
    // Single labels of a process are disabled whenever another one is next, so only a question about the whole process
    // shows that it never waits.
    if module.algorithm.is_some() && !units.is_empty() {
        let label = |formula: &str| formula.trim_matches(['(', ')']).to_owned();
        asked = units.iter().map(|(_, formula)| (label(formula), formula.clone())).collect();
    }
    // If the relation is a single step, asking whether it is disabled only repeats the check for deadlock.
    let is_only = asked.len() == 1;
    if !is_only {
        for component in components(module, &units) {
            if !asked.iter().any(|(_, formula)| *formula == component.1) {
                asked.push(component);
            }
        }
    }
    let mut variables: Vec<&str> = module.variables.iter().map(|variable| variable.name.as_str()).collect();
    variables.sort_unstable();
    let mut questions: Vec<Question> = Vec::new();
    let mut ask = |label, alternatives: Vec<Vec<String>>| {
        let definitions = definitions.clone();
        let property = String::new();
        questions.push(Question {
            subject: Subject::Step,
            property,
            label,
            alternatives,
            is_about_steps: false,
            subscript: String::new(),
            definitions,
        });
    };
    for (label, formula) in asked {
        let instances = disabled_instances(module, cfg, &prefix, &formula, is_only);
        match (is_only, instances) {
            (true, None) => {}
            (true, Some(instances)) => ask(label, vec![instances]),
            (false, instances) => {
                let whole = vec![format!("~ENABLED ({formula})")];
                ask(label, std::iter::once(whole).chain(instances).collect());
            }
        }
    }
    let unchanged = format!("~ENABLED ({next} /\\ UNCHANGED <<{}>>)", variables.join(", "));
    ask("a step that changes nothing".to_owned(), vec![vec![unchanged]]);
    if questions.len() > MAX_QUESTIONS {
        return Err(format!("the next-state relation holds more than {MAX_QUESTIONS} steps"));
    }
    Ok(questions)
}

/// For `\E p \in S : A(p)`, one predicate for each element of `S`: the step of this element is disabled. If this is the
/// only step of the relation, a set with one element satisfies the predicate as well. TLA+ cannot index the elements of
/// a set, so the nth predicate removes n - 1 elements by CHOOSE.
fn disabled_instances(module: &Module, cfg: &Cfg, prefix: &str, formula: &str, is_only: bool) -> Option<Vec<String>> {
    let inner = formula.strip_prefix("(\\E ").and_then(|rest| rest.strip_suffix("))"));
    let (bounds, step) = inner?.split_once(" : (")?;
    let some_instance = || (!is_only).then(|| vec![format!("\\E {bounds} : ~ENABLED ({step})")]);
    let Some((name, set)) = bounds.split_once("\\in") else { return some_instance() };
    let is_plain = name.trim().bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') && !set.contains("\\in");
    let Some(count) = most_elements(module, cfg, set, 0).filter(|count| is_plain && *count <= MAX_INSTANCES) else {
        return some_instance();
    };
    let mut rest = format!("({set})");
    let mut instances = Vec::new();
    for _ in 0..count {
        let after = format!("{prefix}Rest({rest})");
        let alone = if is_only { format!(" \\/ {prefix}Rest({set}) = {{}}") } else { String::new() };
        let first = format!("CHOOSE {prefix}X \\in {rest} : TRUE");
        instances
            .push(format!("({rest} = {{}}{alone}) \\/ (\\E {} \\in {{{first}}} : ~ENABLED ({step}))", name.trim()));
        rest = after;
    }
    Some(instances)
}

/// An upper bound on the number of elements of a constant set, if its text shows one.
fn most_elements(module: &Module, cfg: &Cfg, set: &str, depth: usize) -> Option<usize> {
    let set = set.trim();
    if depth > 8 {
        return None;
    }
    if let Some((one, other)) = set.split_once("\\cup") {
        return Some(most_elements(module, cfg, one, depth + 1)? + most_elements(module, cfg, other, depth + 1)?);
    }
    if let Some(inner) = set.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        let count = if inner.trim().is_empty() { 0 } else { inner.matches(',').count() + 1 };
        return (!inner.contains(':') && !inner.contains('{')).then_some(count);
    }
    if let Some(inner) = set.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        return most_elements(module, cfg, inner, depth + 1);
    }
    if let Some((from, to)) = set.split_once("..") {
        let number = |text: &str| {
            let text = text.trim();
            cfg.constants.get(text).map_or(text, |value| value.as_str()).parse::<i64>().ok()
        };
        let count = number(to)?.checked_sub(number(from)?)?.checked_add(1)?;
        return usize::try_from(count.max(0)).ok();
    }
    if let Some(value) = cfg.constants.get(set) {
        return most_elements(module, cfg, value.strip_prefix("<- ").unwrap_or(value), depth + 1);
    }
    let definition = plain(module, set)?;
    most_elements(module, cfg, definition.tree.text(definition.body()?, &module.source), depth + 1)
}

/// Groups the units of a next-state relation so that different groups share no variable. Empty if there is only one
/// group. A group that always has a step hides every deadlock of the others.
fn components(module: &Module, units: &[(String, String)]) -> Vec<(String, String)> {
    let mut own_control = false;
    if let Some(algorithm) = &module.algorithm {
        let below = algorithm.mentions.iter().filter_map(|name| plain(module, name));
        let mentions_control = |names: &BTreeSet<String>| names.contains("pc") || names.contains("stack");
        let shared =
            mentions_control(&algorithm.mentions) || below.into_iter().any(|d| mentions_control(&d.references.names));
        if algorithm.has_procedures || shared {
            return Vec::new();
        }
        own_control = true;
    }
    let lines = units.iter().enumerate().map(|(number, (_, formula))| format!("Unit{number} ==\n  {formula}\n"));
    let Ok(text) = Module::parse(&format!("---- MODULE Units ----\n{}====\n", lines.collect::<String>())) else {
        return Vec::new();
    };
    let mut groups: Vec<(Vec<usize>, BTreeSet<String>)> = Vec::new();
    for number in 0..units.len() {
        let mut touched =
            Touched { module, names: module.variable_names(), variables: BTreeSet::new(), seen: BTreeSet::new() };
        let unit = text.definition(&format!("Unit{number}"));
        if !unit.is_some_and(|unit| touched.definition(unit, &text.source)) {
            return Vec::new();
        }
        let mut group = (vec![number], touched.variables);
        if own_control {
            // Each process changes its own entry of `pc`.
            group.1.remove("pc");
        }
        let (joined, apart): (Vec<_>, Vec<_>) = groups.into_iter().partition(|other| !other.1.is_disjoint(&group.1));
        for other in joined {
            group.0.extend(other.0);
            group.1.extend(other.1);
        }
        groups = apart;
        groups.push(group);
    }
    if groups.len() < 2 {
        return Vec::new();
    }
    let component = |(mut numbers, _): (Vec<usize>, _)| {
        numbers.sort_unstable();
        let join = |part: &dyn Fn(&(String, String)) -> String, by: &str| {
            numbers.iter().map(|number| part(&units[*number])).collect::<Vec<_>>().join(by)
        };
        match numbers.as_slice() {
            [only] => units[*only].clone(),
            _ => (join(&|unit| unit.0.clone(), " or "), join(&|unit| format!("({})", unit.1), " \\/ ")),
        }
    };
    groups.into_iter().map(component).collect()
}

/// The variables that an action reads or changes.
struct Touched<'a> {
    module: &'a Module,
    /// All variables of the module.
    names: BTreeSet<&'a str>,
    variables: BTreeSet<String>,
    seen: BTreeSet<&'a str>,
}

impl Touched<'_> {
    /// Adds the variables of a definition. Returns false if a part of it could not be read.
    fn definition(&mut self, definition: &Definition, source: &str) -> bool {
        if definition.has_syntax_errors || definition.references.foreign || definition.kind != DefinitionKind::Operator
        {
            return false;
        }
        let tree = &definition.tree;
        let is_unchanged = |id: &Id| {
            let text = |field| tree.field(*id, field).map(|side| tree.text(side, source));
            tree.operand_of(*id, "UNCHANGED").is_some()
                || (tree.is_infix(*id, "=")
                    && text(Field::Left) == text(Field::Right).map(|rhs| format!("{rhs}'")).as_deref())
        };
        let unchanged: Vec<_> = tree.ids().filter(is_unchanged).map(|id| tree.range(id)).collect();
        for id in tree.ids().filter(|id| !unchanged.iter().any(|range| range.contains(&tree.node(*id).start))) {
            let Some(name) = tree.called_name(id).map(|name| tree.text(name, source)) else { continue };
            if self.names.contains(name) {
                self.variables.insert(name.to_owned());
            } else if let Some(below) = self.module.definition(name)
                && self.seen.insert(&below.name)
                && !self.definition(below, &self.module.source)
            {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(body: &str) -> Module {
        Module::parse(&format!("---- MODULE M ----\nEXTENDS Naturals\nCONSTANT P\nVARIABLES n, m\n{body}\n====\n"))
            .unwrap()
    }

    #[test]
    fn each_step_must_be_disabled_somewhere() {
        let cfg = |text: &str| Cfg::parse(&format!("SPECIFICATION Spec\n{text}")).unwrap();
        let module = module(
            "vars == <<n, m>>\nInit == n = 0 /\\ m = 0\nInc(p) == n < p /\\ n' = n + 1 /\\ m' = m\nIdle == UNCHANGED vars\n\
             Next == (\\E p \\in P : Inc(p)) \\/ Idle\nSpec == Init /\\ [][Next]_vars",
        );
        assert_eq!(deadlock_questions(&module, &cfg("")), Ok(Vec::new()));
        let asked = deadlock_questions(&module, &cfg("\\* Deadlock covers R1\n")).unwrap();
        let predicates: Vec<String> = asked.iter().map(|question| question.alternatives.concat().join(" | ")).collect();
        assert_eq!(
            predicates,
            [
                "~ENABLED ((\\E p \\in P : (Inc(p)))) | \\E p \\in P : ~ENABLED (Inc(p))",
                "~ENABLED (Idle)",
                "~ENABLED (Next /\\ UNCHANGED <<m, n>>)",
            ]
        );
        let asked = deadlock_questions(&module, &cfg("\\* Deadlock covers R1\nCONSTANT P = {p1, p2}\n")).unwrap();
        assert_eq!(asked[0].alternatives[1].len(), 2);
    }
}
