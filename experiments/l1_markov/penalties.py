"""L1, L2 and no penalty: networks learned from few rows, and what they are worth on others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.engine.observers import Snapshots
from experiments.l1_markov.annealing import networks
from graftwork.data import Table
from graftwork.data.encoded import prepare
from graftwork.datasets import Parts, make_bernoulli
from graftwork.estimators import MarkovNetwork
from graftwork.estimators.assemble import to_model
from graftwork.estimators.presets import preset
from graftwork.grafting.trace import Observer, Silence
from graftwork.models import PairwiseMRF
from graftwork.parameters import PenaltyName, gather
from graftwork.report import conditional_logs

#: The same strengths for L1 and L2; each network's own is chosen on validation rows.
GRID = np.geomspace(1.0, 1e-3, 10)
#: With L2 or nothing every pair is an edge: "non-negligible" is a double-centred table with an
#: entry above this. The true tables' entries have standard deviation 0.5.
NEGLIGIBLE = (0.0, 0.05, 0.1, 0.2)
#: How networks are learned with all features at once. Without a penalty few rows are often
#: separable and the optimum is at infinity. Stopped here, the weights stay finite; a smaller
#: tolerance only makes the held-out figures worse.
BATCH = {"method": "full", "tol": 1e-5}
UNPENALISED = {"method": "full", "tol": 1e-3}
#: Rows of a random network: half to learn from and half to validate on; others to test on.
DRAWN: dict[str, Any] = {"n_rows": 2_000, "n_test": 1_000}
#: How L2 is learned as in the paper.
L2_BY_PROPAGATION: dict[str, Any] = {
    "method": "full", "loss": "likelihood", "inference": "bp", "penalty": "l2", "tol": 1e-3,
}  # fmt: skip
#: Lambdas that the method goes through first; all digits are lost in the copies we know.
STAGES = 5
# The path rule is no slope of what belief propagation minimises: a feature may violate, go back to
# zero, and violate again. Runs that are not done after so many rounds, and so many for each
# variable, end there, and say so.
_ROUNDS, _ROUNDS_EACH = 100, 8

PAPER = "paper"


class Held(NamedTuple):
    """One network learned from few rows, on others.

    Attributes
    ----------
    cmll, nlpl : float
        Conditional marginal log-likelihood of a variable, negative log pseudo-likelihood of a row.
    hamming : tuple of int
        Pairs on which it disagrees with the true network, for entries above each of ``NEGLIGIBLE``;
        empty where no truth is known.
    edges : int
    lam : float
    exact : bool
        Whether the CMLL is exact, not by belief propagation.
    """

    cmll: float
    nlpl: float
    hamming: tuple[int, ...]
    edges: int
    lam: float
    exact: bool


def random_parts(
    seed: int, rows: int, n: int = 16, degree: float = 3.0
) -> tuple[Parts, PairwiseMRF]:
    """Return rows of a random network to learn from, to validate on and to test on; and itself.

    Fewer rows are the first of more: networks learned from 50 and from 500 can be compared.
    """
    made = make_bernoulli(n, mean_degree=degree, random_state=seed, **DRAWN)
    if made.test is None:  # for the type checker: rows to test on were asked for
        raise ValueError("there are no rows to test on")
    half = DRAWN["n_rows"] // 2
    valid = made.data[half : half + rows]
    return Parts(made.data[:rows], made.test, valid), made.model


def by_penalty(
    seed: int, rows: int, n: int = 16, degree: float = 3.0, loss: str = "pseudolikelihood"
) -> dict[str, Held]:
    """Learn one random network from ``rows`` rows; lambda by NLPL on as many validation rows."""
    parts, truth = random_parts(seed, rows, n, degree)
    return compare_penalties(parts, truth, loss=loss)


def compare_penalties(
    parts: Parts,
    truth: PairwiseMRF | None = None,
    *,
    loss: str = "pseudolikelihood",
    grid: Iterable[float] = GRID,
    observer: Observer | None = None,
    n_jobs: int | None = 1,
) -> dict[str, Held]:
    """Return what L1, L2 and no penalty are worth, each with its best lambda.

    No penalty has no use for validation rows: "none, 2x rows" learns from them too.
    """
    if parts.valid is None:
        raise ValueError("there are no rows to validate on")
    common = {"loss": loss, "n_jobs": n_jobs, "verbose": observer}
    both = _together(parts.train, parts.valid)
    strengths = list(grid)
    nets = {
        name: _best(parts, [_batch(parts.train, name, lam, common) for lam in strengths])
        for name in ("l1", "l2")
    }
    nets["none"] = _batch(parts.train, "none", 0.0, common)
    nets["none, 2x rows"] = _batch(both, "none", 0.0, common)
    return {name: held(net.model_, net.lam_, parts.test, truth) for name, net in nets.items()}


def by_paper(
    parts: Parts,
    truth: PairwiseMRF | None = None,
    *,
    grid: Sequence[float],
    observer: Observer | None = None,
    n_jobs: int | None = 1,
) -> Held:
    """Return what the paper's own method is worth: annealed once, the best lambda on the way.

    Likelihood by belief propagation, features by gain, the path rule; the network at the end of
    every lambda is a candidate, chosen by the NLPL of validation rows.
    """
    if parts.valid is None:
        raise ValueError("there are no rows to validate on")
    kept = Snapshots(observer or Silence(), lambda record: record.lam)
    settings = annealed_once(parts.train.n_variables, grid)
    for _ in networks(parts.train, settings, n_jobs=n_jobs, verbose=kept):
        pass  # what is kept are the networks on the way
    sample = prepare(parts.train, keep_all_states=False, n_jobs=n_jobs)
    models = {lam: to_model(parts.train, sample, net) for lam, (_, net) in kept.found.items()}
    lam = max(models, key=lambda one: _score(models[one], parts.valid))
    return held(models[lam], lam, parts.test, truth)


def paper_settings(n_variables: int, lam: float, tol: float, **changes: Any) -> dict[str, Any]:
    """Return settings (see `annealing.networks`) that do as the paper did, but for some changes.

    Examples
    --------
    >>> settings = paper_settings(10, 0.1, 1e-4)
    >>> settings["method_options"], settings["anneal"]
    ({'max_iter': 180}, 5)
    """
    limit = {"tol": tol, "random_state": 0, "max_iter": _ROUNDS + _ROUNDS_EACH * n_variables}
    own = {**preset("l1-markov-paper", lam=lam), **limit, "anneal": STAGES, **changes}
    return {"anneal": own.pop("anneal"), **gather(own)}


def annealed_once(n_variables: int, grid: Sequence[float]) -> dict[str, Any]:
    """Return the settings of the paper's own method that passes through all these strengths."""
    way = sorted(grid, reverse=True)
    return paper_settings(n_variables, way[-1], 1e-4, anneal=way[:-1])


