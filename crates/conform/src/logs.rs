//! Reads the lines of logs as events: what each says, by the map.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

use serde_json::Value;
use tlaforge_tla::check_expression;
use tlaforge_toolchain::{EventKind, FieldValue, Log, LogEvent, NO_VALUE, Observation};

use super::error::ConformError;
use super::line::{LogLine, LogPlace};
use super::map::{
    ConformMap, ConstantRule, EventRule, FieldKeys, FieldRule, LogPath, MultipleMatches, OneOrMore, StringForm,
};
use super::order::Order;
use super::records::read_records;
use super::text_form::TextForm;
use super::times::{Clock, Times, process_name};

/// Logs as a search needs them, with what a report says of them.
#[derive(Debug, Clone, Default)]
pub struct ConformLog {
    pub log: Log,
    /// The place of each event.
    pub places: Vec<LogPlace>,
    /// How many lines the map ignores.
    pub ignored: usize,
    pub processes: Vec<String>,
    /// The values of constants that the logs say, as a configuration writes them.
    pub constants: BTreeMap<String, String>,
    /// How the events are ordered, in words.
    pub order: String,
}

impl ConformLog {
    /// Reads logs: JSON lines, a JSON list, spans of OpenTelemetry, or lines of text that the map describes; plain or compressed with gzip.
    /// The file `-` is standard input.
    ///
    /// # Errors
    /// A line that cannot be read, that the map does not know, or that contradicts the order of the others.
    pub fn read(files: &[PathBuf], map: &ConformMap) -> Result<Self, ConformError> {
        let mut reader = Reader::new(map)?;
        let form = TextForm::new(&map.log.patterns, &map.log.json, map.log.other_lines)
            .map_err(|what| ConformError::at("the map", what))?;
        refuse_repeated(files)?;
        let (mut lines, mut left_out) = (Vec::new(), 0);
        for file in files {
            left_out += read_records(file, &form, &mut |place, value| {
                lines.push(reader.parse_line(value, place)?);
                Ok(())
            })?;
        }
        if map.log.overlap {
            lines.sort_by_key(|line: &LogLine| line.times.map(|times| times.start));
        }
        let order = Order::new(&lines, map, files.len())?;
        let kinds = map.events.iter().map(event_kind).collect();
        let mut read = Self { processes: order.processes.clone(), order: order.words.clone(), ..Self::default() };
        read.ignored = left_out + lines.iter().filter(|line| line.event.is_none()).count();
        let mut lines: Vec<Option<LogLine>> = lines.into_iter().map(Some).collect();
        let mut processes = vec![Vec::new(); read.processes.len()];
        for (number, at) in order.sequence.iter().enumerate() {
            let Some(LogLine { place, event: Some((kind, fields)), .. }) = lines[*at].take() else { continue };
            read.log.events.push(LogEvent { kind, fields, needs: order.needs[number].clone() });
            read.places.push(place);
            processes[order.process_of[number]].push((*at, u32::try_from(number).unwrap_or(u32::MAX)));
        }
        if read.log.events.is_empty() {
            let all = files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", ");
            let what = format!("no line is an event ({} ignored): there is nothing to compare", read.ignored);
            return Err(ConformError::at(&all, what).with_hint("the map says with [[event]] which lines are events"));
        }
        read.log.kinds = kinds;
        read.log.hidden.clone_from(&map.hidden.steps);
        read.log.max_hidden = if map.hidden.steps.is_empty() { 0 } else { map.hidden.max };
        read.log.fields = reader.fields.iter().map(|field| field.name.to_owned()).collect();
        read.log.values = reader.values;
        for events in &mut processes {
            // In the order of the lines, which another one of times does not change.
            events.sort_unstable();
            read.log.processes.push(events.iter().map(|(_, number)| *number).collect());
        }
        read.log.event_name.clone_from(&map.log.event);
        for (name, rule) in &map.constants {
            let value = read
                .constant(rule)
                .map_err(|what| ConformError::at("the map", format!("the constant {name}: {what}")))?;
            read.constants.insert(name.clone(), value);
        }
        Ok(read)
    }

    /// The value of a constant, as a configuration writes it.
    fn constant(&self, rule: &ConstantRule) -> Result<String, String> {
        let field = rule.field();
        let at = self.log.fields.iter().position(|name| name == field).unwrap_or(usize::MAX);
        let used: BTreeSet<u32> = self.log.events.iter().filter_map(|event| event.fields.get(at).copied()).collect();
        let mut values = Vec::new();
        for value in used.iter().filter_map(|number| self.log.values.get(*number as usize)) {
            match value {
                FieldValue::Json(Value::Array(items)) => {
                    values.extend(items.iter().map(|item| FieldValue::Json(item.clone())));
                }
                value => values.push(value.clone()),
            }
        }
        if values.is_empty() {
            return Err(format!("no event has the field `{field}`"));
        }
        match rule {
            ConstantRule::ValuesOf(_) => {
                let all: BTreeSet<String> = values.iter().map(constant_text).collect::<Result<_, _>>()?;
                let is_number = |text: &String| text.parse::<i64>().is_ok();
                let is_text = |text: &String| text.starts_with('"');
                if all.iter().any(is_number) && !all.iter().all(is_number)
                    || all.iter().any(is_text) && !all.iter().all(is_text)
                {
                    let all: Vec<String> = all.into_iter().collect();
                    return Err(format!("the values of `{field}` are of several kinds: {}", all.join(", ")));
                }
                Ok(format!("{{{}}}", all.into_iter().collect::<Vec<_>>().join(", ")))
            }
            ConstantRule::LargestOf(_) => {
                let numbers: Option<Vec<i64>> = values
                    .iter()
                    .map(|value| match value {
                        FieldValue::Json(value) => value.as_i64(),
                        FieldValue::Tla { expression, .. } => expression.trim().parse().ok(),
                    })
                    .collect();
                let numbers = numbers.ok_or_else(|| format!("the field `{field}` is not a number in each event"))?;
                numbers.into_iter().max().map(|number| number.to_string()).ok_or_else(String::new)
            }
        }
    }
}

