//! `--objective FILE`: revisions are ranked by it, a run that cannot reach it any more ends, and nothing else changes.

use crate::support::counter::{CFG, INVARIANTS, MODULE, WITNESSES, bench, fenced, good, issue, review, sections};
use crate::support::forged::{forged, genuine};
use crate::support::{Bench, Script, name, outcome, project};
use serde_json::{Value, json};

/// The first revision counts to 2 (4 distinct states), the second to 5 (7), each asked to be revised, the third to 3 (5).
fn growing() -> Script {
    let up_to = |max: &str| sections(INVARIANTS, "", WITNESSES, &CFG.replace("Max = 2", max));
    let more = issue("major", "cfg_mismatch", "other bounds are wanted");
    good()
        .answer("review", 0, 1, "draft", &more)
        .having_read_all()
        .answer("generate_invariants", 1, 1, "repair", &up_to("Max = 5"))
        .answer("review", 1, 1, "draft", &more)
        .having_read_all()
        .answer("generate_invariants", 2, 1, "repair", &up_to("Max = 3"))
        .answer("review", 2, 1, "draft", &more)
        .having_read_all()
}

/// The run that was made goes out of the way of another.
fn forget(bench: &Bench) {
    std::fs::remove_dir_all(bench.path("specs")).unwrap();
}

/// The same answers for a branch, which counts its passes anew: one that counts to 1 (3 states).
fn branching(bench: &Bench) {
    let counted = sections(INVARIANTS, "", WITNESSES, &CFG.replace("Max = 2", "Max = 1"));
    let script = growing().answer("generate_invariants", 0, 1, "repair", &counted);
    bench.write("script.jsonl", script.text());
}

fn steps(journal: &[Value]) -> Vec<Value> {
    journal.iter().filter(|e| name(e) == "revision_closed").map(|e| e["data"]["objective"].clone()).collect()
}

fn answers(journal: &[Value]) -> usize {
    journal.iter().filter(|e| name(e) == "answer_received").count()
}

/// The prompts of a node, by revision.
fn prompts(bench: &Bench, node: &str) -> Vec<String> {
    let sent = bench.journal("specs").into_iter().filter(|e| name(e) == "request_sent" && e["lifeline"] == node);
    sent.map(|e| bench.read(&format!("specs/artifacts/{}", e["data"]["prompt"].as_str().unwrap()))).collect()
}

#[test]
fn the_best_revision_by_the_objective_is_shown_at_the_top() {
    let without = bench();
    without.forge(&growing(), &["--max-revisions", "2"]).expect(1).prints(&["Best revision: rev_2"]);
    assert!(without.read("specs/Spec.cfg").contains("Max = 3"));
    assert!(steps(&without.journal("specs")).iter().all(Value::is_null));
    without.run(&["report", "specs"]).expect(0);

    let bench = bench();
    bench.write("small.toml", "goal = \"F (states <= 4)\"\n");
    let done = bench.forge(&growing(), &["--max-revisions", "2", "--objective", "small.toml"]).expect(1);
    done.prints(&[
        "Best revision: rev_0",
        "closer to the objective",
        "Objective: F (states <= 4)",
        "rev_0 (this one): the goal is reached",
        "states is 7",
    ]);
    assert!(bench.read("specs/Spec.cfg").contains("Max = 2"), "{}", bench.read("specs/Spec.cfg"));
    assert_eq!(bench.read("specs/Spec.cfg"), bench.read("specs/history/rev_0/Spec.cfg"));
    let journal = bench.journal("specs");
    assert_eq!(journal.last().unwrap()["data"]["best"], 0);
    let all = steps(&journal);
    let of = |key: &str| all.iter().map(|s| s[key].clone()).collect::<Vec<_>>();
    assert_eq!(of("goal"), [true, true, true]);
    assert_eq!(of("distance"), [0, 0, 0]);
    assert_eq!(all.iter().map(|s| s["metrics"]["states"].clone()).collect::<Vec<_>>(), [4, 7, 5]);
    assert_eq!(all.iter().map(|s| s["alone"]["distance"].clone()).collect::<Vec<_>>(), [0, 1, 1]);
    let meta: Value = serde_json::from_str(&bench.read("specs/history/rev_1/meta.json")).unwrap();
    assert_eq!(meta["objective"], all[1]);
    assert_eq!(all[1]["predicates"]["states <= 4"], json!({"holds": false, "robustness": -3.0}));
    let report = bench.run(&["report", "specs", "--format", "json"]).expect(0);
    let report: Value = serde_json::from_str(&report.stdout).unwrap();
    assert_eq!(
        (&report["objective"]["best"], &report["objective"]["objective"]["goal"]),
        (&json!(0), &json!("F (states <= 4)"))
    );
    bench.run(&["audit", "specs", "--policy", "default"]).expect(0).prints(&["none of them violated"]);
}

