//! Web browsing: a sequence of pages with objects.

use super::application::{Application, FlowStart, Job, Planned, Sockets};
use super::distribution::{Distribution, Draws};
use crate::plan::declared::as_declared;
use crate::plan::range::Check;
use params::params;
use units::Time;

/// Maximum number of objects of a page.
const MOST_OBJECTS: f64 = 1e5;

params! {
    /// A reader of web pages. The flow sends the objects of the pages.
    #[derive(PartialEq, schemars::JsonSchema)]
    #[schemars(transform = as_declared::<WebSettings>)]
    pub struct WebSettings {
        /// Time from a complete page to the request of the next page.
        think: Distribution, "";
        /// Objects per page, the document included.
        objects: Distribution, "";
        /// Payload of an object.
        sizes: Distribution, "";
        /// Largest number of parallel connections.
        connections: u32 = 6, "", 1..=1_000;
        /// Payload of a request.
        request_bytes: u64 = 400, "bytes", 1.0..=1e15, example = 400;
    }
}

/// Loads a sequence of pages: first the document of a page, then its objects on several parallel connections. The
/// connections of a page are closed when the page is complete.
pub struct Web {
    next: Time,
    thinking: Draws,
    /// Objects per page, the document included.
    objects: Draws,
    sizes: Draws,
    /// Maximum number of parallel connections.
    parallel: u32,
    request: u64,
    page: u32,
    /// Objects of the page that have not been requested yet.
    left: u64,
    /// Number of open connections of the page.
    open: u32,
}

impl Planned for Web {
    type Settings = WebSettings;
    const TITLE: &'static str = "A reader of web pages: a page, a pause, the next page";

    fn check(settings: &WebSettings, path: &str, _: u64) -> Check {
        settings.think.check_pause(&format!("{path}.think"))?;
        settings.objects.check(&format!("{path}.objects"), 1.0..=MOST_OBJECTS)?;
        settings.sizes.check_bytes(&format!("{path}.sizes"))
    }

    /// A reader who requests the first page when the flow starts.
    fn new(settings: &WebSettings, flow: &FlowStart<'_>) -> Web {
        Web {
            next: flow.at,
            thinking: Draws::new(&settings.think, flow.rng("thinking")),
            objects: Draws::new(&settings.objects, flow.rng("objects")),
            sizes: Draws::new(&settings.sizes, flow.rng("sizes")),
            parallel: settings.connections,
            request: settings.request_bytes,
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
