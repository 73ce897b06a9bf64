//! Tests the contracts of steps: the request for them, the answers that are sent back, and the step properties that the program
//! makes of them.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

use tlaforge_tla::{
    Cfg, ContractCase, Contracts, DeclaredSteps, Members, Module, contract_cases, read_contracts, usable_definitions,
};

/// A translated module: a process with two labels, the second one a loop, and a single process.
const MODULE: &str = r#"---- MODULE Spec ----
EXTENDS Naturals
CONSTANT Max
Clients == 1..2
Double(n) == n + n
(* --algorithm Counter
variables n = 0, log = 0;
process client \in Clients
begin
  Ask:
    n := n + 1;
  Work:
    while n < Max do
      n := n + 1;
    end while;
end process;
process clock = "clock"
begin
  Tick:
    log := log + 1;
    goto Tick;
end process;
end algorithm; *)
\* BEGIN TRANSLATION
VARIABLES n, log, pc
vars == << n, log, pc >>
ProcSet == (Clients) \cup {"clock"}
Init == /\ n = 0 /\ log = 0
        /\ pc = [self \in ProcSet |-> CASE self \in Clients -> "Ask" [] self = "clock" -> "Tick"]
Ask(self) == /\ pc[self] = "Ask"
             /\ n' = n + 1
             /\ pc' = [pc EXCEPT ![self] = "Work"]
             /\ log' = log
Work(self) == /\ pc[self] = "Work"
              /\ IF n < Max
                    THEN /\ n' = n + 1
                         /\ pc' = [pc EXCEPT ![self] = "Work"]
                    ELSE /\ pc' = [pc EXCEPT ![self] = "Done"]
                         /\ n' = n
              /\ log' = log
client(self) == Ask(self) \/ Work(self)
Tick == /\ pc["clock"] = "Tick"
        /\ log' = log + 1
        /\ pc' = [pc EXCEPT !["clock"] = "Tick"]
        /\ n' = n
clock == Tick
Next == clock \/ (\E self \in Clients: client(self))
Spec == Init /\ [][Next]_vars
\* END TRANSLATION
TypeOK == n \in 0..Max
====
"#;

const START: &str = "\\* docs/a.md:1\nInitially == n = 0 /\\ log = 0\n";
const ASK: &str = "\
\\* docs/a.md:1
Guard_Ask(self) == TRUE
\\* docs/a.md:1
Effect_Ask(self) == n' = n + 1 /\\ UNCHANGED log
";
const WORK: &str = "\
\\* docs/a.md:2
Guard_Work(self) == n < C_Most
\\* docs/a.md:2
Effect_Work(self) == n' = n + 1 /\\ UNCHANGED <<log>>
";
const TICK: &str = "\
\\* docs/a.md:3
Guard_Tick(self) == TRUE
\\* docs/a.md:3
\\* free: n: the documents do not say whether the clock counts
Effect_Tick(self) == log' = log + 1
";

fn read(text: &str) -> Result<Contracts, Vec<String>> {
    let module = Module::parse(MODULE).unwrap();
    let steps = DeclaredSteps::from_module(&module).unwrap();
    read_contracts(&module, &Cfg::default(), &steps, text)
}

fn all() -> String {
    format!(
        "{START}C_Most == Max\n{}{WORK}{TICK}",
        ASK.replace("\\* docs/a.md:1\nGuard", "\\* free: no condition is documented\nGuard")
    )
}

#[test]
fn the_steps_of_an_algorithm_are_declared_without_what_they_do() {
    let module = Module::parse(MODULE).unwrap();
    let steps = DeclaredSteps::from_module(&module).unwrap();
    let labels: Vec<(&str, String, &str)> = steps
        .labels()
        .map(|(_, label)| (label.name.as_str(), label.next.join(" "), label.loop_exit.as_deref().unwrap_or_default()))
        .collect();
    assert_eq!(
        labels,
        [("Ask", "Work".to_owned(), ""), ("Work", "Work Done".to_owned(), "Done"), ("Tick", "Tick".to_owned(), ""),]
    );
    assert_eq!(steps.processes[0].members, Members::Each("Clients".to_owned()));
    assert_eq!(steps.processes[1].members, Members::One("\"clock\"".to_owned()));
    assert!(steps.has_pc);
    // `Double` has a parameter and could be changed together with the algorithm.
    let usable: Vec<&str> = usable_definitions(&module).iter().map(|definition| definition.name.as_str()).collect();
    assert_eq!(usable, ["Clients"]);
}

