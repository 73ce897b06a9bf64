//! Reads the calls of a record without keeping the record, if all of them are in one of the two usual forms:
//! `{"type":"tool_use","id":…,"name":…,"input":{…}}` and `{"tool_calls":[{"id":…,"function":{"name":…,"arguments":"…"}}]}`.
//!
//! It gives up on anything else that may be a call, or that may change what is one; then `call_search` reads the record. So it
//! must know every key that `call_forms` knows, but nothing of what they mean.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::call_arguments::is_input_word;
use super::call_words::{has_call_markup, is_call_word, may_be_cut_off_call};
use super::possible_calls::is_field_of_calls;
use super::surroundings::is_reason_key;
use super::value_hash::{ValueHash, hash_of_empty_object, hash_of_text_arguments};

/// A call with an identifier and arguments.
#[derive(Debug, PartialEq)]
pub(super) struct SimpleCall<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) id: Cow<'a, str>,
    /// The hash of its arguments.
    pub(super) arguments: u64,
}

/// All calls of a record, in order; `None` if it may have others than simple ones.
pub(super) fn simple_calls(json: &[u8]) -> Option<Vec<SimpleCall<'_>>> {
    let mut found = Vec::new();
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let node = Node { found: &mut found, text: None, is_prose: false, is_history: false };
    node.deserialize(&mut deserializer).ok()?;
    deserializer.end().ok()?;
    let is_twice = |at: usize| found[..at].iter().any(|other: &SimpleCall<'_>| other.id == found[at].id);
    if (1..found.len()).any(is_twice) { None } else { Some(found) }
}

/// The error that ends the reading of a record with something else.
fn gives_up<E: serde::de::Error>() -> E {
    E::custom("not simple")
}

fn contains_ignoring_case(text: &str, word: &str) -> bool {
    text.as_bytes().windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes()))
}

fn ends_ignoring_case(text: &str, word: &str) -> bool {
    let text = text.as_bytes();
    text.len() >= word.len() && text[text.len() - word.len()..].eq_ignore_ascii_case(word.as_bytes())
}

/// What a key says of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Type,
    Name,
    Id,
    /// Another identifier, which a simple call does not have.
    OtherId,
    Input,
    Calls,
    /// What a person or a model has written, which is never searched for JSON.
    Prose,
    Prompt,
    History,
    Skipped,
    /// A key that makes an object a call if its value names a tool.
    Event,
    /// Why an answer ended, which may be a word for a call.
    Reason,
    NameOfAttribute,
    ValueOfAttribute,
    /// A key that may hold a part of the input of a call.
    Payload,
    Suspicious,
    Other,
}

impl Key {
    fn new(key: &str) -> Self {
        match key {
            "type" => Self::Type,
            "name" => Self::Name,
            "id" => Self::Id,
            "input" => Self::Input,
            "tool_calls" => Self::Calls,
            "prompt" => Self::Prompt,
            "text" | "content" | "thinking" | "reasoning" | "reasoning_content" | "summary" | "partial_json"
            | "signature" | "stdout" | "stderr" | "thought" | "observation" | "description" | "instructions"
            | "system" => Self::Prose,
            "usage" | "tool_use_result" | "toolUseResult" | "tool_choice" | "input_schema" | "json_schema"
            | "output_schema" | "response_format" => Self::Skipped,
            "event" | "method" | "run_type" | "span_name" | "SpanName" | "operationName" => Self::Event,
            "key" => Self::NameOfAttribute,
            "value" => Self::ValueOfAttribute,
            "call_id" | "callId" | "callID" => Self::OtherId,
            "tools" | "message" | "role" | "model" | "kind" => Self::Other,
            "action" | "custom" | "recipient_name" | "executableCode" | "executable_code" | "delta" | "chunk" => {
                Self::Suspicious
            }
            _ if is_input_word(key) => Self::Payload,
            _ if is_reason_key(key) => Self::Reason,
            _ if contains_ignoring_case(key, "tool") || contains_ignoring_case(key, "function") => {
                if ends_ignoring_case(key, "id") { Self::OtherId } else { Self::Suspicious }
            }
            _ if ["messages", "history", "query", "contents", "prompt", "prompts"]
                .iter()
                .any(|end| ends_ignoring_case(key, end)) =>
            {
                Self::History
            }
            _ if is_field_of_calls(key) => Self::Suspicious,
            _ => Self::Other,
        }
    }
}

struct KeySeed;

