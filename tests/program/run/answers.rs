//! Answers in the forms that models really give: wrapped, repeated, escaped, cut. Unambiguous ones read back the same; all
//! others are rejected with the place of the error.

use proptest::prelude::*;
use tlaforge::prompt::{extract_json_object, extract_module, extract_sections, split_answer};

/// The lines of a module: operators, strings, an algorithm in its comment, banners that look like ends.
fn body() -> impl Strategy<Value = Vec<String>> {
    let line = prop::sample::select(vec![
        "x == 1 + y",
        "P == \\A p \\in S : p # q",
        "Q == x = \"done\" /\\ y' = x",
        "\\* a remark: it's \"so\"",
        "(*\n==========\n Title\n==========\n*)",
        "(* (* nested *)\n----------\n*)",
        "VARIABLE pc",
        "---- MODULE Inner ----\nz == 2\n====",
        "",
        "    /\\ b \\in BOOLEAN",
    ]);
    prop::collection::vec(line.prop_map(str::to_owned), 0..8)
}

/// With operators that HTML escapes.
fn operators() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "R == [i \\in 1..2 |-> i]",
        "T == x <= 2 => y > 1",
        "U == <<1, \"a\">>",
        "(* --algorithm A\nvariables n = 0;\nbegin\n  Add: while n < 2 do n := n + 1; end while;\nend algorithm; *)",
        "V == P ~> Q \\* with <angles> & more",
    ]);
    line.prop_map(str::to_owned)
}

fn text(name: &str, lines: &[String]) -> String {
    let lines = lines.iter().fold(String::new(), |all, line| all + line + "\n");
    format!("---- MODULE {name} ----\n{lines}====\n")
}

fn chatter() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "Here it is.",
        "It uses `---- MODULE Spec ----` as asked.",
        "```tla``` is how it is fenced.",
        "The set {a, b} stays; it's \"small\" & <fine>.",
        "- a point",
        "",
        "    ==== is how it ends",
    ]);
    prop::collection::vec(line, 0..4).prop_map(|lines| lines.iter().fold(String::new(), |all, l| all + l + "\n"))
}

fn fence() -> impl Strategy<Value = (String, String)> {
    let marks = prop::sample::select(vec!["```", "````", "~~~"]);
    let info = prop::sample::select(vec!["tla", "TLA+", "", " pluscal"]);
    (marks, info).prop_map(|(mark, info)| (format!("{mark}{info}\n"), format!("{mark}\n")))
}

/// What happens to line ends and marks on the way.
fn encoding() -> impl Strategy<Value = (bool, bool)> {
    (any::<bool>(), any::<bool>())
}

