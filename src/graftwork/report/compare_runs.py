"""Running the methods of a comparison one after the other, each from nothing, with clean clocks."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from graftwork.data import Table
from graftwork.errors import ConvergenceWarning, GraftworkError
from graftwork.estimators import MarkovNetwork
from graftwork.estimators.parts import ParameterError
from graftwork.grafting import Recipe
from graftwork.grafting.trace import Observer, PassOn, Round, Silence
from graftwork.inference.layout import Potentials
from graftwork.recipes import RECIPES
from graftwork.report.choice_text import choice_text
from graftwork.report.compare_methods import Entry
from graftwork.report.edges import Edges

#: A run on so many rows and columns compiles what the methods use.
_WARM_ROWS, _WARM_COLUMNS, _WARM_LAM, _WARM_ROUNDS = 64, 8, 0.01, 3
_NO_BUDGET: dict[str, Any] = dict.fromkeys(("max_edges", "max_tests", "max_seconds"))


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """What is to be compared, checked.

    Attributes
    ----------
    table, test : Table, Table or None
        Rows to learn from, and rows held out.
    truth : frozenset of pairs of int or None
        The true edges.
    entries : tuple of Entry
        The methods.
    options : dict
        What of `MarkovNetwork` is the same for all, lam and random_state included.
    chosen : bool
        Whether the methods were asked for; others are left out where they do not fit the options.
    """

    table: Table
    test: Table | None
    truth: Edges | None
    entries: tuple[Entry, ...]
    options: Mapping[str, Any]
    chosen: bool


@dataclass(frozen=True, slots=True, eq=False)
class Attempt:
    """A method that was run, a round at least: the estimator, and networks of some rounds."""

    label: str
    net: MarkovNetwork
    networks: tuple[tuple[int, Potentials], ...]

    @property
    def cut_short(self) -> bool:
        """Whether an interrupt ended learning, or tying after it."""
        untied = self.net.tie is not None and self.net.tying_ is None
        return untied or self.net.certificate_.stop == "interrupted"


class Attempted(Protocol):
    """A method that was run."""

    @property
    def label(self) -> str:
        """What the comparison calls it."""
        ...

    @property
    def cut_short(self) -> bool:
        """Whether an interrupt ended it."""
        ...


A = TypeVar("A", bound=Attempted)


@dataclass(frozen=True, slots=True, eq=False)
class Ran(Generic[A]):
    """The methods that were run, why others were not, and whether an interrupt was the reason."""

    attempts: tuple[A, ...]
    missing: Mapping[str, str]
    interrupted: bool


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """All methods that were run, at one lambda, and why others were not."""

    task: Task
    lam: float
    lam_words: str
    attempts: tuple[Attempt, ...]
    missing: Mapping[str, str]
    interrupted: bool


def run_methods(
    task: Task,
    observer: Observer | None = None,
    finished: Callable[[Attempt], None] | None = None,
    most_networks: int = 100,
) -> Trial:
    """Return what became of every method; after an interrupt, of those run until then.

    Each run prepares the table anew, so that none profits from what another has counted.

    Parameters
    ----------
    finished : function, optional
        Called with every attempt as soon as there is one.
    most_networks : int
        The networks of so many rounds are kept, evenly spread.

    Raises
    ------
    KeyboardInterrupt
        If there is nothing to return yet.
    GraftworkError
        If every method failed: what the first said.
    """
    observer = observer or Silence()
    observer.on_stage("warming up", 0, 1)
    entries = warm_up(task)
    lam, words = choose_lam(task, entries, observer)

    def attempt(entry: Entry) -> Attempt:
        return _attempt(task, entry, lam, observer, most_networks)

    ran = run_each(entries, attempt, observer, finished)
    number = 0.0 if isinstance(lam, str) else lam
    return Trial(task, number, words, ran.attempts, ran.missing, ran.interrupted)


def run_each(
    entries: Sequence[Entry],
    attempt: Callable[[Entry], A],
    observer: Observer,
    finished: Callable[[A], None] | None = None,
) -> Ran[A]:
    """Return what became of every method; after an interrupt, of those run until then.

    Parameters
    ----------
    attempt : function
        Runs one method.
    finished : function, optional
        Called with every attempt as soon as there is one.

    Raises
    ------
    KeyboardInterrupt
        If there is nothing to return yet.
    GraftworkError
        If every method failed: what the first said.
    """
    attempts: list[A] = []
    missing: dict[str, str] = {}
    first_error: GraftworkError | None = None
    interrupted = False
    for k, entry in enumerate(entries):
        if interrupted:
            missing[entry.label] = "not run, because of the interrupt"
            continue
        try:
            observer.on_stage(entry.label, k, len(entries))
            made = attempt(entry)
            attempts.append(made)
            interrupted = made.cut_short
            if finished is not None:
                finished(made)
        except KeyboardInterrupt:
            interrupted = True
            if not attempts or attempts[-1].label != entry.label:
                missing[entry.label] = "interrupted before it had a network"
        except GraftworkError as error:
            first_error = first_error or error
            missing[entry.label] = str(error)
    if not attempts:
        raise KeyboardInterrupt if interrupted or first_error is None else first_error
    return Ran(tuple(attempts), missing, interrupted)


def choose_lam(task: Task, entries: Sequence[Entry], observer: Observer) -> tuple[float | str, str]:
    """Return lambda and how it came about: the number given, or one run with lam="auto".

    Where every method knows its number of edges there is nothing to choose: it stays "auto".
    """
    lam = task.options["lam"]
    if task.options.get("penalty") == "none":
        return 0.0, "there is no penalty."
    if not isinstance(lam, str):
        return float(lam), f"lambda {float(lam):g} was given."
    sized = [is_sized(entry) for entry in entries]
    if all(sized):
        return lam, "There is no sparsity penalty: the methods know their number of edges."
    # lambda is chosen by a path that begins without edges; tying comes after it
    left_out = ("method_options", "start", "tie")
    options = {name: value for name, value in task.options.items() if name not in left_out}
    with stalls_untold():
        net = MarkovNetwork(**options, observer=observer).fit(task.table)
    words = f"{choice_text(net.choice_)} Compared are the penalised networks, without any refit."
    if any(sized):
        words += " Methods that know their number of edges are penalised like the others."
    return net.lam_, words


def is_sized(entry: Entry) -> bool:
    """Return whether a method knows its number of edges."""
    method = entry.settings["method"]
    recipe = method if isinstance(method, Recipe) else RECIPES[method]()
    return recipe.sized


def warm_up(task: Task) -> tuple[Entry, ...]:
    """Return the methods that go with the options, each tried on a corner of the table.

    What is compiled when first used is compiled here, off everybody's clock, and settings that
    mean nothing are refused before the first long run.
    """
    corner = corner_of(task.table)

    def rehearse(entry: Entry) -> None:
        for settings in _rehearsals({**task.options, **entry.settings}):
            MarkovNetwork(**settings).fit(corner)

    return rehearsed(task.entries, rehearse, chosen=task.chosen)


def rehearsed(
    entries: Sequence[Entry], rehearse: Callable[[Entry], None], *, chosen: bool
) -> tuple[Entry, ...]:
    """Return the methods that go with the options, each tried out first.

    Parameters
    ----------
    rehearse : function
        Runs a method on a corner of the data.
    chosen : bool
        Whether the methods were asked for; others are left out where they do not fit.

    Raises
    ------
    ParameterError
        If a method that was asked for, or every one, is refused.
    """
    fitting: list[Entry] = []
    refusal: ParameterError | None = None
    for entry in entries:
        try:
            with stalls_untold():
                rehearse(entry)
        except ParameterError as error:
            refusal = refusal or error
            if chosen:
                raise
            continue
        except GraftworkError:
            pass  # the corner may be too odd for a method; the data themselves will tell
        fitting.append(entry)
    if refusal is not None and not fitting:
        raise refusal
    return tuple(fitting)


def _rehearsals(settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the settings as they are, but ending at once; then such that edges are grafted.

    A start may name columns that a corner of the table does not have: a tree stands in for it.
    """
    if settings.get("start") is not None:
        settings = {**settings, "start": "chow-liu"}
    lam = _WARM_LAM if settings["lam"] == "auto" else settings["lam"]
    check = {**settings, "lam": lam, "max_iter": settings.get("max_iter") or 0}
    warm = {**settings, **_NO_BUDGET, "lam": _WARM_LAM, "max_iter": _WARM_ROUNDS}
    if settings.get("loss") == "likelihood" and settings.get("inference", "auto") == "auto":
        # a corner is always small enough for exact inference; the table may not be
        return [check, warm, {**warm, "inference": "bp"}]
    return [check, warm]


