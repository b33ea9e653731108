//! No algorithm allocates after it is built, with any sequence of events.
#![allow(unsafe_code, reason = "counting allocations needs an allocator")]

use congestion::kit::{Script, Transport};
use congestion::{build, descriptors};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: all calls are passed on unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's guarantees apply to this call, too.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's guarantees apply to this call, too.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn no_algorithm_allocates_once_it_is_built() {
    let mut rng = units::Rng::stream(1, "allocation");
    let bytes: Vec<u8> = (0..2_000).flat_map(|_| rng.next_u64().to_le_bytes()).collect();
    let script = Script::from_bytes(&bytes);
    for descriptor in descriptors() {
        let mut algorithm = build(descriptor.name, &serde_json::Value::Null, 1).expect("defaults are valid");
        let mut transport = Transport::new(script.mss);
        algorithm.on_established(&transport.path(true));
        let before = ALLOCATIONS.get();
        script.events.iter().for_each(|event| transport.apply(&mut *algorithm, event));
        assert_eq!(ALLOCATIONS.get() - before, 0, "{} allocates", descriptor.name);
    }
}
