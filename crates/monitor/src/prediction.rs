//! Prediction (definition 6 of the TRAC paper): how probable it is that the verdicts on a rule match a pattern within the
//! next steps. The `[prediction]` table of a policy.

use schemars::JsonSchema;

use tlaforge_temporal::{Formula, Formulas, Labels, PrefixVerdict, Reading, Record, Schema, Value, check_trace};

/// How the probability is estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PredictionMethod {
    /// The model writes the next steps several times, and the rules are evaluated on them.
    Sampling,
    /// The model is asked for the probability.
    Ask,
}

/// The `[prediction]` table. The defaults are those of the TRAC paper, except the threshold, which it does not give.
#[derive(Debug, Clone, PartialEq, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Prediction {
    /// A formula over the verdicts on one rule (`violated`, `satisfied`, `undecided`), beginning after the answer in
    /// question.
    pub pattern: String,
    /// How many times the next steps are sampled.
    pub samples: u32,
    /// How many steps are sampled.
    pub steps: u32,
    /// The probability from which on an answer is treated as a violation of the rule.
    pub threshold: f64,
    /// The temperature of the samples.
    pub temperature: f64,
    /// The key `how`.
    #[serde(rename = "how")]
    pub method: PredictionMethod,
}

impl Default for Prediction {
    fn default() -> Self {
        Self {
            pattern: "F violated".to_owned(),
            samples: 5,
            steps: 3,
            threshold: 0.5,
            temperature: 0.8,
            method: PredictionMethod::Sampling,
        }
    }
}

/// Maximum number of samples and of steps: a bound on the costs that a typing error can cause.
const MAX_COUNT: u32 = 20;

impl Prediction {
    /// Reads the table from the text of a policy.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        #[derive(serde::Deserialize)]
        struct File {
            prediction: Prediction,
        }
        let prediction = toml::from_str(text).map(|file: File| file.prediction).map_err(|e| e.message().to_owned())?;
        let check_range = |name: &str, count: u32| {
            let in_range = (1..=MAX_COUNT).contains(&count);
            if in_range { Ok(()) } else { Err(format!("`{name}` is {count}; it must be from 1 to {MAX_COUNT}")) }
        };
        check_range("samples", prediction.samples)?;
        check_range("steps", prediction.steps)?;
        if !(prediction.threshold > 0.0 && prediction.threshold <= 1.0) {
            return Err(format!("`threshold` is {}; it must be above 0, and 1 at most", prediction.threshold));
        }
        if !(0.0..=2.0).contains(&prediction.temperature) {
            return Err(format!("`temperature` is {}; it must be from 0 to 2", prediction.temperature));
        }
        prediction.parse_pattern()?;
        Ok(prediction)
    }

    fn parse_pattern(&self) -> Result<(Formulas, Formula), String> {
        let mut formulas = Formulas::new();
        let formula = formulas.parse(&self.pattern).map_err(|e| format!("`pattern` is not a formula: {e}"))?;
        let known =
            Schema { fields: Some(VERDICTS.iter().map(|(name, _)| (*name).to_owned()).collect()), ..Schema::default() };
        let fits =
            formulas.check_reading(formula, Reading::Finite).and_then(|()| formulas.check_schema(formula, &known));
        fits.map_err(|e| format!("`pattern`: {e}"))?;
        Ok((formulas, formula))
    }

    /// Whether the verdicts match the pattern.
    pub fn matches(&self, verdicts: &[PrefixVerdict]) -> bool {
        let Ok((formulas, formula)) = self.parse_pattern() else { return false };
        let mut labels = Labels::new(&formulas, &[formula]);
        for verdict in verdicts {
            labels.push(&formulas, &VerdictState(*verdict));
        }
        check_trace(&formulas, formula, &labels).is_ok_and(|check| check.holds())
    }
}

const VERDICTS: [(&str, PrefixVerdict); 3] = [
    ("violated", PrefixVerdict::Violated),
    ("satisfied", PrefixVerdict::Satisfied),
    ("undecided", PrefixVerdict::Undecided),
];

/// One verdict as a state of a trace.
struct VerdictState(PrefixVerdict);

impl Record for VerdictState {
    fn field(&self, name: &str) -> Option<Value<'_>> {
        let (_, verdict) = VERDICTS.iter().find(|(known, _)| *known == name)?;
        Some(Value::Bool(self.0 == *verdict))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_patterns_of_verdicts() {
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
    fn reports_invalid_prediction_tables() {
        let said =
            |text: &str| Prediction::read(&format!("[prediction]\n{text}")).map_or_else(|e| e, |_| String::new());
        assert_eq!(said(""), "");
        for (text, words) in [
            ("samples = 0", "from 1 to 20"),
            ("steps = 1000", "from 1 to 20"),
            ("threshold = 0", "above 0"),
            ("threshold = 1.5", "1 at most"),
            ("temperature = 9", "from 0 to 2"),
            ("pattern = 'F ('", "not a formula"),
            ("pattern = 'F broken'", "unknown atom `broken`"),
            ("how = 'guess'", "unknown variant `guess`"),
            ("horizon = 3", "unknown field `horizon`"),
        ] {
            assert!(said(text).contains(words), "{text}: {}", said(text));
        }
    }
}
