//! Questions that show if a property can be false at all: is there a state that `TypeOK` allows, reachable or not, in which it is?
//! The search begins in the initial states of the specification and changes one variable at a time, for a step one or two, to
//! another value of its type, so it meets the states that differ least from an initial one first. A property that is true in all
//! of them restricts nothing that the types do not. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::cfg::Cfg;
use super::definition::Definition;
use super::module::Module;
use super::outcome::{ASSERTION, DEADLOCK};
use super::references::references;
use super::specification_formula::SpecificationFormula;
use super::syntax::{Field, Id, NodeKind, Tree};
use super::type_moves::{MAX_NUMBERS, Move, Moves};
use super::typed_paths::{TypedPaths, typed_paths};
use super::vacuity::{Question, Subject, free_prefix, plain};

/// The definition that says which values the variables can have.
pub(crate) const TYPES: &str = "TypeOK";

/// A search for a state, or a step, that the types allow and a property forbids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeWalk {
    pub property: String,
    /// Whether the search leaves the types: intervals are wider by one, and sets of strings have one more.
    pub leaves_types: bool,
    /// The definitions that the search needs, for a module that extends the specification's.
    pub definitions: String,
    /// The names of its initial predicate and next-state relation.
    pub init: String,
    pub next: String,
    /// The name of the formula that is checked, as INVARIANT or as PROPERTY.
    pub formula: String,
    pub is_invariant: bool,
    /// The values and steps that the search skips. If there are any, a search without a violation decides nothing.
    pub gaps: Vec<String>,
}

/// The searches for the properties that cover a requirement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TypeWalks {
    /// A search within the types, and one that leaves them, if there is any. It separates a property that
    /// the types imply from one that is always true.
    pub walks: Vec<(TypeWalk, Option<TypeWalk>)>,
    /// The properties without a search, with the reason.
    pub without: Vec<(String, String)>,
    /// The properties that read no variable.
    pub constant: Vec<String>,
}

/// Finds the searches. There is none for a temporal property whose form does not show a state predicate: it is not asked about.
pub fn type_walks(module: &Module, cfg: &Cfg) -> TypeWalks {
    let mut found = TypeWalks::default();
    for name in module.requirements_by_property(cfg).into_keys() {
        if [DEADLOCK, ASSERTION, TYPES].contains(&name.as_str()) {
            continue;
        }
        let Some(definition) = plain(module, &name) else { continue };
        if !module.mentions_variable(&name) && has_no_other_module(module) {
            found.constant.push(name);
            continue;
        }
        let Some(checked) = Checked::read(module, cfg, definition) else { continue };
        let walks = Types::read(module, cfg).and_then(|types| {
            let within = types.walk(definition, &checked, false)?;
            Ok((within, types.walk(definition, &checked, true).ok().filter(|walk| walk.is_invariant)))
        });
        match walks {
            Ok(walks) => found.walks.push(walks),
            Err(why) => found.without.push((name, why)),
        }
    }
    found
}

/// A search for a state that the types allow and that satisfies two invariants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairWalk {
    /// The two invariants.
    pub names: [String; 2],
    /// The search, for a state that violates "not both".
    pub walk: TypeWalk,
    /// The searches for a state that satisfies one of them.
    pub alone: [TypeWalk; 2],
}

