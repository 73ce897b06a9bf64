//! Tables of inputs for the parser. The expected results are those of the reference.

use super::ast::{Algorithm, Assignment, Binding, Body, Branch, Fairness, Kind, Statement, Step, Variable};
use super::expr::Expr;
use super::options::{Compat, Options};
use super::parse::parse;

fn module(algorithm: &str) -> String {
    format!("---- MODULE M ----\n(* {algorithm}\n*)\n====\n")
}

fn read(algorithm: &str) -> Result<Algorithm, Vec<(usize, usize, String)>> {
    match parse(&module(algorithm), &Options::default()) {
        Ok(parsed) => Ok(parsed.expect("the module has an algorithm").algorithm),
        Err(problems) => Err(problems.into_iter().map(|one| (one.line, one.column, one.message)).collect()),
    }
}

fn text(expr: &Expr) -> String {
    expr.to_lines().join("|")
}

fn texts(exprs: &[Expr]) -> String {
    exprs.iter().map(text).collect::<Vec<_>>().join(",")
}

/// Steps as text: `label(statements)`.
fn steps(steps: &[Step]) -> String {
    let one = |step: &Step| format!("{}({})", step.label, statements(&step.statements));
    steps.iter().map(one).collect::<Vec<_>>().join(" ")
}

fn branch(branch: &Branch) -> String {
    format!("[{}|{}]", statements(&branch.unlabeled), steps(&branch.labeled))
}

