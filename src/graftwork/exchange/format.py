"""What a file format is to us: a reader, a writer, or both, and what does not survive."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from graftwork.models import ChainModel, PairwiseMRF
from graftwork.models.graphs import EdgeRecord, edge_numbers

Model = PairwiseMRF | ChainModel

#: What files of others do not hold of a learned model, in the words of `Exported`.
LEARNING = "how it was learned (tests, penalty, certificate)"


@dataclass(frozen=True, eq=False)
class Content:
    """What is to be written."""

    model: Model
    # how it was learned, as model files keep it
    info: Mapping[str, Any] = field(default_factory=dict)
    # what is known of each edge (`edge_numbers`), if not what the info says
    tested: tuple[EdgeRecord, ...] | None = None

    @property
    def network(self) -> PairwiseMRF:
        """The network; `export` sees to it that formats of networks get one."""
        assert isinstance(self.model, PairwiseMRF)
        return self.model

    def learning(self) -> list[str]:
        """Return that a file without it loses how the model was learned, if that is known."""
        gaps = isinstance(self.model, PairwiseMRF) and self.model.missing != "error"
        return [LEARNING] if self.info or gaps else []

    @cached_property
    def edges(self) -> tuple[EdgeRecord, ...]:
        """What is known of each edge."""
        return edge_numbers(self.network, self.info) if self.tested is None else self.tested


@dataclass(frozen=True, slots=True)
class Written:
    """What a writer says of a file: other files beside it, and what was lost, in phrases."""

    beside: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Format:
    """How files of a format are read and written; None where they are not.

    A reader gets a path and returns a network or a chain; what is wrong with the file is a
    ``ModelFileError`` that names it. A writer gets a path and a `Content`.
    """

    read: Callable[[Path], Model] | None = None
    write: Callable[[Path, Content], Written] | None = None


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written, and what of the model is not in it.

    Attributes
    ----------
    path : str
    format : str
    beside : tuple of str
        Files written beside it, which a reader of ours looks for.
    lost : tuple of str
        What the files do not hold, or hold otherwise; empty if everything survives.

    Examples
    --------
    >>> print(Exported("a.uai", "uai", ("a.uai.names.json",), ("p-values",)))
    a.uai (uai), with a.uai.names.json next to it. Not in it: p-values.
    """

    path: str
    format: str
    beside: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()

    def __str__(self) -> str:
        beside = f", with {', '.join(self.beside)} next to it" if self.beside else ""
        lost = f"Not in it: {'; '.join(self.lost)}." if self.lost else "Everything is in it."
        return f"{self.path} ({self.format}){beside}. {lost}"

    __repr__ = __str__
