//! The algorithms behind a C interface. The header `include/fullpipe_congestion.h` describes the fields.
//!
//! One symbol, [`fullpipe_congestion`], returns a table of functions, one for each method of
//! [`congestion::CongestionControl`]. A handle is a pointer to a boxed algorithm. No panic unwinds into C: a
//! panic becomes the status [`FAILED`], after which only `destroy` may be called. No memory is allocated between
//! `create` and `destroy`.
#![allow(unsafe_code, reason = "C hands over pointers")]

mod abi;
mod foreign;
mod host;
mod records;
mod written;

pub use abi::{ABI, Algorithm, Api, Create, FAILED, Make, OK, OnPath, See};
use congestion::{Congestion, CongestionControl, Probe, Reading, Sent, Undo};
pub use host::{Failure, Library};
pub use records::{Ack, Control, Lost, NONE, Path, Traits};
use serde_json::Value;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use units::Duration;

/// The C header of the table.
pub const HEADER: &str = include_str!("../include/fullpipe_congestion.h");
impl Api {
    /// Returns the table of functions for algorithms that `create` builds. The macro [`export_algorithms`] calls
    /// this function.
    pub const fn with_create(create: Create) -> Api {
        Api { create: Some(create), ..API }
    }
}

static API_OF_THE_REGISTRY: Api = API;
const API: Api = Api {
    abi: ABI,
    create: Some(create),
    destroy: Some(destroy),
    traits: Some(traits),
    control: Some(control),
    established: Some(established),
    ack: Some(ack),
    lost: Some(lost),
    congestion: Some(congestion),
    recovery_exit: Some(recovery_exit),
    sent: Some(sent),
    set_cwnd: Some(set_cwnd),
    next_wakeup: Some(next_wakeup),
    wakeup: Some(wakeup),
    observe: Some(observe),
    undo: Some(undo),
    restart: Some(restart),
};

/// Returns the table of the algorithms in the registry.
#[cfg_attr(feature = "symbol", unsafe(no_mangle))]
pub extern "C" fn fullpipe_congestion() -> &'static Api {
    &API_OF_THE_REGISTRY
}

/// Exports your own algorithms from a crate of the type `cdylib`. Simulations refer to them as "library:PATH:NAME".
///
/// The argument is a function `fn(&str, &serde_json::Value, u64) -> Result<Box<dyn CongestionControl>, String>` of a
/// name, parameters and a seed. Use `fullpipe-capi` without default features, because your crate defines the
/// symbol itself.
#[macro_export]
macro_rules! export_algorithms {
    ($make:path) => {
        /// The table of functions.
        #[allow(unsafe_code, reason = "C needs it")]
        #[unsafe(no_mangle)]
        pub extern "C" fn fullpipe_congestion() -> &'static $crate::Api {
            unsafe extern "C" fn create(
                name: *const std::ffi::c_char,
                params: *const std::ffi::c_char,
                seed: u64,
                error: *mut std::ffi::c_char,
                error_size: usize,
            ) -> *mut $crate::Algorithm {
                // SAFETY: as the header requires of the caller.
                unsafe { $crate::created($make, name, params, seed, error, error_size) }
            }
            static API: $crate::Api = $crate::Api::with_create(create);
            &API
        }
    };
}

/// Calls `f` with the algorithm of `handle` and with `record`. Returns [`FAILED`] if a pointer is null.
///
/// # Safety
/// Each pointer is null or valid, and no other thread uses the handle during the call.
unsafe fn with<T>(
    handle: *mut Algorithm,
    record: *const T,
    f: impl FnOnce(&mut dyn CongestionControl, &T) -> Option<()>,
) -> c_int {
    // SAFETY: as the caller promises.
    let (handle, record) = unsafe { (handle.as_mut(), record.as_ref()) };
    let (Some(handle), Some(record)) = (handle, record) else { return FAILED };
    status(|| f(handle.0.as_mut(), record))
}

/// Runs `f` and returns a status. A panic is caught and returned as a failure.
fn status(f: impl FnOnce() -> Option<()>) -> c_int {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(Some(())) => OK,
        _ => FAILED,
    }
}

