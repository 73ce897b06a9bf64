//! The translation block of a module, which the translator can always make again.

use super::module::translation;
use super::units::next_module;

/// A text without its translation block. A text that holds no module stays as it is.
pub fn without_translation(text: &str) -> String {
    let Some(range) = next_module(text, 0).and_then(|outline| translation(text, &outline.tokens)) else {
        return text.to_owned();
    };
    let before = text[..range.start].trim_end_matches([' ', '\t']);
    let after = &text[range.end..];
    format!("{before}{}", after.strip_prefix('\n').unwrap_or(after))
}
