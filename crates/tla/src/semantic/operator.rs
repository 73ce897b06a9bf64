//! The operator symbols of TLA+: spellings, fixity, and each one's range of precedence.
//!
//! Source: "Specifying Systems", table 6, and version 2 of the language. Two operators need no parentheses only if
//! their ranges do not overlap, or if they are the same left-associative operator.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fixity {
    Prefix,
    Infix,
    /// `\X`, a chain of which makes one product.
    Product,
    Postfix,
}

/// One operator with all its spellings.
#[derive(Debug, PartialEq, Eq)]
pub struct Operator {
    /// The spelling under which it is declared and looked up.
    pub name: &'static str,
    pub fixity: Fixity,
    pub low: u8,
    pub high: u8,
    pub left: bool,
}

impl Operator {
    pub(super) fn is_infix(&self) -> bool {
        matches!(self.fixity, Fixity::Infix | Fixity::Product)
    }

    pub(super) fn is_prefix(&self) -> bool {
        self.fixity == Fixity::Prefix
    }

    pub fn is_postfix(&self) -> bool {
        self.fixity == Fixity::Postfix
    }

    /// Whether it binds tighter than `right`, wherever both are.
    pub(super) fn tighter(&self, right: &Self) -> bool {
        self.low > right.high
    }

    /// Whether it binds looser than `right`, wherever both are.
    pub(super) fn looser(&self, right: &Self) -> bool {
        self.high < right.low
    }
}

const fn prefix(name: &'static str, low: u8, high: u8) -> Operator {
    Operator { name, fixity: Fixity::Prefix, low, high, left: false }
}

const fn infix(name: &'static str, low: u8, high: u8) -> Operator {
    Operator { name, fixity: Fixity::Infix, low, high, left: false }
}

const fn left(name: &'static str, low: u8, high: u8) -> Operator {
    Operator { name, fixity: Fixity::Infix, low, high, left: true }
}

const fn postfix(name: &'static str) -> Operator {
    Operator { name, fixity: Fixity::Postfix, low: 15, high: 15, left: false }
}

/// Function application as an operator.
pub(super) const APPLICATION: Operator = Operator { name: "[", fixity: Fixity::Postfix, low: 16, high: 16, left: true };

/// The end of an expression as an operator: looser than all others.
pub(super) const END: Operator = infix("", 0, 0);

/// Unary minus: written `-` in an expression, `-.` in a definition.
pub(super) const NEGATIVE: Operator = prefix("-.", 12, 12);

