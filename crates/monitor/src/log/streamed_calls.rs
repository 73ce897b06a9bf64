//! Puts calls together that a log holds in pieces: the chunks of a streamed answer. The record that ends a call gets the whole
//! call, so that everything after this module sees one call.
//!
//! The records of a stream depend on each other, so they are read in the order of the log.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::call_arguments::worded_arguments;
use super::call_search::parse_compound;
use super::call_words::normal;
use super::surroundings::{self, Surroundings};

/// The key under which a record gets the calls that it ends.
pub(super) const STREAMED_KEY: &str = "tlaforge.streamed";

/// What a line with a piece of a call contains.
const MARKERS: [&str; 10] = [
    "content_block_",
    "delta",
    "Delta",
    "tool_call_chunks",
    "output_item.",
    "arguments.done",
    "input.done",
    "contentBlock",
    "tool-",
    "TOOL_CALL_",
];

/// Keys whose values tell one stream from another.
const STREAM_IDS: [&str; 11] = [
    "session_id",
    "parent_tool_use_id",
    "run_id",
    "thread_id",
    "message_id",
    "generation_id",
    "request_id",
    "trace_id",
    "stream_id",
    "conversation_id",
    "custom_id",
];
/// Keys of the chunks whose `id` is that of the answer. The `id` of other records is often their own.
const CHUNK_KEYS: [&str; 4] = ["choices", "object", "tool_call_chunks", "response_metadata"];

/// How deep JSON in texts is searched for pieces. `call_search` finds what is deeper, and says that it may be a call.
const MAX_TEXT_DEPTH: u8 = 8;

/// The calls of a log of which some pieces were read.
#[derive(Debug, Clone, Default)]
pub(super) struct StreamedCalls {
    open: BTreeMap<Key, Piece>,
}

/// The stream, and the number of the choice and of the call in it.
type Key = (String, u64, String);

#[derive(Debug, Clone, Default)]
struct Piece {
    id: Option<String>,
    name: String,
    arguments: String,
    /// Whether the arguments are known, even if empty.
    has_arguments: bool,
    /// A call without arguments that this one interrupted. The pieces of this one may be its arguments.
    interrupted: Option<Box<Piece>>,
}

impl Piece {
    fn into_call(self) -> Value {
        let arguments = self.arguments.trim();
        // An empty input is written as no pieces at all.
        let mut call = json!({"type": "tool_use"});
        if self.has_arguments {
            call["input"] = if arguments.is_empty() { json!({}) } else { json!(arguments) };
        }
        if !self.name.is_empty() {
            call["name"] = json!(self.name);
        }
        if let Some(id) = self.id {
            call["id"] = json!(id);
        }
        call
    }

    /// The call. If its arguments are not known, a second entry that cannot be read prevents a verdict, unless another record
    /// has the whole call.
    fn into_calls(mut self) -> Vec<Value> {
        let mut before = self.interrupted.take().map(|before| *before);
        if let Some(before) = before.as_mut().filter(|_| !self.arguments.trim().is_empty()) {
            before.has_arguments = false;
        }
        let before = before.map(Self::into_calls).unwrap_or_default();
        let unread = (!self.has_arguments).then(|| match &self.id {
            Some(id) => json!({"type": "tool_use", "id": id}),
            None => json!({"type": "tool_use", "note": "its arguments are missing"}),
        });
        before.into_iter().chain([self.into_call()]).chain(unread).collect()
    }

    fn is_cut_off(&self) -> bool {
        let arguments = self.arguments.trim();
        !arguments.is_empty() && serde_json::from_str::<serde::de::IgnoredAny>(arguments).is_err()
    }
}

/// The calls that the log does not end.
pub(super) struct CutOffCalls {
    /// A record with these calls.
    pub(super) record: Vec<u8>,
    /// How many of them have incomplete arguments.
    pub(super) incomplete: u64,
}

/// Whether some line of a text may hold a piece of a call.
pub(super) fn may_have_pieces(text: &[u8]) -> bool {
    MARKERS.iter().any(|marker| memchr::memmem::find(text, marker.as_bytes()).is_some())
}

