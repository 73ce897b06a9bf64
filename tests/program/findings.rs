//! `--format sarif|github|markdown`: what commands found, beside the lines of files.

use serde_json::{Value, json};

use crate::support::checking::COUNTER;
use crate::support::{Bench, valid_by_schema};

const VIOLATED: &str = "SPECIFICATION Spec\nINVARIANTS TypeOK Few\n";

/// A folder with a spec that violates `Few`, whose definition is in line 19; only the embedded checker is there.
fn bench(cfg: &str) -> Bench {
    let bench = Bench::without_tools();
    bench.write("M.tla", COUNTER);
    bench.write("M.cfg", cfg);
    bench
}

fn few_line() -> usize {
    COUNTER.lines().position(|line| line.starts_with("Few ==")).unwrap() + 1
}

/// The log of SARIF that a command prints, valid by the published schema.
fn sarif(bench: &Bench, args: &[&str], status: i32) -> Value {
    let done = bench.run(&[args, &["--format", "sarif"]].concat()).expect(status);
    let log: Value = serde_json::from_str(&done.stdout).unwrap_or_else(|e| panic!("{e}: {}", done.stdout));
    let path = crate::support::project().join("tests/data/sarif/sarif-schema-2.1.0.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    valid_by_schema(&schema, &log).unwrap_or_else(|e| panic!("{e}: {log:#}"));
    // The schema is no rubber stamp.
    let mut wrong = log.clone();
    wrong["runs"][0]["results"] = json!([{"level": "bad"}]);
    assert!(valid_by_schema(&schema, &wrong).is_err());
    log["runs"][0].clone()
}

#[test]
fn a_violated_property_is_shown_at_its_definition() {
    let bench = bench(VIOLATED);
    let check = ["check", "M.tla", "--checker", "embedded"];
    let run = sarif(&bench, &check, 1);
    let [result] = run["results"].as_array().unwrap().as_slice() else { panic!("{run:#}") };
    assert_eq!((&result["ruleId"], &result["level"]), (&json!("violated"), &json!("error")));
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "M.tla");
    assert_eq!(place["region"]["startLine"], few_line());
    let github = bench.run(&[&check[..], &["--format", "github"]].concat()).expect(1);
    let line = format!("::error file=M.tla,line={},title=tlaforge%3A violated::Few is violated, by", few_line());
    assert!(github.stdout.starts_with(&line), "{}", github.stdout);
    let markdown = bench.run(&[&check[..], &["--format", "markdown"]].concat()).expect(1);
    markdown.prints(&["### tlaforge check\n", "| error | Few is violated, by a counterexample of 3 states | M.tla:"]);
}

#[test]
fn a_property_of_an_extended_module_is_shown_in_its_file() {
    let bench = bench(VIOLATED);
    bench.write("MC.tla", "---- MODULE MC ----\nEXTENDS M\n====\n");
    bench.write("MC.cfg", VIOLATED);
    let github = bench.run(&["check", "MC.tla", "--checker", "embedded", "--format", "github"]).expect(1).stdout;
    assert!(github.starts_with(&format!("::error file=M.tla,line={},", few_line())), "{github}");
}

#[test]
fn every_kind_of_verdict_has_its_finding() {
    let found = |cfg: &str, status: i32| -> Vec<(String, String, usize)> {
        let run = sarif(&bench(cfg), &["check", "M.tla", "--checker", "embedded"], status);
        let result = |r: &Value| {
            let place = &r["locations"][0]["physicalLocation"];
            let (rule, file) = (r["ruleId"].as_str().unwrap(), place["artifactLocation"]["uri"].as_str().unwrap());
            let line = usize::try_from(place["region"]["startLine"].as_u64().unwrap()).unwrap();
            (rule.to_owned(), file.to_owned(), line)
        };
        run["results"].as_array().unwrap().iter().map(result).collect()
    };
    let at = |rule: &str, file: &str, line| vec![(rule.to_owned(), file.to_owned(), line)];
    assert_eq!(found("SPECIFICATION Spec\nINVARIANT TypeOK\n", 0), []);
    let unreached = "SPECIFICATION Spec\nINVARIANT TypeOK\n\\* WITNESS WitnessFour\n";
    assert_eq!(found(unreached, 1), at("not-reached", "M.cfg", 3));
    assert_eq!(found("SPECIFICATION Spec\nINVARIANT Missing\n", 1), at("invalid", "M.cfg", 2));
}

#[test]
fn the_other_commands_write_the_same_list() {
    let bench = bench("\\* EXPECT violated TypeOK\nSPECIFICATION Spec\nINVARIANT TypeOK\n");
    let run = sarif(&bench, &["test", ".", "--checker", "embedded"], 1);
    assert_eq!(run["results"][0]["ruleId"], "test-failed");
    assert_eq!(run["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"], 1);
    let run = sarif(&bench, &["mutate", "M.tla", "--checker", "embedded"], 0);
    let survived = run["results"].as_array().unwrap().iter().filter(|r| r["ruleId"] == "survived").count();
    let mutants = bench.run(&["mutate", "M.tla", "--checker", "embedded", "--format", "json"]).expect(0);
    let report: Value = serde_json::from_str(&mutants.stdout).unwrap();
    assert_eq!(report["summary"]["survived"], survived);
    bench.write("log.jsonl", "{\"a\": 1}\n{\"a\": 2}\n");
    let audit = ["audit", "log.jsonl", "--formula", "G a = 1"];
    let run = sarif(&bench, &audit, 1);
    assert_eq!(run["results"][0]["ruleId"], "rule");
    assert_eq!(run["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"], 2);
    bench.run(&[&audit[..], &["--follow", "--format", "sarif"]].concat()).expect(2);
}

#[test]
fn one_run_writes_the_list_to_files_as_well() {
    let bench = bench(VIOLATED);
    let check = ["check", "M.tla", "--checker", "embedded"];
    let text = bench.run(&check).expect(1).stdout;
    for (format, begin) in [("text", text.as_str()), ("json", "{"), ("github", "::error file=M.tla,")] {
        let files = ["--findings", "found.sarif", "--findings", "found.md", "--format", format];
        let done = bench.run(&[&check[..], &files].concat()).expect(1);
        assert!(done.stdout.starts_with(begin.lines().next().unwrap()), "{}", done.stdout);
        let log: Value = serde_json::from_str(&bench.read("found.sarif")).unwrap();
        assert_eq!(log["runs"][0], sarif(&bench, &check, 1));
        let markdown = bench.run(&[&check[..], &["--format", "markdown"]].concat()).expect(1);
        assert_eq!(bench.read("found.md"), markdown.stdout);
        for file in ["found.sarif", "found.md"] {
            std::fs::remove_file(bench.path(file)).unwrap();
        }
    }
    // Before the command begins.
    for (file, why) in [("found.txt", "must end in .sarif or .md"), ("nowhere/a.md", "its folder does not exist")] {
        let done = bench.run(&[&check[..], &["--findings", file]].concat()).expect(2).says(&[why]);
        assert!(!done.stderr.contains("checking"), "{}", done.stderr);
    }
    let follow = ["audit", "-", "--formula", "G a = 1", "--follow", "--findings", "found.md"];
    bench.run(&follow).expect(2).says(&["--follow prints text or JSON"]);
}

#[test]
fn a_flaw_is_shown_at_the_lines_of_the_documents_wherever_they_are() {
    let bench = Bench::without_tools();
    let case = crate::support::project().join("tests/data/forged/seat_hold");
    for entry in std::fs::read_dir(case.join("docs")).unwrap() {
        let entry = entry.unwrap();
        let name = format!("handbook/{}", entry.file_name().to_string_lossy());
        bench.write(&name, std::fs::read(entry.path()).unwrap());
    }
    let recording = case.join("run.jsonl");
    let replay = ["run", "handbook", "--provider", "replay", "--recording", recording.to_str().unwrap()];
    let more = ["--checker", "embedded", "--out", "specs"];
    let run = sarif(&bench, &[&replay[..], &more].concat(), 1);
    let flaws: Vec<&Value> =
        run["results"].as_array().unwrap().iter().filter(|result| result["ruleId"] == "flaw").collect();
    assert!(!flaws.is_empty(), "{run:#}");
    // Code scanning wants paths below the folder in which the command ran.
    assert_eq!(
        flaws[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
        "specs/history/rev_0/SeatHolds.tla"
    );
    for flaw in flaws {
        let cited = flaw["relatedLocations"].as_array().unwrap_or_else(|| panic!("{flaw:#}"));
        for place in cited.iter().map(|cited| &cited["physicalLocation"]) {
            let file = bench.read(place["artifactLocation"]["uri"].as_str().unwrap());
            let line = usize::try_from(place["region"]["startLine"].as_u64().unwrap()).unwrap();
            assert!(file.lines().nth(line - 1).is_some_and(|text| !text.is_empty()), "{place}");
        }
    }
    // The documents have moved: the lines are still named, and no annotation points at a file that is not there.
    let resumed = bench.run(&["resume", "specs", "--format", "github"]).expect(1).stdout;
    assert!(!resumed.contains("file=docs/") && !resumed.contains("file=handbook/"), "{resumed}");
    assert!(resumed.contains("(docs/"), "{resumed}");
}

#[test]
fn a_missed_threshold_is_a_finding() {
    let bench = bench("SPECIFICATION Spec\nINVARIANT TypeOK\n");
    let run = sarif(&bench, &["mutate", "M.tla", "--checker", "embedded", "--fail-under", "1.0"], 1);
    let score = run["results"].as_array().unwrap().iter().find(|result| result["ruleId"] == "score").unwrap();
    assert_eq!(score["level"], "error");
    assert!(score["message"]["text"].as_str().unwrap().contains("below 1"), "{score:#}");
}
