//! The spans that are sent, with their attributes. A field of `tracing` that is not listed here never leaves the process: a
//! span may name a module that a model has named.

use opentelemetry::trace::{SpanKind, Status};
use opentelemetry::{Key, KeyValue, Value};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};

/// The field that names a run. The span with this field, and all spans inside of it, get the attribute.
pub(crate) const RUN_FIELD: &str = "run_id";
pub(crate) const RUN_ID: &str = "tlaforge.run.id";
/// The span of a job, in `tracing`.
pub(crate) const JOB: &str = "job";

#[derive(Debug, Clone, Copy)]
enum Type {
    Text,
    /// `tracing-opentelemetry` records unsigned integers as text.
    Integer,
    Number,
}

use Type::{Integer, Number, Text};

struct Definition {
    /// The name in `tracing`.
    name: &'static str,
    /// The name that is sent: a word, and the value of a field if there is one.
    word: &'static str,
    subject: Option<&'static str>,
    kind: SpanKind,
    /// Fields of `tracing`, and the attributes that they become.
    fields: &'static [(&'static str, &'static str, Type)],
}

const ERROR: (&str, &str, Type) = ("error", "error.type", Text);

/// By the semantic conventions of OpenTelemetry 1.40, of generative AI and of command lines, if they have an attribute.
const SPANS: [Definition; 9] = [
    Definition {
        name: "command",
        word: "tlaforge",
        subject: Some("command"),
        kind: SpanKind::Internal,
        fields: &[("command", "tlaforge.command", Text), ("status", "process.exit.code", Integer), ERROR],
    },
    Definition {
        name: "run",
        word: "run",
        subject: None,
        kind: SpanKind::Internal,
        fields: &[("outcome", "tlaforge.run.outcome", Text), ERROR],
    },
    Definition {
        name: "attempt",
        word: "attempt",
        subject: Some("node"),
        kind: SpanKind::Internal,
        fields: &[
            ("node", "tlaforge.node", Text),
            ("rev", "tlaforge.revision", Integer),
            ("attempt", "tlaforge.attempt", Integer),
        ],
    },
    Definition {
        name: "candidate",
        word: "candidate",
        subject: Some("number"),
        kind: SpanKind::Internal,
        fields: &[("number", "tlaforge.candidate", Integer), ("stage", "tlaforge.stage", Text)],
    },
    Definition {
        name: "model_call",
        word: "model call",
        subject: Some("node"),
        kind: SpanKind::Internal,
        fields: &[
            ("provider", "tlaforge.provider", Text),
            ("node", "tlaforge.node", Text),
            ("purpose", "tlaforge.purpose", Text),
            ("sample", "tlaforge.sample", Integer),
            ERROR,
        ],
    },
    Definition {
        name: "model_request",
        word: "chat",
        subject: Some("model"),
        kind: SpanKind::Client,
        fields: &[
            ("operation", "gen_ai.operation.name", Text),
            ("provider", "gen_ai.provider.name", Text),
            ("model", "gen_ai.request.model", Text),
            ("input", "gen_ai.usage.input_tokens", Integer),
            ("output", "gen_ai.usage.output_tokens", Integer),
            ("cache_read", "gen_ai.usage.cache_read.input_tokens", Integer),
            ("attempt", "tlaforge.try", Integer),
            ("cost_usd", "tlaforge.cost.usd", Number),
            ERROR,
        ],
    },
    Definition {
        name: "tool",
        word: "tool",
        subject: Some("call"),
        kind: SpanKind::Internal,
        fields: &[
            ("checker", "tlaforge.tool.checker", Text),
            ("call", "tlaforge.tool.call", Text),
            ("result", "tlaforge.tool.result", Text),
            ("generated", "tlaforge.tool.states.generated", Integer),
            ("distinct", "tlaforge.tool.states.distinct", Integer),
            ERROR,
        ],
    },
    Definition {
        name: "process",
        word: "process",
        subject: Some("executable"),
        kind: SpanKind::Internal,
        fields: &[
            ("executable", "process.executable.name", Text),
            ("pid", "process.pid", Integer),
            ("status", "process.exit.code", Integer),
            ERROR,
        ],
    },
    Definition {
        name: JOB,
        word: "job",
        subject: Some("kind"),
        kind: SpanKind::Consumer,
        fields: &[("kind", "tlaforge.job.kind", Text), ("result", "tlaforge.job.result", Text)],
    },
];

