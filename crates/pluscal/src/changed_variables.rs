//! Tracks which variables an action, or a branch of it, has assigned so far. The generator primes these variables in
//! later expressions and writes UNCHANGED for the others.

use std::collections::HashMap;

/// The variables of a translation, in the order of `vars`.
#[derive(Debug, Default)]
pub(super) struct Variables {
    names: Vec<String>,
    indices: HashMap<String, usize>,
}

impl Variables {
    pub(super) fn push(&mut self, name: &str) {
        self.indices.entry(name.to_owned()).or_insert(self.names.len());
        self.names.push(name.to_owned());
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.indices.contains_key(name)
    }
}

/// The number of assignments to each variable.
#[derive(Debug, Clone)]
pub(super) struct ChangedVariables(Vec<u32>);

impl ChangedVariables {
    pub(super) fn new(variables: &Variables) -> Self {
        Self(vec![0; variables.names.len()])
    }

    pub(super) fn contains(&self, variables: &Variables, name: &str) -> bool {
        variables.indices.get(name).is_some_and(|&index| self.0.get(index).is_some_and(|&count| count > 0))
    }

    /// Counts an assignment and returns whether it is the first to this variable.
    pub(super) fn add(&mut self, variables: &Variables, name: &str) -> bool {
        // Not a variable: the caller has reported it.
        let Some(count) = variables.indices.get(name).and_then(|&index| self.0.get_mut(index)) else { return true };
        *count += 1;
        *count == 1
    }

    /// Takes the maximum for each variable, for branches of which only one is executed.
    pub(super) fn merge(&mut self, other: &Self) {
        for (count, &theirs) in self.0.iter_mut().zip(&other.0) {
            *count = theirs.max(*count);
        }
    }

    /// The variables that are not assigned.
    pub(super) fn unchanged<'a>(&self, variables: &'a Variables) -> Vec<&'a str> {
        let unchanged = |(name, &count): (&'a String, &u32)| (count == 0).then_some(name.as_str());
        variables.names.iter().zip(&self.0).filter_map(unchanged).collect()
    }

    /// The variables that `other` assigns and `self` does not.
    pub(super) fn changed_only_in<'a>(&self, other: &Self, variables: &'a Variables) -> Vec<&'a str> {
        let unchanged =
            |(name, (&count, &theirs)): (&'a String, (&u32, &u32))| (count == 0 && theirs > 0).then_some(name.as_str());
        variables.names.iter().zip(self.0.iter().zip(&other.0)).filter_map(unchanged).collect()
    }
}
