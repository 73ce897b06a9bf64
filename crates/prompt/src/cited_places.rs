//! Checks the places in the documents that a model cites, such as `docs/swap.md:12-14`, also several of them and with marks
//! around them.

use std::sync::LazyLock;

use regex::Regex;

use super::assumptions::Assumption;
use super::documents::Document;
use super::open_points::OpenPoint;
use super::requirements::Requirement;
use super::sentences::sentences_around;

/// Cited lines of a document, both from 1 and both included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineRange<'a> {
    pub document: &'a Document,
    pub from: usize,
    pub to: usize,
}

impl LineRange<'_> {
    pub(super) fn overlaps(&self, other: &LineRange<'_>) -> bool {
        self.document.path == other.document.path && self.from <= other.to && other.from <= self.to
    }
}

/// The result of looking up a place.
#[derive(Debug, PartialEq, Eq)]
enum Place<'a> {
    Found(Vec<LineRange<'a>>),
    /// It names no line of a document.
    NoLine,
    /// It names a document or line that does not exist: in short, and in full.
    Missing(&'static str, String),
}

/// Looks up the places of requirements, open points and assumptions and marks the wrong ones in them. Returns the errors in words for the
/// model.
pub fn check_places(
    requirements: &mut [Requirement],
    open_points: &mut [OpenPoint],
    assumptions: &mut [Assumption],
    documents: &[Document],
) -> Vec<String> {
    let requirements = requirements.iter_mut().map(|r| (&r.id, &r.place, &mut r.misplaced));
    let open_points = open_points.iter_mut().map(|p| (&p.id, &p.place, &mut p.misplaced));
    let assumptions = assumptions.iter_mut().map(|a| (&a.id, &a.place, &mut a.misplaced));
    let mut wrong = Vec::new();
    for (id, place, misplaced) in requirements.chain(open_points).chain(assumptions) {
        let Some(place) = place else { continue };
        *misplaced = match look_up_place(place, documents) {
            Place::Found(_) => None,
            Place::NoLine => Some("names no line of a document".to_owned()),
            Place::Missing(word, why) => {
                wrong.push(format!("{id} [{place}]: {why}"));
                Some(word.to_owned())
            }
        };
    }
    wrong
}

/// The lines that a place names; `None` if it names none, or one that does not exist.
pub(super) fn cited_ranges<'a>(place: &str, documents: &'a [Document]) -> Option<Vec<LineRange<'a>>> {
    match look_up_place(place, documents) {
        Place::Found(ranges) => Some(ranges),
        Place::NoLine | Place::Missing(..) => None,
    }
}

/// The lines that are named anywhere in a text, such as `see docs/a.md:3-5, 9 and docs/b.md:2`. A document without lines
/// counts as a whole if `whole_documents` is set.
pub fn places_in<'a>(text: &str, documents: &'a [Document], whole_documents: bool) -> Vec<LineRange<'a>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = name_start(rest, documents) {
        let Some((document, behind)) = leading_document(&rest[at..], documents) else { break };
        let count = document.text.lines().count();
        let (ranges, _) = leading_ranges(behind, false);
        if ranges.is_empty() && whole_documents {
            found.push(LineRange { document, from: 1, to: count.max(1) });
        }
        let exists = |(from, to): &(usize, usize)| *from > 0 && from <= to && *from <= count;
        found.extend(ranges.into_iter().filter(exists).map(|(from, to)| LineRange {
            document,
            from,
            to: to.min(count),
        }));
        rest = behind;
    }
    found
}

static FIRST_RANGE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:[\s`:#,(]|lines?|L)*(\d+)(?:\s*[-\u{2013}\u{2014}]\s*L?(\d+))?").expect("a valid pattern")
});
/// Further ranges up to what may follow the last of them, in running text and within brackets.
static FURTHER_RANGES: LazyLock<Regex> = LazyLock::new(|| {
    let further = r"\s*(?:,|(?:,\s*)?\band\b)\s*L?\d+(?:\s*[-\u{2013}\u{2014}]\s*L?\d+)?";
    Regex::new(&format!(r"^((?:{further})+)\s*(?:[,;\])]|$|and\s+[`\[]?docs/)")).expect("a valid pattern")
});
static FURTHER_IN_PLACE: LazyLock<Regex> = LazyLock::new(|| {
    let between = r"[\s\\*]*(?:[,;&]|\band\b)[\s\\*]*(?:and\s+)?(?:lines?\s*|L)?";
    let range = r"\d+(?:\s*[-\u{2013}\u{2014}]\s*L?\d+)?";
    Regex::new(&format!(r"^((?:{between}{range})+)\s*(?:[,;&\])]|and\b|$)")).expect("a valid pattern")
});
static RANGE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(\d+)(?:\s*[-\u{2013}\u{2014}]\s*L?(\d+))?").expect("a valid pattern"));
/// A number after a place that may be a further line of it.
static DOUBTFUL_LINE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^[\s\\*]*(?:[,;&/+]|and\b|or\b|to\b)[\s\\*]*(?:and\s+|or\s+)?(?:lines?\s*|L)?\d")
        .expect("a valid pattern")
});

