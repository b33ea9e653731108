//! Tins, CAKE's classes by DSCP: the code points and the share of each tin.

use serde::{Deserialize, Serialize};

/// Number of tins, and the code points of each tin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Diffserv {
    /// One tin for all packets.
    Besteffort,
    /// Tins by the three bits of the old IP precedence field.
    Precedence,
    /// Best effort, bulk, voice.
    #[default]
    Diffserv3,
    /// Best effort, bulk, video, voice.
    Diffserv4,
    /// Eight tins, from least effort to network control.
    Diffserv8,
}

/// Share of a tin: its rate as a fraction of the whole rate, and its weight when the rate is unlimited.
pub(super) struct Share {
    numerator: u64,
    denominator: u64,
    pub(super) weight: u64,
}

impl Share {
    /// The part of a rate that the tin gets.
    pub(super) fn rate(&self, rate: u64) -> u64 {
        (u128::from(rate) * u128::from(self.numerator) / u128::from(self.denominator)).max(1) as u64
    }
}

/// Lower effort (RFC 8622).
const LE: u8 = 1;
/// Bits for high throughput and low delay in the old type-of-service field (RFC 1349).
const TOS_THROUGHPUT: u8 = 2;
const TOS_DELAY: u8 = 4;
/// Voice admit (RFC 5865).
const VOICE_ADMIT: u8 = 44;
/// Expedited forwarding (RFC 3246).
const EF: u8 = 46;
/// Class selectors (RFC 2474).
const CS1: u8 = 8;
const CS2: u8 = 16;
const CS3: u8 = 24;
const CS4: u8 = 32;
const CS5: u8 = 40;
const CS6: u8 = 48;
const CS7: u8 = 56;

impl Diffserv {
    /// The shares of the tins, in ascending priority: a later tin takes precedence while it is within its rate.
    /// Source: Linux `cake_config_diffserv4` and the functions of the other modes.
    pub(super) fn shares(self) -> Vec<Share> {
        let shift = |n: u32| Share { numerator: 1, denominator: 1 << n, weight: 1024 >> n };
        match self {
            Diffserv::Besteffort => vec![shift(0)],
            Diffserv::Diffserv3 => [0, 4, 2].map(shift).into(),
            Diffserv::Diffserv4 => [0, 4, 1, 2].map(shift).into(),
            Diffserv::Diffserv8 | Diffserv::Precedence => {
                let share = |(n, weight)| Share { numerator: 7u64.pow(n), denominator: 8u64.pow(n), weight };
                let weights = std::iter::successors(Some(256u64), |w| Some(w * 7 / 8));
                (0..8).zip(weights).map(share).collect()
            }
        }
    }

    /// The tin of a packet.
    /// Source: Linux `cake_select_tin`, the tables `diffserv3`, `diffserv4`, `diffserv8`.
    pub(super) fn tin(self, dscp: u8) -> usize {
        match self {
            Diffserv::Besteffort => 0,
            Diffserv::Precedence => usize::from(dscp >> 3 & 7),
            Diffserv::Diffserv3 => match dscp {
                LE | CS1 => 1,
                TOS_DELAY | VOICE_ADMIT | EF | CS6 | CS7 => 2,
                _ => 0,
            },
            Diffserv::Diffserv4 => match dscp {
                LE | CS1 => 1,
                TOS_DELAY | CS2 | CS3 => 2,
                _ if (2..=4).contains(&assured(dscp)) => 2,
                CS4 | CS5 | VOICE_ADMIT | EF | CS6 | CS7 => 3,
                _ => 0,
            },
            Diffserv::Diffserv8 => match (dscp, assured(dscp)) {
                (LE, _) => 0,
                (TOS_THROUGHPUT | CS1, _) | (_, 1) => 1,
                (CS3, _) | (_, 3 | 4) => 3,
                (TOS_DELAY, _) | (_, 2) => 4,
                (CS2, _) => 5,
                (CS4 | CS5 | VOICE_ADMIT | EF, _) => 6,
                (CS6 | CS7, _) => 7,
                _ => 2,
            },
        }
    }
}

/// The class of assured forwarding (RFC 2597), 1 to 4; 0 if the code point has no such class.
fn assured(dscp: u8) -> u8 {
    let (class, precedence) = (dscp >> 3, dscp & 7);
    if (1..=4).contains(&class) && [2, 4, 6].contains(&precedence) { class } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn af(class: u8, precedence: u8) -> u8 {
        8 * class + 2 * precedence
    }

    /// The code points of a tin.
    fn members(diffserv: Diffserv, tin: usize) -> Vec<u8> {
        (0..64).filter(|&dscp| diffserv.tin(dscp) == tin).collect()
    }

    #[test]
    fn three_tins_set_bulk_and_voice_apart() {
        assert_eq!(members(Diffserv::Diffserv3, 1), [LE, CS1]);
        assert_eq!(members(Diffserv::Diffserv3, 2), [TOS_DELAY, VOICE_ADMIT, EF, CS6, CS7]);
    }

    #[test]
    fn four_tins_set_video_apart_too() {
        let classes = [2, 3, 4].map(|class| [1, 2, 3].map(|precedence| af(class, precedence)));
        let mut video = [classes.concat(), vec![TOS_DELAY, CS2, CS3]].concat();
        video.sort_unstable();
        assert_eq!(members(Diffserv::Diffserv4, 1), [LE, CS1]);
        assert_eq!(members(Diffserv::Diffserv4, 2), video);
        assert_eq!(members(Diffserv::Diffserv4, 3), [CS4, CS5, VOICE_ADMIT, EF, CS6, CS7]);
    }

    #[test]
    fn eight_tins_go_from_least_effort_to_network_control() {
        let of = |tin| members(Diffserv::Diffserv8, tin);
        assert_eq!(of(0), [LE]);
        assert_eq!(of(1), [TOS_THROUGHPUT, CS1, af(1, 1), af(1, 2), af(1, 3)]);
        assert_eq!(of(3), [CS3, af(3, 1), af(3, 2), af(3, 3), af(4, 1), af(4, 2), af(4, 3)]);
        assert_eq!(of(4), [TOS_DELAY, af(2, 1), af(2, 2), af(2, 3)]);
        assert_eq!(of(5), [CS2]);
        assert_eq!(of(6), [CS4, CS5, VOICE_ADMIT, EF]);
        assert_eq!(of(7), [CS6, CS7]);
    }

    #[test]
    fn every_code_point_has_a_tin_that_exists() {
        use Diffserv::{Besteffort, Diffserv3, Diffserv4, Diffserv8, Precedence};
        for diffserv in [Besteffort, Precedence, Diffserv3, Diffserv4, Diffserv8] {
            let tins = diffserv.shares().len();
            assert!((0..=u8::MAX).all(|dscp| diffserv.tin(dscp) < tins), "{diffserv:?}");
        }
    }
}
