//! The macro that declares a table, as a row whose columns have a name, a type, a unit, a meaning and a span.

use super::cell::{Kind, Names};
use super::column::Table;

/// Description of a table.
#[derive(Clone, Debug)]
pub struct TableSchema {
    /// Name of the table.
    pub name: &'static str,
    /// Subject of one row.
    pub row: &'static str,
    /// Columns in order.
    pub columns: Vec<ColumnSchema>,
}

/// Description of a column.
#[derive(Clone, Debug)]
pub struct ColumnSchema {
    /// Name of the column.
    pub name: &'static str,
    /// Type of its values.
    pub kind: Kind,
    /// Unit of the values; empty for texts.
    pub unit: &'static str,
    /// Meaning of its values.
    pub meaning: &'static str,
    /// Time span, if not obvious.
    pub span: &'static str,
}

/// A row of a table, implemented by [`table!`].
pub trait Row: Sized {
    /// Subject of one row.
    const ROW: &'static str;
    /// One vector per column.
    type Columns: Default;

    /// Descriptions of the columns in order.
    fn columns() -> Vec<ColumnSchema>;

    /// Reserves room for more rows.
    fn reserve(columns: &mut Self::Columns, rows: usize);

    /// Adds the row.
    fn put(self, columns: &mut Self::Columns);

    /// The finished table.
    fn table(columns: Self::Columns, names: &Names) -> Table;
}

/// The rows of a table, stored column by column.
pub struct Rows<R: Row> {
    columns: R::Columns,
    count: usize,
}

impl<R: Row> Rows<R> {
    /// Adds a row.
    #[inline]
    pub fn push(&mut self, row: R) {
        row.put(&mut self.columns);
        self.count += 1;
    }

    /// Number of rows.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The table.
    pub fn table(self, names: &Names) -> Table {
        R::table(self.columns, names)
    }
}

impl<R: Row> Default for Rows<R> {
    fn default() -> Rows<R> {
        Rows { columns: R::Columns::default(), count: 0 }
    }
}

impl<R: Row> FromIterator<R> for Rows<R> {
    fn from_iter<I: IntoIterator<Item = R>>(rows: I) -> Rows<R> {
        let rows = rows.into_iter();
        let mut made = Rows::default();
        R::reserve(&mut made.columns, rows.size_hint().0);
        rows.for_each(|row| made.push(row));
        made
    }
}

/// Declares the row of a table. Each column is written as `name: type, "unit", span;`, and its doc comment is its
/// meaning. The span is optional.
macro_rules! table {
    ($(#[doc = $doc:literal])+ pub struct $row:ident, one row per $what:literal {
        $($(#[doc = $meaning:literal])+ $column:ident: $type:ty, $unit:literal $(, $span:expr)?;)+
    }) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug)]
        pub struct $row { $($(#[doc = $meaning])+ pub $column: $type,)+ }

        const _: () = {
            use $crate::tables::cell::{Cell, Names, Store};
            use $crate::tables::column::Table;
            use $crate::tables::declare::{ColumnSchema, Row};

            #[derive(Default)]
            pub struct Columns { $($column: <$type as Cell>::Store,)+ }

            impl Row for $row {
                const ROW: &'static str = $what;
                type Columns = Columns;

                fn columns() -> Vec<ColumnSchema> {
                    vec![$(ColumnSchema {
                        name: stringify!($column),
                        kind: <$type as Cell>::KIND,
                        unit: $unit,
                        meaning: concat!($($meaning),+).trim(),
                        span: [$($span,)? ""][0],
                    },)+]
                }

                fn reserve(columns: &mut Columns, rows: usize) {
                    $(columns.$column.reserve(rows);)+
                }

                #[inline]
                fn put(self, columns: &mut Columns) {
                    $(self.$column.put(&mut columns.$column);)+
                }

                fn table(columns: Columns, names: &Names) -> Table {
                    Table { columns: vec![$((stringify!($column), columns.$column.column(names)),)+] }
                }
            }
        };
    };
}
pub(super) use table;
