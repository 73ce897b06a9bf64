//! Damaged modules: bytes and tokens of the cases and of random algorithms are changed at random.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part of it")]

use fastrand::Rng;

use super::pluscal_random;
use super::reference::modules;

/// What a token may be replaced by.
const WORDS: [&str; 72] = [
    "algorithm",
    "--algorithm",
    "--fair",
    "begin",
    "end",
    "variable",
    "variables",
    "define",
    "macro",
    "procedure",
    "process",
    "fair",
    "if",
    "then",
    "elsif",
    "else",
    "while",
    "do",
    "either",
    "or",
    "with",
    "await",
    "when",
    "assert",
    "print",
    "skip",
    "call",
    "return",
    "goto",
    "Done",
    "pc",
    "stack",
    "self",
    "\\in",
    ":=",
    "||",
    ":",
    ";",
    ",",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<<",
    ">>",
    "=",
    "==",
    "|->",
    ".",
    "'",
    "\"",
    "(*",
    "*)",
    "\\*",
    "/\\",
    "\\/",
    "\r\n",
    "\t",
    "∈",
    "é",
    "\u{0}",
    "x",
    "A:",
    "A:+",
    "1",
    "BEGIN TRANSLATION",
    "END TRANSLATION",
    "\\* BEGIN TRANSLATION\n",
    "\\* END TRANSLATION\n",
    "PlusCal options (-wf",
];

/// What is damaged: all cases, and random algorithms.
pub fn material() -> Vec<String> {
    let mut all: Vec<String> = ["cases", "bad"].iter().flat_map(|folder| modules(folder).into_values()).collect();
    all.extend((0..200).map(|seed| pluscal_random::algorithm(seed).module("Random")));
    all
}

/// One of them with a few bytes or tokens changed.
pub fn damaged(material: &[String], rng: &mut Rng) -> String {
    let original = &material[rng.usize(0..material.len())];
    match rng.u32(0..3) {
        0 => {
            let mut bytes = original.clone().into_bytes();
            for _ in 0..rng.usize(1..=4) {
                let at = rng.usize(0..bytes.len().max(1));
                match rng.u32(0..5) {
                    _ if bytes.is_empty() => bytes.push(b'x'),
                    0 => bytes[at] = rng.u8(..),
                    1 => drop(bytes.remove(at)),
                    2 => bytes.insert(at, *b" \n;:(){}[]\\*\"'=\r\t".get(rng.usize(0..18)).unwrap_or(&0xc3)),
                    3 => bytes.truncate(at.max(1)),
                    _ => {
                        let end = (at + rng.usize(0..200)).min(bytes.len());
                        let piece = bytes[at..end].to_vec();
                        let to = rng.usize(0..=bytes.len());
                        bytes.splice(to..to, piece);
                    }
                }
            }
            String::from_utf8_lossy(&bytes).into_owned()
        }
        _ => {
            let mut lines: Vec<Vec<String>> = original.split('\n').map(pieces).collect();
            for _ in 0..rng.usize(1..=4) {
                let (from, to) = (rng.usize(0..lines.len()), rng.usize(0..lines.len()));
                let other = lines[from].clone();
                let line = &mut lines[to];
                let at = rng.usize(0..=line.len());
                match rng.u32(0..6) {
                    0 if at < line.len() => drop(line.remove(at)),
                    1 if at < line.len() => WORDS[rng.usize(0..WORDS.len())].clone_into(&mut line[at]),
                    2 => line.insert(at, WORDS[rng.usize(0..WORDS.len())].to_owned()),
                    3 if at + 1 < line.len() => line.swap(at, at + 1),
                    4 => drop(line.splice(at..at, other)),
                    _ => drop(line.drain(at..)),
                }
            }
            lines.iter().map(|line| line.concat()).collect::<Vec<_>>().join("\n")
        }
    }
}

/// A line as words, blanks and single signs.
fn pieces(line: &str) -> Vec<String> {
    let sort = |c: char| if c.is_alphanumeric() || c == '_' { 1 } else { u8::from(c.is_whitespace()) * 2 };
    let mut found: Vec<String> = Vec::new();
    for c in line.chars() {
        match found.last_mut() {
            Some(last) if sort(c) > 0 && last.chars().last().map(sort) == Some(sort(c)) => last.push(c),
            _ => found.push(c.to_string()),
        }
    }
    found
}
