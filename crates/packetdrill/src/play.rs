//! Plays a script: the times of its events as packetdrill computes them, and the verdict.

use crate::clock::{micros, seconds, time};
use crate::compare;
use crate::kernel;
use crate::model::Model;
use crate::script::{Action, Assertion, Event, Script, Statement, Unreadable, When};
use crate::subject::Subject;
use crate::verdict::{Difference, Outcome, Stop, Verdict};
use std::collections::BTreeMap;
use units::Duration;

/// Default tolerance in microseconds (packetdrill's `--tolerance_usecs`).
const TOLERANCE_US: u64 = 4_000;
/// Part of the time since the preceding event that is tolerated, too (packetdrill's `--tolerance_percent`).
const TOLERATED_PART: f64 = 0.125;

/// Play a script against the TCP of the model; `defaults`: the text of `defaults.sh`, which scripts of the kernel run
/// first.
pub fn play(script: &str, defaults: &str) -> Outcome {
    match parsed(script) {
        Ok(script) => judge(&script, Model::new(&script, defaults)),
        Err(outcome) => *outcome,
    }
}

/// Parse a script. The error is the verdict on a script that is malformed, or that no engine can play.
pub(crate) fn parsed(text: &str) -> Result<Script, Box<Outcome>> {
    let ended = |verdict, line, reason| Box::new(outcome(verdict, Some(line), Some(reason)));
    let script = Script::parse(text).map_err(|error| ended(Verdict::Malformed, error.line, error.reason))?;
    if let Some((line, name)) = script.names().find(|(_, name)| !kernel::may_read(name)) {
        return Err(ended(Verdict::Malformed, line, format!("no field of tcp_info: {name}")));
    }
    match &script.lacking {
        None => Ok(script),
        Some((line, what)) => Err(ended(Verdict::NotApplicable, *line, what.clone())),
    }
}

/// Play the events of a script against a TCP.
pub(crate) fn judge(script: &Script, subject: impl Subject) -> Outcome {
    let mut player = Player::new(script, subject);
    let last_line = script.events.last().map_or(0, |event| event.line);
    let mut events = script.events.iter().enumerate();
    let ended = events.find_map(|(position, event)| Some((event.line, player.play(position, event).err()?)));
    let ended = ended.or_else(|| Some((last_line, player.finish().err()?)));
    let (line, verdict, reason, difference) = match ended {
        None if player.packets + player.assertions == 0 => (None, Verdict::SaysNothing, None, None),
        None => (None, Verdict::Passed, None, None),
        Some((line, Stop::Failed(difference))) => (Some(line), Verdict::Failed, None, Some(difference)),
        Some((line, Stop::NotApplicable(reason))) => (Some(line), Verdict::NotApplicable, Some(reason), None),
    };
    let Player { packets, assertions, unread, .. } = player;
    Outcome { verdict, line, reason, difference, packets, assertions, unread }
}

pub(crate) fn outcome(verdict: Verdict, line: Option<usize>, reason: Option<String>) -> Outcome {
    let (packets, assertions, unread) = (0, 0, Vec::new());
    Outcome { verdict, line, reason, difference: None, packets, assertions, unread }
}

struct Player<S> {
    subject: S,
    tolerance_us: i64,
    variables: BTreeMap<String, f64>,
    /// Time at which a blocked call returns, and its tolerance, microseconds.
    returns: Option<(i64, i64)>,
    /// Time of the last event in the script, microseconds, and whether a packet was injected.
    last: (i64, bool),
    /// Packets that the script has expected so far.
    expected: usize,
    packets: usize,
    assertions: usize,
    unread: Vec<String>,
}

impl<S: Subject> Player<S> {
    fn new(script: &Script, subject: S) -> Player<S> {
        Player {
            subject,
            tolerance_us: script.option("tolerance_usecs").unwrap_or(TOLERANCE_US) as i64,
            variables: BTreeMap::new(),
            returns: None,
            last: (0, false),
            expected: 0,
            packets: 0,
            assertions: 0,
            unread: Vec::new(),
        }
    }

