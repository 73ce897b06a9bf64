//! A genuine run, and documents in which a sentence changes, a paragraph moves, a file is renamed and a demand is removed.

use crate::support::recorded_model::in_todays_form;
use serde_json::{Value, json};

use super::{offered, without_numbers};
use crate::support::handoff::Waiting;
use crate::support::{Bench, outcome, project, routes};

/// The lines of a text with each of these replaced.
fn replaced(text: &str, changes: &[(&str, &str)]) -> String {
    changes.iter().fold(text.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from:?} is not in\n{text}");
        text.replacen(from, to, 1)
    })
}

fn change_documents(bench: &Bench) {
    let read = |name: &str| std::fs::read_to_string(project().join("evals/uniswap_swap/docs").join(name)).unwrap();
    let moved = "4. **Nothing for free.** A trader's balance of one token grows only by a transaction that lowers his balance\n   of \
                 the other.\n\n";
    let guarantees = replaced(
        &read("guarantees.md"),
        &[
            (moved, ""),
            ("There is no guarantee that", &format!("{moved}There is no guarantee that")),
            ("[pool.md](pool.md)", "[amm.md](amm.md)"),
            ("Neither reserve ever reaches zero.", "Each reserve must stay above zero."),
        ],
    );
    let pool = replaced(&read("pool.md"), &[(" Nobody pays for nothing, even where rounding would say so.", "")]);
    bench.write("docs/guarantees.md", guarantees);
    bench.write("docs/amm.md", pool);
}

#[test]
fn a_genuine_run_is_forged_again_where_its_documents_have_changed() {
    let bench = Bench::without_tools();
    bench.finished_demo().expect(0);
    change_documents(&bench);
    let again = ["resume", "demo-specs", "--drift", "--docs", "docs", "--provider", "handoff", "--out", "specs"];
    let mut waiting = Waiting::start(&bench, &again);
    let previous = without_numbers(&bench.read("specs/workspace/previous.md"));
    // Every citation of text that moved names its new line.
    for (before, now) in [
        ("[docs/pool.md:21-22, docs/pool.md:54]", "[docs/amm.md:21-22, docs/amm.md:54]"),
        ("R1 [docs/guarantees.md:6-7]", "R1 [docs/guarantees.md:6-7]"),
        ("R5 [docs/guarantees.md:16-17]", "R5 [docs/guarantees.md:20-21]"),
        (
            "R6 [docs/guarantees.md:19, docs/pool.md:44]",
            "R6 [docs/guarantees.md:16; docs/amm.md:44; earlier-docs/guarantees.md:19]",
        ),
        ("R7 [docs/guarantees.md:21, docs/pool.md:53-54]", "R7 [docs/guarantees.md:18; docs/amm.md:53-54]"),
        ("R10 [docs/pool.md:42]", "R10 [docs/amm.md:42; earlier-docs/pool.md:42]"),
    ] {
        assert!(previous.contains(now), "{before} became {now} in\n{previous}");
    }
    let feedback = bench.read("specs/workspace/feedback.md");
    for part in [
        "docs/guarantees.md:16 has changed (before: earlier-docs/guarantees.md:19)\n  was: Neither reserve ever reaches zero.\n  \
         now: Each reserve must stay above zero.\n  concerns: R6 (checked by LivingPool)\n",
        "- earlier-docs/pool.md:42 is gone\n  was: Nobody pays for nothing, even where rounding would say so.\n  concerns: R10 \
         (checked by NobodyPaysForNothing), step CarryOut\n",
    ] {
        assert!(feedback.contains(part), "{feedback}");
    }
    let request = std::fs::read_to_string(waiting.folder.join("request.md")).unwrap();
    assert!(request.contains("The documents are newer than `previous.md`"));
    let (before, after) = previous.split_once("R10 [").unwrap();
    let without_r10 = format!("{before}{}", after.split_once('\n').unwrap().1);
    let informal = without_r10
        .replace("; earlier-docs/guarantees.md:19", "")
        .replace("; earlier-docs/pool.md:42", "")
        .replace("Neither reserve is ever zero.", "Each reserve stays above zero.");
    assert!(!informal.contains("earlier-docs/"), "{informal}");
    waiting.answer(&informal);
    waiting.next();
    let module = without_numbers(&bench.read("specs/workspace/previous.md"));
    assert!(module.starts_with("---- MODULE Spec ----"));
    waiting.answer(&format!("```tla\n{module}```\n"));
    waiting.next();
    let properties = without_numbers(&bench.read("specs/workspace/previous.md"));
    let (before, after) = properties.split_once("\\* covers R10\n").unwrap();
    let properties = format!("{before}{}", &after[after.find("```").unwrap()..]);
    let named: Vec<&str> = properties.lines().filter(|line| !line.contains("NobodyPaysForNothing")).collect();
    waiting.answer(&(named.join("\n") + "\n"));
    waiting.next();
    let recorded = std::fs::read_to_string(project().join("evals/uniswap_swap/recording/run.jsonl")).unwrap();
    let last: Value = serde_json::from_str(recorded.lines().last().unwrap()).unwrap();
    let review = in_todays_form(last["answer"].as_str().unwrap());
    // The readings of the run before were accepted there; this review has none before it.
    let (before, rest) = review.split_once("\"accepted_readings\":[").unwrap();
    let (_, after) = rest.split_once("],\"accepted_bounds\"").unwrap();
    waiting.answer(&format!("{before}\"accepted_readings\":[],\"accepted_bounds\"{after}"));
    let done = waiting.end().expect(0);
    done.prints(&[
        "Made from rev_0 (approved) of demo-specs, whose documents have changed since; the changes concern R6, R10\n",
        "  its 10 requirements in rev_0 of this run: 8 kept word for word, 1 forged again (R6), 1 gone (R10)\n",
    ]);
    let journal = bench.journal("specs");
    assert_eq!(outcome(&journal), "approved");
    assert_eq!(routes(&journal).len(), 6);
    assert_eq!(journal[0]["data"]["made_from"]["concerned"], json!(["R6", "R10"]));
    assert_eq!(offered(&bench, "generate_invariants", "feedback.md"), [""; 0]);
    bench.run(&["drift", "specs", "--docs", "docs"]).expect(0);
}
