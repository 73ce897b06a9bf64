//! What is compared with what: steps with the next-state relation, values with values, and orders that are none.

use std::fs;
use std::process::Command;

use crate::support::PROGRAM;

const MODULE: &str = "---- MODULE M ----
EXTENDS Integers, Sequences
VARIABLES x, y
vars == <<x, y>>
Init == x = 0 /\\ y = 0
Inc == x < 3 /\\ x' = x + 1 /\\ UNCHANGED y
Set(v) == y' = v /\\ UNCHANGED x
Both == x' \\in {1, 2} /\\ y' = x'
Endless(n) == x' = n + 1 /\\ UNCHANGED y
Next == Inc \\/ Both \\/ \\E v \\in 1..3 : Set(v)
Spec == Init /\\ [][Next]_vars
Partial == y = 0 \\/ x + \"a\" = 1
====
";

/// The exit status and all output of a comparison of these files' logs, by name.
fn conform(module: &str, cfg: &str, map: &str, logs: &[(&str, &str)]) -> (i32, String) {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("M.tla", module);
    write("M.cfg", &format!("SPECIFICATION Spec\n{cfg}"));
    write("conform.toml", map);
    for (name, text) in logs {
        write(name, text);
    }
    let mut command = Command::new(PROGRAM);
    command.current_dir(folder.path()).args(["conform", "M.tla"]).args(logs.iter().map(|(name, _)| name));
    let ended = command.output().unwrap();
    let output = String::from_utf8_lossy(&ended.stdout).into_owned() + &String::from_utf8_lossy(&ended.stderr);
    (ended.status.code().unwrap(), output)
}

fn fields(more: &str, names: &[&str]) -> String {
    names.iter().fold(format!("{more}\n[fields]\n"), |map, name| format!("{map}{name} = \"$.{name}\"\n"))
}

fn event(name: &str, keys: &str) -> String {
    format!("[[event]]\nname = \"{name}\"\nwhen = {{ a = \"{name}\" }}\n{keys}\n")
}

#[test]
fn a_step_has_to_be_one_of_the_specification() {
    let map = fields("", &["a", "v"]) + &event("set", "steps = [\"Set(e.v)\"]\nafter = { y = \"v\" }");
    let (status, output) = conform(MODULE, "", &map, &[("l", "{\"a\": \"set\", \"v\": 2}")]);
    assert_eq!(status, 0, "{output}");
    let (status, output) = conform(MODULE, "", &map, &[("l", "{\"a\": \"set\", \"v\": 9}")]);
    assert!(
        status == 1 && output.contains("the next-state relation of the specification does not allow it"),
        "{output}"
    );
    // A hidden step has to be one, too.
    let map = map + "[hidden]\nsteps = [\"x' = x + 1 /\\\\ y' = 7\"]\n";
    let map = map.replace("after = { y = \"v\" }", "before = { y = \"v\" }");
    let (status, output) = conform(MODULE, "", &map, &[("l", "{\"a\": \"set\", \"v\": 7}")]);
    assert_eq!(status, 1, "{output}");
}

#[test]
fn values_are_compared_as_the_map_says() {
    for (rule, log, status, wanted) in [
        // Several observations hold in one next state, or not at all.
        ("x = \"$.x\"\ny = \"$.y\"", "{\"x\": 1, \"y\": 2}", 1, "no next state has all logged values at once"),
        ("x = \"$.x\"\ny = \"$.y\"", "{\"x\": 2, \"y\": 2}", 0, "conforms"),
        (
            "x = \"$.X\"\ny = \"$.y\"",
            "{\"x\": 7, \"y\": 2}",
            0,
            "observations of which no line has the field: x after any",
        ),
        ("x = { path = \"$.x\", values = \"t\" }\ny = \"$.y\"", "{\"x\": 7, \"y\": 2}", 0, "conforms"),
        (
            "x = { path = \"$.x\", values = \"t\" }\ny = \"$.y\"",
            "{\"x\": 8, \"y\": 2}",
            2,
            "l:1: the field `x`: [values.t] has no value for 8",
        ),
        ("x = { path = \"$.x\", as = \"tla\" }\ny = \"$.y\"", "{\"x\": \"1 + 1\", \"y\": 2}", 0, "conforms"),
        (
            "x = { path = \"$.x\", as = \"tla\" }\ny = \"$.y\"",
            "{\"x\": \"1 +\", \"y\": 2}",
            2,
            "the field `x` of l:1 (`1 +`)",
        ),
        (
            "x = { path = \"$.x\", as = \"tla\" }\ny = \"$.y\"",
            "{\"x\": \"\", \"y\": 2}",
            2,
            "l:1: the field `x`: `` is empty",
        ),
    ] {
        let map = format!(
            "[fields]\n{rule}\n[values.t]\n7 = \"2\"\n[[event]]\nname = \"any\"\nsteps = [\"Both\"]\nafter = {{ x = \"x\", y = \"y\" }}\n"
        );
        let (found, output) = conform(MODULE, "", &map, &[("l", log)]);
        assert!(found == status && output.contains(wanted), "{rule} {log}: {found} {output}");
    }
    // The items of a list.
    let map = "[fields]\nall = { path = \"$.w[*]\", values = \"t\", several = \"all\" }\n[values.t]\none = \"1\"\n\
               [[event]]\nname = \"any\"\nsteps = [\"Both\"]\nafter = { \"<<x, y>>\" = \"all\" }\n";
    let (status, output) = conform(MODULE, "", map, &[("l", "{\"w\": [\"one\", \"one\"]}")]);
    assert_eq!(status, 0, "{output}");
}

