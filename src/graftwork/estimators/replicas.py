"""The same learning on many resamples of the rows: MarkovNetwork.bootstrap."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np

from graftwork.data import Table
from graftwork.data.values import suggestion
from graftwork.errors import DataError, ParameterError
from graftwork.estimators.bootstrap import SHARES, Bootstrap
from graftwork.estimators.edges import shown_weights
from graftwork.estimators.fit import Fit, fit
from graftwork.estimators.pool import run_pool
from graftwork.estimators.resampling import Units, seeds_for
from graftwork.estimators.spec import FitSpec
from graftwork.finished import Finished
from graftwork.grafting.trace import Observer, Silence
from graftwork.inference.layout import Floats, Ints
from graftwork.models import PairwiseMRF
from graftwork.models.communities import (
    RUNS,
    RUNS_OF_RESAMPLES,
    find_communities,
    relabelled,
)
from graftwork.models.graphs import centralities
from graftwork.parameters import number
from graftwork.significance import DrawnFrom

# Of a resample's strength so much is left at least, squared, when what noise added is taken off.
LEAST_SHARE = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class Replica:
    """What is kept of the network of one resample."""

    edges: Ints
    # strengths, correlations, weights: correlations and weights are signed (see `PairwiseMRF`)
    strengths: Floats
    correlations: Floats
    weights: Floats
    centrality: Floats
    # refits, weight_refits: strengths and weights of the reference network's edges, fitted to the
    # resample
    refits: Floats | None = None
    weight_refits: Floats | None = None
    unconverged: bool = False  # whether its weights were not solved, or have no finite optimum

    @staticmethod
    def of(model: PairwiseMRF, names: Sequence[Any]) -> Replica:
        """Return what is kept of a model, its variables numbered as the names are."""
        edges, strengths, correlations, weights = _edges_of(model, names)
        central = centralities(len(names), edges, strengths, correlations)
        return Replica(edges, strengths, correlations, weights, central)


def _edges_of(model: PairwiseMRF, names: Sequence[Any]) -> tuple[Ints, Floats, Floats, Floats]:
    """Return a model's edges, its variables numbered as the names are, and their sizes."""
    place = {name: i for i, name in enumerate(names)}
    listed = [sorted((place[a], place[b])) for a, b in model.edges]
    edges = np.array(listed, dtype=np.int64).reshape(-1, 2)
    return edges, model.strengths, model.correlations, model.weights


def bootstrap_fit(
    spec: FitSpec,
    fitted: Fit,
    table: Table,
    n: int,
    *,
    shares: tuple[float, ...],
    refit_lam: bool,
    seed: Any,
    jobs: int,
    observer: Observer,
    folder: str | PathLike[str] | None = None,
) -> tuple[Bootstrap | None, bool]:
    """Learn again from resamples of a table; return what was found, and whether interrupted."""
    _check_names(fitted.data.names, table.names)
    spec = replace(spec, states=None)
    if fitted.evidence is not None:  # the network of tested edges predicts best
        spec = replace(spec, criterion=None)
    model = fitted.model
    if spec.lam is None and not refit_lam and fitted.choice.lam > 0:
        spec = replace(spec, lam=fitted.choice.lam)
        model = fit(replace(spec, n_jobs=jobs, observer=Silence()), table).model
    reference = Replica.of(model, table.names)
    drawn_from = _drawn_from(spec, fitted, table.names)
    resamples, subsets = seeds_for(seed, n, n if shares else 0)
    spec = replace(spec, observer=Silence())
    resampling = Resampling(
        spec, Units.of(table), resamples, subsets, shares, drawn_from, reference, model
    )
    # In turns, so that an interrupt leaves some of both.
    numbers = sorted(range(resampling.count), key=lambda k: k % n)
    finished = Finished.within(
        folder, Replica, replace(spec, seed=None, n_jobs=None, observer=None),  # type: ignore[arg-type]
        resampling.units, resamples, subsets, shares, reference.edges,
    )  # fmt: skip
    stage = "resamples and subsets" if shares else "resamples"
    done, interrupted = run_pool(resampling, numbers, jobs, observer, stage, finished)
    if not done:
        return None, interrupted
    found = _gather(table.names, reference, done, n, shares)
    if drawn_from is not None:
        found = _with_tests(found, fitted)
    return replace(found, model=model), interrupted


