"""Check that crates depend on each other only as in ARCHITECTURE.md, and that files form no wide circle.

Each crate has one test program. Files in `tests` that are not among its modules are reported, too.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# What each crate may see, for any kind of dependency: normal, for building, for tests.
MAY_SEE: dict[str, set[str]] = {
    "units": set(),
    "params": set(),
    "congestion": {"units", "params"},
    "capi": {"units", "congestion"},
    "tcp": {"units", "params", "congestion"},
    "packetdrill": {"units", "congestion", "tcp"},
    "network": {"units", "params"},
    "simulation": {"units", "params", "congestion", "tcp", "network"},
    "fullpipe": {"units", "congestion", "network", "simulation"},
    "python": {"units", "params", "capi", "congestion", "network", "packetdrill", "simulation"},
}


def crate_of(package: str) -> str:
    """The short name of a package of this workspace, or an empty string for any other."""
    return package.removeprefix("fullpipe-") if package.startswith("fullpipe") else ""


def violations(metadata: dict[str, list[dict[str, object]]]) -> list[str]:
    """Every dependency that the architecture does not allow."""
    found = []
    for package in metadata["packages"]:
        crate = crate_of(str(package["name"]))
        if crate not in MAY_SEE:
            found.append(f"{package['name']}: not in the architecture; add it to {Path(__file__).name}")
            continue
        dependencies = package["dependencies"]
        assert isinstance(dependencies, list)
        seen = {crate_of(str(dependency["name"])) for dependency in dependencies} - {""}
        found += [f"{crate} must not see {other}" for other in sorted(seen - MAY_SEE[crate])]
    return found


def wide_circles() -> list[str]:
    """Every circle of imports with more than two files."""
    return [
        f"{source.parent.name}: {' -> '.join([*circle, circle[0]])}"
        for source in sorted((ROOT / "crates").glob("*/src"))
        for circle in circles(source)
    ]


def left_out(tests: Path) -> list[str]:
    """Files in a crate's `tests` that are not modules of its test program, so that nothing runs them."""
    found = []
    for path in sorted(tests.rglob("*.rs")):
        root = path.parent if path.stem not in ("main", "mod") else path.parent.parent
        above = next((root / name for name in ("main.rs", "mod.rs") if (root / name).exists()), None)
        module = path.parent.name if path.stem == "mod" else path.stem
        if path.stem != "main" and not (above and re.search(rf"\bmod {module};", above.read_text("utf-8"))):
            found.append(path.relative_to(tests).as_posix())
    return found


# Circles of imports. A file imports the file into whose module one of its paths leads, in a `use` or in
# the code, also if that file only re-exports the name. The root of a crate is its interface: what it
# re-exports is imported from the file that declares it.

_USE = re.compile(r"^\s*(?:pub(?:\([^)]*\))?\s+)?use\s+([^;]*);", re.M)
_REEXPORT = re.compile(r"^\s*pub(?:\([^)]*\))?\s+use\s+([^;]*);", re.M)
_PATH = re.compile(r"(?<![\w:$])\$?([a-z_]\w*(?:::\w+)+)")
_NO_CODE = re.compile(r"""//[^\n]*|r(#*)"(?s:.*?)"\1|"(?:\\.|[^"\\])*"|'"'""", re.S)
_TESTS = re.compile(r"^#\[cfg\(test\)\]\s*\nmod \w+ \{.*", re.M | re.S)

Module = tuple[str, ...]
Texts = dict[Module, str]


def circles(source: Path) -> list[list[str]]:
    """Circles of more than two files below `source`: the shortest through each import."""
    files = {_module(path, source): path for path in sorted(source.rglob("*.rs"))}
    texts = {module: _code(path.read_text(encoding="utf-8")) for module, path in files.items()}
    imports = {module: _imports(module, texts) for module in texts}
    found: set[tuple[Module, ...]] = set()
    for module, others in imports.items():
        for other in others:
            circle = _way(other, module, imports)
            first = circle.index(min(circle)) if circle else 0
            found.add((*circle[first:], *circle[:first]))
    wide = sorted(found - {()}, key=lambda circle: (len(circle), circle))
    return [[files[module].relative_to(source).as_posix() for module in circle] for circle in wide]


