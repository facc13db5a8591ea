"""compare_groups: networks of groups of rows, and tests of where they differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from graftwork.errors import ParameterError
from graftwork.estimators import MarkovNetwork
from graftwork.estimators.assemble import to_model
from graftwork.estimators.lines import Lines, watcher
from graftwork.estimators.spec import FitSpec
from graftwork.grafting.trace import Observer
from graftwork.groups.comparison import GlobalStrength, GroupComparison
from graftwork.groups.curves import curved_in
from graftwork.groups.differences import (
    Norms,
    Weights,
    differences,
    equal_sums,
    log_q_of_chosen,
)
from graftwork.groups.estimates import (
    Estimates,
    GroupFit,
    fit_edges,
    shared_between,
    spread_of_sum,
)
from graftwork.groups.permutations import make_permuting, permute, spread_of_strengths
from graftwork.groups.reading import GroupedRows, read_groups, rows_wanted
from graftwork.groups.shared_states import SharedStates
from graftwork.inference.layout import Ints
from graftwork.kernels.threads import count_threads
from graftwork.limits import RESAMPLES
from graftwork.models import PairwiseMRF
from graftwork.parameters import number, whole_number

Pair = tuple[int, int]


def compare_groups(
    X: Any,
    by: Any,
    *,
    fdr: float = 0.05,
    n_permutations: int = 0,
    edge_fdr: float = 0.01,
    sample_weight: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    observer: Observer | None = None,
    folder: str | PathLike[str] | None = None,
    **parameters: Any,
) -> GroupComparison:
    """Return a network of each group of rows, and tests of where the networks differ.

    The pairs tested are the edges of the groups' networks and of the network of all rows. They are
    fitted together in each group without the sparsity penalty, and the tables of each pair are
    compared between groups by a Wald test with robust covariances (edge invariance); of ordered
    variables (``ordinal``) their one signed number, unless a network has a curved table. All pairs
    together test network invariance, sums of norms global strength invariance. The tests are
    approximate: they assume that rows are independent of each other and that the pairs tested are
    all there is, and need some ten rows for each cell of a pair's table; the summary says where
    rows are too few. Permutations of the group labels check them.

    An interrupt (Ctrl-C) in the permutations ends with those done so far; before, it is raised.

    Parameters
    ----------
    X : table
        As `MarkovNetwork.fit` takes it.
    by : hashable
        The column that says which group a row belongs to: 2 to 20 values, 30 rows each at least.
    fdr : float
        The false discovery rate of differences, over all pairs tested.
    n_permutations : int
        How often to permute the group labels; 0 for not at all, 1,000 for p-values to publish.
        Permutations assume that equal groups have equal distributions, single variables included.
    edge_fdr : float
        The false discovery rate of the edges of each network: `MarkovNetwork`'s ``fdr``.
    sample_weight : (rows,) array, optional
        Row weights; default those of a weighted Table, else 1. Whole weights count repeated rows;
        others are sampling weights.
    random_state : int, Generator or None
        Seed of the networks and of the permutations.
    n_jobs : int, optional
        Threads of a fit, and permutations done at once. Results do not depend on it.
    observer : Observer, optional
        Notified of the permutations that are done; default that of the networks (``verbose``).
    folder : path-like, optional
        Keeps a file for every permutation that is done. The same call goes on from there; files of
        other rows or settings are not used. Remove the folder when you have the result.
    **parameters
        Other parameters of `MarkovNetwork`, such as ``missing`` and ``knowledge``, for all
        networks.

    Returns
    -------
    GroupComparison

    Raises
    ------
    DataError
        If the column is not there, makes no groups or too many, or a group has too few rows.

    References
    ----------
    van Borkulo et al. (2022), Comparing network structures on three aspects: a permutation test,
    Psychological Methods.

    Examples
    --------
    >>> import graftwork as gw
    >>> rows = [["en", 0, 0], ["en", 1, 1], ["fr", 0, 1], ["fr", 1, 0]] * 40
    >>> rows += [["en", 0, 1], ["en", 1, 0], ["fr", 0, 0], ["fr", 1, 1]] * 10
    >>> found = gw.compare_groups(gw.as_table(rows, names=["language", "a", "b"]), by="language")
    >>> found
    GroupComparison(by='language', groups=['en', 'fr'], n_pairs=1, n_different=1, ...)
    >>> [round(cell["difference"], 1) for cell in found.table("a", "b")]
    [1.3, -1.3, -1.3, 1.3]
    """
    rate = number("fdr", fdr, 0.0, above=True)
    if rate >= 1:
        raise ParameterError(f"fdr must be a number below 1, got {fdr!r}.")
    count = whole_number("n_permutations", n_permutations, 0)
    RESAMPLES.check(count, f"{count:,} permutations are asked for", "ask for fewer")
    shared = {"fdr": edge_fdr, "random_state": random_state, "n_jobs": n_jobs}
    net = MarkovNetwork(**parameters, **shared)
    rows = read_groups(net.spec(), X, by, sample_weight)
    settings = {**parameters, **shared, "states": None, "ordinal": None}  # the tables know
    networks = {
        group: MarkovNetwork(**settings).fit(table)
        for group, table in zip(rows.groups, rows.tables, strict=True)
    }
    overall = MarkovNetwork(**settings).fit(rows.whole)
    comparing = _Comparing(replace(net.spec(), states=None, ordinal=None), rows, networks, overall)
    found = comparing.run(rate)
    if not count:
        return found
    watching = net.spec().observer if observer is None else watcher(observer, Lines())
    return comparing.permuted(found, count, random_state, count_threads(n_jobs), watching, folder)


class _Comparing:
    """Groups with their networks, and the fits of all edges to each group."""

    def __init__(
        self,
        spec: FitSpec,
        rows: GroupedRows,
        networks: dict[Any, MarkovNetwork],
        overall: MarkovNetwork,
    ) -> None:
        self._spec, self._rows = spec, rows
        self._networks, self._overall = networks, overall
        self._known = _pairs_of(overall.model_, rows.names)
        own = (_pairs_of(net.model_, rows.names) for net in networks.values())
        self._edges = _listed(self._known.union(*own))
        learned = [(overall, rows.whole), *zip(networks.values(), rows.tables, strict=True)]
        self._curved = curved_in(learned, rows.names)
        rng = np.random.default_rng(0)
        self._fits: list[GroupFit] = [
            fit_edges(spec, table, self._edges, net.model_, rng, curved=self._curved)
            for table, net in zip(rows.tables, networks.values(), strict=True)
        ]

    def run(self, fdr: float) -> GroupComparison:
        """Return the comparison, without permutations."""
        rows, fits = self._rows, self._fits
        shared = shared_between(fits)
        varying = shared.varying
        there = varying[self._edges].all(axis=1)
        pairs = self._edges[there]
        known = np.array([(i, j) in self._known for i, j in pairs.tolist()], dtype=bool)
        estimates = tuple(Estimates.of(each, pairs, shared) for each in fits)
        tests = differences(estimates, pairs)
        norms = Norms.of(estimates)
        n_varying = int(np.count_nonzero(varying))
        return GroupComparison(
            by=rows.by,
            groups=rows.groups,
            sizes=tuple(rows.sizes.tolist()),
            networks=self._networks,
            overall=self._overall,
            names=rows.names,
            pairs=pairs,
            known=known,
            untested=tuple((rows.names[i], rows.names[j]) for i, j in self._edges[~there].tolist()),
            tests=tests,
            log_q=log_q_of_chosen(tests.log_p, known, n_varying * (n_varying - 1) // 2),
            fdr=fdr,
            estimates=estimates,
            shared=shared,
            norms=norms,
            weights=Weights.of(estimates, pairs, shared),
            strength=self._strength(pairs, shared, norms, estimates),
            wanted=rows_wanted(rows.whole.take_columns(rows.names)),
        )

    def _strength(
        self, pairs: Ints, shared: SharedStates, own: Norms, groups: Sequence[Estimates]
    ) -> GlobalStrength:
        """Return the global strengths of the groups, and their test."""
        sums = own.values.sum(axis=1)
        variances = np.array(
            [
                spread_of_sum(fit, pairs, shared, directions)
                for fit, directions in zip(self._fits, own.directions, strict=True)
            ]
        )
        if len(pairs):
            variances *= [1.0 + float(each.added.mean()) for each in groups]
        statistic, degrees, p = equal_sums(sums, variances)
        errors = np.sqrt(variances)
        return GlobalStrength(tuple(sums.tolist()), tuple(errors.tolist()), statistic, degrees, p)

    def permuted(
        self,
        found: GroupComparison,
        count: int,
        seed: Any,
        jobs: int,
        observer: Observer,
        folder: str | PathLike[str] | None,
    ) -> GroupComparison:
        """Return the comparison with what permutations of the group labels say."""
        tables = self._rows.tables
        codes = np.concatenate([table.codes for table in tables], axis=1)
        weights, squares = (_of_rows(self._rows, name) for name in ("weights", "squares"))
        joined = replace(tables[0], codes=codes, weights=weights, squares=squares)
        rng = np.random.default_rng(0)
        near = self._overall.model_
        whole = fit_edges(self._spec, joined, self._edges, near, rng, curved=self._curved)
        near = to_model(whole.table, whole.sample, whole.potentials)
        permuting = make_permuting(
            self._spec,
            joined,
            tuple(table.n_rows for table in tables),
            found.pairs,
            self._edges,
            near,
            self._curved,
            count,
            0 if seed is None else seed,
        )
        values = list(found.estimates)
        sizes = np.array([float(len(each)) for each in values[0].values])
        observed = spread_of_strengths(values)
        varying = int(np.count_nonzero(found.shared.varying))
        done, interrupted = permute(
            permuting,
            found.tests,
            sizes,
            found.known,
            varying * (varying - 1) // 2,
            observed,
            jobs,
            observer,
            folder,
        )
        return replace(found, permutations=done, interrupted=interrupted)


def _of_rows(rows: GroupedRows, name: str) -> Any:
    """Return the weights of all rows, or their squares, in the order of their groups, or None."""
    if getattr(rows.whole, name) is None:
        return None
    return np.concatenate([getattr(table, name) for table in rows.tables])


def _pairs_of(model: PairwiseMRF, names: tuple[Any, ...]) -> set[Pair]:
    """Return the edges of a network between some variables, as their places."""
    place = {name: i for i, name in enumerate(names)}
    found = ((place.get(a, -1), place.get(b, -1)) for a, b in model.edges)
    return {(min(pair), max(pair)) for pair in found if min(pair) >= 0}


def _listed(pairs: set[Pair]) -> Ints:
    return np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
