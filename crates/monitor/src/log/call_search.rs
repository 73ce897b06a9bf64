//! Finds everything in a record that looks like a tool call, wherever it is: in any object, at any depth, and in JSON that is
//! written as a text. An audit compares this with the calls that it has read, so that none passes unseen.
//!
//! Knows nothing of shapes and rules. What one object says of a call is in `call_forms`.

use serde_json::{Map, Value};

use super::call_arguments::worded_arguments;
use super::call_fields::parse_arguments;
use super::call_form::{self, CallForm, Certainty};
use super::call_forms;
use super::call_words::{has_call_markup, may_be_cut_off_call};
use super::event_stream::{event_stream_lines, is_event_stream};
use super::possible_calls::{is_like_call, possible_call};
use super::span_calls::attributes_of_list;
use super::surroundings::{self, Surroundings};

/// How many times JSON in a text is searched for JSON in a text. What is deeper may be a call.
const MAX_TEXT_DEPTH: u8 = 16;

/// Something that looks like a call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FoundCall {
    /// The JSON path: `choices[0].message.tool_calls[1]`.
    pub(super) place: String,
    /// Empty if the record does not name the tool.
    pub(super) name: String,
    pub(super) id: Option<String>,
    pub(super) arguments: Option<Value>,
    /// Whether the arguments are under several keys.
    pub(super) are_joined: bool,
    /// Whether they may be wrong or incomplete.
    pub(super) are_uncertain: bool,
    pub(super) certainty: Certainty,
    /// Whether it is in a list of earlier messages, so that an earlier record may hold the same call.
    pub(super) is_history: bool,
}

/// All that looks like a call in a record, in the order of the record.
pub(super) fn find_calls(record: &Value) -> Vec<FoundCall> {
    let mut search = Search { place: String::new(), found: Vec::new(), seen: 0 };
    search.visit(record, "", Surroundings::default());
    search.found
}

/// Whether the text of a record has any word that calls are written with. It may say yes if there is no call.
pub(super) fn may_have_calls(json: &[u8]) -> bool {
    // Parts of words, of which every call has one. An escape may hide a key, and `<|` begins the markup of some models.
    const WORDS: [&[u8]; 4] = [b"ame", b"ool", b"ction", b"all"];
    WORDS.iter().any(|word| memchr::memmem::find(json, word).is_some())
        || [
            &b"xecut"[..],
            b"ommand",
            b"\\u",
            b"AME",
            b"OOL",
            b"ALL",
            b"invoke",
            b"unc",
            b"FUNC",
            b"<|",
            "<\u{ff5c}".as_bytes(),
        ]
        .iter()
        .any(|word| memchr::memmem::find(json, word).is_some())
}

struct Search {
    place: String,
    found: Vec<FoundCall>,
    /// The number of calls seen, including repeated ones.
    seen: usize,
}

impl Search {
    /// Runs `visit` with `part` appended to the current JSON path.
    fn enter(&mut self, part: &str, visit: impl FnOnce(&mut Self)) {
        let length = self.place.len();
        if !part.starts_with('[') && length > 0 {
            self.place.push('.');
        }
        self.place.push_str(part);
        visit(self);
        self.place.truncate(length);
    }

