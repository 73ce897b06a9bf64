//! Collects the facts about the specification under review from the tools and the journal. The guards decide on these
//! facts. The reviewer reads them, and can add only the names of items that a review may accept.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use super::larger_bounds::{compare_larger_bounds, write_larger_bounds};
use super::mutants_text::mutants_facts;
use super::workspace::diagnostics_text;
use crate::journal::Sha;
use crate::llm::FileRead;
use crate::pipeline::{
    ApprovalClause, ApprovalFacts, CfgEntry, Judgement, Question, Review, RevisionRank, RunView, WitnessState,
};
use crate::prompt::{
    Account, Assumption, AssumptionKind, Document, NormativeSentence, OpenPoint, marked_changes, out_of_scope_lines,
    quote,
};
use crate::tla::semantic::{impure_operators, redefined_operators};
use crate::tla::{
    Cfg, Change, ChangeKind, CheckOutcome, Checker, Module, ProbeResult, Reached, TERMINATING, Verdict, WitnessOutcome,
    constantly_true_under, parsed_by, probe_lines, unlisted_actions,
};

/// How many sentences are quoted of each passage that is declared out of scope.
const MOST_OUT_OF_SCOPE: usize = 3;

/// The current specification, parsed for the facts about it.
pub(super) struct ReviewSubject<'a> {
    pub view: &'a RunView,
    /// The merged module; `None` if there is none or it cannot be parsed.
    pub module: Option<Arc<Module>>,
    /// The configuration; `None` if there is none or it cannot be parsed.
    pub cfg: Option<Cfg>,
    /// Steps that the informal specification marks as changed.
    pub changes: Vec<String>,
    /// What the informal specification declares out of scope, line by line.
    pub(super) out_of_scope: Vec<String>,
}

impl<'a> ReviewSubject<'a> {
    pub(super) fn new(view: &'a RunView, module: Option<Arc<Module>>, cfg: Option<&str>, informal: &str) -> Self {
        Self {
            view,
            module,
            cfg: cfg.and_then(|text| Cfg::parse(text).ok()),
            changes: marked_changes(informal),
            out_of_scope: out_of_scope_lines(informal),
        }
    }

