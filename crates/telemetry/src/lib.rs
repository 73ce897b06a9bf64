//! Traces and metrics of tlaforge by OpenTelemetry: sends spans of `tracing`, and metrics that are counted from them, to a
//! collector. Knows the names of the spans, and nothing else of the program.

mod exporters;
mod metrics;
mod processor;
mod spans;
mod telemetry;

pub use telemetry::{Destination, Telemetry, TelemetryError, set_parent, traceparent};
