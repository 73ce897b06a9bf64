//! What a fleet has: workers, model provider, object store and engine, each with its limit.

/// One limit of a [`Deployment`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resource {
    /// Requests per minute of the model provider.
    Requests,
    /// Input tokens per minute of the model provider.
    InputTokens,
    /// Output tokens per minute of the model provider.
    OutputTokens,
    /// Runs that the workers hold at a time.
    Slots,
    /// Processor cores of the workers, which check.
    Cores,
    /// Writes per second of the object store.
    StoreWrites,
    /// Durable steps per second of the engine.
    EngineSteps,
    /// Runs that the engine keeps open at a time.
    OpenRuns,
}

impl Resource {
    pub const ALL: [Self; 8] = [
        Self::Requests,
        Self::InputTokens,
        Self::OutputTokens,
        Self::Slots,
        Self::Cores,
        Self::StoreWrites,
        Self::EngineSteps,
        Self::OpenRuns,
    ];

    /// The heading of its column, at most 8 characters.
    pub fn name(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::InputTokens => "input",
            Self::OutputTokens => "output",
            Self::Slots => "slots",
            Self::Cores => "cores",
            Self::StoreWrites => "store",
            Self::EngineSteps => "steps",
            Self::OpenRuns => "open",
        }
    }

    /// A limit of this resource with its unit; providers state theirs per minute.
    pub fn describe(self, limit: f64) -> String {
        match self {
            Self::Requests | Self::InputTokens | Self::OutputTokens => format!("{:.0}/min", limit * 60.0),
            Self::StoreWrites | Self::EngineSteps => format!("{limit:.0}/s"),
            Self::Slots | Self::Cores | Self::OpenRuns => format!("{limit:.0}"),
        }
    }
}

/// A fleet. All limits are positive; an infinite one never limits.
#[derive(Debug, Clone, PartialEq)]
pub struct Deployment {
    pub workers: u32,
    /// Runs at a time on each worker.
    pub capacity: u32,
    /// Cores of each worker. A check uses one, on the worker of its run.
    pub cores: u32,
    pub requests_per_minute: f64,
    pub input_tokens_per_minute: f64,
    pub output_tokens_per_minute: f64,
    /// How many seconds of its limits the provider lets pass at once after a pause.
    pub burst_seconds: f64,
    /// Prefixes of the object store, each with its own limit.
    pub store_prefixes: u32,
    /// Writes per second to one prefix.
    pub store_writes_per_second: f64,
    /// Seconds that one write takes; the writes of a run are one after the other.
    pub store_write_seconds: f64,
    pub engine_nodes: u32,
    /// Durable steps per second of one node of the engine.
    pub engine_steps_per_second: f64,
    /// Runs that one node of the engine keeps open.
    pub engine_open_runs: f64,
    /// US dollars for an hour of one core, of workers and engine.
    pub core_hour_usd: f64,
    /// US dollars for a million writes to the object store.
    pub million_writes_usd: f64,
    /// US dollars for a million input tokens, and for a million output tokens.
    pub million_tokens_usd: (f64, f64),
}

impl Default for Deployment {
    /// A small fleet with the highest published limits of one provider. `docs/src/scale.md` has the source of each number.
    fn default() -> Self {
        Self {
            workers: 4,
            capacity: 16,
            cores: 8,
            requests_per_minute: 4_000.0,
            input_tokens_per_minute: 2_000_000.0,
            output_tokens_per_minute: 400_000.0,
            burst_seconds: 60.0,
            store_prefixes: 1,
            store_writes_per_second: 3_500.0,
            store_write_seconds: 0.03,
            engine_nodes: 1,
            engine_steps_per_second: 1_650.0,
            engine_open_runs: 1_000.0,
            core_hour_usd: 0.05,
            million_writes_usd: 5.0,
            million_tokens_usd: (3.0, 15.0),
        }
    }
}

/// Cores of a node of the engine, as its throughput was measured.
const ENGINE_CORES: f64 = 2.0;

impl Deployment {
    /// The limit of a resource: per second for rates, otherwise a number.
    pub fn limit(&self, resource: Resource) -> f64 {
        let (workers, engine_nodes) = (f64::from(self.workers), f64::from(self.engine_nodes));
        match resource {
            Resource::Requests => self.requests_per_minute / 60.0,
            Resource::InputTokens => self.input_tokens_per_minute / 60.0,
            Resource::OutputTokens => self.output_tokens_per_minute / 60.0,
            Resource::Slots => workers * f64::from(self.capacity),
            Resource::Cores => workers * f64::from(self.cores),
            Resource::StoreWrites => f64::from(self.store_prefixes) * self.store_writes_per_second,
            Resource::EngineSteps => engine_nodes * self.engine_steps_per_second,
            Resource::OpenRuns => engine_nodes * self.engine_open_runs,
        }
    }

    /// The same fleet with twice as much of one resource.
    #[must_use]
    pub fn doubled(&self, resource: Resource) -> Self {
        let mut fleet = self.clone();
        match resource {
            Resource::Requests => fleet.requests_per_minute *= 2.0,
            Resource::InputTokens => fleet.input_tokens_per_minute *= 2.0,
            Resource::OutputTokens => fleet.output_tokens_per_minute *= 2.0,
            Resource::Slots => fleet.capacity *= 2,
            Resource::Cores => fleet.cores *= 2,
            Resource::StoreWrites => fleet.store_prefixes *= 2,
            Resource::EngineSteps => fleet.engine_steps_per_second *= 2.0,
            Resource::OpenRuns => fleet.engine_open_runs *= 2.0,
        }
        fleet
    }

    /// US dollars for an hour of all machines.
    pub(super) fn machines_usd_per_hour(&self) -> f64 {
        (self.limit(Resource::Cores) + f64::from(self.engine_nodes) * ENGINE_CORES) * self.core_hour_usd
    }
}
