//! The JSON schemas of the two answers that are objects: they accept exactly what is read, and constrain models.

use crate::support::recorded_model::in_todays_form;
use std::collections::BTreeSet;

use crate::support::counter::{INFORMAL, MODULE, bench, fenced, good_sections, review};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::project;
use serde_json::{Value, json};
use tlaforge::pipeline::Review;
use tlaforge::prompt::extract_json_object;

fn schema(name: &str) -> Value {
    let path = project().join("src/nodes").join(name);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The keywords that the schemas use, and no other: a crate would bring a hundred more for these eight.
fn complaint(schema: &Value, value: &Value) -> Option<String> {
    const KNOWN: [&str; 8] =
        ["type", "enum", "anyOf", "required", "properties", "additionalProperties", "items", "description"];
    let unknown = schema.as_object().unwrap().keys().find(|k| !KNOWN.contains(&k.as_str()));
    assert_eq!(unknown, None, "the validator of this test does not know it");
    if let Some(all) = schema["anyOf"].as_array() {
        let each: Vec<String> = all.iter().map_while(|one| complaint(one, value)).collect();
        return (each.len() == all.len()).then(|| each.join(" or "));
    }
    let is = match schema["type"].as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("{other}"),
    };
    if !is {
        return Some(format!("{value} is no {}", schema["type"]));
    }
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.contains(value)
    {
        return Some(format!("{value} is not among {allowed:?}"));
    }
    let mut all = Vec::new();
    if let Some(fields) = value.as_object() {
        assert_eq!(schema["additionalProperties"], false, "an object that takes anything");
        let required = schema["required"].as_array().unwrap().iter().map(|r| r.as_str().unwrap());
        all.extend(required.filter(|r| !fields.contains_key(*r)).map(|r| format!("{r} is missing")));
        for (name, field) in fields {
            match schema["properties"].get(name) {
                Some(of) => all.extend(complaint(of, field)),
                None => all.push(format!("{name} is unknown")),
            }
        }
    }
    all.extend(value.as_array().into_iter().flatten().filter_map(|item| complaint(&schema["items"], item)));
    all.into_iter().next()
}

/// A review with every field that there is.
fn full() -> Value {
    let named = |name: &str| json!({"name": name, "reason": "why"});
    let cited = json!({"file": "docs/a.md", "line": 3, "why": "it says so"});
    let flaw = json!({"requirement": "R1", "property": "P", "unfair": cited, "bound": cited,
        "steps": [{"step": 1, "file": "docs/a.md", "line": 1, "why": "w", "also": ["docs/b.md:2"], "open_point": "O1"}]});
    json!({
        "verdict": "flaw",
        "issues": [{"severity": "major", "category": "cfg_mismatch", "blame": "spec", "description": "d", "suggestion": "s"}],
        "intended_dead": [named("A")], "accepted_changes": [named("B")], "accepted_uncovered": [named("R1")],
        "accepted_open_points": [named("O1")], "accepted_assumptions": [named("A1")], "accepted_sentences": [named("N1")],
        "accepted_readings": [{"name": "P", "reason": "why", "quote": "words"}], "accepted_without_contract": [named("L")], "accepted_survivors": [named("M")],
        "accepted_bounds": [named("N = 3")], "accepted_cfg": [named("C")],
        "flaw": flaw, "further_flaws": [flaw], "summary": "s", "unchanged": ["summary"],
    })
}

/// The paths of all fields of a value, and of all that a schema allows.
fn fields(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    for (name, field) in value.as_object().into_iter().flatten() {
        found.insert(format!("{path}.{name}"));
        fields(field, &format!("{path}.{name}"), found);
    }
    value.as_array().into_iter().flatten().for_each(|item| fields(item, path, found));
}

