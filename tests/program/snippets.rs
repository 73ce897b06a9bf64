//! Errors with a position are shown with their line and carets below the wrong part, in every command that reads a text.

use crate::support::Bench;
use crate::support::checking::put;

const MODULE: &str = "---- MODULE M ----
EXTENDS Naturals
VARIABLE x
Init == x = 0
Next == x' = (x + 1) % 3
Spec == Init /\\ [][Next]_x
Small == x < 3
====
";

const CFG: &str = "SPECIFICATION Spec\nINVARIANT Small\n";

const ALGORITHM: &str = "---- MODULE M ----
EXTENDS Naturals
(* --algorithm M
variable x = 0;
begin
  One: x := 1;
\tgoto Two;
end algorithm; *)
====
";

#[test]
fn check_shows_the_line_of_module_configuration_and_local_module() {
    let bench = Bench::real();
    for (from, to, cfg, shown) in [
        ("Small == x < 3", "Small == Smal(x)", CFG, " --> M.tla:7:10\n  |\n7 | Small == Smal(x)\n  |          ^^^^\n"),
        // Both tools count a tabulator up to the next multiple of 8, and an editor counts it once.
        (
            "Small == x < 3",
            "Small ==\t\tnowhere",
            CFG,
            " --> M.tla:7:11\n  |\n7 | Small ==        nowhere\n  |                 ^^^^^^^\n",
        ),
        (
            "",
            "",
            "SPECIFICATION Spec\n\\* Smal\nINVARIANT Smal\n",
            " --> M.cfg:3:11\n  |\n3 | INVARIANT Smal\n  |           ^^^^\n",
        ),
        (
            "",
            "",
            "SPECIFICATION Spec\nINVARIANT Small\nCONSTANT N = [a |-> 3]\n",
            " --> M.cfg:3:14\n  |\n3 | CONSTANT N = [a |-> 3]\n  |              ^\n",
        ),
        ("", "", "SPECIFICATION Spec\nINVARAINT Small\n", " --> M.cfg:2:1\n  |\n2 | INVARAINT Small\n  | ^^^^^^^^^\n"),
        ("", "", "INVARIANT Small\nSPECIFICATION\n", " --> M.cfg:2:"),
        ("Naturals", "Naturals, Own", CFG, " --> Own.tla:2:6\n  |\n2 | A == nowhere\n  |      ^^^^^^^\n"),
    ] {
        put(&bench, &MODULE.replacen(from, to, usize::from(!from.is_empty())), cfg);
        bench.write("Own.tla", "---- MODULE Own ----\nA == nowhere\n====\n");
        for checker in ["tlc", "embedded"] {
            let args = ["check", "M.tla", "--checker", checker];
            let done = bench.run(&args).expect(1).prints(&["invalid: ", shown]);
            // Each error once, although SANY reports it several times.
            assert_eq!(done.stdout.matches("-->").count(), 1, "{}", done.stdout);
            let json = bench.run(&[&args[..], &["--format", "json"]].concat()).expect(1).stdout;
            assert!(!json.contains("-->") && !json.contains("^^"), "{json}");
        }
    }
}

#[test]
fn check_shows_the_line_of_a_refusal_an_assumption_and_an_evaluation() {
    let bench = Bench::real();
    put(&bench, &MODULE.replace("x < 3", "x < 3 /\\ x # \"a\""), CFG);
    bench
        .run(&["check", "M.tla", "--checker", "embedded"])
        .expect(1)
        .prints(&["invalid: ", "7 | Small == x < 3 /\\ x # \"a\"\n  |                   ^"]);
    put(&bench, &MODULE.replace("VARIABLE x", "ASSUME 1 > 2\nVARIABLE x"), CFG);
    for checker in ["tlc", "embedded"] {
        let done = bench.run(&["check", "M.tla", "--checker", checker]).expect(1);
        done.prints(&["violated: assumption", " --> M.tla:3:8\n  |\n3 | ASSUME 1 > 2\n  |        ^\n"]);
    }
    put(&bench, &MODULE.replace("x < 3", "x[1] < 3"), CFG);
    let done = bench.run(&["check", "M.tla", "--checker", "tlc"]).expect(1);
    done.prints(&["invalid: it cannot be evaluated (line 7, column 10)", "7 | Small == x[1] < 3\n  |          ^\n"]);
}

#[test]
fn translate_shows_the_line_whatever_its_line_ends() {
    let bench = Bench::real();
    for end in ["\n", "\r\n", "\r"] {
        bench.write("M.tla", ALGORITHM.replace('\n', end));
        for translator in ["embedded", "java"] {
            let done = bench.run(&["translate", "M.tla", "--translator", translator]).expect(1);
            done.says(&["error: PlusCal: goto to ", " --> M.tla:7:2\n  |\n7 |     goto Two;\n  |     ^^^^\n"]);
        }
    }
    // At the end of the file.
    let (beginning, _) = ALGORITHM.split_once("  One").unwrap();
    bench.write("M.tla", beginning);
    bench.run(&["translate", "M.tla"]).expect(1).says(&["error: ", " --> M.tla:", "^"]);
}

