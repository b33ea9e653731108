//! Packets of a script as a kernel receives and sends them.

use crate::host::{Departure, Sent};
use crate::script::Packet;

/// Bits of the flags in a TCP header, in the order in which packetdrill writes them.
const FLAGS: [(char, u16); 9] =
    [('F', 1), ('S', 2), ('R', 4), ('P', 8), ('.', 16), ('U', 32), ('E', 64), ('W', 128), ('A', 256)];
/// Place of the AccECN counter in the flags.
const ACE_SHIFT: u16 = 6;
const TIMESTAMPS: u8 = 8;
const SACK: u8 = 5;
/// Kinds of the AccECN option: the counters of ECT(0) and of ECT(1) come first.
const ACCECN: [(u8, [&str; 3]); 2] = [(172, ["e0b", "ceb", "e1b"]), (174, ["e1b", "ceb", "e0b"])];
const FAST_OPEN: u8 = 34;

/// A segment without its addresses. Sequence numbers count from the SYN of each host.
#[derive(Debug)]
pub(crate) struct Segment {
    pub flags: u16,
    /// ECN bits of the IP header.
    pub ecn: u8,
    pub seq: u32,
    pub ack: u32,
    pub len: u32,
    pub window: u16,
    pub options: Vec<u8>,
}

/// Number of the ECN bits with a name such as `ect0`.
pub(crate) fn ecn_bits(name: &str) -> Option<u8> {
    Some(match name {
        "noecn" => 0,
        "ect1" => 1,
        "ect0" => 2,
        "ce" => 3,
        _ => return None,
    })
}

/// The flags of a packet as in the header; `None` if the script has a letter that is no flag.
pub(crate) fn flags(packet: &Packet) -> Option<u16> {
    let mut bits = u16::from(packet.ace()) << ACE_SHIFT;
    for letter in packet.flags.chars().filter(|letter| !letter.is_ascii_digit() && *letter != '-') {
        bits |= FLAGS.into_iter().find(|(known, _)| *known == letter)?.1;
    }
    Some(bits)
}

/// Options as words for the program in the guest: `x` and bytes, `a` and a byte of the kernel's stream, `e` and a
/// timestamp of the script that the kernel has sent. The error is the option that cannot be written.
pub(crate) fn options(packet: &Packet) -> Result<Vec<String>, String> {
    packet.options.iter().map(|text| option(text)).collect::<Result<Vec<_>, _>>().map(|words| words.concat())
}

/// The words of one option.
pub(crate) fn option(text: &str) -> Result<Vec<String>, String> {
    let mut parts = text.split_whitespace();
    let name = parts.next().unwrap_or("");
    let rest: Vec<&str> = parts.collect();
    let lacks = || format!("the option {name}");
    let number = |text: &str| text.parse::<u32>().map_err(|_| lacks());
    Ok(match (name, rest.as_slice()) {
        ("nop", []) => vec!["x01".into()],
        ("eol", []) => vec!["x00".into()],
        ("sackOK", []) => vec!["x0402".into()],
        ("mss", [mss]) => vec![format!("x0204{:04x}", number(mss)? & 0xffff)],
        ("wscale", [scale]) => vec![format!("x0303{:02x}", number(scale)? & 0xff)],
        ("TS", ["val", value, "ecr", echo]) => {
            vec![format!("x080a{:08x}", number(value)?), format!("e{}", number(echo)?)]
        }
        ("sack", blocks) => {
            let mut words = vec![format!("x05{:02x}", 2 + 8 * blocks.len())];
            for block in blocks {
                let (start, end) = block.split_once(':').ok_or_else(lacks)?;
                words.extend([format!("a{}", number(start)?), format!("a{}", number(end)?)]);
            }
            words
        }
        ("ECN", counters) => vec![accecn_option(counters).ok_or_else(lacks)?],
        ("FO", cookie) => {
            let cookie = cookie.first().copied().unwrap_or("");
            let is_hex = cookie.len() % 2 == 0 && cookie.chars().all(|c| c.is_ascii_hexdigit());
            if !is_hex {
                return Err("symbols that only the kernel's runner of scripts defines".into());
            }
            vec![format!("x{FAST_OPEN:02x}{:02x}{cookie}", 2 + cookie.len() / 2)]
        }
        _ => return Err(lacks()),
    })
}

