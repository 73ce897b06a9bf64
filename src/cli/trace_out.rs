//! `check --trace-out FILE`: writes the counterexample in the format that the name of the file ends with.

use std::path::{Path, PathBuf};

use super::evaluator::write_file;
use super::failure::Failure;
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
        let stem = Path::new(path).file_name().map_or("", |name| name.to_str().unwrap_or("")).trim_end_matches(end);
        if *format == TraceFormat::Tla && !is_module_name(stem) {
            return Err(format!("a module cannot have the name `{stem}`"));
        }
        Ok(Self { path: path.into(), format: *format })
    }

    /// Writes the counterexample. Returns the files that were written; none if there is no counterexample.
    pub(super) fn write(&self, outcome: &CheckOutcome, module: &Module, cfg: &str) -> Result<Vec<PathBuf>, Failure> {
        let (Some(trace), Verdict::Violated { violated }) = (&outcome.trace, &outcome.verdict) else {
            return Ok(Vec::new());
        };
        let name = violated.name.as_deref().unwrap_or("the specification");
        let json = |value: &serde_json::Value| serde_json::to_string_pretty(value).unwrap_or_default() + "\n";
        let text = match self.format {
            TraceFormat::Itf => json(&trace_itf(trace, &format!("{}.tla", module.name), name)),
            TraceFormat::Json => json(&serde_json::to_value(trace).unwrap_or_default()),
            TraceFormat::Markdown => markdown(outcome, trace, name),
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
        if stem == module.name {
            let failure = Failure::usage(format!("{} would replace the specification", self.path.display()));
            return Err(failure.hint("give the module of the trace another name"));
        }
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
        for path in ["trace", "trace.txt", ".json", "a trace.tla", "dir/1-2.tla"] {
            assert!(TraceFile::parse(path).is_err(), "{path}");
        }
    }
}
