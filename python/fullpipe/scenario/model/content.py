"""Files named in a scenario, identified by the digest of their content when the scenario was read."""

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from pydantic import PrivateAttr, SerializationInfo, model_serializer

from fullpipe.scenario.model.base import Model, recorded_digest
from fullpipe.scenario.traces.files import TraceError, read_bytes

T = TypeVar("T")
_KEPT = 8


class Content(Generic[T]):
    """Parsed files of one kind. The eight files used last stay in memory."""

    def __init__(self, parse: Callable[[bytes, str], T]) -> None:
        self._parse = parse
        self._kept: OrderedDict[str, T] = OrderedDict()

    def digest(self, file: str) -> str:
        """Return the SHA-256 of a file's content.

        Raises:
            ValueError: If the file cannot be read or parsed. Pydantic reports this exception as a validation
                error.
        """
        if known := recorded_digest(file):
            return known
        try:
            return self._read(file)
        except TraceError as error:
            raise ValueError(str(error)) from None

    def read(self, file: str, digest: str) -> T:
        """Return the parsed content of a file that had this digest.

        Raises:
            TraceError: If the file's content has changed since the scenario was read.
        """
        if digest not in self._kept and self._read(file) != digest:
            raise TraceError(file, "has changed since the scenario was read; read the scenario again")
        self._kept.move_to_end(digest)
        return self._kept[digest]

    def _read(self, file: str) -> str:
        data = read_bytes(file)
        digest = hashlib.sha256(data).hexdigest()
        if digest not in self._kept:
            self._kept[digest] = self._parse(data, file)
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return digest


class FileModel(Model):
    """A part of a scenario that names a file. Its digest depends on the content of the file."""

    _digest: str = PrivateAttr("")

    @model_serializer(mode="wrap")
    def _write(self, write: Any, info: Any) -> dict[str, Any]:
        return _written(write(self), info, self._digest)


def _written(tree: dict[str, Any], info: SerializationInfo, digest: str) -> dict[str, Any]:
    """Serialise a model that names a file. For TOML (mode "json"), the result has the name of the file. For
    digests of runs, the result has the SHA-256 of the file.

    In mode "json", the digest of the file is also added to the serialisation context if that is a dictionary.
    """
    if not digest:
        return tree
    if info.mode == "json":
        if isinstance(info.context, dict):
            info.context[tree["file"]] = digest
        return tree
    return {key: value for key, value in tree.items() if key != "file"} | {"sha256": digest}
