//! What the tests share: the real tools, runs with scripted answers, and their journals.
#![allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    clippy::unwrap_used,
    reason = "each test binary uses a part of it"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde_json::{Value, json};

pub mod bench;
pub mod case;
pub mod checking;
pub mod claude_code;
pub mod collector;
pub mod counter;
pub mod documented_flags;
pub mod finished;
pub mod folder;
pub mod forged;
pub mod handoff;
pub mod in_process;
pub mod java;
pub mod model_server;
pub mod model_wire;
pub mod ran;
pub mod recorded_model;
pub mod restate;
pub mod waiting;

pub use bench::{Bench, Done, with_checksums};
pub use java::{jar, java, java_home, remembering_java};

/// The program that a [`Bench`] runs.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_tlaforge");

/// The project's own folder.
pub fn project() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Validates a value by a JSON schema.
pub fn valid_by_schema(schema: &Value, value: &Value) -> Result<(), String> {
    let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
    compiler.add_resource("schema.json", schema.clone()).unwrap();
    let index = compiler.compile("schema.json", &mut schemas).unwrap();
    schemas.validate(value, index).map_err(|e| format!("{e:#}"))
}

impl Bench {
    /// With the real Java tools.
    pub fn real() -> Self {
        let mut bench = Self::without_tools();
        bench.set("TLA_TOOLS_JAR", jar().to_str().unwrap());
        bench.set("JAVA_HOME", java_home().to_str().unwrap());
        bench
    }

    /// With a `java` that caches the output of the real one by input, so that hundreds of runs take seconds. For an unknown
    /// input it runs the real one.
    pub fn remembering() -> Self {
        let mut bench = Self::without_tools();
        let home = remembering_java();
        bench.set("TLA_TOOLS_JAR", jar().to_str().unwrap());
        bench.set("JAVA_HOME", home.to_str().unwrap());
        bench
    }

    /// The events of a run. Asserts that they obey the default policy, once for each state of a journal.
    pub fn journal(&self, folder: &str) -> Vec<Value> {
        let text = self.read(&format!("{folder}/journal.jsonl"));
        if self.audited.lock().unwrap().insert(text) {
            self.assert_obeys_default_policy(folder);
        }
        self.events(folder)
    }

    fn assert_obeys_default_policy(&self, folder: &str) {
        let audit = self.run(&["audit", folder, "--policy", "default"]);
        let nothing_to_ask = audit.stderr.contains("the run has not made any decision yet");
        assert!(audit.status == Some(0) || nothing_to_ask, "{}\n{}", audit.stdout, audit.stderr);
        assert_metrics_are_consistent(&self.path(&format!("{folder}/journal.jsonl")));
        self.events(folder).iter().for_each(assert_event_is_in_vocabulary);
    }

    /// The events of a run, without assertions.
    pub fn events(&self, folder: &str) -> Vec<Value> {
        self.read(&format!("{folder}/journal.jsonl")).lines().map(|l| serde_json::from_str(l).unwrap()).collect()
    }
}

/// Asserts the declared properties of metrics for every closed revision: implications hold, and monotone ones never
/// decrease.
fn assert_metrics_are_consistent(journal: &Path) {
    use tlaforge::monitor::Trend;
    use tlaforge::pipeline::{METRICS, Quantity, RunView};
    let view = RunView::from_entries(&tlaforge::journal::read(journal).unwrap());
    for (revision, metrics) in &view.objective_progress.metrics {
        for metric in METRICS.iter().filter(|m| metrics.0.get(m.name) == Some(&Quantity::Truth(true))) {
            for (other, value) in metric.implies {
                assert_eq!(
                    metrics.0.get(*other),
                    Some(&Quantity::Truth(*value)),
                    "{other} of rev_{revision}: {metrics:?}"
                );
            }
        }
        assert_eq!(metrics.0["revision"], Quantity::Count(u64::from(*revision)));
        let before = view.objective_progress.metrics.range(..revision).next_back().map(|(_, metrics)| metrics);
        for metric in METRICS.iter().filter(|m| m.trend == Trend::NonDecreasing) {
            let of = |metrics: &tlaforge::pipeline::Metrics| match metrics.0.get(metric.name)? {
                Quantity::Count(n) => u32::try_from(*n).ok().map(f64::from),
                Quantity::Number(n) => Some(*n),
                Quantity::Truth(_) => None,
            };
            let grows = before.and_then(of).zip(of(metrics)).is_none_or(|(before, now)| before <= now);
            assert!(grows, "{} of rev_{revision}", metric.name);
        }
    }
}

