//! Web browsing: a sequence of pages with objects.

use super::application::{Application, FlowStart, Job, Planned, Sockets};
use super::distribution::{DistributionPlan, Draws};
use crate::plan::range::{Check, MOST_BYTES, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Time;

/// Maximum number of objects of a page.
const MOST_OBJECTS: f64 = 1e5;
/// Maximum number of connections of a page.
const MOST_CONNECTIONS: u32 = 1_000;

/// A reader of web pages. The flow sends the objects of the pages.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WebPlan {
    /// Time from the end of a page to the next page.
    pub think: DistributionPlan,
    /// Objects of a page, its document included.
    pub objects: DistributionPlan,
    /// Payload of an object.
    pub sizes: DistributionPlan,
    /// Maximum number of connections at once.
    pub connections: u32,
    /// Payload of a request.
    pub request_bytes: u64,
}

/// Loads a sequence of pages: first the document of a page, then its objects on several connections at once. The
/// connections of a page are closed when the page is complete.
pub struct Web {
    next: Time,
    thinking: Draws,
    /// Objects per page, the document included.
    objects: Draws,
    sizes: Draws,
    /// Maximum number of connections at once.
    parallel: u32,
    request: u64,
    page: u32,
    /// Objects of the page that have not been requested yet.
    left: u64,
    /// Number of open connections of the page.
    open: u32,
}

impl Planned for Web {
    type Plan = WebPlan;
    const TITLE: &'static str = "A reader of web pages: a page, a pause, the next page";

    fn check(plan: &WebPlan, path: &str, _: u64) -> Check {
        plan.think.check_pause(&format!("{path}.think"))?;
        plan.objects.check(&format!("{path}.objects"), 1.0..=MOST_OBJECTS)?;
        plan.sizes.check_bytes(&format!("{path}.sizes"))?;
        within(format!("{path}.connections"), plan.connections, 1..=MOST_CONNECTIONS)?;
        within(format!("{path}.request_bytes"), plan.request_bytes, 1..=MOST_BYTES)
    }

    /// A reader who requests the first page when the flow starts.
    fn new(plan: &WebPlan, flow: &FlowStart<'_>) -> Web {
        Web {
            next: flow.at,
            thinking: Draws::new(&plan.think, flow.rng("thinking")),
            objects: Draws::new(&plan.objects, flow.rng("objects")),
            sizes: Draws::new(&plan.sizes, flow.rng("sizes")),
            parallel: plan.connections,
            request: plan.request_bytes,
            page: 0,
            left: 0,
            open: 0,
        }
    }
}

impl Web {
    fn ask(&mut self, connection: u32, sockets: &mut Sockets) {
        let job = Job { bytes: self.sizes.bytes(), request: self.request, page: self.page };
        sockets.transfer(connection, job);
        self.left -= 1;
    }

    fn open(&mut self, sockets: &mut Sockets) {
        self.open += 1;
        let connection = sockets.open(true);
        self.ask(connection, sockets);
    }
}

impl Application for Web {
    fn next(&self) -> Time {
        self.next
    }

    fn run(&mut self, _: Time, sockets: &mut Sockets) {
        self.next = Time::NEVER;
        self.page += 1;
        self.left = self.objects.bytes();
        self.open(sockets);
    }

    fn done(&mut self, now: Time, connection: u32, sockets: &mut Sockets) {
        if self.left > 0 {
            self.ask(connection, sockets);
        } else {
            sockets.close(connection);
            self.open -= 1;
        }
        while self.left > 0 && self.open < self.parallel {
            self.open(sockets);
        }
        if self.open == 0 {
            self.next = now + self.thinking.pause();
        }
    }
}
