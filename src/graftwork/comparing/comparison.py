"""Comparison: runs of several methods on the same data, as a table of metrics."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from graftwork.data.atomic import replacing_together
from graftwork.grafting import Certificate, Round
from graftwork.report.describe import certificate_text
from graftwork.report.trace import plain, write_records, write_text

Record = dict[str, Any]

#: Objectives this close, relative to their size, or within ten tolerances, count as the same.
_SAME = 1e-6


@dataclass(frozen=True, slots=True)
class Metric:
    """A column of a comparison.

    Attributes
    ----------
    name, title : str
        In tables and files; in the text.
    table : str
        Heading of the text's table that shows it; empty if none does.
    format : str
        Format specification of its values.
    meaning, unit : str
        What it is, where the title is not enough, and what it is measured in.
    better : {"lower", "higher", ""}
        Which values are better, if any.
    drawn : bool
        Whether figures show it.

    Examples
    --------
    >>> Metric("nll", "NLL", meaning="negative log-likelihood", unit="nats").label
    'NLL (nats)'
    """

    name: str
    title: str
    table: str = ""
    format: str = ","
    meaning: str = ""
    unit: str = ""
    better: Literal["lower", "higher", ""] = ""
    drawn: bool = False

    @property
    def label(self) -> str:
        """What an axis of a figure is called."""
        return f"{self.title} ({self.unit})" if self.unit else self.title


REACHED, TRUE, COST = "Results", "Agreement with the truth", "Cost"

_CLOCK = (
    "from the first evaluation to the last check, without preparing data, compiling and evaluating"
)
OBJECTIVE = Metric("objective", "objective", REACHED, ",.6f", better="lower")
GAP = Metric(
    "gap", "above best", REACHED, ".1e", "difference to the best objective of the same kind",
    better="lower",
)  # fmt: skip
ROUNDS = Metric("rounds", "rounds", COST)
SECONDS = Metric("seconds", "seconds", COST, ",.2f", _CLOCK, better="lower", drawn=True)
EVALUATIONS = Metric(
    "evaluations", "evaluations", COST, ",", "of loss and gradient", better="lower", drawn=True
)


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One method's run, evaluated; ``run["seconds"]`` is one of its metrics.

    Attributes
    ----------
    label : str
        What the comparison calls it.
    settings : dict
        The estimator's parameters, as plain values.
    problem : tuple of str
        What was minimised: objectives can be compared only where this is the same.
    model : PairwiseMRF or ChainModel
        At the end.
    certificate : Certificate
    trace : tuple of Round
        One at least; the last one includes the cost of the last check.
    rounds : tuple of dict
        One record per round: counters, clock, and metrics; None in rounds not evaluated.
    metrics : dict
        The values of the comparison's metrics.
    kept : function
        Returns the edges, or the features, that the model has.
    """

    label: str
    settings: Mapping[str, Any]
    problem: tuple[str, ...]
    model: Any
    certificate: Certificate
    trace: tuple[Round, ...]
    rounds: tuple[Record, ...]
    metrics: Mapping[str, Any]
    kept: Callable[[], frozenset[Any]]

    def __getitem__(self, metric: str) -> Any:
        return self.metrics[metric]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Whether the converged runs that minimise the same objective have found the same.

    Attributes
    ----------
    labels : tuple of str
        The runs that converged.
    problem : tuple of str
        What they minimise.
    spread : float
        Largest difference of their objectives, relative to the smallest.
    shared, disputed : int
        Edges (or features) that all of them have, and those that only some have.
    same : bool
        Whether the objectives differ by no more than the requested accuracy allows.
    """

    labels: tuple[str, ...]
    problem: tuple[str, ...]
    spread: float
    shared: int
    disputed: int
    same: bool

    @classmethod
    def of(cls, runs: Sequence[Run]) -> Agreement:
        """Return how runs of one problem agree."""
        objectives = [run.certificate.objective for run in runs]
        low, high = min(objectives), max(objectives)
        spread = (high - low) / max(abs(low), 1e-300) if high > low else 0.0
        kept = [run.kept() for run in runs]
        shared = len(frozenset.intersection(*kept))
        disputed = len(frozenset.union(*kept)) - shared
        allowed = max(_SAME, 10.0 * max(run.certificate.tolerance for run in runs))
        labels = tuple(run.label for run in runs)
        return cls(labels, runs[0].problem, spread, shared, disputed, spread <= allowed)


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Several methods on the same data at the same lambda: one row per run, metrics as columns.

    Attributes
    ----------
    runs : tuple of Run
        In the order asked for.
    metrics : tuple of Metric
        The columns.
    lam, lam_words : float, str
        The penalty's strength for all runs, and where it comes from.
    sizes : dict of str to int or None
        What was learned from and tested on: numbers of rows, variables, sequences, ...
    missing : dict of label to str
        Methods without a run, and why.
    interrupted : bool
        Whether Ctrl-C ended it early.
    remarks : tuple of str
        What else should be known about the numbers.
    noun : str
        What a model consists of: "edge" or "feature".
    parameter : Metric or None
        The column of a setting in which runs of one method may differ.
    """

    runs: tuple[Run, ...]
    metrics: tuple[Metric, ...]
    lam: float
    lam_words: str
    sizes: Mapping[str, int | None]
    missing: Mapping[str, str]
    interrupted: bool
    remarks: tuple[str, ...] = ()
    noun: str = "edge"
    parameter: Metric | None = None

    def __getitem__(self, label: str) -> Run:
        for run in self.runs:
            if run.label == label:
                return run
        why = self.missing.get(label) or f"there are {', '.join(run.label for run in self.runs)}"
        raise KeyError(f"no run of {label!r}: {why}")

    def __repr__(self) -> str:
        return f"Comparison: {', '.join(run.label for run in self.runs)}; lambda {self.lam:.4g}"

    def table(self) -> list[Record]:
        """Return one record per run: its label, the metrics, and how it ended.

        ``gap`` is how far its objective is above the lowest of the runs that minimise the same.
        """
        return [self._record(run) for run in self.runs]

    def rounds(self) -> list[Record]:
        """Return the records of all rounds of all runs, each with its run's label."""
        return [{"method": run.label, **record} for run in self.runs for record in run.rounds]

    def agreements(self) -> tuple[Agreement, ...]:
        """Return how the runs that converged agree, for each different objective."""
        groups: dict[tuple[str, ...], list[Run]] = {}
        for run in self.runs:
            if run.certificate.converged:
                groups.setdefault(run.problem, []).append(run)
        return tuple(Agreement.of(runs) for runs in groups.values())

    def words(self) -> str:
        """Return the comparison as text: tables, and what they mean."""
        from graftwork.comparing.text import comparison_text

        return comparison_text(self)

    def plot(
        self,
        path: str | PathLike[str] | None = None,
        *,
        by: Literal["rounds", "runs"] | None = None,
    ) -> Any:
        """Return a figure of the metrics; write it if a path is given.

        Parameters
        ----------
        path : path-like, optional
            Where to write it; the ending names the format (png, pdf, svg).
        by : {"rounds", "runs"}, optional
            "rounds" draws metrics against the clock and the counters, one line per run; "runs"
            one panel per metric at the end of the runs, with lines over `parameter` where runs
            differ in it, else bars. Default: "rounds" for networks, "runs" for chains.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        DataError
            If the ending of the path is not a format that matplotlib writes.
        """
        from graftwork.comparing.plot import plot_comparison

        return plot_comparison(self, path, by or ("runs" if self.parameter else "rounds"))

    def write(self, folder: str | PathLike[str], *, plot: bool = True) -> list[str]:
        """Write everything to a folder, made where there is none; return the files' names.

        ``comparison.csv`` is the table, ``rounds.csv`` every round, ``comparison.txt`` the text,
        ``comparison.json`` certificates and settings too, ``comparison.png`` the figure.
        """
        Path(folder).mkdir(parents=True, exist_ok=True)
        with replacing_together(folder, ["comparison.png"]) as out:
            write_records(out / "comparison.csv", self.table())
            write_records(out / "rounds.csv", self.rounds())
            write_text(out / "comparison.txt", self.words())
            text = json.dumps(self.to_dict(), indent=2, allow_nan=False, ensure_ascii=False)
            write_text(out / "comparison.json", text + "\n")
            written = ["comparison.csv", "rounds.csv", "comparison.txt", "comparison.json"]
        if plot:
            self.plot(Path(folder) / "comparison.png")
            written.append("comparison.png")
        return written

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the rounds as plain values."""
        told = ("title", "meaning", "unit", "better")
        return {
            "lam": self.lam,
            "lam_words": self.lam_words,
            **self.sizes,
            "interrupted": self.interrupted,
            "missing": dict(self.missing),
            "agreements": [plain(asdict(agreement)) for agreement in self.agreements()],
            "metrics": {m.name: {name: getattr(m, name) for name in told} for m in self.metrics},
            "methods": [
                {**plain(record), **_details(run)}
                for record, run in zip(self.table(), self.runs, strict=True)
            ],
        }

    def _record(self, run: Run) -> Record:
        rivals = (r.certificate.objective for r in self.runs if r.problem == run.problem)
        values = {**run.metrics, "gap": run.certificate.objective - min(rivals)}
        columns = self.metrics if self.parameter is None else (self.parameter, *self.metrics)
        return {
            "method": run.label,
            **{metric.name: values[metric.name] for metric in columns},
            "converged": run.certificate.converged,
            "stop": run.certificate.stop,
        }


def _details(run: Run) -> Record:
    certificate = {**run.certificate.to_dict(), "words": certificate_text(run.certificate)}
    return {"settings": plain(run.settings), "certificate": plain(certificate)}
