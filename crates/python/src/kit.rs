//! The conformance kit for algorithms written in Python.

use crate::controller::Controller;
use crate::errors::{Failure, Identity};
use crate::events::Episode;
use congestion::CongestionControl;
use congestion::kit::{self, Event, Script, rounds};
use pyo3::prelude::*;
use std::panic::resume_unwind;
use units::Time;

const NAME: &str = "the algorithm";
const FLOW: &str = "of the conformance kit";

fn make(factory: &Bound<'_, PyAny>) -> Box<dyn CongestionControl> {
    let made = factory.call0().and_then(|object| Controller::new(&object, NAME, FLOW));
    Box::new(made.unwrap_or_else(|error| {
        let (controller, flow) = (NAME.to_owned(), FLOW.to_owned());
        resume_unwind(Box::new(Failure { controller, flow, event: "__init__", time: Time::ZERO, error }))
    }))
}

/// Feeds an algorithm with events that are derived from any bytes. Returns the first invariant that the algorithm
/// violates: the name of the invariant, the problem, and the event.
#[pyfunction]
pub fn judge(factory: &Bound<'_, PyAny>, script: &[u8]) -> PyResult<Option<(&'static str, String, String)>> {
    let script = Script::from_bytes(script);
    let judged = Identity::new("", 0).guard(|| kit::judge(&|| make(factory), &script))?;
    Ok(judged.err().map(|broken| (broken.invariant, broken.problem, told(&script.events[broken.event]))))
}

/// Describes an event in terms of the Python base class.
fn told(event: &Event) -> String {
    match *event {
        Event::Ack { acked, lost, marked, rtt, rate, timed, used } => {
            let rtt = rtt.map_or("None".to_owned(), |rtt| rtt.as_secs_f64().to_string());
            let rate = match rate {
                None => "ack.rate = None".to_owned(),
                Some(limited) => {
                    let interval = if timed { "" } else { ", ack.rate.interval_s = None" };
                    format!("ack.rate.app_limited = {}{interval}", python(limited))
                }
            };
            let used = python(used);
            format!(
                "an ACK with ack.acked = {acked}, ack.lost = {lost}, ack.marked = {marked}, ack.rtt_s = {rtt}, {rate}, \
                 path.cwnd_limited = {used}"
            )
        }
        Event::Congestion(congestion) => {
            let Episode { kind, first } = Episode::from(congestion);
            format!("on_congestion with episode.kind = \"{kind}\", episode.first = {}", python(first))
        }
        Event::Undo => "on_undo".to_owned(),
        Event::Exit => "on_recovery_exit".to_owned(),
        Event::Send { idle } => format!("on_send with sent.from_idle = {}", python(idle)),
        Event::SetCwnd(cwnd) => format!("the transport set cwnd = {cwnd}"),
        Event::Restart(cwnd) => format!("the transport restarted after an idle time with cwnd = {cwnd}"),
        Event::Pass(time) => format!("{} s passed", time.as_secs_f64()),
    }
}

fn python(value: bool) -> &'static str {
    if value { "True" } else { "False" }
}

/// Table of an algorithm on an ideal path, with one line per round trip.
#[pyfunction]
pub fn round_trips(factory: &Bound<'_, PyAny>, count: usize) -> PyResult<String> {
    Identity::new("", 0).guard(|| rounds::table(&mut *make(factory), count))
}
