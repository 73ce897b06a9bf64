//! Formulas as names of files.

/// Symbols and their words, longer ones first.
const WORDS: [(&str, &str); 21] = [
    ("<->", "iff"),
    ("<=>", "iff"),
    ("->", "implies"),
    ("=>", "implies"),
    ("&&", "and"),
    ("||", "or"),
    ("==", "eq"),
    ("!=", "ne"),
    ("<=", "le"),
    (">=", "ge"),
    ("&", "and"),
    ("|", "or"),
    ("=", "eq"),
    ("<", "lt"),
    (">", "gt"),
    ("+", "plus"),
    ("-", "minus"),
    ("*", "times"),
    ("/", "over"),
    ("@", "at"),
    (":", "is"),
];

/// The longest name that [`file_name`] makes of a formula, in bytes, before its fingerprint.
const MOST: usize = 80;

/// A formula with words for its operators and `_` for spaces: `F(psi_1 | psi_2) & G(!psi_3)` becomes
/// `F(psi_1_or_psi_2)_and_G(!psi_3)`.
///
/// What no file system takes in a name becomes `_`. Different formulas may become the same; [`file_name`] keeps them
/// apart.
pub fn replace_special_characters(spec: &str) -> String {
    let mut out = String::new();
    let mut rest = spec.trim();
    let gap = |out: &mut String| {
        if !out.is_empty() && !out.ends_with(['_', '(']) {
            out.push('_');
        }
    };
    while let Some(c) = rest.chars().next() {
        if let Some((symbol, word)) = WORDS.iter().find(|(symbol, _)| rest.starts_with(symbol)) {
            gap(&mut out);
            out.push_str(word);
            rest = &rest[symbol.len()..];
            if !rest.trim_start().is_empty() {
                out.push('_');
            }
            rest = rest.trim_start();
            continue;
        }
        rest = &rest[c.len_utf8()..];
        if c.is_alphanumeric() || "_!().".contains(c) {
            out.push(c);
        } else if !rest.trim_start().starts_with(')') {
            gap(&mut out);
        }
    }
    out
}

/// A name of at most 113 bytes, in characters that every file system takes, that tells formulas apart: the readable
/// form cut short, and a 128-bit fingerprint of the text (FNV-1a), which two texts share only by a rare chance.
pub fn file_name(spec: &str) -> String {
    let readable: String = replace_special_characters(spec)
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "_!()".contains(c) { c } else { '_' })
        .take(MOST)
        .collect();
    let fingerprint = spec.bytes().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128, |hash, byte| {
        (hash ^ u128::from(byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013B)
    });
    format!("{readable}-{fingerprint:032x}")
}
