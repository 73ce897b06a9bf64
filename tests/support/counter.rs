//! A minimal protocol: a worker increments a counter up to a limit. A test can change each part of an answer.

use super::model_server::{Reply, Seen};
use super::{Bench, Script};

/// The document.
pub const DOC: &str = "# The counter\nIt starts at zero.\nWhile it is below the limit, a worker adds one.\nIt is never above the limit.\n";

/// The informal specification.
pub const INFORMAL: &str = "# The counter\n## Concern\nThe limit.\n## Other concerns\n- none\n## Requirements\nR1 [docs/counter.md:4] The counter is never above the limit.\n";

/// The module.
pub const MODULE: &str = r"---- MODULE Spec ----
EXTENDS Naturals
CONSTANT Max

(* --algorithm Counter
variables n = 0;
begin
  Add:
    while n < Max do
      n := n + 1;
    end while;
end algorithm; *)
====
";

/// The sections, without their fences.
pub const INVARIANTS: &str =
    "TypeOK == n \\in 0..10 /\\ pc \\in {\"Add\", \"Done\"}\n\\* covers R1\nNeverAbove == n <= Max\n";
pub const WITNESSES: &str = "WitnessFull == n = Max\n";
pub const CFG: &str = "SPECIFICATION Spec\nCONSTANT Max = 2\nINVARIANTS TypeOK NeverAbove\n\\* WITNESS WitnessFull\n";

/// A module in its fence.
pub fn fenced(module: &str) -> String {
    format!("```tla\n{module}```\n")
}

/// The four sections in their fences.
pub fn sections(invariants: &str, properties: &str, witnesses: &str, cfg: &str) -> String {
    format!(
        "```tla invariants\n{invariants}```\n```tla properties\n{properties}```\n```tla witnesses\n{witnesses}```\n\
         ```cfg\n{cfg}```\n"
    )
}

/// The correct sections.
pub fn good_sections() -> String {
    sections(INVARIANTS, "", WITNESSES, CFG)
}

/// A review with this verdict and no issue.
pub fn review(verdict: &str) -> String {
    format!("```json\n{{\"verdict\": \"{verdict}\", \"summary\": \"s\", \"issues\": []}}\n```\n")
}

/// A review that asks for a revision.
pub fn issue(severity: &str, category: &str, description: &str) -> String {
    let issue = serde_json::json!({"severity": severity, "category": category, "blame": null, "description": description, "suggestion": ""});
    format!("```json\n{}\n```\n", serde_json::json!({"verdict": "revise", "summary": "s", "issues": [issue]}))
}

/// The answers of a first pass that ends approved.
pub fn good() -> Script {
    Script::default()
        .answer("informal_spec", 0, 1, "draft", INFORMAL)
        .answer("formalize", 0, 1, "draft", &fenced(MODULE))
        .answer("generate_invariants", 0, 1, "draft", &good_sections())
        .answer("review", 0, 1, "draft", &review("approved"))
        .having_read_all()
}

/// The replies of a model server in a first pass that ends approved. The reviewer reads the files that it is offered.
pub fn answers(seen: &Seen) -> Reply {
    let system = seen.system();
    let is = |what: &str| system.contains(what);
    if is("You write informal") {
        return Reply::text(INFORMAL);
    }
    if is("You write PlusCal") {
        return Reply::text(fenced(MODULE));
    }
    if is("You write what a specification must satisfy") {
        return Reply::text(good_sections());
    }
    if !is("You review") {
        return Reply::error(400, "invalid_request_error", &format!("nobody knows who is asked here: {system}"));
    }
    if seen.tool_results().is_empty() {
        let prompt = seen.prompt();
        let is_file = |name: &&str| [".md", ".tla", ".cfg", ".txt"].iter().any(|end| name.ends_with(end));
        let named = prompt.split('`').skip(1).step_by(2).filter(is_file).filter(|name| !name.contains(' '));
        return Reply::reads(&named.collect::<Vec<_>>());
    }
    Reply::text(review("approved"))
}

/// A bench with the document in place. Without Java, so `auto` chooses the embedded checker.
pub fn bench() -> Bench {
    with_document(Bench::without_tools())
}

/// A bench with the document in place and the Java tools, which `auto` then chooses.
pub fn bench_with_java() -> Bench {
    with_document(Bench::remembering())
}

fn with_document(bench: Bench) -> Bench {
    bench.write("docs/counter.md", DOC);
    bench
}