/// Whether the text after a place may name a further line that [`leading_ranges`] does not take for one.
pub(super) fn may_name_another_line(text: &str) -> bool {
    DOUBTFUL_LINE.is_match(text)
}

/// The ranges of lines right after the name of a document, such as `:3-5, 9 and 12]`, and where they end. A number counts as
/// a further line only if nothing but a closing mark, another number or another document follows it. `in_place`: they are
/// within brackets, where `;` and `&` separate them, too.
pub(super) fn leading_ranges(text: &str, in_place: bool) -> (Vec<(usize, usize)>, usize) {
    let lines = |range: &regex::Captures<'_>| {
        let number = |group| range.get(group).map(|digits: regex::Match<'_>| digits.as_str().parse().unwrap_or(0));
        let from = number(1).unwrap_or(0);
        (from, number(2).unwrap_or(from))
    };
    let Some(first) = FIRST_RANGE.captures(text) else { return (Vec::new(), 0) };
    let mut found = vec![lines(&first)];
    let end = first.get(2).or(first.get(1)).map_or(0, |last| last.end());
    let pattern = if in_place { &FURTHER_IN_PLACE } else { &FURTHER_RANGES };
    let Some(further) = pattern.captures(&text[end..]).and_then(|further| further.get(1)) else { return (found, end) };
    found.extend(RANGE.captures_iter(further.as_str()).map(|range| lines(&range)));
    (found, end + further.end())
}

/// Where the first name of a document begins, with or without `docs/` before it.
pub(super) fn name_start(text: &str, documents: &[Document]) -> Option<usize> {
    let is_start = |at: usize| {
        let before = text[..at].strip_suffix("docs/").unwrap_or(&text[..at]);
        !before.ends_with(|c: char| c.is_alphanumeric() || "/._-".contains(c))
    };
    let first = |document: &Document| {
        text.match_indices(document.path.as_str()).map(|(at, _)| at).find(|at| {
            let behind = &text[at + document.path.len()..];
            let ends = !behind.starts_with(|c: char| c.is_alphanumeric() || "/_-".contains(c));
            is_start(*at) && ends
        })
    };
    documents.iter().filter_map(first).min()
}

static QUOTED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("[\"\u{201c}\u{201e}\u{ab}]([^\"\u{201c}\u{201d}\u{bb}]*)[\"\u{201c}\u{201d}\u{bb}]")
        .expect("a valid pattern")
});

/// The words that a place quotes, as in `docs/a.md:12 "at most once"`.
pub(super) fn quoted_words(place: &str) -> Vec<String> {
    QUOTED.captures_iter(place).map(|quoted| quoted[1].to_owned()).collect()
}

/// Whether a text has the quoted words, in any case and with any white space.
pub(super) fn has_quote(text: &str, quote: &str) -> bool {
    let plain = |text: &str| -> String {
        let words = text.replace(['*', '_', '`'], "");
        // Those who quote often type plain quotation marks and hyphens.
        let words = words.replace(['\u{2018}', '\u{2019}'], "'").replace(['\u{201c}', '\u{201d}'], "\"");
        let words = words.replace(['\u{2010}', '\u{2011}', '\u{2013}', '\u{2014}'], "-");
        words.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
    };
    let quote = plain(quote);
    quote.chars().any(char::is_alphanumeric) && plain(text).contains(&quote)
}

fn look_up_place<'a>(place: &str, documents: &'a [Document]) -> Place<'a> {
    let found = look_up_lines(&QUOTED.replace_all(place, " "), documents);
    let Place::Found(ranges) = &found else { return found };
    let lines = ranges.iter().map(cited_text).collect::<Vec<_>>().join(" ");
    match quoted_words(place).iter().find(|quote| !has_quote(&lines, quote)) {
        Some(quote) => Place::Missing("no such words", format!("the words \"{quote}\" are not in these lines")),
        None => found,
    }
}

/// The whole sentences that the lines are part of.
pub(super) fn cited_text(range: &LineRange<'_>) -> String {
    sentences_around(&range.document.text, range.from, range.to)
}

