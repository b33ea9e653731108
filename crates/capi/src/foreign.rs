//! Adapter that lets the transport use an algorithm of a C library.

use crate::host::Failure;
use crate::written::episode;
use crate::{Ack, Algorithm, Api, Control, Lost, NONE, OK, OnPath, Path, Traits};
use congestion::{Congestion, CongestionControl, LostPacket, Probe, Sent, Undo};
use std::collections::BTreeSet;
use std::ffi::{c_char, c_int, c_void};
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use units::Time;

/// An algorithm of a C library: its handle, and the table of functions of the library.
pub(crate) struct Foreign {
    api: &'static Api,
    handle: *mut Algorithm,
    name: String,
    flow: String,
    traits: congestion::Traits,
    now: Time,
    /// The window that the transport last set.
    told: u32,
}

// SAFETY: a handle belongs to one thread at a time, as the header requires of fullpipe and of the library.
unsafe impl Send for Foreign {}

impl Foreign {
    /// Wraps a handle that the function `create` of this table has returned.
    ///
    /// # Errors
    /// If the traits or the control of the algorithm are invalid.
    pub(crate) fn new(
        api: &'static Api,
        handle: *mut Algorithm,
        name: &str,
        flow: &str,
    ) -> Result<Foreign, String> {
        let (name, flow, traits) = (name.to_owned(), flow.to_owned(), congestion::Traits::default());
        let mut made = Foreign { api, handle, name, flow, traits, now: Time::ZERO, told: 0 };
        made.traits = made.asked_traits()?;
        made.asked_control()?;
        Ok(made)
    }

    fn asked_traits(&self) -> Result<congestion::Traits, String> {
        let mut found = Traits::default();
        let traits = self.api.traits.expect("checked when the library was opened");
        // SAFETY: the handle is valid until `drop`, and `found` is a local record. The same holds for all calls
        // below.
        answered(unsafe { traits(self.handle, &mut found) })?;
        found.read().ok_or_else(|| format!("ecn is {}; it must be 0, 1 or 2", found.ecn))
    }

    fn asked_control(&self) -> Result<congestion::Control, String> {
        let mut found = Control::default();
        let control = self.api.control.expect("checked when the library was opened");
        // SAFETY: see `asked_traits`.
        answered(unsafe { control(self.handle, &mut found) })?;
        found.read(self.told)
    }

    /// Returns the value, or ends the run with a [`Failure`] if the result is an error.
    fn ensure<T>(&self, event: &'static str, result: Result<T, String>) -> T {
        result.unwrap_or_else(|problem| {
            let (algorithm, flow) = (self.name.clone(), self.flow.clone());
            resume_unwind(Box::new(Failure { algorithm, flow, event, time: self.now, problem }))
        })
    }

    fn on_path(&mut self, event: &'static str, function: Option<OnPath>, path: &congestion::Path) {
        self.now = path.now;
        if let Some(function) = function {
            // SAFETY: see `asked_traits`.
            let status = unsafe { function(self.handle, &Path::from(path)) };
            self.ensure(event, answered(status));
        }
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        let destroy = self.api.destroy.expect("checked when the library was opened");
        // SAFETY: the handle is not used again.
        unsafe { destroy(self.handle) };
    }
}

impl CongestionControl for Foreign {
    fn on_established(&mut self, path: &congestion::Path) {
        self.on_path("established", self.api.established, path);
        let traits = self.asked_traits();
        self.traits = self.ensure("traits", traits);
    }

    fn on_ack(&mut self, ack: &congestion::Ack, path: &congestion::Path) {
        self.now = path.now;
        let function = self.api.ack.expect("checked when the library was opened");
        // SAFETY: see `asked_traits`.
        let status = unsafe { function(self.handle, &Ack::from(ack), &Path::from(path)) };
        self.ensure("ack", answered(status));
    }

    fn on_lost(&mut self, lost: &LostPacket, path: &congestion::Path) {
        self.now = path.now;
        if let Some(function) = self.api.lost {
            // SAFETY: see `asked_traits`.
            let status = unsafe { function(self.handle, &Lost::from(lost), &Path::from(path)) };
            self.ensure("lost", answered(status));
        }
    }

    fn on_congestion(&mut self, congestion: Congestion, path: &congestion::Path) {
        self.now = path.now;
        let mut told = Path::from(path);
        if let Congestion::TailLoss { app_limited } = congestion {
            told.app_limited = u32::from(app_limited);
        }
        let function = self.api.congestion.expect("checked when the library was opened");
        // SAFETY: see `asked_traits`.
        let status = unsafe { function(self.handle, episode(congestion), &told) };
        self.ensure("congestion", answered(status));
    }

