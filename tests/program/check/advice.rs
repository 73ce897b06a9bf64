//! What `check` says beside the verdict: where an evaluation failed, what to type next, which process acted; and `--open`.

use std::fs::{File, OpenOptions};

use crate::support::Bench;

const HEAD: &str =
    "EXTENDS Integers, Sequences\nVARIABLE q\nInit == q = <<1>>\nNext == q' = Tail(q)\nSpec == Init /\\ [][Next]_q\n";

fn bench(more: &str, cfg: &str) -> Bench {
    let bench = Bench::without_tools();
    bench.write("M.tla", format!("---- MODULE M ----\n{HEAD}{more}====\n"));
    bench.write("M.cfg", cfg);
    bench
}

const CHECK: [&str; 4] = ["check", "M.tla", "--checker", "embedded"];

#[test]
fn a_failed_evaluation_has_its_place() {
    let bench = bench("Bad == Head(q) = 1\n", "SPECIFICATION Spec\nINVARIANT Bad\n");
    bench.run(&CHECK).expect(1).prints(&["evaluating Bad: Head of <<>>", "M.tla:7:8\n", "7 | Bad == Head(q) = 1"]);
}

#[test]
fn a_type_error_names_both_types_its_place_and_who_can_decide() {
    let bench =
        bench("Calm == Init /\\ [][q' = q]_q\nBad == <>(Len(q) # \"a\")\n", "SPECIFICATION Calm\nPROPERTY Bad\n");
    let done = bench.run(&CHECK).expect(3);
    done.prints(&["module M, line 8, column 11: type error: a number is compared with a string. TLC stops if"])
        .says(&["next: tlaforge check M.tla --checker tlc"]);
    // Without temporal properties, it is found out whether the comparison is made.
    bench.write("M.tla", format!("---- MODULE M ----\n{HEAD}Bad == Len(q) # \"a\"\n====\n"));
    bench.write("M.cfg", "SPECIFICATION Spec\nINVARIANT Bad\n");
    bench.run(&CHECK).expect(1).prints(&["evaluating Bad: 1 is compared with \"a\"", "(line 7, column 8)"]);
}

#[test]
fn a_time_limit_comes_with_the_command_that_raises_it() {
    let bench = bench(
        "Inv == TRUE\nGrow == q' = Append(q, 1)\nLong == Init /\\ [][Grow]_q\n",
        "SPECIFICATION Long\nINVARIANT Inv\n",
    );
    let done = bench.run(&[&CHECK[..], &["--tlc-timeout", "1"]].concat()).expect(3);
    done.says(&["next: tlaforge check M.tla --tlc-timeout 10\n", "the limit is for each run of the checker"]);
}

const SERVER: &str = r#"---- MODULE Server ----
EXTENDS Integers
(* --algorithm S
variables n = 0;
process server = "server"
begin
Serve: while TRUE do n := n + 1; end while;
end process;
process client \in {"c"}
begin
Ask: await n > 0;
end process;
end algorithm; *)
Inv == n < 2
====
"#;

#[test]
fn a_single_process_is_named_beside_its_action() {
    let bench = Bench::without_tools();
    bench.write("Server.tla", SERVER);
    bench.write("Server.cfg", "SPECIFICATION Spec\nINVARIANT Inv\nCHECK_DEADLOCK FALSE\n");
    let check = ["check", "Server.tla", "--checker", "embedded"];
    bench.run(&check).expect(1).prints(&["  2  Serve [server]  Server.tla:7\n"]);
    bench.run(&[&check[..], &["--explain"]].concat()).expect(1).prints(&["server does Serve"]);
    bench.run(&[&check[..], &["--trace-out", "T.mmd"]].concat()).expect(1);
    assert!(bench.read("T.mmd").contains("participant p0 as server\n"), "{}", bench.read("T.mmd"));
}

/// Both ends of a new terminal.
fn terminal() -> (File, File) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
    (ours.into(), OpenOptions::new().read(true).write(true).open(name).unwrap())
}

#[test]
fn the_editor_opens_at_the_line_of_the_last_step_and_gets_no_key() {
    use std::os::unix::fs::PermissionsExt as _;
    let bench = Bench::without_tools();
    bench.write("Server.tla", SERVER);
    bench.write("Server.cfg", "SPECIFICATION Spec\nINVARIANT Inv\nCHECK_DEADLOCK FALSE\n");
    let script = "#!/bin/sh\nprintf '%s\\n' \"$@\" > opened\nenv >> opened\ntest -t 0 && test -t 1 && echo on a terminal >> opened\n";
    let vim = bench.write("bin/vim", script);
    std::fs::set_permissions(&vim, std::fs::Permissions::from_mode(0o755)).unwrap();
    let (_ours, theirs) = terminal();
    let run = |editor: Option<&str>| {
        let mut command = bench.command(&["check", "Server.tla", "--checker", "embedded", "--open"]);
        command.env_remove("VISUAL").env_remove("EDITOR").env("ANTHROPIC_API_KEY", "sk-ant-not-for-editors");
        command.env("OTEL_SDK_DISABLED", "true").env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://me:not-for-editors@host");
        editor.map(|editor| command.env("EDITOR", editor));
        let terminal = || theirs.try_clone().unwrap();
        let output =
            command.stdin(terminal()).stdout(terminal()).stderr(std::process::Stdio::piped()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (status, words) = run(Some(vim.to_str().unwrap()));
    assert_eq!(status, Some(1), "{words}");
    let opened = bench.read("opened");
    assert!(opened.starts_with("+7\n./Server.tla\n") && opened.ends_with("on a terminal\n"), "{opened}");
    assert!(!opened.contains("not-for-editors"), "{opened}");
    let (status, words) = run(None);
    assert!(status == Some(2) && words.contains("neither VISUAL nor EDITOR is set"), "{status:?} {words}");
    bench.run(&["check", "Server.tla", "--open"]).expect(2).says(&["--open needs a terminal"]);
}
