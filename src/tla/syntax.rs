//! Expressions as trees, from tree-sitter-tlaplus.
//!
//! One unit of a module is parsed at a time, so that an error affects only its unit and the cost is linear in the size of
//! the module. Input that is known to break the grammar's external scanner is refused first (see [`refusal`]).

use std::ops::Range;
use std::sync::LazyLock;

use tree_sitter::{Language, Node as SitterNode, Parser};

use super::lexer::{Kind, Token};

/// A node of a [`Tree`], by index.
pub(crate) type Id = usize;

/// One named node of the concrete syntax tree.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) kind: &'static str,
    pub(crate) field: Option<&'static str>,
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) children: Vec<Id>,
}

/// The named nodes of one unit. Node 0 is the root; the positions are those of the module's text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    /// Byte range and message of each error.
    pub(crate) errors: Vec<(Range<usize>, String)>,
}

/// Recursive functions on expressions stop at this depth, far above what a person writes, so that they cannot overflow
/// the stack.
pub(crate) const MAX_DEPTH: usize = 256;
/// The scanner keeps 3 bytes for each open bulleted list in a buffer of 1,024 bytes and does not check its end.
const MAX_BULLET_COLUMNS: usize = 150;
/// It keeps columns in 16 bits.
const MAX_COLUMN: usize = 30_000;
/// It keeps 4 bytes for each open proof in the same buffer.
const MAX_PROOF_STEPS: usize = 60;
/// Limit on the tokens of a unit, because the time of error recovery grows with the square of the tokens. The largest
/// unit of 480 public modules, an algorithm, has 1,468.
const MAX_TOKENS: usize = 4_000;
/// Limit on the sum of those squares over all units of a text that have errors (about a second in a release build).
const MAX_ERROR_COST: usize = 40_000_000;

/// The grammar is static so that the names of node kinds and fields, which it owns, are `&'static str`.
static GRAMMAR: LazyLock<Language> = LazyLock::new(|| tree_sitter_tlaplus::LANGUAGE.into());

impl Tree {
    pub(crate) fn node(&self, id: Id) -> &Node {
        &self.nodes[id]
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub(crate) fn ids(&self) -> Range<Id> {
        0..self.nodes.len()
    }

    /// The first child in this field.
    pub(crate) fn field(&self, id: Id, field: &str) -> Option<Id> {
        self.nodes[id].children.iter().copied().find(|child| self.nodes[*child].field == Some(field))
    }

    /// The children that are not comments.
    pub(crate) fn children(&self, id: Id) -> impl DoubleEndedIterator<Item = Id> + '_ {
        self.nodes[id].children.iter().copied().filter(|child| {
            let kind = self.nodes[*child].kind;
            kind != "comment" && kind != "block_comment"
        })
    }

    pub(crate) fn text<'a>(&self, id: Id, source: &'a str) -> &'a str {
        self.nodes[id].text_in(source)
    }

    /// The node inside any parentheses and list bullets around it.
    pub(crate) fn strip_parentheses(&self, mut id: Id) -> Id {
        while matches!(self.nodes[id].kind, "parentheses" | "conj_item" | "disj_item") {
            match self.children(id).last() {
                Some(inner) => id = inner,
                None => break,
            }
        }
        id
    }

    /// The node of the name `A` in `A` or `A(x)`.
    pub(crate) fn called_name(&self, id: Id) -> Option<Id> {
        match self.nodes[id].kind {
            "identifier_ref" => Some(id),
            "bound_op" => self.children(id).next(),
            _ => None,
        }
    }

    /// Whether the node applies the infix operator of this kind (`lor`, `land`, `eq`, …).
    pub(crate) fn is_infix(&self, id: Id, operator: &str) -> bool {
        self.nodes[id].kind == "bound_infix_op"
            && self.field(id, "symbol").is_some_and(|symbol| self.nodes[symbol].kind == operator)
    }
}

/// Why a unit must not be passed to tree-sitter; `None` if it may be.
fn refusal(source: &str, tokens: &[Token], algorithm: bool) -> Option<String> {
    if tokens.len() > MAX_TOKENS {
        return Some(format!("more than {MAX_TOKENS} tokens in one definition: not read"));
    }
    let mut columns: Vec<usize> = Vec::new();
    let mut steps = 0;
    for (index, token) in tokens.iter().enumerate() {
        let text = token.text(source);
        match text {
            "/\\" | "\\/" | "\u{2227}" | "\u{2228}" => columns.push(token.column),
            "<" if tokens.get(index + 2).is_some_and(|next| next.text(source) == ">") => steps += 1,
            "<" if tokens.get(index + 1).is_some_and(|next| next.text(source).ends_with('>')) => steps += 1,
            _ => {}
        }
        let start_of_pluscal = text == "--"
            && tokens
                .get(index + 1)
                .is_some_and(|next| next.start == token.end && matches!(next.text(source), "algorithm" | "fair"));
        if start_of_pluscal && (!algorithm || index > 0) {
            return Some("a PlusCal algorithm outside a comment".into());
        }
        if token.kind == Kind::Text && (text.contains("--algorithm") || text.contains("--fair")) {
            return Some("a string that looks like the start of a PlusCal algorithm: not read".into());
        }
    }
    if columns.iter().any(|column| *column > MAX_COLUMN) {
        return Some("a line too long to read".into());
    }
    columns.sort_unstable();
    columns.dedup();
    if columns.len() > MAX_BULLET_COLUMNS {
        return Some("bulleted lists nested too deeply to read".into());
    }
    (steps > MAX_PROOF_STEPS).then(|| "too many proof steps to read".into())
}

