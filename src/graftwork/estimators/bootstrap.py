"""Bootstrap: what resampling says about edges, centralities and communities, as a value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from graftwork.errors import DataError
from graftwork.estimators.edges import as_frame
from graftwork.inference.layout import Floats, Ints
from graftwork.models import PairwiseMRF
from graftwork.models.communities import shared_community
from graftwork.models.graphs import MEASURES, SIGNED
from graftwork.models.inputs import find
from graftwork.models.inputs import number as numbered
from graftwork.notebooks import repr_html
from graftwork.parameters import number
from graftwork.significance.selected import interval_of_shown

Record = dict[str, Any]

#: Shares of rows dropped, if none are given: among them those the rules of thumb are about.
SHARES = (0.05, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75)
#: What there is to know of each pair.
COLUMNS = (
    "first", "second", "frequency", "p_value", "q_value", "strength",
    "mean", "low", "high", "mean_if_edge", "low_if_edge", "high_if_edge",
    "weight", "weight_mean", "weight_low", "weight_high",
)  # fmt: skip
#: What figures show.
PANELS = ("frequencies", "intervals", "stability")
#: Centralities count as kept where they correlate at least this much with the reference ...
CORRELATION = 0.7
#: ... in at least this share of the subsets.
CERTAINTY = 0.95
#: That cannot be seen in fewer subsets than this for each share of dropped rows.
LEAST_SUBSETS = 20


@dataclass(frozen=True, slots=True, eq=False)
class Bootstrap:
    """How far edges, centralities and communities stay when the rows are drawn anew.

    `MarkovNetwork.bootstrap` makes one. Methods give tables, a summary, files and a picture; the
    attributes are what they are made from.

    Attributes
    ----------
    names : tuple
        The variables.
    pairs : (pairs, 2) int64
        Pairs of variables with an edge in the reference network or any resample.
    strengths : (pairs,) float64
        Their strengths in the reference network; NaN where it has no edge.
    draws : (resamples, pairs) float64
        Their strengths in the resamples; NaN where there is no edge. Where tests chose the edges,
        less what resampling adds to the strengths of the reference network's edges on average.
    refits : (resamples, pairs) float64
        Where tests chose the edges: the strengths of the reference network's own edges, fitted to
        each resample whether it has them or not; NaN for other pairs.
    centrality : (5, variables) float64
        Of the reference network, in the order of `MEASURES`: strength, expected influence, degree,
        closeness, betweenness.
    centrality_draws : (resamples, 5, variables) float64
    dropped : (subsets,) float64
        The share of rows that each subset lacks.
    subset_centrality : (subsets, 5, variables) float64
    shares : tuple of float
        The shares asked for; empty without case dropping.
    n_asked : int
        Resamples asked for; as many subsets, if any.
    unconverged : int
        Fits that did not reach the accuracy asked for.
    tested : bool
        Whether tests chose the edges of each resample (goal="structure").
    membership : (variables,) int64
        The communities of the reference network (see `find_communities`), from 0 on; -1 for
        variables without an edge.
    membership_draws : (resamples, variables) int64
        Those of the resamples, with the numbers of those of the reference network that they share
        most variables with.
    weights : (pairs,) float64
        Signed weights of the reference network's edges between binary or ordered variables (see
        `PairwiseMRF.weight`); NaN for others, and where there is no edge.
    weight_draws, weight_refits : (resamples, pairs) float64
        The same in the resamples, as ``draws`` and ``refits`` have strengths.
    p_values, q_values : (pairs,) float64
        Of the tests of the reference network's edges; NaN where there are none.
    limits : (pairs,) float64
        The size its weight needed for its test to pass; 0 where there was no test.
    model : PairwiseMRF, optional
        The reference network.

    Examples
    --------
    >>> import graftwork as gw
    >>> made = gw.datasets.make_bernoulli(5, mean_degree=2, n_rows=300, random_state=0)
    >>> boot = gw.MarkovNetwork(lam=0.03).bootstrap(made.data, 10, random_state=0)
    >>> surest = boot.edges()[0]
    >>> boot.frequency(surest["first"], surest["second"])
    1.0
    >>> sorted(boot.cs)
    ['betweenness', 'closeness', 'degree', 'expected_influence', 'strength']
    """

    names: tuple[Any, ...]
    pairs: Ints
    strengths: Floats
    draws: Floats
    refits: Floats
    centrality: Floats
    centrality_draws: Floats
    dropped: Floats
    subset_centrality: Floats
    shares: tuple[float, ...]
    n_asked: int
    unconverged: int = 0
    tested: bool = False
    membership: Ints | None = None
    membership_draws: Ints | None = None
    weights: Floats | None = None
    weight_draws: Floats | None = None
    weight_refits: Floats | None = None
    p_values: Floats | None = None
    q_values: Floats | None = None
    limits: Floats | None = None
    model: PairwiseMRF | None = None

    _repr_html_ = repr_html

    def __repr__(self) -> str:
        return (
            f"Bootstrap(n_done={self.n_done}, n_asked={self.n_asked}, n_subsets={self.n_subsets}, "
            f"n_variables={len(self.names)}, n_pairs={len(self.pairs)}, tested={self.tested})"
        )

    @property
    def n_done(self) -> int:
        """Resamples that were done."""
        return len(self.draws)

    @property
    def n_subsets(self) -> int:
        """Subsets of the rows that were done."""
        return len(self.dropped)

    @property
    def interrupted(self) -> bool:
        """Whether fewer were done than asked for."""
        return self.n_done < self.n_asked or self.n_subsets < self.n_asked * bool(self.shares)

    @property
    def frequencies(self) -> Floats:
        """The share of resamples in which each pair has an edge, shape (pairs,)."""
        if not self.n_done:
            return np.full(len(self.pairs), np.nan)
        share: Floats = (~np.isnan(self.draws)).mean(axis=0)
        return share

    def frequency(self, a: Any, b: Any) -> float:
        """Return the share of resamples with an edge between two variables."""
        index = numbered(self.names)
        i, j = sorted((find(a, self.names, index), find(b, self.names, index)))
        if i == j:
            raise DataError(f"a pair needs two different variables, not {a!r} twice.")
        place = np.flatnonzero((self.pairs == (i, j)).all(axis=1))
        if not self.n_done:
            return float("nan")
        return float(self.frequencies[place[0]]) if len(place) else 0.0

    def edges(self, level: float = 0.95) -> list[Record]:
        """Return a record for each pair with an edge anywhere, the most frequent first.

        Parameters
        ----------
        level : float
            How sure intervals are meant to be, between 0 and 1.

        Returns
        -------
        list of dict
            ``first``, ``second``; ``frequency`` of an edge; ``p_value`` and ``q_value`` of its test
            in the reference network, NaN without; ``strength`` in the reference network;
            ``mean`` of the resamples and the interval from ``low`` to ``high`` (see
            `interval_around`), an absent edge counting as 0 unless tests chose the edges: then
            strengths are those of the reference network fitted to each resample; of pairs that the
            reference network lacks, there is no estimate to put an interval around, and ``low`` and
            ``high`` are quantiles of the resamples, an absent edge counting as 0; and mean and
            quantiles of the resamples whose own networks have the edge (``mean_if_edge``, ...; NaN
            where none has). Of binary and ordered variables also the signed ``weight`` with
            ``weight_mean`` and the interval from ``weight_low`` to ``weight_high``, by the same
            resamples; NaN for other pairs. Where tests chose the edges, the end next to 0 allows
            for that (see `interval_of_shown`).
        """
        ends = ends_of(level)
        signed = self._signed(level)
        frequencies, strengths = self.frequencies, np.nan_to_num(self.strengths)
        fitted = np.where(np.isnan(self.refits), np.nan_to_num(self.draws), self.refits)
        absent = np.isnan(self.strengths)
        p, q = (self._or_nan(values) for values in (self.p_values, self.q_values))
        order = np.lexsort((np.arange(len(self.pairs)), -strengths, -frequencies))
        return [
            {
                "first": self.names[self.pairs[k, 0]],
                "second": self.names[self.pairs[k, 1]],
                "frequency": float(frequencies[k]),
                "p_value": p[k],
                "q_value": q[k],
                "strength": float(strengths[k]),
                **_interval(float(strengths[k]), fitted[:, k], level, absent=bool(absent[k])),
                **_spread(self.draws[~np.isnan(self.draws[:, k]), k], ends, "_if_edge"),
                **signed[k],
            }
            for k in order.tolist()
        ]

    def _or_nan(self, values: Floats | None) -> list[float]:
        """Return a number of each pair; one and the same NaN where it is not known."""
        known = [np.nan] * len(self.pairs) if values is None else values.tolist()
        return [np.nan if np.isnan(x) else x for x in known]

    def _signed(self, level: float) -> list[Record]:
        """Return the signed weight of each pair, with mean and interval; NaN where it has none."""
        none = dict.fromkeys(("weight", "weight_mean", "weight_low", "weight_high"), np.nan)
        if self.weights is None or self.weight_draws is None or self.weight_refits is None:
            return [none] * len(self.pairs)
        known = ~np.isnan(self.weight_draws).all(axis=0) if self.n_done else np.isnan(self.weights)
        signed = np.where(np.isnan(self.strengths), known, ~np.isnan(self.weights))
        fitted = np.where(
            np.isnan(self.weight_refits), np.nan_to_num(self.weight_draws), self.weight_refits
        )
        out = []
        for p, own in enumerate(np.nan_to_num(self.weights).tolist()):
            if not signed[p]:
                out.append(none)
                continue
            absent = bool(np.isnan(self.strengths[p]))
            around = _interval(own, fitted[:, p], level, least=-np.inf, absent=absent)
            if self.limits is not None and self.limits[p] > 0.0:
                around |= _shown(own, fitted[:, p], self.limits[p], level)
            out.append({"weight": own, **{f"weight_{key}": x for key, x in around.items()}})
        return out

    def to_frame(self, level: float = 0.95) -> Any:
        """Return the records of `edges` as a DataFrame where pandas is installed, else a list."""
        return as_frame(self.edges(level), COLUMNS, COLUMNS[2:])

    def centralities(self, level: float = 0.95) -> list[Record]:
        """Return a record for each measure and variable, the most central first.

        Returns
        -------
        list of dict
            ``measure``, ``variable``, ``value`` in the reference network, ``mean`` of the
            resamples, and the interval from ``low`` to ``high`` (see `interval_around`).
        """
        return [
            {
                "measure": measure,
                "variable": self.names[i],
                "value": float(self.centrality[m, i]),
                **interval_around(
                    float(self.centrality[m, i]),
                    self.centrality_draws[:, m, i],
                    level,
                    least=-np.inf if measure == SIGNED else 0.0,
                ),
            }
            for m, measure in enumerate(MEASURES)
            for i in np.argsort(-self.centrality[m], kind="stable").tolist()
        ]

    @property
    def correlations(self) -> Floats:
        """Correlations of the subsets' centralities with the reference, shape (subsets, 5).

        NaN where all variables are equally central in a subset, or in the reference. Of expected
        influence they are over the variables that have one in both.
        """
        return correlations_with(self.centrality, self.subset_centrality)

    def stability(self) -> list[Record]:
        """Return a record for each measure and share of dropped rows.

        Returns
        -------
        list of dict
            ``measure``, ``dropped``, ``subsets`` done; of the correlations with the reference the
            ``mean``, the ``low`` end (the 5 % quantile) and the share that is ``kept`` (at least
            .7). A subset where all variables are equally central correlates with 0.
        """
        out, found = [], np.nan_to_num(self.correlations)
        for m, measure in enumerate(MEASURES):
            for share in self.shares:
                values = found[self.dropped == share, m]
                has = len(values) > 0
                out.append(
                    {
                        "measure": measure,
                        "dropped": share,
                        "subsets": len(values),
                        "mean": float(values.mean()) if has else np.nan,
                        "low": float(np.quantile(values, 1 - CERTAINTY)) if has else np.nan,
                        "kept": float((values >= CORRELATION).mean()) if has else np.nan,
                    }
                )
        return out

    @property
    def cs(self) -> dict[str, float | None]:
        """The correlation stability coefficient of each measure.

        The largest share of rows that can be dropped such that the centralities still correlate
        by at least .7 with those of all rows, with a probability of 95 %; 0 if none can. None
        where nothing was dropped or there are too few subsets to tell (see `enough_subsets`), and
        where all variables are equally central. See `stability_coefficient`.
        """
        found = self.correlations
        return {
            measure: stability_coefficient(self.dropped, found[:, m])
            if self.enough_subsets and self.varies(m)
            else None
            for m, measure in enumerate(MEASURES)
        }

    @property
    def enough_subsets(self) -> bool:
        """Whether there are 20 subsets or more for each share of dropped rows, on average."""
        return bool(self.shares) and self.n_subsets // len(self.shares) >= LEAST_SUBSETS

    def varies(self, measure: int) -> bool:
        """Return whether variables differ in a measure, by its place in `MEASURES`."""
        known = self.centrality[measure][~np.isnan(self.centrality[measure])]
        return len(known) > 1 and bool(np.ptp(known) > 0)

    def communities(self) -> list[Record]:
        """Return a record for each variable: its community, and how often it is in it.

        Returns
        -------
        list of dict
            ``variable``; ``community`` in the reference network, from 1 on, None without an edge;
            ``stability``, the share of resamples in which it is in that community, after each
            resample's communities were matched with those of the reference network.
        """
        if self.membership is None or self.membership_draws is None:
            return []
        kept = self.membership_draws == self.membership
        stability = kept.mean(axis=0) if len(kept) else np.full(len(self.names), np.nan)
        return [
            {
                "variable": name,
                "community": None if number < 0 else number + 1,
                "stability": float(share),
            }
            for name, number, share in zip(
                self.names, self.membership.tolist(), stability, strict=True
            )
        ]

    @property
    def comembership(self) -> Floats:
        """How often two variables are in one community, shape (variables, variables).

        Shares of the resamples; on the diagonal how often a variable has an edge at all.
        """
        if self.membership_draws is None:
            return np.full((len(self.names),) * 2, np.nan)
        return shared_community(self.membership_draws)

    def comembers(self) -> list[Record]:
        """Return a record for each pair that is in one community anywhere, the most frequent first.

        Returns
        -------
        list of dict
            ``first``, ``second``; ``share`` of the resamples in which they are in one community;
            ``together``, whether they are in the reference network.
        """
        if self.membership is None or not self.n_done:
            return []
        shares, own = self.comembership, self.membership
        together = (own[:, None] == own) & (own >= 0)
        first, second = np.nonzero(np.triu((shares > 0) | together, 1))
        order = np.argsort(-shares[first, second], kind="stable")
        return [
            {
                "first": self.names[i],
                "second": self.names[j],
                "share": float(shares[i, j]),
                "together": bool(together[i, j]),
            }
            for i, j in zip(first[order].tolist(), second[order].tolist(), strict=True)
        ]

    def summary(self, top: int = 20) -> str:
        """Return what it means, with tables of the most frequent edges and of the stability."""
        from graftwork.report.bootstrap import bootstrap_summary

        return bootstrap_summary(self, top)

    def plot(
        self,
        path: str | PathLike[str] | None = None,
        *,
        panels: str | Sequence[str] = PANELS,
        top: int = 40,
    ) -> Any:
        """Return a figure of edges and of the stability; write it if a path is given.

        Edges are the most frequent first: bars are how often each was found, lines the intervals
        of its strength (absent as 0), dots the network itself. Curves are how centralities of
        subsets correlate with those of all rows, with the middle 90 % of the subsets as a band. No
        window opens, and pyplot is left alone.

        Parameters
        ----------
        path : path-like, optional
            Where to write it; the ending says the format (png, pdf, svg).
        panels : str or sequence of str
            Those of "frequencies", "intervals" and "stability" to draw; default all.
        top : int
            How many of the most frequent edges to draw.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        DataError
            If there is no such panel, or the ending of the path is no format matplotlib writes.
        """
        from graftwork.report.bootstrap_plot import plot_bootstrap

        return plot_bootstrap(self, path, panels=panels, top=top)

    def explore(self, path: str | PathLike[str], *, title: str | None = None) -> Path:
        """Write a page to look at the bootstrap in a browser, and return where it is.

        One HTML file that needs nothing else: every pair that is an edge of the network or of any
        resample, filtered by how often it comes back, with intervals, stability of communities, and
        what the network answers to "what if". See `MarkovNetwork.explore`.

        Parameters
        ----------
        path : path-like
            Where to write it, such as "bootstrap.html".
        title : str, optional
            The page's title.
        """
        from graftwork.report.explorer import explore

        return explore(self, path, title=title)

    def difference(self, of: str = "edges", level: float = 0.95) -> list[Record]:
        """Return a record for each two edges, or variables, and whether they differ.

        Two differ where the interval of their difference leaves out 0: quantiles of the differences
        in the resamples, as in bootnet. It is not corrected for the number of comparisons.

        Parameters
        ----------
        of : str
            "edges", by their weights (by their strengths where not all have a sign), or a measure
            of centrality: "strength", "expected_influence", "degree", "closeness", "betweenness".
        level : float
            How sure intervals are meant to be, between 0 and 1.

        Returns
        -------
        list of dict
            ``first`` and ``second``, pairs of names for edges, the larger first; ``difference`` in
            the network; its interval from ``low`` to ``high``; whether it ``differs`` from 0.

        References
        ----------
        Epskamp, Borsboom and Fried, "Estimating psychological networks and their accuracy: a
        tutorial paper", Behavior Research Methods 50, 2018.
        """
        from graftwork.estimators.bootstrap_differences import difference_records

        return difference_records(self, of, ends_of(level))

    def plot_difference(
        self,
        path: str | PathLike[str] | None = None,
        *,
        of: str = "edges",
        level: float = 0.95,
        top: int = 40,
    ) -> Any:
        """Return a matrix of which edges, or variables, differ; write it if a path is given.

        Cells are dark where two differ (see `difference`); on the diagonal are the values in the
        network, the largest first.

        Parameters
        ----------
        path : path-like, optional
            Where to write it; the ending says the format (png, pdf, svg).
        of, level
            As in `difference`.
        top : int
            How many of the largest to draw.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        from graftwork.report.difference_plot import plot_difference

        return plot_difference(self, path, of=of, level=level, top=top)

    def to_dict(self) -> dict[str, Any]:
        """Return all tables and counts as plain values, as ``bootstrap.json`` has them."""
        from graftwork.report.bootstrap import bootstrap_dict

        return bootstrap_dict(self)

    def save(
        self, folder: str | PathLike[str], *, plot: bool = True, differences: bool = False
    ) -> list[str]:
        """Write everything to a folder, made where there is none; return the files' names.

        ``bootstrap.csv`` has the edges, ``bootstrap_centrality.csv`` the centralities,
        ``stability.csv`` what dropping rows does to them, ``bootstrap_communities.csv`` the
        communities, ``comembership.csv`` how often two variables are in one, ``bootstrap.txt`` the
        summary, ``bootstrap.json`` everything, ``reference.gw`` the network of all rows,
        ``bootstrap.png`` the figure. With ``differences``, ``differences.csv`` says which edges and
        which variables differ (`difference`), ``differences_edges.png`` and
        ``differences_strength.png`` show it.
        """
        from graftwork.report.bootstrap import write_bootstrap

        return write_bootstrap(self, folder, plot=plot, differences=differences)


