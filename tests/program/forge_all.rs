//! `tlaforge forge-all`: sets × models, a broken set, a killed call that goes on, and one cost limit for all.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;

use serde_json::Value;

use crate::support::case::CounterCase;
use crate::support::model_server::{ModelServer, Reply};
use crate::support::waiting::wait_until;
use crate::support::{Bench, Done, counter};

const CASES: [&str; 3] = ["first", "second", "third"];

/// The document of a case. No two are the same, so that a recording of another case would be noticed.
fn document(case: &str) -> String {
    format!("{}This is the {case} counter.\n", counter::DOC)
}

/// The answers of a case in its recording.
fn recorded(case: &str) -> Vec<Value> {
    static RECORDED: Mutex<BTreeMap<String, Vec<Value>>> = Mutex::new(BTreeMap::new());
    let mut recorded = RECORDED.lock().unwrap();
    let record = || {
        let bench = counter::bench();
        bench.write("docs/counter.md", document(case));
        bench.forge(&counter::good(), &[]).expect(0);
        bench.read("script.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    recorded.entry(case.to_owned()).or_insert_with(record).clone()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()) {
        let to = to.join(entry.file_name().unwrap());
        if entry.is_dir() { copy(&entry, &to) } else { std::fs::copy(&entry, &to).map(|_| ()).unwrap() }
    }
}

/// Three cases, and two models that answer from recordings; each answer of the second one costs half a dollar.
fn bench() -> Bench {
    let bench = Bench::without_tools();
    for case in CASES {
        CounterCase::with_a_bug().file("docs/counter.md", &document(case)).write(&bench, &format!("cases/{case}"));
        let lines = |cost: Option<f64>| -> String {
            let priced = |mut answer: Value| {
                answer["cost_usd"] = cost.map_or(Value::Null, Into::into);
                format!("{answer}\n")
            };
            recorded(case).into_iter().map(priced).collect()
        };
        bench.write(&format!("answers/free/{case}.jsonl"), lines(None));
        bench.write(&format!("answers/paid/{case}.jsonl"), lines(Some(0.5)));
    }
    bench.write("sets.toml", table(&CASES.map(|case| format!("[[set]]\ncase = \"cases/{case}\"\n")).concat()));
    bench
}

fn table(sets: &str) -> String {
    let model = |name: &str| format!("[[model]]\nname = \"{name}\"\nrecording = \"answers/{{model}}/{{set}}.jsonl\"\n");
    format!("{sets}\n{}{}", model("free"), model("paid"))
}

const FLAGS: [&str; 6] = ["--checker", "embedded", "--mutants", "off", "--out", "all"];

fn forge_all(bench: &Bench, more: &[&str]) -> Done {
    bench.run(&[&["forge-all"], more, &FLAGS].concat())
}

/// `run` and another field of each line of the results.
fn results(bench: &Bench, field: &str) -> Vec<(String, String)> {
    let value = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        let text = line[field].as_str().map_or_else(|| line[field].to_string(), str::to_owned);
        (line["run"].as_str().unwrap().to_owned(), text)
    };
    bench.read("all/results.jsonl").lines().map(value).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(run, value)| ((*run).to_owned(), (*value).to_owned())).collect()
}

fn answers(bench: &Bench, run: &str) -> usize {
    let journal = std::fs::read_to_string(bench.path(&format!("all/{run}/journal.jsonl"))).unwrap_or_default();
    journal.matches("\"answer_received\"").count()
}

