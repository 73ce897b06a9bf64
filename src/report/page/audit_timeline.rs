//! A rule of an audit over the states of the log: a bar with the verdict after each state, or a mark at each state at which
//! it was evaluated.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use super::audit_source::place;
use crate::monitor::{AuditReport, RobustnessCurve, RuleFinding, Timeline, Verdict};
use crate::report::counted;

/// Width of the charts in units; a longer log has several states to a unit.
const WIDTH: u64 = 1000;

/// How a verdict at a state is drawn: with a height as well as a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sign {
    /// A state at which a rule was evaluated and holds.
    Held,
    HoldsSoFar,
    Satisfied,
    Pending,
    /// A position that violates the rule, of a rule without a verdict at each state.
    Failing,
    Violated,
}

impl Sign {
    pub(super) const ALL: [Self; 6] =
        [Self::Held, Self::HoldsSoFar, Self::Pending, Self::Satisfied, Self::Violated, Self::Failing];

    fn new(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Satisfied => Self::Satisfied,
            Verdict::Violated => Self::Violated,
            Verdict::PresumablySatisfied => Self::HoldsSoFar,
            Verdict::PresumablyViolated => Self::Pending,
        }
    }

    pub(super) fn class(self) -> &'static str {
        match self {
            Self::HoldsSoFar => "so-far",
            Self::Satisfied | Self::Held => "satisfied",
            Self::Pending => "pending",
            Self::Failing | Self::Violated => "violated",
        }
    }

    pub(super) fn height(self) -> u64 {
        match self {
            Self::HoldsSoFar => 3,
            Self::Satisfied => 6,
            Self::Pending => 10,
            Self::Held => 8,
            Self::Failing | Self::Violated => 14,
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Held => "evaluated here, and holds",
            Self::HoldsSoFar => "holds so far",
            Self::Satisfied => "satisfied for good",
            Self::Pending => "pending: something is still owed",
            Self::Failing => "fails here",
            Self::Violated => "violated",
        }
    }
}

#[derive(Serialize)]
pub(super) struct Bar {
    x: u64,
    width: u64,
    height: u64,
    class: &'static str,
    words: String,
}

#[derive(Serialize)]
pub(super) struct Curve {
    paths: Vec<String>,
    /// Where the curve is zero, from the top.
    zero: String,
    words: String,
}

/// The states of a rule as runs with the same sign; both numbers are included.
pub(super) fn runs(timeline: &Timeline, finding: &RuleFinding) -> Vec<(u64, u64, Sign)> {
    if timeline.spans.is_empty() {
        let mut signs: BTreeMap<u64, Sign> = finding.evaluated_at.iter().map(|state| (*state, Sign::Held)).collect();
        signs.extend(finding.failing.iter().map(|state| (*state, Sign::Failing)));
        return signs.into_iter().map(|(state, sign)| (state, state, sign)).collect();
    }
    timeline.spans.iter().map(|span| (span.from, span.to, Sign::new(span.verdict))).collect()
}

pub(super) fn in_words(runs: &[(u64, u64, Sign)], finding: &RuleFinding, states: u64) -> String {
    const LISTED: usize = 6;
    if runs.first().is_none_or(|(.., sign)| matches!(sign, Sign::Failing | Sign::Held)) {
        let evaluated =
            finding.evaluated.map_or_else(String::new, |times| format!("evaluated {}; ", counted(times, "time")));
        let failing = match finding.failing_count {
            0 => "fails nowhere".to_owned(),
            count => format!("fails at {}", counted(count, "state")),
        };
        return format!("{evaluated}{failing}");
    }
    let span = |(from, to, sign): &(u64, u64, Sign)| match (from, to) {
        (0, to) if to + 1 == states => format!("{} throughout", sign.words()),
        (from, to) if from == to => format!("{} at {from}", sign.words()),
        (from, to) => format!("{} from {from} to {to}", sign.words()),
    };
    let mut words: Vec<String> = runs.iter().take(LISTED).map(span).collect();
    if runs.len() > LISTED {
        words.push(format!("{} more changes", runs.len() - LISTED));
    }
    words.join(", ")
}

/// States to units of a chart.
pub(super) struct Scale {
    pub states: u64,
}

