//! Samples that are passed to the caller during a run.

pub use crate::tables::cell::{FlowName, LinkName};
pub use crate::tables::links::LinkRow;
pub use crate::tables::series::SeriesRow;

/// Receives every sample during the run, in the order of time. At each sampling time, links come before flows.
///
/// Flows and links are identified by their indices in the plan. The ports of media follow the links.
pub trait SampleRecorder: Send {
    /// Called with each sample of a flow.
    fn flow(&mut self, _sample: &SeriesRow) {}

    /// Called with each sample of a link or a port of a medium.
    fn link(&mut self, _sample: &LinkRow) {}
}
