//! Networks: named nodes, links and media.

use crate::Link;
use crate::link::{MakeQueue, entry, table};
use crate::router::{Place, Router, Side};
use network::{Element, SamplingTimes, medium};
use serde_json::Value;
use simulation::plan::{LinkPlan, MediumPlan, PlanError, PortPlan};
use simulation::{External, Payload, Queue};
use std::collections::BTreeMap;
use std::sync::Arc;
use units::{Duration, Rate, Time};

type MakeMedium = Arc<dyn Fn(Vec<Queue>, SamplingTimes, u64) -> Box<dyn Element<Payload>> + Send + Sync>;

/// Nodes, the links between them, and media that they share. A node exists as soon as a link or a medium refers to its
/// name.
#[derive(Clone, Default)]
pub struct Network {
    links: Vec<(String, String, Link)>,
    /// Network interfaces by host.
    nics: BTreeMap<String, Link>,
    media: Vec<Medium>,
}

#[derive(Clone)]
struct Medium {
    name: String,
    kind: String,
    params: Value,
    /// Ports: from node, to node, and a link with the queue.
    ports: Vec<(String, String, Link)>,
    make: Option<MakeMedium>,
}

/// The two ends of a link or a port, and its name, which need not be unique.
struct Hop<'a> {
    from: Place<'a>,
    to: Place<'a>,
    link: &'a Link,
    name: String,
}

impl Network {
    /// Creates a network without nodes.
    pub fn new() -> Network {
        Network::default()
    }

    /// Creates a dumbbell with `pairs` senders (`sender 0` and so on), each on a link of its own with unlimited rate,
    /// and `pairs` receivers after the bottleneck. `access` is the delay between a sender and the bottleneck. The
    /// reverse path has the same delays and no queue.
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

    /// Adds a link in one direction, named `from-to`.
    pub fn link(mut self, from: &str, to: &str, link: Link) -> Network {
        self.links.push((from.to_owned(), to.to_owned(), link));
        self
    }

    /// Adds a link from `one` to `other` and an equal link back.
    pub fn duplex(self, one: &str, other: &str, link: Link) -> Network {
        self.link(one, other, link.clone()).link(other, one, link)
    }

    /// Sets the network interface of a node: a rate and a queue, in which all packets that the node sends compete.
    /// TCP small queues limit each sender in this queue. The name of the interface is `host-nic`. A second call
    /// replaces the interface.
    pub fn nic(mut self, host: &str, mut link: Link) -> Network {
        link.plan.nic = true;
        self.nics.insert(host.to_owned(), link);
        self
    }

    /// Adds a medium of the registry with its parameters. Each port carries packets from one node to another. Only the
    /// queue of a port's link is used.
    pub fn medium(mut self, name: &str, kind: &str, params: Value, ports: &[(&str, &str, Link)]) -> Network {
        self.media.push(Medium::new(name, kind, params, ports, None));
        self
    }

    /// Adds your own medium. `make` builds the medium from the queues of its ports, the times at which its counters are
    /// read, and a seed.
    pub fn own_medium(
        mut self,
        name: &str,
        ports: &[(&str, &str, Link)],
        make: impl Fn(Vec<Queue>, SamplingTimes, u64) -> Box<dyn Element<Payload>> + Send + Sync + 'static,
    ) -> Network {
        let kind = format!("rust:{name}");
        self.media.push(Medium::new(name, &kind, Value::Null, ports, Some(Arc::new(make))));
        self
    }

