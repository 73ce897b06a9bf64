//! The grammar of braces, brackets and angle brackets, and of fairness.

use super::parser::{Parsed, Parser, syntax_error};
use super::token::{Kind, may_name_a_field};
use super::tree::{Bound, Component, Expr, Form, Name, Segment, SegmentKind, Subscripted, Update};

impl Parser<'_> {
    /// Whether bound variables follow the bracket: `x, y \in` or `<<…>> \in`. SANY decides it by these tokens alone, so
    /// `f[x \in S]` is not an application.
    fn binds(&self) -> bool {
        let mut index = self.position + 1;
        if !self.token(index).is("<<") {
            let mut token_ahead = index;
            while self.token(token_ahead).kind == Kind::Identifier {
                if !self.token(token_ahead + 1).is(",") {
                    return self.token(token_ahead + 1).is("\\in");
                }
                token_ahead += 2;
            }
            return false;
        }
        let mut depth = 0_usize;
        loop {
            let token = self.token(index);
            index += 1;
            if token.is("<<") {
                depth += 1;
            } else if token.is(">>") {
                depth -= 1;
                if depth == 0 {
                    return self.token(index).is("\\in");
                }
            } else if token.kind == Kind::Nothing {
                return false;
            }
        }
    }

    /// `{a, b}`, `{x \in S : P}`, `{e : x \in S}`
    pub(super) fn brace(&mut self) -> Parsed<Expr> {
        let binds = self.binds();
        let offset = self.take().start;
        if self.take_if("}") {
            return Ok(Expr::new(Form::Set(Vec::new()), offset));
        }
        let first = if binds {
            let from = self.peek().start;
            let is_tuple = self.is("<<");
            let names = if is_tuple {
                self.identifier_tuple()?
            } else {
                vec![self.identifier("the name of a bound variable")?]
            };
            self.expect("\\in", "after the bound variable")?;
            let set = self.expression()?;
            if self.take_if(":") {
                let body = self.expression()?;
                self.expect("}", "to close the set")?;
                return Ok(Expr::new(Form::Filter(Box::new(Bound { names, is_tuple, set }), Box::new(body)), offset));
            }
            if is_tuple {
                return self.unexpected("`:` after the bound variables");
            }
            // No `:` follows: `x \in S` is the first element of a set.
            membership(names, set, from)
        } else {
            let first = self.expression()?;
            if self.is(":") {
                if matches!(&first.form, Form::Apply(operator, _) if operator.name == "\\in") {
                    let message = "`{a \\in b : c \\in d}` is ambiguous: write parentheses".into();
                    return syntax_error(self.peek().start, message);
                }
                self.take();
                let bounds = self.bounds()?;
                self.expect("}", "to close the set")?;
                return Ok(Expr::new(Form::Map(Box::new(first), bounds), offset));
            }
            first
        };
        let mut elements = vec![first];
        while self.take_if(",") {
            elements.push(self.expression()?);
        }
        self.expect("}", "to close the set")?;
        Ok(Expr::new(Form::Set(elements), offset))
    }

    /// `[x \in S |-> e]`, `[a |-> 1]`, `[a : S]`, `[S -> T]`, `[f EXCEPT ![a] = b]`, `[A]_v`, and the arguments of
    /// `f[a]`
    pub(super) fn square(&mut self) -> Parsed<Expr> {
        let binds = self.binds();
        let offset = self.take().start;
        if binds {
            let bounds = self.bounds()?;
            self.expect("|->", "after the bound variables of a function")?;
            let body = self.expression()?;
            self.expect("]", "to close the function")?;
            return Ok(Expr::new(Form::Function(bounds, Box::new(body)), offset));
        }
        let (first, second) = (self.peek(), self.token_ahead(1));
        if second.is("|->") && (first.kind == Kind::Identifier || may_name_a_field(&first)) {
            return Ok(Expr::new(Form::Record(self.fields("|->")?), offset));
        }
        if second.is(":") && first.kind == Kind::Identifier {
            return Ok(Expr::new(Form::RecordSet(self.fields(":")?), offset));
        }
        let head = self.expression()?;
        let next = self.peek();
        match next.kind {
            Kind::Mark("->") => {
                self.take();
                let range = self.expression()?;
                self.expect("]", "to close the set of functions")?;
                Ok(Expr::new(Form::FunctionSet(Box::new((head, range))), offset))
            }
            Kind::Word("EXCEPT") => {
                self.take();
                let mut updates = vec![self.update()?];
                while self.take_if(",") {
                    updates.push(self.update()?);
                }
                self.expect("]", "to close EXCEPT")?;
                Ok(Expr::new(Form::Except(Box::new(head), updates), offset))
            }
            Kind::Mark("]_") => {
                self.take();
                let subscript = self.subscript()?.0;
                Ok(Expr::new(Form::Action(Subscripted::Square, Box::new((head, subscript))), offset))
            }
            _ => {
                let mut arguments = vec![head];
                while self.take_if(",") {
                    arguments.push(self.expression()?);
                }
                if !self.is("]") {
                    return self.unexpected("`]`, `|->`, `->`, `EXCEPT` or `]_`");
                }
                self.take();
                Ok(Expr::new(Form::Arguments(arguments), offset))
            }
        }
    }

    /// SANY allows a reserved word for the first field but not for the others.
    fn fields(&mut self, mark: &str) -> Parsed<Vec<(Name, Expr)>> {
        let mut fields = Vec::new();
        loop {
            let name =
                if fields.is_empty() { self.free_name("a field")? } else { self.identifier("the name of a field")? };
            self.expect(mark, "after the name of a field")?;
            fields.push((name, self.expression()?));
            if !self.take_if(",") {
                break;
            }
        }
        self.expect("]", "after the fields")?;
        Ok(fields)
    }

    /// `![a].b = c`
    fn update(&mut self) -> Parsed<Update> {
        self.expect("!", "before what EXCEPT changes")?;
        let mut path = Vec::new();
        while !self.is("=") || path.is_empty() {
            let offset = self.peek().start;
            if self.take_if(".") {
                let name = self.free_name("the name of a field after `!.`")?.text;
                if name == "@" {
                    return syntax_error(offset, "`@` names no field".into());
                }
                path.push(Component::Field(name));
            } else if self.take_if("[") {
                let mut index = vec![self.expression()?];
                while self.take_if(",") {
                    index.push(self.expression()?);
                }
                self.expect("]", "after the argument that EXCEPT changes")?;
                path.push(Component::Index(index));
            } else {
                return self.unexpected("`[`, `.` or `=` after `!`");
            }
        }
        self.take();
        Ok(Update { path, value: self.expression()? })
    }

    /// `<<a, b>>` or `<<A>>_v`
    pub(super) fn angle(&mut self) -> Parsed<Expr> {
        let offset = self.take().start;
        let mut elements = Vec::new();
        if !self.is(">>") && !self.is(">>_") {
            elements.push(self.expression()?);
            while self.take_if(",") {
                elements.push(self.expression()?);
            }
        }
        if self.take_if(">>") {
            return Ok(Expr::new(Form::Tuple(elements), offset));
        }
        if !self.is(">>_") {
            return self.unexpected("`,` or `>>`");
        }
        let close = self.take().start;
        let subscript = self.subscript()?.0;
        match <[Expr; 1]>::try_from(elements) {
            Ok([action]) => Ok(Expr::new(Form::Action(Subscripted::Angle, Box::new((action, subscript))), offset)),
            Err(_) => syntax_error(close, "`<<…>>_v` holds one action".into()),
        }
    }

    /// The subscript after `]_`, `>>_`, `WF_`: a bracketed expression or a name. The arguments of the last name are
    /// returned separately, because in `WF_v(A)` they are the action.
    fn subscript(&mut self) -> Parsed<(Expr, Option<Vec<Expr>>)> {
        let token = self.peek();
        match token.kind {
            Kind::Mark("(") => {
                self.take();
                let inner = self.expression()?;
                self.expect(")", "to close the parenthesis")?;
                Ok((Expr::new(Form::Parenthesis(Box::new(inner)), token.start), None))
            }
            Kind::Mark("{") => Ok((self.brace()?, None)),
            Kind::Mark("[") => Ok((self.square()?, None)),
            Kind::Mark("<<") => Ok((self.angle()?, None)),
            _ => self.name_and_arguments(),
        }
    }

    fn name_and_arguments(&mut self) -> Parsed<(Expr, Option<Vec<Expr>>)> {
        let offset = self.peek().start;
        let mut segments = Vec::new();
        loop {
            let name = self.identifier("the subscript: a name, or an expression in brackets")?;
            let arguments = if self.is("(") { Some(self.arguments()?) } else { None };
            if self.take_if("!") {
                segments.push(Segment { name, kind: SegmentKind::Name, arguments });
                continue;
            }
            segments.push(Segment { name, kind: SegmentKind::Name, arguments: None });
            return Ok((Expr::new(Form::Path(segments), offset), arguments));
        }
    }

    /// `WF_v(A)`
    pub(super) fn fairness(&mut self) -> Parsed<Expr> {
        let token = self.take();
        let kind = if token.is("WF_") { Subscripted::Weak } else { Subscripted::Strong };
        let (mut subscript, arguments) = self.subscript()?;
        let action = if self.is("(") {
            if let (Form::Path(segments), Some(arguments)) = (&mut subscript.form, arguments)
                && let Some(last) = segments.last_mut()
            {
                last.arguments = Some(arguments);
            }
            self.take();
            let action = self.expression()?;
            self.expect(")", "after the action of the fairness condition")?;
            action
        } else {
            match arguments.map(<[Expr; 1]>::try_from) {
                Some(Ok([action])) => action,
                _ => return syntax_error(token.start, "a fairness condition needs one action: `WF_v(A)`".into()),
            }
        };
        Ok(Expr::new(Form::Action(kind, Box::new((action, subscript))), token.start))
    }
}

/// `x \in S` as an element of a set.
fn membership(names: Vec<Name>, set: Expr, offset: usize) -> Expr {
    let elements = names.into_iter().map(|name| {
        let (offset, end) = (name.offset, name.offset + name.text.len());
        Expr::new(Form::Path(vec![Segment { name, kind: SegmentKind::Name, arguments: None }]), offset).ending(end)
    });
    let mut operands: Vec<Expr> = elements.collect();
    operands.push(set);
    let end = operands.last().map_or(offset, |last| last.end);
    let operator = super::operator::OPERATORS.iter().find(|(operator, _)| operator.name == "\\in");
    let whole = match operator {
        Some((operator, _)) => Expr::new(Form::Apply(operator, operands), offset),
        None => Expr::new(Form::Set(operands), offset),
    };
    whole.ending(end)
}
