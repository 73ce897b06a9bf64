//! Whether a policy of the user's own can govern a run: asked before anything is paid for. Its rules have to speak of
//! what a journal holds, some run has to satisfy them, and an approved one, too, where they are of severity `error`.

use std::collections::HashMap;
use std::sync::Arc;

use super::approval::{of_moments, of_pairs, of_trace};
use super::names::known;
use crate::monitor::log::{Mapping, Shape};
use crate::monitor::{
    AuditError, Auditor, InterventionSettings, KnownLabels, LiveAudit, Policy, PolicyError, PolicyRule,
    PredictionMethod, Propositions, Scope, Severity,
};
use crate::pipeline::RunView;
use crate::pipeline::candidates::MAX_CANDIDATES;
use crate::pipeline::lifelines::CANDIDATE_LIFELINES;
use crate::pipeline::strengthen::MUTANTS;
use crate::pipeline::watch::journal_mapping;
use crate::temporal::Formulas;

/// Why a policy cannot govern a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AdmissionError {
    /// It cannot be read.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// It says where an agent's log keeps things.
    #[error("[log] says where an agent's log keeps things, and a run is watched by its own journal; take it out")]
    Log,
    /// What is foreseen has no labels.
    #[error(
        "line {line}: rule `{rule}` speaks of `model:{name}`, and answers that are foreseen are not labelled; let [prediction] \
         say `how = \"ask\"`, or take its `intervention` out"
    )]
    Foreseen {
        /// Where it begins, from 1.
        line: usize,
        /// Its name.
        rule: String,
        /// The proposition.
        name: String,
    },
    /// A rule speaks of what no run has.
    #[error("line {line}: rule `{rule}`: {what} `{name}`{}", told_near(.near))]
    Unknown {
        /// Where it begins, from 1.
        line: usize,
        /// Its name.
        rule: String,
        /// A kind of thing, and that there is none of that name.
        what: &'static str,
        /// The name.
        name: String,
        /// What is written much alike, or all there are.
        near: Vec<String>,
    },
    /// A rule reads a list as one value.
    #[error("line {line}: rule `{rule}`: the field `{field}` holds a list: write `{spelling}`, or `every(…)`")]
    List {
        /// Where it begins, from 1.
        line: usize,
        /// Its name.
        rule: String,
        /// The field.
        field: String,
        /// What to write.
        spelling: String,
    },
    /// A rule asks a node for what another one has.
    #[error("line {line}: rule `{rule}`: no event of `{lifeline}` has a field `{field}` ({})", told_owners(.of))]
    NotItsOwn {
        /// Where it begins, from 1.
        line: usize,
        /// Its name.
        rule: String,
        /// The node.
        lifeline: String,
        /// The field.
        field: String,
        /// Whose it is.
        of: Vec<&'static str>,
    },
    /// No approved run of these settings satisfies a rule that no approved run may break.
    #[error("line {line}: rule `{rule}` {why}, so this run could never be approved")]
    Idle {
        /// Where it begins, from 1.
        line: usize,
        /// Its name.
        rule: String,
        /// Who does nothing in it, and with what it would.
        why: String,
    },
    /// A rule cannot be watched.
    #[error(transparent)]
    Unfit(#[from] AuditError),
    /// No run satisfies a rule.
    #[error("line {line}: rule `{rule}`: no run can satisfy it: {words}")]
    Impossible {
        /// Where it begins, from 1.
        line: usize,
        /// Its name.
        rule: String,
        /// What it asks for.
        words: String,
    },
    /// A causal rule is asked of every approval, and never holds.
    #[error("line {line}: rule `{rule}` can hold at no event, so no run could ever be approved: {words}")]
    NeverHolds {
        /// Where it begins, from 1.
        line: usize,
        /// Its name.
        rule: String,
        /// What it asks for.
        words: String,
    },
    /// Two rules that no approved run may break, and no run satisfies together.
    #[error(
        "line {line}: rule `{rule}` contradicts rule `{other}`: no run can satisfy both, so none could ever be approved"
    )]
    Together {
        /// Where the later one begins, from 1.
        line: usize,
        /// Its name.
        rule: String,
        /// The earlier one's.
        other: String,
    },
    /// A causal rule is never asked.
    #[error("line {line}: rule `{rule}`: its `when` holds at no event of `{owner}`, so it would never be asked")]
    NeverAsked {
        /// Where it begins, from 1.
        line: usize,
        /// Its name.
        rule: String,
        /// At whose events it would be asked.
        owner: String,
    },
    /// No approved run satisfies a rule that no approved run may break.
    #[error(
        "line {line}: rule `{rule}` contradicts the default policy, so no run could ever be approved: {law} ({words})"
    )]
    Contradicts {
        /// Where it begins, from 1.
        line: usize,
        /// Its name.
        rule: String,
        /// The law that it contradicts.
        law: String,
        /// What that law asks for.
        words: String,
    },
}

