//! The sets that a value is chosen from, with less in them or more.

use super::mutant::Edit;
use super::operator::Operator;
use super::walk::Walk;
use crate::tla::Id;

impl Walk<'_> {
    /// A set that a value is chosen from, and the expressions in it.
    pub(super) fn choice(&mut self, set: Id) {
        let inner = self.bare(set);
        match (self.kind(inner), self.symbol(inner)) {
            ("bound_infix_op", "dots_2") => self.interval(inner, Operator::NarrowSet, Operator::WidenSet),
            ("finite_set_literal", _) => self.without_element(inner),
            ("bound_infix_op", "cup") => self.one_side(inner, Operator::NarrowSet, &["lhs", "rhs"]),
            ("bound_infix_op", "cap") => self.one_side(inner, Operator::WidenSet, &["lhs", "rhs"]),
            ("bound_infix_op", "setminus") => {
                self.one_side(inner, Operator::WidenSet, &["lhs"]);
                self.without_one(inner);
            }
            ("set_filter", _) => {
                self.without_filter(inner);
                self.without_one(inner);
            }
            _ => self.without_one(inner),
        }
        self.visit(set);
    }

    /// `a..b`, with each bound one less and one more.
    pub(super) fn interval(&mut self, id: Id, narrower: Operator, wider: Operator) {
        let Some((low, high)) = self.sides(id) else { return };
        let integers = self.facts.module.extends.iter().any(|name| name == "Integers");
        for (bound, sign, operator) in
            [(low, '+', narrower), (high, '-', narrower), (low, '-', wider), (high, '+', wider)]
        {
            let old = self.text(bound);
            let number = old.parse::<u64>().ok();
            let new = match (number, sign) {
                (Some(0), '-') if integers => "-1".to_owned(),
                (Some(0), '-') => continue,
                (Some(number), '-') => (number - 1).to_string(),
                (Some(number), _) => number.saturating_add(1).to_string(),
                // The sides of an interval bind closer than `..`, but not always closer than `+`.
                _ if self.kind(bound) == "bound_infix_op" => format!("({old}) {sign} 1"),
                _ => format!("{old} {sign} 1"),
            };
            let what = format!(
                "goes {} {}",
                if bound == low { "from" } else { "up to" },
                format_args!("`{new}` in {}", self.quoted(self.range(id)))
            );
            let variant = format!("{} {sign} 1", shown_bound(bound == low));
            self.edit(operator, self.range(id).start, &variant, what, self.range(bound), new);
        }
    }

    fn chooses(&self, from: &str, set: Id) -> String {
        format!("chooses from {from} where {} stood", self.quoted(self.range(set)))
    }

    /// `{a, b}` without one of them.
    fn without_element(&mut self, set: Id) {
        let elements = self.children(set);
        for (index, element) in elements.iter().enumerate().filter(|_| elements.len() > 1) {
            let range = match elements.get(index + 1) {
                Some(next) => self.range(*element).start..self.range(*next).start,
                None => self.range(elements[index - 1]).end..self.range(*element).end,
            };
            let gone = self.text(*element);
            let what = format!("no longer chooses `{}`", super::walk::shown(gone, 40));
            self.edit(Operator::NarrowSet, self.range(set).start, &format!("without {gone}"), what, range, "");
        }
    }

    /// `A \cup B` to one of them.
    fn one_side(&mut self, set: Id, operator: Operator, sides: &[&str]) {
        for side in sides.iter().filter_map(|side| self.tree.field(set, side)) {
            let text = self.text(side);
            let what = self.chooses(&self.quoted(self.range(side)), set);
            let range = self.range(set);
            self.edit(operator, range.start, &format!("only {text}"), what, range, text);
        }
    }

    /// `{x \in S : P}` to `S`.
    fn without_filter(&mut self, set: Id) {
        let generator = self.tree.field(set, "generator");
        if let Some(of) = generator.and_then(|generator| self.tree.field(generator, "set")) {
            let what = self.chooses(&self.quoted(self.range(of)), set);
            let range = self.range(set);
            self.edit(Operator::WidenSet, range.start, "without filter", what, range, self.text(of));
        }
    }

    /// Any set without one of its elements; it may be empty.
    fn without_one(&mut self, set: Id) {
        // Which element CHOOSE takes, symmetric values do not agree about.
        if !self.facts.cfg.symmetry.is_empty() || self.text(set).contains('\n') {
            return;
        }
        let (one, other) = (self.facts.fresh("el"), self.facts.fresh("any"));
        let text = self.text(set);
        let before = format!("{{{one} \\in {text} : {one} # (CHOOSE {other} \\in {text} : TRUE)}}");
        let what = format!("never chooses one element of {}", self.quoted(self.range(set)));
        let edits = vec![Edit { range: self.range(set), text: before }];
        self.add(Operator::NarrowSet, self.range(set).start, "by one", what, edits);
    }
}

fn shown_bound(low: bool) -> &'static str {
    if low { "from" } else { "to" }
}
