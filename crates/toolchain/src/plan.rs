//! Which runs of the checker a check needs, and the configuration of each. Pure.
//!
//! Three traps of TLC shape the plan, each measured with TLC 2.15 and with current sources. With SYMMETRY, temporal
//! properties get false counterexamples, so they are checked in a run of their own without it. With a constraint, they
//! get false successes, so the caller treats such a success as inconclusive. And a configuration cannot be passed on as
//! it is: 2.15 rejects `CHECK_DEADLOCK`, so it becomes the flag.

use std::fmt::Write as _;

use tlaforge_tla::{Cfg, ContractCase, Question, TypeWalk, Violation, ViolationKind, WeakFairness};

use super::lint::is_name;
use super::run::Jvm;
use super::{Limits, SpecText};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunPlan {
    /// `safety`, `temporal`, `witness WitnessPaid`, `trace`.
    pub label: String,
    /// A module that extends the specification, name and text, if the run needs one.
    pub wrapper: Option<(String, String)>,
    /// The text of the configuration.
    pub cfg: String,
    /// Whether a state without a successor is an error.
    pub deadlock: bool,
    /// Whether to report how often each action was taken.
    pub coverage: bool,
    pub order: SearchOrder,
    pub jvm: Jvm,
}

/// In which order the checker explores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SearchOrder {
    /// Breadth first with several workers: fast, but the trace varies.
    Parallel,
    /// Breadth first with one worker: always the same trace.
    SingleThread,
    /// Depth-first iterative deepening, down to this level.
    Deepening(u64),
}

impl SearchOrder {
    /// Number of worker threads.
    pub(crate) fn workers(self, limits: &Limits) -> usize {
        match (self, limits.workers) {
            (Self::SingleThread | Self::Deepening(_), _) => 1,
            (Self::Parallel, Some(workers)) => workers.max(1),
            (Self::Parallel, None) => processors(),
        }
    }
}

pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// The parts of a configuration that one run checks.
#[derive(Default)]
struct Parts<'a> {
    invariants: &'a [String],
    properties: &'a [String],
    symmetry: bool,
    /// A VIEW merges states, so cycles can appear that no behaviour has, as with SYMMETRY.
    view: bool,
}

/// The main run: invariants and deadlock, no temporal property.
pub(crate) fn safety(cfg: &Cfg) -> RunPlan {
    let parts = Parts { invariants: &cfg.invariants, symmetry: true, view: true, ..Parts::default() };
    RunPlan {
        label: "safety".to_owned(),
        wrapper: None,
        cfg: render(cfg, &parts),
        deadlock: cfg.check_deadlock != Some(false),
        coverage: true,
        order: SearchOrder::Parallel,
        jvm: Jvm::LongRun,
    }
}

/// The run that explores no state: it checks the assumptions, and the invariants in the initial states.
pub(crate) fn initial_states(spec: &SpecText, cfg: &Cfg) -> RunPlan {
    let module = free_name(spec, "TlaforgeInitial".to_owned());
    let constraint = format!("{module}_None");
    // TLC takes a constant FALSE for an error of the configuration. An instance brings no name into the module.
    let text = format!(
        "---- MODULE {module} ----\nEXTENDS {}\n{module}_TLC == INSTANCE TLC\n\
         {constraint} == {module}_TLC!TLCGet(\"level\") < 0\n====\n",
        spec.name
    );
    let mut cfg = cfg.clone();
    cfg.constraints.push(constraint);
    let plan = safety(&cfg);
    RunPlan { label: "initial states".to_owned(), wrapper: Some((module, text)), deadlock: false, ..for_trace(&plan) }
}

/// One run for the whole configuration; only for a configuration without SYMMETRY and VIEW, without temporal
/// properties, or with a SYMMETRY that is sound for them.
pub(crate) fn single_run(cfg: &Cfg) -> RunPlan {
    let parts = Parts { invariants: &cfg.invariants, properties: &cfg.properties, symmetry: true, view: true };
    RunPlan { label: "all at once".to_owned(), cfg: render(cfg, &parts), ..safety(cfg) }
}

