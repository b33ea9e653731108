//! The macro that declares a table, as a row whose columns have a name, a type, a unit, a meaning and a span.

use super::cell::{Kind, Names};
use super::column::Table;

/// Describes a table.
#[derive(Clone, Debug)]
pub struct TableSchema {
    /// Its name.
    pub name: &'static str,
    /// What one row stands for.
    pub row: &'static str,
    /// Its columns, in their order.
    pub columns: Vec<ColumnSchema>,
}

/// Describes a column.
#[derive(Clone, Debug)]
pub struct ColumnSchema {
    /// Its name.
    pub name: &'static str,
    /// What its values are.
    pub kind: Kind,
    /// Unit of the values; empty for texts.
    pub unit: &'static str,
    /// What it holds.
    pub meaning: &'static str,
    /// The time that it is of, where that does not go without saying.
    pub span: &'static str,
}

/// A row of a table: what [`table!`] generates.
pub trait Row: Sized {
    /// What one row stands for.
    const ROW: &'static str;
    /// A vector per column.
    type Columns: Default;

    /// Describes the columns, in their order.
    fn columns() -> Vec<ColumnSchema>;

    /// Makes room for more rows.
    fn reserve(columns: &mut Self::Columns, rows: usize);

    /// Adds the row.
    fn put(self, columns: &mut Self::Columns);

    /// The columns as they go out.
    fn table(columns: Self::Columns, names: &Names) -> Table;
}

/// The rows of a table, kept column by column.
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

    /// How many there are.
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

/// Declares the row of a table: `name: type, "unit", span;` per column, with its meaning as documentation. The span may be
/// left out.
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
