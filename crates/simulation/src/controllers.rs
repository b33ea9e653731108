//! External algorithms, which the caller provides.

use crate::plan::FlowPlan;
use congestion::CongestionControl;
use std::sync::Arc;

/// Builds external algorithms, which have a colon in their `kind`, such as `python:mine:Reno`.
///
/// The function is called once per connection, with the flow and a seed for the randomness of the algorithm. The
/// function returns a message if the algorithm cannot be built.
pub type Controllers =
    Arc<dyn Fn(&FlowPlan, u64) -> Result<Box<dyn CongestionControl>, String> + Send + Sync>;

/// A builder for callers without external algorithms: it always fails.
pub fn no_external() -> Controllers {
    Arc::new(|flow, _| {
        Err(format!(
            "\"{}\" is not in the registry, and the caller provides no such algorithm",
            flow.algorithm()
        ))
    })
}
