//! Verifies the texts that a run took over from an earlier one: they follow from those of the earlier run and from the
//! documents of both.

use std::collections::BTreeMap;

use super::verification::Verification;
use crate::journal::{ArtifactStore, Sha};
use crate::pipeline::records::{Entry, MadeFrom, Settings, StoredFile, file};
use crate::prompt::{Document, parse_requirements};

pub(super) fn check(
    verification: &mut Verification,
    entry: &Entry,
    settings: &Settings,
    is_first: bool,
    store: Option<&ArtifactStore>,
) {
    let Some(made_from) = &settings.made_from else { return };
    let mut object = |text: String| verification.object("made_from", entry.seq, text);
    if !is_first {
        object("a run takes over texts of an earlier one, but has begun before".to_owned());
    }
    let is_known = |name: &&String| file::TAKEN_OVER.contains(&name.as_str());
    for name in made_from.artifacts.keys().filter(|name| !is_known(name)) {
        object(format!("`artifacts` has {name}, which a run never takes over"));
    }
    // It decides which documents have to be accounted for. All of them, if it is empty.
    let read = &made_from.read_documents;
    let is_new = |doc: &&StoredFile| !made_from.docs.contains(doc);
    for doc in settings.docs.iter().filter(is_new).filter(|doc| !read.is_empty() && !read.contains(&doc.path)) {
        object(format!("`read_documents` lacks {}, which is new or has changed", doc.path));
    }
    for path in read.iter().filter(|path| !settings.docs.iter().any(|doc| doc.path == **path)) {
        object(format!("`read_documents` has {path}, which is no document of the run"));
    }
    match recompute(made_from, &settings.docs, store) {
        Err(why) => verification.unverified.push(format!("the texts that event {} takes over: {why}", entry.seq)),
        Ok((moved, documents)) => {
            let shas: BTreeMap<String, Sha> =
                moved.iter().map(|(name, text)| (name.clone(), Sha::digest(text))).collect();
            for name in made_from.artifacts.keys().chain(shas.keys()) {
                if made_from.artifacts.get(name) != shas.get(name) {
                    object(format!("{name} of `artifacts` is not the earlier text with its citations moved"));
                }
            }
            let requirements = moved.get(file::INFORMAL).map(|text| parse_requirements(text)).unwrap_or_default();
            if made_from.requirements != requirements {
                object("`requirements` are not those of the text that it takes over".to_owned());
            }
            for decision in made_from.decisions.iter().filter(|one| !MadeFrom::cites_lines(one, &documents)) {
                object(format!("`decisions` has one that cites no line of the documents: {}", decision.words()));
            }
        }
    }
}

/// The texts with their citations moved, by artifact name, and the documents of the run.
fn recompute(
    made_from: &MadeFrom,
    docs: &[StoredFile],
    store: Option<&ArtifactStore>,
) -> Result<(BTreeMap<String, String>, Vec<Document>), String> {
    let store = store.ok_or("the texts are not at hand")?;
    let text = |sha: &Sha| store.text(sha).map_err(|error| error.to_string());
    let documents = |docs: &[StoredFile]| -> Result<Vec<Document>, String> {
        docs.iter().map(|doc| Ok(Document { path: doc.path.clone(), text: text(&doc.sha)? })).collect()
    };
    let texts: BTreeMap<String, String> =
        made_from.texts.iter().map(|(name, sha)| Ok((name.clone(), text(sha)?))).collect::<Result<_, String>>()?;
    let new = documents(docs)?;
    Ok((MadeFrom::move_citations(&texts, &documents(&made_from.docs)?, &new), new))
}
