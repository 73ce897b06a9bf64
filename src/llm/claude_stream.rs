//! What Claude Code writes: one JSON object a line. The order of fields and of some lines is not stable, and unknown
//! types come with every version, so each line is read by itself and only for what is needed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::claude_failure::{self, Failed};
use super::claude_program::ClaudeVersion;
use super::claude_reads::{Piece, Shown, inside};
use super::contract::{LONGEST_ANSWER, Usage};
use super::failure::{CallFailure, FailureKind};

/// The only tool. With a schema the program adds one of its own, which takes the answer.
const TOOL: &str = "Read";
const ANSWER_TOOL: &str = "StructuredOutput";
/// The program's name for lines that no model wrote.
const SYNTHETIC: &str = "<synthetic>";

/// What a call must look like to be trusted.
#[derive(Debug, Clone)]
pub(super) struct Expected {
    /// The folder that may be read, absolute.
    pub workspace: PathBuf,
    /// The answer is held to a schema.
    pub schema: bool,
}

/// What was read from the lines so far.
#[derive(Debug)]
pub(super) struct Transcript {
    expected: Expected,
    confined: bool,
    /// Tool calls by id: the tool, and the path where it names one.
    calls: BTreeMap<String, (String, Option<String>)>,
    shown: Vec<Shown>,
    /// Paths outside of the workspace that the model asked for, by call.
    refused: BTreeMap<String, String>,
    text: String,
    answered: bool,
    model: Option<String>,
    request_ids: Vec<String>,
    /// Tokens that messages began with, by message: all that is known where there is no result.
    begun: BTreeMap<String, Option<Usage>>,
    failed: Failed,
    result: Option<Value>,
}

/// A call that ended well.
#[derive(Debug)]
pub(super) struct Finished {
    /// The answer.
    pub text: String,
    /// What the model saw.
    pub shown: Vec<Shown>,
    /// What it was refused.
    pub refused: Vec<String>,
    /// Tokens of all turns.
    pub usage: Option<Usage>,
    /// Who answered.
    pub model: Option<String>,
    /// The server's names of the requests.
    pub request_ids: Vec<String>,
    /// Why the model stopped.
    pub stop_reason: Option<String>,
}

impl Transcript {
    pub(super) fn new(expected: Expected) -> Self {
        Self {
            expected,
            confined: false,
            calls: BTreeMap::new(),
            shown: Vec::new(),
            refused: BTreeMap::new(),
            text: String::new(),
            answered: false,
            model: None,
            request_ids: Vec::new(),
            begun: BTreeMap::new(),
            failed: Failed::default(),
            result: None,
        }
    }

