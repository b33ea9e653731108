//! Options of the transport, each declared once: name, type, unit, range, default and documentation.
//!
//! Scenario files, their checks, the plan of a simulation and the reference pages all use this declaration. An
//! option that is left out (`None`) has the default of the TCP stack of the engine. The native engine has the
//! defaults of Linux.

use crate::sender::{
    FullSendBuffer, IdleApplication, InvalidSamples, LossDetection, LostInFlight, Pacing, Proportion, Quirks,
    RateSampling, Rescue, SendBuffer, SendMemory, SenderConfig,
};
use crate::wheel::TICK;
use crate::{AckPolicy, Feedback, LARGEST_BUFFER, ReceiveBuffer, ReceiveMemory, ReceiverConfig};
use params::{Problem, params};
use serde::{Deserialize, Serialize};
use units::{Bytes, Duration};

/// Explicit congestion notification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EcnOption {
    /// ECN is not negotiated.
    #[default]
    Off,
    /// ECN with the feedback that the algorithm needs. Most algorithms need the feedback of RFC 3168.
    On,
    /// ECN with AccECN feedback (RFC 9768), for any algorithm.
    Accecn,
}

params! {
    /// Options of the transport of a flow. Defaults are Linux on Ethernet: 1514 B per full segment, 66 B per bare ACK.
    #[derive(Copy, PartialEq, Eq)]
    pub struct Options {
        /// Payload of a full segment.
        mss: u32 = 1448, "bytes", 1..=9_000;
        /// Send the timestamps option, 12 B in every packet.
        timestamps: bool = true, "";
        /// Bytes that the link layer adds to every packet. Link rates and byte limits of queues count these
        /// bytes.
        link_overhead: u32 = 14, "bytes", 0..=1_000;
        /// Packets per ACK if the packets arrive in order, like ns-3's DelAckCount. Left out: Linux's delayed
        /// ACKs and quick ACKs.
        ack_every: Option<u32> = None, "packets", 1..=1_000;
        /// Longest delay of an ACK with `ack_every`. Without `ack_every`, the option has no effect, because
        /// Linux's delayed ACK has its own timer.
        delayed_ack_timeout: u64 = 200_000_000, "ns", 1..=10_000_000_000i64;
        /// Merge duplicate ACKs that are close together, as Linux does.
        sack_compression: bool = true, "";
        /// Initial congestion window.
        initial_window: u32 = 10, "packets", 1..=10_000;
        /// Largest amount of payload in the send buffer, which holds payload until it is acknowledged. Left out: the
        /// limit is in memory, not in payload (`send_memory`).
        send_buffer: Option<u64> = None, "bytes", 1..=1_000_000_000_000_000_000i64;
        /// Advertised receive window. Left out: the window follows from the memory of the receiving socket
        /// (`receive_memory`).
        receive_buffer: Option<u64> = None, "bytes", 1..=1_000_000_000_000_000_000i64;
        /// Initial memory of the sending socket (Linux: tcp_wmem[1]); it grows with the congestion window. Left out:
        /// 64 KiB. If `send_buffer`, `send_memory` and `send_memory_most` are left out and `max_burst` is less than two
        /// segments, the memory is unlimited.
        send_memory: Option<u64> = None, "bytes", 4_096..=2_147_483_647;
        /// Largest memory of the sending socket (tcp_wmem[2]). Left out: Linux's maximum, 2 GiB.
        send_memory_most: Option<u64> = None, "bytes", 4_096..=2_147_483_647;
        /// Initial memory of the receiving socket (tcp_rmem[1]). The memory grows with the bytes that the
        /// application reads per RTT. While the window opens, every packet is acknowledged. Left out: 16 MiB.
        receive_memory: Option<u64> = None, "bytes", 4_096..=2_147_483_647;
        /// Largest memory of the receiving socket (tcp_rmem[2]). Left out: unlimited.
        receive_memory_most: Option<u64> = None, "bytes", 4_096..=2_147_483_647;
        /// Socket memory of a packet beyond its payload (skb->truesize less the payload). It is used only if
        /// `send_memory` or `receive_memory` is given. Left out: 832 B, as over virtual Ethernet.
        packet_memory: Option<u64> = None, "bytes", 0..=1_048_576;
        /// Pacing: "auto" paces a flow if its algorithm needs pacing, "always" paces every flow. "fq" paces every
        /// flow by the qdisc sch_fq of the host, to which the sender passes packets up to 1 ms, or two bursts,
        /// ahead of their departure.
        pacing: Pacing = Pacing::Auto, "";
        /// Largest burst handed to the network card as one unit (segmentation offload), in payload. "off" sends single
        /// packets.
        max_burst: u32 = 65_536, "bytes", 0..=16_777_216, role = off;
        /// Smallest burst, if data and window allow (Linux: tcp_min_tso_segs). Left out: the value of the
        /// algorithm, which is 2 for most algorithms.
        min_burst: Option<u32> = None, "packets", 1..=1_000;
        /// Receive offload: time for which the network card collects packets after the first. Consecutive packets are
        /// acknowledged as one packet, up to a hole, a CE mark or the end of a burst. "0 s": no offload. Left out: no
        /// offload, with one exception. In the native engine, a station behind a queue "mac80211" merges the packets of
        /// an aggregate, unless `ack_every` is given.
        gro: Option<u64> = None, "ns", 0..=1_000_000_000;
        /// Tick of the clock of the hosts, at which the timers of retransmissions, probes, reordering and delayed ACKs
        /// fire (Linux: CONFIG_HZ, 1 ms at 1,000 Hz or 4 ms at 250 Hz). Timers of more than 63 ticks are coarser, as in
        /// the kernel's timer wheel. "0 s": these timers are exact. Left out: 1 ms; in ns-3 0 s.
        timer_tick: Option<u64> = None, "ns", 0..=100_000_000;
        /// Whether the sender stops while too many of its packets wait in its host (Linux: tcp_small_queue_check). They
        /// wait in the network interface or, in the native engine, in a queue "mac80211". Left out: true.
        small_queues: Option<bool> = None, "";
        /// Size of bursts and of the small-queue limit: 2^-n s at the pacing rate (Linux: sk_pacing_shift). Only
        /// the native engine has this option. Left out: n = 10 (1 ms), or 7 for a sender behind a queue
        /// "mac80211".
        pacing_shift: Option<u32> = None, "", 0..=31;
        /// Negotiate explicit congestion notification. `true`: with the feedback that the algorithm needs.
        /// `dctcp` needs the feedback of DCTCP (RFC 8257), `prague` needs AccECN (RFC 9768), and other algorithms
        /// need the feedback of RFC 3168, one echo per RTT. "accecn": AccECN, which counts marks, for any
        /// algorithm. Prague sends ECT(1), other algorithms send ECT(0).
        ecn: EcnOption = EcnOption::Off, "";
        /// Loss detection. "rack": by send times, with a reordering timer (RACK, RFC 8985). "dupack": by three duplicate
        /// ACKs, as in ns-3 (RFC 6675); a lost retransmission then waits for the timeout. Left out: the loss
        /// detection of the engine's TCP stack, which is Linux's RACK in the native engine.
        loss_detection: Option<LossDetection> = None, "";
        /// Minimum RTO. As on Linux, the RTO exceeds the smoothed RTT by at least this time (tcp_rto_min_us). In
        /// ns-3, the RTO itself is at least this time. Left out: 200 ms; in ns-3 1 s.
        min_rto: Option<u64> = None, "ns", 1_000_000..=60_000_000_000i64;
        /// Send a tail loss probe if the end of a flight is not acknowledged (RFC 8985 section 7). Left out: true; in
        /// ns-3 false.
        tail_loss_probe: Option<bool> = None, "";
        /// Undo a window reduction if reported duplicates (RFC 3708) or timestamps (Eifel, RFC 3522) prove that it was
        /// spurious. The native engine always undoes a timeout that F-RTO (RFC 5682) proves spurious. Left out: true;
        /// in ns-3 false.
        undo: Option<bool> = None, "";
        /// Send the AccECN option in every packet except the SYN (Linux: tcp_ecn_option). The 12 B of the option
        /// reduce the payload. In the native engine, the option does not change the feedback. Left out: true, as
        /// on Linux.
        accecn_option: Option<bool> = None, "";
        /// Start of the interval of a delivery-rate sample. "linux": at the sampled packet. "ns3_3.40": at the
        /// start of the previous sample or, after an invalid sample, at time 0. Left out: "linux".
        rate_sample: Option<RateSampling> = None, "";
        /// Treatment of a rate sample whose interval is shorter than the smallest RTT. "discarded": the sample is
        /// ignored, as in Linux. "repeated": the sample ends rounds and has the rate of the last valid sample, as
        /// in ns-3 3.40. Left out: "discarded".
        invalid_rate_samples: Option<InvalidSamples> = None, "";
        /// Packets retransmitted in recovery when no packet is marked lost and the send buffer has no new data.
        /// "none": no packets, as in Linux. "rfc6675": holes below the highest SACK (rule 3 of NextSeg in RFC
        /// 6675). "unbounded": all packets in flight, as in ns-3 3.40. Left out: "none".
        rescue_retransmit: Option<Rescue> = None, "";
        /// Classification of a sender whose whole send buffer is in flight while its window is not full.
        /// "app_limited": app-limited as on Linux, so that BBR ignores low rate samples of the flow.
        /// "network_limited": not app-limited, as in ns-3. Left out: "app_limited".
        full_send_buffer: Option<FullSendBuffer> = None, "";
        /// Classification of a sender that has sent all written data while its window is not full. "app_limited":
        /// app-limited as in Linux, which checks before the application's next write. "network_limited": not
        /// app-limited if each write has a segment or more, as in ns-3, which checks after the write. Left out:
        /// "app_limited".
        idle_application: Option<IdleApplication> = None, "";
        /// Arithmetic of proportional rate reduction. "rfc9937": as in the RFC. "ns3": each ACK with only SACKs counts
        /// one packet more, so that recovery sends more packets than are delivered. The product of byte counts in
        /// ns-3's formula wraps at 2^32, after which the sender pauses. Left out: "rfc9937".
        prr: Option<Proportion> = None, "";
        /// Packets in flight when a lost packet was sent, as reported to BBRv2 and BBRv3. "counted": all packets
        /// counted at that time. "shifted": the same count without earlier packets of the same burst that were
        /// SACKed, as in Google's kernel with BBRv3 (tcp_shifted_skb). Left out: "counted".
        lost_in_flight: Option<LostInFlight> = None, "";
    }
}

