//! Every reachable state of the orchestrator, against every event.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

use std::collections::{HashMap, HashSet, VecDeque};
use std::io::Write as _;

use tlaforge::pipeline::{
    Acceptance, ApprovalClause, Carried, Effect, Event, FlawClause, NodeName, Outcome, Position, ReviewFacts,
    ReviewVerdict, RoutingSettings, Row, State, StopReason, Transition, transition,
};

fn events(refused_by: &[ApprovalClause]) -> Vec<Event> {
    let mut all = vec![
        Event::Answered,
        Event::Unreadable,
        Event::Validated(Acceptance::Accepted),
        Event::Validated(Acceptance::Rejected),
        Event::Merged(Acceptance::Accepted),
        Event::Merged(Acceptance::Rejected),
        Event::Checked,
        Event::Resume,
    ];
    for (survivors, kills_more) in [(false, false), (false, true), (true, false), (true, true)] {
        all.push(Event::Judged { survivors, kills_more });
    }
    for reason in [
        StopReason::Budget,
        StopReason::Deadline,
        StopReason::Interrupted,
        StopReason::Provider,
        StopReason::Settings,
        StopReason::Tool,
    ] {
        all.push(Event::Stop(reason));
    }
    let approvals: Vec<Option<ApprovalClause>> = refused_by.iter().copied().map(Some).chain([None]).collect();
    // Of the flaw guard a row sees only whether it failed.
    let flaws = [None, Some(FlawClause::Described), Some(FlawClause::ReviewerRead)];
    let blamed = [NodeName::InformalSpec, NodeName::Formalize, NodeName::GenerateInvariants, NodeName::StepContracts];
    let nodes: Vec<Option<NodeName>> = blamed.into_iter().map(Some).chain([None]).collect();
    for (best_inconclusive, objective_lost) in [(false, false), (true, false), (false, true), (true, true)] {
        for (agrees, ambiguous) in [(false, false), (true, false), (true, true)] {
            all.push(Event::SecondRead { agrees, ambiguous, best_inconclusive, objective_lost });
        }
        // Where the objective is lost no node follows, so that a row sees only whether the guard failed.
        let clauses = if objective_lost { 2 } else { approvals.len() };
        for &approval_refused_by in approvals.iter().rev().take(clauses) {
            all.push(Event::ReviewUnreadable { approval_refused_by, best_inconclusive, objective_lost });
            for verdict in [ReviewVerdict::Approved, ReviewVerdict::Revise, ReviewVerdict::Flaw] {
                for &earliest in &nodes {
                    for &flaw_refused_by in &flaws {
                        for violates_policy in [false, true] {
                            all.push(Event::Reviewed(ReviewFacts {
                                verdict,
                                earliest,
                                approval_refused_by,
                                flaw_refused_by,
                                best_inconclusive,
                                objective_lost,
                                violates_policy,
                            }));
                        }
                    }
                }
            }
        }
    }
    all
}

/// One clause of the approval guard for each node. `a_transition_sees_only_the_node_of_the_clause_that_refused_the_approval`
/// shows that the others add no transitions.
fn clause_of_each_node() -> Vec<ApprovalClause> {
    let mut nodes = HashSet::new();
    ApprovalClause::ALL.into_iter().filter(|clause| nodes.insert(clause.node())).collect()
}

/// A state with what the history behind it has seen, so that properties of paths become properties of states.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Seen {
    state: State,
    /// There is an informal specification.
    informal: bool,
    /// A confirmed flaw was to be repaired.
    repaired: bool,
    /// The present module passed a parse since it last changed.
    module: bool,
    /// The present merge passed a parse since it last changed.
    merge: bool,
    /// A confirmed claim rested on the reading of an open point, and the other reading was tried.
    other_reading: bool,
    /// The flaw guard held at the review that led to this second reading.
    flaw_guard: bool,
    /// Accepted properties are kept aside while others are on trial.
    aside: bool,
}

