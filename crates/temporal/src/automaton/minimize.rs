//! Minimization on decision diagrams: splits classes of states until all states of a class have the same diagram over
//! classes.
//!
//! When a class is split, its largest part keeps the number of the class, so only diagrams above the smaller parts must be
//! rebuilt (Hopcroft's rule).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::bdd::NodeTable;
use super::dfa::{Dfa, Diagram, Target};
use super::limits::{AutomatonError, Limits};

impl Diagram {
    /// The minimal automaton with canonical state numbers. All states of the diagram must be reachable from state 0.
    pub(super) fn minimized(&self, limits: Limits) -> Result<Dfa, AutomatonError> {
        let mut partition = Partition::new(self, limits)?;
        partition.refine()?;
        Ok(partition.quotient().into_dfa())
    }
}

struct Partition<'a> {
    raw: &'a Diagram,
    parents: ParentLists,
    unique: NodeTable,
    class: Vec<u32>,
    members: Vec<Vec<u32>>,
    /// The index of each state among the members of its class.
    place: Vec<u32>,
    /// By node and by state: the diagram over classes.
    node_targets: Vec<Target>,
    state_targets: Vec<Target>,
}

/// The direct parents of each node and of each state as a leaf.
struct ParentLists {
    nodes_over_node: Lists,
    nodes_over_state: Lists,
    states_over_node: Lists,
    states_over_state: Lists,
}

/// Lists of numbers indexed by number, in two vectors (compressed sparse rows).
struct Lists {
    starts: Vec<u32>,
    entries: Vec<u32>,
}

impl Lists {
    fn from_pairs(keys: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut starts = vec![0_u32; keys + 1];
        for (key, _) in pairs.clone() {
            starts[key as usize + 1] += 1;
        }
        for i in 0..keys {
            starts[i + 1] += starts[i];
        }
        let mut free = starts.clone();
        let mut entries = vec![0; *starts.last().expect("one more than the keys") as usize];
        for (key, entry) in pairs {
            entries[free[key as usize] as usize] = entry;
            free[key as usize] += 1;
        }
        Self { starts, entries }
    }

    fn get(&self, key: u32) -> &[u32] {
        &self.entries[self.starts[key as usize] as usize..self.starts[key as usize + 1] as usize]
    }
}

fn to_u32(number: usize) -> u32 {
    u32::try_from(number).expect("limits keep numbers small")
}

impl ParentLists {
    fn new(raw: &Diagram) -> Self {
        let sides =
            || raw.nodes.iter().enumerate().flat_map(|(i, node)| [(node.low, to_u32(i)), (node.high, to_u32(i))]);
        let roots = || raw.roots.iter().enumerate().map(|(i, root)| (*root, to_u32(i)));
        let node = |(target, i): (Target, u32)| target.as_node().map(|n| (to_u32(n), i));
        let state = |(target, i): (Target, u32)| target.as_state().map(|s| (to_u32(s), i));
        Self {
            nodes_over_node: Lists::from_pairs(raw.nodes.len(), sides().filter_map(node)),
            nodes_over_state: Lists::from_pairs(raw.roots.len(), sides().filter_map(state)),
            states_over_node: Lists::from_pairs(raw.nodes.len(), roots().filter_map(node)),
            states_over_state: Lists::from_pairs(raw.roots.len(), roots().filter_map(state)),
        }
    }
}

impl<'a> Partition<'a> {
    fn new(raw: &'a Diagram, limits: Limits) -> Result<Self, AutomatonError> {
        let count = raw.roots.len();
        let mut partition = Self {
            raw,
            parents: ParentLists::new(raw),
            unique: NodeTable::new(limits.nodes.saturating_mul(8)),
            class: vec![0; count],
            members: Vec::new(),
            place: vec![0; count],
            node_targets: Vec::with_capacity(raw.nodes.len()),
            state_targets: Vec::with_capacity(count),
        };
        // States that differ in acceptance are never equivalent.
        for accepting in [true, false] {
            let states: Vec<u32> = (0..count).filter(|s| raw.accepting[*s] == accepting).map(to_u32).collect();
            if !states.is_empty() {
                partition.add_class(states);
            }
        }
        for i in 0..raw.nodes.len() {
            let target = partition.node_over_classes(i)?;
            partition.node_targets.push(target);
        }
        for root in &raw.roots {
            let target = partition.over_classes(*root);
            partition.state_targets.push(target);
        }
        Ok(partition)
    }

    fn add_class(&mut self, states: Vec<u32>) {
        let class = to_u32(self.members.len());
        for (place, state) in states.iter().enumerate() {
            self.class[*state as usize] = class;
            self.place[*state as usize] = to_u32(place);
        }
        self.members.push(states);
    }

    fn over_classes(&self, target: Target) -> Target {
        match target.as_node() {
            Some(node) => self.node_targets[node],
            None => Target::state(self.class[target.as_state().expect("a leaf")] as usize),
        }
    }

    fn node_over_classes(&mut self, node: usize) -> Result<Target, AutomatonError> {
        let node = &self.raw.nodes[node];
        let (low, high) = (self.over_classes(node.low), self.over_classes(node.high));
        if low == high {
            return Ok(low);
        }
        let number = self.unique.number([to_u32(self.raw.atom_index(node.atom)), low.bits(), high.bits()])?;
        Ok(Target::node(number as usize))
    }

