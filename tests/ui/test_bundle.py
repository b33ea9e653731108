"""The page in the package is what its sources say."""

import gzip
import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from fullpipe.palette import COLOURS, SHADES
from fullpipe.report.html import _style

ROOT = Path(__file__).resolve().parents[2]
WEB, PACKAGE = ROOT / "web", ROOT / "python" / "fullpipe"
STATIC = PACKAGE / "cli" / "ui" / "static"
BUILT = ("cli/ui/static", "report/static")
"""Folders of the package that the build writes."""
BUDGET = 250_000
"""Bytes that a browser fetches, compressed, without the editor."""


def sources() -> list[Path]:
    """Parts of the page in the order of web/build.js."""

    def walked(folder: Path) -> list[Path]:
        inner = sorted(folder.iterdir(), key=lambda path: path.name)
        return [found for path in inner for found in (walked(path) if path.is_dir() else [path])]

    styles = [PACKAGE / "report/assets" / f"{name}.css" for name in ("light", "dark", "shared")]
    return [
        *walked(WEB / "src"),
        WEB / "build.js",
        WEB / "package-lock.json",
        *styles,
        PACKAGE / "palette.py",
    ]


def test_the_bundle_was_built_from_these_sources() -> None:
    digest = hashlib.sha256()
    for path in sources():
        digest.update(f"{path.relative_to(ROOT).as_posix()}\n".encode())
        digest.update(path.read_bytes())
    built = (STATIC / "sources.sha256").read_text(encoding="utf-8").strip()
    assert built == digest.hexdigest(), "the page is older than its sources: make page"


@pytest.mark.skipif(shutil.which("npm") is None, reason="there is no npm")
@pytest.mark.skipif(not (WEB / "node_modules").is_dir(), reason="make browser")
def test_the_same_sources_give_the_same_bytes(tmp_path: Path) -> None:
    subprocess.run(["node", "build.js", str(tmp_path)], cwd=WEB, check=True, capture_output=True)
    for folder in BUILT:
        names = {path.name for path in (PACKAGE / folder).iterdir()}
        assert {path.name for path in (tmp_path / folder).iterdir()} == names
        for name in sorted(names):
            assert (tmp_path / folder / name).read_bytes() == (PACKAGE / folder / name).read_bytes(), name


def test_the_page_has_the_colours_of_reports_in_all_shades() -> None:
    page, report = (STATIC / "app.css").read_text(encoding="utf-8"), _style()
    for pattern in (r"--c\d+:#\w{6}", r"\.c\d+\{--k:var\(--c\d+\)\}"):
        of_page, of_report = (dict.fromkeys(re.findall(pattern, text.lower())) for text in (page, report))
        assert list(of_page) == list(of_report)
        assert len(of_page) >= SHADES * len(COLOURS)


def test_the_page_is_light() -> None:
    parts = [STATIC / name for name in ("index.html", "app.js", "app.css")]
    assert sum(len(gzip.compress(path.read_bytes())) for path in parts) < BUDGET


def test_markup_is_never_made_of_text() -> None:
    ways = r"innerHTML|outerHTML|insertAdjacentHTML|dangerouslySet|document\.write|\beval\(|new Function"
    found = [
        path.name for path in sources() if path.suffix == ".js" and re.search(ways, path.read_text("utf-8"))
    ]
    assert found == []


def test_the_licences_of_what_is_in_it_come_along() -> None:
    text = (STATIC / "third-party.txt").read_text(encoding="utf-8")
    for name in ("preact", "htm", "@preact/signals", "uplot"):
        assert re.search(rf"^{re.escape(name)} \d", text, re.MULTILINE), name
    assert "GPL" not in text
