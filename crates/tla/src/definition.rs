//! A definition as data, read from its tokens and its syntax tree.

use std::collections::BTreeSet;
use std::ops::Range;

use super::lexer::{Kind, Lines, Token, normalise};
use super::references::{References, canonical, references};
use super::semantic::Reader;
use super::syntax::{Field, Id, NodeKind, Tree};
use super::units::Unit;

/// The kind of a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefinitionKind {
    /// `F(x) == …`.
    Operator,
    /// `f[x \in S] == …`.
    Function,
    /// `M == INSTANCE …`.
    Instance,
}

/// A declared name: constant, variable, parameter, RECURSIVE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    pub name: String,
    /// Number of arguments.
    pub arity: usize,
    /// The byte range of the name.
    pub range: Range<usize>,
}

#[derive(Debug, Clone)]
pub struct Definition {
    /// The name, or the operator symbol in its usual spelling.
    pub name: String,
    pub kind: DefinitionKind,
    /// It is LOCAL.
    pub local: bool,
    /// Parameters with their arity; those of a function are its bound names.
    pub params: Vec<Declaration>,
    /// From the first line of the comment directly above to its end, including a comment on the last line.
    pub range: Range<usize>,
    /// From its first token to its last.
    pub code: Range<usize>,
    /// Line of its first token, from 1.
    pub line: usize,
    /// The text of `range`.
    pub text: String,
    /// The comments directly above, with their markers.
    pub comment: String,
    /// Its body has syntax errors, so its references may be incomplete.
    pub has_syntax_errors: bool,
    pub tree: Tree,
    pub references: References,
}

pub(crate) struct Context<'a> {
    pub source: &'a str,
    pub lines: &'a Lines,
    /// The range in which comments can belong to a definition.
    pub outer: Range<usize>,
}

impl Definition {
    /// Reads one definition unit.
    pub(crate) fn read(
        context: &Context<'_>,
        tokens: &[Token],
        unit: &Unit,
        reader: &mut Reader<'_>,
        errors: &mut Vec<(Range<usize>, String)>,
    ) -> Option<Self> {
        let source = context.source;
        let (name_index, equals) = unit.name.zip(unit.equals)?;
        let own = tokens.get(unit.tokens.clone())?;
        let code = own.first()?.start..own.last()?.end;
        let local = own.first()?.text(source) == "LOCAL";
        let body = tokens.get(equals + 1).map_or("", |token| token.text(source));
        let head: &[Token] = &tokens[unit.tokens.start + usize::from(local)..equals];
        let opening = tokens.get(name_index + 1).map_or("", |token| token.text(source));
        let kind = match (opening, body) {
            ("[", _) => DefinitionKind::Function,
            (_, "INSTANCE") => DefinitionKind::Instance,
            _ => DefinitionKind::Operator,
        };
        let params = parameters(source, head, tokens[name_index], kind);
        let tree = reader.unit(code.clone());
        let has_syntax_errors = tree.is_empty() || !tree.errors.is_empty();
        errors.extend(tree.errors.iter().cloned());
        let references = if has_syntax_errors {
            flat_references(source, &tokens[equals + 1..unit.tokens.end])
        } else {
            references(&tree, source, 0, &[])
        };
        let start = comment_start(context, code.start);
        let end = comment_end(context, code.end);
        Some(Self {
            name: canonical(tokens[name_index].text(source)).to_owned(),
            kind,
            local,
            params,
            line: context.lines.line(code.start),
            text: source[start..end].to_owned(),
            comment: source[start..code.start].trim().to_owned(),
            range: start..end,
            code,
            has_syntax_errors,
            tree,
            references,
        })
    }

    /// Number of arguments; a function and a constant operator have none.
    pub fn arity(&self) -> usize {
        if self.kind == DefinitionKind::Function { 0 } else { self.params.len() }
    }

    /// The names that this definition refers to directly, without bound names.
    pub fn referenced_names(&self) -> &BTreeSet<String> {
        &self.references.names
    }

    /// The right-hand side of an operator definition.
    pub fn body(&self) -> Option<Id> {
        let unit = self.tree.ids().find(|id| self.tree.kind(*id) == NodeKind::OperatorDefinition)?;
        self.tree.field(unit, Field::Definition)
    }

    /// The text without comments and layout, equal for definitions that differ in nothing else. Layout decides what a list
    /// of `/\` or `\/` means, so a definition without a tree keeps it.
    pub fn normalised(&self, source: &str) -> String {
        if self.tree.is_empty() {
            return source[self.code.clone()].to_owned();
        }
        let items: Vec<Range<usize>> = self
            .tree
            .ids()
            .map(|id| self.tree.node(id))
            .filter(|node| matches!(node.kind, NodeKind::ConjunctionItem | NodeKind::DisjunctionItem))
            .map(|node| node.start..node.end)
            .collect();
        normalise(source, self.code.clone(), &items)
    }
}

/// The references of a definition without a usable tree: every word may be one.
pub(super) fn flat_references(source: &str, tokens: &[Token]) -> References {
    let named = tokens.iter().filter(|token| matches!(token.kind, Kind::Word | Kind::Symbol));
    References { names: named.map(|token| canonical(token.text(source)).to_owned()).collect(), foreign: true }
}

