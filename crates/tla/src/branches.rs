//! The branches of an action, each as the action restricted to it: at every choice on the way, the other alternatives
//! are replaced by FALSE. A branch is an alternative of a disjunction or of IF inside the formula of an action.
//! `disjuncts` splits off the disjunctions around it, which are actions.

use std::fmt::Write as _;
use std::ops::Range;

use super::cfg::Cfg;
use super::definition::{Definition, DefinitionKind};
use super::module::Module;
use super::references::references;
use super::syntax::{Field, Id, MAX_DEPTH, NodeKind, Tree};

/// Limit on the branches of one action; a check asks about fewer.
const MAX_BRANCHES: usize = 200;

/// An alternative of a choice inside an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionBranch {
    pub role: BranchRole,
    /// The bytes of the alternative in the module.
    pub range: Range<usize>,
    /// The bytes of the choice and, for IF, of its condition.
    pub choice: Range<usize>,
    pub condition: Option<Range<usize>>,
    /// Whether an alternative of the choice refers to the next state. The others are conditions, unless a statement of
    /// an algorithm became the choice.
    pub is_action: bool,
    /// It leaves every variable as it is.
    pub changes_nothing: bool,
    /// The branch around it, by index among the branches of the action.
    pub parent: Option<usize>,
    /// The restricted action; `None` if it cannot be written without moving the columns of a list.
    pub formula: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BranchRole {
    /// The disjunct of this number, from 0.
    Disjunct(usize),
    Then,
    Else,
}

/// Writes definitions for a module that extends the specification's.
pub(super) struct Helpers<'h> {
    pub(super) prefix: &'h str,
    /// Number of helper definitions written so far.
    pub(super) count: &'h mut usize,
    pub(super) definitions: &'h mut String,
}

/// The branches below a node of a definition. The formulas are in terms of the parameters of that definition.
pub(super) fn find_branches<'a>(
    module: &'a Module,
    cfg: &'a Cfg,
    helpers: Helpers<'_>,
    (tree, root): (&'a Tree, Id),
) -> Vec<ActionBranch> {
    let frames = vec![Frame { tree, root, edits: Vec::new(), callee: None }];
    let mut walk = Walk { module, cfg, helpers, frames, found: Vec::new() };
    walk.visit(root, None, 0);
    walk.found
}

