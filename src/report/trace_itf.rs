//! A trace in the Informal Trace Format of Apalache (<https://apalache-mc.org/docs/adr/015adr-trace.html>).

use serde_json::{Map, Value, json};

use crate::tla::{Lasso, Trace, ValueParts};

/// Nesting beyond this is text.
const MAX_DEPTH: usize = 64;

/// The trace as one ITF object. `source` names the specification, `violated` the violated property.
pub fn trace_itf(trace: &Trace, source: &str, violated: &str) -> Value {
    let vars: Vec<&String> = trace.steps.first().map(|step| step.state.keys().collect()).unwrap_or_default();
    let states = trace.steps.iter().enumerate().map(|(index, step)| {
        let mut state = Map::new();
        state.insert("#meta".to_owned(), json!({"index": index, "action": step.call()}));
        state.extend(step.state.iter().map(|(name, value)| (name.clone(), itf_value(value, MAX_DEPTH))));
        Value::Object(state)
    });
    let mut object = json!({
        "#meta": {
            "format": "ITF",
            "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
            "source": source,
            "status": "violation",
            "description": format!("counterexample to {violated}"),
        },
        "params": [],
        "vars": vars,
        "states": states.collect::<Vec<_>>(),
    });
    let last = trace.steps.len().saturating_sub(1);
    match trace.lasso {
        Some(Lasso::BackTo(step)) => object["loop"] = json!(step.saturating_sub(1)),
        Some(Lasso::Stuttering(true)) => object["loop"] = json!(last),
        Some(Lasso::Stuttering(false)) | None => {}
    }
    object
}

fn itf_value(text: &str, depth: usize) -> Value {
    let text = text.trim();
    let unknown = || json!({"#unserializable": text});
    let Some(depth) = depth.checked_sub(1) else { return unknown() };
    let list = |parts: Vec<&str>| parts.into_iter().map(|part| itf_value(part, depth)).collect::<Vec<_>>();
    match ValueParts::read(text) {
        Some(ValueParts::Set(parts)) => json!({"#set": list(parts)}),
        // A tuple and a sequence are the same in TLA+.
        Some(ValueParts::Sequence(parts)) => Value::Array(list(parts)),
        Some(ValueParts::Function(pairs)) => {
            let pairs = pairs.into_iter().map(|(key, value)| json!([itf_value(key, depth), itf_value(value, depth)]));
            json!({"#map": pairs.collect::<Vec<_>>()})
        }
        Some(ValueParts::Record(pairs)) => {
            Value::Object(pairs.into_iter().map(|(field, value)| (field.to_owned(), itf_value(value, depth))).collect())
        }
        None => atom(text).unwrap_or_else(unknown),
    }
}

fn atom(text: &str) -> Option<Value> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if text.starts_with('"') {
        return string(text).map(Value::String);
    }
    if let Some((first, last)) = text.split_once("..") {
        let (first, last): (i64, i64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        let is_short = last.checked_sub(first).is_some_and(|length| length < 1_000);
        let number = |number: i64| json!({"#bigint": number.to_string()});
        return is_short.then(|| json!({"#set": (first..=last).map(number).collect::<Vec<_>>()}));
    }
    let is_name = text.starts_with(|c: char| c.is_alphanumeric() || c == '_')
        && text.chars().all(|c| c.is_alphanumeric() || c == '_');
    match text {
        "TRUE" => Some(json!(true)),
        "FALSE" => Some(json!(false)),
        _ if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) => Some(json!({"#bigint": text})),
        // An uninterpreted constant: its name and the name of its type.
        _ if is_name => Some(json!(format!("{text}_OF_MODEL_VALUE"))),
        _ => None,
    }
}

/// The characters of a TLA+ string.
fn string(text: &str) -> Option<String> {
    let inside = text.strip_prefix('"')?.strip_suffix('"')?;
    let mut out = String::new();
    let mut characters = inside.chars();
    while let Some(c) = characters.next() {
        out.push(match c {
            '\\' => match characters.next()? {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                'f' => '\u{c}',
                other => other,
            },
            '"' => return None,
            other => other,
        });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// The value that an ITF expression denotes, by the rules of the format alone, as TLA+ text.
    fn read_back(value: &Value) -> String {
        let list = |value: &Value| value.as_array().expect("a list").iter().map(read_back).collect::<Vec<_>>();
        match value {
            Value::Bool(truth) => truth.to_string().to_uppercase(),
            Value::String(text) => match text.strip_suffix("_OF_MODEL_VALUE") {
                Some(name) => name.to_owned(),
                None => format!("{text:?}"),
            },
            Value::Array(_) => format!("<<{}>>", list(value).join(", ")),
            Value::Object(object) if object.len() == 1 && object.contains_key("#bigint") => {
                object["#bigint"].as_str().expect("digits").to_owned()
            }
            Value::Object(object) if object.contains_key("#set") => format!("{{{}}}", list(&object["#set"]).join(", ")),
            Value::Object(object) if object.contains_key("#map") => {
                let pairs = object["#map"].as_array().expect("pairs").iter();
                let pairs = pairs.map(|pair| format!("{} :> {}", read_back(&pair[0]), read_back(&pair[1])));
                format!("({})", pairs.collect::<Vec<_>>().join(" @@ "))
            }
            Value::Object(object) => {
                assert!(object.keys().all(|key| !key.starts_with('#')), "{object:?}");
                let fields = object.iter().map(|(field, value)| format!("{field} |-> {}", read_back(value)));
                format!("[{}]", fields.collect::<Vec<_>>().join(", "))
            }
            Value::Null | Value::Number(_) => panic!("no ITF expression: {value}"),
        }
    }

    #[test]
    fn every_value_is_read_back_from_the_format() {
        for text in [
            "12",
            "-123456789012345678901234567890",
            "TRUE",
            "\"a \\\" b\"",
            "r1",
            "{1, {FALSE}, {}}",
            "<<1, <<>>, \"x\">>",
            "(r1 :> [x |-> {1}] @@ <<1, 2>> :> [y |-> 2])",
        ] {
            assert_eq!(read_back(&itf_value(text, MAX_DEPTH)), text);
        }
        assert_eq!(read_back(&itf_value("1..3", MAX_DEPTH)), "{1, 2, 3}");
        for text in ["[S -> T]", "1 .. 100000", "\"open", "{1"] {
            assert_eq!(itf_value(text, MAX_DEPTH), json!({"#unserializable": text}));
        }
    }

    #[test]
    fn the_parts_of_the_object_are_those_of_the_format() {
        let mut trace = Trace { steps: Vec::new(), lasso: Some(Lasso::BackTo(2)) };
        for (number, value) in [(1, "1"), (2, "2"), (3, "3")] {
            let state = BTreeMap::from([("x".to_owned(), value.to_owned())]);
            trace.push(number, (number > 1).then(|| "Next".to_owned()), state);
        }
        let itf = trace_itf(&trace, "M.tla", "Inv");
        assert_eq!((&itf["vars"], &itf["loop"], &itf["params"]), (&json!(["x"]), &json!(1), &json!([])));
        assert_eq!(itf["#meta"]["format"], "ITF");
        let states = itf["states"].as_array().expect("states");
        for (index, state) in states.iter().enumerate() {
            assert_eq!(state["#meta"]["index"], json!(index));
            assert_eq!(state["x"], json!({"#bigint": (index + 1).to_string()}));
            assert_eq!(state.as_object().expect("a state").len(), 2);
        }
    }
}
