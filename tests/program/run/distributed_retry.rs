//! `run --distributed`: a check that reached its time limit is done again in TLC's distributed mode.

use std::time::Duration;

use serde_json::{Value, json};
use tlaforge::tla::{CheckOutcome, Checker};
use tlaforge::toolchain::{
    BoxFuture, CheckReport, CheckRequest, EmbeddedToolchain, Limits, ParseOutcome, ProbeReport, SpecText, ToolContext,
    ToolError, Toolchain, ToolchainInfo, Translation,
};

use crate::support::counter::{self, CFG, MODULE, WITNESSES, fenced, good, sections};
use crate::support::in_process::{EventClock, InProcess, embedded, recorded_in};
use crate::support::{Bench, Script, name};

/// The outcome of the last check.
fn outcome(bench: &Bench) -> Value {
    let journal = bench.journal("specs");
    journal.iter().rfind(|e| name(e) == "check_finished").unwrap()["data"]["outcome"].clone()
}

/// A specification with an endless number of states.
fn endless() -> Script {
    let module = fenced(&MODULE.replace("n < Max", "TRUE"));
    let properties = sections("TypeOK == n \\in Nat\n\\* covers R1\nNeverAbove == n >= 0\n", "", WITNESSES, CFG);
    good().answer("formalize", 0, 1, "draft", &module).answer("generate_invariants", 0, 1, "draft", &properties)
}

#[test]
fn what_distributed_mode_does_not_decide_either_stays_undecided() {
    let bench = Bench::real();
    bench.write("docs/counter.md", counter::DOC);
    let more = ["--checker", "tlc", "--tlc-timeout", "1", "--distributed", "2", "--max-revisions", "0"];
    bench.forge(&endless(), &more).expect(3);
    let found = outcome(&bench);
    assert_eq!((&found["verdict"], &found["timed_out"]), (&json!("inconclusive"), &json!(true)), "{found}");
    let warnings = found["warnings"].to_string();
    assert!(warnings.contains("TLC's distributed mode did not decide it either: "), "{warnings}");
}

#[test]
fn it_needs_tlc_and_the_command_line() {
    let bench = counter::bench();
    let refused = ["--checker", "embedded", "--distributed", "2"];
    bench.forge(&good(), &refused).expect(2).says(&["--distributed is a mode of TLC", "--checker tlc"]);
    // A downloaded folder must not open ports.
    bench.write("tlaforge.toml", "distributed = \"127.0.0.1\"\n");
    bench.forge(&good(), &[]).expect(2).says(&["workers of TLC: 127.0.0.1", "--distributed N|HOST"]);
}

#[test]
fn what_distributed_mode_decides_is_the_verdict() {
    let bench = counter::bench();
    bench.forge(&good(), &["--record", "record.jsonl"]).expect(0);
    let replay = counter::bench();
    replay.write("record.jsonl", bench.read("record.jsonl"));
    let run = InProcess::new(recorded_in(&replay, "record.jsonl"), EventClock::new(&replay, &[]), 1);
    let tools = WithTime { tools: embedded(), check: Duration::from_nanos(1) };
    let distributed = WithTime { tools: embedded(), check: Duration::from_secs(600) };
    InProcess { toolchain: Box::new(tools), distributed: Some(Box::new(distributed)), ..run }.run(&replay);
    let found = outcome(&replay);
    assert_eq!((&found["verdict"], &found["statistics"]["distinct"]), (&json!("holds"), &json!(4)), "{found}");
    let warnings = found["warnings"].to_string();
    assert!(warnings.contains("its distributed mode decided this"), "{warnings}");
}

/// The embedded tools with their own time limit for checks.
struct WithTime {
    tools: EmbeddedToolchain,
    check: Duration,
}

impl Toolchain for WithTime {
    fn checker(&self) -> Checker {
        self.tools.checker()
    }

    fn translate<'a>(
        &'a self,
        spec: &'a SpecText,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<Translation, ToolError>> {
        self.tools.translate(spec, cx)
    }

    fn parse<'a>(
        &'a self,
        spec: &'a SpecText,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<ParseOutcome, ToolError>> {
        self.tools.parse(spec, cx)
    }

    fn check<'a>(
        &'a self,
        request: &'a CheckRequest,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<CheckReport, ToolError>> {
        Box::pin(async move {
            let limits = Limits { check: self.check, ..cx.limits.clone() };
            self.tools.check(request, &ToolContext { limits: &limits, ..*cx }).await
        })
    }

    fn probe<'a>(
        &'a self,
        request: &'a CheckRequest,
        outcome: &'a CheckOutcome,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<Option<ProbeReport>, ToolError>> {
        self.tools.probe(request, outcome, cx)
    }

    fn info<'a>(&'a self, cx: &'a ToolContext<'a>) -> BoxFuture<'a, Result<ToolchainInfo, ToolError>> {
        self.tools.info(cx)
    }
}
