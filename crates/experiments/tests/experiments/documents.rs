//! `docs/src/experiments.md` and `docs/src/scale.md` agree with the program.

use std::path::Path;

use crate::support::Bench;
use crate::support::documented_flags::documented_flags;

#[test]
fn every_flag_that_a_page_names_exists() {
    for (page, help, at_least) in [("experiments.md", &["--help"][..], 9), ("scale.md", &["scale", "--help"], 5)] {
        let help = Bench::without_tools().run(help).expect(0).stdout;
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src").join(page);
        let flags = documented_flags(&std::fs::read_to_string(file).unwrap());
        assert!(flags.len() >= at_least, "{flags:?}");
        for flag in flags {
            assert!(help.contains(&format!("--{flag}")), "{page}: --{flag} is not in the help");
        }
    }
}