/// Headers of IPv4 and TCP without options.
const IP_AND_TCP_HEADERS_BYTES: u32 = 40;
/// The timestamps option with its padding (RFC 7323 appendix A).
const TIMESTAMPS_BYTES: u32 = 12;

impl Options {
    /// Bytes on the wire in addition to the payload. A bare ACK has this size. SYNs and SACKs are larger.
    pub fn overhead_bytes(&self) -> u32 {
        let timestamps = if self.timestamps { TIMESTAMPS_BYTES } else { 0 };
        self.link_overhead + IP_AND_TCP_HEADERS_BYTES + timestamps
    }

    /// Options that conflict with other options, each with the reason.
    pub fn problems(&self) -> Vec<Problem> {
        let mss = u64::from(self.mss);
        // If the initial memory is left out, it never exceeds the largest memory, so it needs no check.
        let checks = [
            ("send_buffer", self.send_buffer, mss),
            ("receive_buffer", self.receive_buffer, mss),
            ("send_memory", self.send_memory, mss),
            ("receive_memory", self.receive_memory, mss),
            ("send_memory_most", self.send_memory_most, self.send_memory.unwrap_or(mss)),
            ("receive_memory_most", self.receive_memory_most, self.receive_memory.unwrap_or(mss)),
        ];
        let problem = |(name, value, least): (&str, Option<u64>, u64)| {
            let small = value.filter(|&value| value < least)?;
            Some(Problem::new(name, format!("{small} is out of range; it must be at least {least}")))
        };
        checks.into_iter().filter_map(problem).collect()
    }

