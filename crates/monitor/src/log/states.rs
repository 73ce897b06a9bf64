//! The states of one record: one for each tool call, in order, or a single one.

use super::call_fields::{CallFields, parse_arguments};
use super::step::{ModelLabels, Step, add_line};

/// The states of a record; a buffer that is reused from record to record.
#[derive(Debug, Clone, Default)]
pub struct States {
    whole: Step,
    /// One for each call, if there are several; longer than `count` if an earlier record had more calls.
    calls: Vec<Step>,
    count: usize,
}

impl States {
    pub(super) fn new(whole: Step) -> Self {
        Self { whole, calls: Vec::new(), count: 0 }
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
