//! Results of a run.

use simulation::{Column, Results, Table};
use units::{Bytes, Duration, Rate};

/// The tables of a run.
#[derive(Clone, Debug)]
pub struct Run {
    tables: Vec<(&'static str, Table)>,
}

/// Row of a flow in the table `flows`. The row covers the time after the warm-up.
#[derive(Clone, Copy, Debug)]
pub struct FlowResult<'a> {
    table: &'a Table,
    row: usize,
}

impl Run {
    pub(crate) fn new(results: Results) -> Run {
        Run { tables: results.tables() }
    }

    /// A table by its name, such as `series`; [`simulation::schema`] lists tables and columns.
    ///
    /// # Panics
    /// If there is no such table.
    pub fn table(&self, name: &str) -> &Table {
        let found = self.tables.iter().find(|table| table.0 == name).map(|table| &table.1);
        found.unwrap_or_else(|| {
            let known: Vec<&str> = self.tables.iter().map(|table| table.0).collect();
            panic!("unknown table \"{name}\"; known: {}", known.join(", "))
        })
    }

    /// All flows in the order in which they were added.
    pub fn flows(&self) -> impl Iterator<Item = FlowResult<'_>> {
        let table = self.table("flows");
        (0..table.column("flow").map_or(0, Column::len)).map(move |row| FlowResult { table, row })
    }

    /// The flow with this name.
    ///
    /// # Panics
    /// If there is no such flow.
    pub fn flow(&self, name: &str) -> FlowResult<'_> {
        self.flows().find(|flow| flow.name() == name).unwrap_or_else(|| {
            let known: Vec<&str> = self.flows().map(|flow| flow.name()).collect();
            panic!("unknown flow \"{name}\"; known: {}", known.join(", "))
        })
    }
}

impl<'a> FlowResult<'a> {
    /// Name of the flow.
    pub fn name(&self) -> &'a str {
        match self.table.column("flow") {
            Some(Column::Label { codes, names }) => &names[codes[self.row] as usize],
            _ => unreachable!("every flow has a name"),
        }
    }

    /// The number in a column; NaN if it was not measured.
    ///
    /// # Panics
    /// If there is no such column, or the column holds names.
    pub fn number(&self, column: &str) -> f64 {
        self.table.numbers(column)[self.row]
    }

    /// Goodput: payload delivered in order per second; zero if the flow never sent.
    pub fn goodput(&self) -> Rate {
        Rate::from_bits_per_sec(self.number("goodput_bps").round() as u64)
    }

    /// Payload delivered in order.
    pub fn delivered(&self) -> Bytes {
        Bytes::new(self.number("delivered_bytes") as u64)
    }

    /// Mean of the RTT samples; `None` without a sample.
    pub fn rtt_mean(&self) -> Option<Duration> {
        span(self.number("rtt_mean_s"))
    }

    /// Flow completion time: from the start to the last acknowledgement; `None` if the flow has no size or did not
    /// finish.
    pub fn completion(&self) -> Option<Duration> {
        span(self.number("fct_s"))
    }

    /// Data packets retransmitted.
    pub fn retransmitted_packets(&self) -> u64 {
        self.number("retransmitted_packets") as u64
    }

    /// Data packets that the sender marked lost.
    pub fn lost_packets(&self) -> u64 {
        self.number("lost_packets") as u64
    }
}

fn span(seconds: f64) -> Option<Duration> {
    (!seconds.is_nan()).then(|| Duration::from_nanos((seconds * 1e9).round() as u64))
}
