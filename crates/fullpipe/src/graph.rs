//! Networks: nodes by name, and what joins them.

use crate::Link;
use crate::link::{MakeQueue, entry};
use network::{Element, SamplingTimes};
use serde_json::Value;
use simulation::plan::{LinkPlan, MediumPlan, PlanError, PortPlan};
use simulation::{External, Payload, Queue};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use units::{Duration, Rate};

type MakeMedium = Arc<dyn Fn(Vec<Queue>, SamplingTimes, u64) -> Box<dyn Element<Payload>> + Send + Sync>;

/// Nodes, the links between them, and media that they share. Nodes are there once something names them.
#[derive(Clone, Default)]
pub struct Network {
    links: Vec<(String, String, Link)>,
    media: Vec<Medium>,
}

#[derive(Clone)]
struct Medium {
    plan: MediumPlan,
    /// From where and to where each port carries.
    ports: Vec<(String, String, Link)>,
    make: Option<MakeMedium>,
}

impl Network {
    /// A network without a node.
    pub fn new() -> Network {
        Network::default()
    }

    /// `pairs` senders, `sender 0` and so on, each on a fast link of its own; the bottleneck; and as many receivers.
    /// `access` is the delay between a sender and the bottleneck. What comes back from receivers meets no queue
    /// and takes as long.
    pub fn dumbbell(pairs: usize, bottleneck: Link, access: Duration) -> Network {
        let delay = Duration::from_nanos(bottleneck.plan.delay_ns);
        let plain = |delay| Link::new(Rate::UNLIMITED, delay);
        let mut network =
            Network::new().link("left", "right", bottleneck).link("right", "left", plain(delay));
        for n in 0..pairs {
            network = network.duplex(&format!("sender {n}"), "left", plain(access)).duplex(
                "right",
                &format!("receiver {n}"),
                plain(Duration::ZERO),
            );
        }
        network
    }

    /// A link from one node to another, in this direction alone. Its name is `from-to`.
    pub fn link(mut self, from: &str, to: &str, link: Link) -> Network {
        self.links.push((from.to_owned(), to.to_owned(), link));
        self
    }

    /// The same link in both directions.
    pub fn duplex(self, one: &str, other: &str, link: Link) -> Network {
        self.link(one, other, link.clone()).link(other, one, link)
    }

    /// A medium of the registry with its parameters. Each port carries from one node to another; of a port's link only
    /// the queue counts.
    pub fn medium(mut self, name: &str, kind: &str, params: Value, ports: &[(&str, &str, Link)]) -> Network {
        let params = params.as_object().cloned().unwrap_or_default();
        self.media.push(Medium::new(name, kind, params, ports, None));
        self
    }

    /// A medium that the registry does not have, made of the queues of its ports, the times at which its counters are
    /// read, and a seed.
    pub fn own_medium(
        mut self,
        name: &str,
        ports: &[(&str, &str, Link)],
        make: impl Fn(Vec<Queue>, SamplingTimes, u64) -> Box<dyn Element<Payload>> + Send + Sync + 'static,
    ) -> Network {
        let kind = format!("rust:{name}");
        self.media.push(Medium::new(name, &kind, serde_json::Map::new(), ports, Some(Arc::new(make))));
        self
    }

    /// Nodes and hops in the order of their numbers: from where and to where each carries.
    fn hops(&self) -> impl Iterator<Item = (&str, &str, &Link)> {
        let links = self.links.iter().chain(self.media.iter().flat_map(|medium| &medium.ports));
        links.map(|(from, to, link)| (from.as_str(), to.as_str(), link))
    }

    /// The route with the fewest hops; of several the one whose hops were named first.
    pub(crate) fn route(&self, path: &str, from: &str, to: &str) -> Result<Vec<u32>, PlanError> {
        let mut via: BTreeMap<&str, (u32, &str)> = BTreeMap::new();
        let mut waiting = VecDeque::from([from]);
        while let Some(node) = waiting.pop_front() {
            for (n, (at, next, _)) in (0u32..).zip(self.hops()) {
                if at == node && next != from && !via.contains_key(next) {
                    via.insert(next, (n, at));
                    waiting.push_back(next);
                }
            }
        }
        let (mut route, mut node) = (Vec::new(), to);
        while node != from {
            let Some(&(hop, before)) = via.get(node) else {
                let message = format!("no route leads from \"{from}\" to \"{to}\"; add a link");
                return Err(PlanError::new(path, message));
            };
            route.push(hop);
            node = before;
        }
        route.reverse();
        Ok(route)
    }

    /// The links and media of the plan; parts of the caller's own go to `external`.
    pub(crate) fn plans(&self, external: &mut External) -> (Vec<LinkPlan>, Vec<MediumPlan>) {
        let hops: Vec<LinkPlan> = self
            .names()
            .into_iter()
            .zip(self.hops())
            .map(|(name, (_, _, link))| {
                let mut plan = link.plan.clone();
                if let Some(make) = &link.queue {
                    plan.queue = own_queue(&name, make, external);
                }
                LinkPlan { stream: name.clone(), name, ..plan }
            })
            .collect();
        let mut hops = hops.into_iter();
        let links = hops.by_ref().take(self.links.len()).collect();
        let media = self.media.iter().map(|medium| {
            let ports = hops.by_ref().take(medium.ports.len());
            let port = |link: LinkPlan| PortPlan { name: link.name, stream: link.stream, queue: link.queue };
            if let Some(make) = medium.make.clone() {
                external.medium(&medium.plan.kind, move |queues, times, seed| make(queues, times, seed));
            }
            MediumPlan { ports: ports.map(port).collect(), ..medium.plan.clone() }
        });
        let media = media.collect();
        (links, media)
    }

    /// The names of hops: `from-to`, and from the second between the same nodes on with a number.
    fn names(&self) -> Vec<String> {
        let mut seen: BTreeMap<String, u32> = BTreeMap::new();
        let names = self.hops().map(|(from, to, _)| {
            let name = format!("{from}-{to}");
            let times = seen.entry(name.clone()).and_modify(|times| *times += 1).or_insert(1);
            if *times == 1 { name } else { format!("{name} {times}") }
        });
        names.collect()
    }
}

impl Medium {
    fn new(
        name: &str,
        kind: &str,
        params: serde_json::Map<String, Value>,
        ports: &[(&str, &str, Link)],
        make: Option<MakeMedium>,
    ) -> Medium {
        let (name, kind) = (name.to_owned(), kind.to_owned());
        let ports = ports.iter().map(|(from, to, link)| ((*from).to_owned(), (*to).to_owned(), link.clone()));
        let plan = MediumPlan { stream: name.clone(), name, kind, params, ports: Vec::new() };
        Medium { plan, ports: ports.collect(), make }
    }
}

fn own_queue(name: &str, make: &MakeQueue, external: &mut External) -> simulation::plan::EntryPlan {
    let (kind, make) = (format!("rust:{name}"), make.clone());
    external.queue(&kind, move |seed| make(seed));
    entry(&kind, serde_json::json!({}))
}
