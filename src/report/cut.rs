//! Long texts.

pub(super) use crate::pipeline::on_one_line;

/// A text with at most this many characters, of which the last is `…` if it was cut.
pub(super) fn cut(text: &str, most: usize) -> String {
    if text.chars().nth(most).is_none() {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['\u{2026}']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_at_characters_and_only_if_it_is_too_long() {
        assert_eq!(cut("über", 4), "über");
        assert_eq!(cut("übers", 4), "übe…");
        assert_eq!(cut("", 0), "");
        assert_eq!(on_one_line(" a\n  b "), "a b");
    }
}
