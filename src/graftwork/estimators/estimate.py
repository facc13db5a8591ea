"""What learning would cost: sizes by arithmetic, time by measuring a small piece of the work."""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graftwork.data import Table
from graftwork.data.compact import Sample
from graftwork.estimators.checks import loop_options, quickest
from graftwork.estimators.cost import CostEstimate, amount, size
from graftwork.estimators.course import arriving_variables
from graftwork.estimators.criteria import make_criterion
from graftwork.estimators.data_notes import data_notes
from graftwork.estimators.estimate_rows import ExpectedRows, expected_rows
from graftwork.estimators.parts import make_objective, make_penalty
from graftwork.estimators.starts import make_start
from graftwork.grafting import Everything, Exhaustive, PriorityQueue, Recipe, WorkingSet
from graftwork.grafting.everything import MOST_ENTRIES
from graftwork.grafting.space import BATCH, MOST_LISTED, PairSpace
from graftwork.inference import Automatic, JunctionTree
from graftwork.inference.elimination import Cost, estimate
from graftwork.kernels.counts import MOST_BITSET_CELLS
from graftwork.kernels.threads import count_threads
from graftwork.objectives import Likelihood, Objective, PseudoLikelihood
from graftwork.tuning.effort import (
    Effort,
    effort_of_choice,
    effort_of_fit,
    effort_of_structure,
    predicts,
)
from graftwork.tuning.operations import bytes_of_tests, newton_sizes, of_structure, sizes_in_tests
from graftwork.tuning.proxy import Proxy, guess_network
from graftwork.tuning.timing import measure_pace

__all__ = ["CostEstimate", "estimate_cost"]

# Vectors of all weights that a solver keeps.
SOLVER_VECTORS = 30
# Arrays of a scoring batch's tables: two sums, counts, frequencies, gradients.
BATCH_ARRAYS = 5
# Edges of a network without sparsity that are looked at.
MOST_EDGES = 5000
# The solver is timed with this lambda where there is none.
SMALL_LAMBDA = 1e-3
# Networks that predict best have a lambda of about this share of the noise level.
PREDICTING = 0.3


