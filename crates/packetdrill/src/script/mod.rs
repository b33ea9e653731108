//! Scripts: events with times, and the parser of their text.

mod code;
mod expression;
mod packet;
mod settings;
mod statement;

pub use code::{Assertion, Statement};
pub use expression::Unreadable;
pub use packet::Packet;
pub use settings::{Qdisc, Settings, Shell};

use statement::statements;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Options of packetdrill that a script may set, and their effect on a virtual clock.
const OPTIONS_WITHOUT_EFFECT: [&str; 2] = ["send_omit_free", "ip_version"];

/// Options with a number that changes a verdict or must be one, and its limits.
const NUMBERS: [(&str, RangeInclusive<u64>); 4] = [
    ("mss", 1..=65_495),
    ("mtu", 68..=65_535),
    ("tcp_ts_tick_usecs", 0..=1_000_000),
    ("tolerance_usecs", 0..=LATEST_US as u64),
];

/// Other options of packetdrill. A script that has one of them does not apply.
const OPTIONS_THAT_ARE_LACKING: [&str; 20] = [
    "bind_port",
    "code_command",
    "code_format",
    "code_sockopt",
    "connect_port",
    "debug",
    "define",
    "dry_run",
    "gateway_ip",
    "init_scripts",
    "local_ip",
    "netmask_ip",
    "non_fatal",
    "persistent_tun_dev",
    "remote_ip",
    "speed",
    "strict_segments",
    "tcp_ts_ecr_scaled",
    "tolerance_percent",
    "use_expect",
];

/// Latest time in a script, microseconds. The relative times of its events add up to no more.
const LATEST_US: i64 = 1_000_000_000_000;

/// Longest reason, characters. A reason quotes the script.
const MOST_SHOWN: usize = 200;

/// Longest text of a script, bytes. The script of a flow of 100 MB has a tenth.
const MOST_BYTES: usize = 64 << 20;

/// A script.
#[derive(Debug)]
pub struct Script {
    /// Options in lines that begin with `--`.
    pub options: BTreeMap<String, String>,
    /// The first option that no engine has, with its line.
    pub lacking: Option<(usize, String)>,
    /// Events in the order of their lines.
    pub events: Vec<Event>,
}

/// A step of a script.
#[derive(Debug)]
pub struct Event {
    /// Line in the file, from 1.
    pub line: usize,
    /// Time of the step.
    pub when: When,
    /// Time at which a call returns that blocks, counted as `when`.
    pub returns: Option<i64>,
    /// The step.
    pub action: Action,
}

/// Time of an event, microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// From the start of the script, between two times.
    Absolute(i64, i64),
    /// After the preceding event, between two times.
    Relative(i64, i64),
    /// At any time.
    Any,
}

impl When {
    /// Whether the time is counted from the preceding event.
    pub fn is_relative(self) -> bool {
        !matches!(self, When::Absolute(..))
    }
}

/// Kind of an event.
#[derive(Debug)]
pub enum Action {
    /// A packet arrives at the TCP under test.
    Inject(Packet),
    /// The TCP under test sends a packet.
    Expect(Packet),
    /// The application calls the socket.
    Call(Call),
    /// A command of the shell.
    Shell(Shell),
    /// Assertions and assignments.
    Code(Vec<Statement>),
}

/// A system call.
#[derive(Debug)]
pub struct Call {
    /// Name of the call.
    pub name: String,
    /// Text between the parentheses.
    pub arguments: String,
    /// Expected result, such as `-1 EINPROGRESS`.
    pub result: String,
}

/// A line that the parser cannot read.
#[derive(Debug, PartialEq, Eq)]
pub struct Malformed {
    /// Line in the file, from 1.
    pub line: usize,
    /// Reason.
    pub reason: String,
}

