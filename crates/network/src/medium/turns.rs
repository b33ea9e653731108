//! The ports of a medium and their transmissions.

use super::{Channel, Inputs, Mac, Ports, Request, Turn};
use crate::counters::{Counters, LinkStats, SamplingTimes, Totals};
use crate::queue::Waiting;
use crate::{Drops, Element, Packet, PortId, QueueDiscipline, Ring, Server};
use params::{Entry, Problem};
use std::sync::Arc;
use units::{Duration, Probe, Rate, Time};

/// Ports that take turns, as decided by a [`Mac`].
///
/// A packet leaves its queue when its transmission begins. Whether a packet fits into the turn is only known once it
/// has been dequeued. A packet that does not fit is held at the head of its port and still counts as waiting. The next
/// turn of the port begins with this packet (as with `qdisc_peek_dequeued` in Linux). If the discipline drops all
/// waiting packets instead of returning one, the turn ends without a packet.
///
/// The busy time of a port is the time of its transmissions, without the overhead of turns.
pub struct Medium<P, M> {
    mac: M,
    ports: Vec<Port<P>>,
    /// Time from which each port may have a turn; [`Time::NEVER`] if the port has nothing to send, or has the current
    /// turn.
    ready: Vec<Time>,
    server: Server,
    delay: Duration,
    turn: Option<Current>,
    /// End of the last turn.
    free_at: Time,
    in_flight: Ring<Flight<P>>,
}

/// The current turn.
#[derive(Clone, Copy, Debug)]
struct Current {
    port: usize,
    /// Time at which the next packet of the turn may begin.
    next: Time,
    /// Bytes that the turn may still carry.
    left: u64,
    /// Whether the turn has carried no packet so far.
    first: bool,
}

struct Port<P> {
    queue: Box<dyn QueueDiscipline<P>>,
    /// The packet that did not fit into the last turn.
    head: Option<Waiting<P>>,
    /// Time from which the port may have a turn, if its queue has a packet ready; [`Time::NEVER`] without a request.
    granted: Time,
    stats: LinkStats<P>,
}

/// A packet and the time at which it reaches the far end of its port.
#[derive(Clone, Copy, Debug)]
struct Flight<P> {
    arrival: Time,
    port: PortId,
    packet: Packet<P>,
}

impl<P: Copy> Port<P> {
    /// Number of waiting packets.
    fn backlog(&self) -> u64 {
        self.queue.backlog().packets + u64::from(self.head.is_some())
    }

    /// Time from which the port may have a turn.
    fn ready(&self) -> Time {
        if self.head.is_some() || self.granted == Time::NEVER {
            return self.granted;
        }
        self.granted.max(self.queue.ready())
    }

    /// Take the packet whose transmission begins at `turn.next`; `None` if the turn ends.
    fn next_packet(&mut self, turn: &Current) -> Option<Waiting<P>> {
        let fits = |size: u64| turn.first || size <= turn.left;
        if self.head.is_none() {
            let waits = self.queue.backlog().packets > 0;
            if waits && (!fits(1) || self.queue.ready() > turn.next) {
                return None;
            }
            let queue = &mut self.queue;
            // The discipline is also called if its queue is empty, so that it can detect the empty queue.
            self.head = self.stats.queue_events(turn.next, None, |events| queue.dequeue(turn.next, events));
        }
        self.head.take_if(|next| fits(next.packet.size.into()))
    }
}

impl<P: Copy, M: Mac> Medium<P, M> {
    /// Create an idle medium with one port for each queue.
    ///
    /// # Panics
    /// If the rate is zero, or above [`Server::MAX_RATE`] but not unlimited.
    pub fn new(mac: M, queues: Vec<Box<dyn QueueDiscipline<P>>>, sampling: SamplingTimes) -> Medium<P, M> {
        let Channel { rate, delay } = mac.channel();
        let ready = vec![Time::NEVER; queues.len()];
        let ports = queues.into_iter().map(|queue| Port {
            queue,
            head: None,
            granted: Time::NEVER,
            stats: LinkStats::new(sampling),
        });
        Medium {
            mac,
            ports: ports.collect(),
            ready,
            server: Server::new(rate),
            delay,
            turn: None,
            free_at: Time::ZERO,
            in_flight: Ring::new(),
        }
    }

    /// Replay all turns up to now.
    fn replay(&mut self, now: Time) {
        loop {
            match self.turn {
                Some(turn) if turn.next <= now => self.advance(turn),
                Some(_) => return,
                None => match self.next_turn().filter(|turn| turn.start <= now) {
                    Some(turn) => self.begin(&turn),
                    None => return,
                },
            }
        }
    }

    fn next_turn(&self) -> Option<Turn> {
        self.mac.next_turn(&self.ready, self.free_at)
    }

