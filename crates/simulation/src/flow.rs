//! One connection: its two endpoints, and what is measured of it.

use crate::Controllers;
use crate::payload::Packet;
use crate::plan::{FlowPlan, PlanError, WorkloadPlan};
use crate::tables::FlowName;
use crate::tables::series::{DONE, STATES, SeriesRow, WAITING};
use crate::tally::{Mark, Tally, Transfer};
use crate::transport::{Transport, Wire};
use crate::workload::{Paced, Socket, Supply, Writer};
use network::SamplingTimes;
use tcp::{Receiver, Segment, Sender};
use units::{Duration, Rng, Time};

/// A connection that carries data one way. Its data travels on route `2 n`, its acknowledgements on `2 n + 1`.
pub struct Flow {
    /// Number in the plan.
    pub number: u32,
    /// Has the data.
    pub sender: Sender,
    /// Gets it.
    pub receiver: Receiver,
    /// What is measured of it.
    pub tally: Tally,
    /// When the application stops sending.
    stop: Time,
    /// When it hands data out, if that is not all at once.
    application: Option<Box<dyn Supply>>,
    /// Payload to send, if that has an end.
    bytes: Option<u64>,
    mss: u32,
    wire: Wire,
    phase: Phase,
    sampling: SamplingTimes,
    /// Counters at the last sample.
    sampled: (Time, u64, u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Waiting,
    Running,
    /// Stopped or finished; what is outstanding may still be repaired.
    Over,
}

impl Flow {
    /// The flow that `plan` describes, not started.
    ///
    /// # Errors
    /// If its algorithm cannot be built.
    pub fn new(
        number: u32,
        plan: &FlowPlan,
        sampling: SamplingTimes,
        seed: u64,
        controllers: Controllers<'_>,
    ) -> Result<Flow, PlanError> {
        let path = format!("flows[{number}]");
        let seed_of_cca = Rng::stream(seed, &format!("cca/{}", plan.stream)).next_u64();
        let algorithm = plan.make_cca(&path, seed_of_cca, controllers)?;
        let transport = Transport::new(plan, algorithm.traits().ecn);
        Ok(Flow {
            number,
            sender: Sender::new(transport.sender, algorithm),
            receiver: Receiver::new(transport.receiver),
            tally: Tally::new(start(plan, seed)),
            stop: plan.stop_ns.map_or(Time::NEVER, Time::from_nanos),
            application: supply(plan, seed),
            bytes: plan.bytes,
            mss: plan.tcp.mss_bytes,
            wire: transport.wire,
            phase: Phase::Waiting,
            sampling,
            sampled: (Time::ZERO, 0, 0),
        })
    }

    /// When the sending side wants to run.
    pub fn sender_wakeup(&self) -> Time {
        match self.phase {
            Phase::Waiting => self.tally.start,
            Phase::Running => {
                let application = self.application.as_ref().map_or(Time::NEVER, |app| app.next());
                self.sender.next_timer().min(self.stop).min(application)
            }
            Phase::Over => self.sender.next_timer(),
        }
    }

    /// The sending side runs: it starts, stops, or its timer is due.
    pub fn on_sender_wakeup(&mut self, now: Time, out: &mut Vec<Segment>) {
        if self.phase == Phase::Waiting {
            if now < self.tally.start {
                return;
            }
            self.phase = Phase::Running;
            self.sender.open(now, out);
            if now >= self.sampling.warmup() {
                self.tally.begin = Some(self.mark(now));
            }
        }
        if self.phase == Phase::Running && self.application.as_ref().is_some_and(|app| app.next() <= now) {
            self.supply(now, out);
        }
        if self.phase == Phase::Running && now >= self.stop {
            self.sender.stop(now);
            self.close(now);
        }
        if self.sender.next_timer() <= now {
            self.sender.on_timer(now, out);
        }
    }

    /// The application hands data out.
    fn supply(&mut self, now: Time, out: &mut Vec<Segment>) {
        let sent_bytes = self.sender.sent_once_bytes();
        let socket = Socket { sent_bytes, acked_bytes: self.sender.stats().acked_bytes };
        if let Some(application) = &mut self.application {
            let offered = application.run(now, socket);
            self.sender.offer(now, offered, out);
        }
    }

    /// A segment reaches the sender.
    pub fn on_sender_segment(&mut self, now: Time, segment: &Segment, out: &mut Vec<Segment>) {
        self.sender.on_segment(now, segment, out);
        if let Some(rtt) = self.sender.last_rtt()
            && self.sampling.measures(now)
        {
            self.tally.rtt.record(rtt);
        }
        if self.phase == Phase::Running && self.application.as_ref().is_some_and(|app| app.is_blocked()) {
            self.supply(now, out);
        }
        if self.bytes.is_some() && self.phase == Phase::Running && self.sender.is_done() {
            self.tally.finish = Some(now);
            self.close(now);
        }
    }

