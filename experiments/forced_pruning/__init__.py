"""Forced pruning on nltcs, plants and msnbc (Abdelatty, Sahoo and Roy)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from experiments.engine import Context, Found, Report, Size, Step, Study
from experiments.engine.observers import Snapshots
from experiments.forced_pruning.bounds import least_loss
from experiments.forced_pruning.claims import EXCHANGED, MORE, NAMES, RULES, claims, tables
from experiments.forced_pruning.figures import figures
from graftwork.data.encoded import prepare
from graftwork.datasets import Parts, load_debd, make_bernoulli
from graftwork.errors import ConvergenceWarning
from graftwork.estimators import MarkovNetwork
from graftwork.estimators.assemble import to_model

#: What is run of each data set: edges beyond the tree's, and edges exchanged at once.
GRIDS: dict[Size, dict[str, tuple[tuple[int, ...], tuple[int, ...]]]] = {
    "full": dict.fromkeys(NAMES, (MORE, EXCHANGED)),
    "quick": {"nltcs": ((0, 15), (1, 10)), "plants": ((15,), (10,)), "msnbc": ((15,), (10,))},
    "tiny": dict.fromkeys(NAMES, ((0, 15), (1, 10))),
}
#: Exchanges at most. The paper does not say how many; a descent ends by itself.
ROUNDS: dict[Size, dict[str, int]] = {
    "full": {"descent": 100, "greedy": 30, "rejection": 30, "mcmc": 30},
    "quick": {"descent": 6, "greedy": 6, "rejection": 6, "mcmc": 2},
    "tiny": {"descent": 2, "greedy": 2, "rejection": 2, "mcmc": 1},
}
#: Numbers of values that tied weights may take; the one that is best on validation rows is used.
VALUES: dict[Size, tuple[int, ...]] = {
    "full": (4, 5, 6, 7, 8, 10), "quick": (5, 7, 10), "tiny": (3, 5),
}  # fmt: skip
#: Draws of the pairs that are added to the tree, where nothing is exchanged.
SEEDS: dict[Size, int] = {"full": 5, "quick": 2, "tiny": 2}
#: Where the smallest loss of any pairwise network can be computed: few variables, many rows.
BOUNDED = ("nltcs", "msnbc")
#: Sets of up to this many neighbours are enumerated.
NEIGHBOURS: dict[Size, int] = {"full": 6, "quick": 4, "tiny": 2}
#: Restarts of the most thorough search.
RESTARTS: dict[Size, int] = {"full": 3, "quick": 0, "tiny": 0}
THOROUGH = ("plants", 15)
#: Variables and rows of the made data of tiny studies.
TINY = (10, 300)


def settings_of(rule: str, exchanged: int | None, rounds: int, **more: Any) -> dict[str, Any]:
    """Return the arguments of ``MarkovNetwork`` for a rule of exchanges; weights are not tied.

    Examples
    --------
    >>> settings_of("rejection", 5, 30, tied=7)["method_options"]
    {'delete': 'rejection', 'exchange': 5, 'rounds': 30, 'tied': 7}
    """
    options = {"delete": rule, "exchange": exchanged, "rounds": rounds, **more}
    return {"method": "forced-pruning", "method_options": options}


def parts_of(name: str, context: Context) -> Parts:
    """Return a data set's parts; made ones, of binary variables, for a tiny study."""
    if context.size != "tiny":
        return load_debd(name, context.folder)
    variables, rows = TINY
    made = make_bernoulli(
        variables, mean_degree=3, n_rows=2 * rows, n_test=rows, random_state=NAMES.index(name)
    )
    assert made.test is not None  # test rows were asked for
    return Parts(made.data[:rows], made.test, made.data[rows:])


