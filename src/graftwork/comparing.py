"""Several methods on the same data at the same lambda: what each reaches, and at what cost."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from contextlib import suppress
from numbers import Real
from typing import Any

import numpy as np

from graftwork.data import Table, align, as_table
from graftwork.errors import ConvergenceWarning, GraftworkError, ParameterError
from graftwork.estimators import MarkovNetwork
from graftwork.grafting import Recipe
from graftwork.parameters import joined, known, number

Record = dict[str, Any]

#: What is compared by default: methods that end at the same certified optimum.
METHODS = ("best-choice", "edge-grafting", "first-hit")
#: What all methods have in common, so that none may set it.
_SHARED = ("lam", "bins", "states", "random_state")
#: The part of a table that a method is tried on first, and for how long.
_CORNER_ROWS, _CORNER_COLUMNS, _CORNER_ROUNDS, _CORNER_LAM = 64, 8, 3, 0.01


def compare(
    X: Any,
    methods: Any = METHODS,
    *,
    lam: float | str = "auto",
    test: Any = None,
    sample_weight: Any = None,
    random_state: int = 0,
    **options: Any,
) -> list[Record]:
    """Return what several methods make of the same data at the same lambda, and what each took.

    Every method starts from nothing and counts its own pair tables. Its seconds run from its first
    evaluation to its last check: reading and preparing the data are not included, nor is
    compilation, since each method is tried on a few rows and columns first. Ctrl-C ends the
    comparison; the records so far are returned if there are any.

    Parameters
    ----------
    X : table
        As `MarkovNetwork.fit` takes it.
    methods : str, Recipe, or a list or dict of these
        Names, recipes, or dicts of `MarkovNetwork`'s arguments; a dict {label: one of these} gives
        labels. Default: best-choice, edge-grafting and first-hit.
    lam : float or "auto"
        Strength of the penalty, for all of them. "auto" chooses it in one run of its own, unless
        every method has a given number of edges.
    test : table or float, optional
        Rows to predict, or the share of the rows to hold out for that.
    sample_weight : (rows,) array, optional
        Row weights.
    random_state : int
        The same for every method, and for the rows held out.
    **options
        Of `MarkovNetwork`, for all methods: penalty, loss, max_edges, max_seconds, tol, verbose ...

    Returns
    -------
    list of dict
        For each method its ``method`` (the label), ``objective``, ``gap`` (how far that is above
        the lowest of the methods that minimise the same), ``edges``, ``rounds``, ``seconds``,
        ``evaluations`` of loss and gradient, ``test_nlpl`` (mean negative log pseudo-likelihood of
        a test row, where there are some), ``converged``, ``stop`` (why it ended) and ``network``,
        the fitted `MarkovNetwork`.

    Raises
    ------
    ParameterError
        If a method or an option is not known, or they do not go with each other; before any run.

    Examples
    --------
    >>> rows = [["sun", "dry"], ["sun", "dry"], ["rain", "wet"], ["rain", "wet"]] * 25
    >>> found = compare(rows, ["best-choice", "edge-grafting"], lam=0.01)
    >>> [(each["method"], each["edges"], each["gap"] < 1e-6) for each in found]
    [('best-choice', 1, True), ('edge-grafting', 1, True)]
    """
    if "method" in options:
        raise ParameterError("compare takes several methods: pass methods=[...].")
    seed = int(number("random_state", random_state, 0, whole=True))
    reading = {name: options.pop(name, None) for name in ("states", "bins")}
    options = {**options, "lam": lam, "random_state": seed}
    entries = {
        label: joined(options, settings) for label, settings in labelled_methods(methods).items()
    }
    specs = [_network(settings).spec() for settings in entries.values()]
    table = as_table(X, **reading, weights=sample_weight)
    train, held = _held_out(table, test, seed)
    if any(spec.chooses for spec in specs):
        lam = _chosen_lam(train, options)
    for settings in entries.values():
        rehearse(settings, train)
    nets: dict[str, MarkovNetwork] = {}
    try:
        for label, settings in entries.items():
            nets[label] = _fitted(_network({**settings, "lam": lam}), train)
    except KeyboardInterrupt:
        if not nets:
            raise
    return _records(nets, held)


def labelled_methods(methods: Any) -> dict[str, dict[str, Any]]:
    """Return the arguments of `MarkovNetwork` for each method, by labels that all differ."""
    if isinstance(methods, str | Recipe):
        methods = [methods]
    if isinstance(methods, Mapping):
        pairs = [(str(label), _settings(spec)) for label, spec in methods.items()]
    elif isinstance(methods, Iterable):
        pairs = [(_name(own), own) for own in map(_settings, methods)]
    else:
        raise ParameterError(f"methods={methods!r} is not a list of methods.")
    if not pairs:
        raise ParameterError("methods is empty; name some, such as 'best-choice'.")
    out: dict[str, dict[str, Any]] = {}
    for label, own in pairs:
        new, count = label, 1
        while new in out:
            count += 1
            new = f"{label} ({count})"
        out[new] = own
    return out


def rehearse(settings: Mapping[str, Any], table: Table) -> None:
    """Learn a few rounds from a corner of a table, so that what a method uses is compiled.

    Loading compiled functions takes a second or more, which would count as the first method's.
    """
    method = dict(settings.get("method_options") or {})
    if method.get("start") is not None:
        method["start"] = "chow-liu"  # a start may name columns that the corner does not have
    unlimited = dict.fromkeys(("max_tests", "max_evaluations"))
    short = {
        **settings,
        **dict.fromkeys(("max_edges", "max_seconds")),
        "lam": _CORNER_LAM,
        "verbose": False,
        "method_options": {**method, **unlimited, "max_iter": _CORNER_ROUNDS},
    }
    tries = [short]
    if settings.get("loss") == "likelihood" and settings.get("inference", "auto") == "auto":
        tries.append({**short, "inference": "bp"})  # a corner is small enough for exact inference
    for each in tries:
        with suppress(GraftworkError):  # the corner may be too odd, or lack columns that are named
            _fitted(MarkovNetwork(**each), corner_of(table))


def corner_of(table: Table) -> Table:
    """Return a few rows of a few columns, the column with most states among them."""
    rows = np.linspace(0, table.n_rows - 1, min(table.n_rows, _CORNER_ROWS)).astype(np.int64)
    codes = table.codes[:, rows]
    varies = np.flatnonzero((codes != codes[:, :1]).any(axis=1))
    columns = np.unique(np.append(varies[: _CORNER_COLUMNS - 1], np.argmax(table.cards)))
    if table.n_variables <= _CORNER_COLUMNS:
        columns = np.arange(table.n_variables)
    # Any weights will do, but there must be some where the table has some: floats are counted.
    weights = None if table.weights is None else np.full(len(rows), 2.0)
    names = tuple(table.names[i] for i in columns)
    return Table(names, tuple(table.states[i] for i in columns), codes[columns], weights)


def _name(settings: Mapping[str, Any]) -> str:
    """Return the name of a method given by name or as a recipe."""
    method = settings.get("method", "auto")
    return method.name if isinstance(method, Recipe) else str(method)


def _settings(spec: Any) -> dict[str, Any]:
    """Return the arguments of `MarkovNetwork` that one method stands for."""
    if isinstance(spec, str | Recipe):
        return {"method": spec}
    if not isinstance(spec, Mapping):
        raise ParameterError(
            f"{spec!r} is not a method; use a name, a Recipe, or a dict of MarkovNetwork's "
            "arguments."
        )
    for name in _SHARED:
        if name in spec:
            raise ParameterError(
                f"a method may not set {name}, which is the same for all: pass it to compare."
            )
    return dict(spec)


def _network(settings: Mapping[str, Any]) -> MarkovNetwork:
    """Return the estimator with these arguments, or refuse one that it does not have."""
    parameters = list(MarkovNetwork().get_params(deep=False))
    for name in settings:
        known("option", name, parameters)
    return MarkovNetwork(**settings)


def _held_out(table: Table, test: Any, seed: int) -> tuple[Table, Table | None]:
    """Return the rows to learn from and those to predict: others, or a share of these."""
    if test is None:
        return table, None
    if isinstance(test, Real) and not isinstance(test, bool):
        held, train = table.split(float(test), seed)
        return train, held
    return table, align(test, table.names, table.states, owner="compare")


def _chosen_lam(table: Table, options: Mapping[str, Any]) -> float:
    """Return the lambda that one run chooses; its path begins without edges, and ties nothing."""
    own = {name: value for name, value in options.items() if name not in ("method_options", "tie")}
    return float(_fitted(MarkovNetwork(**own), table).lam_)


def _fitted(net: MarkovNetwork, table: Table) -> MarkovNetwork:
    """Return the network learned; the record says where it did not converge, no warning does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return net.fit(table)


def _records(nets: Mapping[str, MarkovNetwork], held: Table | None) -> list[Record]:
    lowest: dict[str, float] = {}
    for net in nets.values():
        problem = _problem(net)
        objective = net.certificate_.objective
        lowest[problem] = min(lowest.get(problem, objective), objective)
    records = []
    for label, net in nets.items():
        certificate, last = net.certificate_, net.trace_[-1]
        record: Record = {
            "method": label,
            "objective": certificate.objective,
            "gap": certificate.objective - lowest[_problem(net)],
            "edges": certificate.n_edges,
            "rounds": len(net.trace_),
            "seconds": last.seconds,
            "evaluations": last.evaluations,
        }
        if held is not None:
            record["test_nlpl"] = -net.score(held)
        ended = {"converged": certificate.converged, "stop": certificate.stop, "network": net}
        records.append(record | ended)
    return records


def _problem(net: MarkovNetwork) -> str:
    """Return what a network minimises: objectives can be compared where this is the same."""
    parts = ["loss", "penalty", "penalty_options", "knowledge", "ordinal"]
    parts += ["inference"] * (net.loss == "likelihood")
    return repr([getattr(net, name) for name in parts])
