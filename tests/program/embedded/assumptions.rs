//! Which assumptions a checker enforces, and how it names a violated one. TLC is the oracle: it enforces those of the
//! root module and of the modules that the root extends, and does not check an AXIOM.

use tlaforge::tla::{Cfg, CheckOutcome, Verdict};
use tlaforge::toolchain::{CheckRequest, SpecText};

use super::bench::{Bench, verdict};

const BEHAVIOUR: &str = "VARIABLE x\nSpec == x = 0 /\\ [][UNCHANGED x]_x";

/// The body of the root module `S`, its local modules, lines of the configuration, and the position of the violated
/// assumption: empty if the check holds.
type Case = (&'static str, &'static [(&'static str, &'static str)], &'static str, &'static str);

const FALSE: &[(&str, &str)] = &[("B", "ASSUME 1 = 2")];
const NESTED: &[(&str, &str)] = &[("B", "EXTENDS C"), ("C", "ASSUME 1 = 2")];
const WITHIN: &[(&str, &str)] = &[("B", "INSTANCE C"), ("C", "ASSUME 1 = 2")];
const NUMBER: &[(&str, &str)] = &[("B", "CONSTANT N\nASSUME N = 1")];

const TABLE: &[Case] = &[
    ("ASSUME 1 = 2", &[], "", "line 2, col 8 to line 2, col 12 of module S"),
    ("ASSUMPTION 1 = 2", &[], "", "line 2, col 12 to line 2, col 16 of module S"),
    ("ASSUME Named == 1 = 2", &[], "", "line 2, col 17 to line 2, col 21 of module S"),
    ("ASSUME /\\ 1 = 1\n       /\\ 1 = 2", &[], "", "line 2, col 8 to line 3, col 15 of module S"),
    ("ASSUME 1 = 1\n\nASSUME\n  2 = 3\nASSUME 4 = 5", &[], "", "line 5, col 3 to line 5, col 7 of module S"),
    ("AXIOM 1 = 2", &[], "", ""),
    ("AXIOM Named == 1 = 2", &[], "", ""),
    ("EXTENDS B", FALSE, "", "line 2, col 8 to line 2, col 12 of module B"),
    ("EXTENDS B", &[("B", "AXIOM 1 = 2")], "", ""),
    ("EXTENDS B", NESTED, "", "line 2, col 8 to line 2, col 12 of module C"),
    (
        "EXTENDS B, C\nASSUME 1 = 2",
        &[("B", "F == 1"), ("C", "ASSUME 7 = 8")],
        "",
        "line 2, col 8 to line 2, col 12 of module C",
    ),
    ("EXTENDS B", WITHIN, "", ""),
    ("INSTANCE B", FALSE, "", ""),
    ("LOCAL INSTANCE B", FALSE, "", ""),
    ("I == INSTANCE B", FALSE, "", ""),
    ("F == LET I == INSTANCE B IN TRUE", FALSE, "", ""),
    ("INSTANCE B", NESTED, "", ""),
    ("I == INSTANCE B", NESTED, "", ""),
    ("INSTANCE B", WITHIN, "", ""),
    ("I == INSTANCE B WITH N <- 0", NUMBER, "", ""),
    (
        "I == INSTANCE B WITH N <- 0\nASSUME I!N2",
        &[("B", "CONSTANT N\nN2 == N = 1\nASSUME N2")],
        "",
        "line 3, col 8 to line 3, col 11 of module S",
    ),
    // The same module extended and instantiated: only the assumption about the configured constant is enforced.
    ("EXTENDS B\nI == INSTANCE B WITH N <- 0", NUMBER, "CONSTANT N = 1\n", ""),
    (
        "EXTENDS B\nI == INSTANCE B WITH N <- 1",
        NUMBER,
        "CONSTANT N = 0\n",
        "line 3, col 8 to line 3, col 12 of module B",
    ),
];

fn request(body: &str, local_modules: &[(&str, &str)], cfg_text: &str) -> CheckRequest {
    let module = |name: &str, body: &str| format!("---- MODULE {name} ----\n{body}\n====\n");
    let text = module("S", &format!("{body}\n{BEHAVIOUR}"));
    let local_modules = local_modules.iter().map(|(name, body)| ((*name).to_owned(), module(name, body))).collect();
    let cfg_text = format!("SPECIFICATION Spec\n{cfg_text}");
    let cfg = Cfg::parse(&cfg_text).expect("a configuration");
    CheckRequest { spec: SpecText { name: "S".into(), text, local_modules }, cfg_text, cfg }
}

fn words(outcome: &CheckOutcome) -> String {
    match &outcome.verdict {
        Verdict::Violated { violated } => format!("violated {}", violated.description()),
        _ => verdict(outcome),
    }
}

#[tokio::test]
async fn the_same_assumptions_are_enforced_as_by_tlc() {
    let bench = Bench::new();
    // TLC checks every row in a campaign, and every third row here.
    let step = if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { 1 } else { 3 };
    for (index, (body, local_modules, cfg, place)) in TABLE.iter().enumerate() {
        let wanted = if place.is_empty() { "holds".to_owned() } else { format!("violated assumption at {place}") };
        let request = request(body, local_modules, cfg);
        let embedded = if index % step == 0 {
            let (tlc, embedded, contradictions) = bench.both(&request).await;
            assert_eq!(words(&tlc), wanted, "{body}");
            assert_eq!(contradictions, [""; 0], "{body}");
            embedded
        } else {
            bench.check(&request).await
        };
        assert_eq!(words(&embedded), wanted, "{body}\n{embedded:#?}");
        assert!(!embedded.warnings.iter().any(|warning| warning.contains("tlaforge assumption")), "{body}");
    }
}

/// Two modules, or a module and an instance in it, can give the same name two meanings.
#[tokio::test]
async fn a_name_has_the_meaning_of_its_module() {
    let bench = Bench::new();
    for (body, local_modules, cfg) in [
        ("EXTENDS B\nFoo == 1\nInv == Bar = 2", &[("B", "LOCAL INSTANCE C\nBar == Foo"), ("C", "Foo == 2")][..], ""),
        ("EXTENDS B\nFoo == 1\nInv == Bar = 2", &[("B", "LOCAL Foo == 2\nBar == Foo")], ""),
        ("INSTANCE B\nFoo == 1\nInv == Bar = 2", &[("B", "LOCAL Foo == 2\nBar == Foo")], ""),
        (
            "EXTENDS C, B\nInv == Foo = 2",
            &[("B", "LOCAL INSTANCE C WITH N <- 1\nBar == Foo"), ("C", "CONSTANT N\nFoo == N")],
            "CONSTANT N = 2\n",
        ),
        (
            "EXTENDS C, B\nInv == TRUE",
            &[("B", "LOCAL INSTANCE C WITH N <- 1"), ("C", "CONSTANT N\nASSUME N = 2")],
            "CONSTANT N = 2\n",
        ),
    ] {
        let request = request(body, local_modules, &format!("INVARIANT Inv\n{cfg}"));
        let (tlc, embedded, _) = bench.both(&request).await;
        assert_eq!((words(&tlc).as_str(), words(&embedded).as_str()), ("holds", "holds"), "{body}: {embedded:#?}");
    }
    // One definition, reached in two ways, is no conflict.
    let local_modules = [("B", "LOCAL INSTANCE C\nBar == Foo"), ("C", "Foo == 2"), ("D", "EXTENDS C")];
    let outcome = bench.check(&request("EXTENDS B, D\nInv == Bar = Foo", &local_modules, "INVARIANT Inv\n")).await;
    assert_eq!(words(&outcome), "holds", "{outcome:#?}");
}
