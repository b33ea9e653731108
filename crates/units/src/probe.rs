//! Probes, which read the internal variables of algorithms, queues and media.

/// Value of an internal variable at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reading {
    /// A number and its unit. The unit is empty for pure numbers, and "bool" for Booleans.
    Number(f64, &'static str),
    /// Name of the current state of a variable that has several states.
    State(&'static str),
}

/// Receiver of the named internal variables of an algorithm, a queue or a medium.
pub struct Probe<'a> {
    sink: &'a mut dyn FnMut(&'static str, Reading),
}

impl<'a> Probe<'a> {
    /// Creates a probe that passes every variable to `sink`.
    pub fn new(sink: &'a mut dyn FnMut(&'static str, Reading)) -> Probe<'a> {
        Probe { sink }
    }

    /// Reports a number.
    pub fn see(&mut self, name: &'static str, value: f64, unit: &'static str) {
        (self.sink)(name, Reading::Number(value, unit));
    }

    /// Reports a state by its name, such as "Startup" or "ProbeBW:Up". Every change of a state is recorded when
    /// it happens. A state must therefore be reported at every observation, and must not change with every
    /// acknowledgement.
    pub fn state(&mut self, name: &'static str, state: &'static str) {
        (self.sink)(name, Reading::State(state));
    }

    /// Reports a Boolean.
    pub fn flag(&mut self, name: &'static str, on: bool) {
        self.see(name, f64::from(u8::from(on)), "bool");
    }
}
