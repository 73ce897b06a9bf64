//! `docs/src/experiments.md` agrees with the program.

use std::path::Path;

use crate::support::Bench;
use crate::support::documented_flags::documented_flags;

#[test]
fn every_flag_that_the_document_names_exists() {
    let help = Bench::without_tools().run(&["--help"]).expect(0).stdout;
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/experiments.md");
    let flags = documented_flags(&std::fs::read_to_string(file).unwrap());
    assert!(flags.len() > 8, "{flags:?}");
    for flag in flags {
        assert!(help.contains(&format!("--{flag}")), "--{flag} is not in the help");
    }
}
