//! The states of one record: one for each tool call, in order, or a single one.

use serde_json::Value;

use super::call_arguments::is_empty;
use super::call_fields::{CallFields, parse_arguments};
use super::call_form::Certainty;
use super::call_search::FoundCall;
use super::mapping::OtherCalls;
use super::sighting::Sighting;
use super::simple_calls::SimpleCall;
use super::step::{ModelLabels, Step, add_line};

/// The states of a record; a buffer that is reused from record to record.
#[derive(Debug, Clone, Default)]
pub struct States {
    whole: Step,
    /// One for each call, if there are several; longer than `count` if an earlier record had more calls.
    calls: Vec<Step>,
    count: usize,
    /// The calls of the record, for the comparison with those of other records.
    sightings: Vec<Sighting>,
}

impl States {
    pub(super) fn new(whole: Step) -> Self {
        Self { whole, calls: Vec::new(), count: 0, sightings: Vec::new() }
    }

    /// The states, in order.
    pub fn each(&self) -> &[Step] {
        if self.count > 1 { &self.calls[..self.count] } else { std::slice::from_ref(&self.whole) }
    }

    /// The record as one state, which is what causal rules see: one event is one state.
    pub fn whole(&self) -> &Step {
        &self.whole
    }

    /// Whether the record is divided into several states.
    pub fn is_divided(&self) -> bool {
        self.count > 1
    }

    /// Clears the previous record; returns the step to read the next one into.
    pub(super) fn clear(&mut self) -> &mut Step {
        self.whole.clear();
        self.sightings.clear();
        self.count = 1;
        &mut self.whole
    }

    /// Adds a call to a record that has `name` and parameters and no other call.
    pub(super) fn add_plain_call(&mut self) {
        let step = &mut self.whole;
        if step.tools.is_empty()
            && let (Some(name), Some(parameters)) = (step.plain_name.take(), step.plain_parameters.take())
        {
            step.add_call(name, usize::MAX, Some(parameters));
        }
    }

    /// The calls of the record, which is at this line.
    pub(super) fn sightings_at(&mut self, line: u64) -> Vec<Sighting> {
        let mut all = std::mem::take(&mut self.sightings);
        for sighting in &mut all {
            sighting.line = line;
        }
        all
    }

