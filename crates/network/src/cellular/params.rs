//! Parameters of a cellular cell, and their validation.

use super::adaptation::{self, Adaptation, Reports};
use super::background::{Background, Load};
use super::blocks::{Generation, Headers, Scheme, Sizes};
use super::drx::{self, Drx};
use super::gaps::{Gap, Gaps};
use super::grants::{self, Grants};
use super::port::Port;
use super::rlc::{self, Mode};
use super::satellites::{self, Satellites};
use super::share::{self, Share};
use super::slots::{SYMBOLS, Slots};
use super::way::Way;
use crate::channel::Blockage;
use crate::medium::inputs::Inputs;
use crate::{QueueDiscipline, SamplingTimes, Snr};
use params::{Problem, params};
use units::{Duration, Rate, Rng, Time};

params! {
    /// Parameters of a cellular cell. Users are numbered from 0; each has two ports, down and up.
    pub struct CellularParams {
        /// Resource blocks of the carrier.
        resource_blocks: u64, "", 1..=275;
        /// Numerology n: a slot lasts 1 ms / 2^n.
        numerology: u64 = 0, "", 0..=3;
        /// Downlink symbols in each slot of the pattern, 0 to 14.
        down_symbols: Vec<u64> = vec![14], "";
        /// Uplink symbols in each slot of the pattern, 0 to 14.
        up_symbols: Vec<u64> = vec![14], "";
        /// Spatial layers of the downlink.
        layers: u64 = 1, "", 1..=8;
        /// Spatial layers of the uplink.
        up_layers: u64 = 1, "", 1..=8;
        /// Scheduler of the resource blocks of a slot.
        scheduler: share::Law = share::Law::ProportionalFair, "";
        /// Slots over which proportional fairness averages.
        fairness_slots: u64 = 100, "slots", 1..=1000000;
        /// Time from the end of a slot until its blocks are decoded.
        processing_ns: u64 = 1_000_000, "ns", 0..=1000000000;
        /// Propagation delay between the base station and any user.
        delay_ns: u64 = 0, "ns", 0..=1000000000;
        /// Satellites: time of the first change, time between changes, and minimum and maximum delay that a satellite
        /// adds, in nanoseconds; empty: none.
        satellites_ns: Vec<u64> = Vec::new(), "";
        /// Time from the start of a block until it may be retransmitted.
        harq_round_trip_ns: u64 = 8_000_000, "ns", 1000..=1000000000;
        /// Maximum HARQ tries of a block.
        harq_tries: u64 = 4, "", 1..=32;
        /// RLC mode: whether RLC retransmits blocks that HARQ gave up.
        rlc: Mode = Mode::Am, "";
        /// Time until RLC retransmits a block, in acknowledged mode.
        rlc_retransmission_ns: u64 = 40_000_000, "ns", 0.0..=1e10;
        /// Time for which blocks after a lost block are held, in unacknowledged mode.
        rlc_reordering_ns: u64 = 50_000_000, "ns", 0.0..=1e10;
        /// Time between opportunities of a user for a scheduling request.
        request_period_ns: u64 = 10_000_000, "ns", 1000..=1000000000;
        /// Time from a request or a buffer status report until the granted bytes may be sent.
        grant_delay_ns: u64 = 8_000_000, "ns", 0..=1000000000;
        /// Bytes granted for a scheduling request.
        first_grant_bytes: u64 = 150, "bytes", 40..=1000000;
        /// Time between reports of the signal-to-noise ratio.
        report_period_ns: u64 = 5_000_000, "ns", 1000.0..=1e10;
        /// Time from a report of the signal-to-noise ratio until the report is used.
        report_delay_ns: u64 = 6_000_000, "ns", 0.0..=1e10;
        /// Target share of blocks whose first try fails, for users with link adaptation.
        target_errors: f64 = 0.1, "", 0.001..=0.5;
        /// MCS of each user, for downlink and uplink. With link adaptation, the highest MCS.
        user_mcs: Vec<u64>, "";
        /// Link adaptation of each user; empty: fixed.
        user_rates: Vec<adaptation::Law> = Vec::new(), "";
        /// Signal-to-noise ratio of each user: mean and standard deviation in dB, and memory in seconds, after which
        /// the correlation is 1/e. An empty inner list means no noise for that user; an empty outer list means no noise
        /// for any user.
        user_snr: Vec<Vec<f64>> = Vec::new(), "";
        /// Probability that a block to or from each user is not decoded in one try, independently; empty: 0.
        user_errors: Vec<f64> = Vec::new(), "";
        /// Blockage of each user: attenuation in dB, and mean times blocked and free in seconds. An empty inner list
        /// means that the user is never blocked; an empty outer list means that no user is ever blocked. Only users
        /// with a signal-to-noise ratio may have blockage.
        user_blockage: Vec<Vec<f64>> = Vec::new(), "";
        /// Gaps in which each user neither sends nor receives: start, length and period in nanoseconds for each gap. A
        /// gap with period 0 occurs once. An empty list means no gaps.
        user_gaps_ns: Vec<Vec<u64>> = Vec::new(), "";
        /// Discontinuous reception: period of the windows in which an idle user listens; 0: the user always listens.
        drx_cycle_ns: u64 = 0, "ns", 0.0..=1e11;
        /// Duration of a window in which an idle user listens.
        drx_on_ns: u64 = 10_000_000, "ns", 1.0..=1e11;
        /// Time for which a user listens after the last new block.
        drx_inactivity_ns: u64 = 100_000_000, "ns", 0.0..=1e11;
        /// Background users, which compete for resource blocks.
        background_users: u64 = 0, "", 0..=1000;
        /// Share of the time in which each background user has something to send.
        background_load: f64 = 0.5, "", 0.001..=1.0;
        /// Mean time for which a background user has something to send.
        background_burst_ns: u64 = 100_000_000, "ns", 1000000.0..=1e12;
    }
}

