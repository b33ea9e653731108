//! Tests of fq at a router.

use super::*;

fn fq(params: Value) -> Queue {
    queue("fq", params)
}

/// Create a packet with a code point.
fn aimed(flow: u32, size: u16, dscp: u8) -> Packet<u64> {
    Packet { dscp, ..packet(flow, size, Ecn::Ect0, 0) }
}

/// Offer `packets` full packets of a flow at time `now`. Return the number of dropped packets.
fn offer(queue: &mut Queue, flow: u32, packets: u64, now: Time) -> u64 {
    let mut events = QueueEvents::default();
    (0..packets).for_each(|_| queue.enqueue(aimed(flow, 1514, 0), now, &mut events));
    events.dropped_packets
}

/// The flows of the next `most` packets that leave at `now`.
fn leave(queue: &mut Queue, most: usize, now: Time) -> Vec<u32> {
    let mut events = QueueEvents::default();
    (0..most).map_while(|_| queue.dequeue(now, &mut events)).map(|next| next.packet.stream.0).collect()
}

/// Times at which `packets` packets leave, each as soon as it may leave.
fn times(queue: &mut Queue, packets: usize, mut now: Time) -> Vec<Time> {
    let mut events = QueueEvents::default();
    let next = |_| {
        now = now.max(queue.ready());
        queue.dequeue(now, &mut events).map(|_| now)
    };
    (0..packets).map_while(next).collect()
}

mod turns {
    use super::*;

    #[test]
    fn a_new_flow_sends_ten_packets_and_an_old_one_two_at_a_time() {
        let mut queue = fq(json!({}));
        offer(&mut queue, 1, 40, Time::ZERO);
        offer(&mut queue, 2, 40, Time::ZERO);
        let order = leave(&mut queue, 80, Time::ZERO);
        let runs: Vec<usize> = order.chunk_by(|a, b| a == b).map(<[u32]>::len).collect();
        assert_eq!(runs[..6], [10, 10, 2, 2, 2, 2]);
    }

    #[test]
    fn flows_share_by_bytes_whatever_their_packets() {
        let mut queue = fq(json!({ "initial_quantum": 3028 }));
        let (mut bytes, mut events) = ([0f64; 3], QueueEvents::default());
        for _ in 0..4000 {
            for (flow, size) in [1514, 300, 700].into_iter().enumerate() {
                (0..3).for_each(|_| queue.enqueue(aimed(flow as u32, size, 0), Time::ZERO, &mut events));
            }
            (0..2).for_each(|_| {
                let next = queue.dequeue(Time::ZERO, &mut events).unwrap();
                bytes[next.packet.stream.index()] += f64::from(next.packet.size);
            });
        }
        let sum: f64 = bytes.iter().sum();
        let jain = sum * sum / (3.0 * bytes.iter().map(|b| b * b).sum::<f64>());
        assert!(jain > 0.999, "{bytes:?}");
    }

    #[test]
    fn a_flow_that_was_empty_for_the_refill_delay_has_a_whole_quantum_again() {
        let first_turn = |pause: f64| {
            let mut queue = fq(json!({ "initial_quantum": 3028 }));
            offer(&mut queue, 1, 1, Time::ZERO); // half of the flow's quantum
            leave(&mut queue, 2, Time::ZERO);
            offer(&mut queue, 2, 50, at(pause));
            offer(&mut queue, 1, 3, at(pause));
            let order = leave(&mut queue, 9, at(pause));
            order
                .iter()
                .position(|&flow| flow == 1)
                .map(|first| order[first..].iter().take_while(|&&f| f == 1).count())
        };
        assert_eq!([first_turn(39.0), first_turn(41.0)], [Some(1), Some(2)]);
    }

    #[test]
    fn bands_share_nine_to_three_to_one() {
        let mut queue = fq(json!({ "limit": 1_000_000, "flow_limit": 1_000_000 }));
        let mut events = QueueEvents::default();
        for (flow, dscp) in [(0, 4), (1, 0), (2, 2)] {
            (0..6000).for_each(|_| queue.enqueue(aimed(flow, 1514, dscp), Time::ZERO, &mut events));
        }
        let order = leave(&mut queue, 13 * 433, Time::ZERO);
        let share = |flow| order.iter().filter(|&&f| f == flow).count() as f64 / 433.0;
        for (flow, weight) in [(0, 9.0), (1, 3.0), (2, 1.0)] {
            assert!((share(flow) - weight).abs() < 0.1, "{}", share(flow));
        }
    }
}

