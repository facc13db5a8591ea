"""MarkovNetwork: learn a sparse Markov network from a table, with a certificate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from operator import attrgetter
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from graftwork.data import Table
from graftwork.data.columns import Unseen
from graftwork.data.placing import comes_in_parts
from graftwork.estimators.base import Estimator, check_is_fitted, not_of_arrays
from graftwork.estimators.bootstrap import Bootstrap
from graftwork.estimators.centrality import BRIDGE_COLUMNS, centrality_records, communities_of
from graftwork.estimators.centrality import COLUMNS as CENTRALITY_COLUMNS
from graftwork.estimators.edges import COLUMNS as EDGE_COLUMNS
from graftwork.estimators.edges import (
    NEAR_COLUMNS,
    as_frame,
    edge_records,
    near_records,
    tests_in_order,
)
from graftwork.estimators.estimate import CostEstimate, estimate_cost
from graftwork.estimators.fit import Fit, fit
from graftwork.estimators.knowledge import PriorKnowledge
from graftwork.estimators.learned_from import LearnedFrom
from graftwork.estimators.lines import Lines, watcher
from graftwork.estimators.missing import MissingCells, read_rows_to_draw
from graftwork.estimators.predictability import Predictability, cross_validate, predict_rows
from graftwork.estimators.replicas import bootstrap_fit, check_shares
from graftwork.estimators.spec import FitSpec
from graftwork.estimators.starts import words_of_start
from graftwork.exchange import Exported, export
from graftwork.grafting import Recipe
from graftwork.grafting.certificate import Certificate
from graftwork.grafting.exchange import Tally
from graftwork.grafting.trace import Observer, Round
from graftwork.grafting.tying import Tying
from graftwork.inference import Engine
from graftwork.kernels.threads import count_threads
from graftwork.limits import RESAMPLES
from graftwork.models import PairwiseMRF
from graftwork.models.graphs import graph_of
from graftwork.models.scoring_parts import score_parts
from graftwork.parameters import (
    CriterionName,
    EngineName,
    Goal,
    Loss,
    MethodName,
    MissingPolicy,
    PenaltyName,
    Shape,
    check_jobs,
    reference,
    whole_number,
)
from graftwork.selection import LambdaChoice, PathPoint
from graftwork.significance import Evidence

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd

# How many pairs that are almost edges are listed.
MOST_NEAR = 20


def _part(where: str) -> Any:
    """Return a property that shows a part of ``fit_``."""
    return property(attrgetter(f"fit_.{where}"))


class MarkovNetwork(Estimator):
    """Learns a sparse pairwise Markov network from categorical data.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    fit_ : Fit
        What `fit` found, as one value; the other attributes are its parts.
    model_ : PairwiseMRF
        The network: ask it for marginals, samples, probabilities.
    graph_ : networkx.Graph
        Variables with their ``states`` (a list in JSON) and edges with the numbers of ``edges_``
        that are known: texts and numbers only, so that networkx can write it in any format. Its
        attribute ``size`` says which of them pictures show as widths.
        ``model_.table(a, b)`` has the log-potentials.
    certificate_ : Certificate
        How close to optimal the penalised network is, and how much of that was checked.
    trace_ : tuple of Round
    lam_ : float
    choice_ : LambdaChoice
        How lambda, and with it the edges, was chosen, in numbers; `summary` has the text.
    objective_ : float
        Loss plus penalty of the penalised network.
    path_ : tuple of PathPoint
        Every lambda tried; empty for a given one. The chosen one has the edges, loss and objective
        of the penalised network of all rows; others were solved less exactly, perhaps on parts.
        With goal="prediction" none is chosen where the network of tested edges predicts best.
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
    names_, n_features_in_, n_iter_; bootstrap_, predictability_ (what the last `bootstrap` and the
    last `predictability` found)

    Examples
    --------
    >>> rows = [["sun", "dry"], ["sun", "dry"], ["rain", "wet"], ["rain", "wet"]] * 25
    >>> net = MarkovNetwork(lam=0.01).fit(rows)
    >>> list(net.graph_.edges)
    [('x0', 'x1')]
    >>> net.certificate_.converged
    True
    """

    # What `fit` sets, and its parts.
    fit_: Fit
    model_: PairwiseMRF = _part("model")
    method_: str = _part("method")
    lam_: float = _part("choice.lam")
    choice_: LambdaChoice = _part("choice")
    certificate_: Certificate = _part("certificate")
    objective_: float = _part("objective")
    trace_: tuple[Round, ...] = _part("trace")
    path_: tuple[PathPoint, ...] = _part("path")
    evidence_: Evidence | None = _part("evidence")
    refitted_: bool = _part("refitted")
    exchange_: Tally | None = _part("exchange")
    tying_: Tying | None = _part("tying")
    knowledge_: dict[str, int] | None = _part("knowledge")
    missing_: MissingCells = _part("missing")
    data_: LearnedFrom = _part("data")
    names_: tuple[Any, ...] = _part("data.names")
    feature_names_in_: NDArray[np.object_]
    bootstrap_: Bootstrap
    predictability_: Predictability

    def __init__(
        self,
        method: MethodName | Recipe = "auto",
        *,
        method_options: Mapping[str, Any] | None = None,
        loss: Loss = "pseudolikelihood",
        inference: EngineName | Engine = "auto",
        penalty: PenaltyName = "group-l1",
        penalty_options: Mapping[str, Any] | None = None,
        lam: float | Literal["auto"] = "auto",
        goal: Goal = "structure",
        fdr: float = 0.01,
        criterion: CriterionName | None = None,
        criterion_options: Mapping[str, Any] | None = None,
        knowledge: PriorKnowledge | Mapping[str, Any] | None = None,
        max_edges: int | None = None,
        max_seconds: float | None = None,
        table_memory: str | int = "4GB",
        tol: float = 1e-6,
        tie: int | None = None,
        states: Mapping[Any, Sequence[Any]] | None = None,
        bins: int | Mapping[Any, int] | None = None,
        ordinal: bool | Sequence[Any] | Mapping[Any, Any] | None = None,
        degree: int = 1,
        shape: Shape = "auto",
        missing: MissingPolicy = "error",
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        device: Literal["cpu", "cuda", "auto"] = "cpu",
        verbose: int | Observer | None = 0,
    ) -> None:
        self.method = method
        self.method_options = method_options
        self.loss = loss
        self.inference = inference
        self.penalty = penalty
        self.penalty_options = penalty_options
        self.lam = lam
        self.goal = goal
        self.fdr = fdr
        self.criterion = criterion
        self.criterion_options = criterion_options
        self.knowledge = knowledge
        self.max_edges = max_edges
        self.max_seconds = max_seconds
        self.table_memory = table_memory
        self.tol = tol
        self.tie = tie
        self.states = states
        self.bins = bins
        self.ordinal = ordinal
        self.degree = degree
        self.shape = shape
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device
        self.verbose = verbose

    @property
    def n_features_in_(self) -> int:
        """The number of variables."""
        return len(self.names_)

    @property
    def n_iter_(self) -> int:
        """The number of rounds."""
        return len(self.trace_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing != "error"
        return tags

    def spec(self) -> FitSpec:
        """Return what the parameters stand for, checked; what means nothing is refused."""
        return FitSpec.of(self.get_params(deep=False))

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the network of a table.

        After an interrupt (Ctrl-C) the attributes hold the best network so far, and
        KeyboardInterrupt is raised.

        Parameters
        ----------
        X : table, or counts
            pandas, polars, Arrow, NumPy, SciPy sparse (what is not stored is 0), lists of rows,
            dicts, a ``graftwork.Table``, or the path of a file that ``graftwork.read_table`` reads
            (which has options for that). Rows that need not fit in memory: a ``graftwork.scan``, a
            folder or a glob such as ``"sales/*.parquet"``, Dask and lazy frames, iterators.
            With ``loss="likelihood"`` also what ``graftwork.count_pairs`` returns.
        sample_weight : (rows,) array, optional
            Row weights; default those of a weighted Table, else 1. Whole weights count repeated
            rows; others are sampling weights, whose unit does not matter.

        Warns
        -----
        DataWarning
            If a column has a value of its own in most rows, as identifiers and free text have
            (of a Table, whoever read it was warned), or if rows are dropped.
        """
        found = fit(self.spec(), X, sample_weight)
        self._keep(found, X)
        if found.interrupted:
            raise KeyboardInterrupt
        return self

    def _keep(self, found: Fit, X: Any) -> None:
        """Set the attributes to what was found."""
        self.fit_ = found
        for earlier in ("feature_names_in_", "predictability_"):
            self.__dict__.pop(earlier, None)
        self._from_array = isinstance(X, np.ndarray) or sparse.issparse(X)
        named = nw.dependencies.is_into_dataframe(X)
        if named and all(isinstance(name, str) for name in self.names_):
            self.feature_names_in_ = np.array(self.names_, dtype=object)

    def refit(self, l2: float | None = None) -> MarkovNetwork:
        """Return this network with all weights of its edges fitted by the likelihood.

        Edges, p- and q-values are those of the tests; the summary says which weights it has. See
        `PairwiseMRF.refit`. The network itself, with calibrated unaries, stays as it is.

        Parameters
        ----------
        l2 : float, optional
            Ridge on the entries of tables. Default: that of a standard normal prior on every entry.

        Examples
        --------
        >>> rows = [["sun", "dry"], ["rain", "wet"], ["rain", "dry"]] * 50
        >>> MarkovNetwork().fit(rows).refit().model_.observed.fitted
        'likelihood'
        """
        check_is_fitted(self)
        other = copy(self)
        other.fit_ = replace(self.fit_, model=self.model_.refit(l2))
        for earlier in ("predictability_", "bootstrap_"):
            other.__dict__.pop(earlier, None)
        return other

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

    def plot(self, path: str | PathLike[str] | None = None, **options: Any) -> Any:
        """Return the axes with the network drawn on them; write the picture if a path is given.

        A notebook shows it where this is the value of a cell. Needs matplotlib.

        Parameters
        ----------
        path : path-like, optional
            Where to write the picture; the ending says the format (png, pdf, svg).
        **options
            Those of `graftwork.plot_network`: layout, communities, colors, predictability, title,
            caption and others.

        Examples
        --------
        >>> rows = [["sun", "dry"], ["rain", "wet"]] * 50
        >>> MarkovNetwork(lam=0.1).fit(rows).plot().get_title()
        '1 edge among 2 variables'
        """
        from graftwork.report.plot import plot_network

        return plot_network(self, path, **options)

    def plot_pair(
        self, a: Any, b: Any, path: str | PathLike[str] | None = None, **options: Any
    ) -> Any:
        """Return the axes with the table of two variables as a heat map.

        Needs matplotlib.

        Parameters
        ----------
        a, b : hashable
            Two variables: the states of ``a`` are the rows, those of ``b`` the columns.
        path : path-like, optional
            Where to write the picture; the ending says the format (png, pdf, svg).
        **options
            Those of `graftwork.plot_pair`: ``values="conditional"`` shows probabilities of ``b``
            given ``a`` instead of log-potentials.

        Examples
        --------
        >>> rows = [["sun", "dry"], ["rain", "wet"]] * 50
        >>> MarkovNetwork(lam=0.1).fit(rows).plot_pair("x0", "x1").get_title()
        'x0 - x1'
        """
        from graftwork.report.pair_plot import plot_pair

        return plot_pair(self, a, b, path, **options)

    def plot_path(self, path: str | PathLike[str] | None = None, *, ax: Any = None) -> Any:
        """Return the axes with the lambdas tried: criterion and edges, the chosen one marked.

        Needs matplotlib. With a given lambda there is no path, and nothing to draw.

        Parameters
        ----------
        path : path-like, optional
            Where to write the picture; the ending says the format (png, pdf, svg).
        ax : matplotlib Axes, optional
            Where to draw; otherwise on a new figure.
        """
        from graftwork.report.path_plot import plot_path

        check_is_fitted(self)
        return plot_path(self, path, ax=ax)

    def explore(
        self,
        path: str | PathLike[str],
        *,
        groups: Mapping[Any, Any] | None = None,
        title: str | None = None,
    ) -> Path:
        """Write a page to look at the network in a browser, and return where it is.

        One HTML file that needs nothing else, no network either: the picture to pan, zoom and
        search, filters, a table of the edges with their tests, pair tables, marginals, and "what
        if": states are observed by a click, and all probabilities follow. What `predictability` and
        `bootstrap` found is shown, too, where they were called before.

        Parameters
        ----------
        path : path-like
            Where to write it, such as "net.html".
        groups : mapping of variable to group, optional
            Groups of your own to colour variables by; communities are always there.
        title : str, optional
            The page's title.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> net = MarkovNetwork(lam=0.1).fit([["sun", "dry"], ["rain", "wet"]] * 50)
        >>> net.explore(pathlib.Path(tempfile.mkdtemp(), "net.html")).name
        'net.html'
        """
        from graftwork.report.explorer import explore

        check_is_fitted(self)
        return explore(self, path, groups=groups, title=title)

    def estimate(self, X: Any, sample_weight: Any = None) -> CostEstimate:
        """Return what fitting these data would take: sizes and memory."""
        return estimate_cost(self.spec(), X, sample_weight)

    @property
    def graph_(self) -> nx.Graph:
        """The network's graph, with states and all numbers of ``edges_`` that are known."""
        check_is_fitted(self)
        return graph_of(self.model_, self._edge_records())

    def _edge_records(self) -> list[dict[str, Any]]:
        boot = getattr(self, "bootstrap_", None)
        frequency = None if boot is None else boot.frequency
        return edge_records(self.model_, self.names_, self.evidence_, frequency)

    @property
    def edges_(self) -> pd.DataFrame | list[dict[str, Any]]:
        """The edges, the surest first: a DataFrame where pandas is installed, else a list.

        After `bootstrap` with the ``frequency`` of each in the resamples.
        """
        check_is_fitted(self)
        more = ("frequency",) if hasattr(self, "bootstrap_") else ()
        columns = (*EDGE_COLUMNS, *more)
        return as_frame(self._edge_records(), columns, columns[2:])

    def couplings(
        self, score: Literal["norm", "apc"] = "norm"
    ) -> pd.DataFrame | list[dict[str, Any]]:
        """Return the size of every pair's coupling, the largest first.

        Parameters
        ----------
        score : {"norm", "apc"}
            What they are ordered by (see `PairwiseMRF.couplings`).

        Returns
        -------
        DataFrame, or list of dict without pandas
            ``first``, ``second``, ``norm`` and ``apc`` of each pair.

        Examples
        --------
        >>> rows = [[0, 0, 1], [1, 1, 0], [0, 0, 0], [1, 1, 1]] * 9
        >>> net = MarkovNetwork(penalty="l2", lam=0.1).fit(rows)
        >>> list(net.couplings("apc").iloc[0][["first", "second"]])
        ['x0', 'x1']
        """
        check_is_fitted(self)
        return self.model_.couplings(score)

    @property
    def near_edges_(self) -> pd.DataFrame | list[dict[str, Any]]:
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

    def score(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, unseen: Unseen = "error"
    ) -> float:
        """Return the mean log pseudo-likelihood of a row, in nats (higher is better).

        Missing cells are treated as ``missing`` said when the network was learned, and cells in
        states that the rows learned from did not have are refused, or missing with
        ``unseen="ignore"``: see `PairwiseMRF.score`, which gives the same number.
        """
        check_is_fitted(self)
        owner = type(self).__name__
        if comes_in_parts(X) and unseen == "error":
            return score_parts(self.model_, X, sample_weight, n_jobs=self.n_jobs, owner=owner)
        if comes_in_parts(X):
            return self.model_.score(X, sample_weight, unseen=unseen)
        rows = self.model_.rows_to_score(X, weights=sample_weight, owner=owner, unseen=unseen)
        return rows.mean(self.model_.log_conditionals(rows, self.n_jobs))

    def predictability(
        self,
        X: Any,
        *,
        held_out: int | None = None,
        sample_weight: Any = None,
        random_state: Any = None,
    ) -> pd.DataFrame | list[dict[str, Any]]:
        """Return how well each variable is predicted from all others, one row per variable.

        A variable is predicted to be in the state that is most probable given all other cells of
        the row. With the rows that the network was learned from this is in-sample and optimistic.
        Missing cells are not predicted; otherwise they are treated as in `score`.

        Parameters
        ----------
        X : table
            The rows to predict: those of `fit`, or new ones.
        held_out : int, optional
            A number of folds. Every row is then predicted by a network that was learned, by the
            whole procedure, from the rows of the other folds. That takes as many fits, and this
            network itself is not used (nor need it be fitted).
        sample_weight : (rows,) array, optional
            Row weights; default those of a weighted Table, else 1.
        random_state : int, Generator or None
            How rows are dealt out to folds; default that of the network.

        Returns
        -------
        table
            ``variable``; ``accuracy``, the share of cells predicted correctly;
            ``marginal_accuracy``, that of always saying the state most frequent in the rows learned
            from; ``normalised_accuracy``, (accuracy - marginal accuracy) / (1 - marginal accuracy);
            ``log_loss`` and ``marginal_log_loss`` of a cell, in nats; ``explained_deviance``, the
            share of the marginal log-loss that the other variables explain; ``n``, the weight of
            the cells predicted. A DataFrame where pandas is installed. `summary` has it in words,
            and `graftwork.plot_network` draws it as rings.

        References
        ----------
        Haslbeck and Waldorp, "How well do network models predict observations? On the importance
        of predictability in network models", Behavior Research Methods 50, 2018.

        Examples
        --------
        >>> rows = [["sun", "dry"], ["sun", "dry"], ["rain", "wet"], ["rain", "dry"]] * 25
        >>> table = MarkovNetwork(lam=0.02).fit(rows).predictability(rows)
        >>> [float(share) for share in table["normalised_accuracy"]]
        [0.5, 0.0]
        """
        if held_out is None:
            check_is_fitted(self)
            found = predict_rows(self.model_, self.data_, X, sample_weight, type(self).__name__)
        else:
            seed = self.random_state if random_state is None else random_state
            seed = 0 if seed is None else seed
            found = cross_validate(self.spec(), X, sample_weight, held_out, seed)
        self.predictability_ = found
        return found.to_frame()

    def centrality(
        self, groups: Mapping[Any, Any] | None = None
    ) -> pd.DataFrame | list[dict[str, Any]]:
        """Return how central each variable is, one row per variable.

        How far an order of variables can be trusted, `bootstrap` tells.

        Parameters
        ----------
        groups : mapping of variable to group, optional
            For bridge centralities, such as ``communities()``. Every variable needs one; with None
            it is a group by itself.

        Returns
        -------
        table
            ``variable``; ``strength``, the sum of its edges' strengths; ``expected_influence``,
            the same with the sign of each edge, known between binary variables only (NaN for a
            variable with any other edge); ``degree``, the number of its edges; ``closeness`` and
            ``betweenness``, where an edge of strength s is 1/s long. With groups also ``group``,
            ``bridge_strength`` and ``bridge_expected_influence`` (of edges to other groups),
            ``bridge_closeness`` (to variables of other groups) and ``bridge_betweenness`` (between
            variables of different groups). A DataFrame where pandas is installed.

        Examples
        --------
        >>> rows = [["sun", "dry"], ["rain", "wet"]] * 50
        >>> MarkovNetwork(lam=0.1).fit(rows).centrality()["degree"].tolist()
        [1.0, 1.0]
        """
        check_is_fitted(self)
        columns = CENTRALITY_COLUMNS + (BRIDGE_COLUMNS if groups is not None else ())
        numbers = [name for name in columns if name not in ("variable", "group")]
        return as_frame(centrality_records(self.model_, groups), columns, numbers)

    def communities(
        self, *, resolution: float = 1.0, random_state: int = 0
    ) -> dict[Any, int | None]:
        """Return the community of each variable, found by Louvain's algorithm on the strengths.

        The partition of largest modularity of 50 runs (fewer above 100 edges); there may be a
        better one. How far it can be trusted, `bootstrap` tells.

        Parameters
        ----------
        resolution : float
            Above 1 there are more, smaller communities, below 1 fewer, larger ones.
        random_state : int
            Seed of the runs.

        Returns
        -------
        dict
            1 for variables of the largest community, 2 for the next, ...; None for variables
            without an edge.

        Examples
        --------
        >>> rows = [["sun", "dry"], ["rain", "wet"]] * 50
        >>> MarkovNetwork(lam=0.1).fit(rows).communities()
        {'x0': 1, 'x1': 1}
        """
        check_is_fitted(self)
        seed = whole_number("random_state", random_state, 0)
        return communities_of(self.model_, resolution=resolution, seed=seed)

    def sample(self, n_samples: int = 1, evidence: Any = None, random_state: Any = None) -> Table:
        """Return rows drawn from the network, given the evidence."""
        check_is_fitted(self)
        seed: Any = self.random_state if random_state is None else random_state
        return self.model_.sample(n_samples, evidence, seed, n_jobs=self.n_jobs)

    @not_of_arrays
    def predict(self, X: Any, target: Any = None, *, unseen: Unseen = "error") -> Any:
        """Return the most probable state of a variable in each row, given its other cells.

        As `PairwiseMRF.predict`: missing cells are summed out, the variable's own column may be
        left out, and it is the last variable unless ``target`` names one. Not there once the
        network is fitted to a NumPy or sparse array, of which scikit-learn would expect the classes
        of some y: ask ``model_`` then.

        Examples
        --------
        >>> rows = [["sun", "dry"], ["rain", "wet"]] * 50
        >>> MarkovNetwork(lam=0.1).fit(rows).predict([["rain", None], ["sun", "wet"]], "x1")
        ['wet', 'dry']
        """
        check_is_fitted(self)
        return self.model_.predict(X, target, unseen=unseen, owner=type(self).__name__)

    @not_of_arrays
    def predict_proba(self, X: Any, target: Any = None, *, unseen: Unseen = "error") -> Any:
        """Return the probabilities of a variable's states in each row, given its other cells.

        As `PairwiseMRF.predict_proba`; the columns are ``model_.states[target]``, in their order.
        """
        check_is_fitted(self)
        return self.model_.predict_proba(X, target, unseen=unseen, owner=type(self).__name__)

    def impute(
        self, X: Any, *, draw: bool = False, random_state: Any = None, unseen: Unseen = "error"
    ) -> Any:
        """Return a copy of rows with their missing cells in the most probable states, or drawn.

        As `PairwiseMRF.impute`.

        Examples
        --------
        >>> rows = [["sun", "dry"], ["rain", "wet"]] * 50
        >>> MarkovNetwork(lam=0.1).fit(rows).impute([["rain", None], [None, "dry"]])
        [['rain', 'wet'], ['sun', 'dry']]
        """
        check_is_fitted(self)
        seed: Any = self.random_state if random_state is None else random_state
        return self.model_.impute(
            X, draw=draw, random_state=seed, unseen=unseen, owner=type(self).__name__
        )

    def bootstrap(
        self,
        X: Any,
        n: int = 200,
        *,
        case_dropping: bool | Sequence[float] = True,
        refit_lam: bool = True,
        sample_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        observer: Observer | None = None,
        folder: str | PathLike[str] | None = None,
    ) -> Bootstrap:
        """Learn again from resamples of the rows, and return how far edges and centralities stay.

        Every resample is learned by the whole procedure of this network, choosing lambda included,
        so the cost is that of ``n`` fits, and of ``n`` smaller ones for the case dropping. The
        network to compare with is this one if it is fitted (to these data, that is for you to see
        to; to columns of these names it must be); otherwise it is fitted first. The states are
        those of the whole table, so that no resample lacks any. Rows keep their missing cells, and
        each resample does with them what ``missing`` says; rows to drop are dropped before. Budgets
        such as ``max_seconds`` are for each resample.

        After an interrupt (Ctrl-C) ``bootstrap_`` holds what was done, and KeyboardInterrupt is
        raised.

        Parameters
        ----------
        X : table
            The rows, as in `fit`.
        n : int
            How many resamples: as many rows as there are, drawn with replacement. Shares of fewer
            than 100 are rough; 200 and more tell whether the order of centralities can be trusted.
        case_dropping : bool or sequence of float
            Whether to learn from ``n`` subsets of the rows as well, which tells how stable the
            order of centralities is: shares of rows to drop, or True for .05 to .75. The subsets
            are dealt out to the shares in turn, so each share gets ``n`` by the number of shares.
        refit_lam : bool
            Whether lam="auto" chooses anew for every resample. False takes ``lam_`` for all of
            them: quicker, but the weights are then penalised and not refitted (those of the network
            to compare with too, which is fitted anew for that), and the choice is taken for
            granted. A number for lam is always kept.
        sample_weight : (rows,) array, optional
            Row weights; default those of a weighted Table, else 1. Whole weights count repeated
            rows, and each repetition is drawn by itself. Others belong to their row: rows are
            drawn, with equal chances, and one drawn twice has twice its weight. Rows of weight 0
            are not there.
        random_state : int, Generator or None
            Seed of the resamples; default that of the network.
        n_jobs : int, optional
            Resamples learned at once, in processes of their own where that pays; default as for the
            network. Results do not depend on it.
        observer : Observer, optional
            Told (by ``on_stage``) of every resample that is done; default that of the network.
        folder : path-like, optional
            Keeps a file for every resample that is done. The same call goes on from there; files of
            other rows or settings are not used. Remove the folder when you have the result.

        Returns
        -------
        Bootstrap
            Also kept as ``bootstrap_``.

        References
        ----------
        Epskamp, Borsboom and Fried, "Estimating psychological networks and their accuracy: a
        tutorial paper", Behavior Research Methods 50, 2018.

        Examples
        --------
        >>> from graftwork import MarkovNetwork
        >>> rows = [["sun", "dry"], ["sun", "dry"], ["rain", "wet"], ["rain", "dry"]] * 25
        >>> boot = MarkovNetwork(lam=0.02).bootstrap(rows, 20, random_state=0)
        >>> boot.frequency("x0", "x1")
        1.0
        """
        whole_number("n", n, 1)
        RESAMPLES.check(n, f"{n:,} resamples are asked for", "ask for fewer")
        check_jobs(n_jobs)
        shares, spec = check_shares(case_dropping, n), self.spec()
        self.__dict__.pop("bootstrap_", None)
        fitted = hasattr(self, "model_")
        table = read_rows_to_draw(spec, X, sample_weight, warn=fitted)
        if not fitted:
            self.fit(X, sample_weight=sample_weight)
        seed = self.random_state if random_state is None else random_state
        found, interrupted = bootstrap_fit(
            spec,
            self.fit_,
            table,
            n,
            shares=shares,
            refit_lam=refit_lam,
            seed=0 if seed is None else seed,
            jobs=count_threads(self.n_jobs if n_jobs is None else n_jobs),
            observer=spec.observer if observer is None else watcher(observer, Lines()),
            folder=folder,
        )
        if found is not None:
            self.bootstrap_ = found
        if interrupted:
            raise KeyboardInterrupt
        return self.bootstrap_

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model, with a record of how it was learned, to one file."""
        check_is_fitted(self)
        self.model_.save(path, info=self.info())

    def export(self, path: str | PathLike[str], format: str | None = None) -> Exported:
        """Write the network in a format of other programs; return what was written and lost.

        Parameters
        ----------
        path : path-like
            The file; its suffix says the format unless ``format`` does.
        format : str, optional
            One of ``gw.exchange.FORMATS``: graphml, gexf, cytoscape, csv, uai, ...

        Examples
        --------
        >>> import pathlib, tempfile
        >>> net = MarkovNetwork(lam=0.1).fit([["sun", "dry"], ["rain", "wet"]] * 50)
        >>> net.export(pathlib.Path(tempfile.mkdtemp(), "net.graphml")).format
        'graphml'
        """
        check_is_fitted(self)
        known = {(edge["first"], edge["second"]): edge for edge in self._edge_records()}
        edges = [known[edge] for edge in self.model_.edges]  # as those of a model file
        return export(self.model_, path, format, info=self.info(), edges=edges)

    def info(self) -> dict[str, Any]:
        """Return how the network was learned, as plain values for files and reports."""
        from graftwork.report.summary import notes_on_intervals

        check_is_fitted(self)
        spec = self.spec()
        return {
            "method": self.method_,
            "method_options": {k: _plain(v) for k, v in (self.method_options or {}).items()},
            "loss": self.loss,
            "inference": _plain(self.inference),
            "penalty": self.penalty,
            "l2": spec.l2,
            "penalize_unary": spec.unary,
            "start": words_of_start(spec.start),
            "goal": self.goal,
            "fdr": float(self.fdr),
            "tests": None if self.evidence_ is None else self.evidence_.n_tests,
            "edge_tests": tests_in_order(self.model_, self.names_, self.evidence_),
            "remarks": [*self.data_.remarks, *notes_on_intervals(self)],
            "shapes_tested": None if self.evidence_ is None else self.evidence_.n_rests,
            "knowledge": self.knowledge_,
            "missing": self.missing_.to_dict(),
            "effective_rows": self.data_.effective_rows,
            "design_effect": self.data_.design_effect,
            "criterion": self.criterion,
            "lam": self.lam_,
            "choice": self.choice_.to_dict(),
            "refitted": self.refitted_,
            "weights": None if self.model_.observed is None else self.model_.observed.fitted,
            "tying": None if self.tying_ is None else self.tying_.to_dict(),
            "objective": self.objective_,
            "certificate": self.certificate_.to_dict(),
            "exchange": None if self.exchange_ is None else self.exchange_.to_dict(),
        }


MarkovNetwork.__doc__ = str(MarkovNetwork.__doc__).replace(
    "{parameters}", reference().replace("\n", "\n    ")
)


def _plain(value: Any) -> Any:
    """Return a value as a file can hold it: numbers and texts as they are, the rest in words."""
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, bool | int | float | str | None) else repr(value)