impl<'de> DeserializeSeed<'de> for KeySeed {
    type Value = Key;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Key, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeySeed {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Key, E> {
        Ok(Key::new(key))
    }
}

/// Visitor methods for values that can neither be nor hold a call.
macro_rules! scalars {
    ($made:ty) => {
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a JSON value")
        }

        fn visit_unit<E>(self) -> Result<$made, E> {
            Ok(<$made>::default())
        }

        fn visit_bool<E>(self, _: bool) -> Result<$made, E> {
            Ok(<$made>::default())
        }

        fn visit_f64<E>(self, _: f64) -> Result<$made, E> {
            Ok(<$made>::default())
        }

        fn visit_i64<E>(self, _: i64) -> Result<$made, E> {
            Ok(<$made>::default())
        }

        fn visit_u64<E>(self, _: u64) -> Result<$made, E> {
            Ok(<$made>::default())
        }
    };
}

/// Reads a value at any place.
struct Node<'w, 'de> {
    found: &'w mut Vec<SimpleCall<'de>>,
    /// Where to put the value if it is a text.
    text: Option<&'w mut Option<Cow<'de, str>>>,
    is_prose: bool,
    is_history: bool,
}

impl<'de> DeserializeSeed<'de> for Node<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Node<'_, 'de> {
    fn take_text<E: serde::de::Error>(self, text: &str, kept: impl FnOnce() -> Cow<'de, str>) -> Result<(), E> {
        let is_word = self.text.is_none() && is_call_word(text);
        let may_be_call = if self.is_prose { may_be_blocks(text) } else { may_be_json(text) || is_word };
        if may_be_call || has_call_markup(text) {
            return Err(gives_up());
        }
        if let Some(place) = self.text {
            // Of a key that occurs twice, it is not said here which value counts.
            if place.is_some() {
                return Err(gives_up());
            }
            *place = Some(kept());
        }
        Ok(())
    }
}

/// Whether a text of a model may be JSON with the block of a call.
fn may_be_blocks(text: &str) -> bool {
    text.trim_start().starts_with(['[', '{']) && may_be_cut_off_call(text)
}

/// Whether a text may be JSON, or server-sent events.
fn may_be_json(text: &str) -> bool {
    let text = text.trim_start();
    text.contains('{')
        || text.starts_with('[')
        || ["data:", "event:", "id:", ":"].iter().any(|start| text.starts_with(start))
}

impl<'de> Visitor<'de> for Node<'_, 'de> {
    type Value = ();

    scalars!(());

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<(), E> {
        self.take_text(text, || Cow::Owned(text.to_owned()))
    }

    fn visit_borrowed_str<E: serde::de::Error>(self, text: &'de str) -> Result<(), E> {
        self.take_text(text, || Cow::Borrowed(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Self { found, is_prose, is_history, .. } = self;
        while list.next_element_seed(Node { found: &mut *found, text: None, is_prose, is_history })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { found, is_history, .. } = self;
        let before = found.len();
        let mut object = Object::default();
        while let Some(key) = map.next_key_seed(KeySeed)? {
            let (mut event, mut reason) = (None, None);
            let text = match key {
                Key::Type => Some(&mut object.kind),
                Key::Name => Some(&mut object.name),
                Key::Id => Some(&mut object.id),
                Key::Event => Some(&mut event),
                Key::Reason => Some(&mut reason),
                _ => None,
            };
            match key {
                Key::Suspicious => return Err(gives_up()),
                Key::Skipped => _ = map.next_value::<IgnoredAny>()?,
                Key::Input if object.input.is_some() => return Err(gives_up()),
                Key::Input => object.input = Some(map.next_value_seed(InputSeed)?),
                Key::Calls => map.next_value_seed(CallList { found: &mut *found, is_history })?,
                _ => {
                    let is_prose = matches!(key, Key::Prose | Key::Prompt);
                    let is_history = is_history || matches!(key, Key::History | Key::Prompt);
                    map.next_value_seed(Node { found: &mut *found, text, is_prose, is_history })?;
                }
            }
            object.has_payload |= key == Key::Payload;
            object.has_other_id |= key == Key::OtherId;
            object.has_key |= key == Key::NameOfAttribute;
            object.has_value |= key == Key::ValueOfAttribute;
            if event.is_some_and(|event| contains_ignoring_case(&event, "tool") || is_call_word(&event)) {
                return Err(gives_up());
            }
        }
        match object.call().ok_or_else(gives_up)? {
            Some(_) if is_history || found.len() > before => Err(gives_up()),
            call => {
                found.extend(call);
                Ok(())
            }
        }
    }
}

/// What was read of an object.
#[derive(Default)]
struct Object<'de> {
    kind: Option<Cow<'de, str>>,
    name: Option<Cow<'de, str>>,
    id: Option<Cow<'de, str>>,
    input: Option<Input>,
    has_other_id: bool,
    has_payload: bool,
    has_key: bool,
    has_value: bool,
}

impl<'de> Object<'de> {
    /// The call that the object is, if it is one; `None` if that is not decided here.
    #[expect(clippy::option_option, reason = "not decided is not the same as no call")]
    fn call(self) -> Option<Option<SimpleCall<'de>>> {
        let Self { kind, name, id, input, has_other_id, has_payload, has_key, has_value } = self;
        let kind = kind.as_deref().unwrap_or_default();
        if [&name, &id].into_iter().flatten().any(|text| is_call_word(text)) {
            return None;
        }
        if has_key && has_value {
            return None;
        }
        if kind.ends_with("tool_use") {
            let Input::Object(arguments) = input? else { return None };
            let (name, id) = (name?, id?);
            let is_named = !(name.trim().is_empty() || id.trim().is_empty() || has_other_id || has_payload);
            return is_named.then_some(Some(SimpleCall { name, id, arguments }));
        }
        let is_answer = matches!(kind, "tool_result" | "function_call_output" | "custom_tool_call_output");
        let words = ["call", "tool", "function", "command", "file"];
        let may_be_call = !is_answer && words.iter().any(|word| contains_ignoring_case(kind, word))
            || name.as_ref().is_some_and(|name| name.starts_with("execute_tool "))
            || has_payload && name.is_some()
            || match input {
                None | Some(Input::Scalar) => false,
                Some(Input::Text) => name.is_some() || has_other_id,
                Some(Input::Object(_) | Input::Other) => true,
            };
        (!may_be_call).then_some(None)
    }
}

