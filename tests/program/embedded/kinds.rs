//! Random expressions whose values have all kinds: numbers, texts, truth values, model values, sets and functions.

use std::collections::BTreeSet;

use fastrand::Rng;
use tlaforge::tla::Verdict;

use super::bench::{Bench, request};

const HEAD: &str = "EXTENDS Integers, Sequences, FiniteSets, TLC
CONSTANTS None, Proc, p1
VARIABLE x
Init == x = 0 /\\ LET n == 1 IN
";
const CFG: &str = "INIT Init\nNEXT Next\nINVARIANT Inv\nCONSTANTS None = None\np1 = p1\nProc = {p1, p2}\n";

struct Mixer(Rng);

impl Mixer {
    fn one_of(&mut self, all: &[&str]) -> String {
        all[self.0.usize(..all.len())].to_owned()
    }

    /// A value of any kind.
    fn value(&mut self, depth: usize) -> String {
        let simple = ["0", "1", "\"a\"", "TRUE", "None", "p1", "{}", "<<>>", "x", "n"];
        if depth == 0 {
            return self.one_of(&simple);
        }
        let (one, other) = (self.value(depth - 1), self.value(depth - 1));
        match self.0.u8(..9) {
            0 => format!("{{{one}, {other}}}"),
            1 => format!("<<{one}, {other}>>"),
            2 => format!("[a |-> {one}, b |-> {other}]"),
            3 => format!("(IF {} THEN {one} ELSE {other})", self.truth(depth - 1)),
            4 => format!("(LET y == {one} IN {{y}} \\cup {})", self.set(depth - 1)),
            5 => format!("({} \\ {})", self.set(depth - 1), self.set(depth - 1)),
            6 => format!("[[a |-> {one}] EXCEPT !.a = <<@, {other}>>]"),
            7 => format!("[i \\in {{{one}}} |-> {other}]"),
            _ => self.set(depth),
        }
    }

    fn set(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.one_of(&["{0, 1}", "{\"a\"}", "Proc", "BOOLEAN", "{x}", "{<<0>>, <<1, 2>>}", "{{}, {1}}"]);
        }
        let (one, other) = (self.set(depth - 1), self.set(depth - 1));
        match self.0.u8(..8) {
            0 => format!("({one} \\cup {other})"),
            1 => format!("({one} \\cap {other})"),
            2 => format!("SUBSET {}", self.one_of(&["{0, 1}", "{\"a\"}", "Proc"])),
            3 => format!("{{m \\in {one} : {}}}", self.truth(depth - 1)),
            4 => format!("{{<<m, {}>> : m \\in {one}}}", self.value(0)),
            5 => format!("({one} \\X {other})"),
            6 => format!("UNION {{{one}, {other}}}"),
            _ => format!("{{{}}}", self.value(depth - 1)),
        }
    }

    fn truth(&mut self, depth: usize) -> String {
        let (one, other) = (self.value(depth), self.value(depth));
        match self.0.u8(..7) {
            0 | 1 => format!("{one} = {other}"),
            2 => format!("{one} # {other}"),
            3 => format!("{one} \\in {}", self.set(depth)),
            4 => format!("{} \\subseteq {}", self.set(depth), self.set(depth)),
            5 => format!("(x = 1 /\\ {one} = {other})"),
            _ => format!(
                "{one} \\notin {}",
                self.one_of(&["Nat", "STRING", "Seq({0})", "{0}", "[a : {0, 1}]", "SUBSET {0}"])
            ),
        }
    }
}

/// What the embedded checker computes, TLC computes, too; where TLC stops with an error, the embedded checker decides nothing else.
#[tokio::test]
async fn random_values_of_different_kinds_are_compared_as_by_tlc() {
    let bench = Bench::new();
    let mut random = Mixer(Rng::with_seed(11));
    let count = if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { 4000 } else { 200 };
    let mixed = |body: &str| request(&format!("{HEAD}{body}\nNext == UNCHANGED x\nInv == TRUE \\/ x = \"a\"\n"), CFG);
    let (mut decided, mut own) = (Vec::new(), BTreeSet::new());
    for number in 0..count {
        let depth = 1 + number % 3;
        let expression = if number % 2 == 0 { random.truth(depth) } else { random.value(depth) };
        let line = format!("  /\\ PrintT(<<\"v\", {number}, {expression}>>)");
        let checked = bench.check_with(&bench.embedded(), &mixed(&line)).await.unwrap();
        if checked.outcome.verdict == Verdict::Holds {
            own.extend(printed(&checked.output));
            decided.push(line);
        }
    }
    assert!(decided.len() > count / 10, "{} of {count} are decided", decided.len());
    let tlc = bench.check_with(&bench.java(), &mixed(&decided.join("\n"))).await.unwrap();
    assert_eq!(tlc.outcome.verdict, Verdict::Holds, "{}", decided.join("\n"));
    // TLC breaks long lines, and prints the elements of a set in an order of its own.
    let theirs: BTreeSet<Vec<char>> = without_blanks(&tlc.output).split(START).map(sorted).collect();
    let different: Vec<&String> = own.iter().filter(|line| !theirs.contains(&sorted(line))).collect();
    assert!(different.is_empty() && own.len() == decided.len(), "{different:#?}");
}

/// What begins a value that was printed.
const START: &str = "<<\"v\",";

fn without_blanks(text: &str) -> String {
    text.split_whitespace().collect()
}

/// The characters of a printed value in order of their numbers, without what follows it in the last line.
fn sorted(value: &str) -> Vec<char> {
    let value = without_blanks(value);
    let value = value.strip_prefix(START).unwrap_or(&value);
    let end = value.rfind(">>").unwrap_or(value.len());
    let mut characters: Vec<char> = value[..end].chars().collect();
    characters.sort_unstable();
    characters
}

fn printed(output: &str) -> BTreeSet<String> {
    output.lines().map(str::trim).filter(|line| line.starts_with("<<\"v\", ")).map(str::to_owned).collect()
}