/// Asserts that the event's lifeline can have such events, and that its fields are in the vocabulary for rules.
fn assert_event_is_in_vocabulary(event: &Value) {
    fn fields(path: &str, value: &Value, check: &mut impl FnMut(&str)) {
        match value {
            Value::Object(all) => all.iter().for_each(|(key, value)| fields(&format!("{path}.{key}"), value, check)),
            // An optional record that this event lacks: rules refer to the fields below it.
            Value::Null => {}
            _ => {
                let path = path.trim_start_matches('.');
                assert!(value.is_array() || !is_list(path), "{path} is no list: {value}");
                check(path);
            }
        }
    }
    use tlaforge::pipeline::{has_field, is_list, lifelines_with_event};
    let (name, lifeline) = (name(event), event["lifeline"].as_str().unwrap());
    assert!(lifelines_with_event(name).any(|maker| maker == lifeline), "{name} of {lifeline}");
    fields("", &event["data"], &mut |field| assert!(has_field(lifeline, field), "{field} of {lifeline}: {name}"));
}

/// The headings of the runs in the output of a check.
pub fn runs_of(output: &str) -> Vec<&str> {
    output.lines().filter(|line| line.starts_with("====")).collect()
}

/// One event's name.
pub fn name(event: &Value) -> &str {
    event["name"].as_str().unwrap_or("")
}

/// The routing decisions of a journal: `from->to`.
pub fn routes(journal: &[Value]) -> Vec<String> {
    let text = |v: &Value| v.as_str().unwrap_or("?").to_owned();
    journal
        .iter()
        .filter(|e| name(e) == "routed")
        .map(|e| format!("{}->{}", text(&e["data"]["from"]), text(&e["data"]["to"])))
        .collect()
}

/// The last event's outcome.
pub fn outcome(journal: &[Value]) -> &str {
    let last = journal.last().expect("an event");
    assert_eq!(name(last), "run_finished");
    last["data"]["outcome"].as_str().unwrap()
}

/// The reason of each routing decision, as `to: why`.
pub fn reasons(journal: &[Value]) -> Vec<String> {
    let text = |v: &Value| v.as_str().unwrap_or("?").to_owned();
    journal
        .iter()
        .filter(|e| name(e) == "routed")
        .map(|e| format!("{}: {}", text(&e["data"]["to"]), text(&e["data"]["why"])))
        .collect()
}

/// A recording that a test writes: the answer to each request. These answers simulate misbehaving models; genuine
/// recordings are in `evals/`.
#[derive(Default, Clone)]
pub struct Script {
    lines: Vec<(Value, Reads)>,
}

/// The files that the model of a scripted answer read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reads {
    Nothing,
    /// All files that the request offered. They are looked up in the journal of an earlier run; see [`Bench::forge`].
    Offered,
}

impl Script {
    /// Adds an answer. The purpose is `draft` for a first answer, `repair` for a later one.
    pub fn answer(self, node: &str, place: u32, attempt: u32, purpose: &str, answer: &str) -> Self {
        self.sample(node, place, attempt, (purpose, 0), answer)
    }

    /// Adds a further sample for the same request.
    pub fn sample(mut self, node: &str, place: u32, attempt: u32, of: (&str, u32), answer: &str) -> Self {
        let (purpose, candidate) = of;
        let line = json!({
            "v": 1, "node": node, "place": place, "attempt": attempt, "purpose": purpose, "candidate": candidate,
            "wording": "0".repeat(64), "prompt_start": "", "reads": [], "provider": "script", "answer": answer,
        });
        self.lines.retain(|(l, _)| KEY.iter().any(|k| l[k] != line[k]));
        self.lines.push((line, Reads::Nothing));
        self
    }

    /// Marks the last answer as late: it arrived after the choice.
    pub fn late(mut self) -> Self {
        self.lines.last_mut().expect("an answer").0["late"] = json!(true);
        self
    }

    /// Marks that the model of the last answer read all offered files.
    pub fn having_read_all(mut self) -> Self {
        self.lines.last_mut().expect("an answer").1 = Reads::Offered;
        self
    }

    /// Adds what the clock decided in the recorded run.
    /// As recorded by an earlier version, if it was made as [`Script::of_this_version`].
    pub fn of_earlier_version(mut self) -> Self {
        for (line, _) in &mut self.lines {
            line.as_object_mut().expect("an object").remove("normative_words");
        }
        self
    }

