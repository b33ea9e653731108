//! The TCP under test, as the player of a script sees it: the model, or a recording of a kernel.

use crate::host::{Departure, Sent};
use crate::script::{Call, Packet, Shell};
use crate::verdict::Stop;
use tcp::Feedback;
use units::Time;

pub(crate) trait Subject {
    /// The clock.
    fn now(&self) -> Time;

    /// Begin the event at this position of the script.
    fn begin(&mut self, _position: usize) -> Result<(), Stop> {
        Ok(())
    }

    /// Run until `to`.
    fn advance(&mut self, to: Time) -> Result<(), Stop>;

    /// Check that the script may expect a packet now.
    fn await_packet(&self, _packet: &Packet) -> Result<(), Stop> {
        Ok(())
    }

    /// Take the next packet that is sent until `deadline`.
    fn next_departure(&mut self, deadline: Time) -> Result<Option<Departure>, Stop>;

    /// ECN feedback of the connection; `None` before a connection.
    fn feedback(&self) -> Option<Feedback>;

    /// Record that a packet which the script expects was sent `at` this time.
    fn note_sent(&mut self, _packet: &Packet, _at: Time) {}

    /// Whether a packet is the same for every TCP: the first SYN or SYN-ACK, and the ACK of a handshake.
    fn is_fixed(&mut self, sent: &Sent) -> bool;

    /// Receive a packet of the script.
    fn receive(&mut self, packet: &Packet) -> Result<(), Stop>;

    /// Make a system call.
    fn call(&mut self, call: &Call) -> Result<(), Stop>;

    /// Whether the time at which a call returns can be observed.
    fn times(&self, call: &Call) -> bool;

    /// When the last call that blocks returned; `None` while it blocks.
    fn returned(&self) -> Option<Time>;

    /// Run commands of the shell.
    fn run(&mut self, shell: &Shell) -> Result<(), Stop>;

    /// Whether an assertion may have a name without a value. The assertion is passed over then.
    fn may_pass_over(&self, _name: &str) -> bool {
        true
    }

    /// The value of a name in an assertion; `None` if there is no such value.
    fn read(&self, name: &str) -> Option<f64>;
}
