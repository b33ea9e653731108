//! An algorithm that records its calls.

use congestion::{
    Ack, CaState, Congestion, CongestionControl, Control, LostPacket, Path, Probe, Traits, Undo, Window,
};
use std::sync::{Arc, Mutex};
use units::Rate;

/// Calls that the spy has received.
#[derive(Debug, Default)]
pub struct Seen {
    /// Each reported ACK, with the state of loss recovery.
    pub acks: Vec<(Ack, CaState)>,
    /// Each reported episode, with the number of the next new packet when the episode began.
    pub congestion: Vec<(Congestion, u64)>,
    pub undone: usize,
    /// Windows at the reported ends of episodes.
    pub exits: Vec<u32>,
    pub lost: Vec<LostPacket>,
    /// The MSS of the last call.
    pub mss: u32,
}

/// An algorithm whose window is halved on congestion and never grows. It requests a reduction on every ACK whose
/// index is in `asks`.
pub struct Spy {
    window: Window,
    /// Pacing rate.
    pub pace: Option<Rate>,
    /// Whether the transport checks for pauses of the application before ACKs and timers, too.
    pub watches_pauses: bool,
    reduce: bool,
    asks: std::ops::Range<usize>,
    seen: Arc<Mutex<Seen>>,
}

impl Spy {
    pub fn asking(asks: std::ops::Range<usize>) -> (Box<Spy>, Arc<Mutex<Seen>>) {
        let seen = Arc::default();
        let spy = Spy {
            window: Window::default(),
            pace: None,
            watches_pauses: false,
            reduce: false,
            asks,
            seen: Arc::clone(&seen),
        };
        (Box::new(spy), seen)
    }
}

impl CongestionControl for Spy {
    fn on_ack(&mut self, ack: &Ack, path: &Path) {
        let mut seen = self.seen.lock().unwrap();
        self.reduce = self.asks.contains(&seen.acks.len());
        seen.acks.push((*ack, path.state));
        seen.mss = path.mss;
    }

    fn on_congestion(&mut self, congestion: Congestion, path: &Path) {
        self.window.ssthresh = self.window.cwnd / 2;
        self.seen.lock().unwrap().congestion.push((congestion, path.next));
    }

    fn on_lost(&mut self, lost: &LostPacket, _path: &Path) {
        self.seen.lock().unwrap().lost.push(*lost);
    }

    fn on_undo(&mut self, _undo: &Undo, _path: &Path) {
        self.seen.lock().unwrap().undone += 1;
    }

    fn on_recovery_exit(&mut self, _path: &Path) {
        self.seen.lock().unwrap().exits.push(self.window.cwnd);
    }

    fn set_cwnd(&mut self, cwnd: u32) {
        self.window.set_cwnd(cwnd);
    }

    fn control(&self) -> Control {
        Control { reduce: self.reduce, pacing_rate: self.pace, ..Control::window(&self.window) }
    }

    fn observe(&self, _probe: &mut Probe<'_>) {}

    fn traits(&self) -> Traits {
        Traits {
            needs_pacing: self.pace.is_some(),
            watches_losses: true,
            watches_pauses: self.watches_pauses,
            ..Traits::default()
        }
    }
}
