//! Automata of formulas over finite traces against a naive reading, and their shape: minimal, complete, canonical.

use fastrand::Rng;
use tlaforge_temporal::{
    Atom, AtomId, AutomatonError, Binary, Conjunction, Dfa, Formula, Formulas, Guard, Limits, Node, Unary,
};

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// What the value at a position is, by the definition of each operator.
fn evaluate_naively(formulas: &Formulas, formula: Formula, trace: &[u8], at: usize) -> bool {
    let end = trace.len();
    let value = |part: Formula, at: usize| evaluate_naively(formulas, part, trace, at);
    match formulas.node(formula) {
        Node::True => true,
        Node::False => false,
        Node::Atom(atom) => at < end && trace[at] >> atom.index() & 1 == 1,
        Node::Not(a) => !value(*a, at),
        Node::And(all) => all.iter().all(|a| value(*a, at)),
        Node::Or(all) => all.iter().any(|a| value(*a, at)),
        Node::Unary(Unary::Next, a) => at + 1 < end && value(*a, at + 1),
        Node::Unary(Unary::WeakNext, a) => at + 1 >= end || value(*a, at + 1),
        Node::Unary(Unary::Globally, a) => (at..end).all(|then| value(*a, then)),
        Node::Unary(Unary::Finally, a) => (at..end).any(|then| value(*a, then)),
        Node::Binary(Binary::Implies, [a, b]) => !value(*a, at) || value(*b, at),
        Node::Binary(Binary::Iff, [a, b]) => value(*a, at) == value(*b, at),
        Node::Binary(Binary::Until, [a, b]) => {
            (at..end).any(|then| value(*b, then) && (at..then).all(|between| value(*a, between)))
        }
        Node::Binary(Binary::WeakUntil, [a, b]) => {
            (at..end).all(|then| value(*a, then))
                || (at..end).any(|then| value(*b, then) && (at..then).all(|between| value(*a, between)))
        }
        Node::Binary(Binary::Release, [a, b]) => {
            (at..end).all(|then| value(*b, then))
                || (at..end).any(|then| value(*a, then) && (at..=then).all(|between| value(*b, between)))
        }
        Node::Binary(Binary::StrongRelease, [a, b]) => {
            (at..end).any(|then| value(*a, then) && (at..=then).all(|between| value(*b, between)))
        }
        other => panic!("no future formula: {other:?}"),
    }
}

fn random_formula(formulas: &mut Formulas, rng: &mut Rng, size: u32) -> Formula {
    if size <= 1 {
        return match rng.u8(..12) {
            0 => formulas.truth(),
            1 => formulas.falsity(),
            _ => formulas.name(NAMES[rng.usize(..NAMES.len())]),
        };
    }
    let left = rng.u32(1..size);
    let right = (size - left).max(1);
    match rng.u8(..17) {
        0 | 1 => {
            let a = random_formula(formulas, rng, size - 1);
            formulas.not(a)
        }
        k @ 2..=8 => {
            let a = random_formula(formulas, rng, size - 1);
            let operator = [
                Unary::Next,
                Unary::WeakNext,
                Unary::Globally,
                Unary::Finally,
                Unary::Globally,
                Unary::Finally,
                Unary::Next,
            ][usize::from(k - 2)];
            formulas.unary(operator, a)
        }
        k => {
            let a = random_formula(formulas, rng, left);
            let b = random_formula(formulas, rng, right);
            match k {
                9 => formulas.and([a, b]),
                10 => formulas.or([a, b]),
                11 => formulas.implies(a, b),
                12 => formulas.binary(Binary::Iff, a, b),
                13 => formulas.binary(Binary::Until, a, b),
                14 => formulas.binary(Binary::WeakUntil, a, b),
                15 => formulas.binary(Binary::Release, a, b),
                _ => formulas.binary(Binary::StrongRelease, a, b),
            }
        }
    }
}

fn parse(text: &str) -> (Formulas, Formula) {
    let mut formulas = Formulas::new();
    let formula = formulas.parse(text).unwrap();
    (formulas, formula)
}

fn build(text: &str) -> (Formulas, Dfa) {
    let (formulas, formula) = parse(text);
    let dfa = Dfa::build(&formulas, formula, Limits::default()).unwrap();
    (formulas, dfa)
}

fn letter_from_bits(letter: u8) -> impl Fn(AtomId) -> bool + Copy {
    move |atom| letter >> atom.index() & 1 == 1
}

fn run(dfa: &Dfa, trace: &[u8]) -> usize {
    trace.iter().fold(Dfa::INITIAL, |state, letter| dfa.next(state, letter_from_bits(*letter)))
}

