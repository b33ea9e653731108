//! Bare packet mover, an upper bound of the speed of a simulation.
//! Usage: `mover [flows [seconds [queue packets [rate, Gbit/s]]]]`.
//!
//! The mover has the six links of the first study with their queues and delays, windows of a fixed size, and an ACK for
//! every packet. The mover has no TCP: no loss recovery, no rates, no counters of intervals. The mover shares no code
//! with the simulator. The difference in speed is the cost of simulating TCP. Every link is a first-in first-out queue,
//! and only its earliest arrival is in the heap of events: six events for a packet and its ACK.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, VecDeque};
use std::env::args;

const DATA_BYTES: u64 = 1486;
const ACK_BYTES: u64 = 66;
const ACCESS_DELAY_NS: u64 = 5_000_000;
const BOTTLENECK_DELAY_NS: u64 = 50_000_000;
/// Base RTT. The windows of all flows together are one BDP plus half of the queue.
const PATH_NS: u64 = 2 * (BOTTLENECK_DELAY_NS + 2 * ACCESS_DELAY_NS);

/// A packet with as many bytes of memory as a packet of the simulator.
#[derive(Clone, Copy)]
struct Packet {
    flow: u32,
    ack: bool,
    sequence: u64,
    sent_ns: u64,
    bytes: u64,
    _unused: [u64; 3],
}

/// A queue and a wire behind it. Packets are in `packets` until they arrive.
struct Link {
    picoseconds_per_byte: u64,
    delay_ns: u64,
    limit: usize,
    /// Departure time of the last packet in picoseconds.
    free_ps: u64,
    /// Packets with the times at which their last bit leaves and arrives.
    packets: VecDeque<(u64, u64, Packet)>,
    /// Number of packets in `packets` that have left the queue.
    left: usize,
    dropped: u64,
}

impl Link {
    fn new(bits_per_second: u64, delay_ns: u64, limit: usize) -> Link {
        let picoseconds_per_byte = 8_000_000_000_000 / bits_per_second;
        let packets = VecDeque::with_capacity(1024);
        Link { picoseconds_per_byte, delay_ns, limit, free_ps: 0, packets, left: 0, dropped: 0 }
    }

    /// Queue a packet. Return its arrival time if no other packet arrives before it.
    fn put(&mut self, now_ns: u64, packet: Packet) -> Option<u64> {
        while self.packets.get(self.left).is_some_and(|(leaves_ns, ..)| *leaves_ns <= now_ns) {
            self.left += 1;
        }
        if self.packets.len() - self.left > self.limit {
            self.dropped += 1;
            return None;
        }
        self.free_ps = self.free_ps.max(now_ns * 1_000) + packet.bytes * self.picoseconds_per_byte;
        let leaves_ns = self.free_ps / 1_000;
        self.packets.push_back((leaves_ns, leaves_ns + self.delay_ns, packet));
        (self.packets.len() == 1).then_some(leaves_ns + self.delay_ns)
    }

    /// Take the packet that arrives. Also return the arrival time of the next packet.
    fn take(&mut self) -> Option<(Packet, Option<u64>)> {
        let (.., packet) = self.packets.pop_front()?;
        self.left = self.left.saturating_sub(1);
        Some((packet, self.packets.front().map(|(_, arrives_ns, _)| *arrives_ns)))
    }
}

/// Minimum state of a sender and a receiver.
#[derive(Clone, Copy, Default)]
struct Flow {
    next: u64,
    received: u64,
    acknowledged: u64,
    rtt_sum_ns: u64,
}

