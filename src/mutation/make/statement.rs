//! The walk over the statements of an algorithm.

use std::collections::BTreeSet;

use super::super::Operator;
use super::facts::{Facts, global_declarations};
use super::guard::Without;
use super::labels::Around;
use super::outline::{Body, Owner, Part, Statement, bodies};
use super::walk::{Bound, Flaw, Role, Walk, shown};
use crate::tla::{Algorithm, Id, Kind, Syntax, lex};

/// The walk, with what it knows of the algorithm.
pub(super) struct Steps<'a, 'b> {
    pub(super) walk: Walk<'a>,
    pub(super) algorithm: &'a Algorithm,
    pub(super) bodies: &'b [Body],
    pub(super) globals: BTreeSet<String>,
    /// What the step around a branch has assigned to when the branch begins.
    pub(super) inherited: BTreeSet<String>,
}

/// The flaws of an algorithm, each with the label whose step it is in. What the grammar cannot read has none.
pub(super) fn flaws<'a>(facts: &'a Facts<'a>, algorithm: &'a Algorithm) -> Vec<(String, Flaw)> {
    let tree = &algorithm.tree;
    if tree.is_empty() || !tree.errors.is_empty() {
        return Vec::new();
    }
    let bodies = bodies(&facts.module.source, tree);
    let walk = Walk::new(facts, tree, Role::State);
    let declared = global_declarations(tree);
    let globals =
        declared.iter().filter_map(|id| tree.children(*id).next()).map(|id| walk.text(id).to_owned()).collect();
    let mut steps = Steps { walk, algorithm, bodies: &bodies, globals, inherited: BTreeSet::new() };
    steps.fair_algorithm();
    steps.declarations(&declared);
    for body in &bodies {
        steps.body(body);
    }
    let named = steps.walk.flaws.into_iter().map(|flaw| (definition(algorithm, &bodies, &flaw), flaw));
    // The action that a property names would be half of what it is.
    let halves =
        |(label, flaw): &(String, Flaw)| flaw.operator == Operator::SplitLabel && facts.judged_names.contains(label);
    named.filter(|named| !halves(named)).collect()
}

/// The label of the step that a flaw is in, otherwise the process, procedure or macro, otherwise the algorithm.
fn definition(algorithm: &Algorithm, bodies: &[Body], flaw: &Flaw) -> String {
    let tree = &algorithm.tree;
    let Some(body) = bodies.iter().find(|body| {
        let node = tree.node(body.id);
        (node.start..node.end).contains(&flaw.at)
    }) else {
        return algorithm.name.clone();
    };
    step(&body.statements, &body.name, flaw.at).to_owned()
}

/// The label of the step that a place is in.
fn step<'s>(statements: &'s [Statement], mut label: &'s str, at: usize) -> &'s str {
    for statement in statements {
        let own = statement.label.as_ref();
        if at < statement.start() {
            break;
        }
        label = own.map_or(label, |own| &own.name);
        if at < statement.range.end {
            return statement
                .parts
                .iter()
                .rev()
                .find(|part| part.start() <= at)
                .map_or(label, |part| step(&part.statements, label, at));
        }
    }
    label
}

