//! Replay of recorded loss.

use super::LossModel;
use crate::Dice;
use params::{Entry, Problem, params};

params! {
    /// Parameters of the replay of recorded losses.
    pub struct Params {
        /// Indices of lost packets, ascending; the first packet has index 0.
        packets: Vec<u64> = Vec::new(), "packets";
        /// Number of packets after which the indices repeat. Left out: never.
        period: Option<u64> = None, "packets", 1.0..=9.223_372_036_854_776e18;
    }
}

/// The packets at given indices are lost, for example at the indices of a recording.
#[derive(Clone, Debug)]
pub struct Replay {
    params: Params,
    /// Packets seen in the current period.
    seen: u64,
    /// Number of packets lost in the current period.
    lost: usize,
}

impl LossModel for Replay {
    #[inline]
    fn is_lost(&mut self) -> bool {
        let is_lost = self.params.packets.get(self.lost) == Some(&self.seen);
        self.lost += usize::from(is_lost);
        self.seen += 1;
        if self.params.period == Some(self.seen) {
            (self.seen, self.lost) = (0, 0);
        }
        is_lost
    }
}

impl Entry<&Dice> for Replay {
    type Params = Params;
    const TITLE: &'static str = "Given packets are lost, such as the lost packets of a recording";
    const SOURCE: &'static str = "";

    fn check(params: &Params) -> Option<Problem> {
        if let Some(n) = params.packets.windows(2).position(|pair| pair[1] <= pair[0]) {
            return Some(Problem::new(
                format!("packets[{}]", n + 1),
                "not above the index before it; sort the indices",
            ));
        }
        let (period, last) = (params.period?, *params.packets.last()?);
        (period <= last).then(|| Problem::new("period", format!("{period} ends before packet {last}")))
    }

    fn new(params: Params, _: &Dice) -> Replay {
        Replay { params, seen: 0, lost: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_played_once_or_over_and_over() {
        let numbers = |period| {
            let mut loss = Replay::new(Params { packets: vec![0, 2], period }, &Dice::new(1, "test"));
            (0..9).filter(|_| loss.is_lost()).collect::<Vec<_>>()
        };
        assert_eq!(numbers(None), [0, 2]);
        assert_eq!(numbers(Some(4)), [0, 2, 4, 6, 8]);
    }

    #[test]
    fn what_cannot_be_played_is_refused() {
        let problem = |packets: &[u64], period| Replay::check(&Params { packets: packets.to_vec(), period });
        assert_eq!(problem(&[1, 2], Some(3)), None);
        assert_eq!(problem(&[2, 2], None).map(|p| p.name), Some("packets[1]".to_owned()));
        assert_eq!(problem(&[1, 2], Some(2)).map(|p| p.name), Some("period".to_owned()));
    }
}
