//! A TCP connection: a sender and a receiver at either end.

use super::transport::Transport;
use crate::applications::Job;
use congestion::CongestionControl;
use network::{Direction, Histogram, SamplingTimes};
use tcp::{Endpoint, Receiver, ReceiverConfig, Segment, Sender, SenderConfig};
use units::{Duration, Time};

/// One end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The flow's sender.
    Sender,
    /// The flow's receiver.
    Receiver,
}

impl End {
    /// The end at which packets of a direction arrive.
    #[inline]
    pub fn reached(direction: Direction) -> End {
        match direction {
            Direction::Forward => End::Receiver,
            Direction::Backward => End::Sender,
        }
    }

    /// The end that sends the packets of a direction.
    #[inline]
    pub fn sending(direction: Direction) -> End {
        match direction {
            Direction::Forward => End::Sender,
            Direction::Backward => End::Receiver,
        }
    }

    /// The direction of the packets that this end sends.
    #[inline]
    pub fn direction(self) -> Direction {
        match self {
            End::Sender => Direction::Forward,
            End::Receiver => Direction::Backward,
        }
    }
}

/// One direction of a connection: a sender at one end, a receiver at the other.
#[repr(C)]
struct Half {
    sender: Sender,
    receiver: Receiver,
}

impl Half {
    fn new(sender: &SenderConfig, receiver: &ReceiverConfig, algorithm: Box<dyn CongestionControl>) -> Half {
        let receiver = Receiver::new(receiver.clone());
        Half { sender: Sender::new(sender.clone(), algorithm), receiver }
    }
}

/// The opposite direction of a connection: from the flow's receiver to its sender.
struct Back {
    half: Half,
    /// The end whose application opens and closes the connection.
    client: End,
}

/// A connection that carries data from the sender of its flow to the receiver.
///
/// A connection that lasts as long as its flow has this direction only: the receiver sends only acknowledgements, and
/// the connection is never closed. Every other connection has both directions: one handshake opens both directions,
/// acknowledgements are piggybacked on data, and a FIN closes each direction. The flow's receiver may then send
/// requests; a receiver that sends requests also opens and closes the connection. The end that did not open the
/// connection closes its direction as soon as all data that it has to send are written.
#[repr(C)]
pub struct Connection {
    back: Option<Box<Back>>,
    /// The current transfer.
    pub transfer: Option<Progress>,
    /// Number of the connection, counted from 1 in the order in which the flow opened its connections.
    pub number: u32,
    /// Whether sending of new data has stopped.
    stopped: bool,
    data: Half,
}

/// Configuration of the opposite direction of a connection.
pub struct Opposite {
    /// Whether the receiver sends requests.
    pub requests: bool,
    /// Congestion control algorithm of the opposite direction.
    pub algorithm: Box<dyn CongestionControl>,
}

/// A transfer in progress.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Index among the flow's transfers, from 0.
    pub row: usize,
    /// Payload that the receiver has received on this connection at the start and at the end of the transfer.
    pub span: (u64, u64),
    /// Payload of all requests up to and including the current request, which the server must receive before it
    /// responds.
    request: Option<u64>,
    /// Packets sent and packets retransmitted before the transfer began.
    pub before: (u64, u64),
}

impl Connection {
    /// A connection that is not open yet. With `opposite` the connection carries data in both directions.
    pub fn new(
        number: u32,
        transport: &Transport,
        sender: Box<dyn CongestionControl>,
        opposite: Option<Opposite>,
    ) -> Connection {
        let Transport { sender: config, requester, receiver, .. } = transport;
        let mut data = Half::new(config, receiver, sender);
        let back = opposite.map(|Opposite { requests, algorithm }| {
            data.receiver = Receiver::new(receiver.clone()).interactive();
            let mut half = Half::new(requester, receiver, algorithm);
            half.receiver = Receiver::new(receiver.clone()).interactive();
            Box::new(Back { half, client: if requests { End::Receiver } else { End::Sender } })
        });
        if transport.measures_in_order {
            data.receiver.measure_in_order();
            data.sender.keep_first_transmissions();
        }
        Connection { number, data, back, transfer: None, stopped: false }
    }

