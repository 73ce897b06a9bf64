//! The default policy: the guards and the routing table as rules with owners. `tlaforge policy show` prints them, and an
//! audit of a journal evaluates them.

use crate::pipeline::machine::{ApprovalClause, CANDIDATE_LIFELINES, FlawClause, NodeName, Row};

/// A formula of causal past logic that a decision of a lifeline rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefaultRule {
    /// The decision: `approval`, `flaw` or `routing`.
    pub guard: &'static str,
    /// A clause, or a row of the routing table.
    pub name: String,
    /// The lifelines that decide.
    pub owners: Vec<&'static str>,
    pub formula: &'static str,
    /// The meaning of the formula.
    pub words: &'static str,
}

/// The rules of the default policy, in the order in which they are evaluated.
pub fn default_rules() -> Vec<DefaultRule> {
    let review = || vec![NodeName::Review.name()];
    let approval = ApprovalClause::ALL.into_iter().map(|clause| DefaultRule {
        guard: "approval",
        name: clause.name(),
        owners: review(),
        formula: clause.formula(),
        words: clause.demands(),
    });
    let flaw = FlawClause::ALL.into_iter().map(|clause| DefaultRule {
        guard: "flaw",
        name: clause.name(),
        owners: review(),
        formula: clause.formula(),
        words: clause.demands(),
    });
    let routing = Row::ALL.into_iter().map(|row| DefaultRule {
        guard: "routing",
        name: row.name(),
        owners: owners(row),
        formula: row.route().guard,
        words: row.route().words,
    });
    approval.chain(flaw).chain(routing).collect()
}

/// The lifelines that decide a row. The run itself decides to stop and to resume.
fn owners(row: Row) -> Vec<&'static str> {
    match row {
        Row::Stopped | Row::Resumed => vec!["run"],
        row => row.owners(),
    }
}

/// The default policy as a file for `audit`: each decision is what its formula says, each row is the first whose
/// formula holds, each guard is the conjunction of its clauses, and the run ended as its last decision says.
pub fn default_policy() -> String {
    let mut text = String::from(
        "# The default policy of a run, as it is compiled into tlaforge. `tlaforge audit RUN --policy default` evaluates it\n\
         # on a journal; this file does the same.\n",
    );
    for default_rule in default_rules() {
        let asked = |owner: &str, when: &str, formula: &str| {
            let id = match default_rule.owners.len() {
                1 => format!("{}/{}", default_rule.guard, default_rule.name),
                _ => format!("{}/{}/{owner}", default_rule.guard, default_rule.name),
            };
            rule(&id, owner, when, formula, default_rule.words)
        };
        match default_rule.guard {
            // The run itself decides to stop and to resume. It has no `routed` event for that.
            "routing" => {
                let Some(row) = Row::ALL.into_iter().find(|row| row.name() == default_rule.name) else { continue };
                let when = format!("name = \"routed\" & row = \"{}\" & defined(routing.position)", default_rule.name);
                let owners = default_rule.owners.iter().filter(|owner| **owner != "run");
                owners.for_each(|owner| text.push_str(&asked(owner, &when, &first_that_holds(row))));
            }
            guard => text.push_str(&asked(NodeName::Review.name(), &evaluated(guard, true), default_rule.formula)),
        }
    }
    for guard in ["approval", "flaw"] {
        let clauses = default_rules().into_iter().filter(|default_rule| default_rule.guard == guard);
        let all: Vec<String> = clauses.map(|default_rule| format!("({})", default_rule.formula)).collect();
        let id = format!("{guard}/refused");
        let words = "a guard that refused had a clause that fails";
        let formula = format!("!({})", all.join(" & "));
        text.push_str(&rule(&id, NodeName::Review.name(), &evaluated(guard, false), &formula, words));
    }
    for candidate in CANDIDATE_LIFELINES {
        text.push_str(&choice_rules(candidate));
    }
    for (id, owner, when, formula, words) in JOURNAL_RULES {
        text.push_str(&rule(id, owner, when, formula, words));
    }
    text
}

/// At an evaluation of a guard with this result, after the review has published the claims that its clauses read.
fn evaluated(guard: &str, holds: bool) -> String {
    let claims = if guard == "flaw" { "claims.flaw.described" } else { "claims.changed_steps" };
    format!("name = \"guard_evaluated\" & guard = \"{guard}\" & holds = {holds} & defined({claims})")
}

