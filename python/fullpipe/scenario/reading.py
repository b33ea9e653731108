"""Reading scenario files, with everything refused early that cannot be one."""

import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

from fullpipe.errors import ScenarioError, UnknownNameError

MAX_FILE_BYTES = 1_000_000
_SUFFIX = ".toml"


def read_text(path: Path) -> str:
    """The text of a scenario file.

    Raises:
        ScenarioError: If it is missing, not a regular file, unreadable, too large, or not UTF-8.
    """
    try:
        if path.is_dir():
            raise ScenarioError([f"{path}: is a directory; give a TOML file"])
        if path.exists() and not path.is_file():
            raise ScenarioError([f"{path}: is not a regular file; give a TOML file"])
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        raise ScenarioError(
            [f"{path}: no such file; fullpipe list scenarios shows the named scenarios"]
        ) from None
    except (OSError, ValueError) as error:
        raise ScenarioError(
            [f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}"]
        ) from None
    if len(data) > MAX_FILE_BYTES:
        raise ScenarioError([f"{path}: larger than 1 MB; a scenario is a short TOML file"])
    try:
        return data.decode("utf-8-sig")  # some editors begin a file with a mark
    except UnicodeDecodeError as error:
        raise ScenarioError(
            [f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8 text"]
        ) from None


def parse_toml(text: str, source: str | None = None) -> dict[str, Any]:
    """TOML as plain data; `source` is where the text is from.

    Raises:
        ScenarioError: If it is not TOML; the line says where.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
    except (RecursionError, ValueError) as error:
        message = "too deeply nested" if isinstance(error, RecursionError) else str(error)
    where = f"{source}: " if source else ""
    raise ScenarioError([f"{where}not TOML: {message[0].lower()}{message[1:]}"])


def located(tree: Any, folder: Path) -> Any:
    """Scenario data with the files that it names found beside the scenario's own.

    A plain name of which there is no file there may be that of one that comes with fullpipe.
    """
    if isinstance(tree, list):
        return [located(item, folder) for item in tree]
    if not isinstance(tree, dict):
        return tree
    return {key: _located(key, value, folder) for key, value in tree.items()}


def _located(key: str, value: Any, folder: Path) -> Any:
    names = key == "file" or key.endswith(".file")  # the latter in a sweep
    if names and isinstance(value, str):
        return _beside(value, folder)
    if names and isinstance(value, list):
        return [_beside(item, folder) if isinstance(item, str) else item for item in value]
    return located(value, folder)


def _beside(name: str, folder: Path) -> str:
    bundled = folder_of_names() / name
    found = folder / name
    if Path(name).name == name and not found.exists() and bundled.is_file():
        return str(bundled)
    return str(found)


def scenario_names() -> list[str]:
    """The scenarios that come with fullpipe, in alphabetical order."""
    found = (files("fullpipe") / "scenarios").iterdir()
    return sorted(entry.name.removesuffix(_SUFFIX) for entry in found if entry.name.endswith(_SUFFIX))


def folder_of_names() -> Path:
    """Where the scenarios that come with fullpipe are."""
    return Path(str(files("fullpipe") / "scenarios"))


def named_text(name: str) -> str:
    """The TOML text of a scenario that comes with fullpipe.

    Raises:
        UnknownNameError: If there is none of that name.
    """
    if name not in scenario_names():
        raise UnknownNameError("scenario", name, scenario_names())
    return (files("fullpipe") / "scenarios" / f"{name}{_SUFFIX}").read_text(encoding="utf-8")
