//! Reads the sections of an informal specification that are lists. Each line is an item, a continuation of the item above, a
//! heading or "none", or it is prose that names nothing; anything else is an error, so that nothing is lost in silence.

use std::fmt::Display;
use std::sync::LazyLock;

use regex::Regex;

use super::invisible_characters::{foreign_letter, is_invisible};
use super::numbered::NumberedStart;
use super::outline::{Kind, OutlineLine, Section, outline};

/// How the items of a section are written.
pub(super) struct Form {
    pub section: Section,
    /// The start of an item.
    pub start: &'static LazyLock<NumberedStart>,
    /// What an item has at most once, such as its kind: a line below that has another one is an item of its own.
    pub mark: &'static LazyLock<Regex>,
    /// The start of a nested line that belongs to the item above.
    pub part: Option<&'static LazyLock<Regex>>,
    /// The required form, for messages.
    pub example: &'static str,
}

/// What was read in the sections of one kind.
#[derive(Debug, Default)]
pub(super) struct ReadItems {
    /// Each with the number of its first line, and its lines joined.
    pub items: Vec<(usize, String)>,
    /// Lines of prose, which count for nothing.
    pub prose: Vec<String>,
    /// The errors, each with its line.
    pub errors: Vec<String>,
}

/// Reads all sections of a kind. Without such a heading, every line of the text that is in no other section is read if
/// `without_heading` is set, and only for its items.
pub(super) fn read_items(text: &str, form: &Form, without_heading: bool) -> ReadItems {
    let lines = outline(text);
    let own: Vec<OutlineLine<'_>> = lines.iter().copied().filter(|line| line.section == Some(form.section)).collect();
    if own.is_empty() && without_heading {
        let free = lines.into_iter().filter(|line| line.section.is_none()).collect::<Vec<_>>();
        return ReadItems { items: read_lines(&free, form).items, ..ReadItems::default() };
    }
    read_lines(&own, form)
}

