//! A specification with its configuration applied. Definitions are unfolded on demand on the resolved modules, so
//! spelling, aliases, instances and comments make no difference.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use crate::Cfg;
use crate::lexer::normalise;
use crate::step_counter;

use super::analysis::{Loaded, Resolved, resolved};
use super::builtin::{BUILT_INS, BuiltInForm};
use super::graph::{
    Application, CONSTANT, Graph, Level, ModuleId, ModuleInfo, Node, NodeId, Place, STATE, SymbolId, SymbolKind,
};
use super::tree::{Expr, Form, Module, Statement, Theorem, Unit, for_each_part};

/// Maximum number of unfolded expressions; beyond it the analysis gives up.
const MAX_STEPS: u32 = 500_000;
/// Maximum nesting of definitions; beyond it the analysis gives up.
const MAX_NESTING: u32 = 300;

/// The values of parameters, and of constants and variables of instances.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope(Option<Rc<Values>>);

#[derive(Debug)]
struct Values {
    own: Vec<(SymbolId, Expansion)>,
    outer: Scope,
}

/// An expression and the scope of its names.
#[derive(Debug, Clone)]
pub(super) struct Expansion {
    pub(super) node: NodeId,
    pub(super) scope: Scope,
}

impl Scope {
    pub(super) fn value(&self, symbol: SymbolId) -> Option<&Expansion> {
        let mut scope = self;
        while let Some(values) = &scope.0 {
            if let Some((_, value)) = values.own.iter().find(|(known, _)| *known == symbol) {
                return Some(value);
            }
            scope = &values.outer;
        }
        None
    }

    fn with(&self, own: Vec<(SymbolId, Expansion)>) -> Self {
        if own.is_empty() { self.clone() } else { Self(Some(Rc::new(Values { own, outer: self.clone() }))) }
    }
}

/// The resolved modules under one configuration.
pub(super) struct Model {
    pub(super) graph: Graph,
    root: ModuleId,
    modules: Vec<Loaded>,
    /// The operators that the configuration substitutes for names; `None` for a value.
    replaced: HashMap<SymbolId, Option<SymbolId>>,
    /// Constants to which the configuration assigns a number.
    numbers: HashMap<SymbolId, i64>,
    steps: Cell<u32>,
}

impl Model {
    /// # Errors
    /// Why the modules could not be resolved, or a cyclic substitution.
    pub(super) fn new(name: &str, text: &str, local_modules: &[(String, String)], cfg: &Cfg) -> Result<Self, String> {
        let model = Self::with_any_substitutions(name, text, local_modules, cfg)?;
        model.cyclic_substitution(cfg).map_or(Ok(model), Err)
    }

    /// A model that may have cyclic substitutions, so it must not be unfolded.
    pub(super) fn with_any_substitutions(
        name: &str,
        text: &str,
        local_modules: &[(String, String)],
        cfg: &Cfg,
    ) -> Result<Self, String> {
        let Resolved { graph, root, modules } = resolved(name, text, local_modules)?;
        let mut model =
            Self { graph, root, modules, replaced: HashMap::new(), numbers: HashMap::new(), steps: Cell::new(0) };
        for (key, value) in &cfg.constants {
            let Some(symbol) = model.configured_symbol(key) else { continue };
            let by = match value.strip_prefix("<- ") {
                Some(by) => Some(model.symbol(by).ok_or_else(|| format!("`{by}` is not defined"))?),
                None => None,
            };
            model.replaced.insert(symbol, by);
            model.numbers.extend(value.parse().ok().map(|number| (symbol, number)));
        }
        Ok(model)
    }

    /// The symbol of a key of [`Cfg::constants`].
    pub(super) fn configured_symbol(&self, key: &str) -> Option<SymbolId> {
        let Some((module, name)) = key.split_once('!') else { return self.symbol(key) };
        let module = self.graph.modules.iter().find(|known| *known.name == *module)?;
        module.scope.symbols.get(name).copied()
    }

