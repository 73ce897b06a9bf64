//! The files that packages are made from agree with each other and with Cargo.toml. `scripts/release` builds the packages.

use std::process::Command;

use serde_json::Value;
use walkdir::WalkDir;

use crate::support::project;

fn read(path: &str) -> String {
    std::fs::read_to_string(project().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn toml_of(path: &str) -> Value {
    toml::from_str(&read(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn json_of(path: &str) -> Value {
    serde_json::from_str(&read(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn strings(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|item| item.as_str().unwrap()).collect()
}

/// If a file matches `pattern`, which may end in `*`.
fn exists(pattern: &str) -> bool {
    let Some(start) = pattern.strip_suffix('*') else { return project().join(pattern).exists() };
    let names = std::fs::read_dir(project()).unwrap().map(|entry| entry.unwrap().file_name());
    names.into_iter().any(|name| name.to_str().unwrap().starts_with(start))
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

#[test]
fn the_wheel_is_described_by_cargo_toml() {
    let wheel = toml_of("pyproject.toml");
    let dynamic = strings(&wheel["project"]["dynamic"]);
    for field in ["version", "description", "license", "readme"] {
        assert!(dynamic.contains(&field), "{field}");
    }
    assert_eq!((&wheel["project"]["name"], &wheel["tool"]["maturin"]["bindings"]), (&"tlaforge".into(), &"bin".into()));
    for file in strings(&wheel["project"]["license-files"]) {
        assert!(exists(file), "{file}");
    }
    assert_eq!(wheel["tool"]["maturin"]["sbom"]["rust"], false, "it names the folder of the build");
    assert!(exists(toml_of("Cargo.toml")["package"]["readme"].as_str().unwrap()));
}

#[test]
fn the_debian_package_holds_the_program_and_files_of_the_project() {
    let assets = toml_of("Cargo.toml")["package"]["metadata"]["deb"]["assets"].clone();
    let sources: Vec<String> = assets.as_array().unwrap().iter().map(|asset| strings(asset)[0].to_owned()).collect();
    assert_eq!(sources[0], "target/release/tlaforge");
    for source in &sources[1..] {
        assert!(exists(source), "{source}");
    }
}

#[test]
fn a_release_takes_the_packages_that_the_script_builds() {
    let dist = &toml_of("dist-workspace.toml")["dist"];
    let extra = &dist["extra-artifacts"][0];
    let script = strings(&extra["build"])[0];
    assert!(exists(script), "{script}");
    let platform = toml_of("pyproject.toml")["tool"]["maturin"]["compatibility"].as_str().unwrap().to_owned();
    assert_eq!(
        strings(&extra["artifacts"]),
        [
            format!("target/dist/tlaforge-{VERSION}-py3-none-{platform}_x86_64.whl"),
            format!("target/dist/tlaforge_{VERSION}-1_amd64.deb"),
            format!("target/dist/tlaforge-{VERSION}.tgz"),
        ]
    );
    assert_eq!(dist["checksum"], "sha256");
    assert_eq!(dist["github-attestations"], true);
}

#[test]
fn cargo_binstall_looks_for_the_archives_of_dist() {
    let manifest = toml_of("Cargo.toml");
    let binstall = &manifest["package"]["metadata"]["binstall"];
    let dist = toml_of("dist-workspace.toml")["dist"].clone();
    assert_eq!((&dist["unix-archive"], &binstall["pkg-fmt"]), (&".tar.xz".into(), &"txz".into()));
    // dist tags a release `v` and its version, and names an archive and the folder in it by program and target.
    assert_eq!(binstall["pkg-url"], "{ repo }/releases/download/v{ version }/{ name }-{ target }.tar.xz");
    assert_eq!(binstall["bin-dir"], "{ name }-{ target }/{ bin }");
    assert_eq!(manifest["profile"]["dist"]["inherits"], "release");
}

#[test]
fn packages_for_other_tools_have_the_version_of_the_program() {
    for path in ["packaging/npm/package.json", "integrations/claude-code/.claude-plugin/plugin.json"] {
        assert_eq!(json_of(path)["version"], VERSION, "{path}");
    }
    let npm = json_of("packaging/npm/package.json");
    let package = toml_of("Cargo.toml")["package"].clone();
    assert_eq!(npm["description"], package["description"]);
    assert_eq!(npm["license"], toml_of("Cargo.toml")["workspace"]["package"]["license"]);
}

#[test]
fn the_book_names_the_version_of_the_program_and_of_rust() {
    let rust = toml_of("Cargo.toml")["workspace"]["package"]["rust-version"].as_str().unwrap().to_owned();
    for (page, starts) in [
        ("docs/src/ci.md", &["tlaforge@v", "Rust "][..]),
        ("docs/src/installing.md", &["tlaforge-", "tlaforge_", "/download/v"]),
    ] {
        let text = read(page);
        for start in starts {
            let after = text.match_indices(start).map(|(at, _)| &text[at + start.len()..]);
            let named: Vec<&str> = after
                .map(|rest| &rest[..rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len())])
                .map(|version| version.trim_end_matches('.'))
                .filter(|version| !version.is_empty())
                .collect();
            assert!(!named.is_empty(), "{page} has no version after {start:?}: the test has gone blind");
            let expected = if *start == "Rust " { rust.as_str() } else { VERSION };
            assert!(named.iter().all(|version| *version == expected), "{page}: {start:?} is followed by {named:?}");
        }
    }
}

#[test]
fn the_commands_to_publish_name_only_the_address_that_was_given() {
    let commands = |address: Option<&str>| {
        let mut script = Command::new(project().join("scripts/release"));
        script.arg("commands").env_remove("TLAFORGE_REPOSITORY");
        script.envs(address.map(|url| ("TLAFORGE_REPOSITORY", url)));
        let output = script.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let without = commands(None);
    assert!(without.contains(&format!("git push $TLAFORGE_REPOSITORY HEAD v{VERSION}\n")), "{without}");
    assert!(!without.contains("://"), "{without}");
    let address = "https://git.example/forgers/forge";
    let expected = without.replace("$TLAFORGE_REPOSITORY", address).replace("OWNER/NAME", "forgers/forge");
    let with = commands(Some(address));
    assert_eq!(with, expected);

    // The command that adds the address, on copies of the manifests.
    let copies = tempfile::tempdir().unwrap();
    let manifests = ["Cargo.toml", "crates/pluscal/Cargo.toml", "crates/temporal/Cargo.toml"];
    for path in manifests {
        let copy = copies.path().join(path);
        std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
        std::fs::write(copy, read(path)).unwrap();
    }
    let add = with.lines().find(|line| line.starts_with("sed ")).unwrap();
    let status = Command::new("sh").args(["-c", add]).current_dir(copies.path()).status().unwrap();
    assert!(status.success(), "{add}");
    for path in manifests {
        let text = std::fs::read_to_string(copies.path().join(path)).unwrap();
        let manifest: Value = toml::from_str(&text).unwrap();
        assert_eq!(manifest["package"]["repository"], address, "{path}");
    }
}

#[test]
fn the_image_is_built_from_every_file_that_the_program_includes() {
    let ignore = read(".dockerignore");
    let sent: Vec<&str> = ignore.lines().filter_map(|line| line.strip_prefix('!')).collect();
    for pattern in &sent {
        assert!(exists(pattern), "{pattern}");
    }
    let is_sent = |path: &str| sent.iter().any(|pattern| path.starts_with(pattern.trim_end_matches('*')));
    let mut included = 0;
    for file in WalkDir::new(project().join("src")).into_iter().map(Result::unwrap) {
        if file.path().extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let text = std::fs::read_to_string(file.path()).unwrap();
        for target in text.split("include_str!(\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
            let path = file.path().parent().unwrap().join(target).canonicalize().unwrap();
            let path = path.strip_prefix(project().canonicalize().unwrap()).unwrap().to_str().unwrap().to_owned();
            assert!(is_sent(&path), "{path}, of {}", file.path().display());
            included += 1;
        }
    }
    assert!(included > 20, "only {included} files were seen: the test has gone blind");
    // A macro of `crates/prompt` includes these.
    for prompt in WalkDir::new(project().join("prompts")).into_iter().map(Result::unwrap) {
        let path = prompt.path().strip_prefix(project()).unwrap().to_str().unwrap();
        assert!(is_sent(path), "{path}");
    }
    let manifest = toml_of("Cargo.toml");
    let assets = manifest["package"]["metadata"]["deb"]["assets"].as_array().unwrap();
    for source in assets.iter().map(|asset| strings(asset)[0]).filter(|source| !source.starts_with("target/")) {
        assert!(is_sent(source), "{source}");
    }
}
