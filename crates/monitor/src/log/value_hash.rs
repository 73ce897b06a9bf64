//! A hash of a JSON value, whatever the order of its keys, without keeping the value.

use std::cell::Cell;
use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

/// Hashes what a closure feeds.
pub(super) fn hash(feed: impl FnOnce(&mut DefaultHasher)) -> u64 {
    let mut state = DefaultHasher::new();
    feed(&mut state);
    state.finish()
}

/// The hash of a text, as that of a JSON text.
pub(super) fn hash_of_text(text: &str) -> u64 {
    hash(|state| (3_u8, text).hash(state))
}

/// The hash of the arguments of a call in a text. As everywhere, a text that is no object or list stays a text.
pub(super) fn hash_of_text_arguments(text: &str, names_tool: Option<&Cell<bool>>) -> u64 {
    let parsed = || {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let hash = ValueHash { is_schema: None, names_tool }.deserialize(&mut deserializer).ok()?;
        deserializer.end().ok().map(|()| hash)
    };
    let is_compound = text.trim_start().starts_with(['{', '[']);
    is_compound.then(parsed).flatten().unwrap_or_else(|| hash_of_text(text))
}

/// The hash of an object without fields.
pub(super) fn hash_of_empty_object() -> u64 {
    hash(|state| (6_u8, 0_u64, 0_u64).hash(state))
}

/// Hashes the value that it reads.
#[derive(Default)]
pub(super) struct ValueHash<'a> {
    /// Whether the value has a key of JSON schemas; only looked at if there is a place for it.
    pub(super) is_schema: Option<&'a mut bool>,
    /// Set if a key anywhere in the value names a tool, so that the value may hold calls.
    pub(super) names_tool: Option<&'a Cell<bool>>,
}

impl<'de> DeserializeSeed<'de> for ValueHash<'_> {
    type Value = u64;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<u64, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueHash<'_> {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<u64, E> {
        Ok(0)
    }

    fn visit_bool<E>(self, value: bool) -> Result<u64, E> {
        Ok(hash(|state| (1_u8, value).hash(state)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<u64, E> {
        Ok(hash(|state| (2_u8, value.to_bits()).hash(state)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<u64, E> {
        Ok(hash(|state| (4_u8, i128::from(value)).hash(state)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<u64, E> {
        Ok(hash(|state| (4_u8, i128::from(value)).hash(state)))
    }

    fn visit_str<E>(self, value: &str) -> Result<u64, E> {
        Ok(hash_of_text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<u64, A::Error> {
        let mut state = DefaultHasher::new();
        5_u8.hash(&mut state);
        while let Some(item) = list.next_element_seed(Self { is_schema: None, names_tool: self.names_tool })? {
            item.hash(&mut state);
        }
        Ok(state.finish())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<u64, A::Error> {
        let (mut count, mut sum, mut is_schema) = (0_u64, 0_u64, false);
        let (can_be_schema, names_tool) = (self.is_schema.is_some(), self.names_tool);
        while let Some((key, is_schema_key)) = map.next_key_seed(KeyHash { can_be_schema, names_tool })? {
            let value = map.next_value_seed(Self { is_schema: None, names_tool })?;
            sum = sum.wrapping_add(hash(|state| (key, value).hash(state)));
            count += 1;
            is_schema |= is_schema_key;
        }
        if let Some(place) = self.is_schema {
            *place = is_schema;
        }
        Ok(hash(|state| (6_u8, count, sum).hash(state)))
    }
}

/// Whether a key has `tool` or `function` in it.
fn names_tool_or_function(key: &str) -> bool {
    // Without the first letter, which may be a capital one.
    let has = |part: &[u8]| key.as_bytes().windows(part.len()).any(|found| found == part);
    has(b"ool") || has(b"unction")
}

/// Hashes a key, says whether schemas have it, and sets `names_tool` if it can name a tool.
struct KeyHash<'a> {
    can_be_schema: bool,
    names_tool: Option<&'a Cell<bool>>,
}

impl<'de> DeserializeSeed<'de> for KeyHash<'_> {
    type Value = (u64, bool);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeyHash<'_> {
    type Value = (u64, bool);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        let is_schema = self.can_be_schema && matches!(key, "type" | "$schema" | "properties");
        if let Some(place) = self.names_tool
            && (key == "recipient_name" || key == "invocations" || key == "name" || names_tool_or_function(key))
        {
            place.set(true);
        }
        Ok((hash(|state| key.hash(state)), is_schema))
    }
}