fn allowed(schema: &Value, path: &str, found: &mut BTreeSet<String>) {
    for (name, of) in schema["properties"].as_object().into_iter().flatten() {
        found.insert(format!("{path}.{name}"));
        allowed(of, &format!("{path}.{name}"), found);
    }
    schema["anyOf"].as_array().into_iter().flatten().for_each(|one| allowed(one, path, found));
    if let Some(items) = schema.get("items") {
        allowed(items, path, found);
    }
}

#[test]
fn the_schema_has_every_field_of_a_review_and_no_other() {
    // Whatever a review has beyond this is missing in `full`, and shows up when it is written again.
    let review: Review = serde_json::from_value(full()).unwrap();
    let written = serde_json::to_value(&review).unwrap();
    let (mut of_review, mut of_schema) = (BTreeSet::new(), BTreeSet::new());
    fields(&written, "", &mut of_review);
    allowed(&schema("review_schema.json"), "", &mut of_schema);
    assert_eq!(of_review, of_schema);
    assert_eq!(complaint(&schema("review_schema.json"), &written), None);
}

#[test]
fn the_schema_accepts_exactly_the_reviews_that_can_be_read() {
    let schema = schema("review_schema.json");
    for name in ["approved", "revise", "flaw"] {
        let least = json!({"verdict": name, "issues": []});
        assert_eq!(complaint(&schema, &least), None);
        assert!(serde_json::from_value::<Review>(least).is_ok());
    }
    // Every word of every list, and null where null may stand.
    let issue = &schema["properties"]["issues"]["items"]["properties"];
    for (field, words) in [
        ("severity", issue["severity"]["enum"].clone()),
        ("category", issue["category"]["enum"].clone()),
        ("blame", json!(["spec", "invariant", null])),
    ] {
        for word in words.as_array().unwrap() {
            let mut review = full();
            review["issues"][0][field] = word.clone();
            assert_eq!(complaint(&schema, &review), None, "{field} {word}");
            assert!(serde_json::from_value::<Review>(review).is_ok(), "{field} {word}");
        }
    }
    for path in ["/flaw", "/flaw/unfair", "/flaw/bound"] {
        let mut review = full();
        *review.pointer_mut(path).unwrap() = Value::Null;
        assert_eq!(complaint(&schema, &review), None, "{path}");
        assert!(serde_json::from_value::<Review>(review).is_ok(), "{path}");
    }
    // A field too many at every level, and every field that is required left out.
    for path in ["", "/issues/0", "/accepted_cfg/0", "/flaw", "/flaw/steps/0", "/flaw/unfair", "/flaw/bound"] {
        let mut review = full();
        review.pointer_mut(path).unwrap()["accepted_change"] = json!(["x"]);
        assert!(complaint(&schema, &review).is_some_and(|c| c.contains("accepted_change is unknown")), "{path}");
        for name in full().pointer(path).unwrap().as_object().unwrap().keys() {
            let mut review = full();
            review.pointer_mut(path).unwrap().as_object_mut().unwrap().remove(name);
            let taken = complaint(&schema, &review).is_none();
            assert_eq!(taken, serde_json::from_value::<Review>(review).is_ok(), "{path} without {name}");
        }
    }
    for (path, wrong) in [
        ("/verdict", json!("APPROVED")),
        ("/issues", json!({})),
        ("/issues/0/severity", json!("huge")),
        ("/issues/0/category", json!("taste")),
        ("/issues/0/blame", json!("null")),
        ("/flaw/steps/0/line", json!("1")),
        ("/accepted_cfg", json!("x")),
    ] {
        let mut review = full();
        *review.pointer_mut(path).unwrap() = wrong;
        assert!(complaint(&schema, &review).is_some() && serde_json::from_value::<Review>(review).is_err(), "{path}");
    }
}

