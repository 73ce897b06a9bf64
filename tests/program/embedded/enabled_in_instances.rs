//! ENABLED and fairness in an instance that gives the variables of its module expressions, or the same variable twice. In
//! TLA+ they are about the variables of the module, which may have any next values (Lamport, "Specifying Systems", 17.8);
//! TLC instead looks for a step of the specification. The rows say what each formula means in terms of the specification.

use tlaforge::tla::Cfg;
use tlaforge::toolchain::{CheckRequest, SpecText};

use super::bench::{Bench, verdict};

const ROOT: &str = "EXTENDS Naturals
VARIABLES x, y
vars == <<x, y>>
Init == x = 0 /\\ y = 0
A == x < 3 /\\ x' = x + 1 /\\ y' = y
B == y' = 1 - y /\\ x' = x
Next == A \\/ B
Spec == Init /\\ [][Next]_vars
Fair == Spec /\\ WF_vars(A)
Sum == INSTANCE C WITH v <- x + y, w <- y
Twice == INSTANCE C WITH v <- y, w <- y
Outer == INSTANCE D WITH u <- x + y
More(n) == INSTANCE C WITH v <- x + n, w <- y
Own == INSTANCE C WITH v <- x, w <- y
Three == INSTANCE E WITH a <- x, b <- x, c <- x
";

const C: &str = "EXTENDS Naturals
VARIABLES v, w
Up == v < 2 /\\ v' = v + 1 /\\ w' = w
Jump == v' = 7 /\\ UNCHANGED w
Both == \\E n \\in 0..1 : n > w /\\ v' = n /\\ w' = v'
Stay == UNCHANGED <<v, w>>
Tick == w' = w + 1 /\\ v' = v
Set(p, n) == p' = n /\\ w' = w
CanUp == ENABLED Up
CanJump == ENABLED Jump
CanBoth == ENABLED Both
CanTick == ENABLED Tick
CanSet == ENABLED Set(v, v + 9)
CanChange == ENABLED <<Stay>>_<<v, w>>
CanTwice == ENABLED (Up /\\ ENABLED (v' = 5 /\\ v = 0 /\\ w' = w))
May(F) == ENABLED F
MayUp(F) == ENABLED (Up /\\ F)
Even(k) == k' = 2 * k
CanEven == LET once == v IN ENABLED (Even(v) /\\ w' = once)
FairUp == WF_<<v, w>>(Up)
FairJump == WF_<<v, w>>(Jump)
FairStay == SF_v(Stay)
StrongUp == SF_<<v, w>>(LET act == Up IN act)
AllFair == \\A n \\in 1..2 : WF_v(v < n /\\ Set(v, v + 1))
";

const D: &str = "VARIABLE u\nInner == INSTANCE C WITH v <- u, w <- 0\n";
const E: &str = "VARIABLES a, b, c\nCan == ENABLED (a' = a /\\ b' = 1 /\\ c' = 2)\n";

const UP: &str = "x + y < 2 /\\ (x + y)' = x + y + 1 /\\ y' = y";

/// A property, the specification, and whether it holds: as it has to be by the meaning of ENABLED.
const ROWS: [(&str, &str, &str); 31] = [
    ("[](Sum!CanUp <=> x + y < 2)", "Spec", "holds"),
    ("[]Sum!CanUp", "Spec", "violated"),
    // No state of the specification has this value.
    ("[]Sum!CanJump", "Spec", "holds"),
    ("[](Sum!CanBoth <=> y = 0)", "Spec", "holds"),
    ("[]Sum!CanTick", "Spec", "holds"),
    ("[]Sum!CanSet", "Spec", "holds"),
    ("[]~Sum!CanChange", "Spec", "holds"),
    ("[](Sum!CanTwice <=> x + y = 0)", "Spec", "holds"),
    ("[]Sum!CanEven", "Spec", "holds"),
    // The next values of the two variables are independent.
    ("[]Twice!CanUp", "Spec", "holds"),
    ("[](Twice!CanBoth <=> y = 0)", "Spec", "holds"),
    ("[]Twice!CanTick", "Spec", "holds"),
    ("[](Outer!Inner!CanUp <=> x + y < 2)", "Spec", "holds"),
    ("[]Outer!Inner!CanTick", "Spec", "holds"),
    ("\\A n \\in 0..1 : [](More(n)!CanUp <=> x + n < 2)", "Spec", "holds"),
    ("\\A n \\in 0..1 : [](More(n)!CanUp <=> x < 2)", "Spec", "violated"),
    ("[](Own!CanUp <=> x < 2)", "Spec", "holds"),
    ("Sum!FairUp <=> ([]<>~(x + y < 2) \\/ []<><<UP>>_<<x + y, y>>)", "Spec", "holds"),
    ("Sum!StrongUp <=> (<>[]~(x + y < 2) \\/ []<><<UP>>_<<x + y, y>>)", "Spec", "holds"),
    ("Sum!FairUp", "Spec", "violated"),
    ("Sum!FairUp", "Fair", "holds"),
    ("Sum!FairJump", "Fair", "violated"),
    ("Sum!FairStay", "Spec", "holds"),
    ("Sum!AllFair", "Spec", "violated"),
    ("Sum!AllFair", "Fair", "holds"),
    ("Outer!Inner!FairUp", "Fair", "holds"),
    // An action from outside is about the variables of the specification.
    ("[](Sum!May(A) <=> x < 3)", "Spec", "holds"),
    ("[]~Twice!May(Twice!Tick /\\ Twice!Stay)", "Spec", "holds"),
    ("[]~Twice!May(Twice!Up)", "Spec", "holds"),
    ("[]Sum!MayUp(x' = 1 /\\ y' = y)", "Spec", "inconclusive"),
    // More variables than the specification has.
    ("[]Three!Can", "Spec", "inconclusive"),
];

#[tokio::test]
async fn enabled_in_an_instance_is_about_the_variables_of_its_module() {
    let bench = Bench::new();
    let module = |name: &str, text: &str| format!("---- MODULE {name} ----\n{text}====\n");
    let mut wrong = Vec::new();
    for (property, specification, expected) in ROWS {
        let property = property.replace("UP", UP);
        let text = module("S", &format!("{ROOT}Property == {property}\n"));
        let local_modules = [("C", C), ("D", D), ("E", E)].map(|(name, text)| (name.to_owned(), module(name, text)));
        let cfg_text = format!("SPECIFICATION {specification}\nPROPERTY Property\nCHECK_DEADLOCK FALSE\n");
        let cfg = Cfg::parse(&cfg_text).unwrap();
        let spec = SpecText { name: "S".into(), text, local_modules: local_modules.to_vec() };
        let outcome = bench.check(&CheckRequest { spec, cfg_text, cfg }).await;
        if !verdict(&outcome).starts_with(expected) {
            wrong.push(format!("{property} of {specification}: not {expected}: {:?}", outcome.verdict));
        }
    }
    assert_eq!(wrong, [""; 0]);
}
