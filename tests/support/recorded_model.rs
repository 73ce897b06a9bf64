//! A model that replays a recording through a server: it reads the files that the recorded model read and those that the
//! prompt names, all in one turn, continues files that have more to show, and then gives the recorded answer.
//!
//! ```ignore
//! let model = RecordedModel::load(&project().join("evals/uniswap_swap/recording/run.jsonl"));
//! let server = ModelServer::start(model.script());
//! ```

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tlaforge::prompt::{DEFAULT_NORMATIVE_WORDS, EARLIER_NORMATIVE_WORD_COUNT};

use super::model_server::{Block, Reply, Seen};

/// The words that made a sentence normative in the recordings of `evals/`, for a live run with their answers.
pub fn words_of_recordings() -> String {
    DEFAULT_NORMATIVE_WORDS[..EARLIER_NORMATIVE_WORD_COUNT].join(",")
}

/// The reason of an item that was recorded without one.
const NO_REASON: &str = "as recorded";

/// A file of a run without the reasons that [`in_todays_form`] has added.
pub fn without_added_reasons(text: &str) -> String {
    text.replace(&format!(": {NO_REASON}"), "")
}

/// A recorded review as a model has to write it today: recordings of version 0.2 accept items without the object of name and
/// reason, which counts only in a replay. Other answers stay as they are.
pub fn in_todays_form(answer: &str) -> String {
    let span = answer.find('{').zip(answer.rfind('}'));
    let read = span.and_then(|(start, end)| serde_json::from_str::<Value>(answer.get(start..=end)?).ok());
    let (Some((start, end)), Some(mut review)) = (span, read) else { return answer.to_owned() };
    if review["verdict"].is_null() {
        return answer.to_owned();
    }
    for (list, items) in review.as_object_mut().unwrap() {
        if !list.starts_with("accepted_") && list != "intended_dead" {
            continue;
        }
        for item in items.as_array_mut().unwrap() {
            if let Some(text) = item.as_str() {
                let (name, reason) = text.split_once(": ").unwrap_or((text, NO_REASON));
                *item = json!({"name": name, "reason": reason});
            }
        }
        // Runs of a model in a test judge no mutants and try no larger bounds, so that nothing of these is listed.
        let is_listed = |item: &Value| !item["name"].as_str().is_some_and(|name| name.starts_with("NOTICED NOTHING"));
        items
            .as_array_mut()
            .unwrap()
            .retain(|item| is_listed(item) && !["accepted_survivors", "accepted_bounds"].contains(&list.as_str()));
    }
    format!("{}{review}{}", &answer[..start], &answer[end + 1..])
}

/// The answers of a recording, in its order.
pub struct RecordedModel {
    answers: Vec<Value>,
    folder: Option<PathBuf>,
    /// A file of which it reads only this many lines.
    only: Option<(String, u64)>,
}

impl RecordedModel {
    pub fn load(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap();
        Self { answers: text.lines().map(|l| serde_json::from_str(l).unwrap()).collect(), folder: None, only: None }
    }

    /// Reads by absolute paths below this folder, as the model of Claude Code does.
    pub fn under(mut self, folder: &Path) -> Self {
        self.folder = Some(folder.to_owned());
        self
    }

    /// Reads only the first lines of this file.
    pub fn only(mut self, path: &str, lines: u64) -> Self {
        self.only = Some((path.to_owned(), lines));
        self
    }

    pub fn answers(&self) -> usize {
        self.answers.len()
    }

