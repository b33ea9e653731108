//! A connection as the handshake of a script negotiates it. The model negotiates nothing, so its settings follow from
//! the SYN or SYN-ACK that the script injects.

use crate::script::{Packet, Settings};
use crate::verdict::Stop;
use tcp::{
    ACCECN_OPTION_BYTES, AckPolicy, Feedback, Pacing, ReceiveBuffer, ReceiveMemory, Receiver, ReceiverConfig,
    SendBuffer, SendMemory, Sender, SenderConfig,
};
use units::{Bytes, Duration};

/// Largest MSS that the host under test uses (Ethernet).
const OUR_MSS: u32 = 1_460;
/// Bytes of the timestamps option with its padding.
const TIMESTAMPS_BYTES: u32 = 12;
/// Settings of the kernel that no script has set (`tcp_init`, `tcp_sk_init`).
const RECEIVE_MEMORY: [u64; 3] = [4_096, 131_072, 6_291_456];
const SEND_MEMORY: [u64; 3] = [4_096, 16_384, 4_194_304];
const MIN_TSO_SEGS: u64 = 2;
/// Passive AccECN is accepted from this value of tcp_ecn on (Linux `tcp_ecn_rcv_syn`).
const ACCEPTS_ACCECN: u64 = 3;
const DEFAULT_ECN: u64 = 2;
/// Values of tcp_ecn with which a SYN offers ECN, or AccECN.
const OFFERS_ECN: [u64; 3] = [1, 3, 4];
const OFFERS_ACCECN: u64 = 3;

/// The host under test.
#[derive(Clone, Debug)]
pub(crate) struct Local {
    /// Settings that the script has made.
    pub settings: Settings,
    /// Congestion control algorithm of the socket, if the application sets one.
    pub algorithm: Option<String>,
    /// Memory of the socket for sent data, if the application sets it, bytes.
    pub send_memory: Option<u64>,
    /// Whether the application sends short packets at once (TCP_NODELAY).
    pub no_delay: bool,
    /// MSS of the packets that arrive.
    pub arriving_mss: u32,
    /// Whether the peer sends the AccECN option.
    pub peer_has_accecn_option: bool,
}

/// What both ends have agreed on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// ECN feedback.
    pub feedback: Feedback,
    /// Whether segments have timestamps.
    pub timestamps: bool,
    /// Whether ACKs may have SACK blocks.
    pub sack: bool,
    /// Exponent by which the peer's windows are scaled.
    pub window_scale: u32,
}

impl Local {
    /// The connection that the peer's SYN or SYN-ACK opens.
    pub fn connection(&self, peer: &Packet) -> Result<(Sender, Receiver, Terms), Stop> {
        if peer.has_option("FO") || peer.has_option("FOEXP") {
            return Stop::lacks("TCP Fast Open");
        }
        if self.settings.number("tcp_shrink_window") > Some(0) {
            return Stop::lacks("windows that shrink (tcp_shrink_window)");
        }
        let terms = Terms {
            feedback: self.feedback(peer),
            timestamps: peer.has_option("TS") && self.settings.is_on("tcp_timestamps"),
            sack: peer.has_option("sackOK") && self.settings.is_on("tcp_sack"),
            window_scale: peer.window_scale(),
        };
        Ok((self.sender(peer, terms)?, self.receiver(terms), terms))
    }

    /// ECN feedback: the flags of a SYN offer it, those of a SYN-ACK accept it.
    fn feedback(&self, peer: &Packet) -> Feedback {
        let ecn = self.settings.number("tcp_ecn").unwrap_or(DEFAULT_ECN);
        // The three flags as in a SYN-ACK (RFC 9768 table 2; Linux `tcp_ecn_rcv_synack`).
        let (flags, is_syn) = (peer.ace(), peer.ack.is_none());
        match flags {
            0b111 if is_syn && ecn >= ACCEPTS_ACCECN => Feedback::Accurate,
            0b011 | 0b111 if is_syn && ecn > 0 => Feedback::Classic,
            0b010 | 0b011 | 0b100 | 0b110 if !is_syn && ecn == OFFERS_ACCECN => Feedback::Accurate,
            0b001 | 0b101 if !is_syn && OFFERS_ECN.contains(&ecn) => Feedback::Classic,
            _ => Feedback::Off,
        }
    }

