//! Adapter between an algorithm written in Python and the transport.
//!
//! Between two calls into Python the window grows as the class has declared with `slow_start` and `increase`, so that
//! one call per round trip is enough.

use crate::errors::Failure;
use crate::events::{self, Episode, Path, Round};
use congestion::{
    Ack, Congestion, CongestionControl, Control, EcnMode, LostPacket, Probe, Recovery, Sent, Traits, Undo,
    Window,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use simulation::FlowPlan;
use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use units::{Rate, Time};

/// Largest window: 14 GB in flight. A larger window is a mistake, and would not fit in memory.
const MAX_PACKETS: f64 = 1e7;
const MIN_SSTHRESH: u32 = 2;

/// Methods that the class defines. Other methods are never called.
struct Methods {
    established: Option<Py<PyAny>>,
    ack: Option<Py<PyAny>>,
    lost: Option<Py<PyAny>>,
    congestion: Option<Py<PyAny>>,
    undo: Option<Py<PyAny>>,
    recovery_exit: Option<Py<PyAny>>,
    send: Option<Py<PyAny>>,
    wakeup: Option<Py<PyAny>>,
}

/// A variable that the class adds to the table `variables`.
struct Traced {
    name: &'static str,
    unit: &'static str,
    value: f64,
}

/// An instance of the user's class, and the limits that the instance has set.
pub struct Controller {
    object: Py<PyAny>,
    methods: Methods,
    name: String,
    flow: String,
    traits: Traits,
    per_ack: bool,
    window: Window,
    /// Congestion window and slow-start threshold as last written to the object or read from the object, in packets.
    told: (u32, u32),
    slow_start: f64,
    increase: f64,
    /// Fraction of a packet by which slow start has grown the window beyond the last whole packet.
    credit: f64,
    pacing_rate: Option<Rate>,
    wakeup: Option<Time>,
    hide_samples: bool,
    reduce: bool,
    state: Option<&'static str>,
    traced: Vec<Traced>,
    round: Round,
    now: Time,
}

/// Prefix of the kind of an algorithm in a shared object.
const LIBRARY: &str = "library:";

/// Builds the algorithm of a flow. `factories` has, for each kind, a factory or the path of a shared object.
pub fn make(
    factories: Option<&Py<PyDict>>,
    flow: &FlowPlan,
    seed: u64,
) -> Result<Box<dyn CongestionControl>, String> {
    let cca = flow.cca.as_ref().ok_or("a flow without congestion control")?;
    let kind = &cca.kind;
    let params = serde_json::Value::Object(cca.params.clone()).to_string();
    Python::attach(|py| {
        let factory = factories.and_then(|known| known.bind(py).get_item(kind).ok().flatten());
        let factory = factory.ok_or_else(|| {
            let allow = if kind.starts_with(LIBRARY) { "--allow-code" } else { "--allow-python" };
            format!("\"{kind}\" would run code that is not fullpipe's; if you trust it, add {allow} (in Python: allow_python=True)")
        })?;
        if kind.starts_with(LIBRARY) {
            let path = factory.extract::<String>().map_err(|error| error.to_string())?;
            let name = kind.rsplit(':').next().unwrap_or_default();
            return capi::Library::open(path.as_ref())?.create(name, &params, seed, &flow.name);
        }
        let made = || -> PyResult<Controller> {
            let params = py.import("json")?.call_method1("loads", (params,))?;
            Controller::new(&factory.call1((params, seed))?, kind, &flow.name)
        };
        Ok(Box::new(made().map_err(|error| error.to_string())?) as Box<dyn CongestionControl>)
    })
}

impl Controller {
    /// Wraps an instance of a subclass of `fullpipe.algorithms.Controller`.
    pub fn new(object: &Bound<'_, PyAny>, name: &str, flow: &str) -> PyResult<Controller> {
        let defined: Vec<String> = object.call_method0("_events")?.extract()?;
        let method = |name: &str| {
            defined.iter().any(|d| d == name).then(|| object.getattr(name).map(Bound::unbind)).transpose()
        };
        let methods = Methods {
            established: method("on_established")?,
            ack: method("on_ack")?,
            lost: method("on_lost")?,
            congestion: method("on_congestion")?,
            undo: method("on_undo")?,
            recovery_exit: method("on_recovery_exit")?,
            send: method("on_send")?,
            wakeup: method("on_wakeup")?,
        };
        let flag = |name: &str| object.getattr(name)?.is_truthy();
        let traits = Traits {
            recovery: if flag("owns_recovery")? { Recovery::Algorithm } else { Recovery::Transport },
            ecn: ecn(&object.getattr("ecn")?.extract::<String>()?)?,
            needs_pacing: flag("needs_pacing")?,
            watches_sends: flag("watches_sends")? && methods.send.is_some(),
            watches_losses: methods.lost.is_some(),
            ..Traits::default()
        };
        let traced = object.getattr("traced")?.cast_into::<PyDict>()?;
        let traced = traced.iter().map(|(name, unit)| {
            Ok(Traced {
                name: interned(&name.extract::<String>()?),
                unit: interned(&unit.extract::<String>()?),
                value: f64::NAN,
            })
        });
        let mut made = Controller {
            methods,
            name: name.to_owned(),
            flow: flow.to_owned(),
            traits,
            per_ack: flag("per_ack")?,
            window: Window::default(),
            told: (0, 0),
            slow_start: 0.0,
            increase: 0.0,
            credit: 0.0,
            pacing_rate: None,
            wakeup: None,
            hide_samples: false,
            reduce: false,
            state: None,
            traced: traced.collect::<PyResult<_>>()?,
            round: Round::default(),
            now: Time::ZERO,
            object: object.clone().unbind(),
        };
        made.read(object.py())?;
        Ok(made)
    }

    /// Writes the congestion window and the slow-start threshold to the object.
    fn write(&mut self, py: Python<'_>) -> PyResult<()> {
        let object = self.object.bind(py);
        if self.window.cwnd != self.told.0 {
            object.setattr(pyo3::intern!(py, "cwnd"), self.window.cwnd)?;
        }
        if self.window.ssthresh != self.told.1 {
            let ssthresh = self.window.ssthresh;
            let value = if ssthresh == u32::MAX { f64::INFINITY } else { f64::from(ssthresh) };
            object.setattr(pyo3::intern!(py, "ssthresh"), value)?;
        }
        self.told = (self.window.cwnd, self.window.ssthresh);
        Ok(())
    }

    /// Reads the limits that the object has set, and refuses values out of range.
    fn read(&mut self, py: Python<'_>) -> PyResult<()> {
        let object = self.object.bind(py);
        let number = |name: &Bound<'_, PyString>| object.getattr(name)?.extract::<f64>();
        let optional = |name: &Bound<'_, PyString>| object.getattr(name)?.extract::<Option<f64>>();
        let cwnd = number(pyo3::intern!(py, "cwnd"))?;
        let ssthresh = number(pyo3::intern!(py, "ssthresh"))?;
        self.slow_start = number(pyo3::intern!(py, "slow_start"))?;
        self.increase = number(pyo3::intern!(py, "increase"))?;
        let pacing = optional(pyo3::intern!(py, "pacing_bps"))?;
        let wakeup = optional(pyo3::intern!(py, "wakeup_s"))?;
        self.hide_samples = object.getattr(pyo3::intern!(py, "hide_samples"))?.is_truthy()?;
        self.reduce = object.getattr(pyo3::intern!(py, "reduce"))?.is_truthy()?;
        let state = object.getattr(pyo3::intern!(py, "state"))?;
        self.state = if state.is_none() { None } else { Some(interned(state.cast::<PyString>()?.to_str()?)) };
        for traced in &mut self.traced {
            traced.value = object.getattr(traced.name)?.extract::<Option<f64>>()?.unwrap_or(f64::NAN);
        }
        let untouched = cwnd == f64::from(self.told.0); // the transport and the window growth may exceed the limit
        ensure(
            untouched || (1.0..=MAX_PACKETS).contains(&cwnd),
            "cwnd",
            cwnd,
            "from 1 to 10,000,000 packets",
        )?;
        ensure(ssthresh >= 0.0, "ssthresh", ssthresh, "a number of packets, or infinite")?;
        ensure(
            (0.0..=MAX_PACKETS).contains(&self.slow_start),
            "slow_start",
            self.slow_start,
            "from 0 to 10,000,000",
        )?;
        ensure(
            (0.0..=MAX_PACKETS).contains(&self.increase),
            "increase",
            self.increase,
            "from 0 to 10,000,000",
        )?;
        let rate = pacing.unwrap_or(1.0);
        ensure((1.0..=1e18).contains(&rate), "pacing_bps", rate, "None, or at least 1 bit/s and finite")?;
        let at = wakeup.map(|at| (at, events::instant(at)));
        ensure(!matches!(at, Some((_, None))), "wakeup_s", wakeup.unwrap_or(0.0), "None, or a time")?;
        self.wakeup = at.and_then(|(_, at)| at);
        self.pacing_rate = pacing.map(|bps| Rate::from_bits_per_sec(bps as u64));
        self.window.cwnd = cwnd as u32;
        self.window.ssthresh =
            if ssthresh > MAX_PACKETS { u32::MAX } else { (ssthresh as u32).max(MIN_SSTHRESH) };
        self.told = (self.window.cwnd, self.window.ssthresh);
        Ok(())
    }

    /// Calls a method of the object. Writes the window to the object before the call, and reads the limits that the
    /// object has set after the call.
    fn call(
        &mut self,
        event: &'static str,
        method: impl Fn(&Methods) -> Option<&Py<PyAny>>,
        run: impl for<'py> FnOnce(&Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>,
    ) {
        let failed = Python::attach(|py| {
            let method = method(&self.methods)?.bind(py).clone();
            self.write(py).and_then(|()| run(&method)).and_then(|_| self.read(py)).err()
        });
        if let Some(error) = failed {
            self.fail(event, error);
        }
    }

    /// Ends the run with a panic that the bindings catch and raise in Python.
    fn fail(&self, event: &'static str, error: PyErr) -> ! {
        let (controller, flow) = (self.name.clone(), self.flow.clone());
        resume_unwind(Box::new(Failure { controller, flow, event, time: self.now, error }))
    }

    /// Grows the window between calls, as the class has declared.
    fn grow(&mut self, acked: u32) {
        let mut left = acked;
        if self.window.in_slow_start() {
            if self.slow_start == 1.0 {
                left = self.window.slow_start(acked);
            } else {
                self.credit += self.slow_start * f64::from(acked);
                let whole = self.credit.trunc();
                self.credit -= whole;
                self.window.slow_start(whole as u32);
                left = 0;
            }
        }
        if left > 0 && self.increase > 0.0 {
            let per_increment = (f64::from(self.window.cwnd) / self.increase).max(1.0);
            self.window.additive_increase(per_increment as u32, left);
        }
    }
}

impl CongestionControl for Controller {
    fn on_established(&mut self, path: &congestion::Path) {
        self.now = path.now;
        self.call("on_established", |m| m.established.as_ref(), |method| method.call1((Path::from(path),)));
    }

    fn on_ack(&mut self, ack: &Ack, path: &congestion::Path) {
        self.now = path.now;
        if ack.may_grow && path.cwnd_limited {
            self.grow(ack.acked);
        }
        if self.methods.ack.is_none() {
            return;
        }
        if self.round.add(ack, path) || self.per_ack {
            let sum = self.round.take(ack, path);
            self.call("on_ack", |m| m.ack.as_ref(), |method| method.call1((sum, Path::from(path))));
        }
    }

    fn on_lost(&mut self, lost: &LostPacket, path: &congestion::Path) {
        self.now = path.now;
        let lost = events::LostPacket::from(lost);
        self.call("on_lost", |m| m.lost.as_ref(), |method| method.call1((lost, Path::from(path))));
    }

    fn on_congestion(&mut self, congestion: Congestion, path: &congestion::Path) {
        self.now = path.now;
        self.window.forget_credit();
        self.credit = 0.0;
        let episode = Episode::from(congestion);
        self.call(
            "on_congestion",
            |m| m.congestion.as_ref(),
            |method| method.call1((episode, Path::from(path))),
        );
    }

    fn on_undo(&mut self, undo: &Undo, path: &congestion::Path) {
        self.now = path.now;
        if self.methods.undo.is_none() {
            return self.window.undo(undo);
        }
        let undo = events::Undo::from(undo);
        self.call("on_undo", |m| m.undo.as_ref(), |method| method.call1((undo, Path::from(path))));
    }

    fn on_recovery_exit(&mut self, path: &congestion::Path) {
        self.now = path.now;
        self.call(
            "on_recovery_exit",
            |m| m.recovery_exit.as_ref(),
            |method| method.call1((Path::from(path),)),
        );
    }

    fn on_send(&mut self, sent: &Sent, path: &congestion::Path) {
        self.now = path.now;
        let sent = events::Sent::from(sent);
        self.call("on_send", |m| m.send.as_ref(), |method| method.call1((sent, Path::from(path))));
    }

    fn next_wakeup(&self) -> Option<Time> {
        self.wakeup
    }

    fn on_wakeup(&mut self, path: &congestion::Path) {
        self.now = path.now;
        self.wakeup = None;
        self.call(
            "on_wakeup",
            |m| m.wakeup.as_ref(),
            |method| {
                method.getattr("__self__")?.setattr("wakeup_s", None::<f64>)?;
                method.call1((Path::from(path),))
            },
        );
        if self.wakeup.is_some_and(|at| at <= path.now) {
            let error = PyValueError::new_err("wakeup_s must be in the future, or time would not advance");
            self.fail("on_wakeup", error);
        }
    }

    fn set_cwnd(&mut self, cwnd: u32) {
        self.window.set_cwnd(cwnd);
    }

    fn restart(&mut self, cwnd: u32) {
        match self.traits.recovery {
            Recovery::Transport => self.window.restart(cwnd),
            Recovery::Algorithm => self.window.set_cwnd(cwnd),
        }
    }

    fn control(&self) -> Control {
        Control {
            pacing_rate: self.pacing_rate,
            hide_samples: self.hide_samples,
            reduce: self.reduce,
            ..Control::window(&self.window)
        }
    }

    fn observe(&self, probe: &mut Probe<'_>) {
        match self.state {
            None => self.window.observe(probe),
            Some(state) => {
                probe.state("state", state);
                probe.see("cwnd", f64::from(self.window.cwnd), "packets");
            }
        }
        for traced in &self.traced {
            probe.see(traced.name, traced.value, traced.unit);
        }
    }

    fn traits(&self) -> Traits {
        self.traits
    }
}

fn ecn(mode: &str) -> PyResult<EcnMode> {
    match mode {
        "classic" => Ok(EcnMode::Classic),
        "every_mark" => Ok(EcnMode::EveryMark),
        "l4s" => Ok(EcnMode::L4s),
        _ => Err(PyValueError::new_err(format!("ecn is \"{mode}\"; it must be classic, every_mark or l4s"))),
    }
}

fn ensure(holds: bool, name: &str, value: f64, wanted: &str) -> PyResult<()> {
    if holds { Ok(()) } else { Err(PyValueError::new_err(format!("{name} is {value}; it must be {wanted}"))) }
}

/// A static copy of a name. Each distinct name is leaked once. The leak is bounded, because the names are in the source
/// code of the classes.
fn interned(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return known;
    }
    let kept: &'static str = Box::leak(name.into());
    names.insert(kept);
    kept
}
