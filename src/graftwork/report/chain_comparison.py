"""ChainComparison: several methods on the same sequences at the same lambda, as a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

from graftwork.grafting import Certificate, Round
from graftwork.models.chain import ChainModel
from graftwork.report.compare_chains_plot import plot_chains
from graftwork.report.compare_chains_words import chain_words
from graftwork.report.compare_files import write_comparison
from graftwork.report.compare_words import Agreement, agreements
from graftwork.report.comparison import Record, find_run, gap_of

#: What a comparison keeps of a round.
_TOLD = ("evaluations", "seconds", "objective", "loss", "edges", "activated", "pruned")


@dataclass(frozen=True, slots=True, eq=False)
class ChainRun:
    """One method's run, evaluated.

    Attributes
    ----------
    label : str
        What the comparison calls it.
    settings : dict
        The estimator's parameters, as plain values.
    select : int or None
        Features activated a round (the papers' M); None where all are taken at once.
    model : ChainModel
        The chain at the end.
    certificate : Certificate
    trace : tuple of Round
        One at least.
    selected : tuple of int
        For each round, how many different features had been there at the end of a round by then.
    nll : float
        Negative log-likelihood of the training set, in nats: a sum over (weighted) sequences.
    test_error : float or None
        Share of the positions of other sequences with a wrong label.
    """

    label: str
    settings: Mapping[str, Any]
    select: int | None
    model: ChainModel
    certificate: Certificate
    trace: tuple[Round, ...]
    selected: tuple[int, ...]
    nll: float
    test_error: float | None

    @property
    def problem(self) -> tuple[str, ...]:
        """What was minimised: objectives compare only where this is the same."""
        names = ("penalty", "l2", "order", "candidates", "min_count")
        return tuple(f"{name}={self.settings.get(name)}" for name in names)

    @property
    def kept(self) -> frozenset[Any]:
        """The features with a weight, as (attribute, labels before it, label)."""
        records = self.model.records()
        return frozenset(tuple(v for k, v in r.items() if k != "weight") for r in records)

    @property
    def rounds(self) -> tuple[Record, ...]:
        """One record a round: counters, clock, objective, features there and selected so far."""
        return tuple(
            {"round": told.index}
            | {"features" if name == "edges" else name: getattr(told, name) for name in _TOLD}
            | {"selected": count}
            for told, count in zip(self.trace, self.selected, strict=True)
        )


@dataclass(frozen=True, slots=True, eq=False)
class ChainComparison:
    """Several methods on the same sequences at the same lambda: the six criteria of each.

    Attributes
    ----------
    runs : tuple of ChainRun
        In the order asked for.
    lam : float
        The penalty's strength for all of them, on the mean loss of a sequence.
    total_weight : float
        Sum of the weights of the sequences learned from.
    n_sequences, n_positions, n_attributes, n_labels : int
        What was learned from; sequences of weight zero are not.
    n_test : int or None
        Sequences predicted.
    missing : dict of label to str
        Methods without a run, and why.
    interrupted : bool
        Whether Ctrl-C ended it early.
    """

    runs: tuple[ChainRun, ...]
    lam: float
    total_weight: float
    n_sequences: int
    n_positions: int
    n_attributes: int
    n_labels: int
    n_test: int | None
    missing: Mapping[str, str]
    interrupted: bool

    def __getitem__(self, label: str) -> ChainRun:
        return find_run(self.runs, self.missing, label)

    def __repr__(self) -> str:
        labels = ", ".join(run.label for run in self.runs)
        return f"ChainComparison: {labels}; lambda {self.lam:.4g}"

    def table(self) -> list[Record]:
        """Return one record a method, with the six criteria of the Grafting-Light paper.

        ``seconds``, ``nll`` (of the training set), ``test_error`` (with test sequences),
        ``features`` (with a weight in the end), ``selected`` (different features there at the end
        of any round) and ``evaluations`` (of loss and gradient). Beside them ``activations``
        (features that came, as often as they did), ``objective`` and its ``gap`` above the best of
        those that minimise the same, ``rounds``, ``converged`` and ``stop``.
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
        return chain_words(self)

    def plot(self, path: str | PathLike[str] | None = None) -> Any:
        """Return a figure with a panel a criterion; write it if a path is given.

        Where methods were run with several select units, these are across, one line a method;
        otherwise there is a bar a method.

        Returns
        -------
        matplotlib.figure.Figure
        """
        return plot_chains(self, path)

    def write(self, folder: str | PathLike[str], *, plot: bool = True) -> list[str]:
        """Write everything to a folder, made where there is none; return the files' names.

        ``comparison.csv`` is the table, ``rounds.csv`` every round, ``comparison.txt`` the words,
        ``comparison.json`` certificates and settings too, ``comparison.png`` the figure.
        """
        sizes = {
            "sequences": self.n_sequences,
            "positions": self.n_positions,
            "attributes": self.n_attributes,
            "labels": self.n_labels,
            "test_sequences": self.n_test,
        }
        return write_comparison(self, folder, sizes, plot=plot)

    def _record(self, run: ChainRun) -> Record:
        certificate, last = run.certificate, run.trace[-1]
        record: Record = {
            "method": run.label,
            "select": run.select,
            "seconds": last.seconds,
            "nll": run.nll,
        }
        if self.n_test is not None:
            record["test_error"] = run.test_error
        return record | {
            "features": run.model.n_features,
            "selected": run.selected[-1],
            "evaluations": last.evaluations,
            "activations": sum(told.activated for told in run.trace),
            "objective": certificate.objective,
            "gap": gap_of(run, self.runs),
            "rounds": len(run.trace),
            "converged": certificate.converged,
            "stop": certificate.stop,
        }
