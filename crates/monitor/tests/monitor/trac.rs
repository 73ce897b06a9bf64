//! Monitors over whole runs: verdicts, resets, witnesses, labelers, scores, and the synthetic traces.

use serde_json::{Value as Json, json};
use tlaforge_monitor::labels::{
    CombinedLabeler, FieldLabeler, LabelError, Labeler, Labelled, Labels, Observed, PatternLabeler, Scope,
    StickyLabeler, TextPart, WordLabeler,
};
use tlaforge_monitor::score::{Finding, Score, ScoreSummary};
use tlaforge_monitor::synthetic::{Shape, Synthetic, Wording, pattern_constraints};
use tlaforge_monitor::trac::{Decision, Limits, Monitor, MonitorError, Reset, StepReport};
use tlaforge_temporal::{FinalVerdict, Formulas, PrefixVerdict, Record, Value};

fn monitor(reset: Reset, rules: &[&str]) -> Monitor {
    let mut monitor = Monitor::new(reset);
    for (i, rule) in rules.iter().enumerate() {
        add(&mut monitor, &format!("r{i}"), rule);
    }
    monitor
}

fn add(monitor: &mut Monitor, name: &str, rule: &str) {
    let mut formulas = Formulas::new();
    let formula = formulas.parse(rule).unwrap();
    monitor.add(name, &formulas, formula).unwrap();
}

/// A step at which these propositions are true, separated by blanks.
fn step(monitor: &mut Monitor, names: &str) -> Vec<StepReport> {
    let labels: Labels = names.split_whitespace().collect();
    monitor.step(&Observed { input: "go on", output: names, record: &labels })
}

fn events(reports: &[StepReport]) -> Vec<&'static str> {
    let event = |report: &StepReport| match report.decision {
        Some(Decision::Violated) => "v",
        Some(Decision::Satisfied) => "s",
        None => "",
    };
    reports.iter().map(event).collect()
}

#[test]
fn evaluates_every_row_of_the_published_monitor_table() {
    let vectors: Json = serde_json::from_str(include_str!("../../../temporal/tests/data/progression.json")).unwrap();
    let mut rows = 0;
    for row in vectors["monitor"].as_array().unwrap() {
        let (id, expect) = (row["id"].as_str().unwrap(), &row["expect"]);
        let Some(formulas) = row.get("formulas").and_then(Json::as_array) else {
            // Two rows with state formulas, which labelers replace here.
            assert!(id.starts_with("state_formula"), "{id}");
            continue;
        };
        let reset = if row["kw"]["auto_recovery"] == json!(false) { Reset::Never } else { Reset::AfterVerdict };
        let propositions: Vec<&str> = row["props"].as_array().unwrap().iter().map(|p| p.as_str().unwrap()).collect();
        let mut labeler = WordLabeler::new(propositions.iter().copied(), TextPart::Output, Scope::LastStep).unwrap();
        let rules: Vec<String> =
            formulas.iter().map(|f| f.as_str().unwrap().replace("living room", "\"living room\"")).collect();
        let mut monitor = monitor(reset, &rules.iter().map(String::as_str).collect::<Vec<_>>());
        let (mut seen, mut verdicts) = (Vec::new(), Vec::new());
        for step in row["steps"].as_array().unwrap() {
            let output = step["action"].as_str().unwrap();
            let labels = labeler.label(&Observed { input: "", output, record: &Labels::new() }).unwrap();
            let reports = monitor.step(&Observed { input: "", output, record: &labels });
            seen.push(json!(events(&reports)));
            verdicts.push(json!(
                reports
                    .iter()
                    .map(|r| i64::from(r.verdict == PrefixVerdict::Satisfied)
                        - i64::from(r.verdict == PrefixVerdict::Violated))
                    .collect::<Vec<_>>()
            ));
        }
        if let Some(events) = expect.get("events") {
            assert_eq!(&json!(seen), events, "{id}");
        }
        if let Some(events) = expect.get("events_first_three") {
            assert_eq!(&json!(seen[..3]), events, "{id}");
        }
        if let Some(expected) = expect.get("verdicts") {
            assert_eq!(&json!(verdicts), expected, "{id}");
        }
        if let Some(violations) = expect.get("violations") {
            let counted: u64 = monitor.rules().iter().map(tlaforge_monitor::trac::RuleState::violations).sum();
            assert_eq!(&json!(counted), violations, "{id}");
        }
        rows += 1;
    }
    assert_eq!(rows, 8);
}

