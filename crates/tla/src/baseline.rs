//! Detects weakened specifications: collects the text that a verdict rests on and compares it with what was first
//! checked, so that a reviewer has to accept every change.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::cfg::Cfg;
use super::definition::Definition;
use super::lexer::{lex, normalise};
use super::module::{Module, Statement};
use super::next_relation::NextRelation;
use super::outcome::ASSERTION;
use super::references::{References, references};
use super::syntax::{Field, Id, NodeKind};
use super::trivial::can_fail;

/// Keys that can only restrict what is explored, or add assumptions. If one appears after the first check, that is a
/// change.
const RESTRICTING_KEYS: &[&str] =
    &["ACTION_CONSTRAINT", "ASSUME", "CHECK_DEADLOCK", "CONSTRAINT", "FAIRNESS", "INSTANCE", "SYMMETRY", "VIEW"];

/// Everything that the verdict of one check rests on, as key and normalised text (without comments and layout):
/// * the name of each invariant, property and witness of the configuration: its definition and all it depends on;
/// * `role Safe`: the keywords under which the configuration lists the name;
/// * `covers Safe`: the requirements that the property covers;
/// * the name of each constant: its value; `replaced Safe` if the configuration replaces a definition;
/// * `CONSTRAINT`, `ACTION_CONSTRAINT`, `VIEW`, `SYMMETRY`, `POSTCONDITION`, and `CHECK_DEADLOCK` if it is FALSE;
/// * `ASSUME`, `FAIRNESS`, `INSTANCE` (inner modules and instances without a name);
/// * `Assertion`: all assertions of the module together.
pub fn checked_texts(module: &Module, cfg: &Cfg) -> BTreeMap<String, String> {
    let mut checked = BTreeMap::new();
    for name in cfg.invariants.iter().chain(&cfg.properties).chain(&cfg.witnesses) {
        checked.insert(name.clone(), with_closure(module, &[name]));
    }
    for name in checked.keys().cloned().collect::<Vec<_>>() {
        let roles = cfg.listed_names().into_iter().filter(|(_, listed)| *listed == name).map(|(role, _)| role);
        checked.insert(role_key(&name), roles.collect::<Vec<_>>().join(", "));
    }
    for (name, value) in &cfg.constants {
        let text = match value.strip_prefix("<- ") {
            Some(target) => format!("{value}\n{}", with_closure(module, &[&target.to_owned()])),
            None => value.clone(),
        };
        let key = if module.declares_constant(name) { name.clone() } else { replaced_key(name) };
        checked.insert(key, text);
    }
    for (name, ids) in module.requirements_by_property(cfg) {
        let mut numbers: Vec<u32> = ids.iter().filter_map(|id| id[1..].parse().ok()).collect();
        numbers.sort_unstable();
        let ids: Vec<String> = numbers.iter().map(|number| format!("R{number}")).collect();
        checked.insert(covers_key(&name), ids.join(", "));
    }
    let assertions = assertions(module);
    if !assertions.is_empty() {
        checked.insert(ASSERTION.to_owned(), assertions.into_iter().collect::<Vec<_>>().join("\n"));
    }
    let view: Vec<String> = cfg.view.iter().cloned().collect();
    let postcondition: Vec<String> = cfg.postcondition.iter().cloned().collect();
    for (key, names) in [
        ("CONSTRAINT", &cfg.constraints),
        ("ACTION_CONSTRAINT", &cfg.action_constraints),
        ("SYMMETRY", &cfg.symmetry),
        ("VIEW", &view),
        ("POSTCONDITION", &postcondition),
    ] {
        if !names.is_empty() {
            let names: Vec<&String> = names.iter().collect();
            checked.insert(key.to_owned(), with_closure(module, &names));
        }
    }
    if cfg.check_deadlock == Some(false) {
        checked.insert("CHECK_DEADLOCK".to_owned(), "FALSE".to_owned());
    }
    if !module.assumptions.is_empty() {
        checked.insert("ASSUME".to_owned(), statements(module, &module.assumptions));
    }
    let instances = module.instance_texts();
    if !instances.is_empty() {
        checked.insert("INSTANCE".to_owned(), instances.join("\n"));
    }
    let fairness = fairness(module, cfg);
    if !fairness.is_empty() {
        checked.insert("FAIRNESS".to_owned(), fairness.into_iter().collect::<Vec<_>>().join("\n"));
    }
    checked
}

