//! Steps through a specification: a child of our own program keeps the states and answers one question at a time. `explore` shows the
//! answers, and `check --simulate` takes violations from random walks.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tlaforge_process::Cancel;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};

use super::ToolContext;
use super::child_task::with_length;
use super::core_program::{ASSUMPTION_PREFIX, Source};
use super::explanation::{ExplanationPlan, FalseConjunct};

/// The start of the marker's value if the child steps through a specification.
pub(super) const PREFIX: &str = "steps:";

/// The start of a line with an answer. What the specification prints cannot begin so: strings are printed in quotation marks.
pub(super) const ANSWER_PREFIX: &str = "tlaforge-answer:";

/// A task that the child reads first; questions follow on standard input.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Task {
    pub(super) source: Source,
}

/// A question about states that the child knows, which have numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Question {
    Initial,
    Steps {
        state: usize,
    },
    /// The values of operators without parameters.
    Values {
        state: usize,
        names: Vec<String>,
    },
    /// A shortest path to a state in which the operator `name` is TRUE. The search ends after `max_states` states.
    Find {
        state: usize,
        name: String,
        max_states: usize,
    },
    Walk(WalkRequest),
}

/// Random walks from initial states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WalkRequest {
    /// The number of the first walk; each has random numbers of its own.
    pub first: u64,
    pub count: u64,
    /// The largest number of steps of a walk.
    pub depth: u64,
    pub seed: u64,
    /// Whether a state without a step is a violation.
    pub deadlock: bool,
}

/// A state with its number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SteppedState {
    pub number: usize,
    /// The variables in the order of the specification, with their values as TLA+ text.
    pub values: Vec<(String, String)>,
    /// The invariants that are false there.
    pub violated: Vec<String>,
    /// The invariants that cannot be evaluated there, and why.
    pub not_evaluated: Vec<(String, String)>,
}

/// A step that is possible.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PossibleStep {
    /// The action; empty if the next-state relation is no disjunction of definitions.
    pub action: String,
    pub arguments: Vec<String>,
    pub to: SteppedState,
}

/// An action that is not enabled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreventedStep {
    pub action: String,
    pub arguments: Vec<String>,
    /// The first conjunct that is false.
    pub conjunct: Option<FalseConjunct>,
}

/// What can happen in a state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PossibleSteps {
    pub steps: Vec<PossibleStep>,
    pub prevented: Vec<PreventedStep>,
    /// Actions that could not be evaluated, and why.
    pub failed: Vec<(String, String)>,
}

/// The result of a search for a state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FoundPath {
    /// The steps to the first such state, none if it is the state itself.
    Path(Vec<PossibleStep>),
    /// All reachable states were looked at.
    Nowhere {
        states: usize,
    },
    Undecided {
        why: String,
    },
}

/// What random walks met.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WalkReport {
    pub walks: u64,
    pub steps: u64,
    /// How often each action was taken.
    pub taken: BTreeMap<String, u64>,
    /// The first violation, with a path to it.
    pub violation: Option<WalkViolation>,
    /// The first evaluation that failed.
    pub failed: Option<WalkFailure>,
}

