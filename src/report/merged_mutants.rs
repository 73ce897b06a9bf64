//! Merges the results of `mutate --shard` into the result of one machine. Only measured times differ from it.

use serde_json::{Value, json};

use crate::journal::Sha;
use crate::mutation::{Judgement, MergeError, Shard, ShardFile, Summary, arrange_shards, interleave};
use crate::tla::Cfg;

use super::mutation::judged_by;

/// Keys of `run` that differ between the shards of one selection.
const SHARD_KEYS: [&str; 4] = ["selected", "shard", "judged_by", "total_seconds"];

const NO_RESULT: &str = "name a file outcomes.json that `tlaforge mutate --shard K/N` wrote, or its folder";

/// Merges shards into the object of `mutate --format json`. Each comes with the name of its file.
///
/// # Errors
/// A file that is no complete shard, and shards that do not belong together.
pub fn merge_mutation_json(files: Vec<(String, Value)>) -> Result<Value, MergeError> {
    let shards = files.into_iter().map(|(file, result)| read_shard(file, result)).collect::<Result<_, _>>()?;
    let mut shards = arrange_shards(shards)?;
    let seconds: f64 = shards.iter().filter_map(|shard| shard.content["run"]["total_seconds"].as_f64()).sum();
    let mutants: Vec<Vec<Value>> = shards.iter_mut().map(|shard| take_mutants(&mut shard.content)).collect();
    let mutants = interleave(mutants);
    // The first shard has the baseline that one machine would have.
    let first = shards.swap_remove(0);
    let mut merged = first.content;
    let names: String =
        mutants.iter().map(|mutant| mutant["name"].as_str().unwrap_or_default().to_owned() + "\n").collect();
    if merged["run"]["selection"]["sha256"] != json!(Sha::digest(names)) {
        let message = format!("the mutants of {} and the other shards are not those that were selected", first.file);
        return Err(MergeError::new(message, "a file was changed: restore it, or run its shard again"));
    }
    let judgements: Vec<Judgement> = serde_json::from_value(json!(mutants)).map_err(|e| {
        MergeError::new(format!("a mutant of {} or another shard cannot be read: {e}", first.file), NO_RESULT)
    })?;
    merged["summary"] = json!(Summary::from_judgements(&judgements, &configuration(&merged["baseline"])));
    merged["mutants"] = json!(mutants);
    merged["run"]["selected"] = json!(judgements.len());
    merged["run"]["shard"] = Value::Null;
    merged["run"]["judged_by"] = json!(judged_by(&judgements));
    merged["run"]["total_seconds"] = json!(seconds);
    Ok(merged)
}

/// A configuration with what the summary needs of it: witnesses, and the properties that can notice a mutant. The baseline
/// lists them.
fn configuration(baseline: &Value) -> Cfg {
    let all = baseline["witnesses"].as_array().into_iter().flatten();
    let witnesses = all.filter_map(|witness| witness["name"].as_str().map(str::to_owned)).collect();
    let names = |key: &str| {
        let all = baseline[key].as_array().into_iter().flatten();
        all.filter_map(|name| name.as_str().map(str::to_owned)).collect()
    };
    Cfg { witnesses, invariants: names("invariants"), properties: names("properties"), ..Cfg::default() }
}

fn take_mutants(result: &mut Value) -> Vec<Value> {
    match result["mutants"].take() {
        Value::Array(mutants) => mutants,
        _ => Vec::new(),
    }
}

fn read_shard(file: String, result: Value) -> Result<ShardFile<Value>, MergeError> {
    let refuse = |what: &str, remedy: &'static str| Err(MergeError::of_file(&file, what, remedy));
    let (run, Some(mutants)) = (&result["run"], result["mutants"].as_array()) else {
        return refuse("is not a result of `tlaforge mutate`", NO_RESULT);
    };
    let Some(shard) = run["shard"].as_str() else {
        return refuse("is not a shard: it has the results of the whole selection", NO_RESULT);
    };
    let Ok(shard) = shard.parse::<Shard>() else { return refuse("names no shard K/N", NO_RESULT) };
    let selected = run["selection"]["mutants"].as_u64().and_then(|count| usize::try_from(count).ok());
    let (Some(selected), true) = (selected, run["specification"].is_object()) else {
        return refuse(
            "does not say which specification and which mutants were selected: an earlier version wrote it",
            "run the shard again with this version, which judges its mutants again",
        );
    };
    if mutants.len() != shard.size_of(selected) {
        return refuse(
            &format!(
                "is incomplete: it has {} of the {} mutants of shard {shard}",
                mutants.len(),
                shard.size_of(selected)
            ),
            "run the same `tlaforge mutate --shard K/N` again: it judges what is missing",
        );
    }
    let mut identity = run.clone();
    for key in SHARD_KEYS {
        identity.as_object_mut().and_then(|run| run.remove(key));
    }
    Ok(ShardFile { file, shard, identity, content: result })
}
