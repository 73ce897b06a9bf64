//! Values of different kinds: TLC fails when it compares them, tla-mc says that they differ. So the embedded checker
//! evaluates specifications in which this may happen with an engine that notices it.

use crate::support::checking::bench_with;
use serde_json::Value;

const CFG: &str =
    "INIT Init\nNEXT Next\nINVARIANT Inv\nCONSTANTS None = None\nProc = {p1, p2}\nTop = 2\nGroups = {{1}, {2, 1}}\n";

/// The outcomes of TLC and of the embedded checker.
fn both(rest: &str) -> (Value, Value) {
    let module = format!(
        "---- MODULE M ----\nEXTENDS Integers, Sequences, FiniteSets, TLC\nCONSTANTS None, Proc, Top, Groups\nVARIABLE x\n{rest}\n====\n"
    );
    let bench = bench_with(&module, CFG);
    let done = bench.run(&["check", "M.tla", "--checker", "both", "--format", "json"]);
    assert_ne!(done.status, Some(70), "{rest}: {}", done.stderr);
    let outcome: Value = serde_json::from_str(&done.stdout).unwrap_or_else(|e| panic!("{rest}: {e}: {}", done.stderr));
    let second = outcome["second_check"].clone();
    (outcome, second)
}

#[test]
fn comparisons_that_tlc_cannot_make_are_not_made() {
    for (definitions, init, inv) in [
        ("", "0", "x \\in [bit: {0, 1}]"),
        ("", "0", "x # \"a\""),
        ("", "<<0>>", "x \\in Seq([bit: {0}])"),
        ("", "{1}", "x \\in SUBSET {\"a\"}"),
        ("", "[a |-> 1]", "x # [a |-> \"s\"]"),
        ("", "1", "{x, \"s\"} # {}"),
        ("", "0", "x \\in [1..2 -> {0}]"),
        ("", "\"a\"", "x \\in Nat"),
        ("", "TRUE", "x # 1"),
        ("", "{}", "x # <<1>>"),
        ("Differ(a, b) == a # b", "1", "Differ(x, 2) /\\ Differ(x, \"2\")"),
        ("Name == \"a\"\nOf[n \\in 1..2] == Name", "1", "Of[x] # x"),
        ("Kinds == [Proc -> {\"idle\", \"busy\"}]", "[p \\in Proc |-> 0]", "x \\in Kinds"),
        ("", "[p \\in Proc |-> {}]", "\\A p \\in Proc : Top \\in x[p] \\/ x[p] # Top"),
        ("", "<<[from |-> 1]>>", "\\E i \\in DOMAIN x : x[i].from = \"p\" \\/ TRUE"),
        ("First(s) == LET h == Head(s) IN h", "<<1, 2>>", "First(x) # <<>>"),
        ("", "{1}", "x \\in Groups /\\ x # {\"s\"}"),
        ("", "[n |-> 1]", "[x EXCEPT !.n = \"s\"] # x"),
    ] {
        let rest = format!("{definitions}\nInit == x = {init}\nNext == UNCHANGED x\nInv == {inv}");
        let (tlc, embedded) = both(&rest);
        assert_eq!(tlc["verdict"], "invalid", "{rest}: {tlc}");
        assert!(["inconclusive", "invalid"].contains(&embedded["verdict"].as_str().unwrap()), "{rest}: {embedded}");
        let reason = embedded["reason"].as_str().unwrap();
        assert!(reason.contains("compar"), "{reason}");
    }
}

/// Where tla-mc would compute on, or crash.
#[test]
fn operators_stop_where_tlc_stops() {
    for (inv, verdict) in [
        ("-(-2147483647 - 1 + x) > 0", "inconclusive"),
        ("(-2147483647 - 1) \\div (x - 1) > 0", "inconclusive"),
        ("IsFiniteSet(x)", "invalid"),
        ("~IsFiniteSet(x)", "invalid"),
        ("IsFiniteSet({x}) /\\ ~IsFiniteSet(Nat) /\\ ~IsFiniteSet(Seq({x})) /\\ ~IsFiniteSet(SUBSET Nat)", "holds"),
        ("SubSeq(<<1, 2, 3>>, x, 2) = <<1, 2>>", "invalid"),
        ("SubSeq(<<1, 2, 3>>, 2, 4 + x) = <<2, 3>>", "invalid"),
        ("SubSeq(<<1, 2, 3>>, 4, x) = <<>> /\\ SubSeq(<<1, 2, 3>>, 2, 3 + x) = <<2, 3>>", "holds"),
    ] {
        for mixed in ["", " /\\ (TRUE \\/ 1 = \"a\")"] {
            let rest = format!("Init == x = 0\nNext == UNCHANGED x\nInv == ({inv}){mixed}");
            let (tlc, embedded) = both(&rest);
            let wanted = if verdict == "inconclusive" { "invalid" } else { verdict };
            assert_eq!(
                (tlc["verdict"].as_str(), embedded["verdict"].as_str()),
                (Some(wanted), Some(verdict)),
                "{rest}"
            );
        }
    }
}