#[test]
fn every_set_is_forged_with_every_model_and_nothing_is_begun_twice() {
    let bench = bench();
    let broken = "[[set]]\nname = \"broken\"\ndocs = \"none\"\n";
    bench.write("sets.toml", bench.read("sets.toml") + broken);
    let done = forge_all(&bench, &["sets.toml", "--jobs", "3"]).expect(2);
    let states = results(&bench, "state");
    let ended = |model: &str| CASES.map(|case| (format!("{model}/{case}"), "ended".to_owned())).to_vec();
    let failed = |model: &str| vec![(format!("{model}/broken"), "failed".to_owned())];
    assert_eq!(states, [ended("free"), failed("free"), ended("paid"), failed("paid")].concat());
    assert!(results(&bench, "outcome").iter().all(|(run, outcome)| run.ends_with("broken") || outcome == "approved"));
    done.prints(&[
        "approved          paid/second  1 revision, ",
        "failed            free/broken: none does not exist; give a document",
        "8 runs: 6 approved, 2 failed",
    ]);
    for case in CASES {
        let spec = bench.read(&format!("all/free/{case}/Spec.tla"));
        assert_eq!(spec, bench.read(&format!("all/paid/{case}/Spec.tla")), "{case}");
        assert_eq!(answers(&bench, &format!("paid/{case}")), recorded(case).len(), "{case}");
        let cost = results(&bench, "cost_usd").into_iter().find(|(run, _)| *run == format!("paid/{case}")).unwrap().1;
        #[expect(clippy::cast_precision_loss, reason = "a few answers")]
        let paid = recorded(case).len() as f64 * 0.5;
        assert!((cost.parse::<f64>().unwrap() - paid).abs() < 1e-9, "{case}: {cost}");
    }
    // Corrected, only the broken set begins; the others stay as they are.
    let before = bench.read("all/free/second/journal.jsonl");
    copy(&bench.path("cases/second/docs"), &bench.path("none"));
    for model in ["free", "paid"] {
        let recording = bench.read(&format!("answers/{model}/second.jsonl"));
        bench.write(&format!("answers/{model}/broken.jsonl"), recording);
    }
    let listed = forge_all(&bench, &["sets.toml", "--list"]).expect(0);
    listed.prints(&["not started       free/broken\n", "approved          free/second"]);
    let again = forge_all(&bench, &["sets.toml", "--format", "json"]);
    assert!(results(&bench, "state").iter().all(|(_, state)| state == "ended"), "{}", bench.read("all/results.jsonl"));
    assert_eq!(again.stdout.lines().count(), 8);
    assert_eq!(bench.read("all/free/second/journal.jsonl"), before);
    // The runs of a model are a folder of runs for `eval --suite`.
    let eval = ["eval", "--suite", "cases", "--runs", "all/free", "--checker", "embedded", "--show-one", "second"];
    bench.run(&eval).prints(&["Case second: no overall score (no known bug was applicable)"]);
}

#[test]
fn a_folder_of_cases_is_a_table_of_sets() {
    let bench = bench();
    bench.write("cases/.hidden/notes.md", "# Not a set\n");
    let flags = ["cases", "--recording", "answers/free/{set}.jsonl"];
    forge_all(&bench, &flags).expect(0);
    assert_eq!(results(&bench, "outcome"), pairs(&CASES.map(|case| (case, "approved"))));
    // A run of other documents is not reported as this one.
    bench.write("cases/second/docs/more.md", "# More\n\nA reader must wait.\n");
    let other = forge_all(&bench, &flags).expect(2);
    other.prints(&[
        "failed            second: all/second has another run: the document more.md",
        "move the folder away",
    ]);
    std::fs::remove_file(bench.path("cases/second/docs/more.md")).unwrap();
    let other = forge_all(&bench, &[&flags[..], &["--max-revisions", "1"]].concat()).expect(2);
    other.prints(&["all/second has another run: max_revisions was null and is 1"]);
    forge_all(&bench, &flags).expect(0);
    forge_all(&bench, &["cases/second/docs"]).expect(2).says(&["has no subfolder with documents", "tlaforge run DOCS"]);
    bench.run(&["forge-all", "cases", "--out", "all/second"]).expect(2).says(&["all/second is a run of its own"]);
}

