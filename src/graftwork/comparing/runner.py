"""Running methods one after the other, each from nothing, with clean clocks."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

from graftwork.comparing.comparison import Comparison, Metric, Record, Run
from graftwork.comparing.methods import Entry, Learner, method_name
from graftwork.errors import ConvergenceWarning, GraftworkError, ParameterError
from graftwork.grafting.trace import Observer, PassOn, Silence
from graftwork.parameters import joined
from graftwork.report.trace import plain

#: Lambda and rounds of the runs on a few rows that compile what the methods use.
WARM_LAM, WARM_ROUNDS = 0.01, 3


@dataclass(frozen=True, slots=True, eq=False)
class Attempt:
    """A method that was run, for one round at least.

    Attributes
    ----------
    label : str
        What the comparison calls it.
    net : fitted estimator
    watcher : PassOn
        The observer that its task gave it.
    interrupted : bool
        Whether Ctrl-C ended it.
    """

    label: str
    net: Any
    watcher: Any
    interrupted: bool


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """The methods that were run, at one lambda, and why others were not.

    Attributes
    ----------
    attempts : tuple of Attempt
    lam, lam_words : float, str
        The strength of the penalty, and where it comes from.
    missing : dict of label to str
    interrupted : bool
    """

    attempts: tuple[Attempt, ...]
    lam: float
    lam_words: str
    missing: Mapping[str, str]
    interrupted: bool


@dataclass(frozen=True, eq=False, kw_only=True)
class Task(ABC):
    """What is to be compared, checked: methods here, data and their evaluation in subclasses.

    Attributes
    ----------
    learner, metrics, noun, parameter
        Of every comparison of a kind: the estimator, and what `Comparison` says of the others.
    entries : tuple of Entry
        The methods.
    options : dict
        The estimator's arguments for all of them, lam included.
    chosen : bool
        Whether the methods were asked for; others are left out where the options do not fit.
    """

    learner: ClassVar[Learner]
    metrics: ClassVar[tuple[Metric, ...]]
    noun: ClassVar[str]
    parameter: ClassVar[Metric | None] = None

    entries: tuple[Entry, ...]
    options: Mapping[str, Any]
    chosen: bool = True

    @abstractmethod
    def data(self) -> tuple[Any, ...]:
        """Return the arguments of ``fit``."""

    @abstractmethod
    def corner(self) -> tuple[Any, ...]:
        """Return such arguments for a small part of the data."""

    @abstractmethod
    def rehearsals(self, settings: dict[str, Any]) -> list[dict[str, Any]]:
        """Return settings for short runs that check these settings and compile what they use."""

    @abstractmethod
    def choose_lam(self, entries: Sequence[Entry], observer: Observer) -> tuple[Any, str]:
        """Return the estimator's argument lam for all methods, and where lambda comes from."""

    @abstractmethod
    def watcher(self, observer: Observer) -> PassOn:
        """Return an observer that keeps what the evaluation of one run needs."""

    @abstractmethod
    def sizes(self) -> dict[str, int | None]:
        """Return the sizes of the data."""

    @abstractmethod
    def evaluate(self, attempt: Attempt) -> Run:
        """Return one run with its metrics."""

    @abstractmethod
    def remarks(self, trial: Trial) -> list[str]:
        """Return what should be known about the numbers."""


def compare_methods(task: Task, observer: Observer | None = None) -> Comparison:
    """Return the comparison that a task asks for."""
    return evaluate(task, run_methods(task, observer))


def evaluate(task: Task, trial: Trial) -> Comparison:
    """Return the comparison of the methods that were run."""
    runs = tuple(task.evaluate(attempt) for attempt in trial.attempts)
    known = {"gap", *runs[0].metrics}
    return Comparison(
        runs,
        tuple(metric for metric in task.metrics if metric.name in known),
        trial.lam,
        trial.lam_words,
        task.sizes(),
        dict(trial.missing),
        trial.interrupted,
        tuple(task.remarks(trial)),
        task.noun,
        task.parameter,
    )


