//! Splits a specification's formula into initial predicate, next-state relation and fairness. Lamport, "Specifying
//! Systems", section 8.9.

use super::cfg::Cfg;
use super::definition::{Definition, DefinitionKind};
use super::lexer::normalise;
use super::module::Module;
use super::syntax::{Field, Id, NodeKind, Tree};

/// `Init /\ [][Next]_vars /\ Fairness`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecificationFormula {
    /// The conjuncts of the initial predicate.
    pub init: Vec<String>,
    pub next: String,
    /// The state function below the brackets.
    pub subscript: String,
    /// The other conjuncts: fairness, and any other temporal formula.
    pub fairness: Vec<Fairness>,
}

/// One conjunct besides `Init /\ [][Next]_vars`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fairness {
    /// Its text without comments and layout.
    pub normalised: String,
    /// Its parts, if all are fairness of named actions: `\A self \in S : WF_vars(A(self))`.
    pub actions: Option<Vec<FairAction>>,
}

/// Fairness of one action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FairAction {
    /// The text of the quantifiers before it: `\A self \in Procs :`; empty if there are none.
    pub bounds: String,
    /// The name of the action.
    pub action: String,
    /// Its arguments in parentheses; empty if it has none.
    pub arguments: String,
    /// The state function below `WF` or `SF`.
    pub subscript: String,
    /// `SF` rather than `WF`.
    pub strong: bool,
}

impl SpecificationFormula {
    /// Splits the specification that a configuration names. An error says which part does not have this form.
    pub fn parse(module: &Module, cfg: &Cfg) -> Result<Self, String> {
        let Some(specification) = &cfg.specification else {
            let (Some(init), Some(next)) = (&cfg.init, &cfg.next) else {
                return Err("the configuration names no specification".to_owned());
            };
            let subscript = module.variable_tuple();
            return Ok(Self { init: vec![init.clone()], next: next.clone(), subscript, fairness: Vec::new() });
        };
        let mut found = Conjuncts { module, init: Vec::new(), boxes: Vec::new(), fairness: Vec::new() };
        found.definition(specification, 0)?;
        match found.boxes.as_slice() {
            [(next, subscript)] => Ok(Self {
                init: found.init,
                next: next.clone(),
                subscript: subscript.clone(),
                fairness: found.fairness,
            }),
            _ => Err(format!("`{specification}` does not show one next-state relation")),
        }
    }

    /// Whether the text shows that each step of a fair action is a step of the next-state relation: the relation is a
    /// disjunction, and one disjunct is this action with the same arguments below the same quantifiers, whose bounds are
    /// constant.
    pub fn has_disjunct(&self, module: &Module, fair: &FairAction) -> bool {
        let wanted = (bounds_of(&fair.bounds), fair.action.clone(), without_whitespace(&fair.arguments));
        if wanted.0.iter().any(|bound| !is_constant(module, bound)) {
            return false;
        }
        let mut open = vec![(Vec::new(), self.next.clone(), String::new())];
        let mut seen = Vec::new();
        while let Some(call) = open.pop() {
            if call == wanted {
                return true;
            }
            if seen.contains(&call) {
                continue;
            }
            let (bounds, name, arguments) = &call;
            let definition = module.definition(name).filter(|d| is_plain(d));
            // If the arguments are named like the parameters, the body has the same text inside and outside.
            let params = definition.map(|d| d.params.iter().map(|p| p.name.as_str()).collect::<Vec<_>>().join(","));
            if let (Some(definition), Some(params)) = (definition, params)
                && *arguments == if params.is_empty() { params } else { format!("({params})") }
                && let Some(root) = definition.body()
            {
                add_disjuncts(&definition.tree, root, &module.source, bounds, &mut open);
            }
            seen.push(call);
        }
        false
    }
}

fn is_plain(definition: &Definition) -> bool {
    definition.kind == DefinitionKind::Operator && !definition.has_syntax_errors
}

