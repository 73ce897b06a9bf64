//! Parallel calls: each is a state with its own fields. Compares random transcripts in three shapes with a naive oracle that
//! loops over all calls.

use std::sync::atomic::{AtomicU64, Ordering};

use fastrand::Rng;
use serde_json::{Value, json};
use tlaforge_monitor::log::{Mapping, ScanOptions, Shape};
use tlaforge_monitor::trac::Reset;
use tlaforge_monitor::{AuditReport, Auditor, Policy};
use tlaforge_temporal::Formulas;

const STRICT: ScanOptions = ScanOptions { skip_invalid: false, threads: 1 };

/// A call or a text, in the order of the agent.
#[derive(Debug, Clone)]
enum Part {
    Text(String),
    Call(Call),
}

#[derive(Debug, Clone)]
struct Call {
    tool: &'static str,
    command: Option<String>,
    paths: Vec<&'static str>,
}

#[derive(Debug, Clone)]
struct Turn {
    parts: Vec<Part>,
    stop: &'static str,
}

/// A state of the oracle: a call with the text before it, or only a text.
#[derive(Debug, Clone, Default)]
struct Seen {
    call: Option<Call>,
    text: Vec<String>,
    stop: Option<&'static str>,
}

const TOOLS: [&str; 4] = ["Bash", "Read", "Write", "deploy"];
const COMMANDS: [&str; 5] = ["ls", "rm -rf /", "rm -rf ./tmp", "cat \"a b\"", "echo rm"];
const PATHS: [&str; 4] = ["/work/a", "/work/b", "/etc/passwd", "c"];
const TEXTS: [&str; 4] = ["I look.", "the secret is 7", "Done.", "line\nsecret"];

fn turn(rng: &mut Rng) -> Turn {
    let part = |rng: &mut Rng| match rng.u8(..3) {
        0 => Part::Text((*rng.choice(&TEXTS).unwrap()).to_owned()),
        _ => Part::Call(Call {
            tool: rng.choice(&TOOLS).unwrap(),
            command: (rng.u8(..4) > 0).then(|| (*rng.choice(&COMMANDS).unwrap()).to_owned()),
            paths: (0..rng.usize(..3)).map(|_| *rng.choice(&PATHS).unwrap()).collect(),
        }),
    };
    let parts = (0..rng.usize(..6)).map(|_| part(rng)).collect();
    Turn { parts, stop: rng.choice(["tool_use", "end_turn"]).unwrap() }
}

fn input(call: &Call) -> Value {
    let mut input = json!({});
    if let Some(command) = &call.command {
        input["command"] = json!(command);
    }
    if !call.paths.is_empty() {
        input["edits"] = call.paths.iter().map(|path| json!({"path": path})).collect();
    }
    input
}

/// The identifier of a call that no other call has.
fn unique_id() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("call_{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A record of Claude Code: text and calls are blocks, in order.
fn claude(turn: &Turn) -> Value {
    let block = |part: &Part| match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Call(call) => json!({"type": "tool_use", "id": unique_id(), "name": call.tool, "input": input(call)}),
    };
    let content: Value = turn.parts.iter().map(block).collect();
    json!({"type": "assistant", "session_id": "s",
           "message": {"role": "assistant", "content": content, "stop_reason": turn.stop}})
}

fn texts(turn: &Turn) -> Vec<String> {
    turn.parts.iter().filter_map(|part| if let Part::Text(text) = part { Some(text.clone()) } else { None }).collect()
}

fn calls(turn: &Turn) -> Vec<Call> {
    turn.parts.iter().filter_map(|part| if let Part::Call(call) = part { Some(call.clone()) } else { None }).collect()
}

/// A message of the `OpenAI` shape: the text is separate from the calls, whose arguments are JSON in a text.
fn openai(turn: &Turn) -> Value {
    let call = |call: Call| {
        let function = json!({"name": call.tool, "arguments": input(&call).to_string()});
        json!({"id": unique_id(), "type": "function", "function": function})
    };
    let mut message = json!({"role": "assistant", "content": texts(turn).join("\n"), "finish_reason": turn.stop});
    let calls = calls(turn);
    if !calls.is_empty() {
        message["tool_calls"] = calls.into_iter().map(call).collect();
    }
    message
}

