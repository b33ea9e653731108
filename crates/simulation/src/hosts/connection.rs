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
    /// That of the flow's sender.
    Sender,
    /// That of the flow's receiver.
    Receiver,
}

impl End {
    /// The end that packets of a direction reach.
    #[inline]
    pub fn reached(direction: Direction) -> End {
        match direction {
            Direction::Forward => End::Receiver,
            Direction::Backward => End::Sender,
        }
    }

    /// The end from which packets of a direction come.
    #[inline]
    pub fn sending(direction: Direction) -> End {
        match direction {
            Direction::Forward => End::Sender,
            Direction::Backward => End::Receiver,
        }
    }

    /// The direction of what it sends.
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

/// The direction of a connection that goes against that of its data.
struct Back {
    half: Half,
    /// The end that opens the connection, and closes it when its application says so.
    client: End,
}

/// A connection that carries data from the sender of its flow to the receiver.
///
/// One that lasts as long as its flow has this direction only: the receiver has nothing to say but acknowledgements, and
/// the connection is never closed. Any other carries both: one handshake opens them, acknowledgements ride on data, and each
/// is closed by a FIN. There the receiver may send requests, and then it is the one that opens the connection and closes it;
/// the other side closes in turn as soon as all that it has to send is written.
#[repr(C)]
pub struct Connection {
    back: Option<Box<Back>>,
    /// What goes on at present.
    pub transfer: Option<Progress>,
    /// Counted from 1, in the order in which the flow opened them.
    pub number: u32,
    /// Nothing is sent for the first time any more.
    stopped: bool,
    data: Half,
}

/// The other direction of a connection, before it is open.
pub struct Opposite {
    /// The receiver sends requests.
    pub requests: bool,
    /// The algorithm of what goes there.
    pub algorithm: Box<dyn CongestionControl>,
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

impl Connection {
    /// A connection that is not open yet; `opposite`: it carries data both ways.
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

    /// The sender and the receiver at an end, if it has both.
    fn endpoint(&mut self, end: End) -> Option<Endpoint<'_>> {
        let half = &mut self.back.as_mut()?.half;
        let (sender, receiver) = match end {
            End::Sender => (&mut self.data.sender, &mut half.receiver),
            End::Receiver => (&mut half.sender, &mut self.data.receiver),
        };
        Some(Endpoint { sender, receiver })
    }

    /// When an end wants to run.
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

    /// The end that opens the connection, and closes it.
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

    /// The application has handed out so many bytes by now; `None`: there is always more.
    pub fn write(&mut self, now: Time, bytes: Option<u64>, out: &mut Vec<Segment>) {
        match self.endpoint(End::Sender) {
            Some(mut end) => end.write(now, bytes, out),
            None => self.data.sender.offer(now, bytes, out),
        }
    }

    /// The client has nothing more to send than what was written: a FIN follows that. A connection that carries data one way
    /// is [stopped](Self::stop).
    pub fn close(&mut self, now: Time, out: &mut Vec<Segment>) {
        match self.endpoint(self.client()) {
            Some(mut client) => client.close(now, out),
            None => self.stop(now),
        }
    }

    /// Nothing more is sent for the first time, and no FIN; what is outstanding is still repaired.
    pub fn stop(&mut self, now: Time) {
        self.stopped = true;
        self.data.sender.stop(now);
    }

    /// The client has closed it, or it was stopped.
    pub fn is_closing(&self) -> bool {
        self.stopped
            || self.back.as_ref().is_some_and(|back| match back.client {
                End::Sender => self.data.sender.is_closing(),
                End::Receiver => back.half.sender.is_closing(),
            })
    }

    /// Both directions are closed, and either end knows it. Before that a FIN that comes again is acknowledged again, as in
    /// TIME-WAIT.
    pub fn is_over(&self) -> bool {
        self.back.as_ref().is_some_and(|back| self.data.sender.is_closed() && back.half.sender.is_closed())
    }

    /// Begins a transfer, number `row` of the flow's.
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

    /// The direction of requests, if there are some.
    fn requests(&self) -> Option<&Half> {
        self.back.as_deref().filter(|back| back.client == End::Receiver).map(|back| &back.half)
    }

    /// A segment reaches an end; `ce`: it was marked on the way. Returns a sample: of the RTT at the sender, of the one-way delay
    /// of payload at the receiver.
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

    /// A segment reaches an end that sends as well as it receives.
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

    /// Does at an end what its application does at once: answers a request that has arrived whole, and closes when the
    /// other side has closed.
    fn react(&mut self, now: Time, end: End, out: &mut Vec<Segment>) {
        if end == End::Sender {
            self.answer(now, out);
        }
        if let Some(mut end) = self.endpoint(end).filter(|end| end.receiver.is_finished()) {
            end.close(now, out);
        }
    }

    /// A packet of so many bytes has left the network interface of an end, or was dropped there. True if the end had
    /// waited for that.
    pub fn on_left_host(&mut self, now: Time, end: End, bytes: u16, out: &mut Vec<Segment>) -> bool {
        match (self.endpoint(end), end) {
            (Some(mut both), _) => both.on_left_host(now, bytes.into(), out),
            (None, End::Sender) => self.data.sender.on_left_host(now, bytes.into(), out),
            (None, End::Receiver) => false,
        }
    }

    /// A packet that is not the sender's goes into the network interface of an end.
    pub fn on_sent_beside(&mut self, end: End, bytes: u16) {
        if let Some(sender) = self.sender_at(end) {
            sender.on_sent_beside(bytes.into());
        }
    }

    /// What sends data at an end.
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

    /// The transfer is complete: the end that asked for it has all of it, or the end that sent it unasked knows that it
    /// arrived.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.transfer.is_some_and(|progress| match self.requests() {
            _ if self.stopped => false,
            Some(_) => self.delivered() >= progress.span.1,
            None => self.data.sender.is_done(),
        })
    }

    /// Records the delay in order of payload that was retransmitted. Only its sender knows when it was first sent.
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

    /// Delays in order of payload, if they are measured.
    pub fn in_order(&mut self) -> Option<&mut Histogram> {
        self.data.receiver.in_order().map(|in_order| &mut in_order.delays)
    }

    /// Payload that the flow's receiver has got in order.
    pub fn delivered(&self) -> u64 {
        self.data.receiver.delivered_bytes()
    }

    /// The application at the receiver has read: there is room up to the byte before `until`.
    pub fn make_room(&mut self, until: u64, out: &mut Vec<Segment>) {
        self.data.receiver.make_room(until, out);
    }

    /// The ends of a connection that carries data one way and has no transfer that could be complete.
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
