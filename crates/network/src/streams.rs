//! The numbers of streams.

/// Which way a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the sender of a flow to its receiver.
    Forward,
    /// From the receiver of a flow to its sender.
    Backward,
}

/// The numbers of streams: the low bits name a route, the bits above them tell the connections apart that share it.
///
/// Stream `n` of number 0 is that of route `n`, so where no connections share a route there is nothing to translate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Streams {
    bits: u32,
}

impl Streams {
    /// For so many routes.
    pub fn new(routes: usize) -> Streams {
        Streams { bits: usize::BITS - routes.saturating_sub(1).leading_zeros() }
    }

    /// The stream of `route` with a number below [`count`](Self::count).
    pub fn stream(self, route: u32, number: u32) -> u32 {
        number << self.bits | route
    }

    /// The route that a stream takes.
    #[inline]
    pub fn route(self, stream: u32) -> u32 {
        stream & ((1 << self.bits) - 1)
    }

    /// The route that packets of a flow take in a direction.
    #[inline]
    pub fn route_of(flow: u32, direction: Direction) -> u32 {
        2 * flow + direction as u32
    }

    /// The flow whose packets take a route.
    #[inline]
    pub fn flow(route: u32) -> u32 {
        route / 2
    }

    /// Which way packets of a stream go.
    #[inline]
    pub fn direction(self, stream: u32) -> Direction {
        if self.route(stream).is_multiple_of(2) { Direction::Forward } else { Direction::Backward }
    }

    /// The stream of the same connection that goes the other way.
    #[inline]
    pub fn opposite(self, stream: u32) -> u32 {
        stream ^ 1
    }

    /// Its number among the streams of its route.
    pub fn number(self, stream: u32) -> u32 {
        stream >> self.bits
    }

    /// How many streams a route has.
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
            assert!((0..routes as u32).all(|route| streams.stream(route, 0) == route));
        }
    }

    proptest! {
        #[test]
        fn route_and_number_can_be_read_from_a_stream(routes in 1usize..200_000, route: u32, number: u32) {
            let streams = Streams::new(routes);
            let (route, number) = (route % routes as u32, number % streams.count());
            let stream = streams.stream(route, number);
            prop_assert_eq!((streams.route(stream), streams.number(stream)), (route, number));
        }
    }
}
