"""Scores of a network: how well it predicts rows, and whether its edges are the true ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graftwork.data import Table, align
from graftwork.errors import TooLargeError
from graftwork.inference.layout import Floats
from graftwork.models import PairwiseMRF
from graftwork.report.conditional import GROUPS, ConditionalLogs, conditional_logs
from graftwork.report.found_edges import EdgeScores, compare_edges, the_model


@dataclass(frozen=True, slots=True)
class Scores:
    """What `evaluate` found; means over rows, by their weights if they have some, in nats.

    Attributes
    ----------
    n_rows, n_variables, n_edges : int
        Of the rows, and of the network.
    nlpl : float
        Negative log pseudo-likelihood of a row: lower is better.
    log_likelihood : float or None
        Exact log-likelihood of a row; None where exact inference does not fit.
    why_no_likelihood : str
        The reason then; empty otherwise.
    cmll : float or None
        Conditional marginal log-likelihood of a variable, given those outside its group; None
        where it was not asked for.
    cmll_exact : bool
        Whether that is exact; otherwise belief propagation was used for some group.
    cmll_groups : int
        Groups of variables, each hidden in turn.
    cmll_unconverged : int
        How often belief propagation did not converge.
    edges : EdgeScores or None
        Against the truth, where it was given.
    """

    n_rows: int
    n_variables: int
    n_edges: int
    nlpl: float
    log_likelihood: float | None = None
    why_no_likelihood: str = ""
    cmll: float | None = None
    cmll_exact: bool = True
    cmll_groups: int = 0
    cmll_unconverged: int = 0
    edges: EdgeScores | None = None

    @property
    def n_true(self) -> int | None:
        """Number of true edges; None without a truth."""
        return self.edges.n_true if self.edges else None

    @property
    def precision(self) -> float | None:
        """Share of the edges found that are true; None without a truth."""
        return self.edges.precision if self.edges else None

    @property
    def recall(self) -> float | None:
        """Share of the true edges that were found; None without a truth."""
        return self.edges.recall if self.edges else None

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall; None without a truth."""
        return self.edges.f1 if self.edges else None

    @property
    def hamming(self) -> int | None:
        """Number of pairs on which network and truth disagree; None without a truth."""
        return self.edges.hamming if self.edges else None

    def words(self) -> str:
        """Return the scores in plain sentences."""
        parts = [
            f"On {self.n_rows:,} row{'s'[: self.n_rows != 1]}, the negative log pseudo-likelihood "
            f"is {self.nlpl:.4f} nats a row ({self.nlpl / self.n_variables:.4f} a variable)."
        ]
        if self.log_likelihood is not None:
            parts.append(f"The exact log-likelihood is {self.log_likelihood:.4f} nats a row.")
        elif self.why_no_likelihood:
            parts.append(f"There is no log-likelihood: {self.why_no_likelihood}")
        if self.cmll is not None:
            parts.append(
                f"The conditional marginal log-likelihood is {self.cmll:.4f} nats a variable "
                f"({self.cmll_groups} group{'s'[: self.cmll_groups != 1]} hidden in turn; "
                f"{cmll_words(self.cmll_exact, self.cmll_unconverged)})."
            )
        return " ".join([*parts, self.edges.words()] if self.edges else parts)

    def to_dict(self) -> dict[str, Any]:
        """Return all scores as plain values, with those of the edges beside the others."""
        out: dict[str, Any] = {
            name: getattr(self, name) for name in self.__slots__ if name != "edges"
        }
        for name in ("n_true", "precision", "recall", "f1", "hamming"):
            out[name] = getattr(self, name)
        return out


def cmll_words(exact: bool, unconverged: int) -> str:
    """Return how far a CMLL can be trusted.

    Examples
    --------
    >>> cmll_words(True, 0), cmll_words(False, 2)
    ('exact', 'approximate, by belief propagation, which did NOT converge 2 times')
    """
    if exact:
        return "exact"
    times = f", which did NOT converge {unconverged:,} time{'s'[: unconverged != 1]}"
    return "approximate, by belief propagation" + (times if unconverged else "")


