//! The static checks: what they accept and reject, SANY's answers on the same modules, the position of an error, and no
//! panic on any text.
//!
//! SANY stops at the first file with a grammar error, so each such file costs a JVM: the test puts only a part of them
//! to SANY, `scripts/campaign` all.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use tlaforge::tla::Cfg;
use tlaforge::tla::semantic::{Analysis, analyze, find_symmetry_fault};

const CASES: &str = include_str!("semantic/cases.txt");

fn campaign() -> bool {
    std::env::var_os("TLAFORGE_CAMPAIGN").is_some()
}

fn module(body: &str) -> String {
    format!("---- MODULE Case ----\n{body}\n====\n")
}

fn check(body: &str) -> Analysis {
    analyze("Case", &module(body), &[])
}

struct Case {
    title: &'static str,
    accept: bool,
    text: String,
}

fn cases() -> Vec<Case> {
    let blocks = CASES.split("\n#### ").skip(1);
    let case = |block: &'static str| {
        let (head, body) = block.split_once('\n').unwrap_or((block, ""));
        let (verdict, title) = head.split_once(": ").unwrap();
        assert!(matches!(verdict, "accept" | "reject"), "{head}");
        Case { title, accept: verdict == "accept", text: module(body) }
    };
    blocks.map(case).collect()
}

/// The answers of both checkers, counted, and the modules on which they differ.
#[derive(Default)]
struct Confusion {
    counts: BTreeMap<(&'static str, &'static str), usize>,
    differ: String,
}

impl Confusion {
    fn add(&mut self, ours: &Analysis, sany: bool, about: &str) {
        let us = if ours.is_accepted() {
            "we accept"
        } else if ours.is_rejected() {
            "we reject"
        } else {
            "not analysed"
        };
        let them = if sany { "SANY accepts" } else { "SANY rejects" };
        *self.counts.entry((us, them)).or_default() += 1;
        if (us == "we accept") != sany && us != "not analysed" {
            writeln!(self.differ, "{us}, {them}: {about}\n{:?}", ours.errors).unwrap();
        }
    }

    fn table(&self) -> String {
        self.counts.iter().fold(String::new(), |mut table, ((us, them), count)| {
            writeln!(table, "{us}, {them}: {count}").unwrap();
            table
        })
    }
}

/// Whether SANY accepts each text.
fn ask_sany(name: &str, texts: &[String]) -> Vec<bool> {
    let folder = tempfile::tempdir().unwrap();
    let file = |index: usize| PathBuf::from(index.to_string()).join(format!("{name}.tla"));
    for (index, text) in texts.iter().enumerate() {
        std::fs::create_dir(folder.path().join(index.to_string())).unwrap();
        std::fs::write(folder.path().join(file(index)), text).unwrap();
    }
    let files: Vec<PathBuf> = (0..texts.len()).map(file).collect();
    sany(folder.path(), &files)
}

/// Whether SANY accepts each of these files of a folder. One JVM reads them until it meets a grammar error, the next
/// one continues.
fn sany(folder: &Path, files: &[PathBuf]) -> Vec<bool> {
    const BAD: [&str; 5] =
        ["*** Errors:", "*** Abort messages:", "Could not parse module", "Fatal errors", "FrontEndException"];
    let scratch = tempfile::tempdir().unwrap();
    let mut verdicts = Vec::new();
    while verdicts.len() < files.len() {
        let output = Command::new(crate::support::java())
            .args(["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xss16m"])
            .arg(format!("-Djava.io.tmpdir={}", scratch.path().display()))
            .arg("-cp")
            .arg(crate::support::jar())
            .arg("tla2sany.SANY")
            .args(&files[verdicts.len()..])
            .current_dir(folder)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        let blocks: Vec<&str> = said.split("****** SANY2 Version").skip(1).collect();
        assert!(!blocks.is_empty(), "SANY said nothing:\n{said}");
        verdicts.extend(blocks.iter().map(|block| !BAD.iter().any(|bad| block.contains(bad))));
    }
    verdicts
}

