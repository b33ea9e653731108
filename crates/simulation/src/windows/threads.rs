//! Windows on several threads: in each window, shared links are served first, then islands run, with a barrier in
//! between. A barrier costs more than a short window. The last thread that arrives at the barrier therefore does all
//! sequential work, and all other threads wait only once.
//!
//! A thread takes the next share of islands as soon as it has finished a share, as the run time of shares is not known
//! in advance.

use super::step::NANOSECOND;
use super::{Windows, lock};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::thread;
use units::Time;

/// Threads that run windows together.
struct Workers<'a> {
    windows: &'a Windows,
    until: Time,
    meeting: Mutex<Meeting>,
    /// Signals that all threads have reached the barrier.
    met: Condvar,
    /// Current window.
    window: Mutex<Window>,
    /// Index of the next share of islands that a thread takes.
    next_share: AtomicUsize,
    /// Turns in the current window.
    turns: AtomicUsize,
    /// If links or shares panicked in this window: the lowest index of such a link or share, and the payload of its
    /// panic.
    panic: Mutex<Option<(usize, Box<dyn Any + Send>)>>,
}

/// Barrier of all threads.
#[derive(Default)]
struct Meeting {
    /// Threads that wait at the barrier.
    waiting: usize,
    /// Number of times that all threads have met at the barrier so far.
    number: usize,
}

/// A window.
#[derive(Clone, Copy)]
struct Window {
    /// Time before which islands have run all events.
    done: Time,
    /// Turns that are left.
    left: usize,
    /// Whether no more windows are to be run.
    over: bool,
}

impl Windows {
    /// Does the work of [`advance`](Windows::advance) on all threads. Returns `None` if the system refuses a thread;
    /// nothing has been run if the result is `None`.
    pub(super) fn advance_on_threads(&mut self, until: Time, left: &mut usize) -> Option<Time> {
        let first = Window { done: self.done, left: *left, over: self.done > until || *left == 0 };
        let workers = Workers {
            windows: self,
            until,
            meeting: Mutex::default(),
            met: Condvar::new(),
            window: Mutex::new(first),
            next_share: AtomicUsize::new(0),
            turns: AtomicUsize::new(0),
            panic: Mutex::new(None),
        };
        let started = thread::scope(|scope| {
            let mut window = lock(&workers.window); // no thread starts work before all threads exist
            let started = (1..workers.windows.threads).all(|thread| {
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
        if self.done > until {
            self.serve_all(); // counters may be read after this call; in all other cases the threads serve the links in the next call
        }
        Some(self.done - NANOSECOND)
    }
}

impl Workers<'_> {
    /// Runs windows on one thread.
    fn work(&self, thread: usize) {
        if lock(&self.window).over {
            return;
        }
        if self.windows.in_sequence {
            self.meet(|| self.serve_in_sequence());
        }
        loop {
            let window = *lock(&self.window);
            if window.over {
                return;
            }
            if !self.windows.in_sequence {
                self.serve(window.done, (thread..self.windows.shared.len()).step_by(self.windows.threads));
                self.meet(|| ());
            }
            self.run(window.done);
            self.meet(|| {
                self.guard(usize::MAX, || self.next_window());
                lock(&self.window).over |= lock(&self.panic).is_some();
                self.serve_in_sequence();
            });
        }
    }

    /// Waits until all threads have arrived. The last thread calls `act` before all threads continue.
    fn meet(&self, act: impl FnOnce()) {
        let mut meeting = lock(&self.meeting);
        meeting.waiting += 1;
        if meeting.waiting == self.windows.threads {
            act();
            *meeting = Meeting { waiting: 0, number: meeting.number.wrapping_add(1) };
            self.met.notify_all();
        } else {
            let number = meeting.number;
            drop(self.met.wait_while(meeting, |meeting| meeting.number == number));
        }
    }

    /// Serves all shared links, if they cannot be served in parallel.
    fn serve_in_sequence(&self) {
        let window = *lock(&self.window);
        if self.windows.in_sequence && !window.over {
            self.serve(window.done, 0..self.windows.shared.len());
        }
    }

    fn serve(&self, done: Time, links: impl Iterator<Item = usize>) {
        links.for_each(|n| self.guard(n, || self.windows.serve(n, done)));
    }

    /// Runs shares of islands until no share is left.
    fn run(&self, done: Time) {
        let end = self.windows.end(done, self.until);
        loop {
            let n = self.next_share.fetch_add(1, Ordering::Relaxed);
            let Some(share) = self.windows.shares.get(n) else { return };
            self.guard(n, || {
                let turns = lock(share).run(end);
                self.turns.fetch_add(turns, Ordering::Relaxed);
            });
        }
    }

    /// Moves on to the next window.
    fn next_window(&self) {
        let mut window = lock(&self.window);
        self.next_share.store(0, Ordering::Relaxed);
        window.done = self.windows.begin_of_next(window.done, self.until);
        window.left = window.left.saturating_sub(self.turns.swap(0, Ordering::Relaxed));
        window.over = window.done > self.until || window.left == 0;
    }

    /// Calls `act` for the link or share with index `number` and catches panics, so that the other threads do not wait
    /// forever.
    fn guard(&self, number: usize, act: impl FnOnce()) {
        // The whole run is given up after a panic, so that inconsistent state is never seen.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(act)) {
            let mut first = lock(&self.panic);
            if first.as_ref().is_none_or(|(other, _)| number < *other) {
                *first = Some((number, panic));
            }
        }
    }
}
