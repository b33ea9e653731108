//! Lean records: a sender with less memory sends the same packets.

use crate::pipe::{Fate, Pipe, config, seconds};
use tcp::{AckPolicy, SenderConfig};
use units::{Duration, Time};

/// Return times and numbers of the packets sent on a path that drops an eighth of them, and the largest number of
/// records in memory.
fn sent(cca: &str, lean_records: bool) -> (Vec<(Time, u32)>, usize) {
    let config = SenderConfig { lean_records, ..config() };
    let ack = AckPolicy::Every { packets: 1, timeout: Duration::from_millis(40) };
    let is_lost = |count: u64| count.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 61 == 0;
    let fate = move |count, _| if is_lost(count) { Fate::Drop } else { Fate::Pass };
    let mut pipe = Pipe::new(cca, config, ack, 200, 40, 400).with_fate(fate);
    let records = (1..=400).map(|n| {
        pipe.run_until(seconds(f64::from(n) / 100.0));
        pipe.sender.records()
    });
    let most = records.max().unwrap_or(0);
    (pipe.sent, most)
}

#[test]
fn lean_records_change_nothing_that_is_sent() {
    let ((whole, many), (lean, few)) = (sent("bbr1", false), sent("bbr1", true));
    assert!(whole.len() > 1_000, "{} packets", whole.len());
    assert!(whole == lean, "a sender with lean records sends other packets");
    assert!(few * 4 < many * 3, "{few} records instead of {many}");
}
