//! The resolved names of a specification: symbols, expressions over them, modules. Everything refers to others by
//! index.

use std::collections::HashMap;
use std::rc::Rc;

pub(super) type SymbolId = u32;
pub(super) type NodeId = u32;
pub(super) type ModuleId = u32;
pub(super) type SubstitutionId = u32;

/// A byte offset in one of the texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub(super) file: u32,
    pub(super) offset: u32,
}

impl Place {
    /// The number of the module, as in [`Core::files`](super::Core::files).
    #[must_use]
    pub fn file(self) -> usize {
        self.file as usize
    }

    /// The offset in the text of the module, in bytes.
    #[must_use]
    pub fn offset(self) -> usize {
        self.offset as usize
    }
}

/// 0 constant, 1 state, 2 action, 3 temporal.
pub(super) type Level = u8;
pub(super) const CONSTANT: Level = 0;
pub(super) const STATE: Level = 1;
pub(super) const ACTION: Level = 2;
pub(super) const TEMPORAL: Level = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SymbolKind {
    /// By its row in the table of built-in operators.
    BuiltIn(usize),
    Constant,
    Variable,
    /// A parameter of a definition, or a name bound by a quantifier.
    Parameter,
    Operator,
    /// The name of `I == INSTANCE M`.
    Instance,
    /// A named theorem, assumption or proof step that has a statement.
    Theorem,
    /// Declared by `NEW` in an assumption.
    New(Level),
    /// A proof step without a statement.
    Step,
}

/// A named part of a definition.
#[derive(Debug, Clone)]
pub(super) struct Label {
    pub(super) name: Rc<str>,
    pub(super) parameters: Vec<SymbolId>,
    pub(super) node: NodeId,
    /// Labels inside that part.
    pub(super) inner: Vec<Label>,
}

#[derive(Debug, Clone)]
pub(super) struct Symbol {
    pub(super) name: Rc<str>,
    pub(super) kind: SymbolKind,
    pub(super) arity: usize,
    pub(super) place: Place,
    pub(super) local: bool,
    /// The module whose text defines or declares the symbol.
    pub(super) home: ModuleId,
    /// The symbol of another module that an INSTANCE copied.
    pub(super) origin: Option<SymbolId>,
    pub(super) parameters: Vec<SymbolId>,
    pub(super) body: Option<NodeId>,
    /// The depth of LET at which the symbol is declared `RECURSIVE`.
    pub(super) recursive: Option<usize>,
    /// The number of its section, from 1 in its module. A section is the definitions from a RECURSIVE declaration to
    /// its last definition.
    pub(super) section: Option<usize>,
    /// The number of arguments, if the symbol is a function.
    pub(super) function: Option<usize>,
    pub(super) labels: Rc<[Label]>,
}

impl Symbol {
    pub(super) fn is_declared(&self) -> bool {
        matches!(self.kind, SymbolKind::Constant | SymbolKind::Variable | SymbolKind::New(_))
    }

    /// Whether an instance or an application can substitute the symbol.
    pub(super) fn is_open(&self) -> bool {
        self.is_declared() || self.kind == SymbolKind::Parameter
    }
}

/// An operator with its operands, and the names that it binds.
#[derive(Debug, Clone)]
pub(super) struct Application {
    pub(super) operator: SymbolId,
    pub(super) operands: Vec<Option<NodeId>>,
    pub(super) bound: Vec<SymbolId>,
    pub(super) ranges: Vec<NodeId>,
    pub(super) detail: Detail,
}

/// What an application has besides operands.
#[derive(Debug, Clone, Default)]
pub(super) enum Detail {
    #[default]
    None,
    /// The name of a field.
    Field(Rc<str>),
    /// For each range: how many names it binds, and whether they are the elements of a tuple.
    Bounds(Vec<(usize, bool)>),
}

#[derive(Debug, Clone)]
pub(super) enum Node {
    Literal,
    Apply(Application),
    /// `@`, with the expressions that its value depends on.
    At(Vec<NodeId>),
    Let {
        definitions: Vec<SymbolId>,
        instances: Vec<usize>,
        body: NodeId,
    },
    /// The body of a definition of another module, under a substitution.
    Substituted {
        body: NodeId,
        by: SubstitutionId,
    },
    /// An operator as an argument.
    Operator(SymbolId),
    /// `ASSUME … PROVE …`
    Sequent {
        parts: Vec<NodeId>,
        declared: Vec<SymbolId>,
    },
}

#[derive(Debug, Clone)]
pub(super) struct Substitution {
    pub(super) module: ModuleId,
    pub(super) pairs: Vec<(SymbolId, NodeId)>,
}