    fn refine(&mut self) -> Result<(), AutomatonError> {
        let mut touched: Vec<u32> = (0..self.raw.roots.len()).map(to_u32).collect();
        while !touched.is_empty() {
            let moved = self.split(&touched);
            touched = self.rebuild_parents(&moved)?;
        }
        Ok(())
    }

    /// Splits the classes of the touched states by diagram; returns the states that changed class.
    fn split(&mut self, touched: &[u32]) -> Vec<u32> {
        let mut groups: HashMap<(u32, Target), Vec<u32>> = HashMap::new();
        for state in touched {
            groups.entry((self.class[*state as usize], self.state_targets[*state as usize])).or_default().push(*state);
        }
        let mut by_class: HashMap<u32, Vec<Vec<u32>>> = HashMap::new();
        for ((class, _), group) in groups {
            by_class.entry(class).or_default().push(group);
        }
        let mut classes: Vec<(u32, Vec<Vec<u32>>)> = by_class.into_iter().collect();
        // The order of a `HashMap` differs from run to run; that of the classes must not.
        classes.sort_unstable_by_key(|(class, _)| *class);
        let mut moved = Vec::new();
        for (class, mut groups) in classes {
            groups.sort_unstable_by_key(|group| (Reverse(group.len()), group[0]));
            // Untouched states have the diagrams of before and therefore stay together, as one more part.
            let untouched = self.members[class as usize].len() - groups.iter().map(Vec::len).sum::<usize>();
            if untouched == 0 && groups.len() == 1 {
                continue;
            }
            // The largest part keeps the class, whether its states were touched or not.
            if untouched < groups[0].len() {
                let stays = groups.swap_remove(0);
                for group in &groups {
                    self.remove_members(class, group);
                }
                if untouched > 0 {
                    self.remove_members(class, &stays);
                    groups.push(std::mem::take(&mut self.members[class as usize]));
                    for state in stays {
                        self.place[state as usize] = to_u32(self.members[class as usize].len());
                        self.members[class as usize].push(state);
                    }
                }
            } else {
                for group in &groups {
                    self.remove_members(class, group);
                }
            }
            for group in groups {
                moved.extend_from_slice(&group);
                self.add_class(group);
            }
        }
        moved
    }

    fn remove_members(&mut self, class: u32, states: &[u32]) {
        let members = &mut self.members[class as usize];
        for state in states {
            let place = self.place[*state as usize];
            members.swap_remove(place as usize);
            if let Some(other) = members.get(place as usize) {
                self.place[*other as usize] = place;
            }
        }
    }

    /// Rebuilds the diagrams above moved states; returns the states whose diagram changed.
    fn rebuild_parents(&mut self, moved: &[u32]) -> Result<Vec<u32>, AutomatonError> {
        let mut waiting = BinaryHeap::new();
        let mut changed = Vec::new();
        for state in moved {
            waiting.extend(self.parents.nodes_over_state.get(*state).iter().map(|node| Reverse(*node)));
            changed.extend_from_slice(self.parents.states_over_state.get(*state));
        }
        let mut last = None;
        // Children have smaller numbers, so each node is rebuilt once, after its children.
        while let Some(Reverse(node)) = waiting.pop() {
            // A node is found once for each child that changed; equal numbers leave the queue one after the other.
            if last == Some(node) {
                continue;
            }
            last = Some(node);
            let target = self.node_over_classes(node as usize)?;
            if target != self.node_targets[node as usize] {
                self.node_targets[node as usize] = target;
                waiting.extend(self.parents.nodes_over_node.get(node).iter().map(|node| Reverse(*node)));
                changed.extend_from_slice(self.parents.states_over_node.get(node));
            }
        }
        changed.sort_unstable();
        changed.dedup();
        for state in &changed {
            self.state_targets[*state as usize] = self.over_classes(self.raw.roots[*state as usize]);
        }
        Ok(changed)
    }

    /// The classes as states, numbered in breadth-first order from the initial one, letters in which the first atom is
    /// false first.
    fn quotient(&self) -> Diagram {
        let mut quotient = Diagram::new(self.raw.atoms.clone());
        let mut number = vec![None; self.members.len()];
        let mut order = vec![self.class[0]];
        number[self.class[0] as usize] = Some(0);
        let mut made: HashMap<Target, Target> = HashMap::new();
        let mut index = 0;
        while index < order.len() {
            // All members of a class have the same diagram over classes.
            let representative = self.members[order[index] as usize][0] as usize;
            let root = self.number_target(
                self.state_targets[representative],
                &mut quotient,
                &mut made,
                &mut number,
                &mut order,
            );
            quotient.roots.push(root);
            quotient.accepting.push(self.raw.accepting[representative]);
            index += 1;
        }
        quotient
    }

    fn number_target(
        &self,
        target: Target,
        quotient: &mut Diagram,
        made: &mut HashMap<Target, Target>,
        number: &mut [Option<usize>],
        order: &mut Vec<u32>,
    ) -> Target {
        if let Some(class) = target.as_state() {
            let new = *number[class].get_or_insert_with(|| {
                order.push(to_u32(class));
                order.len() - 1
            });
            return Target::state(new);
        }
        if let Some(known) = made.get(&target) {
            return *known;
        }
        let [atom, low, high] = self.unique.nodes[target.as_node().expect("no leaf")];
        let low = self.number_target(Target::from_bits(low), quotient, made, number, order);
        let high = self.number_target(Target::from_bits(high), quotient, made, number, order);
        let new = quotient.decide(self.raw.atoms[atom as usize], low, high);
        made.insert(target, new);
        new
    }
}
