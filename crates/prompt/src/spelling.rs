//! Corrects HTML entities and typographic quotes in TLA+ text from a model. It replaces them if they can mean only one thing.
//! If an entity occurs together with the operator that it stands for, the text is ambiguous and is a problem.

use tlaforge_tla::{Kind as TokenKind, Token, lex};

use super::invisible_characters::is_invisible;
use super::problem::{Problem, quote};

/// The kind of text that a byte belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// TLA+ or a `PlusCal` algorithm, although the latter is inside a comment.
    Code,
    Comment,
    Text,
}

/// The kind of each byte of a text.
pub(super) fn kinds(text: &str) -> Vec<Kind> {
    let mut kinds = vec![Kind::Code; text.len()];
    for token in comments_and_strings(text) {
        kinds[token.range()].fill(if token.is_comment() { Kind::Comment } else { Kind::Text });
    }
    kinds
}

/// The comments and strings of a text. The comment around an algorithm is code; comments inside the algorithm are
/// comments.
fn comments_and_strings(text: &str) -> Vec<Token> {
    let split = |token: Token| {
        let algorithm = token.kind == TokenKind::BlockComment && names_algorithm(token.text(text));
        if algorithm { lex(text, token.start + 2..token.end) } else { vec![token] }
    };
    let tokens = lex(text, 0..text.len()).into_iter().flat_map(split);
    tokens.filter(|token| token.is_comment() || token.kind == TokenKind::Text).collect()
}

/// The start of the comment that is still open at the end of a text.
pub(super) fn open_comment(text: &str) -> Option<usize> {
    let last = comments_and_strings(text).pop().filter(|token| token.kind == TokenKind::BlockComment)?;
    // If the comment is open, appended text becomes part of it, so there is still one token.
    let longer = format!("{}x", &text[last.start..]);
    (lex(&longer, 0..longer.len()).len() == 1).then_some(last.start)
}

fn names_algorithm(comment: &str) -> bool {
    comment.contains("--algorithm")
        || comment.split("--fair").skip(1).any(|rest| rest.trim_start().starts_with("algorithm"))
}

const ENTITIES: [(&str, &str); 8] = [
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&amp;", "&"),
    ("&quot;", "\""),
    ("&#34;", "\""),
    ("&#39;", "'"),
    ("&#x27;", "'"),
    ("&apos;", "'"),
];
const DOUBLE: [char; 4] = ['“', '”', '„', '‟'];
const SINGLE: [char; 4] = ['‘', '’', '‚', '‛'];

/// Corrects the parts of one answer. Returns them with notes on the corrections.
pub(super) fn correct_spelling(parts: &[String]) -> Result<(Vec<String>, Vec<String>), Problem> {
    let mut normalised = Vec::new();
    let seen: Vec<String> = parts.iter().map(|text| without_invisible(text)).collect();
    if seen != parts {
        normalised.push("invisible characters".to_owned());
    }
    let parts = seen;
    let parts = match find_entity(&parts) {
        None => parts,
        Some((place, found)) => {
            // An answer that was escaped as a whole has no plain `<` or `>` in code. With both, the entity may be
            // meant.
            if let Some((raw, operator)) = find_raw_operator(&parts) {
                return Err(Problem::new(format!(
                    "it holds both `{found}`, in the line {place}, and `{operator}` itself, in the line {raw}: write \
                     every operator as it is, and no HTML entity"
                )));
            }
            let parts: Vec<String> = parts.iter().map(|text| decode_entities(text)).collect();
            if let Some((place, found)) = find_entity(&parts) {
                return Err(Problem::new(format!(
                    "it is escaped more than once: `{found}` is left in the line {place}"
                )));
            }
            normalised.push("HTML entities".to_owned());
            parts
        }
    };
    let straight: Vec<String> = parts.iter().map(|text| straighten_quotes(text)).collect::<Result<_, _>>()?;
    if straight != parts {
        normalised.push("typographic quotes".to_owned());
    }
    Ok((straight, normalised))
}