/// A plain record: a list of calls, one call as an object, or a call with its arguments beside its name.
fn plain(turn: &Turn, rng: &mut Rng) -> Value {
    let mut record = json!({"text": texts(turn).join("\n"), "stop_reason": turn.stop});
    let mut calls = calls(turn);
    let key = *rng.choice(&["input", "arguments", "args"]).unwrap();
    match calls.len() {
        0 => {}
        1 if rng.bool() => {
            let call = calls.remove(0);
            record["tool"] = json!(call.tool);
            record[key] = if rng.bool() { input(&call) } else { json!(input(&call).to_string()) };
        }
        1 if rng.bool() => record["tool_call"] = json!({"name": calls[0].tool, key: input(&calls[0])}),
        _ => {
            record["tool_calls"] =
                calls.into_iter().map(|call| json!({"name": call.tool, key: input(&call)})).collect();
        }
    }
    record
}

/// The states of a turn, one for each call. A text that is separate from the calls precedes the first one.
fn seen(turn: &Turn, text_is_apart: bool) -> Vec<Seen> {
    let mut all: Vec<Seen> = Vec::new();
    let mut text = if text_is_apart { texts(turn) } else { Vec::new() };
    for part in &turn.parts {
        match part {
            Part::Text(more) if !text_is_apart => text.push(more.clone()),
            Part::Text(_) => {}
            Part::Call(call) => {
                all.push(Seen { call: Some(call.clone()), text: std::mem::take(&mut text), stop: None });
            }
        }
    }
    if all.is_empty() {
        all.push(Seen::default());
    }
    let last = all.last_mut().unwrap();
    last.text.append(&mut text);
    last.stop = Some(turn.stop);
    all
}

const POLICY: &str = r#"
[[rule]]
id = "no-deletion"
formula = 'G !(tool_call:Bash & contains(tool.input.command, "rm -rf"))'
[[rule]]
id = "any-deletion"
formula = 'G !(tool_call:Bash & any(tool.input.command, contains "rm -rf"))'
[[rule]]
id = "work-alone"
formula = 'G (tool_call:Write -> every(tool.input.edits.path, starts_with "/work/"))'
[[rule]]
id = "no-etc"
formula = 'G !any(tool.input.edits.path, starts_with "/etc/")'
[[rule]]
id = "read-before-write"
kind = "must_call_before"
params = { first = "Read", then = "Write" }
[[rule]]
id = "deploy-once"
kind = "must_call_once"
params = { tool = "deploy" }
[[rule]]
id = "no-bash"
kind = "no_call"
params = { tool = "Bash" }
[[rule]]
id = "no-secret-before-bash"
formula = 'G !(text_contains:secret & tool_call:Bash)'
[[rule]]
id = "no-secret"
kind = "forbidden_text"
params = { text = "secret" }
[[rule]]
id = "ends"
kind = "required_stop_reason"
params = { allowed = "end_turn" }
[[rule]]
id = "read-is-followed"
formula = 'G (tool.name = "Read" -> F tool.name = "Write")'
"#;

/// Whether each rule holds, by a loop over every call.
fn oracle(all: &[Seen]) -> Vec<bool> {
    let tool = |state: &Seen| state.call.as_ref().map(|call| call.tool);
    let command = |state: &Seen| state.call.as_ref().and_then(|call| call.command.clone()).unwrap_or_default();
    let paths = |state: &Seen| state.call.as_ref().map(|call| call.paths.clone()).unwrap_or_default();
    let says = |state: &Seen, what: &str| state.text.join("\n").contains(what);
    let (mut deletes, mut outside, mut etc, mut bash, mut told, mut told_bash) = (0, 0, 0, 0, 0, 0);
    let (mut deploys, mut has_read, mut unread_writes, mut ended, mut open_reads) = (0, false, 0, false, false);
    for state in all {
        let is = |name: &str| tool(state) == Some(name);
        deletes += usize::from(is("Bash") && command(state).contains("rm -rf"));
        outside += usize::from(is("Write") && paths(state).iter().any(|path| !path.starts_with("/work/")));
        etc += usize::from(paths(state).iter().any(|path| path.starts_with("/etc/")));
        bash += usize::from(is("Bash"));
        told += usize::from(says(state, "secret"));
        told_bash += usize::from(says(state, "secret") && is("Bash"));
        deploys += usize::from(is("deploy"));
        unread_writes += usize::from(is("Write") && !has_read);
        has_read |= is("Read");
        ended |= state.stop == Some("end_turn");
        open_reads = (open_reads || is("Read")) && !is("Write");
    }
    vec![
        deletes == 0,
        deletes == 0,
        outside == 0,
        etc == 0,
        unread_writes == 0,
        deploys == 1,
        bash == 0,
        told_bash == 0,
        told == 0,
        ended,
        !open_reads,
    ]
}

