//! Tests of the table of functions, called as a C program calls it.
#![allow(unsafe_code, reason = "the test calls the table of functions as C does")]

use capi::{ABI, Ack, Control, FAILED, NONE, OK, Path, Traits, fullpipe_congestion};
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::{null, null_mut};

const fn path(now: u64) -> Path {
    Path {
        now,
        srtt: 40_000_000,
        min_rtt: 40_000_000,
        next: 20,
        delivered: 10,
        delivered_time: now,
        lost: 0,
        marked: 0,
        next_departure: 0,
        pacing_bps: 1_000_000,
        mss: 1448,
        state: 0,
        in_flight: 10,
        packets_out: 10,
        max_burst_bytes: 65_536,
        ecn: 0,
        cwnd_limited: 1,
        app_limited: 0,
        paced: 0,
    }
}

fn ack() -> Ack {
    Ack {
        rtt: 40_000_000,
        one_way_delay: NONE,
        rate_interval: NONE,
        acked: 1,
        cumulative: 1,
        may_grow: 1,
        advanced: 1,
        prior_in_flight: 10,
        ..Ack::default()
    }
}

fn create(name: &str, params: &str) -> (*mut capi::Algorithm, String) {
    let (name, params) = (CString::new(name).unwrap(), CString::new(params).unwrap());
    let mut error = [0 as c_char; 200];
    let table = fullpipe_congestion();
    // SAFETY: texts end with a zero, and the buffer has the given size.
    let handle = unsafe {
        (table.create.unwrap())(name.as_ptr(), params.as_ptr(), 1, error.as_mut_ptr(), error.len())
    };
    // SAFETY: the buffer ends with a zero.
    (handle, unsafe { CStr::from_ptr(error.as_ptr()) }.to_str().unwrap().to_owned())
}

#[test]
fn every_algorithm_of_the_registry_can_be_made_and_gives_its_control() {
    let table = fullpipe_congestion();
    assert_eq!(table.abi, ABI);
    for descriptor in congestion::descriptors() {
        let (handle, error) = create(descriptor.name, "{}");
        assert!(!handle.is_null(), "{}: {error}", descriptor.name);
        let (mut control, mut traits) = (Control::default(), Traits::default());
        // SAFETY: the handle is valid until it is destroyed.
        unsafe {
            assert_eq!((table.control.unwrap())(handle, &mut control), OK);
            assert_eq!((table.traits.unwrap())(handle, &mut traits), OK);
            (table.destroy.unwrap())(handle);
        }
        assert!(control.cwnd >= 1);
    }
}

#[test]
fn an_ack_grows_the_window_as_it_does_in_rust() {
    let table = fullpipe_congestion();
    let (handle, _) = create("reno", "{}");
    let mut control = Control::default();
    // SAFETY: the handle is valid until it is destroyed.
    unsafe {
        assert_eq!((table.established.unwrap())(handle, &path(1)), OK);
        assert_eq!((table.ack.unwrap())(handle, &ack(), &path(2)), OK);
        assert_eq!((table.control.unwrap())(handle, &mut control), OK);
        (table.destroy.unwrap())(handle);
    }
    assert_eq!(control.cwnd, 11); // slow start: one packet acknowledged, one more allowed
}

#[test]
fn what_cannot_be_made_says_why() {
    assert!(create("cubik", "{}").1.contains("unknown algorithm \"cubik\""));
    assert!(create("cubic", "{").1.starts_with("parameters of cubic"));
    assert!(create("cubic", "{\"beta\": 7}").1.contains("beta"));
}

#[test]
fn nonsense_fails_and_does_not_crash() {
    let table = fullpipe_congestion();
    let (handle, _) = create("cubic", "{}");
    let no_state = Path { state: 9, ..path(1) };
    // SAFETY: every pointer may be null.
    unsafe {
        assert_eq!((table.ack.unwrap())(handle, null(), &path(1)), FAILED);
        assert_eq!((table.ack.unwrap())(null_mut(), &ack(), &path(1)), FAILED);
        assert_eq!((table.ack.unwrap())(handle, &ack(), &no_state), FAILED);
        assert_eq!((table.congestion.unwrap())(handle, 77, &path(1)), FAILED);
        (table.destroy.unwrap())(handle);
        (table.destroy.unwrap())(null_mut());
    }
}

extern "C" fn note(
    context: *mut c_void,
    name: *const c_char,
    length: usize,
    _value: f64,
    _unit: *const c_char,
    _unit_length: usize,
    _state: *const c_char,
    _state_length: usize,
) {
    // SAFETY: the context is the list, and the name has this length.
    let (list, name) = unsafe {
        (&mut *context.cast::<Vec<String>>(), std::slice::from_raw_parts(name.cast::<u8>(), length))
    };
    list.push(String::from_utf8_lossy(name).into_owned());
}

#[test]
fn variables_come_by_name() {
    let table = fullpipe_congestion();
    let (handle, _) = create("cubic", "{}");
    let mut names: Vec<String> = Vec::new();
    // SAFETY: the context is the list that `note` expects.
    unsafe {
        assert_eq!((table.observe.unwrap())(handle, note, (&raw mut names).cast()), OK);
        (table.destroy.unwrap())(handle);
    }
    assert!(names.contains(&"cwnd".to_owned()), "{names:?}");
}
