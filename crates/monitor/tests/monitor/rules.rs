//! Policy rules: the formula of each kind, checks of parameters, and errors with lines.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use tlaforge_monitor::{KINDS, Parameter, Policy, Rule, RuleError, Scope, Severity};
use tlaforge_temporal::{Formulas, Labels, Record, Value, eval_all_positions};

/// A turn of an agent.
struct Turn(Json);

impl Record for Turn {
    fn field(&self, _: &str) -> Option<Value<'_>> {
        None
    }

    fn label(&self, kind: &str, text: &str) -> Option<bool> {
        let string = |field: &str| self.0[field].as_str().unwrap_or_default();
        Some(match kind {
            "tool_call" => self.0["tools"].as_array().is_some_and(|tools| tools.iter().any(|t| t == text)),
            "stop_reason" => string("stop") == text,
            "text_contains" => string("text").contains(text),
            _ => return None,
        })
    }
}

/// A policy file with one rule. Parameters are written as JSON, which is valid TOML for texts, numbers and lists.
fn policy(kind: &str, params: &Json) -> String {
    let params: Vec<String> = params.as_object().unwrap().iter().map(|(k, v)| format!("{k} = {v}")).collect();
    format!("[[rule]]\nid = \"it\"\nkind = \"{kind}\"\nparams = {{ {} }}\n", params.join(", "))
}

#[test]
fn evaluates_every_row_of_the_rule_table() {
    let table: Json = serde_json::from_str(include_str!("../../../temporal/tests/data/ltlf.json")).unwrap();
    let rows = table["rules"].as_array().unwrap();
    let mut refused = 0;
    for row in rows {
        let (id, kind) = (&row["id"], row["kind"].as_str().unwrap());
        let mut formulas = Formulas::new();
        let read = Policy::read(&policy(kind, &row["params"]), &mut formulas);
        if row["expect"]["error"].is_string() {
            let error = read.expect_err(&id.to_string()).to_string();
            let parameter = match kind {
                "max_turns" => "unknown kind `max_turns`",
                "required_stop_reason" => "`allowed`",
                "ltl_formula" => "`formula`",
                _ => "`tool`",
            };
            assert!(error.contains("rule `it`") && error.contains(parameter), "{id}: {error}");
            refused += 1;
            continue;
        }
        let rule = &read.unwrap_or_else(|e| panic!("{id}: {e}")).rules[0];
        let records = row["trace"].as_array().unwrap().iter().cloned().map(Turn);
        let labels = Labels::from_records(&formulas, &[rule.formula], records);
        let column = eval_all_positions(&formulas, rule.formula, &labels).unwrap();
        assert_eq!(column.verdict(), row["expect"]["verdict"], "{id}: {}", formulas.text(rule.formula));
    }
    println!("{} rows, {refused} refused", rows.len());
}

#[test]
fn each_kind_has_the_documented_formula() {
    let text = |t: &str| Parameter::Text(t.to_owned());
    let documented = include_str!("../../../../docs/src/rules.md");
    let cases = [
        ("no_call", vec![("tool", text("rm"))], "G !tool_call:rm"),
        ("must_call_before", vec![("first", text("v")), ("then", text("p"))], "!tool_call:p W tool_call:v"),
        ("must_call_once", vec![("tool", text("x"))], "F tool_call:x & G (tool_call:x -> N G !tool_call:x)"),
        (
            "required_stop_reason",
            vec![("allowed", Parameter::Texts(vec!["end_turn".to_owned(), "stop sequence".to_owned()]))],
            "F (stop_reason:end_turn | stop_reason:\"stop sequence\")",
        ),
        ("required_stop_reason", vec![("allowed", text("end_turn"))], "F stop_reason:end_turn"),
        ("forbidden_text", vec![("text", text("a \"secret\""))], "G !text_contains:\"a \\\"secret\\\"\""),
        ("must_include_text", vec![("text", text("f(x) -> y"))], "F text_contains:\"f(x) -> y\""),
        ("ltl_formula", vec![("formula", text("G(a=>F b)"))], "G (a -> F b)"),
    ];
    for (kind, _) in KINDS {
        assert!(cases.iter().any(|(name, ..)| *name == kind), "no formula is expected of {kind}");
        assert!(documented.contains(&format!("| `{kind}` |")), "docs/src/rules.md has no row for {kind}");
    }
    for (kind, parameters, formula) in cases {
        let parameters = parameters.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let rule = Rule::new(kind, parameters).unwrap();
        let mut formulas = Formulas::new();
        let made = rule.formula(&mut formulas).unwrap();
        assert_eq!((rule.kind(), &*formulas.text(made)), (kind, formula));
        assert_eq!(formulas.parse(formula), Ok(made), "the same text is the same formula");
    }
}

