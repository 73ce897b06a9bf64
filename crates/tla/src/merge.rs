//! Inserts generated definitions into a module. It works on the parsed module, so that a definition never ends up in a
//! comment, after the module's end, or next to a definition of the same name.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::cfg::Cfg;
use super::covers::comments_without_effect;
use super::definition::Definition;
use super::diagnostic::{Diagnostic, Stage};
use super::layout::column_of;
use super::lexer::lex;
use super::module::{Module, ModuleError, quote, with_extended};
use super::semantic::exported_names;
use super::units::find_modules;

/// The four sections of a model's answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sections<'a> {
    /// Definitions of invariants, and helper definitions.
    pub invariants: &'a str,
    /// Definitions of temporal properties, and helper definitions.
    pub properties: &'a str,
    /// Definitions of witnesses, and helper definitions.
    pub witnesses: &'a str,
    /// The text of the configuration.
    pub cfg: &'a str,
}

/// The result of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The whole text, including prose around the module.
    pub text: String,
    /// The parsed configuration of the answer.
    pub cfg: Cfg,
    /// Names that are new in the module.
    pub added: Vec<String>,
    /// Names whose definition in the module was replaced.
    pub replaced: Vec<String>,
    /// The PlusCal comment changed, so the translation is out of date.
    pub algorithm_changed: bool,
}

/// A definition of the answer.
struct Given {
    name: String,
    /// Its RECURSIVE declaration, comment and definition.
    text: String,
    references: BTreeSet<String>,
}

/// Names that the translation of an algorithm defines.
pub(crate) const TRANSLATED: &[&str] = &["Init", "Next", "ProcSet", "Spec", "Termination", "vars"];

/// Merges the sections into the first module of a text.
///
/// A definition is inserted before the module's end. If the module already has one of that name, the old one is removed;
/// if other text of the module refers to the old one, the new one takes its position instead, together with the
/// definitions of the answer that it needs.
pub fn merge(text: &str, sections: &Sections<'_>) -> Result<Merged, Vec<Diagnostic>> {
    let module = Module::parse(text).map_err(|error: ModuleError| vec![problem_without_position(error.to_string())])?;
    let mut problems = Vec::new();
    let (mut given, mut without_effect): (Vec<Given>, Vec<Diagnostic>) = (Vec::new(), Vec::new());
    let cfg = Cfg::parse(sections.cfg);
    for (section, text) in
        [("invariants", sections.invariants), ("properties", sections.properties), ("witnesses", sections.witnesses)]
    {
        without_effect.extend(read_section(section, text, cfg.as_ref().ok(), &mut given, &mut problems));
    }
    let cfg = cfg.map_err(|problem| problems.push(problem)).unwrap_or_default();
    let unclear = Cfg::unclear_covers(sections.cfg).into_iter();
    problems.extend(unclear.map(|(offset, message)| problem_in("cfg", sections.cfg, offset, &message)));
    // A name in the configuration that nothing defines is reported later, and is perhaps a slip for the covering one.
    let is_defined = |name: &String| {
        let inside = module.algorithm.as_ref().is_some_and(|algorithm| algorithm.definition(name).is_some());
        inside || module.definition(name).is_some() || given.iter().any(|given| given.name == *name)
    };
    if cfg.invariants.iter().chain(&cfg.properties).all(is_defined) {
        problems.extend(without_effect);
    }
    check_names(&module, &given, &mut problems);
    let Some(terminator) = module.terminator.clone() else {
        problems.push(module.diagnostic(
            Stage::Merge,
            module.range.end,
            format!("module {} has no end: no line `====` closes it", module.name),
        ));
        return Err(problems);
    };
    if !problems.is_empty() {
        return Err(problems);
    }
    let names: BTreeSet<&str> = given.iter().map(|given| given.name.as_str()).collect();
    let plan = Plan::new(&module, &given, &names);
    let replaced: Vec<String> =
        given.iter().filter(|given| module.definition(&given.name).is_some()).map(|g| g.name.clone()).collect();
    let added = given.iter().map(|given| given.name.clone()).filter(|name| !replaced.contains(name)).collect();
    let text = apply(&module, &plan, &given, &terminator);
    let text = match missing_modules(&module, &given) {
        missing if missing.is_empty() => text,
        missing => with_extended(&text, missing).unwrap_or(text),
    };
    Ok(Merged { text, cfg, added, replaced, algorithm_changed: plan.algorithm_changed })
}

