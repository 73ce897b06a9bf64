//! Actions of the next-state relation that a checker does not even list. TLC takes `\E p \in S : A(p)` apart where it
//! can list the elements of `S`; where there are none it lists no `A` either, and says nothing of it. Only what stands
//! below such a quantifier can be missing for that reason, so nothing else is looked for.

use super::cfg::Cfg;
use super::definition::DefinitionKind;
use super::fairness::{bare, body, callee, next_state};
use super::module::Module;
use super::outcome::{ActionCoverage, Place, part_of};
use super::references::references;
use super::syntax::{Id, MAX_DEPTH, Tree};

/// The actions that the next-state relation names or holds and the coverage does not list, as the coverage would name
/// them. Where the relation cannot be taken apart there are none: then the checker's own list is all that counts.
pub fn unlisted_actions(module: &Module, cfg: &Cfg, coverage: &[ActionCoverage]) -> Vec<String> {
    let mut walk = Walk { module, cfg, coverage, open: Vec::new(), found: Vec::new() };
    if let Ok((next, ..)) = next_state(module, cfg) {
        walk.definition(&next, false);
    }
    let found = walk.found;
    let labels = found.iter().enumerate().map(|(index, (name, place))| {
        let in_its_line = |p: &Place| place.is_some_and(|own| own.line == p.line);
        let alone = !coverage.iter().any(|a| a.name() == name && a.place.as_ref().is_some_and(in_its_line))
            && !found
                .iter()
                .enumerate()
                .any(|(other, (n, p))| other != index && n == name && p.as_ref().is_some_and(in_its_line));
        place.map_or_else(|| name.clone(), |place| part_of(name, place, alone))
    });
    labels.collect()
}

struct Walk<'a> {
    module: &'a Module,
    cfg: &'a Cfg,
    coverage: &'a [ActionCoverage],
    /// Definitions in work: a recursive one is not entered again.
    open: Vec<String>,
    found: Vec<(String, Option<Place>)>,
}

impl<'a> Walk<'a> {
    /// `below`: a quantifier stands above, whose set may be empty.
    fn definition(&mut self, name: &str, below: bool) {
        let replaced = self.cfg.constants.get(name).is_some_and(|by| by.starts_with("<-"));
        let whole = self.coverage.iter().any(|a| a.action == name);
        let module = self.module;
        let definition = module.definition(name).filter(|d| d.kind == DefinitionKind::Operator && !d.damaged);
        let Some((definition, id)) = definition.and_then(|d| Some((d, body(d)?))) else { return };
        if replaced || whole || self.open.iter().any(|open| open == name) || self.open.len() > MAX_DEPTH {
            return;
        }
        self.open.push(name.to_owned());
        self.visit(&definition.tree, id, name, below, true, 0);
        self.open.pop();
    }

    /// `of`: the definition that this stands in; `all`: it is the whole of it.
    fn visit(&mut self, tree: &'a Tree, id: Id, of: &str, below: bool, all: bool, depth: usize) {
        let id = bare(tree, id);
        let source = &self.module.source;
        let is = |field: &str, kind: &str| tree.field(id, field).is_some_and(|child| tree.node(child).kind == kind);
        // A disjunction is always taken apart, and begins where its first part does.
        let is_disjunction = is("symbol", "lor");
        if depth > MAX_DEPTH || (!is_disjunction && self.is_listed(of, tree, id)) {
            return;
        }
        match tree.node(id).kind {
            "disj_list" => {
                for item in tree.children(id) {
                    self.visit(tree, item, of, below, false, depth + 1);
                }
            }
            "bound_infix_op" if is_disjunction => {
                for side in ["lhs", "rhs"].into_iter().filter_map(|side| tree.field(id, side)) {
                    self.visit(tree, side, of, below, false, depth + 1);
                }
            }
            "bounded_quantification" if is("quantifier", "exists") => {
                if let Some(inner) = tree.field(id, "expression") {
                    self.visit(tree, inner, of, true, false, depth + 1);
                }
            }
            "identifier_ref" | "bound_op" => {
                if let Some(name) = callee(tree, id).map(|name| tree.text(name, source)) {
                    // With arguments that are no constants TLC lists the place of the call.
                    if !self.is_listed(name, tree, id) {
                        self.definition(name, below);
                    }
                }
            }
            // What these hold cannot be told from the module's own text.
            "prefixed_op" | "subexpression" | "label" => {}
            "let_in" if self.may_hold_a_listed_one(tree, id) => {}
            _ if below => {
                let place = (!all).then(|| self.place(tree, id).0);
                if !self.found.iter().any(|(name, at)| name == of && *at == place) {
                    self.found.push((of.to_owned(), place));
                }
            }
            _ => {}
        }
    }

