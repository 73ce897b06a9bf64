//! Reads a review. Whatever contradicts itself or names what was never listed goes back to the reviewer, with all mistakes
//! at once: no other node can mend the form of a review.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::context::parse_schema;
use super::denials::{denies_acceptance, denies_approval};
use super::review_facts::ReviewSubject;
use crate::pipeline::{
    AcceptedItem, ApprovalFacts, Flaw, FlawClause, FlawFacts, Issue, JudgedMutant, NOT_FALSIFIED, NOTICED_NOTHING,
    NamedItem, PREMISE, Review, ReviewVerdict, is_reason, is_same_name,
};
use crate::prompt::{Problem, Readable, object_and_rest};
use crate::tla::{LargerBound, TERMINATING, Verdict, requirement_id};

/// JSON schema of [`Review`], for models that can be constrained to one.
pub(super) const SCHEMA: &str = include_str!("review_schema.json");

/// The field of a corrected review that names those which stay as they were.
const UNCHANGED: &str = "unchanged";

/// The names that `facts.md` lists for each list of accepted items.
pub(super) struct ListedNames {
    by_list: Vec<(&'static str, Vec<String>)>,
}

impl ListedNames {
    /// `before` are the facts as if nothing were accepted. A recorded answer may know a mutant by its earlier name.
    pub(super) fn new(subject: &ReviewSubject<'_>, before: &ApprovalFacts, is_replayed: bool) -> Self {
        let view = subject.view;
        let specification = &view.specification;
        let check = subject.fresh_check();
        let coverage = check.and_then(|check| check.coverage.as_ref()).into_iter().flatten();
        let taken = coverage.flat_map(|action| [action.action.clone(), action.name().to_owned()]);
        let dead = before.dead_actions.iter().flatten().cloned();
        let decided = specification.decisions.iter().map(|decision| &decision.open_point.id);
        let open_points = specification.open_points.iter().map(|point| &point.id).chain(decided);
        let readings = view.blind_readings();
        let is_read = view.settings.blind_reading;
        let survivors = if is_replayed { view.survivors() } else { Vec::new() };
        let earlier_names = survivors.into_iter().filter_map(JudgedMutant::earlier_name);
        let by_list = vec![
            ("intended_dead", dead.chain(taken).chain([TERMINATING.to_owned()]).collect()),
            ("accepted_changes", view.changes_since_baseline().into_iter().map(|change| change.name).collect()),
            ("accepted_uncovered", specification.requirements.iter().map(|r| r.id.clone()).collect()),
            ("accepted_open_points", open_points.cloned().collect()),
            ("accepted_assumptions", specification.assumptions.iter().map(|a| a.id.clone()).collect()),
            ("accepted_sentences", specification.normative_sentences.iter().map(|s| s.id.clone()).collect()),
            ("accepted_readings", readings.keys().filter(|_| is_read).cloned().collect()),
            ("accepted_without_contract", before.steps_without_contract.clone()),
            ("accepted_survivors", view.survivors_to_accept().into_iter().chain(earlier_names).collect()),
            ("accepted_bounds", view.bounds_to_accept().map(LargerBound::name).collect()),
            ("accepted_cfg", before.weakening_lines.iter().map(|line| line.line.clone()).collect()),
        ];
        Self { by_list }
    }

    /// Whether this replay does not list a recorded item only because it judges other mutants or tries other larger bounds than the
    /// recorded run did.
    fn is_only_of_the_recording(&self, list: &str, item: &AcceptedItem) -> bool {
        let name = item.parts().0;
        let depends = ["accepted_survivors", "accepted_bounds"].contains(&list) || name.starts_with(NOTICED_NOTHING);
        depends && !self.of(list).iter().any(|known| is_same_name(name, known))
    }

