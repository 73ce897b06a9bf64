//! A run is not approved by a property that cannot fail. A review accepts by name a property without a known violating state.

use crate::support::counter::{self, CFG, INVARIANTS, WITNESSES, good, sections};
use crate::support::forged::forged;
use crate::support::{Script, name};
use serde_json::{Value, json};

fn with_property(property: &str, accepted: &[&str]) -> Script {
    let text = INVARIANTS.replace("n <= Max", property);
    let accepted: Vec<Value> =
        accepted.iter().map(|line| json!({"name": line, "reason": "the documents say so"})).collect();
    let review = json!({"verdict": "approved", "summary": "s", "issues": [], "accepted_cfg": accepted});
    good()
        .answer("generate_invariants", 0, 1, "draft", &sections(&text, "", WITNESSES, CFG))
        .answer("review", 0, 1, "draft", &review.to_string())
        .having_read_all()
}

const BOUND: &str = "NOT FALSIFIED NeverAbove";
const PREMISE: &str = "PREMISE NeverAbove: `n = 7`";

#[test]
fn a_requirement_whose_property_cannot_fail_is_not_checked() {
    for (property, listed, why) in [
        ("n = 7 => n < Max", &[PREMISE][..], "NOT CHECKED: NeverAbove (none of its premises is ever satisfied)"),
        ("n <= 100", &[], "NOT CHECKED: NeverAbove (it is true in every state that TypeOK allows)"),
    ] {
        let bench = counter::bench();
        // No acceptance of what is listed helps.
        bench.forge(&with_property(property, listed), &["--max-revisions", "0"]).expect(1).prints(&[why]);
        let feedback =
            bench.journal("specs").iter().rfind(|e| name(e) == "attempt_finished").unwrap()["data"]["feedback"]
                .to_string();
        let reason = why.split(": ").nth(1).unwrap().replace("NeverAbove (", "NeverAbove: ");
        assert!(feedback.contains(&format!("R1 ({reason}")), "{feedback}");
    }
}

#[test]
fn what_is_not_shown_to_be_false_is_accepted_by_name() {
    for (property, line) in [("n <= 10", BOUND), ("n <= Max /\\ (n = 7 => n < 0)", PREMISE)] {
        let bench = counter::bench();
        let done = bench.forge(&with_property(property, &[]), &["--max-revisions", "0"]).expect(1);
        done.prints(&["holds, checked by NeverAbove", line, "cfg_accepted"]);
        let bench = counter::bench();
        bench.forge(&with_property(property, &[line]), &[]).expect(0);
        // Also with the reason that the facts show.
        let reason = if line == BOUND { "it says no more than TypeOK" } else { "never satisfied" };
        let bench_with_reason = counter::bench();
        bench_with_reason.forge(&with_property(property, &[&format!("{line} ({reason})")]), &[]).expect(0);
        let facts = bench.read("specs/workspace/facts.md");
        assert!(
            facts.contains(&format!("- {line}\n")) && facts.contains("## Lines `PREMISE` and `NOT FALSIFIED`"),
            "{facts}"
        );
        forged(&bench, ("attempt_finished", "review"), "/facts/review/accepted_cfg", &json!([]))
            .expect(1)
            .prints(&["cfg_accepted"]);
    }
}

#[test]
fn a_forged_approval_by_a_property_that_cannot_fail_is_refused() {
    let bench = counter::bench();
    bench.forge(&good(), &[]).expect(0);
    let vacuous = json!({"NeverAbove": "it reads no variable"});
    let done =
        forged(&bench, ("check_finished", "model_check"), "/outcome/bounds/vacuous_properties", &vacuous).expect(1);
    done.prints(&["property_covers"]);
    let premises = json!(["NeverAbove: `n = 7` (never satisfied)"]);
    let done =
        forged(&bench, ("check_finished", "model_check"), "/outcome/bounds/vacuous_premises", &premises).expect(1);
    done.prints(&["cfg_accepted"]);
}
