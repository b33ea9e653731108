//! Tables as streams of Arrow IPC, read and written without a data frame library. Importing such a library takes longer
//! than simulating a short run, and such libraries are slow with small tables.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringViewArray};
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_schema_from_flatbuffer_bytes;
use arrow_ipc::reader::read_record_batch;
use arrow_ipc::root_as_message;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyList};
use std::mem::discriminant;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Marker before each message of a stream. The length of the message follows the marker.
const MARK: [u8; 4] = [0xff; 4];

/// Values of a column; `None` if nothing was measured.
enum Values {
    Text(Vec<Option<String>>),
    Count(Vec<Option<i64>>),
    Real(Vec<Option<f64>>),
    Flag(Vec<Option<bool>>),
}

/// Named columns of equal length.
#[derive(Default)]
struct Frame(Vec<(String, Values)>);

/// Values of a table by column, as lists with None for missing values.
#[pyfunction]
pub fn columns(py: Python<'_>, stream: PyBackedBytes) -> PyResult<Bound<'_, PyDict>> {
    let out = PyDict::new(py);
    for (name, values) in Frame::read(&stream).map_err(refused)?.0 {
        out.set_item(name, values.into_list(py)?)?;
    }
    Ok(out)
}

/// Concatenate tables with the same columns. A new first column `id` has the number of each row's table.
#[pyfunction]
pub fn joined<'py>(
    py: Python<'py>,
    streams: Vec<PyBackedBytes>,
    ids: Vec<i64>,
) -> PyResult<Bound<'py, PyBytes>> {
    if streams.len() != ids.len() {
        return Err(PyValueError::new_err("the numbers of ids and tables differ; give one id per table"));
    }
    if streams.is_empty() {
        return Err(PyValueError::new_err("no table to join"));
    }
    let made = py.detach(|| {
        let mut reader = Reader::default();
        let mut numbers = Vec::new();
        for (stream, id) in streams.iter().zip(ids) {
            reader.read(stream)?;
            numbers.resize(reader.frame.rows(), Some(id));
        }
        let mut joined = reader.frame;
        joined.0.insert(0, ("id".to_owned(), Values::Count(numbers)));
        joined.write()
    });
    Ok(PyBytes::new(py, &made.map_err(refused)?))
}

/// Encode a table. Each column has a kind ("text", "count", "real" or "flag") and a list of values.
#[pyfunction]
pub fn stream<'py>(
    py: Python<'py>,
    columns: Vec<(String, String, Bound<'py, PyList>)>,
) -> PyResult<Bound<'py, PyBytes>> {
    let typed = columns.into_iter().map(|(name, kind, values)| {
        let values = match kind.as_str() {
            "text" => Values::Text(values.extract()?),
            "count" => Values::Count(values.extract()?),
            "real" => Values::Real(values.extract()?),
            "flag" => Values::Flag(values.extract()?),
            _ => return Err(PyValueError::new_err(format!("unknown kind \"{kind}\""))),
        };
        Ok((name, values))
    });
    let frame = Frame(typed.collect::<PyResult<_>>()?);
    Ok(PyBytes::new(py, &frame.write().map_err(refused)?))
}

fn refused(error: ArrowError) -> PyErr {
    PyValueError::new_err(format!("no table of texts, counts, reals and flags: {error}"))
}

/// Reads and concatenates tables with the same columns. Each different schema is read only once, as reading a schema
/// takes longer than reading rows.
#[derive(Default)]
struct Reader {
    /// Rows of all tables so far.
    frame: Frame,
    /// Schema messages that have been read so far, each with its decoded schema.
    known: Vec<(Vec<u8>, SchemaRef)>,
}

impl Reader {
    fn read(&mut self, stream: &[u8]) -> Result<(), ArrowError> {
        let (head, mut rest) = message(stream)?;
        let schema = self.schema(head)?;
        while !rest.is_empty() {
            let (head, after) = message(rest)?;
            if head.is_empty() {
                break;
            }
            let head = root_as_message(head).map_err(|error| ArrowError::IpcError(error.to_string()))?;
            let batch = head.header_as_record_batch().ok_or_else(no_table)?;
            let length = usize::try_from(head.bodyLength()).map_err(|_| no_table())?;
            let (body, after) = after.split_at_checked(length).ok_or_else(no_table)?;
            let (body, schema, none) = (Buffer::from(body), Arc::clone(&schema), Default::default());
            let read = || read_record_batch(&body, batch, schema, &none, None, &head.version());
            // Arrow panics on some buffers that are outside the body or end within a value.
            let rows = catch_unwind(AssertUnwindSafe(read)).map_err(|_| no_table())??;
            self.frame.append(&rows);
            rest = after;
        }
        Ok(())
    }

