//! Counts steps of algorithms, so that tests can show without a clock that the work is linear in the size of a module.
//! Outside of tests it does nothing.

#[cfg(test)]
thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

#[inline]
pub(crate) fn count_step() {
    #[cfg(test)]
    STEPS.with(|steps| steps.set(steps.get() + 1));
}

/// The number of steps that `work` takes.
#[cfg(test)]
pub(crate) fn steps_of(work: impl FnOnce()) -> u64 {
    STEPS.with(|steps| steps.set(0));
    work();
    STEPS.with(std::cell::Cell::get)
}

/// Asserts that twice the size takes at most three times the steps.
#[cfg(test)]
pub(crate) fn assert_linear(size: usize, work: impl Fn(usize)) {
    let (once, twice) = (steps_of(|| work(size)), steps_of(|| work(2 * size)));
    assert!(once > 0 && twice <= 3 * once, "{once} steps for {size}, {twice} for twice as many");
}
