//! The connections of a flow.

use super::connection::Connection;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use units::Time;

/// The open connections of a flow by the number of their stream.
///
/// Stream 0 is that of a flow with a single connection. It stands here itself, so that its packets meet neither search nor
/// pointer, and has actors of its own in the schedule. The others share one, and their wake-ups are kept here.
#[repr(C)]
pub struct Connections {
    /// The first of the wake-ups.
    next: Time,
    single: Option<Connection>,
    several: BTreeMap<u32, Box<Several>>,
    /// When they want to run. What is here may be outdated, but never too late.
    wakeups: BinaryHeap<Reverse<(Time, u32)>>,
}

/// The number of a stream below `count` for one of several connections, which are counted from 1. It is never 0, which is that
/// of a single connection.
pub fn stream_number(connection: u32, count: u32) -> u32 {
    1 + (connection - 1) % (count - 1)
}

/// One of several connections.
struct Several {
    connection: Connection,
    /// The earliest wake-up that was asked for.
    asked: Time,
}

impl Default for Connections {
    fn default() -> Connections {
        let (several, wakeups) = (BTreeMap::new(), BinaryHeap::new());
        Connections { single: None, several, wakeups, next: Time::NEVER }
    }
}

impl Connections {
    /// The connection with stream number `id`.
    #[inline]
    pub fn get_mut(&mut self, id: u32) -> Option<&mut Connection> {
        if id == 0 {
            return self.single.as_mut();
        }
        self.several.get_mut(&id).map(|found| &mut found.connection)
    }

    /// That of a flow with a single connection.
    #[inline]
    pub fn single(&self) -> Option<&Connection> {
        self.single.as_ref()
    }

    /// As [`single`](Self::single), to be changed.
    #[inline]
    pub fn single_mut(&mut self) -> Option<&mut Connection> {
        self.single.as_mut()
    }

    /// All of them, oldest stream number first.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Connection)> {
        let several = self.several.iter().map(|(&id, found)| (id, &found.connection));
        self.single.iter().map(|connection| (0, connection)).chain(several)
    }

    /// The same, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Connection> {
        let several = self.several.values_mut().map(|found| &mut found.connection);
        self.single.iter_mut().chain(several)
    }

    /// Adds a connection.
    pub fn insert(&mut self, id: u32, connection: Connection) {
        if id == 0 {
            self.single = Some(connection);
        } else {
            self.several.insert(id, Box::new(Several { connection, asked: Time::NEVER }));
        }
    }

    /// Takes a connection out.
    pub fn remove(&mut self, id: u32) -> Option<Connection> {
        if id == 0 {
            return self.single.take();
        }
        self.several.remove(&id).map(|found| found.connection)
    }

    /// One of several connections wants to run at `time`.
    pub fn request(&mut self, id: u32, time: Time) {
        if let Some(found) = self.several.get_mut(&id)
            && time < found.asked
        {
            found.asked = time;
            self.wakeups.push(Reverse((time, id)));
            self.next = self.next.min(time);
        }
    }

    /// When the first of several connections wants to run.
    #[inline]
    pub fn next(&self) -> Time {
        self.next
    }

    /// The stream number of a connection that wanted to run by `now`, which has to [`request`](Self::request) again.
    pub fn due(&mut self, now: Time) -> Option<u32> {
        while self.next <= now {
            let Reverse((time, id)) = self.wakeups.pop()?;
            self.next = self.wakeups.peek().map_or(Time::NEVER, |first| first.0.0);
            // Any other time is outdated: the connection has run since, and has asked again.
            if let Some(found) = self.several.get_mut(&id).filter(|found| found.asked == time) {
                found.asked = Time::NEVER;
                return Some(id);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_connections_never_have_the_stream_of_a_single_one() {
        let numbers: Vec<u32> = (1..=7).map(|connection| stream_number(connection, 4)).collect();
        assert_eq!(numbers, [1, 2, 3, 1, 2, 3, 1]);
    }
}
