//! Minimisation on decision diagrams: classes of states are split until equal diagrams over classes are equal classes.
//!
//! When a class is split its largest part keeps the class's number, so that only diagrams above the smaller parts are
//! looked at again (Hopcroft's rule).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::bdd::NodeTable;
use super::dfa::{Dfa, Diagram, Target};
use super::limits::{AutomatonError, Limits};

impl Diagram {
    /// The minimal automaton with canonical numbers. All states of the diagram must be reachable from state 0.
    pub(super) fn minimized(&self, limits: Limits) -> Result<Dfa, AutomatonError> {
        let mut partition = Partition::new(self, limits)?;
        partition.refine()?;
        Ok(partition.quotient().into_dfa())
    }
}

struct Partition<'a> {
    raw: &'a Diagram,
    above: Above,
    unique: NodeTable,
    class: Vec<u32>,
    members: Vec<Vec<u32>>,
    /// Where a state is among the members of its class.
    place: Vec<u32>,
    /// By node: its diagram over classes, and by state likewise.
    of_node: Vec<Target>,
    of_state: Vec<Target>,
}

/// What lies directly above each node and each state's leaf.
struct Above {
    nodes_above_node: Lists,
    nodes_above_state: Lists,
    states_above_node: Lists,
    states_above_state: Lists,
}

/// Lists of numbers by number, in two vectors.
struct Lists {
    starts: Vec<u32>,
    entries: Vec<u32>,
}

