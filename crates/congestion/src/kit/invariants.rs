//! Invariants of every algorithm after any sequence of events, for tests, the fuzzer and external algorithms.

use super::{Event, Script, Transport};
use crate::{Congestion, CongestionControl, Control, Probe, Reading, Recovery};
use std::fmt;

/// State after an event.
pub struct Step<'a> {
    /// The algorithm.
    pub algorithm: &'a dyn CongestionControl,
    /// A second instance with the same seed and the same events.
    pub twin: &'a dyn CongestionControl,
    /// Outputs of the algorithm before the event.
    pub before: Control,
    /// The event.
    pub event: &'a Event,
    /// The transport after the event.
    pub transport: &'a Transport,
}

/// A condition that holds after every event.
pub struct Invariant {
    /// The condition, as a sentence.
    pub name: &'static str,
    /// The check. Its error describes the violation.
    pub check: fn(&Step<'_>) -> Result<(), String>,
}

/// An invariant that was violated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Name of the invariant.
    pub invariant: &'static str,
    /// Index of the event in the script.
    pub event: usize,
    /// Description of the problem.
    pub problem: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invariant violated after event {}: {}: {}", self.event, self.invariant, self.problem)
    }
}

impl std::error::Error for Broken {}

/// All invariants. In addition, a panic is always an error.
pub const INVARIANTS: &[Invariant] = &[
    Invariant { name: "the window is at least one packet", check: window },
    Invariant { name: "the slow-start threshold is at least two packets", check: threshold },
    Invariant { name: "a pacing rate is above zero", check: pacing },
    Invariant { name: "reading the outputs changes no state", check: asking },
    Invariant { name: "variables are finite, each named once", check: variables },
    Invariant { name: "after a wake-up the next wake-up is in the future", check: wakeup },
    Invariant { name: "same seed and events, same outcome", check: twins },
    Invariant { name: "an unused window does not grow", check: unused },
    Invariant { name: "the transport may set any window", check: set },
    Invariant { name: "a repeated timeout does not reduce again", check: repeated },
    Invariant { name: "undo restores the window and the threshold", check: undo },
];

/// Run a script with a new algorithm and check every invariant after every event.
///
/// # Errors
/// The first invariant that is violated.
pub fn judge(make: &dyn Fn() -> Box<dyn CongestionControl>, script: &Script) -> Result<(), Broken> {
    let (mut algorithm, mut twin) = (make(), make());
    let mut transport = Transport::new(script.mss);
    algorithm.on_established(&transport.path(true));
    twin.on_established(&transport.path(true));
    for (n, event) in script.events.iter().enumerate() {
        let before = algorithm.control();
        transport.clone().apply(&mut *twin, event);
        transport.apply(&mut *algorithm, event);
        let step = Step { algorithm: &*algorithm, twin: &*twin, before, event, transport: &transport };
        for Invariant { name, check } in INVARIANTS {
            check(&step).map_err(|problem| Broken { invariant: name, event: n, problem })?;
        }
    }
    Ok(())
}

fn ensure(holds: bool, problem: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(problem()) }
}

/// Describe the fields in which two outputs differ.
fn difference(one: &Control, other: &Control) -> String {
    let fields = |control: &Control| {
        [
            ("cwnd", control.cwnd.to_string()),
            ("ssthresh", threshold_of(control.ssthresh)),
            (
                "pacing_bps",
                control.pacing_rate.map_or("none".to_owned(), |rate| rate.bits_per_sec().to_string()),
            ),
            ("min_burst", control.min_burst.to_string()),
            ("max_burst", control.max_burst.to_string()),
            ("hide_samples", control.hide_samples.to_string()),
            ("reduce", control.reduce.to_string()),
        ]
    };
    let pairs = fields(one).into_iter().zip(fields(other)).filter(|(one, other)| one != other);
    let told: Vec<String> =
        pairs.map(|((name, one), (_, other))| format!("{name} is {one} and {other}")).collect();
    told.join(", ")
}

/// Format a threshold; a threshold that was never set is infinite.
fn threshold_of(ssthresh: u32) -> String {
    if ssthresh == u32::MAX { "infinite".to_owned() } else { ssthresh.to_string() }
}

fn window(step: &Step<'_>) -> Result<(), String> {
    let cwnd = step.algorithm.control().cwnd;
    ensure(cwnd >= 1, || format!("cwnd is {cwnd}"))
}