def corner_of(table: Table) -> Table:
    """Return a few rows of a few columns, the column with most states among them.

    Examples
    --------
    >>> corner_of(Table(("a", "b"), ((0, 1), (0, 1)), np.zeros((2, 1000), dtype=int))).shape
    (64, 2)
    """
    count = min(table.n_rows, _WARM_ROWS)
    rows = np.unique(np.linspace(0, table.n_rows - 1, count).astype(np.int64))
    codes = table.codes[:, rows]
    varies = np.flatnonzero((codes != codes[:, :1]).any(axis=1))
    columns = np.unique(np.append(varies[: _WARM_COLUMNS - 1], np.argmax(table.cards)))
    if table.n_variables <= _WARM_COLUMNS:
        columns = np.arange(table.n_variables)
    # Any weights will do, but there must be some where the table has some: floats are counted.
    weights = None if table.weights is None else np.full(len(rows), 2.0)
    return Table(
        tuple(table.names[i] for i in columns),
        tuple(table.states[i] for i in columns),
        codes[columns],
        weights,
    )


def _attempt(task: Task, entry: Entry, lam: float | str, observer: Observer, most: int) -> Attempt:
    album = Album(observer, most)
    settings = {**task.options, **entry.settings, "lam": lam, "observer": album}
    net = MarkovNetwork(**settings)
    fit_or_keep(net, task.table)
    return Attempt(entry.label, net, album.networks())