fn read_lines(lines: &[OutlineLine<'_>], form: &Form) -> ReadItems {
    let mut read = ReadItems::default();
    let mut is_open = false;
    let mut is_after_error = false;
    for (at, line) in lines.iter().enumerate() {
        let text = line.text.trim();
        let next = lines.get(at + 1).map_or("", |next| next.text.trim());
        let mut class = classify(line, form, is_open, read.items.last().map(|(_, item)| item.as_str()), next);
        if class == Class::Part && is_after_error {
            class = Class::Error(CONTINUES_ERROR.to_owned());
        }
        is_after_error = matches!(class, Class::Error(_)) || (is_after_error && text.is_empty());
        is_open =
            matches!(class, Class::Item | Class::Part) || (is_open && class == Class::Nothing && !text.is_empty());
        match class {
            Class::Nothing => {}
            Class::Item => read.items.push((line.number, line.text.to_owned())),
            Class::Part => {
                if let Some((_, item)) = read.items.last_mut() {
                    item.push(' ');
                    item.push_str(
                        text.trim_start_matches(|c: char| is_nested_label(form, text) && "-*+• ".contains(c)),
                    );
                }
            }
            Class::Prose => read.prose.push(text.to_owned()),
            Class::Error(why) => read.errors.push(error(line.number, text, why)),
        }
    }
    read
}

/// The items, parsed, of which the first one counts if several have the same id.
pub(super) fn distinct<T>(read: &ReadItems, parse: impl Fn(&str) -> Option<T>, id: impl Fn(&T) -> &str) -> Vec<T> {
    let mut found: Vec<T> = Vec::new();
    for item in read.items.iter().filter_map(|(_, item)| parse(item)) {
        if !found.iter().any(|known| id(known) == id(&item)) {
            found.push(item);
        }
    }
    found
}

/// The same with errors for items that have no text or a number that is taken, and for prose about an item that does not
/// exist.
pub(super) fn checked<T: PartialEq>(
    mut read: ReadItems,
    parse: impl Fn(&str) -> Option<T>,
    id: impl Fn(&T) -> &str,
) -> ReadItems {
    let mut known: Vec<T> = Vec::new();
    for (number, text) in &read.items {
        match parse(text) {
            None => read.errors.push(error(*number, text, "it has a number and no text")),
            Some(item) => match known.iter().find(|first| id(first) == id(&item)) {
                Some(first) if *first == item => {}
                Some(first) => {
                    let why = format!("the number {} is taken by another item; give it a number of its own", id(first));
                    read.errors.push(error(*number, text, why));
                }
                None => known.push(item),
            },
        }
    }
    read.prose.retain(|prose| {
        let is_known = referenced_id(prose).is_none_or(|own| known.iter().any(|item| id(item) == own));
        if !is_known {
            read.errors.push(format!("`{prose}`: no item has this number"));
        }
        is_known
    });
    read
}

/// An error in a line, for the model.
pub(super) fn error(number: usize, text: &str, why: impl Display) -> String {
    format!("line {number}, `{}`: {why}", text.trim())
}

pub(super) const CONTINUES_ERROR: &str = "it continues a line that is not counted";

#[derive(Debug, PartialEq, Eq)]
enum Class {
    /// Blank, "none", a heading or a rule.
    Nothing,
    Item,
    /// A continuation of the item above.
    Part,
    Prose,
    Error(String),
}

fn classify(line: &OutlineLine<'_>, form: &Form, is_open: bool, item: Option<&str>, next: &str) -> Class {
    let text = line.text.trim();
    let error = |why: &str| Class::Error(format!("{why}; write it as {}", form.example));
    match line.kind {
        Kind::Code => return error("it is in a code fence"),
        Kind::Comment => return error("it is in an HTML comment"),
        Kind::Heading if has_place(text) || form.mark.is_match(text) => return error("it is a heading"),
        Kind::Heading => return Class::Nothing,
        Kind::Text => {}
    }
    if text.is_empty() || is_none(text) || is_rule(text) || (text.starts_with('|') && is_rule(next) && !has_place(text))
    {
        return Class::Nothing;
    }
    if let Some(why) = strange_start(text) {
        return error(&why);
    }
    if KIND_TITLE.is_match(text) {
        return Class::Nothing;
    }
    if NONE_WITH_REASON.is_match(text) && !has_place(text) && !form.mark.is_match(text) {
        return Class::Prose;
    }
    if is_reference(text) && !has_place(text) && !form.mark.is_match(text) {
        return Class::Prose;
    }
    if let Some((_, rest)) = form.start.split(line.text) {
        let has_other = ANOTHER_ITEM.is_match(rest);
        return if has_other { error("it has another item in it, which needs a line of its own") } else { Class::Item };
    }
    if item.is_some() && is_nested_label(form, text) {
        return Class::Part;
    }
    let is_indented = line.text.starts_with([' ', '\t']);
    if let Some(why) = looks_like_item(text, is_indented) {
        return error(why);
    }
    let has_mark = form.mark.is_match(text);
    // A requirement ends with its kind, so that a line at the margin below it does not continue it.
    let is_complete = |item: &str| {
        let kind = form.mark.find_iter(item).last();
        form.section == Section::Requirements && kind.is_some_and(|kind| is_end(&item[kind.end()..]))
    };
    match item {
        Some(item) if is_indented || (is_open && !is_complete(item)) => {
            if has_mark && form.mark.is_match(item) {
                return error("it looks like an item of its own");
            }
            Class::Part
        }
        _ if has_mark || has_place(text) => error("it looks like an item"),
        _ if is_about_items(text) => Class::Prose,
        _ => error("it is no item in the required form; indent it, if it continues the item above, or leave it out"),
    }
}

/// Whether nothing but marks follows.
fn is_end(rest: &str) -> bool {
    rest.chars().all(|c| c.is_whitespace() || ".*_`|".contains(c))
}

static ABOUT_ITEMS: LazyLock<Regex> = LazyLock::new(|| {
    let nouns = r"(?:requirements|open points|assumptions|questions|readings|items)";
    Regex::new(&format!(
        r"(?i)^(?:all|both|each|none) (?:of )?(?:them|these|those|(?:the )?{nouns})\b|^(?:all|both|each) (?:of )?[ROA]\d|:$"
    ))
    .expect("a valid pattern")
});

/// Whether a line of prose says something of all items, or introduces them. Any other sentence may be an item.
fn is_about_items(text: &str) -> bool {
    ABOUT_ITEMS.is_match(text)
}

/// Whether a line of a list begins with a label of an item's part.
fn is_nested_label(form: &Form, text: &str) -> bool {
    let label = text.trim_start_matches(['-', '*', '+', '•', ' ']);
    form.part.is_some_and(|part| part.find(label).is_some_and(|found| found.start() == 0))
}

/// Matches "None; the documents decide everything."
static NONE_WITH_REASON: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)^[-*+\s]*none\s*[;,:\u{2013}\u{2014}]\s").expect("a valid pattern"));

/// Whether a line says that a list is empty: "none", "None identified."
pub(super) fn is_none(text: &str) -> bool {
    let words = text.trim().trim_matches(|c: char| c.is_whitespace() || "-*+•_.()`".contains(c)).to_lowercase();
    let participle = words.strip_prefix("none").map(str::trim);
    participle.is_some_and(|word| matches!(word, "" | "identified" | "found" | "known" | "so far" | "needed" | "left"))
        || EMPTY.is_match(&words)
}

/// Other words for an empty list. "None of the clients waits." and "No client waits." are not among them.
static EMPTY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"^(?:n/a|there (?:is|are) none|nothing (?:is|remains|was left) open",
        r"|(?:there (?:is|are) )?no (?:open points?|ambiguit(?:y|ies)|assumptions?|questions?|further points?)",
        r"(?: (?:was|were|is|are|remains?|found|known|left|identified|open|needed))*)$"
    ))
    .expect("a valid pattern")
});

/// Whether a line has nothing but marks: a rule, or the line below the head of a table.
pub(super) fn is_rule(text: &str) -> bool {
    text.len() >= 3 && text.chars().all(|c| "-*_=|: ".contains(c))
}

static PLACE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)docs/\S|\.[a-z]{1,5}:L?\d|[\[(][^\])]*:L?\d").expect("a valid pattern"));

