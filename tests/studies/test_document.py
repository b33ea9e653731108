"""The page of a study, and the three sentences at the end of its report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from struct import pack

from fullpipe import engines
from fullpipe.report.content import Code, Document, Figure, Image, Section, Table, Text
from fullpipe.studies.document import ending, of_report
from fullpipe.studies.report import Report, Told
from fullpipe.studies.text import Aligned
from tests.report.pages import PNG

TOLD = Told(
    parts=["all of it"],
    title="A study",
    how="Ours over 3 seeds.",
    verdicts=[["where", "printed", "ours", "verdict"], ["Table I", "1", "2", "not reproduced"]],
    tally={"reproduced": 3, "not reproduced": 2},
    causes=[("rate samples", 2)],
    counts=["5 printed numbers and claims, each counted once.", "Of those reproduced, 1 by tolerance."],
    sections=["Table I:", "prose in\nlines", Aligned([["a", "b"], ["1", "2"]])],
    rules="a rule",
    setup=[("where", "printed", "here"), ("II", "50 s", "the same")],
    seeds=3,
)


def report(folder: Path) -> Report:
    """A finished study with one figure."""
    (folder / "figure-2.png").write_bytes(PNG)
    return Report(TOLD, (folder / "figure-2.png", folder / "figure-2.csv"), folder)


def document(folder: Path) -> Document:
    """Its page."""
    return of_report(report(folder), engines.engine("native"))


def section(found: Document, heading: str) -> Section:
    """The section of that name."""
    return next(one for one in found.parts[0].details if one.heading == heading)


def test_the_end_says_what_came_out_where_it_is_and_what_is_next(tmp_path: Path) -> None:
    outcome, where, following = ending("kato2025", report(tmp_path), quick=True).splitlines()
    assert outcome == (
        "Of 5 printed numbers and claims: 3 reproduced, 2 not reproduced; "
        "the most frequent cause is rate samples (2). "
        "The numbers are the paper's: one that our runs do not reproduce is a result, not an error."
    )
    assert str(tmp_path / "report.html") in where
    assert "`fullpipe paper kato2025` runs the full form" in following
    assert "`fullpipe paper kato2025 --explain CLAIM`" in following


def test_the_full_form_is_not_advised_after_itself(tmp_path: Path) -> None:
    assert "full form" not in ending("kato2025", report(tmp_path))


def test_a_study_in_which_all_is_reproduced_names_no_cause(tmp_path: Path) -> None:
    all_right = replace(report(tmp_path), told=replace(TOLD, tally={"reproduced": 5}, causes=[]))
    assert ending("x", all_right).splitlines()[0] == "Of 5 printed numbers and claims: 5 reproduced."


def test_the_page_has_verdicts_figures_and_the_rest(tmp_path: Path) -> None:
    found = document(tmp_path)
    (part,) = found.parts
    assert part.conclusion[0].startswith("Of 5 printed numbers and claims: 3 reproduced")
    _, verdicts = section(found, "Every printed number and claim").blocks
    assert isinstance(verdicts, Table)
    assert list(verdicts.rows) == [["Table I", "1", "2", "not reproduced"]]
    assert [column.is_verdict for column in verdicts.columns] == [False, False, False, True]
    assert part.table is not None
    assert part.table.rows == verdicts.rows
    figure = part.figure
    assert figure is not None
    assert figure.chart == Image(PNG)
    assert figure.caption == "Figure 2, drawn from our runs."


def test_the_page_has_the_command_and_the_verdicts_as_a_file(tmp_path: Path) -> None:
    (part,) = of_report(report(tmp_path), engines.engine("native"), name="kato2025").parts
    assert part.command == "fullpipe paper kato2025 --seeds 3"
    assert part.recipe.commands == [part.command]
    (file,) = part.data
    assert file.content == "where,printed,ours,verdict\nTable I,1,2,not reproduced\n"


def test_the_command_has_the_seeds_of_a_quick_form(tmp_path: Path) -> None:
    (part,) = of_report(report(tmp_path), engines.engine("native"), name="kato2025", quick=True).parts
    assert part.command == "fullpipe paper kato2025 --seeds 3 --quick"


def test_the_command_of_published_data_names_their_folder(tmp_path: Path) -> None:
    (part,) = of_report(report(tmp_path), engines.engine("native"), name="ahsan2025", has_data=True).parts
    assert part.command == "fullpipe paper ahsan2025 --seeds 3 --data published-data"
    assert part.recipe.needs == ["Put the paper's published data into a folder published-data."]


def test_seeds_that_no_option_names_have_no_command(tmp_path: Path) -> None:
    made = of_report(report(tmp_path), engines.engine("native"), name="kato2025", seeds=(2, 5, 9))
    assert made.parts[0].command == ""
    assert not made.recipe.commands
    assert ("Seeds", "2, 5 and 9") in made.provenance


def test_a_long_table_says_where_its_other_rows_are(tmp_path: Path) -> None:
    long = replace(TOLD, verdicts=[TOLD.verdicts[0], *[TOLD.verdicts[1]] * 52])
    (part,) = of_report(replace(report(tmp_path), told=long), engines.engine("native")).parts
    assert part.table is not None
    assert part.table.note == "42 more rows are in Details, under Every printed number and claim."


def test_the_first_figure_is_one_that_fits_beside_the_table(tmp_path: Path) -> None:
    figures = {"figure-2.png": (1440, 1810), "figure-3.png": (1440, 440), "figure-5.png": (1440, 400)}
    for name, size in figures.items():
        (tmp_path / name).write_bytes(PNG[:16] + pack(">II", *size) + PNG[24:])
    made = Report(TOLD, tuple(tmp_path / name for name in figures), tmp_path)
    page = of_report(made, engines.engine("native"))
    figure = page.parts[0].figure
    assert figure is not None
    assert figure.caption == "Figure 3, drawn from our runs."
    others = [block.caption for block in section(page, "Figures").blocks if isinstance(block, Figure)]
    assert others == ["Figure 2, drawn from our runs.", "Figure 5, drawn from our runs."]


def test_prose_is_text_and_tables_keep_their_spaces(tmp_path: Path) -> None:
    assert section(document(tmp_path), "Further results").blocks == [
        Text("Table I:"),
        Text("prose in lines"),
        Code("a  b\n-  -\n1  2"),
    ]


def test_what_an_engine_refused_is_told(tmp_path: Path) -> None:
    refused = replace(report(tmp_path), refused=("a: cannot",), head="By another engine.")
    found = of_report(refused, engines.engine("native"))
    assert found.parts[0].conclusion[0] == "By another engine."
    assert section(found, "What the engine cannot run").blocks


def test_no_path_of_the_machine_is_in_the_page(tmp_path: Path) -> None:
    assert str(tmp_path) not in repr(document(tmp_path))
