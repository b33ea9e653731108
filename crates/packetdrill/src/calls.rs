//! System calls of the application.

use crate::host::Host;
use crate::script::{Call, Packet};
use crate::verdict::Stop;

/// Calls that change nothing in the model.
const WITHOUT_EFFECT: [&str; 15] = [
    "bind",
    "epoll_create",
    "epoll_ctl",
    "epoll_wait",
    "fcntl",
    "getsockopt",
    "ioctl",
    "listen",
    "open",
    "poll",
    "read",
    "readv",
    "recv",
    "recvfrom",
    "recvmsg",
];
const WRITES: [&str; 6] = ["write", "writev", "send", "sendto", "sendmsg", "sendfile"];
/// Options of sockets that change nothing during a connection.
const OPTIONS_WITHOUT_EFFECT: [&str; 11] = [
    "SO_REUSEADDR",
    "SO_SNDBUF",
    "SO_TIMESTAMPING",
    "SO_ZEROCOPY",
    "SO_MARK",
    "IP_TOS",
    "TCP_NODELAY",
    "TCP_INQ",
    "TCP_USER_TIMEOUT",
    "IP_FREEBIND",
    "IP_MTU_DISCOVER",
];

/// Pieces of memory that a packet of the kernel has at most (`MAX_SKB_FRAGS`).
const MOST_FRAGMENTS: i64 = 17;

impl Call {
    /// Whether the call writes data.
    pub fn is_write(&self) -> bool {
        WRITES.contains(&self.name.as_str())
    }
}

/// The application of a script.
#[derive(Debug, Default)]
pub(crate) struct Application {
    /// Descriptor of the first socket.
    socket: Option<i64>,
    /// Descriptor of the accepted connection.
    accepted: Option<i64>,
}

impl Application {
    /// Make a call. `answer` is the SYN-ACK that the script injects first.
    pub fn call(&mut self, host: &mut Host, call: &Call, answer: &Packet) -> Result<(), Stop> {
        let (name, arguments) = (call.name.as_str(), call.arguments.as_str());
        match name {
            "socket" if self.socket.is_some() => Stop::lacks("a second socket"),
            "socket" => {
                self.socket = number(&call.result);
                Ok(())
            }
            "accept" | "accept4" => {
                self.accepted = number(&call.result);
                Ok(())
            }
            "setsockopt" => set_option(host, arguments),
            "connect" => host.connect(answer),
            "shutdown" if arguments.ends_with("SHUT_RD") => Ok(()),
            "close" | "shutdown" if self.is_connection(host, arguments) => host.close(),
            "close" | "shutdown" => Ok(()),
            _ if call.is_write() => write(host, call),
            _ if WITHOUT_EFFECT.contains(&name) => Ok(()),
            _ => Stop::lacks(format!("the call {name}")),
        }
    }

    /// Whether the first argument is the descriptor of the connection.
    fn is_connection(&self, host: &Host, arguments: &str) -> bool {
        let connection = if host.is_client() { self.socket } else { self.accepted };
        host.connection.is_some() && connection.is_some() && number(arguments) == connection
    }
}

fn write(host: &mut Host, call: &Call) -> Result<(), Stop> {
    for (flag, lacks) in [("MSG_MORE", "MSG_MORE"), ("MSG_EOR", "MSG_EOR"), ("MSG_FASTOPEN", "TCP Fast Open")]
    {
        if call.arguments.contains(flag) {
            return Stop::lacks(lacks);
        }
    }
    let pieces = call.arguments.split_once("msg_iov(").and_then(|(_, count)| number(count));
    if call.arguments.contains("MSG_ZEROCOPY") && pieces > Some(MOST_FRAGMENTS) {
        return Stop::lacks("packets cut by their number of fragments");
    }
    match number(&call.result) {
        Some(bytes @ 0..) => host.write(bytes as u64),
        _ => Stop::lacks(format!("the result {} of {}", call.result, call.name)),
    }
}

fn set_option(host: &mut Host, arguments: &str) -> Result<(), Stop> {
    let name = arguments.split(',').nth(2).unwrap_or("").trim();
    if name == "TCP_CONGESTION" && host.connection.is_none() {
        host.local.algorithm = arguments.split('"').nth(1).map(str::to_owned);
        return Ok(());
    }
    if OPTIONS_WITHOUT_EFFECT.contains(&name) {
        return Ok(());
    }
    Stop::lacks(format!("the socket option {name}"))
}

/// Memory for sent data that a call sets: twice the number that it names (`sock_setsockopt`).
pub(crate) fn send_memory(call: &Call) -> Option<u64> {
    let is_set = call.name == "setsockopt" && call.arguments.contains("SO_SNDBUF");
    let value = call.arguments.split_once('[').filter(|_| is_set)?.1;
    Some(2 * u64::try_from(number(value)?).ok()?)
}

/// Whether a call lets short packets leave at once.
pub(crate) fn ends_delays(call: &Call) -> bool {
    let mut arguments = call.arguments.split(',').skip(2).map(str::trim);
    call.name == "setsockopt" && arguments.next() == Some("TCP_NODELAY") && arguments.next() == Some("[1]")
}

/// The number with which a text begins.
fn number(text: &str) -> Option<i64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(text.len());
    text[..end].parse().ok()
}
