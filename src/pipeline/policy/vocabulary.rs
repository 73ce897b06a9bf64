//! The names that rules about a journal can use: its events, the lifelines that have them, and their fields. The fields
//! come from the JSON Schema of the event types, so a new field is known to rules, to the documentation and to the model
//! that formulates rules.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::LazyLock;

use schemars::{JsonSchema, Schema, SchemaGenerator, schema_for};
use serde_json::{Map, Value};
use strum::VariantArray as _;

use crate::pipeline::machine::{
    CANDIDATE_LIFELINES, LifelineGroup, NODE_LIFELINES, NodeName, SECOND_READING, lifelines,
};
use crate::pipeline::records::{
    CandidateClaims, CheckClaims, ContractClaims, Entry, EventName, FormalizeClaims, InformalClaims, MergeClaims,
    ReviewClaims, RunEvent, SecondReadingClaims, ValidateClaims,
};

/// Fields of every event. Rules cannot use time, clock and group size.
const ENVELOPE: [&str; 7] = ["v", "seq", "lifeline", "kind", "name", "rev", "attempt"];

/// Deeper paths end in `.*`.
const DEEPEST: usize = 4;

/// The JSON Schema of a line of `journal.jsonl`, without its checksum.
pub fn journal_schema() -> Schema {
    schema_for!(Entry)
}

/// A field of an event: its path, with `.*` at the end if it stands for all names below.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Field {
    path: String,
    is_list: bool,
    /// All its values, if the schema lists them.
    values: Option<BTreeSet<String>>,
}

impl Field {
    fn is(&self, name: &str) -> bool {
        match self.path.strip_suffix('*') {
            Some(prefix) => name.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty()),
            None => self.path == name,
        }
    }
}

struct Vocabulary {
    events: Vec<(EventName, Vec<Field>)>,
    claims: BTreeMap<&'static str, Vec<Field>>,
}

static VOCABULARY: LazyLock<Vocabulary> = LazyLock::new(|| {
    let schema = schema_for!(RunEvent);
    let walk = Walk { root: schema.as_value() };
    let variants = schema.as_value()["oneOf"].as_array().expect("an enum is one of its variants");
    let of = |name: &EventName| {
        let is_it = |variant: &&Value| variant["properties"]["name"]["const"] == <&str>::from(name);
        let variant = variants.iter().find(is_it).expect("each variant has a schema");
        (*name, walk.fields(&variant["properties"]["data"]))
    };
    let events = EventName::VARIANTS.iter().map(of).collect();
    let mut claims = BTreeMap::from([
        (NodeName::InformalSpec.name(), fields_of::<InformalClaims>()),
        (NodeName::Formalize.name(), fields_of::<FormalizeClaims>()),
        (NodeName::Validate.name(), fields_of::<ValidateClaims>()),
        (NodeName::GenerateInvariants.name(), fields_of::<MergeClaims>()),
        (NodeName::StepContracts.name(), fields_of::<ContractClaims>()),
        (NodeName::ModelCheck.name(), fields_of::<CheckClaims>()),
        (NodeName::Review.name(), fields_of::<ReviewClaims>()),
        (SECOND_READING, fields_of::<SecondReadingClaims>()),
    ]);
    claims.extend(CANDIDATE_LIFELINES.map(|candidate| (candidate, fields_of::<CandidateClaims>())));
    Vocabulary { events, claims }
});

fn fields_of<T: JsonSchema>() -> Vec<Field> {
    let schema = SchemaGenerator::default().into_root_schema_for::<T>();
    Walk { root: schema.as_value() }.fields(schema.as_value())
}

/// Collects the paths of the values that a schema allows.
struct Walk<'a> {
    root: &'a Value,
}

impl Walk<'_> {
    fn fields(&self, schema: &Value) -> Vec<Field> {
        let mut all = Vec::new();
        self.add(schema, &mut Vec::new(), &mut all);
        all
    }

    fn add<'a>(&'a self, schema: &'a Value, path: &mut Vec<&'a str>, all: &mut Vec<Field>) {
        const SAYS_ITS_TYPE: [&str; 8] = ["$ref", "anyOf", "oneOf", "allOf", "type", "properties", "const", "enum"];
        let typed = schema.as_object().filter(|schema| SAYS_ITS_TYPE.iter().any(|word| schema.contains_key(*word)));
        // Any JSON value may be there.
        let Some(schema) = typed else { return leaf(path, ".*", false, None, all) };
        if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
            let target = self.root.pointer(name.trim_start_matches('#')).expect("a reference has a definition");
            self.add(target, path, all);
        }
        for choices in ["anyOf", "oneOf", "allOf"] {
            for choice in schema.get(choices).and_then(Value::as_array).into_iter().flatten() {
                self.add(choice, path, all);
            }
        }
        let is = |name: &str| match &schema.get("type") {
            Some(Value::String(one)) => one == name,
            Some(Value::Array(several)) => several.iter().any(|one| one == name),
            _ => false,
        };
        if is("array") {
            leaf(path, "", true, None, all);
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        if is("object") || properties.is_some() {
            self.add_object(schema, properties, path, all);
        }
        let scalar = ["string", "integer", "number", "boolean"].into_iter().any(is);
        if scalar || schema.contains_key("const") || schema.contains_key("enum") {
            leaf(path, "", false, listed_values(schema), all);
        }
    }

    fn add_object<'a>(
        &'a self,
        schema: &'a Map<String, Value>,
        properties: Option<&'a Map<String, Value>>,
        path: &mut Vec<&'a str>,
        all: &mut Vec<Field>,
    ) {
        let is_deep = path.len() + 1 == DEEPEST;
        // A map with numbers as keys has patterns for them.
        let is_map = schema.contains_key("patternProperties")
            || schema.get("additionalProperties").is_some_and(|more| *more != Value::Bool(false));
        if is_deep || is_map {
            leaf(path, ".*", false, None, all);
        }
        if is_deep {
            return;
        }
        for (name, schema) in properties.into_iter().flatten() {
            path.push(name);
            self.add(schema, path, all);
            path.pop();
        }
    }
}

