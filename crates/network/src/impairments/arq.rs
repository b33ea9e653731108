//! Link-layer retransmission (ARQ).

use super::Effect;
use crate::Dice;
use params::{Entry, params};
use units::{Duration, Rng, Time};

params! {
    /// Parameters of link-layer retransmission.
    pub struct Params {
        /// Probability that a transmission fails; the same for every retransmission.
        probability: f64, "", 0.0..=0.99, role = share, label = "failed transmissions", example = 0.1;
        /// Delay of each failure: the time until the packet is retransmitted, plus the time of the retransmission.
        delay_ns: u64, "ns", 1.0..=3.6e12, label = "retransmission delay", example = 8_000_000;
    }
}

/// Perfectly persistent ARQ: the link retransmits a packet until the packet arrives, and later packets wait. The link
/// therefore neither loses nor reorders packets, but adds delay (RFC 3366, sections 1.3 and 3.1). Retransmissions do
/// not reduce the rate of the link.
#[derive(Clone, Debug)]
pub struct Arq {
    probability: f64,
    delay: Duration,
    rng: Rng,
    /// Time of the last arrival at the far end.
    latest: Time,
}

impl Effect for Arq {
    fn arrival(&mut self, _finish: Time, arrival: Time) -> Time {
        let mut arrival = arrival;
        while self.rng.chance(self.probability) {
            arrival += self.delay;
        }
        self.latest = self.latest.max(arrival);
        self.latest
    }
}

impl Entry<&Dice> for Arq {
    type Params = Params;
    const TITLE: &'static str =
        "Link-layer retransmission (ARQ): a packet is retransmitted until it arrives, and later packets wait";
    const SOURCE: &'static str = "RFC 3366 (perfectly persistent ARQ)";

    fn new(params: Params, dice: &Dice) -> Arq {
        Arq {
            probability: params.probability,
            delay: Duration::from_nanos(params.delay_ns),
            rng: dice.rng("arq"),
            latest: Time::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arq(probability: f64) -> Arq {
        Arq::new(Params { probability, delay_ns: 1_000_000 }, &Dice::new(1, "test"))
    }

    #[test]
    fn the_mean_of_failures_is_that_of_a_geometric_distribution() {
        let mut arq = arq(0.2);
        let second = Time::from_nanos(1_000_000_000);
        let apart = |n: u64| second + Duration::from_millis(1_000 * n); // no packet waits for another packet
        let late = |n| arq.arrival(apart(n), apart(n)).since(apart(n)).as_secs_f64() * 1e3;
        let mean = (0..20_000).map(late).sum::<f64>() / 2e4;
        assert!((mean - 0.25).abs() < 0.012, "{mean}"); // p / (1 - p); three standard deviations
    }

    #[test]
    fn nothing_overtakes_a_packet_that_is_sent_again() {
        let mut arq = arq(0.5);
        let close = |n: u64| Time::from_nanos(10_000 * n);
        let arrivals: Vec<Time> = (0..1_000).map(|n| arq.arrival(close(n), close(n))).collect();
        assert!(arrivals.windows(2).all(|pair| pair[0] <= pair[1]));
        assert!(arrivals[999] >= close(999));
    }
}
