//! Finds the normative sentences of documents (those with "must", "never" and the like), and how an informal
//! specification accounts for each of them, so that no promise of the documents disappears in silence.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cited_places::{LineRange, has_quote};
use super::citing_items::{CitingItem, CitingKind, citing_items};
use super::content_words::content_words;
use super::documents::Document;
use super::normative_sentences::normative_sentences;

/// The words and phrases that make a sentence normative if a run does not choose others. The first [`EARLIER_NORMATIVE_WORD_COUNT`] of
/// them are those of recordings that do not say which words their run used.
pub const DEFAULT_NORMATIVE_WORDS: [&str; 22] = [
    "must",
    "shall",
    "never",
    "always",
    "at no time",
    "only if",
    "at most",
    "exactly once",
    "exactly one",
    "unless",
    "is guaranteed",
    "are guaranteed",
    "cannot",
    "eventually",
    "at least",
    "stay",
    "stays",
    "remain",
    "remains",
    "until",
    "before",
    "after",
];

/// The number of default words up to the version that wrote them into recordings.
pub const EARLIER_NORMATIVE_WORD_COUNT: usize = 14;

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
///
/// A place accounts for a sentence if this is the only normative sentence on one of the cited lines, or if the cited lines
/// hold all of the normative sentences that share lines with it, directly or through others, and these are no more than their
/// lines. Below "Out of scope", several lines account for all sentences that are wholly in them, unless these are more than the
/// lines.
///
/// Otherwise the words of the part that cites the place decide. If the part quotes words with the place, it accounts for the
/// sentence if the quotation has a content word and no other sentence there contains it, or if it has at least two of the
/// sentence's content words and half of them. If not, it accounts for each sentence with which it shares half of the sentence's content
/// words, and for the sentence with which it shares most: at least two words, or one if it shares none with the others.
pub fn account_for(
    informal: &str,
    documents: &[Document],
    is_read: impl Fn(&str) -> bool,
    words: &[String],
) -> Vec<NormativeSentence> {
    let items: Vec<Citing<'_>> = citing_items(informal, documents).into_iter().map(Citing::new).collect();
    let mut found = Vec::new();
    let mut number = 0;
    for document in documents {
        let normative = normative_sentences(&document.text, words);
        let first = number + 1;
        number += normative.len();
        if !is_read(&document.path) {
            continue;
        }
        let here: Vec<&Citing<'_>> = items.iter().filter(|item| item.cites(document)).collect();
        let all: Vec<Demand> = normative.into_iter().map(Demand::new).collect();
        for (at, demand) in all.iter().enumerate() {
            let Demand { from, to, text, .. } = demand;
            let lines = if from == to { from.to_string() } else { format!("{from}-{to}") };
            let citing = here.iter().filter(|item| item.accounts_for(at, &all, document)).map(|item| &item.item);
            found.push(NormativeSentence {
                id: format!("N{}", first + at),
                place: format!("docs/{}:{lines}", document.path),
                text: text.clone(),
                account: account_of(&citing.collect::<Vec<_>>()),
            });
        }
    }
    found
}

/// A normative sentence of a document, with its first and last line.
struct Demand {
    from: usize,
    to: usize,
    text: String,
    words: BTreeSet<String>,
}

impl Demand {
    fn new((from, to, text): (usize, usize, String)) -> Self {
        let words = content_words(&text);
        Self { from, to, text, words }
    }
}

/// The sentences that share lines with one of them, directly or through others. They are in the order of their lines.
fn block_of(at: usize, all: &[Demand]) -> &[Demand] {
    let (mut first, mut end) = (at, at + 1);
    while first > 0 && all[first - 1].to >= all[first].from {
        first -= 1;
    }
    while end < all.len() && all[end - 1].to >= all[end].from {
        end += 1;
    }
    &all[first..end]
}

/// A part that cites, with its content words.
struct Citing<'a> {
    item: CitingItem<'a>,
    words: BTreeSet<String>,
}

impl<'a> Citing<'a> {
    fn new(item: CitingItem<'a>) -> Self {
        let words = content_words(&item.text);
        Self { item, words }
    }

    fn cites(&self, document: &Document) -> bool {
        self.item.ranges.iter().any(|range| range.document.path == document.path)
    }

