//! The product of a graph with the automaton of a formula, and the search for a fair cycle in it.

use std::collections::{HashMap, HashSet, VecDeque};

use super::behaviour::{Fairness, Formula, Graph, Lasso};
use super::tableau::{StateId, Tableau};

/// Why no answer was found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SearchError<E> {
    /// The graph cannot say more about itself.
    #[error("{0}")]
    Graph(E),
    /// The automaton of the formula would be too large.
    #[error("the formula has too many parts for the search for a counterexample")]
    FormulaTooLarge,
}

/// A fair behaviour that satisfies a formula, if there is one. It is short, but not always a shortest one.
///
/// # Errors
/// That of the graph, or a formula that is too large.
pub fn find_behaviour<G: Graph>(
    graph: &mut G,
    formula: &Formula,
    fairness: &[Fairness],
) -> Result<Option<Lasso>, SearchError<G::Error>> {
    let (mut repeated, mut rest) = (Vec::new(), Vec::new());
    split(formula, true, &mut repeated, &mut rest);
    let (tableau, first) = Tableau::new(&Formula::And(rest)).ok_or(SearchError::FormulaTooLarge)?;
    let eventualities = tableau.eventualities();
    let mut product = Product { graph, tableau, known: HashMap::new(), nodes: Vec::new(), edges: Vec::new() };
    let initial = product.explore(first)?;
    let count = product.nodes.len();
    let search = Search {
        product: &mut product,
        eventualities,
        repeated: &repeated,
        fairness,
        group: vec![0; count],
        order: vec![NEW; count],
        lowest: vec![NEW; count],
    };
    search.find(&initial)
}

/// Splits a conjunction into predicates of steps that must hold again and again, and the rest. Each of them would double the
/// moves of the automaton.
fn split(formula: &Formula, is_true: bool, repeated: &mut Vec<Formula>, rest: &mut Vec<Formula>) {
    let signed = |one: &Formula| if is_true { one.clone() } else { one.clone().negated() };
    match (formula, is_true) {
        (Formula::Not(one), _) => split(one, !is_true, repeated, rest),
        (Formula::And(all), true) | (Formula::Or(all), false) => {
            for one in all {
                split(one, is_true, repeated, rest);
            }
        }
        (Formula::Always(one), true) | (Formula::Eventually(one), false) => match (&**one, is_true) {
            (Formula::Eventually(inner), true) | (Formula::Always(inner), false) if is_step_predicate(inner) => {
                repeated.push(signed(inner));
            }
            _ => rest.push(signed(formula)),
        },
        _ => rest.push(signed(formula)),
    }
}

fn is_step_predicate(formula: &Formula) -> bool {
    match formula {
        Formula::Truth(_) | Formula::Atom(_) => true,
        Formula::Not(one) => is_step_predicate(one),
        Formula::And(all) | Formula::Or(all) => all.iter().all(is_step_predicate),
        Formula::Always(_) | Formula::Eventually(_) => false,
    }
}

type ProductId = u32;

/// An edge within a component: from, to, and the eventualities that it leaves for later.
type InnerEdge = (ProductId, ProductId, u64);

struct ProductEdge {
    to: ProductId,
    postponed: u64,
}

struct Product<'g, G> {
    graph: &'g mut G,
    tableau: Tableau,
    known: HashMap<(usize, StateId), ProductId>,
    nodes: Vec<(usize, StateId)>,
    edges: Vec<Vec<ProductEdge>>,
}

