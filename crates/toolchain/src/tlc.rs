//! TLC as an [`Explorer`]: its command line, and the steps from its output to a verdict.

use async_trait::async_trait;
use tlaforge_process::Status;
use tlaforge_tla::{Checker, Diagnostic, Stage, Trace, Verdict, ViolationKind, WitnessOutcome};

use super::explorer::{Explorer, Finding, FurtherRuns, Run, SingleRunCheck, judge};
use super::installation::{Features, JavaToolchain, module_files};
use super::plan::{RunPlan, SearchOrder};
use super::run::{self, Tool, ToolJob};
use super::targets::Targets;
use super::tlc_predicates::PredicateProbe;
use super::tlc_witnesses::WitnessProbe;
use super::{CheckRequest, Detail, Progress, SpecText, ToolContext, ToolError, step_names, tlc_output};

pub(crate) struct Tlc<'a> {
    tools: &'a JavaToolchain,
    features: &'a Features,
}

impl<'a> Tlc<'a> {
    /// Asks TLC for its features, the first time.
    pub(crate) async fn new(tools: &'a JavaToolchain, cx: &ToolContext<'_>) -> Result<Self, ToolError> {
        Ok(Self { tools, features: tools.features(cx).await? })
    }

    async fn run_plan(
        &self,
        spec: &SpecText,
        plan: &RunPlan,
        cx: &ToolContext<'_>,
    ) -> Result<(Run, String), ToolError> {
        self.execute(spec, plan, None, cx).await
    }

    /// Searches for all of these witnesses in one run.
    async fn search_witnesses(
        &self,
        request: &CheckRequest,
        targets: &Targets,
        cx: &ToolContext<'_>,
    ) -> Result<FurtherRuns<Vec<WitnessOutcome>>, ToolError> {
        let Some(probe) = WitnessProbe::new(request, targets) else { return Ok(FurtherRuns::nothing(Vec::new())) };
        match self.execute(&request.spec, &probe.plan, Some(&probe.invariant), cx).await {
            Ok((run, output)) => {
                let result = probe.outcomes(&output, &run.verdict);
                Ok(FurtherRuns { result, warnings: Vec::new(), output })
            }
            Err(error) if error.is_fatal() => Err(error),
            // One of them may be the reason, so each gets a run of its own.
            Err(_) => Ok(FurtherRuns::nothing(Vec::new())),
        }
    }