    /// The packet in which a segment from the sender (or from the receiver) travels.
    pub fn packet(&self, segment: Segment, from_sender: bool) -> Packet {
        self.wire.packet(2 * self.number + u32::from(!from_sender), segment)
    }

    /// The flow has started, and has neither stopped nor finished.
    pub fn is_running(&self) -> bool {
        self.phase == Phase::Running
    }

    /// The warm-up is over.
    pub fn on_warmup(&mut self, now: Time) {
        if self.phase == Phase::Running {
            self.tally.begin = Some(self.mark(now));
        }
    }

    /// The run is over.
    pub fn on_end(&mut self, now: Time) {
        if self.phase == Phase::Running {
            self.tally.end = Some(self.mark(now));
        }
    }

    /// Nothing more will be sent for the first time.
    fn close(&mut self, now: Time) {
        self.phase = Phase::Over;
        self.tally.end = Some(self.mark(now));
    }

    fn mark(&self, time: Time) -> Mark {
        let stats = *self.sender.stats();
        Mark {
            time,
            delivered_bytes: self.receiver.delivered_bytes(),
            wire_bytes: self.wire.bytes(&stats),
            stats,
            refused_bytes: self.application.as_ref().map_or(0, |app| app.refused_bytes()),
            limited: self.sender.limited(time),
        }
    }

    /// What it has done, if what it has to send has an end.
    pub fn transfer(&self) -> Option<Transfer> {
        let bytes = self.bytes.filter(|_| self.phase != Phase::Waiting)?;
        let stats = self.sender.stats();
        Some(Transfer {
            number: 1,
            connection: 1,
            page: 0,
            start: self.tally.start,
            finish: self.tally.finish,
            end: self.tally.end.map(|mark| mark.time),
            bytes,
            delivered_bytes: self.receiver.delivered_bytes(),
            sent_packets: stats.sent_packets,
            retransmitted_packets: stats.retransmitted_packets,
            round_trips: 2,
        })
    }

    /// What happened since the last sample, and where things stand.
    pub fn sample(&mut self, time: Time) -> SeriesRow {
        let state = self.sender.snapshot();
        let (delivered, retransmitted) =
            (self.receiver.delivered_bytes(), self.sender.stats().retransmitted_packets);
        let (before, delivered_before, retransmitted_before) = self.sampled;
        self.sampled = (time, delivered, retransmitted);
        let started = self.phase != Phase::Waiting;
        let bytes = |packets: u32| started.then_some(u64::from(packets) * u64::from(self.mss));
        SeriesRow {
            time_s: time,
            flow: FlowName(self.number),
            goodput_bps: (delivered - delivered_before) as f64 * 8.0 / time.since(before).as_secs_f64(),
            cwnd_bytes: bytes(state.cwnd),
            in_flight_bytes: bytes(state.in_flight),
            srtt_s: state.srtt,
            min_rtt_s: state.min_rtt,
            pacing_bps: state.pacing_rate.filter(|_| started),
            delivery_bps: state.delivery_rate,
            retransmitted_packets: retransmitted - retransmitted_before,
            state: match self.phase {
                Phase::Waiting => WAITING,
                Phase::Over if state.in_flight == 0 => DONE,
                _ => STATES[state.state as usize],
            },
        }
    }

    /// Payload of a full segment.
    pub fn mss(&self) -> u32 {
        self.mss
    }
}

/// Who hands out the data of a connection, if that is not all at once.
fn supply(plan: &FlowPlan, seed: u64) -> Option<Box<dyn Supply>> {
    match &plan.workload {
        Some(WorkloadPlan::Writes(writes)) => {
            let buffer = plan.tcp.send_buffer_bytes;
            Some(Box::new(Writer::new(writes, buffer, start(plan, seed), seed, &plan.stream)))
        }
        _ => Paced::new(plan).map(|paced| Box::new(paced) as Box<dyn Supply>),
    }
}

/// When a flow starts, jitter included.
pub fn start(plan: &FlowPlan, seed: u64) -> Time {
    let share = Rng::stream(seed, &format!("start/{}", plan.stream)).unit();
    let jitter = (share * plan.start_jitter_ns as f64) as u64;
    Time::from_nanos(plan.start_ns) + Duration::from_nanos(jitter)
}
