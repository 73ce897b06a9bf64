//! The outcome of a check as text for the terminal, with the lines that its diagnostics are about.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use super::colored_text::{link_source, paint};
use super::snippet::Snippet;
use super::snippet_text::render;
use super::terminal::{escape_control_characters, trace_width};
use crate::report::FileLine;
use crate::tla::{CheckOutcome, Diagnostic, Module, Stage, Verdict, ViolationKind, outcome_text_parts};
use crate::toolchain::{Libraries, ModulePlace, SpecText};

/// The files of a check, to show lines of them.
pub(super) struct CheckedFiles {
    spec_path: PathBuf,
    spec: SpecText,
    cfg_path: PathBuf,
    cfg: String,
    libraries: Libraries,
}

impl CheckedFiles {
    pub(super) fn new(spec_path: &Path, spec: &SpecText, cfg_path: &Path, cfg: &str, libraries: &Libraries) -> Self {
        let (spec_path, cfg_path) = (spec_path.to_owned(), cfg_path.to_owned());
        Self { spec_path, spec: spec.clone(), cfg_path, cfg: cfg.to_owned(), libraries: libraries.clone() }
    }

    pub(super) fn has_algorithm(&self) -> bool {
        Module::parse(&self.spec.text).is_ok_and(|module| module.algorithm.is_some())
    }

    /// The line of a diagnostic; `None` if its position or its file is unknown.
    pub(super) fn snippet(&self, diagnostic: &Diagnostic) -> Option<Snippet> {
        let (path, text) = match named_other_module(&diagnostic.message, &self.spec.name) {
            Some(name) => {
                let (_, text) = self.spec.local_modules.iter().find(|(local, _)| local == name)?;
                let path = match self.module_place(name)? {
                    ModulePlace::File(path) => path.display().to_string(),
                    // As Java writes the address of an entry.
                    ModulePlace::Jar(jar) => format!("{}!/{name}.tla", jar.display()),
                };
                (path, text)
            }
            // A message that names a module has a position in that module, not in the configuration.
            None if diagnostic.stage == Stage::Config && !diagnostic.message.contains(" of module ") => {
                (self.cfg_path.display().to_string(), &self.cfg)
            }
            None => (self.spec_path.display().to_string(), &self.spec.text),
        };
        Some(Snippet::new(path, text, diagnostic.span(text)?))
    }

    /// The file and the line of a diagnostic. One in a jar, or in a module of the tools, is about the specification as a whole:
    /// its message names the module.
    pub(super) fn file_line(&self, diagnostic: &Diagnostic) -> Option<FileLine> {
        let whole = || Some(FileLine::new(self.spec_path.display().to_string(), 0));
        match named_other_module(&diagnostic.message, &self.spec.name) {
            Some(name) if self.module_file(name).is_none() => whole(),
            _ => self.snippet(diagnostic).map(|found| FileLine::new(found.path, found.line)),
        }
    }

    /// The files of the other modules, with their texts; without those in jars.
    pub(super) fn module_files(&self) -> Vec<(String, String)> {
        let file = |name: &str| Some(self.module_file(name)?.display().to_string());
        self.spec.local_modules.iter().filter_map(|(name, text)| Some((file(name)?, text.clone()))).collect()
    }

    fn module_file(&self, name: &str) -> Option<PathBuf> {
        let is_local = self.spec.local_modules.iter().any(|(local, _)| local == name);
        match self.module_place(name).filter(|_| is_local)? {
            ModulePlace::File(path) => Some(path),
            ModulePlace::Jar(_) => None,
        }
    }

    fn module_place(&self, name: &str) -> Option<ModulePlace> {
        let beside = self.spec_path.with_file_name(format!("{name}.tla"));
        if beside.is_file() { Some(ModulePlace::File(beside)) } else { self.libraries.place_of(name) }
    }

    /// The definition whose evaluation failed, if the checker gives its name and no position.
    fn failed_definition(&self, verdict: &Verdict) -> Option<Diagnostic> {
        let Verdict::Invalid { violated, reason, diagnostics } = verdict else { return None };
        if violated.kind != ViolationKind::Evaluation || diagnostics.iter().any(|diagnostic| diagnostic.line > 0) {
            return None;
        }
        let module = Module::parse(&self.spec.text).ok()?;
        let start = module.definition(violated.name.as_deref()?)?.code.start;
        Some(module.diagnostic(Stage::Check, start, reason.clone()))
    }

