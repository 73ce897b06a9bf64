//! TLC as an [`Explorer`]: its command line, and what stands between its output and a verdict.

use crate::process::Status;
use crate::tla::{Checker, Diagnostic, Stage, Trace, Verdict};

use super::explorer::{Explorer, Finding, Learned, Run, judge};
use super::installation::{Features, JavaToolchain, modules};
use super::plan::{Order, RunPlan};
use super::run::{self, Job, Tool};
use super::{BoxFuture, CheckRequest, Progress, SpecText, ToolContext, ToolError, embedded_actions, tlc_output};

/// TLC, with what the one at hand can do.
pub(crate) struct Tlc<'a> {
    tools: &'a JavaToolchain,
    features: &'a Features,
}

impl<'a> Tlc<'a> {
    /// Asks TLC what it can do, the first time.
    pub(crate) async fn of(tools: &'a JavaToolchain, cx: &ToolContext<'_>) -> Result<Self, ToolError> {
        Ok(Self { tools, features: tools.features(cx).await? })
    }

    async fn execute(&self, spec: &SpecText, plan: &RunPlan, cx: &ToolContext<'_>) -> Result<(Run, String), ToolError> {
        let main = plan.wrapper.as_ref().map_or(&spec.name, |(name, _)| name);
        let mut files = modules(spec);
        if let Some((name, text)) = &plan.wrapper {
            files.push((format!("{name}.tla"), text));
        }
        files.push((format!("{main}.cfg"), &plan.cfg));
        let job = Job {
            tool: Tool::Tlc,
            jvm: plan.jvm,
            args: self.arguments(plan, main, cx),
            files,
            deadline: cx.limits.check,
            read_back: None,
        };
        let mut on_line = |line: &str| {
            if let Some((_, generated, distinct, queue)) = tlc_output::progress(line) {
                (cx.progress)(Progress { run: plan.label.clone(), generated, distinct, queue });
            }
        };
        let done = run::run(&self.tools.tools, &self.tools.scratch, &job, cx, &mut on_line).await?;
        let stdout = done.stdout();
        let output = format!("==== {}: {}\n{stdout}{}", plan.label, done.line, done.stderr());
        let mut read = tlc_output::read(&stdout, main);
        if matches!(done.ended.status, Status::Exited(status) if status != 0)
            && matches!(read.finding, None | Some(Finding::Broke(_)))
            && done.stderr().contains("OutOfMemoryError")
        {
            read.finding = Some(Finding::Undecided("the JVM ran out of memory".to_owned()));
        }
        if has_symmetry(&plan.cfg) && tlc_output::stopped_at_symmetry(&stdout, &read) {
            read.finding = Some(tlc_output::bad_symmetry());
        }
        let broke = |words: Option<&str>| match words {
            Some(words) => ToolError::Broke { tool: Tool::Tlc.name().to_owned(), what: words.to_owned() },
            None => done.broke(Tool::Tlc),
        };
        let judged = judge("TLC", &done.ended, &read, cx, broke);
        let mut verdict = match judged {
            Ok(shown @ (Verdict::Holds | Verdict::Violated { .. })) => shown,
            other => match (done.trouble(Tool::Tlc), other) {
                (Some(trouble), _) => return Err(trouble),
                (None, Ok(verdict)) => verdict,
                (None, Err(error)) => match self.tools.blame(error, Tool::Tlc, cx).await {
                    of_the_module @ ToolError::BreaksOnInput { .. } => Verdict::inconclusive(of_the_module.to_string()),
                    error => return Err(error),
                },
            },
        };
        quote_cfg(&mut verdict, &plan.cfg);
        let seconds = done.ended.wall.as_secs_f64();
        Ok((Run { verdict, read, seconds, workers: plan.order.workers(cx.limits) }, output))
    }

    fn arguments(&self, plan: &RunPlan, main: &str, cx: &ToolContext<'_>) -> Vec<String> {
        // 2.15 knows no `auto`.
        let workers = plan.order.workers(cx.limits).to_string();
        let cfg = format!("{main}.cfg");
        let mut args: Vec<String> = ["-tool", "-workers", &workers, "-fp", "0"].map(str::to_owned).into();
        if plan.coverage {
            args.extend(["-coverage", "1"].map(str::to_owned));
        }
        if let Order::Deepening(depth) = plan.order {
            args.extend(["-dfid".to_owned(), depth.to_string()]);
        }
        if !plan.deadlock {
            // The flag's name misleads: it turns the check off.
            args.push("-deadlock".to_owned());
        }
        if self.features.no_trace_module {
            args.push("-noGenerateSpecTE".to_owned());
        }
        args.extend(["-config", &cfg].map(str::to_owned));
        args.push(format!("{main}.tla"));
        args
    }
}

impl Explorer for Tlc<'_> {
    fn checker(&self) -> Checker {
        Checker::Tlc
    }

    fn version(&self) -> String {
        self.features.version.clone()
    }

    /// Keywords that TLC 2.15 takes for something else, and then blames the wrong line.
    fn unknown_keywords(&self, request: &CheckRequest) -> Vec<Diagnostic> {
        if self.features.newer {
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

    fn run<'a>(
        &'a self,
        spec: &'a SpecText,
        plan: &'a RunPlan,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<(Run, String), ToolError>> {
        Box::pin(self.execute(spec, plan, cx))
    }

    /// Where it deepens level by level, which a failed assertion needs, it names no actions.
    fn name_steps<'a>(
        &'a self,
        request: &'a CheckRequest,
        trace: Trace,
        cx: &'a ToolContext<'a>,
    ) -> BoxFuture<'a, Result<Learned<Trace>, ToolError>> {
        Box::pin(embedded_actions::name_steps(self, request, trace, cx))
    }
}

/// TLC counts lines of the configuration that it was given, which is not the caller's: the line itself is quoted.
fn quote_cfg(verdict: &mut Verdict, cfg: &str) {
    let Verdict::Invalid { diagnostics, .. } = verdict else { return };
    for diagnostic in diagnostics.iter_mut().filter(|d| d.stage == Stage::Config) {
        if let Some((before, rest)) = diagnostic.message.split_once("the configuration file at line ")
            && let digits = rest.bytes().take_while(u8::is_ascii_digit).count()
            && let Ok(number) = rest[..digits].parse::<usize>()
        {
            // At its end TLC counts one line more than there is.
            let line = cfg.lines().take(number.max(1)).last().unwrap_or("");
            diagnostic.message = format!("{before}the configuration near `{line}`{}", &rest[digits..]);
        }
    }
}

/// Whether a configuration names a symmetry set.
fn has_symmetry(cfg: &str) -> bool {
    cfg.split_whitespace().any(|word| word == "SYMMETRY")
}
