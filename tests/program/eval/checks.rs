//! How many runs of the checker an evaluation makes. Most modules need one, whatever they violate, and no run only
//! explains a counterexample, which no report of an evaluation shows.

use std::collections::BTreeSet;
use std::sync::Mutex;

use crate::support::case::{CFG, CounterCase, PLAIN, PROPERTIES, STEP, counter, specs};
use crate::support::{Bench, Done};
use serde_json::{Value, json};
use tlaforge::eval::{Case, CheckerSlots, EvaluationContext, JudgingProgress, Specs, evaluate};
use tlaforge::process::Cancel;
use tlaforge::tla::{Cfg, Verdict};
use tlaforge::toolchain::{
    CheckRequest, EmbeddedToolchain, Limits, SeparateVerdicts, SpecText, ToolContext, ToolPaths, Toolchain,
};

/// Evaluates without Java, and logs every process.
fn eval(bench: &mut Bench, status: i32) -> (Value, Done) {
    bench.set("TLAFORGE_LOG", "info");
    let done = bench.run(&["eval", "specs", "case", "--checker", "embedded"]).expect(status);
    (serde_json::from_str(&bench.read("specs/eval_report.json")).unwrap(), done)
}

/// Number of processes of the checker for this module.
fn runs(done: &Done, module: &str) -> usize {
    let name = format!("module=\"{module}\"");
    done.stderr.lines().filter(|line| line.contains(&name) && line.contains("process started")).count()
}

fn bug<'a>(report: &'a Value, name: &str) -> &'a Value {
    let file = format!("known_bugs/{name}.tla");
    report["tier3"]["known_bugs"].as_array().unwrap().iter().find(|bug| bug["file"] == file.as_str()).unwrap()
}

const MANY: &str = "TypeOK == n \\in 0..N\nBounded == n <= N\nSmall == n < 5\nNotFive == n # 5\nNatural == n >= 0\n\
                    BySteps == [][n' = n + 1 \\/ n' = 0]_n\nNoJumps == [][n' <= n + 1]_n";
const MANY_CFG: &str = "SPECIFICATION Spec\nCONSTANT N = 3\nINVARIANTS TypeOK Bounded Small NotFive Natural\n\
                        PROPERTIES BySteps NoJumps\n";

#[test]
fn one_run_decides_all_properties_of_a_module() {
    let mut bench = Bench::without_tools();
    specs(&bench, "specs", &counter("Spec", STEP, MANY), MANY_CFG);
    CounterCase::new()
        .bug("violates_most", "n' = IF n < N THEN n + 1 ELSE IF n = N THEN 5 ELSE 0", "Bounded")
        .bug("violates_one", "n' = IF n < N THEN n + 1 ELSE 1", "BySteps")
        .bug("violates_all", "n' = IF n = 0 THEN 5 ELSE IF n = 5 THEN -2 ELSE 3", "Bounded")
        .write(&bench, "case");
    let (report, done) = eval(&mut bench, 0);
    for (name, killed_by) in [
        ("violates_most", &["TypeOK", "Bounded", "Small", "NotFive", "BySteps", "NoJumps"][..]),
        ("violates_one", &["BySteps"]),
        ("violates_all", &["TypeOK", "Bounded", "Small", "NotFive", "Natural", "BySteps", "NoJumps"]),
    ] {
        let bug = bug(&report, name);
        assert_eq!((&bug["outcome"], &bug["killed_by"]), (&"killed".into(), &json!(killed_by)), "{bug}");
        assert_eq!(bug["inconclusive"], json!([]));
        assert_eq!(runs(&done, name), 1, "{}", done.stderr);
    }
    assert_eq!(runs(&done, "Counter"), 1, "the reference: {}", done.stderr);
    assert_eq!(runs(&done, "Spec"), 1, "the specification itself: {}", done.stderr);
}

