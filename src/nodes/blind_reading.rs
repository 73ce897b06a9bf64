//! The blind reading: before an approval is possible, a reader who sees module and properties under neutral names, and
//! neither requirements nor documents, says in a sentence what each property forbids. The review compares the sentences
//! with the requirements: names and comments of a property say what it is meant to say, its formula what it says.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::ask::NodeRequest;
use super::context::NodeContext;
use crate::journal::{Kind, Sha};
use crate::pipeline::{Attempt, BlindReading, NodeError, NodeName, RunEvent, RunView, file};
use crate::prompt::{Readable, object_and_rest};
use crate::tla::{ASSERTION, Module, NeutralModule};

/// The purpose of the request.
pub const PURPOSE: &str = "blind_reading";
/// The purpose of the second request, if the first answer left properties out.
const REPAIR: &str = "blind_reading_repair";

/// Has those of these properties read that were not read yet with the same formula. A property that is missing in two
/// answers stays unread, and prevents an approval.
pub(super) async fn read_blindly(
    context: &NodeContext,
    view: &RunView,
    attempt: &Attempt<'_>,
    module: &Module,
    properties: &[String],
) -> Result<(), NodeError> {
    let known = view.blind_readings();
    let wanted: Vec<String> = properties.iter().filter(|name| !known.contains_key(*name)).cloned().collect();
    let Some(sha) = view.artifact(file::MODULE).filter(|_| !wanted.is_empty()) else { return Ok(()) };
    if attempt.has(RunEvent::is_properties_read) {
        return Ok(());
    }
    let formulas: BTreeMap<String, Sha> = wanted.iter().map(|name| (name.clone(), formula(module, name))).collect();
    let read = |name: &String| view.reviews.read_formulas.get(&formulas[name]).cloned();
    let forbids: BTreeMap<_, _> = wanted.iter().filter_map(|name| Some((name.clone(), read(name)?))).collect();
    let unread = wanted.into_iter().filter(|name| !forbids.contains_key(name)).collect();
    let mut reading = BlindReading { module: sha.clone(), forbids, formulas, unread };
    let neutral = NeutralModule::new(module, &reading.unread);
    for purpose in [PURPOSE, REPAIR] {
        if reading.unread.is_empty() {
            break;
        }
        let names: Vec<&str> = reading.unread.iter().filter_map(|name| neutral.neutral(name)).collect();
        let ask = NodeRequest {
            role_template: "review/blind_reading_role".to_owned(),
            prompt_template: "review/blind_reading".to_owned(),
            template_data: json!({
                "properties": names,
                "assertions": neutral.neutral(ASSERTION),
                "again": purpose == REPAIR,
            }),
            files: vec![("M.tla".to_owned(), neutral.text.clone())],
            schema: Some(schema(&names)),
            ..NodeRequest::new(NodeName::Review, purpose, attempt)
        };
        let answer = context.ask(view, ask).await?;
        let sentences = sentences(&answer.text);
        reading.unread.retain(|name| {
            let sentence = neutral.neutral(name).and_then(|neutral| sentences.get(neutral));
            let restored = sentence.map(|sentence| neutral.restore(sentence));
            restored.map(|restored| reading.forbids.insert(name.clone(), restored)).is_none()
        });
    }
    attempt.record(Kind::Act, RunEvent::PropertiesRead(reading))?;
    Ok(())
}

/// The hash of a property with all definitions that it uses. What the assertions forbid depends on where they stand.
fn formula(module: &Module, name: &str) -> Sha {
    if name == ASSERTION {
        return Sha::digest(&module.source);
    }
    let mut names = module.closure(name);
    names.insert(name.to_owned());
    let texts = names.iter().filter_map(|name| module.definition(name)).map(|definition| definition.text.as_str());
    Sha::digest(texts.collect::<Vec<_>>().join("\n"))
}

/// An object with a sentence for each name.
fn schema(names: &[&str]) -> Value {
    let properties: BTreeMap<&str, Value> = names.iter().map(|name| (*name, json!({"type": "string"}))).collect();
    json!({"type": "object", "additionalProperties": false, "required": names, "properties": properties})
}

/// The sentences of an answer by name; none if it cannot be read.
fn sentences(answer: &str) -> BTreeMap<String, String> {
    // Text outside of the object could say the opposite of a sentence in it.
    let Ok((Readable { value: Value::Object(fields), .. }, None)) = object_and_rest(answer) else {
        return BTreeMap::new();
    };
    // Some models put the object into another one.
    let fields = match fields.values().next() {
        Some(Value::Object(inner)) if fields.len() == 1 => inner.clone(),
        _ => fields,
    };
    let sentence = |(name, value): (String, Value)| {
        let words = value.as_str()?.split_whitespace().collect::<Vec<_>>().join(" ");
        (!words.is_empty()).then_some((name, words))
    };
    fields.into_iter().filter_map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_read_from_an_object_and_from_one_inside_another() {
        let said = |answer: &str| {
            sentences(answer).into_iter().map(|(name, text)| format!("{name}: {text}")).collect::<Vec<_>>()
        };
        assert_eq!(
            said("```json\n{\"P1\": \"v1 is\\n never 0\", \"P2\": 3, \"P3\": \" \"}\n```"),
            ["P1: v1 is never 0"]
        );
        assert_eq!(said("{\"readings\": {\"P1\": \"a\", \"P2\": \"b\"}}"), ["P1: a", "P2: b"]);
        assert_eq!(said("P1 forbids nothing."), [""; 0]);
    }
}
