//! The trait of algorithms that set only a window. An algorithm implements its law of growth and its law of
//! reduction. This module implements the other methods of [`CongestionControl`].

use crate::window::MIN_CWND;
use crate::{Ack, Congestion, CongestionControl, Control, Path, Probe, Sent, Traits, Undo, Window};

/// Implement the methods `window` and `window_mut` of a [`WindowAlgorithm`] whose window is in a field called
/// `window`.
macro_rules! has_window {
    () => {
        fn window(&self) -> &$crate::Window {
            &self.window
        }

        fn window_mut(&mut self) -> &mut $crate::Window {
            &mut self.window
        }
    };
}

/// An algorithm with a [`Window`] that the transport reduces. The algorithm has a law of growth and a law of
/// reduction.
///
/// A type with this trait also implements [`CongestionControl`]. Optional methods have the default that Linux
/// uses for modules without the hook.
pub trait WindowAlgorithm: Send {
    /// The window. `has_window!()` implements this method and `window_mut`.
    fn window(&self) -> &Window;

    /// The window, mutable.
    fn window_mut(&mut self) -> &mut Window;

    /// Slow-start threshold after a reduction, packets; the caller ensures at least 2 (Linux `ssthresh`). The
    /// method is not called for repeated timeouts of one episode.
    fn reduced(&mut self, congestion: Congestion, path: &Path) -> u32;

    /// Grow the window. The method is called only if the transport allows growth and the flow filled the window
    /// (Linux `cong_avoid`).
    fn grow(&mut self, ack: &Ack, _path: &Path) {
        self.window_mut().reno(ack.acked);
    }

    /// Take samples from every ACK, before the window may grow (Linux `in_ack_event`, `pkts_acked`).
    fn measure(&mut self, _ack: &Ack, _path: &Path) {}

    /// Start the flow when the handshake is complete.
    fn established(&mut self, _path: &Path) {}

    /// Process a timeout, whether or not it is the first of its episode, after `reduced` (Linux
    /// `set_state(TCP_CA_Loss)`).
    fn timed_out(&mut self, _path: &Path) {}

    /// React to losses during a reduction for another cause: see [`CongestionControl::on_loss_in_reduction`].
    fn lost_in_reduction(&mut self, _path: &Path) {}

    /// Undo a spurious episode.
    fn undone(&mut self, undo: &Undo, _path: &Path) {
        self.window_mut().undo(undo);
    }

    /// End an episode: see [`CongestionControl::on_recovery_exit`].
    fn recovered(&mut self, _path: &Path) {}

    /// Process a burst before it is sent: see [`CongestionControl::on_send`].
    fn sending(&mut self, _sent: &Sent, _path: &Path) {}

    /// Reduce a window that the flow did not use: see [`CongestionControl::restart`] (Linux `CA_EVENT_CWND_RESTART`).
    fn restarted(&mut self, cwnd: u32) {
        self.window_mut().restart(cwnd);
    }

    /// Whether to request a reduction: see [`Control::reduce`] (Linux `tcp_enter_cwr`).
    fn wants_reduction(&self) -> bool {
        false
    }

    /// Report the variables of the algorithm for traces, apart from cwnd and ssthresh.
    fn variables(&self, _probe: &mut Probe<'_>) {}

    /// Requirements for the transport.
    fn needs(&self) -> Traits {
        Traits::default()
    }
}

impl<A: WindowAlgorithm> CongestionControl for A {
    fn on_established(&mut self, path: &Path) {
        self.established(path);
    }

    fn on_ack(&mut self, ack: &Ack, path: &Path) {
        self.measure(ack, path);
        if ack.may_grow && path.cwnd_limited {
            self.grow(ack, path);
        }
    }

    fn on_congestion(&mut self, congestion: Congestion, path: &Path) {
        self.window_mut().forget_credit();
        if congestion != (Congestion::Timeout { first: false }) {
            self.window_mut().ssthresh = self.reduced(congestion, path).max(MIN_CWND);
        }
        if matches!(congestion, Congestion::Timeout { .. }) {
            self.timed_out(path);
        }
    }

    fn on_loss_in_reduction(&mut self, path: &Path) {
        self.lost_in_reduction(path);
    }

    fn on_undo(&mut self, undo: &Undo, path: &Path) {
        self.undone(undo, path);
    }

    fn on_recovery_exit(&mut self, path: &Path) {
        self.recovered(path);
    }

    fn on_send(&mut self, sent: &Sent, path: &Path) {
        self.sending(sent, path);
    }

    fn set_cwnd(&mut self, cwnd: u32) {
        self.window_mut().set_cwnd(cwnd);
    }

    fn restart(&mut self, cwnd: u32) {
        self.restarted(cwnd);
    }

    fn control(&self) -> Control {
        Control { reduce: self.wants_reduction(), ..Control::window(self.window()) }
    }

    fn observe(&self, probe: &mut Probe<'_>) {
        self.window().observe(probe);
        self.variables(probe);
    }

    fn traits(&self) -> Traits {
        self.needs()
    }
}
