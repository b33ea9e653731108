//! # HighSpeed
//!
//! ## Idea
//! Reno with an increase and a decrease that depend on the window, so that large windows are possible at higher loss
//! rates. With windows below 38 packets, HighSpeed behaves like Reno.
//!
//! ## Source and revision
//! RFC 3649; behaviour of Linux 7.2 `net/ipv4/tcp_highspeed.c`.
//!
//! ## Signals
//! Loss, classic ECN marks. RTT is not used.
//!
//! ## State diagram
//! slow start → (cwnd ≥ ssthresh) → growth by a(cwnd) per round → (congestion) → ssthresh = (1 - b(cwnd)) cwnd.
//!
//! ## Deviations from the source
//! The table is computed by the law of RFC 3649 appendix B. Details of Linux that apply here, too:
//!
//! - Growth counts ACKs, not packets, so delayed ACKs halve the growth.
//! - The row of the table that belongs to the window is looked up only while the window grows outside slow start.
//!   A loss that ends the first slow start therefore halves the window, whatever its size.
//! - When slow start ends within an ACK, the remaining packets of the ACK do not count for growth.
//!
//! ## Validated against
//! Linux 7.2 in virtual time (`tests/differential`), the table of RFC 3649.

use crate::registry::Algorithm;
use crate::{Ack, Congestion, Path, Probe, Window, WindowAlgorithm};
use params::params;
use std::sync::LazyLock;

params! {
    /// HighSpeed has no parameters: RFC 3649 defines the whole table of increases and decreases.
    pub struct HighSpeedParams {}
}

/// A row of the table. The index of the row, counted from one, is the increase in packets per round.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// Largest window of the row, packets.
    cwnd: u32,
    /// Decrease on congestion as a share of the window, in 1/256.
    decrease_256: u32,
}

const LOW_WINDOW: f64 = 38.0;
const LOW_DECREASE: f64 = 0.5;
const HIGH_WINDOW: f64 = 83_000.0;
const HIGH_DECREASE: f64 = 0.1;
const TABLE_ENDS: u32 = 100_000;

static TABLE: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let row = |cwnd: u32| Row { cwnd, decrease_256: (decrease(f64::from(cwnd)) * 256.0) as u32 };
    let first = LOW_WINDOW as u32;
    let mut table = vec![row(first)];
    let mut last = 1.0;
    for cwnd in first + 1..TABLE_ENDS {
        let increase = increase(f64::from(cwnd));
        if increase > last + 1.0 {
            table.push(row(cwnd));
            last = increase;
        }
    }
    table
});

/// Decrease b(w) of RFC 3649 section 5, as a share of the window w.
fn decrease(w: f64) -> f64 {
    let position = (w.ln() - LOW_WINDOW.ln()) / (HIGH_WINDOW.ln() - LOW_WINDOW.ln());
    LOW_DECREASE + (HIGH_DECREASE - LOW_DECREASE) * position
}

/// Increase a(w) of RFC 3649 section 5, packets per round; the loss rate for w is 1 / (12.8 w^1.2).
fn increase(w: f64) -> f64 {
    let b = decrease(w);
    w * w * 2.0 * b / ((2.0 - b) * w.powf(1.2) * 12.8)
}

/// A sender with AIMD whose constants depend on the window.
pub struct HighSpeed {
    window: Window,
    table: &'static [Row],
    row: usize,
}

impl Algorithm for HighSpeed {
    type Params = HighSpeedParams;
    const TITLE: &'static str = "HighSpeed TCP";
    const SOURCE: &'static str = "RFC 3649; Linux net/ipv4/tcp_highspeed.c";

    fn new(_params: HighSpeedParams, _seed: u64) -> HighSpeed {
        HighSpeed { window: Window::default(), table: &TABLE, row: 0 }
    }
}

impl HighSpeed {
    fn find_row(&mut self) {
        let cwnd = self.window.cwnd;
        while self.row + 1 < self.table.len() && cwnd > self.table[self.row].cwnd {
            self.row += 1;
        }
        while self.row > 0 && cwnd <= self.table[self.row - 1].cwnd {
            self.row -= 1;
        }
    }

    /// Growth per round with an ACK for every packet, packets.
    fn increase(&self) -> u32 {
        self.row as u32 + 1
    }
}

impl WindowAlgorithm for HighSpeed {
    has_window!();

    fn grow(&mut self, ack: &Ack, _path: &Path) {
        if self.window.in_slow_start() {
            self.window.slow_start(ack.acked);
            return;
        }
        self.find_row();
        self.window.credit += self.increase();
        if self.window.credit >= self.window.cwnd {
            self.window.credit -= self.window.cwnd;
            self.window.cwnd += 1;
        }
    }

    fn reduced(&mut self, _congestion: Congestion, _path: &Path) -> u32 {
        let given_up = u64::from(self.window.cwnd) * u64::from(self.table[self.row].decrease_256) / 256;
        self.window.cwnd - given_up as u32
    }

    fn variables(&self, probe: &mut Probe<'_>) {
        probe.see("increase", f64::from(self.increase()), "packets/round");
        probe.see("decrease", f64::from(self.table[self.row].decrease_256) / 256.0, "");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CongestionControl;
    use crate::test_drive::Drive;

    fn steady(cwnd: u32) -> (HighSpeed, Drive) {
        let mut highspeed = HighSpeed::new(HighSpeedParams {}, 0);
        highspeed.set_cwnd(cwnd);
        highspeed.window.ssthresh = 2;
        highspeed.find_row();
        (highspeed, Drive::new())
    }

    #[test]
    fn the_table_is_that_of_rfc_3649() {
        let row = |i: usize| (TABLE[i].cwnd, (f64::from(TABLE[i].decrease_256) / 2.56) as u32);
        assert_eq!(TABLE.len(), 73);
        assert_eq!([row(0), row(1), row(2), row(3)], [(38, 50), (118, 43), (221, 40), (347, 38)]);
        assert_eq!((TABLE[70].cwnd, TABLE[71].cwnd), (84_035, 89_053));
    }

    #[test]
    fn up_to_38_packets_it_is_reno() {
        let (mut highspeed, mut drive) = steady(36);
        drive.round(&mut highspeed, 40_000);
        assert_eq!(highspeed.window.cwnd, 37);
        assert_eq!(drive.lose(&mut highspeed), 19);
    }

    #[test]
    fn at_10661_packets_growth_is_30_and_a_loss_costs_a_fifth() {
        let (mut highspeed, mut drive) = steady(10_661);
        assert_eq!(highspeed.increase(), 30);
        let kept = drive.lose(&mut highspeed);
        assert!((0.79..0.81).contains(&(f64::from(kept) / 10_661.0)), "{kept}");
    }

    #[test]
    fn delayed_acks_halve_growth() {
        let growth = |acked: u32| {
            let (mut highspeed, mut drive) = steady(900);
            (0..1_900 / acked).for_each(|_| drive.ack(&mut highspeed, 900, acked, 40_000));
            highspeed.window.cwnd - 900
        };
        assert_eq!((growth(1), growth(2)), (16, 8)); // slightly more than two rounds with 8 packets each
    }

    #[test]
    fn a_loss_in_the_first_slow_start_halves_any_window() {
        let mut highspeed = HighSpeed::new(HighSpeedParams {}, 0);
        highspeed.set_cwnd(10_000);
        assert_eq!(Drive::new().lose(&mut highspeed), 5_000);
    }
}
