//! The text of `facts.md`: what tools and journal show about the specification under review, for the reviewer.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::larger_bounds::{compare_larger_constants, write_larger_bounds};
use super::mutants_text::mutants_facts;
use super::review_facts::{ENFORCED, ReviewSubject};
use super::workspace::diagnostics_text;
use crate::pipeline::{ApprovalClause, ApprovalFacts, Judgement, NOT_FALSIFIED, NOTICED_NOTHING, PREMISE, Question};
use crate::prompt::{
    Account, Assumption, Document, NormativeSentence, OpenPoint, UnrelatedCitation, missing_strength_words,
    prose_among_items, quote, unrelated_citations,
};
use crate::tla::{Change, ChangeKind, CheckOutcome, Checker, ProbeResult, Verdict, parsed_by, parsers_of, probe_lines};

/// How many sentences are quoted of each passage that is declared out of scope, in a document that a requirement, an open
/// point or an assumption cites. Of other documents, one sentence is quoted.
const MOST_OUT_OF_SCOPE: usize = 2;

impl ReviewSubject<'_> {
    /// The text of `facts.md` for the reviewer. `judgement` must be made from `facts`, before any review has accepted
    /// anything.
    pub(super) fn facts_text(&self, facts: &ApprovalFacts, judgement: &Judgement, documents: &[Document]) -> String {
        let mut text = String::from("# Facts\n\nBy tools and journal, not by a model.\n\n## State\n\n");
        let yes = |b: bool| if b { "yes" } else { "NO" };
        // Before the first check, only the settings say which parser the run uses.
        let chosen = match self.view.settings.command_line["checker"].as_str() {
            Some("embedded" | "auto") => Checker::Embedded,
            _ => Checker::Tlc,
        };
        let by = self.fresh_check().map_or_else(|| parsed_by(chosen), parsers_of);
        let _ = writeln!(text, "- module accepted by {by}: {}", yes(self.view.state.module_accepted));
        let _ =
            writeln!(text, "- merged with its properties and accepted again: {}", yes(self.view.state.merged_accepted));
        let _ = writeln!(text, "- this version was checked: {}", yes(self.fresh_check().is_some()));
        if let Some(flaw) = self.view.inherited_flaw().filter(|_| !self.view.state.repaired) {
            let _ = writeln!(
                text,
                "- this branch comes from rev_{}, which ended in a confirmed flaw of the documented protocol: {} breaks, \
                 shown by {}; a person then corrected the specification by hand or decided an open point. An approval says that this was no flaw of \
                 the documents: look whether the present steps are the documented ones",
                flaw.revision, flaw.requirement, flaw.property
            );
        }
        if let Some(Question { open_point, requirement, .. }) = self.view.tried_question() {
            let _ = writeln!(
                text,
                "- this revision takes the other reading of {} on purpose: under the first reading {requirement} breaks, and \
                 the owner of the protocol will be asked which one is meant. Judge the revision under this reading: it is no \
                 issue that it excludes behaviour, or that requirements and properties follow it",
                open_point.id
            );
        }
        let edited = if self.view.specification.edited.is_empty() {
            "nothing".to_owned()
        } else {
            self.view.specification.edited.join(", ")
        };
        let _ = writeln!(text, "- edited by hand since the last review: {edited}");
        if !self.view.specification.diagnostics.is_empty() {
            let _ = write!(
                text,
                "\n## Diagnostics of the last parse\n\n{}",
                diagnostics_text(&self.view.specification.diagnostics)
            );
        }
        self.write_requirements(&mut text, facts, documents);
        let decisions = &self.view.specification.decisions;
        if !decisions.is_empty() {
            text.push_str("\n## Decided by the owner of the protocol (counts as documented)\n\n");
            write_list(
                &mut text,
                decisions.iter().map(|decision| format!("{} {}", decision.open_point.id, decision.words())),
            );
        }
        text.push_str("\n## Open points (accept the reading by id in `accepted_open_points`, or have it changed)\n\n");
        write_list(&mut text, self.view.undecided_open_points().map(describe_open_point));
        text.push_str("\n## Assumptions (accept by id in `accepted_assumptions`, or have them changed)\n\n");
        let assumptions = self.view.specification.assumptions.iter().map(Assumption::words);
        write_list(&mut text, assumptions.chain(self.fairness_remark()));
        self.write_doubtful_items(&mut text, documents);
        self.write_normative_sentences(&mut text);
        text.push_str(
            "\n## Bounds that weaken the check (accept word for word and with a reason in `accepted_cfg`, or have \
             them removed)\n\n",
        );
        write_list(&mut text, facts.weakening_lines.iter().map(|l| l.line.clone()));
        self.write_enforced_properties(&mut text);
        self.write_vacuous_properties(&mut text);
        text.push_str(
            "\n## Changes since first checked (accept by name in `accepted_changes`, or have them undone)\n\n",
        );
        write_list(&mut text, self.view.changes_since_baseline().iter().map(describe_change));
        if let Some(mutants) = mutants_facts(self.view) {
            let _ = write!(text, "\n{mutants}");
        }
        self.write_violations(&mut text);
        self.write_contracts(&mut text);
        write_larger_bounds(&mut text, self.view);
        text.push_str("\n## Clauses that would refuse an approval now, unless your review accepts them by name\n\n");
        // Without a fresh check, clauses about its results would only repeat that it is missing.
        let is_relevant = |c: &&ApprovalClause| match c {
            // No blind reader was asked, because other clauses exclude an approval.
            ApprovalClause::ReadingsAccepted => self.view.is_read_blindly() && !self.is_violated(),
            clause => self.fresh_check().is_some() || !clause.rests_on_the_check(),
        };
        let open = ApprovalClause::ALL.iter().filter(is_relevant).filter(|c| !judgement.holds(**c)).map(|clause| {
            let words = clause.words(facts);
            let node = clause.node();
            if clause.is_up_to_the_review() {
                words
            } else {
                format!("{words} (no review can accept it: {node} mends it)")
            }
        });
        write_list(&mut text, open);
        text
    }

    /// Writes the properties that the specification itself enforces, if there are any.
    fn write_enforced_properties(&self, text: &mut String) {
        let enforced = self.enforced_properties();
        if enforced.is_empty() {
            return;
        }
        let _ = writeln!(
            text,
            "\n## Properties that the specification itself enforces\n\nThe specification forbids what the property forbids, so \
             that the check shows nothing about the protocol. Accept one, as `{ENFORCED} NAME` above, only if the documents \
             demand this very check as a step of the protocol; otherwise it has to be removed from the specification.\n"
        );
        write_list(text, enforced.into_iter().map(|(name, how)| format!("`{name}`: {how}")));
    }

    /// Writes what shows that properties, or parts of them, say nothing of the protocol, if anything does.
    fn write_vacuous_properties(&self, text: &mut String) {
        let Some(bounds) = self.fresh_check().map(|check| &check.bounds) else { return };
        if !bounds.vacuous_premises.is_empty() || !bounds.not_falsified.is_empty() {
            let _ = writeln!(
                text,
                "\n## Lines `{PREMISE}` and `{NOT_FALSIFIED}` (accept in `accepted_cfg`)\n\nA property whose premise is never true \
                 forbids nothing. Accept a `{PREMISE}` line only if the documents describe a case that these constants or this \
                 environment cannot produce, and name the case. No state is known that violates a `{NOT_FALSIFIED}` property, so it \
                 may be true whatever the protocol does. Accept it only if you can name a state or step that would violate it.\n"
            );
            write_list(text, bounds.vacuous_premises.iter().chain(&bounds.not_falsified).cloned());
        }
        let idle = self.view.properties_that_noticed_nothing();
        if !idle.is_empty() {
            let _ = writeln!(
                text,
                "\n## Lines `{NOTICED_NOTHING}` (accept in `accepted_cfg`)\n\nNone of the judged mutants is known to violate these properties; the search for further \
                 violated properties of a mutant is bounded, and definitions that properties use are not mutated. \
                 Accept one, as `{NOTICED_NOTHING} NAME`, only if you can name a wrong step of the protocol that it would notice, \
                 best one that no other property notices; otherwise it may say less than its requirement (`wrong_invariant`).\n"
            );
            write_list(text, idle.into_iter().map(|name| format!("{NOTICED_NOTHING} {name}")));
        }
        if !bounds.vacuous_properties.is_empty() {
            text.push_str("\n## Vacuous properties (they cover no requirement)\n\n");
            write_list(text, bounds.vacuous_properties.iter().map(|(name, why)| format!("`{name}`: {why}")));
        }
    }

    /// Writes what counts for nothing in the lists of the informal specification, and citations of lines that may be wrong.
    fn write_doubtful_items(&self, text: &mut String, documents: &[Document]) {
        let lists = [
            (
                "Lines among requirements, open points and assumptions that are no item and count for nothing (does one \
                 demand something?)",
                prose_among_items(&self.informal),
            ),
            (
                "Cited lines without a word in common with what they are cited for (do they say it?)",
                unrelated_citations(&self.informal, documents).iter().map(UnrelatedCitation::words).collect(),
            ),
        ];
        for (title, lines) in lists.into_iter().filter(|(_, lines)| !lines.is_empty()) {
            let _ = write!(text, "\n## {title}\n\n");
            write_list(text, lines.into_iter());
        }
    }

    /// Writes the normative sentences that no requirement or assumption cites; the others are quoted there.
    fn write_normative_sentences(&self, text: &mut String) {
        let sentences = &self.view.specification.normative_sentences;
        let list = |is_listed: &dyn Fn(&NormativeSentence) -> bool| {
            let listed = sentences.iter().filter(|sentence| is_listed(sentence));
            listed.map(NormativeSentence::words).collect::<Vec<_>>()
        };
        let unaccounted = list(&|sentence| sentence.account.is_none());
        if !unaccounted.is_empty() {
            text.push_str(
                "\n## Normative sentences that the informal specification does not account for (accept each by id and with a reason \
                 in `accepted_sentences`, or have it cited)\n\n",
            );
            write_list(text, unaccounted.into_iter());
        }
        let behaviour = list(&|sentence| sentence.account == Some(Account::Behaviour));
        if !behaviour.is_empty() {
            text.push_str("\n## Normative sentences that only a step cites (is one of them a requirement?)\n\n");
            write_list(text, behaviour.into_iter());
        }
        // Each line of the section, also those that cover no sentence, and lines about other concerns that cover some.
        let mut reasons: Vec<&String> = self.out_of_scope.iter().collect();
        for sentence in sentences {
            if let Some(Account::OutOfScope(reason)) = &sentence.account
                && !reasons.contains(&reason)
            {
                reasons.push(reason);
            }
        }
        if !reasons.is_empty() {
            text.push_str("\n## Declared out of scope (does something matter for the concern?)\n\n");
        }
        if self.knows_out_of_scope && !reasons.is_empty() {
            let _ = writeln!(text, "- the same {} as an earlier review has read", counted_lines(reasons.len()));
            return;
        }
        let cited = self.cited_documents();
        for reason in reasons {
            let _ = writeln!(text, "- {reason}");
            let covers = |s: &&NormativeSentence| matches!(&s.account, Some(Account::OutOfScope(why)) if why == reason);
            let covered: Vec<&NormativeSentence> = sentences.iter().filter(covers).collect();
            let is_cited = |sentence: &&&NormativeSentence| cited.contains(document_of(&sentence.place));
            let mut quoted: Vec<&NormativeSentence> =
                covered.iter().filter(is_cited).take(MOST_OUT_OF_SCOPE).copied().collect();
            if quoted.is_empty() {
                quoted.extend(covered.first());
            }
            for sentence in &quoted {
                // Its place is in the line above.
                let _ = writeln!(text, "  - {} \"{}\"", sentence.id, sentence.text);
            }
            if covered.len() > quoted.len() {
                let _ = writeln!(text, "  - and {} more at these places", covered.len() - quoted.len());
            }
        }
    }

    /// The documents that requirements, open points and assumptions cite.
    fn cited_documents(&self) -> BTreeSet<&str> {
        let specification = &self.view.specification;
        let requirements = specification.requirements.iter().filter_map(|r| r.place.as_deref());
        let open_points = specification.open_points.iter().filter_map(|o| o.place.as_deref());
        let assumptions = specification.assumptions.iter().filter_map(|a| a.place.as_deref());
        let places = requirements.chain(open_points).chain(assumptions);
        places.flat_map(|place| place.split(',')).map(|range| document_of(range.trim())).collect()
    }

    /// Writes each requirement with its status, its quote from the documents, and what a blind reader says that its
    /// properties forbid.
    fn write_requirements(&self, text: &mut String, facts: &ApprovalFacts, documents: &[Document]) {
        text.push_str("\n## Requirements\n\n");
        let is_read = self.view.is_read_blindly() && self.view.settings.blind_reading;
        if is_read {
            text.push_str(
                "The blind reader saw the formulas under neutral names, and neither comments nor requirements nor documents. Compare \
                 three: what the documents say, the requirement, and what the property forbids. Accept \
                 each reading by the property's name in `accepted_readings`, with words of the documents' sentence in `quote`, saying in the \
                 reason how the three differ if they do, or have property or requirement changed.\n\n",
            );
        }
        let is_violated = self.is_violated();
        let (read, covers) = (self.view.blind_readings(), &self.view.specification.covers);
        let covers = |name: &String, id: &String| covers.get(name).is_some_and(|ids| ids.contains(id));
        let mut first_shown: BTreeMap<&String, String> = BTreeMap::new();
        for r in self.view.requirement_results(None) {
            let words = r.requirement.place_words();
            let (id, place) = (r.requirement.id, r.requirement.place);
            let _ = writeln!(text, "- {id} [{words}] {}: {}", r.requirement.text, r.status.words());
            if let Some(quoted) = place.and_then(|place| quote(documents, &place, &r.requirement.text)) {
                let _ = writeln!(text, "  documents: \"{quoted}\"");
                let missing = missing_strength_words(&quoted, &r.requirement.text);
                if !missing.is_empty() {
                    let _ = writeln!(
                        text,
                        "  in the documents and not in {id}: \"{}\" (is the requirement weaker?)",
                        missing.join("\", \"")
                    );
                }
            }
            // Beside a violation, only properties that hold are read.
            let is_shown = |name: &&String| is_read && covers(name, &id) && (!is_violated || read.contains_key(*name));
            for name in facts.covering.iter().filter(is_shown) {
                let said =
                    read.get(name).map_or("not read: it cannot be accepted, and prevents an approval", String::as_str);
                let _ = match first_shown.get(name) {
                    Some(above) => writeln!(text, "  blind reading of {name}: see {above}"),
                    None => writeln!(text, "  blind reading of {name}: {said}"),
                };
                first_shown.entry(name).or_insert_with(|| id.clone());
            }
        }
    }

    fn is_violated(&self) -> bool {
        self.fresh_check().is_some_and(|check| matches!(check.verdict, Verdict::Violated { .. }))
    }

    /// Writes each violation, the name for it in `flaw.property`, and what a flaw must cite besides its steps.
    fn write_violations(&self, text: &mut String) {
        let Some(check) = self.fresh_check() else { return };
        let Verdict::Violated { violated } = &check.verdict else { return };
        text.push_str("\n## Violation\n\n");
        if violated.property().is_none() {
            let _ = writeln!(text, "- {}, which has no name: no flaw can rest on it", violated.description());
            write_rechecks(text, check);
        }
        for name in check.violated_names() {
            let ids = self.view.specification.covers.get(name);
            let covered = ids.map_or_else(|| "no requirement".to_owned(), |ids| ids.join(", "));
            let Some(focused) = check.focused_on(name) else { continue };
            let Verdict::Violated { violated } = &focused.verdict else { continue };
            let _ = writeln!(text, "- `flaw.property` is `{name}` ({}); it covers {covered}", violated.description());
            write_rechecks(text, &focused);
        }
        if check.violated_names().count() > 1 {
            text.push_str(
                "- several properties are violated: judge each one. `flaw` names one of them, `further_flaws` each other one that \
                 is a flaw, too; one that is no flaw is named in an issue\n",
            );
        }
    }
}

