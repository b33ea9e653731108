"""The experiments of the study, run again: which there are, and how claims about them are read."""

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
"""The first is what the paper says, and counts; published data show the ended ones."""
FAIR, BEST_EFFORT, UPLOADS = "rtt_fair", "rrul_be", "uploads"
CLASSES, PAIRS, MARKS = "rrul", "pairs", "marks"
STREAMS = (1, 2, 4, 8, 12, 16)
OF_BOTH_WAYS = tuple(path for path in PATHS if not str(path).endswith("1.2 s"))
OF_UPLOADS = (DIRECT, "direct, 1.2 s", "direct, fq_codel", ENDED, "ended, 1.2 s")
SHOWN = (1, 12, 16)
"""The numbers of streams of which something is said: under all of those paths, others under the first."""
OF_PAIRS = (DIRECT, "direct, 100 packets", "direct, 500 ms", "direct, fq_codel")
BOTH = {"BBRv3/CUBIC": ("bbr3", "cubic"), "BBRv3/Reno": ("bbr3", "reno"), "CUBIC/Reno": ("cubic", "reno")}
"""The pairs that section 3 announces."""
BOTTLENECKS: Mapping[Value, Mapping[str, Any]] = {
    "FIFO": {},
    "fq_codel": {"topology.links.1.queue": {"kind": "fq_codel"}},
    "CAKE, 95 Mbit/s": {"topology.links.1.queue": {"kind": "cake", "bandwidth_bps": 95_000_000}},
}
"""Where classes could tell: queues of the uplink, and of the way back."""
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
"""BBR-n+ as its abstract has it, and others beside it."""


def plan(*, quick: bool) -> Plan:
    """Every experiment with its algorithms."""
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
    """So many uploads and a ping."""
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
    """A run whose tables are read once more when they are used, and then forgotten: all together would fill
    the memory."""
    return Run.load(run.folder).at(run.meta.point) if run and run.folder else run


def checker(found: Measurements) -> ClaimChecker:
    """What holds claims about the experiments against measurements, under every path that is not printed."""
    return ClaimChecker(found, READINGS, key=KEY, others=tuple(ALGORITHMS))
