//! The translator on damaged modules: bytes and tokens of every case are changed at random. It never panics, never hangs,
//! and says where something is wrong. 1,000,000 inputs in the campaign, a tenth of them here.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails where its own preparation does")]

#[path = "support/pluscal.rs"]
mod pluscal;
#[path = "support/pluscal_random.rs"]
mod pluscal_random;
#[path = "support/pluscal_text.rs"]
mod pluscal_text;
mod support;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use fastrand::Rng;
use pluscal::{modules, tokens};
use tlaforge::pluscal::{Compat, Options, translate};

/// What a token may be replaced by.
const WORDS: [&str; 72] = [
    "algorithm", "--algorithm", "--fair", "begin", "end", "variable", "variables", "define", "macro", "procedure", "process",
    "fair", "if", "then", "elsif", "else", "while", "do", "either", "or", "with", "await", "when", "assert", "print", "skip",
    "call", "return", "goto", "Done", "pc", "stack", "self", "\\in", ":=", "||", ":", ";", ",", "(", ")", "{", "}", "[", "]",
    "<<", ">>", "=", "==", "|->", ".", "'", "\"", "(*", "*)", "\\*", "/\\", "\\/", "\r\n", "\t", "∈", "é", "\u{0}", "x", "A:",
    "A:+", "1", "BEGIN TRANSLATION", "END TRANSLATION", "\\* BEGIN TRANSLATION\n", "\\* END TRANSLATION\n",
    "PlusCal options (-wf",
];

fn material() -> Vec<String> {
    let mut all: Vec<String> = ["cases", "bad"].iter().flat_map(|folder| modules(folder).into_values()).collect();
    all.extend((0..200).map(|seed| pluscal_random::algorithm(seed).module("Random")));
    all
}

fn damaged(material: &[String], rng: &mut Rng) -> String {
    let original = &material[rng.usize(0..material.len())];
    match rng.u32(0..3) {
        0 => {
            let mut bytes = original.clone().into_bytes();
            for _ in 0..rng.usize(1..=4) {
                let at = rng.usize(0..bytes.len());
                match rng.u32(0..5) {
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
        way => {
            // Lines are kept, so that comments to the end of a line stay what they are.
            let mut lines: Vec<Vec<String>> = original.split('\n').map(tokens).collect();
            for _ in 0..rng.usize(1..=4) {
                let (from, to) = (rng.usize(0..lines.len()), rng.usize(0..lines.len()));
                let other = lines[from].clone();
                let line = &mut lines[to];
                let at = rng.usize(0..=line.len());
                match rng.u32(0..6) {
                    0 if at < line.len() => drop(line.remove(at)),
                    1 if at < line.len() => line[at] = WORDS[rng.usize(0..WORDS.len())].to_owned(),
                    2 => line.insert(at, WORDS[rng.usize(0..WORDS.len())].to_owned()),
                    3 if at + 1 < line.len() => line.swap(at, at + 1),
                    4 => drop(line.splice(at..at, other)),
                    _ => drop(line.drain(at..)),
                }
            }
            let between = if way == 1 { " " } else { "" };
            lines.iter().map(|line| line.join(between)).collect::<Vec<_>>().join("\n")
        }
    }
}

/// What holds of every input.
fn translate_damaged(text: &str, compat: Compat) -> bool {
    match translate(text, &Options { compat, ..Options::default() }) {
        Ok(made) => made.is_some(),
        Err(diagnostics) => {
            assert!(!diagnostics.is_empty());
            let lines = text.split('\n').count();
            for diagnostic in diagnostics {
                assert!(!diagnostic.message.is_empty() && diagnostic.line <= lines + 1, "{diagnostic:?}");
            }
            false
        }
    }
}

#[test]
fn a_damaged_module_is_translated_or_rejected() {
    let count: u64 = if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { 1_000_000 } else { 100_000 };
    let count = std::env::var("TLAFORGE_FUZZ").ok().map_or(count, |n| n.parse().unwrap());
    let first = std::env::var("TLAFORGE_FUZZ_FROM").ok().map_or(0, |n| n.parse().unwrap());
    let material = material();
    let (next, done) = (AtomicU64::new(first), AtomicBool::new(false));
    let at: [(AtomicU64, AtomicU64); 2] = Default::default();
    let began = Instant::now();
    let (translated, longest) = std::thread::scope(|scope| {
        let (next, material, done, at) = (&next, &material, &done, &at);
        let watch = scope.spawn(move || {
            while !done.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(50));
                let now = u64::try_from(began.elapsed().as_millis()).unwrap();
                for (seed, since) in at {
                    let since = since.load(Ordering::Relaxed);
                    let late = since > 0 && now > since + 60_000;
                    if late {
                        eprintln!("seed {} hangs", seed.load(Ordering::Relaxed));
                        std::process::abort();
                    }
                }
            }
        });
        let workers: Vec<_> = at
            .iter()
            .map(|(current, since)| {
                scope.spawn(move || {
                    let (mut translated, mut longest) = (0_u64, (Duration::ZERO, 0));
                    loop {
                        let seed = next.fetch_add(1, Ordering::Relaxed);
                        if seed >= first + count {
                            since.store(0, Ordering::Relaxed);
                            return (translated, longest);
                        }
                        let mut rng = Rng::with_seed(seed);
                        let text = damaged(material, &mut rng);
                        let compat = if rng.bool() { Compat::Today } else { Compat::Y2020 };
                        current.store(seed, Ordering::Relaxed);
                        since.store(u64::try_from(began.elapsed().as_millis()).unwrap().max(1), Ordering::Relaxed);
                        let started = Instant::now();
                        let made = std::panic::catch_unwind(|| translate_damaged(&text, compat));
                        longest = longest.max((started.elapsed(), seed));
                        translated += u64::from(made.unwrap_or_else(|_| panic!("seed {seed}, {compat:?}:\n{text}")));
                    }
                })
            })
            .collect();
        let results: Vec<_> = workers.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        done.store(true, Ordering::Relaxed);
        watch.join().unwrap();
        let results: Vec<_> = results.into_iter().map(|r| r.unwrap_or_else(|p| std::panic::resume_unwind(p))).collect();
        (results.iter().map(|r| r.0).sum::<u64>(), results.iter().map(|r| r.1).max().unwrap())
    });
    println!(
        "fuzz: {count} inputs in {:.1} s, {translated} translated, the longest took {:.0} ms (seed {})",
        began.elapsed().as_secs_f64(),
        longest.0.as_secs_f64() * 1e3,
        longest.1
    );
    assert!(longest.0 < Duration::from_secs(20), "seed {}", longest.1);
    assert!(translated > count / 50 && translated < count, "{translated} of {count} translated: is anything tried?");
}
