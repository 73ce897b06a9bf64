//! Pages for a browser: one self-contained HTML file each, without network access and with the same bytes for the same
//! input. Templates, style and script are files of this folder; everything that is not a template is escaped.

mod frame;

pub use frame::{Html, Page, Section, Tone, render};