impl Script {
    /// Parse the text of a script.
    ///
    /// # Errors
    /// If a line is no event, option or comment.
    pub fn parse(text: &str) -> Result<Script, Malformed> {
        if text.len() > MOST_BYTES {
            return Err(Malformed { line: 1, reason: format!("a text of more than {MOST_BYTES} bytes") });
        }
        let mut script = Script { options: BTreeMap::new(), lacking: None, events: Vec::new() };
        for (line, statement) in statements(text)? {
            let read = script.read(line, &statement);
            read.map_err(|reason| Malformed { line, reason: reason.chars().take(MOST_SHOWN).collect() })?;
        }
        script.check_end()?;
        Ok(script)
    }

    /// Check that the times of the events add up to no more than the latest time.
    fn check_end(&self) -> Result<(), Malformed> {
        let mut end_us = 0;
        for event in &self.events {
            end_us = match event.when {
                When::Absolute(_, until) => until.max(end_us),
                When::Relative(_, until) => end_us + until,
                When::Any => end_us,
            };
            if end_us > LATEST_US {
                return Err(Malformed { line: event.line, reason: too_late() });
            }
        }
        Ok(())
    }

    fn read(&mut self, line: usize, statement: &str) -> Result<(), String> {
        if let Some(option) = statement.strip_prefix("--") {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            let (name, value) = (name.trim(), value.trim().trim_matches('"'));
            if OPTIONS_THAT_ARE_LACKING.contains(&name) {
                self.lacking.get_or_insert_with(|| (line, format!("the option --{name}")));
                return Ok(());
            }
            if let Some((_, limits)) = NUMBERS.iter().find(|(known, _)| *known == name) {
                if !value.parse().is_ok_and(|number| limits.contains(&number)) {
                    let (least, most) = (limits.start(), limits.end());
                    return Err(format!(
                        "--{name}={value}; the option needs a number from {least} to {most}"
                    ));
                }
            } else if !OPTIONS_WITHOUT_EFFECT.contains(&name) {
                return Err(format!("unknown option --{name}"));
            }
            self.options.insert(name.to_owned(), value.to_owned());
            return Ok(());
        }
        let (when, returns, rest) = if statement.starts_with('`') {
            (When::Relative(0, 0), None, statement)
        } else {
            time(statement)?
        };
        self.events.push(Event { line, when, returns, action: action(rest)? });
        Ok(())
    }

    /// The number given by an option.
    pub fn option(&self, name: &str) -> Option<u64> {
        self.options.get(name)?.parse().ok()
    }

    /// Names in assertions and assignments, each with the line of its event.
    pub fn names(&self) -> impl Iterator<Item = (usize, &str)> {
        let blocks = self.events.iter().filter_map(|event| match &event.action {
            Action::Code(statements) => Some((event.line, statements)),
            _ => None,
        });
        blocks.flat_map(|(line, statements)| {
            let names = statements.iter().flat_map(|statement| match statement {
                Statement::Assert(assertion) => assertion.condition.names(),
                Statement::Assign(_, value) => value.names(),
                Statement::Unknown(_) => Vec::new(),
            });
            names.map(move |name| (line, name))
        })
    }

    /// Packets that arrive.
    pub fn injected(&self) -> impl Iterator<Item = &Packet> {
        self.events.iter().filter_map(|event| match &event.action {
            Action::Inject(packet) => Some(packet),
            _ => None,
        })
    }

    /// System calls.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.events.iter().filter_map(|event| match &event.action {
            Action::Call(call) => Some(call),
            _ => None,
        })
    }
}

/// Split the time of an event, and the time at which its call returns, from its action.
fn time(statement: &str) -> Result<(When, Option<i64>, &str), String> {
    if let Some(rest) = statement.strip_prefix('*') {
        return Ok((When::Any, None, rest.trim_start()));
    }
    let (relative, from, rest) = instant(statement)?;
    let (mut until, mut returns, mut rest) = (from, None, rest.trim_start());
    if let Some(after) = rest.strip_prefix('~') {
        let (_, end, after) = instant(after.trim_start())?;
        (until, rest) = (end, after.trim_start());
    } else if let Some(after) = rest.strip_prefix("...") {
        let (_, end, after) = instant(after.trim_start())?;
        (returns, rest) = (Some(end), after.trim_start());
    }
    let when = if relative { When::Relative(from, until) } else { When::Absolute(from, until) };
    Ok((when, returns, rest))
}