fn threshold(step: &Step<'_>) -> Result<(), String> {
    let ssthresh = step.algorithm.control().ssthresh;
    ensure(ssthresh >= 2, || format!("ssthresh is {ssthresh}"))
}

fn pacing(step: &Step<'_>) -> Result<(), String> {
    let rate = step.algorithm.control().pacing_rate;
    ensure(rate.is_none_or(|r| r.bits_per_sec() > 0), || "the rate is zero".to_owned())
}

fn asking(step: &Step<'_>) -> Result<(), String> {
    let (control, wakeup) = (step.algorithm.control(), step.algorithm.next_wakeup());
    step.algorithm.observe(&mut Probe::new(&mut |_, _| {}));
    let again = step.algorithm.control();
    ensure(control == again, || format!("two calls differ: {}", difference(&control, &again)))?;
    ensure(wakeup == step.algorithm.next_wakeup(), || "the time of the wake-up changed".to_owned())
}

fn variables(step: &Step<'_>) -> Result<(), String> {
    let (mut names, mut wrong) = (Vec::new(), None);
    step.algorithm.observe(&mut Probe::new(&mut |name, reading| {
        let number = !matches!(reading, Reading::Number(value, _) if !value.is_finite());
        if !number || names.contains(&name) {
            wrong = Some(match reading {
                Reading::Number(value, _) if !number => format!("{name} is {value}"),
                _ => format!("{name} is reported twice"),
            });
        }
        names.push(name);
    }));
    wrong.map_or(Ok(()), Err)
}

fn wakeup(step: &Step<'_>) -> Result<(), String> {
    let (now, next) = (step.transport.now(), step.algorithm.next_wakeup());
    let due = matches!(step.event, Event::Pass(_)) && next.is_some_and(|at| at <= now);
    ensure(!due, || {
        let seconds = |time: units::Time| time.as_secs_f64();
        format!("at {} s the next wake-up is due at {} s", seconds(now), next.map_or(0.0, seconds))
    })
}

fn twins(step: &Step<'_>) -> Result<(), String> {
    let (one, other) = (step.algorithm.control(), step.twin.control());
    ensure(one == other, || difference(&one, &other))
}

/// Whether the algorithm sets its window itself, so that the transport does not limit the window.
fn owns_its_window(step: &Step<'_>) -> bool {
    step.algorithm.traits().recovery == Recovery::Algorithm
}

fn unused(step: &Step<'_>) -> Result<(), String> {
    let (before, now) = (step.before.cwnd, step.algorithm.control().cwnd);
    let unused = matches!(step.event, Event::Ack { used: false, .. });
    let exempt = owns_its_window(step) || step.algorithm.traits().grows_unused;
    ensure(!unused || now <= before || exempt, || format!("cwnd went from {before} to {now}"))
}

fn set(step: &Step<'_>) -> Result<(), String> {
    let (Event::SetCwnd(wanted) | Event::Restart(wanted)) = *step.event else { return Ok(()) };
    let cwnd = step.algorithm.control().cwnd;
    ensure(cwnd == wanted.max(1) || owns_its_window(step), || format!("set to {wanted}, cwnd is {cwnd}"))
}

fn repeated(step: &Step<'_>) -> Result<(), String> {
    let again = *step.event == Event::Congestion(Congestion::Timeout { first: false });
    let (before, now) = (step.before.ssthresh, step.algorithm.control().ssthresh);
    ensure(!again || now >= before || owns_its_window(step), || {
        format!("ssthresh went from {} to {now}", threshold_of(before))
    })
}

fn undo(step: &Step<'_>) -> Result<(), String> {
    let (Event::Undo, Some(prior)) = (step.event, step.transport.prior()) else { return Ok(()) };
    let now = step.algorithm.control();
    let restored = now.cwnd >= prior.prior_cwnd && now.ssthresh >= prior.prior_ssthresh;
    ensure(restored || owns_its_window(step), || {
        let [(cwnd, ssthresh), (prior_cwnd, prior_ssthresh)] =
            [(now.cwnd, now.ssthresh), (prior.prior_cwnd, prior.prior_ssthresh)]
                .map(|(cwnd, ssthresh)| (cwnd, threshold_of(ssthresh)));
        format!("cwnd is {cwnd} and was {prior_cwnd}, ssthresh is {ssthresh} and was {prior_ssthresh}")
    })
}
