//! The table `variables`: one row per internal variable of an algorithm or a queue, at every sample and whenever a
//! state of an algorithm changes.

use super::cell::{FlowName, LinkName};
use super::declare::{Rows, table};
use crate::net::Net;
use crate::payload::Payload;
use crate::routes::HopId;
use std::collections::BTreeMap;
use tcp::Sender;
use units::{Probe, Reading, Time};

table! {
    /// An internal variable at a time.
    pub struct VariableRow, one row per "sample or change of a state, flow or link, and variable" {
        /// time of a sample, or of a change of an algorithm's state
        time_s: Time, "s";
        /// name of the flow that runs the algorithm; null for a queue
        flow: Option<FlowName>, "";
        /// number of the flow's connection that runs the algorithm, from 1; null for a queue
        connection: Option<u32>, "1";
        /// name of the link with the queue; null for an algorithm
        link: Option<LinkName>, "";
        /// name of the internal variable of the algorithm or the queue
        name: &'static str, "";
        /// value; null for a state
        value: f64, "see unit";
        /// unit of the value; empty for a pure number and for a state
        unit: &'static str, "";
        /// name of the state; empty for a number
        state: &'static str, "";
    }
}

/// Variables recorded so far.
#[derive(Default)]
pub struct Variables {
    /// Whether variables are recorded.
    pub wanted: bool,
    /// Recorded rows.
    pub rows: Rows<VariableRow>,
    /// Last observed states, by flow and connection.
    states: BTreeMap<(u32, u32), Vec<&'static str>>,
}

impl Variables {
    /// Creates an empty record.
    pub fn new(wanted: bool) -> Variables {
        Variables { wanted, ..Variables::default() }
    }

    /// Records all variables of a connection's algorithm.
    pub fn observe(&mut self, time: Time, flow: u32, connection: u32, sender: &Sender) {
        let (rows, states) = (&mut self.rows, self.states.entry((flow, connection)).or_default());
        states.clear();
        let mut sink = |name, reading| {
            if let Reading::State(state) = reading {
                states.push(state);
            }
            let of_connection = (Some(FlowName(flow)), Some(connection), None);
            rows.push(row(time, of_connection, name, reading));
        };
        sender.algorithm().observe(&mut Probe::new(&mut sink));
    }

    /// Records all variables of the queue of a hop.
    pub fn observe_queue(&mut self, time: Time, hop: HopId, net: &Net<Payload>) {
        let link = Some(LinkName(hop.0));
        let mut sink = |name, reading| self.rows.push(row(time, (None, None, link), name, reading));
        net.observe(hop, time, &mut Probe::new(&mut sink));
    }

    /// Called when a connection is removed.
    pub fn forget(&mut self, flow: u32, connection: u32) {
        self.states.remove(&(flow, connection));
    }

    /// Whether a state has changed since the connection was last observed. A connection that was never observed counts
    /// as changed.
    pub fn state_changed(&self, flow: u32, connection: u32, sender: &Sender) -> bool {
        let Some(known) = self.states.get(&(flow, connection)) else { return true };
        let (mut at, mut changed) = (0, false);
        let mut sink = |_, reading| {
            if let Reading::State(state) = reading {
                changed |= known.get(at) != Some(&state);
                at += 1;
            }
        };
        sender.algorithm().observe(&mut Probe::new(&mut sink));
        changed
    }
}

fn row(
    time: Time,
    (flow, connection, link): (Option<FlowName>, Option<u32>, Option<LinkName>),
    name: &'static str,
    reading: Reading,
) -> VariableRow {
    let (value, unit, state) = match reading {
        Reading::Number(value, unit) => (value, unit, ""),
        Reading::State(state) => (f64::NAN, "", state),
    };
    VariableRow { time_s: time, flow, connection, link, name, value, unit, state }
}