/// The text without invisible characters, and with a blank for a character that only some readers take for a line end. SANY
/// counts each of them as a column, so that a bulleted list could mean something else than what a reader sees.
fn without_invisible(text: &str) -> String {
    let is_line_end = |c: char| matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}');
    text.chars()
        .filter(|c| is_line_end(*c) || !is_invisible(*c))
        .map(|c| if is_line_end(c) { ' ' } else { c })
        .collect()
}

/// The first match of `find` in code: the quoted line, and the match.
fn find_in_code<'a>(parts: &[String], find: impl Fn(&str) -> Option<&'a str>) -> Option<(String, &'a str)> {
    parts.iter().find_map(|text| {
        let kinds = kinds(text);
        let at = |(i, _): (usize, char)| (kinds[i] == Kind::Code).then(|| find(&text[i..]).map(|found| (i, found)))?;
        let (i, found) = text.char_indices().find_map(at)?;
        Some((quote(line_at(text, i)), found))
    })
}

fn line_at(text: &str, at: usize) -> &str {
    let begin = text[..at].rfind('\n').map_or(0, |i| i + 1);
    text[begin..].lines().next().unwrap_or("")
}

fn find_entity(parts: &[String]) -> Option<(String, &'static str)> {
    find_in_code(parts, |rest| ENTITIES.iter().map(|(entity, _)| *entity).find(|entity| rest.starts_with(entity)))
}

/// An operator that would be escaped if the whole text had been escaped.
fn find_raw_operator(parts: &[String]) -> Option<(String, &'static str)> {
    find_in_code(parts, |rest| ["<", ">"].into_iter().find(|operator| rest.starts_with(operator)))
}