    /// The script for a server. A conversation belongs to the first recorded request without an answer, so a request that
    /// breaks off and is repeated belongs to the same one.
    pub fn script(self) -> impl FnMut(&Seen) -> Reply + Send + 'static {
        let mut next = 0;
        move |seen| {
            if let Some(turn) = self.turn(next, seen) {
                return turn;
            }
            next += 1;
            self.answer(next - 1, seen)
        }
    }

    /// The script for a run whose process may be killed after an answer was sent and before it was journaled: a repeated
    /// prompt gets the same answer again.
    pub fn script_by_prompt(self) -> impl FnMut(&Seen) -> Reply + Send + 'static {
        let mut prompts: Vec<String> = Vec::new();
        move |seen| {
            let prompt = seen.system() + &seen.prompt();
            let at = prompts.iter().position(|known| *known == prompt).unwrap_or_else(|| {
                prompts.push(prompt);
                prompts.len() - 1
            });
            self.turn(at, seen).unwrap_or_else(|| self.answer(at, seen))
        }
    }

    /// What comes before the recorded answer with this index: files to read, or an error if there is no such answer.
    fn turn(&self, index: usize, seen: &Seen) -> Option<Reply> {
        let Some(recorded) = self.answers.get(index) else {
            return Some(Reply::error(400, "invalid_request_error", "the recording has no more answers"));
        };
        let results = seen.tool_results();
        if results.is_empty() && !seen.tools().is_empty() {
            let mut blocks: Vec<Block> = self.to_read(recorded, &seen.prompt()).map(|p| read(&p, None)).collect();
            for block in &mut blocks {
                if let (Block::Tool(_, input), Some((path, lines))) = (block, &self.only)
                    && input["file_path"] == **path
                {
                    input["limit"] = json!(lines);
                }
            }
            if !blocks.is_empty() {
                return Some(Reply::turn(blocks));
            }
        }
        let is_left = |path: &str| self.only.as_ref().is_some_and(|(only, _)| only == path);
        let open = unread(seen).into_iter().filter(|(path, _)| !is_left(path));
        let more: Vec<Block> = open.map(|(path, from)| read(&path, Some(from))).collect();
        (!more.is_empty()).then(|| Reply::turn(more))
    }

    fn answer(&self, index: usize, seen: &Seen) -> Reply {
        let answer = &in_todays_form(self.answers[index]["answer"].as_str().unwrap());
        // Claude Code enforces a schema with a tool of its own, and asks once more if the model does not call it.
        if seen.tools().iter().any(|tool| tool == "StructuredOutput")
            && let (Some(start), Some(end)) = (answer.find('{'), answer.rfind('}'))
            && let Ok(object) = serde_json::from_str(&answer[start..=end])
        {
            return Reply::tool("StructuredOutput", object);
        }
        Reply::text(answer)
    }

    fn to_read<'a>(&'a self, recorded: &'a Value, prompt: &str) -> impl Iterator<Item = String> + 'a {
        let mut paths: Vec<String> =
            recorded["reads"].as_array().unwrap().iter().map(|r| r["path"].as_str().unwrap().to_owned()).collect();
        for name in prompt.split('`').skip(1).step_by(2) {
            let is_file = [".md", ".tla", ".cfg", ".txt"].iter().any(|e| name.ends_with(e)) && !name.contains(' ');
            if is_file && !paths.iter().any(|p| p == name) {
                paths.push(name.to_owned());
            }
        }
        paths.into_iter().map(|p| match &self.folder {
            Some(folder) => folder.join(p).display().to_string(),
            None => p,
        })
    }
}

fn read(path: &str, offset: Option<u64>) -> Block {
    let mut input = json!({ "file_path": path });
    if let Some(offset) = offset {
        input["offset"] = json!(offset);
    }
    Block::Tool("Read".into(), input)
}

/// Files whose last result announces more lines, with the next line. The result contains `offset N`.
fn unread(seen: &Seen) -> Vec<(String, u64)> {
    let mut calls: Vec<(String, String)> = Vec::new();
    for message in seen.body["messages"].as_array().into_iter().flatten() {
        for block in message["content"].as_array().into_iter().flatten().filter(|b| b["type"] == "tool_use") {
            let path = block["input"]["file_path"].as_str().unwrap_or("");
            calls.push((block["id"].as_str().unwrap_or("").to_owned(), path.to_owned()));
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let input: Value =
                call["function"]["arguments"].as_str().and_then(|a| serde_json::from_str(a).ok()).unwrap_or_default();
            let path = input["file_path"].as_str().unwrap_or("").to_owned();
            calls.push((call["id"].as_str().unwrap_or("").to_owned(), path));
        }
    }
    let mut open: Vec<(String, u64)> = Vec::new();
    for result in seen.tool_results() {
        let Some((_, path)) = calls.iter().find(|(id, _)| *id == result.id) else { continue };
        open.retain(|(p, _)| p != path);
        let tail = result.text.rsplit_once("offset ").map_or("", |(_, tail)| tail);
        let digits: String = tail.chars().take_while(char::is_ascii_digit).collect();
        // Only the last line of a result is the tool's note; the rest is the file.
        let own = result.text.trim_end().lines().last().is_some_and(|l| l.starts_with('[') && l.contains("offset "));
        if let (true, Ok(from)) = (own, digits.parse()) {
            open.push((path.clone(), from));
        }
    }
    open
}