def paper_grid(rows: int) -> tuple[float, ...]:
    """Return strengths for the paper's own method, around what chance makes of so many rows.

    The likelihood has each pair once and the pseudo-likelihood twice, so they are about half as
    large as those of ``GRID`` that are chosen. Much smaller ones only keep belief propagation busy.

    Examples
    --------
    >>> [round(lam, 3) for lam in paper_grid(100)]
    [0.16, 0.101, 0.064, 0.04, 0.025, 0.016]
    """
    return tuple(float(lam) for lam in np.geomspace(1.6, 0.16, 6) / np.sqrt(rows))


def l2_by_propagation(
    parts: Parts, grid: Iterable[float], *, observer: Observer | None = None, n_jobs: int | None = 1
) -> Held:
    """Return what L2 is worth with all pairs learned by belief propagation, as in the paper."""
    nets = [
        MarkovNetwork(lam=lam, n_jobs=n_jobs, verbose=observer, **L2_BY_PROPAGATION).fit(
            parts.train
        )
        for lam in grid
    ]
    best = _best(parts, nets)
    return held(best.model_, best.lam_, parts.test)


def chow_liu(
    parts: Parts, *, observer: Observer | None = None, n_jobs: int | None = 1
) -> MarkovNetwork:
    """Return the best tree of the rows to learn from and to validate on: it has no lambda."""
    rows = parts.train if parts.valid is None else _together(parts.train, parts.valid)
    return MarkovNetwork("chow-liu", n_jobs=n_jobs, verbose=observer).fit(rows)


def held(model: PairwiseMRF, lam: float, test: Table, truth: PairwiseMRF | None = None) -> Held:
    """Return what a network is worth on rows it has not seen."""
    cmll, exact = cmll_of(model, test)
    hamming: tuple[int, ...] = ()
    if truth is not None:
        true = {frozenset(edge) for edge in truth.edges}
        layout, weights = model.potentials.layout, model.potentials.weights
        size = {
            frozenset(edge): np.abs(_centred(layout.table(weights, e))).max()
            for e, edge in enumerate(model.edges)
        }
        found = [{edge for edge in size if size[edge] > least} for least in NEGLIGIBLE]
        hamming = tuple(len(true ^ edges) for edges in found)
    return Held(cmll, -_score(model, test), hamming, model.n_edges, float(lam), exact)


def cmll_of(model: PairwiseMRF, test: Table) -> tuple[float, bool]:
    """Return the CMLL of rows, as ``evaluate`` has it, and whether it is exact.

    The likelihood of all variables, which ``evaluate`` adds, would take seconds for dense networks.
    """
    logs = conditional_logs(model, test)
    return float(logs.rows.mean()), logs.exact


def _batch(rows: Table, penalty: PenaltyName, lam: float, common: dict[str, Any]) -> MarkovNetwork:
    """Return the network with all features at once: how it is learned is no part of this."""
    settings: Any = UNPENALISED if penalty == "none" else BATCH
    return MarkovNetwork(penalty=penalty, lam=float(lam), **settings, **common).fit(rows)


def _best(parts: Parts, nets: Sequence[MarkovNetwork]) -> MarkovNetwork:
    return max(nets, key=lambda net: _score(net.model_, parts.valid))


def _score(model: PairwiseMRF, rows: Any) -> float:
    return float(model.log_pseudo_likelihood(rows).mean())


def _together(first: Table, second: Table) -> Table:
    return Table(first.names, first.states, np.concatenate([first.codes, second.codes], axis=1))


def _centred(table: NDArray[np.float64]) -> NDArray[np.float64]:
    away: NDArray[np.float64] = (
        table - table.mean(axis=0) - table.mean(axis=1, keepdims=True) + table.mean()
    )
    return away
