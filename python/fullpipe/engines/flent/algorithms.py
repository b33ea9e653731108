"""Mapping from kernels' names of algorithms to names here."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from fullpipe.engines.flent.document import Document, text
from fullpipe.engines.flent.series import Series
from fullpipe.errors import ScenarioError, UnknownNameError
from fullpipe.scenario import catalogue

_FELL_BACK = {"dctcp-reno": "reno"}
"""Fallbacks of algorithms that need ECN when it was not negotiated (Linux net/ipv4/tcp_dctcp.c)."""


@dataclass(frozen=True)
class Names:
    """Algorithms by the names in the kernels of a test."""

    bbr: str
    """Meaning of "bbr", the name of all versions of BBR in kernels."""
    given: Mapping[str, str] = field(default_factory=dict)
    """Meanings of names given by the user."""
    default: str = ""
    """Default algorithm of the test host, by its kernel name, or ""."""

    def known(self, name: str) -> str | None:
        """Return the algorithm with a kernel name, or None if it is unknown here."""
        if name in self.given:
            return self.given[name]
        if name == "bbr":
            return self.bbr
        found = _FELL_BACK.get(name, name)
        return _registered().get(found)

    def algorithm(self, series: Series) -> str | None:
        """Return the algorithm of a stream by its name here, else by its kernel name; None if unknown."""
        return self.known(series.algorithm) or series.algorithm or None


def names_of(document: Document, given: Mapping[str, str]) -> Names:
    """Return the meanings of the names in a file. Releases of Google's kernels with BBRv3 contain "v3"."""
    release = document.text("KERNEL_RELEASE")
    bbr = "bbr3" if "v3" in release.replace("-", "+").split("+") else "bbr1"
    return Names(bbr, given, text(document.table("SYSCTLS"), "net.ipv4.tcp_congestion_control"))


def given_names(words: list[str]) -> dict[str, str]:
    """Parse meanings of names from words such as "bbr=bbr3".

    Raises:
        ScenarioError: If a word has another form.
        UnknownNameError: If an algorithm does not exist.
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
    """Return the algorithms by their names and aliases."""
    entries = catalogue.controllers()
    aliases = {alias: name for name, entry in entries.items() for alias in entry.aliases}
    return aliases | {name: name for name in entries}
