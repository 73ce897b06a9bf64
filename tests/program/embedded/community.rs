//! The modules of the community that the program has: their operators in both checkers.

use tlaforge::tla::{Cfg, Module};
use tlaforge::toolchain::{CheckRequest, Libraries, SpecText, local_modules};

use super::bench::{Bench, verdict};

/// The modules that a specification needs, and facts about their operators.
const FACTS: [(&str, &[&str]); 13] = [
    (
        "SequencesExt",
        &[
            "ToSet(<<1, 2, 1>>) = {1, 2}",
            "Reverse(<<1, 2, 3>>) = <<3, 2, 1>>",
            "FoldLeft(LAMBDA a, b : 10 * a + b, 0, <<1, 2, 3>>) = 123",
            "FoldRight(LAMBDA a, b : a - b, <<9, 3, 1>>, 0) = 7",
            "SelectInSubSeq(<<1, 1, 2>>, 2, 3, LAMBDA e : e = 1) = 2 /\\ SelectLastInSeq(<<1, 1, 2>>, LAMBDA e : e = 1) = 2",
            "IsPrefix(<<1>>, <<1, 2>>) /\\ ~IsPrefix(<<2>>, <<1, 2>>) /\\ IsStrictSuffix(<<2>>, <<1, 2>>)",
            "InsertAt(<<1, 3>>, 2, 2) = <<1, 2, 3>> /\\ RemoveAt(<<1, 2, 3>>, 2) = <<1, 3>>",
            "ReplaceAllSubSeqs(<<9>>, <<1, 2>>, <<1, 2, 1, 2, 1>>) = <<9, 9, 1>>",
            "ReplaceAllSubSeqs(<<9>>, <<>>, <<1, 2>>) = <<9, 1, 9, 2>>",
            "FlattenSeq(<<<<1>>, <<2, 3>>>>) = <<1, 2, 3>> /\\ Zip(<<1, 2>>, <<3, 4, 5>>) = <<<<1, 3>>, <<2, 4>>>>",
            "SetToSortSeq({3, 1, 2}, LAMBDA a, b : a < b) = <<1, 2, 3>> /\\ Cardinality(SetToSeqs({1, 2, 3})) = 6",
            "LongestCommonPrefix({<<1, 2, 3>>, <<1, 2>>}) = <<1, 2>> /\\ Last(<<1, 2>>) = 2 /\\ Front(<<1, 2>>) = <<1>>",
            "AllSubSeqs(<<1, 2>>) = {<<>>, <<1>>, <<2>>, <<1, 2>>} /\\ IndexFirstSubSeq(<<2, 3>>, <<1, 2, 3>>) = 2",
        ],
    ),
    (
        "FiniteSetsExt",
        &[
            "SumSet({1, 2, 3}) = 6 /\\ ProductSet({2, 3}) = 6 /\\ MapThenSumSet(LAMBDA n : 2 * n, {1, 2}) = 6",
            "FoldSet(LAMBDA a, b : a + b, 1, {2, 3}) = 6 /\\ Max({1, 3, 2}) = 3 /\\ Min({1, 3, 2}) = 1",
            "\\A k \\in -1..4 : kSubset(k, {1, 2, 3}) = {T \\in SUBSET {1, 2, 3} : Cardinality(T) = k}",
            "kSubset(29, 1..30) = {(1..30) \\ {n} : n \\in 1..30}",
            "Quantify({1, 2, 3}, LAMBDA n : n > 1) = 2 /\\ SymDiff({1, 2}, {2, 3}) = {1, 3}",
            "Choices({{1, 2}, {3}}) = {{1, 3}, {2, 3}} /\\ ChooseUnique({1, 2}, LAMBDA n : n > 1) = 2",
        ],
    ),
    (
        "Functions",
        &[
            "Range([i \\in {1, 2} |-> 2 * i]) = {2, 4} /\\ Restrict([i \\in {1, 2} |-> i], {1}) = <<1>>",
            "AntiFunction(<<3, 4>>)[4] = 2 /\\ IsInjective(<<1, 2>>) /\\ ~IsInjective(<<1, 1>>)",
            "Bijection({1, 2}, {3, 4}) = {<<3, 4>>, <<4, 3>>} /\\ ~ExistsInjection({1, 2}, {3})",
            "SumFunction(<<1, 2, 3>>) = 6 /\\ FoldFunctionOnSet(LAMBDA a, b : a + b, 0, <<1, 2, 3>>, {1, 3}) = 4",
        ],
    ),
    (
        "WellFoundedInduction",
        &[
            "SetLessThan(2, {<<1, 2>>, <<3, 1>>}, 1..3) = {1} /\\ OpToRel(<, {1, 2}) = {<<1, 2>>}",
            "TransitiveClosureOn({<<1, 2>>, <<2, 3>>}, 1..3) = {<<1, 2>>, <<2, 3>>, <<1, 3>>}",
            "LexPairOrdering({<<1, 2>>}, {<<3, 4>>}, {1}, {3, 4}) = {<<<<1, 3>>, <<1, 4>>>>}",
            "PreImage(LAMBDA n : 3 - n, {1, 2}, {<<1, 2>>}) = {<<2, 1>>}",
        ],
    ),
    ("FiniteSetTheorems", &["FiniteSubsetsOf({1}) = {{}, {1}} /\\ StrictSubsetOrdering({1}) = {<<{}, {1}>>}"]),
    ("SequencesExtTheorems", &["Front(<<1, 2>>) = <<1>>"]),
    ("BagsTheorems", &["Scaling(2, <<1, 3>>) = <<2, 6>> /\\ SeqToBag(<<1, 1>>) = <<2>>"]),
    ("Bitwise", &["(5 & 6) = 4 /\\ (5 | 6) = 7 /\\ (5 ^^ 6) = 3 /\\ Not(5) = 2 /\\ shiftR(13, 2) = 3"]),
    ("BagsExt", &["BagAdd(<<1>>, 1) = <<2>> /\\ BagRemove(<<1>>, 1) = <<>> /\\ SumBag(<<2, 3>>) = 8"]),
    (
        "Graphs",
        &[
            "LET G == [node |-> 1..3, edge |-> {<<1, 2>>, <<2, 3>>}] IN /\\ IsDag(G) /\\ AreConnectedIn(1, 3, G) \
             /\\ ~AreConnectedIn(3, 1, G) /\\ Descendants(G, 1) = {2, 3} /\\ <<1, 2, 3>> \\in SimplePath(G)",
            "LET G == [node |-> 1..2, edge |-> {<<1, 2>>, <<2, 1>>}] IN HasCycle(G) /\\ IsStronglyConnected(G)",
        ],
    ),
    ("UndirectedGraphs", &["ConnectedComponents([node |-> {1, 2, 3}, edge |-> {{1, 2}}]) = {{1, 2}, {3}}"]),
    ("Relation", &["IsTransitiveUnder(LAMBDA a, b : a <= b, 1..3) /\\ ~IsSymmetricUnder(LAMBDA a, b : a <= b, 1..3)"]),
    (
        "DyadicRationals",
        &["Add(Half(One), Half(Half(One))) = [num |-> 3, den |-> 4] /\\ Add(Half(One), Half(One)) = One"],
    ),
];

