//! The registries as dictionaries: algorithms, queues, losses, impairments, media, applications, distributions and
//! transport options.

use crate::plan_types::PlanTypes;
use params::{Descriptor, Params};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::Value;
use simulation::plan::Options;

/// All families by name. A family is a list with one dictionary per entry.
pub fn registry(py: Python<'_>) -> PyResult<Py<PyAny>> {
    let out = PyDict::new(py);
    out.set_item("algorithms", algorithms(py)?)?;
    let families = [
        ("queues", network::queue::descriptors()),
        ("media", network::medium::descriptors()),
        ("losses", network::Loss::descriptors()),
        ("impairments", network::Impairment::descriptors()),
    ];
    for (name, descriptors) in families {
        out.set_item(name, family(py, descriptors)?)?;
    }
    let types = PlanTypes::new();
    out.set_item("applications", applications(py, &types)?)?;
    out.set_item("distributions", loads(py, &types.kinds("Distribution").into())?)?;
    out.set_item("transport", family(py, &[TRANSPORT])?)?;
    Ok(out.into_any().unbind())
}

/// One dictionary per congestion control algorithm.
fn algorithms(py: Python<'_>) -> PyResult<Py<PyAny>> {
    let out = PyList::empty(py);
    for found in congestion::descriptors() {
        let entry = entry(py, found.name, found.title, found.source)?;
        entry.set_item("aliases", found.aliases)?;
        let params = (found.params)();
        let params = params.iter().map(|p| param(py, p));
        entry.set_item("params", params.collect::<PyResult<Vec<_>>>()?)?;
        let presets = found.presets.iter().map(|p| preset(py, p));
        entry.set_item("presets", presets.collect::<PyResult<Vec<_>>>()?)?;
        out.append(entry)?;
    }
    Ok(out.into_any().unbind())
}

/// The options of the transport: the only entry of the family `transport`.
const TRANSPORT: Descriptor = Descriptor {
    name: "tcp",
    title: "Options of the transport of a flow",
    source: "",
    params: Options::specs,
};

/// Applications with their declared settings. The settings of datagrams are the fields of their plan.
fn applications(py: Python<'_>, types: &PlanTypes) -> PyResult<Py<PyAny>> {
    let out = PyList::empty(py);
    let mut kinds = types.kinds("WorkloadPlan");
    for found in simulation::applications::descriptors() {
        let undeclared = kinds.iter_mut().find(|kind| kind["name"] == found.name);
        match undeclared.filter(|_| (found.params)().is_empty()) {
            None => out.append(described(py, &found)?)?,
            Some(kind) => {
                kind["title"] = found.title.into();
                kind["source"] = found.source.into();
                out.append(loads(py, kind)?)?;
            }
        }
    }
    Ok(out.into_any().unbind())
}

fn family(py: Python<'_>, descriptors: &[Descriptor]) -> PyResult<Py<PyAny>> {
    let out = PyList::empty(py);
    for found in descriptors {
        out.append(described(py, found)?)?;
    }
    Ok(out.into_any().unbind())
}

fn described<'py>(py: Python<'py>, found: &Descriptor) -> PyResult<Bound<'py, PyDict>> {
    let entry = entry(py, found.name, found.title, found.source)?;
    entry.set_item("aliases", PyList::empty(py))?;
    let params = (found.params)();
    let params = params.iter().map(|p| param(py, p));
    entry.set_item("params", params.collect::<PyResult<Vec<_>>>()?)?;
    Ok(entry)
}

fn entry<'py>(py: Python<'py>, name: &str, title: &str, source: &str) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("name", name)?;
    out.set_item("title", title)?;
    out.set_item("source", source)?;
    Ok(out)
}

fn param<'py>(py: Python<'py>, param: &congestion::ParamSpec) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("name", param.name)?;
    out.set_item("doc", param.doc)?;
    out.set_item("unit", param.unit)?;
    out.set_item("kind", param.kind.name())?;
    out.set_item("choices", param.kind.choices())?;
    out.set_item("required", param.required)?;
    out.set_item("default", loads(py, &param.default)?)?;
    out.set_item("min", param.range.map(|r| r.0))?;
    out.set_item("max", param.range.map(|r| r.1))?;
    out.set_item("role", param.role.map(params::Role::name))?;
    out.set_item("label", param.label)?;
    out.set_item("example", loads(py, &param.example)?)?;
    Ok(out)
}

fn preset<'py>(py: Python<'py>, preset: &congestion::Preset) -> PyResult<Bound<'py, PyDict>> {
    let values = PyDict::new(py);
    for (name, value) in (preset.values)() {
        values.set_item(name, loads(py, &value)?)?;
    }
    let out = PyDict::new(py);
    out.set_item("name", preset.name)?;
    out.set_item("values", values)?;
    Ok(out)
}

/// Converts JSON to Python objects through JSON text. The conversion is simple but slow, and no hot path uses this
/// function.
pub fn loads<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (value.to_string(),))
}
