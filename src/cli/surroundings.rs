//! The machine around a run: clock, environment, signals, tools, crash points.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tracing::info;

pub(super) use super::defects::{DEFECTS, Defects};
use super::failure::Failure;
use crate::config::{CheckerChoice, Settings};
use crate::exit::Exit;
use crate::journal::{Clock, Crash};
use crate::process::Cancel;
use crate::toolchain::{
    BothToolchains, EmbeddedToolchain, FallbackToolchain, JavaToolchain, Limits, LoggedToolchain, Reporter, ToolError,
    ToolPaths, Toolchain,
};

/// UTC, to the millisecond.
pub(super) fn clock() -> Clock {
    Arc::new(|| {
        let now = jiff::Timestamp::now();
        now.round(jiff::Unit::Millisecond).unwrap_or(now).to_string()
    })
}

pub(super) fn env(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The tools of a command.
pub(super) struct Tools {
    /// What translates, parses and checks.
    pub toolchain: Box<dyn Toolchain>,
    /// What was chosen; never `auto`.
    pub choice: CheckerChoice,
    /// Contradictions that were met.
    pub defects: Arc<Defects>,
}

/// The tools that the settings ask for. Contradictions between two of them are written below `defects`. Java tools that
/// are missing end with status 4, and how to get them, where they were asked for.
pub(super) fn toolchain(settings: &Settings, defects: &Path) -> Result<Tools, Failure> {
    let reports = Arc::new(Defects::new(defects));
    let java = || discover(settings).map_err(|e| tool_failure(&e));
    let (toolchain, choice): (Box<dyn Toolchain>, _) = match settings.checker {
        CheckerChoice::Tlc => (logged(java()?), CheckerChoice::Tlc),
        CheckerChoice::Embedded => (logged(embedded(settings)?), CheckerChoice::Embedded),
        CheckerChoice::Auto => match discover(settings) {
            Ok(java) => (logged(java), CheckerChoice::Tlc),
            // Another checker in place of the one that somebody named would be a surprise.
            Err(missing) if names_a_jar(settings) => return Err(tool_failure(&missing)),
            Err(_) => (logged(embedded(settings)?), CheckerChoice::Embedded),
        },
        CheckerChoice::Both => {
            let reports = reports.clone();
            let report: Reporter = Box::new(move |contradiction| reports.write(contradiction));
            let both = BothToolchains::new(logged(java()?), logged(embedded(settings)?), report);
            (Box::new(both), CheckerChoice::Both)
        }
    };
    info!(checker = ?choice, "tools chosen");
    Ok(Tools { toolchain, choice, defects: reports })
}

/// The tools for many small checks: where nobody chose, what the program carries goes first, and the Java tools are asked
/// for whatever it refuses.
pub(super) fn quick_toolchain(settings: &Settings, defects: &Path) -> Result<Tools, Failure> {
    if settings.checker == CheckerChoice::Auto {
        let java = match discover(settings) {
            Err(missing) if names_a_jar(settings) => return Err(tool_failure(&missing)),
            found => found.ok(),
        };
        if let Some(java) = java {
            let toolchain = Box::new(FallbackToolchain::new(logged(embedded(settings)?), logged(java)));
            info!("tools chosen: the embedded checker, and the Java tools for what it refuses");
            return Ok(Tools { toolchain, choice: CheckerChoice::Tlc, defects: Arc::new(Defects::new(defects)) });
        }
    }
    toolchain(settings, defects)
}

/// For the mutants of a run: where the Java tools decide on the specification, what the program carries goes before them
/// here, whoever chose them; a resumed run does not know. What a mutant shows is no verdict on the specification.
pub(super) fn quicker(settings: &Settings, choice: CheckerChoice) -> Result<Option<Box<dyn Toolchain>>, Failure> {
    if choice != CheckerChoice::Tlc {
        return Ok(None);
    }
    let java = discover(settings).map_err(|e| tool_failure(&e))?;
    Ok(Some(Box::new(FallbackToolchain::new(logged(embedded(settings)?), logged(java)))))
}

fn logged(tools: impl Toolchain + 'static) -> Box<dyn Toolchain> {
    Box::new(LoggedToolchain::new(tools))
}

/// Whether the settings or the environment name a jar.
pub(super) fn names_a_jar(settings: &Settings) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    settings.given.tla_tools.is_some() || set("TLA_TOOLS_JAR") || set("TLA_JAR")
}

