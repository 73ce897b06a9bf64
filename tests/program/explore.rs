//! `tlaforge explore` and `tlaforge check --simulate`: stepping through a specification, and random walks.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::PROGRAM;

const MODULE: &str = "---- MODULE Stock ----
EXTENDS Integers
CONSTANT Max
VARIABLES left, sold, open
Init == left \\in 1..2 /\\ sold = 0 /\\ open = TRUE
Sell(n) ==
  /\\ open
  /\\ n <= left
  /\\ left' = left - n
  /\\ sold' = sold + n
  /\\ UNCHANGED open
Fill == /\\ left = 0
        /\\ sold < Max
        /\\ left' \\in 1..2
        /\\ UNCHANGED <<sold, open>>
Close == open /\\ sold >= Max /\\ open' = FALSE /\\ UNCHANGED <<left, sold>>
Undo(was) == open = was /\\ open' = ~was /\\ left' = 2 /\\ sold' = 0
Reopen == Undo(FALSE)
Next == Fill \\/ Close \\/ (\\E n \\in 1..2 : Sell(n)) \\/ Reopen
Spec == Init /\\ [][Next]_<<left, sold, open>>
Within == sold <= Max
Few == sold <= 3
Small == sold < 3
Low == sold < 2
====
";

struct Stock(tempfile::TempDir);

impl Stock {
    fn new(module: &str, cfg: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("Stock.tla"), module).unwrap();
        fs::write(folder.path().join("Stock.cfg"), cfg).unwrap();
        Self(folder)
    }

    fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        let mut command = Command::new(PROGRAM);
        let ended = command.current_dir(self.0.path()).stdin(Stdio::null()).args(arguments).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (ended.status.code().unwrap(), text(ended.stdout), text(ended.stderr))
    }

    /// The answers as JSON, the first one without a command.
    fn explore(&self, commands: &[&str]) -> Vec<Value> {
        let mut arguments = vec!["explore", "Stock.tla", "--format", "json"];
        arguments.extend(commands.iter().flat_map(|command| ["--do", command]));
        let (_, out, errors) = self.run(&arguments);
        let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), commands.len() + 1, "{out}{errors}");
        lines
    }
}

const CFG: &str = "SPECIFICATION Spec\nCONSTANT Max = 3\nINVARIANT Within\n";

