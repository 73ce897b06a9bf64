//! Questions that show if a check that holds is vacuous: could a deadlock occur at all, and are the premises of the
//! checked properties ever satisfied? Each question asks whether a reachable state satisfies a predicate; the toolchain
//! asks the checker. Pure.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::cfg::Cfg;
use super::definition::{Definition, DefinitionKind};
use super::disjuncts::Disjuncts;
use super::module::Module;
use super::next_relation::NextRelation;
use super::outcome::DEADLOCK;
use super::specification_formula::SpecificationFormula;
use super::syntax::{Field, Id, MAX_DEPTH, NodeKind, Tree};

/// The subject of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// A step that should be disabled in some reachable state.
    Step,
    /// A premise that some reachable state should satisfy.
    Premise,
    /// `P` of `<>P`, which some initial state should violate.
    Eventuality,
}

/// Asks whether, for one of the alternatives, each of its state predicates is satisfied by a reachable state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub subject: Subject,
    /// The step, or the property with its premise, for reports.
    pub label: String,
    /// The predicates, for a module that extends the specification's.
    pub alternatives: Vec<Vec<String>>,
    /// Definitions that the predicates need.
    pub definitions: String,
}

/// Limit on the number of questions of one kind, because each is a run of the checker.
const MAX_QUESTIONS: usize = 40;
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
        questions.push(Question { subject: Subject::Step, label, alternatives, definitions });
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

fn free_prefix(module: &Module) -> String {
    let mut prefix = "TlaforgeStep".to_owned();
    while module.source.contains(&prefix) {
        prefix.push('_');
    }
    prefix
}

/// Asks about the premises of the properties that cover a requirement: `A` in `A => B` and `A ~> B`, also below
/// conjunctions, `[]`, `[A => B]_v` and quantifiers over constant sets; and whether an initial state violates `P` if the
/// property is `<>P`. Also returns how many premises, or properties, were left out because of a limit.
pub fn premise_questions(module: &Module, cfg: &Cfg) -> (Vec<Question>, usize) {
    let mut found = Vec::new();
    let mut not_visited = 0;
    let initial = match &cfg.init {
        Some(init) => Some(init.clone()),
        None => SpecificationFormula::parse(module, cfg).ok().map(|formula| {
            let conjuncts = formula.init.iter().map(|conjunct| format!("({conjunct})"));
            conjuncts.collect::<Vec<_>>().join(" /\\ ")
        }),
    };
    let initial = initial.filter(|initial| !initial.contains('\n'));
    for name in module.requirements_by_property(cfg).keys() {
        if let Some(definition) = plain(module, name) {
            let prefix = free_prefix(module);
            let mut walk = Premises {
                module,
                property: name,
                prefix,
                initial: initial.as_deref(),
                enclosing_boxes: 0,
                open: Vec::new(),
                found: &mut found,
                visits: MAX_VISITS,
            };
            walk.definition(definition, &[]);
            not_visited += usize::from(walk.visits == 0);
        }
    }
    let left_out = found.len().saturating_sub(MAX_QUESTIONS) + not_visited;
    found.truncate(MAX_QUESTIONS);
    (found, left_out)
}

/// Limit on the formulas visited for one property. If each definition of a chain calls the next one twice, the number of
/// visits would otherwise double with every link.
const MAX_VISITS: usize = 5_000;

fn plain<'a>(module: &'a Module, name: &str) -> Option<&'a Definition> {
    let is_plain = |d: &&Definition| d.kind == DefinitionKind::Operator && !d.has_syntax_errors && d.params.is_empty();
    module.definition(name).filter(is_plain)
}

struct Premises<'a, 'f> {
    module: &'a Module,
    property: &'a str,
    prefix: String,
    /// The initial predicate, if it is known.
    initial: Option<&'f str>,
    /// The number of enclosing `[]`.
    enclosing_boxes: usize,
    open: Vec<&'a str>,
    found: &'f mut Vec<Question>,
    /// How many more formulas may be visited.
    visits: usize,
}

