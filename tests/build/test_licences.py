"""What is shipped, or installed with it, is under licences that fit Apache-2.0 OR MIT."""

import re
import shutil
import subprocess
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
ALLOWED = {
    "MIT",
    "MIT-CMU",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "0BSD",
    "ISC",
    "Zlib",
    "CC0-1.0",
    "Unlicense",
    "Unicode-3.0",
    "PSF-2.0",
}
CLASSIFIED = {
    "MIT License": "MIT",
    "BSD License": "BSD-3-Clause",
    "Apache Software License": "Apache-2.0",
    "ISC License (ISCL)": "ISC",
    "Python Software Foundation License": "PSF-2.0",
}
"""What the classifiers of older packages mean."""


def fits(expression: str) -> bool:
    """Whether every part of a licence has an alternative that is allowed; stricter where parts are nested."""
    parts = re.sub(r"[()]", "", expression.replace("/", " OR ")).split(" AND ")
    return all(ALLOWED & {one.strip() for one in part.split(" OR ")} for part in parts)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("MIT OR GPL-3.0-only", True),
        ("GPL-3.0-only", False),
        ("MIT AND GPL-3.0-only", False),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", True),
        ("Unlicense/MIT", True),
        ("", False),
    ],
)
def test_a_licence_fits_by_what_may_be_chosen(expression: str, expected: bool) -> None:
    assert fits(expression) == expected


@pytest.mark.skipif(shutil.which("cargo") is None, reason="there is no cargo")
def test_crates_that_are_shipped() -> None:
    command = ["cargo", "tree", "--package", "fullpipe-python", "--edges", "normal", "--target", "all"]
    form = ["--prefix", "none", "--format", "{p}|{l}", "--locked"]
    text = subprocess.run([*command, *form], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    found = {line.split(" (*)")[0] for line in text.splitlines() if line}
    assert len(found) > 10
    assert [line for line in sorted(found) if not fits(line.rpartition("|")[2])] == []


def needed(name: str, found: dict[str, str]) -> dict[str, str]:
    """Licences of a package and of all that it needs, by name."""
    about = metadata.metadata(name)
    short = about.get("License", "").strip()
    classified = [CLASSIFIED.get(line.split(" :: ")[-1], line) for line in about.get_all("Classifier", [])
                  if line.startswith("License :: ")]  # fmt: skip
    found[name] = about.get("License-Expression") or " AND ".join(classified) or short
    for line in metadata.requires(name) or []:
        other = re.split(r"[^A-Za-z0-9._-]", line, maxsplit=1)[0]
        if "extra ==" not in line and other not in found:
            try:
                needed(other, found)
            except metadata.PackageNotFoundError:
                continue  # of another system or Python
    return found


def test_packages_that_are_installed_with_it() -> None:
    found = needed("fullpipe", {})
    assert {"polars", "numpy", "matplotlib"} <= set(found)
    assert {name: licence for name, licence in found.items() if not fits(licence)} == {}
