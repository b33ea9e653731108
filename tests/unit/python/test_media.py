"""Media in the catalogue of the simulator."""

from fullpipe import _native


def test_the_shared_channel_is_described_with_its_parameters() -> None:
    shared = {medium["name"]: medium for medium in _native.registry()["media"]}["shared"]
    assert {param["name"]: param["unit"] for param in shared["params"]} == {
        "rate_bps": "bit/s",
        "delay_ns": "ns",
        "grant_delay_ns": "ns",
        "turn_bytes": "bytes",
        "overhead_ns": "ns",
    }
    assert shared["title"]
    assert shared["source"]
