//! What happens to each span: it gets the id of its run, is counted, and is sent as `spans` says.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use opentelemetry::trace::{SpanId, TraceContextExt as _};
use opentelemetry::{Context, Value};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{BatchSpanProcessor, Span, SpanData, SpanProcessor};

use crate::metrics::Metrics;
use crate::spans::{JOB, RUN_FIELD, find, translate};

#[derive(Debug)]
pub(crate) struct Processor {
    /// Where spans are sent, if they are.
    pub batches: Option<BatchSpanProcessor>,
    pub metrics: Option<Metrics>,
    /// The runs of the spans that have not ended.
    pub runs: Mutex<HashMap<SpanId, Value>>,
}

impl Processor {
    fn runs(&self) -> MutexGuard<'_, HashMap<SpanId, Value>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SpanProcessor for Processor {
    /// A span starts when its first child does at the latest, so a parent is known before its children.
    fn on_start(&self, span: &mut Span, parent: &Context) {
        let Some(data) = span.exported_data() else { return };
        let mut runs = self.runs();
        let inherited = || runs.get(&parent.span().span_context().span_id()).cloned();
        if let Some(run) = find(&data.attributes, RUN_FIELD).cloned().or_else(inherited) {
            runs.insert(data.span_context.span_id(), run);
        }
        if let (JOB, Some(metrics), Some(kind)) = (&*data.name, &self.metrics, find(&data.attributes, "kind")) {
            metrics.job_started(kind);
        }
    }

    fn on_end(&self, span: SpanData) {
        let known = self.runs().remove(&span.span_context.span_id());
        // A command learns late what its run is.
        let run = find(&span.attributes, RUN_FIELD).cloned().or(known);
        let name = span.name.clone();
        let span = translate(span, run);
        if let Some(metrics) = &self.metrics {
            metrics.span_ended(&name, &span);
        }
        if let Some(batches) = &self.batches {
            batches.on_end(span);
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.batches.as_ref().map_or(Ok(()), SpanProcessor::force_flush)
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.batches.as_ref().map_or(Ok(()), |batches| batches.shutdown_with_timeout(timeout))
    }

    fn set_resource(&mut self, resource: &Resource) {
        if let Some(batches) = &mut self.batches {
            batches.set_resource(resource);
        }
    }
}