/// Refuses a log that is given twice.
fn refuse_repeated(files: &[PathBuf]) -> Result<(), ConformError> {
    let mut seen = BTreeSet::new();
    for file in files {
        // What cannot be found is an error when it is read.
        if !seen.insert(file.canonicalize().unwrap_or_else(|_| file.clone())) {
            return Err(ConformError::of_file(file, "the log is given twice"));
        }
    }
    Ok(())
}

/// A string, a number, a Boolean or a name, as a configuration writes it.
fn constant_text(value: &FieldValue) -> Result<String, String> {
    match value {
        FieldValue::Json(value @ (Value::Number(_) | Value::String(_))) => Ok(value.to_string()),
        FieldValue::Json(Value::Bool(value)) => Ok(value.to_string().to_uppercase()),
        FieldValue::Tla { expression, .. }
            if expression.trim().chars().all(|c| c.is_ascii_alphanumeric() || "_\"-".contains(c)) =>
        {
            Ok(expression.trim().to_owned())
        }
        FieldValue::Tla { expression, .. } => Err(format!("a configuration cannot hold `{expression}`")),
        FieldValue::Json(value) => Err(format!("a configuration cannot hold {value}")),
    }
}

fn event_kind(rule: &EventRule) -> EventKind {
    let observations = |all: &BTreeMap<String, String>| {
        let one = |(expression, field): (&String, &String)| Observation {
            expression: expression.clone(),
            field: field.clone(),
        };
        all.iter().map(one).collect()
    };
    EventKind {
        name: rule.name.clone(),
        steps: rule.steps.iter().map(|row| row.all().to_vec()).collect(),
        before: observations(&rule.before),
        after: observations(&rule.after),
    }
}

/// A field with its path.
struct Field<'m> {
    name: &'m str,
    path: LogPath,
    keys: Option<&'m FieldKeys>,
}

struct Reader<'m> {
    map: &'m ConformMap,
    fields: Vec<Field<'m>>,
    process: Vec<LogPath>,
    clock: Option<LogPath>,
    time: Option<LogPath>,
    interval: Option<(LogPath, LogPath)>,
    /// The different values of fields, and the number of each by its text.
    values: Vec<FieldValue>,
    numbers: HashMap<(bool, String), u32>,
}

