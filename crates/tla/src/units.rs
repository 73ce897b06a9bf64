//! Finds the modules of a text and splits a module into units: declarations, definitions, statements.
//!
//! It uses only tokens, so that an error in one unit does not hide others: in TLA+ a `==` outside a LET always belongs
//! to a definition or a named statement, and a module ends at the `====` token (of any length) that balances its
//! header.

use std::ops::Range;

use super::lexer::{Kind, Lexer, Token};
use super::semantic::is_reserved;
use super::semantic::module_begin;

/// A top-level module inside a larger text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundModule {
    /// From the first dash of the header to the end of the terminator, or to the end of the text.
    pub range: Range<usize>,
    pub name: String,
    /// The terminator is missing.
    pub truncated: bool,
}

/// A module's outline: its bounds and tokens.
#[derive(Debug, Clone)]
pub(crate) struct Outline {
    pub name: String,
    pub header: Range<usize>,
    pub terminator: Option<Range<usize>>,
    /// All tokens between header and terminator, including comments.
    pub tokens: Vec<Token>,
}

/// All top-level modules of a text, in order. Text between them is prose and is not lexed.
pub fn find_modules(text: &str) -> Vec<FoundModule> {
    let mut found = Vec::new();
    let mut index = 0;
    while let Some(outline) = next_module(text, index) {
        let end = outline.terminator.as_ref().map_or(text.len(), |terminator| terminator.end);
        index = end;
        found.push(FoundModule {
            range: outline.header.start..end,
            name: outline.name,
            truncated: outline.terminator.is_none(),
        });
    }
    found
}

/// The module whose header is the first one from a position on.
pub(crate) fn next_module(text: &str, from: usize) -> Option<Outline> {
    let (name, header) = next_header(text, from)?;
    let (tokens, terminator) = tokens_to_terminator(text, header.end, 1);
    Some(Outline { name, header, terminator, tokens })
}

/// The tokens from an offset inside `depth` modules to the end of the outermost one, without its terminator.
pub(crate) fn tokens_to_terminator(text: &str, from: usize, mut depth: usize) -> (Vec<Token>, Option<Range<usize>>) {
    let mut lexer = Lexer::new(text, from..text.len());
    let mut tokens = Vec::new();
    while let Some(token) = lexer.next_token() {
        match token.kind {
            // SANY reads `---- MODULEInner` as the header of `Inner`.
            Kind::Dashes if text[token.end..].trim_start().starts_with("MODULE") => depth += 1,
            Kind::Equals => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return (tokens, Some(token.range()));
                }
            }
            _ => {}
        }
        tokens.push(token);
    }
    (tokens, None)
}

/// `---- MODULE Name ----`, which begins where a module begins for the grammar: no other module of the text is edited than
/// the one that is checked. The dashes after a name on the same line may be missing, which the grammar refuses.
fn next_header(text: &str, from: usize) -> Option<(String, Range<usize>)> {
    let mut from = from;
    loop {
        let (begin, end) = module_begin(text, from)?;
        let mut lexer = Lexer::new(text, end..text.len());
        let mut next = || std::iter::from_fn(|| lexer.next_token()).find(|token| !token.is_comment());
        let is_name = |token: &Token| token.text(text).bytes().any(|byte| byte.is_ascii_alphabetic());
        if let Some(name) = next().filter(|token| token.kind == Kind::Word && is_name(token)) {
            let dashes = next().filter(|token| token.kind == Kind::Dashes);
            if dashes.is_some() || !text[end..name.start].contains('\n') {
                let end = dashes.map_or(name.end, |dashes| dashes.end);
                return Some((name.text(text).to_owned(), begin..end));
            }
        }
        from = end;
    }
}

/// The kind of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnitKind {
    Extends,
    Variables,
    Constants,
    Recursive,
    Assume,
    Theorem,
    Instance,
    UseOrHide,
    Definition,
    Separator,
    Module,
    /// Tokens that belong to no unit.
    Stray,
}

/// One unit, as indices into the tokens of the module without comments.
#[derive(Debug, Clone)]
pub(crate) struct Unit {
    pub kind: UnitKind,
    pub tokens: Range<usize>,
    /// The index of the name, for a definition or a named statement.
    pub name: Option<usize>,
    /// The index of its `==`.
    pub equals: Option<usize>,
}

/// The left-hand side of a `==`, as indices of tokens.
struct Header {
    start: usize,
    name: usize,
}

/// Splits a module's tokens (without comments) into units.
pub(crate) fn split(source: &str, tokens: &[Token]) -> Vec<Unit> {
    Splitter { source, tokens, units: Vec::new(), lets: 0 }.run()
}

struct Splitter<'a> {
    source: &'a str,
    tokens: &'a [Token],
    units: Vec<Unit>,
    /// How many LETs are open.
    lets: usize,
}

