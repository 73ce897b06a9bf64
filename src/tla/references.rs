//! The names that an expression refers to. Operator symbols are references; bound names, record fields, strings and
//! comments are not.

use std::collections::BTreeSet;

use super::syntax::{Id, MAX_DEPTH, Tree};

/// The references of an expression.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct References {
    /// Identifiers and operator symbols that are not bound inside the expression.
    pub(crate) names: BTreeSet<String>,
    /// It refers to another module (`M!Op`) or to a subexpression by position, so `names` may be incomplete.
    pub(crate) foreign: bool,
}

/// The references of the expression at `root`. `bound` are names bound outside of it, such as parameters.
pub(crate) fn references(tree: &Tree, source: &str, root: Id, bound: &[String]) -> References {
    let mut walk = Walk { tree, source, found: References::default(), scope: bound.to_vec() };
    walk.visit(root, 0);
    walk.found
}

/// Adds the names that a node binds (`x, y \in S`, `<<x, y>>`, `LAMBDA x`, parameters).
fn add_bound_names(tree: &Tree, source: &str, id: Id, names: &mut Vec<String>) {
    for child in tree.children(id) {
        match tree.node(child).kind {
            "identifier" => names.push(tree.text(child, source).to_owned()),
            "tuple_of_identifiers" => add_bound_names(tree, source, child, names),
            "operator_declaration" => {
                if let Some(name) = tree.field(child, "name") {
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
            if node.kind == "prefixed_op" || node.kind == "subexpression" {
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
        match tree.node(id).kind {
            "identifier_ref" | "nat_number_set" | "int_number_set" | "real_number_set" => {
                self.refer(tree.text(id, self.source));
            }
            "record_value" => {
                if let Some(record) = tree.children(id).next() {
                    self.visit(record, depth + 1);
                }
            }
            "prefixed_op" => {
                self.found.foreign = true;
                for child in tree.children(id) {
                    if tree.node(child).field == Some("op") {
                        if tree.node(child).kind == "bound_op" {
                            for argument in tree.children(child).skip(1) {
                                self.visit(argument, depth + 1);
                            }
                        }
                    } else {
                        self.visit(child, depth + 1);
                    }
                }
            }
            "subexpr_prefix" => self.prefix(id, depth),
            "subexpression" => {
                self.found.foreign = true;
                self.children(id, depth);
            }
            "instance" => {
                self.found.foreign = true;
                for child in tree.children(id).skip(1) {
                    self.visit(child, depth + 1);
                }
            }
            "substitution" => {
                for child in tree.children(id).skip(1) {
                    self.visit(child, depth + 1);
                }
            }
            "bounded_quantification" | "set_filter" | "set_map" | "function_literal" | "function_definition" => {
                self.bounds(id, depth);
            }
            "unbounded_quantification" | "choose" | "lambda" => self.unbounded(id, depth),
            "let_in" => self.let_in(id, depth),
            "operator_definition" | "module_definition" => self.definition(id, depth),
            "identifier"
            | "except_update_record_field"
            | "recursive_declaration"
            | "variable_declaration"
            | "constant_declaration"
            | "operator_declaration" => {}
            "prefix_op_symbol" | "infix_op_symbol" | "postfix_op_symbol" => self.refer(tree.text(id, self.source)),
            _ => {
                if tree.node(id).field == Some("symbol") {
                    self.refer(tree.text(id, self.source));
                }
                self.children(id, depth);
            }
        }
    }

    /// `M!N!`: only the first name belongs to this module.
    fn prefix(&mut self, id: Id, depth: usize) {
        self.found.foreign = true;
        let mut first = true;
        for child in self.tree.children(id) {
            let component = self.tree.node(child).kind == "subexpr_component";
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
        let is_bound = |child: &Id| tree.node(*child).kind == "quantifier_bound";
        for bound in tree.children(id).filter(is_bound) {
            add_bound_names(tree, self.source, bound, &mut names);
            if let Some(set) = tree.field(bound, "set") {
                self.visit(set, depth + 1);
            }
        }
        if tree.node(id).kind == "function_definition"
            && let Some(name) = tree.field(id, "name")
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
        let set = tree.field(id, "set");
        if let Some(set) = set {
            self.visit(set, depth + 1);
        }
        let mark = self.scope.len();
        let mut names = Vec::new();
        add_bound_names(tree, self.source, id, &mut names);
        self.scope.extend(names);
        for child in tree.children(id).filter(|child| Some(*child) != set) {
            if tree.node(child).kind != "tuple_of_identifiers" {
                self.visit(child, depth + 1);
            }
        }
        self.scope.truncate(mark);
    }

    fn let_in(&mut self, id: Id, depth: usize) {
        let tree = self.tree;
        let mark = self.scope.len();
        for child in tree.children(id) {
            match tree.node(child).kind {
                "recursive_declaration" => {
                    let mut names = Vec::new();
                    add_bound_names(tree, self.source, child, &mut names);
                    self.scope.extend(names);
                }
                "operator_definition" | "function_definition" | "module_definition" => {
                    self.visit(child, depth + 1);
                    if let Some(name) = tree.field(child, "name") {
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
        let body = tree.field(id, "definition");
        let mut names = Vec::new();
        for child in tree.children(id).filter(|child| Some(*child) != body) {
            if tree.node(child).field == Some("name") {
                continue;
            }
            match tree.node(child).kind {
                "identifier" => names.push(tree.text(child, self.source).to_owned()),
                "operator_declaration" => {
                    if let Some(name) = tree.field(child, "name") {
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