/// The parser, kept between units.
pub(crate) struct Reader {
    parser: Option<Parser>,
    /// Sum of the squared numbers of tokens of units with errors.
    error_cost: usize,
}

impl Reader {
    pub(crate) fn new() -> Self {
        let mut parser = Parser::new();
        let ready = parser.set_language(&GRAMMAR).is_ok();
        Self { parser: ready.then_some(parser), error_cost: 0 }
    }

    /// Parses one unit (or, with `algorithm`, one `PlusCal` algorithm) given as tokens without comments.
    pub(crate) fn read(&mut self, source: &str, tokens: &[Token], algorithm: bool) -> Tree {
        let Some(range) = tokens.first().zip(tokens.last()).map(|(first, last)| first.start..last.end) else {
            return Tree::default();
        };
        if let Some(reason) = refusal(source, tokens, algorithm) {
            return Tree { nodes: Vec::new(), errors: vec![(range, reason)] };
        }
        if self.error_cost + tokens.len() * tokens.len() > MAX_ERROR_COST && self.error_cost > 0 {
            return Tree { nodes: Vec::new(), errors: vec![(range, "too many errors before this: not read".into())] };
        }
        let indent = tokens[0].column;
        let text = without_comments(source, tokens, indent);
        let Some(parser) = self.parser.as_mut() else {
            return Tree { nodes: Vec::new(), errors: vec![(range, "the TLA+ grammar does not load".into())] };
        };
        parser.reset();
        let Some(parsed) = parser.parse(&text, None) else {
            return Tree { nodes: Vec::new(), errors: vec![(range, "cannot be read".into())] };
        };
        if parsed.root_node().has_error() {
            self.error_cost += tokens.len() * tokens.len();
        }
        let mut tree = copy(parsed.root_node(), indent..text.len());
        tree.shift(range.start - indent);
        tree
    }
}

impl Tree {
    /// Moves every position forward by a number of bytes.
    fn shift(&mut self, bytes: usize) {
        for node in &mut self.nodes {
            node.start += bytes;
            node.end += bytes;
        }
        for (range, _) in &mut self.errors {
            *range = range.start + bytes..range.end + bytes;
        }
    }
}

/// The text with blanks in place of comments, so that every token keeps its line and its column in bytes.
fn without_comments(source: &str, tokens: &[Token], indent: usize) -> String {
    let mut text = " ".repeat(indent);
    let mut offset = tokens.first().map_or(0, |token| token.start);
    for token in tokens {
        blank(&source[offset..token.start], &mut text);
        text.push_str(token.text(source));
        offset = token.end;
    }
    text
}

pub(crate) fn blank(gap: &str, out: &mut String) {
    for byte in gap.bytes() {
        out.push(if byte == b'\n' { '\n' } else { ' ' });
    }
}

/// Copies the named nodes. It does not recurse, because a long chain of operators is a deep tree.
fn copy(root: SitterNode<'_>, range: Range<usize>) -> Tree {
    let mut tree = Tree::default();
    let mut cursor = root.walk();
    let mut parents: Vec<Option<Id>> = Vec::new();
    let place = |index: usize| index.clamp(range.start, range.end);
    loop {
        let node = cursor.node();
        let parent = parents.last().copied().flatten();
        let (start, end) = (place(node.start_byte()), place(node.end_byte()));
        if node.is_missing() {
            tree.errors.push((start..end, format!("`{}` is missing", node.kind())));
        } else if node.is_error() {
            tree.errors.push((start..end, "not TLA+ syntax".into()));
        }
        let id = (node.is_named() || parents.is_empty()).then(|| {
            let id = tree.nodes.len();
            let kind = GRAMMAR.node_kind_for_id(node.kind_id()).unwrap_or("");
            let field = cursor.field_id().and_then(|field| GRAMMAR.field_name_for_id(field.get()));
            tree.nodes.push(Node { kind, field, start, end, children: Vec::new() });
            if let Some(parent) = parent {
                tree.nodes[parent].children.push(id);
            }
            id
        });
        if cursor.goto_first_child() {
            parents.push(id.or(parent));
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                end_lists_with_their_items(&mut tree);
                return tree;
            }
            parents.pop();
        }
    }
}

/// Corrects the ends of bulleted lists: the scanner ends a list, and every node that ends with it, where the next token
/// begins.
fn end_lists_with_their_items(tree: &mut Tree) {
    let ends: Vec<usize> = tree.nodes.iter().map(|node| node.end).collect();
    // A child has a larger id than its parent, so the ends of children are corrected first.
    for id in tree.ids().rev() {
        let node = &tree.nodes[id];
        let Some(last) = node.children.last().copied() else { continue };
        let is_list = matches!(node.kind, "conj_list" | "disj_list" | "conj_item" | "disj_item");
        if is_list || ends[last] == node.end {
            tree.nodes[id].end = tree.nodes[last].end;
        }
    }
}

impl Node {
    pub(crate) fn text_in<'a>(&self, source: &'a str) -> &'a str {
        source.get(self.start..self.end).unwrap_or("")
    }
}