#[test]
fn an_expression_is_one_expression_and_its_lines_keep_their_columns() {
    // The second conjunct is not a part of ELSE.
    let steps = "steps = ['''\n    /\\ IF x = 0 THEN x' = 1 /\\ y' = 1 ELSE UNCHANGED vars\n    /\\ x > 100''']";
    let (status, output) = conform(MODULE, "", &(fields("", &["a"]) + &event("s", steps)), &[("l", "{\"a\": \"s\"}")]);
    assert!(status == 1 && output.contains("the condition `x > 100` is false"), "{output}");
    // A line break in a log begins no line of the report.
    let map = fields("", &["y"]) + "[[event]]\nname = \"s\"\nsteps = [\"Inc\"]\nafter = { y = \"y\" }\n";
    let (status, output) = conform(MODULE, "", &map, &[("l", "{\"y\": \"a\\nconforms: b\"}")]);
    assert!(status == 1 && !output.contains("\nconforms: "), "{output}");
    for (keys, wanted) in [
        ("steps = [\"\"]", "is empty"),
        ("steps = [\"Inc\\nFoo == 1\"]", "is not one expression"),
        ("steps = [\"Inc\\n====\"]", "is not one expression"),
        ("steps = [\"Set(e.zz)\"]", "names the field `zz`, and [fields] has none"),
        ("steps = [\"Inc\"]\nafter = { \"x'\" = \"a\" }", "has a prime"),
        ("steps = [\"Inc\"]\nwhen = { b = 2020-01-01 }", "conform.toml: "),
    ] {
        let map = fields("", &["a", "b"]) + &format!("[[event]]\nname = \"s\"\n{keys}\n");
        let (status, output) = conform(MODULE, "", &map, &[("l", "{\"a\": \"s\"}")]);
        assert!(status == 2 && output.contains(wanted), "{keys}: {status} {output}");
    }
    // A specification with a name of its own for what the map calls `e`.
    let module = MODULE.replace("vars ==", "e == 1\nvars ==");
    let map = |event: &str| {
        format!(
            "[log]\nevent = \"{event}\"\n[fields]\nv = \"$.v\"\n[[event]]\nname = \"s\"\nsteps = [\"Set({event}.v)\"]\n"
        )
    };
    assert_eq!(conform(&module, "", &map("ev"), &[("l", "{\"v\": 1}")]).0, 0);
    let (status, output) = conform(&module, "", &map("e"), &[("l", "{\"v\": 1}")]);
    assert!(status == 2 && output.contains("already the name"), "{output}");
}

#[test]
fn what_cannot_be_evaluated_is_undecided() {
    let map = fields("", &["a", "x"])
        + &event("any", "steps = [\"Inc\", \"Set(2)\"]\nafter = { x = \"x\" }")
        + &event("loop", "steps = [\"LET f[n \\\\in Int] == f[n + 1] IN Inc /\\\\ f[0] = 1\"]");
    // The invariant fails only on a way that does not explain the log.
    let log = "{\"a\": \"any\"}\n{\"a\": \"any\", \"x\": 2}";
    let (status, output) = conform(MODULE, "INVARIANT Partial\n", &map, &[("l", log)]);
    assert!(status == 0 || status == 3 && output.contains("l:1"), "{status} {output}");
    let (status, output) = conform(MODULE, "", &map, &[("l", "{\"a\": \"loop\"}")]);
    assert!(status == 3 && output.starts_with("undecided: "), "{status} {output}");
    let module = MODULE.replace("vars ==", "ASSUME 1 = 2\nvars ==");
    let (status, output) = conform(&module, "", &map, &[("l", log)]);
    assert!(status == 2 && output.contains("assumption"), "{status} {output}");
    let (status, output) = conform(MODULE, "INVARIANT Set\n", &map, &[("l", log)]);
    assert!(status == 2 && output.contains("Set"), "{status} {output}");
}

