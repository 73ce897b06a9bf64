//! The `PlusCal` algorithm of a module: where it is, what it defines, its labels.

use std::collections::BTreeSet;
use std::ops::Range;

use super::definition::{Context, Definition};
use super::lexer::{Kind, Lines, Token, lex, normalise};
use super::references::references;
use super::syntax::{Reader, Tree};
use super::units::{UnitKind, is_reserved, split};

/// The two syntaxes of `PlusCal`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// `begin … end algorithm`.
    P,
    /// Braces.
    C,
}

/// A label, and the line of the module's text (from 1) it stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Its name.
    pub name: String,
    /// From 1.
    pub line: usize,
    /// `+` or `-` after the colon: fairness of its own.
    pub modifier: Option<char>,
}

/// A `PlusCal` algorithm inside a comment.
#[derive(Debug, Clone)]
pub struct Algorithm {
    /// Its name.
    pub name: String,
    /// From `--algorithm` (or `--fair`) to the end of the algorithm.
    pub range: Range<usize>,
    /// The comment around it.
    pub comment: Range<usize>,
    /// Which syntax.
    pub syntax: Syntax,
    /// `--fair algorithm`.
    pub fair: bool,
    /// The `define` block with its keywords.
    pub define: Option<Range<usize>>,
    /// What the `define` block defines.
    pub definitions: Vec<Definition>,
    /// In order of the text.
    pub labels: Vec<Label>,
    /// Global and local variables, and parameters of procedures.
    pub variables: Vec<String>,
    /// Every word and operator of the algorithm outside its `define` block that may refer to a definition.
    pub(crate) mentions: BTreeSet<String>,
    /// Fairness annotations: `--fair algorithm`, `fair process P`, `fair+ process P`, `label:+`.
    pub fairness: Vec<String>,
    /// The asserted expressions, `assert` with them, comments and layout dropped.
    pub assertions: Vec<String>,
    pub(crate) has_procedures: bool,
    /// Of the whole algorithm; positions are those of the module's text.
    pub(crate) tree: Tree,
}

/// The algorithm inside this comment, if it holds one: `--algorithm` or `--fair algorithm`, a name, and the start of a
/// body. The word in prose is not enough.
pub(crate) fn find(
    source: &str,
    comment: &Token,
    lines: &Lines,
    reader: &mut Reader,
    errors: &mut Vec<(Range<usize>, String)>,
) -> Option<Algorithm> {
    let inside = comment.text(source);
    if !inside.contains("--algorithm") && !inside.contains("--fair") {
        return None;
    }
    let close = if inside.len() >= 4 && inside.ends_with("*)") { comment.end - 2 } else { comment.end };
    let tokens: Vec<Token> =
        lex(source, comment.start + 2..close).into_iter().filter(|token| !token.is_comment()).collect();
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text(source));
    let start = (0..tokens.len()).find(|at| begins(&text, *at))?;
    let fair = text(start + 1) == "fair";
    let name_at = start + if fair { 3 } else { 2 };
    let syntax = if text(name_at + 1) == "{" { Syntax::C } else { Syntax::P };
    let end = end_of(&tokens, &text, name_at, syntax);
    let tokens = &tokens[start..end];
    let tree = reader.read(source, tokens, true);
    errors.extend(tree.errors.iter().cloned());

    let mut algorithm = Algorithm {
        name: text(name_at).to_owned(),
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
    if let Some((block, inner)) = define_block(source, tokens, syntax) {
        algorithm.define = Some(tokens[block.start].start..tokens[block.end - 1].end);
        let context = Context { source, lines, outer: comment.start + 2..close };
        let inside = &tokens[inner];
        for unit in split(source, inside).iter().filter(|unit| unit.kind == UnitKind::Definition) {
            algorithm.definitions.extend(Definition::read(&context, inside, unit, reader, errors));
        }
    }
    algorithm.read_tree(source, &tree, lines, tokens);
    algorithm.tree = tree;
    Some(algorithm)
}

fn begins<'a>(text: &impl Fn(usize) -> &'a str, at: usize) -> bool {
    let name = match (text(at), text(at + 1), text(at + 2)) {
        ("--", "algorithm", _) => at + 2,
        ("--", "fair", "algorithm") => at + 3,
        _ => return false,
    };
    !text(name).is_empty()
        && !is_reserved(text(name))
        && matches!(
            text(name + 1),
            "{" | "variable" | "variables" | "define" | "macro" | "procedure" | "process" | "fair" | "begin"
        )
}

