"""Logs of ping in other languages and with other times, and of fping."""

from collections.abc import Callable

import pytest

from fullpipe.errors import InputFileError
from fullpipe.validation.fit.logs import is_log, pings_of

T0 = 1_700_000_000.0
Line = Callable[[int], str]
"""The line of the n-th reply, which took 20 ms and a tenth for every reply before."""


def ms(n: int, point: str = ".") -> str:
    return f"{20 + n / 10:.1f}".replace(".", point)


TIMED: dict[str, Line] = {
    "ping -D": lambda n: f"[{T0 + n:.6f}] 64 bytes from a: icmp_seq={n} ttl=57 time={ms(n)} ms",
    "German": lambda n: f"[{T0 + n:.6f}] 64 Bytes von a: icmp_seq={n} ttl=57 Zeit={ms(n)} ms",
    "French": lambda n: f"[{T0 + n:.6f}] 64 octets de a (a) : icmp_seq={n} ttl=57 temps={ms(n)} ms",
    "Japanese": lambda n: f"[{T0 + n:.6f}] 64 バイト応答 a: icmp_seq={n} ttl=57 時間={ms(n)}ミリ秒",
    "a comma": lambda n: f"[{T0 + n:.6f}] 64 bytes from a: icmp_seq={n} ttl=57 time={ms(n, ',')} ms",
    "ts %.s": lambda n: f"{T0 + n:.6f} 64 bytes from a: icmp_seq={n} ttl=57 time={ms(n)} ms",
    "fping -D": lambda n: f"[{T0 + n:.6f}] a : [{n}], 64 bytes, {ms(n)} ms (20.1 avg, 0% loss)",
}
UNTIMED: dict[str, Line] = {
    "macOS": lambda n: f"64 bytes from 192.0.2.1: icmp_seq={n} ttl=57 time={ms(n)} ms",
    "FreeBSD, IPv6": lambda n: f"16 bytes from 2001:db8::1, icmp_seq={n} hlim=57 time={ms(n)} ms",
    "BusyBox": lambda n: f"64 bytes from 192.0.2.1: seq={n} ttl=57 time={ms(n)} ms",
    "ts": lambda n: f"Nov 14 22:13:{n % 60:02} 64 bytes from a: icmp_seq={n} ttl=57 time={ms(n)} ms",
    "ts -s %.s": lambda n: f"{n}.000123 64 bytes from a: icmp_seq={n} ttl=57 time={ms(n)} ms",
    "fping": lambda n: f"192.0.2.1  : [{n}], 64 bytes, {ms(n)} ms (20.1 avg, 0% loss)",
}


@pytest.mark.parametrize("name", [*TIMED, *UNTIMED])
def test_each_reply_has_its_time(name: str) -> None:
    line = (TIMED | UNTIMED)[name]
    text = "\n".join(line(n) for n in range(10) if n != 4)
    assert is_log(text)
    found, is_timed = pings_of(text, "x")
    assert found.rtts_s.tolist() == pytest.approx([(20 + n / 10) / 1e3 for n in range(10) if n != 4])
    assert found.lost == 1
    assert is_timed == (name in TIMED)
    if is_timed:
        assert (found.sent_s + found.rtts_s).tolist() == pytest.approx([T0 + n for n in range(10) if n != 4])


@pytest.mark.parametrize("end", ["(DUP!)", "(DUP !)", "(重複!)", "(BAD CHECKSUM!)", "(DUP!) "])
def test_a_reply_that_came_twice_or_broken_does_not_count(end: str) -> None:
    line = TIMED["ping -D"]
    text = "\n".join([line(0), f"{line(1)} {end}", line(2)])
    assert pings_of(text, "x")[0].rtts_s.size == 2


@pytest.mark.parametrize(
    "line",
    [
        "From 192.0.2.1 icmp_seq=3 Destination Host Unreachable",
        "no answer yet for icmp_seq=3",
        "64 bytes from a: icmp_seq=3 ttl=57 (truncated)",
        "192.0.2.1 : [3], timed out (20.1 avg, 25% loss)",
        "seq=0 rtt=20.1ms rd=10.1ms sd=10.0ms ipdv=n/a",
        "rtt min/avg/max/mdev = 20.1/20.2/20.3/0.1 ms",
    ],
)
def test_what_is_no_reply_does_not_count(line: str) -> None:
    text = "\n".join([*map(TIMED["ping -D"], range(3)), line])
    assert pings_of(text, "x")[0].rtts_s.size == 3
    assert not is_log(line) or "bytes from" in line


def test_pings_to_several_hosts_are_told() -> None:
    text = "\n".join(f"{host} : [0], 64 bytes, 20.1 ms (20.1 avg, 0% loss)" for host in ("a", "b"))
    with pytest.raises(InputFileError, match="has pings to 2 hosts; give the pings to one nearby host"):
        pings_of(text, "x")


def test_a_log_without_replies_says_how_to_make_one() -> None:
    with pytest.raises(InputFileError, match="run LC_ALL=C ping -D"):
        pings_of("PING x\nRequest timeout for icmp_seq 0\n", "x")


def test_a_long_line_takes_no_longer_than_its_length() -> None:
    for part in ("a", "a ", "seq=1 ", " ", "x : [", "time="):
        assert not is_log(part * 3_000)
        with pytest.raises(InputFileError, match="no line is a reply"):
            pings_of(part * 200_000, "x")
