//! A module as data: what it declares, defines and states, each with its byte range in the text it was read from.
//!
//! Reading is tolerant: what is not TLA+ becomes a located finding, and the rest is read all the same; whether the
//! module is legal is SANY's to say.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::algorithm::{self, Algorithm};
use super::diagnostic::{Diagnostic, Stage};
use super::lexer::{Kind, Lines, Token, normalise};
use super::references::{References, canonical, references};
use super::syntax::{Reader, Tree};
use super::units::{Unit, UnitKind, next_module, split};

/// Why a text is no module at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModuleError {
    /// No header `---- MODULE Name ----` in the text.
    #[error("no module: the text has no line `---- MODULE Name ----`")]
    NoModule,
}

/// What kind of definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefinitionKind {
    /// `F(x) == …`.
    Operator,
    /// `f[x \in S] == …`.
    Function,
    /// `M == INSTANCE …`.
    Instance,
}

/// A name that is declared: constant, variable, parameter, RECURSIVE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    /// The name.
    pub name: String,
    /// Number of arguments.
    pub arity: usize,
    /// Where the name stands.
    pub range: Range<usize>,
}

/// One definition.
#[derive(Debug, Clone)]
pub struct Definition {
    /// Name, or operator symbol in its usual spelling.
    pub name: String,
    /// Kind.
    pub kind: DefinitionKind,
    /// LOCAL.
    pub local: bool,
    /// Parameters with their arity; those of a function are its bound names.
    pub params: Vec<Declaration>,
    /// From its first comment line (directly above) to its end, a comment on its last line included.
    pub range: Range<usize>,
    /// From its first token to its last.
    pub code: Range<usize>,
    /// Line of its first token, from 1.
    pub line: usize,
    /// The text of `range`.
    pub text: String,
    /// The comments directly above, with their markers.
    pub comment: String,
    /// Its body has syntax errors: what is said about it may be incomplete.
    pub damaged: bool,
    pub(crate) tree: Tree,
    pub(crate) refers: References,
}

/// ASSUME, THEOREM and the like.
#[derive(Debug, Clone)]
pub struct Statement {
    /// Its name, where it has one.
    pub name: Option<String>,
    /// Its range without comments.
    pub range: Range<usize>,
    /// Tokens with one blank between, comments dropped.
    pub normalised: String,
    pub(crate) refers: References,
}

/// A module.
#[derive(Debug, Clone)]
pub struct Module {
    /// The text it was read from, prose around it included.
    pub source: String,
    /// Its name.
    pub name: String,
    /// The header line's dashes, keyword and name.
    pub header: Range<usize>,
    /// The `====` that really ends it; `None` where the text ends first.
    pub terminator: Option<Range<usize>>,
    /// From header to terminator (or to the end of the text).
    pub range: Range<usize>,
    /// EXTENDS.
    pub extends: Vec<String>,
    /// CONSTANTS.
    pub constants: Vec<Declaration>,
    /// VARIABLES.
    pub variables: Vec<Declaration>,
    /// RECURSIVE.
    pub recursive: Vec<Declaration>,
    /// Definitions outside the algorithm, in order, those of the translation included.
    pub definitions: Vec<Definition>,
    /// Modules instantiated without a name.
    pub instances: Vec<String>,
    /// ASSUME.
    pub assumptions: Vec<Statement>,
    /// THEOREM.
    pub theorems: Vec<Statement>,
    /// Nested modules.
    pub inner: Vec<Range<usize>>,
    /// The PlusCal algorithm.
    pub algorithm: Option<Algorithm>,
    /// From the start of the BEGIN TRANSLATION line to the end of the END TRANSLATION line.
    pub translation: Option<Range<usize>>,
    /// What could not be read, with the place in `source`.
    pub syntax_errors: Vec<Diagnostic>,
    pub(crate) stray: Vec<Range<usize>>,
    /// Declarations and statements: everything that is neither definition, RECURSIVE nor separator.
    pub(crate) other_units: Vec<Range<usize>>,
    pub(crate) recursive_units: Vec<(Vec<String>, Range<usize>)>,
}

pub(crate) struct Context<'a> {
    pub(crate) source: &'a str,
    pub(crate) lines: &'a Lines,
    /// Comments outside this range belong to nothing in it.
    pub(crate) outer: Range<usize>,
}