    /// Takes a line in. An error means that the model is not confined: nothing that follows may be trusted.
    pub(super) fn take(&mut self, line: &Value) -> Result<(), CallFailure> {
        match (text(line, "type"), text(line, "subtype")) {
            ("system", "init") => self.init(line),
            ("system", subtype) if subtype.starts_with("hook_") => {
                Err(not_confined(format!("it ran a hook ({subtype})")))
            }
            ("assistant" | "user" | "result", _) if !self.confined => {
                Err(not_confined("it began without saying which tools the model has"))
            }
            ("assistant", _) => self.assistant(line),
            ("user", _) => self.user(line),
            ("result", _) => {
                self.result = Some(line.clone());
                Ok(())
            }
            ("rate_limit_event", _) => {
                self.failed.limit(&line["rate_limit_info"]);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn init(&mut self, line: &Value) -> Result<(), CallFailure> {
        let mut tools: Vec<&str> = list(line, "tools").iter().filter_map(Value::as_str).collect();
        if self.expected.schema {
            tools.retain(|tool| *tool != ANSWER_TOOL);
        }
        if tools != [TOOL] || !line["tools"].is_array() {
            return Err(not_confined(format!("the model has the tools {}", line["tools"])));
        }
        if !line["mcp_servers"].as_array().is_some_and(Vec::is_empty) {
            return Err(not_confined(format!("it has MCP servers: {}", line["mcp_servers"])));
        }
        for name in ["skills", "slash_commands", "additional_directories"] {
            if !list(line, name).is_empty() {
                return Err(not_confined(format!("it has {name}: {}", line[name])));
            }
        }
        if let Some(plugin) = list(line, "plugins").iter().find(|plugin| text(plugin, "path") != "builtin") {
            return Err(not_confined(format!("it has the plugin {}", plugin["name"])));
        }
        if text(line, "permissionMode") != "dontAsk" {
            return Err(not_confined(format!("its permission mode is {}", line["permissionMode"])));
        }
        let version = text(line, "claude_code_version");
        if !ClaudeVersion::parse(version).is_some_and(ClaudeVersion::is_enough) {
            return Err(not_confined(format!("it says that it is version {version:?}")));
        }
        let cwd = Path::new(text(line, "cwd"));
        let workspace = &self.expected.workspace;
        if cwd != workspace && workspace.canonicalize().ok().as_deref() != Some(cwd) {
            return Err(not_confined(format!("it works in {}, not in the workspace", cwd.display())));
        }
        self.confined = true;
        if self.model.is_none() {
            self.model = line["model"].as_str().map(str::to_owned);
        }
        Ok(())
    }

    fn assistant(&mut self, line: &Value) -> Result<(), CallFailure> {
        if let Some(id) = line["request_id"].as_str()
            && self.request_ids.last().is_none_or(|last| last != id)
        {
            self.request_ids.push(id.to_owned());
        }
        let message = &line["message"];
        if text(message, "model") == SYNTHETIC || !line["error"].is_null() {
            self.failed.message(line);
            return Ok(());
        }
        if !line["parent_tool_use_id"].is_null() {
            return Err(not_confined("it started an agent of its own"));
        }
        self.answered = true;
        if let Some(model) = message["model"].as_str() {
            self.model = Some(model.to_owned());
        }
        if let Some(id) = message["id"].as_str() {
            self.begun.insert(id.to_owned(), api_usage(&message["usage"]));
        }
        for block in list(message, "content") {
            match text(block, "type") {
                "text" => self.text.push_str(text(block, "text")),
                "tool_use" => {
                    // What was said before a tool call is not the answer.
                    self.text.clear();
                    let path = block["input"]["file_path"].as_str().map(str::to_owned);
                    self.calls.insert(text(block, "id").to_owned(), (text(block, "name").to_owned(), path));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn user(&mut self, line: &Value) -> Result<(), CallFailure> {
        // An answer that is cut at the limit of tokens goes on in the next message, and the program's own `result`
        // holds the last piece only. Where it asks for another answer instead, what came before does not count.
        if text(line, "type") == "user" && starts_over(line) {
            self.text.clear();
        }
        for block in list(&line["message"], "content") {
            if text(block, "type") != "tool_result" {
                continue;
            }
            let id = text(block, "tool_use_id");
            match self.calls.get(id) {
                Some((tool, path)) if block["is_error"] == true => {
                    // Some paths it objects to for another reason before it asks where they lead.
                    if let Some(path) = path
                        && tool == TOOL
                        && inside(path, &self.expected.workspace).is_none()
                    {
                        self.refused.insert(id.to_owned(), path.clone());
                    }
                }
                Some((tool, path)) if tool == TOOL => {
                    let file = &line["tool_use_result"]["file"];
                    let named = file["filePath"].as_str().or(path.as_deref()).unwrap_or_default();
                    let Some(path) = inside(named, &self.expected.workspace) else {
                        return Err(not_confined(format!("it let the model read {named:?}, outside the workspace")));
                    };
                    self.shown.push(Shown { path, piece: piece(&line["tool_use_result"]) });
                }
                Some((tool, _)) if tool != ANSWER_TOOL => {
                    return Err(not_confined(format!("it let the model use the tool {tool:?}")));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Tokens used: all of them where the program counted them, else what its messages began with.
    pub(super) fn usage(&self) -> Option<Usage> {
        let counted = self.result.as_ref().map(|result| {
            let by_model = result["modelUsage"].as_object().into_iter().flat_map(|models| models.values());
            sum(by_model.map(model_usage)).or_else(|| api_usage(&result["usage"]))
        });
        counted.unwrap_or_else(|| sum(self.begun.values().copied()))
    }

    /// Whether the program gave its result.
    pub(super) fn has_result(&self) -> bool {
        self.result.is_some()
    }

    /// The last name that the server gave to a request.
    pub(super) fn request_id(&self) -> Option<String> {
        self.request_ids.last().cloned()
    }

    /// A failure with what the call took until then, and what the model tried.
    pub(super) fn charge(&self, failure: CallFailure) -> CallFailure {
        let refused_reads = self.refused.values().cloned().collect();
        CallFailure { usage: self.usage(), request_id: self.request_id(), refused_reads, ..failure }
    }

    /// The answer, or why there is none. Without a result there is no answer, whatever the model had written.
    pub(super) fn finish(mut self) -> Result<Finished, CallFailure> {
        if !self.confined {
            return Err(self.charge(not_confined("it never said which tools the model has")));
        }
        let Some(result) = self.result.clone() else {
            return Err(self.charge(CallFailure::new(FailureKind::Killed, "Claude Code ended without a result")));
        };
        for denial in list(&result, "permission_denials").iter().filter(|d| text(d, "tool_name") == TOOL) {
            let id = text(denial, "tool_use_id");
            let asked = self.calls.get(id).and_then(|(_, path)| path.as_deref());
            let path = asked.unwrap_or_else(|| text(&denial["tool_input"], "file_path"));
            self.refused.insert(id.to_owned(), path.to_owned());
        }
        if let Some(error) = claude_failure::of(&result, &self.failed) {
            return Err(self.charge(error));
        }
        let usage = self.usage();
        let own = text(&result, "result");
        // It answers some prompts itself, like those that look like its own commands.
        if !self.answered && usage.is_none() {
            let what = format!("Claude Code answered itself, without asking the model: {own}");
            return Err(self.charge(CallFailure::new(FailureKind::Malformed, what)));
        }
        let text = match &result["structured_output"] {
            Value::Null if self.text.contains(own.trim()) => std::mem::take(&mut self.text),
            Value::Null => own.to_owned(),
            object => object.to_string(),
        };
        if text.trim().is_empty() {
            return Err(self.charge(CallFailure::new(FailureKind::Empty, "Claude Code: the answer holds no text")));
        }
        if text.len() as u64 > LONGEST_ANSWER {
            let what = format!("Claude Code: the answer is longer than {} MiB", LONGEST_ANSWER >> 20);
            return Err(self.charge(CallFailure::new(FailureKind::Malformed, what)));
        }
        Ok(Finished {
            text,
            shown: self.shown,
            refused: self.refused.into_values().collect(),
            usage,
            model: self.model,
            request_ids: self.request_ids,
            stop_reason: result["stop_reason"].as_str().map(str::to_owned),
        })
    }
}

/// The program asks for another answer: it does not take the text for one, or the server withheld it.
fn starts_over(line: &Value) -> bool {
    let said = list(&line["message"], "content").iter().map(|block| text(block, "text")).collect::<String>();
    line["isSynthetic"] == true
        && (said.starts_with("[structured-output-enforce]") || !line["refused_message_id"].is_null())
}

fn piece(result: &Value) -> Option<Piece> {
    let file = &result["file"];
    let number = |name: &str| usize::try_from(file[name].as_u64()?).ok();
    (text(result, "type") == "text").then(|| {
        Some(Piece {
            start: number("startLine")?,
            content: file["content"].as_str()?.to_owned(),
            total: number("totalLines")?,
        })
    })?
}

fn not_confined(what: impl AsRef<str>) -> CallFailure {
    let what = format!("Claude Code did not confirm that the model is confined to the workspace: {}", what.as_ref());
    CallFailure::new(FailureKind::NotConfined, what)
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

fn api_usage(usage: &Value) -> Option<Usage> {
    Usage::counted(
        &usage["input_tokens"],
        &usage["output_tokens"],
        &usage["cache_read_input_tokens"],
        &usage["cache_creation_input_tokens"],
    )
}

fn model_usage(usage: &Value) -> Option<Usage> {
    Usage::counted(
        &usage["inputTokens"],
        &usage["outputTokens"],
        &usage["cacheReadInputTokens"],
        &usage["cacheCreationInputTokens"],
    )
}

/// The sum, or `None` if there is nothing to add or a part was not counted.
fn sum(parts: impl Iterator<Item = Option<Usage>>) -> Option<Usage> {
    parts.reduce(|a, b| Some(a?.plus(b?))).flatten()
}

#[cfg(test)]
#[path = "claude_stream_tests.rs"]
mod tests;
