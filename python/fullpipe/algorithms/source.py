"""Source files of a class: its modules, those of its bases, and the modules beside them that they import."""

from __future__ import annotations

import ast
import hashlib
import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from fullpipe.algorithms.classes import DIGITS, looked_in
from fullpipe.algorithms.compiled import INSTALLED, is_own
from fullpipe.parser import PARSER


@dataclass(frozen=True)
class Source:
    """Source files of a class as they were when it became known."""

    fingerprint: str
    """Digest of all files; empty without files."""
    digests: Mapping[str, str]
    """SHA-256 of every file by its path below the folder of its modules."""
    paths: Mapping[str, Path]


def source_of(kind: str, bases: Sequence[type], brought: Sequence[str] = ()) -> Source:
    """Return the source files of a class.

    Args:
        kind: Its name, such as "python:mine:Reno".
        bases: The class and its bases that are not ours.
        brought: All modules that their import imported.
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
    roots = [_root(base, path) for base, path in found]
    helpers = dict(_imported({path: root for (_, path), root in zip(found, roots, strict=True)}, roots))
    for name, path in sorted((helpers | dict(_loaded(brought))).items()):
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


def _imported(files: Mapping[Path, Path], roots: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    """Yield the user's own modules that files import, directly or through other such modules.

    Args:
        files: Files, each with the folder in which its modules are found.
        roots: These folders; modules are also searched in those of `classes.look_in`.
    """
    places = list(dict.fromkeys([*roots, *looked_in()]))
    waiting, seen = list(files.items()), set(files)
    while waiting:
        path, root = waiting.pop()
        for name in _names(path, root):
            for place, found in _candidates(name, places):
                if found not in seen and found.is_file():
                    seen.add(found)
                    waiting.append((found, place))
                    yield _name(found, place), found


def _loaded(modules: Sequence[str]) -> Iterator[tuple[str, Path]]:
    """Yield the files of the user's own modules, by their names below the folder of the package."""
    for module in modules:
        file = getattr(sys.modules.get(module), "__file__", None)
        if file and file.endswith(".py") and is_own(module, path := Path(file).resolve()):
            depth = module.count(".") + (path.name == "__init__.py")
            yield path.relative_to(path.parents[depth]).as_posix(), path


def _candidates(name: str, places: Sequence[Path]) -> Iterator[tuple[Path, Path]]:
    """Yield the files that may hold a module, each with its folder; installed packages are left out."""
    if name.split("/", maxsplit=1)[0] == "fullpipe":
        return
    for place in places:
        for file in (place / f"{name}.py", place / name / "__init__.py"):
            found = file.resolve()
            if found.is_relative_to(place) and not set(INSTALLED) & set(found.parts):
                yield place, found


def _names(path: Path, root: Path) -> Iterable[str]:
    """Return the paths, below a folder and without suffix, of modules that a file may import."""
    found = dict[str, None]()
    with suppress(SyntaxError, ValueError, OSError, RecursionError):
        text = path.read_bytes()
        with PARSER:
            tree = ast.parse(text)
        for node in ast.walk(tree):
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
    """Return the package from which a relative import starts; empty for an absolute one."""
    if not level:
        return ()
    parts = path.parent.relative_to(root).parts
    return parts[: len(parts) - level + 1]
