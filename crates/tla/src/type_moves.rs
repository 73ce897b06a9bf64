//! The ways to change a variable to another value of its type, as parts of a next-state relation. Pure.

use super::cfg::Cfg;
use super::module::Module;
use super::references::references;
use super::syntax::{Field, Id, MAX_DEPTH, NodeKind, Tree};
use super::typed_paths::{Role, TypedPath};
use super::vacuity::plain;

/// Longest sequence that is tried, and the longest one of a search that leaves the types.
const MAX_SEQUENCE: usize = 3;
const MAX_WIDE_SEQUENCE: usize = 5;
/// Number of values that are tried for a variable of type `Nat` or `Int`.
pub(super) const MAX_NUMBERS: usize = 10;

/// Number of elements from which an interval is shortened.
const LONG_INTERVAL: i64 = 30;

/// One way to change a value: quantifiers, a condition, and the new value.
pub(super) struct Move {
    pub(super) quantifiers: String,
    /// Empty if there is none.
    pub(super) condition: String,
    pub(super) value: String,
}

/// Finds the changes of one variable.
pub(super) struct Moves<'t, 'g> {
    pub(super) module: &'t Module,
    pub(super) cfg: &'t Cfg,
    /// The beginning of the names that the moves bind.
    pub(super) prefix: &'t str,
    /// The numbers that are tried for `Nat`.
    pub(super) numbers: &'t [i64],
    pub(super) leaves_types: bool,
    pub(super) variable: &'t str,
    /// The number of names that are bound so far.
    pub(super) binders: usize,
    /// The values that the search skips, for messages.
    pub(super) gaps: &'g mut Vec<String>,
}