/// The AccECN option with counters such as `e0b 1 ceb 0 e1b 1`, of which the last may be left out.
fn accecn_option(counters: &[&str]) -> Option<String> {
    let names: Vec<&str> = counters.iter().step_by(2).copied().collect();
    let (kind, _) = ACCECN.into_iter().find(|(_, order)| order.starts_with(&names))?;
    let mut word = format!("x{kind:02x}{:02x}", 2 + 3 * names.len());
    for value in counters.iter().skip(1).step_by(2) {
        word.push_str(&format!("{:06x}", value.parse::<u32>().ok()? & 0xff_ffff));
    }
    Some(word)
}

/// A segment of the kernel as a script writes it.
pub(crate) fn packet(segment: &Segment) -> Packet {
    let letters = FLAGS.into_iter().filter(|(_, bit)| segment.flags & bit != 0).map(|(letter, _)| letter);
    let is_syn = segment.flags & 2 != 0;
    let ecn = ["noecn", "ect1", "ect0", "ce"][usize::from(segment.ecn & 3)];
    let (start, end) = (u64::from(segment.seq), u64::from(segment.seq) + u64::from(segment.len));
    let letters: String = if is_syn {
        letters.collect()
    } else {
        let ace = segment.flags >> ACE_SHIFT;
        let plain = letters.filter(|letter| !"EWA".contains(*letter));
        plain.collect::<String>() + &(if ace == 0 { String::new() } else { ace.to_string() })
    };
    let ack = (segment.flags & 16 != 0).then(|| u64::from(segment.ack));
    let options = read_options(&segment.options);
    let mut text = if segment.ecn == 0 { String::new() } else { format!("[{ecn}] ") };
    text.push_str(&format!("{letters} {start}:{end}({})", segment.len));
    if let Some(ack) = ack {
        text.push_str(&format!(" ack {ack}"));
    }
    text.push_str(&format!(" win {}", segment.window));
    if !options.is_empty() {
        text.push_str(&format!(" <{}>", options.join(",")));
    }
    let window = Some(u64::from(segment.window));
    Packet { text, ecn: Some(ecn.to_owned()), flags: letters, bytes: (start, end), ack, window, options }
}

fn read_options(bytes: &[u8]) -> Vec<String> {
    let (mut found, mut rest) = (Vec::new(), bytes);
    while let Some(&kind) = rest.first() {
        let size = if kind < 2 { 1 } else { usize::from(rest.get(1).copied().unwrap_or(0)).max(2) };
        let Some(option) = rest.get(..size) else { break };
        found.push(read_option(kind, option));
        rest = &rest[size..];
    }
    found
}

fn read_option(kind: u8, option: &[u8]) -> String {
    let number = |bytes: &[u8]| bytes.iter().fold(0_u32, |all, byte| all << 8 | u32::from(*byte));
    let words = || option[2..].chunks(4).map(number).collect::<Vec<_>>();
    if let Some((_, names)) = ACCECN.into_iter().find(|(known, _)| *known == kind) {
        let counters = names.iter().zip(option[2..].chunks(3));
        let counters = counters.map(|(name, bytes)| format!(" {name} {}", number(bytes)));
        return format!("ECN{}", counters.collect::<String>());
    }
    match kind {
        0 => "eol".into(),
        1 => "nop".into(),
        2 => format!("mss {}", number(&option[2..])),
        3 => format!("wscale {}", number(&option[2..])),
        4 => "sackOK".into(),
        SACK => {
            let blocks =
                words().chunks_exact(2).map(|pair| format!(" {}:{}", pair[0], pair[1])).collect::<String>();
            format!("sack{blocks}")
        }
        TIMESTAMPS => match words().as_slice() {
            [value, echo] => format!("TS val {value} ecr {echo}"),
            _ => "TS".into(),
        },
        FAST_OPEN => {
            let cookie = option[2..].iter().map(|byte| format!("{byte:02x}")).collect::<String>();
            format!("FO {cookie}").trim_end().to_owned()
        }
        _ => format!("option {kind}"),
    }
}

