//! Specifications for checks, and assertions on every outcome.

use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use super::{Bench, Done};

pub const COUNTER: &str = "---- MODULE M ----
EXTENDS Naturals, TLC
VARIABLES x, log
vars == <<x, log>>
Init == x = 0 /\\ log = <<>>
Inc == x < 3 /\\ x' = x + 1 /\\ UNCHANGED log
Reset == x = 3 /\\ x' = 0 /\\ log' = <<\"reset\", [at |-> x]>>
Never == x > 100 /\\ UNCHANGED vars
Next == Inc \\/ Reset \\/ Never
Spec == Init /\\ [][Next]_vars /\\ WF_vars(Next)
Unfair == Init /\\ [][Next]_vars
TypeOK == x \\in 0..3
NoReset == log = <<>>
Reaches == <>(x = 3)
Stays == <>[](x = 3)
NeverBack == [][x' >= x]_vars
WitnessThree == x = 3
WitnessFour == x = 4
Few == x < 2
====
";

pub const ENDLESS: &str = "---- MODULE M ----
EXTENDS Naturals
VARIABLE x
Init == x = 0
Next == x' = x + 1
Spec == Init /\\ [][Next]_x
TypeOK == x \\in Nat
====
";

/// Two processes that send once and then wait forever.
pub const WAITING: &str = "---- MODULE M ----
EXTENDS Naturals, TLC
CONSTANT Procs
(* --algorithm Waiting
variables message = [type |-> \"none\", from |-> 0, body |-> <<1, 2>>], log = <<>>;
process P \\in Procs
begin
  Send: message := [message EXCEPT !.type = \"request (a, b |-> c)\", !.from = 1];
  Wait: await FALSE;
end process;
end algorithm; *)
====
";

/// A folder with a module and its configuration, and the tools.
pub fn bench_with(module: &str, cfg: &str) -> Bench {
    let bench = Bench::remembering();
    put(&bench, module, cfg);
    bench
}

pub fn put(bench: &Bench, module: &str, cfg: &str) {
    // A module stands in a file of its name.
    let name = module.split_once("MODULE ").and_then(|(_, rest)| rest.split_whitespace().next()).unwrap_or("M");
    bench.write("M.tla", module.replacen(&format!("MODULE {name} "), "MODULE M ", 1));
    bench.write("M.cfg", cfg);
}

pub fn text(bench: &Bench, status: i32) -> Done {
    bench.run(&["check", "M.tla", "--checker", "tlc"]).expect(status)
}

/// The object that `--format json` prints about a check by TLC, its shape asserted.
pub fn object(bench: &Bench, status: i32) -> Value {
    let done = bench.run(&["check", "M.tla", "--checker", "tlc", "--format", "json"]).expect(status);
    assert_eq!(done.stdout.lines().count(), 1, "{}", done.stdout);
    let value: Value = serde_json::from_str(&done.stdout).expect("one object of JSON");
    shape(&value);
    value
}

/// Asserts the fields that every outcome has.
#[track_caller]
pub fn shape(value: &Value) {
    assert_eq!(value["schema"], 2, "{value}");
    let verdict = value["verdict"].as_str().unwrap_or_default();
    assert!(["holds", "violated", "invalid", "inconclusive"].contains(&verdict), "{value}");
    assert_eq!(value["violated"].is_object(), verdict == "violated" || verdict == "invalid", "{value}");
    let missed = value["witnesses"].as_array().into_iter().flatten().any(|w| !w["reached"]["yes"].is_object());
    let has_reason = verdict == "invalid" || verdict == "inconclusive" || (verdict == "holds" && missed);
    assert_eq!(value["reason"].is_string(), has_reason, "{value}");
    if value["violated"].is_object() {
        let kinds = [
            "invariant",
            "property",
            "action_property",
            "deadlock",
            "no_behaviour",
            "assumption",
            "assertion",
            "evaluation",
            "parse",
        ];
        assert!(kinds.contains(&value["violated"]["kind"].as_str().unwrap_or_default()), "{value}");
        assert!(value["violated"].get("name").is_some(), "{value}");
    }
    for count in ["generated", "distinct", "depth", "left_on_queue"] {
        let count = value["statistics"].get(count).unwrap_or_else(|| panic!("{count}: {value}"));
        assert!(count.is_u64() || count.is_null(), "{value}");
    }
    assert!(value["statistics"]["seconds"].is_f64(), "{value}");
    let bounds = &value["bounds"];
    assert!(bounds["constants"].is_object() && bounds["deadlock_checked"].is_boolean(), "{value}");
    assert!(bounds["constraints"].is_array() && bounds["symmetry"].is_array(), "{value}");
    for (at, step) in value["trace"].as_array().expect("a list of steps").iter().enumerate() {
        assert_eq!(step["step"], at + 1, "{value}");
        assert!(step["action"].is_string() || step["action"].is_null(), "{value}");
        let state = step["state"].as_object().expect("a state");
        assert!(!state.is_empty() && state.values().all(Value::is_string), "{value}");
        let changed = step["changed"].as_array().expect("what changed");
        assert!(changed.iter().all(|name| state.contains_key(name.as_str().unwrap_or_default())), "{value}");
    }
    for action in value["coverage"].as_array().into_iter().flatten() {
        assert!(action["action"].is_string() && action["taken"].is_u64(), "{value}");
    }
    let note = match value["checker"].as_str() {
        Some("tlc") => Value::Null,
        Some("embedded") => "checked without SANY and TLC".into(),
        other => panic!("{other:?}"),
    };
    assert_eq!(value["note"], note, "{value}");
}

/// The steps as `action: changed variables`.
pub fn steps(value: &Value) -> Vec<String> {
    let trace = value["trace"].as_array().expect("a trace");
    let changed = |step: &Value| -> Vec<String> {
        let names = step["changed"].as_array().unwrap();
        names
            .iter()
            .map(|n| format!("{}={}", n.as_str().unwrap(), step["state"][n.as_str().unwrap()].as_str().unwrap()))
            .collect()
    };
    trace.iter().map(|s| format!("{}: {}", s["action"].as_str().unwrap_or("-"), changed(s).join(" "))).collect()
}

pub const ASSERTS: &str = "---- MODULE M ----
EXTENDS Naturals, TLC
(* --algorithm Asserts
variables x = 0;
begin
  Loop: while TRUE do
    assert x < 2;
    x := x + 1;
  end while;
end algorithm; *)
====
";

/// A bench whose `java` runs this script for checks; SANY and the version query of TLC succeed.
pub fn faking(behaviour: &str) -> Bench {
    faking_all(&format!(
        "case \"$*\" in\n  *tla2sany.SANY*) echo 'Semantic processing of module M'; exit 0 ;;\n  *tlc2.TLC*' -h') echo \
         'TLC2 Version 2.15 of a fake'; exit 1 ;;\nesac\n{behaviour}"
    ))
}

pub fn faking_all(behaviour: &str) -> Bench {
    let mut bench = Bench::without_tools();
    let java = bench.write("jre/bin/java", format!("#!/bin/sh\n{behaviour}\n"));
    std::fs::set_permissions(&java, std::fs::Permissions::from_mode(0o755)).unwrap();
    bench.write("tla2tools.jar", "a fake");
    let (home, jar) = (bench.path("jre"), bench.path("tla2tools.jar"));
    bench.set("JAVA_HOME", home.to_str().unwrap());
    bench.set("TLA_TOOLS_JAR", jar.to_str().unwrap());
    put(&bench, COUNTER, "SPECIFICATION Spec\nINVARIANT TypeOK\n\\* WITNESS WitnessThree\n");
    bench
}

/// A message of TLC as `-tool` prints it.
pub fn frame(code: u32, text: &str) -> String {
    format!("printf '%s\\n' '@!@!@STARTMSG {code}:0 @!@!@' '{text}' '@!@!@ENDMSG {code} @!@!@'\n")
}