fn request(module: &str, facts: &str) -> CheckRequest {
    let extends = format!("Integers, Sequences, FiniteSets, {module}");
    let text = format!("---- MODULE S ----\nEXTENDS {extends}\n{facts}====\n");
    let parsed = Module::parse(&text).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let local_modules = local_modules(&folder.path().join("S.tla"), &parsed, &Libraries::default()).unwrap();
    let spec = SpecText { name: "S".into(), text, local_modules };
    CheckRequest { spec, cfg_text: String::new(), cfg: Cfg::default() }
}

#[tokio::test]
async fn their_operators_compute_what_their_documentation_says() {
    let bench = Bench::new();
    for (index, (module, facts)) in FACTS.iter().enumerate() {
        let assumed = format!("ASSUME {}\n", facts.join("\nASSUME "));
        let (tlc, embedded, _) = bench.both(&request(module, &assumed)).await;
        assert_eq!(
            (verdict(&tlc), verdict(&embedded)),
            ("holds".into(), "holds".into()),
            "{module}: {tlc:?} {embedded:?}"
        );
        // A fact that is not true is noticed.
        let wrong = request(module, &format!("ASSUME ~({})\n", facts[0]));
        let outcomes = if index == 0 {
            let (tlc, embedded, _) = bench.both(&wrong).await;
            vec![tlc, embedded]
        } else {
            vec![bench.check(&wrong).await]
        };
        assert!(outcomes.iter().all(|outcome| verdict(outcome) == "violated assumption"), "{module}");
    }
}

#[tokio::test]
async fn a_module_with_proofs_can_be_checked() {
    let proved = "VARIABLE x\nInit == x = 0\nNext == x' = x\nOK == x = 0\nSpec == Init /\\ [][Next]_x\n\
                  THEOREM Spec => []OK\n<1>1. Init => OK BY DEF Init, OK\n<1>2. OK /\\ [Next]_x => OK' BY SMTT(10), Zenon DEF Next, OK\n\
                  <1> QED BY <1>1, <1>2, PTL, SetExtensionality DEF Spec\n";
    let cfg_text = "SPECIFICATION Spec\nINVARIANT OK\n".to_owned();
    let request = CheckRequest { cfg: Cfg::parse(&cfg_text).unwrap(), cfg_text, ..request("TLAPS", proved) };
    let (tlc, embedded, _) = Bench::new().both(&request).await;
    assert_eq!((verdict(&tlc), verdict(&embedded)), ("holds".into(), "holds".into()), "{tlc:?} {embedded:?}");
}