#[test]
fn a_deciding_step_can_open_the_next_obligation() {
    let mut monitor = monitor(Reset::AfterVerdict, &["G (p -> X q)"]);
    assert_eq!(events(&step(&mut monitor, "p")), [""]);
    assert_eq!(events(&step(&mut monitor, "p")), ["v"]);
    assert_eq!(&*monitor.residual("r0").unwrap(), "q & G (p -> X q)", "the second p opens an obligation of its own");
    assert_eq!(events(&step(&mut monitor, "q")), [""]);
    assert_eq!(&*monitor.residual("r0").unwrap(), "G (p -> X q)");
    step(&mut monitor, "p");
    assert_eq!(events(&step(&mut monitor, "")), ["v"]);
    assert_eq!(monitor.rule("r0").unwrap().violations(), 2);
    assert_eq!(monitor.ending("r0"), Some(FinalVerdict::PresumablySatisfied));
}

#[test]
fn satisfaction_is_reset_too() {
    let mut monitor = monitor(Reset::AfterVerdict, &["F (p & X F q)"]);
    let seen: Vec<_> = ["p", "p q", "q", "q", "p", "q"].map(|s| events(&step(&mut monitor, s))[0]).into();
    // The q of the second step closes the first obligation, and its p opens the next.
    assert_eq!(seen, ["", "s", "s", "", "", "s"]);
    assert_eq!(monitor.rule("r0").unwrap().satisfactions(), 3);
}

#[test]
fn without_reset_a_verdict_stays_and_counts_once() {
    let mut monitor = monitor(Reset::Never, &["G !p", "F q"]);
    for (names, seen) in [("p", ["v", ""]), ("", ["", ""]), ("p q", ["", "s"]), ("p q", ["", ""])] {
        assert_eq!(events(&step(&mut monitor, names)), seen);
    }
    let verdicts: Vec<PrefixVerdict> = step(&mut monitor, "").iter().map(|r| r.verdict).collect();
    assert_eq!(verdicts, [PrefixVerdict::Violated, PrefixVerdict::Satisfied]);
    assert_eq!((monitor.rules()[0].violations(), monitor.rules()[1].satisfactions()), (1, 1));
    assert_eq!(monitor.prefix_verdict(), PrefixVerdict::Violated);
    assert_eq!(monitor.ending("r0"), Some(FinalVerdict::Violated));
}

#[test]
fn a_monitor_without_rules_is_satisfied() {
    let mut monitor = Monitor::new(Reset::AfterVerdict);
    assert!(step(&mut monitor, "p").is_empty());
    assert_eq!(monitor.prefix_verdict(), PrefixVerdict::Satisfied);
    assert!(monitor.rank().is_empty() && monitor.residual("none").is_none() && monitor.ending("none").is_none());
}

#[test]
fn a_witness_lists_the_steps_that_changed_the_residual() {
    let mut monitor = monitor(Reset::Never, &["G (edit -> X tlc)"]);
    step(&mut monitor, "read");
    step(&mut monitor, "edit");
    step(&mut monitor, "tlc");
    step(&mut monitor, "edit read");
    let reports = step(&mut monitor, "read");
    let explanation = reports[0].explanation.as_ref().unwrap();
    let told: Vec<_> =
        explanation.entries.iter().map(|e| (e.step, &*e.output, e.labels.join(" "), &*e.before, &*e.after)).collect();
    let (start, open) = ("G (edit -> X tlc)", "tlc & G (edit -> X tlc)");
    assert_eq!(
        told,
        [
            (2, "edit", "edit".to_owned(), start, open),
            (3, "tlc", "tlc".to_owned(), open, start),
            (4, "edit read", "edit".to_owned(), start, open),
            (5, "read", String::new(), open, "false"),
        ]
    );
    assert_eq!(&*explanation.entries[0].input, "go on");
}

#[test]
fn a_reset_begins_a_new_witness() {
    let mut monitor = monitor(Reset::AfterVerdict, &["G (p -> X q)"]);
    step(&mut monitor, "p");
    let reports = step(&mut monitor, "p");
    assert_eq!(reports[0].explanation.as_ref().unwrap().entries.len(), 2);
    let new = &monitor.rule("r0").unwrap().explanation().entries;
    assert_eq!(new.iter().map(|e| (e.step, &*e.after)).collect::<Vec<_>>(), [(2, "q & G (p -> X q)")]);
}

