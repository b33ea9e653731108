"""Reading of docstrings below fields and constants. Pydantic can read them, too, but does so at every
import."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from copy import copy
from functools import cache
from textwrap import dedent
from typing import Annotated, Any

from pydantic import BaseModel, TypeAdapter
from pydantic.fields import FieldInfo

from fullpipe.parser import PARSER


def documented(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """Return the fields of a model; the description of each field is the docstring below it."""
    texts: dict[str, str] = {}
    for cls in reversed(model.__mro__):
        if issubclass(cls, BaseModel) and cls is not BaseModel:
            texts |= _texts(cls)
    return {name: _described(field, texts.get(name)) for name, field in model.model_fields.items()}


def meaning(model: type[BaseModel]) -> str:
    """Return the docstring of a model, without its Python examples."""
    text = inspect.getdoc(model) or ""
    return re.split(r"\n\s*(?:>>>|Quantities are text|Raises:)", text)[0].rstrip() if ">>>" in text else text


def default_of(field: FieldInfo) -> Any:
    """Return the default of a field with its unit, as a scenario file writes it."""
    annotated: Any = field.annotation
    for note in field.metadata:
        annotated = Annotated[annotated, note]
    default = field.get_default(call_default_factory=True, validated_data={})
    return TypeAdapter(annotated).dump_python(default, mode="json", warnings=False)


def _described(field: FieldInfo, text: str | None) -> FieldInfo:
    found = copy(field)
    found.description = text or field.description
    return found


@cache
def _texts(cls: type) -> dict[str, str]:
    with PARSER:
        try:
            source = inspect.getsource(cls)
        except OSError:  # made from the registry: its fields have their descriptions
            return {}
        definition = ast.parse(dedent(source)).body[0]
    assert isinstance(definition, ast.ClassDef)
    return dict(texts_below(definition.body))


def texts_below(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    """Yield the assigned or annotated names, each with the docstring below it."""
    for statement, below in zip(body, [*body[1:], None], strict=True):
        target: ast.expr | None = None
        if isinstance(statement, ast.Assign):
            target = statement.targets[0]
        elif isinstance(statement, ast.AnnAssign):
            target = statement.target
        if isinstance(target, ast.Name):
            text = below.value if isinstance(below, ast.Expr) else None
            said = text.value if isinstance(text, ast.Constant) and isinstance(text.value, str) else ""
            yield target.id, " ".join(said.split())
