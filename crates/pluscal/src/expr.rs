//! A TLA+ expression as tokens with their lines and columns, so that lists of conjuncts stay aligned wherever the
//! expression is inserted. Corresponds to the class `pcal.TLAExpr` of the reference.
//!
//! The anchor of a line is a token in the nearest line above that does not start further right: the last token of that line
//! that is not further right than the first token of the anchored line. If the anchor moves, the line moves with it.

use std::collections::HashMap;

use super::origin::Origin;
use super::position::Position;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// An operator, a delimiter or a reserved word.
    Builtin,
    Number,
    /// The text does not include the quotes.
    String,
    Ident,
    /// `pc` or `stack` as inserted by the translator, which gets a subscript like a variable.
    Added,
}

/// A token with its column and origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub text: String,
    /// From 0; relative to the left edge of the expression once it is normalized.
    pub column: usize,
    pub kind: TokenKind,
    /// Its position in the module.
    pub position: Position,
}

impl Token {
    /// A token that does not come from the module.
    pub(super) fn new(text: impl Into<String>, column: usize, kind: TokenKind) -> Self {
        Self { text: text.into(), column, kind, position: Position::default() }
    }

    /// Its width in columns, including quotes.
    pub(super) fn width(&self) -> usize {
        let inside = if self.text.is_ascii() { self.text.len() } else { self.text.chars().count() };
        if self.kind == TokenKind::String { inside + 2 } else { inside }
    }

    /// The first column after it, quotes included.
    pub(super) fn end(&self) -> usize {
        self.column + self.width()
    }

    /// Whether it is this symbol or name, and not a string with the same text.
    pub(super) fn is(&self, text: &str) -> bool {
        self.kind != TokenKind::String && self.text == text
    }

    fn write(&self, line: &mut String) {
        if self.kind == TokenKind::String {
            line.push('"');
            line.push_str(&self.text);
            line.push('"');
        } else {
            line.push_str(&self.text);
        }
    }
}

/// The anchor of a line, and its column when the line was last moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Anchor {
    line: usize,
    token: usize,
    column: usize,
}

/// Whether an expression that replaces a name gets parentheses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrapping {
    /// It does, unless it or the whole expression is a single token.
    Parentheses,
    Nothing,
}

/// An anchor would have moved to the left, which the layout rules do not allow: a name was replaced by a shorter
/// expression in a line that other lines are aligned with. `position` is that of the replaced name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("lines aligned with what follows a replaced name would move to the left")]
pub(super) struct MovedLeft {
    pub position: Position,
}

/// An expression, or any other sequence of tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Expr {
    lines: Vec<Vec<Token>>,
    /// The anchor of each line; empty until the expression is normalized.
    anchors: Vec<Option<Anchor>>,
}

impl Expr {
    /// The expression with these lines, normalized.
    pub(super) fn from_lines(lines: Vec<Vec<Token>>) -> Self {
        let mut expr = Self { lines, anchors: Vec::new() };
        expr.normalize();
        expr
    }

    /// One token, which has no position in the module.
    pub(super) fn single(text: impl Into<String>, kind: TokenKind) -> Self {
        Self::from_lines(vec![vec![Token::new(text, 0, kind)]])
    }

    pub(super) fn lines(&self) -> &[Vec<Token>] {
        &self.lines
    }

    pub(super) fn tokens(&self) -> impl Iterator<Item = &Token> {
        self.lines.iter().flatten()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tokens().next().is_none()
    }

    pub(super) fn is_one_token(&self) -> bool {
        self.lines.len() == 1 && self.lines[0].len() == 1
    }

    pub(super) fn first(&self) -> Option<&Token> {
        self.tokens().next()
    }

    pub(super) fn last(&self) -> Option<&Token> {
        self.lines.iter().rev().find_map(|line| line.last())
    }

    /// Starts a new, empty line.
    pub(super) fn add_line(&mut self) {
        self.lines.push(Vec::new());
        if !self.anchors.is_empty() {
            self.anchors.push(None);
        }
    }

