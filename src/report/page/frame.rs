//! The frame of a page: title, navigation, sections, style, script and data, under a content security policy that allows
//! nothing but this one style and this one script.

use std::sync::LazyLock;

use minijinja::{AutoEscape, Environment, HtmlEscape, UndefinedBehavior, Value, escape_formatter};
use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};

use crate::prompt::{escape_invisible_json, show_invisible};

pub(super) const STYLE: &str = concat!(include_str!("page.css"), include_str!("pages.css"));
const SCRIPT: &str = concat!(include_str!("page.js"), include_str!("trace.js"), include_str!("graph.js"));

macro_rules! templates {
    ($($name:literal),* $(,)?) => {
        const TEMPLATES: &[(&str, &str)] = &[$(($name, include_str!(concat!("templates/", $name, ".html.j2")))),*];
    };
}

templates![
    "audited_rules",
    "evaluated_case",
    "evaluated_cases",
    "audit_lead",
    "limits",
    "missing_fields",
    "course",
    "facts",
    "findings",
    "fleet",
    "frame",
    "grounds",
    "killers",
    "lanes",
    "lead",
    "live",
    "lines",
    "listings",
    "model",
    "mutants",
    "mutated_source",
    "question",
    "requirements",
    "state_graph",
    "revisions",
    "survivors",
    "trace",
    "witnesses",
];

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    // In one place, because texts of documents and models can be anywhere.
    environment.set_formatter(|out, state, value| match value.as_str() {
        Some(text) if !value.is_safe() => escape_formatter(out, state, &Value::from(show_controls(text))),
        _ => escape_formatter(out, state, value),
    });
    environment.add_filter("marked", |text: &str| Value::from_safe_string(mark_code(text)));
    environment.add_filter("first_sentence", |text: &str| first_sentence(text).to_owned());
    environment.add_filter("bar", |width: Value| Value::from_safe_string(bar(&width)));
    environment.add_filter("is_long", |text: &str| text.chars().count() > 200);
    for (name, text) in TEMPLATES {
        environment.add_template(name, text).expect("a built-in template is well-formed");
    }
    environment
});

/// A bar of this width in pixels, before the number that it shows; nothing if the width is 0 or none.
fn bar(width: &Value) -> String {
    if !width.is_true() {
        return String::new();
    }
    format!(
        "<svg class=\"bar\" width=\"{width}\" height=\"10\" aria-hidden=\"true\" focusable=\"false\">\
         <rect width=\"{width}\" height=\"10\" rx=\"2\"/></svg> "
    )
}

/// The first sentence of a text, or its first words if it is long.
fn first_sentence(text: &str) -> &str {
    let end = [". ", ".\n", "; ", "\n\n"].iter().filter_map(|end| text.find(end)).min().map_or(text.len(), |at| at + 1);
    let most = text.char_indices().nth(240).map_or(text.len(), |(at, _)| at);
    text[..end.min(most)].trim()
}

/// Control characters have no meaning in HTML, and invisible ones make a text look different from what tools read.
fn show_controls(text: &str) -> String {
    let is_control = |c: char| c.is_control() && c != '\n' && c != '\t';
    show_invisible(text).chars().map(|c| if is_control(c) { '\u{fffd}' } else { c }).collect()
}

/// A text as HTML, with what it has between backquotes as code: documents and models write so.
fn mark_code(text: &str) -> String {
    let escape = |text: &str| HtmlEscape(&show_controls(text)).to_string();
    let mut html = String::new();
    let mut parts = text.split('`').peekable();
    let mut is_code = false;
    while let Some(part) = parts.next() {
        // A backquote without its partner is a character like others.
        let closes = parts.peek().is_some();
        match (is_code, closes) {
            (true, true) => html.extend(["<code>", &escape(part), "</code>"]),
            (true, false) => html.extend(["`", &escape(part)]),
            (false, _) => html.push_str(&mark_strong(&escape(part))),
        }
        is_code = !is_code;
    }
    html
}

/// The same for what is between two stars, of a text that is HTML already.
fn mark_strong(html: &str) -> String {
    let parts: Vec<&str> = html.split("**").collect();
    // A mark without its partner stays.
    if parts.len().is_multiple_of(2) {
        return html.to_owned();
    }
    let marked = parts.iter().enumerate().map(|(at, part)| {
        if at % 2 == 1 && !part.trim().is_empty() {
            format!("<strong>{part}</strong>")
        } else if at % 2 == 1 {
            format!("**{part}**")
        } else {
            (*part).to_owned()
        }
    });
    marked.collect()
}

/// A text that is HTML already, so that a template does not escape it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Html(pub String);

