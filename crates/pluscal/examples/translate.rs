//! Translates the PlusCal algorithm of a file and prints the module. Prints each problem with its line and carets.

use std::process::ExitCode;

use tlaforge_pluscal::{Options, translate};

#[allow(clippy::print_stdout, clippy::print_stderr, reason = "an example prints what it found")]
fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: translate MODULE.tla");
        return ExitCode::from(2);
    };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("cannot read {path}: {error}");
            return ExitCode::from(2);
        }
    };
    match translate(&text, &Options::default()) {
        Ok(Some(translated)) => {
            for warning in &translated.warnings {
                eprintln!("warning: {warning}");
            }
            print!("{}", translated.text);
            ExitCode::SUCCESS
        }
        Ok(None) => {
            eprintln!("{path} contains no algorithm");
            ExitCode::FAILURE
        }
        Err(problems) => {
            for problem in problems {
                eprintln!("error: {path}:{}:{}: {}", problem.line, problem.column, problem.message);
                if let Some(span) = problem.span(&text) {
                    let start = text[..span.start].rfind('\n').map_or(0, |newline| newline + 1);
                    let line = text[start..].lines().next().unwrap_or_default();
                    // Tabulators are kept, so that the carets are below the token however wide a terminal shows them.
                    let blanks: String =
                        text[start..span.start].chars().map(|c| if c == '\t' { c } else { ' ' }).collect();
                    eprintln!("    {line}\n    {blanks}{}", "^".repeat(text[span].chars().count().max(1)));
                }
            }
            ExitCode::FAILURE
        }
    }
}