    fn on_undo(&mut self, undo: &Undo, path: &congestion::Path) {
        self.now = path.now;
        match self.api.undo {
            Some(function) => {
                let told = Path::from(path);
                // SAFETY: see `asked_traits`.
                let status = unsafe { function(self.handle, undo.prior_cwnd, undo.prior_ssthresh, &told) };
                self.ensure("undo", answered(status));
            }
            // Linux `tcp_reno_undo_cwnd`.
            None => self.set_cwnd(self.control().cwnd.max(undo.prior_cwnd)),
        }
    }

    fn on_recovery_exit(&mut self, path: &congestion::Path) {
        self.on_path("recovery_exit", self.api.recovery_exit, path);
    }

    fn on_send(&mut self, sent: &Sent, path: &congestion::Path) {
        self.now = path.now;
        if let Some(function) = self.api.sent {
            let (from_idle, gap) = (u32::from(sent.from_idle), sent.gap.as_nanos());
            // SAFETY: see `asked_traits`.
            let status = unsafe { function(self.handle, sent.packets, from_idle, gap, &Path::from(path)) };
            self.ensure("sent", answered(status));
        }
    }

    fn next_wakeup(&self) -> Option<Time> {
        // SAFETY: see `asked_traits`.
        let at = self.api.next_wakeup.map_or(NONE, |function| unsafe { function(self.handle) });
        (at != NONE).then(|| Time::from_nanos(at))
    }

    fn on_wakeup(&mut self, path: &congestion::Path) {
        self.on_path("wakeup", self.api.wakeup, path);
        if self.next_wakeup().is_some_and(|at| at <= path.now) {
            let problem = "the next wake-up must be in the future, or time would not advance";
            self.ensure("next_wakeup", Err(problem.to_owned()))
        }
    }

    fn set_cwnd(&mut self, cwnd: u32) {
        self.told = cwnd;
        let function = self.api.set_cwnd.expect("checked when the library was opened");
        // SAFETY: see `asked_traits`.
        let status = unsafe { function(self.handle, cwnd) };
        self.ensure("set_cwnd", answered(status));
    }

    fn restart(&mut self, cwnd: u32) {
        self.told = cwnd;
        match self.api.restart {
            Some(function) => {
                // SAFETY: see `asked_traits`.
                let status = unsafe { function(self.handle, cwnd) };
                self.ensure("restart", answered(status));
            }
            None => self.set_cwnd(cwnd),
        }
    }

    fn control(&self) -> congestion::Control {
        self.ensure("control", self.asked_control())
    }

    fn observe(&self, probe: &mut Probe<'_>) {
        if let Some(function) = self.api.observe {
            // SAFETY: see `asked_traits`. The library calls `see` before `observe` returns, so the probe is valid.
            let status = unsafe { function(self.handle, see, std::ptr::from_mut(probe).cast()) };
            self.ensure("observe", answered(status));
        }
    }

    fn traits(&self) -> congestion::Traits {
        self.traits
    }
}

fn answered(status: c_int) -> Result<(), String> {
    if status == OK { Ok(()) } else { Err("the library reports a failure".to_owned()) }
}

/// Receives an internal variable from a library and passes it to the probe `context`.
extern "C" fn see(
    context: *mut c_void,
    name: *const c_char,
    name_length: usize,
    value: f64,
    unit: *const c_char,
    unit_length: usize,
    state: *const c_char,
    state_length: usize,
) {
    // SAFETY: `observe` passes the probe, and no other thread uses the probe.
    let Some(probe) = (unsafe { context.cast::<Probe<'_>>().as_mut() }) else { return };
    // SAFETY: the library passes texts with their lengths.
    let (name, unit, state) =
        unsafe { (text(name, name_length), text(unit, unit_length), text(state, state_length)) };
    match (name, state) {
        (Some(name), Some(state)) => probe.state(name, state),
        (Some(name), None) => probe.see(name, value, unit.unwrap_or("")),
        (None, _) => {}
    }
}

/// # Safety
/// `at` is null or points to `length` bytes.
unsafe fn text(at: *const c_char, length: usize) -> Option<&'static str> {
    if at.is_null() {
        return None;
    }
    // SAFETY: as the caller promises.
    let bytes = unsafe { std::slice::from_raw_parts(at.cast::<u8>(), length) };
    interned(std::str::from_utf8(bytes).ok()?)
}

/// A static copy of a text. Each distinct text is leaked once. `None` after a thousand distinct texts, because no
/// library has a thousand names.
fn interned(text: &str) -> Option<&'static str> {
    const MOST: usize = 1_000;
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(text) {
        return Some(known);
    }
    if names.len() == MOST {
        return None;
    }
    let kept: &'static str = Box::leak(text.into());
    names.insert(kept);
    Some(kept)
}
