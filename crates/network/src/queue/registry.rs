//! The list of queue disciplines. Each discipline is created from its parameters and a seed.

/// Declare the modules of the disciplines, list them and find them by name.
macro_rules! queues {
    ($($name:literal => $module:ident::$type:ident,)*) => {
        $(mod $module;)*

        /// All queue disciplines.
        pub fn descriptors() -> &'static [Descriptor] {
            const ALL: &[Descriptor] = &[$(params::descriptor::<u64, $module::$type<()>>($name),)*];
            ALL
        }

        /// Create the queue `kind`, with `params` as a JSON object (null for the defaults). Different seeds give
        /// different random numbers and hashes.
        ///
        /// # Errors
        /// If there is no such queue, if a parameter is unknown, of the wrong type or out of range, or if parameters
        /// contradict each other.
        pub fn build<P: Copy + Send + 'static>(
            kind: &str,
            params: &serde_json::Value,
            seed: u64,
        ) -> Result<Box<dyn QueueDiscipline<P>>, BuildError> {
            match kind {
                $($name => {
                    params::make::<u64, $module::$type<P>>($name, params, seed).map(|made| Box::new(made) as _)
                })*
                _ => Err(BuildError::unknown("queue", kind, descriptors())),
            }
        }
    };
}
pub(super) use queues;

#[cfg(test)]
mod tests {
    use super::super::{Limit, QueueEvents, build, descriptors};
    use params::Role;
    use serde_json::{Value, json};
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
    fn parameters_go_together() {
        let thresholds = |min: u64, max: u64| error("red", json!({ "min": min, "max": max }));
        let said = "red: max: 8000 bytes are less than min, 24000 bytes; write the smaller as min";
        assert_eq!(thresholds(24_000, 8_000), said);
        for (min, max) in [(8_000, 24_000), (8_000, 8_000), (24_000, 0), (0, 8_000)] {
            assert_eq!(thresholds(min, max), "");
        }
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