/// Adds a field, or further values of it.
fn leaf(path: &[&str], end: &str, is_list: bool, values: Option<BTreeSet<String>>, all: &mut Vec<Field>) {
    if path.is_empty() {
        return;
    }
    let path = path.join(".") + end;
    match all.iter_mut().find(|known| known.path == path) {
        Some(known) => known.values = known.values.take().zip(values).map(|(known, more)| &known | &more),
        None => all.push(Field { path, is_list, values }),
    }
}

/// The texts that `const` or `enum` allows; `None` if the schema has neither.
fn listed_values(schema: &Map<String, Value>) -> Option<BTreeSet<String>> {
    let listed = match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) => std::slice::from_ref(value),
        (None, Some(values)) => values.as_array()?.as_slice(),
        (None, None) => return None,
    };
    Some(listed.iter().filter_map(|value| value.as_str().map(str::to_owned)).collect())
}

pub fn event_names() -> impl Iterator<Item = &'static str> {
    EventName::VARIANTS.iter().map(<&str>::from)
}

/// The lifelines that can have an event of this name; none for an unknown name.
pub fn lifelines_with_event(event: &str) -> impl Iterator<Item = &'static str> {
    let makers = EventName::VARIANTS.iter().find(|name| <&str>::from(*name) == event).map(|name| name.makers());
    lifelines().filter(move |lifeline| makers.is_some_and(|makers| makers.include(lifeline)))
}

/// Whether some event of this lifeline has this field.
pub fn has_field(lifeline: &str, field: &str) -> bool {
    if let Some(claim) = field.strip_prefix("claims.") {
        return VOCABULARY.claims.get(lifeline).is_some_and(|claims| claims.iter().any(|known| known.is(claim)));
    }
    events_with_field(field)
        .is_none_or(|events| events.into_iter().any(|event| lifelines_with_event(event).any(|maker| maker == lifeline)))
}

/// Every field of the events of a run, by its path; a path that ends in `.*` stands for all names below it.
pub fn field_paths() -> impl Iterator<Item = &'static str> {
    let of_events = VOCABULARY.events.iter().flat_map(|(_, fields)| fields).map(|field| field.path.as_str());
    ENVELOPE.into_iter().chain(of_events)
}

/// Whether some event of a run has this field.
pub fn is_field(name: &str) -> bool {
    ENVELOPE.contains(&name) || VOCABULARY.events.iter().flat_map(|(_, fields)| fields).any(|field| field.is(name))
}

/// Whether a field holds a list in every event that has it. Rules read lists by `any` and `every`.
pub fn is_list(name: &str) -> bool {
    let mut fields = VOCABULARY.events.iter().flat_map(|(_, fields)| fields).filter(|field| field.is(name)).peekable();
    fields.peek().is_some() && fields.all(|field| field.is_list)
}

/// All values of a field, if every event that has it lists them; empty for other fields.
pub(in crate::pipeline) fn values_of(name: &str) -> BTreeSet<String> {
    let fields = VOCABULARY.events.iter().flat_map(|(_, fields)| fields).filter(|field| field.is(name));
    fields.map(|field| field.values.clone()).collect::<Option<Vec<_>>>().into_iter().flatten().flatten().collect()
}

/// The events that have a field; `None` if every event has it.
fn events_with_field(field: &str) -> Option<Vec<&'static str>> {
    if ENVELOPE.contains(&field) {
        return None;
    }
    let has = |fields: &[Field]| fields.iter().any(|known| known.is(field));
    Some(VOCABULARY.events.iter().filter(|(_, fields)| has(fields)).map(|(name, _)| name.into()).collect())
}

