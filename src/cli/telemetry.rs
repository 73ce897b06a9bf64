//! Telemetry by OpenTelemetry: whether and where it is sent, as the environment says, and the span of the command. In a build
//! without the feature `otel`, nothing is sent.

use std::path::Path;
use std::time::Duration;

use tracing::field::Empty;
use tracing::{Span, info_span};
use tracing_subscriber::layer::Layer;
use tracing_subscriber::registry::Registry;

use super::environment::nonempty_variable;
use super::failure::Failure;
use crate::exit::Exit;
use crate::pipeline::Run;

pub(super) type BoxedLayer = Box<dyn Layer<Registry> + Send + Sync>;

/// Time for the last batch when a command ends.
pub(super) const LAST_BATCH: Duration = Duration::from_secs(2);
/// The same if the process ends by a second signal.
pub(super) const LAST_BATCH_AT_SIGNAL: Duration = Duration::from_millis(500);

/// The variable with the span that a process is a part of.
pub(super) const TRACEPARENT: &str = "TRACEPARENT";

/// The span of a command: the outermost one of this process.
pub(super) fn command_span(command: &'static str) -> Span {
    // Only with `-v`: the variable may be for other programs.
    #[cfg(not(feature = "otel"))]
    if nonempty_variable("OTEL_EXPORTER_OTLP_ENDPOINT").is_some() {
        tracing::info!("no telemetry is sent: build tlaforge with the feature `otel`");
    }
    let span = info_span!(target: "telemetry", "command", command, status = Empty, error = Empty);
    if let Some(traceparent) = nonempty_variable(TRACEPARENT) {
        set_parent(&span, &traceparent);
    }
    span
}

/// Says that a command works on one run. Called in the span of the command, or of the part of it that does.
pub(super) fn name_run(id: &str) {
    name_run_of(&Span::current(), id);
}

/// The same for the run in a folder, if it has one.
pub(super) fn name_run_in(folder: &Path) {
    if Run::exists(folder) {
        name_run(&Run::id_in(folder));
    }
}

pub(super) fn record_end(span: &Span, ended: &Result<Exit, Failure>) {
    let exit = ended.as_ref().map_or_else(|failure| failure.exit, |exit| *exit);
    span.record("status", exit.code());
    // By the semantic conventions of command lines, every other status is an error, also that of a negative verdict.
    if exit != Exit::Ok {
        span.record("error", <&str>::from(exit));
    }
}

#[cfg(feature = "otel")]
use with_otel::name_run_of;
#[cfg(all(feature = "otel", feature = "restate"))]
pub(super) use with_otel::traceparent;
#[cfg(feature = "otel")]
pub(super) use with_otel::{end, set_parent, start};

#[cfg(feature = "otel")]
mod with_otel {
    use std::sync::OnceLock;
    use std::time::Duration;

    use tlaforge_telemetry::{Destination, Telemetry};
    use tracing::Span;

    use super::BoxedLayer;
    use crate::cli::environment::nonempty_variable;
    use crate::cli::terminal::print_message;

    /// Time limit of a request, unless the environment has one.
    const TIMEOUT: Duration = Duration::from_secs(10);
    /// The one of this process.
    static TELEMETRY: OnceLock<Telemetry> = OnceLock::new();

    fn warn(what: &str) {
        print_message(&format!("warning: {what}; the work goes on"));
    }

    /// Starts it if the environment names a collector. What is wrong there is no error of the command: the variables are for all
    /// programs.
    pub(in crate::cli) fn start() -> Vec<BoxedLayer> {
        let is_disabled = nonempty_variable("OTEL_SDK_DISABLED").is_some_and(|v| v.eq_ignore_ascii_case("true"));
        if is_disabled {
            return Vec::new();
        }
        let (traces, metrics) = match (find_address("TRACES"), find_address("METRICS")) {
            (Ok(traces), Ok(metrics)) => (traces, metrics),
            (Err(what), _) | (_, Err(what)) => {
                warn(&format!("no telemetry is sent: {what}"));
                return Vec::new();
            }
        };
        let destination = Destination {
            traces,
            metrics,
            timeout: nonempty_variable("OTEL_EXPORTER_OTLP_TIMEOUT")
                .and_then(|text| text.parse().ok().map(Duration::from_millis))
                .unwrap_or(TIMEOUT),
        };
        if destination.traces.is_none() && destination.metrics.is_none() {
            return Vec::new();
        }
        match Telemetry::start(&destination, env!("CARGO_PKG_VERSION"), warn) {
            Ok(telemetry) => TELEMETRY.get_or_init(|| telemetry).layers().into(),
            Err(error) => {
                warn(&format!("no telemetry is sent: {error}"));
                Vec::new()
            }
        }
    }

    /// The collector for a signal, if there is one for it.
    fn find_address(signal: &str) -> Result<Option<String>, String> {
        let of_signal = |what: &str| {
            nonempty_variable(&format!("OTEL_EXPORTER_OTLP_{signal}_{what}"))
                .or_else(|| nonempty_variable(&format!("OTEL_EXPORTER_OTLP_{what}")))
        };
        let is_off = nonempty_variable(&format!("OTEL_{signal}_EXPORTER")).is_some_and(|exporter| exporter != "otlp");
        let Some(address) = of_signal("ENDPOINT").filter(|_| !is_off) else { return Ok(None) };
        match of_signal("PROTOCOL") {
            Some(protocol) if protocol != "http/protobuf" => Err(format!(
                "OTEL_EXPORTER_OTLP_PROTOCOL is {protocol:?}, and tlaforge has only http/protobuf (usually on port 4318)"
            )),
            _ => Ok(Some(address)),
        }
    }

    /// Sends what was not sent yet. Waits no longer than this for the collector.
    pub(in crate::cli) fn end(patience: Duration) {
        if let Some(telemetry) = TELEMETRY.get() {
            telemetry.end(patience);
        }
    }

    /// The trace context of the current span, for another process.
    #[cfg(feature = "restate")]
    pub(in crate::cli) fn traceparent() -> Option<String> {
        TELEMETRY.get().and_then(|_| tlaforge_telemetry::traceparent())
    }

    /// Says that a span, and those that begin in it from now on, belong to a run.
    pub(in crate::cli) fn name_run_of(span: &Span, id: &str) {
        if let Some(telemetry) = TELEMETRY.get() {
            telemetry.name_run(span, id);
        }
    }

    /// Makes a new span a child of one in another process.
    pub(in crate::cli) fn set_parent(span: &Span, traceparent: &str) {
        if TELEMETRY.get().is_some() {
            tlaforge_telemetry::set_parent(span, traceparent);
        }
    }
}

#[cfg(not(feature = "otel"))]
mod without_otel {
    use std::time::Duration;

    use tracing::Span;

    use super::BoxedLayer;

    pub(in crate::cli) fn start() -> Vec<BoxedLayer> {
        Vec::new()
    }

    pub(in crate::cli) fn end(_: Duration) {}

    #[cfg(feature = "restate")]
    pub(in crate::cli) fn traceparent() -> Option<String> {
        None
    }

    pub(in crate::cli) fn name_run_of(_: &Span, _: &str) {}

    pub(in crate::cli) fn set_parent(_: &Span, _: &str) {}
}
#[cfg(not(feature = "otel"))]
use without_otel::name_run_of;
#[cfg(all(not(feature = "otel"), feature = "restate"))]
pub(super) use without_otel::traceparent;
#[cfg(not(feature = "otel"))]
pub(super) use without_otel::{end, set_parent, start};
