//! The tables of a run as dictionaries of columns, and their schema.

use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use simulation::{Column, ColumnSchema, Kind, Results, Table};

/// The dictionary that `finish` returns.
pub fn results(py: Python<'_>, results: Results) -> PyResult<Py<PyAny>> {
    let out = PyDict::new(py);
    out.set_item("data_packets", results.data_packets)?;
    out.set_item("packet_hops", results.packet_hops)?;
    let tables = PyDict::new(py);
    for (name, columns) in results.tables() {
        tables.set_item(name, table(py, columns)?)?;
    }
    out.set_item("tables", tables)?;
    Ok(out.into_any().unbind())
}

/// One dictionary per table.
pub fn schema(py: Python<'_>) -> PyResult<Py<PyAny>> {
    let out = PyList::empty(py);
    for table in simulation::schema() {
        let entry = PyDict::new(py);
        entry.set_item("name", table.name)?;
        entry.set_item("row", table.row)?;
        let columns = table.columns.iter().map(|found| column(py, found));
        entry.set_item("columns", columns.collect::<PyResult<Vec<_>>>()?)?;
        out.append(entry)?;
    }
    Ok(out.into_any().unbind())
}

fn column<'py>(py: Python<'py>, column: &ColumnSchema) -> PyResult<Bound<'py, PyDict>> {
    let kind = match column.kind {
        Kind::Text => "text",
        Kind::Count => "count",
        Kind::Real => "real",
    };
    let out = PyDict::new(py);
    out.set_item("name", column.name)?;
    out.set_item("kind", kind)?;
    out.set_item("unit", column.unit)?;
    out.set_item("meaning", column.meaning)?;
    out.set_item("span", column.span)?;
    Ok(out)
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
