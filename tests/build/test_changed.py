"""`make check` chooses what belongs to a change."""

from __future__ import annotations

import pytest

from scripts.changed import commands, crates, of_change

SOURCES = {
    "tests/unit/python/test_files.py": "from fullpipe.files import written",
    "tests/runs/test_order.py": "from fullpipe import runs",
    "tests/compare/test_pairs.py": "from fullpipe.analysis.compare import pairs",
    "tests/report/test_html.py": "import fullpipe",
    "tests/golden/test_golden.py": "import fullpipe",
}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ("tests/report/test_html.py", ["tests/report/test_html.py"]),
        ("python/fullpipe/files.py", ["tests/unit/python/test_files.py"]),
        ("python/fullpipe/runs/__init__.py", ["tests/runs/test_order.py"]),
        ("python/fullpipe/runs/order.py", ["tests/runs/test_order.py"]),
        ("python/fullpipe/analysis/compare/pairs.py", ["tests/compare/test_pairs.py"]),
        ("python/fullpipe/__init__.py", []),
        ("docs/index.md", []),
        ("crates/tcp/src/lib.rs", ["tests/golden/test_golden.py"]),
        ("crates/tcp/tests/ecn.rs", []),
        ("crates/python/src/lib.rs", []),
    ],
)
def test_tests_belong_to_what_they_import_or_are_called_after(changed: str, expected: list[str]) -> None:
    assert of_change([changed], SOURCES) == expected


def test_crates_are_those_of_changed_files() -> None:
    assert crates(["crates/tcp/src/a.rs", "crates/tcp/Cargo.toml", "crates/units/src/b.rs", "x.py"]) == [
        "crates/tcp",
        "crates/units",
    ]


def test_rust_is_compiled_only_if_it_changed() -> None:
    def programs(*names: str) -> set[str]:
        return {command[0].rpartition("/")[2] for command in commands(list(names))}

    assert programs("docs/index.md") == set()
    assert programs("scripts/pgo.py") == {"ruff", "lint-imports", "mypy"}
    assert programs("crates/tcp/src/lib.rs") == {"rustfmt", "cargo", "pytest"}
    assert programs("crates/tcp/tests/ecn.rs") == {"rustfmt", "cargo"}


def test_a_crate_is_linted_and_tested_by_the_name_of_its_package() -> None:
    found = [command for command in commands(["crates/fullpipe/src/lib.rs"]) if command[0] == "cargo"]
    assert [command[1:4] for command in found] == [
        ["clippy", "--package", "fullpipe"],
        ["test", "--package", "fullpipe"],
    ]