struct Mover {
    /// Maximum packets in flight of a flow. A flow doubles its packets in flight each round trip up to this number.
    window: u64,
    links: Vec<Link>,
    flows: Vec<Flow>,
    events: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Mover {
    /// Create a mover. Links 0 and 1 are the bottleneck and its reverse link; then come four access links per flow.
    fn new(flows: u32, window: u64, bits_per_second: u64, limit: usize) -> Mover {
        let wide = |_| Link::new(10 * bits_per_second, ACCESS_DELAY_NS, usize::MAX);
        let bottleneck = Link::new(bits_per_second, BOTTLENECK_DELAY_NS, limit);
        let back = Link::new(bits_per_second, BOTTLENECK_DELAY_NS, usize::MAX);
        let links = [bottleneck, back].into_iter().chain((0..4 * flows).map(wide)).collect();
        Mover { window, links, flows: vec![Flow::default(); flows as usize], events: BinaryHeap::new() }
    }

    fn put(&mut self, link: u32, now_ns: u64, packet: Packet) {
        if let Some(arrives_ns) = self.links[link as usize].put(now_ns, packet) {
            self.events.push(Reverse((arrives_ns, link)));
        }
    }

    fn send(&mut self, flow: u32, now_ns: u64) {
        let sequence = self.flows[flow as usize].next;
        self.flows[flow as usize].next += 1;
        let packet =
            Packet { flow, ack: false, sequence, sent_ns: now_ns, bytes: DATA_BYTES, _unused: [0; 3] };
        self.put(2 + 4 * flow, now_ns, packet);
    }

    /// Process the earliest arrival of all links if it is not after `end_ns`. Return whether there was such an arrival.
    /// The link remains in the heap if it has another packet.
    fn turn(&mut self, end_ns: u64) -> bool {
        let Some(mut first) = self.events.peek_mut() else { return false };
        let Reverse((now_ns, link)) = *first;
        if now_ns > end_ns {
            return false;
        }
        let Some((packet, next)) = self.links[link as usize].take() else { return false };
        match next {
            Some(arrives_ns) => {
                first.0.0 = arrives_ns;
                drop(first);
            }
            None => drop(PeekMut::pop(first)),
        }
        let access = 2 + 4 * packet.flow;
        match link {
            0 => self.put(access + 1, now_ns, packet),
            1 => self.put(access + 3, now_ns, packet),
            _ if link == access => self.put(0, now_ns, packet),
            _ if link == access + 1 => self.acknowledge(access + 2, now_ns, packet),
            _ if link == access + 2 => self.put(1, now_ns, packet),
            _ => self.acknowledged(now_ns, packet),
        }
        true
    }

    fn acknowledge(&mut self, link: u32, now_ns: u64, packet: Packet) {
        self.flows[packet.flow as usize].received += 1;
        self.put(link, now_ns, Packet { ack: true, bytes: ACK_BYTES, ..packet });
    }

    fn acknowledged(&mut self, now_ns: u64, packet: Packet) {
        debug_assert!(packet.ack && packet.sequence == self.flows[packet.flow as usize].acknowledged);
        let flow = &mut self.flows[packet.flow as usize];
        flow.acknowledged = packet.sequence + 1;
        flow.rtt_sum_ns += now_ns - packet.sent_ns;
        let room = self.window - (flow.next - flow.acknowledged);
        (0..room.min(2)).for_each(|_| self.send(packet.flow, now_ns));
    }
}

fn main() {
    let number =
        |n: usize, default: u64| args().nth(n).map_or(default, |text| text.parse().expect("a number"));
    let (flows, seconds, queue) = (number(1, 16), number(2, 50), number(3, 5_000));
    let bits_per_second = number(4, 1) * 1_000_000_000;
    let path = bits_per_second / 8 * PATH_NS / 1_000_000_000 / DATA_BYTES;
    let window = (path + queue / 2) / flows;
    let mut mover = Mover::new(flows as u32, window, bits_per_second, queue as usize);
    (0..flows as u32).for_each(|flow| mover.send(flow, 0));
    let end_ns = seconds * 1_000_000_000;
    while mover.turn(end_ns) {}
    let sum = |count: fn(&Flow) -> u64| mover.flows.iter().map(count).sum::<u64>();
    let (sent, rtts) = (sum(|flow| flow.next), sum(|flow| flow.acknowledged).max(1));
    let dropped: u64 = mover.links.iter().map(|link| link.dropped).sum();
    println!(
        "{{\"data_packets\": {sent}, \"received\": {}, \"dropped\": {dropped}, \"rtt_mean_s\": {:.6}}}",
        sum(|flow| flow.received),
        sum(|flow| flow.rtt_sum_ns) as f64 / rtts as f64 / 1e9
    );
}
