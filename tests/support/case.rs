//! A small case and specification of a counter, in which a test can change one place.

use serde_json::{Value, json};

use super::Bench;

/// The counter module: counts up to N and wraps around.
pub fn counter(name: &str, step: &str, more: &str) -> String {
    format!(
        "---- MODULE {name} ----\nEXTENDS Integers\nCONSTANT N\nVARIABLE n\n\nInit == n = 0\nNext == {step}\nSpec == Init /\\ [][Next]_n\n{more}\n====\n"
    )
}

/// The correct step.
pub const STEP: &str = "IF n < N THEN n' = n + 1 ELSE n' = 0";
/// The properties of a good specification.
pub const PROPERTIES: &str =
    "TypeOK == n \\in 0..N + 9\nBounded == n <= N\nBySteps == [][n' = n + 1 \\/ n' = 0]_n\nWitnessTop == n = N";
/// The configuration that lists the properties.
pub const CFG: &str =
    "SPECIFICATION Spec\nCONSTANT N = 3\nINVARIANTS TypeOK Bounded\nPROPERTY BySteps\n\\* WITNESS WitnessTop\n";
/// The configuration of a mutant.
pub const PLAIN: &str = "SPECIFICATION Spec\nCONSTANT N = 3\n";

/// A case that a test writes.
pub struct CounterCase {
    pub checklist: Value,
    files: Vec<(String, String)>,
}

impl CounterCase {
    /// A case with a document and a reference specification, without bugs.
    pub fn new() -> Self {
        let wanted = |name: &str, category: &str| json!({"name": name, "description": "d", "category": category});
        let checklist = json!({
            "name": "Counter",
            "required_invariants": [wanted("TypeOK", "type_safety"), wanted("Bounded", "safety")],
            "optional_invariants": [wanted("BySteps", "safety"), wanted("ComesBack", "liveness")],
            "known_bugs": [],
            "tlc_constraints": {"max_states": 1000, "max_time_seconds": 60},
        });
        let case = Self { checklist, files: Vec::new() };
        case.file("docs/counter.md", "# Counter\n\nIt counts to N and begins again.\n")
            .file("expected/Counter.tla", &counter("Counter", STEP, ""))
            .file("expected/Counter.cfg", PLAIN)
    }

    pub fn file(mut self, path: &str, text: &str) -> Self {
        self.files.retain(|(known, _)| known != path);
        self.files.push((path.to_owned(), text.to_owned()));
        self
    }

    pub fn without(mut self, path: &str) -> Self {
        self.files.retain(|(known, _)| known != path);
        self
    }

    /// Adds a bug: another step.
    pub fn bug(self, name: &str, step: &str, should_violate: &str) -> Self {
        self.bug_of(name, &counter(name, step, ""), PLAIN, should_violate)
    }

    /// Adds a bug: a module and its configuration.
    pub fn bug_of(mut self, name: &str, module: &str, cfg: &str, should_violate: &str) -> Self {
        let file = format!("known_bugs/{name}.tla");
        let bug = json!({"file": file, "description": name, "should_violate": should_violate});
        self.checklist["known_bugs"].as_array_mut().expect("a list").push(bug);
        self.file(&file, module).file(&format!("known_bugs/{name}.cfg"), cfg)
    }

    /// A case with a bug that every good property finds.
    pub fn with_a_bug() -> Self {
        Self::new().bug("too_far", "IF n <= N THEN n' = n + 1 ELSE n' = 0", "Bounded")
    }

    pub fn write(&self, bench: &Bench, dir: &str) {
        bench.write(&format!("{dir}/checklist.json"), self.checklist.to_string());
        for (path, text) in &self.files {
            bench.write(&format!("{dir}/{path}"), text);
        }
    }
}

/// Writes a specification for the evaluation.
pub fn specs(bench: &Bench, dir: &str, module: &str, cfg: &str) {
    bench.write(&format!("{dir}/Spec.tla"), module);
    bench.write(&format!("{dir}/Spec.cfg"), cfg);
}
