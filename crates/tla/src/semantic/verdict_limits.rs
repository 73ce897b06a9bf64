//! What a verdict on a configuration does not cover: parts of properties that are checked only in initial states, and
//! what the specification assumes. It works on the resolved modules.

use crate::Cfg;

use super::graph::{ACTION, CONSTANT, STATE};
use super::model::{Connective, Expansion, Model};
use super::subaction::NextState;
use super::total::total_step;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerdictLimits {
    /// Listed as PROPERTY without a temporal operator: checked only in the initial states.
    pub initial_only: Vec<String>,
    /// Properties that have a part outside every temporal operator, and the text of that part, which is checked only in
    /// the initial states.
    pub initial_parts: Vec<(String, String)>,
    /// Conjuncts of the specification other than the initial predicate, `[][Next]_vars` and fairness of disjuncts of
    /// Next. Behaviours that violate them are not checked.
    pub assumptions: Vec<String>,
    /// Those assumptions that are neither fairness nor about a subscript: a path may break them.
    pub restrictions: Vec<String>,
    /// A disjunct of the next-state relation that every state enables: no state can be a deadlock.
    pub total_step: Option<String>,
}

/// Finds the limits of a verdict on this configuration of the module `name`.
///
/// # Errors
/// Why the modules could not be resolved.
pub fn find_verdict_limits(
    name: &str,
    text: &str,
    local_modules: &[(String, String)],
    cfg: &Cfg,
) -> Result<VerdictLimits, String> {
    let model = Model::new(name, text, local_modules, cfg)?;
    let mut limits = VerdictLimits::default();
    let mut next = cfg.next.as_ref().map(|next| model.definition(next)).transpose()?;
    if let Some(specification) = &cfg.specification {
        let assumed = Assumed::of(&model, &model.definition(specification)?)?;
        next = assumed.next;
        (limits.assumptions, limits.restrictions) = (assumed.assumptions, assumed.restrictions);
    }
    if let Some(next) = next {
        limits.total_step = total_step(&model, cfg, &next)?;
    }
    for property in &cfg.properties {
        let formula = model.definition(property)?;
        if (CONSTANT + 1..=ACTION).contains(&model.level(&formula)?) {
            limits.initial_only.push(property.clone());
            continue;
        }
        let mut parts = Vec::new();
        collect_initial_parts(&model, &formula, &mut parts)?;
        limits.initial_parts.extend(parts.into_iter().map(|part| (property.clone(), part)));
    }
    Ok(limits)
}

/// Whether each property of a configuration is shown to be a conjunction of `[][A]_v` and of predicates on the initial state.
pub fn has_only_start_and_step_properties(
    name: &str,
    text: &str,
    local_modules: &[(String, String)],
    cfg: &Cfg,
) -> bool {
    let all_are = || {
        let model = Model::new(name, text, local_modules, cfg)?;
        for property in &cfg.properties {
            let mut conjuncts = Vec::new();
            collect_conjuncts(&model, &model.definition(property)?, &mut conjuncts)?;
            for conjunct in conjuncts {
                match model.parts(&conjunct) {
                    Some((Connective::Always, operands)) if box_action_parts(&model, &operands)?.is_some() => {}
                    _ if model.level(&conjunct)? < ACTION => {}
                    _ => return Ok(false),
                }
            }
        }
        Ok::<bool, String>(true)
    };
    cfg.properties.is_empty() || all_are().unwrap_or(false)
}

/// What a specification assumes.
#[derive(Default)]
struct Assumed {
    /// The next-state relation.
    next: Option<Expansion>,
    /// See [`VerdictLimits::assumptions`].
    assumptions: Vec<String>,
    /// See [`VerdictLimits::restrictions`].
    restrictions: Vec<String>,
}

impl Assumed {
    fn of(model: &Model, specification: &Expansion) -> Result<Self, String> {
        let mut conjuncts = Vec::new();
        collect_conjuncts(model, specification, &mut conjuncts)?;
        let Self { mut next, mut assumptions, mut restrictions } = Self::default();
        let mut open = Vec::new();
        for conjunct in conjuncts {
            // A part of the initial predicate.
            if model.level(&conjunct)? <= STATE {
                continue;
            }
            match model.parts(&conjunct) {
                // The first `[][A]_v` is the next-state relation; a second one is an assumption.
                Some((Connective::Always, operands)) if next.is_none() => match box_action_parts(model, &operands)? {
                    Some((action, subscript)) => {
                        next = Some(action);
                        assumptions.extend(missing_subscript_variables(model, &subscript)?);
                    }
                    None => open.push(conjunct),
                },
                _ => open.push(conjunct),
            }
        }
        for conjunct in open {
            let fair = match &next {
                Some(next) => NextState { model, next: next.clone() }.is_fairness(&conjunct)?,
                None => false,
            };
            if fair {
                continue;
            }
            let text = model.text(conjunct.node);
            if !restrictions.contains(&text) && !is_any_fairness(model, &conjunct)? {
                restrictions.push(text.clone());
            }
            if !assumptions.contains(&text) {
                assumptions.push(text);
            }
        }
        Ok(Self { next, assumptions, restrictions })
    }
}

