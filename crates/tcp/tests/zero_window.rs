//! A receiver that closes its window for a long time.

use crate::pipe::{config, seconds};
use tcp::{SackBlocks, Segment, Sender, SenderConfig};
use units::{Duration, Time};

fn window(ack: u32, window: u32, echo: u32) -> Segment {
    let (one_way_us, ce_count, ece, dsack) = (0, 0, false, false);
    Segment::Ack { ack, echo, window, one_way_us, ce_count, ece, dsack, sacks: SackBlocks::default() }
}

/// Build a sender whose first ten packets are acknowledged at 0.2 s, by an ACK that closes the window.
fn shut() -> Sender {
    let config = SenderConfig { tail_loss_probe: false, ..config() };
    let mut sender = Sender::new(config, congestion::build("reno", &serde_json::Value::Null, 1).unwrap());
    let mut out = Vec::new();
    sender.open(Time::ZERO, &mut out);
    sender.on_segment(seconds(0.1), &Segment::SynAck { echo: 0, stamp: 0, window: 14_480 }, &mut out);
    sender.on_segment(seconds(0.2), &window(10, 0, 0), &mut out);
    sender
}

#[test]
fn probes_come_ever_more_seldom_and_what_is_sent_later_times_out_as_ever() {
    let mut sender = shut();
    let rto = sender.rto();
    assert!(rto < Duration::from_millis(400), "{rto:?}");
    let mut before = seconds(0.2);
    for n in 0..8 {
        let (at, mut out) = (sender.next_timer(), Vec::new());
        assert_eq!(at.since(before), rto * (1 << n));
        sender.on_timer(at, &mut out);
        assert!(matches!(out[..], [Segment::Data { seq: 9, len: 0, .. }]), "{out:?}");
        sender.on_segment(at, &window(10, 0, 0), &mut out);
        before = at;
    }
    assert_eq!(sender.rto(), rto);
    let (opened, mut out) = (before + Duration::from_millis(50), Vec::new());
    sender.on_segment(opened, &window(10, 14_480, 0), &mut out);
    assert_eq!(out.len(), 10);
    assert_eq!(sender.next_timer(), opened + rto);
    // When the window closes a second time, the time between probes starts at the RTO again.
    let closed = opened + Duration::from_millis(100);
    sender.on_segment(closed, &window(20, 0, 0), &mut out);
    assert_eq!(sender.next_timer(), closed + sender.rto());
}
