//! Reads Rust sources as far as the tests of the structure need it: code without comments and literals, and the paths that
//! a file names.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The sources of all members as if they were modules of one crate: `crates/tla/src/lib.rs` is `tla/mod.rs`, and both
/// `crate::Cfg` in it and `tlaforge_tla::Cfg` elsewhere are `crate::tla::Cfg`.
pub(crate) fn sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let members: Vec<String> = std::fs::read_dir(root.join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let mut files = read_sources(&root.join("src"));
    for member in &members {
        for (path, text) in read_sources(&root.join("crates").join(member).join("src")) {
            let path = if path == Path::new("lib.rs") { PathBuf::from("mod.rs") } else { path };
            let text = text.replace("crate::", &format!("crate::{member}::"));
            files.push((Path::new(member).join(path), text));
        }
    }
    for (_, text) in &mut files {
        for member in &members {
            *text = text.replace(&format!("tlaforge_{member}"), &format!("crate::{member}"));
        }
        // The root package, as its own program and members above it name it.
        *text = text.replace("tlaforge::", "crate::");
    }
    assert!(files.len() > 500, "the sources were not found");
    files
}

fn read_sources(root: &Path) -> Vec<(PathBuf, String)> {
    walkdir::WalkDir::new(root)
        .into_iter()
        .map(Result::unwrap)
        .filter(|e| e.path().extension().is_some_and(|x| x == "rs"))
        .map(|e| (e.path().strip_prefix(root).unwrap().to_owned(), std::fs::read_to_string(e.path()).unwrap()))
        .collect()
}

pub(crate) fn module_of(path: &Path) -> String {
    let first = path.components().next().unwrap().as_os_str().to_str().unwrap();
    first.trim_end_matches(".rs").to_owned()
}

/// The part of a file before its unit tests, with comments and the inside of strings blanked out.
pub(crate) fn code(text: &str) -> String {
    blanked(before_tests(text))
}

/// What is for tests alone among the rest stays: it is held to the same rules.
pub(crate) fn before_tests(text: &str) -> &str {
    text.find("#[cfg(test)]\nmod ").map_or(text, |end| &text[..end])
}

/// Rust without its comments and literals; line ends stay.
pub(crate) fn blanked(text: &str) -> String {
    blank(text, false)
}

/// Rust without its comments; line ends stay.
pub(crate) fn without_comments(text: &str) -> String {
    blank(text, true)
}

fn blank(text: &str, keep_literals: bool) -> String {
    let chars: Vec<char> = text.chars().collect();
    let starts = |at: usize, what: &str| what.chars().enumerate().all(|(i, c)| chars.get(at + i) == Some(&c));
    let mut out = String::new();
    let mut at = 0;
    while at < chars.len() {
        let is_comment = starts(at, "//") || starts(at, "/*");
        let end = if starts(at, "//") {
            (at..chars.len()).find(|i| chars[*i] == '\n').unwrap_or(chars.len())
        } else if starts(at, "/*") {
            let (mut depth, mut i) = (0, at);
            while i < chars.len() {
                match () {
                    () if starts(i, "/*") => (depth, i) = (depth + 1, i + 2),
                    () if starts(i, "*/") => (depth, i) = (depth - 1, i + 2),
                    () => i += 1,
                }
                if depth == 0 {
                    break;
                }
            }
            i
        } else if let Some(hashes) = raw_string(&chars, at) {
            let close = format!("\"{}", "#".repeat(hashes));
            let from = at + 2 + hashes;
            (from..chars.len()).find(|i| starts(*i, &close)).map_or(chars.len(), |i| i + close.len())
        } else if chars[at] == '"' {
            literal_end(&chars, at, '"')
        } else if chars[at] == '\'' && (chars.get(at + 1) == Some(&'\\') || chars.get(at + 2) == Some(&'\'')) {
            // A character, and not a lifetime.
            literal_end(&chars, at, '\'')
        } else {
            out.push(chars[at]);
            at += 1;
            continue;
        };
        let kept = |c: &char| *c == '\n' || (keep_literals && !is_comment);
        out.extend(chars[at..end].iter().map(|c| if kept(c) { *c } else { ' ' }));
        at = end;
    }
    out
}

/// The number of hashes of a raw string that begins here.
fn raw_string(chars: &[char], at: usize) -> Option<usize> {
    let begins = chars[at] == 'r' && !(at > 0 && (chars[at - 1].is_alphanumeric() || chars[at - 1] == '_'));
    let hashes = chars[at + 1..].iter().take_while(|c| **c == '#').count();
    (begins && chars.get(at + 1 + hashes) == Some(&'"')).then_some(hashes)
}