impl StreamedCalls {
    /// Begins a call where another one with the same number may be open, because two streams are mixed, or because a server
    /// ends no call. Returns the other call, unless it has no arguments yet: then this one decides.
    fn begin(&mut self, key: Key, mut piece: Piece) -> Option<Piece> {
        let before = self.open.remove(&key);
        let (waiting, ended) = match before {
            Some(before) if before.arguments.trim().is_empty() => (Some(Box::new(before)), None),
            // The rest of its arguments may be among the pieces of this one.
            Some(before) if before.is_cut_off() => (None, Some(Piece { has_arguments: false, ..before })),
            other => (None, other),
        };
        piece.interrupted = waiting;
        self.open.insert(key, piece);
        ended
    }

    /// Reads a line; returns what to read in its place if it holds a piece of a call.
    pub(super) fn rewrite(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        if !may_have_pieces(line) {
            return None;
        }
        let mut record: Value = serde_json::from_slice(line).ok()?;
        let mut ended = Vec::new();
        let took = self.take_pieces(&mut record, "", Surroundings::default(), &mut ended);
        if !took && ended.is_empty() {
            return None;
        }
        let ended: Vec<Value> = ended.into_iter().flat_map(Piece::into_calls).collect();
        if let Some(fields) = record.as_object_mut().filter(|_| !ended.is_empty()) {
            fields.insert(STREAMED_KEY.to_owned(), json!(ended));
        }
        serde_json::to_vec(&record).ok()
    }

    /// The calls that were begun and not ended, at the end of the log.
    pub(super) fn finish(&mut self) -> Option<CutOffCalls> {
        let open = std::mem::take(&mut self.open);
        let incomplete = open.values().filter(|piece| piece.is_cut_off()).count() as u64;
        let cut_off = |piece: Piece| {
            let has_arguments = piece.has_arguments && !piece.arguments.trim().is_empty();
            Piece { has_arguments, ..piece }.into_calls()
        };
        let calls: Vec<Value> = open.into_values().flat_map(cut_off).collect();
        let record = (!calls.is_empty()).then(|| json!({ STREAMED_KEY: calls }).to_string().into_bytes())?;
        Some(CutOffCalls { record, incomplete })
    }

    /// Takes the pieces out of a value and out of all below it, except for what a tool answered and what a request repeats;
    /// the calls that it ends are added to `ended`.
    fn take_pieces(&mut self, value: &mut Value, stream: &str, around: Surroundings, ended: &mut Vec<Piece>) -> bool {
        match value {
            Value::Array(items) => {
                let mut took = false;
                for item in items {
                    took |= self.take_pieces(item, stream, around, ended);
                }
                took
            }
            Value::Object(fields) => {
                let is_chunk = CHUNK_KEYS.iter().any(|key| fields.contains_key(*key));
                let is_id = |key: &str| key == "id" && is_chunk || STREAM_IDS.contains(&&*normal(key));
                let mut ids: Vec<&str> =
                    fields.iter().filter(|(key, _)| is_id(key)).filter_map(|(_, value)| value.as_str()).collect();
                // The order of the keys must not change the stream.
                ids.sort_unstable();
                let stream = ids.into_iter().fold(stream.to_owned(), |stream, id| stream + "/" + id);
                let has = |key: &str| fields.contains_key(key);
                let has_chunks =
                    fields.get("tool_call_chunks").and_then(Value::as_array).is_some_and(|c| !c.is_empty());
                let is_converse = ["contentBlockStart", "contentBlockDelta", "contentBlockStop"].into_iter().any(has);
                let took = if is_converse {
                    self.take_converse(&stream, value, ended)
                } else if has_chunks {
                    self.take_message_chunk(&stream, value)
                } else {
                    self.take_event(&stream, value, ended)
                };
                took || value.as_object_mut().is_some_and(|fields| self.take_below(fields, &stream, around, ended))
            }
            _ => false,
        }
    }

