//! Formulas to complete minimal automata, beside the process `mona` where it is installed, in the same run.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tlaforge::temporal::{Binary, Conjunction, Dfa, Formula, Formulas, Limits, Node, Unary};

/// The best of at most `times`, or of what fits in two seconds.
fn best<T>(times: usize, mut what: impl FnMut() -> T) -> (Duration, T) {
    let begin = Instant::now();
    let mut best = None;
    for _ in 0..times {
        let start = Instant::now();
        let result = what();
        let took = start.elapsed();
        if best.as_ref().is_none_or(|(least, _)| took < *least) {
            best = Some((took, result));
        }
        if begin.elapsed() > Duration::from_secs(2) {
            break;
        }
    }
    best.expect("at least once")
}

fn responses(n: usize) -> String {
    (1..=n).map(|i| format!("G (p{i} -> F q{i})")).collect::<Vec<_>>().join(" & ")
}

fn sequence(n: usize) -> String {
    (1..n).rev().fold(format!("F a{n}"), |inner, i| format!("F (a{i} & X {inner})"))
}

/// A formula at position `here` as MONA's M2L over strings, where the positions are 0 to max($).
fn mona_text(
    formulas: &Formulas,
    formula: Formula,
    here: &str,
    fresh: &mut usize,
    atoms: &mut BTreeSet<String>,
) -> String {
    *fresh += 1;
    let then = format!("here{fresh}");
    let between = format!("then{fresh}");
    let mut of = |part: Formula, at: &str| mona_text(formulas, part, at, fresh, atoms);
    match formulas.node(formula) {
        Node::True => "true".to_owned(),
        Node::False => "false".to_owned(),
        Node::Atom(atom) => {
            let name = formulas.atom_text(formulas.atom(*atom)).to_uppercase();
            atoms.insert(name.clone());
            format!("({here} in {name})")
        }
        Node::Not(a) => format!("~({})", of(*a, here)),
        Node::And(all) => format!("({})", all.iter().map(|a| of(*a, here)).collect::<Vec<_>>().join(" & ")),
        Node::Or(all) => format!("({})", all.iter().map(|a| of(*a, here)).collect::<Vec<_>>().join(" | ")),
        Node::Binary(Binary::Implies, [left, right]) => format!("({} => {})", of(*left, here), of(*right, here)),
        Node::Unary(Unary::Next, a) => {
            format!("(ex1 {then}: {then} = {here} + 1 & {here} < max($) & {})", of(*a, &then))
        }
        Node::Unary(Unary::Finally, a) => {
            format!("(ex1 {then}: {here} <= {then} & {then} <= max($) & {})", of(*a, &then))
        }
        Node::Unary(Unary::Globally, a) => {
            format!("(all1 {then}: ({here} <= {then} & {then} <= max($)) => {})", of(*a, &then))
        }
        Node::Binary(Binary::Until, [left, right]) => {
            let (left, right) = (of(*left, &between), of(*right, &then));
            format!(
                "(ex1 {then}: {here} <= {then} & {then} <= max($) & {right} & (all1 {between}: ({here} <= {between} & {between} < {then}) => {left}))"
            )
        }
        other => panic!("not part of this benchmark: {other:?}"),
    }
}

/// The whole process on a file, as it is used; its time and the states that it counts: two more than there are, for its
/// start and for the empty string.
fn mona(formulas: &Formulas, formula: Formula, folder: &std::path::Path) -> Option<(Duration, String)> {
    let mut atoms = BTreeSet::new();
    let body = mona_text(formulas, formula, "0", &mut 0, &mut atoms);
    let mut text = "m2l-str;\n".to_owned();
    let names: Vec<String> = atoms.into_iter().collect();
    writeln!(text, "var2 {};\n{body};", names.join(", ")).expect("a String takes all that is written");
    let file = folder.join("formula.mona");
    std::fs::write(&file, text).expect("a temporary file");
    let run = || Command::new("mona").arg("-w").arg(&file).stdin(Stdio::null()).output().ok();
    run()?;
    let (took, output) = best(5, run);
    let output = String::from_utf8_lossy(&output?.stdout).into_owned();
    let states = output.lines().find_map(|l| l.trim().strip_prefix("Automaton has ")).unwrap_or("?").to_owned();
    Some((took, states))
}

type Family = fn(usize) -> String;

/// Response conjunctions and sequences for n = 2 to 8.
pub(crate) fn automaton() {
    let folder = std::env::temp_dir().join(format!("tlaforge-mona-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let families: [(&str, Family); 2] = [("response", responses), ("sequence", sequence)];
    for (family, text) in families {
        for n in 2..=8 {
            let text = text(n);
            let (ours, dfa) = best(50, || {
                let mut formulas = Formulas::new();
                let formula = formulas.parse(&text).expect("a formula");
                Dfa::build(&formulas, formula, Limits::default()).expect("within the limits")
            });
            let mut formulas = Formulas::new();
            let formula = formulas.parse(&text).expect("a formula");
            let (beside, parts) =
                best(50, || Conjunction::build(&formulas, formula, Limits::default()).expect("within the limits"));
            print!(
                "{family} {n}: {} states, {} nodes in {ours:.1?}; side by side {} states in {beside:.1?}",
                dfa.states(),
                dfa.nodes(),
                parts.states(),
            );
            match mona(&formulas, formula, &folder) {
                Some((theirs, states)) => {
                    println!("; mona {theirs:.1?} ({states}): {:.0} times", theirs.as_secs_f64() / ours.as_secs_f64());
                }
                None => println!("; mona is not installed (Debian package `mona`)"),
            }
        }
    }
    let text = responses(8);
    let mut formulas = Formulas::new();
    let formula = formulas.parse(&text).expect("a formula");
    let dfa = Dfa::build(&formulas, formula, Limits::default()).expect("within the limits");
    let (took, _) = best(20, || (0..100_000_u32).fold(0, |s, i| dfa.next(s, |a| i >> (a.index() % 32) & 1 == 1)));
    println!("a step of response 8: {:.1} ns", took.as_secs_f64() * 1e9 / 1e5);
    std::fs::remove_dir_all(&folder).ok();
}
