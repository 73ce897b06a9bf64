//! Which procedures call which. Fairness of a process includes the procedures it calls, and the checksum of an algorithm
//! lists them.

use std::collections::HashMap;

use super::ast::Procedure;

/// The calls between procedures, which it identifies by their index.
struct CallGraph<'a> {
    procedures: &'a [Procedure],
    indices: HashMap<&'a str, usize>,
}

impl<'a> CallGraph<'a> {
    fn new(procedures: &'a [Procedure]) -> Self {
        let indices = procedures.iter().enumerate().map(|(index, procedure)| (procedure.name.as_str(), index));
        Self { procedures, indices: indices.collect() }
    }

    fn indices(&self, names: &[String]) -> impl Iterator<Item = usize> {
        names.iter().filter_map(|name| self.indices.get(name.as_str()).copied())
    }

    /// The procedures that a procedure calls, directly or indirectly, in the order of declaration.
    fn reachable_from(&self, procedure: &Procedure) -> Vec<usize> {
        let mut seen = vec![false; self.procedures.len()];
        let mut open: Vec<usize> = self.indices(&procedure.calls).collect();
        while let Some(index) = open.pop() {
            if !std::mem::replace(&mut seen[index], true) {
                open.extend(self.indices(&self.procedures[index].calls));
            }
        }
        (0..seen.len()).filter(|&index| seen[index]).collect()
    }
}

/// The names of the procedures that a procedure calls, directly or indirectly, in the order of declaration.
pub(super) fn names_called_by(procedures: &[Procedure], procedure: &Procedure) -> Vec<String> {
    let calls = CallGraph::new(procedures).reachable_from(procedure);
    calls.into_iter().map(|index| procedures[index].name.clone()).collect()
}

/// The procedures that a process calls: first those in `direct_calls`, then those that they call. The order is that of
/// the reference translator.
pub(super) fn procedures_called_by<'a>(procedures: &'a [Procedure], direct_calls: &[String]) -> Vec<&'a Procedure> {
    let graph = CallGraph::new(procedures);
    let mut order: Vec<usize> = Vec::new();
    let mut is_listed = vec![false; procedures.len()];
    let mut add = |index: usize, order: &mut Vec<usize>| {
        if !std::mem::replace(&mut is_listed[index], true) {
            order.push(index);
        }
    };
    graph.indices(direct_calls).for_each(|index| add(index, &mut order));
    // All direct calls are listed before any indirect one.
    for direct in order.clone() {
        graph.reachable_from(&procedures[direct]).into_iter().for_each(|index| add(index, &mut order));
    }
    order.into_iter().map(|index| &procedures[index]).collect()
}
