//! What `mutate` says of mutants, against TLC: a mutant called equivalent has the same reachable states and steps, and
//! a kill is a violation there too. With `TLAFORGE_CAMPAIGN` (`scripts/campaign`) at least 200 that were called
//! equivalent and 100 that were called killed; a twentieth of that here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock};

use crate::support::{Bench, jar, java, project};
use serde_json::Value;
use tlaforge::mutation::{Mutant, mutants};
use tlaforge::pluscal;
use tlaforge::tla::{Cfg, Module};

/// How many mutants called equivalent are put before TLC, and how many called killed.
const EQUIVALENT: usize = 200;
const KILLED: usize = 100;

/// Exemplars and references.
fn specs() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for root in ["exemplars", "evals"] {
        for entry in walkdir::WalkDir::new(project().join(root)).into_iter().map(Result::unwrap) {
            let path = entry.path();
            let wanted = root == "exemplars" || path.parent().is_some_and(|p| p.ends_with("expected"));
            if wanted && path.extension().is_some_and(|x| x == "tla") {
                found.push(path.to_owned());
            }
        }
    }
    found.sort();
    assert!(found.len() > 6, "{found:?}");
    found
}

/// Known bugs of the cases, each with an invariant that nothing violates: what is the same and what is not can be told
/// of a wrong specification as well. The references alone have some 50 equivalent mutants.
fn known_bugs() -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    for entry in walkdir::WalkDir::new(project().join("evals")).sort_by_file_name().into_iter().map(Result::unwrap) {
        let path = entry.path();
        let is_bug = path.ancestors().any(|folder| folder.ends_with("known_bugs"));
        if !is_bug || path.extension().is_none_or(|x| x != "tla") {
            continue;
        }
        let own = path.with_extension("cfg");
        let cfg = if own.is_file() { own } else { path.with_file_name("Spec.cfg") };
        let Ok(cfg) = std::fs::read_to_string(cfg) else { continue };
        let text = std::fs::read_to_string(path).unwrap();
        let module = Module::parse(&text).unwrap();
        let end = module.terminator.as_ref().unwrap().start;
        let text = format!("{}AnyState == TRUE\n{}", &text[..end], &text[end..]);
        found.push((module.name, text, format!("{cfg}\nINVARIANT AnyState\n")));
    }
    found
}

/// A mutant with what `mutate` said of it.
#[derive(Clone)]
struct Judged {
    mutant: Mutant,
    source: String,
    cfg: Cfg,
    said: Value,
}

/// Mutants of every specification, judged without TLC: some of each here; in a campaign all of them, and 80 of each
/// known bug, because too few mutants of the others are equivalent.
fn judged() -> &'static [Judged] {
    static JUDGED: OnceLock<Vec<Judged>> = OnceLock::new();
    JUDGED.get_or_init(|| {
        let mut found = Vec::new();
        for spec in specs() {
            let source = std::fs::read_to_string(&spec).unwrap();
            let cfg = std::fs::read_to_string(spec.with_extension("cfg")).unwrap();
            let name = spec.file_stem().unwrap().to_str().unwrap();
            found.extend(mutate(name, &source, &cfg, if campaign() { None } else { Some("20") }));
        }
        if campaign() {
            for (name, source, cfg) in known_bugs() {
                found.extend(mutate(&name, &source, &cfg, Some("80")));
            }
        }
        found
    })
}

fn mutate(name: &str, source: &str, cfg: &str, sample: Option<&str>) -> Vec<Judged> {
    let bench = Bench::without_tools();
    let file = format!("{name}.tla");
    bench.write(&file, source);
    bench.write(&format!("{name}.cfg"), cfg);
    // A known bug may make a mutant run on and on, and one that is not decided is of no use here.
    let timeout = if source.contains("AnyState == TRUE") { "2" } else { "20" };
    let mut args = vec!["mutate", &file, "--format", "json", "--checker", "embedded", "--timeout", timeout];
    args.extend(sample.into_iter().flat_map(|sample| ["--sample", sample]));
    let done = bench.run(&args);
    // A known bug that stops in a deadlock is no baseline.
    if done.status == Some(6) && source.contains("AnyState == TRUE") {
        return Vec::new();
    }
    let said: Value = serde_json::from_str(&done.expect(0).stdout).unwrap();
    let cfg = Cfg::parse(cfg).unwrap();
    let all: BTreeMap<String, Mutant> =
        mutants(&Module::parse(source).unwrap(), &cfg).into_iter().map(|m| (m.name(), m)).collect();
    println!("{file}: {} mutants, {}", all.len(), said["summary"]);
    let of = |one: &Value| {
        let mutant = all[one["name"].as_str().unwrap()].clone();
        Judged { mutant, source: source.to_owned(), cfg: cfg.clone(), said: one.clone() }
    };
    said["mutants"].as_array().unwrap().iter().map(of).collect()
}