#[test]
fn a_killed_call_goes_on_and_asks_nothing_twice() {
    let bench = bench();
    let all = [&["forge-all", "sets.toml", "--jobs", "2"], &FLAGS[..]].concat();
    let count = || -> usize {
        ["free", "paid"].iter().flat_map(|model| CASES.map(|case| answers(&bench, &format!("{model}/{case}")))).sum()
    };
    let mut rounds = 0;
    loop {
        let before = count();
        let quiet = |command: &mut Command| command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mut child = quiet(&mut bench.command(&all));
        let mut is_over = || child.try_wait().unwrap().is_some();
        wait_until("three more answers are there", || count() >= before + 3 || is_over());
        child.kill().unwrap();
        if child.wait().unwrap().success() {
            break;
        }
        rounds += 1;
        assert!(rounds < 60);
    }
    assert!(rounds > 1, "it was too quick to be killed");
    for case in CASES {
        let spec = bench.read(&format!("all/free/{case}/Spec.tla"));
        for model in ["free", "paid"] {
            assert_eq!(bench.read(&format!("all/{model}/{case}/Spec.tla")), spec, "{case}");
            assert_eq!(answers(&bench, &format!("{model}/{case}")), recorded(case).len(), "{model}/{case}");
        }
    }
    assert!(results(&bench, "state").iter().all(|(_, state)| state == "ended"), "{}", bench.read("all/results.jsonl"));
    assert!(!bench.path("all/run.lock").exists());
}

#[test]
fn nothing_starts_after_the_limit_for_all_runs_is_reached() {
    let bench = bench();
    let sets = CASES.map(|case| format!("[[set]]\ncase = \"cases/{case}\"\n")).concat();
    bench.write("sets.toml", sets + "[[model]]\nname = \"paid\"\nrecording = \"answers/{model}/{set}.jsonl\"\n");
    let done = forge_all(&bench, &["sets.toml", "--jobs", "1", "--max-cost", "0.8"]).expect(3);
    let states = |first: &'static str| {
        pairs(&[(CASES[0], first), (CASES[1], "not_started"), (CASES[2], "not_started")])
            .into_iter()
            .map(|(case, state)| (format!("paid/{case}"), state))
            .collect::<Vec<_>>()
    };
    assert_eq!(results(&bench, "state"), states("stopped"), "{}", done.stdout);
    done.prints(&[
        "stopped           paid/first",
        "not started       paid/second: the limit of $0.8 for all runs is reached",
        "3 runs: 1 stopped, 2 not started",
        "Cost: $1.0000 of $0.8",
    ]);
    assert_eq!(results(&bench, "reason")[0].1, "budget");
    assert_eq!(results(&bench, "status")[1].1, "3");
    assert!(!bench.path("all/paid/second").exists(), "a run that did not start leaves nothing");
    // The same limit again: nothing more is paid.
    forge_all(&bench, &["sets.toml", "--max-cost", "0.8"]).expect(3);
    assert_eq!(answers(&bench, "paid/first"), 2);
    assert_eq!(results(&bench, "state"), states("stopped"), "what was paid stays in the results");
    assert_eq!(results(&bench, "cost_usd")[0].1, "1.0");
    // Runs at the same time share the limit: each asks at most once more before the answers of all have reached it.
    forge_all(&bench, &["sets.toml", "--jobs", "3", "--max-cost", "1.4"]).expect(3);
    let paid: usize = CASES.iter().map(|case| answers(&bench, &format!("paid/{case}"))).sum();
    assert!((3..=5).contains(&paid), "{paid} answers of $0.5");
    forge_all(&bench, &["sets.toml", "--max-cost", "100"]).expect(0);
    for case in CASES {
        assert_eq!(answers(&bench, &format!("paid/{case}")), recorded(case).len(), "{case}");
    }
    forge_all(&bench, &["sets.toml", "--max-cost", "-1"]).expect(2).says(&["--max-cost is -1"]);
    let handoff = ["cases", "--provider", "handoff", "--out", "asked", "--max-cost", "1", "--checker", "embedded"];
    bench.run(&[&["forge-all"], &handoff[..]].concat()).expect(2).prints(&["failed", "--max-cost cannot be enforced"]);
}