    fn accounts_for(&self, at: usize, all: &[Demand], document: &Document) -> bool {
        let demand = &all[at];
        let ranges = || self.item.ranges.iter().filter(|range| range.document.path == document.path);
        let is_meant_whole = |range: &LineRange<'_>| {
            if demand.from < range.from || range.to < demand.to {
                return false;
            }
            let block = block_of(at, all);
            let (from, to) = (block[0].from, block[block.len() - 1].to);
            // A passage that is out of scope has room for what it says.
            let is_passage = self.item.kind == CitingKind::OutOfScope && {
                let lines = document.text.lines().skip(range.from - 1).take(range.to + 1 - range.from);
                let count = lines.filter(|line| !line.trim().is_empty()).count();
                let overlapping = all.iter().filter(|one| one.from <= range.to && range.from <= one.to).count();
                count > 1 && overlapping <= count
            };
            range.from <= from && to <= range.to && (is_passage || block.len() <= to + 1 - from)
        };
        let by_lines = ranges()
            .filter_map(|range| {
                let lines = range.from.max(demand.from)..=range.to.min(demand.to);
                (!lines.is_empty()).then_some(lines)
            })
            .any(|lines| {
                // Sentences are in the order of their lines.
                let others = || {
                    let before = all[..at].iter().rev().take_while(|other| other.to >= *lines.start());
                    let after = all[at + 1..].iter().take_while(|other| other.from <= *lines.end());
                    before.chain(after)
                };
                let is_shared = |line: &usize| others().any(|other| (other.from..=other.to).contains(line));
                !lines.clone().all(|line| is_shared(&line)) || self.says(demand, others())
            });
        by_lines || ranges().any(is_meant_whole)
    }

    /// Whether it says this sentence and not only one of the others on the same lines.
    fn says<'d>(&self, demand: &Demand, mut others: impl Iterator<Item = &'d Demand>) -> bool {
        if !self.item.quotes.is_empty() {
            let others: Vec<&Demand> = others.collect();
            return self.item.quotes.iter().any(|quote| is_quoted(quote, demand, &others));
        }
        let shared = |demand: &Demand| demand.words.intersection(&self.words).count();
        let own = shared(demand);
        let is_half = own > 0 && 2 * own >= demand.words.len();
        is_half || others.all(|other| if own >= 2 { shared(other) <= own } else { own > 0 && shared(other) == 0 })
    }
}

