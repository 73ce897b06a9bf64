//! The command: what it prints of logs that conform, deviate, break a requirement or cannot be compared, and its exit status.

use std::fs;
use std::process::Command;

use crate::support::PROGRAM;

const MODULE: &str = "---- MODULE Door ----
EXTENDS Integers
VARIABLES open, visits
(* --algorithm Door
variables open = FALSE, visits = 0;
process visitor \\in 1..2
begin
  Enter: await ~open;
         open := TRUE;
  Leave: open := FALSE;
         visits := visits + 1;
  Rest:  skip;
end process;
end algorithm; *)
Few == visits <= 1
====
";

const MAP: &str = "[fields]
who = \"$.who\"
what = \"$.what\"
open = \"$.open\"
visits = \"$.visits\"

[[event]]
name = \"enter\"
when = { what = \"enter\" }
steps = [\"Enter(e.who)\"]
after = { \"open\" = \"open\" }

[[event]]
name = \"leave\"
when = { what = \"leave\" }
steps = [\"Leave(e.who)\"]
before = { \"open\" = \"open\" }
after = { \"visits\" = \"visits\" }

[[ignore]]
when = { what = \"ping\" }
";

const ENTERED: &str = "{\"who\": 1, \"what\": \"enter\", \"open\": true}\n";
const LEFT: &str = "{\"who\": 1, \"what\": \"leave\", \"visits\": 1}\n";

struct Door(tempfile::TempDir);

impl Door {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("Door.tla"), MODULE.replace("VARIABLES open, visits\n", "")).unwrap();
        fs::write(folder.path().join("Door.cfg"), "SPECIFICATION Spec\n").unwrap();
        fs::write(folder.path().join("conform.toml"), MAP).unwrap();
        Self(folder)
    }

    fn write(&self, name: &str, text: &str) -> &Self {
        fs::write(self.0.path().join(name), text).unwrap();
        self
    }

    /// The exit status, standard output, and standard error.
    fn conform(&self, arguments: &[&str]) -> (i32, String, String) {
        let mut command = Command::new(PROGRAM);
        command.current_dir(self.0.path()).args(["conform", "Door.tla", "log.ndjson"]).args(arguments);
        let ended = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (ended.status.code().unwrap(), text(&ended.stdout), text(&ended.stderr))
    }
}

#[test]
fn a_log_that_conforms_says_how_much_was_compared() {
    let door = Door::new();
    door.write("log.ndjson", &format!("{ENTERED}{{\"what\": \"ping\"}}\n{LEFT}"));
    let (status, output, _) = door.conform(&[]);
    assert_eq!(
        (status, output.as_str()),
        (
            0,
            "conforms: a behaviour of the specification explains every event\n\ncompared: 2 events (1 line ignored), 1 sequence, \
             ordered by the order of the file\nsearched: 3 pairs of a state and the events before it\nlabels that no step \
             names: Rest\nobservations of which no line has the field: open before leave\nvariables that no compared observation names: pc\n"
        )
    );
    // The same as a list, and in JSON.
    door.write("log.ndjson", &format!("[{},{}]", ENTERED.trim(), LEFT.trim()));
    let (status, output, _) = door.conform(&["--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&output).unwrap();
    assert_eq!((status, &json["verdict"], &json["events"]), (0, &"conforms".into(), &2.into()));
}

#[test]
fn a_deviation_names_the_line_and_what_differs() {
    let door = Door::new();
    for (log, wanted) in [
        (
            format!("{ENTERED}{{\"who\": 2, \"what\": \"enter\"}}\n"),
            &[
                "explains log.ndjson:2 (enter)",
                "Enter(e.who) is not possible: the condition `~open` is false",
                "open = TRUE",
            ][..],
        ),
        (
            format!("{ENTERED}{{\"who\": 1, \"what\": \"leave\", \"visits\": 2}}\n"),
            &["log.ndjson:2 (leave)", "after Leave(e.who), visits is 1 in the specification and 2 in the log"],
        ),
        (
            format!("{ENTERED}{{\"who\": 1, \"what\": \"leave\", \"open\": false}}\n"),
            &["before the step, open is TRUE in the specification and FALSE in the log"],
        ),
        // A value of another type differs.
        (
            format!("{ENTERED}{{\"who\": 1, \"what\": \"leave\", \"visits\": \"one\"}}\n"),
            &["visits is 1 in the specification and \"one\" in the log"],
        ),
    ] {
        let (status, output, _) = door.write("log.ndjson", &log).conform(&[]);
        assert_eq!(status, 1, "{log}: {output}");
        assert!(
            output.starts_with("deviates: ") && wanted.iter().all(|words| output.contains(words)),
            "{log}: {output}"
        );
    }
}

#[test]
fn a_log_that_every_behaviour_explains_with_a_violated_invariant_breaks_a_requirement() {
    let door = Door::new();
    let more = LEFT.replace("\"visits\": 1", "\"visits\": 2");
    let log = format!("{ENTERED}{LEFT}{ENTERED}{more}").replacen("who\": 1", "who\": 2", 2);
    door.write("log.ndjson", &log).write("Door.cfg", "SPECIFICATION Spec\nINVARIANT Few\n");
    let (status, output, _) = door.conform(&[]);
    assert_eq!(status, 1, "{output}");
    assert!(output.contains("breaks a requirement") && output.contains("violates Few after log.ndjson:4"), "{output}");
    let (status, output, _) = door.write("Door.cfg", "SPECIFICATION Spec\n").conform(&[]);
    assert_eq!(status, 0, "{output}");
}

#[test]
fn what_cannot_be_compared_never_conforms() {
    let door = Door::new();
    let clock = |map: &str| MAP.replace("[fields]", &format!("[log]\n{map}\n[fields]"));
    let clocks = clock("process = \"$.who\"\nclock = \"$.clock\"");
    let with =
        |who: u8, what: &str, clock: &str| format!("{{\"who\": {who}, \"what\": \"{what}\", \"clock\": {clock}}}\n");
    for (log, map, status, wanted) in [
        ("", MAP, 2, "no line is an event (0 ignored)"),
        ("{\"what\": \"ping\"}\n", MAP, 2, "no line is an event (1 ignored)"),
        ("{\"what\": \"knock\"}\n", MAP, 2, "log.ndjson:1: the map does not know this line"),
        (&format!("{ENTERED}{{\"who\": 1, \"wh"), MAP, 2, "log.ndjson:2: not valid JSON"),
        (&format!("{ENTERED}7\n"), MAP, 2, "log.ndjson:2: expected a JSON object"),
        ("{\"who\": 99999999999999999999, \"what\": \"enter\"}\n", MAP, 2, "not a whole number of 64 bits"),
        ("{\"who\": null, \"what\": \"enter\"}\n", MAP, 2, "TLA+ has no null"),
        (
            "{\"who\": 7, \"what\": \"enter\"}\n",
            MAP,
            3,
            "log.ndjson:1: a step could not be evaluated: 7 is not in the domain",
        ),
        (ENTERED, &MAP.replace("Enter(e.who)", "Entr(e.who)"), 2, "`Entr` is neither defined nor declared"),
        (
            ENTERED,
            &MAP.replace("\"open\" = \"open\"", "\"opn\" = \"open\""),
            2,
            "`opn` is neither defined nor declared",
        ),
        (ENTERED, "[[event]]\n", 2, "conform.toml: "),
        (ENTERED, &clock("clock = \"$.clock\""), 2, "log.ndjson:1: there is no `$.clock`"),
        (ENTERED, &clock("time = \"$.who[\""), 2, "is not a JSON path"),
        (&(with(1, "enter", "{\"1\": 1}") + &with(1, "leave", "{\"1\": 3}")), &clocks, 2, "goes from 1 to 3"),
        (
            &(with(1, "enter", "{\"1\": 1}") + &with(1, "leave", "{\"1\": 1}")),
            &clocks,
            2,
            "is 1 again, as on its previous line",
        ),
        (&with(1, "enter", "{\"1\": 1, \"2\": 4}"), &clocks, 2, "counts 4 lines of 2, and its logs have 0"),
        (&with(1, "enter", "[1, 2]"), &clocks, 2, "not a vector clock"),
        (
            "{\"who\": 1, \"what\": \"enter\", \"t\": 5}\n{\"who\": 1, \"what\": \"leave\", \"t\": 4.5}\n",
            &clock("time = \"$.t\"\nprocess = \"$.who\""),
            2,
            "log.ndjson:2: the time of 1 goes backwards",
        ),
    ] {
        let (found, output, error) = door.write("log.ndjson", log).write("conform.toml", map).conform(&[]);
        let all = format!("{output}{error}");
        assert!(found == status && all.contains(wanted), "{log}: {found}, not {status} with {wanted:?}: {all}");
        assert!(!all.contains("conforms: "), "{log}: {all}");
    }
    door.write("log.ndjson", &format!("{ENTERED}{LEFT}")).write("conform.toml", MAP);
    let (status, output, _) = door.conform(&["--max-searched", "1"]);
    assert!(status == 3 && output.starts_with("undecided: 1 pairs"), "{status} {output}");
    let (status, _, error) = door.write("Door.cfg", "CONSTANT N = 1\n").conform(&[]);
    assert!(status == 2 && error.contains("so there is no behaviour"), "{status} {error}");
}

#[test]
fn the_maps_of_the_book_are_maps_and_the_first_one_compares_its_log() {
    let page = include_str!("../../../docs/src/conform.md");
    let blocks = |language: &str| -> Vec<&str> {
        let fence = format!("```{language}\n");
        page.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
    };
    let maps = blocks("toml");
    for map in &maps {
        tlaforge::conform::ConformMap::parse(map).unwrap_or_else(|error| panic!("{map}: {error}"));
    }
    let door = Door::new();
    let (status, output, error) =
        door.write("conform.toml", maps[0]).write("log.ndjson", blocks("json")[0]).conform(&[]);
    assert!(status == 0 && output.starts_with("conforms"), "{status} {output} {error}");
}

/// The order comes from clocks, times or intervals, or there is none.
#[test]
fn events_are_ordered_as_far_as_the_log_orders_them() {
    let door = Door::new();
    let line = |who: u8, what: &str, rest: &str| format!("{{\"who\": {who}, \"what\": \"{what}\", {rest}}}\n");
    let order = |keys: &str| MAP.replace("[fields]", &format!("[log]\nprocess = \"$.who\"\n{keys}\n[fields]"));
    // The second visitor enters before the first one has left, in the order of the lines.
    let overlapping =
        |times: [&str; 3]| line(1, "enter", times[0]) + &line(2, "enter", times[1]) + &line(1, "leave", times[2]);
    for (keys, log, status) in [
        ("", overlapping(["\"t\": 1", "\"t\": 2", "\"t\": 3"]), 1),
        ("time = \"$.t\"", overlapping(["\"t\": 1", "\"t\": 3", "\"t\": 2"]), 0),
        ("time = \"$.t\"", overlapping(["\"t\": 1", "\"t\": 2", "\"t\": 3"]), 1),
        (
            "start = \"$.s\"\nend = \"$.e\"",
            overlapping(["\"s\": 1, \"e\": 2", "\"s\": 3, \"e\": 9", "\"s\": 4, \"e\": 5"]),
            0,
        ),
        (
            "start = \"$.s\"\nend = \"$.e\"",
            overlapping(["\"s\": 1, \"e\": 2", "\"s\": 3, \"e\": 4", "\"s\": 5, \"e\": 6"]),
            1,
        ),
        ("clock = \"$.c\"", overlapping(["\"c\": {\"1\": 1}", "\"c\": {\"2\": 1}", "\"c\": {\"1\": 2}"]), 0),
        // The first visitor knew that the second one had entered.
        (
            "clock = \"$.c\"",
            overlapping(["\"c\": {\"1\": 1}", "\"c\": {\"2\": 1, \"1\": 1}", "\"c\": {\"1\": 2, \"2\": 1}"]),
            1,
        ),
    ] {
        let (found, output, error) = door.write("log.ndjson", &log).write("conform.toml", &order(keys)).conform(&[]);
        assert_eq!(found, status, "{keys}: {log}{output}{error}");
    }
}
