//! A VIEW hides states that a check must tell apart, unless what it leaves out influences nothing.

use super::bench::{Bench, request, verdict};

const MODULE: &str = "EXTENDS Naturals
VARIABLES x, h
vars == <<x, h>>
Init == x = 0 /\\ h = 0
Next == x' = 1 - x /\\ h' = IF h < 3 THEN h + 1 ELSE h
Guarded == x' = (IF h < 2 THEN x ELSE 7) /\\ h' = IF h < 3 THEN h + 1 ELSE h
OnlyX == x
Both == [first |-> x, rest |-> <<h>>]
Parity == <<x, h % 2>>
Low == h < 2
Small == x < 2
Few == h < 2
";

#[tokio::test]
async fn a_view_that_leaves_out_what_is_read_is_not_used() {
    let bench = Bench::new();
    for (cfg, wanted, reader) in [
        ("NEXT Next\nVIEW OnlyX\nINVARIANT Low", "violated invariant Low", "h, which the invariant Low reads"),
        ("NEXT Next\nVIEW Parity\nINVARIANT Low", "violated invariant Low", "h, which the invariant Low reads"),
        ("NEXT Next\nVIEW OnlyX\nINVARIANT Small", "holds", ""),
        ("NEXT Next\nVIEW Both\nINVARIANT Low", "violated invariant Low", ""),
        (
            "NEXT Guarded\nVIEW OnlyX\nINVARIANT Small",
            "violated invariant Small",
            "h, which the next-state relation reads",
        ),
        ("NEXT Next\nVIEW OnlyX\nINVARIANT Small\nCONSTRAINT Few", "holds", "h, which the constraint Few reads"),
    ] {
        let request = request(MODULE, &format!("INIT Init\n{cfg}\nCHECK_DEADLOCK FALSE\n"));
        let (tlc, embedded, contradictions) = bench.both(&request).await;
        assert_eq!(contradictions, [""; 0], "{cfg}");
        for outcome in [&tlc, &embedded] {
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
