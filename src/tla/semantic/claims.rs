//! What the properties of a configuration do not decide, and what its specification assumes, read off the resolved modules.

use crate::tla::Cfg;

use super::graph::{ACTION, CONSTANT};
use super::model::{Connective, Expansion, Model};

/// What a verdict on a configuration does not cover.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Claims {
    /// Listed as PROPERTY without any temporal operator: checked in the initial states only.
    pub initial_only: Vec<String>,
    /// Properties with a part outside every temporal operator, and the text of that part: it is checked in the initial
    /// states only.
    pub initial_parts: Vec<(String, String)>,
}

/// Reads the claims of a configuration on the module `name`.
///
/// # Errors
/// Why the modules could not be read.
pub fn claims(name: &str, text: &str, beside: &[(String, String)], cfg: &Cfg) -> Result<Claims, String> {
    let model = Model::of(name, text, beside, cfg)?;
    let mut claims = Claims::default();
    for property in &cfg.properties {
        let formula = model.definition(property)?;
        if (CONSTANT + 1..=ACTION).contains(&model.level(&formula)?) {
            claims.initial_only.push(property.clone());
            continue;
        }
        let mut parts = Vec::new();
        initial_parts(&model, &formula, &mut parts)?;
        claims.initial_parts.extend(parts.into_iter().map(|part| (property.clone(), part)));
    }
    Ok(claims)
}

/// The parts of a temporal formula that speak of a state or a step and stand outside every temporal operator.
fn initial_parts(model: &Model, formula: &Expansion, parts: &mut Vec<String>) -> Result<(), String> {
    match model.level(formula)? {
        CONSTANT => return Ok(()),
        level if level <= ACTION => {
            let text = model.text(formula.node);
            if !parts.contains(&text) {
                parts.push(text);
            }
            return Ok(());
        }
        _ => {}
    }
    let formula = model.unfold(formula)?;
    let Some((connective, operands)) = model.parts(&formula) else { return Ok(()) };
    match connective {
        Connective::And | Connective::Or | Connective::All | Connective::Some | Connective::Other => {
            let all = operands.into_iter().chain(model.ranges(&formula));
            all.into_iter().try_for_each(|part| initial_parts(model, &part, parts))
        }
        Connective::Always | Connective::Square | Connective::Fairness => Ok(()),
    }
}
