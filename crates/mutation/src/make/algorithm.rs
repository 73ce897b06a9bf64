//! Visits and mutates the statements of a PlusCal algorithm. Expressions are left to `TreeMutator`.

use std::collections::BTreeSet;

use super::super::Operator;
use super::excerpt::excerpt;
use super::facts::{Facts, global_declarations};
use super::guard::GuardRemoval;
use super::outline::{Body, BodyKind, Branch, LabelPlacement, Statement, bodies};
use super::tree_mutator::{Bound, MutantDraft, Role, TreeMutator};
use tlaforge_tla::{Algorithm, Field, Id, Kind, NodeKind, Syntax, lex};

/// Makes mutants of an algorithm; its [`TreeMutator`] does the expressions.
pub(super) struct AlgorithmMutator<'a, 'b> {
    pub(super) walk: TreeMutator<'a>,
    pub(super) algorithm: &'a Algorithm,
    pub(super) bodies: &'b [Body],
    pub(super) globals: BTreeSet<String>,
    /// The variables that the step has assigned before the current branch begins.
    pub(super) inherited: BTreeSet<String>,
}

/// The mutants of an algorithm, each with the label of its step. An algorithm with syntax errors has none.
pub(super) fn drafts<'a>(facts: &'a Facts<'a>, algorithm: &'a Algorithm) -> Vec<(String, MutantDraft)> {
    let tree = &algorithm.tree;
    if tree.is_empty() || !tree.errors.is_empty() {
        return Vec::new();
    }
    let bodies = bodies(&facts.module.source, tree);
    let walk = TreeMutator::new(facts, tree, Role::State);
    let declared = global_declarations(tree);
    let globals =
        declared.iter().filter_map(|id| tree.children(*id).next()).map(|id| walk.text(id).to_owned()).collect();
    let mut steps = AlgorithmMutator { walk, algorithm, bodies: &bodies, globals, inherited: BTreeSet::new() };
    steps.mutate_algorithm_fairness();
    steps.visit_declarations(&declared);
    for body in &bodies {
        steps.visit_body(body);
    }
    let named = steps.walk.drafts.into_iter().map(|draft| (definition(algorithm, &bodies, &draft), draft));
    // A property that refers to the action of a label would be about half of the step.
    let halves = |(label, draft): &(String, MutantDraft)| {
        draft.operator == Operator::SplitLabel && facts.judged_names.contains(label)
    };
    named.filter(|named| !halves(named)).collect()
}

/// The label of the step of a mutant, else the process, procedure or macro, else the algorithm.
fn definition(algorithm: &Algorithm, bodies: &[Body], draft: &MutantDraft) -> String {
    let tree = &algorithm.tree;
    let Some(body) = bodies.iter().find(|body| {
        let node = tree.node(body.id);
        (node.start..node.end).contains(&draft.at)
    }) else {
        return algorithm.name.clone();
    };
    step(&body.statements, &body.name, draft.at).to_owned()
}

/// The label of the step that contains an offset.
fn step<'s>(statements: &'s [Statement], mut label: &'s str, at: usize) -> &'s str {
    for statement in statements {
        let own = statement.label.as_ref();
        if at < statement.start() {
            break;
        }
        label = own.map_or(label, |own| &own.name);
        if at < statement.range.end {
            return statement
                .branches
                .iter()
                .rev()
                .find(|part| part.start() <= at)
                .map_or(label, |part| step(&part.statements, label, at));
        }
    }
    label
}