fn starts() -> Vec<Seen> {
    let nothing = Seen {
        state: State::start(),
        informal: false,
        repaired: false,
        other_reading: false,
        module: false,
        merge: false,
        flaw_guard: false,
        aside: false,
    };
    let mut all = vec![nothing];
    for at in NodeName::ALL {
        for bits in 0..32u8 {
            let (informal, module, merge) = (bits & 1 != 0, bits & 2 != 0, bits & 4 != 0 && bits & 2 != 0);
            let (repaired, other_reading) = (bits & 8 != 0, bits & 16 != 0);
            let carried =
                Carried { informal, module_accepted: module, merged_accepted: merge, repaired, other_reading };
            let state = State::branch(at, carried);
            all.push(Seen { state, informal, repaired, other_reading, module, merge, flaw_guard: false, aside: false });
        }
    }
    all
}

fn advance(from: Seen, event: Event, t: &Transition) -> Seen {
    let mut seen = Seen { state: t.state, ..from };
    if t.row == Row::StrongerKept {
        seen.aside = false;
    }
    match (from.state.position, event) {
        (Position::Node(NodeName::InformalSpec), Event::Answered) => {
            // What was accepted before was made from another specification.
            (seen.informal, seen.module, seen.merge) = (true, false, false);
        }
        (Position::SecondReading, Event::SecondRead { agrees: true, .. }) => {
            seen.repaired |= t.row == Row::FlawRepaired;
            seen.other_reading |= t.row == Row::OtherReading;
        }
        (Position::Node(NodeName::Formalize), Event::Answered) => {
            seen.module = false;
            seen.merge = false;
        }
        (Position::Node(NodeName::Validate), Event::Validated(a)) => {
            seen.module = a == Acceptance::Accepted;
            seen.merge &= seen.module;
        }
        (Position::Node(NodeName::GenerateInvariants), Event::Merged(a)) => seen.merge = a == Acceptance::Accepted,
        (Position::Node(NodeName::Review), Event::Reviewed(r)) => seen.flaw_guard = r.flaw_refused_by.is_none(),
        _ => {}
    }
    for effect in &t.effects {
        match effect {
            Effect::Restore => {
                assert!(from.aside, "nothing to put back: {:?} {event:?}", from.state);
                (seen.merge, seen.aside) = (true, false);
            }
            Effect::SetAside => {
                assert!(seen.merge && !seen.aside, "kept aside, unaccepted or twice: {:?} {event:?}", from.state);
                seen.aside = true;
            }
            _ => {}
        }
    }
    seen
}

/// Whether the objective ends the run.
fn is_lost(event: Event) -> bool {
    matches!(
        event,
        Event::Reviewed(ReviewFacts { objective_lost: true, .. })
            | Event::ReviewUnreadable { objective_lost: true, .. }
            | Event::SecondRead { objective_lost: true, .. }
    )
}