/// Read a number of seconds: whether it has a plus sign, its value in microseconds, and the text behind it.
fn instant(text: &str) -> Result<(bool, i64, &str), String> {
    let (relative, digits) = text.strip_prefix('+').map_or((false, text), |rest| (true, rest.trim_start()));
    let after = digits.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(digits.len());
    let end = digits[..after].find("...").unwrap_or(after);
    let seconds: f64 = digits[..end].parse().map_err(|_| format!("no time at {text:.40?}"))?;
    let micros = (seconds * 1e6).round() as i64;
    if micros > LATEST_US { Err(too_late()) } else { Ok((relative, micros, &digits[end..])) }
}

fn too_late() -> String {
    format!("a time above {} s", LATEST_US / 1_000_000)
}

fn action(text: &str) -> Result<Action, String> {
    if let Some(packet) = text.strip_prefix('<') {
        return Ok(Action::Inject(Packet::arriving(packet)?));
    }
    if let Some(packet) = text.strip_prefix('>') {
        return Ok(Action::Expect(Packet::parse(packet)?));
    }
    if let Some(commands) = text.strip_prefix('`') {
        return Ok(Action::Shell(Shell::parse(commands.trim_end_matches('`'))));
    }
    if let Some(code) = text.strip_prefix("%{") {
        return Ok(Action::Code(code::statements(code.trim_end_matches("}%"))?));
    }
    call(text).map(Action::Call)
}

fn call(text: &str) -> Result<Call, String> {
    let problem = || format!("no packet, call, shell command or code: {text:.40?}");
    let (name, rest) = text.split_once('(').ok_or_else(problem)?;
    let (arguments, result) = rest.rsplit_once(')').ok_or_else(problem)?;
    // A result may have a remark in parentheses, as in `= -1 EAGAIN (Try again)`.
    let (arguments, result) = match rest.rfind(") =") {
        Some(at) => (&rest[..at], &rest[at + 3..]),
        None => (arguments, result),
    };
    let name = name.trim();
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Err(problem());
    }
    let owned = |text: &str| text.trim().to_owned();
    Ok(Call {
        name: owned(name),
        arguments: owned(arguments),
        result: owned(result.trim_start_matches([' ', '='])),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_absolute_relative_ranges_or_any() {
        let of = |text| time(text).map(|(when, _, _)| when);
        assert_eq!(of("0 close(3) = 0"), Ok(When::Absolute(0, 0)));
        assert_eq!(of("+.002 close(3) = 0"), Ok(When::Relative(2_000, 2_000)));
        assert_eq!(of("+.3~+.310 > . 1:1(0)"), Ok(When::Relative(300_000, 310_000)));
        assert_eq!(of("0.5 ~ 0.7 > . 1:1(0)"), Ok(When::Absolute(500_000, 700_000)));
        assert_eq!(of("+0...0.1 read(3) = 0"), Ok(When::Relative(0, 0)));
        assert_eq!(of("+.002 ... 0.102 connect(4) = 0"), Ok(When::Relative(2_000, 2_000)));
        assert_eq!(of("* > R 1:1(0)"), Ok(When::Any));
        assert_eq!(time("+.01...0.3 write(3) = 1").unwrap().1, Some(300_000));
        assert!(of("soon > . 1:1(0)").is_err());
    }

    #[test]
    fn calls_have_arguments_and_a_result() {
        let Call { name, arguments, result } =
            call("connect(3, ..., ...) = -1 EINPROGRESS (In progress)").unwrap();
        assert_eq!((name.as_str(), arguments.as_str()), ("connect", "3, ..., ..."));
        assert_eq!(result, "-1 EINPROGRESS (In progress)");
    }

    #[test]
    fn a_line_that_is_no_event_is_named() {
        assert_eq!(Script::parse("// nothing\n\n+0 frobnicate\n").unwrap_err().line, 3);
        assert_eq!(Script::parse("--spede=9\n").unwrap_err().reason, "unknown option --spede");
    }
}