fn problem_without_position(message: String) -> Diagnostic {
    Diagnostic { stage: Stage::Merge, line: 0, column: 0, message }
}

fn problem_in(section: &str, text: &str, offset: usize, message: &str) -> Diagnostic {
    Diagnostic::at(Stage::Merge, text, offset.min(text.len()), format!("section {section}: {message}"))
}

/// Parses one section inside a scratch module. Positions of problems are those in the section. Returns the comments on
/// covered requirements that have no effect.
fn read_section(
    section: &str,
    text: &str,
    cfg: Option<&Cfg>,
    given: &mut Vec<Given>,
    problems: &mut Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    const HEADER: &str = "---- MODULE Scratch ----\n";
    let problem_at =
        |offset: usize, message: String| problem_in(section, text, offset.saturating_sub(HEADER.len()), &message);
    if let Some(found) = find_modules(text).first() {
        problems.push(problem_at(
            HEADER.len() + found.range.start,
            format!("a whole module ({}) where definitions alone are wanted", found.name),
        ));
        return Vec::new();
    }
    let scratch = format!("{HEADER}{text}\n====");
    let Ok(module) = Module::parse(&scratch) else { return Vec::new() };
    let ends_early = module.terminator.as_ref().is_none_or(|terminator| terminator.end != scratch.len());
    if ends_early {
        let offset = module.terminator.as_ref().map_or(scratch.len(), |terminator| terminator.start);
        let message = match module.terminator {
            Some(_) => "`====` ends a module; definitions alone are wanted",
            None => "a comment is not closed",
        };
        problems.push(problem_at(offset, message.to_owned()));
        return Vec::new();
    }
    let mut wrong: Vec<Range<usize>> = module.stray.clone();
    wrong.extend(module.other_units.iter().cloned());
    if let Some(algorithm) = &module.algorithm {
        wrong.push(algorithm.range.clone());
    }
    for range in wrong {
        problems.push(problem_at(range.start, format!("not a definition: {}", quote(&scratch[range.clone()]))));
    }
    for definition in module.definitions.iter().filter(|definition| definition.has_syntax_errors) {
        let (place, wording) = definition
            .tree
            .errors
            .first()
            .map_or((definition.code.start, "not TLA+ syntax"), |(range, wording)| (range.start, wording.as_str()));
        let line = scratch[place..].lines().next().unwrap_or("");
        let line = if line.trim().is_empty() { definition.text.as_str() } else { line };
        problems
            .push(problem_at(place, format!("in the definition of {}: {wording}: {}", definition.name, quote(line))));
    }
    let tokens = lex(&scratch, 0..scratch.len());
    let without_effect = cfg.map(|cfg| comments_without_effect(&module, &tokens, cfg)).unwrap_or_default();
    let without_effect = without_effect.into_iter().map(|(offset, message)| problem_at(offset, message)).collect();
    for definition in module.definitions {
        if given.iter().any(|known| known.name == definition.name) {
            problems
                .push(problem_at(definition.code.start, format!("{} is defined twice in the answer", definition.name)));
            continue;
        }
        let declared = module.recursive_units.iter().filter(|(names, _)| names.contains(&definition.name));
        let mut whole = String::new();
        for (_, range) in declared {
            whole.push_str(&scratch[range.clone()]);
            whole.push('\n');
        }
        // The columns of a bulleted list have meaning, so the first line keeps its indent.
        whole.push_str(&" ".repeat(column_of(&scratch, definition.range.start)));
        whole.push_str(&definition.text);
        given.push(Given { name: definition.name, text: whole, references: definition.references.names });
    }
    without_effect
}

