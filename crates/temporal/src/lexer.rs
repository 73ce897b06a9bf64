//! The lexer: the text of a formula as tokens with their byte ranges. Knows no precedence and no operator's meaning.

use std::ops::Range;

use super::atom::{Comparison, Value};
use super::parse_error::ParseError;

/// A token of the formula language.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// A name, or an operator that is a word.
    Word(String),
    /// `` `a name` ``
    Quoted(String),
    /// `"text"`
    Text(String),
    /// `kind:text`
    Label { kind: String, text: String },
    /// A number, not negative.
    Number(Value<'static>),
    /// `@`
    AtSign,
    /// `(`
    Open,
    /// `)`
    Close,
    /// `,`
    Comma,
    /// `.` between a lifeline and its field.
    Dot,
    /// `!`
    Not,
    /// `&`, `&&`
    And,
    /// `|`, `||`
    Or,
    /// `->`, `=>`
    Implies,
    /// `<->`, `<=>`
    Iff,
    /// `=`, `<` and the other comparisons
    Compare(Comparison),
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Times,
    /// `/`
    Divide,
}

/// Symbols to match before those of comparisons, because a comparison is a prefix of some (`=` of `=>`); longer ones
/// first.
const LONG_SYMBOLS: [(&str, Token); 6] = [
    ("<->", Token::Iff),
    ("<=>", Token::Iff),
    ("->", Token::Implies),
    ("=>", Token::Implies),
    ("&&", Token::And),
    ("||", Token::Or),
];

/// Symbols to match after those of comparisons.
const SHORT_SYMBOLS: [(&str, Token); 12] = [
    ("@", Token::AtSign),
    ("(", Token::Open),
    (")", Token::Close),
    (",", Token::Comma),
    (".", Token::Dot),
    ("!", Token::Not),
    ("&", Token::And),
    ("|", Token::Or),
    ("+", Token::Plus),
    ("-", Token::Minus),
    ("*", Token::Times),
    ("/", Token::Divide),
];

/// Operators of other languages, with the hint for each. Longer ones first: `~>` begins with `~`.
const FOREIGN_OPERATORS: [(&str, &str); 9] = [
    ("/\\", "conjunction is written `&`"),
    ("\\/", "disjunction is written `|`"),
    ("[]", "always is written `G`"),
    ("<>", "eventually is written `F`"),
    ("~>", "`a ~> b` is written `G (a -> F b)`"),
    ("~", "negation is written `!`"),
    ("¬", "negation is written `!`"),
    ("∧", "conjunction is written `&`"),
    ("∨", "disjunction is written `|`"),
];

pub(super) fn starts_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// Whether a character can continue a name. A dot also belongs to a name if another part follows; the caller checks it.
pub(super) fn continues_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The tokens of a text, each with its byte range.
pub(super) fn tokenize(text: &str) -> Result<Vec<(Token, Range<usize>)>, ParseError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        let (token, end) = lex_token(text, at, c)?;
        tokens.push((token, at..end));
        at = end;
    }
    Ok(tokens)
}

fn lex_token(text: &str, at: usize, c: char) -> Result<(Token, usize), ParseError> {
    let rest = &text[at..];
    if starts_name(c) {
        return lex_word(text, at);
    }
    if c.is_ascii_digit() || (c == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit())) {
        return lex_number(text, at);
    }
    if c == '"' || c == '`' {
        let (inner, end) = lex_quoted(text, at, c)?;
        return Ok((if c == '"' { Token::Text(inner) } else { Token::Quoted(inner) }, end));
    }
    // Would be `<` and a negative term, but can be meant as an arrow to the left.
    if rest.starts_with("<-") && !rest.starts_with("<->") {
        return Err(ParseError::new(text, at..at + 2, "`<-` is not an operator")
            .hint("write `b -> a`, or `a < -b` with a space for a comparison"));
    }
    if let Some((symbol, meant)) = FOREIGN_OPERATORS.iter().find(|(symbol, _)| rest.starts_with(symbol)) {
        return Err(ParseError::new(text, at..at + symbol.len(), format!("unexpected `{symbol}`")).hint(*meant));
    }
    let find_symbol = |table: &[(&str, Token)]| {
        table.iter().find(|(symbol, _)| rest.starts_with(symbol)).map(|(symbol, token)| (token.clone(), symbol.len()))
    };
    let comparison = || {
        let (symbol, comparison) = Comparison::SYMBOLS.iter().find(|(symbol, _)| rest.starts_with(symbol))?;
        Some((Token::Compare(*comparison), symbol.len()))
    };
    match find_symbol(&LONG_SYMBOLS).or_else(comparison).or_else(|| find_symbol(&SHORT_SYMBOLS)) {
        Some((token, length)) => Ok((token, at + length)),
        None => Err(ParseError::new(text, at..at + c.len_utf8(), format!("unexpected {c:?}"))
            .hint("put the name in quotes: \"…\"")),
    }
}

