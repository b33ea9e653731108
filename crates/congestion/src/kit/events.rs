//! Scripts: sequences of events made from bytes, and a transport that only counts packets in flight.

use super::ideal;
use crate::{
    Ack, CaState, Congestion, CongestionControl, LostPacket, Path, RateSample, Recovery, Sent, Undo,
};
use units::{Duration, Time};

/// An event of a transport. Events may happen in any order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// An ACK.
    Ack {
        /// Packets acknowledged.
        acked: u32,
        /// Packets marked lost.
        lost: u32,
        /// Packets reported CE-marked.
        marked: u32,
        /// RTT sample, if any.
        rtt: Option<Duration>,
        /// Whether the rate sample is app-limited; `None`: no rate sample.
        rate: Option<bool>,
        /// Whether the rate sample has an interval.
        timed: bool,
        /// Whether the window limited the flow.
        used: bool,
    },
    /// An episode begins.
    Congestion(Congestion),
    /// The last episode turns out to be spurious.
    Undo,
    /// The last episode ends.
    Exit,
    /// The transport sends a burst.
    Send {
        /// Whether no packet was in flight before the burst.
        idle: bool,
    },
    /// The transport sets the window to this many packets.
    SetCwnd(u32),
    /// The transport reduces the window to this many packets after an idle time.
    Restart(u32),
    /// Time passes. If a wake-up of the algorithm becomes due, its `on_wakeup` is called.
    Pass(Duration),
}

/// Events, in the order in which they happen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// Payload of a full packet, bytes.
    pub mss: u32,
    /// The events.
    pub events: Vec<Event>,
}

/// A reader of numbers from bytes, which returns zeros after the last byte.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// Read a number below `1 << limit`; small numbers are more frequent than large ones.
    fn count(&mut self, limit: u32) -> u32 {
        let (exponent, mantissa) = (u32::from(self.byte()) % (limit - 7), u32::from(self.byte()));
        mantissa << exponent
    }

    /// Read a time from 1 us to 18 minutes, on a logarithmic scale.
    fn duration(&mut self) -> Duration {
        let (exponent, mantissa) = (self.byte() % 23, u64::from(self.byte()));
        Duration::from_micros((mantissa << exponent) + 1)
    }
}

impl Script {
    /// Read a script from any bytes. Each event takes a few bytes, so a short input gives a short script.
    pub fn from_bytes(bytes: &[u8]) -> Script {
        let mut reader = Reader(bytes);
        let mss = [ideal::MSS, 1, 536, 8948][usize::from(reader.byte() % 4)];
        let mut events = Vec::new();
        while !reader.0.is_empty() {
            events.push(event(&mut reader));
        }
        Script { mss, events }
    }
}

fn event(reader: &mut Reader<'_>) -> Event {
    match reader.byte() % 26 {
        0..=8 => {
            let (acked, lost) = (reader.count(12), reader.count(12));
            let flags = reader.byte();
            let flag = |bit: u8| flags & (1 << bit) != 0;
            Event::Ack {
                acked,
                lost: if flag(0) { lost } else { 0 },
                marked: if flag(1) { acked / 2 } else { 0 },
                rtt: flag(2).then(|| reader.duration()),
                rate: flag(3).then_some(flag(4)),
                timed: !flag(6),
                used: !flag(5),
            }
        }
        9..=13 => Event::Pass(reader.duration()),
        14 | 15 => Event::Send { idle: reader.byte() % 2 == 0 },
        16 => Event::Congestion(Congestion::Loss),
        17 => Event::Congestion(Congestion::Ecn),
        18 => Event::Congestion(Congestion::Timeout { first: true }),
        19 => Event::Congestion(Congestion::Timeout { first: false }),
        20 => Event::Congestion(Congestion::Delay),
        21 => Event::Congestion(Congestion::TailLoss { app_limited: reader.byte() % 2 == 0 }),
        22 => Event::Undo,
        23 => Event::Exit,
        24 => Event::SetCwnd(reader.count(24)),
        _ => Event::Restart(reader.count(24)),
    }
}

/// A transport that sends no packets, but whose counters are consistent.
#[derive(Clone, Debug)]
pub struct Transport {
    now: Time,
    mss: u32,
    delivered: u64,
    lost: u64,
    marked: u64,
    state: CaState,
    in_flight: u32,
    srtt: Duration,
    min_rtt: Duration,
    prior: Option<Undo>,
}

impl Transport {
    /// Create a connection with an RTT of 40 ms after its handshake.
    pub fn new(mss: u32) -> Transport {
        Transport {
            now: Time::ZERO,
            mss,
            delivered: 1,
            lost: 0,
            marked: 0,
            state: CaState::Open,
            in_flight: 10,
            srtt: ideal::RTT,
            min_rtt: ideal::RTT,
            prior: None,
        }
    }

    /// The present time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Window and slow-start threshold that an undo would restore.
    pub fn prior(&self) -> Option<Undo> {
        self.prior
    }

