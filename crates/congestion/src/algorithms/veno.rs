//! # Veno
//!
//! ## Idea
//! Reno that decides at each loss, by Vegas's queue estimate, whether the path was congested. If few packets are
//! queued, the loss is assumed to be random (on a radio link, for instance) and reduces the window by a fifth instead
//! of half.
//!
//! ## Source and revision
//! Behaviour of Linux 7.2 `net/ipv4/tcp_veno.c`; Fu and Liew, "TCP Veno: TCP Enhancement for Transmission Over
//! Wireless Access Networks", IEEE JSAC 21(2), 2003.
//!
//! ## Signals
//! Loss, classic ECN marks, RTT (the RTT of the last ACK compared with the smallest RTT since the flow was last
//! idle).
//!
//! ## State diagram
//! slow start → (cwnd ≥ ssthresh) → growth by one packet per round, or by one packet every second round if three
//! packets or more are queued → (congestion) → ssthresh = 4/5 cwnd if fewer than three packets are queued, else cwnd
//! / 2. Outside the Open state Veno grows like Reno.
//!
//! ## Deviations from the source
//! No deviation from Linux is known. Linux and this implementation share these deviations from the paper:
//!
//! - The queue is estimated from the RTT of the present ACK, not from the smallest RTT of the round.
//! - During an episode, the estimate of the queue from before the episode is used.
//! - In the congested region, slightly more than two windows of packets are acknowledged per packet of growth.
//! - The first two RTT samples of every 65,536 give Reno's growth.
//!
//! ## Validated against
//! Linux 7.2 in virtual time (`tests/differential`); the window under random loss
//! (`tests/theory/test_delay_based.py`). The window is 1.5 times Reno's at 1 % loss and 1.7 times at 0.1 %. The law
//! of AIMD(1, 4/5) gives 1.73, and Linux 7.2 has 1.54 at 1 %. Every recovery has a round without growth, which costs
//! more if reductions are frequent.

use crate::delay::RttWatch;
use crate::registry::Algorithm;
use crate::window::MIN_CWND;
use crate::{Ack, Congestion, Path, Probe, Sent, Window, WindowAlgorithm};
use params::params;

params! {
    /// Parameters of Veno.
    pub struct VenoParams {
        /// Queue below which a loss counts as random.
        beta: u32 = 3, "packets", 1..=1000;
    }
}

/// A Reno sender that distinguishes random loss from congestion.
pub struct Veno {
    beta_half_packets: u32,
    window: Window,
    watch: RttWatch,
    /// Number of RTT samples so far; wraps as in Linux.
    samples: u16,
    /// Estimated queue at the last ACK that could grow the window, half packets.
    queued_half_packets: u32,
    /// Whether the next full window of ACKs adds a packet.
    add_next: bool,
}

impl Algorithm for Veno {
    type Params = VenoParams;
    const TITLE: &'static str = "Veno (Reno that distinguishes random loss from congestion)";
    const SOURCE: &'static str = "Fu and Liew 2003; Linux net/ipv4/tcp_veno.c";

    fn new(params: VenoParams, _seed: u64) -> Veno {
        Veno {
            beta_half_packets: 2 * params.beta,
            window: Window::default(),
            watch: RttWatch::default(),
            samples: 0,
            queued_half_packets: 0,
            add_next: true,
        }
    }
}

impl Veno {
    fn is_congested(&self) -> bool {
        self.queued_half_packets >= self.beta_half_packets
    }

    fn estimate_queue(&mut self) {
        let window = 2 * u64::from(self.window.cwnd);
        let full = window * u64::from(self.watch.base_us) / u64::from(self.watch.min_us);
        self.queued_half_packets = (window - full) as u32;
    }

    fn grow_by_queue(&mut self, mut acked: u32) {
        self.estimate_queue();
        if self.window.in_slow_start() {
            acked = self.window.slow_start(acked);
        }
        if acked > 0 && !self.is_congested() {
            self.window.additive_increase(self.window.cwnd, acked);
        } else if acked > 0 && self.window.full_window_acked(acked) {
            self.window.cwnd += u32::from(self.add_next);
            self.add_next = !self.add_next;
        }
        self.window.cwnd = self.window.cwnd.max(MIN_CWND);
    }
}

impl WindowAlgorithm for Veno {
    has_window!();

    fn measure(&mut self, ack: &Ack, path: &Path) {
        self.watch.digest(ack, path);
        self.samples = self.samples.wrapping_add(u16::from(ack.rtt.is_some()));
    }

    fn grow(&mut self, ack: &Ack, _path: &Path) {
        if !self.watch.enabled() {
            return self.window.reno(ack.acked);
        }
        if self.samples <= 2 {
            self.window.reno(ack.acked);
        } else {
            self.grow_by_queue(ack.acked);
        }
        self.watch.forget_round();
    }

    fn reduced(&mut self, _congestion: Congestion, _path: &Path) -> u32 {
        self.watch.suspend();
        let cwnd = self.window.cwnd;
        if self.is_congested() { cwnd / 2 } else { (u64::from(cwnd) * 4 / 5) as u32 }
    }

    fn timed_out(&mut self, _path: &Path) {
        self.watch.suspend();
    }

    fn sending(&mut self, sent: &Sent, path: &Path) {
        if sent.from_idle {
            self.watch.restart(path);
            self.add_next = true;
        }
    }

    fn variables(&self, probe: &mut Probe<'_>) {
        self.watch.observe(probe);
        probe.see("queued", f64::from(self.queued_half_packets) / 2.0, "packets");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CongestionControl;
    use crate::test_drive::Drive;

    const BASE_US: u64 = 40_000;
    /// An RTT with 100 * (1 - 40/50) = 20 packets queued.
    const CONGESTED_US: u64 = 50_000;

    /// A flow with 100 packets in congestion avoidance, with a known base RTT.
    fn steady() -> (Veno, Drive) {
        let (mut veno, mut drive) = (Veno::new(VenoParams::default(), 0), Drive::new());
        veno.set_cwnd(100);
        veno.window.ssthresh = 20;
        drive.round(&mut veno, BASE_US);
        veno.set_cwnd(100);
        (veno, drive)
    }

    #[test]
    fn a_loss_without_a_queue_costs_a_fifth() {
        let (mut veno, mut drive) = steady();
        assert_eq!(drive.lose(&mut veno), 80);
    }

    #[test]
    fn a_loss_with_a_queue_costs_half() {
        let (mut veno, mut drive) = steady();
        drive.ack(&mut veno, 100, 1, CONGESTED_US);
        assert_eq!(drive.lose(&mut veno), 50);
    }

    #[test]
    fn three_packets_queued_are_congestion_and_fewer_are_not() {
        let (mut veno, mut drive) = steady();
        drive.ack(&mut veno, 100, 1, 41_000); // 2.4 packets queued, rounded up to half packets
        assert!(!veno.is_congested());
        drive.ack(&mut veno, 100, 1, 41_300); // 3.1 packets queued
        assert!(veno.is_congested());
    }

    #[test]
    fn without_a_queue_it_grows_by_a_packet_per_round() {
        let (mut veno, mut drive) = steady();
        drive.rounds(&mut veno, 20, BASE_US);
        assert_eq!(veno.window.cwnd, 120);
    }

    #[test]
    fn with_a_queue_it_grows_by_half_a_packet_per_round() {
        let (mut veno, mut drive) = steady();
        drive.rounds(&mut veno, 20, CONGESTED_US);
        let grown = veno.window.cwnd - 100;
        assert!((9..=10).contains(&grown), "{grown} packets in 20 rounds");
    }
}
