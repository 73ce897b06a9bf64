//! Finite traces on prepared labels: the value at every position of 100,000 states for a formula of 22 nodes, how it grows
//! with the trace and with the formula, and what a whole check adds.

use criterion::{BenchmarkId, Criterion, Throughput};
use fastrand::Rng;
use tlaforge::temporal::{Atom, Formula, Formulas, Labels, check_trace, eval_all_positions};

/// A conjunction of 22 distinct nodes in the manner of a policy: responses, an absence, a precedence, a last word.
const POLICY: &str = "G (a -> F b) & G !c & (!d W a) & G (b -> X (a | d)) & F (a & X b) & X N G !d";

fn labels(formulas: &Formulas, formula: Formula, length: usize) -> Labels {
    let mut rng = Rng::with_seed(7);
    let mut labels = Labels::new(formulas, &[formula]);
    for _ in 0..length {
        labels.push_values(|_| rng.u8(..4) == 0);
    }
    labels
}

pub(crate) fn bench(criterion: &mut Criterion) {
    let mut formulas = Formulas::new();
    let policy = formulas.parse(POLICY).unwrap();
    let nodes = formulas.subformulas(policy).len();
    assert_eq!(nodes, 22, "{POLICY}");

    let mut by_trace = criterion.benchmark_group("finite trace, 22 nodes, by states");
    for length in [1_000, 10_000, 100_000, 1_000_000] {
        let labels = labels(&formulas, policy, length);
        by_trace.throughput(Throughput::Elements(length as u64));
        by_trace.bench_with_input(BenchmarkId::from_parameter(length), &labels, |bencher, labels| {
            bencher.iter(|| eval_all_positions(&formulas, policy, labels).unwrap().verdict());
        });
    }
    by_trace.finish();

    let mut by_formula = criterion.benchmark_group("finite trace, 100,000 states, by nodes");
    for times in [1, 2, 4, 8] {
        let mut formulas = Formulas::new();
        let parts: Vec<String> =
            (0..times).map(|i| POLICY.split(' ').map(|word| renamed(word, i)).collect::<Vec<_>>().join(" ")).collect();
        let formula = formulas.parse(&parts.join(" & ")).unwrap();
        let labels = labels(&formulas, formula, 100_000);
        let nodes = formulas.subformulas(formula).len();
        by_formula.throughput(Throughput::Elements(nodes as u64));
        by_formula.bench_with_input(BenchmarkId::from_parameter(nodes), &labels, |bencher, labels| {
            bencher.iter(|| eval_all_positions(&formulas, formula, labels).unwrap().verdict());
        });
    }
    by_formula.finish();

    // The last record violates it, so that what decided the verdict is found at the very end.
    let mut whole = criterion.benchmark_group("finite trace, 100,000 states, with deciding position and reason");
    for text in ["G (a -> F b) & G !c", "G (a -> X !a) & G !c"] {
        let formula = formulas.parse(text).unwrap();
        let c = formulas.atom_id(Atom::Name("c".into()));
        let mut labels = Labels::new(&formulas, &[formula]);
        for i in 0..100_000_u32 {
            labels
                .push_values(|atom| if atom == c { i == 99_999 } else { (i + u32::from(atom.index() == 0)) % 2 == 0 });
        }
        whole.bench_with_input(BenchmarkId::from_parameter(text), &labels, |bencher, labels| {
            bencher.iter(|| check_trace(&formulas, formula, labels).unwrap());
        });
    }
    whole.finish();
}

/// The atoms of another copy of the policy.
fn renamed(word: &str, copy: usize) -> String {
    word.chars().map(|c| if matches!(c, 'a'..='d') { format!("{c}{copy}") } else { c.to_string() }).collect()
}
