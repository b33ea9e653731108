//! The list of media: an entry of it is made from its parameters, the queues of its ports and the seed of its randomness.

/// Lists the media and finds them by name. `P` is what packets carry.
macro_rules! media {
    ($($name:literal => $type:ty,)*) => {
        /// Every medium there is.
        pub fn descriptors() -> &'static [Descriptor] {
            type P = ();
            const ALL: &[Descriptor] = &[$(params::descriptor::<Inputs<P>, $type>($name),)*];
            ALL
        }

        /// Makes the medium called `kind`, with `params` as a JSON object (null for the defaults) and one port for each queue.
        /// Different seeds give different dice. Without queues it has no ports that could be used; it then serves to check
        /// its parameters, and to say its least delay and its capacity.
        ///
        /// # Errors
        /// If there is no such medium, a parameter is unknown, of the wrong type or out of range, they do not go together, or
        /// they ask for another number of ports.
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

/// A medium that was made for so many ports, if it has as many.
pub(super) fn with_ports<P>(
    name: &'static str,
    made: Box<dyn Element<P>>,
    ports: usize,
) -> Result<Box<dyn Element<P>>, BuildError> {
    if ports == 0 || made.ports() == ports {
        return Ok(made);
    }
    let message = format!("its parameters ask for {} ports, not {ports}", made.ports());
    Err(BuildError::Params { name, problems: Problem::new("", message).into() })
}
