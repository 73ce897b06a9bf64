//! Puts calls together that a log holds in pieces: the chunks of a streamed answer. The record that ends a call gets the whole
//! call, so that everything after this module sees one call.
//!
//! The records of a stream depend on each other, so they are read in the order of the log.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// The key under which a record gets the calls that it ends.
pub(super) const STREAMED_KEY: &str = "tlaforge.streamed";

/// What a line with a piece of a call contains.
const MARKERS: [&str; 6] =
    ["content_block_", "\"delta\"", ".delta\"", "tool_call_chunks", "response.output_item.added", "contentBlock"];

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
}

impl Piece {
    fn into_call(self) -> Value {
        let arguments = self.arguments.trim();
        // An empty input is written as no pieces at all.
        let input = if arguments.is_empty() { json!({}) } else { json!(arguments) };
        let mut call = json!({"type": "tool_use", "input": input});
        if !self.name.is_empty() {
            call["name"] = json!(self.name);
        }
        if let Some(id) = self.id {
            call["id"] = json!(id);
        }
        call
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
    /// Reads a line; returns what to read in its place if it holds a piece of a call.
    pub(super) fn rewrite(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        if !may_have_pieces(line) {
            return None;
        }
        let mut record: Value = serde_json::from_slice(line).ok()?;
        let mut ended = Vec::new();
        let took = self.take_pieces(&mut record, &mut ended);
        if !took && ended.is_empty() {
            return None;
        }
        let ended: Vec<Value> = ended.into_iter().map(Piece::into_call).collect();
        if let Some(fields) = record.as_object_mut().filter(|_| !ended.is_empty()) {
            fields.insert(STREAMED_KEY.to_owned(), json!(ended));
        }
        serde_json::to_vec(&record).ok()
    }

    /// The calls that were begun and not ended, at the end of the log.
    pub(super) fn finish(&mut self) -> Option<CutOffCalls> {
        let open = std::mem::take(&mut self.open);
        let incomplete = open.values().filter(|piece| piece.is_cut_off()).count() as u64;
        let calls: Vec<Value> = open.into_values().map(Piece::into_call).collect();
        let record = (!calls.is_empty()).then(|| json!({ STREAMED_KEY: calls }).to_string().into_bytes())?;
        Some(CutOffCalls { record, incomplete })
    }

    /// Takes the pieces out of a record; the calls that it ends are added to `ended`.
    fn take_pieces(&mut self, record: &mut Value, ended: &mut Vec<Piece>) -> bool {
        let stream = ["session_id", "parent_tool_use_id", "id"]
            .map(|key| record[key].as_str().unwrap_or_default().to_owned())
            .join("/");
        if record["event"].is_object() {
            return self.take_event(&stream, &mut record["event"], ended);
        }
        let has = |key: &str| record.get(key).is_some();
        match () {
            () if has("choices") => self.take_choices(&stream, record, ended),
            () if has("type") && !has("tool_call_chunks") && !has("data") => self.take_event("", record, ended),
            () if ["contentBlockStart", "contentBlockDelta", "contentBlockStop"].into_iter().any(has) => {
                self.take_converse(record, ended)
            }
            () => {
                let places = ["/data", "/kwargs", ""];
                let place = places.into_iter().find(|place| {
                    record
                        .pointer(place)
                        .and_then(|inner| inner["tool_call_chunks"].as_array())
                        .is_some_and(|all| !all.is_empty())
                });
                place.is_some_and(|place| self.take_message_chunk(record.pointer_mut(place).expect("it was found")))
            }
        }
    }

    /// Events of Anthropic's streams, and of `OpenAI`'s Responses.
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
                let input = block["input"].as_object().filter(|input| !input.is_empty());
                let piece = Piece {
                    id: block["id"].as_str().map(str::to_owned),
                    name: block["name"].as_str().unwrap_or_default().to_owned(),
                    arguments: input.map(|input| json!(input).to_string()).unwrap_or_default(),
                };
                ended.extend(self.open.insert((stream.to_owned(), number(event), String::new()), piece));
                true
            }
            "content_block_delta" if event["delta"]["type"] == "input_json_delta" => {
                let delta = event["delta"].take();
                let piece = self.open.entry((stream.to_owned(), number(event), String::new())).or_default();
                piece.arguments.push_str(delta["partial_json"].as_str().unwrap_or_default());
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
                ended.extend(self.open.insert(key, Piece { id, name, arguments }));
                true
            }
            kind if kind.starts_with("response.")
                && (kind.ends_with("arguments.delta") || kind.ends_with("input.delta")) =>
            {
                let piece = self.open.entry(("response".to_owned(), 0, item_of(event))).or_default();
                piece.arguments.push_str(event["delta"].as_str().unwrap_or_default());
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
            _ => false,
        }
    }

    /// A chunk of a chat completion.
    fn take_choices(&mut self, stream: &str, record: &mut Value, ended: &mut Vec<Piece>) -> bool {
        let mut took = false;
        for (position, choice) in record["choices"].as_array_mut().into_iter().flatten().enumerate() {
            let choice_number = choice["index"].as_u64().unwrap_or(position as u64);
            if let Some(delta) = choice["delta"].as_object_mut() {
                let calls = delta.remove("tool_calls").filter(|calls| !calls.is_null()).unwrap_or_else(|| json!([]));
                let calls = match calls {
                    Value::Array(calls) => calls,
                    one => vec![one],
                };
                let function = delta.remove("function_call").filter(|call| !call.is_null());
                let all = calls.into_iter().enumerate().map(|(position, call)| {
                    let number = call["index"].as_u64().unwrap_or(position as u64).to_string();
                    (number, call)
                });
                for (number, call) in
                    all.chain(function.map(|call| ("function".to_owned(), json!({ "function": call }))))
                {
                    took = true;
                    let key = (stream.to_owned(), choice_number, number);
                    ended.extend(self.append(key, &call));
                }
            }
            if !choice["finish_reason"].is_null() {
                let is_here = |(of, choice, _): &Key| of == stream && *choice == choice_number;
                let keys: Vec<Key> = self.open.keys().filter(|key| is_here(key)).cloned().collect();
                ended.extend(keys.iter().filter_map(|key| self.open.remove(key)));
            }
        }
        took
    }

    /// Adds a piece with `id`, `function.name` and `function.arguments`; returns the call that it ends by being another one.
    fn append(&mut self, key: Key, call: &Value) -> Option<Piece> {
        let inner =
            ["function", "custom"].into_iter().map(|key| &call[key]).find(|inner| inner.is_object()).unwrap_or(call);
        let id = call["id"].as_str().filter(|id| !id.is_empty());
        let is_other = |open: &Piece| id.is_some() && open.id.is_some() && open.id.as_deref() != id;
        let before = if self.open.get(&key).is_some_and(is_other) { self.open.remove(&key) } else { None };
        let piece = self.open.entry(key).or_default();
        piece.id = piece.id.take().or_else(|| id.map(str::to_owned));
        let name = inner["name"].as_str().unwrap_or_default();
        // Some servers repeat the name in every piece.
        if piece.name != name {
            piece.name.push_str(name);
        }
        let arguments =
            ["arguments", "args", "input"].into_iter().map(|key| &inner[key]).find(|value| !value.is_null());
        match arguments {
            Some(Value::String(text)) => piece.arguments.push_str(text),
            Some(value) => piece.arguments.push_str(&value.to_string()),
            None => {}
        }
        before
    }

    /// Events of a converse stream of Bedrock.
    fn take_converse(&mut self, record: &mut Value, ended: &mut Vec<Piece>) -> bool {
        let key = |event: &Value| {
            ("converse".to_owned(), event["contentBlockIndex"].as_u64().unwrap_or_default(), String::new())
        };
        if let Some(start) = record["contentBlockStart"]["start"]["toolUse"].as_object() {
            let text = |key: &str| start.get(key).and_then(Value::as_str).map(str::to_owned);
            let piece =
                Piece { id: text("toolUseId"), name: text("name").unwrap_or_default(), arguments: String::new() };
            let key = key(&record["contentBlockStart"]);
            record["contentBlockStart"].take();
            ended.extend(self.open.insert(key, piece));
            return true;
        }
        if let Some(input) = record["contentBlockDelta"]["delta"]["toolUse"]["input"].as_str().map(str::to_owned) {
            let key = key(&record["contentBlockDelta"]);
            record["contentBlockDelta"].take();
            self.open.entry(key).or_default().arguments.push_str(&input);
            return true;
        }
        let stop = &record["contentBlockStop"];
        if stop.is_object() {
            ended.extend(self.open.remove(&key(stop)));
        }
        false
    }

    /// A chunk of a message of `LangChain`. It repeats its pieces as calls, as far as they can be parsed.
    fn take_message_chunk(&mut self, message: &mut Value) -> bool {
        let stream = message["id"].as_str().unwrap_or_default().to_owned();
        let chunks = message["tool_call_chunks"].take();
        for (position, chunk) in chunks.as_array().into_iter().flatten().enumerate() {
            let number = chunk["index"].as_u64().unwrap_or(position as u64).to_string();
            // A message that is another one ends no call here: the end of the log does.
            if let Some(before) = self.append((stream.clone(), 0, number), chunk) {
                self.open.insert((stream.clone(), 1, before.id.clone().unwrap_or_default()), before);
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
