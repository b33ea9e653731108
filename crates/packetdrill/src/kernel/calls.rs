//! System calls as steps for the program in the guest, and their results.

use super::constants::{error, error_name, number, value};
use crate::script::Call;

/// Translate a call. The error is what the program lacks.
pub(super) fn translate(call: &Call) -> Result<String, String> {
    let arguments = split(&call.arguments);
    let lacks = || format!("the call {}({})", call.name, call.arguments);
    let argument = |n: usize| arguments.get(n).copied().unwrap_or("");
    let known = |n: usize| value(argument(n)).ok_or_else(lacks);
    // Descriptors of results may be errors.
    let new = || number(call.result.split_whitespace().next().unwrap_or("")).unwrap_or(-1);
    let size = |n: usize| buffer(argument(n - 1), known(n)?);
    let name = call.name.as_str();
    Ok(match name {
        "socket" => format!("socket {} {}", new(), known(1)? & !value("SOCK_STREAM").unwrap_or(1)),
        "bind" | "connect" | "close" => format!("{name} {}", known(0)?),
        "listen" | "shutdown" => format!("{name} {} {}", known(0)?, known(1)?),
        "accept" => format!("accept {} {} 0", known(0)?, new()),
        "accept4" => format!("accept {} {} {}", known(0)?, new(), known(3)?),
        "read" => format!("receive {} 0 {}", known(0)?, size(2)?),
        "recv" | "recvfrom" => format!("receive {} {} {}", known(0)?, known(3)?, size(2)?),
        "write" => format!("send {} 0 {}", known(0)?, size(2)?),
        "send" | "sendto" => {
            // Only an unconnected socket needs the address.
            let step = if argument(3).contains("MSG_FASTOPEN") { "send-to" } else { "send" };
            format!("{step} {} {} {}", known(0)?, known(3)?, size(2)?)
        }
        "sendmsg" | "recvmsg" => {
            let sizes: Vec<String> =
                sizes(argument(1)).ok_or_else(lacks)?.iter().map(i64::to_string).collect();
            format!("{name} {} {} {}", known(0)?, known(2)?, sizes.join(" "))
        }
        "setsockopt" => format!("{name} {} {}", known(0)?, option(&arguments).ok_or_else(lacks)?),
        "getsockopt" => format!("{name} {} {} {}", known(0)?, known(1)?, known(2)?),
        "fcntl" => format!("{name} {} {} {}", known(0)?, known(1)?, value(argument(2)).unwrap_or(0)),
        "ioctl" => format!("{name} {} {}", known(0)?, known(1)?),
        "epoll_create" => format!("{name} {}", new()),
        "epoll_ctl" => format!(
            "{name} {} {} {} {}",
            known(0)?,
            known(1)?,
            known(2)?,
            events(argument(3)).ok_or_else(lacks)?
        ),
        "epoll_wait" => format!("{name} {} {}", known(0)?, known(3)?),
        "open" => format!("{name} {}", new()),
        "sendfile" => format!("{name} {} {} {}", known(0)?, known(1)?, known(3)?),
        _ => return Err(format!("the call {name}")),
    })
}

/// The arguments of a call: the text between commas outside of parentheses and braces.
fn split(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    for (at, c) in text.char_indices() {
        depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
        if c == ',' && depth == 0 {
            found.push(text[start..at].trim());
            start = at + 1;
        }
    }
    found.push(text[start..].trim());
    found
}

/// The size of a buffer; `-` and the size if there is no buffer.
fn buffer(address: &str, size: i64) -> Result<String, String> {
    match address {
        "..." => Ok(size.to_string()),
        "NULL" => Ok(format!("-{size}")),
        _ => Err(format!("a buffer with the contents {address}")),
    }
}

/// Sizes in `{msg_name(...)=..., msg_iov(2)=[{..., 5}, {..., 6}], ...}`.
fn sizes(message: &str) -> Option<Vec<i64>> {
    let vector = message.split_once("msg_iov(")?.1.split_once("=[")?.1;
    let vector = vector.split(']').next()?;
    let size = |piece: &str| number(piece.split_once(',')?.1.trim().trim_end_matches(['}', ' ']));
    vector.split('{').skip(1).map(|piece| size(piece.trim().trim_end_matches(','))).collect()
}

/// Level, name, length and value of an option.
fn option(arguments: &[&str]) -> Option<String> {
    let [_, level, name, given, length] = arguments else { return None };
    let (level, name, length) = (value(level)?, value(name)?, value(length)?);
    let bytes = match given.strip_prefix('"') {
        Some(text) => format!(
            "x{}",
            text.trim_end_matches('"').bytes().map(|byte| format!("{byte:02x}")).collect::<String>()
        ),
        None => value(given.trim_matches(['[', ']']))?.to_string(),
    };
    (!given.contains('\\')).then(|| format!("{level} {name} {length} {bytes}"))
}