    /// Whether the calls of the record are those that were read of it, so that it need not be searched. `has_arguments` says
    /// whether arguments are read.
    pub(super) fn are_all_calls(&mut self, calls: &[SimpleCall<'_>], has_arguments: bool) -> bool {
        let step = &self.whole;
        let are_same = step.tools.len() == calls.len()
            && step.tools.iter().zip(calls).all(|(tool, call)| *tool == call.name)
            && (!has_arguments || (0..calls.len()).all(|call| step.arguments_of(call).is_some()));
        if are_same {
            self.sightings.extend((0..).zip(calls).map(|(number, call)| Sighting::of_simple(call, number)));
        }
        are_same
    }

    /// Compares the calls that were found anywhere in the record with those that were read in the places of its shape, and
    /// adds the others as `other_calls` says. `record_id` stands for the identifier of calls that have none.
    pub(super) fn add_found(&mut self, found: Vec<FoundCall>, other_calls: OtherCalls, record_id: Option<&str>) {
        let step = &mut self.whole;
        // For each call that was found, the number of the one that was read.
        let mut read_as: Vec<Option<usize>> = vec![None; found.len()];
        for number in 0..step.tools.len() {
            let own = step.arguments_of(number).or(step.sibling_arguments.as_ref()).map(parse_arguments);
            let is_free = |at: &usize| read_as[*at].is_none() && found[*at].name == step.tools[number];
            let same = (0..found.len()).find(|at| is_free(at) && own.is_some() && found[*at].arguments == own);
            if let Some(at) = same.or_else(|| (0..found.len()).find(is_free)) {
                read_as[at] = Some(number);
                if own.as_ref().is_none_or(is_empty) || found[at].are_joined {
                    step.set_arguments(number, found[at].arguments.clone());
                }
                // The arguments may be under an unknown key.
                let is_unread = found[at].arguments.as_ref().is_none_or(is_empty);
                let is_doubtful = found[at].are_uncertain || is_unread && found[at].certainty == Certainty::Possible;
                if is_doubtful && !matches!(other_calls, OtherCalls::Ignore | OtherCalls::Read) {
                    let sighting = Sighting::new(&found[at], record_id);
                    self.sightings.push(sighting.unread(found[at].place.clone()));
                }
                self.sightings.push(Sighting::new(&found[at], record_id).numbered(0, number));
            } else if let Some(twin) = found.iter().find(|call| call.id.is_some() && call.name == step.tools[number]) {
                // The record has the same block twice.
                self.sightings.push(Sighting::new(twin, record_id).numbered(0, number));
            }
        }
        let was_read = step.tools.len();
        for (call, read_as) in found.into_iter().zip(read_as) {
            if read_as.is_some() || other_calls == OtherCalls::Ignore || is_stated_above(&call, step, was_read) {
                continue;
            }
            let sighting = Sighting::new(&call, record_id);
            let is_read = match other_calls {
                OtherCalls::Read => !call.name.is_empty(),
                OtherCalls::ReadKnown => call.certainty == Certainty::Known && !call.are_uncertain,
                OtherCalls::Report | OtherCalls::Ignore => false,
            };
            if is_read {
                self.sightings.push(sighting.numbered(0, step.tools.len()));
                let path = step.call_paths.first().copied().unwrap_or(usize::MAX);
                step.add_call(call.name, path, call.arguments);
            } else {
                self.sightings.push(sighting.unread(call.place));
            }
        }
    }

    /// Notes the calls of a record that is no state: they are missed, unless another record has them.
    pub(super) fn note_unread(&mut self, found: Vec<FoundCall>) {
        let sightings = found.into_iter().map(|call| Sighting::new(&call, None).into_history().unread(call.place));
        self.sightings.extend(sightings);
    }

    /// Removes the calls with these numbers. Their texts stay, and belong to the call that follows.
    pub(super) fn remove_calls(&mut self, numbers: &[usize]) {
        let step = &mut self.whole;
        let is_kept = |call: &usize| !numbers.contains(call);
        let new_number = |call: usize| (0..call).filter(is_kept).count();
        let kept: Vec<usize> = (0..step.tools.len()).filter(is_kept).collect();
        step.tools = kept.iter().map(|call| std::mem::take(&mut step.tools[*call])).collect();
        step.call_paths = kept.iter().map(|call| step.call_paths[*call]).collect();
        step.arguments.retain(|(call, _)| is_kept(call));
        step.arguments.iter_mut().for_each(|(call, _)| *call = new_number(*call));
        step.text_parts.iter_mut().for_each(|(call, _)| *call = new_number(*call));
        if step.tools.is_empty() {
            step.sibling_arguments = None;
        }
    }

    /// Makes a state of each call. A text goes to the call that follows it; a text after the last call, and the stop reason,
    /// go to the last call. Returns the number of a field that is read as one value although a list leads to it.
    pub(super) fn divide(&mut self, call_fields: &CallFields) -> Option<usize> {
        if call_fields.calls_are_states {
            self.merge_repeated_calls();
        }
        let count = self.whole.tools.len();
        let mut crossed_list = self.whole.crossed_list;
        if call_fields.calls_are_states && count > 1 {
            self.count = count;
            // Large parts that differ by call are taken out before the rest is copied.
            let tools = std::mem::take(&mut self.whole.tools);
            let call_paths = std::mem::take(&mut self.whole.call_paths);
            let arguments = std::mem::take(&mut self.whole.arguments);
            let text = std::mem::take(&mut self.whole.text);
            let text_parts = std::mem::take(&mut self.whole.text_parts);
            let stop_reason = self.whole.stop_reason.take();
            self.calls.resize_with(self.calls.len().max(count), Step::default);
            for (step, tool) in self.calls.iter_mut().zip(&tools) {
                step.clone_from(&self.whole);
                step.tools.push(tool.clone());
            }
            for (call, value) in &arguments {
                self.calls[*call].arguments.push((0, value.clone()));
            }
            for (call, range) in &text_parts {
                add_line(&mut self.calls[(*call).min(count - 1)].text, &text[range.clone()]);
            }
            self.calls[count - 1].stop_reason.clone_from(&stop_reason);
            for step in &mut self.calls[..count] {
                call_fields.fill(step);
                crossed_list = crossed_list.or(step.crossed_list);
            }
            let whole = &mut self.whole;
            (whole.tools, whole.call_paths, whole.arguments) = (tools, call_paths, arguments);
            (whole.text, whole.text_parts, whole.stop_reason) = (text, text_parts, stop_reason);
        }
        call_fields.fill(&mut self.whole);
        crossed_list.or(self.whole.crossed_list)
    }

    /// Merges calls that a record states in two places, such as under `tool` and under `tool_calls`: they have the same
    /// name, and the same arguments unless only one of them has any.
    fn merge_repeated_calls(&mut self) {
        let step = &mut self.whole;
        if step.call_paths.iter().all(|path| Some(path) == step.call_paths.first()) {
            return;
        }
        let mut kept: Vec<(usize, Vec<usize>)> = Vec::new();
        // For each call, the number of the kept call that it is merged into.
        let mut merged_into = Vec::new();
        for call in 0..step.tools.len() {
            let arguments_of = |call| step.arguments_of(call).or(step.sibling_arguments.as_ref()).map(parse_arguments);
            let arguments = arguments_of(call);
            let is_same = |(other, paths): &&mut (usize, Vec<usize>)| {
                let others = arguments_of(*other);
                step.tools[*other] == step.tools[call]
                    && !paths.contains(&step.call_paths[call])
                    && (arguments.is_none() || others.is_none() || arguments == others)
            };
            let found = kept.iter_mut().enumerate().find_map(|(at, one)| is_same(&one).then_some((at, one)));
            if let Some((at, (other, paths))) = found {
                paths.push(step.call_paths[call]);
                if step.arguments_of(call).is_some() {
                    *other = call;
                }
                merged_into.push(at);
            } else {
                merged_into.push(kept.len());
                kept.push((call, vec![step.call_paths[call]]));
            }
        }
        let arguments = kept.iter().map(|(call, _)| step.arguments_of(*call).cloned());
        let arguments = (0..).zip(arguments).filter_map(|(number, value)| Some((number, value?))).collect();
        let tools = kept.iter().map(|(call, _)| step.tools[*call].clone()).collect();
        let call_paths = kept.iter().map(|(call, _)| step.call_paths[*call]).collect();
        for (call, _) in &mut step.text_parts {
            *call = merged_into.get(*call).copied().unwrap_or(kept.len());
        }
        (step.tools, step.call_paths, step.arguments) = (tools, call_paths, arguments);
    }

    /// Labels each state. A proposition is true of the whole record if it is true of any state.
    pub(super) fn label(&mut self, label: impl Fn(&mut Step)) {
        if self.count == 1 {
            return label(&mut self.whole);
        }
        let mut all: Option<ModelLabels> = None;
        for step in &mut self.calls[..self.count] {
            label(step);
            if let Some(labels) = &step.model_labels {
                all.get_or_insert_default().names.extend(labels.names.iter().cloned());
            }
        }
        self.whole.model_labels = all;
    }
}

/// Whether a call without an identifier is one of those that were read of the record: it has the same name, and the same
/// arguments unless only one of them has any.
fn is_stated_above(call: &FoundCall, step: &Step, was_read: usize) -> bool {
    let arguments_of = |number| -> Option<Value> {
        step.arguments_of(number).or(step.sibling_arguments.as_ref()).map(parse_arguments)
    };
    let is_same = |number: usize| {
        let own = arguments_of(number);
        step.tools[number] == call.name && (own.is_none() || call.arguments.is_none() || own == call.arguments)
    };
    call.id.is_none() && (0..was_read).any(is_same)
}