    /// Adds a token at the end of the last line. The caller has set its column.
    pub(super) fn push(&mut self, token: Token) {
        if self.lines.is_empty() {
            self.add_line();
        }
        self.lines.last_mut().expect("there is a line").push(token);
    }

    /// Adds a token at the end of the last line, `spaces` columns after the last token.
    pub(super) fn push_after(&mut self, mut token: Token, spaces: usize) {
        token.column = self.lines.last().and_then(|line| line.last()).map_or(0, Token::end) + spaces;
        self.push(token);
    }

    /// Removes empty lines at both ends, moves the leftmost line to column 0, and computes the anchors.
    pub(super) fn normalize(&mut self) {
        while self.lines.last().is_some_and(Vec::is_empty) {
            self.lines.pop();
        }
        let blank = self.lines.iter().take_while(|line| line.is_empty()).count();
        self.lines.drain(..blank);
        let left = self.lines.iter().filter_map(|line| line.first()).map(|token| token.column).min().unwrap_or(0);
        for token in self.lines.iter_mut().flatten() {
            token.column = token.column.saturating_sub(left);
        }
        self.anchors = anchors(&self.lines);
    }

    pub(super) fn normalized(&self) -> Self {
        Self::from_lines(self.lines.clone())
    }

    /// Moves each line by as much as its anchor has moved since the last time. Call it after adding tokens.
    pub(super) fn renormalize(&mut self) -> Result<(), MovedLeft> {
        if self.anchors.len() != self.lines.len() {
            self.normalize();
        }
        for line in 0..self.lines.len() {
            // From above: an anchor is in an earlier line, which has been moved by now.
            let Some(anchor) = self.anchors[line] else { continue };
            let token = &self.lines[anchor.line][anchor.token];
            if token.column < anchor.column {
                return Err(MovedLeft { position: token.position });
            }
            let (column, by) = (token.column, token.column - anchor.column);
            self.anchors[line] = Some(Anchor { column, ..anchor });
            if by > 0 {
                for token in &mut self.lines[line] {
                    token.column += by;
                }
            }
        }
        Ok(())
    }

    /// The text, line by line.
    pub(super) fn to_lines(&self) -> Vec<String> {
        // The expression may not be normalized since tokens were added: then a line is as far right as its anchor has
        // moved.
        let moved = |anchor: &Anchor| self.lines[anchor.line][anchor.token].column.saturating_sub(anchor.column);
        self.lines
            .iter()
            .enumerate()
            .map(|(number, line)| {
                let mut text = " ".repeat(self.anchors.get(number).and_then(Option::as_ref).map_or(0, moved));
                let mut end = 0;
                for token in line {
                    text.extend(std::iter::repeat_n(' ', token.column.saturating_sub(end)));
                    token.write(&mut text);
                    end = token.end();
                }
                text
            })
            .collect()
    }

    /// For each line of [`Self::to_lines`], the origins of its tokens.
    pub(super) fn origins(&self) -> Vec<Vec<Origin>> {
        let moved = |anchor: &Anchor| self.lines[anchor.line][anchor.token].column.saturating_sub(anchor.column);
        let mut all = Vec::with_capacity(self.lines.len());
        for (number, line) in self.lines.iter().enumerate() {
            let left = self.anchors.get(number).and_then(Option::as_ref).map_or(0, moved);
            let mut end = 0;
            let mut origins = Vec::new();
            for token in line {
                let column = token.column.max(end);
                end = column + token.width();
                if token.position != Position::default() {
                    origins.push(Origin { column: left + column, width: token.width(), position: token.position });
                }
            }
            all.push(origins);
        }
        all
    }

