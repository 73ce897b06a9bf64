//! Traces and metrics for a collector of OpenTelemetry, as the program sends them.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use opentelemetry_proto::tonic::collector::trace::v1::{ExportTracePartialSuccess, ExportTraceServiceResponse};
use prost::Message as _;
use rustix::process::{Pid, Signal, kill_process};

use crate::support::checking::{COUNTER, ENDLESS, put};
use crate::support::collector::{Collector, Sent, ancestors};
use crate::support::counter::{DOC, answers};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::waiting::wait_until;
use crate::support::{Bench, Done, project};

const KEY: &str = "sk-planted-0123456789";
/// The key of the collector.
const COLLECTOR_KEY: &str = "collector-key-0123456789";
const CHECK: [&str; 4] = ["check", "M.tla", "--checker", "embedded"];
const RUN: [&str; 9] =
    ["run", "docs", "--provider", "anthropic", "--model", "claude-sonnet-4-5", "--checker", "embedded", "--base-url"];

fn checked(env: &[(&str, &str)]) -> Done {
    let bench = Bench::without_tools();
    put(&bench, COUNTER, "SPECIFICATION Spec\nINVARIANT TypeOK\n");
    bench.run_with(&CHECK, env)
}

/// What the program prints without telemetry, but for the line of counts, which ends with a time.
fn result(done: &Done) -> String {
    done.stdout.lines().filter(|line| !line.starts_with("Counts: ")).collect::<Vec<_>>().join("\n")
}

fn forging() -> Bench {
    let mut bench = Bench::without_tools();
    bench.set("ANTHROPIC_API_KEY", KEY);
    bench.set("CLAUDE_RETRY_DELAY", "0");
    bench.write("docs/counter.md", DOC);
    bench
}

/// The id of the run, and the spans below that of the run.
fn of_run(spans: &[Sent]) -> (String, Vec<&Sent>) {
    let run = spans.iter().find(|span| span.name == "run").expect("the span of the run");
    let is_below = |span: &&Sent| ancestors(spans, span).iter().any(|above| above.id == run.id);
    (run.attributes["tlaforge.run.id"].clone(), spans.iter().filter(is_below).collect())
}

