//! Metrics, counted from the spans.

use std::time::Duration;

use opentelemetry::metrics::{Counter, Histogram, Meter, UpDownCounter};
use opentelemetry::{KeyValue, Value};
use opentelemetry_sdk::trace::SpanData;

use crate::spans::find;

/// Boundaries that the semantic conventions advise for durations of model requests, in seconds. Checks take as long.
const SECONDS: [f64; 14] = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
/// Those for tokens.
const TOKENS: [f64; 14] = [
    1.0,
    4.0,
    16.0,
    64.0,
    256.0,
    1_024.0,
    4_096.0,
    16_384.0,
    65_536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
];

#[derive(Debug)]
pub(crate) struct Metrics {
    requests: Histogram<f64>,
    tokens: Histogram<u64>,
    cost: Counter<f64>,
    tools: Histogram<f64>,
    running_jobs: UpDownCounter<i64>,
    ended_jobs: Counter<u64>,
}

impl Metrics {
    pub(crate) fn new(meter: &Meter) -> Self {
        let seconds = |name: &'static str, what: &'static str| {
            let histogram = meter.f64_histogram(name).with_unit("s").with_description(what);
            histogram.with_boundaries(SECONDS.to_vec()).build()
        };
        Self {
            requests: seconds("gen_ai.client.operation.duration", "Duration of requests to models."),
            tokens: meter
                .u64_histogram("gen_ai.client.token.usage")
                .with_unit("{token}")
                .with_description("Tokens of requests to models.")
                .with_boundaries(TOKENS.to_vec())
                .build(),
            cost: meter
                .f64_counter("tlaforge.model.cost")
                .with_unit("{USD}")
                .with_description("Cost of requests to models, if the price is known.")
                .build(),
            tools: seconds("tlaforge.tool.duration", "Duration of calls of tools, by their result."),
            running_jobs: meter
                .i64_up_down_counter("tlaforge.jobs.running")
                .with_unit("{job}")
                .with_description("Jobs that the worker does now.")
                .build(),
            ended_jobs: meter
                .u64_counter("tlaforge.jobs.ended")
                .with_unit("{job}")
                .with_description("Jobs that the worker has ended, by their result.")
                .build(),
        }
    }

    pub(crate) fn job_started(&self, kind: &Value) {
        self.running_jobs.add(1, &[KeyValue::new("tlaforge.job.kind", kind.clone())]);
    }

    /// Counts a span that has ended, with the attributes that are sent.
    pub(crate) fn span_ended(&self, name: &str, span: &SpanData) {
        let took = span.end_time.duration_since(span.start_time).unwrap_or(Duration::ZERO).as_secs_f64();
        let value = |key| find(&span.attributes, key);
        let chosen = |keys: &[&'static str]| -> Vec<KeyValue> {
            keys.iter().filter_map(|key| Some(KeyValue::new(*key, value(key)?.clone()))).collect()
        };
        match name {
            "model_request" => {
                let mut labels = chosen(&["gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model"]);
                for (key, kind) in [("gen_ai.usage.input_tokens", "input"), ("gen_ai.usage.output_tokens", "output")] {
                    if let Some(Value::I64(count)) = value(key) {
                        let labels = [&labels[..], &[KeyValue::new("gen_ai.token.type", kind)]].concat();
                        self.tokens.record(u64::try_from(*count).unwrap_or_default(), &labels);
                    }
                }
                if let Some(Value::F64(cost)) = value("tlaforge.cost.usd") {
                    self.cost.add(*cost, &labels);
                }
                labels.extend(chosen(&["error.type"]));
                self.requests.record(took, &labels);
            }
            "tool" => {
                let keys = ["tlaforge.tool.checker", "tlaforge.tool.call", "tlaforge.tool.result", "error.type"];
                self.tools.record(took, &chosen(&keys));
            }
            crate::spans::JOB => {
                self.running_jobs.add(-1, &chosen(&["tlaforge.job.kind"]));
                self.ended_jobs.add(1, &chosen(&["tlaforge.job.kind", "tlaforge.job.result"]));
            }
            _ => {}
        }
    }
}
