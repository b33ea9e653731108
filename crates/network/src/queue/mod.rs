//! Queue disciplines: they decide which packet leaves next and which packets are dropped or marked.
//!
//! To add a discipline, add a file to this folder and a line to the list below.

mod device;
mod discipline;
mod fair;
mod fifo;
mod registry;

pub use device::Device;
pub use discipline::{
    AirtimeLimits, Backlog, Limit, QueueDiscipline, QueueEvents, RadioRules, Released, StationQueue, Waiting,
};
pub use drop_tail::DropTail;
pub(crate) use fifo::Fifo;
pub(crate) use mac80211::MEMORY as RADIO_MEMORY;
pub use params::{BuildError, Descriptor};

registry::queues! {
    "drop_tail" => drop_tail::DropTail,
    "tbf" => tbf::Tbf,
    "police" => police::Police,
    "step" => step::Step,
    "red" => red::Red,
    "codel" => codel::CodelQueue,
    "fq" => fq::Fq,
    "fq_codel" => fq_codel::FqCodel,
    "pie" => pie::PieQueue,
    "fq_pie" => fq_pie::FqPie,
    "dualpi2" => dualpi2::DualPi2,
    "cake" => cake::Cake,
    "mac80211" => mac80211::Mac80211,
}
