//! Modules in which assertions fail whatever their condition is: a check of one shows if a reachable step evaluates them. Pure.

use super::cfg::Cfg;
use super::module::Module;
use super::outcome::ASSERTION;
use super::syntax::NodeKind;

/// An assertion of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailingAssertion {
    /// The condition on one line.
    pub condition: String,
    /// The module with FALSE in place of the condition.
    pub module: String,
}

/// The assertions of a module, each failing alone, and the module in which all of them fail. `None` unless `Assertion` covers a
/// requirement and the module has assertions.
pub fn failing_assertions(module: &Module, cfg: &Cfg) -> Option<(Vec<FailingAssertion>, String)> {
    if !cfg.covers.contains_key(ASSERTION) {
        return None;
    }
    let source = &module.source;
    let mut ranges = Vec::new();
    for definition in module.definitions_by_name().into_values() {
        let tree = &definition.tree;
        for call in tree.of_kind(NodeKind::Call) {
            let mut parts = tree.children(call);
            if let (Some(name), Some(condition)) = (parts.next(), parts.next())
                && tree.text(name, source) == "Assert"
            {
                ranges.push(tree.range(condition));
            }
        }
    }
    ranges.sort_by_key(|range: &std::ops::Range<usize>| range.start);
    // Of nested ones, the outer one is replaced.
    let mut end = 0;
    ranges.retain(|range| {
        let is_inside = range.start < end;
        end = end.max(range.end);
        !is_inside
    });
    let with_false = |failing: &[std::ops::Range<usize>]| {
        let mut text = source.clone();
        for range in failing.iter().rev() {
            // Lines and columns of what follows stay what they are, because they decide what a bulleted list means.
            let blank: String = source[range.clone()].chars().map(|c| if c == '\n' { c } else { ' ' }).collect();
            let by = blank.strip_prefix("     ").map_or_else(|| format!("FALSE{blank}"), |rest| format!("FALSE{rest}"));
            text.replace_range(range.clone(), &by);
        }
        text
    };
    let alone = ranges.iter().map(|range| FailingAssertion {
        condition: source[range.clone()].split_whitespace().collect::<Vec<_>>().join(" "),
        module: with_false(std::slice::from_ref(range)),
    });
    (!ranges.is_empty()).then(|| (alone.collect(), with_false(&ranges)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_assertion_fails_alone_and_nested_ones_with_the_outer_one() {
        let text = "---- MODULE M ----\nEXTENDS TLC\nVARIABLE n\nNext == /\\ Assert(n < 9 /\\\n                  n > 1, \"\u{e9}\")\n        \
                    /\\ Assert(Assert(n = 1, \"\u{e9}\u{e9}\"), \"two\")\n====\n";
        let cfg = Cfg::parse("INIT Init\nNEXT Next\n\\* Assertion covers R1\n").unwrap();
        let (alone, all) = failing_assertions(&Module::parse(text).unwrap(), &cfg).unwrap();
        let conditions: Vec<&str> = alone.iter().map(|one| one.condition.as_str()).collect();
        assert_eq!(conditions, ["n < 9 /\\ n > 1", "Assert(n = 1, \"\u{e9}\u{e9}\")"]);
        // Lines and columns of the rest stay.
        let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            squeezed(&alone[0].module).contains("Assert(FALSE , \"\u{e9}\") /\\ Assert(Assert(n = 1"),
            "{}",
            alone[0].module
        );
        assert!(squeezed(&all).contains("Assert(FALSE , \"two\")"), "{all}");
        assert_eq!(all.lines().count(), text.lines().count());
        assert!(failing_assertions(&Module::parse(text).unwrap(), &Cfg::default()).is_none());
    }
}