/// The key for the requirements that a property covers.
pub fn covers_key(name: &str) -> String {
    format!("covers {name}")
}

/// The key for the definition that replaces another one by the configuration.
fn replaced_key(name: &str) -> String {
    format!("{REPLACED}{name}")
}

const REPLACED: &str = "replaced ";

/// Whether the key can only restrict or replace what is checked.
fn is_restricting(key: &str) -> bool {
    RESTRICTING_KEYS.contains(&key) || key.starts_with(REPLACED)
}

/// The key for the configuration keywords that list a name.
fn role_key(name: &str) -> String {
    format!("role {name}")
}

/// The assertions of the algorithm, and the definitions that use `Assert`, without those in the translation, which
/// repeats the assertions of the algorithm.
fn assertions(module: &Module) -> BTreeSet<String> {
    let by_hand = module.definitions.iter().filter(|d| !module.in_translation(d.code.start));
    let inside = module.algorithm.iter().flat_map(|algorithm| &algorithm.definitions);
    let using = by_hand.chain(inside).filter(|d| d.references.names.contains("Assert"));
    let using = using.map(|definition| definition.normalised(&module.source));
    module.algorithm.iter().flat_map(|algorithm| algorithm.assertions.iter().cloned()).chain(using).collect()
}

/// Definitions that evaluate an assertion which may be FALSE: one of their conjuncts is the assertion, or a definition
/// that evaluates it. The branches of an IF count, because the PlusCal translator puts assertions there; premises,
/// disjuncts, universal quantifiers and arguments do not count, because they may never be evaluated. Definitions in the
/// translation count, because they have the names of the labels.
pub fn asserting_definitions(module: &Module, cfg: &Cfg) -> Vec<String> {
    let by_name = module.definitions_by_name();
    let mut users: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut open: Vec<&str> = Vec::new();
    for (name, definition) in &by_name {
        let evaluated = evaluated_names(definition, &module.source);
        if evaluated.contains("Assert") && can_fail(module, cfg, definition) {
            open.push(name);
        }
        for below in evaluated {
            users.entry(below).or_default().push(name);
        }
    }
    let mut found: BTreeSet<&str> = BTreeSet::new();
    while let Some(name) = open.pop() {
        if found.insert(name) {
            open.extend(users.get(name).into_iter().flatten());
        }
    }
    found.into_iter().map(str::to_owned).collect()
}

/// The names that are evaluated whenever the definition is.
fn evaluated_names<'a>(definition: &'a Definition, source: &'a str) -> BTreeSet<&'a str> {
    let tree = &definition.tree;
    let mut open: Vec<Id> = definition.body().into_iter().collect();
    let mut names = BTreeSet::new();
    while let Some(id) = open.pop() {
        let field = |name| tree.field(id, name);
        match (tree.kind(id), tree.operator(id)) {
            (NodeKind::Parentheses | NodeKind::ConjunctionList | NodeKind::ConjunctionItem, _) => {
                open.extend(tree.children(id));
            }
            (NodeKind::Infix, "/\\") => open.extend([Field::Left, Field::Right].into_iter().filter_map(field)),
            (NodeKind::Infix, "=>") => open.extend(field(Field::Left)),
            (NodeKind::IfThenElse, _) => {
                open.extend([Field::Condition, Field::Then, Field::Else].into_iter().filter_map(field));
            }
            (NodeKind::LetIn, _) => open.extend(tree.children(id).next_back()),
            (NodeKind::Bounded, _) => {
                open.extend(field(Field::Body).filter(|_| tree.is_exists(id)));
            }
            (NodeKind::Reference, _) => _ = names.insert(tree.text(id, source)),
            (NodeKind::Call, _) => names.extend(tree.children(id).next().map(|name| tree.text(name, source))),
            _ => {}
        }
    }
    names
}

