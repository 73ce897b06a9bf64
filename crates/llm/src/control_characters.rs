//! Writes out NUL in the strings of a request: many servers refuse it. The caller has written it out in its own texts, so this
//! concerns what a model said in the conversation so far, such as the path of a file that it wants to read.

use std::borrow::Cow;

use serde_json::Value;

/// The same request without NUL.
pub(super) fn without_nul(body: &Value) -> Cow<'_, Value> {
    if !has_nul(body) {
        return Cow::Borrowed(body);
    }
    let mut body = body.clone();
    write_out(&mut body);
    Cow::Owned(body)
}

fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(values) => values.iter().any(has_nul),
        Value::Object(fields) => fields.iter().any(|(name, value)| has_nul(value) || is_escaped_nul(name, value)),
        _ => false,
    }
}

/// The input of a tool is JSON inside a string in chat completions.
fn is_escaped_nul(name: &str, value: &Value) -> bool {
    name == "arguments" && value.as_str().is_some_and(|text| text.contains("\\u0000"))
}

fn write_out(value: &mut Value) {
    match value {
        Value::String(text) => *text = text.replace('\0', "<U+0000>"),
        Value::Array(values) => values.iter_mut().for_each(write_out),
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                write_out(value);
                if is_escaped_nul(name, value)
                    && let Value::String(text) = value
                {
                    *text = text.replace("\\u0000", "<U+0000>");
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nul_is_written_out_wherever_it_is() {
        let body = json!({"a": ["b\0c", {"arguments": "{\"path\": \"e\\u0000\"}"}], "f": "a text about \\u0000"});
        let sent = without_nul(&body).into_owned();
        assert_eq!(
            sent,
            json!({"a": ["b<U+0000>c", {"arguments": "{\"path\": \"e<U+0000>\"}"}], "f": "a text about \\u0000"})
        );
        assert!(matches!(without_nul(&sent), Cow::Borrowed(_)));
    }
}
