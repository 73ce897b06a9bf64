//! A module under neutral names and without comments: its formulas say what they say, and no word of it says what they
//! are meant to say.
//!
//! Every word has one neutral name, wherever it stands, and so has a string of the same letters: a label is the value of
//! `pc`, and `r.x` is `r["x"]`. So two words of the result are equal exactly if the original ones are. Numbers and what
//! TLA+, PlusCal, their translator and the standard modules name keep their names.

use std::collections::{BTreeMap, BTreeSet};

use super::layout::{Word, column_of, write_words};
use super::lexer::{Kind, Lines, Token, lex};
use super::module::Module;
use super::semantic::{exported_names, is_reserved};

/// Words of `PlusCal`.
const PLUSCAL: [&str; 33] = [
    "algorithm",
    "assert",
    "await",
    "begin",
    "by",
    "call",
    "define",
    "do",
    "either",
    "else",
    "elsif",
    "end",
    "fair",
    "goto",
    "if",
    "macro",
    "or",
    "print",
    "procedure",
    "process",
    "return",
    "skip",
    "then",
    "variable",
    "variables",
    "when",
    "while",
    "with",
    "self",
    "pc",
    "stack",
    "defaultInitValue",
    "ProcSet",
];

/// Names that the translator and custom give every module.
const CUSTOMARY: [&str; 9] = ["Init", "Next", "Spec", "vars", "TypeOK", "Terminating", "Termination", "Done", "Error"];

/// A module under neutral names.
#[derive(Debug, Clone)]
pub struct NeutralModule {
    pub text: String,
    /// The neutral names by word.
    names: BTreeMap<String, String>,
}

impl NeutralModule {
    /// The algorithm is kept and its translation left out, unless the translator has renamed variables, which the
    /// properties then name as the translation does. `properties` are named `P1`, `P2`, … in their order.
    pub fn new(module: &Module, properties: &[String]) -> Self {
        let mut names = Names::new(module, properties);
        let text = write(&module.source, &shown_tokens(module), &mut names);
        Self { text, names: names.given }
    }

    /// The neutral name of a word of the module.
    pub fn neutral(&self, word: &str) -> Option<&str> {
        self.names.get(word).map(String::as_str)
    }

    /// A sentence with the module's own names in place of neutral ones.
    pub fn restore(&self, sentence: &str) -> String {
        let originals: BTreeMap<&str, &str> = self.names.iter().map(|(word, name)| (name.as_str(), &**word)).collect();
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut restored = String::with_capacity(sentence.len());
        let mut rest = sentence;
        while !rest.is_empty() {
            let word_end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(word_end);
            restored.push_str(originals.get(word).copied().unwrap_or(word));
            let next_word = after.find(is_part).unwrap_or(after.len());
            restored.push_str(&after[..next_word]);
            rest = &after[next_word..];
        }
        restored
    }
}

/// The tokens that a reader is shown, without comments; the algorithm with the delimiters of its comment.
fn shown_tokens(module: &Module) -> Vec<Token> {
    let all = lex(&module.source, module.range.clone()).into_iter();
    let is_renamed = |name: &&str| !matches!(*name, "pc" | "stack");
    let shows_algorithm = module.algorithm.as_ref().filter(|algorithm| {
        let outside = |name: &str| {
            let mut declared = module.variables.iter().filter(|variable| variable.name == name);
            declared.any(|variable| !module.in_translation(variable.range.start))
        };
        let mut names = module.variable_names().into_iter().filter(is_renamed);
        names.all(|name| algorithm.variables.iter().any(|own| own == name) || outside(name))
    });
    let Some(algorithm) = shows_algorithm else { return all.filter(|token| !token.is_comment()).collect() };
    let shown = all.filter(|token| !module.in_translation(token.start));
    let mut tokens = Vec::new();
    for token in shown {
        if token.range() == algorithm.comment {
            let inside = lex(&module.source, algorithm.range.clone());
            let first = inside.first().copied().unwrap_or(token);
            let last = inside.last().copied().unwrap_or(token);
            // The delimiters, next to the algorithm: the prose between them and it is left out.
            tokens.push(Token { end: token.start + 2, ..token });
            tokens.extend(inside.into_iter().filter(|token| !token.is_comment() && token.end > first.start));
            let end = token.end.max(last.end);
            tokens.push(Token { start: end - 2, end, ..token });
        } else if !token.is_comment() {
            tokens.push(token);
        }
    }
    tokens
}