unsafe extern "C" fn create(
    name: *const c_char,
    params: *const c_char,
    seed: u64,
    error: *mut c_char,
    error_size: usize,
) -> *mut Algorithm {
    // SAFETY: as documented in the header.
    unsafe { created(of_the_registry, name, params, seed, error, error_size) }
}

fn of_the_registry(name: &str, params: &Value, seed: u64) -> Result<Box<dyn CongestionControl>, String> {
    congestion::build(name, params, seed).map_err(|error| error.to_string())
}

/// Implementation of `create` with a function that builds algorithms.
///
/// # Safety
/// Texts end with a zero or are null, and `error` is null or has room for `error_size` bytes.
#[doc(hidden)]
pub unsafe fn created(
    make: Make,
    name: *const c_char,
    params: *const c_char,
    seed: u64,
    error: *mut c_char,
    error_size: usize,
) -> *mut Algorithm {
    let text =
        // SAFETY: as the caller promises.
        |p: *const c_char| (!p.is_null()).then(|| unsafe { CStr::from_ptr(p) }.to_str().ok()).flatten();
    let made = catch_unwind(|| {
        let name = text(name).ok_or("the name is null or not valid UTF-8")?;
        let params = serde_json::from_str(text(params).ok_or("the parameters are null or not valid UTF-8")?)
            .map_err(|error| format!("parameters of {name}: {error}"))?;
        make(name, &params, seed)
    });
    match made.unwrap_or_else(|_| Err("the algorithm panicked".to_owned())) {
        Ok(algorithm) => Box::into_raw(Box::new(Algorithm(algorithm))),
        Err(message) => {
            // SAFETY: as the caller promises.
            unsafe { write_text(&message, error, error_size) };
            std::ptr::null_mut()
        }
    }
}

/// # Safety
/// `to` is null or has room for `size` bytes.
unsafe fn write_text(text: &str, to: *mut c_char, size: usize) {
    if to.is_null() || size == 0 {
        return;
    }
    let count = text.len().min(size - 1);
    // SAFETY: count + 1 bytes fit.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr().cast(), to, count);
        *to.add(count) = 0;
    }
}

unsafe extern "C" fn destroy(handle: *mut Algorithm) {
    if !handle.is_null() {
        // SAFETY: the handle came from `create` and is not used again.
        let handle = unsafe { Box::from_raw(handle) };
        let _ = catch_unwind(AssertUnwindSafe(|| drop(handle)));
    }
}

unsafe extern "C" fn traits(handle: *const Algorithm, out: *mut Traits) -> c_int {
    // SAFETY: each pointer is null or valid.
    let (handle, out) = unsafe { (handle.as_ref(), out.as_mut()) };
    let (Some(handle), Some(out)) = (handle, out) else { return FAILED };
    status(|| {
        *out = handle.0.traits().into();
        Some(())
    })
}

unsafe extern "C" fn control(handle: *const Algorithm, out: *mut Control) -> c_int {
    // SAFETY: each pointer is null or valid.
    let (handle, out) = unsafe { (handle.as_ref(), out.as_mut()) };
    let (Some(handle), Some(out)) = (handle, out) else { return FAILED };
    status(|| {
        *out = handle.0.control().into();
        Some(())
    })
}

unsafe extern "C" fn established(handle: *mut Algorithm, path: *const Path) -> c_int {
    // SAFETY: as documented in the header. The same holds for all calls below.
    unsafe {
        with(handle, path, |algorithm, path| {
            algorithm.on_established(&path.read()?);
            Some(())
        })
    }
}

unsafe extern "C" fn ack(handle: *mut Algorithm, ack: *const Ack, path: *const Path) -> c_int {
    // SAFETY: see `established`.
    let Some(ack) = (unsafe { ack.as_ref() }) else { return FAILED };
    // SAFETY: see `established`.
    unsafe {
        with(handle, path, |algorithm, path| {
            algorithm.on_ack(&ack.read()?, &path.read()?);
            Some(())
        })
    }
}

unsafe extern "C" fn lost(handle: *mut Algorithm, packet: *const Lost, path: *const Path) -> c_int {
    // SAFETY: see `established`.
    let Some(packet) = (unsafe { packet.as_ref() }) else { return FAILED };
    // SAFETY: see `established`.
    unsafe {
        with(handle, path, |algorithm, path| {
            algorithm.on_lost(&packet.read(), &path.read()?);
            Some(())
        })
    }
}

