"""The study of published data: what is printed is computed once more, from theirs and from made ones."""

from __future__ import annotations

import dataclasses
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.stats
from typer.testing import CliRunner

from fullpipe import studies
from fullpipe.analysis.statistics import hotelling
from fullpipe.cli import app
from fullpipe.errors import InputFileError
from fullpipe.studies import ahsan2025
from fullpipe.studies.ahsan2025 import exports, printed, published, recompute
from fullpipe.studies.ahsan2025.exports import NAMES
from fullpipe.studies.claim_checks import ClaimChecker, ClaimResult
from fullpipe.studies.experiments import Measurements
from fullpipe.studies.text import as_printed
from fullpipe.studies.verdicts import Verdict
from tests.studies import published_data as made

THEIR_DATA = Path(__file__).parents[3] / "shared" / "papers" / "bbr-n-plus-data"
with_their_data = pytest.mark.skipif(not THEIR_DATA.is_dir(), reason="the published data are not at hand")
SWAPPED = ("sum", "average", "variance")
WRONG = {
    "Table 2: Reno, variance",
    "Table 3a: P",
    *(f"Table {n}: {name}, {q}" for n in (6, 7) for name in ("BBR-n+", "BBRv3") for q in SWAPPED),
    "Table 7: NV, sum",
}


def judged(found: Measurements) -> list[ClaimResult]:
    """Every claim about published data."""
    claims = [claim for claim in ahsan2025.transcription().claims if claim.published]
    return ClaimChecker(found, ()).check_all(claims)


def by_id(checked: list[ClaimResult]) -> dict[str, ClaimResult]:
    """The same by the id of the claim."""
    return {one.claim.id: one for one in checked}


def test_every_printed_result_is_one_claim() -> None:
    claims = printed.claims()
    assert len(claims) == 320
    entries = [entry for claim in claims for entry in claim.entries]
    assert sorted(entries) == [*range(171, 453), *range(479, 517)]
    assert sum(claim.id.startswith("Tukey") for claim in claims) == 36


@pytest.fixture(scope="module")
def theirs() -> published.Published:
    """The published data."""
    return published.in_folder(THEIR_DATA)


@pytest.fixture(scope="module")
def measured_of_theirs(theirs: published.Published) -> Measurements:
    """All that is measured of them."""
    return theirs.measure()


@with_their_data
def test_305_of_320_come_out_to_the_printed_digit_and_15_are_named(measured_of_theirs: Measurements) -> None:
    checked = ClaimChecker(measured_of_theirs, ()).check_all(printed.claims())
    assert Counter(one.verdict for one in checked) == {Verdict.RECOMPUTED: 305, Verdict.CONTRADICTED: 15}
    assert {one.claim.id for one in checked if one.verdict is Verdict.CONTRADICTED} == WRONG
    notes = by_id(printed.named(printed.results(), measured_of_theirs, checked))
    assert all(notes[where].note for where in WRONG)
    for table in ("Table 6", "Table 7"):
        for quantity in SWAPPED:
            assert notes[f"{table}: BBR-n+, {quantity}"].note.startswith("printed is BBRv3's")
            assert notes[f"{table}: BBRv3, {quantity}"].note.startswith("printed is BBR-n+'s")
    assert notes["Table 2: Reno, variance"].note == "printed is cut off, not rounded"
    assert notes["Table 3a: P"].note == "the printed exponent is cut off"
    assert notes["Table 7: NV, sum"].note == "a misprint: printed average times count is 3790.871"


@with_their_data
def test_what_is_said_of_their_data_is_held_against_them(measured_of_theirs: Measurements) -> None:
    found = by_id(judged(measured_of_theirs))

    def verdict(where: str) -> Verdict:
        return found[f"{where}, by their data"].verdict

    assert verdict("5: upload of BBRv3") is Verdict.RECOMPUTED
    assert verdict("4.1: latency at four hosts") is Verdict.RECOMPUTED
    assert verdict("4.4: upload above BBRv3") is Verdict.RECOMPUTED
    assert verdict("4.4: latency of BBR-n+") is Verdict.CONTRADICTED
    assert found["4.4: latency of BBR-n+, by their data"].held == 5
    assert verdict("4.4: BBR-n+ and BBRv3, latency") is Verdict.CONTRADICTED
    assert verdict("4.3: throughput") is Verdict.NOT_JUDGED, "Flent's files are not there"


