//! Whether a text is one expression, so that it can be put into a module.

use super::Module;

/// Rejects what is not one expression of TLA+. Whether it is a correct one, the static checks say.
///
/// # Errors
/// What is wrong, as the end of a sentence about the text.
pub fn check_expression(text: &str) -> Result<(), &'static str> {
    if text.trim().is_empty() {
        return Err("is empty: write an expression of TLA+");
    }
    // It would end the module, or begin another definition.
    let module = Module::parse(&format!("---- MODULE M ----\nA ==\n{text}\n====\n"));
    let is_one =
        module.is_ok_and(|module| module.definitions.len() == 1 && module.range.end + 1 == module.source.len());
    if is_one { Ok(()) } else { Err("is not one expression of TLA+: definitions go into LET") }
}
