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
    /// The cases of this shard that have no row, with the reason.
    pub without_row: BTreeMap<String, String>,
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
#[derive(Debug, Clone)]
pub struct MergedSuite {
    pub rows: Vec<Row>,
    /// The cases without a row, with the reason.
    pub without_row: BTreeMap<String, String>,
}

/// The checksum of all files of a case. Hidden files are left out: nothing reads them.
///
/// # Errors
/// A file that cannot be read.
pub fn digest_case(root: &Path) -> std::io::Result<Sha> {
    let is_read =
        |entry: &walkdir::DirEntry| entry.depth() == 0 || !entry.file_name().as_encoded_bytes().starts_with(b".");
    let mut list = String::new();
    for entry in WalkDir::new(root).sort_by_file_name().into_iter().filter_entry(is_read) {
        let entry = entry?;
        if entry.file_type().is_file() {
            let name = entry.path().strip_prefix(root).unwrap_or(entry.path()).display().to_string();
            let sha = Sha::digest(files::read(entry.path(), files::LARGE)?);
            list.extend([name.as_str(), "\0", sha.as_str(), "\n"]);
        }
    }
    Ok(Sha::digest(list))
}

/// Merges the tables of all shards. Each comes with the name of its file.
///
/// # Errors
/// A file that is no complete shard, and shards that do not belong together.
pub fn merge_results(files: Vec<(String, String)>) -> Result<MergedSuite, MergeError> {
    let shards = files.into_iter().map(|(file, text)| read_shard(file, &text)).collect::<Result<_, _>>()?;
    let mut merged = MergedSuite { rows: Vec::new(), without_row: BTreeMap::new() };
    for ShardFile { content: (rows, without_row), .. } in arrange_shards(shards)? {
        merged.rows.extend(rows);
        merged.without_row.extend(without_row);
    }
    Ok(merged)
}

type ShardContent = (Vec<Row>, BTreeMap<String, String>);

fn read_shard(file: String, text: &str) -> Result<ShardFile<ShardContent>, MergeError> {
    let refuse = |what: String, remedy: &'static str| Err(MergeError::new(format!("{file} {what}"), remedy));
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
    let has_row = |case: &str| rows.iter().any(|row| row.case == case);
    if let Some(missing) = cases.iter().find(|case| !has_row(case) && !shard.without_row.contains_key(**case)) {
        let remedy = "a line is missing at its end or was removed: run the shard again";
        return refuse(format!("is incomplete: it has no row for the case {missing}"), remedy);
    }
    if let Some(row) = rows.iter().find(|row| !cases.contains(&&row.case)) {
        let remedy = "a line was added: run the shard again";
        return refuse(format!("has a row for {}, which is no case of shard {}", row.case, shard.shard), remedy);
    }
    let identity = shard.identity();
    Ok(ShardFile { file, shard: shard.shard, identity, content: (rows, shard.without_row) })
}
