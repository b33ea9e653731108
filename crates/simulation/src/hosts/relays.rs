//! Relays: hosts that receive the data of one TCP flow and send these data on over the next flow.
//!
//! The buffer of the host is limited. Payload occupies the buffer from its in-order arrival on the first connection
//! until its ACK on the second connection. The receive window of the first connection is the room left in the buffer,
//! so that a slow second connection slows down the sender of the first connection.

use super::connection::End;
use super::endpoints::Endpoints;
use super::flow::Flow;
use super::observer::Observer;
use super::outbox::Outbox;
use crate::plan::Relays;
use network::RouteId;

/// Called after an end of a flow has run. Delivered data are written to the next connection, and acknowledged data make
/// room in the receive buffer of the previous connection.
pub fn pass_on<R: Observer>(
    relays: &Relays,
    flow: u32,
    end: End,
    flows: &mut [Endpoints],
    out: &mut Outbox<'_, R>,
) {
    match end {
        End::Receiver => {
            if let Some(next) = relays.next(flow)
                && let Some(delivered) = tcp(flows, flow).and_then(|flow| flow.received_bytes())
            {
                turn(flows, next, End::Sender, out, |next, out| next.feed(delivered, out));
            }
        }
        End::Sender => {
            if let Some(before) = relays.before(flow)
                && let Some(buffer_bytes) = relays.buffer_bytes(before)
                && let Some(acked) = tcp(flows, flow).and_then(|flow| flow.acked_bytes())
            {
                let until = acked + buffer_bytes;
                turn(flows, before, End::Receiver, out, |before, out| before.make_room(until, out));
            }
        }
    }
}

fn tcp(flows: &mut [Endpoints], number: u32) -> Option<&mut Flow> {
    match &mut flows[number as usize] {
        Endpoints::Tcp(flow) => Some(flow),
        Endpoints::Datagrams(_) => None,
    }
}

/// Runs an end of a flow, then updates the wake-up of the end.
fn turn<R: Observer>(
    flows: &mut [Endpoints],
    number: u32,
    end: End,
    out: &mut Outbox<'_, R>,
    act: impl FnOnce(&mut Flow, &mut Outbox<'_, R>),
) {
    let Some(flow) = tcp(flows, number) else { return };
    act(flow, out);
    let actor = out.net.actors.end(RouteId::new(number, end.direction()));
    out.net.schedule.request(actor, flow.next(end));
}
