//! Larger bounds: after a check in which all properties hold, the same properties with one constant enlarged.

use std::time::Duration;

use crate::support::counter::{self, CFG, INVARIANTS, MODULE, WITNESSES, fenced, good, sections};
use crate::support::forged::{forged, genuine};
use crate::support::in_process::{EventClock, InProcess, served_by};
use crate::support::model_server::{ModelServer, Reply, Seen};
use crate::support::{Bench, Script, name, outcome};
use serde_json::{Value, json};

/// The script of a run that tried larger bounds; these were not decided, and these not started in time.
fn recorded(script: Script, timed_out: &[&str], unjudged: &[&str]) -> Script {
    script.timing(json!([{"node": "model_check", "place": 0, "attempt": 1, "larger_bounds": true,
        "timed_out": timed_out, "unjudged": unjudged}]))
}

fn with_properties(properties: &str) -> Script {
    let text = INVARIANTS.replace("NeverAbove == n <= Max", properties);
    good().answer("generate_invariants", 0, 1, "draft", &sections(&text, "", WITNESSES, CFG))
}

/// The review accepts these larger bounds.
fn accepting(script: Script, accepted: &[&str]) -> Script {
    let review = json!({"verdict": "approved", "summary": "s", "issues": [], "accepted_bounds": accepted});
    script.answer("review", 0, 1, "draft", &review.to_string()).having_read_all()
}

/// Holds for 2, and is violated for 3.
fn broken(accepted: &[&str]) -> Script {
    recorded(accepting(with_properties("NeverAbove == n <= 2"), accepted), &[], &[])
}

fn event(bench: &Bench, wanted: &str) -> Value {
    bench.journal("specs").iter().rfind(|e| name(e) == wanted).unwrap()["data"].clone()
}

fn results(bench: &Bench) -> Value {
    event(bench, "check_finished")["outcome"]["larger_bounds"].clone()
}

fn with_result(result: &Value) -> Value {
    json!([{"constant": "Max", "value": "3", "result": result}])
}

fn facts(bench: &Bench) -> String {
    bench.read("specs/workspace/facts.md")
}

#[test]
fn properties_that_also_hold_with_a_larger_bound_are_reported_so() {
    let bench = counter::bench();
    let done = bench.forge(&recorded(good(), &[], &[]), &[]).expect(0);
    // 0 to 3, and the end.
    let line = "larger bounds: all properties also hold with Max = 3 (5 states)\n";
    done.prints(&["  within: Max = 2; ", line]);
    assert_eq!(results(&bench), with_result(&json!({"holds": {"states": 5}})));
    assert!(facts(&bench).contains("\n## Larger bounds\n\n- all properties also hold with Max = 3 (5 states)\n"));
    assert!(bench.read("specs/tlc_output.txt").contains("===== with Max = 3 ====="));
    // The verdict is that of the check alone.
    let check = event(&bench, "check_finished")["outcome"].clone();
    assert_eq!((&check["statistics"]["distinct"], &check["bounds"]["constants"]["Max"]), (&json!(4), &json!("2")));
    assert_eq!(event(&bench, "guard_evaluated")["facts"]["unaccepted_bounds"], json!([]));
    genuine(&bench);
    let report = bench.run(&["report", "specs", "--format", "json"]).expect(0).stdout;
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["revisions"][0]["check"]["larger_bounds"], results(&bench));
}

#[test]
fn a_set_gets_one_element_more_also_with_symmetry() {
    let module = MODULE
        .replace("EXTENDS Naturals\nCONSTANT Max", "EXTENDS Naturals, TLC\nCONSTANTS Max, Procs")
        .replace("n := n + 1;", "with p \\in Procs do n := n + 1; last := {p}; end with;")
        .replace("variables n = 0;", "variables n = 0; last = {};");
    let invariants = format!("Perms == Permutations(Procs)\n{INVARIANTS}Last == last \\subseteq Procs\n");
    let cfg =
        CFG.replace("Max = 2", "Max = 2 Procs = {p1, p2}").replace("NeverAbove", "NeverAbove Last\nSYMMETRY Perms");
    let script = good().answer("formalize", 0, 1, "draft", &fenced(&module)).answer(
        "generate_invariants",
        0,
        1,
        "draft",
        &sections(&invariants, "", WITNESSES, &cfg),
    );
    let bench = counter::bench();
    let script = accepting(script, &["Max = 3: nothing new can happen"]);
    bench.forge(&recorded(script, &["Max = 3"], &[]), &[]).expect(0).prints(&[
        "larger bounds: all properties also hold with Procs = {p1, p2, p3} (",
        "larger bounds: not decided within their share of the time: Max = 3\n",
    ]);
    // The check counts each orbit once, so three processes have as many states as two.
    let check = event(&bench, "check_finished")["outcome"].clone();
    let states = &results(&bench)[1]["result"]["holds"]["states"];
    assert_eq!(*states, check["statistics"]["distinct"], "{check}");
}

