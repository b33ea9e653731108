//! Background users: they compete with other users for resource blocks, but have no packets.

use units::{Duration, Rng, Time};

/// Number and activity of background users.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Number of users.
    pub users: usize,
    /// Share of the time in which each user has something to send.
    pub share: f64,
    /// Mean time for which a user has something to send. Busy and idle times are exponentially distributed.
    pub burst: Duration,
}

/// The background users of one direction.
#[derive(Clone, Debug)]
pub struct Background {
    load: Load,
    users: Vec<User>,
}

#[derive(Clone, Debug)]
struct User {
    busy: bool,
    /// Time of the next change.
    until: Time,
    rng: Rng,
}

impl Background {
    /// Create the users, each busy with probability `load.share`.
    pub fn new(load: Load, rng: impl Fn(usize) -> Rng) -> Background {
        let user = |n| {
            let mut rng = rng(n);
            let busy = rng.chance(load.share);
            let mut user = User { busy, until: Time::ZERO, rng };
            user.until = Time::ZERO + load.lasting(&mut user);
            user
        };
        Background { load, users: (0..load.users).map(user).collect() }
    }

    /// The users that are busy at `at`. Times of calls never decrease.
    pub fn busy(&mut self, at: Time) -> impl Iterator<Item = usize> + '_ {
        let load = self.load;
        self.users.iter_mut().enumerate().filter_map(move |(n, user)| {
            while user.until <= at {
                user.busy = !user.busy;
                let lasting = load.lasting(user);
                user.until += lasting;
            }
            user.busy.then_some(n)
        })
    }
}

impl Load {
    /// Draw the time until the state of a user changes.
    fn lasting(&self, user: &mut User) -> Duration {
        let burst = self.burst.as_nanos() as f64;
        let mean = if user.busy { burst } else { burst * (1.0 - self.share) / self.share };
        Duration::from_nanos((-mean * (1.0 - user.rng.unit()).ln()) as u64 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_busy_for_its_share_of_the_time() {
        let load = Load { users: 5, share: 0.3, burst: Duration::from_millis(50) };
        let mut it = Background::new(load, |n| Rng::stream(3, &format!("background/{n}")));
        let at = |n: u64| Time::from_nanos(n * 10_000_000);
        let busy: usize = (0..200_000).map(|n| it.busy(at(n)).count()).sum();
        let share = busy as f64 / 5.0 / 200_000.0;
        assert!((share - 0.3).abs() < 0.006, "{share}"); // 2,000 s have about 60,000 independent states
    }
}
