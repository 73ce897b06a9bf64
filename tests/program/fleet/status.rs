//! `fleet status` and `watch --engine`: the runs of a fleet as a person sees them.

use std::process::{Command, Stdio};

use serde_json::Value;

use super::runs::{Forges, SETS, answer_waits};
use super::{Fleet, done};
use crate::support::counter::answers;
use crate::support::waiting::wait_until;
use crate::support::{Done, project};
use crate::watch::{Watch, status as next_event};

impl Fleet {
    fn status(&self, more: &[&str]) -> Done {
        done(self.bench.command(&[&["fleet", "status", "--engine", &self.server.url()], more].concat()))
    }

    /// When the server has started.
    fn status_json(&self) -> Value {
        let mut printed = String::new();
        wait_until("the server answers", || {
            let Done { status, stdout, .. } = self.status(&["--format", "json"]);
            printed = stdout;
            status == Some(0)
        });
        serde_json::from_str(&printed).unwrap()
    }

    fn watch(&self) -> Watch {
        Watch::start_with(&mut self.bench.command(&["watch", "--engine", &self.server.url()]))
    }
}

/// How many runs are in this state.
fn count(status: &Value, state: &str) -> usize {
    status["runs"].as_array().unwrap().iter().filter(|run| run["state"] == state).count()
}

#[track_caller]
fn page_shows(watch: &Watch, texts: &[&str]) {
    let script = project().join("tests/browser/fleet.mjs");
    let done = Done::of(&Command::new("node").arg(script).arg(watch.address()).args(texts).output().unwrap());
    assert_eq!(done.status, Some(0), "{}{}", done.stdout, done.stderr);
}

#[test]
fn a_fleet_without_runs_and_workers_says_so() {
    let fleet = Fleet::start();
    wait_until("the server has started", || fleet.status(&[]).status == Some(0));
    let start = format!("tlaforge worker --engine {}", fleet.server.url());
    fleet.status(&[]).expect(0).prints(&["Runs\n  none in the last day", "none is registered", &start]);
    page_shows(&fleet.watch(), &["No runs in the last day", "None is registered"]);
    let _worker = fleet.worker(1);
    let version = env!("CARGO_PKG_VERSION");
    fleet.status(&[]).expect(0).prints(&[&format!("  {version} at {}: check; 0 jobs", fleet.balancer.url())]);
}

#[test]
fn the_runs_of_a_fleet_are_shown_with_what_holds_them_up() {
    let dir = tempfile::tempdir().unwrap();
    let go = dir.path().join("go");
    let mut forges = Forges::start(answer_waits(1, go.clone()));
    let worker = forges.worker(1);
    let watch = forges.fleet.watch();
    let mut remote = forges.begin_remote();
    let mut status = Value::Null;
    let mut wait = |fleet: &Fleet, what: &str, holds: &dyn Fn(&Value) -> bool| {
        wait_until(what, || {
            status = fleet.status_json();
            holds(&status)
        });
        status.clone()
    };
    let at_work = wait(&forges.fleet, "one run works and the others wait", &|status| {
        count(status, "working") == 1
            && count(status, "waiting") == SETS.len() - 1
            && status["runs"][0]["why"] == "1 request to a model under way"
    });
    let run = &at_work["runs"][0];
    let address = run["run"].as_str().unwrap();
    assert!(address.starts_with(&format!("{}/", forges.runs)), "{run}");
    assert_eq!((&run["worker"], &run["status"]), (&forges.fleet.balancer.url().into(), &Value::Null), "{run}");
    let since = run["since"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    assert!(since >= run["submitted"].as_str().unwrap().parse().unwrap(), "{run}");
    // A run that waits is offered to the busy worker again and again, and seems to work meanwhile.
    wait_until("the text shows the same", || {
        forges.fleet.status(&[]).expect(0).stdout.starts_with("Runs: 1 working, 3 waiting\n  working")
    });
    page_shows(&watch, &["Runs: 1 working, 3 waiting", address, "1 request to a model under way", "closed"]);

    worker.kill();
    let stuck = wait(&forges.fleet, "no worker takes the runs", &|status| count(status, "stuck") == SETS.len());
    assert!(!stuck["runs"][0]["why"].as_str().unwrap().is_empty(), "{stuck}");
    wait_until("the text shows the same", || {
        let text = forges.fleet.status(&[]).expect(0).stdout;
        text.starts_with("Runs: 4 stuck\n  stuck") && text.contains("attempt ")
    });
    page_shows(&watch, &["Runs: 4 stuck"]);
    // Without the server, the page says since when, and shows what it knew.
    forges.fleet.server.kill();
    page_shows(&watch, &["No usable answer since", "Runs: 4 stuck"]);
    let failed = forges.fleet.status(&[]).expect(4);
    failed.says(&["cannot read the state of the engine", "the engine does not answer"]);
    forges.fleet.server.start_again();

    std::fs::write(&go, "go").unwrap();
    let _worker = forges.worker(2);
    assert_eq!(remote.0.wait().unwrap().code(), Some(0));
    let ended = forges.fleet.status_json();
    assert_eq!(count(&ended, "ended"), SETS.len(), "{ended}");
    for run in ended["runs"].as_array().unwrap() {
        assert!(run["why"].as_str().unwrap().starts_with("approved") && run["status"] == 0, "{run}");
    }
    page_shows(&watch, &["Runs: 4 ended", "approved"]);
}

#[test]
fn a_run_that_could_not_begin_is_shown_with_its_reason() {
    let forges = Forges::start(answers);
    let _worker = forges.worker(1);
    // Runs of an address that the worker refuses.
    let elsewhere = format!("file://{}", forges.fleet.bench.path("store/else where").display());
    let args = ["--engine", &forges.fleet.server.url(), "--runs", &elsewhere];
    let refused = forges.command("other", &args).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    assert_eq!(refused.code(), Some(4));
    let status = forges.fleet.status_json();
    assert_eq!(count(&status, "failed"), SETS.len(), "{status}");
    let is_refused = |run: &Value| run["why"].as_str().unwrap().contains("does not work on");
    assert!(status["runs"].as_array().unwrap().iter().all(is_refused), "{status}");
}

#[test]
fn the_page_of_a_fleet_changes_nothing_and_has_no_report() {
    let fleet = Fleet::start();
    let watch = fleet.watch();
    for (method, page, code) in [("GET", "/", 200), ("GET", "/report", 404), ("POST", "/stop", 404)] {
        assert_eq!(watch.ask(method, page, &[]).0, code, "{method} {page}");
    }
    assert_eq!(watch.ask("GET", "/", &[("Origin", "http://attacker.example")]).0, 403);
    let mut events = watch.events();
    let mut event = next_event(&mut events);
    while event["fleet"].is_null() {
        event = next_event(&mut events);
    }
    assert_eq!((&event["counts"], &event["error"]), (&"".into(), &Value::Null), "{event}");
}
