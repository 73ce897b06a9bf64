//! The plan of the judging experiment: settings, judges, and the traces that are judged. Sends nothing: the questions
//! are counted and checked before the first one is sent.

use serde::Serialize;

use tlaforge_journal::Sha;
use tlaforge_monitor::synthetic::{MAX_CONSTRAINTS, MAX_ENTITIES, Shape, Synthetic, Trace};

/// The size that a setting varies, while the others keep their defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// The number of steps between the events of the constraint.
    Gap,
    /// The number of constraints on one trace.
    Constraints,
    /// The number of entities at each step.
    Entities,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Complexity {
    /// A sequence of two events.
    Simple,
    /// A tree of alternatives of depth 4.
    Complex,
}

/// How it is decided whether a trace satisfies a constraint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum JudgeKind {
    /// A model gets the constraint and the trace.
    ZeroShot,
    /// The model also gets two examples: a trace that satisfies such a constraint, and one that violates it.
    FewShot,
    /// The model also gets the examples and the true propositions of each step.
    FewShotLabels,
    /// A monitor, with a model as its labeler.
    Labeler,
    /// A monitor, with exact labels.
    Monitor,
}

impl Dimension {
    pub fn name(self) -> &'static str {
        match self {
            Self::Gap => "gap",
            Self::Constraints => "constraints",
            Self::Entities => "entities",
        }
    }
}

impl Complexity {
    pub fn name(self) -> &'static str {
        match self {
            Self::Simple => "simple",
            Self::Complex => "complex",
        }
    }

    fn shape(self) -> Shape {
        match self {
            Self::Simple => Shape::Sequence,
            Self::Complex => Shape::Tree(4),
        }
    }
}

impl JudgeKind {
    pub const ALL: [Self; 5] = [Self::ZeroShot, Self::FewShot, Self::FewShotLabels, Self::Labeler, Self::Monitor];

    pub fn name(self) -> &'static str {
        match self {
            Self::ZeroShot => "zero-shot",
            Self::FewShot => "few-shot",
            Self::FewShotLabels => "few-shot-labels",
            Self::Labeler => "labeler",
            Self::Monitor => "monitor",
        }
    }
}

/// One point of the experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Setting {
    pub dimension: Dimension,
    pub size: usize,
    pub formulas: Complexity,
}

impl Setting {
    /// The name. It is a part of the keys of recordings, so it must not change.
    pub fn name(self) -> String {
        format!("{} {} {}", self.dimension.name(), self.size, self.formulas.name())
    }
}

/// The maximum gap, as in the paper.
const MAX_GAP: usize = 1_000;
/// In steps.
const MAX_LENGTH: usize = 10_000;
/// The gap of traces if another size is varied.
const DEFAULT_GAP: usize = 10;
/// In steps, and small, so that examples stay short.
const EXAMPLE_GAP: usize = 3;
/// In steps; longer if the constraint needs it.
const EXAMPLE_LENGTH: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{flag} is {value}; it must be {wanted}")]
pub struct SizeError {
    pub flag: &'static str,
    pub value: String,
    pub wanted: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgePlan {
    pub seed: u64,
    /// The number of traces for each setting.
    pub samples: u32,
    pub gaps: Vec<usize>,
    pub constraints: Vec<usize>,
    pub entities: Vec<usize>,
    pub formulas: Vec<Complexity>,
    /// The length of traces with varied constraints or entities; `None` takes that of the paper.
    pub length: Option<usize>,
    pub judges: Vec<JudgeKind>,
    /// The number of steps in one question to a labeler.
    pub label_steps: usize,
}

/// A trace with its constraints and their truth values, and two example traces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgeCase {
    pub setting: Setting,
    /// The number of the trace in its setting, from 0.
    pub number: u32,
    pub subject: Synthetic,
    /// A trace that satisfies a constraint of the same kind, and one that violates it.
    pub examples: [Synthetic; 2],
}

/// The verdicts of one judge on one trace.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeResult {
    /// For each constraint, whether the judge says that the trace satisfies it; `None` if unreadable.
    pub verdicts: Vec<Option<bool>>,
    /// For each constraint, whether the trace satisfies it.
    pub truths: Vec<bool>,
}

impl JudgePlan {
    /// The settings, in order and without repetitions.
    pub fn settings(&self) -> Vec<Setting> {
        let sizes = [
            (Dimension::Gap, &self.gaps),
            (Dimension::Constraints, &self.constraints),
            (Dimension::Entities, &self.entities),
        ];
        let mut settings: Vec<Setting> = Vec::new();
        for (dimension, sizes) in sizes {
            for formulas in &self.formulas {
                for size in sizes {
                    let setting = Setting { dimension, size: *size, formulas: *formulas };
                    if !settings.contains(&setting) {
                        settings.push(setting);
                    }
                }
            }
        }
        settings
    }