    /// A sender with these options, the negotiated feedback `ecn`, and unlimited data. Further TCP options take
    /// `option_bytes` of the payload (Linux `tcp_current_mss`).
    pub fn sender(&self, option_bytes: u32, ecn: Feedback) -> SenderConfig {
        let usual = SenderConfig::default();
        SenderConfig {
            mss: self.payload(option_bytes),
            option_bytes,
            initial_window: self.initial_window,
            send_buffer: self.send_buffer(),
            pacing: self.pacing,
            max_burst_bytes: self.max_burst,
            pacing_shift: self.pacing_shift.unwrap_or(usual.pacing_shift),
            min_burst: self.min_burst.unwrap_or(usual.min_burst),
            loss_detection: self.loss_detection.unwrap_or_default(),
            min_rto: self.min_rto.map_or(usual.min_rto, Duration::from_nanos),
            tail_loss_probe: self.tail_loss_probe.unwrap_or(usual.tail_loss_probe),
            undo: self.undo.unwrap_or(usual.undo),
            timestamps: self.timestamps,
            tick: self.tick(),
            ecn,
            quirks: self.quirks(),
            ..usual
        }
    }

    /// A receiver with these options and the negotiated feedback `ecn`. Further TCP options take `option_bytes` of the
    /// payload.
    pub fn receiver(&self, option_bytes: u32, ecn: Feedback) -> ReceiverConfig {
        ReceiverConfig {
            mss: self.payload(option_bytes),
            option_bytes,
            ack: self.ack_policy(),
            gro: self.gro.filter(|&nanos| nanos > 0).map(Duration::from_nanos),
            sack_compression: self.sack_compression,
            timestamps: self.timestamps,
            tick: self.tick(),
            ecn,
            buffer: self.receive_buffer(),
        }
    }

