//! The prompt templates. They are compiled in, and files of a folder can override single ones.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use handlebars::{
    Context, Handlebars, Helper, HelperDef, HelperResult, JsonTruthy as _, Output, RenderContext, RenderError,
    RenderErrorReason, Renderable as _, TemplateError, no_escape,
};
use serde::Serialize;
use serde_json::{Value, json};

use tlaforge_files as files;

use super::template_walk::{unbounded_construct, unknown_value};

macro_rules! templates {
    ($($name:literal),* $(,)?) => {
        /// Name and text of every template in `prompts/`.
        const BUILT_IN: &[(&str, &str)] = &[$(($name, include_str!(concat!("../../../prompts/", $name, ".md.hbs")))),*];
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
    "step_contracts/role",
    "step_contracts/draft",
    "single_call/role",
    "single_call/draft",
    "review/role",
    "review/draft",
    "review/repair",
    "review/second_reading_role",
    "review/second_reading",
    "review/second_reading_repair",
    "review/blind_reading_role",
    "review/blind_reading",
    "review/disagreement_role",
    "review/disagreement",
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
            json!({"index": "docs/INDEX.md", "concern": "c", "module": "M", "interface": "i", "flaw_open": true, "changed": true, "decided": true, "drift": true}),
            json!({"index": "docs/INDEX.md", "concern": null, "module": null, "interface": null, "flaw_open": false, "changed": false, "decided": false, "drift": false}),
        ),
        "formalize/draft" => (
            json!({"exemplars": ["X.tla"], "module": "M", "interface": "i", "changed": true}),
            json!({"exemplars": [], "module": "M", "interface": null, "changed": false}),
        ),
        "formalize/repair" => (
            json!({"exemplars": ["X.tla"], "module": "M", "interface": "i", "changed": true, "has_check": true, "check_is_older": true}),
            json!({"exemplars": [], "module": "M", "interface": null, "changed": false, "has_check": false, "check_is_older": false}),
        ),
        "generate_invariants/draft" => {
            (json!({"has_previous": true, "has_feedback": true}), json!({"has_previous": false, "has_feedback": false}))
        }
        "generate_invariants/repair" => (
            json!({"has_previous": true, "has_feedback": true, "has_check": true, "check_is_older": true, "uncovered": "R1, R2"}),
            json!({"has_previous": false, "has_feedback": false, "has_check": false, "check_is_older": false, "uncovered": null}),
        ),
        "step_contracts/draft" => (
            json!({"index": "docs/INDEX.md", "has_previous": true, "has_feedback": true}),
            json!({"index": "docs/INDEX.md", "has_previous": false, "has_feedback": false}),
        ),
        "generate_invariants/strengthen" => {
            (json!({"has_previous": true, "has_feedback": true}), json!({"has_previous": false, "has_feedback": false}))
        }
        "single_call/draft" => (
            json!({"index": "docs/INDEX.md", "concern": "c", "module": "M", "interface": "i", "flaw_open": false, "changed": false, "decided": true,
                   "exemplars": ["X.tla"]}),
            json!({"index": "docs/INDEX.md", "concern": null, "module": null, "interface": null, "flaw_open": false, "changed": false, "decided": false,
                   "exemplars": []}),
        ),
        "review/draft" | "review/repair" => (
            json!({"index": "docs/INDEX.md", "changed": true, "contracts": true, "survivors": true,
                   "objective": {"goal": "g", "meanings": "m", "owed": "o", "distance": 1, "last": "l"}}),
            json!({"index": "docs/INDEX.md", "changed": false, "contracts": false, "survivors": false, "objective": null}),
        ),
        "review/second_reading" | "review/second_reading_repair" => {
            (json!({"index": "docs/INDEX.md", "changed": true}), json!({"index": "docs/INDEX.md", "changed": false}))
        }
        "review/blind_reading" => {
            let full = json!({"properties": ["P1", "P2"], "assertions": "P2", "again": true});
            (full, json!({"properties": ["P1"], "assertions": null, "again": false}))
        }
        "review/disagreement" => (json!({"index": "docs/INDEX.md"}), json!({"index": "docs/INDEX.md"})),
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

/// Names of built-in templates that had another name in version 0.1.
const RENAMED: [(&str, &str); 2] = [("whole/role", "single_call/role"), ("whole/draft", "single_call/draft")];

/// A prompt that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// The folder does not exist.
    #[error("{path} is no folder; --prompts takes a folder with files such as formalize/draft.md.hbs")]
    NoFolder { path: PathBuf },
    /// A prompt of version 0.1 or 0.2. Ignoring it would use the built-in prompt silently.
    #[error(
        "{path} is a prompt for tlaforge {version}, which this version does not read; write it as the Handlebars template {wanted} \
         (`{{{{#if x}}}}…{{{{/if}}}}`, `{{{{#each xs}}}}…{{{{this}}}}…{{{{/each}}}}`), or remove it"
    )]
    Outdated { path: PathBuf, version: &'static str, wanted: String },
    /// A file cannot be read.
    #[error("cannot read the prompt {path}: {source}")]
    Io { path: PathBuf, source: std::io::Error },
    /// A template is not well-formed.
    #[error("the prompt {name} is not a well-formed Handlebars template: {source}")]
    Template {
        /// Its name, or its path if it overrides a built-in one.
        name: String,
        source: Box<TemplateError>,
    },
    /// A template has a construct that could run for ever, or for too long.
    #[error("the prompt {name} {what}")]
    Unbounded { name: String, what: String },
    /// A template refers to a value that no request has.
    #[error("the prompt {name} uses {{{{{value}}}}}, which has no value; its values are: {known}")]
    UnknownValue { name: String, value: String, known: String },
    /// A template cannot be rendered.
    #[error("the prompt {name} cannot be rendered: {source}")]
    Render { name: String, source: Box<RenderError> },
    /// A template writes more text than any model reads.
    #[error("the prompt {name} is longer than {} MiB", files::MEDIUM >> 20)]
    TooLong { name: String },
}

