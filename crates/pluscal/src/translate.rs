//! Translates the algorithm of a module and inserts the translation into its text. This is the entry point of the
//! translator: it calls the parser, the renaming, the translation to actions and the generator in turn.

use super::after_translation::algorithm_after_translation;
use super::checksum;
use super::diagnostic::Diagnostic;
use super::explode::{ControlFlow, explode};
use super::generate::generate;
use super::names::Names;
use super::options::{Compat, Options};
use super::origin::{Line, Origins};
use super::parse::{Parsed, parse};
use super::source::{TranslationPlace, lines};

/// The result of [`translate`]: the new text of the module, and what to know about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Translated {
    /// The text of the module with the translation of its algorithm. Everything but the translation and its checksums is
    /// the same as before, byte for byte.
    pub text: String,
    /// Messages about decisions that the author may not expect, such as a renamed variable or an ignored option, in
    /// words for people. They name what they are about, but have no position.
    pub warnings: Vec<String>,
    /// For each token of the translation, its position in the algorithm.
    pub origins: Origins,
}

/// The checksums of an algorithm and of its translation.
struct Checksums {
    pcal: String,
    tla: String,
}

/// Stack size in bytes of the thread that translates. The deepest nesting that the parser accepts needs between 2 and
/// 4 MB without optimisation, and less than 1 MB with it.
const STACK_SIZE: usize = 16 << 20;

/// Translates the algorithm in the text of a module and inserts the translation, or replaces an earlier one, as
/// `pcal.trans` does. Returns `None` if the text contains no algorithm.
///
/// # Errors
/// What is wrong with the algorithm, each with its line and column in `text`: syntax errors, missing labels, names
/// declared twice, calls that do not fit, and limits on nesting and size.
///
/// Translation stops at the first error, with two exceptions: all missing labels are reported together, and so are all names
/// declared twice. Names and strings are ASCII; other characters are errors except in comments and, unless
/// [`Options::compat`] is [`Compat::Y2020`], as operators of TLA+ such as `∧` and `ℕ`.
///
/// # Examples
/// ```
/// use tlaforge_pluscal::{Options, translate};
///
/// let module = r#"---- MODULE Clock ----
/// EXTENDS Naturals
/// (* --algorithm Clock
/// variable hour = 0;
/// begin
/// tick: hour := (hour + 1) % 12;
/// end algorithm; *)
/// ====
/// "#;
/// let translated = translate(module, &Options::default()).unwrap().expect("the module contains an algorithm");
/// assert!(translated.text.contains("hour' = (hour + 1) % 12"));
/// assert!(translated.warnings.is_empty());
/// // A second translation replaces the first one.
/// assert_eq!(translate(&translated.text, &Options::default()).unwrap().unwrap().text, translated.text);
///
/// let problems = translate(&module.replace("tick: hour", "tick: minute"), &Options::default()).unwrap_err();
/// assert_eq!((problems[0].line, problems[0].column), (6, 7));
/// assert_eq!(problems[0].message, "assignment to `minute`, which is not declared");
/// assert_eq!(translate("---- MODULE Empty ----\n====\n", &Options::default()), Ok(None));
/// ```
pub fn translate(text: &str, options: &Options) -> Result<Option<Translated>, Vec<Diagnostic>> {
    let run = || translate_on_this_thread(text, options);
    std::thread::scope(|scope| match std::thread::Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, run) {
        Ok(handle) => handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        // No thread to be had: the stack of the caller suffices for all but the deepest algorithms.
        Err(_) => run(),
    })
}

fn translate_on_this_thread(text: &str, options: &Options) -> Result<Option<Translated>, Vec<Diagnostic>> {
    let Some(parsed) = parse(text, options)? else { return Ok(None) };
    let Parsed { mut algorithm, options, place, mut warnings } = parsed;
    let translation = Names::resolve(&mut algorithm).and_then(|names| {
        let control = ControlFlow::analyze(&algorithm);
        // Before `explode`, which takes the bodies out of the algorithm.
        let left = algorithm_after_translation(&algorithm, control).map_err(|problem| vec![problem])?;
        let exploded = explode(&mut algorithm, control).map_err(|problem| vec![problem])?;
        warnings.extend(names.renamings.iter().map(|comment| comment.trim_start_matches("\\* ").to_owned()));
        let lines = generate(&algorithm, exploded, &names, control, &options).map_err(|problem| vec![problem])?;
        let origin = |line: Line| ((!line.text.is_empty()).then_some(line.origins), line.text);
        let (origins, lines): (Vec<_>, Vec<String>) = lines.into_iter().map(origin).unzip();
        let checksums =
            Checksums { pcal: checksum::algorithm_checksum(&left), tla: checksum::translation_checksum(&lines) };
        Ok((lines, origins, checksums))
    });
    match translation {
        Ok((translation, mut origins, checksums)) => {
            for origin in origins.iter_mut().flatten().flatten() {
                origin.position.line += lines_hidden_before(text, &place, origin.position.line);
            }
            let before = match &place {
                // One more for the marker line, which a block already has.
                TranslationPlace::Insert(offset) => lines(&text[..*offset]).len() + 1,
                TranslationPlace::Block { between, .. } => lines(&text[..between.start]).len(),
            };
            let origins = Origins { first: before + 1, lines: origins };
            let text = insert_translation(text, &place, &translation, &checksums, options.compat);
            Ok(Some(Translated { text, warnings, origins }))
        }
        Err(mut problems) => {
            for problem in &mut problems {
                problem.line += lines_hidden_before(text, &place, problem.line);
            }
            Err(problems)
        }
    }
}

