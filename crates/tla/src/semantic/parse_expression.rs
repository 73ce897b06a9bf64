//! The grammar of expressions.
//!
//! A bulleted list contains what is to the right of its bullets. Like SANY, this checks each operand and operator
//! before it continues, and all tokens of an item once the item is complete.

use super::operator::Operator;
use super::operator_stack::OperatorStack;
use super::parser::{Parsed, Parser, syntax_error, too_deep};
use super::token::{Kind, Token};
use super::tree::{Expr, Form, MAX_DEPTH, Name, Quantifier, Segment, SegmentKind};

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        let whole = self.nested(Self::operands_and_operators)?.ending(self.last_end());
        if whole.depth > MAX_DEPTH { too_deep(whole.offset) } else { Ok(whole) }
    }

    /// Whether a token is to the right of the innermost list's bullets.
    pub(super) fn inside(&self, token: &Token) -> bool {
        self.lists.last().is_none_or(|(_, column)| *column < token.column)
    }

    fn operands_and_operators(&mut self) -> Parsed<Expr> {
        let mut stack = OperatorStack::default();
        loop {
            while let Some(operator) = self.prefix_operator() {
                let token = self.take();
                stack.push_operator(operator, token.start, token.end)?;
            }
            let token = self.peek();
            if !self.inside(&token) {
                let message = "an operand is missing: this is not to the right of its bulleted list's column";
                return if matches!(token.kind, Kind::Bad(_) | Kind::Nothing) {
                    self.unexpected("an expression")
                } else {
                    syntax_error(token.start, message.into())
                };
            }
            // Nothing follows: such an expression extends as far as possible.
            if let Some(open) = self.open_ended()? {
                stack.push_operand(open.ending(self.last_end()));
                break;
            }
            let operand = self.operand()?;
            stack.push_operand(operand.ending(self.last_end()));
            self.after_operand(&mut stack)?;
            let next = self.peek();
            if !self.inside(&next) {
                break;
            }
            if next.is("::") {
                self.labelled(&mut stack)?;
                break;
            }
            match next.operator().filter(|operator| operator.is_infix()) {
                Some(operator) => {
                    self.take();
                    stack.push_operator(operator, next.start, next.end)?;
                }
                None => break,
            }
        }
        let end = self.peek().start;
        stack.finish(end)
    }

    fn prefix_operator(&self) -> Option<&'static Operator> {
        let token = self.peek();
        let operator = token.operator()?;
        // `-` is infix in the table of operators; before an operand it is the negation `-.`.
        let stands_before = (operator.is_prefix() && operator.name != "-.") || operator.name == "-";
        (stands_before && self.inside(&token)).then_some(operator)
    }

    /// Postfix operators, applications and fields.
    fn after_operand(&mut self, stack: &mut OperatorStack) -> Parsed<()> {
        loop {
            let token = self.peek();
            if !self.inside(&token) {
                return Ok(());
            }
            if let Some(operator) = token.operator().filter(|operator| operator.is_postfix()) {
                self.take();
                stack.push_operator(operator, token.start, token.end)?;
            } else if token.is(".") {
                self.take();
                if !self.inside(&self.peek()) {
                    return self.unexpected("the name of a field inside the bulleted list");
                }
                let name = self.free_name("the name of a field after `.`")?;
                stack.push_field(name, token.start, self.last_end())?;
            } else if token.is("[") {
                let argument = self.nested(Self::square)?;
                let Form::Arguments(arguments) = argument.form else {
                    return syntax_error(
                        token.start,
                        "two expressions follow each other: an operator between them is missing".into(),
                    );
                };
                stack.push_application(arguments, token.start, self.last_end())?;
            } else {
                return Ok(());
            }
        }
    }

    /// Expressions that extend as far as possible: quantifiers, IF, CASE, LET, CHOOSE.
    fn open_ended(&mut self) -> Parsed<Option<Expr>> {
        let token = self.peek();
        let expression = match token.kind {
            Kind::Mark("\\A") => self.quantified(Quantifier::All),
            Kind::Mark("\\E") => self.quantified(Quantifier::Some),
            Kind::Mark("\\AA") => self.temporally_quantified(Quantifier::TemporalAll),
            Kind::Mark("\\EE") => self.temporally_quantified(Quantifier::TemporalSome),
            Kind::Word("IF") => self.conditional(),
            Kind::Word("CASE") => self.cases(),
            Kind::Word("LET") => self.let_in(),
            Kind::Word("CHOOSE") => self.choice(),
            _ => return Ok(None),
        };
        expression.map(Some)
    }

    fn quantified(&mut self, quantifier: Quantifier) -> Parsed<Expr> {
        let offset = self.take().start;
        if self.names_up_to(":") {
            let names = self.identifiers("the name of a bound variable")?;
            self.expect(":", "after the bound variables")?;
            let body = self.expression()?;
            return Ok(Expr::new(Form::Unbounded(quantifier, names, Box::new(body)), offset));
        }
        let bounds = self.bounds()?;
        self.expect(":", "after the bound variables")?;
        let body = self.expression()?;
        Ok(Expr::new(Form::Bounded(quantifier, bounds, Box::new(body)), offset))
    }

    fn temporally_quantified(&mut self, quantifier: Quantifier) -> Parsed<Expr> {
        let offset = self.take().start;
        let names = self.identifiers("the name of a bound variable")?;
        self.expect(":", "after the bound variables")?;
        let body = self.expression()?;
        Ok(Expr::new(Form::Unbounded(quantifier, names, Box::new(body)), offset))
    }

    /// Whether `a, b, c` and then `mark` follow.
    pub(super) fn names_up_to(&self, mark: &str) -> bool {
        let mut index = self.position;
        while self.token(index).kind == Kind::Identifier {
            if !self.token(index + 1).is(",") {
                return self.token(index + 1).is(mark);
            }
            index += 2;
        }
        false
    }

    fn conditional(&mut self) -> Parsed<Expr> {
        let offset = self.take().start;
        let condition = self.expression()?;
        self.expect("THEN", "after the condition of IF")?;
        let positive = self.expression()?;
        self.expect("ELSE", "after the value of THEN")?;
        let negative = self.expression()?;
        Ok(Expr::new(Form::If(Box::new((condition, positive, negative))), offset))
    }

    fn cases(&mut self) -> Parsed<Expr> {
        let offset = self.take().start;
        let mut arms = Vec::new();
        let mut other = None;
        loop {
            let guard = self.expression()?;
            self.expect("->", "after the condition of CASE")?;
            arms.push((guard, self.expression()?));
            if !self.is("[]") {
                break;
            }
            self.take();
            if self.take_if("OTHER") {
                self.expect("->", "after OTHER")?;
                other = Some(Box::new(self.expression()?));
                break;
            }
        }
        Ok(Expr::new(Form::Case(arms, other), offset))
    }

    fn let_in(&mut self) -> Parsed<Expr> {
        let offset = self.take().start;
        let mut units = Vec::new();
        loop {
            let unit = if self.is("RECURSIVE") { self.recursive()? } else { self.definition()? };
            units.push(unit);
            if self.take_if("IN") {
                break;
            }
            if !(self.is("RECURSIVE") || self.is("LOCAL") || self.begins_definition(self.position)) {
                return self.unexpected("IN, or another definition of LET");
            }
        }
        let body = self.expression()?;
        Ok(Expr::new(Form::Let(units, Box::new(body)), offset))
    }

    fn choice(&mut self) -> Parsed<Expr> {
        let offset = self.take().start;
        let is_tuple = self.is("<<");
        let names =
            if is_tuple { self.identifier_tuple()? } else { vec![self.identifier("the name of a bound variable")?] };
        let set = if self.take_if("\\in") { Some(Box::new(self.expression()?)) } else { None };
        self.expect(":", "after the bound variable of CHOOSE")?;
        let body = self.expression()?;
        Ok(Expr::new(Form::Choose(names, is_tuple, set, Box::new(body)), offset))
    }

    fn operand(&mut self) -> Parsed<Expr> {
        let token = self.peek();
        let offset = token.start;
        match token.kind {
            Kind::Bullet(operator) => self.list(operator),
            Kind::Mark("(") => {
                self.take();
                let inner = self.expression()?;
                self.expect(")", "to close the parenthesis")?;
                Ok(Expr::new(Form::Parenthesis(Box::new(inner)), offset))
            }
            Kind::Mark("{") => self.nested(Self::brace),
            Kind::Mark("[") => self.nested(Self::square),
            Kind::Mark("<<") => self.nested(Self::angle),
            Kind::Mark("WF_" | "SF_") => self.nested(Self::fairness),
            Kind::Text => {
                self.take();
                Ok(Expr::new(Form::Literal, offset))
            }
            Kind::Number => {
                self.number()?;
                Ok(Expr::new(Form::Literal, offset))
            }
            Kind::Identifier => self.path(token),
            Kind::Step => {
                if self.proofs.len() < 2 && self.proofs.last().is_none_or(Option::is_none) {
                    return syntax_error(offset, "the name of a proof step outside its proof".into());
                }
                if self.spelling(&token).starts_with("<+>") {
                    return syntax_error(offset, "`<+>` begins a step and cannot name one".into());
                }
                self.path(token)
            }
            Kind::Operator(operator) if !operator.is_prefix() || operator.name == "-." => self.path(token),
            _ => self.unexpected("an expression"),
        }
    }

    /// `1` or `1.5`
    pub(super) fn number(&mut self) -> Parsed<()> {
        let whole = self.take();
        if !self.is(".") || self.token_ahead(1).kind != Kind::Number {
            return Ok(());
        }
        self.take();
        let part = self.take();
        if [whole, part].iter().any(|token| self.spelling(token).starts_with('\\')) {
            return syntax_error(whole.start, "a number with a decimal point has only decimal digits".into());
        }
        Ok(())
    }

    fn list(&mut self, operator: &'static Operator) -> Parsed<Expr> {
        let first = self.peek();
        let from = self.position;
        self.lists.push((operator.name, first.column));
        let mut items = Vec::new();
        loop {
            let bullet = self.position;
            let inner = self.closed.len();
            self.take();
            items.push(self.expression()?);
            self.check_indentation(bullet, inner, first.column)?;
            self.closed.truncate(inner);
            let next = self.peek();
            if !(matches!(next.kind, Kind::Bullet(next_operator) if next_operator == operator)
                && next.column == first.column)
            {
                break;
            }
        }
        self.lists.pop();
        self.closed.push((from, self.position));
        Ok(Expr::new(Form::List(items, operator), first.start))
    }

    /// Checks that everything in an item is to the right of its bullet; inner lists have checked themselves.
    fn check_indentation(&self, bullet: usize, inner: usize, column: usize) -> Parsed<()> {
        let mut index = bullet + 1;
        let mut lists = self.closed.get(inner..).unwrap_or(&[]).iter();
        let mut next = lists.next();
        while index < self.position {
            if let Some((from, to)) = next.copied()
                && index >= from
            {
                index = index.max(to);
                next = lists.next();
                continue;
            }
            let token = self.token(index);
            if token.column <= column {
                let message =
                    "this belongs to an item of a bulleted list and must be to the right of its bullet".into();
                return syntax_error(token.start, message);
            }
            index += 1;
        }
        Ok(())
    }

    /// `label(x):: expression`
    fn labelled(&mut self, stack: &mut OperatorStack) -> Parsed<()> {
        let offset = self.take().start;
        let label = stack.take_operand().and_then(as_label);
        let Some((name, parameters)) = label else {
            return syntax_error(offset, "`::` follows something that is not a label".into());
        };
        let from = name.offset;
        let body = self.expression()?;
        if let (Form::Apply(operator, _), Some(waiting)) = (&body.form, stack.top_operator())
            && !operator.is_prefix()
            && !waiting.looser(operator)
        {
            return syntax_error(
                from,
                "without this label the expression would be read otherwise: write parentheses".into(),
            );
        }
        stack.push_operand(Expr::new(Form::Label(name, parameters, Box::new(body)), from).ending(self.last_end()));
        Ok(())
    }

    /// A name with its arguments and selectors: `I(x)!Op(y)`, `Op!1`.
    fn path(&mut self, first: Token) -> Parsed<Expr> {
        self.take();
        let mut segments = vec![self.segment(first)?];
        while self.take_if("!") {
            let token = self.peek();
            let selector = |text: &str| Segment {
                name: Name { text: text.to_owned(), offset: token.start },
                kind: SegmentKind::Selector,
                arguments: None,
            };
            let segment = match token.kind {
                Kind::Mark("(") => Segment { arguments: Some(self.arguments()?), ..selector("(…)") },
                Kind::Number => {
                    self.number()?;
                    selector(self.spelling(&token))
                }
                Kind::Mark(mark @ ("<<" | ">>" | ":")) => {
                    self.take();
                    selector(mark)
                }
                Kind::Identifier if self.spelling(&token) == "@" => {
                    self.take();
                    selector("@")
                }
                Kind::Identifier | Kind::Operator(_) | Kind::Bullet(_) => {
                    self.take();
                    self.segment(token)?
                }
                _ => return self.unexpected("the name of an operator after `!`"),
            };
            segments.push(segment);
        }
        Ok(Expr::new(Form::Path(segments), first.start))
    }

    fn segment(&mut self, token: Token) -> Parsed<Segment> {
        let text = match token.operator() {
            Some(operator) => operator.name.to_owned(),
            None if token.kind == Kind::Step => self.step_reference(self.spelling(&token)),
            None => self.spelling(&token).to_owned(),
        };
        let arguments = if self.is("(") { Some(self.arguments()?) } else { None };
        Ok(Segment { name: Name { text, offset: token.start }, kind: SegmentKind::Name, arguments })
    }

    pub(super) fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        self.take();
        let mut all = vec![self.argument()?];
        while self.take_if(",") {
            all.push(self.argument()?);
        }
        self.expect(")", "after the arguments")?;
        Ok(all)
    }

    /// An expression, or an operator: `+`, `LAMBDA x : …`.
    pub(super) fn argument(&mut self) -> Parsed<Expr> {
        let token = self.peek();
        if self.inside(&token) {
            if let Some(operator) = token.operator()
                && self.ends_argument(self.position + 1)
            {
                if operator.name == "\\times" {
                    return syntax_error(
                        token.start,
                        "`\\X` is not an operator with two operands and cannot be an argument".into(),
                    );
                }
                self.take();
                return Ok(Expr::new(Form::Operator(operator), token.start));
            }
            if token.is("LAMBDA") {
                self.take();
                let names = self.identifiers("the name of a parameter")?;
                self.expect(":", "after the parameters of LAMBDA")?;
                let body = self.expression()?;
                return Ok(Expr::new(Form::Lambda(names, Box::new(body)), token.start));
            }
        }
        self.expression()
    }

    fn ends_argument(&self, index: usize) -> bool {
        match self.token(index).kind {
            Kind::Mark("," | ")") | Kind::End | Kind::Line | Kind::Begin => true,
            Kind::Word(
                "LOCAL" | "INSTANCE" | "THEOREM" | "ASSUME" | "ASSUMPTION" | "CONSTANT" | "VARIABLE" | "RECURSIVE",
            ) => true,
            _ => self.begins_definition(index),
        }
    }
}

/// The name and parameters of a label, if the expression can be one.
fn as_label(expression: Expr) -> Option<(Name, Vec<Name>)> {
    let simple = |segments: Vec<Segment>| {
        let [segment] = <[Segment; 1]>::try_from(segments).ok()?;
        (segment.kind == SegmentKind::Name).then_some(segment)
    };
    let Form::Path(segments) = expression.form else { return None };
    let Segment { name, arguments, .. } = simple(segments)?;
    let mut parameters = Vec::new();
    for argument in arguments.unwrap_or_default() {
        let Form::Path(segments) = argument.form else { return None };
        let parameter = simple(segments)?;
        if parameter.arguments.is_some() {
            return None;
        }
        parameters.push(parameter.name);
    }
    Some((name, parameters))
}