/// A template of the run: the built-in one, or the one that overrides it.
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
        // A missing value is an error, not an empty text.
        engine.set_strict_mode(true);
        engine.register_helper("if", Box::new(Condition { wanted: true }));
        engine.register_helper("unless", Box::new(Condition { wanted: false }));
        // Prompts are not HTML: escaping would turn the `<` of TLA+ into an entity.
        engine.register_escape_fn(no_escape);
        let mut templates: Vec<Template> = Vec::new();
        if let Some(dir) = dir {
            if !dir.is_dir() {
                return Err(PromptError::NoFolder { path: dir.to_owned() });
            }
            refuse_outdated_files(dir)?;
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
            let shown = || {
                let own = path.as_ref().filter(|path| path.exists()).map(|path| path.display().to_string());
                own.unwrap_or_else(|| (*name).to_owned())
            };
            engine
                .register_template_string(name, &used)
                .map_err(|source| PromptError::Template { name: shown(), source: Box::new(source) })?;
            templates.push(Template { name, own: used != *text, text: used });
        }
        let parsed: BTreeMap<&str, &handlebars::Template> =
            templates.iter().filter_map(|one| Some((one.name, engine.get_template(one.name)?))).collect();
        for (name, template) in &parsed {
            if let Some(what) = unbounded_construct(template, &parsed) {
                return Err(PromptError::Unbounded { name: (*name).to_owned(), what });
            }
        }
        let library = Self { engine, templates };
        for Template { name, .. } in &library.templates {
            let samples = samples(name);
            let Some(template) = library.engine.get_template(name) else { continue };
            // A branch that no sample takes is not rendered.
            if let Some(value) = unknown_value(template, &samples[0]) {
                return Err(PromptError::UnknownValue {
                    name: (*name).to_owned(),
                    value,
                    known: known_values(&samples[0]),
                });
            }
            for sample in samples {
                library.render(name, &sample)?;
            }
        }
        Ok(library)
    }

    pub fn templates(&self) -> &[Template] {
        &self.templates
    }

    /// Renders a template. A missing value is an error, not an empty string.
    pub fn render(&self, name: &str, data: &impl Serialize) -> Result<String, PromptError> {
        let failed = |source| PromptError::Render { name: name.to_owned(), source: Box::new(source) };
        let mut text = LimitedText::default();
        if let Err(error) = self.engine.render_to_write(name, data, &mut text) {
            return Err(match error.reason() {
                _ if text.is_full => PromptError::TooLong { name: name.to_owned() },
                RenderErrorReason::MissingVariable(Some(value)) => {
                    let known = known_values(&serde_json::to_value(data).unwrap_or_default());
                    PromptError::UnknownValue { name: name.to_owned(), value: value.clone(), known }
                }
                _ => failed(error),
            });
        }
        String::from_utf8(text.bytes).map_err(|error| failed(RenderErrorReason::Utf8Error(error).into()))
    }
}