fn parameters(source: &str, head: &[Token], name: Token, kind: DefinitionKind) -> Vec<Declaration> {
    let after = head.iter().position(|token| token.start == name.end || token.start > name.start);
    let opens = after.is_some_and(|index| matches!(head[index].text(source), "(" | "["));
    match (kind, after) {
        (DefinitionKind::Function, Some(index)) if opens => {
            let inner = head.get(index + 1..head.len().saturating_sub(1)).unwrap_or(&[]);
            let mut depth = 0_usize;
            let mut names = Vec::new();
            let mut binding = true;
            for token in inner {
                match token.text(source) {
                    "(" | "[" | "{" => depth += 1,
                    ")" | "]" | "}" => depth = depth.saturating_sub(1),
                    "\\in" | "\u{2208}" if depth == 0 => binding = false,
                    "," if depth == 0 => binding = true,
                    text if binding && token.kind == Kind::Word => {
                        names.push(Declaration { name: text.to_owned(), arity: 0, range: token.range() });
                    }
                    _ => {}
                }
            }
            names
        }
        (_, Some(index)) if opens => {
            declarations(source, head.get(index + 1..head.len().saturating_sub(1)).unwrap_or(&[]))
        }
        // Infix, prefix and postfix operators: the identifiers around the symbol.
        _ => {
            let around = head.iter().filter(|token| token.kind == Kind::Word && token.start != name.start);
            around
                .map(|token| Declaration { name: token.text(source).to_owned(), arity: 0, range: token.range() })
                .collect()
        }
    }
}

/// The start of the comment lines directly above, or of the definition itself.
fn comment_start(context: &Context<'_>, code: usize) -> usize {
    let source = context.source;
    let mut start = code;
    loop {
        let floor = context.outer.start;
        let before = &source[floor..start];
        let trimmed = before.trim_end();
        let gap = &before[trimmed.len()..];
        if gap.matches('\n').count() > 1 {
            return start;
        }
        let line_start = trimmed.rfind('\n').map_or(0, |offset| offset + 1);
        let line = &trimmed[line_start..];
        if line.trim_start().starts_with("\\*") {
            if is_translation_mark(line) {
                return start;
            }
            start = floor + trimmed.len() - line.trim_start().len();
        } else if trimmed.ends_with("*)") {
            let Some(open) = block_opening(trimmed) else { return start };
            let head = trimmed[..open].rfind('\n').map_or(0, |offset| offset + 1);
            let block = &trimmed[open..];
            if !trimmed[head..open].trim().is_empty() || block.contains("--algorithm") || block.contains("--fair") {
                return start;
            }
            start = floor + open;
        } else {
            return start;
        }
    }
}

fn is_translation_mark(line: &str) -> bool {
    let text = line.trim_start().trim_start_matches("\\*").trim_start();
    text.starts_with("BEGIN TRANSLATION") || text.starts_with("END TRANSLATION")
}

/// Where the block comment at the end of a text begins. A comment of more than 8 kB does not describe a definition.
fn block_opening(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    let mut offset = bytes.len();
    while offset >= 2 && bytes.len() - offset < 8 * 1024 {
        match &bytes[offset - 2..offset] {
            b"*)" => {
                depth += 1;
                offset -= 2;
            }
            b"(*" => {
                depth = depth.checked_sub(1)?;
                offset -= 2;
                if depth == 0 {
                    return Some(offset);
                }
            }
            _ => offset -= 1,
        }
    }
    None
}

/// The end of the definition, including a comment on its last line.
fn comment_end(context: &Context<'_>, code: usize) -> usize {
    let rest = &context.source[code..context.outer.end.max(code)];
    let line = rest.find('\n').map_or(rest, |offset| &rest[..offset]);
    let remark = line.trim();
    let single = remark.starts_with("(*") && remark.ends_with("*)") && remark.matches("(*").count() == 1;
    if remark.starts_with("\\*") || single { code + line.trim_end().len() } else { code }
}

/// `a, F(_, _), _+_`, with or without surrounding parentheses.
pub(crate) fn declarations(source: &str, tokens: &[Token]) -> Vec<Declaration> {
    let mut found = Vec::new();
    let mut depth = 0_usize;
    let mut start = 0;
    for index in 0..=tokens.len() {
        let text = tokens.get(index).map_or(",", |token| token.text(source));
        match text {
            "(" | "[" | "<<" | "{" => depth += 1,
            ")" | "]" | ">>" | "}" => depth = depth.saturating_sub(1),
            "," if depth == 0 || index == tokens.len() => {
                found.extend(declaration(source, &tokens[start..index]));
                start = index + 1;
            }
            _ => {}
        }
    }
    found
}

fn declaration(source: &str, tokens: &[Token]) -> Option<Declaration> {
    let text = |index: usize| tokens.get(index).map_or("", |token| token.text(source));
    let holes = tokens.iter().filter(|token| token.text(source) == "_").count();
    let index = tokens.iter().position(|token| !matches!(token.text(source), "_" | "(" | ")" | ","))?;
    // `VARIABLES x y` (a comma forgotten) still declares x; SANY reports the rest.
    Some(Declaration { name: canonical(text(index)).to_owned(), arity: holes, range: tokens[index].range() })
}
