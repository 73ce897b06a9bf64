//! Refuses settings from untrusted sources. A settings file or journal may come with another person's folder, so it must
//! not decide which program runs, which server receives a key, what a module can reach, or which file is overwritten.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::environment::{libraries_of_environment, nonempty_variable};
use super::failure::{Fails, Failure};
use crate::config::{Layer, Settings};
use crate::exit::Exit;
use crate::files;
use crate::llm::{Recording, remote_host};
use crate::shell::shell_word;

/// Settings that [`refuse_untrusted_file`] never accepts.
pub(super) const REFUSED_IN_FILE: [&str; 4] = ["claude_path", "tla_tools", "allow_modules", "record"];

/// Refuses a settings file, whose name is for the message, if it sets what only the command line may set.
pub(super) fn refuse_untrusted_file(name: &str, file: &Layer, flags: &Layer, provider: &str) -> Result<(), Failure> {
    let refused = |what: String, hint: &str| Err(Failure::usage(format!("{name} names {what}")).hint(hint));
    let shown = |path: &Path| path.display().to_string();
    if let (Some(path), None) = (&file.claude_path, &flags.claude_path) {
        let hint = "only the command line may name a program: --claude-path FILE";
        return refused(format!("a program to run: {}", shown(path)), hint);
    }
    if let (Some(path), None) = (&file.tla_tools, &flags.tla_tools) {
        let hint = "only the command line or the environment may name a program: --tla-tools FILE, or TLA_TOOLS_JAR; remove \
                    the line from the file";
        return refused(format!("a jar to run: {}", shown(path)), hint);
    }
    if let (false, true) = (file.allow_modules.is_empty(), flags.allow_modules.is_empty()) {
        let hint = "only the command line may allow a module: --allow-module NAME; remove the line from the file";
        return refused(format!("modules that can reach outside: {}", file.allow_modules.join(", ")), hint);
    }
    // TLC runs the Java code of a jar. A path that does not exist is an error when libraries are opened.
    let is_foreign = |path: &&PathBuf| (path.exists() && !path.is_dir()) || !files::is_within(Path::new("."), path);
    if let Some(path) = file.library.iter().find(is_foreign) {
        let hint = "only the command line or the environment may name a jar, or a folder outside of this one: --library \
                    DIR|JAR, or TLA_PATH; remove the line from the file";
        return refused(format!("a library of modules: {}", shown(path)), hint);
    }
    if let (Some(path), None) = (&file.record, &flags.record) {
        let hint =
            "only the command line may name the recording to write: --record FILE; remove the line from the file";
        return refused(format!("a file to write: {}", shown(path)), hint);
    }
    for (what, flag, path, given) in [
        ("a folder of exemplars", "--exemplars DIR", &file.exemplars, &flags.exemplars),
        ("a folder of prompts", "--prompts DIR", &file.prompts, &flags.prompts),
        ("a recording", "--recording FILE", &file.recording, &flags.recording),
        ("a price table", "--prices FILE", &file.prices, &flags.prices),
    ] {
        if let (Some(path), None) = (path, given)
            // Links are resolved, so that none leads out of the folder.
            && !files::is_within(Path::new("."), path)
        {
            return refused(
                format!("{what} outside of this folder: {}", shown(path)),
                &format!("a file outside of this folder is read only if the command line names it: {flag}"),
            );
        }
    }
    // Claude Code has its own login and ignores the base URL; the other providers send nothing to a server.
    let key = match provider {
        "anthropic" => "ANTHROPIC_API_KEY",
        "openai" => "OPENAI_API_KEY",
        _ => return Ok(()),
    };
    let server = file.base_url.as_deref().filter(|_| flags.base_url.is_none() && nonempty_variable(key).is_some());
    // A server on this machine is allowed, because the key stays here.
    match server.and_then(remote_host) {
        Some(host) => refused(
            format!("a server that would receive your {key}: {host}"),
            "only the command line or the environment may choose a server for your key: --base-url URL",
        ),
        None => Ok(()),
    }
}

