//! The lines of a log file as JSON objects: lines or a list of JSON, text that a pattern describes, or spans of OpenTelemetry; plain or
//! compressed with gzip.

use std::io::{Error, Read as _};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use serde_json::{Map, Value};

use super::error::ConformError;
use super::line::{LogPlace, STANDARD_INPUT};
use super::text_form::TextForm;

/// Calls `each` with the number of each line of a file and its object. The result is the number of lines that no pattern describes
/// and that may be left out.
pub(super) fn read_records(
    file: &Path,
    form: &TextForm<'_>,
    each: &mut dyn FnMut(LogPlace, &Value) -> Result<(), ConformError>,
) -> Result<usize, ConformError> {
    let text = read_text(file).map_err(|e| ConformError::of_file(file, format!("cannot read it: {e}")))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let place = |line| LogPlace { file: file.to_owned(), line, span: None };
    let mut left_out = 0;
    if form.is_text() {
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            match form.record(line).map_err(|what| ConformError::at(&place(at + 1), what))? {
                Some(record) => each(place(at + 1), &record)?,
                None if form.ignores_others() => left_out += 1,
                None => {
                    return Err(ConformError::at(&place(at + 1), "no pattern of the map describes this line")
                        .with_hint("add a pattern for it, or say `other_lines = \"ignore\"` in [log]"));
                }
            }
        }
        return Ok(left_out);
    }
    if text.trim_start().starts_with('[') {
        let all: Vec<Value> = serde_json::from_str(text).map_err(|e| {
            ConformError::at(&place(e.line()), format!("the list is not complete JSON: {e}"))
                .with_hint("if this is text, the map says with `patterns` in [log] what the lines are")
        })?;
        for (at, value) in all.iter().enumerate() {
            each_of(value, place(at + 1), each)?;
        }
        return Ok(0);
    }
    // An export of OpenTelemetry is often one object on many lines.
    if let Ok(value @ Value::Object(_)) = serde_json::from_str(text)
        && is_export(&value)
    {
        each_of(&value, place(1), each)?;
        return Ok(0);
    }
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let value: Value = serde_json::from_str(line).map_err(|e| {
            let hint = if text.lines().count() == at + 1 {
                "the last line may be cut off; delete it if so"
            } else {
                "each line has to be one JSON object; for text, the map says with `patterns` in [log] what the lines are"
            };
            ConformError::at(&place(at + 1), format!("not valid JSON: {e}")).with_hint(hint)
        })?;
        each_of(&value, place(at + 1), each)?;
    }
    Ok(0)
}

/// The text of a file or of standard input, which may be compressed.
fn read_text(file: &Path) -> Result<String, Error> {
    let bytes = if file == Path::new(STANDARD_INPUT) {
        limited(std::io::stdin().lock())?
    } else {
        tlaforge_files::read(file, tlaforge_files::LOG)?
    };
    let bytes = if bytes.starts_with(&[0x1f, 0x8b]) { limited(MultiGzDecoder::new(bytes.as_slice()))? } else { bytes };
    String::from_utf8(bytes).map_err(|e| {
        let line = e.as_bytes()[..e.utf8_error().valid_up_to()].split(|byte| *byte == b'\n').count();
        Error::other(format!("line {line} is not UTF-8"))
    })
}

/// Everything that can be read, up to the limit of a log.
fn limited(from: impl std::io::Read) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    from.take(tlaforge_files::LOG + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > tlaforge_files::LOG {
        return Err(Error::other(format!("it is larger than {} MiB", tlaforge_files::LOG >> 20)));
    }
    Ok(bytes)
}

/// The object itself, or the spans of an export.
fn each_of(
    value: &Value,
    place: LogPlace,
    each: &mut dyn FnMut(LogPlace, &Value) -> Result<(), ConformError>,
) -> Result<(), ConformError> {
    if !is_export(value) {
        return each(place, value);
    }
    let all = spans(value).map_err(|what| ConformError::at(&place, what))?;
    for (at, span) in all.iter().enumerate() {
        each(LogPlace { span: Some(at + 1), ..place.clone() }, span)?;
    }
    Ok(())
}