/// Whether a text names a place in the documents.
pub(super) fn has_place(text: &str) -> bool {
    PLACE.is_match(text)
}

static ANOTHER_ITEM: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?:^|[\s>|])[*_`]*[ROA]\d{1,4}[*_`:.)]*\s*[\[(][^\])]*(?:docs/|:\d|fairness|bound|narrowed|left|interface)",
    )
    .expect("a valid pattern")
});

static REFERENCE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^[ROA]\d{1,4}(?:(?:\s*,\s*[ROA]\d{1,4}\b)*,?\s*(?:and|or|to|[-\u{2013}])\s*[ROA]\d|\s+(?:is|are)\s)")
        .expect("a valid pattern")
});

/// Whether a line begins a sentence about items, such as "R1 and R2 are conditions on every state".
fn is_reference(text: &str) -> bool {
    REFERENCE.is_match(text)
}

/// The number with which a sentence about items begins.
pub(super) fn referenced_id(prose: &str) -> Option<&str> {
    is_reference(prose).then(|| prose.split(|c: char| !c.is_alphanumeric()).next()).flatten()
}

static MARKS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"^[\s\-*+|#>_`•\[\](){}\\~"'.:]*"#).expect("a valid pattern"));
static ID_LIKE: LazyLock<Regex> = LazyLock::new(|| {
    let letters = r"(?:\p{L}\p{M}*|\p{So}){1,3}";
    let word = r"(?i:req|requirement|assumption|open point|point|item)s?";
    let number = r"[._#:({\[\\-]{0,3}(?:<[^>]*>)?\p{N}";
    Regex::new(&format!(
        r"^(?:{letters}{number}|(?:[RO\p{{So}}]|{word})\s{{1,3}}[#({{\[]?\p{{N}}+\p{{L}}?(?:\P{{L}}|$))"
    ))
    .expect("a valid pattern")
});
static LIST_MARK: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:[-*+–—>](?:\s|$)|[•·◦▪‣∙●○■□★☐☑✓]|\(?\p{N}{1,4}[.):](?:\s|$)|\(?[A-Za-z][.)]\s|\|)")
        .expect("a valid pattern")
});
static KIND_START: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^\W*(?:safety|liveness|fairness|bound|narrowed|left[ _-]out|interface)\s*[:)]")
        .expect("a valid pattern")
});

/// A kind alone on a line, as a title of the items below.
static KIND_TITLE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^(?:\*\*|__)(?:safety|liveness|fairness|bounds?|interface|left out|narrowed)(?: (?:properties|requirements))?:?(?:\*\*|__):?$")
        .expect("a valid pattern")
});

/// Whether a character is of a script that does not separate words by blanks.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// The first letter or invisible character of a line that would make its number unreadable, in words.
pub(super) fn strange_start(text: &str) -> Option<String> {
    let head: String = text.split_inclusive(char::is_whitespace).take(2).collect();
    if let Some(hidden) = head.chars().find(|c| is_invisible(*c) || (c.is_control() && *c != '\t')) {
        return Some(format!("it begins with the invisible character U+{:04X}", u32::from(hidden)));
    }
    let unmarked = &text[MARKS.find(text).map_or(0, |marks| marks.end())..];
    let number = ID_LIKE.find(unmarked)?;
    number.as_str().chars().find_map(foreign_letter).map(|letter| format!("it begins with {letter}"))
}

/// Why a line that is no item in the required form looks like one.
fn looks_like_item(text: &str, is_indented: bool) -> Option<&'static str> {
    let unmarked = &text[MARKS.find(text).map_or(0, |marks| marks.end())..];
    let is_id = ID_LIKE.is_match(unmarked) && !unmarked.starts_with(is_unspaced);
    if is_id {
        return Some("it looks like an item with another number");
    }
    if LIST_MARK.is_match(text) || text.starts_with('#') {
        return Some("it begins like an item, without its number");
    }
    if KIND_START.is_match(text) {
        return Some("it begins with a kind, without a number");
    }
    let is_bracketed = text.starts_with(['[', '【', '［', '〔'])
        || (text.starts_with(['(', '（', '`']) && has_place(first_token(text)));
    if is_bracketed {
        return Some("it begins with a place, without a number");
    }
    let is_tag = text.starts_with('<') && text[1..].starts_with(|c: char| c.is_ascii_alphabetic() || "/!".contains(c));
    if is_tag
        || text.starts_with(['&', '\\']) && text[1..].starts_with(|c: char| c.is_alphanumeric() || "#-*+".contains(c))
    {
        return Some("it begins with markup");
    }
    let may_begin_prose = |c: char| c.is_alphanumeric() || "\"'`(“‘„«$<".contains(c);
    if !is_indented && (!text.starts_with(may_begin_prose) || has_place(text)) {
        return Some("it looks like an item without its number");
    }
    None
}

/// Where the text of a list item begins; 0 if the line begins none.
pub(super) fn list_mark_end(text: &str) -> usize {
    LIST_MARK.find(text).map_or(0, |mark| mark.end())
}

fn first_token(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}