#[expect(clippy::too_many_lines, reason = "every assertion is about the same exploration")]
fn explore(settings: RoutingSettings) -> (usize, HashSet<Row>) {
    let events = events(&clause_of_each_node());
    let mut rows = HashSet::new();
    let mut known: HashSet<Seen> = HashSet::new();
    let mut queue: VecDeque<Seen> = starts().into();
    let mut next: HashMap<Seen, HashSet<Seen>> = HashMap::new();
    while let Some(from) = queue.pop_front() {
        if !known.insert(from) {
            continue;
        }
        // Most events lead where the one before them led.
        let mut before = None;
        for event in &events {
            let t = transition(&settings, &from.state, event);
            let s = t.state;
            if t.row == Row::Ignored {
                assert_eq!(s, from.state);
                assert!(t.effects.is_empty());
                continue;
            }
            rows.insert(t.row);
            let to = advance(from, *event, &t);

            assert!(s.branch_index <= settings.max_revisions, "revision limit: {s:?}");
            assert!(s.validate_retries <= settings.validate_retry_limit, "validation retries: {s:?}");
            assert!(s.invariant_retries <= settings.invariant_retry_limit, "invariant retries: {s:?}");
            assert!(s.contract_retries <= settings.invariant_retry_limit, "contract retries: {s:?}");
            if s.branch_index > from.state.branch_index {
                let retries = (s.validate_retries, s.invariant_retries, s.contract_retries);
                assert_eq!(retries, (0, 0, 0), "retries restart with each revision");
                assert_eq!(s.rounds, 0, "rounds restart with each revision");
            }
            assert!(s.rounds <= settings.strengthen, "rounds of strengthening: {s:?}");
            assert_eq!(s.on_trial, to.aside, "what is on trial has something behind it: {s:?}");
            assert_eq!(s.on_trial && !from.state.on_trial, s.rounds > from.state.rounds && !from.state.on_trial);
            match s.position {
                Position::Mutants => {
                    let is_due = settings.strengthen > 0 || settings.judges_mutants;
                    assert!(is_due && to.module && to.merge, "{s:?}");
                }
                Position::Node(NodeName::GenerateInvariants | NodeName::StepContracts | NodeName::ModelCheck)
                | Position::Stopped(_) => {}
                _ => assert!(!s.on_trial, "a trial goes on at {:?}", s.position),
            }
            if s.position == Position::Node(NodeName::Review) && from.state.on_trial {
                assert!(s.merged_accepted, "a trial leaves behind what was accepted: {s:?}");
            }
            assert!(
                !is_lost(*event) || s.branch_index == from.state.branch_index,
                "a revision after the objective was lost: {:?} {event:?}",
                from.state
            );
            if let Position::Done(outcome) = s.position {
                match outcome {
                    Outcome::Approved | Outcome::ApprovedRepaired => {
                        let Event::Reviewed(r) = event else { panic!("approved by {event:?}") };
                        assert!(
                            r.verdict == ReviewVerdict::Approved
                                && r.approval_refused_by.is_none()
                                && r.earliest.is_none()
                        );
                        assert!(!r.violates_policy, "approved against a policy");
                        assert!(!from.other_reading, "approved although a question is open");
                        assert_eq!(outcome == Outcome::ApprovedRepaired, from.repaired, "repaired is never forgotten");
                    }
                    Outcome::FlawFound => {
                        assert!(matches!(event, Event::SecondRead { agrees: true, .. }));
                        assert!(from.flaw_guard, "a flaw without its guard");
                    }
                    Outcome::AmbiguityFound => {
                        let is_confirmed_now = matches!(event, Event::SecondRead { agrees: true, ambiguous: true, .. });
                        assert!(
                            from.other_reading || is_confirmed_now && from.flaw_guard,
                            "{:?} {event:?}",
                            from.state
                        );
                    }
                    Outcome::NotApproved if t.row == Row::PolicyViolated => {
                        let Event::Reviewed(r) = event else { panic!("forbidden at {event:?}") };
                        assert!(
                            r.violates_policy
                                && r.approval_refused_by.is_none()
                                && r.verdict == ReviewVerdict::Approved
                        );
                    }
                    Outcome::NotApproved | Outcome::Undecided => {
                        assert!(!from.other_reading, "the question is lost");
                        let lost = t.row == Row::ObjectiveLost && is_lost(*event);
                        assert!(lost || s.branch_index == settings.max_revisions, "{s:?} after {event:?}");
                    }
                    Outcome::Stopped => panic!("a stop is resumable"),
                }
            }
            let is_merge = matches!(t.row, Row::ContractsDue | Row::Merged);
            assert!(
                !is_merge || settings.contracts == (t.row == Row::ContractsDue),
                "contracts are made if they are asked for"
            );
            assert!(
                !settings.judges_mutants || t.row != Row::Checked,
                "a review without mutants: {from:?} {event:?}",
                from = from.state
            );
            if let Position::Node(NodeName::StepContracts | NodeName::ModelCheck) = s.position {
                assert!(
                    to.module && to.merge,
                    "TLC on a module that was not accepted: {from:?} {event:?}",
                    from = from.state
                );
            }
            if let Position::Node(NodeName::Formalize | NodeName::Validate) = s.position {
                assert!(to.informal, "a module from no specification: {from:?} {event:?}", from = from.state);
            }
            assert_eq!(
                (s.informal, s.repaired, s.other_reading),
                (to.informal, to.repaired, to.other_reading),
                "never forgotten"
            );
            if s.other_reading && !from.state.other_reading {
                assert!(matches!(event, Event::SecondRead { agrees: true, ambiguous: true, .. }) && from.flaw_guard);
            }
            if s.repaired && !from.state.repaired {
                assert!(settings.repair && matches!(event, Event::SecondRead { agrees: true, .. }));
            }
            let perform = t.effects.iter().filter(|e| {
                matches!(e, Effect::Perform(_) | Effect::ReadAgain | Effect::JudgeMutants | Effect::Finish(_))
            });
            assert_eq!(perform.count(), 1, "one thing to do next");
            assert_eq!(
                t.effects.contains(&Effect::CloseRevision),
                s.branch_index > from.state.branch_index || matches!(s.position, Position::Done(_))
            );
            let way = (to, !matches!(event, Event::Stop(_) | Event::Resume));
            if before.replace(way) == Some(way) {
                continue;
            }
            if way.1 {
                next.entry(from).or_default().insert(to);
            }
            queue.push_back(to);
        }
        let ended = matches!(from.state.position, Position::Done(_));
        let stopped = matches!(from.state.position, Position::Stopped(_));
        assert_eq!(!next.contains_key(&from), ended || stopped, "no way on: {:?}", from.state);
    }
    let next = next.into_iter().map(|(from, to)| (from, to.into_iter().collect())).collect();
    assert_acyclic(&next);
    (known.len(), rows)
}

