"""Numbers of packets marked by queue disciplines, from the statistics of each kind."""

import struct
from collections.abc import Iterator

_WORDS = {
    "codel": (6, 8),
    "fq_codel": (3, 7),
    "pie": (9,),
    "fq_pie": (4,),
    "fq": (20,),
    "red": (3,),
    "dualpi2": (6,),
}
"""Indices of the counts of marks among the 32-bit words: by the algorithm, and by a threshold if separate."""
_CAKE_TINS, _CAKE_MARKED = 10, 7
_KIND = 0x3FFF


def marked(kind: str, own: str) -> int:
    """Return the number of packets marked so far. `own` is the qdisc's own statistics in hexadecimal."""
    data = bytes.fromhex(own)
    if kind == "cake":
        return _of_cake(data)
    words = struct.unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4])
    return sum(words[place] for place in _WORDS.get(kind, ()) if place < len(words))


def _of_cake(data: bytes) -> int:
    tins = [tin for kind, tins in _attributes(data) if kind == _CAKE_TINS for _, tin in _attributes(tins)]
    counts = [value for tin in tins for kind, value in _attributes(tin) if kind == _CAKE_MARKED]
    return sum(struct.unpack("<I", value)[0] for value in counts)


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(data):
        length, kind = struct.unpack_from("<HH", data, at)
        if length < 4:
            return
        yield kind & _KIND, data[at + 4 : at + length]
        at += (length + 3) // 4 * 4
