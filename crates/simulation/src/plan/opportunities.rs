//! Plans of links that send at given times.

use super::range::{Check, LONGEST_NS, refuse, within};
use network::{Opportunities, Train, Trains};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Duration;

/// Moments at which a link may send.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpportunitiesPlan {
    /// When, from the beginning of a round on, in order and in units; the last one ends the round.
    pub times: Vec<u64>,
    /// The unit of time in nanoseconds.
    pub unit_ns: u64,
    /// Bytes that each carries.
    pub bytes: u32,
    /// A round begins where another ends.
    pub repeat: bool,
    /// The run begins at this time of the first round.
    pub offset_ns: u64,
    /// Trains of packets that were sent while the path was idle; None: who comes after a pause is treated as any other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub light: Option<TrainsPlan>,
}

/// Recorded trains of packets.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrainsPlan {
    /// Of each, in units: when it was sent, the delay of its first packet, and how long after that each packet arrived.
    pub trains: Vec<Vec<u64>>,
    /// How long nothing leaves before a packet begins a train.
    pub idle_ns: u64,
}

impl OpportunitiesPlan {
    /// Refuses what makes no sense; `path` is that of the opportunities.
    pub(super) fn check(&self, path: &str, duration_ns: u64) -> Check {
        within(format!("{path}.bytes"), self.bytes, 1..=1_000_000_000)?;
        within(format!("{path}.unit_ns"), self.unit_ns, 1..=1_000_000_000)?;
        within(format!("{path}.offset_ns"), self.offset_ns, 0..=LONGEST_NS)?;
        let last = self.times.last().copied().unwrap_or(0);
        if last == 0 {
            refuse!(format!("{path}.times"), "a round of no length; there has to be one after zero");
        }
        within(format!("{path}.times"), last, 0..=LONGEST_NS / self.unit_ns)?;
        if let Some(n) = self.times.windows(2).position(|pair| pair[1] < pair[0]) {
            refuse!(format!("{path}.times[{}]", n + 1), "earlier than the one before it");
        }
        if let Some(light) = &self.light {
            light.check(&format!("{path}.light"), self.unit_ns)?;
        }
        if !self.repeat && last * self.unit_ns < self.offset_ns + duration_ns {
            refuse!(
                path,
                "nothing is ever sent after the last one, before the end of the run; let them repeat"
            );
        }
        Ok(())
    }

    /// Makes them.
    pub(crate) fn build(&self) -> Opportunities {
        let times = self.times.iter().map(|time| Duration::from_nanos(time * self.unit_ns)).collect();
        let offset = Duration::from_nanos(self.offset_ns);
        let made = Opportunities::new(times, self.bytes, self.repeat, offset);
        let Some(light) = &self.light else { return made };
        let idle = Duration::from_nanos(light.idle_ns);
        made.with_trains(Trains::new(light.build(self.unit_ns), idle, self.repeat, offset))
    }
}

impl TrainsPlan {
    fn check(&self, path: &str, unit_ns: u64) -> Check {
        within(format!("{path}.idle_ns"), self.idle_ns, 0..=LONGEST_NS)?;
        for (n, train) in self.trains.iter().enumerate() {
            let path = format!("{path}.trains[{n}]");
            let Some((first, offsets)) = train.split_first_chunk::<2>() else {
                refuse!(path, "has a time, a delay and offsets");
            };
            let most = LONGEST_NS / unit_ns;
            for (n, value) in first.iter().enumerate() {
                within(format!("{path}[{n}]"), *value, 0..=most)?;
            }
            within(
                format!("{path}[{}]", train.len() - 1),
                offsets.last().copied().unwrap_or(most + 1),
                0..=most,
            )?;
            if offsets.windows(2).any(|pair| pair[1] < pair[0]) {
                refuse!(path, "has an offset that is earlier than the one before it");
            }
        }
        let times: Vec<u64> = self.trains.iter().map(|train| train[0]).collect();
        if times.len() < 2 || times[times.len() - 1] == 0 || times.windows(2).any(|pair| pair[1] < pair[0]) {
            refuse!(
                format!("{path}.trains"),
                "there are two or more, in the order of time, the last after zero"
            );
        }
        Ok(())
    }

    fn build(&self, unit_ns: u64) -> Vec<Train> {
        let long = |n: &u64| Duration::from_nanos(n * unit_ns);
        let made = |train: &Vec<u64>| Train {
            at: long(&train[0]),
            delay: long(&train[1]),
            offsets: train[2..].iter().map(long).collect(),
        };
        self.trains.iter().map(made).collect()
    }
}