def fit_one(
    rows: Any, test: Any, settings: Mapping[str, Any], context: Context
) -> tuple[MarkovNetwork, Found]:
    """Return what was learned, and its losses; "last" is that of the network of the last exchange.

    A search returns the best network that it saw; the paper returns the last one.
    """
    seen = Snapshots(context.observer, lambda record: record.activated > 0)
    net = MarkovNetwork(**settings, random_state=context.seed, n_jobs=context.n_jobs, verbose=seen)
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
    }
    exchanged = seen.found.get(True)
    if exchanged is not None and exchanged[0].index and found["exchanges"]:
        sample = prepare(rows, keep_all_states=False, n_jobs=context.n_jobs)
        last = to_model(rows, sample, exchanged[1])
        found["last"] = -float(np.mean(last.log_pseudo_likelihood(test)))
    return net, found


def _trees(name: str, more: Sequence[int], context: Context) -> Found:
    """The Chow-Liu tree, and the tree with the pairs of largest gain added to it."""
    parts = parts_of(name, context)
    tree, found = fit_one(parts.train, parts.test, {"method": "chow-liu"}, context)
    added = {}
    for extra in more:
        settings = {
            **settings_of("descent", None, 0, start="chow-liu"),
            "max_edges": tree.model_.n_edges + extra,
        }
        added[str(extra)] = fit_one(parts.train, parts.test, settings, context)[1]
    return {"tree": found, "added": added}


def _bounds(name: str, neighbours: int, context: Context) -> Found:
    """What no pairwise network can go below on the test rows, at any size and at the paper's."""
    parts = parts_of(name, context)
    settings = {"method": "full", "penalty": "none"}
    net, found = fit_one(parts.test, parts.test, settings, context)
    others = {"training": parts.train, "validation": parts.valid}
    edges = context.before[f"{name}-trees"]["tree"]["edges"]
    rows = np.column_stack([parts.test[variable] for variable in parts.test.names])
    least = least_loss(rows, [edges + extra for extra in MORE], neighbours)
    return {
        "best": found["nll"],
        "edges": found["edges"],
        "elsewhere": {
            part: fit_one(rows, rows, settings, context)[1]["nll"] for part, rows in others.items()
        },
        "converged": bool(net.certificate_.converged),
        "least": {str(extra): value for extra, value in zip(MORE, least, strict=True)},
    }


def _nothing(
    name: str, more: Sequence[int], values: Sequence[int], seeds: int, context: Context
) -> Found:
    """The tree and pairs drawn at random, tied, with nothing exchanged; for each number of values.

    The number that is best on validation rows, of the tree alone, is used for the exchanges.
    """
    parts = parts_of(name, context)
    edges = context.before[f"{name}-trees"]["tree"]["edges"]
    test: dict[str, dict[str, list[float]]] = {}
    valid = {}
    for count in values:
        settings = settings_of("greedy", None, 0, tied=count)
        test[str(count)] = {}
        for extra in more:
            runs = [
                fit_one(
                    parts.train,
                    parts.test,
                    {**settings, "max_edges": edges + extra},
                    replace(context, seed=context.seed + seed),
                )
                for seed in range(seeds if extra else 1)
            ]
            test[str(count)][str(extra)] = [found["nll"] for _, found in runs]
            if extra == more[0]:
                valid[str(count)] = -runs[0][0].score(parts.valid)
    chosen = min(valid, key=valid.__getitem__)
    return {"test": test, "valid": valid, "values": int(chosen), "tree": more[0] == 0}


def _cells(
    name: str, rule: str, extra: int, ks: Sequence[int], rounds: int, context: Context
) -> Found:
    """One rule at one size, tied in each iteration, for every number of edges exchanged at once."""
    parts = parts_of(name, context)
    edges = context.before[f"{name}-trees"]["tree"]["edges"] + extra
    tied = context.before[f"{name}-nothing"]["values"]
    return {
        str(k): fit_one(
            parts.train,
            parts.test,
            {**settings_of(rule, k, rounds, tied=tied), "max_edges": edges},
            context,
        )[1]
        for k in ks
    }


def _ours(name: str, rule: str, extra: int, k: int | None, rounds: int, context: Context) -> Found:
    """A rule of ours at one size, untied."""
    parts = parts_of(name, context)
    edges = context.before[f"{name}-trees"]["tree"]["edges"] + extra
    settings = {**settings_of(rule, k, rounds), "max_edges": edges}
    return fit_one(parts.train, parts.test, settings, context)[1]


