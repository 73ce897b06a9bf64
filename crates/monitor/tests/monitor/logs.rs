//! Logs of agents as traces: all shapes, and invalid logs.

use tlaforge_monitor::log::{
    LogError, LogSummary, Mapping, Plan, ScanOptions, Shape, States, Step, detect_shape, scan_lines, scan_list,
};
use tlaforge_temporal::{Formula, Formulas, Node};

const STRICT: ScanOptions = ScanOptions { skip_invalid: false, threads: 1 };

/// The truth of each atom (given as formulas) at each state.
fn truths(
    log: &[u8],
    shape: Shape,
    atoms: &[&str],
    options: ScanOptions,
) -> Result<(Vec<Vec<bool>>, LogSummary), LogError> {
    let mut formulas = Formulas::new();
    let parsed: Vec<Formula> = atoms.iter().map(|a| formulas.parse(a).unwrap()).collect();
    let plan = Plan::new(&Mapping::default().with_shape_defaults(shape), &formulas, &parsed, &[]);
    let read: Vec<_> = parsed
        .iter()
        .map(|f| match formulas.node(*f) {
            Node::Atom(atom) => formulas.atom(*atom).clone(),
            _ => panic!("an atom"),
        })
        .collect();
    let row = |step: &Step| read.iter().map(|atom| atom.holds(step)).collect::<Vec<bool>>();
    let mut rows = Vec::new();
    let first = log.trim_ascii_start().first();
    let found = if shape == Shape::Openai && first == Some(&b'[') {
        scan_list(log, &plan, |states, _| rows.extend(states.each().iter().map(row)))?
    } else {
        let mut input = log;
        scan_lines(
            &mut input,
            &plan,
            options,
            |all: &mut Vec<_>, states: &States, _| all.extend(states.each().iter().map(row)),
            |part| rows.extend(part),
        )?
    };
    Ok((rows, found))
}

fn columns(log: &str, shape: Shape, atoms: &[&str]) -> Vec<String> {
    let (rows, _) = truths(log.as_bytes(), shape, atoms, STRICT).unwrap();
    (0..atoms.len()).map(|a| rows.iter().map(|row| if row[a] { '1' } else { '.' }).collect()).collect()
}

#[test]
fn json_lines_are_states_with_fields() {
    let log = r#"{"ok":true,"n":3,"who":"ann","a":{"b":2},"list":[1,2]}
{"ok":"true","n":"3","a":{"b":{"c":1}},"tools":["grep","sed"],"stop":"end_turn"}

{"ok":false,"n":null,"a":7,"text":"two\nlines"}
"#;
    let atoms = [
        "ok",
        "n < 4",
        "n = \"3\"",
        "n = null",
        "who != \"bob\"",
        "a.b * 2 = 4",
        "a = 7",
        "any(list, = 1)",
        "every(list, = 1)",
        "defined(list)",
        "tool_call:sed",
        "stop_reason:end_turn",
        "text_contains:\"o\\nl\"",
        "extra:n=3",
        "extra:missing=",
        "one_of(who, \"bob\", \"ann\")",
        "contains(who, \"nn\")",
        "n / 0 > 1",
        "(n - 3) / (n - 3) = 1",
    ];
    // The second record calls two tools, so it is two states; the second state has the stop reason.
    let expected = [
        "1...", "1...", ".11.", "...1", "1...", "1...", "...1", "1...", ".111", "1...", "..1.", "..1.", "...1", "111.",
        "1111", "1...", "1...", "....", "....",
    ];
    let found = columns(log, Shape::Jsonl, &atoms);
    for ((atom, expected), found) in atoms.iter().zip(expected).zip(found) {
        assert_eq!(found, expected, "{atom}");
    }
}

#[test]
fn reads_tools_texts_and_stop_reasons_of_claude_code() {
    let log = std::fs::read_to_string("../../tests/data/claude-code/read.jsonl").unwrap();
    assert_eq!(detect_shape(log.as_bytes()), Shape::Claude);
    let found = columns(&log, Shape::Claude, &["tool_call:Read", "tool_call:Bash", "type = \"result\"", "is_error"]);
    assert!(found[0].contains('1'), "{found:?}");
    assert!(!found[1].contains('1'));
    assert!(found[2].ends_with('1'));
    assert!(!found[3].contains('1'));
}

