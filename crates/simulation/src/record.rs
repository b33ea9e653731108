//! What is written down while a run goes on.

use crate::flow::Flow;
use crate::net::Net;
use crate::payload::{Packet, Payload};
use crate::tables::Rows;
use crate::tables::links::LinkRow;
use crate::tables::packets::Capture;
use crate::tables::series::SeriesRow;
use crate::tables::variables::Variables;
use units::Time;

/// Takes samples. Chosen when the program is compiled, so that a run without samples does not even ask.
pub trait Recorder {
    /// Whether samples are wanted at all.
    const ON: bool;

    /// Takes a sample of a flow.
    fn flow(&mut self, sample: SeriesRow);

    /// Takes a sample of a link.
    fn link(&mut self, sample: LinkRow);

    /// Takes a sample of every variable of a flow's algorithm.
    fn variables(&mut self, time: Time, flow: &Flow);

    /// Takes a sample of every variable of the queue of a hop.
    fn queue_variables(&mut self, time: Time, hop: usize, net: &Net<Payload>);

    /// The sender of a flow has just had its turn: takes the same sample if a state of its algorithm has changed.
    fn turn(&mut self, time: Time, flow: &Flow);

    /// An endpoint sends a packet; `mss`: payload of a full segment of its flow.
    fn sent(&mut self, time: Time, mss: u32, packet: &Packet);

    /// A packet reaches its endpoint.
    fn arrived(&mut self, time: Time, packet: &Packet);

    /// A link hands a packet over.
    fn passed(&mut self, time: Time, link: u32, packet: &Packet);

    /// How many packets have been captured, once for every point.
    fn captured(&self) -> usize {
        0
    }

    /// All that was written down.
    fn recorded(self) -> Columns;
}

/// Writes nothing down.
#[derive(Debug, Default)]
pub struct Silent;

impl Recorder for Silent {
    const ON: bool = false;

    fn flow(&mut self, _: SeriesRow) {}

    fn link(&mut self, _: LinkRow) {}

    fn variables(&mut self, _: Time, _: &Flow) {}

    fn queue_variables(&mut self, _: Time, _: usize, _: &Net<Payload>) {}

    #[inline]
    fn turn(&mut self, _: Time, _: &Flow) {}

    #[inline]
    fn sent(&mut self, _: Time, _: u32, _: &Packet) {}

    #[inline]
    fn arrived(&mut self, _: Time, _: &Packet) {}

    fn passed(&mut self, _: Time, _: u32, _: &Packet) {}

    fn recorded(self) -> Columns {
        Columns::default()
    }
}

/// Keeps every sample, column by column.
#[derive(Default)]
pub struct Columns {
    /// Samples of flows.
    pub series: Rows<SeriesRow>,
    /// Samples of links.
    pub links: Rows<LinkRow>,
    /// Internal variables.
    pub variables: Variables,
    /// Packets.
    pub capture: Option<Box<Capture>>,
}

impl Columns {
    /// Nothing written down yet; `variables`: the internal variables of the algorithms are wanted, too.
    pub fn new(variables: bool, capture: Option<Capture>) -> Columns {
        Columns { variables: Variables::new(variables), capture: capture.map(Box::new), ..Columns::default() }
    }
}

impl Recorder for Columns {
    const ON: bool = true;

    fn flow(&mut self, sample: SeriesRow) {
        self.series.push(sample);
    }

    fn link(&mut self, sample: LinkRow) {
        self.links.push(sample);
    }

    fn variables(&mut self, time: Time, flow: &Flow) {
        self.variables.observe(time, flow);
    }

    fn queue_variables(&mut self, time: Time, hop: usize, net: &Net<Payload>) {
        self.variables.observe_queue(time, hop, net);
    }

    #[inline]
    fn turn(&mut self, time: Time, flow: &Flow) {
        if self.variables.wanted && self.variables.state_changed(flow) {
            self.variables.observe(time, flow);
        }
    }

    #[inline]
    fn sent(&mut self, time: Time, mss: u32, packet: &Packet) {
        if let Some(capture) = &mut self.capture {
            capture.sent(time, mss, packet);
        }
    }

    #[inline]
    fn arrived(&mut self, time: Time, packet: &Packet) {
        if let Some(capture) = &mut self.capture {
            capture.arrived(time, packet);
        }
    }

    fn passed(&mut self, time: Time, link: u32, packet: &Packet) {
        if let Some(capture) = &mut self.capture {
            capture.passed(time, link, packet);
        }
    }

    fn captured(&self) -> usize {
        self.capture.as_ref().map_or(0, |capture| capture.rows())
    }

    fn recorded(self) -> Columns {
        self
    }
}
