//! Delayed acknowledgements at an end that sends data, too, on which they can ride (Linux `tcp_event_data_recv`,
//! `tcp_event_data_sent`, `tcp_send_delayed_ack`, `tcp_delack_timer_handler`).

use super::Receiver;
use super::acknowledgement::DELAYED_ACK;
use crate::{Riding, Segment};
use units::{Duration, Time};

/// The longest delay (`TCP_DELACK_MAX`).
const LONGEST: Duration = Duration::from_millis(200);

/// How such an end acknowledges.
#[derive(Debug)]
pub(super) struct Interactive {
    /// How long an acknowledgement waits for data to ride on (`icsk_ack.ato`).
    timeout: Duration,
    /// When data last came; `NEVER` at first.
    last: Time,
    /// Data goes out soon after data has come: acknowledgements wait (`inet_csk_in_pingpong_mode`).
    pub answers: bool,
    /// Of the sender at this end.
    srtt: Option<Duration>,
    rto: Duration,
}

impl Interactive {
    fn new() -> Interactive {
        let rto = Duration::from_secs(1);
        Interactive { timeout: DELAYED_ACK, last: Time::NEVER, answers: false, srtt: None, rto }
    }

    /// Data comes. True if it is the first after a pause, whose sender begins anew.
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

    /// Data goes out: an answer if it comes soon enough (`inet_csk_inc_pingpong_cnt`; one is enough).
    fn send(&mut self, now: Time) {
        self.answers |= self.last != Time::NEVER && now.since(self.last) < self.timeout;
    }

    /// How long an acknowledgement may wait.
    pub fn delay(&self) -> Duration {
        let longest = self.srtt.map_or(LONGEST, |srtt| srtt.max(DELAYED_ACK).min(LONGEST));
        self.timeout.min(longest)
    }

    /// No data came to ride on.
    pub fn miss(&mut self) {
        self.timeout = if self.answers { DELAYED_ACK } else { (self.timeout * 2).min(self.rto) };
        self.answers = false;
    }

    /// Something is wrong: acknowledge at once for a while (`tcp_enter_quickack_mode`).
    pub fn hurry(&mut self) {
        self.answers = false;
        self.timeout = DELAYED_ACK;
    }
}

impl Receiver {
    /// One at an end that sends data, too.
    pub fn interactive(mut self) -> Receiver {
        self.interactive = Some(Box::new(Interactive::new()));
        self
    }

    /// The other side's SYN or SYN-ACK has come; it bears this timestamp.
    pub fn on_syn(&mut self, now: Time, stamp: u32) {
        self.rtt.answered = Some(now);
        self.echo = stamp;
    }

    /// What the sender at this end knows of the path.
    pub fn learn(&mut self, srtt: Option<Duration>, rto: Duration) {
        if let Some(interactive) = &mut self.interactive {
            (interactive.srtt, interactive.rto) = (srtt, rto);
        }
    }

    /// The acknowledgement that rides on data of so many bytes that leaves now (`tcp_event_ack_sent`); none while there
    /// are selective ones, which go by themselves.
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

    /// Acknowledges what waits for that.
    pub fn acknowledge(&mut self, out: &mut Vec<Segment>) {
        if self.unacked > 0 || self.compressed > 0 || self.dsack.is_some() {
            self.send_ack(out);
        }
    }

    /// The other side has closed, and all that it sent has arrived.
    pub fn is_finished(&self) -> bool {
        self.fin.is_some_and(|fin| fin < self.next)
    }

    /// Packet `seq` of so many bytes has come, with or without a FIN. True if the application reads at once what there is,
    /// so that it is acknowledged (`tcp_cleanup_rbuf` after `ICSK_ACK_PUSHED`). When all has come up to a FIN, an answer is
    /// expected: that of this end (`tcp_fin`).
    #[cold] // bulk data come to ends that send nothing
    pub(super) fn interact(&mut self, now: Time, seq: u32, len: u16, fin: bool) -> bool {
        if fin {
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

    /// Acknowledges at least so many packets at once.
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
