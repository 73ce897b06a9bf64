//! A run at an address of a shared store: read, continued and taken over from any machine, which here is any cache folder.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::PathBuf;
use std::process::{Child, Stdio};

use crate::support::counter::{answers, bench, good};
use crate::support::folder::{RUN, ready, snapshot};
use crate::support::model_server::{ModelServer, Reply, Seen};
use crate::support::waiting::wait_until;
use crate::support::{Bench, Done, name};
use crate::watch::{Watch, finds_nothing, see_the_end, status};

const KEY: &str = "sk-planted-0123456789-abcdefghijklmnop";

/// The machines differ only in their cache folder.
struct Fleet {
    bench: Bench,
    address: String,
}

impl Fleet {
    fn new(bench: Bench) -> Self {
        let address = format!("file://{}", bench.path("store/specs").display());
        Self { bench, address }
    }

    /// The environment of a machine.
    fn on(&self, machine: &str) -> (&'static str, String) {
        ("TLAFORGE_CACHE", self.bench.path(machine).to_str().unwrap().to_owned())
    }

    fn run_on(&self, machine: &str, args: &[&str]) -> Done {
        let (variable, cache) = self.on(machine);
        self.bench.run_with(args, &[(variable, &cache)])
    }

    /// The working copy of a machine, as a path below the folder of the bench.
    fn copy(&self, machine: &str) -> String {
        let folders: Vec<_> = std::fs::read_dir(self.bench.path(machine))
            .unwrap()
            .map(|entry| entry.unwrap())
            .filter(|entry| entry.path().is_dir())
            .collect();
        assert_eq!(folders.len(), 1, "{folders:?}");
        format!("{machine}/{}", folders[0].file_name().to_str().unwrap())
    }

    fn store(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        snapshot(&self.bench.path("store"))
    }
}

/// Starts a run against a model server, or continues it.
struct Served {
    fleet: Fleet,
    server: ModelServer,
}

impl Served {
    fn new(script: impl FnMut(&Seen) -> Reply + Send + 'static) -> Self {
        let (mut bench, server) = (bench(), ModelServer::start(script));
        bench.set("ANTHROPIC_BASE_URL", &server.url());
        bench.set("ANTHROPIC_API_KEY", KEY);
        Self { fleet: Fleet::new(bench), server }
    }

    fn begin(&self) -> Vec<&str> {
        begin_at(&self.fleet.address)
    }

    /// Starts the run on a machine, and waits until it has asked the model.
    fn start_on(&self, machine: &str) -> Child {
        let (variable, cache) = self.fleet.on(machine);
        let mut command = self.fleet.bench.command(&self.begin());
        let messages = std::fs::File::create(self.fleet.bench.path("messages")).unwrap();
        let child = command.env(variable, cache).stdout(Stdio::null()).stderr(messages).spawn().unwrap();
        wait_until("the model is asked", || !self.server.posts().is_empty());
        child
    }
}

fn begin_at(address: &str) -> Vec<&str> {
    vec!["run", "docs", "--provider", "anthropic", "--model", "claude-sonnet-4-5", "--out", address]
}

/// The model answers at once, but its first answer waits for the file `go`.
fn first_answer_waits(go: PathBuf) -> impl FnMut(&Seen) -> Reply + Send + 'static {
    let mut is_first = true;
    move |seen| {
        let reply = answers(seen);
        if std::mem::replace(&mut is_first, false) { reply.after(go.clone(), "go") } else { reply }
    }
}