impl Lists {
    fn of(keys: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
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

fn small(number: usize) -> u32 {
    u32::try_from(number).expect("limits keep numbers small")
}

impl Above {
    fn new(raw: &Diagram) -> Self {
        let sides = || raw.nodes.iter().enumerate().flat_map(|(i, node)| [(node.low, small(i)), (node.high, small(i))]);
        let roots = || raw.roots.iter().enumerate().map(|(i, root)| (*root, small(i)));
        let node = |(target, i): (Target, u32)| target.as_node().map(|n| (small(n), i));
        let state = |(target, i): (Target, u32)| target.as_state().map(|s| (small(s), i));
        Self {
            nodes_above_node: Lists::of(raw.nodes.len(), sides().filter_map(node)),
            nodes_above_state: Lists::of(raw.roots.len(), sides().filter_map(state)),
            states_above_node: Lists::of(raw.nodes.len(), roots().filter_map(node)),
            states_above_state: Lists::of(raw.roots.len(), roots().filter_map(state)),
        }
    }
}

impl<'a> Partition<'a> {
    fn new(raw: &'a Diagram, limits: Limits) -> Result<Self, AutomatonError> {
        let count = raw.roots.len();
        let mut this = Self {
            raw,
            above: Above::new(raw),
            unique: NodeTable::new(limits.nodes.saturating_mul(8)),
            class: vec![0; count],
            members: Vec::new(),
            place: vec![0; count],
            of_node: Vec::with_capacity(raw.nodes.len()),
            of_state: Vec::with_capacity(count),
        };
        for accepting in [true, false] {
            let states: Vec<u32> = (0..count).filter(|s| raw.accepting[*s] == accepting).map(small).collect();
            if !states.is_empty() {
                this.add_class(states);
            }
        }
        for i in 0..raw.nodes.len() {
            let target = this.node_over_classes(i)?;
            this.of_node.push(target);
        }
        for root in &raw.roots {
            let target = this.over_classes(*root);
            this.of_state.push(target);
        }
        Ok(this)
    }

    fn add_class(&mut self, states: Vec<u32>) {
        let class = small(self.members.len());
        for (place, state) in states.iter().enumerate() {
            self.class[*state as usize] = class;
            self.place[*state as usize] = small(place);
        }
        self.members.push(states);
    }

    fn over_classes(&self, target: Target) -> Target {
        match target.as_node() {
            Some(node) => self.of_node[node],
            None => Target::state(self.class[target.as_state().expect("a leaf")] as usize),
        }
    }

    fn node_over_classes(&mut self, node: usize) -> Result<Target, AutomatonError> {
        let node = &self.raw.nodes[node];
        let (low, high) = (self.over_classes(node.low), self.over_classes(node.high));
        if low == high {
            return Ok(low);
        }
        let number = self.unique.number([small(self.raw.place_of(node.atom)), low.bits(), high.bits()])?;
        Ok(Target::node(number as usize))
    }

    fn refine(&mut self) -> Result<(), AutomatonError> {
        let mut touched: Vec<u32> = (0..self.raw.roots.len()).map(small).collect();
        while !touched.is_empty() {
            let moved = self.split(&touched);
            touched = self.renew(&moved)?;
        }
        Ok(())
    }

    /// Splits the classes of the touched states by diagram; gives the states that changed their class.
    fn split(&mut self, touched: &[u32]) -> Vec<u32> {
        let mut groups: HashMap<(u32, Target), Vec<u32>> = HashMap::new();
        for state in touched {
            groups.entry((self.class[*state as usize], self.of_state[*state as usize])).or_default().push(*state);
        }
        let mut by_class: HashMap<u32, Vec<Vec<u32>>> = HashMap::new();
        for ((class, _), group) in groups {
            by_class.entry(class).or_default().push(group);
        }
        let mut classes: Vec<(u32, Vec<Vec<u32>>)> = by_class.into_iter().collect();
        classes.sort_unstable_by_key(|(class, _)| *class);
        let mut moved = Vec::new();
        for (class, mut groups) in classes {
            groups.sort_unstable_by_key(|group| (Reverse(group.len()), group[0]));
            let untouched = self.members[class as usize].len() - groups.iter().map(Vec::len).sum::<usize>();
            if untouched == 0 && groups.len() == 1 {
                continue;
            }
            // The largest part stays, whether it was touched or not.
            if untouched < groups[0].len() {
                let stays = groups.swap_remove(0);
                for group in &groups {
                    self.take_out(class, group);
                }
                if untouched > 0 {
                    self.take_out(class, &stays);
                    groups.push(std::mem::take(&mut self.members[class as usize]));
                    for state in stays {
                        self.place[state as usize] = small(self.members[class as usize].len());
                        self.members[class as usize].push(state);
                    }
                }
            } else {
                for group in &groups {
                    self.take_out(class, group);
                }
            }
            for group in groups {
                moved.extend_from_slice(&group);
                self.add_class(group);
            }
        }
        moved
    }

    fn take_out(&mut self, class: u32, states: &[u32]) {
        let members = &mut self.members[class as usize];
        for state in states {
            let place = self.place[*state as usize];
            members.swap_remove(place as usize);
            if let Some(other) = members.get(place as usize) {
                self.place[*other as usize] = place;
            }
        }
    }

    /// Makes the diagrams above moved states anew; gives the states whose diagram changed.
    fn renew(&mut self, moved: &[u32]) -> Result<Vec<u32>, AutomatonError> {
        let mut waiting = BinaryHeap::new();
        let mut changed = Vec::new();
        for state in moved {
            waiting.extend(self.above.nodes_above_state.get(*state).iter().map(|node| Reverse(*node)));
            changed.extend_from_slice(self.above.states_above_state.get(*state));
        }
        let mut last = None;
        // A child's number is smaller, so each node is made once, after what it is made of.
        while let Some(Reverse(node)) = waiting.pop() {
            if last == Some(node) {
                continue;
            }
            last = Some(node);
            let target = self.node_over_classes(node as usize)?;
            if target != self.of_node[node as usize] {
                self.of_node[node as usize] = target;
                waiting.extend(self.above.nodes_above_node.get(node).iter().map(|node| Reverse(*node)));
                changed.extend_from_slice(self.above.states_above_node.get(node));
            }
        }
        changed.sort_unstable();
        changed.dedup();
        for state in &changed {
            self.of_state[*state as usize] = self.over_classes(self.raw.roots[*state as usize]);
        }
        Ok(changed)
    }

    /// The classes as states, from the initial one on: states in the order in which they are reached, a letter with the
    /// first atom false before one with it true.
    fn quotient(&self) -> Diagram {
        let mut quotient = Diagram::new(self.raw.atoms.clone());
        let mut number = vec![None; self.members.len()];
        let mut order = vec![self.class[0]];
        number[self.class[0] as usize] = Some(0);
        let mut made: HashMap<Target, Target> = HashMap::new();
        let mut at = 0;
        while at < order.len() {
            let representative = self.members[order[at] as usize][0] as usize;
            let root = self.numbered(self.of_state[representative], &mut quotient, &mut made, &mut number, &mut order);
            quotient.roots.push(root);
            quotient.accepting.push(self.raw.accepting[representative]);
            at += 1;
        }
        quotient
    }

    fn numbered(
        &self,
        target: Target,
        quotient: &mut Diagram,
        made: &mut HashMap<Target, Target>,
        number: &mut [Option<usize>],
        order: &mut Vec<u32>,
    ) -> Target {
        if let Some(class) = target.as_state() {
            let new = *number[class].get_or_insert_with(|| {
                order.push(small(class));
                order.len() - 1
            });
            return Target::state(new);
        }
        if let Some(known) = made.get(&target) {
            return *known;
        }
        let [atom, low, high] = self.unique.nodes[target.as_node().expect("no leaf")];
        let low = self.numbered(Target::from_bits(low), quotient, made, number, order);
        let high = self.numbered(Target::from_bits(high), quotient, made, number, order);
        let new = quotient.decide(self.raw.atoms[atom as usize], low, high);
        made.insert(target, new);
        new
    }
}