fn lex_word(text: &str, at: usize) -> Result<(Token, usize), ParseError> {
    let end = find_name_end(text, at);
    // After `@` a dot separates the lifeline from its field, so an unquoted lifeline name contains no dot.
    let end = if text[..at].ends_with('@') { text[at..end].find('.').map_or(end, |dot| at + dot) } else { end };
    // A colon has no other use: directly after a name it makes a label.
    if !text[end..].starts_with(':') {
        return Ok((Token::Word(text[at..end].to_owned()), end));
    }
    let kind = text[at..end].to_owned();
    let (label, end) = lex_label_text(text, end + 1)?;
    if label.is_empty() {
        let what = if kind == "text_contains" { "an empty text" } else { "an empty name" };
        return Err(ParseError::new(text, at..end, format!("`{kind}:` is followed by {what}"))
            .hint(format!("write `{kind}:name`, or `{kind}:\"any text\"`")));
    }
    if text[end..].starts_with(['(', '"', '`']) {
        return Err(ParseError::new(text, end..end + 1, format!("the name after `{kind}:` needs quoting"))
            .hint(format!("write `{kind}:\"{label}…\"`")));
    }
    // `-` is common in tool names, so `tool_call:a->b` is ambiguous: a tool named `a->b`, or an implication.
    if let Some(arrow) = ["->", "=>"].into_iter().find(|arrow| text[end..].starts_with(arrow)) {
        return Err(ParseError::new(
            text,
            end..end + arrow.len(),
            format!("`{kind}:{label}{arrow}…`: the name needs quoting, or a space"),
        )
        .hint(format!(
            "write `{kind}:\"{label}{arrow}…\"` for a name, `{kind}:{label} {arrow} …` for an implication"
        )));
    }
    Ok((Token::Label { kind, text: label }, end))
}

fn find_name_end(text: &str, at: usize) -> usize {
    let mut end = at;
    while let Some(c) = text[end..].chars().next() {
        // A dot at the end of a name does not belong to it.
        let dot = c == '.' && text[end + 1..].starts_with(|c| starts_name(c) || char::is_ascii_digit(&c));
        if !continues_name(c) && !dot {
            break;
        }
        end += c.len_utf8();
    }
    end
}

/// Reads the text after the colon of a label: an unquoted part, a quoted part, or `key="text"`, up to a character that
/// can only start another token.
fn lex_label_text(text: &str, at: usize) -> Result<(String, usize), ParseError> {
    let mut label = String::new();
    let mut end = at;
    while let Some(c) = text[end..].chars().next() {
        let rest = &text[end..];
        if c == '"' {
            // A quote opens a text at the start (`kind:"any text"`) and after `=` (`kind:key="any text"`).
            let opens = label.is_empty() || label.ends_with('=');
            if !opens {
                break;
            }
            let (inner, after) = lex_quoted(text, end, '"')?;
            label.push_str(&inner);
            return Ok((label, after));
        }
        let stops =
            c.is_whitespace() || "()&|!<>,`@".contains(c) || ["->", "=>"].iter().any(|arrow| rest.starts_with(arrow));
        if stops {
            break;
        }
        label.push(c);
        end += c.len_utf8();
    }
    Ok((label, end))
}

fn lex_quoted(text: &str, at: usize, quote: char) -> Result<(String, usize), ParseError> {
    let mut inner = String::new();
    let mut chars = text[at + 1..].char_indices();
    while let Some((i, c)) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some((_, 'n')) => inner.push('\n'),
                Some((_, 't')) => inner.push('\t'),
                Some((_, 'r')) => inner.push('\r'),
                Some((_, c)) if "\\\"`".contains(c) => inner.push(c),
                other => {
                    let start = at + 1 + i;
                    let end = start + 1 + other.map_or(0, |(_, c)| c.len_utf8());
                    return Err(ParseError::new(text, start..end, "an unknown escape")
                        .hint("the escapes are \\\\ \\\" \\` \\n \\t \\r"));
                }
            },
            c if c == quote => return Ok((inner, at + 1 + i + 1)),
            c => inner.push(c),
        }
    }
    Err(ParseError::new(text, at..text.len(), "the quote is never closed"))
}

fn lex_number(text: &str, at: usize) -> Result<(Token, usize), ParseError> {
    let bytes = text.as_bytes();
    let digits = |mut i: usize| {
        while bytes.get(i).is_some_and(u8::is_ascii_digit) {
            i += 1;
        }
        i
    };
    let mut end = digits(at);
    if bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        // `1e` without digits is the number 1 and a name, which is an error below.
        if exponent > end + 1 + sign {
            end = exponent;
        }
    }
    if text[end..].starts_with(starts_name) {
        return Err(ParseError::new(text, at..find_name_end(text, end), "a name cannot begin with a digit")
            .hint("put the name in backticks: `1x`"));
    }
    let value: f64 = text[at..end].parse().map_err(|_| ParseError::new(text, at..end, "not a number"))?;
    // Before the double is used: an identifier of 64 bits must keep its last digits.
    if let Ok(integer) = text[at..end].parse::<u64>() {
        return Ok((Token::Number(Value::integer(integer.into())), end));
    }
    // A longer integer is accepted only if it is written as the double prints, such as a power of ten; otherwise it
    // would compare equal to its neighbours.
    let digits_alone = text[at..end].bytes().all(|b| b.is_ascii_digit());
    if digits_alone && value.to_string() != text[at..end].trim_start_matches('0') && value.is_finite() {
        return Err(ParseError::new(text, at..end, "the number has more digits than can be compared exactly")
            .hint("integers are exact to 64 bits; if the log has the number as a text, compare texts"));
    }
    if value.is_infinite() {
        return Err(ParseError::new(text, at..end, "the number is too large"));
    }
    Ok((Token::Number(Value::Number(value)), end))
}
