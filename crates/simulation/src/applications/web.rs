//! Web browsing: pages of objects, one after the other.

use super::application::{Application, Job, Sockets};
use super::distribution::Draws;
use units::Time;

/// Loads one page after the other: first its document, then the objects in it over several connections at once. The
/// connections of a page are closed with it.
pub struct Web {
    next: Time,
    thinking: Draws,
    /// Objects per page, the document included.
    objects: Draws,
    sizes: Draws,
    /// Most connections at once.
    parallel: u32,
    request: u64,
    page: u32,
    /// Objects of the page that have not been requested yet.
    left: u64,
    /// Connections of the page.
    open: u32,
}

impl Web {
    /// Asks for the first page at `start`.
    pub fn new(
        start: Time,
        thinking: Draws,
        objects: Draws,
        sizes: Draws,
        parallel: u32,
        request: u64,
    ) -> Web {
        Web { next: start, thinking, objects, sizes, parallel, request, page: 0, left: 0, open: 0 }
    }

    fn ask(&mut self, connection: u32, sockets: &mut Sockets) {
        let job = Job { bytes: self.sizes.bytes(), request: self.request, page: self.page };
        sockets.transfer(connection, job);
        self.left -= 1;
    }

    fn open(&mut self, sockets: &mut Sockets) {
        self.open += 1;
        let connection = sockets.open(true);
        self.ask(connection, sockets);
    }
}

impl Application for Web {
    fn next(&self) -> Time {
        self.next
    }

    fn run(&mut self, _: Time, sockets: &mut Sockets) {
        self.next = Time::NEVER;
        self.page += 1;
        self.left = self.objects.bytes();
        self.open(sockets);
    }

    fn done(&mut self, now: Time, connection: u32, sockets: &mut Sockets) {
        if self.left > 0 {
            self.ask(connection, sockets);
        } else {
            sockets.close(connection);
            self.open -= 1;
        }
        while self.left > 0 && self.open < self.parallel {
            self.open(sockets);
        }
        if self.open == 0 {
            self.next = now + self.thinking.pause();
        }
    }
}
