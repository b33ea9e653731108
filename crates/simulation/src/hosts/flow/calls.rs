//! The application of a flow: its turns and its calls.

use super::{Flow, Phase};
use crate::applications::{Job, Order};
use crate::hosts::connection::End;
use crate::hosts::connections::stream_number;
use crate::hosts::observer::Observer;
use crate::hosts::outbox::Outbox;
use crate::hosts::stats::Transfer;
use network::{Direction, RouteId};
use units::Time;

impl Flow {
    /// Runs the application if it is due and has not stopped.
    pub(super) fn run_application<R: Observer>(&mut self, out: &mut Outbox<'_, R>) {
        let now = out.now;
        if now < self.due {
            return;
        }
        if self.phase == Phase::Waiting {
            self.phase = Phase::Running;
            self.stats.begin = (now >= self.sampling.warmup()).then(|| self.snapshot(now));
            self.schedule_application();
        }
        if self.application.next() <= now {
            self.let_application_run(out);
        }
        if now >= self.stop {
            self.phase = Phase::Stopped;
            self.application.stop(&mut self.sockets);
            self.carry_out(out);
            self.close_idle(out);
        }
    }

    pub(super) fn let_application_run<R: Observer>(&mut self, out: &mut Outbox<'_, R>) {
        if let Some(connection) = self.connections.single() {
            self.sockets.stream.sent_bytes = connection.sender().sent_once_bytes();
            self.sockets.stream.acked_bytes = connection.sender().stats().acked_bytes;
        }
        self.application.run(out.now, &mut self.sockets);
        self.carry_out(out);
    }

    /// Called when the transfer of a connection is complete.
    #[cold]
    pub(super) fn on_done<R: Observer>(&mut self, id: u32, out: &mut Outbox<'_, R>) {
        self.end_transfer(out.now, id, true);
        if self.phase == Phase::Stopped {
            return self.close_idle(out);
        }
        let number = self.connections.get_mut(id).map_or(0, |connection| connection.number);
        self.application.done(out.now, number, &mut self.sockets);
        self.carry_out(out);
    }

    /// Carries out the calls of the application.
    fn carry_out<R: Observer>(&mut self, out: &mut Outbox<'_, R>) {
        let mut todo = std::mem::take(&mut self.todo);
        self.sockets.take(&mut todo);
        for order in todo.drain(..) {
            match order {
                Order::Open { connection, requests } => self.open(connection, requests, out),
                Order::Write { connection, bytes } => self.write(connection, bytes, out),
                Order::Transfer { connection, job } => self.begin(connection, job, out),
                Order::Close { connection } => self.close(self.id(connection), out),
            }
        }
        self.todo = todo;
        self.schedule_application();
    }

    /// Updates the times and events for which the application waits.
    fn schedule_application(&mut self) {
        let runs = self.phase == Phase::Running;
        self.due = if runs { self.application.next().min(self.stop) } else { Time::NEVER };
        self.blocked = runs && self.application.is_blocked();
    }

    /// Stream number of a connection. Stream numbers are reused once there have been more connections than stream
    /// numbers. An older connection that still has the number is then removed.
    fn id(&self, connection: u32) -> u32 {
        if self.is_stream { 0 } else { stream_number(connection, self.streams.count()) }
    }

    fn open<R: Observer>(&mut self, number: u32, requests: bool, out: &mut Outbox<'_, R>) {
        let id = self.id(number);
        self.forget(id, out);
        let opens_and_closes = !self.is_stream;
        let mut connection = self.factory.connection(out.now, number, requests, opens_and_closes);
        connection.open(out.now, out.segments);
        let client = connection.client();
        self.connections.insert(id, connection);
        let data = self.streams.stream(RouteId::new(self.number, Direction::Forward), id);
        out.recorder.opened(number, data);
        self.send(id, client, out);
    }

    fn write<R: Observer>(&mut self, number: u32, bytes: Option<u64>, out: &mut Outbox<'_, R>) {
        let id = self.id(number);
        if let Some(connection) = self.connections.get_mut(id) {
            connection.write(out.now, bytes, out.segments);
            self.send(id, End::Sender, out);
        }
    }

    fn begin<R: Observer>(&mut self, number: u32, job: Job, out: &mut Outbox<'_, R>) {
        let id = self.id(number);
        let Some(connection) = self.connections.get_mut(id) else { return };
        let row = self.transfers.len();
        connection.begin(out.now, row, job, out.segments);
        self.transfers.push(Transfer {
            number: row as u32 + 1,
            connection: number,
            page: job.page,
            start: out.now,
            finish: None,
            end: None,
            bytes: job.bytes,
            delivered_bytes: 0,
            sent_packets: 0,
            retransmitted_packets: 0,
            round_trips: if connection.delivered() == 0 { 2 } else { 1 },
        });
        self.send(id, if job.request > 0 { End::Receiver } else { End::Sender }, out);
    }

    /// Ends the transfer of a connection, if any, as complete or given up.
    pub(super) fn end_transfer(&mut self, now: Time, id: u32, complete: bool) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        let Some(progress) = connection.transfer.take() else { return };
        let stats = connection.sender().stats();
        let row = &mut self.transfers[progress.row];
        row.finish = complete.then_some(now);
        row.end = row.end.or(Some(now));
        row.delivered_bytes = connection.delivered() - progress.span.0;
        row.sent_packets = stats.sent_packets - progress.before.0;
        row.retransmitted_packets = stats.retransmitted_packets - progress.before.1;
        if complete && self.is_stream {
            self.stats.finish = Some(now);
        }
    }

    /// Closes a connection. Closing a stream ends its flow, but lost data are still retransmitted. Any other connection
    /// is removed when both of its ends have closed.
    fn close<R: Observer>(&mut self, id: u32, out: &mut Outbox<'_, R>) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        connection.close(out.now, out.segments);
        if !self.is_stream {
            let client = connection.client();
            return self.send(id, client, out);
        }
        if let Some(progress) = &connection.transfer {
            self.transfers[progress.row].end = Some(out.now);
        }
        self.end(out.now);
    }

    /// Removes a connection and adds its counters to the counters of past connections. A transfer in progress is given
    /// up.
    pub(super) fn forget<R: Observer>(&mut self, id: u32, out: &mut Outbox<'_, R>) {
        self.end_transfer(out.now, id, false);
        if let Some(mut connection) = self.connections.remove(id) {
            if let Some(delays) = connection.in_order().filter(|_| self.sampling.measures(out.now)) {
                self.stats.add_in_order(delays);
            }
            out.recorder.forgotten(self.number, connection.number);
            self.past.add(&connection, out.now);
        }
    }

    /// Closes connections without a transfer, after the application has stopped. The flow ends with its last transfer.
    fn close_idle<R: Observer>(&mut self, out: &mut Outbox<'_, R>) {
        let idle = self.connections.iter().filter(|(_, connection)| connection.transfer.is_none());
        let idle: Vec<u32> =
            idle.filter(|(_, connection)| !connection.is_closing()).map(|(id, _)| id).collect();
        idle.into_iter().for_each(|id| self.close(id, out));
        let goes_on = self.connections.iter().any(|(_, connection)| connection.transfer.is_some());
        if self.phase == Phase::Stopped && !goes_on {
            self.end(out.now);
        }
    }

    /// Ends the flow: no new data are sent from now on.
    fn end(&mut self, now: Time) {
        self.phase = Phase::Over;
        self.stats.end = Some(self.snapshot(now));
    }
}
