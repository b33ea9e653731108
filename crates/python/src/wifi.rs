//! Limits of Wi-Fi standards, and the rates of their modes.

use crate::catalogue::loads;
use network::wifi::{CONTROL_RATES_BPS, Channel, Standard};
use pyo3::prelude::*;
use serde_json::{Value, json};

/// Limits of the standards, and the rates of control frames.
#[pyfunction]
pub fn wifi(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let standards: Vec<_> = Standard::ALL.iter().map(|standard| standard.limits()).collect();
    loads(py, &json!({ "standards": standards, "control_rates_bps": CONTROL_RATES_BPS }))
}

/// Rate within the data field of a PPDU in bit/s; None if the standard has no such mode.
#[pyfunction]
pub fn wifi_rate_bps(
    standard: &str,
    width_mhz: u64,
    streams: u64,
    mcs: u64,
    guard_interval_ns: u64,
) -> Option<u64> {
    let standard: Standard = serde_json::from_value(Value::from(standard)).ok()?;
    let &band_mhz = standard.limits().bands.first()?; // rates are the same in every band
    let channel = Channel { standard, band_mhz, width_mhz, guard_interval_ns };
    Some(channel.mode(streams, mcs)?.rate().bits_per_sec())
}