    /// A definition that the configuration substitutes for a name, and that needs this name itself: a sentence with the
    /// cycle.
    pub(super) fn cyclic_substitution(&self, cfg: &Cfg) -> Option<String> {
        for (key, value) in &cfg.constants {
            let Some(by) = value.strip_prefix("<- ").and_then(|by| self.symbol(by)) else { continue };
            let Some(target) = self.configured_symbol(key).filter(|target| *target != by) else { continue };
            let mut path = Vec::new();
            if self.reaches(by, target, &mut HashSet::new(), &mut path) {
                let names: Vec<&str> = path.iter().map(|id| &*self.graph.symbol(*id).name).collect();
                let cycle = names.join(" → ");
                return Some(format!("the substitution {key} {value} of the configuration is cyclic: {key} → {cycle}"));
            }
        }
        None
    }

    /// Whether the definition of a symbol uses another one; `path` gets the definitions on the way.
    fn reaches(&self, from: SymbolId, to: SymbolId, seen: &mut HashSet<SymbolId>, path: &mut Vec<SymbolId>) -> bool {
        path.push(from);
        if from == to {
            return true;
        }
        if seen.insert(from) {
            let mut nodes: Vec<NodeId> = self.graph.symbol(from).body.into_iter().collect();
            while let Some(node) = nodes.pop() {
                let (symbols, parts) = self.uses_of_instance(node).unwrap_or_else(|| self.uses(node));
                nodes.extend(parts);
                for symbol in symbols {
                    let by = self.replacement(symbol).flatten().filter(|_| symbol != to);
                    if self.reaches(by.unwrap_or(symbol), to, seen, path) {
                        return true;
                    }
                }
            }
        }
        path.pop();
        false
    }

    /// An operator that a definition uses, whose value depends on more than its operands: `TLCGet` and the like.
    pub(super) fn progress_operator(&self, symbol: SymbolId) -> Option<&str> {
        let (mut open, mut seen) = (vec![symbol], HashSet::new());
        while let Some(symbol) = open.pop() {
            if !seen.insert(symbol) {
                continue;
            }
            if let Some((_, name)) = self.standard(symbol) {
                if super::impure::is_impure_name(name) {
                    return Some(name);
                }
                continue;
            }
            let mut nodes: Vec<NodeId> = self.graph.symbol(symbol).body.into_iter().collect();
            while let Some(node) = nodes.pop() {
                let (symbols, parts) = self.uses(node);
                nodes.extend(parts);
                open.extend(symbols);
            }
        }
        None
    }

    /// All modules, by file number.
    pub(super) fn modules(&self) -> &[Loaded] {
        &self.modules
    }

    pub(super) fn root(&self) -> &ModuleInfo {
        self.graph.module(self.root)
    }

    /// The symbol of a name of the root module.
    pub(super) fn symbol(&self, name: &str) -> Option<SymbolId> {
        self.graph.module(self.root).scope.symbols.get(name).copied()
    }

    /// The variables of the root module and of the modules that it extends, by name.
    pub(super) fn variables(&self) -> BTreeMap<&str, SymbolId> {
        let symbols = &self.graph.module(self.root).scope.symbols;
        let is_variable = |id: &SymbolId| self.graph.symbol(*id).kind == SymbolKind::Variable;
        symbols.iter().filter(|(_, id)| is_variable(id)).map(|(name, id)| (&**name, *id)).collect()
    }