    /// The text of an outcome, ready to be written.
    pub(super) fn outcome_text(&self, outcome: &CheckOutcome, color: bool) -> String {
        let (before, after) = outcome_text_parts(outcome, trace_width());
        let painted = |text: &str| if color { paint(text) } else { text.to_owned() };
        let mut text = painted(&escape_control_characters(&before));
        let (reason, mut diagnostics) = reason_and_diagnostics(&outcome.verdict);
        if let Some(place) = self.failed_definition(&outcome.verdict) {
            diagnostics = Cow::Owned(vec![place]);
        }
        let mut shown: Vec<(Snippet, &str)> = Vec::new();
        for diagnostic in &*diagnostics {
            let message = diagnostic.message.trim();
            // The sentence of the verdict contains the message of the first.
            let is_new = message != reason.trim();
            let Some(snippet) = self.snippet(diagnostic) else {
                if is_new || diagnostics.len() > 1 {
                    // Writing to a string cannot fail.
                    let _ = writeln!(text, "- {}", escape_control_characters(&diagnostic.to_string()));
                }
                continue;
            };
            // SANY reports some errors twice.
            if shown.iter().any(|(place, words)| *place == snippet && words.contains(message)) {
                continue;
            }
            let title = is_new.then(|| diagnostic.without_position());
            let lines = render(&snippet, title.as_deref(), &[], color);
            let gap = if text.ends_with("\n\n") { "" } else { "\n" };
            let _ = writeln!(text, "{gap}{lines}");
            shown.push((snippet, message));
        }
        let after = painted(&escape_control_characters(&after));
        let is_link_shown = color && std::io::stdout().is_terminal();
        text.push_str(&if is_link_shown { link_source(&after, &self.spec_path) } else { after });
        text.truncate(text.trim_end().len());
        text + "\n"
    }
}

/// The reason of a verdict and its diagnostics. The embedded checker only writes the position into the reason, and TLC that
/// of an assumption into its name.
fn reason_and_diagnostics(verdict: &Verdict) -> (&str, Cow<'_, [Diagnostic]>) {
    let (stage, reason) = match verdict {
        Verdict::Invalid { diagnostics, reason, .. } => return (reason, Cow::Borrowed(diagnostics)),
        Verdict::Inconclusive { reason, .. } => (Stage::Embedded, reason.as_str()),
        Verdict::Violated { violated } if violated.kind == ViolationKind::Assumption => {
            (Stage::Check, violated.name.as_deref().unwrap_or_default())
        }
        Verdict::Violated { .. } | Verdict::Holds => return ("", Cow::Borrowed(&[])),
    };
    let found =
        position_in(reason).map(|(line, column)| vec![Diagnostic { stage, line, column, message: reason.to_owned() }]);
    (reason, Cow::Owned(found.unwrap_or_default()))
}

/// The position in words such as `line 6, column 13` and `line 6, col 13`.
fn position_in(text: &str) -> Option<(usize, usize)> {
    let number = |text: &str| text.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
    let (_, rest) = text.split_once("line ")?;
    let (line, rest) = rest.split_once(", col")?;
    Some((line.parse().ok()?, number(rest.trim_start_matches("umn").trim_start())?))
}

/// The module that the position of a message is in, if that is not the checked one.
fn named_other_module<'a>(message: &'a str, checked: &str) -> Option<&'a str> {
    let name = |text: &'a str| text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
    let begins = message.strip_prefix("in ").unwrap_or(message).strip_prefix("module ");
    let after = || [" of module ", ": module "].iter().find_map(|words| Some(message.split_once(words)?.1));
    let named = name(begins.or_else(after)?);
    (!named.is_empty() && named != checked).then_some(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_module_of_a_position_is_recognized() {
        for (message, module) in [
            ("Unknown operator: `x'.", None),
            ("in module Other: Unknown operator: `x'.", Some("Other")),
            ("module Other: x is not defined", Some("Other")),
            ("module M, line 3, column 4: it is not supported", None),
            ("module `IOUtils` is refused: it starts programs", None),
            ("line 3, col 4 to line 3, col 9 of module Naturals", Some("Naturals")),
            ("the embedded checker refuses it: module Other, line 6, column 13: why", Some("Other")),
            ("evaluation of the expression at line 3, col 4 to line 3, col 9 of module M.", None),
        ] {
            assert_eq!(named_other_module(message, "M"), module, "{message}");
        }
    }

    #[test]
    fn positions_in_words_are_read() {
        for (words, position) in [
            ("module M, line 6, column 13: it is not supported", Some((6, 13))),
            ("line 10, col 8 to line 10, col 13 of module M", Some((10, 8))),
            ("line 6 of the file", None),
            ("line x, column 3", None),
            ("", None),
        ] {
            assert_eq!(position_in(words), position, "{words}");
        }
    }
}
