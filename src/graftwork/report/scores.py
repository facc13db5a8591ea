"""Scores of a network: how well it predicts rows, and whether its edges are the true ones."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graftwork.data import Table
from graftwork.errors import TooLargeError
from graftwork.estimators import MarkovNetwork
from graftwork.estimators.learned_from import LearnedFrom
from graftwork.estimators.predictability import Predictability, predict_each
from graftwork.inference.layout import Floats
from graftwork.models import PairwiseMRF
from graftwork.models.gaps import ScoredRows
from graftwork.report.conditional import GROUPS, ConditionalLogs, conditional_logs
from graftwork.report.edges import EdgeScores, compare_edges, the_model
from graftwork.selection.folds import count_observations
from graftwork.text import count, verb

#: Added to every count of the independent model, so that a state new in the test rows is possible.
_SMOOTHING = 0.5


@dataclass(frozen=True, slots=True)
class Scores:
    """What `evaluate` found; means over rows, by their weights if they have some, in nats.

    Attributes
    ----------
    n_rows, n_variables, n_edges : int
        Of the rows, and of the network.
    nlpl : float
        Negative log pseudo-likelihood of a row (of its observed cells): lower is better.
    log_likelihood : float or None
        Exact log-likelihood of a row (of its observed cells, missing ones summed out); None where
        exact inference does not fit.
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
    why_no_cmll : str
        Why there is none although it was asked for; empty otherwise.
    n_incomplete, n_left_out : int
        Rows that lack cells: those scored, and those left out.
    cells : float or None
        How many cells of a row are observed, on average.
    edges : EdgeScores or None
        Against the truth, where it was given.

    Examples
    --------
    >>> import graftwork as gw
    >>> made = gw.datasets.make_bernoulli(6, mean_degree=2, n_rows=2000, random_state=0)
    >>> net = gw.MarkovNetwork(lam=0.01).fit(made.data)
    >>> scores = gw.evaluate(net, made.test, truth=made.model)
    >>> scores.n_variables, scores.edges.n_hits <= scores.n_edges
    (6, True)
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
    why_no_cmll: str = ""
    n_incomplete: int = 0
    n_left_out: int = 0
    cells: float | None = None
    edges: EdgeScores | None = None

    @property
    def nlpl_of_a_cell(self) -> float:
        """Negative log pseudo-likelihood of an observed cell."""
        return self.nlpl / (self.n_variables if self.cells is None else self.cells or 1.0)

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
        gaps, each = gap_words(self.n_incomplete, self.n_left_out), cell_word(self.n_incomplete)
        parts = [
            f"On {count(self.n_rows, 'row')}{f' ({gaps})' if gaps else ''}, the "
            f"negative log pseudo-likelihood is {self.nlpl:.4f} nats per row "
            f"({self.nlpl_of_a_cell:.4f} {each})."
        ]
        if self.log_likelihood is not None:
            parts.append(f"The exact log-likelihood is {self.log_likelihood:.4f} nats per row.")
        elif self.why_no_likelihood:
            parts.append(f"There is no log-likelihood: {self.why_no_likelihood}")
        if self.cmll is not None:
            parts.append(
                f"The conditional marginal log-likelihood is {self.cmll:.4f} nats per variable "
                f"({count(self.cmll_groups, 'group')} hidden in turn; "
                f"{cmll_words(self.cmll_exact, self.cmll_unconverged)})."
            )
        elif self.why_no_cmll:
            parts.append(f"There is no conditional marginal log-likelihood: {self.why_no_cmll}")
        return " ".join([*parts, self.edges.words()] if self.edges else parts)

    def to_dict(self) -> dict[str, Any]:
        """Return all scores as plain values, those of the edges among them."""
        out: dict[str, Any] = {
            name: getattr(self, name) for name in self.__slots__ if name != "edges"
        }
        for name in ("n_true", "precision", "recall", "f1", "hamming"):
            out[name] = getattr(self, name)
        return out


def gap_words(n_incomplete: int, n_left_out: int) -> str:
    """Return what was done about rows that lack cells; an empty text if there are none.

    Examples
    --------
    >>> gap_words(12, 0), gap_words(0, 3)
    ('12 lack cells; the observed ones count', 'without 3 that lack cells')
    """
    if n_left_out:
        return f"without {n_left_out:,} that {verb(n_left_out, 'lacks', 'lack')} cells"
    if n_incomplete:
        lack = verb(n_incomplete, "lacks", "lack")
        return f"{n_incomplete:,} {lack} cells; the observed ones count"
    return ""