@pytest.fixture
def no_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The study without its experiments."""
    monkeypatch.setattr(ahsan2025, "plan", lambda *, quick: [])


@pytest.mark.usefixtures("no_runs")
def test_without_data_nothing_is_judged_and_the_link_is_told(tmp_path: Path) -> None:
    report = studies.run("ahsan2025", seeds=1, quick=True, out=tmp_path, echo=None)
    rows = pl.read_csv(report.folder / "verdicts.csv", infer_schema=False)
    tables = rows.filter(pl.col("where").str.contains("^(Table|Tukey|MANOVA)"))
    assert tables.height == 320
    assert set(tables["verdict"]) == {"not judged: give --data"}
    lines = [line for line in report.text.splitlines() if line.startswith("Table 2: BBRv3, sum")]
    assert len(lines) == 1
    assert printed.results().published in lines[0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made exports, in a folder below the one that is given, and a few files of Flent."""
    there = tmp_path_factory.mktemp("data")
    for file in ("test-fig8.csv", "test-fig20.csv"):
        made.write_export(there / "exports", file)
    for title, mbps, ping_ms in (("Cubic", 30.0, 400.0), ("BBR-v3", 40.0, 40.0), ("Reno", 20.0, 300.0)):
        streams = [None if n < 25 else mbps for n in range(350)]
        made.write_upload(there / "Wired-eth-100Mbps", "tcp_12up", title, streams, ping_ms)
    return there


@pytest.fixture(scope="module")
def data(folder: Path) -> published.Published:
    """All that is in them."""
    return published.in_folder(folder)


@pytest.fixture(scope="module")
def found(data: published.Published) -> Measurements:
    """All that is measured of them."""
    return data.measure()


def test_made_tables_have_the_sums_and_tests_of_scipy(found: Measurements) -> None:

    def one(place: str, algorithm: str, quantity: str) -> float:
        (value,) = found.at("published data", quantity, algorithm, {"in": place})
        return value

    table = printed.results().tables[1]
    groups = [
        np.array(made.values(table.series, name)[made.FIRST : made.FIRST + table.rows])
        for name in table.groups
    ]
    for name, values in zip(table.groups, groups, strict=True):
        assert one("Table 3", name, "count") == 303
        assert one("Table 3", name, "sum") == pytest.approx(values.sum(), rel=1e-12)
        assert one("Table 3", name, "variance") == pytest.approx(values.var(ddof=1), rel=1e-12)
    theirs = scipy.stats.f_oneway(*groups)
    assert one("Table 3a", "all", "F") == pytest.approx(theirs.statistic, rel=1e-9)
    assert one("Table 3a", "all", "P") == pytest.approx(theirs.pvalue, rel=1e-6)
    assert one("Table 3a", "all", "df in all") == 9 * 303 - 1
    between, within = one("Table 3a", "all", "SS between"), one("Table 3a", "all", "SS within")
    assert one("Table 3a", "all", "SS in all") == pytest.approx(between + within, rel=1e-12)
    assert one("Table 3a", "all", "critical F") == pytest.approx(scipy.stats.f.ppf(0.95, 8, 9 * 302))


def test_made_pairs_are_those_of_scipy(found: Measurements) -> None:
    order = list(dict.fromkeys(name for pair in printed.results().pairs for name in pair))
    groups = [made.values("TCP upload sum", name)[made.FIRST : made.FIRST + 300] for name in order]
    theirs = scipy.stats.tukey_hsd(*groups)
    ends = theirs.confidence_interval()
    for first, second in printed.results().pairs:
        i, j = order.index(first), order.index(second)
        where = {"in": "Tukey"}
        name = printed.pair_name(first, second)
        (low,) = found.at("published data", "low", name, where)
        (p,) = found.at("published data", "P", name, where)
        assert low == pytest.approx(ends.low[j, i], abs=1e-4)
        assert p == pytest.approx(theirs.pvalue[i, j], abs=1e-5)