fn encoded(text: &str, (bom, crlf): (bool, bool)) -> String {
    let text = if crlf { text.replace('\n', "\r\n") } else { text.to_owned() };
    if bom { format!("\u{feff}{text}") } else { text }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn a_module_reads_back_the_same_in_any_wrapping(
        lines in body(), more in operators(), before in chatter(), after in chatter(), (open, close) in fence(),
        encoding in encoding(), twice in any::<bool>(),
    ) {
        let lines = [lines, vec![more]].concat();
        let module_text = text("Spec", &lines);
        let one = format!("{open}{module_text}{close}");
        let all = if twice { format!("{before}{one}{after}{one}") } else { format!("{before}{one}{after}") };
        let read = extract_module(&encoded(&all, encoding), "Spec").map_err(|p| TestCaseError::fail(p.what))?;
        prop_assert_eq!(&read.value, &module_text);
        prop_assert_eq!(read.normalised.is_empty(), encoding == (false, false) && !twice);
        // And what was read is read as it stands.
        let again = extract_module(&read.value, "Spec").map_err(|p| TestCaseError::fail(p.what))?;
        prop_assert_eq!(again.value, module_text);
    }

    #[test]
    fn an_escaped_module_reads_back_the_same_with_a_note(
        lines in body(), more in operators(), before in chatter(), (open, close) in fence(), encoding in encoding(),
    ) {
        let module_text = text("Spec", &[lines, vec![more]].concat());
        let all = format!("{before}{open}{}{close}", escaped(&module_text));
        let read = extract_module(&encoded(&all, encoding), "Spec").map_err(|p| TestCaseError::fail(p.what))?;
        prop_assert_eq!(read.value, module_text);
        prop_assert!(read.normalised.iter().any(|n| n == "HTML entities"));
    }

    #[test]
    fn a_half_escaped_module_is_rejected_with_the_place(lines in body(), one in operators(), two in operators()) {
        let all = text("Spec", &[lines, vec![escaped(&one), two]].concat());
        let problem = extract_module(&all, "Spec").unwrap_err().what;
        prop_assert!(problem.contains("it holds both") && problem.contains("in the line"), "{}", problem);
    }

    #[test]
    fn two_different_modules_are_rejected_by_name(
        lines in body(), before in chatter(), between in chatter(), (open, close) in fence(), other in any::<bool>(),
        how in 0..3,
    ) {
        let one = text("Spec", &lines);
        let changed = [lines.clone(), vec!["New == 77".to_owned()]].concat();
        let two = if other { text("Other", &lines) } else { text("Spec", &changed) };
        let all = match how {
            0 => format!("{before}{open}{one}{close}{between}{open}{two}{close}"),
            1 => format!("{before}{open}{one}{two}{close}"),
            _ => format!("{one}\n{two}"),
        };
        let problem = extract_module(&all, "Spec").unwrap_err().what;
        let named: &[&str] = if other { &["Spec", "Other"] } else { &["different modules named Spec", "New == 77"] };
        prop_assert!(named.iter().all(|n| problem.contains(n)), "{}\n{}", problem, all);
    }

    #[test]
    fn a_truncated_module_is_refused(lines in body(), more in operators(), (open, _) in fence(), cut in 0.0..1.0f64) {
        let module_text = text("Spec", &[lines, vec![more]].concat());
        // Behind the header, and before the terminator is whole.
        let (from, to) = (module_text.find('\n').unwrap() + 1, module_text.len() - 2);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a place")]
        let at = from + ((to - from) as f64 * cut) as usize;
        for all in [module_text[..at].to_owned(), format!("{open}{}", &module_text[..at])] {
            let problem = extract_module(&all, "Spec").unwrap_err().what;
            prop_assert!(problem.contains("breaks off after"), "{}\n{}", problem, all);
        }
    }

    #[test]
    fn sections_read_back_the_same_in_any_wrapping(
        one in operators(), before in chatter(), between in chatter(), encoding in encoding(), escape in any::<bool>(),
        wrapped in any::<bool>(),
    ) {
        let bodies = [format!("TypeOK == x\n{one}\n"), "L == P ~> Q\n".into(), "W == x > 1\n".into(), "CONSTANT Max <- Two\n".into()];
        let names = ["tla invariants", "tla properties", "tla witnesses", "cfg"];
        let fenced = |(name, body): (&str, &String)| {
            let body = if escape { escaped(body) } else { body.clone() };
            format!("```{name}\n{body}```\n{between}")
        };
        let all = format!("{before}{}", names.into_iter().zip(&bodies).map(fenced).collect::<String>());
        let all = if wrapped { format!("`````markdown\n{all}`````\n") } else { all };
        let read = extract_sections(&encoded(&all, encoding)).map_err(|p| TestCaseError::fail(p.what))?;
        let value = [read.value.invariants, read.value.properties, read.value.witnesses, read.value.cfg];
        prop_assert_eq!(value, bodies);
        prop_assert_eq!(read.normalised.is_empty(), encoding == (false, false) && !escape && !wrapped);
    }

    #[test]
    fn an_object_reads_back_the_same_in_any_wrapping(
        words in "[a-zA-Z{}<>&` ]{0,20}", n in 0..1000u32, before in chatter(), after in chatter(), (open, close) in fence(),
        encoding in encoding(), bare in any::<bool>(),
    ) {
        let value = serde_json::json!({"verdict": words, "issues": [{"n": n}], "flaw": null});
        let json = format!("{value:#}\n");
        let all = if bare { format!("{before}{json}{after}") } else { format!("{before}{open}{json}{close}{after}") };
        let read = extract_json_object(&encoded(&all, encoding)).map_err(|p| TestCaseError::fail(p.what))?;
        prop_assert_eq!(read.value, value);
        prop_assert_eq!(read.normalised.is_empty(), encoding == (false, false) && !bare);
    }

    #[test]
    fn no_answer_makes_a_reader_panic(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "```", "````tla\n", "~~~", "\n", "---- MODULE Spec ----\n", "====\n", "(*", "*)", "\"", "“", "”", "’", "&lt;", "<",
            "\u{feff}", "\r\n", "\\*", "{\"", "}", "{", "invariants\n", "cfg", "informal_spec\n", "R1 [a.md:1] x\n", "ä",
        ]), 0..60),
    ) {
        let all = pieces.concat();
        let _ = (extract_module(&all, "Spec"), extract_sections(&all), extract_json_object(&all), split_answer(&all));
    }
}

