//! `tlaforge policy formulate`: a model turns rules in plain words into formulas, and a person confirms each formula.
//! No formula counts as confirmed without a person or `--yes`.

use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use serde_json::{Value, json};

use super::failure::{Fails, Failure};
use super::model_client::{ModelArgs, ModelClient};
use super::policy_file::{policy_failure, read_policy_text};
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

#[derive(Debug, ClapArgs)]
pub(super) struct FormulateArgs {
    /// Policy file. The formulas are written into it.
    pub file: PathBuf,
    /// Confirm every formula without asking.
    #[arg(long)]
    pub yes: bool,
    #[command(flatten)]
    pub model: ModelArgs,
    /// Record every answer in this file.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Folder for the requests and answers of `handoff` and for the empty workspace [default: formulate].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

pub(super) async fn formulate(args: &FormulateArgs) -> Result<Exit, Failure> {
    let shown = args.file.display();
    let cannot = |e: &dyn std::fmt::Display| Failure::usage(format!("{shown}: {e}"));
    let mut text = read_policy_text(&args.file)
        .map_err(|e| Failure::usage(format!("cannot read {shown}: {e}")).hint("name a policy file"))?;
    refuse_secrets(&shown.to_string(), &text)?;
    let rules = find_worded_rules(&text).map_err(|e| policy_failure(&shown.to_string(), &text, &e))?;
    let open: Vec<&WordedRule> = rules.iter().filter(|rule| !rule.confirmed).collect();
    if open.is_empty() {
        print_result(&format!("{shown}: {} in words, all confirmed\n", crate::report::counted(rules.len(), "rule")));
        return Ok(Exit::Ok);
    }
    let mut model = None;
    let mut left = 0;
    for (number, rule) in (1..).zip(open) {
        let formula = match &rule.formula {
            Some(formula) => {
                admit(&rule.as_policy(formula)).map_err(|e| cannot(&e).hint("correct the formula, or remove it"))?;
                formula.clone()
            }
            None => {
                // Created for the first rule without a formula: a file whose formulas only need a confirmation needs no
                // provider.
                if model.is_none() {
                    model = Some(Formulator::new(args).await?);
                }
                let model = model.as_mut().expect("it was created just now");
                let Some(formula) = model.write_formula(rule, number).await? else {
                    left += 1;
                    continue;
                };
                // Save the formula at once, because it was paid for.
                text = write_policy(&args.file, &find_rule(&text, &rule.id)?.with_formula(&text, &formula))?;
                formula
            }
        };
        print_rule(rule, &formula);
        if args.yes || is_confirmed(&rule.id)? {
            text = write_policy(&args.file, &find_rule(&text, &rule.id)?.confirmed_in(&text))?;
        } else {
            left += 1;
        }
    }
    if left > 0 {
        print_message(&format!(
            "{} not confirmed: a run accepts {shown} only if each rule in words has a formula with `confirmed = true`",
            crate::report::counted(left, "rule")
        ));
        return Ok(Exit::Negative);
    }
    print_result(&format!("{shown}: every rule in words is confirmed\n"));
    Ok(Exit::Ok)
}

/// The rule in the current text of the file. Each inserted formula moves the rules below it.
fn find_rule(text: &str, id: &str) -> Result<WordedRule, Failure> {
    let found =
        find_worded_rules(text).map_err(|e| Failure::usage(e.to_string()))?.into_iter().find(|rule| rule.id == id);
    found.ok_or_else(|| Failure::usage(format!("the rule `{id}` is no longer in the file")))
}

fn write_policy(path: &Path, text: &str) -> Result<String, Failure> {
    // Before writing: in a file of an unusual form, the inserted text may not be TOML any more.
    find_worded_rules(text).map_err(|e| {
        Failure::usage(format!("{}: {e}", path.display()))
            .hint("write each rule in its own [[rule]] table, so that its formula can be inserted there")
    })?;
    write_atomically(&absolute(path)?, text.as_bytes())
        .map_err(|e| Failure::usage(format!("cannot write {}: {e}", path.display())))?;
    Ok(text.to_owned())
}

/// `write_atomically` needs the folder, for its temporary file.
fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).fails(Exit::Usage)
}

/// Prints the words, the formula, and the formula in words, for a person to compare.
fn print_rule(rule: &WordedRule, formula: &str) {
    let mut formulas = Formulas::new();
    let meaning = formulas.parse(formula).map_or_else(|e| e.to_string(), |formula| formulas.in_words(formula));
    let at = match (&rule.owner, &rule.when) {
        (Some(owner), Some(when)) => format!("  evaluated at: each event of {owner} with {when}\n"),
        (Some(owner), None) => format!("  evaluated at: each event of {owner}\n"),
        (None, _) => String::new(),
    };
    print_result(&format!(
        "{}\n  words:    {}\n{at}  formula:  {formula}\n  meaning:  {meaning}\n",
        rule.id,
        rule.words.trim()
    ));
}

/// Asks on the terminal; without a terminal the answer is no.
fn is_confirmed(id: &str) -> Result<bool, Failure> {
    if !std::io::stdin().is_terminal() {
        return Ok(false);
    }
    print_message(&format!("does the formula of `{id}` mean the same as its words? [y/N]"));
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).fails(Exit::Usage)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

struct Formulator {
    client: ModelClient,
}

impl Formulator {
    async fn new(args: &FormulateArgs) -> Result<Self, Failure> {
        let out = args.out.clone().unwrap_or_else(|| PathBuf::from("formulate"));
        Ok(Self { client: ModelClient::new(load_settings(args.model.layer())?, args.record.as_deref(), &out).await? })
    }

    /// Requests a formula that a run can monitor. If it is refused, requests a repaired one once.
    async fn write_formula(&mut self, rule: &WordedRule, number: u32) -> Result<Option<String>, Failure> {
        let mut data = json!({
            "words": rule.words.trim(), "owner": rule.owner, "when": rule.when, "nodes": lifelines().collect::<Vec<_>>().join(", "),
            "events": vocabulary_text(), "formula": null, "problem": null,
            "labels": rule.labels.iter().map(|[name, asks]| json!({"name": name, "asks": asks})).collect::<Vec<_>>(),
        });
        // One repair only: each request costs, and a person can write the formula instead.
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
                            "{}: according to the model, no formula can express these words",
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
        print_message(&format!("{}: the model found no formula; write one yourself", rule.id));
        Ok(None)
    }

    async fn ask(&mut self, purpose: &str, number: u32, data: &Value) -> Result<String, Failure> {
        let render = |name: &str, data: &Value| self.client.prompts.render(name, data).fails(Exit::Usage);
        let key = RequestKey {
            node: NODE.to_owned(),
            branch_index: 0,
            attempt: number,
            purpose: purpose.to_owned(),
            sample: 0,
        };
        let request = Request {
            // Two numbers for each rule, because each has at most two requests.
            seq: u64::from(number) * 2 + u64::from(purpose == "repair") - 1,
            role: render("policy/role", &json!({}))?,
            prompt: render("policy/formulate", data)?,
            workspace: self.client.workspace.clone(),
            offered: Vec::new(),
            choice: self.client.caller.choice(NODE),
            schema: None,
            key,
        };
        Ok(self.client.ask(request).await?.text)
    }
}
