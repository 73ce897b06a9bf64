//! Asks the checker what a check that holds is worth: see [`crate::tla::Question`]. A question that is not decided counts against the
//! check, and the reason is given.

use std::time::Duration;

use crate::tla::{Bounds, Module, Reached, Subject, deadlock_questions, premise_questions};

use super::check::Session;
use super::{Limits, ToolContext, ToolError, plan};

impl Session<'_> {
    /// Adds what the questions about this check show to its bounds. All runs together take no longer than one.
    pub(super) async fn check_vacuity(&mut self, bounds: &mut Bounds) -> Result<(), ToolError> {
        let Ok(module) = Module::parse(&self.request.spec.text) else { return Ok(()) };
        let steps = deadlock_questions(&module, &self.request.cfg).unwrap_or_else(|why| {
            bounds.always_enabled.push(format!("it is not known which steps there are: {why}"));
            Vec::new()
        });
        let mut left = self.cx.limits.check;
        let (premises, left_out) = premise_questions(&module, &self.request.cfg);
        let mut number = 0;
        for question in steps.into_iter().chain(premises) {
            let mut reached = Reached::No;
            for alternative in &question.alternatives {
                reached = Reached::No;
                for predicate in alternative {
                    reached = self.answer(number, &question.definitions, predicate, &mut left).await?;
                    number += 1;
                    if !matches!(reached, Reached::Yes { .. }) {
                        break;
                    }
                }
                if matches!(reached, Reached::Yes { .. }) {
                    break;
                }
            }
            let (said, list) = match question.subject {
                Subject::Step => ("always possible", &mut bounds.always_enabled),
                Subject::Premise => ("satisfied by no reachable state", &mut bounds.vacuous_premises),
            };
            match reached {
                Reached::Yes { .. } => {}
                Reached::No => list.push(format!("{} ({said})", question.label)),
                Reached::Unknown(why) => list.push(format!("{} (not decided: {why})", question.label)),
            }
        }
        if left_out > 0 {
            bounds.vacuous_premises.push(format!("{left_out} more (not decided: too many premises)"));
        }
        Ok(())
    }

    async fn answer(
        &mut self,
        number: usize,
        definitions: &str,
        predicate: &str,
        left: &mut Duration,
    ) -> Result<Reached, ToolError> {
        if left.as_millis() < 100 {
            return Ok(Reached::Unknown("no time was left for it".to_owned()));
        }
        let limits = Limits { check: *left, ..self.cx.limits.clone() };
        let cx = ToolContext { limits: &limits, cancel: self.cx.cancel, progress: self.cx.progress };
        let plan = plan::question(&self.request.spec, &self.request.cfg, number, definitions, predicate);
        let (run, output) = match self.explorer.run(&self.request.spec, &plan, &cx).await {
            Ok(done) => done,
            Err(error) if error.is_fatal() => return Err(error),
            // The check itself has its verdict; that a further run broke takes nothing from it.
            Err(error) => return Ok(Reached::Unknown(error.to_string())),
        };
        self.output.push_str(&output);
        *left = left.saturating_sub(Duration::from_secs_f64(run.seconds));
        Ok(super::check::reached(run))
    }
}
