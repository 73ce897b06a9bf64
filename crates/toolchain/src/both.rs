//! Two toolchains side by side: the first one's result counts. If the second one contradicts it, one of them has a
//! defect, which is reported and not settled here. A refusal, a deadline or a missing tool is no contradiction.

use std::collections::BTreeSet;

use async_trait::async_trait;
use tlaforge_tla::{Branch, Cfg, CheckOutcome, Checker, PropertyStatus, Reached, Verdict, Violation, ViolationKind};

use super::bounds::configured_bounds;
use super::{
    CheckReport, CheckRequest, ParseOutcome, ProbeReport, SpecText, ToolContext, ToolError, Toolchain, ToolchainInfo,
    Translation,
};

/// A contradiction between two toolchains, with everything needed to reproduce it.
#[derive(Debug, Clone)]
pub struct Contradiction {
    pub module: String,
    /// The differences, one a line.
    pub lines: Vec<String>,
    /// Files by name: modules, configuration, and the output of both checkers.
    pub files: Vec<(String, String)>,
}

impl Contradiction {
    fn new(spec: &SpecText, lines: Vec<String>, more: Vec<(String, String)>) -> Self {
        let modules =
            std::iter::once((&spec.name, &spec.text)).chain(spec.local_modules.iter().map(|(name, text)| (name, text)));
        let modules = modules.map(|(name, text)| (format!("{name}.tla"), text.clone()));
        let report = lines.iter().fold(String::new(), |all, line| all + "- " + line + "\n");
        let report = ("difference.md".to_owned(), report);
        let files = std::iter::once(report).chain(modules).chain(more).collect();
        Self { module: spec.name.clone(), lines, files }
    }

    /// The contradiction of checks of one request, with what each of them printed.
    pub(super) fn of_checks(request: &CheckRequest, lines: Vec<String>, checks: &[&CheckReport]) -> Self {
        let cfg = (format!("{}.cfg", request.spec.name), request.cfg_text.clone());
        let printed = checks.iter().map(|check| (format!("{}.txt", check.outcome.checker.id()), printed_by(check)));
        Self::new(&request.spec, lines, std::iter::once(cfg).chain(printed).collect())
    }
}

/// What a checker printed, and its outcome.
fn printed_by(check: &CheckReport) -> String {
    // An outcome has only text keys, so this cannot fail.
    let outcome = serde_json::to_string_pretty(&check.outcome).unwrap_or_default();
    format!("{}\n{outcome}", check.output)
}

pub type Reporter = Box<dyn Fn(&Contradiction) + Send + Sync>;

/// A reference toolchain, and another one to compare it with.
pub struct BothToolchains {
    reference: Box<dyn Toolchain>,
    other: Box<dyn Toolchain>,
    report: Reporter,
}

impl BothToolchains {
    /// `report` is called for each contradiction.
    pub fn new(reference: Box<dyn Toolchain>, other: Box<dyn Toolchain>, report: Reporter) -> Self {
        Self { reference, other, report }
    }

    fn report_lines(&self, spec: &SpecText, lines: Vec<String>, more: Vec<(String, String)>) {
        if lines.is_empty() {
            return;
        }
        (self.report)(&Contradiction::new(spec, lines, more));
    }