def test_hotelling_is_the_t_test_of_one_metric() -> None:
    values = np.random.default_rng(3).normal(0.4, 1, 20)
    theirs = scipy.stats.ttest_1samp(values, 0)
    ours = hotelling(values[:, None])
    assert ours.f == pytest.approx(theirs.statistic**2)
    assert ours.p == pytest.approx(theirs.pvalue)
    with pytest.raises(ValueError, match="a metric is a linear combination"):
        hotelling(np.column_stack([values, 2 * values]))
    with pytest.raises(ValueError, match="more rows"):
        hotelling(np.eye(3))


def test_made_prints_are_recomputed_and_wrong_ones_are_named(
    data: published.Published, found: Measurements
) -> None:
    """A table printed of made data, two rows of it swapped, a sum misprinted and a variance cut off."""
    table, groups = printed.results().tables[5], data.groups["Table 7"]
    rows = {}
    for name, values in groups.items():
        numbers = (values.size, values.sum(), values.mean(), values.var(ddof=1))
        shown = [
            as_printed(float(x), digits)
            for x, digits in zip(numbers, ("1", "1.000", "1.00000", "1.0000"), strict=True)
        ]
        rows[name] = dict(zip(printed.SUMMARY, shown, strict=True))
    right = dataclasses.replace(table, groups=rows)
    wrong_rows = {**rows, "CUBIC": rows["Reno"], "Reno": rows["CUBIC"]}
    first = "9" if rows["NV"]["sum"][0] != "9" else "8"
    wrong_rows["NV"] = {**rows["NV"], "sum": first + rows["NV"]["sum"][1:]}
    wrong = dataclasses.replace(table, groups=wrong_rows)

    def notes(of: printed.Table) -> dict[str, str]:
        results = dataclasses.replace(printed.results(), tables=(of,))
        claims = [c for c in printed.claims_of(results) if c.id.startswith("Table 7:")]
        checked = printed.named(results, found, ClaimChecker(found, ()).check_all(claims))
        assert all(j.verdict in (Verdict.RECOMPUTED, Verdict.CONTRADICTED) for j in checked)
        return {j.claim.id: j.note for j in checked if j.verdict is Verdict.CONTRADICTED}

    assert notes(right) == {}
    assert notes(wrong) == {
        **{f"Table 7: CUBIC, {q}": "printed is Reno's" for q in SWAPPED},
        **{f"Table 7: Reno, {q}": "printed is CUBIC's" for q in SWAPPED},
        "Table 7: NV, sum": f"a misprint: printed average times count is {product(rows['NV'])}",
    }


def product(row: dict[str, str]) -> str:
    """Average times count, to the digits of the sum."""
    return as_printed(float(row["average"]) * float(row["count"]), row["sum"])


def test_files_of_flent_decide_what_is_said_of_figures(found: Measurements) -> None:
    told = by_id(judged(found))
    assert told["4.3: latency, by their data"].verdict is Verdict.RECOMPUTED
    assert told["4.3: throughput, by their data"].verdict is Verdict.CONTRADICTED
    assert told["4.2: latency of one stream, by their data"].verdict is Verdict.NOT_JUDGED