#[test]
fn errors_name_the_parameter() {
    for (kind, parameters) in KINDS {
        let all: BTreeMap<String, Parameter> =
            parameters.iter().map(|name| ((*name).to_owned(), Parameter::Text("a".to_owned()))).collect();
        Rule::new(kind, all.clone()).unwrap();
        for parameter in parameters {
            let with = |value: Option<Parameter>| {
                let mut some = all.clone();
                some.remove(*parameter);
                some.extend(value.map(|value| ((*parameter).to_owned(), value)));
                Rule::new(kind, some).unwrap_err()
            };
            assert_eq!(with(None), RuleError::Missing { kind, parameter });
            assert_eq!(with(Some(Parameter::Text(String::new()))), RuleError::Empty { parameter });
            let number = with(Some(Parameter::Other("a number")));
            assert!(matches!(number, RuleError::Type { found: "a number", .. }), "{number}");
            assert_eq!(number.parameter(), Some(*parameter));
        }
        let mut more = all.clone();
        more.insert("toool".to_owned(), Parameter::Text("a".to_owned()));
        assert!(matches!(Rule::new(kind, more), Err(RuleError::Unknown { parameter, .. }) if parameter == "toool"));
    }
}

const POLICY: &str = r#"
# What an agent may do here.
[[rule]]
id = "no-deletion"
kind = "no_call"
params = { tool = "rm" }
severity = "warning"
description = "files are never deleted"

[[rule]]
id = "tests-before-submission"
formula = '!tool_call:submit W tool_call:test'

[[rule]]
id = "stops"
kind = "required_stop_reason"
[rule.params]
allowed = ["end_turn", "stop_sequence"]

[[rule]]
id = "reviewed-what-was-checked"
owner = "review"
when = 'name = "approved"'
formula = '@model_check.spec = spec & @model_check(status != "failed" S status = "passed")'
severity = "info"
"#;

#[test]
fn reads_all_keys_of_rules_in_order() {
    let mut formulas = Formulas::new();
    let policy = Policy::read(POLICY, &mut formulas).unwrap();
    let told: Vec<_> = policy.rules.iter().map(|r| (&*r.id, r.severity, r.line, formulas.text(r.formula))).collect();
    let formula = |text: &str| text.to_owned();
    assert_eq!(
        told,
        [
            ("no-deletion", Severity::Warning, 3, formula("G !tool_call:rm")),
            ("tests-before-submission", Severity::Error, 10, formula("!tool_call:submit W tool_call:test")),
            ("stops", Severity::Error, 14, formula("F (stop_reason:end_turn | stop_reason:stop_sequence)")),
            (
                "reviewed-what-was-checked",
                Severity::Info,
                20,
                formula("@model_check.spec = spec & @model_check(status != \"failed\" S status = \"passed\")")
            ),
        ]
    );
    assert_eq!(policy.rules[0].description.as_deref(), Some("files are never deleted"));
    assert_eq!(
        policy.rules[1].scope,
        Scope::Trace(Rule::LtlFormula { formula: "!tool_call:submit W tool_call:test".to_owned() })
    );
    let Scope::Causal { owner, when: Some(when) } = &policy.rules[3].scope else { panic!("a causal rule") };
    assert_eq!((&**owner, &*formulas.text(*when)), ("review", "name = \"approved\""));
    assert!(Severity::Info < Severity::Warning && Severity::Warning < Severity::Error);
    assert_eq!(Severity::Warning.name(), "warning");
}

#[test]
fn the_documented_example_is_a_valid_policy() {
    let source = include_str!("../../src/policy.rs");
    let inside = source.split("```toml").nth(1).unwrap().split("```").next().unwrap();
    let example: String = inside.lines().map(|line| line.trim_start_matches("//!").to_owned() + "\n").collect();
    let policy = Policy::read(&example, &mut Formulas::new()).unwrap();
    assert_eq!(policy.rules.len(), 5);
    assert_eq!(policy.labels.names().map(|name| &**name).collect::<Vec<_>>(), ["polite"]);
}