#[test]
fn a_bound_that_breaks_a_property_prevents_the_approval_unless_the_review_accepts_it_by_name() {
    for accepted in [&[][..], &["Max"], &["Max = 2"], &["Max = 30"], &["NeverAbove"]] {
        let bench = counter::bench();
        bench.forge(&broken(accepted), &["--max-revisions", "0"]).expect(1);
        let guard = event(&bench, "guard_evaluated");
        assert_eq!(guard["clause"], "larger_bounds_accepted", "{accepted:?}");
        assert_eq!(guard["facts"]["unaccepted_bounds"], json!(["Max = 3"]));
        assert_eq!(outcome(&bench.journal("specs")), "not_approved");
        genuine(&bench);
    }
    let bench = counter::bench();
    let done = bench.forge(&broken(&["Max = 3: the documents say at most 2"]), &[]).expect(0);
    done.prints(&[
        "larger bounds: with `Max = 3` instead of 2, `NeverAbove` is violated\n",
        "rev_0: the larger bound Max = 3: the documents say at most 2\n",
    ]);
    let facts = facts(&bench);
    let words = "- with `Max = 3` instead of 2, `NeverAbove` is violated. Either have this value used";
    assert!(facts.contains(words) && facts.contains("n = 3"), "{facts}");
    assert!(facts.contains("does not accept (name them in `accepted_bounds`, each with a reason): Max = 3"), "{facts}");
    let result = &results(&bench)[0]["result"]["violated"];
    assert_eq!(result["violated"], json!({"kind": "invariant", "name": "NeverAbove"}));
    let steps = result["trace"]["steps"].as_array().unwrap();
    let actions: Vec<&Value> = steps.iter().map(|step| &step["action"]).collect();
    assert_eq!(actions, [&Value::Null, &json!("Add"), &json!("Add"), &json!("Add")]);
    assert!(bench.read("specs/review.md").contains("## Larger bounds accepted\n\n- Max = 3: the documents"));
    genuine(&bench);
}

#[test]
fn a_forged_approval_with_a_broken_bound_is_refused() {
    let bench = counter::bench();
    bench.forge(&broken(&["Max = 3: the documents say at most 2"]), &[]).expect(0);
    let review = "/facts/review/accepted_bounds";
    let done = forged(&bench, ("attempt_finished", "review"), review, &json!([])).expect(1);
    done.prints(&["larger_bounds_accepted"]);
    let held = recorded(good(), &[], &[]);
    let bench = counter::bench();
    bench.forge(&held, &[]).expect(0);
    let broken = json!({"violated": {"violated": {"kind": "deadlock", "name": null}, "trace": null}});
    let done = forged(&bench, ("check_finished", "model_check"), "/outcome/larger_bounds/0/result", &broken).expect(1);
    done.prints(&["larger_bounds_accepted"]);
}

#[test]
fn a_bound_that_an_assumption_excludes_is_said_to_be_excluded() {
    let module = MODULE.replace("CONSTANT Max", "CONSTANT Max\nASSUME Max < 3");
    let script = good().answer("formalize", 0, 1, "draft", &fenced(&module));
    let bench = counter::bench();
    let done = bench.forge(&recorded(script, &[], &[]), &[]).expect(0);
    done.prints(&["larger bounds: excluded by an ASSUME: Max = 3\n"]);
    assert_eq!(results(&bench), with_result(&json!("excluded")));
}

#[test]
fn a_property_that_cannot_be_evaluated_with_a_larger_bound_prevents_the_approval() {
    let script = with_properties("NeverAbove == n <= Max /\\ <<5, 6>>[Max] > 4");
    let bench = counter::bench();
    let done = bench.forge(&recorded(script, &[], &[]), &["--max-revisions", "0"]).expect(1);
    done.prints(&["larger bounds: with `Max = 3` instead of 2, an expression cannot be evaluated"]);
    assert_eq!(event(&bench, "guard_evaluated")["clause"], "larger_bounds_accepted");
    assert_eq!(results(&bench)[0]["result"]["violated"]["violated"]["kind"], "evaluation", "{}", results(&bench));
}