fn told_near(near: &[String]) -> String {
    match near {
        [] => String::new(),
        names => format!(" (near it: {})", names.join(", ")),
    }
}

/// Whose a field is: of the candidates, that they have it.
fn told_owners(of: &[&str]) -> String {
    let (candidates, nodes): (Vec<&str>, Vec<&str>) = of.iter().partition(|name| CANDIDATE_LIFELINES.contains(name));
    let mut names: Vec<&str> = nodes;
    if !candidates.is_empty() {
        names.push("candidates");
    }
    format!("those of {} have", names.join(", "))
}

/// Rules ready to follow a journal from its beginning, with nothing asked but that they can be read and followed: a run
/// that has begun under them goes on under them.
pub(in crate::pipeline) fn admitted(policy: &str) -> Result<Admitted, AdmissionError> {
    let mut formulas = Formulas::new();
    let Policy { rules, log, intervening, labels } = Policy::read(policy, &mut formulas)?;
    let known = KnownLabels::new(&labels, HashMap::new());
    let auditor = Auditor::new_with_labels(formulas, rules, journal_mapping(log), known)?.tolerating_lists();
    Ok(Admitted { follower: LiveAudit::new(Arc::new(auditor))?, intervening, labels, not_compared: 0 })
}

/// A policy that a run can be put under.
#[derive(Clone)]
pub struct Admitted {
    /// Its rules, before the first event.
    pub(in crate::pipeline) follower: LiveAudit,
    /// How its interventions go.
    pub(in crate::pipeline) intervening: InterventionSettings,
    /// What a model has to judge of each answer.
    pub(in crate::pipeline) labels: Propositions,
    /// Pairs of rules with a common atom that were too many to be compared.
    not_compared: usize,
}

impl Admitted {
    /// Pairs of rules that may contradict each other and were too many to be compared.
    pub fn not_compared(&self) -> usize {
        self.not_compared
    }
}

/// Who does nothing in a run with these settings, each with what an error says of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Idle(Vec<(Vec<&'static str>, String)>);

impl Idle {
    /// In a run that strengthens its properties so many times, and drafts so many formalizations side by side.
    pub fn of(strengthen: u32, candidates: u32) -> Self {
        let mut all = Vec::new();
        if strengthen == 0 {
            all.push((
                vec![MUTANTS],
                format!("asks for what `{MUTANTS}` does, and it does nothing without --strengthen"),
            ));
        }
        // One alone is drafted by the node itself.
        let drafted = if candidates > 1 { candidates as usize } else { 0 };
        let beyond: Vec<&str> = CANDIDATE_LIFELINES.into_iter().skip(drafted).collect();
        let why = match (beyond.first(), drafted) {
            (None, _) => return Self(all),
            (_, 0) => "asks for what a candidate does, and there is none without --candidates".to_owned(),
            (Some(first), _) => {
                format!("asks for what `{first}` or a later candidate does, and there are {drafted} (--candidates)")
            }
        };
        all.push((beyond, why));
        Self(all)
    }

    /// The same of a run that goes on with these settings: who has done something in it does not count.
    pub fn from(view: &RunView, strengthen: u32, candidates: u32) -> Self {
        let judged = view.attempts.keys().any(|(_, lifeline)| lifeline == MUTANTS);
        Self::of(
            strengthen.max(u32::from(judged)),
            if view.candidates.is_empty() { candidates } else { MAX_CANDIDATES },
        )
    }
}