/// Explicit tables, so that minimality does not rest on the diagrams that it judges.
fn assert_minimal_and_complete(dfa: &Dfa, letters: u8) {
    let n = dfa.states();
    let table: Vec<Vec<usize>> =
        (0..n).map(|s| (0..letters).map(|letter| dfa.next(s, letter_from_bits(letter))).collect()).collect();
    let mut order = vec![Dfa::INITIAL];
    for at in 0..n {
        assert!(at < order.len(), "state not reachable");
        for next in &table[order[at]] {
            assert!(*next < n, "an edge to no state");
            if !order.contains(next) {
                order.push(*next);
            }
        }
    }
    assert!(order.len() == n);
    let mut class: Vec<usize> = (0..n).map(|s| usize::from(dfa.accepts(s))).collect();
    loop {
        let mut seen: Vec<(usize, Vec<usize>)> = Vec::new();
        let next: Vec<usize> = (0..n)
            .map(|s| {
                let key = (class[s], table[s].iter().map(|t| class[*t]).collect());
                seen.iter().position(|k| *k == key).unwrap_or_else(|| {
                    seen.push(key);
                    seen.len() - 1
                })
            })
            .collect();
        let same = next == class;
        class = next;
        if same {
            break;
        }
    }
    class.sort_unstable();
    class.dedup();
    assert_eq!(class.len(), n, "two states are equivalent");
    // Distances, goals and traps by their definitions.
    let steps_to = |wanted: &dyn Fn(usize) -> bool| {
        let mut distance: Vec<Option<u32>> = (0..n).map(|s| wanted(s).then_some(0)).collect();
        for _ in 0..n {
            for s in 0..n {
                let via = table[s].iter().filter_map(|t| distance[*t]).min().map(|d| d + 1);
                distance[s] = [distance[s], via].into_iter().flatten().min();
            }
        }
        distance
    };
    let to_accepting = steps_to(&|s| dfa.accepts(s));
    let goal: Vec<bool> =
        (0..n).map(|s| dfa.accepts(s) && table[s].iter().all(|t| *t == s || to_accepting[*t].is_none())).collect();
    let to_goal = steps_to(&|s| goal[s]);
    for s in 0..n {
        assert_eq!(dfa.is_trap(s), to_accepting[s].is_none());
        assert_eq!(dfa.is_goal(s), goal[s]);
        assert_eq!(dfa.distance(s), to_goal[s]);
        assert_eq!(dfa.distance_to_accepting(s), to_accepting[s]);
        let mut successors = table[s].clone();
        successors.sort_unstable();
        successors.dedup();
        assert_eq!(dfa.successors(s), successors);
    }
}

fn campaign() -> usize {
    if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { 100_000 } else { 10_000 }
}

#[test]
fn automata_of_random_formulas_agree_with_naive_evaluation_and_are_minimal() {
    let mut rng = Rng::with_seed(6);
    let (mut most, mut total) = (0, 0);
    for round in 0..campaign() {
        let mut formulas = Formulas::new();
        for name in NAMES {
            formulas.name(name);
        }
        let size = rng.u32(1..14);
        let f = random_formula(&mut formulas, &mut rng, size);
        let dfa = Dfa::build(&formulas, f, Limits::default()).unwrap();
        let text = formulas.text(f);
        for length in [0, 1, 1, 2, 2, 3, 4, 6, 9] {
            let trace: Vec<u8> = (0..length).map(|_| rng.u8(..16)).collect();
            let accepted = dfa.accepts(run(&dfa, &trace));
            assert_eq!(accepted, evaluate_naively(&formulas, f, &trace, 0), "round {round}: {text} on {trace:?}");
        }
        if dfa.states() < 60 {
            assert_minimal_and_complete(&dfa, 16);
        }
        most = most.max(dfa.states());
        total += dfa.states();
    }
    println!("{} random formulas, {} traces; {total} states, at most {most}", campaign(), campaign() * 9);
}

#[test]
fn equivalent_formulas_have_the_same_automaton() {
    let mut rng = Rng::with_seed(60);
    for _ in 0..campaign() / 10 {
        let mut formulas = Formulas::new();
        for name in NAMES {
            formulas.name(name);
        }
        let parts: Vec<Formula> = (0..3)
            .map(|_| {
                let size = rng.u32(1..7);
                random_formula(&mut formulas, &mut rng, size)
            })
            .collect();
        let whole = formulas.and(parts.clone());
        let negated: Vec<Formula> = parts.iter().rev().map(|p| formulas.not(*p)).collect();
        let some = formulas.or(negated);
        let other = formulas.not(some);
        let a = Dfa::build(&formulas, whole, Limits::default()).unwrap();
        let b = Dfa::build(&formulas, other, Limits::default()).unwrap();
        assert_eq!(a.dot(&formulas), b.dot(&formulas), "{}", formulas.text(whole));
    }
}

