"""Claims run twice, with what is said to turn them; and what another engine has given, kept and shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, cast

import pytest
from typer.testing import CliRunner

from fullpipe import Scenario, engines, studies
from fullpipe.cli import app
from fullpipe.engines import Problem
from fullpipe.engines.native import NativeEngine
from fullpipe.errors import EngineError, UnknownNameError
from fullpipe.runs import Store
from fullpipe.studies import claims, study, tables
from fullpipe.studies.claim_checks import ClaimChecker
from fullpipe.studies.claims import Claim, Elsewhere
from fullpipe.studies.experiments import Experiment, Measurements
from fullpipe.studies.explanations import Explanation
from fullpipe.studies.explanations import explain as explained
from fullpipe.studies.explanations import jobs as jobs_of_explanation
from fullpipe.studies.report import Settings
from fullpipe.studies.settings import Setting
from fullpipe.studies.study import Plan, Study
from fullpipe.studies.verdicts import Cause, Verdict
from fullpipe.sweeps import Job

KEPT = Elsewhere("a claim", "ns3", "3.44", "2026-11-22", 3, "fq_codel", "77 Mbit/s", "reproduced")


class Small:
    """A study of one flow for a tenth of a second, which is printed as having twice its rate."""

    def plan(self, *, quick: bool) -> Plan:
        del quick
        scenario = Scenario.named("single-reno").with_values({"duration": "1 s", "warmup": "0 s"})
        delays = {"delay": {ms: {"topology.bottleneck.delay": f"{ms} ms"} for ms in (1, 2)}}
        experiment = Experiment("one", scenario, {}, self.measure, delays)
        return [(experiment, {"Reno": "reno", "CUBIC": "cubic"})]

    def checker(self, found: Measurements) -> ClaimChecker:
        return ClaimChecker(found, ("as it is",))

    @staticmethod
    def measure(run: Any) -> dict[str, float]:
        return {"rate": float(run.scenario.topology.bottleneck.rate_bps)}


SMALL = cast(Study, Small())
"""It has what explanations ask of a study."""


def claim(**more: Any) -> Claim:
    where = {"algorithm": "Reno", "delay": 1}
    row = {"id": "a claim", "says": "so", "experiment": "one", "quantity": "rate", "where": where}
    words = {"rising", "higher"} & more.keys()
    printed = {} if words else {"between": [4e7, 4e7]}
    return Claim.from_row({**row, **printed, "unit": "bit/s", "why": "token bucket", **more})


def explain(tmp_path: Path, one: Claim) -> Explanation:
    return explained(SMALL, one, Settings(tmp_path, Store(tmp_path), (1, 2)))


def todo(tmp_path: Path, one: Claim) -> list[Job]:
    return jobs_of_explanation(SMALL, one, Settings(tmp_path, Store(tmp_path), (1, 2)))


FASTER = {"key": "topology.bottleneck.rate", "value": "40 Mbit/s"}


def test_a_claim_is_run_as_the_study_has_it_and_with_its_setting(tmp_path: Path) -> None:
    found = explain(tmp_path, claim(setting=FASTER))
    assert found.plain.verdict is Verdict.NOT_REPRODUCED
    assert found.changed
    assert found.changed.verdict is Verdict.REPRODUCED
    assert found.turns
    lines = found.text().splitlines()
    assert lines[:2] == ["a claim: so", "Cause: token bucket"]
    assert "The setting turns the verdict." in lines
    assert any(line.startswith('topology.bottleneck.rate = "40 Mbit/s"') for line in lines)


def test_a_setting_that_does_not_turn_the_verdict_is_said_to_do_so(tmp_path: Path) -> None:
    found = explain(tmp_path, claim(setting={**FASTER, "value": "15 Mbit/s"}))
    assert not found.turns
    assert "The setting does not turn the verdict." in found.text()


def test_a_claim_without_a_setting_says_so(tmp_path: Path) -> None:
    found = explain(tmp_path, claim(why="unknown"))
    assert "Cause: unknown" in found.text()
    assert "The study names no setting for this claim." in found.text()


def test_what_is_reproduced_needs_no_explanation(tmp_path: Path) -> None:
    found = explain(tmp_path, claim(between=[2e7, 2e7], why="unknown"))
    assert "there is no difference to explain" in found.text()
    assert "Cause" not in found.text()


def test_what_the_paper_contradicts_is_its_own_error(tmp_path: Path) -> None:
    row = {"id": "a claim", "says": "so", "contradicted": "a table has another number"}
    text = explain(tmp_path, Claim.from_row(row)).text()
    assert "Cause: paper's own error" in text
    assert text.endswith("no run can reproduce the claim.")


def test_what_is_not_counted_has_the_reason_in_place_of_a_cause(tmp_path: Path) -> None:
    row = {"id": "a claim", "says": "so", "experiment": "one", "quantity": "rate", "uncounted": "said twice"}
    text = explain(
        tmp_path, Claim.from_row({**row, "where": {"algorithm": "Reno", "delay": 1}, "above": 4e7})
    ).text()
    assert "Not counted: said twice" in text
    assert "Cause" not in text


def test_few_seeds_are_said_to_leave_a_rule_out(tmp_path: Path) -> None:
    few = " ".join(explain(tmp_path, claim(setting=FASTER)).text().split())
    assert few.endswith("verdicts may differ from those of the full form.")
    enough = Settings(tmp_path, Store(tmp_path), (1, 2, 3, 4, 5))
    assert explained(SMALL, claim(setting=FASTER), enough).text().endswith("turns the verdict.")


def test_reports_over_few_seeds_say_what_they_are_worth() -> None:
    source = study.transcription("fullpipe.studies.kato2025")
    assert "Over 3 seeds a number is not judged" in tables.report(source, [], 3, "").text
    assert "This is the quick form: verdicts may" in tables.report(source, [], 5, "", quick=True).text
    assert "may differ" not in tables.report(source, [], 5, "").text


def test_only_what_a_claim_names_is_run(tmp_path: Path) -> None:
    points = [(job.point["algorithm"], job.point["delay"], job.seed) for job in todo(tmp_path, claim())]
    assert points == [("Reno", 1, 1), ("Reno", 1, 2)]
    rising = claim(rising="delay", where={"algorithm": "Reno"})
    assert len(todo(tmp_path, rising)) == 2 * 2
    other = claim(where={"delay": 1}, higher={"algorithm": "Reno"}, lower={"algorithm": "CUBIC"})
    assert {job.point["algorithm"] for job in todo(tmp_path, other)} == {"Reno", "CUBIC"}


def test_a_setting_may_be_an_algorithm(tmp_path: Path) -> None:
    jobs = todo(tmp_path, claim(setting={"algorithms": {"Reno": "vegas", "CUBIC": "bbr1"}}))
    algorithms = [flow.cca and flow.cca.kind for job in jobs for flow in job.scenario.flows[:1]]
    assert algorithms == ["reno", "reno", "vegas", "vegas"]


class Other(NativeEngine):
    """The native engine by another name, which cannot do what it is told."""

    name: ClassVar[str] = "other"
    lacks: ClassVar[list[Problem]] = []

    def check(self, scenario: Scenario) -> list[Problem]:
        return self.lacks


def test_a_setting_may_be_an_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "ENGINES", {**engines.ENGINES, "other": Other})
    one = claim(setting={"engine": "other"})
    assert [job.engine for job in todo(tmp_path, one)] == ["native", "native", "other", "other"]
    monkeypatch.setattr(Other, "lacks", [Problem("", "it is not installed")])
    found = explain(tmp_path, claim(setting={"engine": "other"}, elsewhere=KEPT))
    assert found.changed is None
    assert found.text().splitlines()[-4:-2] == [
        'The claim could not be run with engine = "other": it is not installed',
        "Stored result of ns3 3.44, 2026-11-22: 77 Mbit/s: reproduced (fq_codel).",
    ]
    with pytest.raises(EngineError, match="not installed"):
        explained(SMALL, one, Settings(tmp_path, Store(tmp_path), (1,), engine="other"))


def test_a_setting_reads_as_it_is_written() -> None:
    row = {"reading": "fq_codel", "key": "tcp.loss_detection", "value": "dupack", "engine": "ns3"}
    assert str(Setting.from_row(row)) == 'fq_codel, tcp.loss_detection = "dupack", engine = "ns3"'
    assert str(Setting.from_row({**row, "name": "as ns-3"})) == "as ns-3"
    assert str(Setting.from_row("1 MiB receive")) == "1 MiB receive"


def test_a_star_stands_for_every_entry() -> None:
    scenario = Scenario.named("sologon2025-routes")
    changed = Setting(values={"flows.*.alternate.every": "7 s"}).on(scenario)
    assert [flow.alternate.every_s for flow in changed.flows if flow.alternate] == [7.0] * 4


def test_a_value_of_a_sweep_is_replaced_by_the_one_in_its_place() -> None:
    size = "topology.bottleneck.queue.size"
    swaps = Setting(instead={size: {"0.5 bdp": "1 bdp", "5 bdp": "10 bdp"}})
    swept = Scenario.named("adbbr2025-fairness").expand()
    assert [swaps.on(one).to_dict()["topology"]["bottleneck"]["queue"]["size"] for one in swept] == [
        "1 bdp",
        "10 bdp",
    ]
    assert str(swaps) == f'{size} = "1 bdp" for "0.5 bdp", "10 bdp" for "5 bdp"'
    with pytest.raises(KeyError):
        Setting(instead={size: {}}).on(next(iter(swept)))


def test_results_of_another_engine_replace_those_of_the_same_claims(tmp_path: Path) -> None:
    path = tmp_path / "there" / "ns3_results.toml"
    other = Elsewhere("another", "ns3", "3.44", "2026-11-23", 3, "", 'a "quote"', "not reproduced")
    claims.keep(path, [KEPT, other])
    claims.keep(path, [Elsewhere("a claim", *("ns3", "3.45", "2026-12-01", 3, "", "78", "reproduced"))])
    found = claims.kept(path)
    assert found["another"] == other
    assert found["a claim"].shown == "78: reproduced"


def test_reports_show_what_is_kept_with_version_and_date() -> None:
    found = Measurements({("one", "rate", "Reno", (("delay", 1),)): [1e7, 1e7]})
    checked = ClaimChecker(found, ("as it is",)).check_all([claim(elsewhere=KEPT, setting=FASTER)])
    header, _, row = tables.markdown(checked).splitlines()
    assert "| ns3 3.44, 2026-11-22 |" in header
    assert '| token bucket: topology.bottleneck.rate = "40 Mbit/s" |' in row
    assert "| 77 Mbit/s: reproduced (fq_codel) |" in row
    assert "Of 1 not reproduced, the cause of 0 is unknown." in tables.tallies(checked)


def test_an_unknown_claim_is_misuse(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="`fullpipe paper kato2025 --explain list` lists all"):
        studies.explain("kato2025", "Table III", out=tmp_path)
    assert CliRunner().invoke(app, ["paper", "kato2025", "--explain", "Table III"]).exit_code == 2


def test_claims_can_be_listed() -> None:
    printed = CliRunner().invoke(app, ["paper", "kato2025", "--explain", "list"]).output.splitlines()
    assert [line.split(": ")[0] for line in printed] == [
        one.id.split(": ")[0] for one in studies.printed("kato2025")
    ]


@pytest.mark.parametrize("name", studies.names())
def test_what_has_a_setting_has_a_cause(name: str) -> None:
    for one in study.transcription(f"fullpipe.studies.{name}").claims:
        assert not (one.setting and one.why in (None, Cause.UNKNOWN)), one.id
