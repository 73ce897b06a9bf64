//! The prompt templates. They are compiled in, and files of a folder can override single ones.

use std::io;
use std::path::{Path, PathBuf};

use minijinja::{AutoEscape, Environment, ErrorKind, UndefinedBehavior};
use serde::Serialize;
use serde_json::{Value, json};

use tlaforge_files as files;

macro_rules! templates {
    ($($name:literal),* $(,)?) => {
        /// Name and text of every template in `prompts/`.
        const BUILT_IN: &[(&str, &str)] = &[$(($name, include_str!(concat!("../templates/", $name, ".md.j2")))),*];
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

/// Maximum number of steps of the template engine for one rendering; the built-in templates need fewer than 10,000 with
/// 600 rules. A template can come with a downloaded folder, and nested loops could run for years.
const MAX_STEPS: u64 = 200_000;

/// A prompt that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// The folder does not exist.
    #[error("{path} is no folder; --prompts takes a folder with files such as formalize/draft.md.j2")]
    NoFolder { path: PathBuf },
    /// A prompt of version 0.1. Ignoring it would use the built-in prompt silently.
    #[error(
        "{path} is a prompt for tlaforge 0.1, which this version does not read; convert it to the Jinja template {wanted}, \
         or remove it"
    )]
    Outdated { path: PathBuf, wanted: String },
    /// A file cannot be read.
    #[error("cannot read the prompt {path}: {source}")]
    Io { path: PathBuf, source: std::io::Error },
    /// A template is not well-formed.
    #[error("the prompt {name} is not a well-formed Jinja template: {source}")]
    Template {
        /// Its name, or its path if it overrides a built-in one.
        name: String,
        source: Box<minijinja::Error>,
    },
    /// A template refers to a value that no request has.
    #[error("the prompt {name} uses {{{{ {value} }}}}, which has no value; its values are: {known}")]
    UnknownValue { name: String, value: String, known: String },
    /// The loops of a template exceed `MAX_STEPS`.
    #[error("the prompt {name} needs more than {MAX_STEPS} steps of the template engine; shorten or remove its loops")]
    TooManySteps { name: String },
    /// A template cannot be rendered.
    #[error("the prompt {name} cannot be rendered: {source}")]
    Render { name: String, source: Box<minijinja::Error> },
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
    engine: Environment<'static>,
    templates: Vec<Template>,
}

impl PromptLibrary {
    /// Loads the built-in templates, replaced by those in `dir`, and renders each with sample data.
    pub fn load(dir: Option<&Path>) -> Result<Self, PromptError> {
        let mut engine = Environment::new();
        engine.set_undefined_behavior(UndefinedBehavior::Strict);
        // Prompts are not HTML: escaping would turn the `<` of TLA+ into an entity.
        engine.set_auto_escape_callback(|_| AutoEscape::None);
        // A line that holds only a tag leaves no empty line in the prompt.
        engine.set_trim_blocks(true);
        engine.set_lstrip_blocks(true);
        engine.set_keep_trailing_newline(true);
        engine.set_formatter(|out, state, value| {
            // The default writes `none`, which a model would take for a word of the prompt.
            if value.is_none() { Ok(()) } else { minijinja::escape_formatter(out, state, value) }
        });
        engine.set_fuel(Some(MAX_STEPS));
        let mut templates = Vec::new();
        if let Some(dir) = dir {
            if !dir.is_dir() {
                return Err(PromptError::NoFolder { path: dir.to_owned() });
            }
            refuse_outdated_files(dir)?;
        }
        for (name, text) in BUILT_IN {
            let path = dir.map(|d| d.join(format!("{name}.md.j2")));
            let own = match dir.zip(path.as_deref()).map(|(dir, path)| files::read_text_within(dir, path, files::SMALL))
            {
                Some(Ok(own)) => Some(own),
                Some(Err(source)) if source.kind() != std::io::ErrorKind::NotFound => {
                    return Err(PromptError::Io { path: path.unwrap_or_default(), source });
                }
                _ => None,
            };
            let used = own.unwrap_or_else(|| (*text).to_owned());
            engine.add_template_owned(*name, used.clone()).map_err(|source| {
                let own = path.filter(|p| p.exists()).map(|p| p.display().to_string());
                PromptError::Template { name: own.unwrap_or_else(|| (*name).to_owned()), source: Box::new(source) }
            })?;
            templates.push(Template { name, own: used != *text, text: used });
        }
        let library = Self { engine, templates };
        for (name, _) in BUILT_IN {
            let samples = samples(name);
            library.check_values(name, &samples[0])?;
            for sample in samples {
                library.render(name, &sample)?;
            }
        }
        Ok(library)
    }