#[test]
fn parallel_conjunctions_accept_like_their_product_with_sound_goals_traps_and_distances() {
    let mut rng = Rng::with_seed(61);
    let (mut traps, mut goals) = (0, 0);
    for _ in 0..campaign() / 10 {
        let mut formulas = Formulas::new();
        for name in NAMES {
            formulas.name(name);
        }
        let parts: Vec<Formula> = (0..3)
            .map(|_| {
                let size = rng.u32(1..8);
                random_formula(&mut formulas, &mut rng, size)
            })
            .collect();
        let whole = formulas.and(parts);
        let beside = Conjunction::build(&formulas, whole, Limits::default()).unwrap();
        let product = beside.product(Limits::default()).unwrap();
        let (mut states, mut state) = (beside.initial(), Dfa::INITIAL);
        for _ in 0..8 {
            assert_eq!(beside.accepts(&states), product.accepts(state));
            assert!(!beside.is_trap(&states) || product.is_trap(state));
            assert!(!beside.is_goal(&states) || product.is_goal(state), "{}", formulas.text(whole));
            if let Some(exact) = product.distance_to_accepting(state) {
                assert!(beside.distance_to_accepting(&states).unwrap() <= exact);
            }
            traps += usize::from(beside.is_trap(&states));
            goals += usize::from(beside.is_goal(&states));
            let letter = rng.u8(..16);
            beside.step(&mut states, letter_from_bits(letter));
            state = product.next(state, letter_from_bits(letter));
        }
    }
    println!("{traps} traps and {goals} goals met");
    assert!(traps > 100 && goals > 100);
}

#[test]
fn guards_describe_the_letters_of_their_edges() {
    let mut rng = Rng::with_seed(62);
    for _ in 0..campaign() / 10 {
        let mut formulas = Formulas::new();
        for name in NAMES {
            formulas.name(name);
        }
        let f = random_formula(&mut formulas, &mut rng, 10);
        let dfa = Dfa::build(&formulas, f, Limits::default()).unwrap();
        for state in 0..dfa.states() {
            for edge in dfa.edges(state) {
                let text = edge.guard.text(&formulas);
                let guard = edge.guard.formula(&mut formulas).unwrap();
                let read = formulas.parse(&text).unwrap();
                for letter in 0..16 {
                    let takes = dfa.next(state, letter_from_bits(letter)) == edge.to;
                    assert_eq!(evaluate_naively(&formulas, guard, &[letter], 0), takes, "{text}");
                    assert_eq!(evaluate_naively(&formulas, read, &[letter], 0), takes, "{text}");
                }
            }
        }
    }
}

fn responses(n: usize) -> String {
    (0..n).map(|i| format!("G (p{i} -> F q{i})")).collect::<Vec<_>>().join(" & ")
}

fn sequence(n: usize) -> String {
    (0..n).rev().fold(
        String::new(),
        |inner, i| {
            if inner.is_empty() { format!("F a{i}") } else { format!("F (a{i} & X {inner})") }
        },
    )
}

#[test]
fn response_conjunctions_have_two_to_the_n_states_and_sequences_one_more_than_n() {
    for n in 1..=8 {
        let (_, dfa) = build(&responses(n));
        assert_eq!(dfa.states(), 1 << n);
        assert!((0..dfa.states()).all(|s| !dfa.is_trap(s) && !dfa.is_goal(s)));
        let (_, dfa) = build(&sequence(n));
        assert_eq!(dfa.states(), n + 1);
        assert_eq!(dfa.distance(Dfa::INITIAL), Some(u32::try_from(n).unwrap()));
    }
    let (formulas, formula) = parse(&responses(1_000));
    let beside = Conjunction::build(&formulas, formula, Limits::default()).unwrap();
    assert_eq!(beside.states(), 2_000);
}

#[test]
fn exceeding_a_limit_is_an_error_with_numbers() {
    let (formulas, formula) = parse(&responses(20));
    let limits = Limits { states: 1_000, nodes: 100_000 };
    let error = Dfa::build(&formulas, formula, limits).unwrap_err();
    assert!(matches!(error, AutomatonError::TooLarge { reached, limit, .. } if reached > limit), "{error}");
    println!("{error}");
    // The twentieth position from the end: 2^20 states.
    let nested = format!("F (a & {}N false)", "X ".repeat(20));
    let (formulas, formula) = parse(&nested);
    assert!(matches!(Dfa::build(&formulas, formula, limits), Err(AutomatonError::TooLarge { what: "states", .. })));
    let wide = (0..3_000).map(|i| format!("F (a{i} & X b{i})")).collect::<Vec<_>>().join(" | ");
    let (formulas, formula) = parse(&format!("G ({wide})"));
    let error = Dfa::build(&formulas, formula, Limits::default()).unwrap_err();
    println!("{error}");
    let kept = (0..3_000).map(|i| format!("G !a{i}")).collect::<Vec<_>>().join(" & ");
    let (formulas, formula) = parse(&kept);
    assert!(matches!(
        Dfa::build(&formulas, formula, Limits::default()),
        Err(AutomatonError::TooLarge { what: "atoms", .. })
    ));
    assert_eq!(Conjunction::build(&formulas, formula, Limits::default()).unwrap().states(), 6_000);
    // All 900 atoms are looked at by each of the states.
    let kept = (0..900).map(|i| format!("G !a{i}")).collect::<Vec<_>>().join(" & ");
    assert_eq!(build(&kept).1.states(), 2);
    let mut formulas = Formulas::new();
    let a = formulas.name("a");
    let deep = (0..900).fold(a, |f, _| formulas.unary(Unary::Next, f));
    let dfa = Dfa::build(&formulas, deep, Limits::default()).unwrap();
    assert_eq!(dfa.states(), 903);
}

