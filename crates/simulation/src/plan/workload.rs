//! What the application of a flow does.

use super::check::Check;
use super::{DatagramPlan, WritesPlan};
use serde::Deserialize;

/// What an application does, other than to send one stream of bytes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum WorkloadPlan {
    /// One stream of bytes after all: the same as no workload.
    Bulk {},
    /// One stream of bytes that the application writes at its own pace.
    Writes(WritesPlan),
    /// No connection at all.
    Datagrams(DatagramPlan),
}

impl WorkloadPlan {
    /// Refuses numbers that make no sense; `path` is the workload's.
    pub(super) fn check(&self, path: &str) -> Check {
        match self {
            WorkloadPlan::Bulk {} => Ok(()),
            WorkloadPlan::Writes(writes) => writes.check(path),
            WorkloadPlan::Datagrams(datagrams) => datagrams.check(path),
        }
    }
}
