//! Builds the endpoints of connections and their packets from the plan of a flow.

use crate::payload::{Packet, Payload};
use crate::plan::FlowPlan;
use crate::plan::nic::Interface;
use congestion::EcnMode;
use network::{Ecn, StreamId};
use tcp::{
    ACCECN_OPTION_BYTES, AckPolicy, EcnOption, Feedback, Nic, Options, Pacing, ReceiverConfig, Segment,
    SenderConfig, SenderStats,
};
use units::Duration;

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
    /// Transport of a flow whose algorithm has the ECN mode `mode`. `interfaces` are the network interfaces of sender
    /// and receiver, if they report departures. `merges` is whether the receiver merges packets that arrive at the same
    /// time.
    pub fn new(
        plan: &FlowPlan,
        interfaces: [Option<Interface>; 2],
        merges: bool,
        mode: EcnMode,
    ) -> Transport {
        let feedback = agree(plan.tcp.ecn, mode);
        let bears_counters = feedback == Feedback::Accurate && plan.tcp.accecn_option.unwrap_or(true);
        let accecn = if bears_counters { ACCECN_OPTION_BYTES } else { 0 };
        let headers = Headers {
            overhead: plan.tcp.overhead_bytes() as u16,
            accecn,
            timestamps: plan.tcp.timestamps,
            dscp: plan.dscp,
            ecn: EcnBits::new(feedback, mode),
        };
        Transport {
            sender: sender_config(&plan.tcp, interfaces[0], feedback, accecn),
            requester: sender_config(&plan.tcp, interfaces[1], feedback, accecn),
            receiver: receiver_config(&plan.tcp, merges, feedback, accecn),
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

    /// Bytes of payload, and of the options that not every segment has.
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
fn agree(option: EcnOption, mode: EcnMode) -> Feedback {
    match (option, mode) {
        (EcnOption::Off, _) => Feedback::Off,
        (EcnOption::Accecn, _) | (_, EcnMode::L4s) => Feedback::Accurate,
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

/// Configuration of a sender. An interface with `sch_fq` paces all TCP packets that pass it (Linux `fq_classify` sets
/// `SK_PACING_FQ`).
fn sender_config(
    options: &Options,
    interface: Option<Interface>,
    feedback: Feedback,
    accecn: u16,
) -> SenderConfig {
    let usual = options.sender(accecn.into(), feedback);
    let header_bytes = options.overhead_bytes() + u32::from(accecn);
    SenderConfig {
        data: Some(0), // no data before the application writes
        pacing: if interface.is_some_and(|interface| interface.paces) { Pacing::Fq } else { usual.pacing },
        nic: interface.map(|_| Nic { header_bytes }),
        pacing_shift: interface.map_or(usual.pacing_shift, |interface| interface.pacing_shift),
        ..usual
    }
}

/// Configuration of a receiver. If `merges`, the host of the receiver merges packets that arrive at the same time,
/// unless the options set `ack_every` or `gro`.
fn receiver_config(options: &Options, merges: bool, feedback: Feedback, accecn: u16) -> ReceiverConfig {
    let usual = options.receiver(accecn.into(), feedback);
    if merges && options.gro.is_none() && usual.ack == AckPolicy::Linux {
        // A GRO time of 1 ns merges exactly the packets that arrive at the same time.
        return ReceiverConfig { gro: Some(Duration::from_nanos(1)), ..usual };
    }
    usual
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
    fn bits(ecn: EcnOption, mode: EcnMode) -> [Ecn; 4] {
        let feedback = agree(ecn, mode);
        [data(false), data(true), ack(), Segment::HandshakeAck { stamp: 0, echo: 0, window: 0 }]
            .map(|segment| EcnBits::new(feedback, mode).bits(&segment))
    }

    #[test]
    fn classic_ecn_exempts_retransmissions_and_acks() {
        let on = EcnOption::On;
        assert_eq!(bits(on, EcnMode::Classic), [Ecn::Ect0, Ecn::NotEct, Ecn::NotEct, Ecn::NotEct]);
    }

    #[test]
    fn dctcp_and_prague_exempt_nothing_and_prague_asks_for_low_latency() {
        let on = EcnOption::On;
        assert_eq!(bits(on, EcnMode::EveryMark), [Ecn::Ect0; 4]);
        assert_eq!(bits(on, EcnMode::L4s), [Ecn::Ect1; 4]);
    }

    #[test]
    fn accurate_feedback_can_be_had_by_any_algorithm() {
        let accurate = EcnOption::Accecn;
        assert_eq!(agree(accurate, EcnMode::Classic), Feedback::Accurate);
        assert_eq!(bits(accurate, EcnMode::Classic), [Ecn::Ect0; 4]);
    }

    #[test]
    fn without_ecn_nothing_may_be_marked() {
        assert_eq!(bits(EcnOption::Off, EcnMode::L4s), [Ecn::NotEct; 4]);
    }
}
