//! What a run found, as findings: each violated property at its definition, and the lines of the documents that its broken
//! requirements cite.

use std::path::Path;

use super::check_findings::violations;
use super::findings::{FileLine, Finding, Findings, Level};
use super::run_explanation::{broken_requirements, shown_revisions};
use super::text::heading;
use crate::files::Sha;
use crate::pipeline::{Outcome, RunView, ViolationJudgement};

/// `docs` is the document or the folder of documents that the user named. `read` reads a file, `None` if it cannot.
pub fn run_findings(view: &RunView, root: &Path, docs: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Findings {
    let mut list = Vec::new();
    for revision in shown_revisions(view) {
        let Some(check) = &revision.check else { continue };
        let name = format!("{}.tla", revision.module_name());
        let kept = root.join(format!("history/rev_{}", revision.revision)).join(&name);
        let paths = [kept, root.join(&name)];
        let found = paths.into_iter().find_map(|path| Some((read(&path)?, path)));
        let (text, path) = found.unwrap_or_else(|| (String::new(), root.join(&name)));
        for violation in view.judged_violations(revision) {
            let Some(focused) = check.focused_on(&violation.property) else { continue };
            let Some(mut finding) = violations(&focused, &path.display().to_string(), &text, &[]).into_iter().next()
            else {
                continue;
            };
            let broken = broken_requirements(view, revision, &violation.property);
            let ids: Vec<String> = broken
                .iter()
                .map(|requirement| match &requirement.place {
                    Some(place) => format!("{} ({place})", requirement.id),
                    None => requirement.id.clone(),
                })
                .collect();
            let rule = match violation.judgement {
                ViolationJudgement::Flaw { .. } => "flaw",
                ViolationJudgement::Ambiguity { .. } => "ambiguity",
                _ => "violated",
            };
            rule.clone_into(&mut finding.rule);
            let breaks = if ids.is_empty() { String::new() } else { format!(", breaks {}", ids.join(", ")) };
            finding.message = format!("{}{breaks}: {}", finding.message, violation.judgement.words());
            let cited = broken.iter().filter_map(|r| r.place.as_deref()).flat_map(cited_lines);
            finding.places.extend(cited.filter_map(|place| in_original(view, &place, docs, read)));
            list.push(finding);
        }
    }
    let approved = view
        .finished
        .as_ref()
        .is_some_and(|finished| matches!(finished.outcome, Outcome::Approved | Outcome::ApprovedRepaired));
    if list.is_empty() && !approved {
        let why = view.finished.as_ref().map_or("it is not finished", |finished| finished.why.as_str());
        list.push(Finding::new("not-approved", Level::Error, format!("{}: {why}", heading(view))));
    }
    Findings { command: "tlaforge run".to_owned(), summary: heading(view), list }
}

/// The same line in the file that the user named, by which the run knows it as `docs/…`; `None` if that file is not found or
/// has changed since.
fn in_original(
    view: &RunView,
    place: &FileLine,
    docs: &Path,
    read: &dyn Fn(&Path) -> Option<String>,
) -> Option<FileLine> {
    let name = place.file.strip_prefix("docs/")?;
    let document = view.settings.docs.iter().find(|document| document.path == name)?;
    let path = [docs.join(name), docs.to_owned()]
        .into_iter()
        .find(|path| read(path).is_some_and(|text| Sha::digest(text) == document.sha))?;
    Some(FileLine { file: path.display().to_string(), line: place.line })
}

/// The first line of each place, such as `docs/swap.md:12-14, 20, docs/rest.md:9`.
fn cited_lines(place: &str) -> Vec<FileLine> {
    let mut found: Vec<FileLine> = Vec::new();
    for part in place.split(',').map(str::trim) {
        let (file, lines) = match (part.rsplit_once(':'), found.last()) {
            (Some((file, lines)), _) => (file.to_owned(), lines),
            (None, Some(before)) => (before.file.clone(), part),
            (None, None) => continue,
        };
        let digits = lines.trim_start_matches(|c: char| !c.is_ascii_digit());
        let digits = digits.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
        if let Ok(line) = digits.parse() {
            found.push(FileLine::new(file.trim_matches('`'), line));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cited_place_has_its_file_and_first_line() {
        let place = |file: &str, line| FileLine::new(file, line);
        let (a, b) = ("docs/a.md", "docs/b.md");
        assert_eq!(cited_lines("docs/a.md:3-5, 9, docs/b.md:2"), [place(a, 3), place(a, 9), place(b, 2)]);
        assert_eq!(cited_lines("the introduction"), []);
    }
}
