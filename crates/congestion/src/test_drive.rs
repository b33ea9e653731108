//! A driver of algorithms for unit tests, without a network.

use crate::test_support::path_at;
use crate::{Ack, CaState, Congestion, CongestionControl, Path, RateSample, Sent};
use units::{Duration, Time};

/// Delay from the receiver to the sender, which is part of every RTT.
pub(crate) const ROUTE_BACK: Duration = Duration::from_millis(10);

/// A path without a network. Every window is acknowledged packet by packet, with an RTT that the test sets.
pub(crate) struct Drive {
    now: Time,
    una: u64,
    state: CaState,
}

impl Drive {
    pub(crate) fn new() -> Drive {
        Drive { now: Time::ZERO, una: 1, state: CaState::Open }
    }

    /// The path with `in_flight` packets outstanding.
    pub(crate) fn path(&self, in_flight: u32) -> Path {
        Path {
            now: self.now,
            state: self.state,
            in_flight,
            packets_out: in_flight,
            next: self.una + u64::from(in_flight),
            delivered: self.una,
            delivered_time: self.now,
            ..path_at(0)
        }
    }

    /// Run one round trip: one ACK for each packet of a window, all with this RTT.
    pub(crate) fn round(&mut self, algorithm: &mut impl CongestionControl, rtt_us: u64) {
        let window = algorithm.control().cwnd;
        for _ in 0..window {
            self.now += Duration::from_nanos(rtt_us * 1_000 / u64::from(window));
            let in_flight = algorithm.control().cwnd.max(window); // packets allowed by growth are sent immediately
            self.ack(algorithm, in_flight, 1, rtt_us);
        }
    }

    /// Run [`round`](Self::round) `n` times.
    pub(crate) fn rounds(&mut self, algorithm: &mut impl CongestionControl, n: u32, rtt_us: u64) {
        (0..n).for_each(|_| self.round(algorithm, rtt_us));
    }

    /// Process one ACK of `acked` packets, with `in_flight` packets in flight before.
    pub(crate) fn ack(
        &mut self,
        algorithm: &mut impl CongestionControl,
        in_flight: u32,
        acked: u32,
        rtt_us: u64,
    ) {
        self.una += u64::from(acked);
        let rtt = Duration::from_micros(rtt_us);
        let ack = Ack {
            acked,
            cumulative: acked,
            prior_state: self.state,
            rtt: Some(rtt),
            one_way_delay: Some(rtt.saturating_sub(ROUTE_BACK)),
            prior_in_flight: in_flight,
            may_grow: !matches!(self.state, CaState::Cwr | CaState::Recovery),
            advanced: true,
            una: self.una,
            rate: Some(RateSample {
                delivered: in_flight,
                interval: Some(rtt),
                app_limited: false,
                prior_delivered: self.una.saturating_sub(u64::from(in_flight)),
                lost: 0,
                marked: 0,
                tx_in_flight: in_flight,
            }),
            ..Ack::default()
        };
        algorithm.on_ack(&ack, &self.path(in_flight - acked));
    }

    /// Run a loss and the recovery from that loss. Return the slow-start threshold after recovery.
    pub(crate) fn lose(&mut self, algorithm: &mut impl CongestionControl) -> u32 {
        let window = algorithm.control().cwnd;
        algorithm.on_congestion(Congestion::Loss, &self.path(window));
        let ssthresh = algorithm.control().ssthresh;
        algorithm.set_cwnd(ssthresh);
        algorithm.on_recovery_exit(&self.path(ssthresh));
        ssthresh
    }

    /// Run a timeout. Afterwards only the retransmission is in flight.
    pub(crate) fn time_out(&mut self, algorithm: &mut impl CongestionControl) {
        algorithm.on_congestion(Congestion::Timeout { first: true }, &self.path(0));
        algorithm.set_cwnd(1);
    }

    /// Let the flow be idle for `time`.
    pub(crate) fn idle(&mut self, algorithm: &mut impl CongestionControl, time: Duration) {
        self.now += time;
        let sent = Sent { packets: 1, from_idle: true, gap: time };
        algorithm.on_send(&sent, &self.path(0));
    }
}
