//! The registry of media: how to build one by name.

use super::{Channel, DESCRIPTORS, Mac, Medium};
use crate::{Element, QueueDiscipline, SamplingTimes};
use params::{BuildError, Descriptor, Params, read};
use serde_json::Value;

/// A law as the registry sees it: its parameters, and how to make one.
pub(super) trait Law: Mac + Sized + 'static {
    /// Its parameter struct.
    type Params: Params;
    /// One line that says what the medium is.
    const TITLE: &'static str;
    /// The source it follows.
    const SOURCE: &'static str;

    /// The law for so many idle ports, and what they transmit over; `seed` feeds its randomness, if it has any.
    fn new(params: Self::Params, ports: usize, seed: u64) -> (Self, Channel);
}

/// Declares the modules of the laws, lists them and finds them by name.
macro_rules! media {
    ($($name:literal => $module:ident::$type:ident,)*) => {
        $(mod $module;)*

        pub(super) static DESCRIPTORS: &[params::Descriptor] =
            &[$(registry::descriptor::<$module::$type>($name),)*];

        /// Makes the medium called `kind`, with `params` as a JSON object (null for the defaults) and one port for each
        /// queue. Different seeds give different dice.
        ///
        /// # Errors
        /// If there is no such medium, or a parameter is unknown, of the wrong type or out of range.
        pub fn build<P: Copy + Send + 'static>(
            kind: &str,
            params: &serde_json::Value,
            queues: Vec<Box<dyn crate::QueueDiscipline<P>>>,
            sampling: crate::SamplingTimes,
            seed: u64,
        ) -> Result<Box<dyn crate::Element<P>>, params::BuildError> {
            match kind {
                $($name => registry::make::<P, $module::$type>($name, params, queues, sampling, seed),)*
                _ => Err(BuildError::unknown("medium", kind, DESCRIPTORS)),
            }
        }
    };
}
pub(super) use media;

/// Describes a medium.
pub(super) const fn descriptor<L: Law>(name: &'static str) -> Descriptor {
    Descriptor { name, title: L::TITLE, source: L::SOURCE, params: <L::Params as Params>::specs }
}

/// Makes a medium.
pub(super) fn make<P: Copy + Send + 'static, L: Law>(
    name: &'static str,
    params: &Value,
    queues: Vec<Box<dyn QueueDiscipline<P>>>,
    sampling: SamplingTimes,
    seed: u64,
) -> Result<Box<dyn Element<P>>, BuildError> {
    let params = read(params).map_err(|problems| BuildError::Params { name, problems })?;
    let (law, channel) = L::new(params, queues.len(), seed);
    Ok(Box::new(Medium::new(law, channel, queues, sampling)))
}

/// Every medium there is.
pub fn descriptors() -> &'static [Descriptor] {
    DESCRIPTORS
}
