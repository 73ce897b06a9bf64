//! What a file that may have come with somebody else's folder may not decide: which program runs, whose server gets a key,
//! what a module may reach, which file is written over.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::environment::nonempty_variable;
use super::failure::Failure;
use crate::config::{FILE_NAME, Layer, Settings};
use crate::files;
use crate::llm::{Recording, remote_host};

/// A settings file of the working folder, beside the flags of the command.
pub(super) fn refuse_untrusted_file(file: &Layer, flags: &Layer, provider: &str) -> Result<(), Failure> {
    let refused = |what: String, hint: &str| Err(Failure::usage(format!("{FILE_NAME} names {what}")).hint(hint));
    let shown = |path: &Path| path.display().to_string();
    if let (Some(path), None) = (&file.claude_path, &flags.claude_path) {
        let hint = "a program is taken from the command line only: --claude-path FILE";
        return refused(format!("a program to run: {}", shown(path)), hint);
    }
    if let (Some(path), None) = (&file.tla_tools, &flags.tla_tools) {
        let hint = "a program is taken from the command line or the environment only: --tla-tools FILE, or TLA_TOOLS_JAR; take \
                    the line out of the file";
        return refused(format!("a jar to run: {}", shown(path)), hint);
    }
    if let (false, true) = (file.allow_modules.is_empty(), flags.allow_modules.is_empty()) {
        let hint = "that is allowed on the command line only: --allow-module NAME; take the line out of the file";
        return refused(format!("modules that can reach outside: {}", file.allow_modules.join(", ")), hint);
    }
    if let (Some(path), None) = (&file.record, &flags.record) {
        let hint = "where answers are recorded is taken from the command line only: --record FILE; take the line out of the file";
        return refused(format!("a file to write: {}", shown(path)), hint);
    }
    for (what, flag, path, given) in [
        ("a folder of exemplars", "--exemplars DIR", &file.exemplars, &flags.exemplars),
        ("a folder of prompts", "--prompts DIR", &file.prompts, &flags.prompts),
        ("a recording", "--recording FILE", &file.recording, &flags.recording),
        ("a price table", "--prices FILE", &file.prices, &flags.prices),
    ] {
        if let (Some(path), None) = (path, given)
            && !files::is_within(Path::new("."), path)
        {
            return refused(
                format!("{what} outside of this folder: {}", shown(path)),
                &format!("a file outside is read only if the command line names it: {flag}"),
            );
        }
    }
    let key = match provider {
        "anthropic" => "ANTHROPIC_API_KEY",
        "openai" => "OPENAI_API_KEY",
        _ => return Ok(()),
    };
    let server = file.base_url.as_deref().filter(|_| flags.base_url.is_none() && nonempty_variable(key).is_some());
    match server.and_then(remote_host) {
        Some(host) => refused(
            format!("a server that would get your {key}: {host}"),
            "a key goes only where you send it yourself: --base-url URL",
        ),
        None => Ok(()),
    }
}

/// The settings of a run that is resumed, beside the flags of today. A run folder may be somebody else's as well: what its
/// journal names of this kind must be named again, unless it is what this machine would take anyway.
pub(super) fn refuse_untrusted_journal(recorded: &Layer, flags: &Layer, settings: &Settings) -> Result<(), Failure> {
    let (mut named, mut again) = (Vec::new(), String::new());
    let mut refuse = |what: String, flag: &str, value: &str| {
        named.push(what);
        let _ = write!(again, " {flag} {}", quoted(value));
    };
    let is_asked = |names: &[&str]| names.contains(&settings.provider.as_str());
    if let (Some(path), None, true) = (&recorded.claude_path, &flags.claude_path, is_asked(&["claude", "auto"]))
        && which::which("claude").ok().as_ref() != Some(path)
    {
        let shown = path.display().to_string();
        refuse(format!("a program to run ({shown})"), "--claude-path", &shown);
    }
    if let (Some(path), None) = (&recorded.tla_tools, &flags.tla_tools) {
        let own = ["TLA_TOOLS_JAR", "TLA_JAR"].into_iter().filter_map(std::env::var_os).find(|value| !value.is_empty());
        if own.and_then(|own| std::path::absolute(own).ok()).as_ref() != Some(path) {
            let shown = path.display().to_string();
            refuse(format!("a jar to run ({shown})"), "--tla-tools", &shown);
        }
    }
    if let (Some(url), None, true) = (&recorded.base_url, &flags.base_url, is_asked(&["anthropic", "openai", "auto"])) {
        let variable = if is_asked(&["openai"]) { "OPENAI_BASE_URL" } else { "ANTHROPIC_BASE_URL" };
        if let Some(host) = remote_host(url)
            && nonempty_variable(variable).as_ref() != Some(url)
        {
            refuse(format!("a server to ask ({host})"), "--base-url", url);
        }
    }
    if flags.allow_modules.is_empty() {
        for module in &recorded.allow_modules {
            refuse(format!("a module that can reach outside ({module})"), "--allow-module", module);
        }
    }
    // A recording that is there is gone on with.
    if let (Some(path), None) = (&recorded.record, &flags.record)
        && !is_recording(path)
    {
        let shown = path.display().to_string();
        refuse(format!("a file to write ({shown})"), "--record", &shown);
    }
    if named.is_empty() {
        return Ok(());
    }
    Err(Failure::usage(format!("the journal names {}; a run folder may be somebody else's", named.join(", ")))
        .hint(format!("if that is what you want, name it again: add{again}")))
}

