//! Where mutants are judged: in this process, or on other machines. Selection, results and reports are the same for both.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use tlaforge_process::Cancel;
use tlaforge_tla::{Cfg, Module};
use tlaforge_toolchain::{BoxFuture, Limits, ToolContext, ToolError, Toolchain, is_plain_name};

use super::judge::Judge;
use super::subject::{Subject, parse_side};
use super::{Judgement, Mutant};

/// Judges mutants, several at a time.
pub trait Engine: Send + Sync {
    fn judge<'a>(&'a self, mutant: &'a Mutant) -> BoxFuture<'a, Result<Judgement, ToolError>>;

    /// Ends what was submitted and is not finished, after a failure or an interruption.
    fn cancel_submitted(&self) -> BoxFuture<'_, ()>;
}

/// Judges mutants in this process.
pub struct LocalEngine<'a> {
    pub judge: &'a Judge<'a>,
    pub cx: &'a ToolContext<'a>,
}

impl Engine for LocalEngine<'_> {
    fn judge<'a>(&'a self, mutant: &'a Mutant) -> BoxFuture<'a, Result<Judgement, ToolError>> {
        Box::pin(self.judge.judge(mutant, self.cx))
    }

    fn cancel_submitted(&self) -> BoxFuture<'_, ()> {
        // Dropping a future ends its checker.
        Box::pin(async {})
    }
}

/// One mutant with everything that its judgement needs, to be judged on another machine.
#[derive(Debug, Serialize, Deserialize)]
pub struct MutantJob {
    file: String,
    source: String,
    /// The original with its translation.
    module: String,
    local_modules: Vec<(String, String)>,
    cfg_text: String,
    mutant: Mutant,
    /// See [`Judge::version`].
    version: String,
    /// Time limit of each run of the checker.
    pub check: Duration,
    pub heap_mib: Option<u64>,
    pub allowed_modules: Vec<String>,
}

impl MutantJob {
    pub fn new(judge: &Judge<'_>, mutant: &Mutant, limits: &Limits) -> Self {
        let Subject { file, source, module, local_modules, cfg_text, .. } = judge.subject;
        Self {
            file: file.clone(),
            source: source.clone(),
            module: module.source.clone(),
            local_modules: local_modules.clone(),
            cfg_text: cfg_text.clone(),
            mutant: mutant.clone(),
            version: judge.version.to_owned(),
            check: limits.check,
            heap_mib: limits.heap_mib,
            allowed_modules: limits.allowed_modules.clone(),
        }
    }

    /// Judges it as [`Judge::judge`] does for a thorough judge. The error says why this machine could not.
    pub async fn judge(self, tools: &dyn Toolchain, cancel: &Cancel) -> Result<Judgement, String> {
        // They become names of files.
        if let Some((name, _)) = self.local_modules.iter().find(|(name, _)| !is_plain_name(name)) {
            return Err(format!("{name:?} is not a name of a module"));
        }
        if !self.mutant.fits(&self.source) {
            return Err("the edits of the mutant are outside of its source".to_owned());
        }
        let cfg = Cfg::parse(&self.cfg_text).map_err(|e| format!("the configuration cannot be read: {e}"))?;
        let module = Module::parse(&self.module).map_err(|e| e.to_string())?;
        let limits = Limits { heap_mib: self.heap_mib, allowed_modules: self.allowed_modules, ..Limits::default() };
        let limits = limits_per_mutant(&limits, self.check);
        let side = parse_side(&module, &cfg);
        let Self { file, source, local_modules, cfg_text, .. } = self;
        let subject = Subject { file, source, module, local_modules, cfg, cfg_text, side };
        let judge = Judge::thorough(tools, &subject, &self.version);
        let cx = ToolContext { limits: &limits, cancel, progress: &|_| {} };
        judge.judge(&self.mutant, &cx).await.map_err(|e| e.to_string())
    }
}

/// Limits for each run of a mutant: one worker, because several mutants run in parallel.
pub fn limits_per_mutant(limits: &Limits, deadline: Duration) -> Limits {
    Limits { check: deadline, workers: Some(1), ..limits.clone() }
}
