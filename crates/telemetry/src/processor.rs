//! What happens to each span: it gets the id of its run, is counted, and is sent as `spans` says.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
    pub runs: Runs,
}

/// The runs of the spans that have not ended.
#[derive(Debug, Clone, Default)]
pub(crate) struct Runs(Arc<Mutex<HashMap<SpanId, Value>>>);

impl Runs {
    fn lock(&self) -> MutexGuard<'_, HashMap<SpanId, Value>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Names the run of a span that has started.
    pub(crate) fn set(&self, span: SpanId, run: Value) {
        self.lock().insert(span, run);
    }
}

impl SpanProcessor for Processor {
    /// A span starts when its first child does at the latest, so a parent is known before its children.
    fn on_start(&self, span: &mut Span, parent: &Context) {
        let Some(data) = span.exported_data() else { return };
        let mut runs = self.runs.lock();
        let inherited = || runs.get(&parent.span().span_context().span_id()).cloned();
        if let Some(run) = find(&data.attributes, RUN_FIELD).cloned().or_else(inherited) {
            runs.insert(data.span_context.span_id(), run);
        }
        if let (JOB, Some(metrics), Some(kind)) = (&*data.name, &self.metrics, find(&data.attributes, "kind")) {
            metrics.job_started(kind);
        }
    }

    fn on_end(&self, span: SpanData) {
        let run = self.runs.lock().remove(&span.span_context.span_id());
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
