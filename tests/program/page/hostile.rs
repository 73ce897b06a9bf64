//! Texts of documents and models that try to be more than texts.

use super::page;
use crate::support::Script;
use crate::support::counter::{DOC, INFORMAL, MODULE, bench, fenced, good_sections, review};

const HOSTILE: &str =
    "</script><script>alert(1)</script><img onerror=alert(2)>\" onload='x' \u{2028}\u{202e} {{ 7*7 }} &amp;";

#[test]
fn texts_of_documents_and_models_stay_texts() {
    let bench = bench();
    bench.write("docs/counter.md", format!("{DOC}{HOSTILE}\n"));
    let informal = format!(
        "{INFORMAL}R2 [docs/counter.md:5] {HOSTILE}\n## Assumptions\nA1 [docs/counter.md:5] (bound) {HOSTILE}\n"
    );
    let module = MODULE.replace("variables n", &format!("\\* {HOSTILE}\nvariables n"));
    let script = Script::default()
        .answer("informal_spec", 0, 1, "draft", &informal)
        .answer("formalize", 0, 1, "draft", &fenced(&module))
        .answer("generate_invariants", 0, 1, "draft", &good_sections())
        .answer("review", 0, 1, "draft", &review("approved"))
        .having_read_all();
    bench.forge(&script, &[]);
    let page = page(&bench);
    assert!(page.contains("alert(1)"), "the text is shown");
    assert_eq!(page.matches("<script").count(), 2, "only those of the frame");
    assert!(!page.contains("<img") && !page.contains("onload='x'") && !page.contains("49 &amp;"));
    assert!(!page.contains(['\u{2028}', '\u{202e}']));
    assert!(page.contains("{{ 7*7 }} &amp;amp;"), "shown as it is written");
}