/// Finds, for each of these violated invariants and each other one that covers a requirement, the search for a state that satisfies
/// both. If there is none, no protocol with these constants keeps both. Invariants whose types give no search are left out.
pub fn pair_walks(module: &Module, cfg: &Cfg, violated: &[&str]) -> Vec<PairWalk> {
    let Ok(types) = Types::read(module, cfg) else { return Vec::new() };
    let covering = module.requirements_by_property(cfg).into_keys();
    let invariants: Vec<String> = covering.filter(|name| name != TYPES && cfg.invariants.contains(name)).collect();
    let mut found = Vec::new();
    for (at, first) in invariants.iter().enumerate() {
        for second in &invariants[at + 1..] {
            if ![first, second].iter().any(|name| violated.contains(&name.as_str())) {
                continue;
            }
            let Some((one, other)) = plain(module, first).zip(plain(module, second)) else { continue };
            let walk = |predicate: String| {
                let checked = Checked { predicate: Some(predicate), is_invariant: true, second_property: Some(other) };
                types.walk(one, &checked, false)
            };
            let both = walk(format!("~({first} /\\ {second})"));
            let alone = walk(format!("~{first}")).and_then(|one| Ok([one, walk(format!("~{second}"))?]));
            if let (Ok(walk), Ok(alone)) = (both, alone) {
                found.push(PairWalk { names: [first.clone(), second.clone()], walk, alone });
            }
        }
    }
    found
}

/// Asks, for each property that covers a requirement, whether a reachable state differs from the initial ones in a variable that
/// the property reads. There is no question if the initial value of one of them is not a constant.
pub fn change_questions(module: &Module, cfg: &Cfg) -> Vec<Question> {
    // What a property reads through another module is not known.
    let initial = if has_no_other_module(module) { initial_values(module, cfg) } else { BTreeMap::new() };
    let ask = |name: String| {
        plain(module, &name)?;
        let variables = module.variables_of(&name, |_| true);
        let differs = differs_from_start(&initial, &variables)?;
        Some(Question {
            subject: Subject::Change,
            label: variables.into_iter().collect::<Vec<_>>().join(", "),
            property: name,
            alternatives: vec![vec![differs]],
            is_about_steps: false,
            subscript: String::new(),
            definitions: String::new(),
        })
    };
    let names = module.requirements_by_property(cfg).into_keys();
    names.filter(|name| name != TYPES).filter_map(ask).collect()
}

/// Whether every definition that a property can read is known.
pub(super) fn has_no_other_module(module: &Module) -> bool {
    module.is_self_contained() && module.inner_names().next().is_none()
}

/// The predicate that one of these variables has another value than in the initial states; `None` if there are no variables, or
/// the initial value of one is not known.
pub(super) fn differs_from_start(initial: &BTreeMap<String, String>, variables: &BTreeSet<&str>) -> Option<String> {
    let differs = variables.iter().map(|variable| Some(format!("({variable} # {})", initial.get(*variable)?)));
    let differs = differs.collect::<Option<Vec<String>>>()?;
    (!differs.is_empty()).then(|| differs.join(" \\/ "))
}

/// The variables that the initial predicate gives one constant value, with this value in parentheses.
pub(super) fn initial_values(module: &Module, cfg: &Cfg) -> BTreeMap<String, String> {
    let Ok(formula) = SpecificationFormula::parse(module, cfg) else { return BTreeMap::new() };
    let mut values = BTreeMap::new();
    for conjunct in &formula.init {
        let Some(definition) = plain(module, conjunct) else { continue };
        for (tree, id) in conjuncts(module, definition) {
            if tree.operator(id) == "="
                && let Some((lhs, rhs)) = tree.operands(id)
                && module.is_constant(tree, rhs)
            {
                let name = tree.text(tree.strip_parentheses(lhs), &module.source);
                values.insert(name.to_owned(), in_parentheses(module, tree, rhs));
            }
        }
    }
    values.retain(|name, _| module.variable_names().contains(name.as_str()));
    values
}

fn in_parentheses(module: &Module, tree: &Tree, id: Id) -> String {
    let text = tree.text(id, &module.source);
    if text.contains('\n') { format!("(\n{}\n)", module.text_in_column(tree, id)) } else { format!("({text})") }
}

