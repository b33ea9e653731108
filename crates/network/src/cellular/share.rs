//! Schedulers, which divide the resource blocks of a slot.

/// Scheduling algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Law {
    /// Users take turns.
    RoundRobin,
    /// The user with the highest ratio of achievable rate to average throughput is served next: A. Jalali, R.
    /// Padovani and R. Pankaj, VTC 2000.
    ProportionalFair,
}

/// A user that has something to send.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// Index of the user.
    pub user: usize,
    /// Bytes that the user could send with all resource blocks of the slot.
    pub bytes: u64,
}

/// The scheduler of one direction.
#[derive(Clone, Debug)]
pub struct Share {
    law: Law,
    /// The user that was last served.
    last: usize,
    /// For each user, the exponential average of bytes per slot, and the slot of its last update.
    had: Vec<(f64, u64)>,
    /// Factor by which an average decays per slot.
    kept: f64,
}

impl Share {
    /// Create a scheduler. Averages have a memory of `memory` slots.
    pub fn new(law: Law, users: usize, memory: u64) -> Share {
        Share {
            law,
            last: users.saturating_sub(1),
            had: vec![(0.0, 0); users],
            kept: 1.0 - 1.0 / memory as f64,
        }
    }

    /// The index, within `candidates`, of the user that is served next in a slot.
    pub fn next(&self, candidates: &[Candidate], slot: u64) -> Option<usize> {
        let users = self.had.len();
        let places = 0..candidates.len();
        match self.law {
            Law::RoundRobin => places.min_by_key(|&n| (candidates[n].user + users - self.last - 1) % users),
            Law::ProportionalFair => {
                let gain = |n: &usize| {
                    candidates[*n].bytes as f64 / self.had(candidates[*n].user, slot).max(f64::MIN_POSITIVE)
                };
                places.min_by(|a, b| gain(b).total_cmp(&gain(a)))
            }
        }
    }

    fn had(&self, user: usize, slot: u64) -> f64 {
        let (bytes, until) = self.had[user];
        bytes * self.kept.powi((slot - until).min(1 << 20) as i32)
    }

    /// Record that a user is served in a slot.
    pub fn served(&mut self, user: usize, bytes: u64, slot: u64) {
        self.last = user;
        self.had[user] = (self.had(user, slot) + (1.0 - self.kept) * bytes as f64, slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of slots that each user gets if all users always have something to send.
    fn slots(law: Law, bytes: &[u64]) -> Vec<u64> {
        let mut share = Share::new(law, bytes.len(), 100);
        let mut slots = vec![0; bytes.len()];
        let all: Vec<Candidate> =
            bytes.iter().enumerate().map(|(user, &bytes)| Candidate { user, bytes }).collect();
        for slot in 0..10_000 {
            let user = share.next(&all, slot).unwrap();
            share.served(user, bytes[user], slot);
            slots[user] += 1;
        }
        slots
    }

    #[test]
    fn equal_users_have_equal_shares() {
        for law in [Law::RoundRobin, Law::ProportionalFair] {
            for n in [2, 3, 7] {
                let found = slots(law, &vec![9_000; n]);
                assert!(
                    found.iter().all(|&count| count.abs_diff(10_000 / n as u64) <= 100 / n as u64),
                    "{found:?}"
                );
            }
        }
    }

    #[test]
    fn users_of_unequal_channels_have_equal_time() {
        let found = slots(Law::ProportionalFair, &[9_000, 3_000, 500]);
        assert!(found.iter().all(|&count| count.abs_diff(3_333) <= 33), "{found:?}");
    }
}
