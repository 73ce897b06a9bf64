//! The results of a suite as a CSV table that is committed and compared: sorted by case, without times. Pure.

use std::collections::BTreeSet;

use super::outcome::{BugOutcome, Evaluation};
use super::score::Score;

/// The columns of `results.csv`, in order.
const COLUMNS: [&str; 19] = [
    "case",
    "outcome",
    "score",
    "tier1",
    "vacuous",
    "tier2",
    "distinct",
    "depth",
    "invariants",
    "properties",
    "revisions",
    "detected",
    "known_bugs",
    "rate",
    "killed",
    "missed",
    "wrong",
    "not_applicable",
    LAST_COLUMN,
];

/// It is left out if it is empty in every row, as in a table of version 0.2.
const LAST_COLUMN: &str = "undecided";

/// The first line of the results of a shard begins with this. A table of a whole suite has no such line.
pub(super) const SHARD_MARK: &str = "# shard ";

/// One case in a table of results.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Row {
    pub case: String,
    pub outcome: String,
    pub score: Option<Score>,
    pub passed: bool,
    /// Whether the first tier is not decided.
    pub tier1_undecided: bool,
    pub vacuous: bool,
    /// Score of the second tier, from 0 to 1.
    pub efficiency: f64,
    /// Distinct states of a complete exploration; the number at a violation varies between runs.
    pub distinct: Option<u64>,
    pub depth: Option<u64>,
    pub invariants: usize,
    pub properties: usize,
    pub revisions: Option<usize>,
    /// Detection rate of known bugs.
    pub rate: Option<Score>,
    pub killed: BTreeSet<String>,
    /// Known bugs that were not detected.
    pub missed: BTreeSet<String>,
    /// Known bugs of which it is not decided, for example because of a time limit.
    pub undecided: BTreeSet<String>,
    /// Properties that a reference violates.
    pub wrong: BTreeSet<String>,
    /// Properties that could not be carried over to every target.
    pub not_applicable: BTreeSet<String>,
}

impl Row {
    pub fn summarize(evaluation: &Evaluation) -> Self {
        let Evaluation { tier1, tier2, tier3, .. } = evaluation;
        let bugs = |outcomes: &[BugOutcome]| {
            let of = tier3.known_bugs.iter().filter(|mutant| outcomes.contains(&mutant.outcome));
            of.map(|mutant| bug_name(&mutant.file)).collect()
        };
        Self {
            case: evaluation.case.clone(),
            outcome: evaluation.outcome.map(|outcome| outcome.name().to_owned()).unwrap_or_default(),
            score: evaluation.range(),
            passed: tier1.passed(),
            tier1_undecided: tier1.undecided(),
            vacuous: !tier1.vacuous.is_empty(),
            efficiency: tier2.efficiency,
            distinct: tier2.distinct_states.filter(|_| tier2.complete),
            depth: tier2.depth.filter(|_| tier2.complete),
            invariants: tier2.invariants,
            properties: tier2.properties,
            revisions: tier2.revisions,
            rate: tier3.rate.map(|rate| Score::new(rate, tier3.rate_at_most)),
            killed: bugs(&[BugOutcome::Killed]),
            missed: bugs(&[BugOutcome::Survived, BugOutcome::NotApplicable]),
            undecided: bugs(&[BugOutcome::Inconclusive]),
            wrong: tier3.wrong_properties.iter().map(|wrong| wrong.property.clone()).collect(),
            not_applicable: tier3.not_applicable.iter().map(|lacks| lacks.property.clone()).collect(),
        }
    }

    fn fields(&self) -> [String; COLUMNS.len()] {
        let number = |n: Option<Score>| n.map(|n| n.words(3)).unwrap_or_default();
        let count = |n: Option<u64>| n.map(|n| n.to_string()).unwrap_or_default();
        let yes = |is: bool, words: &str, otherwise: &str| if is { words } else { otherwise }.to_owned();
        let list = |names: &BTreeSet<String>| names.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
        [
            self.case.clone(),
            self.outcome.clone(),
            number(self.score),
            if self.tier1_undecided { "undecided".to_owned() } else { yes(self.passed, "passed", "failed") },
            yes(self.vacuous, "vacuous", ""),
            number(Some(Score::new(self.efficiency, None))),
            count(self.distinct),
            count(self.depth),
            self.invariants.to_string(),
            self.properties.to_string(),
            self.revisions.map(|n| n.to_string()).unwrap_or_default(),
            self.killed.len().to_string(),
            (self.killed.len() + self.missed.len() + self.undecided.len()).to_string(),
            number(self.rate),
            list(&self.killed),
            list(&self.missed),
            list(&self.wrong),
            list(&self.not_applicable),
            list(&self.undecided),
        ]
    }