#[test]
fn every_recorded_review_and_second_reading_matches_its_schema() {
    let mut seen = [0, 0];
    for entry in walkdir::WalkDir::new(project().join("evals")).into_iter().map(Result::unwrap) {
        if entry.path().parent().is_none_or(|p| !p.ends_with("recording")) {
            continue;
        }
        for line in std::fs::read_to_string(entry.path()).unwrap().lines() {
            let recorded: Value = serde_json::from_str(line).unwrap();
            let (at, name) = match (recorded["node"].as_str().unwrap(), recorded["purpose"].as_str().unwrap()) {
                ("review", "blind_reading") => continue,
                ("review", purpose) if purpose.starts_with("second_reading") => (1, "second_reading_schema.json"),
                ("review", _) => (0, "review_schema.json"),
                _ => continue,
            };
            let answer = extract_json_object(&in_todays_form(recorded["answer"].as_str().unwrap())).unwrap().value;
            assert_eq!(complaint(&schema(name), &answer), None, "{}", entry.path().display());
            seen[at] += 1;
        }
    }
    assert!(seen[0] >= 7 && seen[1] >= 2, "{seen:?}");
    let second = schema("second_reading_schema.json");
    for wrong in
        [json!({"agrees": "yes", "why": "w"}), json!({"agrees": true}), json!({"agrees": true, "why": "w", "x": 1})]
    {
        assert!(complaint(&second, &wrong).is_some(), "{wrong}");
    }
}

fn all_required(schema: &Value, objects: &mut usize) {
    if let Some(properties) = schema["properties"].as_object() {
        let names: BTreeSet<&str> = properties.keys().map(String::as_str).collect();
        let required: BTreeSet<&str> =
            schema["required"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        assert_eq!(names, required);
        *objects += 1;
    }
    let inner = schema
        .as_object()
        .into_iter()
        .flat_map(|fields| fields.values())
        .chain(schema.as_array().into_iter().flatten());
    inner.for_each(|one| all_required(one, objects));
}

#[test]
fn only_requests_for_objects_have_a_schema() {
    let answers = [INFORMAL.to_owned(), fenced(MODULE), good_sections(), review("revise")];
    for (provider, place) in
        [("anthropic", "/output_config/format/schema"), ("openai", "/response_format/json_schema/schema")]
    {
        let mut next = answers.clone().into_iter();
        let server = ModelServer::start(move |_| match next.next() {
            Some(answer) => Reply::text(answer),
            None => Reply::error(400, "invalid_request_error", "enough"),
        });
        let bench = bench();
        let url = server.url().clone();
        let args = ["run", "docs", "--provider", provider, "--base-url", &url, "--model", "m", "--out", "specs"];
        bench.run(&args).expect(5);
        let posted: Vec<Value> = server.requests().into_iter().filter(|s| s.method == "POST").map(|s| s.body).collect();
        let held: Vec<bool> = posted.iter().take(4).map(|body| body.pointer(place).is_some()).collect();
        assert_eq!(held, [false, false, false, true], "{provider}");
        let posted = posted[3].pointer(place).unwrap();
        if provider == "anthropic" {
            assert_eq!(posted, &schema("review_schema.json"));
            continue;
        }
        // A strict server takes a schema only where every field is required.
        let mut objects = 0;
        all_required(posted, &mut objects);
        assert_eq!(objects, 21, "{posted}");
        assert_eq!(complaint(posted, &full()), None);
        // What is left out elsewhere is empty here, and read alike.
        let empty = json!({
            "verdict": "revise", "issues": [{"severity": "minor", "category": "abstraction", "blame": null, "description": "d", "suggestion": ""}],
            "summary": "", "intended_dead": [], "accepted_changes": [], "accepted_uncovered": [], "accepted_open_points": [], "accepted_assumptions": [],
            "accepted_sentences": [], "accepted_readings": [], "accepted_without_contract": [], "accepted_survivors": [], "accepted_bounds": [], "accepted_cfg": [], "flaw": null, "further_flaws": [], "unchanged": [],
        });
        assert_eq!(complaint(posted, &empty), None);
        let least = json!({
            "verdict": "revise", "issues": [{"severity": "minor", "category": "abstraction", "description": "d"}],
        });
        let read = |value: Value| serde_json::from_value::<Review>(value).unwrap();
        assert_eq!(read(empty), read(least));
    }
}
