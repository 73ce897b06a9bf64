//! Temporal formulas of any shape: what the checker of states cannot decide, decided on the graph of the states.

use fastrand::Rng;
use tlaforge::tla::{Lasso, Verdict};

use super::bench::{Bench, request, verdict};

const CLOCK: &str = "EXTENDS Naturals
VARIABLES x, y
vars == <<x, y>>
Init == x = 0 /\\ y = 0
A == x' = (x + 1) % 3 /\\ y' = y
B == y' = 1 - y /\\ x' = x
Next == A \\/ B
Free == Init /\\ [][Next]_vars
Weak == Free /\\ WF_vars(A)
Strong == Free /\\ WF_vars(A) /\\ SF_vars(x = 2 /\\ B)
Some == Free /\\ \\E i \\in {1, 2} : WF_vars(IF i = 1 THEN A ELSE B)
Assumed == Free /\\ WF_vars(A) /\\ []<>(y = 1)
";

/// Property, specification, verdict. `\*` marks the properties that TLC decides, too; it refuses the others.
const ROWS: [(&str, &str, &str); 26] = [
    ("CASE x = 1 -> <>[](x = 1) [] x = 0 -> []<>(x = 1) [] OTHER -> FALSE", "Weak", "holds"),
    ("CASE x = 1 -> TRUE [] OTHER -> <>[](x = 1)", "Weak", "violated"),
    ("[]<>(x = 1) /\\ <>(y = 1 /\\ []<>(x = 2)) \\*", "Weak", "violated"),
    ("[]<>(x = 1) /\\ <>(y = 1 /\\ []<>(x = 2))", "Strong", "holds"),
    ("[](x = 1 => <>(x = 2 /\\ <>(x = 0))) \\*", "Weak", "holds"),
    ("[](x = 1 => <>(x = 2 /\\ <>(x = 0))) \\*", "Free", "violated"),
    ("<>[](y = 0) \\/ []<>(y = 1) \\*", "Free", "holds"),
    ("WF_vars(B) \\*", "Weak", "violated"),
    ("WF_vars(A) /\\ WF_x(A) \\*", "Weak", "holds"),
    ("SF_vars(B)", "Strong", "holds"),
    ("SF_vars(x = 1 /\\ B)", "Strong", "violated"),
    ("\\A i \\in 0..2 : []<>(x = i) => []<>(x = (i + 1) % 3)", "Weak", "holds"),
    ("\\E i \\in 0..2 : <>[](x = i)", "Weak", "violated"),
    ("\\E i \\in 0..2 : <>[](x = i \\/ x # i)", "Free", "holds"),
    ("[]<><<A>>_vars \\*", "Weak", "holds"),
    ("<><<B>>_vars", "Weak", "violated"),
    ("<><<B>>_vars", "Strong", "holds"),
    ("[](y = 1 => <><<A>>_vars)", "Weak", "holds"),
    ("<>[][x' = 1]_y \\*", "Weak", "violated"),
    ("LET two == 2 IN [](x = 0 => <>(x = two))", "Weak", "holds"),
    ("(x = 1) ~> [](x = 1) \\*", "Weak", "violated"),
    ("IF x = 0 THEN []<>(x = 0) ELSE FALSE", "Weak", "holds"),
    ("[]<>(x = 0) <=> []<>(x = 1)", "Weak", "holds"),
    ("[]<><<A>>_vars \\/ []<><<B>>_vars", "Some", "holds"),
    ("[]<><<B>>_vars", "Some", "violated"),
    ("[]<>(x = 0 /\\ <>(y = 1)) /\\ <>[][A]_y", "Assumed", "violated"),
];

