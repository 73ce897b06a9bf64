//! Pages for a browser: one self-contained HTML file each, without network access and with the same bytes for the same
//! input. Templates, style and script are files of this folder; everything that is not a template is escaped.

mod audit_page;
mod audit_rules;
mod audit_source;
mod audit_timeline;
mod bounds;
mod check_page;
mod conform_page;
mod course;
mod diff;
mod eval_page;
mod findings;
mod frame;
mod grounds;
mod headline;
mod lanes;
mod listing;
mod live;
mod messages;
mod mutation_killers;
mod mutation_page;
mod requirements;
mod revisions;
mod run_context;
mod run_page;
mod state_graph;
mod survivors;
mod trace;
mod witnesses;

pub use audit_page::audit_page;
pub use audit_source::{AuditSource, cited_states};
pub use check_page::{CheckSource, check_page};
pub use conform_page::{ConformSource, conform_page};
pub use eval_page::eval_page;
pub use frame::{Html, PAGE_MARK, Page, Section, Tone, render};
pub use live::{LivePage, fleet_page, live_page};
pub use mutation_page::mutation_page;
pub use run_context::RunSource;
pub use run_page::run_page;
pub use witnesses::witness_request;
