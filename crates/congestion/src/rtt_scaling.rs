//! RTT independence: a flow of short RTT grows as slowly as one of a target RTT (L4STeam/linux `tcp_prague.c`;
//! RFC 9331 section 4.3, requirement "reduced RTT dependence").

use crate::Path;
use units::Duration;

/// How flows of short RTT are slowed down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RttScaling {
    /// Not at all.
    None,
    /// To the rate that a flow of the target RTT has.
    Rate,
    /// Less, so that at very short RTTs there is still a mark every eight round trips.
    Scalable,
    /// As if the target came on top of the RTT.
    Additive,
}

/// Longer RTTs are not scaled.
const LONGEST: Duration = Duration::from_millis(100);
/// RTT at which scalable growth begins to exceed an eighth of a packet, and over how much more it goes on, seconds.
const SCALABLE_FROM: f64 = 1_536e-6;
const SCALABLE_SPAN: f64 = 16_384e-6;

impl RttScaling {
    /// RTT in seconds that a flow is to behave as if it had, for a target of `target` seconds.
    pub(crate) fn target(self, target: f64, path: &Path) -> f64 {
        let own = path.srtt.unwrap_or_default().as_secs_f64();
        if self == RttScaling::Additive { target + own } else { target }
    }

    /// Packets per round trip to grow by in place of one: as much smaller as there are more round trips in the
    /// target's, and again because the same rate is a smaller window.
    pub(crate) fn increase(self, target: f64, path: &Path) -> f64 {
        let Some(rtt) = path.srtt.filter(|&rtt| rtt <= LONGEST).map(Duration::as_secs_f64) else {
            return 1.0;
        };
        match self {
            RttScaling::None => 1.0,
            RttScaling::Rate | RttScaling::Additive => (rtt / self.target(target, path)).min(1.0).powi(2),
            RttScaling::Scalable => {
                let above = (rtt - SCALABLE_FROM).clamp(0.0, SCALABLE_SPAN);
                (SCALABLE_SPAN / 8.0 + above) * rtt / SCALABLE_SPAN.powi(2)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::path_at;

    fn increase(scaling: RttScaling, rtt_us: u64) -> f64 {
        scaling.increase(0.025, &Path { srtt: Some(Duration::from_micros(rtt_us)), ..path_at(0) })
    }

    #[test]
    fn at_a_fifth_of_the_target_growth_is_a_twenty_fifth() {
        assert!((increase(RttScaling::Rate, 5_000) - 0.04).abs() < 1e-12);
    }

    #[test]
    fn at_the_target_and_above_nothing_changes() {
        assert_eq!(increase(RttScaling::Rate, 25_000), 1.0);
        assert_eq!(increase(RttScaling::Rate, 60_000), 1.0);
        assert_eq!(increase(RttScaling::Scalable, 100_001), 1.0);
    }

    #[test]
    fn additive_scaling_adds_the_target_to_the_rtt() {
        assert!((increase(RttScaling::Additive, 25_000) - 0.25).abs() < 1e-12);
    }

    #[test]
    fn scalable_growth_is_at_least_an_eighth_of_a_packet_per_reference_rtt() {
        let per_reference = increase(RttScaling::Scalable, 100) / (100e-6 / SCALABLE_SPAN);
        assert!((per_reference - 0.125).abs() < 1e-12, "{per_reference}");
    }
}
