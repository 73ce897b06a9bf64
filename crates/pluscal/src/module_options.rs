//! Reads the line `PlusCal options (…)` of a module, which takes precedence over the given options.

use super::options::{Compat, Fair, Options};
use super::source::Line;

/// The options of a translation, and those that only the parser needs.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub options: Options,
    /// The prefix of added labels.
    pub label_root: String,
    /// The version of PlusCal that the module is written for, times 1000.
    pub version: u32,
    pub warnings: Vec<String>,
}

/// The latest version of PlusCal that the reference accepts, times 1000.
fn latest(compat: Compat) -> u32 {
    match compat {
        Compat::Today => 1903,
        Compat::Y2020 => 1900,
    }
}

/// Reads the options line of a module, if it has one. As in the reference, an invalid line is ignored with a warning.
pub(super) fn read_options(lines: &[Line<'_>], options: &Options) -> Settings {
    let mut settings = Settings {
        options: options.clone(),
        label_root: "Lbl_".into(),
        version: latest(options.compat),
        warnings: Vec::new(),
    };
    // Also before the line of the module is read, in case it is invalid.
    if settings.options.termination && settings.options.fair.is_none() {
        settings.options.fair = Some(Fair::Weak);
    }
    match arguments(lines) {
        None => {}
        Some(Err(message)) => settings.warnings.push(message),
        Some(Ok(arguments)) => {
            if let Err(message) = apply(&arguments, &mut settings) {
                settings.warnings.push(message);
            }
        }
    }
    settings
}

/// A position in the lines of a module.
struct Cursor<'a> {
    lines: &'a [Line<'a>],
    line: usize,
    column: usize,
}

fn is_blank(character: char) -> bool {
    character == ' ' || character == '\t'
}

impl<'a> Cursor<'a> {
    /// Moves to the next word and returns the rest of its line; `None` at the end of the text.
    fn next(&mut self) -> Option<&'a str> {
        while let Some(line) = self.lines.get(self.line) {
            let rest = &line.text[self.column..];
            let word = rest.trim_start_matches(is_blank);
            if word.is_empty() {
                (self.line, self.column) = (self.line + 1, 0);
            } else {
                self.column += rest.len() - word.len();
                return Some(word);
            }
        }
        None
    }
}

/// The words in parentheses after the first `PlusCal options`.
fn arguments(lines: &[Line<'_>]) -> Option<Result<Vec<String>, String>> {
    let mut cursor = Cursor { lines, line: 0, column: 0 };
    loop {
        let word = cursor.next()?;
        cursor.column += word.find(is_blank).unwrap_or(word.len());
        // `PlusCals` is another word; `PlusCal1` and `PlusCal.` count.
        let named = word.strip_prefix("PlusCal");
        if named.is_none_or(|rest| rest.starts_with(|next: char| next.is_alphabetic() || next == '_')) {
            continue;
        }
        let Some(rest) = cursor.next()?.strip_prefix("options") else { continue };
        if !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_') {
            break;
        }
    }
    cursor.column += "options".len();
    if !cursor.next().is_some_and(|rest| rest.starts_with('(')) {
        return Some(Err("`PlusCal options` is not followed by `(`".into()));
    }
    cursor.column += 1;
    let mut found = Vec::new();
    loop {
        let Some(rest) = cursor.next() else { return Some(Err("`PlusCal options (` is not closed".into())) };
        if rest.starts_with(')') {
            return Some(Ok(found));
        }
        if rest.starts_with(',') {
            cursor.column += 1;
            continue;
        }
        let length = rest.find(|next| is_blank(next) || next == ',' || next == ')').unwrap_or(rest.len());
        found.push(rest[..length].to_owned());
        cursor.column += length;
    }
}

