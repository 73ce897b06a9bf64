//! Reading modules.
#[test]
fn probe() {
    let text = std::fs::read_to_string(std::env::var("PROBE").unwrap()).unwrap();
    let start = std::time::Instant::now();
    let m = tlaforge::tla::Module::parse(&text).unwrap();
    println!("{:?}", start.elapsed());
    println!(
        "{} {:?} {:?} ext {:?}\nconst {:?}\nvars {:?}",
        m.name, m.header, m.terminator, m.extends, m.constants, m.variables
    );
    for d in &m.definitions {
        println!(
            "DEF {} {:?} {:?} line {} damaged {} refs {:?}",
            d.name,
            d.kind,
            d.params.iter().map(|p| &p.name).collect::<Vec<_>>(),
            d.line,
            d.damaged,
            d.refers_to()
        );
    }
    if let Some(a) = &m.algorithm {
        println!(
            "ALG {} {:?} fair {} define {:?} labels {:?}\nvars {:?} fairness {:?}",
            a.name,
            a.syntax,
            a.fair,
            a.definitions.iter().map(|d| &d.name).collect::<Vec<_>>(),
            a.labels,
            a.variables,
            a.fairness
        );
        println!("{:?}", &m.source[a.range.clone()].len());
    }
    println!("{:?} tr {:?}\nass {:?}\nth {:?}", m.syntax_errors, m.translation, m.assumptions, m.theorems.len());
}