impl Module {
    /// Reads the first module of a text. Prose before and after it does not matter.
    pub fn parse(text: &str) -> Result<Self, ModuleError> {
        let outline = next_module(text, 0).ok_or(ModuleError::NoModule)?;
        let lines = Lines::of(text);
        let mut reader = Reader::new();
        let end = outline.terminator.as_ref().map_or(text.len(), |terminator| terminator.end);
        let inside = outline.header.end..outline.terminator.as_ref().map_or(text.len(), |t| t.start);
        let mut module = Self {
            source: text.to_owned(),
            name: outline.name,
            range: outline.header.start..end,
            header: outline.header,
            terminator: outline.terminator,
            extends: Vec::new(),
            constants: Vec::new(),
            variables: Vec::new(),
            recursive: Vec::new(),
            definitions: Vec::new(),
            instances: Vec::new(),
            assumptions: Vec::new(),
            theorems: Vec::new(),
            inner: Vec::new(),
            algorithm: None,
            translation: translation(text, &outline.tokens),
            syntax_errors: Vec::new(),
            stray: Vec::new(),
            other_units: Vec::new(),
            recursive_units: Vec::new(),
        };
        let mut errors = Vec::new();
        for comment in outline.tokens.iter().filter(|token| token.kind == Kind::BlockComment) {
            if module.algorithm.is_none() {
                module.algorithm = algorithm::find(text, comment, &lines, &mut reader, &mut errors);
            }
        }
        let tokens: Vec<Token> = outline.tokens.into_iter().filter(|token| !token.is_comment()).collect();
        let context = Context { source: text, lines: &lines, outer: inside };
        for unit in split(text, &tokens) {
            module.take(&context, &tokens, &unit, &mut reader, &mut errors);
        }
        errors.sort_by_key(|(range, _)| range.start);
        module.syntax_errors = errors.iter().map(|(range, message)| located(text, &lines, range, message)).collect();
        Ok(module)
    }

    fn take(
        &mut self,
        context: &Context<'_>,
        tokens: &[Token],
        unit: &Unit,
        reader: &mut Reader,
        errors: &mut Vec<(Range<usize>, String)>,
    ) {
        let source = context.source;
        let own = &tokens[unit.tokens.clone()];
        let (Some(first), Some(last)) = (own.first(), own.last()) else { return };
        let range = first.start..last.end;
        let own_kind =
            matches!(unit.kind, UnitKind::Definition | UnitKind::Recursive | UnitKind::Separator | UnitKind::Stray);
        if !own_kind {
            self.other_units.push(range.clone());
        }
        match unit.kind {
            UnitKind::Extends => self.extends.extend(words(source, own).into_iter().map(|(word, _)| word)),
            UnitKind::Variables => self.variables.extend(declarations(source, &own[1..])),
            UnitKind::Constants => self.constants.extend(declarations(source, &own[1..])),
            UnitKind::Recursive => {
                let declared = declarations(source, &own[1..]);
                self.recursive_units.push((declared.iter().map(|d| d.name.clone()).collect(), range));
                self.recursive.extend(declared);
            }
            UnitKind::Instance => {
                let after = own.iter().position(|token| token.text(source) == "INSTANCE").map_or(0, |at| at + 1);
                self.instances.extend(own.get(after).map(|token| token.text(source).to_owned()));
                let tree = reader.read(source, own, false);
                errors.extend(tree.errors);
            }
            UnitKind::Assume | UnitKind::Theorem => {
                let own = if unit.kind == UnitKind::Theorem { without_proof(source, own) } else { own };
                let tree = reader.read(source, own, false);
                let refers = if tree.is_empty() { References::default() } else { references(&tree, source, 0, &[]) };
                errors.extend(tree.errors);
                let statement = Statement {
                    name: unit.name.map(|at| tokens[at].text(source).to_owned()),
                    normalised: normalise(source, range.clone(), &[]),
                    range,
                    refers,
                };
                if unit.kind == UnitKind::Assume {
                    self.assumptions.push(statement);
                } else {
                    self.theorems.push(statement);
                }
            }
            UnitKind::Definition => {
                self.definitions.extend(Definition::read(context, tokens, unit, reader, errors));
            }
            UnitKind::Module => self.inner.push(range),
            UnitKind::Stray => {
                errors.push((range.clone(), format!("not a definition: {}", quote(&source[range.clone()]))));
                self.stray.push(range);
            }
            UnitKind::Separator | UnitKind::UseOrHide => {}
        }
    }

