//! `tlaforge policy formulate`: a model turns the rules that a policy says in plain words into formulas, and a person
//! confirms that they say the same.

use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use serde_json::{Value, json};

use super::failure::{Fails, Failure};
use super::model_client::{ModelArgs, ModelClient};
use super::policy_file::read_policy_text;
use super::secrets::refuse_secrets;
use super::settings::load_settings;
use super::terminal::{print_message, print_result};
use crate::exit::Exit;
use crate::journal::write_atomically;
use crate::llm::{Request, RequestKey};
use crate::monitor::{WordedRule, find_worded_rules};
use crate::pipeline::{admit, lifelines, vocabulary_text};
use crate::prompt::extract_json_object;
use crate::temporal::Formulas;

/// The node in the keys of requests.
const NODE: &str = "policy";

/// Flags of `policy formulate`.
#[derive(Debug, ClapArgs)]
pub(super) struct FormulateArgs {
    /// The policy file. The formulas are written into it.
    pub file: PathBuf,
    /// Take each formula as confirmed, without asking.
    #[arg(long)]
    pub yes: bool,
    #[command(flatten)]
    pub model: ModelArgs,
    /// Record every answer into this file.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// The folder of requests and answers of `handoff`, and of the empty workspace [default: formulate].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

pub(super) async fn formulate(args: &FormulateArgs) -> Result<Exit, Failure> {
    let shown = args.file.display();
    let cannot = |e: &dyn std::fmt::Display| Failure::usage(format!("{shown}: {e}"));
    let mut text = read_policy_text(&args.file).map_err(|e| cannot(&e).hint("give a policy file"))?;
    refuse_secrets(&shown.to_string(), &text)?;
    let rules = find_worded_rules(&text).map_err(|e| cannot(&e))?;
    let open: Vec<&WordedRule> = rules.iter().filter(|rule| !rule.confirmed).collect();
    if open.is_empty() {
        print_result(&format!(
            "{shown}: {} in words, all of them confirmed\n",
            crate::report::counted(rules.len(), "rule")
        ));
        return Ok(Exit::Ok);
    }
    let mut model = None;
    let mut left = 0;
    for (number, rule) in (1..).zip(open) {
        let formula = match &rule.formula {
            Some(formula) => {
                admit(&rule.as_policy(formula)).map_err(|e| cannot(&e).hint("mend the formula, or take it out"))?;
                formula.clone()
            }
            None => {
                if model.is_none() {
                    model = Some(Model::of(args).await?);
                }
                let model = model.as_mut().expect("it was made just now");
                let Some(formula) = model.formula(rule, number).await? else {
                    left += 1;
                    continue;
                };
                // What was paid for is kept, whatever happens next.
                text = written(&args.file, &current(&text, &rule.id)?.with_formula(&text, &formula))?;
                formula
            }
        };
        show(rule, &formula);
        if args.yes || agreed(&rule.id)? {
            text = written(&args.file, &current(&text, &rule.id)?.confirmed_in(&text))?;
        } else {
            left += 1;
        }
    }
    if left > 0 {
        print_message(&format!(
            "{} not confirmed: no run takes {shown} before each rule in words has a formula with `confirmed = true`",
            crate::report::counted(left, "rule")
        ));
        return Ok(Exit::Negative);
    }
    print_result(&format!("{shown}: every rule in words is confirmed\n"));
    Ok(Exit::Ok)
}

/// The rule as it stands in the file now.
fn current(text: &str, id: &str) -> Result<WordedRule, Failure> {
    let found =
        find_worded_rules(text).map_err(|e| Failure::usage(e.to_string()))?.into_iter().find(|rule| rule.id == id);
    found.ok_or_else(|| Failure::usage(format!("the rule `{id}` is not in the file any more")))
}

fn written(path: &Path, text: &str) -> Result<String, Failure> {
    find_worded_rules(text).map_err(|e| {
        Failure::usage(format!("{}: {e}", path.display()))
            .hint("a rule is written under a [[rule]] of its own, so that its formula can be put there")
    })?;
    write_atomically(&whole(path)?, text.as_bytes())
        .map_err(|e| Failure::usage(format!("cannot write {}: {e}", path.display())))?;
    Ok(text.to_owned())
}

/// What is written beside a file needs the file's folder.
fn whole(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).fails(Exit::Usage)
}

