//! Connections that carry data both ways: opened by one handshake, with piggybacked acknowledgements, closed by FINs.
//!
//! Without losses, the segments are the same as in Linux 6.18 between two sockets whose applications read, answer and
//! close immediately.

use tcp::{Endpoint, Receiver, ReceiverConfig, Segment, Sender, SenderConfig};
use units::{Duration, Time};

const DELAY: Duration = Duration::from_millis(20);

struct Host {
    name: char,
    sender: Sender,
    receiver: Receiver,
    /// Number of received bytes that trigger an answer, and size of that answer in bytes.
    answer: Option<(u64, u64)>,
    written: u64,
}

impl Host {
    fn new(name: char) -> Host {
        let algorithm = congestion::build("reno", &serde_json::Value::Null, 1).unwrap();
        Host {
            name,
            sender: Sender::new(SenderConfig { data: Some(0), ..SenderConfig::default() }, algorithm),
            receiver: Receiver::new(ReceiverConfig { tick: None, ..ReceiverConfig::default() }).interactive(),
            answer: None,
            written: 0,
        }
    }

    fn end(&mut self) -> Endpoint<'_> {
        Endpoint { sender: &mut self.sender, receiver: &mut self.receiver }
    }

    fn write(&mut self, now: Time, bytes: u64, out: &mut Vec<Segment>) {
        self.written += bytes;
        let all = Some(self.written);
        self.end().write(now, all, out);
    }

    /// Answer and close immediately, as the application does.
    fn react(&mut self, now: Time, out: &mut Vec<Segment>) {
        if let Some((_, bytes)) = self.answer.take_if(|(asked, _)| self.receiver.delivered_bytes() >= *asked)
        {
            self.write(now, bytes, out);
        }
        if self.receiver.is_finished() {
            self.end().close(now, out);
        }
    }

    fn next(&self) -> Time {
        self.sender.next_timer().min(self.receiver.next_timer())
    }
}

struct Wire {
    now: Time,
    /// Client and server.
    hosts: [Host; 2],
    flying: Vec<(Time, usize, Segment)>,
    /// Segments sent, each with the name of its host and a description.
    sent: Vec<String>,
    /// Indices of segments in `sent` that are lost.
    lost: Vec<usize>,
}

impl Wire {
    fn new() -> Wire {
        let hosts = [Host::new('C'), Host::new('S')];
        let mut wire =
            Wire { now: Time::ZERO, hosts, flying: Vec::new(), sent: Vec::new(), lost: Vec::new() };
        wire.act(0, |host, now, out| host.end().open(now, out));
        wire
    }

    /// Select the segments to lose by their indices in `sent`.
    fn losing(mut self, lost: &[usize]) -> Wire {
        self.lost = lost.to_vec();
        self
    }

    fn act(&mut self, from: usize, act: impl FnOnce(&mut Host, Time, &mut Vec<Segment>)) {
        let mut out = Vec::new();
        act(&mut self.hosts[from], self.now, &mut out);
        for segment in out {
            let lost = self.lost.contains(&self.sent.len());
            self.sent.push(format!("{} {}", self.hosts[from].name, describe(&segment)));
            if !lost {
                self.flying.push((self.now + DELAY, 1 - from, segment));
            }
        }
    }

    fn run(&mut self, millis: u64) {
        let end = self.now + Duration::from_millis(millis);
        loop {
            let arrival = self.flying.first().map_or(Time::NEVER, |first| first.0);
            let timers = [0, 1].map(|n| self.hosts[n].next());
            let next = arrival.min(timers[0]).min(timers[1]);
            if next > end {
                self.now = end;
                return;
            }
            self.now = next;
            if arrival == next {
                let (_, to, segment) = self.flying.remove(0);
                self.act(to, |host, now, out| {
                    host.end().on_segment(now, &segment, false, out);
                    host.react(now, out);
                });
            } else {
                let n = usize::from(timers[1] == next);
                self.act(n, |host, now, out| host.end().on_timer(now, out));
            }
        }
    }

    /// Send a request, which the server answers immediately.
    fn ask(&mut self, request: u64, answer: u64) {
        let asked = self.hosts[0].written + request;
        self.hosts[1].answer = Some((asked, answer));
        self.act(0, |host, now, out| host.write(now, request, out));
    }

    fn close(&mut self) {
        self.act(0, |host, now, out| host.end().close(now, out));
    }

    /// Take the segments sent since the last call.
    fn take(&mut self) -> Vec<String> {
        self.lost.clear();
        std::mem::take(&mut self.sent)
    }

    fn is_closed(&self) -> bool {
        self.hosts.iter().all(|host| host.sender.is_closed())
    }
}

fn describe(segment: &Segment) -> String {
    match segment {
        Segment::Syn { .. } => "syn".to_owned(),
        Segment::SynAck { .. } => "syn_ack".to_owned(),
        Segment::HandshakeAck { .. } => "handshake_ack".to_owned(),
        Segment::Ack { ack, .. } => format!("ack {ack}"),
        Segment::Data { seq, len, fin, riding, .. } => {
            let fin = if *fin { " fin" } else { "" };
            let ack = riding.map_or(String::new(), |riding| format!(" ack {}", riding.ack));
            format!("data {seq} {len}{fin}{ack}")
        }
    }
}

/// Connect, and exchange a request of 100 bytes and an answer of 1000 bytes.
fn after_one_exchange() -> Wire {
    let mut wire = Wire::new();
    wire.ask(100, 1_000);
    wire.run(150);
    wire.take();
    wire
}