#[test]
fn a_run_at_an_address_is_read_and_continued_without_its_working_copy() {
    let fleet = Fleet::new(bench());
    let (bench, address) = (&fleet.bench, fleet.address.as_str());
    let local = bench.forge(&good(), &[]).expect(0);
    let args: Vec<&str> = RUN.iter().map(|arg| if *arg == "specs" { address } else { arg }).collect();
    let done = fleet.run_on("a", &args).expect(0);
    let copy = fleet.copy("a");
    assert!(done.stdout.contains(&copy) && !local.stdout.contains(&copy), "{}", done.stdout);
    for file in ["informal_spec.md", "Spec.tla", "Spec.cfg", "review.md"] {
        assert_eq!(bench.read(&format!("{copy}/{file}")), bench.read(&format!("specs/{file}")), "{file}");
    }
    let events = bench.journal(&copy).len();
    assert_eq!(events, bench.journal("specs").len());

    let refused = fleet.run_on("a", &args).expect(2);
    refused.says(&["finished run", &format!("tlaforge report {address}")]);
    let stored = fleet.store();
    fleet.run_on("b", &["report", address]).expect(0).prints(&["Outcome: approved"]);
    fleet.run_on("b", &["report", address, "--chart", "text"]).expect(0);
    let audited = fleet.run_on("b", &["audit", address, "--policy", "default"]).expect(0);
    assert!(audited.stdout.contains(address) && audited.stderr.is_empty(), "{}\n{}", audited.stdout, audited.stderr);
    fleet.run_on("b", &["drift", address, "--docs", "docs"]).expect(0);
    fleet
        .run_on("b", &["drift", address, "--docs", "docs", "--accept", "R1", "--because", "x"])
        .expect(2)
        .says(&["--accept"]);
    let copy = fleet.copy("b");
    assert!(!bench.path(&copy).join("Spec.tla").exists(), "a reader needs journal and artifacts only");
    fleet.run_on("b", &["resume", address]).expect(0).says(&[address]);
    assert_eq!(bench.read(&format!("{copy}/Spec.tla")), bench.read("specs/Spec.tla"));
    assert_eq!(fleet.store(), stored, "a finished run has nothing to write");

    // Not by its folder: what is written there alone would be lost.
    fleet
        .run_on("b", &["resume", &copy])
        .expect(2)
        .says(&["working copy", &format!("name the run by its address: {address}")]);
    fleet.run_on("b", &["report", &copy]).expect(0);
    // Without the variable, the cache folder of the user.
    bench.run(&["report", address]).expect(0);
    assert_eq!(std::fs::read_dir(bench.path("home/.cache/tlaforge/runs")).unwrap().count(), 2, "a folder and its lock");
}

#[test]
fn killed_at_any_event_a_run_is_taken_over_and_no_answer_is_asked_for_twice() {
    let served = || Served::new(answers);
    let reference = served();
    let local = begin_at("specs");
    reference.fleet.bench.run(&local).expect(0);
    let (events, posts) = (reference.fleet.bench.journal("specs").len(), reference.server.posts().len());
    let module = reference.fleet.bench.read("specs/Spec.tla");
    // Every event in a campaign, else some of each kind.
    let step = if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { 1 } else { 5 };
    for seq in (1..events).step_by(step) {
        for point in ["after", "torn"] {
            let at = format!("{point}:{seq}");
            let run = served();
            let (fleet, (variable, cache)) = (&run.fleet, run.fleet.on("a"));
            let done = fleet.bench.run_with(&run.begin(), &[(variable, &cache), ("TLAFORGE_CRASH", &at)]);
            assert_eq!(done.status, None, "{at}: {}", done.stderr);
            fleet.run_on("b", &["resume", &fleet.address]).expect(0);
            let copy = fleet.copy("b");
            assert_eq!(fleet.bench.read(&format!("{copy}/Spec.tla")), module, "{at}");
            // The store had everything before the machine was killed, also the end that its own file lacks.
            assert_eq!(run.server.posts().len(), posts, "{at}");
            let journal = fleet.bench.journal(&copy);
            assert_eq!(journal.iter().filter(|event| name(event) == "run_finished").count(), 1, "{at}");
            // The first machine comes back.
            fleet.run_on("a", &["resume", &fleet.address]).expect(0);
            let first = fleet.copy("a");
            assert_eq!(
                fleet.bench.read(&format!("{first}/journal.jsonl")),
                fleet.bench.read(&format!("{copy}/journal.jsonl"))
            );
        }
    }
}

#[test]
fn a_process_whose_run_was_taken_over_stops_and_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let go = dir.path().join("go");
    let run = Served::new(first_answer_waits(go.clone()));
    let fleet = &run.fleet;
    let mut stale = run.start_on("a");
    // On the same machine, the lock keeps a second process out.
    fleet.run_on("a", &["resume", &fleet.address]).expect(2).says(&["is in use by process"]);
    fleet.run_on("a", &["report", &fleet.address]).expect(0);
    fleet.run_on("b", &["resume", &fleet.address]).expect(0).prints(&["Outcome: approved"]);
    let stored = fleet.store();
    let copy = fleet.copy("a");
    let before = fleet.bench.read(&format!("{copy}/journal.jsonl"));
    std::fs::write(&go, "go").unwrap();
    assert_eq!(stale.wait().unwrap().code(), Some(4));
    let messages = fleet.bench.read("messages");
    for word in ["was continued by process", "changed nothing", &format!("tlaforge report {}", fleet.address)] {
        assert!(messages.contains(word), "{word}: {messages}");
    }
    let journals = |store: BTreeMap<PathBuf, Vec<u8>>| -> Vec<_> {
        store.into_iter().filter(|(path, _)| path.extension().is_some_and(|ext| ext == "jsonl")).collect()
    };
    assert_eq!(journals(fleet.store()), journals(stored));
    assert_eq!(fleet.bench.read(&format!("{copy}/journal.jsonl")), before);
    assert!(fleet.bench.path(&copy).join("taken-over.txt").exists());
    fleet.run_on("a", &["resume", &fleet.address]).expect(0).prints(&["approved"]);
    assert!(!fleet.bench.path(&copy).join("taken-over.txt").exists());
}

