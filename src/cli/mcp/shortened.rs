//! Results small enough for the context of a model.

use serde_json::{Value, json};

/// Maximum size of a result in one answer, in bytes. A link leads to the rest.
pub(super) const MAX_RESULT: usize = 8 << 10;

/// The value in at most `MAX_RESULT` bytes if possible, and whether anything was left out. Lists and texts lose their ends,
/// the innermost as much as the outermost; verdicts, bounds and counts are short and stay.
pub(super) fn shortened_value(value: &Value) -> (Value, bool) {
    if value.to_string().len() <= MAX_RESULT {
        return (value.clone(), false);
    }
    let steps = [(40, 2000), (20, 1000), (12, 600), (8, 400), (5, 240), (3, 160), (2, 100), (1, 60)];
    let mut short = Value::Null;
    for (items, chars) in steps {
        short = cut(value, items, chars);
        if short.to_string().len() <= MAX_RESULT {
            break;
        }
    }
    (short, true)
}

fn cut(value: &Value, items: usize, chars: usize) -> Value {
    match value {
        Value::String(text) => Value::String(shortened_text(text, chars)),
        Value::Array(list) => {
            let mut kept: Vec<Value> = list.iter().take(items).map(|item| cut(item, items, chars)).collect();
            if list.len() > items {
                kept.push(json!({ "left_out": list.len() - items }));
            }
            Value::Array(kept)
        }
        Value::Object(map) => {
            let members = map.iter().map(|(key, value)| (key.clone(), cut(value, items, chars)));
            Value::Object(members.collect())
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
        let small = json!({ "verdict": "holds" });
        assert_eq!(shortened_value(&small), (small, false));
        assert_eq!(shortened_text("äöü", 2), "äö… (2 more bytes)");
    }
}
