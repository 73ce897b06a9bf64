//! What logs look like: text, gzip, spans of OpenTelemetry, messages between processes; events that are several steps, constants that the
//! logs say, and events that are compared one by one.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::support::PROGRAM;

const MODULE: &str = "---- MODULE Mail ----
EXTENDS Integers
CONSTANT People
(* --algorithm Mail
variables sent = {}, read = [p \\in People |-> 0];
process person \\in People
begin
  Write: sent := sent \\union {self};
  Read:  with from \\in sent do read[self] := from; end with;
end process;
end algorithm; *)
NoSelf == \\A p \\in People : read[p] # p
====
";

const CFG: &str = "SPECIFICATION Spec\nCONSTANT People = {1, 2}\n";

const FIELDS: &str = "[fields]\nwho = \"$.who\"\nwhat = \"$.what\"\nfrom = \"$.from\"\n";

const EVENTS: &str = "[[event]]
name = \"write\"
when = { what = \"write\" }
steps = [\"Write(e.who)\"]

[[event]]
name = \"read\"
when = { what = \"read\" }
steps = [\"Read(e.who)\"]
after = { \"read[e.who]\" = \"from\" }
";

struct Mail(tempfile::TempDir);

impl Mail {
    fn new(map: &str) -> Self {
        let mail = Self(tempfile::tempdir().unwrap());
        mail.write("Mail.tla", MODULE.as_bytes())
            .write("Mail.cfg", CFG.as_bytes())
            .write("conform.toml", map.as_bytes());
        mail
    }

    fn write(&self, name: &str, bytes: &[u8]) -> &Self {
        fs::write(self.0.path().join(name), bytes).unwrap();
        self
    }

    /// The exit status, and standard output with standard error.
    fn conform(&self, arguments: &[&str], input: &[u8]) -> (i32, String) {
        let mut command = Command::new(PROGRAM);
        command.current_dir(self.0.path()).args(["conform", "Mail.tla"]).args(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        let ended = child.wait_with_output().unwrap();
        let text = [ended.stdout, ended.stderr].concat();
        (ended.status.code().unwrap(), String::from_utf8_lossy(&text).into_owned())
    }

    #[track_caller]
    fn ends(&self, arguments: &[&str], status: i32, wanted: &[&str]) -> &Self {
        let (code, text) = self.conform(arguments, b"");
        assert_eq!(code, status, "{text}");
        for part in wanted {
            assert!(text.contains(part), "{part:?} is missing: {text}");
        }
        self
    }
}

const TEXT_MAP: &str = "[log.patterns]
write = '^\\[(?P<who>\\d+)\\] wrote$'
read = '^\\[(?P<who>\\d+)\\] read (?P<body>\\{.*\\})$'
";

#[test]
fn lines_of_text_are_read_by_patterns() {
    let fields =
        "[fields]\nwho = { path = \"$.who\", as = \"number\" }\nwhat = \"$.pattern\"\nfrom = \"$.body.from\"\n";
    let mail = Mail::new(&format!("[log]\njson = [\"body\"]\n{TEXT_MAP}{fields}{EVENTS}"));
    let log = b"[1] wrote\n[2] wrote\n[1] read {\"from\": 2}\n";
    mail.write("a.log", log).ends(&["a.log"], 0, &["conforms", "3 events"]);
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(log).unwrap();
    mail.write("a.gz", &gzip.finish().unwrap()).ends(&["a.gz"], 0, &["conforms", "3 events"]);
    let (status, text) = mail.conform(&["-"], b"[1] wrote\n[1] read {\"from\": 2}\n");
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("standard input, line 2 (read)"), "{text}");
    mail.write("b.log", b"[1] wrote\nhello\n").ends(
        &["b.log"],
        2,
        &["b.log:2", "no pattern of the map", "other_lines"],
    );
    mail.write("c.log", b"[1] wrote\n[1] read {from}\n").ends(
        &["c.log"],
        2,
        &["c.log:2", "the group `body` is not valid JSON"],
    );
    mail.write("d.log", b"[1] wrote\n[99999999999999999999] wrote\n").ends(
        &["d.log"],
        2,
        &["d.log:2", "not a whole number of 64 bits"],
    );
    mail.write("h.log", b"[1] wrote\n").ends(
        &["h.log", "--junit", "Mail.cfg"],
        2,
        &["--junit would overwrite Mail.cfg"],
    );
    mail.write("e.gz", &[0x1f, 0x8b, 8, 0]).ends(&["e.gz"], 2, &["e.gz", "cannot read it"]);
    mail.write("f.log", b"[1] wrote\n[2] wr\xffte\n").ends(&["f.log"], 2, &["f.log", "line 2 is not UTF-8"]);
    let map = format!("[log]\nother_lines = \"ignore\"\njson = [\"body\"]\n{TEXT_MAP}{fields}{EVENTS}");
    mail.write("conform.toml", map.as_bytes()).ends(&["b.log"], 0, &["1 event (1 line ignored)"]);
    mail.write("g.log", b"hello\n").ends(&["g.log"], 2, &["there is nothing to compare"]);
    let both = format!("[log.patterns]\nany = 'wrote'\nwrite = '^\\[(?P<who>\\d+)\\] wrote$'\n{fields}{EVENTS}");
    mail.write("conform.toml", both.as_bytes()).ends(&["a.log"], 2, &["a.log:1", "the patterns `any` and `write`"]);
}

#[test]
fn spans_of_opentelemetry_are_events_with_an_interval() {
    let fields = "[log]\nprocess = \"$.resource['service.name']\"\nstart = \"$.start\"\nend = \"$.end\"\noverlap = true\n[fields]\n\
                  who = \"$.attributes.who\"\nwhat = \"$.name\"\nfrom = \"$.attributes.from\"\nnote = \"$.event\"\n\
                  [[ignore]]\nwhen = { note = [\"retry\"] }\n";
    let mail = Mail::new(&format!("{fields}{EVENTS}"));
    let span = |name: &str, who: u32, from: &str, start: u64, end: u64| {
        format!(
            "{{\"traceId\":\"a\",\"spanId\":\"b\",\"name\":\"{name}\",\"startTimeUnixNano\":\"{start}\",\"endTimeUnixNano\":\"{end}\",\
             \"attributes\":[{{\"key\":\"who\",\"value\":{{\"intValue\":\"{who}\"}}}}{from}],\
             \"events\":[{{\"timeUnixNano\":\"{start}\",\"name\":\"retry\"}}]}}"
        )
    };
    let export = |service: &str, spans: &[String]| {
        format!(
            "{{\"resourceSpans\":[{{\"resource\":{{\"attributes\":[{{\"key\":\"service.name\",\"value\":{{\"stringValue\":\"{service}\"}}}}]}},\
             \"scopeSpans\":[{{\"spans\":[{}]}}]}}]}}\n",
            spans.join(",")
        )
    };
    let from = |who: u32| format!(",{{\"key\":\"from\",\"value\":{{\"intValue\":{who}}}}}");
    let one = export("one", &[span("write", 1, "", 10, 20), span("read", 1, &from(2), 30, 40)]);
    let late = export("two", &[span("write", 2, "", 35, 50)]);
    mail.write("a.json", (one.clone() + &late).as_bytes()).ends(
        &["a.json"],
        0,
        &["3 events (3 lines ignored)", "ordered by time intervals only"],
    );
    // The earlier name of scopes, and what is no export.
    mail.write("d.json", (one.clone() + &late).replace("scopeSpans", "instrumentationLibrarySpans").as_bytes());
    mail.ends(&["d.json"], 0, &["3 events (3 lines ignored)"]);
    for (wrong, wanted) in [
        (one.replace("resourceSpans", "resource_spans"), "names such as `resourceSpans`"),
        ("{\"resourceSpans\": 5}".to_owned(), "`resourceSpans` of the spans is no list"),
        (one.replace("\"spans\":[", "\"spans\":7,\"x\":["), "`spans` of the spans is no list"),
    ] {
        mail.write("e.json", wrong.as_bytes()).ends(&["e.json"], 2, &["e.json:1", wanted]);
    }
    mail.ends(&["a.json", "./a.json"], 2, &["the log is given twice"]);
    // One object on several lines; and a span that began only after the other one had ended.
    let later = export("two", &[span("write", 2, "", 45, 50)]);
    mail.write("b.json", one.replace(",\"", ",\n\"").as_bytes()).write("c.json", later.as_bytes());
    mail.ends(&["b.json", "c.json"], 1, &["no behaviour of the specification explains b.json:1, record 3 (read)"]);
}

#[test]
fn a_message_is_received_after_it_was_sent() {
    let map = format!(
        "[log]\nprocess = \"$.who\"\n{FIELDS}id = \"$.id\"\n{}",
        EVENTS
            .replace("steps = [\"Write(e.who)\"]", "steps = [\"Write(e.who)\"]\nsends = \"id\"")
            .replace("steps = [\"Read(e.who)\"]", "steps = [\"Read(e.who)\"]\nreceives = \"id\"")
    );
    let mail = Mail::new(&map);
    let write = |who: u32, id: &str| format!("{{\"who\": {who}, \"what\": \"write\", \"id\": \"{id}\"}}\n");
    let read = |who: u32, from: u32, id: &str| {
        format!("{{\"who\": {who}, \"what\": \"read\", \"from\": {from}, \"id\": \"{id}\"}}\n")
    };
    // In the file, the message is received first.
    let log = write(1, "a") + &read(1, 2, "b") + &write(2, "b");
    mail.write("a.log", log.as_bytes()).ends(
        &["a.log"],
        0,
        &["2 processes, ordered by the order of each process, and messages"],
    );
    // Each waits for the other's message, which it sends later.
    let log = read(1, 2, "b") + &write(1, "a") + &read(2, 1, "a") + &write(2, "b");
    mail.write("b.log", log.as_bytes()).ends(&["b.log"], 2, &["the order contradicts itself"]);
    mail.write("c.log", (write(1, "a") + &read(1, 2, "x")).as_bytes()).ends(
        &["c.log"],
        2,
        &["c.log:2", "the message x is received, and no line sends it"],
    );
    mail.write("d.log", (write(1, "a") + &write(2, "a")).as_bytes()).ends(
        &["d.log"],
        2,
        &["d.log:2", "the message a is sent here and at d.log:1"],
    );
    mail.write("e.log", (read(1, 1, "a") + &write(1, "a")).as_bytes()).ends(
        &["e.log"],
        2,
        &["e.log:1", "received before it is sent, at e.log:2"],
    );
    mail.write("f.log", b"{\"who\": 1, \"what\": \"write\"}\n").ends(&["f.log"], 2, &["f.log:1", "there is no `id`"]);
}

#[test]
fn an_event_can_be_several_steps_in_a_row() {
    let map = "[fields]\nwho = \"$.who\"\nfrom = \"$.from\"\n[[event]]\nname = \"both\"\nsteps = [[\"Write(e.who)\", \"Read(e.who)\"]]\nafter = { \"read[e.who]\" = \"from\" }\n";
    let mail = Mail::new(map);
    mail.write("a.log", b"{\"who\": 1, \"from\": 1}\n{\"who\": 2, \"from\": 1}\n").ends(
        &["a.log"],
        0,
        &["conforms", "searched: 3 pairs"],
    );
    mail.write("b.log", b"{\"who\": 1, \"from\": 2}\n").ends(
        &["b.log"],
        1,
        &["after Write(e.who), then Read(e.who), read[e.who] is 1 in the specification and 2 in the log"],
    );
    mail.write("c.log", b"{\"who\": 1}\n{\"who\": 1}\n").ends(
        &["c.log"],
        1,
        &["Write(e.who) (step 1 of 2) is not possible: the condition"],
    );
    // An invariant that only a state between the two steps violates.
    let module = MODULE.replace("NoSelf ==", "Settled == \\A p \\in sent : read[p] # 0\nNoSelf ==");
    mail.write("Mail.tla", module.as_bytes()).write("Mail.cfg", format!("{CFG}INVARIANT Settled\n").as_bytes());
    mail.ends(&["a.log"], 1, &["the one shown violates Settled between the steps of a.log:1", "read = <<0, 0>>"]);
}

#[test]
fn constants_can_come_from_the_logs() {
    let map = format!("{FIELDS}[constants]\nPeople = {{ values_of = \"who\" }}\n{EVENTS}");
    let mail = Mail::new(&map);
    let log = b"{\"who\": 7, \"what\": \"write\"}\n{\"who\": 9, \"what\": \"write\"}\n{\"who\": 7, \"what\": \"read\", \"from\": 9}\n";
    mail.write("a.log", log).ends(&["a.log"], 0, &["from the logs: People = {7, 9}"]);
    mail.write("b.log", b"{\"who\": {\"a\": 1}, \"what\": \"write\"}\n").ends(
        &["b.log"],
        2,
        &["the constant People: a configuration cannot hold"],
    );
    mail.write("conform.toml", map.replace("People =", "Persons =").as_bytes());
    mail.ends(&["a.log"], 2, &["[constants] has Persons, and the specification declares no such constant"]);
    mail.write("conform.toml", map.replace("values_of = \"who\"", "largest_of = \"what\"").as_bytes());
    mail.ends(&["a.log"], 2, &["the field `what` is not a number in each event"]);
}

#[test]
fn events_with_whole_states_are_compared_one_by_one() {
    let map = "[fields]\nwho = \"$.who\"\nwhat = \"$.what\"\nsent = { path = \"$.sent\", as = \"tla\" }\nread = \"$.read\"\npc = \"$.pc\"\n"
        .to_owned()
        + &EVENTS
            .replace("after = { \"read[e.who]\" = \"from\" }", "after = { \"sent\" = \"sent\", \"read\" = \"read\", \"pc\" = \"pc\" }")
            .replace("steps = [\"Write(e.who)\"]", "steps = [\"Write(e.who)\"]\nafter = { \"sent\" = \"sent\", \"read\" = \"read\", \"pc\" = \"pc\" }");
    let mail = Mail::new(&map);
    let line = |who: u32, what: &str, sent: &str, read: [u32; 2], pc: [&str; 2]| {
        format!("{{\"who\": {who}, \"what\": \"{what}\", \"sent\": \"{sent}\", \"read\": {read:?}, \"pc\": {pc:?}}}\n")
    };
    let first = line(1, "write", "{1}", [0, 0], ["Read", "Write"]);
    let second = line(2, "write", "{1, 2}", [0, 0], ["Read", "Read"]);
    let third = line(1, "read", "{1, 2}", [2, 0], ["Done", "Read"]);
    let log = first.clone() + &second + &third;
    mail.write("a.log", log.as_bytes()).ends(
        &["a.log", "--windows"],
        0,
        &[
            "all 2 compared events are steps",
            "write: 1 of 1 step, 1 not compared",
            "read: 1 of 1 step",
            "the value of pc before the step is not known",
        ],
    );
    // What no behaviour from the beginning explains can still be a step, and the other way round.
    let skipped = first.clone()
        + &line(2, "write", "{2}", [0, 0], ["Read", "Read"])
        + &line(1, "read", "{2}", [2, 0], ["Done", "Read"]);
    mail.write("b.log", skipped.as_bytes());
    mail.ends(
        &["b.log", "--windows"],
        1,
        &[
            "deviates: 1 of 2 compared events are no steps of the specification, the first at b.log:2",
            "sent is {1, 2} in the specification and {2} in the log",
            "read: 1 of 1 step",
        ],
    );
    mail.write("c.log", first.as_bytes()).ends(
        &["c.log", "--windows"],
        3,
        &["undecided: no event could be compared on its own"],
    );
    // If nothing orders two events, or a hidden step may be between them, the state before the second one is not known.
    let by_process = format!("[log]\nprocess = \"$.who\"\nclock = \"$.clock\"\n{map}");
    let clock = |line: &str, clock: &str| line.replace("{\"who\"", &format!("{{\"clock\": {clock}, \"who\""));
    let ordered = clock(&first, "{\"1\": 1}") + &clock(&second, "{\"1\": 1, \"2\": 1}");
    let unordered = clock(&first, "{\"1\": 1}") + &clock(&second, "{\"2\": 1}");
    mail.write("conform.toml", by_process.as_bytes());
    mail.write("d.log", ordered.as_bytes()).ends(&["d.log", "--windows"], 0, &["the compared event is a step"]);
    mail.write("e.log", unordered.as_bytes()).ends(&["e.log", "--windows"], 3, &["no event could be compared"]);
    let joined = unordered.clone() + &clock(&third, "{\"1\": 2, \"2\": 1}");
    mail.write("g.log", joined.as_bytes()).ends(&["g.log", "--windows"], 3, &["no event could be compared"]);
    let interleaved =
        clock(&first, "{\"1\": 1}") + &clock(&third, "{\"1\": 2, \"2\": 1}") + &clock(&second, "{\"1\": 1, \"2\": 1}");
    mail.write("f.log", interleaved.as_bytes()).ends(&["f.log"], 0, &["conforms"]);
    mail.ends(&["f.log", "--windows"], 0, &["all 2 compared events are steps"]);
    mail.write("conform.toml", format!("{map}[hidden]\nsteps = [\"Write(2)\"]\n").as_bytes());
    mail.ends(&["a.log", "--windows"], 3, &["no event could be compared"]);
}
