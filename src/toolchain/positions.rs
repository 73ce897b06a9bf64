//! Positions in the user's file. Tools read a copy of the module in which its algorithm is translated; whatever they say
//! of a line of the copy is put back to the line of the file. What the translation has from the algorithm gets its place
//! in the algorithm.

use crate::pluscal::{self, AlgorithmPlace, Compat, Options, Origins};
use crate::tla::{CheckOutcome, Diagnostic, Place, Reached, Stage, Verdict, action_part_label};

/// The user's text beside the copy that the tools read.
pub(super) struct Positions {
    module: String,
    ours: usize,
    copy: Vec<String>,
    /// The lines of the copy up to this one are those of the file.
    before: usize,
    /// As many lines at its end are those at the end of the file.
    behind: usize,
    /// Where the translation comes from, if it is that of our own translator.
    origins: Option<Origins>,
}

/// What a line and column of the copy are in the file.
enum Found {
    InFile(usize, usize),
    InAlgorithm(AlgorithmPlace),
    /// Only in the copy.
    Nowhere,
}

impl Positions {
    /// `None` if the tools read the file as it is.
    pub(super) fn of(module: &str, original: &str, copy: &str) -> Option<Self> {
        if original == copy {
            return None;
        }
        let ours: Vec<&str> = original.lines().collect();
        let theirs: Vec<&str> = copy.lines().collect();
        let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| pairs.take_while(|(a, b)| a == b).count();
        let mut before = same(&mut ours.iter().zip(&theirs));
        let mut behind = same(&mut ours[before..].iter().rev().zip(theirs[before..].iter().rev()));
        let origins = translations(original).find(|translated| same_lines(&translated.text, copy)).map(|t| t.origins);
        if let Some(origins) = &origins {
            before = before.min(origins.range().start.saturating_sub(1));
            behind = behind.min((theirs.len() + 1).saturating_sub(origins.range().end));
        }
        let copy = theirs.iter().map(|line| (*line).to_owned()).collect();
        Some(Self { module: module.to_owned(), ours: ours.len(), copy, before, behind, origins })
    }

    fn find(&self, line: usize, column: usize) -> Found {
        if line <= self.before {
            return Found::InFile(line, column);
        }
        if line > self.copy.len() - self.behind {
            return Found::InFile((line + self.ours).saturating_sub(self.copy.len()), column);
        }
        self.origins.as_ref().and_then(|origins| origins.find(line, column)).map_or(Found::Nowhere, Found::InAlgorithm)
    }

    fn line(&self, line: usize) -> &str {
        line.checked_sub(1).and_then(|at| self.copy.get(at)).map_or("", |line| line.trim())
    }

    /// Puts the places of diagnostics back; a line of the translation is quoted unless its words are the algorithm's own.
    pub(super) fn put_back(&self, diagnostics: &mut [Diagnostic]) {
        // The place of a module beside it is one of that file; that of a configuration, one of the configuration.
        let of_file = |d: &Diagnostic| {
            d.line > 0
                && !d.message.starts_with("in module ")
                && (d.stage != Stage::Config || d.message.contains(" of module "))
        };
        for diagnostic in diagnostics.iter_mut().filter(|diagnostic| of_file(diagnostic)) {
            let quoted = self.line(diagnostic.line);
            let quote = format!(" (in the translation of the algorithm: `{quoted}`)");
            diagnostic.message = self.text(&diagnostic.message);
            (diagnostic.line, diagnostic.column) = match self.find(diagnostic.line, diagnostic.column) {
                Found::InFile(line, column) => (line, column),
                Found::InAlgorithm(place) => {
                    if !place.exact {
                        diagnostic.message = diagnostic.message.trim().to_owned() + &quote;
                    }
                    (place.line, place.column)
                }
                Found::Nowhere => {
                    diagnostic.message = diagnostic.message.trim().to_owned() + &quote;
                    (0, 0)
                }
            };
        }
    }

    /// All places that an outcome names.
    pub(super) fn put_back_all(&self, outcome: &mut CheckOutcome) {
        match &mut outcome.verdict {
            Verdict::Violated { violated } => {
                violated.name = violated.name.take().map(|name| self.text(&name));
            }
            Verdict::Invalid { reason, diagnostics, .. } => {
                let first = diagnostics.first().is_some_and(|first| first.message == *reason);
                self.put_back(diagnostics);
                *reason = match diagnostics.first().filter(|_| first) {
                    Some(first) => first.message.clone(),
                    None => self.text(reason),
                };
            }
            Verdict::Inconclusive { reason, .. } => *reason = self.text(reason),
            Verdict::Holds => {}
        }
        for warning in &mut outcome.warnings {
            *warning = self.text(warning);
        }
        for witness in &mut outcome.witnesses {
            if let Reached::Unknown(why) = &mut witness.reached {
                *why = self.text(why);
            }
        }
        for action in outcome.coverage.iter_mut().flatten() {
            let Some(place) = action.place else { continue };
            if let Found::InFile(line, column) = self.find(place.line, place.column) {
                let alone = !action.action.contains(", column ");
                let now = Place { line, column };
                action.action = action_part_label(action.name(), now, alone);
                action.place = Some(now);
            }
        }
    }

