//! Questions about what a check that holds is worth: whether a deadlock could occur at all, and whether the premises of
//! what it checked are ever satisfied. Each is a state predicate that some reachable state should satisfy. Pure.

use super::cfg::Cfg;
use super::definition::{Definition, DefinitionKind};
use super::disjuncts::Disjuncts;
use super::fairness::{bare, body, callee, is_constant, next_state};
use super::module::Module;
use super::outcome::TERMINATING;
use super::probe::DEADLOCK;
use super::syntax::{Id, MAX_DEPTH, Tree};

/// What a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// A step that a reachable state should not allow.
    Step,
    /// A premise that a reachable state should satisfy.
    Premise,
}

/// A state predicate that some reachable state should satisfy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// What it is about.
    pub subject: Subject,
    /// The step, or the property with its premise, in words.
    pub label: String,
    /// The predicate, for a module that extends the specification's.
    pub predicate: String,
    /// Definitions that it needs.
    pub definitions: String,
}

/// More questions than that are not asked.
const MOST: usize = 40;

/// Whether each step that could prevent every deadlock is disabled in some reachable state. No questions unless `Deadlock`
/// covers a requirement; an error says why the steps are not known.
pub fn deadlock_questions(module: &Module, cfg: &Cfg) -> Result<Vec<Question>, String> {
    if !cfg.covers.contains_key(DEADLOCK) || cfg.check_deadlock == Some(false) {
        return Ok(Vec::new());
    }
    let prefix = free_prefix(module);
    let (next, ..) = next_state(module, cfg)?;
    let parts = Disjuncts::of(module, cfg, &prefix)?;
    let mut steps: Vec<(String, String)> =
        parts.actions.into_iter().map(|action| (action.label, action.formula)).collect();
    // Of a relation that is one step, the absence of a deadlock is all that its being enabled says.
    if steps.len() == 1 {
        steps.clear();
    }
    // The labels of a process take turns, so a process that never waits is seen only as a whole.
    if module.algorithm.is_some() {
        let processes = Disjuncts::outermost(module, cfg, &prefix)?.actions;
        let processes: Vec<_> = processes.into_iter().filter(|process| process.name != TERMINATING).collect();
        if processes.len() > 1 {
            let label = |formula: &str| formula.trim_matches(['(', ')']).to_owned();
            steps.extend(processes.into_iter().map(|process| (label(&process.formula), process.formula)));
        }
    }
    let mut variables: Vec<&str> = module.variables.iter().map(|variable| variable.name.as_str()).collect();
    variables.sort_unstable();
    let unchanged = format!("{next} /\\ UNCHANGED <<{}>>", variables.join(", "));
    steps.push(("a step that changes nothing".to_owned(), unchanged));
    steps.retain(|(label, _)| label != TERMINATING);
    if steps.len() > MOST {
        return Err(format!("the next-state relation holds more than {MOST} steps"));
    }
    let question = |(label, formula): (String, String)| Question {
        subject: Subject::Step,
        label,
        predicate: disabled(&formula),
        definitions: parts.definitions.clone(),
    };
    Ok(steps.into_iter().map(question).collect())
}

/// A step, or the same step of one of several processes, is not possible.
fn disabled(formula: &str) -> String {
    let whole = format!("~ENABLED ({formula})");
    let inner = formula.strip_prefix("(\\E ").and_then(|rest| rest.strip_suffix("))")?.split_once(" : ("));
    match inner {
        // Over an empty set there is no process, so the step is never possible.
        Some((bounds, step)) => format!("({whole}) \\/ (\\E {bounds} : ~ENABLED ({step}))"),
        None => whole,
    }
}

fn free_prefix(module: &Module) -> String {
    let mut prefix = "TlaforgeStep".to_owned();
    while module.source.contains(&prefix) {
        prefix.push('_');
    }
    prefix
}

/// The premises of the properties that cover a requirement: of `A => B` and `A ~> B`, below conjunctions, `[]` and
/// quantifiers over constant sets; and how many more there are beyond the limit.
pub fn premise_questions(module: &Module, cfg: &Cfg) -> (Vec<Question>, usize) {
    let mut found = Vec::new();
    for name in module.coverage_under(cfg).keys() {
        if let Some(definition) = plain(module, name) {
            let mut walk = Premises { module, property: name, open: Vec::new(), found: &mut found };
            walk.definition(definition, &[]);
        }
    }
    let left_out = found.len().saturating_sub(MOST);
    found.truncate(MOST);
    (found, left_out)
}

fn plain<'a>(module: &'a Module, name: &str) -> Option<&'a Definition> {
    let is_plain = |d: &&Definition| d.kind == DefinitionKind::Operator && !d.damaged && d.params.is_empty();
    module.definition(name).filter(is_plain)
}

struct Premises<'a, 'f> {
    module: &'a Module,
    property: &'a str,
    open: Vec<&'a str>,
    found: &'f mut Vec<Question>,
}

/// What stands above a formula: a quantifier's bounds, or the premise of an implication.
#[derive(Clone)]
enum Above {
    Bounds(String),
    Premise(String),
}

