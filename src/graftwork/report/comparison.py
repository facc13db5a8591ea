"""Comparison: several methods on the same data at the same lambda, as a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, TypeVar

from graftwork.grafting import Certificate, Round
from graftwork.models import PairwiseMRF
from graftwork.report.compare_files import write_comparison
from graftwork.report.compare_plot import plot_comparison
from graftwork.report.compare_words import Agreement, Certified, agreements, comparison_words
from graftwork.report.edges import EdgeScores

Record = dict[str, Any]

#: What a run takes, counted up to each round; the last round has the totals.
COUNTERS = ("evaluations", "blocks_scored", "tables_counted", "seconds")
#: How much of a network is true.
SHARES = ("recall", "precision", "f1")


@dataclass(frozen=True, slots=True, eq=False)
class MethodRun:
    """One method's run, evaluated.

    Attributes
    ----------
    label : str
        What the comparison calls it.
    settings : dict
        The estimator's parameters, as plain values.
    model : PairwiseMRF
        The network at the end.
    certificate : Certificate
    trace : tuple of Round
        One at least; the last one closes the account, with what the last check cost.
    rounds : tuple of dict
        One record a round: its counters, clock, objective, loss and edges; ``nlpl`` and, where
        there is something to compare with, ``test_nlpl``, ``recall``, ``precision`` and ``f1``.
        These are None in rounds that were not evaluated.
    nlpl, test_nlpl : float, float or None
        Negative log pseudo-likelihood of a row at the end: of the rows learned from, of others.
    recovery : EdgeScores or None
        How much of the true structure was found at the end.
    """

    label: str
    settings: Mapping[str, Any]
    model: PairwiseMRF
    certificate: Certificate
    trace: tuple[Round, ...]
    rounds: tuple[Record, ...]
    nlpl: float
    test_nlpl: float | None
    recovery: EdgeScores | None

    @property
    def problem(self) -> tuple[str, ...]:
        """What was minimised: objectives compare only where this is the same."""
        names = ["loss", "penalty", "l2", "penalize_unary"]
        if self.settings.get("loss") == "likelihood":
            names.append("inference")
        return tuple(f"{name}={self.settings.get(name)}" for name in names)

    @property
    def edges(self) -> frozenset[tuple[Any, Any]]:
        """The edges at the end, as pairs of names in the order of the variables."""
        return frozenset(self.model.edges)

    @property
    def kept(self) -> frozenset[Any]:
        """What runs agree on, or do not: the edges."""
        return self.edges


Run = TypeVar("Run", bound=Certified)


def find_run(runs: Sequence[Run], missing: Mapping[str, str], label: str) -> Run:
    """Return the run with this label, or raise a KeyError that says why there is none."""
    for run in runs:
        if run.label == label:
            return run
    why = missing.get(label) or f"there are {', '.join(run.label for run in runs)}"
    raise KeyError(f"no run of {label!r}: {why}")


def gap_of(run: Certified, runs: Sequence[Certified]) -> float:
    """Return how far a run's objective is above the best of those that minimise the same."""
    rivals = [each.certificate.objective for each in runs if each.problem == run.problem]
    return run.certificate.objective - min(rivals)


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Several methods on the same rows at the same lambda: what each reached, and at what price.

    Attributes
    ----------
    runs : tuple of MethodRun
        In the order asked for.
    lam, lam_words : float, str
        The penalty's strength for all of them, and how it came about.
    n_rows, n_variables : int
        What was learned from.
    n_test : int or None
        Rows held out.
    n_true : int or None
        Edges of the true structure.
    missing : dict of label to str
        Methods without a run, and why.
    interrupted : bool
        Whether Ctrl-C ended it early.
    """

    runs: tuple[MethodRun, ...]
    lam: float
    lam_words: str
    n_rows: int
    n_variables: int
    n_test: int | None
    n_true: int | None
    missing: Mapping[str, str]
    interrupted: bool

    def __getitem__(self, label: str) -> MethodRun:
        return find_run(self.runs, self.missing, label)

    def __repr__(self) -> str:
        return f"Comparison: {', '.join(run.label for run in self.runs)}; lambda {self.lam:.4g}"

    def table(self) -> list[Record]:
        """Return one record a method: what it reached and what it took.

        ``gap`` is how far its objective is above the best of those that minimise the same.
        """
        return [self._record(run) for run in self.runs]

    def rounds(self) -> list[Record]:
        """Return the records of all rounds of all methods, each with its method's label."""
        return [{"method": run.label, **record} for run in self.runs for record in run.rounds]

    def agreements(self) -> tuple[Agreement, ...]:
        """Return how the methods that converged agree, for each different objective."""
        return agreements(self.runs)

    def words(self) -> str:
        """Return the comparison as text: tables, and what they mean."""
        return comparison_words(self)

    def plot(self, path: str | PathLike[str] | None = None) -> Any:
        """Return a figure of everything against clock and counters; write it if a path is given.

        Rows are the objective, the NLPL (held out where there are such rows), the edges and,
        where the truth is known, the recall; columns are seconds, gradient evaluations, blocks
        scored and tables counted. One line a method, over its rounds.

        Returns
        -------
        matplotlib.figure.Figure
        """
        return plot_comparison(self, path)

    def write(self, folder: str | PathLike[str], *, plot: bool = True) -> list[str]:
        """Write everything to a folder, made where there is none; return the files' names.

        ``comparison.csv`` is the table, ``rounds.csv`` every round, ``comparison.txt`` the words,
        ``comparison.json`` certificates and settings too, ``comparison.png`` the figure.
        """
        sizes = {
            "lam_words": self.lam_words,
            "rows": self.n_rows,
            "variables": self.n_variables,
            "held_out_rows": self.n_test,
            "true_edges": self.n_true,
        }
        return write_comparison(self, folder, sizes, plot=plot)

    def _record(self, run: MethodRun) -> Record:
        certificate, last = run.certificate, run.trace[-1]
        record: Record = {
            "method": run.label,
            "objective": certificate.objective,
            "gap": gap_of(run, self.runs),
            "nlpl": run.nlpl,
        }
        if self.n_test is not None:
            record["test_nlpl"] = run.test_nlpl
        record["edges"] = certificate.n_edges
        if run.recovery is not None:
            record |= {name: getattr(run.recovery, name) for name in SHARES}
        return record | {
            "rounds": len(run.trace),
            **{name: getattr(last, name) for name in COUNTERS},
            "converged": certificate.converged,
            "stop": certificate.stop,
        }