#[test]
fn a_violation_of_the_specification_itself_is_not_explained() {
    let mut bench = Bench::without_tools();
    let wrong = PROPERTIES.replace("n <= N", "n < N").replace("0..N + 9", "0..N");
    specs(&bench, "specs", &counter("Spec", STEP, &wrong), CFG);
    CounterCase::with_a_bug().write(&bench, "case");
    let (report, done) = eval(&mut bench, 1);
    assert!(report["tier1"]["invariants"]["reason"].as_str().unwrap().contains("invariant Bounded"), "{report}");
    assert_eq!(report["tier1"]["type_ok"]["status"], "passed", "{report}");
    // All properties at once, then the invariants and the witness; and the type invariant alone.
    assert_eq!(runs(&done, "Spec"), 4, "{}", done.stderr);
}

const PROPERTIES_OF_ALL_KINDS: &str = "TypeOK == n \\in Int\nBounded == n <= N\nFar == n # 6\nFine == n < 100\n\
    Guarded == /\\ n \\in 0..N\n           /\\ <<1, 1, 1, 1>>[n + 1] = 1\n\
    Broken == <<1, 1, 1, 1, 1>>[IF n = 5 THEN 6 ELSE 1] = 1\nAlways == [](n # 5)\nSteps == [][n' = n + 1]_n\n\
    Jumps == [][n' <= n + 1]_n\nFromZero == n = 0 /\\ [][n' # 3]_n\nComesBack == []<>(n = 0)\nGetsFar == <>(n = 6)\n";

/// Finds the violated properties like an evaluation, by runs of which each leaves out what the earlier ones found. Returns them
/// with what ended the search, and the number of runs.
fn find_violated(tools: &EmbeddedToolchain, request: &CheckRequest, each: bool) -> (BTreeSet<String>, String, usize) {
    let limits = Limits::default();
    let cancel = Cancel::new();
    let cx = ToolContext { limits: &limits, cancel: &cancel, progress: &|_| {} };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (mut request, mut violated, mut runs) = (request.clone(), BTreeSet::new(), 0);
    loop {
        runs += 1;
        let decided = if each {
            runtime.block_on(tools.decide_each(&request, &cx)).unwrap()
        } else {
            let rest = runtime.block_on(tools.decide(&request, &cx)).unwrap();
            SeparateVerdicts { violated: Vec::new(), rest }
        };
        let mut found = decided.violated;
        let verdict = decided.rest.outcome.verdict;
        found.extend(match &verdict {
            Verdict::Violated { violated } => violated.property().map(str::to_owned),
            _ => None,
        });
        for list in [&mut request.cfg.invariants, &mut request.cfg.properties] {
            list.retain(|name| !found.contains(name));
        }
        request.cfg_text = request.cfg.render();
        let known = violated.len();
        violated.extend(found);
        let has_progress = violated.len() > known;
        let none_left = request.cfg.invariants.is_empty() && request.cfg.properties.is_empty();
        if none_left || !has_progress || (each && verdict == Verdict::Holds) {
            let end = if none_left { "none left".to_owned() } else { format!("{verdict:?}") };
            return (violated, end, runs);
        }
    }
}

