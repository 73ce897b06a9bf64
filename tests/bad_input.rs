//! Everything that a person or a machine can get wrong: a clear message, everything else intact, nothing half-written.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

mod support;

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use support::counter::{CFG, DOC, INVARIANTS, MODULE, WITNESSES, bench, fenced, good, issue, sections};
use support::handoff::{Waiting, shell};
use support::{Bench, Done, jar, name, outcome, routes};

/// Every file below a folder with its content. The lock says who held it last, and is left out.
fn snapshot(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if !entry.ends_with("run.lock") {
                files.insert(entry.clone(), std::fs::read(entry).unwrap());
            }
        }
    }
    files
}

/// A recording of the counter beside its document.
fn ready() -> Bench {
    let bench = bench();
    bench.write("script.jsonl", good().text());
    bench
}

const RUN: [&str; 6] = ["run", "docs", "--recording", "script.jsonl", "--out", "specs"];

/// A refusal with status 2 and these words, and no run folder.
#[track_caller]
fn refused(bench: &Bench, args: &[&str], words: &[&str]) {
    bench.run(args).expect(2).says(&["error: "]).says(words);
    assert!(!bench.path("specs").exists(), "a run folder was made");
}

// ---- documents

#[test]
fn documents_that_do_not_exist_are_named() {
    let bench = ready();
    refused(
        &bench,
        &["run", "dosc", "--recording", "script.jsonl"],
        &["dosc does not exist", "give a document or a folder"],
    );
    refused(&bench, &["run", "--case", "nowhere", "--recording", "script.jsonl"], &["nowhere/checklist.json"]);
    refused(&bench, &["run"], &["DOCS"]);
}

#[test]
fn a_folder_without_documents_says_what_would_count_and_what_was_there() {
    let bench = ready();
    std::fs::create_dir(bench.path("none")).unwrap();
    refused(
        &bench,
        &["run", "none", "--recording", "script.jsonl"],
        &["holds no document", ".md .mdx .txt", "nothing"],
    );
    bench.write("bad/picture.md", [1, 0, 2]);
    bench.write("bad/latin.txt", [b'a', 0xe9]);
    bench.write("bad/code.rs", "fn main() {}");
    bench.write("bad/empty.md", "\n");
    std::fs::File::create(bench.path("bad/huge.md")).unwrap().set_len(50 << 20).unwrap();
    refused(
        &bench,
        &["run", "bad", "--recording", "script.jsonl"],
        &[
            "picture.md (binary)",
            "latin.txt (not UTF-8 from byte 1)",
            "52428800 bytes, over the limit",
            "empty.md (empty)",
        ],
    );
    refused(
        &bench,
        &["run", "bad/huge.md", "--recording", "script.jsonl"],
        &["huge.md (52428800 bytes, over the limit"],
    );
}

#[test]
fn what_is_no_document_is_reported_and_the_rest_is_forged() {
    let bench = ready();
    bench.write("docs/picture.md", [1, 0, 2]);
    std::fs::File::create(bench.path("docs/huge.md")).unwrap().set_len(50 << 20).unwrap();
    std::fs::create_dir(bench.path("docs/sub")).unwrap();
    symlink(bench.path("docs"), bench.path("docs/sub/loop")).unwrap();
    symlink("nowhere.md", bench.path("docs/dangling.md")).unwrap();
    bench.run(&["run", "docs", "--recording", "script.jsonl", "--max-revisions", "0"]).expect(1).says(&[
        "skipped picture.md: binary",
        "skipped huge.md: 52428800 bytes",
        "skipped sub/loop: a link that leads back to itself",
        "skipped dangling.md: a link that leads nowhere",
        "1 documents, 4 files skipped",
    ]);
}

