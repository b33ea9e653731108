"""Older names of modules are the present modules, however they are imported."""

import subprocess
import sys
from importlib import import_module

import pytest

import fullpipe
from fullpipe import _native
from fullpipe.aliases import ALIASES, present


@pytest.mark.parametrize(("older", "present"), ALIASES.items())
def test_an_older_name_is_the_present_module(older: str, present: str) -> None:
    module = import_module(present)
    spec = module.__spec__
    assert import_module(older) is module
    assert module.__name__ == present
    assert module.__spec__ is spec


@pytest.mark.parametrize(
    "line",
    [
        "from fullpipe import cca; assert cca.Controller",
        "import fullpipe.cca; assert fullpipe.cca.Controller",
        "from fullpipe.cca import Ack, Controller, Episode, Path",
        "from fullpipe.cca.kit import judge",
        "from fullpipe.conformance import judge",
        "from fullpipe.results import Store, TABLES",
        "import fullpipe.metrics as m; assert m.jain",
        "from fullpipe.theory import bbr_share",
    ],
)
def test_an_older_name_works_in_a_process_that_has_imported_nothing(line: str) -> None:
    subprocess.run([sys.executable, "-c", line], check=True)


def test_a_class_is_there_once() -> None:
    older = import_module("fullpipe.cca.controller")
    assert older.Controller is import_module("fullpipe.algorithms").Controller


@pytest.mark.parametrize("compiled", [value for value in vars(_native).values() if isinstance(value, type)])
def test_a_compiled_class_names_the_present_module_that_has_it(compiled: type) -> None:
    assert present(compiled.__module__) is None
    assert getattr(import_module(compiled.__module__), compiled.__name__) is compiled


def test_what_never_was_is_not_found() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"fullpipe\.ccas"):
        import_module("fullpipe.ccas")
    with pytest.raises(ModuleNotFoundError, match=r"fullpipe\.algorithms\.nothing"):
        import_module("fullpipe.cca.nothing")


def test_every_name_of_the_top_level_is_there() -> None:
    for name in fullpipe.__all__:
        assert getattr(fullpipe, name) is not None
    assert set(fullpipe.__all__) < set(dir(fullpipe))
