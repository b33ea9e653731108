//! Who gets the resource blocks of a slot.

/// The laws that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Law {
    /// Users take turns.
    RoundRobin,
    /// Who can get most, compared with what it has had: A. Jalali, R. Padovani and R. Pankaj, VTC 2000.
    ProportionalFair,
}

/// A user that has something to send.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// Its number.
    pub user: usize,
    /// Bytes that it could send with all resource blocks of the slot.
    pub bytes: u64,
}

/// The scheduler of one way.
#[derive(Clone, Debug)]
pub struct Share {
    law: Law,
    /// Who was served last.
    last: usize,
    /// Bytes per slot of each user, averaged exponentially, and the slot up to which.
    had: Vec<(f64, u64)>,
    /// Of an average, what remains after a slot.
    kept: f64,
}

impl Share {
    /// For so many users; averages have a memory of so many slots.
    pub fn new(law: Law, users: usize, memory: u64) -> Share {
        Share {
            law,
            last: users.saturating_sub(1),
            had: vec![(0.0, 0); users],
            kept: 1.0 - 1.0 / memory as f64,
        }
    }

    /// Whose turn it is in a slot: its place among the candidates.
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

    /// A user is served in a slot.
    pub fn served(&mut self, user: usize, bytes: u64, slot: u64) {
        self.last = user;
        self.had[user] = (self.had(user, slot) + (1.0 - self.kept) * bytes as f64, slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slots of each user if those always have something to send.
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