    /// The schema of a message, which must have the columns of the previous tables.
    fn schema(&mut self, message: &[u8]) -> Result<SchemaRef, ArrowError> {
        if let Some((_, schema)) = self.known.iter().find(|(known, _)| known == message) {
            return Ok(Arc::clone(schema));
        }
        let schema = Arc::new(try_schema_from_flatbuffer_bytes(message)?);
        let empty = Frame::empty(&schema)?;
        if self.known.is_empty() {
            self.frame = empty;
        } else if !self.frame.has_columns_of(&empty) {
            return Err(ArrowError::SchemaError("tables have different columns".to_owned()));
        }
        self.known.push((message.to_vec(), Arc::clone(&schema)));
        Ok(schema)
    }
}

/// The first message of a stream and the rest of the stream. The message is empty at the end of the stream.
fn message(stream: &[u8]) -> Result<(&[u8], &[u8]), ArrowError> {
    let length = stream.strip_prefix(&MARK).and_then(|rest| rest.split_first_chunk()).ok_or_else(no_table)?;
    let (&length, rest) = length;
    let length = usize::try_from(u32::from_le_bytes(length)).map_err(|_| no_table())?;
    rest.split_at_checked(length).ok_or_else(no_table)
}

fn no_table() -> ArrowError {
    ArrowError::IpcError("a message is missing, or is cut off".to_owned())
}

impl Frame {
    fn read(stream: &[u8]) -> Result<Frame, ArrowError> {
        let mut reader = Reader::default();
        reader.read(stream)?;
        Ok(reader.frame)
    }

    fn empty(schema: &Schema) -> Result<Frame, ArrowError> {
        let columns = schema.fields().iter();
        let empty = columns.map(|field| Ok((field.name().clone(), Values::empty(field.data_type())?)));
        Ok(Frame(empty.collect::<Result<_, ArrowError>>()?))
    }

    fn has_columns_of(&self, other: &Frame) -> bool {
        let alike = |((name, values), (same, others)): (&(String, Values), &(String, Values))| {
            name == same && discriminant(values) == discriminant(others)
        };
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(alike)
    }

    /// Appends rows with the same columns.
    fn append(&mut self, batch: &RecordBatch) {
        for ((_, values), array) in self.0.iter_mut().zip(batch.columns()) {
            values.append(array);
        }
    }

    fn rows(&self) -> usize {
        self.0.first().map_or(0, |(_, values)| values.len())
    }

    fn write(self) -> Result<Vec<u8>, ArrowError> {
        let (names, arrays): (Vec<String>, Vec<ArrayRef>) =
            self.0.into_iter().map(|(name, values)| (name, values.into_array())).unzip();
        let typed = names.into_iter().zip(&arrays);
        let fields: Vec<Field> =
            typed.map(|(name, array)| Field::new(name, array.data_type().clone(), true)).collect();
        let schema = Arc::new(Schema::new(fields));
        let mut writer = StreamWriter::try_new(Vec::new(), &schema)?;
        writer.write(&RecordBatch::try_new(schema, arrays)?)?;
        writer.into_inner()
    }
}

impl Values {
    fn empty(kind: &DataType) -> Result<Values, ArrowError> {
        match kind {
            DataType::Utf8View | DataType::Utf8 | DataType::LargeUtf8 => Ok(Values::Text(Vec::new())),
            DataType::Int64 => Ok(Values::Count(Vec::new())),
            DataType::Float64 => Ok(Values::Real(Vec::new())),
            DataType::Boolean => Ok(Values::Flag(Vec::new())),
            other => Err(ArrowError::SchemaError(format!("a column has the type {other}"))),
        }
    }

    /// Appends an array. The array must have the type that was passed to `empty`.
    fn append(&mut self, array: &ArrayRef) {
        match self {
            Values::Count(all) => all.extend(array.as_primitive::<Int64Type>()),
            Values::Real(all) => all.extend(array.as_primitive::<Float64Type>()),
            Values::Flag(all) => all.extend(array.as_boolean()),
            Values::Text(all) => match array.data_type() {
                DataType::Utf8 => all.extend(texts(array.as_string::<i32>())),
                DataType::LargeUtf8 => all.extend(texts(array.as_string::<i64>())),
                _ => all.extend(texts(array.as_string_view())),
            },
        }
    }

    fn into_array(self) -> ArrayRef {
        match self {
            Values::Text(all) => Arc::new(StringViewArray::from_iter(all)),
            Values::Count(all) => Arc::new(Int64Array::from(all)),
            Values::Real(all) => Arc::new(Float64Array::from(all)),
            Values::Flag(all) => Arc::new(BooleanArray::from(all)),
        }
    }

    fn into_list(self, py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
        match self {
            Values::Text(all) => PyList::new(py, all),
            Values::Count(all) => PyList::new(py, all),
            Values::Real(all) => PyList::new(py, all),
            Values::Flag(all) => PyList::new(py, all),
        }
    }

    fn len(&self) -> usize {
        match self {
            Values::Text(all) => all.len(),
            Values::Count(all) => all.len(),
            Values::Real(all) => all.len(),
            Values::Flag(all) => all.len(),
        }
    }
}

fn texts<'a>(array: impl IntoIterator<Item = Option<&'a str>>) -> impl Iterator<Item = Option<String>> {
    array.into_iter().map(|text| text.map(str::to_owned))
}
