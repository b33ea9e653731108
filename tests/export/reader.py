"""A reader of pcapng files."""

import struct
from collections.abc import Iterator


def blocks(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The kind and the body of every block."""
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        assert struct.unpack_from("<I", data, at + length - 4)[0] == length
        yield kind, data[at + 8 : at + length - 4]
        at += length


def packets(data: bytes) -> Iterator[tuple[int, int, int, bytes]]:
    """Interface, time in nanoseconds, length on the wire and what was captured."""
    for kind, body in blocks(data):
        if kind == 6:
            interface, high, low, captured, length = struct.unpack_from("<IIIII", body)
            yield interface, (high << 32) + low, length, body[20 : 20 + captured]
