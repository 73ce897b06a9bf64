//! Progression: steps at a constant size of the residual.

use std::hint::black_box;

use criterion::Criterion;
use tlaforge::temporal::{Formulas, Letter, Progression, Residual};

fn tree(node: usize, depth: usize) -> String {
    if depth == 0 {
        return format!("(n{node} & X F f)");
    }
    format!("(n{node} & X F ({} | {}))", tree(2 * node + 1, depth - 1), tree(2 * node + 2, depth - 1))
}

fn begin(progression: &mut Progression, text: &str) -> Residual {
    let mut source = Formulas::new();
    let formula = source.parse(text).expect("the formulas here are well formed");
    progression.begin(&source, formula).expect("they use future operators only")
}

/// Letters in which each atom but those named is true with a probability.
fn letters(progression: &Progression, probability: f64, never: &[&str], count: usize) -> Vec<Letter> {
    let mut rng = fastrand::Rng::with_seed(11);
    let formulas = progression.formulas();
    let free = |text: &String| !never.contains(&text.as_str());
    let atoms: Vec<_> =
        formulas.atoms().filter(|(_, atom)| free(&formulas.atom_text(atom))).map(|(id, _)| id).collect();
    (0..count).map(|_| atoms.iter().copied().filter(|_| rng.f64() < probability).collect()).collect()
}

fn steps(criterion: &mut Criterion, name: &str, rules: &[String], probability: f64, never: &[&str]) {
    let mut progression = Progression::new();
    let fresh: Vec<Residual> = rules.iter().map(|rule| begin(&mut progression, rule)).collect();
    let letters = letters(&progression, probability, never, 1_000);
    let mut size = 0;
    // A thousand steps from the start with nothing remembered: what a run costs that comes once.
    criterion.bench_function(&format!("progression/{name}/1000 steps, first"), |b| {
        b.iter(|| {
            let mut progression = Progression::new();
            let mut residuals: Vec<Residual> = rules.iter().map(|rule| begin(&mut progression, rule)).collect();
            for letter in &letters {
                for residual in &mut residuals {
                    *residual = progression.step(*residual, letter);
                }
            }
            size = residuals.iter().map(|residual| progression.size(*residual)).sum();
            black_box(residuals)
        });
    });
    criterion.bench_function(&format!("progression/{name}/1000 steps, again"), |b| {
        b.iter(|| {
            let mut residuals = fresh.clone();
            for letter in &letters {
                for residual in &mut residuals {
                    *residual = progression.step(*residual, black_box(letter));
                }
            }
            black_box(residuals)
        });
    });
    eprintln!("{name}: {size} parts of residuals after 1000 steps");
}

/// The tree of alternatives, one response that is never met, and twenty rules at once.
pub(crate) fn progression(criterion: &mut Criterion) {
    let tree = [format!("F {}", tree(0, 4))];
    steps(criterion, "tree of depth 4, all labels", &tree, 1.1, &["f"]);
    steps(criterion, "tree of depth 4, four labels", &tree, 0.13, &["f"]);
    steps(criterion, "G (p -> F q), never answered", &["G (p -> F q)".to_owned()], 1.1, &["q"]);
    let mixed: Vec<String> = (0..5)
        .flat_map(|i| {
            [format!("G (a{i} -> F b{i})"), format!("G (c{i} -> X d{i})"), format!("e{i} U f{i}"), format!("G !g{i}")]
        })
        .collect();
    steps(criterion, "20 mixed rules", &mixed, 0.1, &[]);
}
