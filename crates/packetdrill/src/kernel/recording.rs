//! A recording of a kernel: what it sent, when every event began, what calls returned, and `tcp_info` at assertions.

use super::calls::Returned;
use super::{constants, info};
use crate::clock::micros;
use crate::host::{Departure, Sent};
use crate::script::{Call, Packet, Shell};
use crate::subject::Subject;
use crate::verdict::{Difference, Stop};
use crate::wire::{Segment, packet};
use std::collections::{BTreeMap, VecDeque};
use tcp::Feedback;
use units::Time;

/// Begin of the names for the memory of a socket, which the program does not record.
const MEMORY: &str = "SK_MEMINFO_";

/// The recording of one script.
#[derive(Default)]
pub(super) struct Recording {
    now: Time,
    /// Position of the current event.
    position: usize,
    departures: VecDeque<Departure>,
    /// Number of departures before events with a new connection. No event looks at these departures.
    forgotten: BTreeMap<usize, usize>,
    /// Departures that events have looked at.
    taken: usize,
    starts: BTreeMap<usize, Time>,
    returned: BTreeMap<usize, (Time, Returned)>,
    /// Bytes of `tcp_info`.
    infos: BTreeMap<usize, Vec<u8>>,
    /// Event that the program could not play, and why.
    problem: Option<(usize, String)>,
    /// Event with the last call that blocks.
    blocked: Option<usize>,
    has_opened: bool,
    /// Whether the application opens the connection and its ACK of the handshake has not been seen.
    owes_handshake: bool,
}

impl Recording {
    /// Read the lines of the program. The error is the line that cannot be read.
    pub fn read(text: &str) -> Result<Recording, String> {
        let mut recording = Recording::default();
        for line in text.lines() {
            recording.take(line).ok_or_else(|| line.to_owned())?;
        }
        Ok(recording)
    }

    fn take(&mut self, line: &str) -> Option<()> {
        let words: Vec<&str> = line.split(' ').collect();
        let time = |word: &str| word.parse().ok().map(Time::from_nanos);
        match words.as_slice() {
            ["event", position, at] => {
                self.position = position.parse().ok()?;
                self.starts.insert(self.position, time(at)?);
            }
            ["packet", at, rest @ ..] => {
                let sent = Sent::Wire(packet(&segment(rest)?));
                self.departures.push_back(Departure { at: time(at)?, sent });
            }
            ["returned", position, at, result, errno, rest @ ..] => {
                let value = rest.first().map(|word| word.parse()).transpose().ok()?;
                let returned = Returned { result: result.parse().ok()?, errno: errno.parse().ok()?, value };
                self.returned.insert(position.parse().ok()?, (time(at)?, returned));
            }
            ["forget"] => _ = self.forgotten.insert(self.position, self.departures.len()),
            ["info", hex] => _ = self.infos.insert(self.position, bytes(hex)?),
            ["problem", reason @ ..] => self.problem = Some((self.position, reason.join(" "))),
            _ => return None,
        }
        Some(())
    }
}

fn segment(words: &[&str]) -> Option<Segment> {
    let [flags, ecn, seq, ack, len, window, options] = words else { return None };
    Some(Segment {
        flags: u16::from_str_radix(flags, 16).ok()?,
        ecn: ecn.parse().ok()?,
        seq: seq.parse().ok()?,
        ack: ack.parse().ok()?,
        len: len.parse().ok()?,
        window: window.parse().ok()?,
        options: bytes(options.trim_start_matches('-'))?,
    })
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok()).collect()
}

impl Subject for Recording {
    fn now(&self) -> Time {
        self.now
    }

    fn begin(&mut self, position: usize) -> Result<(), Stop> {
        self.position = position;
        if let Some((_, reason)) = self.problem.as_ref().filter(|(at, _)| *at <= position) {
            return Stop::lacks(reason);
        }
        if !self.starts.contains_key(&position) {
            return Stop::lacks("the end of its recording");
        }
        let past = self.forgotten.get(&position).map_or(0, |count| count.saturating_sub(self.taken));
        self.taken += self.departures.drain(..past).len();
        Ok(())
    }

    fn advance(&mut self, to: Time) -> Result<(), Stop> {
        let start = self.starts.get(&self.position).copied().unwrap_or(to);
        self.now = self.now.max(start).max(to);
        Ok(())
    }

    fn next_departure(&mut self, deadline: Time) -> Result<Option<Departure>, Stop> {
        if self.departures.front().is_none_or(|departure| departure.at > deadline) {
            return Ok(None);
        }
        self.taken += 1;
        let departure = self.departures.pop_front();
        self.now = departure.as_ref().map_or(self.now, |departure| departure.at.max(self.now));
        Ok(departure)
    }

    fn feedback(&self) -> Option<Feedback> {
        None
    }

    fn is_fixed(&mut self, sent: &Sent) -> bool {
        let Sent::Wire(packet) = sent else { return false };
        if packet.is_syn() {
            let is_first = !self.has_opened;
            self.has_opened = true;
            self.owes_handshake = packet.ack.is_none();
            return is_first;
        }
        let is_bare =
            packet.len() == 0 && packet.ack.is_some() && !packet.has_flag('F') && !packet.has_flag('R');
        std::mem::take(&mut self.owes_handshake) && is_bare
    }

    fn receive(&mut self, _packet: &Packet) -> Result<(), Stop> {
        Ok(())
    }

    fn call(&mut self, call: &Call) -> Result<(), Stop> {
        self.blocked = Some(self.position);
        let Some((_, returned)) = self.returned.get(&self.position) else { return Ok(()) };
        match returned.difference(call) {
            None => Ok(()),
            Some((expected, seen)) => {
                let time_s = micros(self.now) as f64 / 1e6;
                Err(Stop::Failed(Difference { packet: None, time_s, expected, seen }))
            }
        }
    }

    fn times(&self, _call: &Call) -> bool {
        true
    }

    fn returned(&self) -> Option<Time> {
        let (at, _) = self.returned.get(&self.blocked?)?;
        (*at <= self.now).then_some(*at)
    }

    fn run(&mut self, _shell: &Shell) -> Result<(), Stop> {
        Ok(())
    }

    fn may_pass_over(&self, name: &str) -> bool {
        name.starts_with(MEMORY)
    }

    fn read(&self, name: &str) -> Option<f64> {
        constants::in_assertions(name).or_else(|| info::field(self.infos.get(&self.position)?, name))
    }
}
