//! Removes the translation block of a module. The translator can always recreate it.

use super::module::translation;
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
