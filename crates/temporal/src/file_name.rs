//! File names for formulas. Knows their text only.

/// Symbols and the words for them; longer symbols first, because the first match is taken.
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

/// Maximum length of the readable part of a file name, in bytes. With a hyphen and the fingerprint: 113.
const MAX_READABLE: usize = 80;

/// A formula with words for its operators and `_` for spaces: `F(psi_1 | psi_2) & G(!psi_3)` becomes
/// `F(psi_1_or_psi_2)_and_G(!psi_3)`.
///
/// Characters that are not portable in file names become `_`, so different formulas can give the same text;
/// [`file_name`] distinguishes them.
///
/// # Examples
/// ```
/// use tlaforge_temporal::replace_special_characters;
///
/// assert_eq!(replace_special_characters("F(psi_1 | psi_2) & G(!psi_3)"), "F(psi_1_or_psi_2)_and_G(!psi_3)");
/// ```
pub fn replace_special_characters(spec: &str) -> String {
    let mut out = String::new();
    let mut rest = spec.trim();
    let push_separator = |out: &mut String| {
        if !out.is_empty() && !out.ends_with(['_', '(']) {
            out.push('_');
        }
    };
    while let Some(c) = rest.chars().next() {
        if let Some((symbol, word)) = WORDS.iter().find(|(symbol, _)| rest.starts_with(symbol)) {
            push_separator(&mut out);
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
        // No separator before a parenthesis: `(a )` becomes `(a)`.
        } else if !rest.trim_start().starts_with(')') {
            push_separator(&mut out);
        }
    }
    out
}

/// A file name of at most 113 bytes of ASCII that distinguishes formulas: the readable form of
/// [`replace_special_characters`], cut to 80 characters, a hyphen, and the 128-bit FNV-1a hash of the text.
///
/// # Examples
/// ```
/// use tlaforge_temporal::file_name;
///
/// let name = file_name("G (x < 5)");
/// assert!(name.starts_with("G_(x_lt_5)-"));
/// assert_ne!(name, file_name("G  (x < 5)"), "the fingerprint is that of the text as it is written");
/// ```
pub fn file_name(spec: &str) -> String {
    let readable: String = replace_special_characters(spec)
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "_!()".contains(c) { c } else { '_' })
        .take(MAX_READABLE)
        .collect();
    // The offset basis and the prime of FNV-1a for 128 bits.
    let fingerprint = spec.bytes().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128, |hash, byte| {
        (hash ^ u128::from(byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013B)
    });
    format!("{readable}-{fingerprint:032x}")
}
