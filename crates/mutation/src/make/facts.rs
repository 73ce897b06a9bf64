//! Facts about the complete module that operators need: which definitions are actions, which variables and parameters are
//! of the same kind, which strings a variable takes. Computed once, before any mutant is made.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::excerpt::excerpt;
use super::protected::label_mentions;
use tlaforge_tla::{Cfg, Definition, Field, Id, Kind, Module, NodeKind, References, Tree, lex, references};

pub(super) struct Facts<'a> {
    pub(super) module: &'a Module,
    pub(super) cfg: &'a Cfg,
    /// Global variables with the shape of their initial value, in order.
    pub(super) globals: Vec<(String, String)>,
    /// Names and strings in protected definitions, which may include labels.
    pub(super) judged_names: BTreeSet<String>,
    pub(super) judged_strings: BTreeSet<String>,
    action_names: BTreeSet<String>,
    /// By definition and parameter index: the set that contains the argument in every call.
    params: BTreeMap<(String, usize), Option<String>>,
    strings: BTreeMap<String, Vec<String>>,
    words: OnceCell<BTreeSet<&'a str>>,
}

impl<'a> Facts<'a> {
    /// `initial` are the definitions of the initial predicate, `used` all definitions that may be mutated.
    pub(super) fn collect(module: &'a Module, cfg: &'a Cfg, initial: &[&Definition], used: &[&Definition]) -> Self {
        let (judged_names, judged_strings) = label_mentions(module, cfg);
        let mut facts = Self {
            module,
            cfg,
            globals: Vec::new(),
            judged_names,
            judged_strings,
            action_names: BTreeSet::new(),
            params: BTreeMap::new(),
            strings: BTreeMap::new(),
            words: OnceCell::new(),
        };
        let primes = |definition: &&&Definition| definition.has_syntax_errors || has_prime(&definition.tree);
        let by_name = module.definitions_by_name();
        let direct = by_name.values().filter(primes).map(|definition| definition.name.as_str());
        facts.action_names = module.users_of(direct).into_iter().map(str::to_owned).collect();
        facts.globals = match &module.algorithm {
            Some(algorithm) => facts.declared_shapes(&algorithm.tree, global_declarations(&algorithm.tree)),
            None => initial.iter().flat_map(|definition| facts.initial_values(&definition.tree)).collect(),
        };
        let trees = used.iter().map(|definition| &definition.tree).chain(module.algorithm.as_ref().map(|a| &a.tree));
        for tree in trees.clone() {
            facts.collect_strings(tree);
        }
        // Each pass propagates sets through one more level of calls.
        for _ in 0..3 {
            for definition in used {
                facts.collect_argument_sets(&definition.tree, Some(definition));
            }
        }
        facts
    }

    /// Whether a node refers to the next state, directly or through a definition.
    pub(super) fn refers_to_next_state(&self, tree: &Tree, id: Id) -> bool {
        let refers = references(tree, &self.module.source, id, &[]);
        primes_below(tree, id) || refers.names.iter().any(|name| self.action_names.contains(name))
    }

    /// Whether a definition refers to the next state.
    pub(super) fn is_action(&self, name: &str) -> bool {
        self.action_names.contains(name)
    }

    /// A name that does not occur in the module: `root`, or `root` with a number.
    pub(super) fn fresh_name(&self, root: &str) -> String {
        let source = self.module.source.as_str();
        let words = self.words.get_or_init(|| {
            let tokens = lex(source, 0..source.len());
            // An algorithm is inside a comment.
            let inside = tokens.iter().filter(|token| token.kind == Kind::BlockComment);
            let inside = inside.flat_map(|token| lex(source, token.start + 2..token.end));
            tokens.iter().copied().chain(inside).filter(|t| t.kind == Kind::Word).map(|t| t.text(source)).collect()
        });
        let numbered = (2..).map(|number| format!("{root}{number}"));
        let mut names = std::iter::once(root.to_owned()).chain(numbered);
        names.find(|name| !words.contains(name.as_str())).unwrap_or_default()
    }

    /// The set that contains the argument for a parameter in every call, if there is one.
    pub(super) fn parameter_set(&self, definition: &str, index: usize) -> Option<String> {
        self.params.get(&(definition.to_owned(), index)).cloned().flatten()
    }

    /// Other strings that the same variable or field is assigned or compared with.
    pub(super) fn other_strings(&self, tree: &Tree, parents: &[Option<Id>], string: Id) -> Vec<&str> {
        let own = tree.text(string, &self.module.source);
        let key = self.string_key(tree, parents, string);
        let known = key.and_then(|key| self.strings.get(&key)).map_or(&[][..], Vec::as_slice);
        known.iter().map(String::as_str).filter(|other| *other != own).collect()
    }

