//! Which conjuncts of a violated invariant are false in the last state of its counterexample, by a run of their own.

use tlaforge_tla::{Conjunct, FalseConjunct, Module, Step, Trace, conjuncts, set_elements, tuple_elements};

use super::actions::Actions;
use super::explorer::{Explorer, FurtherRuns};
use super::step_names::join_broken_tuples;
use super::{CheckRequest, ToolContext, ToolError};

/// Most elements that are named for one quantifier.
const MAX_NAMED: usize = 3;

/// Adds to the last state which conjuncts of the invariant are false in it; nothing if that cannot be decided.
pub(super) async fn add_false_conjuncts(
    checker: &dyn Explorer,
    request: &CheckRequest,
    invariant: &str,
    trace: &mut Trace,
    cx: &ToolContext<'_>,
) -> Result<FurtherRuns<()>, ToolError> {
    let Some(last) = trace.steps.last_mut() else { return Ok(FurtherRuns::nothing(())) };
    let Ok(module) = Module::parse(&request.spec.text) else { return Ok(FurtherRuns::nothing(())) };
    let all = conjuncts(&module, &request.cfg, invariant);
    let false_conjunct = |conjunct: &Conjunct, elements| FalseConjunct {
        formula: conjunct.text.clone(),
        elements,
        variables: conjunct.variables.clone(),
    };
    if let [only] = &all[..]
        && only.exceptions.is_none()
    {
        last.false_conjuncts = vec![false_conjunct(only, Vec::new())];
        return Ok(FurtherRuns::nothing(()));
    }
    let Ok(actions) = Actions::list(request) else { return Ok(FurtherRuns::nothing(())) };
    if all.is_empty() {
        return Ok(FurtherRuns::nothing(()));
    }
    let (values, output) = evaluate(checker, request, &actions, &all, last, cx).await?;
    for (conjunct, [truth, exceptions]) in all.iter().zip(values) {
        if truth == "FALSE" {
            let elements = conjunct.exceptions.as_ref().map(|found| elements(&found.names, &exceptions));
            last.false_conjuncts.push(false_conjunct(conjunct, elements.unwrap_or_default()));
        }
    }
    Ok(FurtherRuns { result: (), warnings: Vec::new(), output })
}

/// The truth of each conjunct in a state, and the set of its exceptions; nothing if the run did not print them.
async fn evaluate(
    checker: &dyn Explorer,
    request: &CheckRequest,
    actions: &Actions,
    all: &[Conjunct],
    state: &Step,
    cx: &ToolContext<'_>,
) -> Result<(Vec<[String; 2]>, String), ToolError> {
    // A step that changes nothing, since the plan evaluates formulas on steps.
    let twice = Trace { steps: vec![state.clone(), state.clone()], lasso: None };
    let formulas: Vec<&str> = all
        .iter()
        .flat_map(|conjunct| {
            [conjunct.formula.as_str(), conjunct.exceptions.as_ref().map_or("{}", |found| &found.formula)]
        })
        .collect();
    let plan = actions.replay_plan(request, &twice, &formulas);
    let (_, printed) = match checker.run(&request.spec, &plan, cx).await {
        Err(ToolError::Broke { .. }) => return Ok((Vec::new(), String::new())),
        ended => ended?,
    };
    let lines = join_broken_tuples(&printed);
    let values = lines.iter().find_map(|line| actions.parse_printed_values(line)).map(|(_, values)| values);
    let values = values.filter(|values| values.len() == formulas.len()).unwrap_or_default();
    let pairs = values.chunks(2).map(|pair| [pair[0].to_owned(), pair[1].to_owned()]).collect();
    Ok((pairs, printed))
}

/// `p = r1, q = 2` for each tuple of the set.
fn elements(names: &[String], set: &str) -> Vec<String> {
    let tuples = set_elements(set).unwrap_or_default();
    let words = |tuple: &str| {
        let values = tuple_elements(tuple)?;
        let pairs: Vec<String> = names.iter().zip(values).map(|(name, value)| format!("{name} = {value}")).collect();
        Some(pairs.join(", "))
    };
    let mut words: Vec<String> = tuples.into_iter().filter_map(words).collect();
    if words.len() > MAX_NAMED {
        let more = words.len() - MAX_NAMED;
        words.truncate(MAX_NAMED);
        words.push(format!("{more} more"));
    }
    words
}
