//! Estimates with 95 % confidence intervals. Knows nothing of experiments.

use serde::Serialize;

/// The 97.5 % quantiles of Student's t distribution for 1 to 30 degrees of freedom.
const T: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];
/// The same quantile of the normal distribution.
const Z: f64 = 1.959_964;

/// A mean with its confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    pub n: usize,
    pub mean: f64,
    /// The lower end of the 95 % interval. `None` for a single value or equal values, which do not show a variance.
    pub low: Option<f64>,
    /// The upper end of the interval.
    pub high: Option<f64>,
}

impl Estimate {
    /// The mean of non-negative values with its t interval (n - 1 degrees of freedom); `None` without values.
    pub fn of_values(values: &[f64]) -> Option<Self> {
        let (n, mean) = (values.len(), mean(values)?);
        let spread: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        // Values that are equal up to rounding would get an interval of almost no width.
        if n < 2 || spread <= f64::EPSILON * mean * mean {
            return Some(Self { n, mean, low: None, high: None });
        }
        let error = (spread / as_f64(n - 1)).sqrt() / as_f64(n).sqrt();
        Some(Self::with_t_interval(n, mean, error))
    }

    /// The mean of values from 0 to 1; the interval is cut off there. If all values are 0, or all are 1, uses the Wilson
    /// interval for n trials, because the variance of the sample says nothing then.
    pub fn of_shares(values: &[f64]) -> Option<Self> {
        let estimate = Self::of_values(values)?;
        let (n, mean) = (estimate.n, estimate.mean);
        let max_error = Z * Z / (as_f64(n) + Z * Z);
        if values.iter().all(|value| *value <= 0.0) {
            return Some(Self { n, mean, low: Some(0.0), high: Some(max_error) });
        }
        if values.iter().all(|value| *value >= 1.0) {
            return Some(Self { n, mean, low: Some(1.0 - max_error), high: Some(1.0) });
        }
        Some(estimate.clamp_to_shares())
    }

    fn with_t_interval(n: usize, mean: f64, error: f64) -> Self {
        let half = t_quantile(n - 1) * error;
        Self { n, mean, low: Some((mean - half).max(0.0)), high: Some(mean + half) }
    }

    fn clamp_to_shares(self) -> Self {
        let clamp = |end: Option<f64>| end.map(|end| end.clamp(0.0, 1.0));
        Self { low: clamp(self.low), high: clamp(self.high), ..self }
    }
}

/// Estimates a statistic of n units that is not a mean, such as F1, with a t interval by the jackknife: each unit is left
/// out once.
pub fn jackknife<U>(units: &[U], statistic: impl Fn(&[&U]) -> f64) -> Option<Estimate> {
    let n = units.len();
    let all: Vec<&U> = units.iter().collect();
    let mean = (n > 0).then(|| statistic(&all))?;
    if n < 2 {
        return Some(Estimate { n, mean, low: None, high: None });
    }
    let without = |left_out: usize| {
        let rest: Vec<&U> = units.iter().enumerate().filter(|(i, _)| *i != left_out).map(|(_, unit)| unit).collect();
        statistic(&rest)
    };
    let values: Vec<f64> = (0..n).map(without).collect();
    let middle = values.iter().sum::<f64>() / as_f64(n);
    let spread: f64 = values.iter().map(|value| (value - middle).powi(2)).sum();
    // The jackknife estimate of the standard error.
    let error = (spread * as_f64(n - 1) / as_f64(n)).sqrt();
    // All subsets have the same value, so the jackknife does not show a variance.
    if error == 0.0 {
        return Some(Estimate { n, mean, low: None, high: None });
    }
    Some(Estimate::with_t_interval(n, mean, error).clamp_to_shares())
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / as_f64(values.len()))
}

fn t_quantile(freedom: usize) -> f64 {
    if let Some(t) = freedom.checked_sub(1).and_then(|at| T.get(at)) {
        return *t;
    }
    // The Cornish-Fisher expansion; beyond 30 degrees of freedom its error is in the fourth digit.
    let v = as_f64(freedom);
    Z + (Z.powi(3) + Z) / (4.0 * v) + (5.0 * Z.powi(5) + 16.0 * Z.powi(3) + 3.0 * Z) / (96.0 * v * v)
}

/// Converts a count; counts of experiments are far below 2^32.
pub(super) fn as_f64(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::from(u32::MAX), f64::from)
}

pub(super) fn tokens_as_f64(tokens: u64) -> f64 {
    usize::try_from(tokens).map_or(f64::from(u32::MAX), as_f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: Option<f64>, b: f64) -> bool {
        a.is_some_and(|a| (a - b).abs() < 0.001)
    }

    #[test]
    fn t_intervals_match_statistical_tables() {
        // Mean 3, standard deviation 1.5811, error 0.7071, t(4) = 2.776.
        let five = Estimate::of_values(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert!(close(Some(five.mean), 3.0) && close(five.low, 1.037) && close(five.high, 4.963), "{five:?}");
        assert_eq!(five.n, 5);
        let one = Estimate::of_values(&[2.0]).unwrap();
        assert_eq!((one.low, one.high), (None, None), "one value shows no variance");
        assert_eq!(Estimate::of_values(&[]), None);
        // Equal up to rounding: no interval of width 0.
        let alike = Estimate::of_values(&[0.1 + 0.2, 0.1 + 0.2, 0.1 + 0.2]).unwrap();
        assert_eq!((alike.low, alike.high), (None, None));
        let wide = Estimate::of_values(&[0.0, 3.0]).unwrap();
        assert!(wide.low == Some(0.0) && close(wide.high, 20.559), "{wide:?}");
        for (freedom, t) in [(1, 12.706), (30, 2.042), (40, 2.021), (60, 2.000), (120, 1.980)] {
            assert!((t_quantile(freedom) - t).abs() < 0.001, "{freedom}: {}", t_quantile(freedom));
        }
        // Monotonic also between the table and the expansion.
        assert!((1..200).all(|v| t_quantile(v) > t_quantile(v + 1)));
    }

    #[test]
    fn intervals_of_shares_stay_between_0_and_1() {
        let half = Estimate::of_shares(&[0.0, 1.0]).unwrap();
        assert_eq!((half.low, half.high), (Some(0.0), Some(1.0)));
        // Wilson for 10 of 10: 10 / (10 + 3.8415).
        let all = Estimate::of_shares(&[1.0; 10]).unwrap();
        assert!(close(all.low, 0.7225) && close(all.high, 1.0), "{all:?}");
        let none = Estimate::of_shares(&[0.0; 10]).unwrap();
        assert!(close(none.low, 0.0) && close(none.high, 0.2775), "{none:?}");
    }

    #[test]
    fn the_jackknife_of_a_mean_equals_the_interval_of_the_mean() {
        let values = [0.1, 0.5, 0.4, 0.9];
        let by_mean = Estimate::of_values(&values).unwrap();
        let by_jackknife = jackknife(&values, |v| v.iter().copied().sum::<f64>() / as_f64(v.len())).unwrap();
        assert!(close(by_jackknife.low, by_mean.low.unwrap()) && close(by_jackknife.high, by_mean.high.unwrap()));
        let alike = jackknife(&[1.0, 1.0, 1.0], |_| 1.0).unwrap();
        assert_eq!((alike.low, alike.n), (None, 3));
        assert_eq!(jackknife(&[] as &[f64], |_| 1.0), None);
    }
}
