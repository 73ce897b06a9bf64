//! `tlaforge merge`: puts the results of shards together into the file that one machine would have written.

use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use serde_json::Value;

use super::failure::Failure;
use super::parallel::worst_exit;
use super::terminal::{print_message, print_result};
use crate::eval::{MergedSuite, mean, merge_results, results};
use crate::exit::Exit;
use crate::files;
use crate::mutation::MergeError;
use crate::report::{counted, merge_mutation_json};

#[derive(Debug, ClapArgs)]
pub(super) struct MergeArgs {
    /// Results of each shard, in any order: of `mutate --shard K/N` the file `outcomes.json` or its folder, of `eval --suite
    /// --shard K/N` the file that `--results` wrote.
    #[arg(required = true, value_name = "SHARD")]
    pub shards: Vec<PathBuf>,
    /// File to write; it must not exist.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

pub(super) fn merge(args: &MergeArgs) -> Result<Exit, Failure> {
    let out = std::path::absolute(&args.out).unwrap_or_else(|_| args.out.clone());
    if out.symlink_metadata().is_ok() {
        return Err(existing_failure(&args.out));
    }
    let mut texts = Vec::new();
    for shard in &args.shards {
        texts.push(read_shard(shard)?);
    }
    // A result of `mutate` is one JSON object; a table never begins like one.
    let is_object = |text: &str| text.trim_start().starts_with('{');
    let objects = texts.iter().filter(|(_, text)| is_object(text)).count();
    let Merged { text, what, exit } = match objects {
        0 => merge_tables(texts)?,
        all if all == texts.len() => merge_objects(texts)?,
        _ => {
            let file =
                |wanted: bool| texts.iter().find(|(_, text)| is_object(text) == wanted).map(|(file, _)| file.clone());
            let (object, table) = (file(true).unwrap_or_default(), file(false).unwrap_or_default());
            return Err(Failure::usage(format!("{object} is a result of mutate, and {table} is not"))
                .hint("merge the shards of mutate and those of eval separately"));
        }
    };
    files::create_atomically(&out, text.as_bytes()).map_err(|e| match e.kind() {
        std::io::ErrorKind::AlreadyExists => existing_failure(&args.out),
        _ => Failure::usage(format!("cannot write {}: {e}", args.out.display()))
            .hint("name a new file in an existing folder"),
    })?;
    print_result(&format!("{} of {what}: {}\n", counted(args.shards.len(), "shard"), args.out.display()));
    Ok(exit)
}

/// A merged file, with what it contains in words, and the exit status that one machine would have had.
struct Merged {
    text: String,
    what: String,
    exit: Exit,
}

fn existing_failure(out: &Path) -> Failure {
    Failure::usage(format!("{} exists already", out.display()))
        .hint("name a new file with --out, or move this one away")
}

/// The file of a shard, and its text.
fn read_shard(path: &Path) -> Result<(String, String), Failure> {
    let file = if path.is_dir() { path.join("outcomes.json") } else { path.to_owned() };
    let shown = file.display().to_string();
    if !file.exists() && path.join("outcomes.jsonl").exists() {
        return Err(Failure::usage(format!("{} is incomplete: it has no outcomes.json", path.display()))
            .hint("run the same `tlaforge mutate --shard K/N` again: it judges what is missing"));
    }
    let text = files::read_text(&file, files::LOG).map_err(|e| {
        Failure::usage(format!("cannot read {shown}: {e}")).hint(
            "name outcomes.json of `mutate --shard`, its folder, or the table of `eval --suite --shard --results`",
        )
    })?;
    Ok((shown, text))
}

fn merge_tables(texts: Vec<(String, String)>) -> Result<Merged, Failure> {
    let MergedSuite { rows, skipped, failed, statuses } = merge_results(texts).map_err(merge_failure)?;
    for (case, why) in &skipped {
        print_message(&format!("{case} has no row: {why}"));
    }
    for (case, why) in &failed {
        print_message(&format!("{case} failed: {why}"));
    }
    let score = mean(&rows).map_or_else(|| "no score".to_owned(), |score| format!("score {}", score.words(4)));
    let count = |cases: usize, what: &str| if cases == 0 { String::new() } else { format!(", {cases} {what}") };
    let (skipped, failed) = (count(skipped.len(), "skipped"), count(failed.len(), "failed"));
    let what = format!("{}, {score}{skipped}{failed}", counted(rows.len(), "case"));
    // A status that no command has is not taken for success.
    let exit = |status: &u8| Exit::ALL.into_iter().map(|(exit, _)| exit).find(|exit| exit.code() == *status);
    let exits = statuses.iter().map(|status| exit(status).unwrap_or(Exit::Defect));
    Ok(Merged { text: results(&rows), what, exit: worst_exit(exits) })
}

fn merge_objects(texts: Vec<(String, String)>) -> Result<Merged, Failure> {
    let mut objects: Vec<(String, Value)> = Vec::new();
    for (file, text) in texts {
        let object = serde_json::from_str(&text).map_err(|e| {
            Failure::usage(format!("{file} is not complete JSON: {e}"))
                .hint("copy the file again, or run the shard again with the same command")
        })?;
        objects.push((file, object));
    }
    let merged = merge_mutation_json(objects).map_err(merge_failure)?;
    let (summary, mutants) = (&merged["summary"], merged["mutants"].as_array().map_or(0, Vec::len));
    let score = summary["score"].as_f64().map_or_else(|| "no score".to_owned(), |score| format!("score {score:.4}"));
    let what = format!("{}, {score}", counted(mutants, "mutant"));
    Ok(Merged { text: format!("{merged:#}\n"), what, exit: Exit::Ok })
}

fn merge_failure(error: MergeError) -> Failure {
    Failure::usage(error.message).hint(error.remedy)
}
