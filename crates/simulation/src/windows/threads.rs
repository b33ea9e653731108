//! Windows on several threads: shared links, then islands, and all threads wait for each other in between.

use super::{NANOSECOND, Windows, lock};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;
use units::Time;

/// Threads that run windows together, one per share of the islands.
struct Workers<'a> {
    windows: &'a Windows,
    until: Time,
    /// Where threads wait for each other.
    barrier: Barrier,
    /// The window that is run.
    window: Mutex<Window>,
    /// Turns in the present window.
    turns: AtomicUsize,
    /// What ended a thread's work early.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

/// A window.
#[derive(Clone, Copy)]
struct Window {
    /// Islands have run everything before it.
    done: Time,
    /// Turns that are left.
    left: usize,
    /// There is none: all has been done.
    over: bool,
}

impl Windows {
    /// As [`advance`](Windows::advance), on a thread per share of the islands.
    pub(super) fn advance_on_threads(&mut self, until: Time, left: &mut usize) -> Time {
        let first = Window { done: self.done, left: *left, over: self.done > until || *left == 0 };
        let workers = Workers {
            windows: self,
            until,
            barrier: Barrier::new(self.shares.len()),
            window: Mutex::new(first),
            turns: AtomicUsize::new(0),
            panic: Mutex::new(None),
        };
        thread::scope(|scope| {
            for thread in 1..workers.windows.shares.len() {
                let workers = &workers;
                scope.spawn(move || workers.work(thread));
            }
            workers.work(0);
        });
        if let Some(panic) = lock(&workers.panic).take() {
            resume_unwind(panic);
        }
        let Window { done, left: rest, .. } = *lock(&workers.window);
        (self.done, *left) = (done, rest);
        self.serve_all();
        self.done - NANOSECOND
    }
}

impl Workers<'_> {
    /// The work of a thread.
    fn work(&self, thread: usize) {
        loop {
            let window = *lock(&self.window);
            if window.over {
                return;
            }
            self.guard(|| self.serve(thread, window.done));
            self.barrier.wait();
            self.guard(|| {
                let turns = lock(&self.windows.shares[thread]).run(self.windows.end(window.done, self.until));
                self.turns.fetch_add(turns, Ordering::Relaxed);
            });
            if self.barrier.wait().is_leader() {
                self.next_window();
            }
            self.barrier.wait();
        }
    }

    /// Threads take shared links in turns, if none of them feeds another.
    fn serve(&self, thread: usize, done: Time) {
        let links = self.windows.shared.len();
        if self.windows.in_sequence {
            (0..links).filter(|_| thread == 0).for_each(|n| self.windows.serve(n, done));
        } else {
            (thread..links).step_by(self.windows.shares.len()).for_each(|n| self.windows.serve(n, done));
        }
    }

    /// Says which window comes next.
    fn next_window(&self) {
        let mut window = lock(&self.window);
        window.done = self.windows.begin_of_next(window.done, self.until);
        window.left = window.left.saturating_sub(self.turns.swap(0, Ordering::Relaxed));
        window.over = window.done > self.until || window.left == 0 || lock(&self.panic).is_some();
    }

    /// Does something that may panic, so that the others do not wait for ever.
    fn guard(&self, act: impl FnOnce()) {
        // All of the run is given up after a panic, so what is half done is never seen.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(act)) {
            lock(&self.panic).get_or_insert(panic);
        }
    }
}
