//! What a run's journal holds, so that a rule that speaks of something else is told so before it is false for ever: the
//! names of its events, whose they can be, and the fields that each carries. `tests/support/mod.rs` holds this list
//! against every journal that a test reads.

use std::fmt::Write as _;

/// The run itself, its stations, the second reader, and the judging of mutants.
pub const STATION_LIFELINES: [&str; 9] = [
    "run",
    "informal_spec",
    "formalize",
    "validate",
    "generate_invariants",
    "model_check",
    "review",
    "second_reading",
    "mutants",
];

/// Formalizations that are drafted side by side, by their number from 1: each stands apart from the others.
pub const CANDIDATE_LIFELINES: [&str; 8] = [
    "formalize_1",
    "formalize_2",
    "formalize_3",
    "formalize_4",
    "formalize_5",
    "formalize_6",
    "formalize_7",
    "formalize_8",
];

/// Whose events a run's journal holds.
pub const JOURNAL_LIFELINES: [&str; STATION_LIFELINES.len() + CANDIDATE_LIFELINES.len()] = {
    let mut all = [""; STATION_LIFELINES.len() + CANDIDATE_LIFELINES.len()];
    let mut at = 0;
    while at < all.len() {
        all[at] = if at < STATION_LIFELINES.len() {
            STATION_LIFELINES[at]
        } else {
            CANDIDATE_LIFELINES[at - STATION_LIFELINES.len()]
        };
        at += 1;
    }
    all
};

/// Fields that every event has. Time, clock and the size of its group are no matter of a rule.
const EVERY: &str = "v seq lifeline kind name rev attempt";

/// What stations publish when they have worked, for the guards (`says.…`).
const SAYS: &str = "says.accepted says.agrees says.answer says.cfg says.changed_steps says.complete says.constantly_true \
    says.covering says.dead_actions says.flaw.covers_requirement says.flaw.described says.flaw.only_bounds \
    says.flaw.property says.flaw.property_unchanged says.flaw.unfair says.flaw.unmapped_steps says.made_from \
    says.module says.moved says.points says.readable says.source says.trace says.type_ok says.unaccepted_cfg says.uncovered \
    says.unnamed_changes says.unreached says.unread says.verdict says.violated says.witnesses";

/// What each of them says, below `says.`.
fn said_by(lifeline: &str) -> &'static str {
    match lifeline {
        "informal_spec" => "readable answer",
        "formalize" => "made_from source",
        "validate" => "accepted source",
        "generate_invariants" => "accepted module cfg",
        "model_check" => "module cfg verdict complete moved type_ok witnesses unreached trace violated",
        "review" => {
            "source module cfg changed_steps covering constantly_true dead_actions unaccepted_cfg uncovered unnamed_changes \
             unread flaw.described flaw.property flaw.covers_requirement flaw.property_unchanged flaw.only_bounds \
             flaw.unfair flaw.unmapped_steps"
        }
        "second_reading" => "agrees",
        candidate if CANDIDATE_LIFELINES.contains(&candidate) => "points source module cfg accepted verdict",
        _ => "",
    }
}

/// What happened, for the machine.
const STEP: &str = "event event.judged.better event.judged.survivors event.merged event.reviewed.approval \
    event.reviewed.best_inconclusive event.reviewed.broken event.reviewed.earliest event.reviewed.flaw \
    event.reviewed.objective_lost event.reviewed.verdict event.review_unreadable.approval event.review_unreadable.best_inconclusive \
    event.review_unreadable.objective_lost event.second_read.agrees event.second_read.best_inconclusive event.second_read.objective_lost \
    event.validated";

/// What an answer tells.
const TOLD: &str = "told.stop_reason told.text told.tools";