#[test]
fn a_lost_objective_ends_the_run_with_that_reason() {
    let bench = bench();
    bench.write(
        "lost.toml",
        "goal = \"G !large & F settled\"\n[predicates]\nlarge = \"states > 6\"\nsettled = \"majors < 1\"\n",
    );
    let done = bench.forge(&growing(), &["--max-revisions", "2", "--objective", "lost.toml"]).expect(1);
    done.prints(&["cannot be reached any more since rev_1", "`large` is true (states is 7)", "Best revision: rev_0"]);
    let journal = bench.journal("specs");
    assert_eq!(outcome(&journal), "not_approved");
    let routed = journal.iter().rfind(|e| name(e) == "routed").unwrap();
    assert_eq!(
        (&routed["data"]["row"], &routed["data"]["routing"]["objective_lost"]),
        (&json!("objective_lost"), &json!(true))
    );
    assert!(bench.read("specs/Spec.cfg").contains("Max = 2"));
    bench.run(&["audit", "specs", "--policy", "default"]).expect(0).prints(&["none of them violated"]);
    // One major is not fewer than one.
    assert_eq!(steps(&journal)[0]["predicates"]["settled"], json!({"holds": false, "robustness": 0.0}));
    let ended = answers(&journal);

    // The same without an early end, and without an objective: the whole run is paid for.
    let text = bench.read("lost.toml");
    bench.write("lost.toml", format!("early_end = false\n{text}"));
    forget(&bench);
    bench
        .forge(&growing(), &["--max-revisions", "2", "--objective", "lost.toml"])
        .expect(1)
        .prints(&["the limit of 2"]);
    let whole = bench.journal("specs");
    assert_eq!(steps(&whole).iter().map(|s| s["trap"].clone()).collect::<Vec<_>>(), [false, true, true]);
    assert_eq!((ended, answers(&whole)), (6, 8));
    forget(&bench);
    bench.forge(&growing(), &["--max-revisions", "2"]).expect(1);
    assert_eq!(answers(&bench.journal("specs")), 8);
}

#[test]
fn growing_metrics_or_too_few_revisions_lose_an_objective() {
    let (bench, limit) = (bench(), ["--max-revisions", "2", "--objective", "o.toml"]);
    let ends = |goal: &str, answers_until: usize, said: &[&str]| {
        bench.write("o.toml", format!("goal = \"{goal}\"\n"));
        bench.forge(&growing(), &limit).expect(1).prints(said);
        let journal = bench.journal("specs");
        assert_eq!(outcome(&journal), "not_approved", "{goal}");
        let routed = journal.iter().rfind(|e| name(e) == "routed").unwrap();
        assert_eq!((&routed["data"]["row"], answers(&journal)), (&json!("objective_lost"), answers_until), "{goal}");
        let last = steps(&journal).pop().unwrap();
        bench.run(&["audit", "specs", "--policy", "default"]).expect(0).prints(&["none of them violated"]);
        forget(&bench);
        last
    };
    // Answers are only ever more: four until the first revision closes.
    let last = ends(
        "F (majors < 1 & answers <= 4)",
        6,
        &[
            "cannot be reached any more in this run after rev_1: `answers <= 4` is false (answers is 6)",
            "what only grows: answers is 6",
            "Best revision: rev_0",
        ],
    );
    // Another run could still reach it: it is no trap of the automaton, earns nothing and ranks no revision.
    assert_eq!((&last["trap"], &last["distance"], &last["reward"]), (&json!(false), &json!(1), &json!(0.0)));
    // Three in a row, and two were left.
    let last = ends(
        "F (majors < 1 & X (majors < 1 & X majors < 1))",
        4,
        &["in this run: after rev_0 it takes at least 3 more revisions, and 2 more revisions may follow"],
    );
    assert_eq!((&last["trap"], &last["distance"]), (&json!(false), &json!(3)));
    // The last revision that may be is not stopped for being the last.
    bench.write("o.toml", "goal = \"F (majors < 1)\"\n");
    bench.forge(&growing(), &limit).expect(1).prints(&["the limit of 2 revisions"]);
}

