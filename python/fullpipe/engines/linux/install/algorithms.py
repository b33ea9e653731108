"""The names that algorithms of the catalogue have in a kernel."""

from collections.abc import Collection

_SAME = (
    "reno",
    "cubic",
    "bic",
    "highspeed",
    "htcp",
    "hybla",
    "illinois",
    "scalable",
    "westwood",
    "vegas",
    "veno",
)
_ALSO = ("nv", "yeah", "cdg", "lp", "dctcp", "prague", "bbr2")
OURS = (*_SAME, *_ALSO, "bbr1", "bbr3")
"""Names of Fullpipe's algorithms that a kernel may have."""

ANSWERED = ("dctcp", "prague")
"""Algorithms that the receiver must run as well, because they change its ACKs."""


def in_kernel(ours: str, known: Collection[str]) -> str | None:
    """Return the kernel's name of an algorithm. None if it lacks it.

    Kernels with BBRv3 call it "bbr", and BBRv1 "bbr1".
    """
    with_bbr3 = "bbr1" in known
    if ours == "bbr1":
        name = "bbr1" if with_bbr3 else "bbr"
    elif ours == "bbr3":
        name = "bbr" if with_bbr3 else "bbr3"
    else:
        name = ours
    return name if name in known else None