    /// The last check, if it was of exactly this module and configuration.
    pub(super) fn fresh_check(&self) -> Option<&'a CheckOutcome> {
        self.view.fresh_check()
    }

    /// A remark if the specification assumes fairness and no assumption names it.
    fn fairness_remark(&self) -> Option<String> {
        let is_named = |assumption: &Assumption| assumption.kind == Some(AssumptionKind::Fairness);
        let module = self.module.as_ref()?;
        let specification = self.cfg.as_ref()?.specification.as_ref()?;
        let mut names = module.closure(specification);
        names.insert(specification.clone());
        let mut definitions = names.iter().filter_map(|name| module.definition(name));
        let is_fair = definitions.any(|definition| ["WF_", "SF_"].iter().any(|word| definition.text.contains(word)));
        (is_fair && !self.view.specification.assumptions.iter().any(is_named))
            .then(|| "the specification assumes fairness (WF_ or SF_), and no assumption above names it".to_owned())
    }

    /// Lines that weaken the check, in the wording that a review has to repeat to accept them.
    pub(super) fn weakening_lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(cfg) = &self.cfg {
            lines.extend(cfg.constraints.iter().map(|c| format!("CONSTRAINT {c}")));
            lines.extend(cfg.action_constraints.iter().map(|c| format!("ACTION_CONSTRAINT {c}")));
            lines.extend(cfg.view.iter().map(|v| format!("VIEW {v}")));
            if cfg.check_deadlock == Some(false) {
                lines.push("CHECK_DEADLOCK FALSE".into());
            }
            // A check is at full strength only if it explores `Spec` itself, with every definition as the module has it.
            match (&cfg.specification, &cfg.init, &cfg.next) {
                (Some(spec), ..) if spec == "Spec" => {}
                (Some(spec), ..) => lines.push(format!("SPECIFICATION {spec}")),
                (None, init, next) => {
                    lines.extend(init.iter().map(|i| format!("INIT {i}")));
                    lines.extend(next.iter().map(|n| format!("NEXT {n}")));
                }
            }
            lines.extend(self.replacement_lines());
            lines.extend(self.empty_constant_lines());
        }
        if let Some(module) = &self.module {
            let impure = impure_operators(&module.name, &module.source, self.cfg.as_ref());
            lines.extend(impure.into_iter().map(str::to_owned));
            lines.extend(module.inner_names().map(|name| format!("MODULE {name} inside {}", module.name)));
            let redefined = redefined_operators(&module.name, &module.source);
            lines.extend(redefined.into_iter().map(|name| format!("REDEFINED {name}")));
        }
        let bounds = self.fresh_check().map(|check| &check.bounds);
        lines.extend(
            bounds.into_iter().flat_map(|bounds| bounds.initial_state_parts.iter().chain(&bounds.assumptions).cloned()),
        );
        lines
    }

    /// The lines of the configuration that replace a definition of the module, by another one or by a value.
    fn replacement_lines(&self) -> Vec<String> {
        let (Some(cfg), Some(module)) = (&self.cfg, &self.module) else { return Vec::new() };
        let replaces = |(name, _): &(&String, &String)| !module.declares_constant(name);
        cfg.constants.iter().filter(replaces).map(assignment).collect()
    }

    /// The lines that give a constant the value `{}`, for which every universally quantified formula is true. Sets that
    /// are empty by definition are found by the expansion of definitions.
    fn empty_constant_lines(&self) -> Vec<String> {
        let is_empty = |(_, value): &(&String, &String)| value.split_whitespace().collect::<String>() == "{}";
        self.cfg.iter().flat_map(|cfg| cfg.constants.iter().filter(is_empty).map(assignment)).collect()
    }

    /// The facts of the approval guard. Without a review nothing is accepted.
    pub(super) fn approval_facts(&self, review: Option<&Review>, unread: Vec<String>) -> ApprovalFacts {
        let state = &self.view.state;
        let check = self.fresh_check();
        let listed: Vec<&String> =
            check.map(|c| c.invariants.iter().chain(&c.properties).collect()).unwrap_or_default();
        let checked: Vec<&String> = check.map(|c| c.checked_names().collect()).unwrap_or_default();
        // A property can name a requirement that does not exist.
        let exists = |id: &String| self.view.specification.requirements.iter().any(|r| r.id == *id);
        let covers = |name: &String| self.view.specification.covers.get(name).is_some_and(|ids| ids.iter().any(exists));
        let constantly_true = match (&self.module, &self.cfg) {
            (Some(module), Some(cfg)) => listed
                .iter()
                .copied()
                .chain(&cfg.witnesses)
                .filter_map(|name| {
                    let replaced = cfg.constants.get(name).map(|by| format!("the configuration replaces it: {by}"));
                    // A property that is checked only in the initial states covers nothing, so it is not examined.
                    let covers_nothing = check.is_some_and(|check| check.is_initial_only(name));
                    let by_definition = || constantly_true_under(module, cfg, name).filter(|_| !covers_nothing);
                    let why = replaced.or_else(by_definition);
                    why.map(|why| format!("{name} ({why})"))
                })
                .collect(),
            _ => Vec::new(),
        };
        let dead_actions = check.and_then(|c| c.coverage.as_ref()).map(|coverage| {
            // The coverage does not list an action whose parameter ranges over an empty set.
            let listed = |label: &str| coverage.iter().any(|a| a.name() == label);
            let labels = self.module.iter().flat_map(|m| {
                let labels = m.algorithm.iter().flat_map(|a| &a.labels).map(|l| l.name.clone());
                labels.filter(|label| m.definition(label).is_some() && !listed(label)).collect::<Vec<_>>()
            });
            let unlisted = self.module.as_ref().zip(self.cfg.as_ref());
            let unlisted = unlisted.map(|(module, cfg)| unlisted_actions(module, cfg, coverage)).unwrap_or_default();
            let mut seen = BTreeSet::new();
            coverage
                .iter()
                .filter(|a| a.taken == 0 && a.action != TERMINATING)
                .map(|a| a.action.clone())
                .chain(labels)
                .chain(unlisted)
                .filter(|a| seen.insert(a.clone()) && !review.is_some_and(|r| r.accepts_dead(a)))
                .collect()
        });
        let witnesses = check
            .map(|c| {
                let state = |w: &WitnessOutcome| WitnessState {
                    name: w.name.clone(),
                    reached: matches!(w.reached, Reached::Yes { .. }),
                    by_a_step: matches!(w.reached, Reached::Yes { depth } if depth > 1),
                };
                c.witnesses.iter().map(state).collect()
            })
            .unwrap_or_default();
        // `TypeOK` says which values variables can have, and no requirement of a protocol is only that.
        let covering: Vec<String> =
            checked.iter().filter(|n| **n != "TypeOK" && covers(n)).map(|n| (*n).clone()).collect();
        let unaccepted_readings = self.unaccepted_readings(&covering, review);
        ApprovalFacts {
            changed_steps: if state.repaired { Vec::new() } else { self.changes.clone() },
            covering,
            constantly_true,
            witnesses,
            dead_actions,
            weakening_lines: self
                .weakening_lines()
                .into_iter()
                .map(|line| CfgEntry { accepted: review.is_some_and(|r| r.accepts_cfg(&line)), line })
                .collect(),
            uncovered: self
                .view
                .requirement_results(review)
                .into_iter()
                .filter(|r| r.status.lacks_check())
                .map(|r| r.requirement.id)
                .collect(),
            unaccepted_open_points: self.view.unaccepted_open_points(review),
            unaccepted_assumptions: self.view.unaccepted_assumptions(review),
            unaccounted_sentences: self.view.unaccounted_sentences(review),
            unaccepted_readings,
            unaccepted_bounds: self.view.unaccepted_bounds(review),
            unnamed_changes: self
                .view
                .changes_since_baseline()
                .into_iter()
                .map(|c| c.name)
                .filter(|name| !review.is_some_and(|r| r.accepts_change(name)))
                .collect(),
            unread,
        }
    }

    /// The properties whose blind reading the review does not accept. What was not read cannot be accepted.
    fn unaccepted_readings(&self, covering: &[String], review: Option<&Review>) -> Vec<String> {
        if !self.view.settings.blind_reading {
            return Vec::new();
        }
        let read = self.view.blind_readings();
        let is_accepted = |name: &String| read.contains_key(name) && review.is_some_and(|r| r.accepts_reading(name));
        covering.iter().filter(|name| !is_accepted(name)).cloned().collect()
    }

    /// The rank of this revision among the others.
    pub(super) fn rank(&self, judgement: &Judgement, review: Option<&Review>) -> RevisionRank {
        let not_vacuous = [
            ApprovalClause::Moved,
            ApprovalClause::PropertyCovers,
            ApprovalClause::NoTautology,
            ApprovalClause::WitnessExists,
            ApprovalClause::WitnessesReached,
        ];
        let check = self.fresh_check();
        let count = |severity| review.map_or(0, |r| r.issues.iter().filter(|i| i.severity == severity).count());
        RevisionRank {
            parses: self.view.state.merged_accepted,
            not_vacuous: check.is_some() && not_vacuous.iter().all(|clause| judgement.holds(*clause)),
            holds: check.is_some_and(|check| matches!(check.verdict, Verdict::Holds)),
            inconclusive: check.is_some_and(|check| matches!(check.verdict, Verdict::Inconclusive { .. })),
            covered: self.view.covered_requirements().iter().filter(|r| !r.covered_by.is_empty()).count(),
            blockers: count(crate::pipeline::Severity::Blocker),
            majors: count(crate::pipeline::Severity::Major),
        }
    }

    /// The text of `facts.md` for the reviewer. `judgement` must be made from `facts`, before any review has accepted
    /// anything.
    pub(super) fn facts_text(&self, facts: &ApprovalFacts, judgement: &Judgement, documents: &[Document]) -> String {
        let mut text = String::from("# Facts\n\nBy tools and journal, not by a model.\n\n## State\n\n");
        let yes = |b: bool| if b { "yes" } else { "NO" };
        // Before the first check, only the settings say which parser the run uses.
        let chosen = if self.view.settings.command_line["checker"] == Checker::Embedded.id() {
            Checker::Embedded
        } else {
            Checker::Tlc
        };
        let by = parsed_by(self.fresh_check().map_or(chosen, |check| check.checker));
        let _ = writeln!(text, "- module accepted by {by}: {}", yes(self.view.state.module_accepted));
        let _ =
            writeln!(text, "- merged with its properties and accepted again: {}", yes(self.view.state.merged_accepted));
        let _ = writeln!(text, "- checked as it stands: {}", yes(self.fresh_check().is_some()));
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
        text.push_str("\n## Requirements\n\n");
        for r in self.view.requirement_results(None) {
            let place = r.requirement.place_words();
            let _ = writeln!(text, "- {} [{place}] {}: {}", r.requirement.id, r.requirement.text, r.status.words());
            let quoted = r.requirement.place.and_then(|place| quote(documents, &place, &r.requirement.text));
            if let Some(quoted) = quoted {
                let _ = writeln!(text, "  documents: \"{quoted}\"");
            }
        }
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
        self.write_normative_sentences(&mut text);
        self.write_blind_readings(&mut text, &facts.covering);
        text.push_str(
            "\n## Bounds that weaken the check (accept word for word and with a reason in `accepted_cfg`, as `LINE: reason`, or have \
             them removed)\n\n",
        );
        write_list(&mut text, facts.weakening_lines.iter().map(|l| l.line.clone()));
        text.push_str(
            "\n## Changes since first checked (accept by name in `accepted_changes`, or have them undone)\n\n",
        );
        write_list(&mut text, self.view.changes_since_baseline().iter().map(describe_change));
        if let Some(strengthened) = self.view.strengthened() {
            let _ = write!(text, "\n{}", mutants_facts(&strengthened));
        }
        self.write_violations(&mut text);
        write_larger_bounds(&mut text, self.fresh_check());
        text.push_str("\n## Clauses that would refuse an approval now, unless your review accepts them by name\n\n");
        // Without a fresh check, clauses about its results would only repeat that it is missing.
        let is_relevant = |c: &&ApprovalClause| match c {
            // No blind reader was asked, because other clauses exclude an approval.
            ApprovalClause::ReadingsAccepted => self.view.is_read_blindly(),
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
}

impl ReviewSubject<'_> {
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
                 in `accepted_sentences`, as `N1: reason`, or have it cited)\n\n",
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
        for reason in reasons {
            let _ = writeln!(text, "- {reason}");
            let listed = list(&|sentence| matches!(&sentence.account, Some(Account::OutOfScope(why)) if why == reason));
            for sentence in listed.iter().take(MOST_OUT_OF_SCOPE) {
                let _ = writeln!(text, "  - {sentence}");
            }
            if listed.len() > MOST_OUT_OF_SCOPE {
                let _ = writeln!(text, "  - and {} more at these places", listed.len() - MOST_OUT_OF_SCOPE);
            }
        }
    }

    /// Writes each property that covers a requirement with the requirements and with what a blind reader says it forbids.
    fn write_blind_readings(&self, text: &mut String, covering: &[String]) {
        let (read, covers) = (self.view.blind_readings(), &self.view.specification.covers);
        if !self.view.is_read_blindly() || !self.view.settings.blind_reading {
            return;
        }
        text.push_str(
            "\n## Blind reading (accept each by the property's name in `accepted_readings`, with a reason if it differs from \
             the requirement, or have property or requirement changed)\n\nThe reader saw the formulas under neutral names, and \
             neither comments nor requirements nor documents.\n\n",
        );
        for name in covering {
            let _ = writeln!(text, "- {name}");
            let ids = covers.get(name).map(Vec::as_slice).unwrap_or_default();
            for requirement in self.view.specification.requirements.iter().filter(|r| ids.contains(&r.id)) {
                let _ = writeln!(text, "  {}: {}", requirement.id, requirement.text);
            }
            let said =
                read.get(name).map_or("not read: it cannot be accepted, and prevents an approval", String::as_str);
            let _ = writeln!(text, "  the reader: {said}");
        }
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
    let sole_causes = compare_larger_bounds(check, true).sole_causes;
    if !sole_causes.is_empty() {
        text.push_str("- no flaw can rest on a violation that a bound alone causes\n");
    } else if !compare_larger_bounds(check, false).sole_causes.is_empty() {
        text.push_str(
            "- the deadlock gives way to a larger bound: a flaw needs a line of the documents that grants the bound: \
             `\"bound\": {\"file\": …, \"line\": …, \"why\": …}` in `flaw`\n",
        );
    }
}

