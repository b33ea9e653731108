"""Print the packages that the Linux engine may be built from, in the form of its pins.txt.

Their digests come from indexes that Debian has signed; without its keys nothing is printed.
"""

from __future__ import annotations

import sys

from fullpipe.engines.linux.install import debian, installed, kernel


def main() -> int:
    """Read all suites from the mirror."""
    mirror = debian.Mirror()
    asked = [(suite, "all", kernel.SOURCE.pattern) for suite in kernel.SUITES]
    for suite, architecture, names in (*asked, (installed.SUITE, "amd64", "|".join(installed.BORROWED))):
        try:
            found = mirror.packages(suite, architecture, names)
        except debian.InconsistentError as error:
            print(error, file=sys.stderr)
            continue
        for package in found:
            if package.doubt:
                print(f"nothing is printed, because {package.doubt}", file=sys.stderr)
                return 1
            print(f"{package.sha256}  {package}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
