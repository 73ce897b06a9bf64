//! TLC's distributed mode as a [`Toolchain`]: a server here, and workers in other processes. It checks invariants and
//! deadlock, and nothing else.
//!
//! The mode reports less than TLC alone, so its output is no verdict by itself (measured with 2.15; `distributed-tlc.md`
//! in the book has the measurements). It ignores ASSUME and temporal properties, so TLC alone checks the assumptions
//! first, and properties are refused. After any error it prints neither the error nor the behaviour, only the last states,
//! and exits with 0, so TLC alone checks that step again and names the error.

use async_trait::async_trait;
use tlaforge_process::Status;
use tlaforge_tla::semantic::impure_operators;
use tlaforge_tla::{Cfg, CheckOutcome, Checker, Step, Verdict, ViolationKind, WitnessOutcome};

use super::actions::Actions;
use super::bounds::check_bounds;
use super::check::{build_outcome, drop_unsound_reductions, refuse_before_run};
use super::distributed_run::{self, RemoteWorkers, SearchEnd, WorkerPlacement, require_jar};
use super::explorer::{Finding, ParsedOutput, Run, judge};
use super::installation::JavaToolchain;
use super::plan::{self, RunPlan};
use super::run::{Tool, ToolRun};
use super::session::Session;
use super::tlc::Tlc;
use super::tlc_output;
use super::{
    CheckReport, CheckRequest, Libraries, ParseOutcome, ProbeReport, SpecText, ToolContext, ToolError, Toolchain,
    ToolchainInfo, Translation,
};

/// Maximum number of searches of one check, if TLC's server fails at its count of states.
const MAX_SEARCHES: usize = 3;

const ALONE: &str = "check without --distributed, with smaller constants if there are too many states";

/// Why a specification is not checked in distributed mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DistributedRefusal {
    pub why: String,
    /// What to do instead.
    pub advice: &'static str,
}

/// The Java tools, with TLC in distributed mode.
pub struct DistributedToolchain {
    tools: JavaToolchain,
    workers: WorkerPlacement,
    remote: Option<Box<dyn RemoteWorkers>>,
}

impl DistributedToolchain {
    pub fn new(tools: JavaToolchain, workers: WorkerPlacement) -> Result<Self, ToolError> {
        require_jar(&tools)?;
        Ok(Self { tools, workers, remote: None })
    }

    /// Lets workers on other machines be started; otherwise the user starts them.
    #[must_use]
    pub fn with_remote_workers(self, remote: Option<Box<dyn RemoteWorkers>>) -> Self {
        Self { remote, ..self }
    }

    /// Whether the result of distributed mode would be wrong, or would say nothing.
    pub fn find_refusal(&self, spec: &SpecText, cfg: &Cfg, libraries: &Libraries) -> Option<DistributedRefusal> {
        let refusal = |why: String, advice| Some(DistributedRefusal { why, advice });
        if let Some(property) = cfg.properties.first() {
            let why = format!(
                "TLC's distributed mode does not check PROPERTY {property}: it ignores temporal properties, and it reports \
                 that a violated action property holds"
            );
            return refusal(why, "list invariants only, and check the properties without --distributed");
        }
        if let Some(constraint) = cfg.action_constraints.first() {
            let why =
                format!("with ACTION_CONSTRAINT {constraint}, TLC's distributed mode leaves out reachable states");
            return refusal(why, ALONE);
        }
        if let Some(postcondition) = &cfg.postcondition {
            return refusal(format!("TLC's distributed mode does not check POSTCONDITION {postcondition}"), ALONE);
        }
        if cfg.gives_no_behaviour() {
            return refusal("the configuration names no specification to explore".to_owned(), ALONE);
        }
        let modules = std::iter::once((spec.name.as_str(), spec.text.as_str()))
            .chain(spec.local_modules.iter().map(|(name, text)| (name.as_str(), text.as_str())));
        let impure = modules.flat_map(|(name, text)| impure_operators(name, text, Some(cfg))).next();
        if let Some(operator) = impure {
            return refusal(format!("the value of `{operator}` would be another one in each worker"), ALONE);
        }
        if matches!(self.workers, WorkerPlacement::Remote { .. })
            && let Some(jar) = libraries.jars().next()
        {
            let why = format!("workers on other machines do not have the library {}", jar.display());
            return refusal(why, "give a folder of modules: TLC sends them to the workers");
        }
        None
    }