/// The conjuncts of a definition and of the definitions without parameters that it names.
fn conjuncts<'a>(module: &'a Module, definition: &'a Definition) -> Vec<(&'a Tree, Id)> {
    let mut found = Vec::new();
    let mut open: Vec<(&Tree, Id)> = definition.body().map(|body| (&definition.tree, body)).into_iter().collect();
    let mut seen = BTreeSet::from([definition.name.as_str()]);
    while let Some((tree, id)) = open.pop() {
        let id = tree.strip_parentheses(id);
        match (tree.kind(id), tree.operator(id)) {
            (NodeKind::ConjunctionList, _) => open.extend(tree.children(id).rev().map(|item| (tree, item))),
            (NodeKind::Infix, "/\\") => {
                let sides = [Field::Right, Field::Left].into_iter().filter_map(|side| tree.field(id, side));
                open.extend(sides.map(|side| (tree, side)));
            }
            (NodeKind::Reference, _) => {
                let named = plain(module, tree.text(id, &module.source)).filter(|named| seen.insert(&named.name));
                match named.and_then(|named| Some((&named.tree, named.body()?))) {
                    Some(inner) => open.push(inner),
                    None => found.push((tree, id)),
                }
            }
            _ => found.push((tree, id)),
        }
    }
    found
}

/// What is checked of a property.
struct Checked<'a> {
    /// A formula in place of the property, if it is temporal and its state predicate is checked.
    predicate: Option<String>,
    is_invariant: bool,
    /// Another property that the predicate names.
    second_property: Option<&'a Definition>,
}

impl Checked<'_> {
    /// `None` for a temporal property whose form shows no state predicate.
    fn read(module: &Module, cfg: &Cfg, definition: &Definition) -> Option<Self> {
        if cfg.invariants.contains(&definition.name) {
            return Some(Self { predicate: None, is_invariant: true, second_property: None });
        }
        let closure = module.closure(&definition.name);
        let used = || closure.iter().filter_map(|name| module.definition(name)).chain([definition]);
        let any = |matches: &dyn Fn(NodeKind) -> bool| {
            used().any(|used| used.tree.ids().any(|id| matches(used.tree.kind(id))))
        };
        let has_future = any(&|kind| match kind {
            NodeKind::Fairness | NodeKind::AngleAction => true,
            NodeKind::Symbol(operator) => matches!(operator.name, "<>" | "~>"),
            _ => false,
        });
        let has_steps = any(&|kind| kind == NodeKind::BoxAction);
        let is_temporal = |name: &String| {
            module.definition(name).is_some_and(|used| used.tree.ids().any(|id| used.tree.kind(id).is_temporal()))
        };
        let predicate =
            if has_steps || closure.iter().any(is_temporal) { None } else { state_predicate(module, definition) };
        match predicate {
            Some(predicate) => Some(Self { predicate: Some(predicate), is_invariant: true, second_property: None }),
            None if has_future || !is_about_each_step(module, definition) => None,
            None => Some(Self { predicate: None, is_invariant: false, second_property: None }),
        }
    }
}

/// Whether the formula is a conjunction of formulas about each state and each step: `[]P` and `[][A]_v`, also below `\A`.
fn is_about_each_step(module: &Module, definition: &Definition) -> bool {
    let is_simple = |tree: &Tree, id: Id| {
        let range = tree.range(id);
        !tree
            .ids()
            .any(|inner| range.contains(&tree.node(inner).start) && inner != id && tree.kind(inner).is_temporal())
    };
    let mut open: Vec<(&Tree, Id)> = conjuncts(module, definition);
    while let Some((tree, id)) = open.pop() {
        let id = tree.strip_parentheses(id);
        let follows = match (tree.kind(id), tree.operator(id)) {
            (NodeKind::BoxAction, _) => true,
            (NodeKind::Prefix, "[]") => {
                let Some(operand) = tree.field(id, Field::Right) else { return false };
                let operand = tree.strip_parentheses(operand);
                if tree.kind(operand) == NodeKind::BoxAction || tree.kind(operand) == NodeKind::Bounded {
                    open.push((tree, operand));
                    true
                } else {
                    is_simple(tree, operand)
                }
            }
            (NodeKind::Bounded, _) if tree.is_for_all(id) => {
                let Some(body) = tree.field(id, Field::Body) else { return false };
                open.push((tree, body));
                true
            }
            _ => is_simple(tree, id),
        };
        if !follows {
            return false;
        }
    }
    true
}