def _module(path: Path, source: Path) -> Module:
    """`hosts/flow.rs` is the module hosts::flow, `hosts/mod.rs` is hosts, `lib.rs` the crate itself."""
    parts = path.relative_to(source).with_suffix("").parts
    return parts[:-1] if parts[-1] in ("mod", "lib", "main") else parts


def _code(text: str) -> str:
    """A file without tests, comments and strings."""
    return _NO_CODE.sub("", _TESTS.sub("", text))


def _paths(tree: str) -> list[str]:
    """The paths of a `use`, with its braces spread out."""
    tree = " ".join(tree.split())
    brace = tree.find("{")
    if brace < 0:
        return [tree.split(" as ")[0].strip().removesuffix("::self")]
    head, body, depth, part = tree[:brace], tree[brace + 1 : tree.rindex("}")], 0, ""
    parts = []
    for letter in body + ",":
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += letter
    return [path for part in parts if part for path in _paths(head + part)]


def _absolute(module: Module, path: str, texts: Texts) -> list[str] | None:
    """The path from the root of the crate; None if it leads to another crate."""
    steps = path.split("::")
    if steps[0] == "crate":
        return steps[1:]
    base = list(module)
    if steps[0] in ("super", "self"):
        while steps and steps[0] in ("super", "self"):
            base = base[:-1] if steps.pop(0) == "super" else base
        return base + steps
    return base + steps if (*module, steps[0]) in texts else None


def _owner(steps: list[str], texts: Texts) -> Module | None:
    """The module that a path leads into; None if it is another crate's or the path names only a module."""
    module: Module = ()
    rest = list(steps)
    while rest and (*module, rest[0]) in texts:
        module = (*module, rest.pop(0))
    if not rest:
        return None
    if module == ():
        for match in _REEXPORT.finditer(texts[()]):
            for path in _paths(match.group(1)):
                if path.split("::")[-1] == rest[0]:
                    target = _absolute((), path, texts)
                    return _owner(target, texts) if target else None
    return module


def _imports(module: Module, texts: Texts) -> set[Module]:
    """The other modules into which paths of a module lead."""
    text = texts[module]
    used = [path for match in _USE.finditer(text) for path in _paths(match.group(1))]
    targets = [(path, target) for path in used if (target := _absolute(module, path, texts)) is not None]
    names = {path.split("::")[-1]: target for path, target in targets if tuple(target) in texts}
    found = {_owner(target, texts) for _, target in targets}
    for path in _PATH.findall(_USE.sub("", text)):
        first, _, rest = path.partition("::")
        target = [*names[first], *rest.split("::")] if first in names else _absolute(module, path, texts)
        found.add(_owner(target, texts) if target else None)
    return {other for other in found if other is not None and other != module}


def _way(start: Module, end: Module, imports: dict[Module, set[Module]]) -> list[Module]:
    """The shortest way along imports from `start` to `end` over at least one other file, if there is one."""
    before: dict[Module, Module] = {}
    reached = [start]
    for module in reached:
        for other in sorted(imports[module]):
            if other not in before and other != start and (module, other) != (start, end):
                before[other] = module
                reached.append(other)
    if end not in before:
        return []
    way = [end]
    while way[-1] != start:
        way.append(before[way[-1]])
    return way[::-1]


def main() -> int:
    """Check the dependencies that cargo reports, and print violations."""
    command = ["cargo", "metadata", "--no-deps", "--format-version", "1"]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found = violations(json.loads(answer.stdout))
    wide = wide_circles()
    lost = [
        f"{tests.relative_to(ROOT)}/{name}"
        for tests in sorted((ROOT / "crates").glob("*/tests"))
        for name in left_out(tests)
    ]
    for line in found:
        print(f"arrow broken: {line}", file=sys.stderr)
    for line in wide:
        print(f"circle: {line}", file=sys.stderr)
    for line in lost:
        print(f"never run: {line} is no module of its crate's tests", file=sys.stderr)
    print(f"crates: {len(found)} broken arrows, {len(wide)} circles of more than two files")
    return 1 if found or wide or lost else 0


if __name__ == "__main__":
    sys.exit(main())
