//! Constants of Linux on x86-64 that scripts name.

/// Constants in the arguments of system calls, without those of `setsockopt`.
const FLAGS: [(&str, i64); 37] = [
    ("SOCK_STREAM", 1),
    ("SOCK_NONBLOCK", 0o4000),
    ("SOCK_CLOEXEC", 0o2_000_000),
    ("F_GETFL", 3),
    ("F_SETFL", 4),
    ("O_RDONLY", 0),
    ("O_RDWR", 2),
    ("O_NONBLOCK", 0o4000),
    ("MSG_OOB", 1),
    ("MSG_PEEK", 2),
    ("MSG_TRUNC", 0x20),
    ("MSG_DONTWAIT", 0x40),
    ("MSG_EOR", 0x80),
    ("MSG_WAITALL", 0x100),
    ("MSG_ERRQUEUE", 0x2000),
    ("MSG_NOSIGNAL", 0x4000),
    ("MSG_MORE", 0x8000),
    ("MSG_ZEROCOPY", 0x400_0000),
    ("MSG_FASTOPEN", 0x2000_0000),
    ("SHUT_RD", 0),
    ("SHUT_WR", 1),
    ("SHUT_RDWR", 2),
    ("SIOCINQ", 0x541b),
    ("SIOCOUTQ", 0x5411),
    ("POLLIN", 1),
    ("POLLOUT", 4),
    ("POLLERR", 8),
    ("POLLHUP", 16),
    ("EPOLL_CTL_ADD", 1),
    ("EPOLL_CTL_DEL", 2),
    ("EPOLL_CTL_MOD", 3),
    ("EPOLLIN", 1),
    ("EPOLLOUT", 4),
    ("EPOLLERR", 8),
    ("EPOLLHUP", 16),
    ("EPOLLEXCLUSIVE", 1 << 28),
    ("EPOLLONESHOT", 1 << 30),
];
const EDGE_TRIGGERED: (&str, i64) = ("EPOLLET", 1 << 31);

/// Levels and names of socket options, and their values that are not numbers.
const OPTIONS: [(&str, i64); 39] = [
    ("SOL_SOCKET", 1),
    ("SOL_IP", 0),
    ("IPPROTO_IP", 0),
    ("SOL_TCP", 6),
    ("IPPROTO_TCP", 6),
    ("SO_REUSEADDR", 2),
    ("SO_ERROR", 4),
    ("SO_SNDBUF", 7),
    ("SO_RCVBUF", 8),
    ("SO_KEEPALIVE", 9),
    ("SO_PRIORITY", 12),
    ("SO_MARK", 36),
    ("SO_TIMESTAMPING", 37),
    ("SO_MAX_PACING_RATE", 47),
    ("SO_ZEROCOPY", 60),
    ("IP_TOS", 1),
    ("IP_MTU_DISCOVER", 10),
    ("IP_PMTUDISC_DONT", 0),
    ("IP_FREEBIND", 15),
    ("TCP_NODELAY", 1),
    ("TCP_MAXSEG", 2),
    ("TCP_CORK", 3),
    ("TCP_KEEPIDLE", 4),
    ("TCP_KEEPINTVL", 5),
    ("TCP_KEEPCNT", 6),
    ("TCP_DEFER_ACCEPT", 9),
    ("TCP_QUICKACK", 12),
    ("TCP_CONGESTION", 13),
    ("TCP_USER_TIMEOUT", 18),
    ("TCP_FASTOPEN", 23),
    ("TCP_NOTSENT_LOWAT", 25),
    ("TCP_FASTOPEN_CONNECT", 30),
    ("TCP_FASTOPEN_KEY", 33),
    ("TCP_INQ", 36),
    ("SOF_TIMESTAMPING_TX_SOFTWARE", 2),
    ("SOF_TIMESTAMPING_SOFTWARE", 16),
    ("SOF_TIMESTAMPING_OPT_ID", 128),
    ("SOF_TIMESTAMPING_TX_SCHED", 256),
    ("SOF_TIMESTAMPING_TX_ACK", 512),
];

