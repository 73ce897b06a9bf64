//! What helps in a shell: completions, manual pages and `init`.

use std::process::Command;

use crate::support::{Bench, PROGRAM};
use tlaforge::config::{FILE_NAME, Layer};

#[test]
fn real_bash_completes_revisions_flags_and_operators() {
    let bench = Bench::without_tools();
    let script = bench.run(&["completions", "bash"]).expect(0).stdout;
    bench.write("completions.bash", script);
    bench.write("specs/journal.jsonl", "");
    for revision in ["rev_1", "rev_2", "rev_10"] {
        bench.write(&format!("specs/history/{revision}/Spec.tla"), "");
    }
    bench.write("specs/history/rev_$(id)/Spec.tla", "");
    bench.write("other/history/rev_7/Spec.tla", "");
    bench.write("$(touch broken)/journal.jsonl", "");
    bench.write("suite/case/checklist.json", "{}");
    // Calls the function that the script registers, as bash does after TAB, with the words of a line.
    let complete = |line: &[&str]| {
        let words = line.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
        let ask = format!(
            "source completions.bash\nregistered=$(complete -p tlaforge)\nfunction_name=${{registered##*-F }}\n\
             function_name=${{function_name%% *}}\nCOMP_WORDS=({words})\nCOMP_CWORD={}\nCOMP_TYPE=9\n\
             $function_name tlaforge '{}' ''\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
            line.len() - 1,
            line.last().unwrap()
        );
        let folder = std::path::Path::new(PROGRAM).parent().unwrap().display();
        let done = Command::new("bash")
            .args(["--norc", "-c", &ask])
            .current_dir(bench.dir.path())
            .env_clear()
            .env("PATH", format!("{folder}:/usr/bin:/bin"))
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
        String::from_utf8(done.stdout).unwrap().lines().map(|l| l.trim().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(complete(&["tlaforge", "resume", "specs", "--from", ""]), ["rev_1", "rev_2", "rev_10"]);
    assert_eq!(complete(&["tlaforge", "resume", "specs", "--from", "rev_1"]), ["rev_1", "rev_10"]);
    assert_eq!(complete(&["tlaforge", "dem"]), ["demo"]);
    assert!(complete(&["tlaforge", "mutate", "M.tla", "--operator", "drop"]).contains(&"drop-guard".to_owned()));
    let offers = |line: &[&str], wanted: &str| complete(line).iter().any(|word| word.starts_with(wanted));
    assert!(offers(&["tlaforge", "report", "s"], "specs"));
    assert!(offers(&["tlaforge", "eval", "sp"], "specs"));
    assert!(offers(&["tlaforge", "run", "--case", "suite/"], "suite/case"));
    assert_eq!(complete(&["tlaforge", "eval", "--suite", "suite", "--show-one", ""]), ["case"]);
    assert!(offers(&["tlaforge", "drift", "s"], "specs"));
    // Nothing that a shell would run.
    for line in [&["tlaforge", "report", ""][..], &["tlaforge", "check", ""], &["tlaforge", "run", "--out", ""]] {
        assert!(offers(line, "specs") && !complete(line).iter().any(|word| word.contains('$')), "{line:?}");
    }
    assert!(!bench.path("broken").exists());
}

/// As the scripts ask for the values of a word.
#[test]
fn the_requirements_of_a_run_are_offered_to_accept() {
    let bench = Bench::without_tools();
    bench.finished_demo().expect(0);
    let words = ["--", "tlaforge", "drift", "demo-specs", "--accept", "R1"];
    let asked = [("TLAFORGE_COMPLETE", "bash"), ("_CLAP_COMPLETE_INDEX", "4"), ("_CLAP_IFS", "\n")];
    let offered = bench.run_with(&words, &asked).expect(0).stdout;
    assert_eq!(offered.lines().collect::<Vec<_>>(), ["R1", "R10"]);
}

#[test]
fn each_shell_gets_a_script_that_asks_the_program() {
    let bench = Bench::without_tools();
    for shell in ["bash", "zsh", "fish", "powershell"] {
        bench.run(&["completions", shell]).expect(0).prints(&["TLAFORGE_COMPLETE", "tlaforge"]);
    }
    bench.run(&["completions", "tcsh"]).expect(2);
    bench.run_with(&["doctor"], &[("TLAFORGE_COMPLETE", "tcsh")]).expect(2).says(&["TLAFORGE_COMPLETE", "tcsh"]);
}

#[test]
fn every_command_has_a_manual_page() {
    let bench = Bench::without_tools();
    bench.run(&["man", "pages/man1"]).expect(0).says(&["pages/man1"]);
    for (command, _) in crate::book::generated::helps() {
        let name = [&["tlaforge".to_owned()][..], &command].concat().join("-");
        let page = bench.read(&format!("pages/man1/{name}.1"));
        assert!(page.contains(".SH NAME") && page.contains(".SH SYNOPSIS"), "{name}: {page}");
    }
    assert!(bench.read("pages/man1/tlaforge-check.1").contains("explain"));
}

#[test]
fn every_line_of_the_written_settings_is_accepted() {
    let bench = Bench::without_tools();
    bench.run(&["init", "project"]).expect(0).says(&["wrote project/tlaforge.toml", "next: cd project && tlaforge"]);
    let text = bench.read("project/tlaforge.toml");
    assert_eq!(Layer::from_file(&bench.path("project")).unwrap(), Layer::default(), "everything is a comment");
    let is_setting = |line: &&str| line.starts_with('#') && !line.starts_with("# ");
    let settings: Vec<&str> = text.lines().filter(is_setting).map(|line| &line[1..]).collect();
    let accepted = |text: &str| {
        bench.write(&format!("one/{FILE_NAME}"), text);
        Layer::from_file(&bench.path("one")).unwrap_or_else(|e| panic!("{text}: {e}"))
    };
    for line in &settings {
        let layer = accepted(line);
        assert_eq!(layer.names(), [line.split(' ').next().unwrap()]);
        // A default changes nothing.
        if line.ends_with("# the default") && layer.names() != ["normative_words"] {
            let with_default = layer.settle();
            assert_eq!(
                tlaforge::config::Settings { given: Layer::default(), ..with_default },
                Layer::default().settle(),
                "{line}"
            );
        }
    }
    let all = accepted(&settings.join("\n"));
    // Every setting of the book, except those that the program refuses in a file.
    let is_refused = |key: &&str| {
        let value = if *key == "allow_modules" { "[\"x\"]" } else { "\"x\"" };
        bench.write(FILE_NAME, format!("{key} = {value}\n"));
        let said = bench.run(&["doctor", "--checker", "embedded"]).stderr;
        said.contains("only the command line")
    };
    let book = std::fs::read_to_string(crate::support::project().join("docs/src/settings.md")).unwrap();
    let rows = book.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`')).map(|(key, _)| key);
    // The names of environment variables are in capitals.
    let is_setting = |key: &&str| key.starts_with(|first: char| first.is_ascii_lowercase());
    let mut keys: Vec<&str> = rows.filter(is_setting).collect();
    keys.sort_unstable();
    let names = all.names();
    let (written, missing): (Vec<&str>, Vec<&str>) = keys.into_iter().partition(|key| names.iter().any(|n| n == key));
    assert_eq!(written.len(), names.len());
    assert!(!missing.is_empty() && missing.iter().all(is_refused), "{missing:?}");
    // The program accepts them, too.
    let text: Vec<&str> = settings.iter().copied().filter(|line| line.ends_with("# the default")).collect();
    bench.write(FILE_NAME, text.join("\n"));
    bench.run(&["doctor"]);
}

#[test]
fn init_never_replaces_a_file() {
    let bench = Bench::without_tools();
    bench.write(FILE_NAME, "candidates = 2\n");
    bench.write(".gitignore", "target\n/mutants.out/");
    bench.run(&["init"]).expect(0).says(&["kept tlaforge.toml", "wrote policy.toml", "next: tlaforge doctor"]);
    assert_eq!(bench.read(FILE_NAME), "candidates = 2\n");
    let ignored = bench.read(".gitignore");
    assert!(ignored.starts_with("target\n/mutants.out/\n# Outputs of tlaforge\n"), "{ignored}");
    assert_eq!(ignored.matches("/mutants.out/").count(), 1);
    let workflow = bench.read(".github/workflows/tlaforge.yml");
    assert!(workflow.contains("tlaforge test . --checker embedded"), "{workflow}");
    assert!(workflow.contains("- run: exit 1  # install tlaforge here"), "{workflow}");
    // A second time, everything is there.
    bench.run(&["init"]).expect(0).says(&["kept policy.toml", "kept .gitignore"]);
    assert_eq!(bench.read(".gitignore"), ignored);
}

#[test]
fn init_writes_through_no_link_and_nothing_before_it_has_read_everything() {
    let (bench, other) = (Bench::without_tools(), Bench::without_tools());
    let link = |name: &str, target: std::path::PathBuf| {
        std::fs::create_dir_all(bench.path("p")).unwrap();
        std::os::unix::fs::symlink(target, bench.path(&format!("p/{name}"))).unwrap();
    };
    let refused = |why: &str| {
        bench.run(&["init", "p"]).expect(2).says(&[why]);
        let left: Vec<_> =
            std::fs::read_dir(bench.path("p")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left.len(), 1, "{left:?}");
        std::fs::remove_dir_all(bench.path("p")).unwrap();
    };
    other.write("ignore", "");
    for (name, target) in [(".gitignore", "ignore"), (".gitignore", "none"), (".github", "."), ("policy.toml", "none")]
    {
        link(name, other.path(target));
        refused("is a link that leads out of the project");
    }
    assert_eq!(other.read("ignore"), "");
    assert!(!other.path("none").exists() && !other.path("workflows").exists());
    bench.write("p/.gitignore", [0xff]);
    refused("cannot read p/.gitignore");
    // One line is missing.
    bench.write("p/.gitignore", "/mutants.out/\n/demo-specs*/\n");
    bench.run(&["init", "p"]).expect(0).says(&["added 1 line to p/.gitignore"]);
}

#[test]
fn the_written_policy_is_accepted() {
    let bench = Bench::without_tools();
    bench.run(&["init"]).expect(0);
    bench.write("log.jsonl", "{\"name\": \"request_sent\"}\n{\"name\": \"answer_received\"}\n");
    bench.run(&["audit", "log.jsonl", "--policy", "policy.toml"]).expect(0);
    let policy = bench.read("policy.toml");
    let all: Vec<&str> =
        policy.lines().map(|l| l.strip_prefix('#').filter(|l| !l.starts_with(' ')).unwrap_or(l)).collect();
    bench.write("policy.toml", all.join("\n"));
    let demo = ["demo", "--checker", "embedded", "--policy", "policy.toml", "--out", "demo"];
    bench.run(&demo).expect(0).prints(&["3 of 3 rules kept"]);
}