    /// Hops in the order of their indices.
    fn hops(&self) -> impl Iterator<Item = Hop<'_>> {
        let nics = self.nics.iter().map(|(host, link)| Hop {
            from: (host, Side::Inner),
            to: (host, Side::Outer),
            link,
            name: format!("{host}-nic"),
        });
        let ports = self.media.iter().flat_map(|medium| &medium.ports);
        let hop = |hop| self.hop(hop);
        self.links.iter().map(hop).chain(nics).chain(ports.map(hop))
    }

    /// A hop that begins at the outer side of its node's network interface, if the node has an interface.
    fn hop<'a>(&'a self, (from, to, link): &'a (String, String, Link)) -> Hop<'a> {
        let side = if self.nics.contains_key(from) { Side::Outer } else { Side::Inner };
        Hop { from: (from, side), to: (to, Side::Inner), link, name: format!("{from}-{to}") }
    }

    /// The router of this network.
    pub(crate) fn router(&self) -> Router<'_> {
        let links = self.links.iter().map(|(.., link)| link.plan.delay_ns);
        let nics = self.nics.values().map(|link| link.plan.delay_ns);
        let media = self.media.iter().flat_map(|medium| {
            let delay_ns = medium.delay_ns();
            medium.ports.iter().map(move |_| delay_ns)
        });
        let delays = links.chain(nics).chain(media);
        Router::new(self.hops().zip(delays).map(|(hop, delay_ns)| (hop.from, hop.to, delay_ns)))
    }

    /// Links and media of the plan. The caller's own parts are registered in `external`.
    ///
    /// # Errors
    /// If the parameters of a medium are not a table.
    pub(crate) fn plans(
        &self,
        external: &mut External,
    ) -> Result<(Vec<LinkPlan>, Vec<MediumPlan>), PlanError> {
        let hops: Vec<LinkPlan> = self
            .names()
            .into_iter()
            .zip(self.hops())
            .map(|(name, Hop { link, .. })| {
                let mut plan = link.plan.clone();
                if let Some(make) = &link.queue {
                    plan.queue = own_queue(&name, make, external);
                }
                LinkPlan { stream: name.clone(), name, ..plan }
            })
            .collect();
        let mut hops = hops.into_iter();
        let links = hops.by_ref().take(self.links.len() + self.nics.len()).collect();
        let media = self.media.iter().enumerate().map(|(n, medium)| {
            let ports = hops.by_ref().take(medium.ports.len());
            let port = |link: LinkPlan| PortPlan { name: link.name, stream: link.stream, queue: link.queue };
            medium.plan(&format!("media[{n}]"), ports.map(port).collect(), external)
        });
        let media = media.collect::<Result<_, _>>()?;
        Ok((links, media))
    }

    /// Names of hops. If several hops have the same name, a number is added to the names of the second and later hops.
    fn names(&self) -> Vec<String> {
        let mut seen: BTreeMap<String, u32> = BTreeMap::new();
        let names = self.hops().map(|Hop { name, .. }| {
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
        params: Value,
        ports: &[(&str, &str, Link)],
        make: Option<MakeMedium>,
    ) -> Medium {
        let ports = ports.iter().map(|(from, to, link)| ((*from).to_owned(), (*to).to_owned(), link.clone()));
        Medium { name: name.to_owned(), kind: kind.to_owned(), params, ports: ports.collect(), make }
    }

    fn plan(
        &self,
        path: &str,
        ports: Vec<PortPlan>,
        external: &mut External,
    ) -> Result<MediumPlan, PlanError> {
        if let Some(make) = self.make.clone() {
            external.medium(&self.kind, move |queues, times, seed| make(queues, times, seed));
        }
        let (name, kind) = (self.name.clone(), self.kind.clone());
        let params = table(&format!("{path}.params"), &self.params)?;
        Ok(MediumPlan { stream: name.clone(), name, kind, params, ports })
    }

    /// Smallest delay of the medium's ports; zero if the delay is unknown in advance or the parameters are wrong.
    fn delay_ns(&self) -> u64 {
        let never = SamplingTimes::new(None, Time::ZERO, Time::ZERO);
        let made = medium::build::<Payload>(&self.kind, &self.params, Vec::new(), never, 0);
        made.map_or(0, |medium| medium.min_delay().as_nanos())
    }
}

fn own_queue(name: &str, make: &MakeQueue, external: &mut External) -> simulation::plan::EntryPlan {
    let (kind, make) = (format!("rust:{name}"), make.clone());
    external.queue(&kind, move |seed| make(seed));
    entry(&kind, serde_json::json!({}))
}
