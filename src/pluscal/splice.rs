//! The whole way: from a module with an algorithm to the module with its translation in place.

use super::checksum;
use super::explode::{Control, explode};
use super::generate::generate;
use super::left_behind::left_behind;
use super::names::Names;
use super::options::{Compat, Options};
use super::origin::{Line, Origins};
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
    /// Where the translation comes from.
    pub origins: Origins,
}

/// The checksums of an algorithm and of its translation.
struct Sums {
    pcal: String,
    tla: String,
}

/// The stack of the thread that a translation runs in. The deepest nesting that the parser lets through took between
/// 2 and 4 MB without optimisation, under 1 MB with it.
const STACK: usize = 16 << 20;

/// Translates the algorithm in the text of a module; `None` where there is none.
///
/// Errors are what is wrong with the algorithm, each with line and column in `text`.
pub fn translate(text: &str, options: &Options) -> Result<Option<Translated>, Vec<Diagnostic>> {
    let here = || translate_here(text, options);
    std::thread::scope(|scope| match std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, here) {
        Ok(handle) => handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        Err(_) => here(),
    })
}

fn translate_here(text: &str, options: &Options) -> Result<Option<Translated>, Vec<Diagnostic>> {
    let Some(parsed) = parse(text, options)? else { return Ok(None) };
    let Parsed { mut algorithm, options, place, mut warnings } = parsed;
    let translation = Names::resolve(&mut algorithm).and_then(|names| {
        let control = Control::of(&algorithm);
        let left = left_behind(&algorithm, control).map_err(|problem| vec![problem])?;
        let exploded = explode(&mut algorithm, control).map_err(|problem| vec![problem])?;
        warnings.extend(names.renamings.iter().map(|comment| comment.trim_start_matches("\\* ").to_owned()));
        let lines = generate(&algorithm, exploded, &names, control, &options).map_err(|problem| vec![problem])?;
        let origin = |line: Line| ((!line.text.is_empty()).then_some(line.origins), line.text);
        let (origins, lines): (Vec<_>, Vec<String>) = lines.into_iter().map(origin).unzip();
        let sums = Sums { pcal: checksum::of_algorithm(&left), tla: checksum::of_lines(&lines) };
        Ok((lines, origins, sums))
    });
    match translation {
        Ok((translation, mut origins, sums)) => {
            for origin in origins.iter_mut().flatten().flatten() {
                origin.position.line += hidden_before(text, &place, origin.position.line);
            }
            let before = match &place {
                Place::Insert(offset) => lines(&text[..*offset]).len() + 1,
                Place::Block { between, .. } => lines(&text[..between.start]).len(),
            };
            let origins = Origins { first: before + 1, lines: origins };
            let text = splice(text, &place, &translation, &sums, options.compat);
            Ok(Some(Translated { text, warnings, origins }))
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
        Place::Insert(offset) => {
            let (before, after) = text.split_at(*offset);
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
    let Some(offset) = line.find("TRANSLATION").map(|offset| offset + "TRANSLATION".len()) else {
        return line.to_owned();
    };
    let (marker, rest) = line.split_at(offset);
    let inside = rest.trim_start().strip_prefix('(');
    let parts = inside.and_then(|inside| {
        let close = closing(inside)?;
        let (pcal, tla) = inside[..close].split_once("/\\").or_else(|| inside[..close].split_once('∧'))?;
        let is_sum = |text: &str| text.to_ascii_lowercase().contains("ksum(");
        (is_sum(pcal) && is_sum(tla)).then_some((pcal.trim(), tla.trim(), &inside[close + 1..]))
    });
    let Some((pcal, tla, after)) = parts else { return unhashed(line, "PCal-") };
    let sum = |part: &str, right: &str| match part.split_once('=') {
        Some((name, _)) => format!("{name}= \"{right}\""),
        None => part.to_owned(),
    };
    format!("{marker} ({} /\\ {}){after}", sum(pcal, &sums.pcal), sum(tla, &sums.tla))
}

/// Where the parenthesis closes that is open at the start.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (offset, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(offset),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// A marker line without the hash that the translators of 2020 put there, which would be wrong now.
fn unhashed(line: &str, keyword: &str) -> String {
    let Some(offset) = line.find(keyword) else { return line.to_owned() };
    let hash = line[offset + keyword.len()..].chars().take_while(char::is_ascii_hexdigit).count();
    if hash == 0 {
        return line.to_owned();
    }
    let after = &line[offset + keyword.len() + hash..];
    let before = line[..offset].find(" - the hash of").map_or(&line[..offset], |prose| &line[..prose]);
    format!("{before}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALGORITHM: &str = "(* --algorithm A\nvariable x = 0;\nbegin\na: x := 1;\nend algorithm; *)\n";

    fn translated(text: &str, compat: Compat) -> String {
        translate(text, &Options { compat, ..Options::default() }).unwrap().unwrap().text
    }

    #[test]
    fn a_module_without_an_algorithm_is_left_alone() {
        assert_eq!(translate("---- MODULE A ----\n====\n", &Options::default()), Ok(None));
    }

    #[test]
    fn a_block_is_put_after_the_comment_and_all_else_stays() {
        let found = translated(&format!("before\n{ALGORITHM}after, no line end"), Compat::Today);
        let (head, rest) = found.split_once("\\* BEGIN TRANSLATION ").unwrap();
        assert_eq!(head, format!("before\n{ALGORITHM}"));
        assert!(rest.starts_with("(chksum(pcal) = \""), "{rest}");
        assert!(rest.ends_with("\n\\* END TRANSLATION \nafter, no line end"), "{rest}");
        let old = translated(ALGORITHM, Compat::Y2020);
        assert!(old.starts_with(&format!("{ALGORITHM}\\* BEGIN TRANSLATION\nVARIABLES x, pc\n")), "{old}");
    }

    #[test]
    fn a_translation_is_replaced_and_translating_again_changes_nothing() {
        let once = translated(ALGORITHM, Compat::Today);
        assert_eq!(translated(&once, Compat::Today), once);
        let edited = once.replace("x' = 1", "x' = 2").replace("chksum(tla) = \"", "chksum(tla) = \"0");
        assert_eq!(translated(&edited, Compat::Today), once);
    }

    #[test]
    fn line_ends_are_those_of_the_module() {
        let once = translated(&ALGORITHM.replace('\n', "\r\n"), Compat::Today);
        assert_eq!(once.replace("\r\n", "\n"), translated(ALGORITHM, Compat::Today));
        assert!(!once.replace("\r\n", "").contains('\n'));
    }

    #[test]
    fn the_marker_keeps_what_its_author_wrote_and_loses_what_would_be_wrong() {
        let sums = Sums { pcal: "1a".into(), tla: "2b".into() };
        let open = "\\* BEGIN TRANSLATION (chksum(pcal) \\in STRING /\\ chksum(tla) \\in STRING)";
        for (line, wanted) in [
            ("\\* BEGIN TRANSLATION", "\\* BEGIN TRANSLATION"),
            ("\\* BEGIN TRANSLATION my note", "\\* BEGIN TRANSLATION my note"),
            (open, open),
            (
                "  \\* BEGIN TRANSLATION  (ChkSum(pcal) = \"ff\" /\\ checksum(tla+) \\in STRING) note",
                "  \\* BEGIN TRANSLATION (ChkSum(pcal) = \"1a\" /\\ checksum(tla+) \\in STRING) note",
            ),
            (
                "\\* BEGIN TRANSLATION - the hash of the PCal code: PCal-9bf262564755400fe95f73f1361e8f56",
                "\\* BEGIN TRANSLATION",
            ),
        ] {
            assert_eq!(marked(line, &sums), wanted);
        }
    }

    #[test]
    fn an_error_is_counted_in_the_text_as_it_is() {
        let text =
            format!("\\* BEGIN TRANSLATION\nold\nold\n\\* END TRANSLATION\n{}", ALGORITHM.replace("x :=", "y :="));
        let problems = translate(&text, &Options::default()).unwrap_err();
        assert_eq!((problems[0].line, problems[0].column), (8, 4));
    }
}
