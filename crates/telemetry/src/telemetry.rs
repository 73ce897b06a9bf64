//! Starts and ends what sends spans and metrics, and carries the trace context over processes.

use std::collections::HashMap;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use opentelemetry::KeyValue;
use opentelemetry::metrics::MeterProvider as _;
use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::{TraceContextExt as _, TracerProvider as _};
use opentelemetry_otlp::{
    MetricExporter, Protocol, RetryPolicy, SpanExporter, WithExportConfig as _, WithHttpConfig as _,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::{PeriodicReader, SdkMeterProvider};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{BatchSpanProcessor, Sampler, SdkTracerProvider};
use reqwest::Url;
use reqwest::blocking::Client;
use tracing::Level;
use tracing::level_filters::LevelFilter;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::filter::{FilterExt as _, filter_fn};
use tracing_subscriber::layer::{Filter, Layer};
use tracing_subscriber::registry::Registry;

use crate::exporters::{self, LossNote};
use crate::metrics::Metrics;
use crate::processor::{Processor, Runs};

/// The target of spans that are only for collectors, and not shown by diagnostics.
const TARGET: &str = "telemetry";
/// The first part of the targets of the program's own spans.
const PROGRAM: &str = "tlaforge";
/// The first part of the targets of the log of the crates of OpenTelemetry.
const LIBRARY: &str = "opentelemetry";

/// Where to send what. The rest of the configuration is in the environment, which the crates of OpenTelemetry read.
#[derive(Debug, Clone, Default)]
pub struct Destination {
    /// The address for traces; `None` sends none. The exporter adds the path, if it has to.
    pub traces: Option<String>,
    pub metrics: Option<String>,
    /// Time limit of one request.
    pub timeout: Duration,
}

/// Why nothing can be sent.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// The address is not shown: it may contain a password.
    #[error("the address of the collector is not a URL that begins with http:// or https://")]
    Address,
    #[error("cannot start a client of HTTP: {0}")]
    Client(#[from] reqwest::Error),
}

/// What sends spans and metrics until the program ends.
#[derive(Debug)]
pub struct Telemetry {
    traces: SdkTracerProvider,
    metrics: Option<SdkMeterProvider>,
    loss: LossNote,
    runs: Runs,
}

impl Telemetry {
    /// Must not be called inside of an asynchronous runtime. `note` gets a line when something is lost for the first time.
    pub fn start(destination: &Destination, version: &'static str, note: fn(&str)) -> Result<Self, TelemetryError> {
        let loss = LossNote::new(note);
        let resource = resource(version);
        let batches = destination.traces.as_deref().map(|address| {
            let client = client(address, destination.timeout)?;
            let exporter = SpanExporter::builder().with_http().with_http_client(client);
            let exporter = exporter.with_protocol(Protocol::HttpBinary).with_retry_policy(retries()).build();
            // Its error contains the address.
            let exporter = exporter.map_err(|_| TelemetryError::Address)?;
            let exporter = exporters::Spans { exporter, loss: loss.clone() };
            Ok::<_, TelemetryError>(BatchSpanProcessor::builder(exporter).build())
        });
        let provider = destination.metrics.as_deref().map(|address| {
            let client = client(address, destination.timeout)?;
            let exporter = MetricExporter::builder().with_http().with_http_client(client);
            let exporter = exporter.with_protocol(Protocol::HttpBinary).with_retry_policy(retries()).build();
            // Its error contains the address.
            let exporter = exporter.map_err(|_| TelemetryError::Address)?;
            let reader = PeriodicReader::builder(exporters::Metrics { exporter, loss: loss.clone() }).build();
            let provider = SdkMeterProvider::builder().with_resource(resource.clone()).with_reader(reader);
            Ok::<_, TelemetryError>(provider.build())
        });
        let (batches, metrics) = (batches.transpose()?, provider.transpose()?);
        let runs = Runs::default();
        let processor = Processor {
            batches,
            metrics: metrics.as_ref().map(|provider| Metrics::new(&provider.meter(PROGRAM))),
            runs: runs.clone(),
        };
        let traces = SdkTracerProvider::builder()
            .with_resource(resource)
            // Metrics are counted from spans, so all are recorded. Collectors can sample.
            .with_sampler(Sampler::AlwaysOn)
            .with_span_processor(processor)
            .build();
        Ok(Self { traces, metrics, loss, runs })
    }

    /// The layers for the subscriber of the process: for spans, and for what is lost.
    pub fn layers(&self) -> [Box<dyn Layer<Registry> + Send + Sync>; 2] {
        let layer = tracing_opentelemetry::layer()
            .with_tracer(self.traces.tracer(PROGRAM))
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            // Then a span starts with its first child or its end, and knows the fields that were recorded before.
            .with_context_activation(false);
        [Box::new(layer.with_filter(own_spans())), Box::new(self.loss.clone().with_filter(library_warnings()))]
    }

    /// Says that a span, and all spans that begin in it from now on, belong to a run.
    pub fn name_run(&self, span: &tracing::Span, run: &str) {
        // This starts the span, which then has an id.
        let context = span.context();
        let context = context.span().span_context().clone();
        if context.is_valid() {
            self.runs.set(context.span_id(), run.to_owned().into());
        }
    }

    /// Sends what was not sent yet. Takes at most this long, whatever the collector does. Traces and metrics have a thread each:
    /// they may go to two collectors, and one that does not answer must not cost what the other would take.
    pub fn end(&self, patience: Duration) {
        let deadline = Instant::now() + patience;
        let (traces, metrics) = (self.traces.clone(), self.metrics.clone());
        // An error was noted when it happened. Their own limits are longer, so that the one here decides.
        let work: [Box<dyn FnOnce() + Send>; 2] = [
            Box::new(move || drop(traces.shutdown_with_timeout(patience * 2))),
            Box::new(move || drop(metrics.map(|metrics| metrics.shutdown_with_timeout(patience * 2)))),
        ];
        let (sender, ended) = channel();
        let started = work.map(|work| {
            let sender = sender.clone();
            let work = move || {
                work();
                let _ = sender.send(());
            };
            std::thread::Builder::new().name("telemetry".to_owned()).spawn(work)
        });
        let mut waits = started.into_iter().map(|started| {
            started.is_ok() && ended.recv_timeout(deadline.saturating_duration_since(Instant::now())).is_ok()
        });
        if !waits.all(|has_ended| has_ended) {
            self.loss.write(&format!("the collector did not answer within {} s at the end", patience.as_secs_f64()));
        }
    }
}

/// Spans of this program, and no events: they may carry texts.
fn own_spans() -> impl Filter<Registry> {
    let is_own = |metadata: &tracing::Metadata<'_>| {
        metadata.is_span()
            && *metadata.level() <= Level::INFO
            && (metadata.target() == TARGET || metadata.target().starts_with(PROGRAM))
    };
    filter_fn(is_own).and(LevelFilter::INFO)
}

