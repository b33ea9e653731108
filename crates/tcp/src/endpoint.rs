//! One end of a connection that carries data both ways.

use crate::{Receiver, Segment, Sender};
use units::{Duration, Time};

/// A sender and a receiver at the same end: one handshake opens both directions, acknowledgements ride on data, and either
/// direction is closed by a FIN.
pub struct Endpoint<'a> {
    /// Of what goes out.
    pub sender: &'a mut Sender,
    /// Of what comes in.
    pub receiver: &'a mut Receiver,
}

impl Endpoint<'_> {
    /// Digests an arriving segment; `ce`: it was marked on the way. Returns a sample of the RTT.
    pub fn on_segment(
        &mut self,
        now: Time,
        segment: &Segment,
        ce: bool,
        out: &mut Vec<Segment>,
    ) -> Option<Duration> {
        let from = out.len();
        let rtt = match *segment {
            Segment::Syn { stamp } => {
                self.receiver.on_syn(now, stamp);
                self.sender.accept(now, stamp, self.receiver.first_window(), out);
                None
            }
            Segment::SynAck { .. } if self.sender.is_established() => {
                self.sender.confirm(now, out); // the first confirmation was lost
                None
            }
            Segment::SynAck { stamp, .. } => {
                self.receiver.on_syn(now, stamp);
                self.inform(now, segment, out)
            }
            Segment::HandshakeAck { .. } | Segment::Ack { .. } => self.inform(now, segment, out),
            Segment::Data { riding, .. } => {
                // What says nothing new was sent for the data's sake: it is no duplicate (Linux `FLAG_DATA`).
                let news = riding.filter(|riding| self.sender.awaits(riding.ack));
                let rtt = news.and_then(|riding| self.inform(now, &riding.alone(), out));
                self.take(now, segment, ce, out);
                rtt
            }
        };
        self.load(now, from, out);
        rtt
    }

    fn inform(&mut self, now: Time, segment: &Segment, out: &mut Vec<Segment>) -> Option<Duration> {
        self.sender.on_segment(now, segment, out);
        self.receiver.learn(self.sender.srtt(), self.sender.rto());
        self.sender.last_rtt()
    }

    /// Data comes. Its acknowledgement rides on what has just been let go (`tcp_data_snd_check` comes before
    /// `tcp_ack_snd_check`); the last FIN is acknowledged at once (`tcp_fin` in FIN-WAIT).
    fn take(&mut self, now: Time, segment: &Segment, ce: bool, out: &mut Vec<Segment>) {
        let before = out.len();
        self.receiver.on_segment(now, segment, ce, out);
        let rides = matches!(out.get(before.wrapping_sub(1)), Some(Segment::Data { .. }));
        if rides && out.len() == before + 1 && out[before].is_plain_ack() {
            out.pop();
        }
        self.end(out);
    }

    fn end(&mut self, out: &mut Vec<Segment>) {
        if self.receiver.is_finished() && self.sender.is_closing() {
            self.receiver.acknowledge(out);
        }
    }

    /// Runs every timer that is due.
    pub fn on_timer(&mut self, now: Time, out: &mut Vec<Segment>) {
        let from = out.len();
        if self.receiver.next_timer() <= now {
            self.receiver.on_timer(now, out);
            self.end(out);
        }
        if self.sender.next_timer() <= now {
            self.sender.on_timer(now, out);
            self.receiver.learn(self.sender.srtt(), self.sender.rto());
        }
        self.load(now, from, out);
    }

    /// Opens the connection: the other end answers.
    pub fn open(&mut self, now: Time, out: &mut Vec<Segment>) {
        self.sender.open(now, out);
    }

    /// The application has handed out so many bytes by now (`None`: there is always more).
    pub fn write(&mut self, now: Time, bytes: Option<u64>, out: &mut Vec<Segment>) {
        let from = out.len();
        self.sender.offer(now, bytes, out);
        self.load(now, from, out);
    }

    /// The application has no more to send than it has handed out.
    pub fn close(&mut self, now: Time, out: &mut Vec<Segment>) {
        let from = out.len();
        self.sender.close(now, out);
        self.load(now, from, out);
    }

    /// A packet of so many bytes has left the interface of the host. True if the sender had waited for it.
    pub fn on_left_host(&mut self, now: Time, bytes: u32, out: &mut Vec<Segment>) -> bool {
        let from = out.len();
        let goes_on = self.sender.on_left_host(now, bytes, out);
        self.load(now, from, out);
        goes_on
    }

    /// Lets acknowledgements ride on what leaves.
    fn load(&mut self, now: Time, from: usize, out: &mut Vec<Segment>) {
        for n in from..out.len() {
            let mut segment = out[n];
            match &mut segment {
                Segment::Data { len, riding, .. } => *riding = self.receiver.ride(now, *len, out),
                Segment::HandshakeAck { echo, window, .. } => {
                    let riding = self.receiver.riding();
                    (*echo, *window) = (riding.echo, riding.window);
                }
                _ => continue,
            }
            out[n] = segment;
        }
    }
}
