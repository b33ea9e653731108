//! Builds the endpoints of connections and their packets from the plan of a flow.

use crate::payload::{Packet, Payload};
use crate::plan::{AckPlan, EcnFeedback, EcnPlan, FlowPlan, Interface, MemoryPlan, PacingPlan, TcpPlan};
use congestion::EcnMode;
use network::{Ecn, StreamId};
use tcp::{
    ACCECN_OPTION_BYTES, AckPolicy, Feedback, Nic, Pacing, ReceiveBuffer, ReceiverConfig, Segment,
    SendBuffer, SendMemory, SenderConfig, SenderStats,
};
use units::{Bytes, Duration};

/// Configuration of the endpoints of a connection.
#[derive(Clone, Debug)]
pub struct Transport {
    /// Sender of the data.
    pub sender: SenderConfig,
    /// Sender of requests, at the other end.
    pub requester: SenderConfig,
    /// Receiver of the data.
    pub receiver: ReceiverConfig,
    /// Headers around segments.
    pub headers: Headers,
    /// Whether in-order delays are measured.
    pub measures_in_order: bool,
}

impl Transport {
    /// Transport of a flow whose algorithm has the ECN mode `mode`. `interfaces`: the interfaces of sender and receiver
    /// that report departures, if any. `merges`: packets that arrive at the same time at the receiver are merged.
    pub fn new(
        plan: &FlowPlan,
        interfaces: [Option<Interface>; 2],
        merges: bool,
        mode: EcnMode,
    ) -> Transport {
        let feedback = agree(plan.tcp.ecn, mode);
        let bears_counters = feedback == Feedback::Accurate && plan.tcp.accecn_option;
        let accecn = if bears_counters { ACCECN_OPTION_BYTES } else { 0 };
        let headers = Headers {
            overhead: plan.tcp.overhead_bytes as u16,
            accecn,
            timestamps: plan.tcp.timestamps,
            dscp: plan.dscp,
            ecn: EcnBits::new(feedback, mode),
        };
        Transport {
            sender: sender_config(plan, interfaces[0], feedback, accecn),
            requester: sender_config(plan, interfaces[1], feedback, accecn),
            receiver: receiver_config(plan, merges, feedback, accecn),
            headers,
            measures_in_order: false,
        }
    }
}

/// Headers around the segments of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Headers {
    overhead: u16,
    /// Bytes of the AccECN option; 0 if it is not used.
    accecn: u16,
    timestamps: bool,
    dscp: u8,
    ecn: EcnBits,
}

impl Headers {
    /// The packet of `stream` that carries a segment.
    #[inline]
    pub fn packet(&self, stream: StreamId, segment: &Segment) -> Packet {
        Packet {
            stream,
            size: self.overhead + self.inner_bytes(segment),
            ecn: self.ecn.bits(segment),
            dscp: self.dscp,
            payload: Payload::Tcp(*segment),
        }
    }

    /// Payload and the options that not every segment has.
    #[inline]
    fn inner_bytes(&self, segment: &Segment) -> u16 {
        match segment {
            Segment::Data { len, .. } => len + self.accecn,
            Segment::Ack { sacks, .. } if sacks.is_empty() => self.accecn,
            _ => segment.option_bytes(self.timestamps, self.accecn),
        }
    }

    /// Bytes of all data packets of a sender, headers included.
    pub fn bytes(&self, stats: &SenderStats) -> u64 {
        stats.sent_bytes + stats.sent_packets * u64::from(self.overhead + self.accecn)
    }
}

/// ECN feedback that the two ends negotiate.
fn agree(plan: EcnPlan, mode: EcnMode) -> Feedback {
    match (plan, mode) {
        (EcnPlan::Negotiated(false), _) => Feedback::Off,
        (EcnPlan::Feedback(EcnFeedback::Accecn), _) | (_, EcnMode::L4s) => Feedback::Accurate,
        (_, EcnMode::EveryMark) => Feedback::EveryMark,
        (_, EcnMode::Classic) => Feedback::Classic,
    }
}

/// ECN codepoints of the segments of a connection.
#[derive(Clone, Copy, Debug)]
struct EcnBits {
    /// Codepoint of new data.
    new: Ecn,
    /// Codepoint of retransmissions and ACKs.
    other: Ecn,
}

impl EcnBits {
    fn new(feedback: Feedback, mode: EcnMode) -> EcnBits {
        let capable = if mode == EcnMode::L4s { Ecn::Ect1 } else { Ecn::Ect0 };
        EcnBits {
            new: if feedback == Feedback::Off { Ecn::NotEct } else { capable },
            other: if feedback.covers_everything() { capable } else { Ecn::NotEct },
        }
    }

    #[inline]
    fn bits(self, segment: &Segment) -> Ecn {
        match segment {
            Segment::Data { again: false, .. } => self.new,
            Segment::Data { .. } | Segment::Ack { .. } | Segment::HandshakeAck { .. } => self.other,
            Segment::Syn { .. } | Segment::SynAck { .. } => Ecn::NotEct,
        }
    }
}

/// Payload of a full segment: options reduce it (Linux `tcp_current_mss`).
fn payload_bytes(plan: &FlowPlan, accecn: u16) -> u32 {
    plan.tcp.mss_bytes.saturating_sub(accecn.into()).max(1)
}