/// The neutral names that were given so far.
struct Names {
    kept: BTreeSet<String>,
    /// The first letter of a word's neutral name, if it is declared.
    letters: BTreeMap<String, char>,
    given: BTreeMap<String, String>,
    counts: BTreeMap<char, usize>,
}

impl Names {
    fn new(module: &Module, properties: &[String]) -> Self {
        let mut kept: BTreeSet<String> = CUSTOMARY.into_iter().map(str::to_owned).collect();
        let mut letters: BTreeMap<String, char> = BTreeMap::new();
        letters.extend(module.definitions.iter().map(|definition| (definition.name.clone(), 'a')));
        letters.extend(module.constants.iter().map(|constant| (constant.name.clone(), 'c')));
        letters.extend(module.variable_names().into_iter().map(|name| (name.to_owned(), 'v')));
        if let Some(algorithm) = &module.algorithm {
            kept.extend(PLUSCAL.into_iter().map(str::to_owned));
            letters.extend(algorithm.definitions.iter().map(|definition| (definition.name.clone(), 'a')));
            letters.extend(algorithm.labels.iter().map(|label| (label.name.clone(), 'a')));
            letters.extend(algorithm.variables.iter().map(|name| (name.clone(), 'v')));
        }
        for other in module.extends.iter().chain(&module.instances) {
            kept.insert(other.clone());
            kept.extend(exported_names(other).into_iter().flatten());
        }
        let given = properties.iter().enumerate().map(|(at, name)| (name.clone(), format!("P{}", at + 1))).collect();
        let mut names = Self { kept, letters, given, counts: BTreeMap::new() };
        names.given.insert(module.name.clone(), "M".to_owned());
        names
    }

    /// The neutral name of a word, or the word itself if it keeps its name.
    fn of(&mut self, word: &str, otherwise: char) -> String {
        if let Some(known) = self.given.get(word) {
            return known.clone();
        }
        if word.bytes().all(|byte| byte == b'_') || is_reserved(word) || self.kept.contains(word) {
            return word.to_owned();
        }
        let letter = self.letters.get(word).copied().unwrap_or(otherwise);
        let count = self.counts.entry(letter).or_default();
        *count += 1;
        let name = format!("{letter}{count}");
        self.given.insert(word.to_owned(), name.clone());
        name
    }

    fn token(&mut self, token: &Token, source: &str, before: &str) -> String {
        let text = token.text(source);
        match token.kind {
            Kind::Text => {
                let inside = text.trim_matches('"');
                let is_empty = inside.is_empty();
                if is_empty { text.to_owned() } else { format!("\"{}\"", self.of(inside, 's')) }
            }
            Kind::Word => {
                let fairness = ["WF_", "SF_"].into_iter().find(|prefix| text.starts_with(prefix));
                let (prefix, word) = fairness.map_or(("", text), |prefix| text.split_at(prefix.len()));
                // `<<A>>_x`, where the lexer takes the underscore for a part of the name.
                let (mark, word) = match word.strip_prefix('_') {
                    Some(rest) if before == ">>" && !rest.is_empty() => ("_", rest),
                    _ => ("", word),
                };
                let otherwise =
                    if matches!(before, "process" | "procedure" | "macro" | "algorithm") { 'a' } else { 'x' };
                let name = if word.is_empty() { String::new() } else { self.of(word, otherwise) };
                format!("{prefix}{mark}{name}")
            }
            _ => text.to_owned(),
        }
    }
}

