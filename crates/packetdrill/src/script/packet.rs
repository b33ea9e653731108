//! Packets in scripts: flags, sequence numbers, and the options that the model has.

/// Smallest MSS that every host accepts (RFC 9293 section 3.7.1), used where a SYN names none.
const DEFAULT_MSS: u32 = 536;
/// Largest payload of a packet, bytes: IP headers count lengths with 16 bits.
const MOST_PAYLOAD: u64 = 0xffff;

/// A packet as a script writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// Text of the packet.
    pub text: String,
    /// ECN bits of the IP header, such as `ce`.
    pub ecn: Option<String>,
    /// Flags, such as `P.` or `SEWA`; a digit is the AccECN counter.
    pub flags: String,
    /// First byte and the byte after the last.
    pub bytes: (u64, u64),
    /// Cumulative acknowledgement.
    pub ack: Option<u64>,
    /// Window, unscaled.
    pub window: Option<u64>,
    /// Options, in their order.
    pub options: Vec<String>,
}

/// The three flags of AccECN as a number.
pub type Ace = u8;

impl Packet {
    /// Parse the text behind `<` or `>`.
    pub(super) fn parse(text: &str) -> Result<Packet, String> {
        let (head, options) = text.split_once('<').unwrap_or((text, ""));
        let problem = |what: &str| format!("{what}: {:.60?}", text.trim());
        let mut packet = Packet { text: text.trim().to_owned(), ..Packet::default() };
        packet.options = options
            .trim_end()
            .trim_end_matches('>')
            .split(',')
            .map(|option| option.trim().to_owned())
            .filter(|option| !option.is_empty())
            .collect();
        let mut words = head.split_whitespace();
        let mut word = words.next().ok_or_else(|| problem("a packet without flags"))?;
        if let Some(bits) = word.strip_prefix('[') {
            packet.ecn = Some(bits.trim_end_matches(']').to_owned());
            word = words.next().ok_or_else(|| problem("a packet without flags"))?;
        }
        packet.flags = word.to_owned();
        while let Some(word) = words.next() {
            let mut number = || words.next().and_then(|word| word.parse::<u32>().ok()).map(u64::from);
            match word {
                "ack" => packet.ack = Some(number().ok_or_else(|| problem("no number behind ack"))?),
                "win" => packet.window = Some(number().ok_or_else(|| problem("no number behind win"))?),
                _ => {
                    if let Some(bytes) = bytes(word) {
                        packet.bytes = bytes;
                    } else if word.contains(':') && word.starts_with(|c: char| c.is_ascii_digit()) {
                        return Err(problem("no sequence numbers of 32 bits"));
                    }
                }
            }
        }
        Ok(packet)
    }

    /// Parse the text of a packet that arrives, which IP can carry.
    pub(super) fn arriving(text: &str) -> Result<Packet, String> {
        let packet = Packet::parse(text)?;
        if packet.len() > MOST_PAYLOAD {
            return Err(format!("a packet of {} bytes; at most {MOST_PAYLOAD} can arrive", packet.len()));
        }
        Ok(packet)
    }

    /// Whether the flags contain a letter.
    pub fn has_flag(&self, flag: char) -> bool {
        self.flags.contains(flag)
    }

    /// Whether the packet is a SYN or SYN-ACK.
    pub fn is_syn(&self) -> bool {
        self.has_flag('S')
    }

    /// Payload bytes.
    pub fn len(&self) -> u64 {
        self.bytes.1.saturating_sub(self.bytes.0)
    }

    /// Whether the flags have a value of the AccECN counter. Linux leaves it out in TIME-WAIT.
    pub fn has_ace(&self) -> bool {
        self.flags.contains(|flag: char| flag.is_ascii_digit() || "AWE".contains(flag))
    }

    /// Value of the AccECN counter.
    pub fn ace(&self) -> Ace {
        let digit = self.flags.chars().find_map(|flag| flag.to_digit(10));
        let bit = |flag, value| if self.has_flag(flag) { value } else { 0 };
        digit.map_or(bit('A', 4) | bit('W', 2) | bit('E', 1), |digit| digit as Ace)
    }