/// Events in `{events=EPOLLIN|EPOLLOUT, fd=4}`.
fn events(text: &str) -> Option<i64> {
    value(text.split_once("events=")?.1.split([',', '}']).next()?)
}

/// What a call has returned.
#[derive(Debug)]
pub(super) struct Returned {
    pub result: i64,
    pub errno: i64,
    /// Value behind a pointer among the arguments, if the program reads it.
    pub value: Option<i64>,
}

impl Returned {
    /// The difference from the result that the script expects: its text, and that of the kernel.
    pub fn difference(&self, call: &Call) -> Option<(String, String)> {
        let told =
            if self.result < 0 { format!("-1 {}", error_name(self.errno)) } else { self.result.to_string() };
        if !self.agrees(call) {
            return Some((format!("{} = {}", call.name, call.result), format!("{} = {told}", call.name)));
        }
        let (expected, seen) = (expected_value(call)?, self.value?);
        let text = |value: i64| format!("{} with the value {value}", call.name);
        (expected != seen).then(|| (text(expected), text(seen)))
    }

    fn agrees(&self, call: &Call) -> bool {
        let mut words = call.result.split_whitespace();
        let expected = words.next().and_then(number);
        let makes_descriptor =
            ["socket", "accept", "accept4", "open", "epoll_create"].contains(&call.name.as_str());
        match expected {
            None => true,
            Some(expected) if expected < 0 => {
                self.result < 0 && words.next().and_then(error).is_none_or(|errno| errno == self.errno)
            }
            Some(_) if makes_descriptor => self.result >= 0,
            Some(expected) => self.result == expected,
        }
    }
}

fn expected_value(call: &Call) -> Option<i64> {
    let arguments = split(&call.arguments);
    match call.name.as_str() {
        "getsockopt" => value(arguments.get(3)?.trim_matches(['[', ']'])),
        "ioctl" => value(arguments.get(2)?.trim_matches(['[', ']'])),
        "epoll_wait" => events(arguments.get(1)?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{Action, Script};

    fn call(text: &str) -> Call {
        let mut script = Script::parse(&format!("0 {text}")).unwrap();
        let Action::Call(call) = script.events.remove(0).action else { panic!("no call") };
        call
    }

    #[test]
    fn calls_are_written_with_numbers() {
        let step = |text| translate(&call(text)).unwrap();
        assert_eq!(step("socket(..., SOCK_STREAM|SOCK_NONBLOCK, IPPROTO_TCP) = 3"), "socket 3 2048");
        assert_eq!(step("accept(3, ..., ...) = 4"), "accept 3 4 0");
        assert_eq!(step("send(4, NULL, 10, MSG_MORE) = -1 EFAULT (Bad address)"), "send 4 32768 -10");
        assert_eq!(
            step("setsockopt(4, SOL_SOCKET, SO_SNDBUF, [200000], 4) = 0"),
            "setsockopt 4 1 7 4 200000"
        );
        assert_eq!(
            step("setsockopt(4, SOL_TCP, TCP_CONGESTION, \"reno\", 4) = 0"),
            "setsockopt 4 6 13 4 x72656e6f"
        );
        let message =
            "sendmsg(4, {msg_name(...)=..., msg_iov(2)=[{..., 5}, {...,0}], msg_flags=0}, MSG_EOR) = 5";
        assert_eq!(step(message), "sendmsg 4 128 5 0");
        assert_eq!(step("fcntl(3, F_GETFL) = 0x2 (flags O_RDWR)"), "fcntl 3 3 0");
        assert!(translate(&call("splice(4, NULL, 6, NULL, 1, 0) = 0")).unwrap_err().contains("splice"));
    }

    #[test]
    fn results_are_compared_by_number_error_and_value() {
        let returned = |result, errno, value| Returned { result, errno, value };
        let differs = |text, returned: Returned| returned.difference(&call(text)).is_some();
        assert!(!differs("read(4, ..., 9) = -1 EAGAIN (Again)", returned(-1, 11, None)));
        assert!(differs("read(4, ..., 9) = -1 EAGAIN (Again)", returned(-1, 104, None)));
        assert!(differs("read(4, ..., 9) = 9", returned(8, 0, None)));
        assert!(!differs("accept(3, ..., ...) = 4", returned(17, 0, None)));
        assert!(differs("getsockopt(3, SOL_SOCKET, SO_ERROR, [0], [4]) = 0", returned(0, 0, Some(111))));
    }
}