/// The text of the named definitions (sorted), then of everything they depend on (sorted).
fn with_closure(module: &Module, names: &[&String]) -> String {
    let by_name = module.definitions_by_name();
    let roots: BTreeSet<&str> = names.iter().map(|name| name.as_str()).collect();
    let refers = roots.iter().filter_map(|name| by_name.get(name)).map(|definition| &definition.references);
    let below = module.closure_of(refers);
    // The translator's tuple of all variables changes with each new one. A property with it as subscript means the same.
    let is_generated = |name: &&str| {
        *name == "vars" && by_name.get(name).is_some_and(|definition| module.in_translation(definition.code.start))
    };
    let below = below.iter().map(String::as_str).filter(|name| !roots.contains(name) && !is_generated(name));
    let lines = roots.iter().copied().chain(below).map(|name| match by_name.get(name) {
        Some(definition) => definition.normalised(&module.source),
        None => format!("{name} is not defined"),
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn statements(module: &Module, statements: &[Statement]) -> String {
    let mut lines: Vec<String> = statements.iter().map(|statement| statement.normalised.clone()).collect();
    lines.sort();
    let by_name = module.definitions_by_name();
    let refers: Vec<&References> = statements.iter().map(|statement| &statement.references).collect();
    let below = module.closure_of(refers);
    lines.extend(below.iter().filter_map(|name| by_name.get(name.as_str())).map(|d| d.normalised(&module.source)));
    lines.join("\n")
}

/// The conjuncts of the specification that state fairness, also in definitions it depends on, and the fairness
/// annotations of the algorithm.
fn fairness(module: &Module, cfg: &Cfg) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    if let Some(specification) = &cfg.specification {
        let by_name = module.definitions_by_name();
        let mut names = module.closure(specification);
        names.insert(specification.clone());
        for definition in names.iter().filter_map(|name| by_name.get(name.as_str())) {
            fair_conjuncts(module, definition, &mut found);
        }
        found.extend(fair_actions(module, cfg, &names));
    }
    if let Some(algorithm) = &module.algorithm {
        found.extend(algorithm.fairness.iter().map(|annotation| format!("PlusCal: {annotation}")));
    }
    found
}

/// Definitions that fairness depends on and the next-state relation does not. The actions of the next-state relation
/// are left out because they change whenever the protocol changes, and the subscript because it changes with the
/// variables.
fn fair_actions(module: &Module, cfg: &Cfg, specified: &BTreeSet<String>) -> Vec<String> {
    let by_name = module.definitions_by_name();
    let Ok(NextRelation { next, .. }) = NextRelation::find(module, cfg) else { return Vec::new() };
    let mut steps: BTreeSet<String> = BTreeSet::new();
    for name in lex(&next, 0..next.len()).iter().map(|token| token.text(&next)) {
        if by_name.contains_key(name) {
            steps.extend(module.closure(name));
            steps.insert(name.to_owned());
        }
    }
    let mut named: BTreeSet<String> = BTreeSet::new();
    for definition in specified.iter().filter_map(|name| by_name.get(name.as_str())) {
        let tree = &definition.tree;
        let fair = tree.of_kind(NodeKind::Fairness);
        // The first child is the subscript.
        for action in fair.flat_map(|fair| tree.children(fair).skip(1)) {
            let refers = references(tree, &module.source, action, &[]);
            named.extend(refers.names.iter().filter(|name| by_name.contains_key(name.as_str())).cloned());
            named.extend(module.closure_of([&refers]));
        }
    }
    let besides = named.iter().filter(|name| !steps.contains(*name));
    let besides = besides.filter(|name| module.mentions_variable(name));
    besides.filter_map(|name| by_name.get(name.as_str())).map(|d| d.normalised(&module.source)).collect()
}

/// Adds the conjuncts of a definition that contain `WF` or `SF`.
fn fair_conjuncts(module: &Module, definition: &Definition, found: &mut BTreeSet<String>) {
    let tree = &definition.tree;
    let fair: Vec<Id> = tree.of_kind(NodeKind::Fairness).collect();
    if fair.is_empty() {
        if definition.has_syntax_errors && (definition.text.contains("WF_") || definition.text.contains("SF_")) {
            found.insert(definition.normalised(&module.source));
        }
        return;
    }
    let Some(body) = definition.body() else { return };
    let mut open = vec![body];
    while let Some(id) = open.pop() {
        let node = tree.node(id);
        if !fair.iter().any(|fair| (node.start..node.end).contains(&tree.node(*fair).start)) {
            continue;
        }
        match node.kind {
            NodeKind::Parentheses | NodeKind::ConjunctionItem | NodeKind::ConjunctionList => {
                open.extend(tree.children(id));
            }
            NodeKind::Infix if tree.operator(id) == "/\\" => open.extend(tree.children(id)),
            NodeKind::Bullet | NodeKind::Symbol(_) => {}
            _ => {
                let text = normalise(&module.source, node.start..node.end, &[]);
                found.insert(format!("{}: {text}", definition.name));
            }
        }
    }
}

/// How a key differs from the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// It was checked before and no longer is.
    Vanished,
    /// Its text, or the text of a definition it depends on, is different.
    Changed,
    /// It restricts the check, and was not there in the first check.
    Appeared,
}

/// A difference from the baseline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The key, as in [`checked_texts`].
    pub name: String,
    pub kind: ChangeKind,
    /// The text first checked; `None` if it appeared.
    pub was: Option<String>,
    /// The text now; `None` if it vanished.
    pub now: Option<String>,
}