/// `if` and `unless` in which a missing value is an error. Those of the engine take it for false, even in its strict mode.
struct Condition {
    /// Whether the block is for a value that is true.
    wanted: bool,
}

impl HelperDef for Condition {
    fn call<'reg: 'rc, 'rc>(
        &self,
        helper: &Helper<'rc>,
        engine: &'reg Handlebars<'reg>,
        context: &'rc Context,
        render: &mut RenderContext<'reg, 'rc>,
        out: &mut dyn Output,
    ) -> HelperResult {
        let value = helper.param(0).ok_or(RenderErrorReason::ParamNotFoundForIndex("if", 0))?;
        if value.is_value_missing() {
            return Err(RenderErrorReason::MissingVariable(value.relative_path().cloned()).into());
        }
        let block = if value.value().is_truthy(false) == self.wanted { helper.template() } else { helper.inverse() };
        block.map_or(Ok(()), |block| block.render(engine, context, render, out))
    }
}

/// The names of the values, for a message.
fn known_values(data: &Value) -> String {
    let mut known: Vec<&str> = data.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
    known.sort_unstable();
    if known.is_empty() { "none".to_owned() } else { known.join(", ") }
}

/// Refuses files that a folder of an earlier version can have: otherwise the built-in prompt would be used silently.
fn refuse_outdated_files(dir: &Path) -> Result<(), PromptError> {
    let names = BUILT_IN.iter().map(|(name, _)| (*name, *name));
    for (old, new) in names.chain(RENAMED) {
        for (ending, version) in [("md.hbs", "0.1"), ("md.j2", "0.2")] {
            let path = dir.join(format!("{old}.{ending}"));
            if (ending == "md.j2" || old != new) && path.exists() {
                return Err(PromptError::Outdated { path, version, wanted: format!("{new}.md.hbs") });
            }
        }
    }
    Ok(())
}

/// A text that refuses to grow beyond a limit: one step of a template can write a value of megabytes.
#[derive(Default)]
struct LimitedText {
    bytes: Vec<u8>,
    is_full: bool,
}

