//! RTT independence: a flow with a short RTT grows as slowly as a flow with a target RTT (L4STeam/linux
//! `tcp_prague.c`; RFC 9331 section 4.3, requirement "reduced RTT dependence").

use crate::Path;
use units::Duration;

/// Law that slows the window growth of flows with a short RTT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RttScaling {
    /// No scaling.
    None,
    /// The sending rate grows as fast as the rate of a flow with the target RTT.
    Rate,
    /// Weaker scaling. Its purpose in L4STeam/linux: at least one mark every eight round trips, even at very short
    /// RTTs.
    Scalable,
    /// The sending rate grows as fast as the rate of a flow whose RTT is the sum of this flow's RTT and the
    /// target RTT.
    Additive,
}

/// Longest smoothed RTT to which scaling applies.
const LONGEST: Duration = Duration::from_millis(100);
/// Exponent of the unit of RTTs: 2^7 microseconds. RTTs are rounded down to whole units.
/// L4STeam/linux `US2RTT` (RTT_UNIT).
const UNIT_SHIFT: u32 = 7;
/// RTT up to which `Scalable` adds an eighth of a packet per `SCALABLE_SPAN` of time, seconds.
const SCALABLE_FROM: f64 = 1_536e-6;
/// Range of RTTs above `SCALABLE_FROM` in which this growth rises to 9/8 of a packet, seconds.
const SCALABLE_SPAN: f64 = 16_384e-6;

/// Round a time down to whole units.
/// L4STeam/linux `US2RTT`, `RTT2US`.
fn in_units(time: Duration) -> Duration {
    Duration::from_micros(time.as_micros() >> UNIT_SHIFT << UNIT_SHIFT)
}

impl RttScaling {
    /// RTT of the hypothetical flow whose growth this flow imitates.
    /// L4STeam/linux `prague_target_rtt`, `prague_dynamic_rtt_target`.
    pub(crate) fn target(self, target: Duration, path: &Path) -> Duration {
        let own = if self == RttScaling::Additive { path.srtt.unwrap_or_default() } else { Duration::ZERO };
        in_units(target) + in_units(own)
    }

    /// Growth in packets per round trip; without scaling it is one. The factor RTT/target applies twice: there are
    /// more round trips per target RTT, and the same rate needs a smaller window. L4STeam/linux
    /// `prague_ai_ack_increase`.
    pub(crate) fn increase(self, target: Duration, path: &Path) -> f64 {
        let rtt = in_units(path.srtt.filter(|&rtt| rtt <= LONGEST).unwrap_or_default()).as_secs_f64();
        if rtt == 0.0 {
            return 1.0;
        }
        match self {
            RttScaling::None => 1.0,
            RttScaling::Rate | RttScaling::Additive => {
                (rtt / self.target(target, path).as_secs_f64()).min(1.0).powi(2)
            }
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
        scaling.increase(
            Duration::from_millis(25),
            &Path { srtt: Some(Duration::from_micros(rtt_us)), ..path_at(0) },
        )
    }

    #[test]
    fn at_a_fifth_of_the_target_growth_is_a_twenty_fifth() {
        // The RTT is 39 units of 128 microseconds, and the target RTT is 195 units.
        assert!((increase(RttScaling::Rate, 5_000) - 0.04).abs() < 1e-12);
    }

    #[test]
    fn what_is_beyond_whole_units_does_not_count() {
        assert_eq!(increase(RttScaling::Rate, 5_119), increase(RttScaling::Rate, 4_992));
        assert!(increase(RttScaling::Rate, 5_120) > increase(RttScaling::Rate, 5_119));
        assert_eq!(increase(RttScaling::Rate, 127), 1.0);
    }

    #[test]
    fn the_target_is_in_whole_units_too() {
        let target = RttScaling::Rate.target(Duration::from_millis(25), &path_at(0));
        assert_eq!(target, Duration::from_micros(195 * 128));
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
        let per_reference = increase(RttScaling::Scalable, 128) / (128e-6 / SCALABLE_SPAN);
        assert!((per_reference - 0.125).abs() < 1e-12, "{per_reference}");
    }
}
