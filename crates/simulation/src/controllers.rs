//! External algorithms: those that the registry does not have and the caller provides.

use crate::plan::FlowPlan;
use congestion::CongestionControl;
use std::sync::Arc;

/// Makes the algorithms that the registry does not have: those with a colon in their `kind`, such as `python:mine:Reno`.
/// Is given the flow and the seed of its algorithm's randomness, once for every connection; answers with what is wrong if
/// it cannot.
pub type Controllers =
    Arc<dyn Fn(&FlowPlan, u64) -> Result<Box<dyn CongestionControl>, String> + Send + Sync>;

/// There is no algorithm beside those of the registry.
pub fn no_external() -> Controllers {
    Arc::new(|flow, _| {
        Err(format!(
            "\"{}\" is not of the registry, and the caller provides none of that name",
            flow.algorithm()
        ))
    })
}
