//! The results as tables of text.

use std::fmt::Write as _;

use super::deployment::Resource;
use super::plan::{Doubling, GrowthStep};

/// How long, what it costs, and the share of each resource that is used.
pub fn results_table(doublings: &[Doubling]) -> String {
    let mut text = format!("{:>7} {:>8} {:>8} {:>8} {:>7}", "runs", "time", "per run", "model $", "fleet $");
    for resource in Resource::ALL {
        let _ = write!(text, " {:>8}", resource.name());
    }
    text.push_str("  limit\n");
    for doubling in doublings {
        let outcome = &doubling.outcome;
        let _ = write!(
            text,
            "{:>7} {:>8} {:>8} {:>8.0} {:>7.1}",
            outcome.runs,
            duration(outcome.seconds),
            duration(outcome.seconds_per_run),
            outcome.model_usd,
            outcome.fleet_usd,
        );
        for used in outcome.used {
            let _ = write!(text, " {:>7.1}%", used * 100.0);
        }
        let limit = doubling.limit().map_or("none", Resource::name);
        let _ = writeln!(text, "  {limit}");
    }
    text
}

/// The time with each resource doubled.
pub fn doublings_table(doublings: &[Doubling]) -> String {
    let mut text = format!("{:>7} {:>8}", "runs", "time");
    for resource in Resource::ALL {
        let _ = write!(text, " {:>8}", resource.name());
    }
    text.push('\n');
    for doubling in doublings {
        let _ = write!(text, "{:>7} {:>8}", doubling.outcome.runs, duration(doubling.outcome.seconds));
        for doubled in &doubling.doubled {
            let _ = write!(text, " {:>8}", duration(doubled.seconds));
        }
        text.push('\n');
    }
    text
}

/// What is doubled one after the other, and the time with it.
pub fn growth_table(steps: &[GrowthStep]) -> String {
    let mut text = format!("{:>8} {:>12} {:>9} {:>9}\n", "doubled", "to", "time", "fleet $");
    for step in steps {
        let (doubled, limit) = step
            .doubled
            .map_or(("-", "-".to_owned()), |resource| (resource.name(), resource.describe(step.fleet.limit(resource))));
        let time = duration(step.outcome.seconds);
        let _ = writeln!(text, "{doubled:>8} {limit:>12} {time:>9} {:>9.0}", step.outcome.fleet_usd);
    }
    text
}

/// Two units at most: `41 s`, `12.3 min`, `5.1 h`, `2.4 d`.
fn duration(seconds: f64) -> String {
    match seconds {
        _ if seconds < 120.0 => format!("{seconds:.0} s"),
        _ if seconds < 2.0 * 3600.0 => format!("{:.1} min", seconds / 60.0),
        _ if seconds < 2.0 * 86_400.0 => format!("{:.1} h", seconds / 3600.0),
        _ => format!("{:.1} d", seconds / 86_400.0),
    }
}
