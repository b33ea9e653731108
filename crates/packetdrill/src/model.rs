//! The model as the TCP under test.

use crate::calls::{Application, ends_delays, send_memory};
use crate::host::{Departure, Host, Sent};
use crate::numbering::Numbering;
use crate::script::{Call, Packet, Script, Settings, Shell};
use crate::setup::Local;
use crate::subject::Subject;
use crate::verdict::Stop;
use tcp::Feedback;
use units::{Duration, Time};

/// MSS of arriving packets without a SYN or an option that names it, and the largest MSS, bytes.
const DEFAULT_MSS: u64 = 1_460;
const LARGEST_MSS: u64 = 65_495;

pub(crate) struct Model<'a> {
    host: Host,
    application: Application,
    /// The SYN-ACK that the script injects first.
    answer: Packet,
    /// Text of `defaults.sh`.
    defaults: &'a str,
    /// Packets that have arrived.
    arrivals: u64,
}

impl<'a> Model<'a> {
    pub fn new(script: &Script, defaults: &'a str) -> Model<'a> {
        let syn = || script.injected().find(|packet| packet.is_syn());
        let mss = script.option("mss").unwrap_or_else(|| syn().map_or(DEFAULT_MSS, |syn| syn.mss().into()));
        let mss = mss.clamp(1, LARGEST_MSS);
        let local = Local {
            settings: Settings::default(),
            algorithm: None,
            send_memory: script.calls().find_map(send_memory),
            no_delay: script.calls().any(ends_delays),
            arriving_mss: mss as u32,
            peer_has_accecn_option: script.injected().any(|packet| packet.has_option("ECN")),
        };
        let peers = Numbering::of_peer(script.injected(), mss);
        Model {
            host: Host::new(local, peers),
            application: Application::default(),
            answer: syn().cloned().unwrap_or_default(),
            defaults,
            arrivals: 0,
        }
    }
}

impl Subject for Model<'_> {
    fn now(&self) -> Time {
        self.host.now
    }

    fn advance(&mut self, to: Time) -> Result<(), Stop> {
        self.host.advance(to)
    }

    fn await_packet(&self, packet: &Packet) -> Result<(), Stop> {
        let is_reset =
            matches!(self.host.departures.front(), Some(Departure { sent: Sent::Reset { .. }, .. }));
        if packet.has_flag('R') && !is_reset {
            return Stop::lacks("resets");
        }
        match self.host.connection {
            None => Stop::lacks("a packet without a connection"),
            Some(_) => Ok(()),
        }
    }

    fn next_departure(&mut self, deadline: Time) -> Result<Option<Departure>, Stop> {
        while self.host.departures.is_empty() {
            if self.host.next_timer() > deadline {
                return Ok(None);
            }
            self.host.run_timer()?;
        }
        Ok(self.host.departures.pop_front())
    }

    fn feedback(&self) -> Option<Feedback> {
        self.host.connection.as_ref().map(|connection| connection.terms.feedback)
    }

    fn note_sent(&mut self, packet: &Packet, at: Time) {
        self.host.note_sent(packet, at);
    }

    fn is_fixed(&mut self, sent: &Sent) -> bool {
        match sent {
            Sent::Opening { .. } => !self.host.repeats_opening(),
            Sent::Ack { ace: None, .. } | Sent::Reset { .. } => true,
            _ => false,
        }
    }

    fn receive(&mut self, packet: &Packet) -> Result<(), Stop> {
        // No kernel receives a packet in no time. Every packet comes a nanosecond later than the one before, so that
        // 1 ms between two events exceeds the limit of TSO deferral.
        self.arrivals += 1;
        self.host.advance(self.host.now + Duration::from_nanos(self.arrivals))?;
        self.host.receive(packet)
    }

    fn call(&mut self, call: &Call) -> Result<(), Stop> {
        self.application.call(&mut self.host, call, &self.answer)
    }

    fn times(&self, call: &Call) -> bool {
        call.is_write()
    }

    fn returned(&self) -> Option<Time> {
        self.host.write_returned()
    }

    fn run(&mut self, shell: &Shell) -> Result<(), Stop> {
        let settings = &mut self.host.local.settings;
        if self.host.connection.is_some() && settings.differ(shell) {
            return Stop::lacks("sysctls that change during a connection");
        }
        settings.apply(shell, self.defaults);
        if settings.drops_all { Stop::lacks("a queue of the host that drops") } else { Ok(()) }
    }

    fn read(&self, name: &str) -> Option<f64> {
        self.host.read(name)
    }
}
