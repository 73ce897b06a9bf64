//! Rules in plain words in a policy file: finds them, and inserts the formulas that a model wrote for them without
//! changing the rest of the file.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::policy_error::PolicyError;
use super::propositions::model_propositions;
use tlaforge_temporal::{Formula, Formulas};

/// A rule with `words`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordedRule {
    pub id: String,
    pub words: String,
    /// The lifeline of a causal rule; `None` if the rule is about the whole journal.
    pub owner: Option<String>,
    /// Selects the events at which a causal rule is evaluated.
    pub when: Option<String>,
    /// The text of the key, not validated.
    pub severity: Option<String>,
    pub formula: Option<String>,
    /// Whether a person has confirmed the formula.
    pub confirmed: bool,
    /// Name and question of the propositions that a model judges and the formula may use.
    pub labels: Vec<[String; 2]>,
    /// The position after the value of `words`.
    words_end: usize,
    /// The position of the value of `confirmed`.
    confirmed_span: Option<Range<usize>>,
}

/// Finds the rules with `words`, in the order of the file.
pub fn find_worded_rules(text: &str) -> Result<Vec<WordedRule>, PolicyError> {
    let file = DeTable::parse(text).map_err(|e| PolicyError::syntax(text, &e))?;
    let mut found = Vec::new();
    let labels = file.get_ref().get("label").and_then(|labels| labels.get_ref().as_array());
    let labels: Vec<[String; 2]> = labels
        .into_iter()
        .flat_map(|labels| labels.iter())
        .filter_map(|label| {
            let keys = label.get_ref().as_table()?;
            let text_of = |key: &str| keys.get(key)?.get_ref().as_str().map(str::to_owned);
            Some([text_of("name")?, text_of("asks")?])
        })
        .collect();
    let rules = file.get_ref().get("rule").and_then(|rules| rules.get_ref().as_array());
    for rule in rules.into_iter().flat_map(|rules| rules.iter()) {
        let Some(keys) = rule.get_ref().as_table() else { continue };
        let text_of = |key: &str| keys.get(key).and_then(|value| value.get_ref().as_str()).map(str::to_owned);
        let (Some(id), Some(words), Some(words_value)) = (text_of("id"), text_of("words"), keys.get("words")) else {
            continue;
        };
        let confirmed = keys.get("confirmed");
        found.push(WordedRule {
            id,
            words,
            owner: text_of("owner"),
            when: text_of("when"),
            severity: text_of("severity"),
            formula: text_of("formula"),
            confirmed: matches!(confirmed.map(toml::Spanned::get_ref), Some(DeValue::Boolean(true))),
            labels: labels.clone(),
            words_end: words_value.span().end,
            confirmed_span: confirmed.map(toml::Spanned::span),
        });
    }
    Ok(found)
}

impl WordedRule {
    /// The text of the file with this formula after the words, unconfirmed.
    pub fn with_formula(&self, text: &str, formula: &str) -> String {
        let (before, after) = text.split_at(self.words_end);
        format!("{before}\nformula = {}\nconfirmed = false{after}", quoted(formula))
    }

    /// The text of the file with the formula of this rule confirmed.
    pub fn confirmed_in(&self, text: &str) -> String {
        match &self.confirmed_span {
            Some(span) => format!("{}true{}", &text[..span.start], &text[span.end..]),
            None => {
                let (before, after) = text.split_at(self.words_end);
                format!("{before}\nconfirmed = true{after}")
            }
        }
    }

    /// A policy with only this rule, with this formula, as if it were confirmed.
    pub fn as_policy(&self, formula: &str) -> String {
        let key =
            |key: &str, value: Option<&str>| value.map_or_else(String::new, |v| format!("{key} = {}\n", quoted(v)));
        let mut formulas = Formulas::new();
        let read = [Some(formula), self.when.as_deref()].into_iter().flatten().filter_map(|f| formulas.parse(f).ok());
        let read: Vec<Formula> = read.collect();
        let used: Vec<_> = read.into_iter().flat_map(|formula| model_propositions(&formulas, formula)).collect();
        let labels = self.labels.iter().filter(|[name, _]| used.iter().any(|used| **used == **name));
        let table =
            |[name, asks]: &[String; 2]| format!("[[label]]\nname = {}\nasks = {}\n", quoted(name), quoted(asks));
        let labels = labels.map(table).collect::<Vec<_>>().concat();
        format!(
            "{labels}[[rule]]\n{}{}{}{}{}",
            key("id", Some(&self.id)),
            key("owner", self.owner.as_deref()),
            key("when", self.when.as_deref()),
            key("severity", self.severity.as_deref()),
            key("formula", Some(formula)),
        )
    }
}

/// A text as TOML, in single quotes if possible, so that a formula needs no escapes.
fn quoted(text: &str) -> String {
    let plain = !text.contains('\'') && !text.chars().any(char::is_control);
    if plain { format!("'{text}'") } else { toml::Value::String(text.to_owned()).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inserts_a_formula_after_the_words_and_keeps_everything_else() {
        let text = "# mine\n[[rule]]\nid = \"a\"\nwords = \"\"\"never\ntwice\"\"\" # so\nseverity = \"info\"\n\n[[rule]]\nid = \"b\"\nformula = 'true'\n";
        let found = find_worded_rules(text).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].words.as_str(), found[0].confirmed), ("never\ntwice", false));
        let made = found[0].with_formula(text, "G !(x = \"it's\")");
        assert!(
            made.starts_with("# mine\n[[rule]]\nid = \"a\"\nwords = \"\"\"never\ntwice\"\"\"\nformula = "),
            "{made}"
        );
        assert!(made.contains("confirmed = false # so\nseverity"), "{made}");
        let again = find_worded_rules(&made).unwrap();
        assert_eq!(again[0].formula.as_deref(), Some("G !(x = \"it's\")"));
        let confirmed = again[0].confirmed_in(&made);
        assert!(find_worded_rules(&confirmed).unwrap()[0].confirmed, "{confirmed}");
        assert_eq!(confirmed.replace("confirmed = true", "confirmed = false"), made);
    }
}
