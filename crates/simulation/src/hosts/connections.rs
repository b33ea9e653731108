//! The connections of a flow.

use super::connection::Connection;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use units::Time;

/// Open connections of a flow, by stream number.
///
/// Stream 0 is the only connection of a flow with a single connection. This connection is stored inline, so that its
/// packets need neither a search nor a pointer. A single connection has two actors in the schedule. Several connections
/// of a flow share one actor, and this type stores their wake-ups.
#[repr(C)]
pub struct Connections {
    /// Earliest wake-up.
    next: Time,
    single: Option<Connection>,
    several: BTreeMap<u32, Box<Several>>,
    /// Wake-ups. Outdated entries are never later than the current wake-up of their connection.
    wakeups: BinaryHeap<Reverse<(Time, u32)>>,
}

/// Stream number of one of several connections, from 1 to `count` - 1. `connection` is counted from 1. Stream number 0
/// is used for the connection of a flow with a single connection.
pub fn stream_number(connection: u32, count: u32) -> u32 {
    1 + (connection - 1) % (count - 1)
}

/// A connection of a flow with several connections.
struct Several {
    connection: Connection,
    /// Earliest wake-up that was requested.
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

    /// The connection of a flow with a single connection; `None` if the flow has several connections.
    #[inline]
    pub fn single(&self) -> Option<&Connection> {
        self.single.as_ref()
    }

    /// Mutable [`single`](Self::single).
    #[inline]
    pub fn single_mut(&mut self) -> Option<&mut Connection> {
        self.single.as_mut()
    }

    /// All connections, lowest stream number first.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Connection)> {
        let several = self.several.iter().map(|(&id, found)| (id, &found.connection));
        self.single.iter().map(|connection| (0, connection)).chain(several)
    }

    /// All connections, mutable, lowest stream number first.
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

    /// Removes a connection and returns it.
    pub fn remove(&mut self, id: u32) -> Option<Connection> {
        if id == 0 {
            return self.single.take();
        }
        self.several.remove(&id).map(|found| found.connection)
    }

    /// Schedules the connection with stream number `id`, one of several, to run at `time`.
    pub fn request(&mut self, id: u32, time: Time) {
        if let Some(found) = self.several.get_mut(&id)
            && time < found.asked
        {
            found.asked = time;
            self.wakeups.push(Reverse((time, id)));
            self.next = self.next.min(time);
        }
    }

    /// Earliest wake-up of several connections.
    #[inline]
    pub fn next(&self) -> Time {
        self.next
    }

    /// Removes a wake-up that is due and returns its stream number. The connection must [`request`](Self::request) its
    /// next wake-up.
    pub fn due(&mut self, now: Time) -> Option<u32> {
        while self.next <= now {
            let Reverse((time, id)) = self.wakeups.pop()?;
            self.next = self.wakeups.peek().map_or(Time::NEVER, |first| first.0.0);
            // A wake-up with another time is outdated: the connection has run since the request and has requested
            // another wake-up.
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