/// The second revision's properties are rejected three times, with the configuration of the first.
fn rejected_later() -> Script {
    let torn = sections("TypeOK == n \\in \n", "", WITNESSES, CFG);
    let script = good()
        .answer("review", 0, 1, "draft", &issue("major", "cfg_mismatch", "other bounds are wanted"))
        .having_read_all()
        .answer("generate_invariants", 1, 1, "repair", &torn);
    let script = (2..=3).fold(script, |script, n| script.answer("generate_invariants", 1, n, "repair", &torn));
    script.answer("review", 1, 1, "draft", &issue("minor", "cfg_mismatch", "a comment is missing")).having_read_all()
}

#[test]
fn a_check_of_the_current_files_may_hold_after_newer_properties_were_rejected() {
    let bench = bench();
    bench.write("o.toml", "goal = \"F (holds & !parses)\"\n");
    bench.forge(&rejected_later(), &["--max-revisions", "1", "--objective", "o.toml"]);
    let told = steps(&bench.journal("specs")).pop().unwrap();
    assert_eq!((&told["metrics"]["holds"], &told["metrics"]["parses"]), (&json!(true), &json!(false)), "{told:#}");
    assert_eq!(told["met"], true);
    // The shipped example does not call that settled.
    forget(&bench);
    let settled = crate::support::project().join("docs/src/objectives/settled.toml");
    bench.forge(&rejected_later(), &["--max-revisions", "1", "--objective", settled.to_str().unwrap()]);
    let told = steps(&bench.journal("specs")).pop().unwrap();
    assert_eq!(told["predicates"]["settled"]["holds"], false, "{told:#}");
}

#[test]
fn an_objective_that_a_branch_cannot_reach_is_refused_before_it_begins() {
    let bench = bench();
    bench.forge(&growing(), &["--max-revisions", "2"]).expect(1);
    branching(&bench);
    let before = bench.journal("specs").len();
    let branch = |goal: &str, more: &[&str]| {
        bench.write("o.toml", format!("goal = \"{goal}\"\n"));
        let base = ["resume", "specs", "--from", "rev_1", "--objective", "o.toml"];
        bench.run(&[&base[..], more].concat())
    };
    // Eight answers are in, and the next revision is the third.
    branch("F (states < 4 & answers < 6)", &[]).expect(2).says(&["after rev_1 no continuation", "answers is 8"]);
    branch("F (revision = 2 & majors < 1)", &[]).expect(2).says(&["after rev_1 no continuation", "revision is 2"]);
    branch("X X X holds", &["--max-revisions", "0"])
        .expect(2)
        .says(&["after rev_1 it takes at least 2 revisions", "at most 1"]);
    branch("F (majors < 1 & revision > 3)", &["--max-revisions", "0"]).expect(2).says(&["has revisions 3 to 3"]);
    assert_eq!(bench.journal("specs").len(), before, "nothing has begun");
    // What rev_1 brought along counts: one revision is enough.
    branch("F (states = 7 & X (states = 3))", &["--max-revisions", "0"]).expect(1);
    let told = steps(&bench.journal("specs")).pop().unwrap();
    assert_eq!((&told["goal"], &told["metrics"]["states"]), (&json!(true), &json!(3)), "{told:#}");
}