fn statements(all: &[Statement]) -> String {
    let one = |statement: &Statement| match &statement.kind {
        Kind::While { test, body } => format!("while {} {}", text(test), branch(body)),
        Kind::Assign(all) => {
            let one = |one: &Assignment| format!("{}{}:={}", one.variable, text(&one.subscript), text(&one.value));
            all.iter().map(one).collect::<Vec<_>>().join("||")
        }
        Kind::If { test, then, otherwise } => {
            format!("if {} [{}] [{}]", text(test), statements(then), statements(otherwise))
        }
        Kind::LabelIf { test, then, otherwise } => {
            format!("labelif {} {} {}", text(test), branch(then), branch(otherwise))
        }
        Kind::Either(clauses) => {
            format!("either [{}]", clauses.iter().map(|clause| statements(clause)).collect::<Vec<_>>().join("] ["))
        }
        Kind::LabelEither(clauses) => {
            format!("labeleither {}", clauses.iter().map(branch).collect::<Vec<_>>().join(" "))
        }
        Kind::With { variable, binding, value, body } => {
            let sign = if *binding == Binding::In { "\\in" } else { "=" };
            format!("with {variable}{sign}{} [{}]", text(value), statements(body))
        }
        Kind::When(expr) => format!("when {}", text(expr)),
        Kind::Print(expr) => format!("print {}", text(expr)),
        Kind::Assert(expr) => format!("assert {}", text(expr)),
        Kind::Skip => "skip".to_owned(),
        Kind::Call { procedure, arguments } => format!("call {procedure}({})", texts(arguments)),
        Kind::Return { from } => format!("return {from}"),
        Kind::CallReturn { procedure, arguments, .. } => format!("callreturn {procedure}({})", texts(arguments)),
        Kind::CallGoto { procedure, arguments, to } => format!("callgoto {procedure}({}) {to}", texts(arguments)),
        Kind::Goto { to } => format!("goto {to}"),
    };
    all.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn body(algorithm: &str) -> String {
    match read(algorithm).unwrap().body {
        Body::Single(body) => steps(&body),
        Body::Processes(processes) => {
            processes.iter().map(|process| steps(&process.body)).collect::<Vec<_>>().join(" / ")
        }
    }
}

#[test]
fn each_statement_is_read_in_both_syntaxes() {
    for (p, c, wanted) in [
        ("x := 1", "x := 1", "a(x:=1)"),
        ("x[i].b := 1 || y := 2 ;", "x[i].b := 1 || y := 2", "a(x[i].b:=1||y:=2)"),
        ("x ≔ 1 ‖ y ≔ 2;", "x ≔ 1 ‖ y ≔ 2", "a(x:=1||y:=2)"),
        ("if x then skip; end if;", "if (x) skip", "a(if x [skip] [])"),
        (
            "if x then y := 1 elsif z then y := 2 else y := 3 end if",
            "if (x) y := 1; else if (z) { y := 2 } else y := 3",
            "a(if x [y:=1] [if z [y:=2] [y:=3]])",
        ),
        ("either x := 1 or y := 1; end either", "either x := 1 or { y := 1 }", "a(either [x:=1] [y:=1])"),
        (
            "with i \\in S, j = i; k = 1 do x := k end with",
            "with (i \\in S, j = i; k = 1) x := k",
            "a(with i\\inS [with j=i [with k=1 [x:=k]]])",
        ),
        (
            "while x do b: skip; y := 1; c: y := 2 end while",
            "while (x) { b: skip; y := 1; c: y := 2 }",
            "a(while x [|b(skip; y:=1) c(y:=2)])",
        ),
        (
            "while x do y := 1; if z then b: y := 2 end if; c: skip end while",
            "while (x) { y := 1; if (z) { b: y := 2 }; c: skip }",
            "a(while x [y:=1; labelif z [|b(y:=2)] [|]|c(skip)])",
        ),
        ("either x := 1 or b: skip; end either", "either x := 1 or b: skip", "a(labeleither [x:=1|] [|b(skip)])"),
        (
            "await x; when y; print z; assert w; skip; goto Done",
            "await x; when y; print z; assert w; skip; goto Done",
            "a(when x; when y; print z; assert w; skip; goto Done)",
        ),
        ("call P(1, x + 2); b: skip", "call P(1, x + 2); b: skip", "a(call P(1,x + 2)) b(skip)"),
        ("call P(); goto a", "call P(); goto a", "a(callgoto P() a)"),
        (
            "if x then goto a else call P() end if; b: skip",
            "if (x) goto a; else call P(); b: skip",
            "a(if x [goto a] [call P()]) b(skip)",
        ),
        ("x := [do |-> 1].do + y.end", "x := [do |-> 1].do + y.end", "a(x:=[do |-> 1].do + y.end)"),
        (
            "x :=\n\t  /\\ 1\n\\* c\n          /\\ (* \\* *)2",
            "x :=\n /\\ 1\n\n /\\         2",
            "a(x:=/\\ 1||/\\         2)",
        ),
    ] {
        assert_eq!(body(&format!("--algorithm A begin a: {p} end algorithm")), wanted, "{p}");
        assert_eq!(body(&format!("--algorithm A {{ {{ a: {c} }} }}")), wanted, "{c}");
    }
    assert_eq!(body("--algorithm A begin a: if x then else skip end if end algorithm"), "a(if x [] [skip])");
}

#[test]
fn labels_are_added_where_the_reference_adds_them() {
    for (text, wanted) in [
        ("x := 1; y := 1; x := 2;", "Lbl_1(x:=1; y:=1) Lbl_2(x:=2)"),
        ("x := 1; while x do y := 1; y := 2 end while; y := 3;", "Lbl_1(x:=1) Lbl_2(while x [y:=1|Lbl_3(y:=2)]; y:=3)"),
        ("if x then goto Done end if; y := 1;", "Lbl_1(if x [goto Done] []) Lbl_2(y:=1)"),
        (
            "if x then y := 1; y := 2 else z := 1 end if; z := 2;",
            "Lbl_1(labelif x [y:=1|Lbl_2(y:=2)] [z:=1|]) Lbl_3(z:=2)",
        ),
        ("either x := 1 or y := 1 end either; y := 2", "Lbl_1(either [x:=1] [y:=1]) Lbl_2(y:=2)"),
        // As in the reference, the variables that a `with` assigns are compared with those assigned before its sequence.
        ("x := 1; with i = 1 do x := 2 end with", "Lbl_1(x:=1; with i=1 [x:=2])"),
        (
            "x := 1; if x then with i = 1 do x := 2 end with end if",
            "Lbl_1(x:=1; labelif x [|Lbl_2(with i=1 [x:=2])] [|])",
        ),
        ("call P(); call P()", "Lbl_1(call P()) Lbl_2(call P())"),
    ] {
        assert_eq!(body(&format!("--algorithm A begin {text} end algorithm")), wanted, "{text}");
    }
    let label = Options { label: true, ..Options::default() };
    let text = module("--algorithm A begin Lbl_1: x := 1; x := 2; end algorithm");
    let Body::Single(body) = parse(&text, &label).unwrap().unwrap().algorithm.body else { panic!("one body") };
    assert_eq!(steps(&body), "Lbl_1(x:=1) Lbl_2(x:=2)");
    let missing = parse(&text, &Options::default()).unwrap_err();
    assert_eq!((missing.len(), missing[0].line, missing[0].column), (1, 2, 39));
}

#[test]
fn macros_are_expanded_with_their_layout() {
    for (macros, text, wanted) in [
        ("macro M(a) begin x := a * 2 end macro", "a: M(1 + 2)", "a(x:=(1 + 2) * 2)"),
        ("macro M(a) begin a[1] := a end macro", "a: M(x[3])", "a(x[3][1]:=x[3])"),
        ("macro M(a, b) begin x := a + b end macro;", "a: M(b, a)", "a(x:=b + a)"),
        // The label of a call that expands to nothing is lost.
        ("macro M() begin end macro", "a: M(); b: skip; M()", "b(skip)"),
        (
            "macro N(a) begin print a; end macro; macro M(a) begin N(a); N(a + 1) end macro",
            "a: M(x)",
            "a(print x; print x + 1)",
        ),
        (
            "macro M(p) begin x :=\nf(p,\n  p) + [p |-> p].p end macro",
            "a: M(q + 1)",
            "a(x:=f((q + 1),|  (q + 1)) + [p |-> (q + 1)].p)",
        ),
        (
            "macro M(p) begin with i \\in p do if p then skip else await p end if end with end macro",
            "a: M(q)",
            "a(with i\\inq [if q [skip] [when q]])",
        ),
        (
            "macro M() begin while x do skip end while end macro",
            "M(); M()",
            "Lbl_1(while x [skip|]) Lbl_2(while x [skip|])",
        ),
    ] {
        assert_eq!(body(&format!("--algorithm A {macros} begin {text} end algorithm")), wanted, "{macros}");
    }
}

#[test]
fn declarations_procedures_and_processes_are_read() {
    let algorithm = read(
        "--fair algorithm A variables x = 1, y \\in S; z define\n Op == 1\n End(a) == /\\ a\n           /\\ a end define; \
         procedure P(a, b = 2) variable c = 3; d begin p:+ call P(1, 2); return end procedure; \
         fair process Q \\in 1..2 variables w begin q:- call P(0, 0) end process \
         fair+ process R = 3 begin r: skip end process; end algorithm",
    )
    .unwrap();
    assert!(algorithm.fair && algorithm.keeps_pc && algorithm.has_default_value && !algorithm.has_goto);
    let names = |all: &[Variable]| all.iter().map(|one| one.name.clone()).collect::<Vec<_>>().join(" ");
    assert_eq!(names(&algorithm.variables), "x y z");
    assert_eq!(algorithm.variables[1].binding, Binding::In);
    assert_eq!(text(algorithm.define.as_ref().unwrap()), "Op == 1|End(a) == /\\ a|          /\\ a");
    let procedure = &algorithm.procedures[0];
    assert_eq!((names(&procedure.parameters), names(&procedure.variables)), ("a b".into(), "c d".into()));
    assert_eq!(
        (procedure.plus_labels.as_slice(), procedure.calls.as_slice()),
        (["p".to_owned()].as_slice(), ["P".to_owned()].as_slice())
    );
    assert_eq!(steps(&procedure.body), "p(callreturn P(1,2))");
    let Body::Processes(processes) = &algorithm.body else { panic!("it has processes") };
    assert_eq!(processes.iter().map(|one| one.fairness).collect::<Vec<_>>(), [Fairness::Weak, Fairness::Strong]);
    assert_eq!((text(&processes[0].id), names(&processes[0].variables)), ("1..2".into(), "w".into()));
    assert_eq!((processes[0].minus_labels.len(), processes[0].calls.len(), processes[1].calls.len()), (1, 1, 0));
}

#[test]
fn errors_have_the_same_position_as_in_the_reference() {
    for (text, wanted) in [
        ("begin ¶x := 1; a: x := 2; end algorithm", "the first statement"),
        ("begin a: x := 1; ¶x := 2; end algorithm", "`x` is assigned to twice in one step"),
        ("begin a: goto a; ¶x := 2; end algorithm", "it follows a `goto`"),
        ("begin a: call P(); ¶x := 2; end algorithm", "it follows a `call`"),
        ("begin a: if x then goto a; end if; ¶x := 2; end algorithm", "the `if` before it"),
        ("begin a: either b: skip; or skip; end either; ¶x := 2; end algorithm", "the `either` before it"),
        ("begin a: skip; ¶while x do skip; end while; end algorithm", "a `while` starts a step"),
        ("begin a: with i = 1 do b: ¶skip; end with; end algorithm", "a label is not allowed in a `with`"),
        ("begin a: with i = 1 do x := 1; ¶x := 2; end with; end algorithm", "inside a `with`"),
        ("begin a: with i = 1 do goto a; ¶x := 2; end with; end algorithm", "no statement may follow"),
        ("begin a: with i = 1 do ¶while x do skip; end while; end with; end algorithm", "a `while` is not allowed in"),
        ("begin a: ¶return; end algorithm", "is not inside a procedure"),
        ("begin a: x := 1 ¶skip; end algorithm", "expected `;` before `skip`"),
        ("begin a: x := 1 b ¶:= 2; end algorithm", "expected `;` but found `:=`"),
        ("begin a: x = 1¶; end algorithm", "expected `:=` but found `;`"),
        ("begin a: x := ¶; end algorithm", "expected the right-hand side"),
        ("begin a: x := (1¶; end algorithm", "is not closed"),
        ("begin a: x := 1¶]; end algorithm", "closes nothing"),
        ("begin a: x := \\A i \\in S¶; end algorithm", "expected `:` after `\\A`"),
        ("begin a: x := ¶\"q; end algorithm", "the string is not closed"),
        ("begin a: x := ¶\\foo; end algorithm", "`\\foo` is not an operator"),
        ("begin a: x := 1 ¶---- 2; end algorithm", "is not allowed in an expression"),
        ("begin ¶Done: skip; end algorithm", "may not be used as a label"),
        ("begin a: b: ¶skip; end algorithm", "expected `:=` but found `skip`"),
        ("begin a: ¶while x do end while; end algorithm", "the `while` has no body"),
        ("begin a: ¶with i = 1 do end with; end algorithm", "the `with` has no body"),
        ("begin a: ¶if x then end if; end algorithm", "neither a statement"),
        ("begin a: ¶either skip; end either; end algorithm", "has no `or`"),
        ("begin a: ¶either skip; or end either; end algorithm", "an empty clause"),
        ("begin a: ¶M(1); end algorithm", "there is no macro `M`"),
        ("begin a: call P(¶,); end algorithm", "expected an argument"),
        ("begin a: with i ¶do skip; end with; end algorithm", "expected `=` or `\\in`"),
        ("begin a: if x ¶skip; end if; end algorithm", "expected `then` but found `skip`"),
        ("begin a: skip; end ¶if; end algorithm", "expected `algorithm` but found `if`"),
        ("begin a: skip; end\n\n¶", "expected `algorithm` but found `*`"),
        ("{ { a: skip } ¶{ } }", "expected `}` but found `{`"),
        ("{ { ¶} }", "expected a statement"),
        ("{ { a: if (x) { skip } ¶y := 1 } }", "expected `;` but found `y`"),
        ("{ { a: { b: ¶skip } } }", "a label of its own"),
        ("{ { a: skip }\n\n¶", "expected `}` but found `*`"),
        ("variables x ¶: 1; begin skip; end algorithm", "expected `;` but found `:`"),
        ("variables x = ¶; begin skip; end algorithm", "expected the value"),
        ("macro M(a) begin ¶l: skip; end macro; begin skip; end algorithm", "is not allowed in a macro"),
        ("macro M(a) begin ¶a := 1; end macro; begin M(2); end algorithm", "`2` replaces"),
        ("macro M(a) begin skip; end macro; begin ¶M(); end algorithm", "takes 1 arguments and not 0"),
        ("macro M() begin ¶M(); end macro; begin M(); end algorithm", "there is no macro `M`"),
        ("macro M() begin end macro ¶macro M() begin end macro begin skip; end algorithm", "is defined twice"),
        ("macro M(a, a) begin x := ¶a end macro begin M(1, 2) end algorithm", "two parameters `a`"),
        ("macro M(long) begin x :=\n¶long = /\\ 1\n       /\\ 2 end macro begin M(1) end algorithm", "to the left"),
        ("process P ¶begin a: skip; end process end algorithm", "expected `=` or `\\in`"),
        ("process P = 1 begin ¶skip; end process end algorithm", "the first statement"),
        (
            "procedure P() begin p: skip end procedure; process Q = 1 begin a: ¶return end process end algorithm",
            "is not inside a procedure",
        ),
        ("¶fair begin skip; end algorithm", "expected `begin` but found `fair`"),
    ] {
        let update_marker = module(&format!("--algorithm A {text}"));
        let position = update_marker.find('¶').expect("the case is marked");
        let line = update_marker[..position].matches('\n').count() + 1;
        let column = update_marker[..position].chars().rev().take_while(|character| *character != '\n').count() + 1;
        let problems =
            parse(&update_marker.replace("\n\n¶\n", "\n\n").replace('¶', ""), &Options::default()).unwrap_err();
        assert!(problems[0].message.contains(wanted), "{text}: {}", problems[0].message);
        assert_eq!((problems[0].line, problems[0].column), (line, column), "{text}: {}", problems[0].message);
    }
}

#[test]
fn a_missing_algorithm_keyword_and_an_early_end_are_reported() {
    let told = |text: &str| parse(text, &Options::default()).unwrap_err().remove(0).message;
    assert!(told("(* --fair A begin skip; end algorithm *)").contains("expected `algorithm` after `--fair`"));
    assert!(
        told("(* *) --algorithm A begin a: skip; \\* BEGIN TRANSLATION\n\\* END TRANSLATION")
            .contains("the module ends")
    );
}

#[test]
fn unicode_symbols_are_accepted_today_but_not_in_2020() {
    let text = module("--algorithm A begin a: x := ∀ i ∈ ℕ : i ≥ 0 ∧ TRUE end algorithm");
    assert!(parse(&text, &Options::default()).is_ok());
    let problem = parse(&text, &Options { compat: Compat::Y2020, ..Options::default() }).unwrap_err().remove(0);
    assert_eq!((problem.line, problem.column), (2, 32));
}

#[test]
fn nesting_and_macro_expansion_are_limited() {
    let nested =
        |depth: usize| format!("--algorithm A {{ {{ {}skip{} }} }}", "while (x) {".repeat(depth), "}".repeat(depth));
    assert!(read(&nested(100)).is_ok());
    assert!(read(&nested(20_000)).unwrap_err()[0].2.contains("nested more than"));
    let elsif = |count: usize| {
        format!("--algorithm A begin a: if x then skip {} end if end algorithm", "elsif y then skip ".repeat(count))
    };
    assert!(read(&elsif(200)).is_ok());
    assert!(read(&elsif(20_000)).unwrap_err()[0].2.contains("nested more than"));
    let with =
        |count: usize| format!("--algorithm A begin a: with {} do skip end with end algorithm", "i = 1,".repeat(count));
    assert!(read(&with(200)).is_ok());
    assert!(read(&with(20_000)).unwrap_err()[0].2.contains("nested more than"));
    let macros = |first: &str, one: fn(usize) -> String| first.to_owned() + &(1..300).map(one).collect::<String>();
    let doubling = macros("--algorithm A macro M0(a) begin x := a + a end macro ", |number| {
        format!("macro M{number}(a) begin M{0}(a + a); M{0}(a) end macro ", number - 1)
    });
    let nesting = macros("--algorithm A macro M0() begin if x then skip end if end macro ", |number| {
        format!("macro M{number}() begin if x then M{}() end if end macro ", number - 1)
    });
    assert!(read(&format!("{doubling} begin M299(1) end algorithm")).unwrap_err()[0].2.contains("expand to more than"));
    assert!(read(&format!("{nesting} begin M299() end algorithm")).unwrap_err()[0].2.contains("nested more than"));
    assert!(
        read(&format!("--algorithm A begin a: x := {}1{} end algorithm", "(".repeat(100_000), ")".repeat(100_000)))
            .is_ok()
    );
}
