//! Delayed acknowledgements at an end that also sends data, on which acknowledgements can be piggybacked (Linux
//! `tcp_event_data_recv`, `tcp_event_data_sent`, `tcp_send_delayed_ack`, `tcp_delack_timer_handler`).

use super::Receiver;
use crate::{Riding, Segment};
use units::{Duration, Time};

/// Delay of a delayed ACK (`TCP_DELACK_MIN`).
pub(super) const DELAYED_ACK: Duration = Duration::from_millis(40);
/// Longest delay of a delayed ACK (`TCP_DELACK_MAX`).
const LONGEST: Duration = Duration::from_millis(200);

/// Delayed-ACK state of an end that also sends data.
#[derive(Debug)]
pub(super) struct Interactive {
    /// Time that an acknowledgement waits for data to be piggybacked on (`icsk_ack.ato`).
    timeout: Duration,
    /// Time at which data last arrived; `NEVER` before any data.
    last: Time,
    /// Whether this end sends data soon after it receives data, so that acknowledgements wait
    /// (`inet_csk_in_pingpong_mode`).
    pub answers: bool,
    /// Smoothed RTT of the sender at this end.
    srtt: Option<Duration>,
    /// RTO of the sender at this end.
    rto: Duration,
}

impl Interactive {
    fn new() -> Interactive {
        let rto = Duration::from_secs(1);
        Interactive { timeout: DELAYED_ACK, last: Time::NEVER, answers: false, srtt: None, rto }
    }

    /// Adapt the timeout to arriving data. True if the data is the first of the connection, or follows a pause
    /// longer than the RTO, after which the other side slow-starts again.
    pub fn receive(&mut self, now: Time) -> bool {
        let (first, gap) = (self.last == Time::NEVER, now.since(self.last));
        self.last = now;
        if first {
            return true;
        }
        if gap <= DELAYED_ACK / 2 {
            self.timeout = self.timeout / 2 + DELAYED_ACK / 2;
        } else if gap < self.timeout {
            self.timeout = (self.timeout / 2 + gap).min(self.rto);
        }
        gap >= self.timeout && gap > self.rto
    }

    /// Record that data is sent. The data counts as an answer if it follows received data within the timeout. One
    /// answer is enough for the interactive mode (`inet_csk_inc_pingpong_cnt`).
    fn send(&mut self, now: Time) {
        self.answers |= self.last != Time::NEVER && now.since(self.last) < self.timeout;
    }

    /// Longest time for which an acknowledgement is held back. Before any data, nothing is held back: `ato` is 0, so the
    /// ACK of a FIN leaves at once (`tcp_send_delayed_ack`).
    pub fn delay(&self) -> Duration {
        if self.last == Time::NEVER {
            return Duration::ZERO;
        }
        let longest = self.srtt.map_or(LONGEST, |srtt| srtt.max(DELAYED_ACK).min(LONGEST));
        self.timeout.min(longest)
    }

    /// Adapt the timeout to an acknowledgement that left without data.
    pub fn miss(&mut self) {
        self.timeout = if self.answers { DELAYED_ACK } else { (self.timeout * 2).min(self.rto) };
        self.answers = false;
    }

    /// Leave the interactive mode for quick ACKs (`tcp_enter_quickack_mode`).
    pub fn hurry(&mut self) {
        self.answers = false;
        self.timeout = DELAYED_ACK;
    }
}

impl Receiver {
    /// Turn this receiver into a receiver at an end that also sends data.
    pub fn interactive(mut self) -> Receiver {
        self.interactive = Some(Box::new(Interactive::new()));
        self
    }

    /// Process the other side's SYN or SYN-ACK with the timestamp `stamp`.
    pub fn on_syn(&mut self, now: Time, stamp: u32) {
        self.rtt.answered = Some(now);
        self.echo = stamp;
    }

    /// Copy the smoothed RTT and the RTO from the sender at this end.
    pub fn learn(&mut self, srtt: Option<Duration>, rto: Duration) {
        if let Some(interactive) = &mut self.interactive {
            (interactive.srtt, interactive.rto) = (srtt, rto);
        }
    }

    /// The acknowledgement to piggyback on `len` bytes of data that leave now (`tcp_event_ack_sent`). `None` while
    /// there are SACK blocks to report, which are sent in a separate ACK.
    pub fn ride(&mut self, now: Time, len: u16, out: &mut Vec<Segment>) -> Option<Riding> {
        if let Some(interactive) = self.interactive.as_mut().filter(|_| len > 0) {
            interactive.send(now);
        }
        if self.dsack.is_some() || !self.recent.is_empty() {
            self.acknowledge(out);
            return None;
        }
        let riding = self.riding();
        self.acknowledged(u32::from(self.unacked > 0));
        Some(riding)
    }

    /// Send the acknowledgement that is held back, if any.
    pub fn acknowledge(&mut self, out: &mut Vec<Segment>) {
        if self.unacked > 0 || self.compressed > 0 || self.dsack.is_some() {
            self.send_ack(out);
        }
    }

    /// Whether the other side has closed and all its packets have arrived.
    pub fn is_finished(&self) -> bool {
        self.fin.is_some_and(|fin| fin < self.next)
    }

    /// Process packet `seq` with `len` bytes, with or without a FIN. True if the application reads immediately, so that
    /// the packet must be acknowledged now (`tcp_cleanup_rbuf` after `ICSK_ACK_PUSHED`). Once everything up to a FIN
    /// has arrived, this end is expected to answer (`tcp_fin`).
    #[cold] // bulk data arrives at ends that send nothing
    pub(super) fn interact(&mut self, now: Time, seq: u32, len: u16, fin: bool) -> bool {
        if fin {
            if self.fin.is_none() && seq < self.next {
                self.dsack = None; // a FIN in order resets the SACK state (`tcp_fin`)
            }
            self.fin = Some(seq);
        }
        let is_finished = self.is_finished();
        let Some(interactive) = &mut self.interactive else { return false };
        interactive.answers |= is_finished;
        if len > 0 && interactive.receive(now) {
            self.quick = self.quick.max(self.window.quick_acks());
        }
        len > 0 && u32::from(len) < self.config.mss
    }

    /// Acknowledge at least the next `packets` packets immediately, each with its own ACK.
    pub(super) fn quicken(&mut self, packets: u32) {
        self.quick = self.quick.max(packets);
        if let Some(interactive) = &mut self.interactive {
            interactive.hurry();
        }
    }

    pub(super) fn expects_to_answer(&self) -> bool {
        self.interactive.as_ref().is_some_and(|interactive| interactive.answers)
    }
}
