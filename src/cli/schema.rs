//! `tlaforge schema`: the formats of the program's files as JSON Schema.

use clap::{Args as ClapArgs, ValueEnum};

use super::failure::{Fails, Failure};
use super::terminal::print_result;
use crate::exit::Exit;
use crate::pipeline::journal_schema;

#[derive(Debug, ClapArgs)]
pub(super) struct SchemaArgs {
    /// Format to print: `journal` is a line of journal.jsonl, without its checksum `sum`.
    #[arg(value_enum)]
    pub what: Schema,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Schema {
    /// A line of `journal.jsonl`.
    Journal,
}

pub(super) fn schema(args: &SchemaArgs) -> Result<Exit, Failure> {
    let schema = match args.what {
        Schema::Journal => journal_schema(),
    };
    let text = serde_json::to_string_pretty(&schema).fails(Exit::Usage)?;
    print_result(&format!("{text}\n"));
    Ok(Exit::Ok)
}
