//! One direction of a cell: its slots, and the sharing of slots between users.

use super::background::Background;
use super::blocks::Sizes;
use super::port::{Part, Port};
use super::share::{Candidate, Share};
use super::slots::Slots;
use units::{Duration, Time};

/// The downlink or the uplink.
pub struct Way<P> {
    pub slots: Slots,
    sizes: Sizes,
    resource_blocks: u64,
    share: Share,
    /// Background users. The user indices of background users follow the indices of the ports.
    background: Background,
    /// Time from the end of a slot until its blocks are decoded.
    processing: Duration,
    pub ports: Vec<Port<P>>,
    /// The next slot in which a port has something to send; [`Time::NEVER`] if no port has anything to send.
    pub next: Time,
    /// Users that may send new data in a slot. Stored as a field so that the memory is reused.
    candidates: Vec<Candidate>,
    /// Number of slots in which anything was sent.
    pub used: u64,
}

impl<P: Copy> Way<P> {
    /// Create an idle direction.
    pub fn new(
        slots: Slots,
        sizes: Sizes,
        resource_blocks: u64,
        share: Share,
        background: Background,
        processing: Duration,
        ports: Vec<Port<P>>,
    ) -> Way<P> {
        Way {
            slots,
            sizes,
            resource_blocks,
            share,
            background,
            processing,
            ports,
            next: Time::NEVER,
            candidates: Vec::new(),
            used: 0,
        }
    }

    /// Update the next slot, because the port of `user` has something to send since `now`. A slot that begins at `now`
    /// is too early.
    pub fn plan_for(&mut self, user: usize, now: Time) {
        let wants = self.ports[user].wants(now + Duration::from_nanos(1));
        self.next = self.next.min(self.slots.at_or_after(wants));
    }

    /// Serve the next slot. Retransmissions come first, in the order of their age, then new blocks. A user has at
    /// most one block per slot.
    pub fn serve(&mut self) {
        let start = self.next;
        let (symbols, slot) = (self.slots.symbols(start), self.slots.number(start));
        let end = start + self.slots.length() + self.processing;
        let mut free = self.resource_blocks;
        self.find_candidates(start, symbols);
        while let Some((user, needed)) = self.next_repeat(start, symbols, free) {
            let part = self.part(start, needed, free);
            self.ports[user].repeat(&part, end);
            self.candidates.retain(|candidate| candidate.user != user);
            free -= needed;
        }
        while free > 0
            && let Some(place) = self.share.next(&self.candidates, slot)
        {
            let Candidate { user, .. } = self.candidates.swap_remove(place);
            free -= self.send(user, start, symbols, free, end);
        }
        self.used += u64::from(free < self.resource_blocks);
        let from = start + self.slots.length();
        let wants = self.ports.iter().map(|port| port.wants(from)).min().unwrap_or(Time::NEVER);
        self.next = self.slots.at_or_after(wants);
    }

    fn part(&self, start: Time, own: u64, free: u64) -> Part {
        let all = self.resource_blocks;
        Part { start, length: self.slots.length(), before: all - free, own, all }
    }

    /// Find the users that may send new data. Background users have the highest scheme of the cell.
    fn find_candidates(&mut self, start: Time, symbols: u64) {
        self.candidates.clear();
        for (user, port) in self.ports.iter_mut().enumerate() {
            if port.wanted(start) > 0 {
                let mcs = port.adaptation.choose(start);
                let bytes = self.sizes.bytes(mcs, symbols, self.resource_blocks);
                self.candidates.push(Candidate { user, bytes });
            }
        }
        let bytes = self.sizes.bytes(self.sizes.highest(), symbols, self.resource_blocks);
        let others = self.background.busy(start).map(|n| Candidate { user: self.ports.len() + n, bytes });
        self.candidates.extend(others);
    }

    /// The user with the oldest due retransmission that fits into the slot, and the resource blocks of this
    /// retransmission.
    fn next_repeat(&self, start: Time, symbols: u64, free: u64) -> Option<(usize, u64)> {
        let due = self.ports.iter().enumerate().filter_map(|(user, port)| {
            let (block, since) = port.due(start)?;
            let needed = self.sizes.needed(block.mcs, symbols, block.bytes);
            (needed <= free).then_some((since, user, needed))
        });
        due.min().map(|(_, user, needed)| (user, needed))
    }

    /// Send a new block of a user. Return the resource blocks that the block takes. A background user takes all free
    /// resource blocks.
    fn send(&mut self, user: usize, start: Time, symbols: u64, free: u64, end: Time) -> u64 {
        let Some(port) = self.ports.get_mut(user) else {
            let bytes = self.sizes.bytes(self.sizes.highest(), symbols, free);
            self.share.served(user, bytes, self.slots.number(start));
            return free;
        };
        let mcs = port.adaptation.mcs();
        let own = self.sizes.needed(mcs, symbols, port.wanted(start)).min(free);
        let bytes = self.sizes.bytes(mcs, symbols, own);
        let part = self.part(start, own, free);
        if !self.ports[user].send(mcs, bytes, &part, end) {
            return 0;
        }
        self.share.served(user, bytes, self.slots.number(start));
        own
    }
}
