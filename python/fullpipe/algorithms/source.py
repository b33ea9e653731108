"""Source files of a class: its modules, those of its bases, and the modules beside them that they import."""

from __future__ import annotations

import ast
import hashlib
import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from fullpipe.algorithms.classes import DIGITS

_INSTALLED = ("site-packages", "dist-packages")
"""Folders of installed packages, whose versions a run has in `versions` if they are ours."""


@dataclass(frozen=True)
class Source:
    """Source files of a class as they were when it became known."""

    fingerprint: str
    """A digest of all; empty without files."""
    digests: Mapping[str, str]
    """SHA-256 of every file by its path below the folder of its modules."""
    paths: Mapping[str, Path]


def source_of(kind: str, bases: Sequence[type]) -> Source:
    """Return the source files of a class.

    Args:
        kind: Its name, such as "python:mine:Reno".
        bases: The class and its bases that are not ours.
    """
    try:
        found = [(base, Path(inspect.getfile(base)).resolve()) for base in bases]
        contents = {path: path.read_bytes() for _, path in found}
    except (OSError, TypeError):
        return Source("", {kind: uuid4().hex}, {})
    digest, names = hashlib.sha256(), dict[str, Path]()
    for base, path in found:
        digest.update(contents[path])
        digest.update(f"{base.__module__}:{base.__qualname__}".encode())
        names[_name(path, _root(base, path))] = path
    helpers = dict(_imported({path: _root(base, path) for base, path in found}))
    for name, path in sorted(helpers.items()):
        if path not in contents:
            contents[path] = path.read_bytes()
            digest.update(contents[path])
            names[name] = path
    digests = {name: hashlib.sha256(contents[path]).hexdigest() for name, path in names.items()}
    return Source(digest.hexdigest()[:DIGITS], digests, names)


def _root(base: type, path: Path) -> Path:
    """Return the folder in which the module of a class was found."""
    depth = base.__module__.count(".") + (path.name == "__init__.py")
    return path.parents[min(depth, len(path.parents) - 1)]


def _name(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


def _imported(roots: Mapping[Path, Path]) -> Iterator[tuple[str, Path]]:
    """Yield the modules that files import, and those that these import, as far as they are beside them.

    Args:
        roots: The files, each with the folder in which its modules are found.
    """
    waiting, seen = list(roots.items()), set(roots)
    while waiting:
        path, root = waiting.pop()
        for name in _names(path, root):
            for candidate in (root / f"{name}.py", root / name / "__init__.py"):
                found = candidate.resolve()
                is_own = found.is_relative_to(root) and not set(_INSTALLED) & set(found.parts)
                if is_own and found not in seen and found.is_file():
                    seen.add(found)
                    waiting.append((found, root))
                    yield _name(found, root), found


def _names(path: Path, root: Path) -> Iterable[str]:
    """Return the paths, below a folder and without an ending, of modules that a file may import."""
    found = dict[str, None]()
    with suppress(SyntaxError, ValueError, OSError, RecursionError):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                base = [*_package(path, root, node.level), *filter(None, [node.module])]
                modules = [".".join([*base, *rest]) for rest in ([], *([a.name] for a in node.names))]
            else:
                continue
            for module in modules:
                parts = module.split(".")
                found |= dict.fromkeys("/".join(parts[: n + 1]) for n in range(len(parts)))
    return [name for name in found if name and "*" not in name]


def _package(path: Path, root: Path, level: int) -> Sequence[str]:
    """Return the package that a relative import of a level starts from; nothing of an absolute one."""
    if not level:
        return ()
    parts = path.parent.relative_to(root).parts
    return parts[: len(parts) - level + 1]
