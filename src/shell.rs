//! Commands that a person copies into a shell.

use std::ffi::OsStr;

/// A text or a path as one word of a POSIX shell, in quotes only if it needs them.
pub fn shell_word(word: &(impl AsRef<OsStr> + ?Sized)) -> String {
    let word = word.as_ref().to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-:+=@%,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.into_owned()
    } else {
        // A string in single quotes ends at the next one, so it is closed, an escaped quote follows, and it is opened again.
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_each_word_as_it_was() {
        for word in
            ["", "specs/Spec.tla", "it's mine", "a b", "$HOME `x` \"y\" \\ !z", "''", "~", "*", "ü", "#x", "a=b:c"]
        {
            let script = format!("printf %s {}", shell_word(word));
            let done = std::process::Command::new("/bin/sh").arg("-c").arg(&script).output().unwrap();
            assert_eq!(String::from_utf8(done.stdout).unwrap(), word, "{script}");
        }
        assert_eq!(shell_word("rev_1/Spec.tla"), "rev_1/Spec.tla");
    }
}
