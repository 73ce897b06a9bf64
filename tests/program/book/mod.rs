//! The README and the book agree with the program: what they claim, print, link to and generate.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

mod claims;
mod commands;
pub(crate) mod generated;
mod links;
mod outputs;

use std::path::PathBuf;

use crate::support::project;

/// The text of a file of the project.
fn read(path: &str) -> String {
    std::fs::read_to_string(project().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Every page of the book, relative to the project, without the table of contents.
fn pages() -> Vec<String> {
    let mut pages: Vec<String> = std::fs::read_dir(project().join("docs/src"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| PathBuf::from(name).extension().is_some_and(|x| x == "md") && name != "SUMMARY.md")
        .map(|name| format!("docs/src/{name}"))
        .collect();
    pages.sort();
    assert!(pages.len() > 20, "{pages:?}");
    pages
}

/// The lines of fenced blocks, each with the language of its block.
fn fenced(text: &str) -> Vec<(String, Vec<&str>)> {
    let mut blocks: Vec<(String, Vec<&str>)> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            if !inside {
                blocks.push((language.trim().to_owned(), Vec::new()));
            }
            inside = !inside;
        } else if inside {
            blocks.last_mut().unwrap().1.push(line);
        }
    }
    assert!(!inside, "a fenced block is not closed");
    blocks
}
