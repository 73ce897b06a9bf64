//! The map from lines of a log to steps of a specification (`conform.toml`). The book describes each key.

use std::collections::BTreeMap;
use std::path::Path;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json_path::JsonPath;

use tlaforge_tla::check_expression;

use super::error::ConformError;
use super::text_form::{OtherLines, TextForm};

/// What the lines of a log mean.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConformMap {
    #[serde(default)]
    pub(super) log: LogKeys,
    /// The fields of an event, by name.
    #[serde(default)]
    pub(super) fields: BTreeMap<String, FieldRule>,
    /// Tables from strings of the log to values in TLA+.
    #[serde(default)]
    pub(super) values: BTreeMap<String, BTreeMap<String, String>>,
    /// Lines that are no step.
    #[serde(default, rename = "ignore")]
    pub(super) ignored: Vec<IgnoreRule>,
    #[serde(default, rename = "event")]
    pub(super) events: Vec<EventRule>,
    #[serde(default)]
    pub(super) hidden: HiddenSteps,
    /// Constants of the specification whose values the logs say.
    #[serde(default)]
    pub(super) constants: BTreeMap<String, ConstantRule>,
}

/// Where a line says who wrote it and when.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LogKeys {
    /// The name of the event in steps and observations, if a specification has another `e`.
    #[serde(default = "default_event_name")]
    pub(super) event: String,
    /// The process; without it, each file is one.
    pub(super) process: Option<OneOrMore>,
    /// Regular expressions for lines of text, by name: their named groups are what a line says.
    #[serde(default)]
    pub(super) patterns: BTreeMap<String, String>,
    /// The groups whose text is JSON.
    #[serde(default)]
    pub(super) json: Vec<String>,
    /// What becomes of a line that no pattern describes.
    #[serde(default)]
    pub(super) other_lines: OtherLines,
    /// A vector clock: an object, or a list of pairs of a process and a number.
    pub(super) clock: Option<String>,
    /// A point in time, by which all events are ordered.
    pub(super) time: Option<String>,
    /// Start and end of the step: steps that overlap may have happened either way.
    pub(super) start: Option<String>,
    pub(super) end: Option<String>,
    /// Whether steps of one process may overlap, so that only start and end order them.
    #[serde(default)]
    pub(super) overlap: bool,
}

fn default_event_name() -> String {
    "e".to_owned()
}

impl Default for LogKeys {
    fn default() -> Self {
        Self {
            event: default_event_name(),
            process: None,
            patterns: BTreeMap::new(),
            json: Vec::new(),
            other_lines: OtherLines::Error,
            clock: None,
            time: None,
            start: None,
            end: None,
            overlap: false,
        }
    }
}

/// How the value of a constant follows from the events.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ConstantRule {
    /// The set of the values of a field; of a list, the values of its items.
    ValuesOf(String),
    /// The largest number in a field.
    LargestOf(String),
}

impl ConstantRule {
    pub(super) fn field(&self) -> &str {
        match self {
            Self::ValuesOf(field) | Self::LargestOf(field) => field,
        }
    }
}

#[derive(Debug, Clone)]
pub(super) enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl<'de> Deserialize<'de> for OneOrMore {
    /// Names what is wrong, which an untagged enum would not.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let texts = |all: Vec<Value>| all.into_iter().map(|one| one.as_str().map(str::to_owned)).collect::<Option<_>>();
        let found = match Value::deserialize(deserializer)? {
            Value::String(one) => Some(Self::One(one)),
            Value::Array(all) => texts(all).map(Self::More),
            _ => None,
        };
        found.ok_or_else(|| D::Error::custom("expected a string, or a list of strings"))
    }
}

impl OneOrMore {
    pub(super) fn all(&self) -> &[String] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::More(all) => all,
        }
    }
}

/// Where a field is in a line: a path of JSON (RFC 9535), alone or with how to read what is there.
#[derive(Debug, Clone)]
pub(super) enum FieldRule {
    Path(String),
    Rule(FieldKeys),
}