    fn of(&self, list: &str) -> &[String] {
        self.by_list.iter().find(|(name, _)| *name == list).map_or(&[], |(_, names)| names)
    }
}

/// A corrected answer together with those fields of the previous one that its list `unchanged` names, and that it does not have. `None`
/// if it has no such list, or if one of the two answers cannot be read.
pub(super) fn with_unchanged_fields(answer: &str, previous: &str) -> Option<String> {
    let (Readable { value: Value::Object(mut fields), .. }, None) = object_and_rest(answer).ok()? else { return None };
    let (Readable { value: Value::Object(earlier), .. }, _) = object_and_rest(previous).ok()? else { return None };
    let named: Vec<String> = serde_json::from_value(fields.remove(UNCHANGED)?).ok()?;
    if named.is_empty() {
        return None;
    }
    for name in named {
        let value = earlier.get(&name)?.clone();
        fields.entry(name).or_insert(value);
    }
    serde_json::to_string_pretty(&fields).ok()
}

/// How an answer is read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ReadOptions {
    /// It is recorded, so that the form of version 0.2 is accepted for accepted items: a name with or without a reason.
    pub is_replayed: bool,
    /// It is recorded by an earlier version, which had fewer rules for reviews, or for other documents, of which it accepts nothing.
    pub is_under_earlier_rules: bool,
    /// It corrects an answer that could not be used.
    pub is_correction: bool,
}

impl ReadOptions {
    /// Whether what is wrong with an accepted item does not make the whole answer useless: the item accepts nothing, and the rest
    /// counts.
    pub(super) fn drops_wrong_items(self) -> bool {
        self.is_correction && !self.is_under_earlier_rules
    }
}

/// Reads a review.
///
/// # Errors
///
/// All mistakes in the form of the review.
pub(super) fn read_review(
    answer: &str,
    listed: &ListedNames,
    reading: ReadOptions,
) -> Result<Readable<Review>, Problem> {
    let (is_replayed, drops_wrong_items) = (reading.is_replayed, reading.drops_wrong_items());
    let (Readable { mut value, mut normalised }, outside) = object_and_rest(answer)?;
    let mut mistakes: Vec<String> = outside.into_iter().map(|problem| problem.what).collect();
    for issue in value["issues"].as_array_mut().into_iter().flatten() {
        // Some models write the string "null" for a missing value.
        if issue["blame"] == "null" {
            issue["blame"] = Value::Null;
            normalised.push("`blame` given as the word \"null\"".to_owned());
        }
    }
    mistakes.extend(take_unreadable_parts(&mut value));
    match Review::deserialize(&value) {
        Err(e) => mistakes.push(format!("the review cannot be read: {e}")),
        Ok(mut review) => {
            for flaw in review.flaw.iter_mut().chain(&mut review.further_flaws) {
                if let Some(id) = requirement_id(&flaw.requirement) {
                    flaw.requirement = id;
                }
            }
            if !review.unchanged.is_empty() {
                mistakes.push(
                    "`unchanged` can name only fields of your last answer, and only if that was one JSON object"
                        .to_owned(),
                );
            }
            mistakes.extend(contradictions(&review));
            for (list, items) in review.accepted_lists_mut() {
                let mut settled = Vec::new();
                for (i, item) in items.iter().enumerate() {
                    match resolve_item(item, listed.of(list), is_replayed) {
                        Ok(Some(item)) => settled.push(item),
                        Err(_) if is_replayed && listed.is_only_of_the_recording(list, item) => {
                            normalised.push(format!(
                                "`{list}[{i}]` is about mutants or larger bounds, and this run does not list it: {item}"
                            ));
                        }
                        Ok(None) => normalised.push(format!("`{list}[{i}]` accepts what is not listed: {item}")),
                        Err(why) if drops_wrong_items => normalised.push(format!("`{list}[{i}]` {why}")),
                        Err(why) => mistakes.push(format!("`{list}[{i}]` {why}")),
                    }
                }
                *items = settled;
            }
            if mistakes.is_empty() {
                return Ok(Readable { value: review, normalised });
            }
        }
    }
    Err(Problem::of_mistakes(&mistakes))
}

