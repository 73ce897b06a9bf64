//! Instances of modules: substitutions, and the definitions that they add.

use super::graph::{
    Application, Detail, InstanceUse, ModuleId, Node, NodeId, Scope, Severity, Substitution, SubstitutionId, Symbol,
    SymbolId, SymbolKind,
};
use super::resolver::Resolver;
use super::tree::{Instance, Name, NamedInstance, Visibility};

impl Resolver<'_> {
    /// The value of every constant and variable of the module: the one written, else the symbol of the same name.
    fn substitution(&mut self, instance: &Instance) -> Option<(ModuleId, SubstitutionId)> {
        let Some(module) = self.lookup_module(&instance.module.text) else {
            self.error(instance.module.offset, format!("module {} is not found", instance.module.text));
            return None;
        };
        let declared = self.graph.declarations(module);
        let mut implicit: Vec<(SymbolId, NodeId)> = Vec::new();
        for declaration in &declared {
            if let Some(node) = self.substitute_same_name(*declaration, instance.offset) {
                implicit.push((*declaration, node));
            }
        }
        let mut pairs: Vec<(SymbolId, NodeId)> = Vec::new();
        for (target, value) in &instance.substitutions {
            let known = self.graph.module(module).scope.symbols.get(target.text.as_str()).copied();
            let Some(symbol) = known.filter(|id| declared.contains(id)) else {
                let message = format!("module {} has no constant or variable `{}`", instance.module.text, target.text);
                self.error(target.offset, message);
                continue;
            };
            if pairs.iter().any(|(before, _)| *before == symbol) {
                self.error(target.offset, format!("`{}` is substituted twice", target.text));
            }
            let arity = self.graph.symbol(symbol).arity;
            let node = if arity == 0 {
                self.expression(value)
            } else {
                self.operator_argument(value, arity, &format!("what is substituted for `{}`", target.text))
            };
            pairs.push((symbol, node));
        }
        for (symbol, node) in implicit {
            if pairs.iter().any(|(before, _)| *before == symbol) {
                continue;
            }
            if let Node::Operator(operator) = self.graph.node(node)
                && self.graph.symbol(*operator).arity != self.graph.symbol(symbol).arity
            {
                let message = format!(
                    "`{}` has other operands in module {}",
                    self.graph.symbol(symbol).name,
                    instance.module.text
                );
                self.error(instance.offset, message);
            }
            pairs.push((symbol, node));
        }
        for declaration in declared {
            if !pairs.iter().any(|(symbol, _)| *symbol == declaration) {
                let name = self.graph.symbol(declaration).name.clone();
                let message =
                    format!("`{name}` of module {} has no value: write `WITH {name} <- …`", instance.module.text);
                self.error(instance.offset, message);
            }
        }
        Some((module, self.graph.add_substitution(Substitution { module, pairs })))
    }

    fn substitute_same_name(&mut self, declaration: SymbolId, offset: usize) -> Option<NodeId> {
        let declared = self.graph.symbol(declaration).clone();
        let symbol = self.lookup(&declared.name)?;
        let place = self.place(offset);
        if declared.arity > 0 {
            return Some(self.graph.add_node(Node::Operator(symbol), place));
        }
        let found = self.graph.symbol(symbol).clone();
        if found.arity > 0 || matches!(found.kind, SymbolKind::Instance | SymbolKind::Step) {
            self.graph.report(
                Severity::Error,
                place,
                format!("`{}` has operands here and none in the module", found.name),
            );
            return None;
        }
        let (operands, bound, ranges) = (Vec::new(), Vec::new(), Vec::new());
        let application = Application { operator: symbol, operands, bound, ranges, detail: Detail::None };
        Some(self.graph.add_node(Node::Apply(application), place))
    }

    fn has_declarations(&self, module: ModuleId) -> bool {
        // The module that is being resolved has no scope yet.
        if module == self.home {
            return true;
        }
        !self.graph.declarations(module).is_empty()
    }

    /// `INSTANCE M`: its definitions under their own names.
    pub(super) fn instance(&mut self, instance: &Instance, visibility: Visibility) {
        let Some((module, by)) = self.substitution(instance) else { return };
        let place = self.place(instance.offset);
        let local = visibility == Visibility::Local;
        let open = self.has_declarations(module);
        for id in self.graph.module(module).scope.order.clone() {
            let symbol = self.graph.symbol(id).clone();
            if symbol.local || !matches!(symbol.kind, SymbolKind::Operator | SymbolKind::Theorem) {
                continue;
            }
            // A definition that no substitution can change stays the same symbol, so that several instances of it do
            // not clash.
            let depends = open && self.has_declarations(symbol.home);
            let (home, body) = if depends {
                let body = symbol.body.map(|body| self.graph.add_node(Node::Substituted { body, by }, place));
                (self.home, body)
            } else if local {
                (symbol.home, symbol.body)
            } else {
                self.declare_from(id, instance);
                continue;
            };
            let origin = Some(id);
            let copy = Symbol { body, local, home, origin, place, recursive: None, section: None, ..symbol };
            let copy = self.graph.add_symbol(copy);
            self.declare(copy);
            self.add_to_section(copy);
            self.add_definitions(vec![copy]);
        }
        let instance = self.add_instance(InstanceUse { by, place });
        self.graph.module_mut(self.home).instances.push(instance);
    }

    /// Declares a symbol of another module; errors are reported at the instance.
    fn declare_from(&mut self, id: SymbolId, instance: &Instance) {
        let place = self.place(instance.offset);
        let before = self.graph.findings.len();
        self.declare(id);
        for finding in self.graph.findings.iter_mut().skip(before) {
            finding.place = place;
        }
    }

    /// `I(x) == INSTANCE M`: its definitions as `I!Op`, with the parameters of `I` before their own.
    pub(super) fn named_instance(&mut self, named: &NamedInstance) -> (Vec<SymbolId>, Vec<usize>) {
        self.scopes.push(Scope::default());
        let parameters = self.parameters(&named.parameters);
        let substitution = self.substitution(&named.instance);
        self.scopes.pop();
        let Some((module, by)) = substitution else { return (Vec::new(), Vec::new()) };
        let place = self.place(named.name.offset);
        let local = named.visibility == Visibility::Local;
        let substitutes = !self.graph.substitutions[by as usize].pairs.is_empty();
        let mut definitions = Vec::new();
        for id in self.graph.module(module).scope.order.clone() {
            let symbol = self.graph.symbol(id).clone();
            let brought = matches!(symbol.kind, SymbolKind::Operator | SymbolKind::Instance | SymbolKind::Theorem);
            if symbol.local || !brought {
                continue;
            }
            let body = match symbol.body {
                Some(body) if substitutes => Some(self.graph.add_node(Node::Substituted { body, by }, place)),
                body => body,
            };
            let copy = Symbol {
                name: format!("{}!{}", named.name.text, symbol.name).into(),
                arity: parameters.len() + symbol.arity,
                parameters: parameters.iter().chain(&symbol.parameters).copied().collect(),
                body,
                local,
                home: self.home,
                origin: Some(id),
                place,
                recursive: None,
                section: None,
                ..symbol
            };
            let kind = copy.kind;
            let copy = self.graph.add_symbol(copy);
            self.declare(copy);
            if kind != SymbolKind::Instance {
                self.add_to_section(copy);
                definitions.push(copy);
            }
        }
        let instance = self.add_instance(InstanceUse { by, place });
        self.graph.module_mut(self.home).instances.push(instance);
        self.declare_instance_name(&named.name, parameters, local);
        (definitions, vec![instance])
    }

    fn declare_instance_name(&mut self, name: &Name, parameters: Vec<SymbolId>, local: bool) {
        let mut symbol = self.symbol(&name.text, SymbolKind::Instance, parameters.len(), name.offset);
        symbol.parameters = parameters;
        symbol.local = local;
        let id = self.graph.add_symbol(symbol);
        self.declare(id);
    }
}
