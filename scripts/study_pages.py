"""Put the verdicts and figures of finished studies into their pages: `python -m scripts.study_pages runs`.

Reads the output of `fullpipe paper NAME --out runs`. Replaces the text between the marks of a page
(verdicts, and the points of grids) and the figures of the page. Results of ns-3 that `--engine ns3` and
`--explain` have stored are copied beside the transcription, for the next report."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from fullpipe.studies import claims
from fullpipe.studies.adbbr2025 import POINTS
from fullpipe.studies.study import ELSEWHERE

STUDIES = Path(claims.__file__).parent
PAGES = Path(__file__).resolve().parent.parent / "docs" / "explanation"
ASSETS = PAGES.parent / "assets"
BEGIN, END = "<!-- verdicts -->", "<!-- end of verdicts -->"


def with_verdicts(page: str, verdicts: str) -> str:
    """The page with these verdicts between its marks. Raises ValueError if it has no marks."""
    before, mark, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (mark and end):
        raise ValueError(f"the page has no {BEGIN} and {END}")
    return f"{before}{BEGIN}\n{verdicts.strip()}\n{END}{after}"


def renew_figures(runs: Path, assets: Path = ASSETS) -> list[Path]:
    """Copy the figures that pages show, `<study>-<figure>.svg`, from where `fullpipe paper` drew them."""
    renewed = []
    for kept in sorted(assets.glob("*-*.svg")):
        study, _, figure = kept.name.partition("-")
        drawn = runs / "papers" / study / figure
        if drawn.exists():
            renewed.append(Path(shutil.copyfile(drawn, kept)))
    return renewed


def with_points(page: str, points: str) -> str:
    """The page with these tables between the marks with their titles. Raises ValueError without marks."""
    for section in points.strip().split("\n\n## "):
        title, _, table = section.removeprefix("## ").partition("\n")
        begin, end = f"<!-- {title} -->\n", "\n<!-- end of points -->"
        before, mark, rest = page.partition(begin)
        if not mark:
            raise ValueError(f"the page has no {begin}")
        page = before + begin + table.strip() + end + rest.partition(end)[2]
    return page


def main(runs: Path) -> None:
    """Renew the stored results of ns-3, and the page of every study that has been run."""
    for kept in sorted(runs.glob(f"papers/*-ns3/{ELSEWHERE}")):
        there = STUDIES / kept.parent.name.removesuffix("-ns3") / ELSEWHERE
        claims.keep(there, claims.kept(kept).values())
        print(there.relative_to(STUDIES))
    for verdicts in sorted(runs.glob("papers/*/verdicts.md")):
        page = PAGES / f"{verdicts.parent.name}.md"
        if page.exists():
            text = with_verdicts(page.read_text(encoding="utf-8"), verdicts.read_text(encoding="utf-8"))
            if (points := verdicts.with_name(POINTS)).exists():
                text = with_points(text, points.read_text(encoding="utf-8"))
            page.write_text(text, encoding="utf-8")
            print(page.name)
    for figure in renew_figures(runs):
        print(figure.name)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
