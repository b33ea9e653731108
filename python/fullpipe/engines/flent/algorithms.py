"""What kernels call algorithms, and what they are called here."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from fullpipe.engines.flent.document import Document, text
from fullpipe.engines.flent.series import Series
from fullpipe.errors import ScenarioError, UnknownNameError
from fullpipe.scenario import catalogue

_FELL_BACK = {"dctcp-reno": "reno"}
"""Algorithms that need ECN and did not get it (Linux net/ipv4/tcp_dctcp.c)."""


@dataclass(frozen=True)
class Names:
    """Algorithms by the names that kernels of a test have for them."""

    bbr: str
    """Kernels call all versions of BBR so."""
    given: Mapping[str, str] = field(default_factory=dict)
    """What the user says that names mean."""
    default: str = ""
    """The kernel's name of what the test host uses unless it is told otherwise; empty if not said."""

    def known(self, name: str) -> str | None:
        """The algorithm of a name, if there is one here."""
        if name in self.given:
            return self.given[name]
        if name == "bbr":
            return self.bbr
        found = _FELL_BACK.get(name, name)
        return _registered().get(found)

    def algorithm(self, series: Series) -> str | None:
        """The algorithm of a stream: as it is called here, else as the kernel does, None if it is not
        said."""
        return self.known(series.algorithm) or series.algorithm or None


def names_of(document: Document, given: Mapping[str, str]) -> Names:
    """What the names in a file mean: the releases of Google's kernels with BBRv3 say so."""
    release = document.text("KERNEL_RELEASE")
    bbr = "bbr3" if "v3" in release.replace("-", "+").split("+") else "bbr1"
    return Names(bbr, given, text(document.table("SYSCTLS"), "net.ipv4.tcp_congestion_control"))


def given_names(words: list[str]) -> dict[str, str]:
    """What names mean, from words such as "bbr=bbr3".

    Raises:
        ScenarioError: If one is not of that form.
        UnknownNameError: If there is no such algorithm.
    """
    found = {}
    for word in words:
        name, equals, algorithm = word.partition("=")
        if not equals or not name:
            raise ScenarioError([f'--cca "{word}": write it as NAME=ALGORITHM, as in bbr=bbr3'])
        if algorithm not in _registered():
            raise UnknownNameError("algorithm", algorithm, catalogue.controllers(), "fullpipe list ccas")
        found[name] = _registered()[algorithm]
    return found


def _registered() -> dict[str, str]:
    """Algorithms by their names and their other names."""
    entries = catalogue.controllers()
    aliases = {alias: name for name, entry in entries.items() for alias in entry.aliases}
    return aliases | {name: name for name in entries}
