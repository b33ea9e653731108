//! The tables of a run. Each table is declared once, in the file that fills it, with the names, types, units and
//! meanings of its columns.
//!
//! A new column needs its declaration and its value in the file of its table, and a line of
//! tests/unit/python/schema.json. A new table needs one file in this folder and one line in the list below.

pub(crate) mod cell;
mod column;
mod declare;

pub use cell::{Kind, Names};
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

/// Version of the tables. The version changes if the name, type or meaning of a column changes, but not if a table or
/// column is added.
pub const SCHEMA_VERSION: u32 = 1;

/// A finished run.
pub(crate) struct Finished<'a> {
    /// Plan of the run.
    pub plan: &'a Plan,
    /// Seed of the run.
    pub seed: u64,
    /// Flows of the run.
    pub flows: &'a [Endpoints],
    /// Payload that each flow delivered while all of its rivals were active.
    pub rivals: &'a Rivals,
    /// Data packets dropped by the network.
    pub drops: &'a Drops<Payload>,
    /// Network of the run.
    pub net: &'a Net<Payload>,
    /// Rows recorded during the run.
    pub recorded: Columns,
}

/// A table that is made from a finished run.
pub(crate) trait Made: Row {
    /// Rows of the table.
    fn rows(run: &mut Finished<'_>) -> Rows<Self>;
}

/// Declares the modules of the tables, and the results that contain all tables.
macro_rules! tables {
    ($($table:ident: $row:ident,)+) => {
        $(pub mod $table;)+

        /// All results of a run.
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
            /// Makes the tables of a run.
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

        /// Descriptions of all tables.
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