def estimate_cost(net: Any, X: Any, sample_weight: Any = None) -> CostEstimate:
    """Return what ``net.fit(X, sample_weight=sample_weight)`` would cost; data are refused alike.

    Parameters
    ----------
    net : MarkovNetwork
        It is not changed.
    """
    twin = copy.copy(net)
    if isinstance(net.random_state, np.random.RandomState | np.random.Generator):
        twin.random_state = 0  # nothing is drawn from the user's
    options = loop_options(twin)
    begun = time.perf_counter()
    rows = expected_rows(net, X, sample_weight)
    preparing = time.perf_counter() - begun
    table, sample = rows.table, rows.sample
    if net.start is not None:
        make_start(net.start, table, sample)
    arriving_variables(net.arrivals, table.names)
    objective = make_objective(net.loss, net.inference, net.pair_rule, net.n_jobs)
    recipe = quickest(net, options["recipe"], table.n_variables)
    return _Plan(net, recipe, rows, table, sample, objective(sample)).cost(preparing)


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """A fit that is not done: its settings and its data."""

    net: Any
    recipe: Recipe
    expected: ExpectedRows
    table: Table
    sample: Sample
    objective: Objective

    def cost(self, preparing: float) -> CostEstimate:
        """Return the estimate; ``preparing`` the data took so many seconds."""
        net, sample, cards = self.net, self.sample, self.sample.cards
        proxy = self._guess()
        edges = min(self._pairs(), proxy.n_edges)
        network = estimate(proxy.part.cards, proxy.edges)
        refusals = self._refusals(network)
        seconds = None if refusals else preparing + self._seconds(proxy, edges)
        weights = int(cards.sum()) + round(edges * self._mean_entries(proxy))
        return CostEstimate(
            method=self.recipe.name,
            loss=net.loss,
            rows=int(sample.counts.codes.shape[1]),
            merged_rows=sample.n_rows,
            total_weight=sample.total_weight,
            variables=len(cards),
            constant=int((cards < 2).sum()),
            states=(int(cards.min()), int(cards.max())),
            pairs=self._pairs(),
            entries=self._entries(),
            weights=self._entries() + int(cards.sum()),
            expected_edges=edges,
            expected_weights=weights,
            lam=self._lam(proxy),
            memory=self._memory(weights, network),
            seconds=seconds,
            threads=count_threads(net.n_jobs),
            treewidth=network.width,
            clique_cells=network.largest_clique_cells,
            inference_bytes=network.bytes,
            inference_words=self._inference_words(network, len(proxy.edges), proxy.variables > 1),
            missing_words=self.expected.words,
            partial=proxy.variables > 1,
            refusals=refusals,
            notes=data_notes(self.table, sample, weights),
        )

    def _guess(self) -> Proxy:
        """Return a guess of the network: at the given lambda, at the noise level, or of a size."""
        net = self.net
        penalty = make_penalty(net.penalty, 1.0, 0.0, False)
        lam = None if isinstance(net.lam, str) else float(net.lam)
        most = None if net.max_edges is None else int(net.max_edges)
        if self.recipe.sized:
            lam, most = 0.0, len(self.sample.cards) - 1 if most is None else most
        elif self._dense():
            lam = None
        if lam is not None and net.loss == "likelihood":
            lam *= 2.0
        share = PREDICTING if self._searches() and predicts(make_criterion(net)) else 1.0
        rng = np.random.default_rng(0)
        proxy = guess_network(self.sample, penalty, lam, most, share=share, rng=rng)
        return self._complete(proxy) if self._dense() else proxy

    def _dense(self) -> bool:
        """Return whether nothing keeps the network sparse."""
        return not self.recipe.sized and self.net.penalty in ("l2", "none")

    def _complete(self, proxy: Proxy) -> Proxy:
        """Return the guess with every edge there may be, as far as they can be listed here."""
        most = self._pairs() if self.net.max_edges is None else int(self.net.max_edges)
        space = PairSpace(np.flatnonzero(proxy.part.cards > 1))
        edges = space.pairs(np.arange(min(space.size, MOST_EDGES, most)))
        return replace(proxy, edges=edges, n_edges=min(most, self._pairs()))

    def _lam(self, proxy: Proxy) -> float:
        if self.recipe.sized or self._dense():
            return 0.0 if isinstance(self.net.lam, str) else float(self.net.lam)
        return proxy.lam / (2.0 if self.net.loss == "likelihood" else 1.0)

    def _pairs(self) -> int:
        n = int((self.sample.cards > 1).sum())
        return n * (n - 1) // 2

    def _entries(self) -> int:
        cards = self.sample.cards[self.sample.cards > 1]
        return int(cards.sum() ** 2 - (cards**2).sum()) // 2

    def _mean_entries(self, proxy: Proxy) -> float:
        """Return the entries of an expected edge's table."""
        if len(proxy.edges):
            return float(proxy.part.cards[proxy.edges].prod(axis=1).mean())
        return self._entries() / max(1, self._pairs())

    def _seconds(self, proxy: Proxy, edges: int) -> float:
        """Return about how long learning takes."""
        net, pairs = self.net, self._pairs()
        objective = make_objective(net.loss, net.inference, net.pair_rule, net.n_jobs)
        pace = measure_pace(self.sample, proxy, objective, max(self._lam(proxy), SMALL_LAMBDA))
        vary = int((self.sample.cards > 1).sum())
        single = self.recipe.features and net.penalty != "group-l1"
        cells = 0.5 * self._mean_entries(proxy) if single else 1.0
        effort = effort_of_fit(self.recipe, edges, pairs, vary, cells)
        if self._searches():
            effort = self._effort_of_search(proxy, edges)
        seconds = self.expected.networks * pace.seconds(effort)
        return seconds if net.max_seconds is None else min(seconds, float(net.max_seconds))

    def _searches(self) -> bool:
        """Return whether lambda or the edges are searched for."""
        return (
            isinstance(self.net.lam, str) and not self.recipe.sized and self.net.penalty != "none"
        )

    def _tests(self) -> bool:
        """Return whether edges are tested."""
        return self._searches() and make_criterion(self.net) is None

    def _effort_of_search(self, proxy: Proxy, edges: int) -> Effort:
        """Return how much work lam="auto" is."""
        sample, pairs, criterion = self.sample, self._pairs(), make_criterion(self.net)
        if criterion is not None:
            return effort_of_choice(criterion, edges, pairs, sample.total_weight)
        times, listed = edges / max(1, len(proxy.edges)), proxy.edges
        operations = of_structure(sample, sizes_in_tests(sample), proxy.part, listed, times)
        newton = newton_sizes(proxy.part, listed) is not None
        return effort_of_structure(edges, pairs, operations, newton=newton)

    def _memory(self, weights: int, network: Cost) -> dict[str, int]:
        """Return the bytes of what is held at once."""
        sample, pairs, entries = self.sample, self._pairs(), self._entries()
        counts, cards = sample.counts, sample.cards
        codes = self.table.codes.nbytes + counts.codes.nbytes
        if sample.codes is not counts.codes:
            codes += sample.codes.nbytes
        bits = 0
        small = cards[cards > 1] - 1
        if counts.weights is None and len(small) > 1:
            low = np.sort(small)[:2]
            if low.prod() <= MOST_BITSET_CELLS:
                bits = int((cards - 1).sum()) * -(-counts.codes.shape[1] // 64) * 8
        batch = BATCH_ARRAYS * 8 * round(min(BATCH, pairs) * entries / max(1, pairs))
        held = {
            "codes": codes,
            "bitsets": bits,
            "kept counts": 8 * min(entries, 2**25),
            "tables of a scoring batch": batch,
            "solver": SOLVER_VECTORS * 8 * weights,
            "list of pairs": self._listed(pairs),
        }
        if self._tests():
            held["tests"] = bytes_of_tests(sizes_in_tests(sample), cards, sample.n_rows)
        if isinstance(self.objective, PseudoLikelihood):
            conditionals = 8 * sample.n_rows * int(small.sum())
            held["conditionals"] = min(conditionals, self.objective.memory)
        elif network.total_cells <= self._limit_cells():
            held["junction tree"] = network.bytes
        return held

    def _listed(self, pairs: int) -> int:
        """Return the bytes of what the method keeps for every pair."""
        if self._lists():
            return 8 * pairs
        return (
            pairs if isinstance(self.recipe.selector, Exhaustive | Everything | WorkingSet) else 0
        )

    def _lists(self) -> bool:
        return isinstance(self.recipe.selector, PriorityQueue) or self.recipe.exchange is not None

    def _limit_cells(self) -> int:
        """Return how many cells exact inference may take; -1 where it is not used."""
        engine = self.objective.engine if isinstance(self.objective, Likelihood) else None
        if isinstance(engine, Automatic):
            return engine.exact.limit_cells
        return engine.limit_cells if isinstance(engine, JunctionTree) else -1

    def _refusals(self, network: Cost) -> tuple[str, ...]:
        """Return why learning would be refused."""
        found, pairs, entries = [], self._pairs(), self._entries()
        if self._lists() and pairs > MOST_LISTED:
            found.append(
                f"{self.recipe.name} keeps a list of all {pairs:,} pairs, which is too many; use "
                'method="best-choice", which never lists them.'
            )
        room = self.net.max_edges is None or self.net.max_edges >= pairs
        everything = isinstance(self.recipe.selector, Everything) and room
        if everything and entries > MOST_ENTRIES:
            found.append(
                f"{self.recipe.name} holds all {entries:,} weights at once, which is too many; use "
                'method="best-choice", which starts with none.'
            )
        engine = self.objective.engine if isinstance(self.objective, Likelihood) else None
        if isinstance(engine, JunctionTree) and network.total_cells > engine.limit_cells:
            found.append(
                f"Exact inference in a network like the expected one needs {size(network.bytes)} "
                f"(treewidth {network.width}), over its limit of {size(8 * engine.limit_cells)}; "
                'use inference="auto" or "bp", a larger lambda or fewer max_edges.'
            )
        return tuple(found)

    def _inference_words(self, network: Cost, edges: int, partial: bool) -> str:
        """Return what exact inference needs, and when it is needed."""
        least = "at least " if partial else ""
        needs = (
            f"In a network like the expected one (a tree and the strongest pairs, "
            f"{amount(edges, 'edge')}) exact inference has treewidth {least}{network.width} and "
            f"tables of {least}{size(network.bytes)}"
        )
        fits = network.total_cells <= JunctionTree().limit_cells
        if not isinstance(self.objective, Likelihood):
            then = "answers are exact" if fits else "answers are approximate, or refused"
            return f"Learning needs none. {needs}, for questions afterwards: {then}."
        engine = self.objective.engine
        if isinstance(engine, Automatic):
            small = network.total_cells <= engine.exact.limit_cells
            return f"{needs}; learning {'is exact' if small else 'uses belief propagation'}."
        if isinstance(engine, JunctionTree):
            small = network.total_cells <= engine.limit_cells
            return f"{needs}; learning {'is exact' if small else 'would be refused'}."
        return f"{needs}; learning uses {engine.describe()}, which does not need that."
