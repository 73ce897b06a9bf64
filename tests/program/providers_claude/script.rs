//! A script in the place of Claude Code that simulates failures of the program.

use super::*;
use crate::support::waiting::HANG;

/// The provider with a script in the program's place, and what it says when asked.
fn scripted(scene: &Scene, does: &str) -> ClaudeCode {
    let program = scene.script(PINNED, does);
    provider(program, ClaudeLogin::key(PLANTED_KEY).unwrap(), "http://127.0.0.1:9")
}

/// The first lines of a recording, as if they were of this workspace.
fn recorded(scene: &Scene, name: &str, lines: usize) -> String {
    let path = crate::support::project().join(format!("tests/data/claude-code/{name}.jsonl"));
    let text = std::fs::read_to_string(path).unwrap();
    let text: Vec<&str> = text.lines().take(lines).collect();
    text.join("\n").replace("/ws", scene.workspace().to_str().unwrap()) + "\n"
}

#[test]
fn a_missing_old_or_unknown_program_is_an_error() {
    let scene = Scene::new();
    let of = |program: PathBuf| {
        let claude = provider(program, ClaudeLogin::key(PLANTED_KEY).unwrap(), "http://127.0.0.1:9");
        failure(ask(&claude, &scene.request("x")))
    };
    let old = of(scene.script("2.1.197 (Claude Code)", "touch asked"));
    assert_eq!(old.kind, Kind::Program);
    for word in ["script/claude", "2.1.197", "2.1.300", "claude update"] {
        assert!(old.message.contains(word), "{old}");
    }
    assert!(!scene.workspace().join("asked").exists(), "an old program is not asked");
    let strange = of(scene.script("hello", ""));
    assert!(strange.kind == Kind::Program && strange.message.contains("does not report its version"), "{strange}");
    let missing = of(scene.path("nowhere/claude"));
    assert!(missing.kind == Kind::Program && missing.message.contains("cannot be started"), "{missing}");
    let lacking = of(scene.script(PINNED, "echo \"error: unknown option '--restricted'\" >&2; exit 1"));
    assert!(lacking.kind == Kind::Program && lacking.message.contains("--restricted"), "{lacking}");
    let status = run(ClaudeCode::new(scene.script(PINNED, "echo nonsense"), scene.kept()).status(&Cancel::new()));
    assert!(matches!(status, Err(LlmError::Failed(CallFailure { kind: Kind::Program, .. }))), "{status:?}");
}

#[test]
fn the_child_gets_only_the_variables_that_it_needs() {
    let scene = Scene::new();
    scene.write("does-not-matter", "");
    let report = scene.path("report");
    let does = format!("{{ env | cut -d= -f1 | sort; echo ARGS \"$@\"; cat; }} > {}", report.display());
    let program = scene.script(PINNED, &does);
    let names = ["SECRET_OF_THE_USER", "ANTHROPIC_API_KEY", "CLAUDE_CODE_USE_BEDROCK", "LANG", "PATH"];
    std::fs::create_dir(scene.path("temporary")).unwrap();
    let temporary = (OsString::from("TMPDIR"), scene.path("temporary").into_os_string());
    let mut variables = names.map(|name| (OsString::from(name), OsString::from("/usr/bin:/bin"))).to_vec();
    variables.push(temporary);
    let asked = |login: ClaudeLogin| {
        let claude = ClaudeCode::new(program.clone(), login).environment(variables.clone());
        assert_eq!(failure(ask(&claude, &scene.request("THE-PROMPT"))).kind, Kind::Killed);
        std::fs::read_to_string(&report).unwrap()
    };
    let kept = asked(scene.kept());
    for word in ["HOME\n", "TMPDIR\n", "LANG\n", "DISABLE_TELEMETRY\n", "--restricted", "--tools Read", "\nTHE-PROMPT"]
    {
        assert!(kept.contains(word), "{word:?}: {kept}");
    }
    for word in
        ["SECRET", "ANTHROPIC_API_KEY", "BEDROCK", "CONFIG_DIR", "--bare", "THE-ROLE", "allowedTools", "add-dir"]
    {
        assert!(!kept.contains(word), "{word:?}: {kept}");
    }
    let args = |text: &str| text.lines().find(|line| line.starts_with("ARGS")).unwrap().to_owned();
    assert!(!args(&kept).contains("PROMPT"), "the prompt is no argument: {kept}");
    let keyed = asked(ClaudeLogin::key(PLANTED_KEY).unwrap());
    assert!(keyed.contains("ANTHROPIC_API_KEY\n") && keyed.contains("--bare") && keyed.contains("CONFIG_DIR"));
    assert!(!args(&keyed).contains(PLANTED_KEY));
    let token = asked(token());
    let folder = token.split_whitespace().skip_while(|word| *word != "--system-prompt-file").nth(1).unwrap();
    let folder = Path::new(folder).parent().unwrap();
    assert!(
        folder.starts_with(scene.path("temporary")) && !folder.starts_with(scene.workspace()) && !folder.exists(),
        "{}",
        folder.display()
    );
    assert!(token.contains("CLAUDE_CODE_OAUTH_TOKEN\n") && !token.contains("--bare"));
}

