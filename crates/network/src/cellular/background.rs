//! Background users: they are not simulated one by one, but compete for the resource blocks of the slots that others use.

use units::{Duration, Rng, Time};

/// How many there are, and when they have something to send.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// How many.
    pub users: usize,
    /// The share of the time in which each has something to send.
    pub share: f64,
    /// How long it then has, in the mean; exponentially distributed, as the times between are.
    pub burst: Duration,
}

/// The background users of one way.
#[derive(Clone, Debug)]
pub struct Background {
    load: Load,
    users: Vec<User>,
}

#[derive(Clone, Debug)]
struct User {
    busy: bool,
    /// When that changes.
    until: Time,
    rng: Rng,
}

impl Background {
    /// Each of them busy or idle by chance.
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

    /// Those that have something to send at a time, which is not before the last one.
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
    /// How long a user stays as it is.
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
        assert!((share - 0.3).abs() < 0.006, "{share}"); // 2,000 s hold some 60,000 independent states
    }
}
