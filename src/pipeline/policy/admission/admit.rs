//! Whether the user's policy can govern a run. Its rules may only use names of a journal, some run has to satisfy them,
//! and some approved run has to satisfy those of severity `error`.

use std::collections::HashMap;
use std::sync::Arc;

use super::approval::{check_causal_rule, check_pairs, check_trace_rule};
use super::error::AdmissionError;
use super::names::known;
use crate::monitor::log::{Mapping, Shape};
use crate::monitor::{
    Auditor, InterventionSettings, KnownLabels, LiveAudit, Policy, PolicyRule, PredictionMethod, Propositions, Scope,
};
use crate::pipeline::policy::journal_mapping::journal_mapping;
use crate::temporal::Formulas;

/// The rules of a policy before the first event, if they can be read and evaluated. A run that has begun under them
/// continues, so nothing else is checked.
pub(in crate::pipeline) fn load_unchecked(policy: &str) -> Result<Admitted, AdmissionError> {
    let mut formulas = Formulas::new();
    let Policy { rules, log, intervening, labels } = Policy::read(policy, &mut formulas)?;
    let known = KnownLabels::new(&labels, HashMap::new());
    let auditor = Auditor::new_with_labels(formulas, rules, journal_mapping(log), known)?.tolerating_lists();
    Ok(Admitted { audit: LiveAudit::new(Arc::new(auditor))?, intervening, labels, not_compared: 0 })
}

/// A policy that can govern a run.
#[derive(Clone)]
pub struct Admitted {
    /// The rules before the first event.
    pub(in crate::pipeline) audit: LiveAudit,
    /// The settings of interventions.
    pub(in crate::pipeline) intervening: InterventionSettings,
    /// The propositions that a model has to judge for each answer.
    pub(in crate::pipeline) labels: Propositions,
    /// Pairs of rules with a common field or label that were not compared because there are too many.
    not_compared: usize,
}

impl Admitted {
    /// Pairs of rules with a common field or label that were not compared because there are too many.
    pub fn not_compared(&self) -> usize {
        self.not_compared
    }
}

/// Reads a policy and decides whether its rules can govern a run. The refusals, in this order: of the file
/// ([`Policy::read`]), of a `[log]` table, of names (`names.rs`), of rules that cannot be evaluated while a run goes on
/// ([`Auditor`], [`LiveAudit`]), and of rules that cannot be satisfied (`approval.rs`).
pub fn admit(text: &str) -> Result<Admitted, AdmissionError> {
    let mut formulas = Formulas::new();
    let policy = Policy::read(text, &mut formulas)?;
    let bare = Mapping { shape: policy.log.shape.filter(|shape| *shape == Shape::Journal), ..Mapping::default() };
    if policy.log != bare {
        return Err(AdmissionError::Log);
    }
    for rule in &policy.rules {
        known(&formulas, rule)?;
        let samples = policy.intervening.prediction.as_ref().is_some_and(|p| p.method == PredictionMethod::Sampling);
        if let Some(name) =
            rule.model_propositions(&formulas).first().filter(|_| samples && rule.intervention.is_some())
        {
            return Err(AdmissionError::UnlabelledPrediction {
                line: rule.line,
                rule: rule.id.clone(),
                name: name.to_string(),
            });
        }
    }
    // A rule that cannot be evaluated is reported before one that cannot be satisfied.
    let admitted = load_unchecked(text)?;
    for rule in &policy.rules {
        check_rule(&formulas, rule)?;
    }
    let not_compared = check_pairs(&formulas, &policy.rules)?;
    Ok(Admitted { not_compared, ..admitted })
}

