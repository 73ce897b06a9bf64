//! Translation, parsing and the checks before a run of the embedded checker, all in our own code. It starts no process
//! and does not know whether it runs in this process or in a child (see `static_checks_child`).

use tlaforge_pluscal::Options;
use tlaforge_tla::semantic::{analyze, elaborate};
use tlaforge_tla::{
    CheckOutcome, Checker, Diagnostic, Module, Stage, Verdict, check_cfg_names_for_check, has_pluscal_algorithm,
};

use super::bounds::configured_bounds;
use super::lint::lint_spec;
use super::translate_pluscal::translate_pluscal;
use super::{CheckRequest, ParseOutcome, SpecText, Translation};

pub(super) fn translate(spec: &SpecText, allowed_modules: &[String]) -> Translation {
    let refused = lint_spec(spec, allowed_modules);
    if !refused.is_empty() {
        return Translation::Rejected(refused);
    }
    // The translator takes the first algorithm of the file, also one in prose or in a string.
    if !has_pluscal_algorithm(&spec.text) {
        return Translation::NoAlgorithm;
    }
    match translate_pluscal(&spec.text, &Options::default()) {
        Ok(Some(translated)) => Translation::Translated(translated.text),
        Ok(None) => Translation::NoAlgorithm,
        Err(diagnostics) => Translation::Rejected(diagnostics),
    }
}

/// Whether a module is TLA+, by our own checks; the error is what they cannot decide.
pub(super) fn parse(spec: &SpecText, allowed_modules: &[String]) -> Result<ParseOutcome, String> {
    let refused = lint_spec(spec, allowed_modules);
    if !refused.is_empty() {
        return Ok(ParseOutcome::Rejected(refused));
    }
    let found = analyze(&spec.name, &spec.text, &spec.local_modules);
    match found.not_analysed.first() {
        _ if found.is_rejected() => Ok(ParseOutcome::Rejected(found.errors)),
        Some(what) => Err(what.to_string()),
        None => Ok(ParseOutcome::Accepted { warnings: found.warnings }),
    }
}

pub(super) fn undecided(request: &CheckRequest, why: &str) -> CheckOutcome {
    let rejected = CheckOutcome::rejected(Checker::Embedded, configured_bounds(&request.cfg), Vec::new());
    CheckOutcome { verdict: Verdict::inconclusive(why), ..rejected }
}

fn refused(request: &CheckRequest, why: &str) -> CheckOutcome {
    undecided(request, &format!("the embedded checker refuses it: {why}"))
}

/// The outcome if the checker must not run on this request. The checker accepts what TLC rejects (undefined names, two
/// kinds of initial predicates), and what has no core is refused here.
pub(super) fn find_unsupported(request: &CheckRequest) -> Option<CheckOutcome> {
    let spec = &request.spec;
    if let Ok(module) = Module::parse(&spec.text) {
        let cfg = &request.cfg;
        // A model value that only names itself is harmless.
        let mut named = cfg.clone();
        named.constants.retain(|name, value| name != value || module.constants.iter().any(|known| known.name == *name));
        if cfg.gives_no_behaviour() && module.variable_names().is_empty() && extends_variables(spec, &module) {
            return Some(refused(request, "no behaviour is given, and an extended module may have variables"));
        }
        let unfit = check_cfg_names_for_check(&module, &named);
        // TLC rejects such an invariant when it reads the configuration; the embedded checker would evaluate it.
        let unfit = if unfit.is_empty() { find_wrong_levels(request, &module) } else { unfit };
        if !unfit.is_empty() {
            return Some(CheckOutcome::rejected(Checker::Embedded, configured_bounds(&request.cfg), unfit));
        }
    }
    let local_modules = spec.local_modules.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let modules: Vec<(&str, &str)> =
        std::iter::once((spec.name.as_str(), spec.text.as_str())).chain(local_modules).collect();
    let without_core = elaborate(&modules, &request.cfg_text).err()?;
    if without_core.stage == Stage::Config {
        let bounds = configured_bounds(&request.cfg);
        return Some(CheckOutcome::rejected(Checker::Embedded, bounds, vec![without_core]));
    }
    Some(refused(request, &without_core.message))
}

/// Whether a module that this one extends, directly or not, declares variables or cannot be parsed.
fn extends_variables(spec: &SpecText, module: &Module) -> bool {
    let mut seen: Vec<&str> = Vec::new();
    let mut names: Vec<String> = module.extends.clone();
    while let Some(name) = names.pop() {
        let Some((name, text)) = spec.local_modules.iter().find(|(known, _)| *known == name) else { continue };
        if seen.contains(&name.as_str()) {
            continue;
        }
        seen.push(name);
        match Module::parse(text) {
            Ok(extended) if extended.variables.is_empty() => names.extend(extended.extends),
            _ => return true,
        }
    }
    false
}

/// Finds invariants that are not state predicates, and properties that are actions. It analyses a definition for each name: only a
/// state predicate can be primed, and `[]` cannot precede an action.
fn find_wrong_levels(request: &CheckRequest, module: &Module) -> Vec<Diagnostic> {
    let CheckRequest { spec, cfg, .. } = request;
    let invariants = cfg.invariants.iter().map(|name| (name, format!("({name})'"), false));
    let properties = cfg.properties.iter().map(|name| (name, format!("[]({name})"), true));
    let is_own = |name: &String| module.definition(name).is_some() && !cfg.constants.contains_key(name);
    let listed: Vec<_> = invariants.chain(properties).filter(|(name, ..)| is_own(name)).collect();
    let rejected = |definitions: &[&str]| {
        let mut own = "TlaforgeLevels".to_owned();
        while spec.text.contains(&own) {
            own.push('_');
        }
        let defined = definitions.iter().enumerate().map(|(at, definition)| format!("{own}{at} == {definition}\n"));
        let text = format!("---- MODULE {own} ----\nEXTENDS {}\n{}====\n", spec.name, defined.collect::<String>());
        let mut local_modules = spec.local_modules.clone();
        local_modules.push((spec.name.clone(), spec.text.clone()));
        let is_about_levels = |message: &str| message.contains("level") || message.contains("not of the form");
        analyze(&own, &text, &local_modules).errors.iter().any(|error| is_about_levels(&error.message))
    };
    // All at once first: usually none is rejected, and one analysis is enough.
    let all: Vec<&str> = listed.iter().map(|(_, definition, _)| definition.as_str()).collect();
    if all.is_empty() || !rejected(&all) {
        return Vec::new();
    }
    let wrong = listed.iter().filter(|(_, definition, _)| rejected(&[definition]));
    let message = |name: &str, is_property: bool| {
        if is_property {
            format!(
                "the property {name} is an action: `[][{name}]_v`, with v for the variables, says that each step is one"
            )
        } else {
            format!("the invariant {name} is not a state predicate: it refers to a next state or to a behaviour")
        }
    };
    let diagnostic = |name: &str, is_property: bool| Diagnostic {
        stage: Stage::Config,
        line: 0,
        column: 0,
        message: message(name, is_property),
    };
    wrong.map(|(name, _, is_property)| diagnostic(name, *is_property)).collect()
}
