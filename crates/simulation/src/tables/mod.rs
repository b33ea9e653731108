//! The tables of a run. Each is declared once, beside what fills it: names, types, units and meanings of its columns.
//!
//! Adding a column is its declaration and its value in the file of its table, and a line of tests/unit/python/schema.json.
//! Adding a table is one file beside this one and one line in the list below.

mod cell;
mod column;
mod declare;

pub use cell::{FlowName, Kind, LinkName, Names};
pub use column::{Column, Table};
pub use declare::{ColumnSchema, Rows, TableSchema};

use crate::hosts::Endpoints;
use crate::net::Net;
use crate::payload::Payload;
use crate::plan::Plan;
use crate::record::Columns;
use crate::rivals::Rivals;
use declare::Row;
use network::Drops;

/// Changes whenever a column changes its name, its type or its meaning. A new table or a new column does not change it.
pub const SCHEMA_VERSION: u32 = 1;

/// A run that is over.
pub(crate) struct Finished<'a> {
    /// What was run.
    pub plan: &'a Plan,
    /// The seed of its randomness.
    pub seed: u64,
    /// Its flows.
    pub flows: &'a [Endpoints],
    /// What they delivered while all their rivals were active.
    pub rivals: &'a Rivals,
    /// Data packets that its network dropped.
    pub drops: &'a Drops<Payload>,
    /// Its network.
    pub net: &'a Net<Payload>,
    /// What was written down during the run.
    pub recorded: Columns,
}

/// A table that can be made when a run is over.
pub(crate) trait Made: Row {
    /// Its rows.
    fn rows(run: &mut Finished<'_>) -> Rows<Self>;
}

/// Declares the modules of the tables, and lists them.
macro_rules! tables {
    ($($table:ident: $row:ident,)+) => {
        $(pub mod $table;)+

        /// Everything a run gives.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Results {
            $(#[doc = concat!("The table `", stringify!($table), "`; [`schema`] describes it.")]
            pub $table: Table,)+
            /// Data segments sent by all senders.
            pub data_packets: u64,
            /// Packets forwarded, over all links.
            pub packet_hops: u64,
        }

        impl Results {
            /// Sums a run up.
            pub(crate) fn from_run(mut run: Finished<'_>) -> Results {
                let names = Names::of_plan(run.plan);
                Results {
                    $($table: $table::$row::rows(&mut run).table(&names),)+
                    data_packets: run.flows.iter().map(Endpoints::sent_packets).sum(),
                    packet_hops: run.net.hops().map(|hop| run.net.totals(hop).run.forwarded_packets).sum(),
                }
            }

            /// The tables with their names, in the order of [`schema`].
            pub fn tables(self) -> Vec<(&'static str, Table)> {
                vec![$((stringify!($table), self.$table),)+]
            }
        }

        /// Describes the tables.
        pub fn schema() -> Vec<TableSchema> {
            vec![$(TableSchema {
                name: stringify!($table),
                row: $table::$row::ROW,
                columns: $table::$row::columns(),
            },)+]
        }
    };
}

tables! {
    flows: FlowRow,
    transfers: TransferRow,
    videos: VideoRow,
    probes: ProbeRow,
    series: SeriesRow,
    links: LinkRow,
    links_summary: LinkSummaryRow,
    variables: VariableRow,
    packets: PacketRow,
    conditions: ConditionRow,
}
