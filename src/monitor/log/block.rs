//! Blocks of a message: what they tell of texts that were written and of tools that were called.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize as _;
use serde::de::value::MapDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::plan::{At, Node, Take};
use super::step::Step;
use super::step::add_line;

/// One block of a list: a text, or an object that tells of a tool or a text.
pub(super) struct Block<'p, 's> {
    pub(super) node: &'p Node,
    pub(super) step: &'s mut Step,
}

impl<'de> DeserializeSeed<'de> for Block<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

macro_rules! nothing {
    ($made:ty: $($name:ident: $of:ty),*) => {
        $(fn $name<E>(self, _: $of) -> Result<$made, E> { Ok(<$made>::default()) })*
    };
}

impl<'de> Visitor<'de> for Block<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a block")
    }

    nothing!((): visit_bool: bool, visit_f64: f64, visit_i64: i64, visit_u64: u64);

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        At { node: self.node, step: self.step }.text(value);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Self { node, step } = self;
        while list.next_element_seed(Block { node, step: &mut *step })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        read_block(self.node, self.step, map)
    }
}

/// A key of a block that tells something.
#[derive(serde::Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Part {
    Type,
    Name,
    Text,
    Function,
    Custom,
    Content,
    Input,
    Arguments,
    Args,
    Parameters,
    #[serde(other)]
    Other,
}

/// What a block tells: `{"type":"tool_use","name":…}`, `{"function":{"name":…}}`, `{"type":"text","text":…}`,
/// `{"type":"tool_result","content":…}`. The content may hold calls, as that of an agent that another one called.
pub(super) fn read_block<'de, A: MapAccess<'de>>(node: &Node, step: &mut Step, map: A) -> Result<(), A::Error> {
    read(node, step, map, false)
}

/// Of a nested block only calls are read: its texts are those of the block around it, and without a type it is data.
fn read<'de, A: MapAccess<'de>>(node: &Node, step: &mut Step, mut map: A, nested: bool) -> Result<(), A::Error> {
    let (mut kind, mut name, mut text, mut function) = (Loose(None), Loose(None), Loose(None), Loose(None));
    let mut content = Value::Null;
    let wanted = !nested && node.takes.contains(&Take::Text);
    let all = node.takes.contains(&Take::Arguments);
    let mut arguments = None;
    while let Some(key) = map.next_key()? {
        match key {
            Part::Input | Part::Arguments | Part::Args | Part::Parameters if all => {
                arguments = map.next_value::<Option<serde_json::Value>>()?;
            }
            Part::Function | Part::Custom if all => {
                let called = map.next_value::<Called<'_>>()?;
                (function, arguments) = (called.name.unwrap_or(Loose(None)), called.arguments.or(arguments));
            }
            Part::Type => kind = map.next_value()?,
            Part::Name => name = map.next_value()?,
            Part::Text => text = map.next_value()?,
            Part::Function | Part::Custom => function = map.next_value::<Named<'_>>()?.name.unwrap_or(Loose(None)),
            Part::Content => content = map.next_value()?,
            Part::Input | Part::Arguments | Part::Args | Part::Parameters | Part::Other => {
                _ = map.next_value::<IgnoredAny>()?;
            }
        }
    }
    let (kind, name, text) = (kind.0.as_deref(), function.0.or(name.0), text.0.as_deref());
    let calls =
        kind.map_or(!nested, |k| k.ends_with("tool_use") || k.ends_with("call") || k == "function" || k == "custom");
    if let (Some(name), Some(path)) = (name.filter(|_| calls), node.calls()) {
        step.add_call(name.into_owned(), path, arguments);
    }
    if let Some(text) = text.filter(|_| wanted && writes(kind)) {
        step.write(text);
    }
    if wanted && kind.is_some_and(|k| k.ends_with("tool_result")) {
        let written = Written::deserialize(&content).map_err(A::Error::custom)?;
        written.0.iter().for_each(|text| step.write(text));
    }
    if node.calls().is_some() { read_nested(node, step, content).map_err(A::Error::custom) } else { Ok(()) }
}

