//! Where the records of a log hold what formulas read: the `[log]` table of a policy over the defaults of a shape.

use std::fmt;

use serde::Deserialize;

/// The known shapes of logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// The `journal.jsonl` of a run.
    Journal,
    /// JSON lines, each record one state.
    Jsonl,
    /// The output of Claude Code with `--output-format stream-json`.
    Claude,
    /// Messages for an OpenAI-compatible server: JSON lines, an array, or an object with `messages`.
    Openai,
    /// JSON lines of requests and responses with `kind` and `payload`; each `chat_response` is a state.
    Agentlog,
    /// The rollouts of Codex, and its output with `--json`.
    Codex,
    /// Messages of `LangChain`, as it dumps them.
    Langchain,
    /// Spans of `OpenTelemetry` with the conventions for generative AI, in the JSON of OTLP or flat.
    Otel,
    /// Requests and responses of Gemini.
    Gemini,
    /// The steps of SWE-agent.
    Sweagent,
}

/// What is done with calls in places where the shape of a log has none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OtherCalls {
    /// There is no verdict: the caller has chosen the shape.
    #[default]
    Report,
    /// Those in a form that is only used for calls are read; for others, there is no verdict.
    ReadKnown,
    /// Everything that has a name and may be a call is read.
    Read,
    Ignore,
}

impl Shape {
    pub const ALL: [Self; 10] = [
        Self::Journal,
        Self::Jsonl,
        Self::Claude,
        Self::Openai,
        Self::Agentlog,
        Self::Codex,
        Self::Langchain,
        Self::Otel,
        Self::Gemini,
        Self::Sweagent,
    ];

    /// The name in policy files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Journal => "journal",
            Self::Jsonl => "jsonl",
            Self::Claude => "claude",
            Self::Openai => "openai",
            Self::Agentlog => "agentlog",
            Self::Codex => "codex",
            Self::Langchain => "langchain",
            Self::Otel => "otel",
            Self::Gemini => "gemini",
            Self::Sweagent => "sweagent",
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Where records hold what formulas read: paths of keys, separated by dots.
///
/// The `[log]` table of a policy file replaces the defaults of the shape.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Mapping {
    /// Detected from the first records if absent.
    pub shape: Option<Shape>,
    /// Paths of tool calls: a tool's name, a list of names, or a list of blocks (`tool_use`, `tool_calls`).
    pub tool_call: Option<Vec<String>>,
    /// Paths of the text of a step: a text, or a list of blocks.
    pub text: Option<Vec<String>>,
    /// The path of the name under which the text is stored outside the log.
    #[serde(skip)]
    pub stored_text: Option<String>,
    /// Paths of the reason why the turn ended.
    pub stop_reason: Option<Vec<String>>,
    /// The path of the list of propositions that a model has found true.
    #[serde(skip)]
    pub model_labels: Option<String>,
    /// The fields that hold the hash of the propositions that were asked, and the model.
    #[serde(skip)]
    pub model_label_source: Option<[String; 2]>,
    /// The field with the lifeline of the event.
    pub lifeline: Option<String>,
    /// The field with the kind of the event: `act`, `choice`, `send` or `recv`.
    pub event: Option<String>,
    /// The field with the number or name of the message that is sent or received.
    pub message: Option<String>,
    /// The field with the vector clock: an object with the number of visible events of each lifeline.
    pub clock: Option<String>,
    /// All lifelines; if absent, those that have events.
    pub lifelines: Option<Vec<String>>,
    /// The field with the time, used only to warn if time goes backwards.
    pub time: Option<String>,
    /// The object in which a field is looked up if the record itself does not have it.
    pub within: Option<String>,
    /// Only records in which this field has one of `values` are states.
    pub only: Option<String>,
    pub values: Vec<String>,
    /// All fields that records can have; any other field in a rule is then an error.
    pub fields: Option<Vec<String>>,
    /// What is done with calls in places where the shape has none.
    #[serde(skip)]
    pub other_calls: OtherCalls,
}

impl Mapping {
    /// The fields with the counts of the vector clock, one for each lifeline.
    pub fn clock_fields(&self) -> Vec<String> {
        let Some(clock) = &self.clock else { return Vec::new() };
        self.lifelines.iter().flatten().map(|lifeline| format!("{clock}.{lifeline}")).collect()
    }