/// Own choice: maximum number of users. Each user has two ports, and port indices have 16 bits.
const MOST_USERS: usize = 10_000;

/// Own choices: minimum time between changes of the satellite, and maximum delay to a satellite, in nanoseconds.
const LEAST_TURN_NS: u64 = 1_000_000;
const LONGEST_WAY_NS: u64 = 1_000_000_000;

/// Size of the smallest packet: an IPv4 and a TCP header.
const LEAST_BYTES: u64 = 40;
/// Bytes of the Ethernet header, which the cell does not carry.
const SPARED_BYTES: u64 = 14;

type Check = Result<(), Problem>;

fn ensure(holds: bool, name: impl Into<String>, message: impl FnOnce() -> String) -> Check {
    if holds { Ok(()) } else { Err(Problem::new(name, message())) }
}

fn ns(nanoseconds: u64) -> Duration {
    Duration::from_nanos(nanoseconds)
}

impl CellularParams {
    /// The first problem of the parameters, if any.
    pub(super) fn problem<G: Generation>(&self) -> Option<Problem> {
        self.carrier_exists::<G>()
            .and_then(|()| self.satellites_exist())
            .and_then(|()| self.users_exist::<G>())
            .err()
    }

    fn carrier_exists<G: Generation>(&self) -> Check {
        let at_most = |name: &str, given: u64, most: u64| {
            ensure(given <= most, name, || format!("{given} is out of range; the maximum is {most}"))
        };
        at_most("resource_blocks", self.resource_blocks, G::RESOURCE_BLOCKS)?;
        at_most("numerology", self.numerology, G::NUMEROLOGY)?;
        at_most("layers", self.layers, G::LAYERS)?;
        at_most("up_layers", self.up_layers, G::LAYERS)?;
        for (name, symbols) in [("down_symbols", &self.down_symbols), ("up_symbols", &self.up_symbols)] {
            let carries = |&symbols: &u64| symbols > 0 && G::bits(0, 1, symbols, 1) > 0;
            ensure(symbols.iter().all(|&symbols| symbols <= SYMBOLS), name, || {
                format!("a slot has {SYMBOLS} symbols; write 0 to {SYMBOLS}")
            })?;
            ensure(symbols.iter().any(carries), name, || {
                "no slot has enough symbols for a block; write more symbols for at least one slot".into()
            })?;
        }
        ensure(self.down_symbols.len() == self.up_symbols.len(), "up_symbols", || {
            format!(
                "{} slots, but down_symbols has {}; write the same number of slots",
                self.up_symbols.len(),
                self.down_symbols.len()
            )
        })
    }

    fn satellites_exist(&self) -> Check {
        let possible = match self.satellites_ns[..] {
            [] => true,
            [_, every, low, high] => every >= LEAST_TURN_NS && low <= high && high <= LONGEST_WAY_NS,
            _ => false,
        };
        ensure(possible, "satellites_ns", || {
            "must be a start, a period of at least 1 ms, and a minimum and a maximum delay of at most 1 s"
                .into()
        })
    }

    /// The satellites that serve the cell, if any.
    pub(super) fn satellites(&self, seed: u64) -> Option<Satellites> {
        let &[at, every, low, high] = &self.satellites_ns[..] else { return None };
        let rules =
            satellites::Rules { at: Time::from_nanos(at), every: ns(every), low: ns(low), high: ns(high) };
        Some(Satellites::new(rules, Rng::stream(seed, "cellular/satellites")))
    }

