//! Plans of applications.

use super::range::{Check, LONGEST_NS, MOST_BYTES, refuse, within};
use super::{DatagramPlan, PlanError, WritesPlan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most transfers that a flow may be expected to make.
const MOST_TRANSFERS: f64 = 1e7;
/// Most objects of a web page.
const MOST_OBJECTS: f64 = 1e5;
/// Most connections of a web page.
const MOST_CONNECTIONS: u32 = 1_000;
/// Highest bit rate of a video.
const MOST_BITRATE: u64 = 1_000_000_000_000;
/// Shortest piece of a video.
const SHORTEST_CHUNK_NS: u64 = 1_000_000;

/// What an application does, other than to send one stream of bytes.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum WorkloadPlan {
    /// One stream of bytes that the application writes at its own pace.
    Writes(WritesPlan),
    /// New connections at random times, each for one transfer from the sender to the receiver.
    Poisson {
        /// Mean time between two of them.
        interval_ns: f64,
        /// Payload of each.
        sizes: DistributionPlan,
    },
    /// A client that sends requests over one connection, with pauses. What the flow sends are the responses.
    RequestResponse {
        /// Payload of a request.
        request: DistributionPlan,
        /// Payload of an answer.
        response: DistributionPlan,
        /// Time between an answer and the next request.
        think: DistributionPlan,
    },
    /// A reader of web pages. What the flow sends are their objects.
    Web {
        /// Time between a page and the next one.
        think: DistributionPlan,
        /// Objects of a page, its document included.
        objects: DistributionPlan,
        /// Payload of an object.
        sizes: DistributionPlan,
        /// Most connections at once.
        connections: u32,
        /// Payload of a request.
        request_bytes: u64,
    },
    /// A viewer of a video. What the flow sends are its pieces.
    Video(VideoPlan),
    /// No connection at all.
    Datagrams(DatagramPlan),
    /// An application that [the caller provides](crate::External).
    External {
        /// Its name, with a colon in it.
        name: String,
    },
}

/// A video, and how it is watched.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VideoPlan {
    /// Bit rates of a piece, rising.
    pub bitrates_bps: Vec<u64>,
    /// Playing time of a piece.
    pub chunk_ns: u64,
    /// Most playing time that is loaded ahead.
    pub buffer_ns: u64,
    /// Playing time that must be there before the picture moves, at first and after it stood still.
    pub startup_ns: u64,
    /// How bit rates are chosen.
    pub rule: AbrPlan,
    /// Payload of a request.
    pub request_bytes: u64,
}

/// How the bit rate of the next piece is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum AbrPlan {
    /// By the rate at which pieces came.
    Rate {
        /// Share of that rate that a bit rate may have.
        safety: f64,
    },
    /// By how much is in the buffer.
    Buffer {},
}

/// Numbers that differ: bytes or nanoseconds.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum DistributionPlan {
    /// They do not differ.
    Constant {
        /// Each.
        value: f64,
    },
    /// Equally likely between two bounds.
    Uniform {
        /// The smallest.
        low: f64,
        /// The largest.
        high: f64,
    },
    /// Exponential.
    Exponential {
        /// Their mean.
        mean: f64,
    },
    /// Their logarithms have a normal distribution.
    Lognormal {
        /// Their own mean.
        mean: f64,
        /// Standard deviation of the natural logarithm.
        sigma: f64,
    },
    /// Bounded Pareto.
    Pareto {
        /// The larger, the fewer large numbers.
        shape: f64,
        /// The smallest.
        low: f64,
        /// The largest.
        high: f64,
    },
    /// Straight lines between points of a cumulative distribution.
    Cdf {
        /// Values and the share of numbers that do not exceed them, both rising; the last share is 1.
        points: Vec<(f64, f64)>,
    },
}

impl WorkloadPlan {
    /// It opens and closes connections in the course of the run.
    pub(crate) fn is_many(&self) -> bool {
        !matches!(self, WorkloadPlan::Writes(_) | WorkloadPlan::Datagrams(_))
    }

