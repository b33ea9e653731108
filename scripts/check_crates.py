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

MOST_FILES = 3
"""Most files of a crate that may import each other in a circle."""

# What each crate may see, for any kind of dependency: normal, for building, for tests.
MAY_SEE: dict[str, set[str]] = {
    "units": set(),
    "params": set(),
    "congestion": {"units", "params"},
    "capi": {"units", "congestion"},
    "tcp": {"units", "params", "congestion"},
    "network": {"units", "params"},
    "simulation": {"units", "params", "congestion", "tcp", "network"},
    "fullpipe": {"units", "congestion", "network", "simulation"},
    "python": {"units", "params", "capi", "congestion", "network", "simulation"},
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
    """Every circle of imports with too many files."""
    found = []
    for source in sorted((ROOT / "crates").glob("*/src")):
        wide = [circle for circle in circles(source) if len(circle) > MOST_FILES]
        found += [
            f"{source.parent.name}: {len(circle)} files in a circle: {', '.join(circle)}" for circle in wide
        ]
    return found


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


# Circles of imports. A file imports the file that declares a name, not the one that re-exports it. What it
# re-exports itself it imports only if it uses the name. A file that adds methods to a type of the module it
# belongs to (`impl` of `super::Name`) is part of that module, which could have the same lines itself.

_USE = re.compile(r"^\s*(?:pub(?:\([^)]*\))?\s+)?use\s+((?:crate|super|self)\b[^;]*|[a-z_]\w*::[^;]*);", re.M)
_REEXPORT = re.compile(r"^\s*pub(?:\([^)]*\))?\s+use\s+([^;]*);", re.M)
_NAME = re.compile(r"\b[A-Za-z_]\w*\b")
_COMMENT = re.compile(r"//[^\n]*")
_TESTS = re.compile(r"^#\[cfg\(test\)\]\s*\nmod \w+ \{.*", re.M | re.S)


def circles(source: Path) -> list[list[str]]:
    """Circles of imports of a crate whose files are in `source`: sorted paths, the largest first."""
    files = {_module(path, source): path for path in sorted(source.rglob("*.rs"))}
    texts = {module: _TESTS.sub("", path.read_text(encoding="utf-8")) for module, path in files.items()}
    edges = {module: _imports(module, text, texts) for module, text in texts.items()}
    found = [circle for circle in _components(edges) if len(circle) > 1]
    names = [sorted(files[module].relative_to(source).as_posix() for module in circle) for circle in found]
    return sorted(names, key=lambda circle: (-len(circle), circle))


def _module(path: Path, source: Path) -> tuple[str, ...]:
    """`hosts/flow.rs` is the module hosts::flow, `hosts/mod.rs` is hosts, `lib.rs` the crate itself."""
    parts = path.relative_to(source).with_suffix("").parts
    return parts[:-1] if parts[-1] in ("mod", "lib", "main") else parts


def _paths(tree: str) -> list[str]:
    """The paths of a `use`, with its braces spread out."""
    tree = _COMMENT.sub("", tree)
    tree = " ".join(tree.split())
    brace = tree.find("{")
    if brace < 0:
        return [tree.split(" as ")[0].strip()]
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


Texts = dict[tuple[str, ...], str]


def _absolute(module: tuple[str, ...], path: str, texts: Texts) -> list[str] | None:
    """The path from the root of the crate; None if it leads to another crate."""
    steps = path.split("::")
    if steps[0] == "crate":
        return steps[1:]
    base = list(module)
    if steps[0] in ("super", "self"):
        while steps[0] in ("super", "self"):
            base = base[:-1] if steps.pop(0) == "super" else base
        return base + steps
    return base + steps if (*module, steps[0]) in texts else None


def _declaring(steps: list[str], texts: Texts, depth: int = 0) -> tuple[str, ...] | None:
    """The module that declares what a path names: through re-exports, to the end."""
    module: tuple[str, ...] = ()
    rest = list(steps)
    while rest and (*module, rest[0]) in texts:
        module = (*module, rest.pop(0))
    if rest and depth < 8:
        for match in _REEXPORT.finditer(texts[module]):
            for path in _paths(match.group(1)):
                if path.split("::")[-1] == rest[0]:
                    target = _absolute(module, path, texts)
                    return _declaring([*target, *rest[1:]], texts, depth + 1) if target else None
    return module if rest else None  # naming a module alone imports none of its names


def _imports(module: tuple[str, ...], text: str, texts: Texts) -> set[tuple[str, ...]]:
    found = set()
    used = set(_NAME.findall(_COMMENT.sub("", _USE.sub("", text))))
    paths = [
        path
        for match in _USE.finditer(text)
        for path in _paths(match.group(1))
        if not _REEXPORT.match(match.group(0)) or path.split("::")[-1] in used
    ]
    for path in paths:
        target = _absolute(module, path, texts)
        declaring = _declaring(target, texts) if target is not None else None
        if declaring is not None and declaring != module:
            found.add(declaring)
    names = [path.split("::")[-1] for path in paths if path.startswith("super::")]
    if any(_extends(text, name) for name in names):
        found.discard(module[:-1])
    return found


def _extends(text: str, name: str) -> bool:
    """The file has methods of its own for a type that it imports."""
    return bool(re.search(rf"^impl(?:<[^>]*>)? {re.escape(name)}\b[^\n]* \{{", text, re.M))


def _components(edges: dict[tuple[str, ...], set[tuple[str, ...]]]) -> list[list[tuple[str, ...]]]:
    """Files that reach each other, by Tarjan's algorithm."""
    index: dict[tuple[str, ...], int] = {}
    low: dict[tuple[str, ...], int] = {}
    stack: list[tuple[str, ...]] = []
    found = []

    def visit(node: tuple[str, ...]) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in edges[node]:
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            found.append(stack[at:])
            del stack[at:]

    for node in edges:
        if node not in index:
            visit(node)
    return found


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
    print(f"crates: {len(found)} broken arrows, {len(wide)} circles of more than {MOST_FILES} files")
    return 1 if found or wide or lost else 0


if __name__ == "__main__":
    sys.exit(main())