fn labels(answer: &Value) -> Vec<String> {
    let steps = answer["steps"].as_array().unwrap_or_else(|| panic!("no steps: {answer}"));
    let words = |step: &Value| {
        let arguments: Vec<&str> = step["arguments"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        if arguments.is_empty() {
            step["action"].as_str().unwrap().to_owned()
        } else {
            format!("{}({})", step["action"].as_str().unwrap(), arguments.join(", "))
        }
    };
    steps.iter().map(words).collect()
}

#[test]
fn a_path_is_taken_step_by_step_and_undone() {
    let stock = Stock::new(MODULE, CFG);
    let answers = stock.explore(&[
        "2",
        "Sell(1)",
        "Sell( 1 )",
        "why",
        "Fill",
        "1",
        "state",
        "undo 2",
        "eval <<left, sold + 1>>",
        "goto sold = 5",
        "why Reopen",
        "Close",
        "Reopen",
        "path",
    ]);
    assert_eq!(answers[0]["initial"].as_array().unwrap().len(), 2);
    assert_eq!(labels(&answers[1]), ["Sell(1)", "Sell(2)"]);
    assert_eq!(answers[1]["steps"][1]["changes"], serde_json::json!({"left": "0", "sold": "2"}));
    assert_eq!(answers[3]["state"], serde_json::json!({"left": "0", "sold": "2", "open": "TRUE"}));
    assert_eq!(labels(&answers[3]), ["Fill", "Fill"]);
    let why = answers[4].to_string();
    for part in ["`sold >= Max", "(2 and 3)", "Sell(1) is not possible: the condition `n <= left`", "(1 and 0)"] {
        assert!(why.contains(part), "{part}: {why}");
    }
    // A definition that only stands for another one names the step, and the condition is that of the other one.
    assert!(why.contains("Reopen is not possible: the condition `open = was"), "{why}");
    assert!(answers[5]["error"].as_str().unwrap().contains("Fill has several steps: 1, 2"), "{}", answers[5]);
    assert_eq!(answers[7]["state"]["left"], "1");
    assert_eq!(answers[8]["state_number"], 2);
    assert_eq!(answers[9]["value"], "<<1, 2>>");
    // Never more than 3 + 1 are sold.
    assert!(answers[10]["error"].as_str().unwrap().contains("is FALSE in each of the"), "{}", answers[10]);
    assert!(answers[11].to_string().contains("(TRUE and FALSE)"), "{}", answers[11]);
    assert!(
        answers[12]["error"].as_str().unwrap().contains("Close is not possible here; `why Close`"),
        "{}",
        answers[12]
    );
    assert_eq!(answers[14]["path"][1]["step"], "Sell(1)");
}

#[test]
fn goto_takes_a_shortest_path_and_a_violation_is_named() {
    let stock = Stock::new(MODULE, CFG);
    let answers = stock.explore(&["1", "goto ~Within", "path", "save path.itf.json", "undo 9"]);
    assert_eq!(answers[2]["violated"], serde_json::json!(["Within"]));
    assert_eq!(answers[2]["state"]["sold"], "4");
    // Sell 1, fill 2, sell 1, … : 1 + 1 would leave one; 1, fill, 1, 1, fill, 2 is too long; 1, fill, 1 … is found by a search.
    let steps: Vec<&str> =
        answers[3]["path"].as_array().unwrap().iter().map(|step| step["step"].as_str().unwrap()).collect();
    assert_eq!(steps.first(), Some(&"initial state"));
    let itf: Value = serde_json::from_str(&fs::read_to_string(stock.0.path().join("path.itf.json")).unwrap()).unwrap();
    assert_eq!(itf["states"].as_array().unwrap().len(), steps.len());
    assert!(answers[5]["error"].as_str().unwrap().contains("cannot go back 9 steps"), "{}", answers[5]);
}

#[test]
fn what_cannot_be_explored_says_why_and_other_commands_go_on() {
    let stock = Stock::new(MODULE, CFG);
    let (status, out, errors) = stock.run(&[
        "explore",
        "Stock.tla",
        "--do",
        "frob",
        "--do",
        "1",
        "--do",
        "eval (",
        "--do",
        "eval sold = {}",
        "--do",
        "3",
    ]);
    assert_eq!(status, 2, "{out}{errors}");
    for part in ["choose an initial state first", "the expression (`(`)", "give a number from 1 to 1"] {
        assert!(errors.contains(part), "{part}: {errors}");
    }
    assert!(out.contains("state 1: left = 1, sold = 0, open = TRUE\n"), "{out}");
    for (module, cfg, wanted) in [
        (MODULE.to_owned(), "CONSTANT Max = 3\n", "names neither SPECIFICATION nor INIT"),
        (MODULE.to_owned(), "SPECIFICATION Spec\n", "Max"),
        (MODULE.replace("left \\in 1..2 /\\", "left \\in 1..Max \\div 0 /\\"), CFG, "division by zero"),
        (MODULE.replace("left \\in 1..2 /\\", "left \\in {} /\\"), CFG, "has no initial state"),
        (MODULE.replace("Low ==", "ASSUME Max > 5\nLow =="), CFG, "assumption"),
        (MODULE.replace("VARIABLES left", "VARIABLES left,"), CFG, "Stock"),
        (MODULE.replace("Few ==", "Few == Fewer\nFew2 =="), CFG, "Fewer"),
    ] {
        let stock = Stock::new(&module, cfg);
        let (status, out, errors) = stock.run(&["explore", "Stock.tla", "--do", "1"]);
        assert_eq!(status, 2, "{wanted}: {out}{errors}");
        assert!(errors.contains(wanted), "{wanted}: {errors}");
    }
    // An action that fails hides no other one.
    let module = MODULE.replace("Fill == /\\ left = 0", "Fill == /\\ 1 \\div sold = 0 /\\ left = 0");
    let answers = Stock::new(&module, CFG).explore(&["1"]);
    assert_eq!(labels(&answers[1]), ["Sell(1)"]);
    assert_eq!(answers[1]["not_evaluated"][0]["what"], "Fill");
}

/// The states that the steps of `explore` reach are those that a check counts, and each step is one of the next-state relation.
#[test]
fn all_steps_together_reach_the_states_of_a_check() {
    let stock = Stock::new(MODULE, &CFG.replace("INVARIANT Within", "INVARIANT TypeOK").replace("TypeOK", "Four"));
    fs::write(stock.0.path().join("Stock.tla"), MODULE.replace("Low ==", "Four == sold <= 4\nLow ==")).unwrap();
    let (_, out, _) = stock.run(&["check", "Stock.tla", "--checker", "embedded", "--format", "json"]);
    let checked: Value = serde_json::from_str(&out).unwrap();
    // Breadth first over paths of commands.
    let mut known: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut open: Vec<Vec<String>> = vec![vec!["1".to_owned()], vec!["2".to_owned()]];
    while let Some(path) = open.pop() {
        let commands: Vec<&str> = path.iter().map(String::as_str).collect();
        let answers = stock.explore(&commands);
        let last = answers.last().unwrap();
        let state = last["state"].to_string();
        if known.insert(state, path.clone()).is_some() {
            continue;
        }
        for number in 1..=last["steps"].as_array().unwrap().len() {
            open.push(path.iter().cloned().chain([number.to_string()]).collect());
        }
    }
    assert_eq!(known.len() as u64, checked["statistics"]["distinct"].as_u64().unwrap(), "{checked}");
}

#[test]
fn walks_find_violations_and_never_say_that_a_property_holds() {
    let stock = Stock::new(MODULE, CFG);
    let simulate = |more: &[&str]| {
        let arguments =
            [&["check", "Stock.tla", "--simulate", "200", "--depth", "30", "--format", "json"], more].concat();
        let (status, out, errors) = stock.run(&arguments);
        let value: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{errors}"));
        (status, value)
    };
    let (status, first) = simulate(&[]);
    assert_eq!((status, &first["verdict"]), (1, &"violated".into()), "{first}");
    assert_eq!(first["violated"]["name"], "Within");
    // Each step of the path is one of the specification, and its end is the violation.
    let steps = first["trace"].as_array().unwrap();
    assert_eq!(steps.last().unwrap()["state"]["sold"], "4");
    assert!(steps.iter().skip(1).all(|step| step["action"].is_string()), "{first}");
    // The same seed gives the same path.
    assert_eq!(simulate(&[]).1["trace"], first["trace"]);
    fs::write(stock.0.path().join("Stock.cfg"), CFG.replace("Within", "Few\nCONSTRAINT Low")).unwrap();
    let (status, held) = simulate(&["--seed", "7"]);
    assert_eq!((status, &held["verdict"]), (3, &"inconclusive".into()), "{held}");
    assert!(
        held["reason"].as_str().unwrap().contains("no violation in 200 walks of at most 30 steps (seed 7"),
        "{held}"
    );
    // Beyond the constraint no walk goes on, so nothing is reopened.
    let taken: BTreeSet<&str> =
        held["coverage"].as_array().unwrap().iter().map(|one| one["action"].as_str().unwrap()).collect();
    assert!(taken.contains("Sell") && !taken.contains("Reopen"), "{held}");
    // A deadlock, and a property that is not looked at.
    let module = MODULE.replace("\\/ Reopen", "").replace("Small ==", "Ever == <>(sold = 9)\nSmall ==");
    fs::write(stock.0.path().join("Stock.tla"), &module).unwrap();
    fs::write(stock.0.path().join("Stock.cfg"), CFG.replace("INVARIANT Within", "PROPERTY Ever")).unwrap();
    let (status, dead) = simulate(&[]);
    assert_eq!((status, &dead["violated"]["kind"]), (1, &"deadlock".into()), "{dead}");
    assert!(dead["warnings"].to_string().contains("PROPERTY Ever was not checked"), "{dead}");
    fs::write(stock.0.path().join("Stock.cfg"), CFG.replace("INVARIANT Within", "CHECK_DEADLOCK FALSE")).unwrap();
    assert_eq!(simulate(&[]).0, 3);
    // What cannot be evaluated is no verdict.
    fs::write(stock.0.path().join("Stock.tla"), module.replace("sold >= Max", "1 \\div (Max - sold) > 9")).unwrap();
    let (status, failed) = simulate(&[]);
    assert_eq!(status, 3, "{failed}");
    assert!(failed["reason"].as_str().unwrap().contains("Close could not be evaluated after"), "{failed}");
    // A failed assertion is a violation, with the path to it.
    let module = MODULE
        .replace("EXTENDS Integers", "EXTENDS Integers, TLC")
        .replace("  /\\ open\n", "  /\\ open\n  /\\ Assert(sold < 2, \"too many\")\n");
    fs::write(stock.0.path().join("Stock.tla"), module).unwrap();
    fs::write(stock.0.path().join("Stock.cfg"), CFG.replace("INVARIANT Within\n", "")).unwrap();
    let (status, asserted) = simulate(&[]);
    assert_eq!(
        (status, &asserted["violated"]),
        (1, &serde_json::json!({"kind": "assertion", "name": "too many"})),
        "{asserted}"
    );
    assert!(asserted["trace"].as_array().unwrap().len() > 1, "{asserted}");
    // An ACTION_CONSTRAINT is not looked at: the walk goes on.
    fs::write(stock.0.path().join("Stock.tla"), MODULE.replace("Low ==", "Slow == sold' > sold + 9\nLow ==")).unwrap();
    fs::write(stock.0.path().join("Stock.cfg"), format!("{CFG}ACTION_CONSTRAINT Slow\n")).unwrap();
    let (status, free) = simulate(&[]);
    assert_eq!((status, &free["violated"]["name"]), (1, &"Within".into()), "{free}");
    assert!(free["warnings"].to_string().contains("ACTION_CONSTRAINT Slow was not checked"), "{free}");
}

#[test]
fn an_invariant_that_cannot_be_evaluated_is_not_called_violated() {
    let module = MODULE.replace("Within ==", "Within == sold < 1 \\/ 1 \\div 0 = 1\nOther ==");
    let stock = Stock::new(&module, CFG);
    let answers = stock.explore(&["why", "save a.json", "1", "1", "save a.json", "save a.json", "save a.tla"]);
    for at in [1, 2] {
        assert!(answers[at]["error"].as_str().unwrap().contains("choose an initial state first"), "{}", answers[at]);
    }
    assert_eq!(answers[4]["violated"], serde_json::json!([]));
    assert_eq!(answers[4]["not_evaluated"][0]["what"], "Within", "{}", answers[4]);
    assert!(answers[6]["error"].as_str().unwrap().contains("a.json exists"), "{}", answers[6]);
    assert!(answers[7]["error"].as_str().unwrap().contains("is saved as .itf.json"), "{}", answers[7]);
    // Messages are about the expression, not about a module of ours.
    let answers =
        stock.explore(&["1", "eval x'", "eval sold'", "eval CHOOSE z \\in {} : TRUE", "eval 1 ====", "goto sold' = 1"]);
    for answer in &answers[2..] {
        let error = answer["error"].as_str().unwrap_or_else(|| panic!("{answer}"));
        assert!(!error.contains("Tlaforge"), "{error}");
    }
}
