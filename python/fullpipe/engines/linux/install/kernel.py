"""A Linux kernel that runs as one process in virtual time: User Mode Linux, built from a source tree.

Four values of the tree are changed, all of them in arch/um, so TCP and the queue disciplines are Linux's own.
"""

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fullpipe.engines.base import Say
from fullpipe.engines.linux.install.make import make
from fullpipe.errors import EngineError

_HERE = Path(__file__).parent
FRAGMENT = _HERE / "kernel.config"
_RADIOS = _HERE / "radios"
_DRIVERS = Path("drivers/net/wireless/virtual")
_ALGORITHM = re.compile(r"^config (TCP_CONG_\w+)$", re.MULTILINE)
_ABOUT_FILES = 600
_STAMP = {
    "KBUILD_BUILD_TIMESTAMP": "Thu Jan  1 00:00:00 UTC 2026",
    "KBUILD_BUILD_USER": "fullpipe",
    "KBUILD_BUILD_HOST": "fullpipe",
    "KBUILD_BUILD_VERSION": "1",
    "LC_ALL": "C",
}
"""What would otherwise differ from build to build, and from one machine to the other."""


@dataclass(frozen=True)
class Edit:
    """A value in the source tree that becomes another."""

    files: str
    """A pattern of files, of which at least one must hold it."""
    found: str
    becomes: str


EDITS = (
    # TCP counts its timers in ticks: a hundred a second make timeouts and delayed ACKs ten times too coarse.
    Edit("arch/um/Kconfig", r"(config HZ\s+int\s+default )\d+", r"\g<1>1000"),
    # The clock and the shortest timer are whole nanoseconds: reading the clock is arithmetic in virtual time.
    Edit("arch/um/**/*.[ch]", r"(#define\s+TIMER_MULTIPLIER\s+)\d+", r"\g<1>1"),
    Edit("arch/um/**/*.[ch]", r"(#define\s+TIMER_MIN_DELTA\s+)\d+", r"\g<1>1"),
    # What is random in the kernel comes from a seed.
    Edit("arch/um/os-Linux/util.c", r"(\breturn\s+)getrandom\b", r"\g<1>fullpipe_random"),
)


def edit(tree: Path) -> None:
    """Change the values. A tree that has been changed stays as it is.

    Raises:
        EngineError: If one of them is not where it was in every kernel so far.
    """
    done = tree / ".fullpipe-edited"
    if done.exists():
        return
    for change in EDITS:
        hits = 0
        for path in tree.glob(change.files):
            text = path.read_text(encoding="utf-8", errors="surrogateescape")
            changed, times = re.subn(change.found, change.becomes, text)
            if times:
                path.write_text(changed, encoding="utf-8", errors="surrogateescape")
                hits += times
        if not hits:
            raise EngineError(
                f"this kernel differs from those that fullpipe knows: {change.files} has no {change.found}; "
                "another one may do, as in --version 6.12"
            )
    util = tree / "arch/um/os-Linux/util.c"
    text = util.read_text(encoding="utf-8")
    last_include = [match.end() for match in re.finditer(r"^#include .*\n", text, re.MULTILINE)][-1]
    seeded = (_HERE / "seeded.c").read_text(encoding="utf-8")
    util.write_text(text[:last_include] + seeded + text[last_include:], encoding="utf-8")
    done.touch()


def add_radios(tree: Path) -> None:
    """Put our driver of radios among the kernel's own.

    Raises:
        EngineError: If the tree has no place for it.
    """
    drivers = tree / _DRIVERS
    if not (drivers / "Kconfig").is_file():
        raise EngineError(f"this kernel has no {_DRIVERS} for radios; leave out --version for the newest")
    shutil.copyfile(_RADIOS / "fullpipe_wifi.c", drivers / "fullpipe_wifi.c")
    for name, added in (
        ("Kconfig", (_RADIOS / "Kconfig").read_text(encoding="ascii")),
        ("Makefile", "obj-$(CONFIG_FULLPIPE_WIFI) += fullpipe_wifi.o\n"),
    ):
        text = (drivers / name).read_text(encoding="utf-8")
        if "FULLPIPE_WIFI" not in text:
            (drivers / name).write_text(text + added, encoding="utf-8")


def configuration(tree: Path) -> str:
    """What a kernel is to have: our fragment, radios if their driver is there, all algorithms of the tree."""
    offered = _ALGORITHM.findall((tree / "net" / "ipv4" / "Kconfig").read_text(encoding="utf-8"))
    parts = [
        FRAGMENT,
        *([_RADIOS / "kernel.config"] if (tree / _DRIVERS / "fullpipe_wifi.c").exists() else []),
    ]
    chosen = "".join(part.read_text(encoding="utf-8") for part in parts)
    return chosen + "".join(f"CONFIG_{name}=y\n" for name in offered)


def build(tree: Path, tools: Mapping[str, str], jobs: int, say: Say) -> Path:
    """Compile. What is compiled already is not compiled again.

    Raises:
        EngineError: If a command fails, with the end of what it said.
    """
    environment = {**os.environ, **_STAMP, **tools}
    configured, wanted = tree / ".fullpipe-configured", configuration(tree)
    if not configured.exists() or configured.read_text(encoding="utf-8") != wanted:
        draft = configured.with_suffix(".part")
        draft.write_text(wanted, encoding="utf-8")
        make(tree, environment, [f"KCONFIG_ALLCONFIG={draft}", "allnoconfig"], None)
        draft.replace(configured)
    say(f"compiling about {_ABOUT_FILES} files, which takes some 5 minutes of a processor")
    make(tree, environment, ["-j", str(jobs), "linux"], say)
    built = tree / "linux"
    if not built.is_file():
        raise EngineError(f"{tree}: make has left no kernel")
    return built
