//! The exporters of OTLP, with a note for the first loss.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use opentelemetry_otlp::{MetricExporter, SpanExporter};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::metrics::Temporality;
use opentelemetry_sdk::metrics::data::ResourceMetrics;
use opentelemetry_sdk::metrics::exporter::PushMetricExporter;
use opentelemetry_sdk::trace::SpanData;
use tracing::field::{Field, Visit};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::Registry;

/// Notes once that something is lost.
#[derive(Debug, Clone)]
pub(crate) struct LossNote {
    note: fn(&str),
    is_noted: Arc<AtomicBool>,
}

impl LossNote {
    pub(crate) fn new(note: fn(&str)) -> Self {
        Self { note, is_noted: Arc::default() }
    }

    pub(crate) fn write(&self, what: &str) {
        if !self.is_noted.swap(true, Ordering::Relaxed) {
            (self.note)(&format!("telemetry is lost: {what}"));
        }
    }

    fn check(&self, result: OTelSdkResult) -> OTelSdkResult {
        // The text has a status or a reason, and neither the address nor what the server answered.
        result.inspect_err(|error| match error {
            OTelSdkError::InternalFailure(what) => self.write(what),
            other => self.write(&other.to_string()),
        })
    }
}

/// What the crates of OpenTelemetry say only in their own log.
impl Layer<Registry> for LossNote {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, Registry>) {
        match event.metadata().name() {
            "HttpTraceClient.PartialSuccess" | "HttpMetricsClient.PartialSuccess" => {
                let mut rejected = Rejected(0);
                event.record(&mut rejected);
                // Without a number, the collector only warns. Its text is not shown: it may quote what it got.
                if rejected.0 > 0 {
                    self.write(&format!("the collector rejected {} spans or metric values", rejected.0));
                }
            }
            "BatchSpanProcessor.SpanDroppingStarted" => {
                self.write("the collector is too slow, and the queue of spans is full");
            }
            _ => {}
        }
    }
}

/// How many spans or values of metrics were rejected.
struct Rejected(i64);

impl Visit for Rejected {
    fn record_i64(&mut self, field: &Field, value: i64) {
        if ["rejected_spans", "rejected_data_points"].contains(&field.name()) {
            self.0 = value;
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}

#[derive(Debug)]
pub(crate) struct Spans {
    pub exporter: SpanExporter,
    pub loss: LossNote,
}

impl opentelemetry_sdk::trace::SpanExporter for Spans {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        self.loss.check(self.exporter.export(batch).await)
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

pub(crate) struct Metrics {
    pub exporter: MetricExporter,
    pub loss: LossNote,
}

impl PushMetricExporter for Metrics {
    async fn export(&self, metrics: &ResourceMetrics) -> OTelSdkResult {
        self.loss.check(self.exporter.export(metrics).await)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn temporality(&self) -> Temporality {
        self.exporter.temporality()
    }
}