    /// Variables of a declaration with their shapes.
    pub(super) fn declared_shapes(&self, tree: &Tree, declarations: Vec<Id>) -> Vec<(String, String)> {
        let source = &self.module.source;
        let of = |id: Id| {
            let name = tree.children(id).next()?;
            let shape = match tree.field(id, Field::Set) {
                Some(set) => self.shape(tree, set, true),
                None => self.shape(tree, tree.field(id, Field::Value)?, false),
            };
            Some((tree.text(name, source).to_owned(), shape?))
        };
        declarations.into_iter().filter_map(of).collect()
    }

    /// The variables and shapes of `x = e` and `x \in S` in an initial predicate.
    fn initial_values(&self, tree: &Tree) -> Vec<(String, String)> {
        let source = &self.module.source;
        let of = |id: Id| {
            let symbol = tree.operator(id);
            let (left, right) = tree.operands(id)?;
            let name = tree.text(left, source);
            let is_variable = self.module.variables.iter().any(|variable| variable.name == name);
            (is_variable && matches!(symbol, "=" | "\\in"))
                .then(|| Some((name.to_owned(), self.shape(tree, right, symbol == "\\in")?)))?
        };
        let mut found: Vec<(String, String)> = Vec::new();
        for (name, shape) in tree.of_kind(NodeKind::Infix).filter_map(of) {
            if !found.iter().any(|(known, _)| *known == name) {
                found.push((name, shape));
            }
        }
        found
    }

    /// The kind of value of an expression, as far as its syntax shows it.
    fn shape(&self, tree: &Tree, id: Id, element: bool) -> Option<String> {
        let node = tree.node(id);
        let text = excerpt(tree.text(id, &self.module.source), usize::MAX);
        Some(match (node.kind, tree.operator(id)) {
            (_, "..") if element => "number".to_owned(),
            (NodeKind::BooleanSet, _) if element => "boolean".to_owned(),
            _ if element => format!("from {text}"),
            (NodeKind::Parentheses, _) => self.shape(tree, tree.children(id).next()?, element)?,
            (NodeKind::Number, _) | (_, "+" | "-" | "*" | "\\div" | "%" | "-.") => "number".to_owned(),
            (NodeKind::Boolean, _) => "boolean".to_owned(),
            (NodeKind::Text, _) => "string".to_owned(),
            (NodeKind::SetLiteral, _) => "set".to_owned(),
            (NodeKind::TupleLiteral, _) => "sequence".to_owned(),
            (NodeKind::FunctionLiteral, _) => {
                let children: Vec<Id> = tree.children(id).collect();
                let set = tree.field(*children.first()?, Field::Set)?;
                let of = self.shape(tree, *children.last()?, false)?;
                format!("{} to {of}", excerpt(tree.text(set, &self.module.source), usize::MAX))
            }
            (NodeKind::Reference, _) => match self.cfg.constants.get(&text) {
                Some(value) if value.parse::<i64>().is_ok() => "number".to_owned(),
                Some(value) if value.starts_with('"') => "string".to_owned(),
                Some(value) if value.starts_with('{') => "set".to_owned(),
                _ => text,
            },
            _ => text,
        })
    }

    fn collect_strings(&mut self, tree: &Tree) {
        let parents = parents(tree);
        for id in tree.of_kind(NodeKind::Text) {
            if let Some(key) = self.string_key(tree, &parents, id) {
                let text = tree.text(id, &self.module.source).to_owned();
                let known = self.strings.entry(key).or_default();
                if !known.contains(&text) {
                    known.push(text);
                }
            }
        }
    }

    /// The variable, or `.field`, that a string is assigned to or compared with.
    fn string_key(&self, tree: &Tree, parents: &[Option<Id>], string: Id) -> Option<String> {
        let source = &self.module.source;
        let mut at = string;
        loop {
            let parent = parents[at]?;
            let node = tree.node(parent);
            match node.kind {
                NodeKind::Parentheses | NodeKind::CaseArm | NodeKind::OtherArm | NodeKind::SetLiteral => {}
                // A string in the condition is compared, not assigned.
                NodeKind::IfThenElse if tree.node(at).field != Some(Field::Condition) => {}
                NodeKind::FunctionLiteral if tree.kind(at) != NodeKind::Bound => {}
                NodeKind::Except => return self.read_key(tree, tree.field(parent, Field::Updated)?),
                NodeKind::ExceptUpdate => {
                    let specifier = tree.field(parent, Field::Path)?;
                    let last = tree.children(specifier).last()?;
                    if tree.kind(last) == NodeKind::ExceptField {
                        return Some(format!(".{}", tree.text(tree.children(last).next()?, source)));
                    }
                }
                NodeKind::RecordLiteral | NodeKind::RecordSet => {
                    let before: Vec<Id> = tree.children(parent).take_while(|child| *child != at).collect();
                    let name = before.iter().rfind(|child| tree.node(**child).kind == NodeKind::Identifier)?;
                    return Some(format!(".{}", tree.text(*name, source)));
                }
                NodeKind::Infix => {
                    let (left, right) = tree.operands(parent)?;
                    if !matches!(tree.operator(parent), "=" | "/=" | "\\in" | "\\notin") {
                        return None;
                    }
                    return self.read_key(tree, if left == at { right } else { left });
                }
                NodeKind::Assign => {
                    let before: Vec<Id> = tree.children(parent).take_while(|child| *child != at).collect();
                    return self.read_key(
                        tree,
                        *before.iter().rfind(|child| tree.node(**child).kind == NodeKind::AssignTarget)?,
                    );
                }
                NodeKind::Variable | NodeKind::ProcedureVariable => {
                    return Some(tree.text(tree.children(parent).next()?, source).to_owned());
                }
                _ => return None,
            }
            at = parent;
        }
    }

