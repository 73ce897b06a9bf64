//! Recognises in a tool's output that this machine, not the specification, made it fail: a full disk, missing
//! permissions, no memory for the JVM. Such an end is an error, never a verdict. Pure.

/// Messages of the operating system, as Java and Rust print them (`strerror`).
const REFUSALS: [&str; 13] = [
    "No space left on device",
    "Disk quota exceeded",
    "File too large",
    "Input/output error",
    "Read-only file system",
    "Too many open files",
    "Too many open files in system",
    "Permission denied",
    "Operation not permitted",
    "Cannot allocate memory",
    "Resource temporarily unavailable",
    "Stale file handle",
    "Transport endpoint is not connected",
];

/// Messages of the tools and of the JVM.
const SIGNS: [&str; 9] = [
    "Could not write file ",
    "Error occurred during initialization of VM",
    "Could not create the Java Virtual Machine",
    "Could not reserve enough space",
    "There is insufficient memory for the Java Runtime Environment",
    "unable to create native thread",
    "unable to create new native thread",
    "Unable to access jarfile",
    "Could not find or load main class",
];

/// The first line with such a message. Quoted text is skipped, because it may come from the specification.
pub(super) fn find(text: &str) -> Option<String> {
    // A run can print megabytes of states first.
    let text = tail(text);
    text.lines().find(|line| is_sign(&without_strings(line))).map(|line| line.trim().to_owned())
}

/// The last 256 KiB of a text: a tool that fails says so last.
fn tail(text: &str) -> &str {
    const LONGEST: usize = 1 << 18;
    let from = text.len().saturating_sub(LONGEST);
    let from = (from..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[from..]
}

fn is_sign(line: &str) -> bool {
    let line = line.trim_end().trim_end_matches('.');
    // Only at the end of the line, in brackets, or before `(os error 28)`, not in the middle of a sentence.
    let refused = |words: &&&str| {
        line.ends_with(**words) || line.contains(&format!("({words})")) || line.contains(&format!("{words} (os error "))
    };
    REFUSALS.iter().any(|words| refused(&words)) || SIGNS.iter().any(|sign| line.contains(sign))
}

/// The line without text in double quotes.
fn without_strings(line: &str) -> String {
    let (mut kept, mut inside, mut escaped) = (String::new(), false, false);
    for char in line.chars() {
        if inside && escaped {
            escaped = false;
        } else if inside && char == '\\' {
            escaped = true;
        } else if char == '"' {
            inside = !inside;
        } else if !inside {
            kept.push(char);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environment_failures_are_distinguished_from_text_of_the_specification() {
        for trouble in [
            "java.io.IOException: No space left on device",
            "  -- Could not write file Spec.tla.",
            "java.io.FileNotFoundException: /tmp/x/Spec.tla (Too many open files)",
            "Error occurred during initialization of VM",
            "Could not reserve enough space for 8388608KB object heap",
            "java.lang.OutOfMemoryError: unable to create native thread: possibly out of memory",
            "tla-mc: cannot write meta/q: No space left on device (os error 28)",
        ] {
            assert_eq!(find(&format!("first\n{trouble}\nlast")), Some(trouble.trim().to_owned()));
        }
        for own in [
            "\"java.io.IOException: No space left on device\"",
            "/\\ reply = \"a \\\" quote: Permission denied\"",
            "Encountered \"Permission denied\" at line 4",
            "the answer Permission denied is not expected here",
            "java.io.FileNotFoundException: Missing.tla (No such file or directory)",
        ] {
            assert_eq!(find(own), None, "{own}");
        }
    }
}
