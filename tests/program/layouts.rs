//! Random layouts of bulleted lists, with tabs, wide characters, combining marks and every line end: our parser reads what
//! SANY reads, and so do the blind reader, who gets the module under neutral names, and the embedded checker, which gets a
//! text of its own.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use tlaforge::tla::semantic::{CoreForm, analyze, elaborate};
use tlaforge::tla::{Id, Lines, Module, NeutralModule, NodeKind, Token, Tree, column_of, expand_tabs, lex};

/// How many layouts are tried.
fn count() -> usize {
    if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { 20_000 } else { 2_000 }
}

/// Comments whose width a reader may count in another way.
const COMMENTS: [&str; 9] = [
    "(**)",
    "(*\u{1f600}*)",
    "(*\u{e9}*)",
    "(*e\u{301}*)",
    "(*\u{feff}\u{2028}*)",
    "(*\u{c}\u{b}\u{85}*)",
    "(* (* \u{1d54b} *) *)",
    "(*\t*)",
    "(* \"\u{1f468}\u{200d}\u{1f469}\" *)",
];

const ATOMS: [&str; 8] = ["p", "q", "TRUE", "\"a\tb\"", "\"\u{e9}\"", "~ p", "(p)", "{p}"];

struct Writer {
    random: fastrand::Rng,
    text: String,
    /// How many names are bound so far: no name may be bound twice.
    bound: usize,
}

impl Writer {
    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.random.usize(0..all.len())]
    }

    fn column(&self) -> usize {
        column_of(&self.text, self.text.len())
    }

    /// Fills the line up to a column; beyond it, adds a blank.
    fn pad(&mut self, column: usize) {
        if self.column() >= column {
            self.text.push(' ');
        }
        while self.column() < column {
            let with = match self.random.u8(0..6) {
                0 | 1 => "\t",
                2 => COMMENTS[self.random.usize(0..COMMENTS.len())],
                _ => " ",
            };
            let fits = column_of(&format!("{}{with}", self.text), self.text.len() + with.len()) <= column;
            self.text.push_str(if fits { with } else { " " });
        }
    }

    fn gap(&mut self) {
        let with = match self.random.u8(0..12) {
            0 => "\t",
            1 => "",
            2 => COMMENTS[self.random.usize(0..COMMENTS.len())],
            _ => " ",
        };
        self.text.push_str(with);
    }

    fn end_line(&mut self) {
        let end = match self.random.u8(0..12) {
            0 => "\r\n",
            1 => "\r",
            2 => " \\* \u{1f600}\tend\n",
            3 => " (* over\n\u{1f600} lines \t*)\n",
            4 => "\n\n",
            _ => "\n",
        };
        self.text.push_str(end);
    }

    /// A list whose bullets are in this column, or near it.
    fn list(&mut self, column: usize, depth: usize) {
        let operator = self.one_of(&["/\\", "\\/"]);
        for item in 0..self.random.usize(1..4) {
            if item > 0 || self.column() > column {
                self.end_line();
            }
            let shift = if self.random.u8(0..8) == 0 { self.random.usize(0..5) } else { 2 };
            self.pad((column + shift).saturating_sub(2));
            let other = self.random.u8(0..16) == 0;
            let bullet = if other { self.one_of(&["/\\", "\\/"]) } else { operator };
            self.text.push_str(bullet);
            self.gap();
            self.expression(depth);
        }
    }

    fn expression(&mut self, depth: usize) {
        let form = if depth == 0 { 0 } else { self.random.u8(0..12) };
        match form {
            1..=3 => {
                let column = self.column() + self.random.usize(0..2);
                self.list(column, depth - 1);
            }
            4 => {
                self.end_line();
                let column = self.random.usize(1..20);
                self.list(column, depth - 1);
            }
            5 => {
                self.text.push('(');
                self.gap();
                self.expression(depth - 1);
                self.gap();
                self.text.push(')');
            }
            6 => {
                for word in ["IF ", " THEN ", " ELSE "] {
                    self.text.push_str(word);
                    self.expression(depth - 1);
                }
            }
            7 => {
                self.bound += 1;
                write!(self.text, "\\A x{} \\in S :\t", self.bound).unwrap();
                self.expression(depth - 1);
            }
            8 => {
                self.bound += 1;
                write!(self.text, "LET y{} == p IN ", self.bound).unwrap();
                self.expression(depth - 1);
            }
            _ => {
                let atom = self.one_of(&ATOMS);
                self.text.push_str(atom);
            }
        }
        if self.random.u8(0..7) == 0 {
            if self.random.bool() {
                self.end_line();
                let column = self.random.usize(0..24);
                self.pad(column);
            }
            let infix = self.one_of(&[" => ", " = ", " /\\ ", " \\/ ", " # "]);
            self.text.push_str(infix);
            let atom = self.one_of(&ATOMS);
            self.text.push_str(atom);
        }
    }
}

