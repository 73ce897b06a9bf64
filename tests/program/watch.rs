//! The live page, requested as a browser does, and as other origins would.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use crate::support::counter::{self, INFORMAL, MODULE, fenced, good_sections, review};
use crate::support::handoff::Waiting;
use crate::support::{Bench, Done};
use serde_json::Value;

/// `tlaforge watch`.
pub(crate) struct Watch {
    child: Child,
    host: String,
    token: String,
}

impl Watch {
    /// Of the run in `specs`.
    fn start(bench: &Bench) -> Self {
        Self::start_with(&mut bench.command(&["watch", "specs"]))
    }

    pub(crate) fn start_with(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let (host, token) = parts(&line);
        Self { child, host, token }
    }

    pub(crate) fn address(&self) -> String {
        format!("http://{}/{}/", self.host, self.token)
    }

    pub(crate) fn events(&self) -> BufReader<TcpStream> {
        self.connect("GET", &format!("/{}/events", self.token), &[("Host", &self.host)])
    }

    fn connect(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> BufReader<TcpStream> {
        connect(&self.host, method, path, headers)
    }

    /// Status and body of the answer to a request below the token.
    pub(crate) fn ask(&self, method: &str, page: &str, headers: &[(&str, &str)]) -> (u16, String) {
        let own = [("Host", self.host.as_str())];
        let headers =
            if headers.iter().any(|(name, _)| *name == "Host") { headers.to_vec() } else { [&own, headers].concat() };
        answer(self.connect(method, &format!("/{}{page}", self.token), &headers))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Host and token of the address `http://HOST/TOKEN/`.
fn parts(address: &str) -> (String, String) {
    let rest = address.trim().strip_prefix("http://").unwrap_or_else(|| panic!("{address:?} is no address"));
    let (host, token) = rest.strip_suffix('/').unwrap().split_once('/').unwrap();
    assert!(host.starts_with("127.0.0.1:") && token.len() == 32, "{address}");
    (host.to_owned(), token.to_owned())
}

fn connect(host: &str, method: &str, path: &str, headers: &[(&str, &str)]) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(host).unwrap();
    write!(stream, "{method} {path} HTTP/1.1\r\n").unwrap();
    for (name, value) in headers {
        write!(stream, "{name}: {value}\r\n").unwrap();
    }
    write!(stream, "Connection: close\r\n\r\n").unwrap();
    BufReader::new(stream)
}

fn answer(mut stream: BufReader<TcpStream>) -> (u16, String) {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{text:?} is no answer"));
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

/// The next status of a stream of events.
pub(crate) fn status(events: &mut impl std::io::BufRead) -> Value {
    loop {
        let mut line = String::new();
        assert!(events.read_line(&mut line).unwrap() > 0, "the stream has ended");
        if let Some(data) = line.strip_prefix("data: ") {
            return serde_json::from_str(data).unwrap();
        }
    }
}

/// The first event of the run.
fn first_event(bench: &Bench) -> Value {
    serde_json::from_str(bench.read("specs/journal.jsonl").lines().next().unwrap()).unwrap()
}

/// Opens the page of a running run in a browser. `tests/browser/live_end.mjs` has the arguments.
pub(crate) fn see_the_end(address: &str, arguments: &[&str]) -> Child {
    let script = crate::support::project().join("tests/browser/live_end.mjs");
    let mut node = Command::new("node");
    node.arg(script).arg(address).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[track_caller]
pub(crate) fn finds_nothing(browser: Child) {
    let done = Done::of(&browser.wait_with_output().unwrap());
    assert_eq!(done.status, Some(0), "{}{}", done.stdout, done.stderr);
}

const RUN: [&str; 6] = ["run", "docs", "--provider", "handoff", "--out", "specs"];

#[test]
fn a_run_of_another_process_is_shown_while_it_goes_on_and_stopped_by_the_button() {
    let bench = counter::bench();
    let mut run = Waiting::start(&bench, &RUN);
    let before = bench.read("specs/journal.jsonl");
    let watch = Watch::start(&bench);
    let (code, page) = watch.ask("GET", "/", &[]);
    assert_eq!(code, 200);
    assert!(page.contains("EventSource") && page.contains("<iframe id=\"report\""), "{page}");
    let (code, report) = watch.ask("GET", "/report", &[]);
    assert_eq!(code, 200, "{report}");
    assert!(report.starts_with("<!doctype html>"), "{report}");
    let mut events = watch.events();
    let first = status(&mut events);
    assert_eq!((&first["work"]["node"], &first["answers"]), (&"informal_spec".into(), &0.into()), "{first}");
    assert_eq!((&first["running"], &first["finished"]), (&true.into(), &false.into()));
    assert_eq!((&first["started"], &first["ended"]), (&first_event(&bench)["at"], &Value::Null), "{first}");
    // The page alone changes nothing.
    assert_eq!(bench.read("specs/journal.jsonl"), before);
    run.answer(INFORMAL);
    run.next();
    let mut later = status(&mut events);
    while later["work"]["node"] != "formalize" {
        later = status(&mut events);
    }
    assert_eq!(later["answers"], 1, "{later}");
    assert!(later["lines"].to_string().contains("answered"), "{later}");
    let (code, said) = watch.ask("POST", "/stop", &[("Origin", &format!("http://{}", watch.host))]);
    assert_eq!((code, said.trim()), (200, "The run is stopping."));
    run.end().expect(130);
    while later["running"] == true {
        later = status(&mut events);
    }
    let journal = bench.read("specs/journal.jsonl");
    let last: Value = serde_json::from_str(journal.lines().last().unwrap()).unwrap();
    assert_eq!(later["ended"], last["at"], "{later}");
    let (code, said) = watch.ask("POST", "/stop", &[]);
    assert_eq!((code, said.trim()), (409, "no process works on the run in this folder"));
}

#[test]
fn other_origins_hosts_and_tokens_get_nothing() {
    let bench = counter::bench();
    let run = Waiting::start(&bench, &RUN);
    let watch = Watch::start(&bench);
    let port = watch.host.split(':').nth(1).unwrap();
    let refused: [&[(&str, &str)]; 6] = [
        &[("Host", "attacker.example")],
        &[("Host", &format!("127.0.0.1.attacker.example:{port}"))],
        &[("Host", "127.0.0.1")],
        &[("Origin", "http://attacker.example")],
        &[("Origin", "null")],
        &[("Sec-Fetch-Site", "cross-site")],
    ];
    for headers in refused {
        for (method, page) in [("GET", "/"), ("GET", "/events"), ("GET", "/report"), ("POST", "/stop")] {
            let (code, body) = watch.ask(method, page, headers);
            assert_eq!(code, 403, "{method} {page} {headers:?}: {body}");
        }
    }
    let no_host = answer(watch.connect("GET", &format!("/{}/", watch.token), &[]));
    assert_ne!(no_host.0, 200);
    for path in ["/", "/report", "/0123456789abcdef0123456789abcdef/", &format!("/{}x", watch.token)] {
        let (code, _) = answer(watch.connect("GET", path, &[("Host", &watch.host)]));
        assert_eq!(code, 404, "{path}");
    }
    for (method, page, code) in
        [("POST", "/", 405), ("GET", "/stop", 405), ("DELETE", "/report", 405), ("GET", "/../", 404)]
    {
        assert_eq!(watch.ask(method, page, &[]).0, code, "{method} {page}");
    }
    let localhost = format!("localhost:{port}");
    assert_eq!(watch.ask("GET", "/", &[("Host", &localhost)]).0, 200);
    assert_eq!(watch.ask("GET", "/", &[("Sec-Fetch-Site", "none")]).0, 200);
    // It still waits: none of these stopped it.
    assert!(run.folder.join("request.md").exists() && std::path::Path::new(&format!("/proc/{}", run.pid())).exists());
}

#[test]
fn a_run_serves_its_own_page_and_its_last_status_is_the_outcome() {
    let bench = counter::bench();
    let mut child =
        bench.command(&[&RUN[..], &["--watch"]].concat()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut messages = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("http://") {
        line.clear();
        assert!(messages.read_line(&mut line).unwrap() > 0, "no address");
    }
    let address = line[line.find("http://").unwrap()..].trim();
    let (host, token) = parts(address);
    let mut browser = see_the_end(address, &["Approved"]);
    let mut seen = String::new();
    BufReader::new(browser.stdout.as_mut().unwrap()).read_line(&mut seen).unwrap();
    assert_eq!(seen, "open\n");
    let mut events = connect(&host, "GET", &format!("/{token}/events"), &[("Host", &host)]);
    let drain = std::thread::spawn(move || std::io::copy(&mut messages, &mut std::io::sink()));
    status(&mut events);
    // The end of the run does not wait for these.
    let _idle = idle_connections(&host, 300);
    for text in [INFORMAL.to_owned(), fenced(MODULE), good_sections(), review("approved")] {
        crate::support::handoff::answer_next(&bench, &text);
    }
    let mut last = status(&mut events);
    while last["finished"] == false {
        last = status(&mut events);
    }
    assert!(last["heading"].as_str().unwrap().starts_with("approved"), "{last}");
    // The page asks for the report of the outcome before the process ends.
    let (code, report) = answer(connect(&host, "GET", &format!("/{token}/report"), &[("Host", &host)]));
    assert_eq!(code, 200);
    assert!(report.contains("Approved"), "{report}");
    finds_nothing(browser);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    drain.join().unwrap().unwrap();
}

#[test]
fn the_page_works_in_a_browser_and_its_button_stops_the_run() {
    let bench = counter::bench();
    let mut run = Waiting::start(&bench, &RUN);
    let watch = Watch::start(&bench);
    let address = watch.address();
    let script = crate::support::project().join("tests/browser/live.mjs");
    let done = Done::of(&Command::new("node").arg(script).arg(&address).output().unwrap());
    assert_eq!(done.status, Some(0), "{}{}", done.stdout, done.stderr);
    run.end().expect(130);
}

#[test]
fn the_clock_stops_with_the_process_and_with_the_connection() {
    let bench = counter::bench();
    let mut run = Waiting::start(&bench, &RUN);
    let mut watch = Watch::start(&bench);
    let pid = watch.child.id().to_string();
    finds_nothing(see_the_end(&watch.address(), &["The connection is lost", &pid]));
    watch = Watch::start(&bench);
    let pid = run.pid().to_string();
    finds_nothing(see_the_end(&watch.address(), &["Not finished, and no process works on it", &pid]));
    run.end();
}

#[test]
fn a_report_is_made_once_and_another_journal_is_read_from_its_start() {
    let bench = Bench::without_tools();
    bench.finished_demo().expect(0);
    std::fs::rename(bench.path("demo-specs"), bench.path("specs")).unwrap();
    let watch = Watch::start(&bench);
    let events = || status(&mut watch.connect("GET", &format!("/{}/events", watch.token), &[("Host", &watch.host)]));
    let (code, report) = watch.ask("GET", "/report", &[]);
    assert_eq!((code, &events()["finished"]), (200, &true.into()));
    // A report that is made again would lack the listings.
    std::fs::rename(bench.path("specs/artifacts"), bench.path("specs/elsewhere")).unwrap();
    assert!(watch.ask("GET", "/report", &[]).1 == report, "it was made again");
    let journal = bench.read("specs/journal.jsonl");
    let start: Vec<&str> = journal.split_inclusive('\n').take(6).collect();
    bench.write("specs/journal.jsonl", start.concat());
    let now = events();
    assert_eq!((&now["finished"], &now["closed_revisions"]), (&false.into(), &0.into()), "{now}");
    assert!(watch.ask("GET", "/report", &[]).1 != report, "it shows the earlier journal");
    bench.write("specs/journal.jsonl", start.concat() + "{\"damaged\": true}\n{}\n");
    let damaged = events();
    assert!(damaged["error"].as_str().is_some_and(|error| error.contains("journal.jsonl")), "{damaged}");
    assert_eq!(damaged["heading"], now["heading"]);
}

/// Connections without the token: silent ones, some in the middle of their headers, and some that go on asking.
fn idle_connections(host: &str, count: usize) -> Vec<TcpStream> {
    let open = |number: usize| {
        let mut stream = TcpStream::connect(host).unwrap();
        let text = match number % 3 {
            0 => String::new(),
            1 => format!("GET / HTTP/1.1\r\nHost: {host}\r\nX-Slow: "),
            _ => format!("GET /0123/ HTTP/1.1\r\nHost: {host}\r\n\r\n"),
        };
        // The server may have closed it already.
        let _ = stream.write_all(text.as_bytes());
        stream
    };
    (0..count).map(open).collect()
}

#[test]
fn connections_without_the_token_keep_nobody_from_the_page() {
    let bench = counter::bench();
    let mut run = Waiting::start(&bench, &RUN);
    let watch = Watch::start(&bench);
    let before = idle_connections(&watch.host, 300);
    let mut events = watch.events();
    assert_eq!(status(&mut events)["work"]["node"], "informal_spec");
    assert_eq!(watch.ask("GET", "/", &[]).0, 200);
    // An open page stays open, and another one can be opened, while more of them come.
    let after = idle_connections(&watch.host, 300);
    assert_eq!(watch.ask("GET", "/report", &[]).0, 200);
    run.answer(INFORMAL);
    run.next();
    while status(&mut events)["work"]["node"] != "formalize" {}
    // All of them are closed in the end, also the silent ones.
    for mut stream in before.into_iter().chain(after) {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
    }
    assert_eq!(watch.ask("GET", "/", &[]).0, 200);
    run.kill();
}

#[test]
fn what_cannot_be_watched_is_said() {
    let bench = counter::bench();
    bench.run(&["watch", "specs"]).expect(2).says(&["specs"]);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let _run = Waiting::start(&bench, &RUN);
    bench.run(&["watch", "specs", "--port", &port]).expect(4).says(&["cannot serve the live page", &port, "--port"]);
    bench.run(&["watch", "specs", "--port", "65536"]).expect(2).says(&["--port"]);
    bench.run(&["watch", "specs", "--engine", "http://127.0.0.1:9"]).expect(2).says(&["--engine"]);
    #[cfg(feature = "restate")]
    bench.run(&["watch", "--engine", "nowhere"]).expect(2).says(&["\"nowhere\" is not an address of an engine"]);
    #[cfg(not(feature = "restate"))]
    bench.run(&["watch", "--engine", "http://127.0.0.1:9"]).expect(2).says(&["--features restate"]);
}