    fn read(line: &str) -> Option<Self> {
        let fields = split_csv(line);
        let [case, outcome, score, tier1, vacuous, tier2, distinct, depth, invariants, properties, revisions, ..] =
            fields.as_slice()
        else {
            return None;
        };
        let [_, _, rate, killed, missed, wrong, not_applicable, more @ ..] = fields.get(11..)? else { return None };
        let undecided = match more {
            [] => "",
            [undecided] => undecided,
            _ => return None,
        };
        let number = |text: &str| if text.is_empty() { Some(None) } else { Score::parse(text).map(Some) };
        let count = |text: &str| if text.is_empty() { Some(None) } else { text.parse::<u64>().ok().map(Some) };
        let names = |text: &str| text.split_whitespace().map(str::to_owned).collect::<BTreeSet<_>>();
        Some(Self {
            case: case.clone(),
            outcome: outcome.clone(),
            score: number(score)?,
            passed: tier1 == "passed",
            tier1_undecided: tier1 == "undecided",
            vacuous: vacuous == "vacuous",
            efficiency: tier2.parse().ok()?,
            distinct: count(distinct)?,
            depth: count(depth)?,
            invariants: invariants.parse().ok()?,
            properties: properties.parse().ok()?,
            revisions: count(revisions)?.and_then(|n| usize::try_from(n).ok()),
            rate: number(rate)?,
            killed: names(killed),
            missed: names(missed),
            undecided: names(undecided),
            wrong: names(wrong),
            not_applicable: names(not_applicable),
        })
    }
}

/// The file name of a bug without folder and extension. Blanks are replaced, because lists of names use them as separator.
fn bug_name(file: &str) -> String {
    let name = file.strip_prefix("known_bugs/").unwrap_or(file);
    name.strip_suffix(".tla").unwrap_or(name).replace(char::is_whitespace, "_")
}

/// Renders `results.csv`.
pub fn results(rows: &[Row]) -> String {
    let mut sorted: Vec<&Row> = rows.iter().collect();
    sorted.sort_by(|a, b| a.case.cmp(&b.case));
    let columns = if rows.iter().all(|row| row.undecided.is_empty()) { COLUMNS.len() - 1 } else { COLUMNS.len() };
    let mut text = COLUMNS[..columns].join(",") + "\n";
    for row in sorted {
        text += &(row.fields()[..columns].iter().map(|field| csv_quoted(field)).collect::<Vec<_>>().join(",") + "\n");
    }
    text
}

/// Parses `results.csv`, also that of a shard, which has a line about the shard before the columns.
///
/// # Errors
/// The invalid line.
pub fn read_results(text: &str) -> Result<Vec<Row>, String> {
    let mut lines = (1..).zip(text.lines()).skip_while(|(at, line)| *at == 1 && line.starts_with(SHARD_MARK));
    let (all, without_last) = (COLUMNS.join(","), COLUMNS[..COLUMNS.len() - 1].join(","));
    if !lines.next().is_some_and(|(_, line)| line == all || line == without_last) {
        return Err(format!("its first line must be: {without_last}"));
    }
    let rows = lines.filter(|(_, line)| !line.trim().is_empty());
    rows.map(|(at, line)| Row::read(line).ok_or_else(|| format!("line {at} is not a row of results"))).collect()
}

fn csv_quoted(field: &str) -> String {
    if field.contains([',', '"', '\n']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field.to_owned() }
}

fn split_csv(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut inside = false;
    let mut signs = line.chars().peekable();
    while let Some(sign) = signs.next() {
        match sign {
            // A quotation mark inside a quoted field is doubled (RFC 4180).
            '"' if inside && signs.peek() == Some(&'"') => {
                signs.next();
                fields.last_mut().expect("there is a first field").push('"');
            }
            '"' => inside = !inside,
            ',' if !inside => fields.push(String::new()),
            sign => fields.last_mut().expect("there is a first field").push(sign),
        }
    }
    fields
}

