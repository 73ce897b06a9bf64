//! Telemetry of a fleet: the client, the worker and the process of a run send one trace.

use super::runs::Forges;
use super::{KEY, done};
use crate::support::collector::{Collector, Sent, ancestors};
use crate::support::counter::answers;

#[test]
fn a_fleet_sends_a_trace_from_the_client_to_the_tools_of_each_run() {
    let collector = Collector::start();
    let mut forges = Forges::start_with(answers, ["a", "b"].map(str::to_owned).to_vec());
    forges.fleet.bench.set("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url());
    let worker = forges.worker(1);
    done(forges.remote(&[])).expect(0);
    done(forges.fleet.mutate("mutants", &["--engine", &forges.fleet.server.url(), "--shard", "1/30"])).expect(0);
    // SIGTERM: the worker sends the rest.
    assert_eq!(worker.terminate(), Some(0));

    let spans = collector.spans();
    let jobs = collector.named("job forge_run");
    assert_eq!(jobs.len(), 2);
    for set in ["a", "b"] {
        let id = format!("{}/{set}", forges.runs);
        let has_id = |span: &&Sent| span.attributes.get("tlaforge.run.id") == Some(&id);
        let of_run: Vec<&Sent> = spans.iter().filter(has_id).collect();
        for name in
            ["job forge_run", "process tlaforge", "tlaforge forge-job", "run", "chat claude-sonnet-4-5", "tool check"]
        {
            assert!(of_run.iter().any(|span| span.name == name), "no span {name} of {id}");
        }
        let job = of_run.iter().find(|span| span.name == "job forge_run").unwrap();
        assert_eq!(job.attributes["tlaforge.job.result"], "done");
        for span in spans.iter().filter(|span| ancestors(&spans, span).iter().any(|above| above.id == job.id)) {
            assert!(has_id(&span), "{span:?}");
            assert_eq!(ancestors(&spans, span).last().unwrap().name, "tlaforge forge-all");
        }
    }
    let checks = collector.named("job check");
    assert!(!checks.is_empty());
    for span in &checks {
        assert_eq!(ancestors(&spans, span).last().unwrap().name, "tlaforge mutate");
    }

    let points = collector.points();
    let sum = |metric: &str, kind: &str| {
        let is_it = |kind_of_point: Option<&String>| kind_of_point.is_some_and(|value| value == kind);
        let chosen =
            points.iter().filter(|point| point.metric == metric && is_it(point.attributes.get("tlaforge.job.kind")));
        chosen.map(|point| point.sum).sum::<f64>().to_string()
    };
    assert_eq!(
        (sum("tlaforge.jobs.ended", "forge_run"), sum("tlaforge.jobs.running", "forge_run")),
        ("2".to_owned(), "0".to_owned())
    );
    assert_eq!(
        (sum("tlaforge.jobs.ended", "check"), sum("tlaforge.jobs.running", "check")),
        (checks.len().to_string(), "0".to_owned())
    );
    for text in [KEY, "a worker adds one", "NeverAbove"] {
        assert!(!collector.contains(text), "{text:?} was sent");
    }
}
