//! The whole way: from a module with an algorithm to the module with its translation in place.

use super::checksum;
use super::explode::{Control, explode, left_behind};
use super::generate::generate;
use super::names::Names;
use super::options::{Compat, Options};
use super::parse::{Parsed, parse};
use super::source::{Place, lines};
use crate::tla::Diagnostic;

/// A module with the translation of its algorithm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Translated {
    /// The whole module. Everything but the translation and its checksums is as it was, byte for byte.
    pub text: String,
    /// What the author may not expect, such as a name that was changed.
    pub warnings: Vec<String>,
}

/// The checksums of an algorithm and of its translation.
struct Sums {
    pcal: String,
    tla: String,
}

/// Translates the algorithm in the text of a module; `None` where there is none.
///
/// Errors are what is wrong with the algorithm, each with line and column in `text`.
pub fn translate(text: &str, options: &Options) -> Result<Option<Translated>, Vec<Diagnostic>> {
    let Some(parsed) = parse(text, options)? else { return Ok(None) };
    let Parsed { mut algorithm, options, place, mut warnings } = parsed;
    let translation = Names::resolve(&mut algorithm).and_then(|names| {
        let control = Control::of(&algorithm);
        let left = left_behind(&algorithm, control).map_err(|problem| vec![problem])?;
        let exploded = explode(&mut algorithm, control).map_err(|problem| vec![problem])?;
        warnings.extend(names.renamings.iter().map(|comment| comment.trim_start_matches("\\* ").to_owned()));
        let lines = generate(&algorithm, exploded, &names, control, &options).map_err(|problem| vec![problem])?;
        let sums = Sums { pcal: checksum::of_algorithm(&left), tla: checksum::of_lines(&lines) };
        Ok((lines, sums))
    });
    match translation {
        Ok((translation, sums)) => {
            let text = splice(text, &place, &translation, &sums, options.compat);
            Ok(Some(Translated { text, warnings }))
        }
        Err(mut problems) => {
            for problem in &mut problems {
                problem.line += hidden_before(text, &place, problem.line);
            }
            Err(problems)
        }
    }
}

/// How many lines of an earlier translation stand before a line that was counted without them.
fn hidden_before(text: &str, place: &Place, line: usize) -> usize {
    match place {
        Place::Block { begin, between } if line > lines(&text[..begin.end]).len() => {
            lines(&text[between.clone()]).len()
        }
        _ => 0,
    }
}

/// Puts a translation in its place.
fn splice(text: &str, place: &Place, translation: &[String], sums: &Sums, compat: Compat) -> String {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let body: String = translation.iter().flat_map(|line| [line.as_str(), end]).collect();
    match place {
        Place::Insert(at) => {
            let (before, after) = text.split_at(*at);
            let open = if before.is_empty() || before.ends_with(['\n', '\r']) { "" } else { end };
            let sums = match compat {
                Compat::Today => format!(" (chksum(pcal) = \"{}\" /\\ chksum(tla) = \"{}\")", sums.pcal, sums.tla),
                Compat::Y2020 => String::new(),
            };
            format!("{before}{open}\\* BEGIN TRANSLATION{sums}{end}{body}\\* END TRANSLATION {end}{after}")
        }
        Place::Block { begin, between } => {
            let close = text[between.end..].find(['\n', '\r']).map_or(text.len(), |length| between.end + length);
            let begun = marked(&text[begin.clone()], sums);
            let marker_end = &text[begin.end..between.start];
            let ended = unhashed(&text[between.end..close], "TLA-");
            format!("{}{begun}{marker_end}{body}{ended}{}", &text[..begin.start], &text[close..])
        }
    }
}

/// The line that begins a translation, with the checksums that it has made right. Those that it leaves open, by which
/// an author says that the module may be changed, stay open.
fn marked(line: &str, sums: &Sums) -> String {
    let Some(at) = line.find("TRANSLATION").map(|at| at + "TRANSLATION".len()) else { return line.to_owned() };
    let (marker, rest) = line.split_at(at);
    let inside = rest.trim_start().strip_prefix('(');
    let parts = inside.and_then(|inside| {
        let close = closing(inside)?;
        let (pcal, tla) = inside[..close].split_once("/\\").or_else(|| inside[..close].split_once('∧'))?;
        let is_sum = |text: &str| text.to_ascii_lowercase().contains("ksum(");
        (is_sum(pcal) && is_sum(tla)).then_some((pcal.trim(), tla.trim(), &inside[close + 1..]))
    });
    let Some((pcal, tla, after)) = parts else { return unhashed(line, "PCal-") };
    let sum = |part: &str, right: &str| match part.split_once('=') {
        Some((name, _)) => format!("{}= \"{right}\"", name),
        None => part.to_owned(),
    };
    format!("{marker} ({} /\\ {}){after}", sum(pcal, &sums.pcal), sum(tla, &sums.tla))
}

/// Where the parenthesis closes that is open at the start.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(at),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// A marker line without the hash that the translators of 2020 put there, which would be wrong now.
fn unhashed(line: &str, keyword: &str) -> String {
    let Some(at) = line.find(keyword) else { return line.to_owned() };
    let hash = line[at + keyword.len()..].chars().take_while(char::is_ascii_hexdigit).count();
    if hash == 0 {
        return line.to_owned();
    }
    let after = &line[at + keyword.len() + hash..];
    let before = line[..at].find(" - the hash of").map_or(&line[..at], |prose| &line[..prose]);
    format!("{before}{after}")
}