/// The differences between two results of a suite.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Lines for a reader; any of them makes the comparison fail.
    pub regressions: Vec<String>,
    /// Lines about what was decided before and is not decided now, for example because of a time limit. It may or may not
    /// have got worse.
    pub undecided: Vec<String>,
    /// Other changes.
    pub changes: Vec<String>,
}

pub fn compare(before: &[Row], now: &[Row]) -> Comparison {
    let mut comparison = Comparison::default();
    for old in before {
        match now.iter().find(|row| row.case == old.case) {
            Some(new) => compare_row(old, new, &mut comparison),
            None => comparison.regressions.push(format!("{}: not evaluated", old.case)),
        }
    }
    for new in now.iter().filter(|row| !before.iter().any(|old| old.case == row.case)) {
        comparison.changes.push(format!("{}: new case", new.case));
    }
    comparison
}

fn compare_row(old: &Row, new: &Row, comparison: &mut Comparison) {
    let case = &new.case;
    let number = |n: Option<Score>| n.map_or_else(|| "none".to_owned(), |n| n.words(3));
    let (mut drops, mut undecided, mut changes) = (Vec::new(), Vec::new(), Vec::new());
    for (what, was, is) in [("score", old.score, new.score), ("detection rate", old.rate, new.rate)] {
        let line = format!("{case}: the {what} was {} and is {}", number(was), number(is));
        match (was, is) {
            (Some(was), Some(is)) if was.is_same(is) => {}
            (None, None) => {}
            (Some(was), Some(is)) if is.least >= was.least && is.most >= was.most => changes.push(line),
            (Some(was), Some(is)) if !is.is_below(was) => undecided.push(line),
            (None, Some(_)) => changes.push(line),
            // Lower, or no longer there.
            _ => drops.push(line),
        }
    }
    if old.passed && new.tier1_undecided {
        undecided.push(format!("{case}: the first tier is not decided"));
    } else if old.passed && !new.passed {
        drops.push(format!("{case}: the first tier no longer passes"));
    } else if new.passed && !old.passed {
        changes.push(format!("{case}: the first tier passes now"));
    }
    for bug in old.killed.difference(&new.killed) {
        if new.undecided.contains(bug) {
            undecided.push(format!("{case}: whether {bug} is detected is not decided"));
        } else {
            drops.push(format!("{case}: {bug} is no longer detected"));
        }
    }
    let found = new.killed.difference(&old.killed).map(|bug| format!("{case}: {bug} is detected now"));
    changes.extend(found);
    let wrong = new.wrong.difference(&old.wrong).map(|name| format!("{case}: {name} is violated by the reference"));
    drops.extend(wrong);
    // The other columns are neither better nor worse, for example the number of states.
    if drops.is_empty() && undecided.is_empty() && changes.is_empty() && old.fields() != new.fields() {
        let pairs = COLUMNS.iter().zip(old.fields().into_iter().zip(new.fields()));
        let differ = pairs.filter(|(_, (was, is))| was != is);
        let differ = differ.map(|(column, (was, is))| format!("{column} was \"{was}\" and is \"{is}\""));
        changes.push(format!("{case}: {}", differ.collect::<Vec<_>>().join(", ")));
    }
    comparison.regressions.extend(drops);
    comparison.undecided.extend(undecided);
    comparison.changes.extend(changes);
}

