"""Import of a Flent file as a run."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from fullpipe.engines.flent.described import discipline, names_of, scenario_of
from fullpipe.engines.flent.document import Document, read
from fullpipe.engines.flent.remarks import Test, remarks_of
from fullpipe.engines.flent.series import series_of, timing_of
from fullpipe.engines.flent.tables import tables_of
from fullpipe.engines.imported.measurement import not_measured, of_file, origin_of
from fullpipe.errors import InputFileError, ResultError, brief
from fullpipe.runs import SCHEMA_VERSION, EngineId, Meta, Run
from fullpipe.runs.meta import READERS

ENGINE = "flent"
_SMOOTHED = "smoothed by the kernel, from the output of ss"
_OTHERWISE = {
    **{f"flows.rtt_{which}_s": _SMOOTHED for which in ("min", "mean", "p50", "p95", "p99")},
    "flows.sent_packets": "computed: all bytes divided by the segment size, plus retransmissions",
}


def read_run(path: Path, algorithms: Mapping[str, str] | None = None) -> Run:
    """Return the content of a Flent file as a run of the engine `flent` with seed 1.

    Args:
        path: A `.flent.gz` file, or an uncompressed one.
        algorithms: Fullpipe's algorithms by their names in the file, such as bbr: bbr3.

    Raises:
        InputFileError: If the file is not a Flent file; the message has one line.
    """
    test = read_test(path, algorithms)
    with of_file(path, "test"):
        scenario = scenario_of(test.document, test.series, test.timing, test.names)
    try:
        tables = tables_of(test.series, test.timing, test.names)
    except ResultError as error:
        raise InputFileError(f"{path}: the test gives no valid run: {error}") from error
    streams = any(one.kind == "tcp" for one in test.series)
    meta = Meta(
        schema_version=SCHEMA_VERSION,
        scenario=scenario.to_dict(),
        digest=scenario.digest,
        engine=_identity(test.document, path),
        seed=1,
        duration_s=test.timing.duration_s,
        wall_s=test.timing.duration_s,
        cpu_s=0.0,
        data_packets=0,
        packet_hops=0,
        not_measured=not_measured(tables),
        otherwise=_OTHERWISE if streams else {},
        remarks=remarks_of(test),
        started=test.document.text("TIME") or test.document.text("T0"),
        host={**_host(test.document), **origin_of(path, algorithms or {})},
        versions={"flent": test.document.text("FLENT_VERSION") or "unknown"},
    )
    return Run(meta, tables)


def read_test(path: Path, algorithms: Mapping[str, str] | None = None) -> Test:
    """Read the series, times and names of a file.

    Raises:
        InputFileError: If the file is not a Flent file, or has no series that a run can have.
    """
    document = read(path)
    series, left = series_of(document)
    if not any(one.kind != "qdisc" for one in series):
        name = document.text("NAME")
        raise InputFileError(f'{path}: the test "{name}" has no samples of a flow, a ping or a probe')
    timing = timing_of(document, series, path)
    return Test(document, series, left, timing, names_of(document, algorithms or {}))


def _identity(document: Document, path: Path) -> EngineId:
    """Return the identity of a file, which depends on its content only."""
    version = document.text("FLENT_VERSION") or "unknown"
    code = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    return EngineId(name=ENGINE, version=version, model_version=READERS[ENGINE], code=code)


def _host(document: Document) -> dict[str, str | int | None]:
    """Return the file's information on the test host."""
    egress, sysctls = document.table("EGRESS_INFO"), document.table("SYSCTLS")
    kernel = f"{document.text('KERNEL_NAME')} {document.text('KERNEL_RELEASE')}".strip()
    said: dict[str, object] = {
        "name": document.text("LOCAL_HOST"),
        "system": kernel,
        "server": document.text("HOST"),
        "title": document.text("TITLE"),
        "note": document.text("NOTE"),
        "qdisc": discipline(document),
        **{key: egress.get(key) for key in ("iface", "driver")},
        **dict(sorted(sysctls.items())[:50]),
    }
    return {
        brief(key): brief(str(value))
        for key, value in said.items()
        if value != "" and isinstance(value, str | int | float)
    }
