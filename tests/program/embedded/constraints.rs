//! CONSTRAINT, with TLC as the oracle: both checkers evaluate invariants in the states that it cuts off, and neither
//! continues from there.

use tlaforge::tla::{Reached, Verdict};

use super::bench::{Bench, actions, request, taken, verdict};

const WALK: &str = "EXTENDS Naturals, TLC
VARIABLES x, y
vars == <<x, y>>
Init == x \\in 0..1 /\\ y = 0
Right == x' = x + 1 /\\ y' = y
Up == x > 0 /\\ y' = y + 1 /\\ x' = x
Jump == x = 3 /\\ x' = 9 /\\ y' = y
Next == Right \\/ Up \\/ Jump
Spec == Init /\\ [][Next]_vars
Outside == x \\in {0, 5} /\\ y = 0
Into == x' = 0 /\\ y' = y
Step == Right \\/ Into
Beside == Outside /\\ [][Step]_vars
Stop == x < 3 /\\ Right
Ends == Init /\\ [][Stop]_vars
Few == x < 3
Low == y < 3
Edge == x < 4
Inside == x < 3
NotJumped == x # 9
Both == x < 3 \\/ y < 3
Partial == x < 3 \\/ [n \\in 0..2 |-> n < 9][x]
Can == ENABLED Up \\/ x = 0
Back == [](x < 3)
Near == [](x < 4)
Walks == x < 2 /\\ (\\A k \\in 4..6 : [](x < k)) /\\ [][x' >= x]_vars
Joined == x < 2 /\\ [](x < 4) /\\ [](y < 4) /\\ [][x' >= x]_vars
Within(n) == x < 5 /\\ [](y < n)
Refined == Within(3)
Undefined == []([n \\in 0..2 |-> n < 9][x])
Grows == [][x' >= x]_vars
Small == [][x' < 3]_vars
Starts == x < 5 /\\ [][TRUE]_vars
View == <<IF x > 2 THEN 1 ELSE x, y>>
Ever == <>(x = 9)
WitnessThree == x = 3
WitnessFour == x = 4
WitnessFive == x = 5
WitnessCorner == x = 3 /\\ y = 3";

/// Configuration, verdict of TLC, verdict of the embedded checker.
const TABLE: &[(&str, &str, &str)] = &[
    // The invariant holds in all states, inside and cut off.
    ("SPECIFICATION Spec INVARIANT Edge Can CONSTRAINT Few Low", "holds", "holds"),
    ("SPECIFICATION Spec INVARIANT Edge CONSTRAINT Few Low", "holds", "holds"),
    // Violated only in a state that is cut off.
    (
        "SPECIFICATION Spec INVARIANT Inside CONSTRAINT Few Low",
        "violated invariant Inside",
        "violated invariant Inside",
    ),
    (
        "SPECIFICATION Spec INVARIANT Edge Inside CONSTRAINT Few Low",
        "violated invariant Inside",
        "violated invariant Inside",
    ),
    // States that are reachable only through a state that is cut off.
    ("SPECIFICATION Spec INVARIANT NotJumped CONSTRAINT Few Low", "holds", "holds"),
    (
        "SPECIFICATION Spec INVARIANT NotJumped CONSTRAINT Edge Low",
        "violated invariant NotJumped",
        "violated invariant NotJumped",
    ),
    // Each of several constraints cuts off states.
    ("SPECIFICATION Spec INVARIANT Both CONSTRAINT Few Low", "holds", "holds"),
    ("SPECIFICATION Spec INVARIANT Both CONSTRAINT Edge Low", "violated invariant Both", "violated invariant Both"),
    // Initial states outside the constraint.
    ("SPECIFICATION Beside INVARIANT Edge CONSTRAINT Few Low", "violated invariant Edge", "violated invariant Edge"),
    ("SPECIFICATION Beside INVARIANT NotJumped CONSTRAINT Few Low", "holds", "holds"),
    ("INIT Outside NEXT Into INVARIANT NotJumped CONSTRAINT WitnessThree", "holds", "holds"),
    // A state that is cut off is no deadlock; one inside is.
    ("SPECIFICATION Ends INVARIANT Edge CONSTRAINT Few", "holds", "holds"),
    ("SPECIFICATION Ends INVARIANT Edge CONSTRAINT Edge", "violated deadlock", "violated deadlock"),
    // An invariant that cannot be evaluated in a state that is cut off.
    ("SPECIFICATION Spec INVARIANT Partial CONSTRAINT Few Low", "invalid evaluation", "invalid evaluation"),
    // A view that hides the variable of the constraint.
    ("SPECIFICATION Spec INVARIANT Edge CONSTRAINT Few Low VIEW View", "holds", "holds"),
    (
        "SPECIFICATION Spec INVARIANT Inside CONSTRAINT Few Low VIEW View",
        "violated invariant Inside",
        "violated invariant Inside",
    ),
    // Steps into the states outside count.
    ("SPECIFICATION Spec INVARIANT Edge PROPERTY Grows CONSTRAINT Few Low", "holds", "holds"),
    (
        "SPECIFICATION Spec PROPERTY Small CONSTRAINT Few Low",
        "violated action property Small",
        "violated action property Small",
    ),
    // `[]P`, and the initial part of a property, also count in the states outside.
    ("SPECIFICATION Spec PROPERTY Back CONSTRAINT Few Low", "violated invariant Back", "violated invariant Back"),
    ("SPECIFICATION Spec PROPERTY Near CONSTRAINT Few Low", "holds", "holds"),
    // To TLC, a quantifier over `[]P` is about the future, and a constraint can hide violations of it.
    ("SPECIFICATION Spec PROPERTY Walks CONSTRAINT Few Low", "inconclusive", "holds"),
    ("SPECIFICATION Spec PROPERTY Joined CONSTRAINT Few Low", "holds", "holds"),
    // TLC 2.15 does not evaluate a temporal formula with a parameter.
    ("SPECIFICATION Spec PROPERTY Refined CONSTRAINT Few Low", "inconclusive", "violated invariant Refined"),
    (
        "SPECIFICATION Spec INVARIANT Inside PROPERTY Near CONSTRAINT Few Low",
        "violated invariant Inside",
        "violated invariant Inside",
    ),
    ("SPECIFICATION Spec PROPERTY Undefined CONSTRAINT Few Low", "invalid evaluation", "invalid evaluation"),
    (
        "SPECIFICATION Beside PROPERTY Starts CONSTRAINT Few Low",
        "violated action property Starts",
        "violated action property Starts",
    ),
    ("SPECIFICATION Spec PROPERTY Starts CONSTRAINT Few Low", "holds", "holds"),
    (
        "SPECIFICATION Spec INVARIANT Edge PROPERTY Ever CONSTRAINT Few Low",
        "violated temporal property Ever",
        "violated temporal property Ever",
    ),
];

/// Configurations with `ACTION_CONSTRAINT`, and the verdict of both checkers; "" if the embedded checker leaves it open.
const ACTION_CONSTRAINTS: [(&str, &str, &str); 9] = [
    ("NEXT Next ACTION_CONSTRAINT Slow CONSTRAINT Low Edge INVARIANT NotFar", "holds", "holds"),
    ("NEXT Next ACTION_CONSTRAINT Slow Level CONSTRAINT Few INVARIANT Edge", "holds", "holds"),
    ("NEXT Next ACTION_CONSTRAINT Slow Level INVARIANT NotJumped CONSTRAINT WitnessThree", "holds", "holds"),
    // A state after a step that is cut off is checked, and goes no further.
    (
        "NEXT Next ACTION_CONSTRAINT Level INVARIANT Flat CONSTRAINT Few",
        "violated invariant Flat",
        "violated invariant Flat",
    ),
    (
        "NEXT Next ACTION_CONSTRAINT Slow CONSTRAINT Low Five INVARIANT NotJumped",
        "violated invariant NotJumped",
        "violated invariant NotJumped",
    ),
    ("NEXT Next ACTION_CONSTRAINT Slow CONSTRAINT Low Five INVARIANT NotTen", "holds", "holds"),
    // A state of which every step is cut off is no deadlock, and one without a step is.
    ("NEXT Stop ACTION_CONSTRAINT Halts INVARIANT Edge", "holds", "holds"),
    ("NEXT Stop ACTION_CONSTRAINT Slow INVARIANT Edge", "violated deadlock", "violated deadlock"),
    ("NEXT Next ACTION_CONSTRAINT Slow CONSTRAINT Low Edge PROPERTY Grows", "holds", ""),
];

#[tokio::test]
async fn steps_that_an_action_constraint_cuts_off_are_not_taken() {
    let bench = Bench::new();
    let walk = format!(
        "{WALK}\nSlow == x' < x + 2\nLevel == y' = y\nFlat == y = 0\nFive == x < 5 \\/ x > 8\nNotFar == x < 10\nNotTen == x # 10\nHalts == x' < 2\n"
    );
    let mut wrong = Vec::new();
    for (cfg, tlc, embedded) in ACTION_CONSTRAINTS {
        let (theirs, ours, contradictions) = bench.both(&request(&walk, &format!("INIT Init {cfg}"))).await;
        let open = if embedded.is_empty() { "inconclusive" } else { embedded };
        let verdicts = (verdict(&theirs), verdict(&ours));
        let is_complete = embedded == "holds";
        let counts = (theirs.statistics.distinct, ours.statistics.distinct);
        if verdicts != (tlc.into(), open.into()) || !contradictions.is_empty() || is_complete && counts.0 != counts.1 {
            wrong.push(format!("{cfg}: {verdicts:?}, {contradictions:?}, states {counts:?}, {:?}", ours.verdict));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test]
async fn states_outside_a_constraint_are_checked_as_by_tlc() {
    let bench = Bench::new();
    // TLC checks every row in a campaign, and every fourth row here.
    let step = if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { 1 } else { 4 };
    for (index, (cfg, tlc, embedded)) in TABLE.iter().enumerate() {
        let witnesses = match *cfg {
            "SPECIFICATION Spec INVARIANT Edge CONSTRAINT Few Low" => "WITNESS WitnessThree WitnessFour WitnessCorner",
            "SPECIFICATION Beside INVARIANT NotJumped CONSTRAINT Few Low" => "WITNESS WitnessThree WitnessFive",
            _ => "",
        };
        let cfg = format!("{cfg}\n\\* {witnesses}\n");
        if index % step != 0 {
            assert_eq!(verdict(&bench.check(&request(WALK, &cfg)).await), *embedded, "{cfg}");
            continue;
        }
        let (theirs, ours, contradictions) = bench.both(&request(WALK, &cfg)).await;
        assert_eq!(contradictions, [""; 0], "{cfg}");
        assert_eq!((verdict(&theirs).as_str(), verdict(&ours).as_str()), (*tlc, *embedded), "{cfg}: {ours:#?}");
        let reached = |outcome: &tlaforge::tla::CheckOutcome| outcome.witnesses.clone();
        let decided = reached(&theirs).iter().all(|witness| !matches!(witness.reached, Reached::Unknown(_)));
        assert!(!decided || reached(&theirs) == reached(&ours), "{cfg}: {theirs:?} {ours:?}");
        if theirs.verdict == Verdict::Holds && ours.verdict == Verdict::Holds {
            let counts = |o: &tlaforge::tla::CheckOutcome| (o.statistics.distinct, o.invariants.clone(), taken(o));
            assert_eq!(counts(&theirs), counts(&ours), "{cfg}");
        }
        let states = |o: &tlaforge::tla::CheckOutcome| o.trace.as_ref().map(|trace| trace.steps.clone());
        if let (Verdict::Violated { .. }, Some(last)) = (&ours.verdict, states(&ours).filter(|_| !cfg.contains("Ever")))
        {
            let last = last.last().map(|step| step.state.clone());
            assert_eq!(last, states(&theirs).and_then(|all| all.last().map(|step| step.state.clone())), "{cfg}");
            assert!(actions(&ours).iter().skip(1).all(Option::is_some), "{cfg}: {ours:#?}");
        }
    }
}
