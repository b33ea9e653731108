"""Files of findings: what commands write conforms to the schema, and is read again."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from fullpipe.validation.check import Checked
from fullpipe.validation.check.forms import as_json
from fullpipe.validation.compare import Finding, Subject, VariantComparison
from fullpipe.validation.compare.comparison import Entries, Ran
from fullpipe.validation.compare.contrast import Contrast
from fullpipe.validation.compare.finding import known
from fullpipe.validation.compare.reading import comparisons_in, findings_in, with_names
from fullpipe.validation.compare.rules import one_sided, paired
from fullpipe.validation.compare.sentence import names_of
from fullpipe.validation.compare.stored import FORMAT, schema, told
from tests.report.pages import scenario

FullPipe = Callable[..., Any]
SUITE = """
scenarios = ["line.toml"]
seeds = 2
[metrics.goodput]
"""


@pytest.fixture
def written(fullpipe: FullPipe, tmp_path: Path) -> dict[str, Any]:
    """What `compare -o` writes of one variant."""
    (tmp_path / "line.toml").write_text(scenario().to_toml(), encoding="utf-8")
    fullpipe("compare", "line.toml", "--over", "flows.0.cca=cubic,reno", "--seeds", 3, "-o", "c.json")
    return dict(json.loads((tmp_path / "c.json").read_text(encoding="utf-8")))


def problems(found: dict[str, Any]) -> list[str]:
    """Where a file breaks the schema."""
    return [error.json_path for error in Draft202012Validator(schema()).iter_errors(found)]


def test_what_compare_writes_conforms_to_the_schema(written: dict[str, Any]) -> None:
    assert problems(written) == []
    assert problems({**written, "format": 1}) == ["$.format"]
    assert problems({**written, "findings": [{**written["findings"][0], "verdict": "so so"}]}) != []


def test_what_check_writes_conforms_to_the_schema(fullpipe: FullPipe, tmp_path: Path) -> None:
    (tmp_path / "line.toml").write_text(scenario().to_toml(), encoding="utf-8")
    (tmp_path / "suite.toml").write_text(SUITE, encoding="utf-8")
    done = fullpipe("check", "suite.toml", "--against", "flows.0.cca=reno", "-o", "k.json")
    found = json.loads((tmp_path / "k.json").read_text(encoding="utf-8"))
    assert done.exit_code in (0, 1, 2)
    assert problems(found) == []
    assert {one["case"] for one in found["scenarios"]} == {"line"}
    assert found["warnings"][0].startswith("Warning: 2 of 2 points are too short for means: ")
    assert len(findings_in(found)[0]) == len(found["rows"])


def test_check_warns_of_every_case_of_equal_scenarios(fullpipe: FullPipe, tmp_path: Path) -> None:
    for name in ("line", "twin"):
        (tmp_path / f"{name}.toml").write_text(scenario(name).to_toml(), encoding="utf-8")
    suite = SUITE.replace('"line.toml"', '"line.toml", "twin.toml"')
    (tmp_path / "suite.toml").write_text(suite, encoding="utf-8")
    fullpipe("check", "suite.toml", "--against", "flows.0.cca=reno", "-o", "k.json")
    warnings = json.loads((tmp_path / "k.json").read_text(encoding="utf-8"))["warnings"]
    assert [told.partition(": ")[0] for told in warnings] == ["Warning of line", "Warning of twin"]


def test_the_schema_is_printed(fullpipe: FullPipe) -> None:
    assert json.loads(fullpipe("schema", "findings").stdout) == schema()


def test_a_file_has_the_scenario_of_every_side_and_all_values(written: dict[str, Any]) -> None:
    assert written["format"] == FORMAT
    assert [(one["side"], one["scenario"]["flows"][0]["cca"]) for one in written["scenarios"]] == [
        ("cubic", "cubic"),
        ("reno", "reno"),
    ]
    assert written["sides"] == {"cubic": [1, 2, 3], "reno": [1, 2, 3]}
    assert written["changed"] == [0]
    assert all(len(side) == 3 for side in written["findings"][0]["values"])


def test_findings_are_read_as_they_were_written(written: dict[str, Any]) -> None:
    findings, others = findings_in(written)
    assert others == []
    assert [each.to_dict() for each in findings] == written["findings"]
    (one,) = comparisons_in(written, findings)
    assert (one.sides, one.changed) == ({"cubic": [1, 2, 3], "reno": [1, 2, 3]}, {0})


def test_findings_have_the_number_of_flows_and_what_their_value_is(written: dict[str, Any]) -> None:
    found = {(each["of"], each["metric"]): (each["flows"], each["combined"]) for each in written["findings"]}
    assert all(flows is None for (of, _), (flows, _) in found.items() if of == "all flows")
    assert {(metric, combined) for (_, metric), (_, combined) in found.items()} >= {
        ("goodput", "sum"),
        ("rtt_mean", "mean"),
        ("jain", ""),
    }
    assert all(flows == [1, 1] for (of, _), (flows, _) in found.items() if " -> " in of)
    without = [
        {k: v for k, v in each.items() if k not in ("flows", "combined")} for each in written["findings"]
    ]
    findings, others = findings_in({**written, "findings": without})
    assert (len(findings), others) == (len(without), [])


def test_rows_of_format_1_become_findings_with_their_means(written: dict[str, Any]) -> None:
    before = {key: written[key] for key in ("kind", "title", "rows", "notes")}
    findings, others = findings_in(before)
    assert others == []
    for old, new in zip(findings, findings_in(written)[0], strict=True):
        same = replace(new, values=old.values, labels=("", ""), p_raw=None, flows=None, doubts=())
        assert old == replace(same, difference=old.difference)
        assert (old.reference, old.other) == pytest.approx((new.reference, new.other))


def of_two_cases() -> Checked:
    """A check whose cases have a bulk flow and a call at other places, and a label each."""
    findings = [
        replace(found, subject=Subject("flows", entry, "mine", "goodput", "bit/s", {}, case))
        for case in ("bulk", "call")
        for entry in (0, 1)
        for found in one_sided([HIGHER], 1)
    ]
    trees = {case: {"labels": {f"flows.0.{case}": f"{case} in words"}} for case in ("bulk", "call")}
    return Checked(
        scenario="suite",
        sides={"base": [1, 2, 3], "change": [1, 2, 3]},
        findings=[replace(each, sides=("base", "change")) for each in findings],
        runs=3,
        is_identical=False,
        ran=[Ran(side, tree, {}, case) for side in ("base", "change") for case, tree in trees.items()],
        by_case={
            "bulk": Entries(frozenset({0}), frozenset({0})),
            "call": Entries(frozenset({1}), frozenset({1})),
        },
    )


def test_changed_entries_and_bulk_flows_are_stored_by_case() -> None:
    found = json.loads(json.dumps(as_json(of_two_cases(), "")))
    assert problems(found) == []
    assert (found["changed"], found["bulk"]) == ([0, 1], [0, 1])
    assert found["entries"] == [
        {"side": "change", "case": "bulk", "changed": [0], "bulk": [0]},
        {"side": "change", "case": "call", "changed": [1], "bulk": [1]},
    ]
    read = comparisons_in(*with_names(found, findings_in(found)[0]))
    assert [(one.changed, one.bulk) for one in read] == [({0}, {0}), ({1}, {1})]


def test_a_file_without_entries_by_case_has_those_of_all_cases() -> None:
    found = {key: value for key, value in as_json(of_two_cases(), "").items() if key != "entries"}
    read = comparisons_in(found, findings_in(found)[0])
    assert [(one.changed, one.bulk) for one in read] == [({0, 1}, {0, 1})] * 2


@pytest.mark.parametrize("entries", [3, [3], [{"side": [], "changed": ["a"]}], [{"bulk": {}}]])
def test_a_file_with_strange_entries_is_read(entries: object) -> None:
    found = {**as_json(of_two_cases(), ""), "entries": entries}
    read = comparisons_in(*with_names(found, findings_in(found)[0]))
    assert [one.bulk for one in read] == [{0, 1}] * 2


def test_the_changed_entries_of_every_variant_are_stored() -> None:
    (found,) = paired([replace(HIGHER, subject=Subject("flows", 0, "mine", "goodput", "bit/s"))])
    made = [
        VariantComparison(
            scenario="line",
            sides={"old": [1, 2, 3], side: [1, 2, 3]},
            findings=[replace(found, sides=("old", side))],
            by_case={"": Entries(frozenset({entry}))},
        )
        for entry, side in enumerate(("new", "newer"))
    ]
    content = told(made)
    assert content["changed"] == [0, 1]
    assert [one.changed for one in comparisons_in(content, findings_in(content)[0])] == [{0}, {1}]


def test_the_labels_of_every_case_are_those_of_a_check_and_of_its_file() -> None:
    made = of_two_cases()
    words = ["bulk in words", "call in words"]
    assert names_of([made]).labels.words == words
    found = as_json(made, "")
    assert names_of(comparisons_in(found, findings_in(found)[0])).labels.words == words


def test_a_row_that_is_no_finding_is_kept_as_it_is() -> None:
    row = {"test": "Welch", "metric": "goodput", "reference": 1.0, "difference": 2.0, "verdict": "better"}
    assert findings_in({"rows": [row]}) == ([], [row])


@pytest.mark.parametrize(
    ("key", "value"),
    [("values", [[], []]), ("metric", "speed"), ("verdict", 3), ("difference", 1e300), ("of", None)],
)
def test_a_finding_with_another_value_is_refused(written: dict[str, Any], key: str, value: Any) -> None:
    with pytest.raises(ValueError, match=key):
        Finding.from_dict({**written["findings"][0], key: value})


HIGHER = Contrast([1.0, 2.0, 4.0], [2.0, 3.5, 4.5], 0.1, "higher")
SIDES = {"old": [1, 2, 3], "new": [1, 2, 3]}


def test_a_row_of_two_variants_is_a_finding_with_the_keys_of_format_1() -> None:
    (found,) = paired([HIGHER])
    (row,) = VariantComparison(scenario="line", sides=SIDES, findings=[found]).to_dict()["rows"]
    assert list(row) == [
        *(
            "verdict",
            "kind",
            "of",
            "entry",
            "metric",
            "unit",
            "reference",
            "variant",
            "difference",
            "interval",
        ),
        *("p", "cliffs_delta", "correlation", "margin", "seeds_that_would_decide", "unfinished", "reason"),
    ]
    assert (row["variant"], row["p"]) == (found.other, found.p_corrected)
    assert row["margin"] == {"relative": 0.0, "absolute": 0.0}


def test_a_row_of_a_check_is_a_finding_with_the_keys_of_format_1() -> None:
    found = replace(one_sided([HIGHER], 1)[0], decision="not worse")
    checked = Checked(scenario="suite", sides=SIDES, findings=[found], runs=3, is_identical=False)
    (row,) = as_json(checked, "")["rows"]
    assert list(row) == [
        *("verdict", "case", "point", "kind", "of", "metric", "unit", "base", "change", "difference"),
        *("interval", "p", "margin", "seeds", "seeds_that_would_decide", "reason"),
    ]
    assert (row["verdict"], row["change"], row["margin"]) == ("not worse", found.other, 0.1)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_numbers_that_json_lacks_are_null(value: float) -> None:
    assert known(value) is None