    /// Whether the packet has an option with this name.
    pub fn has_option(&self, name: &str) -> bool {
        self.options.iter().any(|option| option.split_whitespace().next() == Some(name))
    }

    fn value(&self, name: &str) -> Option<u64> {
        self.options.iter().find_map(|option| option.strip_prefix(name)?.trim().parse().ok())
    }

    /// The MSS that a SYN announces.
    pub fn mss(&self) -> u32 {
        self.value("mss ").and_then(|mss| mss.try_into().ok()).unwrap_or(DEFAULT_MSS)
    }

    /// The exponent by which later windows are scaled.
    pub fn window_scale(&self) -> u32 {
        self.value("wscale ").map_or(0, |scale| scale.min(14) as u32)
    }

    /// Value and echo of the timestamps option.
    pub fn timestamps(&self) -> Option<(u32, u32)> {
        let option = self.options.iter().find_map(|option| option.strip_prefix("TS val "))?;
        let (value, echo) = option.split_once(" ecr ")?;
        Some((value.trim().parse().ok()?, echo.trim().parse().ok()?))
    }

    /// Ranges of SACK blocks, in their order.
    pub fn sacks(&self) -> Vec<(u64, u64)> {
        let blocks = self.options.iter().filter_map(|option| option.strip_prefix("sack "));
        blocks.flat_map(str::split_whitespace).filter_map(bytes).collect()
    }

    /// Whether the first SACK block reports a duplicate (RFC 2883 section 4).
    pub fn reports_duplicate(&self) -> bool {
        let blocks = self.sacks();
        let Some(&(start, end)) = blocks.first() else { return false };
        let inside = |&(first, last): &(u64, u64)| first <= start && end <= last;
        self.ack.is_some_and(|ack| end <= ack) || blocks.get(1).is_some_and(inside)
    }
}

/// The numbers of `1:1001(1000)` or `1:1001`.
fn bytes(word: &str) -> Option<(u64, u64)> {
    let (start, end) = word.split_once(':')?;
    let end = end.split('(').next()?;
    let number = |text: &str| text.parse::<u32>().ok().map(u64::from);
    Some((number(start)?, number(end)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(text: &str) -> Packet {
        Packet::parse(text).unwrap()
    }

    #[test]
    fn a_syn_names_its_options() {
        let syn = packet(" S 0:0(0) win 32792 <mss 1000,sackOK,TS val 7 ecr 0,nop,wscale 7>");
        assert_eq!((syn.mss(), syn.window_scale(), syn.window), (1_000, 7, Some(32_792)));
        assert!(syn.is_syn() && syn.has_option("sackOK") && syn.has_option("TS") && !syn.has_option("ECN"));
        assert_eq!(packet("S 0:0(0) win 9").mss(), DEFAULT_MSS);
    }

    #[test]
    fn ecn_bits_and_the_counter_are_read() {
        let letters = packet("[ect0] EAP. 1:1001(1000) ack 1");
        assert_eq!((letters.ecn.as_deref(), letters.ace(), letters.len()), (Some("ect0"), 5, 1_000));
        assert_eq!(packet("[ce] P.6 1:1001(1000) ack 1").ace(), 6);
    }

    #[test]
    fn blocks_that_report_duplicates_are_told_apart() {
        let reports = |text| packet(text).reports_duplicate();
        assert!(reports(". 1:1(0) ack 8001 <nop,nop,sack 1:1001>"));
        assert!(reports(". 1:1(0) ack 1 <nop,nop,sack 3001:4001 2001:5001>"));
        assert!(!reports(". 1:1(0) ack 1 <nop,nop,sack 3001:4001 1001:2001>"));
        assert_eq!(packet(". 1:1(0) ack 1 <nop,sack 3:4 1:2>").sacks(), [(3, 4), (1, 2)]);
    }
}
