//! Wrong settings of models: status 2, a message that says what to do, no run folder.

use super::*;

const KEY: (&str, &str) = ("ANTHROPIC_API_KEY", "sk-planted-0123456789");

/// Status 2 with these words, without tools, without a run folder, and nothing planted repeated.
#[track_caller]
fn refused(bench: &Bench, more: &[&str], env: &[(&str, &str)], words: &[&str]) {
    let done = bench.run_with(&[&["run", "docs"][..], more].concat(), env).expect(2).says(&["error: "]).says(words);
    assert!(!done.stderr.contains("planted") && done.stdout.is_empty(), "{}", done.stderr);
    assert!(!bench.path("specs").exists(), "a run folder was made");
}

fn ready() -> Bench {
    let bench = Bench::without_tools();
    bench.write("docs/counter.md", crate::support::counter::DOC);
    bench
}

const ANTHROPIC: [&str; 2] = ["--provider", "anthropic"];
const OPENAI: [&str; 2] = ["--provider", "openai"];

#[test]
fn the_provider_must_be_known_and_reachable() {
    let bench = ready();
    refused(&bench, &["--provider", "claud"], &[], &["unknown provider \"claud\"", "--provider claude", "handoff"]);
    refused(&bench, &ANTHROPIC, &[], &["needs a key", "set ANTHROPIC_API_KEY"]);
    refused(&bench, &OPENAI, &[], &["needs the server's address", "--base-url http://", "OPENAI_BASE_URL"]);
    let url = ["--base-url", "http://localhost:1"];
    refused(&bench, &[OPENAI, url].concat(), &[], &["needs the name of a model", "--model"]);
    refused(
        &bench,
        &["--provider", "claude", "--claude-path", "/nowhere/claude"],
        &[],
        &["/nowhere/claude does not exist", "install", "--claude-path"],
    );
    refused(
        &bench,
        &["--provider", "claude", "--claude-api-key", "--claude-path", "/bin/sh"],
        &[],
        &["needs ANTHROPIC_API_KEY, which is not set", "remove the flag"],
    );
    bench.run(&["run", "docs", "--provider", "claude"]).expect(2).says(&["not found", "npm install"]);
}

#[test]
fn without_a_provider_the_choices_are_listed() {
    let bench = ready();
    refused(
        &bench,
        &[],
        &[],
        &[
            "no provider was chosen, and none was found",
            "--provider claude",
            "anthropic",
            "openai",
            "handoff",
            "replay",
            "Claude Code program was not found",
            "npm install",
            "ANTHROPIC_API_KEY is not set",
        ],
    );
}

#[test]
fn a_named_provider_is_never_replaced_by_another() {
    // The key would pay for what the login was to answer.
    let bench = ready();
    refused(&bench, &["--claude-path", "/nowhere/claude"], &[KEY], &["/nowhere/claude does not exist"]);
    refused(
        &bench,
        &["--claude-path", "/bin/sh", "--claude-api-key"],
        &[],
        &["needs ANTHROPIC_API_KEY, which is not set"],
    );
}

#[test]
fn an_invalid_key_is_rejected_by_the_name_of_its_variable() {
    let bench = ready();
    for (bad, word) in [("sk-planted\nx", "line break"), ("sk planted", "space"), ("sk-planted\u{e4}", "cannot carry")]
    {
        refused(&bench, &ANTHROPIC, &[("ANTHROPIC_API_KEY", bad)], &["ANTHROPIC_API_KEY", word, "set it again"]);
        let url = ["--base-url", "http://localhost:1", "--model", "m"];
        refused(&bench, &[&OPENAI[..], &url].concat(), &[("OPENAI_API_KEY", bad)], &["OPENAI_API_KEY", word]);
        refused(&bench, &[], &[("ANTHROPIC_API_KEY", bad)], &["ANTHROPIC_API_KEY", word]);
    }
    let token = [("CLAUDE_CODE_OAUTH_TOKEN", "sk-planted\nx")];
    refused(
        &bench,
        &["--provider", "claude", "--claude-path", "/bin/sh"],
        &token,
        &["CLAUDE_CODE_OAUTH_TOKEN", "line break", "set it again"],
    );
}