#[test]
fn a_run_sends_its_calls_and_tools_with_its_id_and_no_text() {
    let (bench, collector) = (forging(), Collector::start());
    let mut is_first = true;
    let model = ModelServer::start(move |seen| {
        if std::mem::take(&mut is_first) {
            return Reply::error(529, "overloaded_error", &format!("Overloaded; your key is {KEY}"));
        }
        answers(seen)
    });
    let headers = format!("x-key={COLLECTOR_KEY}, x-team=blue");
    let env = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url()),
        ("OTEL_EXPORTER_OTLP_HEADERS", headers),
        ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test".to_owned()),
        // Diagnostics go on as without telemetry.
        ("TLAFORGE_LOG", "trace".to_owned()),
    ];
    let env = env.each_ref().map(|(name, value)| (*name, value.as_str()));
    let url = model.url();
    let concern = "the greatest concern: that it overflows";
    let done = bench.run_with(&[&RUN[..], &[url.as_str(), "--concern", concern]].concat(), &env).expect(0);
    done.says(&["model_call{", "model answered", concern]);

    for seen in collector.requests() {
        assert_eq!(seen.header("x-key"), Some(COLLECTOR_KEY));
        assert_eq!(seen.header("x-team"), Some("blue"));
        assert_eq!(seen.header("content-type"), Some("application/x-protobuf"));
    }
    let spans = collector.spans();
    let (id, of_run) = of_run(&spans);
    assert_eq!(id, bench.path("specs").display().to_string());
    for span in &of_run {
        assert_eq!(span.attributes.get("tlaforge.run.id"), Some(&id), "{span:?}");
    }
    for name in ["attempt", "model call", "chat", "tool", "process"] {
        assert!(of_run.iter().any(|span| span.name.starts_with(name)), "no span of the run is named {name}");
    }
    let traces: BTreeSet<_> = spans.iter().map(|span| &span.trace).collect();
    assert_eq!(traces.len(), 1);
    let commands = collector.named("tlaforge");
    let [command] = &commands[..] else { panic!("one span of the command") };
    assert_eq!((command.name.as_str(), command.parent.len()), ("tlaforge run", 0));
    assert_eq!(command.attributes["process.exit.code"], "0");
    assert_eq!(command.attributes["tlaforge.run.id"], id);
    assert_eq!(command.resource["service.name"], "tlaforge");
    assert_eq!(command.resource["deployment.environment.name"], "test");
    assert_eq!(collector.named("run")[0].attributes["tlaforge.run.outcome"], "approved");

    let requests = collector.named("chat");
    assert_eq!(requests.len(), model.posts().len() - 1, "a request with its turns is one span: {requests:?}");
    let (failed, answered): (Vec<_>, Vec<_>) =
        requests.into_iter().partition(|span| span.attributes.contains_key("error.type"));
    let [failed] = &failed[..] else { panic!("one failed request") };
    assert_eq!(failed.attributes["error.type"], "overloaded");
    for span in &answered {
        assert_eq!(span.name, "chat claude-sonnet-4-5");
        assert_eq!(span.attributes["gen_ai.operation.name"], "chat");
        assert_eq!(span.attributes["gen_ai.provider.name"], "anthropic");
        assert_eq!(span.attributes["gen_ai.request.model"], "claude-sonnet-4-5");
        for key in ["gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens", "tlaforge.cost.usd"] {
            assert!(span.attributes.contains_key(key), "{key}: {span:?}");
        }
    }
    let check = collector.named("tool check");
    assert_eq!(check[0].attributes["tlaforge.tool.result"], "holds");
    assert_eq!(check[0].attributes["tlaforge.tool.checker"], "embedded");
    assert!(check[0].attributes["tlaforge.tool.states.distinct"].parse::<u32>().unwrap() > 0);
    let processes = collector.named("process tlaforge");
    assert!(processes.iter().any(|span| span.attributes["process.exit.code"] == "0"), "{processes:?}");

    // The metrics are the sums of the spans.
    let points = collector.points();
    let sum = |metric: &str, label: (&str, &str)| {
        let is_it = |name: &str, value: Option<&String>| name == metric && value.is_some_and(|v| v == label.1);
        let chosen = points.iter().filter(|point| is_it(&point.metric, point.attributes.get(label.0)));
        chosen.fold((0.0, 0), |(sum, count), point| (sum + point.sum, count + point.count))
    };
    let total = |key: &str| answered.iter().map(|span| span.attributes[key].parse::<f64>().unwrap()).sum::<f64>();
    let (input, count) = sum("gen_ai.client.token.usage", ("gen_ai.token.type", "input"));
    assert_eq!((input, count), (total("gen_ai.usage.input_tokens"), answered.len() as u64));
    let (output, _) = sum("gen_ai.client.token.usage", ("gen_ai.token.type", "output"));
    assert_eq!(output.to_string(), total("gen_ai.usage.output_tokens").to_string());
    let (cost, _) = sum("tlaforge.model.cost", ("gen_ai.provider.name", "anthropic"));
    assert!((cost - total("tlaforge.cost.usd")).abs() < 1e-9 && cost > 0.0, "{cost}");
    assert_eq!(sum("gen_ai.client.operation.duration", ("error.type", "overloaded")).1, 1);
    assert!(sum("tlaforge.tool.duration", ("tlaforge.tool.result", "holds")).1 > 0);

    let texts =
        ["planted", COLLECTOR_KEY, "a worker adds one", "NeverAbove", "You write", "greatest concern", "Overloaded"];
    for text in texts {
        assert!(!collector.contains(text), "{text:?} was sent");
    }
    assert!(collector.contains("deployment.environment.name"), "the search finds what was sent");
    assert!(spans.iter().all(|span| !span.has_texts));

    // The page in the book lists everything.
    let page = std::fs::read_to_string(project().join("docs/src/telemetry.md")).unwrap();
    let keys = spans.iter().flat_map(|span| span.attributes.keys().cloned());
    let labels = points.iter().flat_map(|point| point.attributes.keys().cloned());
    for name in keys.chain(labels).chain(points.iter().map(|point| point.metric.clone())) {
        assert!(page.contains(&format!("`{name}`")), "docs/src/telemetry.md lacks {name}");
    }
}