    fn tick(&self) -> Option<Duration> {
        self.timer_tick.map_or(Some(TICK), |nanos| (nanos > 0).then(|| Duration::from_nanos(nanos)))
    }

    fn payload(&self, option_bytes: u32) -> u32 {
        self.mss.saturating_sub(option_bytes).max(1)
    }

    /// When the receiver acknowledges.
    fn ack_policy(&self) -> AckPolicy {
        let timeout = Duration::from_nanos(self.delayed_ack_timeout);
        self.ack_every.map_or(AckPolicy::Linux, |packets| AckPolicy::Every { packets, timeout })
    }

    /// Limit of unacknowledged data at the sender. A limit in payload replaces the limit in memory, as SO_SNDBUF ends
    /// the kernel's tuning of the buffer.
    fn send_buffer(&self) -> SendBuffer {
        let segments_later = self.max_burst >= 2 * self.mss;
        match (self.send_buffer, self.send_memory()) {
            (Some(payload), _) => SendBuffer::Payload(Bytes::new(payload)),
            (None, Some(memory)) => SendBuffer::Memory(memory),
            (None, None) if segments_later => SendBuffer::Memory(SendMemory::default()),
            (None, None) => SendBuffer::Unlimited,
        }
    }

    /// Limit on the data that the receiver holds for the application.
    fn receive_buffer(&self) -> ReceiveBuffer {
        match (self.receive_buffer, self.receive_memory()) {
            (Some(payload), _) => ReceiveBuffer::Payload(Bytes::new(payload)),
            (None, Some(memory)) => ReceiveBuffer::Memory(memory),
            (None, None) => ReceiveBuffer::default(),
        }
    }

    /// Deviations from Linux.
    fn quirks(&self) -> Quirks {
        Quirks {
            rate_sampling: self.rate_sample.unwrap_or_default(),
            invalid_samples: self.invalid_rate_samples.unwrap_or_default(),
            rescue: self.rescue_retransmit.unwrap_or_default(),
            full_send_buffer: self.full_send_buffer.unwrap_or_default(),
            idle_application: self.idle_application.unwrap_or_default(),
            prr: self.prr.unwrap_or_default(),
            lost_in_flight: self.lost_in_flight.unwrap_or_default(),
        }
    }

    fn send_memory(&self) -> Option<SendMemory> {
        let usual = SendMemory::default();
        let (first, most) = memory(self.send_memory, self.send_memory_most, usual.first)?;
        Some(SendMemory { first, most, per_packet: self.packet_memory.map_or(usual.per_packet, Bytes::new) })
    }

    fn receive_memory(&self) -> Option<ReceiveMemory> {
        let usual = ReceiveMemory::default();
        let (first, most) = memory(self.receive_memory, self.receive_memory_most, usual.first)?;
        Some(ReceiveMemory {
            first,
            most,
            per_packet: self.packet_memory.map_or(usual.per_packet, Bytes::new),
        })
    }
}

/// Initial and largest memory of a socket; `None` if neither is given.
fn memory(first: Option<u64>, most: Option<u64>, usual: Bytes) -> Option<(Bytes, Bytes)> {
    first.or(most)?;
    let most = most.unwrap_or(LARGEST_BUFFER);
    let first = first.unwrap_or_else(|| usual.get().min(most));
    Some((Bytes::new(first), Bytes::new(most)))
}
