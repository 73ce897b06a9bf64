//! Where a log keeps what formulas speak of.

use std::fmt;

use serde::Deserialize;

/// The shapes of logs that are known by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// A run's own `journal.jsonl`.
    Journal,
    /// JSON lines, each record one state.
    Jsonl,
    /// What Claude Code prints with `--output-format stream-json`.
    Claude,
    /// A list of messages as OpenAI-compatible servers take it: JSON lines, an array, or an object with `messages`.
    Openai,
    /// JSON lines of requests and responses with `kind` and `payload`; each `chat_response` is a state.
    Agentlog,
}

impl Shape {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Journal, Self::Jsonl, Self::Claude, Self::Openai, Self::Agentlog];

    /// As it is written in a policy file and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Journal => "journal",
            Self::Jsonl => "jsonl",
            Self::Claude => "claude",
            Self::Openai => "openai",
            Self::Agentlog => "agentlog",
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Where in a record what is: paths of keys with dots between them.
///
/// What a policy file's `[log]` table says replaces what the shape says by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Mapping {
    /// The shape; without it, it is told from the first record.
    pub shape: Option<Shape>,
    /// Names of tools that were called: a text, a list of texts, or a list of blocks (`tool_use`, `tool_calls`).
    pub tool_call: Option<Vec<String>>,
    /// Text that was written: a text, or a list of blocks.
    pub text: Option<Vec<String>>,
    /// The name of the file, among those kept beside the log, that holds the text that was written.
    #[serde(skip)]
    pub text_kept: Option<String>,
    /// Why the turn ended.
    pub stop_reason: Option<Vec<String>>,
    /// The list of the propositions that a model has found true, where the log tells it.
    #[serde(skip)]
    pub model_labels: Option<String>,
    /// The fields that say which propositions were asked, and who was.
    #[serde(skip)]
    pub model_asked: Option<[String; 2]>,
    /// Whose event it is.
    pub lifeline: Option<String>,
    /// What it is to its lifeline: `act`, `choice`, `send`, `recv`.
    pub event: Option<String>,
    /// The number or name of the message that is sent or received.
    pub message: Option<String>,
    /// The events of each lifeline that this one can have seen: an object of counts.
    pub clock: Option<String>,
    /// All lifelines there are; without it, those that have events.
    pub lifelines: Option<Vec<String>>,
    /// When it was; only looked at to warn where time goes backwards.
    pub time: Option<String>,
    /// Where a field is looked for that is not at the top of the record.
    pub within: Option<String>,
    /// Only records in which this field …
    pub only: Option<String>,
    /// … has one of these values are states.
    pub values: Vec<String>,
    /// All fields that records may have, where a misspelt one is to be an error.
    pub fields: Option<Vec<String>>,
}

impl Mapping {
    /// The fields that hold the counts of a clock.
    pub fn clock_fields(&self) -> Vec<String> {
        let Some(clock) = &self.clock else { return Vec::new() };
        self.lifelines.iter().flatten().map(|lifeline| format!("{clock}.{lifeline}")).collect()
    }

    /// What a shape says by itself, with what `self` says instead.
    #[must_use]
    pub fn over(self, shape: Shape) -> Self {
        let some = |paths: &[&str]| Some(paths.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>());
        let one = |path: &str| Some(path.to_owned());
        let base = match shape {
            // The envelope; the events are of a type that the caller knows.
            Shape::Journal => Self {
                lifeline: one("lifeline"),
                event: one("kind"),
                clock: one("vc"),
                time: one("at"),
                within: one("data"),
                ..Self::default()
            },
            Shape::Jsonl => Self {
                tool_call: some(&["tool_call", "tools", "tool", "tool_calls", "function_call"]),
                text: some(&["text", "content"]),
                stop_reason: some(&["stop_reason", "stop", "finish_reason"]),
                ..Self::default()
            },
            Shape::Claude => Self {
                tool_call: some(&["message.content"]),
                text: some(&["message.content", "result"]),
                stop_reason: some(&["message.stop_reason", "stop_reason"]),
                within: one("message"),
                ..Self::default()
            },
            Shape::Openai => Self {
                tool_call: some(&[
                    "tool_calls",
                    "message.tool_calls",
                    "choices.message.tool_calls",
                    "function_call",
                    "message.function_call",
                    "choices.message.function_call",
                    "content",
                ]),
                text: some(&["content", "message.content", "choices.message.content"]),
                stop_reason: some(&["finish_reason", "choices.finish_reason"]),
                within: one("message"),
                ..Self::default()
            },
            Shape::Agentlog => Self {
                tool_call: some(&["payload.content"]),
                text: some(&["payload.content"]),
                stop_reason: some(&["payload.stop_reason"]),
                time: one("ts"),
                within: one("payload"),
                only: one("kind"),
                values: vec!["chat_response".into()],
                ..Self::default()
            },
        };
        let values = if self.only.is_some() { self.values } else { base.values };
        Self {
            shape: Some(shape),
            tool_call: self.tool_call.or(base.tool_call),
            text: self.text.or(base.text),
            text_kept: self.text_kept.or(base.text_kept),
            stop_reason: self.stop_reason.or(base.stop_reason),
            model_labels: self.model_labels.or(base.model_labels),
            model_asked: self.model_asked.or(base.model_asked),
            lifeline: self.lifeline.or(base.lifeline),
            event: self.event.or(base.event),
            message: self.message.or(base.message),
            clock: self.clock.or(base.clock),
            lifelines: self.lifelines.or(base.lifelines),
            time: self.time.or(base.time),
            within: self.within.or(base.within),
            only: self.only.or(base.only),
            values,
            fields: self.fields.or(base.fields),
        }
    }

    /// What records tell besides fields, and where.
    pub fn told(&self) -> impl Iterator<Item = (&'static str, &[String])> {
        let kept = self.text_kept.as_ref().map(std::slice::from_ref);
        let all = [
            ("tool_call", self.tool_call.as_deref()),
            ("text", self.text.as_deref().or(kept)),
            ("stop_reason", self.stop_reason.as_deref()),
        ];
        all.into_iter().filter_map(|(kind, paths)| paths.map(|paths| (kind, paths)))
    }

    /// Kinds of labels that a formula may use on such a log.
    pub fn labels(&self) -> impl Iterator<Item = &'static str> + use<> {
        let has = [
            ("tool_call", self.tool_call.is_some()),
            ("stop_reason", self.stop_reason.is_some()),
            ("text_contains", self.text.is_some() || self.text_kept.is_some()),
            ("extra", true),
        ];
        has.into_iter().filter(|(_, has)| *has).map(|(kind, _)| kind)
    }
}
