//! Compares a record on a line of its own with the same record in a list: on random records, valid and damaged, both are
//! read the same or both fail.

use fastrand::Rng;
use serde::de::IgnoredAny;
use tlaforge_monitor::log::{Mapping, Plan, Shape, scan_list};
use tlaforge_temporal::Formulas;

const WANTED: &str =
    r#"a & b.c = 1 & d != "x" & extra:k=v & tool_call:grep & text_contains:hi & stop_reason:end & id < 3"#;

/// A plan that reads values in lists and arguments of calls.
const LISTED: &str = r#"any(b.c, = 1) & every(content.text, != "a") & any(d, > 2) & tool.input.k = "v" & any(tool.input.a.b, < 3)
    & tool.name = "grep" & defined(function) & tool_call:a"#;

fn plan(shape: Shape, wanted: &str) -> Plan {
    let mut formulas = Formulas::new();
    let formula = formulas.parse(wanted).unwrap();
    Plan::new(&Mapping::default().with_shape_defaults(shape), &formulas, &[formula], &[])
}

fn space(rng: &mut Rng, out: &mut Vec<u8>) {
    if rng.u8(..8) == 0 {
        out.extend_from_slice(rng.choice([&b" "[..], b"\t", b"  ", b"\r"]).unwrap());
    }
}

fn text(rng: &mut Rng, out: &mut Vec<u8>) {
    let words = [
        "a",
        "b",
        "c",
        "d",
        "k",
        "id",
        "extra",
        "type",
        "name",
        "text",
        "function",
        "content",
        "tool_use",
        "tool_calls",
        "message",
        "payload",
        "choices",
        "stop_reason",
        "kind",
        "chat_response",
        "hi there, this is a longer text",
        "é",
        "日本",
        "\\n",
        "\\\\",
        "\\\"",
        "\\u00e9",
        "\\ud83d\\ude00",
        "\\ud800",
        "\\/",
        "",
    ];
    out.push(b'"');
    for _ in 0..if rng.u8(..4) == 0 { rng.usize(..4) } else { 1 } {
        out.extend_from_slice(rng.choice(words).unwrap().as_bytes());
    }
    out.push(b'"');
}

fn value(rng: &mut Rng, depth: u32, out: &mut Vec<u8>) {
    let numbers = [
        "0",
        "-0",
        "1",
        "-1",
        "3.5",
        "-2.5e3",
        "1e2",
        "1E-2",
        "01",
        "1.",
        ".5",
        "-",
        "1e",
        "1e999",
        "99999999999999999",
        "123456789012345678",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775808",
        "9007199254740993",
    ];
    space(rng, out);
    match rng.u8(..if depth == 0 { 7 } else { 11 }) {
        0..3 => text(rng, out),
        3 | 4 => {
            // The first ones are the most frequent.
            let some = if rng.u8(..9) == 0 { numbers.len() } else { 8 };
            out.extend_from_slice(numbers[rng.usize(..some)].as_bytes());
        }
        5 | 6 => out.extend_from_slice(rng.choice(["true", "false", "null"]).unwrap().as_bytes()),
        7 | 8 => {
            out.push(b'[');
            for i in 0..rng.u8(..4) {
                if i > 0 {
                    out.push(b',');
                }
                value(rng, depth - 1, out);
            }
            space(rng, out);
            out.push(b']');
        }
        _ => object(rng, depth - 1, out),
    }
    space(rng, out);
}

fn object(rng: &mut Rng, depth: u32, out: &mut Vec<u8>) {
    out.push(b'{');
    for i in 0..rng.u8(..6) {
        if i > 0 {
            out.push(b',');
        }
        space(rng, out);
        text(rng, out);
        space(rng, out);
        out.push(b':');
        value(rng, depth, out);
    }
    space(rng, out);
    out.push(b'}');
}

fn damage(rng: &mut Rng, line: &mut Vec<u8>) {
    let at = rng.usize(..=line.len());
    let byte = match rng.u8(..4) {
        0 => rng.u8(..),
        _ => *rng.choice(br#"{}[]",:\0u1-.e tfn"#).unwrap(),
    };
    match rng.u8(..5) {
        0 => line.truncate(at),
        1 => line.insert(at, byte),
        2 if at < line.len() => _ = line.remove(at),
        3 if at < line.len() => line[at] = byte,
        _ => {
            let from = rng.usize(..=at);
            let again = line[from..at].to_vec();
            line.splice(at..at, again);
        }
    }
}

#[test]
fn a_record_is_read_as_in_a_list() {
    let plans = [WANTED, LISTED].map(|wanted| Shape::ALL.map(|shape| plan(shape, wanted))).concat();
    let rounds = if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { 2_000_000 } else { 200_000 };
    let mut rng = Rng::with_seed(6);
    let (mut read, mut broken) = (0, 0);
    for round in 0..rounds {
        let plan = rng.choice(&plans).unwrap();
        let mut line = Vec::new();
        space(&mut rng, &mut line);
        object(&mut rng, 4, &mut line);
        space(&mut rng, &mut line);
        for _ in 0..rng.u8(..3) {
            damage(&mut rng, &mut line);
        }
        if std::str::from_utf8(&line).is_err() {
            // A line may have such bytes where nothing is read; a list is an error as a whole.
            continue;
        }
        let shown = || format!("round {round}: {}", String::from_utf8_lossy(&line));
        let mut ours = plan.new_states();
        let answer = plan.read(&line, &mut ours);

        let mut theirs = None;
        let list = [b"[", &line[..], b"]"].concat();
        let found = scan_list(&list, plan, |states, _| theirs = Some(states.each().to_vec()));
        let is_record = line.trim_ascii_start().starts_with(b"{")
            && found.is_ok()
            && serde_json::from_slice::<IgnoredAny>(&line).is_ok();
        match answer {
            Ok(is_state) => {
                read += 1;
                assert!(is_record, "{} is no record", shown());
                assert_eq!(is_state.then_some(ours.each().to_vec()), theirs, "{}", shown());
            }
            Err(error) => {
                broken += 1;
                assert!(!is_record, "{}: {error}", shown());
            }
        }
    }
    assert!(read > rounds / 4 && broken > rounds / 4, "{read} read, {broken} broken");
}

#[test]
fn deeply_nested_records_do_not_overflow_the_stack() {
    let plan = plan(Shape::Jsonl, "any(extra.k, = 1) & d");
    let nested = |key: &str, depth: usize| {
        format!(r#"{{"{key}":{}{},"d":"y"}}"#, "[".repeat(depth), "]".repeat(depth)).into_bytes()
    };
    for (key, depth, reads) in [
        ("z", 63, true),
        ("z", 64, true),
        ("z", 65, true),
        ("z", 100_000, true),
        ("extra", 60, true),
        ("extra", 70, true),
        ("extra", 100_000, false),
    ] {
        let mut states = plan.new_states();
        let answer = plan.read(&nested(key, depth), &mut states);
        assert_eq!(answer.is_ok(), reads, "{key} {depth}");
        if reads {
            assert_eq!(states.whole().text_of("d").as_deref(), Some("y"), "{key} {depth}");
        }
    }
}