def _with_tests(found: Bootstrap, fitted: Fit) -> Bootstrap:
    """Return a bootstrap with what tests say of the network's edges."""
    evidence, names = fitted.evidence, fitted.data.names
    assert evidence is not None
    place = {name: i for i, name in enumerate(found.names)}
    at = {pair: k for k, pair in enumerate(map(tuple, found.pairs.tolist()))}
    listed = [sorted((place[names[i]], place[names[j]])) for i, j in evidence.edges.pairs.tolist()]
    places = [at[i, j] for i, j in listed]
    p, q, limits = np.full(len(at), np.nan), np.full(len(at), np.nan), np.zeros(len(at))
    p[places], q[places] = np.exp(evidence.edges.log_p), np.exp(evidence.edge_log_q)
    limits[places] = np.nan_to_num(shown_weights(fitted.model, names, evidence).limits)
    return replace(found, tested=True, p_values=p, q_values=q, limits=limits)


def _check_names(learned: Sequence[Any], given: Sequence[Any]) -> None:
    """Refuse rows of other columns than the network was learned from; return None.

    Examples
    --------
    >>> _check_names(("a", "b"), ("b", "a"))
    """
    absent = [name for name in learned if name not in set(given)]
    new = [name for name in given if name not in set(learned)]
    if absent:
        found = f"the data lack {absent[0]!r}{suggestion(absent[0], new) or '.'}"
    elif new:
        found = f"{new[0]!r} is none of them."
    else:
        return
    raise DataError(
        f"this network was learned from other columns: {found} Pass the rows it was learned from, "
        "or bootstrap a network that is not fitted yet (sklearn.base.clone(net) is one)."
    )


def check_shares(case_dropping: Any, n: int) -> tuple[float, ...]:
    """Return the shares of rows to drop, ascending; none if there is to be no dropping.

    Fewer subsets than shares are spread over small and large ones.
    """
    if isinstance(case_dropping, bool | np.bool_):
        case_dropping = SHARES if case_dropping else ()
    try:
        shares = sorted({number("case_dropping", x, 0.0, above=True) for x in case_dropping})
    except TypeError:
        shares = [1.0]
    if any(share >= 1 for share in shares):
        raise ParameterError(
            "case_dropping must be True, False or shares of rows to drop between 0 and 1, such as "
            f"(0.1, 0.25, 0.5); got {case_dropping!r}."
        )
    places = np.linspace(0, len(shares) - 1, min(n, len(shares)))
    return tuple(shares[place] for place in places.round().astype(int).tolist())


def _drawn_from(spec: FitSpec, fitted: Fit, names: Sequence[Any]) -> DrawnFrom | None:
    """Return what tests said of the sample, if tests choose the edges of resamples too."""
    tested = spec.lam is None and spec.criterion is None and fitted.refitted
    if not tested or fitted.evidence is None:
        return None
    place = {name: i for i, name in enumerate(names)}
    learned = np.array([place[name] for name in fitted.data.names])
    return DrawnFrom.of(fitted.evidence, learned)


@dataclass(frozen=True, slots=True, eq=False)
class Resampling:
    """What resamples and subsets are learned with; ``learn`` learns one of them, by number."""

    spec: FitSpec
    units: Units  # what is drawn
    # resamples, subsets: their seeds; subsets have the numbers after the resamples
    resamples: list[np.random.SeedSequence]
    subsets: list[np.random.SeedSequence]
    shares: tuple[float, ...]  # shares of rows to drop, for the subsets in turn
    drawn_from: DrawnFrom | None
    reference: Replica  # the network to compare with
    near: PairwiseMRF  # the network from which searches begin

    @property
    def count(self) -> int:
        """How many resamples and subsets there are."""
        return len(self.resamples) + len(self.subsets)

    def learn(self, number: int, observer: Observer) -> Replica:
        """Return what is kept of a resample's or subset's network."""
        subset = number - len(self.resamples)
        dropped = None if subset < 0 else self.shares[subset % len(self.shares)]
        rng = np.random.default_rng([*self.resamples, *self.subsets][number])
        drawn = self.units.draw(rng, dropped)
        own = replace(self.spec, n_jobs=1, seed=int(rng.integers(2**31)), observer=observer)
        drawn_from = self.drawn_from if dropped is None else None
        found = fit(own, drawn, drawn_from=drawn_from, near=self.near, calibrated=False)
        if found.interrupted:
            raise KeyboardInterrupt
        unconverged = found.unsolved or found.unbounded
        if found.given is None:
            return replace(Replica.of(found.model, drawn.names), unconverged=unconverged)
        edges, strengths, _, weights = _edges_of(found.given, drawn.names)
        place = {pair: k for k, pair in enumerate(map(tuple, edges.tolist()))}
        listed = np.array([place[i, j] for i, j in self.reference.edges.tolist()], dtype=np.int64)
        # How central its variables are depends on strengths that are not known yet: see `_centred`.
        central = np.zeros_like(self.reference.centrality)
        own_edges = _edges_of(found.model, drawn.names)
        return Replica(*own_edges, central, strengths[listed], weights[listed], unconverged)


