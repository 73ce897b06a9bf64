//! What tokens cost, from a table that a user can extend. An unknown model has no price.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::contract::Usage;
use crate::files;

const BUILT_IN: &str = include_str!("prices.toml");

/// US dollars for a million tokens of one model.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Input that is not cached.
    pub input: f64,
    /// Output.
    pub output: f64,
    /// Input read from the provider's cache; as `input` where the table does not say.
    pub cache_read: Option<f64>,
    /// Input written to it; as `input` where the table does not say.
    pub cache_write: Option<f64>,
}

impl Price {
    /// What a call costs, in US dollars.
    pub fn of(&self, usage: &Usage) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a call has fewer than 2^52 tokens")]
        let part = |tokens: u64, price: f64| tokens as f64 * price / 1e6;
        part(usage.input, self.input)
            + part(usage.output, self.output)
            + part(usage.cache_read, self.cache_read.unwrap_or(self.input))
            + part(usage.cache_write, self.cache_write.unwrap_or(self.input))
    }
}

/// Why a table of prices cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the price table {path}: {what}")]
pub struct PriceError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub what: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    schema: u32,
    models: BTreeMap<String, Price>,
}

/// The prices of models, the user's before the built-in ones.
#[derive(Debug)]
pub struct Prices {
    tables: Vec<Table>,
}

impl Prices {
    /// The built-in table, and before it the user's where there is one.
    pub fn load(file: Option<&Path>) -> Result<Self, PriceError> {
        let built_in = read(BUILT_IN, Path::new("prices.toml (built in)"))?;
        let mut tables = vec![built_in];
        if let Some(path) = file {
            let text = files::read_text(path, files::SMALL)
                .map_err(|e| PriceError { path: path.to_owned(), what: format!("cannot be read: {e}") })?;
            tables.insert(0, read(&text, path)?);
        }
        Ok(Self { tables })
    }

    /// The price of a model, where it is known.
    pub fn of(&self, model: &str) -> Option<Price> {
        self.tables.iter().find_map(|table| {
            let fits = |name: &str| name.strip_suffix('*').map_or(name == model, |start| model.starts_with(start));
            table
                .models
                .iter()
                .filter(|(name, _)| fits(name))
                .max_by_key(|(name, _)| name.len())
                .map(|(_, price)| *price)
        })
    }
}

fn read(text: &str, path: &Path) -> Result<Table, PriceError> {
    let bad = |what: String| PriceError { path: path.to_owned(), what };
    let table: Table = toml::from_str(text).map_err(|e| bad(e.to_string().trim().to_owned()))?;
    if table.schema != 1 {
        return Err(bad(format!("schema {} is not 1", table.schema)));
    }
    for (name, price) in &table.models {
        let numbers = [Some(price.input), Some(price.output), price.cache_read, price.cache_write];
        if numbers.into_iter().flatten().any(|n| !n.is_finite() || n < 0.0) {
            return Err(bad(format!("the price of {name} is not a number from 0")));
        }
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_model_has_no_price_and_the_longest_name_counts() {
        let prices = Prices::load(None).unwrap();
        assert!(prices.of("claude-sonnet-9").is_none());
        assert!(prices.of("llama3").is_none());
        let price = prices.of("claude-sonnet-4-5-20250929").unwrap();
        let usage = Usage { input: 1_000_000, output: 100_000, cache_read: 1_000_000, cache_write: 1_000_000 };
        assert!((price.of(&usage) - (3.0 + 1.5 + 0.3 + 3.75)).abs() < 1e-9);
    }

    #[test]
    fn a_table_of_the_users_own_comes_first_and_says_what_is_wrong_with_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("p.toml");
        std::fs::write(&path, "schema = 1\n[models.\"claude-sonnet-4-5*\"]\ninput = 1\noutput = 2\n").unwrap();
        let prices = Prices::load(Some(&path)).unwrap();
        assert!((prices.of("claude-sonnet-4-5").unwrap().input - 1.0).abs() < 1e-9);
        assert!(prices.of("claude-haiku-4-5").is_some());
        for (text, word) in [
            ("schema = 1\n[models.x]\ninput = -1\noutput = 2\n", "x"),
            ("schema = 2\n[models.x]\ninput = 1\noutput = 2\n", "schema"),
            ("schema = 1\n[models.x]\ninput = 1\n", "output"),
            ("schema = 1\n[models.x]\ninput = 1\noutput = 1\ntotal = 3\n", "total"),
            ("price list", "line 1"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = Prices::load(Some(&path)).unwrap_err().to_string();
            assert!(error.contains(word) && error.contains("p.toml"), "{error}");
        }
        assert!(Prices::load(Some(&dir.path().join("none"))).unwrap_err().to_string().contains("cannot be read"));
    }
}
