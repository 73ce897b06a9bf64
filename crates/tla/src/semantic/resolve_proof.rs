//! Resolves the names in theorems and their proofs. It does not check what a proof proves.

use super::builtin::BuiltInForm;
use super::graph::{
    ACTION, CONSTANT, Label, Level, Node, NodeId, RigidPart, STATE, Scope, SymbolId, SymbolKind, TEMPORAL,
};
use super::parse_proof::as_plain_name;
use super::resolver::{Frame, Resolver};
use super::tree::{
    Assumed, Expr, Facts, Form, NewKind, Proof, Purpose, Segment, SegmentKind, Sequent, Statement, Step, StepBody,
    Theorem, Unit, Visibility,
};

fn level_of(kind: NewKind) -> Level {
    match kind {
        NewKind::Constant => CONSTANT,
        NewKind::Variable | NewKind::State => STATE,
        NewKind::Action => ACTION,
        NewKind::Temporal => TEMPORAL,
    }
}

impl Resolver<'_> {
    pub(super) fn theorem(&mut self, theorem: &Theorem) {
        self.open_frame(theorem.name.is_some());
        let (node, assumed) = self.statement(&theorem.statement);
        let labels = self.close_frame(theorem.name.is_some());
        if let Some(name) = &theorem.name {
            self.theorem_symbol(name, SymbolKind::Theorem, Some(node), labels);
        }
        self.graph.module_mut(self.home).theorems.push(node);
        self.scopes.push(assumed);
        if let Some(proof) = &theorem.proof {
            self.proof(proof, node);
        }
        self.scopes.pop();
    }

    /// Only a named step or theorem can have labelled parts.
    fn open_frame(&mut self, named: bool) {
        if named {
            self.frames.push(Frame::default());
        }
    }

    fn close_frame(&mut self, named: bool) -> Vec<Label> {
        let frame = if named { self.frames.pop() } else { None };
        frame.unwrap_or_default().labels
    }

    /// The statement, and the symbols that its assumptions declare.
    fn statement(&mut self, statement: &Statement) -> (NodeId, Scope) {
        match statement {
            Statement::Formula(formula) => (self.expression(formula), Scope::default()),
            Statement::Sequent(sequent) => {
                self.scopes.push(Scope::default());
                let node = self.sequent(sequent);
                (node, self.scopes.pop().unwrap_or_default())
            }
        }
    }

    fn sequent(&mut self, sequent: &Sequent) -> NodeId {
        let (mut parts, mut declared) = (Vec::new(), Vec::new());
        for assumption in &sequent.assumptions {
            match assumption {
                Assumed::Formula(formula) => parts.push(self.expression(formula)),
                Assumed::Sequent(inner) => {
                    self.scopes.push(Scope::default());
                    self.inner_sequents.push(false);
                    parts.push(self.sequent(inner));
                    self.inner_sequents.pop();
                    self.scopes.pop();
                }
                Assumed::New { declared: symbol, level, set } => {
                    if let Some(set) = set {
                        let place = self.place(set.offset);
                        let set = self.expression(set);
                        parts.push(self.form(BuiltInForm::Set, vec![set], Vec::new(), Vec::new(), place));
                    }
                    let name = &symbol.name;
                    let kind = SymbolKind::New(level_of(*level));
                    let symbol = self.symbol(&name.text, kind, symbol.arity, name.offset);
                    let id = self.graph.add_symbol(symbol);
                    self.declare(id);
                    declared.push(id);
                    if let Some(declares) = self.inner_sequents.last_mut() {
                        *declares = true;
                    }
                }
            }
        }
        parts.push(self.expression(&sequent.goal));
        let place = self.place(sequent.goal.offset);
        self.graph.add_node(Node::Sequent { parts, declared }, place)
    }

    fn proof(&mut self, proof: &Proof, goal: NodeId) {
        match proof {
            Proof::Empty => {}
            Proof::By(facts) => self.facts(facts),
            Proof::Steps(steps) => {
                let depth = self.scopes.len();
                self.scopes.push(Scope::default());
                let mut before = None;
                for step in steps {
                    before = self.step(step, before, goal);
                }
                self.scopes.truncate(depth);
            }
        }
    }

    /// Resolves one step of the proof of a goal. Returns the right side of its formula, which `@` means in the next step.
    fn step(&mut self, step: &Step, before: Option<NodeId>, goal: NodeId) -> Option<NodeId> {
        self.open_frame(step.name.is_some());
        let mut right = None;
        let mut assumed = None;
        let mut picked: Option<Scope> = None;
        let mut node = None;
        match &step.body {
            StepBody::Use(facts) => self.facts(facts),
            StepBody::Instance(instance) => self.instance(instance, Visibility::Local),
            StepBody::Define(units) => self.define(units),
            StepBody::Have(formula) => {
                let part = self.expression(formula);
                self.add_rigid_part(goal, part, formula.offset, "HAVE");
                node = Some(part);
            }
            StepBody::Case(formula) => {
                let part = self.expression(formula);
                self.add_rigid_part(goal, part, formula.offset, "CASE");
                node = Some(part);
            }
            StepBody::TakeBounded(bounds) => {
                let (ranges, bound) = self.bounds(bounds);
                for (range, bound) in ranges.iter().zip(bounds) {
                    self.add_rigid_part(goal, *range, bound.set.offset, "TAKE");
                }
                node = Some(self.proof_form(ranges, bound, step));
            }
            StepBody::Take(names) => {
                let bound: Vec<SymbolId> = names.iter().map(|name| self.parameter(name, 0)).collect();
                node = Some(self.proof_form(Vec::new(), bound, step));
            }
            StepBody::Witness(all) => {
                let operands: Vec<NodeId> = all.iter().map(|value| self.expression(value)).collect();
                for (operand, value) in operands.iter().zip(all) {
                    self.add_rigid_part(goal, *operand, value.offset, "WITNESS");
                }
                node = Some(self.proof_form(operands, Vec::new(), step));
            }
            StepBody::PickBounded(bounds, formula) => {
                self.scopes.push(Scope::default());
                let (mut parts, bound) = self.bounds(bounds);
                let ranges = parts.clone();
                parts.push(self.expression(formula));
                picked = self.scopes.pop();
                let form = self.proof_form(parts, bound, step);
                for (range, bound) in ranges.into_iter().zip(bounds) {
                    self.add_rigid_part(form, range, bound.set.offset, "PICK");
                }
                node = Some(form);
            }
            StepBody::Pick(names, formula) => {
                self.scopes.push(Scope::default());
                let bound: Vec<SymbolId> = names.iter().map(|name| self.parameter(name, 0)).collect();
                let parts = vec![self.expression(formula)];
                picked = self.scopes.pop();
                node = Some(self.proof_form(parts, bound, step));
            }
            StepBody::Assert(statement) => {
                let (statement, scope) = self.assertion(statement, before, &mut right);
                node = Some(statement);
                assumed = Some(scope);
            }
            StepBody::Suffices(statement) => {
                let (statement, scope) = self.statement(statement);
                node = Some(statement);
                assumed = Some(scope);
            }
            StepBody::Qed => node = Some(self.literal(step.name.as_ref().map_or(0, |name| name.offset))),
        }
        let labels = self.close_frame(step.name.is_some());
        if let Some(node) = node {
            self.graph.module_mut(self.home).steps.push(node);
        }
        if let Some(name) = &step.name {
            let formula = node.filter(|_| matches!(step.body, StepBody::Assert(_)));
            let kind = if node.is_some() { SymbolKind::Theorem } else { SymbolKind::Step };
            self.theorem_symbol(name, kind, formula, labels);
        }
        // What SUFFICES assumes holds in the steps after it; what another step assumes, in its own proof only.
        let suffices = matches!(step.body, StepBody::Suffices(_));
        let inside = if suffices { Scope::default() } else { assumed.take().unwrap_or_default() };
        if let Some(proof) = &step.proof {
            self.scopes.push(inside);
            // A case and the end of a proof prove its goal; another step has a goal of its own.
            let own = if matches!(step.body, StepBody::Case(_) | StepBody::Qed) { None } else { node };
            self.proof(proof, own.unwrap_or(goal));
            self.scopes.pop();
        }
        if let Some(scope) = assumed {
            self.scopes.push(scope);
        }
        // Known in the steps that follow, but not in the proof that such values exist.
        if let Some(picked) = picked {
            for id in picked.order {
                let name = self.graph.symbol(id).name.clone();
                self.top().add(name, id);
            }
        }
        right
    }

    fn add_rigid_part(&mut self, goal: NodeId, part: NodeId, offset: usize, keyword: &'static str) {
        let place = self.place(offset);
        self.graph.module_mut(self.home).rigid_parts.push(RigidPart { goal, part, place, keyword });
    }

    fn proof_form(&mut self, operands: Vec<NodeId>, bound: Vec<SymbolId>, step: &Step) -> NodeId {
        let place = self.place(step.name.as_ref().map_or(0, |name| name.offset));
        self.form(BuiltInForm::ProofStep, operands, bound, Vec::new(), place)
    }

    /// A formula; `@ = e` continues the previous one.
    fn assertion(
        &mut self,
        statement: &Statement,
        before: Option<NodeId>,
        right: &mut Option<NodeId>,
    ) -> (NodeId, Scope) {
        let Statement::Formula(formula) = statement else { return self.statement(statement) };
        let continues = match &formula.form {
            Form::Apply(operator, operands) if operator.is_infix() => {
                operands.first().and_then(as_plain_name).is_some_and(|name| name.name.text == "@")
            }
            _ => false,
        };
        if let Some(before) = before.filter(|_| continues) {
            self.updates.push(vec![before]);
        }
        let node = self.expression(formula);
        if before.is_some() && continues {
            self.updates.pop();
        }
        if let Form::Apply(operator, _) = &formula.form
            && operator.is_infix()
            && let Node::Apply(application) = self.graph.node(node)
        {
            *right = application.operands.get(1).copied().flatten();
        }
        (node, Scope::default())
    }

    fn define(&mut self, units: &[Unit]) {
        for unit in units {
            let definitions = self.definition(unit).0;
            self.add_definitions(definitions);
        }
    }

    /// Checks that everything that BY, USE and HIDE list exists.
    pub(super) fn facts(&mut self, facts: &Facts) {
        for module in &facts.modules {
            let own = *self.graph.module(self.home).name == *module.text;
            if !own && self.lookup_module(&module.text).is_none() {
                self.error(module.offset, format!("module {} is not found", module.text));
            }
        }
        for fact in &facts.formulas {
            if self.is_fact(fact) {
                continue;
            }
            let node = self.expression(fact);
            if facts.purpose == Purpose::Hide && matches!(self.graph.node(node), Node::Apply(_)) {
                self.error(fact.offset, "HIDE lists names of theorems, assumptions or steps".into());
            }
        }
        for definition in &facts.definitions {
            match &definition.form {
                Form::Path(segments) => {
                    let joined: Vec<&str> = segments.iter().map(|segment| segment.name.text.as_str()).collect();
                    let plain = |segment: &Segment| segment.kind == SegmentKind::Name && segment.arguments.is_none();
                    if segments.iter().all(plain) {
                        self.check_definition_exists(&joined.join("!"), definition.offset);
                    } else {
                        self.error(
                            definition.offset,
                            "DEF lists names of definitions, without arguments or parts".into(),
                        );
                    }
                }
                _ => self.error(definition.offset, "DEF lists names of definitions".into()),
            }
        }
    }

    fn check_definition_exists(&mut self, name: &str, offset: usize) {
        let Some(id) = self.lookup(name) else { return self.report_undefined(name, offset) };
        let symbol = self.graph.symbol(id);
        let defined = match symbol.kind {
            SymbolKind::Operator | SymbolKind::Instance => true,
            SymbolKind::Theorem => !name.starts_with('<'),
            SymbolKind::Step => true,
            _ => false,
        };
        if !defined {
            self.error(offset, format!("DEF lists names of definitions: `{name}` is not one"));
        }
    }

    /// A theorem or a step with a statement, by its name alone; the name of an instance means its theorems.
    fn is_fact(&self, expression: &Expr) -> bool {
        let known = as_plain_name(expression).and_then(|segment| self.lookup(&segment.name.text));
        known.is_some_and(|id| matches!(self.graph.symbol(id).kind, SymbolKind::Theorem | SymbolKind::Instance))
    }
}