/// The difference between the packet that a script expects and a burst of packets of the kernel. As in packetdrill, all
/// flags are compared, the ECN bits of the IP header if the script names them, and all options unless the script writes
/// `<...>`. The values of timestamps are not compared, and of windows only those of SYNs, and whether they are 0: other
/// windows depend on the memory that the network device takes for a packet.
pub(crate) fn difference(expected: &Packet, burst: &[Departure]) -> Option<String> {
    let sent = |departure: Option<&Departure>| match departure.map(|departure| &departure.sent) {
        Some(Sent::Wire(packet)) => Some(packet.clone()),
        _ => None,
    };
    let (first, last) = (sent(burst.first())?, sent(burst.last())?);
    let is_equal = (first.bytes.0, last.bytes.1) == expected.bytes
        && flags(&last) == flags(expected)
        && expected.ack.is_none_or(|ack| last.ack == Some(ack))
        && has_window(expected, &last)
        && expected
            .ecn
            .as_deref()
            .is_none_or(|ecn| ecn_bits(ecn).is_none() || last.ecn.as_deref() == Some(ecn))
        && (expected.options == ["..."] || without_times(&expected.options) == without_times(&last.options));
    let texts = burst.iter().map(|departure| departure.sent.to_string());
    (!is_equal).then(|| texts.collect::<Vec<_>>().join(", "))
}

fn has_window(expected: &Packet, last: &Packet) -> bool {
    expected.window.is_none_or(|window| {
        last.window
            .is_some_and(|seen| if last.is_syn() { seen == window } else { (seen == 0) == (window == 0) })
    })
}

fn without_times(options: &[String]) -> Vec<&str> {
    options.iter().map(|option| if option.starts_with("TS ") { "TS" } else { option.as_str() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{Action, Script};

    fn injected(text: &str) -> Packet {
        let script = Script::parse(&format!("0 < {text}")).unwrap();
        let Action::Inject(packet) = &script.events[0].action else { panic!("no packet") };
        packet.clone()
    }

    #[test]
    fn options_are_written_for_the_guest() {
        let words = |text: &str| options(&injected(&format!(". 1:1(0) ack 1 win 9 <{text}>")));
        assert_eq!(words("mss 1000,sackOK,nop,wscale 7").unwrap(), ["x020403e8", "x0402", "x01", "x030307"]);
        assert_eq!(
            words("TS val 7 ecr 100,sack 1:3").unwrap(),
            ["x080a00000007", "e100", "x050a", "a1", "a3"]
        );
        assert_eq!(words("ECN e1b 1 ceb 0").unwrap(), ["xae08000001000000"]);
        assert_eq!(words("FO abcd").unwrap(), ["x2204abcd"]);
        assert!(words("md5 abc").unwrap_err().contains("md5"));
    }

    #[test]
    fn segments_are_shown_as_in_a_script() {
        let options = [1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 9].to_vec();
        let segment = Segment { flags: 0x158, ecn: 2, seq: 1, ack: 2, len: 10, window: 9, options };
        let text = "[ect0] P.5 1:11(10) ack 2 win 9 <nop,nop,sack 1:9>";
        assert_eq!(packet(&segment).text, text);
        assert_eq!(flags(&injected(text)), Some(0x158));
    }
}
