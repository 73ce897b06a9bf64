//! `tlaforge eval --suite --inspect-log`: a log of Inspect AI.

use serde_json::{Value, json};

use crate::support::case::{CFG, CounterCase, PROPERTIES, STEP, counter, specs};
use crate::support::{Bench, Done, project, valid_by_schema};

/// Cases of every kind: one that is judged (`good`, one bug of two), one with no known bugs (`no_bugs`), one that is
/// vacuous, and three that are not judged.
fn suite() -> Bench {
    let bench = Bench::without_tools();
    let mut good = CounterCase::with_a_bug().bug("harmless", STEP, "Bounded").file("docs/more/b.md", "# B\n\nMore.\n");
    good.checklist["concern"] = json!("counting");
    good.write(&bench, "evals/good");
    CounterCase::new().write(&bench, "evals/no_bugs");
    CounterCase::with_a_bug().write(&bench, "evals/vacuous");
    CounterCase::with_a_bug().write(&bench, "evals/no_run");
    CounterCase::with_a_bug().without("docs/counter.md").write(&bench, "evals/no_docs");
    let mut limited = CounterCase::with_a_bug();
    limited.checklist["tlc_constraints"]["max_states"] = json!(2);
    limited.write(&bench, "evals/undecided");
    for case in ["good", "no_bugs", "undecided"] {
        specs(&bench, &format!("runs/{case}"), &counter("Spec", STEP, PROPERTIES), CFG);
    }
    specs(&bench, "runs/vacuous", &counter("Spec", STEP, PROPERTIES), "SPECIFICATION Spec\nCONSTANT N = 3\n");
    bench
}

fn eval(bench: &Bench, log: &str) -> Done {
    bench.run(&["eval", "--suite", "evals", "--runs", "runs", "--checker", "embedded", "--inspect-log", log])
}

/// Whether there is a `null`, which readers of Inspect do not accept everywhere. What is below `metadata` is ours.
fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(all) => all.iter().any(has_null),
        Value::Object(fields) => fields.iter().any(|(name, value)| name != "metadata" && has_null(value)),
        _ => false,
    }
}

/// Reads a log that is valid by the schema of Inspect, and has no field that Inspect does not know.
fn read(bench: &Bench, file: &str) -> Value {
    let log: Value = serde_json::from_str(&bench.read(file)).unwrap();
    let path = project().join("tests/data/inspect/eval-log-schema.json");
    let mut schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    // Inspect ignores a field that it does not know, so a misspelt one would be lost in silence.
    let mut classes: Vec<&mut Value> = schema["$defs"].as_object_mut().unwrap().values_mut().collect();
    classes.retain(|class| class["type"] == "object" && class.get("additionalProperties").is_none());
    for class in classes {
        class["additionalProperties"] = json!(false);
    }
    schema["additionalProperties"] = json!(false);
    valid_by_schema(&schema, &log).unwrap_or_else(|e| panic!("{e}: {log:#}"));
    assert!(!has_null(&log), "{log:#}");
    for wrong in ["sampels", "score"] {
        let mut other = log.clone();
        other["samples"][0][wrong] = json!({});
        assert!(valid_by_schema(&schema, &other).is_err(), "the schema is no rubber stamp");
    }
    log
}

fn sample<'a>(log: &'a Value, case: &str) -> &'a Value {
    log["samples"].as_array().unwrap().iter().find(|sample| sample["id"] == case).expect(case)
}

