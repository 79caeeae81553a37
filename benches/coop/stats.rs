//! Medians, percentiles and spread of a handful of figures.

use serde_json::{Value, json};

/// Figures of several rounds.
#[derive(Clone, Debug, Default)]
pub struct Samples(Vec<f64>);

impl Samples {
    pub fn push(&mut self, figure: f64) {
        self.0.push(figure);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn median(&self) -> f64 {
        self.percentile(50.0)
    }

    /// The smallest figure that is not smaller than so many percent of all.
    pub fn percentile(&self, percent: f64) -> f64 {
        let sorted = self.sorted();
        let rank = (percent / 100.0 * sorted.len() as f64).ceil() as usize;
        sorted.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
    }

    pub fn least(&self) -> f64 {
        self.0.iter().copied().fold(f64::NAN, f64::min)
    }

    pub fn most(&self) -> f64 {
        self.0.iter().copied().fold(f64::NAN, f64::max)
    }

    pub fn extend(&mut self, other: &Samples) {
        self.0.extend_from_slice(&other.0);
    }

    /// Round by round.
    pub fn over(&self, other: &Samples) -> Samples {
        Samples(self.0.iter().zip(&other.0).map(|(a, b)| a / b).collect())
    }

    /// Median, extremes, and every figure unless they are very many.
    pub fn json(&self) -> Value {
        const LISTED_MAX: usize = 64;
        let all = (self.0.len() <= LISTED_MAX).then_some(&self.0);
        json!({
            "median": self.median(), "min": self.least(), "max": self.most(), "p99": self.percentile(99.0),
            "count": self.0.len(), "all": all,
        })
    }

    fn sorted(&self) -> Vec<f64> {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted
    }
}
