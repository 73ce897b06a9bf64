//! Creates the toolchain that a command uses: Java, embedded, or a combination. Commands use it by its trait, and do
//! not know which checker runs.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tracing::info;

use super::checking::LoadedSpec;
use super::contradictions::{CONTRADICTIONS_DIR, ContradictionReports};
use super::environment::libraries_of_environment;
use super::failure::Failure;
use crate::config::{CheckerChoice, Settings};
use crate::exit::Exit;
use crate::nodes::MutantSampling;
use crate::tla::Cfg;
use crate::toolchain::{
    BothToolchains, ConfirmedToolchain, DistributedToolchain, EmbeddedToolchain, FallbackToolchain, JavaToolchain,
    Libraries, LibraryToolchain, Limits, LoggedToolchain, RemoteWorkers, Reporter, ToolError, ToolPaths, Toolchain,
    WorkerPlacement,
};

pub(super) struct Tools {
    pub toolchain: Box<dyn Toolchain>,
    /// The checker in use; `auto` only if the reference tools confirm what the embedded checker decides.
    pub choice: CheckerChoice,
    pub contradictions: Arc<ContradictionReports>,
}

/// Creates the tools that the settings select. With `both` and `auto`, contradictions are written below `reports_dir`.
///
/// # Errors
/// Status 4 if Java tools were selected and are missing.
pub(super) fn create_toolchain(settings: &Settings, reports_dir: &Path) -> Result<Tools, Failure> {
    let reports = Arc::new(ContradictionReports::new(reports_dir));
    let written = reports.clone();
    let report: Reporter = Box::new(move |contradiction| written.write(contradiction));
    let java = || discover_java_tools(settings).map_err(|e| tool_failure(&e));
    let (toolchain, choice): (Box<dyn Toolchain>, _) = match settings.checker {
        CheckerChoice::Tlc => (logged(java()?), CheckerChoice::Tlc),
        CheckerChoice::Embedded => (logged(embedded_tools()?), CheckerChoice::Embedded),
        CheckerChoice::Auto => match discover_java_tools(settings) {
            Ok(java) => {
                let confirmed = ConfirmedToolchain::new(logged(embedded_tools()?), logged(java), report);
                (Box::new(confirmed), CheckerChoice::Auto)
            }
            // Do not silently replace a jar that the user named by another checker.
            Err(missing) if is_jar_configured(settings) => return Err(tool_failure(&missing)),
            Err(_) => (logged(embedded_tools()?), CheckerChoice::Embedded),
        },
        CheckerChoice::Both => {
            let both = BothToolchains::new(logged(java()?), logged(embedded_tools()?), report);
            (Box::new(both), CheckerChoice::Both)
        }
    };
    info!(checker = ?choice, "tools chosen");
    Ok(Tools { toolchain, choice, contradictions: reports })
}

/// Creates the tools for a check in TLC's distributed mode.
///
/// # Errors
/// Status 2 if that mode would give a wrong result for this specification, or none.
pub(super) fn create_distributed_toolchain(
    settings: &Settings,
    workers: &WorkerPlacement,
    remote: Option<Box<dyn RemoteWorkers>>,
    loaded: &LoadedSpec,
) -> Result<Tools, Failure> {
    if matches!(settings.checker, CheckerChoice::Embedded | CheckerChoice::Both) {
        let message = "--distributed is a mode of TLC, and the settings choose another checker";
        return Err(Failure::usage(message).hint("use --checker tlc"));
    }
    let java = discover_java_tools(settings).map_err(|e| tool_failure(&e))?;
    let toolchain = DistributedToolchain::new(java, workers.clone()).map_err(|e| tool_failure(&e))?;
    let toolchain = toolchain.with_remote_workers(remote);
    // What cannot be parsed is reported by the check.
    if let Ok(cfg) = Cfg::parse(&loaded.cfg_text)
        && let Some(refusal) = toolchain.find_refusal(&loaded.spec, &cfg, &loaded.libraries)
    {
        let message = format!("{} cannot be checked with --distributed: {}", loaded.path.display(), refusal.why);
        return Err(Failure::usage(message).hint(refusal.advice));
    }
    workers.try_to_listen().map_err(|e| {
        Failure::usage(format!("cannot listen on {workers} for workers: {e}"))
            .hint("HOST is an address of this machine, and its port has to be free")
    })?;
    info!(?workers, "tools chosen: TLC in distributed mode");
    Ok(Tools {
        toolchain: logged(toolchain),
        choice: CheckerChoice::Tlc,
        contradictions: Arc::new(ContradictionReports::new(Path::new(CONTRADICTIONS_DIR))),
    })
}

