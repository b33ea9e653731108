//! Probes, which read the internal variables of algorithms, queues and media.

/// What an internal variable shows at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reading {
    /// A number and its unit; the unit is empty for pure numbers, and "bool" for switches.
    Number(f64, &'static str),
    /// Which of several states it is in.
    State(&'static str),
}

/// Receives the named internal variables of an algorithm or a queue.
pub struct Probe<'a> {
    sink: &'a mut dyn FnMut(&'static str, Reading),
}

impl<'a> Probe<'a> {
    /// A probe that hands every variable to `sink`.
    pub fn new(sink: &'a mut dyn FnMut(&'static str, Reading)) -> Probe<'a> {
        Probe { sink }
    }

    /// Reports a number.
    pub fn see(&mut self, name: &'static str, value: f64, unit: &'static str) {
        (self.sink)(name, Reading::Number(value, unit));
    }

    /// Reports a state by its name, such as "Startup" or "ProbeBW:Up". Every change is recorded when it happens, so a
    /// state variable is reported always, and is not a thing that changes with every acknowledgement.
    pub fn state(&mut self, name: &'static str, state: &'static str) {
        (self.sink)(name, Reading::State(state));
    }

    /// Reports a switch.
    pub fn flag(&mut self, name: &'static str, on: bool) {
        self.see(name, f64::from(u8::from(on)), "bool");
    }
}
