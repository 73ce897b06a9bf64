//! Nothing is weakened in silence: what a verdict rests on, and how it differs from what was first checked.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::cfg::Cfg;
use super::definition::Definition;
use super::fairness::next_state;
use super::lexer::lex;
use super::module::{Module, Statement};
use super::probe::ASSERTION;
use super::references::{References, references};
use super::syntax::Id;
use super::trivial::can_fail;

/// Keys that can only restrict what is explored or assumed: one that appears later is a change.
pub const RESTRICTING: &[&str] =
    &["ACTION_CONSTRAINT", "ASSUME", "CHECK_DEADLOCK", "CONSTRAINT", "FAIRNESS", "INSTANCE", "SYMMETRY", "VIEW"];

/// Everything that the verdict of one check rests on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checked;

impl Checked {
    /// Key to normalised text. Keys: each invariant, property and witness of the configuration by name, with all it
    /// depends on; each constant by name; `replaced Safe` for a definition that the configuration replaces; `CONSTRAINT`, `ACTION_CONSTRAINT`, `VIEW`, `SYMMETRY`, `CHECK_DEADLOCK`
    /// (only where it is FALSE), `POSTCONDITION`, `ASSUME`, `FAIRNESS`, `INSTANCE` (modules inside the module and instances without a name), `Assertion` (all
    /// assertions of the module);
    /// `covers Safe` for the requirements that a property covers; `role Safe` for the keywords under which the
    /// configuration lists it.
    pub fn of(module: &Module, cfg: &Cfg) -> BTreeMap<String, String> {
        let mut checked = BTreeMap::new();
        for name in cfg.invariants.iter().chain(&cfg.properties).chain(&cfg.witnesses) {
            checked.insert(name.clone(), with_closure(module, &[name]));
        }
        for name in checked.keys().cloned().collect::<Vec<_>>() {
            let roles = cfg.listed().into_iter().filter(|(_, listed)| *listed == name).map(|(role, _)| role);
            checked.insert(role_key(&name), roles.collect::<Vec<_>>().join(", "));
        }
        for (name, value) in &cfg.constants {
            let text = match value.strip_prefix("<- ") {
                Some(target) => {
                    format!("{value}\n{}", with_closure(module, &[&target.to_owned()]))
                }
                None => value.clone(),
            };
            let key = if module.declares_constant(name) { name.clone() } else { replaced_key(name) };
            checked.insert(key, text);
        }
        for (name, ids) in module.coverage_under(cfg) {
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
}

/// The key under which the requirements that a property covers are remembered.
pub fn covers_key(name: &str) -> String {
    format!("covers {name}")
}

/// The key under which the text is remembered that the configuration puts in the place of a definition.
fn replaced_key(name: &str) -> String {
    format!("{REPLACED}{name}")
}

const REPLACED: &str = "replaced ";

/// Whether a key can only restrict or replace what is checked: one that appears later is a change.
fn is_restricting(key: &str) -> bool {
    RESTRICTING.contains(&key) || key.starts_with(REPLACED)
}

/// The key under which the keywords that list a name in the configuration are remembered.
fn role_key(name: &str) -> String {
    format!("role {name}")
}

/// What the algorithm asserts, and the definitions that use `Assert`; what the translation makes of them counts once.
fn assertions(module: &Module) -> BTreeSet<String> {
    let by_hand = module.definitions.iter().filter(|d| !module.in_translation(d.code.start));
    let inside = module.algorithm.iter().flat_map(|algorithm| &algorithm.definitions);
    let using = by_hand.chain(inside).filter(|d| d.refers.names.contains("Assert"));
    let using = using.map(|definition| definition.normalised(&module.source));
    module.algorithm.iter().flat_map(|algorithm| algorithm.assertions.iter().cloned()).chain(using).collect()
}

/// Definitions that evaluate an assertion, one that is not certain to be TRUE whatever the state is: it is among their own
/// conjuncts, or in a definition among these. The arms of an IF count, for the translation of PlusCal has its assertions
/// there; what a premise, a disjunct, a universal quantifier or an argument holds may never be evaluated. What the
/// translation makes of a label counts, for it has the label's name.
pub fn asserting(module: &Module, cfg: &Cfg) -> Vec<String> {
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

/// The names in a definition that are evaluated with it.
fn evaluated_names<'a>(definition: &'a Definition, source: &'a str) -> BTreeSet<&'a str> {
    let tree = &definition.tree;
    let unit = tree.ids().find(|id| tree.node(*id).kind == "operator_definition");
    let mut open: Vec<Id> = unit.and_then(|unit| tree.field(unit, "definition")).into_iter().collect();
    let mut names = BTreeSet::new();
    while let Some(id) = open.pop() {
        let field = |name| tree.field(id, name);
        let symbol = field("symbol").map(|symbol| tree.node(symbol).kind);
        match (tree.node(id).kind, symbol) {
            ("parentheses" | "conj_list" | "conj_item", _) => open.extend(tree.children(id)),
            ("bound_infix_op", Some("land")) => open.extend(["lhs", "rhs"].into_iter().filter_map(field)),
            ("bound_infix_op", Some("implies")) => open.extend(field("lhs")),
            ("if_then_else", _) => open.extend(["if", "then", "else"].into_iter().filter_map(field)),
            ("let_in", _) => open.extend(tree.children(id).next_back()),
            ("bounded_quantification", _) => {
                let exists = field("quantifier").is_some_and(|quantifier| tree.node(quantifier).kind == "exists");
                open.extend(field("expression").filter(|_| exists));
            }
            ("identifier_ref", _) => _ = names.insert(tree.text(id, source)),
            ("bound_op", _) => names.extend(tree.children(id).next().map(|name| tree.text(name, source))),
            _ => {}
        }
    }
    names
}

/// The definitions named first (sorted), then everything they depend on (sorted).
fn with_closure(module: &Module, names: &[&String]) -> String {
    let by_name = module.definitions_by_name();
    let roots: BTreeSet<&str> = names.iter().map(|name| name.as_str()).collect();
    let refers = roots.iter().filter_map(|name| by_name.get(name)).map(|definition| &definition.refers);
    let below = module.closure_of(refers);
    let below = below.iter().map(String::as_str).filter(|name| !roots.contains(name));
    let lines = roots.iter().copied().chain(below).map(|name| match by_name.get(name) {
        Some(definition) => definition.normalised(&module.source),
        None => format!("{name} is not defined"),
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn statements(module: &Module, of: &[Statement]) -> String {
    let mut lines: Vec<String> = of.iter().map(|statement| statement.normalised.clone()).collect();
    lines.sort();
    let by_name = module.definitions_by_name();
    let refers: Vec<&References> = of.iter().map(|statement| &statement.refers).collect();
    let below = module.closure_of(refers);
    lines.extend(below.iter().filter_map(|name| by_name.get(name.as_str())).map(|d| d.normalised(&module.source)));
    lines.join("\n")
}

/// The conjuncts that speak of fairness in the specification and in what it is made of, and `PlusCal`'s annotations.
fn fairness(module: &Module, cfg: &Cfg) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    if let Some(specification) = &cfg.specification {
        let by_name = module.definitions_by_name();
        let mut names = module.closure(specification);
        names.insert(specification.clone());
        for definition in names.iter().filter_map(|name| by_name.get(name.as_str())) {
            conjuncts(module, definition, &mut found);
        }
        found.extend(fair_actions(module, cfg, &names));
    }
    if let Some(algorithm) = &module.algorithm {
        found.extend(algorithm.fairness.iter().map(|annotation| format!("PlusCal: {annotation}")));
    }
    found
}

/// The actions of fairness that are no steps of the protocol: definitions that fairness names and the next-state relation
/// does not need. The steps themselves change with the protocol, and a subscript with its variables.
fn fair_actions(module: &Module, cfg: &Cfg, specified: &BTreeSet<String>) -> Vec<String> {
    let by_name = module.definitions_by_name();
    let Ok((next, ..)) = next_state(module, cfg) else { return Vec::new() };
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
        let fair = tree.ids().filter(|id| tree.node(*id).kind == "fairness");
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

fn conjuncts(module: &Module, definition: &Definition, found: &mut BTreeSet<String>) {
    let tree = &definition.tree;
    let fair: Vec<Id> = tree.ids().filter(|id| tree.node(*id).kind == "fairness").collect();
    if fair.is_empty() {
        if definition.damaged && (definition.text.contains("WF_") || definition.text.contains("SF_")) {
            found.insert(definition.normalised(&module.source));
        }
        return;
    }
    let unit = tree.ids().find(|id| tree.node(*id).kind == "operator_definition");
    let Some(body) = unit.and_then(|unit| tree.field(unit, "definition")) else { return };
    let mut open = vec![body];
    while let Some(id) = open.pop() {
        let node = tree.node(id);
        if !fair.iter().any(|fair| (node.start..node.end).contains(&tree.node(*fair).start)) {
            continue;
        }
        let symbol = tree.field(id, "symbol").map(|symbol| tree.node(symbol).kind);
        match node.kind {
            "parentheses" | "conj_item" | "conj_list" => open.extend(tree.children(id)),
            "bound_infix_op" if symbol == Some("land") => open.extend(tree.children(id)),
            "bullet_conj" | "land" => {}
            _ => {
                let text = super::lexer::normalise(&module.source, node.start..node.end, &[]);
                found.insert(format!("{}: {text}", definition.name));
            }
        }
    }
}

/// What became of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// It was checked once and is no longer.
    Vanished,
    /// Its text, or that of something it depends on, is another.
    Changed,
    /// It restricts, and was not there when the first check was made.
    Appeared,
}

/// A difference from the baseline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The key.
    pub name: String,
    /// What became of it.
    pub kind: ChangeKind,
    /// The text first checked; `None` where it appeared.
    pub was: Option<String>,
    /// The text now; `None` where it vanished.
    pub now: Option<String>,
}

/// What was first checked under each key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    /// Whether any check was absorbed yet.
    #[serde(default)]
    started: bool,
    /// Key to normalised text.
    #[serde(default)]
    first: BTreeMap<String, String>,
}

impl Baseline {
    /// Takes in a check: keys not yet known are remembered, known ones stay as first checked. A restricting key that
    /// appears after the first check is not remembered: it stays a change until it is accepted.
    pub fn absorb(&mut self, checked: &BTreeMap<String, String>) {
        for (name, text) in checked {
            if !self.started || !is_restricting(name) {
                self.first.entry(name.clone()).or_insert_with(|| text.clone());
            }
        }
        self.started = true;
    }

    /// How a check differs from what was first checked, by name.
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
            // A property that is gone covers nothing and has no role any more: that is one change, not three.
            let of = name
                .strip_prefix("covers ")
                .or_else(|| name.strip_prefix("role "))
                .filter(|_| kind == ChangeKind::Vanished);
            if of.is_some_and(|of| self.first.contains_key(of) && !checked.contains_key(of)) {
                return None;
            }
            Some(Change { name: name.clone(), kind, was: was.cloned(), now: now.cloned() })
        };
        names.into_iter().filter_map(change).collect()
    }

    /// A reviewer accepts these names as they are now: the baseline of each becomes what this check has, or nothing.
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

    /// The text that stands for a key.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.first.get(name).map(String::as_str)
    }
}
