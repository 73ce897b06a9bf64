//! The structure of an informal specification: which section each line is in, and whether a reader of the page sees it as
//! text. Sections that are read line by line are [`Section`]s.

use std::sync::LazyLock;

use regex::Regex;

use super::invisible_characters::{foreign_letter, is_invisible};
use super::numbered::begins_with_words;

/// A section of which every line is an item or is sent back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantArray)]
pub(super) enum Section {
    OtherConcerns,
    Names,
    Requirements,
    OpenPoints,
    Assumptions,
    OutOfScope,
}

impl Section {
    /// The heading that the prompt asks for.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::OtherConcerns => "Other concerns",
            Self::Names => "Names",
            Self::Requirements => "Requirements",
            Self::OpenPoints => "Open points",
            Self::Assumptions => "Assumptions",
            Self::OutOfScope => "Out of scope",
        }
    }

    /// The section that a heading begins. The title of the whole text (`is_title`) begins a section only if it says nothing
    /// else.
    fn of_heading(title: &str, is_title: bool) -> Option<Self> {
        use strum::VariantArray as _;
        let words = bare_words(title);
        let exact = Self::VARIANTS.iter().copied().find(|section| section.title().eq_ignore_ascii_case(&words));
        let lower = words.to_lowercase();
        let has_word = |word: &str| lower.split(|c: char| !c.is_alphanumeric()).any(|own| own == word);
        match exact {
            Some(_) => exact,
            None if is_title => lower.ends_with("assumptions").then_some(Self::Assumptions),
            None if is_prose_section(title) => None,
            None => [Self::OpenPoints, Self::OutOfScope, Self::OtherConcerns, Self::Requirements]
                .into_iter()
                .find(|section| begins_with_words(title, &section.title().to_lowercase()))
                .or_else(|| lower.contains("assumption").then_some(Self::Assumptions))
                .or_else(|| (has_word("requirements") || has_word("requirement")).then_some(Self::Requirements)),
        }
    }

    /// The section that the whole line names, although it is no heading: in bold, in a quotation, in HTML, in a comment.
    pub(super) fn named_by(line: &str) -> Option<Self> {
        use strum::VariantArray as _;
        let words = bare_words(line);
        Self::VARIANTS.iter().copied().find(|section| section.title().eq_ignore_ascii_case(&words))
    }
}

/// Sections that are read as prose.
const PROSE_SECTIONS: [&str; 7] = ["concern", "processes", "state", "steps", "actions", "fairness", "witnesses"];

fn is_prose_section(title: &str) -> bool {
    PROSE_SECTIONS.iter().any(|words| begins_with_words(title, words))
}

static TAG: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"<[^>]*>").expect("a valid pattern"));
static NUMBER_OR_REMARK: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\d+(?:\.\d+)*[.)]?\s+|\s*\([^)]*\)\W*$").expect("a valid pattern"));

/// The words of a heading without its number, marks, tags, invisible characters and a remark in parentheses.
fn bare_words(line: &str) -> String {
    let visible: String = TAG.replace_all(line, "").chars().filter(|c| !is_invisible(*c)).collect();
    let trimmed = visible.trim_matches(|c: char| !c.is_alphanumeric() && !"()".contains(c));
    let words = NUMBER_OR_REMARK.replace_all(trimmed, "");
    words.trim_matches(|c: char| !c.is_alphanumeric()).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Heading,
    /// A line of a code fence, or the fence.
    Code,
    /// A line with a part of an HTML comment.
    Comment,
}

/// A line with its section and the heading above it.
#[derive(Debug, Clone, Copy)]
pub(super) struct OutlineLine<'a> {
    /// From 1.
    pub number: usize,
    pub text: &'a str,
    pub kind: Kind,
    pub section: Option<Section>,
    /// The title of the last heading below the first level.
    pub heading: &'a str,
}

impl OutlineLine<'_> {
    /// The error in a heading: a word with letters that only look like those of the prompt.
    pub(super) fn heading_error(&self) -> Option<String> {
        (self.kind == Kind::Heading).then(|| strange_word(self.text)).flatten()
    }
}