#[test]
fn a_run_of_another_machine_is_watched_and_audited_while_it_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let go = dir.path().join("go");
    let run = Served::new(first_answer_waits(go.clone()));
    let fleet = &run.fleet;
    let mut child = run.start_on("a");
    let (variable, cache) = fleet.on("b");
    let formulas = ["--formula", "G !(purpose = \"draft\")", "--formula", "F (outcome = \"approved\")"];
    let mut follow = fleet.bench.command(&[&["audit", &fleet.address, "--follow"], &formulas[..]].concat());
    let mut follow = follow.env(variable, &cache).stdout(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(follow.stdout.take().unwrap());
    let mut said = String::new();
    // The verdict comes while the first answer is awaited.
    output.read_line(&mut said).unwrap();
    assert!(said.starts_with("formula-1: violated at state"), "{said}");
    let watch = Watch::start_with(fleet.bench.command(&["watch", &fleet.address]).env(variable, &cache));
    let mut events = watch.events();
    let first = status(&mut events);
    assert_eq!((&first["work"]["node"], &first["answers"]), (&"informal_spec".into(), &0.into()), "{first}");
    // Whether its process lives cannot be seen from here.
    assert_eq!((&first["running"], &first["may_run_elsewhere"]), (&false.into(), &true.into()), "{first}");
    assert!(first["ended"].is_string(), "{first}");
    assert_eq!(watch.ask("POST", "/stop", &[]).0, 409);
    let read = |page: &str| watch.ask("GET", page, &[]).1.replace("&#x2f;", "/");
    let (page, report) = (read("/"), read("/report"));
    assert!(page.contains(&format!("Run in <code>{}</code>", fleet.address)), "{page}");
    let next = format!("tlaforge resume {}", fleet.address);
    for words in ["if no process works on it", &next] {
        assert!(report.contains(words), "{words}: {report}");
    }
    let (store, away) = (fleet.bench.path("store"), fleet.bench.path("away"));
    std::fs::rename(&store, &away).unwrap();
    std::fs::write(&store, "not a folder").unwrap();
    while status(&mut events)["error"].is_null() {}
    std::fs::remove_file(&store).unwrap();
    std::fs::rename(&away, &store).unwrap();
    while !status(&mut events)["error"].is_null() {}

    std::fs::write(&go, "go").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{}", fleet.bench.read("messages"));
    let mut last = status(&mut events);
    while last["finished"] != true {
        last = status(&mut events);
    }
    assert!(last["heading"].to_string().contains("approved") && last["may_run_elsewhere"] == false, "{last}");
    // It ends with the run.
    output.read_to_string(&mut said).unwrap();
    assert_eq!(follow.wait().unwrap().code(), Some(1), "{said}");
    assert!(said.contains("formula-2: satisfied at state"), "{said}");
}

