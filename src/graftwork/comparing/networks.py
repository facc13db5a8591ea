"""compare: the same table at the same lambda through many methods of MarkovNetwork."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

import numpy as np

from graftwork.comparing.comparison import (
    COST,
    EVALUATIONS,
    GAP,
    OBJECTIVE,
    REACHED,
    ROUNDS,
    SECONDS,
    TRUE,
    Comparison,
    Metric,
    Record,
    Run,
)
from graftwork.comparing.methods import Entry, Learner, check_options, make_entries
from graftwork.comparing.runner import (
    WARM_LAM,
    WARM_ROUNDS,
    Attempt,
    Task,
    Trial,
    compare_methods,
    evaluated_run,
    no_stall_warnings,
)
from graftwork.comparing.watchers import Album
from graftwork.data import Table, align, as_table
from graftwork.data.encoded import EncodedRows, prepare
from graftwork.errors import ParameterError
from graftwork.estimators import MarkovNetwork
from graftwork.estimators.assemble import to_model
from graftwork.estimators.parts import method_factory
from graftwork.estimators.starts import words_of_start
from graftwork.grafting import Recipe
from graftwork.grafting.trace import Observer
from graftwork.inference.layout import Potentials
from graftwork.models import PairwiseMRF
from graftwork.parameters import number
from graftwork.recipes import RECIPES
from graftwork.report.choice_text import choice_text
from graftwork.report.edges import Edges, score_edges, true_edges
from graftwork.text import names

NETWORKS = Learner(
    "compare",
    MarkovNetwork,
    (*RECIPES, "auto"),
    {"states": "the data are read once: pass states=... to compare."},
)
#: Compared by default, up to a number of variables: methods that end soon. Some others solve to
#: convergence for each feature, and some score every pair in every round.
USUAL_METHODS: dict[float, tuple[str, ...]] = {
    10: tuple(RECIPES),
    64: ("best-choice", "edge-grafting", "first-hit", "grafting-light"),
    math.inf: ("best-choice", "first-hit"),
}
_NLPL = "negative log pseudo-likelihood of a"
#: The columns; those of test rows and of the truth only where there are such.
METRICS = (
    replace(OBJECTIVE, drawn=True),
    GAP,
    Metric("nlpl", "NLPL", REACHED, ",.4f", f"{_NLPL} training row", "nats", "lower", True),
    Metric("test_nlpl", "test NLPL", REACHED, ",.4f", f"{_NLPL} test row", "nats", "lower", True),
    Metric("edges", "edges", REACHED, drawn=True),
    Metric("recall", "recall", TRUE, ".3f", "share of the true edges found", "", "higher", True),
    Metric("precision", "precision", TRUE, ".3f", "share of the edges that are true", "", "higher"),
    Metric("f1", "F1", TRUE, ".3f", "harmonic mean of recall and precision", "", "higher"),
    ROUNDS,
    SECONDS,
    EVALUATIONS,
    Metric("blocks_scored", "blocks scored", COST, better="lower", drawn=True),
    Metric("tables_counted", "tables", COST, ",", "pair tables counted", "", "lower", True),
)
#: The part of a table that a method is tried on.
_WARM_ROWS, _WARM_COLUMNS = 64, 8
_NO_BUDGET: dict[str, Any] = dict.fromkeys(("max_edges", "max_seconds"))
_COUNTERS = ("seconds", "evaluations", "blocks_scored", "tables_counted")
_SHARES = ("recall", "precision", "f1")


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
    evaluation to its last check; reading and preparing the data, compilation (each method is
    tried on a small part of the data first) and the evaluation of its rounds are not included.
    An interrupt (Ctrl-C) ends the comparison with the results so far; if there are none yet,
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
        At most this many rounds of a method, evenly spread, are evaluated on held-out rows and
        against the truth.
    observer : Observer, optional
        Notified of every method as a stage, and of its rounds.
    **options
        Of `MarkovNetwork`, for all methods: penalty, loss, max_edges, max_seconds, tol, ...

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
        points=points,
        **options,
    )
    return compare_methods(task, observer)


def make_task(
    X: Any,
    methods: Any = None,
    *,
    lam: float | str = "auto",
    truth: Any = None,
    test: Any = None,
    sample_weight: Any = None,
    random_state: Any = 0,
    points: int = 100,
    **options: Any,
) -> NetworkTask:
    """Return what `compare` is to do, after every check that needs no learning.

    Examples
    --------
    >>> [entry.label for entry in make_task([[0, 0], [1, 1]], "first-hit").entries]
    ['first-hit']
    """
    check_options(options, NETWORKS)
    most = int(number("points", points, 2, whole=True))
    entries = None if methods is None else make_entries(methods, NETWORKS)
    states, bins = options.pop("states", None), options.pop("bins", None)
    table = as_table(X, states=states, weights=sample_weight, bins=bins)
    seed = _seed(random_state)
    train, held = _held_out(table, test, seed)
    return NetworkTask(
        table=train,
        test=held,
        truth=None if truth is None else true_edges(truth, table.names),
        points=most,
        entries=usual_entries(table.n_variables) if entries is None else entries,
        options={**options, "lam": lam, "random_state": seed},
        chosen=entries is not None,
    )


def usual_entries(n_variables: int) -> tuple[Entry, ...]:
    """Return what is compared by default for this number of variables.

    Examples
    --------
    >>> [entry.label for entry in usual_entries(1000)]
    ['best-choice', 'first-hit']
    """
    usual = next(methods for most, methods in USUAL_METHODS.items() if n_variables <= most)
    return make_entries(usual, NETWORKS)


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
            f"random_state={random_state!r} is not a seed; use a whole number of at least 0, "
            "or None."
        ) from None


@dataclass(frozen=True, eq=False, kw_only=True)
class NetworkTask(Task):
    """What is to be compared, checked.

    Attributes
    ----------
    table, test : Table, Table or None
        Rows to learn from, and rows held out.
    truth : frozenset of pairs of int or None
        The true edges.
    points : int
        At most this many rounds of a run are evaluated.
    """

    learner = NETWORKS
    metrics = METRICS
    noun = "edge"

    table: Table
    test: Table | None
    truth: Edges | None
    points: int
    _samples: dict[bool, EncodedRows] = field(default_factory=dict)

    def data(self) -> tuple[Table]:
        """Return the rows; each run prepares them anew, so that none profits from another."""
        return (self.table,)

    def corner(self) -> tuple[Table]:
        """Return a few rows of a few columns."""
        return (corner_of(self.table),)

    def rehearsals(self, settings: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the settings as they are, but ending at once; then such that edges are grafted.

        A start may name columns that a corner of the table does not have: a tree replaces it.
        """
        own = dict(settings.get("method_options") or {})
        if own.get("start") is not None:
            own["start"] = "chow-liu"
        lam = WARM_LAM if settings["lam"] == "auto" else settings["lam"]
        rounds = {"max_iter": own.get("max_iter") or 0}
        check = {**settings, "lam": lam, "method_options": own | rounds}
        longer = {"max_iter": WARM_ROUNDS, "max_tests": None, "max_evaluations": None}
        warm = {**settings, **_NO_BUDGET, "lam": WARM_LAM, "method_options": own | longer}
        if settings.get("loss") == "likelihood" and settings.get("inference", "auto") == "auto":
            # a corner is always small enough for exact inference; the table may not be
            return [check, warm, {**warm, "inference": "bp"}]
        return [check, warm]

    def watcher(self, observer: Observer) -> Album:
        """Return an observer that keeps the networks of some rounds."""
        return Album(observer, self.points)

    def choose_lam(self, entries: Sequence[Entry], observer: Observer) -> tuple[float | str, str]:
        """Return the number given, or that of one run with lam="auto".

        Where every method has a given number of edges there is nothing to choose.
        """
        lam = self.options["lam"]
        if self.options.get("penalty") == "none":
            return 0.0, "there is no penalty."
        if not isinstance(lam, str):
            return float(lam), f"lambda {float(lam):g} was given."
        sized = [_is_sized(entry) for entry in entries]
        if all(sized):
            return lam, "There is no sparsity penalty: every method has a given number of edges."
        # lambda is chosen by a path that begins without edges; tying comes after it
        left_out = ("method_options", "tie")
        options = {name: value for name, value in self.options.items() if name not in left_out}
        with no_stall_warnings():
            net = MarkovNetwork(**options, verbose=observer).fit(self.table)
        words = f"{choice_text(net.choice_)} The penalised networks are compared, not refitted."
        if any(sized):
            words += " Methods with a given number of edges are penalised like the others."
        return net.lam_, words

    def sizes(self) -> dict[str, int | None]:
        """Return numbers of rows, variables and true edges."""
        return {
            "rows": self.table.n_rows,
            "variables": self.table.n_variables,
            "test_rows": None if self.test is None else self.test.n_rows,
            "true_edges": None if self.truth is None else len(self.truth),
        }

    def evaluate(self, attempt: Attempt) -> Run:
        """Return one run with its metrics, some of its rounds evaluated."""
        net, model, last = attempt.net, attempt.net.model_, attempt.net.trace_[-1]
        values: Record = {
            "nlpl": self._final_nlpl(net),
            "edges": net.certificate_.n_edges,
            "blocks_scored": last.blocks_scored,
            "tables_counted": last.tables_counted,
            **self._shares(model.potentials),
        }
        if self.test is not None:
            values["test_nlpl"] = _nlpl(model, self.test, net.n_jobs)
        problem = ["loss", "penalty", "penalty_options"]
        return evaluated_run(
            attempt,
            values,
            self._rounds(attempt),
            problem=problem + ["inference"] * (net.loss == "likelihood"),
            kept=lambda: frozenset(model.edges),
            start=words_of_start((net.method_options or {}).get("start")),
        )

    def remarks(self, trial: Trial) -> list[str]:
        """Return which runs are approximate or tied, and what "auto" was."""
        nets = {attempt.label: attempt.net for attempt in trial.attempts}
        out = [
            f"{label} used the method {net.method_}."
            for label, net in nets.items()
            if isinstance(net.method, str) and net.method == "auto"
        ]
        inexact = [label for label, net in nets.items() if not net.certificate_.exact]
        if inexact:
            out.append(f"The objectives of {names(inexact)} use approximate inference.")
        tied = [label for label, net in nets.items() if net.spec().tied]
        if tied:
            out.append(
                f"Weights of {names(tied)} were tied after the last round: the NLPL is that of "
                "the tied networks, objectives and rounds are those before tying."
            )
        return out

    def _final_nlpl(self, net: Any) -> float:
        """Return the NLPL of the training rows; the certificate has it if no weights were tied."""
        if net.loss == "pseudolikelihood" and net.tying_ is None:
            return float(net.certificate_.loss)
        return _nlpl(net.model_, self.table, net.n_jobs)

    def _rounds(self, attempt: Attempt) -> list[Record]:
        """Return the records of a run's rounds, with the same keys whether evaluated or not."""
        net = attempt.net
        told = (*_COUNTERS, "objective", "loss", "edges")
        unknown: Record = {"nlpl": None}
        unknown |= {} if self.test is None else {"test_nlpl": None}
        unknown |= {} if self.truth is None else dict.fromkeys(_SHARES)
        networks = dict(attempt.watcher.networks())
        records = []
        for each in net.trace_:
            record = {
                "round": each.index,
                **{name: getattr(each, name) for name in told},
                **unknown,
            }
            if net.loss == "pseudolikelihood":
                record["nlpl"] = each.loss
            if each.index in networks:
                record |= self._measured(net, networks[each.index])
            records.append(record)
        return records

    def _measured(self, net: Any, potentials: Potentials) -> Record:
        """Return the metrics of a round's network."""
        record = self._shares(potentials)
        told = net.loss == "pseudolikelihood"  # by the round itself
        if told and self.test is None:
            return record
        sample = self._sample(bool((net.penalty_options or {}).get("unary")))
        model = to_model(self.table, sample, potentials)
        if not told:
            record["nlpl"] = _nlpl(model, self.table, net.n_jobs)
        if self.test is not None:
            record["test_nlpl"] = _nlpl(model, self.test, net.n_jobs)
        return record

    def _sample(self, keep_all_states: bool) -> EncodedRows:
        """Return the rows as learners see them, prepared once."""
        if keep_all_states not in self._samples:
            jobs = self.options.get("n_jobs")
            made = prepare(self.table, keep_all_states=keep_all_states, n_jobs=jobs)
            self._samples[keep_all_states] = made
        return self._samples[keep_all_states]

    def _shares(self, potentials: Potentials) -> Record:
        if self.truth is None:
            return {}
        found = score_edges(potentials.layout, self.truth)
        return {name: getattr(found, name) for name in _SHARES}


