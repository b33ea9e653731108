//! Tests that algorithms give the same results through the table of functions as without the table.
#![allow(unsafe_code, reason = "the test calls the table of functions as a host does")]

use capi::{Api, Library, fullpipe_congestion};
use congestion::kit::{Script, judge, rounds};
use serde_json::Value;
use std::path::Path;

fn own(name: &str) -> Box<dyn congestion::CongestionControl> {
    Library::from_table(fullpipe_congestion()).unwrap().create(name, "{}", 1, "flow").unwrap()
}

#[test]
fn every_algorithm_of_the_registry_goes_the_same_rounds_through_the_table() {
    for descriptor in congestion::descriptors() {
        let mut native = congestion::build(descriptor.name, &Value::Null, 1).unwrap();
        let (here, there) = (rounds::table(&mut *native, 40), rounds::table(&mut *own(descriptor.name), 40));
        assert_eq!(here, there, "{}", descriptor.name);
    }
}

#[test]
fn what_holds_of_every_algorithm_holds_through_the_table() {
    let bytes: Vec<u8> = (0..2_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    for descriptor in congestion::descriptors() {
        let make = || own(descriptor.name);
        judge(&make, &Script::from_bytes(&bytes))
            .unwrap_or_else(|broken| panic!("{}: {broken:?}", descriptor.name));
    }
}

#[test]
fn what_a_library_cannot_make_is_refused_with_its_words() {
    let library = Library::from_table(fullpipe_congestion()).unwrap();
    let refused = library.create("rino", "{}", 1, "flow").err().unwrap();
    assert!(refused.starts_with("rino cannot be built: "), "{refused}");
}

#[test]
fn a_table_of_another_version_is_refused() {
    static OTHER: Api = Api { abi: 1, ..EMPTY };
    assert_eq!(
        Library::from_table(&OTHER).err().unwrap(),
        "exports version 1 of the interface, not 2; rebuild the library"
    );
}

#[test]
fn a_table_without_what_is_needed_is_refused() {
    assert_eq!(Library::from_table(&const { EMPTY }).err().unwrap(), "its table of functions has no create");
}

#[test]
fn a_file_that_is_no_library_is_refused() {
    let refused = Library::open(Path::new(env!("CARGO_MANIFEST_PATH"))).err().unwrap();
    assert!(refused.contains("cannot be loaded"), "{refused}");
}

const EMPTY: Api = Api {
    abi: capi::ABI,
    create: None,
    destroy: None,
    traits: None,
    control: None,
    established: None,
    ack: None,
    lost: None,
    congestion: None,
    recovery_exit: None,
    sent: None,
    set_cwnd: None,
    next_wakeup: None,
    wakeup: None,
    observe: None,
    undo: None,
    restart: None,
};
