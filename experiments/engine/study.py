"""What a study is: steps that compute, and a report that judges what they found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from experiments.engine.claims import Claim
from graftwork.grafting.trace import Observer, Silence

#: "tiny" runs every kind of step within seconds, on made rows where a study reads a data set.
Size = Literal["full", "quick", "tiny"]

#: What a step finds: anything JSON can hold.
Found = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Context:
    """What a step is given.

    Attributes
    ----------
    size : "full", "quick" or "tiny"
    seed : int
    folder : Path or None
        The folder of data sets.
    n_jobs : int or None
    observer : Observer
        Told of rounds and stages, for learners.
    before : mapping
        What the steps before found, by key.
    """

    size: Size
    seed: int = 0
    folder: Path | None = None
    n_jobs: int | None = None
    observer: Observer = field(default_factory=Silence)
    before: Mapping[str, Found] = field(default_factory=dict)

    @property
    def quick(self) -> bool:
        """Whether sizes are small."""
        return self.size != "full"


@dataclass(frozen=True, slots=True)
class Step:
    """A piece of work whose result is kept, so that a stopped run goes on after it.

    Attributes
    ----------
    key : str
        Its name, and that of its file.
    words : str
        What it does, for people who wait.
    work : function of a Context
        Returns what it found: anything JSON can hold. A ``DataMissingError`` skips the step.
    settings : mapping
        Everything it depends on; a result with other settings is computed again.
    counts : str
        What its learners add: edges, or features of chains.
    """

    key: str
    words: str
    work: Callable[[Context], Found]
    settings: Mapping[str, Any] = field(default_factory=dict)
    counts: str = "edge"


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture: its name, a caption, and what draws it into a matplotlib figure."""

    name: str
    caption: str
    draw: Callable[[Any], None]
    size: tuple[float, float] = (8.0, 4.5)


@dataclass(frozen=True, slots=True)
class Report:
    """What a study says of the results.

    Attributes
    ----------
    claims : sequence of Claim
    tables : mapping
        Lines of numbers by name, written as CSV: each line a mapping with the same keys.
    figures : sequence of Figure
    """

    claims: Sequence[Claim]
    tables: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    figures: Sequence[Figure] = ()


@dataclass(frozen=True, slots=True)
class Study:
    """The experiments of a paper.

    Attributes
    ----------
    name : str
    paper : str
        Authors, title, where it appeared.
    steps : function of a size
        Returns the steps, in order.
    report : function of what the steps found, by key
        Must live with steps that were skipped.
    data : tuple of str
        The data sets it takes from a folder.
    """

    name: str
    paper: str
    steps: Callable[[Size], Sequence[Step]]
    report: Callable[[Mapping[str, Found]], Report]
    data: tuple[str, ...] = ()