    fn users_exist<G: Generation>(&self) -> Check {
        let count = self.user_mcs.len();
        ensure(count > 0, "user_mcs", || "a cell has at least one user; write the MCS of each user".into())?;
        ensure(count <= MOST_USERS, "user_mcs", || {
            format!("{count} users are too many; the maximum is {MOST_USERS}")
        })?;
        let lists = [
            ("user_rates", self.user_rates.len()),
            ("user_snr", self.user_snr.len()),
            ("user_errors", self.user_errors.len()),
            ("user_blockage", self.user_blockage.len()),
            ("user_gaps_ns", self.user_gaps_ns.len()),
        ];
        for (name, length) in lists {
            ensure(length == 0 || length == count, name, || {
                format!("{length} values for {count} users; write one value for each user, or none")
            })?;
        }
        (0..count).try_for_each(|user| self.user_exists::<G>(user))
    }

    fn user_exists<G: Generation>(&self, user: usize) -> Check {
        let place = |list: &str| format!("{list}[{user}]");
        let (mcs, errors) = (self.user_mcs[user], self.errors_of(user));
        ensure(mcs < G::SCHEMES, place("user_mcs"), || {
            format!("MCS {mcs} does not exist; write 0 to {}", G::SCHEMES - 1)
        })?;
        ensure((0.0..1.0).contains(&errors), place("user_errors"), || {
            format!("{errors} is out of range; it must be at least 0 and less than 1")
        })?;
        let snr = self.user_snr.get(user).map_or(&[][..], |snr| snr);
        ensure(Snr::can_be(snr), place("user_snr"), || Snr::WANTED.into())?;
        ensure(Blockage::can_be(self.blockage_of(user)), place("user_blockage"), || Blockage::WANTED.into())?;
        let possible = |gap: &[u64]| matches!(*gap, [_, length, every] if every == 0 || length < every);
        ensure(self.gaps_of(user).chunks(3).all(possible), place("user_gaps_ns"), || {
            "must be a start, a length, and a period that exceeds the length or is 0".into()
        })?;
        ensure(self.share_of_gaps(user) < 1.0, place("user_gaps_ns"), || {
            "periodic gaps take all of the time; shorten some gaps, or lengthen their periods".into()
        })
    }

    /// Share of the time that periodic gaps take.
    fn share_of_gaps(&self, user: usize) -> f64 {
        let again = self.gaps_of(user).chunks(3).filter(|gap| gap[2] > 0);
        again.map(|gap| gap[1] as f64 / gap[2] as f64).sum()
    }

    fn errors_of(&self, user: usize) -> f64 {
        self.user_errors.get(user).copied().unwrap_or(0.0)
    }

    fn blockage_of(&self, user: usize) -> &[f64] {
        self.user_blockage.get(user).map_or(&[], |numbers| numbers)
    }

    fn gaps_of(&self, user: usize) -> &[u64] {
        self.user_gaps_ns.get(user).map_or(&[], |numbers| numbers)
    }

    fn gaps(&self, user: usize) -> Gaps {
        let gap = |gap: &[u64]| Gap { at: Time::from_nanos(gap[0]), length: ns(gap[1]), every: ns(gap[2]) };
        Gaps(self.gaps_of(user).chunks(3).map(gap).collect())
    }

    /// The background users of a direction.
    fn background(&self, way: usize, seed: u64) -> Background {
        let (users, burst) = (self.background_users as usize, ns(self.background_burst_ns));
        let load = Load { users, share: self.background_load, burst };
        Background::new(load, |n| Rng::stream(seed, &format!("cellular/background/{way}/{n}")))
    }

    /// Number of schemes up to the highest scheme that any user has.
    fn schemes(&self) -> u64 {
        self.user_mcs.iter().max().map_or(1, |mcs| mcs + 1)
    }

    /// The slots of a direction and the sizes of its blocks. A slot with too few symbols for a block counts as a slot
    /// without symbols.
    fn carrier<G: Generation>(&self, symbols: &[u64], layers: u64) -> (Slots, Sizes) {
        let carries = |&symbols: &u64| if symbols > 0 && G::bits(0, 1, symbols, 1) > 0 { symbols } else { 0 };
        let slots = Slots::new(self.slot(), symbols.iter().map(carries).collect());
        let sizes = Sizes::new::<G>(slots.kinds(), self.schemes(), self.resource_blocks, layers);
        (slots, sizes)
    }

    fn carriers<G: Generation>(&self) -> [(Slots, Sizes); 2] {
        [(&self.down_symbols, self.layers), (&self.up_symbols, self.up_layers)]
            .map(|(symbols, layers)| self.carrier::<G>(symbols, layers))
    }

