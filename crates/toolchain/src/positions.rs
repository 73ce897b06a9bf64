//! Positions in the user's file. The tools read a copy of the module with its algorithm translated; this maps positions
//! in the copy back to the file, and positions in the translation to the algorithm if possible.

use tlaforge_pluscal::{self as pluscal, AlgorithmPlace, Compat, Options, Origins};
use tlaforge_tla::{
    ActionCoverage, BranchCoverage, CheckOutcome, Diagnostic, FurtherVerdict, Place, Reached, Stage, StepSource,
    Verdict, action_part_label,
};

/// The mapping from the copy that the tools read to the user's text.
pub(super) struct Positions {
    module: String,
    original_lines: usize,
    copy: Vec<String>,
    /// The first lines of the copy, up to this one, equal those of the file.
    before: usize,
    /// The same number of lines at the end of both are equal.
    after: usize,
    /// The origin of each part of the translation, if our own translator made it.
    origins: Option<Origins>,
}

/// Where a position of the copy is in the file.
enum MappedPosition {
    InFile(usize, usize),
    InAlgorithm(AlgorithmPlace),
    /// Only in the copy.
    Nowhere,
}

impl Positions {
    /// `None` if the tools read the file itself.
    pub(super) fn new(module: &str, original: &str, copy: &str) -> Option<Self> {
        if original == copy {
            return None;
        }
        let original_lines: Vec<&str> = original.lines().collect();
        let copy_lines: Vec<&str> = copy.lines().collect();
        let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| pairs.take_while(|(a, b)| a == b).count();
        let mut before = same(&mut original_lines.iter().zip(&copy_lines));
        let mut after = same(&mut original_lines[before..].iter().rev().zip(copy_lines[before..].iter().rev()));
        let origins = translations(original).find(|translated| same_lines(&translated.text, copy)).map(|t| t.origins);
        if let Some(origins) = &origins {
            // Lines of the translation that happen to equal those of the file are still the translation.
            before = before.min(origins.range().start.saturating_sub(1));
            after = after.min((copy_lines.len() + 1).saturating_sub(origins.range().end));
        }
        let copy = copy_lines.iter().map(|line| (*line).to_owned()).collect();
        Some(Self { module: module.to_owned(), original_lines: original_lines.len(), copy, before, after, origins })
    }

    fn find(&self, line: usize, column: usize) -> MappedPosition {
        if line <= self.before {
            return MappedPosition::InFile(line, column);
        }
        if line > self.copy.len() - self.after {
            return MappedPosition::InFile((line + self.original_lines).saturating_sub(self.copy.len()), column);
        }
        self.origins
            .as_ref()
            .and_then(|origins| origins.find(line, column))
            .map_or(MappedPosition::Nowhere, MappedPosition::InAlgorithm)
    }

    fn line(&self, line: usize) -> &str {
        line.checked_sub(1).and_then(|at| self.copy.get(at)).map_or("", |line| line.trim())
    }

    /// Maps the positions of diagnostics back. A line of the translation is quoted, unless it comes literally from the
    /// algorithm.
    pub(super) fn restore(&self, diagnostics: &mut [Diagnostic]) {
        // A position in a local module refers to that file, and one in a configuration to the configuration.
        let is_elsewhere = |message: &str| {
            let name = message.split(" of module ").nth(1).unwrap_or_default();
            let name = name.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
            !name.is_empty() && name != self.module
        };
        let of_file = |d: &Diagnostic| {
            d.line > 0
                && !d.message.starts_with("in module ")
                && !is_elsewhere(&d.message)
                && (d.stage != Stage::Config || d.message.contains(" of module "))
        };
        for diagnostic in diagnostics.iter_mut().filter(|diagnostic| of_file(diagnostic)) {
            let quoted = self.line(diagnostic.line);
            let quote = format!(" (in the translation of the algorithm: `{quoted}`)");
            diagnostic.message = self.map_text(&diagnostic.message);
            (diagnostic.line, diagnostic.column) = match self.find(diagnostic.line, diagnostic.column) {
                MappedPosition::InFile(line, column) => (line, column),
                MappedPosition::InAlgorithm(place) => {
                    if !place.exact {
                        diagnostic.message = diagnostic.message.trim().to_owned() + &quote;
                    }
                    (place.line, place.column)
                }
                MappedPosition::Nowhere => {
                    diagnostic.message = diagnostic.message.trim().to_owned() + &quote;
                    (0, 0)
                }
            };
        }
    }