impl<G: Graph> Product<'_, G> {
    fn add(&mut self, node: usize, state: StateId) -> ProductId {
        let next = ProductId::try_from(self.nodes.len()).unwrap_or(ProductId::MAX);
        let id = *self.known.entry((node, state)).or_insert(next);
        if id == next {
            self.nodes.push((node, state));
        }
        id
    }

    fn explore(&mut self, first: StateId) -> Result<Vec<ProductId>, SearchError<G::Error>> {
        let initial: Vec<ProductId> = self.graph.initial().into_iter().map(|node| self.add(node, first)).collect();
        let mut at = 0;
        while let Some((from, state)) = self.nodes.get(at).copied() {
            at += 1;
            let moves = self.tableau.moves(state).ok_or(SearchError::FormulaTooLarge)?;
            let mut edges = Vec::new();
            // In a state that accepts no step, nothing need be known of the graph.
            let successors =
                if moves.is_empty() { Vec::new() } else { self.graph.successors(from).map_err(SearchError::Graph)? };
            for to in successors {
                'moves: for one in moves.iter() {
                    for (atom, wanted) in &one.literals {
                        if self.graph.holds(*atom, from, to).map_err(SearchError::Graph)? != *wanted {
                            continue 'moves;
                        }
                    }
                    edges.push(ProductEdge { to: self.add(to, one.next), postponed: one.postponed });
                }
            }
            self.edges.push(edges);
        }
        Ok(initial)
    }

    fn holds(&mut self, atom: usize, from: ProductId, to: ProductId) -> Result<bool, SearchError<G::Error>> {
        let (from, to) = (self.nodes[from as usize].0, self.nodes[to as usize].0);
        self.graph.holds(atom, from, to).map_err(SearchError::Graph)
    }

    fn satisfies(
        &mut self,
        predicate: &Formula,
        from: ProductId,
        to: ProductId,
    ) -> Result<bool, SearchError<G::Error>> {
        match predicate {
            Formula::Truth(value) => Ok(*value),
            Formula::Atom(atom) => self.holds(*atom, from, to),
            Formula::Not(one) => Ok(!self.satisfies(one, from, to)?),
            Formula::And(all) => {
                for one in all {
                    if !self.satisfies(one, from, to)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Formula::Or(all) => {
                for one in all {
                    if self.satisfies(one, from, to)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Formula::Always(_) | Formula::Eventually(_) => Err(SearchError::FormulaTooLarge),
        }
    }
}

/// What a cycle must contain to be accepted.
#[derive(Clone, Copy)]
enum Demand {
    /// A step that does not leave this eventuality for later.
    Fulfils(u64),
    /// A step that satisfies the predicate with this number.
    Satisfies(usize),
    /// A step that takes the action.
    Takes(Fairness),
    /// A state in which the action is not enabled, or a step that takes it.
    TakesOrDisables(Fairness),
}

/// The order of a node that the search for components has not reached.
const NEW: u32 = u32::MAX;

struct Search<'p, 'g, G> {
    product: &'p mut Product<'g, G>,
    eventualities: u64,
    /// Predicates of steps that must hold again and again.
    repeated: &'p [Formula],
    fairness: &'p [Fairness],
    /// The number of the part that each node belongs to at the moment.
    group: Vec<u32>,
    /// The order in which the search for components reaches the nodes.
    order: Vec<u32>,
    /// The lowest order that is known to be reachable from each node.
    lowest: Vec<u32>,
}

impl<G: Graph> Search<'_, '_, G> {
    fn find(mut self, initial: &[ProductId]) -> Result<Option<Lasso>, SearchError<G::Error>> {
        let all: Vec<ProductId> = (0..).take(self.product.nodes.len()).collect();
        let mut last = 1;
        let mut open = self.components(&all, last);
        let mut accepted: Vec<Vec<ProductId>> = Vec::new();
        while let Some(component) = open.pop() {
            last += 1;
            self.regroup(&component, last);
            match self.judge(&component, last)? {
                Judgement::Accepted => accepted.push(component),
                Judgement::Refused => {}
                Judgement::Part(rest) => {
                    last += 1;
                    open.extend(self.components(&rest, last));
                }
            }
        }
        if accepted.is_empty() {
            return Ok(None);
        }
        let mut home: HashMap<ProductId, usize> = HashMap::new();
        for (index, component) in accepted.iter().enumerate() {
            home.extend(component.iter().map(|node| (*node, index)));
        }
        let Some(stem) = self.path(initial, |_| true, |node| home.contains_key(&node)) else { return Ok(None) };
        let Some(entry) = stem.last().copied() else { return Ok(None) };
        let component = &accepted[home[&entry]];
        last += 1;
        self.regroup(component, last);
        let cycle = self.cycle(entry, component, last)?;
        let node = |id: &ProductId| self.product.nodes[*id as usize].0;
        Ok(Some(Lasso {
            prefix: stem[..stem.len() - 1].iter().map(node).collect(),
            cycle: cycle.iter().map(node).collect(),
        }))
    }

    fn regroup(&mut self, nodes: &[ProductId], group: u32) {
        for node in nodes {
            self.group[*node as usize] = group;
        }
    }

    /// The strongly connected components of some nodes, by Tarjan's algorithm. The nodes belong to no group afterwards.
    fn components(&mut self, nodes: &[ProductId], within: u32) -> Vec<Vec<ProductId>> {
        self.regroup(nodes, within);
        for node in nodes {
            self.order[*node as usize] = NEW;
        }
        let mut found = Vec::new();
        let (mut stack, mut next) = (Vec::new(), 0);
        for root in nodes {
            if self.order[*root as usize] != NEW {
                continue;
            }
            let mut calls = vec![(*root, 0_usize)];
            while let Some((node, at)) = calls.pop() {
                let own = node as usize;
                if at == 0 {
                    self.order[own] = next;
                    self.lowest[own] = next;
                    next += 1;
                    stack.push(node);
                }
                if let Some(edge) = self.product.edges[own].get(at) {
                    let to = edge.to as usize;
                    calls.push((node, at + 1));
                    // A node whose component is complete belongs to no group.
                    if self.group[to] == within && self.order[to] == NEW {
                        calls.push((edge.to, 0));
                    } else if self.group[to] == within {
                        self.lowest[own] = self.lowest[own].min(self.order[to]);
                    }
                    continue;
                }
                if let Some((parent, _)) = calls.last() {
                    let parent = *parent as usize;
                    self.lowest[parent] = self.lowest[parent].min(self.lowest[own]);
                }
                if self.lowest[own] == self.order[own] {
                    let start = stack.iter().rposition(|one| *one == node).unwrap_or(0);
                    let component = stack.split_off(start);
                    self.regroup(&component, 0);
                    found.push(component);
                }
            }
        }
        found
    }

    /// The edges within a component.
    fn inner_edges(&self, component: &[ProductId], own: u32) -> Vec<InnerEdge> {
        let mut inner = Vec::new();
        for from in component {
            for edge in &self.product.edges[*from as usize] {
                if self.group[edge.to as usize] == own {
                    inner.push((*from, edge.to, edge.postponed));
                }
            }
        }
        inner
    }

    fn judge(&mut self, component: &[ProductId], own: u32) -> Result<Judgement, SearchError<G::Error>> {
        let edges = self.inner_edges(component, own);
        let postponed = edges.iter().fold(u64::MAX, |all, (_, _, postponed)| all & postponed);
        if edges.is_empty() || postponed & self.eventualities != 0 {
            return Ok(Judgement::Refused);
        }
        'predicates: for predicate in self.repeated {
            for (from, to, _) in &edges {
                if self.product.satisfies(predicate, *from, *to)? {
                    continue 'predicates;
                }
            }
            return Ok(Judgement::Refused);
        }
        let mut dropped: HashSet<ProductId> = HashSet::new();
        for condition in self.fairness {
            if self.is_taken(*condition, &edges)? {
                continue;
            }
            let mut enabled = Vec::new();
            for node in component {
                if self.product.holds(condition.enabled, *node, *node)? {
                    enabled.push(*node);
                }
            }
            if condition.is_strong {
                dropped.extend(enabled);
            } else if enabled.len() == component.len() {
                return Ok(Judgement::Refused);
            }
        }
        if dropped.is_empty() {
            return Ok(Judgement::Accepted);
        }
        Ok(Judgement::Part(component.iter().copied().filter(|node| !dropped.contains(node)).collect()))
    }

    fn is_taken(&mut self, condition: Fairness, edges: &[InnerEdge]) -> Result<bool, SearchError<G::Error>> {
        for (from, to, _) in edges {
            if self.product.holds(condition.taken, *from, *to)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A shortest path from one of `starts` through `allowed` nodes to one that is a `goal`.
    fn path(
        &self,
        starts: &[ProductId],
        allowed: impl Fn(ProductId) -> bool,
        goal: impl Fn(ProductId) -> bool,
    ) -> Option<Vec<ProductId>> {
        let mut before: HashMap<ProductId, Option<ProductId>> = HashMap::new();
        let mut queue = VecDeque::new();
        for start in starts {
            if before.insert(*start, None).is_none() {
                queue.push_back(*start);
            }
        }
        while let Some(node) = queue.pop_front() {
            if goal(node) {
                let mut path: Vec<ProductId> =
                    std::iter::successors(Some(node), |at| before.get(at).copied().flatten()).collect();
                path.reverse();
                return Some(path);
            }
            for edge in &self.product.edges[node as usize] {
                if allowed(edge.to) && !before.contains_key(&edge.to) {
                    before.insert(edge.to, Some(node));
                    queue.push_back(edge.to);
                }
            }
        }
        None
    }

    /// A cycle from `entry` through its component that meets all demands. Its last node has an edge to `entry`.
    fn cycle(
        &mut self,
        entry: ProductId,
        component: &[ProductId],
        own: u32,
    ) -> Result<Vec<ProductId>, SearchError<G::Error>> {
        let edges = self.inner_edges(component, own);
        let mut demands: Vec<Demand> = Vec::new();
        demands.extend((0..64).map(|bit| 1 << bit).filter(|bit| self.eventualities & bit != 0).map(Demand::Fulfils));
        demands.extend((0..self.repeated.len()).map(Demand::Satisfies));
        for condition in self.fairness {
            match (condition.is_strong, self.is_taken(*condition, &edges)?) {
                (true, true) => demands.push(Demand::Takes(*condition)),
                (false, _) => demands.push(Demand::TakesOrDisables(*condition)),
                // It is enabled in no node of the component.
                (true, false) => {}
            }
        }
        // A behaviour that only stutters from here on is the easiest one to read.
        let stays = edges.iter().copied().find(|(from, to, _)| *from == entry && *to == entry);
        if let Some(edge) = stays {
            let mut is_enough = true;
            for demand in &demands {
                is_enough = is_enough && self.meets(*demand, edge)?;
            }
            if is_enough {
                return Ok(vec![entry]);
            }
        }
        let mut walk: Vec<InnerEdge> = Vec::new();
        for demand in demands {
            let mut is_met = false;
            for edge in &walk {
                is_met = is_met || self.meets(demand, *edge)?;
            }
            if is_met {
                continue;
            }
            // The edges that meet the demand, by the node that they leave, and the number of all that leave it.
            let mut starts: HashMap<ProductId, (Vec<InnerEdge>, usize)> = HashMap::new();
            for edge in &edges {
                let start = starts.entry(edge.0).or_default();
                start.1 += 1;
                if self.meets(demand, *edge)? {
                    start.0.push(*edge);
                }
            }
            starts.retain(|_, (meeting, _)| !meeting.is_empty());
            let at = walk.last().map_or(entry, |(_, to, _)| *to);
            let way = self.path(&[at], |node| self.group[node as usize] == own, |node| starts.contains_key(&node));
            let Some(way) = way else { continue };
            self.append(&mut walk, &way);
            let Some((meeting, all)) = way.last().and_then(|node| starts.get(node)) else { continue };
            // The walk goes on from every node. Where each edge meets the demand, a later demand may choose it.
            if meeting.len() < *all {
                // A step that stays says less about the cycle.
                walk.extend(meeting.iter().find(|edge| edge.0 != edge.1).or(meeting.first()));
            }
        }
        let at = walk.last().map_or(entry, |(_, to, _)| *to);
        if at != entry || walk.is_empty() {
            let successors: Vec<ProductId> = self.product.edges[at as usize]
                .iter()
                .map(|edge| edge.to)
                .filter(|to| self.group[*to as usize] == own)
                .collect();
            if let Some(way) = self.path(&successors, |node| self.group[node as usize] == own, |node| node == entry) {
                let way: Vec<ProductId> = std::iter::once(at).chain(way).collect();
                self.append(&mut walk, &way);
            }
        }
        Ok(walk.into_iter().map(|(from, _, _)| from).collect())
    }

    fn append(&self, walk: &mut Vec<InnerEdge>, way: &[ProductId]) {
        for (from, to) in way.iter().zip(way.iter().skip(1)) {
            let edge = self.product.edges[*from as usize].iter().find(|edge| edge.to == *to);
            walk.push((*from, *to, edge.map_or(0, |edge| edge.postponed)));
        }
    }

    fn meets(&mut self, demand: Demand, (from, to, postponed): InnerEdge) -> Result<bool, SearchError<G::Error>> {
        match demand {
            Demand::Fulfils(bit) => Ok(postponed & bit == 0),
            Demand::Satisfies(predicate) => self.product.satisfies(&self.repeated[predicate], from, to),
            Demand::Takes(condition) => self.product.holds(condition.taken, from, to),
            Demand::TakesOrDisables(condition) => {
                Ok(!self.product.holds(condition.enabled, from, from)?
                    || self.product.holds(condition.taken, from, to)?)
            }
        }
    }
}

enum Judgement {
    Accepted,
    Refused,
    /// Only a cycle within these nodes can be accepted.
    Part(Vec<ProductId>),
}