/// An assignment in the syntax of the configuration.
fn assignment((name, value): (&String, &String)) -> String {
    let sign = if value.starts_with("<-") { "" } else { "= " };
    format!("{name} {sign}{value}")
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
    format!("{id} [{place}] {question} Taken: {taken} Otherwise: {otherwise} Affects: {}", point.affects.join(", "))
}

fn describe_change(change: &Change) -> String {
    let text = |t: &Option<String>| t.clone().unwrap_or_else(|| "nothing".into());
    match change.kind {
        ChangeKind::Vanished => format!("`{}` VANISHED; it was: `{}`", change.name, text(&change.was)),
        ChangeKind::Changed => {
            format!("`{}` CHANGED from `{}` to `{}`", change.name, text(&change.was), text(&change.now))
        }
        ChangeKind::Appeared => format!("`{}` APPEARED: `{}`", change.name, text(&change.now)),
    }
}

/// The wanted files of which the model did not read every line. A file counts only with the given content; `None` accepts
/// any content.
pub(super) fn unread_files(reads: &[FileRead], wanted: &[(&str, Option<&Sha>)]) -> Vec<String> {
    let unread = |(path, sha): &(&str, Option<&Sha>)| {
        let mut own_reads = reads.iter().filter(|r| r.path == *path && sha.is_none_or(|sha| r.sha == *sha)).peekable();
        let opened = own_reads.peek().is_some();
        let whole = own_reads.any(|r| r.whole);
        (!whole).then(|| if opened { format!("{path} (only in part)") } else { (*path).to_owned() })
    };
    wanted.iter().filter_map(unread).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_counts_as_read_only_if_every_line_of_this_content_was_read() {
        let (now, before) = (Sha::digest("now"), Sha::digest("before"));
        let read = |path: &str, sha: &Sha, whole| FileRead { path: path.into(), sha: sha.clone(), whole };
        let wanted = [("Spec.tla", Some(&now)), ("check.md", Some(&now))];
        let unread_names = |reads: &[FileRead]| unread_files(reads, &wanted).join(", ");
        assert_eq!(unread_names(&[]), "Spec.tla, check.md");
        assert_eq!(
            unread_names(&[read("Spec.tla", &now, false), read("check.md", &before, true)]),
            "Spec.tla (only in part), check.md"
        );
        assert_eq!(
            unread_names(&[read("Spec.tla", &now, false), read("Spec.tla", &now, true), read("check.md", &now, true)]),
            ""
        );
        assert_eq!(
            unread_files(&[read("check.md", &before, false)], &[("check.md", None)]),
            ["check.md (only in part)"]
        );
        assert!(unread_files(&[read("check.md", &before, true)], &[("check.md", None)]).is_empty());
    }
}
