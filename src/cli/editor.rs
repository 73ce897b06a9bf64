//! Opens a file at a line in the user's editor (`check --open`).

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::Path;

use super::environment::nonempty_variable;
use super::failure::Failure;
use super::secrets::environment_without_keys;
use crate::process::run_in_terminal;

/// Editors that take `+LINE FILE`.
const PLUS_LINE: [&str; 9] = ["vi", "vim", "nvim", "view", "nano", "emacs", "emacsclient", "micro", "kak"];
/// Editors that take `FILE:LINE`.
const COLON_LINE: [&str; 4] = ["hx", "helix", "subl", "zed"];
/// Visual Studio Code and its relatives take `-g FILE:LINE`.
const GOTO: [&str; 3] = ["code", "codium", "cursor"];

/// The editor that `$VISUAL` or `$EDITOR` names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Editor {
    program: String,
    /// For example the `-nw` of `emacs -nw`.
    args: Vec<String>,
}

impl Editor {
    /// Fails outside of a terminal, and if no editor is set.
    pub(super) fn from_environment() -> Result<Self, Failure> {
        if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
            return Err(
                Failure::usage("--open needs a terminal").hint("run the command in a terminal, or without --open")
            );
        }
        let set = ["VISUAL", "EDITOR"].into_iter().find_map(|name| Self::parse(&nonempty_variable(name)?));
        set.ok_or_else(|| {
            Failure::usage("--open needs an editor: neither VISUAL nor EDITOR is set")
                .hint("set one, for example: export EDITOR=vim")
        })
    }

    fn parse(value: &str) -> Option<Self> {
        let mut words = value.split_whitespace().map(str::to_owned);
        Some(Self { program: words.next()?, args: words.collect() })
    }

    fn arguments(&self, file: &Path, line: usize) -> Vec<OsString> {
        let name = Path::new(&self.program).file_name().unwrap_or_default().to_string_lossy();
        let file_and_line = || {
            let mut place = file.as_os_str().to_owned();
            place.push(format!(":{line}"));
            place
        };
        let place: Vec<OsString> = match &*name {
            name if PLUS_LINE.contains(&name) => vec![format!("+{line}").into(), file.into()],
            name if COLON_LINE.contains(&name) => vec![file_and_line()],
            name if GOTO.contains(&name) => vec!["-g".into(), file_and_line()],
            _ => vec![file.into()],
        };
        self.args.iter().map(OsString::from).chain(place).collect()
    }

    /// Opens the file, and waits until the editor ends. It inherits the terminal and the environment without keys of models.
    pub(super) fn open(&self, file: &Path, line: usize) -> Result<(), Failure> {
        // A name that begins with a dash would be an option.
        let file = if file.is_relative() { Path::new(".").join(file) } else { file.to_owned() };
        let args = self.arguments(&file, line);
        let hint = "set VISUAL or EDITOR to another editor";
        match run_in_terminal(&self.program, &args, environment_without_keys()) {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(Failure::usage(format!("the editor {} ended with {status}", self.program)).hint(hint)),
            Err(error) => Err(Failure::usage(format!("cannot start the editor {}: {error}", self.program)).hint(hint)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_editor_gets_the_line_in_its_own_form() {
        for (editor, expected) in [
            ("vim", "+7 a.tla"),
            ("/usr/bin/nvim -R", "-R +7 a.tla"),
            ("emacs -nw", "-nw +7 a.tla"),
            ("hx", "a.tla:7"),
            ("code --wait", "--wait -g a.tla:7"),
            ("ed", "a.tla"),
        ] {
            let arguments = Editor::parse(editor).unwrap().arguments(Path::new("a.tla"), 7);
            assert_eq!(arguments.join(std::ffi::OsStr::new(" ")), *expected, "{editor}");
        }
        assert_eq!(Editor::parse("  "), None);
    }
}