#[test]
fn a_contract_is_about_the_steps_that_leave_its_label() {
    let text = all().replace("Guard_Tick(self) == TRUE", "Guard_Tick(self) == log >= 0");
    let contracts = read(&text).unwrap();
    assert_eq!(
        contracts.properties,
        ["Contract_at_the_start", "Contract_Ask", "Contract_Work", "Contract_at_the_same_label"]
    );
    for formula in [
        r#"[][\A self \in Clients : (pc[self] = "Ask" /\ pc'[self] # "Ask") => ((Guard_Ask(self) /\ Effect_Ask(self)))]_vars"#,
        // The end of the loop changes nothing, and the documents say nothing of it.
        r#"[][\A self \in Clients : (pc[self] = "Work" /\ pc'[self] # "Work") => ((Guard_Work(self) /\ Effect_Work(self)) \/ (pc'[self] \in {"Done"} /\ UNCHANGED << log, n >>))]_vars"#,
        r#"(\E self \in Clients : pc[self] = "Work" /\ Guard_Work(self) /\ Effect_Work(self))"#,
        r#"(\E self \in {"clock"} : pc[self] = "Tick" /\ Guard_Tick(self) /\ Effect_Tick(self))"#,
    ] {
        assert!(contracts.definitions.contains(formula), "{formula}\n{}", contracts.definitions);
    }
    assert_eq!(contracts.steps[3].free_variables, ["n"]);
    assert_eq!(contracts.steps[2].checked_by, ["Contract_at_the_same_label", "Contract_Work"]);
}

#[test]
fn every_mistake_in_the_definitions_is_reported() {
    let good = all().replace("Guard_Tick(self) == TRUE", "Guard_Tick(self) == log >= 0");
    for (from, to, said) in [
        ("Guard_Ask(self)", "Guard_Bsk(self)", "has no label Bsk"),
        ("Guard_Ask(self)", "C_Ask(self)", "`Guard_Ask(self)` is missing"),
        ("Effect_Ask(self) ==", "Effect_Ask ==", "write it as `Effect_Ask(self) == …`"),
        ("n < C_Most", "n' < C_Most", "Guard_Work must have no primed variable"),
        ("n < C_Most", "n < Double(Max)", "Guard_Work uses Double, which the specification defines"),
        ("n < C_Most", "TypeOK", "Guard_Work uses TypeOK, which the specification defines"),
        ("/\\ UNCHANGED <<log>>", "", "Effect_Work does not say in each case what becomes of log"),
        ("n' = n + 1 /\\ UNCHANGED log", "TRUE", "Effect_Ask is TRUE"),
        (
            "\\* free: n: the documents do not say whether the clock counts\n",
            "",
            "Effect_Tick does not say in each case what becomes of n",
        ),
        ("C_Most == Max", "Most == Max", "Most: define only"),
        ("Initially == n = 0", "Initially == n' = 0", "Initially must have no parameter"),
        ("Initially ==", "C_Initially ==", "`Initially` is missing"),
    ] {
        let changed = good.replace(from, to);
        assert_ne!(changed, good, "{from}");
        let mistakes = read(&changed).unwrap_err().join("\n");
        assert!(mistakes.contains(said), "{to}: {mistakes}");
    }
}

