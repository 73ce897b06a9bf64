//! The steps of an algorithm without what they do: who takes them, and which may follow. The author of step contracts learns
//! no more about the algorithm.

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
    /// Whether `next` is complete. It is not after a `return`, whose label is in `stack`.
    pub is_next_known: bool,
    /// The label after the loop that begins here, whose end is a step that changes nothing but `pc`.
    pub loop_exit: Option<String>,
}

impl DeclaredSteps {
    /// The steps of a translated module; `None` if it has no algorithm with a translation whose labels are all written out.
    pub fn from_module(module: &Module) -> Option<Self> {
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
        let steps = has_labels.then_some(Self { processes, has_pc })?;
        // The steps of labels that the translator has added cannot be described.
        let is_declared = |label: &String| label == DONE || steps.label(label).is_some();
        translated_labels(module).iter().all(is_declared).then_some(steps)
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
        let (assigned, is_next_known) = assigned_labels(module, &name);
        let mut next: Vec<String> = Vec::new();
        for label in &assigned {
            if !next.contains(label) {
                next.push(label.clone());
            }
        }
        // The translation of a loop has its end last, as ELSE. A loop without end has no second successor.
        let is_loop = statement.starts_with("while") && is_next_known && next.len() > 1;
        let loop_exit = assigned.last().filter(|label| is_loop && **label != name).cloned();
        DeclaredLabel { name, next, is_next_known, loop_exit }
    };
    found.map(declared).collect()
}

/// The labels that the action of this name assigns to `pc`, in the order of its text, and whether all of them could be read.
fn assigned_labels(module: &Module, action: &str) -> (Vec<String>, bool) {
    let Some(definition) = module.definition(action) else { return (Vec::new(), false) };
    let source = module.source.as_str();
    let tokens = lex(source, definition.code.clone());
    let mut found: Vec<String> = Vec::new();
    let mut is_complete = true;
    for (at, _) in tokens.windows(2).enumerate().filter(|(_, two)| is_primed_pc(source, two)) {
        // `pc' = [pc EXCEPT ![self] = "L"]`, or `pc' = "L"`: the next conjunct ends it.
        let rest = tokens[at + 2..].iter().take_while(|token| !["/\\", "\\/"].contains(&token.text(source)));
        let rest: Vec<_> = rest.collect();
        let strings = rest.windows(2).filter(|two| two[0].text(source) == "=" && two[1].kind == Kind::Text);
        match strings.map(|two| two[1].text(source).trim_matches('"')).next_back() {
            Some(label) => found.push(label.to_owned()),
            None => is_complete = false,
        }
    }
    let is_complete = is_complete && !found.is_empty();
    (found, is_complete)
}

/// The labels that a translation gives `pc` anywhere: those that the translator has added are among them.
fn translated_labels(module: &Module) -> Vec<String> {
    let in_translation = module.definitions.iter().filter(|definition| module.in_translation(definition.code.start));
    let assigned = in_translation.flat_map(|definition| assigned_labels(module, &definition.name).0);
    assigned.chain(initial_labels(module)).collect()
}

/// The labels of `pc` in the initial state: `pc = "L"`, or a function of `|-> "L"` or `CASE … -> "L"`.
fn initial_labels(module: &Module) -> Vec<String> {
    let Some(definition) = module.definition("Init") else { return Vec::new() };
    let source = module.source.as_str();
    let tokens = lex(source, definition.code.clone());
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text(source));
    let Some(start) = (0..tokens.len()).find(|at| text(*at) == "pc" && text(at + 1) == "=") else { return Vec::new() };
    let is_label = |at: &usize| {
        let after = text(at - 1);
        tokens[*at].kind == Kind::Text && (["->", "|->"].contains(&after) || *at == start + 2)
    };
    let ends = (start + 2..tokens.len()).find(|at| text(*at) == "/\\").unwrap_or(tokens.len());
    (start + 2..ends).filter(is_label).map(|at| text(at).trim_matches('"').to_owned()).collect()
}

fn is_primed_pc(source: &str, two: &[super::lexer::Token]) -> bool {
    two[0].text(source) == "pc" && two[1].text(source) == "'"
}

impl DeclaredLabel {
    /// The labels to which a step may go that changes nothing but `pc`, because the process ends or leaves a loop. The
    /// documents say nothing of such a step. A label with a single successor has none: its step does something.
    pub(super) fn silent_exits(&self) -> Vec<&str> {
        let is_exit =
            |label: &&str| self.next.len() > 1 && (*label == DONE || self.loop_exit.as_deref() == Some(*label));
        self.next.iter().map(String::as_str).filter(is_exit).collect()
    }

    /// Whether a step may leave `pc` as it is.
    pub(super) fn may_stay(&self) -> bool {
        !self.is_next_known || self.next.contains(&self.name)
    }

    /// Whether a step may change `pc`.
    pub(super) fn may_move(&self) -> bool {
        !self.is_next_known || self.next.iter().any(|label| *label != self.name)
    }
}