#[test]
fn mutate_shows_the_line_of_a_specification_that_it_cannot_judge() {
    let bench = Bench::without_tools();
    put(&bench, &MODULE.replace("x < 3", "Smal(x)"), CFG);
    let mutate = ["mutate", "M.tla", "--checker", "embedded"];
    bench.run(&mutate).expect(6).says(&[
        "error: static check: `Smal` is ",
        " --> M.tla:7:10\n",
        "^^^^\n",
        "= hint: mutation",
    ]);
    put(&bench, MODULE, "SPECIFICATION Spec\nCHECK_DEADLOCK MAYBE\n");
    bench
        .run(&mutate)
        .expect(2)
        .says(&["error: cfg: CHECK_DEADLOCK ", "2 | CHECK_DEADLOCK MAYBE\n  |                ^^^^^\n"]);
}

#[test]
fn formulas_of_arguments_are_shown_with_carets() {
    let bench = Bench::without_tools();
    bench.write("log.jsonl", "{\"a\":1}\n");
    for (formula, shown) in [
        ("G (a -> ", "1 | G (a -> \n  |         ^\n"),
        ("[] a", "1 | [] a\n  | ^^\n  |\n  = hint: always is written `G`\n"),
        ("中文 & x + 1", "1 | 中文 & x + 1\n  |        ^^^^^\n"),
        ("a &\n\tb c", " --> FORMULA:2:4\n  |\n2 |     b c\n  |       ^\n"),
        ("a & \u{202e}b", "1 | a & <U+202E>b\n  |     ^^^^^^^^\n"),
    ] {
        bench.run(&["formula", formula]).expect(2).says(&["error: ", shown, "= hint: docs/src/formulas.md"]);
        bench.run(&["audit", "log.jsonl", "--formula", formula]).expect(2).says(&["error: ", shown, "= hint: to test"]);
    }
    bench.run(&["audit", "log.jsonl", "--formula", "a", "--formula", "G"]).expect(2).says(&[" --> FORMULA 2:1:2\n"]);
}

#[test]
fn policy_files_are_shown_with_carets() {
    let bench = Bench::without_tools();
    bench.write("log.jsonl", "{\"a\":1}\n");
    bench.write("docs/a.md", "# A protocol\n");
    let audit = ["audit", "log.jsonl", "--policy", "p.toml"];
    let run = ["run", "docs", "--provider", "handoff", "--policy", "p.toml"];
    for (policy, shown) in [
        ("[[rule]\nid = \"a\"\n", " --> p.toml:1:8\n  |\n1 | [[rule]\n  |        ^\n"),
        (
            "[[rule]]\nid = \"a\"\nformula = 'G (x -> '\n",
            " --> p.toml:3:20\n  |\n3 | formula = 'G (x -> '\n  |                    ^\n",
        ),
        (
            "[[rule]]\r\nid = \"a\"\r\nformula = \"\"\"\r\nG (x\r\n  -> [] y)\"\"\"\r\n",
            " --> p.toml:5:6\n  |\n5 |   -> [] y)\"\"\"\n  |      ^^\n  |\n  = hint: always is written `G`\n",
        ),
        // With escapes, the places in the formula and in the file differ.
        (
            "[[rule]]\nid = \"a\"\nformula = \"G \\\"\"\n",
            " --> p.toml:3:11\n  |\n3 | formula = \"G \\\"\"\n  |           ^^^^^^\n",
        ),
        (
            "[[rule]]\nid = \"a\"\nseverty = \"info\"\nformula = 'G x'\n",
            " --> p.toml:3:1\n  |\n3 | severty = \"info\"\n  | ^^^^^^^\n",
        ),
        (
            "[[rule]]\nid = \"a\"\nkind = \"no_cal\"\nparams = { tool = \"rm\" }\n",
            " --> p.toml:3:8\n  |\n3 | kind = \"no_cal\"\n  |        ^^^^^^^^\n",
        ),
        (
            "[[rule]]\nid = \"a\"\nkind = \"no_call\"\nparams = { tool = 3 }\n",
            " --> p.toml:4:19\n  |\n4 | params = { tool = 3 }\n  |                   ^\n",
        ),
        (
            "[log]\nshpe = \"jsonl\"\n\n[[rule]]\nid = \"a\"\nformula = 'G x'\n",
            " --> p.toml:2:1\n  |\n2 | shpe = \"jsonl\"\n  | ^^^^\n",
        ),
        (
            "[[rule]]\nid = \"a\"\nformula = 'G x & G model:kind'\n",
            " --> p.toml:3:20\n  |\n3 | formula = 'G x & G model:kind'\n  |                    ^^^^^^^^^^\n",
        ),
    ] {
        bench.write("p.toml", policy);
        bench.run(&audit).expect(2).says(&["error: ", shown, "= hint: "]);
        bench.run(&run).expect(2).says(&["error: ", shown, "= hint: "]);
    }
    // A name that no run has is only an error for a run.
    for (policy, shown) in [
        (
            "[[rule]]\nid = \"nmae\"\nformula = 'G (x_nmae_y = 1 | nmae = \"approved\")'\n",
            "3 | formula = 'G (x_nmae_y = 1 | nmae = \"approved\")'\n  |               ^^^^^^^^\n",
        ),
        (
            "[[rule]]\nid = \"reviw\"\nowner = \"reviw\"\nformula = 'name = \"approved\"'\n",
            " --> p.toml:3:10\n  |\n3 | owner = \"reviw\"\n  |          ^^^^^\n",
        ),
    ] {
        bench.write("p.toml", policy);
        bench.run(&run).expect(2).says(&["error: rule ", shown, "= hint: "]);
    }
    assert!(!bench.path("specs").exists());
}

