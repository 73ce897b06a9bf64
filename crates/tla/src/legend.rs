//! What the variables of a module mean, for someone who does not know it: the comment at a declaration, or the type that
//! `TypeOK` gives.

use super::algorithm::Algorithm;
use super::module::Module;
use super::syntax::NodeKind;

/// Each variable in alphabetical order with its meaning; `None` if the module says nothing about it.
pub fn variable_legend(module: &Module) -> Vec<(String, Option<String>)> {
    let meaning = |name: &str| {
        declared_comment(module, name).or_else(|| declared_type(module, name)).or_else(|| {
            // The translator of PlusCal declares these two.
            match (module.algorithm.is_some(), name) {
                (true, "pc") => Some("the next step of each process".to_owned()),
                (true, "stack") => Some("the procedures that each process has called".to_owned()),
                _ => None,
            }
        })
    };
    module.variable_names().into_iter().map(|name| (name.to_owned(), meaning(name))).collect()
}

/// The comment at the first declaration of the variable that has one: at the end of its line, or on the lines above.
fn declared_comment(module: &Module, name: &str) -> Option<String> {
    let source = module.source.as_str();
    let in_algorithm = module.algorithm.iter().flat_map(|algorithm| declarations(algorithm, source, name));
    // The translation declares the variables of the algorithm again, below a comment of the translator.
    let own = |range: &std::ops::Range<usize>| !module.in_translation(range.start);
    let declared = module.variables.iter().filter(|variable| variable.name == name);
    let outside = declared.map(|variable| variable.range.clone()).filter(own);
    in_algorithm.chain(outside).find_map(|range| comment_at(source, range.start, range.end))
}

fn declarations<'a>(
    algorithm: &'a Algorithm,
    source: &'a str,
    name: &'a str,
) -> impl Iterator<Item = std::ops::Range<usize>> + 'a {
    let tree = &algorithm.tree;
    tree.ids()
        .filter(|id| matches!(tree.kind(*id), NodeKind::Variable | NodeKind::ProcedureVariable))
        .filter(move |id| tree.children(*id).next().is_some_and(|first| tree.text(first, source) == name))
        .map(|id| tree.node(id).start..tree.node(id).end)
}

/// The comment in the line where the declaration ends, or else in the lines of comments directly above its start.
fn comment_at(source: &str, start: usize, end: usize) -> Option<String> {
    let after = source[end..].lines().next().unwrap_or_default();
    if let Some(comment) = comment_text(after) {
        return Some(comment);
    }
    let line = source[..start].rfind('\n').unwrap_or(0);
    let is_comment = |line: &&str| line.trim_start().starts_with("\\*");
    let above: Vec<&str> = source[..line].lines().rev().take_while(is_comment).collect();
    let text = above.into_iter().rev().filter_map(comment_text).collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(text)
}

/// The text of the comment in a line.
fn comment_text(line: &str) -> Option<String> {
    let text = match (line.split_once("\\*"), line.split_once("(*")) {
        (Some((_, comment)), _) => comment,
        (None, Some((_, comment))) => comment.split("*)").next()?,
        (None, None) => return None,
    };
    // The first line of a block comment can be the algorithm itself.
    let text = text.trim().trim_matches('*').trim();
    (!text.is_empty() && !text.starts_with("--")).then(|| text.to_owned())
}

/// What the conjunct of `TypeOK` about the variable says: `in 0..Max`, with the operator in its TLA+ spelling.
fn declared_type(module: &Module, name: &str) -> Option<String> {
    let type_ok = module.definition("TypeOK")?;
    let lines = module.source[type_ok.code.clone()].lines();
    let text = lines.map(|line| line.split("\\*").next().unwrap_or_default()).collect::<Vec<_>>().join(" ");
    let (_, body) = text.split_once("==")?;
    body.split("/\\").find_map(|conjunct| {
        let conjunct = conjunct.split_whitespace().collect::<Vec<_>>().join(" ");
        let rest = conjunct.strip_prefix(name)?.trim_start();
        let is_type = ["\\in ", "\\subseteq ", "\u{2208}", "\u{2286}"].iter().any(|sign| rest.starts_with(sign));
        is_type.then(|| rest.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn legend(text: &str) -> Vec<String> {
        let module = Module::parse(text).unwrap();
        let line = |(name, meaning): (String, Option<String>)| format!("{name}: {}", meaning.unwrap_or_default());
        variable_legend(&module).into_iter().map(line).collect()
    }

    #[test]
    fn a_variable_is_described_by_its_comment_or_else_by_its_type() {
        let text = "---- MODULE Spec ----\nEXTENDS Naturals\n(* --algorithm A {\n  \
             variables holders = {}, last = 0,   \\* the lease server\n            \
             \\* all writes\n            \\* so far\n            log = <<>>,\n            highest = 0;\n  \
             process (p \\in {1, 2}) variable mine = 0; (* its token *) {\n    Go:\n      skip;\n  }\n} *)\n\
             \\* BEGIN TRANSLATION (chksum(pcal) = \"1\")\nVARIABLES pc, holders, last, log, highest, mine\n\\* END TRANSLATION\n\
             TypeOK ==\n  /\\ highest \\in 0..3\n  /\\ mine \\in [{1, 2} -> 0..3]\n====\n";
        assert_eq!(
            legend(text),
            [
                "highest: \\in 0..3",
                "holders: the lease server",
                "last: the lease server",
                "log: all writes so far",
                "mine: its token",
                "pc: the next step of each process",
            ]
        );
        let plain = "---- MODULE Spec ----\nVARIABLES x, \\* the counter\n  y,\n  z\nTypeOK == y \\in {1} /\\ x \\in {2}\n====\n";
        assert_eq!(legend(plain), ["x: the counter", "y: \\in {1}", "z: "]);
    }
}