fn is_export(value: &Value) -> bool {
    value.get("resourceSpans").is_some() || value.get("resource_spans").is_some()
}

/// The list with this name; empty if there is none.
fn list<'v>(value: &'v Value, name: &str) -> Result<&'v [Value], String> {
    match value.get(name) {
        None => Ok(&[]),
        Some(Value::Array(all)) => Ok(all),
        Some(_) => Err(format!("`{name}` of the spans is no list")),
    }
}

fn items<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The spans of an export, each followed by its events, as flat objects. Source: `trace.proto` of opentelemetry-proto 1, and 0.15 for
/// instrumentation libraries, the earlier name of scopes.
fn spans(export: &Value) -> Result<Vec<Value>, String> {
    if export.get("resource_spans").is_some() {
        return Err("spans as JSON have names such as `resourceSpans`, not `resource_spans`".to_owned());
    }
    let mut all = Vec::new();
    for resource in list(export, "resourceSpans")? {
        let of_resource = resource.get("resource").map(attributes).unwrap_or_default();
        let scopes = list(resource, "scopeSpans")?.iter().chain(list(resource, "instrumentationLibrarySpans")?);
        for scope in scopes {
            for span in list(scope, "spans")? {
                if !span.is_object() {
                    return Err(format!("a span is no object: {span}"));
                }
                let part = |name: &str| span.get(name).cloned();
                let common = [
                    ("span", part("spanId")),
                    ("parent", part("parentSpanId").filter(|parent| parent != "")),
                    ("trace", part("traceId")),
                    ("resource", Some(Value::Object(of_resource.clone()))),
                ];
                let own = [
                    ("name", part("name")),
                    ("kind", part("kind")),
                    ("start", part("startTimeUnixNano").map(nanoseconds)),
                    ("end", part("endTimeUnixNano").map(nanoseconds)),
                    ("attributes", Some(Value::Object(attributes(span)))),
                    ("status", span.pointer("/status/code").cloned()),
                ];
                all.push(object(own.into_iter().chain(common.clone())));
                for event in list(span, "events")? {
                    let time = event.get("timeUnixNano").cloned().map(nanoseconds);
                    let own = [
                        ("event", event.get("name").cloned()),
                        ("span_name", part("name")),
                        ("start", time.clone()),
                        ("end", time),
                        ("attributes", Some(Value::Object(attributes(event)))),
                    ];
                    all.push(object(own.into_iter().chain(common.clone())));
                }
            }
        }
    }
    Ok(all)
}

fn object<'n>(parts: impl Iterator<Item = (&'n str, Option<Value>)>) -> Value {
    Value::Object(parts.filter_map(|(name, value)| Some((name.to_owned(), value?))).collect())
}

/// JSON writes numbers of 64 bits as texts.
fn nanoseconds(value: Value) -> Value {
    match value.as_str().and_then(|text| text.parse::<i64>().ok()) {
        Some(number) => Value::from(number),
        None => value,
    }
}

fn attributes(of: &Value) -> Map<String, Value> {
    let pairs = items(of, "attributes").iter();
    pairs.filter_map(|pair| Some((pair.get("key")?.as_str()?.to_owned(), attribute(pair.get("value")?)?))).collect()
}

/// The value of an attribute, without its type.
fn attribute(value: &Value) -> Option<Value> {
    let (kind, value) = value.as_object()?.iter().next()?;
    Some(match kind.as_str() {
        "intValue" => nanoseconds(value.clone()),
        "arrayValue" => Value::Array(items(value, "values").iter().filter_map(attribute).collect()),
        "kvlistValue" => {
            let pairs = items(value, "values").iter();
            let pairs =
                pairs.filter_map(|pair| Some((pair.get("key")?.as_str()?.to_owned(), attribute(pair.get("value")?)?)));
            Value::Object(pairs.collect())
        }
        _ => value.clone(),
    })
}