/// Puts to SANY all modules that we accept, and every n-th of the others.
fn compare(name: &str, modules: &[(String, String)], every: usize) -> (Confusion, usize) {
    let ours: Vec<Analysis> = modules.iter().map(|(_, text)| analyze(name, text, &[])).collect();
    let (mut asked, rejected): (Vec<usize>, Vec<usize>) =
        (0..modules.len()).partition(|index| ours[*index].is_accepted());
    asked.extend(rejected.iter().step_by(every));
    let texts: Vec<String> = asked.iter().map(|index| modules[*index].1.clone()).collect();
    let mut confusion = Confusion::default();
    for (index, sany) in asked.iter().zip(ask_sany(name, &texts)) {
        confusion.add(&ours[*index], sany, &modules[*index].0);
    }
    (confusion, asked.len())
}

#[test]
fn every_case_is_decided_as_sany_decides_it() {
    let cases = cases();
    assert!(cases.len() > 350, "the cases were not found");
    let mut wrong = String::new();
    for case in &cases {
        let analysis = analyze("Case", &case.text, &[]);
        if analysis.is_accepted() != case.accept || analysis.is_rejected() == case.accept {
            writeln!(wrong, "{} (accept: {}): {analysis:?}", case.title, case.accept).unwrap();
        }
        // A missing end of the module is reported after the last line.
        let lines = case.text.lines().count() + 1;
        assert!(
            analysis.errors.iter().all(|error| (1..=lines).contains(&error.line) && error.column > 0),
            "{analysis:?}"
        );
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn sany_agrees_with_the_cases() {
    let cases = cases();
    let modules: Vec<(String, String)> = cases.iter().map(|case| (case.title.to_owned(), case.text.clone())).collect();
    let (confusion, asked) = compare("Case", &modules, if campaign() { 1 } else { 8 });
    println!("{asked} of {} cases asked\n{}", modules.len(), confusion.table());
    assert!(confusion.differ.is_empty(), "{}", confusion.differ);
}

/// The modules of this repository, by path.
fn own_modules() -> Vec<(PathBuf, String)> {
    let root = crate::support::project();
    let folders = ["exemplars", "evals"].map(|folder| walkdir::WalkDir::new(root.join(folder)).sort_by_file_name());
    let files = folders.into_iter().flatten().map(|entry| entry.unwrap().into_path());
    let modules = files.filter(|path| path.extension().is_some_and(|extension| extension == "tla"));
    modules.map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
}

fn name_of(text: &str) -> &str {
    let head = text.split_once("MODULE").unwrap().1;
    head.split_whitespace().next().unwrap()
}

#[test]
fn our_own_modules_are_accepted() {
    let modules = own_modules();
    assert!(modules.len() > 15);
    for (path, text) in modules {
        let analysis = analyze(name_of(&text), &text, &[]);
        assert!(analysis.is_accepted(), "{}: {analysis:?}", path.display());
    }
}

/// The byte ranges of a module's words, without comments.
fn words(text: &str) -> Vec<std::ops::Range<usize>> {
    let bytes = text.as_bytes();
    let start = text.find("----").unwrap_or(0);
    let mut found = Vec::new();
    let (mut at, mut depth) = (start, 0_usize);
    while at < bytes.len() {
        let rest = &text[at..];
        let length = if rest.starts_with("(*") {
            depth += 1;
            2
        } else if depth > 0 && rest.starts_with("*)") {
            depth -= 1;
            2
        } else if depth > 0 {
            rest.chars().next().map_or(1, char::len_utf8)
        } else if rest.starts_with("\\*") {
            rest.find('\n').unwrap_or(rest.len())
        } else {
            let same = |test: fn(char) -> bool| rest.find(|char: char| !test(char)).unwrap_or(rest.len());
            let word = same(|char| char.is_ascii_alphanumeric() || char == '_');
            let length = if word > 0 {
                word
            } else if let Some(inside) = rest.strip_prefix('"') {
                inside.find('"').map_or(1, |end| end + 2)
            } else {
                let pairs =
                    ["/\\", "\\/", "<<", ">>", "==", "=>", "..", "->", "<-", "/=", "<>", "[]", "~>", "|->", "]_"];
                pairs
                    .iter()
                    .find(|pair| rest.starts_with(**pair))
                    .map_or(rest.chars().next().map_or(1, char::len_utf8), |pair| pair.len())
            };
            if !rest.starts_with(char::is_whitespace) {
                found.push(at..at + length);
            }
            length
        };
        at += length;
        if text[..at].ends_with("====") {
            break;
        }
    }
    found
}

/// One small change: a word deleted, doubled, swapped with the next, replaced by another of the module, inserted, or
/// one letter of a name changed.
fn mutant(text: &str, words: &[std::ops::Range<usize>], random: &mut fastrand::Rng) -> (String, String) {
    const INSERTED: [&str; 16] = [
        "'",
        "[]",
        "<>",
        "~",
        "ENABLED",
        "UNCHANGED",
        "@",
        "+ 1",
        "~> x",
        "/\\ TRUE",
        "[x]",
        ".a",
        "(x)",
        "= 1",
        "\\cup {}",
        "LOCAL",
    ];
    let at = random.usize(3..words.len() - 2);
    let word = &text[words[at].clone()];
    let put = |range: std::ops::Range<usize>, new: &str| format!("{}{new}{}", &text[..range.start], &text[range.end..]);
    let other = &text[words[random.usize(3..words.len() - 1)].clone()];
    let line = text[..words[at].start].matches('\n').count() + 1;
    match random.usize(0..6) {
        0 => (format!("line {line}: `{word}` deleted"), put(words[at].clone(), "")),
        1 => (format!("line {line}: `{word}` doubled"), put(words[at].clone(), &format!("{word} {word}"))),
        2 => {
            let next = words[at + 1].clone();
            let between = &text[words[at].end..next.start];
            let swapped = format!("{}{between}{word}", &text[next.clone()]);
            (format!("line {line}: `{word}` swapped"), put(words[at].start..next.end, &swapped))
        }
        3 => (format!("line {line}: `{word}` replaced by `{other}`"), put(words[at].clone(), other)),
        4 => {
            let new = INSERTED[random.usize(0..INSERTED.len())];
            (format!("line {line}: `{new}` behind `{word}`"), put(words[at].clone(), &format!("{word} {new} ")))
        }
        _ => {
            let letter = char::from(random.u8(b'a'..=b'z')).to_string();
            (format!("line {line}: a letter of `{word}`"), put(words[at].start..words[at].start + 1, &letter))
        }
    }
}

#[test]
fn sany_agrees_on_modules_with_one_word_changed() {
    let bases: Vec<String> = own_modules().into_iter().map(|(_, text)| text).collect();
    let mut random = fastrand::Rng::with_seed(20_261_121);
    let (count, every) = if campaign() { (1_600, 1) } else { (160, 6) };
    let mut mutants: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for index in 0..count {
        let base = &bases[index % bases.len()];
        let (about, text) = mutant(base, &words(base), &mut random);
        let name = name_of(base);
        mutants.entry(name.to_owned()).or_default().push((format!("{name}, {about}"), text));
    }
    let mut all = Confusion::default();
    let mut asked = 0;
    for (name, modules) in &mutants {
        let (confusion, count) = compare(name, modules, every);
        asked += count;
        all.differ += &confusion.differ;
        for (key, count) in confusion.counts {
            *all.counts.entry(key).or_default() += count;
        }
    }
    println!("{asked} of {count} mutants asked\n{}", all.table());
    assert!(asked > count / 6);
    assert!(all.differ.is_empty(), "{}", all.differ);
}

#[test]
fn an_error_has_its_position_and_subject() {
    let table: &[(&str, usize, usize, &[&str])] = &[
        ("A == 1\nB == A + 1", 3, 6, &["`+`", "EXTENDS Naturals"]),
        ("A == b", 2, 6, &["`b`", "neither defined nor declared"]),
        ("EXTENDS Naturals\nA == (1 +\n  2", 5, 1, &["`)`", "`====`"]),
        ("A(a, b, c) == a /\\ b \\/ c", 2, 22, &["/\\", "\\/", "parentheses"]),
        ("VARIABLE x\nA == \\A x \\in {1} : TRUE", 3, 9, &["`x`", "variable"]),
        ("F(a) == a\nA == F(1, 2)", 3, 6, &["`F`", "1 argument", "gets 2"]),
        ("VARIABLE x\nA == x'' = 1", 3, 6, &["action", "`'`", "state"]),
        ("A(a) == /\\ (a\n    )", 3, 5, &["right of its bullet"]),
        ("A(\u{e9}) == 1", 2, 3, &["character"]),
        ("CONSTANT c\nASSUME c' = 1", 3, 1, &["assumption", "action"]),
        ("A == 1\n\nA == 2", 4, 1, &["`A`", "already"]),
        ("A == [a |-> 1,\n      a |-> 2]", 3, 7, &["`a`", "twice"]),
    ];
    for (body, line, column, words) in table {
        let analysis = check(body);
        let error = analysis.errors.first().unwrap_or_else(|| panic!("{body} is rejected"));
        assert_eq!((error.line, error.column), (*line, *column), "{body}: {error:?}");
        for word in *words {
            assert!(error.message.contains(word), "{word} in {error:?}");
        }
    }
}

#[test]
fn local_modules_are_read_and_their_errors_have_their_name() {
    let other_module = |text: &str| vec![("Other".to_owned(), format!("---- MODULE Other ----\n{text}\n===="))];
    let uses = module("EXTENDS Other\nA == B");
    assert!(analyze("Case", &uses, &other_module("B == 1")).is_accepted());
    let missing = analyze("Case", &uses, &[]);
    assert!(missing.errors[0].message.contains("module Other is not found"), "{missing:?}");
    let wrong = analyze("Case", &uses, &other_module("B == c"));
    assert!(wrong.errors[0].message.starts_with("module Other: `c`"), "{wrong:?}");
    assert_eq!(wrong.errors[0].line, 2);
    let circular = analyze("Case", &uses, &other_module("EXTENDS Case\nB == 1"));
    assert!(circular.errors[0].message.contains("needs itself"), "{circular:?}");
    let misnamed = vec![("Other".to_owned(), "---- MODULE Another ----\nB == 1\n====".to_owned())];
    assert!(analyze("Case", &uses, &misnamed).is_rejected());
    assert!(analyze("Wrong", &module("A == 1"), &[]).errors[0].message.contains("named Case"));
    let community = analyze("Case", &module("EXTENDS IOUtils"), &[]);
    assert!(community.errors[0].message.contains("CommunityModules"), "{community:?}");
    let hidden = analyze("Case", &uses, &other_module("LOCAL B == 1"));
    assert!(hidden.is_rejected(), "{hidden:?}");
    let twice = analyze(
        "Case",
        &module("EXTENDS Other, Naturals\nVARIABLE v\nI == INSTANCE Other"),
        &other_module("VARIABLE w\nB == w"),
    );
    assert!(twice.is_accepted(), "{twice:?}");
}

#[test]
fn a_long_chain_of_one_operator_does_not_count_as_nesting() {
    for count in [300, 500, 1_000, 5_000] {
        for operator in ["/\\", "\\/"] {
            let chain: Vec<String> = (0..count).map(|at| format!("x = {at}")).collect();
            let found =
                check(&format!("EXTENDS Naturals\nVARIABLE x\nD == {}\nE == x", chain.join(&format!(" {operator} "))));
            assert!(found.is_accepted(), "{count} {operator}: {found:?}");
            // An error at the end of the chain is still found.
            let found = check(&format!(
                "EXTENDS Naturals\nVARIABLE x\nD == {} {operator} y",
                chain.join(&format!(" {operator} "))
            ));
            assert!(found.is_rejected(), "{count} {operator}: {found:?}");
        }
    }
}

#[test]
fn an_open_comment_is_reported_at_its_start() {
    let found = check("VARIABLE x\nInit == x (* never\nNext == x\n");
    let error = &found.errors[0];
    assert_eq!((error.line, error.column), (3, 11), "{found:?}");
    assert!(error.message.contains("a comment begins here and is not closed"), "{found:?}");
}

#[test]
fn too_deep_nesting_is_neither_accepted_nor_rejected() {
    let forms = [
        ("(", "1", ")"),
        ("{", "1", "}"),
        ("~", "TRUE", ""),
        ("IF TRUE THEN ", "1", " ELSE 1"),
        ("[b |-> ", "1", "]"),
        ("CASE TRUE -> ", "1", ""),
        ("/\\ ", "TRUE", ""),
        ("F(", "1", ")"),
    ];
    for (open, inner, close) in forms {
        let body = |depth: usize| format!("F(c) == c\nA == {}{inner}{}", open.repeat(depth), close.repeat(depth));
        assert!(check(&body(50)).is_accepted(), "{open}");
        // At the limit itself the stack must suffice.
        for depth in [100, 120, 130, 250, 260] {
            assert!(!check(&body(depth)).is_rejected(), "{open}");
        }
        let deep = check(&body(20_000));
        assert!(!deep.is_accepted() && !deep.is_rejected(), "{open}: {:?}", deep.errors);
        assert_eq!(deep.not_analysed[0].line, 3);
    }
    let sum = |terms: usize| format!("EXTENDS Naturals\nA == 1{}", " + 1".repeat(terms));
    assert!(check(&sum(200)).is_accepted());
    assert!(!check(&sum(20_000)).is_rejected());
}

#[test]
fn a_large_module_takes_linear_time() {
    let definitions = |count: usize| {
        (0..count).fold(String::new(), |mut text, index| {
            writeln!(text, "A{index} == /\\ \\A a \\in {{1, 2}} : a = {index}\n      /\\ [b |-> {index}].b = 1")
                .unwrap();
            text
        })
    };
    let time = |count: usize| {
        let text = definitions(count);
        let begin = Instant::now();
        let analysis = check(&text);
        assert!(analysis.is_accepted(), "{:?}", analysis.errors.first());
        (text.len(), begin.elapsed().as_secs_f64())
    };
    // The best of three small ones, because other processes of the machine take time from some of them.
    let small = (0..3).map(|_| time(3_000).1).fold(f64::INFINITY, f64::min);
    let (bytes, large) = time(30_000);
    assert!(bytes > 1_900_000);
    assert!(large < small * 50.0 + 5.0, "{small} s for 3,000 definitions, {large} s for 30,000");
    let chain = |inside: &str, outside: &str| {
        let all = (1..5_000).fold(String::from("A0 == 1\n"), |mut text, index| {
            writeln!(text, "A{index} == A{}", index - 1).unwrap();
            text
        });
        check(&format!("{inside}{all}{outside}"))
    };
    assert!(chain("", "RECURSIVE F(_)\nF(n) == F(A4999)").is_accepted());
    assert!(chain("B == LET ", "IN A4999").is_accepted());
    assert!(chain("---- MODULE Inner ----\n", "====\nI == INSTANCE Inner\nB == I!A4999").is_accepted());
    assert!(chain("", "---- MODULE Inner ----\nB == A4999\n====").is_accepted());
    let undefined = (0..50_000).fold(String::from("A == {1"), |text, index| text + &format!(", b{index}")) + "}";
    assert!(check(&undefined).is_rejected());
    let unfinished = format!("A == {}", "(1 + ".repeat(100_000));
    assert!(!check(&unfinished).is_accepted());
}

#[test]
fn line_ends_and_unicode_are_read() {
    let text = module("EXTENDS Naturals\nA(a) == /\\ a\n        /\\ a").replace('\n', "\r\n");
    assert!(analyze("Case", &text, &[]).is_accepted());
    let unicode =
        "EXTENDS Naturals\nA(S) \u{225c} \u{2227} \u{2200} a \u{2208} S : a \u{2265} 1\n       \u{2227} \u{ac}(1 = 2)";
    let analysis = check(unicode);
    assert!(analysis.is_accepted(), "{analysis:?}");
    assert!(
        analyze("Case", &format!("free text -- before\n{}and behind: ) ( == ", module("A == 1")), &[]).is_accepted()
    );
    assert!(analyze("Case", "", &[]).is_rejected());
    assert!(analyze("Case", "---- MODULE Case ----", &[]).is_rejected());
}

/// Every text gets an answer.
#[test]
fn no_text_makes_the_checks_panic() {
    let mut bases: Vec<String> = own_modules().into_iter().map(|(_, text)| text).collect();
    bases.extend(cases().into_iter().map(|case| case.text));
    let mut random = fastrand::Rng::with_seed(7);
    let count = if campaign() { 20_000 } else { 2_000 };
    for index in 0..count {
        let base = &bases[index % bases.len()];
        let mut bytes = base.clone().into_bytes();
        for _ in 0..random.usize(1..8) {
            let at = random.usize(0..bytes.len());
            match random.usize(0..4) {
                0 => bytes[at] = random.u8(..),
                1 => bytes.truncate(at.max(1)),
                2 => {
                    let piece: Vec<u8> = bytes[at..(at + random.usize(0..40)).min(bytes.len())].to_vec();
                    let to = random.usize(0..bytes.len());
                    bytes.splice(to..to, piece);
                }
                _ => {
                    bytes.drain(at..(at + random.usize(1..20)).min(bytes.len()));
                    bytes.push(b'\n');
                }
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        analyze(name_of(base), &text, &[]);
    }
    println!("{count} texts tried");
}

/// The test that `scripts/sany-diff FOLDER` runs: every module below a folder, with its local modules.
#[test]
#[ignore = "scripts/sany-diff gives the folder in TLAFORGE_SANY_DIFF"]
fn a_folder_of_modules_is_compared_with_sany() {
    let root = PathBuf::from(std::env::var_os("TLAFORGE_SANY_DIFF").expect("TLAFORGE_SANY_DIFF names a folder"));
    let mut folders: BTreeMap<PathBuf, Vec<(String, String)>> = BTreeMap::new();
    for entry in walkdir::WalkDir::new(&root).sort_by_file_name() {
        let path = entry.unwrap().into_path();
        if path.extension().is_some_and(|extension| extension == "tla") {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            folders.entry(path.parent().unwrap().to_owned()).or_default().push((name, text));
        }
    }
    let mut all = Confusion::default();
    for (folder, modules) in &folders {
        let files: Vec<PathBuf> = modules.iter().map(|(name, _)| PathBuf::from(format!("{name}.tla"))).collect();
        for ((name, text), sany) in modules.iter().zip(sany(folder, &files)) {
            let about = folder.join(name);
            all.add(&analyze(name, text, modules), sany, &about.display().to_string());
        }
    }
    println!("{}\n{}", all.table(), all.differ);
}

/// A module that defines the members of a set that its configuration substitutes for a constant.
fn symmetry_fault_of_substituted(body: &str, cfg: &str) -> Option<String> {
    let spec = "---- MODULE Spec ----\nCONSTANTS P, Other\nVARIABLE x\nInit == x \\in P\nNext == x' \\in P\nInv == x \\in P\n====";
    let text = format!(
        "---- MODULE MC ----\nEXTENDS Spec, TLC\nCONSTANTS c1, c2, c3\nMCP == {{c1, c2, c3}}\nPerms == Permutations(MCP)\n{body}\n===="
    );
    let first = if cfg.contains("c1 =") { "" } else { "c1 = c1" };
    let cfg = format!("INIT Init\nNEXT Next\nINVARIANT Inv\nCONSTANTS {first} c2 = c2 c3 = c3 P <- MCP\n{cfg}\n");
    let cfg = Cfg::parse(&cfg).expect("a configuration");
    find_symmetry_fault("MC", &text, &[("Spec".to_owned(), spec.to_owned())], &cfg)
}

#[test]
fn symmetry_of_a_substituted_set_is_sound_if_its_members_are_named_nowhere_else() {
    for (body, cfg) in [
        ("", "Other = 3 SYMMETRY Perms"),
        ("More == Permutations(P)", "Other = 3 SYMMETRY More"),
        ("Two == MCP", "Other <- Two SYMMETRY Perms"),
        ("Unused == c1", "Other = 3 SYMMETRY Perms"),
        // A set with all members.
        ("All == {c3, c1, c2}", "Other <- All SYMMETRY Perms"),
        ("Two == {{c1, c2}, {c3, c1}, {c2, c3}}", "Other <- Two SYMMETRY Perms"),
        (
            "Two == {{c1, c2}, {c3, c1}, {c2, c3}, {}}\nBad == x \\in UNION Two",
            "Other = 3 SYMMETRY Perms INVARIANT Bad",
        ),
    ] {
        assert_eq!(symmetry_fault_of_substituted(body, cfg), None, "{body} {cfg}");
    }
    for (body, cfg, why) in [
        ("Boss == c1", "Other <- Boss SYMMETRY Perms", "names c1"),
        ("Two == {c1, c2}", "Other <- Two SYMMETRY Perms", "names c1"),
        ("Two == {{c1, c2}, {c3, c1}}", "Other <- Two SYMMETRY Perms", "names c"),
        (
            "Two == {{c1, c2}, {c3, c1}, {c2, c3}}\nBad == x \\in CHOOSE T \\in Two : TRUE",
            "Other = 3 SYMMETRY Perms INVARIANT Bad",
            "may pick a member",
        ),
        (
            "Two == {{c1, c2}, {c3, c1}, {c2, c3}}\nBad == x \\in CHOOSE T \\in Other : TRUE",
            "Other <- Two SYMMETRY Perms INVARIANT Bad",
            "may pick a member",
        ),
        ("Bad == x # c3", "Other = 3 SYMMETRY Perms INVARIANT Bad", "names c3"),
        ("Bad == x = CHOOSE c \\in MCP : TRUE", "Other = 3 SYMMETRY Perms INVARIANT Bad", "may pick a member"),
        ("Bad == x = CHOOSE c \\in P : TRUE", "Other = 3 SYMMETRY Perms INVARIANT Bad", "may pick a member"),
        ("", "Other = c2 SYMMETRY Perms", "names c2"),
        ("", "Other = {c2} SYMMETRY Perms", "names c2"),
        ("", "Other = 3 c1 = 1 SYMMETRY Perms", "not a set of model values"),
        ("", "Other = 3 c1 = c2 SYMMETRY Perms", "names c2"),
        ("Few == Permutations({c1, c2})", "Other = 3 SYMMETRY Few", "something else"),
        ("Two == {c1, c2}\nFew == Permutations(Two)", "Other = 3 SYMMETRY Few", "names c1"),
        ("Two == {c1, c2}\nFew == Permutations(Two)", "Other = 3 SYMMETRY Perms Few", "something else"),
        ("Two == {c1, c1}\nFew == Permutations(Two)", "Other = 3 SYMMETRY Few", "something else"),
    ] {
        let found = symmetry_fault_of_substituted(body, cfg);
        assert!(found.as_deref().is_some_and(|found| found.contains(why)), "{body} {cfg}: {found:?}");
    }
}

/// Why the symmetry of a module with two sets of model values is not shown to be sound.
fn symmetry_fault_of(body: &str, cfg: &str) -> Option<String> {
    let text = format!(
        "---- MODULE M ----\nEXTENDS Naturals, Sequences, FiniteSets, TLC\nCONSTANTS P, V, Other\nVARIABLES x, y\n\
         Perms == Permutations(P) \\cup Permutations(V)\nInit == x = [p \\in P |-> 0] /\\ y \\in V\nInv == TRUE\n{body}\n===="
    );
    let values = if cfg.contains("P =") { "" } else { "P = {p1, p2}" };
    let other = if cfg.contains("Other") { "" } else { "Other = 3" };
    let cfg =
        format!("INIT Init\nNEXT Next\nINVARIANT Inv\nSYMMETRY Perms\nCONSTANTS V = {{a, b}} {values} {other} {cfg}\n");
    find_symmetry_fault("M", &text, &[], &Cfg::parse(&cfg).expect("a configuration"))
}

#[test]
fn symmetry_is_sound_if_members_are_treated_alike() {
    for next in [
        "\\E p \\in P : x' = [x EXCEPT ![p] = @ + 1] /\\ y' \\in V",
        "x' = x /\\ y' = y /\\ Cardinality({p \\in P : x[p] > 0}) < Len(Append(<<>>, Head(<<y>>)))",
        "LET none == CHOOSE n : n \\notin Nat IN x' = x /\\ y' = none",
        "LET Least(n) == CHOOSE m \\in 1..Other : \\A k \\in 1..Other : m <= k IN x' = x /\\ y' = Least(3)",
        "x' = (x @@ (y :> 1)) /\\ UNCHANGED y /\\ Assert(TRUE, y)",
        // Every set of numbers has one largest number.
        "LET Max(S) == CHOOSE n \\in S : \\A m \\in S : n >= m IN x' = x /\\ y' = Max({x[p] : p \\in P})",
        "LET Min(S) == CHOOSE n \\in S : n \\in S /\\ (\\A m \\in S : n \\leq m) IN x' = x /\\ y' = Min({x[p] : p \\in P})",
        "LET all == {x[p] : p \\in P} IN x' = x /\\ y' = CHOOSE n \\in all : \\A m \\in all : m <= n",
        // A number is no member.
        "x' = x /\\ y' = CHOOSE n \\in 0..Cardinality(P) : \\E p \\in P : x[p] = n",
        "LET small == {n \\in Nat : n < x[y]} IN x' = x /\\ y' = CHOOSE n \\in small \\cup (1..2) : x[y] # n",
    ] {
        assert_eq!(symmetry_fault_of(&format!("Next == {next}"), ""), None, "{next}");
    }
    // They stay the same if the members are exchanged; nothing can read a constant that is not declared.
    for other in [
        "Other = {p2, p1, c}",
        "Other = {{p1, c}, {c, p2}, {}}",
        "Other = {{p2, p3}, {p1, p2}, {p3, p1}} P = {p1, p2, p3}",
        "Undeclared = p1",
    ] {
        assert_eq!(symmetry_fault_of("Next == UNCHANGED <<x, y>>", other), None, "{other}");
    }
}

#[test]
fn symmetry_is_not_sound_if_a_member_can_be_distinguished() {
    let plain = "Next == UNCHANGED <<x, y>>";
    for (body, cfg, why) in [
        ("Next == y' = (CHOOSE v \\in V : TRUE) /\\ x' = x", "", "may pick a member"),
        ("Any1(S) == CHOOSE s \\in S : TRUE\nNext == y' = Any1(V) /\\ x' = x", "", "`CHOOSE s \\in S : TRUE`"),
        ("Next == y' = (CHOOSE v : v = y) /\\ x' = x", "", "may pick a member"),
        ("Next == y' = (CHOOSE v \\in (0..1) \\cup V : v # y) /\\ x' = x", "", "may pick a member"),
        ("Next == y' = (CHOOSE v \\in V \\ (0..1) : v # y) /\\ x' = x", "", "may pick a member"),
        ("Next == y' = (CHOOSE v \\in V : TRUE) /\\ x' = x", "Other = p1", "names p1, a member of P; `CHOOSE"),
        (plain, "Other = {{p1, p2}, {p1}}", "names p1, a member of P"),
        ("F == CHOOSE f \\in [1..2 -> P] : TRUE\nNext == y' = F[1] /\\ x' = x", "", "may pick a member"),
        ("Next == y' = ToString(y) /\\ x' = x", "", "`ToString` of module TLC"),
        ("T == INSTANCE TLC\nNext == y' = T!RandomElement(V) /\\ x' = x", "", "`RandomElement` of module TLC"),
        ("Inv2 == y = (CHOOSE v \\in V : TRUE)\nNext == UNCHANGED <<x, y>>", "INVARIANT Inv2", "may pick a member"),
        ("One == CHOOSE v \\in V : TRUE\nNext == y' = Other /\\ x' = x", "Other <- One", "may pick a member"),
        // There may be several such elements.
        (
            "Top(S) == CHOOSE p \\in S : \\A q \\in S : x[p] >= x[q]\nNext == y' = Top(P) /\\ x' = x",
            "",
            "may pick a member",
        ),
        (
            "Top(S, T) == CHOOSE n \\in S : \\A m \\in T : n >= m\nNext == y' = Top(P, {1}) /\\ x' = x",
            "",
            "may pick a member",
        ),
        ("Top(S) == CHOOSE n \\in S : \\E m \\in S : n >= m\nNext == y' = Top(P) /\\ x' = x", "", "may pick a member"),
        ("Top(S) == CHOOSE n \\in S : \\A m \\in S : n >= n\nNext == y' = Top(P) /\\ x' = x", "", "may pick a member"),
        (plain, "Other = p1", "names p1, a member of P"),
        (plain, "Other = {a}", "names a, a member of V"),
        (plain, "Other = {{p1}, {p1, p2}}", "names p1"),
        (plain, "Other = {p1, \"a,p2,b\"}", "names p1"),
        // The parameter is another set in each call.
        (
            "Sym(S) == Permutations(S)\nCONSTANTS c1, c2, d1, d2\nTwo == Sym({c1, c2}) \\cup Sym({d1, d2})\nNext == UNCHANGED <<x, y>>",
            "c1 = c1 c2 = c2 d1 = d1 d2 = d2 SYMMETRY Two",
            "something else",
        ),
        (
            "RECURSIVE F(_, _)\nF(S, n) == LET z == S IN IF n = 0 THEN {} ELSE {CHOOSE v \\in (F({}, 0) \\cup z) : TRUE}\n\
             Inv2 == y \\in F(V, 1)\nNext == UNCHANGED <<x, y>>",
            "INVARIANT Inv2",
            "may pick a member",
        ),
        (plain, "Other = {{p1, p2}, {p2, p3}} P = {p1, p2, p3}", "names p1"),
        // Another name for the set of the members, or for sets of them.
        ("Next == x' = x /\\ y' = CHOOSE p \\in Other : TRUE", "Other = {p2, p1}", "may pick a member"),
        ("Next == x' = x /\\ y' = CHOOSE p \\in UNION Other : TRUE", "Other = {{p2}, {p1}}", "may pick a member"),
        (plain, "P = {1, 2}", "P is not a set of model values"),
        (plain, "P = {\"p\", \"q\"}", "P is not a set of model values"),
        (plain, "VIEW Inv", "VIEW Inv"),
        ("Mine == {[p \\in P |-> p]}\nNext == UNCHANGED <<x, y>>", "SYMMETRY Mine", "not a union of `Permutations`"),
    ] {
        let found = symmetry_fault_of(body, cfg);
        assert!(found.as_deref().is_some_and(|found| found.contains(why)), "{body} {cfg}: {found:?}");
    }
}