#[test]
fn an_invalid_address_is_rejected_without_its_password() {
    let bench = ready();
    for (bad, words) in [
        ("localhost:11434", ["no scheme", "http://localhost:11434"]),
        ("me:planted@localhost:11434", ["no scheme", "http://localhost:11434"]),
        ("http://me:planted@localhost:11434/v1", ["user name or password", "key"]),
        ("http://localhost/v1?key=planted", ["`?`", "https://host/path"]),
        ("ftp://localhost", ["neither http nor https", "https://host/path"]),
        ("http://local host", ["cannot be used", "https://host/path"]),
    ] {
        for who in BOTH {
            refused(&bench, &[&who[..], &["--base-url", bad]].concat(), &[KEY], &words);
        }
        refused(&bench, &ANTHROPIC, &[KEY, ("ANTHROPIC_BASE_URL", bad)], &words);
        let file = bench.write("tlaforge.toml", format!("provider = \"anthropic\"\nbase_url = \"{bad}\"\n"));
        refused(&bench, &[], &[KEY], &words);
        std::fs::remove_file(file).unwrap();
    }
}

#[test]
fn limits_that_cannot_be_enforced_are_rejected() {
    let bench = ready();
    let anthropic = |more: &[&'static str]| [&ANTHROPIC[..], more].concat();
    refused(
        &bench,
        &anthropic(&["--max-cost", "1", "--model", "of-tomorrow"]),
        &[KEY],
        &["the price of of-tomorrow is not known", "add it to a price table", "--max-tokens"],
    );
    refused(
        &bench,
        &anthropic(&["--max-cost", "1", "--fallback-model", "x"]),
        &[KEY],
        &["the price of x is not known"],
    );
    for bad in ["0", "nan", "-1", "inf"] {
        let limit = format!("--max-cost={bad}");
        refused(&bench, &[&ANTHROPIC[..], &[&limit]].concat(), &[KEY], &["--max-cost is ", "above 0"]);
    }
    refused(&bench, &["--provider", "handoff", "--max-cost", "1"], &[], &["--max-cost cannot be enforced", "handoff"]);
    refused(
        &bench,
        &["--provider", "handoff", "--max-tokens", "9"],
        &[],
        &["--max-tokens cannot be enforced", "--max-time"],
    );
    for flag in ["--max-time", "--tlc-timeout", "--max-tokens"] {
        refused(&bench, &anthropic(&[flag, "0"]), &[KEY], &[flag]);
    }
    refused(&bench, &anthropic(&["--max-time", "soon"]), &[KEY], &["--max-time", "90s, 45m or 2h"]);
    refused(&bench, &anthropic(&["--max-time", "0"]), &[KEY], &["at least a second"]);
    for (name, words) in
        [("CLAUDE_MAX_RETRIES", "a whole number from 0"), ("CLAUDE_RETRY_DELAY", "a whole number of seconds from 0")]
    {
        refused(&bench, &ANTHROPIC, &[KEY, (name, "x")], &[name, "\"x\"", words]);
    }
}

#[test]
fn a_price_table_that_cannot_be_read_is_named_with_what_is_wrong() {
    let bench = ready();
    for prices in ["--prices", "tlaforge.toml"] {
        let args = if prices == "--prices" { vec!["--prices", "p.toml"] } else { vec![] };
        if args.is_empty() {
            bench.write("tlaforge.toml", "prices = \"p.toml\"\n");
        }
        let args = [&ANTHROPIC[..], &args].concat();
        let _ = std::fs::remove_file(bench.path("p.toml"));
        refused(&bench, &args, &[KEY], &["the price table ", "p.toml", "cannot be read"]);
        for (text, word) in [
            ("schema = 2\n[models.m]\ninput = 1\noutput = 1\n", "its schema is 2; this version reads schema 1"),
            ("schema = 1\n[models.m]\ninput = 1\n", "missing field `output`"),
            ("schema = 1\n[models.m]\ninput = nan\noutput = 1\n", "the price of m must be a number of at least 0"),
            ("a list", "line 1"),
        ] {
            bench.write("p.toml", text);
            refused(&bench, &args, &[KEY], &["the price table ", "p.toml", word]);
        }
    }
}

#[test]
fn settings_of_nodes_that_ask_no_model_and_temperatures_out_of_range_are_refused() {
    let bench = ready();
    for (text, words) in [
        (
            "[nodes.reviewer]\nmodel = \"m\"\n",
            &["[nodes.reviewer]", "informal_spec, formalize, generate_invariants"][..],
        ),
        ("[nodes.model_check]\nmodel = \"m\"\n", &["[nodes.model_check]", "no node with that name that calls a model"]),
        ("[nodes.review]\nmodle = \"m\"\n", &["tlaforge.toml", "modle", "tlaforge.toml:2:1"]),
        ("[nodes.review]\ntemperature = 2.5\n", &["temperature is 2.5", "from 0 to 2"]),
        ("temperature = -0.1\n", &["temperature is -0.1", "from 0 to 2"]),
        ("temperature = nan\n", &["temperature is NaN", "from 0 to 2"]),
        ("max_output = 0\n", &["tlaforge.toml:1:"]),
    ] {
        bench.write("tlaforge.toml", text);
        refused(&bench, &ANTHROPIC, &[KEY], words);
    }
}

#[test]
fn a_key_in_the_settings_file_is_refused_without_being_shown() {
    let bench = ready();
    for text in [
        "anthropic_api_key = \"sk-planted-1\"\n",
        "model = \"m\" # sk-planted-1\nprovider = 3 # sk-planted-1\n",
        "api_key = sk-planted-1\n",
        "provider = \"sk-planted-1\n",
    ] {
        bench.write("tlaforge.toml", text);
        refused(&bench, &ANTHROPIC, &[KEY], &["tlaforge.toml:"]);
    }
}

#[test]
fn a_model_that_the_server_does_not_have_ends_with_status_2_and_can_be_resumed_with_another() {
    let bench = bench();
    let mut plays = model(&bench, &good());
    let server = ModelServer::start(move |seen| match seen.body["model"].as_str() {
        Some("of-tomorrow") => Reply::error(404, "not_found_error", "model: of-tomorrow"),
        _ => plays(seen),
    });
    forge(&bench, &server, &["--model", "of-tomorrow"]).expect(2).says(&[
        "of-tomorrow",
        "--model",
        "continue with: tlaforge resume",
    ]);
    assert_eq!(outcome(&bench.journal("specs")), "stopped");
    assert_eq!(server.posts().len(), 1, "it is not tried again");
    bench.run(&["resume", "specs", "--model", "claude-sonnet-4-5"]).expect(0).prints(&["Outcome: approved"]);
}

#[test]
fn an_automatically_chosen_provider_is_reported_and_kept_on_resume() {
    let bench = bench();
    let server = counter(&bench);
    let env = [KEY, ("ANTHROPIC_BASE_URL", &server.url())];
    let done = bench.run_with(&["run", "docs", "--max-tokens", "1"], &env).expect(3);
    done.says(&["using the Messages API, billed by token", "the Claude Code program was not found"]);
    assert_eq!(events(&bench, "run_started")[0]["data"]["command_line"]["provider"], "anthropic");
    // A login that appears in between does not take over.
    let login = "echo '{\"loggedIn\":true}'";
    let program = bench.write("bin/claude", format!("#!/bin/sh\n[ \"$1\" = --version ] && echo 2.1.329 || {login}\n"));
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", bench.path("bin").display());
    let env = [&env[..], &[("PATH", path.as_str())]].concat();
    bench.run_with(&["resume", "specs", "--max-tokens", "9000000"], &env).expect(0);
    assert!(events(&bench, "request_sent").iter().all(|e| e["data"]["provider"] == "anthropic"));
}

#[test]
fn files_that_settings_name_are_found_from_anywhere() {
    let bench = bench();
    let server = counter(&bench);
    bench.write("tlaforge.toml", "prices = \"p.toml\"\n");
    bench.write("p.toml", "schema = 1\n[models.mine]\ninput = 1000\noutput = 1000\n");
    forge(&bench, &server, &["--model", "mine", "--max-cost", "0.01"]).expect(3).says(&["--max-cost"]);
    std::fs::create_dir(bench.path("elsewhere")).unwrap();
    let mut command = bench.command(&["resume", "../specs", "--max-cost", "1000"]);
    let done = Done::of(&command.current_dir(bench.path("elsewhere")).output().unwrap());
    done.expect(0).prints(&["0.88 USD"]);
}

#[test]
fn an_address_without_a_provider_is_an_error() {
    let bench = ready();
    let url = ["--base-url", "http://127.0.0.1:9"];
    refused(&bench, &url, &[KEY], &["without a provider", "--provider openai"]);
    bench.write("tlaforge.toml", "base_url = \"http://127.0.0.1:9\"\n");
    refused(&bench, &[], &[KEY], &["without a provider", "--provider openai"]);
}

#[test]
fn a_settings_file_in_the_folder_sends_no_key_and_starts_no_program() {
    let bench = ready();
    bench.write("tlaforge.toml", "provider = \"openai\"\nmodel = \"m\"\nbase_url = \"https://elsewhere.example/v1\"\n");
    let key = ("OPENAI_API_KEY", "sk-planted-0123456789");
    refused(&bench, &[], &[key], &["tlaforge.toml names a server", "elsewhere.example", "--base-url"]);
    bench.run_with(&["doctor"], &[key]).expect(2).says(&["tlaforge.toml names a server"]);
    let ran = bench.path("ran");
    let program = bench.write("bin/claude", format!("#!/bin/sh\ntouch {}\n", ran.display()));
    std::os::unix::fs::PermissionsExt::set_mode(&mut std::fs::metadata(&program).unwrap().permissions(), 0o755);
    bench.write("tlaforge.toml", "claude_path = \"bin/claude\"\n");
    refused(&bench, &[], &[], &["tlaforge.toml names a program", "--claude-path FILE"]);
    bench.run(&["doctor"]).expect(2).says(&["tlaforge.toml names a program"]);
    assert!(!ran.exists());
}

#[test]
fn a_key_in_an_argument_a_setting_or_a_document_is_refused_before_anything_is_written() {
    let bench = ready();
    let url = format!("http://127.0.0.1:9/{}", KEY.1);
    refused(&bench, &[&ANTHROPIC[..], &["--base-url", &url]].concat(), &[KEY], &["the command line", KEY.0]);
    refused(&bench, &[&ANTHROPIC[..], &["--concern", KEY.1]].concat(), &[KEY], &["the command line", KEY.0]);
    bench.write("tlaforge.toml", format!("concern = \"{}\"\n", KEY.1));
    refused(&bench, &ANTHROPIC, &[KEY], &["tlaforge.toml contains the value of ANTHROPIC_API_KEY"]);
    std::fs::remove_file(bench.path("tlaforge.toml")).unwrap();
    bench.write("docs/notes.md", format!("export ANTHROPIC_API_KEY={}\n", KEY.1));
    refused(&bench, &ANTHROPIC, &[KEY], &["notes.md contains the value of ANTHROPIC_API_KEY", "remove it"]);
}

#[test]
fn a_key_in_a_name_a_prompt_an_exemplar_or_a_variable_is_refused_before_anything_is_written() {
    let url = ["--base-url", "http://127.0.0.1:9"];
    let holds = |what: &str| format!("{what} contains the value of {}", KEY.0);
    let bench = ready();
    let model = ("CLAUDE_MODEL", KEY.1);
    refused(
        &bench,
        &[&ANTHROPIC[..], &url].concat(),
        &[KEY, model],
        &["a setting (", "contains the value of ANTHROPIC_API_KEY"],
    );
    let name = format!("docs/{}.md", KEY.1);
    for name in [name.clone(), name.replace(".md", ".bin")] {
        let file = bench.write(&name, [0xff, 0x00]);
        refused(&bench, &[&ANTHROPIC[..], &url].concat(), &[KEY], &[&holds("the name of a document")]);
        std::fs::remove_file(file).unwrap();
    }
    bench.write("own/informal_spec/role.md.hbs", format!("Use {}.\n", KEY.1));
    let own = [&ANTHROPIC[..], &url, &["--prompts", "own"]].concat();
    refused(&bench, &own, &[KEY], &[&holds("the prompt informal_spec/role")]);
    bench.write("ex/Some.tla", format!("---- MODULE Some ----\n\\* {}\n====\n", KEY.1));
    bench.write("ex/Some.cfg", "");
    let own = [&ANTHROPIC[..], &url, &["--exemplars", "ex"]].concat();
    refused(&bench, &own, &[KEY], &[&holds("the exemplar Some.tla")]);
}

#[test]
fn quotations_from_an_unreadable_file_show_no_key() {
    let bench = ready();
    bench.write("prices.toml", format!("schema = 1\n[models.x]\ninput = \"{}\"\noutput = 1\n", KEY.1));
    refused(&bench, &[&ANTHROPIC[..], &["--prices", "prices.toml"]].concat(), &[KEY], &["prices.toml"]);
    bench.write("case/docs/a.md", "text");
    bench.write("case/checklist.json", format!("{{\"interface\": \"use {}\"}}", KEY.1));
    let done = bench.run_with(&["run", "--case", "case", "--provider", "anthropic"], &[KEY]).expect(2);
    assert!(!done.stderr.contains("planted") && done.stderr.contains("[key]"), "{}", done.stderr);
}

#[test]
fn the_claude_model_variable_does_not_apply_to_other_providers() {
    let bench = ready();
    let url = ["--base-url", "http://localhost:1"];
    let variable = ("CLAUDE_MODEL", "claude-opus-4-5");
    refused(&bench, &[OPENAI, url].concat(), &[variable], &["needs the name of a model", "--model"]);
    bench.write("tlaforge.toml", "provider = \"openai\"\n");
    refused(&bench, &url, &[variable], &["needs the name of a model", "--model"]);
}
