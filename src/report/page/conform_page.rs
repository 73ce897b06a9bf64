//! The page of a comparison of logs with a specification: the verdict, the behaviour that explains the log as far as one does, and the
//! module.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::check_page::specification;
use super::frame::{Page, Section, Tone, render};
use super::mutation_page::Fact;
use super::trace::{StepCitation, TraceSource, trace_view};
use crate::conform::{Conformance, Verdict};
use crate::report::counted;
use crate::tla::{Module, Trace};

/// The input of a page.
pub struct ConformSource<'a> {
    /// The module file as the user named it, and its text.
    pub spec: &'a str,
    pub text: &'a str,
    /// The logs as the user named them.
    pub logs: &'a str,
    pub result: &'a Conformance,
}

/// The page of a comparison.
pub fn conform_page(source: &ConformSource<'_>) -> Page {
    let ConformSource { spec, text, logs, result } = source;
    let tone = match result.verdict {
        Verdict::Conforms => Tone::Good,
        Verdict::Deviates | Verdict::BreaksRequirement => Tone::Bad,
        Verdict::Undecided => Tone::Open,
    };
    let module = Module::parse(text).ok();
    let mut traces = Map::new();
    let mut sections = Vec::new();
    if !result.details.is_empty() {
        let body = render("lines", minijinja::context! { lines => [result.details.join("\n")] });
        sections.push(Section { id: "why", title: "Why".to_owned(), note: None, body });
    }
    sections.extend(behaviour(result, module.as_ref(), &mut traces));
    sections.push(specification(spec, text));
    let mut heading = result.headline.clone();
    if let Some(first) = heading.get(..1) {
        heading.replace_range(..1, &first.to_uppercase());
    }
    Page {
        kind: format!("Comparison of {logs} with {spec}"),
        title: format!("Conform \u{2013} {logs}"),
        heading,
        tone,
        lead: render("facts", minijinja::context! { found => None::<String>, facts => facts(source) }),
        sections,
        data: json!({ "traces": traces }),
    }
}

fn facts(source: &ConformSource<'_>) -> Vec<Fact> {
    let result = source.result;
    let mut facts = vec![
        Fact::new("Log", source.logs),
        Fact::new(
            "Compared",
            format!(
                "{}, ordered by {}; {} ignored",
                counted(result.events as u64, "event"),
                result.order,
                counted(result.ignored as u64, "line")
            ),
        ),
    ];
    let lists = [
        ("Labels that no step names", &result.labels_not_named),
        ("Never compared, as no line has the field", &result.unused_observations),
        ("Variables that nothing observes", &result.unobserved_variables),
    ];
    facts.extend(lists.iter().filter(|(_, all)| !all.is_empty()).map(|(term, all)| Fact::new(term, all.join(", "))));
    facts.extend(result.constants.iter().map(|(name, value)| Fact::new("From the logs", format!("{name} = {value}"))));
    facts
}

/// The steps that explain the log, each beside its line.
fn behaviour(result: &Conformance, module: Option<&Module>, traces: &mut Map<String, Value>) -> Option<Section> {
    if result.path.len() < 2 {
        return None;
    }
    let mut trace = Trace::default();
    let mut citations = BTreeMap::new();
    for (at, step) in result.path.iter().enumerate() {
        let number = result.left_out_states + at + 1;
        trace.push(number, step.action.clone(), step.state.iter().cloned().collect());
        if let Some(last) = trace.steps.last_mut() {
            last.process.clone_from(&step.process);
        }
        if at > 0 {
            let why = step.event.clone().unwrap_or_else(|| "a hidden step, which leaves no line".to_owned());
            citations.insert(number, vec![StepCitation { why, ..StepCitation::default() }]);
        }
    }
    let (body, data) = trace_view(&TraceSource {
        id: "behaviour".to_owned(),
        what: "the behaviour".to_owned(),
        trace: &trace,
        module,
        listing: "module".to_owned(),
        citations,
    });
    traces.insert("behaviour".to_owned(), data);
    let title = match result.verdict {
        Verdict::Deviates => "The steps before it, as far as a behaviour explains the log",
        Verdict::Conforms | Verdict::BreaksRequirement | Verdict::Undecided => "A behaviour that explains the log",
    };
    let note = match result.left_out_states {
        0 => trace.steps.len().to_string(),
        left_out => format!("the last {} of {}", trace.steps.len(), left_out + trace.steps.len()),
    };
    Some(Section { id: "trace", title: title.to_owned(), note: Some(note), body })
}
