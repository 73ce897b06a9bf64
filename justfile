# What people and CI run. `just` lists it.
default:
    @just --list

# Every test, and what no test shows, as CI runs them.
test:
    scripts/test
    scripts/lint

# The tests that tell the most for their time.
quick:
    scripts/test --quick

# The long versions of the tests.
campaign:
    scripts/campaign

# Quick feedback while writing.
check:
    cargo fmt --check
    cargo clippy --workspace --all-targets --features restate,otel
    cargo test --workspace --lib --features restate,otel

# The swap example from its recording.
demo:
    cargo run --release -- demo

# The book, rendered into target/book.
book:
    target/mdbook/bin/mdbook build docs

# Benchmarks: start-up, orchestration against its own fsyncs, resuming a long journal.
bench:
    cargo bench

# Dockerfile and compose.yml, as far as that goes without an engine.
docker-check:
    scripts/check-docker

# The two published crates: their packages, and their public items against a released revision.
publish-check released="":
    scripts/publish-check {{released}}

# The packages of a release, built and tried; then the commands that publish.
release:
    scripts/release