/// The run that searches for this violation alone, in the order that gives the shortest trace. `None` if no run can
/// search for that kind alone.
pub(crate) fn single_violation(cfg: &Cfg, violation: &Violation) -> Option<RunPlan> {
    let named = violation.name.as_slice();
    let invariants = match violation.kind {
        ViolationKind::Invariant if !named.is_empty() => named,
        ViolationKind::Deadlock | ViolationKind::Assertion => &[],
        ViolationKind::Property | ViolationKind::ActionProperty if !named.is_empty() => {
            return Some(temporal(cfg, named));
        }
        _ => return None,
    };
    let parts = Parts { invariants, symmetry: true, view: true, ..Parts::default() };
    // Only the violation that is searched for may end the run.
    let deadlock = violation.kind == ViolationKind::Deadlock;
    Some(RunPlan { cfg: render(cfg, &parts), deadlock, ..for_trace(&safety(cfg)) })
}

/// The run for a part of what the main run checks, always in the same order.
pub(crate) fn part_of_safety(cfg: &Cfg, invariants: &[String], deadlock: bool) -> RunPlan {
    let parts = Parts { invariants, symmetry: true, view: true, ..Parts::default() };
    RunPlan { label: "rest".to_owned(), cfg: render(cfg, &parts), deadlock, ..for_trace(&safety(cfg)) }
}

/// A name for a module or definition that occurs nowhere in the specification.
pub(super) fn free_name(spec: &SpecText, mut name: String) -> String {
    let is_taken = |name: &str| {
        let occurs = |(module, text): (&str, &str)| module == name || text.contains(name);
        occurs((&spec.name, &spec.text)) || spec.local_modules.iter().any(|(module, text)| occurs((module, text)))
    };
    while is_taken(&name) {
        name.push('_');
    }
    name
}

/// The run for one temporal property under weak fairness.
pub(crate) fn under_weak_fairness(spec: &SpecText, cfg: &Cfg, property: &str, fairness: &WeakFairness) -> RunPlan {
    let module = free_name(spec, "TlaforgeFair".to_owned());
    let text = format!("---- MODULE {module} ----\nEXTENDS {}\n{}====\n", spec.name, fairness.definitions);
    // TLC rejects a configuration with both SPECIFICATION and INIT.
    let specification = Some(fairness.specification.clone());
    let cfg = Cfg { specification, init: None, next: None, ..cfg.clone() };
    let plan = temporal(&cfg, &[property.to_owned()]);
    RunPlan { label: "weak fairness".to_owned(), wrapper: Some((module, text)), ..plan }
}

/// The run for `[]<>FALSE`, which is violated if there is any behaviour.
pub(crate) fn behaviour_existence(spec: &SpecText, cfg: &Cfg) -> RunPlan {
    let module = free_name(spec, "TlaforgeNoBehaviour".to_owned());
    let property = format!("{module}_Property");
    let text = format!("---- MODULE {module} ----\nEXTENDS {}\n{property} == []<>FALSE\n====\n", spec.name);
    let plan = temporal(cfg, &[property]);
    RunPlan { label: "is there a behaviour".to_owned(), wrapper: Some((module, text)), ..plan }
}

/// The run that searches for a behaviour which satisfies all that the specification assumes and comes to a state with `goal`: the
/// negation of an invariant, or a witness. In this form, a checker takes the goal for a temporal property; otherwise it would
/// look at each state by itself.
pub(crate) fn under_assumptions(spec: &SpecText, cfg: &Cfg, goal: &str) -> RunPlan {
    let module = free_name(spec, "TlaforgeAllowed".to_owned());
    let property = format!("{module}_Property");
    let text = format!("---- MODULE {module} ----\nEXTENDS {}\n{property} == ~<>{goal}\n====\n", spec.name);
    let plan = for_trace(&temporal(cfg, &[property]));
    RunPlan { label: format!("{goal} under the assumptions"), wrapper: Some((module, text)), ..plan }
}

/// The run for temporal properties. The main run checks invariants and deadlock.
pub(crate) fn temporal(cfg: &Cfg, properties: &[String]) -> RunPlan {
    RunPlan {
        label: "temporal".to_owned(),
        wrapper: None,
        cfg: render(cfg, &Parts { properties, ..Parts::default() }),
        // The main run has checked it, and a second report would hide the property.
        deadlock: false,
        coverage: false,
        order: SearchOrder::Parallel,
        jvm: Jvm::LongRun,
    }
}

