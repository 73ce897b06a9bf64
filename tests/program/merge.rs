//! `tlaforge merge`: shards become the file that one machine would have written, or are refused.

use crate::support::case::{CFG, CounterCase, PROPERTIES, STEP, counter, specs};
use crate::support::{Bench, Done};

const MODULE: &str = "---- MODULE M ----
EXTENDS Integers
CONSTANT Max
VARIABLES a, b
Init == a = 0 /\\ b = 0
Add == a < Max /\\ a' = a + 1 /\\ b' = b + 1
Take == b > 0 /\\ b' = b - 1 /\\ UNCHANGED a
Next == Add \\/ Take
Spec == Init /\\ [][Next]_<<a, b>>
InRange == a \\in 0..Max /\\ b \\in 0..Max
Fewer == b <= a
WitnessFull == b = Max
====
";
const MODEL: &str =
    "SPECIFICATION Spec\nCONSTANT Max = 2\nINVARIANTS InRange Fewer\nCHECK_DEADLOCK FALSE\n\\* WITNESS WitnessFull\n";

fn model() -> Bench {
    let bench = Bench::without_tools();
    bench.write("M.tla", MODULE);
    bench.write("M.cfg", MODEL);
    bench
}

fn mutate(bench: &Bench, out: &str, more: &[&str]) -> Done {
    bench.run(&[&["mutate", "M.tla", "--checker", "embedded", "--out", out], more].concat()).expect(0)
}

/// Judges the mutants in this many shards, and returns their folders.
fn mutate_shards(bench: &Bench, count: usize, more: &[&str]) -> Vec<String> {
    let judge = |index| {
        let (folder, shard) = (format!("{index}of{count}"), format!("{index}/{count}"));
        mutate(bench, &folder, &[more, &["--shard", &shard]].concat());
        folder
    };
    (1..=count).map(judge).collect()
}

fn merge(bench: &Bench, shards: &[String], out: &str) -> Done {
    let shards = shards.iter().map(String::as_str);
    bench.run(&["merge"].into_iter().chain(shards).chain(["--out", out]).collect::<Vec<_>>())
}

/// A result without its measured times.
fn without_times(text: &str) -> String {
    let is_time = |line: &&str| !line.trim_start().starts_with("\"seconds\":") && !line.contains("\"total_seconds\":");
    text.split_inclusive('\n').filter(is_time).collect()
}

#[test]
fn shards_of_mutants_become_the_result_of_one_machine() {
    for more in [&[][..], &["--sample", "7", "--seed", "3"], &["--operator", "drop-guard"]] {
        let bench = model();
        mutate(&bench, "one", more);
        let one = bench.read("one/outcomes.json");
        assert!(one.contains("\"selection\"") && one.lines().count() > 50, "{one}");
        for count in 1..=4 {
            let mut shards = mutate_shards(&bench, count, more);
            shards.rotate_left(count / 2);
            let out = format!("merged{count}.json");
            let done = merge(&bench, &shards, &out).expect(0);
            let score = serde_json::from_str::<serde_json::Value>(&one).unwrap()["summary"]["score"].as_f64();
            let words = score.map_or_else(|| "no score".to_owned(), |score| format!("score {score:.4}"));
            done.prints(&[&words, &out]);
            assert_eq!(without_times(&bench.read(&out)), without_times(&one), "{count} shards of {more:?}");
        }
    }
}

