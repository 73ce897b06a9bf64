//! Which variables an action, or a branch of it, has assigned so far.

use std::collections::HashMap;

/// The variables of a translation in their order.
#[derive(Debug, Default)]
pub(super) struct Variables {
    names: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Variables {
    pub(super) fn push(&mut self, name: &str) {
        self.numbers.entry(name.to_owned()).or_insert(self.names.len());
        self.names.push(name.to_owned());
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.numbers.contains_key(name)
    }
}

/// How often each variable has been assigned.
#[derive(Debug, Clone)]
pub(super) struct Changed(Vec<u32>);

impl Changed {
    pub(super) fn none(variables: &Variables) -> Self {
        Self(vec![0; variables.names.len()])
    }

    pub(super) fn contains(&self, variables: &Variables, name: &str) -> bool {
        variables.numbers.get(name).is_some_and(|&number| self.0.get(number).is_some_and(|&count| count > 0))
    }

    /// Notes an assignment. Whether it is the first to this variable.
    pub(super) fn add(&mut self, variables: &Variables, name: &str) -> bool {
        let Some(count) = variables.numbers.get(name).and_then(|&number| self.0.get_mut(number)) else { return true };
        *count += 1;
        *count == 1
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (count, &theirs) in self.0.iter_mut().zip(&other.0) {
            *count = theirs.max(*count);
        }
    }

    /// The variables that are not assigned.
    pub(super) fn missing<'a>(&self, variables: &'a Variables) -> Vec<&'a str> {
        let unchanged = |(name, &count): (&'a String, &u32)| (count == 0).then_some(name.as_str());
        variables.names.iter().zip(&self.0).filter_map(unchanged).collect()
    }

    /// The variables that are not assigned here but in the other.
    pub(super) fn missing_of<'a>(&self, other: &Self, variables: &'a Variables) -> Vec<&'a str> {
        let unchanged =
            |(name, (&count, &theirs)): (&'a String, (&u32, &u32))| (count == 0 && theirs > 0).then_some(name.as_str());
        variables.names.iter().zip(self.0.iter().zip(&other.0)).filter_map(unchanged).collect()
    }
}