def correlations_with(reference: Floats, others: Floats) -> Floats:
    """Return how each row of others correlates with that of the reference (Pearson).

    Shapes: reference (measures, variables); others (subsets, measures, variables); returns
    (subsets, measures).
    """
    known = ~(np.isnan(reference) | np.isnan(others))
    mine, theirs = (
        _centred(np.broadcast_to(each, others.shape), known) for each in (reference, others)
    )
    scale = np.sqrt((mine**2).sum(axis=-1) * (theirs**2).sum(axis=-1))
    products = (mine * theirs).sum(axis=-1)
    out = np.full(scale.shape, np.nan)
    np.divide(products, scale, out=out, where=scale > 0)
    return out


def _centred(values: Floats, known: NDArray[np.bool_]) -> Floats:
    """Return values less the means of those that are known, along the last axis; 0 for others."""
    own = np.where(known, values, 0.0)
    means = own.sum(axis=-1, keepdims=True) / np.maximum(known.sum(axis=-1, keepdims=True), 1)
    away = np.where(known, own - means, 0.0)
    low, high = (
        f(np.where(known, values, end), axis=-1) for f, end in ((np.min, np.inf), (np.max, -np.inf))
    )
    # Without range there is no variance; the rounding of a mean must not become one.
    return np.where((high > low)[..., None], away, 0.0)