/// Creates the tools for checks that approve nothing. With `auto`, the embedded checker goes first and the Java tools check
/// what it leaves undecided: starting a JVM takes longer than most of these checks.
pub(super) fn create_quick_toolchain(settings: &Settings, reports_dir: &Path) -> Result<Tools, Failure> {
    if settings.checker == CheckerChoice::Auto {
        let java = match discover_java_tools(settings) {
            Err(missing) if is_jar_configured(settings) => return Err(tool_failure(&missing)),
            found => found.ok(),
        };
        if let Some(java) = java {
            let toolchain = Box::new(FallbackToolchain::new(logged(embedded_tools()?), logged(java)));
            info!("tools chosen: the embedded checker, and the Java tools for what it refuses");
            return Ok(Tools {
                toolchain,
                choice: CheckerChoice::Tlc,
                contradictions: Arc::new(ContradictionReports::new(reports_dir)),
            });
        }
    }
    create_toolchain(settings, reports_dir)
}

/// Creates the tools for the mutants and larger bounds of a run whose specification the Java tools check: the embedded checker
/// goes first even if the user chose `tlc`, because these results are no verdict on the specification, and the journal of a
/// resumed run does not record whether `tlc` was chosen or found.
pub(super) fn create_side_toolchain(
    settings: &Settings,
    choice: CheckerChoice,
) -> Result<Option<Box<dyn Toolchain>>, Failure> {
    if !matches!(choice, CheckerChoice::Tlc | CheckerChoice::Auto) {
        return Ok(None);
    }
    let java = discover_java_tools(settings).map_err(|e| tool_failure(&e))?;
    Ok(Some(Box::new(FallbackToolchain::new(logged(embedded_tools()?), logged(java)))))
}

/// How mutants are sampled before an approval: only by the embedded checker, because each JVM would take a large part of
/// the short time.
pub(super) fn create_mutant_sampling(settings: &Settings) -> Result<Option<MutantSampling>, Failure> {
    let size = usize::try_from(settings.mutants).unwrap_or(usize::MAX);
    let sampling = || Ok(MutantSampling { toolchain: logged(embedded_tools()?), size });
    (size > 0).then(sampling).transpose()
}

fn logged(tools: impl Toolchain + 'static) -> Box<dyn Toolchain> {
    Box::new(LoggedToolchain::new(LibraryToolchain::new(tools)))
}

/// Whether the settings or the environment name a jar, as opposed to finding one.
pub(super) fn is_jar_configured(settings: &Settings) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    settings.given.tla_tools.is_some() || set("TLA_TOOLS_JAR") || set("TLA_JAR")
}

pub(super) fn discover_java_tools(settings: &Settings) -> Result<JavaToolchain, ToolError> {
    let env = |name: &str| std::env::var_os(name);
    let tools =
        JavaToolchain::discover(&ToolPaths { jar: settings.given.tla_tools.as_deref(), java: None, env: &env })?;
    Ok(match embedded_tools() {
        Ok(embedded) => tools.with_embedded_checker(embedded),
        Err(_) => tools,
    })
}

pub(super) fn embedded_tools() -> Result<EmbeddedToolchain, Failure> {
    let env = |name: &str| std::env::var_os(name);
    // An update may have replaced the file since this process started; Linux offers the running image itself.
    let image = PathBuf::from("/proc/self/exe");
    let program = if image.exists() { Ok(image) } else { std::env::current_exe() };
    let program = program.map_err(|e| Failure::new(Exit::Tool, format!("cannot find this program: {e}")))?;
    let paths = ToolPaths { jar: None, java: None, env: &env };
    Ok(EmbeddedToolchain::new(program, &paths))
}

pub(super) fn tool_failure(error: &ToolError) -> Failure {
    if let Some((what, advice)) = error.missing() {
        return Failure::new(Exit::Tool, what).hint(advice.to_owned());
    }
    match error {
        ToolError::Cancelled => Failure::new(Exit::Interrupted, "interrupted"),
        ToolError::Unavailable(what) => Failure::new(Exit::Undecided, what.clone()),
        other => Failure::new(Exit::Tool, other.to_string()),
    }
}

pub(super) fn tool_limits(settings: &Settings) -> Result<Limits, Failure> {
    let libraries = Libraries::open(&settings.given.library).map_err(|e| {
        let failure = Failure::usage(e.to_string())
            .hint("--library takes a folder of .tla files, or a jar with them in its root");
        if libraries_of_environment().contains(&e.path) {
            failure.hint("it is an entry of TLA_PATH, TLA-Library or JAVA_TOOL_OPTIONS")
        } else {
            failure
        }
    })?;
    Ok(limits_with(settings, libraries))
}

/// The limits without any library, for commands that use no modules.
pub(super) fn tool_limits_without_libraries(settings: &Settings) -> Limits {
    limits_with(settings, Libraries::default())
}

fn limits_with(settings: &Settings, libraries: Libraries) -> Limits {
    Limits {
        check: Duration::from_secs(settings.tlc_timeout),
        workers: settings.given.workers.map(NonZeroUsize::get),
        heap_mib: settings.given.heap_mib.map(NonZeroU64::get),
        allowed_modules: settings.given.allow_modules.clone(),
        libraries,
        ..Limits::default()
    }
}
