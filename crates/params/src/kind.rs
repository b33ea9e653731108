//! Kinds of parameter values, derived from the types of the fields.

use serde::de::value::Error;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error as _, SeqAccess, Visitor};
use serde_json::Value;
use std::fmt;

/// Kind of the values of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number.
    Whole,
    /// Any number.
    Number,
    /// True or false.
    Switch,
    /// One of the listed texts.
    Choice(Vec<&'static str>),
    /// A list of values of one kind.
    List(Box<Kind>),
    /// A table, whose type checks its content.
    Table,
}

impl Kind {
    /// Kind of a field of type `T`, and whether the field may be null.
    ///
    /// # Panics
    /// If `T` is not a number, a switch, an enum of names, a table, or a list of these.
    pub fn of<T: for<'de> Deserialize<'de>>() -> (Kind, bool) {
        let mut seen = Seen::default();
        let _ = T::deserialize(&mut seen); // fails as soon as `T` has requested a type
        (seen.kind.expect("a parameter is a number, a switch or a choice"), seen.optional)
    }

    /// Name of the kind in catalogues.
    pub fn name(&self) -> &'static str {
        match self {
            Kind::Whole => "whole",
            Kind::Number => "number",
            Kind::Switch => "switch",
            Kind::Choice(_) => "choice",
            Kind::List(_) => "list",
            Kind::Table => "table",
        }
    }

    /// Texts to choose from, if the kind is a choice.
    pub fn choices(&self) -> &[&'static str] {
        if let Kind::Choice(choices) = self { choices } else { &[] }
    }

    /// Whether a value is of this kind.
    pub fn takes(&self, value: &Value) -> bool {
        match self {
            Kind::Whole => value.is_u64() || value.is_i64(),
            Kind::Number => value.is_number(),
            Kind::Switch => value.is_boolean(),
            Kind::Choice(choices) => value.as_str().is_some_and(|text| choices.contains(&text)),
            Kind::List(kind) => {
                value.as_array().is_some_and(|items| items.iter().all(|item| kind.takes(item)))
            }
            Kind::Table => value.is_object(),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Whole => f.write_str("a whole number"),
            Kind::Number => f.write_str("a number"),
            Kind::Switch => f.write_str("true or false"),
            Kind::Choice(choices) => write!(f, "one of {}", choices.join(", ")),
            Kind::List(kind) => write!(f, "a list, each item {kind}"),
            Kind::Table => f.write_str("a table"),
        }
    }
}

/// A deserialiser without data. It records the type of value that a field requests.
#[derive(Default)]
struct Seen {
    kind: Option<Kind>,
    optional: bool,
}

impl Seen {
    fn note<T>(&mut self, kind: Kind) -> Result<T, Error> {
        self.kind = Some(kind);
        Err(Error::custom("there is no data"))
    }
}

/// Declares the methods of [`Seen`] that record the requested kind.
macro_rules! note {
    ($($method:ident => $kind:ident)*) => { $(
        fn $method<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
            self.note(Kind::$kind)
        }
    )* };
}

/// Declares the methods of [`Seen`] for types that no parameter can have.
macro_rules! none {
    ($($method:ident)*) => { $(
        fn $method<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
            no_parameter()
        }
    )* };
}

fn no_parameter<T>() -> Result<T, Error> {
    Err(Error::custom("no parameter is of this type"))
}

impl<'de> Deserializer<'de> for &mut Seen {
    type Error = Error;

    note! {
        deserialize_bool => Switch
        deserialize_i64 => Whole
        deserialize_u32 => Whole
        deserialize_u64 => Whole
        deserialize_f64 => Number
        deserialize_any => Table
        deserialize_map => Table
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.optional = true;
        visitor.visit_some(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let mut item = Seen::default();
        let _ = visitor.visit_seq(Items(&mut item));
        let kind = item.kind.expect("a list of numbers, switches or choices");
        self.note(Kind::List(Box::new(kind)))
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        self.note(Kind::Table)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        self.note(Kind::Choice(variants.to_vec()))
    }

    none! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u128
        deserialize_f32 deserialize_char deserialize_str deserialize_string deserialize_bytes deserialize_byte_buf
        deserialize_unit deserialize_identifier deserialize_ignored_any
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, _: V) -> Result<V::Value, Error> {
        no_parameter()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, _: V) -> Result<V::Value, Error> {
        no_parameter()
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        _: V,
    ) -> Result<V::Value, Error> {
        no_parameter()
    }
}

/// A list without data. It records the kind of its first item.
struct Items<'a>(&'a mut Seen);

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        seed.deserialize(&mut *self.0).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    #[serde(rename_all = "kebab-case")]
    #[allow(dead_code)]
    enum Shape {
        Round,
        SixSided,
    }

    #[derive(serde::Deserialize)]
    #[serde(tag = "kind")]
    #[allow(dead_code)]
    enum Tagged {
        Ball { diameter: f64 },
    }

    #[test]
    fn a_type_says_what_it_takes() {
        assert_eq!(Kind::of::<u32>(), (Kind::Whole, false));
        assert_eq!(Kind::of::<Option<u64>>(), (Kind::Whole, true));
        assert_eq!(Kind::of::<Option<f64>>(), (Kind::Number, true));
        assert_eq!(Kind::of::<bool>(), (Kind::Switch, false));
        let list = |kind| Kind::List(Box::new(kind));
        assert_eq!(Kind::of::<Vec<u64>>(), (list(Kind::Whole), false));
        assert_eq!(Kind::of::<Vec<(f64, f64)>>(), (list(list(Kind::Number)), false));
        assert_eq!(Kind::of::<Tagged>(), (Kind::Table, false));
        assert_eq!(Kind::of::<Shape>(), (Kind::Choice(vec!["round", "six-sided"]), false));
    }
}
