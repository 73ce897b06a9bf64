//! The names that an expression refers to. Operator symbols are references; bound names, record fields, strings and
//! comments are not.

use std::collections::BTreeSet;

use super::syntax::{Field, Id, MAX_DEPTH, NodeKind, Tree};

/// The references of an expression.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct References {
    /// Identifiers and operator symbols that are not bound inside the expression.
    pub names: BTreeSet<String>,
    /// It refers to another module (`M!Op`) or to a subexpression by position, so `names` may be incomplete.
    pub foreign: bool,
}

/// The references of the expression at `root`. `bound` are names bound outside of it, such as parameters.
pub fn references(tree: &Tree, source: &str, root: Id, bound: &[String]) -> References {
    let mut walk = Walk { tree, source, found: References::default(), scope: bound.to_vec() };
    walk.visit(root, 0);
    walk.found
}

/// Adds the names that a node binds (`x, y \in S`, `<<x, y>>`, `LAMBDA x`, parameters).
fn add_bound_names(tree: &Tree, source: &str, id: Id, names: &mut Vec<String>) {
    for child in tree.children(id) {
        match tree.kind(child) {
            NodeKind::Identifier => names.push(tree.text(child, source).to_owned()),
            NodeKind::IdentifierTuple => add_bound_names(tree, source, child, names),
            NodeKind::OperatorDeclaration => {
                if let Some(name) = tree.field(child, Field::Name) {
                    names.push(canonical(tree.text(name, source)).to_owned());
                }
            }
            _ => {}
        }
    }
}

/// The usual spelling of an operator that has several.
pub(crate) fn canonical(symbol: &str) -> &str {
    match symbol {
        "=<" | "\\leq" | "\u{2264}" => "<=",
        "\\geq" | "\u{2265}" => ">=",
        "#" | "\u{2260}" => "/=",
        "\\neg" | "\\lnot" | "\u{ac}" => "~",
        "\\land" | "\u{2227}" => "/\\",
        "\\lor" | "\u{2228}" => "\\/",
        "\\union" | "\u{222a}" => "\\cup",
        "\\intersect" | "\u{2229}" => "\\cap",
        "\\equiv" | "\u{2261}" | "\u{21d4}" => "<=>",
        "\\o" | "\u{2218}" => "\\circ",
        "\\X" | "\u{d7}" => "\\times",
        "(+)" => "\\oplus",
        "(-)" => "\\ominus",
        "(.)" => "\\odot",
        "(/)" => "\\oslash",
        "(\\X)" => "\\otimes",
        "\u{2208}" => "\\in",
        "\u{2209}" => "\\notin",
        other => other,
    }
}

struct Walk<'a> {
    tree: &'a Tree,
    source: &'a str,
    found: References,
    scope: Vec<String>,
}

