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
"""Variables that make builds reproducible on all machines."""


@dataclass(frozen=True)
class Edit:
    """A replacement of a value in the source tree."""

    files: str
    """Pattern of files, at least one of which must contain the value."""
    found: str
    becomes: str


EDITS = (
    # TCP counts its timers in ticks. 100 per second make timeouts and delayed ACKs ten times too coarse.
    Edit("arch/um/Kconfig", r"(config HZ\s+int\s+default )\d+", r"\g<1>1000"),
    # The clock and the shortest timer are whole nanoseconds: reading the clock is arithmetic in virtual time.
    Edit("arch/um/**/*.[ch]", r"(#define\s+TIMER_MULTIPLIER\s+)\d+", r"\g<1>1"),
    Edit("arch/um/**/*.[ch]", r"(#define\s+TIMER_MIN_DELTA\s+)\d+", r"\g<1>1"),
    # The kernel's random numbers come from a seed.
    Edit("arch/um/os-Linux/util.c", r"(\breturn\s+)getrandom\b", r"\g<1>fullpipe_random"),
)


def edit(tree: Path) -> None:
    """Change the values in a source tree. A tree that was already changed is left as it is.

    Raises:
        EngineError: If a value is not where it is in all known kernels.
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
                f"this kernel differs from all supported ones: {change.files} has no {change.found}; "
                "another one may do, as in --version 6.12"
            )
    util = tree / "arch/um/os-Linux/util.c"
    text = util.read_text(encoding="utf-8")
    last_include = [match.end() for match in re.finditer(r"^#include .*\n", text, re.MULTILINE)][-1]
    seeded = (_HERE / "seeded.c").read_text(encoding="utf-8")
    util.write_text(text[:last_include] + seeded + text[last_include:], encoding="utf-8")
    done.touch()


def add_radios(tree: Path) -> None:
    """Add Fullpipe's driver of radios to the kernel's drivers.

    Raises:
        EngineError: If the tree lacks the folder for it.
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
    """Return a kernel's configuration: the base, radios if their driver was added, and all algorithms."""
    offered = _ALGORITHM.findall((tree / "net" / "ipv4" / "Kconfig").read_text(encoding="utf-8"))
    parts = [
        FRAGMENT,
        *([_RADIOS / "kernel.config"] if (tree / _DRIVERS / "fullpipe_wifi.c").exists() else []),
    ]
    chosen = "".join(part.read_text(encoding="utf-8") for part in parts)
    return chosen + "".join(f"CONFIG_{name}=y\n" for name in offered)


def build(tree: Path, tools: Mapping[str, str], jobs: int, say: Say) -> Path:
    """Compile a kernel and return its file. Files that are already compiled are reused.

    Raises:
        EngineError: If a command fails. Its message has the end of the command's output.
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
