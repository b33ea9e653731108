//! The table with one row per datagram.

use crate::endpoints::Endpoints;
use crate::plan::Plan;
use crate::table::{Column, Table};
use crate::tally::Trip;
use units::Time;

/// One row per datagram of the flows that want that, flow by flow.
pub(crate) fn table(plan: &Plan, flows: &[Endpoints]) -> Table {
    let names = plan.flows.iter().map(|flow| flow.name.clone()).collect();
    let rows: Vec<(u32, Trip)> =
        (0u32..).zip(flows).flat_map(|(n, flow)| flow.trips().iter().map(move |&trip| (n, trip))).collect();
    let seconds = |of: &dyn Fn(&Trip) -> f64| Column::Float(rows.iter().map(|(_, trip)| of(trip)).collect());
    let columns = vec![
        ("time_s", seconds(&|trip| trip.sent.as_secs_f64())),
        ("flow", Column::Label { codes: rows.iter().map(|row| row.0).collect(), names }),
        ("owd_s", seconds(&|trip| since(trip.arrived, trip.sent))),
        ("rtt_s", seconds(&|trip| since(trip.returned, trip.sent))),
    ];
    Table { columns }
}

/// Seconds; NaN if it has not come to pass.
fn since(time: Time, sent: Time) -> f64 {
    if time == Time::NEVER { f64::NAN } else { time.since(sent).as_secs_f64() }
}