/// A call: the bounds of the quantifiers around it, the name, and the arguments without white space.
type Call = (Vec<String>, String, String);

/// Adds the calls that only disjunctions and existential quantifiers surround.
fn add_disjuncts(tree: &Tree, root: Id, source: &str, around: &[String], calls: &mut Vec<Call>) {
    let mut open = vec![(root, around.to_vec())];
    while let Some((id, bounds)) = open.pop() {
        let id = tree.strip_parentheses(id);
        match tree.kind(id) {
            NodeKind::DisjunctionList => open.extend(tree.children(id).map(|item| (item, bounds.clone()))),
            _ if tree.is_infix(id, "\\/") => {
                let sides = tree.field(id, Field::Left).into_iter().chain(tree.field(id, Field::Right));
                open.extend(sides.map(|side| (side, bounds.clone())));
            }
            NodeKind::Bounded if tree.is_exists(id) => {
                let Some(inner) = tree.field(id, Field::Body) else { continue };
                let mut bounds = bounds;
                bounds.extend(bounds_of(&source[tree.node(id).start..tree.node(inner).start]));
                open.push((inner, bounds));
            }
            _ => {
                let Some(name) = tree.called_name(id) else { continue };
                let arguments = without_whitespace(&source[tree.node(name).end..tree.node(id).end]);
                calls.push((bounds, tree.text(name, source).to_owned(), arguments));
            }
        }
    }
}

/// The bounds of `\A self \in Procs : \E x \in S :`, here `self \in Procs` and `x \in S`, without layout.
fn bounds_of(text: &str) -> Vec<String> {
    let parts = text.split(':').map(|part| part.trim().trim_start_matches("\\A").trim_start_matches("\\E"));
    parts.map(|part| part.split_whitespace().collect::<Vec<_>>().join(" ")).filter(|part| !part.is_empty()).collect()
}

fn without_whitespace(text: &str) -> String {
    text.split_whitespace().collect()
}

/// Whether no word of a bound refers to a variable.
fn is_constant(module: &Module, bound: &str) -> bool {
    let variables = module.variable_names();
    let mut words = bound.split(|c: char| !c.is_alphanumeric() && c != '_');
    words
        .all(|word| !variables.contains(word) && (module.definition(word).is_none() || !module.mentions_variable(word)))
}

struct Conjuncts<'a> {
    module: &'a Module,
    init: Vec<String>,
    boxes: Vec<(String, String)>,
    fairness: Vec<Fairness>,
}

impl Conjuncts<'_> {
    fn definition(&mut self, name: &str, depth: usize) -> Result<(), String> {
        let module = self.module;
        let definition = module.definition(name).filter(|d| is_plain(d) && d.params.is_empty());
        let root = definition.and_then(Definition::body);
        let (Some(definition), Some(root)) = (definition, root) else {
            return Err(format!("`{name}` is no plain definition"));
        };
        if depth > 8 {
            return Err(format!("`{name}` is defined through too many others"));
        }
        self.conjuncts(&definition.tree, root, depth)
    }

    fn conjuncts(&mut self, tree: &Tree, id: Id, depth: usize) -> Result<(), String> {
        let id = tree.strip_parentheses(id);
        match tree.kind(id) {
            NodeKind::ConjunctionList => {
                for item in tree.children(id).filter(|item| tree.kind(*item) == NodeKind::ConjunctionItem) {
                    self.conjuncts(tree, item, depth)?;
                }
                Ok(())
            }
            _ if tree.is_infix(id, "/\\") => {
                for side in [tree.field(id, Field::Left), tree.field(id, Field::Right)].into_iter().flatten() {
                    self.conjuncts(tree, side, depth)?;
                }
                Ok(())
            }
            _ => self.conjunct(tree, id, depth),
        }
    }

    fn conjunct(&mut self, tree: &Tree, id: Id, depth: usize) -> Result<(), String> {
        let source = &self.module.source;
        let text = normalise(source, tree.range(id), &[]);
        if let Some(boxed) = boxed(tree, id, source) {
            self.boxes.push(boxed);
            return Ok(());
        }
        if let Some(called) = tree.called_name(id).filter(|called| *called == id) {
            let name = tree.text(called, source);
            if !self.is_state(name) {
                return self.definition(name, depth + 1);
            }
        }
        if is_temporal(tree, id) || self.calls_temporal(&text) {
            self.fairness.push(Fairness { normalised: text, actions: fair_actions(tree, id, source) });
        } else {
            self.init.push(source[tree.range(id)].to_owned());
        }
        Ok(())
    }

    /// Whether a definition, and everything it depends on, is about a single state.
    fn is_state(&self, name: &str) -> bool {
        let mut all = self.module.closure(name);
        all.insert(name.to_owned());
        all.iter()
            .filter_map(|name| self.module.definition(name))
            .all(|d| !d.has_syntax_errors && !d.tree.ids().any(|id| is_not_in_state_predicate(d.tree.kind(id))))
    }

    fn calls_temporal(&self, text: &str) -> bool {
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.filter(|word| self.module.definition(word).is_some()).any(|word| !self.is_state(word))
    }
}