fn check_names(module: &Module, given: &[Given], problems: &mut Vec<Diagnostic>) {
    let variables = module.variable_names();
    for given in given {
        let name = given.name.as_str();
        if variables.contains(name) {
            problems
                .push(problem_without_position(format!("{name} is a variable of the module and cannot be defined")));
        } else if module.constants.iter().any(|constant| constant.name == name) {
            problems
                .push(problem_without_position(format!("{name} is a constant of the module and cannot be defined")));
        } else if let Some(algorithm) = &module.algorithm {
            let label = algorithm.labels.iter().any(|label| label.name == name);
            let translated = module.definition(name).is_some_and(|old| module.in_translation(old.code.start));
            let own = algorithm.definition(name).is_some() || (module.definition(name).is_some() && !translated);
            if !own && (TRANSLATED.contains(&name) || label || translated) {
                problems.push(problem_without_position(format!(
                    "{name} is made by the translation of the algorithm: choose another name"
                )));
            }
        }
    }
}

/// Where each definition of the answer goes, and what is removed.
#[derive(Default)]
struct Plan {
    /// By byte offset, the definitions of the answer (their indices, in order) that are inserted there.
    placed: BTreeMap<usize, Vec<usize>>,
    /// The definitions of the answer that are inserted at the end of the module.
    at_end: Vec<usize>,
    removed: Vec<Range<usize>>,
    algorithm_changed: bool,
}

impl Plan {
    fn new(module: &Module, given: &[Given], names: &BTreeSet<&str>) -> Self {
        let mut plan = Self::default();
        let mut targets: Vec<Option<usize>> = vec![None; given.len()];
        // Sorted by position below, so that a definition which several of them need is inserted before the first.
        let mut pinned: Vec<(usize, usize)> = Vec::new();
        for (index, given) in given.iter().enumerate() {
            let (outside, inside) = old_definitions(module, &given.name);
            if let Some(old) = inside {
                plan.algorithm_changed = true;
                if module.algorithm.as_ref().is_some_and(|a| is_needed(module, &a.mentions, &given.name))
                    || is_still_referenced_inside(module, names, old)
                {
                    pinned.push((old.range.start, index));
                }
            } else if let Some(old) = outside.first()
                && is_still_referenced(module, names, &given.name)
            {
                pinned.push((old.range.start, index));
            }
            for old in outside.iter().copied().chain(inside) {
                plan.removed.push(range_with_declaration(module, old));
            }
        }
        pinned.sort_unstable();
        for (place, index) in pinned {
            for needed in with_dependencies(given, index) {
                if targets[needed].is_none() {
                    targets[needed] = Some(place);
                    plan.placed.entry(place).or_default().push(needed);
                }
            }
        }
        plan.at_end = (0..given.len()).filter(|index| targets[*index].is_none()).collect();
        plan.drop_empty_define(module);
        plan
    }

    /// Removes a `define` block that would become empty, because PlusCal does not allow an empty one.
    fn drop_empty_define(&mut self, module: &Module) {
        let Some(algorithm) = &module.algorithm else { return };
        let Some(define) = &algorithm.define else { return };
        let is_removed =
            |definition: &Definition| self.removed.iter().any(|range| range.contains(&definition.code.start));
        let has_insertions = self.placed.keys().any(|place| define.contains(place));
        if !has_insertions && !algorithm.definitions.is_empty() && algorithm.definitions.iter().all(is_removed) {
            self.removed.push(define.clone());
        }
    }
}

/// The definitions of this name outside and inside the algorithm.
fn old_definitions<'a>(module: &'a Module, name: &str) -> (Vec<&'a Definition>, Option<&'a Definition>) {
    let outside = module.definitions.iter().filter(|definition| definition.name == name).collect();
    (outside, module.algorithm.as_ref().and_then(|algorithm| algorithm.definition(name)))
}

