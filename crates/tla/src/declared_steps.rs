//! The steps of an algorithm without what they do: who takes them, and which may follow. This is all that the author of
//! step contracts is told about the algorithm.

use std::ops::Range;

use super::lexer::{Kind, lex};
use super::module::Module;
use super::syntax::{Field, Id, NodeKind, Tree};

/// The label of a process that has ended.
const DONE: &str = "Done";

/// The processes of an algorithm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredSteps {
    /// In the order of the text, and last the procedures, if there are any.
    pub processes: Vec<DeclaredProcess>,
    /// Whether the translation has `pc`. It has none if every process is one label in an endless loop.
    pub has_pc: bool,
}

/// A process with the labels of its steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredProcess {
    pub name: String,
    pub members: Members,
    pub labels: Vec<DeclaredLabel>,
}

/// Who takes the steps of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Members {
    /// The algorithm has no processes, and `pc` is a label, not a function.
    Alone,
    /// `process p = id`, with the text of `id`.
    One(String),
    /// `process p \in S`, with the text of `S`.
    Each(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredLabel {
    pub name: String,
    /// The labels that `pc` may have after a step, in the order of the translation; `Done` is one of them.
    pub next: Vec<String>,
    /// Whether the label begins a loop, whose end is a step of the label that changes nothing but `pc`.
    pub is_loop: bool,
}

impl DeclaredSteps {
    /// The steps of a translated module; `None` if it has no algorithm with labels and a translation.
    pub fn of(module: &Module) -> Option<Self> {
        let algorithm = module.algorithm.as_ref()?;
        module.definition("Next")?;
        let tree = &algorithm.tree;
        let mut processes: Vec<DeclaredProcess> =
            tree.of_kind(NodeKind::Process).filter_map(|id| process(module, tree, id)).collect();
        let own: Vec<Range<usize>> = tree.of_kind(NodeKind::Process).map(|id| tree.range(id)).collect();
        let is_elsewhere = |id: &Id| !own.iter().any(|range| range.contains(&tree.range(*id).start));
        let others = labels(module, tree, is_elsewhere);
        if !others.is_empty() {
            let (name, members) = if processes.is_empty() {
                (algorithm.name.clone(), Members::Alone)
            } else {
                ("procedures".to_owned(), Members::Each("ProcSet".to_owned()))
            };
            processes.push(DeclaredProcess { name, members, labels: others });
        }
        let has_labels = processes.iter().any(|process| !process.labels.is_empty());
        let has_pc = module.variables.iter().any(|variable| variable.name == "pc");
        has_labels.then_some(Self { processes, has_pc })
    }

    /// The process and the label of this name.
    pub fn label(&self, name: &str) -> Option<(&DeclaredProcess, &DeclaredLabel)> {
        self.labels().find(|(_, label)| label.name == name)
    }

    /// Every label with its process.
    pub fn labels(&self) -> impl Iterator<Item = (&DeclaredProcess, &DeclaredLabel)> {
        self.processes.iter().flat_map(|process| process.labels.iter().map(move |label| (process, label)))
    }
}

fn process(module: &Module, tree: &Tree, id: Id) -> Option<DeclaredProcess> {
    let source = module.source.as_str();
    let name = tree.field(id, Field::Name)?;
    let range = tree.range(id);
    // `process P = id` or `process P \in S`.
    let is_one = source.get(tree.range(name).end..range.end)?.trim_start().starts_with('=');
    let identifier = tree.children(id).nth(1)?;
    let text = module.text_in_column(tree, identifier).split_whitespace().collect::<Vec<_>>().join(" ");
    Some(DeclaredProcess {
        name: tree.text(name, source).to_owned(),
        members: if is_one { Members::One(text) } else { Members::Each(text) },
        labels: labels(module, tree, |label| range.contains(&tree.range(*label).start)),
    })
}

fn labels(module: &Module, tree: &Tree, is_wanted: impl Fn(&Id) -> bool) -> Vec<DeclaredLabel> {
    let is_label = |id: &Id| tree.node(*id).field == Some(Field::Label);
    let found = tree.ids().filter(|id| is_label(id) && is_wanted(id));
    let declared = |id: Id| {
        let name = tree.text(id, &module.source).to_owned();
        let after = module.source.get(tree.range(id).end..).unwrap_or_default();
        let statement = after.trim_start_matches(|c: char| c.is_whitespace() || ":+-".contains(c));
        DeclaredLabel { next: next_labels(module, &name), is_loop: statement.starts_with("while"), name }
    };
    found.map(declared).collect()
}

/// The labels that the action of this name assigns to `pc`.
fn next_labels(module: &Module, action: &str) -> Vec<String> {
    let Some(definition) = module.definition(action) else { return Vec::new() };
    let source = module.source.as_str();
    let tokens = lex(source, definition.code.clone());
    let mut found: Vec<String> = Vec::new();
    for (at, _) in tokens.windows(2).enumerate().filter(|(_, two)| is_primed_pc(source, two)) {
        // `pc' = [pc EXCEPT ![self] = "L"]`, or `pc' = "L"`.
        let after = tokens[at..].windows(2).take(14);
        let strings = after.filter(|two| two[0].text(source) == "=" && two[1].kind == Kind::Text);
        let assigned = strings.map(|two| two[1].text(source).trim_matches('"')).next();
        found.extend(assigned.filter(|name| !found.iter().any(|known| known == name)).map(str::to_owned));
    }
    found
}

fn is_primed_pc(source: &str, two: &[super::lexer::Token]) -> bool {
    two[0].text(source) == "pc" && two[1].text(source) == "'"
}

impl DeclaredLabel {
    /// The labels to which a step may go that changes nothing but `pc`, because the process ends or leaves a loop. The
    /// documents say nothing of such a step.
    pub(super) fn ends(&self) -> Vec<&str> {
        let is_end = |label: &&str| *label == DONE || (self.is_loop && *label != self.name);
        self.next.iter().map(String::as_str).filter(is_end).collect()
    }

    /// Whether a step may leave `pc` as it is.
    pub(super) fn may_stay(&self) -> bool {
        self.next.contains(&self.name)
    }
}
