//! The PlusCal algorithm of a module as data: its position, definitions, variables, labels, fairness and assertions.
//! Parsing is tolerant; the translator in `pluscal` decides whether the algorithm is legal.

use std::collections::BTreeSet;
use std::ops::Range;

use super::definition::{Context, Definition};
use super::lexer::{Kind, Lines, Token, lex, normalise};
use super::references::references;
use super::semantic::{Reader, is_reserved};
use super::syntax::{Field, Id, NodeKind, Tree};
use super::units::{UnitKind, split};

/// The two syntaxes of `PlusCal`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// `begin … end algorithm`.
    P,
    /// Braces.
    C,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    pub name: String,
    /// Its line in the module's text, from 1.
    pub line: usize,
    /// `+` or `-` after the colon, which changes the fairness of the label.
    pub modifier: Option<char>,
}

/// A `PlusCal` algorithm inside a comment.
#[derive(Debug, Clone)]
pub struct Algorithm {
    pub name: String,
    /// From `--algorithm` (or `--fair`) to the end of the algorithm.
    pub range: Range<usize>,
    /// The comment around it.
    pub comment: Range<usize>,
    pub syntax: Syntax,
    /// `--fair algorithm`.
    pub fair: bool,
    /// The byte range of the `define` block, including its keywords.
    pub define: Option<Range<usize>>,
    /// The definitions of the `define` block.
    pub definitions: Vec<Definition>,
    /// In the order of the text.
    pub labels: Vec<Label>,
    /// Global and local variables, and parameters of procedures.
    pub variables: Vec<String>,
    /// Every word and operator of the algorithm outside its `define` block that may refer to a definition.
    pub mentions: BTreeSet<String>,
    /// Fairness annotations: `--fair algorithm`, `fair process P`, `fair+ process P`, `label:+`.
    pub fairness: Vec<String>,
    /// The `assert` statements without comments and layout.
    pub assertions: Vec<String>,
    pub has_procedures: bool,
    /// The tree of the whole algorithm; positions are those of the module's text.
    pub tree: Tree,
}

/// The algorithm inside a comment, if there is one: `--algorithm` or `--fair algorithm`, a name, and the start of a body.
/// Prose that only mentions `--algorithm` is not one.
pub(crate) fn find_algorithm(
    source: &str,
    comment: &Token,
    lines: &Lines,
    reader: &mut Reader<'_>,
    errors: &mut Vec<(Range<usize>, String)>,
) -> Option<Algorithm> {
    let inside = comment.text(source);
    if !inside.contains("--algorithm") && !inside.contains("--fair") {
        return None;
    }
    let outer = comment.inside_comment(source);
    let tokens: Vec<Token> = lex(source, outer.clone()).into_iter().filter(|token| !token.is_comment()).collect();
    let text = |index: usize| tokens.get(index).map_or("", |token| token.text(source));
    let start = (0..tokens.len()).find(|index| is_start(&text, *index))?;
    let fair = text(start + 1) == "fair";
    let name_index = start + if fair { 3 } else { 2 };
    let syntax = if text(name_index + 1) == "{" { Syntax::C } else { Syntax::P };
    let end = find_end(&tokens, &text, name_index, syntax);
    let tokens = &tokens[start..end];
    let tree = reader.algorithm(tokens[0].start..tokens[tokens.len() - 1].end);
    errors.extend(tree.errors.iter().cloned());

    let mut algorithm = Algorithm {
        name: text(name_index).to_owned(),
        range: tokens[0].start..tokens[tokens.len() - 1].end,
        comment: comment.range(),
        syntax,
        fair,
        define: None,
        definitions: Vec::new(),
        labels: Vec::new(),
        variables: Vec::new(),
        mentions: BTreeSet::new(),
        fairness: Vec::new(),
        assertions: Vec::new(),
        has_procedures: false,
        tree: Tree::default(),
    };
    if let Some((block, inner)) = find_define(source, tokens, syntax) {
        algorithm.define = Some(tokens[block.start].start..tokens[block.end - 1].end);
        let context = Context { source, lines, outer };
        let inside = &tokens[inner];
        for unit in split(source, inside).iter().filter(|unit| unit.kind == UnitKind::Definition) {
            algorithm.definitions.extend(Definition::read(&context, inside, unit, reader, errors));
        }
    }
    algorithm.read_tree(source, &tree, lines, tokens);
    algorithm.tree = tree;
    Some(algorithm)
}

