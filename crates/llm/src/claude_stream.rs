//! Reads the output of Claude Code: one JSON object per line (`--output-format stream-json`). The order of fields and of
//! some lines is not stable, and every version adds types of lines, so each line is read on its own, unknown ones are
//! skipped, and only the needed fields are read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::claude_failure::{self, FailureTags};
use super::claude_program::ClaudeVersion;
use super::claude_reads::{ShownLines, ShownPart, relative_path};
use super::failure::{CallFailure, FailureKind};
use super::provider::MAX_ANSWER_BYTES;
use super::usage::Usage;

/// The model's only tool.
const TOOL: &str = "Read";
/// The tool that the program adds for a schema (`--json-schema`). The model passes its answer to it.
const ANSWER_TOOL: &str = "StructuredOutput";
/// The model name in messages that the program wrote itself.
const SYNTHETIC: &str = "<synthetic>";

/// The properties that the program must confirm for a call to be trusted.
#[derive(Debug, Clone)]
pub(super) struct ExpectedCall {
    /// Absolute path of the only folder that the model may read.
    pub workspace: PathBuf,
    /// Whether the answer is constrained to a schema.
    pub schema: bool,
}

/// The state after the lines read so far.
#[derive(Debug)]
pub(super) struct Transcript {
    expected: ExpectedCall,
    confined: bool,
    /// Tool calls by id: the tool, and the path if the call has one.
    calls: BTreeMap<String, (String, Option<String>)>,
    shown: Vec<ShownPart>,
    /// Refused paths outside the workspace, by call.
    refused: BTreeMap<String, String>,
    text: String,
    answered: bool,
    model: Option<String>,
    request_ids: Vec<String>,
    /// Usage at the start of each message, by message id. It is all that is known if there is no result.
    initial_usage: BTreeMap<String, Option<Usage>>,
    failure_tags: FailureTags,
    result: Option<Value>,
}

/// The result of a successful call.
#[derive(Debug)]
pub(super) struct Finished {
    pub text: String,
    /// The parts of files that the model was shown.
    pub shown: Vec<ShownPart>,
    /// Refused paths outside the workspace.
    pub refused: Vec<String>,
    /// Tokens of all turns.
    pub usage: Option<Usage>,
    pub model: Option<String>,
    /// The server's ids of the requests.
    pub request_ids: Vec<String>,
    /// Why the model stopped.
    pub stop_reason: Option<String>,
}

