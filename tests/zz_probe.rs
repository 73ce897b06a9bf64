#[test]
fn probe() {
    let list = std::fs::read_to_string("/tmp/exs.list").unwrap();
    let (mut n, mut bad, mut cfgs) = (0, 0, 0);
    for path in list.lines() {
        let Ok(bytes) = std::fs::read(path) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        if path.ends_with(".cfg") {
            cfgs += 1;
            match tlaforge::tla::Cfg::parse(&text) {
                Err(e) => println!("CFG {path}: {e}"),
                Ok(c) => assert_eq!(tlaforge::tla::Cfg::parse(&c.render()), Ok(c)),
            }
            continue;
        }
        n += 1;
        let t = std::time::Instant::now();
        match tlaforge::tla::Module::parse(&text) {
            Err(e) => println!("{path}: {e}"),
            Ok(m) => {
                if !m.syntax_errors.is_empty() {
                    bad += 1;
                    println!("{path}: {} {}", m.syntax_errors.len(), m.syntax_errors[0]);
                }
                if m.terminator.is_none() {
                    println!("{path}: truncated");
                }
                let naive = m.source[m.range.clone()].matches("==").count();
                let _ = naive;
                for d in m.definitions_by_name().keys() {
                    if let Some(r) = tlaforge::tla::constantly_true(&m, d) {
                        if std::env::var("TRIV").is_ok() {
                            println!("TRIV {path} {d}: {r}");
                        }
                    }
                }
            }
        }
        if t.elapsed().as_millis() > 700 {
            println!("{path} slow {:?} {}", t.elapsed(), text.len());
        }
    }
    println!("{n} modules {bad} with errors, {cfgs} cfgs");
}
