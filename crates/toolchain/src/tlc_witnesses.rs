//! One run of TLC for several witnesses. An invariant looks for those that no earlier state satisfied: it prints their
//! numbers and is violated in the first state of each. With `-continue` and one worker TLC then shows a shortest path to
//! that state, whose length is reported, and goes on; the last one makes it stop. `TLCGet("level")` would be simpler, but
//! in an invariant it is the level of the state before (measured with 2.15), which versions need not share.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use tlaforge_tla::{Verdict, WitnessOutcome};

use super::lint::is_name;
use super::plan::{self, RunPlan, free_name};
use super::targets::Targets;
use super::tlc_output;
use super::witnesses::{can_share_a_run, shared_outcome};
use super::{CheckRequest, SpecText};

/// The first register of TLC that the run uses; the registers are an array, so a large number costs memory.
pub(super) const FIRST_REGISTER: usize = 101;

pub(super) struct WitnessProbe {
    pub(super) plan: RunPlan,
    pub(super) invariant: String,
    /// The witnesses in the order of their numbers.
    witnesses: Vec<String>,
}

impl WitnessProbe {
    /// `None` if no run can search for them together.
    pub(super) fn new(request: &CheckRequest, targets: &Targets) -> Option<Self> {
        let CheckRequest { spec, cfg, .. } = request;
        if !can_share_a_run(cfg) || !free_registers(spec) {
            return None;
        }
        let witnesses: Vec<String> = targets.names().filter(|name| is_name(name)).cloned().collect();
        let prefix = unforgeable_prefix(request, "TlaforgeReached");
        let invariant = format!("{prefix}_None");
        let definitions = format!("{}{}", targets.definitions, definitions(&prefix, &witnesses));
        let plan = plan::with_invariants(spec, &plan::witnesses(cfg), &definitions, std::slice::from_ref(&invariant));
        (!witnesses.is_empty()).then_some(Self { plan, invariant, witnesses })
    }

    /// The witnesses that the run decided. `rest` is its verdict about those that it did not reach.
    pub(super) fn outcomes(&self, output: &str, rest: &Verdict) -> Vec<WitnessOutcome> {
        let prefix = self.invariant.strip_suffix("_None").unwrap_or(&self.invariant);
        let depths = depths(output, prefix);
        let outcome = |(number, name): (usize, &String)| shared_outcome(name, depths.get(&number).copied(), Some(rest));
        self.witnesses.iter().enumerate().filter_map(outcome).collect()
    }
}

/// Whether the specification does not use the registers of TLC itself.
pub(super) fn free_registers(spec: &SpecText) -> bool {
    let mut texts = std::iter::once(&spec.text).chain(spec.local_modules.iter().map(|(_, text)| text));
    !texts.any(|text| text.contains("TLCSet") || text.contains("TLCGet"))
}

/// A prefix for the lines of a run. No specification can print the hash of its own text, so it cannot forge one.
pub(super) fn unforgeable_prefix(request: &CheckRequest, name: &str) -> String {
    let CheckRequest { spec, cfg_text, .. } = request;
    let mut hasher = DefaultHasher::new();
    (&spec.text, &spec.local_modules, cfg_text).hash(&mut hasher);
    free_name(spec, format!("{name}_{:016x}", hasher.finish()))
}

/// The definitions of the run, with an instance of TLC's module: the specification may define names of its own that
/// equal those of that module.
fn definitions(prefix: &str, witnesses: &[String]) -> String {
    let registers: Vec<usize> = (0..witnesses.len()).map(|number| FIRST_REGISTER + number).collect();
    let all = registers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let is_new = witnesses.iter().zip(&registers).enumerate();
    let is_new = is_new.map(|(number, (name, register))| format!("{prefix}_IsNew({number}, {register}, {name})"));
    let is_new = is_new.collect::<Vec<_>>().join(", ");
    let none = vec!["FALSE"; witnesses.len()].join(", ");
    format!(
        "{prefix}_TLC == INSTANCE TLC
ASSUME \\A {prefix}_r \\in {{{all}}} : {prefix}_TLC!TLCSet({prefix}_r, FALSE)
{prefix}_IsNew({prefix}_k, {prefix}_r, {prefix}_w) ==
  IF {prefix}_TLC!TLCGet({prefix}_r) THEN FALSE
  ELSE {prefix}_w /\\ {prefix}_TLC!PrintT(<<\"{prefix}\", {prefix}_k>>) /\\ {prefix}_TLC!TLCSet({prefix}_r, TRUE)
{prefix}_None ==
  IF <<{is_new}>> = <<{none}>> THEN TRUE
  ELSE IF \\A {prefix}_r \\in {{{all}}} : {prefix}_TLC!TLCGet({prefix}_r) THEN ~{prefix}_TLC!TLCSet(\"exit\", TRUE)
  ELSE FALSE
"
    )
}

/// The length of the path to each witness, by its number: the numbers are printed before the path.
fn depths(output: &str, prefix: &str) -> BTreeMap<usize, usize> {
    let parse_printed = |line: &str| -> Option<usize> {
        line.strip_prefix("<<\"")?.strip_prefix(prefix)?.strip_prefix("\", ")?.strip_suffix(">>")?.parse().ok()
    };
    let mut depths = BTreeMap::new();
    let (mut printed, mut is_path_shown) = (Vec::new(), false);
    let mut lines = output.lines();
    while let Some(line) = lines.next() {
        if let Some(number) = parse_printed(line) {
            if std::mem::take(&mut is_path_shown) {
                printed.clear();
            }
            printed.push(number);
        }
        let Some((code, _)) = tlc_output::parse_frame_start(line) else { continue };
        let depth = match code {
            // In an initial state, which is the whole path.
            2107 => Some(1),
            2216 | 2217 => lines.next().and_then(|state| state.split_once(':')?.0.trim().parse().ok()),
            _ => None,
        };
        if let Some(depth) = depth {
            is_path_shown = true;
            depths.extend(printed.iter().map(|number| (*number, depth)));
        }
    }
    depths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_depth_is_the_number_of_the_last_state_after_the_line() {
        let state =
            |number| format!("@!@!@STARTMSG 2217:4 @!@!@\n{number}: <A>\n/\\ x = 1\n\n@!@!@ENDMSG 2217 @!@!@\n");
        let start = "<<\"P\", 4>>\n@!@!@STARTMSG 2107:1 @!@!@\nInvariant P_None is violated\n@!@!@ENDMSG 2107 @!@!@\n";
        let output = format!(
            "{start}<<\"P\", 0>>\n<<\"P\", 2>>\n{}{}<<\"Q\", 3>>\n<<\"P\", 1>>\n{}{}{}<<\"P\", 3>>\n",
            state(1),
            state(2),
            state(1),
            state(2),
            state(3)
        );
        // The run was stopped before it showed the path to the last one.
        assert_eq!(depths(&output, "P"), [(0, 2), (1, 3), (2, 2), (4, 1)].into());
    }
}
