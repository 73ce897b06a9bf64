//! A module under neutral names: it says the same as the original, in none of its words.

use std::collections::BTreeSet;

use tlaforge::tla::{Cfg, Kind, Module, NeutralModule, lex};
use tlaforge::toolchain::{ToolContext, Toolchain, Translation};

use super::bench::Bench;
use super::suites::{pairs, translated_request};

/// The words of a text that may not be left: names and words of comments and strings, without those of TLA+ and PlusCal,
/// their translator and the standard modules.
fn words(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = text.split(|c| !is_part(c)).filter(|word| word.len() > 2 && !word.bytes().all(|b| b.is_ascii_digit()));
    words.map(str::to_owned).collect()
}

/// All words of TLA+, PlusCal and the standard modules that the specifications of the project use.
const KEPT: &str = "MODULE EXTENDS CONSTANT CONSTANTS VARIABLE VARIABLES RECURSIVE LOCAL INSTANCE ASSUME LET IN IF THEN ELSE CASE OTHER \
    CHOOSE LAMBDA DOMAIN SUBSET UNION EXCEPT UNCHANGED ENABLED TRUE FALSE BOOLEAN STRING cup cap notin subseteq union intersect div \
    Naturals Integers Sequences FiniteSets TLC Bags Nat Int Seq Len Head Tail Append SubSeq SelectSeq Cardinality IsFiniteSet Assert \
    Permutations algorithm fair process begin end define macro procedure variable variables while either await when with goto call \
    return skip print assert then else elsif self stack defaultInitValue ProcSet Init Next Spec vars TypeOK Terminating Termination \
    Done Error WF_vars SF_vars _vars";

/// The configuration under the neutral names of its module.
fn neutral_cfg(cfg: &str, module: &NeutralModule) -> String {
    let mut text = String::new();
    let mut end = 0;
    for token in lex(cfg, 0..cfg.len()) {
        let word = token.text(cfg);
        let witness = word
            .strip_prefix("\\* WITNESS ")
            .map(|name| format!("\\* WITNESS {}", module.neutral(name.trim()).unwrap_or(name)));
        // Other words that begin with a small letter are model values: `c1` could be a constant now.
        let is_value = word.starts_with(|c: char| c.is_ascii_lowercase());
        let name = module.neutral(word).map(str::to_owned).or_else(|| is_value.then(|| format!("value_{word}")));
        let name = name.filter(|_| token.kind == Kind::Word);
        text.push_str(&cfg[end..token.start]);
        text.push_str(witness.as_deref().or(name.as_deref()).unwrap_or(word));
        end = token.end;
    }
    text + &cfg[end..]
}

#[tokio::test]
async fn a_module_under_neutral_names_has_the_same_states_and_none_of_its_words() {
    let bench = Bench::new();
    let project = crate::support::project();
    let mut all = pairs(&project.join("exemplars"), None);
    for case in std::fs::read_dir(project.join("evals")).unwrap().flatten() {
        all.extend(pairs(&case.path().join("expected"), None));
    }
    assert!(all.len() >= 14, "{all:?}");
    let embedded = bench.embedded();
    let cx = ToolContext { limits: &bench.limits, cancel: &bench.cancel, progress: &|_| {} };
    for (path, cfg) in all {
        let shown = path.display();
        let request = translated_request(&bench, &embedded, &path, &cfg).await;
        let properties = [request.cfg.invariants.clone(), request.cfg.properties.clone()].concat();
        let module = Module::parse(&request.spec.text).unwrap();
        let neutral = NeutralModule::new(&module, &properties);
        // Of the comments of the module, its algorithm and its strings, nothing is left.
        let kept = words(KEPT);
        let left: Vec<String> = words(&neutral.text).intersection(&words(&module.source)).cloned().collect();
        let left: Vec<&String> = left.iter().filter(|word| !kept.contains(*word)).collect();
        assert!(left.is_empty(), "{shown}: {left:?}\n{}", neutral.text);
        assert!(!neutral.text.contains("\\*"), "{shown}");

        let mut renamed = request.clone();
        renamed.spec.name = "M".to_owned();
        renamed.spec.text.clone_from(&neutral.text);
        let Translation::Translated(text) = embedded.translate(&renamed.spec, &cx).await.unwrap() else {
            panic!("{shown}: it has no algorithm:\n{}", neutral.text);
        };
        renamed.spec.text = text;
        renamed.cfg_text = neutral_cfg(&request.cfg_text, &neutral);
        renamed.cfg = Cfg::parse(&renamed.cfg_text).unwrap();
        let original = bench.check(&request).await;
        let outcome = bench.check(&renamed).await;
        assert_eq!(outcome.verdict, original.verdict, "{shown}\n{}", neutral.text);
        assert_eq!(outcome.statistics.distinct, original.statistics.distinct, "{shown}\n{}", neutral.text);
        assert_eq!(outcome.statistics.generated, original.statistics.generated, "{shown}");
        assert_eq!(outcome.checked_names().count(), original.checked_names().count(), "{shown}");
        let reached = |outcome: &tlaforge::tla::CheckOutcome| -> Vec<_> {
            outcome.witnesses.iter().map(|witness| witness.reached.clone()).collect()
        };
        assert_eq!(reached(&outcome), reached(&original), "{shown}");
    }
}
