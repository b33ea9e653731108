//! Types of columns, and vectors of their values.

use super::column::Column;
use crate::plan::Plan;
use std::marker::PhantomData;
use units::{Duration, Rate, Time};

/// Type of the values of a column. Values may be missing if the meaning of the column says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Names and texts.
    Text,
    /// Whole numbers.
    Count,
    /// Numbers.
    Real,
}

/// A value of a column.
pub trait Cell {
    /// Type of the column's values.
    const KIND: Kind;
    /// Storage of the column's values.
    type Store: Store;

    /// Adds the value to its column.
    fn put(self, store: &mut Self::Store);
}

/// The values of a column.
pub trait Store: Default {
    /// Reserves room for more rows.
    fn reserve(&mut self, rows: usize);

    /// Converts the values to a column of results.
    fn column(self, names: &Names) -> Column;
}

/// Names of flows and links, by index.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Names of flows.
    pub flows: Vec<String>,
    /// Names of links and ports.
    pub links: Vec<String>,
}

impl Names {
    /// The names in a plan.
    pub fn of_plan(plan: &Plan) -> Names {
        Names { flows: plan.flows.iter().map(|flow| flow.name.clone()).collect(), links: plan.hop_names() }
    }
}

impl Store for Vec<f64> {
    fn reserve(&mut self, rows: usize) {
        self.reserve(rows);
    }

    fn column(self, _: &Names) -> Column {
        Column::Float(self)
    }
}

impl Store for Vec<i64> {
    fn reserve(&mut self, rows: usize) {
        self.reserve(rows);
    }

    fn column(self, _: &Names) -> Column {
        Column::Int(self)
    }
}

/// Declares the conversion of types to numbers.
macro_rules! cells {
    ($($type:ty => $kind:ident, $number:ty, $of:expr;)*) => {
        $(impl Cell for $type {
            const KIND: Kind = Kind::$kind;
            type Store = Vec<$number>;

            #[inline]
            fn put(self, store: &mut Vec<$number>) {
                let of: fn($type) -> $number = $of;
                store.push(of(self));
            }
        })*
    };
}

cells! {
    f64 => Real, f64, |x| x;
    i64 => Count, i64, |n| n;
    u64 => Count, i64, |n| n as i64;
    u32 => Count, i64, i64::from;
    Option<u32> => Count, f64, |n| n.map_or(f64::NAN, f64::from);
    Option<u64> => Count, f64, |n| n.map_or(f64::NAN, |n| n as f64);
    Time => Real, f64, Time::as_secs_f64;
    Option<Time> => Real, f64, |time| time.map_or(f64::NAN, Time::as_secs_f64);
    Duration => Real, f64, Duration::as_secs_f64;
    Option<Duration> => Real, f64, |span| span.map_or(f64::NAN, Duration::as_secs_f64);
    Option<Rate> => Real, f64, |rate| match rate {
        Some(rate) if rate != Rate::UNLIMITED => rate.bits_per_sec() as f64,
        _ => f64::NAN,
    };
}

/// An index of a flow or link, which results show as the name of the flow or link.
pub trait Numbered {
    /// Index of the flow or link.
    fn number(self) -> u32;

    /// All names, by index.
    fn names(names: &Names) -> Vec<String>;
}

/// Index of a flow, which results show by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowName(pub u32);

/// Index of a link, which results show by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkName(pub u32);

impl Numbered for FlowName {
    fn number(self) -> u32 {
        self.0
    }

    fn names(names: &Names) -> Vec<String> {
        names.flows.clone()
    }
}

impl Numbered for LinkName {
    fn number(self) -> u32 {
        self.0
    }

    fn names(names: &Names) -> Vec<String> {
        names.links.clone()
    }
}

/// Column of names, stored as indices.
pub struct Codes<N> {
    codes: Vec<u32>,
    of: PhantomData<N>,
}

impl<N> Default for Codes<N> {
    fn default() -> Codes<N> {
        Codes { codes: Vec::new(), of: PhantomData }
    }
}

impl<N: Numbered> Store for Codes<N> {
    fn reserve(&mut self, rows: usize) {
        self.codes.reserve(rows);
    }

    fn column(self, names: &Names) -> Column {
        Column::Label { codes: self.codes, names: N::names(names) }
    }
}

impl<N: Numbered> Cell for N {
    const KIND: Kind = Kind::Text;
    type Store = Codes<N>;

    #[inline]
    fn put(self, store: &mut Codes<N>) {
        store.codes.push(self.number());
    }
}

impl<N: Numbered> Cell for Option<N> {
    const KIND: Kind = Kind::Text;
    type Store = Codes<N>;

    #[inline]
    fn put(self, store: &mut Codes<N>) {
        store.codes.push(self.map_or(u32::MAX, N::number));
    }
}

/// Column of constant texts with few different values.
#[derive(Default)]
pub struct Words {
    codes: Vec<u32>,
    words: Vec<&'static str>,
}

impl Store for Words {
    fn reserve(&mut self, rows: usize) {
        self.codes.reserve(rows);
    }

    fn column(self, _: &Names) -> Column {
        Column::Label { codes: self.codes, names: self.words.into_iter().map(str::to_owned).collect() }
    }
}

impl Cell for &'static str {
    const KIND: Kind = Kind::Text;
    type Store = Words;

    fn put(self, store: &mut Words) {
        let code = store.words.iter().position(|&known| known == self).unwrap_or_else(|| {
            store.words.push(self);
            store.words.len() - 1
        });
        store.codes.push(code as u32);
    }
}

/// Column of texts that are mostly empty or equal to the preceding text.
pub struct Texts {
    codes: Vec<u32>,
    /// Texts by code. The first text is empty.
    texts: Vec<String>,
}

impl Default for Texts {
    fn default() -> Texts {
        Texts { codes: Vec::new(), texts: vec![String::new()] }
    }
}

impl Store for Texts {
    fn reserve(&mut self, rows: usize) {
        self.codes.reserve(rows);
    }

    fn column(self, _: &Names) -> Column {
        Column::Label { codes: self.codes, names: self.texts }
    }
}

impl Cell for String {
    const KIND: Kind = Kind::Text;
    type Store = Texts;

    fn put(self, store: &mut Texts) {
        Some(self).put(store);
    }
}

impl Cell for Option<String> {
    const KIND: Kind = Kind::Text;
    type Store = Texts;

    fn put(self, store: &mut Texts) {
        let code = match self {
            None => u32::MAX,
            Some(text) if text.is_empty() => 0,
            Some(text) => {
                if store.texts.last() != Some(&text) {
                    store.texts.push(text);
                }
                store.texts.len() as u32 - 1
            }
        };
        store.codes.push(code);
    }
}
