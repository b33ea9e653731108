//! Parts of the plan that are declared as parameters: options of a transport, limits of a queue, and settings of
//! applications.

use super::error::{PlanError, together};
use super::range::Check;
use network::queue::Limit;
use params::{Kind, ParamSpec, Params};
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};
use tcp::Options;

/// Refuses parameters out of range; `path` is the path of the table that has them.
pub(crate) fn check<P: Params + Serialize>(values: &P, path: &str) -> Check {
    params::check(values).map_err(|refusal| PlanError::of_all(path, refusal.0))
}

/// Refuses options that are out of range or conflict with each other; `path` is the path of the options.
pub(super) fn check_transport(options: &Options, path: &str) -> Check {
    let ranges = check(options, path);
    let problems = options.problems();
    let fitting = if problems.is_empty() { Ok(()) } else { Err(PlanError::of_all(path, problems)) };
    together([ranges, fitting])
}

/// Reads parameters from a table, which must contain every parameter without a default.
pub(crate) fn read<'de, D: Deserializer<'de>, P: Params>(deserializer: D) -> Result<P, D::Error> {
    params::read(&Value::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// Schema of the transport options, as a part of the schema of the plan.
pub(super) fn transport(generator: &mut SchemaGenerator) -> Schema {
    let description = "Options of the transport. Options that are left out have the values of Linux.";
    schema::<Options>(generator, "Options", description)
}

/// Schema of a queue's limit, which may be null, as a part of the schema of the plan.
pub(super) fn limit(generator: &mut SchemaGenerator) -> Schema {
    let limit = schema::<Limit>(generator, "Limit", "Limit of a queue.");
    json_schema!({ "anyOf": [limit, { "type": "null" }] })
}

/// Schema of declared parameters, as a named type in the schema of the plan.
fn schema<P: Params>(generator: &mut SchemaGenerator, name: &str, description: &str) -> Schema {
    let specs = P::specs();
    let properties: Map<String, Value> =
        specs.iter().map(|spec| (spec.name.to_owned(), property(spec))).collect();
    let described = json!({
        "description": description,
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    });
    generator.definitions_mut().insert(name.to_owned(), described);
    Schema::new_ref(format!("#/$defs/{name}"))
}

/// Completes the schema of a struct of parameters: ranges, and parameters without a default, which are required.
pub(crate) fn as_declared<P: Params>(schema: &mut Schema) {
    let specs = P::specs();
    let required = specs.iter().filter(|spec| spec.required).map(|spec| spec.name);
    schema.insert("required".to_owned(), required.collect());
    for spec in &specs {
        let property = &mut schema.ensure_object()["properties"][spec.name];
        if spec.required {
            property.as_object_mut().map(|property| property.remove("default"));
        }
        if let Some((low, high)) = spec.range {
            property["minimum"] = json!(low);
            property["maximum"] = json!(high);
        }
    }
}

fn property(spec: &ParamSpec) -> Value {
    let unit = if spec.unit.is_empty() { String::new() } else { format!(" Unit: {}.", spec.unit) };
    let mut property = json!({ "description": format!("{}{unit}", spec.doc), "default": spec.default });
    let name = match &spec.kind {
        Kind::Whole => "integer",
        Kind::Number => "number",
        Kind::Switch => "boolean",
        Kind::Choice(_) => "string",
        Kind::List(_) => "array",
        Kind::Table => "object",
    };
    property["type"] = if spec.optional { json!([name, "null"]) } else { json!(name) };
    if let Kind::Choice(choices) = &spec.kind {
        let none = spec.optional.then_some(Value::Null);
        property["enum"] = choices.iter().map(|&choice| json!(choice)).chain(none).collect();
    }
    if let Some((low, high)) = spec.range {
        property["minimum"] = json!(low);
        property["maximum"] = json!(high);
    }
    property
}