#[test]
fn the_page_of_a_run_elsewhere_does_not_say_whether_it_works_and_outlives_its_stop() {
    let dir = tempfile::tempdir().unwrap();
    let run = Served::new(first_answer_waits(dir.path().join("go")));
    let fleet = &run.fleet;
    let mut child = run.start_on("a");
    let (variable, cache) = fleet.on("b");
    let start = || Watch::start_with(fleet.bench.command(&["watch", &fleet.address]).env(variable, &cache));
    let watch = start();
    let words = "Not finished; a process elsewhere may be working on it";
    finds_nothing(see_the_end(&watch.address(), &[words, &child.id().to_string(), words]));
    child.wait().unwrap();

    // It stops in order, and is continued on a third machine: the page goes on.
    let stopped = fleet.run_on("c", &["resume", &fleet.address, "--max-tokens", "1"]).expect(3);
    stopped.prints(&["stopped, can be resumed"]);
    let mut events = watch.events();
    while status(&mut events)["heading"] != "stopped; a process elsewhere may continue it" {}
    fleet.run_on("c", &["resume", &fleet.address, "--max-tokens", "1000000"]).expect(0);
    let mut last = status(&mut events);
    while last["finished"] != true {
        last = status(&mut events);
    }
    assert!(last["heading"].to_string().contains("approved"), "{last}");
    // By its folder, a copy is shown as it is.
    let copy = fleet.copy("b");
    let mut by_folder = fleet.bench.command(&["watch", &copy]);
    let mut by_folder = by_folder.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut note = String::new();
    BufReader::new(by_folder.stderr.take().unwrap()).read_line(&mut note).unwrap();
    by_folder.kill().unwrap();
    by_folder.wait().unwrap();
    assert!(note.contains(&format!("tlaforge watch {}", fleet.address)), "{note}");
}

#[test]
fn a_run_waits_for_a_store_that_cannot_be_reached() {
    let dir = tempfile::tempdir().unwrap();
    let go = dir.path().join("go");
    let run = Served::new(first_answer_waits(go.clone()));
    let bench = &run.fleet.bench;
    let mut child = run.start_on("a");
    let (store, away) = (bench.path("store"), bench.path("away"));
    std::fs::rename(&store, &away).unwrap();
    std::fs::write(&store, "not a folder").unwrap();
    std::fs::write(&go, "go").unwrap();
    wait_until("the run says that it waits", || bench.read("messages").contains("the run waits for it"));
    std::fs::remove_file(&store).unwrap();
    std::fs::rename(&away, &store).unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(0), "{}", bench.read("messages"));
    run.fleet.run_on("b", &["audit", &run.fleet.address, "--policy", "default"]).expect(0);
}

#[test]
fn a_wrong_address_or_a_refused_request_is_an_error_that_shows_no_credentials() {
    let mut bench = ready();
    let hidden = "planted0123456789abcdefghij";
    for variable in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"] {
        bench.set(variable, hidden);
    }
    // Nothing listens there.
    bench.set("AWS_ENDPOINT", "http://127.0.0.1:9");
    bench.set("AWS_ALLOW_HTTP", "true");
    let with = |address: &str| {
        let args: Vec<String> =
            RUN.iter().map(|arg| if *arg == "specs" { address.into() } else { (*arg).into() }).collect();
        bench.run(&args.iter().map(String::as_str).collect::<Vec<_>>())
    };
    for (address, status, word) in [
        ("http://host/specs", 2, "no store has this kind of address"),
        ("s3://bucket", 2, "names no folder"),
        ("file://host/specs", 2, "three slashes"),
        ("s3://id:planted@bucket/specs", 2, "no user, key"),
        ("s3://bucket/specs", 4, "credentials in the environment"),
    ] {
        let done = with(address).expect(status).says(&[word]);
        assert!(!format!("{}{}", done.stdout, done.stderr).contains("planted"), "{}", done.stderr);
    }
    let empty = format!("file://{}", bench.path("nothing").display());
    for command in [&["resume"][..], &["report"], &["watch"], &["audit", "--policy", "default"]] {
        bench.run(&[command, &[&empty]].concat()).expect(2).says(&["holds no run", &empty]);
    }
    bench.write("docs/counter.md", format!("# The counter\n{hidden}\n"));
    with(&empty).expect(2).says(&["counter.md contains the value of AWS_"]);
    assert!(!bench.path("nothing").exists());
}

/// The journal of another person names documents and the module, which become names of files.
#[test]
fn a_journal_that_names_a_file_outside_of_its_folder_is_refused() {
    let begun = || {
        let bench = ready();
        assert_eq!(bench.run_with(&RUN, &[("TLAFORGE_CRASH", "after:2")]).status, None);
        bench
    };
    for (old, new, file) in [
        ("\"path\":\"counter.md\"", "\"path\":\"../../../hidden.md\"", "hidden.md"),
        ("\"concern\":null", "\"concern\":null,\"module\":\"../hidden\"", "hidden.tla"),
    ] {
        let bench = begun();
        let journal = bench.read("specs/journal.jsonl");
        assert!(journal.contains(old), "{journal}");
        bench.write("specs/journal.jsonl", journal.replace(old, new));
        bench.run(&["resume", "specs"]).expect(2).says(&["which could be outside of the run folder", "hidden"]);
        assert!(!bench.path(file).exists());
    }
}
