//! Verifies the contracts of an attempt: they are those of its answer, for the steps of the module that they were made for, and
//! module and configuration are the earlier ones with exactly these contracts.

use crate::journal::ArtifactStore;
use crate::pipeline::records::{Facts, Product, RunView, file};
use crate::prompt::extract_definitions;
use crate::tla::{
    Cfg, Contracts, DeclaredSteps, Module, Sections, merge, read_contracts, with_contracts, without_translation,
};

/// What is wrong with the contracts of a product; `None` if nothing is, or if it has none.
///
/// # Errors
///
/// Why it could not be verified.
pub(super) fn find_objection(
    before: &RunView,
    product: &Product,
    store: Option<&ArtifactStore>,
) -> Result<Option<String>, String> {
    let Facts::Contracted { contracts, .. } = &product.facts else { return Ok(None) };
    let store = store.ok_or("the artifact texts are not available")?;
    let text = |name: &str| {
        let sha = product.artifacts.get(name).ok_or_else(|| format!("the product has no {name}"))?;
        store.text(sha).map_err(|error| error.to_string())
    };
    let (module_text, cfg_text) = (text(file::MERGED)?, text(file::MERGED_CFG)?);
    if let Some(wrong) = find_other_base(before, product) {
        return Ok(Some(wrong));
    }
    let Ok(module) = Module::parse(&module_text) else {
        return Ok(Some("the merged module cannot be read".to_owned()));
    };
    let Ok(cfg) = Cfg::parse(&cfg_text) else { return Ok(Some("the merged configuration cannot be read".to_owned())) };
    let (made, made_cfg) = (text(file::MODULE)?, text(file::CFG)?);
    let Some(steps) = DeclaredSteps::from_module(&module) else {
        let is_same = *contracts == Contracts::of_unlabelled() && made == module_text && made_cfg == cfg_text;
        return Ok((!is_same).then(|| "the module has no steps that could have contracts".to_owned()));
    };
    let answer = text(file::CONTRACTS_ANSWER)?;
    let read =
        extract_definitions(&answer).ok().and_then(|read| read_contracts(&module, &cfg, &steps, &read.value).ok());
    let Some(read) = read else { return Ok(Some("the answer holds no contracts for these steps".to_owned())) };
    if read.steps != *contracts {
        return Ok(Some("`facts.contracts` are not those of the answer".to_owned()));
    }
    let with = with_contracts(&cfg_text, &cfg, &read);
    let sections = Sections { properties: &read.definitions, cfg: &with, ..Sections::default() };
    let merged = merge(&without_translation(&module_text), &sections).map(|merged| merged.text);
    let is_merge = merged.is_ok_and(|merged| without_translation(&merged) == without_translation(&made));
    Ok((!is_merge || with != made_cfg)
        .then(|| "module or configuration are not the earlier ones with these contracts".to_owned()))
}

/// The contracts have to be added to what was merged last.
fn find_other_base(before: &RunView, product: &Product) -> Option<String> {
    [(file::MERGED, file::MODULE), (file::MERGED_CFG, file::CFG)].into_iter().find_map(|(merged, plain)| {
        let expected = before.artifact(merged).or_else(|| before.artifact(plain));
        (product.artifacts.get(merged) != expected).then(|| format!("{merged} is not the one before the contracts"))
    })
}