#[test]
fn witnesses_are_bounded() {
    let mut monitor = monitor(Reset::Never, &["G (p -> F q)"]).with_limits(Limits { entries: 10, text: 3 });
    for i in 0..1_000 {
        step(&mut monitor, if i % 2 == 0 { "p" } else { "q äöü" });
    }
    let explanation = monitor.rule("r0").unwrap().explanation();
    assert_eq!((explanation.entries.len(), explanation.dropped), (10, 990));
    assert_eq!(&*explanation.entries[9].output, "q ä…");
}

#[test]
fn rules_can_be_added_and_removed_during_a_run() {
    let mut monitor = monitor(Reset::Never, &["F a"]);
    step(&mut monitor, "b");
    add(&mut monitor, "later", "F b");
    let mut formulas = Formulas::new();
    let formula = formulas.parse("F b").unwrap();
    assert_eq!(monitor.add("later", &formulas, formula), Err(MonitorError::DuplicateName("later".to_owned())));
    let past = formulas.parse("O b").unwrap();
    let refused = monitor.add("past", &formulas, past).unwrap_err();
    assert_eq!(refused.to_string(), "rule `past`: `O` has no meaning in progression");
    assert_eq!(
        monitor.ending("later"),
        Some(FinalVerdict::PresumablyViolated),
        "what was before it came does not count"
    );
    assert_eq!(events(&step(&mut monitor, "a")), ["s", ""]);
    let gone = monitor.remove("r0").unwrap();
    assert_eq!((gone.name(), gone.satisfactions()), ("r0", 1));
    assert!(monitor.remove("r0").is_none());
    assert_eq!(events(&step(&mut monitor, "b")), ["s"]);
    assert_eq!(monitor.propositions(), ["b"]);
}

#[test]
fn ranks_rules_by_debt() {
    let mut monitor = monitor(Reset::Never, &["G !z", "F a", "F (a & X F (b & X F c))", "G !x", "F a & F b"]);
    step(&mut monitor, "x");
    let order: Vec<String> = monitor.rank().iter().map(|(name, _)| name.to_string()).collect();
    assert_eq!(order, ["r3", "r2", "r4", "r1", "r0"]);
    let (violated, residual_cost) = monitor.residual_cost();
    assert_eq!((violated, residual_cost.steps, residual_cost.obligations), (1, 3, 6));
    step(&mut monitor, "a");
    assert!(
        monitor.residual_cost() < (violated, residual_cost),
        "a candidate that comes closer has a smaller residual"
    );
    assert_eq!(
        monitor.residual_in_words("r2").unwrap(),
        "at some step from now on `b` must hold, and at some step after that step, `c` must hold"
    );
    monitor.restart();
    assert_eq!((monitor.steps(), monitor.prefix_verdict()), (0, PrefixVerdict::Undecided));
}

#[test]
fn memory_stays_bounded_if_every_step_opens_obligations() {
    let mut monitor = monitor(Reset::Never, &["F (p & X X X X X X X X X X X X X X X X X X X X X X X X q)"]);
    let mut rng = fastrand::Rng::with_seed(1);
    for _ in 0..20_000 {
        step(&mut monitor, if rng.bool() { "p" } else { "" });
    }
    assert!(monitor.formulas().len() < 600_000);
    assert_eq!(monitor.ending("r0"), Some(FinalVerdict::PresumablyViolated));
}

fn words(propositions: &[&str], scope: Scope, texts: &[&str]) -> Vec<Vec<String>> {
    let mut labeler = WordLabeler::new(propositions.iter().copied(), TextPart::Output, scope).unwrap();
    labels(&mut labeler, texts)
}

fn labels(labeler: &mut dyn Labeler, texts: &[&str]) -> Vec<Vec<String>> {
    let label = |output: &&str| {
        let labels = labeler.label(&Observed { input: "in", output, record: &Labels::new() }).unwrap();
        labels.truths().map(str::to_owned).collect()
    };
    texts.iter().map(label).collect()
}

#[test]
fn a_proposition_is_true_if_all_its_words_occur() {
    let seen = words(
        &["go", "living room"],
        Scope::LastStep,
        &["go to kitchen", "good morning", "GO now", "go.", "room for living", "the Living-Room", "living", ""],
    );
    let go = vec!["go".to_owned()];
    let room = vec!["living room".to_owned()];
    assert_eq!(seen, [go.clone(), vec![], go.clone(), go, room.clone(), room, vec![], vec![]]);
    let seen = words(&["living room"], Scope::History, &["living", "room", ""]);
    assert_eq!(seen.iter().map(Vec::len).collect::<Vec<_>>(), [0, 1, 1]);
    assert!(matches!(WordLabeler::new(["a", " - "], TextPart::Both, Scope::LastStep), Err(LabelError::NoWord(_))));
}

