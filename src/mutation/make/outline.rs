//! The statements of an algorithm, in both syntaxes, read from its tree: which follows which, under which label.

use std::ops::Range;

use crate::tla::{Id, Kind, Token, Tree, lex};

/// Where statements stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    Main,
    Process,
    Procedure,
    Macro,
}

/// The body of a process, procedure or macro, or of an algorithm without processes.
#[derive(Debug)]
pub(super) struct Body {
    pub(super) owner: Owner,
    pub(super) name: String,
    pub(super) id: Id,
    /// Local variables and parameters.
    pub(super) declarations: Vec<Id>,
    /// Of a set of processes.
    pub(super) set: Option<Id>,
    /// Parameters of a macro.
    pub(super) parameters: Vec<String>,
    pub(super) statements: Vec<Statement>,
}

/// A label with its colon and its `+` or `-`.
#[derive(Debug, Clone)]
pub(super) struct Label {
    pub(super) name: String,
    pub(super) range: Range<usize>,
    pub(super) strong: Option<Range<usize>>,
}

/// A statement; a block in braces is no statement of its own.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) id: Id,
    pub(super) kind: &'static str,
    pub(super) range: Range<usize>,
    pub(super) label: Option<Label>,
    /// Branches, or what is done in a loop or a `with`.
    pub(super) parts: Vec<Part>,
}

/// One branch.
#[derive(Debug)]
pub(super) struct Part {
    /// Of an `if`, `elsif` or `while`.
    pub(super) condition: Option<Id>,
    pub(super) statements: Vec<Statement>,
    /// It stands in braces.
    pub(super) braced: bool,
}

impl Part {
    /// Where its first statement begins, its label included.
    pub(super) fn start(&self) -> usize {
        self.statements.first().map_or(usize::MAX, Statement::start)
    }
}

impl Statement {
    /// Where it begins, its label included.
    pub(super) fn start(&self) -> usize {
        self.label.as_ref().map_or(self.range.start, |label| label.range.start)
    }

    /// This and all statements in it.
    pub(super) fn all(&self) -> Vec<&Self> {
        let inner = self.parts.iter().flat_map(|part| &part.statements).flat_map(Self::all);
        std::iter::once(self).chain(inner).collect()
    }

    /// Whether what follows it has to have a label.
    pub(super) fn ends_step(&self) -> bool {
        match self.kind {
            "pcal_goto" | "pcal_return" | "pcal_proc_call" => true,
            "pcal_while" => false,
            _ => self.parts.iter().flat_map(|part| &part.statements).any(|s| s.label.is_some() || s.ends_step()),
        }
    }
}

struct Reader<'a> {
    source: &'a str,
    tree: &'a Tree,
}

/// The bodies of an algorithm, in order of the text.
pub(super) fn bodies(source: &str, tree: &Tree) -> Vec<Body> {
    let reader = Reader { source, tree };
    let Some(root) = tree.ids().find(|id| tree.node(*id).kind == "pcal_algorithm") else { return Vec::new() };
    tree.children(root).filter_map(|id| reader.body(root, id)).collect()
}

