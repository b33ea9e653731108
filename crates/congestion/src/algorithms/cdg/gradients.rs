//! RTT gradients of CDG: the change from round to round, and the probability of a back-off.

/// Smallest and largest RTT of a round, or the changes of both, microseconds. Zero means no value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extremes {
    pub(super) min: i64,
    pub(super) max: i64,
}

impl Extremes {
    pub(super) fn minus(self, other: Extremes) -> Extremes {
        Extremes { min: self.min - other.min, max: self.max - other.max }
    }

    pub(super) fn is_known(self) -> bool {
        self != Extremes::default()
    }
}

/// The sum of the gradients of the last rounds.
#[derive(Clone, Debug)]
pub(super) struct Gradients {
    ring: Box<[Extremes]>,
    tail: usize,
    filled: bool,
    pub(super) sum: Extremes,
}

impl Gradients {
    pub(super) fn new(rounds: u32) -> Gradients {
        let ring = vec![Extremes::default(); rounds as usize].into_boxed_slice();
        Gradients { ring, tail: 0, filled: false, sum: Extremes::default() }
    }

    pub(super) fn clear(&mut self) {
        self.ring.fill(Extremes::default());
        (self.tail, self.filled, self.sum) = (0, false, Extremes::default());
    }

    /// Add the gradient of a round. Return the sum, extrapolated until the window of rounds is full.
    pub(super) fn add(&mut self, gradient: Extremes) -> i64 {
        let change = gradient.minus(std::mem::replace(&mut self.ring[self.tail], gradient));
        self.sum = Extremes { min: self.sum.min + change.min, max: self.sum.max + change.max };
        self.tail = (self.tail + 1) % self.ring.len();
        let sum = if self.sum.min > 0 { self.sum.min } else { self.sum.max };
        self.filled |= self.tail == 0;
        if self.filled { sum } else { sum * self.ring.len() as i64 / self.tail as i64 }
    }
}

/// The smaller of two values, where 0 means unknown.
pub(super) fn least(known: i64, new: i64) -> i64 {
    match (known, new) {
        (0, other) | (other, 0) => other,
        _ => known.min(new),
    }
}

/// Probability of a back-off for a summed gradient in microseconds: 1 − exp(−gradient · factor).
pub(super) fn probability(gradient_us: i64, factor: u32) -> f64 {
    1.0 - exp_minus(gradient_us as f64 * 1e-6 * f64::from(factor))
}

/// Compute exp(−x) for x ≥ 0 by additions and multiplications only, which give the same bits on all machines.
fn exp_minus(x: f64) -> f64 {
    if x > 40.0 {
        return 0.0;
    }
    let y = x / 1024.0;
    let mut power = 1.0 - y * (1.0 - y / 2.0 * (1.0 - y / 3.0 * (1.0 - y / 4.0 * (1.0 - y / 5.0))));
    for _ in 0..10 {
        power *= power;
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_is_exact_to_a_billionth() {
        for x in [0.0, 1e-6, 0.1, 1.0, 5.0, 20.0] {
            assert!((exp_minus(x) - (-x).exp()).abs() < 1e-9, "{x}");
        }
    }
}
