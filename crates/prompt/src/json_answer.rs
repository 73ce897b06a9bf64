//! Reads the JSON object of an answer, and finds the text around it, which could say the opposite of the object.

use serde_json::Value;

use super::answer::{normalise_with_notes, split};
use super::invisible_characters::refuse_control;
use super::problem::{Problem, Readable, quote};
use super::strict_json::Strict;

/// The words of a lead-in such as "Here is my review:". Text with any other word could qualify the object.
const LEAD_IN: &str = "a after all answer and as below blind block checked comes complete context corrected documents enough \
                       everything facts fenced files final finished following for form give have here i in \
                       information is it json know let ll me module my need needed now object of ok okay one opinion our read \
                       reading readings ready repaired requested response result review reviewed revised second sentences so \
                       specification sure the this understand understood ve verdict what will with write you your";
/// Longest lead-in, in characters.
const MAX_LEAD_IN: usize = 160;

/// Extracts the one JSON object of an answer, with or without a fence. Ignores the text around it.
pub fn extract_json_object(answer: &str) -> Result<Readable<Value>, Problem> {
    read(answer).map(|found| found.object)
}

/// Extracts the one JSON object of an answer. The second value is a problem if the answer has other text than the object
/// and a short lead-in: such text could say the opposite of the object.
pub fn object_and_rest(answer: &str) -> Result<(Readable<Value>, Option<Problem>), Problem> {
    let Found { object, before, after } = read(answer)?;
    let (before, after) = (without_fence_lines(&before), without_fence_lines(&after));
    let rest = if is_lead_in(&before) { after } else { before };
    let problem = (!rest.trim().is_empty()).then(|| {
        Problem::new(format!(
            "the answer has text outside of its JSON object, which begins {}; answer with the object alone, and say in it what \
             is to be said",
            quote(&rest)
        ))
    });
    Ok((object, problem))
}

/// The object of an answer and the text around it.
struct Found {
    object: Readable<Value>,
    before: String,
    after: String,
}

fn read(answer: &str) -> Result<Found, Problem> {
    let (text, mut notes) = normalise_with_notes(answer)?;
    let (blocks, outside) = split(&text);
    let (fenced, others): (Vec<_>, Vec<_>) = blocks.iter().partition(|f| f.body.trim_start().starts_with('{'));
    let (value, before, after) = match fenced.as_slice() {
        [] => {
            notes.push("a JSON object without a fence".to_owned());
            bare_object(&text, &mut notes)?
        }
        [first, rest @ ..] => {
            let value = parse_strict(first.body.trim(), &mut notes)?;
            for other in rest {
                if parse_strict(other.body.trim(), &mut Vec::new()).ok().as_ref() != Some(&value) {
                    return Err(Problem::new(format!(
                        "the answer holds {} JSON objects, one that begins {} and one that begins {}; answer with one",
                        fenced.len(),
                        quote(&first.body),
                        quote(&other.body)
                    )));
                }
            }
            if !rest.is_empty() {
                notes.push("the same object given twice".to_owned());
            }
            let before = text[..first.start].to_owned();
            let after = outside.strip_prefix(before.as_str()).unwrap_or(&outside).to_owned();
            let others = others.iter().map(|fence| fence.body.as_str()).collect::<String>();
            (value, before, after + &others)
        }
    };
    refuse_control_in(&value)?;
    Ok(Found { object: Readable { value, normalised: notes }, before, after })
}

/// A string of the object can hold a control character as an escape: `\u0000`.
fn refuse_control_in(value: &Value) -> Result<(), Problem> {
    match value {
        Value::String(text) => refuse_control(text)
            .map_err(|problem| Problem::new(format!("the text {} of the JSON: {}", quote(text), problem.what))),
        Value::Array(values) => values.iter().try_for_each(refuse_control_in),
        Value::Object(fields) => fields.iter().try_for_each(|(name, value)| {
            refuse_control(name)?;
            refuse_control_in(value)
        }),
        _ => Ok(()),
    }
}

/// A text without the lines that only open or close a fence.
fn without_fence_lines(text: &str) -> String {
    let is_fence = |line: &&str| {
        let name = line.trim().trim_start_matches(['`', '~']);
        name.len() + 3 <= line.trim().len() && ["", "json", "markdown", "md", "text"].contains(&name.trim())
    };
    text.lines().filter(|line| !is_fence(line)).flat_map(|line| [line, "\n"]).collect()
}

fn is_lead_in(text: &str) -> bool {
    let text = text.trim();
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_known = |word: &str| LEAD_IN.split_whitespace().any(|known| known.eq_ignore_ascii_case(word));
    text.chars().count() <= MAX_LEAD_IN && text.lines().count() <= 1 && words.into_iter().all(is_known)
}

fn parse_strict(text: &str, notes: &mut Vec<String>) -> Result<Value, Problem> {
    let mut error = match serde_json::from_str(text) {
        Ok(Strict(value)) => return Ok(value),
        Err(error) => error,
    };
    // If the text has no straight quote, the typographic ones can only mean straight ones.
    if !text.contains('"') {
        match serde_json::from_str(&text.replace(['“', '”', '„', '‟'], "\"")) {
            Ok(Strict(value)) => {
                notes.push("typographic quotes".to_owned());
                return Ok(value);
            }
            Err(straightened) => error = straightened,
        }
    }
    let place = quote(text.lines().nth(error.line().saturating_sub(1)).unwrap_or(""));
    Err(Problem::new(format!("the JSON cannot be read: {error}, in the line {place}")))
}

