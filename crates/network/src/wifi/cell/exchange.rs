//! Exchanges of frames: the frames on the air, their durations, and which frames arrive.

use super::{BEACON_INTERVAL, BEACONS, Cell, Content, Flight, Frame, Report};
use crate::PortId;
use crate::wifi::airtime::{Parts, Use};
use crate::wifi::timing::Timing;
use units::{Duration, Time};

impl<P: Copy> Cell<P> {
    /// Transmit frames that begin at the same time. The medium is busy until the end of the exchange, and idle after
    /// the exchange.
    pub(super) fn transmit(&mut self, frames: &[Frame], start: Time) {
        let on_air = frames.iter().filter(|frame| !matches!(frame.content, Content::Deferred)).count();
        let (parts, understood) = if on_air == 1 {
            let alone = frames.iter().find(|frame| !matches!(frame.content, Content::Deferred));
            alone.map_or(([(Use::Control, Duration::ZERO); 3], true), |frame| self.exchange(*frame, start))
        } else {
            (self.collide(frames, start), false)
        };
        self.busy_until = self.account.begin(start, parts);
        self.resume(frames, start, understood);
        for &frame in frames {
            let succeeded = understood && !matches!(frame.content, Content::Deferred);
            self.end(frame, succeeded, start);
        }
        for it in &mut self.contenders {
            if it.ready > start && it.ready < self.busy_until {
                it.becomes_ready_while_busy();
            }
        }
    }

    /// Set the time from which contenders count slots after an exchange. The exchange began at `start`. If the exchange
    /// was not `understood`, all devices that did not send wait for EIFS, and each sender waits for its own ACK
    /// timeout. The ACK timeout of a short frame is over when a longer frame ends.
    fn resume(&mut self, frames: &[Frame], start: Time, understood: bool) {
        let Timing { sifs, after_error, .. } = self.timing;
        let wait = if understood { Duration::ZERO } else { after_error };
        let origin = self.busy_until + wait + sifs;
        self.contenders.iter_mut().for_each(|it| it.count_from(origin));
        for frame in frames.iter().filter(|_| !understood) {
            let own = if frames.len() == 1 { self.busy_until } else { start + self.at_risk(frame.content) };
            let free = self.busy_until.max(own + after_error);
            self.contenders[frame.contender].count_from(free + sifs);
        }
    }

    /// Duration of the part of a frame that collides if another frame begins at the same time.
    fn at_risk(&self, content: Content) -> Duration {
        match content {
            Content::Deferred => Duration::ZERO,
            Content::Beacon => self.timing.beacon,
            Content::Request(n) => self.ports[n].control().request,
            Content::Data(n, _) if self.protected => self.ports[n].control().rts,
            Content::Data(n, aggregate) => self.ports[n].duration(&aggregate),
        }
    }

    /// Transmit the frame of a contender without a collision. Return the parts of the exchange and whether the frame
    /// was understood.
    fn exchange(&mut self, frame: Frame, start: Time) -> (Parts, bool) {
        const NOTHING: (Use, Duration) = (Use::Control, Duration::ZERO);
        let timing = self.timing;
        match frame.content {
            Content::Deferred => ([NOTHING; 3], true),
            Content::Beacon => ([(Use::Beacon, timing.beacon), NOTHING, NOTHING], true),
            Content::Request(port) => {
                self.ports[port].asks = false;
                let control = self.ports[port].control();
                let answer = timing.answer(control.block_ack);
                ([(Use::Control, control.request + answer), NOTHING, NOTHING], true)
            }
            Content::Data(n, aggregate) => {
                let port = &mut self.ports[n];
                let control = port.control();
                let before = if self.protected { timing.protection(&control) } else { Duration::ZERO };
                let air = port.duration(&aggregate);
                port.transmit(&aggregate, start + before, true);
                let received = port.receive(&aggregate, start + before) > 0;
                self.note(n, air, received);
                self.deliver(n, start + before + air + timing.delay);
                let answer = match (received, aggregate.is_lone()) {
                    (false, lone) => {
                        self.ports[n].asks = self.asks && !lone;
                        Duration::ZERO
                    }
                    (true, true) => timing.answer(control.ack),
                    (true, false) => timing.answer(control.block_ack),
                };
                ([(Use::Control, before), (Use::Data, air), (Use::Control, answer)], received)
            }
        }
    }

    /// Transmit several frames that collide. No frame is understood. The medium is busy until the longest frame ends.
    /// If a frame is an RTS, its data is not sent.
    fn collide(&mut self, frames: &[Frame], start: Time) -> Parts {
        let mut longest = Duration::ZERO;
        for &Frame { content, .. } in frames {
            let length = self.at_risk(content);
            longest = longest.max(length);
            match content {
                Content::Data(n, aggregate) if !self.protected => {
                    let port = &mut self.ports[n];
                    port.asks = self.asks && !aggregate.is_lone();
                    port.transmit(&aggregate, start, false);
                    port.collide(Some(&aggregate), start);
                    self.note(n, length, false);
                    self.deliver(n, start + length + self.timing.delay); // packets that were held back
                }
                Content::Data(n, _) | Content::Request(n) => self.ports[n].collide(None, start),
                Content::Beacon | Content::Deferred => {}
            }
        }
        [(Use::Collision, longest), (Use::Control, Duration::ZERO), (Use::Control, Duration::ZERO)]
    }

    /// Record a frame of a port, which will be reported to the port's driver at the end of the exchange.
    fn note(&mut self, port: usize, airtime: Duration, received: bool) {
        if self.drivers.iter().any(Option::is_some) {
            self.reports.push(Report { port, airtime, received });
        }
    }

    /// Send to the far end the packets that the receiver of port `n` releases after a PPDU that ended at `end`.
    fn deliver(&mut self, n: usize, end: Time) {
        let mut arrival = if self.release_each { Time::ZERO } else { end };
        while let Some((packet, ended)) = self.ports[n].release(end) {
            arrival = arrival.max(ended);
            let flight = Flight { arrival, port: PortId(n as u16), packet };
            self.in_flight.insert(flight, |new, other| new.arrival < other.arrival);
        }
    }

    /// Record the outcome of an exchange that began at `start` for one of its contenders.
    fn end(&mut self, Frame { contender, content }: Frame, succeeded: bool, start: Time) {
        if let Content::Request(n) | Content::Data(n, _) = content {
            self.ports[n].refresh();
        }
        let ready = if contender == BEACONS {
            // Own choice: a beacon is not retransmitted. The next beacon is sent at its regular time.
            let due = self.contenders[BEACONS].ready;
            due + BEACON_INTERVAL * (start.since(due).as_nanos() / BEACON_INTERVAL.as_nanos() + 1)
        } else {
            self.ready_of(contender)
        };
        let it = &mut self.contenders[contender];
        it.ready = ready;
        if succeeded {
            it.succeed();
        } else {
            it.fail();
        }
    }
}
