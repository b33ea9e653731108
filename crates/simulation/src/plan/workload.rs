//! What the application of a flow does.

use super::DatagramPlan;
use super::check::Check;
use serde::Deserialize;

/// What an application does, other than to send one stream of bytes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum WorkloadPlan {
    /// One stream of bytes after all: the same as no workload.
    Bulk {},
    /// No connection at all.
    Datagrams(DatagramPlan),
}

impl WorkloadPlan {
    /// Refuses numbers that make no sense; `path` is the workload's.
    pub(super) fn check(&self, path: &str) -> Check {
        match self {
            WorkloadPlan::Bulk {} => Ok(()),
            WorkloadPlan::Datagrams(datagrams) => datagrams.check(path),
        }
    }
}
