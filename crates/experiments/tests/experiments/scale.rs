//! The command `scale`.

use crate::support::Bench;

#[test]
fn prints_the_tables_that_the_page_shows() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/scale.md")).unwrap();
    let done = Bench::without_tools().run(&["scale", "--runs", "10,100,1000"]).expect(0);
    // The page also has rows for more runs.
    let missing: Vec<&str> = done.stdout.lines().filter(|line| !page.contains(line.trim_end())).collect();
    assert!(missing.is_empty() && done.stdout.lines().count() > 10, "{missing:#?}");
}

#[test]
fn grows_a_fleet_until_the_runs_end_in_time() {
    let done = Bench::without_tools().run(&["scale", "--runs", "300", "--within", "0.2", "--capacity", "4"]).expect(0);
    let grown = done.stdout.split("What to double until 300 runs end within 0.2 h").nth(1).unwrap();
    assert!(grown.lines().count() > 4 && grown.contains("slots"), "{}", done.stdout);
}

#[test]
fn refuses_a_fleet_that_cannot_be_simulated() {
    for wrong in [["--workers", "0"], ["--within", "inf"], ["--check-factor", "0"], ["--runs", "10,x"]] {
        let done = Bench::without_tools().run(&["scale", wrong[0], wrong[1]]).expect(2);
        assert!(done.stderr.contains(wrong[0]), "{}", done.stderr);
    }
}