/// The events, each with its lifelines and fields, as lines of Markdown, followed by the claims of each lifeline. For
/// people and models.
pub fn vocabulary_text() -> String {
    let mut text = String::new();
    for (name, fields) in &VOCABULARY.events {
        let is_claim = |field: &&Field| field.path.starts_with("claims.");
        let mut paths: Vec<&str> = fields.iter().filter(|field| !is_claim(field)).map(|f| f.path.as_str()).collect();
        if fields.iter().any(|field| is_claim(&field)) {
            paths.push("claims.*");
        }
        let colon = if paths.is_empty() { "" } else { ": " };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "- `{}` ({}){colon}{}", <&str>::from(name), name.makers().words(), paths.join(" "));
    }
    let asking: Vec<&str> = NODE_LIFELINES.into_iter().filter(|name| LifelineGroup::Asking.include(name)).collect();
    let _ = writeln!(text, "\nThose that ask a model are {} and candidates. What each claims:\n", asking.join(", "));
    let nodes = NODE_LIFELINES.into_iter().map(|name| (name, name));
    for (name, lifeline) in nodes.chain([("candidates", CANDIDATE_LIFELINES[0])]) {
        if let Some(claims) = VOCABULARY.claims.get(lifeline) {
            let claims: Vec<String> = claims.iter().map(|field| format!("claims.{}", field.path)).collect();
            let _ = writeln!(text, "- `{name}`: {}", claims.join(" "));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor::similar_names;
    use crate::pipeline::machine::{Outcome, Row};

    /// Rules would read the field of the line instead.
    #[test]
    fn no_field_of_an_event_has_the_name_of_a_field_of_its_line() {
        let line = schema_for!(Entry);
        let taken: Vec<&str> = line.as_value()["properties"]
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .filter(|n| *n != "data")
            .collect();
        assert!(ENVELOPE.iter().filter(|name| **name != "name").all(|name| taken.contains(name)), "{taken:?}");
        for (event, fields) in &VOCABULARY.events {
            for field in fields {
                let first = field.path.split('.').next().unwrap();
                assert!(!taken.contains(&first) && !ENVELOPE.contains(&first), "{event:?} has `{}`", field.path);
            }
        }
    }

    #[test]
    fn names_are_known_by_their_path_or_a_prefix_of_it() {
        for name in ["name", "claims.verdict", "outcome.statistics.distinct", "check.verdict", "command_line.model"] {
            assert!(is_field(name), "{name}");
        }
        for name in ["nam", "claims", "statistics.distinct", "command_line.", "vc.review", "more"] {
            assert!(!is_field(name), "{name}");
        }
    }

    #[test]
    fn a_lifeline_has_the_fields_of_its_own_events() {
        for (lifeline, field) in [
            ("model_check", "outcome.statistics.distinct"),
            ("run", "outcome"),
            ("review", "claims.unread"),
            ("formalize_3", "claims.points"),
            ("formalize", "chosen"),
            ("mutants", "tally.score"),
            ("second_reading", "row"),
            ("mutants", "name"),
        ] {
            assert!(has_field(lifeline, field), "{lifeline} {field}");
        }
        for (lifeline, field) in [
            ("review", "outcome.statistics.distinct"),
            ("review", "claims.verdict"),
            ("formalize_3", "row"),
            ("run", "claims.verdict"),
            ("model_check", "prompt"),
            ("model_check", "tally.score"),
        ] {
            assert!(!has_field(lifeline, field), "{lifeline} {field}");
        }
    }

    #[test]
    fn the_schema_lists_the_values_of_a_field() {
        let values = |name: &str| values_of(name).into_iter().collect::<Vec<_>>();
        assert_eq!(values("guard"), ["approval", "flaw"]);
        assert_eq!(values("intervention"), ["inject", "resample", "switch"]);
        assert_eq!(values("routing.verdict"), ["approved", "flaw", "revise"]);
        for field in ["outcome.verdict", "check.verdict"] {
            assert_eq!(values(field), ["holds", "inconclusive", "invalid", "violated"], "{field}");
        }
        assert_eq!(values("row").len(), Row::ALL.len());
        assert!(Outcome::ALL.iter().all(|outcome| values_of("outcome").contains(outcome.name())));
        assert!(values_of("outcome").contains("revised"));
        for field in ["purpose", "calls", "verdict", "nothing", "claims.verdict"] {
            assert!(values_of(field).is_empty(), "{field}");
        }
    }

    #[test]
    fn lists_differ_from_values() {
        for name in
            ["reads", "answer.tools", "answer.labels", "outcome.properties", "diagnostics", "prevented_violations"]
        {
            assert!(is_list(name), "{name}");
        }
        for name in ["row", "outcome.verdict", "answer.text", "rev", "nothing"] {
            assert!(!is_list(name), "{name}");
        }
    }

    #[test]
    fn a_misspelt_name_has_near_ones() {
        let near = |name: &str| similar_names(name, field_paths());
        assert_eq!(near("claims.verdikt")[0], "claims.verdict");
        let known = ["check.statistics.distinct", "outcome.statistics.distinct"];
        assert!(known.iter().all(|known| near("statistics.distinct").contains(known)));
        assert!(near("weather_tomorrow_in_rome").is_empty());
    }
}