    async fn check_distributed(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<CheckReport, ToolError> {
        let explorer = Tlc::new(&self.tools, cx).await?;
        if let Some(rejected) = refuse_before_run(&explorer, request, cx) {
            return Ok(rejected);
        }
        let mut warnings = Vec::new();
        let request = &*drop_unsound_reductions(request, &mut warnings);
        let mut session = Session { explorer: &explorer, request, cx, output: String::new() };
        let bounds = check_bounds(request);
        // Whether such a specification has a behaviour at all is a question about infinite behaviours.
        let assumes = bounds.assumptions.first().map(|assumption| {
            format!("{assumption}: TLC's distributed mode cannot decide whether any behaviour satisfies that")
        });
        // Again, because the translation of an algorithm is known only now.
        let refused =
            self.find_refusal(&request.spec, &request.cfg, &cx.limits.libraries).map(|refusal| refusal.why).or(assumes);
        let run = match refused {
            Some(why) => undecided(why),
            None => {
                let before = session.run(&plan::initial_states(&request.spec, &request.cfg)).await?;
                match before.verdict {
                    Verdict::Holds => self.search(&mut session, &mut warnings).await?,
                    _ => before,
                }
            }
        };
        if run.verdict == Verdict::Holds
            && request.cfg.constraints.is_empty()
            && run.parsed.statistics.initial == Some(0)
        {
            let warning = "no state satisfies the initial predicate: there is no behaviour, so whatever holds, holds \
                           vacuously";
            warnings.push(warning.to_owned());
        }
        let undecided = |name: &String| WitnessOutcome::undecided(name, "a distributed check searches for no witness");
        let witnesses = request.cfg.witnesses.iter().map(undecided).collect();
        let outcome = build_outcome(&explorer, request, bounds, run, None, witnesses, warnings);
        Ok(CheckReport { outcome, output: tlc_output::readable_output(&session.output), second_outcome: None })
    }

    /// The distributed search, and if it stopped at an error, the run that says which.
    async fn search(&self, session: &mut Session<'_>, warnings: &mut Vec<String>) -> Result<Run, ToolError> {
        let Session { request, cx, .. } = *session;
        let plan = RunPlan { label: "distributed search".to_owned(), ..plan::safety(&request.cfg) };
        let mut searches = 0;
        let (done, messages, mut parsed) = loop {
            searches += 1;
            let end =
                distributed_run::run(&self.tools, &self.workers, self.remote.as_deref(), &request.spec, &plan, cx);
            let done = match end.await? {
                SearchEnd::Server(done) => done,
                SearchEnd::WorkersLost(how) => {
                    return Ok(undecided(format!("every worker ended before the search did: {how}")));
                }
            };
            let stdout = done.stdout();
            let heading = format!("==== {}: {}\n", plan.label, done.command_line);
            session.output.extend([heading.as_str(), &stdout, &done.stderr()]);
            let parsed = tlc_output::parse_past_violations(&stdout, &request.spec.name, None);
            let messages = Messages::read(&stdout);
            // The states that were printed suffice to find the error.
            if messages.shows_error || !failed_to_count_states(&done, &parsed) {
                break (done, messages, parsed);
            }
            let advice = match self.workers {
                WorkerPlacement::Local(_) if searches < MAX_SEARCHES => {
                    warnings.push(format!("{COUNT_FAILURE}; the search was started again"));
                    continue;
                }
                WorkerPlacement::Local(_) => "this happened three times in a row",
                WorkerPlacement::Remote { .. } => "start the check and its workers again",
            };
            let what = format!("{COUNT_FAILURE}; {advice}");
            return Err(ToolError::Broke { tool: Tool::Tlc.name().to_owned(), what });
        };
        // The level of a state is lost on its way, and the order is not breadth first.
        parsed.statistics.depth = None;
        // About its own statistics, after a worker is gone.
        parsed.warnings.retain(|warning| !warning.contains("remote worker cache") && !warning.contains("dead worker"));
        match messages.lost_workers {
            0 => {}
            1 => warnings.push("one thread of a worker was lost; TLC gave its states to others".to_owned()),
            lost => warnings.push(format!("{lost} threads of workers were lost; TLC gave their states to others")),
        }
        let states = parsed.trace.take().map(|trace| trace.steps).unwrap_or_default();
        if (messages.shows_error || !states.is_empty())
            && (parsed.finding.is_none() || failed_to_count_states(&done, &parsed))
        {
            let verdict = self.find_error(session, &states, warnings).await?;
            return Ok(Run { verdict, ..finished(parsed, &done) });
        }
        let verdict = judge_search(&done, &parsed, &messages, cx)?;
        Ok(Run { verdict, ..finished(parsed, &done) })
    }

    /// Which error the search stopped at: TLC alone takes the last step again.
    async fn find_error(
        &self,
        session: &mut Session<'_>,
        states: &[Step],
        warnings: &mut Vec<String>,
    ) -> Result<Verdict, ToolError> {
        // A state and its successor, or a state whose successors cannot be computed.
        let from = &states[states.len().saturating_sub(2)..];
        let words: Vec<String> = from.iter().map(state_words).collect();
        let at = words.join(" -> ");
        let unknown = |why: &str| {
            Verdict::inconclusive(format!(
                "TLC's distributed mode stopped at an error, without saying which ({why}): {at}"
            ))
        };
        if from.is_empty() {
            return Ok(unknown("it printed no state"));
        }
        let plan = match last_step(session.request, from) {
            Ok(plan) => plan,
            Err(why) => return Ok(unknown(&why)),
        };
        let run = session.run(&plan).await?;
        Ok(match run.verdict {
            Verdict::Holds => unknown("TLC alone finds none in these states"),
            Verdict::Inconclusive { reason, .. } => unknown(&reason),
            // The specification itself was parsed before.
            Verdict::Invalid { violated, reason, .. } if violated.kind == ViolationKind::Parse => unknown(&reason),
            found @ (Verdict::Violated { .. } | Verdict::Invalid { .. }) => {
                warnings.push(format!(
                    "TLC's distributed mode does not report the behaviour that leads there, only its end: {at}"
                ));
                found
            }
        })
    }
}

/// What the output of the server says besides what TLC alone also says.
#[derive(Debug, Default, PartialEq)]
struct Messages {
    /// "The behavior up to this point is": all that it prints of an error.
    shows_error: bool,
    /// "Trying to limit max block size (to recover from transport failure)".
    sent_again: bool,
    /// "TLC worker connection lost", for each thread of a worker.
    lost_workers: usize,
}

impl Messages {
    fn read(stdout: &str) -> Self {
        let mut found = Self::default();
        for (code, _) in stdout.lines().filter_map(tlc_output::parse_frame_start) {
            match code {
                2121 => found.shows_error = true,
                7006 => found.lost_workers += 1,
                7007 => found.sent_again = true,
                _ => {}
            }
        }
        found
    }
}

const COUNT_FAILURE: &str = "TLC's server failed at its count of states, as it can if a worker registers while it ends";

/// Whether the server failed because it counted the states of a thread without any. That can happen at the end of a search, if a
/// worker registers or progress is reported just then. Its output then has no result.
fn failed_to_count_states(done: &ToolRun, parsed: &ParsedOutput) -> bool {
    let Some(Finding::Broke(words)) = &parsed.finding else { return false };
    // Java before version 14 does not say what is null.
    let is_count = words.contains("\"this.states\" is null") || !words.contains("Cannot ");
    words.contains("java.lang.NullPointerException")
        && is_count
        && matches!(done.ended.status, Status::Exited(_))
        && done.environment_error(Tool::Tlc).is_none()
}

/// The verdict of a search that showed no error in a state.
fn judge_search(
    done: &ToolRun,
    parsed: &ParsedOutput,
    messages: &Messages,
    cx: &ToolContext<'_>,
) -> Result<Verdict, ToolError> {
    let broke = |words: Option<&str>| match words {
        Some(words) => ToolError::Broke { tool: Tool::Tlc.name().to_owned(), what: words.to_owned() },
        None => done.crash_error(Tool::Tlc),
    };
    match judge("TLC", &done.ended, parsed, cx, broke) {
        // A worker keeps the fingerprints of states that it has sent. If a block of states is sent to it a second time,
        // it leaves out their successors, which the server never got.
        Ok(Verdict::Holds) if messages.sent_again => Ok(Verdict::inconclusive(
            "the connection to a worker broke in the middle of a call; TLC sends the states again, and can then leave \
             out some of their successors",
        )),
        Ok(verdict) => Ok(verdict),
        Err(error) => match done.environment_error(Tool::Tlc) {
            Some(trouble) => Err(trouble),
            None => Err(error),
        },
    }
}

/// The run that begins in each of these states and takes one step, with every invariant and the check for deadlock. The
/// constraints are kept, so that it takes no step that the search would not take.
fn last_step(request: &CheckRequest, states: &[Step]) -> Result<RunPlan, String> {
    let actions = Actions::list(request)?;
    let prefix = &actions.prefix;
    let any = |formulas: Vec<String>| formulas.join(" \\/ ");
    let is_state = |step: &Step| {
        let equal: Vec<String> = step.state.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        format!("({})", equal.join(" /\\ "))
    };
    let names: Vec<&str> = states.iter().take(1).flat_map(|step| step.state.keys()).map(String::as_str).collect();
    let model_values = match actions.model_values.as_slice() {
        [] => String::new(),
        values => format!("CONSTANTS {}\n", values.join(", ")),
    };
    let count = actions.disjuncts.actions.len();
    let steps: Vec<String> =
        (0..count).map(|index| format!("{prefix}Step{index} == {}\n", actions.formula(index))).collect();
    // After its step, a state gets one that changes nothing, or it would be a deadlock.
    let body = format!(
        "{model_values}VARIABLE {prefix}Taken\n\
         {prefix}Init == {prefix}Taken = FALSE /\\ ({})\n\
         {}{prefix}Step == {prefix}Taken = FALSE /\\ {prefix}Taken' = TRUE /\\ ({})\n\
         {prefix}Rest == {prefix}Taken = TRUE /\\ UNCHANGED <<{prefix}Taken, {}>>\n\
         {prefix}Next == {prefix}Step \\/ {prefix}Rest\n",
        any(states.iter().map(is_state).collect()),
        steps.concat(),
        any((0..count).map(|index| format!("{prefix}Step{index}")).collect()),
        names.join(", "),
    );
    let own = actions.model_values.iter().map(|value| (value.clone(), value.clone()));
    let cfg = Cfg {
        init: Some(format!("{prefix}Init")),
        next: Some(format!("{prefix}Next")),
        constants: request.cfg.constants.clone().into_iter().chain(own).collect(),
        invariants: request.cfg.invariants.clone(),
        constraints: request.cfg.constraints.clone(),
        check_deadlock: request.cfg.check_deadlock,
        ..Cfg::default()
    };
    let wrapper = Some(actions.module(&request.spec, &body));
    Ok(RunPlan { label: "last step".to_owned(), wrapper, ..plan::for_trace(&plan::safety(&cfg)) })
}

fn state_words(step: &Step) -> String {
    let values: Vec<String> = step.state.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    format!("[{}]", values.join(", "))
}

fn undecided(why: String) -> Run {
    Run { verdict: Verdict::inconclusive(why), parsed: ParsedOutput::default(), seconds: 0.0, workers: 1 }
}

fn finished(parsed: ParsedOutput, done: &ToolRun) -> Run {
    Run { verdict: Verdict::Holds, parsed, seconds: done.ended.wall.as_secs_f64(), workers: 1 }
}

#[async_trait]
impl Toolchain for DistributedToolchain {
    fn checker(&self) -> Checker {
        Checker::Tlc
    }

    async fn translate(&self, spec: &SpecText, cx: &ToolContext<'_>) -> Result<Translation, ToolError> {
        self.tools.translate(spec, cx).await
    }

    async fn parse(&self, spec: &SpecText, cx: &ToolContext<'_>) -> Result<ParseOutcome, ToolError> {
        self.tools.parse(spec, cx).await
    }

    async fn check(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<CheckReport, ToolError> {
        self.check_distributed(request, cx).await
    }

    async fn probe(
        &self,
        _request: &CheckRequest,
        _outcome: &CheckOutcome,
        _cx: &ToolContext<'_>,
    ) -> Result<Option<ProbeReport>, ToolError> {
        Ok(None)
    }

    async fn info(&self, cx: &ToolContext<'_>) -> Result<ToolchainInfo, ToolError> {
        self.tools.info(cx).await
    }
}
