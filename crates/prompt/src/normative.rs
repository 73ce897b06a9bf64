//! Finds the normative sentences of documents (those with "must", "never" and the like), and how an informal
//! specification accounts for each of them, so that no promise of the documents disappears in silence.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cited_places::LineRange;
use super::citing_items::{CitingItem, CitingKind, citing_items, lines_by_section, scope_words};
use super::documents::Document;
use super::quote::sentences;

/// The words and phrases that make a sentence normative if a run does not choose others.
pub const DEFAULT_NORMATIVE_WORDS: [&str; 6] = ["must", "shall", "never", "always", "at no time", "only if"];

/// A sentence of the documents that promises or demands something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NormativeSentence {
    /// `N1`, `N2`, … in the order of the documents of the run, the ones that were not read included.
    pub id: String,
    /// `docs/swap.md:12-14`.
    pub place: String,
    pub text: String,
    /// How the informal specification accounts for it; `None` if it does not.
    pub account: Option<Account>,
}

/// What a normative sentence is in the informal specification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "as", content = "what")]
pub enum Account {
    /// These requirements cite it.
    Requirements(Vec<String>),
    /// These assumptions cite it.
    Assumptions(Vec<String>),
    /// A step, or another description of the model, cites it.
    Behaviour,
    /// These open points cite it.
    OpenPoints(Vec<String>),
    /// It is out of scope, with the line that says why.
    OutOfScope(String),
}

impl NormativeSentence {
    /// The sentence with its place, in one line.
    pub fn words(&self) -> String {
        format!("{} [{}] \"{}\"", self.id, self.place, self.text)
    }
}

/// The normative sentences of those documents for which `is_read` holds, each with its account in the informal specification.
/// A sentence is accounted for if a place that the informal specification cites overlaps its lines.
pub fn account_for(
    informal: &str,
    documents: &[Document],
    is_read: impl Fn(&str) -> bool,
    words: &[String],
) -> Vec<NormativeSentence> {
    let items = citing_items(informal, documents);
    let mut found = Vec::new();
    let mut number = 0;
    for document in documents {
        for (from, to, text) in sentences(&document.text) {
            if !is_normative(&text, words) {
                continue;
            }
            number += 1;
            if is_read(&document.path) {
                let lines = if from == to { from.to_string() } else { format!("{from}-{to}") };
                let place = format!("docs/{}:{lines}", document.path);
                let account = account_of(&items, &LineRange { document, from, to });
                found.push(NormativeSentence { id: format!("N{number}"), place, text, account });
            }
        }
    }
    found
}

/// The sentences without an account, as a list for a model.
pub fn unaccounted_text(sentences: &[NormativeSentence]) -> Option<String> {
    let unaccounted = sentences.iter().filter(|sentence| sentence.account.is_none());
    let list = unaccounted.fold(String::new(), |mut list, sentence| {
        let _ = writeln!(list, "- [{}] \"{}\"", sentence.place, sentence.text);
        list
    });
    (!list.is_empty()).then_some(list)
}

pub(super) fn is_normative(sentence: &str, words: &[String]) -> bool {
    words.iter().any(|word| holds_word(sentence, word))
}

/// Whether the text holds the word or phrase, in any case. In a script with upper and lower case, it has to begin and end
/// where words do; other scripts need not separate words.
fn holds_word(text: &str, word: &str) -> bool {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let word = word.to_lowercase();
    let has_case = word.chars().any(char::is_lowercase);
    let is_inside = |c: Option<char>| has_case && c.is_some_and(char::is_alphanumeric);
    !word.is_empty()
        && text.match_indices(&word).any(|(at, _)| {
            !is_inside(text[..at].chars().next_back()) && !is_inside(text[at + word.len()..].chars().next())
        })
}