#[test]
fn a_bound_with_which_no_step_is_possible_holds_nothing() {
    let module = MODULE.replace("n := n + 1;", "await Max < 3; n := n + 1;");
    let script = good().answer("formalize", 0, 1, "draft", &fenced(&module));
    let bench = counter::bench();
    let done = bench.forge(&recorded(script, &[], &[]), &[]);
    let shown = results(&bench)[0]["result"].to_string();
    assert!(!shown.contains("holds"), "{shown}\n{}", done.stdout);
}

#[test]
fn a_replay_starts_no_check_that_was_late_and_tries_nothing_without_a_record_of_it() {
    let accepted = || accepting(good(), &["Max = 3: nothing new can happen"]);
    let bench = counter::bench();
    let done = bench.forge(&recorded(accepted(), &["Max = 3"], &[]), &[]).expect(0);
    done.prints(&["not decided within their share of the time: Max = 3\n"]);
    assert_eq!(results(&bench), with_result(&json!("too_large")));
    assert!(!bench.read("specs/tlc_output.txt").contains("with Max = 3"));

    let bench = counter::bench();
    let done = bench.forge(&recorded(accepted(), &[], &["Max = 3"]), &[]).expect(0);
    done.prints(&["not tried, because no time was left"]);
    assert_eq!(results(&bench), with_result(&json!("not_tried")));
    genuine(&bench);
    let event = ("attempt_finished", "review");
    forged(&bench, event, "/facts/review/accepted_bounds", &json!([])).expect(1).prints(&["larger_bounds_accepted"]);

    // Of what was not decided nothing is known, so it is accepted by name as well.
    for (late, unjudged) in [(&["Max = 3"][..], &[][..]), (&[], &["Max = 3"])] {
        let bench = counter::bench();
        let script = recorded(accepting(good(), &["Max = 2: the same"]), late, unjudged);
        bench.forge(&script, &["--max-revisions", "0"]).expect(1).prints(&["Outcome: not approved", "Max = 3"]);
        assert!(
            facts(&bench).contains("- not decided or not tried: `Max = 3`. For each, either accept"),
            "{}",
            facts(&bench)
        );
    }

    for (script, more) in [(good(), &[][..]), (recorded(good(), &[], &[]), &["--bounds-budget", "off"])] {
        let bench = counter::bench();
        let done = bench.forge(&script, more).expect(0);
        assert!(results(&bench).is_null() && !done.stdout.contains("larger bounds"), "{}", done.stdout);
        assert!(!facts(&bench).contains("Larger bounds"));
    }
}

#[test]
fn nothing_is_tried_after_a_violation() {
    let bench = counter::bench();
    let script = recorded(with_properties("NeverAbove == n <= 1"), &[], &[]);
    bench.forge(&script, &["--max-revisions", "0"]).expect(1);
    assert!(results(&bench).is_null());
}

/// Otherwise an approval would rest on properties that were never checked with larger bounds.
#[test]
fn properties_on_trial_are_checked_with_larger_bounds_too() {
    let properties = "\\* covers R1\nFromZero == n = 0\n\\* covers R1\nOneByOne == [][n' = n + 1]_n\n";
    let cfg = CFG.replace("\\*", "PROPERTIES FromZero OneByOne\n\\*");
    let answer = sections(INVARIANTS, properties, WITNESSES, &cfg);
    let script = good().answer("generate_invariants", 0, 2, "strengthen", &answer);
    let of = |attempt: u32| json!({"node": "model_check", "place": 0, "attempt": attempt, "larger_bounds": true});
    let bench = counter::bench();
    bench.forge(&script.timing(json!([of(1), of(2)])), &["--strengthen"]).expect(0);
    let check = event(&bench, "check_finished")["outcome"].clone();
    assert!(check["properties"].as_array().unwrap().contains(&json!("OneByOne")), "{check}");
    assert_eq!(check["larger_bounds"], with_result(&json!({"holds": {"states": 5}})));
}

/// A live run of `docs/` that is recorded.
fn live(answers: impl FnMut(&Seen) -> Reply + Send + 'static, more: &[&str]) -> Bench {
    live_until(answers, more, 0)
}

/// The same, and it ends with this status.
fn live_until(answers: impl FnMut(&Seen) -> Reply + Send + 'static, more: &[&str], status: i32) -> Bench {
    let server = ModelServer::start(answers);
    let bench = counter::bench();
    let url = server.url();
    let args = ["run", "docs", "--out", "specs", "--provider", "openai", "--model", "m", "--base-url", &url];
    bench.run(&[&args[..], &["--record", "record.jsonl"], more].concat()).expect(status);
    bench
}

