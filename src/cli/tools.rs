//! The machine around a run: clock, environment, signals, tools, crash points.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tracing::info;

use super::contradictions::ContradictionReports;
use super::failure::Failure;
use crate::config::{CheckerChoice, Settings};
use crate::exit::Exit;
use crate::toolchain::{
    BothToolchains, EmbeddedToolchain, FallbackToolchain, JavaToolchain, Limits, LoggedToolchain, Reporter, ToolError,
    ToolPaths, Toolchain,
};

/// The tools of a command.
pub(super) struct Tools {
    /// What translates, parses and checks.
    pub toolchain: Box<dyn Toolchain>,
    /// What was chosen; never `auto`.
    pub choice: CheckerChoice,
    /// Contradictions that were met.
    pub contradictions: Arc<ContradictionReports>,
}

/// The tools that the settings ask for. Contradictions between two of them are written below `contradictions`. Java tools that
/// are missing end with status 4, and how to get them, where they were asked for.
pub(super) fn create_toolchain(settings: &Settings, contradictions: &Path) -> Result<Tools, Failure> {
    let reports = Arc::new(ContradictionReports::new(contradictions));
    let java = || discover_java_tools(settings).map_err(|e| tool_failure(&e));
    let (toolchain, choice): (Box<dyn Toolchain>, _) = match settings.checker {
        CheckerChoice::Tlc => (logged(java()?), CheckerChoice::Tlc),
        CheckerChoice::Embedded => (logged(embedded_tools(settings)?), CheckerChoice::Embedded),
        CheckerChoice::Auto => match discover_java_tools(settings) {
            Ok(java) => (logged(java), CheckerChoice::Tlc),
            // Another checker in place of the one that somebody named would be a surprise.
            Err(missing) if is_jar_configured(settings) => return Err(tool_failure(&missing)),
            Err(_) => (logged(embedded_tools(settings)?), CheckerChoice::Embedded),
        },
        CheckerChoice::Both => {
            let reports = reports.clone();
            let report: Reporter = Box::new(move |contradiction| reports.write(contradiction));
            let both = BothToolchains::new(logged(java()?), logged(embedded_tools(settings)?), report);
            (Box::new(both), CheckerChoice::Both)
        }
    };
    info!(checker = ?choice, "tools chosen");
    Ok(Tools { toolchain, choice, contradictions: reports })
}

/// The tools for many small checks: where nobody chose, what the program carries goes first, and the Java tools are asked
/// for whatever it refuses.
pub(super) fn create_quick_toolchain(settings: &Settings, contradictions: &Path) -> Result<Tools, Failure> {
    if settings.checker == CheckerChoice::Auto {
        let java = match discover_java_tools(settings) {
            Err(missing) if is_jar_configured(settings) => return Err(tool_failure(&missing)),
            found => found.ok(),
        };
        if let Some(java) = java {
            let toolchain = Box::new(FallbackToolchain::new(logged(embedded_tools(settings)?), logged(java)));
            info!("tools chosen: the embedded checker, and the Java tools for what it refuses");
            return Ok(Tools {
                toolchain,
                choice: CheckerChoice::Tlc,
                contradictions: Arc::new(ContradictionReports::new(contradictions)),
            });
        }
    }
    create_toolchain(settings, contradictions)
}

/// For the mutants of a run: where the Java tools decide on the specification, what the program carries goes before them
/// here, whoever chose them; a resumed run does not know. What a mutant shows is no verdict on the specification.
pub(super) fn create_mutant_toolchain(
    settings: &Settings,
    choice: CheckerChoice,
) -> Result<Option<Box<dyn Toolchain>>, Failure> {
    if choice != CheckerChoice::Tlc {
        return Ok(None);
    }
    let java = discover_java_tools(settings).map_err(|e| tool_failure(&e))?;
    Ok(Some(Box::new(FallbackToolchain::new(logged(embedded_tools(settings)?), logged(java)))))
}

fn logged(tools: impl Toolchain + 'static) -> Box<dyn Toolchain> {
    Box::new(LoggedToolchain::new(tools))
}

/// Whether the settings or the environment name a jar.
pub(super) fn is_jar_configured(settings: &Settings) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    settings.given.tla_tools.is_some() || set("TLA_TOOLS_JAR") || set("TLA_JAR")
}

/// The Java tools.
pub(super) fn discover_java_tools(settings: &Settings) -> Result<JavaToolchain, ToolError> {
    let env = |name: &str| std::env::var_os(name);
    JavaToolchain::discover(&ToolPaths { jar: settings.given.tla_tools.as_deref(), java: None, env: &env })
}

/// What the program carries.
pub(super) fn embedded_tools(settings: &Settings) -> Result<EmbeddedToolchain, Failure> {
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
pub(super) fn tool_limits(settings: &Settings) -> Limits {
    Limits {
        check: Duration::from_secs(settings.tlc_timeout),
        workers: settings.given.workers.map(NonZeroUsize::get),
        heap_mib: settings.given.heap_mib.map(NonZeroU64::get),
        allowed_modules: settings.given.allow_modules.clone(),
        ..Limits::default()
    }
}
