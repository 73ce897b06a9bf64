//! The tools that the server offers: name, description, arguments, and what each may change.

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::tool_arguments::{
    AnswerArguments, AuditArguments, CheckArguments, ConformArguments, DriftArguments, ExplainArguments,
    ExploreArguments, ForgeArguments, FormulaArguments, JobArguments, MutateArguments, NextRequestArguments,
    QuestionArguments, RequestFileArguments, RunArguments, RunFolderArguments, TestArguments, TranslateArguments,
};

/// What a tool may change.
#[derive(Clone, Copy)]
enum Effect {
    Reads,
    Writes,
    /// Replaces the user's text, or ends work that goes on.
    Replaces,
    /// Writes, and asks a model.
    AsksModel,
}

pub(super) fn tools() -> Vec<Tool> {
    [tools_of_commands(), tools_of_runs()].concat()
}

fn tools_of_commands() -> Vec<Tool> {
    use Effect::{Reads, Replaces, Writes};
    vec![
        tool::<CheckArguments>(
            "check",
            Reads,
            "Translate, parse and model-check one TLA+ specification. The verdict \
            (holds, violated, invalid, inconclusive) is for the bounds that it names; inconclusive is never \"holds\". A check \
            that takes long returns a job id for job_status.",
        ),
        tool::<TranslateArguments>(
            "translate",
            Replaces,
            "Translate the PlusCal algorithm of a module to TLA+, without Java.",
        ),
        tool::<ExplainArguments>(
            "explain_trace",
            Reads,
            "Check a specification and explain its counterexample in sentences, or \
            explain what a run found.",
        ),
        tool::<TestArguments>(
            "test",
            Reads,
            "Check every configuration in a folder of models against its expected verdict. Each verdict names its bounds. \
            Takes long for many models: returns a job id for job_status.",
        ),
        tool::<MutateArguments>(
            "mutate",
            Writes,
            "Mutation testing of a specification's properties: which deliberate changes \
            do they notice? Survivors show what no property forbids. Takes minutes: returns a job id for job_status.",
        ),
        tool::<AuditArguments>(
            "audit",
            Reads,
            "Check the journal of a run, or the log of any agent, against the rules of a \
            policy or against formulas. Give `policy` (`default` for a run), `formulas`, or both.",
        ),
        tool::<ConformArguments>(
            "conform",
            Reads,
            "Compare logs of the real system with a specification: does a behaviour of it explain them? If not, the line, the step, \
            and what differs.",
        ),
        tool::<ExploreArguments>(
            "explore",
            Reads,
            "Step through a specification: which steps are possible in a state, what each changes, which condition prevents an \
            action, the value of an expression, the shortest path to a state.",
        ),
        tool::<FormulaArguments>("formula", Reads, "Parse a temporal formula, and evaluate it on a trace."),
        tool::<JobArguments>(
            "job_status",
            Reads,
            "The result of a check, test or mutation run that returned a job id, or that it \
            still runs.",
        ),
        tool::<JobArguments>("job_cancel", Replaces, "End a check, test or mutation run that returned a job id."),
    ]
}

fn tools_of_runs() -> Vec<Tool> {
    use Effect::{AsksModel, Reads, Replaces, Writes};
    vec![
        tool::<ForgeArguments>(
            "forge_start",
            AsksModel,
            "Forge a model-checked specification from documents. Takes minutes to \
            hours: returns the run folder as the id of the job at once, and the run goes on after this session. Follow it with \
            forge_status. With the provider `mcp` you answer the requests yourself: next_request, submit_answer.",
        ),
        tool::<RunFolderArguments>(
            "forge_resume",
            AsksModel,
            "Continue a run that was stopped or killed, from its journal.",
        ),
        tool::<RunArguments>(
            "forge_status",
            Reads,
            "Where a run is: node at work, revision, cost, the request or the question \
            that waits for an answer. Works for runs of earlier sessions.",
        ),
        tool::<RunFolderArguments>(
            "forge_result",
            Reads,
            "The outcome of a run with its requirements, findings and links to \
            report, specification and journal.",
        ),
        tool::<RunFolderArguments>("forge_cancel", Replaces, "Stop a run. forge_resume continues it."),
        tool::<DriftArguments>(
            "drift",
            Reads,
            "Compare the documents that a run was made from with the documents as they are now: which requirements, properties \
            and steps rest on changed text? Only the user can accept a change; the result names the command.",
        ),
        tool::<QuestionArguments>(
            "answer_question",
            AsksModel,
            "Decide the ambiguity that a run ended with, and continue it. \
            Without `answer`, it asks the user, who decides; without a decision, the run is unchanged and `decided` is false.",
        ),
        tool::<NextRequestArguments>(
            "next_request",
            Reads,
            "For a run with the provider `mcp`: the request that waits for an \
            answer, with its files; or that there is none yet.",
        ),
        tool::<RequestFileArguments>(
            "read_request_file",
            Writes,
            "For a run with the provider `mcp`: read a file that a \
            request lists. The run records what was read.",
        ),
        tool::<AnswerArguments>(
            "submit_answer",
            Writes,
            "For a run with the provider `mcp`: answer a request. An answer is \
            final: a second one is refused.",
        ),
    ]
}

fn tool<T: JsonSchema>(name: &'static str, effect: Effect, description: &'static str) -> Tool {
    let annotations = ToolAnnotations::new()
        .read_only(matches!(effect, Effect::Reads))
        .destructive(matches!(effect, Effect::Replaces))
        .open_world(matches!(effect, Effect::AsksModel));
    Tool::new(name, description, schema::<T>()).with_annotations(annotations)
}

/// Without references, which some clients do not follow.
fn schema<T: JsonSchema>() -> JsonObject {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let schema = settings.into_generator().into_root_schema_for::<T>();
    match serde_json::to_value(schema) {
        Ok(Value::Object(mut object)) => {
            // Clients assume this dialect anyway, and every byte is read by a model.
            object.remove("$schema");
            object.remove("title");
            if let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) {
                properties.values_mut().for_each(remove_null);
                properties.values_mut().for_each(remove_noise);
                // Comments are wrapped.
                for property in properties.values_mut() {
                    if let Some(text) = property["description"].as_str() {
                        property["description"] = Value::String(text.replace('\n', " "));
                    }
                }
            }
            object
        }
        _ => JsonObject::new(),
    }
}

/// Removes what says nothing to a client: the width of a number, and that a list is empty by default.
fn remove_noise(property: &mut Value) {
    if let Some(property) = property.as_object_mut() {
        property.remove("format");
        property.retain(|key, value| key != "default" || value.as_array().is_none_or(|list| !list.is_empty()));
    }
}

/// An optional argument is left out; `null` in its types confuses some clients.
fn remove_null(property: &mut Value) {
    if let Some(choices) = property.get_mut("anyOf").and_then(Value::as_array_mut) {
        choices.retain(|choice| choice["type"] != "null");
        if let [Value::Object(only)] = choices.as_slice() {
            let only = only.clone();
            if let Some(property) = property.as_object_mut() {
                property.remove("anyOf");
                property.extend(only.into_iter().filter(|(key, _)| key != "description"));
            }
        }
    }
    if let Some(types) = property.get("type").and_then(Value::as_array) {
        let kept: Vec<Value> = types.iter().filter(|name| *name != "null").cloned().collect();
        property["type"] = if let [only] = kept.as_slice() { only.clone() } else { Value::Array(kept) };
    }
    if let Some(values) = property.get_mut("enum").and_then(Value::as_array_mut) {
        values.retain(|value| !value.is_null());
    }
}
