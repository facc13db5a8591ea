"""What a killed process leaves to the next one: finished pieces of work, in one file.

A journal numbers pieces in the order in which they are begun. The same program on the same data
begins the same pieces in the same order, so that a number, and a few words to be sure, say which
is which. An observer with a ``journal`` brings it to fits and to pools of fits.
"""

from __future__ import annotations

import importlib
import json
import math
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

#: Seconds between two writings; what is finished sooner is not worth a file.
PAUSE = 20.0
_CONSTANTS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_KEPT: dict[str, type] = {}
AnyType = TypeVar("AnyType", bound=type)


def keepable(cls: AnyType) -> AnyType:
    """Let values of a dataclass be kept; return the class."""
    _KEPT[f"{cls.__module__}.{cls.__name__}"] = cls
    return cls


class Journal:
    """Finished pieces of work, and the network so far of the one under way.

    Parameters
    ----------
    path : Path
        The file.
    fingerprint : str
        Of data, parameters and version: a file with another one is not used.
    note : function
        Told what is worth knowing, in a sentence.
    partial : bool
        Whether pieces go on from where they were; else only finished ones are kept.
    """

    def __init__(
        self, path: Path, fingerprint: str, note: Callable[[str], None], *, partial: bool = True
    ) -> None:
        self.path, self.partial = path, partial
        self._fingerprint, self._note = fingerprint, note
        self._begun: dict[str, int] = {}
        self._pieces: dict[str, Any] = {}
        self._written = time.monotonic()
        self._changed = self._broken = False
        self._read()

    def begin(self, kind: str) -> str:
        """Return the key of the next piece of a kind."""
        number = self._begun.get(kind, 0)
        self._begun[kind] = number + 1
        return f"{kind} {number}"

    def recall(self, key: str, about: Any = None) -> Any:
        """Return what is kept of a piece; None if there is nothing, or of something else."""
        found = self._pieces.get(key)
        return found[1] if found is not None and found[0] == about else None

    def keep(self, key: str, value: Any, about: Any = None) -> None:
        """Keep what there is of a piece; write the file if the last time is long ago."""
        self._pieces[key] = (about, value)
        self._changed = True
        if time.monotonic() - self._written >= PAUSE:
            self.write()

    def close(self, *, finished: bool) -> None:
        """Remove the file of finished work; write that of work that is to go on."""
        if finished:
            with suppress(OSError):
                self.path.unlink(missing_ok=True)
        elif self._changed and (self.path.exists() or time.monotonic() - self._written >= PAUSE):
            self.write()

    def write(self) -> None:
        """Write all pieces; where that fails, say so once, and go on without."""
        self._written, self._changed = time.monotonic(), False
        if self._broken:
            return
        from graftwork.data.atomic import replacing

        arrays: list[Any] = []
        header = {"fingerprint": self._fingerprint, "pieces": _packed(self._pieces, arrays)}
        text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
        try:
            with replacing(self.path) as file:
                np.savez(file, header=text, **{str(k): each for k, each in enumerate(arrays)})
        except OSError as error:
            self._broken = True
            self._note(
                f"progress cannot be kept in {self.path} ({error.strerror or error}): if this run "
                "is killed, it begins anew."
            )

    def _read(self) -> None:
        """Read what another process left, if it is of the same work."""
        try:
            with np.load(self.path, allow_pickle=False) as file:
                header = json.loads(file["header"].tobytes(), parse_constant=_CONSTANTS.__getitem__)
                if header["fingerprint"] != self._fingerprint:
                    self._note(f"{self.path} is of another run, or of other data: begun anew.")
                    return
                self._pieces = _unpacked(header["pieces"], file)
        except FileNotFoundError:
            return
        except (OSError, ValueError, KeyError, TypeError, AttributeError, EOFError,
                RecursionError, zipfile.BadZipFile):  # fmt: skip
            self._pieces = {}
            self._note(f"{self.path} cannot be read: begun anew.")
            return
        self._note(f"going on from {self.path}; remove it to begin anew.")


def _packed(value: Any, arrays: list[Any]) -> Any:
    """Return a value as JSON; arrays go to the list, and leave their place in it.

    Examples
    --------
    >>> found = []
    >>> _packed({"a": (1, np.array([2.0]))}, found), found
    ({'dict': [['a', {'tuple': [1, {'array': 0}]}]]}, [array([2.])])
    """
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            raise TypeError("an array of objects cannot be kept")
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple | list):
        return {type(value).__name__: [_packed(each, arrays) for each in value]}
    if isinstance(value, dict):
        items = [[_packed(k, arrays), _packed(each, arrays)] for k, each in value.items()]
        return {"dict": items}
    name = f"{type(value).__module__}.{type(value).__name__}"
    if is_dataclass(value) and _KEPT.get(name) is type(value):
        parts = {f.name: _packed(getattr(value, f.name), arrays) for f in fields(value)}
        return {"class": name, "fields": parts}
    raise TypeError(f"a {name} cannot be kept")


def _unpacked(plain: Any, arrays: Any) -> Any:
    """Return the value that `_packed` made JSON of."""
    if not isinstance(plain, dict):
        return plain
    if "array" in plain:
        return arrays[str(plain["array"])]
    if "class" in plain:
        parts = {name: _unpacked(each, arrays) for name, each in plain["fields"].items()}
        return _class_of(plain["class"])(**parts)
    if "dict" in plain:
        return {_unpacked(k, arrays): _unpacked(each, arrays) for k, each in plain["dict"]}
    if "tuple" in plain:
        return tuple(_unpacked(each, arrays) for each in plain["tuple"])
    return [_unpacked(each, arrays) for each in plain["list"]]


def _class_of(name: str) -> type:
    """Return the class of a value that is kept; its module need not be loaded yet."""
    if name not in _KEPT and name.startswith("graftwork."):
        with suppress(ImportError):
            importlib.import_module(name.rpartition(".")[0])
    return _KEPT[name]
