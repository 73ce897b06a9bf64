//! Whole translations: the output for each construct, and errors that are found only after parsing.

use super::diagnostic::Diagnostic;
use super::{Compat, Fair, Options, Translated, translate};

fn whole(text: &str, options: &Options) -> Translated {
    translate(text, options).unwrap_or_else(|problems| panic!("{problems:?}")).expect("there is an algorithm")
}

/// The lines between the markers.
fn lines_with(algorithm: &str, options: &Options) -> Vec<String> {
    let text = whole(&format!("(* --algorithm A\n{algorithm} *)\n"), options).text;
    let lines = text.lines().skip_while(|line| !line.contains("BEGIN TRANSLATION")).skip(1);
    lines.take_while(|line| !line.contains("END TRANSLATION")).map(str::to_owned).collect()
}

fn lines(algorithm: &str) -> Vec<String> {
    lines_with(algorithm, &Options { label: true, ..Options::default() })
}

/// The definition of a name, its lines joined.
fn definition(lines: &[String], name: &str) -> String {
    let head = [format!("{name} =="), format!("{name}(self) ==")];
    let start = lines.iter().position(|line| head.iter().any(|head| line.starts_with(head)));
    let start = start.unwrap_or_else(|| panic!("no {name} in\n{}", lines.join("\n")));
    let rest = &lines[start..];
    rest[..rest.iter().position(String::is_empty).unwrap_or(rest.len())].join("\n")
}

fn problems(algorithm: &str) -> Vec<Diagnostic> {
    let options = Options { label: true, ..Options::default() };
    translate(&format!("(* --algorithm A\n{algorithm} *)\n"), &options).expect_err("it is rejected")
}

#[test]
fn a_uniprocess_algorithm_has_a_step_for_each_label() {
    let found = lines(
        "variables x = 0, y \\in {1, 2};\nbegin\na: x := x + y;\nb: while x < 9 do x := x + 1; end while;\nend algorithm;",
    );
    let wanted = r#"VARIABLES pc, x, y

vars == << pc, x, y >>

Init == (* Global variables *)
        /\ x = 0
        /\ y \in {1, 2}
        /\ pc = "a"

a == /\ pc = "a"
     /\ x' = x + y
     /\ pc' = "b"
     /\ y' = y

b == /\ pc = "b"
     /\ IF x < 9
           THEN /\ x' = x + 1
                /\ pc' = "b"
           ELSE /\ pc' = "Done"
                /\ x' = x
     /\ y' = y

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == a \/ b
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")
"#;
    assert_eq!(found.join("\n"), wanted);
}

#[test]
fn the_translator_of_2020_declares_pc_after_the_global_variables() {
    let text = "variable x = 0;\nprocedure P(a) begin r: return; end procedure;\nbegin\nm: call P(1);\nend algorithm;";
    let of = |compat| lines_with(text, &Options { compat, ..Options::default() })[..3].join("|");
    assert_eq!(of(Compat::Today), "CONSTANT defaultInitValue|VARIABLES pc, x, stack, a|");
    assert_eq!(of(Compat::Y2020), "CONSTANT defaultInitValue|VARIABLES x, pc, stack, a|");
}

#[test]
fn a_call_saves_the_variables_of_the_procedure_and_a_return_restores_them() {
    let found = lines(
        "variable x = 0;\nprocedure P(a = 1)\nvariable loc = 2;\nbegin\np: loc := a;\nq: return;\nend procedure;\nprocess w \\in 1..2\nbegin\nm: call P(self);\nend process;\nend algorithm;",
    );
    assert_eq!(
        definition(&found, "m"),
        r#"m(self) == /\ pc[self] = "m"
           /\ /\ a' = [a EXCEPT ![self] = self]
              /\ stack' = [stack EXCEPT ![self] = << [ procedure |->  "P",
                                                       pc        |->  "Done",
                                                       loc       |->  loc[self],
                                                       a         |->  a[self] ] >>
                                                   \o stack[self]]
           /\ loc' = [loc EXCEPT ![self] = 2]
           /\ pc' = [pc EXCEPT ![self] = "p"]
           /\ x' = x"#
    );
    assert_eq!(
        definition(&found, "q"),
        r#"q(self) == /\ pc[self] = "q"
           /\ pc' = [pc EXCEPT ![self] = Head(stack[self]).pc]
           /\ loc' = [loc EXCEPT ![self] = Head(stack[self]).loc]
           /\ a' = [a EXCEPT ![self] = Head(stack[self]).a]
           /\ stack' = [stack EXCEPT ![self] = Tail(stack[self])]
           /\ x' = x"#
    );
    assert_eq!(
        definition(&found, "Next"),
        "Next == (\\E self \\in ProcSet: P(self))\n           \\/ (\\E self \\in 1..2: w(self))\n           \\/ Terminating"
    );
}

#[test]
fn branches_list_the_variables_they_leave_unchanged() {
    let found = lines(
        "variables x = 0, y = 0, longer = 0;\nbegin\na: either x := 1; or y := 2; longer := 3; end either;\nif x = 1 then skip; end if;\nend algorithm;",
    );
    assert_eq!(
        definition(&found, "a"),
        r#"a == /\ pc = "a"
     /\ \/ /\ x' = 1
           /\ UNCHANGED <<y, longer>>
        \/ /\ y' = 2
           /\ longer' = 3
           /\ x' = x
     /\ IF x' = 1
           THEN /\ TRUE
           ELSE /\ TRUE
     /\ pc' = "Done""#
    );
}