#[test]
fn continuing_finds_what_runs_without_the_violated_properties_find() {
    let env = |_: &str| None;
    let paths = ToolPaths { jar: None, java: None, env: &env };
    let tools = EmbeddedToolchain::new(env!("CARGO_BIN_EXE_tlaforge").into(), &paths);
    let up = "n' = IF n < 9 THEN n + 1 ELSE 0";
    let fair = |module: String| module.replace("[Next]_n", "[Next]_n /\\ WF_n(Next)");
    let all = "TypeOK Bounded Far Fine Guarded";
    let mut together = 0;
    // Step, further definitions and configuration, invariants, temporal properties, most runs.
    for (step, more, cfg, invariants, temporal, most) in [
        (up, "", "", all, "Steps Jumps FromZero", 1),
        (up, "", "", all, "Always Steps", 2),
        (up, "", "", "TypeOK Bounded Broken Far Guarded", "Steps", 3),
        (up, "", "", "TypeOK Broken", "Steps", 2),
        (up, "", "", all, "Steps ComesBack GetsFar", 3),
        ("n' = n + 1", "Low == n < 6", "CONSTRAINT Low", all, "Steps Jumps FromZero", 2),
        ("n' = n + 1", "Low == n < 6", "CONSTRAINT Low", "TypeOK Fine", "Steps", 1),
        (up, "Half == n % 8", "VIEW Half", all, "", 1),
        (up, "Half == n % 8", "VIEW Half", all, "Steps", 3),
        ("n < 6 /\\ n' = n + 1", "", "", all, "Steps Jumps", 2),
        ("n < 6 /\\ n' = n + 1", "", "CHECK_DEADLOCK FALSE", all, "Steps ComesBack GetsFar", 3),
        ("n' = IF n < 6 THEN n + 1 ELSE <<0>>[n]", "", "", all, "Steps", 2),
        ("n' = IF n < 6 THEN n + 1 ELSE CHOOSE x \\in {} : TRUE", "", "", "Bounded Far", "", 2),
        (STEP, "", "", all, "Jumps", 1),
    ] {
        let text = fair(counter("M", step, &format!("{PROPERTIES_OF_ALL_KINDS}{more}\n")));
        let properties = if temporal.is_empty() { String::new() } else { format!("PROPERTIES {temporal}\n") };
        let cfg_text = format!("{PLAIN}{cfg}\nINVARIANTS {invariants}\n{properties}");
        let spec = SpecText { name: "M".to_owned(), text, local_modules: Vec::new() };
        let request = CheckRequest { spec, cfg: Cfg::parse(&cfg_text).unwrap(), cfg_text };
        let (expected, expected_end, _) = find_violated(&tools, &request, false);
        let (found, end, runs) = find_violated(&tools, &request, true);
        assert_eq!((&found, &end), (&expected, &expected_end), "{step} {cfg} {invariants} {temporal}");
        assert!(!end.contains("Inconclusive"), "{step} {cfg} {invariants} {temporal}: {end}");
        assert!(runs <= most, "{runs} runs: {step} {cfg} {invariants} {temporal}: {found:?}, {end}");
        together += found.len();
    }
    assert!(together > 20, "{together} violated properties: the test has gone blind");
}

#[test]
fn the_progress_counts_the_checks() {
    let bench = Bench::without_tools();
    specs(&bench, "specs", &counter("Spec", STEP, PROPERTIES), CFG);
    CounterCase::with_a_bug().bug("harmless", STEP, "Bounded").write(&bench, "case");
    let env = |_: &str| None;
    let paths = ToolPaths { jar: None, java: None, env: &env };
    let tools = EmbeddedToolchain::new(env!("CARGO_BIN_EXE_tlaforge").into(), &paths);
    let (specs, case) = (Specs::load(&bench.path("specs")).unwrap(), Case::load(&bench.path("case")).unwrap());
    let seen: Mutex<Vec<JudgingProgress>> = Mutex::default();
    let (cancel, slots) = (Cancel::new(), CheckerSlots::new(2));
    let context = EvaluationContext {
        tools: &tools,
        quick_tools: &tools,
        limits: Limits::default(),
        cancel: &cancel,
        progress: &|_| {},
        on_progress: &|now| seen.lock().unwrap().push(now),
        slots: &slots,
        bug_slots: &slots,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(evaluate(&specs, &case, &context)).unwrap();
    let seen = seen.into_inner().unwrap();
    let JudgingProgress { bugs, references, judged, checks, .. } = *seen.last().unwrap();
    assert_eq!((bugs, references, judged, checks), (2, 1, 3, 3));
    assert!(seen.iter().all(|now| now.judged <= now.checks), "{seen:?}");
}