fn look_up_lines<'a>(place: &str, documents: &'a [Document]) -> Place<'a> {
    let mut rest = place;
    let mut last: Option<&Document> = None;
    let mut found = Vec::new();
    while !rest.is_empty() {
        let (file, lines, after) = match leading_document(rest, documents) {
            Some((document, behind)) => {
                last = Some(document);
                let (lines, after) = line_range(behind);
                (Ok(document), lines, after)
            }
            None => {
                let (part, after) = rest.split_once([',', ';', '&']).unwrap_or((rest, ""));
                // `docs/a.md:12-14, 20`: further lines of the same document.
                match (line_range(part).0, last) {
                    (Some(lines), Some(document)) if starts_with_number(part) => (Ok(document), Some(lines), after),
                    _ => (Err(part), None, after),
                }
            }
        };
        match (file, lines) {
            (Ok(document), Some((from, to))) => {
                let count = document.text.lines().count();
                if from == 0 || from > to || to > count {
                    let why = format!("docs/{} has {count} lines", document.path);
                    return Place::Missing("no such lines", why);
                }
                found.push(LineRange { document, from, to });
            }
            (Ok(_), None) => {}
            (Err(part), _) => {
                if let Some(name) = unknown_document(part) {
                    let why = format!("there is no document {name}; `docs/` holds what the index lists");
                    return Place::Missing("no such document", why);
                }
            }
        }
        rest = after.trim_start_matches(|c: char| c.is_whitespace() || ",;&`)".contains(c));
    }
    if found.is_empty() { Place::NoLine } else { Place::Found(found) }
}

/// The document whose name starts the text, and the text after the name. The longest name counts.
pub(super) fn leading_document<'a, 'b>(text: &'b str, documents: &'a [Document]) -> Option<(&'a Document, &'b str)> {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || "`\"'(<".contains(c));
    let text = text.strip_prefix("and ").or(text.strip_prefix("see ")).unwrap_or(text);
    let text = text.trim_start_matches('`').trim_start_matches("./");
    let is_name_end = |behind: &&str| behind.chars().next().is_none_or(|c| !c.is_alphanumeric() && !"/._-".contains(c));
    documents
        .iter()
        .filter_map(|d| {
            let behind = [Some(text), text.strip_prefix("docs/")].into_iter().flatten();
            let behind = behind.filter_map(|t| t.strip_prefix(d.path.as_str())).find(is_name_end);
            behind.map(|behind| (d, behind))
        })
        .max_by_key(|(d, _)| d.path.len())
}

fn starts_with_number(part: &str) -> bool {
    part.trim_start().trim_start_matches("and ").starts_with(|c: char| c.is_ascii_digit() || c == 'L')
}

/// The range of lines after a document's name, and the text after the range.
fn line_range(text: &str) -> (Option<(usize, usize)>, &str) {
    let mut at = text.trim_start_matches(|c: char| c.is_whitespace() || "`:#,(".contains(c));
    at = at.strip_prefix("and ").unwrap_or(at);
    for word in ["lines", "line", "L"] {
        at = at.strip_prefix(word).unwrap_or(at).trim_start();
    }
    let Some((from, rest)) = leading_number(at) else { return (None, text) };
    let dash = rest.trim_start().strip_prefix(['-', '\u{2013}', '\u{2014}']);
    let to = dash.map(|r| r.trim_start().trim_start_matches('L')).and_then(leading_number);
    let (to, rest) = to.unwrap_or((from, rest));
    // A column or a closing mark may follow. Nothing up to the next part names a line.
    let next = rest.find([',', ';', '&']).or_else(|| rest.find(" and ")).unwrap_or(rest.len());
    (Some((from, to)), &rest[next..])
}

fn leading_number(text: &str) -> Option<(usize, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    // A number that overflows is larger than every document.
    (end > 0).then(|| (text[..end].parse().unwrap_or(usize::MAX), &text[end..]))
}

