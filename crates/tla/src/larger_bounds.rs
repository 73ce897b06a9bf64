//! Larger bounds: the constants of a configuration enlarged, one at a time, and what a check of the same properties says with
//! each. The toolchain makes the runs; this file knows no tool.

use super::bounds::Bounds;
use super::cfg::Cfg;
use super::lexer::{Kind, Token, lex};
use super::outcome::{CheckOutcome, LargerBound, LargerBoundResult, Trace, Verdict, Violation, ViolationKind};

impl LargerBoundResult {
    pub fn of(outcome: CheckOutcome) -> Self {
        match outcome.verdict {
            Verdict::Holds if !outcome.is_complete() => {
                Self::Undecided { why: "the exploration was not complete".to_owned() }
            }
            Verdict::Holds if !outcome.has_steps() => Self::Undecided { why: "no step is possible with it".to_owned() },
            Verdict::Holds => Self::Holds { states: outcome.statistics.distinct },
            Verdict::Violated { violated } if violated.kind == ViolationKind::Assumption => Self::Excluded,
            Verdict::Violated { violated } => Self::Violated { violated, trace: outcome.trace },
            // What cannot be evaluated would also refuse an approval of the check itself.
            Verdict::Invalid { violated, .. } if violated.kind == ViolationKind::Evaluation => {
                Self::Violated { violated, trace: outcome.trace }
            }
            Verdict::Inconclusive { timed_out: true, .. } => Self::TooLarge,
            Verdict::Inconclusive { reason, .. } | Verdict::Invalid { reason, .. } => Self::Undecided { why: reason },
        }
    }
}

impl LargerBound {
    /// The text by which a review accepts it: `N = 3`.
    pub fn name(&self) -> String {
        format!("{} = {}", self.constant, self.value)
    }

    /// Whether the check with it was not made or came to no verdict.
    pub fn is_open(&self) -> bool {
        match &self.result {
            LargerBoundResult::TooLarge
            | LargerBoundResult::TooManyStates { .. }
            | LargerBoundResult::NotTried
            | LargerBoundResult::Undecided { .. } => true,
            LargerBoundResult::Holds { .. } | LargerBoundResult::Violated { .. } | LargerBoundResult::Excluded => false,
        }
    }

    /// What is violated, and its trace.
    pub fn violated(&self) -> Option<(&Violation, Option<&Trace>)> {
        match &self.result {
            LargerBoundResult::Violated { violated, trace } => Some((violated, trace.as_ref())),
            _ => None,
        }
    }

    /// Which property is violated, as a sentence without its end; `bounds` are those of the check. `None` if none is.
    pub fn violated_words(&self, bounds: &Bounds) -> Option<String> {
        let (violated, _) = self.violated()?;
        let what = violated.property().map_or_else(|| violated.description(), str::to_owned);
        let was = bounds.constants.get(&self.constant).map(|was| format!(" instead of {was}")).unwrap_or_default();
        Some(match violated.kind {
            ViolationKind::Evaluation => format!("with `{}`{was}, an expression cannot be evaluated", self.name()),
            _ => format!("with `{}`{was}, `{what}` is violated", self.name()),
        })
    }
}

/// The results for the larger bounds that broke nothing, one line for each kind of result.
pub fn larger_bounds_lines(larger: &[LargerBound]) -> Vec<String> {
    let list = |words: &str, describe: &dyn Fn(&LargerBound) -> Option<String>| {
        let names: Vec<String> = larger.iter().filter_map(describe).collect();
        (!names.is_empty()).then(|| format!("{words} {}", names.join(", ")))
    };
    let having = |wanted: LargerBoundResult| move |bound: &LargerBound| (bound.result == wanted).then(|| bound.name());
    let holds = list("all properties also hold with", &|bound| match &bound.result {
        LargerBoundResult::Holds { states: Some(1) } => Some(format!("{} (1 state)", bound.name())),
        LargerBoundResult::Holds { states: Some(n) } => Some(format!("{} ({n} states)", bound.name())),
        LargerBoundResult::Holds { states: None } => Some(bound.name()),
        _ => None,
    });
    let too_large = list("not decided within their share of the time:", &having(LargerBoundResult::TooLarge));
    let too_many = list("not decided, because they have too many states:", &|bound| match bound.result {
        LargerBoundResult::TooManyStates { limit } => Some(format!("{} (more than {limit})", bound.name())),
        _ => None,
    });
    let not_tried = list("not tried, because no time was left for them:", &having(LargerBoundResult::NotTried));
    let excluded = list("excluded by an ASSUME:", &having(LargerBoundResult::Excluded));
    let undecided = list("not decided:", &|bound| match &bound.result {
        LargerBoundResult::Undecided { why } => Some(format!("{} ({})", bound.name(), why.trim())),
        _ => None,
    });
    [holds, too_many, too_large, not_tried, excluded, undecided].into_iter().flatten().collect()
}

impl Cfg {
    /// Each constant with a value that can be enlarged, and the enlarged value: a number plus one, or a set with one
    /// element more. The name of a new element stands neither in the configuration nor in the text `module`, so it has no
    /// other meaning there.
    pub fn larger_constants(&self, module: &str) -> Vec<(String, String)> {
        let own = self.render();
        let occurs = |name: &str| [module, &own].iter().any(|text| tokens(text).any(|token| token.text(text) == name));
        let enlarged = self.constants.iter().filter_map(|(name, value)| Some((name, enlarge(value, &occurs)?)));
        enlarged.map(|(name, value)| (name.clone(), value)).collect()
    }
}

