//! A collector of OpenTelemetry on loopback. What it was sent is kept, and decoded with the types of the protocol.

use std::collections::BTreeMap;

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::{metric, number_data_point};
use prost::Message as _;

use super::model_server::{ModelServer, Reply, Seen};

pub type Attributes = BTreeMap<String, String>;

/// A span.
#[derive(Debug, Clone)]
pub struct Sent {
    pub name: String,
    pub trace: Vec<u8>,
    pub id: Vec<u8>,
    /// Empty for a root.
    pub parent: Vec<u8>,
    pub attributes: Attributes,
    pub resource: Attributes,
    /// Whether it has an event, a link or a text of its status.
    pub has_texts: bool,
}

/// A value of a metric: a sum, or the sum of a histogram with its count.
#[derive(Debug, Clone)]
pub struct Point {
    pub metric: String,
    pub attributes: Attributes,
    pub sum: f64,
    pub count: u64,
}

/// From a span to its root.
pub fn ancestors<'a>(spans: &'a [Sent], span: &'a Sent) -> Vec<&'a Sent> {
    std::iter::successors(Some(span), |span| spans.iter().find(|other| other.id == span.parent)).collect()
}

pub struct Collector(ModelServer);

impl Collector {
    /// Takes everything.
    pub fn start() -> Self {
        Self::answering(Reply::status(200, ""))
    }

    pub fn answering(reply: Reply) -> Self {
        Self::deciding(move |_| reply.clone())
    }

    pub fn deciding(answer: impl FnMut(&Seen) -> Reply + Send + 'static) -> Self {
        Self(ModelServer::start(answer))
    }

    pub fn url(&self) -> String {
        self.0.url()
    }

    pub fn requests(&self) -> Vec<Seen> {
        self.0.requests()
    }

    pub fn spans(&self) -> Vec<Sent> {
        let bodies = self.requests().into_iter().filter(|seen| seen.path == "/v1/traces");
        let requests = bodies.map(|seen| ExportTraceServiceRequest::decode(&seen.raw[..]).unwrap());
        let mut spans = Vec::new();
        for from in requests.flat_map(|request| request.resource_spans) {
            let resource = attributes(&from.resource.unwrap().attributes);
            for span in from.scope_spans.into_iter().flat_map(|scope| scope.spans) {
                let has_message = span.status.is_some_and(|status| !status.message.is_empty());
                spans.push(Sent {
                    has_texts: has_message || !span.events.is_empty() || !span.links.is_empty(),
                    name: span.name,
                    trace: span.trace_id,
                    id: span.span_id,
                    parent: span.parent_span_id,
                    attributes: attributes(&span.attributes),
                    resource: resource.clone(),
                });
            }
        }
        spans
    }

    /// The spans with this name, or with this first word.
    pub fn named(&self, name: &str) -> Vec<Sent> {
        let is_it =
            |span: &Sent| span.name.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
        self.spans().into_iter().filter(is_it).collect()
    }

    /// The values of all metrics, those of the last export of each process.
    pub fn points(&self) -> Vec<Point> {
        let bodies = self.requests().into_iter().filter(|seen| seen.path == "/v1/metrics");
        let mut by_process = BTreeMap::new();
        for seen in bodies {
            let request = ExportMetricsServiceRequest::decode(&seen.raw[..]).unwrap();
            for from in request.resource_metrics {
                let process = attributes(&from.resource.as_ref().unwrap().attributes)["service.instance.id"].clone();
                by_process.insert(process, from);
            }
        }
        let metrics = by_process.into_values().flat_map(|from| from.scope_metrics).flat_map(|scope| scope.metrics);
        let mut points = Vec::new();
        for metric in metrics {
            let name = metric.name;
            let mut add = |of: &[KeyValue], sum: f64, count: u64| {
                points.push(Point { metric: name.clone(), attributes: attributes(of), sum, count });
            };
            match metric.data.unwrap() {
                metric::Data::Sum(sum) => {
                    for point in sum.data_points {
                        let value = match point.value.unwrap() {
                            number_data_point::Value::AsDouble(value) => value,
                            number_data_point::Value::AsInt(value) => value.to_string().parse().unwrap(),
                        };
                        add(&point.attributes, value, 1);
                    }
                }
                metric::Data::Histogram(histogram) => {
                    for point in histogram.data_points {
                        add(&point.attributes, point.sum.unwrap(), point.count);
                    }
                }
                other => panic!("no metric of tlaforge is such: {other:?}"),
            }
        }
        points
    }

    /// Whether a text is in anything that was sent, but in the headers.
    pub fn contains(&self, text: &str) -> bool {
        self.requests().iter().any(|seen| seen.raw.windows(text.len()).any(|part| part == text.as_bytes()))
    }
}

fn attributes(all: &[KeyValue]) -> Attributes {
    all.iter().map(|attribute| (attribute.key.clone(), text(attribute.value.as_ref()))).collect()
}

fn text(value: Option<&AnyValue>) -> String {
    match value.and_then(|value| value.value.as_ref()) {
        Some(any_value::Value::StringValue(text)) => text.clone(),
        Some(any_value::Value::IntValue(number)) => number.to_string(),
        Some(any_value::Value::DoubleValue(number)) => number.to_string(),
        other => format!("{other:?}"),
    }
}
