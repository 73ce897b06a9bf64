//! Blocks of a message: the texts and tool calls they hold, in the forms of Claude, `OpenAI` and similar APIs.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize as _;
use serde::de::value::MapDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::path_tree::{Extract, PathNode};
use super::step::{Step, add_line};

/// Reads one block of a list: a text, or an object with a tool call or a text.
pub(super) struct BlockVisitor<'p, 's> {
    pub(super) node: &'p PathNode,
    pub(super) step: &'s mut Step,
}

impl<'de> DeserializeSeed<'de> for BlockVisitor<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

/// Visitor methods for values that hold neither text nor calls.
macro_rules! ignore {
    ($made:ty: $($name:ident: $of:ty),*) => {
        $(fn $name<E>(self, _: $of) -> Result<$made, E> { Ok(<$made>::default()) })*
    };
}

impl<'de> Visitor<'de> for BlockVisitor<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a block")
    }

    ignore!((): visit_bool: bool, visit_f64: f64, visit_i64: i64, visit_u64: u64);

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        self.node.extract_text(self.step, value);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Self { node, step } = self;
        while list.next_element_seed(BlockVisitor { node, step: &mut *step })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        read_block(self.node, self.step, map)
    }
}

/// The keys of a block that are read.
#[derive(serde::Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum BlockKey {
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

/// Reads a block: `{"type":"tool_use","name":…}`, `{"function":{"name":…}}`, `{"type":"text","text":…}`,
/// `{"type":"tool_result","content":…}`. The content may hold calls too, if the tool is itself an agent.
pub(super) fn read_block<'de, A: MapAccess<'de>>(node: &PathNode, step: &mut Step, map: A) -> Result<(), A::Error> {
    read(node, step, map, false)
}

/// Only the calls of a nested block are read: its texts belong to the block around it, and without a type it is data.
fn read<'de, A: MapAccess<'de>>(node: &PathNode, step: &mut Step, mut map: A, nested: bool) -> Result<(), A::Error> {
    let (mut kind, mut name, mut text, mut function) =
        (OptionalText(None), OptionalText(None), OptionalText(None), OptionalText(None));
    let mut content = Value::Null;
    let reads_text = !nested && node.extracts(Extract::Text);
    let reads_arguments = node.extracts(Extract::CallArguments);
    let mut arguments = None;
    while let Some(key) = map.next_key()? {
        match key {
            BlockKey::Input | BlockKey::Arguments | BlockKey::Args | BlockKey::Parameters if reads_arguments => {
                arguments = map.next_value::<Option<serde_json::Value>>()?;
            }
            BlockKey::Function | BlockKey::Custom if reads_arguments => {
                let (name, inner) = name_and_arguments(map.next_value()?);
                (function, arguments) = (name, inner.or(arguments));
            }
            BlockKey::Type => kind = map.next_value()?,
            BlockKey::Name => name = map.next_value()?,
            BlockKey::Text => text = map.next_value()?,
            BlockKey::Function | BlockKey::Custom => {
                function = name_and_arguments(map.next_value()?).0;
            }
            BlockKey::Content => content = map.next_value()?,
            BlockKey::Input | BlockKey::Arguments | BlockKey::Args | BlockKey::Parameters | BlockKey::Other => {
                _ = map.next_value::<IgnoredAny>()?;
            }
        }
    }
    let (kind, name, text) = (kind.0.as_deref(), function.0.or(name.0), text.0.as_deref());
    let calls =
        kind.map_or(!nested, |k| k.ends_with("tool_use") || k.ends_with("call") || k == "function" || k == "custom");
    if let (Some(name), Some(path)) = (name.filter(|_| calls), node.tool_call_path()) {
        step.add_call(name.into_owned(), path, arguments);
    }
    if let Some(text) = text.filter(|_| reads_text && holds_text(kind)) {
        step.add_text(text);
    }
    if reads_text && kind.is_some_and(|k| k.ends_with("tool_result")) {
        let result = ToolResult::deserialize(&content).map_err(A::Error::custom)?;
        result.0.iter().for_each(|text| step.add_text(text));
    }
    if node.tool_call_path().is_some() { read_nested(node, step, content).map_err(A::Error::custom) } else { Ok(()) }
}