#[test]
fn labels_by_patterns_fields_and_lasting_propositions() {
    let propositions = [("number", r"\b\d+\b"), ("end", r"(?i)done$")];
    let mut patterns = PatternLabeler::new(propositions, TextPart::Output, Scope::LastStep).unwrap();
    assert_eq!(labels(&mut patterns, &["got 12", "DONE"]), [["number"], ["end"]]);
    let mut history = PatternLabeler::new([("both", r"(?s)a.*b")], TextPart::Output, Scope::History).unwrap();
    assert_eq!(labels(&mut history, &["a", "x", "b"]).iter().map(Vec::len).collect::<Vec<_>>(), [0, 0, 1]);
    history.restart();
    assert_eq!(labels(&mut history, &["b"]), [Vec::<String>::new()]);
    let error = PatternLabeler::new([("open", "(")], TextPart::Output, Scope::LastStep).unwrap_err();
    assert!(error.to_string().contains("the pattern of `open`"), "{error}");

    let inner = WordLabeler::new(["key", "door"], TextPart::Output, Scope::LastStep).unwrap();
    let mut sticky = StickyLabeler::new(inner, ["key"]);
    assert_eq!(labels(&mut sticky, &["take key", "door"]), [vec!["key"], vec!["door", "key"]]);
    sticky.restart();
    assert_eq!(labels(&mut sticky, &["door"]), [["door"]]);
}

struct Fields(&'static [(&'static str, Value<'static>)]);

impl Record for Fields {
    fn field(&self, name: &str) -> Option<Value<'_>> {
        self.0.iter().find(|(field, _)| *field == name).map(|(_, value)| value.clone())
    }
}

#[test]
fn propositions_are_defined_over_fields() {
    let mut fields =
        FieldLabeler::new([("passed", "status = \"passed\" & errors = 0"), ("bad", "!(errors = 0)")]).unwrap();
    let record =
        Fields(&[("status", Value::Text(std::borrow::Cow::Borrowed("passed"))), ("errors", Value::Number(0.0))]);
    let labels = fields.label(&Observed { input: "", output: "", record: &record }).unwrap();
    assert_eq!(labels.truths().collect::<Vec<_>>(), ["passed"]);
    let labelled = Labelled { labels: &labels, record: &record };
    let mut monitor = monitor(Reset::Never, &["F (passed & errors < 1)"]);
    assert_eq!(monitor.step_record(&labelled)[0].verdict, PrefixVerdict::Satisfied);
    for (definition, error) in [
        ("status = ", "the definition of `d`: column 10: expected a formula, found the end"),
        ("F x", "the definition of `d` must be about one step, but has `F`"),
        ("@A(x)", "the definition of `d` must be about one step, but has `@`"),
    ] {
        assert_eq!(FieldLabeler::new([("d", definition)]).unwrap_err().to_string(), error);
    }
    let words = WordLabeler::new(["go"], TextPart::Both, Scope::LastStep).unwrap();
    let mut together = CombinedLabeler(vec![Box::new(fields), Box::new(words)]);
    let both = together.label(&Observed { input: "go", output: "", record: &record }).unwrap();
    assert_eq!(both.truths().collect::<Vec<_>>(), ["go", "passed"]);
}

#[test]
fn reads_labels_from_json() {
    let labels =
        Labels::from_json(&json!({"a": true, "b": "yes", "c": 0, "d": 1, "e": "", "f": [], "g": false})).unwrap();
    assert_eq!(labels.truths().collect::<Vec<_>>(), ["a", "b", "d"]);
    assert_eq!(Labels::from_json(&json!(["a", "b"])).unwrap().truths().count(), 2);
    let error = Labels::from_json(&json!({ "p": null })).unwrap_err();
    assert_eq!(error.to_string(), "`p`: a label must be true or false, found null");
    assert!(Labels::from_json(&json!(3)).is_err() && Labels::from_json(&json!([1])).is_err());
}