#[test]
fn reads_openai_messages_as_lines_array_and_object() {
    let messages = [
        r#"{"role":"system","content":"be brief"}"#,
        r#"{"role":"user","content":[{"type":"text","text":"find it"}]}"#,
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"search","arguments":"{}"}}]}"#,
        r#"{"role":"tool","tool_call_id":"1","name":"search","content":"nothing"}"#,
        r#"{"role":"assistant","content":"there is nothing","finish_reason":"stop"}"#,
    ];
    let atoms =
        ["tool_call:search", "text_contains:find", "text_contains:nothing", "role = \"assistant\"", "stop_reason:stop"];
    let expected = ["..1..", ".1...", "...11", "..1.1", "....1"];
    let lines = messages.join("\n");
    let array = format!("[{}]", messages.join(",\n"));
    let object = format!("{{\n \"model\": \"m\",\n \"messages\": [{}]\n}}", messages.join(",\n"));
    for log in [&lines, &array, &object] {
        assert_eq!(detect_shape(log.as_bytes()), Shape::Openai, "{log}");
    }
    assert_eq!(columns(&lines, Shape::Openai, &atoms), expected);
    assert_eq!(columns(&array, Shape::Openai, &atoms), expected);
    let mut formulas = Formulas::new();
    let all: Vec<Formula> = atoms.iter().map(|a| formulas.parse(a).unwrap()).collect();
    let plan = Plan::new(&Mapping::default().with_shape_defaults(Shape::Openai), &formulas, &all, &[]);
    let mut states = 0;
    scan_list(object.as_bytes(), &plan, |_, _| states += 1).unwrap();
    assert_eq!(states, 5);
    // An object without a list of messages is one record.
    let mut records = 0;
    scan_list(b"{\"a\":\n []}", &plan, |_, _| records += 1).unwrap();
    assert_eq!(records, 1);
    let error = scan_list(b"[{\"role\":\"user\"},\n{\"role\" 3}]", &plan, |_, _| ()).unwrap_err().to_string();
    assert!(error.starts_with("line 2"), "{error}");
}

#[test]
fn only_responses_of_an_agentlog_are_states() {
    let log = r#"{"kind":"metadata","payload":{}}
{"kind":"chat_request","payload":{"messages":[]}}
{"kind":"chat_response","payload":{"content":[{"type":"text","text":"a"},{"type":"tool_use","name":"rm"},{"type":"text","text":"b"}],"stop_reason":"tool_use","cost":3}}
{"kind":"chat_response","payload":{"content":[],"stop_reason":"end_turn"}}
"#;
    assert_eq!(detect_shape(log.as_bytes()), Shape::Agentlog);
    let atoms = ["tool_call:rm", "text_contains:\"a\\nb\"", "stop_reason:end_turn", "cost = 3"];
    assert_eq!(columns(log, Shape::Agentlog, &atoms), ["1.", "1.", ".1", "1."]);
    let (_, found) = truths(log.as_bytes(), Shape::Agentlog, &atoms, STRICT).unwrap();
    assert_eq!((found.places.line(0), found.places.line(1), found.records), (Some(3), Some(4), 4));
}

#[test]
fn detects_a_journal_and_looks_fields_up_in_its_data() {
    let log = r#"{"v":3,"seq":1,"at":"2026-01-01T00:00:00Z","lifeline":"run","kind":"act","name":"run_started","rev":0,"attempt":0,"data":{"name":"other","draft":"single_call"}}
"#;
    assert_eq!(detect_shape(log.as_bytes()), Shape::Journal);
    let atoms = ["name = \"run_started\"", "draft = \"single_call\"", "data.name = \"other\"", "lifeline = \"run\" "];
    assert_eq!(columns(log, Shape::Journal, &atoms), ["1", "1", "1", "1"]);
}

