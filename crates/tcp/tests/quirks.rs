//! Deviations of ns-3 and of Google's kernel from Linux.

use crate::pipe::spy::Spy;
use crate::pipe::{Fate, Pipe, config, seconds};
use std::collections::BTreeMap;
use tcp::{
    AckPolicy, FullSendBuffer, IdleApplication, LostInFlight, Proportion, Quirks, Rescue, SendBuffer,
    SenderConfig,
};
use units::{Bytes, Duration};

const LOST: u32 = 2_000;
const EVERY: AckPolicy = AckPolicy::Every { packets: 1, timeout: Duration::from_millis(200) };

/// Count the transmissions of each packet, for a BBR flow that loses one packet and has the given send buffer.
fn times_sent(rescue: Rescue, send_buffer: SendBuffer) -> BTreeMap<u32, u32> {
    let quirks = Quirks { rescue, ..Quirks::default() };
    let config = SenderConfig { send_buffer, quirks, ..config() };
    let mut seen = 0; // only the first copy is dropped
    let mut pipe = Pipe::new("bbr1", config, EVERY, 20, 40, 10_000).with_fate(move |_, seq| {
        seen += u32::from(seq == LOST);
        if seq == LOST && seen == 1 { Fate::Drop } else { Fate::Pass }
    });
    pipe.run_until(seconds(3.0));
    let mut times = BTreeMap::new();
    pipe.sent.iter().for_each(|&(_, seq)| *times.entry(seq).or_insert(0) += 1);
    times
}

fn sent_again(times: &BTreeMap<u32, u32>) -> Vec<u32> {
    let mut again: Vec<u32> = times.iter().filter(|(_, n)| **n > 1).map(|(seq, _)| *seq).collect();
    again.sort_unstable();
    again
}

const BUFFER: SendBuffer = SendBuffer::Payload(Bytes::new(80 * 1448));

#[test]
fn without_a_rescue_rule_only_what_is_lost_is_sent_again() {
    assert_eq!(sent_again(&times_sent(Rescue::None, BUFFER)), [LOST]);
}

#[test]
fn the_rescue_rule_of_rfc_6675_stays_below_the_highest_sack() {
    assert_eq!(sent_again(&times_sent(Rescue::Rfc6675, BUFFER)), [LOST]);
}

#[test]
fn an_unbounded_rescue_rule_sends_the_flight_again() {
    let again = sent_again(&times_sent(Rescue::Unbounded, BUFFER));
    assert!(again.len() > 20, "{again:?}");
    assert!(again.iter().all(|seq| (LOST..LOST + 80).contains(seq)), "{again:?}");
}

#[test]
fn nothing_is_sent_for_a_third_time_without_a_loss() {
    let times = times_sent(Rescue::Unbounded, BUFFER);
    assert_eq!(times.values().max(), Some(&2));
}

#[test]
fn while_there_is_new_data_nothing_needs_a_rescue() {
    assert_eq!(sent_again(&times_sent(Rescue::Unbounded, SendBuffer::Unlimited)), [LOST]);
}

/// Whether each sample is app-limited, for a flow whose send buffer holds half of its window.
fn app_limited(full_send_buffer: FullSendBuffer, send_buffer: SendBuffer) -> Vec<bool> {
    let quirks = Quirks { full_send_buffer, ..Quirks::default() };
    let (spy, seen) = Spy::asking(0..0);
    let config = SenderConfig { send_buffer, quirks, ..config() };
    let mut pipe = Pipe::with_algorithm(spy, config, EVERY, 20, 40, 10_000);
    pipe.run_until(seconds(1.0));
    let seen = seen.lock().unwrap();
    seen.acks.iter().filter_map(|(ack, _)| ack.rate).map(|rate| rate.app_limited).skip(20).collect()
}

#[test]
fn a_full_send_buffer_looks_like_an_idle_application_on_linux_alone() {
    let half = SendBuffer::Payload(Bytes::new(5 * 1448));
    assert!(app_limited(FullSendBuffer::AppLimited, half).iter().all(|&limited| limited));
    assert!(!app_limited(FullSendBuffer::NetworkLimited, half).iter().any(|&limited| limited));
}

