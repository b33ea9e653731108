//! Every kind of change of a link, compared with values computed by hand, and traces, compared with Mahimahi's link
//! shell.

use crate::common::{Payload, arrivals, both, config, impairment, loss, ms, packet, run};
use network::queue::{DropTail, Limit, build};
use network::{Link, LinkConfig, Opportunities, Packet, SamplingTimes, Train, Trains};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;
use units::{Duration, Rate, Time};

/// A link with opportunities at given milliseconds.
fn traced(times_ms: &[u64]) -> LinkConfig {
    let times = times_ms.iter().map(|&n| Duration::from_millis(n)).collect();
    let mut config = config(Rate::UNLIMITED, 0);
    config.sampling = SamplingTimes::new(None, Time::ZERO, ms(1_000_000));
    config.impairments.opportunities = Some(Opportunities::new(times, 1504, true, Duration::ZERO));
    config
}

#[test]
fn who_arrives_with_an_opportunity_waits_for_the_next() {
    for mut link in both(&traced(&[10]), 100) {
        assert_eq!(arrivals(&mut link, &[0, 10, 11, 25], 1504), [(10, 0), (20, 1), (30, 2), (40, 3)]);
    }
}

#[test]
fn who_waits_for_an_opportunity_takes_a_place_in_the_queue() {
    for mut link in both(&traced(&[10]), 1) {
        assert_eq!(arrivals(&mut link, &[0, 1, 12], 1504), [(10, 0), (20, 2)]);
    }
}

#[test]
fn several_packets_share_an_opportunity_and_what_is_left_is_lost() {
    for mut link in both(&traced(&[10]), 100) {
        assert_eq!(arrivals(&mut link, &[0, 0, 0, 10], 700), [(10, 0), (10, 1), (20, 2), (20, 3)]);
    }
}

/// A simple model of Mahimahi's link shell: each opportunity serves all packets that have arrived before it.
fn link_shell(times: &[u64], sent: &[(Time, Packet<Payload>)], limit: usize) -> Vec<(Time, usize)> {
    let (mut queue, mut waiting) = (std::collections::VecDeque::new(), sent.iter().peekable());
    let (mut transit, mut seen): (Option<(usize, u32)>, _) = (None, Vec::new());
    for round in 0.. {
        for time in times {
            let now = Time::from_nanos(round * times[times.len() - 1] + time);
            while let Some((_, packet)) = waiting.next_if(|next| next.0 < now) {
                if queue.len() < limit {
                    queue.push_back((packet.payload.0, u32::from(packet.size)));
                }
            }
            let mut left = 1504;
            while left > 0 {
                transit = transit.or_else(|| queue.pop_front());
                let Some((id, size)) = transit else { break };
                let part = size.min(left);
                left -= part;
                transit = (size > part).then_some((id, size - part));
                if size == part {
                    seen.push((now, id));
                }
            }
        }
        if waiting.peek().is_none() && queue.is_empty() && transit.is_none() {
            break;
        }
    }
    seen
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_trace_is_served_as_mahimahi_serves_it(
        gaps in vec(0u64..20_000_000, 1..30),
        limit in 1usize..30,
        arrivals in vec((0u64..5_000_000, 1u16..5_000), 0..150),
    ) {
        let mut time = 1;
        let times: Vec<u64> = gaps.into_iter().map(|gap| { time += gap; time }).collect();
        let mut now = Time::ZERO;
        let sent: Vec<_> = arrivals.into_iter().enumerate().map(|(id, (gap, size))| {
            now += Duration::from_nanos(gap);
            (now, packet(0, size, id, false))
        }).collect();
        let mut config = config(Rate::UNLIMITED, 0);
        let moments = times.iter().copied().map(Duration::from_nanos).collect();
        config.impairments.opportunities = Some(Opportunities::new(moments, 1504, true, Duration::ZERO));
        let queue = DropTail::new(Limit { packets: Some(limit as u64), bytes: None });
        let mut link = Link::new(config.clone(), Box::new(queue));
        let (seen, _) = run(&mut link, config.sampling, &sent);
        prop_assert_eq!(seen, link_shell(&times, &sent, limit));
    }
}

#[test]
fn a_shaper_lets_opportunities_pass() {
    let shaper = json!({ "rate_bps": 752_000, "burst_bytes": 1504 }); // 1504 bytes in 16 ms
    let mut link = Link::new(traced(&[10]), build("tbf", &shaper, 1).unwrap());
    assert_eq!(arrivals(&mut link, &[0, 0, 0], 1504), [(10, 0), (30, 1), (50, 2)]);
}

