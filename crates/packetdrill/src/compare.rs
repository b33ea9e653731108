//! Comparison of a packet that a script expects with the packets that the host sends. The script sees a burst as one
//! packet, as the kernel passes it to the network.

use crate::clock::{micros, seconds, time};
use crate::host::{Departure, Sent};
use crate::script::Packet;
use crate::subject::Subject;
use crate::verdict::{Difference, Stop};
use crate::wire;
use tcp::Feedback;
use units::{Duration, Time};

/// Time for which an expected packet is awaited after its latest time.
const PATIENCE: Duration = Duration::from_secs(2);
/// Time for which a packet is awaited that may come at any time.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Times at which a packet may be sent, microseconds; `None`: any time.
pub(crate) type Span = Option<(i64, i64)>;

/// Await the packet `number` of a script, and compare it. True if the packet depends on the TCP under test.
pub(crate) fn expect(
    subject: &mut impl Subject,
    packet: &Packet,
    number: usize,
    span: Span,
) -> Result<bool, Stop> {
    subject.await_packet(packet)?;
    let expected = Expected { packet, number, span };
    let burst = expected.await_burst(subject)?;
    if let Some(seen) = expected.difference(subject, &burst) {
        return expected.fail(burst[0].at, seen);
    }
    subject.note_sent(packet, burst[burst.len() - 1].at);
    Ok(!subject.is_fixed(&burst[0].sent))
}

struct Expected<'a> {
    packet: &'a Packet,
    number: usize,
    span: Span,
}

impl Expected<'_> {
    /// Take the packets of the next burst. A burst has as many bytes as the script expects, unless it is interrupted.
    fn await_burst(&self, subject: &mut impl Subject) -> Result<Vec<Departure>, Stop> {
        let deadline = match self.span {
            None => subject.now() + LONGEST_WAIT,
            Some((_, until)) => time(until) + PATIENCE,
        };
        let mut burst: Vec<Departure> = Vec::new();
        loop {
            let Some(next) = subject.next_departure(deadline)? else {
                let seen = match burst.last() {
                    None => format!("nothing until {}", seconds(micros(deadline))),
                    Some(last) => format!("nothing after {}", last.sent),
                };
                return self.fail(deadline, seen);
            };
            burst.push(next);
            let (first, last) = (bytes(burst.first()), bytes(burst.last()));
            if last.1.saturating_sub(first.0) >= self.packet.len()
                || burst.len() > 1 && follows(&burst).is_none()
            {
                return Ok(burst);
            }
        }
    }

    /// Text of a difference between the script and the burst.
    fn difference(&self, subject: &impl Subject, burst: &[Departure]) -> Option<String> {
        let (packet, first, last) = (self.packet, &burst[0], burst.last()?);
        if burst.len() > 1 && follows(burst).is_none() {
            return Some(format!("{}, then {}", burst[burst.len() - 2].sent, last.sent));
        }
        let feedback = subject.feedback();
        let has_counter = feedback == Some(Feedback::Accurate) && packet.has_ace();
        let is_equal = match (&first.sent, &last.sent) {
            (Sent::Wire(_), _) => {
                if let Some(seen) = wire::difference(packet, burst) {
                    return Some(seen);
                }
                true
            }
            (Sent::Opening { answers }, _) => packet.is_syn() && packet.ack.is_some() == *answers,
            (_, _) if packet.is_syn() => false,
            (Sent::Data { bytes: (start, _), .. }, Sent::Data { bytes: (_, end), fin, ack, ace, .. }) => {
                packet.bytes == (*start, *end)
                    && packet.has_flag('F') == *fin
                    && ack.is_none_or(|ack| packet.ack.is_none_or(|expected| expected == ack))
                    && (!has_counter || ack.is_none() || packet.ace() == *ace)
            }
            (Sent::Reset { byte }, _) => packet.has_flag('R') && packet.bytes == (*byte, *byte),
            (Sent::Probe { byte }, _) => packet.bytes == (*byte, *byte) && !packet.has_flag('F'),
            (Sent::Ack { ack, sacks, ece, ace }, _) => {
                packet.len() == 0
                    && !packet.has_flag('F')
                    && packet.ack == Some(*ack)
                    && packet.sacks() == *sacks
                    && (feedback != Some(Feedback::Classic) || ace.is_none() || packet.has_flag('E') == *ece)
                    && (!has_counter || ace.is_none_or(|ace| packet.ace() == ace))
            }
            _ => false,
        };
        if !is_equal {
            let text = burst.iter().map(|departure| departure.sent.to_string()).collect::<Vec<_>>();
            return Some(text.join(", "));
        }
        let (from, until) = self.span?;
        let late = burst.iter().find(|departure| !(from..=until).contains(&micros(departure.at)))?;
        Some(format!("the packet at {}", seconds(micros(late.at))))
    }

    fn fail<T>(&self, at: Time, seen: String) -> Result<T, Stop> {
        let window = match self.span {
            None => String::new(),
            Some((from, until)) => {
                format!(" between {} and {}", seconds(from), seconds(until))
            }
        };
        Err(Stop::Failed(Difference {
            packet: Some(self.number),
            time_s: micros(at) as f64 / 1e6,
            expected: format!("{}{window}", self.packet.text),
            seen,
        }))
    }
}

/// Whether the last packet of a burst continues the packet before it without a gap.
fn follows(burst: &[Departure]) -> Option<()> {
    let [.., before, last] = burst else { return None };
    match (&before.sent, &last.sent) {
        (Sent::Data { bytes: (_, end), fin: false, .. }, Sent::Data { bytes: (start, _), .. }) => {
            (start == end).then_some(())
        }
        (Sent::Wire(before), Sent::Wire(last)) => {
            let continues = before.bytes.1 == last.bytes.0 && !before.has_flag('F');
            (continues && before.len() > 0 && last.len() > 0).then_some(())
        }
        _ => None,
    }
}

/// Bytes of a packet; none for a packet without data.
fn bytes(departure: Option<&Departure>) -> (u64, u64) {
    match departure.map(|departure| &departure.sent) {
        Some(Sent::Data { bytes, .. }) => *bytes,
        Some(Sent::Wire(packet)) if packet.len() > 0 => packet.bytes,
        _ => (0, 0),
    }
}
