//! The page of `tlaforge watch`: what the run does now, and below it its report in a frame.

use minijinja::Value;
use serde::Serialize;

use super::frame::{STYLE, hash_source, render};

const LIVE_STYLE: &str = include_str!("live.css");
const LIVE_SCRIPT: &str = include_str!("live.js");

/// The page, and the content security policy for its header.
pub struct LivePage {
    pub text: String,
    pub policy: String,
}

#[derive(Serialize)]
struct Shell<'a> {
    folder: &'a str,
    style: Value,
    script: Value,
}

/// The live page of the run in `folder`.
pub fn live_page(folder: &str) -> LivePage {
    let style = format!("{STYLE}{LIVE_STYLE}");
    let policy = format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; img-src data:; connect-src 'self'; frame-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        hash_source(&style),
        hash_source(LIVE_SCRIPT)
    );
    let shell = Shell {
        folder,
        style: Value::from_safe_string(style),
        script: Value::from_safe_string(LIVE_SCRIPT.to_owned()),
    };
    LivePage { text: render("live", shell).0, policy }
}
