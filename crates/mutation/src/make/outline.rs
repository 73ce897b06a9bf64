//! The statements of an algorithm in sequence with their labels, read from the syntax tree of either PlusCal syntax.
//! Knows nothing of mutation operators.

use std::ops::Range;

use tlaforge_tla::{Field, Id, NodeKind, Token, Tree, lex};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyKind {
    Main,
    Process,
    Procedure,
    Macro,
}

/// The body of a process, procedure or macro, or of an algorithm without processes.
#[derive(Debug)]
pub(super) struct Body {
    pub(super) nesting: BodyKind,
    pub(super) name: String,
    pub(super) id: Id,
    /// Local variables and parameters.
    pub(super) declarations: Vec<Id>,
    /// The set of a `process (p \in S)`.
    pub(super) set: Option<Id>,
    /// The parameters of a macro.
    pub(super) parameters: Vec<String>,
    pub(super) statements: Vec<Statement>,
}

/// A label with its colon and its `+` or `-`.
#[derive(Debug, Clone)]
pub(super) struct Label {
    pub(super) name: String,
    pub(super) range: Range<usize>,
    pub(super) plus_sign: Option<Range<usize>>,
}

/// A statement. Blocks in braces are flattened.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) id: Id,
    pub(super) kind: NodeKind,
    pub(super) range: Range<usize>,
    pub(super) label: Option<Label>,
    /// The branches, or the body of a loop or `with`.
    pub(super) branches: Vec<Branch>,
}

#[derive(Debug)]
pub(super) struct Branch {
    /// The condition of an `if`, `elsif` or `while`.
    pub(super) condition: Option<Id>,
    pub(super) statements: Vec<Statement>,
    /// Whether it is in braces.
    pub(super) braced: bool,
}

impl Branch {
    /// The start of the first statement, including its label.
    pub(super) fn start(&self) -> usize {
        self.statements.first().map_or(usize::MAX, Statement::start)
    }
}

impl Statement {
    /// The start of the statement, including its label.
    pub(super) fn start(&self) -> usize {
        self.label.as_ref().map_or(self.range.start, |label| label.range.start)
    }

    /// The statement and all nested statements.
    pub(super) fn with_nested(&self) -> Vec<&Self> {
        let inner = self.branches.iter().flat_map(|branch| &branch.statements).flat_map(Self::with_nested);
        std::iter::once(self).chain(inner).collect()
    }

    /// Whether PlusCal requires a label on the next statement.
    pub(super) fn requires_label_after(&self) -> bool {
        match self.kind {
            NodeKind::Goto | NodeKind::Return | NodeKind::ProcedureCall => true,
            // The end of a loop goes on in the step of its test, so what follows needs no label, whatever the body
            // contains.
            NodeKind::While => false,
            _ => self
                .branches
                .iter()
                .flat_map(|branch| &branch.statements)
                .any(|s| s.label.is_some() || s.requires_label_after()),
        }
    }
}

/// Whether a label may come between two statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LabelPlacement {
    Open,
    /// In a macro, in a `with`, or in a branch followed by a statement without a label: PlusCal forbids a label there.
    Closed,
}

impl LabelPlacement {
    /// The placement inside a statement that `next` follows.
    pub(super) fn inside(self, statement: &Statement, next: Option<&Statement>) -> Self {
        let followed = next.is_some_and(|next| next.label.is_none());
        match statement.kind {
            NodeKind::With => Self::Closed,
            NodeKind::While => self,
            _ if followed => Self::Closed,
            _ => self,
        }
    }
}

struct OutlineReader<'a> {
    source: &'a str,
    tree: &'a Tree,
}

/// The bodies of an algorithm, in order of the text.
pub(super) fn bodies(source: &str, tree: &Tree) -> Vec<Body> {
    let reader = OutlineReader { source, tree };
    let Some(root) = tree.of_kind(NodeKind::Algorithm).next() else { return Vec::new() };
    tree.children(root).filter_map(|id| reader.body(root, id)).collect()
}