#[test]
fn a_resumed_run_counts_the_revisions_that_it_can_still_close() {
    let bench = bench();
    bench.write("script.jsonl", growing().text());
    let run = ["run", "docs", "--recording", "script.jsonl", "--max-revisions", "2"];
    bench.run_with(&run, &[("TLAFORGE_CRASH", "before:4")]);
    for (goal, said) in [
        ("F (revision > 9)", "this run has revisions 0 to 2"),
        ("F (approved & X holds)", "ends with its approved revision"),
        ("X X X holds", "at least 4 revisions, and this run has at most 3"),
    ] {
        bench.write("o.toml", format!("goal = \"{goal}\"\n"));
        bench.run(&["resume", "specs", "--objective", "o.toml"]).expect(2).says(&[said, "hint: "]);
    }
    // One that the run keeps is told of: it may be approved all the same.
    bench.write("o.toml", "goal = \"X X holds\"\n");
    forget(&bench);
    bench.run_with(&[&run[..], &["--objective", "o.toml"]].concat(), &[("TLAFORGE_CRASH", "before:4")]);
    bench
        .run(&["resume", "specs", "--max-revisions", "1"])
        .says(&["it takes at least 3 revisions, and this run has at most 2", "--max-revisions 2"]);
}

#[test]
fn an_approved_revision_stays_approved_and_a_met_objective_approves_nothing() {
    let bench = bench();
    bench.write("lost.json", json!({"goal": "G few", "predicates": {"few": "states < 2"}}).to_string());
    bench.forge(&good(), &["--objective", "lost.json"]).expect(0).prints(&["Outcome: approved", "lost: the goal"]);
    assert!(steps(&bench.journal("specs"))[0]["trap"] == true);
    bench.run(&["audit", "specs", "--policy", "default"]).expect(0);

    forget(&bench);
    bench.write("met.toml", "goal = \"F holds\"\n");
    let script = good().answer("review", 0, 1, "draft", &issue("major", "missing_behavior", "m")).having_read_all();
    bench.forge(&script, &["--objective", "met.toml", "--max-revisions", "0"]).expect(1);
    assert_eq!(steps(&bench.journal("specs"))[0]["goal"], true);
}

#[test]
fn the_reviewer_sees_the_objective_only_if_there_is_one() {
    let bench = bench();
    let args = ["--max-revisions", "2"];
    bench.forge(&growing(), &args).expect(1);
    let plain = prompts(&bench, "review");
    forget(&bench);
    bench.write(
        "o.toml",
        "goal = \"F (small & X F large)\"\n[predicates]\nsmall = \"states <= 4\"\nlarge = \"states > 6\"\n",
    );
    bench.forge(&growing(), &[&args[..], &["--objective", "o.toml"]].concat()).expect(1);
    let told = prompts(&bench, "review");
    assert_eq!((plain.len(), told.len()), (3, 3));
    assert!(plain.iter().all(|p| !p.contains("objective")));
    assert!(told[0].contains("Still owed: ") && told[0].contains("`small` must hold"), "{}", told[0]);
    for (prompt, word) in [(0, "takes at least 2"), (1, "takes at least 1"), (2, "nothing: the goal is reached")] {
        assert!(told[prompt].contains(word), "{word}: {}", told[prompt]);
    }
    assert!(told[1].contains("`small` is `states <= 4`") && told[1].contains("`small` is true (states is 4)"));
    assert!(told[1].contains("`large` must hold at some step from now on"), "{}", told[1]);
    // Without the paragraph they are what they were.
    for (told, plain) in told.iter().zip(&plain) {
        let without: Vec<&str> = told.lines().filter(|line| !line.contains("The run has an objective")).collect();
        assert_eq!(without, plain.lines().collect::<Vec<_>>());
    }
}