fn tokens(text: &str) -> impl Iterator<Item = Token> {
    lex(text, 0..text.len()).into_iter().filter(|token| !token.is_comment())
}

/// A number plus one. TLC's numbers have 32 bits.
fn successor(number: &str) -> Option<String> {
    Some(number.parse::<i32>().ok()?.checked_add(1)?.to_string())
}

fn enlarge(value: &str, occurs: &dyn Fn(&str) -> bool) -> Option<String> {
    let Some(inside) = value.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) else {
        return successor(value);
    };
    let kind = |token: &Token| match (token.kind, token.text(inside)) {
        (_, "TRUE" | "FALSE") => Kind::Symbol,
        (kind, _) => kind,
    };
    // A nested set leaves braces among the elements, and is not enlarged.
    let elements: Vec<Token> = tokens(inside).filter(|token| !matches!(token.text(inside), "," | "-")).collect();
    let last = elements.last()?;
    if elements.iter().any(|token| kind(token) != kind(last)) {
        return None;
    }
    let new = match kind(last) {
        Kind::Number => {
            let numbers: Option<Vec<i32>> = inside.split(',').map(|number| number.trim().parse().ok()).collect();
            successor(&numbers?.into_iter().max()?.to_string())?
        }
        Kind::Word => new_names(last.text(inside)).find(|name| !occurs(name))?,
        Kind::Text => {
            let content = last.text(inside).strip_prefix('"')?.strip_suffix('"')?;
            new_names(content).map(|name| format!("\"{name}\"")).find(|name| !occurs(name))?
        }
        _ => return None,
    };
    Some(format!("{{{inside}, {new}}}"))
}

/// Names like this one: `p3` after `p2`, `c` after `b`, `alice2` after `alice`. None gets another prefix of the form `A_`,
/// which would be another type of model value to TLC.
fn new_names(like: &str) -> impl Iterator<Item = String> {
    let stem = like.trim_end_matches(|c: char| c.is_ascii_digit());
    let next_letter = match like.as_bytes() {
        [letter @ (b'a'..=b'y' | b'A'..=b'Y')] => Some(char::from(letter + 1).to_string()),
        _ => None,
    };
    let from = like[stem.len()..].parse::<u32>().map_or(2, |number| number.saturating_add(1));
    next_letter.into_iter().chain((from..from.saturating_add(1000)).map(move |number| format!("{stem}{number}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn larger(constants: &str, module: &str) -> Vec<String> {
        let cfg = Cfg::parse(&format!("CONSTANTS\n{constants}")).unwrap();
        let again = |value: &str| Cfg::parse(&format!("CONSTANT C = {value}")).unwrap().constants["C"].clone();
        let larger = cfg.larger_constants(module).into_iter();
        larger
            .map(|(name, value)| {
                assert_eq!(again(&value), value, "it is what a configuration can hold");
                format!("{name} = {value}")
            })
            .collect()
    }

    #[test]
    fn numbers_and_sets_of_one_kind_are_enlarged() {
        for (value, wanted) in [
            ("2", "3"),
            ("0", "1"),
            ("-1", "0"),
            ("-7", "-6"),
            ("{p1, p2}", "{p1, p2, p3}"),
            ("{a, b}", "{a, b, c}"),
            ("{z}", "{z, z2}"),
            ("{alice, bob}", "{alice, bob, bob2}"),
            ("{A_p1}", "{A_p1, A_p2}"),
            ("{p9, p10}", "{p9, p10, p11}"),
            ("{p2, p1}", "{p2, p1, p3}"),
            ("{1, 2}", "{1, 2, 3}"),
            ("{5, 0, -3}", "{5, 0, -3, 6}"),
            ("{-3, -1}", "{-3, -1, 0}"),
            (r#"{"a", "b"}"#, r#"{"a", "b", "c"}"#),
            (r#"{"x, {y", "}"}"#, r#"{"x, {y", "}", "}2"}"#),
            (r#"{""}"#, r#"{"", "2"}"#),
        ] {
            assert_eq!(larger(&format!("C = {value}"), ""), [format!("C = {wanted}")], "{value}");
        }
    }

    #[test]
    fn what_has_no_larger_value_of_its_kind_is_not_enlarged() {
        for value in [
            "m",
            "TRUE",
            "\"two\"",
            "{}",
            "{TRUE, FALSE}",
            "{p1, TRUE}",
            "{p1, 1}",
            "{p1, \"p2\"}",
            "{{p1}, {p2}}",
            "{{1}}",
            "{{}}",
            "{p1, {p2}}",
            "2147483647",
            "{2147483647}",
            "99999999999",
            "{1, 99999999999}",
        ] {
            assert_eq!(larger(&format!("C = {value}"), ""), [""; 0], "{value}");
        }
        assert_eq!(larger("C <- Two\nD <- [M] Two\nN = 1", ""), ["N = 2"]);
    }

    #[test]
    fn a_new_name_means_nothing_else() {
        let module = "---- MODULE M ----\nCONSTANTS P, Q\np4 == \"b\"\n\\* p6\n====";
        assert_eq!(larger("P = {p1, p2}\nQ = {p3}\nR = p5", module), ["P = {p1, p2, p6}", "Q = {p3, p6}"]);
        assert_eq!(larger("P = {\"a\"}", module), ["P = {\"a\", \"a2\"}"]);
        // A string and a model value of the same name are two things.
        assert_eq!(larger("P = {a}", module), ["P = {a, b}"]);
    }
}