    pub fn templates(&self) -> &[Template] {
        &self.templates
    }

    /// Refuses a name that the data lacks. An error of the engine itself would not repeat the name.
    fn check_values(&self, name: &str, data: &Value) -> Result<(), PromptError> {
        let Ok(template) = self.engine.get_template(name) else { return Ok(()) };
        let exists = |path: &str| path.split('.').try_fold(data, |value, part| value.get(part)).is_some();
        let mut unknown: Vec<String> =
            template.undeclared_variables(true).into_iter().filter(|path| !exists(path)).collect();
        unknown.sort();
        let Some(value) = unknown.into_iter().next() else { return Ok(()) };
        let known: Vec<&str> = data.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Err(PromptError::UnknownValue { name: name.to_owned(), value, known })
    }

    /// Renders a template. A missing value is an error, not an empty string.
    pub fn render(&self, name: &str, data: &impl Serialize) -> Result<String, PromptError> {
        let failed = |source| PromptError::Render { name: name.to_owned(), source: Box::new(source) };
        let mut text = LimitedText::default();
        let template = self.engine.get_template(name).map_err(failed)?;
        if let Err(error) = template.render_captured_to(data, &mut text) {
            return Err(match error.kind() {
                _ if text.is_full => PromptError::TooLong { name: name.to_owned() },
                ErrorKind::OutOfFuel => PromptError::TooManySteps { name: name.to_owned() },
                _ => failed(error),
            });
        }
        String::from_utf8(text.bytes)
            .map_err(|e| failed(minijinja::Error::new(ErrorKind::BadSerialization, e.to_string())))
    }
}

/// Refuses files that a folder of version 0.1 can have: otherwise the built-in prompt would be used silently.
fn refuse_outdated_files(dir: &Path) -> Result<(), PromptError> {
    let names = BUILT_IN.iter().map(|(name, _)| (*name, *name));
    for (old, new) in names.chain(RENAMED) {
        for ending in ["md.hbs", "md.j2"] {
            let path = dir.join(format!("{old}.{ending}"));
            if (ending == "md.hbs" || old != new) && path.exists() {
                return Err(PromptError::Outdated { path, wanted: format!("{new}.md.j2") });
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

    fn load(name: &str, text: &str) -> Result<PromptLibrary, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        PromptLibrary::load(Some(dir.path())).map_err(|error| error.to_string())
    }

    #[test]
    fn a_prompt_of_an_older_version_is_refused_and_not_left_out() {
        for (old, wanted) in [
            ("formalize/draft.md.hbs", "formalize/draft.md.j2"),
            ("whole/role.md.hbs", "single_call/role.md.j2"),
            ("whole/draft.md.j2", "single_call/draft.md.j2"),
        ] {
            let error = load(old, "Read.").unwrap_err();
            assert!(error.contains(old) && error.contains(wanted), "{error}");
        }
        assert!(load("formalize/notes.md", "mine").is_ok(), "other files have no effect");
    }

    #[test]
    fn a_template_without_end_or_bound_is_refused() {
        let nested = |depth: usize, inner: &str| {
            let digits = "0123456789";
            let open: Vec<String> = (0..depth).map(|at| format!("{{% for x{at} in \"{digits}\" %}}")).collect();
            open.concat() + inner + &"{% endfor %}".repeat(depth)
        };
        assert!(load("formalize/draft.md.j2", &nested(2, "x")).is_ok());
        assert!(load("formalize/draft.md.j2", &nested(12, "")).unwrap_err().contains("formalize/draft"));
        let long = format!("{{{{ \"{}\" }}}}", "a".repeat(100_000));
        assert!(load("formalize/draft.md.j2", &nested(3, &long)).unwrap_err().contains("longer than 32 MiB"));
        assert!(load("formalize/draft.md.j2", "{% include \"formalize/draft\" %}").is_err());
        assert!(load("formalize/draft.md.j2", "{{ \"a\" * 100000000000 }}").is_err());
        assert!(load("formalize/draft.md.j2", "{% for x in range(1000000) %}{% endfor %}").is_err());
    }

    #[test]
    fn many_rules_stay_within_the_steps() {
        let library = PromptLibrary::load(None).unwrap();
        let rules = vec![json!({"means": "m", "owed": "o", "rule": "r"}); 5_000];
        let data = json!({"prompt": "p", "rules": rules, "steps": 3, "node": "review"});
        assert!(library.render("policy/inject", &data).unwrap().lines().count() > 10_000);
        library.render("policy/predict", &data).unwrap();
    }
}
