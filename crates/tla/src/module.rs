//! A module as data: its declarations, definitions and statements, each with its byte range in the source text.
//!
//! Parsing is tolerant: text that is not TLA+ becomes a syntax error with its position, and the rest is parsed anyway.
//! Whether the module is legal is for SANY to decide.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use super::algorithm::{Algorithm, find_algorithm};
use super::definition::{Context, Declaration, Definition, declarations, flat_references};
use super::diagnostic::{Diagnostic, Stage};
use super::layout::column_of;
use super::lexer::{Kind, Lines, Token, normalise};
use super::place::Place;
use super::references::{References, references};
use super::semantic::Reader;
use super::step_counter;
use super::syntax::{Id, Tree};
use super::units::{Unit, UnitKind, next_module, split};

/// Standard and community modules, whose operators depend on nothing but their arguments.
const STANDARD: &[&str] = &[
    "Bags",
    "FiniteSets",
    "FiniteSetsExt",
    "Folds",
    "Functions",
    "Integers",
    "Naturals",
    "Randomization",
    "RealTime",
    "Reals",
    "Sequences",
    "SequencesExt",
    "TLC",
    "TLCExt",
];

/// Whether a module of a specification can have this name, and a file can be named after it: letters, digits and `_`, with
/// a letter among them, and no standard module.
pub fn is_module_name(name: &str) -> bool {
    name.len() <= 100
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && name.bytes().any(|b| b.is_ascii_alphabetic())
        && !STANDARD.contains(&name)
}

/// The name in the first header `---- MODULE Name ----`.
pub fn module_name(text: &str) -> Option<&str> {
    let after = text.split("MODULE").nth(1)?.trim_start();
    let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
    Some(&after[..end]).filter(|name| !name.is_empty())
}

/// The text with these modules added to the list of EXTENDS of its first module. `None` if it has no module, or no line
/// below its header.
pub fn with_extended<'a>(text: &str, modules: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let module = Module::parse(text).ok()?;
    let list = modules.into_iter().collect::<Vec<_>>().join(", ");
    let (place, addition) = match module.extends_end() {
        _ if list.is_empty() => return Some(text.to_owned()),
        Some(place) => (place, format!(", {list}")),
        None => (module.header.end + text[module.header.end..].find('\n')?, format!("\nEXTENDS {list}")),
    };
    Some(format!("{}{addition}{}", &text[..place], &text[place..]))
}

/// The text contains no module.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModuleError {
    #[error("no module: the text has no line `---- MODULE Name ----`")]
    NoModule,
}

/// ASSUME, THEOREM and the like.
#[derive(Debug, Clone)]
pub struct Statement {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Its byte range, without a comment above.
    pub range: Range<usize>,
    /// Its text without comments and layout.
    pub normalised: String,
    pub references: References,
}

#[derive(Debug, Clone)]
pub struct Module {
    /// The text that was parsed, including prose around the module.
    pub source: String,
    pub name: String,
    /// The dashes, keyword and name of the header line.
    pub header: Range<usize>,
    /// The `====` that ends it; `None` if it is missing.
    pub terminator: Option<Range<usize>>,
    /// From header to terminator (or to the end of the text).
    pub range: Range<usize>,
    pub extends: Vec<String>,
    pub constants: Vec<Declaration>,
    pub variables: Vec<Declaration>,
    /// RECURSIVE.
    pub recursive: Vec<Declaration>,
    /// Definitions outside the algorithm in order, including those of the translation.
    pub definitions: Vec<Definition>,
    /// Modules of INSTANCE statements without a name.
    pub instances: Vec<String>,
    /// ASSUME.
    pub assumptions: Vec<Statement>,
    /// THEOREM.
    pub theorems: Vec<Statement>,
    /// Nested modules.
    pub inner: Vec<Range<usize>>,
    /// The `PlusCal` algorithm.
    pub algorithm: Option<Algorithm>,
    /// From the start of the BEGIN TRANSLATION line to the end of the END TRANSLATION line.
    pub translation: Option<Range<usize>>,
    /// Syntax errors with their positions in `source`.
    pub syntax_errors: Vec<Diagnostic>,
    pub stray: Vec<Range<usize>>,
    /// Declarations and statements: every unit that is not a definition, RECURSIVE, separator or stray.
    pub other_units: Vec<Range<usize>>,
    pub recursive_units: Vec<(Vec<String>, Range<usize>)>,
    /// The index in [`Self::all_definitions`] of the first definition of each name.
    first_definitions: HashMap<String, usize>,
}

