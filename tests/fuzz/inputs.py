"""Inputs for fuzzing, each from a kind and a number: the same ones every time."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from fullpipe import Scenario
from fullpipe.scenario import catalogue, scenario_names
from fullpipe.scenario.read.files import folder_of_names, located, named_text

from .values import HOSTILE, PLAIN, WRONG, Values

Tree = dict[str, Any]
BASE: Tree = {
    "name": "x",
    "duration": "2 s",
    "topology": {
        "kind": "dumbbell",
        "bottleneck": {"rate": "10 Mbit/s", "delay": "10 ms", "queue": {"packets": 50}},
    },
    "flows": [{"cca": "cubic"}],
}
GRAPH: Tree = {
    "kind": "graph",
    "nodes": ["a", "b", "c"],
    "links": [
        {"from": a, "to": b, "rate": "10 Mbit/s", "delay": "2 ms", "duplex": True}
        for a, b in ("ab", "bc", "ac")
    ],
}


def generated(rng: Random, _: Path) -> Tree:
    """A scenario from the models' own schema: all of it, or a part of one that is right."""
    edges, wrong = rng.choice(((0.0, 0.0), (0.1, 0.0), (0.3, 0.0), (0.1, 0.1), (0.3, 0.4)))
    drawn: Tree = Values(rng, edges, wrong).model(Scenario)
    drawn.pop("sweep", None)
    if rng.random() < 0.25:
        return drawn
    tree = _copy(BASE)
    if rng.random() < 0.4:
        tree["topology"] = _copy(GRAPH)
        tree["flows"] = [{"cca": "cubic", "from": "a", "to": "c"}]
    drawn["duration"] = rng.choice(("2 s", "1 s", drawn["duration"]))
    tree = _merged(tree, drawn, rng)
    if rng.random() < 0.15:
        tree["sweep"] = _sweep(tree, rng)
    return tree


def _sweep(tree: Tree, rng: Random) -> Tree:
    """A few paths with values that others have, the same twice, or far too many."""
    values = [value for holder, key in _places(tree) if isinstance(value := holder[key], str | int)]
    swept: Tree = {}
    for path in rng.sample(list(_paths(tree)), k=rng.choice((1, 1, 2))):
        swept[path] = rng.choice(
            (rng.sample(values, k=min(3, len(values))), ["1 ms", "2 ms"], ["1 Mbit/s"], list(range(10_001)))
        )
    if rng.random() < 0.3:
        swept["flows.0.count"] = rng.choice(([1, 2], [1, 1], [100_000], list(range(1, 31))))
    return swept


def mutated(rng: Random, _: Path) -> Tree:
    """One of the scenarios that come with fullpipe, with something else here and there."""
    tree: Tree = _copy(_named(rng.choice(_names())))
    for _n in range(rng.choice((1, 1, 2, 4))):
        _mutate(tree, rng)
    if rng.random() < 0.1:
        tree["sweep"] = {rng.choice(list(_paths(tree)) or ["name"]): [rng.choice(PLAIN), rng.choice(HOSTILE)]}
    return tree


def texts(rng: Random, _: Path) -> bytes:
    """TOML in which letters, lines or bytes are missing, moved or added."""
    data = bytearray(named_text(rng.choice(_names())).encode())
    for _n in range(rng.choice((1, 2, 5, 20))):
        at = rng.randrange(len(data))
        much = rng.choice((1, 1, 3, 20))
        match rng.randrange(6):
            case 0:
                del data[at : at + much]
            case 1:
                data[at:at] = rng.choice(HOSTILE).encode("utf-8", "surrogatepass")
            case 2:
                data[at : at + 1] = rng.randbytes(much)
            case 3:
                data[at:at] = data[at : at + 10 * much] * much
            case 4:
                data[at:at] = b"".join(
                    rng.choice((b"[", b"{", b'"', b".", b"\n[a]\n", b"=", b"'''")) * much for _ in "ab"
                )
            case _:
                data[at:at] = b"\n[" + b".".join([b"a"] * rng.choice((2, 40, 60, 900))) + b"]\n"
    return bytes(data)


def recorded(rng: Random, folder: Path) -> Tree:
    """A valid scenario that follows a recording of unknown origin."""
    file = folder / rng.choice(("trace", "odd \x1b[2J", "tr\u202eace.csv", "[bold]"))
    tree, bottleneck = _copy(BASE), BASE["topology"]["bottleneck"]
    kind = rng.choice(("csv", "mahimahi", "loss"))
    file.write_bytes({"csv": _csv, "mahimahi": _opportunities, "loss": _losses}[kind](rng))
    if kind == "loss":
        loss = {"kind": "replay", "file": str(file), "repeat": rng.random() < 0.5}
        tree["topology"]["bottleneck"] = {**bottleneck, "loss": loss}
    else:
        trace = {"file": str(file), "kind": kind, "repeat": rng.random() < 0.8}
        if rng.random() < 0.3:
            trace["offset"] = rng.choice(("1 s", "86400 s", "1 ns", "0.1 ns"))
        tree["topology"]["bottleneck"] = {"delay": "10 ms", "trace": trace}
    tree["duration"] = rng.choice(("1 s", "2 s", "1 us", "86400 s"))
    return tree


