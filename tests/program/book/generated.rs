//! Pages that are generated from the program. `TLAFORGE_BLESS=1 cargo test --test program book::` writes them.

use std::fmt::Write as _;

use serde_json::Value;

use crate::book::read;
use crate::support::{Bench, project};
use tlaforge::config::Layer;
use tlaforge::exit::Exit;

/// Compares a page with its generated text, or writes it.
fn check(path: &str, generated: &str) {
    if std::env::var_os("TLAFORGE_BLESS").is_some() {
        std::fs::write(project().join(path), generated).unwrap();
        return;
    }
    assert!(read(path) == generated, "{path} is out of date: TLAFORGE_BLESS=1 cargo test --test program book::");
}

/// The page with another text between its markers.
fn with_section(path: &str, name: &str, section: &str) -> String {
    let page = read(path);
    let (before, rest) = page.split_once(&format!("<!-- generated: {name} -->\n")).expect("the page has the marker");
    let (_, after) = rest.split_once("<!-- end -->").expect("the page has the end marker");
    format!("{before}<!-- generated: {name} -->\n\n{section}\n<!-- end -->{after}")
}

/// The help of a command and of its subcommands, in order, with the command's words.
pub(crate) fn helps() -> Vec<(Vec<String>, String)> {
    fn add(bench: &Bench, command: &[String], all: &mut Vec<(Vec<String>, String)>) {
        let args: Vec<&str> = command.iter().map(String::as_str).chain(["--help"]).collect();
        let help = bench.run(&args).expect(0).stdout;
        let listed = help.lines().skip_while(|l| *l != "Commands:").skip(1).take_while(|l| !l.is_empty());
        let names: Vec<String> = listed
            .filter(|l| l.starts_with("  ") && !l.starts_with("   "))
            .map(|l| l.split_whitespace().next().unwrap().to_owned())
            .filter(|name| name != "help")
            .collect();
        all.push((command.to_vec(), help));
        for name in names {
            add(bench, &[command, &[name]].concat(), all);
        }
    }
    let mut all = Vec::new();
    add(&Bench::without_tools(), &[], &mut all);
    assert!(all.len() > 12, "{}", all.len());
    all
}

#[test]
fn the_page_of_the_command_line_is_the_help_of_every_command() {
    let mut page = String::from(
        "# Command line\n\n<!-- generated: TLAFORGE_BLESS=1 cargo test --test program book:: -->\n\nThe help of every command, as \
         `--help` prints it.\n",
    );
    for (command, help) in helps() {
        let title = [&["tlaforge".to_owned()][..], &command].concat().join(" ");
        let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
        write!(page, "\n## {title}\n\n```text\n{}\n```\n", lines.join("\n").trim_end()).unwrap();
    }
    check("docs/src/cli.md", &page);
}

#[test]
fn the_page_of_exit_codes_lists_every_status() {
    let mut table = String::from("| status | meaning |\n|---|---|\n");
    for (exit, what) in Exit::ALL {
        writeln!(table, "| {} | {what} |", exit.code()).unwrap();
    }
    check("docs/src/exit-codes.md", &with_section("docs/src/exit-codes.md", "exit codes", &table));
}

/// The type of a setting in words, from its JSON Schema.
fn type_of(schema: &Value, definitions: &Value) -> String {
    if let Some(reference) = schema["$ref"].as_str() {
        return type_of(&definitions[reference.rsplit('/').next().unwrap()], definitions);
    }
    let choices = schema["anyOf"].as_array().or(schema["oneOf"].as_array());
    if let Some(choices) = choices {
        let words: Vec<String> =
            choices.iter().filter(|c| c["type"] != "null").map(|c| type_of(c, definitions)).collect();
        return words.join(", ");
    }
    if let Some(value) = schema["const"].as_str() {
        return format!("`{value}`");
    }
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().map(|v| format!("`{}`", v.as_str().unwrap())).collect::<Vec<_>>().join(", ");
    }
    let name = match &schema["type"] {
        Value::Array(types) => types.iter().find(|t| *t != "null").and_then(Value::as_str).unwrap(),
        other => other.as_str().unwrap_or_else(|| panic!("no type: {schema}")),
    };
    match name {
        "string" => "text",
        "integer" => "whole number",
        "number" => "number",
        "boolean" => "`true` or `false`",
        "array" => "list of texts",
        "object" => "table",
        other => panic!("{other} is no type of a setting"),
    }
    .to_owned()
}

#[test]
fn the_page_of_settings_lists_every_key() {
    let schema = serde_json::to_value(schemars::schema_for!(Layer)).unwrap();
    let helps = helps();
    let run = &helps.iter().find(|(command, _)| command == &["run"]).unwrap().1;
    let mut table = String::from("| key | value | flag of `run` | meaning |\n|---|---|---|---|\n");
    for (key, setting) in schema["properties"].as_object().unwrap() {
        let flag = format!("--{}", key.replace('_', "-"));
        let flag = if key == "allow_modules" { "--allow-module".to_owned() } else { flag };
        let has_flag = run.split_whitespace().any(|word| word == flag);
        let flag = if has_flag { format!("`{flag}`") } else { String::new() };
        let meaning = setting["description"].as_str().unwrap_or_else(|| panic!("{key} has no description"));
        let meaning = meaning.split_whitespace().collect::<Vec<_>>().join(" ");
        writeln!(table, "| `{key}` | {} | {flag} | {meaning} |", type_of(setting, &schema["$defs"])).unwrap();
    }
    check("docs/src/settings.md", &with_section("docs/src/settings.md", "keys", &table));
}