    /// The main run, if it also decides which predicates are reached.
    async fn check_with_predicates(
        &self,
        request: &CheckRequest,
        targets: &Targets,
        cx: &ToolContext<'_>,
    ) -> Result<Option<SingleRunCheck>, ToolError> {
        let Some(probe) = PredicateProbe::new(request, targets) else { return Ok(None) };
        match self.execute(&request.spec, &probe.plan, None, cx).await {
            // A predicate may be what failed.
            Ok((Run { verdict: Verdict::Invalid { .. }, .. }, _)) => Ok(None),
            Ok((Run { verdict: Verdict::Violated { violated }, .. }, _))
                if violated.kind == ViolationKind::Assertion =>
            {
                Ok(None)
            }
            Ok((safety, output)) => {
                let witnesses = probe.outcomes(&output, &safety.verdict);
                Ok(Some(SingleRunCheck { safety, temporal: None, witnesses, output }))
            }
            Err(error) if error.is_fatal() => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// Runs a plan. The run continues after violations of the invariant `continue_past`, which are no finding.
    async fn execute(
        &self,
        spec: &SpecText,
        plan: &RunPlan,
        continue_past: Option<&str>,
        cx: &ToolContext<'_>,
    ) -> Result<(Run, String), ToolError> {
        let main = plan.wrapper.as_ref().map_or(&spec.name, |(name, _)| name);
        let mut files = module_files(spec);
        if let Some((name, text)) = &plan.wrapper {
            files.push((format!("{name}.tla"), text));
        }
        files.push((format!("{main}.cfg"), &plan.cfg));
        let job = ToolJob {
            tool: Tool::Tlc,
            jvm: plan.jvm,
            args: self.arguments(plan, main, continue_past.is_some(), cx),
            files,
            deadline: cx.limits.check,
            read_back: None,
            rmi: None,
        };
        let mut on_line = |line: &str| {
            if let Some((_, generated, distinct, queue)) = tlc_output::parse_progress(line) {
                (cx.progress)(Progress { run: plan.label.clone(), generated, distinct, queue });
            }
        };
        let done = run::run(&self.tools.tools, &self.tools.scratch, &job, cx, &mut on_line).await?;
        let stdout = done.stdout();
        let output = format!("==== {}: {}\n{stdout}{}", plan.label, done.command_line, done.stderr());
        // The actions are those of the specification, also if the main run has a module that adds an invariant.
        let module = if plan.coverage { &spec.name } else { main };
        let mut parsed = tlc_output::parse_past_violations(&stdout, module, continue_past);
        if matches!(done.ended.status, Status::Exited(status) if status != 0)
            && matches!(parsed.finding, None | Some(Finding::Broke(_)))
            && done.stderr().contains("OutOfMemoryError")
        {
            parsed.finding = Some(Finding::Undecided("the JVM ran out of memory".to_owned()));
        }
        // TLC gives no reason then, so it is found out here.
        if names_symmetry(&plan.cfg) && tlc_output::stopped_at_symmetry(&stdout, &parsed) {
            parsed.finding = Some(tlc_output::symmetry_finding());
        }
        let broke = |words: Option<&str>| match words {
            Some(words) => ToolError::Broke { tool: Tool::Tlc.name().to_owned(), what: words.to_owned() },
            None => done.crash_error(Tool::Tlc),
        };
        let judged = judge("TLC", &done.ended, &parsed, cx, broke);
        // A verdict that TLC reached counts. For any other end, first this machine is suspected, then the module.
        let mut verdict = match judged {
            Ok(shown @ (Verdict::Holds | Verdict::Violated { .. })) => shown,
            other => match (done.environment_error(Tool::Tlc), other) {
                (Some(trouble), _) => return Err(trouble),
                (None, Ok(verdict)) => verdict,
                (None, Err(error)) => match self.tools.attribute_failure(error, Tool::Tlc, cx).await {
                    of_the_module @ ToolError::BreaksOnInput { .. } => Verdict::inconclusive(of_the_module.to_string()),
                    error => return Err(error),
                },
            },
        };
        quote_configuration_line(&mut verdict, &plan.cfg);
        let seconds = done.ended.wall.as_secs_f64();
        Ok((Run { verdict, parsed, seconds, workers: self.workers(plan, cx) }, output))
    }

    fn workers(&self, plan: &RunPlan, cx: &ToolContext<'_>) -> usize {
        let is_one = self.features.needs_one_worker_for_properties && names_property(&plan.cfg);
        if is_one { 1 } else { plan.order.workers(cx.limits) }
    }

    fn arguments(&self, plan: &RunPlan, main: &str, continues: bool, cx: &ToolContext<'_>) -> Vec<String> {
        // 2.15 does not know `-workers auto`. `-fp 0`, because newer versions choose the polynomial of the fingerprints at
        // random, and the reported probability of a collision would vary.
        let workers = self.workers(plan, cx).to_string();
        let cfg = format!("{main}.cfg");
        let mut args: Vec<String> = ["-tool", "-workers", &workers, "-fp", "0"].map(str::to_owned).into();
        if plan.coverage {
            args.extend(["-coverage", "1"].map(str::to_owned));
        }
        if let SearchOrder::Deepening(depth) = plan.order {
            args.extend(["-dfid".to_owned(), depth.to_string()]);
        }
        if continues {
            args.push("-continue".to_owned());
        }
        if !plan.deadlock {
            // The flag's name misleads: it turns the deadlock check off.
            args.push("-deadlock".to_owned());
        }
        if self.features.can_suppress_trace_module {
            args.push("-noGenerateSpecTE".to_owned());
        }
        args.extend(["-config", &cfg].map(str::to_owned));
        args.push(format!("{main}.tla"));
        args
    }
}

#[async_trait]
impl Explorer for Tlc<'_> {
    fn checker(&self) -> Checker {
        Checker::Tlc
    }

    fn version(&self) -> String {
        self.features.version.clone()
    }

    /// Keywords that TLC 2.15 misreads, and then blames the wrong line for.
    fn unknown_keywords(&self, request: &CheckRequest) -> Vec<Diagnostic> {
        if self.features.is_newer_than_2_15 {
            return Vec::new();
        }
        [("ALIAS", &request.cfg.alias), ("POSTCONDITION", &request.cfg.postcondition)]
            .into_iter()
            .filter(|(_, value)| value.is_some())
            .map(|(keyword, _)| {
                let line =
                    request.cfg_text.lines().position(|l| l.trim_start().starts_with(keyword)).map_or(0, |l| l + 1);
                let message = format!("`{keyword}` needs a newer checker than {}", self.features.version);
                Diagnostic { stage: Stage::Config, line, column: usize::from(line > 0), message }
            })
            .collect()
    }

    async fn run(&self, spec: &SpecText, plan: &RunPlan, cx: &ToolContext<'_>) -> Result<(Run, String), ToolError> {
        self.run_plan(spec, plan, cx).await
    }

    async fn check_in_one_run(
        &self,
        request: &CheckRequest,
        targets: &Targets,
        _detail: Detail,
        cx: &ToolContext<'_>,
    ) -> Result<Option<SingleRunCheck>, ToolError> {
        self.check_with_predicates(request, targets, cx).await
    }

    fn quick(&self) -> Option<Box<dyn Explorer + '_>> {
        let checker = self.tools.embedded.as_ref()?.new_checker().ok()?;
        Some(Box::new(checker))
    }