#[test]
fn a_command_that_reads_a_run_names_it_in_all_its_spans() {
    let (mut bench, collector) = (forging(), Collector::start());
    bench.set("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url());
    let mut is_first = true;
    let model = ModelServer::start(move |seen| {
        if std::mem::take(&mut is_first) {
            return Reply::error(400, "invalid_request_error", "not today");
        }
        answers(seen)
    });
    bench.run(&[&RUN[..], &[model.url().as_str(), "--out", "specs"]].concat()).expect(5);
    let before = collector.spans().len();
    bench.run(&["resume", "specs", "--base-url", &model.url()]).expect(0);
    for args in
        [&["report", "specs/"][..], &["audit", "specs", "--policy", "default"], &["drift", "./specs", "--docs", "docs"]]
    {
        bench.run(args).expect(0);
    }
    let mut watch = bench.command(&["watch", "specs"]).stdout(Stdio::piped()).spawn().unwrap();
    BufReader::new(watch.stdout.as_mut().unwrap()).read_line(&mut String::new()).unwrap();
    kill_process(Pid::from_child(&watch), Signal::TERM).unwrap();
    watch.wait().unwrap();

    let id = bench.path("specs").canonicalize().unwrap().display().to_string();
    let spans = &collector.spans()[before..];
    for name in ["resume", "report", "audit", "drift", "watch"] {
        let is_it = |span: &&Sent| ancestors(spans, span).last().unwrap().name == format!("tlaforge {name}");
        let of_command: Vec<&Sent> = spans.iter().filter(is_it).collect();
        assert!(!of_command.is_empty(), "{name}");
        for span in of_command {
            assert_eq!(span.attributes.get("tlaforge.run.id"), Some(&id), "{name}: {span:?}");
        }
    }
}

#[test]
fn nothing_is_sent_unless_the_environment_names_a_collector() {
    let (collector, silent) = (Collector::start(), checked(&[]).expect(0));
    let url = collector.url();
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str());
    let disabled = [
        &[][..],
        &[("OTEL_EXPORTER_OTLP_ENDPOINT", "")],
        &[endpoint, ("OTEL_SDK_DISABLED", "true")],
        &[endpoint, ("OTEL_TRACES_EXPORTER", "none"), ("OTEL_METRICS_EXPORTER", "none")],
    ];
    for env in disabled {
        let done = checked(env).expect(0);
        assert_eq!((result(&done), &done.stderr), (result(&silent), &silent.stderr), "{env:?}");
    }
    assert!(collector.requests().is_empty());
    // The address of a signal is used as it is.
    let traces = format!("{url}/v1/traces");
    let done = checked(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", &traces), ("OTEL_SERVICE_NAME", "mine")]).expect(0);
    assert_eq!((result(&done), done.stderr), (result(&silent), silent.stderr));
    assert!(collector.requests().iter().all(|seen| seen.path == "/v1/traces"));
    assert_eq!(collector.named("tlaforge")[0].resource["service.name"], "mine");
}

#[test]
fn a_span_of_another_process_is_the_parent_of_the_command() {
    let collector = Collector::start();
    let (trace, parent) = ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331");
    let url = collector.url();
    let traceparent = format!("00-{trace}-{parent}-01");
    for traceparent in [traceparent.as_str(), "00-nonsense"] {
        checked(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &url), ("TRACEPARENT", traceparent)]).expect(0);
    }
    let hex = |bytes: &[u8]| bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    let commands = collector.named("tlaforge");
    assert_eq!((hex(&commands[0].trace).as_str(), hex(&commands[0].parent).as_str()), (trace, parent));
    assert!(commands[1].parent.is_empty());
}

#[test]
fn a_collector_that_does_not_take_it_gets_one_warning_and_changes_nothing_else() {
    let silent = checked(&[]).expect(0);
    let nobody = "http://127.0.0.1:9".to_owned();
    let refusing = Collector::answering(Reply::status(500, KEY));
    // Takes the metrics.
    let stalling =
        Collector::deciding(|seen| if seen.path == "/v1/traces" { Reply::nothing() } else { Reply::status(200, "") });
    let partial_success = Some(ExportTracePartialSuccess { rejected_spans: 3, error_message: KEY.to_owned() });
    let partial = ExportTraceServiceResponse { partial_success }.encode_to_vec();
    let rejecting = Collector::answering(Reply::status(200, String::from_utf8(partial).unwrap()));
    let redirect = Reply::status(307, "").header("location", &nobody);
    let redirecting = Collector::answering(redirect);
    for (url, why) in [
        (nobody, "network error"),
        (refusing.url(), "500"),
        (redirecting.url(), "307"),
        (rejecting.url(), "the collector rejected 3 spans or metric values"),
        (stalling.url(), "did not answer within 2 s"),
    ] {
        let done = checked(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &url)]).expect(0);
        assert_eq!(result(&done), result(&silent), "{url}");
        let added: Vec<&str> = done.stderr.lines().filter(|line| !silent.stderr.contains(line)).collect();
        let [warning] = &added[..] else { panic!("one line more, and not {added:?}") };
        assert!(warning.starts_with("warning: telemetry is lost: ") && warning.contains(why), "{warning}");
        assert!(!warning.contains("planted"), "{warning}");
    }
    assert!(stalling.points().iter().any(|point| point.metric == "tlaforge.tool.duration"));
    for seen in [refusing, redirecting, rejecting] {
        assert!(!seen.requests().is_empty());
    }
    let done = checked(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &stalling.url()), ("OTEL_BSP_MAX_QUEUE_SIZE", "1")]).expect(0);
    done.says(&["warning: telemetry is lost: the collector is too slow, and the queue of spans is full"]);
}

