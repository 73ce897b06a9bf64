//! Runs the translator on damaged modules, in which bytes and tokens are changed at random. It must never panic or hang,
//! and every error must have a position. The full campaign has 1,000,000 inputs, this test a tenth of them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::pluscal::pluscal_damage::{damaged, material};
use fastrand::Rng;
use tlaforge::pluscal::{Compat, Options, translate};

/// Translates a module and checks what must hold for every input.
fn translate_damaged(text: &str, compat: Compat) -> bool {
    match translate(text, &Options { compat, ..Options::default() }) {
        Ok(made) => made.is_some(),
        Err(diagnostics) => {
            assert!(!diagnostics.is_empty());
            let lines = text.split('\n').count();
            for diagnostic in diagnostics {
                assert!(!diagnostic.message.is_empty() && diagnostic.line <= lines + 1, "{diagnostic:?}");
            }
            false
        }
    }
}

#[test]
fn a_damaged_module_is_translated_or_rejected() {
    let count: u64 = if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { 1_000_000 } else { 25_000 };
    let count = std::env::var("TLAFORGE_FUZZ").ok().map_or(count, |n| n.parse().unwrap());
    let first = std::env::var("TLAFORGE_FUZZ_FROM").ok().map_or(0, |n| n.parse().unwrap());
    let material = material();
    let next = AtomicU64::new(first);
    let (done, is_done) = mpsc::channel::<()>();
    let at: [(AtomicU64, AtomicU64); 2] = Default::default();
    let began = Instant::now();
    let (translated, longest) = std::thread::scope(|scope| {
        let (next, material, at) = (&next, &material, &at);
        let watch = scope.spawn(move || {
            // Ends when the sender is dropped.
            while is_done.recv_timeout(Duration::from_millis(50)) == Err(mpsc::RecvTimeoutError::Timeout) {
                let now = u64::try_from(began.elapsed().as_millis()).unwrap();
                for (seed, since) in at {
                    let since = since.load(Ordering::Relaxed);
                    let late = since > 0 && now > since + 300_000;
                    if late {
                        eprintln!("seed {} hangs", seed.load(Ordering::Relaxed));
                        std::process::abort();
                    }
                }
            }
        });
        let workers: Vec<_> = at
            .iter()
            .map(|(current, since)| {
                scope.spawn(move || {
                    let (mut translated, mut longest) = (0_u64, (Duration::ZERO, 0));
                    loop {
                        let seed = next.fetch_add(1, Ordering::Relaxed);
                        if seed >= first + count {
                            since.store(0, Ordering::Relaxed);
                            return (translated, longest);
                        }
                        let mut rng = Rng::with_seed(seed);
                        let text = damaged(material, &mut rng);
                        let compat = if rng.bool() { Compat::Today } else { Compat::Y2020 };
                        current.store(seed, Ordering::Relaxed);
                        since.store(u64::try_from(began.elapsed().as_millis()).unwrap().max(1), Ordering::Relaxed);
                        let started = Instant::now();
                        let made = std::panic::catch_unwind(|| translate_damaged(&text, compat));
                        longest = longest.max((started.elapsed(), seed));
                        translated += u64::from(made.unwrap_or_else(|_| panic!("seed {seed}, {compat:?}:\n{text}")));
                    }
                })
            })
            .collect();
        let results: Vec<_> = workers.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        drop(done);
        watch.join().unwrap();
        let results: Vec<_> = results.into_iter().map(|r| r.unwrap_or_else(|p| std::panic::resume_unwind(p))).collect();
        (results.iter().map(|r| r.0).sum::<u64>(), results.iter().map(|r| r.1).max().unwrap())
    });
    println!(
        "fuzz: {count} inputs in {:.1} s, {translated} translated, the longest took {:.0} ms (seed {})",
        began.elapsed().as_secs_f64(),
        longest.0.as_secs_f64() * 1e3,
        longest.1
    );
    assert!(longest.0 < Duration::from_secs(120), "seed {}", longest.1);
    assert!(translated > count / 50 && translated < count, "{translated} of {count} translated: is anything tried?");
}