/// The formula without its temporal operators, and with `=>` in place of `~>`: if it is true in every state, then so is the property
/// in every behaviour. `None` if this does not follow, as for `[]` below `\/`.
fn state_predicate(module: &Module, definition: &Definition) -> Option<String> {
    let tree = &definition.tree;
    let body = definition.body()?;
    let mut marks: Vec<(usize, &str)> = Vec::new();
    // Whether only `<>` of a state predicate may follow: another formula may be true later and the part itself not.
    let mut open = vec![(body, false)];
    while let Some((id, is_limited)) = open.pop() {
        let id = tree.strip_parentheses(id);
        let side = |side| tree.field(id, side);
        let place = || Some(tree.node(side(Field::Symbol)?).start);
        match (tree.kind(id), tree.operator(id)) {
            (NodeKind::ConjunctionList, _) => open.extend(tree.children(id).map(|item| (item, is_limited))),
            (NodeKind::DisjunctionList, _) => open.extend(tree.children(id).map(|item| (item, true))),
            (NodeKind::Infix, "/\\") => {
                open.extend([(side(Field::Left)?, is_limited), (side(Field::Right)?, is_limited)]);
            }
            (NodeKind::Infix, "\\/") => open.extend([(side(Field::Left)?, true), (side(Field::Right)?, true)]),
            (NodeKind::Infix, "=>") => open.push((side(Field::Right)?, true)),
            (NodeKind::Infix, "~>") if !is_limited => {
                marks.push((place()?, "=>"));
                open.push((side(Field::Right)?, true));
            }
            (NodeKind::Prefix, "[]") if !is_limited => {
                marks.push((place()?, "  "));
                open.push((side(Field::Right)?, false));
            }
            (NodeKind::Prefix, "<>") => {
                marks.push((place()?, "  "));
                if !is_limited {
                    open.push((side(Field::Right)?, false));
                }
            }
            (NodeKind::Bounded, _) => open.push((side(Field::Body)?, is_limited || tree.is_exists(id))),
            _ => {}
        }
    }
    let all = tree.ids().filter(|id| tree.kind(*id).is_temporal()).count();
    if all != marks.len() {
        return None;
    }
    let (start, mut text) = (tree.node(body).start, module.text_in_column(tree, body));
    let before = text.len() - tree.text(body, &module.source).len();
    for (at, by) in marks {
        let at = before + at - start;
        text.replace_range(at..at + 2, by);
    }
    Some(text)
}

/// The names that a text of quantifiers binds.
fn bound_names(quantifiers: &str) -> impl Iterator<Item = &str> {
    quantifiers
        .split("\\E ")
        .skip(1)
        .filter_map(|part| part.split("\\in").next())
        .flat_map(|names| names.split(',').map(str::trim))
}

/// A number that most bounds exclude.
const LARGE_NUMBER: i64 = 10_000;

/// The types of a module's variables, and the searches that they allow.
struct Types<'a> {
    module: &'a Module,
    cfg: &'a Cfg,
    prefix: String,
    init: String,
    typed: TypedPaths<'a>,
    numbers: Vec<i64>,
}

impl<'a> Types<'a> {
    fn read(module: &'a Module, cfg: &'a Cfg) -> Result<Self, String> {
        let definition = plain(module, TYPES).ok_or_else(|| format!("there is no {TYPES}"))?;
        let formula = SpecificationFormula::parse(module, cfg)?;
        let init: Vec<String> = formula.init.iter().map(|conjunct| format!("({conjunct})")).collect();
        let words = |text: &str| -> Vec<i64> {
            text.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect()
        };
        let configured = cfg.constants.values().flat_map(|value| words(value));
        let numbers: BTreeSet<i64> = configured.flat_map(|number| [number, number + 1]).chain([0, 1, 2]).collect();
        let numbers = numbers.into_iter().take(MAX_NUMBERS).chain([LARGE_NUMBER]).collect();
        let typed = typed_paths(module, cfg, definition);
        Ok(Self { module, cfg, prefix: free_prefix(module), init: init.join(" /\\ "), typed, numbers })
    }