/// So many of a class, or all where there are fewer; from each specification in turn.
fn mutants_of_class(class: &str, most: usize) -> Vec<Judged> {
    let all: Vec<&Judged> = judged().iter().filter(|one| one.said["outcome"] == class).collect();
    let count = all.len().min(most);
    (0..count).map(|at| all[at * all.len() / count].clone()).collect()
}

/// The whole number in a campaign, otherwise a twentieth.
fn sample_size(whole: usize) -> usize {
    if campaign() { whole } else { whole / 20 }
}

fn campaign() -> bool {
    std::env::var_os("TLAFORGE_CAMPAIGN").is_some()
}

fn translated(text: &str) -> String {
    match pluscal::translate(text, &pluscal::Options::default()) {
        Ok(Some(translated)) => translated.text,
        _ => text.to_owned(),
    }
}

/// Reachable states, initial ones marked, and steps without stuttering, as TLC prints them.
type Graph = (BTreeSet<(bool, String)>, BTreeSet<(String, String)>);

fn tlc(dir: &Path, module: &str, text: &str, cfg: &str, more: &[&str]) -> String {
    std::fs::write(dir.join(format!("{module}.tla")), text).unwrap();
    std::fs::write(dir.join(format!("{module}.cfg")), cfg).unwrap();
    let output = Command::new(java())
        .args(["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"])
        .arg(format!("-Djava.io.tmpdir={}", dir.display()))
        .arg("-cp")
        .arg(jar())
        .args(["tlc2.TLC", "-workers", "1", "-metadir"])
        .arg(dir.join("meta"))
        .args(more)
        .arg(format!("{module}.tla"))
        .current_dir(dir)
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn graph(source: &str, cfg: &Cfg) -> Graph {
    let dir = tempfile::tempdir().unwrap();
    let text = translated(source);
    let name = Module::parse(&text).unwrap().name;
    let cfg = Cfg {
        invariants: Vec::new(),
        properties: Vec::new(),
        symmetry: Vec::new(),
        witnesses: Vec::new(),
        check_deadlock: None,
        ..cfg.clone()
    };
    let out = tlc(dir.path(), &name, &text, &cfg.render(), &["-deadlock", "-dump", "dot", "graph"]);
    assert!(out.contains("No error has been found"), "{out}");
    read_dot(&std::fs::read_to_string(dir.path().join("graph.dot")).unwrap())
}

/// Node and edge lines begin with a number; labels are quoted strings that may hold anything.
fn read_dot(dot: &str) -> Graph {
    let number = |text: &str| {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(text.len());
        text[..end].parse::<i64>().ok().map(|n| (n, text[end..].to_owned()))
    };
    let (mut labels, mut edges, mut initial) = (BTreeMap::new(), Vec::new(), BTreeSet::new());
    for line in dot.lines() {
        let Some((node, rest)) = number(line) else { continue };
        if let Some(to) = rest.strip_prefix(" -> ") {
            edges.push((node, number(to).unwrap().0));
        } else if let Some(label) = rest.strip_prefix(" [label=\"") {
            let end = label.rfind('"').unwrap();
            labels.entry(node).or_insert_with(|| label[..end].to_owned());
            if rest.contains("style = filled") {
                initial.insert(node);
            }
        }
    }
    // A mutant may have no initial state, and then has none at all.
    assert_eq!(labels.is_empty(), initial.is_empty(), "{}", &dot[..dot.len().min(500)]);
    let states = labels.iter().map(|(node, label)| (initial.contains(node), label.clone())).collect();
    let steps = edges.iter().filter(|(a, b)| a != b).map(|(a, b)| (labels[a].clone(), labels[b].clone())).collect();
    (states, steps)
}

/// Two at a time.
fn run_in_parallel<T: Send + Sync>(all: &[T], each: impl Fn(&T) + Sync) {
    let next = Mutex::new(all.iter());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let one = next.lock().unwrap().next();
                    let Some(one) = one else { return };
                    each(one);
                }
            });
        }
    });
}