/// Removes the parts of a review that cannot be read, and returns what is wrong with each, so that one of them does not hide
/// the others.
fn take_unreadable_parts(value: &mut Value) -> Vec<String> {
    let mut mistakes = Vec::new();
    let Some(fields) = value.as_object_mut() else { return mistakes };
    let schema = parse_schema(SCHEMA);
    fields.retain(|name, _| {
        let is_known = schema["properties"].get(name).is_some();
        if !is_known {
            mistakes.push(format!("a review has no field `{name}`"));
        }
        is_known
    });
    for (name, value) in fields.iter_mut() {
        match (name.as_str(), value) {
            ("issues", Value::Array(items)) => take_unreadable::<Issue>(name, items, &mut mistakes),
            ("further_flaws", Value::Array(items)) => take_unreadable::<Flaw>(name, items, &mut mistakes),
            ("flaw", value) => {
                if let Err(e) = Option::<Flaw>::deserialize(&*value) {
                    mistakes.push(format!("`flaw` cannot be read: {e}"));
                    *value = Value::Null;
                }
            }
            (UNCHANGED, value) if Vec::<String>::deserialize(&*value).is_err() => {
                mistakes.push("`unchanged` has to be a list of names of fields".to_owned());
                *value = Value::Array(Vec::new());
            }
            (UNCHANGED, _) => {}
            (_, Value::Array(items)) => {
                let mut i = 0;
                items.retain(|item| {
                    let is_readable = AcceptedItem::deserialize(item).is_ok();
                    if !is_readable {
                        mistakes.push(format!("`{name}[{i}]` is no object of the form {}", form("…")));
                    }
                    i += 1;
                    is_readable
                });
            }
            _ => {}
        }
    }
    mistakes
}

fn take_unreadable<T: DeserializeOwned>(name: &str, items: &mut Vec<Value>, mistakes: &mut Vec<String>) {
    let mut i = 0;
    items.retain(|item| {
        let read = T::deserialize(item);
        mistakes.extend(read.as_ref().err().map(|e| format!("`{name}[{i}]` cannot be read: {e}")));
        i += 1;
        read.is_ok()
    });
}

/// What a verdict contradicts.
fn contradictions(review: &Review) -> Vec<String> {
    let mut found = Vec::new();
    let verdict = match review.verdict {
        ReviewVerdict::Approved => "approved",
        ReviewVerdict::Revise => "revise",
        ReviewVerdict::Flaw => "flaw",
    };
    if review.verdict == ReviewVerdict::Flaw {
        if review.flaw.is_none() {
            found.push("the verdict is `flaw`, but `flaw` does not describe it".to_owned());
        }
        return found;
    }
    for (name, is_filled) in [("flaw", review.flaw.is_some()), ("further_flaws", !review.further_flaws.is_empty())] {
        if is_filled {
            found.push(format!(
                "the verdict is `{verdict}`, but `{name}` claims a flaw: either the verdict is `flaw`, or nothing is claimed"
            ));
        }
    }
    if review.verdict == ReviewVerdict::Approved {
        for (i, _) in review.issues.iter().enumerate().filter(|(_, issue)| issue.routes()) {
            found.push(format!(
                "the verdict is `approved`, but `issues[{i}]` is above minor, which asks for a revision: either the verdict is \
                 `revise`, or the issue is `minor`"
            ));
        }
        if denies_approval(&review.summary) {
            found.push("the verdict is `approved`, but `summary` says that it is not".to_owned());
        }
    }
    found
}

/// The form of an accepted item.
fn form(name: &str) -> String {
    format!("`{{\"name\": {}, \"reason\": \"…\"}}`", Value::from(name))
}