    /// The variable that an expression reads, or its last `.field`.
    fn read_key(&self, tree: &Tree, id: Id) -> Option<String> {
        let source = &self.module.source;
        let node = tree.node(id);
        let first = tree.children(id).next();
        match node.kind {
            NodeKind::Reference => Some(tree.text(id, source).to_owned()),
            NodeKind::FunctionApplication | NodeKind::Parentheses | NodeKind::Postfix => self.read_key(tree, first?),
            NodeKind::FieldAccess => Some(format!(".{}", tree.text(tree.children(id).last()?, source))),
            NodeKind::AssignTarget => {
                let last = tree.children(id).last()?;
                let field = tree.kind(last) == NodeKind::Identifier;
                Some(if field { format!(".{}", tree.text(last, source)) } else { tree.text(first?, source).to_owned() })
            }
            _ => None,
        }
    }

    /// Records the sets that contain the arguments of calls.
    fn collect_argument_sets(&mut self, tree: &Tree, within: Option<&Definition>) {
        let parents = parents(tree);
        for id in tree.of_kind(NodeKind::Call) {
            let source = &self.module.source;
            let children: Vec<Id> = tree.children(id).collect();
            let Some((name, arguments)) = children.split_first() else { continue };
            let name = tree.text(*name, source).to_owned();
            for (index, argument) in arguments.iter().enumerate() {
                let set = self.binding_set(tree, &parents, *argument, within);
                let known = self.params.entry((name.clone(), index)).or_insert_with(|| set.clone());
                // The set of a parameter of the caller may become known in a later pass.
                if known.is_none()
                    && within
                        .is_some_and(|d| d.params.iter().any(|p| p.name == tree.text(*argument, &self.module.source)))
                {
                    *known = set;
                // Two calls with arguments from different sets.
                } else if *known != set {
                    *known = None;
                }
            }
        }
    }

    /// The set from which an identifier is bound at its position.
    fn binding_set(&self, tree: &Tree, parents: &[Option<Id>], id: Id, within: Option<&Definition>) -> Option<String> {
        let source = &self.module.source;
        let name = tree.text(id, source);
        if tree.kind(id) != NodeKind::Reference {
            return None;
        }
        let mut at = parents[id];
        while let Some(binder) = at {
            for bound in tree.children(binder).filter(|child| tree.kind(*child) == NodeKind::Bound) {
                if tree.children(bound).any(|c| tree.kind(c) == NodeKind::Identifier && tree.text(c, source) == name) {
                    return tree.field(bound, Field::Set).map(|set| excerpt(tree.text(set, source), usize::MAX));
                }
            }
            at = parents[binder];
        }
        let within = within?;
        let index = within.params.iter().position(|param| param.name == name)?;
        self.parameter_set(&within.name, index)
    }

    /// All names reachable from these references through definitions.
    pub(super) fn reachable_names(&self, refers: &References) -> BTreeSet<String> {
        let mut names = refers.names.clone();
        for name in self.module.closure_of([refers]) {
            if let Some(definition) = self.module.definition(&name) {
                names.extend(definition.referenced_names().iter().cloned());
            }
        }
        names
    }
}

/// The parent of each node of a tree.
pub(super) fn parents(tree: &Tree) -> Vec<Option<Id>> {
    let mut parents = vec![None; tree.ids().len()];
    for id in tree.ids() {
        for child in &tree.node(id).children {
            parents[*child] = Some(id);
        }
    }
    parents
}

pub(super) fn global_declarations(tree: &Tree) -> Vec<Id> {
    let algorithm = tree.of_kind(NodeKind::Algorithm).next();
    let blocks =
        algorithm.into_iter().flat_map(|id| tree.children(id)).filter(|id| tree.kind(*id) == NodeKind::Variables);
    blocks.flat_map(|block| tree.children(block)).collect()
}

fn has_prime(tree: &Tree) -> bool {
    tree.ids().any(|id| tree.kind(id).is_next_state())
}

fn primes_below(tree: &Tree, root: Id) -> bool {
    let mut open = vec![root];
    while let Some(id) = open.pop() {
        if tree.kind(id).is_next_state() {
            return true;
        }
        open.extend(tree.children(id));
    }
    false
}