fn literal_end(chars: &[char], at: usize, mark: char) -> usize {
    let mut i = at + 1;
    while i < chars.len() && chars[i] != mark {
        i += if chars[i] == '\\' { 2 } else { 1 };
    }
    (i + 1).min(chars.len())
}

/// The module of a file, from the crate's root: `src/a/b.rs` and `src/a/b/mod.rs` are `[a, b]`. `file` is the place below
/// `src/`.
pub(crate) fn module_path(file: &Path) -> Vec<String> {
    let mut module: Vec<String> =
        file.with_extension("").components().map(|c| c.as_os_str().to_str().unwrap().to_owned()).collect();
    if module.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        module.pop();
    }
    module
}

/// A path in the code of a file.
pub(crate) struct Named {
    /// Written from its root: `crate::…`, `std::…`. A path without a root stays as it is.
    pub path: String,
    /// It belongs to a `use`.
    pub imported: bool,
    /// The name after `as`.
    pub alias: Option<String>,
}

/// Every path of the code, those of a `use` one by one. `file` is the place below `src/`.
pub(crate) fn named(file: &Path, code: &str) -> Vec<Named> {
    let module = module_path(file);
    let tokens = tokens(code);
    let mut all = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        // `pub(in crate::a)` names a module for its visibility only.
        let is_visibility = at >= 2 && tokens[at - 2..at] == ["(", "in"];
        let begins = is_word(tokens[at]) && tokens.get(at + 1) == Some(&"::") && !is_visibility;
        let imported = tokens[at] == "use";
        if begins || imported {
            let mut found = Vec::new();
            at = tree(&tokens, at + usize::from(imported), "", &mut found);
            all.extend(found.into_iter().map(|(path, alias)| Named {
                path: absolute(&module, &path),
                imported,
                alias,
            }));
        } else if is_visibility {
            at = tree(&tokens, at, "", &mut Vec::new());
        } else {
            at += 1;
        }
    }
    all
}

/// The names that the code defines, whatever they are.
pub(crate) fn defined(code: &str) -> BTreeSet<String> {
    const KEYWORDS: [&str; 8] = ["struct", "enum", "trait", "type", "fn", "const", "static", "union"];
    let tokens = tokens(code);
    let pairs = tokens.windows(2).filter(|pair| KEYWORDS.contains(&pair[0]) && is_word(pair[1]));
    pairs.map(|pair| pair[1].to_owned()).collect()
}

/// The paths alone.
pub(crate) fn paths(file: &Path, code: &str) -> Vec<String> {
    named(file, code).into_iter().map(|named| named.path).collect()
}

fn is_word(token: &str) -> bool {
    token.chars().all(|c| c.is_alphanumeric() || c == '_')
}

pub(crate) fn tokens(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let word = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let length = match word {
            0 if rest.starts_with("::") => 2,
            0 => first.len_utf8(),
            word => word,
        };
        if !first.is_whitespace() {
            found.push(&rest[..length]);
        }
        rest = &rest[length..];
    }
    found
}

/// Reads a path or a tree of paths from `at` on, which continues `before`, with the names after `as`; returns its end.
fn tree(tokens: &[&str], mut at: usize, before: &str, found: &mut Vec<(String, Option<String>)>) -> usize {
    let mut path = before.to_owned();
    loop {
        match tokens.get(at).copied() {
            Some("{") if path.is_empty() || path.ends_with("::") => {
                at += 1;
                while !matches!(tokens.get(at).copied(), None | Some("}")) {
                    let next = tree(tokens, at, &path, found);
                    // Whatever is no path here is passed over.
                    at = if tokens.get(next) == Some(&",") || next == at { next + 1 } else { next };
                }
                return at + 1;
            }
            Some("::") => path.push_str("::"),
            Some(word) if (path.is_empty() || path.ends_with("::")) && (is_word(word) || word == "*") => {
                path.push_str(word);
            }
            _ => break,
        }
        at += 1;
    }
    let mut alias = None;
    if tokens.get(at) == Some(&"as") {
        alias = tokens.get(at + 1).map(|name| (*name).to_owned());
        at += 2;
    }
    if !path.is_empty() {
        found.push((path.trim_start_matches("::").to_owned(), alias));
    }
    at
}

/// A path of `module` with `self` and `super` resolved.
fn absolute(module: &[String], path: &str) -> String {
    let mut parts: Vec<&str> = path.split("::").collect();
    if !["self", "super"].contains(&parts[0]) {
        return path.to_owned();
    }
    let mut root: Vec<&str> = std::iter::once("crate").chain(module.iter().map(String::as_str)).collect();
    while let Some(first) = parts.first().filter(|first| ["self", "super"].contains(first)) {
        if *first == "super" {
            root.pop();
        }
        parts.remove(0);
    }
    root.extend(parts);
    root.join("::")
}
