//! Reading of one JSON record into a step: values on the paths of a plan are extracted, all others are skipped without
//! being kept.

use std::fmt;

use serde::de::value::{MapAccessDeserializer, MapDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::block::{BlockVisitor, read_block};
use super::path_tree::{Extract, PathNode};
use super::step::{Scalar, Step};

/// Reads the value at one node of the path tree into a step.
pub(super) struct RecordVisitor<'p, 's> {
    pub(super) node: &'p PathNode,
    pub(super) step: &'s mut Step,
}

impl RecordVisitor<'_, '_> {
    /// Reads the elements of a list with texts and calls: a text belongs to the call that follows it, but to none in
    /// particular if the list has no call.
    fn visit_blocks<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.step.in_blocks, true);
        let (calls, parts) = (self.step.tools.len(), self.step.text_parts.len());
        let result = read(self);
        if self.step.tools.len() == calls {
            self.step.text_parts[parts..].iter_mut().for_each(|(call, _)| *call = 0);
        }
        self.step.in_blocks = before;
        result
    }

    fn visit_fields<'de, A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(child) = map.next_key_seed(ChildKey(self.node))? {
            match child {
                Some(node) => map.next_value_seed(RecordVisitor { node, step: &mut *self.step })?,
                None => _ = map.next_value::<IgnoredAny>()?,
            }
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for RecordVisitor<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.node.extracts.is_empty() && !self.node.has_children() {
            return deserializer.deserialize_ignored_any(IgnoredAny).map(|_| ());
        }
        let node = self.node;
        if node.extracts(Extract::SiblingArguments) || node.extracts(Extract::PlainParameters) {
            let value: serde_json::Value = serde::Deserialize::deserialize(deserializer)?;
            if node.extracts(Extract::PlainParameters) && !value.is_null() {
                self.step.plain_parameters.get_or_insert_with(|| value.clone());
            }
            if node.extracts(Extract::SiblingArguments) {
                self.step.sibling_arguments.get_or_insert_with(|| value.clone());
            }
            return value.deserialize_any(self).map_err(D::Error::custom);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for RecordVisitor<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.node.extract_scalar(self.step, &Scalar::Null);
        Ok(())
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.node.extract_scalar(self.step, &Scalar::Bool(value));
        Ok(())
    }

    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        self.node.extract_scalar(self.step, &Scalar::Number(value));
        Ok(())
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.node.extract_scalar(self.step, &Scalar::integer(value.into()));
        Ok(())
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        self.node.extract_scalar(self.step, &Scalar::integer(value.into()));
        Ok(())
    }

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        self.node.extract_text(self.step, value);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        let node = self.node;
        node.mark_compound(self.step);
        self.step.crossed_list = self.step.crossed_list.or(node.single_valued);
        let descends =
            node.has_children() || node.extracts.iter().any(|extract| matches!(extract, Extract::FieldValues(..)));
        if node.extracts(Extract::ModelLabels) {
            while let Some(name) = list.next_element()? {
                self.step.recorded_labels.push(name);
            }
        } else if node.may_hold_blocks() {
            return self.visit_blocks(|visitor| {
                if descends {
                    while list.next_element_seed(RecordVisitor { node, step: &mut *visitor.step })?.is_some() {}
                } else {
                    while list.next_element_seed(BlockVisitor { node, step: &mut *visitor.step })?.is_some() {}
                }
                Ok(())
            });
        } else if descends {
            // A path leads through lists: `choices.message` is the message of each choice.
            while list.next_element_seed(RecordVisitor { node, step: &mut *self.step })?.is_some() {}
        } else {
            while list.next_element::<IgnoredAny>()?.is_some() {}
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.node.mark_compound(self.step);
        for extract in &self.node.extracts {
            if let Extract::FieldValues(number, rank) = extract {
                self.step.add_value(*number, *rank, None);
            }
        }
        if !self.node.may_hold_blocks() {
            return self.visit_fields(map);
        }
        if !self.node.has_children() {
            return read_block(self.node, self.step, map);
        }
        // The object is a block, and rules read its fields too: read it twice, from memory.
        let fields: serde_json::Map<String, serde_json::Value> =
            serde::Deserialize::deserialize(MapAccessDeserializer::new(map))?;
        let entries = || MapDeserializer::new(fields.iter().map(|(name, value)| (name.as_str(), value)));
        read_block(self.node, self.step, entries()).map_err(|e: serde_json::Error| A::Error::custom(e))?;
        self.visit_fields(entries()).map_err(|e: serde_json::Error| A::Error::custom(e))
    }
}

/// Reads a key: the child node it leads to, if the plan reads anything there.
struct ChildKey<'p>(&'p PathNode);

impl<'de, 'p> DeserializeSeed<'de> for ChildKey<'p> {
    type Value = Option<&'p PathNode>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<'p> Visitor<'_> for ChildKey<'p> {
    type Value = Option<&'p PathNode>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.child(key.as_bytes()))
    }

    fn visit_bytes<E>(self, key: &[u8]) -> Result<Self::Value, E> {
        Ok(self.0.child(key))
    }
}
