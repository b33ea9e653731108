//! Results as dictionaries of columns.

use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use simulation::{Column, Results, Table};

/// The dictionary that `finish` returns.
pub fn results(py: Python<'_>, results: Results) -> PyResult<Py<PyAny>> {
    let out = PyDict::new(py);
    out.set_item("flows", table(py, results.flows)?)?;
    out.set_item("links_summary", table(py, results.links_summary)?)?;
    out.set_item("series", table(py, results.series)?)?;
    out.set_item("links", table(py, results.links)?)?;
    out.set_item("variables", table(py, results.variables)?)?;
    out.set_item("packets", table(py, results.packets)?)?;
    out.set_item("probes", table(py, results.probes)?)?;
    out.set_item("transfers", table(py, results.transfers)?)?;
    out.set_item("videos", table(py, results.videos)?)?;
    out.set_item("data_packets", results.data_packets)?;
    out.set_item("packet_hops", results.packet_hops)?;
    Ok(out.into_any().unbind())
}

fn table(py: Python<'_>, table: Table) -> PyResult<Bound<'_, PyDict>> {
    let out = PyDict::new(py);
    for (name, column) in table.columns {
        match column {
            Column::Float(values) => out.set_item(name, values.into_pyarray(py))?,
            Column::Int(values) => out.set_item(name, values.into_pyarray(py))?,
            Column::Label { codes, names } => out.set_item(name, labels(py, &codes, &names)?)?,
        }
    }
    Ok(out)
}

/// A list of strings in which equal names are one object; None where a number stands for no name.
fn labels<'py>(py: Python<'py>, codes: &[u32], names: &[String]) -> PyResult<Bound<'py, PyList>> {
    let names: Vec<Bound<'py, PyString>> = names.iter().map(|name| PyString::new(py, name)).collect();
    PyList::new(py, codes.iter().map(|&code| names.get(code as usize)))
}