impl<'de> Deserialize<'de> for FieldRule {
    /// Names the wrong key, which an untagged enum would not.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(path) => Ok(Self::Path(path)),
            keys => FieldKeys::deserialize(keys).map(Self::Rule).map_err(D::Error::custom),
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FieldKeys {
    pub(super) path: String,
    /// How a string is read.
    #[serde(default, rename = "as")]
    pub(super) form: StringForm,
    /// The table of [`ConformMap::values`] with the values of its texts.
    pub(super) values: Option<String>,
    /// Which of several is meant.
    pub(super) several: Option<MultipleMatches>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum StringForm {
    /// As a string of TLA+.
    #[default]
    Json,
    /// As an expression of TLA+.
    Tla,
    /// As a whole number.
    Number,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum MultipleMatches {
    First,
    Last,
    /// A sequence of all of them.
    All,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IgnoreRule {
    pub(super) when: BTreeMap<String, Value>,
}

/// A kind of event.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EventRule {
    pub(super) name: String,
    /// The values of fields that a line must have; a list means any of them.
    #[serde(default)]
    pub(super) when: BTreeMap<String, Value>,
    /// The actions that it may be; a list means several in a row.
    pub(super) steps: Vec<OneOrMore>,
    /// The fields that name the messages which it sends, and which it receives.
    pub(super) sends: Option<String>,
    pub(super) receives: Option<String>,
    /// Expressions over the variables, with the field that has their value before the step.
    #[serde(default)]
    pub(super) before: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) after: BTreeMap<String, String>,
}

/// Steps that leave no line.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HiddenSteps {
    #[serde(default)]
    pub(super) steps: Vec<String>,
    /// The largest number of them in a row.
    #[serde(default = "default_hidden")]
    pub(super) max: u32,
}

fn default_hidden() -> u32 {
    3
}

impl ConformMap {
    /// Reads a map.
    ///
    /// # Errors
    /// The file cannot be read, or it is not a map.
    pub fn read(path: &Path) -> Result<Self, ConformError> {
        let text = tlaforge_files::read_text(path, tlaforge_files::SMALL)
            .map_err(|e| ConformError::of_file(path, format!("cannot read it: {e}")))?;
        Self::parse(&text).map_err(|what| ConformError::of_file(path, what))
    }

    /// Parses the text of a map.
    ///
    /// # Errors
    /// It is not a map.
    pub fn parse(text: &str) -> Result<Self, String> {
        let map: Self = toml::from_str(text).map_err(|e| e.to_string().trim().to_owned())?;
        map.check()?;
        Ok(map)
    }

    fn check(&self) -> Result<(), String> {
        if self.events.is_empty() {
            return Err("it has no [[event]]: nothing would be compared".to_owned());
        }
        for (name, rule) in &self.fields {
            if !is_name(name) {
                return Err(format!("the field `{name}` is not a name in TLA+, such as `node` or `old_value`"));
            }
            if let FieldRule::Rule(FieldKeys { values: Some(table), .. }) = rule
                && !self.values.contains_key(table)
            {
                return Err(format!("the field `{name}` names the table [values.{table}], which does not exist"));
            }
        }
        let conditions = self.ignored.iter().map(|rule| ("[[ignore]]".to_owned(), &rule.when));
        let conditions =
            conditions.chain(self.events.iter().map(|rule| (format!("the event {}", rule.name), &rule.when)));
        let observed = |rule: &EventRule| {
            let messages = rule.sends.iter().chain(&rule.receives);
            rule.before.values().chain(rule.after.values()).chain(messages).cloned().collect::<Vec<_>>()
        };
        let named = conditions.map(|(what, when)| (what, when.keys().cloned().collect::<Vec<_>>()));
        let named = named.chain(self.events.iter().map(|rule| (format!("the event {}", rule.name), observed(rule))));
        let of_constants =
            self.constants.iter().map(|(name, rule)| (format!("the constant {name}"), vec![rule.field().to_owned()]));
        for (what, names) in named.chain(of_constants) {
            if let Some(unknown) = names.iter().find(|name| !self.fields.contains_key(*name)) {
                let known: Vec<&str> = self.fields.keys().map(String::as_str).collect();
                return Err(format!("{what} names the field `{unknown}`; [fields] has {}", known.join(", ")));
            }
        }
        if let Some(rule) = self.ignored.iter().find(|rule| rule.when.is_empty()) {
            return Err(format!("an [[ignore]] without `when` ignores every line: {:?}", rule.when));
        }
        let has_no_step =
            |rule: &&EventRule| rule.steps.is_empty() || rule.steps.iter().any(|row| row.all().is_empty());
        if let Some(rule) = self.events.iter().find(has_no_step) {
            return Err(format!("the event {} has no `steps`", rule.name));
        }
        for rule in self.ignored.iter().map(|rule| &rule.when).chain(self.events.iter().map(|rule| &rule.when)) {
            if let Some((name, value)) = rule.iter().find(|(_, value)| value.is_object() || value.is_null()) {
                return Err(format!(
                    "`when` compares `{name}` with {value}: write a string, a number, a Boolean or a list of them"
                ));
            }
        }
        self.check_expressions()?;
        TextForm::new(&self.log.patterns, &self.log.json, self.log.other_lines)?;
        let LogKeys { clock, time, start, end, overlap, .. } = &self.log;
        if *overlap && (start.is_none() || clock.is_some()) {
            return Err("`overlap` in [log] needs `start` and `end`, and cannot be combined with `clock`".to_owned());
        }
        if start.is_some() != end.is_some() {
            return Err("[log] needs both `start` and `end`, or neither".to_owned());
        }
        if time.is_some() && start.is_some() {
            return Err(
                "[log] has `time`, which orders all events, and `start` and `end`, which do not: name one".to_owned()
            );
        }
        Ok(())
    }
}

impl ConformMap {
    /// Each step, observation and value has to be one expression, with fields that exist.
    fn check_expressions(&self) -> Result<(), String> {
        if !is_name(&self.log.event) {
            return Err(format!("[log] calls the event `{}`, which is not a name in TLA+", self.log.event));
        }
        let of_events = self.events.iter().flat_map(|rule| {
            let observations = rule.before.keys().chain(rule.after.keys());
            rule.steps
                .iter()
                .flat_map(OneOrMore::all)
                .chain(observations)
                .map(|text| (format!("the event {}", rule.name), text))
        });
        let hidden = self.hidden.steps.iter().map(|text| ("[hidden]".to_owned(), text));
        let tables = self
            .values
            .iter()
            .flat_map(|(name, table)| table.values().map(move |text| (format!("[values.{name}]"), text)));
        for (what, text) in of_events.chain(hidden).chain(tables) {
            check_expression(text).map_err(|why| format!("{what}: `{}` {why}", text.trim()))?;
            let event = format!("{}.", self.log.event);
            let code = without_strings(text);
            for (at, _) in code.match_indices(&event) {
                let is_whole = !code[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.');
                let name: String =
                    code[at + event.len()..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
                if is_whole && !name.is_empty() && !self.fields.contains_key(&name) {
                    return Err(format!("{what}: `{}` names the field `{name}`, and [fields] has none", text.trim()));
                }
            }
        }
        Ok(())
    }
}

/// The text without the contents of strings and comments.
fn without_strings(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['"', '(', '\\']) {
        let (before, found) = rest.split_at(at);
        code.push_str(before);
        let end = if found.starts_with('"') {
            let is_end = |(at, _): &(usize, &str)| !found[..*at].ends_with('\\') && *at > 0;
            found.match_indices('"').find(is_end).map(|(at, _)| at + 1)
        } else if found.starts_with("(*") {
            found.find("*)").map(|at| at + 2)
        } else if found.starts_with("\\*") {
            found.find('\n')
        } else {
            code.push_str(&found[..1]);
            Some(1)
        };
        rest = &found[end.unwrap_or(found.len())..];
    }
    code + rest
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A path with the text that it was parsed from.
pub(super) struct LogPath {
    pub(super) text: String,
    path: JsonPath,
}

impl LogPath {
    /// # Errors
    /// It is not a JSON path.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let path = JsonPath::parse(text).map_err(|e| format!("`{text}` is not a JSON path: {e}"))?;
        Ok(Self { text: text.to_owned(), path })
    }

    pub(super) fn all<'v>(&self, line: &'v Value) -> Vec<&'v Value> {
        self.path.query(line).all()
    }