/// Whether a formula is a conjunction of fairness conditions, be it of actions that are no part of the next-state relation.
fn is_any_fairness(model: &Model, formula: &Expansion) -> Result<bool, String> {
    let formula = model.unfold(formula)?;
    match model.parts(&formula) {
        Some((Connective::Fairness, _)) => Ok(true),
        Some((Connective::And | Connective::All, operands)) => {
            for operand in &operands {
                if !is_any_fairness(model, operand)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        _ => Ok(false),
    }
}

/// Action and subscript of `[A]_v`, the operand of `[]`.
fn box_action_parts(model: &Model, operands: &[Expansion]) -> Result<Option<(Expansion, Expansion)>, String> {
    let Some(operand) = operands.first() else { return Ok(None) };
    Ok(match model.parts(&model.unfold(operand)?) {
        Some((Connective::Square, parts)) => {
            let mut parts = parts.into_iter();
            parts.next().zip(parts.next())
        }
        _ => None,
    })
}

/// What is assumed if a subscript does not contain every variable: both checkers treat `[][A]_v` as if it did.
fn missing_subscript_variables(model: &Model, subscript: &Expansion) -> Result<Option<String>, String> {
    let mut held = Vec::new();
    let is_tuple = model.variables_of(subscript, &mut held, 0)?;
    let all = model.variables();
    let missing: Vec<&str> =
        all.iter().filter(|(_, id)| !is_tuple || !held.contains(id)).map(|(name, _)| *name).collect();
    Ok(match missing.as_slice() {
        [] => None,
        _ if !is_tuple => {
            let text = model.text(subscript.node);
            Some(format!("that every variable is in the subscript {text}, which is not a tuple of variables"))
        }
        [only] => Some(format!("that {only} changes only in steps of Next, which [][Next]_v does not say")),
        more => Some(format!("that {} change only in steps of Next, which [][Next]_v does not say", more.join(", "))),
    })
}

fn collect_conjuncts(model: &Model, formula: &Expansion, conjuncts: &mut Vec<Expansion>) -> Result<(), String> {
    let formula = model.unfold(formula)?;
    match model.parts(&formula) {
        Some((Connective::And, operands)) => {
            operands.iter().try_for_each(|operand| collect_conjuncts(model, operand, conjuncts))
        }
        _ => {
            conjuncts.push(formula);
            Ok(())
        }
    }
}

/// The parts of a temporal formula that are about a state or a step and are outside every temporal operator.
fn collect_initial_parts(model: &Model, formula: &Expansion, parts: &mut Vec<String>) -> Result<(), String> {
    match model.level(formula)? {
        CONSTANT => return Ok(()),
        level if level <= ACTION => {
            let text = model.text(formula.node);
            if !parts.contains(&text) {
                parts.push(text);
            }
            return Ok(());
        }
        _ => {}
    }
    let formula = model.unfold(formula)?;
    let Some((connective, operands)) = model.parts(&formula) else { return Ok(()) };
    match connective {
        Connective::And | Connective::Or | Connective::All | Connective::Some | Connective::Other => {
            let all = operands.into_iter().chain(model.ranges(&formula));
            all.into_iter().try_for_each(|part| collect_initial_parts(model, &part, parts))
        }
        Connective::Always | Connective::Square | Connective::Fairness => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str, cfg: &str) -> VerdictLimits {
        let text = format!(
            "---- MODULE M ----\nEXTENDS Naturals, Sequences\nCONSTANT P\nVARIABLES x, pc\nvars == <<x, pc>>\nProcSet == P \\cup {{0}}\n\
             Init == x = 0 /\\ pc = [p \\in ProcSet |-> 0]\na(self) == x' = self /\\ pc' = pc\nb(self) == x' = 0 /\\ pc' = pc\n\
             p(self) == a(self) \\/ b(self)\nq == x' = 3 /\\ pc' = pc\nIdle == UNCHANGED vars\n\
             Next == q \\/ Idle \\/ (\\E self \\in ProcSet : b(self)) \\/ (\\E self \\in P : p(self))\n\
             Plain == Init /\\ [][Next]_vars\n{body}\n===="
        );
        find_verdict_limits("M", &text, &[], &Cfg::parse(cfg).expect("a configuration")).expect("a module")
    }

    #[test]
    fn fairness_of_disjuncts_of_next_is_no_assumption() {
        for fair in [
            "WF_vars(Next)",
            "WF_vars(q) /\\ SF_vars(Next)",
            "\\A self \\in P : WF_vars(p(self))",
            "\\A i \\in P : /\\ WF_vars(pc[i] # 1 /\\ p(i))\n             /\\ SF_vars(a(i))",
            "\\A self \\in P : WF_vars(b(self)) /\\ WF_vars(p(self))",
            "WF_vars(b(0))",
            "WF_vars(\\E self \\in P : a(self) \\/ b(self))",
            "LET Fair(n) == SF_vars(p(n)) IN \\A self \\in P : Fair(self)",
            "TRUE",
        ] {
            let found = read(&format!("Spec == /\\ Plain\n        /\\ {fair}"), "SPECIFICATION Spec");
            assert_eq!(found.assumptions, [""; 0], "{fair}");
        }
    }

    #[test]
    fn the_work_grows_with_the_number_of_conjuncts() {
        crate::step_counter::assert_linear(200, |size| {
            let fair: String = (0..size).map(|_| "  /\\ WF_vars(q)\n").collect();
            assert_eq!(read(&format!("Spec == Plain\n{fair}"), "SPECIFICATION Spec").assumptions, [""; 0]);
            let other: Vec<String> = (0..size).map(|at| format!("  /\\ WF_vars(x' = 9 + {at})\n")).collect();
            let found = read(&format!("Spec ==\n  /\\ Plain\n{}", other.concat()), "SPECIFICATION Spec");
            assert_eq!(found.assumptions.len(), size);
            let chain: Vec<String> = (0..size).map(|at| format!("x # {at}")).collect();
            read(&format!("Chain == {}", chain.join(" /\\ ")), "SPECIFICATION Plain");
        });
    }

    #[test]
    fn a_subscript_without_every_variable_is_an_assumption() {
        for (subscript, expected) in [
            ("x", "that pc changes only in steps of Next"),
            ("<<pc>>", "that x changes only in steps of Next"),
            ("Some", "that pc changes only in steps of Next"),
            ("<<>>", "that pc, x change only in steps of Next"),
            ("<<x + pc>>", "that every variable is in the subscript"),
        ] {
            let found = read(&format!("Some == <<x>>\nSpec == Init /\\ [][Next]_{subscript}"), "SPECIFICATION Spec");
            assert!(
                found.assumptions.len() == 1 && found.assumptions[0].starts_with(expected),
                "{:?}",
                found.assumptions
            );
        }
        for subscript in ["vars", "<<x, pc>>", "<<pc, <<x>>>>", "Joined"] {
            let spec = format!("Joined == <<x>> \\o <<pc>>\nSpec == Init /\\ [][Next]_{subscript}");
            assert_eq!(read(&spec, "SPECIFICATION Spec").assumptions, [""; 0], "{subscript}");
        }
    }

    #[test]
    fn everything_else_is_an_assumption() {
        for (conjunct, expected) in [
            ("[]<>(x = 0)", "[] <> ( x = 0 )"),
            ("[](x < 3)", "[] ( x < 3 )"),
            ("(x = 0 ~> x = 1)", "x = 0 ~> x = 1"),
            ("WF_vars(x' = 9)", "WF_vars ( x ' = 9 )"),
            ("WF_vars(a(7))", "WF_vars ( a ( 7 ) )"),
            ("WF_vars(q \\/ x' = 9)", "WF_vars ( q \\/ x ' = 9 )"),
            ("\\A self \\in ProcSet : WF_vars(a(self))", "\\A self \\in ProcSet : WF_vars ( a ( self ) )"),
            ("\\A y \\in P : []<>(x = y)", "\\A y \\in P : [] <> ( x = y )"),
            ("(WF_vars(q) \\/ <>(x = 0))", "WF_vars ( q ) \\/ <> ( x = 0 )"),
            ("[][x' > x]_vars", "[] [ x ' > x ] _vars"),
        ] {
            let found = read(&format!("More == {conjunct}\nSpec == Plain /\\ More"), "SPECIFICATION Spec");
            assert_eq!(found.assumptions.len(), 1, "{conjunct}");
            assert_eq!(found.assumptions[0].replace(' ', ""), expected.replace(' ', ""));
        }
    }

    #[test]
    fn a_variable_that_is_bound_twice_makes_no_disjunct() {
        let next = "Pair(c, d) == x' = 2 * c + d /\\ pc' = pc\nEx(F(_), S) == \\E k \\in S : F(k)\n\
                    N == Ex(LAMBDA c : Ex(LAMBDA d : Pair(c, d), {0, 2}), {0})\n";
        let found = read(&format!("{next}Spec == Init /\\ [][N]_vars /\\ WF_vars(Pair(2, 2))"), "SPECIFICATION Spec");
        assert_eq!(found.assumptions.len(), 1);
    }

    #[test]
    fn sets_and_lists_with_one_part_are_compared_unfolded() {
        let next = "N == /\\ \\E self \\in (P) : p(self)\n";
        let fair = "\\A self \\in P : WF_vars(p(self))";
        let found = read(&format!("{next}Spec == Init /\\ [][N]_vars /\\ {fair}"), "SPECIFICATION Spec");
        assert_eq!(found.assumptions, [""; 0]);
    }

    #[test]
    fn fairness_over_a_subset_of_the_set_of_next_is_no_assumption() {
        let sets = "CONSTANT N\nProcs == 1..N\nWorkers == Procs\nFew == {1, 2}\n";
        let listed = |next: &str, fair: &str| {
            let spec = format!("{sets}M == {next}\nSpec == Init /\\ [][M]_vars /\\ {fair}");
            read(&spec, "SPECIFICATION Spec CONSTANT N = 3").assumptions
        };
        for (next, fair) in [
            ("\\E i \\in Procs : a(i)", "\\A i \\in 1..N : WF_vars(a(i))"),
            ("\\E i \\in 1..N : a(i)", "\\A i \\in Procs : WF_vars(a(i))"),
            ("\\E i \\in (1..N) : a(i)", "\\A i \\in Workers : WF_vars(a(i))"),
            ("\\E i \\in Workers : a(i)", "\\A i \\in Procs : SF_vars(a(i) /\\ x > i)"),
            ("\\E i \\in Workers : a(i)", "WF_vars(\\E i \\in 1..N : x = 0 /\\ a(i))"),
            ("\\E i \\in Workers : a(i)", "\\A i \\in Procs \\ {2} : WF_vars(a(i))"),
            ("\\E i \\in Workers : a(i)", "\\A i \\in {k \\in 1..N : k > 1} : WF_vars(a(i))"),
            ("\\E i \\in Workers : a(i)", "\\A i \\in Few \\cap Procs : WF_vars(a(i))"),
            ("\\E i \\in {2, 1} : a(i)", "\\A i \\in Few : WF_vars(a(i))"),
            ("\\E i \\in 1..2 : a(i)", "WF_vars(a(1)) /\\ WF_vars(a(2))"),
            ("\\E i \\in Procs : a(i)", "\\A i \\in {} : WF_vars(a(i))"),
            ("(\\E i \\in 1..N : a(i) \\/ b(i)) \\/ q", "WF_vars(q /\\ x # 3) /\\ \\A i \\in Procs : WF_vars(b(i))"),
        ] {
            assert_eq!(listed(next, fair), [""; 0], "{next} {fair}");
        }
        for (next, fair) in [
            ("\\E i \\in Procs : a(i)", "\\A i \\in 0..N : WF_vars(a(i))"),
            ("\\E i \\in Procs \\ {2} : a(i)", "\\A i \\in Procs : WF_vars(a(i))"),
            ("\\E i \\in {k \\in Procs : k > 1} : a(i)", "\\A i \\in Procs : WF_vars(a(i))"),
            ("\\E i \\in Procs \\cap Few : a(i)", "\\A i \\in Procs : WF_vars(a(i))"),
            ("\\E i \\in Few : a(i)", "\\A i \\in 1..3 : WF_vars(a(i))"),
            ("\\E i \\in 1..2 : a(i)", "WF_vars(a(3))"),
            // Our texts of the standard modules have only levels, so these sets cannot be compared.
            ("\\E i \\in {1, 5} : a(i)", "\\A i \\in 1..5 : WF_vars(a(i))"),
            ("\\E i \\in {} : a(i)", "\\A i \\in Nat : WF_vars(a(i))"),
            ("\\E i \\in 1..2 : a(i)", "\\A i \\in {1, 3} : WF_vars(a(i))"),
            ("\\E i \\in Procs : a(i) /\\ x > 0", "\\A i \\in Procs : WF_vars(a(i))"),
        ] {
            assert_eq!(listed(next, fair).len(), 1, "{next} {fair}");
        }
    }

    #[test]
    fn parts_outside_temporal_operators_are_checked_only_initially() {
        let cfg = "SPECIFICATION Plain PROPERTY Prop";
        for state in ["x = 0", "~(x = 1)", "\\A y \\in P : x # y", "x = 0 /\\ pc = pc", "x' = x", "ENABLED q"] {
            assert_eq!(read(&format!("Inner == {state}\nProp == LET Q == Inner IN Q"), cfg).initial_only, ["Prop"]);
        }
        for temporal in
            ["[](x = 0)", "x = 0 ~> x = 1", "[][q]_vars", "\\A y \\in P : <>(x = y)", "WF_vars(q)", "Plain => TRUE"]
        {
            let found = read(&format!("Prop == {temporal}"), cfg);
            assert_eq!(found.initial_only, [""; 0], "{temporal}");
        }
        for (mixed, part) in [
            ("x = 0 /\\ []<>(x = 1)", "x = 0"),
            ("[]<>(x = 1) \\/ ~(x = 0)", "~ ( x = 0 )"),
            ("x = 0 => <>(x = 1)", "x = 0"),
        ] {
            let found = read(&format!("Prop == {mixed}"), cfg);
            assert_eq!(found.initial_parts, [("Prop".to_owned(), part.to_owned())], "{mixed}");
        }
    }

    #[test]
    fn a_step_that_no_state_disables_is_found() {
        let total =
            |next: &str, cfg: &str| read(&format!("N == {next}"), &format!("INIT Init NEXT N {cfg}")).total_step;
        for (next, step) in [
            ("(p(1) /\\ x = 0) \\/ Idle", "Idle"),
            ("q", "q"),
            ("[q]_x", "[q]_x"),
            ("x' = x + 1 /\\ pc' \\in {pc}", "x'=x+1/\\pc'\\in{pc}"),
            ("pc' = pc /\\ IF x = 0 THEN x' = 1 ELSE UNCHANGED x", "pc'=pc/\\IF x=0 THEN x'=1 ELSE UNCHANGED x"),
            ("[q]_vars", "[q]_vars"),
            ("(x = 1 /\\ q) \\/ UNCHANGED <<pc, x>>", "UNCHANGED <<pc,x>>"),
            ("(x = 1 /\\ q) \\/ (TRUE /\\ pc' = pc /\\ x' = x)", "TRUE/\\pc'=pc/\\x'=x"),
            ("\\E i \\in {1} : (x = 1 /\\ q) \\/ vars' = vars", "vars'=vars"),
            ("\\E i \\in 0..1 : UNCHANGED vars", "UNCHANGED vars"),
            ("\\E i \\in P : LET same == UNCHANGED vars IN same", "LET same==UNCHANGED vars IN same"),
        ] {
            let found = total(next, "CONSTANT P = {p}").unwrap_or_default();
            assert_eq!(found.replace(' ', ""), step.replace(' ', ""), "{next}");
        }
        for next in [
            "x = 1 /\\ q",
            "x' = x /\\ IF x = 0 THEN pc' = 1 ELSE x = 2",
            "x' = 1 /\\ pc' = x' /\\ pc' = 2",
            "x' \\in P /\\ pc' = pc",
            "x = 0 /\\ UNCHANGED vars",
            "\\E i \\in P : UNCHANGED vars",
            "\\E i \\in {} : UNCHANGED vars",
            "\\E i \\in 1..0 : UNCHANGED vars",
            "\\E i \\in 1..x : UNCHANGED vars",
            "q /\\ Idle",
            "<<x, pc>>' = <<pc, x>>",
            "x' = x /\\ UNCHANGED pc[1]",
        ] {
            assert_eq!(total(next, "CONSTANT P = {}"), None, "{next}");
        }
    }

    #[test]
    fn the_configuration_can_substitute_a_property() {
        let cfg = "SPECIFICATION Plain PROPERTY Prop CONSTANT Prop <- Start";
        assert_eq!(read("Prop == [](x = 0)\nStart == x = 0", cfg).initial_only, ["Prop"]);
    }
}