/// The calls among the blocks of a content.
fn read_nested(node: &Node, step: &mut Step, content: Value) -> Result<(), serde_json::Error> {
    match content {
        Value::Array(items) => items.into_iter().try_for_each(|item| read_nested(node, step, item)),
        Value::Object(fields) => read(node, step, MapDeserializer::new(fields.into_iter()), true),
        _ => Ok(()),
    }
}

/// Whether a block of a kind holds text that was written.
fn writes(kind: Option<&str>) -> bool {
    kind.is_none_or(|k| k.ends_with("text"))
}

/// What a tool answered: a text, or blocks with some.
#[derive(Default)]
struct Written(Option<String>);

impl Written {
    fn add(&mut self, text: &str) {
        add_line(self.0.get_or_insert_default(), text);
    }
}

impl<'de> serde::Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Answer;
        impl<'de> Visitor<'de> for Answer {
            type Value = Written;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON value")
            }

            nothing!(Written: visit_bool: bool, visit_f64: f64, visit_i64: i64, visit_u64: u64);

            fn visit_unit<E>(self) -> Result<Written, E> {
                Ok(Written::default())
            }

            fn visit_str<E>(self, value: &str) -> Result<Written, E> {
                Ok(Written(Some(value.to_owned())))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Written, A::Error> {
                let mut written = Written::default();
                while let Some(part) = list.next_element::<Written>()? {
                    part.0.iter().for_each(|text| written.add(text));
                }
                Ok(written)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Written, A::Error> {
                let (mut kind, mut text) = (Loose(None), Loose(None));
                while let Some(key) = map.next_key()? {
                    match key {
                        Part::Type => kind = map.next_value()?,
                        Part::Text => text = map.next_value()?,
                        _ => _ = map.next_value::<IgnoredAny>()?,
                    }
                }
                Ok(Written(text.0.filter(|_| writes(kind.0.as_deref())).map(Cow::into_owned)))
            }
        }
        deserializer.deserialize_any(Answer)
    }
}

#[derive(serde::Deserialize, Default)]
#[serde(default)]
struct Named<'a> {
    #[serde(borrow)]
    name: Option<Loose<'a>>,
}

#[derive(serde::Deserialize, Default)]
#[serde(default)]
struct Called<'a> {
    #[serde(borrow)]
    name: Option<Loose<'a>>,
    #[serde(alias = "input", alias = "parameters")]
    arguments: Option<serde_json::Value>,
}

/// A text, or anything else, which is then nothing.
struct Loose<'a>(Option<Cow<'a, str>>);

impl<'de: 'a, 'a> serde::Deserialize<'de> for Loose<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Loose<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON value")
            }

            fn visit_str<E>(self, value: &str) -> Result<Loose<'de>, E> {
                Ok(Loose(Some(Cow::Owned(value.to_owned()))))
            }

            fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Loose<'de>, E> {
                Ok(Loose(Some(Cow::Borrowed(value))))
            }

            fn visit_unit<E>(self) -> Result<Loose<'de>, E> {
                Ok(Loose(None))
            }

            fn visit_bool<E>(self, _: bool) -> Result<Loose<'de>, E> {
                Ok(Loose(None))
            }

            fn visit_f64<E>(self, _: f64) -> Result<Loose<'de>, E> {
                Ok(Loose(None))
            }

            fn visit_i64<E>(self, _: i64) -> Result<Loose<'de>, E> {
                Ok(Loose(None))
            }

            fn visit_u64<E>(self, _: u64) -> Result<Loose<'de>, E> {
                Ok(Loose(None))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Loose<'de>, A::Error> {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Loose(None))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Loose<'de>, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Loose(None))
            }
        }
        deserializer.deserialize_any(Text)
    }
}