/// The value of an attribute.
pub(crate) fn find<'a>(attributes: &'a [KeyValue], key: &str) -> Option<&'a Value> {
    attributes.iter().find(|attribute| attribute.key.as_str() == key).map(|attribute| &attribute.value)
}

/// Makes what is sent of what `tracing` recorded. `run` is the run that the span belongs to.
pub(crate) fn translate(span: SpanData, run: Option<Value>) -> SpanData {
    let definition = SPANS.iter().find(|definition| definition.name == span.name);
    let (mut attributes, mut name) = (Vec::new(), span.name.clone());
    let mut kind = SpanKind::Internal;
    if let Some(definition) = definition {
        attributes.extend(definition.fields.iter().filter_map(|(field, key, of_type)| {
            Some(KeyValue::new(Key::from_static_str(key), convert(find(&span.attributes, field)?, *of_type)?))
        }));
        let subject = definition.subject.and_then(|subject| find(&span.attributes, subject));
        name = subject.map_or_else(
            || definition.word.into(),
            |subject| format!("{} {}", definition.word, subject.as_str()).into(),
        );
        kind = definition.kind.clone();
    }
    attributes.extend(run.map(|run| KeyValue::new(RUN_ID, run)));
    let status = if find(&attributes, ERROR.1).is_some() { Status::error("") } else { Status::Unset };
    SpanData {
        name,
        span_kind: kind,
        attributes,
        // Both may carry texts. There are none, because the layer gets no events.
        events: SpanEvents::default(),
        links: SpanLinks::default(),
        status,
        ..span
    }
}

fn convert(value: &Value, of_type: Type) -> Option<Value> {
    match of_type {
        Text => Some(value.as_str().into_owned().into()),
        Integer => value.as_str().parse::<i64>().ok().map(Value::I64),
        Number => value.as_str().parse::<f64>().ok().map(Value::F64),
    }
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use opentelemetry::InstrumentationScope;
    use opentelemetry::trace::{Event, SpanContext, SpanId};

    use super::*;

    fn recorded(name: &'static str, fields: &[(&'static str, &'static str)]) -> SpanData {
        let mut events = SpanEvents::default();
        events.events.push(Event::with_name("the text of a document"));
        SpanData {
            span_context: SpanContext::NONE,
            parent_span_id: SpanId::INVALID,
            parent_span_is_remote: false,
            span_kind: SpanKind::Server,
            name: name.into(),
            start_time: UNIX_EPOCH,
            end_time: UNIX_EPOCH,
            attributes: fields.iter().map(|(key, value)| KeyValue::new(*key, *value)).collect(),
            dropped_attributes_count: 0,
            events,
            links: SpanLinks::default(),
            status: Status::Unset,
            instrumentation_scope: InstrumentationScope::default(),
        }
    }

    #[test]
    fn only_listed_fields_are_sent() {
        let fields = [
            ("call", "check"),
            ("distinct", "1000"),
            ("generated", "many"),
            ("module", "Secret"),
            ("error", "timeout"),
        ];
        let sent = translate(recorded("tool", &fields), Some("runs/a".into()));
        let attributes = [
            KeyValue::new("tlaforge.tool.call", "check"),
            // "many" is no number of states.
            KeyValue::new("tlaforge.tool.states.distinct", 1000_i64),
            KeyValue::new("error.type", "timeout"),
            KeyValue::new(RUN_ID, "runs/a"),
        ];
        assert_eq!(sent.attributes, attributes);
        assert_eq!(
            (sent.name.as_ref(), sent.status, sent.span_kind),
            ("tool check", Status::error(""), SpanKind::Internal)
        );
        assert!(sent.events.is_empty());
        // A span that is not listed has no attributes.
        let other = translate(recorded("of a library", &fields), None);
        assert_eq!((other.attributes, other.status), (Vec::new(), Status::Unset));
    }
}