def arguments(rng: Random, folder: Path) -> list[str]:
    """Arguments of `fullpipe`, hostile or not. None of them takes long."""
    odd = [text for text in HOSTILE if "\x00" not in text]
    odd += [os.fsdecode(b"\xff"), "--help", "-1", "9" * 30, str(folder)]
    (folder / "odd.toml").write_bytes(texts(rng, folder))
    known = ("single-reno", "single-bbr1", "single-reno", "kato2025", str(folder / "odd.toml"), "/dev/zero")
    made = rng.choice(_COMMANDS)(rng, rng.choice((*known, rng.choice(odd))), odd, folder)
    if rng.random() < 0.3:
        made.insert(rng.randrange(len(made) + 1), rng.choice(odd))
    return [part for part in made if "\x00" not in part]


def _run(rng: Random, scenario: str, odd: list[str], folder: Path) -> list[str]:
    path = rng.choice(("flows.0.cca", "warmup", "flows.0.start", "name", "topology", rng.choice(odd)))
    short = ["--set", "duration=30 ms", "--set", "warmup=0 s", "--set", "flows=[{cca='cubic'}]"]
    return ["run", scenario, *short, "--set", f"{path}={rng.choice(odd)}", "--out", str(folder / "runs")]


def _run_quickly(rng: Random, scenario: str, _odd: list[str], _folder: Path) -> list[str]:
    short = ["--set", "duration=20 ms", "--set", "warmup=0 s", "--set", "flows=[{cca='cubic'}]"]
    return ["run", scenario, "--no-store", *short, *rng.choice(([], ["--json"]))]


def _run_often(rng: Random, scenario: str, odd: list[str], _folder: Path) -> list[str]:
    """Far too often: with so many samples that all of it is refused."""
    seeds = rng.choice(("100000", "0", "x", *odd))
    return ["run", scenario, "--no-store", "--seeds", seeds, "--interval", rng.choice(("0.1 ns", "x", *odd))]


def _show(rng: Random, scenario: str, odd: list[str], _folder: Path) -> list[str]:
    names = (*catalogue.controllers(), *catalogue.queues(), "flows", scenario, rng.choice(odd))
    return ["show", rng.choice(names), *rng.choice(([], ["--json"], ["--paths"]))]


def _list(rng: Random, _: str, odd: list[str], _folder: Path) -> list[str]:
    kinds = ("ccas", "queues", "tables", "scenarios", rng.choice(odd))
    return ["list", rng.choice(kinds), *rng.choice(([], ["--json"]))]


def _import(rng: Random, _: str, odd: list[str], _folder: Path) -> list[str]:
    queue = rng.choice(("codel limit", "tbf rate", "pie", "netem", "red", "cake bandwidth"))
    value = rng.choice((*odd, "100", "10mbit", "1e400mbit", "9" * 400, "-1", "0.1bit"))
    return ["import-tc", f"{rng.choice(('tc qdisc add dev eth0 root', ''))} {queue} {value}"]


def _trace(rng: Random, _: str, _odd: list[str], folder: Path) -> list[str]:
    file = folder / rng.choice(("t.csv", "t.up", "\x1b.csv"))
    file.write_bytes(rng.choice((_csv, _opportunities))(rng))
    if rng.random() < 0.5:
        return ["trace", "info", str(file), *rng.choice(([], ["--json"]))]
    return ["trace", "convert", str(file), str(folder / rng.choice(("to.csv", "to.up", "no/to.csv")))]


def _other(rng: Random, scenario: str, odd: list[str], folder: Path) -> list[str]:
    text = rng.choice(odd)
    return rng.choice(
        (
            ["plot", text, "--var", text],
            ["metrics", text],
            ["export", text, "-o", str(folder / "x.qlog")],
            ["compare", scenario, "--engines", rng.choice(("native,nothing", "native", text))],
            ["compare", scenario, "--seeds", text],
            ["paper", text],
            ["paper", "kato2025", "--seeds", text],
            ["conformance", text],
            ["packetdrill", text],
            ["engines", "install", text],
            [text],
            [],
        )
    )


_COMMANDS = (_run, _run_quickly, _run_often, _show, _list, _import, _trace, _other)


KINDS: dict[str, Callable[[Random, Path], Any]] = {
    "generated": generated,
    "mutated": mutated,
    "texts": texts,
    "recorded": recorded,
    "arguments": arguments,
}