#[test]
fn three_segments_open_both_directions_and_the_request_follows_the_third() {
    let mut wire = Wire::new();
    wire.ask(100, 1_000);
    wire.run(50);
    assert_eq!(wire.sent, ["C syn", "S syn_ack", "C handshake_ack", "C data 0 100 ack 0"]);
    wire.run(30);
    assert!(wire.hosts.iter().all(|host| host.sender.is_established()));
    let rtts = wire.hosts.each_ref().map(|host| host.sender.srtt());
    assert_eq!(rtts, [Some(DELAY * 2); 2], "each end has measured the RTT of the handshake");
}

#[test]
fn the_first_request_is_acknowledged_at_once_as_nobody_knows_that_an_answer_comes() {
    let mut wire = Wire::new();
    wire.ask(100, 1_000);
    wire.run(150);
    assert_eq!(wire.sent[4..], ["S ack 1", "S data 0 1000 ack 1", "C ack 1"]);
}

#[test]
fn later_acknowledgements_of_requests_ride_on_the_answers() {
    let mut wire = after_one_exchange();
    wire.ask(100, 1_000);
    wire.run(150);
    assert_eq!(wire.take(), ["C data 1 100 ack 1", "S data 1 1000 ack 2", "C ack 2"]);
}

#[test]
fn the_acknowledgement_of_an_answer_rides_on_the_next_request_once_requests_follow_soon() {
    let mut wire = after_one_exchange();
    wire.ask(100, 1_000);
    wire.run(50); // the round trip takes 40 ms
    assert_eq!(wire.take().last().unwrap(), "C ack 2");
    for n in 2..6 {
        wire.ask(100, 1_000);
        wire.run(50);
        let ack = n + 1;
        assert_eq!(wire.take(), [format!("C data {n} 100 ack {n}"), format!("S data {n} 1000 ack {ack}")]);
    }
}

#[test]
fn an_acknowledgement_that_waits_for_an_answer_waits_40_ms_at_most() {
    let mut wire = after_one_exchange();
    wire.hosts[1].answer = None;
    wire.act(0, |host, now, out| host.write(now, 100, out));
    wire.run(20 + 39);
    assert_eq!(wire.take(), ["C data 1 100 ack 1"]);
    wire.run(1);
    assert_eq!(wire.take(), ["S ack 2"]);
}

#[test]
fn a_fin_rides_on_data_that_has_not_left() {
    let mut wire = Wire::new();
    wire.act(0, |host, now, out| host.write(now, 12 * 1_448, out));
    wire.close();
    wire.run(500);
    assert!(wire.sent.contains(&"C data 11 1448 fin ack 0".to_owned()), "{:?}", wire.sent);
    assert_eq!(wire.sent[wire.sent.len() - 2..], ["S data 0 0 fin ack 12", "C ack 1"]);
    assert!(wire.is_closed());
}

#[test]
fn a_fin_goes_by_itself_when_all_data_has_left_and_closes_three_segments_later_both_sides() {
    let mut wire = after_one_exchange();
    wire.close();
    wire.run(150);
    assert_eq!(wire.take(), ["C data 1 0 fin ack 1", "S data 1 0 fin ack 2", "C ack 2"]);
    assert!(wire.is_closed());
    let stats = wire.hosts[0].sender.stats();
    assert_eq!((stats.sent_packets, stats.sent_bytes), (1, 100), "a FIN is no data");
}

#[test]
fn an_answer_that_is_under_way_is_completed_after_the_client_has_closed() {
    let mut wire = Wire::new();
    wire.ask(100, 30_000);
    wire.close();
    wire.run(1_000);
    assert_eq!(wire.hosts[0].receiver.delivered_bytes(), 30_000);
    assert!(wire.is_closed());
}

#[test]
fn whatever_single_segment_is_lost_the_exchange_and_the_close_are_completed() {
    for lost in 0..14 {
        let mut wire = Wire::new().losing(&[lost]);
        wire.ask(100, 4_000);
        wire.run(3_000);
        wire.close();
        wire.run(3_000);
        let got = [1, 0].map(|n| wire.hosts[n].receiver.delivered_bytes());
        assert_eq!(got, [100, 4_000], "without segment {lost}");
        assert!(wire.is_closed(), "without segment {lost}: {:?}", wire.sent);
    }
}

#[test]
fn a_lost_fin_is_sent_again_and_one_that_comes_again_is_acknowledged_again() {
    for (lost, again) in
        [(0, "C data 1 0 fin ack 1"), (1, "S data 1 0 fin ack 2"), (2, "S data 1 0 fin ack 2")]
    {
        let mut wire = after_one_exchange().losing(&[lost]);
        wire.close();
        wire.run(3_000);
        assert!(wire.sent.iter().filter(|sent| *sent == again).count() >= 2, "{:?}", wire.sent);
        assert!(wire.is_closed(), "{:?}", wire.sent);
        let stats = wire.hosts.each_ref().map(|host| *host.sender.stats());
        assert_eq!(stats.map(|stats| stats.retransmitted_packets), [0, 0], "a FIN is no data");
    }
}

#[test]
fn a_stopped_sender_sends_no_fin() {
    let mut wire = Wire::new();
    wire.act(0, |host, now, out| host.write(now, 100 * 1_448, out));
    wire.close();
    wire.run(50);
    let now = wire.now;
    wire.hosts[0].sender.stop(now);
    wire.run(1_000);
    assert!(!wire.hosts[0].sender.is_closing());
    assert!(!wire.sent.iter().any(|sent| sent.contains("fin")), "{:?}", wire.sent);
}