/// What a check found, below `outcome.` of `check_finished` and `check.` of `revision_closed`.
const CHECK: &str = "bounds.always_enabled bounds.assumptions bounds.assumptions_only bounds.collision_probability \
    bounds.constants.* bounds.constraints bounds.deadlock_checked bounds.initial_only \
    bounds.initial_parts bounds.symmetry bounds.vacuous_premises bounds.view checker coverage invariants out_of_time probes.* \
    properties reason statistics.depth statistics.distinct statistics.generated statistics.initial \
    statistics.left_on_queue statistics.seconds statistics.waited_seconds trace trace.* verdict version violated.kind \
    violated.name warnings witnesses";

/// Whose events can have a name.
#[derive(Clone, Copy)]
enum By {
    /// This one's.
    One(&'static str),
    /// Those of all that work: every station, the second reader, the judging of mutants.
    Jobs,
    /// Those of the stations that a branch takes over and a trial may undo.
    Restored,
    /// Those of all that ask a model, candidates among them.
    Asking,
    /// Those of all that have a module translated and parsed, candidates among them.
    Inspecting,
    /// Those of all that have a specification checked, candidates among them.
    Checking,
    /// The candidates'.
    Candidates,
}

impl By {
    fn includes(self, lifeline: &str) -> bool {
        let is_candidate = CANDIDATE_LIFELINES.contains(&lifeline);
        match self {
            By::One(one) => lifeline == one,
            By::Jobs => STATION_LIFELINES[1..].contains(&lifeline),
            By::Restored => STATION_LIFELINES[1..6].contains(&lifeline),
            By::Asking => {
                let asking = ["informal_spec", "formalize", "generate_invariants", "review", "second_reading"];
                is_candidate || asking.contains(&lifeline)
            }
            By::Inspecting => is_candidate || ["validate", "generate_invariants"].contains(&lifeline),
            By::Checking => is_candidate || lifeline == "model_check",
            By::Candidates => is_candidate,
        }
    }

    /// For people and models.
    fn words(self) -> &'static str {
        match self {
            By::One(one) => one,
            By::Jobs => "all but run, candidates",
            By::Restored => "informal_spec to model_check",
            By::Asking => "those that ask a model",
            By::Inspecting => "validate, generate_invariants, candidates",
            By::Checking => "model_check, candidates",
            By::Candidates => "candidates",
        }
    }
}