    /// As recorded by this version, which has further rules for reviews.
    pub fn of_this_version(mut self) -> Self {
        let words = tlaforge::prompt::DEFAULT_NORMATIVE_WORDS;
        self.lines.first_mut().expect("an answer").0["normative_words"] = serde_json::json!(words);
        self
    }

    pub fn timing(mut self, timing: Value) -> Self {
        self.lines.first_mut().expect("an answer").0["timing"] = timing;
        self
    }

    pub fn text(&self) -> String {
        self.lines.iter().fold(String::new(), |text, (line, _)| text + &line.to_string() + "\n")
    }

    /// Fills in the offered files from a run. Returns whether anything is new.
    fn learn(&mut self, journal: &[Value]) -> bool {
        let mut learnt = false;
        for (line, _) in self.lines.iter_mut().filter(|(_, r)| *r == Reads::Offered) {
            let sent = journal
                .iter()
                .filter(|e| name(e) == "request_sent")
                .find(|e| KEY.iter().all(|k| e["data"]["key"][k] == line[k]));
            let Some(sent) = sent else { continue };
            let offered: Vec<Value> = sent["data"]["offered"]
                .as_array()
                .unwrap()
                .iter()
                .map(|o| json!({"path": o["path"], "sha": o["sha"]}))
                .collect();
            // Tool output contains times, which differ from run to run. The guard compares only the names of those files.
            let is_compared = |path: &str| path.starts_with("Spec.") || path.starts_with("docs/");
            let looked_at = |reads: &Value| -> Vec<Value> {
                let all = reads.as_array().unwrap().iter();
                all.map(|r| if is_compared(r["path"].as_str().unwrap()) { r.clone() } else { r["path"].clone() })
                    .collect()
            };
            let offered = json!(offered);
            learnt |= looked_at(&line["reads"]) != looked_at(&offered);
            line["reads"] = offered;
        }
        learnt
    }
}

/// Scripts with the files that they read, by their text without these, by which answers read them and
/// by the arguments of the run.
static KNOWN_READS: Mutex<BTreeMap<String, Script>> = Mutex::new(BTreeMap::new());

/// The key of a request.
const KEY: [&str; 5] = ["node", "place", "attempt", "purpose", "candidate"];

impl Bench {
    /// Runs `docs/` into `specs/` with the answers of a script. If an answer has read all offered files, the run is first
    /// repeated until these files are known; another run of the same script begins with those of the first.
    pub fn forge(&self, script: &Script, more: &[&str]) -> Done {
        self.begin(&["run", "docs"], script, more)
    }

    /// Begins a run in `specs/` with this command, as [`Bench::forge`] does.
    pub fn begin(&self, command: &[&str], script: &Script, more: &[&str]) -> Done {
        let reads: String =
            script.lines.iter().map(|(_, reads)| if *reads == Reads::Offered { '1' } else { '0' }).collect();
        let key = [command.join(" "), reads, script.text(), more.join("\n")].join("\n");
        let mut script = KNOWN_READS.lock().unwrap().get(&key).unwrap_or(script).clone();
        for round in 0..12 {
            self.write("script.jsonl", script.text());
            let out = format!(".before-{round}");
            let done = self.run(&[command, &["--recording", "script.jsonl", "--out", &out], more].concat());
            if !self.path(&out).join("journal.jsonl").exists() {
                return done;
            }
            let learnt = script.learn(&self.events(&out));
            if !learnt {
                self.journal(&out);
            }
            std::fs::rename(self.path(&out), self.path("specs")).unwrap();
            if !learnt {
                KNOWN_READS.lock().unwrap().insert(key, script);
                return done;
            }
            std::fs::remove_dir_all(self.path("specs")).unwrap();
        }
        panic!("what was offered changes with each run");
    }

    /// Starts a branch of the run in `specs/` with the answers of a script, as [`Bench::forge`] does.
    pub fn branch(&self, script: &Script, more: &[&str]) -> Done {
        let (mut script, before) = (script.clone(), self.events("specs").len());
        for _ in 0..12 {
            self.write("script.jsonl", script.text());
            let mut copy = std::process::Command::new("cp");
            assert!(copy.args(["-a", "specs", ".branched"]).current_dir(self.path(".")).status().unwrap().success());
            let done = self.run(&[&["resume", "specs"], more].concat());
            if !script.learn(&self.events("specs")[before..]) {
                self.journal("specs");
                std::fs::remove_dir_all(self.path(".branched")).unwrap();
                return done;
            }
            std::fs::remove_dir_all(self.path("specs")).unwrap();
            std::fs::rename(self.path(".branched"), self.path("specs")).unwrap();
        }
        panic!("what was offered changes with each run");
    }
}