/// Refuses the recorded settings of a resumed run if they set what only the command line may set, because the run folder may
/// come from another person. Values that this machine would choose anyway are accepted.
pub(super) fn refuse_untrusted_journal(recorded: &Layer, flags: &Layer, settings: &Settings) -> Result<(), Failure> {
    let (mut named, mut flags_to_add) = (Vec::new(), String::new());
    let mut refuse = |what: String, flag: &str, value: &str| {
        named.push(what);
        let _ = write!(flags_to_add, " {flag} {}", shell_word(value));
    };
    let is_provider = |names: &[&str]| names.contains(&settings.provider.as_str());
    if let (Some(path), None, true) = (&recorded.claude_path, &flags.claude_path, is_provider(&["claude", "auto"]))
        && which::which("claude").ok().as_ref() != Some(path)
    {
        let shown = path.display().to_string();
        refuse(format!("a program to run ({shown})"), "--claude-path", &shown);
    }
    if let (Some(path), None) = (&recorded.tla_tools, &flags.tla_tools) {
        let from_env =
            ["TLA_TOOLS_JAR", "TLA_JAR"].into_iter().filter_map(std::env::var_os).find(|value| !value.is_empty());
        // The journal holds absolute paths (`make_paths_absolute`).
        if from_env.and_then(|jar| std::path::absolute(jar).ok()).as_ref() != Some(path) {
            let shown = path.display().to_string();
            refuse(format!("a jar to run ({shown})"), "--tla-tools", &shown);
        }
    }
    if let (Some(url), None, true) =
        (&recorded.base_url, &flags.base_url, is_provider(&["anthropic", "openai", "auto"]))
    {
        let variable = if is_provider(&["openai"]) { "OPENAI_BASE_URL" } else { "ANTHROPIC_BASE_URL" };
        if let Some(host) = remote_host(url)
            && nonempty_variable(variable).as_ref() != Some(url)
        {
            refuse(format!("a server to call ({host})"), "--base-url", url);
        }
    }
    // The libraries of the command line replace the recorded ones.
    if flags.library.is_empty() {
        let named_here = libraries_named_here()?;
        for path in recorded.library.iter().filter(|path| !named_here.contains(path)) {
            let shown = path.display().to_string();
            refuse(format!("a library of modules ({shown})"), "--library", &shown);
        }
    }
    if flags.allow_modules.is_empty() {
        for module in &recorded.allow_modules {
            refuse(format!("a module that can reach outside ({module})"), "--allow-module", module);
        }
    }
    // An existing recording may be continued.
    if let (Some(path), None) = (&recorded.record, &flags.record)
        && !is_recording(path)
    {
        let shown = path.display().to_string();
        refuse(format!("a file to write ({shown})"), "--record", &shown);
    }
    if named.is_empty() {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "the journal names {}, and the run folder may come from another person",
        named.join(", ")
    ))
    .hint(format!("if you trust it, name it on the command line: add{flags_to_add}")))
}

/// The libraries that the environment and the settings file of the working folder name, as absolute paths.
fn libraries_named_here() -> Result<Vec<PathBuf>, Failure> {
    let file = Layer::from_file(Path::new(".")).fails(Exit::Usage)?;
    // The file of a downloaded folder vouches only for what it may name.
    let trusted = file.library.into_iter().filter(|path| path.is_dir() && files::is_within(Path::new("."), path));
    let all = libraries_of_environment().into_iter().chain(trusted);
    Ok(all.map(|path| std::path::absolute(&path).unwrap_or(path)).collect())
}

/// The content of a recording before its first answer: a blank line, which distinguishes it from other files.
const EMPTY_RECORDING: &str = "\n";

fn is_recording(path: &Path) -> bool {
    let is_file = std::fs::metadata(path).is_ok_and(|meta| meta.is_file());
    is_file
        && (files::read_text(path, files::LOG).is_ok_and(|text| text == EMPTY_RECORDING)
            || Recording::load(path).is_ok())
}

/// Creates an empty recording if there is none, so that a resumed run recognizes the file as its own.
pub(super) fn create_recording(path: &Path) -> Result<(), Failure> {
    let exists = std::fs::metadata(path).is_ok_and(|meta| meta.len() > 0);
    let failed = |e| Failure::usage(format!("cannot write the recording {}: {e}", path.display()));
    if exists { Ok(()) } else { std::fs::write(path, EMPTY_RECORDING).map_err(failed) }
}

/// The folder `name` in the working folder, which is used if no flag or setting names another one. A link out of the
/// working folder is refused, because its files would be sent to a model.
pub(super) fn default_folder(name: &str) -> Result<Option<PathBuf>, Failure> {
    let path = Path::new(name);
    if path.is_dir() && !files::is_within(Path::new("."), path) {
        return Err(Failure::usage(format!("the folder {name} here is a link that leads out of this folder"))
            .hint(format!("name the target folder if its files may be sent to the model: --{name} DIR")));
    }
    Ok(path.is_dir().then(|| path.to_owned()))
}

/// Checks that a recording can be written here: the file must be new, empty, or a recording, since it is overwritten.
pub(super) fn check_recording_target(path: &Path) -> Result<(), Failure> {
    let refused = |what: String, hint: &str| Err(Failure::usage(what).hint(hint));
    let shown = path.display();
    if let Some(dir) = path.parent()
        && !(dir.as_os_str().is_empty() || dir.is_dir())
    {
        return refused(
            format!("cannot write the recording {shown}: the folder does not exist"),
            "--record takes a file in an existing folder",
        );
    }
    let hint = "--record overwrites its file, so it takes a new file or an earlier recording";
    match std::fs::symlink_metadata(path) {
        Err(_) => Ok(()),
        Ok(meta) if meta.is_file() && (meta.len() == 0 || is_recording(path)) => Ok(()),
        Ok(meta) if meta.is_file() => refused(format!("{shown} exists and is not a recording"), hint),
        Ok(_) => refused(format!("{shown} exists and is not a file"), hint),
    }
}

/// Makes the paths in the settings absolute, because the journal keeps them and a run can be resumed from another folder.
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
    for path in &mut given.library {
        *path = std::path::absolute(&*path).unwrap_or_else(|_| path.clone());
    }
}