    fn walk(&self, definition: &Definition, checked: &Checked<'_>, leaves_types: bool) -> Result<TypeWalk, String> {
        let module = self.module;
        let mut gaps = Vec::new();
        if !has_no_other_module(module) {
            gaps.push("what it reads through another module is not known".to_owned());
        }
        let read = if checked.is_invariant {
            let mut read = module.variables_of(&definition.name, |_| true);
            read.extend(
                checked.second_property.into_iter().flat_map(|other| module.variables_of(&other.name, |_| true)),
            );
            read
        } else {
            gaps.push("only steps that change one or two variables were tried".to_owned());
            self.variables_of_steps(definition)
        };
        let prefix = &self.prefix;
        let mut changes: Vec<(&str, Vec<Move>)> = Vec::new();
        for variable in &read {
            gaps.extend(self.typed.gaps_of(variable));
            let mut moves = Moves {
                module,
                cfg: self.cfg,
                prefix,
                numbers: &self.numbers,
                leaves_types,
                variable,
                binders: 0,
                gaps: &mut gaps,
            };
            let moves = moves.of_variable(&self.typed.paths);
            if moves.is_empty() {
                gaps.push(format!("{TYPES} gives no finite set of values for {variable}"));
            } else {
                changes.push((variable, moves));
            }
        }
        if changes.is_empty() {
            return Err(gaps.pop().unwrap_or_else(|| "it reads no variable".to_owned()));
        }
        let [init, next, formula] = ["Init", "Next", "Formula"].map(|part| format!("{prefix}{part}"));
        let names: Vec<&str> = module.variables.iter().map(|variable| variable.name.as_str()).collect();
        let mut disjuncts = Vec::new();
        let mut add = |changed: &[(&str, &Move)]| {
            // No name can be bound twice.
            if let [(_, one), (_, other)] = changed
                && bound_names(&one.quantifiers)
                    .any(|name| bound_names(&other.quantifiers).any(|second| second == name))
            {
                return;
            }
            let quantifiers: String = changed.iter().map(|(_, one)| one.quantifiers.as_str()).collect();
            let mut parts: Vec<String> = changed.iter().map(|(_, one)| one.condition.clone()).collect();
            parts.retain(|condition| !condition.is_empty());
            parts.extend(changed.iter().map(|(name, one)| format!("{name}' = {}", one.value)));
            let rest: Vec<&str> =
                names.iter().copied().filter(|name| changed.iter().all(|(changed, _)| changed != name)).collect();
            if !rest.is_empty() {
                parts.push(format!("UNCHANGED <<{}>>", rest.join(", ")));
            }
            if !leaves_types {
                // As a value: as an action, `x' \in S` would try every element of S.
                parts.push(format!("{TYPES}' = TRUE"));
            }
            disjuncts.push(format!("({quantifiers}({}))", parts.join(") /\\ (")));
        };
        for (at, (variable, moves)) in changes.iter().enumerate() {
            for one in moves {
                add(&[(variable, one)]);
                let others = changes[at + 1..].iter().filter(|_| !checked.is_invariant);
                for (other, second) in others.flat_map(|(other, moves)| moves.iter().map(move |one| (other, one))) {
                    add(&[(variable, one), (other, second)]);
                }
            }
        }
        let mut definitions = format!("{init} == {}\n{next} ==\n  {}\n", self.init, disjuncts.join("\n  \\/ "));
        let formula = match &checked.predicate {
            Some(predicate) => {
                // Writing to a string cannot fail.
                let _ = writeln!(definitions, "{formula} ==\n{predicate}");
                formula
            }
            None => definition.name.clone(),
        };
        let (property, is_invariant) = (definition.name.clone(), checked.is_invariant);
        Ok(TypeWalk { property, leaves_types, definitions, init, next, formula, is_invariant, gaps })
    }

