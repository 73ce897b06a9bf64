use tlaforge_tla::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let m = Module::parse(&std::fs::read_to_string(&a[1]).unwrap()).unwrap();
    let st = DeclaredSteps::of(&m).unwrap();
    if a.len() < 5 {
        println!("{st:#?}");
        for d in usable_definitions(&m) {
            println!("{}", d.text);
        }
        return;
    }
    let cfgt = std::fs::read_to_string(&a[2]).unwrap();
    match read_contracts(&m, &st, &std::fs::read_to_string(&a[3]).unwrap()) {
        Err(e) => {
            for l in e {
                println!("- {l}");
            }
            std::process::exit(1)
        }
        Ok(c) => {
            let cfg = Cfg::parse(&cfgt).unwrap();
            let merged =
                merge(&m.source, &Sections { properties: &c.definitions, cfg: &cfgt, ..Default::default() }).unwrap();
            std::fs::create_dir_all(&a[4]).unwrap();
            std::fs::write(format!("{}/{}.tla", a[4], m.name), merged.text).unwrap();
            std::fs::write(format!("{}/{}.cfg", a[4], m.name), with_contracts(&cfgt, &cfg, &c)).unwrap();
            for s in c.steps {
                println!("{} free {:?} {}", s.label, s.free_variables, s.is_free);
            }
        }
    }
}