    /// This mapping, completed by the defaults of a shape.
    #[must_use]
    pub fn with_shape_defaults(self, shape: Shape) -> Self {
        let some = |paths: &[&str]| Some(paths.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>());
        let one = |path: &str| Some(path.to_owned());
        let base = match shape {
            // The envelope of events; the caller adds the paths in the data of its events.
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
                text: some(&["content", "message.content", "choices.message.content", "output.content"]),
                stop_reason: some(&["finish_reason", "choices.finish_reason", "stop_reason"]),
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
            Shape::Codex | Shape::Langchain | Shape::Otel | Shape::Gemini | Shape::Sweagent => {
                Self::of_framework(shape)
            }
        };
        let values = if self.only.is_some() { self.values } else { base.values };
        Self {
            shape: Some(shape),
            tool_call: self.tool_call.or(base.tool_call),
            text: self.text.or(base.text),
            stored_text: self.stored_text.or(base.stored_text),
            stop_reason: self.stop_reason.or(base.stop_reason),
            model_labels: self.model_labels.or(base.model_labels),
            model_label_source: self.model_label_source.or(base.model_label_source),
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
            other_calls: self.other_calls,
        }
    }

    /// The defaults of the shapes of single frameworks.
    fn of_framework(shape: Shape) -> Self {
        let some = |paths: &[&str]| Some(paths.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>());
        let one = |path: &str| Some(path.to_owned());
        match shape {
            Shape::Codex => Self {
                tool_call: some(&["payload", "item"]),
                text: some(&["payload.content", "payload.message", "item.text"]),
                time: one("timestamp"),
                within: one("payload"),
                ..Self::default()
            },
            Shape::Langchain => Self {
                tool_call: some(&["tool_calls", "data.tool_calls", "kwargs.tool_calls"]),
                text: some(&["content", "data.content", "kwargs.content"]),
                stop_reason: some(&[
                    "response_metadata.finish_reason",
                    "data.response_metadata.finish_reason",
                    "data.response_metadata.stop_reason",
                    "kwargs.response_metadata.finish_reason",
                    "kwargs.response_metadata.stop_reason",
                ]),
                within: one("data"),
                ..Self::default()
            },
            // Keys of attributes contain dots, so that no path leads to them: the search finds their calls.
            Shape::Otel => {
                Self { tool_call: some(&["tool_calls"]), text: some(&["body", "body.content"]), ..Self::default() }
            }
            Shape::Gemini => Self {
                tool_call: some(&[
                    "parts.functionCall",
                    "content.parts.functionCall",
                    "candidates.content.parts.functionCall",
                ]),
                text: some(&["parts", "content.parts", "candidates.content.parts"]),
                stop_reason: some(&["finishReason", "candidates.finishReason"]),
                ..Self::default()
            },
            Shape::Sweagent => Self {
                tool_call: some(&["tool_calls"]),
                text: some(&["response", "thought", "content", "observation"]),
                stop_reason: some(&["exit_status"]),
                ..Self::default()
            },
            Shape::Journal | Shape::Jsonl | Shape::Claude | Shape::Openai | Shape::Agentlog => Self::default(),
        }
    }

    /// The kinds of observations that records can have, with their paths.
    pub fn observation_paths(&self) -> impl Iterator<Item = (&'static str, &[String])> {
        let stored = self.stored_text.as_ref().map(std::slice::from_ref);
        let all = [
            ("tool_call", self.tool_call.as_deref()),
            ("text", self.text.as_deref().or(stored)),
            ("stop_reason", self.stop_reason.as_deref()),
        ];
        all.into_iter().filter_map(|(kind, paths)| paths.map(|paths| (kind, paths)))
    }

    /// The kinds of label atoms that a formula can use on such a log.
    pub fn label_kinds(&self) -> impl Iterator<Item = &'static str> + use<> {
        let has = [
            ("tool_call", self.tool_call.is_some()),
            ("stop_reason", self.stop_reason.is_some()),
            ("text_contains", self.text.is_some() || self.stored_text.is_some()),
            ("extra", true),
        ];
        has.into_iter().filter(|(_, has)| *has).map(|(kind, _)| kind)
    }
}