    /// The only value; `None` if there is none.
    ///
    /// # Errors
    /// There are several.
    pub(super) fn only<'v>(&self, line: &'v Value) -> Result<Option<&'v Value>, String> {
        match self.all(line)[..] {
            [] => Ok(None),
            [only] => Ok(Some(only)),
            ref all => Err(format!(
                "{} values match `{}`, and one is needed: a field can have `several` = first, last or all",
                all.len(),
                self.text
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_without_events_or_with_unknown_names_is_rejected() {
        let event = "[[event]]\nname = \"a\"\nsteps = [\"A\"]\n";
        for (text, wanted) in [
            ("", "no [[event]]"),
            ("[[event]]\nname = \"a\"\nsteps = []\n", "has no `steps`"),
            (&format!("{event}whatever = 1\n"), "unknown field"),
            (&format!("{event}when = {{ kind = \"x\" }}\n"), "names the field `kind`"),
            (&format!("{event}after = {{ \"x\" = \"x\" }}\n"), "names the field `x`"),
            (&format!("[fields]\n\"a b\" = \"$.x\"\n{event}"), "not a name in TLA+"),
            (&format!("[fields]\nx = {{ path = \"$.x\", values = \"t\" }}\n{event}"), "[values.t]"),
            (&format!("[fields]\nx = {{ path = \"$.x\", vals = \"t\" }}\n{event}"), "unknown field `vals`"),
            (&format!("[log]\nstart = \"$.s\"\n{event}"), "both `start` and `end`"),
            (&format!("[log.patterns]\na = '(?P<x'\n{event}"), "the pattern `a` is no regular expression"),
            (&format!("[log.patterns]\na = '(?P<pattern>x)'\n{event}"), "a group called `pattern`"),
            (&format!("[log]\njson = [\"body\"]\n{event}"), "the group `body`, which no pattern has"),
            (&format!("[constants]\nN = {{ values_of = \"x\" }}\n{event}"), "the constant N names the field `x`"),
            (&format!("{event}sends = \"x\"\n"), "names the field `x`"),
            (&format!("[[ignore]]\nwhen = {{}}\n{event}"), "ignores every line"),
        ] {
            let error = ConformMap::parse(text).expect_err(text);
            assert!(error.contains(wanted), "{text}: {error}");
        }
        assert!(ConformMap::parse(event).is_ok());
        // A field that only a string or a comment names, and a string with the sign of a definition.
        let step = r#"x = "e.g. \"e.f\"" /\ y = "a == b" (* e.g. *) \* e.g."#;
        assert!(ConformMap::parse(&format!("{event}before = {{}}\n[hidden]\nsteps = ['{step}']\n")).is_ok());
    }
}