def made(kind: str, number: int, folder: Path) -> Any:
    """The input of a number; files that it needs are written into `folder`."""
    if kind == "itself":
        return number
    return KINDS[kind](Random(f"{kind}/{number}"), folder)


_names = cache(scenario_names)


@cache
def _named(name: str) -> Tree:
    """A scenario that comes with fullpipe, with its files found; not to be changed."""
    tree: Tree = located(tomllib.loads(named_text(name)), folder_of_names())
    return tree


def _copy(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: _copy(value) for key, value in tree.items()}
    return [_copy(item) for item in tree] if isinstance(tree, list) else tree


def _merged(tree: Tree, drawn: Tree, rng: Random) -> Tree:
    """A right scenario with parts of a drawn one; of topology and flows now and then only a part."""
    for key, value in drawn.items():
        mine = tree.get(key)
        if isinstance(mine, dict) and isinstance(value, dict) and rng.random() < 0.9:
            if mine.get("kind") == value.get("kind"):
                _merged(mine, {k: v for k, v in value.items() if rng.random() < 0.5}, rng)
        elif isinstance(mine, list) and isinstance(value, list) and mine and value and rng.random() < 0.9:
            if isinstance(mine[0], dict) and isinstance(value[0], dict):
                keep = ("from", "to", "via", "direction", "access", "count")
                _merged(
                    mine[0], {k: v for k, v in value[0].items() if k not in keep or rng.random() < 0.1}, rng
                )
        elif rng.random() < 0.7:
            tree[key] = value
    return tree


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Every table or list with every key or number in it."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in list(items):
        yield tree, key
        yield from _places(value)


def _paths(tree: Any, before: str = "") -> Iterator[str]:
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield f"{before}{key}"
        yield from _paths(value, f"{before}{key}.")


def _mutate(tree: Tree, rng: Random) -> None:
    places = list(_places(tree))
    if not places:
        return
    holder, key = rng.choice(places)
    other_holder, other = rng.choice(places)
    match rng.choice((0, 1, 2, 3, 4, 4, 4, 5, 5, 6, 6)):
        case 0:
            del holder[key]
        case 1:
            holder[key] = rng.choice(WRONG)
        case 2:
            holder[key] = rng.choice(HOSTILE)
        case 3:
            holder[key] = _copy(other_holder[other])
        case 4 | 5:
            for holder, key in rng.sample(places, k=min(len(places), 10)):
                holder[key] = _scaled(holder[key], rng)
        case _ if isinstance(holder, list):
            holder.extend(_copy(holder[key]) for _ in range(rng.choice((1, 3, 50))))
        case _:
            holder[rng.choice(HOSTILE)] = holder.get(key)


def _scaled(value: Any, rng: Random) -> Any:
    """Another number of the same unit, and of anything else itself."""
    if isinstance(value, str) and value[:1].isdigit():
        return (
            f"{rng.choice(('0', '1', '0.3', '7', '100', '1000', '86400', '1e9'))} {value.partition(' ')[2]}"
        )
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value * rng.choice((0, -1, 2, 3, 1_000, 10**6, 10**12))
    return value


def _csv(rng: Random) -> bytes:
    columns = rng.choice(
        (["rate_bps"], ["rate_bps", "loss"], ["delay_s"], ["rate_bps", "delay_s", "loss"], ["x\x1b"])
    )
    step = rng.choice((1e-9, 1e-12, 1e-6, 1e-3, 0.1, 1, 1e5))
    rows = [["time_s", *columns]]
    for n in range(rng.choice((0, 1, 2, 3, 50))):
        cells = [
            rng.choice(
                ("1000000", "0", "", "0.5", "1e15", "1e16", "-1", "nan", "\x1b[2J")
                if rng.random() < 0.2
                else ("0.01", "1")
            )
            for _ in columns
        ]
        rows.append([f"{n * step:.13g}", *cells])
    return _spoilt("\n".join(",".join(row) for row in rows).encode() + b"\n", rng)


def _opportunities(rng: Random) -> bytes:
    times = sorted(rng.randrange(rng.choice((1, 10, 5_000))) for _ in range(rng.choice((0, 1, 5, 500))))
    return _spoilt("".join(f"{time}\n" for time in times).encode(), rng)


def _losses(rng: Random) -> bytes:
    return _spoilt(bytes(rng.choice(b"01 \n") for _ in range(rng.choice((0, 1, 100, 5_000)))), rng)


def _spoilt(data: bytes, rng: Random) -> bytes:
    if rng.random() < 0.6:
        return data
    at = rng.randrange(len(data) + 1)
    odd = rng.choice(
        (
            b"\x00",
            b"\xff",
            b"\x1b]0;x\x07",
            b'"',
            b"\r",
            b"9" * 400,
            b"\xef\xbb\xbf",
            b",",
            b"-1\n",
            rng.randbytes(9),
        )
    )
    return data[:at] + odd + data[at:]
