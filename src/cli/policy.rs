//! `tlaforge policy`: the laws of a run.

use std::fmt::Write as _;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use serde_json::{Value, json};

use super::failure::Failure;
use super::formulate::{FormulateArgs, formulate};
use super::progress::{json_line, result};
use crate::exit::Exit;
use crate::pipeline::{DefaultRule, default_policy, default_rules};

#[derive(Debug, ClapArgs)]
pub(super) struct PolicyArgs {
    #[command(subcommand)]
    pub command: PolicyCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum PolicyCommand {
    /// Print the default policy: every clause and row with its owner, its formula and what it says in words.
    Show {
        /// `toml` prints a file that `audit --policy` takes, `json` one object.
        #[arg(long, value_enum, default_value = "text", hide_possible_values = true, value_name = "text|json|toml")]
        format: PolicyFormat,
    },
    /// Ask a model for the formulas of rules that are said in plain words (`words = "…"`), show each with what it says,
    /// and write it into the file. Only for rules about runs of tlaforge, not about other logs. A run refuses rules that
    /// are not confirmed.
    Formulate(Box<FormulateArgs>),
}

/// How a policy is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum PolicyFormat {
    /// For a person.
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
        PolicyFormat::Text => result(&text(&default_rules())),
        PolicyFormat::Json => {
            json_line(&json!({"schema": 1, "laws": default_rules().iter().map(object).collect::<Vec<_>>()}))
        }
        PolicyFormat::Toml => result(&default_policy()),
    }
    Ok(Exit::Ok)
}

fn object(law: &DefaultRule) -> Value {
    json!({
        "guard": law.guard, "name": law.name, "owners": law.owners, "formula": law.formula, "words": law.words,
    })
}

fn text(laws: &[DefaultRule]) -> String {
    let mut out = String::new();
    let mut guard = "";
    for law in laws {
        if law.guard != guard {
            guard = law.guard;
            let heading = match guard {
                "approval" => {
                    "Approval. A run is approved where the review approves and every clause holds of what it could know; \
                     the first that fails says where the run goes on."
                }
                "flaw" => {
                    "Flaw. A claim that the documented protocol is wrong goes to the second reader where every clause holds."
                }
                _ => "Routing. The first row whose formula holds of what is decided on is taken.",
            };
            let gap = if out.is_empty() { "" } else { "\n" };
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{gap}{heading}\n");
        }
        let _ = writeln!(out, "{} ({})\n    {}\n    {}", law.name, law.owners.join(", "), law.words, law.formula);
    }
    out.push_str(
        "\n`@A.x` is `x` as lifeline A last said it, as far as the owner could know; `claims.…` is what a node publishes \
         when it has worked,\n`routing.…` what a row is decided on (both stand in the journal). `tlaforge audit RUN --policy \
         default` asks a journal again.\n",
    );
    out
}