#[test]
fn killed_and_resumed_a_run_has_the_same_steps() {
    let bench = bench();
    bench.write(
        "o.toml",
        "goal = \"G !large & F settled\"\n[predicates]\nlarge = \"states > 6\"\nsettled = \"majors < 1\"\n",
    );
    bench.forge(&growing(), &["--max-revisions", "2", "--objective", "o.toml"]).expect(1);
    let whole = bench.journal("specs");
    let at = |n: usize| whole.iter().enumerate().filter(|(_, e)| name(e) == "revision_closed").nth(n).unwrap().0;
    let result = |journal: &[Value]| {
        let finished = &journal.last().unwrap()["data"];
        let metrics = |mut step: Value| {
            step["metrics"].as_object_mut().unwrap().remove("seconds");
            step
        };
        (finished["why"].clone(), finished["best"].clone(), steps(journal).into_iter().map(metrics).collect::<Vec<_>>())
    };
    for (round, crash) in [
        format!("before:{}", at(0)),
        format!("torn:{}", at(0)),
        format!("after:{}", at(0) + 3),
        format!("before:{}", at(1) - 1),
    ]
    .into_iter()
    .enumerate()
    {
        let out = format!("killed-{round}");
        let args = ["run", "docs", "--recording", "script.jsonl", "--out", &out, "--max-revisions", "2"];
        let args = [&args[..], &["--objective", "o.toml"]].concat();
        bench.write("script.jsonl", bench.read("script.jsonl"));
        assert_ne!(bench.run_with(&args, &[("TLAFORGE_CRASH", &crash)]).status, Some(1), "{crash}");
        bench.run(&["resume", &out]).expect(1);
        assert_eq!(result(&bench.journal(&out)), result(&whole), "{crash}");
        assert_eq!(answers(&bench.journal(&out)), answers(&whole), "{crash}");
    }
    // Whoever goes on may set another one: the revision that was closed before is measured by it as well.
    bench.write("grown.toml", "goal = \"F (states > 6)\"\n");
    let crash = format!("before:{}", at(1) - 1);
    let args = ["run", "docs", "--recording", "script.jsonl", "--out", "other", "--max-revisions", "2"];
    let args = [&args[..], &["--objective", "o.toml"]].concat();
    bench.run_with(&args, &[("TLAFORGE_CRASH", &crash)]);
    let done = bench.run(&["resume", "other", "--objective", "grown.toml"]).expect(1);
    done.prints(&[
        "the limit of 2",
        "Best revision: rev_1",
        "rev_0: 1 revision from the goal",
        "rev_1 (this one): the goal",
    ]);
}

#[test]
fn a_branch_continues_its_own_line_and_a_resume_can_change_the_objective() {
    let bench = bench();
    bench.write("o.toml", "goal = \"G !large & F settled\"\nearly_end = false\n[predicates]\nlarge = \"states > 6\"\nsettled = \"majors < 1\"\n");
    bench.forge(&growing(), &["--max-revisions", "2", "--objective", "o.toml"]).expect(1);
    branching(&bench);
    // rev_1 lost it; a branch from rev_0 has not.
    bench.run(&["resume", "specs", "--from", "rev_0", "--max-revisions", "0"]).expect(1);
    let of = |journal: &[Value], rev: u64| {
        let closed = journal.iter().rfind(|e| name(e) == "revision_closed" && e["data"]["revision"] == rev);
        closed.map(|e| e["data"]["objective"].clone()).unwrap()
    };
    let journal = bench.journal("specs");
    assert_eq!((&of(&journal, 2)["trap"], &of(&journal, 3)["trap"]), (&json!(true), &json!(false)));
    assert_eq!(of(&journal, 3)["metrics"]["states"], 3);

    bench.write("other.toml", "goal = \"F (states = 7)\"\n");
    bench.run(&["resume", "specs", "--from", "rev_1", "--max-revisions", "0", "--objective", "other.toml"]).expect(1);
    let journal = bench.journal("specs");
    let branch = journal.iter().rfind(|e| name(e) == "branch_started").unwrap();
    assert_eq!(branch["data"]["objective"]["goal"], "F (states = 7)");
    // Revisions that were closed under another objective, and those of a run that had none, are measured all the same.
    assert_eq!((&of(&journal, 4)["goal"], &of(&journal, 4)["state"]), (&json!(true), &json!(1)));
    bench.run(&["report", "specs"]).expect(0).prints(&["Objective: F (states = 7)", "rev_1", "states is 7"]);
    // Each step is computed again under the objective of its time.
    genuine(&bench);
    forged(&bench, ("revision_closed", "review"), "/objective/met", &json!(false))
        .expect(1)
        .prints(&["objective: VIOLATED", "`objective.met` of revision_closed is false; recomputed: true"]);
    forged(&bench, ("run_finished", "run"), "/best", &json!(0)).expect(1).prints(&["`best` of run_finished is 0"]);
}