/// Configuration of a sender. An interface with `sch_fq` paces all TCP packets that pass it (Linux `fq_classify` sets
/// `SK_PACING_FQ`).
fn sender_config(
    plan: &FlowPlan,
    interface: Option<Interface>,
    feedback: Feedback,
    accecn: u16,
) -> SenderConfig {
    let paces = interface.is_some_and(|interface| interface.paces);
    let pacing_shift = interface.map(|interface| interface.pacing_shift).or(plan.tcp.pacing_shift);
    SenderConfig {
        mss: payload_bytes(plan, accecn),
        option_bytes: accecn.into(),
        initial_window: plan.tcp.initial_window,
        data: Some(0), // nothing before the application writes
        send_buffer: send_buffer(&plan.tcp),
        pacing: match plan.tcp.pacing {
            _ if paces => Pacing::Fq,
            PacingPlan::Auto => Pacing::Auto,
            PacingPlan::Always => Pacing::Always,
            PacingPlan::Fq => Pacing::Fq,
        },
        nic: interface.map(|_| Nic { header_bytes: plan.tcp.overhead_bytes + u32::from(accecn) }),
        max_burst_bytes: plan.tcp.max_burst_bytes,
        pacing_shift: pacing_shift.unwrap_or(congestion::PACING_SHIFT),
        min_burst: plan.tcp.min_burst_packets.unwrap_or(1),
        ecn: feedback,
        loss_detection: plan.tcp.recovery.loss_detection.into(),
        min_rto: Duration::from_nanos(plan.tcp.recovery.min_rto_ns),
        tail_loss_probe: plan.tcp.recovery.tail_loss_probe,
        undo: plan.tcp.recovery.undo,
        quirks: plan.tcp.quirks.into(),
        lean_records: false, // unless there are many flows
    }
}

/// Send buffer of a plan. A size in payload overrides memory, as `SO_SNDBUF` turns off the kernel's auto-tuning.
fn send_buffer(plan: &TcpPlan) -> SendBuffer {
    let payload = plan.send_buffer_bytes.map(|bytes| SendBuffer::Payload(Bytes::new(bytes)));
    let segments_later = plan.max_burst_bytes >= 2 * plan.mss_bytes;
    let otherwise =
        || if segments_later { SendBuffer::Memory(SendMemory::default()) } else { SendBuffer::Unlimited };
    payload.or_else(|| plan.send_memory.map(MemoryPlan::to_send)).unwrap_or_else(otherwise)
}

fn receive_buffer(plan: &TcpPlan) -> ReceiveBuffer {
    let payload = plan.receive_buffer_bytes.map(|bytes| ReceiveBuffer::Payload(Bytes::new(bytes)));
    payload.or_else(|| plan.receive_memory.map(MemoryPlan::to_receive)).unwrap_or_default()
}

fn receiver_config(plan: &FlowPlan, merges: bool, feedback: Feedback, accecn: u16) -> ReceiverConfig {
    let ack = match plan.tcp.ack {
        AckPlan::Linux {} => AckPolicy::Linux,
        AckPlan::Every { packets, timeout_ns } => {
            AckPolicy::Every { packets, timeout: Duration::from_nanos(timeout_ns) }
        }
    };
    // A GRO time of 1 ns merges exactly the packets that arrive at the same time.
    let gro_ns = plan.tcp.gro_ns.or((merges && ack == AckPolicy::Linux).then_some(1));
    let gro = gro_ns.filter(|&nanos| nanos > 0).map(Duration::from_nanos);
    ReceiverConfig {
        mss: payload_bytes(plan, accecn),
        option_bytes: accecn.into(),
        ack,
        ecn: feedback,
        gro,
        sack_compression: plan.tcp.sack_compression,
        timestamps: plan.tcp.timestamps,
        buffer: receive_buffer(&plan.tcp),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tcp::SackBlocks;

    fn data(again: bool) -> Segment {
        Segment::Data {
            seq: 0,
            len: 1448,
            push: false,
            again,
            cwr: false,
            fin: false,
            stamp: 0,
            sent_us: 0,
            riding: None,
        }
    }

    fn ack() -> Segment {
        let sacks = SackBlocks::default();
        Segment::Ack {
            ack: 0,
            echo: 0,
            window: 0,
            one_way_us: 0,
            ce_count: 0,
            ece: false,
            dsack: false,
            sacks,
        }
    }

    /// ECN codepoints of new data, of a retransmission, of a pure ACK and of the handshake's ACK.
    fn bits(ecn: EcnPlan, mode: EcnMode) -> [Ecn; 4] {
        let feedback = agree(ecn, mode);
        [data(false), data(true), ack(), Segment::HandshakeAck { stamp: 0, echo: 0, window: 0 }]
            .map(|segment| EcnBits::new(feedback, mode).bits(&segment))
    }

    #[test]
    fn classic_ecn_exempts_retransmissions_and_acks() {
        let on = EcnPlan::Negotiated(true);
        assert_eq!(bits(on, EcnMode::Classic), [Ecn::Ect0, Ecn::NotEct, Ecn::NotEct, Ecn::NotEct]);
    }

    #[test]
    fn dctcp_and_prague_exempt_nothing_and_prague_asks_for_low_latency() {
        let on = EcnPlan::Negotiated(true);
        assert_eq!(bits(on, EcnMode::EveryMark), [Ecn::Ect0; 4]);
        assert_eq!(bits(on, EcnMode::L4s), [Ecn::Ect1; 4]);
    }

    #[test]
    fn accurate_feedback_can_be_had_by_any_algorithm() {
        let accurate = EcnPlan::Feedback(EcnFeedback::Accecn);
        assert_eq!(agree(accurate, EcnMode::Classic), Feedback::Accurate);
        assert_eq!(bits(accurate, EcnMode::Classic), [Ecn::Ect0; 4]);
    }

    #[test]
    fn without_ecn_nothing_may_be_marked() {
        assert_eq!(bits(EcnPlan::Negotiated(false), EcnMode::L4s), [Ecn::NotEct; 4]);
    }
}