#[test]
fn scores_an_audit_against_a_reference() {
    let finding = |rule: &str, step, decision| Finding { rule: rule.to_owned(), step, decision };
    let (v, s) = (Decision::Violated, Decision::Satisfied);
    let reference = [finding("a", 1, v), finding("a", 4, v), finding("b", 2, s), finding("b", 3, s)];
    let audit = [finding("a", 1, v), finding("a", 1, v), finding("a", 5, v), finding("b", 2, s), finding("b", 3, v)];
    let score = Score::compare(&audit, &reference);
    assert_eq!(score, Score { true_positives: 2, false_positives: 2, false_negatives: 2 });
    assert_eq!((score.precision(), score.recall(), score.f1()), (0.5, 0.5, 0.5));
    let empty = Score::compare(&[], &[]);
    assert_eq!((empty.precision(), empty.recall(), empty.f1()), (1.0, 1.0, 1.0));
    let missed = Score::compare(&[], &reference);
    assert_eq!((missed.precision(), missed.recall(), missed.f1()), (0.0, 0.0, 0.0));
    let invented = Score::compare(&audit, &[]);
    assert_eq!((invented.precision(), invented.recall(), invented.f1()), (0.0, 0.0, 0.0));
    assert_eq!(score.plus(missed).false_negatives, 6);
    let summary = ScoreSummary::new(&[score, empty]).unwrap();
    assert_eq!((summary.runs, summary.mean), (2, 0.75));
    assert!((summary.interval - 1.96 * 0.25).abs() < 1e-12);
    assert!(ScoreSummary::new(&[]).is_none());
}

fn judged(case: &Synthetic) -> Vec<bool> {
    let mut monitor = Monitor::new(Reset::Never);
    for (i, constraint) in case.constraints.iter().enumerate() {
        let mut formulas = Formulas::new();
        let formula = constraint.parse(&mut formulas).unwrap();
        monitor.add(&format!("c{i}"), &formulas, formula).unwrap();
    }
    for record in case.trace.records() {
        monitor.step_record(&record);
    }
    (0..case.constraints.len()).map(|i| monitor.ending(&format!("c{i}")).unwrap().holds()).collect()
}

#[test]
fn monitors_are_exact_on_the_synthetic_traces() {
    let seeds = if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { 40 } else { 4 };
    let (mut cases, mut judgements, mut satisfied) = (0, 0, 0);
    let mut check = |case: &Synthetic, what: &str| {
        let found = judged(case);
        assert_eq!(found, case.truths, "{what}");
        for (constraint, truth) in case.constraints.iter().zip(&case.truths) {
            assert_eq!(constraint.holds(&case.trace), *truth, "{what}: {}", constraint.formula());
        }
        cases += 1;
        judgements += found.len();
        satisfied += found.iter().filter(|truth| **truth).count();
    };
    for seed in 0..seeds {
        for shape in [Shape::Sequence, Shape::Tree(4)] {
            for truth in [true, false] {
                for gap in [1, 10, 100, 1_000] {
                    check(&Synthetic::elasticity(shape, gap, truth, seed), &format!("{shape:?} gap {gap} seed {seed}"));
                }
                for entities in [1, 5, 20] {
                    let case = Synthetic::propositions(shape, entities, truth, seed);
                    check(&case, &format!("{shape:?} {entities} entities seed {seed}"));
                }
            }
            for count in [1, 5, 10, 20] {
                let case = Synthetic::constraints(shape, count, seed);
                check(&case, &format!("{shape:?} {count} constraints seed {seed}"));
            }
        }
        for shape in pattern_constraints() {
            for truth in [true, false] {
                check(&Synthetic::pattern(shape, truth, seed), &format!("{shape:?} seed {seed}"));
            }
        }
    }
    println!("{cases} traces, {judgements} judgements, {satisfied} satisfied");
}

#[test]
fn synthetic_traces_are_reproducible_and_have_wordings() {
    let case = Synthetic::pattern(Shape::Response, true, 7);
    assert_eq!(case, Synthetic::pattern(Shape::Response, true, 7));
    assert_ne!(case, Synthetic::pattern(Shape::Response, true, 8));
    assert_eq!(case.trace.steps.len(), 200);
    let sentences = case.trace.sentences();
    assert!(sentences[4].starts_with("Step 5: Observed a"), "{}", sentences[4]);
    assert_eq!(case.trace.json_lines().lines().count(), 200);
    let entities = Synthetic::propositions(Shape::Sequence, 3, true, 1);
    assert!(entities.trace.sentences()[0].contains("Entity 3: "));
    for shape in pattern_constraints() {
        let case = Synthetic::pattern(shape, true, 3);
        let wordings = case.constraints[0].wordings();
        println!("{}\n{}", wordings.informal, wordings.precise_with_formula);
        assert!(wordings.precise_with_formula.ends_with(&case.constraints[0].formula()));
        assert_eq!(wordings.precise, case.constraints[0].wording(Wording::Precise));
    }
}
