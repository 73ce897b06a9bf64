//! What elaboration has to get right before the checker evaluates anything: primes on parameters, overridden and
//! redefined operators, instances, names with two meanings. TLC is the oracle.

use tlaforge::tla::{Cfg, CheckOutcome, Verdict};
use tlaforge::toolchain::{CheckRequest, SpecText};

use super::bench::{Bench, verdict};

/// A module with a counter `x` from 0 to 3 and a function `g` of its parity, and what is checked of it.
const COUNTER: &str = "EXTENDS Naturals, Sequences, FiniteSets, TLC
VARIABLES x, g
Init == x = 0 /\\ g = [i \\in 0..1 |-> 0]
Next == x < 3 /\\ x' = x + 1 /\\ g' = [g EXCEPT ![x' % 2] = @ + x']
Spec == Init /\\ [][Next]_<<x, g>>
";

/// Definitions after the counter, of which `P` is a property, and whether it holds.
const PROPERTIES: &[(&str, bool)] = &[
    // A parameter in the next state.
    ("Grows(z) == z' > z\nP == [][Grows(x)]_x", true),
    ("Grows(z) == z' > z\nP == [][Grows(3 - x)]_x", false),
    ("Frozen(z) == z' = z\nP == [][Frozen(x)]_x", false),
    ("Same(z) == UNCHANGED z\nP == [][Same(x)]_x", false),
    ("Same(z) == UNCHANGED <<z, 1>>\nP == [][Same(g[0]) \\/ Same(g[1])]_g", true),
    ("Same(z) == UNCHANGED <<z, g[1]>>\nP == [][Same(g[0])]_x", false),
    ("V(z) == z'\nP == [][V(x) = x + 1 /\\ V(x + 1) = x + 2 /\\ V(g)[x' % 2] > g[x' % 2]]_x", true),
    ("V2(z) == z'\nW(z) == V2(z)\nP == [][W(x) = x]_x", false),
    ("V2(z) == z'\nW(z) == V2(z + 1)\nP == [][W(x) = x + 2]_x", true),
    ("P == [][LET z == x IN z' > z]_x", true),
    ("P == [][LET z == x + 1 IN z' > z /\\ z = x + 1]_x", true),
    ("P == [][LET z(k) == x + k IN z(1)' = z(2)]_x", true),
    ("P == [][LET z == x y == z IN y' = z]_x", false),
    ("Ap(F(_)) == F(x)\nP == [][Ap(LAMBDA z : z' > z)]_x", true),
    ("Ap(F(_), e) == F(e)\nD(z) == z' = z + 1\nP == [][Ap(D, x) /\\ ~Ap(D, 3)]_x", true),
    ("Ap(F(_)) == F(x) + F(x')\nP == [][Ap(LAMBDA z : z * z) = x * x + (x + 1) * (x + 1)]_x", true),
    ("Twice(F(_), z) == F(F(z))\nInc(z) == z + 1\nP == [][Twice(Inc, x)' = Twice(Inc, x) + 1]_x", true),
    ("P == [][g'[x' % 2] # g[x' % 2]]_g", true),
    ("P == [][\\A i \\in 0..1 : LET h == g[i] IN h' = h \\/ i = x' % 2]_g", true),
    ("At(f, i) == f[i]\nP == [][\\E i \\in 0..1 : At(g, i)' = At(g, i) + x']_g", true),
    ("Step(n) == x' = n\nP == [][\\E n \\in 1..3 : Step(n) /\\ n = x + 1]_x", true),
    ("If(c, a, b) == IF c THEN a ELSE b\nP == [][If(x = 0, x' = 1, x' > 1)]_x", true),
    ("If(c, a, b) == IF c THEN a ELSE b\nP == [][If(x = 1, x, x - 1)' = If(x' = 1, x + 1, x)]_x", true),
    ("K(z) == LET y == z IN [a |-> y', b |-> y]\nP == [][K(x).a = K(x).b + 1]_x", true),
    ("P == [][[g EXCEPT ![0] = x'][0] = x + 1]_x", true),
    ("P == [][([g EXCEPT ![0] = x])'[0] = x + 1]_x", true),
    ("P == [][({y \\in 0..3 : y < x})' = 0..x]_x", true),
    ("S(z) == {y \\in 0..3 : y < z}\nP == [][S(x)' = 0..x /\\ S(x') = 0..x]_x", true),
    ("f[n \\in 0..5] == IF n = 0 THEN x ELSE f[n - 1] + 1\nP == [][f[2]' = f[3]]_x", true),
    (
        "RECURSIVE Sum(_, _)\nSum(n, z) == IF n = 0 THEN z ELSE Sum(n - 1, z) + 1\nP == [][Sum(2, x)' = Sum(3, x)]_x",
        true,
    ),
    ("P == [][<<Next>>_x]_<<x, g>>", true),
    ("P == [][[x' = x + 1]_g]_<<x, g>>", true),
    ("E(z) == ENABLED (x' = z /\\ z < 3 /\\ g' = g)\nP == [](E(x) <=> x < 3)", true),
    ("P == [](ENABLED Next <=> x < 3)", true),
    ("\\* not TLC\nEv(z) == [](z >= 0)\nP == Ev(x)", true),
    ("\\* not TLC\nLt(z) == [](z < 3)\nP == Lt(x)", false),
    ("\\* not TLC\nBoth(F) == F /\\ [](x < 4)\nP == Both(x = 0)", true),
    // A recursive operator that uses an operator with an operator as parameter.
    (
        "Each(F(_), S) == LET all == {F(e) : e \\in S} of(T) == {e \\in T : F(e) = F(e)} IN of(all)\nRECURSIVE Total(_, _)\n\
         Total(f, n) == IF n = 0 THEN Cardinality(Each(LAMBDA k : k, {f[0]})) - 1 ELSE f[n % 2] + Total(f, n - 1)\n\
         P == [](Total(g, 2) = g[0] + g[1]) /\\ [][Total(g, 2)' = Total(g, 2) + x']_x",
        true,
    ),
    ("Ap(F(_), e) == F(e)\nThrice(F(_), e) == Ap(F, e) + 2\nP == [][Thrice(LAMBDA k : k', x) = x + 3]_x", true),
    (
        "Ap(F(_), e) == LET k == F(e) IN k\nTw(F(_), e) == Ap(LAMBDA j : F(j), e)\nP == [][Tw(LAMBDA k : k', x) = x + 1]_x",
        true,
    ),
    ("Ap(F(_), e) == F(e)\nP == [][LET Next2(k) == k' IN Ap(Next2, x) = x + 1]_x", true),
    ("Inv == x < 3\nP == []Inv", false),
    // A LAMBDA with a name of the definition around it, in two states.
    ("Pr(b) == b'\nAp(F(_), a) == Pr(F(a))\nOp(z) == Ap(LAMBDA k : k + z, 1)\nP == [][Op(x) = x' + 1]_x", true),
    (
        "Pr(b) == b'\nAp(F(_), a) == Pr(F(a))\nOp(z) == LET Plus(k) == k + z IN Ap(Plus, 1)\nP == [][Op(x) = x' + 1]_x",
        true,
    ),
    (
        "Gr(b) == b' > b\nTwice(F(_), z) == F(F(z))\nP == [][Gr(Twice(LAMBDA a : Twice(LAMBDA c : c + 1, a), x))]_x",
        true,
    ),
    ("Pr(a) == a'\nHo(F(_), y) == LET G(n, a) == F(a) IN G(2, y)\nP == [][Ho(Pr, x) = x + 1]_x", true),
    // An argument that the body does not need may have no value.
    ("If(c, a, b) == IF c THEN a ELSE b\nP == [](If(x > 0, 6 \\div x, 0) >= 0 /\\ If(x > 9, Head(<<>>), 1) = 1)", true),
    ("Or(a, b) == a \\/ b\nP == [](Or(x = 0, 6 \\div x > 0))", true),
    ("If(c, a, b) == IF c THEN a ELSE b\nOuter(v) == If(x = 0, 1, v)\nP == [](Outer(6 \\div x) > 0)", true),
    (
        "RECURSIVE Sum(_, _)\nSum(n, acc) == IF n = 0 THEN acc ELSE Sum(n - 1, acc + g[n % 2])\nP == [](Sum(2, g[0]) = 2 * g[0] + g[1])",
        true,
    ),
    // Names of two things: a bound variable of a definition, and one of its caller.
    ("H(S) == {y + x : y \\in S}\nP == [](\\A y \\in 1..2 : H({y}) = {y + x})", true),
    ("H(e) == {y + e : y \\in {1}}\nP == [](\\A y \\in 1..2 : H(y) = {y + 1})", true),
    ("H(F(_)) == {F(y) : y \\in {1}}\nP == [](\\A y \\in 5..6 : H(LAMBDA z : z + y) = {1 + y})", true),
    ("P == [](\\A y \\in 5..6 : LET H(z) == z + y IN {H(y2) : y2 \\in {y}} = {2 * y})", true),
    // The old value of an update, in another update.
    ("P == []([g EXCEPT ![0] = [g EXCEPT ![1] = @ + 7][1]][0] = g[1] + 7)", true),
    ("Up(v) == [g EXCEPT ![1] = v][1]\nP == []([g EXCEPT ![0] = Up(@ + 1)][0] = g[0] + 1)", true),
    ("P == [](LET r == [a |-> [b |-> x]] IN [r EXCEPT !.a.b = @ + [q |-> @].q].a.b = 2 * x)", true),
    // Parts of definitions, labels, theorems.
    ("A == /\\ x >= 0\n     /\\ x < 3\nP == [](A!1)", true),
    ("A == /\\ x >= 0\n     /\\ x < 3\nP == [](A!2)", false),
    ("A(n) == /\\ lbl :: x >= n\n        /\\ x < 3\nP == [](A(0)!lbl)", true),
    ("A == \\E i \\in {1} : /\\ i = 1\n                    /\\ x < 3\nP == [](A!(1)!2)", false),
    ("THEOREM T == x < 3\nP == []T", false),
    // Operators of the module itself.
    ("a -- b == a * b\na | b == a + b\nP == [](x -- 2 = x + x /\\ x | 1 = 1 + x)", true),
    ("a ++ b == a\nFold(Op(_, _)) == Op(1, 2)\nP == [](Fold( + ) = 3 /\\ Fold( ++ ) = 1)", true),
    ("a ^+ == a + 1\nP == [](x^+ > x)", true),
    // Products, tuples, functions of several arguments.
    ("P == []((({1} \\X {2}) \\X {3}) = {<<<<1, 2>>, 3>>} /\\ {1} \\X {2} \\X {3} = {<<1, 2, 3>>})", true),
    (
        "f[a \\in 0..1, b \\in 0..1] == a + 2 * b\nP == [](f[1, 1] = 3 /\\ f[<<0, 1>>] = 2 /\\ DOMAIN f = (0..1) \\X (0..1))",
        true,
    ),
    ("P == [](\\A <<a, b>> \\in {<<1, 2>>}, c \\in {3} : a + b = c)", true),
    ("P == []((CHOOSE <<a, b>> \\in {<<1, 2>>} : a < b) = <<1, 2>>)", true),
    ("P == []([<<a, b>> \\in {<<1, 2>>}, c \\in {3} |-> a + b + c][<<1, 2>>, 3] = 6)", true),
    ("P == []({a + b : <<a, b>> \\in {<<1, 2>>}} = {3} /\\ {<<a, b>> \\in {<<1, 2>>} : a > b} = {})", true),
    ("Even(n) == n % 2 = 0\nP == [](SelectSeq(<<1, 2, x>>, Even)[1] = 2)", true),
    ("P == [](SelectSeq(<<1, 2, 5>>, LAMBDA n : n > x) # <<>>)", true),
    ("P == [](TLCEval(x) = x)", true),
];

/// Changed configurations and modules `C` beside the counter: definitions of the root, the module, the configuration,
/// and the verdict.
const MODELS: &[(&str, &str, &str, &str)] = &[
    // Overrides of any definition.
    (
        "MyNext == x < 5 /\\ x' = x + 1 /\\ UNCHANGED g",
        "",
        "CONSTANT Next <- MyNext\nINVARIANT Low\n",
        "violated invariant Low",
    ),
    (
        "MyInit == x = 3 /\\ g = [i \\in 0..1 |-> 0]",
        "",
        "CONSTANT Init <- MyInit\nINVARIANT Zero\n",
        "violated invariant Zero",
    ),
    ("Lim == 1\nSmall == x <= Lim\nTwo == 5", "", "CONSTANT Lim <- Two\nINVARIANT Small\n", "holds"),
    ("Lim == 1\nSmall == x <= Lim", "", "CONSTANT Lim = 7\nINVARIANT Small\n", "holds"),
    (
        "Add(a, b) == a - b\nMul(a, b) == a + b\nOK == Add(x, 1) = x + 1",
        "",
        "CONSTANT Add <- Mul\nINVARIANT OK\n",
        "holds",
    ),
    ("CONSTANT F(_)\nDouble(n) == 2 * n\nOK == F(x) = x + x", "", "CONSTANT F <- Double\nINVARIANT OK\n", "holds"),
    ("Few == 0..3\nOK == x \\in Nat /\\ Cardinality(Nat) = 4", "", "CONSTANT Nat <- Few\nINVARIANT OK\n", "holds"),
    ("Weird == TRUE", "", "CONSTANT Low <- Weird\nINVARIANT Low\n", "holds"),
    // A substitution that needs what it replaces.
    ("\\* not TLC\nInit2 == Init /\\ x = 0", "", "CONSTANT Init <- Init2\n", "invalid parse"),
    ("\\* not TLC\nTwo == 1\nOne == Two\nOK == One = 1", "", "CONSTANT Two <- One\nINVARIANT OK\n", "invalid parse"),
    // Of the instance, it needs only what does not need it.
    (
        "CONSTANT F(_)\nI == INSTANCE C\nImpl(n) == IF n = 0 THEN I!Zero ELSE n\nOK == F(x) = x /\\ I!Same(x)",
        "CONSTANT F(_)\nZero == 0\nSame(n) == F(n) = n",
        "CONSTANT F <- Impl\nINVARIANT OK\n",
        "holds",
    ),
    ("CONSTANT N\nState == x\nOK == N = 0", "", "CONSTANT N <- State\nINVARIANT OK\n", "invalid parse"),
    // Instances.
    (
        "I(m) == INSTANCE C WITH v <- x, Max <- m\nOK == I(3)!Fine /\\ (x > 2 => ~I(2)!Fine)",
        "EXTENDS Naturals\nCONSTANT Max\nVARIABLE v\nFine == v <= Max",
        "INVARIANT OK\n",
        "holds",
    ),
    (
        "I(m) == INSTANCE C WITH v <- x, Max <- m\nOK == I(3)!Fine /\\ \\A k \\in 3..4 : I(k)!Sum(2) = k + 2 * x",
        "EXTENDS Naturals\nCONSTANT Max\nVARIABLE v\nFine == v <= Max\nHelp(n) == n * v\nSum(n) == Max + Help(n)",
        "INVARIANT OK\n",
        "holds",
    ),
    (
        "I == INSTANCE C WITH v <- x + 1\nOK == [][I!Up]_x",
        "EXTENDS Naturals\nVARIABLE v\nDelta(w) == w' - w\nUp == v' = v + 1 /\\ Delta(v) = 1",
        "PROPERTY OK\n",
        "holds",
    ),
    (
        "I == INSTANCE C WITH v <- x\nOK == [][I!Same]_x",
        "VARIABLE v\nSame == UNCHANGED v",
        "PROPERTY OK\n",
        "violated action property OK",
    ),
    ("J == INSTANCE C\nfoo == 1\nOK == J!bar = 3", "LOCAL foo == 3\nbar == foo", "INVARIANT OK\n", "holds"),
    (
        "OK == \\A m \\in 1..2 : LET I == INSTANCE C WITH Max <- m IN I!Twice = 2 * m",
        "EXTENDS Naturals\nCONSTANT Max\nHelp == Max\nTwice == Help + Max",
        "INVARIANT OK\n",
        "holds",
    ),
    (
        "Double(n) == 2 * n\nI == INSTANCE C WITH F <- Double\nOK == I!Run(x) = 2 * x + 1 /\\ I!Total(x) = x * (x + 1)",
        "EXTENDS Naturals\nCONSTANT F(_)\nRun(n) == F(n) + 1\nRECURSIVE Total(_)\n\
         Total(n) == IF n = 0 THEN 0 ELSE F(n) + Total(n - 1)",
        "INVARIANT OK\n",
        "holds",
    ),
    (
        "I == INSTANCE C\nOK == I!f[3] = 6",
        "EXTENDS Naturals\nf[n \\in Nat] == IF n = 0 THEN 0 ELSE n + f[n - 1]",
        "INVARIANT OK\n",
        "holds",
    ),
    // Names of the standard modules in a module that does not extend them, and in an instance that does.
    (
        "Mine == INSTANCE C\nSeqs == 5\nOK == Mine!Size({1, 2}) = 2 /\\ Mine!Natural(3)",
        "LOCAL INSTANCE Naturals\nLOCAL INSTANCE FiniteSets\nSize(S) == Cardinality(S)\nNatural(n) == n \\in Nat",
        "INVARIANT OK\n",
        "holds",
    ),
    (
        "VIEW == x + 1\nSYMMETRY == x + 2\nOK == VIEW = x + 1 /\\ SYMMETRY = x + 2\nV == <<x, g>>",
        "",
        "VIEW V\nINVARIANT OK\n",
        "holds",
    ),
    // A module within the module of an instance.
    (
        "I == INSTANCE C WITH v <- x\nOK == I!J!Twice = 2 * (x + 1) /\\ I!J!Once = x",
        "EXTENDS Naturals\nVARIABLE v\nFoo == v + 1\n---- MODULE Inner ----\nEXTENDS Naturals\nCONSTANT K\nTwice == Foo * K\nOnce == v\n====\n\
         J == INSTANCE Inner WITH K <- 2",
        "INVARIANT OK\n",
        "holds",
    ),
    // Several conjuncts of the initial predicate.
    (
        "Two == x = 0 /\\ g = <<1>> /\\ [][UNCHANGED <<x, g>>]_<<x, g>>",
        "",
        "SPECIFICATION Two\nINVARIANT Zero\n",
        "holds",
    ),
];

const INVARIANTS: &str = "Low == x <= 3\nZero == x = 0\n";

fn request(text: &str, module: &str, cfg_text: String) -> CheckRequest {
    let text = format!("---- MODULE S ----\n{text}\n====\n");
    let local_modules = match module {
        "" => Vec::new(),
        module => vec![("C".to_owned(), format!("---- MODULE C ----\n{module}\n====\n"))],
    };
    let cfg = Cfg::parse(&cfg_text).unwrap();
    CheckRequest { spec: SpecText { name: "S".into(), text, local_modules }, cfg_text, cfg }
}

fn words(outcome: &CheckOutcome) -> String {
    match &outcome.verdict {
        Verdict::Violated { violated } => format!("violated {}", violated.description()),
        _ => verdict(outcome),
    }
}

/// The verdict of the embedded checker, and that of TLC for every twelfth row, or for each one in the campaign.
async fn verdicts(bench: &Bench, row: usize, request: &CheckRequest) -> (String, Option<String>) {
    // TLC 2.15 ends with an error on temporal formulas with parameters, and with a full stack on a cyclic substitution.
    let is_for_tlc = !request.spec.text.contains("\\* not TLC\n");
    if is_for_tlc && (row.is_multiple_of(12) || std::env::var_os("TLAFORGE_CAMPAIGN").is_some()) {
        let (tlc, embedded, _) = bench.both(request).await;
        return (words(&embedded), Some(words(&tlc)));
    }
    (words(&bench.check(request).await), None)
}

#[tokio::test]
async fn each_expression_is_read_in_its_state_and_each_name_in_its_scope() {
    let bench = Bench::new();
    let mut wrong = Vec::new();
    for (row, (definitions, holds)) in PROPERTIES.iter().enumerate() {
        let cfg = "SPECIFICATION Spec\nPROPERTY P\nCHECK_DEADLOCK FALSE\n".to_owned();
        let request = request(&format!("{COUNTER}{definitions}"), "", cfg);
        let (embedded, tlc) = verdicts(&bench, row, &request).await;
        let is_right = |verdict: &String| if *holds { verdict == "holds" } else { verdict.starts_with("violated") };
        if !is_right(&embedded) || tlc.as_ref().is_some_and(|tlc| !is_right(tlc)) {
            wrong.push(format!("{definitions}: holds is {holds}, embedded: {embedded}, TLC: {tlc:?}"));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[tokio::test]
async fn overrides_and_instances_are_applied() {
    let bench = Bench::new();
    let mut wrong = Vec::new();
    for (row, (definitions, module, cfg, wanted)) in MODELS.iter().enumerate() {
        let behaviour = if cfg.contains("SPECIFICATION") { "" } else { "SPECIFICATION Spec\n" };
        let cfg = format!("{behaviour}{cfg}CHECK_DEADLOCK FALSE\n");
        let request = request(&format!("{COUNTER}{INVARIANTS}{definitions}"), module, cfg);
        let (embedded, tlc) = verdicts(&bench, row, &request).await;
        if embedded != *wanted || tlc.as_ref().is_some_and(|tlc| tlc != wanted) {
            wrong.push(format!("{definitions}: wanted {wanted}, embedded: {embedded}, TLC: {tlc:?}"));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[tokio::test]
async fn a_standard_name_has_the_meaning_of_its_module() {
    let own = "VARIABLE x\nMine == INSTANCE C\nNat == {1}\nLen(s) == 42\nCardinality(S) == 99\nSelectSeq(a, b) == a\nInit == x = 0\n\
               Next == x' = 1\nOK == Nat = {1} /\\ Len(x) = 42 /\\ Cardinality(x) = 99 /\\ SelectSeq(1, 2) = 1 /\\ Mine!OK";
    let standard = "LOCAL INSTANCE Naturals\nLOCAL INSTANCE Sequences\nLOCAL INSTANCE FiniteSets\n\
                    OK == 3 \\in Nat /\\ Len(<<1>>) = 1 /\\ Cardinality({7, 8}) = 2";
    let cfg = "INIT Init\nNEXT Next\nINVARIANT OK\nCHECK_DEADLOCK FALSE\n".to_owned();
    let (tlc, embedded, _) = Bench::new().both(&request(own, standard, cfg)).await;
    assert_eq!((words(&tlc).as_str(), words(&embedded).as_str()), ("holds", "holds"), "{embedded:#?}");
}
