"""What an installation says when it cannot go on. Nothing is built here."""

from __future__ import annotations

import fcntl
import shutil
from pathlib import Path

import pytest

from fullpipe.engines.base import InstallOptions
from fullpipe.engines.linux import engine
from fullpipe.engines.linux.install import debian, installed, kernel
from fullpipe.errors import EngineError


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What looks like a tree, in front of an empty cache and all the tools that a build needs."""
    monkeypatch.setenv("FULLPIPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(engine, "compile_program", lambda: tmp_path)
    monkeypatch.setattr(engine, "_BUILD_MB", 0)
    monkeypatch.setattr(installed, "check", lambda: None)
    monkeypatch.setattr(installed, "borrowed", lambda *_: {})
    (tmp_path / "tree/arch/um").mkdir(parents=True)
    (tmp_path / "tree/arch/um/Kconfig").touch()
    return tmp_path / "tree"


def refused(source: Path) -> str:
    with pytest.raises(EngineError) as caught:
        engine.install(InstallOptions(source=source), lambda _: None)
    return str(caught.value)


def test_two_at_the_same_time(source: Path) -> None:
    installed.folder().mkdir(parents=True)
    with (installed.folder() / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "another installation runs" in refused(source)


def test_a_folder_that_is_no_tree(source: Path) -> None:
    assert "not the source tree of a kernel" in refused(source / "arch")


def test_a_disk_that_is_too_small(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_BUILD_MB", 10**12)
    assert "a build needs" in refused(source)


def test_a_disk_that_is_full_in_the_middle(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise shutil.Error([("a", "b", "[Errno 28] No space left on device: 'b'")])

    monkeypatch.setattr(shutil, "copytree", fails)
    assert "source tree cannot be copied: [Errno 28] No space left" in refused(source)


@pytest.mark.skipif(not shutil.which("make"), reason="there is no make")
def test_a_tree_whose_makefile_fails(source: Path) -> None:
    (source / "Makefile").write_text("mrproper:\n\t@echo no rule; false\n", encoding="utf-8")
    assert "no rule" in refused(source)


def test_no_flex_and_nobody_to_lend_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fails(*_: object) -> list[debian.Package]:
        raise EngineError("the network is down")

    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setattr(debian.Mirror, "packages", fails)
    with pytest.raises(EngineError, match=r"flex or bison is missing.*the network is down"):
        installed.borrowed(debian.Mirror(), tmp_path / "tools", lambda _: None)


def test_radios_are_added_once(tmp_path: Path) -> None:
    drivers, kconfig = tmp_path / "drivers/net/wireless/virtual", tmp_path / "net/ipv4/Kconfig"
    for folder in (drivers, kconfig.parent):
        folder.mkdir(parents=True)
    for path in (drivers / "Kconfig", drivers / "Makefile", kconfig):
        path.write_text("config TCP_CONG_CUBIC\n" if path is kconfig else "")
    assert "MAC80211" not in kernel.configuration(tmp_path)
    kernel.add_radios(tmp_path)
    kernel.add_radios(tmp_path)
    assert (drivers / "Makefile").read_text().count("fullpipe_wifi.o") == 1
    assert (drivers / "Kconfig").read_text().count("config FULLPIPE_WIFI") == 1
    assert "CONFIG_FULLPIPE_WIFI=y" in kernel.configuration(tmp_path)


def test_a_tree_without_a_place_for_radios_says_so(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="has no folder drivers/net/wireless/virtual;"):
        kernel.add_radios(tmp_path)
