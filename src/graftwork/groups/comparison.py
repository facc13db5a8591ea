"""GroupComparison: networks of groups, and where they differ, as a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from graftwork.errors import DataError
from graftwork.estimators import MarkovNetwork
from graftwork.estimators.edges import as_frame
from graftwork.groups.differences import Norms, Weights, differences
from graftwork.groups.estimates import Estimates
from graftwork.groups.permutations import Permutations
from graftwork.groups.shared_states import SharedStates
from graftwork.inference.layout import Floats, Ints
from graftwork.models.inputs import find
from graftwork.models.inputs import number as numbered
from graftwork.notebooks import repr_html
from graftwork.parameters import number
from graftwork.significance.edge_tests import Findings

Record = dict[str, Any]

WEIGHTS = ("weight_difference", "weight_low", "weight_high")


@dataclass(frozen=True, slots=True)
class GlobalStrength:
    """The sum of the norms of all pairs tested, in each group, and the test that it is equal."""

    sums: tuple[float, ...]  # sums, errors: of each group, with standard errors
    errors: tuple[float, ...]
    statistic: float
    df: float
    p_value: float


@dataclass(frozen=True, slots=True, eq=False)
class GroupComparison:
    """Networks of groups of rows, and tests of where they differ.

    `graftwork.compare_groups` makes one. Methods give tables, a summary, files and a picture; the
    attributes are what they are made from.

    Attributes
    ----------
    by : hashable
        The column of the groups.
    groups : tuple
        Its values, in the order of everything below.
    sizes : tuple of float
        Effective rows of each: their number, or of counts their total weight.
    networks : dict
        The fitted `MarkovNetwork` of each group.
    overall : MarkovNetwork
        Of all rows, with the column of the groups as one of its variables.
    names : tuple
        The variables compared.
    pairs : (pairs, 2) int64
        The pairs tested: edges of a group's network, or of that of all rows.
    known : (pairs,) bool
        Which are edges of the network of all rows.
    untested : tuple of (name, name)
        Edges that could not be compared: a group has fewer than two of the states that others
        have.
    tests : Findings
        Of equal tables, pair by pair (edge invariance).
    log_q : (pairs,) float64
        Logarithms of the q-values.
    fdr : float
        The false discovery rate asked for.
    estimates : tuple of Estimates
        The parameters of the pairs in each group.
    shared : SharedStates
        Between which states.
    norms : Norms
    weights : Weights
        Signed, of pairs of binary and ordered variables.
    strength : GlobalStrength
    wanted : int
        How many rows a group should have for tables of this size.
    permutations : Permutations or None
    interrupted : bool
        Whether Ctrl-C ended the permutations early.

    Examples
    --------
    >>> import graftwork as gw
    >>> adhd = gw.datasets.load_adhd().take_columns(["group", "avoid", "closeatt", "distract"])
    >>> found = gw.compare_groups(adhd, by="group", n_permutations=0)
    >>> found.groups, found.sizes
    ((0, 1), (209.0, 146.0))
    >>> [record["differs"] for record in found.edges()]
    [False]
    """

    by: Any
    groups: tuple[Any, ...]
    sizes: tuple[float, ...]
    networks: Mapping[Any, MarkovNetwork]
    overall: MarkovNetwork
    names: tuple[Any, ...]
    pairs: Ints
    known: NDArray[np.bool_]
    untested: tuple[tuple[Any, Any], ...]
    tests: Findings
    log_q: Floats
    fdr: float
    estimates: tuple[Estimates, ...]
    shared: SharedStates
    norms: Norms
    weights: Weights
    strength: GlobalStrength
    wanted: int
    permutations: Permutations | None = None
    interrupted: bool = False

    _repr_html_ = repr_html

    def __repr__(self) -> str:
        return (
            f"GroupComparison(by={self.by!r}, groups={list(self.groups)!r}, "
            f"n_pairs={len(self.pairs)}, n_different={int(self.different.sum())}, "
            f"invariance={self.invariance:.2g}, strength={self.strength.p_value:.2g})"
        )

    @property
    def different(self) -> NDArray[np.bool_]:
        """Which of the pairs differ at the false discovery rate asked for."""
        found: NDArray[np.bool_] = self.log_q <= np.log(self.fdr)
        return found

    @property
    def invariance(self) -> float:
        """p-value of the test that all networks are equal (network invariance).

        The smallest q-value: Simes' test of all pairs together. It is at most ``fdr`` where a pair
        differs at that rate.
        """
        return float(np.exp(self.log_q.min())) if len(self.log_q) else 1.0

    def has_edge(self, group: int) -> NDArray[np.bool_]:
        """Return which of the pairs are edges of a group's own network, shape (pairs,)."""
        place = {name: i for i, name in enumerate(self.names)}
        model = self.networks[self.groups[group]].model_
        own = {tuple(sorted((place[a], place[b]))) for a, b in model.edges}
        return np.array([(i, j) in own for i, j in self.pairs.tolist()], dtype=bool)

    def edges(self, level: float = 0.95) -> list[Record]:
        """Return a record for each pair tested, the surest difference first.

        Parameters
        ----------
        level : float
            How sure intervals are meant to be, between 0 and 1.

        Returns
        -------
        list of dict
            ``first``, ``second``; ``differs`` (at the rate asked for), ``p_value``, ``q_value``,
            ``statistic``, ``df`` of the test; of each group g ``edge_g``, whether its own network
            has the edge, and ``norm_g``, the norm of its table less what noise adds; of two groups
            the ``difference`` of norms, the first less the second, from ``low`` to ``high``; of
            pairs of binary or ordered variables whose table is linear the signed ``weight_g`` as
            well (see `PairwiseMRF.weight`), and of two groups ``weight_difference``, from
            ``weight_low`` to ``weight_high`` (NaN for others); ``overall``, whether the network of
            all rows has the edge; with permutations ``p_permutation`` and ``p_familywise``.
        """
        inside = [self.has_edge(g) for g in range(len(self.groups))]
        apart = self.differences(level) if len(self.groups) == 2 else []
        records = []
        for k in np.argsort(self.tests.log_p, kind="stable").tolist():
            record: Record = {
                "first": self.names[self.pairs[k, 0]],
                "second": self.names[self.pairs[k, 1]],
                "differs": bool(self.different[k]),
                "p_value": float(np.exp(self.tests.log_p[k])),
                "q_value": float(np.exp(self.log_q[k])),
                "statistic": float(self.tests.statistics[k]),
                "df": float(self.tests.degrees[k]),
            }
            if self.permutations is not None:
                record["p_permutation"] = float(self.permutations.p_values[k])
                record["p_familywise"] = float(self.permutations.familywise[k])
            for g, group in enumerate(self.groups):
                record[f"edge_{group}"] = bool(inside[g][k])
                record[f"norm_{group}"] = float(self.norms.values[g, k])
            if apart:
                record |= {name: apart[k][name] for name in ("difference", "low", "high")}
            for g, group in enumerate(self.groups):
                record[f"weight_{group}"] = float(self.weights.values[g, k])
            if apart:
                record |= {name: apart[k][name] for name in WEIGHTS}
            record["overall"] = bool(self.known[k])
            records.append(record)
        return records

    def differences(self, level: float = 0.95) -> list[Record]:
        """Return a record for each two groups and each pair tested, in the order of the pairs.

        Returns
        -------
        list of dict
            ``group``, ``other``, ``first``, ``second``; the ``difference`` of norms, that of
            the group less that of the other, from ``low`` to ``high``; ``change``, the norm of the
            difference of the tables; the difference of signed weights ``weight_difference``, from
            ``weight_low`` to ``weight_high``, NaN where a pair has none; ``p_value`` of
            these two groups alone, not corrected for the number of tests.
        """
        share, out = _level(level), []
        for g, h in combinations(range(len(self.groups)), 2):
            two = [self.estimates[g], self.estimates[h]]
            tests = self.tests if len(self.groups) == 2 else differences(two, self.pairs)
            for k, (i, j) in enumerate(self.pairs.tolist()):
                away, low, high = self.norms.difference(g, h, k, share)
                signed = self.weights.difference(g, h, k, share)
                out.append(
                    {
                        "group": self.groups[g],
                        "other": self.groups[h],
                        "first": self.names[i],
                        "second": self.names[j],
                        "difference": away,
                        "low": low,
                        "high": high,
                        "change": float(np.linalg.norm(two[0].values[k] - two[1].values[k])),
                        **dict(zip(WEIGHTS, signed, strict=True)),
                        "p_value": float(np.exp(tests.log_p[k])),
                    }
                )
        return out

    def table(self, a: Any, b: Any, level: float = 0.95) -> list[Record]:
        """Return the log-potentials of a pair in each group, state by state.

        Returns
        -------
        list of dict
            The states of ``a`` and ``b`` (those pooled joined by +); of each group g the
            double-centred log-potential ``weight_g``; of two groups also the ``difference``, the
            first less the second, from ``low`` to ``high``.
        """
        k = self._place(a, b)
        i, j = self.pairs[k].tolist()
        model = self.networks[self.groups[0]].model_
        sides = self.shared.sides(i, j)
        labels = [
            _labels(model.states[self.names[v]], side.members)
            for v, side in zip((i, j), sides, strict=True)
        ]
        tables = [self.shared.table(each.values[k], i, j) for each in self.estimates]
        errors = _cell_errors(self.shared, [each.robust[k] for each in self.estimates], i, j)
        reach = float(ndtri(0.5 + 0.5 * _level(level)))
        records = []
        for r, first in enumerate(labels[0]):
            for c, second in enumerate(labels[1]):
                record: Record = {str(self.names[i]): first, str(self.names[j]): second}
                for g, group in enumerate(self.groups):
                    record[f"weight_{group}"] = float(tables[g][r, c])
                if len(self.groups) == 2:
                    away = float(tables[0][r, c] - tables[1][r, c])
                    error = float(errors[r, c])
                    record |= {"difference": away}
                    record |= {"low": away - reach * error, "high": away + reach * error}
                records.append(record)
        return records

    def to_frame(self, level: float = 0.95) -> Any:
        """Return the records of `edges` as a DataFrame where pandas is installed, else a list."""
        records = self.edges(level)
        columns = list(records[0]) if records else ["first", "second"]
        texts = ("first", "second", "differs", "overall")
        numbers = [name for name in columns if name not in texts and name[:5] != "edge_"]
        return as_frame(records, columns, numbers)

    def summary(self, top: int = 20) -> str:
        """Return what was found in plain text, with tables; what is approximate is said."""
        from graftwork.report.groups import groups_summary

        return groups_summary(self, top)

    def plot(
        self,
        path: str | PathLike[str] | None = None,
        *,
        groups: Any = None,
        layout: Mapping[Any, Any] | None = None,
    ) -> Any:
        """Return a figure of the networks side by side, differences marked; write it to a path.

        A panel for each group, with the variables at the same places. Blue edges (positive
        weights), red and dashed ones (negative) and grey ones (without a sign) are those of the
        group's network that do not differ. Orange ones differ between the groups, with their
        weights beside them: dotted in a group whose network lacks the edge. Edges are as wide as
        they are strong, on one scale. No window opens, and pyplot is left alone.

        Parameters
        ----------
        path : path-like, optional
            Where to write it; the ending says the format (png, pdf, svg).
        groups : group or list of groups, optional
            Those to draw; default all.
        layout : mapping of variable to (x, y), optional
            Where the variables are, such as `graftwork.network_layout` returns.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        DataError
            If the ending of the path is no format matplotlib writes, there is no such group, or
            the layout lacks a variable.
        """
        from graftwork.report.groups_plot import plot_groups

        return plot_groups(self, path, groups=groups, layout=layout)

    def explore(self, path: str | PathLike[str], *, title: str | None = None) -> Path:
        """Write a page to look at the comparison in a browser, and return where it is.

        One HTML file that needs nothing else: the differences with their tests, the network of each
        group on the same places, and what each answers to "what if". See `MarkovNetwork.explore`.

        Parameters
        ----------
        path : path-like
            Where to write it, such as "groups.html".
        title : str, optional
            The page's title.
        """
        from graftwork.report.explorer import explore

        return explore(self, path, title=title)

    def to_dict(self) -> dict[str, Any]:
        """Return all tables and tests as plain values, as ``groups.json`` has them."""
        from graftwork.report.groups import groups_dict

        return groups_dict(self)

    def save(self, folder: str | PathLike[str], *, plot: bool = True) -> list[str]:
        """Write everything to a folder, made where there is none; return the files' names.

        ``differences.csv`` has the pairs tested, ``groups.csv`` the differences between each two
        groups, ``groups.txt`` the summary, ``groups.json`` everything, ``groups.png`` the figure,
        ``model-1.gw``, ``model-2.gw`` ... the network of each group, in their order; ``graftwork
        show model-1.gw`` names the group.
        """
        from graftwork.report.groups import write_groups

        return write_groups(self, folder, plot=plot)

    def _place(self, a: Any, b: Any) -> int:
        """Return the place of a pair that was tested."""
        index = numbered(self.names)
        ends = sorted((find(a, self.names, index), find(b, self.names, index)))
        places = np.flatnonzero((self.pairs == ends).all(axis=1))
        if not len(places):
            raise DataError(
                f"{a!r} and {b!r} were not compared: they are not an edge of any group's "
                "network, nor "
                "of that of all rows."
            )
        return int(places[0])


def _labels(states: tuple[Any, ...], members: tuple[Ints, ...]) -> list[Any]:
    """Return what pooled states are called."""
    listed = [[states[code] for code in each.tolist()] for each in members]
    return [each[0] if len(each) == 1 else "+".join(map(str, each)) for each in listed]


def _cell_errors(shared: SharedStates, covariances: list[Floats], i: int, j: int) -> Floats:
    """Return standard errors of the differences of two groups' tables, cell by cell."""
    total = np.sum(covariances[:2], axis=0)
    columns = np.eye(len(total))
    cells = np.array([shared.table(column, i, j).ravel() for column in columns])
    variances = np.einsum("ac,ab,bc->c", cells, total, cells)
    shape = tuple(len(side.members) for side in shared.sides(i, j))
    return np.asarray(np.sqrt(np.maximum(variances, 0.0)).reshape(shape))


def _level(level: float) -> float:
    share = number("level", level, 0.0, above=True)
    if share >= 1:
        raise DataError(f"level must lie between 0 and 1, got {level!r}.")
    return share