/// The bench as somebody who is not root: folders open to all, the program and the jar within reach.
fn as_nobody(bench: &mut Bench) -> impl Fn(&Bench, &[&str]) -> Done + use<> {
    std::fs::set_permissions(bench.dir.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let program = bench.path("program");
    if std::fs::hard_link(env!("CARGO_BIN_EXE_tlaforge"), &program).is_err() {
        std::fs::copy(env!("CARGO_BIN_EXE_tlaforge"), &program).unwrap();
    }
    std::fs::copy(jar(), bench.path("tools.jar")).unwrap();
    let tools = bench.path("tools.jar");
    bench.set("TLA_TOOLS_JAR", tools.to_str().unwrap());
    let root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
    move |bench, args| {
        let like = bench.command(args);
        let mut command = Command::new(&program);
        command.args(args).current_dir(bench.dir.path()).env_clear().stdin(Stdio::null());
        command.envs(like.get_envs().filter_map(|(k, v)| Some((k, v?))));
        if root {
            command.uid(65534).gid(65534);
        }
        Done::of(&command.output().unwrap())
    }
}

#[test]
fn a_document_or_folder_that_may_not_be_read_stops_the_run_before_it_begins() {
    let mut bench = ready();
    let run = as_nobody(&mut bench);
    let secret = bench.write("docs/secret.md", "closed");
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o000)).unwrap();
    run(&bench, &RUN).expect(2).says(&[
        "cannot read docs/secret.md",
        "ermission denied",
        "make it readable or move it",
    ]);
    assert!(!bench.path("specs").exists());
    std::fs::remove_file(&secret).unwrap();
    std::fs::create_dir(bench.path("docs/closed")).unwrap();
    std::fs::set_permissions(bench.path("docs/closed"), std::fs::Permissions::from_mode(0o000)).unwrap();
    run(&bench, &RUN).expect(2).says(&["cannot read docs/closed", "ermission denied"]);
    assert!(!bench.path("specs").exists());
    std::fs::set_permissions(bench.path("docs/closed"), std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_run_folder_that_may_not_be_written_is_named_and_is_no_defect_of_the_program() {
    let mut bench = ready();
    let run = as_nobody(&mut bench);
    std::fs::create_dir(bench.path("closed")).unwrap();
    std::fs::set_permissions(bench.path("closed"), std::fs::Permissions::from_mode(0o555)).unwrap();
    for out in ["closed", "closed/specs"] {
        run(&bench, &["run", "docs", "--recording", "script.jsonl", "--out", out]).expect(2).says(&[
            "closed",
            "ermission denied",
            "hint:",
        ]);
    }
    assert_eq!(std::fs::read_dir(bench.path("closed")).unwrap().count(), 0);
}

#[test]
fn a_document_called_like_the_generated_index_is_kept_and_read_as_it_is() {
    for own in ["INDEX.md", "index.md"] {
        let bench = ready();
        bench.write(&format!("docs/{own}"), "# My own index\nThe limit is stated in counter.md.\n");
        bench.forge(&good(), &[]).expect(0);
        let first = bench.journal("specs").into_iter().find(|e| name(e) == "request_sent").unwrap();
        let offered: Vec<&str> =
            first["data"]["offered"].as_array().unwrap().iter().map(|o| o["path"].as_str().unwrap()).collect();
        let mut paths: Vec<String> = offered.iter().map(|p| p.to_lowercase()).collect();
        paths.sort();
        paths.dedup();
        assert_eq!(paths.len(), offered.len(), "two files of one name: {offered:?}");
        assert_eq!(bench.read(&format!("specs/workspace/docs/{own}")), bench.read(&format!("docs/{own}")));
        // The generated one stands beside it, and the prompt names it.
        let generated = offered.iter().find(|p| p.starts_with("docs/INDEX-")).unwrap();
        assert!(bench.read(&format!("specs/workspace/{generated}")).contains(&format!("## docs/{own}")));
        let prompt = first["data"]["prompt"].as_str().unwrap();
        assert!(bench.read(&format!("specs/artifacts/{prompt}")).contains(&format!("`{generated}`")));
    }
}

#[test]
fn names_with_spaces_and_letters_of_all_scripts_are_kept() {
    let bench = ready();
    std::fs::rename(bench.path("docs/counter.md"), bench.path("docs/der Zähler 计数器.md")).unwrap();
    bench.forge(&good(), &[]).expect(0);
    assert_eq!(bench.read("specs/workspace/docs/der Zähler 计数器.md"), DOC);
}

#[test]
fn names_that_no_prompt_can_carry_are_left_out_and_told() {
    let bench = ready();
    bench.write("docs/a\nR9 [docs:1] b.md", "# Forged line\n");
    bench.write("docs/\u{1b}[31mred.md", "# Red\n");
    for bad in [&b"\xff.md"[..], &b"\xfe.md"[..]] {
        std::fs::write(bench.path("docs").join(std::ffi::OsStr::from_bytes(bad)), "# One of two\n").unwrap();
    }
    let done = bench.forge(&good(), &[]).expect(0).says(&["skipped a\\n", "its name", "4 files skipped"]);
    assert!(!done.stderr.contains('\u{1b}'));
    let files: Vec<_> =
        std::fs::read_dir(bench.path("specs/workspace/docs")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(files.len(), 2, "{files:?}");
}

#[test]
fn the_folder_of_an_earlier_run_is_not_taken_for_documentation() {
    let bench = ready();
    bench.run(&["run", "docs", "--recording", "script.jsonl", "--out", "docs/specs", "--max-revisions", "0"]).expect(1);
    bench
        .run(&["run", "docs", "--recording", "script.jsonl", "--out", "specs", "--max-revisions", "0"])
        .expect(1)
        .says(&["skipped specs: the folder of a run", "1 documents"]);
}

// ---- settings

#[test]
fn a_provider_or_recording_that_cannot_serve_is_named_with_the_choices() {
    let bench = ready();
    refused(
        &bench,
        &["run", "docs", "--provider", "oracle"],
        &["unknown provider \"oracle\"", "hint:", "--provider handoff"],
    );
    refused(&bench, &["run", "docs", "--provider", "replay"], &["needs a recording", "--recording FILE"]);
    refused(&bench, &["run", "docs", "--recording", "gone.jsonl"], &["gone.jsonl", "No such file"]);
    refused(&bench, &["run", "docs", "--recording", "docs"], &["docs"]);
    for (text, words) in [
        ("", "it holds no answer"),
        ("\n\n", "it holds no answer"),
        ("this is no JSON\n", "line 1, cannot be read"),
        ("{\"v\":1}\n", "line 1, cannot be read"),
        (&good().text().replacen("\"v\":1", "\"v\":2", 1), "format version 2 is not 1"),
        (&format!("{}{}", good().text(), good().text()), "answers the same request twice"),
    ] {
        bench.write("bad.jsonl", text);
        refused(&bench, &["run", "docs", "--recording", "bad.jsonl"], &["bad.jsonl", words]);
    }
    // One answer of 50 MB, and one line that never ends.
    let words = ["bad.jsonl, line 2", "an answer of more than 8 MiB"];
    let first = good().text().lines().next().unwrap().to_owned();
    let long = good().answer("formalize", 0, 1, "draft", &"x".repeat(9 << 20)).text();
    bench.write("bad.jsonl", format!("{first}\n{}", long.lines().find(|l| l.contains("xxxx")).unwrap()));
    refused(&bench, &["run", "docs", "--recording", "bad.jsonl"], &words);
    bench.write("bad.jsonl", format!("{first}\n"));
    let file = std::fs::File::options().write(true).open(bench.path("bad.jsonl")).unwrap();
    file.set_len(50 << 20).unwrap();
    refused(&bench, &["run", "docs", "--recording", "bad.jsonl"], &words);
}

#[test]
fn a_setting_that_cannot_be_used_is_named_with_its_place() {
    let bench = ready();
    let done = bench.run_with(&RUN, &[("TLC_TIMEOUT", "soon")]).expect(2);
    done.says(&["TLC_TIMEOUT", "\"soon\"", "a whole number of seconds"]);
    assert!(!bench.path("specs").exists());
    for flag in ["--tlc-timeout", "--workers", "--heap-mib"] {
        refused(&bench, &["run", "docs", flag, "0"], &[flag]);
        bench.write("tlaforge.toml", format!("{} = 0\n", flag[2..].replace('-', "_")));
        refused(&bench, &RUN, &["tlaforge.toml", "line 1"]);
    }
    bench.write("tlaforge.toml", "provider = \"handoff\"\nmax_revision = 2\n");
    refused(&bench, &RUN, &["tlaforge.toml", "line 2", "max_revision"]);
    bench.write("tlaforge.toml", "max_revisions = \"many\"\n");
    refused(&bench, &RUN, &["tlaforge.toml", "line 1"]);
}

#[test]
fn prompts_that_cannot_be_used_are_named_before_anything_begins() {
    let bench = ready();
    let with = |dir: &str| [&RUN[..], &["--prompts", dir]].concat().into_iter().map(str::to_owned).collect::<Vec<_>>();
    let check = |words: &[&str]| {
        let args = with("own");
        refused(&bench, &args.iter().map(String::as_str).collect::<Vec<_>>(), words);
    };
    check(&["own is no folder", "--prompts takes a folder"]);
    bench.write("own/formalize/draft.md.hbs", "Read {{#if x");
    check(&["formalize/draft", "not a well-formed"]);
    bench.write("own/formalize/draft.md.hbs", "Read {{the_documents}}.");
    check(&["formalize/draft", "the_documents"]);
    bench.write("own/formalize/draft.md.hbs", "{{#if interface}}Keep to {{interfcae}}.{{/if}}");
    check(&["formalize/draft", "interfcae"]);
    bench.write("own/formalize/draft.md.hbs", [0xff, 0xfe]);
    check(&["formalize/draft.md.hbs", "UTF-8"]);
}

#[test]
fn other_paths_that_cannot_be_used_are_named_before_anything_begins() {
    let bench = ready();
    bench.write("taken", "a file");
    bench
        .run(&["run", "docs", "--recording", "script.jsonl", "--out", "taken"])
        .expect(2)
        .says(&["taken is a file", "--out"]);
    bench.run(&["run", "docs", "--recording", "script.jsonl", "--out", "taken/specs"]).expect(2).says(&["taken"]);
    assert_eq!(bench.read("taken"), "a file");
    let more = |flag: &'static str, value: &'static str| [&RUN[..], &[flag, value]].concat();
    refused(&bench, &more("--exemplars", "nowhere"), &["exemplars", "nowhere"]);
    refused(&bench, &more("--record", "nowhere/run.jsonl"), &["nowhere", "--record"]);
    bench
        .run(&more("--tla-tools", "nowhere.jar"))
        .expect(4)
        .says(&["nowhere.jar was not found", "--tla-tools names it"]);
    assert!(!bench.path("specs").exists());
}

#[test]
fn missing_tools_are_named_with_the_way_to_get_them() {
    let bench = Bench::without_tools();
    bench.write("docs/counter.md", DOC);
    bench.write("script.jsonl", good().text());
    let done = bench.run(&RUN).expect(4);
    done.says(&["was not found", "hint:"]);
    assert!(!bench.path("specs").exists());
}

// ---- runs that are there already

#[test]
fn a_folder_with_an_unfinished_run_says_resume_and_is_left_as_it_is() {
    let bench = ready();
    let waiting = Waiting::start(&bench, &["run", "docs", "--provider", "handoff", "--out", "specs"]);
    waiting.kill();
    let before = snapshot(&bench.path("specs"));
    bench.run(&RUN).expect(2).says(&["specs holds an unfinished run", "tlaforge resume specs", "--out DIR"]);
    assert_eq!(snapshot(&bench.path("specs")), before);
}

#[test]
fn a_folder_without_a_run_cannot_be_resumed_or_reported() {
    let bench = ready();
    std::fs::create_dir(bench.path("empty")).unwrap();
    for folder in ["nowhere", "empty"] {
        bench.run(&["resume", folder]).expect(2).says(&["holds no run", "tlaforge run DOCS"]);
        bench.run(&["report", folder]).expect(2).says(&[folder]);
    }
    assert!(!bench.path("nowhere").exists());
    assert_eq!(std::fs::read_dir(bench.path("empty")).unwrap().count(), 0);
}

#[test]
fn a_second_process_on_a_run_folder_is_refused_with_the_first_ones_pid() {
    let bench = ready();
    let waiting = Waiting::start(&bench, &["run", "docs", "--provider", "handoff", "--out", "specs"]);
    let pid = format!("process {}", waiting.pid());
    let before = snapshot(&bench.path("specs"));
    bench.run(&["resume", "specs"]).expect(2).says(&["in use by", &pid]);
    bench.run(&RUN).expect(2).says(&["in use by", &pid]);
    bench.run(&["resume", "specs", "--from", "rev_0", "--at", "review"]).expect(2).says(&["in use by", &pid]);
    assert_eq!(snapshot(&bench.path("specs")), before);
    // Looking is allowed.
    bench.run(&["report", "specs"]).expect(0).prints(&["not finished: at informal_spec"]);
    waiting.kill();
}

#[test]
fn an_unknown_revision_or_station_is_answered_with_those_that_there_are() {
    let bench = bench();
    bench.forge(&good(), &[]).expect(0);
    let before = snapshot(&bench.path("specs"));
    let resume = |args: &[&str]| bench.run(&[&["resume", "specs"], args].concat()).expect(2);
    resume(&["--from", "rev_7"]).says(&["there is no revision \"rev_7\"", "there are rev_0"]);
    resume(&["--from", "first", "--at", "review"]).says(&["there is no revision \"first\""]);
    resume(&["--from", "rev_0", "--at", "reviewing"])
        .says(&["there is no station \"reviewing\"", "formalize, validate"]);
    resume(&["--from", "rev_0"]).says(&["ended the run (approved)", "--at"]);
    resume(&["--at", "review"]).says(&["--from"]);
    assert_eq!(snapshot(&bench.path("specs")), before);
}

#[test]
fn a_journal_damaged_in_the_middle_stops_with_its_line_and_changes_nothing() {
    let bench = bench();
    bench.forge(&good(), &[]).expect(0);
    let whole = bench.read("specs/journal.jsonl");
    let lines: Vec<&str> = whole.lines().collect();
    let without_third = [&lines[..2], &lines[3..]].concat().join("\n") + "\n";
    for (text, words) in [
        (whole.replacen(lines[4], "{\"v\":1,\"seq\":5", 1), "line 5, is damaged"),
        (without_third, "line 3, is damaged"),
        (whole.replacen("{\"v\":1,", "{\"v\":2,", 1), "a newer tlaforge wrote it"),
        (whole.replacen(lines[2], "\u{0}\u{0}\u{0}", 1), "line 3, is damaged"),
    ] {
        bench.write("specs/journal.jsonl", &text);
        let before = snapshot(&bench.path("specs"));
        bench.run(&["resume", "specs"]).expect(2).says(&["journal.jsonl", words, "nothing was changed"]);
        bench.run(&RUN).expect(2).says(&[words]);
        bench.run(&["report", "specs"]).expect(2).says(&[words]);
        assert_eq!(snapshot(&bench.path("specs")), before);
    }
}

/// A run that was stopped for want of an answer, in its second revision.
fn stopped() -> Bench {
    let bench = bench();
    let script = good().answer("review", 0, 1, "draft", &issue("major", "extra_behavior", "too much"));
    bench.forge(&script, &[]).expect(5);
    bench
}

#[test]
fn a_torn_end_of_the_journal_is_cut_off_and_told() {
    let bench = stopped();
    let whole = bench.read("specs/journal.jsonl");
    let last = whole.lines().last().unwrap();
    bench.write("specs/journal.jsonl", format!("{whole}{}", &last[..last.len() / 2]));
    bench.run(&["report", "specs"]).expect(0);
    bench.run(&["resume", "specs"]).expect(5).says(&["bytes that were never acted on were cut off", "goes on"]);
    assert!(bench.read("specs/journal.jsonl").starts_with(&whole));
    bench.journal("specs");
}

#[test]
fn an_altered_or_missing_artifact_is_an_error_and_never_wrong_data() {
    let bench = stopped();
    let started = bench.journal("specs")[0].clone();
    let exemplar = started["data"]["exemplars"][0]["sha"].as_str().unwrap().to_owned();
    let path = format!("specs/artifacts/{exemplar}");
    let content = bench.read(&path);
    bench.write(&path, content.replace("EXTENDS", "EXTENDZ"));
    bench.run(&["resume", "specs"]).expect(2).says(&[&exemplar, "was altered"]);
    std::fs::remove_file(bench.path(&path)).unwrap();
    bench.run(&["resume", "specs"]).expect(2).says(&[&exemplar, "No such file"]);
    bench.write(&path, content);
    bench.run(&["resume", "specs"]).expect(5);
}

#[test]
fn a_branch_from_an_edited_module_that_does_not_parse_does_not_begin() {
    let bench = bench();
    bench.forge(&good(), &[]).expect(0);
    let spec = bench.read("specs/history/rev_0/Spec.tla");
    bench.write("specs/history/rev_0/Spec.tla", spec.replace("n <= Max", "n <= "));
    let before = bench.read("specs/journal.jsonl");
    bench.run(&["resume", "specs", "--from", "rev_0", "--at", "model_check"]).expect(1).says(&["was rejected", "line"]);
    assert_eq!(bench.read("specs/journal.jsonl"), before);
}

// ---- a full disk

/// The program with every file limited to that many blocks of 512 bytes, as on a disk that is full.
fn with_little_room(bench: &Bench, blocks: usize, args: &[&str]) -> Done {
    let like = bench.command(args);
    let mut command = Command::new("sh");
    command.arg("-c").arg("trap '' XFSZ; ulimit -f $0; exec \"$@\"").arg(blocks.to_string());
    command.arg(like.get_program()).args(args).current_dir(bench.dir.path()).env_clear().stdin(Stdio::null());
    command.envs(like.get_envs().filter_map(|(k, v)| Some((k, v?))));
    Done::of(&command.output().unwrap())
}

#[test]
fn a_disk_that_is_full_from_the_start_leaves_nothing_that_is_in_the_way() {
    let bench = ready();
    bench.write("docs/long.md", "A line of no meaning.\n".repeat(4000));
    with_little_room(&bench, 16, &RUN).expect(2).says(&["error: ", "File too large", "hint:", "full"]);
    assert!(!bench.path("specs/Spec.tla").exists());
    bench.run(&["resume", "specs"]).expect(2).says(&["holds no run"]);
    bench.run(&[&RUN[..], &["--max-revisions", "0"]].concat()).expect(1);
}

#[test]
fn a_disk_that_fills_up_in_mid_run_loses_nothing_that_was_answered() {
    let undisturbed = bench();
    undisturbed.forge(&good(), &[]).expect(0);
    let bytes = undisturbed.read("specs/journal.jsonl").len();
    let mut stopped_at = Vec::new();
    for blocks in (bytes / 2 / 512..bytes / 512).step_by(3) {
        let bench = bench();
        bench.write("script.jsonl", undisturbed.read("script.jsonl"));
        let done = with_little_room(&bench, blocks, &RUN);
        assert!(matches!(done.status, Some(2 | 4)), "{blocks}: {:?}\n{}", done.status, done.stderr);
        assert!(done.stderr.contains("File too large"), "{}", done.stderr);
        let events = bench.journal("specs");
        stopped_at.push(events.len());
        bench.run(&["resume", "specs"]).expect(0);
        let after = bench.journal("specs");
        assert_eq!(&after[..events.len()], &events[..]);
        let asked = |journal: &[serde_json::Value]| journal.iter().filter(|e| name(e) == "answer_received").count();
        assert_eq!(asked(&after), 4, "no answer is asked for twice");
        assert_eq!(routes(&after), routes(&undisturbed.journal("specs")));
        for file in ["informal_spec.md", "Spec.tla", "Spec.cfg", "review.md", "tlc_output.txt"] {
            assert_eq!(bench.read(&format!("specs/{file}")), undisturbed.read(&format!("specs/{file}")), "{file}");
        }
    }
    stopped_at.dedup();
    assert!(stopped_at.len() > 3, "{stopped_at:?}");
}

// ---- signals and pipes

#[test]
fn an_interrupt_while_an_answer_is_awaited_leaves_a_run_that_goes_on_in_the_same_folder() {
    for (signal, number) in [("INT", "Ctrl-C"), ("TERM", "SIGTERM")] {
        let bench = ready();
        let mut waiting = Waiting::start(&bench, &["run", "docs", "--provider", "handoff", "--out", "specs"]);
        let folder = waiting.folder.clone();
        waiting.signal(signal);
        let done = waiting.end();
        assert_eq!(done.status, Some(130), "{number}: {}", done.stderr);
        let done = done.says(&["go on with: tlaforge resume", "stopped: interrupted"]);
        assert!(done.stdout.contains("stopped, can be resumed"));
        assert_eq!(outcome(&bench.journal("specs")), "stopped");
        let mut again = Waiting::start(&bench, &["resume", "specs"]);
        assert_eq!(again.folder, folder);
        again.signal("INT");
        assert_eq!(again.end().status, Some(130));
        let requests = bench.journal("specs").iter().filter(|e| name(e) == "request_sent").count();
        assert_eq!(requests, 1, "the same request, not a second one");
        assert_eq!(std::fs::read_dir(bench.path("specs/handoff")).unwrap().count(), 1);
    }
}

#[test]
fn an_interrupt_while_the_checker_runs_ends_it_and_leaves_no_trace() {
    let mut bench = bench();
    let endless = MODULE.replace("while n < Max do", "while n >= 0 do");
    let loose = sections(&INVARIANTS.replace("0..10", "Nat").replace("n <= Max", "n >= 0"), "", WITNESSES, CFG);
    let script = good().answer("formalize", 0, 1, "draft", &fenced(&endless)).answer(
        "generate_invariants",
        0,
        1,
        "draft",
        &loose,
    );
    bench.write("script.jsonl", script.text());
    std::fs::create_dir(bench.path("tmp")).unwrap();
    let tmp = bench.path("tmp");
    bench.set("TMPDIR", tmp.to_str().unwrap());
    let mut child = bench.command(&RUN).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = |text: &str| text.contains("\"lifeline\":\"model_check\"");
    while !std::fs::read_to_string(bench.path("specs/journal.jsonl")).is_ok_and(|t| begun(&t)) {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    std::thread::sleep(std::time::Duration::from_millis(500));
    shell(&format!("kill -INT {}", child.id()));
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(std::fs::read_dir(&tmp).unwrap().count(), 0, "temporary folders are left");
    let ours = tmp.to_str().unwrap();
    let left: Vec<String> = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|e| std::fs::read_to_string(e.ok()?.path().join("cmdline")).ok())
        .filter(|line| line.contains(ours))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(outcome(&bench.journal("specs")), "stopped");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let bench = bench();
    bench.forge(&good(), &[]).expect(0);
    let script = bench.path("script.jsonl");
    let json = ["run", "docs", "--recording", script.to_str().unwrap(), "--format", "json", "--out", "other"];
    for (args, closed) in [
        (&["report", "specs"][..], "stdout"),
        (&["doctor"], "stdout"),
        (&["doctor", "--format", "json"], "stdout"),
        (&["--help"], "stdout"),
        (&["resume", "specs"], "stdout"),
        (&["resume", "specs"], "stderr"),
        (&json, "both"),
    ] {
        let mut command = bench.command(args);
        // A pipe whose reader is gone before the first byte.
        let broken = || {
            let mut cat = Command::new("true").stdin(Stdio::piped()).spawn().unwrap();
            let pipe = cat.stdin.take().unwrap();
            cat.wait().unwrap();
            Stdio::from(std::os::fd::OwnedFd::from(pipe))
        };
        command.stdout(if closed == "stderr" { Stdio::null() } else { broken() });
        command.stderr(if closed == "stdout" { Stdio::piped() } else { broken() });
        let output = command.output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{args:?}, {closed} closed: {stderr}");
        assert!(!stderr.contains("panic"), "{stderr}");
    }
    assert_eq!(outcome(&bench.journal("other")), "approved");
}

#[test]
fn output_that_is_not_for_a_terminal_holds_no_escape_codes() {
    let bench = bench();
    for (args, status) in [
        (&["run", "docs", "--recording", "nothing"][..], 2),
        (&["--help"], 0),
        (&["run", "--helf"], 2),
        (&["doctor"], 0),
    ] {
        for env in [&[][..], &[("NO_COLOR", "1")], &[("CI", "true")]] {
            let done = bench.run_with(args, env).expect(status);
            assert!(!done.stdout.contains('\u{1b}') && !done.stderr.contains('\u{1b}'), "{args:?}");
        }
    }
    let done = bench.forge(&good(), &[]).expect(0);
    assert!(!done.stdout.contains('\u{1b}') && !done.stderr.contains('\u{1b}'));
    assert!(!done.stderr.contains('\r'));
}

// ---- keys

#[test]
fn a_key_is_in_no_file_and_in_no_tools_environment() {
    const MARKER: &str = "sk-marker-5f1c0a";
    let mut bench = bench();
    let real = bench.command(&[]).get_envs().find(|(k, _)| *k == "JAVA_HOME").unwrap().1.unwrap().to_owned();
    let dump = bench.path("environment.txt");
    let java = bench.write(
        "jdk/bin/java",
        format!(
            "#!/bin/sh\n{{ echo \"run: $*\"; env; }} >>'{}'\nexec '{}/bin/java' \"$@\"\n",
            dump.display(),
            Path::new(&real).display()
        ),
    );
    std::fs::set_permissions(&java, std::fs::Permissions::from_mode(0o755)).unwrap();
    let home = bench.path("jdk");
    bench.set("JAVA_HOME", home.to_str().unwrap());
    for key in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"] {
        bench.set(key, MARKER);
    }
    bench.forge(&good(), &["--record", "again.jsonl"]).expect(0);
    let environment = std::fs::read_to_string(&dump).unwrap();
    assert!(environment.contains("tlc2.TLC") && environment.contains("pcal.trans"), "{environment}");
    for (path, bytes) in snapshot(bench.dir.path()) {
        if path.ends_with("program") {
            continue;
        }
        let found = bytes.windows(MARKER.len()).any(|w| w == MARKER.as_bytes());
        assert!(!found, "the key is in {}", path.display());
    }
}