/// A candidate is chosen by its points only if no received candidate has more, and the first of equals.
fn choice_rules(candidate: &str) -> String {
    let number = candidate.rsplit('_').next().unwrap_or_default();
    let mine = format!("@{candidate}.claims.points");
    let others = CANDIDATE_LIFELINES.iter().enumerate().filter(|(_, other)| **other != candidate);
    let place = CANDIDATE_LIFELINES.iter().position(|other| *other == candidate).unwrap_or_default();
    let not_better = others.map(|(at, other)| {
        let more = if at < place { ">=" } else { ">" };
        format!(" & !(@{other}.claims.points {more} {mine})")
    });
    let when = format!("name = \"candidate_chosen\" & criterion = \"points\" & chosen = {number}");
    let formula = format!("{mine} >= 0{}", not_better.collect::<String>());
    let words = "the candidate that goes on is the best of those that formalize had received";
    let by_points = rule(&format!("candidates/{number}"), NodeName::Formalize.name(), &when, &formula, words);
    let when = format!("name = \"candidate_chosen\" & criterion = \"objective\" & chosen = {number}");
    let formula = format!("{mine} >= 100 & defined(@run.objective.goal)");
    let words = "a candidate that goes on for the run's objective has properties, and the run has an objective";
    by_points + &rule(&format!("candidates/{number}/objective"), NodeName::Formalize.name(), &when, &formula, words)
}

/// Rules that relate the events of a journal to each other: name, owner, when, formula, words.
const JOURNAL_RULES: [(&str, &str, &str, &str, &str); 8] = [
    (
        "journal/guards",
        "review",
        r#"name = "routed" & defined(routing.approval)"#,
        r#"routing.verdict = "flaw" & routing.flaw = holds | routing.verdict != "flaw" & routing.approval = holds | routing.event = "review_unreadable" & routing.approval = holds"#,
        "a review is routed by what its guards came to",
    ),
    (
        "journal/validated",
        "validate",
        r#"name = "routed" & defined(routing.position)"#,
        "routing.accepted = claims.accepted",
        "a module is routed by what translator and parser said",
    ),
    (
        "journal/second_reading",
        "second_reading",
        r#"name = "routed" & defined(routing.agrees)"#,
        "routing.agrees = claims.agrees",
        "a claimed flaw is routed by what the second reader said",
    ),
    (
        "journal/approved",
        "run",
        r#"name = "run_finished" & (outcome = "approved" | outcome = "approved_repaired")"#,
        r#"@review.row = "approved" & !@review.routing.other_reading"#,
        "a run that ended approved was approved by its last review",
    ),
    (
        "journal/flaw_found",
        "run",
        r#"name = "run_finished" & outcome = "flaw_found""#,
        r#"@second_reading.row = "flaw_found""#,
        "a run that ended in a flaw had its last claim confirmed",
    ),
    (
        "journal/ambiguity_found",
        "run",
        r#"name = "run_finished" & outcome = "ambiguity_found""#,
        r#"@second_reading.row = "ambiguity_found" | @review.routing.other_reading | @second_reading.routing.other_reading"#,
        "a run that ended in an ambiguity had its last claim confirmed for one reading, or tried the other reading",
    ),
    (
        "journal/not_approved",
        "run",
        r#"name = "run_finished" & (outcome = "not_approved" | outcome = "undecided")"#,
        r#"@review.row = "revision_limit" | @second_reading.row = "revision_limit" | @review.row = "objective_lost" | @second_reading.row = "objective_lost" | @review.row = "policy_violated""#,
        "a run that ended not approved had no revision left, an objective that could not be reached any more, or a policy that prevented its approval",
    ),
    (
        "journal/outcome",
        "run",
        r#"name = "run_finished""#,
        r#"outcome = "approved" | outcome = "approved_repaired" | outcome = "flaw_found" | outcome = "ambiguity_found" | outcome = "not_approved" | outcome = "undecided" | outcome = "stopped""#,
        "a run ends in one of its outcomes",
    ),
];

fn rule(id: &str, owner: &str, when: &str, formula: &str, words: &str) -> String {
    let words = words.replace('\\', "\\\\").replace('"', "\\\"");
    format!(
        "\n[[rule]]\nid = \"{id}\"\nowner = \"{owner}\"\nwhen = '{when}'\nformula = '{formula}'\ndescription = \"{words}\"\n"
    )
}

/// The formula of a row, and that no earlier row of the same owners holds.
fn first_that_holds(row: Row) -> String {
    let mine = owners(row);
    let before = Row::ALL.into_iter().take_while(|other| *other != row);
    let rivals = before.filter(|other| owners(*other).iter().any(|owner| mine.contains(owner)));
    let not = rivals.map(|other| format!(" & !({})", other.route().guard));
    format!("({}){}", row.route().guard, not.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor::{Policy, Scope};
    use crate::pipeline::machine::is_lifeline;
    use crate::temporal::Formulas;

    #[test]
    fn an_audit_can_read_the_default_policy() {
        let policy = Policy::read(&default_policy(), &mut Formulas::new()).unwrap();
        assert!(policy.rules.len() > 60);
        for rule in &policy.rules {
            let Scope::Causal { owner, .. } = &rule.scope else { panic!("{} is not causal", rule.id) };
            assert!(is_lifeline(owner), "{owner}");
        }
        for default_rule in default_rules() {
            assert!(!default_rule.words.is_empty() && !default_rule.owners.is_empty(), "{default_rule:?}");
        }
    }
}