/// A definition on the way to a branch.
struct Frame<'a> {
    tree: &'a Tree,
    root: Id,
    /// Replacements that restrict it to the branch.
    edits: Vec<(Range<usize>, &'static str)>,
    /// The definition that the next frame is inside of, and the name that calls it.
    callee: Option<(&'a Definition, Range<usize>)>,
}

struct Walk<'a, 'h> {
    module: &'a Module,
    cfg: &'a Cfg,
    helpers: Helpers<'h>,
    frames: Vec<Frame<'a>>,
    found: Vec<ActionBranch>,
}

impl<'a> Walk<'a, '_> {
    fn visit(&mut self, id: Id, parent: Option<usize>, depth: usize) {
        let Some(tree) = self.frames.last().map(|frame| frame.tree) else { return };
        let id = tree.strip_parentheses(id);
        if depth > MAX_DEPTH || self.found.len() > MAX_BRANCHES {
            return;
        }
        let children = |fields: &[Field]| -> Vec<Id> { fields.iter().filter_map(|f| tree.field(id, *f)).collect() };
        match tree.kind(id) {
            NodeKind::ConjunctionList => {
                for child in tree.children(id) {
                    self.visit(child, parent, depth + 1);
                }
            }
            NodeKind::Infix if tree.operator(id) == "/\\" => {
                for side in children(&[Field::Left, Field::Right]) {
                    self.visit(side, parent, depth + 1);
                }
            }
            NodeKind::DisjunctionList | NodeKind::Infix => {
                let mut items = Vec::new();
                add_disjuncts(tree, id, 0, &mut items);
                let roles = (0..items.len()).map(BranchRole::Disjunct);
                let alternatives: Vec<_> = roles.zip(items).collect();
                self.choice(id, &alternatives, parent, depth);
            }
            NodeKind::IfThenElse => {
                if let [then, other] = children(&[Field::Then, Field::Else])[..] {
                    self.choice(id, &[(BranchRole::Then, then), (BranchRole::Else, other)], parent, depth);
                }
            }
            NodeKind::Bounded if tree.is_exists(id) => {
                for body in children(&[Field::Body]) {
                    self.visit(body, parent, depth + 1);
                }
            }
            NodeKind::LetIn => {
                for body in children(&[Field::Body]) {
                    self.visit(body, parent, depth + 1);
                }
            }
            NodeKind::Reference | NodeKind::Call => self.call(tree, id, parent, depth),
            _ => {}
        }
    }

    fn choice(&mut self, id: Id, alternatives: &[(BranchRole, Id)], parent: Option<usize>, depth: usize) {
        let Some(tree) = self.frames.last().map(|frame| frame.tree) else { return };
        let is_action = alternatives.iter().any(|(_, item)| self.mentions_next_state(tree, *item));
        let in_translation = self.module.in_translation(tree.node(id).start);
        if alternatives.len() < 2 || !(is_action || in_translation) {
            return;
        }
        for (role, item) in alternatives {
            let inner = tree.strip_parentheses(*item);
            let others = alternatives.iter().filter(|(other, _)| other != role);
            let edits: Vec<_> =
                others.map(|(_, other)| (tree.range(tree.strip_parentheses(*other)), "FALSE")).collect();
            let restricted = edits.len();
            if let Some(frame) = self.frames.last_mut() {
                frame.edits.extend(edits);
            }
            let branch = ActionBranch {
                role: *role,
                range: tree.range(inner),
                choice: tree.range(id),
                condition: tree.field(id, Field::Condition).map(|condition| tree.range(condition)),
                is_action,
                changes_nothing: self.changes_nothing(tree, inner, 0),
                parent,
                formula: self.restricted_action(),
            };
            self.found.push(branch);
            self.visit(inner, Some(self.found.len() - 1), depth + 1);
            if let Some(frame) = self.frames.last_mut() {
                frame.edits.truncate(frame.edits.len() - restricted);
            }
        }
    }

    /// The branches of a definition that the action calls.
    fn call(&mut self, tree: &'a Tree, id: Id, parent: Option<usize>, depth: usize) {
        let Some(name) = tree.called_name(id) else { return };
        let Some(definition) = self.module.definition(tree.text(name, &self.module.source)) else { return };
        let Some(body) = definition.body() else { return };
        let is_open =
            self.frames.iter().any(|frame| frame.callee.as_ref().is_some_and(|(d, _)| d.name == definition.name));
        let arguments = tree.children(id).filter(|child| *child != name).count();
        if is_open || definition.params.len() != arguments || !can_be_rewritten(definition, self.cfg) {
            return;
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.callee = Some((definition, tree.range(name)));
        }
        self.frames.push(Frame { tree: &definition.tree, root: body, edits: Vec::new(), callee: None });
        self.visit(body, parent, depth + 1);
        self.frames.pop();
        if let Some(frame) = self.frames.last_mut() {
            frame.callee = None;
        }
    }

    /// The outermost formula with all replacements. Each definition on the way is copied with its own ones.
    fn restricted_action(&mut self) -> Option<String> {
        let mut helper: Option<String> = None;
        for index in (0..self.frames.len()).rev() {
            let frame = &self.frames[index];
            let mut edits: Vec<(Range<usize>, &str)> = frame.edits.clone();
            if let (Some((_, name)), Some(helper)) = (&frame.callee, &helper) {
                edits.push((name.clone(), helper));
            }
            let text = edited_text(self.module, frame.tree, frame.root, edits)?;
            let Some((definition, _)) = index.checked_sub(1).and_then(|outer| self.frames[outer].callee.as_ref())
            else {
                return Some(text);
            };
            let params: Vec<&str> = definition.params.iter().map(|param| param.name.as_str()).collect();
            let list = if params.is_empty() { String::new() } else { format!("({})", params.join(", ")) };
            *self.helpers.count += 1;
            let name = format!("{}{}", self.helpers.prefix, self.helpers.count);
            // Writing to a string cannot fail.
            let _ = writeln!(self.helpers.definitions, "{name}{list} ==\n  {text}");
            helper = Some(name);
        }
        None
    }

    fn mentions_next_state(&self, tree: &Tree, id: Id) -> bool {
        let found = references(tree, &self.module.source, id, &[]);
        let is_primed = |names: &std::collections::BTreeSet<String>| names.contains("'") || names.contains("UNCHANGED");
        let called = |name: &String| self.module.definition(name).is_some_and(|d| is_primed(&d.references.names));
        is_primed(&found.names) || self.module.closure_of([&found]).iter().any(called)
    }

    /// `TRUE`, `UNCHANGED x`, `x' = x`, and conjunctions of them.
    fn changes_nothing(&self, tree: &Tree, id: Id, depth: usize) -> bool {
        let id = tree.strip_parentheses(id);
        let source = &self.module.source;
        let operand = |side| tree.field(id, side).map(|side| tree.text(side, source).trim());
        let does_nothing = |item: Id| depth < MAX_DEPTH && self.changes_nothing(tree, item, depth + 1);
        match tree.kind(id) {
            NodeKind::Boolean => tree.text(id, source) == "TRUE",
            NodeKind::ConjunctionList => tree.children(id).all(does_nothing),
            NodeKind::Prefix => tree.operator(id) == "UNCHANGED",
            NodeKind::Infix => match tree.operator(id) {
                "/\\" => tree.operands(id).is_some_and(|(left, right)| does_nothing(left) && does_nothing(right)),
                "=" => operand(Field::Left).and_then(|left| left.strip_suffix('\'')) == operand(Field::Right),
                _ => false,
            },
            _ => false,
        }
    }
}

