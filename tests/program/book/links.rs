//! Links between pages, their anchors, the table of contents, and the files that the architecture names.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use crate::book::{pages, read};
use crate::support::project;

/// The text of a page with its `{{#include FILE}}` replaced, as mdBook does.
fn expanded(path: &str) -> String {
    let text = read(path);
    let mut lines = Vec::new();
    for line in text.lines() {
        match line.strip_prefix("{{#include ").and_then(|rest| rest.strip_suffix("}}")) {
            Some(file) => {
                let file = project().join(path).parent().unwrap().join(file);
                lines.push(std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display())));
            }
            None => lines.push(line.to_owned()),
        }
    }
    lines.join("\n")
}

/// Lines outside of fenced blocks.
fn prose(text: &str) -> Vec<&str> {
    let mut inside = false;
    text.lines()
        .filter(|line| {
            let fence = line.trim_start().starts_with("```");
            inside ^= fence;
            !inside && !fence
        })
        .collect()
}

/// A line without its code spans.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("")
}

/// The targets of the inline links of a page. A link may be broken across lines, but its target may not.
fn targets(text: &str) -> Vec<String> {
    let text: Vec<String> = prose(text).into_iter().map(without_code).collect();
    let text = text.join("\n");
    text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target.to_owned()).collect()
}

/// The anchors of the headings, by the rule that GitHub and mdBook share.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let headings = prose(text).into_iter().filter(|l| l.starts_with('#')).map(|l| l.trim_start_matches('#').trim());
    headings
        .map(|heading| {
            let slug: String = heading
                .chars()
                .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
                .map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() })
                .collect();
            let count = seen.entry(slug.clone()).or_default();
            *count += 1;
            if *count == 1 { slug } else { format!("{slug}-{}", *count - 1) }
        })
        .collect()
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let mut files = pages();
    files.extend(
        ["README.md", "CHANGELOG.md", "evals/README.md", "exemplars/README.md", "docs/src/SUMMARY.md"]
            .map(str::to_owned),
    );
    for crate_folder in std::fs::read_dir(project().join("crates")).unwrap() {
        files.push(format!("crates/{}/README.md", crate_folder.unwrap().file_name().to_str().unwrap()));
    }
    let book = project().join("docs/src").canonicalize().unwrap();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for file in files {
        let text = expanded(&file);
        for target in targets(&text).into_iter().filter(|t| !t.contains("://") && !t.starts_with("mailto:")) {
            count += 1;
            let (path, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let linked = if path.is_empty() {
                project().join(&file)
            } else {
                project().join(&file).parent().unwrap().join(path)
            };
            let Ok(linked) = linked.canonicalize() else {
                wrong.push(format!("{file}: {target}: no such file"));
                continue;
            };
            if file.starts_with("docs/src") && !linked.starts_with(&book) {
                wrong.push(format!("{file}: {target}: outside of the book"));
            }
            if !anchor.is_empty() && !anchors(&expanded(&relative(&linked))).contains(anchor) {
                wrong.push(format!("{file}: {target}: no such heading"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count > 80, "only {count} links were seen: the test has gone blind");
}

fn relative(path: &Path) -> String {
    path.strip_prefix(project().canonicalize().unwrap()).unwrap().to_str().unwrap().to_owned()
}

#[test]
fn the_table_of_contents_lists_every_page_once() {
    let mut listed: Vec<String> =
        targets(&read("docs/src/SUMMARY.md")).iter().map(|target| format!("docs/src/{target}")).collect();
    listed.sort();
    assert_eq!(listed, pages());
}

#[test]
fn every_file_that_the_architecture_names_exists() {
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in ["src", "crates", "tests", "docs", "evals", "scripts"] {
        let walk = walkdir::WalkDir::new(project().join(folder)).into_iter().map(Result::unwrap);
        files.extend(walk.map(walkdir::DirEntry::into_path));
    }
    let page = prose(&read("docs/src/architecture.md")).join("\n");
    let spans = page.split('`').skip(1).step_by(2);
    // Files of a run folder, and placeholders.
    let named = spans.filter(|s| !s.contains([' ', '*', '<', '{']) && !["informal_spec.md", "review.md"].contains(s));
    let (mut count, mut missing) = (0, Vec::new());
    for name in named {
        let is_file = [".rs", ".toml", ".md"].iter().any(|end| name.ends_with(end));
        let is_folder = ["src/", "crates/", "tests/", "docs/"].iter().any(|start| name.starts_with(start));
        if is_file || is_folder {
            count += 1;
            if !files.iter().any(|file| file.ends_with(name)) {
                missing.push(name.to_owned());
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(count > 80, "only {count} files were seen: the test has gone blind");
}