    /// Maps all positions of an outcome back.
    pub(super) fn restore_all(&self, outcome: &mut CheckOutcome) {
        match &mut outcome.verdict {
            Verdict::Violated { violated } => {
                violated.name = violated.name.take().map(|name| self.map_text(&name));
            }
            Verdict::Invalid { reason, diagnostics, .. } => {
                // The reason repeats the first diagnostic, which gains a quotation below; both have to stay equal.
                let first = diagnostics.first().is_some_and(|first| first.message == *reason);
                self.restore(diagnostics);
                *reason = match diagnostics.first().filter(|_| first) {
                    Some(first) => first.message.clone(),
                    None => self.map_text(reason),
                };
            }
            Verdict::Inconclusive { reason, .. } => *reason = self.map_text(reason),
            Verdict::Holds => {}
        }
        for warning in &mut outcome.warnings {
            *warning = self.map_text(warning);
        }
        for witness in &mut outcome.witnesses {
            if let Reached::Unknown(why) = &mut witness.reached {
                *why = self.map_text(why);
            }
        }
        for further in &mut outcome.further {
            if let FurtherVerdict::Undecided { reason, .. } = &mut further.verdict {
                *reason = self.map_text(reason);
            }
        }
        let further = outcome.further.iter_mut().filter_map(|further| match &mut further.verdict {
            FurtherVerdict::Violated { trace, .. } => trace.as_mut(),
            _ => None,
        });
        for step in outcome.trace.iter_mut().chain(further).flat_map(|trace| &mut trace.steps) {
            step.source = step.source.take().and_then(|source| {
                let place = self.place(source.place)?;
                Some(StepSource { place, ..source })
            });
        }
        for branch in outcome.branches.iter_mut().flat_map(BranchCoverage::all_mut) {
            branch.place = self.place(branch.place).unwrap_or(branch.place);
        }
        self.restore_parts(outcome.coverage.as_deref_mut().unwrap_or_default());
    }

    fn place(&self, Place { line, column }: Place) -> Option<Place> {
        match self.find(line, column) {
            MappedPosition::InFile(line, column) => Some(Place { line, column }),
            MappedPosition::InAlgorithm(nearest) => {
                // A part begins with a `/\` of the translator; what comes after it is of the algorithm.
                let columns = column..=column + self.line(line).len();
                let exact = |column| self.origins.as_ref()?.find(line, column).filter(|place| place.exact);
                let AlgorithmPlace { line, column, .. } = columns.into_iter().find_map(exact).unwrap_or(nearest);
                Some(Place { line, column })
            }
            MappedPosition::Nowhere => None,
        }
    }

    /// Maps the positions of unnamed parts of definitions. A step of an algorithm that has only one label consists of such
    /// parts: the alternatives of its `either`.
    fn restore_parts(&self, coverage: &mut [ActionCoverage]) {
        for action in coverage.iter_mut() {
            action.place = action.place.map(|place| self.place(place).unwrap_or(place));
        }
        let lines: Vec<(String, usize)> =
            coverage.iter().filter_map(|action| Some((action.name().to_owned(), action.place?.line))).collect();
        for action in coverage {
            let Some(place) = action.place else { continue };
            // The column is in a label only if another action begins on the same line.
            let same = lines.iter().filter(|(name, line)| name == action.name() && *line == place.line).count();
            action.action = action_part_label(action.name(), place, same < 2);
        }
    }