    fn begin(&mut self, turn: &Turn) {
        let &Turn { port, start, overhead, bytes } = turn;
        debug_assert!(start >= self.free_at && self.ready[port] <= start);
        self.mac.begin(turn);
        self.ready[port] = Time::NEVER;
        self.turn = Some(Current { port, next: start + overhead, left: bytes, first: true });
    }

    /// Transmit the next packet of a turn, or end the turn.
    fn advance(&mut self, turn: Current) {
        let port = &mut self.ports[turn.port];
        let Some(Waiting { packet, since }) = port.next_packet(&turn) else { return self.end(turn) };
        let sent = self.server.transmit(packet.size, turn.next);
        port.stats.started(packet.size, since, sent);
        port.stats.waited(since, sent.start);
        let arrival = sent.finish + self.delay;
        self.in_flight.push(Flight { arrival, port: PortId(turn.port as u16), packet });
        let left = turn.left.saturating_sub(packet.size.into());
        self.turn = Some(Current { next: sent.finish, left, first: false, ..turn });
    }

    fn end(&mut self, Current { port: n, next: now, .. }: Current) {
        (self.turn, self.free_at) = (None, now);
        let port = &mut self.ports[n];
        let again = port.backlog() > 0;
        port.granted = if again { self.mac.request(n, now, Request::Piggybacked) } else { Time::NEVER };
        self.ready[n] = port.ready();
    }
}

impl<P: Copy + Send, M: Mac> Element<P> for Medium<P, M> {
    fn ports(&self) -> usize {
        self.ports.len()
    }

    fn put(&mut self, port: PortId, packet: &Packet<P>, now: Time) {
        self.replay(now);
        let n = usize::from(port.0);
        let port = &mut self.ports[n];
        port.stats.arrived(now, packet.size);
        let Port { queue, stats, .. } = port;
        stats.queue_events(now, None, |events| queue.enqueue(*packet, now, events));
        port.stats.backlog(now, port.backlog());
        if self.turn.is_some_and(|turn| turn.port == n) {
            return; // the current turn may still carry the packet
        }
        if port.backlog() == 0 {
            port.granted = Time::NEVER;
        } else if port.granted == Time::NEVER {
            port.granted = self.mac.request(n, now, Request::New);
        }
        self.ready[n] = port.ready().max(now); // a turn for this packet does not begin earlier
    }

    fn next(&self) -> Time {
        // Packets arrive in the order of their transmissions: a later transmission does not arrive earlier.
        match (self.in_flight.front(), self.turn) {
            (Some(flight), _) => flight.arrival,
            (None, Some(turn)) => turn.next,
            (None, None) => self.next_turn().map_or(Time::NEVER, |turn| turn.start),
        }
    }

    fn take(&mut self, now: Time) -> Option<(PortId, Packet<P>)> {
        self.replay(now);
        self.in_flight.front().filter(|flight| flight.arrival <= now)?;
        let &Flight { arrival, port, packet } = self.in_flight.pop()?;
        self.ports[usize::from(port.0)].stats.forwarded(arrival, packet.size);
        Some((port, packet))
    }

    fn close_interval(&mut self, port: PortId, now: Time) -> Counters {
        self.replay(now);
        self.ports[usize::from(port.0)].stats.close()
    }

    /// Report the variables of the queue, whether the port has the turn, and the bytes that the turn may still carry.
    fn observe(&self, port: PortId, now: Time, probe: &mut Probe<'_>) {
        let n = usize::from(port.0);
        self.ports[n].queue.observe(now, probe);
        let turn = self.turn.filter(|turn| turn.port == n);
        probe.flag("turn", turn.is_some());
        probe.see("turn_left", turn.map_or(0.0, |turn| turn.left as f64), "bytes");
    }

    fn totals(&self, port: PortId) -> &Totals {
        self.ports[usize::from(port.0)].stats.totals()
    }

    fn count_drops(&mut self, drops: &Arc<Drops<P>>) {
        self.ports.iter_mut().for_each(|port| port.stats.count_drops(drops));
    }

    fn min_delay(&self) -> Duration {
        self.delay // without grant delay and overhead, as a packet may join a turn that has already begun
    }

    fn capacity(&self) -> Rate {
        self.server.highest_rate()
    }
}

/// A [`Mac`] is enough to define a medium.
impl<P: Copy, M: Mac + Entry<Ports>> Entry<Inputs<P>> for Medium<P, M> {
    type Params = M::Params;
    const TITLE: &'static str = M::TITLE;
    const SOURCE: &'static str = M::SOURCE;

    fn check(params: &M::Params) -> Option<Problem> {
        M::check(params)
    }

    fn new(params: M::Params, inputs: Inputs<P>) -> Medium<P, M> {
        let Inputs { queues, sampling, seed } = inputs;
        Medium::new(M::new(params, Ports { count: queues.len(), seed }), queues, sampling)
    }
}