    /// The sender and the receiver at an end, if the connection has both directions.
    fn endpoint(&mut self, end: End) -> Option<Endpoint<'_>> {
        let half = &mut self.back.as_mut()?.half;
        let (sender, receiver) = match end {
            End::Sender => (&mut self.data.sender, &mut half.receiver),
            End::Receiver => (&mut half.sender, &mut self.data.receiver),
        };
        Some(Endpoint { sender, receiver })
    }

    /// Time of the next timer of an end.
    #[inline]
    pub fn next(&self, end: End) -> Time {
        let back = self.back.as_deref().map(|back| &back.half);
        match end {
            End::Sender => {
                let other = back.map_or(Time::NEVER, |half| half.receiver.next_timer());
                self.data.sender.next_timer().min(other)
            }
            End::Receiver => {
                let other = back.map_or(Time::NEVER, |half| half.sender.next_timer());
                self.data.receiver.next_timer().min(other)
            }
        }
    }

    /// The end that opens and closes the connection.
    pub fn client(&self) -> End {
        self.back.as_ref().map_or(End::Sender, |back| back.client)
    }

    /// Opens the connection: the client sends a SYN.
    pub fn open(&mut self, now: Time, out: &mut Vec<Segment>) {
        match self.endpoint(self.client()) {
            Some(mut client) => client.open(now, out),
            None => self.data.sender.open(now, out),
        }
    }

    /// Makes data available to send. `bytes` is the total since the connection opened; `None` means unlimited.
    pub fn write(&mut self, now: Time, bytes: Option<u64>, out: &mut Vec<Segment>) {
        match self.endpoint(End::Sender) {
            Some(mut end) => end.write(now, bytes, out),
            None => self.data.sender.offer(now, bytes, out),
        }
    }

    /// Closes the connection: the client sends a FIN after the data that were written. If the connection has only one
    /// direction, it is [stopped](Self::stop) instead.
    pub fn close(&mut self, now: Time, out: &mut Vec<Segment>) {
        match self.endpoint(self.client()) {
            Some(mut client) => client.close(now, out),
            None => self.stop(now),
        }
    }

    /// Stops sending new data, without a FIN. Outstanding data are still retransmitted.
    pub fn stop(&mut self, now: Time) {
        self.stopped = true;
        self.data.sender.stop(now);
    }

    /// Whether the client has closed the connection, or the connection was stopped.
    pub fn is_closing(&self) -> bool {
        self.stopped
            || self.back.as_ref().is_some_and(|back| match back.client {
                End::Sender => self.data.sender.is_closing(),
                End::Receiver => back.half.sender.is_closing(),
            })
    }

    /// Whether both ends have received the ACK of their FIN. Until both ends have received this ACK, a retransmitted
    /// FIN is acknowledged again, as in TIME-WAIT.
    pub fn is_over(&self) -> bool {
        self.back.as_ref().is_some_and(|back| self.data.sender.is_closed() && back.half.sender.is_closed())
    }

    /// Begins the flow's transfer with index `row`.
    pub fn begin(&mut self, now: Time, row: usize, job: Job, out: &mut Vec<Segment>) {
        let got = self.data.receiver.delivered_bytes();
        let stats = self.data.sender.stats();
        let before = (stats.sent_packets, stats.retransmitted_packets);
        let goal = got + job.bytes;
        let asked = self.requests().map(|half| half.receiver.delivered_bytes() + job.request);
        self.transfer = Some(Progress { row, span: (got, goal), request: asked, before });
        match (asked, self.endpoint(End::Receiver)) {
            (Some(asked), Some(mut client)) => client.write(now, Some(asked), out),
            _ => self.write(now, Some(goal), out),
        }
    }

    /// The direction of requests, if the receiver sends requests.
    fn requests(&self) -> Option<&Half> {
        self.back.as_deref().filter(|back| back.client == End::Receiver).map(|back| &back.half)
    }

    /// Processes a segment that arrives at an end. `ce` is whether the segment has an ECN mark. Returns a sample of the
    /// RTT at the sender, or a sample of the one-way delay of payload at the receiver.
    #[inline(always)] // called for every packet that arrives
    pub fn receive(
        &mut self,
        now: Time,
        segment: &Segment,
        ce: bool,
        end: End,
        out: &mut Vec<Segment>,
    ) -> Option<Duration> {
        if self.back.is_some() {
            return self.receive_at(end, now, segment, ce, out);
        }
        match end {
            End::Receiver => {
                self.data.receiver.on_segment(now, segment, ce, out);
                segment.one_way(now)
            }
            End::Sender => {
                self.data.sender.on_segment(now, segment, out);
                self.data.sender.last_rtt()
            }
        }
    }

    /// Processes a segment that arrives at an end of a connection with both directions.
    fn receive_at(
        &mut self,
        end: End,
        now: Time,
        segment: &Segment,
        ce: bool,
        out: &mut Vec<Segment>,
    ) -> Option<Duration> {
        let rtt = self.endpoint(end)?.on_segment(now, segment, ce, out);
        self.react(now, end, out);
        if end == End::Sender { rtt } else { segment.one_way(now) }
    }

    /// Runs every timer of an end that is due.
    pub fn on_timer(&mut self, now: Time, end: End, out: &mut Vec<Segment>) {
        if let Some(mut both) = self.endpoint(end) {
            both.on_timer(now, out);
            return self.react(now, end, out);
        }
        match end {
            End::Sender if self.data.sender.next_timer() <= now => self.data.sender.on_timer(now, out),
            End::Receiver if self.data.receiver.next_timer() <= now => self.data.receiver.on_timer(now, out),
            _ => {}
        }
    }

    /// Runs the immediate reactions of an end's application: responds to a complete request, and closes after the other
    /// end has closed.
    fn react(&mut self, now: Time, end: End, out: &mut Vec<Segment>) {
        if end == End::Sender {
            self.answer(now, out);
        }
        if let Some(mut end) = self.endpoint(end).filter(|end| end.receiver.is_finished()) {
            end.close(now, out);
        }
    }

    /// Called when a packet of `bytes` bytes has left the network interface of an end or was dropped there. Returns
    /// true if the end was waiting for the departure.
    pub fn on_left_host(&mut self, now: Time, end: End, bytes: u16, out: &mut Vec<Segment>) -> bool {
        match (self.endpoint(end), end) {
            (Some(mut both), _) => both.on_left_host(now, bytes.into(), out),
            (None, End::Sender) => self.data.sender.on_left_host(now, bytes.into(), out),
            (None, End::Receiver) => false,
        }
    }

    /// Called when an end passes a packet without data to its network interface. The sender at that end does not count
    /// such packets itself.
    pub fn on_sent_beside(&mut self, end: End, bytes: u16) {
        if let Some(sender) = self.sender_at(end) {
            sender.on_sent_beside(bytes.into());
        }
    }

    /// The data sender at an end.
    fn sender_at(&mut self, end: End) -> Option<&mut Sender> {
        match end {
            End::Sender => Some(&mut self.data.sender),
            End::Receiver => self.back.as_mut().map(|back| &mut back.half.sender),
        }
    }

    fn answer(&mut self, now: Time, out: &mut Vec<Segment>) {
        let got = self.requests().map_or(0, |half| half.receiver.delivered_bytes());
        if let Some(progress) = &mut self.transfer
            && progress.request.take_if(|asked| got >= *asked).is_some()
        {
            let goal = progress.span.1;
            self.write(now, Some(goal), out);
        }
    }

    /// Whether the transfer is complete. A requested transfer is complete when the client has received all of its data;
    /// any other transfer is complete when all of its data are acknowledged.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.transfer.is_some_and(|progress| match self.requests() {
            _ if self.stopped => false,
            Some(_) => self.delivered() >= progress.span.1,
            None => self.data.sender.is_done(),
        })
    }

    /// Records in-order delays of retransmitted payload. Only the sender has the time of the first transmission.
    #[inline]
    pub fn settle(&mut self, sampling: &SamplingTimes) {
        if self.data.receiver.in_order().is_some_and(|in_order| !in_order.again.is_empty()) {
            self.settle_retransmitted(sampling);
        }
    }

    #[cold]
    fn settle_retransmitted(&mut self, sampling: &SamplingTimes) {
        let Half { sender, receiver } = &mut self.data;
        let Some(in_order) = receiver.in_order() else { return };
        for (at, seq) in in_order.again.drain(..).filter(|(at, _)| sampling.measures(*at)) {
            if let Some(first_us) = sender.first_sent_us(seq) {
                let took_us = (at.as_micros() as u32).wrapping_sub(first_us);
                in_order.delays.record(Duration::from_micros(took_us.into()));
            }
        }
    }

    /// Histogram of the in-order delays of payload, if they are measured.
    pub fn in_order(&mut self) -> Option<&mut Histogram> {
        self.data.receiver.in_order().map(|in_order| &mut in_order.delays)
    }

    /// Payload delivered in order to the flow's receiver.
    pub fn delivered(&self) -> u64 {
        self.data.receiver.delivered_bytes()
    }

    /// Called when the receiver's application has read data. The receive buffer now has room for all bytes below
    /// `until`.
    pub fn make_room(&mut self, until: u64, out: &mut Vec<Segment>) {
        self.data.receiver.make_room(until, out);
    }

    /// The ends of a connection that has one direction and no transfer to complete.
    #[inline]
    pub fn plain_ends(&mut self) -> Option<(&mut Sender, &mut Receiver)> {
        let is_plain = self.back.is_none() && self.transfer.is_none();
        is_plain.then_some((&mut self.data.sender, &mut self.data.receiver))
    }

    /// The sender of the data.
    pub fn sender(&self) -> &Sender {
        &self.data.sender
    }
}
