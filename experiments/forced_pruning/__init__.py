"""Forced pruning on nltcs, plants and msnbc (Abdelatty, Sahoo and Roy)."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from experiments.engine import Context, Found, Report, Size, Step, Study
from experiments.forced_pruning.bounds import least_loss
from experiments.forced_pruning.claims import EXCHANGED, MORE, NAMES, claims, tables
from experiments.forced_pruning.figures import figures
from graftwork.datasets import load_debd
from graftwork.errors import ConvergenceWarning
from graftwork.estimators import MarkovNetwork
from graftwork.estimators.presets import preset

#: What is run of each data set: edges beyond the tree's, and edges exchanged at once.
GRIDS: dict[Size, dict[str, tuple[tuple[int, ...], tuple[int, ...]]]] = {
    "full": dict.fromkeys(NAMES, (MORE, EXCHANGED)),
    "quick": {"nltcs": ((0, 15), (1, 10)), "plants": ((15,), (10,)), "msnbc": ((15,), (10,))},
}
#: Exchanges at most. The paper does not say how many; greedy ones end by themselves.
ROUNDS: dict[Size, dict[str, int]] = {
    "full": {"greedy": 100, "rejection": 30, "mcmc": 30},
    "quick": {"greedy": 6, "rejection": 6, "mcmc": 2},
}
#: Where the smallest loss of any pairwise network can be computed: few variables, many rows.
BOUNDED = ("nltcs", "msnbc")
#: Sets of so many neighbours are looked at one by one.
NEIGHBOURS: dict[Size, int] = {"full": 6, "quick": 4}
#: Restarts of the most thorough search.
RESTARTS: dict[Size, int] = {"full": 3, "quick": 0}
#: Different values of tied weights.
TIED = 10
THOROUGH = ("plants", 15)


def settings_of(rule: str, exchanged: int | None, rounds: int, **more: Any) -> dict[str, Any]:
    """Return the arguments of ``MarkovNetwork`` for a rule of deleting edges; weights are not tied.

    Examples
    --------
    >>> settings_of("rejection", 5, 30)["method_options"]["exchange"]
    5
    """
    settings = preset("forced-pruning-paper")
    options = {"delete": rule, "exchange": exchanged, "rounds": rounds, **more}
    return {**settings, "method_options": options, "tie": None}


def _fit(
    rows: Any, test: Any, settings: Mapping[str, Any], context: Context
) -> tuple[MarkovNetwork, Found]:
    began = time.perf_counter()
    net = MarkovNetwork(
        **settings, random_state=context.seed, n_jobs=context.n_jobs, verbose=context.observer
    )
    with warnings.catch_warnings():  # whether weights converged is part of what is found
        warnings.simplefilter("ignore", ConvergenceWarning)
        net.fit(rows)
    tally = net.exchange_
    found = {
        "nll": -net.score(test),
        "train_nll": -net.score(rows),
        "objective": net.objective_,
        "edges": net.model_.n_edges,
        "exchanges": 0 if tally is None else tally.accepted,
        "proposals": 0 if tally is None else tally.proposals,
        "seconds": time.perf_counter() - began,
    }
    return net, found


def _trees(name: str, more: Sequence[int], context: Context) -> Found:
    """The Chow-Liu tree, and the tree with the pairs of largest gain added to it."""
    parts = load_debd(name, context.folder)
    tree, found = _fit(parts.train, parts.test, {"method": "chow-liu"}, context)
    added = {}
    for extra in more:
        settings = {
            **settings_of("greedy", None, 0, start="chow-liu"),
            "max_edges": tree.model_.n_edges + extra,
        }
        added[str(extra)] = _fit(parts.train, parts.test, settings, context)[1]
    return {"tree": found, "added": added}


def _bounds(name: str, neighbours: int, context: Context) -> Found:
    """What no pairwise network can go below on the test rows, at any size and at the paper's."""
    parts = load_debd(name, context.folder)
    settings = {"method": "full", "penalty": "none"}
    net, found = _fit(parts.test, parts.test, settings, context)
    others = {"training": parts.train, "validation": parts.valid}
    edges = context.before[f"{name}-trees"]["tree"]["edges"]
    rows = np.column_stack([parts.test[variable] for variable in parts.test.names])
    least = least_loss(rows, [edges + extra for extra in MORE], neighbours)
    return {
        "best": found["nll"],
        "edges": found["edges"],
        "elsewhere": {
            part: _fit(rows, rows, settings, context)[1]["nll"] for part, rows in others.items()
        },
        "converged": bool(net.certificate_.converged),
        "least": {str(extra): value for extra, value in zip(MORE, least, strict=True)},
    }