/// TLC stops only if it makes such a comparison.
#[test]
fn what_tlc_evaluates_is_decided_though_types_differ() {
    for (definitions, init, inv, verdict) in [
        ("", "0", "x = 1 => x = \"a\"", "holds"),
        ("", "0", "IF x = 0 THEN x > 0 ELSE x = \"a\"", "violated"),
        ("", "[type |-> \"a\", val |-> 1]", "x # [type |-> \"b\", val |-> \"s\"]", "holds"),
        ("", "{[type |-> \"a\", val |-> 1], [type |-> \"b\", val |-> \"s\"]}", "Cardinality(x) = 2", "holds"),
        ("", "0", "{<<1>>, <<\"a\", 2>>} # {} /\\ x = 0", "holds"),
        ("", "0", "{{}, {1}} # {{\"a\", \"b\"}} /\\ x = 0", "holds"),
        (
            "Pairs(s) == LET F[n \\in 0..Len(s)] == IF n = 0 THEN 0 ELSE <<F[n - 1], s[n]>> IN F[Len(s)]",
            "0",
            "Pairs(<<1, 2>>) = <<<<x, 1>>, 2>>",
            "holds",
        ),
        (
            "Fits(n) == n \\in Nat \\cup {-1} /\\ (n = 0 => n = \"a\")",
            "3",
            "Fits(x) /\\ 4 \\in {n \\in Int : n > 2}",
            "holds",
        ),
        ("", "1", "[i \\in Int |-> i + 2][x] = 3 /\\ [i, j \\in Nat |-> i * j][2, x] = 2", "holds"),
        ("Add(n) == n + 1\nBoth == <<Add(1), \"a\">>", "1", "Both[x] = 2 /\\ (x = 2 => Both[x] = \"a\")", "holds"),
    ] {
        let rest = format!("{definitions}\nInit == x = {init}\nNext == UNCHANGED x\nInv == {inv}");
        let (tlc, embedded) = both(&rest);
        assert_eq!(tlc["verdict"], verdict, "{rest}: {tlc}");
        assert_eq!(embedded["verdict"], verdict, "{rest}: {embedded}");
    }
}

