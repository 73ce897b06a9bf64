//! Pages for a browser: one self-contained HTML file each, without network access and with the same bytes for the same
//! input. Templates, style and script are files of this folder; everything that is not a template is escaped.

mod course;
mod diff;
mod findings;
mod frame;
mod grounds;
mod headline;
mod lanes;
mod listing;
mod live;
mod messages;
mod requirements;
mod revisions;
mod run_context;
mod run_page;
mod trace;
mod witnesses;

pub use frame::{Html, Page, Section, Tone, render};
pub use live::{LivePage, live_page};
pub use run_context::RunSource;
pub use run_page::run_page;