/// The offset at which an object seems to start. Braces also occur in prose and in TLA+ sets, so a quote or `}` must follow.
fn object_start(text: &str) -> Option<usize> {
    let begins = |at: &usize| text[at + 1..].trim_start().starts_with(['"', '“', '”', '„', '}']);
    text.match_indices('{').map(|(at, _)| at).find(begins)
}

/// Extracts the one object from a text without fences, with the text before and after it.
fn bare_object(text: &str, notes: &mut Vec<String>) -> Result<(Value, String, String), Problem> {
    let Some(from) = object_start(text) else {
        return Err(Problem::new(match (text.trim().is_empty(), text.find('{')) {
            (true, _) => "the answer is empty".to_owned(),
            (_, Some(at)) => {
                format!("the JSON cannot be read: no name in quotes follows the brace in {}", quote(&text[at..]))
            }
            (_, None) => format!("there is no JSON object in the answer, which begins {}", quote(text)),
        }));
    };
    let rest = &text[from..];
    let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Strict>();
    let Some(Ok(Strict(value))) = stream.next() else {
        // Up to the last brace, so that the message quotes the error inside the object and not the prose after it.
        let to = rest.rfind('}').map_or(rest.len(), |at| at + 1);
        let value = parse_strict(&rest[..to], notes)?;
        return Ok((value, text[..from].to_owned(), rest[to..].to_owned()));
    };
    let after = &rest[stream.byte_offset()..];
    match object_start(after) {
        Some(second) => Err(Problem::new(format!(
            "the answer holds 2 JSON objects, one that begins {} and one that begins {}; answer with one",
            quote(rest),
            quote(&after[second..])
        ))),
        None => Ok((value, text[..from].to_owned(), after.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_json_object_is_never_guessed_from_words() {
        assert_eq!(extract_json_object("```json\n{\"verdict\":\"revise\"}\n```").unwrap().value["verdict"], "revise");
        assert_eq!(extract_json_object("So: {\"a\":1} indeed").unwrap().value["a"], 1);
        assert!(extract_json_object("APPROVED").unwrap_err().what.contains("no JSON object"));
        assert!(
            extract_json_object("```\n{\"a\":1}\n```\n```\n{\"a\":2}\n```")
                .unwrap_err()
                .what
                .contains("2 JSON objects")
        );
        for twice in ["{\"a\":1,\"a\":1}", "So: {\"a\":[{\"b\":1,\"b\":2}]}", "```\n{“a”: 1, “a”: 2}\n```"] {
            assert!(extract_json_object(twice).unwrap_err().what.contains("duplicate key"), "{twice}");
        }
        assert!(extract_json_object("{\"verdict\": approved}").unwrap_err().what.contains("cannot be read"));
    }

    #[test]
    fn text_around_the_object_is_a_problem_unless_it_is_a_short_lead_in() {
        let object = "{\"verdict\": \"approved\"}";
        let fenced = format!("```json\n{object}\n```");
        let outside = |answer: &str| object_and_rest(answer).unwrap().1.map(|problem| problem.what);
        for alone in [
            object.to_owned(),
            fenced.clone(),
            format!("\n{object}\n\n"),
            format!("Here is my review:\n\n{fenced}\n"),
            format!("````\n{fenced}\n````\n"),
            format!("{fenced}\n{fenced}"),
            format!("So: {object}"),
        ] {
            assert_eq!(outside(&alone), None, "{alone}");
        }
        let prose = "But I do NOT approve this";
        for one in [object, fenced.as_str()] {
            for answer in [
                format!("{one}\n{prose}."),
                format!("{prose}:\n{one}"),
                format!("{one}\n```\n{prose}\n```\n"),
                format!("```text\n{prose}\n```\n{one}"),
                format!("{one}\n<!-- {prose} -->"),
                format!("{one} // {prose}"),
                format!("Here is my review.\nIt is not final:\n{one}"),
                format!("{one}\nNo."),
            ] {
                // A comment behind a fence is no end of the fence, so the object cannot be read at all.
                match object_and_rest(&answer) {
                    Ok((_, problem)) => {
                        let problem = problem.unwrap_or_else(|| panic!("{answer}")).what;
                        assert!(problem.contains("answer with the object alone"), "{answer}: {problem}");
                    }
                    Err(problem) => assert!(problem.what.contains("cannot be read"), "{answer}: {}", problem.what),
                }
            }
        }
    }

    #[test]
    fn a_control_character_is_refused_as_it_is_and_as_an_escape() {
        for answer in
            ["{\"why\": \"a\u{0}b\"}", "{\"why\": [\"a\\u0000b\"]}", "{\"a\\u001bb\": 1}", "Here:\u{0} {\"why\": 1}"]
        {
            let problem = extract_json_object(answer).unwrap_err().what;
            assert!(problem.contains("control character U+00"), "{answer:?}: {problem}");
        }
        assert!(extract_json_object("{\"why\": \"a\\n\\tb\"}").is_ok());
    }
}
