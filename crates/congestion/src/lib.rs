#![doc = include_str!("../README.md")]

mod delay;
mod event;
mod filter;
mod hystart;
pub mod kit;
mod registry;
mod rtt_scaling;
#[cfg(test)]
mod test_drive;
#[cfg(test)]
mod test_support;
mod window;
#[macro_use]
mod window_algorithm;

mod algorithms;
mod bbr;

pub use event::{
    Ack, CaState, Congestion, Control, EcnMode, LostPacket, PACING_SHIFT, Path, RateSample, Recovery, Sent,
    Traits, Undo,
};
pub use filter::WindowedMax;
pub use params::{ParamSpec, Preset};
pub use registry::{BuildError, Descriptor, build, descriptors};
pub use units::{Probe, Reading};
pub use window::Window;
pub use window_algorithm::WindowAlgorithm;

/// Turns what the network said into a window and a rate.
///
/// Never allocates after `build`, and [`control`](Self::control) is pure: calling it twice changes nothing.
/// The order within one ACK is: scoreboard, RTT, loss detection ([`on_congestion`](Self::on_congestion),
/// [`on_undo`](Self::on_undo), [`on_recovery_exit`](Self::on_recovery_exit) as they happen), delivery-rate
/// sample, then [`on_ack`](Self::on_ack) exactly once, then `control`.
pub trait CongestionControl: Send {
    /// The handshake is over; `path` has the first RTT sample.
    fn on_established(&mut self, _path: &Path) {}

    /// An ACK arrived and has been digested. Called once per ACK, but not for one that a later ACK overtook or that
    /// found nothing outstanding.
    fn on_ack(&mut self, ack: &Ack, path: &Path);

    /// A packet was deemed lost. Only if `Traits::watches_losses`; before the episode it may begin, and before the
    /// [`on_ack`](Self::on_ack) of the ACK that revealed it.
    fn on_lost(&mut self, _lost: &LostPacket, _path: &Path) {}

    /// A congestion episode begins (at most once per window of data, except for repeated timeouts).
    ///
    /// An algorithm whose recovery belongs to the transport only names a new `ssthresh`. It is the caller's duty to
    /// bring the window there with [`set_cwnd`](Self::set_cwnd): gradually (PRR), at once, or when recovery ends;
    /// and to set it to what is in flight plus one after a timeout.
    fn on_congestion(&mut self, congestion: Congestion, path: &Path);

    /// The episode turned out to be spurious: nothing was lost.
    fn on_undo(&mut self, undo: &Undo, path: &Path);

    /// Everything outstanding when the episode began has been delivered: after a loss, a mark or a timeout. The
    /// transport has brought the window to `ssthresh` by then, except after a timeout; the algorithm may move both.
    fn on_recovery_exit(&mut self, _path: &Path) {}

    /// A burst is about to be sent: one that ends an idle time, or any if `Traits::watches_sends`.
    fn on_send(&mut self, _sent: &Sent, _path: &Path) {}

    /// When the algorithm wants [`on_wakeup`](Self::on_wakeup) called, if ever. After a wake-up it must lie in the
    /// future, or time would stand still.
    fn next_wakeup(&self) -> Option<units::Time> {
        None
    }

    /// The time asked for in [`next_wakeup`](Self::next_wakeup) has come.
    fn on_wakeup(&mut self, _path: &Path) {}

    /// The transport moves the window itself: proportional rate reduction, a timeout, a restart after idle.
    fn set_cwnd(&mut self, cwnd: u32);

    /// The transport takes the window down because it stood unused for a timeout or longer. Algorithms with a
    /// slow-start threshold remember three quarters of the old window in it.
    fn restart(&mut self, cwnd: u32) {
        self.set_cwnd(cwnd);
    }

    /// What the algorithm currently allows. Pure.
    fn control(&self) -> Control;

    /// Names the internal variables for traces: numbers at every sample, states also whenever one changes. Pulled by
    /// recorders, so it costs nothing when not traced.
    fn observe(&self, probe: &mut Probe<'_>);

    /// What the algorithm needs from the transport. Constant once the connection is established.
    fn traits(&self) -> Traits;
}
