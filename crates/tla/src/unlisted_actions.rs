//! Actions of the next-state relation that a checker's coverage does not list at all. TLC splits `\E p \in S : A(p)` if
//! it can enumerate `S`; if `S` is empty it lists no `A`, without a warning. Only an action below such a quantifier can
//! be missing for that reason, so only those are searched for.

use super::cfg::Cfg;
use super::definition::DefinitionKind;
use super::module::Module;
use super::next_relation::NextRelation;
use super::outcome::{ActionCoverage, action_part_label};
use super::place::Place;
use super::references::references;
use super::syntax::{Field, Id, MAX_DEPTH, NodeKind, Tree};

/// The actions of the next-state relation that are missing in the coverage, labelled as the coverage would label them.
/// Empty if the relation cannot be split: then the checker's own list is all that is known.
pub fn unlisted_actions(module: &Module, cfg: &Cfg, coverage: &[ActionCoverage]) -> Vec<String> {
    let mut walk = Walk { module, cfg, coverage, open: Vec::new(), found: Vec::new() };
    if let Ok(relation) = NextRelation::find(module, cfg) {
        walk.definition(&relation.next, false);
    }
    let found = walk.found;
    let labels = found.iter().enumerate().map(|(index, (name, place))| {
        let is_on_same_line = |p: &Place| place.is_some_and(|own| own.line == p.line);
        let is_alone = !coverage.iter().any(|a| a.name() == name && a.place.as_ref().is_some_and(is_on_same_line))
            && !found
                .iter()
                .enumerate()
                .any(|(other, (n, p))| other != index && n == name && p.as_ref().is_some_and(is_on_same_line));
        place.map_or_else(|| name.clone(), |place| action_part_label(name, place, is_alone))
    });
    labels.collect()
}

struct Walk<'a> {
    module: &'a Module,
    cfg: &'a Cfg,
    coverage: &'a [ActionCoverage],
    /// Definitions being visited, so that a recursive one is not entered twice.
    open: Vec<String>,
    /// Missing actions: the definition, and the position if it is a part of it.
    found: Vec<(String, Option<Place>)>,
}

impl<'a> Walk<'a> {
    /// `is_quantified`: there is a quantifier above, whose set may be empty.
    fn definition(&mut self, name: &str, is_quantified: bool) {
        let is_replaced = self.cfg.constants.get(name).is_some_and(|by| by.starts_with("<-"));
        let is_listed = self.coverage.iter().any(|a| a.action == name);
        let module = self.module;
        let definition = module.definition(name).filter(|d| d.kind == DefinitionKind::Operator && !d.has_syntax_errors);
        let Some((definition, id)) = definition.and_then(|d| Some((d, d.body()?))) else { return };
        if is_replaced || is_listed || self.open.iter().any(|open| open == name) || self.open.len() > MAX_DEPTH {
            return;
        }
        self.open.push(name.to_owned());
        self.visit(&definition.tree, id, name, is_quantified, true, 0);
        self.open.pop();
    }

    /// `owner`: the definition that contains the node; `is_whole`: the node is its whole body.
    fn visit(&mut self, tree: &'a Tree, id: Id, owner: &str, is_quantified: bool, is_whole: bool, depth: usize) {
        let id = tree.strip_parentheses(id);
        let source = &self.module.source;
        // A disjunction is always split. It begins where its first part begins, so the coverage may list that position
        // for the part; the disjunction itself must not count as listed.
        let is_disjunction = tree.is_infix(id, "\\/");
        if depth > MAX_DEPTH || (!is_disjunction && self.is_listed(owner, tree, id)) {
            return;
        }
        match tree.kind(id) {
            NodeKind::DisjunctionList => {
                for item in tree.children(id) {
                    self.visit(tree, item, owner, is_quantified, false, depth + 1);
                }
            }
            _ if is_disjunction => {
                for side in [Field::Left, Field::Right].into_iter().filter_map(|side| tree.field(id, side)) {
                    self.visit(tree, side, owner, is_quantified, false, depth + 1);
                }
            }
            NodeKind::Bounded if tree.is_exists(id) => {
                if let Some(inner) = tree.field(id, Field::Body) {
                    self.visit(tree, inner, owner, true, false, depth + 1);
                }
            }
            NodeKind::Reference | NodeKind::Call => {
                if let Some(name) = tree.called_name(id).map(|name| tree.text(name, source)) {
                    // If an argument is not constant, TLC lists the position of the call.
                    if !self.is_listed(name, tree, id) {
                        self.definition(name, is_quantified);
                    }
                }
            }
            // The module's own text does not show what these contain.
            NodeKind::ForeignCall | NodeKind::Subexpression | NodeKind::Label => {}
            NodeKind::LetIn if self.may_contain_listed_action(tree, id) => {}
            _ if is_quantified => {
                let place = (!is_whole).then(|| self.place(tree, id));
                if !self.found.iter().any(|(name, at)| name == owner && *at == place) {
                    self.found.push((owner.to_owned(), place));
                }
            }
            _ => {}
        }
    }

