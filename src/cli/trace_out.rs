//! `check --trace-out FILE`: writes the counterexample in the format that the name of the file ends with.

use std::path::{Path, PathBuf};

use super::failure::Failure;
use super::output_file::write_file;
use crate::report::{explain, trace_itf, trace_mermaid, trace_plantuml};
use crate::tla::{
    Cfg, CheckOutcome, Module, ReplayModule, Trace, UNLIMITED_WIDTH, Verdict, is_module_name, trace_table,
};

/// A format of a trace, by the end of the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TraceFormat {
    Itf,
    Json,
    Tla,
    Markdown,
    Mermaid,
    PlantUml,
}

const FORMATS: [(&str, TraceFormat); 6] = [
    (".itf.json", TraceFormat::Itf),
    (".json", TraceFormat::Json),
    (".tla", TraceFormat::Tla),
    (".md", TraceFormat::Markdown),
    (".mmd", TraceFormat::Mermaid),
    (".puml", TraceFormat::PlantUml),
];

/// A file for a trace. Its name is checked before the check runs.
#[derive(Debug, Clone)]
pub(super) struct TraceFile {
    path: PathBuf,
    format: TraceFormat,
}

impl TraceFile {
    pub(super) fn parse(path: &str) -> Result<Self, String> {
        let found = FORMATS.iter().find(|(end, _)| path.ends_with(end) && path.len() > end.len());
        let (end, format) = found.ok_or("the name must end with .itf.json, .json, .tla, .md, .mmd or .puml")?;
        let name = Path::new(path).file_name().map_or("", |name| name.to_str().unwrap_or(""));
        let stem = name.strip_suffix(end).unwrap_or(name);
        if *format == TraceFormat::Tla && !is_module_name(stem) {
            return Err(format!("a module cannot have the name `{stem}`"));
        }
        Ok(Self { path: path.into(), format: *format })
    }

    /// Refuses a target before the check runs: a folder that does not exist, and a module or a configuration that is no earlier
    /// counterexample, such as an input.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let shown = self.path.display();
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !folder.is_dir() || self.path.is_dir() {
            return Err(Failure::usage(format!("cannot write the counterexample {shown}"))
                .hint("--trace-out takes a file in an existing folder"));
        }
        if self.format != TraceFormat::Tla {
            return Ok(());
        }
        let is_earlier = std::fs::read_to_string(&self.path).is_ok_and(|text| ReplayModule::is_one(&text));
        let cfg_path = self.path.with_extension("cfg");
        match [&self.path, &cfg_path].into_iter().find(|path| path.exists()) {
            Some(taken) if !is_earlier => Err(Failure::usage(format!(
                "{} exists, and is no counterexample that was written before",
                taken.display()
            ))
            .hint("give the module of the trace another name")),
            _ => Ok(()),
        }
    }

    /// Writes the counterexample. Returns the files that were written; none if there is no counterexample.
    pub(super) fn write(&self, outcome: &CheckOutcome, module: &Module, cfg: &str) -> Result<Vec<PathBuf>, Failure> {
        let (Some(trace), Verdict::Violated { violated }) = (&outcome.trace, &outcome.verdict) else {
            return Ok(Vec::new());
        };
        let name = violated.name.as_deref().unwrap_or("the specification");
        let itf = || trace_itf(trace, &format!("{}.tla", module.name), name);
        self.write_trace(trace, module, cfg, itf, || markdown(outcome, trace, name))
    }

    /// Writes a path that is no counterexample. Returns the files that were written.
    pub(super) fn write_path(&self, trace: &Trace, module: &Module, cfg: &str) -> Result<Vec<PathBuf>, Failure> {
        self.check()?;
        let itf = || {
            let mut itf = trace_itf(trace, &format!("{}.tla", module.name), "");
            if let Some(meta) = itf["#meta"].as_object_mut() {
                meta.remove("status");
                meta.insert("description".to_owned(), "a path".into());
            }
            itf
        };
        let markdown = || format!("# A path of {}\n\n{}", module.name, trace_table(trace, UNLIMITED_WIDTH));
        self.write_trace(trace, module, cfg, itf, markdown)
    }

    fn write_trace(
        &self,
        trace: &Trace,
        module: &Module,
        cfg: &str,
        itf: impl FnOnce() -> serde_json::Value,
        markdown: impl FnOnce() -> String,
    ) -> Result<Vec<PathBuf>, Failure> {
        let json = |value: &serde_json::Value| serde_json::to_string_pretty(value).unwrap_or_default() + "\n";
        let text = match self.format {
            TraceFormat::Itf => json(&itf()),
            TraceFormat::Json => json(&serde_json::to_value(trace).unwrap_or_default()),
            TraceFormat::Markdown => markdown(),
            TraceFormat::Mermaid => trace_mermaid(trace),
            TraceFormat::PlantUml => trace_plantuml(trace),
            TraceFormat::Tla => return self.write_module(trace, module, cfg),
        };
        write_file(&self.path, &text)?;
        Ok(vec![self.path.clone()])
    }

    fn write_module(&self, trace: &Trace, module: &Module, cfg: &str) -> Result<Vec<PathBuf>, Failure> {
        let cfg = Cfg::parse(cfg).map_err(|error| Failure::usage(error.to_string()))?;
        let stem = self.path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let ReplayModule { module, cfg } = ReplayModule::new(&stem, module, &cfg, trace);
        let cfg_path = self.path.with_extension("cfg");
        write_file(&self.path, &module)?;
        write_file(&cfg_path, &cfg)?;
        Ok(vec![self.path.clone(), cfg_path])
    }
}

fn markdown(outcome: &CheckOutcome, trace: &Trace, name: &str) -> String {
    let table = trace_table(trace, UNLIMITED_WIDTH);
    let sentences = explain(outcome).unwrap_or_default();
    // A fence longer than any run of backticks inside.
    let longest = table.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("# Counterexample to {name}\n\n{}\n\n{fence}text\n{}\n{fence}\n", sentences.trim_end(), table.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_the_name_decides_the_format() {
        for (path, format) in FORMATS {
            let file = TraceFile::parse(&format!("folder/Trace{path}")).expect("a format");
            assert_eq!(file.format, format);
        }
        for path in ["trace", "trace.txt", ".json", "a trace.tla", "dir/1-2.tla", "a.tla.tla"] {
            assert!(TraceFile::parse(path).is_err(), "{path}");
        }
    }
}