    /// Collects the variables of a variable or of a tuple of variables, in order; returns `false` for anything else.
    pub(super) fn variables_of(
        &self,
        expansion: &Expansion,
        variables: &mut Vec<SymbolId>,
        depth: u32,
    ) -> Result<bool, String> {
        self.step(depth)?;
        let expansion = self.unfold(expansion)?;
        let Node::Apply(application) = self.graph.node(expansion.node) else { return Ok(false) };
        if self.graph.symbol(application.operator).kind == SymbolKind::Variable {
            variables.push(application.operator);
            return Ok(true);
        }
        let is_joined = self.standard(application.operator).is_some_and(|(_, name)| matches!(name, "\\o" | "\\circ"));
        if application.operator != BuiltInForm::Tuple.symbol() && !is_joined {
            return Ok(false);
        }
        for node in application.operands.iter().flatten() {
            let element = Expansion { node: *node, scope: expansion.scope.clone() };
            if !self.variables_of(&element, variables, depth + 1)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The body of a definition of the root module.
    pub(super) fn definition(&self, name: &str) -> Result<Expansion, String> {
        let mut symbol = self.symbol(name).ok_or_else(|| format!("`{name}` is not defined"))?;
        if let Some(by) = self.replaced.get(&symbol) {
            symbol = by.ok_or_else(|| format!("the configuration gives `{name}` a value"))?;
        }
        let node = self.graph.symbol(symbol).body.ok_or_else(|| format!("`{name}` has no definition"))?;
        Ok(Expansion { node, scope: Scope::default() })
    }

    /// Counts a step of the analysis; an error if the limits are exceeded.
    pub(super) fn step(&self, depth: u32) -> Result<(), String> {
        self.steps.set(self.steps.get() + 1);
        if self.steps.get() > MAX_STEPS || depth > MAX_NESTING {
            return Err("it unfolds to too much to be read".to_owned());
        }
        Ok(())
    }

    /// What the configuration substitutes for an operator: another operator, or `None` for a value.
    #[allow(clippy::option_option, reason = "replaced by nothing, by a value, or by an operator")]
    pub(super) fn replacement(&self, symbol: SymbolId) -> Option<Option<SymbolId>> {
        self.replaced.get(&symbol).copied()
    }

    /// The standard module that contains a position.
    pub(super) fn standard_module(&self, place: Place) -> Option<&str> {
        self.modules.get(place.file as usize).filter(|module| module.standard).map(|module| module.name.as_str())
    }

    /// The standard module that defines an operator, and the operator's name there.
    pub(super) fn standard(&self, symbol: SymbolId) -> Option<(&str, &str)> {
        let mut body = self.graph.symbol(symbol).body?;
        // Through instances, to the module in which the body is written.
        while let Node::Substituted { body: inner, .. } = self.graph.node(body) {
            body = *inner;
        }
        let module = self.standard_module(self.graph.place(body))?;
        let name = &*self.graph.symbol(symbol).name;
        // `T!Permutations` of an instance.
        let name = name.rsplit_once('!').map_or(name, |(_, name)| name);
        Some((module, name))
    }

    /// A number that is written out, here or in the configuration.
    pub(super) fn number(&self, expansion: &Expansion) -> Result<Option<i64>, String> {
        let expansion = self.unfold(expansion)?;
        Ok(match self.graph.node(expansion.node) {
            Node::Literal => self.text(expansion.node).parse().ok(),
            Node::Apply(application) => self.numbers.get(&application.operator).copied(),
            _ => None,
        })
    }

    /// The ends of `a..b`, if both are written out.
    pub(super) fn interval(&self, expansion: &Expansion) -> Result<Option<(i64, i64)>, String> {
        let expansion = self.unfold(expansion)?;
        let Node::Apply(application) = self.graph.node(expansion.node) else { return Ok(None) };
        let ([Some(first), Some(last)], Some((_, ".."))) =
            (&*application.operands, self.standard(application.operator))
        else {
            return Ok(None);
        };
        let number = |node: &NodeId| self.number(&Expansion { node: *node, scope: expansion.scope.clone() });
        Ok(number(first)?.zip(number(last)?))
    }

    /// What an expression of an instance uses: of the values that the instance substitutes, only those for names that the expression
    /// needs. `None` for any other expression.
    fn uses_of_instance(&self, node: NodeId) -> Option<(Vec<SymbolId>, Vec<NodeId>)> {
        let Node::Substituted { body, by } = self.graph.node(node) else { return None };
        let (mut needed, mut open) = (HashSet::new(), vec![*body]);
        while let Some(node) = open.pop() {
            let (symbols, parts) = self.uses(node);
            open.extend(parts);
            let new = symbols.into_iter().filter(|symbol| needed.insert(*symbol));
            open.extend(new.filter_map(|symbol| self.graph.symbol(symbol).body));
        }
        let pairs = self.graph.substitutions[*by as usize].pairs.iter();
        let values = pairs.filter(|(name, _)| needed.contains(name)).map(|(_, value)| *value);
        Some((Vec::new(), std::iter::once(*body).chain(values).collect()))
    }

    /// The operators that an expression applies directly, and its direct subexpressions.
    pub(super) fn uses(&self, node: NodeId) -> (Vec<SymbolId>, Vec<NodeId>) {
        match self.graph.node(node) {
            Node::Literal => (Vec::new(), Vec::new()),
            Node::Apply(application) => {
                let parts = application.operands.iter().flatten().chain(&application.ranges).copied();
                (vec![application.operator], parts.collect())
            }
            Node::At(parts) | Node::Sequent { parts, .. } => (Vec::new(), parts.clone()),
            Node::Let { body, .. } => (Vec::new(), vec![*body]),
            Node::Substituted { body, by } => {
                let values = self.graph.substitutions[*by as usize].pairs.iter().map(|(_, value)| *value);
                (Vec::new(), std::iter::once(*body).chain(values).collect())
            }
            Node::Operator(symbol) => (vec![*symbol], Vec::new()),
        }
    }

    /// Unfolds one definition, parameter, instance or LET; `None` if the operator there is built in, declared, bound by
    /// a quantifier, or recursive.
    pub(super) fn unfold_once(&self, expansion: &Expansion) -> Option<Expansion> {
        match self.graph.node(expansion.node) {
            Node::Let { body, .. } => Some(Expansion { node: *body, scope: expansion.scope.clone() }),
            Node::Substituted { body, by } => {
                let pairs = self.graph.substitutions[*by as usize].pairs.iter();
                let own =
                    pairs.map(|(symbol, node)| (*symbol, Expansion { node: *node, scope: expansion.scope.clone() }));
                Some(Expansion { node: *body, scope: expansion.scope.with(own.collect()) })
            }
            Node::Apply(application) => self.unfold_call(application, expansion),
            Node::Literal | Node::At(_) | Node::Operator(_) | Node::Sequent { .. } => None,
        }
    }

    fn unfold_call(&self, application: &Application, expansion: &Expansion) -> Option<Expansion> {
        let (mut operator, mut scope) = (application.operator, &expansion.scope);
        while let Some(value) = scope.value(operator) {
            match self.graph.node(value.node) {
                // A parameter that is an operator.
                Node::Operator(symbol) => (operator, scope) = (*symbol, &value.scope),
                _ => return Some(value.clone()),
            }
        }
        if let Some(by) = self.replaced.get(&operator) {
            operator = (*by)?;
        }
        let symbol = self.graph.symbol(operator);
        // Our texts of the standard modules have the right levels but compute nothing.
        let defined =
            matches!(symbol.kind, SymbolKind::Operator | SymbolKind::Theorem) && self.standard(operator).is_none();
        if !defined || symbol.recursive.is_some() || symbol.function.is_some() {
            return None;
        }
        let operands = application
            .operands
            .iter()
            .map(|operand| operand.map(|node| Expansion { node, scope: expansion.scope.clone() }));
        let own = symbol.parameters.iter().copied().zip(operands).filter_map(|(symbol, value)| Some((symbol, value?)));
        Some(Expansion { node: symbol.body?, scope: expansion.scope.with(own.collect()) })
    }

    /// Unfolds until a built-in operator, a literal, a constant or a variable is reached.
    pub(super) fn unfold(&self, expansion: &Expansion) -> Result<Expansion, String> {
        let (mut found, mut depth) = (expansion.clone(), 0);
        while let Some(next) = self.unfold_once(&found) {
            depth += 1;
            self.step(depth)?;
            found = next;
        }
        Ok(found)
    }

    pub(super) fn level(&self, expansion: &Expansion) -> Result<Level, String> {
        self.level_below(expansion, &mut Vec::new(), 0)
    }

    fn level_below(&self, expansion: &Expansion, open: &mut Vec<SymbolId>, depth: u32) -> Result<Level, String> {
        self.step(depth)?;
        let expansion = self.unfold(expansion)?;
        let below = |node: NodeId, open: &mut Vec<SymbolId>| {
            self.level_below(&Expansion { node, scope: expansion.scope.clone() }, open, depth + 1)
        };
        let mut level = CONSTANT;
        match self.graph.node(expansion.node).clone() {
            Node::Literal => {}
            Node::At(parts) | Node::Sequent { parts, .. } => {
                for part in parts {
                    level = level.max(below(part, open)?);
                }
            }
            Node::Let { body, .. } | Node::Substituted { body, .. } => level = below(body, open)?,
            Node::Operator(symbol) => {
                if let Some(body) = self.graph.symbol(symbol).body.filter(|_| !open.contains(&symbol)) {
                    open.push(symbol);
                    level = below(body, open)?;
                    open.pop();
                }
            }
            Node::Apply(application) => {
                let symbol = self.graph.symbol(application.operator);
                let mut counts = true;
                match symbol.kind {
                    SymbolKind::BuiltIn(row) => {
                        level = BUILT_INS[row].level;
                        counts = BUILT_INS[row].counts;
                    }
                    SymbolKind::Variable => level = STATE,
                    SymbolKind::New(declared) => level = declared,
                    // The body of a recursive operator is entered once.
                    _ => {
                        let is_entered_or_replaced =
                            open.contains(&application.operator) || self.replaced.contains_key(&application.operator);
                        if let Some(body) = symbol.body.filter(|_| !is_entered_or_replaced) {
                            open.push(application.operator);
                            level = below(body, open)?;
                            open.pop();
                        }
                    }
                }
                if counts {
                    for node in application.operands.iter().flatten().chain(&application.ranges) {
                        level = level.max(below(*node, open)?);
                    }
                }
            }
        }
        Ok(level)
    }

    /// The parts of a formula that a boolean or temporal operator joins.
    pub(super) fn parts(&self, expansion: &Expansion) -> Option<(Connective, Vec<Expansion>)> {
        let Node::Apply(application) = self.graph.node(expansion.node) else { return None };
        let SymbolKind::BuiltIn(row) = self.graph.symbol(application.operator).kind else { return None };
        let is = |row: BuiltInForm| application.operator == row.symbol();
        let connective = match BUILT_INS[row].name {
            "/\\" => Connective::And,
            "\\/" => Connective::Or,
            "~" | "=>" | "<=>" => Connective::Other,
            "[]" => Connective::Always,
            _ if is(BuiltInForm::Conjunction) => Connective::And,
            _ if is(BuiltInForm::Disjunction) => Connective::Or,
            _ if is(BuiltInForm::All) => Connective::All,
            _ if is(BuiltInForm::Some) => Connective::Some,
            _ if is(BuiltInForm::If) || is(BuiltInForm::Case) || is(BuiltInForm::CaseArm) => Connective::Other,
            _ if is(BuiltInForm::BoxAction) => Connective::Square,
            _ if is(BuiltInForm::WeakFairness) || is(BuiltInForm::StrongFairness) => Connective::Fairness,
            _ => return None,
        };
        let operand = |node: &NodeId| Expansion { node: *node, scope: expansion.scope.clone() };
        Some((connective, application.operands.iter().flatten().map(operand).collect()))
    }

    /// The sets of a quantifier.
    pub(super) fn ranges(&self, expansion: &Expansion) -> Vec<Expansion> {
        match self.graph.node(expansion.node) {
            Node::Apply(application) => application
                .ranges
                .iter()
                .map(|node| Expansion { node: *node, scope: expansion.scope.clone() })
                .collect(),
            _ => Vec::new(),
        }
    }

    /// The text of an expression without comments and layout.
    pub(super) fn text(&self, node: NodeId) -> String {
        let place = self.graph.place(node);
        let Some(module) = self.modules.get(place.file as usize) else { return "?".to_owned() };
        let operator = match self.graph.node(node) {
            Node::Apply(application) => Some(&self.graph.symbol(application.operator).name),
            _ => None,
        };
        let is_row = operator
            .is_none_or(|name| BUILT_INS[..=BuiltInForm::ProofStep as usize].iter().any(|row| *row.name == **name));
        // Several expressions can begin at the same place: the operands of infix operators.
        let is_wanted = |expression: &Expr| match &expression.form {
            Form::Apply(applied, _) => operator.is_some_and(|name| match &**name {
                "a conjunction" => applied.name == "/\\",
                "a disjunction" => applied.name == "\\/",
                name => applied.name == name,
            }),
            Form::Path(_) => !is_row,
            Form::Parenthesis(_) => false,
            _ => is_row,
        };
        let mut search = Search { offset: place.offset as usize, is_wanted: &is_wanted, found: None };
        search.module(&module.tree);
        search.found.map_or_else(|| "?".to_owned(), |range| normalise(&module.text, range, &[]))
    }
}

/// How a formula joins its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Connective {
    And,
    Or,
    /// `\A`
    All,
    /// `\E`
    Some,
    /// Another operator that is not temporal: `~`, `=>`, `<=>`, IF, CASE.
    Other,
    /// `[]`
    Always,
    /// `[A]_v`
    Square,
    /// `WF_v(A)`, `SF_v(A)`
    Fairness,
}

/// Searches the largest expression at an offset.
struct Search<'a> {
    offset: usize,
    is_wanted: &'a dyn Fn(&Expr) -> bool,
    found: Option<Range<usize>>,
}