    /// Inserts another expression before this one, `spaces` columns before its first token.
    pub(super) fn prepend(&mut self, before: Self, spaces: usize) -> Result<(), MovedLeft> {
        let Some(end) = before.lines.last().and_then(|line| line.last()).map(Token::end) else { return Ok(()) };
        if self.lines.is_empty() {
            *self = before;
            return Ok(());
        }
        let joined = before.lines.len() - 1;
        let (mut lines, mut found) = (before.lines, before.anchors);
        found.resize(lines.len(), None);
        let taken = lines[joined].len();
        let mut rest = std::mem::take(&mut self.lines).into_iter();
        for mut token in rest.next().into_iter().flatten() {
            token.column += end + spaces;
            lines[joined].push(token);
        }
        lines.extend(rest);
        // Not the first line: it continues the last line of `before` and has its anchor.
        for anchor in self.anchors.iter().skip(1) {
            found.push(anchor.map(|anchor| Anchor {
                line: anchor.line + joined,
                token: anchor.token + if anchor.line == 0 { taken } else { 0 },
                column: anchor.column,
            }));
        }
        found.resize(lines.len(), None);
        (self.lines, self.anchors) = (lines, found);
        self.renormalize()
    }

    /// Adds another expression after this one, `spaces` columns after its last token.
    pub(super) fn append(&mut self, mut after: Self, spaces: usize) -> Result<(), MovedLeft> {
        after.prepend(std::mem::take(self), spaces)?;
        *self = after;
        Ok(())
    }

    /// Replaces names by expressions, all at once. Names of record fields (after `.`, or before `:` or `|->` in a bracket)
    /// are not replaced.
    pub(super) fn substitute(&mut self, by: &HashMap<String, Self>, wrapping: Wrapping) -> Result<(), MovedLeft> {
        let places = self.find_names(|token| by.contains_key(&token.text));
        if places.is_empty() {
            return Ok(());
        }
        if self.is_one_token() {
            if let Some(expr) = by.get(&self.lines[0][0].text) {
                *self = expr.normalized();
            }
            return Ok(());
        }
        if self.anchors.len() != self.lines.len() {
            self.anchors = anchors(&self.lines);
        }
        *self = Substitution::new(self).run(&places, by, wrapping)?;
        Ok(())
    }

    /// The indices (line, token) of the wanted names that are not names of record fields.
    fn find_names(&self, wanted: impl Fn(&Token) -> bool) -> Vec<(usize, usize)> {
        let all: Vec<_> = self
            .lines
            .iter()
            .enumerate()
            .flat_map(|(line, tokens)| tokens.iter().enumerate().map(move |(index, token)| (line, index, token)))
            .collect();
        let mut found = Vec::new();
        let mut next = 0;
        while let Some(&(line, index, token)) = all.get(next) {
            let labels = |token: &Token| token.is(":") || token.is("|->") || token.is("↦");
            if token.is(".") {
                // The name after a dot is a field.
                next += 2;
            } else if (token.is("[") || token.is(",")) && all.get(next + 2).is_some_and(|(_, _, token)| labels(token)) {
                next += 3;
            } else {
                if token.kind != TokenKind::String && wanted(token) {
                    found.push((line, index));
                }
                next += 1;
            }
        }
        found
    }
}

/// The anchor of each line.
fn anchors(lines: &[Vec<Token>]) -> Vec<Option<Anchor>> {
    let mut found = Vec::with_capacity(lines.len());
    // A stack of the lines that can still be the nearest one above that does not start further right. Their first columns
    // increase.
    let mut open: Vec<(usize, usize)> = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let Some(first) = line.first() else {
            found.push(None);
            continue;
        };
        while open.last().is_some_and(|&(_, column)| column > first.column) {
            open.pop();
        }
        found.push(open.last().map(|&(above, _)| {
            // The first token always qualifies, because the line above does not start further right.
            let within = lines[above].iter().skip(1).take_while(|token| token.column <= first.column).count();
            Anchor { line: above, token: within, column: lines[above][within].column }
        }));
        open.push((number, first.column));
    }
    found
}

/// Replaces names in an expression. It writes the lines in order, so that the anchor of a line has its final column before
/// the line is written.
struct Substitution<'a> {
    old: &'a Expr,
    /// The new indices (line, token) of the old tokens written so far.
    moved: Vec<Vec<(usize, usize)>>,
    /// For each old line, the last token that is an anchor.
    last_anchors: Vec<Option<usize>>,
    lines: Vec<Vec<Token>>,
    anchors: Vec<Option<Anchor>>,
}

