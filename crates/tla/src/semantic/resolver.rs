//! Resolves every name of a module: what it declares, what it inherits, what its definitions mean.

use std::collections::HashMap;
use std::rc::Rc;

use super::graph::{
    Detail, Finding, Graph, InstanceUse, Label, ModuleId, ModuleInfo, Node, NodeId, Part, Place, Scope, Severity,
    Symbol, SymbolId, SymbolKind,
};
use super::tree::{Bound, Declared, Definition, Expr, FunctionDefinition, Module, Name, Unit, Visibility};

/// Labels and bound variables of the definition in progress.
#[derive(Default)]
pub(super) struct Frame {
    pub(super) labels: Vec<Label>,
    pub(super) bound: Vec<SymbolId>,
}

pub(super) struct Resolver<'a> {
    pub(super) graph: &'a mut Graph,
    pub(super) file: u32,
    pub(super) home: ModuleId,
    /// The innermost scope is the last; the first one has the built-in operators.
    pub(super) scopes: Vec<Scope>,
    /// Modules with texts of their own, by name.
    pub(super) loaded: &'a HashMap<String, ModuleId>,
    /// The meanings of `@`, innermost last.
    pub(super) updates: Vec<Vec<NodeId>>,
    /// For each ASSUME within another ASSUME that is being read: whether it has declared a symbol so far.
    pub(super) inner_sequents: Vec<bool>,
    pub(super) frames: Vec<Frame>,
    let_depth: usize,
    /// Number of operators declared RECURSIVE and not yet defined, by depth of LET.
    unresolved: Vec<usize>,
}

/// Resolves the module of one text.
pub(super) fn resolve(graph: &mut Graph, loaded: &HashMap<String, ModuleId>, file: u32, module: &Module) -> ModuleId {
    let mut built_ins = Scope::default();
    for (id, symbol) in (0..).zip(super::builtin::symbols()) {
        if graph.symbols.len() <= id as usize {
            graph.add_symbol(symbol.clone());
        }
        if super::builtin::has_a_name(id as usize) {
            built_ins.add(symbol.name, id);
        }
    }
    let mut resolver = Resolver {
        graph,
        file,
        home: 0,
        scopes: vec![built_ins],
        loaded,
        updates: Vec::new(),
        inner_sequents: Vec::new(),
        frames: Vec::new(),
        let_depth: 0,
        unresolved: vec![0],
    };
    resolver.module(module)
}