/// The value of the key `input`.
#[derive(Default)]
enum Input {
    #[default]
    Scalar,
    Text,
    /// The hash of an object that is no schema.
    Object(u64),
    Other,
}

struct InputSeed;

impl<'de> DeserializeSeed<'de> for InputSeed {
    type Value = Input;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Input, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for InputSeed {
    type Value = Input;

    scalars!(Input);

    fn visit_str<E>(self, text: &str) -> Result<Input, E> {
        let is_other = may_be_json(text) || is_call_word(text) || has_call_markup(text);
        Ok(if is_other { Input::Other } else { Input::Text })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Input, A::Error> {
        Err(gives_up())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Input, A::Error> {
        let (mut is_schema, names_tool) = (false, Cell::new(false));
        let hash = ValueHash { is_schema: Some(&mut is_schema), names_tool: Some(&names_tool) }.visit_map(map)?;
        // Calls may be below, and an empty input may have its parts beside it.
        let is_other = is_schema || names_tool.get() || hash == hash_of_empty_object();
        Ok(if is_other { Input::Other } else { Input::Object(hash) })
    }
}

/// Reads the value of the key `tool_calls`.
struct CallList<'w, 'de> {
    found: &'w mut Vec<SimpleCall<'de>>,
    is_history: bool,
}

impl<'de> DeserializeSeed<'de> for CallList<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for CallList<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of calls")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(Element(call)) = list.next_element::<Element<'de>>()? {
            let names_tool = Cell::new(false);
            let arguments = hash_of_text_arguments(&call.function.arguments.0, Some(&names_tool));
            let (name, id) = (call.function.name.0, call.id.0);
            let is_plain = call.kind.is_none_or(|kind| kind.0 == "function");
            if names_tool.get() || self.is_history || !is_plain || name.trim().is_empty() || id.trim().is_empty() {
                return Err(gives_up());
            }
            self.found.push(SimpleCall { name, id, arguments });
        }
        Ok(())
    }
}

#[derive(serde::Deserialize)]
#[serde(transparent)]
struct Element<'a>(#[serde(borrow, deserialize_with = "from_object")] ListedCall<'a>);

/// Reads a struct from an object only; it could also be read from a list of its fields.
fn from_object<'de, D: Deserializer<'de>, T: serde::Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct ObjectVisitor<T>(PhantomData<T>);
    impl<'de, T: serde::Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            T::deserialize(MapAccessDeserializer::new(map))
        }
    }
    deserializer.deserialize_map(ObjectVisitor(PhantomData))
}

/// A call in the usual form of lists; any other key is an error.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedCall<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow, deserialize_with = "from_object")]
    function: Function<'a>,
    #[expect(dead_code, reason = "it says nothing of the call")]
    index: Option<u64>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Function<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    arguments: Text<'a>,
}

/// A text, which is borrowed unless it has an escape.
#[derive(serde::Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
#[path = "simple_calls_tests.rs"]
mod tests;