    fn is_listed(&self, of: &str, tree: &Tree, id: Id) -> bool {
        let (place, exact) = self.place(tree, id);
        let here = |at: &Place| at.line == place.line && (!exact || at.column == place.column);
        self.coverage.iter().any(|a| a.name() == of && a.place.as_ref().is_some_and(here))
    }

    /// TLC goes into LET, and lists what is defined there by its name.
    fn may_hold_a_listed_one(&self, tree: &Tree, id: Id) -> bool {
        let text = tree.text(id, &self.module.source);
        let below = self.module.closure_of([&references(tree, &self.module.source, id, &[])]);
        let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        self.coverage.iter().any(|a| below.contains(a.name()) || words.any(|word| word == a.name()))
            || self.coverage.iter().filter_map(|a| a.place).any(|at| {
                let first = self.place(tree, id).0.line;
                (first..first + text.lines().count()).contains(&at.line)
            })
    }

    /// Where the node begins, and whether its column is the one that TLC counts.
    fn place(&self, tree: &Tree, id: Id) -> (Place, bool) {
        let before = &self.module.source[..tree.node(id).start];
        let line = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
        let place = Place { line: before.matches('\n').count() + 1, column: line.chars().count() + 1 };
        (place, line.bytes().all(|b| b.is_ascii() && b != b'\t'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(action: &str, place: Option<(usize, usize)>) -> ActionCoverage {
        let place = place.map(|(line, column)| Place { line, column });
        ActionCoverage { action: action.to_owned(), taken: 1, distinct: 1, place, at_least: false }
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
    fn only_what_stands_below_a_quantifier_can_be_missing() {
        let none: [&str; 0] = [];
        assert_eq!(unlisted("Send(1) \\/ x' = 2", &[]), none);
        assert_eq!(unlisted("x' = 2 \\/ \\E p \\in P : Send(p)", &[]), ["Send"]);
        assert_eq!(unlisted("\\E p \\in P : Send(p)", &[listed("Send", None)]), none);
        assert_eq!(unlisted("\\E p \\in P : Both(p)", &[]), ["Both (line 5)", "Both (line 6)"]);
        assert_eq!(unlisted("\\E p \\in P : \\E q \\in Q : (x' = p \\/ x' = q)", &[]).len(), 2);
        assert_eq!(unlisted("\\E p \\in P : x' = p /\\ p > 3", &[]), ["Next (line 8)"]);
        // Another part in the same line.
        assert_eq!(
            unlisted("x' = 1 \\/ \\E p \\in P : x' = p", &[listed("Next (line 8)", Some((8, 9)))]),
            ["Next (line 8, column 32)"]
        );
    }

    #[test]
    fn what_the_checker_took_for_one_action_is_listed_with_all_that_it_holds() {
        let none: [&str; 0] = [];
        // A set whose elements it cannot list, a call whose argument is no constant, and a journal of old.
        assert_eq!(unlisted("\\E p \\in P : Send(p)", &[listed("Next (line 8)", Some((8, 9)))]), none);
        assert_eq!(unlisted("\\E p \\in P : Both(x)", &[listed("Both (line 8)", Some((8, 22)))]), none);
        assert_eq!(unlisted("\\E p \\in P : Send(p)", &[listed("Next", None)]), none);
        // LET, and what comes from elsewhere.
        let within = "\\E p \\in P : LET Go == x' = p IN Go";
        assert_eq!(unlisted(within, &[listed("Go", None)]), none);
        assert_eq!(unlisted(within, &[listed("Other", None)]), ["Next (line 8)"]);
        assert_eq!(unlisted("\\E p \\in P : I!Send(p)", &[]), none);
        assert_eq!(unlisted("\\E p \\in P : Unknown(p)", &[]), none);
    }
}
