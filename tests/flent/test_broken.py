"""Files that are broken, or meant to break something."""

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.flent import made
from tests.forks import Forks, forks

Cli = Callable[..., Any]
MEMORY_MB = 500


def changed(**top: Any) -> bytes:
    return gzip.compress(json.dumps({**made.upload(), **top}).encode())


def metadata(**values: Any) -> dict[str, Any]:
    return {"metadata": {**made.upload()["metadata"], **values}}


def with_nan() -> bytes:
    text = json.dumps(made.upload())
    return gzip.compress(text.replace(f'"val": {made.RATE_MBPS}', '"val": NaN', 1).encode())


def raw(points: Any) -> bytes:
    return changed(raw_values={"TCP upload": points})


BROKEN: dict[str, tuple[Callable[[], bytes], str]] = {
    "cut": (lambda: changed()[:-2000], "is cut short"),
    "damaged": (lambda: b"\x1f\x8b" + b"no packed data at all", "is damaged"),
    "large": (lambda: gzip.compress(bytes(200_000_000), 1), "more than 64 MB unpacked"),
    "many": (lambda: gzip.compress(b"[" + b"[]," * 20_000_000), "more than 2,000,000 values"),
    "deep": (lambda: gzip.compress(b"[" * 500_000), "is not valid JSON"),
    "text": (lambda: b"hello", "is not valid JSON"),
    "empty": (lambda: b"", "is empty"),
    "list": (lambda: b"[]", "its JSON is not an object"),
    "NaN": (with_nan, "NaN is not a number"),
    "lengths": (lambda: changed(x_values=[0.0, 0.2]), "350 values, but x_values has 2"),
    "no name": (lambda: changed(**metadata(NAME=None)), "metadata.NAME: is missing"),
    "newer": (lambda: changed(version=5), "version: 5 of the format is unknown"),
    "no version": (lambda: changed(version="x\x1b[2J"), "is not a version number of the format"),
    "no metadata": (lambda: changed(metadata=3), "metadata: should be a table"),
    "no raw values": (lambda: changed(raw_values=None), "raw_values: is missing"),
    "huge": (lambda: raw([{"t": 1e300, "val": 1, "dur": 1}]), "is not a number below 1e+"),
    "no time": (lambda: raw([{"val": 1.0}]), "a value has no time t"),
    "text as value": (lambda: raw([{"t": 1.0, "val": "9"}]), 'val: "9" is not a number'),
    "list in version 1": (lambda: changed(version=1, raw_values=[1]), "raw_values: should be a table"),
    "more than a run holds": (
        lambda: changed(raw_values={"TCP other": [{"t": n, "val": 1e14, "dur": 1e4} for n in range(2)]}),
        "the test gives no valid run",
    ),
    "no table": (lambda: raw([7]), "should be a table"),
    "long": (
        lambda: raw([{"t": n * 1e9, "val": 1.0, "dur": 1.0} for n in range(3)]),
        "a test takes at most a day",
    ),
    "fine": (lambda: changed(**metadata(STEP_SIZE=1e-9)), "is not a valid step for"),
    "nothing": (lambda: changed(raw_values={}, results={}), "has no samples of a flow"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_it_gets_one_clear_line_and_the_others_are_read(fullpipe: Cli, name: str) -> None:
    make, message = BROKEN[name]
    Path("broken.flent.gz").write_bytes(make())
    made.write(made.upload(), "good.flent.gz")
    done = fullpipe("import", "broken.flent.gz", "good.flent.gz")
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("fullpipe: broken.flent.gz: ")
    assert message in done.stderr
    assert "\x1b" not in done.stderr
    assert len(list(Path("runs").glob("*/flent-1"))) == 1


@pytest.mark.parametrize("name", ["missing.flent.gz", "."])
def test_what_is_no_file_is_told(fullpipe: Cli, name: str) -> None:
    done = fullpipe("import", name)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "cannot be read" in done.stderr


@pytest.fixture(scope="module")
def importer() -> Iterator[Forks]:
    """A process that imports files in forks."""
    with forks("fullpipe.cli", "fullpipe.engines.flent") as process:
        yield process


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="only Linux says how much memory was taken"
)
@pytest.mark.parametrize("name", ["large", "many", "deep"])
def test_what_is_large_is_refused_in_little_memory(importer: Forks, tmp_path: Path, name: str) -> None:
    path = tmp_path / "broken.flent.gz"
    path.write_bytes(BROKEN[name][0]())
    code = (
        "import re, sys; from pathlib import Path; from fullpipe.cli import app\n"
        "try: app(['import', sys.argv[1], '--out', sys.argv[2]], standalone_mode=False)\n"
        "except BaseException as done: print(type(done).__name__)\n"
        "print(re.search(r'VmHWM:\\s*(\\d+) kB', Path('/proc/self/status').read_text())[1])"
    )
    done = importer(code, tmp_path, path, tmp_path / "runs")
    assert BROKEN[name][1] in done.stderr
    assert 50 < int(done.stdout.split()[-1]) / 1024 < MEMORY_MB


def test_text_of_a_file_is_never_obeyed(fullpipe: Cli) -> None:
    tree = made.upload(TITLE="\x1b[2J<script>alert(1)</script>", LOCAL_HOST="<b>\x07", KERNEL_NAME="a\nb")
    evil = "TCP upload\x1b[31m<img src=x onerror=alert(1)>/../../etc"
    for table in (tree["raw_values"], tree["results"], tree["metadata"]["SERIES_META"]):
        table[evil] = table.pop("TCP upload")
    tree["metadata"]["SERIES_META"][evil]["CONG_CONTROL"] = "<script>\x1b"
    made.write(tree, "evil.flent.gz")
    done = fullpipe("import", "evil.flent.gz")
    assert done.exit_code == 0, done.output
    run = next(Path("runs").glob("*/flent-1"))
    assert fullpipe("report", run, "-o", "r.html").exit_code == 0
    page = Path("r.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "<b>" not in page
    for text in (done.output, fullpipe("metrics", run).output, fullpipe("show", run).output, page):
        assert "\x1b" not in text
        assert "\x07" not in text