impl<'a> Substitution<'a> {
    fn new(old: &'a Expr) -> Self {
        let mut last_anchors = vec![None; old.lines.len()];
        for anchor in old.anchors.iter().flatten() {
            last_anchors[anchor.line] = last_anchors[anchor.line].max(Some(anchor.token));
        }
        Self { old, moved: Vec::new(), last_anchors, lines: Vec::new(), anchors: Vec::new() }
    }

    fn run(
        mut self,
        places: &[(usize, usize)],
        by: &HashMap<String, Expr>,
        wrapping: Wrapping,
    ) -> Result<Expr, MovedLeft> {
        let mut places = places.iter().copied().peekable();
        for (number, line) in self.old.lines.iter().enumerate() {
            let anchor = self.old.anchors[number].map(|anchor| {
                let (line, token) = self.moved[anchor.line][anchor.token];
                (Anchor { line, token, column: self.lines[line][token].column }, anchor.column)
            });
            let mut offset = 0_isize;
            if let Some((now, before)) = anchor {
                offset = distance(before, now.column);
            }
            self.anchors.push(anchor.map(|(now, _)| now));
            self.lines.push(Vec::with_capacity(line.len()));
            self.moved.push(Vec::with_capacity(line.len()));
            for (index, token) in line.iter().enumerate() {
                let here = self.lines.len() - 1;
                self.moved[number].push((here, self.lines[here].len()));
                let mut token = Token { column: token.column.saturating_add_signed(offset), ..token.clone() };
                if places.next_if_eq(&(number, index)).is_none() {
                    self.lines[here].push(token);
                    continue;
                }
                let (position, end) = (token.position, token.end());
                let Some(expr) = by.get(&token.text) else { continue };
                // One token needs no parentheses.
                if let [only] = expr.lines.as_slice()
                    && let [only] = only.as_slice()
                {
                    token.text.clone_from(&only.text);
                    token.kind = only.kind;
                    if only.position != Position::default() {
                        token.position = only.position;
                    }
                    self.lines[here].push(token);
                } else {
                    self.put(expr, &token, wrapping);
                }
                let now = self.lines.last().and_then(|line| line.last()).map_or(0, Token::end);
                let by = distance(end, now);
                if by < 0 && self.last_anchors[number].is_some_and(|last| last > index) {
                    return Err(MovedLeft { position });
                }
                offset += by;
            }
        }
        Ok(Expr { lines: self.lines, anchors: self.anchors })
    }

    /// Writes an expression in place of a token. Its lines after the first become new lines.
    fn put(&mut self, expr: &Expr, token: &Token, wrapping: Wrapping) {
        let expr = expr.normalized();
        let parentheses = wrapping == Wrapping::Parentheses;
        let start = self.lines.len() - 1;
        let column = token.column + usize::from(parentheses);
        if parentheses {
            self.lines[start].push(Token { text: "(".into(), kind: TokenKind::Builtin, ..*token });
        }
        let before = self.lines[start].len();
        for (number, (line, anchor)) in expr.lines.into_iter().zip(expr.anchors).enumerate() {
            let mut shift = if number == 0 { column } else { 0 };
            if number > 0 {
                let anchor = anchor.map(|anchor| {
                    let token = anchor.token + if anchor.line == 0 { before } else { 0 };
                    let now = self.lines[start + anchor.line][token].column;
                    shift = now.saturating_sub(anchor.column);
                    Anchor { line: start + anchor.line, token, column: now }
                });
                self.lines.push(Vec::with_capacity(line.len()));
                self.anchors.push(anchor);
            }
            let into = self.lines.last_mut().expect("the line of the token is there");
            let here = |position: Position| if position == Position::default() { token.position } else { position };
            into.extend(line.into_iter().map(|it| Token {
                column: it.column + shift,
                position: here(it.position),
                ..it
            }));
        }
        if parentheses {
            let into = self.lines.last_mut().expect("the line of the token is there");
            let column = into.last().map_or(0, Token::end);
            into.push(Token::new(")", column, TokenKind::Builtin));
        }
    }
}