/// The range of a definition, including a RECURSIVE declaration directly before it that declares nothing else.
fn range_with_declaration(module: &Module, definition: &Definition) -> Range<usize> {
    let declared = module.recursive_units.iter().find(|(names, range)| {
        names.len() == 1
            && names[0] == definition.name
            && range.end <= definition.range.start
            && module.source[range.end..definition.range.start].trim().is_empty()
    });
    declared.map_or(definition.range.start, |(_, range)| range.start)..definition.range.end
}

/// Whether a name that the algorithm mentions is this definition or depends on it.
fn is_needed(module: &Module, mentions: &BTreeSet<String>, name: &str) -> bool {
    mentions.contains(name)
        || mentions.iter().any(|mention| {
            module.algorithm.as_ref().is_some_and(|a| a.definition(mention).is_some())
                && module.closure(mention).contains(name)
        })
}

/// Whether a definition, assumption or theorem that is not replaced, or the algorithm, refers to the name.
fn is_still_referenced(module: &Module, names: &BTreeSet<&str>, name: &str) -> bool {
    let refers = |definition: &Definition| {
        !names.contains(definition.name.as_str()) && definition.references.names.contains(name)
    };
    let statements = module.assumptions.iter().chain(&module.theorems);
    module.definitions.iter().any(refers)
        || statements.into_iter().any(|statement| statement.references.names.contains(name))
        || module
            .algorithm
            .as_ref()
            .is_some_and(|algorithm| algorithm.mentions.contains(name) || algorithm.definitions.iter().any(refers))
}

/// Whether something that is not replaced refers to a definition of the `define` block: another definition of the block,
/// or a definition or statement outside the translation.
fn is_still_referenced_inside(module: &Module, names: &BTreeSet<&str>, old: &Definition) -> bool {
    let Some(algorithm) = &module.algorithm else { return false };
    let stays = |definition: &&Definition| !names.contains(definition.name.as_str());
    let refers = |definition: &Definition| definition.references.names.contains(&old.name);
    let own = algorithm.definitions.iter().filter(stays).any(refers);
    let translated = |definition: &&Definition| module.in_translation(definition.code.start);
    let outside = module.definitions.iter().filter(stays).filter(|d| !translated(d)).any(refers);
    own || outside || module.assumptions.iter().chain(&module.theorems).any(|s| s.references.names.contains(&old.name))
}

/// A definition of the answer and those it depends on, in an order in which each comes after its dependencies.
fn with_dependencies(given: &[Given], index: usize) -> Vec<usize> {
    let mut found: BTreeSet<usize> = BTreeSet::new();
    let mut open = vec![index];
    while let Some(index) = open.pop() {
        if found.insert(index) {
            open.extend((0..given.len()).filter(|other| given[index].references.contains(&given[*other].name)));
        }
    }
    let mut order: Vec<usize> = Vec::new();
    let mut left: Vec<usize> = found.into_iter().collect();
    // Keep the answer's order except where a definition depends on a later one: TLA+ defines names before their use.
    while !left.is_empty() {
        let ready = left.iter().position(|index| {
            left.iter().all(|other| other == index || !given[*index].references.contains(&given[*other].name))
        });
        order.push(left.remove(ready.unwrap_or(0)));
    }
    order
}

