//! Compares interventions: runs the same tasks with each of them. An episode itself is in `episode`.

use serde::Serialize;

use super::asker::{AskError, Asker};
use super::episode::{Episode, EpisodeRunner, EpisodeSettings, Method};
use super::estimate::{Estimate, as_f64, tokens_as_f64};
use super::judge_plan::derive_seed;
use super::truck_task::Task;

/// The episodes to run.
#[derive(Debug, Clone, PartialEq)]
pub struct InterventionPlan {
    pub seed: u64,
    /// The number of episodes for each method, each with its own task.
    pub episodes: u32,
    pub packages: usize,
    pub places: usize,
    pub areas: usize,
    pub methods: Vec<Method>,
    pub settings: EpisodeSettings,
}

impl InterventionPlan {
    /// The tasks, one for each episode; `Err` describes a size out of range.
    pub fn tasks(&self) -> Result<Vec<Task>, String> {
        let task = |i| {
            let seed = derive_seed(self.seed, &format!("truck {i}"));
            Task::random(seed, self.packages, self.places, self.areas)
        };
        (0..self.episodes).map(task).collect()
    }

    /// An upper bound: it assumes that every answer needs an intervention, and counts shared questions once per method.
    pub fn max_questions(&self) -> u64 {
        let (limit, samples) = (u64::from(self.settings.limit), u64::from(self.settings.samples));
        let ahead = self.settings.lookahead.map_or(0, |lookahead| u64::from(lookahead.futures));
        let per_answer = |method: &Method| match method {
            Method::None => 1,
            Method::Resample => samples * (1 + ahead),
            Method::Inject | Method::Switch => 2 * (1 + ahead),
        };
        u64::from(self.episodes) * limit * self.methods.iter().map(per_answer).sum::<u64>()
    }
}

/// The results of a method over all episodes. Estimates are per episode.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InterventionRow {
    pub method: Method,
    pub episodes: usize,
    pub violations: Option<Estimate>,
    /// The share of the rules that were broken.
    pub rules_broken: Option<Estimate>,
    /// The share of the packages that were delivered in time.
    pub in_time: Option<Estimate>,
    /// The share of the packages that were delivered.
    pub delivered: Option<Estimate>,
    /// Answers, not counting interventions.
    pub answers: Option<Estimate>,
    /// Calls, including those of interventions.
    pub calls: Option<Estimate>,
    /// `None` if unknown.
    pub tokens: Option<Estimate>,
    /// `None` if unknown.
    pub cost_usd: Option<Estimate>,
    /// The number of interventions in all episodes.
    pub interventions: usize,
    /// The number of impossible actions in all episodes.
    pub impossible: usize,
    /// The number of unreadable answers in all episodes.
    pub unreadable: usize,
    /// The broken rules, each with the number of episodes that broke it.
    pub broken: std::collections::BTreeMap<String, usize>,
    pub episode_results: Vec<Episode>,
}

/// Runs every task with each method. `on_episode` is called after each episode.
pub async fn compare_interventions(
    plan: &InterventionPlan,
    tasks: &[Task],
    asker: &Asker,
    on_episode: &(dyn Fn(Method, u32, &Episode) + Sync),
) -> Result<Vec<InterventionRow>, AskError> {
    let methods = &plan.methods;
    let numbered = (0u32..).zip(tasks);
    let all = numbered.flat_map(|(number, task)| methods.iter().map(move |method| (number, task, *method)));
    // Episodes of one task have the same questions until the first intervention; the asker sends each only once.
    let work = all.map(|(number, task, method)| async move {
        let episode = EpisodeRunner { asker, task, number, method, settings: plan.settings }.run().await?;
        on_episode(method, number, &episode);
        Ok((method, episode))
    });
    let done = asker.run_concurrently(work).await?;
    let episodes_of = |method: &Method| -> Vec<Episode> {
        done.iter().filter(|(m, _)| m == method).map(|(_, episode)| episode.clone()).collect()
    };
    Ok(methods.iter().map(|method| summarize(*method, &episodes_of(method))).collect())
}

fn summarize(method: Method, episodes: &[Episode]) -> InterventionRow {
    let values = |of: &dyn Fn(&Episode) -> f64| episodes.iter().map(of).collect::<Vec<f64>>();
    // Unknown as soon as it is unknown for one episode: the mean of the others would be about fewer episodes.
    let known_values = |of: &dyn Fn(&Episode) -> Option<f64>| -> Option<Vec<f64>> { episodes.iter().map(of).collect() };
    let sum = |of: &dyn Fn(&Episode) -> usize| episodes.iter().map(of).sum();
    let mut broken = std::collections::BTreeMap::new();
    for rule in episodes.iter().flat_map(|episode| &episode.broken) {
        *broken.entry(rule.clone()).or_insert(0) += 1;
    }
    InterventionRow {
        method,
        episodes: episodes.len(),
        violations: Estimate::of_values(&values(&|e| as_f64(e.violations))),
        rules_broken: Estimate::of_shares(&values(&|e| as_f64(e.broken.len()) / as_f64(e.rules))),
        in_time: Estimate::of_shares(&values(&|e| as_f64(e.in_time) / as_f64(e.packages))),
        delivered: Estimate::of_shares(&values(&|e| as_f64(e.delivered) / as_f64(e.packages))),
        answers: Estimate::of_values(&values(&|e| as_f64(e.answers))),
        calls: Estimate::of_values(&values(&|e| as_f64(e.costs.calls))),
        tokens: known_values(&|e| Some(tokens_as_f64(e.costs.tokens?))).and_then(|all| Estimate::of_values(&all)),
        cost_usd: known_values(&|e| e.costs.cost_usd).and_then(|all| Estimate::of_values(&all)),
        interventions: sum(&|e| e.interventions),
        impossible: sum(&|e| e.impossible),
        unreadable: sum(&|e| e.unreadable),
        broken,
        episode_results: episodes.to_vec(),
    }
}
