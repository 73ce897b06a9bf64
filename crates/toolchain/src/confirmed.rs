//! A toolchain that decides with one set of tools and lets the reference tools confirm it: the embedded checker is faster, and
//! nothing is approved that the PlusCal translator, SANY and TLC have not accepted as well.

use async_trait::async_trait;
use tlaforge_tla::{CheckOutcome, Checker, Confirmation, Verdict};

use super::both::{Comparison, Contradiction, Reporter, compare_violations, differences};
use super::{
    CheckReport, CheckRequest, FallbackToolchain, ParseOutcome, ProbeReport, SeparateVerdicts, SpecText, ToolContext,
    ToolError, Toolchain, ToolchainInfo, Translation,
};

/// Up to this number of distinct states, TLC decides everything in one run with one thread, which starts only one JVM.
const FEW_STATES: u64 = 100_000;

/// The quick tools translate, parse and decide. The reference tools decide what these leave undecided, and confirm every
/// verdict of [`Toolchain::check`] and [`Toolchain::check_without_details`]: a contradiction is reported and leaves the check
/// undecided. What only [`Toolchain::decide`] decides is not confirmed.
pub struct ConfirmedToolchain {
    tools: FallbackToolchain,
    report: Reporter,
}

/// What the reference tools said of a verdict.
enum Reference {
    /// They decided it themselves, because the quick tools could not, and their translation is the same.
    Decided,
    /// They checked this request.
    Checked(Box<CheckRequest>, Box<CheckReport>),
    /// The reference translator rejects the algorithm, for this reason.
    Untranslated(String),
}

impl ConfirmedToolchain {
    /// `report` is called for each contradiction.
    pub fn new(quick: Box<dyn Toolchain>, reference: Box<dyn Toolchain>, report: Reporter) -> Self {
        Self { tools: FallbackToolchain::new(quick, reference), report }
    }

    async fn confirm(
        &self,
        request: &CheckRequest,
        checked: CheckReport,
        cx: &ToolContext<'_>,
    ) -> Result<CheckReport, ToolError> {
        if !matches!(checked.outcome.verdict, Verdict::Holds | Verdict::Violated { .. }) {
            return Ok(checked);
        }
        // The first checker's counts stay on the screen.
        let silent = ToolContext { progress: &|_| {}, ..*cx };
        match self.ask_reference(request, &checked, &silent).await {
            Ok(Reference::Decided) => Ok(checked),
            Ok(Reference::Untranslated(why)) => {
                let line = format!("translation: the reference translator rejects the algorithm ({why})");
                Ok(self.contradict(request, checked, None, vec![line]))
            }
            Ok(Reference::Checked(translated, again)) => {
                self.compare(request, checked, (*translated, *again), &silent).await
            }
            // The module can be at fault, or too large. A broken tool has to be repaired before anything is decided.
            Err(error) if error.is_caused_by_input() || matches!(error, ToolError::Deadline { .. }) => {
                Ok(self.leave_unconfirmed(checked, error.to_string(), matches!(error, ToolError::Deadline { .. })))
            }
            Err(error) => Err(error),
        }
    }

    /// Lets the reference tools translate and decide.
    async fn ask_reference(
        &self,
        request: &CheckRequest,
        checked: &CheckReport,
        cx: &ToolContext<'_>,
    ) -> Result<Reference, ToolError> {
        let reference = self.tools.second();
        let spec = match self.translate_by_reference(&request.spec, cx).await? {
            Ok(spec) => spec,
            Err(why) => return Ok(Reference::Untranslated(why)),
        };
        if checked.outcome.checker == reference.checker() && spec.text == request.spec.text {
            return Ok(Reference::Decided);
        }
        let mut request = CheckRequest { spec, ..request.clone() };
        // Only the verdict is confirmed.
        request.cfg.witnesses.clear();
        let CheckOutcome { statistics, bounds, .. } = &checked.outcome;
        // Only a whole check asks whether any behaviour satisfies what the specification assumes.
        let is_small = statistics.distinct.is_some_and(|states| states <= FEW_STATES) && bounds.assumptions.is_empty();
        let again = if is_small {
            reference.decide(&request, cx).await?
        } else {
            reference.check_without_details(&request, cx).await?
        };
        Ok(Reference::Checked(Box::new(request), Box::new(again)))
    }