#[test]
fn a_branch_can_add_an_objective() {
    let bench = bench();
    bench.forge(&growing(), &["--max-revisions", "2"]).expect(1);
    branching(&bench);
    bench.write("o.toml", "goal = \"F (states >= 7)\"\n");
    let args = ["resume", "specs", "--from", "rev_1", "--max-revisions", "0", "--objective", "o.toml"];
    bench.run(&args).expect(1).prints(&["Best revision: rev_1", "rev_1 (this one): the goal is reached"]);
    assert!(bench.read("specs/Spec.cfg").contains("Max = 5"));
}

/// The objective, what is said, and the flags that the run has besides.
const WRONG: [(&str, &str, &[&str], &[&str]); 32] = [
    ("o.toml", "goal = \"F (\"", &["error: goal: ", " --> o.toml:1:12\n"], &[]),
    ("o.toml", "goal = \"F good\"\n[predicates\n", &[" --> o.toml:2:12\n"], &[]),
    ("o.json", "{\"goal\": \"F holds\",}", &["o.json", "line 1"], &[]),
    (
        "o.toml",
        "goal = \"F holds\"\nearly = true\n",
        &[" --> o.toml:2:1\n", "2 | early = true\n  | ^^^^^\n", "early_end"],
        &[],
    ),
    ("o.toml", "early_end = true\n", &["goal"], &[]),
    ("o.toml", "goal = \"F good\"\n[predicates]\ngood = \"states <\"\n", &["`good`", "column"], &[]),
    ("o.toml", "goal = \"F good\"\n[predicates]\ngood = \"F states\"\n", &["`good`"], &[]),
    (
        "o.toml",
        "goal = \"F good\"\n[predicates]\ngood = \"stats < 5\"\n",
        &["`stats`", "mutation_score", "uncovered"],
        &[],
    ),
    ("o.toml", "goal = \"F (stats < 5)\"\n", &["`stats`", "mutation_score"], &[]),
    ("o.toml", "goal = \"F good\"\n", &["no predicate is named `good`", "[predicates]", "holds"], &[]),
    ("o.toml", "goal = \"F states\"\n", &["`states`", "states > 0"], &[]),
    ("o.toml", "goal = \"F holds\"\n[predicates]\nholds = \"states > 1\"\n", &["`holds`"], &[]),
    (
        "o.toml",
        "goal = \"F holds\"\n[predicates]\na = \"states > 1\"\na = \"states > 2\"\n",
        &[" --> o.toml:4:1\n", "duplicate"],
        &[],
    ),
    (
        "o.json",
        "{\"goal\": \"F a\", \"predicates\": {\"a\": \"states > 1\", \"a\": \"states > 2\"}}",
        &["two predicates are named `a`"],
        &[],
    ),
    ("o.toml", "goal = \"F (holds & !holds)\"\n", &["can never be reached"], &[]),
    (
        "o.toml",
        "goal = \"F good\"\n[predicates]\ngood = \"states < 5 & states > 9\"\n",
        &["`F good`", "can never be reached"],
        &[],
    ),
    ("o.toml", "goal = \"F (holds & violated)\"\n", &["`F (holds & violated)` can never be reached"], &[]),
    ("o.toml", "goal = \"F (approved & (violated | vacuous | inconclusive))\"\n", &["can never be reached"], &[]),
    ("o.toml", "goal = \"F (approved & !approved_by_review)\"\n", &["can never be reached"], &[]),
    ("o.toml", "goal = \"F (answers < 1)\"\n", &["can never be reached"], &[]),
    (
        "o.toml",
        "goal = \"F (approved & X approved)\"\n",
        &["can never be reached", "ends with its approved revision"],
        &[],
    ),
    (
        "o.toml",
        "goal = \"F (revision > 9)\"\n",
        &["can never be reached", "revisions 0 to 3", "--max-revisions"],
        &["--max-revisions", "3"],
    ),
    ("o.toml", "goal = \"G (approved -> holds)\"\n", &["holds for all possible revisions"], &[]),
    ("o.toml", "goal = \"F (holds | !holds)\"\n", &["holds for all possible revisions"], &[]),
    (
        "o.toml",
        "goal = \"X X holds\"\n",
        &["at least 3 revisions", "at most 2", "--max-revisions 2"],
        &["--max-revisions", "1"],
    ),
    (
        "o.toml",
        "goal = \"F holds\"\n[rewards]\nterminal_state_reward = nan\n",
        &["terminal_state_reward", "finite"],
        &[],
    ),
    ("o.toml", "goal = \"F good\"\n[predicates]\ngood = \"cost < nan\"\n", &["`nan`"], &[]),
    ("o.toml", "goal = \"F good\"\n[predicates]\ngood = \"states < 0 / 0\"\n", &["no finite threshold"], &[]),
    ("o.toml", "goal = \"Y holds\"\n", &["goal: "], &[]),
    ("o.toml", "goal = \"F (mutation_score > 0.5)\"\n", &["`mutation_score`", "--mutants"], &[]),
    ("o.toml", "goal = \"F (cost < 5)\"\n", &["`cost`", "recording"], &[]),
    ("o.toml", "goal = \"F (tokens < 5)\"\n", &["`tokens`", "handoff"], &["--provider", "handoff"]),
];

