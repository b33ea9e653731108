//! Transfers over a network that drops, duplicates, delays and marks data and ACKs for a while. Every transfer
//! completes once the network is normal. Counters never overflow, because test builds check arithmetic.

use crate::pipe::{Fate, Pipe, config, seconds};
use proptest::prelude::*;
use tcp::{AckPolicy, Feedback, Pacing, ReceiveBuffer, ReceiveMemory, SendBuffer, SendMemory, SenderConfig};
use units::{Bytes, Duration, Rng};

/// Probabilities of the fates of a packet.
#[derive(Clone, Debug)]
struct Impairments {
    lost: f64,
    duplicated: f64,
    delayed: f64,
    by_ms: u64,
    marked: f64,
    /// Number of packets after which the network is normal.
    lasts: u64,
}

impl Impairments {
    fn fate(&self, n: u64, rng: &mut Rng) -> Fate {
        let dice = rng.unit();
        let delay = Duration::from_micros(u64::from(rng.below(1_000)) * self.by_ms);
        let bounds = [self.lost, self.duplicated, self.delayed, self.marked];
        let fates = [Fate::Drop, Fate::Duplicate, Fate::Delay(delay), Fate::Mark];
        let mut sum = 0.0;
        let hit = bounds.iter().position(|p| {
            sum += p;
            dice < sum
        });
        if n >= self.lasts { Fate::Pass } else { hit.map_or(Fate::Pass, |i| fates[i]) }
    }
}

fn impairments(marks: bool) -> impl Strategy<Value = Impairments> {
    let share = || prop::sample::select(vec![0.0, 0.0, 0.01, 0.1, 0.3]);
    (share(), share(), share(), prop::sample::select(vec![1u64, 10, 100, 1000]), share(), 0u64..600).prop_map(
        move |(lost, duplicated, delayed, by_ms, marked, lasts)| Impairments {
            lost,
            duplicated: duplicated / 2.0,
            delayed,
            by_ms,
            marked: if marks { marked / 3.0 } else { 0.0 },
            lasts,
        },
    )
}

fn send_memory(kilobytes: u64) -> SendBuffer {
    let [first, most, per_packet] = [1_000, 1_000 * kilobytes, 832].map(Bytes::new);
    SendBuffer::Memory(SendMemory { first, most, per_packet })
}

fn receive_memory(kilobytes: u64) -> ReceiveBuffer {
    let [first, most, per_packet] = [1_000 * kilobytes, 2_000 * kilobytes, 832].map(Bytes::new);
    ReceiveBuffer::Memory(ReceiveMemory { first, most, per_packet })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_transfer_completes_once_the_network_behaves(
        cca in prop::sample::select(vec!["reno", "cubic", "bbr1", "dctcp", "prague"]),
        bytes in 1u64..600_000,
        mss in prop::sample::select(vec![100u32, 536, 1448, 8948]),
        initial_window in prop::sample::select(vec![1u32, 2, 10, 40]),
        send_buffer in prop::option::of(1u64..30),
        memory in prop::option::of(1u64..300),
        pacing in prop::sample::select(vec![Pacing::Auto, Pacing::Always, Pacing::Fq]),
        ecn in prop::sample::select(vec![Feedback::Off, Feedback::Classic, Feedback::EveryMark, Feedback::Accurate]),
        ack_every in prop::option::of(1u32..4),
        mbps in prop::sample::select(vec![1u64, 10, 100]),
        queue in prop::sample::select(vec![2usize, 20, 200]),
        data in impairments(true),
        acks in impairments(false),
        seed in any::<u64>(),
    ) {
        let config = SenderConfig {
            mss,
            initial_window,
            data: Some(bytes),
            send_buffer: match (send_buffer, memory) {
                (Some(packets), _) => SendBuffer::Payload(Bytes::new(packets * u64::from(mss))),
                (None, Some(kilobytes)) => send_memory(kilobytes),
                (None, None) => SendBuffer::Unlimited,
            },
            pacing,
            ecn,
            ..config()
        };
        let policy = ack_every.map_or(AckPolicy::Linux, |packets| AckPolicy::Every {
            packets,
            timeout: Duration::from_millis(40),
        });
        let (mut data_dice, mut ack_dice) = (Rng::stream(seed, "data"), Rng::stream(seed, "acks"));
        let mut p = Pipe::new(cca, config, policy, mbps, 40, queue)
            .with_fate(move |n, _| data.fate(n, &mut data_dice))
            .with_ack_fate(move |n| acks.fate(n, &mut ack_dice));
        if let Some(kilobytes) = memory {
            p = p.with_receive_buffer(receive_memory(64 + kilobytes));
        }
        // The time limit is long, because impairments may have raised the RTT estimate and therefore all later
        // timeouts.
        p.run_until(seconds(100_000.0));
        prop_assert!(p.sender.is_done(), "{:?}", p.sender.snapshot());
        prop_assert_eq!(p.receiver.delivered_bytes(), bytes);
        prop_assert!(p.sender.stats().marked_packets <= p.receiver.received_packets());
        prop_assert_eq!(p.sender.snapshot().in_flight, 0);
    }
}