impl<'a> Premises<'a, '_> {
    fn definition(&mut self, definition: &'a Definition, above: &[Above]) {
        if self.open.contains(&definition.name.as_str()) {
            return;
        }
        if let Some(body) = body(definition) {
            self.open.push(&definition.name);
            self.visit(&definition.tree, body, above, 0);
            self.open.pop();
        }
    }

    fn visit(&mut self, tree: &'a Tree, id: Id, above: &[Above], depth: usize) {
        let id = bare(tree, id);
        if depth > MAX_DEPTH {
            return;
        }
        let symbol = tree.field(id, "symbol").map(|symbol| tree.node(symbol).kind);
        let (lhs, rhs) = (tree.field(id, "lhs"), tree.field(id, "rhs"));
        match (tree.node(id).kind, symbol, lhs, rhs) {
            ("conj_list", ..) => {
                for item in tree.children(id) {
                    self.visit(tree, item, above, depth + 1);
                }
            }
            ("bound_infix_op", Some("land"), Some(lhs), Some(rhs)) => {
                self.visit(tree, lhs, above, depth + 1);
                self.visit(tree, rhs, above, depth + 1);
            }
            ("bound_infix_op", Some("implies" | "leads_to"), Some(lhs), Some(rhs)) => {
                let mut inner = above.to_vec();
                if self.premise(tree, lhs, &mut inner) {
                    self.visit(tree, rhs, &inner, depth + 1);
                }
            }
            ("bounded_quantification", ..) => self.quantified(tree, id, above, depth),
            // The grammar reads `[](P)` as an operator used like a function.
            ("bound_prefix_op" | "bound_nonfix_op", ..) => {
                let always = tree.field(id, "symbol").is_some_and(|symbol| {
                    tree.node(symbol).kind == "always" || tree.children(symbol).any(|s| tree.node(s).kind == "always")
                });
                if let Some(operand) = tree.children(id).last().filter(|_| always) {
                    self.visit(tree, operand, above, depth + 1);
                }
            }
            ("identifier_ref", ..) => {
                let name = callee(tree, id).map(|name| tree.text(name, &self.module.source));
                if let Some(definition) = name.and_then(|name| plain(self.module, name)) {
                    // The names bound above have no meaning there.
                    if above.is_empty() {
                        self.definition(definition, above);
                    }
                }
            }
            _ => {}
        }
    }

    fn quantified(&mut self, tree: &'a Tree, id: Id, above: &[Above], depth: usize) {
        let all = tree.field(id, "quantifier").is_some_and(|q| tree.node(q).kind == "forall");
        let bounds: Vec<Id> = tree.children(id).filter(|child| tree.node(*child).kind == "quantifier_bound").collect();
        let constant = |bound: &Id| tree.field(*bound, "set").is_some_and(|set| is_constant(self.module, tree, set));
        let (Some(first), Some(last), Some(inner)) = (bounds.first(), bounds.last(), tree.field(id, "expression"))
        else {
            return;
        };
        let text = &self.module.source[tree.node(*first).start..tree.node(*last).end];
        if all && !text.contains('\n') && (above.is_empty() || bounds.iter().all(constant)) {
            let mut above = above.to_vec();
            above.push(Above::Bounds(text.to_owned()));
            self.visit(tree, inner, &above, depth + 1);
        }
    }

    /// Asks for a premise, and adds it to what stands above. Only predicates of one state can be asked for.
    fn premise(&mut self, tree: &Tree, id: Id, above: &mut Vec<Above>) -> bool {
        let node = tree.node(id);
        let temporal = tree.ids().map(|id| tree.node(id)).any(|inner| {
            (node.start..node.end).contains(&inner.start)
                && matches!(inner.kind, "prime" | "unchanged" | "always" | "eventually" | "leads_to" | "fairness")
        });
        if temporal {
            return false;
        }
        let source = &self.module.source;
        let text = tree.text(id, source);
        let label = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let premise = if text.contains('\n') {
            // Bulleted lists live by their columns.
            let line = source[..node.start].rfind('\n').map_or(0, |at| at + 1);
            let column = source[line..node.start].chars().count();
            format!("\n{}{text}\n", " ".repeat(column))
        } else {
            text.to_owned()
        };
        above.push(Above::Premise(premise));
        let predicate = above.iter().rev().fold(String::from("TRUE"), |inner, one| match one {
            Above::Bounds(bounds) => format!("\\E {bounds} : ({inner})"),
            Above::Premise(premise) if inner == "TRUE" => premise.clone(),
            Above::Premise(premise) => format!("({premise}) /\\ ({inner})"),
        });
        self.found.push(Question {
            subject: Subject::Premise,
            label: format!("{}: `{label}`", self.property),
            predicate,
            definitions: String::new(),
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
        let predicates: Vec<&str> = asked.iter().map(|question| question.predicate.as_str()).collect();
        assert_eq!(
            predicates,
            [
                "(~ENABLED ((\\E p \\in P : (Inc(p))))) \\/ (\\E p \\in P : ~ENABLED (Inc(p)))",
                "~ENABLED (Idle)",
                "~ENABLED (Next /\\ UNCHANGED <<m, n>>)",
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
        let asked: Vec<String> = premise_questions(&module, &cfg).0.into_iter().map(|q| q.predicate).collect();
        assert_eq!(
            asked,
            ["n = 8", "m > 7", "n = 7", "n = 9", "\\E p \\in P : (n = p)", "\\E p \\in P : ((n = p) /\\ (m = p))"]
        );
    }
}