#[test]
fn unsupported_operators_are_named_in_the_error() {
    for (text, said) in
        [("O a", "O"), ("a S b", "S"), ("G Y a", "Y"), ("@A(a)", "@"), ("P(a)", "P"), ("Seen@A", "Seen@")]
    {
        let (formulas, formula) = parse(text);
        let error = Dfa::build(&formulas, formula, Limits::default()).unwrap_err();
        assert!(matches!(error, AutomatonError::Unsupported(_)) && error.to_string().contains(said), "{error}");
    }
}

#[test]
fn constants_and_both_next_operators_have_the_expected_automata() {
    let (_, dfa) = build("a | !a");
    assert_eq!((dfa.states(), dfa.is_goal(0), dfa.trap()), (1, true, None));
    let (_, dfa) = build("false");
    assert_eq!((dfa.states(), dfa.trap()), (1, Some(0)));
    // At least one position; at most one; none.
    let (_, dfa) = build("X true | !X true");
    assert_eq!(dfa.states(), 1);
    let (_, dfa) = build("F true");
    assert_eq!((dfa.accepts(0), dfa.accepts(dfa.next(0, |_| false))), (false, true));
    let (_, dfa) = build("N false");
    let one = dfa.next(0, |_| false);
    assert!(dfa.accepts(0) && dfa.accepts(one) && dfa.is_goal(one) && dfa.is_trap(dfa.next(one, |_| false)));
    // Strong next asks for another position even where its body is true of the empty suffix.
    let (_, dfa) = build("X !a");
    let one = dfa.next(0, |_| false);
    assert!(!dfa.accepts(one) && dfa.accepts(dfa.next(one, |_| false)));
}

#[test]
fn dot_shows_goals_traps_and_guards() {
    let (formulas, dfa) = build("F a & G !b");
    let dot = dfa.dot(&formulas);
    println!("{dot}");
    for line in [
        "start -> 0;",
        "0 [shape = circle];",
        "[shape = doublecircle, color = green, tooltip = goal];",
        "[shape = circle, color = red, tooltip = trap];",
        "0 -> 0 [label = \"!a & !b\"];",
        "0 -> 1 [label = \"b\"];",
        "[label = \"a & !b\"];",
        "1 -> 1 [label = \"true\"];",
    ] {
        assert!(dot.contains(line), "{line}");
    }
    let (formulas, dfa) = build("G (p1 -> F q1) & G (p2 -> F q2) & G (text_contains:\"a \\\"word\\\"\" -> x < 3)");
    let dot = dfa.dot(&formulas);
    println!("{dot}");
    assert!(dot.contains("(!p1 | q1)") && dot.contains("\\\\\\\""), "quotes are escaped");
    // A guard that no short text has.
    let parity = (0..12).map(|i| format!("a{i}")).collect::<Vec<_>>().join(" <-> ");
    let (formulas, dfa) = build(&parity);
    assert!(dfa.edges(0).iter().all(|e| matches!(e.guard, Guard::Long { .. })));
    assert!(dfa.dot(&formulas).contains('…'));
}

#[test]
fn a_step_reads_a_record() {
    struct Cold(f64);
    impl tlaforge_temporal::Record for Cold {
        fn field(&self, name: &str) -> Option<tlaforge_temporal::Value<'_>> {
            (name == "t").then_some(tlaforge_temporal::Value::Number(self.0))
        }
    }
    let (mut formulas, dfa) = build("F (t < 3 & X t >= 3)");
    let mut state = Dfa::INITIAL;
    for t in [5.0, 2.0, 4.0] {
        state = dfa.read(&formulas, state, &Cold(t));
    }
    assert!(dfa.is_goal(state) && dfa.accepts(state));
    assert_eq!(dfa.atoms().len(), 2);
    let known = formulas.atom_id(Atom::Name("t".into()));
    assert!(!dfa.atoms().contains(&known));
}