/// It always ends: without stops and resumes, no state can come back. Iterative three-colour depth-first search.
fn assert_acyclic(next: &HashMap<Seen, Vec<Seen>>) {
    let mut colour: HashMap<Seen, u8> = HashMap::new();
    for &root in next.keys() {
        let mut stack = vec![(root, 0usize)];
        while let Some((node, i)) = stack.pop() {
            if i == 0 {
                if colour.get(&node) == Some(&2) {
                    continue;
                }
                colour.insert(node, 1);
            }
            match next.get(&node).and_then(|n| n.get(i)) {
                Some(&to) => {
                    stack.push((node, i + 1));
                    match colour.get(&to) {
                        Some(1) => panic!("a run can go round for ever through {:?}", to.state),
                        Some(_) => {}
                        None => stack.push((to, 0)),
                    }
                }
                None => {
                    colour.insert(node, 2);
                }
            }
        }
    }
}

#[test]
fn every_reachable_state_has_the_invariants_of_routing() {
    let mut taken = HashSet::new();
    let mut total = 0;
    let all = [
        (false, 0, false, false),
        (true, 0, true, false),
        (false, 1, false, false),
        (true, 2, true, false),
        (false, 0, false, true),
        (true, 1, true, true),
    ];
    let campaign = std::env::var_os("TLAFORGE_CAMPAIGN").is_some();
    // At the same time, because each takes a while.
    let explored = std::thread::scope(|scope| {
        let explored = all.map(|(repair, strengthen, contracts, judges_mutants)| {
            let settings =
                RoutingSettings { repair, strengthen, contracts, judges_mutants, ..RoutingSettings::default() };
            // Every revision is like the one before it, so fewer of them show nearly the same. A campaign allows as many as a run does.
            let few = if strengthen == 0 { 2 } else { 1 };
            let max_revisions = if campaign { settings.max_revisions } else { few };
            let settings = RoutingSettings { max_revisions, ..settings };
            scope.spawn(move || explore(settings))
        });
        explored.map(|one| one.join().unwrap())
    });
    for ((repair, strengthen, contracts, judges_mutants), (states, rows)) in all.into_iter().zip(explored) {
        writeln!(
            std::io::stderr(),
            "explored {states} states (repair: {repair}, strengthen: {strengthen}, contracts: {contracts}, mutants: {judges_mutants})"
        )
        .unwrap();
        let rounds = rows.iter().filter(|row| matches!(row, Row::Strengthen | Row::StrongerDropped));
        assert_eq!(rounds.count() > 0, strengthen > 0, "only if the settings ask for it");
        assert_eq!(
            rows.contains(&Row::MutantsDue),
            strengthen > 0 || judges_mutants,
            "only if the settings ask for it"
        );
        total += states;
        taken.extend(rows);
    }
    for row in Row::ALL {
        assert!(taken.contains(&row), "no path takes {row:?}");
    }
    // Said where tests that pass say nothing else.
    writeln!(std::io::stderr(), "explored {total} states in all; all {} rows taken", Row::ALL.len()).unwrap();
}