/// The Java tools.
pub(super) fn discover(settings: &Settings) -> Result<JavaToolchain, ToolError> {
    let env = |name: &str| std::env::var_os(name);
    JavaToolchain::discover(&ToolPaths { jar: settings.given.tla_tools.as_deref(), java: None, env: &env })
}

/// What the program carries.
pub(super) fn embedded(settings: &Settings) -> Result<EmbeddedToolchain, Failure> {
    let env = |name: &str| std::env::var_os(name);
    // The file may have been replaced since we began; where the system offers our own image, that is it.
    let image = PathBuf::from("/proc/self/exe");
    let program = if image.exists() { Ok(image) } else { std::env::current_exe() };
    let program = program.map_err(|e| Failure::new(Exit::Tool, format!("cannot find this program: {e}")))?;
    let paths = ToolPaths { jar: settings.given.tla_tools.as_deref(), java: None, env: &env };
    Ok(EmbeddedToolchain::new(program, &paths))
}

pub(super) fn tool_failure(error: &ToolError) -> Failure {
    match error {
        ToolError::Cancelled => Failure::new(Exit::Interrupted, "interrupted"),
        ToolError::Missing { tool, advice } => {
            Failure::new(Exit::Tool, format!("{tool} was not found")).hint(advice.clone())
        }
        ToolError::NoJar { advice } => Failure::new(Exit::Tool, "tla2tools.jar was not found").hint(advice.clone()),
        other => Failure::new(Exit::Tool, other.to_string()),
    }
}

/// Limits of tool runs.
pub(super) fn limits(settings: &Settings) -> Limits {
    Limits {
        check: Duration::from_secs(settings.tlc_timeout),
        workers: settings.given.workers.map(NonZeroUsize::get),
        heap_mib: settings.given.heap_mib.map(NonZeroU64::get),
        allowed_modules: settings.given.allow_modules.clone(),
        ..Limits::default()
    }
}

/// How long the program may take to notice a signal before it is ended all the same.
const NOTICE: Duration = Duration::from_secs(5);

/// Cancels on the first signal, and ends the process on the second. Signals are handled in a thread of their own: while
/// the program computes by itself, nothing else of it would notice them.
pub(super) fn cancel_on_signals() -> Cancel {
    use tokio::signal::unix::{SignalKind, signal};
    let cancel = Cancel::new();
    let given = cancel.clone();
    let program = tokio::runtime::Handle::current();
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return cancel };
    // Registered here and not in the thread: a signal before that begins would end the process as if nobody listened.
    let registered = {
        let _inside = runtime.enter();
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    };
    let (Ok(mut interrupt), Ok(mut terminate)) = registered else { return cancel };
    let mut signalled = async move || {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    };
    std::thread::spawn(move || {
        runtime.block_on(async {
            signalled().await;
            given.cancel();
            // It is busy with a computation of its own if it does not even begin this.
            let noticed = tokio::time::timeout(NOTICE, program.spawn(async {}));
            tokio::select! {
                () = signalled() => {}
                noticed = noticed => if noticed.is_ok() {
                    signalled().await;
                }
            }
            #[expect(clippy::exit, reason = "a second Ctrl-C means now; the journal is durable at every instant")]
            std::process::exit(i32::from(Exit::Interrupted.code()));
        });
    });
    cancel
}

/// Crash tests end the process at a journal event: `TLAFORGE_CRASH=before:17`, `torn:17` or `after:17`.
pub(super) fn crash_point() -> Result<Option<Crash>, Failure> {
    let Some(value) = env("TLAFORGE_CRASH") else { return Ok(None) };
    let point = value.split_once(':').and_then(|(kind, seq)| {
        let seq = seq.parse().ok()?;
        match kind {
            "before" => Some(Crash::Before(seq)),
            "torn" => Some(Crash::Torn(seq)),
            "after" => Some(Crash::After(seq)),
            _ => None,
        }
    });
    point.map(Some).ok_or_else(|| Failure::usage(format!("TLAFORGE_CRASH is {value:?}; it must be like after:17")))
}
