//! Wrong documents and settings: a clear message, everything else intact, nothing half-written.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use crate::support::counter::{DOC, INFORMAL, good};
use crate::support::folder::{RUN, ready};
use crate::support::{Bench, Done, jar, name};

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
fn the_error_for_a_folder_without_documents_lists_endings_and_skipped_files() {
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
fn files_that_are_no_documents_are_reported_and_the_others_used() {
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
        "1 document, 4 files skipped",
    ]);
}

/// The bench as somebody who is not root: folders open to all, the program and the jar within reach.
fn as_unprivileged_user(bench: &mut Bench) -> impl Fn(&Bench, &[&str]) -> Done + use<> {
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
fn an_unreadable_document_or_folder_stops_the_run_before_it_begins() {
    let mut bench = ready();
    let run = as_unprivileged_user(&mut bench);
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
fn a_read_only_run_folder_is_named_and_is_no_internal_error() {
    let mut bench = ready();
    let run = as_unprivileged_user(&mut bench);
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
fn a_document_named_like_the_generated_index_is_kept() {
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
    let informal = INFORMAL.replace("counter.md", "der Zähler 计数器.md");
    bench.forge(&good().answer("informal_spec", 0, 1, "draft", &informal), &[]).expect(0);
    assert_eq!(bench.read("specs/workspace/docs/der Zähler 计数器.md"), DOC);
}

#[test]
fn names_that_no_prompt_can_contain_are_skipped_and_reported() {
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
fn the_folder_of_an_earlier_run_is_not_read_as_documentation() {
    let bench = ready();
    bench.run(&["run", "docs", "--recording", "script.jsonl", "--out", "docs/specs", "--max-revisions", "0"]).expect(1);
    bench
        .run(&["run", "docs", "--recording", "script.jsonl", "--out", "specs", "--max-revisions", "0"])
        .expect(1)
        .says(&["skipped specs: the folder of a run", "1 document"]);
}

#[test]
fn hidden_files_and_node_modules_are_skipped_and_reported() {
    let bench = ready();
    for file in [".notes.md", ".venv/readme.md", "node_modules/left-pad/README.md"] {
        bench.write(&format!("docs/{file}"), "# Not of the protocol\n");
    }
    let done = bench.run(&["run", "docs", "--recording", "script.jsonl", "--max-revisions", "0"]).expect(1).says(&[
        "skipped .notes.md: a hidden file",
        "skipped .venv: a hidden folder",
        "skipped node_modules: a folder of installed packages",
        "1 document, 3 files skipped",
    ]);
    assert!(!done.stderr.contains("left-pad"), "{}", done.stderr);
    // What is named itself is read, whatever its name.
    bench.write(".docs/counter.md", DOC);
    bench.run(&["run", ".docs", "--recording", "script.jsonl", "--out", "other", "--max-revisions", "0"]).expect(1);
}

// ---- settings

#[test]
fn resuming_a_finished_run_rejects_an_unknown_provider() {
    let bench = ready();
    bench.forge(&good(), &[]).expect(0);
    bench.run(&["resume", "specs", "--provider", "oracle"]).expect(2).says(&["unknown provider \"oracle\"", "hint:"]);
}

#[test]
fn an_audit_without_a_rule_names_both_options() {
    let bench = ready();
    bench.run(&["audit", "script.jsonl"]).expect(2).says(&["--policy <FILE|default>", "--formula <FORMULA>"]);
}

#[test]
fn an_unusable_provider_or_recording_is_named_with_the_alternatives() {
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
        ("", "it contains no answer"),
        ("\n\n", "it contains no answer"),
        ("this is no JSON\n", "line 1, cannot be read"),
        ("{\"v\":1}\n", "line 1, cannot be read"),
        (&good().text().replacen("\"v\":1", "\"v\":2", 1), "format version 2 is not 1"),
        (&format!("{}{}", good().text(), good().text()), "answers the same request twice"),
    ] {
        bench.write("bad.jsonl", text);
        refused(&bench, &["run", "docs", "--recording", "bad.jsonl"], &["bad.jsonl", words]);
    }
    // One answer of 9 MiB, and one line that never ends.
    let words = ["bad.jsonl, line 2", "an answer of more than 8 MiB"];
    let first = good().text().lines().next().unwrap().to_owned();
    let long = good().answer("formalize", 0, 1, "draft", &"x".repeat(9 << 20)).text();
    bench.write("bad.jsonl", format!("{first}\n{}", long.lines().find(|l| l.contains("xxxx")).unwrap()));
    refused(&bench, &["run", "docs", "--recording", "bad.jsonl"], &words);
    bench.write("bad.jsonl", format!("{first}\n"));
    let file = std::fs::File::options().write(true).open(bench.path("bad.jsonl")).unwrap();
    file.set_len(100 << 20).unwrap();
    refused(&bench, &["run", "docs", "--recording", "bad.jsonl"], &words);
}

#[test]
fn an_invalid_setting_is_named_with_its_place() {
    let bench = ready();
    let done = bench.run_with(&RUN, &[("TLC_TIMEOUT", "soon")]).expect(2);
    done.says(&["TLC_TIMEOUT", "\"soon\"", "a whole number of seconds"]);
    assert!(!bench.path("specs").exists());
    for flag in ["--tlc-timeout", "--workers", "--heap-mib"] {
        refused(&bench, &["run", "docs", flag, "0"], &[flag]);
        bench.write("tlaforge.toml", format!("{} = 0\n", flag[2..].replace('-', "_")));
        refused(&bench, &RUN, &["tlaforge.toml:1:", &flag[2..].replace('-', "_")]);
    }
    bench.write("tlaforge.toml", "provider = \"handoff\"\nmax_revision = 2\n");
    refused(&bench, &RUN, &["tlaforge.toml:2:1\n", "max_revision"]);
    bench.write("tlaforge.toml", "max_revisions = \"many\"\n");
    refused(&bench, &RUN, &["tlaforge.toml:1:17\n"]);
}

#[test]
fn unusable_prompts_are_named_before_the_run_begins() {
    let bench = ready();
    let with = |dir: &str| [&RUN[..], &["--prompts", dir]].concat().into_iter().map(str::to_owned).collect::<Vec<_>>();
    let check = |words: &[&str]| {
        let args = with("own");
        refused(&bench, &args.iter().map(String::as_str).collect::<Vec<_>>(), words);
    };
    check(&["own is no folder", "--prompts takes a folder"]);
    bench.write("own/formalize/draft.md.hbs", "Read {{#if x");
    check(&["formalize/draft", "not a well-formed"]);
    bench.write("own/formalize/draft.md.hbs", "Read {{ the_documents }}.");
    check(&["formalize/draft", "the_documents"]);
    bench.write("own/formalize/draft.md.hbs", "{{#if interface}}Keep to {{interfcae}}.{{/if}}");
    check(&["formalize/draft", "interfcae"]);
    bench.write("own/formalize/draft.md.hbs", [0xff, 0xfe]);
    check(&["formalize/draft.md.hbs", "UTF-8"]);
    std::fs::remove_file(bench.path("own/formalize/draft.md.hbs")).unwrap();
    bench.write("own/formalize/draft.md.j2", "Read.");
    check(&["own/formalize/draft.md.j2", "for tlaforge 0.2", "the Handlebars template formalize/draft.md.hbs"]);
}

#[test]
fn other_unusable_paths_are_named_before_the_run_begins() {
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
fn missing_tools_are_named_with_instructions() {
    let bench = Bench::without_tools();
    bench.write("docs/counter.md", DOC);
    bench.write("script.jsonl", good().text());
    for checker in ["tlc", "both"] {
        let done = bench.run(&[&RUN[..], &["--checker", checker]].concat()).expect(4);
        done.says(&["was not found", "hint:"]);
    }
    assert!(!bench.path("specs").exists());
}
