//! The command `scale`: the flags of a fleet and its runs, and the tables of the simulation.

use clap::Args as ClapArgs;

use tlaforge::cli::toolkit::print_result;
use tlaforge::exit::Exit;

use super::scale::{
    Deployment, Resource, Workload, compare_doublings, doublings_table, grow, growth_table, results_table,
};

/// Simulates runs of `forge` on a fleet: their time, their cost, and which resource limits them.
#[derive(Debug, ClapArgs)]
pub(super) struct ScaleArgs {
    /// Numbers of runs to simulate.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', default_value = "10,100,1000,10000,100000",
        value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub runs: Vec<u32>,
    /// Hours in which the largest number of runs shall end; shows what to double for that, one resource at a time.
    #[arg(long, value_name = "HOURS", value_parser = positive)]
    pub within: Option<f64>,
    /// Mean number of runs that arrive per hour [default: all arrive at once].
    #[arg(long, value_name = "N", value_parser = positive)]
    pub arrivals_per_hour: Option<f64>,
    /// Factor for the tokens of each request: larger sets of documents.
    #[arg(long, value_name = "N", default_value_t = 1.0, value_parser = positive)]
    pub prompt_factor: f64,
    /// Factor for the tokens of each answer: a model that thinks writes more than its answer.
    #[arg(long, value_name = "N", default_value_t = 1.0, value_parser = positive)]
    pub answer_factor: f64,
    /// Factor for the seconds of each check: larger state spaces.
    #[arg(long, value_name = "N", default_value_t = 1.0, value_parser = positive)]
    pub check_factor: f64,
    /// Seed of the runs that are drawn.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Number of workers.
    #[arg(long, value_name = "N", default_value_t = Deployment::default().workers,
        value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub workers: u32,
    /// Number of runs that a worker takes at a time.
    #[arg(long, value_name = "N", default_value_t = Deployment::default().capacity,
        value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub capacity: u32,
    /// Number of cores of a worker.
    #[arg(long, value_name = "N", default_value_t = Deployment::default().cores,
        value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub cores: u32,
    /// Requests per minute of the provider.
    #[arg(long, value_name = "N", default_value_t = Deployment::default().requests_per_minute, value_parser = positive)]
    pub requests_per_minute: f64,
    /// Input tokens per minute of the provider.
    #[arg(long, value_name = "N", default_value_t = Deployment::default().input_tokens_per_minute,
        value_parser = positive)]
    pub input_tokens_per_minute: f64,
    /// Output tokens per minute of the provider.
    #[arg(long, value_name = "N", default_value_t = Deployment::default().output_tokens_per_minute,
        value_parser = positive)]
    pub output_tokens_per_minute: f64,
    /// Number of prefixes of the object store.
    #[arg(long, value_name = "N", default_value_t = Deployment::default().store_prefixes,
        value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub store_prefixes: u32,
    /// Number of nodes of the engine.
    #[arg(long, value_name = "N", default_value_t = Deployment::default().engine_nodes,
        value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub engine_nodes: u32,
}

/// The exponents are small enough that no time overflows.
fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (1e-6..=1e12).contains(number));
    number.ok_or_else(|| "must be a number from 0.000001 to 1000000000000".to_owned())
}

/// Prints the tables.
pub(super) fn scale(args: &ScaleArgs) -> Exit {
    let fleet = Deployment {
        workers: args.workers,
        capacity: args.capacity,
        cores: args.cores,
        requests_per_minute: args.requests_per_minute,
        input_tokens_per_minute: args.input_tokens_per_minute,
        output_tokens_per_minute: args.output_tokens_per_minute,
        store_prefixes: args.store_prefixes,
        engine_nodes: args.engine_nodes,
        ..Deployment::default()
    };
    let workload = Workload {
        seed: args.seed,
        arrivals_per_hour: args.arrivals_per_hour,
        prompt_factor: args.prompt_factor,
        answer_factor: args.answer_factor,
        check_factor: args.check_factor,
        ..Workload::default()
    };
    let doublings: Vec<_> = args.runs.iter().map(|runs| compare_doublings(&fleet, &workload, *runs as usize)).collect();
    let limits =
        Resource::ALL.map(|resource| format!("{} {}", resource.name(), resource.describe(fleet.limit(resource))));
    print_result(&format!("Seed {}; limits:\n{}\n", args.seed, limits.join(", ")));
    print_result(&format!("\nTime, cost, and share of each limit that is used\n\n{}", results_table(&doublings)));
    print_result(&format!("\nTime with twice as much of one resource\n\n{}", doublings_table(&doublings)));
    if let (Some(hours), Some(runs)) = (args.within, args.runs.iter().max()) {
        let steps = grow(&fleet, &workload, *runs as usize, hours * 3600.0);
        print_result(&format!("\nWhat to double until {runs} runs end within {hours} h\n\n{}", growth_table(&steps)));
    }
    Exit::Ok
}
