//! A first-in, first-out buffer that counts its backlog. Most disciplines use this buffer.

use super::discipline::{Backlog, Waiting};
use crate::{Packet, Ring};
use units::Time;

/// Packets in the order of their arrival.
#[derive(Clone, Debug)]
pub(crate) struct Fifo<P> {
    ring: Ring<Waiting<P>>,
    backlog: Backlog,
}

impl<P: Copy> Fifo<P> {
    pub(crate) fn push(&mut self, packet: Packet<P>, now: Time) {
        self.append(Waiting { packet, since: now });
    }

    /// Append a packet that has already waited elsewhere.
    pub(crate) fn append(&mut self, waiting: Waiting<P>) {
        self.backlog.add(waiting.packet.size);
        self.ring.push(waiting);
    }

    pub(crate) fn pop(&mut self) -> Option<Waiting<P>> {
        let next = *self.ring.pop()?;
        self.backlog.remove(next.packet.size);
        Some(next)
    }

    /// Remove the packet at index `n`, counted from the oldest.
    pub(crate) fn remove(&mut self, n: usize) -> Option<Waiting<P>> {
        let found = self.ring.remove(n)?;
        self.backlog.remove(found.packet.size);
        Some(found)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Waiting<P>> + '_ {
        self.ring.iter()
    }

    pub(crate) fn front(&self) -> Option<&Waiting<P>> {
        self.ring.front()
    }

    pub(crate) fn backlog(&self) -> Backlog {
        self.backlog
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }
}

impl<P: Copy> Default for Fifo<P> {
    fn default() -> Self {
        Fifo { ring: Ring::new(), backlog: Backlog::default() }
    }
}