def cell_word(n_incomplete: int) -> str:
    """Return what a score is divided by: a row's variables, or its observed cells.

    Examples
    --------
    >>> cell_word(0), cell_word(12)
    ('per variable', 'per observed cell')
    """
    return "per observed cell" if n_incomplete else "per variable"


def cmll_words(exact: bool, unconverged: int) -> str:
    """Return how far a CMLL can be trusted.

    Examples
    --------
    >>> cmll_words(True, 0), cmll_words(False, 2)
    ('exact', 'approximate, by belief propagation, which did NOT converge 2 times')
    """
    if exact:
        return "exact"
    times = f", which did NOT converge {count(unconverged, 'time')}"
    return "approximate, by belief propagation" + (times if unconverged else "")


def evaluate(
    network: PairwiseMRF | MarkovNetwork,
    X: Any,
    truth: Any = None,
    *,
    groups: int | None = GROUPS,
    sample_weight: Any = None,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = 1,
    missing: str | None = None,
) -> Scores:
    """Return how well a network predicts rows, and how its edges agree with the truth.

    Parameters
    ----------
    network : PairwiseMRF or fitted MarkovNetwork
        What to score.
    X : table
        Rows with the network's variables, best some it has not seen: pandas, polars, Arrow,
        NumPy, lists, dicts, a ``graftwork.Table`` or a path.
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
    missing : {None, "error", "available-case", "drop-rows"}
        What is done about missing cells, as in `PairwiseMRF.score`; None is what was done in
        learning. The log-likelihood sums them out, and there is no CMLL of rows that lack cells.

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
    rows = model.rows_to_score(X, missing, sample_weight)
    edges = None if truth is None else compare_edges(model, truth)
    scores = score_rows(model, rows, groups=groups, random_state=random_state, n_jobs=n_jobs)
    return summarise(scores, model, rows, edges)


@dataclass(frozen=True, slots=True, eq=False)
class RowScores:
    """Scores of single rows."""

    nlpl: Floats  # (rows,)
    log_likelihood: Floats | None  # (rows,) or None
    why_no_likelihood: str  # why exact inference does not fit, where it does not
    conditional: ConditionalLogs | None
    why_no_cmll: str = ""  # why there is none although it was asked for

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
    rows: ScoredRows,
    *,
    likelihood: bool = True,
    groups: int | None = GROUPS,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = 1,
) -> RowScores:
    """Return the scores of each row: pseudo-likelihood, and the others where asked for.

    Examples
    --------
    >>> coin = PairwiseMRF({"coin": [0, 1]})
    >>> rows = score_rows(coin, coin.rows_to_score([[0], [1]]))
    >>> {name: values.round(4).tolist() for name, values in rows.columns().items()}
    {'nlpl': [0.6931, 0.6931], 'log_likelihood': [-0.6931, -0.6931], 'cmll': [-0.6931, -0.6931]}
    """
    nlpl = -model.log_conditionals(rows, n_jobs)
    logs, why = None, ""
    if likelihood:
        try:
            logs = model.log_probabilities(rows)
        except TooLargeError as error:
            why = str(error)
    conditional, why_not = None, ""
    lacking = int(np.count_nonzero(rows.incomplete))
    if groups is not None and lacking:
        why_not = f"it needs complete rows, and {lacking:,} of {len(nlpl):,} lack cells."
    elif groups is not None:
        table = Table(model.names, tuple(model.states.values()), rows.codes)
        conditional = conditional_logs(
            model, table, groups=groups, random_state=random_state, n_jobs=n_jobs
        )
    return RowScores(nlpl, logs, why, conditional, why_not)


def summarise(
    scores: RowScores, model: PairwiseMRF, rows: ScoredRows, edges: EdgeScores | None = None
) -> Scores:
    """Return the means of the scores of rows, by their weights.

    Examples
    --------
    >>> coin = PairwiseMRF({"coin": [0, 1]})
    >>> rows = coin.rows_to_score([[0], [1]])
    >>> round(summarise(score_rows(coin, rows), coin, rows).nlpl, 4)
    0.6931
    """
    means = {name: rows.mean(values) for name, values in scores.columns().items()}
    dealt = scores.conditional
    return Scores(
        n_rows=len(scores.nlpl),
        n_variables=model.n_variables,
        n_edges=model.n_edges,
        nlpl=means["nlpl"],
        log_likelihood=means.get("log_likelihood"),
        why_no_likelihood=scores.why_no_likelihood,
        cmll=means.get("cmll"),
        cmll_exact=dealt.exact if dealt else True,
        cmll_groups=len(dealt.groups) if dealt else 0,
        cmll_unconverged=dealt.unconverged if dealt else 0,
        why_no_cmll=scores.why_no_cmll,
        n_incomplete=int(np.count_nonzero(rows.incomplete)),
        n_left_out=int(np.count_nonzero(~rows.kept)),
        cells=rows.cells,
        edges=edges,
    )


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Mean negative log pseudo-likelihoods a row, in nats, on held-out rows."""

    # nlpl, independent: of the network, and of the model that knows only how often each state
    # occurs
    nlpl: float
    independent: float
    # n_rows, n_variables: shape of the held-out rows; those with whole weights count as repeated
    n_rows: int
    n_variables: int
    # how many other rows the network was learned from, where the text is to say so
    n_learned: int | None = None
    # how many cells of a held-out row are observed, on average; all of them if not given
    cells: float | None = None
    # how well each variable is predicted from all others
    predictability: Predictability | None = None
    n_edges: int | None = None  # how many edges the network has, where that is known

    @property
    def _cells(self) -> float:
        return self.n_variables if self.cells is None else max(self.cells, 1e-300)

    @property
    def factor(self) -> float:
        """How many times the independent model's probability a cell gets (geometric mean)."""
        return math.exp(min((self.independent - self.nlpl) / self._cells, 700.0))

    def words(self) -> str:
        """Return the comparison in plain sentences."""
        gain = self.independent - self.nlpl
        each = "per variable" if self._cells == self.n_variables else "per observed cell"
        who, whole = "the network", ""
        if self.n_learned is not None:
            who = f"a network learned in the same way from the other {self.n_learned:,}"
            whole = " The network described here is learned from all rows."
        text = (
            f"On {count(self.n_rows, 'row')} held out, {who} has a negative log "
            f"pseudo-likelihood of {self.nlpl:.4f} nats per row ({self.nlpl / self._cells:.4f} "
            f"{each}); without any edge it would be {self.independent:.4f}. "
        )
        if self.n_edges == 0:
            text += "It has no edges, and predicts new rows as independent variables do."
        elif abs(gain) < 5e-5:
            text += "It predicts new rows no better than independent variables do."
        elif gain < 0:
            text += (
                f"That is {-gain:.4f} nats WORSE on new rows than independent variables: it has "
                "learned noise; use a larger lambda or more rows."
            )
        else:
            text += (
                f"Given the rest of a row, it gives a cell's true state {self.factor:.2f} times "
                "the probability that the frequencies of that variable alone would give."
            )
        return text + whole


