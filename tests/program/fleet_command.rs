//! `tlaforge fleet` with bad input and without a server. The limits themselves are tested in `crates/restate`.

use crate::support::{Bench, Done};

const NOBODY: &str = "http://127.0.0.1:9";

fn fleet(args: &[&str]) -> Done {
    Bench::without_tools().run(&[&["fleet"], args].concat())
}

#[test]
fn a_bad_limit_is_refused() {
    let limits = |flag, value| {
        let limit = format!("{flag}={value}");
        fleet(&["limits", "--engine", NOBODY, "--key", "k", &limit]).expect(2)
    };
    for value in ["-1", "much", "inf", "NaN", ""] {
        limits("--max-cost", value).says(&["--max-cost", "must be a number of US dollars from 0, or none"]);
    }
    for flag in ["--requests-per-minute", "--tokens-per-minute"] {
        for value in ["0", "1.5", "all"] {
            limits(flag, value).says(&[flag, "must be a whole number from 1, or none"]);
        }
    }
    fleet(&["limits", "--engine", NOBODY]).expect(2).says(&["--key"]);
}

#[cfg(feature = "restate")]
#[test]
fn no_engine_is_an_error_that_says_where_it_was_looked_for() {
    fleet(&["status", "--engine", "nowhere"]).expect(2).says(&["\"nowhere\" is not an address of an engine"]);
    for args in [&["status"][..], &["limits", "--key", "k"]] {
        let done = fleet(&[args, &["--engine", NOBODY]].concat());
        done.expect(4).says(&["cannot read the state of the engine http://127.0.0.1:9", "the engine does not answer"]);
    }
    let done = fleet(&["limits", "--engine", NOBODY, "--key", "a/b", "--resume"]);
    done.expect(2).says(&["\"a/b\" is not the name of a key"]);
}

#[cfg(feature = "restate")]
#[test]
fn an_engine_that_answers_no_or_nonsense_is_an_error_that_repeats_its_answer() {
    use crate::support::model_server::{ModelServer, Reply};

    let no_time = r#"{"rows": []}"#;
    for (code, body, why) in [
        (200, "<html>welcome</html>", "status 200: <html>welcome</html>"),
        (403, "not for you", "status 403: not for you"),
        (500, r#"{"message": "out of memory"}"#, "status 500: out of memory"),
        (200, r#"{"rows": [{"now": "today"}]}"#, "this is not the admin address of a Restate server"),
        (200, no_time, "the engine does not say what time it is"),
    ] {
        let engine = ModelServer::start(move |_| Reply::status(code, body));
        let done = fleet(&["status", "--engine", &engine.url()]);
        done.expect(4).says(&["cannot read the state of the engine", why]);
    }
}

#[cfg(not(feature = "restate"))]
#[test]
fn a_build_without_the_feature_says_how_to_get_it() {
    fleet(&["status", "--engine", NOBODY])
        .expect(2)
        .says(&["this build of tlaforge has no fleet", "--features restate"]);
}