fn add_disjuncts(tree: &Tree, id: Id, depth: usize, items: &mut Vec<Id>) {
    match tree.kind(id) {
        NodeKind::DisjunctionList => items.extend(tree.children(id)),
        NodeKind::Infix if depth < MAX_DEPTH && tree.operator(id) == "\\/" => {
            for side in [Field::Left, Field::Right].into_iter().filter_map(|side| tree.field(id, side)) {
                add_disjuncts(tree, side, depth + 1, items);
            }
        }
        _ => items.push(id),
    }
}

/// Whether a copy of the definition under another name means the same.
pub(super) fn can_be_rewritten(definition: &Definition, cfg: &Cfg) -> bool {
    definition.kind == DefinitionKind::Operator
        && !definition.has_syntax_errors
        && definition.params.iter().all(|param| param.arity == 0)
        && definition.name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !cfg.constants.get(&definition.name).is_some_and(|by| by.starts_with("<-"))
}

/// The text of a node with replacements, in parentheses and in its column. `None` if a replacement would move a list
/// that begins later on its line.
fn edited_text(module: &Module, tree: &Tree, root: Id, mut edits: Vec<(Range<usize>, &str)>) -> Option<String> {
    let source = &module.source;
    edits.sort_by_key(|(range, _)| range.start);
    let Range { start, end } = tree.range(root);
    let line = source[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let mut text = format!("(\n{}", " ".repeat(source[line..start].chars().count()));
    let mut at = start;
    for (range, replacement) in edits {
        text.push_str(source.get(at..range.start)?);
        text.push_str(replacement);
        let old = &source[range.clone()];
        let rest = source[range.end..end].lines().next().unwrap_or("");
        if let Some((_, last)) = old.rsplit_once('\n') {
            text.push('\n');
            text.push_str(&" ".repeat(last.chars().count()));
        } else if let Some(missing) = old.chars().count().checked_sub(replacement.len()) {
            text.push_str(&" ".repeat(missing));
        } else if rest.contains("/\\") || rest.contains("\\/") {
            return None;
        }
        at = range.end;
    }
    text.push_str(source.get(at..end)?);
    text.push_str("\n)");
    Some(text)
}
