//! Whether each step of an action is a step of the next-state relation, as far as the definitions show: the relation is
//! a disjunction that has the action as a disjunct. Fairness of such an action excludes no finite behaviour. Lamport,
//! "Specifying Systems", section 8.9.2.

use super::builtin::BuiltInForm;
use super::graph::{Application, CONSTANT, Node, SymbolId, SymbolKind};
use super::model::{Connective, Expansion, Model};

/// Variables that quantifiers bind around an expression, with their sets.
type Bound = Vec<(SymbolId, Expansion)>;

/// The next-state relation of a specification.
pub(super) struct NextState<'a> {
    pub(super) model: &'a Model,
    pub(super) next: Expansion,
}

impl NextState<'_> {
    /// Whether a formula is a conjunction of `WF` and `SF` of disjuncts of the next-state relation, under quantifiers
    /// over constant sets.
    pub(super) fn is_fairness(&self, formula: &Expansion) -> Result<bool, String> {
        self.is_fairness_below(formula, &Bound::new())
    }

    fn is_fairness_below(&self, formula: &Expansion, bound: &Bound) -> Result<bool, String> {
        let formula = self.model.unfold(formula)?;
        let Some((connective, operands)) = self.model.parts(&formula) else { return Ok(false) };
        let mut bound = bound.clone();
        match connective {
            Connective::And => {}
            Connective::All => {
                for range in self.model.ranges(&formula) {
                    // Over a set that changes, it would be fairness of other actions in each state.
                    if self.model.level(&range)? != CONSTANT {
                        return Ok(false);
                    }
                }
                let Some(more) = self.bound_variables(&formula) else { return Ok(false) };
                if more.iter().any(|(symbol, _)| set_of(&bound, *symbol).is_some()) {
                    return Ok(false);
                }
                bound.extend(more);
            }
            Connective::Fairness => return operands.first().map_or(Ok(false), |action| self.is_choice(action, &bound)),
            _ => return Ok(false),
        }
        for operand in &operands {
            if !self.is_fairness_below(operand, &bound)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The variables that a quantifier binds; `None` if it is unclear which set each one ranges over.
    fn bound_variables(&self, expansion: &Expansion) -> Option<Bound> {
        let Node::Apply(application) = self.model.graph.node(expansion.node) else { return None };
        let ranges = self.model.ranges(expansion);
        let range = |index: usize| if ranges.len() == 1 { ranges.first() } else { ranges.get(index) };
        let known = ranges.len() == 1 || ranges.len() == application.bound.len();
        let pairs = application.bound.iter().enumerate().map(|(index, id)| Some((*id, range(index)?.clone())));
        if known { pairs.collect() } else { None }
    }

    /// Whether an action is a disjunct of the next-state relation, or implies one.
    fn is_choice(&self, action: &Expansion, bound: &Bound) -> Result<bool, String> {
        let mut expansion = action.clone();
        let mut depth = 0;
        loop {
            self.model.step(depth)?;
            if self.has_disjunct(&self.next, &Bound::new(), (&expansion, bound), 0)? {
                return Ok(true);
            }
            match self.model.unfold_once(&expansion) {
                Some(next) => expansion = next,
                None => break,
            }
            depth += 1;
        }
        let Some((connective, operands)) = self.model.parts(&expansion) else { return Ok(false) };
        let mut bound = bound.clone();
        if connective == Connective::Some {
            let Some(more) = self.bound_variables(&expansion) else { return Ok(false) };
            if more.iter().any(|(symbol, _)| set_of(&bound, *symbol).is_some()) {
                return Ok(false);
            }
            bound.extend(more);
        }
        let mut choices = operands.iter().map(|operand| self.is_choice(operand, &bound));
        match connective {
            // A step of a conjunction is a step of each conjunct, so one of them suffices; a step of a disjunction is
            // a step of one of them, so all are needed.
            Connective::And => choices.try_fold(false, |any, one| Ok(any || one?)),
            Connective::Or | Connective::Some => choices.try_fold(true, |all, one| Ok(all && one?)),
            _ => Ok(false),
        }
    }

    /// Whether the relation, or one of its disjuncts, is that action.
    fn has_disjunct(
        &self,
        relation: &Expansion,
        own: &Bound,
        action: (&Expansion, &Bound),
        depth: u32,
    ) -> Result<bool, String> {
        self.model.step(depth)?;
        let matching = Matching { model: self.model, own, bound: action.1 };
        if matching.matches(relation, action.0, &mut Vec::new(), 0)? {
            return Ok(true);
        }
        if let Some(next) = self.model.unfold_once(relation) {
            return self.has_disjunct(&next, own, action, depth + 1);
        }
        let mut own = own.clone();
        match self.model.parts(relation) {
            Some((Connective::Or, operands)) => {
                for operand in &operands {
                    if self.has_disjunct(operand, &own, action, depth + 1)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            // A conjunction list with one item.
            Some((Connective::And, operands)) if operands.len() == 1 => {
                operands.first().map_or(Ok(false), |only| self.has_disjunct(only, &own, action, depth + 1))
            }
            Some((Connective::Some, operands)) => {
                let Some(more) = self.bound_variables(relation) else { return Ok(false) };
                // A definition that is unfolded twice, below a LAMBDA, binds the same symbol twice.
                if more.iter().any(|(symbol, _)| set_of(&own, *symbol).is_some()) {
                    return Ok(false);
                }
                own.extend(more);
                operands.first().map_or(Ok(false), |body| self.has_disjunct(body, &own, action, depth + 1))
            }
            _ => Ok(false),
        }
    }
}

/// Compares a disjunct of the relation with an action.
struct Matching<'a> {
    model: &'a Model,
    /// Variables of the relation: each may be any element of its set.
    own: &'a Bound,
    /// Variables of the action: each is every element of its set.
    bound: &'a Bound,
}

fn set_of(bound: &Bound, symbol: SymbolId) -> Option<&Expansion> {
    bound.iter().rev().find(|(known, _)| *known == symbol).map(|(_, set)| set)
}

impl Matching<'_> {
    /// `chosen` has the value of each variable of the relation.
    fn matches(
        &self,
        relation: &Expansion,
        action: &Expansion,
        chosen: &mut Vec<(SymbolId, Expansion)>,
        depth: u32,
    ) -> Result<bool, String> {
        self.model.step(depth)?;
        let (relation, action) = (self.parameter_value(relation), self.parameter_value(action));
        let graph = &self.model.graph;
        if let Some((symbol, set)) = self.variable(&relation, self.own) {
            // A variable of the relation has one value, so its further occurrences must be the same.
            if let Some((_, before)) = chosen.iter().find(|(known, _)| *known == symbol) {
                return Matching { own: &Bound::new(), ..*self }.matches(&before.clone(), &action, chosen, depth + 1);
            }
            // A bound variable of the action is any element of its set, so the whole set must be allowed.
            let fits = match self.variable(&action, self.bound) {
                Some((_, range)) => self.contains(&set, &range, depth + 1)?,
                None => self.has_element(&set, &action, depth + 1)?,
            };
            chosen.push((symbol, action));
            return Ok(fits);
        }
        match (graph.node(relation.node), graph.node(action.node)) {
            (Node::Literal, Node::Literal) => Ok(self.model.text(relation.node) == self.model.text(action.node)),
            (Node::Operator(one), Node::Operator(other)) => Ok(one == other),
            (Node::Apply(one), Node::Apply(other)) => {
                self.match_applications((one, &relation), (other, &action), chosen, depth)
            }
            _ => Ok(false),
        }
    }

    fn match_applications(
        &self,
        (one, relation): (&Application, &Expansion),
        (other, action): (&Application, &Expansion),
        chosen: &mut Vec<(SymbolId, Expansion)>,
        depth: u32,
    ) -> Result<bool, String> {
        let alike = one.operator == other.operator
            && one.operands.len() == other.operands.len()
            && one.ranges.len() == other.ranges.len()
            && one.bound == other.bound;
        if !alike {
            return Ok(false);
        }
        let operands = one.operands.iter().flatten().chain(&one.ranges);
        for (a, b) in operands.zip(other.operands.iter().flatten().chain(&other.ranges)) {
            let a = Expansion { node: *a, scope: relation.scope.clone() };
            let b = Expansion { node: *b, scope: action.scope.clone() };
            if !self.matches(&a, &b, chosen, depth + 1)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The value of a parameter.
    fn parameter_value(&self, expansion: &Expansion) -> Expansion {
        let mut expansion = expansion.clone();
        while let Node::Apply(application) = self.model.graph.node(expansion.node)
            && let Some(value) = expansion.scope.value(application.operator)
            && !matches!(self.model.graph.node(value.node), Node::Operator(_))
        {
            expansion = value.clone();
        }
        expansion
    }

    fn variable(&self, expansion: &Expansion, bound: &Bound) -> Option<(SymbolId, Expansion)> {
        let Node::Apply(application) = self.model.graph.node(expansion.node) else { return None };
        Some((application.operator, set_of(bound, application.operator)?.clone()))
    }

    /// Whether a set contains `part`: they are equal, the set is a union that contains it, or `part` is a restriction
    /// of the set.
    fn contains(&self, set: &Expansion, part: &Expansion, depth: u32) -> Result<bool, String> {
        self.model.step(depth)?;
        let nothing = Bound::new();
        let plain = Matching { model: self.model, own: &nothing, bound: &nothing };
        let whole = self.model.unfold(set)?;
        if plain.matches(set, part, &mut Vec::new(), depth + 1)?
            || plain.matches(&whole, part, &mut Vec::new(), depth + 1)?
        {
            return Ok(true);
        }
        if let Some(next) = self.model.unfold_once(part) {
            return self.contains(set, &next, depth + 1);
        }
        if let (Some((first, last)), Some((from, to))) = (self.model.interval(&whole)?, self.model.interval(part)?)
            && (from > to || (first <= from && to <= last))
        {
            return Ok(true);
        }
        for side in self.union_sides(&whole) {
            if self.contains(&side, part, depth + 1)? {
                return Ok(true);
            }
        }
        for larger in self.supersets(part) {
            if self.contains(set, &larger, depth + 1)? {
                return Ok(true);
            }
        }
        let Some(elements) = self.elements(part)? else { return Ok(false) };
        for element in elements {
            if !self.has_element(set, &element, depth + 1)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a set that is written out has that element.
    fn has_element(&self, set: &Expansion, element: &Expansion, depth: u32) -> Result<bool, String> {
        self.model.step(depth)?;
        let set = self.model.unfold(set)?;
        let nothing = Bound::new();
        let plain = Matching { model: self.model, own: &nothing, bound: &nothing };
        if let (Some((first, last)), Some(number)) = (self.model.interval(&set)?, self.model.number(element)?) {
            return Ok((first..=last).contains(&number));
        }
        for member in self.elements(&set)?.unwrap_or_default() {
            if plain.matches(&member, element, &mut Vec::new(), depth + 1)? {
                return Ok(true);
            }
        }
        for side in self.union_sides(&set) {
            if self.has_element(&side, element, depth + 1)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The elements of a set that is written out.
    fn elements(&self, set: &Expansion) -> Result<Option<Vec<Expansion>>, String> {
        let set = self.model.unfold(set)?;
        let Node::Apply(application) = self.model.graph.node(set.node) else { return Ok(None) };
        let element = |node: &_| Expansion { node: *node, scope: set.scope.clone() };
        let is_listed = application.operator == BuiltInForm::Set.symbol();
        Ok(is_listed.then(|| application.operands.iter().flatten().map(element).collect()))
    }

    /// Sets that contain this one: `S` and `T` contain `S \cap T`, and `S` contains `S \ T` and `{x \in S : P}`.
    fn supersets(&self, set: &Expansion) -> Vec<Expansion> {
        let Node::Apply(application) = self.model.graph.node(set.node) else { return Vec::new() };
        let operator = self.model.graph.symbol(application.operator);
        let larger: Vec<_> = match &*operator.name {
            _ if application.operator == BuiltInForm::Filter.symbol() => application.ranges.iter().collect(),
            "\\" => application.operands.iter().flatten().take(1).collect(),
            "\\cap" => application.operands.iter().flatten().collect(),
            _ => Vec::new(),
        };
        let larger = larger.into_iter().filter(|_| matches!(operator.kind, SymbolKind::BuiltIn(_)));
        larger.map(|node| Expansion { node: *node, scope: set.scope.clone() }).collect()
    }

    /// The sides of a union.
    fn union_sides(&self, set: &Expansion) -> Vec<Expansion> {
        let Node::Apply(application) = self.model.graph.node(set.node) else { return Vec::new() };
        let operator = self.model.graph.symbol(application.operator);
        if !matches!(operator.kind, SymbolKind::BuiltIn(_)) || &*operator.name != "\\cup" {
            return Vec::new();
        }
        let side = |node: &_| Expansion { node: *node, scope: set.scope.clone() };
        application.operands.iter().flatten().map(side).collect()
    }
}
