"""Attributes of netlink messages for queue disciplines: length, type and value, padded to 4 B."""

import struct


def attribute(kind: int, value: bytes) -> bytes:
    """Encode an attribute."""
    return struct.pack("<HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def u8(kind: int, value: int) -> bytes:
    """Encode an attribute of one byte."""
    return attribute(kind, struct.pack("<B", value))


def u32(kind: int, value: int) -> bytes:
    """Encode an attribute of four bytes."""
    return attribute(kind, struct.pack("<I", value))


def u64(kind: int, value: int) -> bytes:
    """Encode an attribute of eight bytes."""
    return attribute(kind, struct.pack("<Q", value))


def s64(kind: int, value: int) -> bytes:
    """Encode a signed attribute of eight bytes."""
    return attribute(kind, struct.pack("<q", value))