def stability_coefficient(dropped: Floats, correlations: Floats) -> float:
    """Return the correlation stability coefficient.

    What can be dropped includes dropping less: a share at which the correlations hold by chance,
    beyond one at which they do not, does not count. With many subsets there is no such share.

    Shapes: dropped (subsets,); correlations (subsets,).

    References
    ----------
    Epskamp, Borsboom and Fried, "Estimating psychological networks and their accuracy: a tutorial
    paper", Behavior Research Methods 50, 2018.
    """
    kept = np.nan_to_num(correlations) >= CORRELATION
    largest = 0.0
    for share in np.unique(dropped).tolist():
        # 19 of 20 are 95 %, whatever rounding says.
        if kept[dropped == share].mean() < CERTAINTY - 1e-12:
            break
        largest = share
    return largest


def interval_around(
    value: float, draws: Floats, level: float = 0.95, *, least: float = 0.0
) -> Record:
    """Return the mean of what resamples gave, and an interval around the value.

    It reaches as many root mean square deviations of the resamples from the value as a normal
    variable's interval does standard deviations, and not below ``least``. So what resampling adds
    on average (a strength is a norm, which noise makes larger) widens the interval to both sides.

    Examples
    --------
    >>> interval_around(2.0, np.array([1.0, 3.0]), 0.95)
    {'mean': 2.0, 'low': 0.04..., 'high': 3.95...}
    """
    draws = draws[~np.isnan(draws)]
    if not len(draws) or np.isnan(value):
        return dict.fromkeys(("mean", "low", "high"), float("nan"))
    reach = float(ndtri(ends_of(level)[1])) * float(np.sqrt(np.mean((draws - value) ** 2)))
    return {"mean": float(draws.mean()), "low": max(least, value - reach), "high": value + reach}


