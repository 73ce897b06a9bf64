//! Repairs escapes that name half a character. `JavaScript` writes them when it cuts a text between the two halves, and no
//! parser of Rust accepts them.

use std::borrow::Cow;

/// The JSON text with U+FFFD in place of each escape of a surrogate without its other half. The length stays the same.
pub(super) fn repair_surrogates(json: &[u8]) -> Cow<'_, [u8]> {
    let mut repaired = Cow::Borrowed(json);
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', &json[at..]) {
        at += found;
        match escape_at(json, at) {
            Some(high) if (0xD800..0xDC00).contains(&high) => {
                if escape_at(json, at + 6).is_some_and(|low| (0xDC00..0xE000).contains(&low)) {
                    at += 12;
                } else {
                    replace(&mut repaired, at);
                    at += 6;
                }
            }
            Some(low) if (0xDC00..0xE000).contains(&low) => {
                replace(&mut repaired, at);
                at += 6;
            }
            // Two characters, so that an escaped backslash begins no other escape.
            _ => at += 2,
        }
        if at >= json.len() {
            break;
        }
    }
    repaired
}

/// The code unit of an escape `\uXXXX` at this place.
fn escape_at(json: &[u8], at: usize) -> Option<u16> {
    let digits = json.get(at..at + 6)?.strip_prefix(b"\\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

fn replace(repaired: &mut Cow<'_, [u8]>, at: usize) {
    repaired.to_mut()[at..at + 6].copy_from_slice(b"\\ufffd");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_only_halves_without_their_other_half() {
        for (json, expected) in [
            (r#""a\ud83d""#, r#""a\ufffd""#),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\ude00\ud83d""#, r#""\ufffd\ufffd""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\\ud83d""#, r#""\\ud83d""#),
            (r#""\\\ud83d""#, r#""\\\ufffd""#),
            (r#""\uD83Dx\n\""#, r#""\ufffdx\n\""#),
            (r#""\ud8"#, r#""\ud8"#),
            ("\\", "\\"),
        ] {
            assert_eq!(repair_surrogates(json.as_bytes()), expected.as_bytes(), "{json}");
        }
    }
}