/// Whether a state predicate cannot contain such a node.
fn is_not_in_state_predicate(kind: NodeKind) -> bool {
    kind.is_temporal() || matches!(kind, NodeKind::Symbol(operator) if operator.name == "'")
}

fn is_temporal(tree: &Tree, root: Id) -> bool {
    let range = tree.range(root);
    tree.ids()
        .map(|id| tree.node(id))
        .any(|node| range.contains(&node.start) && node.end <= range.end && is_not_in_state_predicate(node.kind))
}

/// `A` and `v` of `[][A]_v`.
fn boxed(tree: &Tree, id: Id, source: &str) -> Option<(String, String)> {
    let step = tree.strip_parentheses(tree.operand_of(id, "[]")?);
    if tree.kind(step) != NodeKind::BoxAction {
        return None;
    }
    let children: Vec<Id> = tree.children(step).collect();
    let text = |id: Id| source[tree.range(id)].trim().to_owned();
    match children[..] {
        [action, subscript] => Some((text(action), text(subscript))),
        _ => None,
    }
}

/// The fair actions of a conjunct that consists of nothing else.
fn fair_actions(tree: &Tree, root: Id, source: &str) -> Option<Vec<FairAction>> {
    let mut found = Vec::new();
    let mut open = vec![(root, String::new())];
    while let Some((id, bounds)) = open.pop() {
        let id = tree.strip_parentheses(id);
        let node = tree.node(id);
        match node.kind {
            NodeKind::ConjunctionList => {
                let items = tree.children(id).filter(|item| tree.kind(*item) == NodeKind::ConjunctionItem);
                open.extend(items.map(|item| (item, bounds.clone())));
            }
            _ if tree.is_infix(id, "/\\") => {
                let (left, right) = tree.operands(id)?;
                open.extend([left, right].map(|side| (side, bounds.clone())));
            }
            NodeKind::Bounded if tree.is_for_all(id) => {
                let inner = tree.field(id, Field::Body)?;
                let head = source[node.start..tree.node(inner).start].trim();
                open.push((inner, format!("{bounds} {head}").trim().to_owned()));
            }
            NodeKind::Fairness => {
                let strong = source[node.start..node.end].starts_with("SF_");
                let action = tree.children(id).last()?;
                let action = tree.strip_parentheses(action);
                let called = tree.called_name(action)?;
                let arguments = source[tree.node(called).end..tree.node(action).end].trim().to_owned();
                // The text before the action: `WF_vars(`.
                let head = source[node.start..tree.node(action).start].trim_end().trim_end_matches(['(', ' ']);
                let subscript = head.get(3..).unwrap_or("").trim().to_owned();
                let action = tree.text(called, source).to_owned();
                found.push(FairAction { bounds, action, arguments, subscript, strong });
            }
            _ => return None,
        }
    }
    Some(found)
}