#[test]
fn an_interrupted_call_leaves_runs_that_go_on() {
    let bench = bench();
    let flags = ["forge-all", "cases", "--provider", "handoff", "--jobs", "2", "--checker", "embedded", "--out", "all"];
    let child = bench.command(&flags).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let is_asked = |case: &str| {
        std::fs::read_to_string(bench.path(&format!("all/{case}/journal.jsonl")))
            .is_ok_and(|text| text.contains("request_sent"))
    };
    wait_until("two runs wait for answers", || CASES[..2].iter().all(|case| is_asked(case)));
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let done = Done::of(&child.wait_with_output().unwrap()).expect(130);
    done.says(&["interrupted; the same command continues"]);
    let states = pairs(&[(CASES[0], "stopped"), (CASES[1], "stopped"), (CASES[2], "not_started")]);
    assert_eq!(results(&bench, "state"), states);
    assert_eq!(results(&bench, "status"), pairs(&CASES.map(|case| (case, "130"))));
}

#[test]
fn a_wrong_table_is_refused_before_anything_starts() {
    let bench = bench();
    let refuse = |text: &str, words: &[&str]| {
        bench.write("sets.toml", text);
        forge_all(&bench, &["sets.toml"]).expect(2).says(words);
        assert!(!bench.path("all").exists(), "{text}");
    };
    let set = "[[set]]\ncase = \"cases/second\"\n";
    refuse("", &["sets.toml: it has no [[set]]", "docs/src/forge-all.md"]);
    refuse("[[sets]]\n", &["sets.toml: unknown field `sets`"]);
    refuse("[[set]]\nname = \"a\"\n", &["[[set]] number 1 needs either docs or case"]);
    refuse(&format!("{set}candidate = 3\n"), &["[[set]] number 1: unknown field `candidate`"]);
    refuse(&format!("{set}{set}"), &["two set entries are called \"second\" and \"second\""]);
    refuse(&format!("{set}name = \"../out\"\n"), &["\"../out\" cannot be the name of a set"]);
    refuse(&format!("{set}name = \"results.jsonl\"\n"), &["it names a file of forge-all"]);
    refuse(&format!("{set}[[model]]\nprovider = \"openai\"\n"), &["\"\" cannot be the name of a model", "set `name`"]);
    refuse(&format!("{set}[[model]]\nname = \"a\"\nprovider = \"oracle\"\n"), &["unknown provider \"oracle\""]);
    // What a downloaded table may not decide.
    refuse("[[set]]\ndocs = \"/etc\"\n", &["names documents outside of this folder: /etc"]);
    refuse(&format!("{set}record = \"mine.jsonl\"\n"), &["sets.toml names a file to write", "--record FILE"]);
    refuse(&format!("{set}prompts = \"/etc\"\n"), &["sets.toml names a folder of prompts outside of this folder"]);
    forge_all(&bench, &["none.toml"]).expect(2).says(&["cannot read none.toml", "[[set]]"]);
}

#[test]
fn a_run_that_another_command_has_ended_in_the_meantime_is_not_continued() {
    let mut bench = bench();
    bench.set("OPENAI_API_KEY", "planted");
    let set = "[[set]]\ncase = \"cases/second\"\n";
    let free = "[[model]]\nname = \"free\"\nrecording = \"answers/free/{set}.jsonl\"\n";
    bench.write("sets.toml", format!("{set}{free}"));
    forge_all(&bench, &["sets.toml", "--max-tokens", "1"]).expect(3);
    // While the first run asks its model, `resume` ends the second one, which waits for its turn.
    let mut resume = Some(bench.command(&["resume", "all/free/second", "--max-tokens", "100000000"]));
    let server = ModelServer::start(move |_| {
        if let Some(mut resume) = resume.take() {
            Done::of(&resume.output().unwrap()).expect(0);
        }
        Reply::status(400, "no")
    });
    let first =
        format!("[[model]]\nname = \"first\"\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"{}\"\n", server.url());
    bench.write("sets.toml", format!("{set}{first}{free}"));
    forge_all(&bench, &["sets.toml", "--jobs", "1"]).expect(5);
    assert_eq!(results(&bench, "state")[1], ("free/second".to_owned(), "ended".to_owned()));
    assert_eq!(results(&bench, "outcome")[1].1, "approved");
    let journal = bench.read("all/free/second/journal.jsonl");
    assert_eq!(journal.matches("\"run_resumed\"").count(), 1, "only by `resume`");
}