impl Transcript {
    pub(super) fn new(expected: ExpectedCall) -> Self {
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
            initial_usage: BTreeMap::new(),
            failure_tags: FailureTags::default(),
            result: None,
        }
    }

    /// Reads one line. An error means that the model is not confined, and no later line can be trusted.
    pub(super) fn take(&mut self, line: &Value) -> Result<(), CallFailure> {
        match (text(line, "type"), text(line, "subtype")) {
            ("system", "init") => self.init(line),
            ("system", subtype) if subtype.starts_with("hook_") => {
                Err(not_confined(format!("it ran a hook ({subtype})")))
            }
            // `init` need not be the first line (2.1.329 writes `system/ui_invalidate` before it), but it has to come
            // before anything that the model did.
            ("assistant" | "user" | "result", _) if !self.confined => {
                Err(not_confined("it started without listing the model's tools"))
            }
            ("assistant", _) => self.assistant(line),
            ("user", _) => self.user(line),
            ("result", _) => {
                self.result = Some(line.clone());
                Ok(())
            }
            ("rate_limit_event", _) => {
                self.failure_tags.read_limit(&line["rate_limit_info"]);
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
        // The version was queried once for the run, and the program can be updated in between.
        let version = text(line, "claude_code_version");
        if !ClaudeVersion::parse(version).is_some_and(ClaudeVersion::is_supported) {
            return Err(not_confined(format!("it reports version {version:?}")));
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
            // There is one line for each content block, with the same id.
            && self.request_ids.last().is_none_or(|last| last != id)
        {
            self.request_ids.push(id.to_owned());
        }
        let message = &line["message"];
        if text(message, "model") == SYNTHETIC || !line["error"].is_null() {
            self.failure_tags.read_message(line);
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
            // Keyed by message: each of its lines repeats the counts from its start.
            self.initial_usage.insert(id.to_owned(), api_usage(&message["usage"]));
        }
        for block in list(message, "content") {
            match text(block, "type") {
                "text" => self.text.push_str(text(block, "text")),
                "tool_use" => {
                    // Text before a tool call is not the answer.
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
        // If the token limit cuts an answer, the program lets the model continue in the next message, and its own `result`
        // contains only the last piece. If the program asks for a new answer instead, the earlier text does not count.
        if text(line, "type") == "user" && asks_for_new_answer(line) {
            self.text.clear();
        }
        for block in list(&line["message"], "content") {
            if text(block, "type") != "tool_result" {
                continue;
            }
            let id = text(block, "tool_use_id");
            match self.calls.get(id) {
                Some((tool, path)) if block["is_error"] == true => {
                    // The program can reject a path for another reason before it checks where it leads.
                    if let Some(path) = path
                        && tool == TOOL
                        && relative_path(path, &self.expected.workspace).is_none()
                    {
                        self.refused.insert(id.to_owned(), path.clone());
                    }
                }
                Some((tool, path)) if tool == TOOL => {
                    let file = &line["tool_use_result"]["file"];
                    let named = file["filePath"].as_str().or(path.as_deref()).unwrap_or_default();
                    let Some(path) = relative_path(named, &self.expected.workspace) else {
                        return Err(not_confined(format!("it let the model read {named:?}, outside the workspace")));
                    };
                    self.shown.push(ShownPart { path, lines: shown_lines(&line["tool_use_result"]) });
                }
                Some((tool, _)) if tool != ANSWER_TOOL => {
                    return Err(not_confined(format!("it let the model use the tool {tool:?}")));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Tokens used: the program's totals, or, without a result, the usage at the start of each message.
    pub(super) fn usage(&self) -> Option<Usage> {
        let counted = self.result.as_ref().map(|result| {
            let by_model = result["modelUsage"].as_object().into_iter().flat_map(|models| models.values());
            sum(by_model.map(model_usage)).or_else(|| api_usage(&result["usage"]))
        });
        counted.unwrap_or_else(|| sum(self.initial_usage.values().copied()))
    }

    /// Whether the program has written its result line.
    pub(super) fn has_result(&self) -> bool {
        self.result.is_some()
    }

    /// The server's id of the last request.
    pub(super) fn request_id(&self) -> Option<String> {
        self.request_ids.last().cloned()
    }

    /// Adds to a failure the usage so far, and the refused paths.
    pub(super) fn add_to_failure(&self, failure: CallFailure) -> CallFailure {
        let refused_reads = self.refused.values().cloned().collect();
        CallFailure { usage: self.usage(), request_id: self.request_id(), refused_reads, ..failure }
    }

    /// The answer, or why there is none. Without a result line there is no answer, even if the model wrote text.
    pub(super) fn finish(mut self) -> Result<Finished, CallFailure> {
        if !self.confined {
            return Err(self.add_to_failure(not_confined("it never listed the model's tools")));
        }
        let Some(result) = self.result.clone() else {
            return Err(
                self.add_to_failure(CallFailure::new(FailureKind::Killed, "Claude Code ended without a result"))
            );
        };
        // A refused read does not end the call, and the call ends as a success (measured).
        for denial in list(&result, "permission_denials").iter().filter(|d| text(d, "tool_name") == TOOL) {
            let id = text(denial, "tool_use_id");
            let asked = self.calls.get(id).and_then(|(_, path)| path.as_deref());
            let path = asked.unwrap_or_else(|| text(&denial["tool_input"], "file_path"));
            self.refused.insert(id.to_owned(), path.to_owned());
        }
        if let Some(error) = claude_failure::classify_result(&result, &self.failure_tags) {
            return Err(self.add_to_failure(error));
        }
        let usage = self.usage();
        let own = text(&result, "result");
        // The program answers some prompts itself, such as those that look like its own commands.
        if !self.answered && usage.is_none() {
            let what = format!("Claude Code answered by itself, without calling the model: {own}");
            return Err(self.add_to_failure(CallFailure::new(FailureKind::Malformed, what)));
        }
        let text = match &result["structured_output"] {
            // A model can answer with plain text although a schema is given: then there is no `structured_output`.
            // The collected text is longer than `result` if the program let the model continue a cut answer.
            Value::Null if self.text.contains(own.trim()) => std::mem::take(&mut self.text),
            Value::Null => own.to_owned(),
            object => object.to_string(),
        };
        // To the program an empty answer is a success, with exit status 0 (measured).
        if text.trim().is_empty() {
            return Err(
                self.add_to_failure(CallFailure::new(FailureKind::Empty, "Claude Code: the answer has no text"))
            );
        }
        if text.len() as u64 > MAX_ANSWER_BYTES {
            let what = format!("Claude Code: the answer is longer than {} MiB", MAX_ANSWER_BYTES >> 20);
            return Err(self.add_to_failure(CallFailure::new(FailureKind::Malformed, what)));
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

/// Whether the program asks the model for a new answer, because the text violates the schema or the server withheld it.
fn asks_for_new_answer(line: &Value) -> bool {
    let said = list(&line["message"], "content").iter().map(|block| text(block, "text")).collect::<String>();
    line["isSynthetic"] == true
        && (said.starts_with("[structured-output-enforce]") || !line["refused_message_id"].is_null())
}

fn shown_lines(result: &Value) -> Option<ShownLines> {
    let file = &result["file"];
    let number = |name: &str| usize::try_from(file[name].as_u64()?).ok();
    (text(result, "type") == "text").then(|| {
        Some(ShownLines {
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
    Usage::from_counts(
        &usage["input_tokens"],
        &usage["output_tokens"],
        &usage["cache_read_input_tokens"],
        &usage["cache_creation_input_tokens"],
    )
}

fn model_usage(usage: &Value) -> Option<Usage> {
    Usage::from_counts(
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