#[test]
fn each_case_is_a_sample_with_its_scores() {
    let bench = suite();
    eval(&bench, "log.json").expect(2);
    let log = read(&bench, "log.json");
    assert_eq!((&log["version"], &log["status"]), (&json!(2), &json!("success")));
    assert_eq!((&log["eval"]["task"], &log["eval"]["dataset"]["name"]), (&json!("tlaforge-evals"), &json!("evals")));
    assert_eq!(log["eval"]["model"], "unknown");
    assert!(log["stats"]["started_at"].as_str() <= log["stats"]["completed_at"].as_str());
    let good = sample(&log, "good");
    assert_eq!(good["input"], "Case good: Counter\n\nConcern: counting\n\nDocuments:\n\n- counter.md\n- more/b.md");
    assert_eq!(good["target"], "approved");
    let output = good["output"]["completion"].as_str().unwrap();
    assert!(output.contains("; within N = 3; no constraint; no symmetry;"), "a verdict has its bounds: {output}");
    assert_eq!(good["messages"][1]["content"], output);
    let value = |name: &str| good["scores"][name]["value"].as_f64();
    assert_eq!(["score", "tier_1", "tier_2", "tier_3"].map(value), [0.8, 1.0, 1.0, 0.5].map(Some));
    let missed = good["scores"]["tier_3"]["explanation"].as_str().unwrap();
    assert!(missed.contains("1 of 2") && missed.contains("harmless.tla: survived, should violate Bounded"), "{missed}");
    assert_eq!(good["metadata"]["tier3"]["detected"], 1);
    assert_eq!(good["error"], Value::Null);
}

#[test]
fn a_case_that_is_not_judged_is_an_error_and_has_no_score() {
    let bench = suite();
    eval(&bench, "log.json").expect(2);
    let log = read(&bench, "log.json");
    let errors = [
        ("no_run", "not evaluated: it has no recording, and runs has no run of it"),
        ("no_docs", "evals/no_docs/docs: contains no document"),
        ("undecided", "4 distinct states exceed the case's limit of 2"),
    ];
    for (case, why) in errors {
        let sample = sample(&log, case);
        assert_eq!(sample["scores"], Value::Null, "{case}");
        assert!(sample["error"]["message"].as_str().unwrap().contains(why), "{sample:#}");
    }
    let remedy = sample(&log, "no_docs")["error"]["traceback"].as_str().unwrap();
    assert!(remedy.contains("add the documents of the protocol there"), "{remedy}");
    // Vacuous is a verdict; without known bugs, a score would be invented.
    assert_eq!(sample(&log, "vacuous")["scores"]["score"]["value"], 0.0);
    let without_bugs = sample(&log, "no_bugs")["scores"].as_object().unwrap();
    assert_eq!(without_bugs.keys().collect::<Vec<_>>(), ["tier_1", "tier_2"]);
    let results = &log["results"];
    assert_eq!((&results["total_samples"], &results["completed_samples"]), (&json!(6), &json!(3)));
    let [score, tier1, ..] = results["scores"].as_array().unwrap().as_slice() else { panic!("{results:#}") };
    assert_eq!((&score["scored_samples"], &score["unscored_samples"]), (&json!(2), &json!(4)));
    assert_eq!((&score["metrics"]["mean"]["value"], &tier1["scored_samples"]), (&json!(0.4), &json!(3)));
    assert_eq!(log["eval"]["metrics"], json!([{ "name": "mean" }]));
    // The mean of the suite, as the table says it.
    let done = bench.run(&["eval", "--suite", "evals", "--runs", "runs", "--checker", "embedded"]).expect(2);
    done.prints(&["Score of the suite: 0.40 to 0.60 (the mean of the scored cases)"]);
}

/// The demo's case with a recording that names its model and tokens.
fn recorded_suite() -> Bench {
    let bench = Bench::without_tools();
    let case = project().join("evals/rw_lock");
    for (file, content) in crate::support::folder::snapshot(&case) {
        bench.write(&format!("evals/rw_lock/{}", file.strip_prefix(&case).unwrap().display()), content);
    }
    let recording = "evals/rw_lock/recording/run.jsonl";
    let add = |(at, line): (usize, &str)| {
        let mut answer: Value = serde_json::from_str(line).unwrap();
        answer["model"] = json!(if at == 0 { "model-a" } else { "model-b" });
        // The tokens of model-b are not all known.
        if at != 1 {
            answer["usage"] = json!({"input": 100, "output": 20, "cache_read": 3, "cache_write": 0});
        }
        format!("{answer}\n")
    };
    let lines: String = bench.read(recording).lines().enumerate().map(add).collect();
    bench.write(recording, lines);
    bench
}

