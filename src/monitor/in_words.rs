//! Rules in plain words in a policy file: found, and given the formula that was made of them, with the rest of the file
//! left as it is.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::policy::PolicyError;
use super::propositions::asked_by;
use crate::temporal::{Formula, Formulas};

/// A rule that somebody wrote in plain words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InWords {
    /// Its name.
    pub id: String,
    /// What it asks for.
    pub words: String,
    /// The node at whose events it is asked; `None`: of the whole journal.
    pub owner: Option<String>,
    /// Which of these events.
    pub when: Option<String>,
    /// Its severity, as it is written.
    pub severity: Option<String>,
    /// The formula that was made of it.
    pub formula: Option<String>,
    /// Whether somebody has confirmed that.
    pub confirmed: bool,
    /// The propositions of the file that a model has to judge, and of which the formula may speak: name and words.
    pub labels: Vec<[String; 2]>,
    /// Behind the words.
    end: usize,
    /// Where it says whether it is confirmed.
    said: Option<Range<usize>>,
}

/// The rules of a policy file that have `words`, in its order.
pub fn in_words(text: &str) -> Result<Vec<InWords>, PolicyError> {
    let file = DeTable::parse(text).map_err(|e| PolicyError::Syntax {
        line: e.span().map_or(1, |span| text.get(..span.start).unwrap_or(text).matches('\n').count() + 1),
        message: e.message().to_owned(),
    })?;
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
        let (Some(id), Some(words), Some(place)) = (text_of("id"), text_of("words"), keys.get("words")) else {
            continue;
        };
        let said = keys.get("confirmed");
        found.push(InWords {
            id,
            words,
            owner: text_of("owner"),
            when: text_of("when"),
            severity: text_of("severity"),
            formula: text_of("formula"),
            confirmed: matches!(said.map(toml::Spanned::get_ref), Some(DeValue::Boolean(true))),
            labels: labels.clone(),
            end: place.span().end,
            said: said.map(toml::Spanned::span),
        });
    }
    Ok(found)
}

impl InWords {
    /// The file's text with this formula behind the words, unconfirmed.
    pub fn with_formula(&self, text: &str, formula: &str) -> String {
        let (before, after) = text.split_at(self.end);
        format!("{before}\nformula = {}\nconfirmed = false{after}", quoted(formula))
    }

    /// The file's text where the rule's formula is confirmed.
    pub fn confirmed_in(&self, text: &str) -> String {
        match &self.said {
            Some(said) => format!("{}true{}", &text[..said.start], &text[said.end..]),
            None => {
                let (before, after) = text.split_at(self.end);
                format!("{before}\nconfirmed = true{after}")
            }
        }
    }

    /// A policy of this rule alone, with this formula, as if it were confirmed.
    pub fn alone(&self, formula: &str) -> String {
        let key =
            |key: &str, value: Option<&str>| value.map_or_else(String::new, |v| format!("{key} = {}\n", quoted(v)));
        let mut formulas = Formulas::new();
        let read = [Some(formula), self.when.as_deref()].into_iter().flatten().filter_map(|f| formulas.parse(f).ok());
        let read: Vec<Formula> = read.collect();
        let asked: Vec<_> = read.into_iter().flat_map(|formula| asked_by(&formulas, formula)).collect();
        let labels = self.labels.iter().filter(|[name, _]| asked.iter().any(|asked| **asked == **name));
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

/// A text as TOML: as it is between single quotes, where it can be.
fn quoted(text: &str) -> String {
    let plain = !text.contains('\'') && !text.chars().any(char::is_control);
    if plain { format!("'{text}'") } else { toml::Value::String(text.to_owned()).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_is_put_behind_the_words_and_all_else_stays() {
        let text = "# mine\n[[rule]]\nid = \"a\"\nwords = \"\"\"never\ntwice\"\"\" # so\nseverity = \"info\"\n\n[[rule]]\nid = \"b\"\nformula = 'true'\n";
        let found = in_words(text).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].words.as_str(), found[0].confirmed), ("never\ntwice", false));
        let made = found[0].with_formula(text, "G !(x = \"it's\")");
        assert!(
            made.starts_with("# mine\n[[rule]]\nid = \"a\"\nwords = \"\"\"never\ntwice\"\"\"\nformula = "),
            "{made}"
        );
        assert!(made.contains("confirmed = false # so\nseverity"), "{made}");
        let again = in_words(&made).unwrap();
        assert_eq!(again[0].formula.as_deref(), Some("G !(x = \"it's\")"));
        let confirmed = again[0].confirmed_in(&made);
        assert!(in_words(&confirmed).unwrap()[0].confirmed, "{confirmed}");
        assert_eq!(confirmed.replace("confirmed = true", "confirmed = false"), made);
    }
}