/// The signed distance from one column to another.
fn distance(from: usize, to: usize) -> isize {
    let size = |length: usize| isize::try_from(length).expect("a column is far below half the address space");
    size(to) - size(from)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads words separated by blanks, with their columns.
    fn expr(text: &str) -> Expr {
        let lines = text.lines().map(|line| {
            let mut tokens = Vec::new();
            for word in line.split(' ').filter(|word| !word.is_empty()) {
                let column = word.as_ptr() as usize - line.as_ptr() as usize;
                let (word, kind) = match word.strip_prefix('"') {
                    Some(word) => (word.trim_end_matches('"'), TokenKind::String),
                    None if word.starts_with(|c: char| c.is_ascii_alphabetic()) => (word, TokenKind::Ident),
                    None => (word, TokenKind::Builtin),
                };
                tokens.push(Token::new(word, column, kind));
            }
            tokens
        });
        Expr::from_lines(lines.collect())
    }

    fn substituted(text: &str, by: &[(&str, &str)], wrapping: Wrapping) -> Result<String, MovedLeft> {
        let mut it = expr(text);
        let by = by.iter().map(|(name, value)| ((*name).to_owned(), expr(value))).collect();
        it.substitute(&by, wrapping)?;
        Ok(it.to_lines().join("\n"))
    }

    #[test]
    fn what_is_read_is_written_again_from_the_left_edge() {
        let text = "x = /\\ a\n    /\\ \"b\"";
        assert_eq!(expr(&format!("\n   {}\n\n", text.replace('\n', "\n   "))).to_lines().join("\n"), text);
        assert!(expr("").is_empty() && expr("\n\n").is_empty());
        assert!(expr(" a ").is_one_token() && !expr("a b").is_one_token());
    }

    #[test]
    fn lists_stay_aligned_when_a_name_before_them_grows() {
        let cases = [
            ("x = /\\ a\n    /\\ b", vec![("x", "long")], "long = /\\ a\n       /\\ b"),
            ("x = /\\ a\n    /\\ b", vec![("x", "y + 1")], "(y + 1) = /\\ a\n          /\\ b"),
            ("/\\ x\n/\\ y", vec![("x", "/\\ p\n/\\ q"), ("y", "x")], "/\\ (/\\ p\n    /\\ q)\n/\\ x"),
            ("f ( x , /\\ a\n        /\\ b )", vec![("x", "1 +\n2")], "f ( (1 +\n     2) , /\\ a\n          /\\ b )"),
            ("x", vec![("x", "a + b")], "a + b"),
            ("x + y", vec![("x", "y"), ("y", "x")], "y + x"),
            ("x . x [ x |-> x , x : x ] \"x\"", vec![("x", "zz")], "zz . x [ x |-> zz , x : zz ] \"x\""),
        ];
        for (text, by, wanted) in cases {
            assert_eq!(substituted(text, &by, Wrapping::Parentheses).as_deref(), Ok(wanted), "{text}");
        }
        assert_eq!(substituted("a' + x\nb", &[("x", "x '")], Wrapping::Nothing).as_deref(), Ok("a' + x '\nb"));
    }

    #[test]
    fn a_list_is_not_moved_to_the_left() {
        let text = "longname => /\\ a\n            /\\ b";
        assert!(substituted(text, &[("longname", "p")], Wrapping::Parentheses).is_err());
        assert_eq!(
            substituted("longname + 1\n+ b", &[("longname", "p")], Wrapping::Nothing).as_deref(),
            Ok("p + 1\n+ b")
        );
    }

    #[test]
    fn lines_keep_their_anchors_when_an_expression_is_inserted_before() {
        let mut it = expr("/\\ a\n/\\ b");
        it.prepend(expr("x \\in S\n  =>"), 1).unwrap();
        assert_eq!(it.to_lines(), ["x \\in S", "  => /\\ a", "     /\\ b"]);
        let mut it = expr("x =");
        it.append(expr("/\\ a\n/\\ b"), 1).unwrap();
        assert_eq!(it.to_lines(), ["x = /\\ a", "    /\\ b"]);
        it.substitute(&[("x".into(), expr("yy"))].into(), Wrapping::Nothing).unwrap();
        assert_eq!(it.to_lines(), ["yy = /\\ a", "     /\\ b"]);
    }
}
