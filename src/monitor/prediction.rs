//! Prediction: how probable it is that the verdicts on a rule come to a pattern within the next steps. Definition 6 of the
//! TRAC paper; the table `[prediction]` of a policy.

use schemars::JsonSchema;

use crate::temporal::{Formula, Formulas, Labels, PrefixVerdict, Reading, Record, Schema, Value, check_trace};

/// How the probability is estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum How {
    /// The model says several times what would come next, and the rules are asked of that.
    Sampling,
    /// The model is asked for the probability.
    Ask,
}

/// What the `[prediction]` table says. The defaults are those of the TRAC paper; of the threshold it names none.
#[derive(Debug, Clone, PartialEq, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Prediction {
    /// A formula over the verdicts on one rule, the first of them after the answer in question: `violated`, `satisfied`,
    /// `undecided`.
    pub pattern: String,
    /// How often the next steps are sampled.
    pub samples: u32,
    /// How many steps are looked ahead.
    pub steps: u32,
    /// From which probability on an answer is met as if it violated the rule.
    pub threshold: f64,
    /// The temperature of the samples.
    pub temperature: f64,
    /// How it is estimated.
    pub how: How,
}

impl Default for Prediction {
    fn default() -> Self {
        Self {
            pattern: "F violated".to_owned(),
            samples: 5,
            steps: 3,
            threshold: 0.5,
            temperature: 0.8,
            how: How::Sampling,
        }
    }
}

/// Most samples, and most steps, that anybody can want to pay for.
const MOST: u32 = 20;

impl Prediction {
    /// The table of a policy's text.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        #[derive(serde::Deserialize)]
        struct File {
            prediction: Prediction,
        }
        let read = toml::from_str(text).map(|file: File| file.prediction).map_err(|e| e.message().to_owned())?;
        let within = |name: &str, count: u32| {
            let fine = (1..=MOST).contains(&count);
            if fine { Ok(()) } else { Err(format!("`{name}` is {count}; it must be from 1 to {MOST}")) }
        };
        within("samples", read.samples)?;
        within("steps", read.steps)?;
        if !(read.threshold > 0.0 && read.threshold <= 1.0) {
            return Err(format!("`threshold` is {}; it must be above 0, and 1 at most", read.threshold));
        }
        if !(0.0..=2.0).contains(&read.temperature) {
            return Err(format!("`temperature` is {}; it must be from 0 to 2", read.temperature));
        }
        read.parsed()?;
        Ok(read)
    }

    fn parsed(&self) -> Result<(Formulas, Formula), String> {
        let mut formulas = Formulas::new();
        let formula = formulas.parse(&self.pattern).map_err(|e| format!("`pattern` is no formula: {e}"))?;
        let known =
            Schema { fields: Some(VERDICTS.iter().map(|(name, _)| (*name).to_owned()).collect()), ..Schema::default() };
        let fits =
            formulas.check_reading(formula, Reading::Finite).and_then(|()| formulas.check_schema(formula, &known));
        fits.map_err(|e| format!("`pattern`: {e}"))?;
        Ok((formulas, formula))
    }

    /// Whether the verdicts come to the pattern.
    pub fn matches(&self, verdicts: &[PrefixVerdict]) -> bool {
        let Ok((formulas, formula)) = self.parsed() else { return false };
        let mut labels = Labels::new(&formulas, &[formula]);
        for verdict in verdicts {
            labels.push(&formulas, &Of(*verdict));
        }
        check_trace(&formulas, formula, &labels).is_ok_and(|check| check.holds())
    }
}

const VERDICTS: [(&str, PrefixVerdict); 3] = [
    ("violated", PrefixVerdict::Violated),
    ("satisfied", PrefixVerdict::Satisfied),
    ("undecided", PrefixVerdict::Undecided),
];

/// One verdict as a state.
struct Of(PrefixVerdict);

impl Record for Of {
    fn field(&self, name: &str) -> Option<Value<'_>> {
        let (_, verdict) = VERDICTS.iter().find(|(known, _)| *known == name)?;
        Some(Value::Bool(self.0 == *verdict))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_found_in_the_verdicts_that_show_it() {
        use PrefixVerdict::{Satisfied, Undecided, Violated};
        let of = |pattern: &str| Prediction { pattern: pattern.to_owned(), ..Prediction::default() };
        assert!(of("F violated").matches(&[Undecided, Undecided, Violated]));
        assert!(!of("F violated").matches(&[Undecided, Satisfied, Satisfied]));
        assert!(!of("F violated").matches(&[Undecided]));
        assert!(of("X violated").matches(&[Undecided, Violated]));
        assert!(!of("X violated").matches(&[Violated]));
        assert!(of("G undecided").matches(&[Undecided, Undecided]));
        assert!(!of("G undecided").matches(&[Undecided, Satisfied]));
    }

    #[test]
    fn what_is_wrong_with_a_prediction_is_said() {
        let said =
            |text: &str| Prediction::read(&format!("[prediction]\n{text}")).map_or_else(|e| e, |_| String::new());
        assert_eq!(said(""), "");
        for (text, words) in [
            ("samples = 0", "from 1 to 20"),
            ("steps = 1000", "from 1 to 20"),
            ("threshold = 0", "above 0"),
            ("threshold = 1.5", "1 at most"),
            ("temperature = 9", "from 0 to 2"),
            ("pattern = 'F ('", "no formula"),
            ("pattern = 'F broken'", "unknown atom `broken`"),
            ("how = 'guess'", "unknown variant `guess`"),
            ("horizon = 3", "unknown field `horizon`"),
        ] {
            assert!(said(text).contains(words), "{text}: {}", said(text));
        }
    }
}
