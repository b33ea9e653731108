//! Any sequence of events, over every algorithm of the registry: the invariants of `congestion::kit` hold.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Err(broken) = congestion::kit::judge_registry(bytes) {
        panic!("{broken}");
    }
});