    /// Takes the pieces out of the values of an object that is no piece itself.
    fn take_below(
        &mut self,
        fields: &mut Map<String, Value>,
        stream: &str,
        around: Surroundings,
        ended: &mut Vec<Piece>,
    ) -> bool {
        let mut took = self.take_delta(stream, fields, ended);
        let is_attachment = surroundings::is_attachment(fields);
        let is_result = surroundings::is_result(fields);
        for (key, value) in fields {
            let inner = around.below(key, value, false, is_result);
            if surroundings::is_skipped_key(key) || inner.is_result || inner.is_history {
                continue;
            }
            if let Value::String(text) = value {
                let is_attached = is_attachment || inner.is_attached;
                let is_json = !is_attached && !surroundings::is_text_key(key) && may_have_pieces(text.as_bytes());
                if is_json
                    && inner.text_depth < MAX_TEXT_DEPTH
                    && let Some(mut parsed) = parse_compound(text)
                    && self.take_pieces(&mut parsed, stream, inner.in_text(), ended)
                {
                    *text = parsed.to_string();
                    took = true;
                }
            } else {
                took |= self.take_pieces(value, stream, inner, ended);
            }
        }
        took
    }

    /// Takes the calls out of the `delta` of a chunk, and ends them at its `finish_reason` or at `tool-call-end`.
    fn take_delta(&mut self, stream: &str, fields: &mut Map<String, Value>, ended: &mut Vec<Piece>) -> bool {
        let choice = fields.get("index").and_then(Value::as_u64).unwrap_or_default();
        let calls = fields.get_mut("delta").map(remove_calls).unwrap_or_default();
        let took = !calls.is_empty();
        for (number, call) in calls {
            ended.extend(self.append((stream.to_owned(), choice, number), &call));
        }
        let kind = fields.get("type").and_then(Value::as_str).unwrap_or_default();
        if fields.get("finish_reason").is_some_and(|reason| !reason.is_null()) || kind == "tool-call-end" {
            let is_here = |(of, number, _): &Key| of == stream && *number == choice;
            let keys: Vec<Key> = self.open.keys().filter(|key| is_here(key)).cloned().collect();
            ended.extend(keys.iter().filter_map(|key| self.open.remove(key)));
        }
        if took {
            // Without its pieces, the record is no call.
            fields.remove("type");
        }
        took
    }

    /// Events of Anthropic's streams, of `OpenAI`'s Responses, and of user interfaces.
    fn take_event(&mut self, stream: &str, event: &mut Value, ended: &mut Vec<Piece>) -> bool {
        let kind = event["type"].as_str().unwrap_or_default().to_owned();
        let number = |event: &Value| event["index"].as_u64().unwrap_or_default();
        let item_of = |event: &Value| match event["item_id"].as_str().or_else(|| event["item"]["id"].as_str()) {
            Some(id) => id.to_owned(),
            None => event["output_index"].to_string(),
        };
        match &*kind {
            "content_block_start"
                if event["content_block"]["type"].as_str().is_some_and(|k| k.ends_with("tool_use")) =>
            {
                let block = event["content_block"].take();
                let input = block["input"].as_object();
                let text = input.filter(|input| !input.is_empty()).map(|input| json!(input).to_string());
                let piece = Piece {
                    id: block["id"].as_str().map(str::to_owned),
                    name: block["name"].as_str().unwrap_or_default().to_owned(),
                    arguments: text.unwrap_or_default(),
                    has_arguments: input.is_some(),
                    interrupted: None,
                };
                ended.extend(self.begin((stream.to_owned(), number(event), String::new()), piece));
                true
            }
            "content_block_delta" if event["delta"]["type"] == "input_json_delta" => {
                let delta = event["delta"].take();
                let piece = self.open.entry((stream.to_owned(), number(event), String::new())).or_default();
                piece.arguments.push_str(delta["partial_json"].as_str().unwrap_or_default());
                piece.has_arguments = true;
                true
            }
            "content_block_stop" => {
                let piece = self.open.remove(&(stream.to_owned(), number(event), String::new()));
                ended.extend(piece);
                false
            }
            "response.output_item.added"
                if event["item"]["type"].as_str().is_some_and(|kind| kind.ends_with("call")) =>
            {
                let item = &event["item"];
                // Tools without a name and arguments are complete in the event that ends them.
                let Some(name) = item["name"].as_str().map(str::to_owned) else { return false };
                let id = item["call_id"].as_str().or_else(|| item["id"].as_str()).map(str::to_owned);
                let arguments =
                    item["arguments"].as_str().or_else(|| item["input"].as_str()).unwrap_or_default().to_owned();
                let key = ("response".to_owned(), 0, item_of(event));
                event["item"].take();
                ended.extend(self.begin(key, Piece { id, name, arguments, has_arguments: true, interrupted: None }));
                true
            }
            kind if kind.starts_with("response.")
                && (kind.ends_with("arguments.delta") || kind.ends_with("input.delta")) =>
            {
                let piece = self.open.entry(("response".to_owned(), 0, item_of(event))).or_default();
                piece.arguments.push_str(event["delta"].as_str().unwrap_or_default());
                piece.has_arguments = true;
                true
            }
            kind if kind.starts_with("response.")
                && (kind.ends_with("arguments.done") || kind.ends_with("input.done")) =>
            {
                let piece = self.open.remove(&("response".to_owned(), 0, item_of(event)));
                let whole = event["arguments"].as_str().or_else(|| event["input"].as_str()).map(str::to_owned);
                let name = event["name"].as_str().map(str::to_owned);
                event.as_object_mut().map(|fields| fields.remove("arguments"));
                let mut piece = piece.unwrap_or_default();
                piece.has_arguments |= whole.is_some();
                piece.arguments = whole.unwrap_or(piece.arguments);
                piece.name = Some(piece.name).filter(|name| !name.is_empty()).or(name).unwrap_or_default();
                ended.push(piece);
                true
            }
            "response.output_item.done" => {
                // The record itself has the whole call.
                self.open.remove(&("response".to_owned(), 0, item_of(event)));
                false
            }
            kind => self.take_interface_event(&normal(kind), event, ended),
        }
    }

