//! All witnesses of a configuration are decided by one run. The answers are those of runs that check the negation of one
//! witness as their only invariant.

use tlaforge::tla::{Cfg, CheckOutcome, Reached, Verdict, WitnessOutcome};
use tlaforge::toolchain::{CheckReport, CheckRequest, ToolContext, Toolchain};

use super::bench::{Bench, request};
use super::suites::{pairs, translated_request};

/// One witness that no state satisfies, one that cannot be evaluated, and an invariant that ends the main run at once.
const FURTHER: &str = "
TestNever == FALSE
TestBroken == [i \\in {1} |-> i][2] = 2
TestFails == FALSE
TestNot == ~";

/// The negation of this witness as the only invariant.
async fn decide_alone(bench: &Bench, tools: &dyn Toolchain, request: &CheckRequest, witness: &str) -> Reached {
    let mut alone = request.clone();
    alone.spec.text = alone.spec.text.replace("TestNot == ~", &format!("TestNot == ~{witness}"));
    alone.cfg = Cfg {
        invariants: vec!["TestNot".to_owned()],
        properties: Vec::new(),
        witnesses: Vec::new(),
        check_deadlock: Some(false),
        ..alone.cfg
    };
    let cx = ToolContext { limits: &bench.limits, cancel: &bench.cancel, progress: &|_| {} };
    let outcome = tools.check_without_details(&alone, &cx).await.unwrap().outcome;
    match outcome.verdict {
        Verdict::Holds => Reached::No,
        Verdict::Violated { .. } => Reached::Yes { depth: outcome.trace.expect("a trace").steps.len() },
        Verdict::Invalid { .. } | Verdict::Inconclusive { .. } => Reached::Unknown(String::new()),
    }
}

/// The witnesses without the reason of those that are not decided.
fn without_reasons(outcome: CheckOutcome) -> Vec<(String, Reached)> {
    let plain = |witness: WitnessOutcome| match witness.reached {
        Reached::Unknown(_) => (witness.name, Reached::Unknown(String::new())),
        reached => (witness.name, reached),
    };
    outcome.witnesses.into_iter().map(plain).collect()
}

fn with_definitions(mut request: CheckRequest, witnesses: &[&str]) -> CheckRequest {
    let end = request.spec.text.rfind("\n====").expect("the module's end");
    request.spec.text.insert_str(end, FURTHER);
    request.cfg.witnesses.extend(witnesses.iter().map(|name| (*name).to_owned()));
    request
}

/// The specification without the definition for [`decide_alone`], which lacks its end.
fn complete(request: &CheckRequest) -> CheckRequest {
    let mut complete = request.clone();
    complete.spec.text = complete.spec.text.replace("TestNot == ~", "");
    complete
}

async fn check_text(bench: &Bench, tools: &dyn Toolchain, request: &CheckRequest) -> CheckReport {
    let cx = ToolContext { limits: &bench.limits, cancel: &bench.cancel, progress: &|_| {} };
    tools.check(request, &cx).await.unwrap()
}

#[tokio::test]
async fn one_run_answers_as_one_run_for_each_witness() {
    let bench = Bench::new();
    let tools = bench.embedded();
    let project = crate::support::project();
    let mut compared = 0;
    let mut cases: Vec<_> = std::fs::read_dir(project.join("evals")).unwrap().flatten().collect();
    cases.sort_by_key(std::fs::DirEntry::path);
    let step = if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { 1 } else { 3 };
    for case in cases.into_iter().step_by(step) {
        for (module, cfg) in pairs(&case.path().join("expected"), None) {
            let request = translated_request(&bench, &tools, &module, &cfg).await;
            let request = with_definitions(request, &["TestNever", "TestBroken"]);
            let mut alone = Vec::new();
            for name in &request.cfg.witnesses {
                alone.push((name.clone(), decide_alone(&bench, &tools, &request, name).await));
            }
            // The main run decides them, or, because the main run ends at once, a run of their own.
            let mut fails = complete(&request);
            fails.cfg.invariants.push("TestFails".to_owned());
            for request in [complete(&request), fails] {
                let outcome = check_text(&bench, &tools, &request).await.outcome;
                assert_eq!(without_reasons(outcome), alone, "{}", module.display());
            }
            compared += alone.len();
        }
    }
    assert!(compared >= 20 / step, "{compared}");
}

const LEVELS: &str = "EXTENDS Naturals
VARIABLES x, y
Init == x \\in {0, 1} /\\ y = 0
Next == (x < 6 /\\ x' = x + 2 /\\ y' = y) \\/ (x > 3 /\\ x' = x - 3 /\\ y' = 1 - y)
Spec == Init /\\ [][Next]_<<x, y>>
PrintT(value) == value
First == x = 1
Third == x = 5
Also == x \\in {4, 5} /\\ y = 0
Fourth == y = 1
Few == x < 6";

#[tokio::test]
async fn tlc_decides_all_witnesses_in_one_run() {
    let bench = Bench::new();
    let tools = bench.java();
    let cfg = "SPECIFICATION Spec\nCONSTRAINT Few\n\\* WITNESS First Third Also Fourth\n";
    let all_reached = with_definitions(request(LEVELS, cfg), &[]);
    let all = [(&[][..], 1), (&["TestNever"], 1), (&["TestNever", "TestBroken"], 7)];
    let some = if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { &all[..] } else { &all[2..] };
    for &(further, run_count) in some {
        let mut request = all_reached.clone();
        request.cfg.witnesses.extend(further.iter().map(|name| (*name).to_owned()));
        let mut alone = Vec::new();
        for name in &request.cfg.witnesses {
            alone.push((name.clone(), decide_alone(&bench, &tools, &request, name).await));
        }
        let report = check_text(&bench, &tools, &complete(&request)).await;
        assert_eq!(without_reasons(report.outcome), alone);
        let runs = report.output.lines().filter(|line| line.starts_with("==== witness")).count();
        // One that cannot be evaluated ends the run, so each gets its own.
        assert_eq!(runs, run_count, "{}", report.output);
    }
}