/// What a recording is before its first answer: a blank line, which tells it from a file that is somebody's.
const BEGUN: &str = "\n";

fn is_recording(path: &Path) -> bool {
    let is_file = std::fs::metadata(path).is_ok_and(|meta| meta.is_file());
    is_file && (files::read_text(path, files::LOG).is_ok_and(|text| text == BEGUN) || Recording::load(path).is_ok())
}

/// Begins a recording where there is nothing, so that the run that began it is known to, when it goes on.
pub(super) fn create_recording(path: &Path) -> Result<(), Failure> {
    let begun = std::fs::metadata(path).is_ok_and(|meta| meta.len() > 0);
    let failed = |e| Failure::usage(format!("cannot write the recording {}: {e}", path.display()));
    if begun { Ok(()) } else { std::fs::write(path, BEGUN).map_err(failed) }
}

/// The folder `name` of the working folder, which is used if no flag or setting names another one. A link out of the
/// working folder is refused: what it leads to would go to a model.
pub(super) fn default_folder(name: &str) -> Result<Option<PathBuf>, Failure> {
    let path = Path::new(name);
    if path.is_dir() && !files::is_within(Path::new("."), path) {
        return Err(Failure::usage(format!("the folder {name} here is a link that leads out of this folder"))
            .hint(format!("name the folder itself if its files may go to the model: --{name} DIR")));
    }
    Ok(path.is_dir().then(|| path.to_owned()))
}

/// A word of a command line.
fn quoted(value: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-:+=@%,".contains(c);
    if !value.is_empty() && value.chars().all(plain) {
        value.to_owned()
    } else {
        format!("'{}'", value.replace('\'', "'\\''"))
    }
}

/// A recording is written over as a whole: only where nothing is, or another recording.
pub(super) fn check_recording_target(path: &Path) -> Result<(), Failure> {
    let refused = |what: String, hint: &str| Err(Failure::usage(what).hint(hint));
    let shown = path.display();
    if let Some(dir) = path.parent()
        && !(dir.as_os_str().is_empty() || dir.is_dir())
    {
        return refused(
            format!("cannot write the recording {shown}: there is no such folder"),
            "--record takes a file in a folder that exists",
        );
    }
    let hint = "--record writes a file anew, and takes a new one or an earlier recording";
    match std::fs::symlink_metadata(path) {
        Err(_) => Ok(()),
        Ok(meta) if meta.is_file() && (meta.len() == 0 || is_recording(path)) => Ok(()),
        Ok(meta) if meta.is_file() => refused(format!("{shown} is there, and is no recording"), hint),
        Ok(_) => refused(format!("{shown} is there, and is no file"), hint),
    }
}

/// Files that the settings name, as they will be found from anywhere.
pub(super) fn make_paths_absolute(settings: &mut Settings) {
    let given = &mut settings.given;
    for path in [
        &mut given.recording,
        &mut given.record,
        &mut given.prompts,
        &mut given.tla_tools,
        &mut given.prices,
        &mut given.claude_path,
    ] {
        *path = path.take().map(|p: PathBuf| std::path::absolute(&p).unwrap_or(p));
    }
}