/// Equivalent: the same graph. Restricting: a part of it. Survived: something that it does not have. A class that the
/// comparison could not tell from another would show here as well.
#[test]
fn classes_of_mutants_agree_with_their_state_graphs_in_tlc() {
    // Every one there is: there are not many more than are wanted.
    let mut found = mutants_of_class("equivalent", if campaign() { usize::MAX } else { sample_size(EQUIVALENT) });
    found.extend(mutants_of_class("restricting", sample_size(50)));
    found.extend(mutants_of_class("survived", sample_size(60)));
    let originals = Mutex::new(BTreeMap::<String, Graph>::new());
    run_in_parallel(&found, |one| {
        let known = originals.lock().unwrap().get(&one.source).cloned();
        let original = known.unwrap_or_else(|| {
            let graph = graph(&one.source, &one.cfg);
            assert!(!graph.0.is_empty(), "{} has no states", one.said["name"]);
            originals.lock().unwrap().insert(one.source.clone(), graph.clone());
            graph
        });
        let ours = graph(&one.mutant.apply(&one.source), &one.cfg);
        let part = ours.0.is_subset(&original.0) && ours.1.is_subset(&original.1);
        let class = match (ours == original, part) {
            (true, _) => "equivalent",
            (_, true) => "restricting",
            _ => "survived",
        };
        assert_eq!(one.said["outcome"], class, "{:#}", one.said);
    });
    let count = |class: &str| found.iter().filter(|one| one.said["outcome"] == class).count();
    println!(
        "as in TLC's graphs: {} equivalent, {} restricting, {} survived",
        count("equivalent"),
        count("restricting"),
        count("survived")
    );
    assert!(count("equivalent") >= sample_size(EQUIVALENT), "{} called equivalent", count("equivalent"));
    assert!(count("restricting") > 0 && count("survived") > 0, "nothing to tell them from");
}

#[test]
fn kills_are_violations_in_tlc() {
    let found = mutants_of_class("killed", sample_size(2 * KILLED));
    assert!(found.len() >= sample_size(KILLED), "{} killed mutants", found.len());
    run_in_parallel(&found, |one| {
        let dir = tempfile::tempdir().unwrap();
        let text = translated(&one.mutant.apply(&one.source));
        let name = Module::parse(&text).unwrap().name;
        let by = one.said["killed_by"][0].as_str().unwrap();
        let property = |all: &[String]| all.iter().filter(|name| *name == by).cloned().collect::<Vec<_>>();
        // That property alone, so that TLC cannot find another one first.
        let cfg = Cfg {
            invariants: property(&one.cfg.invariants),
            properties: property(&one.cfg.properties),
            symmetry: Vec::new(),
            witnesses: Vec::new(),
            check_deadlock: None,
            ..one.cfg.clone()
        };
        let deadlock = by == "Deadlock";
        let more: &[&str] = if deadlock { &[] } else { &["-deadlock"] };
        let out = tlc(dir.path(), &name, &text, &cfg.render(), more);
        let violated = match one.said["kind"].as_str().unwrap() {
            "invariant" => out.contains(&format!("Invariant {by} is violated")),
            "property" => out.contains("Temporal properties were violated"),
            "action_property" => {
                out.contains("Action property")
                    || out.contains("Temporal properties were violated")
                    || out.contains("violated by the initial state")
            }
            "deadlock" => out.contains("Deadlock reached"),
            "assertion" => out.contains("The first argument of Assert evaluated to FALSE"),
            other => panic!("{other}"),
        };
        assert!(violated, "TLC does not agree: {:#}\n{out}", one.said);
    });
    println!("{} kills confirmed by TLC", found.len());
}
