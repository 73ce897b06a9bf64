//! A VIEW hides states that a check must tell apart, unless what it leaves out influences nothing.

use super::bench::{Bench, request, verdict};

const MODULE: &str = "EXTENDS Naturals
VARIABLES x, h
vars == <<x, h>>
Init == x = 0 /\\ h = 0
Next == x' = 1 - x /\\ h' = IF h < 3 THEN h + 1 ELSE h
Guarded == x' = (IF h < 2 THEN x ELSE 7) /\\ h' = IF h < 3 THEN h + 1 ELSE h
OnlyX == x
Full == h' = (IF h < 3 THEN h + 1 ELSE 3) /\\ (x' = 0 \\/ (x' = 1 /\\ h' = 3))
Empty == x' = 1 - x /\\ h' \\in {n \\in {h + 1} : x = 1 \\/ h < 2}
Each == LET Set(n) == h' = n IN x' = 0 /\\ \\A n \\in {h, 2} : Set(n)
Inner == LET Set(n) == h' = n IN Set(h + 1) /\\ (x' = 0 \\/ (x' = 1 /\\ h' = 3))
Grow == x' = (x + 1) % 2 /\\ h' = (LET n == h + 1 IN IF n > 3 THEN 3 ELSE n)
Both == [first |-> x, rest |-> <<h>>]
Parity == <<x, h % 2>>
Low == h < 2
Small == x < 2
Few == h < 2
Zero == x = 0
";

#[tokio::test]
async fn a_view_that_leaves_out_what_is_read_is_not_used() {
    let bench = Bench::new();
    // TLC checks every row in a campaign, and every third row here.
    let step = if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { 1 } else { 3 };
    let rows = [
        ("NEXT Next\nVIEW OnlyX\nINVARIANT Low", "violated invariant Low", "h, which the invariant Low reads"),
        ("NEXT Next\nVIEW Parity\nINVARIANT Low", "violated invariant Low", "h, which the invariant Low reads"),
        ("NEXT Next\nVIEW OnlyX\nINVARIANT Small", "holds", ""),
        ("NEXT Next\nVIEW Both\nINVARIANT Low", "violated invariant Low", ""),
        (
            "NEXT Guarded\nVIEW OnlyX\nINVARIANT Small",
            "violated invariant Small",
            "h, which the next-state relation reads",
        ),
        // A second next value, or none, is a guard.
        ("NEXT Full\nVIEW OnlyX\nINVARIANT Zero", "violated invariant Zero", "h, which the next-state relation reads"),
        ("NEXT Inner\nVIEW OnlyX\nINVARIANT Zero", "violated invariant Zero", "h, which the next-state relation reads"),
        ("NEXT Empty\nVIEW OnlyX\nINVARIANT Small", "holds", "h, which the next-state relation reads"),
        ("NEXT Each\nVIEW OnlyX\nINVARIANT Zero", "holds", "h, which the next-state relation reads"),
        ("NEXT Grow\nVIEW OnlyX\nINVARIANT Small", "holds", ""),
        ("NEXT Next\nVIEW OnlyX\nINVARIANT Small\nCONSTRAINT Few", "holds", "h, which the constraint Few reads"),
    ];
    for (index, (cfg, wanted, reader)) in rows.into_iter().enumerate() {
        let request = request(MODULE, &format!("INIT Init\n{cfg}\nCHECK_DEADLOCK FALSE\n"));
        let outcomes = if index % step == 0 {
            let (tlc, embedded, contradictions) = bench.both(&request).await;
            assert_eq!(contradictions, [""; 0], "{cfg}");
            vec![tlc, embedded]
        } else {
            vec![bench.check(&request).await]
        };
        for outcome in &outcomes {
            assert_eq!(verdict(outcome), wanted, "{cfg}");
            let warned = outcome.warnings.iter().any(|warning| warning.contains("it was checked without VIEW"));
            assert_eq!(warned, !reader.is_empty(), "{cfg}: {:?}", outcome.warnings);
            assert!(warned == outcome.warnings.iter().any(|warning| !reader.is_empty() && warning.contains(reader)));
        }
    }
}

/// TLC says that such an invariant is false before it computes a state.
#[tokio::test]
async fn an_invariant_that_is_false_is_violated() {
    let module = format!("{MODULE}Never == FALSE\n");
    let (tlc, embedded, contradictions) =
        Bench::new().both(&request(&module, "INIT Init\nNEXT Next\nINVARIANT Never\n")).await;
    assert_eq!(contradictions, [""; 0]);
    assert_eq!(
        (verdict(&tlc), verdict(&embedded)),
        ("violated invariant Never".into(), "violated invariant Never".into())
    );
}
