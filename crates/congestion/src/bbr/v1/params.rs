//! Parameters of BBRv1 and of all its descendants.

use crate::bbr::Gain;

/// The kernel whose BBRv1 is the base of a descendant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    /// Linux 4.14: no compensation for ACK aggregation, and packets in the network are not extrapolated to the
    /// next departure. RTT samples of delayed ACKs count, and an RTT equal to the minimum renews the time of the
    /// minimum.
    Linux4_14,
    /// Linux 6.18.
    Linux6_18,
}

/// Parameters of BBRv1, converted to the units that the algorithm uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) base: Base,
    pub(crate) startup_gain: Gain,
    pub(crate) drain_gain: Gain,
    pub(crate) cwnd_gain: Gain,
    pub(crate) bw_window_rounds: u32,
    pub(crate) min_rtt_window_ms: u64,
    pub(crate) probe_rtt_ms: u64,
    pub(crate) min_cwnd: u32,
    pub(crate) margin_percent: u64,
    pub(crate) policer: bool,
}

/// Declare the parameters of a descendant: the parameters of BBRv1 with the pacing margin `$margin`, and the
/// descendant's own parameters.
macro_rules! params_of_v1 {
    ($(#[doc = $struct_doc:literal])* pub struct $name:ident on $base:ident, margin $margin:literal {
        $($own:tt)*
    } $($presets:tt)*) => {
        params::params! {
            $(#[doc = $struct_doc])*
            pub struct $name {
                $($own)*
                /// Pacing and window gain in STARTUP; the default is slightly above 2/ln 2.
                startup_gain: f64 = 739.0 / 256.0, "", 1.0..=10.0;
                /// Pacing gain in DRAIN.
                drain_gain: f64 = 88.0 / 256.0, "", 0.05..=1.0;
                /// Window gain in PROBE_BW.
                cwnd_gain: f64 = 2.0, "", 1.0..=10.0;
                /// Rounds over which the bandwidth maximum is taken.
                bw_window_rounds: u32 = 10, "rounds", 1..=100;
                /// Time over which the RTT minimum is taken.
                min_rtt_window_s: f64 = 10.0, "s", 0.1..=3600.0;
                /// Duration of PROBE_RTT; 0 disables it.
                probe_rtt_ms: u32 = 200, "ms", 0..=10_000;
                /// Smallest window, and the window of PROBE_RTT.
                min_cwnd: u32 = 4, "packets", 1..=1000;
                /// Margin by which the pacing rate is below the bandwidth estimate, so that queues drain.
                pacing_margin_percent: u32 = $margin, "%", 0..=50;
                /// Whether to detect token-bucket policers and pace at their rate.
                policer: bool = true, "";
            }
            $($presets)*
        }

        impl From<&$name> for crate::bbr::v1::Settings {
            fn from(params: &$name) -> Self {
                crate::bbr::v1::Settings {
                    base: crate::bbr::v1::Base::$base,
                    startup_gain: crate::bbr::Gain::from_f64(params.startup_gain),
                    drain_gain: crate::bbr::Gain::from_f64(params.drain_gain),
                    cwnd_gain: crate::bbr::Gain::from_f64(params.cwnd_gain),
                    bw_window_rounds: params.bw_window_rounds,
                    min_rtt_window_ms: (params.min_rtt_window_s * 1e3) as u64,
                    probe_rtt_ms: u64::from(params.probe_rtt_ms),
                    min_cwnd: params.min_cwnd,
                    margin_percent: u64::from(params.pacing_margin_percent),
                    policer: params.policer,
                }
            }
        }
    };
}
pub(crate) use params_of_v1;
