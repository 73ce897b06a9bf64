//! What an informal specification says and no parser reads: the errors in its lists, and items that are elsewhere.

use super::assumptions::{is_assumption, read_assumptions};
use super::fixed_names::name_errors;
use super::list_items::{error, has_place};
use super::open_points::{is_open_point, read_open_points};
use super::outline::{Kind, OutlineLine, Section, outline};
use super::requirements::{ends_with_kind, is_requirement, read_requirements};
use super::scope::{other_concern_errors, out_of_scope_errors};

/// Every line of an informal specification that looks like an item and is not counted, each with the reason and the
/// required form.
pub fn unread_lines(informal: &str) -> Vec<String> {
    let lines = outline(informal);
    let mut errors = Vec::new();
    if !lines.iter().any(|line| line.section == Some(Section::Requirements)) {
        errors.push("there is no heading `## Requirements` above the requirements".to_owned());
    }
    errors.extend(lines.iter().filter_map(structure_error));
    errors.extend(other_concern_errors(informal));
    errors.extend(name_errors(informal));
    for read in [read_requirements(informal), read_open_points(informal), read_assumptions(informal)] {
        errors.extend(read.errors);
    }
    errors.extend(out_of_scope_errors(informal));
    errors
}

/// Lines of prose among the requirements, open points and assumptions, which count for nothing.
pub fn prose_among_items(informal: &str) -> Vec<String> {
    let read = [read_requirements(informal), read_open_points(informal), read_assumptions(informal)];
    read.into_iter().flat_map(|read| read.prose).collect()
}

/// A heading that cannot be read as one, or an item outside of the section for it.
fn structure_error(line: &OutlineLine<'_>) -> Option<String> {
    if let Some(why) = line.heading_error() {
        return Some(error(line.number, line.text, format!("{why}; write the heading in plain letters")));
    }
    // As a heading it would end its list, and count for nothing.
    if line.kind == Kind::Heading && has_place(line.text) {
        return Some(error(line.number, line.text, "it cites a place and is a heading; write an item of a list"));
    }
    if line.kind != Kind::Heading
        && let Some(section) = Section::named_by(line.text)
    {
        return Some(error(line.number, line.text, format!("write it as the heading `## {}`", section.title())));
    }
    // The lines of other lists are all items or errors already.
    let is_list = line.section.is_some() && line.kind == Kind::Text;
    let is_elsewhere = |section| line.section != Some(section) && !is_list;
    let has_kind = line.section.is_none() && line.kind == Kind::Text && ends_with_kind(line.text);
    let wanted = if has_kind || is_elsewhere(Section::Requirements) && is_requirement(line.text) {
        Section::Requirements
    } else if is_elsewhere(Section::OpenPoints) && is_open_point(line.text) {
        Section::OpenPoints
    } else if is_elsewhere(Section::Assumptions) && is_assumption(line.text) {
        Section::Assumptions
    } else {
        let is_hidden_scope = line.section.is_none() && line.kind != Kind::Text && is_scope_item(line.text);
        return is_hidden_scope.then(|| {
            error(line.number, line.text, "it is hidden; write it as a plain line below its heading, if it shall count")
        });
    };
    Some(error(line.number, line.text, format!("write it below the heading `## {}`", wanted.title())))
}

/// Whether a line of code or of a comment looks like one that declares something out of scope.
fn is_scope_item(line: &str) -> bool {
    let item = line.trim().trim_start_matches("<!--").trim().trim_start_matches(['-', '*', '+', ' ']);
    item.starts_with('[') && has_place(item)
}