    /// The definition of this name: outside the algorithm first, then in its `define` block.
    pub fn definition(&self, name: &str) -> Option<&Definition> {
        let own = self.definitions.iter().find(|definition| definition.name == name);
        own.or_else(|| self.algorithm.as_ref().and_then(|algorithm| algorithm.definition(name)))
    }

    /// All definitions by name; a translated `define` block counts once.
    pub fn definitions_by_name(&self) -> BTreeMap<&str, &Definition> {
        let inside = self.algorithm.iter().flat_map(|algorithm| &algorithm.definitions);
        let mut by_name: BTreeMap<&str, &Definition> = BTreeMap::new();
        for definition in self.definitions.iter().chain(inside) {
            by_name.entry(&definition.name).or_insert(definition);
        }
        by_name
    }

    /// The variables of the module, those that the translation of its algorithm makes included.
    pub fn variable_names(&self) -> BTreeSet<&str> {
        let mut names: BTreeSet<&str> = self.variables.iter().map(|variable| variable.name.as_str()).collect();
        if let Some(algorithm) = &self.algorithm {
            names.extend(algorithm.variables.iter().map(String::as_str));
            names.insert("pc");
            if algorithm.has_procedures {
                names.insert("stack");
            }
        }
        names
    }

    /// The user's definitions that this one depends on, directly or not. It holds the name itself only where the
    /// definition is recursive.
    pub fn closure(&self, name: &str) -> BTreeSet<String> {
        self.closure_of(self.definition(name).map(|definition| &definition.refers))
    }

    pub(crate) fn closure_of<'a>(&self, from: impl IntoIterator<Item = &'a References>) -> BTreeSet<String> {
        let by_name = self.definitions_by_name();
        let mut found = BTreeSet::new();
        let mut open: Vec<&str> = Vec::new();
        for refers in from {
            open.extend(refers.names.iter().filter_map(|name| by_name.get_key_value(name.as_str())).map(|(n, _)| *n));
        }
        while let Some(name) = open.pop() {
            if found.insert(name.to_owned())
                && let Some(definition) = by_name.get(name)
            {
                let refers = definition.refers.names.iter();
                open.extend(refers.filter_map(|name| by_name.get_key_value(name.as_str())).map(|(name, _)| *name));
            }
        }
        found
    }

    /// Whether the definition or anything it depends on mentions a variable of the module.
    pub fn mentions_variable(&self, name: &str) -> bool {
        let variables = self.variable_names();
        let by_name = self.definitions_by_name();
        let mut all = self.closure(name);
        all.insert(name.to_owned());
        all.iter()
            .filter_map(|name| by_name.get(name.as_str()))
            .any(|definition| definition.refers.names.iter().any(|name| variables.contains(name.as_str())))
    }

    /// Whether the byte offset is inside the translation.
    pub fn in_translation(&self, offset: usize) -> bool {
        self.translation.as_ref().is_some_and(|range| range.contains(&offset))
    }

    pub(crate) fn diagnostic(&self, stage: Stage, offset: usize, message: String) -> Diagnostic {
        let (line, column) = Lines::of(&self.source).position(&self.source, offset);
        Diagnostic { stage, line, column, message }
    }
}

fn located(text: &str, lines: &Lines, range: &Range<usize>, message: &str) -> Diagnostic {
    let (line, column) = lines.position(text, range.start);
    Diagnostic { stage: Stage::Lint, line, column, message: message.to_owned() }
}

/// The first line of a text in quotation marks, at most 60 characters of it.
pub(crate) fn quote(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or("");
    let short: String = line.chars().take(60).collect();
    if short.len() < line.len() { format!("\"{short}...\"") } else { format!("\"{short}\"") }
}

fn without_proof<'a>(source: &str, tokens: &'a [Token]) -> &'a [Token] {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text(source));
    let end = (1..tokens.len()).find(|at| match text(*at) {
        "PROOF" | "BY" | "OBVIOUS" | "OMITTED" => true,
        "<" => text(at + 2) == ">" && tokens[*at].first,
        _ => false,
    });
    &tokens[..end.unwrap_or(tokens.len())]
}

fn words(source: &str, tokens: &[Token]) -> Vec<(String, Range<usize>)> {
    let names = tokens.iter().skip(1).filter(|token| token.kind == Kind::Word);
    names.map(|token| (token.text(source).to_owned(), token.range())).collect()
}