/// Reads the calls among the blocks of a tool result.
fn read_nested(node: &PathNode, step: &mut Step, content: Value) -> Result<(), serde_json::Error> {
    match content {
        Value::Array(items) => items.into_iter().try_for_each(|item| read_nested(node, step, item)),
        Value::Object(fields) => read(node, step, MapDeserializer::new(fields.into_iter()), true),
        _ => Ok(()),
    }
}

/// Whether a block of this type holds text in its `text`.
fn holds_text(kind: Option<&str>) -> bool {
    kind.is_none_or(|k| k.ends_with("text"))
}

/// The text of a tool result, which is a text itself or a list of blocks.
#[derive(Default)]
struct ToolResult(Option<String>);

impl ToolResult {
    fn add(&mut self, text: &str) {
        add_line(self.0.get_or_insert_default(), text);
    }
}

impl<'de> serde::Deserialize<'de> for ToolResult {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ToolResultVisitor;
        impl<'de> Visitor<'de> for ToolResultVisitor {
            type Value = ToolResult;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON value")
            }

            ignore!(ToolResult: visit_bool: bool, visit_f64: f64, visit_i64: i64, visit_u64: u64);

            fn visit_unit<E>(self) -> Result<ToolResult, E> {
                Ok(ToolResult::default())
            }

            fn visit_str<E>(self, value: &str) -> Result<ToolResult, E> {
                Ok(ToolResult(Some(value.to_owned())))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<ToolResult, A::Error> {
                let mut result = ToolResult::default();
                while let Some(part) = list.next_element::<ToolResult>()? {
                    part.0.iter().for_each(|text| result.add(text));
                }
                Ok(result)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ToolResult, A::Error> {
                let (mut kind, mut text) = (OptionalText(None), OptionalText(None));
                while let Some(key) = map.next_key()? {
                    match key {
                        BlockKey::Type => kind = map.next_value()?,
                        BlockKey::Text => text = map.next_value()?,
                        _ => _ = map.next_value::<IgnoredAny>()?,
                    }
                }
                Ok(ToolResult(text.0.filter(|_| holds_text(kind.0.as_deref())).map(Cow::into_owned)))
            }
        }
        deserializer.deserialize_any(ToolResultVisitor)
    }
}

/// The name and the arguments of a function, which is an object, or only its name.
fn name_and_arguments(function: Value) -> (OptionalText<'static>, Option<Value>) {
    match function {
        Value::String(name) => (OptionalText(Some(Cow::Owned(name))), None),
        Value::Object(mut fields) => {
            let name = fields.get("name").and_then(Value::as_str).map(|name| Cow::Owned(name.to_owned()));
            let arguments = ["arguments", "input", "parameters"].into_iter().find_map(|key| fields.remove(key));
            (OptionalText(name), arguments)
        }
        _ => (OptionalText(None), None),
    }
}

/// A text; `None` for a value of any other type, which is not an error.
struct OptionalText<'a>(Option<Cow<'a, str>>);

impl<'de: 'a, 'a> serde::Deserialize<'de> for OptionalText<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = OptionalText<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON value")
            }

            fn visit_str<E>(self, value: &str) -> Result<OptionalText<'de>, E> {
                Ok(OptionalText(Some(Cow::Owned(value.to_owned()))))
            }

            fn visit_borrowed_str<E>(self, value: &'de str) -> Result<OptionalText<'de>, E> {
                Ok(OptionalText(Some(Cow::Borrowed(value))))
            }

            fn visit_unit<E>(self) -> Result<OptionalText<'de>, E> {
                Ok(OptionalText(None))
            }

            fn visit_bool<E>(self, _: bool) -> Result<OptionalText<'de>, E> {
                Ok(OptionalText(None))
            }

            fn visit_f64<E>(self, _: f64) -> Result<OptionalText<'de>, E> {
                Ok(OptionalText(None))
            }

            fn visit_i64<E>(self, _: i64) -> Result<OptionalText<'de>, E> {
                Ok(OptionalText(None))
            }

            fn visit_u64<E>(self, _: u64) -> Result<OptionalText<'de>, E> {
                Ok(OptionalText(None))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<OptionalText<'de>, A::Error> {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(OptionalText(None))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OptionalText<'de>, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(OptionalText(None))
            }
        }
        deserializer.deserialize_any(TextVisitor)
    }
}