impl Scale {
    /// A unit is one state of a short log.
    pub(super) fn width(&self) -> u64 {
        self.states.min(WIDTH)
    }

    fn unit(&self, state: u64) -> u64 {
        if self.states <= WIDTH {
            state
        } else {
            u64::try_from(u128::from(state) * u128::from(WIDTH) / u128::from(self.states)).unwrap_or(0)
        }
    }

    /// A rectangle for each run. Of several states in one unit the worst is shown.
    pub(super) fn bars(&self, runs: &[(u64, u64, Sign)]) -> Vec<Bar> {
        let mut worst: BTreeMap<u64, Sign> = BTreeMap::new();
        for (from, to, sign) in runs {
            for unit in self.unit(*from)..=self.unit(*to) {
                let known = worst.entry(unit).or_insert(*sign);
                *known = (*known).max(*sign);
            }
        }
        let mut bars: Vec<(u64, u64, Sign)> = Vec::new();
        for (unit, sign) in worst {
            match bars.last_mut().filter(|(from, width, last)| from + width == unit && *last == sign) {
                Some((_, width, _)) => *width += 1,
                None => bars.push((unit, 1, sign)),
            }
        }
        let state = |unit: u64| if self.states <= WIDTH { unit } else { unit * self.states / WIDTH };
        // Several states share a unit, and only the worst of them is known to have this verdict.
        let within = if self.states <= WIDTH { ": states" } else { " at least once within states" };
        let bar = |(x, width, sign): (u64, u64, Sign)| Bar {
            x,
            width,
            height: sign.height(),
            class: sign.class(),
            words: format!("{}{within} {} to {}", sign.words(), state(x), state(x + width) - 1),
        };
        bars.into_iter().map(bar).collect()
    }

    pub(super) fn curve(&self, curve: &RobustnessCurve, audited: &AuditReport) -> Curve {
        let values = || curve.points.iter().map(|(_, value)| *value);
        let (least, most) = (values().fold(0.0, f64::min), values().fold(0.0, f64::max));
        let height = (most - least).max(f64::MIN_POSITIVE);
        // Between 4 and 96, so that the line is not cut at the edges.
        let y = |value: f64| format!("{:.1}", 96.0 - (value - least) / height * 92.0);
        // The smallest value of a unit: a short violation must not disappear.
        let mut by_unit: BTreeMap<u64, f64> = BTreeMap::new();
        for (state, value) in &curve.points {
            let known = by_unit.entry(self.unit(*state)).or_insert(*value);
            *known = known.min(*value);
        }
        let mut lines: Vec<String> = Vec::new();
        let mut before = None;
        for (unit, value) in by_unit {
            let is_next = before.is_some_and(|before| before + 1 == unit);
            let level = y(value);
            match lines.last_mut().filter(|_| is_next) {
                // Writing to a string cannot fail.
                Some(path) => drop(write!(path, " H{unit} V{level} H{}", unit + 1)),
                None => lines.push(format!("M{unit} {level} H{}", unit + 1)),
            }
            before = Some(unit);
        }
        let lowest = curve.points.iter().min_by(|(_, a), (_, b)| a.total_cmp(b));
        let words = lowest.map_or_else(String::new, |(state, value)| {
            let (_, end) = curve.points.last().unwrap_or(&(0, 0.0));
            format!(
                "Robustness of {}: at least {}, at {}; at most {}; {} at the end. It holds above the line.",
                curve.predicate,
                number(*value),
                place(audited, *state),
                number(values().fold(f64::MIN, f64::max)),
                number(*end)
            )
        });
        Curve { paths: lines, zero: y(0.0), words }
    }
}

fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_state_of_a_unit_is_shown() {
        let scale = Scale { states: 10_000 };
        let bars = scale.bars(&[
            (0, 4_998, Sign::HoldsSoFar),
            (4_999, 4_999, Sign::Violated),
            (5_000, 9_999, Sign::Satisfied),
        ]);
        let shown: Vec<(u64, u64, &str)> = bars.iter().map(|bar| (bar.x, bar.width, bar.class)).collect();
        assert_eq!(shown, [(0, 499, "so-far"), (499, 1, "violated"), (500, 500, "satisfied")]);
    }
}
