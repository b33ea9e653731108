//! The window of loss-based algorithms: slow start and additive increase as in Linux.

use units::Probe;

/// Smallest window of loss-based algorithms, in packets (RFC 5681).
pub(crate) const MIN_CWND: u32 = 2;
/// Initial window, in packets (RFC 6928).
pub(crate) const INITIAL_CWND: u32 = 10;

/// The values cwnd and ssthresh, with the growth laws that loss-based algorithms share (Linux `tcp_slow_start`,
/// `tcp_cong_avoid_ai` in `net/ipv4/tcp_cong.c`; RFC 5681, with the byte counting of RFC 3465 in packets).
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Congestion window, packets.
    pub cwnd: u32,
    /// Slow-start threshold, packets; `u32::MAX` before the first reduction.
    pub ssthresh: u32,
    /// Acknowledged packets not yet turned into growth (Linux `snd_cwnd_cnt`).
    pub(crate) credit: u32,
}

impl Default for Window {
    fn default() -> Self {
        Window { cwnd: INITIAL_CWND, ssthresh: u32::MAX, credit: 0 }
    }
}

impl Window {
    /// Report the window, the slow-start threshold once the threshold is set, and whether the flow is in slow
    /// start.
    pub fn observe(&self, probe: &mut Probe<'_>) {
        probe.state("state", if self.in_slow_start() { "SlowStart" } else { "Avoidance" });
        probe.see("cwnd", f64::from(self.cwnd), "packets");
        if self.ssthresh != u32::MAX {
            probe.see("ssthresh", f64::from(self.ssthresh), "packets");
        }
    }

    /// Whether the window is below ssthresh.
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Grow by one packet per acknowledged packet, up to ssthresh. Return the acknowledged packets that were not
    /// used for growth.
    pub fn slow_start(&mut self, acked: u32) -> u32 {
        let grown = self.cwnd.saturating_add(acked).min(self.ssthresh);
        let left = acked - (grown - self.cwnd);
        self.cwnd = grown;
        left
    }

    /// Grow by slow start, if the window is below ssthresh. Return the packets left over for congestion avoidance.
    pub fn slow_start_first(&mut self, acked: u32) -> u32 {
        if self.in_slow_start() { self.slow_start(acked) } else { acked }
    }

    /// Grow by slow start, then by one packet per acknowledged window (RFC 5681).
    pub fn reno(&mut self, acked: u32) {
        let left = self.slow_start_first(acked);
        if left > 0 {
            self.additive_increase(self.cwnd, left);
        }
    }

    /// Grow by one packet for every `per_increment` acknowledged packets. Credit from a time when `per_increment` was
    /// larger counts for one packet only, so that the window never jumps.
    pub fn additive_increase(&mut self, per_increment: u32, acked: u32) {
        if self.credit >= per_increment {
            self.credit = 0;
            self.cwnd += 1;
        }
        self.credit += acked;
        if self.credit >= per_increment {
            let increments = self.credit / per_increment;
            self.credit -= increments * per_increment;
            self.cwnd += increments;
        }
    }

    /// Count acknowledged packets. True if a full window had been counted before this call; the count then
    /// restarts.
    pub fn full_window_acked(&mut self, acked: u32) -> bool {
        let full = self.credit >= self.cwnd;
        self.credit = if full { 0 } else { self.credit + acked };
        full
    }

    /// Raise a slow-start threshold below three quarters of the present window to this value (Linux
    /// `tcp_current_ssthresh`).
    pub fn raise_ssthresh(&mut self) {
        self.ssthresh = self.ssthresh.max(self.cwnd / 2 + self.cwnd / 4);
    }

    /// Discard the credit when an episode begins.
    pub fn forget_credit(&mut self) {
        self.credit = 0;
    }

    /// Set the window to the value that the transport chooses, but to at least one packet.
    pub fn set_cwnd(&mut self, cwnd: u32) {
        self.cwnd = cwnd.max(1);
    }

    /// Reduce the window after an idle time, and raise the slow-start threshold to three quarters of the old
    /// window.
    pub fn restart(&mut self, cwnd: u32) {
        self.raise_ssthresh();
        self.set_cwnd(cwnd);
    }

    /// Restore the window and the slow-start threshold from before a reduction, unless the present values are
    /// larger.
    pub fn undo(&mut self, undo: &crate::Undo) {
        self.cwnd = self.cwnd.max(undo.prior_cwnd);
        self.ssthresh = self.ssthresh.max(undo.prior_ssthresh);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_start_stops_at_ssthresh_and_returns_the_rest() {
        let mut w = Window { cwnd: 10, ssthresh: 12, credit: 0 };
        assert_eq!(w.slow_start(5), 3);
        assert_eq!(w.cwnd, 12);
    }

    #[test]
    fn a_window_of_acks_adds_one_packet() {
        let mut w = Window { cwnd: 10, ssthresh: 5, credit: 0 };
        for _ in 0..10 {
            w.additive_increase(10, 1);
        }
        assert_eq!(w.cwnd, 11);
    }

    #[test]
    fn old_credit_is_released_gently() {
        let mut w = Window { cwnd: 100, ssthresh: 5, credit: 0 };
        w.additive_increase(100, 90);
        w.additive_increase(10, 1); // 90 credits, earned at 100 per packet, give 1 packet, not 9
        assert_eq!(w.cwnd, 101);
    }
}
