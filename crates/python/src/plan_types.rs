//! Descriptions of the types of a plan, derived from its JSON schema, in the form of catalogues of parameters.

use serde_json::{Value, json};
use simulation::plan::Plan;

/// Suffixes of field names, and the units for which they stand.
const UNITS: [(&str, &str); 4] = [("ns", "ns"), ("bytes", "bytes"), ("bps", "bit/s"), ("packets", "packets")];

/// The types of a plan.
pub struct PlanTypes(Value);

impl PlanTypes {
    /// All types of a plan.
    pub fn new() -> PlanTypes {
        PlanTypes(Plan::schema()["$defs"].take())
    }

    /// Describes an enum type of the plan, with one entry per value of `kind`.
    pub fn kinds(&self, type_name: &str) -> Vec<Value> {
        let kinds = self.0[type_name]["oneOf"].as_array().map(Vec::as_slice).unwrap_or_default();
        let name = |kind: &Value| kind["properties"]["kind"]["const"].as_str().map(str::to_owned);
        kinds.iter().filter_map(|kind| Some(self.entry(&name(kind)?, kind))).collect()
    }

    fn entry(&self, name: &str, described: &Value) -> Value {
        let required = described["required"].as_array().cloned().unwrap_or_default();
        let fields = described["properties"].as_object().into_iter().flatten();
        let params = fields
            .filter(|(field, _)| *field != "kind")
            .map(|(field, schema)| self.param(field, schema, required.contains(&json!(field))));
        let params: Vec<Value> = params.collect();
        let title = first_sentence(&described["description"]);
        json!({ "name": name, "title": title, "source": "", "aliases": [], "params": params })
    }

    fn param(&self, name: &str, schema: &Value, required: bool) -> Value {
        let (kind, choices) = self.kind(schema);
        let unit = name.rsplit('_').next().and_then(|end| UNITS.iter().find(|unit| unit.0 == end));
        json!({
            "name": name,
            "doc": schema["description"],
            "unit": unit.map_or("", |unit| unit.1),
            "kind": kind,
            "choices": choices,
            "required": required,
            "default": schema["default"],
            "min": null,
            "max": null,
            "role": null,
            "label": "",
            "example": null,
        })
    }

    /// Type of a field, ignoring null: a kind of [`params::Kind`], or a table.
    fn kind(&self, schema: &Value) -> (&'static str, Vec<Value>) {
        if let Some(named) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
            return self.kind(&self.0[named]);
        }
        if let Some(first) = schema["anyOf"].get(0).filter(|_| schema["anyOf"][1]["type"] == "null") {
            return self.kind(first);
        }
        let kinds = [("integer", "whole"), ("number", "number"), ("boolean", "switch"), ("array", "list")];
        let of_type = &schema["type"];
        let found = kinds.iter().find(|kind| *of_type == kind.0 || of_type[0] == kind.0);
        match (found, schema["oneOf"].as_array(), schema["enum"].as_array()) {
            (Some(kind), ..) => (kind.1, Vec::new()),
            (None, _, Some(names)) => ("choice", names.clone()),
            (None, Some(names), None) if names.iter().all(|name| name["const"].is_string()) => {
                ("choice", names.iter().map(|name| name["const"].clone()).collect())
            }
            _ => ("table", Vec::new()),
        }
    }
}

/// The first sentence of a description, without its full stop.
fn first_sentence(description: &Value) -> String {
    let text = description.as_str().unwrap_or_default();
    text.split_once(". ").map_or(text, |(first, _)| first).trim_end_matches('.').to_owned()
}
