//! Verifies the contracts of an attempt: they are those of its answer, for the steps of the module that they were made for.

use crate::journal::ArtifactStore;
use crate::pipeline::records::{Facts, Product, RunView, file};
use crate::prompt::extract_definitions;
use crate::tla::{DeclaredSteps, Module, StepContract, read_contracts};

/// What is wrong with the contracts of a product; `None` if nothing is, or if it has none.
///
/// # Errors
///
/// Why it could not be verified.
pub(super) fn objection(
    before: &RunView,
    product: &Product,
    store: Option<&ArtifactStore>,
) -> Result<Option<String>, String> {
    let Facts::Contracted { contracts, .. } = &product.facts else { return Ok(None) };
    let recomputed = recompute(before, product, store.ok_or("the texts are not at hand")?)?;
    Ok((recomputed != *contracts).then(|| "`facts.contracts` are not those of the answer".to_owned()))
}

fn recompute(before: &RunView, product: &Product, store: &ArtifactStore) -> Result<Vec<StepContract>, String> {
    let text = |name: &str| {
        let sha = product.artifacts.get(name).or_else(|| before.artifact(name));
        sha.map(|sha| store.text(sha).map_err(|error| error.to_string())).transpose()
    };
    // The module of the product has the contracts already.
    let merged = before.artifact(file::MERGED).or_else(|| before.artifact(file::MODULE));
    let merged = merged.ok_or("there is no module")?;
    let module = store.text(merged).map_err(|error| error.to_string())?;
    let module = Module::parse(&module).map_err(|error| error.to_string())?;
    let Some(steps) = DeclaredSteps::of(&module) else { return Ok(Vec::new()) };
    let answer = text(file::CONTRACTS_ANSWER)?.ok_or("there is no answer")?;
    let definitions = extract_definitions(&answer).map_err(|problem| problem.what)?;
    let contracts = read_contracts(&module, &steps, &definitions.value).map_err(|mistakes| mistakes.join("; "))?;
    Ok(contracts.steps)
}