    /// All traces that are judged. The same plan makes the same traces.
    pub fn traces(&self) -> Result<Vec<JudgeCase>, SizeError> {
        check_range("--samples", self.samples as usize, 1, 10_000)?;
        check_range("--label-steps", self.label_steps, 1, MAX_LENGTH)?;
        self.check_sizes()?;
        let mut all = Vec::new();
        for setting in self.settings() {
            for number in 0..self.samples {
                all.push(self.make_case(setting, number)?);
            }
        }
        Ok(all)
    }

    fn check_sizes(&self) -> Result<(), SizeError> {
        for (flag, sizes, most) in [
            ("--gaps", &self.gaps, MAX_GAP),
            ("--constraints", &self.constraints, MAX_CONSTRAINTS),
            ("--entities", &self.entities, MAX_ENTITIES),
        ] {
            sizes.iter().try_for_each(|size| check_range(flag, *size, 1, most))?;
        }
        self.length.map_or(Ok(()), |length| check_range("--length", length, 1, MAX_LENGTH))
    }

    fn make_case(&self, setting: Setting, number: u32) -> Result<JudgeCase, SizeError> {
        // From names and not from a counter: more samples or another setting must not change the other traces.
        let seed = |what: &str| derive_seed(self.seed, &format!("{what} {} {number}", setting.name()));
        let shape = setting.formulas.shape();
        // Of each pair of traces one is satisfied; which one is random, so that numbers do not give it away.
        let first = derive_seed(self.seed, &format!("first of {} {}", setting.name(), number / 2)).is_multiple_of(2);
        let satisfied = first == number.is_multiple_of(2);
        let sized = |truths: &[bool], entities: usize, length: usize| {
            let made = Synthetic::sized(shape, truths, entities, (length, DEFAULT_GAP), seed("trace"));
            made.ok_or_else(|| SizeError {
                flag: "--length",
                value: length.to_string(),
                wanted: format!(
                    "at least {} for {} of the {} kind",
                    Synthetic::min_length(shape, truths.len()),
                    counted(truths.len(), "constraint"),
                    setting.formulas.name()
                ),
            })
        };
        let subject = match (setting.dimension, self.length) {
            (Dimension::Gap, _) => Synthetic::elasticity(shape, setting.size, satisfied, seed("trace")),
            (Dimension::Constraints, None) => Synthetic::constraints(shape, setting.size, seed("trace")),
            (Dimension::Constraints, Some(length)) => {
                let mut rng = fastrand::Rng::with_seed(seed("truths"));
                let truths: Vec<bool> = (0..setting.size).map(|_| rng.bool()).collect();
                sized(&truths, 1, length)?
            }
            (Dimension::Entities, None) => Synthetic::propositions(shape, setting.size, satisfied, seed("trace")),
            (Dimension::Entities, Some(length)) => sized(&[satisfied], setting.size, length)?,
        };
        let entities = if setting.dimension == Dimension::Entities { setting.size } else { 1 };
        let length = EXAMPLE_LENGTH.max(Synthetic::min_length(shape, 1));
        let example = |satisfied: bool, what: &str| {
            let made = Synthetic::sized(shape, &[satisfied], entities, (length, EXAMPLE_GAP), seed(what));
            made.expect("the trace is long enough, and the number of entities was checked")
        };
        let examples = [example(true, "kept example"), example(false, "broken example")];
        Ok(JudgeCase { setting, number, subject, examples })
    }

    /// The number of questions that a judge needs for a trace.
    pub fn question_count(&self, judge: JudgeKind, trace: &Trace) -> usize {
        match judge {
            JudgeKind::Monitor => 0,
            JudgeKind::Labeler => trace.steps.len().div_ceil(self.label_steps),
            _ => 1,
        }
    }
}

fn counted(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

fn check_range(flag: &'static str, value: usize, least: usize, most: usize) -> Result<(), SizeError> {
    let in_range = (least..=most).contains(&value);
    let wanted = format!("from {least} to {most}");
    if in_range { Ok(()) } else { Err(SizeError { flag, value: value.to_string(), wanted }) }
}

/// Derives an independent seed for one part of an experiment.
pub(super) fn derive_seed(seed: u64, what: &str) -> u64 {
    let name = Sha::digest(format!("{seed} {what}")).to_string();
    u64::from_str_radix(&name[..16], 16).unwrap_or(seed)
}