def fit_or_keep(net: Any, *data: Any) -> None:
    """Fit an estimator, and return None; an interrupt after its first round is no error."""
    try:
        with stalls_untold():
            net.fit(*data)
    except KeyboardInterrupt:
        if not getattr(net, "trace_", None):
            raise


@contextmanager
def stalls_untold() -> Iterator[None]:
    """Keep runs that stall from warning: the certificate says so, and the comparison shows it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


class Album(PassOn):
    """An observer that keeps the networks of some rounds.

    It keeps every network, then every second, every fourth: memory does not grow with the rounds.
    """

    def __init__(self, inner: Observer, most: int) -> None:
        super().__init__(inner)
        self._most, self._every = most, 1
        self._kept: dict[int, Potentials] = {}
        self._last: tuple[int, Potentials] | None = None
        self._record: Round | None = None

    def on_round(self, record: Round) -> None:
        """Remember which round it was, and pass it on."""
        self._record = record
        self._inner.on_round(record)

    def on_network(self, potentials: Potentials) -> None:
        """Keep the network if it is its turn, and pass it on."""
        assert self._record is not None  # a round is told before its network
        index = self._record.index
        self._last = index, potentials
        if index % self._every == 0:
            self._kept[index] = potentials
        if len(self._kept) > 2 * self._most:
            self._every *= 2
            self._kept = {i: kept for i, kept in self._kept.items() if i % self._every == 0}
        self._inner.on_network(potentials)

    def networks(self) -> tuple[tuple[int, Potentials], ...]:
        """Return the networks of at most so many rounds, the first and the last among them."""
        if self._last is None:
            return ()
        kept = sorted({**self._kept, self._last[0]: self._last[1]}.items())
        places = np.linspace(0, len(kept) - 1, min(len(kept), self._most)).round().astype(int)
        return tuple(kept[i] for i in places.tolist())