/// Each operator with all its spellings.
pub(super) const OPERATORS: &[(Operator, &[&str])] = &[
    (NEGATIVE, &["-."]),
    (prefix("~", 4, 4), &["~", "\\lnot", "\\neg", "\u{ac}"]),
    (prefix("[]", 4, 15), &["[]", "\u{25a1}"]),
    (prefix("<>", 4, 15), &["<>", "\u{25c7}"]),
    (prefix("ENABLED", 4, 15), &["ENABLED"]),
    (prefix("UNCHANGED", 4, 15), &["UNCHANGED"]),
    (prefix("SUBSET", 10, 13), &["SUBSET"]),
    (prefix("UNION", 10, 13), &["UNION"]),
    (prefix("DOMAIN", 10, 13), &["DOMAIN"]),
    (postfix("'"), &["'"]),
    (postfix("^+"), &["^+", "\u{207a}"]),
    (postfix("^*"), &["^*"]),
    (postfix("^#"), &["^#"]),
    (infix("=>", 1, 1), &["=>", "\u{21d2}"]),
    (infix("~>", 2, 2), &["~>", "\u{219d}"]),
    (infix("<=>", 2, 2), &["<=>", "\\equiv", "\u{2261}", "\u{21d4}"]),
    (infix("-+->", 2, 2), &["-+->", "\u{21f8}"]),
    (left("/\\", 3, 3), &["/\\", "\\land", "\u{2227}"]),
    (left("\\/", 3, 3), &["\\/", "\\lor", "\u{2228}"]),
    (infix("=", 5, 5), &["="]),
    (infix("/=", 5, 5), &["/=", "#", "\u{2260}"]),
    (infix("<", 5, 5), &["<"]),
    (infix(">", 5, 5), &[">"]),
    (infix("\\leq", 5, 5), &["\\leq", "<=", "=<", "\u{2264}"]),
    (infix("\\geq", 5, 5), &["\\geq", ">=", "\u{2265}"]),
    (infix("\\in", 5, 5), &["\\in", "\u{2208}"]),
    (infix("\\notin", 5, 5), &["\\notin", "\u{2209}"]),
    (infix("\\subseteq", 5, 5), &["\\subseteq", "\u{2286}"]),
    (infix("\\subset", 5, 5), &["\\subset", "\u{2282}"]),
    (infix("\\supseteq", 5, 5), &["\\supseteq", "\u{2287}"]),
    (infix("\\supset", 5, 5), &["\\supset", "\u{2283}"]),
    (infix("\\sqsubseteq", 5, 5), &["\\sqsubseteq", "\u{2291}"]),
    (infix("\\sqsubset", 5, 5), &["\\sqsubset", "\u{228f}"]),
    (infix("\\sqsupseteq", 5, 5), &["\\sqsupseteq", "\u{2292}"]),
    (infix("\\sqsupset", 5, 5), &["\\sqsupset", "\u{2290}"]),
    (infix("\\prec", 5, 5), &["\\prec", "\u{227a}"]),
    (infix("\\succ", 5, 5), &["\\succ", "\u{227b}"]),
    (infix("\\preceq", 5, 5), &["\\preceq", "\u{2aaf}"]),
    (infix("\\succeq", 5, 5), &["\\succeq", "\u{2ab0}"]),
    (infix("\\sim", 5, 5), &["\\sim", "\u{223c}"]),
    (infix("\\simeq", 5, 5), &["\\simeq", "\u{2243}"]),
    (infix("\\ll", 5, 5), &["\\ll", "\u{226a}"]),
    (infix("\\gg", 5, 5), &["\\gg", "\u{226b}"]),
    (infix("\\asymp", 5, 5), &["\\asymp", "\u{224d}"]),
    (infix("\\approx", 5, 5), &["\\approx", "\u{2248}"]),
    (infix("\\cong", 5, 5), &["\\cong", "\u{2245}"]),
    (infix("\\doteq", 5, 5), &["\\doteq", "\u{2250}"]),
    (infix("\\propto", 5, 5), &["\\propto", "\u{221d}"]),
    (infix("|-", 5, 5), &["|-", "\u{22a2}"]),
    (infix("|=", 5, 5), &["|=", "\u{22a8}"]),
    (infix("-|", 5, 5), &["-|", "\u{22a3}"]),
    (infix("=|", 5, 5), &["=|", "\u{2ae4}"]),
    (infix(":=", 5, 5), &[":=", "\u{2254}"]),
    (infix("::=", 5, 5), &["::=", "\u{2a74}"]),
    (left("\\cdot", 5, 14), &["\\cdot", "\u{22c5}"]),
    (left("@@", 6, 6), &["@@"]),
    (infix("<:", 7, 7), &["<:"]),
    (infix(":>", 7, 7), &[":>"]),
    (infix("\\", 8, 8), &["\\"]),
    (left("\\cap", 8, 8), &["\\cap", "\\intersect", "\u{2229}"]),
    (left("\\cup", 8, 8), &["\\cup", "\\union", "\u{222a}"]),
    (infix("..", 9, 9), &["..", "\u{2025}"]),
    (infix("...", 9, 9), &["...", "\u{2026}"]),
    (infix("!!", 9, 13), &["!!", "\u{203c}"]),
    (left("##", 9, 13), &["##"]),
    (left("$", 9, 13), &["$"]),
    (left("$$", 9, 13), &["$$"]),
    (left("??", 9, 13), &["??", "\u{2047}"]),
    (left("\\sqcap", 9, 13), &["\\sqcap", "\u{2293}"]),
    (left("\\sqcup", 9, 13), &["\\sqcup", "\u{2294}"]),
    (left("\\uplus", 9, 13), &["\\uplus", "\u{228e}"]),
    (infix("\\wr", 9, 14), &["\\wr", "\u{2240}"]),
    (left("+", 10, 10), &["+"]),
    (left("++", 10, 10), &["++"]),
    (left("\\oplus", 10, 10), &["\\oplus", "(+)", "\u{2295}"]),
    (left("|", 10, 11), &["|"]),
    (left("||", 10, 11), &["||", "\u{2016}"]),
    (infix("%", 10, 11), &["%"]),
    (left("%%", 10, 11), &["%%"]),
    (left("-", 11, 11), &["-"]),
    (left("--", 11, 11), &["--"]),
    (left("\\ominus", 11, 11), &["\\ominus", "(-)", "\u{2296}"]),
    (
        Operator { name: "\\times", fixity: Fixity::Product, low: 10, high: 13, left: true },
        &["\\times", "\\X", "\u{d7}"],
    ),
    (left("*", 13, 13), &["*"]),
    (left("**", 13, 13), &["**"]),
    (infix("/", 13, 13), &["/"]),
    (infix("//", 13, 13), &["//"]),
    (infix("\\div", 13, 13), &["\\div", "\u{f7}"]),
    (left("&", 13, 13), &["&"]),
    (left("&&", 13, 13), &["&&"]),
    (left("\\odot", 13, 13), &["\\odot", "(.)", "\u{2299}"]),
    (infix("\\oslash", 13, 13), &["\\oslash", "(/)", "\u{2298}"]),
    (left("\\otimes", 13, 13), &["\\otimes", "(\\X)", "\u{2297}"]),
    (left("\\star", 13, 13), &["\\star", "\u{22c6}"]),
    (left("\\o", 13, 13), &["\\o", "\\circ", "\u{2218}"]),
    (left("\\bigcirc", 13, 13), &["\\bigcirc", "\u{25ef}"]),
    (left("\\bullet", 13, 13), &["\\bullet", "\u{25cf}"]),
    (infix("^", 14, 14), &["^"]),
    (infix("^^", 14, 14), &["^^"]),
];

/// The prefix operator that a token means if an operand must follow: `-` is then unary minus.
pub(super) fn as_prefix(operator: &'static Operator) -> Option<&'static Operator> {
    match operator.name {
        "-" => Some(&NEGATIVE),
        _ if operator.is_prefix() => Some(operator),
        _ => None,
    }
}

/// The operator with this spelling.
pub fn find_operator(spelling: &str) -> Option<&'static Operator> {
    OPERATORS.iter().find(|(_, spellings)| spellings.contains(&spelling)).map(|(operator, _)| operator)
}