#[test]
fn a_wrong_variable_is_reported_and_the_work_goes_on() {
    for (env, words) in [
        (&[("OTEL_EXPORTER_OTLP_ENDPOINT", "me:secret-word@collector")][..], "begins with http:// or https://"),
        (&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://me:secret-word@:x")], "begins with http:// or https://"),
        (&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://h:4317"), ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")], "http/protobuf"),
    ] {
        let done = checked(env).expect(0).says(&["warning: ", words, "the work goes on"]);
        assert!(!done.stderr.contains("secret-word"), "{}", done.stderr);
    }
}

#[test]
fn an_error_and_a_signal_also_send_what_is_there() {
    let collector = Collector::start();
    let url = collector.url();
    let mut bench = forging();
    bench.set("OTEL_EXPORTER_OTLP_ENDPOINT", &url);
    bench.run(&["check", "Missing.tla"]).expect(2);
    let commands = collector.named("tlaforge");
    let [command] = &commands[..] else { panic!("one span") };
    assert_eq!(
        (command.attributes["process.exit.code"].as_str(), command.attributes["error.type"].as_str()),
        ("2", "usage")
    );
    put(&bench, COUNTER, "SPECIFICATION Spec\nINVARIANT NoReset\n");
    bench.run(&CHECK).expect(1);
    let violated = &collector.named("tlaforge")[1];
    assert_eq!(violated.attributes["error.type"], "negative");

    put(&bench, ENDLESS, "SPECIFICATION Spec\n");
    let mut command = bench.command(&[&CHECK[..], &["-v"]].concat());
    let mut check = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut log = BufReader::new(check.stderr.take().unwrap()).lines().map(Result::unwrap);
    log.find(|line| line.contains("call=\"check\"") && line.contains("process started")).expect("a checker");
    kill_process(Pid::from_child(&check), Signal::INT).unwrap();
    log.for_each(drop);
    assert_eq!(check.wait().unwrap().code(), Some(130));
    for name in ["tool check", "process tlaforge"] {
        let last = collector.named(name).pop().unwrap();
        assert_eq!(last.attributes.get("error.type").map(String::as_str), Some("cancelled"), "{last:?}");
    }
    assert_eq!(collector.named("tlaforge")[2].attributes["error.type"], "interrupted");

    for (number, signal) in [Signal::INT, Signal::TERM].into_iter().enumerate() {
        let model = ModelServer::start(|_| Reply::nothing());
        let (model_url, out) = (model.url(), format!("out-{number}"));
        let mut command = bench.command(&[&RUN[..], &[model_url.as_str(), "--out", out.as_str()]].concat());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_until("the model is asked", || !model.posts().is_empty());
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130));
        let runs = collector.named("run");
        assert_eq!(runs.len(), number + 1);
        assert_eq!(runs[number].attributes["tlaforge.run.outcome"], "stopped");
        let requests = collector.named("chat");
        assert_eq!(requests[number].attributes["error.type"], "cancelled");
        assert_eq!(requests[number].attributes["tlaforge.run.id"], bench.path(&out).display().to_string());
    }
}

#[test]
fn the_key_of_the_collector_is_no_argument() {
    let bench = Bench::without_tools();
    let encoded = "collector%2Bkey%3D0123456789";
    for (name, value, key) in [
        ("OTEL_EXPORTER_OTLP_HEADERS", format!("authorization=Bearer%20{COLLECTOR_KEY}"), COLLECTOR_KEY),
        ("OTEL_EXPORTER_OTLP_HEADERS", format!("x-key={encoded}"), encoded),
        ("OTEL_EXPORTER_OTLP_HEADERS", format!("x-key={encoded}"), "collector+key=0123456789"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", format!("http://me:{encoded}@127.0.0.1:9"), "collector+key=0123456789"),
    ] {
        let done = bench.run_with(&["formula", key], &[(name, &value)]).expect(2);
        done.says(&[&format!("the command line contains the value of {name}")]);
    }
}
