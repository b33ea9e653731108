//! What an application that uses many connections sees of them, and what it can ask for.

use crate::tally::Playback;
use units::Time;

/// Decides what is transferred when, and over which connections. It never sees a packet.
pub trait Application: Send {
    /// When it wants to run.
    fn next(&self) -> Time;

    /// Does what is due.
    fn run(&mut self, now: Time, orders: &mut Orders);

    /// The transfer that it asked for on a connection is complete.
    fn done(&mut self, now: Time, connection: u32, orders: &mut Orders);

    /// What its viewer has seen by `now`, if it plays something.
    fn playback(&self, _now: Time) -> Option<Playback> {
        None
    }
}

/// What an application asks for; carried out at once, in order.
#[derive(Debug, Default)]
pub struct Orders {
    /// Connections opened so far.
    opened: u32,
    list: Vec<Order>,
}

/// One thing that an application asks for. Connections have the numbers that [`Orders::open`] gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// A connection for data from the flow's sender to its receiver; with `requests` the other way, too.
    Open {
        /// Its number.
        connection: u32,
        /// The receiver asks for what it gets.
        requests: bool,
    },
    /// A transfer over a connection that has none at present.
    Transfer {
        /// Over which.
        connection: u32,
        /// What to transfer.
        job: Job,
    },
    /// No more transfers over a connection: it goes.
    Close {
        /// Which.
        connection: u32,
    },
}

/// One transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// Payload from the flow's sender to its receiver.
    pub bytes: u64,
    /// Payload that the receiver sends first to ask for it; 0 where it does not ask.
    pub request: u64,
    /// The page that it belongs to, from 1; 0 where there are no pages.
    pub page: u32,
}

impl Orders {
    /// Opens a connection; returns its number, counted from 1.
    pub fn open(&mut self, requests: bool) -> u32 {
        self.opened += 1;
        self.list.push(Order::Open { connection: self.opened, requests });
        self.opened
    }

    /// Starts a transfer.
    pub fn transfer(&mut self, connection: u32, job: Job) {
        self.list.push(Order::Transfer { connection, job });
    }

    /// Closes a connection.
    pub fn close(&mut self, connection: u32) {
        self.list.push(Order::Close { connection });
    }

    /// Takes everything that was asked for.
    pub(super) fn take(&mut self, into: &mut Vec<Order>) {
        into.append(&mut self.list);
    }
}