impl Moves<'_, '_> {
    pub(super) fn of_variable(&mut self, paths: &[TypedPath<'_>]) -> Vec<Move> {
        // A type of `pc` is often only that its values are strings.
        if let Some(moves) = self.of_labels().filter(|_| self.variable == "pc") {
            return moves;
        }
        let variable = self.variable;
        let own = paths.iter().filter(|path| path.variable == variable);
        own.flat_map(|path| self.of_path(path)).collect()
    }

    fn of_labels(&mut self) -> Option<Vec<Move>> {
        let algorithm = self.module.algorithm.as_ref()?;
        let labels = algorithm.labels.iter().map(|label| format!("\"{}\"", label.name));
        let labels = labels.chain(["\"Done\"".to_owned()]).collect::<Vec<_>>().join(", ");
        let mut moves = self.element(&format!("{{{labels}}}"));
        if self.module.definition("ProcSet").is_some() {
            let process = self.name();
            for one in &mut moves {
                one.quantifiers = format!("\\E {process} \\in DOMAIN pc : {}", one.quantifiers);
                one.value = format!("[pc EXCEPT ![{process}] = {}]", one.value);
            }
        }
        Some(moves)
    }

    fn of_path(&mut self, path: &TypedPath<'_>) -> Vec<Move> {
        let target = path.target();
        let TypedPath { tree, set, prefix, .. } = path;
        let moves = match path.role {
            Role::Member => self.member(tree, *set, prefix, &target, 0),
            Role::Subset => self.subset(tree, *set, prefix, &target),
            Role::Sequence => self.sequence(tree, *set, prefix, &target, path.longest),
        };
        let in_variable = |one: Move| Move {
            quantifiers: format!("{}{}", path.quantifiers, one.quantifiers),
            value: match path.indexes.as_str() {
                "" => one.value,
                indexes => format!("[{} EXCEPT !{indexes} = {}]", self.variable, one.value),
            },
            ..one
        };
        moves.into_iter().map(in_variable).collect()
    }

    /// The changes of `target`, a value of the set.
    fn member(&mut self, tree: &Tree, set: Id, prefix: &str, target: &str, depth: usize) -> Vec<Move> {
        let module = self.module;
        let set = tree.strip_parentheses(set);
        if depth > MAX_DEPTH {
            return Vec::new();
        }
        let text = tree.text(set, &module.source);
        match tree.kind(set) {
            NodeKind::FunctionSet => {
                let mut parts = tree.children(set);
                let (Some(_), Some(range)) = (parts.next(), parts.next()) else { return Vec::new() };
                let name = self.name();
                let inner = self.member(tree, range, prefix, &format!("{target}[{name}]"), depth + 1);
                let update = |one: Move| Move {
                    quantifiers: format!("\\E {name} \\in DOMAIN {target} : {}", one.quantifiers),
                    value: format!("[{target} EXCEPT ![{name}] = {}]", one.value),
                    ..one
                };
                inner.into_iter().map(update).collect()
            }
            NodeKind::RecordSet => {
                let parts: Vec<Id> = tree.children(set).collect();
                let mut found = Vec::new();
                for pair in parts.chunks_exact(2) {
                    let field = tree.text(pair[0], &module.source);
                    let inner = self.member(tree, pair[1], prefix, &format!("{target}.{field}"), depth + 1);
                    if inner.is_empty() {
                        self.gaps.push(format!("no values of {target}.{field} were tried"));
                    }
                    found.extend(
                        inner
                            .into_iter()
                            .map(|one| Move { value: format!("[{target} EXCEPT !.{field} = {}]", one.value), ..one }),
                    );
                }
                found
            }
            NodeKind::Prefix if tree.operator(set) == "SUBSET" => {
                let of = tree.field(set, Field::Right);
                of.map(|of| self.subset(tree, of, prefix, target)).unwrap_or_default()
            }
            NodeKind::Reference
                if let Some((named, body)) = plain(module, text).and_then(|named| Some((named, named.body()?))) =>
            {
                self.member(&named.tree, body, "", target, depth + 1)
            }
            NodeKind::Call if text.starts_with("Seq(") => {
                tree.children(set).nth(1).map(|of| self.sequence(tree, of, prefix, target, None)).unwrap_or_default()
            }
            _ => self.values(tree, set, prefix).map(|values| self.element(&values)).unwrap_or_default(),
        }
    }

    /// The changes of a subset: one element more or less.
    fn subset(&mut self, tree: &Tree, set: Id, prefix: &str, target: &str) -> Vec<Move> {
        let Some(of) = self.values(tree, set, prefix) else { return Vec::new() };
        let changed = |operator: &str, mut moves: Vec<Move>| {
            for one in &mut moves {
                one.value = format!("({target} {operator} {{{}}})", one.value);
            }
            moves
        };
        let (more, less) = (self.element(&of), self.element(&of));
        changed("\\cup", more).into_iter().chain(changed("\\", less)).collect()
    }

    /// The changes of a sequence: an element more at its end, or one less at its beginning.
    fn sequence(&mut self, tree: &Tree, elements: Id, prefix: &str, target: &str, allowed: Option<usize>) -> Vec<Move> {
        let Some(of) = self.values(tree, elements, prefix) else { return Vec::new() };
        let longest = if self.leaves_types { MAX_WIDE_SEQUENCE } else { MAX_SEQUENCE };
        if allowed.is_none_or(|allowed| allowed > longest) {
            self.gaps.push(format!("only sequences of at most {longest} elements were tried for {}", self.variable));
        }
        let mut moves = self.element(&of);
        for one in &mut moves {
            one.condition = format!("Len({target}) < {longest}");
            one.value = format!("Append({target}, {})", one.value);
        }
        let is_some = format!("{target} # <<>>");
        moves.push(Move { quantifiers: String::new(), condition: is_some, value: format!("Tail({target})") });
        moves
    }

    /// Any element of a set.
    fn element(&mut self, set: &str) -> Vec<Move> {
        let name = self.name();
        vec![Move { quantifiers: format!("\\E {name} \\in {set} : "), condition: String::new(), value: name }]
    }

    fn name(&mut self) -> String {
        self.binders += 1;
        format!("{}{}_{}", self.prefix, self.variable, self.binders)
    }

    /// The text of a finite set in parentheses, with some numbers in place of `Nat` and `Int`. `None` if another infinite set is in
    /// it.
    fn values(&mut self, tree: &Tree, set: Id, prefix: &str) -> Option<String> {
        let set = tree.strip_parentheses(set);
        let module = self.module;
        let source = &module.source;
        let start = tree.node(set).start;
        let mut text = module.text_in_column(tree, set);
        let indent = text.len() - tree.text(set, source).len();
        let inside: Vec<Id> = tree.ids().filter(|id| tree.range(set).contains(&tree.node(*id).start)).collect();
        let is_seq = |id: &Id| tree.called_name(*id).is_some_and(|name| tree.text(name, source) == "Seq");
        if inside.iter().any(|id| tree.kind(*id) == NodeKind::StringSet || is_seq(id)) || self.uses_infinite(tree, set)
        {
            return None;
        }
        // From the end, so that the places before a change stay what they are.
        let mut replaced_from = usize::MAX;
        for id in inside.into_iter().rev() {
            if tree.range(id).end > replaced_from {
                continue;
            }
            let by = if tree.kind(id) == NodeKind::NumberSet {
                Some(self.some_numbers(tree, id)?)
            } else {
                self.shortened(tree, id).or_else(|| self.widened(tree, id))
            };
            if let Some(by) = by {
                replaced_from = tree.node(id).start;
                let at = indent + tree.node(id).start - start;
                text.replace_range(at..at + tree.range(id).len(), &by);
            }
        }
        Some(if text.contains('\n') {
            format!("({prefix}\n{text}\n)")
        } else {
            format!("({prefix}{})", text.trim_start())
        })
    }

    /// Some elements of `Nat` or `Int`.
    fn some_numbers(&mut self, tree: &Tree, id: Id) -> Option<String> {
        let is_int = match tree.text(id, &self.module.source) {
            "Nat" => false,
            "Int" => true,
            _ => return None,
        };
        let tried = (is_int || self.leaves_types).then_some(-1).into_iter().chain(self.numbers.iter().copied());
        let tried = tried.map(|number| number.to_string()).collect::<Vec<_>>().join(", ");
        let gap = format!("only the numbers {tried} were tried for {}", self.variable);
        if !self.gaps.contains(&gap) {
            self.gaps.push(gap);
        }
        Some(format!("{{{tried}}}"))
    }

    /// Some elements of an interval that is too long to try each of them in each state.
    fn shortened(&mut self, tree: &Tree, set: Id) -> Option<String> {
        let (from, to) = tree.operands(set).filter(|_| tree.operator(set) == "..")?;
        let number = |id: Id| -> Option<i64> {
            let text = tree.text(tree.strip_parentheses(id), &self.module.source);
            text.parse().ok().or_else(|| self.cfg.constants.get(text)?.parse().ok())
        };
        let (from, to) = (number(from)?, number(to)?);
        if to.saturating_sub(from) < LONG_INTERVAL {
            return None;
        }
        let wider = i64::from(self.leaves_types);
        let tried = [from - wider, from, from + 1, from + 2, from + (to - from) / 2, to - 1, to, to + wider];
        let mut tried = tried.map(|number| number.to_string()).to_vec();
        tried.dedup();
        let tried = tried.join(", ");
        self.gaps.push(format!("only the numbers {tried} were tried for {}", self.variable));
        Some(format!("{{{tried}}}"))
    }

    /// In a search that leaves the types, a set that is larger by values of the same kind: an interval by one at each end, a set of
    /// strings by one.
    fn widened(&self, tree: &Tree, set: Id) -> Option<String> {
        if !self.leaves_types {
            return None;
        }
        let source = &self.module.source;
        let is_text = |tree: &Tree, id: Id| tree.kind(tree.strip_parentheses(id)) == NodeKind::Text;
        match (tree.kind(set), tree.operands(set)) {
            (NodeKind::Infix, Some((from, to))) if tree.operator(set) == ".." => {
                let [from, to] = [from, to].map(|side| tree.text(side, source));
                (!from.contains('\n') && !to.contains('\n')).then(|| format!("((({from}) - 1)..(({to}) + 1))"))
            }
            (NodeKind::SetLiteral, _) if tree.children(set).next().is_some_and(|first| is_text(tree, first)) => {
                let elements = tree.text(set, source).trim_end_matches('}');
                Some(format!("{elements}, \"{}\"}}", self.prefix))
            }
            (NodeKind::Reference, _) => {
                let named = plain(self.module, tree.text(set, source))?;
                let body = named.tree.strip_parentheses(named.body()?);
                self.widened(&named.tree, body)
            }
            _ => None,
        }
    }

    /// Whether a definition that the set uses names an infinite set.
    fn uses_infinite(&self, tree: &Tree, set: Id) -> bool {
        let module = self.module;
        let used = module.closure_of([&references(tree, &module.source, set, &[])]);
        used.iter().filter_map(|name| module.definition(name)).any(|definition| {
            let tree = &definition.tree;
            let mut inside = tree.ids().filter(|id| definition.code.contains(&tree.node(*id).start));
            inside.any(|id| {
                matches!(tree.kind(id), NodeKind::NumberSet | NodeKind::StringSet)
                    || tree.called_name(id).is_some_and(|name| tree.text(name, &module.source) == "Seq")
            })
        })
    }
}
