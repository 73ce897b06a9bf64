//! `tlaforge policy`: prints the default policy, or turns rules into formulas.

use std::fmt::Write as _;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use serde_json::{Value, json};

use super::failure::Failure;
use super::format::value_names;
use super::formulate::{FormulateArgs, formulate};
use super::terminal::{print_json_line, print_result};
use crate::exit::Exit;
use crate::pipeline::{DefaultRule, default_policy, default_rules};

#[derive(Debug, ClapArgs)]
pub(super) struct PolicyArgs {
    #[command(subcommand)]
    pub command: PolicyCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum PolicyCommand {
    /// Print the default policy: every guard clause and route with its owner, its formula and its meaning in words.
    Show {
        /// Output format; `toml` prints a file for `audit --policy`, `json` one object.
        #[arg(long, value_enum, default_value = "text", hide_possible_values = true, value_name = value_names::<PolicyFormat>())]
        format: PolicyFormat,
    },
    /// Turn rules in plain words (`words = "…"`) into formulas with a model, show each formula with its meaning, and
    /// write it into the file once you confirm it. Only for rules about runs of tlaforge, not about other logs. A run
    /// refuses unconfirmed rules.
    Formulate(Box<FormulateArgs>),
}

/// How a policy is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum PolicyFormat {
    /// Text for reading.
    Text,
    /// One object.
    Json,
    /// A policy file.
    Toml,
}

pub(super) async fn policy(args: &PolicyArgs) -> Result<Exit, Failure> {
    let format = match &args.command {
        PolicyCommand::Show { format } => format,
        PolicyCommand::Formulate(args) => return formulate(args).await,
    };
    match format {
        PolicyFormat::Text => print_result(&text(&default_rules())),
        PolicyFormat::Json => {
            print_json_line(&json!({"schema": 2, "rules": default_rules().iter().map(object).collect::<Vec<_>>()}));
        }
        PolicyFormat::Toml => print_result(&default_policy()),
    }
    Ok(Exit::Ok)
}

fn object(rule: &DefaultRule) -> Value {
    json!({
        "guard": rule.guard, "name": rule.name, "owners": rule.owners, "formula": rule.formula, "words": rule.words,
    })
}

fn text(rules: &[DefaultRule]) -> String {
    let mut out = String::new();
    let mut guard = "";
    for rule in rules {
        if rule.guard != guard {
            guard = rule.guard;
            let heading = match guard {
                "approval" => {
                    "Approval. A run is approved if the review approves and every clause holds for what the review could know; \
                     the first clause that fails decides where the run continues."
                }
                "flaw" => {
                    "Flaw. A claim that the documented protocol is wrong goes to the second reader if every clause holds."
                }
                _ => "Routing. The first row whose formula holds is taken.",
            };
            let gap = if out.is_empty() { "" } else { "\n" };
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{gap}{heading}\n");
        }
        let _ = writeln!(out, "{} ({})\n    {}\n    {}", rule.name, rule.owners.join(", "), rule.words, rule.formula);
    }
    out.push_str(
        "\n`@A.x` is the last value of `x` on lifeline A that the owner could know; `claims.…` are the claims of a node,\n\
         `routing.…` the facts of a routing decision (both are in the journal). `tlaforge audit RUN --policy default` checks \
         a journal.\n",
    );
    out
}
