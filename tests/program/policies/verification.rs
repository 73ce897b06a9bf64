//! `tlaforge audit RUN --policy default` computes a journal again: what it says and does not follow from the events before
//! is named, with the event, what it says and what follows. Each test changes one thing in the journal of a genuine run.

use crate::support::counter::{MODULE, bench, fenced, good, review};
use crate::support::forged::{forged, genuine, write};
use crate::support::{Bench, Done, Script, name};
use serde_json::json;

fn under(bench: &Bench, policy: &str, script: &Script) -> Done {
    bench.write("policy.toml", policy);
    bench.forge(script, &["--policy", "policy.toml"])
}

/// One rule that a run breaks, and one that it keeps.
const POLICY: &str = "[[rule]]\nid = \"no-worker\"\nkind = \"forbidden_text\"\nparams = { text = \"a worker adds\" }\n\n\
    [[rule]]\nid = \"never-above\"\nformula = 'G !text_contains:\"never above\"'\n";

#[test]
fn verdicts_on_the_policy_are_recomputed() {
    let bench = bench();
    under(&bench, POLICY, &good()).expect(1);
    genuine(&bench);
    let end = ("run_finished", "run");
    forged(&bench, end, "/rules/1/verdict", &json!("satisfied")).expect(1).prints(&[
        "policy: VIOLATED",
        "`rules` says of `never-above`: satisfied [error], and prevented the approval; recomputed: violated [error]",
    ]);
    forged(&bench, end, "/rules/0/rule", &json!("another")).expect(1).prints(&[
        "`rules` says of `another`: presumably_satisfied [error]; recomputed: no rule of the policy",
        "`rules` says of `no-worker`: no rule of the policy; recomputed: presumably_satisfied [error]",
    ]);
    forged(&bench, end, "/rules/1/prevented_approval", &json!(false)).expect(1).prints(&["and prevented the approval"]);
    forged(&bench, end, "/rules", &json!([])).expect(1).prints(&["`rules` says of `never-above`: no rule"]);

    let violated = ("rule_violated", "run");
    forged(&bench, violated, "/severity", &json!("info"))
        .expect(1)
        .prints(&["`severity` of rule_violated is \"info\"; recomputed: \"error\""]);
    forged(&bench, violated, "/decided_at", &json!(2))
        .expect(1)
        .prints(&["`decided_at` of rule_violated is 2; recomputed"]);
    forged(&bench, violated, "/rule", &json!("no-worker")).expect(1).prints(&[
        "`no-worker` is reported as violated; by the events before it, it is not, or was reported already",
        "`never-above` [error] is violated by event",
        "and no rule_violated reports it",
    ]);
    forged(&bench, violated, "/policy", &json!("0".repeat(64)))
        .expect(1)
        .prints(&["by a policy that was not in force"]);

    // Without the artifacts, the rules cannot be recomputed: the audit says so, and recomputes the rest.
    bench.write("alone/journal.jsonl", bench.read("specs/journal.jsonl"));
    bench
        .run(&["audit", "alone", "--policy", "default", "--junit", "alone.xml"])
        .expect(0)
        .says(&["not verified: the rules of the run's policy", "artifacts/, which is not beside the journal"]);
    assert!(bench.read("alone.xml").contains("skipped=\"1\""));
}

#[test]
fn whether_the_policy_prevents_an_approval_is_recomputed() {
    let bench = bench();
    under(&bench, POLICY, &good()).expect(1);
    let routed = ("routed", "review");
    forged(&bench, routed, "/routing/violates_policy", &json!(false))
        .expect(1)
        .prints(&["routing: VIOLATED", "`routing.violates_policy` of routed is false; recomputed: true"]);
    // The whole approval forged: it follows that it was prevented.
    let mut journal = bench.events("specs");
    for event in &mut journal {
        let (of, lifeline) = (name(event).to_owned(), event["lifeline"].as_str().unwrap().to_owned());
        let data = &mut event["data"];
        match (of.as_str(), lifeline.as_str()) {
            ("attempt_finished", "review") => data["event"]["reviewed"]["violates_policy"] = json!(false),
            ("routed", "review") => {
                (data["routing"]["violates_policy"], data["event"]["reviewed"]["violates_policy"]) =
                    (json!(false), json!(false));
                (data["row"], data["to"]) = (json!("approved"), json!("approved"));
            }
            ("revision_closed" | "run_finished", _) => data["outcome"] = json!("approved"),
            _ => {}
        }
    }
    write(&bench, &journal);
    bench.run(&["audit", "forged", "--policy", "default"]).expect(1).prints(&[
        "`row` of routed is \"approved\"; recomputed: \"policy_violated\"",
        "`outcome` of run_finished is \"approved\"; recomputed: \"not_approved\"",
        "none of them violated",
    ]);

    // Where no rule is broken, nothing prevents it.
    let kept = self::bench();
    under(&kept, &POLICY[..POLICY.find("\n\n").unwrap()], &good()).expect(0);
    genuine(&kept);
    forged(&kept, routed, "/routing/violates_policy", &json!(true))
        .expect(1)
        .prints(&["`routing.violates_policy` of routed is true; recomputed: false"]);
}