    /// Maximum rate of the cell, over the downlink and the uplink together. The rate includes the Ethernet headers that
    /// packets have on other links.
    pub(super) fn capacity<G: Generation>(&self) -> Rate {
        let slot_s = self.slot().as_secs_f64();
        let rate = |symbols: &[u64], layers| {
            let most = symbols.iter().copied().max().unwrap_or(0);
            G::bits(self.schemes() - 1, self.resource_blocks, most, layers) as f64 / slot_s
        };
        let both = rate(&self.down_symbols, self.layers) + rate(&self.up_symbols, self.up_layers);
        let spared = LEAST_BYTES as f64 / (LEAST_BYTES - SPARED_BYTES) as f64;
        Rate::from_bits_per_sec((both * spared) as u64)
    }

    fn slot(&self) -> Duration {
        ns(1_000_000 >> self.numerology)
    }

    /// Minimum time from the start of a slot until packets sent in the slot have arrived.
    pub(super) fn least(&self) -> Duration {
        let space = self.satellites_ns.get(2).copied().unwrap_or(0);
        self.slot() + ns(self.processing_ns + self.delay_ns + space)
    }

    /// The downlink and the uplink, with a port for each queue. In `queues`, the downlink queue of each user is
    /// followed by its uplink queue.
    pub(super) fn ways<P: Copy, G: Generation>(&self, inputs: Inputs<P>) -> [Way<P>; 2] {
        let Inputs { queues, sampling, seed } = inputs;
        let mut ports = [Vec::new(), Vec::new()];
        for (n, queue) in queues.into_iter().enumerate().take(2 * self.user_mcs.len()) {
            ports[n % 2].push(self.port::<P, G>(n, queue, sampling, seed));
        }
        let users = self.user_mcs.len() + self.background_users as usize;
        let [down, up] = self.carriers::<G>();
        let [down_ports, up_ports] = ports;
        [(0, down, down_ports), (1, up, up_ports)].map(|(way, (slots, sizes), ports)| {
            let share = Share::new(self.scheduler, users, self.fairness_slots);
            Way::new(
                slots,
                sizes,
                self.resource_blocks,
                share,
                self.background(way, seed),
                ns(self.processing_ns),
                ports,
            )
        })
    }

    fn port<P: Copy, G: Generation>(
        &self,
        n: usize,
        queue: Box<dyn QueueDiscipline<P>>,
        sampling: SamplingTimes,
        seed: u64,
    ) -> Port<P> {
        let user = n / 2;
        let rng = |what: &str, n: usize| Rng::stream(seed, &format!("cellular/{what}/{n}"));
        let grants = (n % 2 == 1).then(|| Grants::new(self.grant_rules(G::HEADERS), rng("requests", user)));
        let snr = self.user_snr.get(user).and_then(|snr| Snr::made(snr, rng("snr", user)));
        let blockage = Blockage::made(self.blockage_of(user), rng("blockage", user));
        let snr = snr.map(|snr| snr.behind(blockage));
        let drx = (n % 2 == 0).then(|| Drx::new(self.drx_rules(), rng("drx", user)));
        let away = (self.gaps(user), drx);
        let law = self.user_rates.get(user).copied().unwrap_or(adaptation::Law::Fixed);
        let reports = Reports { period: ns(self.report_period_ns), delay: ns(self.report_delay_ns) };
        let schemes: Vec<Scheme> = (0..=self.user_mcs[user]).map(G::scheme).collect();
        let adaptation = Adaptation::new(
            law,
            schemes,
            snr,
            reports,
            self.errors_of(user),
            self.target_errors,
            rng("errors", n),
        );
        Port::new(queue, G::HEADERS, adaptation, grants, self.rlc_rules(), away, sampling)
    }

    fn grant_rules(&self, headers: Headers) -> grants::Rules {
        grants::Rules {
            period: ns(self.request_period_ns),
            delay: ns(self.grant_delay_ns),
            first_bytes: self.first_grant_bytes,
            least_bytes: headers.block + headers.piece + 1,
        }
    }

    fn drx_rules(&self) -> drx::Rules {
        drx::Rules {
            inactivity: ns(self.drx_inactivity_ns),
            cycle: ns(self.drx_cycle_ns),
            on: ns(self.drx_on_ns),
        }
    }

    fn rlc_rules(&self) -> rlc::Rules {
        rlc::Rules {
            round_trip: ns(self.harq_round_trip_ns),
            tries: self.harq_tries,
            mode: self.rlc,
            retransmission: ns(self.rlc_retransmission_ns),
            reordering: ns(self.rlc_reordering_ns),
        }
    }
}
