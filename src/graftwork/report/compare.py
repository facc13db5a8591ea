"""compare: the same data at the same lambda through many methods."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from graftwork.data import Table, align, as_table
from graftwork.estimators.parts import ParameterError, number
from graftwork.grafting.trace import Observer
from graftwork.report.compare_evaluate import evaluate
from graftwork.report.compare_methods import check_options, make_entries, usual_entries
from graftwork.report.compare_runs import Task, run_methods
from graftwork.report.comparison import Comparison
from graftwork.report.edges import true_edges


def compare(
    X: Any,
    methods: Any = None,
    *,
    lam: float | str = "auto",
    truth: Any = None,
    test: Any = None,
    sample_weight: Any = None,
    random_state: Any = 0,
    points: int = 100,
    observer: Observer | None = None,
    **options: Any,
) -> Comparison:
    """Return what many methods make of the same data at the same lambda, and what each took.

    Every method starts from nothing and counts its own pair tables. Its clock runs from its first
    evaluation to its last check: reading and preparing the data, compilation (each method is
    tried on a corner of the data first) and the evaluation of its rounds are not on it. An
    interrupt (Ctrl-C) ends the comparison with what there is; if there is nothing yet,
    KeyboardInterrupt is raised.

    Parameters
    ----------
    X : table
        As `MarkovNetwork.fit` takes it.
    methods : list or dict, optional
        Names ("all" for every one), recipes, or dicts of `MarkovNetwork`'s arguments; a dict
        {label: one of these} labels them. Default: what ends soon, which is every method for up
        to 10 variables, best-choice, edge-grafting, first-hit and grafting-light for up to 64,
        and best-choice and first-hit beyond.
    lam : float or "auto"
        Strength of the penalty, for all of them. "auto" chooses it in one run of its own.
    truth : networkx.Graph, model or iterable of pairs of names, optional
        The true structure; recall, precision and F1 are then compared too.
    test : table or float, optional
        Rows to predict, or the share of the rows to hold out for that.
    sample_weight : (rows,) array, optional
        Row weights.
    random_state : int, Generator or None
        The same for every method, and for the rows held out.
    points : int
        At most so many rounds of a method, evenly spread, are evaluated on held-out rows and
        against the truth.
    observer : Observer, optional
        Told of every method as a stage, and of its rounds.
    **options
        Of `MarkovNetwork`, for all methods: penalty, loss, l2, max_edges, max_seconds, tol, ...

    Returns
    -------
    Comparison
        With ``table()``, ``words()``, ``plot()`` and ``write(folder)``.

    Examples
    --------
    >>> rows = [["sun", "dry"], ["sun", "dry"], ["rain", "wet"], ["rain", "wet"]] * 25
    >>> result = compare(rows, ["best-choice", "edge-grafting"], lam=0.01, truth=[("x0", "x1")])
    >>> [(row["method"], row["edges"], row["recall"]) for row in result.table()]
    [('best-choice', 1, 1.0), ('edge-grafting', 1, 1.0)]
    >>> result.agreements()[0].same
    True
    """
    task = make_task(
        X,
        methods,
        lam=lam,
        truth=truth,
        test=test,
        sample_weight=sample_weight,
        random_state=random_state,
        **options,
    )
    most = int(number("points", points, 2, whole=True))
    return evaluate(run_methods(task, observer, most_networks=most))


def make_task(
    X: Any,
    methods: Any = None,
    *,
    lam: float | str = "auto",
    truth: Any = None,
    test: Any = None,
    sample_weight: Any = None,
    random_state: Any = 0,
    **options: Any,
) -> Task:
    """Return what is to be compared, with everything refused that can be before any learning.

    Examples
    --------
    >>> [entry.label for entry in make_task([[0, 0], [1, 1]], "first-hit").entries]
    ['first-hit']
    """
    check_options(options)
    entries = None if methods is None else make_entries(methods)
    table = as_table(X, states=options.pop("states", None), weights=sample_weight)
    seed = _seed(random_state)
    train, held = _held_out(table, test, seed)
    return Task(
        train,
        held,
        None if truth is None else true_edges(truth, table.names),
        usual_entries(table.n_variables) if entries is None else entries,
        {**options, "lam": lam, "random_state": seed},
        chosen=entries is not None,
    )


def _held_out(table: Table, test: Any, seed: int) -> tuple[Table, Table | None]:
    """Return the rows to learn from and those to predict: others, or a share of these."""
    if test is None:
        return table, None
    if isinstance(test, Real) and not isinstance(test, bool):
        held, train = table.split(float(test), seed)
        return train, held
    return table, align(test, table.names, table.states, owner="compare")


def _seed(random_state: Any) -> int:
    """Return a seed that every method can start from, drawn once where a generator is given."""
    if isinstance(random_state, int | np.integer) and random_state >= 0:
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    try:
        return int(np.random.default_rng(random_state).integers(2**31))
    except (TypeError, ValueError):
        raise ParameterError(
            f"random_state={random_state!r} is no seed; use a whole number from 0 on, or None."
        ) from None