/// A word that looks like the name of a document but is none.
fn unknown_document(part: &str) -> Option<String> {
    let word = part.split_whitespace().find(|w| w.contains("docs/") || w.contains('.') || w.contains(':'))?;
    let word = word.trim_matches(|c: char| "`\"'()<>".contains(c));
    let (name, lines) = match word.find([':', '#']) {
        Some(at) => (&word[..at], starts_with_number(&word[at + 1..])),
        None => (word, false),
    };
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let known = ["md", "mdx", "txt", "rst", "html", "adoc"].contains(&ending.to_ascii_lowercase().as_str());
    let is_file = known || name.starts_with("docs/") || (lines && ending.starts_with(|c: char| c.is_alphabetic()));
    is_file.then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documents() -> Vec<Document> {
        let text = "1\n2\n3\n".to_owned();
        ["a.md", "sub/a.md", "odd, name.md"].map(|path| Document { path: path.into(), text: text.clone() }).into()
    }

    #[test]
    fn places_are_looked_up_in_all_notations_of_models() {
        for place in [
            "docs/a.md:1-3",
            "a.md:3",
            "./docs/a.md:2",
            "`docs/sub/a.md:1\u{2013}2`",
            "docs/a.md:1-2, 3",
            "docs/a.md:1; docs/sub/a.md:3",
            "docs/a.md:1 and docs/sub/a.md:3",
            "docs/a.md#L1-L3",
            "docs/a.md, lines 1-2",
            "docs/a.md line 2",
            "see docs/a.md:2",
            "docs/odd, name.md:2",
            "docs/a.md:2:14",
            "docs/a.md:2 (safety)",
        ] {
            assert!(matches!(look_up_place(place, &documents()), Place::Found(_)), "{place}");
        }
        for place in ["\u{a7}3", "", "Section 3.2", "docs/a.md", "safety", "RFC 9110, sec. 4.b", "p. 3"] {
            assert_eq!(look_up_place(place, &documents()), Place::NoLine, "{place}");
        }
        for (place, word) in [
            ("docs/a.md:4", "no such lines"),
            ("docs/a.md:0", "no such lines"),
            ("docs/a.md:3-2", "no such lines"),
            ("docs/a.md:1-99999999999999999999999", "no such lines"),
            ("docs/a.md:1, 9", "no such lines"),
            ("docs/a.md:1 and docs/sub/a.md:9", "no such lines"),
            ("docs/a.md, lines 1-9", "no such lines"),
            ("docs/b.md:1", "no such document"),
            ("docs/a.md:1; docs/b.md:1", "no such document"),
            ("docs/a.mdx:1", "no such document"),
            ("other/a.md:1", "no such document"),
            ("docs/nosuch.md", "no such document"),
            ("nosuch.html", "no such document"),
        ] {
            assert!(matches!(look_up_place(place, &documents()), Place::Missing(w, _) if w == word), "{place}");
        }
    }

    #[test]
    fn places_are_found_anywhere_in_a_text() {
        let documents = documents();
        let found = |text: &str| {
            let ranges = places_in(text, &documents, true);
            ranges.iter().map(|r| format!("{}:{}-{}", r.document.path, r.from, r.to)).collect::<Vec<_>>().join(" ")
        };
        for (text, expected) in [
            ("- Fees: docs/a.md:3; they are fixed", "a.md:3-3"),
            ("Lock [docs/a.md:1-2, 3] and [`docs/sub/a.md:2`]", "a.md:1-2 a.md:3-3 sub/a.md:2-2"),
            ("Lock [docs/a.md:1 and 3]: it ends", "a.md:1-1 a.md:3-3"),
            ("Lock [docs/a.md:1, 2, and 3 and docs/sub/a.md:2]", "a.md:1-1 a.md:2-2 a.md:3-3 sub/a.md:2-2"),
            ("Lock [docs/a.md:L1 and L2-L3]", "a.md:1-1 a.md:2-3"),
            ("(docs/a.md:1, 2 clients are enough)", "a.md:1-1"),
            ("docs/a.md:1 and 2 clients are enough; docs/a.md:1 and 2 and more", "a.md:1-1 a.md:1-1"),
            ("docs/a.md:1, 2 and 3 clients are enough; docs/a.md:1 and 2 and 3 days", "a.md:1-1 a.md:1-1"),
            ("docs/a.md:1 and 2 and `docs/a.md:3`", "a.md:1-1 a.md:2-2 a.md:3-3"),
            ("docs/a.md:2-99 is long", "a.md:2-3"),
            ("[docs/sub/a.md] is another protocol; docs/a.md:9 is not there", "sub/a.md:1-3"),
            ("docs/odd, name.md:2 and docs/aa.md:1, docs/a.mdx:1, xa.md:2", "odd, name.md:2-2"),
            ("a.md line 2", "a.md:2-2"),
            ("nothing", ""),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
        assert_eq!(places_in("[docs/sub/a.md] is another protocol", &documents, false), []);
    }

    #[test]
    fn a_place_can_name_several_ranges() {
        let documents = documents();
        let ranges = cited_ranges("docs/a.md:1-2, 3; docs/sub/a.md:3", &documents).unwrap();
        let found: Vec<_> = ranges.iter().map(|r| (r.document.path.as_str(), r.from, r.to)).collect();
        assert_eq!(found, [("a.md", 1, 2), ("a.md", 3, 3), ("sub/a.md", 3, 3)]);
    }
}