#[test]
fn models_and_tokens_come_from_the_recording_as_far_as_they_are_known() {
    let bench = recorded_suite();
    std::fs::create_dir(bench.path("logs")).unwrap();
    let done = bench.run(&["eval", "--suite", "evals", "--checker", "embedded", "--inspect-log", "logs"]).expect(0);
    let names: Vec<String> = std::fs::read_dir(bench.path("logs"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let [name] = names.as_slice() else { panic!("{names:?}") };
    // `inspect view` lists no other names.
    let at = name.split_once("+00-00_tlaforge-evals_").expect(name).0;
    let digits = at.replace(|c: char| c.is_ascii_digit(), "0");
    assert_eq!(digits, "0000-00-00T00-00-00");
    done.says(&[&format!("note: the log is logs/{name}")]);
    let log = read(&bench, &format!("logs/{name}"));
    assert_eq!(log["eval"]["model"], "model-a, model-b");
    assert_eq!(log["samples"][0]["output"]["model"], "model-a, model-b");
    let usage = &log["samples"][0]["model_usage"];
    assert_eq!(usage, &log["stats"]["model_usage"]);
    let tokens = |name: &str| ["input_tokens", "output_tokens", "total_tokens"].map(|kind| usage[name][kind].as_u64());
    assert_eq!(tokens("model-a"), [100, 20, 123].map(Some));
    assert_eq!(usage["model-b"], Value::Null, "tokens that are not all known are not stated: {usage:#}");
    assert_eq!(log["samples"][0]["metadata"]["models"]["model-b"]["answers"], 3);
}

#[test]
fn inspect_itself_reads_the_log() {
    // Its packages take 300 MB, so only a campaign installs them.
    if std::env::var_os("TLAFORGE_CAMPAIGN").is_none() {
        return;
    }
    let bench = suite();
    std::fs::create_dir(bench.path("logs")).unwrap();
    eval(&bench, "logs").expect(2);
    let script = "import inspect_ai.log as log\n\
                  for name in log.list_eval_logs('logs'):\n    \
                      assert log.read_eval_log(name, header_only=True).results.completed_samples == 3\n    \
                      whole = log.read_eval_log(name)\n    \
                      for sample in whole.samples:\n        \
                          print(sample.id, bool(sample.error), sorted(sample.scores or {}))\n    \
                      means = lambda: [(s.name, s.scored_samples, s.metrics['mean'].value) for s in whole.results.scores]\n    \
                      ours = means()\n    \
                      log.recompute_metrics(whole)\n    \
                      print(ours == means(), whole.results.completed_samples, means()[0])\n";
    let mut python = std::process::Command::new(project().join("target/inspect/bin/python"));
    let done = Done::of(&python.args(["-c", script]).current_dir(bench.dir.path()).output().unwrap()).expect(0);
    let all = "['score', 'tier_1', 'tier_2', 'tier_3']";
    let lines = format!(
        "good False {all}\nno_bugs False ['tier_1', 'tier_2']\nno_docs True []\nno_run True []\nundecided True []\n\
         vacuous False ['score', 'tier_1']\nTrue 3 ('score', 2, 0.4)\n"
    );
    assert_eq!(done.stdout, lines, "{}", done.stderr);
}

#[test]
fn a_log_that_cannot_be_written_is_refused_before_the_suite_starts() {
    let bench = suite();
    bench.write("file", "");
    for (log, why) in [
        ("nowhere/log.json", "its folder does not exist"),
        ("file/log.json", "its folder does not exist"),
        ("log.eval", "Inspect knows the format by the ending, which must be .json"),
    ] {
        let done = eval(&bench, log).expect(2).says(&[&format!("cannot write the log {log}: {why}")]);
        assert!(!done.stderr.contains("evaluating"), "{}", done.stderr);
    }
    bench.run(&["eval", "runs/good", "evals/good", "--inspect-log", "log.json"]).expect(2).says(&["--suite"]);
}
