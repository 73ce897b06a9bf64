//! Forges journals: genuine runs with one change.

use serde_json::Value;

use super::{Bench, Done, name};

/// Audits the run's journal after a change of one value: in the last event with this name and lifeline, at this place of
/// its data.
pub fn forged(bench: &Bench, of: (&str, &str), place: &str, value: &Value) -> Done {
    let mut journal = bench.events("specs");
    let event = journal.iter_mut().rfind(|e| name(e) == of.0 && e["lifeline"] == of.1).unwrap();
    let (parent, field) = place.rsplit_once('/').unwrap();
    let data = event["data"].pointer_mut(parent).unwrap_or_else(|| panic!("{} has no {place}", of.0));
    assert_ne!(data[field], *value, "{place} changes");
    data[field] = value.clone();
    write(bench, &journal);
    bench.run(&["audit", "forged", "--policy", "default"])
}

/// Writes a changed journal into the run folder.
pub fn write(bench: &Bench, journal: &[Value]) {
    bench.write("forged/journal.jsonl", journal.iter().map(|e| e.to_string() + "\n").collect::<String>());
    if !bench.path("forged/artifacts").exists() {
        // A link in a run folder would be refused.
        let mut copy = std::process::Command::new("cp");
        copy.arg("-r").args([bench.path("specs/artifacts"), bench.path("forged/artifacts")]);
        assert!(copy.status().unwrap().success());
    }
}

/// Asserts that the unchanged journal passes the verification.
pub fn genuine(bench: &Bench) {
    let done = bench.run(&["audit", "specs", "--policy", "default"]).expect(0);
    assert_eq!(done.stderr, "", "everything was computed again");
}