fn auditor(policy: &str, shape: Shape) -> Auditor {
    let mut formulas = Formulas::new();
    let policy = Policy::read(policy, &mut formulas).unwrap();
    Auditor::new(formulas, policy.rules, Mapping::default().with_shape_defaults(shape)).unwrap()
}

fn lines(records: &[Value]) -> String {
    records.iter().fold(String::new(), |log, record| log + &record.to_string() + "\n")
}

fn verdicts(audited: &AuditReport) -> Vec<bool> {
    audited.findings.iter().map(|finding| finding.verdict.holds()).collect()
}

#[test]
fn audits_agree_with_an_oracle_that_looks_at_every_call() {
    let auditors = [Shape::Claude, Shape::Openai, Shape::Jsonl].map(|shape| auditor(POLICY, shape));
    let count = if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { 100_000 } else { 10_000 };
    let (mut kept, mut broken, mut parallel) = (0_u64, 0_u64, 0_u64);
    for seed in 0..count {
        let mut rng = Rng::with_seed(seed);
        let turns: Vec<Turn> = (0..rng.usize(1..6)).map(|_| turn(&mut rng)).collect();
        parallel += turns.iter().map(|turn| u64::from(calls(turn).len() > 1)).sum::<u64>();
        let (shape, records): (_, Vec<Value>) = match seed % 3 {
            0 => (0, turns.iter().map(claude).collect()),
            1 => (1, turns.iter().map(openai).collect()),
            _ => (2, turns.iter().map(|turn| plain(turn, &mut rng)).collect()),
        };
        let (auditor, apart) = (&auditors[shape], shape > 0);
        let states: Vec<Seen> = turns.iter().flat_map(|turn| seen(turn, apart)).collect();
        let expected = oracle(&states);
        let log = lines(&records);
        let audited = auditor.audit_lines(&mut log.as_bytes(), STRICT, Reset::Never).unwrap();
        assert_eq!(audited.log.places.states(), states.len() as u64, "seed {seed}: {log}");
        assert_eq!(verdicts(&audited), expected, "seed {seed}: {log}");
        kept += expected.iter().filter(|holds| **holds).count() as u64;
        broken += expected.iter().filter(|holds| !**holds).count() as u64;
        if seed % 8 == 0 && apart {
            let list = auditor.audit_list(json!(records).to_string().as_bytes(), Reset::Never).unwrap();
            assert_eq!(verdicts(&list), expected, "seed {seed}, as a list: {log}");
        }
    }
    assert!(kept > count * 3 && broken > count * 3 && parallel > count, "{kept} kept, {broken} broken, {parallel}");
    println!("{count} transcripts, {parallel} turns with parallel calls: {kept} rules kept, {broken} broken");
}

/// Whether a formula holds on a log, and the number of states.
fn holds(log: &str, shape: Shape, formula: &str) -> Result<(bool, u64), String> {
    let policy = format!("[[rule]]\nid = \"it\"\nformula = '''{formula}'''\n");
    let audited = auditor(&policy, shape).audit_lines(&mut log.as_bytes(), STRICT, Reset::Never);
    let audited = audited.map_err(|error| error.to_string())?;
    Ok((verdicts(&audited)[0], audited.log.places.states()))
}