    /// Events that a server streams to a user interface: `tool-input-start` of the AI SDK, `TOOL_CALL_ARGS` of AG-UI.
    fn take_interface_event(&mut self, kind: &str, event: &mut Value, ended: &mut Vec<Piece>) -> bool {
        let text = |keys: &[&str]| keys.iter().find_map(|key| event[*key].as_str().map(str::to_owned));
        let Some(id) = text(&["toolCallId", "tool_call_id", "id"]) else { return false };
        let key = ("interface".to_owned(), 0, id.clone());
        let is_whole = event.as_object().is_some_and(|fields| worded_arguments(fields).is_some());
        match kind {
            // A record with arguments is searched as it is.
            _ if is_whole => {
                self.open.remove(&key);
                return false;
            }
            "tool_input_start" | "tool_call_streaming_start" | "tool_call_start" => {
                let name = text(&["toolName", "toolCallName", "tool_call_name", "tool_name"]).unwrap_or_default();
                // A call without arguments has no piece of them.
                let arguments = String::new();
                let piece = Piece { id: Some(id), name, arguments, has_arguments: true, interrupted: None };
                ended.extend(self.begin(key, piece));
            }
            "tool_input_delta" | "tool_call_delta" | "tool_call_args" => {
                let Some(piece) = text(&["delta", "inputTextDelta", "argsTextDelta"]) else { return false };
                let open = self.open.entry(key).or_default();
                open.id = Some(id);
                open.has_arguments = true;
                open.arguments.push_str(&piece);
            }
            "tool_input_end" | "tool_call_end" => ended.extend(self.open.remove(&key)),
            "tool_call" | "tool_input_available" => {
                ended.extend(self.open.remove(&key));
                return false;
            }
            _ => return false,
        }
        if let Some(fields) = event.as_object_mut() {
            // What else the event has may be a call of its own.
            let is_used = |name: &str| {
                matches!(name, "type" | "delta" | "inputTextDelta" | "argsTextDelta")
                    || matches!(&*normal(name), "tool_call_id" | "id" | "tool_name" | "tool_call_name")
            };
            fields.retain(|name, _| !is_used(name));
        }
        true
    }

