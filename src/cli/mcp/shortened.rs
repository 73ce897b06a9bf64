//! Results small enough for the context of a model.

use serde_json::{Map, Value, json};

/// Maximum size of a result in one answer, in bytes. A link leads to the rest.
pub(super) const MAX_RESULT: usize = 8 << 10;

/// The value in at most `MAX_RESULT` bytes, and whether anything was left out. Lists, texts and inner objects lose their ends,
/// the innermost as much as the outermost; verdicts, bounds and counts are short members of the result and stay.
pub(super) fn shortened_value(value: &Value) -> (Value, bool) {
    if value.to_string().len() <= MAX_RESULT {
        return (value.clone(), false);
    }
    let steps = [(40, 2000), (20, 1000), (12, 600), (8, 400), (5, 240), (3, 160), (2, 100), (1, 60)];
    let mut short = Value::Null;
    for (items, chars) in steps {
        short = cut(value, items, chars, usize::MAX);
        if short.to_string().len() <= MAX_RESULT {
            return (short, true);
        }
    }
    // Of what is still too large, only the members that are short, and the bounds, without which a verdict says too much.
    if let Value::Object(map) = &mut short {
        map.retain(|key, member| {
            member.to_string().len() <= if key == "bounds" { MAX_RESULT / 2 } else { MAX_RESULT / 64 }
        });
        let mut size = 0;
        map.retain(|key, member| {
            size += key.len() + member.to_string().len() + 4;
            size <= MAX_RESULT
        });
    }
    (short, true)
}

/// `members` is how many members of this object are kept.
fn cut(value: &Value, items: usize, chars: usize, members: usize) -> Value {
    let inner = |value: &Value| cut(value, items, chars, items + 8);
    match value {
        Value::String(text) => Value::String(shortened_text(text, chars)),
        Value::Array(list) => {
            let mut kept: Vec<Value> = list.iter().take(items).map(inner).collect();
            if list.len() > items {
                kept.push(json!({ "left_out": list.len() - items }));
            }
            Value::Array(kept)
        }
        Value::Object(map) => {
            let mut kept: Map<String, Value> =
                map.iter().take(members).map(|(key, value)| (key.clone(), inner(value))).collect();
            if map.len() > members {
                kept.insert("left_out".to_owned(), json!(map.len() - members));
            }
            Value::Object(kept)
        }
        other => other.clone(),
    }
}

/// The first characters of a text, with a note if it is longer.
pub(super) fn shortened_text(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}… ({} more bytes)", &text[..end], text.len() - end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_result_keeps_its_verdict_and_says_what_it_lost() {
        let states: Vec<Value> = (0..5000).map(|n| json!({ "n": n, "values": "x = 1 /\\ ".repeat(50) })).collect();
        let large = json!({ "verdict": "violated", "bounds": { "N": "3" }, "trace": states });
        let (short, is_cut) = shortened_value(&large);
        assert!(is_cut && short.to_string().len() <= MAX_RESULT, "{}", short.to_string().len());
        assert_eq!((&short["verdict"], &short["bounds"]), (&large["verdict"], &large["bounds"]));
        let left_out = short["trace"].as_array().unwrap().last().unwrap()["left_out"].as_u64().unwrap();
        assert_eq!(left_out + short["trace"].as_array().unwrap().len() as u64 - 1, 5000);
        let variables: Map<String, Value> = (0..5000).map(|n| (format!("x{n}"), json!("value ".repeat(20)))).collect();
        let wide =
            json!({ "verdict": "violated", "trace": [{ "state": variables.clone() }], "table": [[variables.clone()]] });
        let (short, _) = shortened_value(&wide);
        assert!(short.to_string().len() <= MAX_RESULT && short["verdict"] == "violated", "{short:#}");
        assert!(short["trace"][0]["state"]["left_out"].as_u64() > Some(4900), "{short:#}");
        let (short, is_cut) = shortened_value(&Value::Object(variables));
        assert!(is_cut && short.to_string().len() <= MAX_RESULT);
        let small = json!({ "verdict": "holds" });
        assert_eq!(shortened_value(&small), (small, false));
        assert_eq!(shortened_text("äöü", 2), "äö… (2 more bytes)");
    }
}