#[test]
fn a_new_policy_is_verified_from_the_event_that_names_it() {
    let bench = bench();
    bench.write("late.toml", POLICY);
    bench.forge(&good(), &[]).expect(0);
    // A branch under it: what stands before is held against it, too.
    bench.write("script.jsonl", good().text());
    bench.run(&["resume", "specs", "--from", "rev_0", "--at", "review", "--policy", "late.toml"]);
    genuine(&bench);
    let violated = bench.events("specs").iter().filter(|e| name(e) == "rule_violated").count();
    assert_eq!(violated, 1);
    forged(&bench, ("rule_violated", "run"), "/severity", &json!("warning")).expect(1).prints(&["policy: VIOLATED"]);
}

#[test]
fn claims_and_routing_follow_from_earlier_events() {
    let bench = bench();
    let script =
        good().answer("formalize", 0, 1, "draft", "I am sorry.").answer("formalize", 0, 2, "repair", &fenced(MODULE));
    bench.forge(&script, &[]).expect(0);
    genuine(&bench);
    let another = json!("0".repeat(64));
    for (of, place, value, words) in [
        (
            ("attempt_finished", "informal_spec"),
            "/claims/answer",
            json!(7),
            "`claims.answer` of attempt_finished is 7; recomputed: 1",
        ),
        (
            ("attempt_finished", "formalize"),
            "/claims/made_from",
            json!(2),
            "`claims.made_from` of attempt_finished is 2",
        ),
        (
            ("attempt_finished", "formalize"),
            "/claims/source",
            another.clone(),
            "`claims.source` of attempt_finished is",
        ),
        (("attempt_finished", "model_check"), "/claims/verdict", json!("violated"), "recomputed: \"holds\""),
        (
            ("attempt_finished", "model_check"),
            "/claims/witnesses",
            json!(9),
            "`claims.witnesses` of attempt_finished is 9",
        ),
        (("attempt_finished", "review"), "/claims/uncovered", json!(3), "`claims.uncovered` of attempt_finished is 3"),
        (("attempt_finished", "validate"), "/artifacts/validated.tla", another.clone(), "as validated.tla; event"),
        (
            ("attempt_finished", "validate"),
            "/event/validated",
            json!("rejected"),
            "`event.validated` of attempt_finished is \"rejected\"",
        ),
        (
            ("tool_finished", "generate_invariants"),
            "/accepted",
            json!(false),
            "`event.merged` of attempt_finished is \"accepted\"",
        ),
        (
            ("check_finished", "model_check"),
            "/outcome/statistics/distinct",
            json!(1),
            "`claims.moved` of attempt_finished is true",
        ),
        (("check_finished", "model_check"), "/module", another, "`module` of check_finished is"),
        (("routed", "validate"), "/routing/retries", json!(1), "`routing.retries` of routed is 1; recomputed: 0"),
        (("routed", "review"), "/routing/branch_index", json!(1), "`routing.branch_index` of routed is 1"),
        (("routed", "review"), "/routing/last_branch_index", json!(9), "`routing.last_branch_index` of routed is 9"),
        (
            ("routed", "formalize"),
            "/routing/unreadable_before",
            json!(false),
            "`routing.unreadable_before` of routed is false; recomputed: true",
        ),
        (("routed", "model_check"), "/to", json!("formalize"), "`to` of routed is \"formalize\""),
        (("guard_evaluated", "review"), "/clause", json!("moved"), "`clause` of guard_evaluated is \"moved\""),
        (("revision_closed", "review"), "/rank/covered", json!(9), "`rank.covered` of revision_closed is 9"),
        (("revision_closed", "review"), "/spent/answers", json!(1), "`spent.answers` of revision_closed is 1"),
        (
            ("revision_closed", "review"),
            "/hashes/Spec.cfg",
            json!("0".repeat(64)),
            "`hashes.Spec.cfg` of revision_closed is \"0000",
        ),
        (("run_finished", "run"), "/best", json!(4), "`best` of run_finished is 4; recomputed: 0"),
    ] {
        forged(&bench, of, place, &value).expect(1).prints(&[words]);
    }
    // An event that cannot follow ends the recomputation and is reported.
    forged(&bench, ("attempt_finished", "model_check"), "/event", &json!("answered"))
        .expect(1)
        .prints(&["model_check cannot have this event here"])
        .says(&["not verified: the events after event"]);
    // An event that the schema does not allow is no event of this format.
    forged(&bench, ("attempt_finished", "model_check"), "/event", &json!("guessed"))
        .expect(2)
        .says(&["is damaged (attempt_finished cannot be understood: unknown variant `guessed`"]);
}

