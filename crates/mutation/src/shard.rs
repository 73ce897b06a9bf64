//! Shards: the parts of a list that several machines work on, and what has to be true before their results become one list.
//! It must not know what the items are: `eval --suite` divides its cases by the same rule.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One shard of several: `2/8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    index: usize,
    count: usize,
}

impl Shard {
    /// The part of the list that belongs to this shard: every `count`-th item. Neighbours are alike, so each shard gets
    /// some of every kind.
    pub fn select<T>(self, all: impl IntoIterator<Item = T>) -> Vec<T> {
        all.into_iter().skip(self.index - 1).step_by(self.count).collect()
    }

    /// The number of items that [`Shard::select`] takes of a list of this length.
    pub fn size_of(self, all: usize) -> usize {
        all.saturating_add(self.count - self.index) / self.count
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(k, n)| Some((k.trim().parse().ok()?, n.trim().parse().ok()?)));
        match parts {
            Some((index, count)) if 1 <= index && index <= count => Ok(Self { index, count }),
            _ => Err(format!("`{text}` must be K/N with K from 1 to N, such as 1/4")),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl TryFrom<String> for Shard {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> Self {
        shard.to_string()
    }
}

/// Why results of shards cannot be merged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct MergeError {
    pub message: String,
    /// What to do.
    pub remedy: &'static str,
}

impl MergeError {
    pub fn new(message: impl Into<String>, remedy: &'static str) -> Self {
        Self { message: message.into(), remedy }
    }