#[test]
fn an_invalid_line_is_an_error_or_is_skipped_on_request() {
    let log = "{\"a\":true}\nhello\n{\"a\":\n{\"a\":true}\n[1]\n7\n";
    let error = truths(log.as_bytes(), Shape::Jsonl, &["a"], STRICT).unwrap_err().to_string();
    assert!(error.starts_with("line 2: not a JSON record, column 1"), "{error}");
    let lenient = ScanOptions { skip_invalid: true, threads: 1 };
    let (rows, found) = truths(log.as_bytes(), Shape::Jsonl, &["a"], lenient).unwrap();
    assert_eq!(rows, [[true], [true]]);
    assert_eq!((found.invalid_count, found.invalid[1].0), (4, 3));
    assert!(found.invalid[2].1.contains("a record is an object"), "{:?}", found.invalid);
    assert_eq!((0..2).map(|s| found.places.line(s).unwrap()).collect::<Vec<_>>(), [1, 4]);
}

#[test]
fn an_incomplete_last_line_is_left_out() {
    let (rows, found) = truths(b"{\"a\":true}\n{\"a\":tr", Shape::Jsonl, &["a"], STRICT).unwrap();
    assert_eq!((rows.len(), found.torn), (1, Some(2)));
    for empty in ["", "\n", "\u{feff}", " \r\n\n"] {
        let (rows, found) = truths(empty.as_bytes(), Shape::Jsonl, &["a"], STRICT).unwrap();
        assert_eq!((rows.len(), found.places.states(), found.torn), (0, 0, None), "{empty:?}");
    }
    let (rows, _) = truths("\u{feff}{\"a\":true}\r\n".as_bytes(), Shape::Jsonl, &["a"], STRICT).unwrap();
    assert_eq!(rows, [[true]]);
}

#[test]
fn hostile_records_are_errors_and_never_a_panic() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let nested = format!("{{\"a\":{deep}}}\n");
    let (rows, _) = truths(nested.as_bytes(), Shape::Jsonl, &["a = 1", "a.b = 1"], STRICT).unwrap_or_default();
    assert!(rows.iter().flatten().all(|holds| !holds), "a list has no value, however deep");
    let logs: [&[u8]; 3] = [b"\xff\xfe{}\n", b"{\"a\":\"\xff\"}\n", b"{\"a\":1e999}\n"];
    for log in logs {
        let error = truths(log, Shape::Jsonl, &["a = 1"], STRICT).unwrap_err().to_string();
        assert!(error.starts_with("line 1: not a JSON record"), "{error}");
    }
}

