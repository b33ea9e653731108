//! Columns, on their way out.

/// Named columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Name and values.
    pub columns: Vec<(&'static str, Column)>,
}

/// The values of one column.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Numbers; NaN where nothing was measured.
    Float(Vec<f64>),
    /// Counts.
    Int(Vec<i64>),
    /// Names, each row by its number in a list; a number beyond it stands for no name.
    Label {
        /// Per row.
        codes: Vec<u32>,
        /// Per number.
        names: Vec<String>,
    },
}

impl Column {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Column::Float(values) => values.len(),
            Column::Int(values) => values.len(),
            Column::Label { codes, .. } => codes.len(),
        }
    }

    /// No row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One name per row.
    pub fn names(names: Vec<String>) -> Column {
        Column::Label { codes: (0u32..).take(names.len()).collect(), names }
    }

    /// One name per row, or none if it is empty.
    pub fn known_names(names: Vec<String>) -> Column {
        let code = |(n, name): (u32, &String)| if name.is_empty() { u32::MAX } else { n };
        Column::Label { codes: (0u32..).zip(&names).map(code).collect(), names }
    }
}

impl Table {
    /// The column called `name`.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.0 == name).map(|column| &column.1)
    }

    /// The numbers of the column called `name`; empty if there is none, or it holds no numbers.
    pub fn numbers(&self, name: &str) -> Vec<f64> {
        match self.column(name) {
            Some(Column::Float(values)) => values.clone(),
            Some(Column::Int(values)) => values.iter().map(|&n| n as f64).collect(),
            _ => Vec::new(),
        }
    }
}

/// Everything a run gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// One row per flow.
    pub flows: Table,
    /// One row per link.
    pub links_summary: Table,
    /// One row per sample and flow.
    pub series: Table,
    /// One row per sample and link.
    pub links: Table,
    /// One row per sample, flow and variable of its algorithm.
    pub variables: Table,
    /// One row per packet captured.
    pub packets: Table,
    /// One row per datagram of the flows that want that.
    pub probes: Table,
    /// One row per transfer.
    pub transfers: Table,
    /// One row per flow that plays a video.
    pub videos: Table,
    /// Data segments sent by all senders.
    pub data_packets: u64,
    /// Packets forwarded, over all links.
    pub packet_hops: u64,
}