/// The text of each key when tools first accepted it, or when a reviewer last accepted a change of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    /// Whether a whole specification was accepted before.
    #[serde(default)]
    started: bool,
    /// Key to normalised text, as in [`checked_texts`].
    #[serde(default)]
    first: BTreeMap<String, String>,
}

impl Baseline {
    /// Adds the keys of a draft without a configuration that the baseline does not know.
    pub fn add_draft(&mut self, texts: &BTreeMap<String, String>) {
        for (name, text) in texts.iter().filter(|(name, _)| !self.started || !is_restricting(name)) {
            self.first.entry(name.clone()).or_insert_with(|| text.clone());
        }
    }

    /// Adds the keys of a specification that the baseline does not know; known ones keep their first text. A restricting
    /// key that appears after the first specification is not added, so that it remains a change until a reviewer accepts
    /// it.
    pub fn absorb(&mut self, checked: &BTreeMap<String, String>) {
        self.add_draft(checked);
        self.started = true;
    }

    /// The differences between a check and the baseline, sorted by key.
    pub fn changes(&self, checked: &BTreeMap<String, String>) -> Vec<Change> {
        let names: BTreeSet<&String> = self.first.keys().chain(checked.keys()).collect();
        let change = |name: &String| {
            let (was, now) = (self.first.get(name), checked.get(name));
            let kind = match (was, now) {
                (Some(_), None) => ChangeKind::Vanished,
                (Some(was), Some(now)) if was != now => ChangeKind::Changed,
                (None, Some(_)) if self.started && is_restricting(name) => ChangeKind::Appeared,
                _ => return None,
            };
            // If a property vanished, its `covers` and `role` vanished with it: report one change, not three.
            let property = name
                .strip_prefix("covers ")
                .or_else(|| name.strip_prefix("role "))
                .filter(|_| kind == ChangeKind::Vanished);
            if property.is_some_and(|name| self.first.contains_key(name) && !checked.contains_key(name)) {
                return None;
            }
            Some(Change { name: name.clone(), kind, was: was.cloned(), now: now.cloned() })
        };
        names.into_iter().filter_map(change).collect()
    }

    /// Records that a reviewer accepts these keys as they are now: the baseline takes their text from this check, or
    /// removes them if they vanished.
    pub fn accept<I>(&mut self, names: I, checked: &BTreeMap<String, String>)
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        for name in names {
            let name = name.as_ref();
            match checked.get(name) {
                Some(text) => {
                    self.first.insert(name.to_owned(), text.clone());
                }
                None => {
                    self.first.remove(name);
                    for key in [covers_key(name), role_key(name)] {
                        if !checked.contains_key(&key) {
                            self.first.remove(&key);
                        }
                    }
                }
            }
        }
    }

    /// The text of a key in the baseline.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.first.get(name).map(String::as_str)
    }
}