#[test]
fn a_transition_sees_only_the_node_of_the_clause_that_refused_the_approval() {
    let representatives = clause_of_each_node();
    let with_representative = |event: &Event| {
        let of_same_node = |clause: &mut Option<ApprovalClause>| {
            let node = clause.map(ApprovalClause::node);
            *clause = representatives.iter().copied().find(|other| Some(other.node()) == node);
        };
        let mut event = *event;
        match &mut event {
            Event::Reviewed(review) => of_same_node(&mut review.approval_refused_by),
            Event::ReviewUnreadable { approval_refused_by, .. } => of_same_node(approval_refused_by),
            _ => {}
        }
        event
    };
    let settings = RoutingSettings { repair: true, strengthen: 1, ..RoutingSettings::default() };
    let events = events(&ApprovalClause::ALL);
    for start in starts() {
        for (branch_index, unreadable) in [(0, false), (settings.max_revisions, true)] {
            let state = State { branch_index, unreadable, ..start.state };
            for event in &events {
                let same = with_representative(event);
                assert_eq!(
                    transition(&settings, &state, event),
                    transition(&settings, &state, &same),
                    "{state:?}: {event:?} and {same:?}"
                );
            }
        }
    }
}

#[test]
fn limits_of_zero_still_end() {
    let settings = RoutingSettings {
        max_revisions: 0,
        validate_retry_limit: 0,
        invariant_retry_limit: 0,
        repair: true,
        strengthen: 0,
        contracts: false,
        judges_mutants: false,
        requires_bounds_accepted: false,
        min_score: 0,
    };
    explore(settings);
    explore(RoutingSettings { strengthen: 1, contracts: true, ..settings });
}

#[test]
fn two_validation_retries_are_two_repairs_and_restart_with_each_revision() {
    let settings = RoutingSettings::default();
    let mut state = State::start();
    let mut repairs = Vec::new();
    for _ in 0..2 {
        let mut count = 0;
        loop {
            state = match state.position {
                Position::Node(NodeName::InformalSpec | NodeName::Formalize) => {
                    transition(&settings, &state, &Event::Answered).state
                }
                Position::Node(NodeName::Validate) => {
                    let t = transition(&settings, &state, &Event::Validated(Acceptance::Rejected));
                    count += u32::from(t.row == Row::ValidateRetry);
                    t.state
                }
                _ => break,
            };
        }
        repairs.push(count);
        let review = ReviewFacts {
            verdict: ReviewVerdict::Revise,
            earliest: Some(NodeName::Formalize),
            approval_refused_by: Some(ApprovalClause::ModuleAccepted),
            flaw_refused_by: Some(FlawClause::Described),
            best_inconclusive: false,
            objective_lost: false,
            violates_policy: false,
        };
        state = transition(&settings, &state, &Event::Reviewed(review)).state;
    }
    assert_eq!(repairs, [2, 2]);
}
