//! The list of media. Each medium is created from its parameters, the queues of its ports and a seed.

/// List the media and find them by name. `P` is the payload of packets.
macro_rules! media {
    ($($name:literal => $type:ty,)*) => {
        /// All media.
        pub fn descriptors() -> &'static [Descriptor] {
            type P = ();
            const ALL: &[Descriptor] = &[$(params::descriptor::<Inputs<P>, $type>($name),)*];
            ALL
        }

        /// Create the medium `kind`, with `params` as a JSON object (null for the defaults) and one port for each
        /// queue. Different seeds give different random numbers. A medium without queues has no usable port. A medium
        /// without queues is used to check parameters, and to report the minimum delay and the capacity.
        ///
        /// # Errors
        /// If there is no such medium, if a parameter is unknown, of the wrong type or out of range, if parameters
        /// contradict each other, or if the medium needs a different number of ports.
        pub fn build<P: Copy + Send + 'static>(
            kind: &str,
            params: &Value,
            queues: Vec<Box<dyn QueueDiscipline<P>>>,
            sampling: SamplingTimes,
            seed: u64,
        ) -> Result<Box<dyn Element<P>>, BuildError> {
            let ports = queues.len();
            let inputs = Inputs { queues, sampling, seed };
            match kind {
                $($name => {
                    let made = params::make::<Inputs<P>, $type>($name, params, inputs)?;
                    registry::with_ports($name, Box::new(made), ports)
                })*
                _ => Err(BuildError::unknown("medium", kind, descriptors())),
            }
        }
    };
}
pub(super) use media;

use crate::Element;
use params::{BuildError, Problem};

/// Return the medium if it has `ports` ports, or if `ports` is 0.
pub(super) fn with_ports<P>(
    name: &'static str,
    made: Box<dyn Element<P>>,
    ports: usize,
) -> Result<Box<dyn Element<P>>, BuildError> {
    if ports == 0 || made.ports() == ports {
        return Ok(made);
    }
    let message = format!("these parameters need {} ports, but {ports} are given", made.ports());
    Err(BuildError::Params { name, problems: Problem::new("", message).into() })
}