    /// Maps the positions of this module in a text back: `line 3, col 8 to line 3, col 12 of module M`, `module M, line
    /// 3, column 8`, `M.tla: line 3 col 8`.
    fn map_text(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((at, place)) = self.next_place(text, text.len() - rest.len()) {
            let start = text.len() - rest.len();
            out.push_str(&text[start..at]);
            out.push_str(&self.show_position(&place));
            rest = &text[at + place.length..];
        }
        out + rest
    }

    /// The next position of this module in a text, from this byte on.
    fn next_place(&self, text: &str, from: usize) -> Option<(usize, WrittenPosition)> {
        let of_module = format!(" of module {}", self.module);
        let heads = [format!("module {}, ", self.module), format!("{}.tla: ", self.module)];
        let begins = text[from..].match_indices("line ").map(|(at, _)| from + at);
        begins.into_iter().find_map(|at| {
            let first = parse_point(&text[at..])?;
            let mut written = WrittenPosition { first, last: None, length: first.length, word: first.word };
            if let Some(rest) = text[at + written.length..].strip_prefix(" to ")
                && let Some(last) = parse_point(rest)
            {
                written.last = Some(last);
                written.length += " to ".len() + last.length;
            }
            let after = text[at + written.length..].strip_prefix(of_module.as_str());
            let whole = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
            let before = |head: &String| {
                text[..at]
                    .strip_suffix(head.as_str())
                    .is_some_and(|rest| !rest.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
            };
            (after.is_some_and(whole) || heads.iter().any(before)).then_some((at, written))
        })
    }

    fn show_position(&self, written: &WrittenPosition) -> String {
        let point = |point: &Point| self.find(point.line, point.column);
        let word = written.word;
        let shown = |line: usize, column: usize| format!("line {line}{word}{column}");
        let quoted = format!("(in the translation of the algorithm: `{}`)", self.line(written.first.line));
        match (point(&written.first), written.last.as_ref().map(point)) {
            (MappedPosition::InFile(line, column), None) => shown(line, column),
            (MappedPosition::InFile(line, column), Some(MappedPosition::InFile(last, end))) => {
                format!("{} to {}", shown(line, column), shown(last, end))
            }
            (MappedPosition::InFile(line, column), Some(_)) => shown(line, column),
            (MappedPosition::InAlgorithm(place), _) if place.exact => shown(place.line, place.column),
            (MappedPosition::InAlgorithm(place), _) => format!("{} {quoted}", shown(place.line, place.column)),
            (MappedPosition::Nowhere, _) => format!("a line of the copy {quoted}"),
        }
    }
}

/// A line and a column in a text.
#[derive(Clone, Copy)]
struct Point {
    line: usize,
    column: usize,
    length: usize,
    /// The text between the two numbers.
    word: &'static str,
}

/// A position or range in a text, and its length in bytes.
struct WrittenPosition {
    first: Point,
    last: Option<Point>,
    length: usize,
    word: &'static str,
}

/// Parses `line 3, col 8` and the like at the start of a text.
fn parse_point(text: &str) -> Option<Point> {
    let rest = text.strip_prefix("line ")?;
    let (line, rest) = parse_number(rest)?;
    let word = [", col ", ", column ", " col "].into_iter().find(|word| rest.starts_with(word))?;
    let (column, rest) = parse_number(&rest[word.len()..])?;
    Some(Point { line, column, length: text.len() - rest.len(), word })
}

fn parse_number(text: &str) -> Option<(usize, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    Some((text[..digits].parse().ok()?, &text[digits..]))
}

/// The translations of a module by our own translator, in today's form and in that of 2020.
pub(super) fn translations(text: &str) -> impl Iterator<Item = pluscal::Translated> {
    let by = |compat| pluscal::translate(text, &Options { compat, ..Options::default() }).ok().flatten();
    [Compat::Today, Compat::Y2020].into_iter().filter_map(by)
}

/// Whether two texts are equal except for blanks at the end of lines and the checksums of the translation.
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
