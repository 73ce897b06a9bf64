//! Prices of tokens, from a built-in table that a user can extend. An unknown model has no price.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::usage::Usage;
use tlaforge_files as files;

const BUILT_IN: &str = include_str!("prices.toml");

/// The prices of one model, in US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Input that is not cached.
    pub input: f64,
    pub output: f64,
    /// Input read from the provider's cache; the price of `input` if the table has none.
    pub cache_read: Option<f64>,
    /// Input written to the provider's cache; the price of `input` if the table has none.
    pub cache_write: Option<f64>,
}

impl Price {
    /// The cost of a call, in US dollars.
    pub fn cost_of(&self, usage: &Usage) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a call has fewer than 2^52 tokens")]
        let part = |tokens: u64, price: f64| tokens as f64 * price / 1e6;
        part(usage.input, self.input)
            + part(usage.output, self.output)
            + part(usage.cache_read, self.cache_read.unwrap_or(self.input))
            + part(usage.cache_write, self.cache_write.unwrap_or(self.input))
    }
}

/// A price table that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the price table {path}: {what}")]
pub struct PriceError {
    pub path: PathBuf,
    /// The problem, in words.
    pub what: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    schema: u32,
    models: BTreeMap<String, Price>,
}

/// The prices of models. The user's table takes precedence over the built-in one.
#[derive(Debug)]
pub struct Prices {
    tables: Vec<Table>,
}

impl Prices {
    /// Loads the built-in table, and the user's if a file is given.
    pub fn load(file: Option<&Path>) -> Result<Self, PriceError> {
        let built_in = parse_table(BUILT_IN, Path::new("prices.toml (built in)"))?;
        let mut tables = vec![built_in];
        if let Some(path) = file {
            let text = files::read_text(path, files::SMALL)
                .map_err(|e| PriceError { path: path.to_owned(), what: format!("cannot be read: {e}") })?;
            // First, because the first table that has a model decides, also if a name in the other one matches
            // better.
            tables.insert(0, parse_table(&text, path)?);
        }
        Ok(Self { tables })
    }

    /// The price of a model, if it is known. A name in the table can end in `*`; the longest match counts.
    pub fn price_of(&self, model: &str) -> Option<Price> {
        self.tables.iter().find_map(|table| {
            let matches = |name: &str| name.strip_suffix('*').map_or(name == model, |start| model.starts_with(start));
            table
                .models
                .iter()
                .filter(|(name, _)| matches(name))
                .max_by_key(|(name, _)| name.len())
                .map(|(_, price)| *price)
        })
    }
}

fn parse_table(text: &str, path: &Path) -> Result<Table, PriceError> {
    let bad = |what: String| PriceError { path: path.to_owned(), what };
    let table: Table = toml::from_str(text).map_err(|e| bad(e.to_string().trim().to_owned()))?;
    if table.schema != 1 {
        return Err(bad(format!("its schema is {}; this version reads schema 1", table.schema)));
    }
    for (name, price) in &table.models {
        let numbers = [Some(price.input), Some(price.output), price.cache_read, price.cache_write];
        if numbers.into_iter().flatten().any(|n| !n.is_finite() || n < 0.0) {
            return Err(bad(format!("the price of {name} must be a number of at least 0")));
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
        assert!(prices.price_of("claude-sonnet-9").is_none());
        assert!(prices.price_of("llama3").is_none());
        let price = prices.price_of("claude-sonnet-4-5-20250929").unwrap();
        let usage = Usage { input: 1_000_000, output: 100_000, cache_read: 1_000_000, cache_write: 1_000_000 };
        assert!((price.cost_of(&usage) - (3.0 + 1.5 + 0.3 + 3.75)).abs() < 1e-9);
    }

    #[test]
    fn the_users_table_takes_precedence_and_errors_name_the_file_and_the_entry() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("p.toml");
        std::fs::write(&path, "schema = 1\n[models.\"claude-sonnet-4-5*\"]\ninput = 1\noutput = 2\n").unwrap();
        let prices = Prices::load(Some(&path)).unwrap();
        assert!((prices.price_of("claude-sonnet-4-5").unwrap().input - 1.0).abs() < 1e-9);
        assert!(prices.price_of("claude-haiku-4-5").is_some());
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
