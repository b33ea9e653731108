//! Tests of the kit with one faulty algorithm for every invariant.

use congestion::kit::{INVARIANTS, Script, judge};
use congestion::{Ack, Congestion, CongestionControl, Control, Path, Probe, Traits, Undo, Window};
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};
use units::{Duration, Rate, Time};

/// Reno's window with one fault. `fault` is the index of the invariant that the fault breaks.
struct Faulty {
    fault: usize,
    window: Window,
    asked: Cell<u32>,
    now: Time,
}

/// Counter that makes two instances with the same seed differ, like an algorithm whose random numbers do not come from
/// its seed.
static MADE: AtomicU32 = AtomicU32::new(0);

impl Faulty {
    fn new(fault: usize) -> Faulty {
        let mut window = Window::default();
        if fault == 6 {
            window.cwnd += MADE.fetch_add(1, Ordering::Relaxed);
        }
        Faulty { fault, window, asked: Cell::new(0), now: Time::ZERO }
    }
}

impl CongestionControl for Faulty {
    fn on_ack(&mut self, ack: &Ack, path: &Path) {
        self.now = path.now;
        if self.fault == 7 || (ack.may_grow && path.cwnd_limited) {
            let acked =
                if self.window.in_slow_start() { self.window.slow_start(ack.acked) } else { ack.acked };
            self.window.additive_increase(self.window.cwnd, acked);
        }
    }

    fn on_congestion(&mut self, congestion: Congestion, _path: &Path) {
        if self.fault == 9 || congestion != (Congestion::Timeout { first: false }) {
            self.window.ssthresh = (self.window.cwnd / 2).max(2);
        }
    }

    fn on_undo(&mut self, undo: &Undo, _path: &Path) {
        if self.fault != 10 {
            self.window.undo(undo);
        }
    }

    fn next_wakeup(&self) -> Option<Time> {
        (self.fault == 5).then_some(self.now + Duration::from_millis(1))
    }

    fn set_cwnd(&mut self, cwnd: u32) {
        self.window.set_cwnd(if self.fault == 8 { cwnd / 2 } else { cwnd });
    }

    fn control(&self) -> Control {
        self.asked.set(self.asked.get() + 1);
        let mut control = Control::window(&self.window);
        match self.fault {
            0 => control.cwnd = 0,
            1 => control.ssthresh = 1,
            2 => control.pacing_rate = Some(Rate::from_bits_per_sec(0)),
            3 => control.cwnd += self.asked.get(),
            _ => {}
        }
        control
    }

    fn observe(&self, probe: &mut Probe<'_>) {
        self.window.observe(probe);
        if self.fault == 4 {
            probe.see("cwnd", f64::NAN, "packets");
        }
    }

    fn traits(&self) -> Traits {
        Traits::default()
    }
}

/// Scripts of random events, from a fixed seed.
fn scripts() -> impl Iterator<Item = Script> {
    let mut rng = units::Rng::stream(1, "kit");
    (0..50).map(move |_| {
        let bytes: Vec<u8> = (0..100).flat_map(|_| rng.next_u64().to_le_bytes()).collect();
        Script::from_bytes(&bytes)
    })
}

#[test]
fn every_invariant_finds_its_fault() {
    for (fault, invariant) in INVARIANTS.iter().enumerate() {
        let broken = scripts().find_map(|script| judge(&|| Box::new(Faulty::new(fault)), &script).err());
        assert_eq!(broken.map(|b| b.invariant), Some(invariant.name));
    }
}

#[test]
fn what_has_no_fault_passes() {
    let sound = INVARIANTS.len();
    for script in scripts() {
        assert_eq!(judge(&|| Box::new(Faulty::new(sound)), &script), Ok(()));
    }
}