    /// The path as passed to the algorithm. `used`: whether the window limits the flow.
    pub fn path(&self, used: bool) -> Path {
        Path {
            mss: self.mss,
            state: self.state,
            srtt: Some(self.srtt),
            min_rtt: Some(self.min_rtt),
            in_flight: self.in_flight,
            packets_out: self.in_flight,
            next: self.delivered + u64::from(self.in_flight),
            delivered: self.delivered,
            lost: self.lost,
            marked: self.marked,
            cwnd_limited: used,
            app_limited: !used,
            ..ideal::path(self.now)
        }
    }

    /// Apply an event to an algorithm.
    pub fn apply(&mut self, algorithm: &mut dyn CongestionControl, event: &Event) {
        match *event {
            Event::Ack { .. } => self.acknowledge(algorithm, event),
            Event::Congestion(congestion) => self.congest(algorithm, congestion),
            Event::Undo => {
                if let Some(undo) = self.prior {
                    algorithm.on_undo(&undo, &self.path(true));
                }
                self.state = CaState::Open;
            }
            Event::Exit => {
                self.state = CaState::Open;
                algorithm.on_recovery_exit(&self.path(true));
            }
            Event::Send { idle } => {
                let sent = Sent { packets: 2, from_idle: idle, gap: Duration::from_millis(3) };
                algorithm.on_send(&sent, &self.path(true));
            }
            Event::SetCwnd(cwnd) => algorithm.set_cwnd(cwnd),
            Event::Restart(cwnd) => algorithm.restart(cwnd),
            Event::Pass(time) => {
                self.now += time;
                if algorithm.next_wakeup().is_some_and(|at| at <= self.now) {
                    algorithm.on_wakeup(&self.path(true));
                }
            }
        }
    }

    fn congest(&mut self, algorithm: &mut dyn CongestionControl, congestion: Congestion) {
        let control = algorithm.control();
        let again = congestion == Congestion::Timeout { first: false };
        if !again || self.prior.is_none() {
            self.prior = Some(Undo { prior_cwnd: control.cwnd, prior_ssthresh: control.ssthresh });
        }
        algorithm.on_congestion(congestion, &self.path(true));
        self.state = match congestion {
            Congestion::Loss => CaState::Recovery,
            Congestion::Ecn | Congestion::Delay => CaState::Cwr,
            Congestion::TailLoss { .. } => CaState::Open,
            Congestion::Timeout { .. } => CaState::Loss,
        };
    }

    fn acknowledge(&mut self, algorithm: &mut dyn CongestionControl, event: &Event) {
        let Event::Ack { acked, lost, marked, rtt, rate, timed, used } = *event else { return };
        let prior_delivered = self.delivered.saturating_sub(u64::from(self.in_flight));
        self.delivered += u64::from(acked);
        self.marked += u64::from(marked);
        self.lose(algorithm, lost);
        if let Some(rtt) = rtt {
            self.min_rtt = self.min_rtt.min(rtt);
            self.srtt = (self.srtt * 7 + rtt) / 8;
        }
        let reduces = algorithm.traits().recovery == Recovery::Transport
            && self.state >= CaState::Cwr
            && self.state < CaState::Loss;
        let ack = Ack {
            lost,
            marked,
            rtt,
            one_way_delay: rtt.map(|rtt| rtt / 2),
            prior_state: self.state,
            prior_in_flight: self.in_flight,
            may_grow: acked > 0 && !reduces,
            una: self.delivered,
            rate: rate.map(|app_limited| RateSample {
                interval: timed.then(|| rtt.unwrap_or(self.srtt).max(self.min_rtt)),
                app_limited,
                prior_delivered,
                lost,
                marked,
                tx_in_flight: self.in_flight,
                ..ideal::sample(acked, self.srtt)
            }),
            ..ideal::ack(acked)
        };
        algorithm.on_ack(&ack, &self.path(used));
        self.in_flight = algorithm.control().cwnd.min(100_000);
    }

    /// Mark packets lost, and report each to an algorithm that watches losses.
    fn lose(&mut self, algorithm: &mut dyn CongestionControl, lost: u32) {
        if !algorithm.traits().watches_losses {
            self.lost += u64::from(lost);
            return;
        }
        for n in 1..=lost {
            self.lost += 1;
            let packet = LostPacket {
                number: self.delivered + u64::from(n),
                tx_in_flight: self.in_flight,
                lost: n,
                app_limited: false,
            };
            algorithm.on_lost(&packet, &self.path(true));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_are_a_script() {
        assert!(Script::from_bytes(&[]).events.is_empty());
        assert_eq!(Script::from_bytes(&[0, 22, 23]).events, [Event::Undo, Event::Exit]);
    }

    #[test]
    fn every_event_can_be_written() {
        let kinds = (0..26).map(|kind| event(&mut Reader(&[kind, 1, 1, 1, 1, 63])));
        let distinct: std::collections::BTreeSet<String> = kinds.map(|e| format!("{e:?}")).collect();
        assert_eq!(distinct.len(), 13);
    }
}