/// The suite's score: the mean over the cases that have one.
pub fn mean(rows: &[Row]) -> Option<Score> {
    let scores: Vec<Score> = rows.iter().filter_map(|row| row.score).collect();
    #[expect(clippy::cast_precision_loss, reason = "a handful of cases")]
    let count = scores.len() as f64;
    let mean = |end: fn(&Score) -> f64| scores.iter().map(end).sum::<f64>() / count;
    (!scores.is_empty()).then(|| Score::new(mean(|score| score.least), Some(mean(|score| score.most))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(case: &str, score: f64, killed: &[&str], missed: &[&str]) -> Row {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let all = killed.len() + missed.len();
        #[expect(clippy::cast_precision_loss, reason = "a few")]
        let rate = killed.len() as f64 / all as f64;
        Row {
            case: case.to_owned(),
            outcome: "approved".to_owned(),
            score: Some(Score::new(score, None)),
            passed: true,
            efficiency: 1.0,
            distinct: Some(7),
            rate: Some(Score::new(rate, None)),
            killed: names(killed),
            missed: names(missed),
            ..Row::default()
        }
    }

    #[test]
    fn results_are_sorted_and_read_back() {
        let rows = [row("b", 1.0, &["x"], &[]), row("a, \"c\"", 0.8, &["x", "y"], &["z"])];
        let text = results(&rows);
        assert_eq!(text.lines().count(), 3);
        assert!(text.lines().nth(1).unwrap().starts_with("\"a, \"\"c\"\"\",approved,0.800,passed,,1.000,7,"), "{text}");
        let read = read_results(&text).unwrap();
        assert_eq!(results(&read), text);
        assert_eq!(read[1].killed, rows[0].killed);
        assert!(read_results("case\n").unwrap_err().contains("first line"));
        assert!(read_results(&(COLUMNS.join(",") + "\na,b\n")).unwrap_err().contains("line 2"));
    }

    #[test]
    fn every_regression_is_reported() {
        let before = [row("a", 1.0, &["x", "y"], &[]), row("b", 1.0, &["x"], &[])];
        assert_eq!(compare(&before, &before), Comparison::default());
        let worse = [row("a", 0.8, &["x"], &["y"])];
        let drops = compare(&before, &worse).regressions.join("\n");
        for what in ["a: the score was 1.000 and is 0.800", "a: y is no longer detected", "b: not evaluated"] {
            assert!(drops.contains(what), "{drops}");
        }
        assert!(compare(&worse, &before).regressions.is_empty());
        // A newly detected bug does not make up for one that is no longer detected.
        let other = [row("a", 1.0, &["y", "z"], &["x"]), row("b", 1.0, &["x"], &[])];
        assert!(compare(&[row("a", 1.0, &["x", "z"], &["y"])], &other).regressions.join("").contains("x is no longer"));
        let mut failed = before.clone();
        failed[0].passed = false;
        failed[0].wrong.insert("Odd".to_owned());
        assert_eq!(compare(&before, &failed).regressions.len(), 2);
        let mut larger = before.clone();
        larger[0].distinct = Some(9);
        assert_eq!(compare(&before, &larger).changes, ["a: distinct was \"7\" and is \"9\""]);
    }

    #[test]
    fn what_is_not_decided_is_a_range_and_no_regression() {
        let before = [row("a", 1.0, &["x", "y"], &[])];
        let mut now = before.clone();
        now[0].killed.remove("y");
        now[0].undecided.insert("y".to_owned());
        (now[0].score, now[0].rate) = (Some(Score::new(0.8, Some(1.0))), Some(Score::new(0.5, Some(1.0))));
        let text = results(&now);
        assert!(text.contains("a,approved,0.800 to 1.000,passed,"), "{text}");
        assert_eq!(read_results(&text).unwrap(), now);
        let compared = compare(&before, &now);
        assert_eq!((compared.regressions.len(), compared.changes.len()), (0, 0), "{compared:?}");
        let told = compared.undecided.join("\n");
        assert!(
            told.contains("the score was 1.000 and is 0.800 to 1.000") && told.contains("whether y is detected"),
            "{told}"
        );
        // Decided again, it is a change; and below the whole range, a regression.
        assert_eq!(compare(&now, &before).undecided, [""; 0]);
        let lower = [row("a", 0.6, &["x"], &["y"])];
        assert_eq!(compare(&now, &lower).regressions.len(), 1, "{:?}", compare(&now, &lower));
        assert_eq!(compare(&lower, &now).regressions, [""; 0]);
        let mut slow = before.clone();
        (slow[0].passed, slow[0].tier1_undecided, slow[0].score) = (false, true, Some(Score::new(0.4, Some(1.0))));
        assert_eq!(compare(&before, &slow).regressions, [""; 0]);
        assert_eq!(compare(&before, &slow).undecided.len(), 2);
    }

    #[test]
    fn the_score_of_a_suite_is_the_mean_of_the_scored_cases() {
        let unscored = Row { score: None, ..row("c", 0.0, &["x"], &[]) };
        assert_eq!(
            mean(&[row("a", 1.0, &["x"], &[]), row("b", 0.5, &["x"], &[]), unscored]),
            Some(Score::new(0.75, None))
        );
        assert_eq!(mean(&[]), None);
    }
}