impl Reader<'_> {
    fn kind(&self, id: Id) -> &'static str {
        self.tree.node(id).kind
    }

    fn range(&self, id: Id) -> Range<usize> {
        self.tree.node(id).start..self.tree.node(id).end
    }

    fn text(&self, id: Id) -> String {
        self.tree.text(id, self.source).to_owned()
    }

    /// What stands between two places, remarks left out.
    fn gap(&self, range: Range<usize>) -> Vec<Token> {
        lex(self.source, range).into_iter().filter(|token| !token.is_comment()).collect()
    }

    fn says(&self, range: Range<usize>, word: &str) -> bool {
        self.gap(range).iter().any(|token| token.kind == Kind::Word && token.text(self.source) == word)
    }

    fn body(&self, root: Id, id: Id) -> Option<Body> {
        let tree = self.tree;
        let child = |of: Id, kind: &str| tree.children(of).find(|child| self.kind(*child) == kind);
        let (owner, head) = match self.kind(id) {
            "pcal_algorithm_body" => (Owner::Main, root),
            "pcal_process" => (Owner::Process, id),
            "pcal_procedure" => (Owner::Procedure, child(id, "pcal_proc_decl")?),
            "pcal_macro" => (Owner::Macro, child(id, "pcal_macro_decl")?),
            _ => return None,
        };
        let name = tree.field(head, "name")?;
        let block = if owner == Owner::Main { id } else { child(id, "pcal_algorithm_body")? };
        let nested = |kind: &str| child(head, kind).into_iter().flat_map(|of| tree.children(of)).collect::<Vec<_>>();
        let declarations = match owner {
            Owner::Process => nested("pcal_var_decls"),
            Owner::Procedure => {
                let parameters = tree.children(head).filter(|child| self.kind(*child) == "pcal_proc_var_decl");
                parameters.chain(nested("pcal_proc_var_decls")).collect()
            }
            Owner::Main | Owner::Macro => Vec::new(),
        };
        let set = (owner == Owner::Process).then(|| {
            let parts: Vec<Id> = tree.children(id).collect();
            let sign = parts.iter().position(|part| self.kind(*part) == "set_in")?;
            parts.get(sign + 1).copied()
        });
        let parameters = tree.children(head).filter(|child| tree.node(*child).field == Some("parameter"));
        Some(Body {
            owner,
            name: self.text(name),
            id,
            declarations,
            set: set.flatten(),
            parameters: parameters.map(|parameter| self.text(parameter)).collect(),
            statements: self.statements(&tree.children(block).collect::<Vec<_>>(), 0),
        })
    }

    /// A sequence; blocks in braces are taken out of them.
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
                    parts: self.parts(id, kind, depth),
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
        let after = self.gap(self.range(id).end..until);
        let signs: Vec<&Token> = after.iter().take_while(|t| matches!(t.text(self.source), ":" | "+" | "-")).collect();
        Label {
            name: self.text(id),
            range: start..signs.last().map_or(self.range(id).end, |sign| sign.end),
            strong: signs.iter().find(|sign| sign.text(self.source) == "+").map(|sign| sign.range()),
        }
    }

    fn parts(&self, id: Id, kind: &str, depth: usize) -> Vec<Part> {
        let children: Vec<Id> = self.tree.children(id).collect();
        let inside =
            |child: Id| self.is_label(child) || self.is_statement(child) || self.kind(child) == "pcal_algorithm_body";
        let mut parts: Vec<(Option<Id>, Vec<Id>)> = Vec::new();
        let mut end = self.range(id).start;
        let separator = match kind {
            "pcal_if" => "else",
            "pcal_either" => "or",
            "pcal_while" | "pcal_with" => "",
            _ => return Vec::new(),
        };
        if kind != "pcal_if" {
            parts.push((None, Vec::new()));
        }
        for child in children {
            let begins = !separator.is_empty() && inside(child) && self.says(end..self.range(child).start, separator);
            if inside(child) {
                if begins {
                    parts.push((None, Vec::new()));
                }
                if let Some((_, own)) = parts.last_mut() {
                    own.push(child);
                }
            } else if kind == "pcal_if" && !self.kind(child).starts_with("pcal_") {
                parts.push((Some(child), Vec::new()));
            } else if let ("pcal_while", Some((condition, _))) = (kind, parts.last_mut())
                && !self.kind(child).starts_with("pcal_")
            {
                *condition = Some(child);
            }
            end = self.range(child).end;
        }
        let part = |(condition, own): (Option<Id>, Vec<Id>)| Part {
            condition,
            braced: own.first().is_some_and(|first| self.kind(*first) == "pcal_algorithm_body"),
            statements: self.statements(&own, depth + 1),
        };
        parts.into_iter().map(part).collect()
    }
}
