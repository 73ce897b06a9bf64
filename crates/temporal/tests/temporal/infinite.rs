//! The search for fair behaviours against a naive one, on random graphs, formulas and fairness conditions.
//!
//! The oracle uses that the formulas have neither "next" nor "until". On a tail that takes exactly the edges of a
//! set again and again, the truth of a formula at a step depends on that step alone. So it tries every
//! strongly connected set of edges as the tail, and goes backwards from there, edge by edge.

use std::collections::{BTreeSet, HashMap};
use std::convert::Infallible;

use tlaforge_temporal::infinite::{Fairness, Formula, Graph, find_behaviour};

const ATOMS: usize = 4;
/// The atom that says "enabled"; it depends on the first node of a step alone.
const ENABLED: usize = 3;

struct Random {
    nodes: usize,
    initial: Vec<usize>,
    /// From, to, the values of the atoms.
    edges: Vec<(usize, usize, [bool; ATOMS])>,
}

impl Graph for Random {
    type Error = Infallible;

    fn initial(&self) -> Vec<usize> {
        self.initial.clone()
    }

    fn successors(&mut self, node: usize) -> Result<Vec<usize>, Infallible> {
        Ok(self.edges.iter().filter(|(from, ..)| *from == node).map(|(_, to, _)| *to).collect())
    }

    fn holds(&mut self, atom: usize, from: usize, to: usize) -> Result<bool, Infallible> {
        if atom == ENABLED {
            return Ok(self.is_enabled(from));
        }
        Ok(self.edges.iter().any(|edge| (edge.0, edge.1) == (from, to) && edge.2[atom]))
    }
}

impl Random {
    fn new(random: &mut fastrand::Rng) -> Self {
        let nodes = random.usize(1..=4);
        let mut edges = Vec::new();
        let enabled: Vec<bool> = (0..nodes).map(|_| random.bool()).collect();
        for (from, is_enabled) in enabled.into_iter().enumerate() {
            for to in 0..nodes {
                if edges.len() < 9 && random.usize(0..5) < 2 {
                    edges.push((from, to, [random.bool(), random.bool(), random.usize(0..3) == 0, is_enabled]));
                }
            }
        }
        let initial = (0..nodes).filter(|node| *node == 0 || random.usize(0..4) == 0).collect();
        Self { nodes, initial, edges }
    }

    /// A node without an edge is in no behaviour.
    fn is_enabled(&self, node: usize) -> bool {
        self.edges.iter().any(|edge| edge.0 == node && edge.2[ENABLED])
    }
}

fn random_formula(random: &mut fastrand::Rng, depth: usize) -> Formula {
    let choice = if depth == 0 { random.usize(0..2) } else { random.usize(0..12) };
    let two = |random: &mut fastrand::Rng| (0..2).map(|_| random_formula(random, depth - 1)).collect();
    match choice {
        0 if random.usize(0..8) == 0 => Formula::Truth(random.bool()),
        0 | 1 => Formula::Atom(random.usize(0..ATOMS)),
        2 | 3 => random_formula(random, depth - 1).negated(),
        4 | 5 => Formula::And(two(random)),
        6 | 7 => Formula::Or(two(random)),
        8 | 9 => Formula::Always(Box::new(random_formula(random, depth - 1))),
        _ => Formula::Eventually(Box::new(random_formula(random, depth - 1))),
    }
}

/// Adds the parts of a formula, inner ones first.
fn collect_parts<'f>(formula: &'f Formula, parts: &mut Vec<&'f Formula>) {
    match formula {
        Formula::Truth(_) | Formula::Atom(_) => {}
        Formula::Not(one) | Formula::Always(one) | Formula::Eventually(one) => collect_parts(one, parts),
        Formula::And(all) | Formula::Or(all) => all.iter().for_each(|one| collect_parts(one, parts)),
    }
    parts.push(formula);
}

/// The values of all parts at a step, given those at the next step; on the tail, given which parts hold somewhere
/// and everywhere on it.
fn step_values(parts: &[&Formula], letter: [bool; ATOMS], later: &dyn Fn(usize, bool) -> bool) -> Vec<bool> {
    let index: HashMap<*const Formula, usize> =
        parts.iter().enumerate().map(|(at, part)| (std::ptr::from_ref(*part), at)).collect();
    let mut values: Vec<bool> = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let of = |one: &Formula| values[index[&std::ptr::from_ref(one)]];
        let value = match part {
            Formula::Truth(value) => *value,
            Formula::Atom(atom) => letter[*atom],
            Formula::Not(one) => !of(one),
            Formula::And(all) => all.iter().all(of),
            Formula::Or(all) => all.iter().any(of),
            Formula::Always(one) => of(one) && later(at, true),
            Formula::Eventually(one) => of(one) || later(at, false),
        };
        values.push(value);
    }
    values
}

/// The values of all parts at each edge of the tail.
fn tail_values(parts: &[&Formula], letters: &[[bool; ATOMS]]) -> Vec<Vec<bool>> {
    // Part by part: `Always` and `Eventually` have the same value at each edge of the tail.
    let mut fixed: Vec<bool> = vec![false; parts.len()];
    let mut values = Vec::new();
    for count in 1..=parts.len() {
        values = letters
            .iter()
            .map(|letter| {
                let known = fixed.clone();
                step_values(&parts[..count], *letter, &|at, _| known[at])
            })
            .collect::<Vec<_>>();
        let last = count - 1;
        let inner = |one: &Formula| parts.iter().position(|part| std::ptr::eq(*part, one)).expect("an earlier part");
        match parts[last] {
            Formula::Always(one) => {
                let at = inner(one);
                fixed[last] = values.iter().all(|values: &Vec<bool>| values[at]);
            }
            Formula::Eventually(one) => {
                let at = inner(one);
                fixed[last] = values.iter().any(|values: &Vec<bool>| values[at]);
            }
            _ => continue,
        }
        for values in &mut values {
            values[last] = fixed[last];
        }
    }
    values
}

