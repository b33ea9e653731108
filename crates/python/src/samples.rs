//! Samples of a run before its end.

use crate::tables::{Streams, encoded};
use arrow_schema::ArrowError;
use simulation::samples::{LinkRow, SampleRecorder, SeriesRow};
use simulation::{Names, Plan, Rows};
use std::sync::{Arc, Mutex, PoisonError};

/// Samples since the last call of [`taken`](Samples::taken).
pub struct Samples {
    rows: Arc<Mutex<Sampled>>,
    names: Names,
}

#[derive(Default)]
struct Sampled {
    series: Rows<SeriesRow>,
    links: Rows<LinkRow>,
}

struct Recorder(Arc<Mutex<Sampled>>);

impl Samples {
    /// An empty store for a run of `plan`.
    pub fn new(plan: &Plan) -> Samples {
        Samples { rows: Arc::default(), names: Names::of_plan(plan) }
    }

    /// The recorder that fills this store.
    pub fn recorder(&self) -> Box<dyn SampleRecorder> {
        Box::new(Recorder(Arc::clone(&self.rows)))
    }

    /// Removes and returns the tables "series" and "links".
    pub fn taken(&self) -> Result<Streams, ArrowError> {
        let Sampled { series, links } =
            std::mem::take(&mut *self.rows.lock().unwrap_or_else(PoisonError::into_inner));
        encoded(vec![("series", series.table(&self.names)), ("links", links.table(&self.names))])
    }
}

impl Recorder {
    fn add(&self, add: impl FnOnce(&mut Sampled)) {
        add(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl SampleRecorder for Recorder {
    fn flow(&mut self, sample: &SeriesRow) {
        self.add(|sampled| sampled.series.push(sample.clone()));
    }

    fn link(&mut self, sample: &LinkRow) {
        self.add(|sampled| sampled.links.push(sample.clone()));
    }
}