/// The accepted item under its listed name. `None` for an unlisted item in a recording of version 0.2, which has no effect.
///
/// # Errors
///
/// What is wrong with it, as a part of a sentence about it.
fn resolve_item(item: &AcceptedItem, listed: &[String], is_replayed: bool) -> Result<Option<AcceptedItem>, String> {
    // `facts.md` shows some of them with a reason in parentheses.
    let with_reason = |name: &str, known: &str| {
        [PREMISE, NOT_FALSIFIED, NOTICED_NOTHING].iter().any(|word| known.starts_with(word))
            && name.strip_prefix(known).is_some_and(|rest| rest.starts_with(" ("))
    };
    let find = |name: &str| {
        let exact = listed.iter().find(|known| name.trim() == known.as_str());
        exact.or_else(|| listed.iter().find(|known| is_same_name(name, known) || with_reason(name, known)))
    };
    let unlisted = |name: &str| {
        let names = if listed.is_empty() { "nothing".to_owned() } else { listed.join(", ") };
        format!("accepts {name:?}, which `facts.md` does not list there by this name; it lists: {names}")
    };
    let (name, reason) = match item {
        AcceptedItem::Named(NamedItem { name, reason, .. }) => {
            let known = find(name).ok_or_else(|| unlisted(name))?;
            if !is_reason(reason) {
                return Err(format!("accepts {known:?} without a reason; give {}", form(known)));
            }
            (known, reason.as_str())
        }
        AcceptedItem::Text(text) if is_replayed => {
            let parts = text.match_indices(": ").map(|(at, _)| (&text[..at], &text[at + 2..]));
            let mut parts = [(text.as_str(), "")].into_iter().chain(parts);
            match parts.find_map(|(name, reason)| Some((find(name)?, reason))) {
                Some(found) => found,
                None => return Ok(None),
            }
        }
        AcceptedItem::Text(text) => {
            let name = find(text).map_or_else(|| text.split(": ").next().unwrap_or_default(), String::as_str);
            return Err(format!("is the text {text:?}; give {}", form(name)));
        }
    };
    if denies_acceptance(reason) {
        return Err(format!("accepts {name:?}, but its reason says that it is not acceptable: {reason:?}"));
    }
    let (name, reason, quote) = (name.clone(), reason.trim().to_owned(), item.quote().to_owned());
    Ok(Some(AcceptedItem::Named(NamedItem { name, reason, quote })))
}