    fn is_listed(&self, owner: &str, tree: &Tree, id: Id) -> bool {
        let place = self.place(tree, id);
        self.coverage.iter().any(|a| a.name() == owner && a.place == Some(place))
    }

    /// TLC enters LET and lists the definitions inside it by their names.
    fn may_contain_listed_action(&self, tree: &Tree, id: Id) -> bool {
        let text = tree.text(id, &self.module.source);
        let below = self.module.closure_of([&references(tree, &self.module.source, id, &[])]);
        let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        self.coverage.iter().any(|a| below.contains(a.name()) || words.any(|word| word == a.name()))
            || self.coverage.iter().filter_map(|a| a.place).any(|at| {
                let first = self.place(tree, id).line;
                (first..first + text.lines().count()).contains(&at.line)
            })
    }

    fn place(&self, tree: &Tree, id: Id) -> Place {
        self.module.place(tree.node(id).start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(action: &str, place: Option<(usize, usize)>) -> ActionCoverage {
        let place = place.map(|(line, column)| Place { line, column });
        ActionCoverage {
            action: action.to_owned(),
            taken: 1,
            distinct: 1,
            place,
            is_lower_bound: false,
            is_own_terminating: false,
        }
    }

    fn unlisted(next: &str, coverage: &[ActionCoverage]) -> Vec<String> {
        let module = format!(
            "---- MODULE M ----\nVARIABLE x\nCONSTANTS P, Q\nSend(p) == x' = p\nBoth(p) == \\/ x' = p\n           \\/ x' = x\n\
             Init == x = 0\nNext == {next}\nSpec == Init /\\ [][Next]_x\n====\n"
        );
        let cfg = Cfg::parse("SPECIFICATION Spec\n").expect("a configuration");
        unlisted_actions(&Module::parse(&module).expect("a module"), &cfg, coverage)
    }

    #[test]
    fn only_an_action_below_a_quantifier_can_be_missing() {
        let none: [&str; 0] = [];
        assert_eq!(unlisted("Send(1) \\/ x' = 2", &[]), none);
        assert_eq!(unlisted("x' = 2 \\/ \\E p \\in P : Send(p)", &[]), ["Send"]);
        assert_eq!(unlisted("\\E p \\in P : Send(p)", &[listed("Send", None)]), none);
        assert_eq!(unlisted("\\E p \\in P : Both(p)", &[]), ["Both (line 5)", "Both (line 6)"]);
        assert_eq!(unlisted("\\E p \\in P : \\E q \\in Q : (x' = p \\/ x' = q)", &[]).len(), 2);
        assert_eq!(unlisted("\\E p \\in P : x' = p /\\ p > 3", &[]), ["Next (line 8)"]);
        // Another part on the same line.
        assert_eq!(
            unlisted("x' = 1 \\/ \\E p \\in P : x' = p", &[listed("Next (line 8)", Some((8, 9)))]),
            ["Next (line 8, column 32)"]
        );
    }

    #[test]
    fn a_listed_action_counts_for_everything_inside_it() {
        let none: [&str; 0] = [];
        // A set that TLC cannot enumerate, a call whose argument is not constant, and coverage without positions.
        assert_eq!(unlisted("\\E p \\in P : Send(p)", &[listed("Next (line 8)", Some((8, 9)))]), none);
        assert_eq!(unlisted("\\E p \\in P : Both(x)", &[listed("Both (line 8)", Some((8, 22)))]), none);
        assert_eq!(unlisted("\\E p \\in P : Send(p)", &[listed("Next", None)]), none);
        // LET, and names from other modules.
        let within = "\\E p \\in P : LET Go == x' = p IN Go";
        assert_eq!(unlisted(within, &[listed("Go", None)]), none);
        assert_eq!(unlisted(within, &[listed("Other", None)]), ["Next (line 8)"]);
        assert_eq!(unlisted("\\E p \\in P : I!Send(p)", &[]), none);
        assert_eq!(unlisted("\\E p \\in P : Unknown(p)", &[]), none);
    }
}