#[test]
fn an_effect_says_in_each_case_what_becomes_of_a_variable() {
    for (effect, open) in [
        ("n' = n + 1 /\\ log' = log", ""),
        ("UNCHANGED <<n, log>>", ""),
        ("UNCHANGED log /\\ n' \\in 0..Max", ""),
        ("UNCHANGED log /\\ \\E k \\in 1..2 : n' = n + k", ""),
        ("UNCHANGED log /\\ (n' = 1 \\/ UNCHANGED n)", ""),
        ("UNCHANGED log /\\ IF n < Max THEN n' = n + 1 ELSE n' = n", ""),
        ("UNCHANGED log /\\ CASE n < Max -> n' = n + 1 [] OTHER -> C_Same", ""),
        ("UNCHANGED log /\\ LET same == n' = n IN same", ""),
        ("UNCHANGED log /\\ LET next == n' IN next = n", ""),
        ("UNCHANGED log /\\ (n' = 1 \\/ FALSE)", ""),
        ("<<n, log>>' = <<1, 2>>", ""),
        ("UNCHANGED log /\\ C_5", ""),
        // Too much to read: 2 ^ 39 times the same.
        ("C_39 /\\ UNCHANGED log", "log"),
        ("UNCHANGED log /\\ n' = n'", "n"),
        ("UNCHANGED log /\\ (n' = 1 \\/ TRUE)", "n"),
        ("UNCHANGED log /\\ (n' = 1 \\/ n < Max)", "n"),
        ("UNCHANGED log /\\ (n < Max => n' = 1)", "n"),
        ("UNCHANGED log /\\ ~(n' = 1)", "n"),
        ("UNCHANGED log /\\ IF n < Max THEN n' = n + 1 ELSE TRUE", "n"),
        ("UNCHANGED log /\\ CASE n < Max -> n' = n + 1 [] OTHER -> TRUE", "n"),
        ("UNCHANGED log /\\ C_Open", "n"),
        ("UNCHANGED log /\\ C_Loop", "n"),
        ("(UNCHANGED log /\\ n' = 1) \\/ UNCHANGED n", "log"),
        ("n < Max", "log, n"),
    ] {
        let helpers = (1..40)
            .fold("C_0 == UNCHANGED n\n".to_owned(), |text, n| format!("{text}C_{n} == C_{0} /\\ C_{0}\n", n - 1));
        let helpers = helpers + "C_Same == n' = n\nC_Open == n' = 1 \\/ n = n\nC_Loop == n > 0 /\\ C_Loop\n";
        let text = all().replace("Guard_Tick(self) == TRUE", "Guard_Tick(self) == log >= 0");
        let text = text.replace("n' = n + 1 /\\ UNCHANGED log", effect);
        assert!(text.contains(effect), "{text}");
        match (read(&format!("{helpers}{text}")), open) {
            (Ok(_), "") => {}
            (Ok(_), _) => panic!("{effect} leaves {open} open"),
            (Err(mistakes), _) => {
                let said = format!("Effect_Ask does not say in each case what becomes of {open}:");
                assert!(
                    !open.is_empty() && mistakes.len() == 1 && mistakes[0].starts_with(&said),
                    "{effect}: {mistakes:?}"
                );
            }
        }
    }
}

#[test]
fn a_step_that_the_documents_leave_open_has_no_property() {
    let free = "\\* free: the documents say nothing of it\n";
    let text = all().replace(TICK, &format!("{free}Guard_Tick(self) == TRUE\n{free}Effect_Tick(self) == TRUE\n"));
    let contracts = read(&text).unwrap();
    assert!(contracts.steps[3].is_free && contracts.steps[3].checked_by.is_empty());
    assert_eq!(contracts.steps[3].free_words(), "the documents say nothing of it; the documents say nothing of it");
    // A step at the label of the clock may be any step, and nothing says whose step it is.
    assert_eq!(contracts.properties, ["Contract_at_the_start", "Contract_Ask"]);
    assert!(contracts.steps[2].checked_by.is_empty() && !contracts.steps[2].is_free);
}

#[test]
fn without_pc_every_step_is_one_that_the_documents_describe() {
    let module = MODULE
        .replace("  Ask:\n    n := n + 1;\n", "")
        .replace("\"Ask\"", "\"Work\"")
        .replace("VARIABLES n, log, pc", "VARIABLES n, log")
        .replace("Ask(self) \\/ Work(self)", "n' = n + 1 /\\ log' = log");
    let module = Module::parse(&module).unwrap();
    let steps = DeclaredSteps::from_module(&module).unwrap();
    assert!(!steps.has_pc);
    let tick = TICK.replace("Guard_Tick(self) == TRUE", "Guard_Tick(self) == log >= 0");
    let contracts =
        read_contracts(&module, &Cfg::default(), &steps, &format!("{START}C_Most == Max\n{WORK}{tick}")).unwrap();
    assert_eq!(contracts.properties, ["Contract_at_the_start", "Contract_of_any_step"]);
    let formula = "[][(\\E self \\in Clients : Guard_Work(self) /\\ Effect_Work(self))\n        \\/ (\\E self \\in {\"clock\"} : Guard_Tick(self) /\\ Effect_Tick(self))]_vars";
    assert!(contracts.definitions.contains(formula), "{}", contracts.definitions);
}