impl Resolver<'_> {
    pub(super) fn place(&self, offset: usize) -> Place {
        Place { file: self.file, offset: u32::try_from(offset).unwrap_or(u32::MAX) }
    }

    pub(super) fn error(&mut self, offset: usize, message: String) {
        let place = self.place(offset);
        self.graph.report(Severity::Error, place, message);
    }

    pub(super) fn not_analysed(&mut self, offset: usize, message: String) {
        let place = self.place(offset);
        self.graph.report(Severity::NotAnalysed, place, message);
    }

    pub(super) fn literal(&mut self, offset: usize) -> NodeId {
        let place = self.place(offset);
        self.graph.add_node(Node::Literal, place)
    }

    pub(super) fn lookup(&self, name: &str) -> Option<SymbolId> {
        self.scopes.iter().rev().find_map(|scope| scope.symbols.get(name).copied())
    }

    pub(super) fn lookup_module(&self, name: &str) -> Option<ModuleId> {
        let inner = self.scopes.iter().rev().find_map(|scope| scope.modules.get(name).copied());
        inner.or_else(|| self.loaded.get(name).copied())
    }

    pub(super) fn top(&mut self) -> &mut Scope {
        self.scopes.last_mut().expect("the scope of the built-in operators is never closed")
    }

    pub(super) fn symbol(&self, name: &str, kind: SymbolKind, arity: usize, offset: usize) -> Symbol {
        Symbol {
            name: name.into(),
            kind,
            arity,
            place: self.place(offset),
            local: kind == SymbolKind::Parameter,
            home: self.home,
            origin: None,
            parameters: Vec::new(),
            body: None,
            recursive: None,
            section: None,
            function: None,
            labels: [].into(),
        }
    }

    /// Adds a symbol to the innermost scope, unless its name is taken.
    pub(super) fn declare(&mut self, id: SymbolId) {
        let symbol = self.graph.symbol(id).clone();
        let Some(known) = self.lookup(&symbol.name) else {
            return self.top().add(symbol.name, id);
        };
        // The same symbol on two ways, such as through two extended modules.
        if known == id {
            return;
        }
        let before = self.graph.symbol(known).clone();
        if matches!(before.kind, SymbolKind::BuiltIn(_)) {
            let message = format!("`{}` is built into TLA+ and cannot be given another meaning", symbol.name);
            return self.graph.report(Severity::Error, symbol.place, message);
        }
        let same = std::mem::discriminant(&before.kind) == std::mem::discriminant(&symbol.kind);
        if symbol.kind == SymbolKind::Parameter || !same || before.arity != symbol.arity {
            let message = self.clash_message(&symbol.name, &before);
            return self.graph.report(Severity::Error, symbol.place, message);
        }
        if before.home != symbol.home {
            let message =
                format!("`{}` has two definitions, from different modules; the first one counts", symbol.name);
            self.graph.report(Severity::Warning, symbol.place, message);
        }
    }

    fn clash_message(&self, name: &str, before: &Symbol) -> String {
        let what = match before.kind {
            SymbolKind::Constant => "a constant",
            SymbolKind::Variable => "a variable",
            SymbolKind::Parameter => "a bound variable or parameter",
            SymbolKind::Theorem | SymbolKind::Step => "a theorem, assumption or proof step",
            SymbolKind::Instance => "an instance of a module",
            SymbolKind::New(_) => "a declared symbol",
            SymbolKind::BuiltIn(_) | SymbolKind::Operator => "an operator",
        };
        let home = &self.graph.module(before.home).name;
        let from = if before.home == self.home { String::new() } else { format!(" of module {home}") };
        format!("`{name}` is already the name of {what}{from}: choose another name here")
    }

    pub(super) fn parameter(&mut self, name: &Name, arity: usize) -> SymbolId {
        let symbol = self.symbol(&name.text, SymbolKind::Parameter, arity, name.offset);
        let id = self.graph.add_symbol(symbol);
        self.declare(id);
        id
    }

    pub(super) fn parameters(&mut self, declared: &[Declared]) -> Vec<SymbolId> {
        declared.iter().map(|declared| self.parameter(&declared.name, declared.arity)).collect()
    }

    fn module(&mut self, module: &Module) -> ModuleId {
        let name: Rc<str> = module.name.text.as_str().into();
        let id = self.graph.add_module(ModuleInfo { name, ..ModuleInfo::default() });
        let outer = std::mem::replace(&mut self.home, id);
        self.scopes.push(Scope::default());
        for extended in &module.extends {
            self.extend(extended);
        }
        for unit in &module.units {
            self.unit(unit);
        }
        self.check_recursive();
        let scope = self.scopes.pop().unwrap_or_default();
        self.graph.module_mut(id).scope = scope;
        self.home = outer;
        id
    }

    fn extend(&mut self, extended: &Name) {
        let Some(module) = self.lookup_module(&extended.text) else {
            return self.error(extended.offset, format!("module {} is not found", extended.text));
        };
        let scope = self.graph.module(module).scope.clone();
        for id in scope.order {
            let symbol = self.graph.symbol(id).clone();
            if symbol.local {
                continue;
            }
            match self.top().symbols.get(&symbol.name).copied() {
                None => self.top().add(symbol.name, id),
                Some(known) if known == id => {}
                Some(known) => {
                    let before = self.graph.symbol(known).clone();
                    if before.is_declared() != symbol.is_declared()
                        || (before.kind == SymbolKind::Theorem) != (symbol.kind == SymbolKind::Theorem)
                    {
                        let message = format!(
                            "`{}` of module {} and `{}` of module {} cannot both be extended: they are different things",
                            symbol.name,
                            self.graph.module(symbol.home).name,
                            symbol.name,
                            self.graph.module(before.home).name
                        );
                        self.error(extended.offset, message);
                    } else if before.home != symbol.home {
                        let message =
                            format!("`{}` is defined in two extended modules; the first one counts", symbol.name);
                        let place = self.place(extended.offset);
                        self.graph.report(Severity::Warning, place, message);
                    }
                }
            }
        }
        for (name, inner) in scope.modules {
            self.top().modules.entry(name).or_insert(inner);
        }
        let info = self.graph.module(module);
        let (theorems, assumptions) = (info.theorems.clone(), info.assumptions.clone());
        let own = self.graph.module_mut(self.home);
        own.theorems.extend(theorems);
        own.assumptions.extend(assumptions);
    }

    fn unit(&mut self, unit: &Unit) {
        match unit {
            Unit::Variables(names, offset) => {
                self.reject_inside_recursion(*offset, "a declaration of variables");
                for name in names {
                    self.declaration(name, SymbolKind::Variable, 0);
                }
            }
            Unit::Constants(all, offset) => {
                self.reject_inside_recursion(*offset, "a declaration of constants");
                for declared in all {
                    self.declaration(&declared.name, SymbolKind::Constant, declared.arity);
                }
            }
            Unit::Assumption(name, formula, offset) => {
                self.reject_inside_recursion(*offset, "an assumption");
                // Only a named assumption can have labelled parts.
                let node = if let Some(name) = name {
                    let (node, labels) = self.labelled_expression(formula);
                    self.theorem_symbol(name, SymbolKind::Theorem, Some(node), labels);
                    node
                } else {
                    self.expression(formula)
                };
                let place = self.place(*offset);
                self.graph.module_mut(self.home).assumptions.push((node, place));
            }
            Unit::Theorem(theorem) => {
                self.reject_inside_recursion(theorem.offset, "a theorem");
                self.theorem(theorem);
            }
            Unit::Module(module) => {
                self.reject_inside_recursion(module.name.offset, "a module");
                let known = self.lookup_module(&module.name.text).is_some();
                let id = self.module(module);
                if known {
                    let message = format!("there is a module {} already: choose another name", module.name.text);
                    return self.error(module.name.offset, message);
                }
                self.graph.module_mut(self.home).parts.push(Part::Module(id));
                self.top().modules.insert(module.name.text.as_str().into(), id);
            }
            Unit::Instance(instance, visibility) => self.instance(instance, *visibility),
            Unit::Use(facts) => {
                self.reject_inside_recursion(facts.offset, "USE or HIDE");
                self.facts(facts);
            }
            _ => {
                let definitions = self.definition(unit).0;
                self.add_definitions(definitions);
            }
        }
    }

    fn declaration(&mut self, name: &Name, kind: SymbolKind, arity: usize) {
        if name.text == "@" {
            return self.error(name.offset, "`@` cannot be declared".into());
        }
        let symbol = self.symbol(&name.text, kind, arity, name.offset);
        let id = self.graph.add_symbol(symbol);
        self.declare(id);
    }

    /// An expression that may have labels of its own.
    pub(super) fn labelled_expression(&mut self, expression: &Expr) -> (NodeId, Vec<Label>) {
        self.frames.push(Frame::default());
        let node = self.expression(expression);
        (node, self.frames.pop().unwrap_or_default().labels)
    }

    pub(super) fn theorem_symbol(&mut self, name: &Name, kind: SymbolKind, body: Option<NodeId>, labels: Vec<Label>) {
        let mut symbol = self.symbol(&name.text, kind, 0, name.offset);
        symbol.body = body;
        symbol.labels = labels.into();
        let id = self.graph.add_symbol(symbol);
        self.declare(id);
    }

    /// A definition in a module, in LET or in DEFINE: the symbols that it defines, and the instances that it makes.
    pub(super) fn definition(&mut self, unit: &Unit) -> (Vec<SymbolId>, Vec<usize>) {
        match unit {
            Unit::Operator(definition) => (self.operator_definition(definition).into_iter().collect(), Vec::new()),
            Unit::Function(definition) => (self.function_definition(definition).into_iter().collect(), Vec::new()),
            Unit::NamedInstance(named) => self.named_instance(named),
            Unit::Recursive(all) => {
                self.recursive(all);
                (Vec::new(), Vec::new())
            }
            _ => (Vec::new(), Vec::new()),
        }
    }

    fn has_open_section(&self) -> bool {
        self.unresolved.iter().any(|count| *count > 0)
    }

    fn reject_inside_recursion(&mut self, offset: usize, what: &str) {
        if self.has_open_section() {
            self.error(offset, format!("{what} is not allowed between a RECURSIVE declaration and its definition"));
        }
    }

    fn recursive(&mut self, all: &[Declared]) {
        if !self.has_open_section() {
            self.graph.module_mut(self.home).sections.push(Vec::new());
        }
        for declared in all {
            self.unresolved[self.let_depth] += 1;
            let mut symbol =
                self.symbol(&declared.name.text, SymbolKind::Operator, declared.arity, declared.name.offset);
            symbol.recursive = Some(self.let_depth);
            let parameter = self.symbol("", SymbolKind::Parameter, 0, declared.name.offset);
            symbol.parameters = (0..declared.arity).map(|_| self.graph.add_symbol(parameter.clone())).collect();
            let id = self.graph.add_symbol(symbol);
            self.declare(id);
            self.add_to_section(id);
        }
    }

    /// A definition made while a recursive one is incomplete belongs to its section.
    pub(super) fn add_to_section(&mut self, id: SymbolId) {
        if self.has_open_section() {
            let sections = &mut self.graph.module_mut(self.home).sections;
            let number = sections.len();
            if let Some(section) = sections.last_mut() {
                section.push(id);
            }
            self.graph.symbol_mut(id).section = Some(number);
        }
    }

    fn check_recursive(&mut self) {
        if self.unresolved[self.let_depth] == 0 {
            return;
        }
        self.unresolved[self.let_depth] = 0;
        let undefined = self.graph.symbols.iter().filter(|symbol| {
            symbol.recursive == Some(self.let_depth) && symbol.body.is_none() && symbol.home == self.home
        });
        let undefined: Vec<Finding> = undefined
            .map(|symbol| Finding {
                place: symbol.place,
                severity: Severity::Error,
                message: format!("`{}` is declared RECURSIVE and not defined", symbol.name),
            })
            .collect();
        for finding in undefined {
            self.graph.report(finding.severity, finding.place, finding.message);
        }
    }

    /// Adds definitions to the parts of the module.
    pub(super) fn add_definitions(&mut self, definitions: Vec<SymbolId>) {
        self.graph.module_mut(self.home).parts.extend(definitions.into_iter().map(Part::Definition));
    }

    /// Opens the definitions of a LET.
    pub(super) fn open_let(&mut self) {
        self.scopes.push(Scope::default());
        self.let_depth += 1;
        self.unresolved.resize(self.let_depth + 1, 0);
        self.unresolved[self.let_depth] = 0;
    }

    /// Ends the definitions of a LET; their scope stays open for the body.
    pub(super) fn close_let(&mut self) {
        self.check_recursive();
        self.let_depth -= 1;
        self.unresolved.truncate(self.let_depth + 1);
    }

    /// The operator declared RECURSIVE that a definition completes, if any; an error if the name is taken.
    fn find_recursive_declaration(&mut self, name: &Name) -> Result<Option<SymbolId>, ()> {
        let Some(known) = self.lookup(&name.text) else { return Ok(None) };
        let before = self.graph.symbol(known).clone();
        match before.recursive {
            Some(depth) if before.body.is_none() => {
                if depth == self.let_depth {
                    return Ok(Some(known));
                }
                let message = format!("`{}` must be defined at the LET where it is declared RECURSIVE", name.text);
                self.error(name.offset, message);
            }
            _ if matches!(before.kind, SymbolKind::BuiltIn(_)) => {
                self.error(
                    name.offset,
                    format!("`{}` is built into TLA+ and cannot be given another meaning", name.text),
                );
            }
            _ => {
                let message = self.clash_message(&name.text, &before);
                self.error(name.offset, message);
            }
        }
        Err(())
    }

    fn operator_definition(&mut self, definition: &Definition) -> Option<SymbolId> {
        let name = &definition.name;
        self.scopes.push(Scope::default());
        let parameters = self.parameters(&definition.parameters);
        let completes = self.find_recursive_declaration(name);
        if let Ok(Some(id)) = completes {
            let matches = self.graph.symbol(id).arity == parameters.len()
                && definition.parameters.last().is_none_or(|last| last.arity == 0);
            if !matches {
                self.error(name.offset, format!("`{}` has other operands than its RECURSIVE declaration", name.text));
            }
            self.graph.symbol_mut(id).parameters.clone_from(&parameters);
        }
        let (body, labels) = self.labelled_expression(&definition.body);
        self.scopes.pop();
        match completes {
            Ok(Some(id)) => {
                self.graph.symbol_mut(id).labels = labels.into();
                self.complete_recursive(id, body);
                Some(id)
            }
            Ok(None) => {
                let mut symbol = self.symbol(&name.text, SymbolKind::Operator, parameters.len(), name.offset);
                symbol.local = definition.visibility == Visibility::Local;
                symbol.parameters = parameters;
                symbol.body = Some(body);
                symbol.labels = labels.into();
                let id = self.graph.add_symbol(symbol);
                self.declare(id);
                self.add_to_section(id);
                Some(id)
            }
            Err(()) => None,
        }
    }

    fn complete_recursive(&mut self, id: SymbolId, body: NodeId) {
        self.graph.symbol_mut(id).body = Some(body);
        self.unresolved[self.let_depth] = self.unresolved[self.let_depth].saturating_sub(1);
    }

    fn function_definition(&mut self, definition: &FunctionDefinition) -> Option<SymbolId> {
        let name = &definition.name;
        let place = self.place(name.offset);
        self.scopes.push(Scope::default());
        let (ranges, mut bound) = self.bounds(&definition.bounds);
        let count = bound.len();
        let completes = self.find_recursive_declaration(name);
        if let Ok(Some(id)) = completes
            && self.graph.symbol(id).arity > 0
        {
            self.error(name.offset, format!("the function `{}` has operands in its RECURSIVE declaration", name.text));
        }
        // The name of a function is bound in its own body; a RECURSIVE declaration has bound it before.
        if completes == Ok(None) {
            bound.push(self.parameter(name, 0));
        }
        self.frames.push(Frame { labels: Vec::new(), bound: bound[..count].to_vec() });
        let value = self.expression(&definition.body);
        let labels = self.frames.pop().unwrap_or_default().labels;
        self.scopes.pop();
        let row = super::builtin::BuiltInForm::FunctionDefinition;
        let detail = shapes(&definition.bounds);
        let body = self.detailed_form(row, vec![value], bound, ranges, detail, place);
        match completes {
            Ok(Some(id)) => {
                let symbol = self.graph.symbol_mut(id);
                symbol.function = Some(count);
                symbol.labels = labels.into();
                self.complete_recursive(id, body);
                Some(id)
            }
            Ok(None) => {
                let mut symbol = self.symbol(&name.text, SymbolKind::Operator, 0, name.offset);
                symbol.local = definition.visibility == Visibility::Local;
                symbol.function = Some(count);
                symbol.body = Some(body);
                symbol.labels = labels.into();
                let id = self.graph.add_symbol(symbol);
                self.declare(id);
                self.add_to_section(id);
                Some(id)
            }
            Err(()) => None,
        }
    }

    pub(super) fn add_instance(&mut self, instance: InstanceUse) -> usize {
        self.graph.instances.push(instance);
        self.graph.instances.len() - 1
    }
}

/// How the names of bounds are grouped.
pub(super) fn shapes(bounds: &[Bound]) -> Detail {
    Detail::Bounds(bounds.iter().map(|bound| (bound.names.len(), bound.is_tuple)).collect())
}