def _is_sized(entry: Entry) -> bool:
    """Return whether a method is given its number of edges."""
    method = entry.settings["method"]
    recipe = method if isinstance(method, Recipe) else method_factory(method)()
    return recipe.sized


def _nlpl(model: PairwiseMRF, table: Table, n_jobs: int | None) -> float:
    """Return the mean negative log pseudo-likelihood of a row."""
    rows = model.log_pseudo_likelihood(table, n_jobs=n_jobs)
    return -float(np.average(rows, weights=table.weights))


def corner_of(table: Table) -> Table:
    """Return a few rows of a few columns, the column with most states among them.

    Examples
    --------
    >>> corner_of(Table(("a", "b"), ((0, 1), (0, 1)), np.zeros((2, 1000), dtype=int))).shape
    (64, 2)
    """
    count = min(table.n_rows, _WARM_ROWS)
    rows = np.unique(np.linspace(0, table.n_rows - 1, count).astype(np.int64))
    codes = table.codes[:, rows]
    varies = np.flatnonzero((codes != codes[:, :1]).any(axis=1))
    columns = np.unique(np.append(varies[: _WARM_COLUMNS - 1], np.argmax(table.cards)))
    if table.n_variables <= _WARM_COLUMNS:
        columns = np.arange(table.n_variables)
    # Any weights will do, but there must be some where the table has some: floats are counted.
    weights = None if table.weights is None else np.full(len(rows), 2.0)
    return Table(
        tuple(table.names[i] for i in columns),
        tuple(table.states[i] for i in columns),
        codes[columns],
        weights,
    )