/// Whether some run satisfies a rule, and some approved run does if the rule is of severity `error`.
fn check_rule(formulas: &Formulas, rule: &PolicyRule) -> Result<(), AdmissionError> {
    match &rule.scope {
        Scope::Trace(_) => check_trace_rule(formulas, rule),
        Scope::Causal { owner, when } => check_causal_rule(formulas, rule, (owner, *when)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(rule: &str) -> String {
        match admit(&format!("[[rule]]\nid = \"r\"\n{rule}\n")) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_rule_that_no_approved_run_can_satisfy_is_refused_with_the_default_rule() {
        for (rule, law) in [
            ("kind = \"no_call\"\nparams = { tool = \"Read\" }", "approval/reviewer_read"),
            ("formula = 'G name != \"check_finished\"'", "approval/check_is_fresh"),
            ("formula = 'G (defined(claims.verdict) -> claims.verdict = \"violated\")'", "approval/nothing_violated"),
            ("formula = 'G !(name = \"run_finished\" & outcome != \"stopped\")'", "routing/approved"),
            ("formula = 'G (lifeline = \"formalize\" -> G name != \"check_finished\")'", "the order"),
            ("owner = \"review\"\nformula = '@model_check.claims.verdict = \"violated\"'", "approval/nothing_violated"),
            (
                "owner = \"review\"\nwhen = 'row = \"approved\"'\nformula = 'claims.unread > 0'",
                "approval/reviewer_read",
            ),
            (
                "owner = \"run\"\nwhen = 'name = \"run_finished\"'\nformula = 'outcome = \"flaw_found\"'",
                "routing/approved",
            ),
            (
                "owner = \"model_check\"\nwhen = 'name = \"attempt_finished\"'\nformula = 'claims.complete = false'",
                "approval/complete",
            ),
        ] {
            let told = refused(rule);
            assert!(told.contains("contradicts the default policy") && told.contains(law), "{rule}: {told}");
            let milder = refused(&format!("severity = \"warning\"\n{rule}"));
            assert_eq!(milder, "", "{rule}");
        }
    }

    #[test]
    fn error_rules_that_exclude_each_other_are_refused() {
        let pair = |a: &str, b: &str, severity: &str| {
            let rule = |id: &str, formula: &str| format!("[[rule]]\nid = \"{id}\"\nformula = '{formula}'\n");
            let text = format!("{}{}severity = \"{severity}\"\n", rule("a", a), rule("b", b));
            admit(&text).map_or_else(|error| error.to_string(), |_| String::new())
        };
        for (a, b) in [
            ("G !text_contains:\"TODO\"", "F text_contains:\"TODO\""),
            ("F (name = \"read_refused\" & attempt = 3)", "G !(name = \"read_refused\")"),
            ("F name = \"read_refused\"", "G name != \"read_refused\""),
            ("F rev > 2", "G rev < 2"),
            ("F one_of(name, \"read_refused\")", "G !(name = \"read_refused\")"),
            ("F contains(why, \"late\")", "G why = \"early\""),
        ] {
            let told = pair(a, b, "error");
            assert!(told.starts_with("line 4: rule `b` contradicts rule `a`"), "{a}, {b}: {told}");
            assert_eq!(pair(a, b, "warning"), "", "{a}, {b}");
        }
        assert_eq!(pair("G !text_contains:\"TODO\"", "F text_contains:\"R1\"", "error"), "");
        assert_eq!(pair("F text_contains:\"TODO\"", "F !text_contains:\"TODO\"", "error"), "");
    }

    #[test]
    fn a_bounded_number_of_pairs_is_compared() {
        let rule =
            |i: usize| format!("[[rule]]\nid = \"r{i}\"\nformula = 'F (name = \"routed\" & attempt < {})'\n", i + 5);
        let text = |rules: usize| (0..rules).map(rule).collect::<String>();
        let not_compared = |rules: usize| admit(&text(rules)).map(|a| a.not_compared()).unwrap();
        assert_eq!(not_compared(10), 0);
        assert_eq!(not_compared(60), 60 * 59 / 2 - 1000);
    }

    #[test]
    fn a_field_of_another_lifeline_is_refused_with_its_lifelines() {
        let of = |rest: &str| refused(&format!("owner = \"review\"\n{rest}"));
        let told = of("formula = '@review.outcome.statistics.distinct > 1'");
        assert!(told.contains("no event of `review` has a field `outcome.statistics.distinct`"), "{told}");
        assert!(told.ends_with("(events of model_check, candidates have it)"), "{told}");
        let told = of("formula = '@model_check(O defined(tally.score))'");
        assert!(told.contains("`model_check` has a field `tally.score` (events of review, mutants have it)"), "{told}");
        let told = of("formula = 'claims.points = 1'");
        assert!(told.ends_with("(events of candidates have it)"), "{told}");
        let told = of("when = 'name = \"check_finished\"'\nformula = 'true'");
        assert!(told.contains("its `when` holds at no event of `review`"), "{told}");
        assert!(of("formula = '@model_check.outcome.verdict != null'").contains("no run can satisfy it"));
        let told = of("when = 'row = \"approved\"'\nformula = '@model_check.outcome.verdict != null'");
        assert!(told.contains("can hold at no event, so no run could ever be approved"), "{told}");
        assert_eq!(refused("owner = \"second_reading\"\nformula = 'false'"), "", "nobody may ever be asked");
        assert!(refused("owner = \"run\"\nseverity = \"info\"\nformula = 'false'").contains("no run can satisfy"));
        assert_eq!(of("formula = 'P(tally.score > 0.5) | @mutants.tally.score > 0.5'"), "");
    }

    #[test]
    fn an_unknown_value_is_refused_with_its_field() {
        let told = refused("formula = 'F (outcome = \"aproved\")'");
        assert!(told.contains("no run has `outcome = \"aproved\"` (similar: approved"), "{told}");
        let told = refused("formula = 'F (outcome.verdict = \"hold\")'");
        assert!(told.contains("no run has `outcome.verdict = \"hold\"` (similar: holds"), "{told}");
    }

    #[test]
    fn rules_that_an_approved_run_may_satisfy_or_violate_are_accepted() {
        for rule in [
            "formula = 'G (name = \"request_sent\" -> F one_of(name, \"answer_received\", \"call_failed\"))'",
            "formula = 'F text_contains:\"R1\"'",
            "formula = 'G !text_contains:\"TODO\"'",
            "formula = 'G name != \"read_refused\"'",
            "formula = 'G rev < 2'",
            "kind = \"must_call_before\"\nparams = { first = \"Read\", then = \"Read\" }",
            "kind = \"required_stop_reason\"\nparams = { allowed = \"end_turn\" }",
            "owner = \"review\"\nwhen = 'name = \"guard_evaluated\"'\nformula = 'Seen@model_check & @model_check(O name = \"check_finished\")'",
            // A review may come before any check, where the module was not accepted.
            "formula = '(name != \"check_finished\") U (lifeline = \"review\" & name = \"routed\")'",
            "owner = \"review\"\nwhen = 'name = \"read_refused\"'\nformula = 'false'",
            "owner = \"formalize\"\nwhen = 'name = \"attempt_finished\"'\nformula = '!(@model_check.claims.verdict = \"holds\")'",
            "owner = \"review\"\nwhen = 'row = \"approved\"'\nformula = '@model_check.outcome.statistics.distinct > 10'",
        ] {
            assert_eq!(refused(rule), "", "{rule}");
        }
    }
}
