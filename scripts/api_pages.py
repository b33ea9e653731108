"""The reference of the Python package: a page per module of the public interface, from its docstrings."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from textwrap import dedent
from typing import Any

from fullpipe.scenario.documented import texts_below

MODULES = {
    "fullpipe": "fullpipe",
    "fullpipe.metrics": "fullpipe.analysis.metrics",
    "fullpipe.statistics": "fullpipe.analysis.statistics",
    "fullpipe.plots": "fullpipe.plots",
    "fullpipe.compare": "fullpipe.validation.compare",
    "fullpipe.test": "fullpipe.validation.test",
    "fullpipe.sweeps": "fullpipe.sweeps",
    "fullpipe.traces": "fullpipe.scenario.traces",
    "fullpipe.algorithms": "fullpipe.algorithms",
    "fullpipe.scenario": "fullpipe.scenario",
    "fullpipe.engines": "fullpipe.engines",
    "fullpipe.runs": "fullpipe.runs",
    "fullpipe.analysis.export": "fullpipe.analysis.export",
    "fullpipe.analysis.expected": "fullpipe.analysis.expected",
    "fullpipe.validation.agree": "fullpipe.validation.agree",
    "fullpipe.validation.conformance": "fullpipe.validation.conformance",
    "fullpipe.studies": "fullpipe.studies",
    "fullpipe.errors": "fullpipe.errors",
}
"""Names that users import, and their modules. Every public name of each has an entry."""
_SECTIONS = re.compile(r"^(Args|Returns|Yields|Raises|Formula|Source):(?= |$)", re.MULTILINE)


def module_pages() -> dict[str, str]:
    """Path of the page of each module, below the folder of the documentation, and its text."""
    pages = {f"reference/python/{_short(name)}.md": page(name) for name in MODULES if name != "fullpipe"}
    return {"reference/python.md": page("fullpipe", _table())} | pages


def page(name: str, table: str = "") -> str:
    """The page of a module: its docstring, and an entry for every public name."""
    module = import_module(MODULES[name])
    parts = [f"# {name}" if table == "" else "# Python", doc(module), table]
    for public in public_names(module):
        parts += [f"## {public}", *_entry(name, public, getattr(module, public), module)]
    return "\n\n".join(part for part in parts if part)


def public_names(module: Any) -> list[str]:
    """The names that a module makes public: `__all__`, or what it defines itself without an underscore."""
    if hasattr(module, "__all__"):
        return sorted(module.__all__, key=str.lower)
    own = inspect.getmembers(module, lambda value: getattr(value, "__module__", "") == module.__name__)
    return [name for name, _ in own if not name.startswith("_")]


def doc(thing: Any) -> str:
    """A docstring as Markdown: its sections are paragraphs, its examples are blocks of code."""
    text = inspect.getdoc(thing) or ""
    text = re.sub(r"\]\[fullpipe[\w.]*\]", "]", text).replace("[`", "`").replace("`]", "`")
    paragraphs = (_paragraph(part) for part in re.split(r"\n{2,}", text))
    return "\n\n".join(paragraphs)


def _paragraph(text: str) -> str:
    if text.lstrip().startswith(">>>"):
        return f"```python\n{inspect.cleandoc(text)}\n```"
    text = re.sub(r"\n {8,}", " ", text)
    text = re.sub(r"^    (\*?\w+): ", r"- `\1`: ", text, flags=re.MULTILINE)
    text = _SECTIONS.sub(r"\n**\1**:", text)
    return re.sub(r"(\*\*\w+\*\*:)\n *", r"\1\n\n", text).strip()


def _entry(home: str, name: str, value: Any, module: Any) -> Iterator[str]:
    if inspect.ismodule(value):
        own = next(known for known, module_name in MODULES.items() if module_name == value.__name__)
        yield f"The module [`{own}`](python/{_short(own)}.md)."
    elif inspect.isclass(value):
        yield from _class(name, value)
    elif inspect.isroutine(value):
        yield _call(name, value)
        yield doc(value)
    else:
        yield comment(module, name)


def _class(name: str, cls: type) -> Iterator[str]:
    base = cls.__base__.__name__ if cls.__base__ not in (None, object) else ""
    yield f"`{'exception' if issubclass(cls, Exception) else 'class'} {name}{base and f'({base})'}`"
    yield doc(cls) if cls.__doc__ else ""
    public = {member: value for member, value in vars(cls).items() if not member.startswith("_")}
    values = [
        f"- `{member}`: {' '.join((inspect.getdoc(value) or '').split())}"
        for member, value in public.items()
        if isinstance(value, property) or inspect.isgetsetdescriptor(value)
    ]
    yield "\n".join([*_fields(cls), *values])
    for member, value in public.items():
        function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        if inspect.isfunction(function):
            yield f"### {name}.{member}"
            yield _call(member, function, hidden=("self", "cls"))
            yield doc(function)


def _fields(cls: type) -> Iterator[str]:
    """The annotated attributes of a class, each with the documentation below it."""
    try:
        body = ast.parse(dedent(inspect.getsource(cls))).body[0]
    except (OSError, TypeError):  # compiled
        return
    assert isinstance(body, ast.ClassDef)
    for name, text in texts_below(body.body):
        if not name.startswith("_"):
            yield f"- `{name}`: {text}".removesuffix(": ")


def comment(module: Any, name: str) -> str:
    """Docstring below a constant at its definition, which may be in another module."""
    tree = ast.parse(inspect.getsource(module))
    said = dict(texts_below(tree.body)).get(name)
    if said:
        return said
    imports = [statement for statement in ast.walk(tree) if isinstance(statement, ast.ImportFrom)]
    for statement in imports:
        names = {alias.asname or alias.name for alias in statement.names}
        if statement.module and not names.isdisjoint((name, "*")):
            return comment(import_module(statement.module), name)
    return ""


def _call(name: str, function: Any, hidden: tuple[str, ...] = ()) -> str:
    """Signature of a function, with the types of parameters and result; units are in the names."""
    try:
        called = inspect.signature(function)
    except ValueError:  # compiled, and without one
        return f"`{name}`"
    taken = called.parameters.values()
    shown = [p.replace(annotation=_typed(p.annotation)) for p in taken if p.name not in hidden]
    return f"`{name}{called.replace(parameters=shown, return_annotation=_typed(called.return_annotation))}`"


class _Type(str):
    """The text of a type, which a signature shows without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _typed(annotation: Any) -> Any:
    """A type as its source has it, without the modules of its names."""
    if annotation is inspect.Parameter.empty:
        return annotation
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return _Type(re.sub(r"\b(?:[a-z_]\w*\.)+(?=[A-Z])", "", text))


def _short(name: str) -> str:
    return name.rpartition(".")[2]


def _table() -> str:
    lines = ["| module | what it is |", "| --- | --- |"]
    for name, home in MODULES.items():
        if name != "fullpipe":
            first = (inspect.getdoc(import_module(home)) or "").split("\n\n")[0].split(". ")[0]
            lines.append(f"| [`{name}`](python/{_short(name)}.md) | {' '.join(first.split())} |")
    return "\n".join(lines)
