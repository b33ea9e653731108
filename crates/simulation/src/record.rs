//! Recorders, which collect the rows of tables that grow during a run.

use crate::hosts::Observer;
use crate::net::Net;
use crate::payload::{Packet, Payload};
use crate::routes::HopId;
use crate::samples::SampleRecorder;
use crate::tables::links::LinkRow;
use crate::tables::packets::{Capture, PacketRow};
use crate::tables::series::SeriesRow;
use crate::tables::variables::{VariableRow, Variables};
use crate::tables::{Finished, Made, Rows};
use network::StreamId;
use tcp::Sender;
use units::Time;

/// Records samples. The type of the recorder is chosen at compile time, so that runs without samples spend no time on
/// it.
pub trait Recorder: Observer {
    /// Records a sample of a flow.
    fn flow(&mut self, sample: SeriesRow);

    /// Records a sample of a link.
    fn link(&mut self, sample: LinkRow);

    /// Records all variables of the algorithm of a flow's connection.
    fn variables(&mut self, time: Time, flow: u32, connection: u32, sender: &Sender);

    /// Records all variables of the queue of a hop.
    fn queue_variables(&mut self, time: Time, hop: HopId, net: &Net<Payload>);

    /// Called when a packet reaches the far end of a link.
    fn passed(&mut self, time: Time, link: HopId, packet: &Packet);

    /// Rows so far of the tables whose size cannot be computed in advance.
    fn grown(&self) -> Grown {
        Grown::default()
    }

    /// Everything that was recorded.
    fn recorded(self) -> Columns;
}

/// Rows of the tables whose size depends on the events of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Grown {
    /// Rows of captured packets, one per packet and point.
    pub packets: usize,
    /// Rows of internal variables of algorithms, queues and media.
    pub variables: usize,
}

/// Recorder that records nothing.
#[derive(Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    const ON: bool = false;

    #[inline]
    fn opened(&mut self, _: u32, _: StreamId) {}

    #[inline]
    fn forgotten(&mut self, _: u32, _: u32) {}

    #[inline]
    fn turn(&mut self, _: Time, _: u32, _: u32, _: &Sender) {}

    #[inline]
    fn sent(&mut self, _: Time, _: u32, _: &Packet) {}

    #[inline]
    fn arrived(&mut self, _: Time, _: &Packet) {}
}

impl Recorder for Silent {
    fn flow(&mut self, _: SeriesRow) {}

    fn link(&mut self, _: LinkRow) {}

    fn variables(&mut self, _: Time, _: u32, _: u32, _: &Sender) {}

    fn queue_variables(&mut self, _: Time, _: HopId, _: &Net<Payload>) {}

    fn passed(&mut self, _: Time, _: HopId, _: &Packet) {}

    fn recorded(self) -> Columns {
        Columns::default()
    }
}

/// Recorder that stores every sample, column by column.
#[derive(Default)]
pub struct Columns {
    /// Samples of flows.
    pub series: Rows<SeriesRow>,
    /// Samples of links.
    pub links: Rows<LinkRow>,
    /// Internal variables.
    pub variables: Variables,
    /// Captured packets.
    pub capture: Option<Box<Capture>>,
    /// Recorder of the caller, which is called with each sample.
    pub samples: Option<Box<dyn SampleRecorder>>,
}

impl Columns {
    /// Creates an empty recorder. `variables` is whether internal variables are recorded.
    pub fn new(variables: bool, capture: Option<Capture>) -> Columns {
        Columns { variables: Variables::new(variables), capture: capture.map(Box::new), ..Columns::default() }
    }
}

impl Observer for Columns {
    const ON: bool = true;

    fn opened(&mut self, connection: u32, data: StreamId) {
        if let Some(capture) = &mut self.capture {
            capture.opened(data, connection);
        }
    }

    fn forgotten(&mut self, flow: u32, connection: u32) {
        self.variables.forget(flow, connection);
    }

    #[inline]
    fn turn(&mut self, time: Time, flow: u32, connection: u32, sender: &Sender) {
        if self.variables.wanted && self.variables.state_changed(flow, connection, sender) {
            self.variables.observe(time, flow, connection, sender);
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
}

impl Recorder for Columns {
    fn flow(&mut self, sample: SeriesRow) {
        if let Some(samples) = &mut self.samples {
            samples.flow(&sample);
        }
        self.series.push(sample);
    }

    fn link(&mut self, sample: LinkRow) {
        if let Some(samples) = &mut self.samples {
            samples.link(&sample);
        }
        self.links.push(sample);
    }

    fn variables(&mut self, time: Time, flow: u32, connection: u32, sender: &Sender) {
        self.variables.observe(time, flow, connection, sender);
    }

    fn queue_variables(&mut self, time: Time, hop: HopId, net: &Net<Payload>) {
        self.variables.observe_queue(time, hop, net);
    }

    fn passed(&mut self, time: Time, link: HopId, packet: &Packet) {
        if let Some(capture) = &mut self.capture {
            capture.passed(time, link, packet);
        }
    }

    fn grown(&self) -> Grown {
        let packets = self.capture.as_ref().map_or(0, |capture| capture.rows());
        Grown { packets, variables: self.variables.rows.count() }
    }

    fn recorded(self) -> Columns {
        self
    }
}

impl Made for SeriesRow {
    fn rows(run: &mut Finished<'_>) -> Rows<SeriesRow> {
        std::mem::take(&mut run.recorded.series)
    }
}

impl Made for LinkRow {
    fn rows(run: &mut Finished<'_>) -> Rows<LinkRow> {
        std::mem::take(&mut run.recorded.links)
    }
}

impl Made for VariableRow {
    fn rows(run: &mut Finished<'_>) -> Rows<VariableRow> {
        std::mem::take(&mut run.recorded.variables.rows)
    }
}

impl Made for PacketRow {
    fn rows(run: &mut Finished<'_>) -> Rows<PacketRow> {
        let capture = run.recorded.capture.take().unwrap_or_default();
        capture.rows_until(Time::from_nanos(run.plan.duration_ns))
    }
}
