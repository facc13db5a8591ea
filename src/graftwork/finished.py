"""Finished parts of long work, one file each: a run that was stopped goes on from its folder."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from os import PathLike
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from graftwork.version import __version__

T = TypeVar("T")


def read_part(path: Path, stamp: str) -> dict[str, Any] | None:
    """Return what a file holds of a part; None where it is absent, damaged or of other work."""
    try:
        record = json.loads(path.read_text(encoding="utf8"), object_hook=_with_arrays)
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    return record if isinstance(record, dict) and record.get("stamp") == stamp else None


def write_part(path: Path, stamp: str, record: Mapping[str, Any]) -> None:
    """Write a part, completely or not at all, and return None."""
    text = json.dumps({"stamp": stamp, **record}, indent=1, default=_plain)
    whole = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        whole.write_text(text, encoding="utf8")
        whole.replace(path)
    except BaseException:
        whole.unlink(missing_ok=True)
        raise


def stamp_of(*settings: Any) -> str:
    """Return a short text that is another one for other settings, data or versions.

    A function of the user's may be another one next time: such a text is never the same again.
    """
    from joblib import hash as digest

    try:
        return str(digest((__version__, *settings)))
    except Exception:  # it cannot be compared with anything
        return secrets.token_hex(16)


@dataclass(frozen=True, slots=True)
class Finished(Generic[T]):
    """Numbered parts of one piece of work, in a folder."""

    folder: Path
    stamp: str  # of everything that the parts depend on
    kind: type[T]  # the dataclass that a part is

    @staticmethod
    def within(
        folder: str | PathLike[str] | None, kind: type[T], *settings: Any
    ) -> Finished[T] | None:
        """Return the parts in a folder, which is made if need be; None for no folder."""
        if folder is None:
            return None
        Path(folder).mkdir(parents=True, exist_ok=True)
        return Finished(Path(folder), stamp_of(*settings), kind)

    def read(self, numbers: Iterable[int]) -> dict[int, T]:
        """Return those of some parts that are finished."""
        found = {k: read_part(self._path(k), self.stamp) for k in numbers}
        return {k: self.kind(**record["part"]) for k, record in found.items() if record}

    def write(self, number: int, part: T) -> None:
        """Keep a finished part."""
        whole: Any = part
        record = {field.name: getattr(whole, field.name) for field in fields(whole)}
        write_part(self._path(number), self.stamp, {"part": record})

    def _path(self, number: int) -> Path:
        return self.folder / f"{number}.json"


def _plain(value: Any) -> Any:
    """Return an array as JSON can hold it."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return {"dtype": value.dtype.str, "shape": value.shape, "values": value.ravel().tolist()}
    raise TypeError(f"a {type(value).__name__} cannot be kept")


def _with_arrays(value: dict[str, Any]) -> Any:
    """Return an array that `_plain` made JSON of; anything else as it is."""
    if value.keys() != {"dtype", "shape", "values"}:
        return value
    return np.array(value["values"], dtype=value["dtype"]).reshape(value["shape"])
