"""The check of wheels and sdists finds what it is for, in wheels and sdists that are made for it."""

from __future__ import annotations

import io
import re
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from scripts import check_dist
from scripts.check_dist import LICENCES, problems, tracked, version

ROOT = Path(__file__).resolve().parent.parent.parent
NAME = f"fullpipe-{version()}-cp311-abi3-linux_x86_64.whl"
INFO = f"fullpipe-{version()}.dist-info"
METADATA = f"""Metadata-Version: 2.4
Name: fullpipe
Version: {version()}
Summary: A laboratory
License-Expression: Apache-2.0 OR MIT
Requires-Python: >=3.11
Project-URL: Source, https://github.com/fullpipe/fullpipe
Description-Content-Type: text/markdown; charset=UTF-8; variant=GFM

{(ROOT / "README.md").read_text(encoding="utf-8")}"""

Contents = dict[str, bytes]


def of_wheel() -> Contents:
    """What a wheel has to have; what is in the files is not looked at."""
    package = {name.removeprefix("python/"): b"" for name in tracked("python/fullpipe")}
    about = {f"{INFO}/{name}": b"" for name in ("RECORD", "WHEEL", "entry_points.txt")}
    licences = {f"{INFO}/licenses/{name}": b"" for name in LICENCES}
    return {**package, **about, **licences, "fullpipe/_native.abi3.so": b"",
            f"{INFO}/METADATA": METADATA.encode()}  # fmt: skip


def wheel(folder: Path, change: Callable[[Contents], object], name: str = NAME) -> list[str]:
    """What is wrong with a wheel that differs from a good one."""
    contents = of_wheel()
    change(contents)
    path = folder / name
    with zipfile.ZipFile(path, "w") as archive:
        for file, data in contents.items():
            archive.writestr(file, data)
    return problems(path)


def sdist(folder: Path, change: Callable[[Contents], object]) -> list[str]:
    """What is wrong with an sdist that differs from a good one."""
    names = [*tracked("python/fullpipe"), *tracked("crates"), "pyproject.toml", "Cargo.toml", "Cargo.lock"]
    contents = {**dict.fromkeys((*names, *LICENCES), b""), "PKG-INFO": METADATA.encode()}
    change(contents)
    name = f"fullpipe-{version()}"
    path = folder / f"{name}.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for file, data in contents.items():
            member = tarfile.TarInfo(f"{name}/{file}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return problems(path)


def without(name: str) -> Callable[[Contents], object]:
    return lambda contents: contents.pop(name)


def having(name: str, data: str = "") -> Callable[[Contents], object]:
    return lambda contents: contents.update({name: data.encode()})


def saying(before: str, after: str) -> Callable[[Contents], object]:
    """With other metadata, of which the description is a part."""
    assert before in METADATA
    return having(f"{INFO}/METADATA", METADATA.replace(before, after))


def test_a_good_wheel_and_a_good_sdist_have_no_problem(tmp_path: Path) -> None:
    assert wheel(tmp_path, lambda contents: None) == []
    assert sdist(tmp_path, lambda contents: None) == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (without("fullpipe/data/scenarios/kato2025.toml"), "lacks fullpipe/data/scenarios/kato2025.toml"),
        (without("fullpipe/data/first.toml"), "lacks fullpipe/data/first.toml"),
        (without("fullpipe/py.typed"), "lacks fullpipe/py.typed"),
        (without("fullpipe/_native.abi3.so"), "has 0 extensions"),
        (without(f"{INFO}/licenses/LICENSE-MIT"), "lacks LICENSE-MIT"),
        (having("tests/test_x.py"), "has tests/test_x.py"),
        (having("fullpipe/__pycache__/api.pyc"), "has fullpipe/__pycache__/api.pyc"),
        (
            having(f"{INFO}/METADATA", METADATA.replace(f"Version: {version()}", "Version: 9.9")),
            "version is 9.9",
        ),
        (having(f"{INFO}/METADATA", METADATA.replace("Project-URL", "X-URL")), "lacks Project-URL"),
        (having(f"{INFO}/METADATA", f"{METADATA}\n[x](docs/x.md)"), "links to docs/x.md"),
    ],
)
def test_what_is_wrong_with_a_wheel_is_said(
    change: Callable[[Contents], object], problem: str, tmp_path: Path
) -> None:
    assert any(one.startswith(problem) or problem in one for one in wheel(tmp_path, change))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (without("Cargo.lock"), "lacks Cargo.lock"),
        (without("crates/units/src/lib.rs"), "lacks crates/units/src/lib.rs"),
        (without("python/fullpipe/data/traces/cellular-up.trace"), "lacks python/fullpipe/data/traces"),
        (without("LICENSE-APACHE"), "lacks LICENSE-APACHE"),
        (having("python/fullpipe/_native.abi3.so"), "which is compiled"),
    ],
)
def test_what_is_wrong_with_an_sdist_is_said(
    change: Callable[[Contents], object], problem: str, tmp_path: Path
) -> None:
    assert any(problem in one for one in sdist(tmp_path, change))


def test_a_wheel_of_one_python_only_is_refused(tmp_path: Path) -> None:
    name = NAME.replace("abi3", "cp311")
    assert wheel(tmp_path, lambda contents: None, name) == ["is not of the stable interface of Python 3.11"]


def test_the_name_of_a_platform_is_what_auditwheel_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = 'x.whl is consistent with the following platform tag: "manylinux_2_34_x86_64".'
    monkeypatch.setattr(check_dist, "auditwheel", lambda path: said)
    name = NAME.replace("linux_x86_64", "manylinux_2_17_x86_64")
    [problem] = wheel(tmp_path, lambda contents: None, name)
    assert re.match("auditwheel: .*manylinux_2_34", problem)
    assert wheel(tmp_path, lambda contents: None, name.replace("2_17", "2_34")) == []