fn naive_search(graph: &Random, formula: &Formula, fairness: &[Fairness]) -> bool {
    let mut parts = Vec::new();
    collect_parts(formula, &mut parts);
    for chosen in 1_u32..1 << graph.edges.len() {
        let edges: Vec<usize> = (0..graph.edges.len()).filter(|edge| chosen & (1 << edge) != 0).collect();
        if !is_strongly_connected(graph, &edges) || !is_fair(graph, &edges, fairness) {
            continue;
        }
        let letters: Vec<[bool; ATOMS]> = edges.iter().map(|edge| graph.edges[*edge].2).collect();
        let values = tail_values(&parts, &letters);
        let mut open: Vec<(usize, Vec<bool>)> = edges.iter().copied().zip(values).collect();
        let mut seen: BTreeSet<(usize, Vec<bool>)> = open.iter().cloned().collect();
        while let Some((edge, later)) = open.pop() {
            let (from, ..) = graph.edges[edge];
            if later[parts.len() - 1] && graph.initial.contains(&from) {
                return true;
            }
            for before in (0..graph.edges.len()).filter(|before| graph.edges[*before].1 == from) {
                let values = step_values(&parts, graph.edges[before].2, &|at, _| later[at]);
                if seen.insert((before, values.clone())) {
                    open.push((before, values));
                }
            }
        }
    }
    false
}

fn is_strongly_connected(graph: &Random, edges: &[usize]) -> bool {
    let nodes: BTreeSet<usize> = edges.iter().flat_map(|edge| [graph.edges[*edge].0, graph.edges[*edge].1]).collect();
    nodes.iter().all(|start| {
        let mut reached = BTreeSet::from([*start]);
        for _ in 0..graph.nodes {
            for edge in edges {
                if reached.contains(&graph.edges[*edge].0) {
                    reached.insert(graph.edges[*edge].1);
                }
            }
        }
        reached == nodes
    })
}

fn is_fair(graph: &Random, edges: &[usize], fairness: &[Fairness]) -> bool {
    fairness.iter().all(|condition| {
        let taken = edges.iter().any(|edge| graph.edges[*edge].2[condition.taken]);
        let mut enabled = edges.iter().map(|edge| graph.edges[*edge].2[condition.enabled]);
        taken || if condition.is_strong { !enabled.any(|on| on) } else { !enabled.all(|on| on) }
    })
}

#[test]
fn a_fair_behaviour_is_found_if_there_is_one() {
    let mut random = fastrand::Rng::with_seed(7);
    let count = if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { 200_000 } else { 4_000 };
    let mut found_some = 0;
    for _ in 0..count {
        let mut graph = Random::new(&mut random);
        let depth = random.usize(0..=4);
        let formula = random_formula(&mut random, depth);
        let fairness: Vec<Fairness> = (0..random.usize(0..3))
            .map(|_| Fairness { is_strong: random.bool(), enabled: ENABLED, taken: random.usize(0..3) })
            .collect();
        let expected = naive_search(&graph, &formula, &fairness);
        let found = find_behaviour(&mut graph, &formula, &fairness).expect("no graph fails");
        assert_eq!(found.is_some(), expected, "{formula:?} with {fairness:?} in {:?}", graph.edges);
        if let Some(lasso) = found {
            found_some += 1;
            assert_eq!(lasso.satisfies(&mut graph, &formula), Ok(true), "{lasso:?} of {formula:?}");
            assert_eq!(lasso.is_fair(&mut graph, &fairness), Ok(true), "{lasso:?} with {fairness:?}");
            let start = lasso.prefix.iter().chain(&lasso.cycle).next();
            assert!(start.is_some_and(|start| graph.initial.contains(start)));
            let nodes: Vec<usize> =
                lasso.prefix.iter().chain(&lasso.cycle).chain(lasso.cycle.first()).copied().collect();
            for pair in nodes.windows(2) {
                assert!(graph.edges.iter().any(|edge| (edge.0, edge.1) == (pair[0], pair[1])), "{lasso:?}");
            }
        }
    }
    assert!(found_some > count / 5 && found_some < count * 4 / 5, "{found_some} of {count} have a behaviour");
}

/// A ring, in which each node is one atom: the search must visit all of them.
struct Ring(usize);

impl Graph for Ring {
    type Error = Infallible;

    fn initial(&self) -> Vec<usize> {
        vec![0]
    }

    fn successors(&mut self, node: usize) -> Result<Vec<usize>, Infallible> {
        Ok(vec![node, (node + 1) % self.0])
    }

    fn holds(&mut self, atom: usize, from: usize, _: usize) -> Result<bool, Infallible> {
        Ok(atom == from)
    }
}

#[test]
fn a_cycle_meets_every_eventuality() {
    let again = |atom| Formula::Always(Box::new(Formula::Eventually(Box::new(Formula::Atom(atom)))));
    let mut ring = Ring(40);
    let lasso = find_behaviour(&mut ring, &Formula::And((0..40).map(again).collect()), &[]).expect("small enough");
    assert_eq!(lasso.expect("the ring itself").cycle.len(), 40);
    let too_many = Formula::And((0..70).map(|atom| Formula::Eventually(Box::new(Formula::Atom(atom)))).collect());
    assert!(find_behaviour(&mut Ring(70), &too_many, &[]).is_err());
}