    fn sender(&self, peer: &Packet, terms: Terms) -> Result<Sender, Stop> {
        let settings = &self.settings;
        let has_option = terms.feedback == Feedback::Accurate
            && settings.is_on("tcp_ecn_option")
            && self.peer_has_accecn_option;
        let option_bytes = if has_option { u32::from(ACCECN_OPTION_BYTES) } else { 0 };
        let stamps = if terms.timestamps { TIMESTAMPS_BYTES } else { 0 };
        let config = SenderConfig {
            mss: peer.mss().min(OUR_MSS).saturating_sub(stamps + option_bytes).max(1),
            option_bytes,
            data: Some(0),
            send_buffer: self.send_buffer(),
            pacing: if settings.fq { Pacing::Fq } else { Pacing::Auto },
            min_burst: settings.number("tcp_min_tso_segs").unwrap_or(MIN_TSO_SEGS) as u32,
            tail_loss_probe: settings.is_on("tcp_early_retrans"),
            nagle: !self.no_delay,
            slow_start_after_idle: settings.is_on("tcp_slow_start_after_idle"),
            timestamps: terms.timestamps,
            ecn: terms.feedback,
            ..SenderConfig::default()
        };
        let name = self.algorithm.as_deref().or(settings.text("tcp_congestion_control")).unwrap_or("cubic");
        let algorithm = congestion::build(name, &serde_json::Value::Null, 1);
        let algorithm = algorithm.map_err(|_| Stop::NotApplicable(format!("the algorithm {name}")))?;
        Ok(Sender::new(config, algorithm))
    }

    fn send_buffer(&self) -> SendBuffer {
        let memory = self.settings.numbers("tcp_wmem");
        let [_, first, most] = memory.try_into().unwrap_or(SEND_MEMORY);
        let (first, most) = self.send_memory.map_or((first, most), |bytes| (bytes, bytes));
        let [first, most] = [first, most].map(Bytes::new);
        SendBuffer::Memory(SendMemory { first, most, ..SendMemory::default() })
    }

    fn receiver(&self, terms: Terms) -> Receiver {
        let memory = self.settings.numbers("tcp_rmem");
        let [_, first, most] = memory.try_into().unwrap_or(RECEIVE_MEMORY);
        let first = first.max(2 * u64::from(self.arriving_mss));
        let memory = ReceiveMemory {
            first: Bytes::new(first),
            most: Bytes::new(most.max(first)),
            ..ReceiveMemory::default()
        };
        let config = ReceiverConfig {
            mss: self.arriving_mss,
            option_bytes: 0,
            ack: AckPolicy::Linux,
            ecn: terms.feedback,
            // A segment of a script is one merged packet: its parts are looked at together.
            gro: Some(Duration::from_nanos(1)),
            sack_compression: true,
            timestamps: terms.timestamps,
            buffer: ReceiveBuffer::Memory(memory),
            ..ReceiverConfig::default()
        };
        Receiver::new(config).interactive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{Action, Script, Shell};

    fn feedback(ecn: u64, syn: &str) -> Feedback {
        let script = Script::parse(&format!("0 < {syn}")).unwrap();
        let mut settings = Settings::default();
        settings.apply(&Shell::parse(&format!("sysctl net.ipv4.tcp_ecn={ecn}")), "");
        let local = Local {
            settings,
            algorithm: None,
            send_memory: None,
            no_delay: false,
            arriving_mss: 1_000,
            peer_has_accecn_option: false,
        };
        let Action::Inject(packet) = &script.events[0].action else { panic!("no packet") };
        local.feedback(packet)
    }

    #[test]
    fn a_syn_offers_what_the_host_allows() {
        let syn = "SEWA 0:0(0) win 9";
        assert_eq!(
            [0, 1, 3].map(|ecn| feedback(ecn, syn)),
            [Feedback::Off, Feedback::Classic, Feedback::Accurate]
        );
        assert_eq!(feedback(3, "SEW 0:0(0) win 9"), Feedback::Classic);
        assert_eq!(feedback(3, "S 0:0(0) win 9"), Feedback::Off);
    }

    #[test]
    fn a_syn_ack_accepts_what_the_host_offered() {
        let of = |flags: &str| feedback(3, &format!("{flags} 0:0(0) ack 1 win 9"));
        assert_eq!(["SW.", "SA.", "SWA.", "SEW."].map(of), [Feedback::Accurate; 4]);
        assert_eq!(["SE.", "S.", "SEWA."].map(of), [Feedback::Classic, Feedback::Off, Feedback::Off]);
        assert_eq!(feedback(2, "SW. 0:0(0) ack 1 win 9"), Feedback::Off);
    }
}
