"""Experiments of the rerun, and the settings under which claims about them are checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fullpipe.runs import Run
from fullpipe.scenario import Scenario
from fullpipe.studies.ahsan2025 import rerun_measures as measures
from fullpipe.studies.ahsan2025 import rerun_wired as wired
from fullpipe.studies.ahsan2025 import rerun_wireless as wireless
from fullpipe.studies.ahsan2025.rerun_wired import DIRECT, ENDED, PATHS, SERVERS_ALIKE
from fullpipe.studies.claim_checks import ClaimChecker
from fullpipe.studies.experiments import Experiment, Measurements, Value, Variants
from fullpipe.studies.plan import Algorithms, Plan

SEEDS = 10
QUICK_SEEDS = 2

ALGORITHMS: Mapping[str, Any] = {
    "BBRv3": "bbr3",
    "BBR-n+": "bbr_n_plus",
    "CUBIC": "cubic",
    "Reno": "reno",
    "YeAH": "yeah",
    "Veno": "veno",
    "Vegas": "vegas",
    "NV": "nv",
    "DCTCP": "dctcp",
}
KEY = "path"
READINGS = (*map(str, PATHS), DIRECT + SERVERS_ALIKE, ENDED + SERVERS_ALIKE)
"""Settings of the path. The first one is the paper's, and counts; published data show ended connections."""
FAIR, BEST_EFFORT, UPLOADS = "rtt_fair", "rrul_be", "uploads"
CLASSES, PAIRS, MARKS = "rrul", "pairs", "marks"
STREAMS = (1, 2, 4, 8, 12, 16)
OF_BOTH_WAYS = tuple(path for path in PATHS if not str(path).endswith("1.2 s"))
OF_UPLOADS = (DIRECT, "direct, 1.2 s", "direct, fq_codel", ENDED, "ended, 1.2 s")
SHOWN = (1, 12, 16)
"""Numbers of streams about which the paper makes statements: run under all of `OF_UPLOADS`, others under the
first."""
OF_PAIRS = (DIRECT, "direct, 100 packets", "direct, 500 ms", "direct, fq_codel")
BOTH = {"BBRv3/CUBIC": ("bbr3", "cubic"), "BBRv3/Reno": ("bbr3", "reno"), "CUBIC/Reno": ("cubic", "reno")}
"""Pairs that section 3 announces."""
BOTTLENECKS: Mapping[Value, Mapping[str, Any]] = {
    "FIFO": {},
    "fq_codel": {"topology.links.1.queue": {"kind": "fq_codel"}},
    "CAKE, 95 Mbit/s": {"topology.links.1.queue": {"kind": "cake", "bandwidth_bps": 95_000_000}},
}
"""Queues of the uplink and of its reverse direction, at which traffic classes may matter."""
_DUALPI2 = {"topology.links.1.queue": {"kind": "dualpi2"}}
FEEDBACK: Mapping[Value, Mapping[str, Any]] = {
    "FIFO": {},
    "DualPI2": _DUALPI2,
    "DualPI2 and AccECN": {**_DUALPI2, "tcp.ecn": "accecn"},
}
MARKED = {
    "BBR-n+": {"kind": "bbr_n_plus", "l4s": True},
    "BBRv3": "bbr3",
    "Prague": "prague",
    "CUBIC": "cubic",
}
"""Algorithms for marks: BBR-n+ as its abstract describes it, and others."""


def plan(*, quick: bool) -> Plan:
    """Return every experiment with its algorithms."""
    return list(_parts(wired.QUICK_LENGTH_S if quick else wired.LENGTH_S))


def _parts(length_s: float) -> Iterator[tuple[Experiment, Algorithms]]:
    for test in (FAIR, BEST_EFFORT):
        scenario = wired.scenario(test, length_s=length_s)
        up, down = wired.streams(scenario, "upload"), wired.streams(scenario, "download")
        chosen: Variants = {path: PATHS[path] for path in OF_BOTH_WAYS}
        alike: Variants = {path + SERVERS_ALIKE: PATHS[path] for path in (DIRECT, ENDED)}
        for paths, flows in ((chosen, up), (alike, (*up, *down))):
            yield Experiment(test, scenario, {}, measures.of_test, {KEY: paths}, flows), ALGORITHMS
    for count in STREAMS:
        yield _uploads(count, length_s), ALGORITHMS
    yield _classes(length_s), ALGORITHMS
    yield _pairs(length_s), {"both": None}
    yield _marks(length_s), MARKED
    yield wireless.experiment(length_s=length_s), ALGORITHMS


def _upload_scenario(count: int, length_s: float) -> Scenario:
    """Return a scenario with `count` uploads and a ping."""
    scenario = wired.scenario("tcp_1up", length_s=length_s)
    return scenario.with_values({"flows.0.count": count})


def _uploads(count: int, length_s: float) -> Experiment:
    paths = OF_UPLOADS if count in SHOWN else OF_UPLOADS[:1]
    variants: dict[str, Variants] = {"streams": {count: {}}, KEY: {path: PATHS[path] for path in paths}}
    scenario = _upload_scenario(count, length_s)
    return Experiment(UPLOADS, scenario, {}, measures.of_test, variants, flows=(0,))


def _classes(length_s: float) -> Experiment:
    scenario = wired.scenario(CLASSES, length_s=length_s)
    flows = wired.streams(scenario, "upload")
    return Experiment(CLASSES, scenario, {}, measures.of_classes, {"bottleneck": BOTTLENECKS}, flows)


def _pairs(length_s: float) -> Experiment:
    scenario = wired.scenario("tcp_2up", length_s=length_s)
    pairs: Variants = {
        pair: {f"flows.{n}.cca": cca for n, cca in enumerate(ccas)} for pair, ccas in BOTH.items()
    }
    variants: dict[str, Variants] = {"pair": pairs, KEY: {path: PATHS[path] for path in OF_PAIRS}}
    return Experiment(PAIRS, scenario, {}, measures.of_pair, variants, flows=())


def _marks(length_s: float) -> Experiment:
    scenario = _upload_scenario(4, length_s)
    return Experiment(MARKS, scenario, {}, measures.of_marks, {"feedback": FEEDBACK}, flows=(0,))


def unread(run: Run | None) -> Run | None:
    """Return a run that reads its tables anew when they are used: all tables together would fill the
    memory."""
    return Run.load(run.folder).at(run.meta.point) if run and run.folder else run


def checker(found: Measurements) -> ClaimChecker:
    """Return a checker of claims about the experiments under every setting of the path."""
    return ClaimChecker(found, READINGS, key=KEY, others=tuple(ALGORITHMS))