    async fn search_witnesses(
        &self,
        request: &CheckRequest,
        targets: &Targets,
        cx: &ToolContext<'_>,
    ) -> Result<FurtherRuns<Vec<WitnessOutcome>>, ToolError> {
        self.search_witnesses(request, targets, cx).await
    }

    /// With iterative deepening, which a failed assertion needs, TLC does not name actions.
    async fn name_steps(
        &self,
        request: &CheckRequest,
        trace: Trace,
        cx: &ToolContext<'_>,
    ) -> Result<FurtherRuns<Trace>, ToolError> {
        step_names::name_steps(self, request, trace, cx).await
    }
}

/// TLC counts lines of the generated configuration, not of the caller's, so the line itself is quoted.
fn quote_configuration_line(verdict: &mut Verdict, cfg: &str) {
    let Verdict::Invalid { diagnostics, .. } = verdict else { return };
    for diagnostic in diagnostics.iter_mut().filter(|d| d.stage == Stage::Config) {
        if let Some((before, rest)) = diagnostic.message.split_once("the configuration file at line ")
            && let digits = rest.bytes().take_while(u8::is_ascii_digit).count()
            && let Ok(number) = rest[..digits].parse::<usize>()
        {
            // At the end of the file TLC reports one line more than there is.
            let line = cfg.lines().take(number.max(1)).last().unwrap_or("");
            diagnostic.message = format!("{before}the configuration near `{line}`{}", &rest[digits..]);
        }
    }
}

fn names_symmetry(cfg: &str) -> bool {
    cfg.split_whitespace().any(|word| word == "SYMMETRY")
}

fn names_property(cfg: &str) -> bool {
    cfg.split_whitespace().any(|word| matches!(word, "PROPERTY" | "PROPERTIES"))
}