/// Writes tokens under their neutral names. Lines stay lines, and bulleted lists mean what they meant.
fn write(source: &str, tokens: &[Token], names: &mut Names) -> String {
    let lines = Lines::new(source);
    let mut words: Vec<Word> = Vec::with_capacity(tokens.len());
    let (mut previous, mut line) = (None::<Token>, 0);
    for token in tokens {
        // Of the lines that comments leave empty, one is kept.
        let between = previous.map_or(0, |previous| lines.line(token.start) - lines.line(previous.end - 1));
        line += between.min(2);
        let before = previous.map_or("", |previous| previous.text(source));
        words.push(Word {
            line,
            column: column_of(source, token.start),
            is_apart: previous.is_some_and(|previous| previous.end < token.start),
            is_bullet: matches!(token.text(source), "/\\" | "\\/" | "\u{2227}" | "\u{2228}"),
            text: names.token(token, source, before),
            ..Word::default()
        });
        previous = Some(*token);
    }
    write_words(&words, |text| text.chars().map(char::len_utf16).sum()) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn neutral(text: &str, properties: &[&str]) -> NeutralModule {
        let properties: Vec<String> = properties.iter().map(|name| (*name).to_owned()).collect();
        NeutralModule::new(&Module::parse(text).unwrap(), &properties)
    }

    #[test]
    fn every_word_and_string_has_one_neutral_name() {
        let text = "about accounts\n---- MODULE Bank ----\nEXTENDS Naturals, Sequences\nCONSTANT Limit\n(* --algorithm Pay {\n  \
             variables balance = [owner |-> \"nobody\"], log = <<>>; \\* the ledger\n  \
             process (clerk = \"clerk\") { book: await Len(log) < Limit; balance.owner := \"owner\"; }\n} end of prose *)\n\
             \\* BEGIN TRANSLATION\nVARIABLES pc, balance, log\nvars == <<pc, balance, log>>\nclerk == pc[\"clerk\"] = \"book\"\n\
             Spec == [][clerk]_vars /\\ WF_vars(clerk)\n\\* END TRANSLATION\n\
             NoDebt == \\A entry \\in 1..Len(log) : pc[\"clerk\"] = \"book\" => balance[\"owner\"] # \"nobody\"\n\
             Grows == [][log' # log]_log\nOnce == <><<clerk>>_log /\\ WF_log(NoDebt)\n====\nthe end\n";
        let neutral = neutral(text, &["Grows", "NoDebt"]);
        assert_eq!(
            neutral.text,
            "---- MODULE M ----\nEXTENDS Naturals, Sequences\nCONSTANT c1\n(* --algorithm a1 {\n  \
             variables v1 = [x1 |-> \"s1\"], v2 = <<>>;\n  \
             process (a2 = \"a2\") { a3: await Len(v2) < c1; v1.x1 := \"x1\"; }\n} *)\n\n\
             P2 == \\A x2 \\in 1..Len(v2) : pc[\"a2\"] = \"a3\" => v1[\"x1\"] # \"s1\"\n\
             P1 == [][v2' # v2]_v2\na4 == <><<a2>>_v2 /\\ WF_v2(P2)\n====\n"
        );
        assert_eq!(neutral.neutral("balance"), Some("v1"));
        assert_eq!(neutral.neutral("Len"), None);
        assert_eq!(
            neutral.restore("No x2 of v2 where v1.x1 is \"s1\"; P12 and v10 are unknown."),
            "No entry of log where balance.owner is \"nobody\"; P12 and v10 are unknown."
        );
    }

    #[test]
    fn bullets_that_were_aligned_are_aligned() {
        for (definition, wanted) in [
            ("x == /\\ y\n     /\\ z", "a1 == /\\ x1\n      /\\ x2"),
            ("Longer == /\\ y (* c *) \n\n          /\\ z", "a1 ==     /\\ x1\n\n          /\\ x2"),
            (
                "x == y + /\\ \\/ z\n            \\/ u\n         /\\ w",
                "a1 == x1 + /\\ \\/ x2\n              \\/ x3\n           /\\ x4",
            ),
            ("Longer == /\\ y\n    => z", "a1 == /\\ x1\n    => x2"),
            // A tab reaches to column 8, and a character beyond U+FFFF counts two columns.
            (
                "x == \\/ y\n     \\/ z\n\t/\\ u\n     (*\u{1f600}*)/\\ w",
                "a1 == \\/ x1\n      \\/ x2\n        /\\ x3\n           /\\ x4",
            ),
        ] {
            let text = format!("---- MODULE M ----\n{definition}\n====\n");
            assert_eq!(neutral(&text, &[]).text, format!("---- MODULE M ----\n{wanted}\n====\n"));
        }
    }

    #[test]
    fn variables_that_the_translator_renamed_are_read_in_the_translation() {
        let text = "---- MODULE M ----\n(* --algorithm A { process (p = 1) variables mine = 0; { L: skip; }\n\
             process (q = 2) variables mine = 0; { K: skip; } } *)\n\\* BEGIN TRANSLATION\nVARIABLES mine, mine_q\n\
             \\* END TRANSLATION\nP == mine_q = 0\n====\n";
        assert_eq!(neutral(text, &["P"]).text, "---- MODULE M ----\n\nVARIABLES v1, v2\n\nP1 == v2 = 0\n====\n");
    }
}