/// The run for properties that are all about steps and treat the members of the SYMMETRY alike.
pub(crate) fn steps(cfg: &Cfg) -> RunPlan {
    let parts = Parts { properties: &cfg.properties, symmetry: true, ..Parts::default() };
    RunPlan { cfg: render(cfg, &parts), ..temporal(cfg, &[]) }
}

/// The same run with one worker, which always finds the same trace.
pub(crate) fn for_trace(plan: &RunPlan) -> RunPlan {
    RunPlan { label: "trace".to_owned(), coverage: false, order: SearchOrder::SingleThread, ..plan.clone() }
}

/// The run that shows the states before a failed `Assert`, at most `depth` levels deep. TLC 2.15 prints none in a
/// breadth-first search, only with iterative deepening, and then without the names of actions.
pub(crate) fn for_assertion(plan: &RunPlan, depth: u64) -> RunPlan {
    RunPlan { order: SearchOrder::Deepening(depth), ..for_trace(plan) }
}

/// Whether a witness run keeps the SYMMETRY of the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Symmetry {
    /// Fewer states. "Reached" decides, but a witness that distinguishes elements of a symmetry set may be missed, so
    /// "not reached" decides nothing.
    Kept,
    /// More states, but "not reached" decides, too.
    LeftOut,
}

/// The run for a witness: its only invariant is the negation, so the run must fail. `None` if the witness is not a
/// name.
pub(crate) fn witness(spec: &SpecText, cfg: &Cfg, witness: &str, symmetry: Symmetry) -> Option<RunPlan> {
    if !is_name(witness) {
        return None;
    }
    let module = free_name(spec, format!("TlaforgeWitness_{witness}"));
    let negation = free_name(spec, format!("TlaforgeNot_{witness}"));
    let text = format!("---- MODULE {module} ----\nEXTENDS {}\n{negation} == ~{witness}\n====\n", spec.name);
    let invariants = [negation];
    let parts = Parts { invariants: &invariants, symmetry: symmetry == Symmetry::Kept, view: true, ..Parts::default() };
    Some(RunPlan {
        label: format!("witness {witness}"),
        cfg: render(cfg, &parts),
        wrapper: Some((module, text)),
        // A deadlock that comes first would hide the witness.
        deadlock: false,
        coverage: false,
        // Breadth first with one thread finds a shortest way, whose length is reported.
        order: SearchOrder::SingleThread,
        jvm: Jvm::FastStart,
    })
}

/// The run for several witnesses, which a checker completes with invariants that report each of them.
pub(crate) fn witnesses(cfg: &Cfg) -> RunPlan {
    RunPlan {
        label: "witnesses".to_owned(),
        wrapper: None,
        cfg: render(cfg, &Parts { view: true, ..Parts::default() }),
        deadlock: false,
        coverage: false,
        order: SearchOrder::SingleThread,
        jvm: Jvm::LongRun,
    }
}

/// The same run with further definitions, and with some of them as invariants.
pub(crate) fn with_invariants(spec: &SpecText, plan: &RunPlan, definitions: &str, invariants: &[String]) -> RunPlan {
    let (module, text) = plan.wrapper.clone().unwrap_or_else(|| {
        let module = free_name(spec, "TlaforgeWitnesses".to_owned());
        let text = format!("---- MODULE {module} ----\nEXTENDS {}\n====\n", spec.name);
        (module, text)
    });
    let text = format!("{}{definitions}====\n", text.strip_suffix("====\n").unwrap_or(&text));
    let mut cfg = plan.cfg.clone();
    for name in invariants {
        // Writing to a string cannot fail.
        let _ = writeln!(cfg, "INVARIANT {name}");
    }
    RunPlan { wrapper: Some((module, text)), cfg, ..plan.clone() }
}

