//! Where modules begin and end in a text, and where the units of a module do (declarations, definitions, statements).
//!
//! Decided on tokens alone, so that an error in one unit hides no other: in TLA+ a `==` outside a LET always belongs
//! to a definition or a named statement, and a module ends at the `====` token (of any length) that balances its
//! header.

use std::ops::Range;

use super::lexer::{Kind, Lexer, Token};

/// A top-level module inside a larger text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundModule {
    /// From the first dash of the header to the end of the terminator, or to the end of the text.
    pub range: Range<usize>,
    /// Its name.
    pub name: String,
    /// There is no terminator.
    pub truncated: bool,
}

/// A module's outline: its bounds and tokens.
#[derive(Debug, Clone)]
pub(crate) struct Outline {
    pub(crate) name: String,
    pub(crate) header: Range<usize>,
    pub(crate) terminator: Option<Range<usize>>,
    /// Everything between header and terminator, comments too.
    pub(crate) tokens: Vec<Token>,
}

/// All top-level modules of a text, in order. What stands between them is prose and is not lexed.
pub fn find_modules(text: &str) -> Vec<FoundModule> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(outline) = next_module(text, at) {
        let end = outline.terminator.as_ref().map_or(text.len(), |terminator| terminator.end);
        at = end;
        found.push(FoundModule {
            range: outline.header.start..end,
            name: outline.name,
            truncated: outline.terminator.is_none(),
        });
    }
    found
}

/// The next header at or after a position, and what it opens.
pub(crate) fn next_module(text: &str, from: usize) -> Option<Outline> {
    let (name, header) = next_header(text, from)?;
    let mut lexer = Lexer::new(text, header.end..text.len());
    let mut tokens: Vec<Token> = Vec::new();
    let mut depth = 1_usize;
    let mut terminator = None;
    while let Some(token) = lexer.next_token() {
        match token.kind {
            Kind::Word if token.text(text) == "MODULE" => {
                depth += usize::from(tokens.last().is_some_and(|last| last.kind == Kind::Dashes));
            }
            Kind::Equals => {
                depth -= 1;
                if depth == 0 {
                    terminator = Some(token.range());
                    break;
                }
            }
            _ => {}
        }
        tokens.push(token);
    }
    Some(Outline { name, header, terminator, tokens })
}

/// `---- MODULE Name ----`; the dashes after the name may be missing (SANY will say so).
fn next_header(text: &str, from: usize) -> Option<(String, Range<usize>)> {
    let bytes = text.as_bytes();
    let mut at = from;
    loop {
        let start = at + text.get(at..)?.find("----")?;
        let mut end = start + bytes[start..].iter().take_while(|b| **b == b'-').count();
        at = end;
        end += blanks(bytes, end);
        if !text[end..].starts_with("MODULE") {
            continue;
        }
        end += "MODULE".len();
        let gap = blanks(bytes, end);
        end += gap;
        let length = bytes[end..].iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
        let name = &text[end..end + length];
        if gap == 0 || !name.bytes().any(|byte| byte.is_ascii_alphabetic()) {
            continue;
        }
        end += length;
        let after = end + blanks(bytes, end);
        let dashes = bytes[after..].iter().take_while(|b| **b == b'-').count();
        let end = if dashes >= 4 { after + dashes } else { end };
        return Some((name.to_owned(), start..end));
    }
}

fn blanks(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().take_while(|b| matches!(b, b' ' | b'\t')).count()
}

/// What a unit is, by its first tokens.
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

/// One unit: indices into the tokens it was cut from, which hold no comments.
#[derive(Debug, Clone)]
pub(crate) struct Unit {
    pub(crate) kind: UnitKind,
    /// All its tokens.
    pub(crate) tokens: Range<usize>,
    /// Where the name of a definition or of a named statement stands.
    pub(crate) name: Option<usize>,
    /// Where its `==` stands.
    pub(crate) equals: Option<usize>,
}

/// The header that belongs to the `==` at an index.
struct Header {
    start: usize,
    name: usize,
}

/// Cuts a module's tokens (without comments) into units.
pub(crate) fn split(source: &str, tokens: &[Token]) -> Vec<Unit> {
    Splitter { source, tokens, units: Vec::new(), lets: 0 }.run()
}