#[test]
fn shards_of_other_mutants_are_refused() {
    let bench = model();
    let shards = mutate_shards(&bench, 3, &[]);
    let files: Vec<String> = shards.iter().map(|folder| format!("{folder}/outcomes.json")).collect();
    let refuse = |shards: &[&String], words: &[&str]| {
        let shards: Vec<String> = shards.iter().map(|shard| (*shard).clone()).collect();
        merge(&bench, &shards, "merged.json").expect(2).says(words);
        assert!(!bench.path("merged.json").exists(), "{words:?}");
    };
    let [one, two, three] = &files[..] else { panic!("three shards") };
    refuse(&[one, three], &["1 of 3 shards missing: 2/3", "--shard K/N"]);
    refuse(&[one, two, two, three], &["shard 2/3 is given twice: 2of3/outcomes.json and 2of3/outcomes.json"]);
    // Other shards, of another division, of another selection, and of no division.
    mutate(&bench, "other", &["--shard", "3/4"]);
    refuse(&[one, two, &"other".to_owned()], &["1of3/outcomes.json is shard 1/3", "other/outcomes.json is shard 3/4"]);
    mutate(&bench, "sampled", &["--sample", "5", "--shard", "3/3"]);
    refuse(&[one, two, &"sampled".to_owned()], &["different selections", "sample", "sampled/outcomes.json"]);
    mutate(&bench, "timeout", &["--timeout", "9", "--shard", "3/3"]);
    refuse(&[one, two, &"timeout".to_owned()], &["different selections: timeout is null in the first and 9"]);
    mutate(&bench, "whole", &[]);
    refuse(&[one, two, &"whole".to_owned()], &["whole/outcomes.json is not a shard"]);
    // Other files.
    let edit = |from: &str, to: &str| {
        let text = bench.read(three);
        assert!(text.contains(from), "{from}");
        bench.write("edited.json", text.replace(from, to));
    };
    let edited = "edited.json".to_owned();
    let version = format!("\"tlaforge\": \"{}\"", env!("CARGO_PKG_VERSION"));
    edit(&version, "\"tlaforge\": \"0.0.1\"");
    refuse(&[one, two, &edited], &["different versions: versions.tlaforge is", "the same version"]);
    edit("\"selection\": {", "\"selected_by\": {");
    refuse(&[one, two, &edited], &["edited.json does not say which", "an earlier version", "run the shard again"]);
    edit("\"name\": \"", "\"name\": \"Other");
    refuse(&[one, two, &edited], &["are not those that were selected"]);
    let mut object: serde_json::Value = serde_json::from_str(&bench.read(three)).unwrap();
    object["mutants"].as_array_mut().unwrap().pop();
    bench.write("edited.json", object.to_string());
    refuse(&[one, two, &edited], &["edited.json is incomplete: it has", "judges what is missing"]);
    let half = bench.read(three);
    bench.write("edited.json", &half[..half.len() / 2]);
    refuse(&[one, two, &edited], &["edited.json is not complete JSON", "copy the file again"]);
    bench.write("edited.json", "{}");
    refuse(&[one, two, &edited], &["edited.json is not a result of `tlaforge mutate`"]);
    refuse(&[one, &"none.json".to_owned()], &["cannot read none.json"]);
    std::fs::remove_file(bench.path("3of3/outcomes.json")).unwrap();
    refuse(&[one, two, &"3of3".to_owned()], &["3of3 is incomplete: it has no outcomes.json"]);
    // Another configuration, and another module.
    bench.write("M.cfg", MODEL.replace("Max = 2", "Max = 3"));
    mutate(&bench, "configured", &["--shard", "3/3"]);
    let words = ["different specifications: specification.configuration is", "run every shard on the same files"];
    refuse(&[one, two, &"configured".to_owned()], &words);
    bench.write("M.cfg", MODEL);
    bench.write("M.tla", MODULE.replace("Fewer == b <= a", "Fewer == ~(b > a)"));
    mutate(&bench, "edited", &["--shard", "3/3"]);
    refuse(&[one, two, &"edited".to_owned()], &["different specifications: specification.module is"]);
}

#[test]
fn an_existing_file_is_never_replaced() {
    let bench = model();
    let shards = mutate_shards(&bench, 1, &["--sample", "2"]);
    bench.write("there.json", "mine");
    merge(&bench, &shards, "there.json").expect(2).says(&["there.json exists already", "--out"]);
    assert_eq!(bench.read("there.json"), "mine");
    std::os::unix::fs::symlink("nowhere", bench.path("link.json")).unwrap();
    merge(&bench, &shards, "link.json").expect(2).says(&["link.json exists already"]);
    merge(&bench, &shards, "none/merged.json").expect(2).says(&["cannot write none/merged.json", "existing folder"]);
    merge(&bench, &[], "merged.json").expect(2).says(&["<SHARD>..."]);
}

/// Five cases, of which one has no run and one is broken.
fn suite() -> Bench {
    let bench = Bench::without_tools();
    for case in ["a", "b", "c", "none"] {
        CounterCase::with_a_bug().bug("harmless", STEP, "Bounded").write(&bench, &format!("evals/{case}"));
    }
    bench.write("evals/odd/checklist.json", "{");
    for case in ["a", "b", "c"] {
        specs(&bench, &format!("runs/{case}"), &counter("Spec", STEP, PROPERTIES), CFG);
    }
    specs(&bench, "runs/b", &counter("Spec", STEP, PROPERTIES), &CFG.replace(" Bounded", ""));
    bench
}

fn eval(bench: &Bench, more: &[&str]) -> Done {
    bench.run(&[&["eval", "--suite", "evals", "--runs", "runs", "--checker", "embedded"], more].concat())
}

