//! Packetdrill scripts, played against the TCP of the simulator.

use crate::catalogue::loads;
use pyo3::prelude::*;
use serde_json::json;

/// Play a script and return its verdict. `defaults` is the text of the kernel's defaults.sh. Releases the GIL.
#[pyfunction]
#[pyo3(signature = (script, defaults = ""))]
pub fn packetdrill<'py>(py: Python<'py>, script: &str, defaults: &str) -> PyResult<Bound<'py, PyAny>> {
    let outcome = py.detach(|| ::packetdrill::play(script, defaults));
    loads(py, &json!(outcome))
}