/// An event of a journal: its name, whose it can be, and the fields of its data; `a.*` has names of the run's own below
/// it.
type Line = (&'static str, By, &'static [&'static str]);

const EVENTS: [Line; 37] = [
    (
        "run_started",
        By::One("run"),
        &[
            "candidates concern docs draft exemplars interface interface_names.* objective.* policy.bytes policy.path policy.sha prompts.* \
           rules.invariant_retries rules.max_revisions rules.repair rules.strengthen rules.validate_retries skipped \
           surroundings.*",
        ],
    ),
    (
        "run_resumed",
        By::One("run"),
        &[
            "candidates draft objective.* policy.bytes policy.path policy.sha prompts.* rules.invariant_retries rules.max_revisions \
           rules.repair rules.strengthen rules.validate_retries surroundings.*",
        ],
    ),
    (
        "branch_started",
        By::One("run"),
        &[
            "artifacts.* candidates covers.* draft edited feedback from objective.* policy.bytes policy.path policy.sha prompts.* requirements \
           rules.invariant_retries rules.max_revisions rules.repair rules.strengthen rules.validate_retries state.* \
           surroundings.*",
        ],
    ),
    ("attempt_started", By::Jobs, &[]),
    (
        "request_sent",
        By::Asking,
        &[
            "candidate choice choice.effort choice.max_output choice.model choice.temperature key.attempt key.candidate \
           key.node key.place key.purpose offered prompt prompt_start provider purpose wording",
        ],
    ),
    (
        "answer_received",
        By::Asking,
        &[
            "artifact candidate cost_usd estimated estimated.cost_usd estimated.usage.* model provider purpose reads \
           request request_ids seconds stale usage usage.cache_read usage.cache_write usage.input usage.output",
            TOLD,
            "held.stop_reason held.text held.tools",
        ],
    ),
    ("answer_taken", By::Asking, &["artifact candidate provider purpose reads told.asked told.by told.labels", TOLD]),
    (
        "answer_offered",
        By::Asking,
        &["artifact candidate provider purpose reads held.asked held.by held.labels held.stop_reason held.text \
           held.tools"],
    ),
    ("labelled", By::Asking, &["asked by calls candidate cost_usd labels purpose stale step tokens"]),
    ("intervened", By::Asking, &["calls candidate cost_usd owed prevented purpose rule samples tokens violated which"]),
    ("predicted", By::Asking, &["calls candidate cost_usd estimates.* how pattern purpose steps threshold tokens"]),
    ("answer_normalised", By::Asking, &["what"]),
    ("part_taken", By::Asking, &["artifact of"]),
    ("part_missing", By::Asking, &["of why"]),
    (
        "call_failed",
        By::Asking,
        &["asked_seconds attempt cost_usd estimated.cost_usd estimated.usage.* kind message model purpose request \
           request_id status usage usage.cache_read usage.cache_write usage.input usage.output wait_seconds what"],
    ),
    ("model_switched", By::Asking, &["from purpose request to what"]),
    ("left_out", By::Asking, &["part purpose request said what"]),
    ("read_refused", By::Asking, &["path why"]),
    ("unreadable", By::Asking, &["why"]),
    ("tool_finished", By::Inspecting, &["accepted added diagnostics module replaced tool"]),
    ("check_finished", By::Checking, &["cfg checked.* asserting module output outcome.*"]),
    ("candidate_started", By::Candidates, &["candidate of"]),
    ("quickly_checked", By::Candidates, &["constants.* distinct moved out_of_time output seconds verdict why"]),
    (
        "candidate_finished",
        By::Candidates,
        &["answer candidate cfg module properties quick.* source seconds stage standing.* step.* why", SAYS],
    ),
    ("candidate_received", By::One("formalize"), &["candidate points stage"]),
    ("candidate_given_up", By::Candidates, &["answer candidate why"]),
    ("leaders_named", By::One("formalize"), &["leaders received"]),
    ("leader_told", By::Candidates, &["candidate of"]),
    ("candidate_chosen", By::One("formalize"), &["by chosen missing received.* why"]),
    (
        "mutants_judged",
        By::One("mutants"),
        &["counts.* late made mutants out_of_time seed tally.killed tally.score tally.survived unfit unjudged"],
    ),
    ("attempt_finished", By::Jobs, &["artifacts.* facts facts.* feedback", STEP, SAYS]),
    ("guard_evaluated", By::One("review"), &["clause facts.* formula guard holds values values.* why"]),
    (
        "routed",
        By::Jobs,
        &[
            "from on.accepted on.again on.agrees on.approval on.at on.best_inconclusive on.better on.broken on.earliest \
             on.event on.flaw on.issues on.last_place on.objective_lost on.on_trial on.place on.repair on.retries on.retry_limit \
             on.round_limit on.rounds on.survivors on.verdict on.working row to why",
            STEP,
        ],
    ),
    ("restored", By::Restored, &[SAYS]),
    (
        "revision_closed",
        By::Jobs,
        &[
            "attempts.* check check.* edited hashes.* models objective.* open outcome parent place repaired requirements revision \
           routed_to spent.* spent_by_station.* standing.blockers standing.covered standing.holds \
           standing.inconclusive standing.majors standing.not_vacuous standing.parses strengthened strengthened.* why",
        ],
    ),
    ("run_finished", By::One("run"), &["best outcome reason rules why"]),
    (
        "rule_violated",
        By::One("run"),
        &["culprit description formula means policy rule severity untrusted.by untrusted.propositions why"],
    ),
];

/// The names of the events of a run.
pub fn journal_events() -> impl Iterator<Item = &'static str> {
    EVENTS.iter().map(|(name, ..)| *name)
}

/// Whose events of this name can be; nobody's where there are none.
pub fn makers(event: &str) -> impl Iterator<Item = &'static str> {
    let by = EVENTS.iter().find(|(name, ..)| *name == event).map(|(_, by, _)| *by);
    JOURNAL_LIFELINES.into_iter().filter(move |lifeline| by.is_some_and(|by| by.includes(lifeline)))
}