def run_methods(
    task: Task,
    observer: Observer | None = None,
    finished: Callable[[Attempt], None] | None = None,
) -> Trial:
    """Return what became of every method; after an interrupt, of those run until then.

    Parameters
    ----------
    finished : function, optional
        Called with every attempt as soon as there is one.

    Raises
    ------
    KeyboardInterrupt
        If there is nothing to return yet.
    GraftworkError
        If every method failed: the error of the first.
    """
    observer = observer or Silence()
    observer.on_stage("warming up", 0, 1)
    entries = _rehearsed(task)
    lam, lam_words = task.choose_lam(entries, observer)
    attempts: list[Attempt] = []
    missing: dict[str, str] = {}
    first_error: GraftworkError | None = None
    interrupted = False
    for k, entry in enumerate(entries):
        if interrupted:
            missing[entry.label] = "not run, because of the interrupt"
            continue
        try:
            observer.on_stage(entry.label, k, len(entries))
            attempts.append(_attempt(task, entry, lam, observer))
            interrupted = attempts[-1].interrupted
            if finished is not None:
                finished(attempts[-1])
        except KeyboardInterrupt:
            interrupted = True
            if not attempts or attempts[-1].label != entry.label:
                missing[entry.label] = "interrupted before its first round was complete"
        except GraftworkError as error:
            first_error = first_error or error
            missing[entry.label] = str(error)
    if not attempts:
        raise KeyboardInterrupt if interrupted or first_error is None else first_error
    number = lam if isinstance(lam, float) else attempts[0].net.lam_
    return Trial(tuple(attempts), number, lam_words, missing, interrupted)


def _attempt(task: Task, entry: Entry, lam: Any, observer: Observer) -> Attempt:
    """Return one method's run; an interrupt after its first round is no error."""
    watcher = task.watcher(observer)
    settings = {**joined(task.options, entry.settings), "lam": lam, "verbose": watcher}
    net = task.learner.estimator(**settings)
    interrupted = False
    try:
        with no_stall_warnings():
            net.fit(*task.data())
    except KeyboardInterrupt:
        if not getattr(net, "trace_", None):
            raise
        interrupted = True
    return Attempt(entry.label, net, watcher, interrupted)


def _rehearsed(task: Task) -> tuple[Entry, ...]:
    """Return the methods that go with the options, each tried on a small part of the data.

    What is compiled when first used is compiled here, off the clock, and settings that mean
    nothing are refused before the first long run.

    Raises
    ------
    ParameterError
        If a method that was asked for, or every one, is refused.
    """
    corner = task.corner()
    fitting: list[Entry] = []
    refusal: ParameterError | None = None
    for entry in task.entries:
        try:
            with no_stall_warnings():
                for settings in task.rehearsals(joined(task.options, entry.settings)):
                    task.learner.estimator(**settings).fit(*corner)
        except ParameterError as error:
            refusal = refusal or error
            if task.chosen:
                raise
            continue
        except GraftworkError:
            pass  # the corner may be too odd for a method; the data themselves will tell
        fitting.append(entry)
    if refusal is not None and not fitting:
        raise refusal
    return tuple(fitting)


@contextmanager
def no_stall_warnings() -> Iterator[None]:
    """Suppress the warnings of runs that stall: their certificates say so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def evaluated_run(
    attempt: Attempt,
    metrics: Mapping[str, Any],
    rounds: Iterable[Record],
    *,
    problem: Iterable[str],
    kept: Callable[[], frozenset[Any]],
    **settings: Any,
) -> Run:
    """Return an attempt as a run of a comparison.

    Parameters
    ----------
    metrics : dict
        Values of the metrics that not every comparison has.
    rounds : iterable of dict
        One record per round.
    problem : iterable of str
        The parameters that say what is minimised.
    kept : function
        Returns the edges or features of the model.
    **settings
        Parameters whose values are written otherwise than the estimator has them.
    """
    net = attempt.net
    certificate, trace = net.certificate_, tuple(net.trace_)
    given = {k: v for k, v in net.get_params(deep=False).items() if k != "verbose"}
    written = plain(given | {"method": method_name(net.method)} | settings)
    common = {
        "objective": certificate.objective,
        "rounds": len(trace),
        "seconds": trace[-1].seconds,
        "evaluations": trace[-1].evaluations,
    }
    minimised = tuple(f"{name}={written.get(name)}" for name in problem)
    return Run(
        attempt.label,
        written,
        minimised,
        net.model_,
        certificate,
        trace,
        tuple(rounds),
        common | dict(metrics),
        kept,
    )