#[derive(Debug, Clone)]
pub(super) struct InstanceUse {
    pub(super) by: SubstitutionId,
    pub(super) place: Place,
}

/// The names that a module or a part of an expression introduces.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope {
    pub(super) symbols: HashMap<Rc<str>, SymbolId>,
    pub(super) order: Vec<SymbolId>,
    pub(super) modules: HashMap<Rc<str>, ModuleId>,
}

impl Scope {
    pub(super) fn add(&mut self, name: Rc<str>, symbol: SymbolId) {
        self.symbols.insert(name, symbol);
        self.order.push(symbol);
    }
}

/// What a module contains, in the order of the text, so that each part is checked after those that it uses.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part {
    Definition(SymbolId),
    Module(ModuleId),
}

#[derive(Debug, Clone, Default)]
pub(super) struct ModuleInfo {
    pub(super) name: Rc<str>,
    pub(super) scope: Scope,
    pub(super) parts: Vec<Part>,
    pub(super) assumptions: Vec<(NodeId, Place)>,
    /// Statements of theorems and formulas in proofs.
    pub(super) theorems: Vec<NodeId>,
    pub(super) steps: Vec<NodeId>,
    pub(super) rigid_parts: Vec<RigidPart>,
    pub(super) instances: Vec<usize>,
    /// Sections of recursive definitions.
    pub(super) sections: Vec<Vec<SymbolId>>,
}

/// A part of a proof that has to be of constant level if the goal is a temporal formula.
#[derive(Debug, Clone, Copy)]
pub(super) struct RigidPart {
    pub(super) goal: NodeId,
    pub(super) part: NodeId,
    pub(super) place: Place,
    /// The keyword of the step.
    pub(super) keyword: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Severity {
    Error,
    NotAnalysed,
    Warning,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) place: Place,
    pub(super) severity: Severity,
    pub(super) message: String,
}

#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) symbols: Vec<Symbol>,
    pub(super) nodes: Vec<(Node, Place)>,
    pub(super) substitutions: Vec<Substitution>,
    pub(super) instances: Vec<InstanceUse>,
    pub(super) modules: Vec<ModuleInfo>,
    pub(super) findings: Vec<Finding>,
}

/// Maximum number of findings reported per severity.
const MAX_FINDINGS_PER_SEVERITY: usize = 100;

fn index(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

impl Graph {
    pub(super) fn symbol(&self, id: SymbolId) -> &Symbol {
        &self.symbols[id as usize]
    }

    /// Follows instances to the symbol that was originally defined.
    pub(super) fn original(&self, mut id: SymbolId) -> SymbolId {
        while let Some(origin) = self.symbol(id).origin {
            id = origin;
        }
        id
    }

    pub(super) fn symbol_mut(&mut self, id: SymbolId) -> &mut Symbol {
        &mut self.symbols[id as usize]
    }

    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize].0
    }

    pub(super) fn place(&self, id: NodeId) -> Place {
        self.nodes[id as usize].1
    }

    pub(super) fn module(&self, id: ModuleId) -> &ModuleInfo {
        &self.modules[id as usize]
    }

    pub(super) fn module_mut(&mut self, id: ModuleId) -> &mut ModuleInfo {
        &mut self.modules[id as usize]
    }

    pub(super) fn add_symbol(&mut self, symbol: Symbol) -> SymbolId {
        self.symbols.push(symbol);
        index(self.symbols.len() - 1)
    }

    pub(super) fn add_node(&mut self, node: Node, place: Place) -> NodeId {
        self.nodes.push((node, place));
        index(self.nodes.len() - 1)
    }

    pub(super) fn add_module(&mut self, module: ModuleInfo) -> ModuleId {
        self.modules.push(module);
        index(self.modules.len() - 1)
    }

    pub(super) fn add_substitution(&mut self, substitution: Substitution) -> SubstitutionId {
        self.substitutions.push(substitution);
        index(self.substitutions.len() - 1)
    }

    pub(super) fn report(&mut self, severity: Severity, place: Place, message: String) {
        let finding = Finding { place, severity, message };
        let before = self.findings.iter().filter(|before| before.severity == severity).count();
        if before < MAX_FINDINGS_PER_SEVERITY && !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
    }

    /// Constants and variables that a module declares or inherits.
    pub(super) fn declarations(&self, module: ModuleId) -> Vec<SymbolId> {
        let order = &self.module(module).scope.order;
        let declared = |id: &SymbolId| matches!(self.symbol(*id).kind, SymbolKind::Constant | SymbolKind::Variable);
        order.iter().copied().filter(declared).collect()
    }
}