#[test]
fn the_states_do_not_depend_on_the_number_of_threads() {
    let mut log = String::new();
    for i in 0..60_000 {
        use std::fmt::Write as _;
        writeln!(log, r#"{{"n":{i},"pad":"{}"}}"#, "x".repeat(i % 300)).unwrap();
        if i % 1_000 == 0 {
            log.push('\n');
        }
    }
    assert!(log.len() > 8 << 20, "more than a block");
    let one = truths(log.as_bytes(), Shape::Jsonl, &["n >= 30000", "extra:n=777"], STRICT).unwrap();
    assert_eq!(one.0.iter().position(|row| row[0]), Some(30_000));
    for threads in [2, 5] {
        let options = ScanOptions { skip_invalid: false, threads };
        let many = truths(log.as_bytes(), Shape::Jsonl, &["n >= 30000", "extra:n=777"], options).unwrap();
        assert_eq!(one.0, many.0);
        for state in [0, 1, 999, 1_000, 31_234, 59_999] {
            assert_eq!(one.1.places.line(state), many.1.places.line(state));
        }
    }
}

#[test]
fn compares_large_integers_exactly() {
    let log = r#"{"id":1234567890123456788,"was":1234567890123456789,"big":18446744073709551615,"low":-9223372036854775808,"x":9007199254740993,"half":9007199254740992.0}"#;
    for (atom, holds) in [
        ("id = was", false),
        ("id != was", true),
        ("id < was", true),
        ("was > id", true),
        ("id <= id & id >= id & id = id", true),
        ("id = 1234567890123456788", true),
        ("id = 1234567890123456789", false),
        ("id > 1234567890123456787", true),
        ("id = \"1234567890123456788\"", false),
        ("id + 1 = was", true),
        ("was - id = 1", true),
        ("-id > -was", true),
        ("id * 2 / 2 = id", true),
        ("id / 2 < id", true),
        ("id > 1.5", true),
        ("id < 1e18", false),
        ("id < 1e19", true),
        ("big = 18446744073709551615", true),
        ("big < 18446744073709552000", true),
        ("big > 18446744073709551614", true),
        ("low < -9223372036854775807", true),
        ("low = -9223372036854775808", true),
        ("x > half", true),
        ("x = 9007199254740992", false),
        ("x - 1 = half & half + 1 = x", true),
        ("one_of(id, 1, 1234567890123456788)", true),
        ("one_of(id, 1, 1234567890123456789)", false),
        ("extra:id=1234567890123456788", true),
        ("extra:id=1234567890123456789", false),
        ("extra:low=-9223372036854775808", true),
    ] {
        // Split a conjunction into its atoms.
        let all = atom.split(" & ").all(|atom| columns(log, Shape::Jsonl, &[atom]) == ["1"]);
        assert_eq!(all, holds, "{atom}");
    }
    let mut formulas = Formulas::new();
    let formula = formulas.parse("x < 1234567890123456789 & y >= -9223372036854775807").unwrap();
    let text = formulas.text(formula);
    assert_eq!(formulas.parse(&text).unwrap(), formula, "{text}");
    let error = formulas.parse("x = 18446744073709551617").unwrap_err();
    assert!(error.to_string().contains("exactly"), "{error}");
}

#[test]
fn reports_the_first_bad_line_and_passes_on_panics() {
    let lines: Vec<String> = (1..=200_000)
        .map(|line| match line {
            70_001 | 140_000 | 199_999 => "{\"n\":}".to_owned(),
            line => format!("{{\"n\":{line},\"pad\":\"0123456789\"}}"),
        })
        .collect();
    let log = lines.join("\n");
    for threads in [1, 2, 5] {
        let options = ScanOptions { skip_invalid: false, threads };
        let error = truths(log.as_bytes(), Shape::Jsonl, &["n > 3"], options).unwrap_err();
        assert!(matches!(error, LogError::Line { line: 70_001, .. }), "{error}");
        let (rows, found) =
            truths(log.as_bytes(), Shape::Jsonl, &["n > 3"], ScanOptions { skip_invalid: true, ..options }).unwrap();
        assert_eq!((rows.len(), found.invalid_count), (199_997, 3));
        assert_eq!(found.invalid.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [70_001, 140_000, 199_999]);

        let mut formulas = Formulas::new();
        let formula = formulas.parse("n").unwrap();
        let plan = Plan::new(&Mapping::default().with_shape_defaults(Shape::Jsonl), &formulas, &[formula], &[]);
        let defect = std::panic::catch_unwind(|| {
            let fold = |(): &mut (), _: &_, line| assert!(line != 60_000, "a defect");
            scan_lines(&mut log.as_bytes(), &plan, options, fold, |()| {})
        });
        assert!(defect.is_err());
    }
}

#[test]
fn tool_results_are_text_in_every_shape() {
    let atoms = ["text_contains:secret", "text_contains:\"one\ntwo\"", "tool_call:secret"];
    let answers = [
        r#"{"type":"tool_result","content":"a secret"}"#,
        r#"{"content":[{"type":"text","text":"one"},{"type":"image","text":"secret"},{"text":"two"}],"type":"tool_result"}"#,
        r#"{"type":"tool_result","content":null},{"type":"tool_result","content":[1,{"n":2}]},{"type":"thinking","content":"secret"}"#,
    ];
    for (shape, before, after) in [
        (Shape::Claude, r#"{"type":"user","message":{"role":"user","content":["#, "]}}\n"),
        (Shape::Openai, r#"{"role":"user","content":["#, "]}\n"),
    ] {
        let log = answers.map(|answer| format!("{before}{answer}{after}")).concat();
        assert_eq!(columns(&log, shape, &atoms), ["1..", ".1.", "..."], "{shape}");
    }
}
