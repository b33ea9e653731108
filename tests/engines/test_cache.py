"""What engines keep is run, so no other user may have put it there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fullpipe.engines import cache, engine, missing
from fullpipe.errors import EngineError


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the cache is to be; it is not there."""
    monkeypatch.setenv("FULLPIPE_CACHE", str(tmp_path / "above/cache"))
    return tmp_path / "above/cache"


def test_a_new_folder_is_of_its_user_alone(root: Path) -> None:
    before = os.umask(0)
    try:
        made = cache.made("linux")
    finally:
        os.umask(before)
    assert [path.stat().st_mode & 0o777 for path in (made, root)] == [0o700, 0o700]


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777, 0o775, 0o1777])
@pytest.mark.parametrize("name", ["", "linux"])
def test_a_folder_that_others_may_write_is_refused(root: Path, name: str, mode: int) -> None:
    cache.made("linux")
    root.chmod(0o755)
    (root / name).chmod(mode)
    with pytest.raises(EngineError, match=r"is writable by other users.*chmod -R go-w"):
        cache.made("linux")


@pytest.mark.parametrize("mode", [0o700, 0o750, 0o755])
def test_a_folder_that_others_may_read_is_not(root: Path, mode: int) -> None:
    cache.made("linux").chmod(mode)
    root.chmod(mode)
    assert cache.made("linux") == root / "linux"


def test_a_folder_of_somebody_else_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = cache.made("linux")
    if os.geteuid() == 0:
        os.chown(made, 12_345, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 12_345)
    with pytest.raises(EngineError, match=r"belongs to another user.*FULLPIPE_CACHE"):
        cache.made("linux")


def test_a_folder_that_cannot_be_made_is_one_line(root: Path) -> None:
    root.parent.write_text("a file")
    with pytest.raises(
        EngineError, match=r"^.*above/cache.linux: .*; set \$FULLPIPE_CACHE to another folder$"
    ):
        cache.made("linux")


def test_what_others_may_write_below_a_closed_folder_is_out_of_their_reach(root: Path) -> None:
    below = cache.made("linux") / "kernels"
    below.mkdir()
    below.chmod(0o777)
    assert cache.requirement(below / "kernel").present
    root.chmod(0o755)
    (root / "linux").chmod(0o755)
    assert not cache.requirement(below / "kernel").present


@pytest.mark.parametrize("name", ["linux", "ns3"])
def test_an_engine_whose_cache_others_may_write_runs_nothing(root: Path, name: str) -> None:
    cache.made(name).chmod(0o777)
    root.chmod(0o755)
    assert any("is writable by other users" in problem.message for problem in missing(engine(name)))