impl<'m> Reader<'m> {
    fn new(map: &'m ConformMap) -> Result<Self, ConformError> {
        let parse = |text: &String| LogPath::parse(text).map_err(|what| ConformError::at("the map", what));
        let mut fields = Vec::new();
        for (name, rule) in &map.fields {
            let (path, keys) = match rule {
                FieldRule::Path(path) => (path, None),
                FieldRule::Rule(keys) => (&keys.path, Some(keys)),
            };
            fields.push(Field { name, path: parse(path)?, keys });
        }
        let keys = &map.log;
        let process = keys.process.iter().flat_map(OneOrMore::all).map(parse).collect::<Result<_, _>>()?;
        let interval = match (&keys.start, &keys.end) {
            (Some(start), Some(end)) => Some((parse(start)?, parse(end)?)),
            _ => None,
        };
        Ok(Self {
            map,
            fields,
            process,
            clock: keys.clock.as_ref().map(parse).transpose()?,
            time: keys.time.as_ref().map(parse).transpose()?,
            interval,
            values: Vec::new(),
            numbers: HashMap::new(),
        })
    }

    fn parse_line(&mut self, value: &Value, place: LogPlace) -> Result<LogLine, ConformError> {
        let wrong = |what: String| ConformError::at(&place, what);
        if !value.is_object() {
            return Err(wrong("expected a JSON object".to_owned()));
        }
        let mut raw: BTreeMap<&str, Value> = BTreeMap::new();
        for field in &self.fields {
            if let Some(found) =
                raw_value(field, value).map_err(|what| wrong(format!("the field `{}`: {what}", field.name)))?
            {
                raw.insert(field.name, found);
            }
        }
        let process = self.process_of(value, &place)?;
        let only = |path: &LogPath| match path.only(value) {
            Ok(Some(found)) => Ok(found.clone()),
            Ok(None) => Err(wrong(format!("there is no `{}`, by which the map orders events", path.text))),
            Err(what) => Err(wrong(what)),
        };
        let clock = self.clock.as_ref().map(only).transpose()?;
        let clock = clock.map(|clock| Clock::parse(&clock).map_err(wrong)).transpose()?;
        let times = match (&self.time, &self.interval) {
            (Some(time), _) => {
                let time = only(time)?;
                Some(Times::parse(&time, &time).map_err(wrong)?)
            }
            (None, Some((start, end))) => Some(Times::parse(&only(start)?, &only(end)?).map_err(wrong)?),
            (None, None) => None,
        };
        let matches = |when: &BTreeMap<String, Value>| {
            when.iter()
                .all(|(name, wanted)| raw.get(name.as_str()).is_some_and(|found| matches_condition(found, wanted)))
        };
        let event = if self.map.ignored.iter().any(|rule| matches(&rule.when)) {
            None
        } else {
            let kind = self.map.events.iter().position(|rule| matches(&rule.when)).ok_or_else(|| {
                let known: Vec<&str> = self.map.events.iter().map(|rule| rule.name.as_str()).collect();
                let shown: Vec<String> =
                    raw.iter().map(|(name, value)| format!("{name} = {}", shortened(value))).collect();
                wrong(format!("the map does not know this line ({}); it has {}", shown.join(", "), known.join(", ")))
                    .with_hint("add an [[event]] for it, or an [[ignore]] if it is no step")
            })?;
            let mut fields = Vec::new();
            for (at, name) in self.fields.iter().map(|field| field.name).enumerate().collect::<Vec<_>>() {
                fields.push(match raw.get(name) {
                    Some(value) => self
                        .field_value(at, value, &place)
                        .map_err(|what| wrong(format!("the field `{name}`: {what}")))?,
                    None => NO_VALUE,
                });
            }
            Some((kind, fields))
        };
        let messages = |field: fn(&EventRule) -> Option<&String>| {
            let rule = event.as_ref().map(|(kind, _)| &self.map.events[*kind]);
            let Some(name) = rule.and_then(field) else { return Ok(Vec::new()) };
            match raw.get(name.as_str()) {
                Some(Value::Array(all)) => Ok(all.iter().map(process_name).collect()),
                Some(one) => Ok(vec![process_name(one)]),
                // Without it, nothing would order the event.
                None => Err(wrong(format!("there is no `{name}`, which names the messages of this event"))),
            }
        };
        let sends = messages(|rule| rule.sends.as_ref())?;
        let receives = messages(|rule| rule.receives.as_ref())?;
        Ok(LogLine { place, process, clock, times, sends, receives, event })
    }

    fn process_of(&self, value: &Value, place: &LogPlace) -> Result<String, ConformError> {
        let wrong = |what: String| ConformError::at(place, what);
        let mut parts = Vec::new();
        for path in &self.process {
            let part = path.only(value).map_err(wrong)?;
            parts.push(part.cloned().ok_or_else(|| wrong(format!("there is no `{}`, the process", path.text)))?);
        }
        Ok(match parts.len() {
            0 => place.file.display().to_string(),
            1 => process_name(&parts[0]),
            _ => process_name(&Value::Array(parts)),
        })
    }

