"""PairwiseMRF: a pairwise Markov network as a value that can be asked, sampled, scored, saved."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from graftwork.data import Table
from graftwork.data.columns import Unseen
from graftwork.data.placing import comes_in_parts
from graftwork.data.scores import Ordered
from graftwork.data.values import generator
from graftwork.errors import DataError
from graftwork.inference.engines import Beliefs, Engine
from graftwork.inference.evidence import Reduced, observe, restore
from graftwork.inference.incomplete import conditional_logits, log_observed_weights
from graftwork.inference.junction import SAMPLE_BLOCK, JunctionTree
from graftwork.inference.layout import Floats, Ints, Potentials
from graftwork.inference.pairs import find_edges
from graftwork.limits import DRAWN
from graftwork.models import answers, edge_sizes
from graftwork.models.couplings import COLUMNS, SCORES, coupling_records
from graftwork.models.engines import Evidence, Inference, draw_rows, infer, most_probable
from graftwork.models.gaps import (
    Gaps,
    ScoredRows,
    check_averages,
    finite_log_conditionals,
    rows_to_score,
)
from graftwork.models.graphs import edge_numbers, graph_of
from graftwork.models.inputs import (
    check_evidence,
    check_states,
    check_table,
    find,
    flatten,
    number,
)
from graftwork.models.observed import Answer, Observed
from graftwork.models.row_marginals import marginals_of_rows
from graftwork.models.scoring_parts import score_parts
from graftwork.notebooks import repr_html
from graftwork.records import as_frame
from graftwork.text import size

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd

    from graftwork.exchange import Exported

#: Blocks of rows in a part of exact draws.
PART_BLOCKS = 16


class PairwiseMRF:
    """A network p(x) proportional to exp(sum of unaries + sum of edge tables), over named states.

    Parameters
    ----------
    states : dict {name: list of states}
        The variables, in the order kept, and the states of each.
    unary : dict {name: log-potentials}, optional
        One number a state; 0 where a variable is not named.
    pairwise : dict {(a, b): table}, optional
        Log-potentials of shape (states of a, states of b); -inf makes a pair of states impossible.
        Where that leaves no joint state at all (or none that agrees with the evidence), every
        question is refused with a `DataError` that says so.

    Examples
    --------
    >>> rain = PairwiseMRF(
    ...     {"rain": ["no", "yes"], "grass": ["dry", "wet"]},
    ...     unary={"rain": [1.0, 0.0]},
    ...     pairwise={("rain", "grass"): [[1.0, 0.0], [0.0, 2.0]]},
    ... )
    >>> rain
    PairwiseMRF: 2 variables, 1 edge
    >>> rain.marginals(evidence={"grass": "wet"})["rain"].round(3)
    array([0.269, 0.731])
    >>> rain.map()
    {'rain': 'no', 'grass': 'dry'}
    """

    __slots__ = ("_gaps", "_index", "_observed", "_potentials", "_scores", "_states")

    def __init__(
        self,
        states: Mapping[Any, Sequence[Any]],
        unary: Mapping[Any, ArrayLike] | None = None,
        pairwise: Mapping[tuple[Any, Any], ArrayLike] | None = None,
    ) -> None:
        self._states = check_states(states)
        layout, weights = flatten(self._states, unary, pairwise)
        self._finish(Potentials(layout, weights), Gaps(), None, None)

    @classmethod
    def from_flat(
        cls,
        names: Sequence[Any],
        states: Sequence[Sequence[Any]],
        potentials: Potentials,
        gaps: Gaps | None = None,
        scores: Mapping[Any, Sequence[float]] | None = None,
        observed: Observed | None = None,
    ) -> PairwiseMRF:
        """Return the network of these names and states with potentials that are flat already.

        ``gaps`` says what missing cells were when it was learned, ``scores`` which variables are
        ordered, ``observed`` what the rows were like.

        Examples
        --------
        >>> from graftwork.inference import Layout
        >>> flat = Potentials(Layout.of([2, 2], [(0, 1)]), np.zeros(8))
        >>> PairwiseMRF.from_flat(["a", "b"], [[0, 1], ["x", "y"]], flat).edges
        [('a', 'b')]
        """
        if len(set(number(names))) != len(names) or len(names) != len(states):
            raise DataError("from_flat needs distinct names, and the states of each.")
        if not isinstance(potentials, Potentials):
            raise DataError(f"potentials are those of a network, not {type(potentials).__name__}.")
        model = cls.__new__(cls)
        model._states = check_states(dict(zip(names, states, strict=True)))
        cards = [len(listed) for listed in model._states.values()]
        if cards != potentials.layout.cards.tolist():
            raise DataError("the state counts of the potentials differ from the states given.")
        weights = check_table(potentials.weights, (potentials.layout.size,), "the flat potentials")
        model._finish(Potentials(potentials.layout, weights), gaps or Gaps(), scores, observed)
        return model

    def _finish(
        self,
        potentials: Potentials,
        gaps: Gaps,
        scores: Mapping[Any, Sequence[float]] | None,
        observed: Observed | None,
    ) -> None:
        potentials.weights.flags.writeable = False
        self._scores = {name: tuple(map(float, own)) for name, own in (scores or {}).items()}
        self._potentials = potentials
        self._gaps = gaps
        self._observed = observed
        self._index = number(self._states)

    _repr_html_ = repr_html

    def __repr__(self) -> str:
        n, m = self.n_variables, self.n_edges
        return f"PairwiseMRF: {n} variable{'s'[: n != 1]}, {m} edge{'s'[: m != 1]}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PairwiseMRF):
            return NotImplemented
        mine, theirs = self._potentials, other._potentials
        # What missing cells were in learning does not change the network.
        return (
            list(self._states.items()) == list(other._states.items())
            and np.array_equal(mine.layout.edges, theirs.layout.edges)
            and np.array_equal(mine.weights, theirs.weights)
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        states = list(self._states.values())
        return PairwiseMRF.from_flat, (
            self.names, states, self._potentials, self._gaps, self._scores, self._observed
        )  # fmt: skip

    def with_weights(self, potentials: Potentials, observed: Observed | None) -> PairwiseMRF:
        """Return the same network with other weights, and what is known of its rows."""
        states = list(self._states.values())
        return PairwiseMRF.from_flat(
            self.names, states, potentials, self._gaps, self._scores, observed
        )

    @property
    def names(self) -> tuple[Any, ...]:
        """Names of the variables, in order."""
        return tuple(self._states)

    @property
    def states(self) -> dict[Any, tuple[Any, ...]]:
        """The states of each variable, {name: tuple}."""
        return dict(self._states)

    @property
    def edges(self) -> list[tuple[Any, Any]]:
        """The edges as pairs of names, in the order of the names."""
        names = self.names
        return [(names[i], names[j]) for i, j in self._potentials.layout.edges]

    @property
    def potentials(self) -> Potentials:
        """The layout and the flat log-potentials (read-only)."""
        return self._potentials

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self._states)

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return self._potentials.layout.n_edges

    @property
    def missing(self) -> str:
        """What missing cells were when it was learned: the estimator's ``missing``.

        `score`, `log_prob` and `log_pseudo_likelihood` treat rows accordingly by default.
        """
        return self._gaps.policy

    @property
    def gaps(self) -> Gaps:
        """What missing cells were when it was learned, with what scores need of that."""
        return self._gaps

    @property
    def scores(self) -> dict[Any, tuple[float, ...]]:
        """The scores of the states of each ordered variable, {name: one a state}.

        NaN for states that no row had.
        """
        return dict(self._scores)

    @property
    def observed(self) -> Observed | None:
        """Counts of the rows it was learned from, and how far it is from them; None if unknown."""
        return self._observed

    def frequencies(self, evidence: Evidence = None) -> dict[Any, Floats]:
        """Return how often states occur in the rows that the network was learned from.

        Without evidence, or in the rows with the one state that is given: what to hold `marginals`
        against. Variables of which it is not known are left out: all with more evidence, where the
        table of two variables was too large to keep, and in networks that were not learned.

        Examples
        --------
        >>> import graftwork as gw
        >>> rows = [["sun", "dry"], ["rain", "wet"], ["rain", "dry"]] * 50
        >>> model = gw.MarkovNetwork().fit(rows).model_
        >>> model.frequencies({"x0": "rain"})["x1"]
        array([0.5, 0.5])
        """
        codes: Ints = check_evidence(evidence, self._states, self._index)
        if self._observed is None:
            return {}
        found = self._observed.frequencies(self._potentials.layout, codes)
        return {
            name: shares
            for name, shares in zip(self.names, found, strict=True)
            if shares is not None
        }

    def pair_frequencies(self, a: Hashable, b: Hashable) -> Floats | None:
        """Return how often the states of two variables occur together in the rows.

        What to hold `pair_marginal` against; None where it is not known, as in `frequencies`.

        Examples
        --------
        >>> import graftwork as gw
        >>> rows = [["sun", "dry"], ["rain", "wet"], ["rain", "dry"], ["rain", "dry"]] * 50
        >>> gw.MarkovNetwork().fit(rows).model_.pair_frequencies("x0", "x1")
        array([[0.5 , 0.25],
               [0.25, 0.  ]])
        """
        i, j = self._find(a), self._find(b)
        if i == j:
            raise DataError(f"a pair needs two different variables, not {a!r} twice.")
        return (
            None if self._observed is None else self._observed.pair(self._potentials.layout, i, j)
        )

    def refit(self, l2: float | None = None) -> PairwiseMRF:
        """Return the network of the same edges with all weights fitted by the likelihood.

        The counts that a learned network keeps are enough for that. Tables of ordered variables
        that are linear stay linear. Answers to questions are then closer still to the rows, of
        pairs with an edge above all; one variable given all others is predicted worse.

        Parameters
        ----------
        l2 : float, optional
            Ridge on the entries of tables (on the mean loss of a row). Default: that of a standard
            normal prior on every entry.

        Raises
        ------
        TooLargeError
            If exact inference takes too long to be repeated hundreds of times.
        DataError
            If the network was not learned from rows.

        Examples
        --------
        >>> import graftwork as gw
        >>> rows = [["sun", "dry"], ["rain", "wet"], ["rain", "dry"]] * 50
        >>> model = gw.MarkovNetwork().fit(rows).model_.refit()
        >>> model.observed.fitted, model.edges
        ('likelihood', [('x0', 'x1')])
        """
        from graftwork.models.refitting import refitted

        return refitted(self, l2)

    def unary(self, name: Hashable) -> Floats:
        """Return the log-potentials of a variable, shape (states,)."""
        i = self._find(name)
        return self._potentials.layout.unary(self._potentials.weights, i).copy()

    def table(self, a: Hashable, b: Hashable) -> Floats:
        """Return the log-potentials of an edge, shape (states of a, states of b)."""
        edge = self._edge(a, b)
        table = self._potentials.layout.table(self._potentials.weights, edge)
        return (table if self._find(a) < self._find(b) else table.T).copy()

    def strength(self, a: Hashable, b: Hashable) -> float:
        """Return how closely an edge alone ties its two variables: from 0 (not at all) to 1.

        The edge alone is the distribution of the pair that has the odds ratios of its table and
        each variable's own frequencies: those of the rows it was learned from, even ones where the
        network was not learned. Between binary or ordered variables the strength is the correlation
        ratio there, which is the size of `correlation` where the relation is straight; for other
        pairs it is the correlation at which two normal variables have as much mutual information.

        Examples
        --------
        >>> model = PairwiseMRF({"a": [0, 1], "b": [0, 1]}, None, {("a", "b"): [[1, 0], [0, 1]]})
        >>> round(model.strength("a", "b"), 3)
        0.462
        """
        return float(self._of_joints(edge_sizes.strength, [self._edge(a, b)])[0])

    @property
    def strengths(self) -> Floats:
        """The `strength` of each edge, in the order of ``edges``."""
        return self._of_joints(edge_sizes.strength)

    def correlation(self, a: Hashable, b: Hashable) -> float:
        """Return the correlation that an edge alone gives its two variables, from -1 to 1.

        It is that of their scores (0 and 1 for two states) in the distribution that `strength` is
        about; NaN where a variable has more than two states without an order.

        Examples
        --------
        >>> unlike = {("a", "b"): [[0, 1], [1, 0]]}
        >>> round(PairwiseMRF({"a": [0, 1], "b": [0, 1]}, None, unlike).correlation("a", "b"), 3)
        -0.462
        """
        return float(self._of_joints(edge_sizes.correlation, [self._edge(a, b)])[0])

    @property
    def correlations(self) -> Floats:
        """The `correlation` of each edge, in the order of ``edges``."""
        return self._of_joints(edge_sizes.correlation)

    def couplings(
        self, score: Literal["norm", "apc"] = "norm"
    ) -> pd.DataFrame | list[dict[str, Any]]:
        """Return the size of every pair's coupling, the largest first: edges, and pairs without.

        Parameters
        ----------
        score : {"norm", "apc"}
            What they are ordered by: the norm of the table less its row and column means, 0 without
            an edge, or the norm after the average product correction. Contacts of proteins are read
            off the latter: it takes away what a variable has in common with all its pairs.

        Returns
        -------
        DataFrame, or list of dict without pandas
            ``first``, ``second``, ``norm`` and ``apc`` of each pair.

        Examples
        --------
        >>> tables = {("a", "b"): [[3, 0], [0, 3]], ("b", "c"): [[1, 0], [0, 1]]}
        >>> model = PairwiseMRF({name: [0, 1] for name in "abc"}, None, tables)
        >>> model.couplings("apc")["apc"].tolist()
        [0.75, 0.25, -0.5625]
        """
        return as_frame(coupling_records(self.names, self._potentials, score), COLUMNS, SCORES)

    def weight(self, a: Hashable, b: Hashable) -> float:
        """Return the signed weight of an edge; NaN where a variable has states without an order.

        The weight is the theta of theta * x * y, the part of the table along the scores x and y of
        both variables: by how much the log odds of one step of the one rise with one step of the
        other. Of two states the scores are 0 and 1, so that of two binary variables it is the log
        odds ratio. `linear_share` says how much of the table it is.

        Examples
        --------
        >>> model = PairwiseMRF({"a": [0, 1], "b": [0, 1]}, None, {("a", "b"): [[1, 0], [0, 1]]})
        >>> model.weight("a", "b")
        2.0
        """
        return float(self._of_tables(edge_sizes.weight, [self._edge(a, b)])[0])

    @property
    def weights(self) -> Floats:
        """The signed `weight` of each edge, in the order of ``edges``."""
        return self._of_tables(edge_sizes.weight)

    @property
    def score_norms(self) -> Floats:
        """The norm of the table of a weight of 1, of each edge, in the order of ``edges``."""
        return self._of_tables(edge_sizes.score_norm)

    def linear_share(self, a: Hashable, b: Hashable) -> float:
        """Return how much of an edge between ordered variables is linear: 1 for all of it.

        The share of the table's squares that lies along the scores: of both variables, or of the
        one that is ordered where the other is not. 1 is what its `weight` tells, less means that
        the relation bends (high at both ends, say). NaN where no variable of more than two states
        has an order.

        Examples
        --------
        >>> bent = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
        >>> plain = PairwiseMRF({"mood": ["low", "mid", "high"], "ill": [0, 1]}, None,
        ...                     {("mood", "ill"): bent})
        >>> ordered = PairwiseMRF.from_flat(
        ...     plain.names, [*plain.states.values()], plain.potentials, scores={"mood": [0, 1, 2]}
        ... )
        >>> plain.linear_share("mood", "ill"), ordered.linear_share("mood", "ill")
        (nan, 0.0)
        """
        return float(self._of_tables(edge_sizes.linear_share, [self._edge(a, b)])[0])

    @property
    def linear_shares(self) -> Floats:
        """The `linear_share` of each edge, in the order of ``edges``."""
        return self._of_tables(edge_sizes.linear_share)

    def _of_joints(
        self, measure: Callable[..., float], edges: Sequence[int] | None = None
    ) -> Floats:
        """Return a measure of each edge's joint and its variables' scores."""
        chosen = np.arange(self.n_edges) if edges is None else np.array(edges)
        found = edge_sizes.joints(self._potentials, self._frequencies(), chosen)
        scores = [self._scores_of(name) for name in self._states]
        ends = self._potentials.layout.edges[chosen].tolist()
        each = [measure(q, scores[i], scores[j]) for q, (i, j) in zip(found, ends, strict=True)]
        return np.array(each, dtype=np.float64)

    def _of_tables(
        self, measure: Callable[..., float], edges: Sequence[int] | None = None
    ) -> Floats:
        """Return a measure of each edge's table, its variables' scores and their frequencies."""
        layout, weights = self._potentials.layout, self._potentials.weights
        scores, p = [self._scores_of(name) for name in self._states], self._frequencies()
        ends, found = layout.edges.tolist(), []
        for e in range(layout.n_edges) if edges is None else edges:
            i, j = ends[e]
            found.append(measure(layout.table(weights, e), scores[i], scores[j], p[i], p[j]))
        return np.array(found, dtype=np.float64)

    def _frequencies(self) -> list[Floats]:
        """Return the frequencies of each variable's states in the rows; even ones without rows."""
        if self._gaps.frequencies:
            return list(self._gaps.frequencies)
        placed = []
        for name, listed in self._states.items():
            scores = self._scores_of(name)
            there = np.ones(len(listed)) if scores is None else (~np.isnan(scores)).astype(float)
            placed.append(there / there.sum())
        return placed

    def _scores_of(self, name: Hashable) -> Floats | None:
        """Return the scores of a variable's states; None if it has no order."""
        own = self._scores.get(name)
        if own is None and len(self._states[name]) == 2:
            own = (0.0, 1.0)
        return None if own is None else np.array(own)

    def log_partition(self, evidence: Evidence = None, inference: Inference = "exact") -> float:
        """Return log Z, or the log of the sum over all joint states that agree with the evidence.

        "exact" refuses what is too large, "auto" then warns and draws joint states or, in very
        large networks, uses "bp" (loopy belief propagation); "trw" (tree-reweighted belief
        propagation) is an upper bound.

        Examples
        --------
        >>> round(PairwiseMRF({"a": [0, 1], "b": [0, 1, 2]}).log_partition(), 4)
        1.7918
        """
        reduced, _, beliefs = self._infer(evidence, inference)
        return reduced.constant + beliefs.log_partition

    def marginals(
        self, evidence: Evidence = None, inference: Inference = "auto"
    ) -> dict[Any, Floats]:
        """Return the probabilities of the states of every variable, given the evidence.

        Observed variables are included, with all mass on the state observed. "auto" is exact where
        a junction tree fits; beyond, it warns and draws joint states; networks of more than a
        thousand variables are answered by loopy belief propagation where that converges. "exact",
        "bp" (loopy belief propagation) and "trw" (tree-reweighted) ask for one engine.
        """
        return self.answer(evidence, inference).marginals

    def answer(self, evidence: Evidence = None, inference: Inference = "auto") -> Answer:
        """Return the `marginals`, and how they were found.

        Where a junction tree does not fit, "auto" draws joint states: the answer then has a
        standard error.

        Examples
        --------
        >>> answer = PairwiseMRF({"a": [0, 1]}).answer()
        >>> answer.marginals["a"], answer.how
        (array([0.5, 0.5]), 'exact')
        """
        reduced, _, beliefs = self._infer(evidence, inference)
        layout = self._potentials.layout
        values = restore(reduced, layout, beliefs.values)
        found = {name: layout.unary(values, i).copy() for i, name in enumerate(self._states)}
        return Answer(found, beliefs.exact, beliefs.converged, beliefs.noise)

    def marginals_batch(self, X: Any, device: str | None = None) -> dict[Any, Floats]:
        """Return the marginals given what each row has, by belief propagation.

        Cells that are missing are free; the others are evidence. Exact where the network has no
        loops, an approximation elsewhere: see `marginals` for one set of evidence, exactly.

        Parameters
        ----------
        X : table
            Rows with the network's variables, as in `predict`.
        device : {None, "cpu", "cuda"}
            "cuda" asks for all rows at once on a graphics card (PyTorch and Triton are needed);
            otherwise they are asked for one after the other.

        Returns
        -------
        dict {name: array of shape (rows, states)}

        Warns
        -----
        ConvergenceWarning
            If messages of some rows did not settle.

        Examples
        --------
        >>> model = PairwiseMRF({"a": [0, 1], "b": [0, 1]}, None, {("a", "b"): [[1, 0], [0, 1]]})
        >>> model.marginals_batch([[0, None], [None, None]])["b"].round(3)
        array([[0.731, 0.269],
               [0.5  , 0.5  ]])
        """
        return marginals_of_rows(self, X, device)

    def pair_marginal(
        self, a: Hashable, b: Hashable, evidence: Evidence = None, inference: Inference = "auto"
    ) -> Floats:
        """Return the joint probabilities of any two variables, shape (states of a, states of b).

        "auto" is exact where a junction tree fits; beyond, it warns and answers as `marginals`
        does. "exact", "bp" and "trw" (tree-reweighted) ask for one engine.
        """
        i, j = self._pair(a, b)
        reduced, engine, beliefs = self._infer(evidence, inference)
        layout = self._potentials.layout
        if reduced.codes[i] >= 0 or reduced.codes[j] >= 0:
            values = restore(reduced, layout, beliefs.values)
            return np.outer(layout.unary(values, i), layout.unary(values, j))
        pair = np.searchsorted(reduced.free, [(i, j)])
        flat, _ = engine.pair_marginals(reduced.potentials, beliefs, pair)
        return flat.reshape(layout.cards[i], layout.cards[j])

    def map(
        self, evidence: Evidence = None, inference: Literal["auto", "exact"] = "auto"
    ) -> dict[Any, Any]:
        """Return the most probable joint state given the evidence, {name: state}.

        Exact where a junction tree fits. Beyond, "auto" warns and returns the best of many Gibbs
        draws, each climbed to where no single variable can improve it; "exact" refuses.
        """
        reduced = self._observe(evidence)
        if inference not in ("auto", "exact"):
            raise DataError(f'inference is {inference!r}; use "auto" or "exact" for map.')
        full = reduced.codes.copy()
        full[reduced.free] = most_probable(reduced, inference, evidence)
        return {name: listed[full[i]] for i, (name, listed) in enumerate(self._states.items())}

    def sample(
        self,
        n: int,
        evidence: Evidence = None,
        random_state: int | np.random.Generator | None = None,
        method: Literal["auto", "exact", "gibbs"] = "auto",
        n_jobs: int | None = 1,
        device: str | None = None,
    ) -> Table:
        """Return ``n`` rows drawn given the evidence.

        "exact" draws independent rows, "gibbs" runs Markov chains, "auto" is exact where that
        fits in memory. The same `random_state` gives the same rows whatever `n_jobs`. With
        ``device="cuda"`` (and "gibbs") chains run on a graphics card, one for each row up to
        65,536: other rows than those of the processor, from the same distribution.

        Examples
        --------
        >>> coin = PairwiseMRF({"coin": ["head", "tail"]}, {"coin": [0.0, -np.inf]})
        >>> coin.sample(2, random_state=0)["coin"].tolist()
        ['head', 'head']
        """
        if not (isinstance(method, str) and method in ("auto", "exact", "gibbs")):
            raise DataError(f'method is {method!r}; use "auto", "exact" or "gibbs".')
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
            raise DataError(f"the number of rows to sample is {n!r}; use an integer of at least 1.")
        held = 2 * self.n_variables * int(n)
        DRAWN.check(held, f"{n:,} rows take {size(held)}", "draw fewer rows at a time")
        rng = generator(random_state)
        reduced = self._observe(evidence)
        codes = np.empty((self.n_variables, int(n)), dtype=np.uint16)
        codes[:] = np.maximum(reduced.codes, 0)[:, None]
        codes[reduced.free] = draw_rows(reduced, int(n), rng, method, evidence, n_jobs, device)
        return Table(self.names, tuple(self._states.values()), codes, ordered=self.order)

    @property
    def order(self) -> Ordered:
        """Which variables are ordered, as tables keep it: those with `scores`, and no others."""
        known = {
            name: {
                state: score
                for state, score in zip(self._states[name], own, strict=True)
                if not np.isnan(score)
            }
            for name, own in self._scores.items()
        }
        return Ordered(known, taken=())

    def sample_parts(
        self,
        n: int,
        evidence: Evidence = None,
        random_state: int | np.random.Generator | None = None,
        method: Literal["auto", "exact", "gibbs"] = "auto",
    ) -> Iterator[Table]:
        """Yield the rows of `sample` in parts: many tables where draws are exact, else one.

        Examples
        --------
        >>> coin = PairwiseMRF({"coin": ["head", "tail"]})
        >>> [part.n_rows for part in coin.sample_parts(2_000_000, random_state=0)]
        [1048576, 951424]
        """
        rng = generator(random_state)
        exact = method == "exact" or (
            method == "auto" and JunctionTree().fits(self._observe(evidence).potentials.layout)
        )
        # A multiple of what is drawn at once, so that parts are the rows of one call.
        rows = PART_BLOCKS * SAMPLE_BLOCK if exact else n
        for start in range(0, n, rows):
            yield self.sample(min(rows, n - start), evidence, rng, method)

    def log_prob(
        self, X: Any, inference: Inference = "exact", missing: str | None = None
    ) -> Floats:
        """Return the log-probability of each row, shape (rows,); with "trw" a lower bound.

        Of a row that lacks cells it is that of its observed cells, the missing ones summed out
        exactly; ``missing`` is as in `score`.
        """
        rows = self.rows_to_score(X, missing)
        return rows.spread(self.log_probabilities(rows, inference))

    def log_pseudo_likelihood(
        self, X: Any, n_jobs: int | None = 1, missing: str | None = None
    ) -> Floats:
        """Return the sum over variables of log p(x_i | the others) of each row, shape (rows,).

        Rows that lack cells are treated as in `score`; those left out have NaN.

        Examples
        --------
        >>> PairwiseMRF({"a": [0, 1]}).log_pseudo_likelihood([[0], [1]]).round(4)
        array([-0.6931, -0.6931])
        """
        rows = self.rows_to_score(X, missing)
        return rows.spread(self.log_conditionals(rows, n_jobs))

    def score(
        self,
        X: Any,
        sample_weight: ArrayLike | None = None,
        *,
        missing: str | None = None,
        unseen: Unseen = "error",
        n_jobs: int | None = 1,
    ) -> float:
        """Return the mean log pseudo-likelihood of a row, in nats (higher is better).

        Parameters
        ----------
        X : table
            Rows with the network's variables: a frame, an array, lists, dicts, a Table or a path.
        sample_weight : (rows,) array, optional
            Row weights; default those of a weighted Table, else 1.
        missing : {None, "error", "available-case", "drop-rows"}
            What is done about missing cells that are no state of the network. None: as when it was
            learned ("impute" becomes "available-case", and all but that and "drop-rows" refuse).
            With "available-case" a row has the log conditionals of its observed cells, and a
            missing neighbour counts as its average, by the frequencies of its states in the rows
            learned from; where the network does not have these (it was made by hand, or learned
            with another ``missing``), by its marginals. With "drop-rows" rows that lack cells are
            left out, with a warning.
        unseen : {"error", "ignore"}
            What is done about cells in states that the network does not have: refused, or taken as
            missing (which then are not refused). Rows in memory only.
        n_jobs : int, optional
            Threads; None or -1 for every core. The score does not depend on it.

        Examples
        --------
        >>> coins = PairwiseMRF({"a": [0, 1], "b": [0, 1]})
        >>> round(coins.score([[0, 1], [1, None]], missing="available-case"), 4)
        -1.0397
        >>> round(coins.score([[0, 1], [1, 7]], unseen="ignore"), 4)
        -1.0397
        """
        if comes_in_parts(X):
            if unseen != "error":
                raise DataError(
                    f"unseen={unseen!r} is for rows in memory; declare the states of all rows "
                    "(states=) when the network is learned."
                )
            return score_parts(self, X, sample_weight, missing, n_jobs)
        rows = self.rows_to_score(X, missing, sample_weight, unseen=unseen)
        return rows.mean(self.log_conditionals(rows, n_jobs))

    def predict(
        self, X: Any, target: Any = None, *, unseen: Unseen = "error", owner: str = "model"
    ) -> Any:
        """Return the most probable state of a variable in each row, given its other cells.

        Where all neighbours of the variable are known these are its conditionals; missing cells are
        summed out, exactly where that is affordable. Where it is not, a warning says for how many
        rows loopy belief propagation was used.

        Parameters
        ----------
        X : table
            Rows with the network's variables: a frame, an array, lists, dicts, a Table or a path.
            The variable itself is not looked at, and its column may be left out.
        target : hashable, optional
            The variable; default the last one.
        unseen : {"error", "ignore"}
            What is done about cells in states that the network does not have: refuse them, or take
            them as missing.
        owner : str
            Who asks, for errors.

        Returns
        -------
        series, array or list
            A series of pandas (with the index of X) or polars for their frames, a list for lists
            and dicts, an array otherwise. Of equally probable states it is the first.

        Examples
        --------
        >>> model = PairwiseMRF({"a": [0, 1], "b": [0, 1]}, None, {("a", "b"): [[1, 0], [0, 1]]})
        >>> model.predict({"a": [0, 1]}, "b")
        [0, 1]
        """
        return answers.predict(self, X, self._target(target), unseen, owner)

    def predict_proba(
        self, X: Any, target: Any = None, *, unseen: Unseen = "error", owner: str = "model"
    ) -> Any:
        """Return the probabilities of a variable's states in each row, given its other cells.

        As `predict`; the columns are the states in their order, without that of missing cells. A
        frame for a frame, lists for lists and dicts, an array otherwise.

        Examples
        --------
        >>> model = PairwiseMRF({"a": [0, 1], "b": [0, 1]}, None, {("a", "b"): [[1, 0], [0, 1]]})
        >>> model.predict_proba(np.array([[0, 0], [1, 0]]), "b").round(3)
        array([[0.731, 0.269],
               [0.269, 0.731]])
        """
        return answers.predict_proba(self, X, self._target(target), unseen, owner)

    def impute(
        self,
        X: Any,
        *,
        draw: bool = False,
        random_state: int | np.random.Generator | None = None,
        unseen: Unseen = "error",
        owner: str = "model",
    ) -> Any:
        """Return a copy of rows with their missing cells filled.

        A row's missing cells get the states that are the most probable ones together, given its
        other cells: exactly where that is affordable, and a warning says for how many rows it was
        not. Columns that are not the network's stay as they are; numbers in bins come back as bins
        where some of them are filled.

        Parameters
        ----------
        X : table
            As in `predict`, with all variables.
        draw : bool
            Whether to draw states by their probabilities, in place of the most probable ones.
        random_state : int, Generator or None
            Seed of the draws.
        unseen : {"error", "ignore"}
            As in `predict`; such cells stay as they are, and tell nothing about others.

        Returns
        -------
        table
            A container like X; a Table for a Table, a path and frames of other libraries than
            pandas and polars.

        Examples
        --------
        >>> model = PairwiseMRF({"a": [0, 1], "b": [0, 1]}, None, {("a", "b"): [[1, 0], [0, 1]]})
        >>> model.impute([[0, None], [None, 1]])
        [[0, 0], [1, 1]]
        """
        return answers.impute(self, X, draw, random_state, unseen, owner)

    def _target(self, target: Any) -> Any:
        """Return the variable to predict: the last one unless one is named."""
        return self.names[-1] if target is None else self.names[self._find(target)]

    def rows_to_score(
        self,
        X: Any,
        missing: str | None = None,
        weights: ArrayLike | None = None,
        owner: str = "model",
        unseen: Unseen = "error",
    ) -> ScoredRows:
        """Return rows in the codes of this network; missing and unseen are as in `score`."""
        states, how = list(self._states.values()), self.scoring(missing)
        return rows_to_score(
            X, self.names, states, how, weights=weights, unseen=unseen, owner=owner
        )

    def scoring(self, missing: str | None = None) -> str:
        """Return what `score` does about missing cells: "error", "available-case", "drop-rows"."""
        return self._gaps.scoring(missing)

    def log_conditionals(self, rows: ScoredRows, n_jobs: int | None = 1) -> Floats:
        """Return the log pseudo-likelihood of rows in the codes of this network."""
        _check_scored(rows)
        return finite_log_conditionals(self._potentials, rows, self._missing_as(rows), n_jobs)

    def conditional_logits(self, rows: ScoredRows) -> Iterator[tuple[int, Ints, Floats]]:
        """Yield log p(x_i | the others), up to a constant, of rows in the codes of this network.

        For each variable, in blocks of rows: its number, the rows where it is observed, and an
        array of shape (states, these rows).
        """
        found = conditional_logits(self._potentials, rows.codes, self._missing_as(rows))
        for i, at, logits in found:
            check_averages(logits.max(axis=0))
            yield i, at, logits

    def _missing_as(self, rows: ScoredRows) -> Sequence[Floats]:
        """Return the frequencies that a missing neighbour counts by; none where none is missing."""
        if not rows.incomplete.any():
            return ()
        return self._gaps.frequencies or list(self.marginals().values())

    def log_probabilities(self, rows: ScoredRows, inference: Inference = "exact") -> Floats:
        """Return the log-probability of the observed cells of rows in the codes of this network."""
        _check_scored(rows)
        normaliser = self.log_partition(inference=inference)  # refused first, if it is too large
        return log_observed_weights(self._potentials, rows.codes) - normaliser

    def to_networkx(self) -> nx.Graph:
        """Return the graph: nodes with their ``states`` (a list in JSON), edges with ``strength``.

        And the signed ``weight`` and ``correlation`` of those that have them.

        Texts and numbers only, so that networkx can write it in every format: GraphML, GEXF, GML,
        JSON. `unary` and `table` return the log-potentials.

        Examples
        --------
        >>> model = PairwiseMRF({"a": [0, 1], "b": [0, 1]}, None, {("a", "b"): [[1, 0], [0, 1]]})
        >>> graph = model.to_networkx()
        >>> graph.nodes["a"]["states"], round(graph.edges["a", "b"]["strength"], 3)
        ('[0, 1]', 0.462)
        """
        return graph_of(self, edge_numbers(self))

    def export(
        self,
        path: str | os.PathLike[str],
        format: str | None = None,
        *,
        info: Mapping[str, Any] | None = None,
    ) -> Exported:
        """Write the network in a format of other programs; return what was written and lost.

        Parameters
        ----------
        path : path-like
            The file; its suffix says the format unless ``format`` does.
        format : str, optional
            One of ``gw.exchange.FORMATS``: graphml, gexf, cytoscape, csv, uai, ...
        info : mapping, optional
            How the network was learned: p-values and others, where the format holds them.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "net.uai")
        >>> PairwiseMRF({"a": ["no", "yes"]}).export(path).beside
        ('net.uai.names.json',)
        """
        from graftwork.exchange import export

        return export(self, path, format, info=info)

    def explore(
        self,
        path: str | os.PathLike[str],
        *,
        groups: Mapping[Any, Any] | None = None,
        title: str | None = None,
    ) -> Path:
        """Write a page to look at the network in a browser, and return where it is.

        One HTML file that needs nothing else: picture, table of the edges, pair tables, marginals,
        "what if". A fitted `MarkovNetwork` has p- and q-values in it, too: see its ``explore``.

        Parameters
        ----------
        path : path-like
            Where to write it, such as "net.html".
        groups : mapping of variable to group, optional
            Groups of your own to colour variables by; communities are always there.
        title : str, optional
            The page's title.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> model = PairwiseMRF({"a": [0, 1], "b": [0, 1]}, None, {("a", "b"): [[1, 0], [0, 1]]})
        >>> model.explore(pathlib.Path(tempfile.mkdtemp(), "net.html")).name
        'net.html'
        """
        from graftwork.report.explorer import explore

        return explore(self, path, groups=groups, title=title)

    def save(self, path: str | os.PathLike[str], info: Mapping[str, Any] | None = None) -> None:
        """Write the network to a file (see `graftwork.models.files`), with a dict of information.

        The file is complete or the old one stays; `graftwork.load` reads it back bit for bit.
        """
        from graftwork.models.files import save_network

        save_network(path, self, info)

    def _find(self, name: Hashable) -> int:
        return find(name, self.names, self._index)

    def _pair(self, a: Hashable, b: Hashable) -> tuple[int, int]:
        i, j = self._find(a), self._find(b)
        if i == j:
            raise DataError(f"a pair needs two different variables, not {a!r} twice.")
        return i, j

    def _edge(self, a: Hashable, b: Hashable) -> int:
        """Return the number of an edge, in the order of ``edges``."""
        edge = int(find_edges(self._potentials.layout, np.array([self._pair(a, b)]))[0])
        if edge < 0:
            raise DataError(f"there is no edge between {a!r} and {b!r}.")
        return edge

    def _observe(self, evidence: Evidence) -> Reduced:
        codes: Ints = check_evidence(evidence, self._states, self._index)
        return observe(self._potentials, codes)

    def _infer(self, evidence: Evidence, inference: Inference) -> tuple[Reduced, Engine, Beliefs]:
        reduced = self._observe(evidence)
        return reduced, *infer(reduced, inference, evidence)


def _check_scored(rows: Any) -> None:
    """Refuse rows that are not yet in the codes of a network."""
    if not isinstance(rows, ScoredRows):
        raise DataError(
            f"rows are {type(rows).__name__}, not in the codes of this network; log_prob and "
            "log_pseudo_likelihood take tables."
        )