    /// A text with the places of this module that it names put back: `line 3, col 8 to line 3, col 12 of module M`,
    /// `module M, line 3, column 8`, `M.tla: line 3 col 8`.
    fn text(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((at, place)) = self.next_place(text, text.len() - rest.len()) {
            let start = text.len() - rest.len();
            out.push_str(&text[start..at]);
            out.push_str(&self.placed(&place));
            rest = &text[at + place.length..];
        }
        out + rest
    }

    /// The next place of this module in a text, from this byte on.
    fn next_place(&self, text: &str, from: usize) -> Option<(usize, Written)> {
        let of_module = format!(" of module {}", self.module);
        let heads = [format!("module {}, ", self.module), format!("{}.tla: ", self.module)];
        let begins = text[from..].match_indices("line ").map(|(at, _)| from + at);
        begins.into_iter().find_map(|at| {
            let first = point(&text[at..])?;
            let mut written = Written { first, last: None, length: first.length, word: first.word };
            if let Some(rest) = text[at + written.length..].strip_prefix(" to ")
                && let Some(last) = point(rest)
            {
                written.last = Some(last);
                written.length += " to ".len() + last.length;
            }
            let behind = text[at + written.length..].strip_prefix(of_module.as_str());
            let whole = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
            let before = |head: &String| {
                text[..at]
                    .strip_suffix(head.as_str())
                    .is_some_and(|rest| !rest.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
            };
            (behind.is_some_and(whole) || heads.iter().any(before)).then_some((at, written))
        })
    }

    fn placed(&self, written: &Written) -> String {
        let point = |point: &Point| self.find(point.line, point.column);
        let word = written.word;
        let shown = |line: usize, column: usize| format!("line {line}{word}{column}");
        let quoted = format!("(in the translation of the algorithm: `{}`)", self.line(written.first.line));
        match (point(&written.first), written.last.as_ref().map(point)) {
            (Found::InFile(line, column), None) => shown(line, column),
            (Found::InFile(line, column), Some(Found::InFile(last, end))) => {
                format!("{} to {}", shown(line, column), shown(last, end))
            }
            (Found::InFile(line, column), Some(_)) => shown(line, column),
            (Found::InAlgorithm(place), _) if place.exact => shown(place.line, place.column),
            (Found::InAlgorithm(place), _) => format!("{} {quoted}", shown(place.line, place.column)),
            (Found::Nowhere, _) => format!("a line of the copy {quoted}"),
        }
    }
}

/// A line and a column in a text.
#[derive(Clone, Copy)]
struct Point {
    line: usize,
    column: usize,
    length: usize,
    /// What stands between the two numbers.
    word: &'static str,
}

/// A place in a text, and how many bytes it takes.
struct Written {
    first: Point,
    last: Option<Point>,
    length: usize,
    word: &'static str,
}

/// `line 3, col 8` and the like, at the start of a text.
fn point(text: &str) -> Option<Point> {
    let rest = text.strip_prefix("line ")?;
    let (line, rest) = number(rest)?;
    let word = [", col ", ", column ", " col "].into_iter().find(|word| rest.starts_with(word))?;
    let (column, rest) = number(&rest[word.len()..])?;
    Some(Point { line, column, length: text.len() - rest.len(), word })
}

fn number(text: &str) -> Option<(usize, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    Some((text[..digits].parse().ok()?, &text[digits..]))
}

/// What our own translator makes of a module, as today's translator and as that of 2020.
pub(super) fn translations(text: &str) -> impl Iterator<Item = pluscal::Translated> {
    let by = |compat| pluscal::translate(text, &Options { compat, ..Options::default() }).ok().flatten();
    [Compat::Today, Compat::Y2020].into_iter().filter_map(by)
}

/// Whether two texts are the same but for blanks at the end of lines and the checksums of the translation.
pub(super) fn same_lines(one: &str, other: &str) -> bool {
    let trimmed = |line: &str| -> String {
        match line.find("BEGIN TRANSLATION").or_else(|| line.find("END TRANSLATION")) {
            Some(at) => line[..at].trim_start().to_owned(),
            None => line.trim_end().to_owned(),
        }
    };
    one.lines().count() == other.lines().count()
        && one.lines().zip(other.lines()).all(|(a, b)| trimmed(a) == trimmed(b))
}
