//! A half-duplex channel whose ports take turns. Each turn needs a request and a grant.

use super::{Channel, Mac, Ports, Request, Turn};
use params::{Entry, params};
use units::{Duration, Rate, Time};

params! {
    /// Parameters of the shared channel.
    pub struct SharedParams {
        /// Rate at which a turn transmits.
        rate_bps: u64 = 100_000_000, "bit/s", 1.0..=1e18, role = rate;
        /// Propagation delay from every port to its far end.
        delay_ns: u64 = 0, "ns", 0.0..=1e15;
        /// Time from the request of an idle port until the port may have a turn.
        grant_delay_ns: u64 = 4_000_000, "ns", 0.0..=3.6e12, example = 4_000_000;
        /// Maximum bytes of a turn; a larger packet has a turn of its own.
        turn_bytes: u64 = 16_384, "bytes", 1.0..=1e12, example = 16_384;
        /// Time at the start of every turn, for guard time and preamble.
        overhead_ns: u64 = 10_000, "ns", 0.0..=3.6e12, example = 10_000;
    }
}

/// A shared channel whose ports request turns and are served round robin.
///
/// * A port that is idle when a packet reaches it requests a turn, and may have the turn after the grant delay.
/// * A port that still has packets when its turn ends may have the next turn without waiting for a grant. The port has
///   sent the request within the turn, and the grant has arrived by the end of the turn. A port therefore pays the
///   grant delay once per busy period, and any number of backlogged ports, even a single port, fills the channel.
/// * The ports take turns in the order of their indices, beginning after the port of the last turn. A port that may
///   not have a turn yet is skipped. The channel is never idle while a port may have a turn.
///
/// Each of N ports that stay backlogged, with turns of B bytes at rate R, therefore gets a throughput of B / (N (B /
/// R + overhead)). A packet that reaches an idle port begins after the grant delay, at most N - 1 turns of other
/// ports, and the overhead of its own turn.
#[derive(Clone, Debug)]
pub struct Shared {
    params: SharedParams,
    /// Index of the port of the last turn.
    last: usize,
}

impl Mac for Shared {
    fn channel(&self) -> Channel {
        Channel {
            rate: Rate::from_bits_per_sec(self.params.rate_bps),
            delay: Duration::from_nanos(self.params.delay_ns),
        }
    }

    fn request(&mut self, _port: usize, now: Time, request: Request) -> Time {
        match request {
            Request::New => now + Duration::from_nanos(self.params.grant_delay_ns),
            Request::Piggybacked => now,
        }
    }

    fn next_turn(&self, ready: &[Time], free_at: Time) -> Option<Turn> {
        let start = ready.iter().copied().min().filter(|&first| first < Time::NEVER)?.max(free_at);
        let in_turn = (1..=ready.len()).map(|behind| (self.last + behind) % ready.len());
        let port = in_turn.into_iter().find(|&port| ready[port] <= start)?;
        let overhead = Duration::from_nanos(self.params.overhead_ns);
        Some(Turn { port, start, overhead, bytes: self.params.turn_bytes })
    }

    fn begin(&mut self, turn: &Turn) {
        self.last = turn.port;
    }
}

impl Entry<Ports> for Shared {
    type Params = SharedParams;
    const TITLE: &'static str =
        "Half-duplex channel with turns in a fixed order, each after a request and a grant";
    const SOURCE: &'static str = "request, grant and piggybacked request as upstream in DOCSIS 3.1 (CableLabs, MAC and Upper Layer Protocols Interface)";

    fn new(params: SharedParams, ports: Ports) -> Shared {
        Shared { params, last: ports.count.saturating_sub(1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(n: u64) -> Time {
        Time::from_nanos(n * 1_000)
    }

    #[test]
    fn the_next_port_behind_the_last_one_has_its_turn() {
        let mut law = Shared::new(SharedParams::default(), Ports { count: 3, seed: 1 });
        let port =
            |law: &Shared, ready: [u64; 3], free| law.next_turn(&ready.map(us), us(free)).unwrap().port;
        assert_eq!(port(&law, [5, 5, 5], 0), 0);
        assert_eq!(port(&law, [7, 6, 5], 0), 2); // the only port that may have a turn at 5 us
        assert_eq!(port(&law, [7, 6, 5], 6), 1);
        law.begin(&law.next_turn(&[us(5); 3], us(0)).unwrap());
        assert_eq!(port(&law, [5, 5, 5], 0), 1);
        assert_eq!(law.next_turn(&[Time::NEVER; 3], us(0)), None);
    }
}
