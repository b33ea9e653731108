//! One end of a connection that carries data both ways.

use crate::{Receiver, Segment, Sender};
use units::{Duration, Time};

/// A sender and a receiver at the same end of a connection. One handshake opens both directions, acknowledgements
/// are piggybacked on data, and a FIN closes each direction.
pub struct Endpoint<'a> {
    /// Sender of the outgoing direction.
    pub sender: &'a mut Sender,
    /// Receiver of the incoming direction.
    pub receiver: &'a mut Receiver,
}

impl Endpoint<'_> {
    /// Process an arriving segment; `ce`: the segment arrived with a CE mark. Return an RTT sample, if there is one.
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
                self.sender.confirm(now, out); // the first `HandshakeAck` was lost
                None
            }
            Segment::SynAck { stamp, .. } => {
                self.receiver.on_syn(now, stamp);
                self.inform(now, segment, out)
            }
            Segment::HandshakeAck { .. } | Segment::Ack { .. } => {
                self.receiver.note_bare(ce);
                self.inform(now, segment, out)
            }
            Segment::Data { riding, .. } => {
                // A piggybacked acknowledgement that acknowledges nothing new does not count as a duplicate ACK
                // (Linux `FLAG_DATA`).
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

    /// Pass data to the receiver. If the sender has just sent data in answer to this segment, no separate ACK follows,
    /// because this data has the acknowledgement: Linux calls `tcp_data_snd_check` before `tcp_ack_snd_check`. The last
    /// FIN is acknowledged immediately (`tcp_fin` in FIN-WAIT).
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

    /// Run every timer that is due.
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

    /// Send the SYN.
    pub fn open(&mut self, now: Time, out: &mut Vec<Segment>) {
        self.sender.open(now, out);
    }

    /// Set the bytes that the application has written so far (`None`: unlimited).
    pub fn write(&mut self, now: Time, bytes: Option<u64>, out: &mut Vec<Segment>) {
        let from = out.len();
        self.sender.offer(now, bytes, out);
        self.load(now, from, out);
    }

    /// Close the outgoing direction after the bytes written so far.
    pub fn close(&mut self, now: Time, out: &mut Vec<Segment>) {
        let from = out.len();
        self.sender.close(now, out);
        self.load(now, from, out);
    }

    /// Record that a packet of `bytes` has left the NIC of the host. True if the sender was waiting for the departure.
    pub fn on_left_host(&mut self, now: Time, bytes: u32, out: &mut Vec<Segment>) -> bool {
        let from = out.len();
        let goes_on = self.sender.on_left_host(now, bytes, out);
        self.load(now, from, out);
        goes_on
    }

    /// Piggyback acknowledgements on the segments from index `from` on.
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