impl Search<'_> {
    fn module(&mut self, module: &Module) {
        for unit in &module.units {
            if self.found.is_some() {
                return;
            }
            self.unit(unit);
        }
    }

    fn unit(&mut self, unit: &Unit) {
        match unit {
            Unit::Operator(definition) => self.expression(&definition.body),
            Unit::Function(definition) => {
                definition.bounds.iter().for_each(|bound| self.expression(&bound.set));
                self.expression(&definition.body);
            }
            Unit::Instance(instance, _) => {
                instance.substitutions.iter().for_each(|(_, value)| self.expression(value));
            }
            Unit::NamedInstance(named) => {
                named.instance.substitutions.iter().for_each(|(_, value)| self.expression(value));
            }
            Unit::Assumption(_, formula, _) => self.expression(formula),
            Unit::Theorem(Theorem { statement: Statement::Formula(formula), .. }) => self.expression(formula),
            Unit::Module(module) => self.module(module),
            _ => {}
        }
    }

    fn expression(&mut self, expression: &Expr) {
        step_counter::count_step();
        if self.found.is_some() || self.offset < expression.start() || is_before(expression, self.offset) {
            return;
        }
        if expression.offset == self.offset && (self.is_wanted)(expression) {
            self.found = Some(expression.start()..expression.end);
            return;
        }
        if let Form::Let(units, _) = &expression.form {
            for unit in units {
                self.unit(unit);
            }
        }
        // A list can be long, and each of its items may be searched, so the search for the item is binary.
        if let Form::List(items, _) | Form::Apply(_, items) = &expression.form {
            let offset = self.offset;
            let items = &items[items.partition_point(|item| is_before(item, offset))..];
            items.iter().take_while(|item| item.start() <= offset).for_each(|item| self.expression(item));
            return;
        }
        for_each_part(expression, &mut |part| self.expression(part));
    }
}

/// Whether an expression ends before an offset.
fn is_before(expression: &Expr, offset: usize) -> bool {
    expression.end.max(expression.offset + 1) <= offset
}