/// One element of the context of a formula: a quantifier's bounds, the premise of an implication, or a call, which binds
/// a definition's parameters to arguments.
#[derive(Clone)]
enum Context {
    Bounds(String),
    Premise(String),
    Call { parameters: String, arguments: String },
}

impl<'a> Premises<'a, '_> {
    fn definition(&mut self, definition: &'a Definition, context: &[Context]) {
        if self.open.contains(&definition.name.as_str()) {
            return;
        }
        if let Some(body) = definition.body() {
            self.open.push(&definition.name);
            self.visit(&definition.tree, body, context, 0);
            self.open.pop();
        }
    }

    fn visit(&mut self, tree: &'a Tree, id: Id, context: &[Context], depth: usize) {
        let id = tree.strip_parentheses(id);
        super::step_counter::count_step();
        self.visits = self.visits.saturating_sub(1);
        if depth > MAX_DEPTH || self.visits == 0 {
            return;
        }
        let symbol = tree.operator(id);
        let (lhs, rhs) = (tree.field(id, Field::Left), tree.field(id, Field::Right));
        match (tree.kind(id), symbol, lhs, rhs) {
            (NodeKind::ConjunctionList, ..) => {
                for item in tree.children(id) {
                    self.visit(tree, item, context, depth + 1);
                }
            }
            (NodeKind::Infix, "/\\", Some(lhs), Some(rhs)) => {
                self.visit(tree, lhs, context, depth + 1);
                self.visit(tree, rhs, context, depth + 1);
            }
            (NodeKind::Infix, "=>" | "~>", Some(lhs), Some(rhs)) => {
                let mut inner = context.to_vec();
                if self.premise(tree, lhs, "", &mut inner) {
                    // What follows `A ~>` has to come true later, whatever is true at the start.
                    let later = usize::from(symbol == "~>");
                    self.enclosing_boxes += later;
                    self.visit(tree, rhs, &inner, depth + 1);
                    self.enclosing_boxes -= later;
                }
            }
            (NodeKind::DisjunctionList, ..) | (NodeKind::Infix, "\\/", ..) => {
                self.disjunction(tree, id, context, depth);
            }
            (NodeKind::IfThenElse, ..) => {
                let field = |name| tree.field(id, name);
                let (Some(test), Some(yes), Some(no)) =
                    (field(Field::Condition), field(Field::Then), field(Field::Else))
                else {
                    return;
                };
                for (arm, sign) in [(yes, ""), (no, "~")] {
                    let mut inner = context.to_vec();
                    let is_trivial = tree.text(arm, &self.module.source).trim() == "TRUE";
                    if !is_trivial && self.premise(tree, test, sign, &mut inner) {
                        self.visit(tree, arm, &inner, depth + 1);
                    }
                }
            }
            (NodeKind::Bounded, ..) => self.quantified(tree, id, context, depth),
            (NodeKind::Prefix, "[]", _, Some(operand)) => {
                self.enclosing_boxes += 1;
                self.visit(tree, operand, context, depth + 1);
                self.enclosing_boxes -= 1;
            }
            (NodeKind::BoxAction, ..) => {
                if let Some(action) = tree.children(id).next() {
                    self.visit(tree, action, context, depth + 1);
                }
            }
            (NodeKind::Prefix, "<>", _, Some(operand)) if self.enclosing_boxes == 0 => {
                if let Some(initial) = self.initial {
                    self.eventuality(tree, operand, initial, context);
                }
            }
            (NodeKind::Reference | NodeKind::Call, ..) => self.call(tree, id, context),
            _ => {}
        }
    }

    /// `~A \/ B` is `A => B`.
    fn disjunction(&mut self, tree: &'a Tree, id: Id, context: &[Context], depth: usize) {
        let (mut open, mut items) = (vec![id], Vec::new());
        while let Some(id) = open.pop() {
            let id = tree.strip_parentheses(id);
            let symbol = tree.operator(id);
            match (tree.kind(id), symbol) {
                (NodeKind::DisjunctionList, _) => open.extend(tree.children(id)),
                (NodeKind::Infix, "\\/") => {
                    open.extend([Field::Left, Field::Right].into_iter().filter_map(|side| tree.field(id, side)));
                }
                _ => items.push(id),
            }
        }
        let (negated, rest): (Vec<Id>, Vec<Id>) = items.into_iter().partition(|id| tree.operand_of(*id, "~").is_some());
        if rest.is_empty() || negated.is_empty() {
            return;
        }
        let mut inner = context.to_vec();
        for item in negated.into_iter().rev() {
            let Some(operand) = tree.operand_of(item, "~") else { return };
            if !self.premise(tree, operand, "", &mut inner) {
                return;
            }
        }
        if let [only] = rest.as_slice() {
            self.visit(tree, *only, &inner, depth + 1);
        }
    }

    /// Visits a called definition. Names bound in the context have no meaning inside it, except through its parameters.
    fn call(&mut self, tree: &'a Tree, id: Id, context: &[Context]) {
        let Some(name) = tree.called_name(id) else { return };
        let source = &self.module.source;
        let Some(definition) = self.module.definition(tree.text(name, source)) else { return };
        let count = tree.children(id).filter(|child| *child != name).count();
        let can_be_entered = definition.kind == DefinitionKind::Operator
            && !definition.has_syntax_errors
            && !definition.local
            && definition.params.iter().all(|param| param.arity == 0)
            && (id == name || definition.params.len() == count);
        let arguments = source[tree.node(name).end..tree.node(id).end].trim();
        if !can_be_entered || arguments.contains('\n') {
            return;
        }
        let params: Vec<&str> = definition.params.iter().map(|param| param.name.as_str()).collect();
        let parameters = if params.is_empty() { String::new() } else { format!("({})", params.join(", ")) };
        let mut inner = context.to_vec();
        if !context.is_empty() || !params.is_empty() {
            inner.push(Context::Call { parameters, arguments: arguments.to_owned() });
        }
        self.definition(definition, &inner);
    }

    fn quantified(&mut self, tree: &'a Tree, id: Id, context: &[Context], depth: usize) {
        let all = tree.is_for_all(id);
        let bounds: Vec<Id> = tree.children(id).filter(|child| tree.kind(*child) == NodeKind::Bound).collect();
        let constant =
            |bound: &Id| tree.field(*bound, Field::Set).is_some_and(|set| self.module.is_constant(tree, set));
        let (Some(first), Some(last), Some(inner)) = (bounds.first(), bounds.last(), tree.field(id, Field::Body))
        else {
            return;
        };
        let text = &self.module.source[tree.node(*first).start..tree.node(*last).end];
        if all && !text.contains('\n') && (context.is_empty() || bounds.iter().all(constant)) {
            let mut inner_context = context.to_vec();
            inner_context.push(Context::Bounds(text.to_owned()));
            self.visit(tree, inner, &inner_context, depth + 1);
        }
    }

    /// Asks whether an initial state violates `P` of `<>P`. If none does, `<>P` always holds.
    fn eventuality(&mut self, tree: &Tree, id: Id, initial: &str, context: &[Context]) {
        let mut inner = context.to_vec();
        inner.push(Context::Premise(initial.to_owned()));
        let before = self.found.len();
        if self.premise(tree, id, "~", &mut inner)
            && let Some(question) = self.found.get_mut(before)
        {
            let text = tree.text(tree.strip_parentheses(id), &self.module.source);
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            question.subject = Subject::Eventuality;
            question.label = format!("PROPERTY {} (initial states only: <>({text}))", self.property);
        }
    }

    /// Asks about a premise and adds it to the context. Returns false if it is not a state predicate, which a checker
    /// could not evaluate in a single state.
    fn premise(&mut self, tree: &Tree, id: Id, sign: &str, context: &mut Vec<Context>) -> bool {
        let id = tree.strip_parentheses(id);
        let node = tree.node(id);
        let is_temporal = tree.ids().map(|id| tree.node(id)).any(|inner| {
            (node.start..node.end).contains(&inner.start) && (inner.kind.is_next_state() || inner.kind.is_temporal())
        });
        if is_temporal {
            return false;
        }
        let source = &self.module.source;
        let text = tree.text(id, source);
        let label = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let premise =
            if text.contains('\n') { format!("\n{}\n", self.module.text_in_column(tree, id)) } else { text.to_owned() };
        let with_sign = |text: &str| if sign.is_empty() { text.to_owned() } else { format!("{sign}({text})") };
        context.push(Context::Premise(with_sign(&premise)));
        let mut definitions = String::new();
        let mut helpers = 0;
        let predicate = context.iter().rev().fold(String::from("TRUE"), |inner, one| match one {
            Context::Bounds(bounds) => format!("\\E {bounds} : ({inner})"),
            Context::Premise(premise) if inner == "TRUE" => premise.clone(),
            Context::Premise(premise) => format!("({premise}) /\\ ({inner})"),
            Context::Call { parameters, arguments } => {
                helpers += 1;
                let name = format!("{}{helpers}", self.prefix);
                // Writing to a string cannot fail.
                let _ = writeln!(definitions, "{name}{parameters} ==\n  ({inner})");
                format!("{name}{arguments}")
            }
        });
        self.found.push(Question {
            subject: Subject::Premise,
            label: format!("{}: `{}`", self.property, with_sign(&label)),
            alternatives: vec![vec![predicate]],
            definitions,
        });
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

    #[test]
    fn a_chain_of_definitions_that_call_the_next_one_twice_is_visited_within_the_limit() {
        let define = |at: usize| format!("D{at} == D{} /\\ D{}\n", at - 1, at - 1);
        let chain: String = (1..=60).map(define).collect();
        let module = module(&format!("D0 == n < 9\n{chain}\\* covers R1\nSafe == IF n < 5 THEN n < 6 ELSE D60"));
        let cfg = Cfg::parse("SPECIFICATION Spec\nINVARIANT Safe\n").unwrap();
        let steps = crate::step_counter::steps_of(|| assert_eq!(premise_questions(&module, &cfg).1, 1));
        assert!(steps <= 2 * MAX_VISITS as u64, "{steps}");
    }

    #[test]
    fn an_eventuality_must_be_false_in_an_initial_state() {
        let body = "vars == <<n, m>>\nInit == n = 0 /\\ m = 0\nSpec == Init /\\ [][n' = n]_vars\n\\* covers R1\n\
                    Live == <>(n = 1) /\\ [](<>(m = 1)) /\\ (m = 2 => <>(m = 3)) /\\ (m = 4 ~> <>(m = 5))\n\\* covers R2\nStep == [][n > 5 => n' = 6]_vars";
        let cfg = Cfg::parse("SPECIFICATION Spec\nPROPERTIES Live Step\n").unwrap();
        let asked = premise_questions(&module(body), &cfg).0;
        let asked: Vec<(Subject, String)> =
            asked.into_iter().map(|q| (q.subject, q.alternatives.concat().concat())).collect();
        assert_eq!(
            asked,
            [
                (Subject::Eventuality, "((Init)) /\\ (~(n = 1))".to_owned()),
                (Subject::Premise, "m = 2".to_owned()),
                (Subject::Eventuality, "(m = 2) /\\ (((Init)) /\\ (~(m = 3)))".to_owned()),
                (Subject::Premise, "m = 4".to_owned()),
                (Subject::Premise, "n > 5".to_owned()),
            ]
        );
    }

    #[test]
    fn premises_are_found_below_conjunctions_and_quantifiers() {
        let cfg = Cfg::parse("SPECIFICATION Spec\nINVARIANT Safe\nPROPERTY Live\n").unwrap();
        let module = module(
            "\\* covers R1\nSafe == /\\ n = 9 => m = 1\n        /\\ \\A p \\in P : n = p => (m = p => n > 1)\n\
             Part == m > 7 => n > 7\n\\* covers R2\nLive == [](n = 8 => m = 8) /\\ Part /\\ (n = 7 ~> m = 7)\n\
             Other == n = 6 => m = 6",
        );
        let asked: Vec<String> =
            premise_questions(&module, &cfg).0.into_iter().map(|q| q.alternatives.concat().concat()).collect();
        assert_eq!(
            asked,
            ["n = 8", "m > 7", "n = 7", "n = 9", "\\E p \\in P : (n = p)", "\\E p \\in P : ((n = p) /\\ (m = p))"]
        );
    }
}
