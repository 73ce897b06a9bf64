//! The grammar of modules: a cursor over tokens, and the units that a module is made of.
//!
//! It accepts what SANY accepts, and stops at the first error.

use super::token::{Kind, Token, may_name_a_field, tokens};
use super::tree::{
    Bound, Declared, Definition, Expr, FunctionDefinition, Instance, MAX_DEPTH, Module, Name, NamedInstance, Statement,
    Theorem, Unit, Visibility,
};

/// If a definition is not recognised, an invalid token among the next ones is the better explanation.
const BAD_TOKEN_LOOKAHEAD: usize = 12;

/// Why parsing stopped.
#[derive(Debug, Clone)]
pub(super) struct Fault {
    pub(super) offset: usize,
    pub(super) message: String,
    pub(super) kind: FaultKind,
}

/// Whether the module is wrong, or only beyond our limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FaultKind {
    Wrong,
    NotAnalysed,
}

pub(super) type Parsed<T> = Result<T, Fault>;

pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    tokens: Vec<Token>,
    pub(super) position: usize,
    /// The index after the last token to read, and what ends there.
    pub(super) limit: (usize, &'static str),
    /// Operator and column of each open bulleted list.
    pub(super) lists: Vec<(&'static str, usize)>,
    /// Token ranges of the closed lists, for the indentation check of the items around them.
    pub(super) closed: Vec<(usize, usize)>,
    depth: u16,
    /// The level of each open proof, once a step has shown it.
    pub(super) proofs: Vec<Option<u32>>,
}

/// Parses the first module of a text.
/// Whether a text is one expression.
pub(crate) fn is_expression(text: &str) -> bool {
    parse(&format!("---- MODULE M ----\nValue == {text}\n====")).is_ok_and(|module| module.units.len() == 1)
}

pub(super) fn parse(text: &str) -> Parsed<Module> {
    let mut parser = Parser::new(text, tokens(text), "text");
    if parser.tokens.is_empty() {
        return Err(Fault {
            offset: 0,
            message: "there is no module: `---- MODULE name ----` is missing".into(),
            kind: FaultKind::Wrong,
        });
    }
    parser.module()
}

pub(super) fn too_deep<T>(offset: usize) -> Parsed<T> {
    let message = "nested too deeply to be analysed: give names to parts of it".to_owned();
    Err(Fault { offset, message, kind: FaultKind::NotAnalysed })
}

pub(super) fn syntax_error<T>(offset: usize, message: String) -> Parsed<T> {
    Err(Fault { offset, message, kind: FaultKind::Wrong })
}

impl<'a> Parser<'a> {
    /// A parser of tokens that are those of `what`, for messages.
    pub(super) fn new(text: &'a str, tokens: Vec<Token>, what: &'static str) -> Self {
        Self {
            text,
            limit: (tokens.len(), what),
            tokens,
            position: 0,
            lists: Vec::new(),
            closed: Vec::new(),
            depth: 0,
            proofs: Vec::new(),
        }
    }
}

impl Parser<'_> {
    pub(super) fn peek(&self) -> Token {
        self.token_ahead(0)
    }

    pub(super) fn token_ahead(&self, by: usize) -> Token {
        self.token(self.position + by)
    }

    pub(super) fn token(&self, index: usize) -> Token {
        if index < self.limit.0
            && let Some(token) = self.tokens.get(index)
        {
            return *token;
        }
        let end = self.limit.0.checked_sub(1).and_then(|last| self.tokens.get(last)).map_or(0, |token| token.end);
        Token { kind: Kind::Nothing, start: end, end, column: 1 }
    }

    pub(super) fn spelling(&self, token: &Token) -> &str {
        self.text.get(token.start..token.end).unwrap_or("")
    }

    pub(super) fn is(&self, mark: &str) -> bool {
        self.peek().is(mark)
    }

    pub(super) fn take(&mut self) -> Token {
        let token = self.peek();
        self.position += 1;
        token
    }

    /// Where the last taken token ends.
    pub(super) fn last_end(&self) -> usize {
        self.position.checked_sub(1).map_or(0, |last| self.token(last).end)
    }

    pub(super) fn take_if(&mut self, mark: &str) -> bool {
        let found = self.is(mark);
        self.position += usize::from(found);
        found
    }

    /// The error if the next token is not an expected one.
    pub(super) fn unexpected<T>(&self, expected: &str) -> Parsed<T> {
        let token = self.peek();
        let found = match token.kind {
            Kind::Bad(why) => why.to_owned(),
            Kind::Nothing => format!("the end of the {}", self.limit.1),
            _ => format!("`{}`", self.spelling(&token)),
        };
        syntax_error(token.start, format!("expected {expected}, found {found}"))
    }

    pub(super) fn expect(&mut self, mark: &str, purpose: &str) -> Parsed<Token> {
        if self.is(mark) { Ok(self.take()) } else { self.unexpected(&format!("`{mark}` {purpose}")) }
    }

    pub(super) fn identifier(&mut self, purpose: &str) -> Parsed<Name> {
        if self.peek().kind != Kind::Identifier {
            return self.unexpected(purpose);
        }
        let token = self.take();
        Ok(Name { text: self.spelling(&token).to_owned(), offset: token.start })
    }

    /// A name that may also be a reserved word: of a module, or of a field after `.`.
    pub(super) fn free_name(&mut self, purpose: &str) -> Parsed<Name> {
        let token = self.peek();
        if may_name_a_field(&token) {
            self.position += 1;
            return Ok(Name { text: self.spelling(&token).to_owned(), offset: token.start });
        }
        self.identifier(purpose)
    }

    pub(super) fn identifiers(&mut self, purpose: &str) -> Parsed<Vec<Name>> {
        let mut names = vec![self.identifier(purpose)?];
        while self.take_if(",") {
            names.push(self.identifier(purpose)?);
        }
        Ok(names)
    }

    /// Parses one level deeper. Nesting beyond any practical use is not analysed, because the parser recurses.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH / 2 {
            return too_deep(self.peek().start);
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn module(&mut self) -> Parsed<Module> {
        self.take();
        let name = self.free_name("the module's name")?;
        if self.peek().kind != Kind::Line {
            return self.unexpected("`----` after the module's name");
        }
        self.take();
        let mut extends = Vec::new();
        if self.take_if("EXTENDS") {
            extends.push(self.free_name("the name of a module")?);
            while self.take_if(",") {
                extends.push(self.free_name("the name of a module")?);
            }
        }
        let mut units = Vec::new();
        loop {
            match self.peek().kind {
                Kind::End => {
                    self.take();
                    return Ok(Module { name, extends, units });
                }
                Kind::Line => {
                    self.take();
                }
                Kind::Begin => units.push(Unit::Module(self.nested(Self::module)?)),
                _ => units.push(self.unit()?),
            }
        }
    }

    pub(super) fn unit(&mut self) -> Parsed<Unit> {
        let token = self.peek();
        match token.kind {
            Kind::Word("VARIABLE") => {
                self.take();
                Ok(Unit::Variables(self.identifiers("the name of a variable")?, token.start))
            }
            Kind::Word("CONSTANT") => {
                self.take();
                Ok(Unit::Constants(self.declarations()?, token.start))
            }
            Kind::Word("RECURSIVE") => {
                self.take();
                Ok(Unit::Recursive(self.declarations()?))
            }
            Kind::Word("ASSUME" | "ASSUMPTION") => self.assumption(),
            Kind::Word("THEOREM" | "PROPOSITION") => self.theorem(),
            Kind::Word("INSTANCE") => Ok(Unit::Instance(self.instance()?, Visibility::Exported)),
            Kind::Word("LOCAL") if self.token_ahead(1).is("INSTANCE") => {
                self.take();
                Ok(Unit::Instance(self.instance()?, Visibility::Local))
            }
            Kind::Word("USE") if !self.token_ahead(1).is("ONLY") => Ok(Unit::Use(self.facts()?)),
            Kind::Word("HIDE") => Ok(Unit::Use(self.facts()?)),
            _ => self.definition(),
        }
    }

    fn assumption(&mut self) -> Parsed<Unit> {
        let offset = self.take().start;
        let name = self.optional_name()?;
        Ok(Unit::Assumption(name, self.expression()?, offset))
    }

    /// `Name ==` in front of an assumption or theorem.
    fn optional_name(&mut self) -> Parsed<Option<Name>> {
        if self.peek().kind != Kind::Identifier || !self.token_ahead(1).is("==") {
            return Ok(None);
        }
        let name = self.identifier("a name")?;
        self.take();
        Ok(Some(name))
    }

    fn theorem(&mut self) -> Parsed<Unit> {
        let offset = self.take().start;
        let name = self.optional_name()?;
        let statement = self.statement()?;
        let proof = if self.begins_proof() { Some(self.proof()?) } else { None };
        Ok(Unit::Theorem(Theorem { name, statement, proof, offset }))
    }

    pub(super) fn statement(&mut self) -> Parsed<Statement> {
        if self.begins_sequent() {
            return Ok(Statement::Sequent(self.sequent()?));
        }
        Ok(Statement::Formula(self.expression()?))
    }

    /// `a, F(_, _), _ + _, -. _`
    fn declarations(&mut self) -> Parsed<Vec<Declared>> {
        let mut all = vec![self.declaration(DeclarationContext::List)?];
        while self.take_if(",") {
            all.push(self.declaration(DeclarationContext::List)?);
        }
        Ok(all)
    }

    /// A declared symbol with one `_` for each operand.
    pub(super) fn declaration(&mut self, holes: DeclarationContext) -> Parsed<Declared> {
        let token = self.peek();
        if token.kind == Kind::Identifier {
            let name = self.identifier("a name")?;
            let opens = self.is("(") && (holes == DeclarationContext::Parameter || self.token_ahead(1).is("_"));
            if !opens {
                return Ok(Declared { name, arity: 0 });
            }
            self.take();
            let mut arity = 0;
            loop {
                self.expect("_", "for each operand")?;
                arity += 1;
                if !self.take_if(",") {
                    break;
                }
            }
            self.expect(")", "after the operands")?;
            return Ok(Declared { name, arity });
        }
        if let Some(operator) = token.operator().filter(|operator| operator.is_prefix()) {
            self.take();
            self.expect("_", "after the prefix operator")?;
            return Ok(Declared { name: Name { text: operator.name.into(), offset: token.start }, arity: 1 });
        }
        if !self.take_if("_") {
            return self.unexpected("the name of an operator, or `_` and its symbol");
        }
        let symbol = self.take();
        let Some(operator) = symbol.operator().filter(|operator| !operator.is_prefix()) else {
            self.position -= 1;
            return self.unexpected("an infix or postfix operator after `_`");
        };
        let name = Name { text: operator.name.into(), offset: symbol.start };
        if operator.is_postfix() {
            return Ok(Declared { name, arity: 1 });
        }
        self.expect("_", "after the infix operator")?;
        Ok(Declared { name, arity: 2 })
    }

    /// Whether a definition begins at this token.
    pub(super) fn begins_definition(&self, index: usize) -> bool {
        // Nothing ends a definition: an expression ends where the tokens look like the next one, up to its `==`.
        let token = |by: usize| self.token(index + by);
        let defines = |by: usize| token(by).is("==");
        match token(0).kind {
            Kind::Identifier if defines(1) => true,
            Kind::Identifier => match token(1).kind {
                Kind::Mark("(") => self.closing(index + 1).is_some_and(|end| self.token(end + 1).is("==")),
                Kind::Mark("[") => self.closing(index + 1).is_some_and(|end| self.token(end + 1).is("==")),
                _ => match token(1).operator() {
                    Some(operator) if operator.is_postfix() => defines(2),
                    Some(operator) if operator.is_infix() => token(2).kind == Kind::Identifier && defines(3),
                    _ => false,
                },
            },
            _ => {
                token(0).operator().is_some_and(super::operator::Operator::is_prefix)
                    && token(1).kind == Kind::Identifier
                    && defines(2)
            }
        }
    }

    /// The token that closes the bracket at `open`.
    fn closing(&self, open: usize) -> Option<usize> {
        const MAX_DISTANCE: usize = 10_000;
        let mut depth = 0_usize;
        for index in open..open + MAX_DISTANCE {
            match self.token(index).kind {
                Kind::Mark("(" | "[") => depth += 1,
                Kind::Mark(")" | "]") => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(index);
                    }
                }
                Kind::Nothing => return None,
                _ => {}
            }
        }
        None
    }

    /// `F(x, G(_)) == …`, `f[x \in S] == …`, `a ++ b == …`, `I(x) == INSTANCE …`
    pub(super) fn definition(&mut self) -> Parsed<Unit> {
        let visibility = if self.take_if("LOCAL") { Visibility::Local } else { Visibility::Exported };
        if !self.begins_definition(self.position) {
            let expected = if visibility == Visibility::Local {
                "a definition or INSTANCE after LOCAL"
            } else if self.peek().kind == Kind::Identifier {
                self.position += 1;
                "`==`, or an operator before this name"
            } else {
                "a definition, a declaration or `====`"
            };
            // An invalid token nearby is the better explanation.
            if let Some(bad) = (0..BAD_TOKEN_LOOKAHEAD).find(|by| matches!(self.token_ahead(*by).kind, Kind::Bad(_))) {
                self.position += bad;
            }
            return self.unexpected(expected);
        }
        if self.token_ahead(1).is("[") {
            return self.function_definition(visibility);
        }
        let (name, parameters) = self.left_hand_side()?;
        self.expect("==", "after what is defined")?;
        if self.is("INSTANCE") && !name.text.starts_with(|first: char| !first.is_alphanumeric() && first != '_') {
            let instance = self.instance()?;
            return Ok(Unit::NamedInstance(NamedInstance { visibility, name, parameters, instance }));
        }
        Ok(Unit::Operator(Definition { visibility, name, parameters, body: self.expression()? }))
    }

    fn left_hand_side(&mut self) -> Parsed<(Name, Vec<Declared>)> {
        let first = self.peek();
        if let Some(operator) = first.operator() {
            self.take();
            let parameter = Declared { name: self.identifier("an operand")?, arity: 0 };
            return Ok((Name { text: operator.name.into(), offset: first.start }, vec![parameter]));
        }
        let name = self.identifier("a name")?;
        let second = self.peek();
        if let Some(operator) = second.operator() {
            self.take();
            let mut parameters = vec![Declared { name, arity: 0 }];
            if operator.is_infix() {
                parameters.push(Declared { name: self.identifier("an operand")?, arity: 0 });
            }
            return Ok((Name { text: operator.name.into(), offset: second.start }, parameters));
        }
        let mut parameters = Vec::new();
        if self.take_if("(") {
            loop {
                parameters.push(self.declaration(DeclarationContext::Parameter)?);
                if !self.take_if(",") {
                    break;
                }
            }
            self.expect(")", "after the parameters")?;
        }
        Ok((name, parameters))
    }

    fn function_definition(&mut self, visibility: Visibility) -> Parsed<Unit> {
        let name = self.identifier("a name")?;
        self.take();
        let bounds = self.bounds()?;
        self.expect("]", "after the function's arguments")?;
        self.expect("==", "after what is defined")?;
        Ok(Unit::Function(FunctionDefinition { visibility, name, bounds, body: self.expression()? }))
    }

    /// `x, y \in S, <<a, b>> \in T`
    pub(super) fn bounds(&mut self) -> Parsed<Vec<Bound>> {
        let mut bounds = vec![self.bound()?];
        while self.take_if(",") {
            bounds.push(self.bound()?);
        }
        Ok(bounds)
    }

    pub(super) fn bound(&mut self) -> Parsed<Bound> {
        let is_tuple = self.is("<<");
        let names = if is_tuple { self.identifier_tuple()? } else { self.identifiers("the name of a bound variable")? };
        self.expect("\\in", "after the bound variable")?;
        Ok(Bound { names, is_tuple, set: self.expression()? })
    }

    pub(super) fn identifier_tuple(&mut self) -> Parsed<Vec<Name>> {
        self.take();
        let names = if self.is(">>") { Vec::new() } else { self.identifiers("the name of a bound variable")? };
        self.expect(">>", "after the bound variables")?;
        Ok(names)
    }

    pub(super) fn instance(&mut self) -> Parsed<Instance> {
        let offset = self.take().start;
        let module = self.free_name("the name of a module")?;
        let mut substitutions = Vec::new();
        if self.take_if("WITH") {
            substitutions.push(self.substitution()?);
            // A comma before anything else belongs to what is around the instance.
            while self.is(",") && self.token_ahead(2).is("<-") {
                self.take();
                substitutions.push(self.substitution()?);
            }
        }
        Ok(Instance { module, substitutions, offset })
    }

    fn substitution(&mut self) -> Parsed<(Name, Expr)> {
        let token = self.peek();
        let name = match token.operator() {
            Some(operator) => {
                if self.spelling(&token) != operator.name {
                    // SANY finds the symbol of another module only under this spelling.
                    return self
                        .unexpected(&format!("`{}`, as this operator is written in a substitution", operator.name));
                }
                self.take();
                Name { text: operator.name.into(), offset: token.start }
            }
            None => self.identifier("the symbol to substitute for")?,
        };
        self.expect("<-", "after the symbol to substitute for")?;
        Ok((name, self.argument()?))
    }
}

/// Where a declaration is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DeclarationContext {
    /// In a list of declarations, where `(` may begin something else.
    List,
    /// Among the parameters of a definition.
    Parameter,
}
