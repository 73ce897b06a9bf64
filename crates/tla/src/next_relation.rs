//! The next-state relation of a specification, found in the module's text: `Next` and `vars` of `[][Next]_vars`.

use super::cfg::Cfg;
use super::module::Module;
use super::syntax::{Id, NodeKind};

/// `[][Next]_vars` with the formula that contains it.
pub(super) struct NextRelation {
    /// The text of the next-state relation; usually the name of a definition.
    pub(super) next: String,
    /// The state function below the brackets.
    pub(super) subscript: String,
    /// The formula of the whole specification.
    pub(super) specification: String,
}

impl NextRelation {
    /// Searches the specification that the configuration names, and everything it is defined by, for the only
    /// `[Next]_vars`. An error says why there is none.
    pub(super) fn find(module: &Module, cfg: &Cfg) -> Result<Self, String> {
        let Some(specification) = &cfg.specification else {
            let (Some(init), Some(next)) = (&cfg.init, &cfg.next) else {
                return Err("the configuration names no specification".to_owned());
            };
            let subscript = module.variable_tuple();
            let specification = format!("{init} /\\ [][{next}]_{subscript}");
            return Ok(Self { next: next.clone(), subscript, specification });
        };
        let by_name = module.definitions_by_name();
        let mut names = module.closure(specification);
        names.insert(specification.clone());
        let mut found = Vec::new();
        for definition in names.iter().filter_map(|name| by_name.get(name.as_str())) {
            let tree = &definition.tree;
            for id in tree.of_kind(NodeKind::BoxAction) {
                let children: Vec<Id> = tree.children(id).collect();
                if let [step, .., subscript] = children[..] {
                    let text = |id: Id| tree.text(id, &module.source).trim().to_owned();
                    found.push((text(step), text(subscript)));
                }
            }
        }
        match found.as_slice() {
            [(next, subscript)] => {
                Ok(Self { next: next.clone(), subscript: subscript.clone(), specification: specification.clone() })
            }
            _ => Err(format!("`{specification}` does not show one next-state relation")),
        }
    }
}
