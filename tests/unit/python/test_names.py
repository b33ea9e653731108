"""Public names of the package: attributes, and modules that one can import from."""

import subprocess
import sys
from importlib import import_module

import pytest

import fullpipe

MODULES = {
    "fullpipe.compare": "fullpipe.validation.compare",
    "fullpipe.factors": "fullpipe.validation.test",
    "fullpipe.metrics": "fullpipe.analysis.metrics",
    "fullpipe.statistics": "fullpipe.analysis.statistics",
    "fullpipe.test": "fullpipe.validation.test",
    "fullpipe.traces": "fullpipe.scenario.traces",
}


@pytest.mark.parametrize(("public", "home"), MODULES.items())
def test_a_public_name_is_the_module_itself(public: str, home: str) -> None:
    module = import_module(home)
    assert import_module(public) is module
    assert getattr(fullpipe, public.removeprefix("fullpipe.")) is module
    assert module.__name__ == home


@pytest.mark.parametrize(
    "line",
    [
        "import fullpipe.metrics as m; assert m.jain",
        "from fullpipe import compare; assert compare.__all__",
        "from fullpipe.compare import by_engine",
        "from fullpipe.factors import Factor",
        "from fullpipe.metrics import jain",
        "from fullpipe.statistics import t_interval",
        "from fullpipe.test import Factor",
        "from fullpipe.traces import read_mahimahi",
    ],
)
def test_a_public_name_works_in_a_process_that_has_imported_nothing(line: str) -> None:
    subprocess.run([sys.executable, "-c", line], check=True)


def test_every_name_of_the_top_level_is_there() -> None:
    for name in fullpipe.__all__:
        assert getattr(fullpipe, name) is not None
    assert set(fullpipe.__all__) < set(dir(fullpipe))
