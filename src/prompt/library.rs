//! The prompt templates. They are compiled in, and files of a folder can override single ones.

use std::path::{Path, PathBuf};

use handlebars::Handlebars;
use serde::Serialize;
use serde_json::{Value, json};

use crate::files;

macro_rules! templates {
    ($($name:literal),* $(,)?) => {
        /// Name and text of every template in `prompts/`.
        const BUILT_IN: &[(&str, &str)] = &[$(($name, include_str!(concat!("../../prompts/", $name, ".md.hbs")))),*];
    };
}

templates![
    "informal_spec/role",
    "informal_spec/draft",
    "informal_spec/repair",
    "formalize/role",
    "formalize/draft",
    "formalize/repair",
    "generate_invariants/role",
    "generate_invariants/draft",
    "generate_invariants/repair",
    "generate_invariants/strengthen",
    "whole/role",
    "whole/draft",
    "review/role",
    "review/draft",
    "review/repair",
    "review/second_reading_role",
    "review/second_reading",
    "review/second_reading_repair",
    "policy/role",
    "policy/formulate",
    "policy/inject",
    "policy/constraints",
    "policy/foresee",
    "policy/predict",
    "label/role",
    "label/step",
];

/// Sample data for a template: once with every value set, and once with as few as possible. Each template is rendered with
/// both before a run begins, so that a misspelt name does not stop a run that has already cost money.
fn samples(name: &str) -> [Value; 2] {
    let (full, minimal) = match name {
        "informal_spec/draft" | "informal_spec/repair" => (
            json!({"index": "docs/INDEX.md", "concern": "c", "interface": "i", "flaw_open": true, "changed": true}),
            json!({"index": "docs/INDEX.md", "concern": null, "interface": null, "flaw_open": false, "changed": false}),
        ),
        "formalize/draft" => (
            json!({"exemplars": ["X.tla"], "interface": "i", "changed": true}),
            json!({"exemplars": [], "interface": null, "changed": false}),
        ),
        "formalize/repair" => (
            json!({"exemplars": ["X.tla"], "interface": "i", "changed": true, "has_check": true, "check_is_older": true}),
            json!({"exemplars": [], "interface": null, "changed": false, "has_check": false, "check_is_older": false}),
        ),
        "generate_invariants/draft" => {
            (json!({"has_previous": true, "has_feedback": true}), json!({"has_previous": false, "has_feedback": false}))
        }
        "generate_invariants/repair" => (
            json!({"has_previous": true, "has_feedback": true, "has_check": true, "check_is_older": true}),
            json!({"has_previous": false, "has_feedback": false, "has_check": false, "check_is_older": false}),
        ),
        "generate_invariants/strengthen" => {
            (json!({"has_previous": true, "has_feedback": true}), json!({"has_previous": false, "has_feedback": false}))
        }
        "whole/draft" => (
            json!({"index": "docs/INDEX.md", "concern": "c", "interface": "i", "flaw_open": false, "changed": false,
                   "exemplars": ["X.tla"]}),
            json!({"index": "docs/INDEX.md", "concern": null, "interface": null, "flaw_open": false, "changed": false,
                   "exemplars": []}),
        ),
        "review/draft" | "review/repair" => (
            json!({"index": "docs/INDEX.md", "has_output": true, "changed": true,
                   "objective": {"goal": "g", "meanings": "m", "owed": "o", "distance": 1, "last": "l"}}),
            json!({"index": "docs/INDEX.md", "has_output": false, "changed": false, "objective": null}),
        ),
        "review/second_reading" | "review/second_reading_repair" => {
            (json!({"index": "docs/INDEX.md", "changed": true}), json!({"index": "docs/INDEX.md", "changed": false}))
        }
        "policy/inject" => (
            json!({"prompt": "p", "rules": [{"means": "m", "owed": "o"}]}),
            json!({"prompt": "p", "rules": [{"means": "m", "owed": ""}]}),
        ),
        "policy/foresee" => (json!({"steps": 3, "node": "review"}), json!({"steps": 1, "node": "review"})),
        "policy/predict" => (
            json!({"steps": 3, "node": "review", "rules": [{"rule": "r", "means": "m"}]}),
            json!({"steps": 1, "node": "review", "rules": []}),
        ),
        "label/step" => (
            json!({"mark": "m", "step": "s", "propositions": [{"name": "n", "asks": "a"}], "form": "{}", "problem": "p"}),
            json!({"mark": "m", "step": "", "propositions": [], "form": "{}", "problem": null}),
        ),
        "policy/constraints" => (json!({"prompt": "p", "rules": ["m"]}), json!({"prompt": "p", "rules": []})),
        "policy/formulate" => (
            json!({"words": "w", "owner": "review", "when": "f", "nodes": "n", "events": "e", "formula": "f",
                   "problem": "p", "labels": [{"name": "n", "asks": "a"}]}),
            json!({"words": "w", "owner": null, "when": null, "nodes": "n", "events": "e", "formula": null,
                   "problem": null, "labels": []}),
        ),
        _ => (json!({}), json!({})),
    };
    [full, minimal]
}