/// `a, F(_, _), _+_`, with or without surrounding parentheses.
pub(crate) fn declarations(source: &str, tokens: &[Token]) -> Vec<Declaration> {
    let mut found = Vec::new();
    let mut depth = 0_usize;
    let mut start = 0;
    for at in 0..=tokens.len() {
        let text = tokens.get(at).map_or(",", |token| token.text(source));
        match text {
            "(" | "[" | "<<" | "{" => depth += 1,
            ")" | "]" | ">>" | "}" => depth = depth.saturating_sub(1),
            "," if depth == 0 || at == tokens.len() => {
                found.extend(declaration(source, &tokens[start..at]));
                start = at + 1;
            }
            _ => {}
        }
    }
    found
}

fn declaration(source: &str, tokens: &[Token]) -> Option<Declaration> {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text(source));
    let holes = tokens.iter().filter(|token| token.text(source) == "_").count();
    let at = tokens.iter().position(|token| !matches!(token.text(source), "_" | "(" | ")" | ","))?;
    // `VARIABLES x y` (a comma forgotten) still declares x; SANY reports the rest.
    Some(Declaration { name: canonical(text(at)).to_owned(), arity: holes, range: tokens[at].range() })
}

/// The lines of the translation, from `\* BEGIN TRANSLATION` to `\* END TRANSLATION`.
fn translation(source: &str, tokens: &[Token]) -> Option<Range<usize>> {
    let marks = |words: &str| {
        let words = words.to_owned();
        move |token: &&Token| {
            token.kind == Kind::LineComment && token.text(source)[2..].trim_start().starts_with(&words)
        }
    };
    let begin = tokens.iter().find(marks("BEGIN TRANSLATION"))?;
    let end = tokens.iter().filter(|token| token.start > begin.start).find(marks("END TRANSLATION"))?;
    Some(begin.start - begin.column..end.end)
}

impl Definition {
    /// Reads one definition unit.
    pub(crate) fn read(
        context: &Context<'_>,
        tokens: &[Token],
        unit: &Unit,
        reader: &mut Reader,
        errors: &mut Vec<(Range<usize>, String)>,
    ) -> Option<Self> {
        let source = context.source;
        let (name_at, equals) = unit.name.zip(unit.equals)?;
        let own = tokens.get(unit.tokens.clone())?;
        let code = own.first()?.start..own.last()?.end;
        let local = own.first()?.text(source) == "LOCAL";
        let body = tokens.get(equals + 1).map_or("", |token| token.text(source));
        let head: &[Token] = &tokens[unit.tokens.start + usize::from(local)..equals];
        let opening = tokens.get(name_at + 1).map_or("", |token| token.text(source));
        let kind = match (opening, body) {
            ("[", _) => DefinitionKind::Function,
            (_, "INSTANCE") => DefinitionKind::Instance,
            _ => DefinitionKind::Operator,
        };
        let params = parameters(source, head, tokens[name_at], kind);
        let tree = reader.read(source, own, false);
        let damaged = tree.is_empty() || !tree.errors.is_empty();
        errors.extend(tree.errors.iter().cloned());
        let refers = if damaged {
            flat_references(source, &tokens[equals + 1..unit.tokens.end])
        } else {
            references(&tree, source, 0, &[])
        };
        let start = comment_start(context, code.start);
        let end = comment_end(context, code.end);
        Some(Self {
            name: canonical(tokens[name_at].text(source)).to_owned(),
            kind,
            local,
            params,
            line: context.lines.line(code.start),
            text: source[start..end].to_owned(),
            comment: source[start..code.start].trim().to_owned(),
            range: start..end,
            code,
            damaged,
            tree,
            refers,
        })
    }

    /// Number of arguments; a function and a constant operator have none.
    pub fn arity(&self) -> usize {
        if self.kind == DefinitionKind::Function { 0 } else { self.params.len() }
    }

    /// Names this definition refers to directly, bound names excepted.
    pub fn refers_to(&self) -> &BTreeSet<String> {
        &self.refers.names
    }

    /// Comments and layout dropped; equal for definitions that differ in nothing else.
    pub fn normalised(&self, source: &str) -> String {
        let items: Vec<Range<usize>> = self
            .tree
            .ids()
            .map(|id| self.tree.node(id))
            .filter(|node| matches!(node.kind, "conj_item" | "disj_item"))
            .map(|node| node.start..node.end)
            .collect();
        normalise(source, self.code.clone(), &items)
    }
}

