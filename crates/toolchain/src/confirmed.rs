//! A toolchain that decides with one set of tools and lets the reference tools confirm it: the embedded checker is faster, and
//! nothing is approved that the PlusCal translator, SANY and TLC have not accepted as well.

use tlaforge_tla::{CheckOutcome, Checker, Confirmation, Verdict};

use super::both::{Contradiction, Reporter, differences, find_contradicting_violation};
use super::{
    BoxFuture, CheckReport, CheckRequest, FallbackToolchain, ParseOutcome, ProbeReport, SeparateVerdicts, SpecText,
    ToolContext, ToolError, Toolchain, ToolchainInfo, Translation,
};

/// Up to this number of distinct states, TLC decides everything in one run with one thread, which starts only one JVM.
const FEW_STATES: u64 = 100_000;

/// The quick tools translate, parse and decide. The reference tools decide what these leave undecided, and confirm every
/// verdict of [`Toolchain::check`]: a contradiction is reported and leaves the check undecided.
pub struct ConfirmedToolchain {
    tools: FallbackToolchain,
    report: Reporter,
}

/// What the reference tools said of a verdict.
enum Reference {
    /// They decided it themselves, because the quick tools could not.
    Decided,
    Checked(Box<CheckReport>),
    /// The reference translator rejects the algorithm, for this reason.
    Untranslated(String),
    Failed(String),
}

impl ConfirmedToolchain {
    /// `report` is called for each contradiction.
    pub fn new(quick: Box<dyn Toolchain>, reference: Box<dyn Toolchain>, report: Reporter) -> Self {
        Self { tools: FallbackToolchain::new(quick, reference), report }
    }