impl<'b> Steps<'_, 'b> {
    fn fair_algorithm(&mut self) {
        let walk = &mut self.walk;
        let Some(fair) = walk.tree.ids().find(|id| walk.kind(*id) == "fair") else { return };
        let range = walk.range(fair);
        walk.edit(Operator::DropFairness, range.start, "", "is no longer fair".to_owned(), range, "--algorithm");
    }

    /// `fair process`, `fair+ process`.
    fn fair_process(&mut self, body: &Body) {
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
            walk.edit(Operator::WeakenFairness, start, "", what, words[1].range(), "");
        }
        walk.edit(Operator::DropFairness, start, "", "is no longer fair".to_owned(), range, "");
    }

    fn declarations(&mut self, declared: &[Id]) {
        let walk = &mut self.walk;
        let role = std::mem::replace(&mut walk.role, Role::Initial);
        for id in declared {
            let parts = walk.children(*id);
            let is_in = parts.iter().any(|part| walk.kind(*part) == "set_in");
            match parts.last() {
                Some(set) if is_in => walk.choice(*set),
                Some(value) if parts.len() > 1 => walk.visit(*value),
                _ => {}
            }
        }
        walk.role = role;
    }

    fn body(&mut self, body: &Body) {
        if body.owner == Owner::Process {
            self.fair_process(body);
        }
        let facts = self.walk.facts;
        self.walk.visible.clone_from(&facts.globals);
        let locals = facts.declared(self.walk.tree, body.declarations.clone());
        self.walk.visible.extend(locals);
        let mut names: Vec<Bound> =
            body.parameters.iter().map(|name| Bound { name: name.clone(), set: None }).collect();
        let set = body.set.map(|set| shown(self.walk.text(set), usize::MAX));
        names.push(Bound { name: "self".to_owned(), set });
        self.bound(names, |steps| {
            steps.declarations(&body.declarations);
            let place = if body.owner == Owner::Macro { Around::Closed } else { Around::Open };
            steps.inherited.clear();
            steps.sequence(&body.statements, place, true);
        });
    }

    fn bound(&mut self, names: Vec<Bound>, go: impl FnOnce(&mut Self)) {
        let mark = self.walk.scope.len();
        self.walk.scope.extend(names);
        go(self);
        self.walk.scope.truncate(mark);
    }

    /// `first`: it begins a body.
    fn sequence(&mut self, statements: &[Statement], around: Around, first: bool) {
        for (at, statement) in statements.iter().enumerate() {
            self.swap(statements, at);
            self.labels(statements, at, around, first);
            let begins = statement.label.is_some() || statement.kind == "pcal_while";
            let before = if begins { BTreeSet::new() } else { self.assigned_before(statements, at) };
            let outside = std::mem::replace(&mut self.inherited, before);
            self.statement(statement, around.within(statement, statements.get(at + 1)));
            self.inherited = outside;
        }
    }

    fn statement(&mut self, statement: &Statement, around: Around) {
        let children = self.walk.children(statement.id);
        match statement.kind {
            "pcal_assign" => self.assignment(statement, &children),
            "pcal_await" => {
                if let Some(condition) = children.last() {
                    self.walk.guard(*condition, Without::True);
                }
            }
            "pcal_goto" => {
                let to = children.first().map_or("", |to| self.walk.text(*to));
                self.drop_statement(statement, format!("no longer goes to `{to}`"));
            }
            "pcal_proc_call" | "pcal_macro_call" => {
                let call = self.walk.quoted(statement.range.clone());
                self.drop_statement(statement, format!("no longer does {call}"));
                children.iter().skip(1).for_each(|argument| self.walk.visit(*argument));
            }
            "pcal_if" | "pcal_while" => {
                for part in &statement.parts {
                    let without = if statement.kind == "pcal_if" { Without::True } else { Without::Stays };
                    if let Some(condition) = part.condition {
                        self.walk.guard(condition, without);
                    }
                    self.sequence(&part.statements, around, false);
                }
            }
            "pcal_either" => {
                for part in &statement.parts {
                    self.drop_branch(part);
                    self.sequence(&part.statements, around, false);
                }
            }
            "pcal_with" => self.with(statement, &children, around),
            _ => {}
        }
    }

    /// `with (x \in S, y = e)`: each name is seen by what follows it.
    fn with(&mut self, statement: &Statement, children: &[Id], around: Around) {
        let mark = self.walk.scope.len();
        let mut name = None;
        let mut chosen = false;
        for child in children {
            let kind = self.walk.kind(*child);
            match kind {
                "identifier" if self.walk.tree.node(*child).field != Some("label") => {
                    name = Some(self.walk.text(*child).to_owned());
                    chosen = false;
                }
                "set_in" => chosen = true,
                _ if kind.starts_with("pcal_") || kind == "identifier" => break,
                _ => {
                    let set = chosen.then(|| shown(self.walk.text(*child), usize::MAX));
                    if chosen {
                        self.walk.choice(*child);
                    } else {
                        self.walk.visit(*child);
                    }
                    self.walk.scope.extend(name.take().map(|name| Bound { name, set }));
                }
            }
        }
        for part in &statement.parts {
            self.sequence(&part.statements, around, false);
        }
        self.walk.scope.truncate(mark);
    }

    fn drop_statement(&mut self, statement: &Statement, what: String) {
        let range = statement.range.clone();
        self.walk.edit(Operator::DropStatement, range.start, "", what, range, "skip");
    }

    /// `x := e || y := f`: each assignment goes; what is read on both sides.
    fn assignment(&mut self, statement: &Statement, children: &[Id]) {
        let walk = &mut self.walk;
        let is = |id: &Id, kind: &str| walk.kind(*id) == kind;
        let targets: Vec<Id> = children.iter().copied().filter(|id| is(id, "pcal_lhs")).collect();
        let signs = |id: &&Id| matches!(walk.kind(**id), "assign" | "vertvert" | "pcal_lhs");
        let values: Vec<Id> = children.iter().filter(|id| !signs(id)).copied().collect();
        let whole = statement.range.clone();
        for (at, (target, value)) in targets.iter().zip(&values).enumerate() {
            let start = walk.range(*target).start;
            let (range, text) = match (targets.len(), at) {
                (1, _) => (whole.clone(), "skip"),
                (_, 0) => (start..walk.range(targets[1]).start, ""),
                _ => (walk.range(values[at - 1]).end..walk.range(*value).end, ""),
            };
            let what = format!("no longer updates {}", walk.quoted(walk.range(*target)));
            walk.edit(Operator::DropStatement, start, "", what, range, text);
            let parts = walk.children(*target);
            for part in parts.into_iter().skip(1).filter(|part| walk.kind(*part) != "identifier").collect::<Vec<_>>() {
                walk.index(part);
            }
            walk.visit(*value);
        }
    }

    /// A branch of an `either` is never taken: it waits for what never is.
    fn drop_branch(&mut self, part: &Part) {
        let Some((first, last)) = part.statements.first().zip(part.statements.last()) else { return };
        let start = part.start();
        let walk = &mut self.walk;
        let what = format!("no longer has the branch {}", walk.quoted(start..last.range.end));
        let one = start..first.range.end;
        let alone = part.statements.len() == 1 && first.label.is_none();
        if alone && matches!(first.kind, "pcal_skip" | "pcal_assign" | "pcal_macro_call" | "pcal_goto" | "pcal_await") {
            return walk.edit(Operator::DropBranch, start, "", what, one, "await FALSE");
        }
        if part.braced || self.algorithm.syntax == Syntax::P {
            return walk.edit(Operator::DropBranch, start, "", what, start..start, "await FALSE; ");
        }
        if first.label.is_none() {
            walk.edit(Operator::DropBranch, start, "", what, one, "await FALSE");
        }
    }

    /// What a statement reads or assigns, what its macros do included.
    pub(super) fn touched(&self, statement: &Statement) -> BTreeSet<String> {
        let walk = &self.walk;
        let mut refers = crate::tla::references(walk.tree, walk.source, statement.id, &[]);
        for call in statement.all().into_iter().filter(|inner| inner.kind == "pcal_macro_call") {
            if let Some(called) = self.called(call) {
                for inner in &called.statements {
                    refers.names.extend(self.touched(inner));
                }
            }
        }
        walk.facts.reached(&refers)
    }

    fn called(&self, call: &Statement) -> Option<&'b Body> {
        let name = self.walk.tree.field(call.id, "name")?;
        self.bodies.iter().find(|body| body.owner == Owner::Macro && body.name == self.walk.text(name))
    }

    /// The variables that a statement assigns to; calls and returns assign to parameters.
    pub(super) fn assigned(&self, statement: &Statement) -> BTreeSet<String> {
        let walk = &self.walk;
        let mut names = BTreeSet::new();
        for inner in statement.all() {
            match inner.kind {
                "pcal_assign" => {
                    let targets = walk.children(inner.id).into_iter().filter(|id| walk.kind(*id) == "pcal_lhs");
                    names.extend(
                        targets.filter_map(|id| walk.tree.children(id).next()).map(|id| walk.text(id).to_owned()),
                    );
                }
                "pcal_macro_call" => {
                    let Some(called) = self.called(inner) else { continue };
                    let arguments: Vec<Id> = walk.children(inner.id).into_iter().skip(1).collect();
                    for name in called.statements.iter().flat_map(|inner| self.assigned(inner)) {
                        let parameter = called.parameters.iter().position(|parameter| *parameter == name);
                        let argument = parameter.and_then(|at| arguments.get(at)).map(|id| walk.text(*id));
                        names.insert(argument.map_or(name, |text| base(text).to_owned()));
                    }
                }
                "pcal_proc_call" | "pcal_return" => {
                    let procedures = self.bodies.iter().filter(|body| body.owner == Owner::Procedure);
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