#[test]
fn settings_are_shown_without_their_values() {
    const SECRET: &str = "zyx-Secret9";
    let bench = Bench::without_tools();
    put(&bench, MODULE, CFG);
    for (settings, shown) in [
        ("# my\nmax_revision = \"zyx-Secret9\"\n", "tlaforge.toml:2:1\n  |\n2 | max_revision = …\n  | ^^^^^^^^^^^^\n"),
        (
            "max_revisions = \"zyx-Secret9\"\n",
            "tlaforge.toml:1:17\n  |\n1 | max_revisions = …\n  |                 ^\n",
        ),
        ("checker = \"zyx-Secret9\"\n", "unknown variant `…`, expected one of"),
        ("max_revisions = 'a\"zyx-Secret9\"b'\n", "invalid type: string \"…\", expected"),
        ("concern = \"\"\"\nzyx zyx-Secret9 = \\q\n", "tlaforge.toml:3:1\n"),
        ("model=\"zyx-Secret9\n", "tlaforge.toml:1:8\n  |\n1 | model= …\n  |        ^\n"),
        ("[nodes.formalize]\nmodl = \"zyx-Secret9\"\n", "tlaforge.toml:2:1\n  |\n2 | modl = …\n  | ^^^^\n"),
        ("[nods]\nmodel = \"zyx-Secret9\"\n", "tlaforge.toml:1:2\n  |\n1 | [nods]\n  |  ^^^^\n"),
        // A line that may be a value is not shown at all.
        ("zyx-Secret9\n", "tlaforge.toml:1:12\n"),
        ("model = \"\"\"\nzyx-Secret9=\n", "tlaforge.toml:3:1\n"),
        ("model = \"m\"\nzyx-Secret9==\n", "tlaforge.toml:2:13\n"),
    ] {
        bench.write("tlaforge.toml", settings);
        let done = bench.run(&["check", "M.tla"]).expect(2).says(&["error: ", shown]);
        assert!(!done.stderr.contains(SECRET), "{}", done.stderr);
    }
}

#[test]
fn a_line_of_megabytes_is_cut_around_the_error() {
    let bench = Bench::without_tools();
    let filler = "(* \u{202e}中 *) ".repeat(100_000);
    put(&bench, &MODULE.replace("x < 3", &format!("{filler} nowhere /\\ {filler} TRUE")), CFG);
    let done = bench.run(&["check", "M.tla", "--checker", "embedded"]).expect(1).prints(&["nowhere", "^^^^^^^\n"]);
    assert!(done.stdout.len() < 2_000 && done.stdout.contains('…'), "{} bytes", done.stdout.len());
    let lines: Vec<&str> = done.stdout.lines().collect();
    let carets = lines.iter().position(|line| line.contains('^')).unwrap();
    // A wide character takes two columns and one caret's width of two.
    let columns = |text: &str| text.chars().map(|c| if c == '中' { 2 } else { 1 }).sum::<usize>();
    let (before, _) = lines[carets - 1].split_once("nowhere").unwrap();
    assert_eq!(columns(before), lines[carets].find('^').unwrap(), "{}", done.stdout);
    assert!(lines.iter().all(|line| !line.contains('\u{202e}')), "{}", done.stdout);
}

#[test]
fn colours_are_used_on_a_terminal_or_if_forced() {
    let bench = Bench::without_tools();
    put(&bench, &MODULE.replace("x < 3", "nowhere"), CFG);
    let check = ["check", "M.tla", "--checker", "embedded"];
    for (args, status) in [(&check[..], 1), (&["formula", "a &"], 2)] {
        for (env, is_colored) in [
            (&[][..], false),
            (&[("CLICOLOR_FORCE", "1")], true),
            (&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false),
        ] {
            let done = bench.run_with(args, env).expect(status);
            let output = done.stdout + &done.stderr;
            assert_eq!(output.contains("\u{1b}["), is_colored, "{env:?}: {output:?}");
            assert!(output.contains("-->") && output.contains('^'), "{output:?}");
        }
    }
}