/// How many lines of the earlier translation come before a line that was counted without them.
fn lines_hidden_before(text: &str, place: &TranslationPlace, line: usize) -> usize {
    match place {
        TranslationPlace::Block { begin, between } if line > lines(&text[..begin.end]).len() => {
            lines(&text[between.clone()]).len()
        }
        _ => 0,
    }
}

/// The text of the module with the translation in place.
fn insert_translation(
    text: &str,
    place: &TranslationPlace,
    translation: &[String],
    checksums: &Checksums,
    compat: Compat,
) -> String {
    // All lines of the translation end as those of the module.
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let body: String = translation.iter().flat_map(|line| [line.as_str(), end]).collect();
    match place {
        TranslationPlace::Insert(offset) => {
            let (before, after) = text.split_at(*offset);
            let open = if before.is_empty() || before.ends_with(['\n', '\r']) { "" } else { end };
            let checksums = match compat {
                Compat::Today => {
                    format!(" (chksum(pcal) = \"{}\" /\\ chksum(tla) = \"{}\")", checksums.pcal, checksums.tla)
                }
                Compat::Y2020 => String::new(),
            };
            // The blank at the end of the last marker line is the reference's.
            format!("{before}{open}\\* BEGIN TRANSLATION{checksums}{end}{body}\\* END TRANSLATION {end}{after}")
        }
        TranslationPlace::Block { begin, between } => {
            let close = text[between.end..].find(['\n', '\r']).map_or(text.len(), |length| between.end + length);
            let begin_line = update_marker(&text[begin.clone()], checksums);
            let marker_end = &text[begin.end..between.start];
            let end_line = remove_old_hash(&text[between.end..close], "TLA-");
            format!("{}{begin_line}{marker_end}{body}{end_line}{}", &text[..begin.start], &text[close..])
        }
    }
}

/// The line that begins a translation, with its checksums updated. A checksum without a value (`\in STRING`) stays
/// unchanged: it is the author's way to allow changes of the module.
fn update_marker(line: &str, checksums: &Checksums) -> String {
    let Some(offset) = line.find("TRANSLATION").map(|offset| offset + "TRANSLATION".len()) else {
        return line.to_owned();
    };
    let (marker, rest) = line.split_at(offset);
    let inside = rest.trim_start().strip_prefix('(');
    let parts = inside.and_then(|inside| {
        let close = find_closing_parenthesis(inside)?;
        let (pcal, tla) = inside[..close].split_once("/\\").or_else(|| inside[..close].split_once('∧'))?;
        // In any case of letters, `chksum(` as well as `checksum(`.
        let is_sum = |text: &str| text.to_ascii_lowercase().contains("ksum(");
        (is_sum(pcal) && is_sum(tla)).then_some((pcal.trim(), tla.trim(), &inside[close + 1..]))
    });
    let Some((pcal, tla, after)) = parts else { return remove_old_hash(line, "PCal-") };
    let sum = |part: &str, right: &str| match part.split_once('=') {
        Some((name, _)) => format!("{name}= \"{right}\""),
        None => part.to_owned(),
    };
    format!("{marker} ({} /\\ {}){after}", sum(pcal, &checksums.pcal), sum(tla, &checksums.tla))
}

/// The offset of the parenthesis that closes one opened before `text`.
fn find_closing_parenthesis(text: &str) -> Option<usize> {
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

/// A marker line without the hash that translators of 2020 wrote, which would be wrong now.
fn remove_old_hash(line: &str, keyword: &str) -> String {
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
    fn the_translation_is_inserted_after_the_comment_and_all_else_stays() {
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
    fn the_marker_keeps_the_text_of_its_author_and_loses_an_outdated_hash() {
        let checksums = Checksums { pcal: "1a".into(), tla: "2b".into() };
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
            assert_eq!(update_marker(line, &checksums), wanted);
        }
    }

    #[test]
    fn the_line_of_an_error_counts_an_earlier_translation() {
        let text =
            format!("\\* BEGIN TRANSLATION\nold\nold\n\\* END TRANSLATION\n{}", ALGORITHM.replace("x :=", "y :="));
        let problems = translate(&text, &Options::default()).unwrap_err();
        assert_eq!((problems[0].line, problems[0].column), (8, 4));
    }
}