#[test]
fn errors_in_policies_name_the_line() {
    let rule = |rest: &str| format!("\n[[rule]]\nid = \"it\"\n{rest}\n");
    for (text, line, says) in [
        (String::new(), None, "the policy has no rule"),
        ("# nothing\n".to_owned(), None, "the policy has no rule"),
        ("rule = []".to_owned(), None, "the policy has no rule"),
        ("[[rule]]\nid = ".to_owned(), Some(2), "line 2"),
        ("\nversion = 1\n".to_owned(), Some(2), "unknown key `version`"),
        ("rule = 3".to_owned(), Some(1), "unknown key `rule`"),
        ("[[rules]]\nid = \"x\"".to_owned(), Some(1), "unknown key `rules` (rules are written under `[[rule]]`"),
        ("[[rule]]\nkind = \"no_call\"".to_owned(), Some(1), "rule 1: it has no `id`"),
        ("[[rule]]\nid = 3".to_owned(), Some(2), "rule 1: `id` must be a text, not a number"),
        ("[[rule]]\nid = \"\"".to_owned(), Some(2), "rule 1: its `id` is empty"),
        (rule(""), Some(2), "rule `it`: it has neither a `kind` nor a `formula`"),
        (rule("kind = \"no_call\""), Some(2), "rule `it`: `no_call` needs the parameter `tool`"),
        (rule("kind = \"no_calls\""), Some(4), "rule `it`: unknown kind `no_calls` (known: `no_call`,"),
        (rule("kind = \"no_call\"\nparams = { tool = 3 }"), Some(5), "`tool` must be a text, not a number"),
        (rule("kind = \"no_call\"\n[rule.params]\ntool = [\"x\"]"), Some(6), "`tool` must be a text, not a list"),
        (rule("kind = \"no_call\"\nparams = { tools = \"x\" }"), Some(5), "no parameter `tools` (it has `tool`)"),
        (rule("kind = \"no_call\"\ntool = \"x\""), Some(5), "rule `it`: unknown key `tool` (known: id, kind, params"),
        (rule("kind = \"no_call\"\nparams = 3"), Some(5), "`params` must be a table"),
        (
            rule("kind = \"required_stop_reason\"\nparams.allowed = [1]"),
            Some(5),
            "`allowed` must be a text or a list of texts",
        ),
        (rule("kind = \"required_stop_reason\"\nparams.allowed = []"), Some(5), "`allowed` is empty"),
        (
            rule("formula = 'G ('"),
            Some(4),
            "rule `it`: the parameter `formula` is not a formula: column 4: expected a formula",
        ),
        (rule("formula = 'F @A(x)'"), Some(4), "`formula`: `@` has no meaning in the finite-trace reading"),
        (rule("formula = 'a'\nkind = \"no_call\""), Some(4), "a rule has either a `kind` or a `formula`, not both"),
        (rule("formula = 'a'\nparams = {}"), Some(5), "`formula` takes no `params`"),
        (rule("formula = 'a'\nwhen = 'b'"), Some(5), "`when` belongs to a causal rule"),
        (
            rule("formula = 'a'\nseverity = \"fatal\""),
            Some(5),
            "unknown severity `fatal` (known: info, warning, error)",
        ),
        (rule("owner = \"A\""), Some(2), "a causal rule needs a `formula`"),
        (rule("owner = \"\"\nformula = 'a'"), Some(4), "its `owner` is empty"),
        (rule("owner = \"A\"\nformula = 'F a'"), Some(5), "`F` has no meaning in the causal reading"),
        (rule("owner = \"A\"\nformula = 'a'\nwhen = '('"), Some(6), "the parameter `when` is not a formula"),
        (rule("owner = \"A\"\nformula = 'a'\nkind = \"no_call\""), Some(6), "no `kind`"),
        (rule("formula = 'G model:kind'"), Some(2), "rule `it`: `model:kind`: there is no [[label]] of this name"),
        (
            rule("formula = 'G model:kid'") + "[[label]]\nname = \"kind\"\nasks = \"it is kind\"\n",
            Some(2),
            "there is no [[label]] of this name (similar: kind)",
        ),
        (
            rule("formula = 'a'") + "\n[[label]]\nname = \"kind\"\nasks = \"it is kind\"\n",
            Some(6),
            "no rule uses `model:kind`",
        ),
        (rule("formula = 'a'") + &rule("formula = 'b'"), Some(6), "a second rule `it` (the first begins in line 2)"),
    ] {
        let error = Policy::read(&text, &mut Formulas::new()).expect_err(&text);
        let told = error.to_string();
        assert!(told.contains(says), "{text}: {told}");
        let at = error.place().map(|place| place.line);
        assert_eq!(at, line, "{text}: {told}");
    }
}
