//! Delivery times of packets through a network.

use super::*;
use network::queue::{DropTail, Limit};
use network::{Drops, Ecn, LinkConfig, SamplingTimes, StreamId};
use std::sync::Arc;
use units::Rate;

/// Two links as one element.
struct Pair([Link<u8>; 2]);

impl Element<u8> for Pair {
    fn ports(&self) -> usize {
        2
    }

    fn put(&mut self, port: PortId, packet: &Packet<u8>, now: Time) {
        self.0[usize::from(port.0)].send(*packet, now);
    }

    fn next(&self) -> Time {
        self.0[0].next().min(self.0[1].next())
    }

    fn take(&mut self, now: Time) -> Option<(PortId, Packet<u8>)> {
        let due = (0..2).find(|&n| self.0[n].next() <= now)?;
        Element::take(&mut self.0[due], now).map(|(_, packet)| (PortId(due as u16), packet))
    }

    fn close_interval(&mut self, port: PortId, now: Time) -> Counters {
        self.0[usize::from(port.0)].close_interval(now)
    }

    fn totals(&self, port: PortId) -> &Totals {
        self.0[usize::from(port.0)].totals()
    }

    fn count_drops(&mut self, drops: &Arc<Drops<u8>>) {
        self.0.iter_mut().for_each(|link| link.count_drops(drops));
    }

    fn min_delay(&self) -> Duration {
        Element::min_delay(&self.0[0]).min(Element::min_delay(&self.0[1]))
    }

    fn capacity(&self) -> Rate {
        Rate::UNLIMITED
    }
}

/// Idle links with a rate of 1 byte per microsecond and these delays.
fn links(delays_us: &[u64]) -> Vec<Link<u8>> {
    let links = delays_us.iter().map(|&us| {
        let delay = Duration::from_micros(us);
        let sampling = SamplingTimes::new(None, Time::ZERO, Time::from_nanos(1_000_000_000));
        let config = LinkConfig {
            rate: Rate::from_bits_per_sec(8_000_000),
            delay,
            loss: None,
            sampling,
            impairments: network::Impairments::default(),
        };
        Link::new(config, Box::new(DropTail::new(Limit::default())))
    });
    links.collect()
}

/// A network of links in a row, with one route across all links.
fn row(delays_us: &[u64], cut_through: bool) -> Net<u8> {
    let route = (0..delays_us.len() as u32).map(HopId).collect();
    Net::new(links(delays_us), Vec::new(), &[route], Vec::new(), cut_through)
}

/// Sends two packets of 100 bytes. Returns their delivery times in microseconds, and the number of turns.
fn journey(net: &mut Net<u8>) -> (Vec<u64>, usize) {
    let packet = Packet { stream: StreamId(0), size: 100, ecn: Ecn::NotEct, dscp: 0, payload: 0 };
    (0..2).for_each(|_| net.send(&packet, Time::ZERO));
    let (mut delivered, mut turns) = (Vec::new(), 0);
    while let Some((now, actor)) = net.schedule.next(Time::NEVER) {
        net.run(actor, now, |_, _| delivered.push(now.as_micros()));
        turns += 1;
    }
    (delivered, turns)
}

#[test]
fn a_row_of_links_costs_one_turn_per_packet() {
    // 100 us to transmit on each of three links, 60 us of delays; the second packet is 100 us behind.
    let journey = |mut net| journey(&mut net);
    assert_eq!(journey(row(&[10, 20, 30], true)), (vec![360, 460], 2));
    assert_eq!(journey(row(&[10, 20, 30], false)), (vec![360, 460], 6));
}