    async fn check_both(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<CheckReport, ToolError> {
        // One progress report is enough; two would jump between the counts of two checkers.
        let silent = ToolContext { progress: &|_| {}, ..*cx };
        let (first, second) = tokio::join!(self.reference.check(request, cx), self.other.check(request, &silent));
        let first = match (first, &second) {
            // The reference broke; the result of the other one is still reported.
            (Err(ToolError::Broke { tool, what }), Ok(_)) => {
                let reason = format!("{tool} broke: {what}");
                let outcome =
                    CheckOutcome::rejected(self.reference.checker(), configured_bounds(&request.cfg), Vec::new());
                let outcome = CheckOutcome { verdict: Verdict::inconclusive(reason), ..outcome };
                CheckReport { outcome, output: String::new(), second_outcome: None }
            }
            (first, _) => first?,
        };
        let (lines, second) = match second {
            Ok(second) => {
                let found = (&first.outcome, &second.outcome);
                let mut lines = differences(found.0, found.1);
                if let Comparison::Contradicts(line) = compare_violations(&*self.other, request, found, &silent).await?
                {
                    lines.push(line);
                }
                (lines, Some(second))
            }
            // A missing tool says nothing about the specification.
            Err(ToolError::Missing { .. }) => (Vec::new(), None),
            Err(error) if error.is_fatal() => return Err(error),
            Err(error) => (vec![format!("{} broke: {error}", self.other.checker().name())], None),
        };
        if !lines.is_empty() {
            let checks: Vec<_> = std::iter::once(&first).chain(&second).collect();
            (self.report)(&Contradiction::of_checks(request, lines, &checks));
        }
        Ok(CheckReport { second_outcome: second.map(|second| Box::new(second.outcome)), ..first })
    }
}

/// What a second toolchain says of a violation that another one found.
pub(super) enum Comparison {
    Agrees,
    /// They contradict each other, in one line.
    Contradicts(String),
    /// The second one did not decide it, for this reason.
    Undecided(String),
}

/// Compares two violations of one request. Which violation is found first depends on the order of exploration. If the two checkers
/// found different ones, `second_tools` search for the violation of the first alone.
pub(super) async fn compare_violations(
    second_tools: &dyn Toolchain,
    request: &CheckRequest,
    (first, second): (&CheckOutcome, &CheckOutcome),
    cx: &ToolContext<'_>,
) -> Result<Comparison, ToolError> {
    let (Verdict::Violated { violated: first_violation }, Verdict::Violated { violated: second_violation }) =
        (&first.verdict, &second.verdict)
    else {
        return Ok(Comparison::Agrees);
    };
    if is_same_violation(first_violation, second_violation) {
        return Ok(Comparison::Agrees);
    }
    let alone = CheckRequest { cfg: only_violation(request, first_violation), ..request.clone() };
    let alone = CheckRequest { cfg_text: alone.cfg.render(), ..alone };
    let found = match second_tools.check(&alone, cx).await {
        Ok(again) => again.outcome.verdict,
        Err(ToolError::Cancelled) => return Err(ToolError::Cancelled),
        Err(error) => return Ok(Comparison::Undecided(error.to_string())),
    };
    Ok(match found {
        Verdict::Violated { violated } if is_same_violation(first_violation, &violated) => Comparison::Agrees,
        Verdict::Inconclusive { reason, .. } => Comparison::Undecided(reason),
        Verdict::Invalid { reason, .. } if is_limit_of_tlc(&reason) => Comparison::Undecided(reason),
        verdict => Comparison::Contradicts(format!(
            "{}: {}; {} found {}, and checking the former alone gives: {}",
            first.checker.name(),
            first_violation.description(),
            second.checker.name(),
            second_violation.description(),
            verdict.name()
        )),
    })
}

/// The configuration with which nothing else can be violated first.
fn only_violation(request: &CheckRequest, violation: &Violation) -> Cfg {
    let named: Vec<String> = violation.name.iter().cloned().collect();
    let (witnesses, invariants, properties) = (Vec::new(), Vec::new(), Vec::new());
    let mut cfg = Cfg { witnesses, invariants, properties, ..request.cfg.clone() };
    match violation.kind {
        // `[]P` under PROPERTY is reported as a violated invariant.
        ViolationKind::Invariant if request.cfg.properties.iter().any(|p| Some(p) == violation.name.as_ref()) => {
            cfg.properties = named;
        }
        ViolationKind::Invariant => cfg.invariants = named,
        ViolationKind::Property | ViolationKind::ActionProperty => cfg.properties = named,
        _ => {}
    }
    if violation.kind != ViolationKind::Deadlock {
        cfg.check_deadlock = Some(false);
    }
    cfg
}

/// Reasons that are limits of TLC, not verdicts: an old version that does not know a keyword, numbers beyond 32 bits, and sets of more
/// than a million elements.
const TLC_LIMITS: [&str; 5] = [
    "needs a newer checker",
    "Overflow when computing",
    "can't handle a number this big",
    "has more than 32 bits",
    "with too many elements",
];

fn is_limit_of_tlc(reason: &str) -> bool {
    TLC_LIMITS.iter().any(|limit| reason.contains(limit))
}

/// The result of the second checker next to that of the first, in one line.
pub fn second_opinion(first: &CheckOutcome, second: &CheckOutcome) -> String {
    let who = second.checker.name();
    match (&first.verdict, &second.verdict) {
        (_, Verdict::Inconclusive { reason, .. }) => format!("{who}: inconclusive ({reason})"),
        _ if differences(first, second).is_empty() => match &first.verdict {
            Verdict::Inconclusive { .. } => format!("{who}: {}", second.verdict.name()),
            verdict if verdict.name() == second.verdict.name() => format!("{who}: agrees"),
            _ => format!("{who}: {}, but {} has no numbers that large", second.verdict.name(), first.checker.name()),
        },
        _ => format!("{who}: differs: {}", differences(first, second).join("; ")),
    }
}

/// The contradictions between two outcomes of one check. Which violation was found first is not compared.
pub(super) fn differences(first: &CheckOutcome, second: &CheckOutcome) -> Vec<String> {
    let mut lines = Vec::new();
    let describe = |outcome: &CheckOutcome| match &outcome.verdict {
        Verdict::Holds => "holds".to_owned(),
        Verdict::Violated { violated } => format!("violated ({})", violated.description()),
        Verdict::Invalid { reason, .. } => format!("invalid ({reason})"),
        Verdict::Inconclusive { reason, .. } => format!("inconclusive ({reason})"),
    };
    let decided = |outcome: &CheckOutcome| match &outcome.verdict {
        Verdict::Inconclusive { .. } => false,
        Verdict::Invalid { reason, .. } => !is_limit_of_tlc(reason),
        Verdict::Holds | Verdict::Violated { .. } => true,
    };
    let (one, two) = (first.checker.name(), second.checker.name());
    if decided(first) && decided(second) && first.verdict.name() != second.verdict.name() {
        lines.push(format!("verdict: {one}: {}; {two}: {}", describe(first), describe(second)));
    }
    // With SYMMETRY or VIEW the count depends on which state of a class is met first.
    let counted = first.bounds.symmetry.is_empty() && first.bounds.view.is_none();
    let complete = |outcome: &CheckOutcome| outcome.verdict == Verdict::Holds && outcome.is_complete();
    if counted
        && complete(first)
        && complete(second)
        && let (Some(a), Some(b)) = (first.statistics.distinct, second.statistics.distinct)
        && a != b
    {
        lines.push(format!("distinct states: {one}: {a}; {two}: {b}"));
    }
    for witness in &first.witnesses {
        let other = second.witnesses.iter().find(|w| w.name == witness.name).map(|w| &w.reached);
        match (&witness.reached, other) {
            (Reached::Yes { .. }, Some(Reached::No)) => {
                lines.push(format!("witness {}: {one}: reached; {two}: not", witness.name));
            }
            (Reached::No, Some(Reached::Yes { .. })) => {
                lines.push(format!("witness {}: {one}: not reached; {two}: reached", witness.name));
            }
            _ => {}
        }
    }
    for name in first.further.iter().chain(&second.further).map(|further| &further.name).collect::<BTreeSet<_>>() {
        match (first.property_status(name), second.property_status(name)) {
            (PropertyStatus::Violated, PropertyStatus::Holds) => {
                lines.push(format!("property {name}: {one}: violated; {two}: holds"));
            }
            (PropertyStatus::Holds, PropertyStatus::Violated) => {
                lines.push(format!("property {name}: {one}: holds; {two}: violated"));
            }
            _ => {}
        }
    }
    // A search that stopped early may have missed an action.
    if complete(first) && complete(second) {
        lines.extend(branch_differences((first, second), [one, two]));
        lines.extend(branch_differences((second, first), [two, one]));
        for action in first.coverage.iter().flatten() {
            let other = second.coverage.iter().flatten().find(|other| other.action == action.action);
            if let Some(other) = other
                && (other.taken == 0) != (action.taken == 0)
            {
                let word = |taken| if taken == 0 { "never taken" } else { "taken" };
                lines.push(format!(
                    "action {}: {one}: {}; {two}: {}",
                    action.action,
                    word(action.taken),
                    word(other.taken)
                ));
            }
        }
    }
    lines
}

/// Branches that are never taken according to one checker, and taken according to the other.
fn branch_differences((one, other): (&CheckOutcome, &CheckOutcome), [name, other_name]: [&str; 2]) -> Vec<String> {
    let (Some(one), Some(other)) = (&one.branches, &other.branches) else { return Vec::new() };
    let is_taken = |branch: &&Branch| !other.never_taken.contains(branch) && !other.undecided.contains(branch);
    let taken = one.never_taken.iter().filter(is_taken);
    taken.map(|branch| format!("branch {}: {name}: never taken; {other_name}: taken", branch.description())).collect()
}

fn is_same_violation(one: &Violation, two: &Violation) -> bool {
    let temporal = |kind| matches!(kind, ViolationKind::Property | ViolationKind::ActionProperty);
    let kinds = one.kind == two.kind || (temporal(one.kind) && temporal(two.kind));
    // Each checker has its own name for an assertion or assumption, so names are not compared.
    let named = !matches!(one.kind, ViolationKind::Assertion | ViolationKind::Assumption);
    // TLC names a conjunct `[]P` of a property by its place: `line 11, col 47 to line 11, col 55 of module M`.
    let is_place = |violation: &Violation| violation.name.as_ref().is_some_and(|name| name.starts_with("line "));
    kinds && (!named || one.name == two.name || is_place(one) || is_place(two))
}

#[async_trait]
impl Toolchain for BothToolchains {
    fn checker(&self) -> Checker {
        self.reference.checker()
    }