#[test]
fn an_order_that_is_none_is_an_error_and_equal_times_are_unordered() {
    let map = |log: &str| {
        fields(&format!("[log]\nprocess = \"$.p\"\n{log}"), &["a", "x", "y", "v"])
            + &event("inc", "steps = [\"Inc\"]\nbefore = { y = \"y\" }\nafter = { x = \"x\" }")
            + &event("set", "steps = [\"Set(e.v)\"]")
    };
    let clocks = "clock = \"$.c\"";
    let intervals = "start = \"$.s\"\nend = \"$.e\"";
    let both = "clock = \"$.c\"\nstart = \"$.s\"\nend = \"$.e\"";
    for (log, lines, wanted) in [
        (
            clocks,
            "{\"p\": \"A\", \"a\": \"inc\", \"c\": {\"A\": 1, \"B\": 1}}\n{\"p\": \"B\", \"a\": \"inc\", \"c\": {\"A\": 1, \"B\": 1}}",
            "contradicts itself",
        ),
        (
            both,
            "{\"p\": \"A\", \"a\": \"inc\", \"c\": {\"A\": 1}, \"s\": 5, \"e\": 6}\n{\"p\": \"B\", \"a\": \"inc\", \"c\": {\"A\": 1, \"B\": 1}, \"s\": 1, \"e\": 2}",
            "contradicts itself",
        ),
        (
            both,
            "{\"p\": \"A\", \"a\": \"inc\", \"c\": {\"A\": 1}, \"s\": 10, \"e\": 11}\n{\"p\": \"A\", \"a\": \"inc\", \"c\": {\"A\": 2}, \"s\": 1, \"e\": 2}",
            "l:2: the time of A goes backwards",
        ),
        (
            intervals,
            "{\"p\": \"A\", \"a\": \"inc\", \"s\": 0, \"e\": 10}\n{\"p\": \"A\", \"a\": \"inc\", \"s\": 1, \"e\": 2}",
            "l:2: the time of A goes backwards",
        ),
        (
            intervals,
            "{\"p\": \"A\", \"a\": \"inc\", \"s\": 3, \"e\": 2}",
            "l:1: the step ends (2) before it starts (3)",
        ),
        (
            "time = \"$.t\"",
            "{\"p\": \"A\", \"a\": \"inc\", \"t\": 10}\n{\"p\": \"B\", \"a\": \"inc\", \"t\": 5}\n{\"p\": \"A\", \"a\": \"inc\", \"t\": 1}",
            "l:3: the time of A goes backwards",
        ),
        (clocks, "{\"p\": \"A\", \"a\": \"inc\", \"c\": {\"A\": 0}}", "does not count the line itself"),
    ] {
        let (status, output) = conform(MODULE, "", &map(log), &[("l", lines)]);
        assert!(status == 2 && output.contains(wanted), "{lines}: {status} {output}");
    }
    // The files may be named in any order.
    let (a, b) =
        ("{\"p\": \"A\", \"t\": 10, \"a\": \"inc\", \"y\": 1}", "{\"p\": \"B\", \"t\": 10, \"a\": \"set\", \"v\": 1}");
    for logs in [[("a", a), ("b", b)], [("b", b), ("a", a)]] {
        let (status, output) = conform(MODULE, "", &map("time = \"$.t\""), &logs);
        assert_eq!(status, 0, "{output}");
    }
    // Without clocks and times, the order of a file counts, also for lines of different processes.
    let file = "{\"p\": \"A\", \"a\": \"set\", \"v\": 1}\n{\"p\": \"B\", \"a\": \"inc\", \"y\": 0}";
    let (status, output) = conform(MODULE, "", &map(""), &[("a", file), ("b", "{\"p\": \"C\", \"a\": \"inc\"}")]);
    assert_eq!(status, 1, "{output}");
}