impl OutlineReader<'_> {
    fn kind(&self, id: Id) -> NodeKind {
        self.tree.kind(id)
    }

    fn range(&self, id: Id) -> Range<usize> {
        self.tree.range(id)
    }

    fn text(&self, id: Id) -> String {
        self.tree.text(id, self.source).to_owned()
    }

    /// The tokens in a range, without comments.
    fn tokens_between(&self, range: Range<usize>) -> Vec<Token> {
        lex(self.source, range).into_iter().filter(|token| !token.is_comment()).collect()
    }

    fn body(&self, root: Id, id: Id) -> Option<Body> {
        let tree = self.tree;
        let child = |of: Id, kind: NodeKind| tree.children(of).find(|child| self.kind(*child) == kind);
        let (nesting, head) = match self.kind(id) {
            NodeKind::Body => (BodyKind::Main, root),
            NodeKind::Process => (BodyKind::Process, id),
            NodeKind::Procedure => (BodyKind::Procedure, child(id, NodeKind::ProcedureHead)?),
            NodeKind::Macro => (BodyKind::Macro, child(id, NodeKind::MacroHead)?),
            _ => return None,
        };
        let name = tree.field(head, Field::Name)?;
        let block = if nesting == BodyKind::Main { id } else { child(id, NodeKind::Body)? };
        let nested =
            |kind: NodeKind| child(head, kind).into_iter().flat_map(|of| tree.children(of)).collect::<Vec<_>>();
        let declarations = match nesting {
            BodyKind::Process => nested(NodeKind::Variables),
            BodyKind::Procedure => {
                let parameters = tree.children(head).filter(|child| self.kind(*child) == NodeKind::ProcedureVariable);
                parameters.chain(nested(NodeKind::ProcedureVariables)).collect()
            }
            BodyKind::Main | BodyKind::Macro => Vec::new(),
        };
        let parameters = tree.children(head).filter(|child| tree.node(*child).field == Some(Field::Parameter));
        Some(Body {
            nesting,
            name: self.text(name),
            id,
            declarations,
            set: tree.field(id, Field::Set).filter(|_| nesting == BodyKind::Process),
            parameters: parameters.map(|parameter| self.text(parameter)).collect(),
            statements: self.statements(&tree.children(block).collect::<Vec<_>>(), 0),
        })
    }

    /// The statements of a sequence, with blocks in braces flattened.
    fn statements(&self, children: &[Id], depth: usize) -> Vec<Statement> {
        let mut found: Vec<Statement> = Vec::new();
        let mut label = None;
        if depth > tlaforge_tla::MAX_DEPTH {
            return found;
        }
        for (at, id) in children.iter().copied().enumerate() {
            let kind = self.kind(id);
            if self.is_label(id) {
                label = Some(
                    self.label(id, children.get(at + 1).map_or(self.range(id).end, |next| self.range(*next).start)),
                );
            } else if kind == NodeKind::Body {
                let mut inner = self.statements(&self.tree.children(id).collect::<Vec<_>>(), depth + 1);
                // The label of a block in braces is the label of its first statement.
                if let (Some(first), Some(own)) = (inner.first_mut(), label.take()) {
                    first.label.get_or_insert(own);
                }
                found.extend(inner);
            } else if self.kind(id).is_statement() {
                found.push(Statement {
                    id,
                    kind,
                    range: self.range(id),
                    label: label.take(),
                    branches: self.branches(id, depth),
                });
            }
        }
        found
    }

    fn is_label(&self, id: Id) -> bool {
        let node = self.tree.node(id);
        node.kind == NodeKind::Identifier && node.field == Some(Field::Label)
    }

    fn label(&self, id: Id, until: usize) -> Label {
        let start = self.range(id).start;
        let after = self.tokens_between(self.range(id).end..until);
        let signs: Vec<&Token> = after.iter().take_while(|t| matches!(t.text(self.source), ":" | "+" | "-")).collect();
        Label {
            name: self.text(id),
            range: start..signs.last().map_or(self.range(id).end, |sign| sign.end),
            plus_sign: signs.iter().find(|sign| sign.text(self.source) == "+").map(|sign| sign.range()),
        }
    }

    fn branches(&self, id: Id, depth: usize) -> Vec<Branch> {
        let mut condition = None;
        let mut branches = Vec::new();
        for child in self.tree.children(id) {
            if self.kind(child) == NodeKind::Branch {
                let own: Vec<Id> = self.tree.children(child).collect();
                branches.push(Branch {
                    condition: condition.take(),
                    braced: own.first().is_some_and(|first| self.kind(*first) == NodeKind::Body),
                    statements: self.statements(&own, depth + 1),
                });
            } else if matches!(self.kind(id), NodeKind::If | NodeKind::While) {
                condition = Some(child);
            }
        }
        branches
    }
}