#[test]
fn comparisons_that_tlc_makes_are_not_refused() {
    let rest = "
Init == x = 0
Next == UNCHANGED x
Same(a, b) == a = b
Empty == {}
Last(s) == s[Len(s)]
RECURSIVE Sum(_)
Sum(s) == IF s = <<>> THEN 0 ELSE Head(s) + Sum(Tail(s))
RECURSIVE Count(_)
Count(s) == IF s = {} THEN 0 ELSE 1 + Count(s \\ {CHOOSE e \\in s : TRUE})
Fact[n \\in 0..5] == IF n = 0 THEN 1 ELSE n * Fact[n - 1]
Apply(F(_), v) == F(v)
Next1(n) == n + 1
Inv ==
  /\\ Same(1, 1) /\\ Same(\"a\", \"a\") /\\ Empty = {x} \\ {0} /\\ Empty \\subseteq {\"a\"}
  /\\ None # 1 /\\ None # \"a\" /\\ None \\notin {1, 2} /\\ x \\in {None, 0}
  /\\ \\A p \\in Proc : p # 1 /\\ [q \\in Proc |-> 0][p] = 0
  /\\ {[type |-> \"ack\"], [type |-> \"data\", value |-> 1]} # {}
  /\\ [type |-> \"ack\"] # [type |-> \"data\", value |-> 1] /\\ [type |-> \"ack\"] # <<>>
  /\\ <<1, \"a\">>[1] = 1 /\\ <<1, \"a\">>[2] = \"a\" /\\ <<1>> # <<1, 2>> /\\ <<>> # <<1>>
  /\\ Last(<<1, 2>>) = 2 /\\ Last(<<\"a\">>) = \"a\" /\\ Sum(<<1, 2>>) = 3
  /\\ Count({1, 2}) = 2 /\\ Count({\"a\"}) = 1 /\\ Fact[3] = 6 /\\ Apply(Next1, 1) = Top
  /\\ Apply(LAMBDA s : s \\o <<1>>, <<0>>) = <<0, 1>>
  /\\ [[n |-> 1, s |-> \"a\"] EXCEPT !.n = @ + 1, !.s = \"b\"] = [n |-> 2, s |-> \"b\"]
  /\\ [n |-> 1, s |-> \"a\"][\"s\"] = \"a\" /\\ DOMAIN [n |-> 1, s |-> \"a\"] = {\"n\", \"s\"}
  /\\ \\A <<i, s>> \\in {<<1, \"a\">>, <<2, \"b\">>} : i > 0 /\\ s # \"\"
  /\\ (\"a\" :> 1 @@ \"b\" :> 2).a = 1 /\\ [1..2 -> {\"a\"}] = {<<\"a\", \"a\">>}
  /\\ LET id(v) == v IN id(1) = 1 /\\ id(\"a\") = \"a\"
  /\\ <<1, \"a\">> \\in {1} \\X {\"a\"} /\\ {<<1, \"a\">>} \\subseteq ({1} \\X {\"a\"})
  /\\ SelectSeq(<<1, 2>>, LAMBDA n : n > 1) = <<2>> /\\ Append(<<>>, \"a\") = <<\"a\">>
  /\\ CASE x = 0 -> TRUE [] OTHER -> FALSE
  /\\ Cardinality(UNION {{1}, {2}}) = 2
";
    let (tlc, embedded) = both(rest);
    assert_eq!(tlc["verdict"], "holds", "{tlc}");
    assert_eq!(embedded["verdict"], "holds", "{embedded}");
}

#[test]
fn an_instance_has_the_types_of_what_is_substituted() {
    let inner = "---- MODULE Inner ----\nCONSTANT C\nVARIABLE v\nInit == v = C\nIs(d) == v = d\n====\n";
    let outer = |inv: &str| {
        format!(
            "---- MODULE M ----\nEXTENDS Integers\nVARIABLE x\nA == INSTANCE Inner WITH C <- 1, v <- x\n\
             B == INSTANCE Inner WITH C <- \"s\", v <- \"s\"\nInit == x = 1\nNext == x' = x\nInv == {inv}\n====\n"
        )
    };
    for (inv, words) in
        [("A!Is(1) /\\ B!Init /\\ B!Is(\"s\")", None), ("A!Is(1) /\\ ~A!Is(\"s\")", Some("1 is compared with \"s\""))]
    {
        let bench = bench_with(&outer(inv), "INIT Init\nNEXT Next\nINVARIANT Inv\n");
        bench.write("Inner.tla", inner);
        let done = bench.run(&["check", "M.tla", "--checker", "embedded"]);
        match words {
            None => drop(done.expect(0)),
            Some(words) => drop(done.expect(1).prints(&["invalid: ", words, "of module Inner"])),
        }
    }
}

/// A model value such as `A_1` has the type `A`. TLC compares it with model values of this type, and with those without a type.
#[test]
fn typed_model_values_are_compared_as_by_tlc() {
    let cfg =
        "INIT Init\nNEXT Next\nINVARIANT Inv\nCONSTANTS n = A_n\nother = A_m\nj = B_j\nplain = c\nboth = {A_n, B_j}\n";
    for (init, inv, is_compared) in [
        ("n", "x # other", true),
        ("n", "x # plain /\\ x \\notin {plain, other}", true),
        ("plain", "x # 1", true),
        ("n", "x # 1", false),
        ("n", "x # \"a\"", false),
        ("n", "x # j", false),
        ("n", "x \\notin {1, 2}", false),
        ("[a |-> n]", "x # [a |-> 2]", false),
        ("plain", "\\A p, q \\in both : p = q => q = p", false),
    ] {
        let module = format!(
            "---- MODULE M ----\nEXTENDS Naturals\nCONSTANTS n, other, j, plain, both\nVARIABLE x\nInit == x = {init}\nNext == UNCHANGED x\nInv == {inv}\n====\n"
        );
        let bench = bench_with(&module, cfg);
        for checker in ["tlc", "embedded"] {
            let done = bench.run(&["check", "M.tla", "--checker", checker, "--format", "json"]);
            let value: Value = serde_json::from_str(&done.stdout).expect("one object of JSON");
            assert_eq!(value["verdict"] == "holds", is_compared, "{checker}: {inv}: {value}");
            assert_ne!(value["verdict"], "violated", "{checker}: {inv}");
        }
    }
}
