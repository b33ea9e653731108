//! One of the many connections of a flow.

use super::application::Job;
use crate::transport::Transport;
use congestion::CongestionControl;
use tcp::{Receiver, Segment, Sender};
use units::{Duration, Time};

/// One direction of a connection: who has data, and who gets it.
struct Half {
    sender: Sender,
    receiver: Receiver,
}

impl Half {
    fn new(transport: &Transport, algorithm: Box<dyn CongestionControl>) -> Half {
        let receiver = Receiver::new(transport.receiver.clone());
        Half { sender: Sender::new(transport.sender.clone(), algorithm), receiver }
    }

    fn next(&self) -> Time {
        self.sender.next_timer().min(self.receiver.next_timer())
    }
}

/// A connection that carries data from the sender of its flow to the receiver, and requests the other way if they are asked
/// for.
///
/// Each direction is a sender and a receiver of its own, coupled by the application alone: acknowledgements do not ride
/// on data, and the server answers a SYN with one of its own where TCP puts both into one segment. That costs small
/// packets, but no time: either direction is open when it would be.
pub struct Connection {
    /// Counted from 1, in the order in which the flow opened them.
    pub number: u32,
    data: Half,
    requests: Option<Box<Half>>,
    /// What goes on at present.
    pub transfer: Option<Progress>,
    /// The earliest wake-up that was asked for.
    pub asked: Time,
    opened: bool,
}

/// A transfer that goes on.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Which of the flow's, from 0.
    pub row: usize,
    /// Payload that the receiver had and will have got over this connection in all.
    pub span: (u64, u64),
    /// Payload of requests that the other side must have got before it answers.
    request: Option<u64>,
    /// Packets sent and sent again before it began.
    pub before: (u64, u64),
}

/// What a connection has just sent.
#[derive(Default)]
pub struct Sent {
    /// From the side of the flow's sender.
    pub forward: Vec<Segment>,
    /// From the side of its receiver.
    pub backward: Vec<Segment>,
}

impl Connection {
    /// A connection that is not open yet; `algorithms`: of the sender, and of whoever sends requests.
    pub fn new(
        number: u32,
        transport: &Transport,
        sender: Box<dyn CongestionControl>,
        requester: Option<Box<dyn CongestionControl>>,
    ) -> Connection {
        let requests = requester.map(|algorithm| Box::new(Half::new(transport, algorithm)));
        let data = Half::new(transport, sender);
        Connection { number, data, requests, transfer: None, asked: Time::NEVER, opened: false }
    }

    /// When it wants to run.
    pub fn next(&self) -> Time {
        self.data.next().min(self.requests.as_ref().map_or(Time::NEVER, |half| half.next()))
    }

    /// Opens the connection: whoever speaks first sends a SYN.
    pub fn open(&mut self, now: Time, sent: &mut Sent) {
        match &mut self.requests {
            Some(half) => half.sender.open(now, &mut sent.backward),
            None => self.open_data(now, sent),
        }
    }

    fn open_data(&mut self, now: Time, sent: &mut Sent) {
        if !self.opened {
            self.opened = true;
            self.data.sender.open(now, &mut sent.forward);
        }
    }

    /// Begins a transfer, number `row` of the flow's.
    pub fn begin(&mut self, now: Time, row: usize, job: Job, sent: &mut Sent) {
        let got = self.data.receiver.delivered_bytes();
        let stats = self.data.sender.stats();
        let before = (stats.sent_packets, stats.retransmitted_packets);
        let goal = got + job.bytes;
        let mut progress = Progress { row, span: (got, goal), request: None, before };
        match &mut self.requests {
            Some(half) => {
                let asked = half.receiver.delivered_bytes() + job.request;
                progress.request = Some(asked);
                half.sender.offer(now, Some(asked), &mut sent.backward);
            }
            None => self.data.sender.offer(now, Some(goal), &mut sent.forward),
        }
        self.transfer = Some(progress);
    }

    /// A segment reaches one end: that of the flow's receiver if it went `forward`. Returns a sample of the RTT.
    pub fn receive(
        &mut self,
        now: Time,
        segment: &Segment,
        ce: bool,
        forward: bool,
        sent: &mut Sent,
    ) -> Option<Duration> {
        let carries = matches!(segment, Segment::Syn { .. } | Segment::Data { .. });
        match (forward, carries, &mut self.requests) {
            (true, true, _) => self.data.receiver.on_segment(now, segment, ce, &mut sent.backward),
            (true, false, Some(half)) => half.sender.on_segment(now, segment, &mut sent.backward),
            (false, true, Some(half)) => {
                half.receiver.on_segment(now, segment, ce, &mut sent.forward);
                self.open_data(now, sent);
            }
            (false, false, _) => {
                self.data.sender.on_segment(now, segment, &mut sent.forward);
                return self.data.sender.last_rtt();
            }
            (_, _, None) => {}
        }
        None
    }

    /// Runs every timer that is due.
    pub fn on_timer(&mut self, now: Time, sent: &mut Sent) {
        if self.data.sender.next_timer() <= now {
            self.data.sender.on_timer(now, &mut sent.forward);
        }
        if self.data.receiver.next_timer() <= now {
            self.data.receiver.on_timer(now, &mut sent.backward);
        }
        if let Some(half) = &mut self.requests {
            if half.sender.next_timer() <= now {
                half.sender.on_timer(now, &mut sent.backward);
            }
            if half.receiver.next_timer() <= now {
                half.receiver.on_timer(now, &mut sent.forward);
            }
        }
    }

    /// Answers a request that has arrived whole.
    pub fn answer(&mut self, now: Time, sent: &mut Sent) {
        if let (Some(progress), Some(half)) = (&mut self.transfer, &self.requests)
            && progress.request.is_some_and(|asked| half.receiver.delivered_bytes() >= asked)
        {
            progress.request = None;
            self.data.sender.offer(now, Some(progress.span.1), &mut sent.forward);
        }
    }

    /// The transfer is complete: whoever asked for it has all of it, or whoever sent it unasked knows that it arrived.
    pub fn is_done(&self) -> bool {
        self.transfer.is_some_and(|progress| match self.requests {
            Some(_) => self.delivered() >= progress.span.1,
            None => self.data.sender.is_done(),
        })
    }

    /// Payload that the flow's receiver has got in order.
    pub fn delivered(&self) -> u64 {
        self.data.receiver.delivered_bytes()
    }

    /// Who sends the data.
    pub fn sender(&self) -> &Sender {
        &self.data.sender
    }
}