def _centred(reference: Replica, resamples: list[Replica], n_variables: int) -> list[Replica]:
    """Return the resamples with strengths less what resampling adds to them on average.

    A strength has no sign, and so noise makes it larger. How much is known of the reference
    network's edges, which were fitted in every resample.
    """
    refits = [each.refits for each in resamples if each.refits is not None]
    if not refits:
        return resamples
    added = np.mean(np.square(refits), axis=0) - reference.strengths**2
    known = {(i, j): added[k] for k, (i, j) in enumerate(reference.edges.tolist())}

    def centred(each: Replica) -> Replica:
        less = np.array([known.get((i, j), 0.0) for i, j in each.edges.tolist()])
        squares = each.strengths**2
        strengths = np.sqrt(np.maximum(squares - less, LEAST_SHARE * squares))
        centrality = centralities(n_variables, each.edges, strengths, each.correlations)
        return replace(each, strengths=strengths, centrality=centrality)

    return [centred(each) for each in resamples]


def _gather(
    names: tuple[Any, ...],
    reference: Replica,
    done: dict[int, Replica],
    n: int,
    shares: tuple[float, ...],
) -> Bootstrap:
    """Return the resamples and subsets together, in the order of their numbers."""
    resamples = _centred(reference, [done[k] for k in sorted(done) if k < n], len(names))
    subsets = [(shares[(k - n) % len(shares)], done[k]) for k in sorted(done) if k >= n]
    listed = np.concatenate([each.edges for each in (reference, *resamples)])
    codes = np.unique(listed[:, 0] * len(names) + listed[:, 1])

    def spread(edges: Ints, values: Floats | None) -> Floats:
        out = np.full(len(codes), np.nan)
        if values is not None:
            out[np.searchsorted(codes, edges[:, 0] * len(names) + edges[:, 1])] = values
        return out

    def gathered(rows: Iterable[Floats]) -> Floats:
        return np.array(list(rows)).reshape(len(resamples), len(codes))

    def stacked(replicas: list[Replica]) -> Floats:
        found = np.array([each.centrality for each in replicas])
        return found.reshape(len(replicas), *reference.centrality.shape)

    def communities(replica: Replica, runs: int = RUNS_OF_RESAMPLES) -> Ints:
        return find_communities(len(names), replica.edges, replica.strengths, runs=runs)

    own = communities(reference, RUNS)
    return Bootstrap(
        names=names,
        pairs=np.stack(np.divmod(codes, len(names)), axis=1),
        strengths=spread(reference.edges, reference.strengths),
        draws=gathered(spread(each.edges, each.strengths) for each in resamples),
        refits=gathered(spread(reference.edges, each.refits) for each in resamples),
        weights=spread(reference.edges, reference.weights),
        weight_draws=gathered(spread(each.edges, each.weights) for each in resamples),
        weight_refits=gathered(spread(reference.edges, each.weight_refits) for each in resamples),
        centrality=reference.centrality,
        centrality_draws=stacked(resamples),
        dropped=np.array([share for share, _ in subsets]),
        subset_centrality=stacked([each for _, each in subsets]),
        shares=shares,
        n_asked=n,
        unconverged=sum(each.unconverged for each in done.values()),
        membership=own,
        membership_draws=np.array(
            [relabelled(own, communities(each)) for each in resamples], dtype=np.int64
        ).reshape(len(resamples), len(names)),
    )