    fn visit(&mut self, value: &Value, key: &str, around: Surroundings) {
        match value {
            Value::Object(fields) => self.visit_object(fields, around),
            Value::Array(items) => {
                if let Some(attributes) = attributes_of_list(items) {
                    return self.visit_object(&attributes, around);
                }
                for (number, item) in items.iter().enumerate() {
                    self.enter(&format!("[{number}]"), |search| search.visit(item, key, around));
                }
            }
            Value::String(text) => self.visit_text(text, key, around),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn visit_text(&mut self, text: &str, key: &str, around: Surroundings) {
        if around.is_argument && !around.is_call_list {
            return;
        }
        let is_not_by_model = around.is_result || around.is_by_others || around.is_attached;
        let is_prose = surroundings::is_text_key(key);
        let is_searched = around.is_call_list || !(around.is_result || around.is_attached || is_prose);
        let parsed = if is_searched { parse_compound(text) } else { None };
        if around.text_depth >= MAX_TEXT_DEPTH && parsed.is_some() {
            self.add_possible(around);
        } else if let Some(value) = parsed {
            self.visit(&value, key, around.in_text());
        } else if around.is_call_list {
            let is_name = |text: &str| text.chars().all(|c| c.is_alphanumeric() || "_-.:/".contains(c));
            match text.trim() {
                text if text.is_empty() || call_forms::is_choice_mode(text) => {}
                text if is_name(text) => self.add(call_form::known_call(text, None), around),
                _ => self.add_possible(around),
            }
        } else if is_searched && may_be_cut_off_call(text)
            || !is_not_by_model && (is_prose && has_blocks(text) || !is_thought(key) && has_call_markup(text))
        {
            self.add_possible(around);
        }
    }

    fn visit_object(&mut self, fields: &Map<String, Value>, around: Surroundings) {
        if call_forms::is_definition(fields, around) {
            for (name, value) in fields.iter().filter(|(name, _)| !surroundings::is_description(name)) {
                let mut inner = around.below(name, value, false, false);
                inner.is_definition_list |= name == "function";
                self.enter(name, |search| search.visit(value, name, inner));
            }
            return;
        }
        let mut calls = call_forms::calls_of(fields, around);
        if calls.is_empty() && !around.is_result && (!around.is_argument || around.is_batch) {
            calls.extend(possible_call(fields, around.is_definition_list));
        }
        // Stream pieces inside a text that were not joined: this call is incomplete.
        if around.text_depth > 0 && is_begun_in_stream(fields) {
            self.add_possible(around);
        }
        let is_call = calls.iter().any(|call| call.certainty == Certainty::Known);
        let mut consumed: Vec<&str> = Vec::new();
        let mut nameless = None;
        let before = self.seen;
        for mut call in calls {
            if around.is_piece {
                call = call_form::doubted_if_incomplete(call);
            }
            let around = Surroundings { is_history: around.is_history || call.is_history, ..around };
            // The call may be written out below.
            if call.name.is_empty() && call.arguments.is_none() {
                nameless = Some(call);
                continue;
            }
            consumed.append(&mut call.consumed);
            self.visit_arguments(&call, around);
            self.add(call, around);
        }
        let has_call = self.seen > before;
        let is_result = surroundings::is_result(fields);
        let is_attachment = surroundings::is_attachment(fields);
        let is_by_others = surroundings::is_by_others(fields).unwrap_or(around.is_by_others);
        for (name, value) in fields {
            if consumed.contains(&name.as_str()) || surroundings::is_skipped_key(name) {
                continue;
            }
            let mut inner = around.below(name, value, is_call, is_result);
            inner.is_by_others = is_by_others || inner.is_by_others && !around.is_by_others;
            // What is below a key such as `tool_calls` may be a map of calls.
            inner.is_call_list |= around.is_call_list && !has_call && value.is_object();
            inner.is_attached |= is_attachment;
            inner.is_result |= name == "data" && surroundings::is_end_of_tool(fields);
            let key = match value {
                Value::String(_) if surroundings::is_thought(fields) => "thinking",
                Value::String(_) if surroundings::is_prose(fields, name) => "text",
                _ => name,
            };
            self.enter(name, |search| search.visit(value, key, inner));
        }
        if self.seen > before {
            return;
        }
        if let Some(call) = nameless {
            return self.add(call, around);
        }
        let is_silent = !is_result && !around.is_result && !around.is_argument;
        let is_listed = around.is_call_list && call_forms::has_content(fields);
        if is_silent && (is_listed || is_like_call(fields)) {
            let arguments = worded_arguments(fields).map(|(_, value)| value);
            let call = call_form::known_call("", arguments);
            self.add(CallForm { id: call_form::id_of(fields), certainty: Certainty::Possible, ..call }, around);
        }
    }

    /// Visits the arguments of a call, which may be a batch of calls.
    fn visit_arguments(&mut self, call: &CallForm<'_>, around: Surroundings) {
        let Some(arguments) = call.arguments.as_ref().map(parse_arguments) else { return };
        let inner = around.in_arguments();
        self.enter("input", |search| match &arguments {
            Value::Object(fields) => {
                for (name, value) in fields {
                    let below = inner.below(name, value, false, false);
                    search.enter(name, |search| search.visit(value, name, below));
                }
            }
            other => search.visit(other, "", inner),
        });
    }

    /// Adds something that may be a call, of which nothing is known.
    fn add_possible(&mut self, around: Surroundings) {
        self.add(CallForm { certainty: Certainty::Possible, ..call_form::known_call("", None) }, around);
    }

    fn add(&mut self, call: CallForm<'_>, around: Surroundings) {
        self.seen += 1;
        let CallForm { name, id, arguments, are_joined, are_uncertain, certainty, .. } = call;
        let arguments = arguments.map(|arguments| parse_arguments(&arguments)).filter(|arguments| !arguments.is_null());
        // One record often states a call in two forms; the identifier says that they are the same.
        let is_same = |other: &&mut FoundCall| id.is_some() && other.id == id && other.name == name;
        if let Some(other) = self.found.iter_mut().find(is_same)
            && (arguments.is_none() || other.arguments.is_none() || other.arguments == arguments)
        {
            other.arguments = other.arguments.take().or(arguments);
            other.are_joined |= are_joined;
            other.are_uncertain |= are_uncertain;
            other.is_history &= around.is_history;
            // The arguments of a call that lacks them here may be in the other form.
            if certainty == Certainty::Known && other.arguments.is_some() {
                other.certainty = Certainty::Known;
            }
            return;
        }
        let place = if self.place.is_empty() { "the record itself".to_owned() } else { self.place.clone() };
        let is_history = around.is_history;
        self.found.push(FoundCall { place, name, id, arguments, are_joined, are_uncertain, certainty, is_history });
    }
}

/// Whether a text of a model consists of JSON with a block of a call, as databases keep the content of messages.
fn has_blocks(text: &str) -> bool {
    let is_json = text.trim_start().starts_with(['[', '{']);
    is_json && may_be_cut_off_call(text) && parse_compound(text).is_some_and(|value| !find_calls(&value).is_empty())
}

/// Whether an object begins a call whose arguments other events of the stream have.
fn is_begun_in_stream(fields: &Map<String, Value>) -> bool {
    let is_call = |block: &Value| {
        let kind = block["type"].as_str().unwrap_or_default();
        kind.ends_with("tool_use") && block["input"].as_object().is_none_or(Map::is_empty)
    };
    fields.get("content_block").is_some_and(is_call)
        || fields.get("start").is_some_and(|start| start["toolUse"].is_object())
}

/// Whether a key holds what a model thinks before it answers.
fn is_thought(key: &str) -> bool {
    matches!(key, "thinking" | "reasoning" | "reasoning_content" | "thought" | "signature")
}

/// The JSON objects or lists that a text consists of: one, one on each line, or the data of server-sent events.
pub(super) fn parse_compound(text: &str) -> Option<Value> {
    let text = text.trim();
    if text.len() > 2 && text.starts_with(['{', '[']) {
        let values = serde_json::Deserializer::from_str(text).into_iter().collect::<Result<Vec<Value>, _>>().ok()?;
        return match <[Value; 1]>::try_from(values) {
            Ok([value]) => Some(value),
            Err(values) => Some(Value::Array(values)),
        };
    }
    if !is_event_stream(text.as_bytes()) {
        return None;
    }
    let lines = event_stream_lines(text.as_bytes());
    let lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    lines.map(|line| serde_json::from_slice(line).ok()).collect::<Option<Vec<Value>>>().map(Value::Array)
}
