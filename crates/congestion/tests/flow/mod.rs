//! A BBR flow on a path without a network: the test sets what every round trip delivers.

use congestion::kit::ideal;
use congestion::{
    Ack, CaState, Congestion, CongestionControl, LostPacket, Path, Probe, RateSample, Reading, Undo, build,
};
use serde_json::Value;
use units::{Duration, Time};

/// Packets that the path delivers per RTT: its BDP.
pub const BDP: u32 = 100;

pub struct Flow {
    pub algorithm: Box<dyn CongestionControl>,
    pub now: Time,
    pub rtt: Duration,
    pub delivered: u64,
    pub lost: u64,
    pub marked: u64,
    pub in_flight: u32,
    pub state: CaState,
    pub cwnd_limited: bool,
    pub app_limited: bool,
}

impl Flow {
    /// A flow of `name` with these parameters on a path of 40 ms.
    pub fn new(name: &str, params: Value) -> Flow {
        Flow::with_rtt(name, params, Duration::from_millis(40))
    }

    pub fn with_rtt(name: &str, params: Value, rtt: Duration) -> Flow {
        let mut flow = Flow {
            algorithm: build(name, &params, 1).expect("valid parameters"),
            now: Time::ZERO,
            rtt,
            delivered: 1,
            lost: 0,
            marked: 0,
            in_flight: BDP,
            state: CaState::Open,
            cwnd_limited: true,
            app_limited: false,
        };
        let path = flow.path();
        flow.algorithm.on_established(&path);
        flow
    }

    /// A flow that grows in STARTUP, followed by a round in Recovery with `loss_events` ACKs that reveal losses. The
    /// loss rate of the round is above 2 %.
    pub fn lossy_startup(name: &str, loss_events: u32) -> Flow {
        let mut flow = Flow::new(name, Value::Null);
        flow.in_flight = 10 * BDP; // a long queue, so that DRAIN takes several rounds
        (1..4).for_each(|n| flow.round(20 << n));
        flow.lose(BDP, 1);
        flow.congest(Congestion::Loss);
        flow.state = CaState::Recovery;
        for _ in 0..loss_events {
            flow.within_round(10, |ack, sample| (ack.lost, sample.lost) = (1, 1));
        }
        flow.round_with(400, |_, sample| sample.lost = 20);
        flow
    }

    pub fn path(&self) -> Path {
        Path {
            state: self.state,
            srtt: Some(self.rtt),
            min_rtt: Some(self.rtt),
            in_flight: self.in_flight,
            packets_out: self.in_flight,
            next: self.delivered + u64::from(self.in_flight),
            delivered: self.delivered,
            lost: self.lost,
            marked: self.marked,
            cwnd_limited: self.cwnd_limited,
            app_limited: self.app_limited,
            ..ideal::path(self.now)
        }
    }

    /// Run one round trip that delivers `packets`, as one ACK with a sample of the preceding round. `change` edits the
    /// ACK and the sample.
    pub fn round_with(&mut self, packets: u32, change: impl FnOnce(&mut Ack, &mut RateSample)) {
        self.now += self.rtt;
        let before = self.delivered;
        self.acknowledge(packets, before, change);
    }

    /// Run one round trip that delivers `packets`.
    pub fn round(&mut self, packets: u32) {
        self.round_with(packets, |_, _| {});
    }

    pub fn rounds(&mut self, n: u32) {
        (0..n).for_each(|_| self.round(BDP));
    }

    /// Process an ACK of one packet within a round, with a sample of `packets` per RTT.
    pub fn within_round(&mut self, packets: u32, change: impl FnOnce(&mut Ack, &mut RateSample)) {
        let delivered = packets;
        self.acknowledge(1, 0, |ack, sample| {
            sample.delivered = delivered;
            change(ack, sample);
        });
    }

    fn acknowledge(&mut self, packets: u32, prior: u64, change: impl FnOnce(&mut Ack, &mut RateSample)) {
        self.delivered += u64::from(packets);
        let mut sample = RateSample {
            prior_delivered: prior,
            app_limited: self.app_limited,
            tx_in_flight: self.in_flight,
            ..ideal::sample(packets, self.rtt)
        };
        let mut ack = Ack { prior_in_flight: self.in_flight, rtt: Some(self.rtt), ..ideal::ack(packets) };
        change(&mut ack, &mut sample);
        self.marked += u64::from(ack.marked);
        ack.rate = Some(sample);
        let path = self.path();
        self.algorithm.on_ack(&ack, &path);
    }

    /// Mark a packet lost that was sent with `tx_in_flight` packets in flight. Since its transmission, `lost`
    /// packets have been marked lost, including the packet itself.
    pub fn lose(&mut self, tx_in_flight: u32, lost: u32) {
        self.lost += 1;
        let packet = LostPacket { number: self.lost * 10, tx_in_flight, lost, app_limited: self.app_limited };
        let path = self.path();
        self.algorithm.on_lost(&packet, &path);
    }

    pub fn congest(&mut self, congestion: Congestion) {
        let path = self.path();
        self.algorithm.on_congestion(congestion, &path);
    }

    pub fn undo(&mut self) {
        let path = self.path();
        self.algorithm.on_undo(&Undo { prior_cwnd: 0, prior_ssthresh: 0 }, &path);
    }

    /// Run rounds of `packets` until the flow is in this state.
    pub fn until(&mut self, state: &str, packets: u32) {
        for _ in 0..300 {
            if self.state() == state {
                return;
            }
            self.round(packets);
        }
        panic!("never in {state}, but in {}", self.state());
    }

    /// Run through STARTUP and DRAIN to CRUISE.
    pub fn cruise(mut self) -> Flow {
        self.rounds(5);
        self.in_flight = BDP / 2;
        self.rounds(2);
        assert_eq!(self.state(), "ProbeBW:Cruise");
        self.in_flight = BDP;
        self
    }

    /// Run until the phase is UP and the samples of UP arrive.
    pub fn up(self) -> Flow {
        let mut flow = self.cruise();
        flow.until("ProbeBW:Up", BDP);
        flow.round(BDP);
        flow
    }

    pub fn cwnd(&self) -> u32 {
        self.algorithm.control().cwnd
    }

    /// The mode of the flow and, in PROBE_BW, its phase.
    pub fn state(&self) -> &'static str {
        let mut found = "";
        self.algorithm.observe(&mut Probe::new(&mut |name, reading| {
            if let (Reading::State(state), "state") = (reading, name) {
                found = state;
            }
        }));
        found
    }

    /// Value of a variable of the algorithm; `None` if the algorithm does not report the variable now.
    pub fn variable(&self, wanted: &str) -> Option<f64> {
        let mut found = None;
        self.algorithm.observe(&mut Probe::new(&mut |name, reading| {
            if let (Reading::Number(value, _), true) = (reading, name == wanted) {
                found = Some(value);
            }
        }));
        found
    }

    /// Value of the bandwidth variable `wanted`, in packets per RTT.
    pub fn per_rtt(&self, wanted: &str) -> Option<f64> {
        self.variable(wanted).map(|bw| bw * self.rtt.as_secs_f64())
    }
}