    async fn check_and_confirm(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<CheckReport, ToolError> {
        let checked = self.tools.check(request, cx).await?;
        if !matches!(checked.outcome.verdict, Verdict::Holds | Verdict::Violated { .. }) {
            return Ok(checked);
        }
        // The first checker's counts stay on the screen.
        let silent = ToolContext { progress: &|_| {}, ..*cx };
        let decided = self.decide_again(request, &checked, &silent).await;
        let (again, lines) = match decided {
            Ok(Reference::Checked(again)) => {
                let found = (&checked.outcome, &again.outcome);
                let mut lines = differences(found.0, found.1);
                lines.extend(find_contradicting_violation(self.tools.second(), request, found, &silent).await?);
                (Reference::Checked(again), lines)
            }
            Ok(Reference::Untranslated(why)) => {
                let line = format!("translation: the reference translator rejects the algorithm ({why})");
                (Reference::Untranslated(why), vec![line])
            }
            Ok(other) => (other, Vec::new()),
            // The module can be at fault, or too large; a broken tool has to be mended before anything is decided.
            Err(error) if error.is_caused_by_input() || matches!(error, ToolError::Deadline { .. }) => {
                (Reference::Failed(error.to_string()), Vec::new())
            }
            Err(error) => return Err(error),
        };
        Ok(if lines.is_empty() {
            self.confirm(checked, again)
        } else {
            self.contradict(request, checked, &again, lines)
        })
    }

    /// The module with the reference translator's translation, if its own is the quick translator's; otherwise the module itself,
    /// whose translation someone may have kept on purpose. `Err` if the reference translator rejects the algorithm.
    async fn translate_again(
        &self,
        spec: &SpecText,
        cx: &ToolContext<'_>,
    ) -> Result<Result<SpecText, String>, ToolError> {
        match self.tools.translate(spec, cx).await? {
            Translation::Translated(text) if text == spec.text => {}
            _ => return Ok(Ok(spec.clone())),
        }
        Ok(match self.tools.second().translate(spec, cx).await? {
            Translation::NoAlgorithm => Ok(spec.clone()),
            Translation::Translated(text) => Ok(SpecText { text, ..spec.clone() }),
            Translation::Rejected(why) => Err(why.first().map_or_else(String::new, |found| found.message.clone())),
        })
    }

    async fn decide_again(
        &self,
        request: &CheckRequest,
        checked: &CheckReport,
        cx: &ToolContext<'_>,
    ) -> Result<Reference, ToolError> {
        let reference = self.tools.second();
        let mut request = request.clone();
        request.spec = match self.translate_again(&request.spec, cx).await? {
            Ok(spec) => spec,
            Err(why) => return Ok(Reference::Untranslated(why)),
        };
        if checked.outcome.checker == reference.checker() {
            return Ok(Reference::Decided);
        }
        // A witness that was reached has a path to show for it.
        request.cfg.witnesses.clear();
        let CheckOutcome { statistics, bounds, .. } = &checked.outcome;
        // Only a whole check asks whether any behaviour satisfies what the specification assumes.
        let is_small = statistics.distinct.is_some_and(|states| states <= FEW_STATES) && bounds.assumptions.is_empty();
        let again = if is_small {
            reference.decide(&request, cx).await?
        } else {
            reference.check_without_details(&request, cx).await?
        };
        Ok(Reference::Checked(Box::new(again)))
    }

    fn contradict(
        &self,
        request: &CheckRequest,
        mut checked: CheckReport,
        again: &Reference,
        lines: Vec<String>,
    ) -> CheckReport {
        let first = checked.outcome.checker.name();
        let reason = format!(
            "{first} and the reference tools contradict each other, so one of them has a defect: {}",
            lines.join("; ")
        );
        let mut checks = vec![&checked];
        if let Reference::Checked(again) = again {
            checks.push(again);
        }
        (self.report)(&Contradiction::of_checks(request, lines, &checks));
        checked.outcome.verdict = Verdict::inconclusive(reason);
        checked
    }

    /// The report of a check that nothing contradicts. It holds only if the reference tools say so, too.
    fn confirm(&self, mut checked: CheckReport, again: Reference) -> CheckReport {
        let first = &mut checked.outcome;
        let (reason, timed_out) = match again {
            Reference::Decided => return checked,
            Reference::Failed(reason) | Reference::Untranslated(reason) => (reason, false),
            Reference::Checked(again) => {
                checked.output.push_str(&again.output);
                let CheckOutcome { verdict, version, .. } = again.outcome;
                if verdict.name() == first.verdict.name() {
                    first.confirmation = Some(Confirmation::By(version));
                    return checked;
                }
                let timed_out = verdict.is_timed_out();
                match verdict {
                    Verdict::Inconclusive { reason, .. } | Verdict::Invalid { reason, .. } => (reason, timed_out),
                    Verdict::Holds | Verdict::Violated { .. } => (verdict.name().to_owned(), false),
                }
            }
        };
        if first.verdict == Verdict::Holds {
            let (first_name, reference) = (first.checker.name(), self.tools.second().checker().name());
            let reason = format!("{first_name} found no violation, and {reference} did not confirm it: {reason}");
            first.verdict = Verdict::Inconclusive { reason, timed_out };
        } else {
            first.confirmation = Some(Confirmation::Missing(reason));
        }
        checked
    }
}

impl Toolchain for ConfirmedToolchain {
    fn checker(&self) -> Checker {
        self.tools.checker()
    }

    fn translate<'a>(
        &'a self,
        spec: &'a SpecText,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<Translation, ToolError>> {
        self.tools.translate(spec, cx)
    }

    fn parse<'a>(
        &'a self,
        spec: &'a SpecText,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<ParseOutcome, ToolError>> {
        self.tools.parse(spec, cx)
    }

    fn check<'a>(
        &'a self,
        request: &'a CheckRequest,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<CheckReport, ToolError>> {
        Box::pin(self.check_and_confirm(request, cx))
    }

    fn decide<'a>(
        &'a self,
        request: &'a CheckRequest,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<CheckReport, ToolError>> {
        self.tools.decide(request, cx)
    }

    fn decide_each<'a>(
        &'a self,
        request: &'a CheckRequest,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<SeparateVerdicts, ToolError>> {
        self.tools.decide_each(request, cx)
    }

    fn check_without_details<'a>(
        &'a self,
        request: &'a CheckRequest,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<CheckReport, ToolError>> {
        self.tools.check_without_details(request, cx)
    }

    fn probe<'a>(
        &'a self,
        request: &'a CheckRequest,
        outcome: &'a CheckOutcome,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<Option<ProbeReport>, ToolError>> {
        self.tools.probe(request, outcome, cx)
    }

    fn info<'a>(&'a self, cx: &'a ToolContext<'a>) -> BoxFuture<'a, Result<ToolchainInfo, ToolError>> {
        self.tools.info(cx)
    }

    fn versions<'a>(&'a self, cx: &'a ToolContext<'a>) -> BoxFuture<'a, Result<String, ToolError>> {
        self.tools.versions(cx)
    }
}
