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
    /// What ended the work of the first thread, of those that panicked in this window, and its number.
    panic: Mutex<Option<(usize, Box<dyn Any + Send>)>>,
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
    /// As [`advance`](Windows::advance), on a thread per share of the islands. None if the system gives no more threads; then
    /// nothing has been done.
    pub(super) fn advance_on_threads(&mut self, until: Time, left: &mut usize) -> Option<Time> {
        let first = Window { done: self.done, left: *left, over: self.done > until || *left == 0 };
        let workers = Workers {
            windows: self,
            until,
            barrier: Barrier::new(self.shares.len()),
            window: Mutex::new(first),
            turns: AtomicUsize::new(0),
            panic: Mutex::new(None),
        };
        let started = thread::scope(|scope| {
            let mut window = lock(&workers.window); // no thread goes on before all are there
            let started = (1..workers.windows.shares.len()).all(|thread| {
                let workers = &workers;
                thread::Builder::new().spawn_scoped(scope, move || workers.work(thread)).is_ok()
            });
            window.over |= !started;
            drop(window);
            if started {
                workers.work(0);
            }
            started
        });
        if let Some((_, panic)) = lock(&workers.panic).take() {
            resume_unwind(panic);
        }
        let Window { done, left: rest, .. } = *lock(&workers.window);
        if !started {
            return None;
        }
        (self.done, *left) = (done, rest);
        self.serve_all();
        Some(self.done - NANOSECOND)
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
            self.guard(thread, || self.serve(thread, window.done));
            self.barrier.wait();
            self.guard(thread, || {
                let turns = lock(&self.windows.shares[thread]).run(self.windows.end(window.done, self.until));
                self.turns.fetch_add(turns, Ordering::Relaxed);
            });
            if self.barrier.wait().is_leader() {
                self.guard(thread, || self.next_window());
                lock(&self.window).over |= lock(&self.panic).is_some();
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
        window.over = window.done > self.until || window.left == 0;
    }

    /// Does something that may panic, so that the others do not wait for ever.
    fn guard(&self, thread: usize, act: impl FnOnce()) {
        // All of the run is given up after a panic, so what is half done is never seen.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(act)) {
            let mut first = lock(&self.panic);
            if first.as_ref().is_none_or(|(other, _)| thread < *other) {
                *first = Some((thread, panic));
            }
        }
    }
}