/// Evaluates the suite in this many shards, and returns their tables.
fn eval_shards(bench: &Bench, count: usize) -> Vec<String> {
    let judge = |index| {
        let (table, shard) = (format!("{index}of{count}.csv"), format!("{index}/{count}"));
        let done = eval(bench, &["--results", &table, "--shard", &shard]);
        assert!([Some(0), Some(2)].contains(&done.status), "{}", done.stderr);
        table
    };
    (1..=count).map(judge).collect()
}

#[test]
fn shards_of_a_suite_become_the_table_of_one_machine() {
    let bench = suite();
    eval(&bench, &["--results", "one.csv"]).expect(2);
    let one = bench.read("one.csv");
    assert_eq!(one.lines().count(), 4, "{one}");
    for count in 1..=4 {
        let mut shards = eval_shards(&bench, count);
        shards.reverse();
        let out = format!("merged{count}.csv");
        // A case of the suite is broken, so the status is that of `eval`.
        let done =
            merge(&bench, &shards, &out).expect(2).prints(&["3 cases, score 0.", ", 1 skipped, 1 failed: merged"]);
        done.says(&["none has no row: it has no recording", "odd failed: evals/odd/checklist.json"]);
        assert_eq!(bench.read(&out), one, "{count} shards");
    }
    // A shard can be compared with a whole table, and a whole suite with a merged one.
    eval(&bench, &["--shard", "1/5", "--compare", "merged2.csv"]).expect(0);
    specs(&bench, "runs/a", &counter("Spec", STEP, PROPERTIES), &CFG.replace(" Bounded", ""));
    eval(&bench, &["--shard", "1/5", "--compare", "merged2.csv"])
        .expect(1)
        .prints(&["a: too_far is no longer detected"]);
}

#[test]
fn shards_of_another_suite_are_refused() {
    let bench = suite();
    let shards = eval_shards(&bench, 2);
    let refuse = |shards: &[&str], words: &[&str]| {
        let shards: Vec<String> = shards.iter().map(|shard| (*shard).to_owned()).collect();
        merge(&bench, &shards, "merged.csv").expect(2).says(words);
        assert!(!bench.path("merged.csv").exists(), "{words:?}");
    };
    let [one, two] = [&*shards[0], &*shards[1]];
    refuse(&[two], &["1 of 2 shards missing: 1/2"]);
    refuse(&[one, two, one], &["shard 1/2 is given twice: 1of2.csv and 1of2.csv"]);
    eval(&bench, &["--results", "whole.csv"]);
    refuse(&[one, "whole.csv"], &["whole.csv is not a shard: it has the results of a whole suite"]);
    let (last, table) = (bench.read(two).lines().last().unwrap().to_owned(), bench.read(two));
    bench.write("edited.csv", table.replace(&format!("{last}\n"), ""));
    refuse(&[one, "edited.csv"], &["edited.csv is incomplete: it has no row for the case b"]);
    bench.write("edited.csv", format!("{table}{}", last.replacen("b,", "a,", 1)));
    refuse(&[one, "edited.csv"], &["edited.csv has a row for a, which is no case of shard 2/2"]);
    bench.write("edited.csv", format!("{table}{last}\n"));
    refuse(&[one, "edited.csv"], &["edited.csv has the case b more than once"]);
    bench.write("edited.csv", &table[..table.len() / 2]);
    refuse(&[one, "edited.csv"], &["edited.csv is not a table of results"]);
    bench.write("edited.csv", table.replacen("\"tlaforge\":\"", "\"tlaforge\":\"9", 1));
    refuse(&[one, "edited.csv"], &["different versions: versions.tlaforge is"]);
    bench.write("mutants.json", "{}");
    refuse(&[one, "mutants.json"], &["mutants.json is a result of mutate, and 1of2.csv is not"]);
    eval(&bench, &["--results", "limit.csv", "--shard", "2/2", "--tlc-timeout", "50"]).expect(0);
    refuse(&[one, "limit.csv"], &["different selections: options.tlc_timeout is 300 in the first and 50"]);
    bench.write("tlaforge.toml", "strict_replay = true\nworkers = 1\n");
    eval(&bench, &["--results", "strict.csv", "--shard", "2/2"]).expect(0);
    refuse(&[one, "strict.csv"], &["options.settings.strict_replay is null in the first and true"]);
    std::fs::remove_file(bench.path("tlaforge.toml")).unwrap();
    bench.write("evals/c/docs/more.md", "# More\n");
    eval(&bench, &["--results", "changed.csv", "--shard", "2/2"]).expect(0);
    refuse(&[one, "changed.csv"], &["different suites: suite.c is", "run every shard on the same cases"]);
    bench.run(&["eval", "runs/a", "evals/a", "--shard", "1/2"]).expect(2).says(&["--shard", "--suite"]);
}
