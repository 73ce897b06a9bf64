//! The Java tools, and two replacements for `java` that make tests with hundreds of starts faster.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The real `tla2tools.jar`. A test that needs it never passes without it.
pub fn jar() -> PathBuf {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or(home.map(|h| h.join(".cache")));
    std::env::var_os("TLA_TOOLS_JAR")
        .map(PathBuf::from)
        .or(cache.map(|c| c.join("tlaforge/tla2tools.jar")))
        .filter(|p| p.is_file())
        .expect("tla2tools.jar is missing: scripts/setup fetches it, or set TLA_TOOLS_JAR")
}

/// The `java` that this machine has installed.
fn installed_java() -> PathBuf {
    let found = std::env::var_os("JAVA_HOME").map(|h| PathBuf::from(h).join("bin/java")).filter(|p| p.is_file());
    found.or_else(|| which::which("java").ok()).expect("java is missing: scripts/setup installs it")
}

/// The `java` of [`java_home`].
pub fn java() -> PathBuf {
    java_home().join("bin/java")
}

/// A `JAVA_HOME` whose `java` runs the installed one with options for short runs: TLC on a small model then takes half of
/// the time. In a campaign TLC keeps the options that the program chose. `toolchain_java` does not use this `java`.
pub fn java_home() -> &'static Path {
    static HOME: OnceLock<PathBuf> = OnceLock::new();
    HOME.get_or_init(|| {
        let installed = installed_java();
        if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() {
            return installed.parent().unwrap().parent().unwrap().to_owned();
        }
        let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("quick-java");
        let archive = class_archive(&installed, &home);
        let script = include_str!("quick-java.sh")
            .replace("@JAVA@", installed.to_str().unwrap())
            .replace("@ARCHIVE@", archive.to_str().unwrap());
        install(&home, &script);
        home
    })
}

/// The classes of TLC and SANY as the JVM keeps them in memory, so that it need not read and verify them at each start.
/// A JVM that cannot use the file, because another wrote it or because the jar has changed, loads the classes as usual.
fn class_archive(java: &Path, home: &Path) -> PathBuf {
    let archive = home.join("classes.jsa");
    let is_newer_than = |path: &Path| {
        let changed = |path: &Path| path.metadata().and_then(|metadata| metadata.modified());
        matches!((changed(&archive), changed(path)), (Ok(archived), Ok(other)) if archived > other)
    };
    if !is_newer_than(&jar()) || !is_newer_than(&std::fs::canonicalize(java).unwrap()) {
        std::fs::create_dir_all(home).unwrap();
        let folder = tempfile::tempdir_in(home).unwrap();
        for extension in ["tla", "cfg"] {
            let file = format!("exemplars/Escrow.{extension}");
            std::fs::copy(super::project().join(file), folder.path().join(format!("Escrow.{extension}"))).unwrap();
        }
        // Without success there is no archive, and each start takes longer.
        let _ = Command::new(java)
            .args(["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:ArchiveClassesAtExit=classes.jsa", "-cp"])
            .arg(jar())
            .args(["tlc2.TLC", "-workers", "1", "-coverage", "1", "Escrow.tla"])
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        let _ = std::fs::rename(folder.path().join("classes.jsa"), &archive);
    }
    archive
}

/// A `JAVA_HOME` with the caching `java`. All tests of a machine share it, so entries are written atomically.
pub fn remembering_java() -> PathBuf {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("remembering-java");
    let memory = home.join("memory-3");
    std::fs::create_dir_all(&memory).unwrap();
    let script = include_str!("remembering-java.sh")
        .replace("@JAVA@", java().to_str().unwrap())
        .replace("@MEMORY@", memory.to_str().unwrap());
    install(&home, &script);
    home
}

/// Makes this script the `java` of a `JAVA_HOME`.
fn install(home: &Path, script: &str) {
    let program = home.join("bin/java");
    std::fs::create_dir_all(home.join("bin")).unwrap();
    if std::fs::read_to_string(&program).ok().as_deref() != Some(script) {
        let mut file = tempfile::NamedTempFile::new_in(home.join("bin")).unwrap();
        std::io::Write::write_all(&mut file, script.as_bytes()).unwrap();
        file.as_file().set_permissions(std::fs::Permissions::from_mode(0o755)).unwrap();
        // Close it before running it: a file that is open for writing cannot be executed (ETXTBSY).
        file.into_temp_path().persist(&program).unwrap();
    }
}
