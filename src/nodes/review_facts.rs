//! Collects the facts about the specification under review from the tools and the journal. The guards decide on these
//! facts. The reviewer reads them, and can add only the names of items that a review may accept.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::journal::Sha;
use crate::llm::FileRead;
use crate::pipeline::{
    ApprovalClause, ApprovalFacts, CfgEntry, CoveredRequirement, Judgement, Review, RevisionRank, RunView, WitnessState,
};
use crate::prompt::{Assumption, AssumptionKind, marked_changes, out_of_scope_lines};
use crate::tla::semantic::{enforced_properties, impure_operators, redefined_operators};
use crate::tla::{
    ASSERTION, Cfg, CheckOutcome, Module, Reached, Verdict, WitnessOutcome, constantly_true_under, unlisted_actions,
};

/// The first word of the line `ENFORCED NAME`, by which a review accepts that the specification itself enforces a property.
pub(super) const ENFORCED: &str = "ENFORCED";

/// The current specification, parsed for the facts about it.
pub(super) struct ReviewSubject<'a> {
    pub view: &'a RunView,
    /// The merged module; `None` if there is none or it cannot be parsed.
    pub module: Option<Arc<Module>>,
    /// The configuration; `None` if there is none or it cannot be parsed.
    pub cfg: Option<Cfg>,
    /// Steps that the informal specification marks as changed.
    pub changes: Vec<String>,
    pub(super) informal: String,
    /// What the informal specification declares out of scope, line by line.
    pub(super) out_of_scope: Vec<String>,
    /// Whether an earlier review has read the same list of what is out of scope, so that it is not sent again.
    pub(super) knows_out_of_scope: bool,
}

impl<'a> ReviewSubject<'a> {
    pub(super) fn new(view: &'a RunView, module: Option<Arc<Module>>, cfg: Option<&str>, informal: &str) -> Self {
        Self {
            view,
            module,
            cfg: cfg.and_then(|text| Cfg::parse(text).ok()),
            changes: marked_changes(informal),
            informal: informal.to_owned(),
            out_of_scope: out_of_scope_lines(informal),
            knows_out_of_scope: false,
        }
    }

    /// The last check, if it was of exactly this module and configuration.
    pub(super) fn fresh_check(&self) -> Option<&'a CheckOutcome> {
        self.view.fresh_check()
    }

    /// A remark if the specification assumes fairness and no assumption names it.
    pub(super) fn fairness_remark(&self) -> Option<String> {
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
            lines.extend(self.enforced_properties().into_keys().map(|name| format!("{ENFORCED} {name}")));
        }
        lines.extend(self.view.lines_to_accept());
        lines
    }

    /// The properties that the specification itself enforces, with the way in which it does. `TypeOK` covers nothing.
    pub(super) fn enforced_properties(&self) -> BTreeMap<String, String> {
        let (Some(module), Some(cfg)) = (&self.module, &self.cfg) else { return BTreeMap::new() };
        let mut enforced = enforced_properties(&module.source, cfg);
        enforced.remove("TypeOK");
        enforced
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
                .filter(|a| a.taken == 0 && !a.is_translators_end())
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
        let mut covering: Vec<String> =
            checked.iter().filter(|n| **n != "TypeOK" && covers(n)).map(|n| (*n).clone()).collect();
        let is_asserted = |covered: &CoveredRequirement| covered.covered_by.iter().any(|name| name == ASSERTION);
        let is_read = self.view.settings.reads_assertions && self.view.covered_requirements().iter().any(is_asserted);
        covering.extend(is_read.then(|| ASSERTION.to_owned()));
        let covering = self.view.without_vacuous(covering, &constantly_true);
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
            uncovered: self.view.uncovered_requirements(review),
            unaccepted_open_points: self.view.unaccepted_open_points(review),
            unaccepted_assumptions: self.view.unaccepted_assumptions(review),
            unaccounted_sentences: self.view.unaccounted_sentences(review),
            unaccepted_readings,
            steps_without_contract: self.view.steps_without_contract(review),
            unaccepted_survivors: self.view.unaccepted_survivors(review),
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
}

/// An assignment in the syntax of the configuration.
fn assignment((name, value): (&String, &String)) -> String {
    let sign = if value.starts_with("<-") { "" } else { "= " };
    format!("{name} {sign}{value}")
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