/// The recording's replay in a new folder.
fn replayed(recorded: &Bench) -> Bench {
    replayed_until(recorded, 0)
}

/// The same, and it ends with this status.
fn replayed_until(recorded: &Bench, status: i32) -> Bench {
    let bench = counter::bench();
    bench.write("record.jsonl", recorded.read("record.jsonl"));
    let args = ["run", "docs", "--out", "specs", "--recording", "record.jsonl", "--max-revisions", "0"];
    bench.run(&args).expect(status);
    bench
}

#[test]
fn a_live_run_tries_larger_bounds_within_its_budget_and_its_replay_decides_the_same() {
    let bench = live(counter::answers, &["--bounds-budget", "1m"]);
    assert_eq!(results(&bench), with_result(&json!({"holds": {"states": 5}})));
    assert_eq!(results(&replayed(&bench)), results(&bench));

    // With a limit of 3 there is no end in a second.
    let endless = |seen: &Seen| {
        if seen.system().contains("You write PlusCal") {
            return Reply::text(fenced(&MODULE.replace("n < Max", "n < (IF Max > 2 THEN 100000000 ELSE Max)")));
        }
        if seen.system().contains("You write what a specification must satisfy") {
            let invariants =
                "TypeOK == n \\in Int /\\ pc \\in {\"Add\", \"Done\"}\n\\* covers R1\nNeverAbove == n >= 0\n";
            return Reply::text(sections(invariants, "", WITNESSES, CFG));
        }
        counter::answers(seen)
    };
    // No review accepts it.
    let bench = live_until(endless, &["--bounds-budget", "1", "--max-revisions", "0"], 1);
    assert_eq!(results(&bench), with_result(&json!("too_large")));
    assert_eq!(results(&replayed_until(&bench, 1)), results(&bench));
}

#[test]
fn nothing_is_tried_if_the_check_took_longer_than_the_budget() {
    let bench = counter::bench();
    let server = ModelServer::start(counter::answers);
    // A wait by this clock would panic.
    let live = InProcess::new(served_by(&server), EventClock::new(&bench, &[]), 1);
    InProcess { bounds_budget: Duration::from_nanos(1), ..live }.run(&bench);
    assert_eq!(results(&bench), with_result(&json!("not_tried")));
}

#[test]
fn the_budget_is_a_setting_and_a_flag() {
    let bench = counter::bench();
    bench.write("tlaforge.toml", "bounds_budget = \"off\"\n");
    bench.forge(&recorded(good(), &[], &[]), &[]).expect(0);
    assert!(results(&bench).is_null());

    let bench = counter::bench();
    bench.write("tlaforge.toml", "bounds_budget = \"off\"\n");
    bench.forge(&recorded(good(), &[], &[]), &["--bounds-budget", "2m"]).expect(0);
    assert!(results(&bench).is_array());
    assert_eq!(bench.events("specs")[0]["data"]["command_line"]["bounds_budget"], 120);

    let bench = counter::bench();
    bench.run(&["run", "docs", "--bounds-budget", "soon"]).expect(2).says(&["it must be like 90s, 45m or 2h, or off"]);
    bench.write("tlaforge.toml", "bounds_budget = true\n");
    bench.run(&["run", "docs"]).expect(2).says(&["it must be like 90s, 45m or 2h, or off"]);
}

#[test]
fn a_larger_bound_with_too_many_states_is_not_decided() {
    let late = json!([{"node": "model_check", "place": 0, "attempt": 1, "larger_bounds": true, "too_many_states": ["Max = 3"]}]);
    let bench = counter::bench();
    let script = accepting(good(), &["Max = 3: two show every interaction"]).timing(late.clone());
    let line = "larger bounds: not decided, because they have too many states: Max = 3 (more than 200000)\n";
    bench.forge(&script, &[]).expect(0).prints(&[line]);
    assert_eq!(results(&bench), with_result(&json!({"too_many_states": {"limit": 200_000}})));
    genuine(&bench);
    // Nobody accepts it.
    let bench = counter::bench();
    bench.forge(&good().timing(late), &["--max-revisions", "0"]).expect(1);
    assert_eq!(event(&bench, "guard_evaluated")["facts"]["unaccepted_bounds"], json!(["Max = 3"]));
}