    /// Adds a piece with `id`, `function.name` and `function.arguments`; returns the call that it ends by being another one.
    fn append(&mut self, key: Key, call: &Value) -> Option<Piece> {
        let inner =
            ["function", "custom"].into_iter().map(|key| &call[key]).find(|inner| inner.is_object()).unwrap_or(call);
        let id = call["id"].as_str().filter(|id| !id.is_empty());
        let has_name = inner["name"].as_str().is_some_and(|name| !name.is_empty());
        let is_other = |open: &Piece| {
            let has_other_id = id.is_some() && open.id.is_some() && open.id.as_deref() != id;
            // Some servers send each call whole, without an identifier.
            has_other_id || has_name && !open.arguments.trim().is_empty() && !open.is_cut_off()
        };
        let before =
            if self.open.get(&key).is_some_and(is_other) { self.begin(key.clone(), Piece::default()) } else { None };
        let piece = self.open.entry(key).or_default();
        piece.id = piece.id.take().or_else(|| id.map(str::to_owned));
        let name = inner["name"].as_str().unwrap_or_default();
        // Some servers repeat the name in every piece.
        if piece.name != name {
            piece.name.push_str(name);
        }
        let of = |value: &Value| worded_arguments(value.as_object()?).map(|(_, found)| found.clone());
        let arguments = of(inner).or_else(|| of(call));
        piece.has_arguments |= arguments.is_some();
        match &arguments {
            Some(Value::String(text)) => piece.arguments.push_str(text),
            Some(value) => piece.arguments.push_str(&value.to_string()),
            None => {}
        }
        before
    }

    /// Events of a converse stream of Bedrock.
    fn take_converse(&mut self, stream: &str, record: &mut Value, ended: &mut Vec<Piece>) -> bool {
        let key = |event: &Value| {
            (stream.to_owned(), event["contentBlockIndex"].as_u64().unwrap_or_default(), "converse".to_owned())
        };
        if let Some(start) = record["contentBlockStart"]["start"]["toolUse"].as_object() {
            let text = |key: &str| start.get(key).and_then(Value::as_str).map(str::to_owned);
            let name = text("name").unwrap_or_default();
            let arguments = String::new();
            let piece = Piece { id: text("toolUseId"), name, arguments, has_arguments: true, interrupted: None };
            let key = key(&record["contentBlockStart"]);
            record["contentBlockStart"].take();
            ended.extend(self.begin(key, piece));
            return true;
        }
        if let Some(input) = record["contentBlockDelta"]["delta"]["toolUse"]["input"].as_str().map(str::to_owned) {
            let key = key(&record["contentBlockDelta"]);
            record["contentBlockDelta"].take();
            let piece = self.open.entry(key).or_default();
            piece.has_arguments = true;
            piece.arguments.push_str(&input);
            return true;
        }
        let stop = &record["contentBlockStop"];
        if stop.is_object() {
            ended.extend(self.open.remove(&key(stop)));
        }
        false
    }

    /// A chunk of a message of `LangChain`. It repeats its pieces as calls, as far as they can be parsed.
    fn take_message_chunk(&mut self, stream: &str, message: &mut Value) -> bool {
        let chunks = message["tool_call_chunks"].take();
        for (position, chunk) in chunks.as_array().into_iter().flatten().enumerate() {
            let number = chunk["index"].as_u64().unwrap_or(position as u64).to_string();
            // A message that is another one ends no call here: the end of the log does.
            if let Some(before) = self.append((stream.to_owned(), 0, number), chunk) {
                self.open.insert((stream.to_owned(), 1, before.id.clone().unwrap_or_default()), before);
            }
        }
        for key in ["tool_calls", "invalid_tool_calls"] {
            message[key].take();
        }
        if message["additional_kwargs"]["tool_calls"].is_array() {
            message["additional_kwargs"]["tool_calls"].take();
        }
        true
    }
}

/// Removes the calls below a `delta`, each with its number in the answer.
fn remove_calls(delta: &mut Value) -> Vec<(String, Value)> {
    let Some(fields) = delta.as_object_mut() else { return Vec::new() };
    let mut calls = Vec::new();
    for (key, value) in fields.iter_mut() {
        let all = match &*normal(key) {
            "tool_calls" | "tool_call" => match value.take() {
                Value::Null => Vec::new(),
                Value::Array(all) => all,
                one => vec![one],
            },
            "function_call" if value.is_object() => {
                calls.push(("function".to_owned(), json!({ "function": value.take() })));
                continue;
            }
            _ => {
                calls.extend(remove_calls(value));
                continue;
            }
        };
        let number = |position: usize, call: &Value| call["index"].as_u64().unwrap_or(position as u64).to_string();
        calls.extend(all.into_iter().enumerate().map(|(position, call)| (number(position, &call), call)));
    }
    if !calls.is_empty() {
        // Without its pieces, the object is no call.
        fields.remove("type");
    }
    calls
}