/// The run for a question: what it checks is the negation of the predicate. Without SYMMETRY, which may hide a predicate that
/// distinguishes elements of a symmetric set.
pub(crate) fn question(spec: &SpecText, cfg: &Cfg, name: &str, question: &Question, predicate: &str) -> RunPlan {
    let module = free_name(spec, format!("{name}Question"));
    let negation = format!("{module}_Not");
    let formula = if question.is_about_steps {
        format!("[][~({predicate})]_<<{}>>", question.subscript)
    } else {
        format!("~({predicate})")
    };
    let definitions = &question.definitions;
    let text =
        format!("---- MODULE {module} ----\nEXTENDS {}\n{definitions}{negation} == {formula}\n====\n", spec.name);
    let checked = [negation];
    let parts = if question.is_about_steps {
        Parts { properties: &checked, ..Parts::default() }
    } else {
        Parts { invariants: &checked, view: true, ..Parts::default() }
    };
    in_module((module, text), format!("question {name}"), render(cfg, &parts))
}

/// What a run searches for, for each case of step contracts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CaseSearch {
    /// A step that takes the case.
    Taken,
    /// A reachable state in which the case allows a step that changes something.
    ChangeAllowed,
    /// A reachable state in which the case allows that nothing changes. No step can show this.
    StutteringAllowed,
}

/// The run that searches for all cases, and the names of its formulas: each is violated by what is searched for.
pub(crate) fn contract_cases(
    spec: &SpecText,
    cfg: &Cfg,
    cases: &[ContractCase],
    search: CaseSearch,
) -> (RunPlan, Vec<String>) {
    let module = free_name(spec, "TlaforgeCases".to_owned());
    let mut text = format!("---- MODULE {module} ----\nEXTENDS {}\n", spec.name);
    let mut names = Vec::new();
    for (number, ContractCase { definition, formula, staying, .. }) in cases.iter().enumerate() {
        let name = format!("{module}{number}");
        // Writing to a string cannot fail.
        let formula = match search {
            CaseSearch::Taken => format!("[][~({formula})]_vars"),
            CaseSearch::ChangeAllowed => format!("~ENABLED <<{staying}>>_vars"),
            CaseSearch::StutteringAllowed => format!("~ENABLED (UNCHANGED vars /\\ ({formula}))"),
        };
        let _ = writeln!(text, "{definition}{name} == {formula}");
        names.push(name);
    }
    text.push_str("====\n");
    let parts = match search {
        CaseSearch::Taken => Parts { properties: &names, ..Parts::default() },
        CaseSearch::ChangeAllowed | CaseSearch::StutteringAllowed => Parts { invariants: &names, ..Parts::default() },
    };
    let plan = in_module((module, text), "cases of step contracts".to_owned(), render(cfg, &parts));
    (plan, names)
}

/// The run that searches the states which the types allow for one that a property forbids. What cuts off states of the
/// specification has no meaning for it.
pub(crate) fn type_walk(spec: &SpecText, cfg: &Cfg, number: usize, walk: &TypeWalk) -> RunPlan {
    let module = free_name(spec, format!("TlaforgeTypes_{number}"));
    let text = format!("---- MODULE {module} ----\nEXTENDS {}\n{}====\n", spec.name, walk.definitions);
    let cfg = Cfg {
        specification: None,
        init: Some(walk.init.clone()),
        next: Some(walk.next.clone()),
        constraints: Vec::new(),
        action_constraints: Vec::new(),
        alias: None,
        postcondition: None,
        ..cfg.clone()
    };
    let checked = std::slice::from_ref(&walk.formula);
    let parts = if walk.is_invariant {
        Parts { invariants: checked, ..Parts::default() }
    } else {
        Parts { properties: checked, ..Parts::default() }
    };
    in_module((module, text), format!("states of the types, {}", walk.property), render(&cfg, &parts))
}

/// A short run of a module that extends the specification's, always in the same order.
fn in_module(module: (String, String), label: String, cfg: String) -> RunPlan {
    RunPlan {
        label,
        cfg,
        wrapper: Some(module),
        deadlock: false,
        coverage: false,
        order: SearchOrder::SingleThread,
        jvm: Jvm::FastStart,
    }
}