/// Without a tree every word may be a reference.
fn flat_references(source: &str, tokens: &[Token]) -> References {
    let named = tokens.iter().filter(|token| matches!(token.kind, Kind::Word | Kind::Symbol));
    References { names: named.map(|token| canonical(token.text(source)).to_owned()).collect(), foreign: true }
}

fn parameters(source: &str, head: &[Token], name: Token, kind: DefinitionKind) -> Vec<Declaration> {
    let after = head.iter().position(|token| token.start == name.end || token.start > name.start);
    let opens = after.is_some_and(|at| matches!(head[at].text(source), "(" | "["));
    match (kind, after) {
        (DefinitionKind::Function, Some(at)) if opens => {
            let inner = head.get(at + 1..head.len().saturating_sub(1)).unwrap_or(&[]);
            let mut depth = 0_usize;
            let mut names = Vec::new();
            let mut binding = true;
            for token in inner {
                match token.text(source) {
                    "(" | "[" | "{" => depth += 1,
                    ")" | "]" | "}" => depth = depth.saturating_sub(1),
                    "\\in" | "\u{2208}" if depth == 0 => binding = false,
                    "," if depth == 0 => binding = true,
                    text if binding && token.kind == Kind::Word => {
                        names.push(Declaration { name: text.to_owned(), arity: 0, range: token.range() });
                    }
                    _ => {}
                }
            }
            names
        }
        (_, Some(at)) if opens => declarations(source, head.get(at + 1..head.len().saturating_sub(1)).unwrap_or(&[])),
        // Infix, prefix and postfix operators: the identifiers around the symbol.
        _ => {
            let around = head.iter().filter(|token| token.kind == Kind::Word && token.start != name.start);
            around
                .map(|token| Declaration { name: token.text(source).to_owned(), arity: 0, range: token.range() })
                .collect()
        }
    }
}

/// The start of the comment lines directly above, or of the definition itself.
fn comment_start(context: &Context<'_>, code: usize) -> usize {
    let source = context.source;
    let mut start = code;
    loop {
        let floor = context.outer.start;
        let before = &source[floor..start];
        let trimmed = before.trim_end();
        let gap = &before[trimmed.len()..];
        if gap.matches('\n').count() > 1 {
            return start;
        }
        let line_start = trimmed.rfind('\n').map_or(0, |at| at + 1);
        let line = &trimmed[line_start..];
        if line.trim_start().starts_with("\\*") {
            if is_mark(line) {
                return start;
            }
            start = floor + trimmed.len() - line.trim_start().len();
        } else if trimmed.ends_with("*)") {
            let Some(open) = block_opening(trimmed) else { return start };
            let head = trimmed[..open].rfind('\n').map_or(0, |at| at + 1);
            let block = &trimmed[open..];
            if !trimmed[head..open].trim().is_empty() || block.contains("--algorithm") || block.contains("--fair") {
                return start;
            }
            start = floor + open;
        } else {
            return start;
        }
    }
}

fn is_mark(line: &str) -> bool {
    let text = line.trim_start().trim_start_matches("\\*").trim_start();
    text.starts_with("BEGIN TRANSLATION") || text.starts_with("END TRANSLATION")
}

/// Where the block comment that ends a text begins. Comments longer than 8 kB are no remark on a definition.
fn block_opening(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    let mut at = bytes.len();
    while at >= 2 && bytes.len() - at < 8 * 1024 {
        match &bytes[at - 2..at] {
            b"*)" => {
                depth += 1;
                at -= 2;
            }
            b"(*" => {
                depth = depth.checked_sub(1)?;
                at -= 2;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => at -= 1,
        }
    }
    None
}

/// The end of a comment that stands on the definition's last line.
fn comment_end(context: &Context<'_>, code: usize) -> usize {
    let rest = &context.source[code..context.outer.end.max(code)];
    let line = rest.find('\n').map_or(rest, |at| &rest[..at]);
    let remark = line.trim();
    let single = remark.starts_with("(*") && remark.ends_with("*)") && remark.matches("(*").count() == 1;
    if remark.starts_with("\\*") || single { code + line.trim_end().len() } else { code }
}
