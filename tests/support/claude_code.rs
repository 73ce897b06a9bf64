//! Runs the real Claude Code program with a model server of the tests, or a script in its place.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tlaforge::journal::Sha;
use tlaforge::llm::{Answer, ClaudeCode, ClaudeLimits, ClaudeLogin, LlmError, ModelChoice, Offered, Provider as _};
use tlaforge::llm::{Request, RequestKey};
use tlaforge::process::Cancel;

use super::model_server::ModelServer;

/// The version that `scripts/setup` installs.
pub const PINNED: &str = "2.1.329";

/// The real program. Panics if it is missing, so that no test passes without it.
pub fn real_program() -> PathBuf {
    let packages = super::project().join("target/claude-code/node_modules/@anthropic-ai");
    let found =
        std::fs::read_dir(packages).into_iter().flatten().flatten().map(|package| package.path().join("claude"));
    found.into_iter().find(|program| program.is_file()).expect("the Claude Code program: scripts/setup installs it")
}

/// Workspace and home folders of one test.
pub struct Scene {
    pub dir: tempfile::TempDir,
}

impl Scene {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["workspace/docs", "home/.claude", "outside"] {
            std::fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        let scene = Self { dir };
        scene.write("workspace/docs/a.md", "A document.\nIts second line.\n");
        scene.write("workspace/Spec.tla", "---- MODULE Spec ----\n====\n");
        scene.write("outside/secret.md", "OUTSIDE-SECRET\n");
        scene
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(path)
    }

    pub fn workspace(&self) -> PathBuf {
        self.path("workspace")
    }

    /// The login that the program keeps in this home folder.
    pub fn kept(&self) -> ClaudeLogin {
        ClaudeLogin::Kept { home: self.path("home"), config_dir: None }
    }

    pub fn request(&self, prompt: &str) -> Request {
        let offered = ["docs/a.md", "Spec.tla"].map(|path| {
            let bytes = std::fs::read(self.workspace().join(path)).unwrap();
            Offered {
                path: path.into(),
                sha: Sha::digest(&bytes),
                bytes: bytes.len() as u64,
                shared: false,
                is_index: false,
            }
        });
        Request {
            key: RequestKey { node: "review".into(), branch_index: 0, attempt: 1, purpose: "draft".into(), sample: 0 },
            seq: 1,
            role: "THE-ROLE: you review.".into(),
            prompt: prompt.into(),
            workspace: self.workspace(),
            offered: offered.into(),
            choice: ModelChoice { model: Some("claude-sonnet-4-5".into()), ..ModelChoice::default() },
            schema: None,
        }
    }

    /// A shell script as program: prints `version` for `--version`, otherwise runs `does`.
    pub fn script(&self, version: &str, does: &str) -> PathBuf {
        self.write("script/version", version);
        self.write("script/does.sh", does);
        let program = self.path("script/claude");
        let _ = std::fs::remove_file(&program);
        // Not a copy: a file that was just written cannot be run while another thread forks.
        std::os::unix::fs::symlink(super::project().join("tests/support/claude.sh"), &program).unwrap();
        program
    }

    /// Ids of processes whose working folder is the workspace.
    pub fn processes(&self) -> Vec<u32> {
        let here = self.workspace();
        let all = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        all.filter(|entry| std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == here))
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .collect()
    }
}

/// Limits for a test, so long that only what hangs reaches them.
pub fn limits() -> ClaudeLimits {
    ClaudeLimits { request: Duration::from_secs(120), call: Duration::from_secs(300), ..Default::default() }
}

/// The provider, with this server as its API.
pub fn provider(program: PathBuf, login: ClaudeLogin, url: &str) -> ClaudeCode {
    let variables = [("ANTHROPIC_BASE_URL", url), ("PATH", "/usr/bin:/bin"), ("NO_PROXY", "127.0.0.1")];
    let variables = variables.map(|(name, value)| (OsString::from(name), OsString::from(value)));
    ClaudeCode::new(program, login).environment(variables).limits(limits())
}

pub fn by_key(program: PathBuf, server: &ModelServer) -> ClaudeCode {
    provider(program, ClaudeLogin::key(PLANTED_KEY).unwrap(), &server.url())
}

pub const PLANTED_KEY: &str = "planted-key-4711";

pub fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

pub fn ask(claude: &ClaudeCode, request: &Request) -> Result<Answer, LlmError> {
    run(claude.ask(request, &Cancel::new()))
}

/// Every file below a folder, with its content.
pub fn snapshot(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all: Vec<_> = walkdir::WalkDir::new(folder)
        .into_iter()
        .map(Result::unwrap)
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| (entry.path().to_owned(), std::fs::read(entry.path()).unwrap()))
        .collect();
    all.sort();
    all
}
