//! Columns of results tables.

/// Named columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Name and values.
    pub columns: Vec<(&'static str, Column)>,
}

/// The values of one column.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Numbers; NaN if nothing was measured.
    Float(Vec<f64>),
    /// Counts.
    Int(Vec<i64>),
    /// Names as indices into a list; an index beyond the list is a missing name.
    Label {
        /// Index, by row.
        codes: Vec<u32>,
        /// List of names.
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

    /// Whether the column has no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Table {
    /// The column called `name`.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.0 == name).map(|column| &column.1)
    }

    /// The numbers of the column called `name`.
    ///
    /// # Panics
    /// If there is no such column, or it holds names.
    pub fn numbers(&self, name: &str) -> Vec<f64> {
        match self.column(name) {
            Some(Column::Float(values)) => values.clone(),
            Some(Column::Int(values)) => values.iter().map(|&n| n as f64).collect(),
            Some(Column::Label { .. }) => panic!("column \"{name}\" holds names, not numbers"),
            None => {
                let known: Vec<&str> = self.columns.iter().map(|column| column.0).collect();
                panic!("unknown column \"{name}\"; known: {}", known.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let names = Column::Label { codes: vec![0], names: vec!["a".to_owned()] };
        Table { columns: vec![("flow", names), ("goodput_bps", Column::Float(vec![1.5]))] }
    }

    #[test]
    fn numbers_of_a_column() {
        assert_eq!(table().numbers("goodput_bps"), [1.5]);
    }

    #[test]
    #[should_panic(expected = "unknown column \"goodput\"; known: flow, goodput_bps")]
    fn a_misspelt_column_is_refused_with_those_there_are() {
        table().numbers("goodput");
    }

    #[test]
    #[should_panic(expected = "column \"flow\" holds names")]
    fn names_are_no_numbers() {
        table().numbers("flow");
    }
}