fn is_start<'a>(text: &impl Fn(usize) -> &'a str, index: usize) -> bool {
    let name = match (text(index), text(index + 1), text(index + 2)) {
        ("--", "algorithm", _) => index + 2,
        ("--", "fair", "algorithm") => index + 3,
        _ => return false,
    };
    !text(name).is_empty()
        && !is_reserved(text(name))
        && matches!(
            text(name + 1),
            "{" | "variable" | "variables" | "define" | "macro" | "procedure" | "process" | "fair" | "begin"
        )
}

/// The index after the last token of the algorithm.
fn find_end<'a>(tokens: &[Token], text: &impl Fn(usize) -> &'a str, name: usize, syntax: Syntax) -> usize {
    match syntax {
        Syntax::P => (name..tokens.len())
            .find(|index| text(*index) == "end" && text(index + 1) == "algorithm")
            .map_or(tokens.len(), |index| if text(index + 2) == ";" { index + 3 } else { index + 2 }),
        Syntax::C => {
            let mut depth = 0_usize;
            for index in name + 1..tokens.len() {
                match text(index) {
                    "{" => depth += 1,
                    "}" => {
                        depth = depth.saturating_sub(1);
                        if depth == 0 {
                            return index + 1;
                        }
                    }
                    _ => {}
                }
            }
            tokens.len()
        }
    }
}

/// The token ranges of the whole `define` block and of its content.
fn find_define(source: &str, tokens: &[Token], syntax: Syntax) -> Option<(Range<usize>, Range<usize>)> {
    let text = |index: usize| tokens.get(index).map_or("", |token| token.text(source));
    let start = (0..tokens.len()).find(|index| text(*index) == "define")?;
    let close = match syntax {
        Syntax::P => (start..tokens.len()).find(|index| text(*index) == "end" && text(index + 1) == "define")?,
        Syntax::C => {
            let mut depth = 0_usize;
            (start + 1..tokens.len()).find(|index| {
                match text(*index) {
                    "{" => depth += 1,
                    "}" => depth = depth.saturating_sub(1),
                    _ => {}
                }
                depth == 0
            })?
        }
    };
    let (inner, mut end) = match syntax {
        Syntax::P => (start + 1..close, close + 2),
        Syntax::C => (start + 2..close.max(start + 2), close + 1),
    };
    if text(end) == ";" {
        end += 1;
    }
    Some((start..end, inner))
}

impl Algorithm {
    fn read_tree(&mut self, source: &str, tree: &Tree, lines: &Lines, tokens: &[Token]) {
        let outside = |start: usize| self.define.as_ref().is_none_or(|define| !define.contains(&start));
        for id in tree.ids() {
            let node = tree.node(id);
            if node.kind == NodeKind::Identifier && node.field == Some(Field::Label) {
                let after = tokens.partition_point(|token| token.start < node.end);
                let modifier = tokens.get(after + 1).and_then(|token| token.text(source).chars().next());
                self.labels.push(Label {
                    name: node.text_in(source).to_owned(),
                    line: lines.line(node.start),
                    modifier: modifier.filter(|sign| matches!(sign, '+' | '-')),
                });
            }
            if matches!(node.kind, NodeKind::Variable | NodeKind::ProcedureVariable)
                && let Some(name) = tree.children(id).next()
            {
                self.variables.push(tree.text(name, source).to_owned());
            }
            if node.kind == NodeKind::Assert {
                self.assertions.push(normalise(source, node.start..node.end, &[]));
            }
            self.has_procedures |= node.kind == NodeKind::Procedure;
        }
        if tree.is_empty() || !tree.errors.is_empty() {
            // Without a reliable tree every word counts as a mention, so that a merge does not move a definition that the
            // algorithm needs.
            let words = tokens.iter().filter(|token| token.kind == Kind::Word && outside(token.start));
            self.mentions = words.map(|token| token.text(source).to_owned()).collect();
            if tokens.iter().any(|token| token.text(source) == "assert") {
                // The asserted expressions cannot be separated from the rest.
                self.assertions = vec![normalise(source, self.range.clone(), &[])];
            }
        } else {
            for id in tree.ids().filter(|id| tree.kind(*id) != NodeKind::Define) {
                let node = tree.node(id);
                let named = matches!(node.kind, NodeKind::Reference) || node.field == Some(Field::Symbol);
                if named && outside(node.start) {
                    self.mentions.extend(references(tree, source, id, &[]).names);
                }
                if node.kind == NodeKind::MacroCall {
                    self.mentions.extend(tree.field(id, Field::Name).map(|name| tree.text(name, source).to_owned()));
                }
            }
        }
        self.fairness = self.fairness_annotations(source, tokens);
        self.variables.sort();
        self.variables.dedup();
    }

