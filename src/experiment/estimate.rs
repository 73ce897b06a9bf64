//! Means with 95 % intervals.

use serde::Serialize;

/// The 97.5 % quantiles of Student's t distribution for 1 to 30 degrees of freedom.
const T: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];
/// The same quantile of the normal distribution.
const Z: f64 = 1.959_964;

/// A mean and how far it can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// How many values.
    pub n: usize,
    /// Their mean.
    pub mean: f64,
    /// The lower end of the 95 % interval; `None` where there is one value, or all are alike: neither tells how far they
    /// scatter.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
}

impl Estimate {
    /// Mean and t interval with n - 1 degrees of freedom of values from 0 on; `None` of none.
    pub fn of(values: &[f64]) -> Option<Self> {
        let (n, mean) = (values.len(), mean(values)?);
        let spread: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        if n < 2 || spread <= f64::EPSILON * mean * mean {
            return Some(Self { n, mean, low: None, high: None });
        }
        let error = (spread / real(n - 1)).sqrt() / real(n).sqrt();
        Some(Self::around(n, mean, error))
    }

    /// The same of values from 0 to 1: the interval stays there. Where all values are 0, or all are 1, the interval of
    /// Wilson for n trials stands in its place: they tell how rare anything else is at most.
    pub fn of_shares(values: &[f64]) -> Option<Self> {
        let plain = Self::of(values)?;
        let (n, mean) = (plain.n, plain.mean);
        let may_err = Z * Z / (real(n) + Z * Z);
        if values.iter().all(|value| *value <= 0.0) {
            return Some(Self { n, mean, low: Some(0.0), high: Some(may_err) });
        }
        if values.iter().all(|value| *value >= 1.0) {
            return Some(Self { n, mean, low: Some(1.0 - may_err), high: Some(1.0) });
        }
        Some(plain.within_shares())
    }

    fn around(n: usize, mean: f64, error: f64) -> Self {
        let half = quantile(n - 1) * error;
        Self { n, mean, low: Some((mean - half).max(0.0)), high: Some(mean + half) }
    }

    fn within_shares(self) -> Self {
        let within = |end: Option<f64>| end.map(|end| end.clamp(0.0, 1.0));
        Self { low: within(self.low), high: within(self.high), ..self }
    }
}

/// A statistic of n units, such as F1, that is no mean of theirs: its value and a t interval by the jackknife (each unit
/// left out once). `of` gets the units that are looked at.
pub fn jackknife<U>(units: &[U], of: impl Fn(&[&U]) -> f64) -> Option<Estimate> {
    let n = units.len();
    let all: Vec<&U> = units.iter().collect();
    let mean = (n > 0).then(|| of(&all))?;
    if n < 2 {
        return Some(Estimate { n, mean, low: None, high: None });
    }
    let without = |left_out: usize| {
        let rest: Vec<&U> = units.iter().enumerate().filter(|(i, _)| *i != left_out).map(|(_, unit)| unit).collect();
        of(&rest)
    };
    let values: Vec<f64> = (0..n).map(without).collect();
    let middle = values.iter().sum::<f64>() / real(n);
    let spread: f64 = values.iter().map(|value| (value - middle).powi(2)).sum();
    let error = (spread * real(n - 1) / real(n)).sqrt();
    // Every part of the units comes to the same: the jackknife cannot tell how far another sample would be.
    if error == 0.0 {
        return Some(Estimate { n, mean, low: None, high: None });
    }
    Some(Estimate::around(n, mean, error).within_shares())
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / real(values.len()))
}

fn quantile(freedom: usize) -> f64 {
    if let Some(t) = freedom.checked_sub(1).and_then(|at| T.get(at)) {
        return *t;
    }
    // Cornish and Fisher; beyond 30 it errs in the fourth digit.
    let v = real(freedom);
    Z + (Z.powi(3) + Z) / (4.0 * v) + (5.0 * Z.powi(5) + 16.0 * Z.powi(3) + 3.0 * Z) / (96.0 * v * v)
}

/// A count as a number.
pub(super) fn real(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::from(u32::MAX), f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: Option<f64>, b: f64) -> bool {
        a.is_some_and(|a| (a - b).abs() < 0.001)
    }

    #[test]
    fn a_t_interval_is_what_a_table_of_statistics_says() {
        // Mean 3, standard deviation 1.5811, error 0.7071, t(4) = 2.776.
        let five = Estimate::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert!(close(Some(five.mean), 3.0) && close(five.low, 1.037) && close(five.high, 4.963), "{five:?}");
        assert_eq!(five.n, 5);
        let one = Estimate::of(&[2.0]).unwrap();
        assert_eq!((one.low, one.high), (None, None), "one value says nothing of how values scatter");
        assert_eq!(Estimate::of(&[]), None);
        // Alike to a hair: no interval of no width.
        let alike = Estimate::of(&[0.1 + 0.2, 0.1 + 0.2, 0.1 + 0.2]).unwrap();
        assert_eq!((alike.low, alike.high), (None, None));
        let wide = Estimate::of(&[0.0, 3.0]).unwrap();
        assert!(wide.low == Some(0.0) && close(wide.high, 20.559), "{wide:?}");
        for (freedom, t) in [(1, 12.706), (30, 2.042), (40, 2.021), (60, 2.000), (120, 1.980)] {
            assert!((quantile(freedom) - t).abs() < 0.001, "{freedom}: {}", quantile(freedom));
        }
        // More values, less doubt: no step between the table and what follows it.
        assert!((1..200).all(|v| quantile(v) > quantile(v + 1)));
    }

    #[test]
    fn shares_stay_between_0_and_1_and_all_alike_is_no_certainty() {
        let half = Estimate::of_shares(&[0.0, 1.0]).unwrap();
        assert_eq!((half.low, half.high), (Some(0.0), Some(1.0)));
        // Wilson for 10 of 10: 10 / (10 + 3.8415).
        let all = Estimate::of_shares(&[1.0; 10]).unwrap();
        assert!(close(all.low, 0.7225) && close(all.high, 1.0), "{all:?}");
        let none = Estimate::of_shares(&[0.0; 10]).unwrap();
        assert!(close(none.low, 0.0) && close(none.high, 0.2775), "{none:?}");
    }

    #[test]
    fn the_jackknife_of_a_mean_is_the_interval_of_the_mean() {
        let values = [0.1, 0.5, 0.4, 0.9];
        let by_mean = Estimate::of(&values).unwrap();
        let by_jackknife = jackknife(&values, |v| v.iter().copied().sum::<f64>() / real(v.len())).unwrap();
        assert!(close(by_jackknife.low, by_mean.low.unwrap()) && close(by_jackknife.high, by_mean.high.unwrap()));
        let alike = jackknife(&[1.0, 1.0, 1.0], |_| 1.0).unwrap();
        assert_eq!((alike.low, alike.n), (None, 3));
        assert_eq!(jackknife(&[] as &[f64], |_| 1.0), None);
    }
}