/// An evaluation that failed in a walk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WalkFailure {
    /// The action, or an invariant.
    pub what: String,
    pub why: String,
    /// The number of the walk.
    pub walk: u64,
    pub start: SteppedState,
    /// The path to the state in which it failed.
    pub path: Vec<PossibleStep>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WalkViolation {
    /// The number of the walk.
    pub walk: u64,
    pub what: WalkViolationKind,
    pub start: SteppedState,
    pub path: Vec<PossibleStep>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum WalkViolationKind {
    Invariant(String),
    Deadlock,
}

/// A child that steps through a specification. It ends when this is dropped.
///
/// Its answers ignore `ACTION_CONSTRAINT`, `VIEW` and `SYMMETRY`, and `CONSTRAINT` unless it was started to keep it: then a walk ends at a
/// state that violates one.
#[derive(Debug)]
pub struct Stepper {
    child: Child,
    input: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
    deadline: Duration,
    cancel: Cancel,
    /// Why the child was ended, if it was.
    ended: Option<String>,
    /// Says what a message about the generated module is about.
    plan: ExplanationPlan,
}

impl Stepper {
    /// Starts the child, which compiles the specification first.
    pub(super) async fn start(
        mut command: tokio::process::Command,
        source: Source,
        cx: &ToolContext<'_>,
        plan: ExplanationPlan,
    ) -> Result<Self, String> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        // Ctrl-C is for the parent, which ends the child.
        command.process_group(0);
        let mut child = command.spawn().map_err(|e| format!("cannot start the embedded checker: {e}"))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the embedded checker has no pipes".to_owned());
        };
        let mut stepper = Self {
            child,
            input,
            answers: BufReader::new(output).lines(),
            deadline: cx.limits.check,
            cancel: cx.cancel.clone(),
            ended: None,
            plan,
        };
        let task = serde_json::to_vec(&Task { source }).map_err(|e| e.to_string())?;
        stepper.send(&task).await?;
        Ok(stepper)
    }

    /// The initial states.
    ///
    /// # Errors
    /// Why the specification, or its initial predicate, cannot be evaluated.
    pub async fn initial_states(&mut self) -> Result<Vec<SteppedState>, String> {
        self.ask(&Question::Initial).await
    }

    /// What can happen in a state that an earlier answer named.
    ///
    /// # Errors
    /// The child has ended, or did not answer in time.
    pub async fn steps(&mut self, state: usize) -> Result<PossibleSteps, String> {
        self.ask(&Question::Steps { state }).await
    }

    /// The values of operators without parameters in a state, each as text or as the reason why it has none.
    ///
    /// # Errors
    /// The child has ended, or did not answer in time.
    pub async fn values(&mut self, state: usize, names: Vec<String>) -> Result<Vec<Result<String, String>>, String> {
        let values: Vec<Result<String, String>> = self.ask(&Question::Values { state, names }).await?;
        Ok(values.into_iter().map(|value| value.map_err(|why| self.plan.readable(&why))).collect())
    }

    /// A shortest path from a state to one in which the operator `name` is TRUE. At most `max_states` states are looked at.
    ///
    /// # Errors
    /// The child has ended, or did not answer in time.
    pub async fn find(&mut self, state: usize, name: &str, max_states: usize) -> Result<FoundPath, String> {
        self.ask(&Question::Find { state, name: name.to_owned(), max_states }).await
    }

    /// Random walks.
    ///
    /// # Errors
    /// The child has ended, did not answer in time, or cannot evaluate the initial predicate.
    pub async fn walk(&mut self, request: WalkRequest) -> Result<WalkReport, String> {
        self.ask(&Question::Walk(request)).await
    }

    async fn send(&mut self, bytes: &[u8]) -> Result<(), String> {
        let sent = async {
            self.input.write_all(&with_length(bytes)).await?;
            self.input.flush().await
        };
        match sent.await {
            Ok(()) => Ok(()),
            Err(_) => Err(self.why_ended().await),
        }
    }

    async fn ask<A: DeserializeOwned>(&mut self, question: &Question) -> Result<A, String> {
        if let Some(why) = &self.ended {
            return Err(format!("the exploration has ended: {why}"));
        }
        let bytes = serde_json::to_vec(question).map_err(|e| e.to_string())?;
        self.send(&bytes).await?;
        let answer = async {
            loop {
                match self.answers.next_line().await {
                    Ok(Some(line)) => {
                        if let Some(answer) = line.strip_prefix(ANSWER_PREFIX) {
                            return Some(answer.to_owned());
                        }
                    }
                    Ok(None) | Err(_) => return None,
                }
            }
        };
        let answered = tokio::select! {
            answered = tokio::time::timeout(self.deadline, answer) => answered.map_err(|_| {
                format!("the embedded checker did not answer within {} s", self.deadline.as_secs())
            }),
            () = self.cancel.cancelled() => Err("interrupted".to_owned()),
        };
        match answered {
            Err(why) => {
                // Its later answer would be taken for that to the next question.
                let _ = self.child.start_kill();
                self.ended = Some(why.clone());
                Err(why)
            }
            Ok(None) => Err(self.why_ended().await),
            Ok(Some(answer)) => {
                let answer = serde_json::from_str::<Result<A, String>>(&answer).map_err(|e| e.to_string()).flatten();
                answer.map_err(|why| self.plan.readable(&why))
            }
        }
    }

    /// Why the child has ended: its last line on standard error.
    async fn why_ended(&mut self) -> String {
        let mut text = String::new();
        if let Some(errors) = self.child.stderr.take() {
            let mut lines = BufReader::new(errors).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                if !line.trim().is_empty() {
                    text = line;
                }
            }
        }
        let status = self.child.wait().await.ok().and_then(|status| status.code());
        if let Some((_, position)) = text.split_once(ASSUMPTION_PREFIX) {
            return format!("the assumption at {} is false", position.trim_end_matches('"'));
        }
        match status {
            Some(1) if !text.is_empty() => text,
            _ => "the embedded checker ran out of stack or memory, or crashed".to_owned(),
        }
    }
}
