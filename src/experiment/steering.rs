//! Interventions side by side: the same tasks under each of them.

use serde::Serialize;

use super::asking::{AskError, Asker};
use super::episode::{Driver, Episode, Method, Terms};
use super::estimate::{Estimate, real};
use super::judge::seed_of;
use super::trucks_task::Task;

/// Which episodes there are.
#[derive(Debug, Clone, PartialEq)]
pub struct SteerPlan {
    /// What the tasks are drawn with.
    pub seed: u64,
    /// Episodes for each method, each with a task of its own.
    pub episodes: u32,
    /// Packages of a task.
    pub packages: usize,
    /// Places of a task.
    pub places: usize,
    /// Areas of the truck.
    pub areas: usize,
    /// The methods.
    pub methods: Vec<Method>,
    /// What holds for every episode.
    pub terms: Terms,
}

impl SteerPlan {
    /// The tasks, one for each episode; `Err` says which size cannot be.
    pub fn tasks(&self) -> Result<Vec<Task>, String> {
        let task = |i| {
            let seed = seed_of(self.seed, &format!("truck {i}"));
            Task::random(seed, self.packages, self.places, self.areas)
        };
        (0..self.episodes).map(task).collect()
    }

    /// The most questions that it can come to.
    pub fn most_questions(&self) -> u64 {
        let (limit, samples) = (u64::from(self.terms.limit), u64::from(self.terms.samples));
        let ahead = self.terms.look.map_or(0, |look| u64::from(look.futures));
        let of = |method: &Method| match method {
            Method::None => 1,
            Method::Resample => samples * (1 + ahead),
            Method::Inject | Method::Switch => 2 * (1 + ahead),
        };
        u64::from(self.episodes) * limit * self.methods.iter().map(of).sum::<u64>()
    }
}

/// What a method came to over all episodes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SteerRow {
    /// The method.
    pub method: Method,
    /// Episodes.
    pub episodes: usize,
    /// Violations in an episode.
    pub violations: Option<Estimate>,
    /// The part of the rules that an episode broke.
    pub rules_broken: Option<Estimate>,
    /// The part of the packages that were delivered in time.
    pub in_time: Option<Estimate>,
    /// The part of the packages that were delivered.
    pub delivered: Option<Estimate>,
    /// Answers in an episode that were acted upon, or could not be.
    pub answers: Option<Estimate>,
    /// Calls in an episode, those of interventions included.
    pub calls: Option<Estimate>,
    /// Tokens in an episode; `None` where they are not known.
    pub tokens: Option<Estimate>,
    /// US dollars of an episode; `None` where they are not known.
    pub cost_usd: Option<Estimate>,
    /// Answers in all that were met.
    pub interventions: usize,
    /// Answers in all that named something that cannot be done.
    pub impossible: usize,
    /// Answers in all that named no action.
    pub unreadable: usize,
    /// The rules that were broken, and in how many episodes.
    pub broken: std::collections::BTreeMap<String, usize>,
    /// What was done in each episode, and what came of it.
    pub told: Vec<Episode>,
}

/// Drives through every task under each method; what one of them does shows in `each` as it ends.
pub async fn steer(
    plan: &SteerPlan,
    tasks: &[Task],
    asker: &Asker,
    each: &(dyn Fn(Method, u32, &Episode) + Sync),
) -> Result<Vec<SteerRow>, AskError> {
    let methods = &plan.methods;
    let numbered = (0u32..).zip(tasks);
    let all = numbered.flat_map(|(number, task)| methods.iter().map(move |method| (number, task, *method)));
    let work = all.map(|(number, task, method)| async move {
        let episode = Driver { asker, task, number, method, terms: plan.terms }.drive().await?;
        each(method, number, &episode);
        Ok((method, episode))
    });
    let done = asker.side_by_side(work).await?;
    let of = |method: &Method| -> Vec<Episode> {
        done.iter().filter(|(m, _)| m == method).map(|(_, episode)| episode.clone()).collect()
    };
    Ok(methods.iter().map(|method| row(*method, &of(method))).collect())
}

fn row(method: Method, episodes: &[Episode]) -> SteerRow {
    let all = |of: &dyn Fn(&Episode) -> f64| episodes.iter().map(of).collect::<Vec<f64>>();
    let known = |of: &dyn Fn(&Episode) -> Option<f64>| -> Option<Vec<f64>> { episodes.iter().map(of).collect() };
    let sum = |of: &dyn Fn(&Episode) -> usize| episodes.iter().map(of).sum();
    let mut broken = std::collections::BTreeMap::new();
    for rule in episodes.iter().flat_map(|episode| &episode.broken) {
        *broken.entry(rule.clone()).or_insert(0) += 1;
    }
    SteerRow {
        method,
        episodes: episodes.len(),
        violations: Estimate::of(&all(&|e| real(e.violations))),
        rules_broken: Estimate::of_shares(&all(&|e| real(e.broken.len()) / real(e.rules))),
        in_time: Estimate::of_shares(&all(&|e| real(e.in_time) / real(e.packages))),
        delivered: Estimate::of_shares(&all(&|e| real(e.delivered) / real(e.packages))),
        answers: Estimate::of(&all(&|e| real(e.answers))),
        calls: Estimate::of(&all(&|e| real(e.spent.calls))),
        tokens: known(&|e| Some(tokens(e.spent.tokens?))).and_then(|all| Estimate::of(&all)),
        cost_usd: known(&|e| e.spent.cost_usd).and_then(|all| Estimate::of(&all)),
        interventions: sum(&|e| e.interventions),
        impossible: sum(&|e| e.impossible),
        unreadable: sum(&|e| e.unreadable),
        broken,
        told: episodes.to_vec(),
    }
}

/// A count of tokens as a number.
pub(super) fn tokens(count: u64) -> f64 {
    usize::try_from(count).map_or(f64::from(u32::MAX), real)
}