/// A link with repeated opportunities at `heavy` and recorded trains. Each train has its time, its delay and the
/// offsets of its packets.
fn two_levels(heavy: &[u64], trains: &[(u64, u64, &[u64])], idle_ms: u64) -> LinkConfig {
    let long = |&n: &u64| Duration::from_millis(n);
    let trains = trains.iter().map(|(at, delay, offsets)| Train {
        at: long(at),
        delay: long(delay),
        offsets: offsets.iter().map(long).collect(),
    });
    let mut config = traced(heavy);
    let made = config.impairments.opportunities.take().map(|made| {
        made.with_trains(Trains::new(trains.collect(), Duration::from_millis(idle_ms), true, Duration::ZERO))
    });
    config.impairments.opportunities = made;
    config
}

#[test]
fn who_comes_after_a_pause_follows_a_train_and_then_who_keeps_the_path_busy() {
    // Packets of the train leave 0, 2 and 7 ms after the first packet, and arrive 20 ms later. The fourth packet waits
    // for the next opportunity of the busy path. The fourth packet leaves at 10 ms and arrives at 30 ms, as recorded.
    let config = two_levels(&[10], &[(0, 20, &[0, 2, 7]), (1000, 20, &[0])], 0);
    for mut link in both(&config, 100) {
        assert_eq!(arrivals(&mut link, &[1; 5], 1504), [(21, 0), (23, 1), (28, 2), (30, 3), (40, 4)]);
    }
}

#[test]
fn a_pause_longer_than_asked_for_begins_another_train() {
    // The second packet leaves at 10 ms and arrives with the opportunity at 30 ms. The third packet reaches the link
    // 12 ms after that departure.
    for (idle_ms, third) in [(0, 42), (11, 42), (12, 50)] {
        for mut link in both(&two_levels(&[10], &[(0, 20, &[0]), (1000, 20, &[0])], idle_ms), 100) {
            assert_eq!(arrivals(&mut link, &[1, 1, 22], 1504), [(21, 0), (30, 1), (third, 2)]);
        }
    }
}

#[test]
fn a_train_passes_whether_it_is_used_or_not() {
    let config = two_levels(&[100], &[(0, 20, &[0, 1, 2, 9]), (1000, 20, &[0])], 50);
    for mut link in both(&config, 100) {
        assert_eq!(arrivals(&mut link, &[0, 5, 5], 1504), [(20, 0), (29, 1), (100, 2)]);
    }
}

#[test]
fn a_train_carries_packets_whole() {
    let config = two_levels(&[100], &[(0, 20, &[0, 5, 6]), (1000, 20, &[0])], 0);
    for mut link in both(&config, 100) {
        // Two packets of 700 bytes fit into 1504 bytes; a third packet does not.
        assert_eq!(arrivals(&mut link, &[0; 4], 700), [(20, 0), (20, 1), (25, 2), (25, 3)]);
    }
}

#[test]
fn the_delay_lies_between_those_of_the_trains_before_and_after() {
    let config = two_levels(&[10], &[(0, 10, &[0]), (100, 30, &[0]), (200, 10, &[0])], 0);
    for mut link in both(&config, 100) {
        let seen = arrivals(&mut link, &[0, 50, 100, 150, 250], 1504);
        assert_eq!(seen, [(10, 0), (70, 1), (130, 2), (170, 3), (270, 4)]);
    }
}

#[test]
fn a_shorter_delay_lets_no_train_overtake() {
    let config = two_levels(&[10], &[(0, 90, &[0]), (1, 10, &[0]), (100, 10, &[0])], 0);
    for mut link in both(&config, 100) {
        assert_eq!(arrivals(&mut link, &[0, 2, 85], 1504), [(90, 0), (90, 1), (95, 2)]);
    }
}

#[test]
fn who_keeps_a_path_of_two_levels_busy_gets_what_its_opportunities_offer() {
    let heavy = [3, 4, 10, 11, 12, 40];
    let config = two_levels(&heavy, &[(0, 7, &[0, 1]), (50, 25, &[0])], 0);
    for mut link in both(&config, 1_000) {
        let seen = arrivals(&mut link, &[0; 602], 1504);
        // The train delivers two packets at 7 and 8 ms. Later opportunities of the first round are at 10, 11, 12 and
        // 40 ms.
        let busy = (0u64..).flat_map(|round| heavy.map(|at| 40 * round + at)).filter(|&at| at > 8);
        let expected: Vec<_> = [7, 8].into_iter().chain(busy).zip(0..602).collect();
        assert_eq!(seen, expected);
    }
}

fn slow(changes: &[(u64, u64)]) -> LinkConfig {
    let mut config = config(Rate::from_bits_per_sec(800_000), 0); // 100 bytes per millisecond
    config.sampling = SamplingTimes::new(None, Time::ZERO, ms(1_000_000));
    let limit = |&(at, packets)| (ms(at), Limit { packets: Some(packets), bytes: None });
    config.impairments.limits = changes.iter().map(limit).collect();
    config
}