/// Writes what further runs on the violation showed, and what a flaw must cite because of it.
fn write_rechecks(text: &mut String, check: &CheckOutcome) {
    for line in probe_lines(check) {
        let _ = writeln!(text, "- {line}");
    }
    let fair = check.probes.as_ref().and_then(|p| p.weak_fairness.as_ref());
    let lasso = check.trace.as_ref().is_some_and(|t| t.lasso.is_some());
    if lasso && !fair.is_some_and(|f| matches!(f.result, ProbeResult::StillViolated { .. })) {
        text.push_str(
            "- a flaw needs a line of the documents that lets the behaviour go on like this: \
             `\"unfair\": {\"file\": …, \"line\": …, \"why\": …}` in `flaw`\n",
        );
    }
    let sole_causes = compare_larger_constants(check, true).sole_causes;
    if !sole_causes.is_empty() {
        text.push_str("- no flaw can rest on a violation that a bound alone causes\n");
    } else if !compare_larger_constants(check, false).sole_causes.is_empty() {
        text.push_str(
            "- the deadlock gives way to a larger bound: a flaw needs a line of the documents that grants the bound: \
             `\"bound\": {\"file\": …, \"line\": …, \"why\": …}` in `flaw`\n",
        );
    }
}

fn counted_lines(count: usize) -> String {
    if count == 1 { "line".to_owned() } else { format!("{count} lines") }
}