mod limits {
    use super::*;

    #[test]
    fn a_flow_may_have_a_hundred_packets_waiting() {
        let mut queue = fq(json!({}));
        assert_eq!(offer(&mut queue, 1, 130, Time::ZERO), 30);
        assert_eq!(offer(&mut queue, 2, 100, Time::ZERO), 0);
    }

    #[test]
    fn a_band_may_have_as_many_as_the_limit_says() {
        let mut queue = fq(json!({ "limit": 150 }));
        assert_eq!(offer(&mut queue, 1, 100, Time::ZERO), 0);
        assert_eq!(offer(&mut queue, 2, 100, Time::ZERO), 50);
        let mut events = QueueEvents::default();
        queue.enqueue(aimed(3, 1514, 4), Time::ZERO, &mut events);
        assert_eq!(events.dropped_packets, 0); // another band
    }
}

mod rates {
    use super::*;

    #[test]
    fn at_low_rates_packets_are_spaced_one_by_one() {
        let mut queue = fq(json!({ "maxrate_bps": 121_120 })); // a full packet in 100 ms
        offer(&mut queue, 1, 4, Time::ZERO);
        assert_eq!(times(&mut queue, 4, Time::ZERO), [0.0, 100.0, 200.0, 300.0].map(at));
    }

    #[test]
    fn at_higher_rates_they_are_spaced_by_the_quantum() {
        let mut queue = fq(json!({ "maxrate_bps": 12_112_000, "initial_quantum": 3028 })); // one packet per ms
        offer(&mut queue, 1, 6, Time::ZERO);
        assert_eq!(times(&mut queue, 6, Time::ZERO), [0.0, 0.0, 2.0, 2.0, 4.0, 4.0].map(at));
    }

    #[test]
    fn a_flow_that_pauses_does_not_hold_back_another() {
        let mut queue = fq(json!({ "maxrate_bps": 121_120 }));
        offer(&mut queue, 1, 3, Time::ZERO);
        leave(&mut queue, 1, Time::ZERO);
        offer(&mut queue, 2, 1, at(1.0));
        assert_eq!((queue.ready() <= at(1.0), leave(&mut queue, 9, at(1.0))), (true, vec![2]));
        assert_eq!(queue.ready(), at(100.0));
    }

    #[test]
    fn who_leaves_late_by_more_than_the_threshold_is_marked() {
        let mut queue = fq(json!({ "maxrate_bps": 121_120, "ce_threshold_ms": 5.0 }));
        offer(&mut queue, 1, 3, Time::ZERO);
        let mut events = QueueEvents::default();
        let mut ecn = |millis| queue.dequeue(at(millis), &mut events).map(|next| next.packet.ecn);
        // The three packets may leave at 0 ms, at 100 ms, and at 200 ms minus the lateness of the second packet.
        assert_eq!([ecn(4.0), ecn(110.0)], [Some(Ecn::Ect0), Some(Ecn::Ce)]);
        assert_eq!(ecn(204.0), Some(Ecn::Ect0));
    }
}

#[test]
fn a_flow_that_comes_while_others_pause_is_not_sent_before_it_came() {
    // At 500 kbit/s a flow pauses for 24 ms after each packet of 1500 bytes. A packet takes 1 ms on the link.
    let mut link = link(Some(12_000_000), queue("fq", json!({ "maxrate_bps": 500_000 })));
    (0..3).for_each(|number| link.send(packet(0, 1500, Ecn::NotEct, number), at(0.0)));
    let mut gone = Vec::new();
    let mut drain = |link: &mut Link<u64>, until: Time| {
        while link.next_arrival() <= until {
            let due = link.next_arrival();
            gone.extend(link.take(due).map(|packet| (due, packet.payload)));
        }
    };
    drain(&mut link, at(15.0));
    link.send(packet(1, 1500, Ecn::NotEct, 9), at(15.0));
    drain(&mut link, at(17.0));
    assert_eq!(gone.last(), Some(&(at(16.0), 9)));
}
