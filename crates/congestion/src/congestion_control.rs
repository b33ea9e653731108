//! The interface between the transport and an algorithm.

use crate::event::{Ack, Congestion, Control, LostPacket, Path, Sent, Traits, Undo};
use units::Probe;

/// An algorithm, which computes a window and a rate from events of the transport.
///
/// It never allocates after `build`, and [`control`](Self::control) is pure: calling it twice changes nothing.
/// The order within one ACK is: scoreboard, RTT, loss detection ([`on_congestion`](Self::on_congestion),
/// [`on_undo`](Self::on_undo), [`on_recovery_exit`](Self::on_recovery_exit) as they happen), delivery-rate
/// sample, then [`on_ack`](Self::on_ack) exactly once, then `control`.
pub trait CongestionControl: Send {
    /// Start, as the handshake is complete; `path` has the first RTT sample.
    fn on_established(&mut self, _path: &Path) {}

    /// Process an ACK after the transport has done so. Called once per ACK, except for one that a later ACK overtook or
    /// that arrives with no packet outstanding.
    fn on_ack(&mut self, ack: &Ack, path: &Path);

    /// Process a packet that was marked lost. Called only if `Traits::watches_losses`, before the episode that the loss
    /// may begin, and before the [`on_ack`](Self::on_ack) of the ACK that revealed it.
    fn on_lost(&mut self, _lost: &LostPacket, _path: &Path) {}

    /// Begin a congestion episode (at most once per window of data, except for repeated timeouts).
    ///
    /// An algorithm whose recovery belongs to the transport only sets a new `ssthresh`. The caller must then move the
    /// window there with [`set_cwnd`](Self::set_cwnd): gradually (PRR), at once, or when recovery ends. After a timeout
    /// the caller sets it to the packets in flight plus one.
    fn on_congestion(&mut self, congestion: Congestion, path: &Path);

    /// Undo a spurious episode: no packet was lost.
    fn on_undo(&mut self, undo: &Undo, path: &Path);

    /// End an episode after a loss, a mark or a timeout: all packets outstanding at its begin have been delivered. The
    /// transport has set the window to `ssthresh` by then, except after a timeout. The algorithm may change both.
    fn on_recovery_exit(&mut self, _path: &Path) {}

    /// Process a burst before it is sent: one that ends an idle time, or any if `Traits::watches_sends`.
    fn on_send(&mut self, _sent: &Sent, _path: &Path) {}

    /// When to call [`on_wakeup`](Self::on_wakeup), if ever. After a wake-up it must be in the future, or the
    /// simulation would loop for ever.
    fn next_wakeup(&self) -> Option<units::Time> {
        None
    }

    /// Act at the time that [`next_wakeup`](Self::next_wakeup) returned.
    fn on_wakeup(&mut self, _path: &Path) {}

    /// Set the window as the transport decides: proportional rate reduction, a timeout, a restart after idle.
    fn set_cwnd(&mut self, cwnd: u32);

    /// Reduce the window to `cwnd`, as it was unused for a timeout or longer. Algorithms with a slow-start threshold
    /// raise it to three quarters of the old window.
    fn restart(&mut self, cwnd: u32) {
        self.set_cwnd(cwnd);
    }

    /// The current outputs. Pure.
    fn control(&self) -> Control;

    /// Report the internal variables for traces: numbers at every sample, states also whenever one changes. Recorders
    /// call it, so it costs nothing without traces.
    fn observe(&self, probe: &mut Probe<'_>);

    /// Requirements for the transport. Constant once the connection is established.
    fn traits(&self) -> Traits;
}