impl Serialize for Html {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Value::from_safe_string(self.0.clone()).serialize(serializer)
    }
}

/// Renders a template with its data; every text in the data is escaped, except [`Html`].
///
/// # Panics
/// A template refers to a value that `data` lacks, which is a defect of the template.
pub fn render(name: &str, data: impl Serialize) -> Html {
    let template = ENVIRONMENT.get_template(name).expect("a built-in template");
    match template.render(data) {
        Ok(html) => Html(html),
        Err(error) => panic!("template {name}: {error:#}"),
    }
}

/// What a colour means. It never is the only sign: the words say it, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tone {
    Good,
    Bad,
    /// Not decided, or a person has to decide.
    Open,
    Plain,
}

/// What every page has near its beginning.
pub const PAGE_MARK: &str = "<meta name=\"generator\" content=\"tlaforge ";

/// A section with a heading of the second level. Its own headings begin at the third.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Section {
    /// Unique in the page; links refer to it.
    pub id: &'static str,
    pub title: String,
    /// What the navigation shows beside the title, such as a number of items.
    pub note: Option<String>,
    pub body: Html,
}

/// A page. `data` is for the script; the page has to be complete without it.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// What it is about, above the title: `Run report`.
    pub kind: String,
    /// In the tab of the browser.
    pub title: String,
    /// The largest heading: the result in one sentence.
    pub heading: String,
    pub tone: Tone,
    /// Directly below the heading.
    pub lead: Html,
    pub sections: Vec<Section>,
    pub data: serde_json::Value,
}

impl Page {
    /// The page as one HTML file.
    pub fn html(&self) -> String {
        let Self { kind, title, heading, tone, lead, sections, data } = self;
        let policy = format!(
            "default-src 'none'; style-src '{}'; script-src '{}'; img-src data:; base-uri 'none'; form-action 'none'",
            hash_source(STYLE),
            hash_source(SCRIPT)
        );
        let frame = minijinja::context! {
            policy, kind, title, heading, tone, lead, sections,
            version => env!("CARGO_PKG_VERSION"),
            style => Value::from_safe_string(STYLE.to_owned()),
            script => Value::from_safe_string(SCRIPT.to_owned()),
            data => Value::from_safe_string(script_data(data)),
        };
        render("frame", frame).0
    }
}

/// JSON that cannot end the `<script>` around it.
fn script_data(data: &serde_json::Value) -> String {
    escape_invisible_json(&data.to_string()).replace('<', "\\u003c")
}

/// The source of a content security policy for an inline style or script: `sha256-…`.
pub(super) fn hash_source(text: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(text)))
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = (0..3).fold(0_usize, |bits, at| bits << 8 | usize::from(chunk.get(at).copied().unwrap_or(0)));
        let digit = |at: usize| char::from(ALPHABET[bits >> (18 - 6 * at) & 63]);
        text.extend((0..4).map(|at| if at <= chunk.len() { digit(at) } else { '=' }));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_rfc_4648() {
        for (text, expected) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(text.as_bytes()), expected);
        }
    }

    #[test]
    fn code_and_stress_are_marked_and_nothing_else() {
        for (text, html) in [
            ("a `b < c` d", "a <code>b &lt; c</code> d"),
            ("**A.** b ** c", "**A.** b ** c"),
            ("**A & b.** c", "<strong>A &amp; b.</strong> c"),
            ("`a` and ` b", "<code>a</code> and ` b"),
            ("<b>`<i>`", "&lt;b&gt;<code>&lt;i&gt;</code>"),
            ("`**a**`", "<code>**a**</code>"),
        ] {
            assert_eq!(mark_code(text), html, "{text}");
        }
    }

    #[test]
    fn hostile_texts_stay_texts() {
        let hostile = "</script><img src=x onerror=alert(1)> \" ' \u{2028} \u{202e} \u{0}";
        let page = Page {
            kind: hostile.into(),
            title: hostile.into(),
            heading: hostile.into(),
            tone: Tone::Plain,
            lead: Html::default(),
            sections: vec![Section {
                id: "a",
                title: hostile.into(),
                note: Some(hostile.into()),
                body: Html::default(),
            }],
            data: serde_json::json!({ hostile: [hostile] }),
        };
        let html = page.html();
        assert!(!html.contains("<img") && html.matches("</script>").count() == 2, "{html}");
        assert!(!html.contains(['\u{2028}', '\u{202e}', '\u{0}']), "{html}");
        let data = html.split("id=\"data\">").nth(1).unwrap().split("</script>").next().unwrap();
        assert_eq!(serde_json::from_str::<serde_json::Value>(data).unwrap(), page.data);
    }
}