    /// The value of a string, a number or a Boolean in a table; a list becomes the sequence of the values of its items.
    fn table_value(&self, name: &str, value: &Value) -> Result<String, String> {
        match value {
            Value::Array(all) => {
                let items: Result<Vec<String>, String> = all.iter().map(|one| self.table_value(name, one)).collect();
                Ok(format!("<<{}>>", items?.join(", ")))
            }
            Value::Object(_) | Value::Null => Err(format!("[values.{name}] has no value for {value}")),
            _ => {
                let known = self.map.values.get(name).and_then(|table| table.get(&process_name(value)));
                known.cloned().ok_or_else(|| format!("[values.{name}] has no value for {value}"))
            }
        }
    }

    /// The number of the value of a field.
    fn field_value(&mut self, field: usize, value: &Value, place: &LogPlace) -> Result<u32, String> {
        let Field { name, keys, .. } = self.fields[field];
        let text = match keys.map(|keys| (&keys.values, keys.form)) {
            Some((Some(table), _)) => Some(self.table_value(table, value)?),
            Some((None, StringForm::Tla)) => Some(tla_text(value)?),
            Some((None, StringForm::Json | StringForm::Number)) | None => None,
        };
        let value = match text {
            Some(expression) => FieldValue::Tla { expression, origin: format!("the field `{name}` of {place}") },
            None => {
                check_value(value)?;
                FieldValue::Json(value.clone())
            }
        };
        let key = match &value {
            FieldValue::Tla { expression, .. } => (true, expression.clone()),
            FieldValue::Json(json) => (false, json.to_string()),
        };
        let next = u32::try_from(self.values.len()).unwrap_or(NO_VALUE);
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.values.push(value);
        }
        Ok(number)
    }
}

fn raw_value(field: &Field<'_>, line: &Value) -> Result<Option<Value>, String> {
    let found = match field.keys.and_then(|keys| keys.several) {
        None => field.path.only(line)?.cloned(),
        Some(MultipleMatches::First) => field.path.all(line).first().map(|one| (*one).clone()),
        Some(MultipleMatches::Last) => field.path.all(line).last().map(|one| (*one).clone()),
        Some(MultipleMatches::All) => Some(Value::Array(field.path.all(line).into_iter().cloned().collect())),
    };
    match field.keys.map(|keys| keys.form) {
        Some(StringForm::Number) => found.map(as_number).transpose(),
        _ => Ok(found),
    }
}

/// The number that a text is; of a list, the numbers.
fn as_number(value: Value) -> Result<Value, String> {
    match value {
        Value::String(text) => text
            .trim()
            .parse::<i64>()
            .map(Value::from)
            .map_err(|_| format!("{text:?} is not a whole number of 64 bits")),
        Value::Array(all) => Ok(Value::Array(all.into_iter().map(as_number).collect::<Result<_, _>>()?)),
        Value::Number(_) | Value::Null => Ok(value),
        other => Err(format!("{other} is not a number")),
    }
}

/// The expression of TLA+ that a string is; a list becomes a sequence.
fn tla_text(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => {
            check_expression(text).map_err(|why| format!("`{text}` {why}"))?;
            Ok(text.clone())
        }
        Value::Array(all) => Ok(format!("<<{}>>", all.iter().map(tla_text).collect::<Result<Vec<_>, _>>()?.join(", "))),
        Value::Bool(true) => Ok("TRUE".to_owned()),
        Value::Bool(false) => Ok("FALSE".to_owned()),
        Value::Number(number) if number.is_i64() => Ok(number.to_string()),
        _ => Err(format!("{value} is not an expression of TLA+")),
    }
}

/// Rejects JSON that has no value in TLA+.
fn check_value(value: &Value) -> Result<(), String> {
    match value {
        Value::Null => Err("TLA+ has no null: name another path, or ignore the line".to_owned()),
        Value::Number(number) if number.as_i64().is_none() => Err(format!("{number} is not a whole number of 64 bits")),
        Value::Array(all) => all.iter().try_for_each(check_value),
        Value::Object(all) => all.values().try_for_each(check_value),
        _ => Ok(()),
    }
}

fn matches_condition(found: &Value, wanted: &Value) -> bool {
    match wanted {
        Value::Array(all) if !found.is_array() => all.contains(found),
        wanted => found == wanted,
    }
}

fn shortened(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