def _thorough(restarts: int, rounds: Mapping[str, int], context: Context) -> Found:
    """Our best search at the size the paper does best on plants, and one on the test rows."""
    name, extra = THOROUGH
    parts = parts_of(name, context)
    edges = context.before[f"{name}-trees"]["tree"]["edges"] + extra
    greedy = {
        **settings_of("descent", None, rounds["descent"], restarts=restarts), "max_edges": edges
    }  # fmt: skip
    on_test = {
        **settings_of("descent", None, rounds["descent"]), "max_edges": edges, "penalty": "none"
    }  # fmt: skip
    return {
        "restarts": fit_one(parts.train, parts.test, greedy, context)[1],
        "on test rows": fit_one(parts.test, parts.test, on_test, context)[1],
    }


def _tying(name: str, extra: int, k: int, rounds: int, context: Context) -> Found:
    """The paper's exchanges without tying, tied in each iteration, and tied once after them."""
    parts = parts_of(name, context)
    edges = context.before[f"{name}-trees"]["tree"]["edges"] + extra
    count = context.before[f"{name}-nothing"]["values"]
    ways: dict[str, dict[str, Any]] = {
        "free": settings_of("greedy", k, rounds),
        "in each iteration": settings_of("greedy", k, rounds, tied=count),
        "once": {**settings_of("greedy", k, rounds), "tie": count},
    }
    found = {
        way: fit_one(parts.train, parts.test, {**settings, "max_edges": edges}, context)[1]
        for way, settings in ways.items()
    }
    return {"more": extra, "values": count, **found}


def _steps_of(name: str, size: Size) -> Iterator[Step]:
    more, ks = GRIDS[size][name]
    data: dict[str, Any] = {"data": name, "made": list(TINY)} if size == "tiny" else {"data": name}
    yield Step(f"{name}-trees", f"{name}: trees", partial(_trees, name, more),
               {**data, "more": more})  # fmt: skip
    if name in BOUNDED:
        neighbours = NEIGHBOURS[size]
        yield Step(
            f"{name}-bounds", f"{name}: what no pairwise network can do better",
            partial(_bounds, name, neighbours), {**data, "neighbours": neighbours},
        )  # fmt: skip
    values = VALUES[size]
    yield Step(
        f"{name}-nothing", f"{name}: tied, nothing exchanged",
        partial(_nothing, name, more, values, SEEDS[size]),
        {**data, **settings_of("greedy", None, 0), "more": more, "values": values,
         "seeds": SEEDS[size]},
    )  # fmt: skip
    for extra in more:
        for rule in RULES:
            rounds = ROUNDS[size][rule]
            yield Step(
                f"{name}-{rule}-{extra}", f"{name}: {rule}, {extra} edges more than the tree",
                partial(_cells, name, rule, extra, ks, rounds),
                {**data, **settings_of(rule, None, rounds), "k": ks, "more": extra,
                 "tied": "by validation", "of": values},
            )  # fmt: skip
        for rule, k in (("descent", None), ("mcmc", 10)):
            if rule == "descent" or name in BOUNDED or extra == THOROUGH[1]:
                rounds = ROUNDS[size][rule]
                yield Step(
                    f"{name}-{rule}-{extra}", f"{name}: {rule}, {extra} edges more than the tree",
                    partial(_ours, name, rule, extra, k, rounds),
                    {**data, **settings_of(rule, k, rounds), "more": extra},
                )  # fmt: skip
    rounds = ROUNDS[size]["greedy"]
    yield Step(
        f"{name}-tying", f"{name}: tied and untied", partial(_tying, name, 15, 10, rounds),
        {**data, **settings_of("greedy", 10, rounds), "more": 15, "of": values},
    )  # fmt: skip


def steps(size: Size) -> list[Step]:
    """Return the steps, one data set after the other.

    Examples
    --------
    >>> steps("quick")[0].key
    'nltcs-trees'
    """
    found = [step for name in ("nltcs", "msnbc", "plants") for step in _steps_of(name, size)]
    thorough = {"restarts": RESTARTS[size], "rounds": ROUNDS[size]["descent"]}
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
