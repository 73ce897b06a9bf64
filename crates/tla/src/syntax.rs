//! The concrete syntax of one unit as a tree: every part that has a meaning, with its byte range, so that text can be
//! edited. `semantic::Reader` makes it.

use std::ops::Range;

use super::semantic::Operator;

/// A node of a [`Tree`], by index.
pub type Id = usize;

/// One node of the concrete syntax tree.
#[derive(Debug, Clone)]
pub struct Node {
    pub kind: NodeKind,
    pub field: Option<Field>,
    pub start: usize,
    pub end: usize,
    pub children: Vec<Id>,
}

/// The nodes of one unit. A unit with a syntax error has none; an algorithm lacks only its wrong statements. Node 0 is the
/// root, and a child has a larger index than its parent. The positions are those of the module's text.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    pub(super) nodes: Vec<Node>,
    /// Byte range and message of each error.
    pub errors: Vec<(Range<usize>, String)>,
}

/// Recursive functions on expressions stop at this depth, far above what a person writes, so that they cannot overflow
/// the stack.
pub const MAX_DEPTH: usize = 256;

/// What a node is. Brackets, commas and keywords are no nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    Root,
    // Units
    Assumption,
    FunctionDefinition,
    Instance,
    LocalDefinition,
    /// `I(x) == INSTANCE M`
    ModuleDefinition,
    OperatorDeclaration,
    OperatorDefinition,
    RecursiveDeclaration,
    Substitution,
    Theorem,
    // Sequents
    InnerSequent,
    NewSymbol,
    Sequent,
    // Names
    /// A name where it is declared or bound, or the name of a field.
    Identifier,
    IdentifierTuple,
    /// An operator that is declared or passed, not applied.
    OperatorName,
    Reference,
    /// The operator of [`NodeKind::Prefix`], [`NodeKind::Infix`] or [`NodeKind::Postfix`].
    Symbol(&'static Operator),
    // Expressions
    AngleAction,
    Boolean,
    BooleanSet,
    Bound,
    Bounded,
    BoxAction,
    /// `/\` or `\/` before an item of a list.
    Bullet,
    /// `F(x)`
    Call,
    Case,
    CaseArm,
    Choose,
    ConjunctionItem,
    ConjunctionList,
    DisjunctionItem,
    DisjunctionList,
    Except,
    ExceptField,
    ExceptIndex,
    /// `[a].b` in `[f EXCEPT ![a].b = c]`
    ExceptPath,
    ExceptUpdate,
    Exists,
    Fairness,
    FieldAccess,
    ForAll,
    /// `I!F(x)`
    ForeignCall,
    ForeignComponent,
    ForeignPrefix,
    FunctionApplication,
    FunctionLiteral,
    FunctionSet,
    IfThenElse,
    Infix,
    Label,
    Lambda,
    LetIn,
    Number,
    /// `Nat`, `Int`, `Real`
    NumberSet,
    /// A number that is not an integer in decimal digits.
    OtherNumber,
    OtherArm,
    Parentheses,
    Postfix,
    Prefix,
    /// `@`
    PreviousValue,
    RecordLiteral,
    RecordSet,
    /// `!1`, `!<<`, `!(x)`
    Selector,
    SetFilter,
    SetLiteral,
    SetMap,
    StepReference,
    StringSet,
    /// `F!1`
    Subexpression,
    /// `+(1, 2)`
    SymbolCall,
    TemporalExists,
    TemporalForAll,
    Text,
    TupleLiteral,
    Unbounded,
    // PlusCal
    Algorithm,
    Assert,
    Assign,
    AssignTarget,
    Await,
    Body,
    /// What an `if`, `either`, `while` or `with` holds.
    Branch,
    Define,
    Either,
    FairAlgorithm,
    Goto,
    If,
    Macro,
    MacroCall,
    MacroHead,
    Print,
    Procedure,
    ProcedureCall,
    ProcedureHead,
    ProcedureVariable,
    ProcedureVariables,
    Process,
    Return,
    Skip,
    Variable,
    Variables,
    While,
    With,
}

impl NodeKind {
    /// Whether it is a statement or another part of an algorithm, not of an expression.
    pub fn is_pluscal(self) -> bool {
        self.is_statement()
            || matches!(
                self,
                Self::Algorithm
                    | Self::AssignTarget
                    | Self::Body
                    | Self::Branch
                    | Self::Define
                    | Self::Macro
                    | Self::MacroHead
                    | Self::Procedure
                    | Self::ProcedureHead
                    | Self::ProcedureVariable
                    | Self::ProcedureVariables
                    | Self::Process
                    | Self::Variable
                    | Self::Variables
            )
    }

    /// Whether it is the symbol of an operator that refers to the next state.
    pub fn is_next_state(self) -> bool {
        matches!(self, Self::Symbol(operator) if matches!(operator.name, "'" | "UNCHANGED"))
    }

