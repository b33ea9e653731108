//! Plans of links that send at given times.

use super::range::{Check, LONGEST_NS, refuse, within};
use network::{Opportunities, Train, Trains};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Duration;

/// Times at which a link may send.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpportunitiesPlan {
    /// Times since the start of a round, in order and in units of `unit_ns`; the last time ends the round.
    pub times: Vec<u64>,
    /// The unit of time in nanoseconds.
    pub unit_ns: u64,
    /// Maximum bytes sent at each of the times.
    pub bytes: u32,
    /// Whether rounds repeat.
    pub repeat: bool,
    /// Time within the first round at which the run begins.
    pub offset_ns: u64,
    /// Trains of packets recorded on an idle path; `None`: packets after a pause are treated like all other packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub light: Option<TrainsPlan>,
}

/// Recorded trains of packets.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrainsPlan {
    /// For each train, in units of `unit_ns`: its sending time, the delay of its first packet, and each packet's
    /// arrival time relative to the first packet.
    pub trains: Vec<Vec<u64>>,
    /// Pause without departures after which a packet begins a train.
    pub idle_ns: u64,
}

impl OpportunitiesPlan {
    /// Rejects settings that are out of range. `path` is the path of the opportunities.
    pub(super) fn check(&self, path: &str, duration_ns: u64) -> Check {
        within(format!("{path}.bytes"), self.bytes, 1..=1_000_000_000)?;
        within(format!("{path}.unit_ns"), self.unit_ns, 1..=1_000_000_000)?;
        within(format!("{path}.offset_ns"), self.offset_ns, 0..=LONGEST_NS)?;
        let last = self.times.last().copied().unwrap_or(0);
        if last == 0 {
            refuse!(format!("{path}.times"), "a round has no length; add a time after zero");
        }
        within(format!("{path}.times"), last, 0..=LONGEST_NS / self.unit_ns)?;
        if let Some(n) = self.times.windows(2).position(|pair| pair[1] < pair[0]) {
            refuse!(format!("{path}.times[{}]", n + 1), "earlier than the time before it; sort the times");
        }
        if let Some(light) = &self.light {
            light.check(&format!("{path}.light"), self.unit_ns)?;
        }
        if !self.repeat && last * self.unit_ns < self.offset_ns + duration_ns {
            refuse!(path, "the last opportunity is before the end of the run; set repeat");
        }
        Ok(())
    }

    /// Builds the opportunities.
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
                refuse!(path, "needs a time, a delay and offsets");
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
                refuse!(path, "has an offset that is earlier than the offset before it; sort the offsets");
            }
        }
        let times: Vec<u64> = self.trains.iter().map(|train| train[0]).collect();
        if times.len() < 2 || times[times.len() - 1] == 0 || times.windows(2).any(|pair| pair[1] < pair[0]) {
            refuse!(
                format!("{path}.trains"),
                "needs two or more trains, in the order of time, the last after zero"
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