/// A prompt that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PromptError {
    /// The folder does not exist.
    #[error("{path} is no folder; --prompts takes a folder with files such as formalize/draft.md.hbs")]
    NoFolder { path: PathBuf },
    /// A file cannot be read.
    #[error("cannot read the prompt {path}: {source}")]
    Io { path: PathBuf, source: std::io::Error },
    /// A template is not well-formed.
    #[error("the prompt {name} is not a well-formed handlebars template: {source}")]
    Template {
        /// Its name, or its path if it overrides a built-in one.
        name: String,
        source: Box<handlebars::TemplateError>,
    },
    /// A template refers to a value that the data lacks.
    #[error("the prompt {name} cannot be rendered: {source}")]
    Render { name: String, source: Box<handlebars::RenderError> },
}

/// A template in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// Its name, such as `formalize/draft`.
    pub name: &'static str,
    pub text: String,
    /// Whether it differs from the built-in one.
    pub own: bool,
}

/// All templates of a run.
#[derive(Debug)]
pub struct PromptLibrary {
    engine: Handlebars<'static>,
    templates: Vec<Template>,
}

impl PromptLibrary {
    /// Loads the built-in templates, replaced by those in `dir`, and renders each with sample data.
    pub fn load(dir: Option<&Path>) -> Result<Self, PromptError> {
        let mut engine = Handlebars::new();
        engine.set_strict_mode(true);
        engine.register_escape_fn(handlebars::no_escape);
        let mut templates = Vec::new();
        if let Some(dir) = dir
            && !dir.is_dir()
        {
            return Err(PromptError::NoFolder { path: dir.to_owned() });
        }
        for (name, text) in BUILT_IN {
            let path = dir.map(|d| d.join(format!("{name}.md.hbs")));
            let own = match dir.zip(path.as_deref()).map(|(dir, path)| files::read_text_within(dir, path, files::SMALL))
            {
                Some(Ok(own)) => Some(own),
                Some(Err(source)) if source.kind() != std::io::ErrorKind::NotFound => {
                    return Err(PromptError::Io { path: path.unwrap_or_default(), source });
                }
                _ => None,
            };
            let used = own.unwrap_or_else(|| (*text).to_owned());
            engine.register_template_string(name, &used).map_err(|source| {
                let own = path.filter(|p| p.exists()).map(|p| p.display().to_string());
                PromptError::Template { name: own.unwrap_or_else(|| (*name).to_owned()), source: Box::new(source) }
            })?;
            templates.push(Template { name, own: used != *text, text: used });
        }
        let library = Self { engine, templates };
        for (name, _) in BUILT_IN {
            for sample in samples(name) {
                library.render(name, &sample)?;
            }
        }
        Ok(library)
    }

    /// The templates in use.
    pub fn templates(&self) -> &[Template] {
        &self.templates
    }

    /// Renders a template. A missing value is an error, not an empty string.
    pub fn render(&self, name: &str, data: &impl Serialize) -> Result<String, PromptError> {
        self.engine
            .render(name, data)
            .map_err(|source| PromptError::Render { name: name.to_owned(), source: Box::new(source) })
    }
}