/// What is wrong with a text of which one word mixes scripts or has invisible characters.
fn strange_word(text: &str) -> Option<String> {
    let hidden = text.chars().find(|c| is_invisible(*c));
    let mixed = text.split(|c: char| !c.is_alphanumeric()).find_map(|word| {
        let is_latin = word.chars().any(|c| c.is_ascii_alphabetic());
        word.chars().find_map(foreign_letter).filter(|_| is_latin)
    });
    hidden
        .map(|c| format!("it has the invisible character U+{:04X}", u32::from(c)))
        .or_else(|| mixed.map(|letter| format!("it has {letter}")))
}

/// Each line with its section. A heading of the same or a higher level ends a section, as in Markdown; a deeper one stays in
/// it.
pub(super) fn outline(text: &str) -> Vec<OutlineLine<'_>> {
    let lines: Vec<&str> = text.lines().collect();
    let kinds = visibility(&lines);
    let mut open: Vec<(usize, Option<Section>)> = Vec::new();
    let mut heading = "";
    let mut has_heading = false;
    let mut found = Vec::with_capacity(lines.len());
    for (at, line) in lines.iter().enumerate() {
        let mut kind = kinds[at];
        let level = if kind == Kind::Text { heading_level(&lines, &kinds, at) } else { None };
        if let Some(level) = level {
            let title = line.trim().trim_start_matches('#').trim();
            if level > 1 || has_heading {
                heading = title;
            }
            open.retain(|(outer, _)| *outer < level);
            let inherited = open.last().and_then(|(_, section)| *section);
            let is_title = level == 1 && !has_heading;
            let own = Section::of_heading(title, is_title);
            let section = own.or(inherited.filter(|_| !is_prose_section(title)));
            open.push((level, section));
            has_heading = true;
            kind = Kind::Heading;
        } else if kind == Kind::Text && is_underline(&lines, &kinds, at) {
            kind = Kind::Heading;
        }
        let section = open.last().and_then(|(_, section)| *section);
        found.push(OutlineLine { number: at + 1, text: line, kind, section, heading });
    }
    found
}

