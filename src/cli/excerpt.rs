//! The part of a formula around an error.

/// Number of characters shown before and after an error.
const CONTEXT: usize = 30;

/// Returns the text around a byte offset, on one line, and the number of characters before the offset.
pub(super) fn excerpt(text: &str, offset: usize) -> (String, usize) {
    let characters: Vec<(usize, char)> = text.char_indices().collect();
    let place = characters.partition_point(|(start, _)| *start < offset);
    let (from, to) = (place.saturating_sub(CONTEXT), (place + CONTEXT).min(characters.len()));
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let mut shown: String = if from > 0 { "…" } else { "" }.into();
    shown.extend(characters[from..to].iter().map(|(_, c)| plain(*c)));
    if to < characters.len() {
        shown.push('…');
    }
    (shown, place - from + usize::from(from > 0))
}
