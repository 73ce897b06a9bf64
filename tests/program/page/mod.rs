//! The HTML page of a run, read as a file. Tests in a real browser are apart.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

mod audit;
mod browser;
mod check;
mod eval;
mod hostile;
mod mutation;
mod outcomes;
mod requirements;
mod target;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::support::Bench;

/// The page of the run in `specs`.
fn page(bench: &Bench) -> String {
    bench.run(&["report", "specs", "--html", "page.html"]).expect(0);
    let page = bench.read("page.html");
    check_page(&page);
    page
}

/// What holds of every page.
#[track_caller]
fn check_page(page: &str) {
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    for loads in [" src=\"", "href=\"http", "@import", "url(h"] {
        assert!(!page.contains(loads), "{loads} in the page");
    }
    for (element, directive) in [("style", "style-src"), ("script", "script-src")] {
        let content = inside(page, &format!("<{element}>"), &format!("</{element}>"));
        let allowed = inside(page, &format!("{directive} 'sha256-"), "'");
        assert_eq!(decode_base64(allowed), Sha256::digest(content).to_vec(), "{directive}");
    }
    assert!(page.contains("default-src 'none'"));
    assert!(!page.contains(" style=\"") && !page.contains("onclick"), "the policy forbids inline styles and handlers");
    let script = inside(page, "<script>", "</script>");
    let page = &page.replace(script, "");
    for element in ["script", "svg", "section", "table", "details", "ol", "ul", "div", "g", "dl"] {
        let count = |text: &str| page.matches(text).count();
        let opened = count(&format!("<{element}>")) + count(&format!("<{element} "));
        assert_eq!(opened, count(&format!("</{element}>")), "<{element}> is not closed");
    }
    let ids: Vec<&str> = page.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let mut unique = ids.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), ids.len(), "an id is used twice");
    for target in page.split("href=\"#").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert!(ids.contains(&target), "a link to #{target}, which does not exist");
    }
}

#[track_caller]
fn inside<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let (_, rest) = text.split_once(from).unwrap_or_else(|| panic!("no {from}"));
    rest.split_once(to).unwrap_or_else(|| panic!("no {to} after {from}")).0
}

/// The traces that the script of the page reads.
fn traces(page: &str) -> Value {
    let data = inside(page, "<script type=\"application/json\" id=\"data\">", "</script>");
    serde_json::from_str::<Value>(data).unwrap()["traces"].clone()
}

fn decode_base64(text: &str) -> Vec<u8> {
    let value = |c: char| match c {
        'A'..='Z' => c as u32 - 'A' as u32,
        'a'..='z' => c as u32 - 'a' as u32 + 26,
        '0'..='9' => c as u32 - '0' as u32 + 52,
        '+' => 62,
        _ => 63,
    };
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for c in text.trim_end_matches('=').chars() {
        (bits, count) = (bits << 6 | value(c), count + 6);
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 255).unwrap());
        }
    }
    bytes
}
