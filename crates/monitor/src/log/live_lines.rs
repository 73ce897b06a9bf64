//! The state between the records of a log that is read one by one, as it grows.

use super::error::RecordError;
use super::log_summary::LogSummary;
use super::plan::Plan;
use super::repeated_calls::CallRegister;
use super::states::States;
use super::streamed_calls::StreamedCalls;

/// What earlier records say of the next one.
#[derive(Debug, Clone, Default)]
pub(crate) struct LiveLines {
    register: CallRegister,
    streamed: StreamedCalls,
}

impl LiveLines {
    /// Reads the record of a line; returns whether it is a state.
    pub(crate) fn read(
        &mut self,
        plan: &Plan,
        json: &[u8],
        line: u64,
        states: &mut States,
        summary: &mut LogSummary,
    ) -> Result<bool, RecordError> {
        let rewritten = if plan.searches_calls() { self.streamed.rewrite(json) } else { None };
        self.read_whole(plan, rewritten.as_deref().unwrap_or(json), line, states, summary)
    }

    /// Reads the calls that the log has begun and does not end; returns whether there are any.
    pub(crate) fn finish(
        &mut self,
        plan: &Plan,
        line: u64,
        states: &mut States,
        summary: &mut LogSummary,
    ) -> Result<bool, RecordError> {
        let Some(cut_off) = self.streamed.finish() else { return Ok(false) };
        summary.cut_off_calls += cut_off.incomplete;
        self.read_whole(plan, &cut_off.record, line, states, summary)
    }

    fn read_whole(
        &mut self,
        plan: &Plan,
        json: &[u8],
        line: u64,
        states: &mut States,
        summary: &mut LogSummary,
    ) -> Result<bool, RecordError> {
        let is_state = plan.read(json, states)?;
        let repeated = self.register.add(&states.sightings_at(line), summary);
        if repeated.is_empty() {
            return Ok(is_state);
        }
        let repeated: Vec<usize> = repeated.into_iter().map(|(_, number)| number).collect();
        plan.read_without(json, states, &repeated)
    }
}
