"""Registry of algorithms of users in Python, by names such as "python:mine:Reno".

A scenario contains only the name of a class. A class becomes known when it is passed to a scenario, or when
`import_class` imports its module. Commands call `import_class` only with the user's permission, so that a
scenario file from another user runs no code.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from fullpipe.errors import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Callable

    from fullpipe.algorithms.controller import Controller

    Factory = Callable[[dict[str, Any], int], Controller]


PREFIX = "python:"
_NAME = re.compile(r"python:[^\W\d]\w*(\.[^\W\d]\w*)*:[\w.<>]+")
DIGITS = 16
"""Number of hexadecimal digits of a fingerprint."""

_known: dict[str, type[Controller]] = {}
_brought: dict[str, list[str]] = {}
"""Modules that each import loaded, by the name of the module that `import_class` imported."""
_sources: WeakKeyDictionary[type, Source] = WeakKeyDictionary()


def is_name(text: str) -> bool:
    """Whether a text has the form of the name of a class: "python:module:Class"."""
    return _NAME.fullmatch(text) is not None


def name(cls: type[Controller]) -> str:
    """Register a class, and return its name for scenarios, files and sweeps.

    A class that is defined again under the same name replaces the earlier class.

    Raises:
        ScenarioError: If the class is not a subclass of `Controller`.
    """
    from fullpipe.algorithms.controller import Controller  # imported here, as most scenarios name no class

    if not (isinstance(cls, type) and issubclass(cls, Controller) and cls is not Controller):
        raise ScenarioError([f"{cls!r} is not a subclass of fullpipe.algorithms.Controller"])
    text = f"{PREFIX}{cls.__module__}:{cls.__qualname__}"
    _known[text] = cls
    fingerprint(text)  # computed now, before the source may be edited
    return text


def find(kind: str) -> type[Controller] | None:
    """Return the class with a name, or None if the class is not known. No module is imported."""
    return _known.get(kind)


def import_class(kind: str) -> None:
    """Import the module of "python:module:Class" unless the class is known. The import runs the module's
    code.

    Raises:
        ScenarioError: If the module cannot be imported, or has no such class.
    """
    from fullpipe.algorithms.controller import Controller

    if kind in _known:
        return
    _, module, attribute = kind.split(":")
    before = set(sys.modules)
    try:
        with from_source():
            found: Any = import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except Exception as error:
        raise ScenarioError([f"{kind}: cannot be imported: {type(error).__name__}: {error}"]) from error
    if not (isinstance(found, type) and issubclass(found, Controller)):
        raise ScenarioError([f"{kind}: is not a subclass of fullpipe.algorithms.Controller"])
    _brought.setdefault(module, [each for each in sys.modules if each not in before])
    name(found)
    _known[kind] = found  # the class may be known under a name in another module as well
    fingerprint(kind)


def factory(kind: str) -> Factory:
    """Return a function that makes the algorithm of a flow from its parameters and seed."""
    from random import Random

    cls = _known[kind]
    return lambda params, seed: cls(Random(seed), **params)


def fingerprint(kind: str) -> str:
    """Digest of the code of a class, since results depend on the code.

    The digest covers the source files of the class and its bases, as they were when the class became known.
    The digest also covers imported modules in the same folders. A class without a file, such as a class of an
    interactive session, has a new digest at every call, so that stored runs are never reused for it.
    """
    from uuid import uuid4  # imported here, as most scenarios name no class

    return _source(kind).fingerprint or uuid4().hex[:DIGITS]


def digests(kind: str) -> dict[str, str]:
    """Return the SHA-256 of every source file of a class, by its path relative to the folder of its modules.

    A class without a file has one entry: its name, with a digest that is constant while the class exists.
    """
    return dict(_source(kind).digests)


def paths(kind: str) -> dict[str, Path]:
    """Return the source files of a class by their names in `digests`; empty for a class without a file."""
    return dict(_source(kind).paths)


def _source(kind: str) -> Source:
    cls = _known[kind]
    if cls not in _sources:
        from fullpipe.algorithms.controller import Controller

        bases = [base for base in cls.__mro__ if base not in Controller.__mro__]
        _sources[cls] = source_of(kind, bases, _brought.get(kind.split(":")[1], ()))
    return _sources[cls]


_looked_in: dict[Path, None] = {}


def looked_in() -> list[Path]:
    """Return all folders that were passed to `look_in`."""
    return list(_looked_in)


def look_in(*folders: Path) -> None:
    """Add folders that are searched for modules before all other folders, in the given order."""
    _looked_in.update(dict.fromkeys(folder.resolve() for folder in folders))
    for folder in reversed([str(folder.resolve()) for folder in folders]):
        if folder not in sys.path:
            sys.path.insert(0, folder)


# Imports of Python modules that users wrote. Every process that imports such a module compiles it from
# source. By default, Python uses cached bytecode if the size of the source file and the second of its last
# write are unchanged (PEP 552). Two edits within a second can leave size and second unchanged. The old code
# would then run, and its results would be stored as results of the new source.


_STANDARD = Path(sysconfig.get_path("stdlib")).resolve()
INSTALLED = ("site-packages", "dist-packages")
"""Names of folders of installed packages. Files in these folders are not files of users."""


def is_own(module: str, path: Path) -> bool:
    """Whether a source file belongs to the user, and not to an installed package, to Python or to
    fullpipe."""
    is_ours = module.partition(".")[0] == "fullpipe"
    return not (is_ours or set(INSTALLED) & set(path.parts) or path.is_relative_to(_STANDARD))


class _Loader(SourceFileLoader):
    """Compiles a module without reading or writing bytecode."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code


