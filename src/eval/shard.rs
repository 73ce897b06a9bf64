//! The results of one shard of a suite: a table whose first line says what it is a shard of, and its merge. Reads the files of
//! cases only for their checksums.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use walkdir::WalkDir;

use super::suite::{Row, SHARD_MARK, read_results, results};
use crate::files::{self, Sha};
use crate::mutation::{MergeError, Shard, ShardFile, arrange_shards};

const NO_RESULT: &str = "name a file that `tlaforge eval --suite DIR --shard K/N --results FILE` wrote";

/// What the results of a shard were made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuiteShard {
    pub shard: Shard,
    /// Versions of tlaforge and of the checkers.
    pub versions: Value,
    /// The options that decide results.
    pub options: Value,
    /// All cases of the suite, also those of other shards, with the checksum of their files.
    pub suite: BTreeMap<String, Sha>,
    /// The cases of this shard that have nothing to evaluate, with the reason.
    pub skipped: BTreeMap<String, String>,
    /// The cases of this shard whose evaluation failed, with the reason.
    pub failed: BTreeMap<String, String>,
    /// The exit status that the evaluation of this shard has without a threshold or a comparison.
    pub status: u8,
}

impl SuiteShard {
    /// The table of this shard with its first line.
    pub fn results(&self, rows: &[Row]) -> String {
        format!("{SHARD_MARK}{}\n{}", json!(self), results(rows))
    }

    fn identity(&self) -> Value {
        json!({"versions": self.versions, "options": self.options, "suite": self.suite})
    }
}

/// A whole suite, merged from its shards.
#[derive(Debug, Clone, Default)]
pub struct MergedSuite {
    pub rows: Vec<Row>,
    /// The cases without a row, with the reason.
    pub skipped: BTreeMap<String, String>,
    pub failed: BTreeMap<String, String>,
    /// The exit status of each shard.
    pub statuses: Vec<u8>,
}

/// The checksum of all files of a case, also of those behind links. Hidden files are left out, because no command reads them.
///
/// # Errors
/// A file that cannot be read.
pub fn digest_case(root: &Path) -> std::io::Result<Sha> {
    let is_read =
        |entry: &walkdir::DirEntry| entry.depth() == 0 || !entry.file_name().as_encoded_bytes().starts_with(b".");
    let mut list = String::new();
    for entry in WalkDir::new(root).follow_links(true).sort_by_file_name().into_iter().filter_entry(is_read) {
        let entry = match entry {
            Ok(entry) => entry,
            // A link to a folder that contains it adds nothing, and nor does one to nothing.
            Err(error) if error.loop_ancestor().is_some() || is_dangling(&error) => continue,
            Err(error) => return Err(error.into()),
        };
        if entry.file_type().is_file() {
            let name = entry.path().strip_prefix(root).unwrap_or(entry.path()).display().to_string();
            let sha = Sha::digest(files::read(entry.path(), files::LARGE)?);
            list.extend([name.as_str(), "\0", sha.as_str(), "\n"]);
        }
    }
    Ok(Sha::digest(list))
}

fn is_dangling(error: &walkdir::Error) -> bool {
    let is_gone = error.io_error().is_some_and(|error| error.kind() == std::io::ErrorKind::NotFound);
    is_gone && error.path().is_some_and(Path::is_symlink)
}

/// Merges the tables of all shards. Each comes with the name of its file.
///
/// # Errors
/// A file that is no complete shard, and shards that do not belong together.
pub fn merge_results(files: Vec<(String, String)>) -> Result<MergedSuite, MergeError> {
    let shards = files.into_iter().map(|(file, text)| read_shard(file, &text)).collect::<Result<_, _>>()?;
    let mut merged = MergedSuite::default();
    for ShardFile { content: (rows, shard), .. } in arrange_shards(shards)? {
        merged.rows.extend(rows);
        merged.skipped.extend(shard.skipped);
        merged.failed.extend(shard.failed);
        merged.statuses.push(shard.status);
    }
    Ok(merged)
}

type ShardContent = (Vec<Row>, SuiteShard);

fn read_shard(file: String, text: &str) -> Result<ShardFile<ShardContent>, MergeError> {
    let refuse = |what: String, remedy: &'static str| Err(MergeError::of_file(&file, &what, remedy));
    let rows = match read_results(text) {
        Ok(rows) => rows,
        Err(why) => return refuse(format!("is not a table of results: {why}"), NO_RESULT),
    };
    let Some(line) = text.lines().next().and_then(|line| line.strip_prefix(SHARD_MARK)) else {
        return refuse("is not a shard: it has the results of a whole suite".to_owned(), NO_RESULT);
    };
    let shard: SuiteShard = match serde_json::from_str(line) {
        Ok(shard) => shard,
        Err(why) => return refuse(format!("has a first line that cannot be read: {why}"), NO_RESULT),
    };
    let cases = shard.shard.select(shard.suite.keys());
    // Each case of the shard has a row, or is listed with the reason why it has none; and only once.
    let given: Vec<&String> =
        rows.iter().map(|row| &row.case).chain(shard.skipped.keys()).chain(shard.failed.keys()).collect();
    let count = |case: &String| given.iter().filter(|given| **given == case).count();
    if let Some(missing) = cases.iter().find(|case| count(case) == 0) {
        let remedy = "a line is missing at its end or was removed: run the shard again";
        return refuse(format!("is incomplete: it has no row for the case {missing}"), remedy);
    }
    let remedy = "a line was added: run the shard again";
    if let Some(twice) = cases.iter().find(|case| count(case) > 1) {
        return refuse(format!("has the case {twice} more than once"), remedy);
    }
    if let Some(other) = given.iter().find(|case| !cases.contains(case)) {
        return refuse(format!("has a row for {other}, which is no case of shard {}", shard.shard), remedy);
    }
    let identity = shard.identity();
    Ok(ShardFile { file, shard: shard.shard, identity, content: (rows, shard) })
}
