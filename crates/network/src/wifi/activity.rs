//! Counters of the transmissions of a port.

use units::{Duration, Probe};

/// Transmissions of a port since the beginning.
#[derive(Clone, Debug)]
pub struct Activity {
    /// Data PPDUs by their number of MPDUs, including PPDUs that collided.
    pub sizes: Vec<u64>,
    /// Retransmitted MPDUs.
    pub retries: u64,
    /// Frames that collided.
    pub collisions: u64,
    /// Airtime of data PPDUs that did not collide.
    pub air: Duration,
}

impl Activity {
    /// Create counters at zero, for PPDUs of at most `most` MPDUs.
    pub fn new(most: usize) -> Activity {
        Activity { sizes: vec![0; most + 1], retries: 0, collisions: 0, air: Duration::ZERO }
    }

    /// Number of data PPDUs.
    fn ppdus(&self) -> u64 {
        self.sizes.iter().sum()
    }

    /// Report airtime, PPDUs, retries and collisions.
    pub fn observe(&self, probe: &mut Probe<'_>) {
        probe.see("airtime", self.air.as_secs_f64(), "s");
        probe.see("ppdus", self.ppdus() as f64, "frames");
        probe.see("retries", self.retries as f64, "packets");
        probe.see("collisions", self.collisions as f64, "frames");
    }

    /// Report the numbers of MPDUs in PPDUs.
    pub fn observe_sizes(&self, probe: &mut Probe<'_>) {
        let (sizes, ppdus) = (&self.sizes, self.ppdus());
        if ppdus > 0 {
            let mpdus: u64 = (0..).zip(sizes).map(|(n, count)| n * count).sum();
            probe.see("aggregate_mean", mpdus as f64 / ppdus as f64, "packets");
            probe.see("aggregate_p95", quantile(sizes, ppdus.div_ceil(20)) as f64, "packets");
        }
        let mut above = 0;
        for (most, name) in BINS {
            let count: u64 = sizes.iter().take(most + 1).skip(above + 1).sum();
            if count > 0 {
                probe.see(name, count as f64, "frames");
            }
            above = most;
        }
    }
}

/// Bins of PPDU sizes. A bin counts the PPDUs with at most this many packets and with more packets than the preceding
/// bin allows.
const BINS: [(usize, &str); 15] = [
    (1, "ppdus_to_1"),
    (2, "ppdus_to_2"),
    (4, "ppdus_to_4"),
    (8, "ppdus_to_8"),
    (12, "ppdus_to_12"),
    (16, "ppdus_to_16"),
    (24, "ppdus_to_24"),
    (32, "ppdus_to_32"),
    (48, "ppdus_to_48"),
    (64, "ppdus_to_64"),
    (96, "ppdus_to_96"),
    (128, "ppdus_to_128"),
    (192, "ppdus_to_192"),
    (256, "ppdus_to_256"),
    (1_024, "ppdus_to_1024"),
];

/// The largest size that at least `above` PPDUs have or exceed.
fn quantile(sizes: &[u64], above: u64) -> usize {
    let mut seen = 0;
    let found = sizes.iter().rposition(|&count| {
        seen += count;
        seen >= above
    });
    found.unwrap_or(0)
}