def test_files_of_flent_say_what_the_testbed_was(tmp_path: Path) -> None:
    streams = [30.0] * 350
    wired, wifi = tmp_path / "Wired-eth-100Mbps", tmp_path / "TCP_Upload-802.11n"
    made.write_upload(wired, "tcp_12up", "Cubic", streams, 60.0, rtt_ms=0.3)
    made.write_upload(wired, "tcp_12up", "DCTCP", streams, 60.0, rtt_ms=0.3, algorithm="dctcp-reno")
    made.write_upload(wifi, "tcp_1up", "Cubic", streams, 60.0)
    head, table = exports.text(published.in_folder(tmp_path).files)
    rows = [line.split("  ") for line in str(table).splitlines()[2:]]
    cells = [[cell.strip() for cell in row if cell.strip()] for row in rows]
    assert cells == [
        ["TCP_Upload-802.11n", "tcp_1up", "1", "1 fq", "0 of 1", "cubic"],
        ["Wired-eth-100Mbps", "tcp_12up", "2", "2 fq", "2 of 2", "cubic, dctcp-reno"],
    ]
    assert "A proxy or NAT terminates TCP" in str(head)
    assert exports.text([]) == []


def test_one_export_is_enough_for_its_tables(tmp_path: Path) -> None:
    made.write_export(tmp_path, "test-fig20.csv")
    data = published.in_folder(tmp_path)
    assert list(data.groups) == ["Table 5", "Table 6", "Table 7"]
    verdicts = {j.claim.id: j.verdict for j in judged(data.measure())}
    assert verdicts["Table 2: BBRv3, sum"] is Verdict.NOT_JUDGED
    assert verdicts["Table 5: BBRv3, count"] is Verdict.RECOMPUTED


def broken(file: str, how: str) -> dict[str, list[str]]:
    """The columns of an export, with a mistake."""
    found = made.columns(file)
    head = f"TCP upload sum - {made.THEIRS['Veno']}"
    if how == "column":
        del found[head]
    elif how == "rows":
        return {name: cells[:200] for name, cells in found.items()}
    elif how == "empty":
        found[head] = [""] * made.STEPS
    elif how == "heads":
        return {f"x{n}": cells for n, cells in enumerate(found.values())}
    else:
        found[head][40] = how
    return found


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("column", 'the column "TCP upload sum - veno" is missing'),
        ("nan", '"nan" is not a number'),
        ("inf", '"inf" is not a number'),
        ("twelve", "line 42, column"),
        ("rows", "TCP upload sum has 174 rows from its first value on, but 304 are needed"),
        ("empty", "TCP upload sum of Veno has 0 values in 304 rows"),
        ("heads", 'no column head is "series - algorithm"'),
    ],
)
def test_a_broken_export_gets_one_clear_line(tmp_path: Path, how: str, message: str) -> None:
    made.write_export(tmp_path, "test-fig8.csv", broken("test-fig8.csv", how))
    words = ["paper", "ahsan2025", "--quick", "--data", str(tmp_path), "--out", str(tmp_path / "runs")]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("fullpipe: test-fig8.csv")
    assert message in result.stderr
    assert not (tmp_path / "runs").exists()


def test_a_line_that_is_cut_off_is_told(tmp_path: Path) -> None:
    path = made.write_export(tmp_path, "test-fig8.csv")
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(
        InputFileError, match=r"line 361: \d+ cells, but the first line has \d+; copy the file"
    ):
        published.in_folder(tmp_path)


@pytest.mark.parametrize("content", [b"", b"a,b\n", b"\xff\xfe\x00", b'"a\n'])
def test_what_is_no_export_is_told(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "test-fig8.csv").write_bytes(content)
    with pytest.raises(InputFileError, match=r"^test-fig8.csv: "):
        published.in_folder(tmp_path)


def test_a_folder_without_data_and_a_study_without_any_are_told(tmp_path: Path) -> None:
    with pytest.raises(
        InputFileError, match=r"neither test-fig8.csv nor test-fig20.csv; get them from https://"
    ):
        published.in_folder(tmp_path)
    with pytest.raises(InputFileError, match="is not a folder"):
        published.in_folder(tmp_path / "no")
    with pytest.raises(InputFileError, match="kato2025 uses no published data; only ahsan2025 does"):
        studies.run("kato2025", data=tmp_path, out=tmp_path, echo=None)


