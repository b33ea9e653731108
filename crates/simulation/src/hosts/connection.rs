//! A TCP connection: a sender and a receiver at either end.

use super::transport::Transport;
use crate::applications::Job;
use congestion::CongestionControl;
use network::Direction;
use tcp::{Receiver, ReceiverConfig, Segment, Sender, SenderConfig};
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
    /// The application has closed it.
    pub closed: bool,
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

impl Connection {
    /// A connection that is not open yet. `sender` and `requester` are the algorithms of data and of requests.
    pub fn new(
        number: u32,
        transport: &Transport,
        sender: Box<dyn CongestionControl>,
        requester: Option<Box<dyn CongestionControl>>,
    ) -> Connection {
        let Transport { sender: data, requester: requests, receiver, .. } = transport;
        let requests = requester.map(|algorithm| Box::new(Half::new(requests, receiver, algorithm)));
        let data = Half::new(data, receiver, sender);
        Connection { number, data, requests, transfer: None, closed: false, opened: false }
    }

    /// When an end wants to run.
    #[inline]
    pub fn next(&self, end: End) -> Time {
        let requests = self.requests.as_deref();
        match end {
            End::Sender => {
                let other = requests.map_or(Time::NEVER, |half| half.receiver.next_timer());
                self.data.sender.next_timer().min(other)
            }
            End::Receiver => {
                let other = requests.map_or(Time::NEVER, |half| half.sender.next_timer());
                self.data.receiver.next_timer().min(other)
            }
        }
    }

    /// Opens the connection: the end that speaks first sends a SYN.
    pub fn open(&mut self, now: Time, out: &mut Vec<Segment>) {
        match &mut self.requests {
            Some(half) => half.sender.open(now, out),
            None => self.open_data(now, out),
        }
    }

    fn open_data(&mut self, now: Time, out: &mut Vec<Segment>) {
        if !self.opened {
            self.opened = true;
            self.data.sender.open(now, out);
        }
    }

    /// The application has handed out so many bytes by now; `None`: there is always more.
    pub fn write(&mut self, now: Time, bytes: Option<u64>, out: &mut Vec<Segment>) {
        self.data.sender.offer(now, bytes, out);
    }

    /// Nothing more is sent for the first time; what is outstanding is still repaired.
    pub fn close(&mut self, now: Time) {
        self.closed = true;
        self.data.sender.stop(now);
    }

    /// Begins a transfer, number `row` of the flow's.
    pub fn begin(&mut self, now: Time, row: usize, job: Job, out: &mut Vec<Segment>) {
        let got = self.data.receiver.delivered_bytes();
        let stats = self.data.sender.stats();
        let before = (stats.sent_packets, stats.retransmitted_packets);
        let goal = got + job.bytes;
        let mut progress = Progress { row, span: (got, goal), request: None, before };
        match &mut self.requests {
            Some(half) => {
                let asked = half.receiver.delivered_bytes() + job.request;
                progress.request = Some(asked);
                half.sender.offer(now, Some(asked), out);
            }
            None => self.data.sender.offer(now, Some(goal), out),
        }
        self.transfer = Some(progress);
    }

    /// A segment reaches an end; `ce`: it was marked on the way. Returns a sample of the RTT.
    #[inline(always)] // called for every packet that arrives
    pub fn receive(
        &mut self,
        now: Time,
        segment: &Segment,
        ce: bool,
        end: End,
        out: &mut Vec<Segment>,
    ) -> Option<Duration> {
        if self.requests.is_some() && self.receive_request(now, segment, ce, end, out) {
            return None;
        }
        match end {
            End::Receiver => {
                self.data.receiver.on_segment(now, segment, ce, out);
                None
            }
            End::Sender => {
                self.data.sender.on_segment(now, segment, out);
                self.data.sender.last_rtt()
            }
        }
    }

    /// A segment reaches an end of the connection that carries requests, too. False if it belongs to the data.
    fn receive_request(
        &mut self,
        now: Time,
        segment: &Segment,
        ce: bool,
        end: End,
        out: &mut Vec<Segment>,
    ) -> bool {
        let carries = matches!(segment, Segment::Syn { .. } | Segment::Data { .. });
        match (end, carries, &mut self.requests) {
            (End::Receiver, false, Some(half)) => half.sender.on_segment(now, segment, out),
            (End::Sender, true, Some(half)) => {
                half.receiver.on_segment(now, segment, ce, out);
                self.open_data(now, out);
                self.answer(now, out);
            }
            _ => return false,
        }
        true
    }

    /// Runs every timer of an end that is due.
    pub fn on_timer(&mut self, now: Time, end: End, out: &mut Vec<Segment>) {
        let requests = self.requests.as_deref_mut();
        match end {
            End::Sender => {
                if self.data.sender.next_timer() <= now {
                    self.data.sender.on_timer(now, out);
                }
                if let Some(half) = requests.filter(|half| half.receiver.next_timer() <= now) {
                    half.receiver.on_timer(now, out);
                    self.answer(now, out);
                }
            }
            End::Receiver => {
                if self.data.receiver.next_timer() <= now {
                    self.data.receiver.on_timer(now, out);
                }
                if let Some(half) = requests.filter(|half| half.sender.next_timer() <= now) {
                    half.sender.on_timer(now, out);
                }
            }
        }
    }

    /// A packet of so many bytes has left the network interface of an end, or was dropped there. True if the end had
    /// waited for that.
    pub fn on_left_host(&mut self, now: Time, end: End, bytes: u16, out: &mut Vec<Segment>) -> bool {
        self.sender_at(end).is_some_and(|sender| sender.on_left_host(now, bytes.into(), out))
    }

    /// A packet without data goes into the network interface of an end.
    pub fn on_sent_beside(&mut self, end: End, bytes: u16) {
        if let Some(sender) = self.sender_at(end) {
            sender.on_sent_beside(bytes.into());
        }
    }

    /// What sends data at an end.
    fn sender_at(&mut self, end: End) -> Option<&mut Sender> {
        match end {
            End::Sender => Some(&mut self.data.sender),
            End::Receiver => self.requests.as_mut().map(|half| &mut half.sender),
        }
    }

    /// Answers a request that has arrived whole.
    fn answer(&mut self, now: Time, out: &mut Vec<Segment>) {
        if let (Some(progress), Some(half)) = (&mut self.transfer, &self.requests)
            && progress.request.is_some_and(|asked| half.receiver.delivered_bytes() >= asked)
        {
            progress.request = None;
            self.data.sender.offer(now, Some(progress.span.1), out);
        }
    }

    /// The transfer is complete: the end that asked for it has all of it, or the end that sent it unasked knows that it
    /// arrived.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.transfer.is_some_and(|progress| match self.requests {
            _ if self.closed => false,
            Some(_) => self.delivered() >= progress.span.1,
            None => self.data.sender.is_done(),
        })
    }

    /// Payload that the flow's receiver has got in order.
    pub fn delivered(&self) -> u64 {
        self.data.receiver.delivered_bytes()
    }

    /// The sender of the data.
    pub fn sender(&self) -> &Sender {
        &self.data.sender
    }
}