/// The mistakes that the reviewer can correct in a claim of a flaw that the guard refuses. Empty if a clause that the
/// reviewer cannot satisfy refuses the claim, too.
pub(super) fn mistakes_in_claim(subject: &ReviewSubject<'_>, flaw: &Flaw, facts: &FlawFacts) -> Vec<String> {
    let check = subject.fresh_check();
    let Some(check) = check.filter(|check| matches!(check.verdict, Verdict::Violated { .. })) else {
        return vec![format!("{}: no flaw can be claimed", FlawClause::ViolatedNow.words(facts))];
    };
    let mut mistakes = Vec::new();
    if check.violated_name(&flaw.property).is_none() {
        let violated: Vec<&str> = check.violated_names().collect();
        mistakes.push(format!(
            "{} (`flaw.property` is {:?}; violated: {})",
            FlawClause::NamesTheViolated.words(facts),
            flaw.property,
            violated.join(", ")
        ));
        return mistakes;
    }
    let is_of_bound = |line: &String| line.contains("`flaw.bound`");
    if facts.property == "TypeOK" || !facts.property_unchanged || !facts.only_bounds.iter().all(is_of_bound) {
        return mistakes;
    }
    let refused = [
        (FlawClause::CoversRequirement, !facts.covers_requirement),
        (FlawClause::NotOnlyBounds, !facts.only_bounds.is_empty()),
        (FlawClause::NotUnfair, facts.unfair_lasso),
        (FlawClause::StepsMapped, !facts.unmapped_steps.is_empty()),
        (FlawClause::ReviewerRead, !facts.unread.is_empty()),
    ];
    mistakes.extend(refused.into_iter().filter(|(_, is_refused)| *is_refused).map(|(clause, _)| clause.words(facts)));
    mistakes
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::pipeline::NodeName;

    fn listed() -> ListedNames {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let by_list = vec![
            ("intended_dead", names(&["Never"])),
            ("accepted_changes", names(&["Safe", "covers Safe"])),
            ("accepted_uncovered", names(&["R1", "R2"])),
            ("accepted_open_points", names(&["O1"])),
            ("accepted_assumptions", names(&["A1", "A10"])),
            ("accepted_sentences", names(&["N1"])),
            ("accepted_readings", names(&["Safe"])),
            ("accepted_bounds", names(&["N = 3"])),
            ("accepted_cfg", names(&["CHECK_DEADLOCK FALSE", "CONSTRAINT Small"])),
        ];
        ListedNames { by_list }
    }

    fn live(answer: &str) -> Result<Readable<Review>, Problem> {
        read_review(answer, &listed(), ReadOptions::default())
    }

    fn approving(list: &str, items: Value) -> String {
        let mut review = json!({"verdict": "approved", "issues": []});
        review[list] = items;
        review.to_string()
    }

    #[test]
    fn an_approval_in_prose_or_with_misspelt_fields_is_not_a_review() {
        for answer in [
            "APPROVED",
            "This cannot be APPROVED yet.",
            "{\"verdict\":\"APPROVED\",\"issues\":[]}",
            "{\"verdict\":\"approved\"}",
            "{\"verdict\":\"approved\",\"issues\":[],\"accepted_change\":[\"Safe\"]}",
            "{\"verdict\":\"flaw\",\"issues\":[],\"flaw\":null}",
            "{\"verdict\":\"flaw\",\"issues\":[],\"flaw\":{\"requirement\":\"R1\",\"property\":\"P\",\"steps\":[],\"unfair\":{\"file\":\"a.md\",\"line\":1}}}",
        ] {
            assert!(live(answer).is_err(), "{answer}");
        }
        let review = live("```json\n{\"verdict\":\"revise\",\"issues\":[{\"severity\":\"major\",\"category\":\"cfg_mismatch\",\"blame\":null,\"description\":\"abstraction is fine\"}]}\n```").unwrap();
        assert_eq!(review.value.earliest(), Some(NodeName::GenerateInvariants));
    }

    /// Every list, with every form that accepts nothing.
    #[test]
    fn an_item_is_accepted_by_a_listed_name_and_a_reason_only() {
        for (list, names) in listed().by_list {
            for name in &names {
                let good = approving(list, json!([{"name": name, "reason": "the documents say so"}]));
                let review = live(&good).unwrap_or_else(|problem| panic!("{}", problem.what)).value;
                assert!(serde_json::to_string(&review).unwrap().contains("the documents say so"), "{good}");
                for bad in [
                    json!(name),
                    json!(format!("{name}: not acceptable, must be removed")),
                    json!({"name": name}),
                    json!({"name": name, "reason": " "}),
                    json!({"name": name, "reason": "not acceptable, must be removed"}),
                    json!({"name": name, "reason": "No."}),
                    json!({"name": format!("{name}: not acceptable"), "reason": "it is not"}),
                    json!({"name": format!("{name}x"), "reason": "the documents say so"}),
                    json!({"name": format!("not {name}"), "reason": "the documents say so"}),
                    json!({"name": "", "reason": "the documents say so"}),
                    json!({"name": name, "reason": "the documents say so", "accepted": false}),
                    json!([name]),
                    json!(null),
                ] {
                    let problem = live(&approving(list, json!([bad]))).expect_err(&format!("{list}: {bad}")).what;
                    assert!(problem.contains(&format!("`{list}[0]`")), "{bad}: {problem}");
                }
            }
        }
    }

    #[test]
    fn a_wrong_item_of_a_corrected_review_accepts_nothing_and_the_rest_counts() {
        let answer = approving(
            "accepted_readings",
            json!([{"name": "Other", "reason": "same"}, {"name": "Safe", "reason": "same"}]),
        );
        assert!(live(&answer).is_err());
        let read = |answer: &str| {
            read_review(answer, &listed(), ReadOptions { is_correction: true, ..ReadOptions::default() })
        };
        let Readable { value, normalised } = read(&answer).unwrap_or_else(|problem| panic!("{}", problem.what));
        assert_eq!(value.accepted_readings, [AcceptedItem::named("Safe", "same")]);
        let says = |note: &String| note.contains("accepts \"Other\", which `facts.md` does not list");
        assert!(normalised.iter().any(says), "{normalised:?}");
        // What contradicts itself is still no review.
        assert!(read(r#"{"verdict": "flaw", "issues": []}"#).is_err());
    }

    #[test]
    fn a_corrected_review_may_name_the_fields_that_stay() {
        let previous = r#"{"verdict": "approved", "issues": [], "accepted_readings": [{"name": "Safe", "reason": "same"}], "summary": "old"}"#;
        let whole = |answer: &str| with_unchanged_fields(answer, previous).map(|text| live(&text).unwrap().value);
        let answer =
            r#"{"verdict": "approved", "issues": [], "summary": "new", "unchanged": ["accepted_readings", "summary"]}"#;
        let review = whole(answer).unwrap();
        assert_eq!((review.accepted_readings.len(), review.summary.as_str()), (1, "new"));
        // A list that is left out and not named accepts nothing.
        let silent = whole(r#"{"verdict": "approved", "issues": [], "unchanged": ["summary"]}"#).unwrap();
        assert!(silent.accepted_readings.is_empty());
        for bad in [
            r#"{"verdict": "approved", "issues": [], "unchanged": ["accepted_cfg"]}"#,
            r#"{"verdict": "approved", "issues": [], "unchanged": "summary"}"#,
            r#"{"verdict": "approved", "issues": [], "unchanged": ["summary"]} and nothing else"#,
        ] {
            assert_eq!(with_unchanged_fields(bad, previous), None, "{bad}");
            assert!(live(bad).unwrap_err().what.contains("`unchanged`") || bad.ends_with("else"), "{bad}");
        }
        assert_eq!(with_unchanged_fields(answer, "no object"), None);
    }

    #[test]
    fn a_recorded_review_accepts_by_a_name_alone_or_with_its_reason() {
        let reading = ReadOptions { is_replayed: true, ..ReadOptions::default() };
        let recorded = |list: &str, item: &str| read_review(&approving(list, json!([item])), &listed(), reading);
        for (list, item, name, reason) in [
            ("accepted_assumptions", "A1", "A1", ""),
            ("accepted_uncovered", "R02", "R2", ""),
            (
                "accepted_cfg",
                "CHECK_DEADLOCK  FALSE: standing idle is the end",
                "CHECK_DEADLOCK FALSE",
                "standing idle is the end",
            ),
            ("accepted_bounds", "N = 3: two: at most", "N = 3", "two: at most"),
        ] {
            let mut review = recorded(list, item).unwrap().value;
            let (_, items) = review.accepted_lists_mut().into_iter().find(|(known, _)| *known == list).unwrap();
            assert_eq!(*items, [AcceptedItem::named(name, reason)], "{item}");
        }
        for (list, item) in [
            ("accepted_cfg", "CHECK_DEADLOCK FALSE (not acceptable)"),
            ("accepted_cfg", "CONSTRAINT Smaller: why not"),
            ("accepted_readings", "Live"),
            ("accepted_assumptions", "A2"),
            ("accepted_assumptions", "A1, A10"),
        ] {
            let mut review = recorded(list, item).unwrap().value;
            assert!(review.accepted_lists_mut().iter().all(|(_, items)| items.is_empty()), "{item} counts for nothing");
        }
        assert!(recorded("accepted_cfg", "CHECK_DEADLOCK FALSE: not acceptable, must be removed").is_err());
    }

    #[test]
    fn a_review_that_contradicts_itself_is_sent_back_with_all_mistakes() {
        let flaw = json!({"requirement": "R1", "property": "Safe", "steps": []});
        let issue = json!({"severity": "major", "category": "abstraction", "description": "too coarse"});
        let review = json!({
            "verdict": "approved", "summary": "I can't fully approve this.", "issues": [issue, {"severity": "huge"}],
            "flaw": flaw, "further_flaws": [flaw, {"property": 3}], "accepted": [], "accepted_cfg": ["x"],
        });
        let problem = live(&format!("{review}\nBut I do NOT approve.")).unwrap_err().what;
        for mistake in [
            "text outside of its JSON object",
            "no field `accepted`",
            "`issues[1]` cannot be read",
            "`further_flaws[1]` cannot be read",
            "but `flaw` claims a flaw",
            "but `further_flaws` claims a flaw",
            "`issues[0]` is above minor",
            "`summary` says that it is not",
            "`accepted_cfg[0]` is the text \"x\"",
        ] {
            assert!(problem.contains(mistake), "{mistake} is missing: {problem}");
        }
        let revise = json!({"verdict": "revise", "issues": [issue], "flaw": flaw});
        assert!(live(&revise.to_string()).unwrap_err().what.contains("the verdict is `revise`, but `flaw`"));
    }
}
