"""Commit from which this version was built. Version texts show the commit; digests exclude it."""

from contextlib import suppress
from functools import cache
from pathlib import Path

_CLONE = Path(__file__).parents[2]
_DIGITS = 40


@cache
def commit() -> str:
    """Return the commit of the clone that holds this package, or the commit that the build noted.

    The result is empty if no commit is known, as in the package of a release, whose version is the tag of the
    commit.
    """
    found = _head(_CLONE) if (_CLONE / "crates" / "python").is_dir() else ""
    if found:
        return found
    from fullpipe import _native  # imported only here, because a clone may not have the compiled extension

    return str(getattr(_native, "COMMIT", ""))


def with_commit(version: str) -> str:
    """Return a version, followed by the commit if it is known: "0.1.0 (commit 4a0414dc...)"."""
    found = commit()
    return f"{version} (commit {found})" if found else version


def _head(clone: Path) -> str:
    """Return the commit to which HEAD of a clone points; see gitrepository-layout(5)."""
    with suppress(OSError, ValueError):
        git = clone / ".git"
        if git.is_file():  # a worktree: the file has the path of the repository
            git = clone / git.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
        text = (git / "HEAD").read_text(encoding="utf-8").strip()
        if not text.startswith("ref:"):
            return _checked(text)
        name = text.removeprefix("ref:").strip()
        shared = git / "commondir"
        common = git / shared.read_text(encoding="utf-8").strip() if shared.is_file() else git
        for place in (git, common):
            if (place / name).is_file():
                return _checked((place / name).read_text(encoding="utf-8").strip())
        for line in (common / "packed-refs").read_text(encoding="utf-8").splitlines():
            if line.endswith(f" {name}"):
                return _checked(line.split()[0])
    return ""


def _checked(text: str) -> str:
    return text if len(text) == _DIGITS and int(text, 16) >= 0 else ""
