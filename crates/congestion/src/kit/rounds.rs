//! A model of a path without a network, with one round trip per step.
//!
//! Every packet of a round is acknowledged while the next round is being sent, so a whole window is always in flight.
//! Packets that exceed the buffer are lost.

use super::ideal;
use crate::{Ack, CaState, Congestion, CongestionControl, LostPacket, Path, RateSample, Recovery};
use std::fmt::Write;
use units::{Duration, Time};

/// The bottleneck of the path.
#[derive(Clone, Copy, Debug)]
pub struct Bottleneck {
    /// Bandwidth-delay product, packets.
    pub bdp: u32,
    /// Buffer size, packets.
    pub buffer: u32,
    /// RTT without a queue.
    pub rtt: Duration,
}

impl Default for Bottleneck {
    /// 50 packets per 40 ms, and a buffer of 50 packets.
    fn default() -> Self {
        Bottleneck { bdp: 50, buffer: 50, rtt: ideal::RTT }
    }
}

/// Results of one round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// Packets sent.
    pub sent: u32,
    /// Packets sent that exceeded the buffer.
    pub lost: u32,
    /// RTT, including the queueing delay.
    pub rtt: Duration,
    /// Window after the round, packets.
    pub cwnd: u32,
    /// Slow-start threshold after the round, packets; `u32::MAX` if it was never set.
    pub ssthresh: u32,
}

/// A flow with this algorithm, alone on a bottleneck.
pub struct Rounds<'a> {
    algorithm: &'a mut dyn CongestionControl,
    bottleneck: Bottleneck,
    now: Time,
    delivered: u64,
    lost: u64,
    rtt: Duration,
    in_flight: u32,
    /// Whether the window limited the last round.
    full: bool,
}

impl<'a> Rounds<'a> {
    /// Create a flow after its handshake, before any packet is sent.
    pub fn new(algorithm: &'a mut dyn CongestionControl, bottleneck: Bottleneck) -> Rounds<'a> {
        let rtt = bottleneck.rtt;
        let rounds = Rounds {
            algorithm,
            bottleneck,
            now: Time::ZERO,
            delivered: 1,
            lost: 0,
            rtt,
            in_flight: 0,
            full: true,
        };
        let path = rounds.path(CaState::Open);
        rounds.algorithm.on_established(&path);
        rounds
    }

    /// Packets of the next round: the window, or fewer if pacing allows fewer in one RTT.
    fn allowed(&self) -> u32 {
        let control = self.algorithm.control();
        let paced = control.pacing_rate.map_or(u128::MAX, |r| {
            let bytes = u128::from(r.bytes_per_sec()) * u128::from(self.rtt.as_nanos()) / 1_000_000_000;
            (bytes / u128::from(ideal::MSS)).max(1)
        });
        u128::from(control.cwnd).min(paced) as u32
    }

    /// Whether the flow is limited by its window, as in Linux `tcp_is_cwnd_limited`.
    fn cwnd_limited(&self) -> bool {
        let control = self.algorithm.control();
        let opening = control.cwnd < control.ssthresh && control.cwnd < 2 * self.in_flight;
        self.full || (opening && self.algorithm.traits().slow_start)
    }

    fn path(&self, state: CaState) -> Path {
        Path {
            cwnd_limited: self.cwnd_limited(),
            state,
            srtt: Some(self.rtt),
            min_rtt: Some(self.bottleneck.rtt),
            in_flight: self.in_flight,
            packets_out: self.in_flight,
            next: self.delivered + u64::from(self.in_flight),
            delivered: self.delivered,
            lost: self.lost,
            ..ideal::path(self.now)
        }
    }

    /// Send a window through the queue, and acknowledge it packet by packet.
    fn round(&mut self) -> Round {
        let Bottleneck { bdp, buffer, rtt } = self.bottleneck;
        let sent = self.allowed();
        self.full = sent >= self.algorithm.control().cwnd;
        let lost = sent.saturating_sub(bdp + buffer);
        let arrived = sent - lost;
        self.rtt = rtt * u64::from(arrived.max(bdp)) / u64::from(bdp);
        self.in_flight = sent;
        let reduces = lost > 0 && self.algorithm.traits().recovery == Recovery::Transport;
        let state = if lost > 0 { CaState::Recovery } else { CaState::Open };
        if lost > 0 {
            self.lose(lost, arrived);
            self.algorithm.on_congestion(Congestion::Loss, &self.path(CaState::Open));
        }
        self.acknowledge(arrived, lost, sent, state, !reduces);
        if lost > 0 {
            self.algorithm.on_recovery_exit(&self.path(CaState::Open));
        }
        if reduces {
            self.algorithm.set_cwnd(self.algorithm.control().ssthresh);
        }
        let control = self.algorithm.control();
        Round { sent, lost, rtt: self.rtt, cwnd: control.cwnd, ssthresh: control.ssthresh }
    }

    /// Mark as lost all packets of a round after its first `arrived` packets.
    fn lose(&mut self, lost: u32, arrived: u32) {
        let watches = self.algorithm.traits().watches_losses;
        for n in 1..=lost {
            self.lost += 1;
            let packet = LostPacket {
                number: self.delivered + u64::from(arrived + n),
                tx_in_flight: arrived + n,
                lost: n,
                app_limited: false,
            };
            let path = self.path(CaState::Open);
            if watches {
                self.algorithm.on_lost(&packet, &path);
            }
        }
    }

    fn acknowledge(&mut self, arrived: u32, lost: u32, sent: u32, state: CaState, may_grow: bool) {
        let (start, before) = (self.now, self.delivered);
        for n in 1..=arrived {
            self.now = start + self.rtt * u64::from(n) / u64::from(arrived);
            self.delivered += 1;
            let lost = if n == 1 { lost } else { 0 };
            let sample = RateSample {
                prior_delivered: before,
                lost,
                tx_in_flight: sent,
                ..ideal::sample(n, self.now.since(start))
            };
            let ack = Ack {
                lost,
                rtt: Some(self.rtt),
                one_way_delay: Some(self.rtt - self.bottleneck.rtt / 2),
                prior_in_flight: sent,
                may_grow,
                una: self.delivered,
                rate: (n == arrived).then_some(sample),
                ..ideal::ack(1)
            };
            let path = self.path(state);
            self.algorithm.on_ack(&ack, &path);
        }
    }
}

impl Iterator for Rounds<'_> {
    type Item = Round;