    async fn translate(&self, spec: &SpecText, cx: &ToolContext<'_>) -> Result<Translation, ToolError> {
        let (first, second) = tokio::join!(self.reference.translate(spec, cx), self.other.translate(spec, cx));
        let first = first?;
        let describe = |translation: &Translation| match translation {
            Translation::NoAlgorithm => "no algorithm".to_owned(),
            Translation::Translated(_) => "translated".to_owned(),
            Translation::Rejected(why) => {
                format!("rejected ({})", why.first().map_or("", |d| d.message.as_str()))
            }
        };
        if let Ok(second) = second
            && std::mem::discriminant(&first) != std::mem::discriminant(&second)
        {
            let line = format!("translation: reference: {}; embedded: {}", describe(&first), describe(&second));
            self.report_lines(spec, vec![line], Vec::new());
        }
        Ok(first)
    }

    async fn parse(&self, spec: &SpecText, cx: &ToolContext<'_>) -> Result<ParseOutcome, ToolError> {
        let (first, second) = tokio::join!(self.reference.parse(spec, cx), self.other.parse(spec, cx));
        let first = first?;
        let describe = |parsed: &ParseOutcome| match parsed {
            ParseOutcome::Accepted { .. } => "accepted".to_owned(),
            ParseOutcome::Rejected(why) => {
                format!("rejected ({})", why.first().map_or("", |d| d.message.as_str()))
            }
        };
        // A rejection because of a standard module that only newer tools have is no contradiction.
        let lacks_a_module = |parsed: &ParseOutcome| match parsed {
            ParseOutcome::Accepted { .. } => false,
            ParseOutcome::Rejected(why) => why.iter().any(|d| d.message.contains("Cannot find source file")),
        };
        if let Ok(second) = second
            && std::mem::discriminant(&first) != std::mem::discriminant(&second)
            && !lacks_a_module(&first)
        {
            let line = format!("parse: reference: {}; embedded: {}", describe(&first), describe(&second));
            self.report_lines(spec, vec![line], Vec::new());
        }
        Ok(first)
    }

    async fn check(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<CheckReport, ToolError> {
        self.check_both(request, cx).await
    }

    async fn probe(
        &self,
        request: &CheckRequest,
        outcome: &CheckOutcome,
        cx: &ToolContext<'_>,
    ) -> Result<Option<ProbeReport>, ToolError> {
        self.reference.probe(request, outcome, cx).await
    }

    async fn info(&self, cx: &ToolContext<'_>) -> Result<ToolchainInfo, ToolError> {
        self.reference.info(cx).await
    }
}