class _Finder:
    """Finds modules as Python does. Modules of users get the loader `_Loader`."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target)
        if spec and type(spec.loader) is SourceFileLoader and is_own(name, Path(spec.loader.path).resolve()):
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


@contextmanager
def from_source() -> Iterator[None]:
    """Context in which imported modules of users are compiled from their source files."""
    finder = _Finder()
    place = sys.meta_path.index(PathFinder) if PathFinder in sys.meta_path else len(sys.meta_path)
    sys.meta_path.insert(place, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


# Source files of a class: the module of the class, the modules of its bases, and imported modules in the same
# folders.


@dataclass(frozen=True)
class Source:
    """Source files of a class, as they were when the class became known."""

    fingerprint: str
    """Digest of all source files; empty for a class without a file."""
    digests: Mapping[str, str]
    """SHA-256 of every source file, by its path relative to the folder of its modules."""
    paths: Mapping[str, Path]


def source_of(kind: str, bases: Sequence[type], brought: Sequence[str] = ()) -> Source:
    """Return the source files of a class.

    Args:
        kind: Name of the class, such as "python:mine:Reno".
        bases: The class and those of its bases that are not part of fullpipe.
        brought: All modules that the import of the class imported.
    """
    try:
        found = [(base, Path(inspect.getfile(base)).resolve()) for base in bases]
        contents = {path: path.read_bytes() for _, path in found}
    except (OSError, TypeError):
        from uuid import uuid4  # imported here, as most scenarios name no class

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
        roots: The folders of all files. Modules are also searched in the folders passed to `classes.look_in`.
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
    """Yield the files of the user's own modules, by their paths relative to the folder of the package."""
    for module in modules:
        file = getattr(sys.modules.get(module), "__file__", None)
        if file and file.endswith(".py") and is_own(module, path := Path(file).resolve()):
            depth = module.count(".") + (path.name == "__init__.py")
            yield path.relative_to(path.parents[depth]).as_posix(), path


def _candidates(name: str, places: Sequence[Path]) -> Iterator[tuple[Path, Path]]:
    """Yield paths at which the file of a module may be, each with its folder, except in installed
    packages."""
    if name.split("/", maxsplit=1)[0] == "fullpipe":
        return
    for place in places:
        for file in (place / f"{name}.py", place / name / "__init__.py"):
            found = file.resolve()
            if found.is_relative_to(place) and not set(INSTALLED) & set(found.parts):
                yield place, found


def _names(path: Path, root: Path) -> Iterable[str]:
    """Return the modules that a file may import, as paths relative to `root`, without suffix."""
    from fullpipe.parser import PARSER  # imported here, as most scenarios name no class

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
    """Return the package from which a relative import starts; empty for an absolute import."""
    if not level:
        return ()
    parts = path.parent.relative_to(root).parts
    return parts[: len(parts) - level + 1]