    /// An error of one file. `what` is what is wrong with it, without its name.
    pub fn of_file(file: &str, what: &str, remedy: &'static str) -> Self {
        Self::new(format!("{file} {what}"), remedy)
    }
}

/// The result of one shard, for a merge.
#[derive(Debug, Clone)]
pub struct ShardFile<T> {
    /// The file, for messages.
    pub file: String,
    pub shard: Shard,
    /// What the shard was made from: equal for all shards of one selection.
    pub identity: Value,
    pub content: T,
}

/// Maximum number of missing shards in a message.
const NAMED_MISSING: usize = 10;

/// Sorts the results of all shards of one selection by their index.
///
/// # Errors
/// Shards of different selections, a shard that is there twice, or one that is missing.
pub fn arrange_shards<T>(mut files: Vec<ShardFile<T>>) -> Result<Vec<ShardFile<T>>, MergeError> {
    files.sort_by_key(|file| file.shard);
    let Some(first) = files.first() else {
        return Err(MergeError::new("there is no shard to merge", "name the result file of every shard"));
    };
    for other in &files {
        refuse_other_identity(first, other)?;
    }
    // Another version may count other things, or write them in another way.
    let version = &first.identity["versions"]["tlaforge"];
    if version != env!("CARGO_PKG_VERSION") {
        let message =
            format!("{} was written by tlaforge {version}, and this is {}", first.file, env!("CARGO_PKG_VERSION"));
        return Err(MergeError::new(message, "merge the shards with the version that wrote them"));
    }
    if let Some(other) = files.iter().find(|other| other.shard.count != first.shard.count) {
        let message = format!(
            "{} is shard {}, and {} is shard {}: they divide the selection differently",
            first.file, first.shard, other.file, other.shard
        );
        return Err(MergeError::new(message, "merge shards with the same N of --shard K/N"));
    }
    if let Some([one, two]) = files.windows(2).find(|pair| pair[0].shard == pair[1].shard) {
        let message = format!("shard {} is given twice: {} and {}", one.shard, one.file, two.file);
        return Err(MergeError::new(message, "name each shard once"));
    }
    let count = first.shard.count;
    if files.len() < count {
        let is_given = |index: &usize| files.iter().any(|file| file.shard.index == *index);
        let missing = (1..=count).filter(|index| !is_given(index)).map(|index| Shard { index, count }.to_string());
        // The number of shards is what a file says, so the list is limited.
        let named: Vec<String> = missing.take(NAMED_MISSING).collect();
        let all = count - files.len();
        let more = if all > named.len() { ", …" } else { "" };
        let message = format!("{all} of {count} shards missing: {}{more}", named.join(", "));
        return Err(MergeError::new(message, "run each missing shard (--shard K/N), and name its result file, too"));
    }
    Ok(files)
}

/// The items of all shards in the order of the list that was divided. `parts` is in the order of the shards, and each has
/// the size of its shard.
pub fn interleave<T>(parts: Vec<Vec<T>>) -> Vec<T> {
    let mut parts: Vec<_> = parts.into_iter().map(Vec::into_iter).collect();
    let mut all = Vec::new();
    loop {
        let before = all.len();
        all.extend(parts.iter_mut().filter_map(Iterator::next));
        if all.len() == before {
            return all;
        }
    }
}

fn refuse_other_identity<T>(first: &ShardFile<T>, other: &ShardFile<T>) -> Result<(), MergeError> {
    let Some((path, one, two)) = find_difference(&first.identity, &other.identity, "") else { return Ok(()) };
    let (what, remedy) = match path.split('.').next() {
        Some("versions") => ("versions", "run every shard with the same version of tlaforge and of the checkers"),
        Some("specification") => ("specifications", "run every shard on the same files"),
        Some("suite") => ("suites", "run every shard on the same cases"),
        _ => ("selections", "run every shard with the same options, except K of --shard K/N"),
    };
    let message = format!(
        "{} and {} are shards of different {what}: {path} is {one} in the first and {two} in the second",
        first.file, other.file
    );
    Err(MergeError::new(message, remedy))
}

/// The path of the first value that differs, and both values.
fn find_difference(one: &Value, two: &Value, path: &str) -> Option<(String, Value, Value)> {
    let (Value::Object(first), Value::Object(second)) = (one, two) else {
        return (one != two).then(|| (path.to_owned(), one.clone(), two.clone()));
    };
    let mut keys = first.keys().chain(second.keys().filter(|key| !first.contains_key(*key)));
    let below = |key: &String| {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        find_difference(first.get(key).unwrap_or(&Value::Null), second.get(key).unwrap_or(&Value::Null), &path)
    };
    keys.find_map(below)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn file(shard: &str, identity: Value) -> ShardFile<()> {
        ShardFile { file: format!("{shard}.json"), shard: shard.parse().unwrap(), identity, content: () }
    }

    #[test]
    fn a_shard_is_k_of_n() {
        assert_eq!("2/4".parse(), Ok(Shard { index: 2, count: 4 }));
        for wrong in ["0/4", "5/4", "1", "a/b", "1/0", ""] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn shards_are_every_nth_item_and_interleave_into_the_list() {
        for (length, count) in [(0_usize, 3_usize), (1, 3), (7, 1), (7, 3), (9, 3), (2, 5)] {
            let shards: Vec<Shard> = (1..=count).map(|index| Shard { index, count }).collect();
            let parts: Vec<Vec<usize>> = shards.iter().map(|shard| shard.select(0..length)).collect();
            for (shard, part) in shards.iter().zip(&parts) {
                assert_eq!(shard.size_of(length), part.len(), "{shard} of {length}");
            }
            assert_eq!(interleave(parts), (0..length).collect::<Vec<_>>());
        }
    }

    #[test]
    fn shards_come_in_any_order() {
        let given = ["3/3", "1/3", "2/3"]
            .map(|shard| file(shard, json!({"versions": {"tlaforge": env!("CARGO_PKG_VERSION")}})));
        let arranged = arrange_shards(given.to_vec()).unwrap();
        assert_eq!(arranged.iter().map(|file| file.shard.to_string()).collect::<Vec<_>>(), ["1/3", "2/3", "3/3"]);
    }

    #[test]
    fn each_refusal_names_the_files_and_the_reason() {
        let refusal = |shards: &[(&str, Value)]| {
            let files = shards.iter().map(|(shard, identity)| file(shard, identity.clone())).collect();
            arrange_shards(files).unwrap_err().message
        };
        let made = |version: &str, module: &str, seed: u32| json!({"versions": {"tlaforge": version}, "specification": {"module": module}, "seed": seed});
        let version = env!("CARGO_PKG_VERSION");
        let same = made(version, "a", 0);
        let pairs = |other: Value| refusal(&[("1/2", same.clone()), ("2/2", other)]);
        let other = pairs(made("1.1", "a", 0));
        assert!(other.contains("different versions: versions.tlaforge is"), "{other}");
        let other = pairs(made(version, "b", 0));
        assert!(other.contains("1/2.json and 2/2.json are shards of different specifications"), "{other}");
        let other = pairs(made(version, "a", 7));
        assert!(other.contains("different selections: seed is 0 in the first and 7"), "{other}");
        let older = refusal(&[("1/2", made("0.0.1", "a", 0)), ("2/2", made("0.0.1", "a", 0))]);
        assert!(older.contains("1/2.json was written by tlaforge \"0.0.1\", and this is"), "{older}");
        let twice = refusal(&[("1/2", same.clone()), ("2/2", same.clone()), ("2/2", same.clone())]);
        assert!(twice.contains("shard 2/2 is given twice"), "{twice}");
        let missing = refusal(&[("2/4", same.clone()), ("3/4", same.clone())]);
        assert_eq!(missing, "2 of 4 shards missing: 1/4, 4/4");
        let many = refusal(&[("1/4000000000", same.clone())]);
        assert!(many.contains("3999999999 of 4000000000") && many.ends_with(" 11/4000000000, …"), "{many}");
        assert!(refusal(&[("1/2", same.clone()), ("2/3", same)]).contains("divide the selection differently"));
        assert!(refusal(&[]).contains("no shard"));
    }
}