#[test]
fn a_second_module_after_the_first_is_never_ignored() {
    let (one, two) = (text("Spec", &["x == 1".into()]), text("Spec", &["x == 2".into()]));
    for all in
        [format!("```tla\n{one}{two}```\n"), format!("{one}{two}"), format!("{one}Corrected:\n```tla\n{two}```\n")]
    {
        let problem = extract_module(&all, "Spec").unwrap_err().what;
        assert!(problem.contains("\"x == 1\"") && problem.contains("\"x == 2\""), "{all}\n{problem}");
    }
}

#[test]
fn a_banner_in_a_comment_is_no_terminator_and_an_unclosed_comment_is_quoted() {
    let banner = "---- MODULE Spec ----\n(*\n=====\n Title\n=====\n*)\nx == 1\n====\n";
    assert_eq!(extract_module(banner, "Spec").unwrap().value, banner);
    let open = banner.replace("*)\n", "");
    let problem = extract_module(&open, "Spec").unwrap_err().what;
    assert!(problem.contains("the comment that begins \"(*\" does not end"), "{problem}");
}

#[test]
fn an_object_inside_a_broken_one_is_not_extracted() {
    for (all, expected) in [
        ("{\"verdict\": \"revise\", \"draft\": {\"verdict\": \"approved\", \"issues\": []}, ", "cannot be read"),
        ("{\"a\": 1}\nOr rather:\n{\"a\": 2}", "2 JSON objects"),
        ("I think {\"a\": 1, \"b\" 2} is it", "in the line \"{\"a\": 1, \"b\" 2}\""),
        ("{“verdict”: \"revise\"}", "cannot be read"),
    ] {
        let problem = extract_json_object(all).unwrap_err().what;
        assert!(problem.contains(expected), "{all}: {problem}");
    }
    let curly = extract_json_object("{“verdict”: “revise”, “issues”: []}").unwrap();
    assert_eq!(curly.value["verdict"], "revise");
    assert!(curly.normalised.iter().any(|n| n == "typographic quotes"));
}

#[test]
fn two_megabytes_of_text_are_read_quickly() {
    let begun = std::time::Instant::now();
    for piece in [
        "---- MODULE Spec ----\n(* --algorithm\n====\n",
        "```tla\n",
        "{\"a\": ",
        "(* ",
        "“x” &lt; y\n",
        "= \"\n",
        "“x” ",
        "x’ ",
        "\"x\" “x” ",
    ] {
        let all = piece.repeat((2 << 20) / piece.len());
        let module_text = format!("---- MODULE Spec ----\n{all}====\n");
        let _ = (
            extract_module(&all, "Spec"),
            extract_module(&module_text, "Spec"),
            extract_sections(&all),
            extract_json_object(&all),
            split_answer(&all),
        );
    }
    // Minutes: what is not linear takes hours.
    assert!(begun.elapsed().as_secs() < 600, "{:?}", begun.elapsed());
}
