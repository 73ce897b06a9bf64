//! Values of states as TLA+ text, taken apart: the elements of a set, the entries of a function, record or sequence.

/// An explicit value and its parts, each as text.
#[derive(Debug, PartialEq, Eq)]
pub enum ValueParts<'a> {
    /// `{1, 2}`
    Set(Vec<&'a str>),
    /// `<<1, 2>>`, also a function whose domain is `1..n`.
    Sequence(Vec<&'a str>),
    /// `(a :> 1 @@ b :> 2)`
    Function(Vec<(&'a str, &'a str)>),
    /// `[x |-> 1, y |-> 2]`
    Record(Vec<(&'a str, &'a str)>),
}

impl<'a> ValueParts<'a> {
    /// `None` for every other value, and for a text that is not well-formed.
    pub fn read(value: &'a str) -> Option<Self> {
        let value = value.trim();
        let inside = |open: &str, close: &str| Some(value.strip_prefix(open)?.strip_suffix(close)?.trim());
        let list = |inner: &'a str| if inner.is_empty() { Some(Vec::new()) } else { split(inner, ",") };
        if let Some(inner) = inside("<<", ">>") {
            return list(inner).map(Self::Sequence);
        }
        if let Some(inner) = inside("{", "}") {
            return list(inner).map(Self::Set);
        }
        if let Some(inner) = inside("(", ")") {
            let pairs = split(inner, "@@")?.into_iter().map(|part| split_pair(part, ":>"));
            return pairs.collect::<Option<_>>().map(Self::Function);
        }
        let pairs = split(inside("[", "]")?, ",")?.into_iter().map(|part| {
            let (field, value) = split_pair(part, "|->")?;
            let is_name = !field.is_empty() && field.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
            is_name.then_some((field, value))
        });
        pairs.collect::<Option<_>>().map(Self::Record)
    }

    /// The entries of a function, record or sequence, each with the suffix that selects it: `[a]`, `.x`, `[1]`.
    pub fn entries(&self) -> Option<Vec<(String, &'a str)>> {
        Some(match self {
            Self::Set(_) => return None,
            Self::Sequence(parts) => {
                parts.iter().enumerate().map(|(index, part)| (format!("[{}]", index + 1), *part)).collect()
            }
            Self::Function(pairs) => {
                pairs.iter().map(|(key, value)| (format!("[{}]", one_line(key)), *value)).collect()
            }
            Self::Record(pairs) => pairs.iter().map(|(field, value)| (format!(".{field}"), *value)).collect(),
        })
    }
}

/// The elements of an explicit set such as `{1, 2}`.
pub fn set_elements(value: &str) -> Option<Vec<&str>> {
    match ValueParts::read(value)? {
        ValueParts::Set(elements) => Some(elements),
        _ => None,
    }
}

/// The elements of a tuple such as `<<1, 2>>`.
pub fn tuple_elements(value: &str) -> Option<Vec<&str>> {
    match ValueParts::read(value)? {
        ValueParts::Sequence(elements) => Some(elements),
        _ => None,
    }
}

/// Key and value of `key sign value`, if the sign occurs exactly once.
fn split_pair<'a>(part: &'a str, sign: &str) -> Option<(&'a str, &'a str)> {
    match split(part, sign)?[..] {
        [key, value] => Some((key, value)),
        _ => None,
    }
}

/// Splits a text at the separators outside brackets and strings, and trims the parts. `None` if a bracket or a string is
/// not closed, or a part is empty.
fn split<'a>(text: &'a str, separator: &str) -> Option<Vec<&'a str>> {
    const BRACKETS: [(&str, &str); 4] = [("<<", ">>"), ("(", ")"), ("[", "]"), ("{", "}")];
    let mut parts = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    let (mut index, mut begin) = (0, 0);
    while index < text.len() {
        let rest = &text[index..];
        index += if open.is_empty() && rest.starts_with(separator) {
            parts.push(text[begin..index].trim());
            begin = index + separator.len();
            separator.len()
        } else if rest.starts_with('"') {
            string_length(rest)?
        } else if let Some(sign) = ["|->", ":>"].into_iter().find(|sign| rest.starts_with(sign)) {
            // The `>` of these signs is not a closing bracket.
            sign.len()
        } else if let Some((opening, closing)) = BRACKETS.into_iter().find(|(opening, _)| rest.starts_with(opening)) {
            open.push(closing);
            opening.len()
        } else if let Some((_, closing)) = BRACKETS.into_iter().find(|(_, closing)| rest.starts_with(closing)) {
            if open.pop() != Some(closing) {
                return None;
            }
            closing.len()
        } else {
            rest.chars().next().map_or(1, char::len_utf8)
        };
    }
    parts.push(text[begin..].trim());
    (open.is_empty() && parts.iter().all(|part| !part.is_empty())).then_some(parts)
}