    /// The variables of A in `[A]_v`, and those of v if A has none of them.
    fn variables_of_steps(&self, definition: &Definition) -> BTreeSet<&'a str> {
        let tree = &definition.tree;
        let actions: Vec<Id> = tree.of_kind(NodeKind::BoxAction).filter_map(|id| tree.children(id).next()).collect();
        if actions.is_empty() {
            return self.module.variables_of(&definition.name, |_| true);
        }
        let mut found = BTreeSet::new();
        for action in actions {
            found.extend(self.module.variables_among(&references(tree, &self.module.source, action, &[])));
        }
        // A step that leaves the subscript unchanged violates nothing.
        for subscript in tree.of_kind(NodeKind::BoxAction).filter_map(|id| tree.children(id).last()) {
            let of = self.module.variables_among(&references(tree, &self.module.source, subscript, &[]));
            if found.is_disjoint(&of) {
                found.extend(of);
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walks(types: &str, property: &str) -> TypeWalks {
        let text = format!(
            "---- MODULE M ----\nEXTENDS Naturals, Sequences\nCONSTANTS P\nVARIABLES n, f, q\nInit == n = 0 /\\ f = [p \\in P |-> 0] /\\ q = <<>>\n\
             Next == UNCHANGED <<n, f, q>>\nShort(s, most) == Len(s) <= most /\\ \\A i \\in 1..Len(s) : s[i] \\in P\n\
             TypeOK ==\n{types}\n\\* covers R1\nSafe == {property}\n====\n"
        );
        let role = if property.contains("[]") || property.contains("~>") { "PROPERTY" } else { "INVARIANT" };
        let cfg = Cfg::parse(&format!("INIT Init\nNEXT Next\n{role} Safe\n")).unwrap();
        type_walks(&Module::parse(&text).unwrap(), &cfg)
    }

    /// What the search within the types changes a variable to, with the quantifiers around.
    fn changes(types: &str, property: &str) -> Vec<String> {
        let walks = walks(types, property);
        let [(within, _)] = walks.walks.as_slice() else { panic!("{walks:?}") };
        let lines = within.definitions.lines().filter(|line| line.contains("' = "));
        let change = |line: &str| {
            let quantifiers: Vec<&str> =
                line.split("\\E ").skip(1).map(|part| part.split(" : ").next().unwrap()).collect();
            let value = line.split("' = ").nth(1).unwrap().split(") /\\ ").next().unwrap();
            format!("{}: {value}", quantifiers.join(", ")).replace(&within.init.replace("Init", ""), "_")
        };
        lines.map(change).collect()
    }

    #[test]
    fn each_part_of_a_variable_changes_to_the_values_of_its_type() {
        for (types, property, wanted) in [
            ("n \\in 0..3", "n < 2", &["_n_1 \\in (0..3): _n_1"][..]),
            ("f \\in [P -> 0..1]", "f # n", &["_f_1 \\in DOMAIN f, _f_2 \\in (0..1): [f EXCEPT ![_f_1] = _f_2]"]),
            (
                "DOMAIN f = P /\\ \\A p \\in P : f[p] \\in {1, 2}",
                "\\A p \\in P : f[p] > 0",
                &["_f_1 \\in ({1, 2}): [f EXCEPT ![p] = _f_1]"],
            ),
            (
                "f \\in [P -> [a : 0..1, b : SUBSET P]]",
                "f # 1",
                &[
                    "_f_1 \\in DOMAIN f, _f_2 \\in (0..1): [f EXCEPT ![_f_1] = [f[_f_1] EXCEPT !.a = _f_2]]",
                    "_f_1 \\in DOMAIN f, _f_3 \\in (P): [f EXCEPT ![_f_1] = [f[_f_1] EXCEPT !.b = (f[_f_1].b \\cup {_f_3})]]",
                    "_f_1 \\in DOMAIN f, _f_4 \\in (P): [f EXCEPT ![_f_1] = [f[_f_1] EXCEPT !.b = (f[_f_1].b \\ {_f_4})]]",
                ],
            ),
            ("q \\in Seq(P)", "Len(q) < 2", &["_q_1 \\in (P): Append(q, _q_1)", ": Tail(q)"]),
            ("Short(q, 2)", "Len(q) < 2", &["_q_1 \\in (LET s == (q) most == (2) IN P): Append(q, _q_1)", ": Tail(q)"]),
        ] {
            let all = if property.contains('n') && !types.contains('n') {
                format!("{types} /\\ n \\in Kinds")
            } else {
                types.to_owned()
            };
            assert_eq!(changes(&all, property), wanted, "{types}");
        }
    }

    #[test]
    fn a_temporal_property_is_asked_about_as_a_state_predicate_or_as_a_step() {
        let formula = |property: &str| {
            let found = walks("n \\in 0..3", property).walks;
            found.first().map(|(walk, _)| {
                let after = walk.definitions.split(&format!("{} ==\n", walk.formula)).nth(1);
                after.map_or_else(|| walk.formula.clone(), |text| text.split_whitespace().collect::<Vec<_>>().join(" "))
            })
        };
        assert_eq!(formula("[](n < 3)").as_deref(), Some("(n < 3)"));
        assert_eq!(formula("n = 1 ~> n = 2").as_deref(), Some("n = 1 => n = 2"));
        assert_eq!(
            formula("\\A p \\in P : [](n = p => <>(n = 2))").as_deref(),
            Some("\\A p \\in P : (n = p => (n = 2))")
        );
        assert_eq!(formula("[][n' > n]_<<n, q>>").as_deref(), Some("Safe"));
        // The left side of `=>` and what is negated may be true later only.
        assert_eq!(formula("(<>(n = 1)) => []<>(n = 2)"), None);
        assert_eq!(formula("~[]<>(n = 1)"), None);
        // Each state may have another of these values.
        for property in
            ["\\E p \\in P : <>[](n = p)", "n = 1 ~> [](n = 1)", "[](n = 1) \\/ [](n = 2)", "n = 0 => <>[](n = 1)"]
        {
            assert_eq!(formula(property), None, "{property}");
        }
    }

    #[test]
    fn values_that_are_not_tried_are_gaps() {
        let gaps = |types: &str| walks(types, "n < 2").walks.remove(0).0.gaps;
        assert_eq!(gaps("n \\in 0..3"), [""; 0]);
        assert_eq!(gaps("n \\in Nat"), ["only the numbers 0, 1, 2, 10000 were tried for n"]);
        let without = walks("f \\in [P -> 0..1]", "n < 2").without;
        assert_eq!(without, [("Safe".to_owned(), "TypeOK gives no finite set of values for n".to_owned())]);
        assert_eq!(walks("n \\in 0..3", "\\A p \\in P : p = p").constant, ["Safe"]);
        assert_eq!(gaps("n \\in 0..5000"), ["only the numbers 0, 1, 2, 2500, 4999, 5000 were tried for n"]);
        let parts = |variable: &str| vec![format!("not all values of {variable} that TypeOK allows were tried")];
        let gaps = |types: &str, property: &str| walks(types, property).walks.remove(0).0.gaps;
        assert_eq!(gaps("n \\in 0..3 /\\ n # 2", "n < 2"), parts("n"));
        assert_eq!(gaps("\\A p \\in DOMAIN f : f[p] \\in 0..1", "f # <<>>"), parts("f"));
        assert_eq!(gaps("DOMAIN f = P /\\ \\A p \\in P : f[p] \\in 0..1", "f # <<>>"), [""; 0]);
        assert_eq!(gaps("Len(q) <= 3 /\\ \\A i \\in 1..Len(q) : q[i] \\in P", "Len(q) < 3"), [""; 0]);
    }
}