/// The text of the module after the changes of the plan.
fn apply(module: &Module, plan: &Plan, given: &[Given], terminator: &Range<usize>) -> String {
    let source = module.source.as_str();
    let end_line = source[..terminator.start].rfind('\n').map_or(0, |offset| offset + 1);
    let end = if source[end_line..terminator.start].trim().is_empty() { end_line } else { terminator.start };
    let mut removed = plan.removed.clone();
    removed.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    let mut out = String::with_capacity(source.len() + 1024);
    let mut offset = 0;
    let mut places = plan.placed.iter().peekable();
    for range in &removed {
        while let Some((place, indices)) = places.next_if(|(place, _)| **place <= range.start.max(offset)) {
            if *place > offset {
                out.push_str(&source[offset..*place]);
                offset = *place;
            }
            insert_at(source, *place, indices, given, &mut out);
        }
        if range.start > offset {
            out.push_str(&source[offset..range.start]);
        }
        let kept_in_place = plan.placed.keys().any(|place| range.contains(place));
        let pending: Vec<_> = std::iter::from_fn(|| places.next_if(|(place, _)| **place < range.end)).collect();
        for (place, indices) in pending {
            insert_at(source, *place, indices, given, &mut out);
        }
        offset = offset.max(range.end);
        if !kept_in_place {
            offset = offset.max(skip_empty_line(source, range, &mut out));
        }
    }
    for (place, indices) in places {
        if *place > offset {
            out.push_str(&source[offset..*place]);
            offset = *place;
        }
        insert_at(source, *place, indices, given, &mut out);
    }
    out.push_str(&source[offset.min(end)..end]);
    if !plan.at_end.is_empty() {
        let length = out.trim_end().len();
        out.truncate(length);
        out.push_str("\n\n");
        for index in &plan.at_end {
            out.push_str(&given[*index].text);
            out.push_str("\n\n");
        }
    }
    out.push_str(&source[end..]);
    out
}

/// The standard modules that define what the answer uses and the module lacks. An answer holds only definitions, so it
/// cannot extend a module itself.
fn missing_modules(module: &Module, given: &[Given]) -> Vec<&'static str> {
    const CANDIDATES: [&str; 4] = ["Naturals", "Integers", "Sequences", "FiniteSets"];
    // Another module may define the operator.
    if !module.is_self_contained() {
        return Vec::new();
    }
    let mut known: BTreeSet<String> =
        module.extends.iter().chain(&module.instances).filter_map(|name| exported_names(name)).flatten().collect();
    known.extend(module.definitions.iter().map(|definition| definition.name.clone()));
    known.extend(module.constants.iter().map(|constant| constant.name.clone()));
    known.extend(module.variable_names().into_iter().map(str::to_owned));
    known.extend(module.algorithm.iter().flat_map(|algorithm| &algorithm.definitions).map(|d| d.name.clone()));
    known.extend(given.iter().map(|given| given.name.clone()));
    let mut lacking: BTreeSet<&String> = given.iter().flat_map(|given| &given.references).collect();
    lacking.retain(|name| !known.contains(*name));
    let mut missing = Vec::new();
    for candidate in CANDIDATES {
        let exported = exported_names(candidate).unwrap_or_default();
        if lacking.iter().any(|name| exported.contains(*name)) {
            lacking.retain(|name| !exported.contains(*name));
            missing.push(candidate);
        }
    }
    missing
}

fn insert_at(source: &str, place: usize, indices: &[usize], given: &[Given], out: &mut String) {
    let indent = " ".repeat(column_of(source, place));
    for (nth, index) in indices.iter().enumerate() {
        if nth > 0 {
            out.push('\n');
            out.push_str(&indent);
        }
        // The columns of a bulleted list have meaning, so every line gets the same additional indent.
        out.push_str(&given[*index].text.replace('\n', &format!("\n{indent}")));
    }
}

/// Where the text continues after a removed range: after the newline if the range was alone on its lines, whose
/// remaining indent is then removed from `out`.
fn skip_empty_line(source: &str, range: &Range<usize>, out: &mut String) -> usize {
    let line = source[..range.start].rfind('\n').map_or(0, |offset| offset + 1);
    let rest = &source[range.end..];
    let length = rest.find('\n').map_or(rest.len(), |offset| offset + 1);
    if source[line..range.start].trim().is_empty() && rest[..length].trim().is_empty() {
        let kept = out.trim_end_matches([' ', '\t']).len();
        out.truncate(kept);
        range.end + length
    } else {
        range.end
    }
}