/// The document of a place such as `docs/swap.md:12-14`.
fn document_of(place: &str) -> &str {
    place.rsplit_once(':').map_or(place, |(document, _)| document)
}

fn write_list(text: &mut String, items: impl Iterator<Item = String>) {
    let before = text.len();
    for item in items {
        let _ = writeln!(text, "- {item}");
    }
    if text.len() == before {
        text.push_str("- none\n");
    }
}

fn describe_open_point(point: &OpenPoint) -> String {
    let OpenPoint { id, question, taken, otherwise, .. } = point;
    let place = point.place_words();
    let mark = point.mark();
    format!(
        "{id} [{place}] {mark}{question} Taken: {taken} Otherwise: {otherwise} Affects: {}",
        point.affects.join(", ")
    )
}

fn describe_change(change: &Change) -> String {
    let text = |t: &Option<String>| t.clone().unwrap_or_else(|| "nothing".into());
    match change.kind {
        ChangeKind::Vanished => format!("`{}` VANISHED; it was: `{}`", change.name, text(&change.was)),
        ChangeKind::Changed => {
            let (was, now) = differing_lines(&text(&change.was), &text(&change.now));
            match (was.as_str(), now.as_str()) {
                ("", new) => format!("`{}` CHANGED: `{new}` is new", change.name),
                (gone, "") => format!("`{}` CHANGED: `{gone}` is gone", change.name),
                (was, now) => format!("`{}` CHANGED from `{was}` to `{now}`", change.name),
            }
        }
        ChangeKind::Appeared => format!("`{}` APPEARED: `{}`", change.name, text(&change.now)),
    }
}

/// The lines of two texts that the other one lacks: each line is a definition, and most of what a property uses stays.
fn differing_lines(was: &str, now: &str) -> (String, String) {
    let split = |text: &str, other: &str| -> (Vec<String>, Vec<String>) {
        text.lines().map(str::to_owned).partition(|line| other.lines().any(|known| known == line))
    };
    let ((kept, gone), (still, new)) = (split(was, now), split(now, was));
    // If the order of the lines changed, both texts are shown.
    if kept == still { (gone.join("\n"), new.join("\n")) } else { (was.to_owned(), now.to_owned()) }
}
