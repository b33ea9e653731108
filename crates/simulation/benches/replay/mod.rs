//! Recording of an algorithm's calls in a simulated run, and their replay to a new instance of the algorithm.

use congestion::{Ack, Congestion, CongestionControl, Control, LostPacket, Path, Probe, Sent, Traits, Undo};
use serde_json::json;
use simulation::{Controllers, Plan, Simulation};
use std::hint::black_box;
use std::sync::{Arc, Mutex};
use units::Time;

/// Simulated seconds of a run, and simulated seconds before the measurement. Every algorithm has left its start-up
/// before the measurement. The measured part has a whole cycle of CUBIC and of BBR, and its calls fit into a
/// processor's cache.
const SECONDS: u64 = 10;
const WARMUP: u64 = 5;

const SEED: u64 = 1;

/// A call of an algorithm, with its arguments.
#[derive(Clone)]
#[allow(clippy::large_enum_variant, reason = "nearly all are ACKs")]
enum Call {
    Established(Path),
    Ack(Ack, Path),
    Lost(LostPacket, Path),
    Congestion(Congestion, Path),
    Undo(Undo, Path),
    Exit(Path),
    Send(Sent, Path),
    Wakeup(Path),
    SetCwnd(u32),
    Restart(u32),
}

impl Call {
    fn make(&self, algorithm: &mut dyn CongestionControl) {
        match self {
            Call::Established(path) => algorithm.on_established(path),
            Call::Ack(ack, path) => {
                algorithm.on_ack(ack, path);
                black_box(&algorithm.control());
            }
            Call::Lost(lost, path) => algorithm.on_lost(lost, path),
            Call::Congestion(congestion, path) => algorithm.on_congestion(*congestion, path),
            Call::Undo(undo, path) => algorithm.on_undo(undo, path),
            Call::Exit(path) => algorithm.on_recovery_exit(path),
            Call::Send(sent, path) => algorithm.on_send(sent, path),
            Call::Wakeup(path) => algorithm.on_wakeup(path),
            Call::SetCwnd(cwnd) => algorithm.set_cwnd(*cwnd),
            Call::Restart(cwnd) => algorithm.restart(*cwnd),
        }
    }
}

/// Forwards all calls to an algorithm and records them.
struct Recorder {
    algorithm: Box<dyn CongestionControl>,
    calls: Arc<Mutex<Vec<Call>>>,
}

impl Recorder {
    fn call(&mut self, call: Call) {
        call.make(&mut *self.algorithm);
        self.calls.lock().expect("one thread").push(call);
    }
}

impl CongestionControl for Recorder {
    fn on_established(&mut self, path: &Path) {
        self.call(Call::Established(*path));
    }

    fn on_ack(&mut self, ack: &Ack, path: &Path) {
        self.call(Call::Ack(*ack, *path));
    }

    fn on_lost(&mut self, lost: &LostPacket, path: &Path) {
        self.call(Call::Lost(*lost, *path));
    }

    fn on_congestion(&mut self, congestion: Congestion, path: &Path) {
        self.call(Call::Congestion(congestion, *path));
    }

    fn on_undo(&mut self, undo: &Undo, path: &Path) {
        self.call(Call::Undo(*undo, *path));
    }

    fn on_recovery_exit(&mut self, path: &Path) {
        self.call(Call::Exit(*path));
    }

    fn on_send(&mut self, sent: &Sent, path: &Path) {
        self.call(Call::Send(*sent, *path));
    }

    fn next_wakeup(&self) -> Option<Time> {
        self.algorithm.next_wakeup()
    }

    fn on_wakeup(&mut self, path: &Path) {
        self.call(Call::Wakeup(*path));
    }

    fn set_cwnd(&mut self, cwnd: u32) {
        self.call(Call::SetCwnd(cwnd));
    }

    fn restart(&mut self, cwnd: u32) {
        self.call(Call::Restart(cwnd));
    }

    fn control(&self) -> Control {
        self.algorithm.control()
    }

    fn observe(&self, probe: &mut Probe<'_>) {
        self.algorithm.observe(probe);
    }

    fn traits(&self) -> Traits {
        self.algorithm.traits()
    }
}

/// Calls of one algorithm in a run, in the warm-up and in the measured part.
pub struct Recording {
    /// The algorithm.
    pub name: &'static str,
    calls: Vec<Call>,
    warmup: usize,
    /// ACKs after the warm-up.
    pub acks: u64,
}

impl Recording {
    /// Run the algorithm alone over 20 Mbit/s and 40 ms with a buffer of 1 BDP. The receiver acknowledges every other
    /// packet.
    pub fn make(name: &'static str) -> Recording {
        let calls: Arc<Mutex<Vec<Call>>> = Arc::default();
        let recorded = Arc::clone(&calls);
        let make: Controllers = Arc::new(move |_, seed| {
            let algorithm = build(name, seed);
            Ok(Box::new(Recorder { algorithm, calls: Arc::clone(&recorded) }))
        });
        let mut run = Simulation::with_controllers(plan(), SEED, &make).expect("a valid plan");
        run.advance(Time::from_nanos(WARMUP * 1_000_000_000));
        let warmup = calls.lock().expect("one thread").len();
        run.finish();
        let calls = std::mem::take(&mut *calls.lock().expect("one thread"));
        let acks = calls[warmup..].iter().filter(|call| matches!(call, Call::Ack(..))).count() as u64;
        Recording { name, calls, warmup, acks }
    }

    /// Return a new algorithm that has processed the calls of the warm-up. The remaining calls are read into the cache,
    /// as a sender also has the data of a call in the cache.
    pub fn warm(&self) -> Box<dyn CongestionControl> {
        let (warmup, rest) = self.calls.split_at(self.warmup);
        let mut algorithm = build(self.name, SEED);
        warmup.iter().for_each(|call| call.make(&mut *algorithm));
        for call in rest {
            black_box(call.clone());
        }
        algorithm
    }

    /// Replay the calls after the warm-up.
    #[inline(never)]
    pub fn replay(&self, algorithm: &mut dyn CongestionControl) {
        self.calls[self.warmup..].iter().for_each(|call| call.make(algorithm));
    }
}

fn build(name: &str, seed: u64) -> Box<dyn CongestionControl> {
    congestion::build(name, &serde_json::Value::Null, seed).expect("defaults are valid")
}

fn plan() -> Plan {
    let link = |name: &str, rate: Option<u64>, packets: Option<u64>| {
        json!({
            "name": name, "stream": name, "rate_bps": rate, "delay_ns": 20_000_000, "loss": null,
            "queue": { "kind": "drop_tail", "packets": packets, "bytes": null },
        })
    };
    let plan = json!({
        "duration_ns": SECONDS * 1_000_000_000, "warmup_ns": 0,
        "links": [link("there", Some(20_000_000), Some(66)), link("back", None, None)],
        "flows": [{
            "name": "only", "stream": "only", "cca": { "kind": "bench:recorded", "params": {} },
            "start_ns": 0, "start_jitter_ns": 0, "stop_ns": null, "bytes": null, "forward": [0], "reverse": [1],
        }],
        "record": { "interval_ns": null, "variables": false },
    });
    Plan::from_json(&plan.to_string()).expect("a valid plan")
}