def _cells(
    name: str, rule: str, extra: int, ks: Sequence[int | None], rounds: int, context: Context
) -> Found:
    """One rule at one size, for every number of edges exchanged at once (None: our default)."""
    parts = load_debd(name, context.folder)
    edges = context.before[f"{name}-trees"]["tree"]["edges"] + extra
    return {
        "default" if k is None else str(k): _fit(
            parts.train, parts.test, {**settings_of(rule, k, rounds), "max_edges": edges}, context
        )[1]
        for k in ks
    }


def _thorough(restarts: int, rounds: Mapping[str, int], context: Context) -> Found:
    """Our best search at the size the paper does best on plants, and one on the test rows."""
    name, extra = THOROUGH
    parts = load_debd(name, context.folder)
    edges = context.before[f"{name}-trees"]["tree"]["edges"] + extra
    greedy = {
        **settings_of("greedy", None, rounds["greedy"], restarts=restarts), "max_edges": edges
    }  # fmt: skip
    on_test = {
        **settings_of("greedy", None, rounds["greedy"]), "max_edges": edges, "penalty": "none"
    }  # fmt: skip
    return {
        "restarts": _fit(parts.train, parts.test, greedy, context)[1],
        "on test rows": _fit(parts.test, parts.test, on_test, context)[1],
    }


def _tying(name: str, extra: int, rounds: int, context: Context) -> Found:
    """The same network with weights of ten different values: the paper's regulariser."""
    parts = load_debd(name, context.folder)
    edges = context.before[f"{name}-trees"]["tree"]["edges"] + extra
    settings = {**settings_of("greedy", 10, rounds), "max_edges": edges}
    net, free = _fit(parts.train, parts.test, settings, context)
    again = {"method": "chow-liu", "start": net, "tie": TIED, "max_edges": edges}
    _, tied = _fit(parts.train, parts.test, again, context)
    return {"more": extra, "values": TIED, "free": free, "tied": tied}


def _steps_of(name: str, size: Size) -> Iterator[Step]:
    more, ks = GRIDS[size][name]
    yield Step(f"{name}-trees", f"{name}: trees", partial(_trees, name, more), {"more": more})
    if name in BOUNDED:
        neighbours = NEIGHBOURS[size]
        yield Step(
            f"{name}-bounds", f"{name}: what no pairwise network can do better",
            partial(_bounds, name, neighbours), {"neighbours": neighbours, "rows": "all parts"},
        )  # fmt: skip
    for extra in more:
        for rule in ("greedy", "rejection"):
            rounds = ROUNDS[size][rule]
            own = (*ks, None) if rule == "greedy" else ks
            yield Step(
                f"{name}-{rule}-{extra}", f"{name}: {rule}, {extra} edges more than the tree",
                partial(_cells, name, rule, extra, own, rounds), {"k": own, "rounds": rounds},
            )  # fmt: skip
        if name in BOUNDED or extra == THOROUGH[1]:
            rounds = ROUNDS[size]["mcmc"]
            yield Step(
                f"{name}-mcmc-{extra}", f"{name}: mcmc, {extra} edges more than the tree",
                partial(_cells, name, "mcmc", extra, (10,), rounds), {"rounds": rounds},
            )  # fmt: skip
    rounds = ROUNDS[size]["greedy"]
    yield Step(
        f"{name}-tying", f"{name}: tied weights", partial(_tying, name, 15, rounds),
        {"rounds": rounds, "values": TIED},
    )  # fmt: skip


def steps(size: Size) -> list[Step]:
    """Return the steps, one data set after the other.

    Examples
    --------
    >>> steps("quick")[0].key
    'nltcs-trees'
    """
    found = [step for name in ("nltcs", "msnbc", "plants") for step in _steps_of(name, size)]
    thorough = {"restarts": RESTARTS[size], "rounds": ROUNDS[size]}
    work = partial(_thorough, RESTARTS[size], ROUNDS[size])
    name = "-".join(map(str, THOROUGH))
    return [*found, Step(f"{name}-thorough", "plants: a thorough search", work, thorough)]


def report(found: Mapping[str, Found]) -> Report:
    """Return claims, tables and the picture of whatever was run."""
    return Report(claims(found), tables(found), figures(found))


STUDY = Study(
    "forced-pruning",
    "Abdelatty, Sahoo and Roy, Structure learning using forced pruning",
    steps,
    report,
    ("debd",),
)