#[test]
fn a_program_that_ends_badly_is_no_answer() {
    let scene = Scene::new();
    scene.write("begin.jsonl", &recorded(&scene, "read", 4));
    scene.write("all.jsonl", &recorded(&scene, "read", 100));
    let at = |name: &str| scene.path(name).display().to_string();
    let (begin, all) = (at("begin.jsonl"), at("all.jsonl"));
    let noise = format!("planted {PLANTED_KEY} and sk-ant-api03-zzz");
    for (does, kind, words) in [
        (format!("cat {begin}; kill -9 $$"), Kind::Killed, "signal 9"),
        (format!("cat {begin}; echo '{noise}' >&2; exit 3"), Kind::Killed, "status 3"),
        (format!("cat {begin}; printf '{{\"type\":\"res'"), Kind::Killed, "no result"),
        (format!("cat {all}; echo '{{\"type\":'"), Kind::Malformed, "cannot be read"),
        (format!("cat {all}; echo '[1]'"), Kind::Malformed, "no JSON object"),
        (format!("cat {begin}; yes 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'"), Kind::Malformed, "more than"),
        (format!("cat {begin}; {HANG}"), Kind::Idle, "within 2 seconds"),
        ("exit 0".to_owned(), Kind::Killed, "no result"),
    ] {
        let claude = scripted(&scene, &does);
        // By nature, this one takes time; the others must not depend on it.
        let call = if kind == Kind::Idle { Duration::from_secs(2) } else { limits().call };
        let limits = ClaudeLimits { output: 1 << 20, call, ..limits() };
        let failed = failure(ask(&claude.limits(limits), &scene.request("x")));
        assert!(failed.kind == kind && failed.message.contains(words), "{does}: {failed:?}");
        assert!(!format!("{failed:?}").contains("4711") && !failed.message.contains("sk-ant"), "{failed:?}");
        let known = does.contains("begin").then_some(100);
        if known.is_some() && kind == Kind::Killed {
            assert_eq!(failed.usage.map(|u| u.input), known, "what was paid for before it ended");
        }
    }
}

#[test]
fn a_program_that_does_not_confirm_its_restrictions_is_killed() {
    let scene = Scene::new();
    let good = recorded(&scene, "read", 2);
    for (what, text) in [
        ("another tool", good.replace("[\"Read\"]", "[\"Read\",\"Bash\"]")),
        ("a server", good.replace("\"mcp_servers\":[]", "\"mcp_servers\":[{\"name\":\"x\"}]")),
        ("no init", recorded(&scene, "read", 3).lines().last().unwrap().to_owned() + "\n"),
    ] {
        assert_ne!(text, good);
        scene.write("bad.jsonl", &text);
        let claude = scripted(&scene, &format!("cat {}; {HANG}", scene.path("bad.jsonl").display())).limits(patient());
        let (request, cancel) = (scene.request("x"), Cancel::new());
        let failed = failure(run(end_of("the call ends", claude.ask(&request, &cancel))));
        assert_eq!(failed.kind, Kind::NotConfined, "{what}: {failed}");
        assert_eq!(scene.processes(), Vec::<u32>::new(), "{what}");
    }
}

#[test]
fn a_finished_answer_survives_a_cancel_and_its_length() {
    let scene = Scene::new();
    let module = format!("---- MODULE Long ----\\n{}====", "\\\\* line\\n".repeat(300_000));
    let all = recorded(&scene, "read", 100).replace("FINAL ANSWER from fake model (read)", &module);
    scene.write("all.jsonl", &all);
    let done = scene.path("written");
    let does = format!("cat {}; touch {}; {HANG}", scene.path("all.jsonl").display(), done.display());
    let answer = cancelled_when(&scripted(&scene, &does).limits(patient()), &scene, || done.exists());
    let answer = answer.unwrap();
    assert!(answer.text.len() > 2 << 20 && answer.text.ends_with("===="), "{}", answer.text.len());
}
