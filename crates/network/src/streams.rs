//! Identifiers of streams and routes.

/// The direction of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Packets from the sender of a flow to its receiver.
    Forward,
    /// Packets from the receiver of a flow to its sender.
    Backward,
}

impl Direction {
    /// The direction of the stream or route with the given identifier.
    #[inline]
    fn from_number(number: u32) -> Direction {
        if number.is_multiple_of(2) { Direction::Forward } else { Direction::Backward }
    }
}

/// Identifier of one direction of a connection. The identifiers of the two directions differ in the lowest bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct StreamId(pub u32);

impl StreamId {
    /// Index for arrays.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The direction of the stream's packets.
    #[inline]
    pub fn direction(self) -> Direction {
        Direction::from_number(self.0)
    }

    /// The stream of the same connection in the other direction.
    #[inline]
    #[must_use]
    pub fn opposite(self) -> StreamId {
        StreamId(self.0 ^ 1)
    }
}

/// Identifier of the route of a flow in one direction. Each flow has two consecutive routes, with the forward route
/// first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct RouteId(pub u32);

impl RouteId {
    /// The route of a flow in a direction.
    #[inline]
    pub fn new(flow: u32, direction: Direction) -> RouteId {
        RouteId(2 * flow + direction as u32)
    }

    /// Index for arrays.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The stream with number 0. This stream is the only stream of the route unless several connections share the
    /// route.
    #[inline]
    pub fn first_stream(self) -> StreamId {
        StreamId(self.0)
    }

    /// The flow whose packets take the route.
    #[inline]
    pub fn flow(self) -> u32 {
        self.0 / 2
    }

    /// The direction of the route's packets.
    #[inline]
    pub fn direction(self) -> Direction {
        Direction::from_number(self.0)
    }
}

/// Layout of stream identifiers. The low bits are the route. The higher bits are the number of the stream among all
/// streams of that route.
///
/// Stream 0 of route `n` has the identifier `n`. If no two connections share a route, the identifier of a stream
/// therefore equals the identifier of its route.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Streams {
    bits: u32,
    /// Mask with the low `bits` bits set.
    mask: u32,
}

impl Streams {
    /// Create the layout for `routes` routes.
    pub fn new(routes: usize) -> Streams {
        let bits = usize::BITS - routes.saturating_sub(1).leading_zeros();
        Streams { bits, mask: (1 << bits) - 1 }
    }

    /// Create the layout for the routes of `flows` flows.
    pub fn for_flows(flows: usize) -> Streams {
        Streams::new(2 * flows)
    }

    /// The stream with the given `number` on a route. The number must be below [`count`](Self::count).
    #[inline]
    pub fn stream(self, route: RouteId, number: u32) -> StreamId {
        StreamId(number << self.bits | route.0)
    }

    /// The route that a stream takes.
    #[inline]
    pub fn route(self, stream: StreamId) -> RouteId {
        RouteId(stream.0 & self.mask)
    }

    /// Number of a stream among all streams of its route.
    #[inline]
    pub fn number(self, stream: StreamId) -> u32 {
        stream.0 >> self.bits
    }

    /// Maximum number of streams per route.
    pub fn count(self) -> u32 {
        u32::MAX >> self.bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_first_stream_of_a_route_has_its_number() {
        for routes in [0, 1, 2, 6, 1_000] {
            let streams = Streams::new(routes);
            assert!(
                (0..routes as u32).map(RouteId).all(|route| streams.stream(route, 0) == route.first_stream())
            );
        }
    }

    proptest! {
        #[test]
        fn route_and_number_can_be_read_from_a_stream(routes in 1usize..200_000, route: u32, number: u32) {
            let streams = Streams::new(routes);
            let (route, number) = (RouteId(route % routes as u32), number % streams.count());
            let stream = streams.stream(route, number);
            prop_assert_eq!((streams.route(stream), streams.number(stream)), (route, number));
        }

        #[test]
        fn the_streams_of_a_connection_take_the_routes_of_its_flow(flows in 1usize..100_000, flow: u32, number: u32) {
            let streams = Streams::for_flows(flows);
            let (flow, number) = (flow % flows as u32, number % streams.count());
            let [there, back] = [Direction::Forward, Direction::Backward].map(|direction| {
                let route = RouteId::new(flow, direction);
                assert_eq!((route.flow(), route.direction()), (flow, direction));
                let stream = streams.stream(route, number);
                assert_eq!((stream.direction(), streams.route(stream)), (direction, route));
                stream
            });
            prop_assert_eq!((there.opposite(), back.opposite()), (back, there));
        }
    }
}