static ITEM_HEADING: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[\s#*_`(\[]*[ROA][\s.#-]?\d{1,4}\b").expect("a valid pattern"));

/// The level of a heading: by its `#`, or by a line of `=` or `-` below it. `### R3 [docs/a.md:3] …` is an item, not a
/// heading.
fn heading_level(lines: &[&str], kinds: &[Kind], at: usize) -> Option<usize> {
    let line = lines[at].trim();
    if ITEM_HEADING.is_match(line) {
        return None;
    }
    let level = line.chars().take_while(|c| *c == '#').count();
    if level > 0 {
        return (line.len() > level).then_some(level);
    }
    let below = lines.get(at + 1).map(|below| below.trim())?;
    let is_text = line.starts_with(|c: char| c.is_alphanumeric() || "*_".contains(c));
    let is_alone = at == 0 || lines[at - 1].trim().is_empty() || lines[at - 1].trim_start().starts_with('#');
    let is_title = is_text && is_alone && kinds[at + 1] == Kind::Text && is_row_of(below, &['=', '-']);
    is_title.then(|| if below.starts_with('=') { 1 } else { 2 })
}

fn is_underline(lines: &[&str], kinds: &[Kind], at: usize) -> bool {
    let is_below = |above: usize| {
        kinds[above] == Kind::Text
            && !lines[above].trim_start().starts_with('#')
            && heading_level(lines, kinds, above).is_some()
    };
    is_row_of(lines[at].trim(), &['=', '-']) && at.checked_sub(1).is_some_and(is_below)
}

fn is_row_of(line: &str, marks: &[char]) -> bool {
    line.len() >= 2 && line.starts_with(marks) && line.bytes().all(|b| b == line.as_bytes()[0])
}

/// Whether each line is text, code or part of a comment.
fn visibility(lines: &[&str]) -> Vec<Kind> {
    let mut fence: Option<(char, usize)> = None;
    let mut in_comment = false;
    lines.iter().map(|line| kind_of(line.trim_start(), &mut fence, &mut in_comment)).collect()
}

fn kind_of(line: &str, fence: &mut Option<(char, usize)>, in_comment: &mut bool) -> Kind {
    if *in_comment {
        *in_comment = !line.contains("-->");
        return Kind::Comment;
    }
    let mark = line.chars().next().filter(|c| ['`', '~'].contains(c)).unwrap_or(' ');
    let length = line.chars().take_while(|c| *c == mark).count();
    match *fence {
        Some((open, least)) => {
            if mark == open && length >= least && line.trim_end().chars().all(|c| c == mark) {
                *fence = None;
            }
            return Kind::Code;
        }
        // A backquote after the opening ones means inline code (CommonMark, section 4.5).
        None if mark != ' ' && length >= 3 && !(mark == '`' && line[length..].contains('`')) => {
            *fence = Some((mark, length));
            return Kind::Code;
        }
        None => {}
    }
    let is_inline_code = |at: usize| line[..at].matches('`').count() % 2 == 1;
    let Some((begin, _)) = line.match_indices("<!--").find(|(at, _)| !is_inline_code(*at)) else { return Kind::Text };
    let last = line[begin..].rfind("<!--").map_or(begin, |last| begin + last);
    *in_comment = !line[last..].contains("-->");
    Kind::Comment
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sections(text: &str) -> Vec<(Kind, Option<Section>)> {
        outline(text).into_iter().map(|line| (line.kind, line.section)).collect()
    }

    #[test]
    fn headings_are_known_in_all_notations() {
        for heading in [
            "## Requirements",
            "##Requirements",
            "   ## Requirements",
            "## **Requirements**",
            "## 6. Requirements (safety)",
            "###### REQUIREMENTS: ######",
            "## Safety requirements",
            "Requirements\n-----",
            "**Requirements**\n===",
        ] {
            let found = sections(&format!("# T\n## State\nx\n\n{heading}\ny\n"));
            assert_eq!(found.last(), Some(&(Kind::Text, Some(Section::Requirements))), "{heading}: {found:?}");
            assert_eq!(found[2], (Kind::Text, None));
        }
        for title in [
            "# Requirements of the lock",
            "# The lock\n## Steps",
            "# T\n## Requirements\n## State",
            "# Requirements\n## Steps",
        ] {
            assert_eq!(sections(&format!("{title}\ny\n")).last(), Some(&(Kind::Text, None)), "{title}");
        }
        // A deeper heading stays in the section.
        assert_eq!(sections("## Assumptions\n### More\ny\n")[2].1, Some(Section::Assumptions));
        assert_eq!(sections("## Requirements\n### R3 [a.md:1] One.\n")[1], (Kind::Text, Some(Section::Requirements)));
        // A rule between items is no underline.
        let ruled = sections("## Requirements\nR1 [a.md:1] One.\n---\nR2 [a.md:1] Two.\n");
        assert!(ruled[1..].iter().all(|line| line.1 == Some(Section::Requirements)), "{ruled:?}");
    }

    #[test]
    fn code_and_comments_are_no_text() {
        use Kind::{Code, Comment, Text};
        let kinds = |text: &str| -> Vec<Kind> { outline(text).into_iter().map(|line| line.kind).collect() };
        assert_eq!(kinds("a\n```\n## B\n```\nc\n"), [Text, Code, Code, Code, Text]);
        assert_eq!(kinds("a\n<!-- b\n## B\n--> c\nd\n"), [Text, Comment, Comment, Comment, Text]);
        assert_eq!(kinds("a <!-- b --> c <!-- d\ne -->\nf\n"), [Comment, Comment, Text]);
        assert_eq!(kinds("a `<!--` b\n<!-- to the end\nc\n"), [Text, Comment, Comment]);
    }

    #[test]
    fn a_line_that_only_looks_like_a_heading_is_known() {
        for line in [
            "**Requirements**",
            "Requirements:",
            "> ## Requirements",
            "<h2>Requirements</h2>",
            "\\## Requirements",
            "- **6. Requirements (safety)**",
        ] {
            assert_eq!(Section::named_by(line), Some(Section::Requirements), "{line}");
        }
        assert_eq!(Section::named_by("The requirements"), None);
        let error = |line: &str| outline(line)[0].heading_error();
        assert!(error("## R\u{435}quirements").unwrap().contains("Cyrillic"));
        assert!(error("## Require\u{200b}ments").unwrap().contains("U+200B"));
        assert_eq!(error("## Требования и шаги"), None);
    }
}
