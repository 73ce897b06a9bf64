//! The whole way: from a module with an algorithm to the module with its translation in place.

use super::checksum;
use super::explode::{Control, explode};
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

/// Translates the algorithm in the text of a module; `None` where there is none.
///
/// Errors are what is wrong with the algorithm, each with line and column in `text`.
pub fn translate(text: &str, options: &Options) -> Result<Option<Translated>, Vec<Diagnostic>> {
    let Some(parsed) = parse(text, options)? else { return Ok(None) };
    let Parsed { mut algorithm, options, place, mut warnings } = parsed;
    let translation = Names::resolve(&mut algorithm).and_then(|names| {
        let control = Control::of(&algorithm);
        let exploded = explode(&mut algorithm, control).map_err(|problem| vec![problem])?;
        warnings.extend(names.renamings.iter().map(|comment| comment.trim_start_matches("\\* ").to_owned()));
        generate(&algorithm, exploded, &names, control, &options).map_err(|problem| vec![problem])
    });
    match translation {
        Ok(translation) => {
            let text = splice(text, &place, &translation, options.compat);
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
fn splice(text: &str, place: &Place, translation: &[String], compat: Compat) -> String {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let body: String = translation.iter().flat_map(|line| [line.as_str(), end]).collect();
    match place {
        Place::Insert(at) => {
            let (before, after) = text.split_at(*at);
            let open = if before.is_empty() || before.ends_with(['\n', '\r']) { "" } else { end };
            let sums = match compat {
                Compat::Today => format!(" {}", sums(translation)),
                Compat::Y2020 => String::new(),
            };
            format!("{before}{open}\\* BEGIN TRANSLATION{sums}{end}{body}\\* END TRANSLATION {end}{after}")
        }
        Place::Block { begin, between } => {
            let close = text[between.end..].find(['\n', '\r']).map_or(text.len(), |length| between.end + length);
            let begun = marked(&text[begin.clone()], translation);
            let marker_end = &text[begin.end..between.start];
            let ended = unhashed(&text[between.end..close], "TLA-");
            format!("{}{begun}{marker_end}{body}{ended}{}", &text[..begin.start], &text[close..])
        }
    }
}

/// What TLC reads of the algorithm and of the translation: the sum of the translation is given, that of the algorithm
/// left open.
fn sums(translation: &[String]) -> String {
    format!("(chksum(pcal) \\in STRING /\\ chksum(tla) = \"{}\")", checksum::of_lines(translation))
}

/// The line that begins a translation, with the checksums that it has made right.
fn marked(line: &str, translation: &[String]) -> String {
    let Some(at) = line.find("TRANSLATION").map(|at| at + "TRANSLATION".len()) else { return line.to_owned() };
    let (marker, rest) = line.split_at(at);
    let given = rest.trim_start();
    let Some(inside) = given.strip_prefix('(') else { return unhashed(line, "PCal-") };
    let Some(close) = closing(inside) else { return unhashed(line, "PCal-") };
    let (given, after) = inside.split_at(close);
    let lower = given.to_ascii_lowercase();
    if !lower.contains("ksum(") || !given.contains('=') {
        return line.to_owned();
    }
    format!("{marker} {}{}", sums(translation), &after[1..])
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