/// The same, where all of them can govern a run; of one with known settings, also where nobody is needed who is idle.
pub fn admit(text: &str, idle: &Idle) -> Result<Admitted, AdmissionError> {
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
            return Err(AdmissionError::Foreseen { line: rule.line, rule: rule.id.clone(), name: name.to_string() });
        }
    }
    // Whether each can be followed is told before what follows from it.
    let admitted = admitted(text)?;
    for rule in &policy.rules {
        fits(&formulas, rule, &[])?;
    }
    for (lifelines, why) in &idle.0 {
        for rule in policy.rules.iter().filter(|rule| rule.severity == Severity::Error) {
            if fits(&formulas, rule, lifelines).is_err() {
                let (rule, line, why) = (rule.id.clone(), rule.line, why.clone());
                return Err(AdmissionError::Idle { line, rule, why });
            }
        }
    }
    let not_compared = of_pairs(&formulas, &policy.rules)?;
    Ok(Admitted { not_compared, ..admitted })
}

/// That a rule does not exclude every run, or every approved one, of those in which these lifelines do nothing.
fn fits(formulas: &Formulas, rule: &PolicyRule, without: &[&'static str]) -> Result<(), AdmissionError> {
    match &rule.scope {
        Scope::Trace(_) => of_trace(formulas, rule, without),
        Scope::Causal { owner, when } => of_moments(formulas, rule, (owner, *when), without),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(rule: &str) -> String {
        match admit(&format!("[[rule]]\nid = \"r\"\n{rule}\n"), &Idle::default()) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn what_no_approved_run_can_keep_is_refused_with_the_law_that_it_contradicts() {
        for (rule, law) in [
            ("kind = \"no_call\"\nparams = { tool = \"Read\" }", "approval/reviewer_read"),
            ("formula = 'G name != \"check_finished\"'", "approval/check_is_fresh"),
            ("formula = 'G (defined(says.verdict) -> says.verdict = \"violated\")'", "approval/nothing_violated"),
            ("formula = 'G !(name = \"run_finished\" & outcome != \"stopped\")'", "routing/approved"),
            ("formula = 'G (lifeline = \"formalize\" -> G name != \"check_finished\")'", "the order"),
            ("owner = \"review\"\nformula = '@model_check.says.verdict = \"violated\"'", "approval/nothing_violated"),
            ("owner = \"review\"\nwhen = 'row = \"approved\"'\nformula = 'says.unread > 0'", "approval/reviewer_read"),
            (
                "owner = \"run\"\nwhen = 'name = \"run_finished\"'\nformula = 'outcome = \"flaw_found\"'",
                "routing/approved",
            ),
            (
                "owner = \"model_check\"\nwhen = 'name = \"attempt_finished\"'\nformula = 'says.complete = false'",
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
    fn rules_that_exclude_each_other_are_refused_where_no_approved_run_may_break_them() {
        let pair = |a: &str, b: &str, severity: &str| {
            let rule = |id: &str, formula: &str| format!("[[rule]]\nid = \"{id}\"\nformula = '{formula}'\n");
            let text = format!("{}{}severity = \"{severity}\"\n", rule("a", a), rule("b", b));
            admit(&text, &Idle::default()).map_or_else(|error| error.to_string(), |_| String::new())
        };
        for (a, b) in [
            ("G !text_contains:\"TODO\"", "F text_contains:\"TODO\""),
            ("F (name = \"read_refused\" & attempt = 3)", "G !(name = \"read_refused\")"),
        ] {
            let told = pair(a, b, "error");
            assert!(told.starts_with("line 4: rule `b` contradicts rule `a`"), "{a}, {b}: {told}");
            assert_eq!(pair(a, b, "warning"), "", "{a}, {b}");
        }
        assert_eq!(pair("G !text_contains:\"TODO\"", "F text_contains:\"R1\"", "error"), "");
        assert_eq!(pair("F text_contains:\"TODO\"", "F !text_contains:\"TODO\"", "error"), "");
    }

    #[test]
    fn of_many_rules_that_share_an_atom_a_bounded_number_of_pairs_is_compared() {
        let rule =
            |i: usize| format!("[[rule]]\nid = \"r{i}\"\nformula = 'F (name = \"routed\" & attempt < {})'\n", i + 5);
        let text = |rules: usize| (0..rules).map(rule).collect::<String>();
        let not_compared = |rules: usize| admit(&text(rules), &Idle::default()).map(|a| a.not_compared()).unwrap();
        assert_eq!(not_compared(10), 0);
        assert_eq!(not_compared(60), 60 * 59 / 2 - 1000);
    }

    #[test]
    fn what_a_lifeline_never_tells_is_refused_with_whose_it_is() {
        let of = |rest: &str| refused(&format!("owner = \"review\"\n{rest}"));
        let told = of("formula = '@review.outcome.statistics.distinct > 1'");
        assert!(told.contains("no event of `review` has a field `outcome.statistics.distinct`"), "{told}");
        assert!(told.ends_with("(those of model_check, candidates have)"), "{told}");
        let told = of("formula = '@model_check(O defined(tally.score))'");
        assert!(told.contains("`model_check` has a field `tally.score` (those of mutants have)"), "{told}");
        let told = of("formula = 'says.points = 1'");
        assert!(told.ends_with("(those of candidates have)"), "{told}");
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
    fn who_does_nothing_in_a_run_is_asked_for_nothing() {
        let with = |rule: &str, strengthen: u32, candidates: u32| {
            let text = format!("[[rule]]\nid = \"r\"\n{rule}\n");
            admit(&text, &Idle::of(strengthen, candidates)).map_or_else(|error| error.to_string(), |_| String::new())
        };
        let approved =
            |formula: &str| format!("owner = \"review\"\nwhen = 'row = \"approved\"'\nformula = '{formula}'");
        for formula in ["@mutants.tally.score >= 0.8", "Seen@mutants", "@mutants(true)", "P@mutants(tally.score > 0)"] {
            let told = with(&approved(formula), 0, 1);
            assert!(told.contains("does nothing without --strengthen"), "{formula}: {told}");
            assert_eq!(with(&approved(formula), 1, 1), "", "{formula}");
            assert_eq!(with(&format!("severity = \"warning\"\n{}", approved(formula)), 0, 1), "", "{formula}");
        }
        let made = "formula = 'F name = \"mutants_judged\"'";
        assert!(with(made, 0, 1).contains("--strengthen"));
        assert_eq!(with(made, 2, 1), "");
        assert_eq!(with(&approved("!Seen@mutants | @mutants.tally.score >= 0.8"), 0, 1), "");
        assert_eq!(with("owner = \"mutants\"\nformula = 'tally.score > 0'", 0, 1), "");
        let third = approved("Seen@formalize_3");
        assert!(with(&third, 0, 1).contains("there is none without --candidates"));
        assert!(with(&third, 0, 2).contains("`formalize_3` or a later candidate does, and there are 2"));
        assert_eq!(with(&third, 0, 3), "");
    }

    #[test]
    fn a_value_that_a_field_never_has_is_named_with_its_field() {
        let told = refused("formula = 'F (outcome = \"aproved\")'");
        assert!(told.contains("no run has `outcome = \"aproved\"` (near it: approved"), "{told}");
        let told = refused("formula = 'F (outcome.verdict = \"hold\")'");
        assert!(told.contains("no run has `outcome.verdict = \"hold\"` (near it: holds"), "{told}");
    }

    #[test]
    fn what_an_approved_run_may_keep_or_break_is_taken() {
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
            "owner = \"formalize\"\nwhen = 'name = \"attempt_finished\"'\nformula = '!(@model_check.says.verdict = \"holds\")'",
            "owner = \"review\"\nwhen = 'row = \"approved\"'\nformula = '@model_check.outcome.statistics.distinct > 10'",
        ] {
            assert_eq!(refused(rule), "", "{rule}");
        }
    }
}