impl io::Write for LimitedText {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if (self.bytes.len() + bytes.len()) as u64 > files::MEDIUM {
            self.is_full = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(name: &str, text: &str) -> Result<(), String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        PromptLibrary::load(Some(dir.path())).map(|_| ()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_prompt_of_an_older_version_is_refused_and_not_left_out() {
        for (old, version, wanted) in [
            ("formalize/draft.md.j2", "0.2", "formalize/draft.md.hbs"),
            ("whole/role.md.hbs", "0.1", "single_call/role.md.hbs"),
            ("whole/draft.md.j2", "0.2", "single_call/draft.md.hbs"),
        ] {
            let error = load(old, "Read.").unwrap_err();
            for part in [old, version, wanted, "{{#if x}}"] {
                assert!(error.contains(part), "{part}: {error}");
            }
        }
        assert!(load("formalize/notes.md", "mine").is_ok(), "other files have no effect");
    }

    #[test]
    fn a_value_that_no_request_has_is_named() {
        for wrong in ["{{nope}}", "{{#if nope}}x{{/if}}", "{{#unless nope}}x{{/unless}}", "{{#each nope}}x{{/each}}"] {
            let error = load("formalize/draft.md.hbs", wrong).unwrap_err();
            assert!(error.contains("uses {{nope}}, which has no value; its values are: changed, exemplars"), "{error}");
        }
        let error = load("formalize/draft.md.hbs", "{{#if module}}{{else}}{{nope}}{{/if}}").unwrap_err();
        assert!(error.contains("{{nope}}"), "each branch is tried: {error}");
        let error = load("formalize/draft.md.hbs", "{{#if module}}").unwrap_err();
        assert!(error.contains("is not a well-formed Handlebars template"), "{error}");
    }

    /// The error of a folder with these prompts of `formalize`.
    fn refused(files: &[(&str, &str)]) -> String {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("formalize")).unwrap();
        for (name, text) in files {
            std::fs::write(dir.path().join(format!("formalize/{name}.md.hbs")), text).unwrap();
        }
        PromptLibrary::load(Some(dir.path())).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn a_template_without_end_or_bound_is_refused() {
        let two = "{{#each exemplars}}{{#each ../exemplars}}x{{/each}}{{/each}}";
        assert!(load("formalize/draft.md.hbs", two).is_ok());
        let nested = |open: &str, depth: usize| open.repeat(depth) + &"{{/each}}".repeat(depth);
        let literals = "[1,2,3]";
        for (files, what) in [
            (vec![("draft", nested("{{#each exemplars}}", 3))], "more than 2 loops"),
            (vec![("draft", nested("{{ # each exemplars }}", 3).replace("# each", "#each"))], "more than 2 loops"),
            (vec![("draft", nested(&format!("{{{{#each {literals}}}}}"), 2))], "over something else"),
            (
                vec![("draft", "{{#if module}}{{else}}{{#each \"ab\"}}x{{/each}}{{/if}}".to_owned())],
                "over something else",
            ),
            (
                vec![
                    (
                        "draft",
                        nested("{{#each exemplars}}", 2).replacen("{{/each}}", "{{> formalize/repair}}{{/each}}", 1),
                    ),
                    ("repair", nested("{{#each exemplars}}", 1)),
                ],
                "more than 2 loops",
            ),
            (vec![("draft", "{{> formalize/draft}}".to_owned())], "perhaps itself"),
            (
                vec![("draft", "{{ > formalize/repair}}".to_owned()), ("repair", "{{~> formalize/draft }}".to_owned())],
                "perhaps itself",
            ),
            (vec![("draft", "{{#> formalize/draft}}{{/formalize/draft}}".to_owned())], "perhaps itself"),
            (
                vec![("draft", "{{#*inline \"x\"}}{{> x}}{{/inline}}{{> x}}".to_owned())],
                "defines a template inside of it",
            ),
            (
                vec![("draft", "{{ #*inline \"x\"}}{{> x}}{{/inline}}{{> x}}".to_owned())],
                "defines a template inside of it",
            ),
            (vec![("draft", "{{> (lookup this \"module\")}}".to_owned())], "is not named"),
            (vec![("draft", "{{> nope}}".to_owned())], "no such prompt"),
            (vec![("draft", "x{{index}}".replace("{{index}}", "{{!-- c --}}").repeat(6_000))], "more than 10000 parts"),
        ] {
            let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
            let error = refused(&files);
            assert!(error.contains(what), "{what}: {files:?}: {error}");
        }
    }

    #[test]
    fn a_long_prompt_is_refused() {
        let library = PromptLibrary::load(None).unwrap();
        let data = json!({"prompt": "a".repeat(40 << 20), "rules": ["m"]});
        let error = library.render("policy/constraints", &data).unwrap_err().to_string();
        assert!(error.contains("longer than 32 MiB"), "{error}");
    }

    #[test]
    fn many_rules_are_written() {
        let library = PromptLibrary::load(None).unwrap();
        let rules = vec![json!({"means": "m", "owed": "o", "rule": "r"}); 5_000];
        let data = json!({"prompt": "p", "rules": rules, "steps": 3, "node": "review"});
        assert!(library.render("policy/inject", &data).unwrap().lines().count() > 10_000);
        library.render("policy/predict", &data).unwrap();
    }
}