impl Walk<'_> {
    fn refer(&mut self, name: &str) {
        let name = canonical(name);
        if !self.scope.iter().any(|bound| bound == name) {
            self.found.names.insert(name.to_owned());
        }
    }

    /// Below [`MAX_DEPTH`] every identifier counts as a reference: callers can cope with too many, not with too few.
    fn visit_flat(&mut self, root: Id) {
        let mut open = vec![root];
        while let Some(id) = open.pop() {
            let node = self.tree.node(id);
            if node.children.is_empty() {
                let text = canonical(node.text_in(self.source)).to_owned();
                self.found.names.insert(text);
            }
            if node.kind == NodeKind::ForeignCall || node.kind == NodeKind::Subexpression {
                self.found.foreign = true;
            }
            open.extend(self.tree.children(id));
        }
    }

    fn children(&mut self, id: Id, depth: usize) {
        let children: Vec<Id> = self.tree.children(id).collect();
        for child in children {
            self.visit(child, depth + 1);
        }
    }

    fn visit(&mut self, id: Id, depth: usize) {
        if depth > MAX_DEPTH {
            return self.visit_flat(id);
        }
        let tree = self.tree;
        match tree.kind(id) {
            NodeKind::Reference | NodeKind::NumberSet | NodeKind::OperatorName | NodeKind::Symbol(_) => {
                self.refer(tree.text(id, self.source));
            }
            NodeKind::FieldAccess => {
                if let Some(record) = tree.children(id).next() {
                    self.visit(record, depth + 1);
                }
            }
            NodeKind::ForeignCall => {
                self.found.foreign = true;
                for child in tree.children(id) {
                    if tree.node(child).field == Some(Field::Callee) {
                        if tree.kind(child) == NodeKind::Call {
                            for argument in tree.children(child).skip(1) {
                                self.visit(argument, depth + 1);
                            }
                        }
                    } else {
                        self.visit(child, depth + 1);
                    }
                }
            }
            NodeKind::ForeignPrefix => self.prefix(id, depth),
            NodeKind::Subexpression => {
                self.found.foreign = true;
                self.children(id, depth);
            }
            NodeKind::Instance => {
                self.found.foreign = true;
                for child in tree.children(id).skip(1) {
                    self.visit(child, depth + 1);
                }
            }
            NodeKind::Substitution => {
                for child in tree.children(id).skip(1) {
                    self.visit(child, depth + 1);
                }
            }
            NodeKind::Bounded
            | NodeKind::SetFilter
            | NodeKind::SetMap
            | NodeKind::FunctionLiteral
            | NodeKind::FunctionDefinition => {
                self.bounds(id, depth);
            }
            NodeKind::Unbounded | NodeKind::Choose | NodeKind::Lambda => self.unbounded(id, depth),
            NodeKind::LetIn => self.let_in(id, depth),
            NodeKind::OperatorDefinition | NodeKind::ModuleDefinition => self.definition(id, depth),
            NodeKind::Identifier
            | NodeKind::ExceptField
            | NodeKind::RecursiveDeclaration
            | NodeKind::OperatorDeclaration => {}
            _ => self.children(id, depth),
        }
    }

    /// `M!N!`: only the first name belongs to this module.
    fn prefix(&mut self, id: Id, depth: usize) {
        self.found.foreign = true;
        let mut first = true;
        for child in self.tree.children(id) {
            let component = self.tree.kind(child) == NodeKind::ForeignComponent;
            if first || !component {
                self.visit(child, depth + 1);
            } else {
                for inner in self.tree.children(child) {
                    for argument in self.tree.children(inner).skip(1) {
                        self.visit(argument, depth + 1);
                    }
                }
            }
            first = false;
        }
    }

    fn bounds(&mut self, id: Id, depth: usize) {
        let tree = self.tree;
        let mark = self.scope.len();
        let mut names = Vec::new();
        let is_bound = |child: &Id| tree.kind(*child) == NodeKind::Bound;
        for bound in tree.children(id).filter(is_bound) {
            add_bound_names(tree, self.source, bound, &mut names);
            if let Some(set) = tree.field(bound, Field::Set) {
                self.visit(set, depth + 1);
            }
        }
        if tree.kind(id) == NodeKind::FunctionDefinition
            && let Some(name) = tree.field(id, Field::Name)
        {
            names.push(tree.text(name, self.source).to_owned());
        }
        self.scope.extend(names);
        for child in tree.children(id).filter(|child| !is_bound(child)) {
            self.visit(child, depth + 1);
        }
        self.scope.truncate(mark);
    }

    fn unbounded(&mut self, id: Id, depth: usize) {
        let tree = self.tree;
        let set = tree.field(id, Field::Set);
        if let Some(set) = set {
            self.visit(set, depth + 1);
        }
        let mark = self.scope.len();
        let mut names = Vec::new();
        add_bound_names(tree, self.source, id, &mut names);
        self.scope.extend(names);
        for child in tree.children(id).filter(|child| Some(*child) != set) {
            if tree.kind(child) != NodeKind::IdentifierTuple {
                self.visit(child, depth + 1);
            }
        }
        self.scope.truncate(mark);
    }

    fn let_in(&mut self, id: Id, depth: usize) {
        let tree = self.tree;
        let mark = self.scope.len();
        for child in tree.children(id) {
            match tree.kind(child) {
                NodeKind::RecursiveDeclaration => {
                    let mut names = Vec::new();
                    add_bound_names(tree, self.source, child, &mut names);
                    self.scope.extend(names);
                }
                NodeKind::OperatorDefinition | NodeKind::FunctionDefinition | NodeKind::ModuleDefinition => {
                    self.visit(child, depth + 1);
                    if let Some(name) = tree.field(child, Field::Name) {
                        self.scope.push(canonical(tree.text(name, self.source)).to_owned());
                    }
                }
                _ => self.visit(child, depth + 1),
            }
        }
        self.scope.truncate(mark);
    }

    fn definition(&mut self, id: Id, depth: usize) {
        let tree = self.tree;
        let mark = self.scope.len();
        let body = tree.field(id, Field::Definition);
        let mut names = Vec::new();
        for child in tree.children(id).filter(|child| Some(*child) != body) {
            if tree.node(child).field == Some(Field::Name) {
                continue;
            }
            match tree.kind(child) {
                NodeKind::Identifier => names.push(tree.text(child, self.source).to_owned()),
                NodeKind::OperatorDeclaration => {
                    if let Some(name) = tree.field(child, Field::Name) {
                        names.push(canonical(tree.text(name, self.source)).to_owned());
                    }
                }
                _ => {}
            }
        }
        self.scope.extend(names);
        if let Some(body) = body {
            self.visit(body, depth + 1);
        }
        self.scope.truncate(mark);
    }
}
