//! Limits of the generations of cellular networks, and the rates of their modes.

use crate::catalogue::loads;
use network::cellular::{Generation, Lte, Nr};
use pyo3::prelude::*;
use serde_json::{Value, json};

fn limits<G: Generation>() -> Value {
    json!({
        "resource_blocks": G::RESOURCE_BLOCKS, "numerology": G::NUMEROLOGY, "layers": G::LAYERS, "mcs": G::SCHEMES - 1,
    })
}

/// Limits by kind of cell: maximum resource blocks and layers, highest numerology and scheme.
#[pyfunction]
pub fn cellular(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    loads(py, &json!({ "lte": limits::<Lte>(), "nr": limits::<Nr>() }))
}

/// Rate of transport blocks over a pattern of slots in bit/s; None if there is no such mode.
#[pyfunction]
pub fn cellular_rate_bps(
    kind: &str,
    numerology: u64,
    symbols: Vec<u64>,
    resource_blocks: u64,
    layers: u64,
    mcs: u64,
) -> Option<u64> {
    fn rate<G: Generation>(
        numerology: u64,
        symbols: &[u64],
        blocks: u64,
        layers: u64,
        mcs: u64,
    ) -> Option<u64> {
        let exists = mcs < G::SCHEMES && numerology <= G::NUMEROLOGY && blocks > 0 && !symbols.is_empty();
        let bits: u64 = symbols.iter().filter(|_| exists).map(|&n| G::bits(mcs, blocks, n, layers)).sum();
        exists.then(|| ((bits * 1_000) << numerology) / symbols.len() as u64)
    }
    match kind {
        "lte" => rate::<Lte>(numerology, &symbols, resource_blocks, layers, mcs),
        "nr" => rate::<Nr>(numerology, &symbols, resource_blocks, layers, mcs),
        _ => None,
    }
}
