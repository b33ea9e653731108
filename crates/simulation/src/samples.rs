//! Samples of a run as they are taken.

pub use crate::tables::links::LinkRow;
pub use crate::tables::series::SeriesRow;
pub use crate::tables::{FlowName, LinkName};

/// Is told of every sample as it is taken, flow by flow and link by link, in the order of time.
///
/// Flows and links have their numbers in the plan; ports of media follow the links.
pub trait SampleRecorder: Send {
    /// A sample of a flow.
    fn flow(&mut self, _sample: &SeriesRow) {}

    /// A sample of a link or a port of a medium.
    fn link(&mut self, _sample: &LinkRow) {}
}
