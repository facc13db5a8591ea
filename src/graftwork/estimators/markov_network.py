"""MarkovNetwork: learn a sparse Markov network from a table, with a certificate."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from graftwork.data import Table
from graftwork.data.compact import Sample
from graftwork.data.oddities import warn_of_columns
from graftwork.errors import ConvergenceWarning
from graftwork.estimators.assemble import to_model
from graftwork.estimators.base import Estimator, check_is_fitted
from graftwork.estimators.bootstrap import Bootstrap
from graftwork.estimators.checks import loop_options, quickest
from graftwork.estimators.edges import COLUMNS as EDGE_COLUMNS
from graftwork.estimators.edges import NEAR_COLUMNS, edge_records, near_records
from graftwork.estimators.estimate import CostEstimate, estimate_cost
from graftwork.estimators.knowledge import describe_knowledge, make_domain
from graftwork.estimators.learned_from import LearnedFrom
from graftwork.estimators.learning import Learned, Learning, unary_of
from graftwork.estimators.missing import prepare_rows, read_rows
from graftwork.estimators.parts import make_objective
from graftwork.estimators.records import as_frame
from graftwork.estimators.replicas import bootstrap_network
from graftwork.estimators.starts import make_start, words_of_start
from graftwork.grafting import Outcome, Recipe
from graftwork.grafting.trace import Observer
from graftwork.inference.layout import Potentials
from graftwork.inference.rules import Rule
from graftwork.models import PairwiseMRF
from graftwork.tuning import DrawnFrom, Tying, tie

if TYPE_CHECKING:
    import networkx as nx

# How many pairs that are almost edges are listed.
MOST_NEAR = 20
# Runs that end for these reasons have solved their weights, unless the solver gave up.
SOLVED = ("edges", "given", "searched")


class MarkovNetwork(Estimator):
    """Learns a sparse pairwise Markov network from categorical data.

    Parameters
    ----------
    method : str or Recipe
        "auto" (default), "best-choice", "working-set" (the quickest to the optimum where all pairs
        can be looked at), "edge-grafting" (exhaustive), "first-hit", "grafting", "gain",
        "mutual-information", "grafting-light", "gauss-seidel", "full" or "priority": see
        ``graftwork.recipes``. With exact inference (or the pseudo-likelihood) all end at the same
        network; they differ in the way there, which matters for time and when a budget stops them.
        "auto" is "working-set" for the pseudo-likelihood of up to 1,500 variables with no limit
        (``max_edges`` and its kin) or arrivals, and "best-choice" else, or where one of its options
        is set; ``method_`` tells which.
        "chow-liu" is another thing: the best tree, with weights fitted by the loss; and
        "forced-pruning" looks for the best network with exactly ``max_edges`` edges (default: as
        many as it starts with) by exchanging edges.
    method_options : dict, optional
        Options of the method, such as ``{"count": 10}`` for grafting-light.
    loss : {"pseudolikelihood", "likelihood"}
        The joint pseudo-likelihood needs no inference and is exact. The likelihood needs inference
        but no rows once the pairs are counted.
    inference : {"auto", "exact", "bp", "trw"} or Engine
        For the likelihood: exact while small and else belief propagation, always exact (refused
        when too large), always belief propagation, or tree-reweighted belief propagation (an upper
        bound of the partition function).
    pair_rule : {"path", "product", "exact"}
        For approximate inference: the joint marginals of two connected variables without an edge,
        by chained conditionals along a path, as if they were independent (what the authors of
        best-choice grafting did), or exactly.
    penalty : {"group-l1", "l1", "elastic-net", "l2", "none"}
        ``lam * sum d ||W||`` over whole edge tables; ``lam * ||w||_1`` over their single entries;
        the same with l2 > 0; ``lam * ||w||^2``, which keeps every edge; or nothing. Methods that
        activate single features do so for all but group-l1, where a feature is a whole table.
    lam : float or "auto"
        Strength of the penalty: weights are penalised, as the papers have it. "auto" chooses the
        network (see ``goal`` and ``choice_``). Methods that know their number of edges
        ("chow-liu", "forced-pruning") need no sparsity: "auto" then means a mild prior alone.
    goal : {"structure", "prediction"}
        What lam="auto" is after: the edges that are real ("structure"), tested one by one, or the
        best predictions of new rows, with many more edges.
    fdr : float
        For goal="structure": the false discovery rate, the share of false edges among those kept
        that is accepted on average. .05 finds more.
    criterion : str, optional
        With lam="auto", what chooses lambda: "tests" (structure; default), "k-fold" (prediction;
        default), "hold-out", "ebic", "ebic-refit", "ebic-then-refit", "stars",
        "adaptive". See docs/choosing-lambda.md.
    criterion_options : dict, optional
        Options of the criterion, such as ``{"folds": 5}`` or ``{"gamma": 0.5}``.
    l2 : float
        Strength of the squared norm added to the penalty.
    penalize_unary : bool or float
        Penalise the variables' own potentials too (the papers' setting; not advised): True with the
        same lam, a number with that one.
    anneal : int or sequence of float, optional
        Go through larger lambdas first, from large to small, each from the network of the one
        before: so many, evenly spaced on a log scale from where the first edge appears, or these.
        Meant to keep belief propagation healthy. (lam="auto" walks such a path anyway.)
    start : optional
        The network to begin with, for any method: "chow-liu", a networkx.Graph or a list of pairs
        of names (weights are fitted first), a PairwiseMRF, or a fitted MarkovNetwork. Default: the
        method's own, or no edges. A convex problem ends at the same optimum from anywhere. With
        fewer ``max_edges`` the strongest edges stay. Methods that look for their edges need a
        number for lam: the path of lam="auto" begins without edges.
    arrivals : sequence of groups of names, optional
        Variables that become available over time: the first group before the first round, another
        before each later one. Edges are only looked for among those that are there.
    required, forbidden, candidates : optional
        Prior knowledge: pairs of names that always are edges (without a penalty), never are, and
        the only ones that may be. A list of pairs, a networkx.Graph, or a function of two names
        that says True of them. Required pairs need not be candidates.
    penalty_weights : optional
        What lam is multiplied by for single edges: a dict ``{(a, b): factor}``, a function of two
        names, or a symmetric matrix (a data frame by names, an array by position). 0 is no penalty,
        infinity forbids the edge, and pairs that are not given have 1. l2 is the same for all.
    max_edges, max_tests, max_seconds, max_iter : optional
        Budgets: active edges, scored pairs, seconds, rounds. A run that ends on one says so in its
        certificate.
    tol : float
        Accuracy of the optimum, in the units of lam (differences of probabilities).
    tie : int, optional
        After learning, let the weights take only so many different values beside zero, those of the
        network nearest to the learned one. Limits such as ``max_seconds`` are for learning alone.
    alpha, reservoir, tests, structure :
        Of best-choice: see ``graftwork.recipes.best_choice``.
    states : dict {name: list of states}, optional
        Declared states, kept in this order even where they never occur.
    missing : {"error", "state", "drop-rows", "available-case", "impute"}
        What missing cells are: an error; a state of their own, "(missing)"; a reason to drop their
        rows; unknown, a missing neighbour counting as a state drawn from networks learned before;
        or drawn like that and then learned from like others. ``max_seconds`` is for all of these
        networks together, other limits for each.
    random_state : int, Generator or None
        Order in which pairs are looked at, which rows criteria hold out, and states drawn for
        missing cells. None (default) is a fixed seed: two plain fits are the same. With
        goal="structure" and no missing cells to draw the network does not depend on it.
    n_jobs : int, optional
        Threads; None is every core. Results do not depend on it.
    verbose : int
        1 writes a line a round to standard error.
    observer : Observer, optional
        Told of every round while it runs.

    Attributes
    ----------
    model_ : PairwiseMRF
        The network: ask it for marginals, samples, probabilities.
    graph_ : networkx.Graph
        Variables with their ``states`` (a list in JSON) and edges with their ``strength`` and,
        where they were tested, ``p_value`` and ``q_value``: texts and numbers only, so that
        networkx can write it in any format. ``model_.table(a, b)`` has the log-potentials.
    certificate_ : Certificate
        How close to optimal the penalised network is, and how much of that was checked.
    trace_ : list of Round
    lam_ : float
    choice_ : LambdaChoice
        How lambda, and with it the edges, was chosen, in numbers; `summary` has the text.
    objective_ : float
        Loss plus penalty of the penalised network.
    path_ : list of PathPoint
        Every lambda tried; empty for a given one. The chosen one has the edges, loss and objective
        of the penalised network of all rows; others were solved less exactly, perhaps on parts.
    edges_ : table
        One row an edge, the surest first: its ends, strength and, with goal="structure", p-value,
        q-value, test statistic and degrees of freedom. A DataFrame where pandas is installed.
    near_edges_ : table
        The pairs that came closest to being edges (goal="structure").
    evidence_ : Evidence or None
        The tests behind both.
    refitted_ : bool
        Whether the model's weights were refitted without the penalty (lam="auto").
    exchange_ : Tally or None
        What the exchanges of "forced-pruning" did.
    missing_ : MissingCells
        What was missing and what was done about it.
    tying_ : Tying or None
        What tying did, if asked for. Objective and certificate are of the network before it.
    knowledge_ : dict or None
        How many pairs are required, forbidden, and penalised in another way; None for no such
        knowledge.
    method_ : str
        The name of the method used.
    data_ : LearnedFrom
        How many rows there were, how often each state occurs in them, remarks on columns.
    names_, n_features_in_, n_iter_; bootstrap_ (what the last `bootstrap` found)

    Examples
    --------
    >>> rows = [["sun", "dry"], ["sun", "dry"], ["rain", "wet"], ["rain", "wet"]] * 25
    >>> net = MarkovNetwork(lam=0.01).fit(rows)
    >>> list(net.graph_.edges)
    [('x0', 'x1')]
    >>> net.certificate_.converged
    True
    """

    bootstrap_: Bootstrap

    def __init__(
        self,
        method: str | Recipe = "auto",
        *,
        method_options: Mapping[str, Any] | None = None,
        loss: str = "pseudolikelihood",
        inference: Any = "auto",
        pair_rule: Rule = "path",
        penalty: str = "group-l1",
        lam: float | str = "auto",
        goal: str = "structure",
        fdr: float = 0.01,
        criterion: str | None = None,
        criterion_options: Mapping[str, Any] | None = None,
        l2: float = 0.0,
        penalize_unary: bool | float = False,
        anneal: int | Sequence[float] | None = None,
        start: Any = None,
        arrivals: Sequence[Sequence[Any]] | None = None,
        required: Any = None,
        forbidden: Any = None,
        candidates: Any = None,
        penalty_weights: Any = None,
        max_edges: int | None = None,
        max_tests: int | None = None,
        max_seconds: float | None = None,
        max_iter: int | None = None,
        tol: float = 1e-6,
        tie: int | None = None,
        alpha: float = 0.5,
        reservoir: int | None = None,
        tests: int | None = None,
        structure: bool = True,
        states: Mapping[Any, Sequence[Any]] | None = None,
        missing: str = "error",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        observer: Observer | None = None,
    ) -> None:
        self.method = method
        self.method_options = method_options
        self.loss = loss
        self.inference = inference
        self.pair_rule = pair_rule
        self.penalty = penalty
        self.lam = lam
        self.goal = goal
        self.fdr = fdr
        self.criterion = criterion
        self.criterion_options = criterion_options
        self.l2 = l2
        self.penalize_unary = penalize_unary
        self.anneal = anneal
        self.start = start
        self.arrivals = arrivals
        self.required = required
        self.forbidden = forbidden
        self.candidates = candidates
        self.penalty_weights = penalty_weights
        self.max_edges = max_edges
        self.max_tests = max_tests
        self.max_seconds = max_seconds
        self.max_iter = max_iter
        self.tol = tol
        self.tie = tie
        self.alpha = alpha
        self.reservoir = reservoir
        self.tests = tests
        self.structure = structure
        self.states = states
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.observer = observer

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted copy; a fitted network to start from stays fitted."""
        twin = super().__sklearn_clone__()
        twin.start = self.start
        return twin

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = self.missing != "error"
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the network of a table.

        After an interrupt (Ctrl-C) the attributes hold the best network so far, and
        KeyboardInterrupt is raised.

        Parameters
        ----------
        X : table
            pandas, polars, Arrow, NumPy, lists of rows, dicts, a ``graftwork.Table``, or the path
            of a file that ``graftwork.read_table`` reads (which has options for that).
        sample_weight : (rows,) array, optional
            Row weights; default those of a weighted Table, else 1.

        Warns
        -----
        DataWarning
            If a column has a value of its own in most rows, as identifiers and free text have
            (of a Table, whoever read it was warned), or if rows are dropped.
        """
        self._fit_drawn(X, sample_weight, check=True)
        return self

    def _fit_drawn(
        self,
        X: Any,
        sample_weight: Any = None,
        drawn_from: DrawnFrom | None = None,
        check: bool = False,
    ) -> PairwiseMRF | None:
        """Learn the network of a table, which may be a resample.

        Parameters
        ----------
        drawn_from : DrawnFrom, optional
            The sample that the rows were drawn from with replacement.
        check : bool
            Whether to see how far the edges depend on single rows.

        Returns
        -------
        PairwiseMRF or None
            The edges of that sample's network, fitted to these rows.
        """
        options = loop_options(self)
        table, self.missing_ = read_rows(self, X, sample_weight)
        self.data_ = LearnedFrom.of(table, self.missing_)
        if not isinstance(X, Table | str | PathLike):  # reading a file has warned
            warn_of_columns(table)
        self._note_feature_names(X, table)
        table, sample = prepare_rows(self, table, options["rng"])
        options["budget"] = options["budget"].after(self.missing_.seconds)
        learned = self._fit_rows(table, sample, options, drawn_from, check)
        self._warn_if_stalled()
        return None if learned.given is None else to_model(table, sample, learned.given)

    def _fit_rows(
        self,
        table: Table,
        sample: Sample,
        options: dict[str, Any] | None = None,
        drawn_from: DrawnFrom | None = None,
        check: bool = False,
    ) -> Learned:
        """Learn the network of rows that are prepared; ``fit`` is for all others.

        Parameters
        ----------
        table : Table
            Names and states.
        sample : Sample
            The rows.
        options : dict, optional
            Of the loop; default those that the parameters stand for.
        drawn_from, check : optional
            As in ``_fit_drawn``.
        """
        options = loop_options(self) if options is None else options
        self.n_features_in_ = table.n_variables
        self.names_ = table.names
        options["recipe"] = quickest(self, options["recipe"], table.n_variables)
        self.method_ = options["recipe"].name
        if self.start is not None:
            start = make_start(self.start, table, sample)
            options["recipe"] = replace(options["recipe"], start=start)
        domain = make_domain(self, table, sample, options["recipe"])
        self.knowledge_ = describe_knowledge(self, domain)
        learned = Learning(self, table, sample, domain, options, drawn_from, check).run()
        outcome = learned.outcome
        self.lam_, self.choice_ = learned.choice.lam, learned.choice
        self.path_ = learned.final_path()
        self.evidence_, self.refitted_ = learned.evidence, learned.refitted
        potentials, interrupted = self._tie(sample, outcome, learned.potentials, options)
        missing = getattr(self, "missing_", None)
        gaps = None if missing is None else missing.gaps()
        self.model_ = to_model(table, sample, potentials, gaps)
        self.certificate_ = outcome.certificate
        self.trace_ = list(outcome.trace)
        self.objective_ = outcome.solution.objective
        self.n_iter_ = len(outcome.trace)
        self.exchange_ = outcome.exchange
        if interrupted:
            raise KeyboardInterrupt
        return learned

    def summary(self, *, top: int = 10, meanings: Any = None) -> str:
        """Return what was learned in plain text, as ``graftwork learn`` prints it.

        Parameters
        ----------
        top : int
            How many of the strongest edges to name.
        meanings : mapping of variable to mapping of state to word, optional
            Words for states.

        Returns
        -------
        str
            Paragraphs under headings: ``print(net.summary())``.

        Examples
        --------
        >>> rows = [["sun", "dry"], ["rain", "wet"]] * 50
        >>> print(MarkovNetwork(lam=0.1).fit(rows).summary())
        Data
          100 rows of 2 variables, 2 states each.
        ...
        """
        check_is_fitted(self)
        from graftwork.report.summary import summary

        return summary(self, top=top, meanings=meanings)

    def plot_path(self, ax: Any = None) -> Any:
        """Return the axes with the lambdas tried: criterion and edges, the chosen one marked.

        Needs matplotlib. With a given lambda there is no path, and nothing to draw.
        """
        from graftwork.report.path_plot import plot_path

        check_is_fitted(self)
        return plot_path(self, ax=ax)

    def estimate(self, X: Any, sample_weight: Any = None) -> CostEstimate:
        """Return what fitting these data would cost: sizes, memory, rough time, treewidth."""
        return estimate_cost(self, X, sample_weight)

    @property
    def graph_(self) -> nx.Graph:
        """The network's graph, with states, strengths and, where there are any, p- and q-values."""
        check_is_fitted(self)
        graph = self.model_.to_networkx()
        for edge in edge_records(self.model_, self.names_, self.evidence_):
            tests = {name: edge[name] for name in ("p_value", "q_value")}
            known = {name: value for name, value in tests.items() if not math.isnan(value)}
            graph.edges[edge["first"], edge["second"]].update(known)
        return graph

    @property
    def edges_(self) -> Any:
        """The edges, the surest first: a DataFrame where pandas is installed, else a list."""
        check_is_fitted(self)
        records = edge_records(self.model_, self.names_, self.evidence_)
        return as_frame(records, EDGE_COLUMNS, EDGE_COLUMNS[2:])

    @property
    def near_edges_(self) -> Any:
        """The pairs that came closest to being edges, a table like ``edges_``."""
        check_is_fitted(self)
        records = near_records(self.names_, self.evidence_, MOST_NEAR)
        return as_frame(records, NEAR_COLUMNS, NEAR_COLUMNS[2:])

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return the log pseudo-likelihood of each row (of its observed cells), in nats.

        Rows that ``missing`` says to leave out have NaN.
        """
        check_is_fitted(self)
        rows = self.model_.rows_to_score(X, owner=type(self).__name__)
        return rows.spread(self.model_.log_conditionals(rows, self.n_jobs))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the mean log pseudo-likelihood of a row, in nats (higher is better).

        Missing cells are treated as ``missing`` said when the network was learned: see
        `PairwiseMRF.score`, which gives the same number and can be told otherwise.
        """
        check_is_fitted(self)
        rows = self.model_.rows_to_score(X, weights=sample_weight, owner=type(self).__name__)
        return rows.mean(self.model_.log_conditionals(rows, self.n_jobs))

    def sample(self, n_samples: int = 1, evidence: Any = None, random_state: Any = None) -> Table:
        """Return rows drawn from the network, given the evidence."""
        check_is_fitted(self)
        seed = self.random_state if random_state is None else random_state
        return self.model_.sample(n_samples, evidence, seed, n_jobs=self.n_jobs)

    bootstrap = bootstrap_network

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model, with a record of how it was learned, to one file."""
        check_is_fitted(self)
        self.model_.save(path, info=self.info())

    def info(self) -> dict[str, Any]:
        """Return how the network was learned, as plain values for files and reports."""
        check_is_fitted(self)
        return {
            "method": self.method_,
            "method_options": {k: _plain(v) for k, v in (self.method_options or {}).items()},
            "loss": self.loss,
            "inference": _plain(self.inference),
            "pair_rule": self.pair_rule,
            "penalty": self.penalty,
            "l2": float(self.l2),
            "penalize_unary": unary_of(self),
            "anneal": _plain(self.anneal),
            "start": words_of_start(self.start),
            "goal": self.goal,
            "fdr": float(self.fdr),
            "tests": None if self.evidence_ is None else self.evidence_.n_tests,
            "knowledge": self.knowledge_,
            "missing": self.missing_.to_dict(),
            "criterion": self.criterion,
            "lam": self.lam_,
            "choice": self.choice_.to_dict(),
            "refitted": self.refitted_,
            "tying": None if self.tying_ is None else self.tying_.to_dict(),
            "objective": self.objective_,
            "certificate": self.certificate_.to_dict(),
            "exchange": None if self.exchange_ is None else self.exchange_.to_dict(),
        }

    def _tie(
        self, sample: Sample, outcome: Outcome, learned: Potentials, options: dict[str, Any]
    ) -> tuple[Potentials, bool]:
        """Return the weights to keep, tied if asked for, and whether learning or this was stopped.

        An interrupt leaves the learned weights as they are.
        """
        self.tying_: Tying | None = None
        if self.tie is None or outcome.interrupted:
            return learned, outcome.interrupted
        objective_of = make_objective(self.loss, self.inference, self.pair_rule, self.n_jobs)
        watch = {"tolerance": options["tolerance"], "observer": options["observer"]}
        try:
            self.tying_ = tie(objective_of(sample), learned, int(self.tie), **watch)
        except KeyboardInterrupt:
            return learned, True
        return self.tying_.potentials, False

    def _note_feature_names(self, X: Any, table: Table) -> None:
        """Keep scikit-learn's record of a frame's column names, if all of them are text."""
        self.__dict__.pop("feature_names_in_", None)
        named = nw.dependencies.is_into_dataframe(X)
        if named and all(isinstance(name, str) for name in table.names):
            self.feature_names_in_ = np.array(table.names, dtype=object)

    def _warn_if_stalled(self) -> None:
        certificate = self.certificate_
        unsolved = certificate.stationarity > certificate.tolerance
        if certificate.stop == "stalled" or (unsolved and certificate.stop in SOLVED):
            from graftwork.report.describe import certificate_text

            warnings.warn(
                f"The network is usable but was not solved to tol={self.tol:g}: "
                f"{certificate_text(self.certificate_)}",
                ConvergenceWarning,
                stacklevel=3,
            )


def _plain(value: Any) -> Any:
    """Return a value as a file can hold it: numbers and texts as they are, the rest in words."""
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, bool | int | float | str | None) else repr(value)
