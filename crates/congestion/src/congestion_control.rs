//! The interface between the transport and an algorithm.

use crate::event::{Ack, Congestion, Control, LostPacket, Path, Sent, Traits, Undo};
use units::Probe;

/// A congestion control algorithm: it computes a window and a rate from events of the transport.
///
/// An algorithm never allocates after `build`. [`control`](Self::control) is pure: it changes no state. The order
/// within one ACK is: scoreboard, RTT, loss detection (with calls of [`on_congestion`](Self::on_congestion),
/// [`on_undo`](Self::on_undo) and [`on_recovery_exit`](Self::on_recovery_exit) as these events happen), delivery-rate
/// sample, then [`on_ack`](Self::on_ack) exactly once, then `control`.
pub trait CongestionControl: Send {
    /// Start the flow when the handshake is complete; `path` has the first RTT sample.
    fn on_established(&mut self, _path: &Path) {}

    /// Process an ACK after the transport has processed it. The transport calls this method once per ACK, except
    /// for an ACK that a later ACK overtook or that arrives with no packet outstanding.
    fn on_ack(&mut self, ack: &Ack, path: &Path);

    /// Process a packet that was marked lost. The transport calls this method only if `Traits::watches_losses` is
    /// set. The call comes before the episode that the loss may begin, and before [`on_ack`](Self::on_ack) for
    /// the ACK that revealed the loss.
    fn on_lost(&mut self, _lost: &LostPacket, _path: &Path) {}

    /// Begin a congestion episode (at most once per window of data, except for repeated timeouts).
    ///
    /// If the transport sets the window in recovery, the algorithm only sets a new `ssthresh` here. The caller must
    /// then move the window to `ssthresh` with [`set_cwnd`](Self::set_cwnd): gradually (PRR), immediately, or when
    /// recovery ends. After a timeout the caller sets the window to the packets in flight plus one.
    fn on_congestion(&mut self, congestion: Congestion, path: &Path);

    /// React to packets that were marked lost while the window was being reduced for another cause, such as marks. The
    /// reduction goes on (Linux `set_state(TCP_CA_Recovery)` in the state CWR).
    fn on_loss_in_reduction(&mut self, _path: &Path) {}

    /// Undo an episode that was spurious: no packet had been lost.
    fn on_undo(&mut self, undo: &Undo, path: &Path);

    /// End an episode after a loss, a mark or a timeout: all packets outstanding at its beginning have been
    /// delivered. The transport has already set the window to `ssthresh`, except after a timeout. The algorithm may
    /// change the window and `ssthresh`.
    fn on_recovery_exit(&mut self, _path: &Path) {}

    /// Process a burst before it is sent: a burst that ends an idle time, or every burst if `Traits::watches_sends`
    /// is set.
    fn on_send(&mut self, _sent: &Sent, _path: &Path) {}

    /// Time of the next call of [`on_wakeup`](Self::on_wakeup), if any. After a wake-up this time must be in the
    /// future, or the simulation would never end.
    fn next_wakeup(&self) -> Option<units::Time> {
        None
    }

    /// Act at the time that [`next_wakeup`](Self::next_wakeup) returned.
    fn on_wakeup(&mut self, _path: &Path) {}

    /// Set the window to the value that the transport chooses: during proportional rate reduction, after a
    /// timeout, or after an idle time.
    fn set_cwnd(&mut self, cwnd: u32);

    /// Reduce the window to `cwnd`, because the flow has not filled the window for a retransmission timeout or
    /// longer. Algorithms with a slow-start threshold raise the threshold to three quarters of the old window.
    fn restart(&mut self, cwnd: u32) {
        self.set_cwnd(cwnd);
    }

    /// The current outputs. The call changes no state.
    fn control(&self) -> Control;

    /// Report the internal variables for traces: numbers at every sample, states also whenever a state changes. Only
    /// recorders of traces call this method, so a run without traces takes no time for it.
    fn observe(&self, probe: &mut Probe<'_>);

    /// Requirements for the transport. The requirements are constant once the connection is established.
    fn traits(&self) -> Traits;
}