unsafe extern "C" fn congestion(handle: *mut Algorithm, episode: u32, path: *const Path) -> c_int {
    // SAFETY: see `established`.
    unsafe {
        with(handle, path, |algorithm, path| {
            let episode = match episode {
                0 => Congestion::Loss,
                1 => Congestion::TailLoss { app_limited: path.app_limited != 0 },
                2 => Congestion::Ecn,
                3 => Congestion::Delay,
                4 => Congestion::Timeout { first: true },
                5 => Congestion::Timeout { first: false },
                _ => return None,
            };
            algorithm.on_congestion(episode, &path.read()?);
            Some(())
        })
    }
}

unsafe extern "C" fn recovery_exit(handle: *mut Algorithm, path: *const Path) -> c_int {
    // SAFETY: see `established`.
    unsafe {
        with(handle, path, |algorithm, path| {
            algorithm.on_recovery_exit(&path.read()?);
            Some(())
        })
    }
}

unsafe extern "C" fn sent(
    handle: *mut Algorithm,
    packets: u32,
    from_idle: u32,
    gap: u64,
    path: *const Path,
) -> c_int {
    // SAFETY: see `established`.
    unsafe {
        with(handle, path, |algorithm, path| {
            let burst = Sent { packets, from_idle: from_idle != 0, gap: Duration::from_nanos(gap) };
            algorithm.on_send(&burst, &path.read()?);
            Some(())
        })
    }
}

unsafe extern "C" fn set_cwnd(handle: *mut Algorithm, packets: u32) -> c_int {
    // SAFETY: see `established`.
    let Some(handle) = (unsafe { handle.as_mut() }) else { return FAILED };
    status(|| {
        handle.0.set_cwnd(packets);
        Some(())
    })
}

unsafe extern "C" fn next_wakeup(handle: *const Algorithm) -> u64 {
    // SAFETY: see `established`.
    let Some(handle) = (unsafe { handle.as_ref() }) else { return NONE };
    let asked = catch_unwind(AssertUnwindSafe(|| handle.0.next_wakeup()));
    asked.ok().flatten().map_or(NONE, units::Time::as_nanos)
}

unsafe extern "C" fn wakeup(handle: *mut Algorithm, path: *const Path) -> c_int {
    // SAFETY: see `established`.
    unsafe {
        with(handle, path, |algorithm, path| {
            algorithm.on_wakeup(&path.read()?);
            Some(())
        })
    }
}

unsafe extern "C" fn observe(handle: *const Algorithm, see: See, context: *mut c_void) -> c_int {
    // SAFETY: see `established`.
    let Some(handle) = (unsafe { handle.as_ref() }) else { return FAILED };
    status(|| {
        let mut sink = |name: &'static str, reading| {
            let (value, unit, state) = match reading {
                Reading::Number(value, unit) => (value, unit, None),
                Reading::State(state) => (f64::NAN, "", Some(state)),
            };
            let text = |text: &'static str| text.as_ptr().cast::<c_char>();
            let state_at = state.map_or(std::ptr::null(), text);
            let length = state.map_or(0, str::len);
            see(context, text(name), name.len(), value, text(unit), unit.len(), state_at, length);
        };
        handle.0.observe(&mut Probe::new(&mut sink));
        Some(())
    })
}

unsafe extern "C" fn undo(
    handle: *mut Algorithm,
    prior_cwnd: u32,
    prior_ssthresh: u32,
    path: *const Path,
) -> c_int {
    // SAFETY: see `established`.
    unsafe {
        with(handle, path, |algorithm, path| {
            algorithm.on_undo(&Undo { prior_cwnd, prior_ssthresh }, &path.read()?);
            Some(())
        })
    }
}

unsafe extern "C" fn restart(handle: *mut Algorithm, packets: u32) -> c_int {
    // SAFETY: see `established`.
    let Some(handle) = (unsafe { handle.as_mut() }) else { return FAILED };
    status(|| {
        handle.0.restart(packets);
        Some(())
    })
}