    /// Run the next round trip; the iterator is infinite.
    fn next(&mut self) -> Option<Round> {
        Some(self.round())
    }
}

/// Format the first `count` round trips of an algorithm on the default bottleneck, one line each.
pub fn table(algorithm: &mut dyn CongestionControl, count: usize) -> String {
    let mut text = String::from("round  sent  lost  rtt_ms  cwnd  ssthresh\n");
    for (n, round) in Rounds::new(algorithm, Bottleneck::default()).take(count).enumerate() {
        let Round { sent, lost, rtt, cwnd, ssthresh } = round;
        let rtt_ms = rtt.as_micros() / 1_000;
        let ssthresh = if ssthresh == u32::MAX { "-".to_owned() } else { ssthresh.to_string() };
        let line = format!("{n:>5} {sent:>5} {lost:>5} {rtt_ms:>7} {cwnd:>5} {ssthresh:>9}");
        writeln!(text, "{line}").expect("text grows");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Control, Probe, Traits, Undo, Window};

    /// An algorithm with a constant window that records lost packets.
    #[derive(Default)]
    struct Watcher {
        lost: Vec<LostPacket>,
        told: u32,
    }

    impl CongestionControl for Watcher {
        fn on_ack(&mut self, ack: &Ack, _path: &Path) {
            self.told += ack.lost;
        }

        fn on_lost(&mut self, lost: &LostPacket, path: &Path) {
            assert_eq!((self.told, path.lost), (0, u64::from(lost.lost)));
            self.lost.push(*lost);
        }

        fn on_congestion(&mut self, _congestion: Congestion, _path: &Path) {
            assert!(!self.lost.is_empty());
        }

        fn on_undo(&mut self, _undo: &Undo, _path: &Path) {}

        fn set_cwnd(&mut self, _cwnd: u32) {}

        fn control(&self) -> Control {
            Control::window(&Window { cwnd: 103, ..Window::default() })
        }

        fn observe(&self, _probe: &mut Probe<'_>) {}

        fn traits(&self) -> Traits {
            Traits { recovery: Recovery::Algorithm, watches_losses: true, ..Traits::default() }
        }
    }

    #[test]
    fn who_watches_losses_hears_of_every_packet_that_did_not_fit_before_anything_else() {
        let mut watcher = Watcher::default();
        Rounds::new(&mut watcher, Bottleneck::default()).next();
        assert_eq!(watcher.lost.iter().map(|l| l.tx_in_flight).collect::<Vec<_>>(), [101, 102, 103]);
        assert_eq!(watcher.told, 3);
    }
}