/// The length of the string at the start of `text`, including its quotes.
fn string_length(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (index, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some(index + 1),
            _ => {}
        }
    }
    None
}

/// The pieces of a text in order: each string with its quotes, and each other character.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let length = if first == '"' { string_length(rest).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (piece, after) = rest.split_at(length);
        rest = after;
        Some(piece)
    })
}

/// The value on one line: outside strings each run of white space becomes one blank, because TLC breaks long values.
pub(crate) fn one_line(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for piece in pieces(value.trim()) {
        match piece.chars().all(char::is_whitespace) {
            false => out.push_str(piece),
            true if out.ends_with(' ') => {}
            true => out.push(' '),
        }
    }
    out
}

/// How deep a value is taken apart. A deeper one is a text.
const MAX_DEPTH: usize = 24;

/// A text that equal values share: without white space, and with the elements of sets and the entries of functions and
/// records in order.
pub fn canonical(value: &str) -> String {
    canonical_to(value, MAX_DEPTH)
}

fn canonical_to(value: &str, depth: usize) -> String {
    let of = |part: &&str| canonical_to(part, depth - 1);
    let sorted = |mut parts: Vec<String>| {
        parts.sort();
        parts.dedup();
        parts
    };
    match (depth > 0).then(|| ValueParts::read(value)).flatten() {
        Some(ValueParts::Set(parts)) => format!("{{{}}}", sorted(parts.iter().map(of).collect()).join(",")),
        Some(ValueParts::Sequence(parts)) => format!("<<{}>>", parts.iter().map(of).collect::<Vec<_>>().join(",")),
        Some(ValueParts::Function(pairs)) => {
            let pairs = pairs.iter().map(|(key, value)| format!("{}:>{}", of(key), of(value)));
            format!("({})", sorted(pairs.collect()).join("@@"))
        }
        Some(ValueParts::Record(pairs)) => {
            let pairs = pairs.iter().map(|(field, value)| format!("{field}|->{}", of(value)));
            format!("[{}]", sorted(pairs.collect()).join(","))
        }
        None => pieces(value).filter(|piece| !piece.chars().all(char::is_whitespace)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_no_explicit_value_has_no_parts() {
        for value in [
            "(a :> 1",
            "[a |-> 1, b]",
            "(a :> 1) @@ (b :> 2)",
            "[{1} -> {2}]",
            "[a: {1}, b: {2}]",
            "(a :> \"x)",
            "<<1,>>",
            "{1, {2}",
            "((",
            "))",
            "]",
            "[",
            "()",
            "[]",
            "(a :> b :> 1 @@ c :> 1)",
            "[a b |-> 1, c |-> 1]",
            "(é :> 1 @@ ",
            "\"",
            "<<",
            ">>",
            "",
            "12",
        ] {
            assert_eq!(ValueParts::read(value), None, "{value}");
        }
    }

    #[test]
    fn separators_inside_strings_and_nested_values_are_ignored() {
        assert_eq!(
            ValueParts::read("[a |-> \"x, b |-> \\\" (\", c |-> {<<1, 2>>}]"),
            Some(ValueParts::Record(vec![("a", "\"x, b |-> \\\" (\""), ("c", "{<<1, 2>>}")]))
        );
        assert_eq!(
            ValueParts::read("(\"a @@ b\" :> 1 @@ \"c :> d\" :> 2)"),
            Some(ValueParts::Function(vec![("\"a @@ b\"", "1"), ("\"c :> d\"", "2")]))
        );
    }

    #[test]
    fn equal_values_have_one_canonical_text() {
        for (one, other) in [
            ("{2, 1}", "{ 1,\n  2 }"),
            ("(a :> {2, 1} @@ b :> 2)", "(b :> 2 @@ a :> {1, 2})"),
            ("[x |-> 1, y |-> \"a  b\"]", "[y |-> \"a  b\", x |-> 1]"),
        ] {
            assert_eq!(canonical(one), canonical(other));
        }
        assert_ne!(canonical("<<1, 2>>"), canonical("<<2, 1>>"));
        assert_ne!(canonical("\"a b\""), canonical("\"ab\""));
        assert_eq!(one_line("<< 1,\n   \"a  b\" >>"), "<< 1, \"a  b\" >>");
    }
}