struct Splitter<'a> {
    source: &'a str,
    tokens: &'a [Token],
    units: Vec<Unit>,
    lets: usize,
}

impl Splitter<'_> {
    fn run(mut self) -> Vec<Unit> {
        let mut at = 0;
        while at < self.tokens.len() {
            at = self.step(at);
        }
        self.close(self.tokens.len());
        self.units
    }

    fn text(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.text(self.source))
    }

    fn step(&mut self, at: usize) -> usize {
        let token = self.tokens[at];
        match (token.kind, self.text(at)) {
            (Kind::Dashes, _) if self.text(at + 1) == "MODULE" => return self.nested_module(at),
            (Kind::Dashes, _) => self.open(UnitKind::Separator, at),
            (Kind::Word, "LET") => self.lets += 1,
            (Kind::Word, "IN") => self.lets = self.lets.saturating_sub(1),
            (Kind::Word, word) => {
                if let Some(kind) = keyword(word)
                    && self.may_start(kind, at)
                {
                    self.open(kind, at);
                }
            }
            (Kind::Symbol, "==" | "\u{225c}") => self.equals(at),
            _ => {
                if self.units.last().is_none_or(|unit| unit.kind == UnitKind::Separator) {
                    self.open(UnitKind::Stray, at);
                }
            }
        }
        if self.units.last().is_none_or(|unit| unit.kind == UnitKind::Separator && unit.tokens.start < at) {
            self.open(UnitKind::Stray, at);
        }
        at + 1
    }

    fn equals(&mut self, at: usize) {
        let Some(header) = self.header(at) else { return };
        let current = self.units.last();
        let named = current.is_some_and(|unit| {
            matches!(unit.kind, UnitKind::Assume | UnitKind::Theorem) && unit.tokens.start + 1 == header.start
        });
        if named {
            if let Some(unit) = self.units.last_mut() {
                unit.name = Some(header.name);
                unit.equals = Some(at);
            }
            return;
        }
        let first = self.tokens[header.start];
        let at_margin = first.first && first.column == 0;
        if self.lets > 0 && !(at_margin && self.let_is_open_for_good(at)) {
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
        // A stray unit that began with the header itself is no stray.
        if self.units.last().is_some_and(|unit| unit.kind == UnitKind::Stray && unit.tokens.start >= header.start) {
            self.units.pop();
        }
        self.lets = 0;
        self.open(UnitKind::Definition, header.start);
        if let Some(unit) = self.units.last_mut() {
            unit.name = Some(header.name);
            unit.equals = Some(at);
        }
    }

    /// No `IN` closes the open LET, as far as one looks: no LET is longer, and the work stays linear.
    fn let_is_open_for_good(&self, from: usize) -> bool {
        const FAR: usize = 2_000;
        let mut depth = self.lets;
        for at in from + 1..self.tokens.len().min(from + FAR) {
            match self.text(at) {
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

    /// Walks back from a `==` over the left-hand side.
    fn header(&self, equals: usize) -> Option<Header> {
        let last = equals.checked_sub(1)?;
        let line = |at: usize| self.source[self.tokens[at].start..self.tokens[last].end].contains('\n');
        let (start, name) = match self.text(last) {
            ")" => self.opening(last, "(", ")")?.checked_sub(1).map(|name| (name, name))?,
            "]" => self.opening(last, "[", "]")?.checked_sub(1).map(|name| (name, name))?,
            _ if self.is_name(last) => {
                let operator = last.checked_sub(1).filter(|at| self.is_operator(*at) && !self.tokens[last].first);
                match operator {
                    Some(at) if at > 0 && self.is_name(at - 1) && !line(at - 1) && self.begins(at - 1) => (at - 1, at),
                    Some(at) if self.text(at) == "-." && self.begins(at) => (at, at),
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

    /// The token begins its line, or follows LOCAL.
    fn begins(&self, at: usize) -> bool {
        self.tokens[at].first || (at > 0 && self.text(at - 1) == "LOCAL")
    }

    fn opening(&self, close: usize, left: &str, right: &str) -> Option<usize> {
        // A parameter list is short: no need to look further, and the work stays linear.
        let mut depth = 0_usize;
        for at in (close.saturating_sub(400)..=close).rev() {
            let text = self.text(at);
            if text == right {
                depth += 1;
            } else if text == left {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
        }
        None
    }

    fn is_name(&self, at: usize) -> bool {
        self.tokens[at].kind == Kind::Word && !is_reserved(self.text(at))
    }

    fn is_operator(&self, at: usize) -> bool {
        self.tokens[at].kind == Kind::Symbol
            && !matches!(
                self.text(at),
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
    fn ends_operand(&self, at: usize) -> bool {
        match self.tokens[at].kind {
            Kind::Number | Kind::Text | Kind::Dashes | Kind::Equals => true,
            Kind::Word => {
                !is_reserved(self.text(at)) || matches!(self.text(at), "TRUE" | "FALSE" | "BOOLEAN" | "STRING")
            }
            Kind::Symbol => matches!(self.text(at), ")" | "]" | "}" | ">>" | "'" | "@" | "^+" | "^*" | "^#" | "_"),
            Kind::LineComment | Kind::BlockComment => false,
        }
    }

    fn may_start(&self, kind: UnitKind, at: usize) -> bool {
        let before = if at == 0 { "" } else { self.text(at - 1) };
        let Some(unit) = self.units.last() else { return true };
        if unit.kind == UnitKind::Theorem {
            let (token, head) = (self.tokens[at], self.tokens[unit.tokens.start]);
            return token.first && token.column <= head.column;
        }
        match kind {
            UnitKind::Recursive => self.lets == 0,
            UnitKind::Instance => !matches!(before, "==" | "\u{225c}"),
            UnitKind::Stray => false,
            _ => true,
        }
    }

    fn open(&mut self, kind: UnitKind, at: usize) {
        let at = if kind == UnitKind::Instance && at > 0 && self.text(at - 1) == "LOCAL" { at - 1 } else { at };
        self.close(at);
        self.lets = 0;
        self.units.push(Unit { kind, tokens: at..at, name: None, equals: None });
    }

    fn close(&mut self, at: usize) {
        if let Some(unit) = self.units.last_mut()
            && (unit.tokens.end <= unit.tokens.start || unit.tokens.end > at)
        {
            unit.tokens.end = at.max(unit.tokens.start);
        }
        if self.units.last().is_some_and(|unit| unit.tokens.is_empty()) {
            self.units.pop();
        }
    }

    fn nested_module(&mut self, at: usize) -> usize {
        self.open(UnitKind::Module, at);
        let mut depth = 0_usize;
        let mut end = at;
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
        // What follows belongs to no unit until something starts one.
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

/// Words that can name nothing ("Specifying Systems", page 268, and the proof keywords).
pub(crate) fn is_reserved(word: &str) -> bool {
    const RESERVED: &[&str] = &[
        "ACTION",
        "ASSUME",
        "ASSUMPTION",
        "AXIOM",
        "BOOLEAN",
        "BY",
        "CASE",
        "CHOOSE",
        "CONSTANT",
        "CONSTANTS",
        "COROLLARY",
        "DEF",
        "DEFINE",
        "DEFS",
        "DOMAIN",
        "ELSE",
        "ENABLED",
        "EXCEPT",
        "EXTENDS",
        "FALSE",
        "HAVE",
        "HIDE",
        "IF",
        "IN",
        "INSTANCE",
        "LAMBDA",
        "LEMMA",
        "LET",
        "LOCAL",
        "MODULE",
        "NEW",
        "OBVIOUS",
        "OMITTED",
        "ONLY",
        "OTHER",
        "PICK",
        "PROOF",
        "PROPOSITION",
        "PROVE",
        "QED",
        "RECURSIVE",
        "SF_",
        "STATE",
        "STRING",
        "SUBSET",
        "SUFFICES",
        "TAKE",
        "TEMPORAL",
        "THEN",
        "THEOREM",
        "TRUE",
        "UNCHANGED",
        "UNION",
        "USE",
        "VARIABLE",
        "VARIABLES",
        "WF_",
        "WITH",
        "WITNESS",
    ];
    RESERVED.binary_search(&word).is_ok()
}
