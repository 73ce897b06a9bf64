//! The pages of `tlaforge watch`: of a run, what it does now and below it its report in a frame; of a fleet, its tables.

use minijinja::Value;
use serde::Serialize;

use super::frame::{STYLE, hash_source, render};

const LIVE_STYLE: &str = include_str!("live.css");
const RUN_SCRIPT: &str = concat!(include_str!("live_text.js"), include_str!("live.js"));
const FLEET_SCRIPT: &str = concat!(include_str!("live_text.js"), include_str!("fleet.js"));

/// The page, and the content security policy for its header.
pub struct LivePage {
    pub text: String,
    pub policy: String,
}

#[derive(Serialize)]
struct Shell<'a> {
    /// The folder of the run, or the address of the engine.
    subject: &'a str,
    style: Value,
    script: Value,
}

/// The live page of the run in `folder`.
pub fn live_page(folder: &str) -> LivePage {
    page("live", folder, RUN_SCRIPT)
}

/// The live page of the fleet of an engine.
pub fn fleet_page(engine: &str) -> LivePage {
    page("fleet", engine, FLEET_SCRIPT)
}

fn page(template: &str, subject: &str, script: &str) -> LivePage {
    let style = format!("{STYLE}{LIVE_STYLE}");
    let policy = format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; img-src data:; connect-src 'self'; frame-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        hash_source(&style),
        hash_source(script)
    );
    let shell =
        Shell { subject, style: Value::from_safe_string(style), script: Value::from_safe_string(script.to_owned()) };
    LivePage { text: render(template, shell).0, policy }
}
