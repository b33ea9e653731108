//! The registry of queue disciplines: their descriptors, and how to build one by name.

use super::{DESCRIPTORS, QueueDiscipline};
use params::{BuildError, Descriptor, Params, read};
use serde_json::Value;

/// A queue discipline as the registry sees it: its parameters, and how to make one.
pub(super) trait Discipline<P: Copy>: QueueDiscipline<P> + Sized + 'static {
    /// Its parameter struct.
    type Params: Params;
    /// One line that says what it is.
    const TITLE: &'static str;
    /// The source it follows.
    const SOURCE: &'static str;

    /// An empty queue; `seed` feeds its randomness, if it has any.
    fn new(params: Self::Params, seed: u64) -> Self;
}

/// Declares the modules of the disciplines, lists them and finds them by name.
macro_rules! queues {
    ($($name:literal => $module:ident::$type:ident,)*) => {
        $(mod $module;)*

        pub(super) static DESCRIPTORS: &[Descriptor] =
            &[$(registry::descriptor::<$module::$type<()>>($name),)*];

        /// Makes the queue called `kind`, with `params` as a JSON object (null for the defaults). Different seeds give
        /// different dice and hashes.
        ///
        /// # Errors
        /// If there is no such queue, or a parameter is unknown, of the wrong type or out of range.
        pub fn build<P: Copy + Send + 'static>(
            kind: &str,
            params: &serde_json::Value,
            seed: u64,
        ) -> Result<Box<dyn QueueDiscipline<P>>, BuildError> {
            match kind {
                $($name => registry::make::<P, $module::$type<P>>($name, params, seed),)*
                _ => Err(BuildError::unknown("queue", kind, DESCRIPTORS)),
            }
        }
    };
}
pub(super) use queues;

/// Describes a discipline.
pub(super) const fn descriptor<D: Discipline<()>>(name: &'static str) -> Descriptor {
    Descriptor { name, title: D::TITLE, source: D::SOURCE, params: <D::Params as Params>::specs }
}

/// Makes a discipline.
pub(super) fn make<P: Copy + Send + 'static, D: Discipline<P>>(
    name: &'static str,
    params: &Value,
    seed: u64,
) -> Result<Box<dyn QueueDiscipline<P>>, BuildError> {
    let params = read(params).map_err(|problems| BuildError::Params { name, problems })?;
    Ok(Box::new(D::new(params, seed)))
}

/// Every queue discipline there is.
pub fn descriptors() -> &'static [Descriptor] {
    DESCRIPTORS
}

#[cfg(test)]
mod tests {
    use super::super::{Limit, QueueEvents, build};
    use super::*;
    use params::Role;
    use serde_json::json;
    use units::Time;

    fn error(kind: &str, params: Value) -> String {
        build::<u8>(kind, &params, 1).err().map(|e| e.to_string()).unwrap_or_default()
    }

    #[test]
    fn mistakes_are_named() {
        assert!(error("green", json!({})).starts_with("unknown queue \"green\"; there is drop_tail, "));
        assert!(error("drop_tail", json!({"packets": -1})).contains("packets: -1 is out of range"));
        assert!(
            error("drop_tail", json!({"packet": 1})).contains("packet: unknown; there is packets, bytes")
        );
        assert_eq!(error("drop_tail", Value::Null), "");
    }

    #[test]
    fn a_queue_takes_another_limit_in_the_units_of_those_it_declares() {
        for descriptor in descriptors() {
            let specs = (descriptor.params)();
            let declared = |unit| specs.iter().any(|s| s.role == Some(Role::Limit) && s.unit == unit);
            let mut queue = build::<u8>(descriptor.name, &Value::Null, 1).unwrap();
            let mut resize = |limit| queue.resize(limit, Time::ZERO, &mut QueueEvents::default());
            let packets = resize(Limit { packets: Some(9), bytes: None });
            let bytes = resize(Limit { packets: None, bytes: Some(9_000) });
            assert_eq!((packets, bytes), (declared("packets"), declared("bytes")), "{}", descriptor.name);
        }
    }

    #[test]
    fn every_default_builds() {
        for descriptor in descriptors() {
            let defaults =
                (descriptor.params)().into_iter().map(|s| (s.name.to_owned(), s.default)).collect();
            assert!(build::<u8>(descriptor.name, &Value::Object(defaults), 1).is_ok(), "{}", descriptor.name);
        }
    }
}