fn apply(arguments: &[String], settings: &mut Settings) -> Result<(), String> {
    let options = &mut settings.options;
    let mut fair = None;
    let mut arguments = arguments.iter().map(String::as_str);
    while let Some(argument) = arguments.next() {
        let name = argument.strip_prefix('-').unwrap_or(argument);
        let with_dash = name.len() < argument.len();
        let mut one_fairness = |which| match fair.replace(which) {
            None => Ok(()),
            Some(_) => Err("options: only one of `wf`, `sf`, `wfNext` and `nof` may be given".to_owned()),
        };
        match name {
            "wf" => one_fairness(Fair::Weak)?,
            "sf" => one_fairness(Fair::Strong)?,
            "wfNext" => one_fairness(Fair::Next)?,
            "nof" => one_fairness(Fair::None)?,
            "termination" => options.termination = true,
            "noDoneDisjunct" => options.no_done_disjunct = true,
            "label" => options.label = true,
            "labelRoot" => settings.label_root = label_prefix(arguments.next())?,
            "version" => settings.version = version(arguments.next(), options.compat)?,
            "lineWidth" if with_dash => {
                let width = arguments.next().and_then(|width| width.parse().ok()).filter(|width| *width >= 60);
                options.line_width = width.ok_or("options: expected a number from 60 after `-lineWidth`")?;
            }
            // These options are about files that this translator does not write.
            "noold" | "nocfg" if with_dash => {}
            _ => return Err(format!("options: unknown option `{argument}`")),
        }
        // In the loop: options before an invalid one have their effect.
        options.fair = fair.or(options.fair);
    }
    if options.termination && options.fair.is_none() {
        options.fair = Some(Fair::Weak);
    }
    Ok(())
}

fn label_prefix(argument: Option<&str>) -> Result<String, String> {
    let plain = |text: &str| {
        text.starts_with(|first: char| first.is_ascii_alphabetic())
            && text.chars().all(|next| next.is_ascii_alphanumeric() || next == '_')
    };
    let found = argument.filter(|root| plain(root)).map(str::to_owned);
    found.ok_or_else(|| "options: expected the beginning of a name after `labelRoot`".to_owned())
}

fn version(argument: Option<&str>, compat: Compat) -> Result<u32, String> {
    let wrong = || "options: expected a version of PlusCal after `version`".to_owned();
    let text = argument.ok_or_else(wrong)?;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.chars().all(|digit| digit.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || fraction.len() > 3 || whole.len() > 3 {
        return Err(wrong());
    }
    // The fraction is decimal: 1.11 is earlier than 1.5.
    let number: u32 = format!("0{whole}{fraction:0<3}").parse().map_err(|_| wrong())?;
    if number > latest(compat) {
        return Err(format!("options: the version {text} is later than the translator's"));
    }
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::lines;

    fn settings(text: &str) -> Settings {
        read_options(&lines(text), &Options { fair: Some(Fair::Next), ..Options::default() })
    }

    #[test]
    fn the_options_line_takes_precedence_over_the_given_options() {
        for (text, fair, warned) in [
            ("", Some(Fair::Next), false),
            ("PlusCal\toptions (wf)", Some(Fair::Weak), false),
            ("x PlusCal1\n\n options ( -sf )", Some(Fair::Strong), false),
            ("PlusCals options (wf)", Some(Fair::Next), false),
            ("PlusCal optionsx (wf)", Some(Fair::Next), false),
            ("a PlusCal is. PlusCal options(nof,label)", Some(Fair::None), false),
            ("PlusCal options wf", Some(Fair::Next), true),
            ("PlusCal options (wf", Some(Fair::Next), true),
            ("PlusCal options (wf sf)", Some(Fair::Weak), true),
            ("PlusCal options (foo wf)", Some(Fair::Next), true),
            ("PlusCal options ()", Some(Fair::Next), false),
        ] {
            let settings = settings(text);
            assert_eq!((settings.options.fair, !settings.warnings.is_empty()), (fair, warned), "{text}");
        }
    }

    #[test]
    fn each_option_is_read() {
        let read = settings("PlusCal options (termination -lineWidth 90, labelRoot step_ version 1.5 noDoneDisjunct)");
        assert!(read.warnings.is_empty(), "{:?}", read.warnings);
        assert_eq!((read.options.line_width, read.label_root.as_str(), read.version), (90, "step_", 1500));
        assert!(read.options.termination && read.options.no_done_disjunct && !read.options.label);
        for wrong in ["-lineWidth 59", "lineWidth 90", "labelRoot 1a", "labelRoot", "version 2.5", "version x", "nocfg"]
        {
            assert_eq!(settings(&format!("PlusCal options ({wrong})")).warnings.len(), 1, "{wrong}");
        }
    }

    #[test]
    fn termination_implies_fairness() {
        let read = |text: &str, options: &Options| read_options(&lines(text), options).options.fair;
        let options = Options { termination: true, ..Options::default() };
        assert_eq!(read("", &options), Some(Fair::Weak));
        assert_eq!(read("PlusCal options (sf)", &options), Some(Fair::Strong));
        assert_eq!(read("", &Options { fair: Some(Fair::None), ..options }), Some(Fair::None));
        assert_eq!(read("PlusCal options (termination)", &Options::default()), Some(Fair::Weak));
    }
}