/// Words, formula, and the formula in words: what a person has to compare.
fn show(rule: &WordedRule, formula: &str) {
    let mut formulas = Formulas::new();
    let says = formulas.parse(formula).map_or_else(|e| e.to_string(), |formula| formulas.in_words(formula));
    let at = match (&rule.owner, &rule.when) {
        (Some(owner), Some(when)) => format!("  asked at: each event of {owner} where {when}\n"),
        (Some(owner), None) => format!("  asked at: each event of {owner}\n"),
        (None, _) => String::new(),
    };
    print_result(&format!(
        "{}\n  words:    {}\n{at}  formula:  {formula}\n  it says:  {says}\n",
        rule.id,
        rule.words.trim()
    ));
}

/// Asks on the terminal; where there is none, nobody has agreed.
fn agreed(id: &str) -> Result<bool, Failure> {
    if !std::io::stdin().is_terminal() {
        return Ok(false);
    }
    print_message(&format!("does the formula of `{id}` say what its words say? [y/N]"));
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).fails(Exit::Usage)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

/// Who is asked.
struct Model {
    asker: ModelClient,
}

impl Model {
    async fn of(args: &FormulateArgs) -> Result<Self, Failure> {
        let out = args.out.clone().unwrap_or_else(|| PathBuf::from("formulate"));
        Ok(Self { asker: ModelClient::new(load_settings(args.model.layer())?, args.record.as_deref(), &out).await? })
    }

    /// A formula that a run could be watched by; after one that could not, the model is told why, once.
    async fn formula(&mut self, rule: &WordedRule, number: u32) -> Result<Option<String>, Failure> {
        let mut data = json!({
            "words": rule.words.trim(), "owner": rule.owner, "when": rule.when, "nodes": lifelines().collect::<Vec<_>>().join(", "),
            "events": vocabulary_text(), "formula": null, "problem": null,
            "labels": rule.labels.iter().map(|[name, asks]| json!({"name": name, "asks": asks})).collect::<Vec<_>>(),
        });
        for purpose in ["formulate", "repair"] {
            let answer = self.ask(purpose, number, &data).await?;
            let read = extract_json_object(&answer).map_err(|problem| problem.what).map(|read| read.value);
            let (formula, problem) = match read {
                Err(problem) => (String::new(), problem),
                Ok(value) => {
                    let formula = value["formula"].as_str().unwrap_or("").trim().to_owned();
                    let remarks = value["remarks"].as_str().unwrap_or("").trim();
                    if !remarks.is_empty() {
                        print_message(&format!("{}: {remarks}", rule.id));
                    }
                    if formula.is_empty() {
                        print_message(&format!(
                            "{}: the model says that its words cannot be said as a formula",
                            rule.id
                        ));
                        return Ok(None);
                    }
                    match admit(&rule.as_policy(&formula)) {
                        Ok(_) => return Ok(Some(formula)),
                        Err(error) => (formula, error.to_string()),
                    }
                }
            };
            print_message(&format!("{}: refused: {problem}", rule.id));
            data["formula"] = json!(formula);
            data["problem"] = json!(problem);
        }
        print_message(&format!("{}: no formula was found; write one beside its words", rule.id));
        Ok(None)
    }

    async fn ask(&mut self, purpose: &str, number: u32, data: &Value) -> Result<String, Failure> {
        let render = |name: &str, data: &Value| self.asker.prompts.render(name, data).fails(Exit::Usage);
        let key =
            RequestKey { node: NODE.to_owned(), place: 0, attempt: number, purpose: purpose.to_owned(), candidate: 0 };
        let request = Request {
            seq: u64::from(number) * 2 + u64::from(purpose == "repair") - 1,
            role: render("policy/role", &json!({}))?,
            prompt: render("policy/formulate", data)?,
            workspace: self.asker.workspace.clone(),
            offered: Vec::new(),
            choice: self.asker.caller.choice(NODE),
            schema: None,
            key,
        };
        Ok(self.asker.ask(request).await?.text)
    }
}
