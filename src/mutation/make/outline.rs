//! The statements of an algorithm in sequence with their labels, read from the syntax tree of either PlusCal syntax.

use std::ops::Range;

use crate::tla::{Id, Kind, Token, Tree, lex};

/// The kind of a body.
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
    pub(super) kind: &'static str,
    pub(super) range: Range<usize>,
    pub(super) label: Option<Label>,
    /// The branches, or the body of a loop or `with`.
    pub(super) branches: Vec<Branch>,
}

/// A branch of a statement.
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
            "pcal_goto" | "pcal_return" | "pcal_proc_call" => true,
            "pcal_while" => false,
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
            "pcal_with" => Self::Closed,
            "pcal_while" => self,
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
    let Some(root) = tree.ids().find(|id| tree.node(*id).kind == "pcal_algorithm") else { return Vec::new() };
    tree.children(root).filter_map(|id| reader.body(root, id)).collect()
}

impl OutlineReader<'_> {
    fn kind(&self, id: Id) -> &'static str {
        self.tree.node(id).kind
    }

    fn range(&self, id: Id) -> Range<usize> {
        self.tree.node(id).start..self.tree.node(id).end
    }

    fn text(&self, id: Id) -> String {
        self.tree.text(id, self.source).to_owned()
    }

    /// The tokens in a range, without comments.
    fn tokens_between(&self, range: Range<usize>) -> Vec<Token> {
        lex(self.source, range).into_iter().filter(|token| !token.is_comment()).collect()
    }

    fn contains_word(&self, range: Range<usize>, word: &str) -> bool {
        self.tokens_between(range).iter().any(|token| token.kind == Kind::Word && token.text(self.source) == word)
    }

    fn body(&self, root: Id, id: Id) -> Option<Body> {
        let tree = self.tree;
        let child = |of: Id, kind: &str| tree.children(of).find(|child| self.kind(*child) == kind);
        let (nesting, head) = match self.kind(id) {
            "pcal_algorithm_body" => (BodyKind::Main, root),
            "pcal_process" => (BodyKind::Process, id),
            "pcal_procedure" => (BodyKind::Procedure, child(id, "pcal_proc_decl")?),
            "pcal_macro" => (BodyKind::Macro, child(id, "pcal_macro_decl")?),
            _ => return None,
        };
        let name = tree.field(head, "name")?;
        let block = if nesting == BodyKind::Main { id } else { child(id, "pcal_algorithm_body")? };
        let nested = |kind: &str| child(head, kind).into_iter().flat_map(|of| tree.children(of)).collect::<Vec<_>>();
        let declarations = match nesting {
            BodyKind::Process => nested("pcal_var_decls"),
            BodyKind::Procedure => {
                let parameters = tree.children(head).filter(|child| self.kind(*child) == "pcal_proc_var_decl");
                parameters.chain(nested("pcal_proc_var_decls")).collect()
            }
            BodyKind::Main | BodyKind::Macro => Vec::new(),
        };
        let set = (nesting == BodyKind::Process).then(|| {
            let branches: Vec<Id> = tree.children(id).collect();
            let sign = branches.iter().position(|branch| self.kind(*branch) == "set_in")?;
            branches.get(sign + 1).copied()
        });
        let parameters = tree.children(head).filter(|child| tree.node(*child).field == Some("parameter"));
        Some(Body {
            nesting,
            name: self.text(name),
            id,
            declarations,
            set: set.flatten(),
            parameters: parameters.map(|parameter| self.text(parameter)).collect(),
            statements: self.statements(&tree.children(block).collect::<Vec<_>>(), 0),
        })
    }

    /// The statements of a sequence, with blocks in braces flattened.
    fn statements(&self, children: &[Id], depth: usize) -> Vec<Statement> {
        let mut found: Vec<Statement> = Vec::new();
        let mut label = None;
        if depth > crate::tla::MAX_DEPTH {
            return found;
        }
        for (at, id) in children.iter().copied().enumerate() {
            let kind = self.kind(id);
            if self.is_label(id) {
                label = Some(
                    self.label(id, children.get(at + 1).map_or(self.range(id).end, |next| self.range(*next).start)),
                );
            } else if kind == "pcal_algorithm_body" {
                let mut inner = self.statements(&self.tree.children(id).collect::<Vec<_>>(), depth + 1);
                if let (Some(first), Some(own)) = (inner.first_mut(), label.take()) {
                    first.label.get_or_insert(own);
                }
                found.extend(inner);
            } else if self.is_statement(id) {
                found.push(Statement {
                    id,
                    kind,
                    range: self.range(id),
                    label: label.take(),
                    branches: self.branches(id, kind, depth),
                });
            }
        }
        found
    }

    fn is_label(&self, id: Id) -> bool {
        let node = self.tree.node(id);
        node.kind == "identifier" && node.field == Some("label")
    }

    fn is_statement(&self, id: Id) -> bool {
        const KINDS: [&str; 13] = [
            "pcal_assign",
            "pcal_if",
            "pcal_while",
            "pcal_either",
            "pcal_with",
            "pcal_await",
            "pcal_print",
            "pcal_assert",
            "pcal_skip",
            "pcal_return",
            "pcal_goto",
            "pcal_proc_call",
            "pcal_macro_call",
        ];
        KINDS.contains(&self.kind(id))
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

    fn branches(&self, id: Id, kind: &str, depth: usize) -> Vec<Branch> {
        let children: Vec<Id> = self.tree.children(id).collect();
        let inside =
            |child: Id| self.is_label(child) || self.is_statement(child) || self.kind(child) == "pcal_algorithm_body";
        let mut branches: Vec<(Option<Id>, Vec<Id>)> = Vec::new();
        let mut end = self.range(id).start;
        let separator = match kind {
            "pcal_if" => "else",
            "pcal_either" => "or",
            "pcal_while" | "pcal_with" => "",
            _ => return Vec::new(),
        };
        if kind != "pcal_if" {
            branches.push((None, Vec::new()));
        }
        for child in children {
            let begins =
                !separator.is_empty() && inside(child) && self.contains_word(end..self.range(child).start, separator);
            if inside(child) {
                if begins {
                    branches.push((None, Vec::new()));
                }
                if let Some((_, own)) = branches.last_mut() {
                    own.push(child);
                }
            } else if kind == "pcal_if" && !self.kind(child).starts_with("pcal_") {
                branches.push((Some(child), Vec::new()));
            } else if let ("pcal_while", Some((condition, _))) = (kind, branches.last_mut())
                && !self.kind(child).starts_with("pcal_")
            {
                *condition = Some(child);
            }
            end = self.range(child).end;
        }
        let branch = |(condition, own): (Option<Id>, Vec<Id>)| Branch {
            condition,
            braced: own.first().is_some_and(|first| self.kind(*first) == "pcal_algorithm_body"),
            statements: self.statements(&own, depth + 1),
        };
        branches.into_iter().map(branch).collect()
    }
}