#[test]
fn a_run_with_another_policy_is_another_run() {
    let bench = bench();
    let flags = ["cases", "--recording", "answers/free/{set}.jsonl"];
    forge_all(&bench, &flags).expect(0);
    let rule = "[[rule]]\nid = \"no-todo\"\nkind = \"forbidden_text\"\nparams = { text = \"TODO\" }\n";
    bench.write("policy.toml", rule);
    let other = forge_all(&bench, &[&flags[..], &["--policy", "policy.toml"]].concat()).expect(2);
    other.prints(&["all/second has another run: its policy (--policy) is not the same"]);
}

#[test]
fn an_unreadable_journal_is_not_counted_as_free() {
    let bench = bench();
    let flags = ["cases", "--recording", "answers/free/{set}.jsonl"];
    bench.write("all/second/journal.jsonl", "not a journal\nat all\n");
    forge_all(&bench, &[&flags[..], &["--max-cost", "5"]].concat())
        .expect(2)
        .says(&["--max-cost cannot be enforced: the cost of all/second is not known", "move the folder away"]);
    assert!(!bench.path("all/first").exists());
}

#[test]
fn files_of_others_are_not_replaced() {
    let bench = bench();
    let flags = ["cases", "--recording", "answers/free/{set}.jsonl"];
    bench.write("all/results.jsonl", "{\"mine\": 1}\n");
    forge_all(&bench, &flags).expect(2).says(&["all/results.jsonl is not a list of results of forge-all", "--out DIR"]);
    assert_eq!(bench.read("all/results.jsonl"), "{\"mine\": 1}\n");
    assert!(!bench.path("all/second").exists());
    let record = [&flags[..], &["--record", "one.jsonl"]].concat();
    forge_all(&bench, &record).expect(2).says(&["first and second would write the same recording", "needs {set}"]);
}

#[test]
fn a_table_cannot_send_a_key_to_its_own_server() {
    let mut bench = bench();
    bench.set("ANTHROPIC_API_KEY", "planted");
    let server = "base_url = \"https://example.com\"\n";
    bench.write("sets.toml", format!("[[set]]\ncase = \"cases/second\"\n{server}"));
    let refuse = || {
        forge_all(&bench, &["sets.toml"])
            .expect(2)
            .says(&["sets.toml names a server that would receive your ANTHROPIC_API_KEY: example.com"]);
        assert!(!bench.path("all").exists());
    };
    refuse();
    bench.write("tlaforge.toml", "provider = \"anthropic\"\n");
    refuse();
}

#[test]
fn a_table_elsewhere_names_its_own_documents_and_no_others() {
    let bench = bench();
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::write(elsewhere.path().join("notes.md"), "# Private\n\nA reader must wait.\n").unwrap();
    for name in ["below/out", "cases/out"] {
        std::fs::create_dir_all(bench.path("below")).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), bench.path(name)).unwrap();
    }
    bench.write("below/sets.toml", "[[set]]\ndocs = \"out\"\n");
    forge_all(&bench, &["below/sets.toml"]).expect(2).says(&["names documents outside of this folder: below/out"]);
    forge_all(&bench, &["cases", "--list"]).expect(2).says(&["cases/out is a link that leads out of cases"]);
    std::fs::remove_file(bench.path("cases/out")).unwrap();
    // A table above the working folder.
    std::fs::create_dir_all(bench.path("below/deep")).unwrap();
    bench.write("sets.toml", "[[set]]\ncase = \"cases/second\"\n");
    let list = ["forge-all", "../../sets.toml", "--list"];
    let done = bench.command(&list).current_dir(bench.path("below/deep")).output().unwrap();
    Done::of(&done).expect(0).prints(&["not started       second"]);
    // The folder of all runs is no set.
    std::fs::create_dir_all(bench.path("cases/all")).unwrap();
    let listed = bench.run(&["forge-all", "cases", "--list", "--out", "cases/all"]).expect(0);
    assert_eq!(listed.stdout.lines().count(), 3, "{}", listed.stdout);
}
