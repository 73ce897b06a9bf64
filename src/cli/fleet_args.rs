//! The arguments of `tlaforge fleet`.

use std::str::FromStr;

use clap::{Args as ClapArgs, Subcommand};

use super::format::{Format, value_names};

#[derive(Debug, ClapArgs)]
pub(super) struct FleetArgs {
    #[command(subcommand)]
    pub command: FleetCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum FleetCommand {
    /// Show the runs that wait, work or ended within the last day, those in trouble first; the jobs by service; for each key of a
    /// provider its limits and what was used of them; and the workers by version.
    Status(FleetStatusArgs),
    /// Show or change the limits that all runs with one key of a provider share. A change takes effect at once, also for runs
    /// under way. It also ends a wait for the quota of the provider.
    Limits(FleetLimitsArgs),
}

#[derive(Debug, ClapArgs)]
pub(super) struct FleetStatusArgs {
    #[command(flatten)]
    pub engine: FleetEngine,
    /// List all runs [default: the first 20].
    #[arg(long)]
    pub all: bool,
}

#[derive(Debug, ClapArgs)]
pub(super) struct FleetEngine {
    /// Restate server: the address of its admin API, such as http://127.0.0.1:9070.
    #[expect(clippy::doc_markdown, reason = "the text of --help, which shows Markdown as it is")]
    #[arg(long, value_name = "URL")]
    pub engine: String,
    /// Output format.
    #[arg(long, value_enum, default_value = "text", hide_possible_values = true, value_name = value_names::<Format>())]
    pub format: Format,
}

#[derive(Debug, ClapArgs)]
pub(super) struct FleetLimitsArgs {
    #[command(flatten)]
    pub engine: FleetEngine,
    /// Name of the key, as `tlaforge fleet status` shows it.
    #[arg(long, value_name = "NAME")]
    pub key: String,
    /// Maximum cost of all requests together in US dollars, including what they have cost before; `none` for no limit.
    #[arg(long, value_name = "USD|none", value_parser = parse_cost, allow_negative_numbers = true)]
    pub max_cost: Option<LimitValue<f64>>,
    /// Maximum number of requests in any minute; `none` for no limit.
    #[arg(long, value_name = "N|none", value_parser = parse_rate::<u32>)]
    pub requests_per_minute: Option<LimitValue<u32>>,
    /// Maximum number of tokens of the requests of any minute, input and output; `none` for no limit.
    #[arg(long, value_name = "N|none", value_parser = parse_rate::<u64>)]
    pub tokens_per_minute: Option<LimitValue<u64>>,
    /// Send requests again after a quota error of the provider, without changing a limit.
    #[arg(long)]
    pub resume: bool,
}

/// A limit, or that there is none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum LimitValue<T> {
    None,
    At(T),
}

fn parse_cost(text: &str) -> Result<LimitValue<f64>, String> {
    if text == "none" {
        return Ok(LimitValue::None);
    }
    let cost = text.parse().ok().filter(|cost: &f64| cost.is_finite() && *cost >= 0.0);
    cost.map(LimitValue::At).ok_or_else(|| "must be a number of US dollars from 0, or none".to_owned())
}

fn parse_rate<T: FromStr + PartialOrd + From<u8>>(text: &str) -> Result<LimitValue<T>, String> {
    if text == "none" {
        return Ok(LimitValue::None);
    }
    let rate = text.parse().ok().filter(|rate| *rate >= T::from(1));
    rate.map(LimitValue::At).ok_or_else(|| "must be a whole number from 1, or none".to_owned())
}