fn layout(seed: u64) -> String {
    let mut writer = Writer { random: fastrand::Rng::with_seed(seed), text: String::new(), bound: 0 };
    writer.text.push_str("\u{1f600} ---- MODULE M ----\nCONSTANTS p, q, S\nD ==\t");
    if writer.random.bool() {
        writer.end_line();
    }
    let column = writer.random.usize(1..14).max(writer.column());
    writer.list(column, 3);
    writer.text.push_str("\nE == p\n====\n");
    writer.text
}

/// Where each expression is whose extent depends on columns, as SANY counts, in the words of `SanyTrees.java`.
fn ours(text: &str) -> String {
    let kind_of = |kind: NodeKind| match kind {
        NodeKind::ConjunctionList => Some("ConjList"),
        NodeKind::DisjunctionList => Some("DisjList"),
        NodeKind::ConjunctionItem => Some("ConjItem"),
        NodeKind::DisjunctionItem => Some("DisjItem"),
        NodeKind::Infix => Some("InfixExpr"),
        NodeKind::Prefix => Some("PrefixExpr"),
        NodeKind::Parentheses => Some("ParenExpr"),
        NodeKind::IfThenElse => Some("IfThenElse"),
        NodeKind::LetIn => Some("LetIn"),
        _ => None,
    };
    if !analyze("M", text, &[]).is_accepted() {
        return "rejected".to_owned();
    }
    let lines = Lines::new(text);
    let module = Module::parse(text).unwrap();
    let mut found = BTreeSet::new();
    for definition in &module.definitions {
        let tree = &definition.tree;
        for id in tree.ids() {
            let Some(kind) = kind_of(tree.kind(id)) else { continue };
            let range = tree.range(id);
            let (begin, end) = (column_of(text, range.start) + 1, column_of(text, range.end));
            found.insert(format!("{kind}@{}:{begin}-{}:{end}", lines.line(range.start), lines.line(range.end - 1)));
        }
    }
    found.iter().fold("accepted".to_owned(), |all, one| all + " " + one)
}