impl Splitter<'_> {
    fn run(mut self) -> Vec<Unit> {
        let mut index = 0;
        while index < self.tokens.len() {
            index = self.step(index);
        }
        self.close(self.tokens.len());
        self.units
    }

    fn text(&self, index: usize) -> &str {
        self.tokens.get(index).map_or("", |token| token.text(self.source))
    }

    fn step(&mut self, index: usize) -> usize {
        let token = self.tokens[index];
        match (token.kind, self.text(index)) {
            (Kind::Dashes, _) if self.text(index + 1) == "MODULE" => return self.nested_module(index),
            (Kind::Dashes, _) => self.open(UnitKind::Separator, index),
            (Kind::Word, "LET") => self.lets += 1,
            (Kind::Word, "IN") => self.lets = self.lets.saturating_sub(1),
            (Kind::Word, word) => {
                if let Some(kind) = keyword(word)
                    && self.may_start(kind, index)
                {
                    self.open(kind, index);
                }
            }
            (Kind::Symbol, "==" | "\u{225c}") => self.equals(index),
            _ => {
                if self.units.last().is_none_or(|unit| unit.kind == UnitKind::Separator) {
                    self.open(UnitKind::Stray, index);
                }
            }
        }
        if self.units.last().is_none_or(|unit| unit.kind == UnitKind::Separator && unit.tokens.start < index) {
            self.open(UnitKind::Stray, index);
        }
        index + 1
    }

    fn equals(&mut self, index: usize) {
        let Some(header) = self.header(index) else { return };
        let current = self.units.last();
        let named = current.is_some_and(|unit| {
            matches!(unit.kind, UnitKind::Assume | UnitKind::Theorem) && unit.tokens.start + 1 == header.start
        });
        if named {
            if let Some(unit) = self.units.last_mut() {
                unit.name = Some(header.name);
                unit.equals = Some(index);
            }
            return;
        }
        let first = self.tokens[header.start];
        let at_margin = first.first && first.column == 0;
        if self.lets > 0 && !(at_margin && self.is_let_without_in(index)) {
            return;
        }
        if let Some(unit) = current
            && unit.kind == UnitKind::Theorem
            && !(first.first && first.column <= self.tokens[unit.tokens.start].column)
        {
            return;
        }
        let free = current.is_none_or(|unit| matches!(unit.kind, UnitKind::Stray | UnitKind::Separator));
        let after_operand = header.start == 0 || self.ends_operand(header.start - 1);
        if !free && !at_margin && !after_operand {
            return;
        }
        // If the unit before consists of this left-hand side only, it is not stray: it belongs to the definition.
        if self.units.last().is_some_and(|unit| unit.kind == UnitKind::Stray && unit.tokens.start >= header.start) {
            self.units.pop();
        }
        self.lets = 0;
        self.open(UnitKind::Definition, header.start);
        if let Some(unit) = self.units.last_mut() {
            unit.name = Some(header.name);
            unit.equals = Some(index);
        }
    }

    /// Whether the `IN` of the open LET is missing. The search is limited, because no LET is longer and so that the work
    /// stays linear.
    fn is_let_without_in(&self, from: usize) -> bool {
        const MAX_TOKENS: usize = 2_000;
        let mut depth = self.lets;
        for index in from + 1..self.tokens.len().min(from + MAX_TOKENS) {
            match self.text(index) {
                "LET" => depth += 1,
                "IN" => {
                    depth -= 1;
                    if depth < self.lets {
                        return false;
                    }
                }
                _ => {}
            }
        }
        true
    }

    /// Finds the left-hand side of a `==` by walking back from it.
    fn header(&self, equals: usize) -> Option<Header> {
        let last = equals.checked_sub(1)?;
        let line = |index: usize| self.source[self.tokens[index].start..self.tokens[last].end].contains('\n');
        let (start, name) = match self.text(last) {
            ")" => self.opening(last, "(", ")")?.checked_sub(1).map(|name| (name, name))?,
            "]" => self.opening(last, "[", "]")?.checked_sub(1).map(|name| (name, name))?,
            _ if self.is_name(last) => {
                let operator = last.checked_sub(1).filter(|index| self.is_operator(*index) && !self.tokens[last].first);
                match operator {
                    Some(index)
                        if index > 0 && self.is_name(index - 1) && !line(index - 1) && self.begins(index - 1) =>
                    {
                        (index - 1, index)
                    }
                    Some(index) if self.text(index) == "-." && self.begins(index) => (index, index),
                    _ => (last, last),
                }
            }
            "^+" | "^*" | "^#" if last > 0 && self.is_name(last - 1) => (last - 1, last),
            _ => return None,
        };
        if name == start && !self.is_name(name) {
            return (self.text(name) == "-.").then_some(Header { start, name });
        }
        let start = if start > 0 && self.text(start - 1) == "LOCAL" { start - 1 } else { start };
        Some(Header { start, name })
    }

    /// Whether the token begins its line or follows LOCAL.
    fn begins(&self, index: usize) -> bool {
        self.tokens[index].first || (index > 0 && self.text(index - 1) == "LOCAL")
    }

    fn opening(&self, close: usize, left: &str, right: &str) -> Option<usize> {
        // The search is limited, because a parameter list is short and so that the work stays linear.
        let mut depth = 0_usize;
        for index in (close.saturating_sub(400)..=close).rev() {
            let text = self.text(index);
            if text == right {
                depth += 1;
            } else if text == left {
                depth -= 1;
                if depth == 0 {
                    return Some(index);
                }
            }
        }
        None
    }

    fn is_name(&self, index: usize) -> bool {
        self.tokens[index].kind == Kind::Word && !is_reserved(self.text(index))
    }

    fn is_operator(&self, index: usize) -> bool {
        self.tokens[index].kind == Kind::Symbol
            && !matches!(
                self.text(index),
                "(" | ")"
                    | "["
                    | "]"
                    | "{"
                    | "}"
                    | ","
                    | "<<"
                    | ">>"
                    | ">>_"
                    | "]_"
                    | ":"
                    | "."
                    | "!"
                    | "'"
                    | "@"
                    | "=="
                    | "\u{225c}"
                    | "^+"
                    | "^*"
                    | "^#"
                    | "|->"
                    | "->"
                    | "<-"
                    | "::"
                    | "\\A"
                    | "\\E"
            )
    }

    /// Whether an expression may end with this token.
    fn ends_operand(&self, index: usize) -> bool {
        match self.tokens[index].kind {
            Kind::Number | Kind::Text | Kind::Dashes | Kind::Equals => true,
            Kind::Word => {
                !is_reserved(self.text(index)) || matches!(self.text(index), "TRUE" | "FALSE" | "BOOLEAN" | "STRING")
            }
            Kind::Symbol => matches!(self.text(index), ")" | "]" | "}" | ">>" | "'" | "@" | "^+" | "^*" | "^#" | "_"),
            Kind::LineComment | Kind::BlockComment => false,
        }
    }

    fn may_start(&self, kind: UnitKind, index: usize) -> bool {
        let before = if index == 0 { "" } else { self.text(index - 1) };
        let Some(unit) = self.units.last() else { return true };
        if unit.kind == UnitKind::Theorem {
            let (token, head) = (self.tokens[index], self.tokens[unit.tokens.start]);
            return token.first && token.column <= head.column;
        }
        match kind {
            UnitKind::Recursive => self.lets == 0,
            UnitKind::Instance => !matches!(before, "==" | "\u{225c}"),
            UnitKind::Stray => false,
            _ => true,
        }
    }

    fn open(&mut self, kind: UnitKind, index: usize) {
        let index =
            if kind == UnitKind::Instance && index > 0 && self.text(index - 1) == "LOCAL" { index - 1 } else { index };
        self.close(index);
        self.lets = 0;
        self.units.push(Unit { kind, tokens: index..index, name: None, equals: None });
    }

    fn close(&mut self, index: usize) {
        if let Some(unit) = self.units.last_mut()
            && (unit.tokens.end <= unit.tokens.start || unit.tokens.end > index)
        {
            unit.tokens.end = index.max(unit.tokens.start);
        }
        if self.units.last().is_some_and(|unit| unit.tokens.is_empty()) {
            self.units.pop();
        }
    }

    fn nested_module(&mut self, index: usize) -> usize {
        self.open(UnitKind::Module, index);
        let mut depth = 0_usize;
        let mut end = index;
        while end < self.tokens.len() {
            match self.tokens[end].kind {
                Kind::Dashes if self.text(end + 1) == "MODULE" => depth += 1,
                Kind::Equals => depth = depth.saturating_sub(1),
                _ => {}
            }
            end += 1;
            if depth == 0 {
                break;
            }
        }
        if let Some(unit) = self.units.last_mut() {
            unit.tokens.end = end;
        }
        // The tokens after the nested module belong to no unit until one starts.
        if end < self.tokens.len() {
            self.units.push(Unit { kind: UnitKind::Separator, tokens: end..end, name: None, equals: None });
        }
        end
    }
}

fn keyword(word: &str) -> Option<UnitKind> {
    Some(match word {
        "EXTENDS" => UnitKind::Extends,
        "VARIABLE" | "VARIABLES" => UnitKind::Variables,
        "CONSTANT" | "CONSTANTS" => UnitKind::Constants,
        "RECURSIVE" => UnitKind::Recursive,
        "ASSUME" | "ASSUMPTION" | "AXIOM" => UnitKind::Assume,
        "THEOREM" | "LEMMA" | "PROPOSITION" | "COROLLARY" => UnitKind::Theorem,
        "INSTANCE" => UnitKind::Instance,
        "USE" | "HIDE" => UnitKind::UseOrHide,
        _ => return None,
    })
}
