//! Formulas to complete minimal automata, beside the process `mona` and beside Spot where they are installed, in the same
//! run.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tlaforge::temporal::{Binary, Conjunction, Dfa, Formula, Formulas, Limits, Node, Unary};

use super::peers::python;

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

/// A formula over finite traces to a deterministic automaton, as Spot's documents do it; the best of at most three.
const SPOT: &str = r"
import sys, time
import spot
for text in sys.argv[1:]:
    best = 1e9
    for _ in range(3):
        start = time.perf_counter()
        formula = spot.from_ltlf(text)
        automaton = spot.to_finite(spot.translate(formula, 'BA', 'deterministic', 'low'))
        took = time.perf_counter() - start
        best = min(best, took)
        if took > 1:
            break
    print(best, automaton.num_states(), spot.is_deterministic(automaton))
";

/// Beyond this response conjunction Spot takes many seconds, which only a campaign spends.
const SPOT_RESPONSES: usize = 6;

/// What Spot says of each formula of a family; shorter than the family where it would take too long.
fn spot(texts: &[String], is_response: bool) -> Vec<String> {
    let campaign = std::env::var_os("TLAFORGE_CAMPAIGN").is_some();
    let asked = texts.iter().take(if is_response && !campaign { SPOT_RESPONSES - 1 } else { texts.len() });
    let asked: Vec<&OsStr> = asked.map(AsRef::as_ref).collect();
    python("spottl", SPOT, &asked).unwrap_or_default()
}

type Family = fn(usize) -> String;

/// Response conjunctions and sequences for n = 2 to 8.
pub(crate) fn automaton() {
    let folder = std::env::temp_dir().join(format!("tlaforge-mona-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let families: [(&str, Family); 2] = [("response", responses), ("sequence", sequence)];
    for (family, text) in families {
        let texts: Vec<String> = (2..=8).map(text).collect();
        let spot = spot(&texts, family == "response");
        for (n, text) in (2..).zip(&texts) {
            let (ours, dfa) = best(50, || {
                let mut formulas = Formulas::new();
                let formula = formulas.parse(text).expect("a formula");
                Dfa::build(&formulas, formula, Limits::default()).expect("within the limits")
            });
            let mut formulas = Formulas::new();
            let formula = formulas.parse(text).expect("a formula");
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
                    print!("; mona {theirs:.1?} ({states}): {:.0} times", theirs.as_secs_f64() / ours.as_secs_f64());
                }
                None => print!("; mona is not installed (Debian package `mona`)"),
            }
            let told: Option<[&str; 3]> =
                spot.get(n - 2).and_then(|l| l.split(' ').collect::<Vec<_>>().try_into().ok());
            match told.map(|[seconds, states, deterministic]| (seconds.parse::<f64>(), states, deterministic)) {
                Some((Ok(theirs), states, deterministic)) => {
                    let kind = if deterministic == "True" { "deterministic" } else { "not deterministic" };
                    let times = theirs / ours.as_secs_f64();
                    println!("; spot {:.1} ms ({states}, {kind}): {times:.0} times", theirs * 1e3);
                }
                _ => println!(),
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
