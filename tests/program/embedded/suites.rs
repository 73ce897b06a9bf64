//! The exemplars, the reference specifications of the suite, and known bugs: the embedded checker and TLC agree on
//! each.

use std::path::{Path, PathBuf};

use tlaforge::tla::{Cfg, CheckOutcome, Module};
use tlaforge::toolchain::{CheckRequest, SpecText, ToolContext, Toolchain, Translation};

use super::bench::{Bench, actions, taken, verdict};

/// Modules of a folder with their configurations.
pub(super) fn pairs(folder: &Path, fallback: Option<&Path>) -> Vec<(PathBuf, PathBuf)> {
    let mut found = Vec::new();
    for entry in walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().flatten() {
        let path = entry.into_path();
        if path.extension().is_some_and(|e| e == "tla") {
            let own = path.with_extension("cfg");
            let cfg = if own.is_file() { Some(own) } else { fallback.map(Path::to_owned) };
            found.extend(cfg.filter(|cfg| cfg.is_file()).map(|cfg| (path, cfg)));
        }
    }
    found
}

pub(super) async fn translated_request(
    bench: &Bench,
    tools: &dyn Toolchain,
    module: &Path,
    cfg: &Path,
) -> CheckRequest {
    let text = std::fs::read_to_string(module).unwrap();
    let name = Module::parse(&text).unwrap().name;
    let mut spec = SpecText { name, text, local_modules: Vec::new() };
    let cx = ToolContext { limits: &bench.limits, cancel: &bench.cancel, progress: &|_| {} };
    match tools.translate(&spec, &cx).await.unwrap() {
        Translation::NoAlgorithm => {}
        Translation::Translated(text) => spec.text = text,
        Translation::Rejected(why) => panic!("{}: {why:?}", module.display()),
    }
    let cfg_text = std::fs::read_to_string(cfg).unwrap();
    CheckRequest { spec, cfg: Cfg::parse(&cfg_text).unwrap(), cfg_text }
}

#[tokio::test]
async fn tlc_agrees_on_the_specifications_of_the_suite() {
    let bench = Bench::new();
    let project = crate::support::project();
    let mut all = pairs(&project.join("exemplars"), None);
    for case in std::fs::read_dir(project.join("evals")).unwrap().flatten() {
        let bugs = case.path().join("known_bugs");
        all.extend(pairs(&case.path().join("expected"), None));
        let bugs = pairs(&bugs, Some(&bugs.join("Spec.cfg")));
        // Each takes one or two runs of TLC, so all of them are compared only in a campaign.
        let some = if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { bugs.len() } else { 1 };
        all.extend(bugs.into_iter().take(some));
    }
    assert!(all.len() >= 15, "{all:?}");
    let (mut holds, mut named, mut branches) = (0, 0, 0);
    all.sort();
    let step = if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { 1 } else { 4 };
    for (module, cfg) in all.into_iter().step_by(step) {
        // Translated by the Java translator: this test compares only the checkers.
        let request = translated_request(&bench, &bench.java(), &module, &cfg).await;
        let (tlc, embedded, contradictions) = bench.both(&request).await;
        let shown = module.display();
        assert_eq!(contradictions, [""; 0], "{shown}");
        assert_eq!(verdict(&tlc), verdict(&embedded), "{shown}");
        if verdict(&tlc) == "violated deadlock" && module.parent().is_some_and(|dir| dir.ends_with("known_bugs")) {
            continue;
        }
        assert_eq!(verdict(&tlc), "holds", "{shown}");
        // The approval guard requires that each action is taken, and this can be decided without Java.
        assert_eq!(taken(&tlc), taken(&embedded), "{shown}");
        assert_eq!(tlc.statistics.distinct, embedded.statistics.distinct, "{shown}");
        assert_eq!(tlc.witnesses, embedded.witnesses, "{shown}");
        assert_eq!(tlc.branches, embedded.branches, "{shown}");
        branches += tlc.branches.as_ref().map_or(0, |branches| branches.searched);
        holds += 1;
        // A violation whose trace has the labels of the algorithm.
        let Some(witness) = request.cfg.witnesses.first() else { continue };
        let mut request = request.clone();
        let end = request.spec.text.rfind("\n====").expect("the module's end");
        request.spec.text.insert_str(end, &format!("\nTestNotReached == ~{witness}"));
        request.cfg = Cfg { invariants: vec!["TestNotReached".into()], witnesses: Vec::new(), ..request.cfg };
        let (tlc, embedded, contradictions) = bench.both(&request).await;
        assert_eq!(contradictions, [""; 0], "{shown}");
        assert_eq!(verdict(&embedded), "violated invariant TestNotReached", "{shown}");
        assert!(actions(&embedded).iter().skip(1).all(Option::is_some), "{shown}: {:?}", actions(&embedded));
        assert_eq!(actions(&tlc).len(), actions(&embedded).len(), "{shown}");
        let states = |outcome: &CheckOutcome| -> Vec<_> {
            outcome.trace.iter().flat_map(|t| &t.steps).map(|s| s.state.clone()).collect()
        };
        if states(&tlc) == states(&embedded) {
            assert_eq!(actions(&tlc), actions(&embedded), "{shown}");
            named += 1;
        }
    }
    let summary = format!("{holds} hold; of their witnesses' traces {named} are the same states and actions");
    assert!(holds >= 14 / step && named >= 1 && branches >= 1, "{summary}; {branches} branches");
}
