//! Resolves the names of an expression and makes its node.

use super::builtin::BuiltInForm;
use super::graph::{Application, Detail, Label, Node, NodeId, Place, Scope, SymbolId, SymbolKind};
use super::operator::Operator;
use super::resolver::{Resolver, shapes};
use super::tree::{Bound, Component, Expr, Form, Name, Quantifier, Segment, SegmentKind, Subscripted, Unit, Update};

impl Resolver<'_> {
    /// A form applied to operands, with the names that it binds.
    pub(super) fn form(
        &mut self,
        row: BuiltInForm,
        operands: Vec<NodeId>,
        bound: Vec<SymbolId>,
        ranges: Vec<NodeId>,
        place: Place,
    ) -> NodeId {
        self.detailed_form(row, operands, bound, ranges, Detail::None, place)
    }

    pub(super) fn detailed_form(
        &mut self,
        row: BuiltInForm,
        operands: Vec<NodeId>,
        bound: Vec<SymbolId>,
        ranges: Vec<NodeId>,
        detail: Detail,
        place: Place,
    ) -> NodeId {
        let operands = operands.into_iter().map(Some).collect();
        self.graph.add_node(Node::Apply(Application { operator: row.symbol(), operands, bound, ranges, detail }), place)
    }

    fn named_field(&mut self, row: BuiltInForm, operands: Vec<NodeId>, name: &str, offset: usize) -> NodeId {
        let place = self.place(offset);
        self.detailed_form(row, operands, Vec::new(), Vec::new(), Detail::Field(name.into()), place)
    }

    fn apply_form(&mut self, row: BuiltInForm, operands: Vec<NodeId>, offset: usize) -> NodeId {
        let place = self.place(offset);
        self.form(row, operands, Vec::new(), Vec::new(), place)
    }

    pub(super) fn apply(&mut self, operator: SymbolId, operands: Vec<NodeId>, offset: usize) -> NodeId {
        let place = self.place(offset);
        let operands = operands.into_iter().map(Some).collect();
        let application =
            Application { operator, operands, bound: Vec::new(), ranges: Vec::new(), detail: Detail::None };
        self.graph.add_node(Node::Apply(application), place)
    }

    fn expressions(&mut self, expressions: &[Expr]) -> Vec<NodeId> {
        expressions.iter().map(|expression| self.expression(expression)).collect()
    }

    /// Resolves the sets first, because the bound variables are not known in them, then declares the variables.
    pub(super) fn bounds(&mut self, bounds: &[Bound]) -> (Vec<NodeId>, Vec<SymbolId>) {
        let ranges = bounds.iter().map(|bound| self.expression(&bound.set)).collect();
        let names = bounds.iter().flat_map(|bound| &bound.names);
        (ranges, names.map(|name| self.parameter(name, 0)).collect())
    }

    /// Resolves a body; labels in it get these bound variables as parameters.
    fn body(&mut self, bound: &[SymbolId], body: &Expr) -> NodeId {
        let count = bound.len();
        if let Some(frame) = self.frames.last_mut() {
            frame.bound.extend(bound);
        }
        let node = self.expression(body);
        if let Some(frame) = self.frames.last_mut() {
            frame.bound.truncate(frame.bound.len().saturating_sub(count));
        }
        node
    }

    fn bounded(&mut self, row: BuiltInForm, bounds: &[Bound], body: &Expr, offset: usize) -> NodeId {
        self.scopes.push(Scope::default());
        let (ranges, bound) = self.bounds(bounds);
        let body = self.body(&bound, body);
        self.scopes.pop();
        let place = self.place(offset);
        self.detailed_form(row, vec![body], bound, ranges, shapes(bounds), place)
    }

    fn unbounded(&mut self, row: BuiltInForm, names: &[Name], body: &Expr, offset: usize) -> NodeId {
        self.scopes.push(Scope::default());
        let bound: Vec<SymbolId> = names.iter().map(|name| self.parameter(name, 0)).collect();
        let body = self.body(&bound, body);
        self.scopes.pop();
        let place = self.place(offset);
        self.form(row, vec![body], bound, Vec::new(), place)
    }

    pub(super) fn expression(&mut self, expression: &Expr) -> NodeId {
        let offset = expression.offset;
        match &expression.form {
            Form::Literal => self.literal(offset),
            Form::Path(segments) => self.value(segments, offset),
            Form::Apply(operator, operands) => self.operation(operator, operands, offset),
            Form::Product(factors) => {
                let operands = self.expressions(factors);
                self.apply_form(BuiltInForm::Product, operands, offset)
            }
            Form::List(items, operator) => {
                let row = if operator.name == "/\\" { BuiltInForm::Conjunction } else { BuiltInForm::Disjunction };
                let operands = self.expressions(items);
                self.apply_form(row, operands, offset)
            }
            Form::Parenthesis(inner) => self.expression(inner),
            Form::Tuple(elements) => {
                let operands = self.expressions(elements);
                self.apply_form(BuiltInForm::Tuple, operands, offset)
            }
            Form::Set(elements) => {
                let operands = self.expressions(elements);
                self.apply_form(BuiltInForm::Set, operands, offset)
            }
            Form::Filter(bound, body) => self.filter(bound, body, offset),
            Form::Map(body, bounds) => self.bounded(BuiltInForm::Map, bounds, body, offset),
            Form::Function(bounds, body) => self.bounded(BuiltInForm::Function, bounds, body, offset),
            Form::FunctionSet(two) => self.apply_form_to_pair(BuiltInForm::FunctionSet, two, offset),
            Form::Record(fields) => self.record(BuiltInForm::Record, fields, offset),
            Form::RecordSet(fields) => self.record(BuiltInForm::RecordSet, fields, offset),
            Form::Except(base, updates) => self.except(base, updates, offset),
            Form::Application(function, arguments) => self.application(function, arguments, offset),
            Form::Field(record, name) => {
                let operand = self.expression(record);
                self.named_field(BuiltInForm::Selection, vec![operand], &name.text, offset)
            }
            Form::Action(kind, two) => self.action(*kind, two, offset),
            Form::Bounded(quantifier, bounds, body) => self.bounded(row_of(*quantifier), bounds, body, offset),
            Form::Unbounded(quantifier, names, body) => self.unbounded(row_of(*quantifier), names, body, offset),
            Form::Choose(names, _, None, body) => self.unbounded(BuiltInForm::Choose, names, body, offset),
            Form::Choose(names, is_tuple, Some(set), body) => self.choose(names, *is_tuple, set, body, offset),
            Form::If(three) => {
                let operands = vec![self.expression(&three.0), self.expression(&three.1), self.expression(&three.2)];
                self.apply_form(BuiltInForm::If, operands, offset)
            }
            Form::Case(arms, other) => self.case(arms, other.as_deref(), offset),
            Form::Let(units, body) => self.let_in(units, body, offset),
            Form::Label(name, parameters, body) => self.label(name, parameters, body),
            Form::Operator(operator) => self.reject_operator_value(offset, operator.name),
            Form::Lambda(..) => self.reject_operator_value(offset, "LAMBDA"),
            Form::Arguments(_) => {
                self.error(offset, "a function is missing before `[`".into());
                self.literal(offset)
            }
        }
    }

    fn reject_operator_value(&mut self, offset: usize, what: &str) -> NodeId {
        self.error(offset, format!("{what} is an operator: an expression is required here"));
        self.literal(offset)
    }

    fn apply_form_to_pair(&mut self, row: BuiltInForm, two: &(Expr, Expr), offset: usize) -> NodeId {
        let operands = vec![self.expression(&two.0), self.expression(&two.1)];
        self.apply_form(row, operands, offset)
    }

    /// The bound variable is not known in the set.
    fn filter(&mut self, bound: &Bound, body: &Expr, offset: usize) -> NodeId {
        self.bounded(BuiltInForm::Filter, std::slice::from_ref(bound), body, offset)
    }

    fn choose(&mut self, names: &[Name], is_tuple: bool, set: &Expr, body: &Expr, offset: usize) -> NodeId {
        self.scopes.push(Scope::default());
        let ranges = vec![self.expression(set)];
        let bound: Vec<SymbolId> = names.iter().map(|name| self.parameter(name, 0)).collect();
        let body = self.body(&bound, body);
        self.scopes.pop();
        let place = self.place(offset);
        let detail = Detail::Bounds(vec![(names.len(), is_tuple)]);
        self.detailed_form(BuiltInForm::Choose, vec![body], bound, ranges, detail, place)
    }

    fn operation(&mut self, operator: &'static Operator, operands: &[Expr], offset: usize) -> NodeId {
        let Some(symbol) = self.lookup(operator.name) else {
            self.report_undefined(operator.name, offset);
            // Errors in the operands are reported all the same.
            let _ = self.expressions(operands);
            return self.literal(offset);
        };
        let nodes = self.expressions(operands);
        // A long chain is one node with many operands: see `OperatorStack`.
        if operands.len() > 2 && matches!(operator.name, "/\\" | "\\/") {
            let row = if operator.name == "/\\" { BuiltInForm::Conjunction } else { BuiltInForm::Disjunction };
            return self.apply_form(row, nodes, offset);
        }
        let arity = self.graph.symbol(symbol).arity;
        if arity != nodes.len() {
            self.error(
                offset,
                format!("`{}` is defined for {arity} operands and has {} here", operator.name, nodes.len()),
            );
            return self.literal(offset);
        }
        self.apply(symbol, nodes, offset)
    }

    fn record(&mut self, row: BuiltInForm, fields: &[(Name, Expr)], offset: usize) -> NodeId {
        let mut operands = Vec::new();
        for (index, (name, value)) in fields.iter().enumerate() {
            if fields[..index].iter().any(|(before, _)| before.text == name.text) {
                self.error(name.offset, format!("the field `{}` occurs twice in this record", name.text));
            }
            let value = self.expression(value);
            operands.push(self.named_field(BuiltInForm::FieldValue, vec![value], &name.text, name.offset));
        }
        self.apply_form(row, operands, offset)
    }

    fn except(&mut self, base: &Expr, updates: &[Update], offset: usize) -> NodeId {
        let mut operands = vec![self.expression(base)];
        for update in updates {
            let mut path = Vec::new();
            for component in &update.path {
                match component {
                    Component::Field(name) => {
                        path.push(self.named_field(BuiltInForm::FieldValue, Vec::new(), name, offset));
                    }
                    Component::Index(index) => {
                        let index = self.expressions(index);
                        path.push(self.apply_form(BuiltInForm::Tuple, index, offset));
                    }
                }
            }
            self.updates.push(operands.clone());
            let value = self.expression(&update.value);
            self.updates.pop();
            // The path is a sequence of at most action level; the value may have any level.
            let path = self.apply_form(BuiltInForm::Tuple, path, offset);
            operands.push(self.apply_form(BuiltInForm::Update, vec![path, value], update.value.offset));
        }
        self.apply_form(BuiltInForm::Except, operands, offset)
    }

    fn application(&mut self, function: &Expr, arguments: &[Expr], offset: usize) -> NodeId {
        let function = self.expression(function);
        // A single argument may be a tuple of all.
        if arguments.len() > 1
            && let Node::Apply(application) = self.graph.node(function)
            && let Some(parameters) = self.graph.symbol(application.operator).function
            && parameters != arguments.len()
        {
            let name = self.graph.symbol(application.operator).name.clone();
            let message = format!("the function `{name}` has {parameters} arguments and gets {} here", arguments.len());
            let place = self.place(offset);
            self.graph.report(super::graph::Severity::Warning, place, message);
        }
        let mut operands = vec![function];
        operands.extend(self.expressions(arguments));
        self.apply_form(BuiltInForm::Application, operands, offset)
    }

    fn action(&mut self, kind: Subscripted, two: &(Expr, Expr), offset: usize) -> NodeId {
        let row = match kind {
            Subscripted::Square => BuiltInForm::BoxAction,
            Subscripted::Angle => BuiltInForm::AngleAction,
            Subscripted::Weak => BuiltInForm::WeakFairness,
            Subscripted::Strong => BuiltInForm::StrongFairness,
        };
        self.apply_form_to_pair(row, two, offset)
    }

    fn case(&mut self, arms: &[(Expr, Expr)], other: Option<&Expr>, offset: usize) -> NodeId {
        let mut operands = Vec::new();
        for (guard, value) in arms {
            let arm = vec![self.expression(guard), self.expression(value)];
            operands.push(self.apply_form(BuiltInForm::CaseArm, arm, guard.offset));
        }
        if let Some(other) = other {
            let value = self.expression(other);
            operands.push(self.apply_form(BuiltInForm::CaseArm, vec![value], other.offset));
        }
        self.apply_form(BuiltInForm::Case, operands, offset)
    }

    fn let_in(&mut self, units: &[Unit], body: &Expr, offset: usize) -> NodeId {
        self.open_let();
        let (mut definitions, mut instances) = (Vec::new(), Vec::new());
        for unit in units {
            let (symbols, made) = self.definition(unit);
            definitions.extend(symbols);
            instances.extend(made);
        }
        self.close_let();
        let body = self.expression(body);
        self.scopes.pop();
        let place = self.place(offset);
        self.graph.add_node(Node::Let { definitions, instances, body }, place)
    }

    /// A label names a part of a definition; its parameters are the variables bound around it.
    fn label(&mut self, name: &Name, parameters: &[Name], body: &Expr) -> NodeId {
        if self.frames.is_empty() {
            self.error(name.offset, "a label is allowed only in a definition or a proof step".into());
        }
        if !self.updates.is_empty() {
            self.error(name.offset, "a label is not allowed within EXCEPT".into());
        }
        if self.inner_sequents.contains(&true) {
            let message = "a label is not allowed in the scope of a NEW of a nested ASSUME";
            self.error(name.offset, message.into());
        }
        let (node, inner) = self.labelled_expression(body);
        let symbols: Vec<SymbolId> = parameters.iter().filter_map(|parameter| self.lookup(&parameter.text)).collect();
        let Some(frame) = self.frames.last() else { return node };
        let same = |one: &[SymbolId], other: &[SymbolId]| one.iter().all(|id| other.contains(id));
        let fits = symbols.len() == parameters.len()
            && symbols.len() == frame.bound.len()
            && same(&symbols, &frame.bound)
            && same(&frame.bound, &symbols);
        let is_repeated = frame.labels.iter().any(|label| *label.name == *name.text);
        if !fits {
            let bound: Vec<&str> = frame.bound.iter().map(|id| &*self.graph.symbol(*id).name).collect();
            let message = if bound.is_empty() {
                format!("the label `{}` takes no parameters here", name.text)
            } else {
                format!(
                    "the label `{}` must have as parameters the variables bound around it: {}",
                    name.text,
                    bound.join(", ")
                )
            };
            self.error(name.offset, message);
        }
        if is_repeated {
            self.error(name.offset, format!("the label `{}` occurs twice in this definition", name.text));
        }
        let label = Label { name: name.text.as_str().into(), parameters: symbols, node, inner };
        if let Some(frame) = self.frames.last_mut() {
            frame.labels.push(label);
        }
        node
    }

    pub(super) fn report_undefined(&mut self, name: &str, offset: usize) {
        let home = super::standard::module_that_defines(name);
        let advice = match home {
            Some(module) => format!(": EXTENDS {module} is missing"),
            None => String::new(),
        };
        self.error(offset, format!("`{name}` is neither defined nor declared{advice}"));
    }

    /// A name with its arguments as a value.
    fn value(&mut self, segments: &[Segment], offset: usize) -> NodeId {
        if let [segment] = segments
            && segment.name.text == "@"
            && segment.arguments.is_none()
        {
            return match self.updates.last().cloned() {
                Some(parts) => {
                    let place = self.place(offset);
                    self.graph.add_node(Node::At(parts), place)
                }
                None => {
                    self.error(offset, "`@` has a meaning only in the new value that EXCEPT gives".into());
                    self.literal(offset)
                }
            };
        }
        let (mut operands, mut pending): (Vec<NodeId>, Vec<&Expr>) = (Vec::new(), Vec::new());
        let mut covered = 0;
        let mut from = 0;
        let mut prefix = String::new();
        loop {
            let Some((index, symbol)) = self.find(segments, from, &mut prefix, &mut pending) else {
                return self.literal(offset);
            };
            let found = self.graph.symbol(symbol).clone();
            let segment = &segments[index];
            let is_last = index + 1 == segments.len();
            let simple = !matches!(found.kind, SymbolKind::Operator | SymbolKind::Theorem | SymbolKind::Instance);
            if simple && !is_last {
                self.error(segment.name.offset, format!("nothing can be selected of `{}`", found.name));
                return self.literal(offset);
            }
            let sequent =
                is_last && found.body.is_some_and(|body| matches!(self.graph.node(body), Node::Sequent { .. }));
            let silent = found.kind == SymbolKind::Theorem && found.body.is_none();
            if found.kind == SymbolKind::Step || sequent || silent {
                self.error(segment.name.offset, format!("`{}` is not a formula", found.name));
                return self.literal(offset);
            }
            pending.extend(segment.arguments.iter().flatten());
            if covered + pending.len() != found.arity {
                self.report_argument_count(&found.name, found.arity, covered + pending.len(), segment.name.offset);
                return self.literal(offset);
            }
            // `I!Op` has the parameters of `I` before its own, so those that got their arguments on the way are
            // skipped.
            for (position, argument) in (covered..).zip(pending.drain(..)) {
                let node = self.operand(symbol, position, argument);
                operands.push(node);
            }
            covered = found.arity;
            if found.kind == SymbolKind::Instance {
                if is_last {
                    self.error(
                        segment.name.offset,
                        format!("`{}` names a module: `!` and a name must follow", found.name),
                    );
                    return self.literal(offset);
                }
                from = index + 1;
                continue;
            }
            if !is_last {
                return self.part(symbol, operands, &segments[index + 1..], segment.name.offset);
            }
            return self.apply(symbol, operands, offset);
        }
    }

    fn report_argument_count(&mut self, name: &str, wanted: usize, given: usize, offset: usize) {
        let arguments = |count: usize| if count == 1 { "1 argument".to_owned() } else { format!("{count} arguments") };
        self.error(offset, format!("`{name}` takes {} and gets {given}", arguments(wanted)));
    }

    /// The next symbol that the segments name, joined by `!`. Collects the arguments on the way in `pending`.
    fn find<'e>(
        &mut self,
        segments: &'e [Segment],
        from: usize,
        prefix: &mut String,
        pending: &mut Vec<&'e Expr>,
    ) -> Option<(usize, SymbolId)> {
        for (index, segment) in segments.iter().enumerate().skip(from) {
            if segment.kind == SegmentKind::Name {
                if !prefix.is_empty() {
                    prefix.push('!');
                }
                prefix.push_str(&segment.name.text);
                if let Some(symbol) = self.lookup(prefix) {
                    return Some((index, symbol));
                }
            } else {
                // A selector ends the name; what follows is looked up separately.
                prefix.clear();
            }
            pending.extend(segment.arguments.iter().flatten());
        }
        let names: Vec<&str> = segments.iter().map(|segment| segment.name.text.as_str()).collect();
        self.report_undefined(&names.join("!"), segments.first().map_or(0, |segment| segment.name.offset));
        None
    }

    /// An argument: a value, or an operator if the parameter has operands.
    fn operand(&mut self, operator: SymbolId, position: usize, argument: &Expr) -> NodeId {
        let symbol = self.graph.symbol(operator);
        let wanted = match symbol.kind {
            SymbolKind::Operator | SymbolKind::Instance => {
                symbol.parameters.get(position).map_or(0, |parameter| self.graph.symbol(*parameter).arity)
            }
            _ => 0,
        };
        if wanted == 0 {
            return self.expression(argument);
        }
        let name = symbol.name.clone();
        let node = self.operator_argument(argument, wanted, &format!("argument {} of `{name}`", position + 1));
        if let Node::Operator(given) = self.graph.node(node) {
            let given = self.graph.symbol(*given).clone();
            if given.parameters.iter().any(|parameter| self.graph.symbol(*parameter).arity > 0) {
                let message = format!("`{}` takes operators and cannot itself be an argument", given.name);
                self.error(argument.offset, message);
            }
        }
        node
    }

    /// An operator with `wanted` operands; `purpose` names its use in messages.
    pub(super) fn operator_argument(&mut self, argument: &Expr, wanted: usize, purpose: &str) -> NodeId {
        let offset = argument.offset;
        let place = self.place(offset);
        let symbol = match &argument.form {
            Form::Lambda(names, body) => Some(self.lambda(names, body, offset)),
            Form::Operator(operator) => {
                let symbol = self.lookup(operator.name);
                if symbol.is_none() {
                    self.report_undefined(operator.name, offset);
                }
                symbol
            }
            Form::Path(segments) => self.named_operator(segments),
            _ => {
                self.error(offset, format!("{purpose} must be an operator with {wanted} operands, not an expression"));
                None
            }
        };
        let Some(symbol) = symbol else { return self.literal(offset) };
        let found = self.graph.symbol(symbol).clone();
        if found.arity != wanted {
            let message =
                format!("{purpose} must be an operator with {wanted} operands; `{}` has {}", found.name, found.arity);
            self.error(offset, message);
            return self.literal(offset);
        }
        self.graph.add_node(Node::Operator(symbol), place)
    }

    fn named_operator(&mut self, segments: &[Segment]) -> Option<SymbolId> {
        let mut prefix = String::new();
        let mut from = 0;
        if let Some(segment) = segments.iter().find(|segment| segment.arguments.is_some()) {
            self.error(segment.name.offset, "an operator is named here without arguments".into());
            return None;
        }
        loop {
            let (index, symbol) = self.find(segments, from, &mut prefix, &mut Vec::new())?;
            let found = self.graph.symbol(symbol).clone();
            let segment = &segments[index];
            let is_last = index + 1 == segments.len();
            match found.kind {
                SymbolKind::Instance if !is_last => from = index + 1,
                SymbolKind::Instance | SymbolKind::Theorem | SymbolKind::Step => {
                    self.error(segment.name.offset, format!("`{}` is not an operator", found.name));
                    return None;
                }
                _ if is_last => return Some(symbol),
                SymbolKind::Operator => {
                    let message = format!("a part of `{}` is selected by its position or label", found.name);
                    self.not_analysed(segment.name.offset, message);
                    return None;
                }
                _ => {
                    self.error(segment.name.offset, format!("nothing can be selected of `{}`", found.name));
                    return None;
                }
            }
        }
    }

    fn lambda(&mut self, names: &[Name], body: &Expr, offset: usize) -> SymbolId {
        self.scopes.push(Scope::default());
        let parameters: Vec<SymbolId> = names.iter().map(|name| self.parameter(name, 0)).collect();
        let body = self.body(&parameters, body);
        self.scopes.pop();
        let mut symbol = self.symbol("LAMBDA", SymbolKind::Operator, parameters.len(), offset);
        symbol.parameters = parameters;
        symbol.body = Some(body);
        self.graph.add_symbol(symbol)
    }
}

fn row_of(quantifier: Quantifier) -> BuiltInForm {
    match quantifier {
        Quantifier::All => BuiltInForm::All,
        Quantifier::Some => BuiltInForm::Some,
        Quantifier::TemporalAll => BuiltInForm::TemporalAll,
        Quantifier::TemporalSome => BuiltInForm::TemporalSome,
    }
}