#[test]
fn a_route_crosses_ports_as_it_crosses_links() {
    // Hops 0 and 1 are links. Hops 2 to 5 are the ports of two media.
    let [one, other] = [[10, 20], [30, 40]]
        .map(|delays| links(&delays).try_into().map(Pair).unwrap_or_else(|_| unreachable!()));
    let media: Vec<Box<dyn Element<u8>>> = vec![Box::new(one), Box::new(other)];
    let routes = [[0, 3, 5, 1].map(HopId).to_vec()];
    let change =
        Reroute { at: Time::from_nanos(90_000), route: RouteId(0), path: [0, 3, 2, 1].map(HopId).to_vec() };
    let mut net = Net::new(links(&[50, 60]), media, &routes, vec![change], true);
    net.tap(|hop| hop == HopId(2));
    // 100 us to transmit at each of four hops. When the first packet leaves port 3 at 270 us, its route has changed, so
    // that the packet goes on to port 2.
    assert_eq!(net.hops().count(), 6);
    let (delivered, _) = journey(&mut net);
    assert_eq!(delivered, [100 + 50 + 100 + 20 + 100 + 10 + 100 + 60, 640]);
    let tapped: Vec<_> = net.tapped.iter().map(|&(at, hop, _)| (at.as_micros(), hop.0)).collect();
    assert_eq!(tapped, [(380, 2), (480, 2)]);
    net.close_interval(HopId(2), Time::from_nanos(1_000_000_000));
    assert_eq!(net.totals(HopId(2)).run.forwarded_packets, 2);
}

#[test]
fn a_route_changes_before_all_else_at_its_time() {
    // Two packets come to the fork behind link 0 after 110 and 210 us. The route of the change is 10 us longer.
    let journey = |at_us: u64| {
        let at = Time::from_nanos(at_us * 1_000);
        let change = Reroute { at, route: RouteId(0), path: [0, 2].map(HopId).to_vec() };
        let routes = [[0, 1].map(HopId).to_vec()];
        journey(&mut Net::new(links(&[10, 20, 30]), Vec::new(), &routes, vec![change], true))
    };
    assert_eq!(journey(110), (vec![240, 340], 5)); // one turn of the control, and two turns per packet
    assert_eq!(journey(111), (vec![230, 340], 5));
}

/// Whether a flow over two routes, whose hops in the middle are shared with other flows, has its own lanes.
fn has_lanes(delays_us: &[u64], routes: [&[u32]; 2], shared: &[u32]) -> bool {
    let routes = routes.map(|route| route.iter().copied().map(HopId).collect::<Vec<_>>());
    let mut net = Net::new(links(delays_us), Vec::new(), &routes, Vec::new(), true);
    let numbers = (0..net.actors.count() as u32).collect();
    net.become_part(RouteId(0), Streams::for_flows(1), numbers, |hop| {
        shared.iter().position(|&other| hop == HopId(other)).map(|n| n as u32)
    });
    net.lanes().is_some()
}

#[test]
fn a_flow_has_lanes_whose_ends_meet_beyond_shared_links_only() {
    let (delays, routes) = ([10; 6], [&[0, 1, 2][..], &[3, 4, 5]]);
    assert!(has_lanes(&delays, routes, &[1, 4]));
    assert!(!has_lanes(&delays, routes, &[1]), "the way back has no shared link");
    assert!(!has_lanes(&[0, 10, 10, 10, 10, 10], routes, &[1, 4]), "the first link has no delay");
    assert!(!has_lanes(&delays, [&[1, 2], &[3, 4, 5]], &[1, 4]), "an end sends into a shared link");
    assert!(!has_lanes(&delays, [&[0, 1, 2], &[0, 4, 5]], &[1, 4]), "both ends send into one link");
    assert!(!has_lanes(&delays, [&[0, 1], &[3, 1]], &[1]), "both routes arrive over one link");
    assert!(
        !has_lanes(&[10, 10, 0, 10, 10, 10], routes, &[1, 4]),
        "a link behind a shared link has no delay and therefore has turns"
    );
}

#[test]
fn a_link_without_delay_is_not_served_ahead() {
    assert_eq!(journey(&mut row(&[10, 0, 30], true)), (vec![340, 440], 4));
}
