//! Tables of a run as streams of Arrow IPC, and their schema.

use arrow_array::types::{ArrowPrimitiveType, Float64Type, Int64Type};
use arrow_array::{ArrayRef, PrimitiveArray, RecordBatch, StringViewArray};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, Field, Schema};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use simulation::{Column, ColumnSchema, Kind, Results, Table};
use std::sync::Arc;

/// Tables as streams of Arrow IPC, with their names.
pub type Streams = Vec<(&'static str, Vec<u8>)>;

/// Tables of a run that have rows, each as a stream of Arrow IPC.
pub struct Encoded {
    data_packets: u64,
    packet_hops: u64,
    tables: Streams,
}

impl Encoded {
    /// Encodes the results of a run, without the GIL.
    pub fn new(results: Results) -> Result<Encoded, ArrowError> {
        let (data_packets, packet_hops) = (results.data_packets, results.packet_hops);
        let tables = encoded(results.tables())?;
        Ok(Encoded { data_packets, packet_hops, tables })
    }

    /// Makes the dictionary that `finish` returns.
    pub fn into_dict(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let out = PyDict::new(py);
        out.set_item("data_packets", self.data_packets)?;
        out.set_item("packet_hops", self.packet_hops)?;
        out.set_item("tables", bytes(py, self.tables)?)?;
        Ok(out.into_any().unbind())
    }
}

/// Encodes the tables that have rows.
pub fn encoded(tables: Vec<(&'static str, Table)>) -> Result<Streams, ArrowError> {
    let schema = simulation::schema();
    let described = |name| schema.iter().find(|table| table.name == name).expect("a table of the schema");
    let has_rows = |table: &Table| table.columns.first().is_some_and(|(_, column)| !column.is_empty());
    let full = tables.into_iter().filter(|(_, table)| has_rows(table));
    full.map(|(name, table)| Ok((name, stream(&described(name).columns, table)?))).collect()
}

/// Makes a dictionary of bytes.
pub fn bytes(py: Python<'_>, streams: Streams) -> PyResult<Py<PyAny>> {
    let out = PyDict::new(py);
    for (name, stream) in streams {
        out.set_item(name, PyBytes::new(py, &stream))?;
    }
    Ok(out.into_any().unbind())
}

/// The exception for tables that cannot be encoded, as their columns differ in length or are too long.
pub fn failed(error: &ArrowError) -> PyErr {
    PyRuntimeError::new_err(format!("the tables of a run cannot be encoded: {error}"))
}

fn stream(described: &[ColumnSchema], table: Table) -> Result<Vec<u8>, ArrowError> {
    let typed = described.iter().zip(table.columns);
    let arrays: Vec<ArrayRef> = typed.map(|(schema, (_, column))| array(schema.kind, column)).collect();
    let fields: Vec<Field> =
        described.iter().zip(&arrays).map(|(schema, array)| field(schema, array)).collect();
    let schema = Arc::new(Schema::new(fields));
    let mut writer = StreamWriter::try_new(Vec::new(), &schema)?;
    writer.write(&RecordBatch::try_new(Arc::clone(&schema), arrays)?)?;
    writer.into_inner()
}

fn field(schema: &ColumnSchema, array: &ArrayRef) -> Field {
    Field::new(schema.name, array.data_type().clone(), true)
}

/// Converts a column to an Arrow array of the type for its kind, with nulls for missing values.
fn array(kind: Kind, column: Column) -> ArrayRef {
    match (kind, column) {
        (Kind::Count, Column::Float(values)) => {
            let whole = values.iter().map(|&value| value as i64).collect();
            Arc::new(numbers::<Int64Type>(whole, measured(&values)))
        }
        (_, Column::Float(values)) => {
            let measured = measured(&values);
            Arc::new(numbers::<Float64Type>(values, measured))
        }
        (_, Column::Int(values)) => Arc::new(numbers::<Int64Type>(values, None)),
        (_, Column::Label { codes, names }) => Arc::new(labels(&codes, &names)),
    }
}

fn numbers<T: ArrowPrimitiveType>(values: Vec<T::Native>, measured: Option<NullBuffer>) -> PrimitiveArray<T> {
    PrimitiveArray::new(ScalarBuffer::from(values), measured)
}

/// Null mask of values, in which NaN is null. `None` if no value is NaN.
fn measured(values: &[f64]) -> Option<NullBuffer> {
    let is_number = |n: usize| !values[n].is_nan();
    (values.iter().any(|value| value.is_nan()))
        .then(|| NullBuffer::new(BooleanBuffer::collect_bool(values.len(), is_number)))
}

/// Texts by code, each stored once; null for codes without a name.
fn labels(codes: &[u32], names: &[String]) -> StringViewArray {
    let each: StringViewArray = names.iter().map(Some).collect();
    let view = |&code: &u32| each.views().get(code as usize).copied().unwrap_or_default();
    let views: ScalarBuffer<u128> = codes.iter().map(view).collect();
    let is_name = |n: usize| (codes[n] as usize) < names.len();
    let all = (0..codes.len()).all(is_name);
    let nulls = (!all).then(|| NullBuffer::new(BooleanBuffer::collect_bool(codes.len(), is_name)));
    let texts: Vec<Buffer> = each.data_buffers().to_vec();
    StringViewArray::new(views, texts, nulls)
}

/// Descriptions of the tables, one dictionary each.
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