/// One past the last token of the algorithm.
fn end_of<'a>(tokens: &[Token], text: &impl Fn(usize) -> &'a str, name: usize, syntax: Syntax) -> usize {
    match syntax {
        Syntax::P => (name..tokens.len())
            .find(|at| text(*at) == "end" && text(at + 1) == "algorithm")
            .map_or(tokens.len(), |at| if text(at + 2) == ";" { at + 3 } else { at + 2 }),
        Syntax::C => {
            let mut depth = 0_usize;
            for at in name + 1..tokens.len() {
                match text(at) {
                    "{" => depth += 1,
                    "}" => {
                        depth = depth.saturating_sub(1);
                        if depth == 0 {
                            return at + 1;
                        }
                    }
                    _ => {}
                }
            }
            tokens.len()
        }
    }
}

/// Token ranges of the whole block and of what is inside.
fn define_block(source: &str, tokens: &[Token], syntax: Syntax) -> Option<(Range<usize>, Range<usize>)> {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text(source));
    let start = (0..tokens.len()).find(|at| text(*at) == "define")?;
    let close = match syntax {
        Syntax::P => (start..tokens.len()).find(|at| text(*at) == "end" && text(at + 1) == "define")?,
        Syntax::C => {
            let mut depth = 0_usize;
            (start + 1..tokens.len()).find(|at| {
                match text(*at) {
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
            if node.kind == "identifier" && node.field == Some("label") {
                let after = tokens.partition_point(|token| token.start < node.end);
                let modifier = tokens.get(after + 1).and_then(|token| token.text(source).chars().next());
                self.labels.push(Label {
                    name: node.text_in(source).to_owned(),
                    line: lines.line(node.start),
                    modifier: modifier.filter(|sign| matches!(sign, '+' | '-')),
                });
            }
            if matches!(node.kind, "pcal_var_decl" | "pcal_proc_var_decl")
                && let Some(name) = tree.children(id).next()
            {
                self.variables.push(tree.text(name, source).to_owned());
            }
            if node.kind == "pcal_assert" {
                self.assertions.push(normalise(source, node.start..node.end, &[]));
            }
            self.has_procedures |= node.kind == "pcal_procedure";
        }
        if tree.is_empty() || !tree.errors.is_empty() {
            // No reliable tree: every word counts as a mention, so that nothing it needs is moved away.
            let words = tokens.iter().filter(|token| token.kind == Kind::Word && outside(token.start));
            self.mentions = words.map(|token| token.text(source).to_owned()).collect();
            if tokens.iter().any(|token| token.text(source) == "assert") {
                // Which expressions are asserted cannot be told apart.
                self.assertions = vec![normalise(source, self.range.clone(), &[])];
            }
        } else {
            for id in tree.ids().filter(|id| tree.node(*id).kind != "pcal_definitions") {
                let node = tree.node(id);
                let named = matches!(node.kind, "identifier_ref") || node.field == Some("symbol");
                if named && outside(node.start) {
                    self.mentions.extend(references(tree, source, id, &[]).names);
                }
                if node.kind == "pcal_macro_call" {
                    self.mentions.extend(tree.field(id, "name").map(|name| tree.text(name, source).to_owned()));
                }
            }
        }
        self.fairness = self.annotations(source, tokens);
        self.variables.sort();
        self.variables.dedup();
    }

    fn annotations(&self, source: &str, tokens: &[Token]) -> Vec<String> {
        let text = |at: usize| tokens.get(at).map_or("", |token| token.text(source));
        let mut found = Vec::new();
        if self.fair {
            found.push("--fair algorithm".to_owned());
        }
        for at in 0..tokens.len() {
            let strong = usize::from(text(at + 1) == "+");
            if text(at) == "fair" && text(at + 1 + strong) == "process" {
                let name = at + 2 + strong + usize::from(text(at + 2 + strong) == "(");
                found.push(format!("fair{} process {}", if strong == 1 { "+" } else { "" }, text(name)));
            }
        }
        for label in &self.labels {
            found.extend(label.modifier.map(|sign| format!("{}:{sign}", label.name)));
        }
        found
    }

    /// The definition of this name in the `define` block.
    pub fn definition(&self, name: &str) -> Option<&Definition> {
        self.definitions.iter().find(|definition| definition.name == name)
    }
}