#[test]
fn a_text_belongs_to_the_call_that_follows_it_and_the_stop_reason_to_the_last() {
    let log = r#"{"type":"assistant","message":{"stop_reason":"end_turn","content":[{"type":"text","text":"one"},{"type":"tool_use","name":"a","input":{}},{"type":"text","text":"two"},{"type":"tool_use","name":"b","input":{}},{"type":"text","text":"three"}]}}"#;
    for formula in [
        "tool_call:a & text_contains:one & !text_contains:two & !stop_reason:end_turn",
        "X (tool_call:b & text_contains:two & text_contains:three & !text_contains:one & stop_reason:end_turn)",
        "tool.name = \"a\" & X tool.name = \"b\"",
    ] {
        assert_eq!(holds(log, Shape::Claude, formula), Ok((true, 2)), "{formula}");
    }
    // The order of keys does not matter: the content of a message precedes its calls.
    let calls = r#""tool_calls":[{"function":{"name":"a"}},{"function":{"name":"b"}}]"#;
    for log in [format!(r#"{{"content":"hi",{calls}}}"#), format!(r#"{{{calls},"content":[{{"text":"hi"}}]}}"#)] {
        let formula = "text_contains:hi & tool_call:a & X (!text_contains:hi & tool_call:b)";
        assert_eq!(holds(&log, Shape::Openai, formula), Ok((true, 2)), "{log}");
    }
}

#[test]
fn reads_the_arguments_of_all_forms_of_calls() {
    for (shape, call) in [
        (Shape::Openai, r#"{"function_call":{"name":"t","arguments":"{\"x\":{\"y\":7}}"}}"#),
        (Shape::Openai, r#"{"tool_calls":[{"type":"custom","custom":{"name":"t","input":"{\"x\":{\"y\":7}}"}}]}"#),
        (
            Shape::Openai,
            r#"{"choices":[{"message":{"tool_calls":[{"function":{"arguments":{"x":{"y":7}},"name":"t"}}]}}]}"#,
        ),
        (
            Shape::Claude,
            r#"{"type":"assistant","message":{"content":[{"type":"mcp_tool_use","name":"t","input":{"x":{"y":7}}}]}}"#,
        ),
        (
            Shape::Agentlog,
            r#"{"kind":"chat_response","payload":{"content":[{"type":"tool_use","name":"t","input":{"x":{"y":7}}}]}}"#,
        ),
        (Shape::Jsonl, r#"{"tool":"t","args":{"x":{"y":7}}}"#),
        (Shape::Jsonl, r#"{"arguments":"{\"x\":{\"y\":7}}","tool":"t"}"#),
        (Shape::Jsonl, r#"{"tool":{"name":"t","input":{"x":{"y":7}}}}"#),
        (Shape::Jsonl, r#"{"tools":[{"name":"t","arguments":{"x":{"y":7}}}]}"#),
    ] {
        let formula =
            "tool_call:t & tool.name = \"t\" & tool.input.x.y = 7 & any(tool.input.x.y, > 6) & defined(tool.input.x)";
        assert_eq!(holds(call, shape, formula), Ok((true, 1)), "{call}");
    }
    let text = r#"{"tool_calls":[{"function":{"name":"t","arguments":"rm {"}}]}"#;
    assert_eq!(holds(text, Shape::Openai, "contains(tool.input, \"rm\")"), Ok((true, 1)));
}

#[test]
fn a_path_through_a_list_needs_any_or_every() {
    let log = r#"{"n":1,"tags":["a","b"],"steps":[{"cmd":"ls","ok":true},{"cmd":"rm","ok":{}},{"note":1}]}"#;
    for (formula, expected) in [
        ("any(tags, = \"b\")", true),
        ("every(tags, starts_with \"a\")", false),
        ("every(tags, one_of(\"a\", \"b\", \"c\"))", true),
        ("any(steps.cmd, contains \"r\") & !any(steps.cmd, contains \"x\")", true),
        ("every(steps.cmd, != \"x\")", true),
        // An object is a value that passes no test; without values, `every` is true.
        ("every(steps.ok, = true)", false),
        ("every(steps.nothing, = true) & !any(steps.nothing, = true)", true),
        ("any(n, < 2) & every(n, = n)", true),
        ("defined(tags) & defined(steps) & !defined(rest)", true),
    ] {
        assert_eq!(holds(log, Shape::Jsonl, formula), Ok((expected, 1)), "{formula}");
    }
    for (formula, spelling) in [
        ("tags = \"a\"", "`any(tags, = \"a\")` or `every(tags, = \"a\")`"),
        ("steps.ok", "`any(steps.ok, = true)`"),
        ("one_of(steps.cmd, \"rm\", \"ls\")", "`any(steps.cmd, one_of(\"rm\", \"ls\"))`"),
        ("defined(steps.cmd)", "`any(steps.cmd, …)`"),
        ("extra:tags=a", "`any(tags, = \"a\")`"),
        ("steps.nothing + 1 = 2", "`any(steps.nothing, …)`"),
        ("n = 1 & any(n, = tags)", "`any(tags, …)`"),
    ] {
        let error = holds(log, Shape::Jsonl, formula).unwrap_err();
        assert!(error.starts_with("line 1: the path `") && error.contains(spelling), "{formula}: {error}");
    }
    // Other records can have a single value there; the first list is an error.
    let error = holds("{\"tags\":\"a\"}\n{\"tags\":[]}\n", Shape::Jsonl, "G tags = \"a\"").unwrap_err();
    assert!(error.starts_with("line 2: "), "{error}");
}

#[test]
fn causal_rules_see_an_event_with_all_its_calls() {
    let rule = |formula: &str| {
        format!(
            "[[rule]]\nid = \"it\"\nowner = \"dev\"\nformula = '''{formula}'''\n[[rule]]\nid = \"trace\"\nformula = 'G !tool_call:b'\n"
        )
    };
    let log = "{\"who\":\"dev\",\"tools\":[{\"name\":\"a\",\"input\":{\"x\":1}},{\"name\":\"b\",\"input\":{\"x\":2}}]}\n{\"who\":\"dev\"}\n";
    let audit = |formula: &str| {
        let mut formulas = Formulas::new();
        let policy = Policy::read(&rule(formula), &mut formulas).unwrap();
        let mapping =
            Mapping { lifeline: Some("who".to_owned()), ..Mapping::default() }.with_shape_defaults(Shape::Jsonl);
        let auditor = Auditor::new(formulas, policy.rules, mapping).map_err(|error| error.to_string())?;
        auditor.audit_lines(&mut log.as_bytes(), STRICT, Reset::Never).map_err(|error| error.to_string())
    };
    let audited =
        audit("tool_call:a & tool_call:b & any(tool.input.x, = 1) & any(tool.input.x, = 2) | Y tool_call:b").unwrap();
    assert_eq!((verdicts(&audited), audited.findings[0].evaluated), (vec![true, false], Some(2)));
    assert_eq!((audited.findings[1].decided_at, audited.log.places.states()), (Some(1), 3));
    let error = audit("!(tool.input.x = 2)").unwrap_err();
    assert!(error.contains("any(tool.input.x, = 2)"), "{error}");
}

#[test]
fn merges_a_call_that_a_record_states_twice() {
    let once = "F tool_call:t & G (tool_call:t -> N G !tool_call:t)";
    for (record, states) in [
        (r#"{"tool":"t","tool_calls":[{"name":"t","input":{"x":1}}]}"#, 1),
        (r#"{"tool_calls":[{"name":"t","input":{"x":1}},{"name":"u"}],"tools":["t","u"],"tool":"u"}"#, 2),
        (r#"{"tool":{"name":"t","arguments":"{\"x\":1}"},"tool_calls":[{"name":"t","input":{"x":1}}]}"#, 1),
    ] {
        assert_eq!(holds(record, Shape::Jsonl, once), Ok((true, states)), "{record}");
        assert_eq!(holds(record, Shape::Jsonl, "F (tool_call:t & tool.input.x = 1)"), Ok((true, states)), "{record}");
    }
    for record in [
        r#"{"tool":{"name":"t","input":{"x":2}},"tool_calls":[{"name":"t","input":{"x":1}}]}"#,
        r#"{"tools":["t","t"],"tool":"t"}"#,
        r#"{"tool_calls":[{"name":"t","input":{"x":1}},{"name":"t","input":{"x":1}}],"tool":"t"}"#,
    ] {
        assert_eq!(holds(record, Shape::Jsonl, once), Ok((false, 2)), "{record}");
    }
}

#[test]
fn with_a_reset_each_call_is_counted() {
    let policy = "[[rule]]\nid = \"it\"\nformula = 'G !tool_call:Bash'\n";
    for seed in 0..200 {
        let mut rng = Rng::with_seed(seed);
        let turns: Vec<Turn> = (0..rng.usize(1..6)).map(|_| turn(&mut rng)).collect();
        let log = lines(&turns.iter().map(claude).collect::<Vec<_>>());
        let audited =
            auditor(policy, Shape::Claude).audit_lines(&mut log.as_bytes(), STRICT, Reset::AfterVerdict).unwrap();
        let calls = turns.iter().flat_map(calls).filter(|call| call.tool == "Bash").count() as u64;
        assert_eq!(audited.findings[0].violations, calls, "seed {seed}: {log}");
    }
}

#[test]
fn warns_about_fields_that_never_have_a_value() {
    let warnings = |log: &str, shape: Shape, formula: &str| {
        let policy = format!("[[rule]]\nid = \"it\"\nformula = '{formula}'\n");
        let audited = auditor(&policy, shape).audit_lines(&mut log.as_bytes(), STRICT, Reset::Never).unwrap();
        audited.findings[0].warnings.clone()
    };
    let log = r#"{"type":"user","message":{"content":[{"type":"text","text":"a secret"}]}}"#;
    let found = warnings(log, Shape::Claude, "G !any(message.content, contains \"secret\")");
    assert!(found[0].contains("`message.content` is always an object or an empty list"), "{found:?}");
    assert_eq!(warnings(log, Shape::Claude, "G defined(message.content)"), Vec::<String>::new());
    let error = holds(log, Shape::Claude, "G !contains(content, \"secret\")").unwrap_err();
    assert!(error.contains("text_contains:"), "{error}");
}

#[test]
fn finds_nested_legacy_and_plain_calls() {
    let used = r#"{"type":"tool_use","name":"t","input":{"x":7}}"#;
    let nested = [
        format!(r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","content":[{used}]}}]}}}}"#),
        format!(r#"{{"type":"user","message":{{"content":[{{"content":[[{used}]],"type":"tool_result"}}]}}}}"#),
        format!(r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","content":{used}}}]}}}}"#),
        format!(r#"{{"type":"assistant","message":{{"content":[[{used}]]}}}}"#),
        format!(
            r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","content":[{{"type":"tool_result","content":[{used}]}}]}}]}}}}"#
        ),
        r#"{"type":"assistant","message":{"content":[{"type":"tool_use","name":"t","parameters":{"x":7}}]}}"#
            .to_owned(),
    ];
    let nested = nested.iter().map(|log| (Shape::Claude, log.as_str()));
    let plain = [
        r#"{"name":"t","parameters":{"x":7}}"#,
        r#"{"name":"t","arguments":"{\"x\":7}"}"#,
        r#"{"tool":{"name":"t","parameters":{"x":7}}}"#,
        r#"{"tool":"t","parameters":{"x":7}}"#,
        r#"{"function_call":{"name":"t","arguments":"{\"x\":7}"}}"#,
    ];
    for (shape, log) in nested.chain(plain.map(|log| (Shape::Jsonl, log))) {
        let formula = "tool_call:t & tool.name = \"t\" & tool.input.x = 7";
        assert_eq!(holds(log, shape, formula), Ok((true, 1)), "{log}");
        assert_eq!(holds(log, shape, "tool_call:t"), Ok((true, 1)), "{log}");
    }
    // Data in a tool result, and names of other things, are not calls.
    let data = r#"{"type":"user","message":{"content":[{"type":"tool_result","content":[{"name":"t"},"t"]}]}}"#;
    assert_eq!(holds(data, Shape::Claude, "tool_call:t"), Ok((false, 1)));
    assert_eq!(holds(r#"{"name":"t","input":{}}"#, Shape::Jsonl, "tool_call:t"), Ok((false, 1)));
    let record = r#"{"role":"assistant","function_call":{"name":"t","arguments":"{}"}}"#;
    assert_eq!(tlaforge_monitor::log::detect_shape(record.as_bytes()), Shape::Openai);
}