/// The cases of this effect of `Work`, in a module whose contracts are checked.
fn cases(effect: &str) -> Vec<ContractCase> {
    let text = format!("{START}Guard_Work(self) == n < Max\nEffect_Work(self) ==\n    {effect}\n====\n");
    let module = Module::parse(&MODULE.replace("====\n", &text)).unwrap();
    let cfg = Cfg { properties: vec!["Contract_Work".to_owned()], ..Cfg::default() };
    contract_cases(&module, &cfg)
}

#[test]
fn each_alternative_of_an_effect_is_a_case() {
    let texts = |effect: &str| cases(effect).into_iter().map(|case| case.text).collect::<Vec<_>>();
    // One case is the whole step, and a part that is FALSE is none.
    assert!(texts("n' = n + 1 /\\ UNCHANGED log").is_empty());
    assert!(texts("n' = n + 1 \\/ FALSE").is_empty());
    assert_eq!(texts("n' = n + 1 \\/ n'=2"), ["n' = n + 1", "n'=2"]);
    assert_eq!(texts("C_A \\/ C_B"), ["C_A", "C_B"]);
    // The text has what surrounds a case, and `…` for each other case there.
    assert_eq!(
        texts("IF n > 1 THEN n' = 0 ELSE n' = 1 \\/ n' = 2"),
        ["IF n > 1 THEN n' = 0 ELSE …", "IF n > 1 THEN … ELSE n' = 1 \\/ …", "IF n > 1 THEN … ELSE … \\/ n' = 2"]
    );
    assert_eq!(
        texts("CASE n > 1 -> n' = 0 [] OTHER -> log' = 0"),
        ["CASE n > 1 -> n' = 0 [] OTHER -> …", "CASE n > 1 -> … [] OTHER -> log' = 0"]
    );
    assert_eq!(
        texts("/\\ n > 0\n    /\\ \\/ /\\ n = 1\n          /\\ n' = 1 \\* one\n       \\/ n' = 2"),
        ["/\\ n > 0 /\\ \\/ /\\ n = 1 /\\ n' = 1 \\/ …", "/\\ n > 0 /\\ \\/ … \\/ n' = 2"]
    );
    assert_eq!(
        texts("\\E k \\in 1..2 : (n' = k) \\/ (n' = k + 2)"),
        ["\\E k \\in 1..2 : (n' = k) \\/ …", "\\E k \\in 1..2 : … \\/ (n' = k + 2)"]
    );
    assert_eq!(
        texts("(\\E k \\in 1..2 : n' = k) \\/ (LET k == 1 IN n' = k)"),
        ["(\\E k \\in 1..2 : n' = k)", "(LET k == 1 IN n' = k)"]
    );
    // If two conjuncts have cases, a case of one is searched for with any case of the other.
    assert_eq!(
        texts("(n' = 1 \\/ n' = 2) /\\ (log' = 1 \\/ log' = 2)")[1..3],
        ["(… \\/ n' = 2) /\\ (log' = 1 \\/ log' = 2)", "(n' = 1 \\/ n' = 2) /\\ (log' = 1 \\/ …)"]
    );
    // A case that is too long is shown with the beginning of what surrounds it.
    let long = "n > 0 /\\ ".repeat(30);
    let found = texts(&format!("{long} (n' = 1 \\/ n' = 2)"));
    assert!(found[1].starts_with("`n' = 2`, in `n > 0 /\\ n > 0 ") && found[1].ends_with("…`"), "{found:?}");
}

#[test]
fn a_case_is_asked_about_without_the_others_and_in_its_columns() {
    let found = cases("\\/ /\\ n > 0\n       /\\ n' = 1\n    \\/ n' = 22");
    assert_eq!(
        found[0].definition,
        "TlaforgeStepCase0(self) ==\n    \\/ /\\ n > 0\n       /\\ n' = 1\n    \\/ 0=1    \n"
    );
    assert_eq!(
        found[1].definition,
        "TlaforgeStepCase1(self) ==\n    \\/ 0=1     \n                \n    \\/ n' = 22\n"
    );
    assert_eq!(
        found[1].formula,
        "\\E self \\in Clients : pc[self] = \"Work\" /\\ (pc'[self] # \"Work\" \\/ pc' = pc) /\\ Guard_Work(self) /\\ TlaforgeStepCase1(self)"
    );
    let module = Module::parse(&MODULE.replace("====\n", &format!("{START}====\n"))).unwrap();
    assert!(contract_cases(&module, &Cfg::default()).is_empty());
}