fn decode_entities(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        match ENTITIES.iter().find(|(entity, _)| rest.starts_with(entity)) {
            Some((entity, meant)) => {
                out.push_str(meant);
                rest = &rest[entity.len()..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out + rest
}

/// Replaces typographic quotes in code by straight ones. Comments and strings stay as they are.
fn straighten_quotes(text: &str) -> Result<String, Problem> {
    if !text.contains(DOUBLE) && !text.contains(SINGLE) {
        return Ok(text.to_owned());
    }
    let kinds = kinds(text);
    let tokens = comments_and_strings(text);
    let mut out = String::with_capacity(text.len());
    let (mut skip, mut line_end) = (0, 0);
    for (i, c) in text.char_indices() {
        if i >= line_end {
            line_end = text[i..].find('\n').map_or(text.len(), |at| i + at + 1);
        }
        if i < skip {
            continue;
        }
        let doubt = |what: &str| {
            Err(Problem::new(format!("{what} in the line {}: write straight quotes", quote(line_at(text, i)))))
        };
        let rest = text[i..line_end].trim_end_matches('\n');
        match kinds[i] {
            Kind::Code if DOUBLE.contains(&c) => {
                let inside = &rest[c.len_utf8()..];
                let Some(end) = inside.find(|c| DOUBLE.contains(&c) || c == '"') else {
                    return doubt(&format!("a string begins with `{c}` and does not end"));
                };
                if inside[end..].starts_with('"') {
                    return doubt(&format!("a string begins with `{c}` and ends with `\"`"));
                }
                out.push('"');
                out.push_str(&inside[..end]);
                out.push('"');
                skip = i + c.len_utf8() + end + inside[end..].chars().next().map_or(0, char::len_utf8);
            }
            // After an operand, the quote is a prime.
            Kind::Code if c == '’' && out.ends_with(|c: char| c.is_alphanumeric() || "_)]}'".contains(c)) => {
                out.push('\'');
            }
            Kind::Code if SINGLE.contains(&c) => return doubt(&format!("`{c}` stands for nothing in TLA+")),
            Kind::Text => {
                let string = tokens[tokens.partition_point(|token| token.start < i)].text(text);
                if string.contains(DOUBLE) && !string.ends_with('"') {
                    return doubt("a string begins with `\"` and ends with another quote");
                }
                out.push_str(string);
                skip = i + string.len();
            }
            _ => out.push(c),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Result<(String, Vec<String>), String> {
        correct_spelling(&[text.to_owned()]).map(|(mut parts, notes)| (parts.remove(0), notes)).map_err(|p| p.what)
    }

    #[test]
    fn no_invisible_character_moves_a_bullet() {
        let text = "I ==\n(*\u{200b}\u{202e}*)\\/ TRUE\u{2028}\n(*\u{85}*)\\/ x\n";
        let (seen, notes) = one(text).unwrap();
        assert_eq!(seen, "I ==\n(**)\\/ TRUE \n(* *)\\/ x\n");
        assert_eq!(notes, ["invisible characters"]);
    }

    #[test]
    fn entities_are_decoded_if_no_raw_operator_occurs() {
        let text = "(* --algorithm a\n  either x := x &lt; 2 /\\ y &gt;= 1 or skip; \\* a &amp;lt; b\n*)\nz == &lt;&lt;x, &quot;a&quot;&gt;&gt;\n";
        let meant = "(* --algorithm a\n  either x := x < 2 /\\ y >= 1 or skip; \\* a &lt; b\n*)\nz == <<x, \"a\">>\n";
        assert_eq!(one(text).unwrap(), (meant.to_owned(), vec!["HTML entities".to_owned()]));
        // Comments and strings are not changed.
        for same in ["x == 1 < 2 \\* not &lt;", "x == \"&lt;\" \\o y", "(* &lt; *) x == y > 2", "a & b", "x == y"] {
            assert_eq!(one(same).unwrap(), (same.to_owned(), Vec::new()));
        }
        let both = one("x == y &lt; 2\nz == x > 3\n").unwrap_err();
        assert!(
            both.contains("\"x == y &lt; 2\"") && both.contains("`>`") && both.contains("\"z == x > 3\""),
            "{both}"
        );
        assert!(one("x == y &amp;lt; 2").unwrap_err().contains("more than once"));
        let far = correct_spelling(&["x == y &lt; 2".into(), "z == x > 3".into()]).unwrap_err().what;
        assert!(far.contains("both"), "{far}");
    }

    #[test]
    fn typographic_quotes_are_straightened_if_unambiguous() {
        let text = "x’ = “Done” \\* it’s “so”\ny == \"he said “hi”\" \\o „a“\n";
        let meant = "x' = \"Done\" \\* it’s “so”\ny == \"he said “hi”\" \\o \"a\"\n";
        assert_eq!(one(text).unwrap(), (meant.to_owned(), vec!["typographic quotes".to_owned()]));
        for (text, expected) in [
            ("x == “Done\ny == 1", "does not end in the line \"x == “Done\""),
            ("x == “Done\"", "ends with `\"`"),
            ("x == \"Done”\ny == \"a\"", "ends with another quote"),
            ("x == ‘Done’", "`‘` stands for nothing"),
            ("x == ’ y", "`’` stands for nothing"),
        ] {
            let problem = one(text).unwrap_err();
            assert!(problem.contains(expected), "{text}: {problem}");
        }
    }

    #[test]
    fn comments_end_where_they_end_for_sany() {
        for (text, meant) in [
            // Inside the comment around the algorithm, neither `\*` nor a string hides its end.
            ("(* --algorithm A\n\\* c *) x == “a”", "(* --algorithm A\n\\* c *) x == \"a\""),
            ("(* --algorithm A\nx := “a”; \\* “c”\n*)", "(* --algorithm A\nx := \"a\"; \\* “c”\n*)"),
            ("x == a /\\* “b”", "x == a /\\* \"b\""),
        ] {
            assert_eq!(one(text).unwrap().0, meant);
        }
        for (text, open) in [
            ("x (* c", Some(2)),
            ("x (* (* c *)", Some(2)),
            ("x (* c *)", None),
            ("x \\* c", None),
            ("(* --algorithm A (* c", Some(17)),
            ("(* --algorithm A (* c *)", None),
        ] {
            assert_eq!(open_comment(text), open, "{text}");
        }
    }
}