impl<'b> AlgorithmMutator<'_, 'b> {
    fn mutate_algorithm_fairness(&mut self) {
        let walk = &mut self.walk;
        let Some(fair) = walk.tree.of_kind(NodeKind::FairAlgorithm).next() else { return };
        let range = walk.range(fair);
        walk.add_edit(Operator::DropFairness, range.start, "", "is no longer fair".to_owned(), range, "--algorithm");
    }

    /// `fair process`, `fair+ process`.
    fn mutate_process_fairness(&mut self, body: &Body) {
        let walk = &mut self.walk;
        let tokens = lex(walk.source, walk.range(body.id));
        let words: Vec<_> = tokens.into_iter().filter(|token| !token.is_comment()).take(3).collect();
        let text = |at: usize| words.get(at).map_or("", |token| token.text(walk.source));
        let (fair, strong) = (text(0) == "fair", text(1) == "+");
        let Some(process) = words.get(1 + usize::from(strong)).filter(|_| fair) else { return };
        let start = words[0].start;
        let range = start..process.start;
        if strong {
            let what = "is only weakly fair".to_owned();
            walk.add_edit(Operator::WeakenFairness, start, "", what, words[1].range(), "");
        }
        walk.add_edit(Operator::DropFairness, start, "", "is no longer fair".to_owned(), range, "");
    }

    fn visit_declarations(&mut self, declared: &[Id]) {
        let walk = &mut self.walk;
        let role = std::mem::replace(&mut walk.role, Role::Initial);
        for id in declared {
            match (walk.tree.field(*id, Field::Set), walk.tree.field(*id, Field::Value)) {
                (Some(set), _) => walk.visit_choice(set),
                (None, Some(value)) => walk.visit(value),
                (None, None) => {}
            }
        }
        walk.role = role;
    }

    fn visit_body(&mut self, body: &Body) {
        if body.nesting == BodyKind::Process {
            self.mutate_process_fairness(body);
        }
        let facts = self.walk.facts;
        self.walk.visible.clone_from(&facts.globals);
        let locals = facts.declared_shapes(self.walk.tree, body.declarations.clone());
        self.walk.visible.extend(locals);
        let mut names: Vec<Bound> =
            body.parameters.iter().map(|name| Bound { name: name.clone(), set: None }).collect();
        let set = body.set.map(|set| excerpt(self.walk.text(set), usize::MAX));
        names.push(Bound { name: "self".to_owned(), set });
        self.with_bound(names, |steps| {
            steps.visit_declarations(&body.declarations);
            let placement = if body.nesting == BodyKind::Macro { LabelPlacement::Closed } else { LabelPlacement::Open };
            steps.inherited.clear();
            steps.visit_sequence(&body.statements, placement, true);
        });
    }

    fn with_bound(&mut self, names: Vec<Bound>, go: impl FnOnce(&mut Self)) {
        let mark = self.walk.scope.len();
        self.walk.scope.extend(names);
        go(self);
        self.walk.scope.truncate(mark);
    }

    /// `first` if the sequence is the start of a body.
    fn visit_sequence(&mut self, statements: &[Statement], placement: LabelPlacement, first: bool) {
        for (at, statement) in statements.iter().enumerate() {
            self.swap_with_next(statements, at);
            self.mutate_labels(statements, at, placement, first);
            // A label or a loop begins a new step.
            let begins = statement.label.is_some() || statement.kind == NodeKind::While;
            let before = if begins { BTreeSet::new() } else { self.assigned_before_in_step(statements, at) };
            let outside = std::mem::replace(&mut self.inherited, before);
            self.visit_statement(statement, placement.inside(statement, statements.get(at + 1)));
            self.inherited = outside;
        }
    }

    fn visit_statement(&mut self, statement: &Statement, placement: LabelPlacement) {
        let children = self.walk.children(statement.id);
        match statement.kind {
            NodeKind::Assign => self.mutate_assignment(statement, &children),
            NodeKind::Await => {
                if let Some(condition) = children.last() {
                    self.walk.mutate_guard(*condition, GuardRemoval::True);
                }
            }
            NodeKind::Goto => {
                let to = children.first().map_or("", |to| self.walk.text(*to));
                self.drop_statement(statement, format!("no longer goes to `{to}`"));
            }
            NodeKind::ProcedureCall | NodeKind::MacroCall => {
                let call = self.walk.quote(statement.range.clone());
                self.drop_statement(statement, format!("no longer does {call}"));
                children.iter().skip(1).for_each(|argument| self.walk.visit(*argument));
            }
            NodeKind::If | NodeKind::While => {
                for part in &statement.branches {
                    // A loop whose test is TRUE does not end.
                    let without = if statement.kind == NodeKind::If { GuardRemoval::True } else { GuardRemoval::Stays };
                    if let Some(condition) = part.condition {
                        self.walk.mutate_guard(condition, without);
                    }
                    self.visit_sequence(&part.statements, placement, false);
                }
            }
            NodeKind::Either => {
                for part in &statement.branches {
                    self.drop_branch(part);
                    self.visit_sequence(&part.statements, placement, false);
                }
            }
            NodeKind::With => self.visit_with(statement, &children, placement),
            _ => {}
        }
    }

    /// `with (x \in S, y = e)`: each name is visible in what follows it.
    fn visit_with(&mut self, statement: &Statement, children: &[Id], placement: LabelPlacement) {
        let mark = self.walk.scope.len();
        let mut name = None;
        for child in children {
            let set = match self.walk.tree.node(*child).field {
                Some(Field::Set) => {
                    self.walk.visit_choice(*child);
                    Some(excerpt(self.walk.text(*child), usize::MAX))
                }
                Some(Field::Value) => {
                    self.walk.visit(*child);
                    None
                }
                _ => {
                    name = Some(self.walk.text(*child).to_owned());
                    continue;
                }
            };
            self.walk.scope.extend(name.take().map(|name| Bound { name, set }));
        }
        for part in &statement.branches {
            self.visit_sequence(&part.statements, placement, false);
        }
        self.walk.scope.truncate(mark);
    }

    fn drop_statement(&mut self, statement: &Statement, what: String) {
        let range = statement.range.clone();
        // PlusCal allows neither an empty body nor a label without a statement.
        self.walk.add_edit(Operator::DropStatement, range.start, "", what, range, "skip");
    }

    /// `x := e || y := f`: drops each assignment, and visits indices and values.
    fn mutate_assignment(&mut self, statement: &Statement, children: &[Id]) {
        let walk = &mut self.walk;
        let (targets, values): (Vec<Id>, Vec<Id>) =
            children.iter().partition(|id| walk.kind(**id) == NodeKind::AssignTarget);
        let whole = statement.range.clone();
        for (at, (target, value)) in targets.iter().zip(&values).enumerate() {
            let start = walk.range(*target).start;
            let (range, text) = match (targets.len(), at) {
                (1, _) => (whole.clone(), "skip"),
                (_, 0) => (start..walk.range(targets[1]).start, ""),
                _ => (walk.range(values[at - 1]).end..walk.range(*value).end, ""),
            };
            let what = format!("no longer updates {}", walk.quote(walk.range(*target)));
            walk.add_edit(Operator::DropStatement, start, "", what, range, text);
            let parts = walk.children(*target);
            for part in
                parts.into_iter().skip(1).filter(|part| walk.kind(*part) != NodeKind::Identifier).collect::<Vec<_>>()
            {
                walk.mutate_index(part);
            }
            walk.visit(*value);
        }
    }

    /// Disables a branch of an `either` by `await FALSE`.
    fn drop_branch(&mut self, part: &Branch) {
        let Some((first, last)) = part.statements.first().zip(part.statements.last()) else { return };
        let start = part.start();
        let walk = &mut self.walk;
        let what = format!("no longer has the branch {}", walk.quote(start..last.range.end));
        let one = start..first.range.end;
        let alone = part.statements.len() == 1 && first.label.is_none();
        if alone
            && matches!(
                first.kind,
                NodeKind::Skip | NodeKind::Assign | NodeKind::MacroCall | NodeKind::Goto | NodeKind::Await
            )
        {
            return walk.add_edit(Operator::DropBranch, start, "", what, one, "await FALSE");
        }
        // There is room for another statement: P-syntax ends a branch by `or` or `end`, C-syntax only by a brace.
        if part.braced || self.algorithm.syntax == Syntax::P {
            return walk.add_edit(Operator::DropBranch, start, "", what, start..start, "await FALSE; ");
        }
        if first.label.is_none() {
            walk.add_edit(Operator::DropBranch, start, "", what, one, "await FALSE");
        }
    }

    /// The variables that a statement reads or assigns, including its macros.
    pub(super) fn touched_variables(&self, statement: &Statement) -> BTreeSet<String> {
        let walk = &self.walk;
        let mut refers = tlaforge_tla::references(walk.tree, walk.source, statement.id, &[]);
        for call in statement.with_nested().into_iter().filter(|inner| inner.kind == NodeKind::MacroCall) {
            if let Some(called) = self.called_macro(call) {
                for inner in &called.statements {
                    refers.names.extend(self.touched_variables(inner));
                }
            }
        }
        walk.facts.reachable_names(&refers)
    }

    fn called_macro(&self, call: &Statement) -> Option<&'b Body> {
        let name = self.walk.tree.field(call.id, Field::Name)?;
        // PlusCal allows a call only below the macro. Otherwise macros that call each other would be followed forever.
        let is_above = |body: &&Body| self.walk.range(body.id).end <= call.range.start;
        let mut macros = self.bodies.iter().filter(|body| body.nesting == BodyKind::Macro);
        macros.find(|body| is_above(body) && body.name == self.walk.text(name))
    }

    /// The variables that a statement assigns; calls and returns assign parameters.
    pub(super) fn assigned_variables(&self, statement: &Statement) -> BTreeSet<String> {
        let walk = &self.walk;
        let mut names = BTreeSet::new();
        for inner in statement.with_nested() {
            match inner.kind {
                NodeKind::Assign => {
                    let targets =
                        walk.children(inner.id).into_iter().filter(|id| walk.kind(*id) == NodeKind::AssignTarget);
                    names.extend(
                        targets.filter_map(|id| walk.tree.children(id).next()).map(|id| walk.text(id).to_owned()),
                    );
                }
                NodeKind::MacroCall => {
                    let Some(called) = self.called_macro(inner) else { continue };
                    let arguments: Vec<Id> = walk.children(inner.id).into_iter().skip(1).collect();
                    for name in called.statements.iter().flat_map(|inner| self.assigned_variables(inner)) {
                        // A macro that assigns its parameter assigns the variable in the call.
                        let parameter = called.parameters.iter().position(|parameter| *parameter == name);
                        let argument = parameter.and_then(|at| arguments.get(at)).map(|id| walk.text(*id));
                        names.insert(argument.map_or(name, |text| base(text).to_owned()));
                    }
                }
                NodeKind::ProcedureCall | NodeKind::Return => {
                    let procedures = self.bodies.iter().filter(|body| body.nesting == BodyKind::Procedure);
                    let declared = procedures.flat_map(|body| &body.declarations);
                    names.extend(
                        declared.filter_map(|id| walk.tree.children(*id).next()).map(|id| walk.text(id).to_owned()),
                    );
                }
                _ => {}
            }
        }
        names
    }
}

/// The variable in `x[i].f`.
fn base(text: &str) -> &str {
    let word = lex(text, 0..text.len()).into_iter().find(|token| token.kind == Kind::Word);
    word.map_or(text, |word| &text[word.start..word.end])
}
