//! The translation block of a module: removes it, as the translator can always recreate it, and finds what only the
//! translator writes.

use super::algorithm::Algorithm;
use super::lexer::lex;
use super::module::{Module, translation};
use super::outcome::TERMINATING;
use super::units::next_module;

/// The text without its translation block. A text that contains no module is returned unchanged.
pub fn without_translation(text: &str) -> String {
    let Some(range) = next_module(text, 0).and_then(|outline| translation(text, &outline.tokens)) else {
        return text.to_owned();
    };
    let before = text[..range.start].trim_end_matches([' ', '\t']);
    let after = &text[range.end..];
    format!("{before}{}", after.strip_prefix('\n').unwrap_or(after))
}

impl Module {
    /// Whether this is the step that the translator adds for the end of the algorithm, by what it says and where it is: a
    /// label of the algorithm and an action written by hand can have the same name.
    pub fn is_translators_end(&self, name: &str) -> bool {
        const GENERATED: [&str; 2] = [
            "Terminating==/\\\\Aself\\inProcSet:pc[self]=\"Done\"/\\UNCHANGEDvars",
            "Terminating==pc=\"Done\"/\\UNCHANGEDvars",
        ];
        let is_label = |algorithm: &Algorithm| algorithm.labels.iter().any(|label| label.name == name);
        name == TERMINATING
            && self.algorithm.as_ref().is_some_and(|algorithm| !is_label(algorithm))
            && self.definition(name).is_some_and(|definition| {
                let tokens = lex(&self.source, definition.code.clone());
                let text: String =
                    tokens.iter().filter(|token| !token.is_comment()).map(|token| token.text(&self.source)).collect();
                self.in_translation(definition.code.start) && GENERATED.contains(&text.as_str())
            })
    }
}
