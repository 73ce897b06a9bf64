//! The states of one record: one for each tool that it calls, in order, or the one that it is.

use super::calls::{Calls, read_arguments};
use super::step::{FoundTrue, Step, add_line};

/// The states of a record.
#[derive(Debug, Clone, Default)]
pub struct States {
    whole: Step,
    /// One for each call, if there are several; more may be left from earlier records.
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

    /// Whether the record is divided.
    pub fn is_divided(&self) -> bool {
        self.count > 1
    }

    /// Forgets the record before.
    pub(super) fn begin(&mut self) -> &mut Step {
        self.whole.clear();
        self.count = 1;
        &mut self.whole
    }

    /// Takes a record with a name and parameters, and no call otherwise, as a call.
    pub(super) fn add_named_call(&mut self) {
        let step = &mut self.whole;
        if step.tools.is_empty()
            && let (Some(name), Some(parameters)) = (step.named.take(), step.named_with.take())
        {
            step.add_call(name, usize::MAX, Some(parameters));
        }
    }

    /// Makes a state of each call. A text goes to the call that follows it, one after the last call to the last, and so does
    /// the stop reason. Tells the field, by its number, that is read as one value and has several.
    pub(super) fn divide(&mut self, calls: &Calls) -> Option<usize> {
        if calls.are_states {
            self.merge_repeated();
        }
        let count = self.whole.tools.len();
        let mut crosses = self.whole.crosses;
        if calls.are_states && count > 1 {
            self.count = count;
            // What is large and differs by call is not copied with the rest.
            let tools = std::mem::take(&mut self.whole.tools);
            let paths = std::mem::take(&mut self.whole.paths);
            let arguments = std::mem::take(&mut self.whole.arguments);
            let text = std::mem::take(&mut self.whole.text);
            let parts = std::mem::take(&mut self.whole.parts);
            let stop = self.whole.stop.take();
            self.calls.resize_with(self.calls.len().max(count), Step::default);
            for (step, tool) in self.calls.iter_mut().zip(&tools) {
                step.clone_from(&self.whole);
                step.tools.push(tool.clone());
            }
            for (call, value) in &arguments {
                self.calls[*call].arguments.push((0, value.clone()));
            }
            for (call, range) in &parts {
                add_line(&mut self.calls[(*call).min(count - 1)].text, &text[range.clone()]);
            }
            self.calls[count - 1].stop.clone_from(&stop);
            for step in &mut self.calls[..count] {
                calls.fill(step);
                crosses = crosses.or(step.crosses);
            }
            let whole = &mut self.whole;
            whole.paths = paths;
            (whole.tools, whole.arguments, whole.text, whole.parts, whole.stop) = (tools, arguments, text, parts, stop);
        }
        calls.fill(&mut self.whole);
        crosses.or(self.whole.crosses)
    }

    /// Takes a call that a record tells in two places, such as under `tool` and under `tool_calls`, as one: both have the
    /// same name, and the same arguments or only one of them has any.
    fn merge_repeated(&mut self) {
        let step = &mut self.whole;
        if step.paths.iter().all(|path| Some(path) == step.paths.first()) {
            return;
        }
        let mut kept: Vec<(usize, Vec<usize>)> = Vec::new();
        // By the number of the call, that of the kept one.
        let mut becomes = Vec::new();
        for call in 0..step.tools.len() {
            let arguments_of = |call| step.arguments_of(call).or(step.beside.as_ref()).map(read_arguments);
            let arguments = arguments_of(call);
            let is_same = |(other, paths): &&mut (usize, Vec<usize>)| {
                let others = arguments_of(*other);
                step.tools[*other] == step.tools[call]
                    && !paths.contains(&step.paths[call])
                    && (arguments.is_none() || others.is_none() || arguments == others)
            };
            let found = kept.iter_mut().enumerate().find_map(|(at, one)| is_same(&one).then_some((at, one)));
            if let Some((at, (other, paths))) = found {
                paths.push(step.paths[call]);
                if step.arguments_of(call).is_some() {
                    *other = call;
                }
                becomes.push(at);
            } else {
                becomes.push(kept.len());
                kept.push((call, vec![step.paths[call]]));
            }
        }
        let arguments = kept.iter().map(|(call, _)| step.arguments_of(*call).cloned());
        let arguments = (0..).zip(arguments).filter_map(|(number, value)| Some((number, value?))).collect();
        let tools = kept.iter().map(|(call, _)| step.tools[*call].clone()).collect();
        let paths = kept.iter().map(|(call, _)| step.paths[*call]).collect();
        for (call, _) in &mut step.parts {
            *call = becomes.get(*call).copied().unwrap_or(kept.len());
        }
        (step.tools, step.paths, step.arguments) = (tools, paths, arguments);
    }

    /// Labels each state; of the whole record is true what is true of any of them.
    pub(super) fn label(&mut self, label: impl Fn(&mut Step)) {
        if self.count == 1 {
            return label(&mut self.whole);
        }
        let mut found: Option<FoundTrue> = None;
        for step in &mut self.calls[..self.count] {
            label(step);
            if let Some(model) = &step.model {
                found.get_or_insert_default().names.extend(model.names.iter().cloned());
            }
        }
        self.whole.model = found;
    }
}
