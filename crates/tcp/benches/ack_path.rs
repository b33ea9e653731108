//! CPU time per data packet at the sender and the receiver, without a network. The time covers sending, receiving
//! and acknowledging the packet, and processing its ACK.
//!
//! At the end, a table shows the time with each algorithm (all algorithms paced) and its ratio to the time with
//! CUBIC. The ratio should be at most 1.5.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::collections::VecDeque;
use std::hint::black_box;
use std::time::Instant;
use tcp::{AckPolicy, Pacing, Receiver, ReceiverConfig, Segment, SendBuffer, Sender, SenderConfig};
use units::{Bytes, Duration, Time};

const PACKETS: u64 = 20_000;
const GAP: Duration = Duration::from_micros(12);

/// A sender and a receiver with 500 packets in flight between them. Every 12 microseconds one packet is sent and one
/// packet arrives.
struct Loop {
    now: Time,
    sender: Sender,
    receiver: Receiver,
    data: VecDeque<Segment>,
    out: Vec<Segment>,
    acks: Vec<Segment>,
    carried: u64,
}

impl Loop {
    fn new(cca: &str, paced: bool) -> Loop {
        let algorithm = congestion::build(cca, &serde_json::Value::Null, 1).expect("a known algorithm");
        let ack = AckPolicy::Every { packets: 1, timeout: Duration::from_millis(200) };
        let sender = SenderConfig {
            initial_window: 500,
            send_buffer: SendBuffer::Payload(Bytes::new(500 * 1448)),
            pacing: if paced { Pacing::Always } else { Pacing::Auto },
            ..SenderConfig::default()
        };
        let receiver = ReceiverConfig { ack, ..ReceiverConfig::default() };
        let mut link = Loop {
            now: Time::ZERO,
            sender: Sender::new(sender, algorithm),
            receiver: Receiver::new(receiver),
            data: VecDeque::new(),
            out: Vec::new(),
            acks: Vec::new(),
            carried: 0,
        };
        link.sender.open(Time::ZERO, &mut link.out);
        link.data.extend(link.out.drain(..));
        link
    }

    /// Carry `packets` packets and lose every `loss`-th packet.
    fn carry(&mut self, packets: u64, loss: Option<u64>) {
        let end = self.carried + packets;
        while self.carried < end {
            self.now += GAP;
            if self.data.is_empty() {
                let timers = self.sender.next_timer().min(self.receiver.next_timer());
                self.now = self.now.max(timers); // the sender and the receiver wait for a timer, so skip the pause
            }
            if let Some(segment) = self.data.pop_front() {
                self.carried += 1;
                if loss.is_none_or(|every| self.carried % every != 0) {
                    self.receiver.on_segment(self.now, &segment, false, &mut self.acks);
                }
            }
            self.receiver.on_timer(self.now, &mut self.acks);
            for ack in self.acks.drain(..) {
                self.sender.on_segment(self.now, &ack, &mut self.out);
            }
            if self.sender.next_timer() <= self.now {
                self.sender.on_timer(self.now, &mut self.out);
            }
            self.data.extend(self.out.drain(..));
        }
    }
}

fn ack_path(c: &mut Criterion) {
    let mut group = c.benchmark_group("ack_path");
    group.throughput(Throughput::Elements(PACKETS)).sample_size(20);
    // Pacing takes more CPU time than any algorithm. Times with and without pacing are therefore not compared: in the
    // case "paced", all algorithms are paced.
    for (case, loss, paced) in
        [("in order", None, false), ("1 % lost", Some(100), false), ("in order, paced", None, true)]
    {
        for cca in congestion::descriptors().iter().map(|d| d.name) {
            group.bench_function(BenchmarkId::new(case, cca), |b| {
                let mut link = Loop::new(cca, paced);
                link.carry(PACKETS, loss); // the flow leaves slow start before the measurement
                b.iter(|| link.carry(black_box(PACKETS), loss));
            });
        }
    }
    group.finish();
    compare();
}

/// Print the table of ratios. Each time is the fastest of many passes. The algorithms take turns, so that a
/// disturbance affects all algorithms alike.
#[allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn compare() {
    const PASSES: usize = 30;
    const LIMIT: f64 = 1.5;
    let names: Vec<&str> = congestion::descriptors().iter().map(|d| d.name).collect();
    let mut links: Vec<Loop> = names.iter().map(|cca| Loop::new(cca, true)).collect();
    let mut best = vec![f64::INFINITY; links.len()];
    for _ in 0..PASSES {
        for (link, best) in links.iter_mut().zip(&mut best) {
            let start = Instant::now();
            link.carry(PACKETS, None);
            *best = best.min(start.elapsed().as_secs_f64() * 1e9 / PACKETS as f64);
        }
    }
    let cubic = names.iter().zip(&best).find(|(name, _)| **name == "cubic").map_or(f64::NAN, |(_, ns)| *ns);
    println!("algorithm          ns/packet  of CUBIC");
    for (name, ns) in names.iter().zip(&best) {
        let ratio = ns / cubic;
        println!("{name:<17} {ns:>10.1} {ratio:>9.2}{}", if ratio > LIMIT { "  above 1.5" } else { "" });
    }
}

criterion_group!(benches, ack_path);
criterion_main!(benches);