/// Whether the quotation is in this sentence and identifies it: no other sentence contains it, or it has at least two content
/// words and half of the sentence's.
fn is_quoted(quote: &str, demand: &Demand, others: &[&Demand]) -> bool {
    let words = content_words(quote);
    let own = words.intersection(&demand.words).count();
    // In a text without blanks, a part of a sentence has other words than the whole.
    let is_most = 2 * quote.len() > demand.text.len();
    let identifies = own > 0 || is_most || !words.is_empty() && !quote.is_ascii();
    let is_from = |demand: &Demand| has_quote(&demand.text, quote);
    identifies
        && is_from(demand)
        && (own >= 2 && 2 * own >= demand.words.len() || !others.iter().any(|other| is_from(other)))
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

/// How these parts account for a sentence.
fn account_of(items: &[&CitingItem<'_>]) -> Option<Account> {
    let cited_by = |kind| {
        let items = items.iter().filter(|item| item.kind == kind);
        Some(items.map(|item| item.id.clone()).collect::<Vec<_>>()).filter(|found| !found.is_empty())
    };
    cited_by(CitingKind::Requirement)
        .map(Account::Requirements)
        .or_else(|| cited_by(CitingKind::Assumption).map(Account::Assumptions))
        .or_else(|| cited_by(CitingKind::Step).or(cited_by(CitingKind::Description)).map(|_| Account::Behaviour))
        .or_else(|| cited_by(CitingKind::OpenPoint).map(Account::OpenPoints))
        .or_else(|| cited_by(CitingKind::OutOfScope).map(|lines| Account::OutOfScope(lines.join("; "))))
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
    fn a_quotation_counts_only_if_it_identifies_a_sentence() {
        let line =
            "It is never above the limit. It must stop at the limit. A second worker must never add while it waits.\n";
        let documents = [Document { path: "a.md".into(), text: line.into() }];
        let accounted = |quote: &str| {
            let informal = format!("## Requirements\n\nR1 [docs/a.md:1 \"{quote}\"] It holds. (safety)\n");
            let found = account_for(&informal, &documents, |_| true, &words());
            found.iter().filter(|sentence| sentence.account.is_some()).count()
        };
        for (quote, count) in [
            ("the", 0),
            ("t", 0),
            ("must", 0),
            ("limit", 0),
            ("above the limit", 1),
            ("second worker", 1),
            ("stop at", 1),
        ] {
            assert_eq!(accounted(quote), count, "{quote}");
        }
    }

    #[test]
    fn list_items_below_a_normative_sentence_are_normative() {
        let text = "#A second worker must never add.\n\n# What must hold\n\n## It shall wait.\n\n####### It shall stop.\n\nThe following must hold:\n\n- One lock.\n- It ends.\n  \
                    Then it waits.\n- A client must:\n  - wait;\n  - stop.\n\nIt grows.\n\nThese exist:\n\n- Two.\n";
        let documents = [Document { path: "a.md".into(), text: text.into() }];
        let found = account_for("", &documents, |_| true, &words());
        let found: Vec<&str> = found.iter().map(|sentence| sentence.text.as_str()).collect();
        assert_eq!(
            found,
            [
                "#A second worker must never add.",
                "## It shall wait.",
                "####### It shall stop.",
                "The following must hold:",
                "- One lock.",
                "- It ends.",
                "Then it waits.",
                "- A client must:",
                "- wait;",
                "- stop."
            ]
        );
    }

    #[test]
    fn each_sentence_is_accounted_for_by_what_cites_its_lines() {
        let none = accounts("# T\n## Requirements\nR1 [docs/b.md:3] x\n");
        assert_eq!(none.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>()[0], "N2 docs/a.md:3");
        assert!(none.iter().all(|(_, account)| account.is_none()), "{none:?}");
        let informal = "# T\n## Other concerns\n- Tables: docs/a.md:11; they have state\n## Out of scope\n\
            - [docs/a.md:6] Fees are another document's.\n## Steps\n- Wait [docs/a.md:4]: it waits.\n## Requirements\n\
            R1 [docs/a.md:3] A client holds the lock. (safety)\n## Open points\nO1 [docs/a.md:15] Who? Taken: a. Otherwise: b.\n\
            ## Assumptions\nA1 [docs/a.md:14-15] (narrowed) Two.\n";
        let found: Vec<Option<Account>> = accounts(informal).into_iter().map(|(_, account)| account).collect();
        assert_eq!(
            found,
            [
                Some(Account::Requirements(vec!["R1".into()])),
                // Lines 3 and 4: the requirement cites only the line that both are on, and says the other one.
                Some(Account::Behaviour),
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
    #[test]
    fn on_a_line_with_several_sentences_each_is_accounted_for_by_itself() {
        let text = "A client must hold the lock before it writes. The lock must be released at the end. Every client that waits must be \
                    served.\n\nA lease\nmust end. A holder must know it. It must\nnever return.\n\n客户端必须等待锁。 管理员必须释放资源。\n";
        let documents = [Document { path: "a.md".into(), text: text.to_owned() }];
        let mut words = words();
        words.push("必须".to_owned());
        let accounted = |informal: &str| -> Vec<usize> {
            let found = account_for(informal, &documents, |_| true, &words);
            found.iter().enumerate().filter(|(_, one)| one.account.is_some()).map(|(at, _)| at + 1).collect()
        };
        let one = |place: &str, text: &str| format!("## Requirements\nR1 [docs/a.md:{place}] {text}\n");
        for (informal, expected) in [
            (one("1", "A client writes only while it holds the lock. (safety)"), vec![1]),
            (one("1", "Waiting clients are served in the end. (liveness)"), vec![3]),
            (one("1", "It is so. (safety)"), vec![]),
            (one("1 \"must be released\"", "It is so. (safety)"), vec![2]),
            (one("1 \"must be released\", \"waits\"", "A client writes and holds the lock. (safety)"), vec![2, 3]),
            // As many sentences as lines.
            (one("3-5", "It is so. (safety)"), vec![4, 5, 6]),
            (one("3-4", "It is so. (safety)"), vec![4]),
            (one("4", "It is so. (safety)"), vec![]),
            (one("4", "Each holder knows it. (safety)"), vec![5]),
            (one("1-2", "It is so. (safety)"), vec![]),
            // Further lines, blank or not, give no room for the sentences of one line.
            (one("1-5", "It is so. (safety)"), vec![4, 5, 6]),
            (one("1-7", "It is so. (safety)"), vec![4, 5, 6, 7]),
            ("## Out of scope\n- [docs/a.md:1-5] another team\n".to_owned(), vec![4, 5, 6]),
            ("## Out of scope\n- [docs/a.md:3-7] another team\n".to_owned(), vec![4, 5, 6, 7]),
            ("## Out of scope\n- [docs/a.md:1-2] another team\n".to_owned(), vec![]),
            (one("7", "每个客户端都等待锁。 (safety)"), vec![7]),
            ("## Out of scope\n- [docs/a.md:1] Every waiting client is another team's.\n".to_owned(), vec![3]),
            ("## Out of scope\n- [docs/a.md:1 \"must be released\"] another team\n".to_owned(), vec![2]),
            ("## Out of scope\n- [docs/a.md:1-7]\n".to_owned(), vec![]),
            ("## Out of scope\n<!-- - [docs/a.md:1-7] another team -->\n".to_owned(), vec![]),
            ("## Out of scope [docs/a.md:1-7]\n".to_owned(), vec![]),
            ("## Steps\n```\n- Take [docs/a.md:3-5]: it waits\n```\n".to_owned(), vec![]),
            ("## Steps\n- Take: the lock is released\n  at the end [docs/a.md:1]\n".to_owned(), vec![2]),
        ] {
            assert_eq!(accounted(&informal), expected, "{informal}");
        }
    }
}