    /// The module with the reference translator's translation, if its own is the quick translator's; otherwise the module itself,
    /// whose translation someone may have kept on purpose. `Err` if the reference translator rejects the algorithm.
    async fn translate_by_reference(
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

    /// Compares a report with that of TLC for the reference translator's translation.
    async fn compare(
        &self,
        request: &CheckRequest,
        mut checked: CheckReport,
        (translated, second): (CheckRequest, CheckReport),
        cx: &ToolContext<'_>,
    ) -> Result<CheckReport, ToolError> {
        match &second.outcome.verdict {
            Verdict::Holds | Verdict::Violated { .. } => {}
            // What TLC refuses to evaluate contradicts nothing.
            Verdict::Inconclusive { reason, .. } | Verdict::Invalid { reason, .. } => {
                let timed_out = second.outcome.verdict.is_timed_out();
                checked.output.push_str(&second.output);
                return Ok(self.leave_unconfirmed(checked, reason.clone(), timed_out));
            }
        }
        let found = (&checked.outcome, &second.outcome);
        let mut lines = differences(found.0, found.1);
        match compare_violations(self.tools.second(), &translated, found, cx).await? {
            Comparison::Agrees => {}
            Comparison::Contradicts(line) => lines.push(line),
            Comparison::Undecided(reason) if lines.is_empty() => {
                return Ok(self.leave_unconfirmed(checked, reason, false));
            }
            Comparison::Undecided(_) => {}
        }
        if !lines.is_empty() {
            return Ok(self.contradict(request, checked, Some((&translated, &second)), lines));
        }
        checked.output.push_str(&second.output);
        if checked.outcome.checker != second.outcome.checker {
            checked.outcome.confirmation = Some(Confirmation::By(second.outcome.version));
        }
        Ok(checked)
    }

    fn contradict(
        &self,
        request: &CheckRequest,
        mut checked: CheckReport,
        second: Option<(&CheckRequest, &CheckReport)>,
        lines: Vec<String>,
    ) -> CheckReport {
        let all = lines.join("; ");
        let checks: Vec<&CheckReport> = std::iter::once(&checked).chain(second.map(|(_, report)| report)).collect();
        let mut contradiction = Contradiction::of_checks(request, lines, &checks);
        if let Some((translated, _)) = second.filter(|(translated, _)| translated.spec.text != request.spec.text) {
            let file = format!("{}.reference-translation.tla", request.spec.name);
            contradiction.files.push((file, translated.spec.text.clone()));
        }
        (self.report)(&contradiction);
        let first = checked.outcome.checker.name();
        checked.outcome.verdict = Verdict::inconclusive(format!(
            "{first} and the reference tools contradict each other, so one of them has a defect: {all}"
        ));
        checked.outcome.confirmation = Some(Confirmation::Missing(all));
        checked
    }

    /// A check that the reference tools did not decide holds no longer. A violation stays: it has a counterexample to show.
    fn leave_unconfirmed(&self, mut checked: CheckReport, reason: String, timed_out: bool) -> CheckReport {
        let first = &mut checked.outcome;
        if first.verdict == Verdict::Holds {
            let (first_name, reference) = (first.checker.name(), self.tools.second().checker().name());
            let reason = format!("{first_name} found no violation, and {reference} did not confirm it: {reason}");
            first.verdict = Verdict::Inconclusive { reason, timed_out };
        }
        first.confirmation = Some(Confirmation::Missing(reason));
        checked
    }
}

#[async_trait]
impl Toolchain for ConfirmedToolchain {
    fn checker(&self) -> Checker {
        self.tools.checker()
    }

    async fn translate(&self, spec: &SpecText, cx: &ToolContext<'_>) -> Result<Translation, ToolError> {
        self.tools.translate(spec, cx).await
    }

    async fn parse(&self, spec: &SpecText, cx: &ToolContext<'_>) -> Result<ParseOutcome, ToolError> {
        self.tools.parse(spec, cx).await
    }

    async fn check(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<CheckReport, ToolError> {
        self.confirm(request, self.tools.check(request, cx).await?, cx).await
    }

    async fn decide(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<CheckReport, ToolError> {
        self.tools.decide(request, cx).await
    }

    async fn decide_each(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<SeparateVerdicts, ToolError> {
        self.tools.decide_each(request, cx).await
    }

    async fn check_without_details(
        &self,
        request: &CheckRequest,
        cx: &ToolContext<'_>,
    ) -> Result<CheckReport, ToolError> {
        let checked = self.tools.check_without_details(request, cx);
        self.confirm(request, checked.await?, cx).await
    }

    async fn probe(
        &self,
        request: &CheckRequest,
        outcome: &CheckOutcome,
        cx: &ToolContext<'_>,
    ) -> Result<Option<ProbeReport>, ToolError> {
        self.tools.probe(request, outcome, cx).await
    }

    async fn info(&self, cx: &ToolContext<'_>) -> Result<ToolchainInfo, ToolError> {
        self.tools.info(cx).await
    }

    async fn versions(&self, cx: &ToolContext<'_>) -> Result<String, ToolError> {
        self.tools.versions(cx).await
    }
}
