"""What learning would take: sizes and memory, from the data alone."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graftwork.data import Table
from graftwork.data.encoded import EncodedRows, prepare
from graftwork.data.placed import PlacedTable
from graftwork.data.placing import comes_in_parts
from graftwork.device.choosing import device_memory, find_device
from graftwork.errors import DataWarning
from graftwork.estimators.missing import MissingCells, read_cells, read_rows, recommended
from graftwork.estimators.rows_in_parts import in_parts
from graftwork.estimators.sizes import check_tables, table_bytes
from graftwork.estimators.spec import FitSpec
from graftwork.grafting import Everything, NetworkFamily
from graftwork.kernels.counts import MOST_BITSET_CELLS
from graftwork.objectives.pseudo import MEMORY
from graftwork.significance.variances import TILE
from graftwork.solvers.memory import pairs_kept

# Edges for each variable of the network whose memory is estimated: structure searches ended with 2
# (scale-free networks) to 6 (msnbc).
EDGES = 3
# Vectors of all weights that a solver keeps, and arrays of all tables of a scoring batch.
SOLVER_VECTORS = 30
# Those of a solver of all pairs at once, beside the curvature it remembers, and of the counts.
VECTORS_OF_ALL, MEMORY_OF_ALL = 20, 10
BATCH_ARRAYS = 5
# Cells of tables of counts that are kept.
KEPT_CELLS = 2**25
# In data of more cells, equal rows are looked for among a few first.
MANY_CODES = 2**24
LOOKED_AT = 1000
# What grows with the rows that are in memory.
OF_ROWS = ("rows", "bitsets", "conditionals")
# Of rows in parts this many are looked at.
SOME_ROWS = 200_000


@dataclass(frozen=True, slots=True, repr=False)
class CostEstimate:
    """What learning from some data will take, before it is done.

    Attributes
    ----------
    method, loss, missing : str
        What the estimate is of; ``missing`` is the recommended policy where cells are missing and
        none was chosen.
    rows, merged_rows : int
        Rows with a weight; rows that a pass over the data sees, where equal ones are merged.
    total_weight : float
        Sum of the row weights.
    missing_cells, incomplete_rows : int
        Cells that are missing, and rows that lack some.
    variables, constant : int
        All variables, and those with one state.
    states : (int, int)
        Fewest and most states that occur.
    pairs, parameters, entries : int
        Pairs that may be edges, and parameters of a network of all of them: those of ordered
        variables are linear, and in whole tables there are ``entries``.
    memory : dict of str to int
        Bytes of what is held at once.
    device_memory : dict of str to int
        The same of a GPU's memory, with room for all; empty where none is used.
    edges, likely_parameters : int
        Edges of the network that memory is estimated for: three for each variable, or all that may
        be; and the parameters of such a network.

    Examples
    --------
    >>> import graftwork as gw
    >>> cost = gw.MarkovNetwork(lam=0.01).estimate([["a", 0], ["b", 1], ["a", 0]] * 20)
    >>> cost.pairs, cost.parameters, cost.edges
    (1, 8, 1)
    """

    method: str
    loss: str
    missing: str
    rows: int
    merged_rows: int
    total_weight: float
    missing_cells: int
    incomplete_rows: int
    variables: int
    constant: int
    states: tuple[int, int]
    pairs: int
    parameters: int
    entries: int
    memory: dict[str, int]
    device_memory: dict[str, int]
    edges: int
    likely_parameters: int

    @property
    def peak_bytes(self) -> int:
        """Everything that is held at once, in bytes."""
        return sum(self.memory.values())

    def summary(self) -> str:
        """Return the estimate in words, as ``graftwork learn --dry-run`` prints it."""
        from graftwork.report.cost_text import cost_summary

        return cost_summary(self)

    def __repr__(self) -> str:
        return (
            f"CostEstimate(rows={self.rows}, variables={self.variables}, pairs={self.pairs}, "
            f"peak_bytes={self.peak_bytes})"
        )


def estimate_cost(spec: FitSpec, X: Any, sample_weight: Any = None) -> CostEstimate:
    """Return what ``fit(spec, X, sample_weight)`` would cost; data are refused alike."""
    if comes_in_parts(X):
        with in_parts(replace(spec, missing="state"), X, sample_weight) as placed:
            return _estimate_parts(spec, placed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # fit warns
        spec, table, found = _read(spec, X, sample_weight)
        sample = _prepared(spec, table)
        check_tables(table.names, sample.cards, spec.tests, spec.table_memory)
        on_device = find_device(spec.device) is not None
        recipe = spec.recipe_for(table.n_variables, on_device)
        if recipe.sized and spec.lam is None:  # nothing holds tables of ordered variables to a line
            sample = replace(sample, scores=None)
        family = spec.knowledge.family(table, sample, recipe, spec.budget.max_edges)
    limit = spec.budget.max_edges
    everything = isinstance(recipe.selector, Everything) and limit is None
    tests = _tests(sample) if spec.tests else {}
    cards, space = sample.cards, family.space(family.variables, False)
    unaries, linear, entries = (
        int(cards.sum()),
        _linear_entries(family),
        family.count_entries(space),
    )
    edges = space.size if everything else min(space.size, EDGES * len(cards))
    edges = edges if limit is None else min(edges, limit)
    share = edges / max(1, space.size)
    return CostEstimate(
        method=recipe.name,
        loss=spec.loss,
        missing=spec.missing,
        rows=int(sample.counts.codes.shape[1]),
        merged_rows=sample.n_rows,
        total_weight=sample.total_weight,
        missing_cells=found.cells,
        incomplete_rows=found.rows,
        variables=len(cards),
        constant=int((cards < 2).sum()),
        states=(int(cards.min()), int(cards.max())),
        pairs=space.size,
        parameters=unaries + linear,
        entries=unaries + entries,
        memory=_memory(
            table, family, unaries + round(share * entries), spec.loss == "likelihood", everything
        )
        | tests
        | {"tables of the widest variable": table_bytes(cards, spec.tests)},
        device_memory=device_memory(cards, table.n_rows) if on_device else {},
        edges=edges,
        likely_parameters=unaries + round(share * linear),
    )


def _estimate_parts(spec: FitSpec, placed: PlacedTable) -> CostEstimate:
    """Return what rows in parts would cost, from some of them."""
    check_tables(placed.names, placed.cards, spec.tests, spec.table_memory)
    share = min(1.0, SOME_ROWS / placed.n_rows)
    some = placed.sample_rows(share, 0)
    advice = recommended(placed, spec.loss) if spec.missing == "error" else None
    policy = spec.missing if advice is None else advice.policy
    found = estimate_cost(replace(spec, missing=policy, states=None, bins=None), some)
    cells, rows = placed.count_missing()
    return replace(
        found,
        rows=placed.n_rows,
        merged_rows=placed.n_rows,
        device_memory=device_memory(placed.cards, placed.n_rows) if found.device_memory else {},
        total_weight=placed.total_weight,
        missing_cells=cells,
        incomplete_rows=rows,
        memory={"parts of the rows": placed.memory}
        | {name: held for name, held in found.memory.items() if name not in OF_ROWS},
    )


def _linear_entries(family: NetworkFamily) -> int:
    """Return how many numbers the tables of all pairs have, those of ordered variables linear."""
    space, scores = family.space(family.variables, False), family.sample.scores
    if scores is None:
        return family.count_entries(space)
    if family.prior is not None:
        pairs = space.pairs(np.arange(space.size))
        return int(scores.widths[pairs].prod(axis=1).sum())
    own = scores.widths[family.variables]
    return int((own.sum() ** 2 - (own**2).sum()) // 2)


def _read(spec: FitSpec, X: Any, weights: Any) -> tuple[FitSpec, Table, MissingCells]:
    """Return the rows to learn from, and what is missing in them.

    Where missing cells would be an error, the policy that is recommended takes its place.
    """
    if spec.missing == "error" and not isinstance(X, Table):
        X, _ = read_cells(replace(spec, missing="state"), X, weights)
        advice = recommended(X, spec.loss)
        policy = spec.missing if advice is None else advice.policy
        spec, weights = replace(spec, missing=policy, states=None), None  # the table has them
    table, found = read_rows(spec, X, weights)
    assert isinstance(table, Table)
    return spec, table, found


def _prepared(spec: FitSpec, table: Table) -> EncodedRows:
    """Return the data as fit would; in large ones equal rows are not looked for in vain."""
    merge = True
    if table.codes.size > MANY_CODES:
        rows = np.unique(np.linspace(0, table.n_rows - 1, LOOKED_AT).astype(np.int64))
        merge = len(np.unique(table.codes[:, rows], axis=1).T) < len(rows)
    keep, missing = bool(spec.unary), spec.missing in ("available-case", "impute")
    return prepare(table, keep_all_states=keep, merge=merge, missing=missing, n_jobs=spec.n_jobs)


def _tests(sample: EncodedRows) -> dict[str, int]:
    """Return the bytes of testing all pairs: spreads and moments of states in each row, twice."""
    free = sample.cards - 1
    numbers = sample.n_rows * int((free * (free + 1)).sum())
    return {"tests of edges": 2 * 8 * min(numbers, 2 * TILE)}


def _memory(
    table: Table,
    family: NetworkFamily,
    weights: int,
    likelihood: bool,
    everything: bool,
) -> dict[str, int]:
    """Return the bytes of what is held at once, from the sizes of arrays.

    A network of all pairs needs no scores and no conditionals of its rows: there the solver's
    vectors are what counts.
    """
    sample, space = family.sample, family.space(family.variables, False)
    counts, free = sample.counts, sample.cards - 1
    own = {id(a): a.nbytes for a in (table.codes, counts.codes, sample.codes)}
    entries, batch = family.count_entries(space), min(space.size, space.batch)
    words = -(-counts.codes.shape[1] // 64)
    held = {
        "rows": sum(own.values()),
        "bitsets": 8 * words * int(free[free <= MOST_BITSET_CELLS].sum()),
        "counts": 8 * min(entries, KEPT_CELLS),
        "tables of a scoring batch": BATCH_ARRAYS * 8 * (entries * batch // max(1, space.size)),
        "solver": SOLVER_VECTORS * 8 * weights,
    }
    if everything:
        remembered = pairs_kept(MEMORY_OF_ALL, 8 * weights)
        held["solver"] = (VECTORS_OF_ALL + 2 * remembered) * 8 * weights
        del held["tables of a scoring batch"]
    if likelihood:
        return held
    if everything:
        return held | {"neighbours": 2 * sample.n_rows * len(family.variables)}
    conditionals = 8 * sample.n_rows * int(free.sum())
    return held | {"conditionals": min(conditionals, MEMORY)}
