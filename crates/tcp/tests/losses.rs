//! Reports to an algorithm that watches losses.

use crate::pipe::{Fate, Pipe, config, seconds};
use congestion::{Ack, Congestion, CongestionControl, Control, LostPacket, Path, Probe, Traits, Undo};
use std::sync::{Arc, Mutex};
use tcp::{AckPolicy, SenderConfig};
use units::Duration;

const CWND: u32 = 20;

#[derive(Debug, Default)]
struct Seen {
    lost: Vec<LostPacket>,
    episodes: Vec<Congestion>,
    /// For each ACK that matched a probe, the number of episodes reported before this ACK.
    probe_acks: Vec<usize>,
}

/// An algorithm with a fixed window that records the reports of the transport.
struct Witness(Arc<Mutex<Seen>>, bool);

impl CongestionControl for Witness {
    fn on_ack(&mut self, ack: &Ack, _path: &Path) {
        let mut seen = self.0.lock().unwrap();
        let episodes = seen.episodes.len();
        seen.probe_acks.extend(ack.acks_probe.then_some(episodes));
    }

    fn on_lost(&mut self, lost: &LostPacket, path: &Path) {
        let mut seen = self.0.lock().unwrap();
        seen.lost.push(*lost);
        assert_eq!(path.lost, seen.lost.len() as u64, "path.lost includes the packet");
    }

    fn on_congestion(&mut self, congestion: Congestion, _path: &Path) {
        self.0.lock().unwrap().episodes.push(congestion);
    }

    fn on_undo(&mut self, _undo: &Undo, _path: &Path) {}

    fn set_cwnd(&mut self, _cwnd: u32) {}

    fn control(&self) -> Control {
        Control {
            cwnd: CWND,
            ssthresh: CWND,
            pacing_rate: None,
            min_burst: 1,
            max_burst: u32::MAX,
            hide_samples: false,
            reduce: false,
        }
    }

    fn observe(&self, _probe: &mut Probe<'_>) {}

    fn traits(&self) -> Traits {
        Traits { watches_losses: self.1, ..Traits::default() }
    }
}

fn run(watch: bool, packets: u64, fate: impl FnMut(u64, u32) -> Fate + 'static) -> Seen {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let config = SenderConfig { data: Some(packets * 1448), max_burst_bytes: 0, ..config() };
    let ack = AckPolicy::Every { packets: 1, timeout: Duration::from_millis(40) };
    let mut pipe = Pipe::with_algorithm(Box::new(Witness(seen.clone(), watch)), config, ack, 10, 40, 1000)
        .with_fate(fate);
    pipe.run_until(seconds(5.0));
    assert!(pipe.sender.is_done());
    drop(pipe);
    Arc::into_inner(seen).unwrap().into_inner().unwrap()
}

/// Drop the first transmission of these packets.
fn drop_once(numbers: &[u32]) -> impl FnMut(u64, u32) -> Fate + use<> {
    let mut numbers = numbers.to_vec();
    move |_, seq| {
        let before = numbers.len();
        numbers.retain(|&n| n != seq);
        if numbers.len() < before { Fate::Drop } else { Fate::Pass }
    }
}

#[test]
fn every_lost_packet_is_told_with_its_own_flight() {
    let seen = run(true, 200, drop_once(&[5, 100, 101]));
    assert_eq!(seen.lost.iter().map(|l| l.number).collect::<Vec<_>>(), [5, 100, 101]);
    // Packet 5 was the sixth packet of the first flight. Each later lost packet filled the window when it was
    // sent.
    assert_eq!(seen.lost.iter().map(|l| l.tx_in_flight).collect::<Vec<_>>(), [6, CWND, CWND]);
}

#[test]
fn losses_count_since_the_packet_was_sent_itself_included() {
    let seen = run(true, 200, drop_once(&[100, 101]));
    assert_eq!(seen.lost.iter().map(|l| l.lost).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn nobody_is_told_who_does_not_ask() {
    assert!(run(false, 200, drop_once(&[5])).lost.is_empty());
}

#[test]
fn the_ack_of_a_repeated_probe_is_told_apart() {
    let seen = run(true, 10, drop_once(&[9]));
    assert_eq!(seen.probe_acks, [0]);
    assert!(seen.lost.is_empty(), "no later packet proves the loss: {:?}", seen.lost);
}