def test_a_file_of_flent_without_the_series_is_told(tmp_path: Path) -> None:
    there = tmp_path / "Wired-eth-100Mbps"
    made.write_upload(there, "tcp_12up", "Reno", [None] * 350, 3.0)
    with pytest.raises(InputFileError, match="TCP upload sum has no value from 5 to 65 s"):
        published.in_folder(tmp_path)


def test_every_algorithm_has_a_name() -> None:
    assert all(set(table.groups) == set(NAMES.values()) for table in printed.results().tables)


@pytest.mark.usefixtures("no_runs")
def test_the_whole_report_of_made_data(folder: Path, tmp_path: Path) -> None:
    report = studies.run("ahsan2025", quick=True, data=folder, out=tmp_path, echo=None)
    figures = {path.stem for path in report.figures}
    numbers = (3, 4, 5, 6, 7, 8, 9, 13, 15, 16)
    assert figures == {
        "published-differences",
        "published-effective-samples",
        *(f"published-figure-{n}" for n in numbers),
    }
    assert all(path.exists() for path in report.files)
    page = (report.folder / "report.html").read_text(encoding="utf-8")
    assert "Published figure 3, drawn from the published data" in page
    assert "--quick --data published-data" in page
    assert "The printed analyses, which take 300 to 351 samples" in report.text
    rows = pl.read_csv(report.folder / "verdicts.csv", infer_schema=False)
    assert "not judged: give --data" in set(rows["verdict"]), "of Figures 10 to 12 there are no files"
    pairs = pl.read_csv(report.folder / "pairs.csv")
    assert pairs.height == 6 * 36
    wider = (
        pairs["effective_high"] - pairs["effective_low"]
        > pairs["as_independent_high"] - pairs["as_independent_low"]
    )
    assert wider.mean() > 0.9


@pytest.mark.usefixtures("no_runs")
def test_an_export_without_hosts_has_no_figures_of_them(tmp_path: Path) -> None:
    kept = {head: cells for head, cells in made.columns("test-fig8.csv").items() if "host" not in head}
    made.write_export(tmp_path / "data", "test-fig8.csv", kept)
    report = studies.run("ahsan2025", quick=True, data=tmp_path / "data", out=tmp_path, echo=None)
    drawn = {path.stem for path in report.figures}
    assert drawn == {"published-differences", "published-effective-samples", "published-figure-3"}


@pytest.fixture(scope="module")
def one(data: published.Published) -> recompute.Analysis:
    """Both analyses of the made Table 2."""
    (found,) = recompute.analyses({"Table 2": data.groups["Table 2"]})
    return found


def test_series_that_remember_are_worth_less(one: recompute.Analysis) -> None:
    """An autoregression of 0.7 is worth (1 - 0.7) / (1 + 0.7) of its length."""
    worth = np.array([sample.n for sample in one.samples.values()])
    assert worth.mean() / 304 == pytest.approx(0.3 / 1.7, rel=0.25)
    assert one.classical.f == pytest.approx(one.printed.f * worth.mean() / 304, rel=0.35)


def test_a_pair_is_turned_with_its_interval(one: recompute.Analysis) -> None:
    there, back = (one.pair(one.effective, *names) for names in (("BBRv3", "Veno"), ("Veno", "BBRv3")))
    assert there.difference == -back.difference
    assert (there.interval.low, there.interval.high) == (-back.interval.high, -back.interval.low)
    groups = one.groups
    assert there.difference == pytest.approx(groups["Veno"].mean() - groups["BBRv3"].mean())


@with_their_data
def test_with_effective_sample_sizes_bbr_n_plus_is_nowhere_told_from_bbr3(
    theirs: published.Published,
) -> None:
    found = recompute.analyses(theirs.groups)
    assert [recompute.differing(one.as_independent) for one in found] == [8, 30, 25, 26, 33, 25]
    assert [recompute.differing(one.effective) for one in found] == [0, 9, 0, 20, 28, 0]
    assert found[0].printed.p < 1e-11
    assert found[0].classical.p > 0.2
    for one in found:
        assert 0 in one.pair(one.effective, recompute.THEIRS, recompute.OURS).interval