/// How the informal specification accounts for a sentence.
fn account_of(items: &[CitingItem<'_>], sentence: &LineRange<'_>) -> Option<Account> {
    let cited_by = |kind| {
        let items = items.iter().filter(|item| item.kind == kind && item.ranges.iter().any(|r| r.overlaps(sentence)));
        Some(items.map(|item| item.id.clone()).collect::<Vec<_>>()).filter(|found| !found.is_empty())
    };
    cited_by(CitingKind::Requirement)
        .map(Account::Requirements)
        .or_else(|| cited_by(CitingKind::Assumption).map(Account::Assumptions))
        .or_else(|| cited_by(CitingKind::Step).or(cited_by(CitingKind::Description)).map(|_| Account::Behaviour))
        .or_else(|| cited_by(CitingKind::OpenPoint).map(Account::OpenPoints))
        .or_else(|| cited_by(CitingKind::OutOfScope).map(|lines| Account::OutOfScope(lines.join("; "))))
}

/// The lines that declare something out of scope, without their marks.
pub fn out_of_scope_lines(informal: &str) -> Vec<String> {
    let lines = lines_by_section(informal).into_iter();
    let declared = lines.filter(|at| at.section == Some("out of scope") && !at.line.starts_with('#'));
    let items = declared.map(|at| scope_words(at.line));
    items.filter(|line| !line.is_empty() && !line.trim_end_matches('.').eq_ignore_ascii_case("none")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "# Locks must\n\nA client must hold the lock. It may wait\nfor it, but never twice. Time passes.\n\
        \n- Fees are always paid.\n\n```\nmust not count\n```\n| a | MUST |\n\nMustard is no word. The musts neither.\n\
        At no\ntime two clients hold it.\n";

    fn words() -> Vec<String> {
        DEFAULT_NORMATIVE_WORDS.map(str::to_owned).to_vec()
    }

    fn accounts(informal: &str) -> Vec<(String, Option<Account>)> {
        let documents = [
            Document { path: "unread.md".into(), text: "It must not be listed, only counted.\n".into() },
            Document { path: "a.md".into(), text: DOCUMENT.into() },
        ];
        let found = account_for(informal, &documents, |path| path == "a.md", &words());
        found.into_iter().map(|s| (format!("{} {}", s.id, s.place), s.account)).collect()
    }

    #[test]
    fn normative_sentences_are_found_with_their_lines() {
        let documents = [Document { path: "a.md".into(), text: DOCUMENT.into() }];
        let found = account_for("", &documents, |_| true, &words());
        let found: Vec<String> = found.iter().map(NormativeSentence::words).collect();
        assert_eq!(
            found,
            [
                "N1 [docs/a.md:3] \"A client must hold the lock.\"",
                "N2 [docs/a.md:3-4] \"It may wait for it, but never twice.\"",
                "N3 [docs/a.md:6] \"- Fees are always paid.\"",
                "N4 [docs/a.md:11] \"| a | MUST |\"",
                "N5 [docs/a.md:14-15] \"At no time two clients hold it.\"",
            ]
        );
        assert!(account_for("", &documents, |_| false, &words()).is_empty());
        assert!(account_for("", &documents, |_| true, &[String::new()]).is_empty());
        let german =
            [Document { path: "d.md".into(), text: "Er darf nicht warten. 客户端必须等待。\n".into() }];
        for word in ["darf nicht", "必须"] {
            assert_eq!(account_for("", &german, |_| true, &[word.to_owned()]).len(), 1, "{word}");
        }
        assert!(account_for("", &german, |_| true, &["arte".to_owned()]).is_empty());
    }

    #[test]
    fn each_sentence_is_accounted_for_by_what_cites_its_lines() {
        let none = accounts("# T\n## Requirements\nR1 [docs/b.md:3] x\n");
        assert_eq!(none.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>()[0], "N2 docs/a.md:3");
        assert!(none.iter().all(|(_, account)| account.is_none()), "{none:?}");
        let informal = "# T\n## Other concerns\n- Tables: docs/a.md:11; they have state\n## Out of scope\n\
            - [docs/a.md:6] Fees are another document's.\n## Steps\n- Wait [docs/a.md:4]: it waits.\n## Requirements\n\
            R1 [docs/a.md:3] The lock is held. (safety)\n## Open points\nO1 [docs/a.md:15] Who? Taken: a. Otherwise: b.\n\
            ## Assumptions\nA1 [docs/a.md:14-15] (narrowed) Two.\n";
        let found: Vec<Option<Account>> = accounts(informal).into_iter().map(|(_, account)| account).collect();
        assert_eq!(
            found,
            [
                Some(Account::Requirements(vec!["R1".into()])),
                // Lines 3 and 4: the requirement counts before the step.
                Some(Account::Requirements(vec!["R1".into()])),
                Some(Account::OutOfScope("[docs/a.md:6] Fees are another document's.".into())),
                Some(Account::OutOfScope("Tables: docs/a.md:11; they have state".into())),
                Some(Account::Assumptions(vec!["A1".into()])),
            ]
        );
        let titled = accounts(
            "# Requirements of the lock\n## Other concerns\n- All: docs/a.md; state\n## Steps\n- W [docs/a.md:4]\n## Out of scope\n- see docs/a.md\n- [docs/a.md:99] x\n",
        );
        assert_eq!(titled.iter().filter(|(_, account)| account.is_some()).count(), 1, "{titled:?}");
        let whole = accounts("## Out of scope\n- [docs/a.md] another team\n");
        assert!(whole.iter().all(|(_, account)| matches!(account, Some(Account::OutOfScope(_)))), "{whole:?}");
        let only_steps = accounts("## Steps\n- Wait [docs/a.md:4]: it waits. [docs/a.md:14]\n");
        let behaviours = only_steps.iter().filter(|(_, account)| *account == Some(Account::Behaviour)).count();
        assert_eq!(behaviours, 2);
    }
}