/// Whether each sample is app-limited, for a flow that writes two packets every 10 ms, less than its window.
fn writes_little(idle_application: IdleApplication) -> Vec<bool> {
    let quirks = Quirks { idle_application, ..Quirks::default() };
    let (spy, seen) = Spy::asking(0..0);
    let mut pipe = Pipe::with_algorithm(spy, SenderConfig { quirks, ..config() }, EVERY, 20, 40, 10_000);
    for n in 1..=50 {
        pipe.write(n * 2 * 1448);
        pipe.run_until(seconds(f64::from(n as u32) / 100.0));
    }
    let seen = seen.lock().unwrap();
    seen.acks.iter().filter_map(|(ack, _)| ack.rate).map(|rate| rate.app_limited).skip(10).collect()
}

#[test]
fn an_application_that_writes_little_is_a_limit_on_linux_alone() {
    let [linux, ns3] = [IdleApplication::AppLimited, IdleApplication::NetworkLimited].map(writes_little);
    assert!(!linux.is_empty() && linux.iter().all(|&limited| limited));
    assert!(!ns3.is_empty() && !ns3.iter().any(|&limited| limited));
}

/// Count the packets sent within half a round trip from the first retransmission, after a queue has overflowed.
fn sent_while_reducing(prr: Proportion, mbps: u64, limit: usize) -> usize {
    let config = SenderConfig { quirks: Quirks { prr, ..Quirks::default() }, ..config() };
    let mut pipe = Pipe::new("cubic", config, EVERY, mbps, 40, limit);
    pipe.run_until(seconds(4.0));
    let mut sent = std::collections::BTreeSet::new();
    let (begins, _) = *pipe.sent.iter().find(|(_, seq)| !sent.insert(*seq)).unwrap();
    let during = begins..begins + Duration::from_millis(20);
    pipe.sent.iter().filter(|(time, _)| during.contains(time)).count()
}

#[test]
fn ns3_counts_selective_acks_twice_and_sends_more_than_arrives() {
    let [rfc, ns3] = [Proportion::Rfc9937, Proportion::Ns3].map(|prr| sent_while_reducing(prr, 4, 12));
    let arrive = 4_000_000 / 50 / 8 / 1448; // packets in 20 ms
    assert!(rfc < arrive && ns3 > arrive, "{rfc} {ns3} {arrive}");
}

#[test]
fn the_product_of_ns3_wraps_and_it_sends_less() {
    let [rfc, ns3] = [Proportion::Rfc9937, Proportion::Ns3].map(|prr| sent_while_reducing(prr, 100, 100));
    assert!(3 * ns3 < 2 * rfc, "{rfc} {ns3}");
}

/// Return, for each of three lost packets, the packet number and the packets in flight at its transmission. Bursts have
/// two packets.
fn in_flight_of_lost(lost_in_flight: LostInFlight) -> Vec<(u64, u32)> {
    let quirks = Quirks { lost_in_flight, ..Quirks::default() };
    let (spy, seen) = Spy::asking(0..0);
    let second = AckPolicy::Every { packets: 2, timeout: Duration::from_millis(200) };
    let pipe = Pipe::with_algorithm(spy, SenderConfig { quirks, ..config() }, second, 20, 40, 10_000);
    let mut pipe =
        pipe.with_fate(|_, seq| if [100, 104, 107].contains(&seq) { Fate::Drop } else { Fate::Pass });
    pipe.run_until(seconds(1.0));
    let lost = &seen.lock().unwrap().lost;
    lost.iter().take(3).map(|lost| (lost.number, lost.tx_in_flight)).collect()
}

#[test]
fn what_moves_to_the_burst_before_is_taken_from_the_flight_of_a_lost_packet() {
    let [counted, shifted] = [LostInFlight::Counted, LostInFlight::Shifted].map(in_flight_of_lost);
    let numbers: Vec<u64> = counted.iter().map(|lost| lost.0).collect();
    let less: Vec<u32> =
        counted.iter().zip(&shifted).map(|(counted, shifted)| counted.1 - shifted.1).collect();
    assert_eq!(numbers, [100, 104, 107]);
    // One of the last two lost packets is the second packet of its burst. The first lost packet is the head of the
    // retransmission queue.
    assert_eq!((less[0], less[1] + less[2]), (0, 1), "{less:?}");
}
