//! Behaviours as the infinite paths of a finite graph, and the formulas and fairness conditions that they satisfy.

/// A formula with the operators of TLA: it has no "next" and no "until".
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Formula {
    /// It is true or false at every position.
    Truth(bool),
    /// The atom with this number.
    Atom(usize),
    /// The negation.
    Not(Box<Formula>),
    /// All of these hold.
    And(Vec<Formula>),
    /// Some of these hold.
    Or(Vec<Formula>),
    /// It holds at this and every later position.
    Always(Box<Formula>),
    /// It holds at this or a later position.
    Eventually(Box<Formula>),
}

impl Formula {
    /// The negation of a formula.
    #[must_use]
    pub fn negated(self) -> Self {
        Self::Not(Box::new(self))
    }

    /// `self` implies `other`.
    #[must_use]
    pub fn implies(self, other: Self) -> Self {
        Self::Or(vec![self.negated(), other])
    }
}

/// A finite graph whose infinite paths are the behaviours.
pub trait Graph {
    /// Why the graph cannot say more about itself.
    type Error;

    /// The nodes in which a behaviour can begin.
    fn initial(&self) -> Vec<usize>;

    /// The nodes after a node. A behaviour that can stay in a node needs an edge from the node to itself.
    ///
    /// # Errors
    /// What keeps the graph from listing them.
    fn successors(&mut self, node: usize) -> Result<Vec<usize>, Self::Error>;

    /// Whether an atom holds at the step from one node to another.
    ///
    /// # Errors
    /// What keeps the graph from evaluating the atom.
    fn holds(&mut self, atom: usize, from: usize, to: usize) -> Result<bool, Self::Error>;
}

/// A fairness condition: if the action is enabled again and again, or from some position on always, then it is taken
/// again and again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fairness {
    /// Whether "enabled again and again" is enough (strong fairness).
    pub is_strong: bool,
    /// The atom that says that the action is enabled. It depends on the first node of the step alone.
    pub enabled: usize,
    /// The atom that says that the step takes the action.
    pub taken: usize,
}

/// A behaviour that repeats: the nodes of `prefix`, then those of `cycle` again and again. The cycle has a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lasso {
    /// The nodes before the cycle.
    pub prefix: Vec<usize>,
    /// The nodes that repeat. The last one is followed by the first one.
    pub cycle: Vec<usize>,
}

impl Lasso {
    /// Whether a formula holds in this behaviour, computed position by position from the meaning of the operators.
    ///
    /// # Errors
    /// That of the graph.
    pub fn satisfies<G: Graph>(&self, graph: &mut G, formula: &Formula) -> Result<bool, G::Error> {
        Ok(self.values(graph, formula)?.first().copied().unwrap_or(false))
    }

    /// Whether the behaviour is fair.
    ///
    /// # Errors
    /// That of the graph.
    pub fn is_fair<G: Graph>(&self, graph: &mut G, fairness: &[Fairness]) -> Result<bool, G::Error> {
        for condition in fairness {
            let (mut always, mut again, mut taken) = (true, false, false);
            for (from, to) in self.steps().skip(self.prefix.len()) {
                let enabled = graph.holds(condition.enabled, from, to)?;
                always &= enabled;
                again |= enabled;
                taken |= graph.holds(condition.taken, from, to)?;
            }
            if !taken && (always || (condition.is_strong && again)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn steps(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let nodes = self.prefix.iter().chain(&self.cycle);
        nodes.clone().copied().zip(nodes.skip(1).chain(self.cycle.first()).copied())
    }

    /// The truth of a formula at each position.
    fn values<G: Graph>(&self, graph: &mut G, formula: &Formula) -> Result<Vec<bool>, G::Error> {
        let length = self.prefix.len() + self.cycle.len();
        let joined = |all: Vec<Vec<bool>>, join: fn(bool, bool) -> bool, start: bool| -> Vec<bool> {
            (0..length).map(|at| all.iter().fold(start, |value, one| join(value, one[at]))).collect()
        };
        Ok(match formula {
            Formula::Truth(value) => vec![*value; length],
            Formula::Atom(atom) => {
                self.steps().map(|(from, to)| graph.holds(*atom, from, to)).collect::<Result<_, _>>()?
            }
            Formula::Not(one) => self.values(graph, one)?.into_iter().map(|value| !value).collect(),
            Formula::And(all) => joined(self.all(graph, all)?, |one, other| one && other, true),
            Formula::Or(all) => joined(self.all(graph, all)?, |one, other| one || other, false),
            Formula::Always(one) => {
                let values = self.values(graph, one)?;
                (0..length).map(|at| values[at.min(self.prefix.len())..].iter().all(|value| *value)).collect()
            }
            Formula::Eventually(one) => {
                let values = self.values(graph, one)?;
                (0..length).map(|at| values[at.min(self.prefix.len())..].iter().any(|value| *value)).collect()
            }
        })
    }

    fn all<G: Graph>(&self, graph: &mut G, formulas: &[Formula]) -> Result<Vec<Vec<bool>>, G::Error> {
        formulas.iter().map(|formula| self.values(graph, formula)).collect()
    }
}