def evaluate(
    network: Any,
    X: Any,
    truth: Any = None,
    *,
    groups: int | None = GROUPS,
    sample_weight: Any = None,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = 1,
) -> Scores:
    """Return how well a network predicts rows, and how its edges agree with the truth.

    Parameters
    ----------
    network : PairwiseMRF or fitted MarkovNetwork
        What to score.
    X : table
        Rows with the network's variables, best some it has not seen: pandas, polars, Arrow,
        NumPy, lists, dicts, or a ``graftwork.Table``.
    truth : PairwiseMRF, networkx graph, or iterable of pairs of names, optional
        The true edges.
    groups : int or None
        Groups of variables for the conditional marginal log-likelihood; None leaves it out.
    sample_weight : (rows,) array, optional
        Row weights; default those of a weighted Table, else 1.
    random_state : int, Generator or None
        How variables are dealt to groups: None in the order of the columns, variable i to group
        i modulo `groups`.
    n_jobs : int, optional
        Threads; None or -1 for every core. Scores do not depend on it.

    Returns
    -------
    Scores
        ``nlpl``, ``log_likelihood``, ``cmll``; with a truth also ``precision``, ``recall``,
        ``f1`` and ``hamming``.

    Examples
    --------
    >>> alike = [[1.0, 0.0], [0.0, 1.0]]
    >>> model = PairwiseMRF({n: [0, 1] for n in "abc"}, None, {("a", "b"): alike})
    >>> scores = evaluate(model, [[0, 0, 0], [1, 1, 0]], truth=[("a", "b"), ("b", "c")])
    >>> scores.f1, scores.hamming, round(scores.nlpl, 4), round(scores.log_likelihood, 4)
    (0.666..., 1, 1.3197, -1.6996)
    """
    model = the_model(network)
    table = align(X, model.names, tuple(model.states.values()), weights=sample_weight)
    edges = None if truth is None else compare_edges(model, truth)
    rows = score_rows(model, table, groups=groups, random_state=random_state, n_jobs=n_jobs)
    return summarise(rows, model, table, edges)


@dataclass(frozen=True, slots=True, eq=False)
class RowScores:
    """Scores of single rows.

    Attributes
    ----------
    nlpl : (rows,) float64
    log_likelihood : (rows,) float64 or None
    why_no_likelihood : str
        Why exact inference does not fit, where it does not.
    conditional : ConditionalLogs or None
    """

    nlpl: Floats
    log_likelihood: Floats | None
    why_no_likelihood: str
    conditional: ConditionalLogs | None

    def columns(self) -> dict[str, Floats]:
        """Return what there is by name: nlpl, log_likelihood, cmll."""
        out = {"nlpl": self.nlpl}
        if self.log_likelihood is not None:
            out["log_likelihood"] = self.log_likelihood
        if self.conditional is not None:
            out["cmll"] = self.conditional.rows
        return out


def score_rows(
    model: PairwiseMRF,
    table: Table,
    *,
    likelihood: bool = True,
    groups: int | None = GROUPS,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = 1,
) -> RowScores:
    """Return the scores of each row: pseudo-likelihood, and the others where asked for.

    Parameters
    ----------
    model : PairwiseMRF
    table : Table
        With the model's variables and states.
    likelihood : bool
        Whether to try the exact log-likelihood.
    groups, random_state, n_jobs
        As in `evaluate`.

    Examples
    --------
    >>> coin = PairwiseMRF({"coin": [0, 1]})
    >>> rows = score_rows(coin, Table(("coin",), ((0, 1),), [[0, 1]]))
    >>> {name: values.round(4).tolist() for name, values in rows.columns().items()}
    {'nlpl': [0.6931, 0.6931], 'log_likelihood': [-0.6931, -0.6931], 'cmll': [-0.6931, -0.6931]}
    """
    nlpl = -model.log_pseudo_likelihood(table, n_jobs)
    logs, why = None, ""
    if likelihood:
        try:
            logs = model.log_prob(table)
        except TooLargeError as error:
            why = str(error)
    conditional = None
    if groups is not None:
        conditional = conditional_logs(
            model, table, groups=groups, random_state=random_state, n_jobs=n_jobs
        )
    return RowScores(nlpl, logs, why, conditional)


def summarise(
    rows: RowScores, model: PairwiseMRF, table: Table, edges: EdgeScores | None = None
) -> Scores:
    """Return the means of the scores of rows, by the weights of the table.

    Examples
    --------
    >>> coin, table = PairwiseMRF({"coin": [0, 1]}), Table(("coin",), ((0, 1),), [[0, 1]])
    >>> round(summarise(score_rows(coin, table), coin, table).nlpl, 4)
    0.6931
    """
    means = {
        name: float(np.average(values, weights=table.weights))
        for name, values in rows.columns().items()
    }
    dealt = rows.conditional
    return Scores(
        n_rows=table.n_rows,
        n_variables=model.n_variables,
        n_edges=model.n_edges,
        nlpl=means["nlpl"],
        log_likelihood=means.get("log_likelihood"),
        why_no_likelihood=rows.why_no_likelihood,
        cmll=means.get("cmll"),
        cmll_exact=dealt.exact if dealt else True,
        cmll_groups=len(dealt.groups) if dealt else 0,
        cmll_unconverged=dealt.unconverged if dealt else 0,
        edges=edges,
    )
