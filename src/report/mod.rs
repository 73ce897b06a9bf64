//! Renders runs, checks, audits, evaluations and mutation runs as text, JSON and `JUnit` XML. No I/O.

mod accepted;
mod audit;
mod audit_junit;
mod brief;
mod candidates;
mod chart;
mod check;
mod check_findings;
mod conform;
mod contracts;
mod count;
mod cut;
mod drift;
mod drift_feedback;
mod drift_text;
mod eval;
mod explain;
mod findings;
mod github;
mod inspect_log;
mod junit;
mod labelling;
mod lines;
mod made_from;
mod markdown;
mod merged_mutants;
mod model_test;
mod mutation;
mod next_step;
mod objective;
mod page;
mod policy;
mod progress;
mod reason;
mod run_explanation;
mod run_findings;
mod sarif;
mod strengthen;
mod text;
mod trace_itf;
mod trace_lanes;

pub use audit::{audit_json, audit_text, default_audit_text, objections_text};
pub use audit_junit::{audit_findings, audit_junit};
pub use brief::brief_summary;
pub use chart::{Chart, ChartError, chart_mermaid, chart_text};
pub use check::check_json;
pub use check_findings::{CheckedSource, check_findings};
pub use conform::{conform_findings, conform_junit};
pub use count::counted;
pub use drift::{DriftReport, drift_findings, drift_json};
pub use drift_feedback::drift_feedback;
pub use drift_text::{accepted_drift_lines, drift_text};
pub use eval::{Entry, Outcome, case_end, evaluation, evaluations, suite};
pub use explain::explain;
pub use findings::{FileLine, Finding, Findings, Level};
pub use github::github_annotations;
pub use inspect_log::{InspectLog, InspectTask};
pub use junit::{eval_findings, junit};
pub use markdown::markdown_summary;
pub use merged_mutants::merge_mutation_json;
pub use model_test::{ModelTest, TestResult, test_findings, test_json, test_junit, test_line, test_summary};
pub use mutation::{judged_by, mutant_line, mutation_findings, mutation_json, mutation_text, stryker};
pub use next_step::answer_commands;
pub use objective::{objective_json, step_words};
pub use page::{
    AuditSource, CheckSource, ConformSource, Html, LivePage, PAGE_MARK, Page, RunSource, Section, Tone, audit_page,
    check_page, cited_states, conform_page, eval_page, fleet_page, live_page, mutation_page, render, run_page,
    witness_request,
};
pub use progress::progress_line;
pub use reason::plain_reason;
pub use run_explanation::explain_run;
pub use run_findings::run_findings;
pub use sarif::sarif;
pub use strengthen::mutants_sentence;
pub use text::{
    LONGEST_WHY, decisive_revision, heading, interrupted_summary, known_words, report, skipped_lines, summary,
};
pub use trace_itf::trace_itf;
pub use trace_lanes::{trace_mermaid, trace_plantuml};
