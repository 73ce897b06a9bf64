//! The concrete syntax tree of a PlusCal algorithm. The grammar is that of the manuals for both syntaxes. It accepts
//! more than the translator: whether an algorithm is legal is for the translator to decide.

use crate::syntax::{Field, NodeKind};

use super::concrete::TreeBuilder;
use super::parser::{Parsed, syntax_error, too_deep};
use super::token::{Kind, Token};
use super::tree::MAX_DEPTH;

/// The words with which a part of an algorithm begins.
const PARTS: &[&str] = &["variable", "variables", "define", "macro", "procedure", "process", "fair", "begin", "{"];

/// Whether a token ends any expression (`pcal.ParseAlgorithm.GetExpr` of the reference translator).
fn ends_expression(text: &str) -> bool {
    matches!(
        text,
        ";" | ":="
            | "\u{2254}"
            | "||"
            | "\u{2016}"
            | "assert"
            | "begin"
            | "call"
            | "define"
            | "do"
            | "either"
            | "else"
            | "elsif"
            | "end"
            | "fair"
            | "goto"
            | "if"
            | "or"
            | "print"
            | "procedure"
            | "process"
            | "return"
            | "skip"
            | "then"
            | "variable"
            | "variables"
            | "while"
            | "with"
    )
}

impl TreeBuilder<'_> {
    fn word_ahead(&self, by: usize) -> &str {
        let token = self.parser.token(self.next + by);
        if token.kind == Kind::Text { "" } else { self.parser.spelling(&token) }
    }

    fn is_word(&self, any: &[&str]) -> bool {
        any.contains(&self.word_ahead(0))
    }

    fn is_at_end(&self) -> bool {
        self.token().kind == Kind::Nothing
    }

    fn skip_word(&mut self, word: &str) -> bool {
        let found = self.is_word(&[word]);
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, word: &str) -> Parsed<()> {
        if self.skip_word(word) {
            return Ok(());
        }
        self.parse(|parser| parser.unexpected(&format!("`{word}`")))
    }

    fn identifier(&mut self, kind: NodeKind, field: Option<Field>) -> Parsed<()> {
        if self.token().kind != Kind::Identifier {
            return self.parse(|parser| parser.unexpected("a name"));
        }
        self.leaf(kind, field);
        Ok(())
    }

    /// Reads an expression; it ends before the first token that cannot belong to it.
    fn pluscal_expression(&mut self, field: Option<Field>) -> Parsed<()> {
        let all = self.parser.limit;
        self.parser.limit = (self.end_of_expression(), "expression");
        let read = self.parse(super::parser::Parser::expression);
        self.parser.limit = all;
        self.expression(&read?, field);
        Ok(())
    }

    fn end_of_expression(&self) -> usize {
        let mut depth = 0_usize;
        let mut index = self.next;
        loop {
            let token = self.parser.token(index);
            let before = index.checked_sub(1).map(|before| self.parser.token(before));
            let is = |token: &Token, any: &[&str]| any.iter().any(|mark| token.is(mark));
            // A field of a record may have the name of a keyword.
            let field = token.kind == Kind::Identifier && before.is_some_and(|before| is(&before, &[".", "[", ","]));
            let text = if token.kind == Kind::Text { "" } else { self.parser.spelling(&token) };
            if token.kind == Kind::Nothing || (ends_expression(text) && !field) {
                return index;
            }
            if is(&token, &["(", "[", "{", "<<"]) {
                depth += 1;
            } else if is(&token, &[")", "]", "]_", "}", ">>", ">>_"]) {
                match depth.checked_sub(1) {
                    Some(less) => depth = less,
                    None => return index,
                }
            }
            index += 1;
        }
    }

    pub(super) fn algorithm(&mut self) {
        self.open(NodeKind::Root, None);
        self.open(NodeKind::Algorithm, None);
        let open = self.open_nodes();
        let mut read = self.algorithm_head();
        let braces = self.skip_word("{");
        loop {
            if let Err(fault) = read {
                self.close_to(open);
                self.report(fault);
                while !self.is_at_end() && !self.is_word(PARTS) {
                    self.skip();
                }
            }
            if !self.is_word(PARTS) {
                break;
            }
            read = self.part();
        }
        let end = if braces { self.expect("}") } else { self.end("algorithm") };
        self.skip_word(";");
        let rest = if self.is_at_end() { Ok(()) } else { self.expect("the end of the algorithm") };
        if let Err(fault) = end.and(rest) {
            self.report(fault);
        }
        self.close_to(0);
    }

    /// `--algorithm A`, `--fair algorithm A`
    fn algorithm_head(&mut self) -> Parsed<()> {
        let fair = self.word_ahead(1) == "fair";
        if fair {
            self.open(NodeKind::FairAlgorithm, None);
        }
        self.next += if fair { 3 } else { 2 };
        if fair {
            self.close();
        }
        self.identifier(NodeKind::Identifier, Some(Field::Name))
    }

    fn part(&mut self) -> Parsed<()> {
        match self.word_ahead(0) {
            "variable" | "variables" => self.variables(NodeKind::Variables, NodeKind::Variable),
            "define" => self.definitions(),
            "macro" => {
                self.open(NodeKind::Macro, None);
                self.open(NodeKind::MacroHead, None);
                self.head_of_routine(|builder| builder.identifier(NodeKind::Identifier, Some(Field::Parameter)))?;
                self.close();
                self.body("macro")
            }
            "procedure" => {
                self.open(NodeKind::Procedure, None);
                self.open(NodeKind::ProcedureHead, None);
                self.head_of_routine(|builder| builder.variable(NodeKind::ProcedureVariable))?;
                if self.is_word(&["variable", "variables"]) {
                    self.variables(NodeKind::ProcedureVariables, NodeKind::ProcedureVariable)?;
                }
                self.close();
                self.body("procedure")
            }
            "begin" | "{" => self.block(),
            _ => self.process(),
        }
    }

    /// `macro M(a, b)`, `procedure P(a, b = 1)`
    fn head_of_routine(&mut self, mut parameter: impl FnMut(&mut Self) -> Parsed<()>) -> Parsed<()> {
        self.skip();
        self.identifier(NodeKind::Identifier, Some(Field::Name))?;
        self.expect("(")?;
        while !self.skip_word(")") {
            parameter(self)?;
            if !self.skip_word(",") && !self.is_word(&[")"]) {
                return self.expect(")");
            }
        }
        Ok(())
    }

    fn process(&mut self) -> Parsed<()> {
        self.open(NodeKind::Process, None);
        if self.skip_word("fair") {
            self.skip_word("+");
        }
        self.expect("process")?;
        let braces = self.skip_word("(");
        self.identifier(NodeKind::Identifier, Some(Field::Name))?;
        self.binding()?;
        if braces {
            self.expect(")")?;
        }
        if self.is_word(&["variable", "variables"]) {
            self.variables(NodeKind::Variables, NodeKind::Variable)?;
        }
        self.body("process")
    }

    /// The body of a process, procedure or macro, and its end.
    fn body(&mut self, what: &str) -> Parsed<()> {
        let braces = self.is_word(&["{"]);
        self.block()?;
        if !braces {
            self.end(what)?;
        }
        self.skip_word(";");
        self.close();
        Ok(())
    }

    /// `begin` and statements, or statements in braces.
    fn block(&mut self) -> Parsed<()> {
        self.open(NodeKind::Body, None);
        let braces = self.is_word(&["{"]);
        if braces {
            self.skip();
        } else {
            self.expect("begin")?;
        }
        self.statements(braces);
        if braces {
            self.expect("}")?;
        }
        self.close();
        Ok(())
    }

    /// `= e` or `\in e`
    fn binding(&mut self) -> Parsed<()> {
        let field = if self.token().is("\\in") { Field::Set } else { Field::Value };
        if field == Field::Set {
            self.skip();
        } else if !self.skip_word("=") {
            return self.parse(|parser| parser.unexpected("`=` or `\\in`"));
        }
        self.pluscal_expression(Some(field))
    }

    fn variables(&mut self, list: NodeKind, one: NodeKind) -> Parsed<()> {
        self.open(list, None);
        self.skip();
        while !self.is_at_end() && !self.is_word(PARTS) {
            self.variable(one)?;
            if !self.skip_word(",") && !self.skip_word(";") && !self.is_word(PARTS) {
                return self.expect(";");
            }
        }
        self.close();
        Ok(())
    }

    fn variable(&mut self, kind: NodeKind) -> Parsed<()> {
        self.open(kind, None);
        self.identifier(NodeKind::Identifier, None)?;
        if self.token().is("=") || self.token().is("\\in") {
            self.binding()?;
        }
        self.close();
        Ok(())
    }

    fn definitions(&mut self) -> Parsed<()> {
        self.open(NodeKind::Define, None);
        self.skip();
        let braces = self.skip_word("{");
        while self.parser.begins_definition(self.next) {
            let unit = self.parse(super::parser::Parser::definition)?;
            self.unit(&unit, None);
        }
        if braces {
            self.expect("}")?;
        } else {
            self.end("define")?;
        }
        self.skip_word(";");
        self.close();
        Ok(())
    }

    /// Statements up to the token that ends the sequence.
    fn statements(&mut self, braces: bool) {
        let ends: &[&str] = if braces { &["}"] } else { &["end", "else", "elsif", "or"] };
        while !self.is_at_end() && !self.is_word(ends) {
            let (open, first) = (self.open_nodes(), self.next);
            let read = self
                .statement(braces)
                .and_then(|()| if self.skip_word(";") || self.is_word(ends) { Ok(()) } else { self.expect(";") });
            if let Err(fault) = read {
                self.report(fault);
                self.next = self.next.max(first + 1);
                while !self.is_at_end() && !self.is_word(ends) && !self.skip_word(";") {
                    self.skip();
                }
                self.close_to(open);
            }
        }
    }

    /// A statement with its label, or a block in braces.
    fn statement(&mut self, braces: bool) -> Parsed<()> {
        if self.token().kind == Kind::Identifier && self.word_ahead(1) == ":" {
            self.leaf(NodeKind::Identifier, Some(Field::Label));
            self.skip();
            if self.is_word(&["+", "-"]) {
                self.skip();
            }
        }
        if self.open_nodes() > usize::from(MAX_DEPTH) {
            return too_deep(self.token().start);
        }
        match self.word_ahead(0) {
            "{" if braces => self.block()?,
            "if" => self.if_statement(braces)?,
            "while" => {
                self.open(NodeKind::While, None);
                self.skip();
                self.condition(braces, "do")?;
                self.branch(braces)?;
                self.end_of_statement(braces, "while")?;
            }
            "either" => self.either(braces)?,
            "with" => self.with(braces)?,
            "await" | "when" => self.simple(NodeKind::Await)?,
            "print" => self.simple(NodeKind::Print)?,
            "assert" => self.simple(NodeKind::Assert)?,
            "skip" => self.leaf(NodeKind::Skip, None),
            "return" => self.leaf(NodeKind::Return, None),
            "goto" => {
                self.open(NodeKind::Goto, None);
                self.skip();
                self.identifier(NodeKind::Identifier, Some(Field::Destination))?;
                self.close();
            }
            "call" => {
                self.open(NodeKind::ProcedureCall, None);
                self.skip();
                self.call()?;
            }
            _ if self.word_ahead(1) == "(" => {
                self.open(NodeKind::MacroCall, None);
                self.call()?;
            }
            _ => self.assignments()?,
        }
        Ok(())
    }

    /// A branch or the body of a statement: one statement in braces syntax, else statements.
    fn branch(&mut self, braces: bool) -> Parsed<()> {
        self.open(NodeKind::Branch, None);
        if braces {
            self.statement(braces)?;
        } else {
            self.statements(braces);
        }
        self.close();
        Ok(())
    }

    /// The end of a statement that has branches. Closes the node.
    fn end_of_statement(&mut self, braces: bool, word: &str) -> Parsed<()> {
        if !braces {
            self.end(word)?;
        }
        self.close();
        Ok(())
    }

    fn end(&mut self, word: &str) -> Parsed<()> {
        self.expect("end")?;
        self.expect(word)
    }

    /// `(test)`, or a test and the word after it.
    fn condition(&mut self, braces: bool, after: &str) -> Parsed<()> {
        if braces {
            self.expect("(")?;
        }
        self.pluscal_expression(None)?;
        self.expect(if braces { ")" } else { after })
    }

    fn if_statement(&mut self, braces: bool) -> Parsed<()> {
        self.open(NodeKind::If, None);
        self.skip();
        self.condition(braces, "then")?;
        self.branch(braces)?;
        while !braces && self.skip_word("elsif") {
            self.condition(braces, "then")?;
            self.branch(braces)?;
        }
        if self.continues(braces, "else") {
            self.branch(braces)?;
        }
        self.end_of_statement(braces, "if")
    }

    /// Takes a word that begins another branch; in braces syntax a semicolon may be before it.
    fn continues(&mut self, braces: bool, word: &str) -> bool {
        if braces && self.is_word(&[";"]) && self.word_ahead(1) == word {
            self.skip();
        }
        self.skip_word(word)
    }

    fn either(&mut self, braces: bool) -> Parsed<()> {
        self.open(NodeKind::Either, None);
        self.skip();
        self.branch(braces)?;
        while self.continues(braces, "or") {
            self.branch(braces)?;
        }
        self.end_of_statement(braces, "either")
    }

    fn with(&mut self, braces: bool) -> Parsed<()> {
        self.open(NodeKind::With, None);
        self.skip();
        if braces {
            self.expect("(")?;
        }
        let end = if braces { ")" } else { "do" };
        loop {
            self.identifier(NodeKind::Identifier, None)?;
            self.binding()?;
            if !self.skip_word(",") && !self.skip_word(";") && !self.is_word(&[end]) {
                return self.expect(end);
            }
            if self.skip_word(end) {
                break;
            }
        }
        self.branch(braces)?;
        self.end_of_statement(braces, "with")
    }

    /// A keyword and an expression.
    fn simple(&mut self, kind: NodeKind) -> Parsed<()> {
        self.open(kind, None);
        self.skip();
        self.pluscal_expression(None)?;
        self.close();
        Ok(())
    }

    /// A name and arguments. Closes the node.
    fn call(&mut self) -> Parsed<()> {
        self.identifier(NodeKind::Identifier, Some(Field::Name))?;
        self.expect("(")?;
        while !self.skip_word(")") {
            self.pluscal_expression(None)?;
            if !self.skip_word(",") && !self.is_word(&[")"]) {
                return self.expect(")");
            }
        }
        self.close();
        Ok(())
    }

    /// `x[i] := e || y := f`
    fn assignments(&mut self) -> Parsed<()> {
        self.open(NodeKind::Assign, None);
        loop {
            self.open(NodeKind::AssignTarget, None);
            self.identifier(NodeKind::Reference, None)?;
            loop {
                if self.skip_word(".") {
                    self.identifier(NodeKind::Identifier, None)?;
                } else if self.skip_word("[") {
                    self.pluscal_expression(None)?;
                    while self.skip_word(",") {
                        self.pluscal_expression(None)?;
                    }
                    self.expect("]")?;
                } else {
                    break;
                }
            }
            self.close();
            if !self.token().is(":=") {
                return syntax_error(self.token().start, "expected a statement".into());
            }
            self.skip();
            self.pluscal_expression(None)?;
            if !self.token().is("||") {
                break;
            }
            self.skip();
        }
        self.close();
        Ok(())
    }
}
