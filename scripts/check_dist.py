"""Check wheels and sdists before they are published: their files, and their description on PyPI.

    python scripts/check_dist.py [--tag v0.1.0] dist/*

A wheel has every file of the package and the licences, and an sdist also every crate. The description has
no link that is broken on PyPI. auditwheel confirms that a manylinux wheel is one.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from email import message_from_string
from email.message import Message
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LICENCES = ("LICENSE-APACHE", "LICENSE-MIT")
_EXTENSION = re.compile(r"fullpipe/_native\.(abi3\.so|pyd)")


def version() -> str:
    """Version of the workspace."""
    found = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    return str(found["workspace"]["package"]["version"])


def tracked(folder: str) -> set[str]:
    """The files of a folder that are in the repository."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", folder]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {name for name in said.splitlines() if (ROOT / name).exists()}


def problems_of_wheel(path: Path) -> Iterator[str]:
    """Problems of a wheel."""
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        info = next((name.partition("/")[0] for name in names if name.endswith(".dist-info/METADATA")), "")
        metadata = archive.read(f"{info}/METADATA").decode() if info else ""
    wanted = {name.removeprefix("python/") for name in tracked("python/fullpipe")}
    extension = {name for name in names if _EXTENSION.fullmatch(name)}
    yield from (f"lacks {name}" for name in sorted(wanted - names))
    others = {name for name in names - wanted - extension if not name.startswith(f"{info}/")}
    yield from (f"has {name}, which is not in the package" for name in sorted(others))
    if len(extension) != 1:
        yield f"has {len(extension)} extensions"
    yield from (f"lacks {name}" for name in LICENCES if f"{info}/licenses/{name}" not in names)
    yield from problems_of_metadata(message_from_string(metadata))
    if "-cp311-abi3-" not in path.name:
        yield "is not of the stable interface of Python 3.11"
    if "manylinux" in path.name:
        yield from problems_of_platform(path)


def problems_of_platform(path: Path) -> Iterator[str]:
    """Whether it needs no newer system than its name says."""
    said = auditwheel(path)
    found = re.search(r'consistent with the following platform tag: "([^"]+)"', said)
    if not found or found[1] not in path.name:
        yield f"auditwheel: {said}"


def auditwheel(path: Path) -> str:
    """Output of auditwheel for a wheel, on one line."""
    command = [sys.executable, "-m", "auditwheel", "show", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return " ".join((done.stdout + done.stderr).split())


def problems_of_sdist(path: Path) -> Iterator[str]:
    """Problems of an sdist."""
    with tarfile.open(path) as archive:
        members = {member.name.partition("/")[2]: member for member in archive if member.isfile()}
        about = archive.extractfile(members["PKG-INFO"]) if "PKG-INFO" in members else None
        metadata = about.read().decode() if about else ""
    crates = {name for name in tracked("crates") if name.endswith((".rs", "Cargo.toml")) and "/src/" in name}
    wanted = tracked("python/fullpipe") | crates | {"pyproject.toml", "Cargo.toml", "Cargo.lock", *LICENCES}
    unused = {name for name in wanted if name.startswith("crates/fullpipe/")}  # for programs in Rust
    yield from (f"lacks {name}" for name in sorted(wanted - unused - set(members)))
    compiled = [name for name in members if name.endswith((".so", ".pyc")) or name.startswith("target/")]
    yield from (f"has {name}, which is compiled" for name in compiled)
    yield from problems_of_metadata(message_from_string(metadata))


def problems_of_metadata(metadata: Message) -> Iterator[str]:
    """Metadata that PyPI would refuse, or show wrongly."""
    if metadata["Version"] != version():
        yield f"its version is {metadata['Version']}, that of Cargo.toml {version()}"
    for wanted in ("Project-URL", "License-Expression", "Requires-Python", "Summary"):
        if not metadata[wanted]:
            yield f"its metadata lacks {wanted}"
    if metadata["Description-Content-Type"] is None:
        yield "its description has no type"
    text = str(metadata.get_payload())
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not target.startswith(("https://", "#")):
            yield f"its description links to {target}, which leads nowhere on PyPI"


def problems(path: Path) -> list[str]:
    """Problems of a file that is to be published."""
    if path.suffix == ".whl":
        return list(problems_of_wheel(path))
    return list(problems_of_sdist(path)) if path.name.endswith(".tar.gz") else ["is no wheel and no sdist"]


def main() -> int:
    """Print the problems of each file; the exit status is 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tag", help="tag of the release: v and the version")
    parser.add_argument("files", nargs="+", type=Path)
    options = parser.parse_args()
    found = [f"{file.name} {problem}" for file in options.files for problem in problems(file)]
    if options.tag and options.tag != f"v{version()}":
        found.append(f"the tag {options.tag} is not v{version()}, which Cargo.toml says")
    print("\n".join(found) or f"{len(options.files)} files are as they should be")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