fn render(cfg: &Cfg, parts: &Parts<'_>) -> String {
    let mut text = String::new();
    let mut line = |keyword: &str, value: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{keyword} {value}");
    };
    for (keyword, value) in [("SPECIFICATION", &cfg.specification), ("INIT", &cfg.init), ("NEXT", &cfg.next)] {
        if let Some(value) = value {
            line(keyword, value);
        }
    }
    for (name, value) in &cfg.constants {
        // The parsed configuration keeps the arrow in the value.
        let (sign, value) = value.strip_prefix("<- ").map_or(("=", value.as_str()), |target| ("<-", target));
        line(
            "CONSTANT",
            &match name.split_once('!') {
                Some((module, name)) => format!("{name} {sign} [{module}] {value}"),
                None => format!("{name} {sign} {value}"),
            },
        );
    }
    let symmetry: &[String] = if parts.symmetry { &cfg.symmetry } else { &[] };
    let lists = [
        ("INVARIANT", parts.invariants),
        ("PROPERTY", parts.properties),
        ("CONSTRAINT", cfg.constraints.as_slice()),
        ("ACTION_CONSTRAINT", cfg.action_constraints.as_slice()),
        ("SYMMETRY", symmetry),
    ];
    for (keyword, names) in lists {
        for name in names {
            line(keyword, name);
        }
    }
    let view = cfg.view.as_ref().filter(|_| parts.view);
    for (keyword, value) in
        [("VIEW", view), ("ALIAS", cfg.alias.as_ref()), ("POSTCONDITION", cfg.postcondition.as_ref())]
    {
        if let Some(value) = value {
            line(keyword, value);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cfg() -> Cfg {
        Cfg {
            specification: Some("Spec".to_owned()),
            constants: [("N", "3"), ("P", "{p1, p2}"), ("Ballot", "<- Few"), ("Other!X", "<- Y"), ("Other!Z", "4")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            invariants: vec!["TypeOK".to_owned(), "Safe".to_owned()],
            properties: vec!["Live".to_owned()],
            constraints: vec!["Few".to_owned()],
            symmetry: vec!["Sym".to_owned()],
            view: Some("Seen".to_owned()),
            check_deadlock: Some(false),
            ..Cfg::default()
        }
    }

    const CONSTANTS: &str = "CONSTANT Ballot <- Few\nCONSTANT N = 3\nCONSTANT X <- [Other] Y\nCONSTANT Z = [Other] 4\n\
        CONSTANT P = {p1, p2}\n";

    #[test]
    fn the_main_run_checks_no_temporal_property() {
        let plan = safety(&cfg());
        assert_eq!(
            plan.cfg,
            format!(
                "SPECIFICATION Spec\n{CONSTANTS}INVARIANT TypeOK\nINVARIANT Safe\nCONSTRAINT Few\nSYMMETRY Sym\nVIEW Seen\n"
            )
        );
        assert!(!plan.deadlock);
    }

    #[test]
    fn the_temporal_run_has_neither_symmetry_nor_view() {
        let plan = temporal(&cfg(), &cfg().properties);
        assert_eq!(plan.cfg, format!("SPECIFICATION Spec\n{CONSTANTS}PROPERTY Live\nCONSTRAINT Few\n"));
    }

    #[test]
    fn a_witness_run_checks_the_negation_alone_under_free_names() {
        let spec = SpecText {
            name: "M".to_owned(),
            text: "TlaforgeNot_W == 1".to_owned(),
            local_modules: vec![("TlaforgeWitness_W".to_owned(), String::new())],
        };
        let plan = witness(&spec, &cfg(), "W", Symmetry::LeftOut).expect("a name");
        let (name, text) = plan.wrapper.expect("a wrapper");
        assert_eq!(name, "TlaforgeWitness_W_");
        assert_eq!(text, "---- MODULE TlaforgeWitness_W_ ----\nEXTENDS M\nTlaforgeNot_W_ == ~W\n====\n");
        assert_eq!(
            plan.cfg,
            format!("SPECIFICATION Spec\n{CONSTANTS}INVARIANT TlaforgeNot_W_\nCONSTRAINT Few\nVIEW Seen\n")
        );
        assert_eq!(witness(&spec, &cfg(), "a b", Symmetry::Kept), None);
    }
}