#[tokio::test]
async fn formulas_of_any_shape_are_decided() {
    let bench = Bench::new();
    for (property, specification, expected) in ROWS {
        let module = format!("{CLOCK}Property == {property}\n");
        let cfg = format!("SPECIFICATION {specification}\nPROPERTY Property\n");
        let request = request(&module, &cfg);
        let outcome = bench.check(&request).await;
        let is_expected = match expected {
            "holds" => outcome.verdict == Verdict::Holds,
            _ => verdict(&outcome).starts_with("violated") && verdict(&outcome).ends_with(" Property"),
        };
        assert!(is_expected, "{specification}, {property}: {outcome:#?}");
        if expected == "violated" {
            let trace = outcome.trace.as_ref().unwrap();
            assert!(trace.lasso.is_some() && trace.steps[0].state["x"] == "0", "{trace:?}");
        }
        if property.ends_with("\\*") {
            let (theirs, _, contradictions) = bench.both(&request).await;
            assert_eq!(contradictions, [""; 0], "{specification}, {property}");
            assert!(verdict(&theirs).starts_with(expected), "{specification}, {property}: {theirs:#?}");
        }
    }
}

#[tokio::test]
async fn a_counterexample_is_short_and_names_the_violated_conjunct() {
    let bench = Bench::new();
    let module = format!("{CLOCK}Property ==\n  /\\ []<>(x = 1 /\\ <>(x = 2))\n  /\\ <>[](y = 0 => <>(y = 1))\n");
    let outcome = bench.check(&request(&module, "SPECIFICATION Weak\nPROPERTY Property\n")).await;
    let trace = outcome.trace.unwrap();
    assert_eq!((trace.steps.len(), trace.lasso), (3, Some(Lasso::BackTo(1))), "{trace:?}");
    let named = "the violated conjunct of Property is at line 16, column 6 of module S";
    assert!(outcome.warnings.iter().any(|warning| warning == named), "{:?}", outcome.warnings);
    // Without fairness, the system stops.
    let outcome = bench.check(&request(&module, "SPECIFICATION Free\nPROPERTY Property\n")).await;
    let trace = outcome.trace.unwrap();
    assert_eq!((trace.steps.len(), trace.lasso), (1, Some(Lasso::Stuttering(true))), "{trace:?}");
}

/// The graph has a step that changes nothing, and fairness forbids to take only that.
#[tokio::test]
async fn a_counterexample_is_fair() {
    let bench = Bench::new();
    let module = "EXTENDS Naturals\nVARIABLE x\nA == x' = (x + 1) % 2\nB == x' = x\nNext == A \\/ B\nInit == x = 0\n\
                  Spec == Init /\\ [][Next]_x /\\ WF_x(A)\nStays == <>[](x = 0)\nOnce == [](x = 0 => <>[](x = 0))\n";
    for property in ["Stays", "Once"] {
        let outcome = bench.check(&request(module, &format!("SPECIFICATION Spec\nPROPERTY {property}\n"))).await;
        let trace = outcome.trace.unwrap();
        assert_eq!((trace.steps.len(), trace.lasso), (2, Some(Lasso::BackTo(1))), "{property}: {trace:?}");
    }
}

/// The initial state is the one that ENABLED is about.
#[tokio::test]
async fn enabled_in_the_initial_predicate_is_evaluated() {
    let module = "EXTENDS Naturals\nVARIABLE x\nA == x < 1 /\\ x' = 1 - x\nInit == x \\in {0, 1} /\\ ENABLED A\n\
                  Next == x' = x\nZero == x = 0\n";
    let (tlc, embedded, contradictions) =
        Bench::new().both(&request(module, "INIT Init\nNEXT Next\nINVARIANT Zero\n")).await;
    assert_eq!(contradictions, [""; 0]);
    assert_eq!((verdict(&tlc).as_str(), verdict(&embedded).as_str()), ("holds", "holds"), "{:?}", embedded.verdict);
}

struct Writer(Rng);

impl Writer {
    fn one_of(&mut self, all: &[&str]) -> String {
        all[self.0.usize(..all.len())].to_owned()
    }

    fn predicate(&mut self) -> String {
        self.one_of(&["x = 0", "x = 1", "x = 2", "y = 1", "x > 0", "x = y", "ENABLED <<A>>_vars", "y = 0 /\\ x < 2"])
    }