/// Whether some event of this lifeline has this field.
pub fn tells(lifeline: &str, field: &str) -> bool {
    if let Some(said) = field.strip_prefix("says.") {
        return said_by(lifeline).split_whitespace().any(|known| known == said);
    }
    carriers(field).is_none_or(|events| events.into_iter().any(|event| makers(event).any(|maker| maker == lifeline)))
}

/// Every field of the events of a run, by name; one that ends with `.*` stands for all names below it.
pub fn journal_fields() -> impl Iterator<Item = String> {
    let of_events = EVENTS.iter().flat_map(|(.., groups)| groups.iter()).flat_map(|group| group.split_whitespace());
    let of_checks = ["outcome", "check"].into_iter().flat_map(|at| CHECK.split_whitespace().map(move |f| (at, f)));
    EVERY
        .split_whitespace()
        .chain(of_events)
        .filter(|field| !matches!(*field, "outcome.*" | "check.*"))
        .map(str::to_owned)
        .chain(of_checks.map(|(at, field)| format!("{at}.{field}")))
}

/// The events, each with whose it can be and its fields, for people and models: a line of Markdown each, and then what
/// each lifeline says.
pub fn journal_vocabulary() -> String {
    let mut text = String::new();
    for (name, by, groups) in EVENTS {
        let own = groups.iter().flat_map(|group| if *group == SAYS { "says.*" } else { group }.split_whitespace());
        let checked = |at: &'static str| CHECK.split_whitespace().map(move |field| format!("{at}.{field}"));
        let fields = own.flat_map(|field| match field {
            "outcome.*" => checked("outcome").collect(),
            // Those of a closed revision are named as those of the check itself are.
            "check.*" => vec!["check.*".to_owned()],
            field => vec![field.to_owned()],
        });
        let fields: Vec<String> = fields.collect();
        let colon = if fields.is_empty() { "" } else { ": " };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "- `{name}` ({}){colon}{}", by.words(), fields.join(" "));
    }
    let asking: Vec<&str> = STATION_LIFELINES.into_iter().filter(|name| By::Asking.includes(name)).collect();
    let _ = writeln!(text, "\nThose that ask a model are {} and candidates. What each says:\n", asking.join(", "));
    let stations = STATION_LIFELINES.into_iter().map(|name| (name, name));
    for (name, lifeline) in stations.chain([("candidates", CANDIDATE_LIFELINES[0])]) {
        let said: Vec<String> = said_by(lifeline).split_whitespace().map(|field| format!("says.{field}")).collect();
        if !said.is_empty() {
            let _ = writeln!(text, "- `{name}`: {}", said.join(" "));
        }
    }
    text
}

/// Whether an event of a run has a field of this name.
pub fn is_journal_field(name: &str) -> bool {
    journal_fields().any(|field| match field.strip_suffix('*') {
        Some(prefix) => name.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty()),
        None => field == name,
    })
}

/// Fields that always hold a list, which rules read by `any` and `every`.
const LISTS: &str = "added check.bounds.always_enabled check.bounds.assumptions check.bounds.constraints \
    check.bounds.initial_only check.bounds.initial_parts check.bounds.symmetry check.bounds.vacuous_premises check.coverage check.invariants \
    check.properties check.warnings check.witnesses diagnostics docs exemplars feedback held.labels held.tools \
    leaders offered outcome.bounds.always_enabled outcome.bounds.assumptions outcome.bounds.constraints \
    outcome.bounds.initial_only outcome.bounds.initial_parts outcome.bounds.symmetry outcome.bounds.vacuous_premises \
    outcome.coverage outcome.invariants \
    outcome.properties outcome.warnings outcome.witnesses prevented reads replaced request_ids samples skipped \
    told.labels told.tools";