#[test]
fn claims_restored_on_a_branch_are_recomputed() {
    let bench = bench();
    bench.forge(&good().answer("review", 0, 1, "draft", &review("approved")).having_read_all(), &[]).expect(0);
    bench.run(&["resume", "specs", "--from", "rev_0", "--at", "review"]);
    genuine(&bench);
    forged(&bench, ("claims_restored", "model_check"), "/claims/verdict", &json!("violated"))
        .expect(1)
        .prints(&["`claims.verdict` of claims_restored is \"violated\"; recomputed: \"holds\""]);
}

/// The journal of a finished run with some of its events changed.
fn changed(bench: &Bench, change: impl FnOnce(&mut Vec<serde_json::Value>)) -> Done {
    let mut journal = bench.events("specs");
    change(&mut journal);
    write(bench, &journal);
    bench.run(&["audit", "forged", "--policy", "default"])
}

#[test]
fn groups_of_events_begin_and_end_as_they_must() {
    let bench = bench();
    bench.forge(&good(), &[]).expect(0);
    genuine(&bench);
    let journal = bench.events("specs");
    let finished = journal.iter().rposition(|e| name(e) == "attempt_finished").unwrap();
    let more = journal[finished]["more"].as_u64().unwrap();
    assert!(more > 2, "the review ends the run");
    // A group that swallows the next is one that begins with something else.
    changed(&bench, |all| all[finished - 1]["more"] = json!(more + 1))
        .expect(1)
        .prints(&["journal: VIOLATED", "attempt_finished is within a group, but has to begin one"]);
    // The group falls apart.
    changed(&bench, |all| all[finished]["more"] = json!(0))
        .expect(1)
        .prints(&["guard_evaluated begins a group, but has to follow another event in it"]);
    changed(&bench, |all| all[finished + 1]["more"] = json!(more))
        .expect(2)
        .says(&["damaged", &format!("{more} more events of its group follow, where there are {}", more - 1)]);
    // An incomplete last line is reported as such.
    changed(&bench, |all| _ = all.pop()).says(&["not verified", "an incomplete group at the end"]);
}

#[test]
fn an_unreadable_or_altered_journal_never_passes() {
    let bench = bench();
    bench.forge(&good(), &[]).expect(0);
    let of = |name_of: &str, journal: &[serde_json::Value]| journal.iter().position(|e| name(e) == name_of).unwrap();
    changed(&bench, |all| {
        let at = of("attempt_finished", all);
        all[at]["data"]["event"] = json!({"validated": "acceptedx"});
    })
    .expect(2)
    .says(&["is damaged (attempt_finished cannot be understood", "acceptedx"]);
    for (v, release) in [(2, "tlaforge 0.1 reads"), (4, "a newer tlaforge wrote")] {
        changed(&bench, |all| all[3]["v"] = json!(v))
            .expect(2)
            .says(&["line 4", &format!("version {v}, which {release}")]);
    }
    changed(&bench, |all| {
        let at = of("guard_evaluated", all);
        all[at]["data"]["guard"] = json!("approvalx");
    })
    .expect(2)
    .says(&["is damaged (guard_evaluated cannot be understood", "approvalx"]);
    changed(&bench, |all| {
        let at = of("guard_evaluated", all);
        all[at]["data"]["guard"] = json!("flaw");
        all[at]["data"]["facts"] = json!({
            "described": true, "property": "", "covers_requirement": true, "property_unchanged": true,
            "changed_since": [], "only_bounds": [], "open_bounds": [], "unfair_lasso": false, "under_fairness": null,
            "unmapped_steps": [], "unread": [],
        });
    })
    .expect(1)
    .prints(&["the group lacks the guard_evaluated of the guard `approval`"]);
    changed(&bench, |all| {
        let at = of("routed", all);
        all[at]["attempt"] = json!(5);
    })
    .expect(1)
    .prints(&["routed is {", "\"attempt\":5}; recomputed: {"]);
    // A text that is not the one that was written.
    let journal = bench.events("specs");
    let answer = journal[of("answer_received", &journal)]["data"]["artifact"].as_str().unwrap().to_owned();
    let path = format!("specs/artifacts/{answer}");
    let text = bench.read(&path);
    bench.write(&path, text.replace(' ', "  "));
    bench.run(&["audit", "specs", "--policy", "default"]).expect(1).prints(&["artifact: VIOLATED", "was altered"]);
}