/// What the crates of OpenTelemetry warn about.
fn library_warnings() -> impl Filter<Registry> {
    let is_warning = |metadata: &tracing::Metadata<'_>| {
        metadata.is_event() && *metadata.level() <= Level::WARN && metadata.target().starts_with(LIBRARY)
    };
    filter_fn(is_warning).and(LevelFilter::WARN)
}

fn resource(version: &'static str) -> Resource {
    // The name and the attributes of the environment are part of it already.
    let known = Resource::builder().build();
    let name = known.get(&"service.name".into());
    let is_named = name.is_some_and(|name| !name.as_str().starts_with("unknown_service"));
    // Processes that run at the same time must not have the same time series.
    let instance = format!("{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..));
    let mut builder = Resource::builder();
    if !is_named {
        builder = builder.with_service_name(PROGRAM);
    }
    let own = [("service.version", version.to_owned()), ("service.instance.id", instance)];
    let missing = own.into_iter().filter(|(key, _)| known.get(&(*key).into()).is_none());
    builder.with_attributes(missing.map(|(key, value)| KeyValue::new(key, value))).build()
}

/// One retry, soon: the three of the crate make a command that ends wait 1.7 s (measured) for a collector that is down.
fn retries() -> RetryPolicy {
    let soon = Duration::from_millis(100);
    RetryPolicy::recommended().with_max_retries(1).with_initial_delay(soon).with_max_jitter(soon)
}

/// A client with the TLS of the rest of the program.
fn client(address: &str, timeout: Duration) -> Result<Client, TelemetryError> {
    // A second call has no effect.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let url = Url::parse(address).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let url = url.ok_or(TelemetryError::Address)?;
    // Keys of the collector are in headers, which must not reach another server.
    let mut builder = Client::builder().redirect(reqwest::redirect::Policy::none()).timeout(timeout);
    let host = url.host_str().unwrap_or("").trim_matches(['[', ']']);
    // A proxy from the environment cannot reach this machine's loopback interface.
    if host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback()) {
        builder = builder.no_proxy();
    }
    Ok(builder.build().map_err(reqwest::Error::without_url)?)
}

/// The W3C trace context of the current span, for another process; `None` if nothing is sent.
pub fn traceparent() -> Option<String> {
    let mut fields = HashMap::new();
    TraceContextPropagator::new().inject_context(&tracing::Span::current().context(), &mut fields);
    fields.remove("traceparent")
}

/// Makes a span that has no child yet a child of one in another process. A text that is no trace context has no effect.
pub fn set_parent(span: &tracing::Span, traceparent: &str) {
    let fields = HashMap::from([("traceparent".to_owned(), traceparent.to_owned())]);
    // Without a layer there is nothing to set.
    let _ = span.set_parent(TraceContextPropagator::new().extract(&fields));
}
