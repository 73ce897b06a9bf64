//! The symbols of TLA+ that the translator knows. Any other lexeme is an identifier, a number, a string, or an error.

/// Reserved words, sorted for binary search.
const WORDS: &[&str] = &[
    "ASSUME",
    "ASSUMPTION",
    "AXIOM",
    "BOOLEAN",
    "CASE",
    "CHOOSE",
    "CONSTANT",
    "CONSTANTS",
    "DOMAIN",
    "ELSE",
    "ENABLED",
    "EXCEPT",
    "EXTENDS",
    "FALSE",
    "IF",
    "IN",
    "INSTANCE",
    "LET",
    "LOCAL",
    "MODULE",
    "OTHER",
    "SF_",
    "STRING",
    "SUBSET",
    "THEN",
    "THEOREM",
    "TRUE",
    "UNCHANGED",
    "UNION",
    "VARIABLE",
    "VARIABLES",
    "WF_",
    "WITH",
    "_",
];

/// Operators that are written as a backslash and a word, without the backslash.
const NAMED: &[&str] = &[
    "A",
    "AA",
    "E",
    "EE",
    "X",
    "approx",
    "asymp",
    "bigcirc",
    "bullet",
    "cap",
    "cdot",
    "circ",
    "cup",
    "div",
    "doteq",
    "equiv",
    "exists",
    "forall",
    "geq",
    "gg",
    "in",
    "intersect",
    "land",
    "leq",
    "ll",
    "lnot",
    "lor",
    "mod",
    "neg",
    "notin",
    "o",
    "odot",
    "ominus",
    "oplus",
    "oslash",
    "otimes",
    "prec",
    "preceq",
    "propto",
    "sim",
    "simeq",
    "sqcap",
    "sqcup",
    "sqsubset",
    "sqsubseteq",
    "sqsupset",
    "sqsupseteq",
    "star",
    "subset",
    "subseteq",
    "succ",
    "succeq",
    "supset",
    "supseteq",
    "times",
    "union",
    "uplus",
    "wr",
];

/// All other symbols, in the order of their code points.
const OPERATORS: &[&str] = &[
    "!", "!!", "#", "##", "$", "$$", "%", "%%", "&", "&&", "'", "(", "(+)", "(-)", "(.)", "(/)", "(\\X)", ")", "*",
    "**", "+", "++", ",", "-", "-+->", "--", "-.", "->", "-|", ".", "..", "...", "/", "//", "/=", "/\\", ":", "::=",
    ":=", ":>", ";", "<", "<-", "<:", "<<", "<=", "<=>", "<>", "=", "=<", "==", "=>", "=|", ">", ">=", ">>", ">>_",
    "?", "??", "@", "@@", "[", "[]", "\\", "\\/", "]", "]_", "^", "^#", "^*", "^+", "^^", "{", "|", "|-", "|->", "|=",
    "||", "}", "~", "~>", "¬", "×", "÷", "‖", "‥", "…", "‼", "⁇", "⁺", "←", "→", "↝", "↦", "⇒", "⇔", "⇸", "∀", "∃",
    "∈", "∉", "∘", "∝", "∧", "∨", "∩", "∪", "∼", "≀", "≃", "≅", "≈", "≍", "≐", "≔", "≜", "≠", "≡", "≤", "≥", "≪", "≫",
    "≺", "≻", "⊂", "⊃", "⊆", "⊇", "⊎", "⊏", "⊐", "⊑", "⊒", "⊓", "⊔", "⊕", "⊖", "⊗", "⊘", "⊙", "⊢", "⊣", "⊨", "⋅", "⋆",
    "□", "◇", "●", "◯", "⟨", "⟩", "⟩_", "⩴", "⪯", "⪰", "⫤",
];

/// The longest of [`OPERATORS`], in characters.
const LONGEST: usize = 4;

/// Whether a word is reserved.
pub(super) fn is_word(text: &str) -> bool {
    WORDS.binary_search(&text).is_ok()
}

/// Whether a backslash and this word are an operator.
pub(super) fn is_named(word: &str) -> bool {
    NAMED.binary_search(&word).is_ok()
}

/// The longest symbol at the start of these characters.
pub(super) fn longest(text: &[char]) -> Option<String> {
    (1..=LONGEST.min(text.len()))
        .rev()
        .map(|length| text[..length].iter().collect::<String>())
        .find(|candidate| OPERATORS.binary_search(&candidate.as_str()).is_ok())
}

/// Whether a symbol opens a bracket.
pub(super) fn opens(text: &str) -> bool {
    matches!(text, "(" | "[" | "{" | "<<" | "⟨")
}

/// Whether a symbol closes a bracket.
pub(super) fn closes(text: &str) -> bool {
    matches!(text, ")" | "]" | "}" | ">>" | "⟩" | ">>_" | "⟩_" | "]_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_can_be_searched() {
        for table in [WORDS, NAMED, OPERATORS] {
            assert!(table.is_sorted() && !table.is_empty());
        }
        assert_eq!(OPERATORS.iter().map(|symbol| symbol.chars().count()).max(), Some(LONGEST));
    }

    #[test]
    fn the_longest_symbol_is_found() {
        for (text, wanted) in [
            ("-+->x", Some("-+->")),
            ("-+-x", Some("-")),
            ("(+", Some("(")),
            ("(+)", Some("(+)")),
            ("|->", Some("|->")),
            ("::x", Some(":")),
            (":=", Some(":=")),
            ("≔", Some("≔")),
            ("]_v", Some("]_")),
            ("`", None),
            ("", None),
        ] {
            assert_eq!(longest(&text.chars().collect::<Vec<_>>()).as_deref(), wanted, "{text}");
        }
    }
}