    /// Refuses numbers that make no sense; `path` is the workload's, `span_ns` how long it works at most.
    pub(super) fn check(&self, path: &str, span_ns: u64) -> Check {
        match self {
            WorkloadPlan::Writes(writes) => writes.check(path),
            WorkloadPlan::Poisson { interval_ns, sizes } => {
                within(format!("{path}.interval_ns"), *interval_ns, 1.0..=LONGEST_NS as f64)?;
                let expected = span_ns as f64 / interval_ns;
                if expected > MOST_TRANSFERS {
                    refuse!(
                        format!("{path}.interval_ns"),
                        "{expected:.0} arrivals are more than {MOST_TRANSFERS:.0}; let them come less often"
                    );
                }
                sizes.check_bytes(&format!("{path}.sizes"))
            }
            WorkloadPlan::RequestResponse { request, response, think } => {
                request.check_bytes(&format!("{path}.request"))?;
                response.check_bytes(&format!("{path}.response"))?;
                think.check_pause(&format!("{path}.think"))
            }
            WorkloadPlan::Web { think, objects, sizes, connections, request_bytes } => {
                think.check_pause(&format!("{path}.think"))?;
                objects.check(&format!("{path}.objects"), 1.0..=MOST_OBJECTS)?;
                sizes.check_bytes(&format!("{path}.sizes"))?;
                within(format!("{path}.connections"), *connections, 1..=MOST_CONNECTIONS)?;
                within(format!("{path}.request_bytes"), *request_bytes, 1..=MOST_BYTES)
            }
            WorkloadPlan::Video(video) => video.check(path),
            WorkloadPlan::Datagrams(datagrams) => datagrams.check(path),
            WorkloadPlan::External { .. } => Ok(()),
        }
    }
}

impl VideoPlan {
    fn check(&self, path: &str) -> Check {
        if self.bitrates_bps.is_empty() {
            refuse!(format!("{path}.bitrates_bps"), "there is none; name at least one");
        }
        let mut last = 0;
        for (n, &rate) in self.bitrates_bps.iter().enumerate() {
            within(format!("{path}.bitrates_bps[{n}]"), rate, last + 1..=MOST_BITRATE)?;
            last = rate;
        }
        within(format!("{path}.chunk_ns"), self.chunk_ns, SHORTEST_CHUNK_NS..=LONGEST_NS)?;
        within(format!("{path}.buffer_ns"), self.buffer_ns, self.chunk_ns..=LONGEST_NS)?;
        within(format!("{path}.startup_ns"), self.startup_ns, 0..=self.buffer_ns)?;
        within(format!("{path}.request_bytes"), self.request_bytes, 1..=MOST_BYTES)?;
        match self.rule {
            AbrPlan::Rate { safety } => within(format!("{path}.rule.safety"), safety, 0.01..=10.0),
            AbrPlan::Buffer {} => Ok(()),
        }
    }
}

impl DistributionPlan {
    /// Refuses what is no size.
    fn check_bytes(&self, path: &str) -> Check {
        self.check(path, 1.0..=MOST_BYTES as f64)
    }

    /// Refuses what is no time.
    fn check_pause(&self, path: &str) -> Check {
        self.check(path, 0.0..=LONGEST_NS as f64)
    }

    /// Refuses what may lie outside of a range, or is no distribution.
    fn check(&self, path: &str, range: std::ops::RangeInclusive<f64>) -> Check {
        let check = |name: &str, value: f64| within(format!("{path}.{name}"), value, range.clone());
        match self {
            DistributionPlan::Constant { value } => check("value", *value),
            DistributionPlan::Exponential { mean } => check("mean", *mean),
            DistributionPlan::Lognormal { mean, sigma } => {
                within(format!("{path}.sigma"), *sigma, 0.0..=5.0)?;
                check("mean", *mean)
            }
            DistributionPlan::Uniform { low, high } => {
                check("low", *low)?;
                within(format!("{path}.high"), *high, *low..=*range.end())
            }
            DistributionPlan::Pareto { shape, low, high } => {
                within(format!("{path}.shape"), *shape, 0.01..=100.0)?;
                within(format!("{path}.low"), *low, range.start().max(1.0)..=*range.end())?;
                within(format!("{path}.high"), *high, *low..=*range.end())
            }
            DistributionPlan::Cdf { points } => {
                let mut last = (*range.start(), 0.0);
                for (n, point) in points.iter().enumerate() {
                    within(format!("{path}.points[{n}][0]"), point.0, last.0..=*range.end())?;
                    within(format!("{path}.points[{n}][1]"), point.1, last.1..=1.0)?;
                    last = *point;
                }
                if last.1 < 1.0 {
                    refuse!(format!("{path}.points"), "the last share is {}; it must be 1", last.1);
                }
                Ok(())
            }
        }
    }
}