def held_out(
    network: PairwiseMRF | MarkovNetwork,
    train: Table | LearnedFrom,
    test: Table,
    *,
    apart: bool = False,
) -> HeldOut:
    """Return how a network and the independent model do on held-out rows.

    The independent model gives each state its share of the training rows, with half a row added
    to each state. What missing cells are is as the network was learned.
    """
    model = the_model(network)
    rows = model.rows_to_score(test)
    other = np.zeros(rows.codes.shape[1])
    if isinstance(train, LearnedFrom):
        counted, learned = list(train.counts), train.n_rows
    else:
        counted, learned = train.observed(), count_rows(train.weights, train.n_rows)
    cards = model.potentials.layout.cards.tolist()
    for codes, counts, s in zip(rows.codes, counted, cards, strict=True):
        smooth = counts[:s] + _SMOOTHING
        # one state more than the network has is that of missing cells, which say nothing
        logs = np.append(np.log(smooth / smooth.sum()), 0.0)
        other += logs[codes]
    return HeldOut(
        -rows.mean(model.log_conditionals(rows)),
        -rows.mean(other),
        count_rows(rows.weights, len(other)),
        model.n_variables,
        learned if apart else None,
        rows.cells,
        replace(predict_each(model, rows, counted), sample="held-out"),
        model.n_edges,
    )


def count_rows(weights: Floats | None, n_rows: int) -> int:
    """Return how many rows there are, one of weight 3 being three.

    Examples
    --------
    >>> count_rows(np.array([3.0, 1.0]), 2), count_rows(np.array([0.3, 0.1]), 2)
    (4, 2)
    """
    return n_rows if weights is None else count_observations(weights)
