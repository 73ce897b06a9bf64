//! The exporters of OTLP, with a note for the first batch that is lost.

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