#[test]
fn with_is_let_or_a_quantifier_and_one_conjunct_needs_no_list() {
    let found = lines(
        "variable x = [i \\in 1..2 |-> 0];\nbegin\na: with v \\in 1..2, w = v do x[v] := w || x[3] := 1; end with;\nend algorithm;",
    );
    assert_eq!(
        definition(&found, "a"),
        r#"a == /\ pc = "a"
     /\ \E v \in 1..2:
          LET w == v IN
            x' = [x EXCEPT ![v] = w,
                           ![3] = 1]
     /\ pc' = "Done""#
    );
}

#[test]
fn an_algorithm_that_never_ends_has_no_pc() {
    let found = lines("variable x = 0;\nbegin\na: while TRUE do x := 1 - x; end while;\nend algorithm;");
    assert_eq!(
        found.join("\n"),
        "VARIABLE x\n\nvars == << x >>\n\nInit == (* Global variables *)\n        /\\ x = 0\n\nNext == x' = 1 - x\n\nSpec == Init /\\ [][Next]_vars\n"
    );
}

#[test]
fn clashing_names_are_renamed_with_a_warning() {
    let text = "(* --algorithm A\nvariable x = 0;\nprocess p = 1 variable t = 1; begin a: t := 2; end process;\nprocess q = 2 variable t = 1; begin a: t := x; end process;\nend algorithm; *)\n";
    let found = whole(text, &Options::default());
    assert!(found.text.contains("\n\\* Label a of process p at line 3 col 40 changed to a_\n"));
    assert!(found.text.contains("\nVARIABLES pc, x, t_, t\n"));
    assert_eq!(found.warnings.len(), 2);
    assert!(found.warnings[1].starts_with("Process variable t of process p"), "{:?}", found.warnings);
}

#[test]
fn fairness_is_that_of_the_process_its_labels_and_its_procedures() {
    let text = "variable x = 0;\nprocedure P() begin r:+ return; end procedure;\nfair process w \\in 1..2\nbegin\na:- call P();\nb: skip;\nend process;\nend algorithm;";
    assert_eq!(
        definition(&lines(text), "Spec"),
        "Spec == /\\ Init /\\ [][Next]_vars\n        /\\ \\A self \\in 1..2 : /\\ WF_vars((pc[self] # \"a\") /\\ w(self))\n                              /\\ WF_vars(P(self)) /\\ SF_vars(r(self))"
    );
    let spec = |fair| definition(&lines_with(text, &Options { fair: Some(fair), ..Options::default() }), "Spec");
    assert_eq!(spec(Fair::None), "Spec == Init /\\ [][Next]_vars");
    assert!(spec(Fair::Next).contains("/\\ WF_vars(Next)\n"));
}

#[test]
fn an_assertion_contains_its_line_and_that_of_its_macro_call() {
    let found = lines("variable x = 0;\nmacro M() begin assert x = 0; end macro;\nbegin\na: M();\nend algorithm;");
    assert!(
        definition(&found, "a")
            .contains("\"Failure of assertion at line 3, column 17 of macro called at line 5, column 4.\")")
    );
}

#[test]
fn errors_after_parsing_have_positions() {
    let cases = [
        ("variable x;\nbegin\na: y := 1;\nend algorithm;", 4, 4, "`y`, which is not declared"),
        ("variable x;\nbegin\na: x := 1 || x := 2;\nend algorithm;", 4, 4, "`x` is assigned twice"),
        ("variable x;\nbegin\na: goto b;\nend algorithm;", 4, 4, "label `b`, which does not exist"),
        ("variable x;\nbegin\na: call P();\nend algorithm;", 4, 4, "procedure `P`, which does not exist"),
        ("variable x;\nbegin\na: return;\nend algorithm;", 4, 4, "is not inside a procedure"),
        (
            "variable x;\nprocedure P(y) begin p: return; end procedure\nbegin\na: call P();\nend algorithm;",
            5,
            4,
            "takes 1 argument, not 0",
        ),
        ("variable x;\nbegin\na: skip;\na: skip;\nend algorithm;", 5, 4, "label `a` is declared twice"),
        ("variables x, x;\nbegin\na: skip;\nend algorithm;", 2, 14, "variable `x` is declared twice"),
        ("variables x, pc;\nbegin\na: skip;\nend algorithm;", 2, 14, "variable `pc`: this name is reserved"),
        ("variables x, defaultInitValue;\nbegin\na: skip;\nend algorithm;", 2, 14, "`defaultInitValue`"),
        ("begin\na: while TRUE do skip; end while;\nend algorithm;", 3, 4, "no variables"),
    ];
    for (text, line, column, message) in cases {
        let found = problems(text);
        assert_eq!((found[0].line, found[0].column), (line, column), "{text}: {found:?}");
        assert!(found[0].message.contains(message), "{text}: {found:?}");
    }
}

#[test]
fn the_deepest_accepted_nesting_fits_the_stack() {
    let nested = |depth: usize| {
        let (open, close) = ("if x = 1 then\n".repeat(depth), "end if;\n".repeat(depth));
        format!("(* --algorithm A\nvariable x = 1;\nbegin\na: {open}x := 2;\n{close}end algorithm; *)\n")
    };
    assert!(matches!(translate(&nested(240), &Options::default()), Ok(Some(_))));
    assert!(translate(&nested(5_000), &Options::default()).is_err());
}

#[test]
fn a_translation_that_is_too_long_is_refused() {
    let variables: Vec<_> = (0..100).map(|number| format!("{}{number} = 0", "v".repeat(10_000))).collect();
    let steps: String = (0..100).fold(String::new(), |all, number| all + &format!("l{number}: skip;\n"));
    let found = problems(&format!("variables {};\nbegin\n{steps}end algorithm;", variables.join(", ")));
    assert!(found[0].line > 1 && found[0].message.contains("MB"), "{found:?}");
}
