//! Properties that cover a requirement and show nothing of it. In the module, two clients hold the lock at once.

use std::fmt::Write as _;

use super::bench::{Bench, request, verdict};

const MODULE: &str = "EXTENDS Naturals, FiniteSets, Sequences
CONSTANTS Clients, N, Lim
VARIABLES pc, holders, count, bad, queue
vars == <<pc, holders, count, bad, queue>>
Off == TRUE
Init == /\\ pc = [c \\in Clients |-> \"Enter\"]
        /\\ holders = {} /\\ count = 0 /\\ bad = FALSE /\\ queue = <<>>
Enter(c) == /\\ pc[c] = \"Enter\" /\\ pc' = [pc EXCEPT ![c] = \"Leave\"]
            /\\ holders' = holders \\cup {c} /\\ count' = (count + 1) % 3
            /\\ bad' = (bad /\\ Cardinality(holders) > 1) /\\ UNCHANGED queue
Leave(c) == /\\ pc[c] = \"Leave\" /\\ pc' = [pc EXCEPT ![c] = \"Enter\"]
            /\\ holders' = holders \\ {c} /\\ UNCHANGED <<count, bad, queue>>
Next == \\E c \\in Clients : Enter(c) \\/ Leave(c)
Spec == Init /\\ [][Next]_vars /\\ WF_vars(Next)
Queued(q, n) == Len(q) <= n /\\ \\A i \\in 1..Len(q) : q[i] \\in Clients
Inside(c) == pc[c] = \"Leave\"
TypeOK == /\\ pc \\in [Clients -> {\"Enter\", \"Leave\", \"Done\"}]
          /\\ holders \\in SUBSET Clients
          /\\ count \\in 0..2
          /\\ bad \\in BOOLEAN
          /\\ Queued(queue, 2)
";

const NEVER: &str = "none of its premises is ever satisfied";
const TYPES: &str = "it is true in every state that TypeOK allows";

fn checked(properties: &[(&str, &str)]) -> tlaforge::toolchain::CheckRequest {
    let mut module = MODULE.to_owned();
    let mut cfg = "SPECIFICATION Spec\nCONSTANTS Clients = {c1, c2} N = 1 Lim = 100\nINVARIANT TypeOK\n".to_owned();
    for (number, (property, _)) in properties.iter().enumerate() {
        writeln!(module, "\\* covers R1\nP{number} == {property}").unwrap();
        let is_temporal =
            ["[]", "<>", "~>"].iter().any(|word| property.contains(word)) && !property.starts_with("CASE");
        writeln!(cfg, "{} P{number}", if is_temporal { "PROPERTY" } else { "INVARIANT" }).unwrap();
    }
    request(&module, &cfg)
}

#[tokio::test]
async fn vacuous_properties_are_reported_with_the_reason() {
    let vacuous = [
        ("~\\E a, b \\in Clients : a # b /\\ pc[a] = \"Done\" /\\ pc[b] = \"Done\"", NEVER),
        ("Cardinality({b \\in Clients : pc[b] = \"Done\"}) <= 1", NEVER),
        ("[][\\A a \\in Clients : (Inside(a) /\\ pc'[a] = \"Done\") => holders' = {}]_vars", NEVER),
        ("\\A a, b \\in holders : queue # <<>> => a = b", NEVER),
        ("LET q == Len(queue) IN q > 0 => Cardinality(holders) = 1", NEVER),
        ("\\A a \\in {c \\in Clients : pc[c] = \"Done\"} : holders = {a}", NEVER),
        ("IF queue # <<>> THEN Cardinality(holders) = 1 ELSE TRUE", NEVER),
        (
            "CASE count = 7 -> holders = {} [] pc[CHOOSE c \\in Clients : TRUE] = \"Done\" -> holders = {} [] OTHER -> TRUE",
            NEVER,
        ),
        // Two clients hold the lock, and nothing is ever queued.
        ("~(queue # <<>> /\\ Cardinality(holders) > 1)", NEVER),
        ("~(Len(queue) > 0) \\/ ~(Cardinality(holders) > 1)", NEVER),
        ("[][bad' => Cardinality(holders') <= 1]_vars", NEVER),
        ("(queue # <<>>) ~> (holders = {})", NEVER),
        ("Cardinality(holders) <= 1 \\/ Off", TYPES),
        ("\\A a \\in 2..N : Cardinality(holders) <= a", TYPES),
        ("holders \\subseteq Clients", TYPES),
        ("holders = holders \\cap Clients", TYPES),
        ("count <= Lim", TYPES),
        ("Cardinality(holders) <= Cardinality(Clients)", TYPES),
        ("CASE Cardinality(Clients) > 5 -> holders = {} [] OTHER -> TRUE", TYPES),
        ("LET two == Cardinality(holders) > 1 IN (two /\\ count = 9) => FALSE", TYPES),
        ("[](count < Lim)", TYPES),
        ("~bad", "no variable that it reads ever changes: bad"),
        ("<>(holders = {})", "it holds in each initial state"),
        ("\\A s \\in Clients : s \\in Clients", "it reads no variable"),
    ];
    let sound = [
        "Cardinality({c \\in Clients : Inside(c)}) <= Cardinality(holders)",
        "\\A c \\in Clients : Inside(c) => c \\in holders",
        "~\\E c \\in Clients : Inside(c) /\\ c \\notin holders",
        "[][\\A c \\in Clients : (c \\in holders /\\ c \\notin holders') => Inside(c)]_vars",
        "\\A c \\in Clients : Inside(c) ~> (c \\notin holders \\/ holders = Clients)",
        "{c \\in Clients : Inside(c) /\\ c \\notin holders} = {}",
        "0 >= Cardinality({c \\in Clients : Inside(c) /\\ c \\notin holders})",
        "\\A a \\in {c \\in Clients : Inside(c) /\\ c \\notin holders} : FALSE",
        "~\\E a \\in {c \\in Clients : Inside(c) /\\ c \\notin holders} : TRUE",
        "queue = <<>> \\/ holders # {}",
    ];
    let all: Vec<(&str, &str)> = vacuous.into_iter().chain(sound.map(|property| (property, ""))).collect();
    let bench = Bench::new();
    for part in all.chunks(10) {
        let outcome = bench.check(&checked(part)).await;
        for (number, (property, wanted)) in part.iter().enumerate() {
            let found = outcome.why_vacuous(&format!("P{number}")).unwrap_or_default();
            assert_eq!((found, verdict(&outcome)), (*wanted, "holds".to_owned()), "{property}\n{:?}", outcome.bounds);
        }
    }
}

/// A review may accept such a property, or an undecided one.
#[tokio::test]
async fn properties_that_type_ok_implies_are_listed() {
    let outcome = Bench::new()
        .check(&checked(&[
            ("count <= 2", ""),
            ("Len(queue) <= 2", ""),
            ("\\A c \\in Clients : Inside(c) => (count = 7 => holders = {})", ""),
        ]))
        .await;
    assert_eq!(
        outcome.bounds.not_falsified,
        ["P0 (it says no more than TypeOK)", "P1 (it says no more than TypeOK)"],
        "{:?}",
        outcome.bounds
    );
    assert_eq!(outcome.why_vacuous("P2"), Some(TYPES));
    assert_eq!(outcome.bounds.vacuous_premises, ["P2: `count = 7` (never satisfied)"]);
}

/// Both checkers answer the same questions.
#[tokio::test]
async fn tlc_finds_the_same_properties_vacuous() {
    let properties = [
        ("[][\\A a \\in Clients : (Inside(a) /\\ pc'[a] = \"Done\") => holders' = {}]_vars", NEVER),
        ("Cardinality({b \\in Clients : pc[b] = \"Done\"}) <= 1", NEVER),
        ("Cardinality(holders) <= 1 \\/ Off", TYPES),
        ("~bad", "no variable that it reads ever changes: bad"),
        ("\\A c \\in Clients : Inside(c) => c \\in holders", ""),
    ];
    let (tlc, embedded, contradictions) = Bench::new().both(&checked(&properties)).await;
    assert_eq!(contradictions, [""; 0]);
    assert_eq!(tlc.bounds.vacuous_properties, embedded.bounds.vacuous_properties);
    assert_eq!(tlc.bounds.vacuous_premises, embedded.bounds.vacuous_premises);
    assert_eq!(embedded.bounds.vacuous_properties.len(), 4);
}

#[tokio::test]
async fn an_assertion_counts_only_if_a_step_evaluates_it() {
    let module = |condition: &str, assertion: &str| {
        format!(
            "EXTENDS Naturals, TLC\nVARIABLE n\nInit == n = 0\nTypeOK == n \\in 0..3\n\
             Next == /\\ n' = (n + 1) % 3\n        /\\ IF {condition}\n           THEN Assert({assertion}, \"low\")\n           ELSE TRUE\n\
             Other == /\\ n = 2\n         /\\ n' = 0\n         /\\ Assert(n < 9 /\\\n                   n > 1, \"two\")\n"
        )
    };
    let cfg = "INIT Init\nNEXT Next\nINVARIANT TypeOK\n\\* Assertion covers R1\n";
    let bench = Bench::new();
    for (condition, assertion, wanted) in
        [("n = 7", "n < 2", Some("no reachable step evaluates an assertion")), ("n = 2", "n < 3", None)]
    {
        let outcome = bench.check(&request(&module(condition, assertion), cfg)).await;
        assert_eq!(outcome.why_vacuous("Assertion"), wanted, "{condition}");
        let never: Vec<&String> = outcome.bounds.vacuous_premises.iter().collect();
        let listed = wanted.is_none().then_some("Assertion: `n < 9 /\\ n > 1` (evaluated by no reachable step)");
        assert_eq!(never, Vec::from_iter(listed));
    }
}