/// Whether a field of an event holds a list.
pub fn is_journal_list(name: &str) -> bool {
    LISTS.split_whitespace().any(|known| known == name)
}

/// The events that carry a field; `None` where every event has it.
pub fn carriers(field: &str) -> Option<Vec<&'static str>> {
    if EVERY.split_whitespace().any(|known| known == field) {
        return None;
    }
    let below = |group: &str| {
        group.split_whitespace().any(|known| match known.strip_suffix('*') {
            Some(prefix) => field.starts_with(prefix),
            None => field == known,
        })
    };
    Some(EVENTS.iter().filter(|(.., groups)| groups.iter().any(|group| below(group))).map(|(name, ..)| *name).collect())
}

/// The known names that are written much as this one, the nearest first; at most three.
pub fn near<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
    let far = name.chars().count() / 3 + 1;
    let mut all: Vec<(usize, &str)> = known
        .filter_map(|other| {
            let distance = if last(other) == last(name) { 1 } else { edits(name, other) };
            (distance <= far).then_some((distance, other))
        })
        .collect();
    all.sort_unstable();
    all.dedup();
    all.into_iter().take(3).map(|(_, name)| name).collect()
}

/// Levenshtein's distance: how many characters to put in, take out or change.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, a) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, b) in b.iter().enumerate() {
            let change = corner + usize::from(a != *b);
            corner = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_known_by_themselves_or_by_what_they_stand_below() {
        for name in ["name", "says.verdict", "outcome.statistics.distinct", "check.verdict", "surroundings.model"] {
            assert!(is_journal_field(name), "{name}");
        }
        for name in ["nam", "says", "statistics.distinct", "surroundings.", "vc.review", "more"] {
            assert!(!is_journal_field(name), "{name}");
        }
    }

    #[test]
    fn what_each_lifeline_says_is_what_is_said_at_all() {
        let of_each = JOURNAL_LIFELINES.into_iter().flat_map(|lifeline| said_by(lifeline).split_whitespace());
        let each: BTreeSet<String> = of_each.map(|field| format!("says.{field}")).collect();
        let all: BTreeSet<String> = SAYS.split_whitespace().map(str::to_owned).collect();
        assert_eq!(each, all);
    }

    #[test]
    fn a_lifeline_tells_what_its_own_events_have() {
        for (lifeline, field) in [
            ("model_check", "outcome.statistics.distinct"),
            ("run", "outcome"),
            ("review", "says.unread"),
            ("formalize_3", "says.points"),
            ("formalize", "chosen"),
            ("mutants", "tally.score"),
            ("second_reading", "row"),
            ("mutants", "name"),
        ] {
            assert!(tells(lifeline, field), "{lifeline} {field}");
        }
        for (lifeline, field) in [
            ("review", "outcome.statistics.distinct"),
            ("review", "says.verdict"),
            ("formalize_3", "row"),
            ("run", "says.verdict"),
            ("model_check", "prompt"),
            ("review", "tally.score"),
        ] {
            assert!(!tells(lifeline, field), "{lifeline} {field}");
        }
    }

    #[test]
    fn a_misspelt_name_is_told_the_nearest() {
        let fields: Vec<String> = journal_fields().collect();
        let near = |name: &str| near(name, fields.iter().map(String::as_str));
        assert_eq!(near("says.verdikt")[0], "says.verdict");
        let known = ["check.statistics.distinct", "distinct", "outcome.statistics.distinct"];
        assert_eq!(near("statistics.distinct"), known);
        assert!(near("weather_tomorrow_in_rome").is_empty());
        assert_eq!(edits("kitten", "sitting"), 3);
    }
}