    fn play(&mut self, position: usize, event: &Event) -> Result<(), Stop> {
        self.subject.begin(position)?;
        let is_injected = matches!(event.action, Action::Inject(_));
        let (last, after_injected) = self.last;
        // Packets injected one after the other keep the distance of the script, whenever the first one arrived.
        let base = if is_injected && after_injected { last } else { micros(self.subject.now()) };
        let (from, until) = match event.when {
            When::Absolute(from, until) => (from, until),
            When::Relative(from, until) => (base + from, base + until),
            When::Any => (base, base),
        };
        if let Action::Expect(packet) = &event.action {
            let tolerance = self.tolerance(from - last);
            let span = (event.when != When::Any).then_some((from - tolerance, until + tolerance));
            self.expected += 1;
            let counts = compare::expect(&mut self.subject, packet, self.expected, span)?;
            self.packets += usize::from(counts);
            self.last = (micros(self.subject.now()), false);
            return Ok(());
        }
        let at = time(from).max(self.subject.now());
        self.subject.advance(at)?;
        self.check_return()?;
        self.last = (from, is_injected);
        match &event.action {
            Action::Inject(packet) => self.subject.receive(packet),
            Action::Call(call) => {
                if let Some(returns) = event.returns.filter(|_| self.subject.times(call)) {
                    let returns = returns + if event.when.is_relative() { base } else { 0 };
                    self.returns = Some((returns, self.tolerance(returns - from)));
                }
                self.subject.call(call)
            }
            Action::Shell(shell) => self.subject.run(shell),
            Action::Code(statements) => statements.iter().try_for_each(|statement| self.execute(statement)),
            Action::Expect(_) => Ok(()),
        }
    }

    /// Tolerance of a time that is `after_us` after the event before it.
    fn tolerance(&self, after_us: i64) -> i64 {
        self.tolerance_us.max((TOLERATED_PART * after_us as f64) as i64)
    }

    /// Wait for a call that still blocks.
    fn finish(&mut self) -> Result<(), Stop> {
        let Some((returns, tolerance)) = self.returns else { return Ok(()) };
        let latest = time(returns + tolerance);
        self.subject.advance(latest + Duration::from_micros(1))?;
        self.check_return()
    }

    /// Compare the time at which a blocked call has returned.
    fn check_return(&mut self) -> Result<(), Stop> {
        let Some((returns, tolerance)) = self.returns else { return Ok(()) };
        let (earliest, latest) = (returns - tolerance, returns + tolerance);
        let returned = self.subject.returned();
        if returned.is_none() && micros(self.subject.now()) <= latest {
            return Ok(());
        }
        self.returns = None;
        self.assertions += 1;
        if returned.is_some_and(|at| (earliest..=latest).contains(&micros(at))) {
            return Ok(());
        }
        let seen = returned
            .map_or("the call blocks".to_owned(), |at| format!("it returns at {}", seconds(micros(at))));
        Err(Stop::Failed(Difference {
            packet: None,
            time_s: micros(self.subject.now()) as f64 / 1e6,
            expected: format!("the call returns between {} and {}", seconds(earliest), seconds(latest)),
            seen,
        }))
    }

    fn execute(&mut self, statement: &Statement) -> Result<(), Stop> {
        match statement {
            Statement::Assert(assertion) => self.assert(assertion),
            Statement::Assign(name, value) => {
                match value.value(&|name| self.read(name)) {
                    Ok(value) => _ = self.variables.insert(name.clone(), value),
                    Err(Unreadable(name)) => return self.pass_over(name),
                }
                Ok(())
            }
            Statement::Unknown(reason) => Stop::lacks(reason),
        }
    }

    fn assert(&mut self, Assertion { text, condition }: &Assertion) -> Result<(), Stop> {
        match condition.value(&|name| self.read(name)) {
            Err(Unreadable(name)) => return self.pass_over(name),
            Ok(value) => {
                self.assertions += 1;
                if value != 0.0 {
                    return Ok(());
                }
            }
        }
        let values = condition.names().into_iter().filter_map(|name| Some((name, self.read(name)?)));
        let is_shown = |name: &str| !name.starts_with("TCP_");
        let seen: Vec<String> = values
            .filter(|(name, _)| is_shown(name))
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        Err(Stop::Failed(Difference {
            packet: None,
            time_s: micros(self.subject.now()) as f64 / 1e6,
            expected: text.clone(),
            seen: seen.join(", "),
        }))
    }

    /// Pass over a statement with a name that has no value.
    fn pass_over(&mut self, name: String) -> Result<(), Stop> {
        if !self.subject.may_pass_over(&name) {
            return Stop::lacks(format!("the name {name}"));
        }
        self.unread.push(name);
        Ok(())
    }

    fn read(&self, name: &str) -> Option<f64> {
        self.variables.get(name).copied().or_else(|| self.subject.read(name))
    }
}