/// Names and numbers of errors.
const ERRORS: [(&str, i64); 24] = [
    ("EPERM", 1),
    ("EINTR", 4),
    ("EBADF", 9),
    ("EAGAIN", 11),
    ("ENOMEM", 12),
    ("EACCES", 13),
    ("EFAULT", 14),
    ("EINVAL", 22),
    ("EPIPE", 32),
    ("EMSGSIZE", 90),
    ("ENOPROTOOPT", 92),
    ("EOPNOTSUPP", 95),
    ("EADDRINUSE", 98),
    ("EADDRNOTAVAIL", 99),
    ("ENETUNREACH", 101),
    ("ECONNABORTED", 103),
    ("ECONNRESET", 104),
    ("ENOBUFS", 105),
    ("EISCONN", 106),
    ("ENOTCONN", 107),
    ("ETIMEDOUT", 110),
    ("ECONNREFUSED", 111),
    ("EHOSTUNREACH", 113),
    ("EALREADY", 114),
];
const IN_PROGRESS: (&str, i64) = ("EINPROGRESS", 115);

/// Constants in assertions: states of a connection, and bits of `tcpi_options`.
const IN_ASSERTIONS: [(&str, i64); 23] = [
    ("TCP_CA_Open", 0),
    ("TCP_CA_Disorder", 1),
    ("TCP_CA_CWR", 2),
    ("TCP_CA_Recovery", 3),
    ("TCP_CA_Loss", 4),
    ("TCP_ESTABLISHED", 1),
    ("TCP_SYN_SENT", 2),
    ("TCP_SYN_RECV", 3),
    ("TCP_FIN_WAIT1", 4),
    ("TCP_FIN_WAIT2", 5),
    ("TCP_TIME_WAIT", 6),
    ("TCP_CLOSE", 7),
    ("TCP_CLOSE_WAIT", 8),
    ("TCP_LAST_ACK", 9),
    ("TCP_LISTEN", 10),
    ("TCP_CLOSING", 11),
    ("TCPI_OPT_TIMESTAMPS", 1),
    ("TCPI_OPT_SACK", 2),
    ("TCPI_OPT_WSCALE", 4),
    ("TCPI_OPT_ECN", 8),
    ("TCPI_OPT_ECN_SEEN", 16),
    ("TCPI_OPT_SYN_DATA", 32),
    ("TCP_INFINITE_SSTHRESH", 0x7fff_ffff),
];

fn find(table: &[(&str, i64)], name: &str) -> Option<i64> {
    table.iter().find(|(known, _)| *known == name).map(|&(_, value)| value)
}

/// A decimal, octal or hexadecimal number.
pub(super) fn number(text: &str) -> Option<i64> {
    match text.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// The value of an argument such as `MSG_MORE|MSG_EOR`.
pub(super) fn value(text: &str) -> Option<i64> {
    let term = |word: &str| {
        number(word)
            .or_else(|| find(&FLAGS, word))
            .or_else(|| find(&OPTIONS, word))
            .or_else(|| find(&[EDGE_TRIGGERED], word))
    };
    text.split('|').map(|word| term(word.trim())).try_fold(0, |all, one| Some(all | one?))
}

/// The number of an error.
pub(super) fn error(name: &str) -> Option<i64> {
    find(&ERRORS, name).or_else(|| find(&[IN_PROGRESS], name))
}

/// The name of an error, or its number.
pub(super) fn error_name(number: i64) -> String {
    let mut known = ERRORS.iter().chain([&IN_PROGRESS]);
    known
        .find(|(_, value)| *value == number)
        .map_or_else(|| number.to_string(), |(name, _)| (*name).to_owned())
}

/// The value of a constant in assertions.
pub(super) fn in_assertions(name: &str) -> Option<f64> {
    find(&IN_ASSERTIONS, name).map(|value| value as f64)
}
