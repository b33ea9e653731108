//! User libraries: shared objects that provide algorithms and export the table of functions of the header.

use crate::foreign::Foreign;
use crate::{ABI, Api};
use congestion::CongestionControl;
use std::ffi::{CStr, CString, c_char};
use std::path::Path;
use units::Time;

const SYMBOL: &CStr = c"fullpipe_congestion";
const ERROR_BYTES: usize = 500;

/// Failure of an algorithm of a library. A failure ends the run: it unwinds the simulator as the payload of a panic
/// that prints no message.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Name of the algorithm.
    pub algorithm: String,
    /// Name of the flow.
    pub flow: String,
    /// Function of the table that failed.
    pub event: &'static str,
    /// Simulated time.
    pub time: Time,
    /// The problem.
    pub problem: String,
}

/// A table of functions in which all required functions are set.
#[derive(Clone, Copy)]
pub struct Library(&'static Api);

impl Library {
    /// Loads a shared object and runs its initialisers. The object is never unloaded.
    ///
    /// # Errors
    /// If the object cannot be loaded, exports no table of functions, or exports a table of another version.
    pub fn open(path: &Path) -> Result<Library, String> {
        let at = path.display();
        // SAFETY: a user who names a library trusts it: the code of the library runs in this process.
        let loaded = unsafe { libloading::Library::new(path) };
        let loaded = loaded.map_err(|error| format!("{at}: cannot be loaded: {error}"))?;
        type Entry = unsafe extern "C" fn() -> *const Api;
        // SAFETY: the symbol has this type in every library that is built against the header.
        let entry = unsafe { loaded.get::<Entry>(SYMBOL.to_bytes_with_nul()) };
        let entry = *entry.map_err(|_| format!("{at}: exports no fullpipe_congestion"))?;
        std::mem::forget(loaded);
        // SAFETY: the symbol has this type, and the table that it returns is static.
        let table = unsafe { entry().as_ref() };
        Library::from_table(table.ok_or_else(|| format!("{at}: fullpipe_congestion returns null"))?)
            .map_err(|problem| format!("{at}: {problem}"))
    }

    /// Creates a library from a table of functions.
    ///
    /// # Errors
    /// If the table is of another version, or lacks a required function.
    pub fn from_table(table: &'static Api) -> Result<Library, String> {
        if table.abi != ABI {
            return Err(format!(
                "exports version {} of the interface, not {ABI}; rebuild the library",
                table.abi
            ));
        }
        let needed = [
            ("create", table.create.is_some()),
            ("destroy", table.destroy.is_some()),
            ("traits", table.traits.is_some()),
            ("control", table.control.is_some()),
            ("ack", table.ack.is_some()),
            ("congestion", table.congestion.is_some()),
            ("set_cwnd", table.set_cwnd.is_some()),
        ];
        match needed.iter().find(|(_, is_there)| !is_there) {
            Some((name, _)) => Err(format!("its table of functions has no {name}")),
            None => Ok(Library(table)),
        }
    }

    /// Builds an algorithm for a flow from a name and parameters, which are a JSON object.
    ///
    /// # Errors
    /// If the library cannot build the algorithm (the error has the message of the library), or if the traits or the
    /// control of the algorithm are invalid.
    pub fn create(
        self,
        name: &str,
        params: &str,
        seed: u64,
        flow: &str,
    ) -> Result<Box<dyn CongestionControl>, String> {
        let text = |text: &str| {
            CString::new(text).map_err(|_| "the name or the parameters contain a zero byte".to_owned())
        };
        let (c_name, c_params) = (text(name)?, text(params)?);
        let mut error = [0 as c_char; ERROR_BYTES];
        let create = self.0.create.expect("checked when the library was opened");
        // SAFETY: texts end with a zero, and the buffer has the given length.
        let handle =
            unsafe { create(c_name.as_ptr(), c_params.as_ptr(), seed, error.as_mut_ptr(), ERROR_BYTES) };
        if handle.is_null() {
            error[ERROR_BYTES - 1] = 0;
            // SAFETY: the buffer ends with a zero.
            let said = unsafe { CStr::from_ptr(error.as_ptr()) }.to_string_lossy();
            return Err(format!("{name} cannot be built: {said}"));
        }
        Ok(Box::new(Foreign::new(self.0, handle, name, flow)?))
    }
}