    /// Whether only a temporal formula can contain it.
    pub fn is_temporal(self) -> bool {
        match self {
            Self::Fairness | Self::BoxAction | Self::AngleAction => true,
            Self::Symbol(operator) => matches!(operator.name, "[]" | "<>" | "~>"),
            _ => false,
        }
    }

    pub fn is_statement(self) -> bool {
        matches!(
            self,
            Self::Assert
                | Self::Assign
                | Self::Await
                | Self::Either
                | Self::Goto
                | Self::If
                | Self::MacroCall
                | Self::Print
                | Self::ProcedureCall
                | Self::Return
                | Self::Skip
                | Self::While
                | Self::With
        )
    }
}

/// The role of a node in its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// The expression of a quantifier, CHOOSE, LET or label.
    Body,
    /// The last name of `I!F`.
    Callee,
    Condition,
    /// The right-hand side of a definition.
    Definition,
    /// The label of a `goto`.
    Destination,
    Else,
    Generator,
    Label,
    Left,
    Name,
    Parameter,
    Path,
    Quantifier,
    Right,
    /// The set of which a name is an element.
    Set,
    Symbol,
    Then,
    /// The function that EXCEPT updates.
    Updated,
    Value,
}

impl Tree {
    pub fn node(&self, id: Id) -> &Node {
        &self.nodes[id]
    }

    pub fn kind(&self, id: Id) -> NodeKind {
        self.nodes[id].kind
    }

    pub fn range(&self, id: Id) -> Range<usize> {
        self.nodes[id].start..self.nodes[id].end
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub fn ids(&self) -> Range<Id> {
        0..self.nodes.len()
    }

    /// The nodes of one kind, in order of the text.
    pub fn of_kind(&self, kind: NodeKind) -> impl Iterator<Item = Id> + '_ {
        self.ids().filter(move |id| self.nodes[*id].kind == kind)
    }

    /// The first child in this field.
    pub fn field(&self, id: Id, field: Field) -> Option<Id> {
        self.nodes[id].children.iter().copied().find(|child| self.nodes[*child].field == Some(field))
    }

    pub fn children(&self, id: Id) -> impl DoubleEndedIterator<Item = Id> + '_ {
        self.nodes[id].children.iter().copied()
    }

    pub fn text<'a>(&self, id: Id, source: &'a str) -> &'a str {
        self.nodes[id].text_in(source)
    }

    /// The node inside any parentheses and list bullets around it.
    pub fn strip_parentheses(&self, mut id: Id) -> Id {
        while matches!(
            self.nodes[id].kind,
            NodeKind::Parentheses | NodeKind::ConjunctionItem | NodeKind::DisjunctionItem
        ) {
            match self.children(id).last() {
                Some(inner) => id = inner,
                None => break,
            }
        }
        id
    }

    /// The node of the name `A` in `A` or `A(x)`.
    pub fn called_name(&self, id: Id) -> Option<Id> {
        match self.nodes[id].kind {
            NodeKind::Reference => Some(id),
            NodeKind::Call => self.children(id).next(),
            _ => None,
        }
    }

    /// The name of the prefix, infix or postfix operator that a node applies (`/\`, `\in`, `-.`); empty if it applies none.
    pub fn operator(&self, id: Id) -> &'static str {
        self.applied_operator(id).map_or("", |operator| operator.name)
    }

    pub fn applied_operator(&self, id: Id) -> Option<&'static Operator> {
        match self.nodes[self.field(id, Field::Symbol)?].kind {
            NodeKind::Symbol(operator) => Some(operator),
            _ => None,
        }
    }

    /// The operands of an infix operator.
    pub fn operands(&self, id: Id) -> Option<(Id, Id)> {
        Some((self.field(id, Field::Left)?, self.field(id, Field::Right)?))
    }

    /// The operand, if the node applies this prefix operator.
    pub fn operand_of(&self, id: Id, prefix: &str) -> Option<Id> {
        let applies = self.nodes[id].kind == NodeKind::Prefix && self.operator(id) == prefix;
        self.field(id, Field::Right).filter(|_| applies)
    }

    /// Whether the node applies this infix operator.
    pub fn is_infix(&self, id: Id, operator: &str) -> bool {
        self.nodes[id].kind == NodeKind::Infix && self.operator(id) == operator
    }

    /// Whether it is `\E x \in S : …` or `\E x : …`.
    pub fn is_exists(&self, id: Id) -> bool {
        self.quantifier(id) == Some(NodeKind::Exists)
    }

    pub fn is_for_all(&self, id: Id) -> bool {
        self.quantifier(id) == Some(NodeKind::ForAll)
    }

    fn quantifier(&self, id: Id) -> Option<NodeKind> {
        self.field(id, Field::Quantifier).map(|quantifier| self.nodes[quantifier].kind)
    }
}

impl Node {
    pub fn text_in<'a>(&self, source: &'a str) -> &'a str {
        source.get(self.start..self.end).unwrap_or("")
    }
}