    fn action(&mut self) -> String {
        self.one_of(&["A", "B", "x' > x", "C"])
    }

    /// A formula without actions.
    fn formula(&mut self, depth: usize) -> String {
        if depth == 0 {
            return format!("({})", self.predicate());
        }
        let one = self.formula(depth - 1);
        match self.0.u8(..8) {
            0 => format!("[]{one}"),
            1 => format!("<>{one}"),
            2 => format!("~{one}"),
            3 => format!("({one} /\\ {})", self.formula(depth - 1)),
            4 => format!("({one} \\/ {})", self.formula(depth - 1)),
            5 => format!("({one} => {})", self.formula(depth - 1)),
            6 => format!("({one} ~> {})", self.formula(depth - 1)),
            _ => format!("[]<>{one}"),
        }
    }

    /// TLC allows actions only in these forms.
    fn property(&mut self) -> String {
        let depth = self.0.usize(1..4);
        let formula = self.formula(depth);
        match self.0.u8(..6) {
            0 => format!("{formula} \\/ []<><<{}>>_vars", self.action()),
            1 => format!("<>[][{}]_vars => {formula}", self.action()),
            2 => format!("WF_vars({}) => {formula}", self.action()),
            3 => format!("SF_vars({})", self.action()),
            _ => formula,
        }
    }

    fn step(&mut self) -> String {
        let guard = self.predicate();
        let x = self.one_of(&["x", "(x + 1) % 3", "0", "2 - x"]);
        let y = self.one_of(&["y", "1 - y", "0"]);
        format!("({guard}) /\\ x' = {x} /\\ y' = {y}")
    }

    fn module(&mut self) -> String {
        let mut lines =
            vec!["EXTENDS Naturals\nVARIABLES x, y\nvars == <<x, y>>\nInit == x = 0 /\\ y \\in {0, 1}".to_owned()];
        for name in ["A", "B", "C"] {
            // An enabling condition may not depend on another one.
            let step = self.step().replace("ENABLED <<A>>_vars", "x # 1");
            lines.push(format!("{name} == {step}"));
        }
        let mut fair = vec!["Spec == Init /\\ [][Next]_vars".to_owned()];
        for _ in 0..self.0.usize(..3) {
            fair.push(format!("{}_vars({})", self.one_of(&["WF", "SF"]), self.one_of(&["A", "B", "C", "A \\/ B"])));
        }
        lines.extend(["Next == A \\/ B \\/ C".to_owned(), fair.join(" /\\ ")]);
        lines.push(format!("Property == {}\n", self.property()));
        lines.join("\n")
    }
}

/// Random specifications of a few states, with fairness, and random properties, against TLC.
#[tokio::test]
async fn random_properties_have_the_verdict_of_tlc() {
    let bench = Bench::new();
    let mut writer = Writer(Rng::with_seed(47));
    let count = if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { 600 } else { 8 };
    let (mut decided, mut violated) = (0, 0);
    for _ in 0..count {
        let module = writer.module();
        let request = request(&module, "SPECIFICATION Spec\nPROPERTY Property\nCHECK_DEADLOCK FALSE\n");
        let (theirs, ours, contradictions) = bench.both(&request).await;
        assert_eq!(contradictions, [""; 0], "{module}");
        // TLC refuses a formula that is always true.
        if matches!(theirs.verdict, Verdict::Holds | Verdict::Violated { .. }) {
            decided += 1;
            assert!(!matches!(ours.verdict, Verdict::Inconclusive { .. }), "{module}: {ours:#?}");
            assert_eq!(theirs.verdict == Verdict::Holds, ours.verdict == Verdict::Holds, "{module}");
        }
        violated += usize::from(matches!(ours.verdict, Verdict::Violated { .. }));
    }
    assert!(decided * 2 > count && violated > count / 5, "{decided} of {count} decided, {violated} violated");
}