impl Module {
    /// Parses the first module of a text. Prose before and after it is ignored.
    pub fn parse(text: &str) -> Result<Self, ModuleError> {
        let outline = next_module(text, 0).ok_or(ModuleError::NoModule)?;
        let lines = Lines::new(text);
        let mut reader = Reader::new(text);
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
            first_definitions: HashMap::new(),
        };
        let mut errors = Vec::new();
        for comment in outline.tokens.iter().filter(|token| token.kind == Kind::BlockComment) {
            if module.algorithm.is_none() {
                module.algorithm = find_algorithm(text, comment, &lines, &mut reader, &mut errors);
            }
        }
        let tokens: Vec<Token> = outline.tokens.into_iter().filter(|token| !token.is_comment()).collect();
        let context = Context { source: text, lines: &lines, outer: inside };
        for unit in split(text, &tokens) {
            module.add_unit(&context, &tokens, &unit, &mut reader, &mut errors);
        }
        let names: Vec<String> = module.all_definitions().map(|definition| definition.name.clone()).collect();
        for (place, name) in names.into_iter().enumerate() {
            module.first_definitions.entry(name).or_insert(place);
        }
        errors.sort_by_key(|(range, _)| range.start);
        module.syntax_errors = errors
            .iter()
            .map(|(range, message)| Diagnostic::at(Stage::Lint, text, range.start, message.clone()))
            .collect();
        Ok(module)
    }

    fn add_unit(
        &mut self,
        context: &Context<'_>,
        tokens: &[Token],
        unit: &Unit,
        reader: &mut Reader<'_>,
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
                let after = own.iter().position(|token| token.text(source) == "INSTANCE").map_or(0, |index| index + 1);
                self.instances.extend(own.get(after).map(|token| token.text(source).to_owned()));
                errors.extend(reader.unit(range).errors);
            }
            UnitKind::Assume | UnitKind::Theorem => {
                let own = if unit.kind == UnitKind::Theorem { without_proof(source, own) } else { own };
                let tree = reader.unit(range.start..own.last().map_or(range.end, |last| last.end));
                let references =
                    if tree.is_empty() { flat_references(source, own) } else { references(&tree, source, 0, &[]) };
                errors.extend(tree.errors);
                let statement = Statement {
                    name: unit.name.map(|index| tokens[index].text(source).to_owned()),
                    normalised: normalise(source, range.clone(), &[]),
                    range,
                    references,
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

    /// The definition of this name; one outside the algorithm comes before one in its `define` block.
    pub fn definition(&self, name: &str) -> Option<&Definition> {
        self.all_definitions().nth(*self.first_definitions.get(name)?)
    }

    fn all_definitions(&self) -> impl Iterator<Item = &Definition> {
        self.definitions.iter().chain(self.algorithm.iter().flat_map(|algorithm| &algorithm.definitions))
    }

    /// All definitions by name. A definition of the `define` block and its copy in the translation count once.
    pub fn definitions_by_name(&self) -> BTreeMap<&str, &Definition> {
        let mut by_name: BTreeMap<&str, &Definition> = BTreeMap::new();
        for definition in self.all_definitions() {
            step_counter::count_step();
            by_name.entry(&definition.name).or_insert(definition);
        }
        by_name
    }

    /// The variables of the module, including those that the translation of its algorithm declares.
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

    /// The definitions of this module that the named one depends on, directly or indirectly. They include the name itself
    /// only if the definition is recursive.
    pub fn closure(&self, name: &str) -> BTreeSet<String> {
        self.closure_of(self.definition(name).map(|definition| &definition.references))
    }

    /// The definitions of this module that these references depend on, directly or indirectly.
    pub fn closure_of<'a>(&self, from: impl IntoIterator<Item = &'a References>) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut open: Vec<&Definition> = Vec::new();
        for references in from {
            open.extend(references.names.iter().filter_map(|name| self.definition(name)));
        }
        while let Some(definition) = open.pop() {
            step_counter::count_step();
            if found.insert(definition.name.clone()) {
                open.extend(definition.references.names.iter().filter_map(|name| self.definition(name)));
            }
        }
        found
    }

    /// The named definitions and all that depend on one of them, directly or indirectly.
    pub fn users_of<'a>(&'a self, names: impl IntoIterator<Item = &'a str>) -> BTreeSet<&'a str> {
        let by_name = self.definitions_by_name();
        let mut users: HashMap<&str, Vec<&str>> = HashMap::new();
        for (user, definition) in &by_name {
            for name in &definition.references.names {
                users.entry(name).or_default().push(user);
            }
        }
        let mut found = BTreeSet::new();
        let mut open: Vec<&str> = names.into_iter().collect();
        while let Some(name) = open.pop() {
            step_counter::count_step();
            if found.insert(name) {
                open.extend(users.get(name).into_iter().flatten());
            }
        }
        found
    }

    /// Whether the definition or anything it depends on mentions a variable of the module.
    pub fn mentions_variable(&self, name: &str) -> bool {
        !self.variables_of(name, |_| true).is_empty()
    }

    /// The variables that a definition mentions, directly or through those of the definitions that are `followed`.
    pub fn variables_of(&self, name: &str, followed: impl Fn(&str) -> bool) -> BTreeSet<&str> {
        let variables = self.variable_names();
        let by_name = self.definitions_by_name();
        let mut all = self.closure(name);
        all.retain(|name| followed(name));
        all.insert(name.to_owned());
        let definitions = all.iter().filter_map(|name| by_name.get(name.as_str()));
        let names: BTreeSet<&str> =
            definitions.flat_map(|definition| &definition.references.names).map(String::as_str).collect();
        variables.intersection(&names).copied().collect()
    }

    /// The variables that these references name, directly or through definitions.
    pub fn variables_among(&self, from: &References) -> BTreeSet<&str> {
        let used = self.closure_of([from]);
        let used = || used.iter().filter_map(|name| self.definition(name));
        let is_named =
            |name: &&str| from.names.contains(*name) || used().any(|one| one.references.names.contains(*name));
        self.variable_names().into_iter().filter(is_named).collect()
    }

    /// The byte offset after the list of EXTENDS, if there is one.
    fn extends_end(&self) -> Option<usize> {
        let is_extends = |range: &&Range<usize>| self.source[(*range).clone()].starts_with("EXTENDS");
        self.other_units.iter().find(is_extends).map(|range| range.end)
    }

    /// Whether all names come from this text and the standard modules, so that any other name is undefined.
    pub fn is_self_contained(&self) -> bool {
        self.extends.iter().chain(&self.instances).all(|name| STANDARD.contains(&name.as_str()))
    }

    /// Whether it declares a constant of this name. If a configuration assigns any other name, it replaces a definition.
    pub fn declares_constant(&self, name: &str) -> bool {
        self.constants.iter().any(|constant| constant.name == name)
    }

    /// The text of inner modules and of instances without a name, without comments and layout. Callers need it because
    /// [`Self::closure`] does not contain definitions that come from them.
    pub fn instance_texts(&self) -> Vec<String> {
        let starts = |range: &&Range<usize>| {
            let text = &self.source[(*range).clone()];
            text.strip_prefix("LOCAL").map_or(text, str::trim_start).starts_with("INSTANCE")
        };
        let unnamed = self.other_units.iter().filter(starts);
        self.inner.iter().chain(unnamed).map(|range| normalise(&self.source, range.clone(), &[])).collect()
    }

    /// The names of the modules inside it.
    pub fn inner_names(&self) -> impl Iterator<Item = String> {
        self.inner.iter().map(|range| {
            next_module(&self.source[range.clone()], 0).map_or_else(|| "of unknown name".to_owned(), |inner| inner.name)
        })
    }

    /// The tuple of the declared variables: `<<x, y>>`.
    pub fn variable_tuple(&self) -> String {
        let variables: Vec<&str> = self.variables.iter().map(|variable| variable.name.as_str()).collect();
        format!("<<{}>>", variables.join(", "))
    }

    /// Whether an expression has the same value in every state.
    pub fn is_constant(&self, tree: &Tree, id: Id) -> bool {
        let referenced = references(tree, &self.source, id, &[]);
        let is_variable = |name: &String| self.variable_names().contains(name.as_str());
        !referenced.foreign
            && !referenced.names.iter().any(is_variable)
            && !self.closure_of([&referenced]).iter().any(|name| self.mentions_variable(name))
    }

    /// Line and column of a byte offset, as SANY and TLC count them.
    pub fn place(&self, offset: usize) -> Place {
        Place { line: Lines::new(&self.source).line(offset), column: column_of(&self.source, offset) + 1 }
    }

    /// The text of a node, indented to the column where it begins: the columns of a bulleted list have meaning, so its
    /// lines must keep their positions relative to each other when the text is copied.
    pub fn text_in_column(&self, tree: &Tree, id: Id) -> String {
        let start = tree.node(id).start;
        format!("{}{}", " ".repeat(column_of(&self.source, start)), tree.text(id, &self.source))
    }

    /// Whether the byte offset is inside the translation.
    pub fn in_translation(&self, offset: usize) -> bool {
        self.translation.as_ref().is_some_and(|range| range.contains(&offset))
    }

    /// Whether a position such as `line 4, column 8 of module M` is in the translation of this module.
    pub fn has_in_translation(&self, position: &str) -> bool {
        let line = position.strip_prefix("line ").and_then(|rest| rest.split_once(','));
        let line: Option<usize> = line.and_then(|(line, _)| line.parse().ok());
        let Some(line) = line.filter(|_| position.ends_with(&format!(" of module {}", self.name))) else {
            return false;
        };
        let start: usize = self.source.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
        self.in_translation(start)
    }

    pub fn diagnostic(&self, stage: Stage, offset: usize, message: String) -> Diagnostic {
        Diagnostic::at(stage, &self.source, offset, message)
    }
}

/// The first line of a text in quotation marks, at most 60 characters of it.
pub(crate) fn quote(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or("");
    let short: String = line.chars().take(60).collect();
    if short.len() < line.len() { format!("\"{short}...\"") } else { format!("\"{short}\"") }
}

/// The tokens of a theorem before its proof.
fn without_proof<'a>(source: &str, tokens: &'a [Token]) -> &'a [Token] {
    let text = |index: usize| tokens.get(index).map_or("", |token| token.text(source));
    let end = (1..tokens.len()).find(|index| match text(*index) {
        "PROOF" | "BY" | "OBVIOUS" | "OMITTED" => true,
        "<" => text(index + 2) == ">" && tokens[*index].first,
        _ => false,
    });
    &tokens[..end.unwrap_or(tokens.len())]
}

fn words(source: &str, tokens: &[Token]) -> Vec<(String, Range<usize>)> {
    let names = tokens.iter().skip(1).filter(|token| token.kind == Kind::Word);
    names.map(|token| (token.text(source).to_owned(), token.range())).collect()
}

/// The lines of the translation, from `\* BEGIN TRANSLATION` to `\* END TRANSLATION`.
pub(crate) fn translation(source: &str, tokens: &[Token]) -> Option<Range<usize>> {
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
