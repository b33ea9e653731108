//! Applications. Each application has a file with its plan and its checks.
//!
//! A new application needs one file in this folder and one line in the list below.

mod application;
mod bulk;
mod distribution;
mod list;
pub(crate) mod of_flow;
mod paced;
mod playback;
mod relay;

pub use application::{Application, FlowStart, Job, Order, Planned, Sockets, StreamState};
pub use distribution::Distribution;
pub use paced::Pace;
pub use playback::Playback;
pub use poisson::PoissonSettings;
pub use request_response::RequestResponseSettings;
pub use video::{BitrateRule, VideoSettings};
pub use web::WebSettings;
pub use writer::WritesSettings;

list::applications! {
    "writes" => writer::Writer,
    "poisson" => poisson::Poisson,
    "periodic" => periodic::Periodic,
    "request_response" => request_response::RequestResponse,
    "web" => web::Web,
    "video" => video::Video,
}