/// What SANY says of each text, as a line of `SanyTrees.java`.
fn ask_sany(texts: &[String]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("SanyTrees.class"), include_bytes!("layouts/SanyTrees.class")).unwrap();
    let mut names = String::new();
    for (index, text) in texts.iter().enumerate() {
        std::fs::write(folder.path().join(index.to_string()), text).unwrap();
        writeln!(names, "{index}").unwrap();
    }
    let mut child = Command::new(crate::support::java())
        .args(["-Xss16m", "-Dfile.encoding=UTF-8", "-cp"])
        .arg(std::env::join_paths([crate::support::jar(), folder.path().to_owned()]).unwrap())
        .arg("SanyTrees")
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let writing = std::thread::spawn(move || input.write_all(names.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writing.join().unwrap().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn our_parser_reads_each_layout_as_sany_reads_it() {
    let texts: Vec<String> = (0..count() as u64).map(layout).collect();
    let answers = ask_sany(&texts);
    assert_eq!(answers.len(), texts.len());
    let mut accepted = 0;
    for (seed, (text, sany)) in texts.iter().zip(&answers).enumerate() {
        assert_eq!(&ours(text), sany, "layout {seed}: {text:?}\n{text}");
        accepted += usize::from(sany != "rejected");
    }
    println!("{accepted} of {} layouts are accepted", texts.len());
    assert!(accepted * 4 > texts.len(), "{accepted}");
}

#[test]
fn an_answer_with_expanded_tabs_means_the_same() {
    for seed in 0..count() as u64 {
        let text = layout(seed);
        let expanded = expand_tabs(&text);
        assert!(!expanded.contains(['\t', '\r']));
        assert_eq!(ours(&expanded), ours(&text), "layout {seed}: {text:?}");
    }
}

/// The nodes of a definition's tree, each with its first and its last token.
fn shape(module: &Module, name: &str) -> Vec<(NodeKind, usize, usize)> {
    let definition = module.definition(name).unwrap();
    let tokens: Vec<Token> =
        lex(&module.source, definition.code.clone()).into_iter().filter(|token| !token.is_comment()).collect();
    let index_of = |offset: usize| tokens.partition_point(|token| token.start < offset);
    let node = |id: Id| {
        let range = definition.tree.range(id);
        (definition.tree.kind(id), index_of(range.start), index_of(range.end))
    };
    definition.tree.ids().map(node).collect()
}

#[test]
fn the_blind_reader_gets_the_same_formula() {
    let mut read = 0;
    for seed in 0..count() as u64 {
        let text = layout(seed);
        if !analyze("M", &text, &[]).is_accepted() {
            continue;
        }
        read += 1;
        let module = Module::parse(&text).unwrap();
        for long in [false, true] {
            // Names that become longer, and names that become shorter.
            let name = if long { "D".to_owned() } else { "p".to_owned() };
            let neutral = NeutralModule::new(&module, &[name]);
            let again = Module::parse(&neutral.text).unwrap();
            for definition in ["D", "E"] {
                let now = neutral.neutral(definition).unwrap_or(definition);
                assert_eq!(shape(&again, now), shape(&module, definition), "layout {seed}:\n{text}\n{}", neutral.text);
            }
        }
    }
    assert!(read * 4 > count(), "{read}");
}

/// An expression in one line, with parentheses instead of columns.
fn in_one_line(source: &str, tree: &Tree, id: Id) -> String {
    let words = |range: std::ops::Range<usize>| {
        let tokens = lex(source, range).into_iter().filter(|token| !token.is_comment());
        tokens.fold(String::new(), |all, token| all + " " + token.text(source))
    };
    let (range, kind) = (tree.range(id), tree.kind(id));
    if matches!(kind, NodeKind::ConjunctionList | NodeKind::DisjunctionList) {
        let operator = if kind == NodeKind::ConjunctionList { "/\\" } else { "\\/" };
        let items: Vec<String> = tree
            .children(id)
            .map(|item| format!("({})", in_one_line(source, tree, tree.children(item).next_back().unwrap())))
            .collect();
        return format!("({})", items.join(&format!(" {operator} ")));
    }
    let (mut line, mut at) = (String::new(), range.start);
    for child in tree.children(id) {
        line += &words(at..tree.range(child).start);
        line += " ";
        line += &in_one_line(source, tree, child);
        at = tree.range(child).end;
    }
    line += &words(at..range.end);
    let is_open =
        matches!(kind, NodeKind::Infix | NodeKind::Prefix | NodeKind::IfThenElse | NodeKind::Bounded | NodeKind::LetIn);
    if is_open { format!("({line})") } else { line }
}

/// The core of the definition D without positions; a list of one item is that item, and lists of the same operator are
/// joined.
fn core_text(text: &str) -> Result<String, String> {
    let cfg = "CONSTANTS p = p\n q = q\n S = S\nINVARIANT D\n";
    let core = elaborate(&[("M", text)], cfg).map_err(|refused| refused.message)?;
    let found = core.definitions.iter().find(|definition| definition.name == "D").ok_or("no D")?;
    Ok(found.body.parts().into_iter().map(|part| shown(&part.form)).collect())
}

fn shown(form: &CoreForm) -> String {
    let parts = form.parts();
    if parts.is_empty() {
        return format!("{form:?}");
    }
    let name = match form {
        CoreForm::And(_) => "And".to_owned(),
        CoreForm::Or(_) => "Or".to_owned(),
        CoreForm::Primitive(primitive, _) => format!("{primitive:?}"),
        _ => format!("{form:?}").split(['(', ' ']).next().unwrap_or("").to_owned(),
    };
    let is_list = matches!(form, CoreForm::And(_) | CoreForm::Or(_));
    let mut items: Vec<String> = parts.into_iter().map(|part| shown(&part.form)).collect();
    if is_list && items.len() == 1 {
        return items.remove(0);
    }
    if is_list {
        let opening = format!("{name}(");
        let item = |item: String| {
            item.strip_prefix(&opening).and_then(|rest| rest.strip_suffix(')')).map_or(item.clone(), str::to_owned)
        };
        items = items.into_iter().map(item).collect();
    }
    format!("{name}({})", items.join(", "))
}

#[test]
fn the_embedded_checker_gets_the_same_formula() {
    let mut read = 0;
    for seed in 0..count() as u64 {
        let text = layout(seed);
        if !analyze("M", &text, &[]).is_accepted() {
            continue;
        }
        let module = Module::parse(&text).unwrap();
        let definition = module.definition("D").unwrap();
        let body = in_one_line(&text, &definition.tree, definition.body().unwrap());
        let meant = format!("---- MODULE M ----\nCONSTANTS p, q, S\nD == {body}\n====\n");
        let Ok(found) = core_text(&text) else { continue };
        let wanted = core_text(&meant).unwrap_or_else(|why| panic!("layout {seed}: {why}\n{text}\n{meant}"));
        assert_eq!(found, wanted, "layout {seed}:\n{text}\n{meant}");
        read += 1;
    }
    assert!(read * 5 > count(), "{read}");
}