#[test]
fn a_wrong_objective_is_refused_before_any_request() {
    let bench = bench();
    bench.write("script.jsonl", good().text());
    let base = ["run", "docs", "--recording", "script.jsonl"];
    for (file, text, said, flags) in WRONG {
        bench.write(file, text);
        let args = [&base[..], &["--objective", file], flags].concat();
        let done = bench.run(&args);
        assert_eq!(done.status, Some(2), "{text}: {}", done.stderr);
        let done = done.says(&["error: ", "hint: "]).says(said);
        assert!(done.stderr.contains(file) || done.stderr.contains("the objective"), "{text}: {}", done.stderr);
        assert!(!bench.path("specs").exists(), "{text}");
    }
    bench.run(&[&base[..], &["--objective", "none.toml"]].concat()).expect(2).says(&[
        "none.toml",
        "cannot read",
        "hint: ",
    ]);
    bench.write("o.yaml", "goal: F holds\n");
    bench.run(&[&base[..], &["--objective", "o.yaml"]].concat()).expect(2).says(&[".toml nor .json", "hint: "]);
    bench.run(&["demo", "--objective", "none.toml"]).expect(2).says(&["none.toml"]);
    let unpriced = ["run", "docs", "--provider", "openai", "--model", "unheard-of", "--base-url", "http://127.0.0.1:9"];
    bench.write("o.toml", "goal = \"F (cost < 5)\"\n");
    bench.run(&[&unpriced[..], &["--objective", "o.toml"]].concat()).expect(2).says(&["unheard-of", "--prices"]);
    assert!(!bench.path("specs").exists());
}

#[test]
fn a_resumed_run_refuses_an_objective_that_its_settings_exclude() {
    let bench = bench();
    bench.forge(&growing(), &["--max-revisions", "2"]).expect(1);
    bench.write("o.toml", "goal = \"F (mutation_score > 0.5)\"\n");
    let before = bench.read("specs/journal.jsonl");
    let args = ["resume", "specs", "--from", "rev_0", "--objective", "o.toml"];
    bench.run(&args).expect(2).says(&["`mutation_score`", "--mutants"]);
    assert_eq!(bench.read("specs/journal.jsonl"), before);
}

#[test]
fn a_metric_that_a_revision_does_not_have_makes_its_predicate_false() {
    let bench = bench();
    bench.write("o.toml", "goal = \"G !slow & F unknown\"\n[predicates]\nslow = \"seconds > 0 & states > 0\"\nunknown = \"!(states > 100)\"\n");
    // No module ever parses: nothing is checked.
    let mut script = good();
    for attempt in 1..=3 {
        let purpose = if attempt == 1 { "draft" } else { "repair" };
        script = script.answer("formalize", 0, attempt, purpose, &fenced(&MODULE.replace("n := n + 1", "n := ")));
    }
    let script = script.answer("review", 0, 1, "draft", &review("revise"));
    bench.forge(&script, &["--max-revisions", "0", "--objective", "o.toml"]).expect(1).prints(&["states is undefined"]);
    let step = &steps(&bench.journal("specs"))[0];
    assert_eq!(step["predicates"]["slow"], json!({"holds": false, "robustness": null}));
    assert_eq!(step["predicates"]["unknown"], json!({"holds": false, "robustness": null}));
    assert!(step["metrics"].get("states").is_none());
    assert_eq!(
        (&step["metrics"]["parses"], &step["distance"], &step["trap"]),
        (&json!(false), &json!(1), &json!(false))
    );
}

