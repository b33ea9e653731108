"""Write every page of the documentation into a folder: those of docs/, those from the code, and notebooks.

    python -m scripts.write_docs target/docs

`mkdocs.yml` names the folder, from which any site builder can read the pages.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

from scripts import notebooks
from scripts.reference_pages import ROOT, pages

SITE = "https://fullpipe.github.io/fullpipe/"
_PUBLISHED = re.compile(rf"\]\({re.escape(SITE)}([\w./-]+)/(#[\w-]*)?\)")


def write(folder: Path) -> int:
    """Write the pages and return how many are made from the code. Old files of the folder are removed."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder)
    made = pages()
    for name, text in made.items():
        path = folder / name
        if path.exists():
            raise FileExistsError(f"docs/{name} is there, and is also made from the code")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
    for path in folder.rglob("*.md"):
        path.write_text(within(path.read_text(encoding="utf-8"), path.relative_to(folder)), encoding="utf-8")
    return len(made)


def within(text: str, page: Path) -> str:
    """Make links of a page to the published site relative, so that the build checks them.

    A page of a clone links to pages that are made from the code by their published address.

    >>> within(f"[metrics]({SITE}reference/metrics/#goodput)", Path("how-to/compare.md"))
    '[metrics](../reference/metrics.md#goodput)'
    """

    def relative(link: re.Match[str]) -> str:
        return f"]({Path(os.path.relpath(f'{link[1]}.md', page.parent)).as_posix()}{link[2] or ''})"

    return _PUBLISHED.sub(relative, text)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    print(f"{write(target)} pages are made from the code")
    print(f"{notebooks.write(target / 'notebooks')} are notebooks that were run")
