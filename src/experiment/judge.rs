//! Which traces are judged, by whom, and the traces themselves.

use serde::Serialize;

use crate::journal::Sha;
use crate::monitor::synthetic::{MAX_CONSTRAINTS, MAX_ENTITIES, Shape, Synthetic, Trace};

/// What is varied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// Steps between the events of the constraint.
    Gap,
    /// Constraints on one trace.
    Constraints,
    /// Entities at each step, and with them propositions.
    Entities,
}

/// How involved a constraint is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Complexity {
    /// One event, and later another.
    Simple,
    /// A tree of alternatives, 4 levels deep.
    Complex,
}

/// Who says whether a trace keeps a constraint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// A model that gets constraint and trace.
    ZeroShot,
    /// The same with a trace that keeps such a constraint, and one that does not.
    FewShot,
    /// The same with the true propositions of each step.
    FewShotLabels,
    /// The monitor, with the propositions as a model finds them.
    Labeler,
    /// The monitor, with the propositions as they are.
    Monitor,
}

impl Dimension {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gap => "gap",
            Self::Constraints => "constraints",
            Self::Entities => "entities",
        }
    }
}

impl Complexity {
    /// Its name.
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

impl Way {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::ZeroShot, Self::FewShot, Self::FewShotLabels, Self::Labeler, Self::Monitor];

    /// Its name.
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
    /// What is varied.
    pub dimension: Dimension,
    /// How far.
    pub size: usize,
    /// How involved the constraints are.
    pub formulas: Complexity,
}

impl Setting {
    /// In words that stay: they are a part of what identifies a question.
    pub fn name(self) -> String {
        format!("{} {} {}", self.dimension.name(), self.size, self.formulas.name())
    }
}

/// The longest gap of the paper.
const GAP: usize = 1_000;
/// The longest trace that is asked for.
const LENGTH: usize = 10_000;
/// Steps between the events of constraints whose gap is not what is varied, and of those of examples.
const USUAL_GAP: usize = 10;
const EXAMPLE_GAP: usize = 3;
const EXAMPLE_LENGTH: usize = 16;

/// A size that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{flag} is {value}; it must be {wanted}")]
pub struct SizeError {
    /// The flag.
    pub flag: &'static str,
    /// What it was given.
    pub value: String,
    /// What it may be.
    pub wanted: String,
}

/// What is judged, and by whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgePlan {
    /// What the traces are drawn with.
    pub seed: u64,
    /// Traces of each setting.
    pub samples: u32,
    /// Gaps.
    pub gaps: Vec<usize>,
    /// Numbers of constraints.
    pub constraints: Vec<usize>,
    /// Numbers of entities.
    pub entities: Vec<usize>,
    /// Kinds of formulas.
    pub formulas: Vec<Complexity>,
    /// Steps of the traces of the last two; `None` takes those of the paper.
    pub length: Option<usize>,
    /// Who judges.
    pub ways: Vec<Way>,
    /// Steps that a labeler is shown at a time.
    pub label_steps: usize,
}

/// A trace with its constraints and their truth, and two more as examples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judging {
    /// The setting.
    pub setting: Setting,
    /// Which trace of the setting, from 0.
    pub number: u32,
    /// The trace that is judged.
    pub judged: Synthetic,
    /// A trace that keeps a constraint of the same kind, and one that does not.
    pub examples: [Synthetic; 2],
}

/// What one way said of one trace.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// Of each constraint, whether the trace keeps it; `None` where that could not be read.
    pub said: Vec<Option<bool>>,
    /// Of each constraint, whether the trace keeps it.
    pub truths: Vec<bool>,
}

impl JudgePlan {
    /// The settings in their order.
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

    /// Every trace that is judged, or which size cannot be. The same plan makes the same traces.
    pub fn traces(&self) -> Result<Vec<Judging>, SizeError> {
        within("--samples", self.samples as usize, 1, 10_000)?;
        within("--label-steps", self.label_steps, 1, LENGTH)?;
        self.sizes()?;
        let mut all = Vec::new();
        for setting in self.settings() {
            for number in 0..self.samples {
                all.push(self.judging(setting, number)?);
            }
        }
        Ok(all)
    }

    fn sizes(&self) -> Result<(), SizeError> {
        for (flag, sizes, most) in [
            ("--gaps", &self.gaps, GAP),
            ("--constraints", &self.constraints, MAX_CONSTRAINTS),
            ("--entities", &self.entities, MAX_ENTITIES),
        ] {
            sizes.iter().try_for_each(|size| within(flag, *size, 1, most))?;
        }
        self.length.map_or(Ok(()), |length| within("--length", length, 1, LENGTH))
    }

    fn judging(&self, setting: Setting, number: u32) -> Result<Judging, SizeError> {
        let seed = |what: &str| seed_of(self.seed, &format!("{what} {} {number}", setting.name()));
        let shape = setting.formulas.shape();
        // As many satisfied as not, and no telling by the number which.
        let first = seed_of(self.seed, &format!("first of {} {}", setting.name(), number / 2)).is_multiple_of(2);
        let satisfied = first == number.is_multiple_of(2);
        let sized = |truths: &[bool], entities: usize, length: usize| {
            let made = Synthetic::sized(shape, truths, entities, (length, USUAL_GAP), seed("trace"));
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
        let judged = match (setting.dimension, self.length) {
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
            made.expect("one constraint has room, and the entities were looked at")
        };
        let examples = [example(true, "kept example"), example(false, "broken example")];
        Ok(Judging { setting, number, judged, examples })
    }

    /// How many questions a trace takes in a way.
    pub fn questions(&self, way: Way, trace: &Trace) -> usize {
        match way {
            Way::Monitor => 0,
            Way::Labeler => trace.steps.len().div_ceil(self.label_steps),
            _ => 1,
        }
    }
}

fn counted(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

fn within(flag: &'static str, value: usize, least: usize, most: usize) -> Result<(), SizeError> {
    let fine = (least..=most).contains(&value);
    let wanted = format!("from {least} to {most}");
    if fine { Ok(()) } else { Err(SizeError { flag, value: value.to_string(), wanted }) }
}

/// A seed for one thing of an experiment; other things have seeds that have nothing to do with it.
pub(super) fn seed_of(seed: u64, what: &str) -> u64 {
    let name = Sha::of(format!("{seed} {what}")).to_string();
    u64::from_str_radix(&name[..16], 16).unwrap_or(seed)
}
