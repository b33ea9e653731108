//! The table of functions and its types, as in the header `fullpipe_congestion.h`.

use crate::records::{Ack, Control, Lost, Path, Traits};
use congestion::CongestionControl;
use serde_json::Value;
use std::ffi::{c_char, c_int, c_void};

/// Version of the table. The version changes with every change of the layout.
pub const ABI: u32 = 2;
/// Status of a successful call.
pub const OK: c_int = 0;
/// Status of a failed call: a pointer was null, a value was invalid, or the algorithm failed.
pub const FAILED: c_int = 1;

/// One instance of an algorithm, to which a handle points.
pub struct Algorithm(pub(crate) Box<dyn CongestionControl>);

/// Type `fullpipe_see` of the header.
pub type See =
    extern "C" fn(*mut c_void, *const c_char, usize, f64, *const c_char, usize, *const c_char, usize);

/// The table of functions.
#[repr(C)]
#[allow(missing_docs, reason = "named for the methods of the trait")]
pub struct Api {
    pub abi: u32,
    pub create: Option<Create>,
    pub destroy: Option<unsafe extern "C" fn(*mut Algorithm)>,
    pub traits: Option<unsafe extern "C" fn(*const Algorithm, *mut Traits) -> c_int>,
    pub control: Option<unsafe extern "C" fn(*const Algorithm, *mut Control) -> c_int>,
    pub established: Option<OnPath>,
    pub ack: Option<unsafe extern "C" fn(*mut Algorithm, *const Ack, *const Path) -> c_int>,
    pub lost: Option<unsafe extern "C" fn(*mut Algorithm, *const Lost, *const Path) -> c_int>,
    pub congestion: Option<unsafe extern "C" fn(*mut Algorithm, u32, *const Path) -> c_int>,
    pub recovery_exit: Option<OnPath>,
    pub sent: Option<unsafe extern "C" fn(*mut Algorithm, u32, u32, u64, *const Path) -> c_int>,
    pub set_cwnd: Option<unsafe extern "C" fn(*mut Algorithm, u32) -> c_int>,
    pub next_wakeup: Option<unsafe extern "C" fn(*const Algorithm) -> u64>,
    pub wakeup: Option<OnPath>,
    pub observe: Option<unsafe extern "C" fn(*const Algorithm, See, *mut c_void) -> c_int>,
    pub undo: Option<unsafe extern "C" fn(*mut Algorithm, u32, u32, *const Path) -> c_int>,
    pub restart: Option<unsafe extern "C" fn(*mut Algorithm, u32) -> c_int>,
}

/// Builds an algorithm from a name, parameters and a seed, or returns an error message.
pub type Make = fn(&str, &Value, u64) -> Result<Box<dyn CongestionControl>, String>;
/// C version of [`Make`], with parameters as JSON text. The last two arguments are a buffer for the error message
/// and the size of the buffer.
pub type Create =
    unsafe extern "C" fn(*const c_char, *const c_char, u64, *mut c_char, usize) -> *mut Algorithm;
/// Function of the table for events whose only argument is the path.
pub type OnPath = unsafe extern "C" fn(*mut Algorithm, *const Path) -> c_int;