#[test]
fn a_lower_limit_keeps_who_waits_in_a_fifo_and_admits_nobody_else() {
    for mut link in both(&slow(&[(10, 1)]), 100) {
        // Packet 0 is in transmission, and 1 to 3 wait when the limit falls.
        let seen = arrivals(&mut link, &[0, 0, 0, 0, 11, 39], 1000);
        assert_eq!(seen, [(10, 0), (20, 1), (30, 2), (40, 3), (50, 5)]);
    }
}

#[test]
fn a_lower_limit_drops_from_the_head_where_linux_does() {
    for kind in ["codel", "pie", "fq_codel", "fq_pie", "fq", "dualpi2"] {
        let mut link = Link::new(slow(&[(5, 1)]), build(kind, &json!({ "limit": 100 }), 1).unwrap());
        assert_eq!(arrivals(&mut link, &[0, 0, 0, 0], 1000), [(10, 0), (20, 3)], "{kind}");
    }
}

#[test]
fn red_begins_anew_with_another_limit() {
    let mut config = slow(&[]);
    config.impairments.limits = vec![(ms(5), Limit { packets: None, bytes: Some(10_000) })];
    let mut link = Link::new(config, build("red", &json!({ "limit": 100_000 }), 1).unwrap());
    assert_eq!(arrivals(&mut link, &[0, 0, 0, 6], 1000), [(10, 0), (20, 3)]);
}

#[test]
fn a_limit_that_fell_and_rose_between_two_packets_has_dropped_its_share() {
    let mut link = Link::new(slow(&[(4, 1), (5, 100)]), build("codel", &json!({ "limit": 100 }), 1).unwrap());
    assert_eq!(arrivals(&mut link, &[0, 0, 0], 1000), [(10, 0), (20, 2)]);
}

#[test]
fn a_copy_comes_right_behind_its_packet() {
    let mut config = slow(&[]);
    config.impairments.each.push(impairment("duplicate", &json!({ "probability": 1 })));
    let mut link = Link::new(config, Box::new(DropTail::new(Limit::default())));
    assert_eq!(arrivals(&mut link, &[0, 0], 1000), [(10, 0), (10, 0), (20, 1), (20, 1)]);
}

#[test]
fn who_is_lost_and_has_a_copy_arrives_once() {
    let mut config = slow(&[]);
    config.loss = Some(loss("periodic", &json!({ "every": 1 })));
    config.impairments.each.push(impairment("duplicate", &json!({ "probability": 1 })));
    let mut link = Link::new(config, Box::new(DropTail::new(Limit::default())));
    assert_eq!(arrivals(&mut link, &[0, 0], 1000), [(10, 0), (20, 1)]);
}

#[test]
fn a_thinned_link_passes_every_so_many() {
    let queue = Box::new(DropTail::new(Limit::default()));
    let mut config = slow(&[]);
    config.impairments.each.push(impairment("ack_filter", &json!({ "every": 3 })));
    let mut link = Link::new(config, queue).knowing_acks(|payload: &Payload| payload.1);
    assert_eq!(arrivals(&mut link, &[0; 7], 1000), [(10, 2), (20, 5)]);
    assert_eq!(link.totals().run.dropped_packets, 5);
}

#[test]
fn an_outage_of_a_token_bucket_lets_nothing_pass_and_keeps_its_tokens() {
    let mut config = config(Rate::UNLIMITED, 0);
    config.sampling = SamplingTimes::new(None, Time::ZERO, ms(1_000_000));
    config.impairments.rates =
        vec![(ms(5), Rate::from_bits_per_sec(0)), (ms(105), Rate::from_bits_per_sec(800_000))];
    let shaper = json!({ "rate_bps": 800_000, "burst_bytes": 1000 });
    let mut link = Link::new(config, build("tbf", &shaper, 1).unwrap());
    assert_eq!(arrivals(&mut link, &[0, 0, 0], 1000), [(0, 0), (110, 1), (120, 2)]);
}

#[test]
fn a_change_of_the_loss_spares_packets_that_propagate() {
    // Packets take 1 ms to transmit and 50 ms to propagate. In [20 ms, 60 ms) all are lost.
    let mut config = config(Rate::from_bits_per_sec(8_000_000), 50);
    config.sampling = SamplingTimes::new(None, Time::ZERO, ms(1_000_000));
    let rates = [(20, 1.0), (60, 0.0)];
    config.impairments.losses = rates
        .map(|(at, probability)| (ms(at), loss("bernoulli", &json!({ "probability": probability }))))
        .to_vec();
    for mut link in both(&config, 100) {
        let arrived = arrivals(&mut link, &[0, 18, 19, 20, 58, 59, 100], 1000);
        assert_eq!(arrived, [(51, 0), (69, 1), (110, 5), (151, 6)]);
    }
    config.impairments.delays = vec![(ms(30), Duration::from_millis(1))];
    for mut link in both(&config, 100) {
        let arrived = arrivals(&mut link, &[0, 18, 40, 59], 1000);
        assert_eq!(arrived, [(51, 0), (61, 3), (69, 1)], "packets overtake, each with its own loss");
    }
}
