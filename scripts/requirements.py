"""Print the requirements of pyproject.toml, one per line, with those of the named extras.

python scripts/requirements.py dev | python -m pip install -r /dev/stdin
"""

import sys
import tomllib
from pathlib import Path


def requirements(extras: list[str]) -> list[str]:
    """Requirements of the package, and those of extras."""
    text = (Path(__file__).resolve().parent.parent / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    optional = project["optional-dependencies"]
    return [*project["dependencies"], *(line for name in extras for line in optional[name])]


if __name__ == "__main__":
    print("\n".join(requirements(sys.argv[1:])))
