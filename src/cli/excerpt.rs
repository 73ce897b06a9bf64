//! The part of a formula around an error.

/// How many characters of a formula are shown before and behind an error.
const SHOWN: usize = 30;

/// What stands around a byte of a text, on one line, and how many characters of it come before that byte.
pub(super) fn excerpt(text: &str, at: usize) -> (String, usize) {
    let characters: Vec<(usize, char)> = text.char_indices().collect();
    let place = characters.partition_point(|(start, _)| *start < at);
    let (from, to) = (place.saturating_sub(SHOWN), (place + SHOWN).min(characters.len()));
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let mut shown: String = if from > 0 { "…" } else { "" }.into();
    shown.extend(characters[from..to].iter().map(|(_, c)| plain(*c)));
    if to < characters.len() {
        shown.push('…');
    }
    (shown, place - from + usize::from(from > 0))
}
