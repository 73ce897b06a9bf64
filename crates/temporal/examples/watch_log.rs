//! Evaluates a rule on a log of JSON lines, record by record: prints where it is decided, or what the rest of the log must
//! still satisfy, and the verdict if the log ends here.

use std::error::Error;
use std::io::BufRead as _;
use std::process::ExitCode;

use serde_json::Value as Json;
use tlaforge_temporal::{Formulas, Letter, PrefixVerdict, Progression, Record, Value};

/// A line of the log. A field that it lacks is undefined, and a comparison with it is false.
struct Line(Json);

impl Line {
    /// The part of the line to which the path leads: `a.b` is the field `b` of the object `a`.
    fn part(&self, path: &str) -> Option<&Json> {
        path.split('.').try_fold(&self.0, |part, name| part.get(name))
    }
}

/// The value of a part; `None` for a list or an object, which have none.
fn value(part: &Json) -> Option<Value<'_>> {
    match part {
        Json::Null => Some(Value::Null),
        Json::Bool(value) => Some(Value::Bool(*value)),
        Json::String(text) => Some(Value::Text(text.into())),
        Json::Number(number) => match number.as_i128() {
            Some(integer) => Some(Value::integer(integer)),
            None => number.as_f64().map(Value::Number),
        },
        Json::Array(_) | Json::Object(_) => None,
    }
}

impl Record for Line {
    fn field(&self, name: &str) -> Option<Value<'_>> {
        value(self.part(name)?)
    }

    fn values(&self, name: &str) -> Vec<Option<Value<'_>>> {
        match self.part(name) {
            Some(Json::Array(all)) => all.iter().map(value).collect(),
            other => other.map(value).into_iter().collect(),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.part(name).is_some()
    }

    fn call(&self, name: &str, arguments: &[Value<'_>]) -> Option<bool> {
        match (name, arguments) {
            ("contains", [Value::Text(text), Value::Text(part)]) => Some(text.contains(&**part)),
            ("defined", [_]) => Some(true),
            _ => None,
        }
    }
}

#[allow(clippy::print_stderr, reason = "an example prints what it found")]
fn main() -> ExitCode {
    match watch() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

#[allow(clippy::print_stdout, reason = "an example prints what it found")]
fn watch() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(rule), Some(path)) = (args.next(), args.next()) else {
        return Err("usage: watch_log FORMULA LOG.jsonl".into());
    };
    let mut formulas = Formulas::new();
    let rule = formulas.parse(&rule).map_err(|error| {
        let carets = "^".repeat(rule[error.span.clone()].chars().count().max(1));
        format!("{error}\n    {rule}\n    {}{carets}", " ".repeat(error.column - 1))
    })?;
    let mut progression = Progression::new();
    let mut residual = progression.begin(&formulas, rule)?;
    for (at, line) in std::io::BufReader::new(std::fs::File::open(path)?).lines().enumerate() {
        // The atoms of the progression, not those of `formulas`: their numbers differ.
        let letter = Letter::from_record(progression.formulas(), &Line(serde_json::from_str(&line?)?));
        residual = progression.step(residual, &letter);
        let verdict = progression.prefix_verdict(residual);
        if verdict != PrefixVerdict::Undecided {
            println!("{verdict:?}, decided at line {}", at + 1);
            return Ok(());
        }
    }
    println!("undecided; still to satisfy: {}", progression.text(residual));
    println!("if the log ends here: {:?}", progression.final_verdict(residual));
    Ok(())
}
