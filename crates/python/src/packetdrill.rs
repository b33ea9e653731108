//! Packetdrill scripts, played against the TCP of the simulator or compared with a recording of a kernel.

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

/// Translate a script for the program in a kernel's guest, or return the verdict if it cannot be played there.
#[pyfunction]
pub fn packetdrill_plan<'py>(py: Python<'py>, script: &str, defaults: &str) -> PyResult<Bound<'py, PyAny>> {
    match ::packetdrill::plan(script, defaults) {
        Ok(plan) => loads(py, &json!(plan)),
        Err(outcome) => loads(py, &json!(outcome)),
    }
}

/// Compare a script with the recording of a kernel that has played it, and return its verdict.
#[pyfunction]
pub fn packetdrill_judge<'py>(py: Python<'py>, script: &str, recording: &str) -> PyResult<Bound<'py, PyAny>> {
    loads(py, &json!(::packetdrill::judge(script, recording)))
}