def _interval(
    value: float, draws: Floats, level: float, *, least: float = 0.0, absent: bool
) -> Record:
    """Return mean and interval of an edge; quantiles of the resamples where it is absent."""
    return (
        _spread(draws, ends_of(level))
        if absent
        else interval_around(value, draws, level, least=least)
    )


def _shown(value: float, draws: Floats, limit: float, level: float) -> Record:
    """Return the interval of a weight that is shown because it is larger than a limit."""
    ends_of(level)
    spread = np.sqrt(np.mean((draws - value) ** 2, keepdims=True))
    low, high = interval_of_shown(np.array([value]), spread, np.array([limit]), level)
    return {"low": float(low[0]), "high": float(high[0])}


def ends_of(level: float) -> tuple[float, float]:
    """Return the quantiles at the two ends of an interval."""
    share = number("level", level, 0.0, above=True)
    if share >= 1:
        raise DataError(f"level must lie between 0 and 1, got {level!r}.")
    return (1 - share) / 2, (1 + share) / 2


def _spread(values: Floats, ends: tuple[float, float], suffix: str = "") -> Record:
    """Return mean and percentile interval of some values; NaN if there are none."""
    low, high = np.quantile(values, ends) if len(values) else (np.nan, np.nan)
    mean = values.mean() if len(values) else np.nan
    parts = {"mean": mean, "low": low, "high": high}
    return {f"{name}{suffix}": float(value) for name, value in parts.items()}