    fn fairness_annotations(&self, source: &str, tokens: &[Token]) -> Vec<String> {
        let text = |index: usize| tokens.get(index).map_or("", |token| token.text(source));
        let mut found = Vec::new();
        if self.fair {
            found.push("--fair algorithm".to_owned());
        }
        for index in 0..tokens.len() {
            let strong = usize::from(text(index + 1) == "+");
            if text(index) == "fair" && text(index + 1 + strong) == "process" {
                let name = index + 2 + strong + usize::from(text(index + 2 + strong) == "(");
                found.push(format!("fair{} process {}", if strong == 1 { "+" } else { "" }, text(name)));
            }
        }
        for label in &self.labels {
            found.extend(label.modifier.map(|sign| format!("{}:{sign}", label.name)));
        }
        found
    }

    /// The label whose steps have this name. If each process has only one label, the translation has no `pc`, and names the
    /// steps after the process. `source` is the module's text.
    pub fn step_label(&self, action: &str, source: &str) -> Option<&Label> {
        let named = |name: &str| self.labels.iter().find(|label| label.name == name);
        named(action).or_else(|| {
            let tree = &self.tree;
            let own = tree.range(self.process_named(action, source)?);
            let is_own = |id: &Id| tree.node(*id).field == Some(Field::Label) && own.contains(&tree.range(*id).start);
            let mut labels = tree.ids().filter(is_own);
            let only = labels.next().filter(|_| labels.next().is_none())?;
            named(tree.text(only, source))
        })
    }

    fn process_named(&self, name: &str, source: &str) -> Option<Id> {
        let tree = &self.tree;
        let has_name = |id: &Id| tree.field(*id, Field::Name).is_some_and(|own| tree.text(own, source) == name);
        tree.of_kind(NodeKind::Process).find(has_name)
    }

    /// The process that takes the steps of this name, if it is a single one: `server` of `process S = "server"`. `source` is
    /// the module's text.
    pub fn single_process<'a>(&self, action: &str, source: &'a str) -> Option<&'a str> {
        let tree = &self.tree;
        let label = &self.step_label(action, source)?.name;
        let is_label = |id: &Id| tree.node(*id).field == Some(Field::Label) && tree.text(*id, source) == label;
        let start = tree.range(tree.ids().find(is_label)?).start;
        let process = tree.of_kind(NodeKind::Process).find(|id| tree.range(*id).contains(&start))?;
        let name = tree.range(tree.field(process, Field::Name)?);
        // The other form is `process P \in Set`, whose actions have an argument.
        let is_single = source.get(name.end..tree.range(process).end)?.trim_start().starts_with('=');
        let identifier = tree.children(process).nth(1).filter(|_| is_single)?;
        Some(tree.text(identifier, source).trim_matches('"'))
    }

    /// The definition of this name in the `define` block.
    pub fn definition(&self, name: &str) -> Option<&Definition> {
        self.definitions.iter().find(|definition| definition.name == name)
    }
}