#[test]
fn the_shipped_examples_are_accepted_and_the_page_lists_every_metric() {
    let bench = bench();
    let path = |name: &str| project().join("docs/src/objectives").join(name).display().to_string();
    bench.forge(&good(), &["--objective", &path("settled.toml")]).expect(0).prints(&["the goal is reached"]);
    bench
        .run(&["run", "docs", "--recording", "script.jsonl", "--out", "again", "--objective", &path("noticing.toml")])
        .expect(2)
        .says(&["--mutants"]);
    // The recording has no answer for the mutants.
    bench
        .run(&[
            "run",
            "docs",
            "--recording",
            "script.jsonl",
            "--out",
            "again",
            "--strengthen",
            "--objective",
            &path("noticing.toml"),
        ])
        .expect(5);
    let page = std::fs::read_to_string(project().join("docs/src/objectives.md")).unwrap();
    let rows: Vec<String> = tlaforge::pipeline::METRICS
        .iter()
        .map(|m| format!("| `{}` | {} | {} | {} |", m.name, m.unit, m.source.words(), m.words))
        .collect();
    assert!(page.contains(&rows.join("\n")), "the table of docs/src/objectives.md is not this:\n{}", rows.join("\n"));
}

#[test]
fn an_audit_recomputes_the_steps_of_the_objective() {
    let bench = bench();
    bench.write("small.toml", "goal = \"F (states <= 4)\"\n");
    bench.forge(&growing(), &["--max-revisions", "2", "--objective", "small.toml"]).expect(1);
    let journal = bench.journal("specs");
    let forged = |event: &str, number: usize, change: &dyn Fn(&mut Value)| {
        let mut all = journal.clone();
        let at = all.iter().enumerate().filter(|(_, e)| name(e) == event).nth(number).unwrap().0;
        change(&mut all[at]["data"]);
        bench.write("forged/journal.jsonl", all.iter().map(|e| e.to_string() + "\n").collect::<String>());
        bench.run(&["audit", "forged", "--policy", "default"])
    };
    forged("run_finished", 0, &|_| {}).expect(0);
    forged("run_finished", 0, &|data| data["best"] = json!(2))
        .expect(1)
        .prints(&["objective: VIOLATED", "rev_2 is reported as the best revision; by its metrics it is rev_0"]);
    forged("revision_closed", 1, &|data| data["objective"]["goal"] = json!(false))
        .expect(1)
        .prints(&["the step of rev_1 does not follow from its metrics"]);
    // The first revision has lost this one, and the run went on.
    forged("run_started", 0, &|data| data["objective"]["goal"] = json!("G (states > 4)"))
        .expect(1)
        .prints(&["objective_lost", "recomputed: true"]);
    forged("revision_closed", 0, &|data| data["objective"]["metrics"]["states"] = json!(40))
        .expect(1)
        .prints(&["the step of rev_0 does not follow"]);

    // What was measured follows from what the tools said, also where the goal does not speak of it.
    forged("revision_closed", 0, &|data| data["objective"]["metrics"]["depth"] = json!(99))
        .expect(1)
        .prints(&["`objective.metrics.depth` of revision_closed is 99; recomputed: "]);

    // Whatever shows test results shows it as one that failed.
    forged("run_finished", 0, &|data| data["best"] = json!(2));
    bench.run(&["audit", "forged", "--policy", "default", "--junit", "forged.xml"]).expect(1);
    let xml = bench.read("forged.xml");
    let number = journal.last().unwrap()["seq"].as_u64().unwrap();
    assert!(xml.contains(&format!("name=\"objective: event {number}\"><failure message=\"rev_2 is reported")), "{xml}");
    assert!(xml.contains("failures=\"1\""), "{xml}");
    bench.run(&["audit", "specs", "--policy", "default", "--junit", "genuine.xml"]).expect(0);
    assert!(bench.read("genuine.xml").contains("failures=\"0\""));
}
