# What people and CI run. `just` lists it.
default:
    @just --list

# Every test, as CI runs them.
test:
    scripts/test

# The long versions of the tests.
campaign:
    scripts/campaign

# Quick feedback while writing.
check:
    cargo fmt --check
    cargo clippy --all-targets
    cargo test --lib

# The swap example from its recording.
demo:
    cargo run --release -- demo

# Benchmarks: start-up, orchestration against its own fsyncs, resuming a long journal.
bench:
    cargo bench

# Dockerfile and compose.yml, as far as that goes without an engine.
docker-check:
    scripts/check-docker
