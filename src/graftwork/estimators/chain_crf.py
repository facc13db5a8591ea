"""ChainCRF: learn a sparse conditional random field of label sequences, with a certificate."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np

from graftwork.data.chains import (
    Template,
    as_sequences,
    check_weights,
    encode_labels,
    opened,
    with_weight,
)
from graftwork.errors import ConvergenceWarning
from graftwork.estimators.base import Estimator, check_is_fitted
from graftwork.estimators.chain_parts import (
    chain_options,
    chain_problem,
    chain_recipe,
    check_parameters,
    translated,
)
from graftwork.estimators.edges import as_frame
from graftwork.grafting import Outcome, Recipe, graft
from graftwork.grafting.trace import Observer
from graftwork.inference.chains import ChainShape
from graftwork.inference.layout import Floats
from graftwork.models.chain import ChainModel
from graftwork.models.explanation import Explanation
from graftwork.objectives.chains.data import ChainData
from graftwork.objectives.chains.features import ChainFeatures, find_features
from graftwork.objectives.chains.likelihood import ChainLikelihood, compile_kernels
from graftwork.parameters import ChainMethod, PenaltyName


class ChainCRF(Estimator):
    """Learns which features of sequences tell their labels: a sparse linear-chain CRF.

    A feature is an attribute with a label, or a label with the one before it. They are grafted onto
    a model without any while the data ask for them, until none of the others would improve it.

    Parameters
    ----------
    method : {"grafting-light", "grafting", "gauss-seidel", "gain", "full"} or Recipe
        How features are chosen; all end at the same model and differ in the way there.
    method_options : dict, optional
        Options of the method, such as ``{"steps": 2}`` for grafting-light.
    lam : float, optional
        Strength of the penalty, on the mean loss of a sequence. CRFsuite's ``c1`` is on the summed
        loss: ``lam = c1 / number of sequences``. Default: ``c1 = 1``.
    l2 : float
        Strength of the squared norm added to it (CRFsuite's ``c2`` by the number of sequences).
    select : int, optional
        Features activated per round (the papers' M). Default: a fiftieth of the candidates, but no
        fewer than 50.
    penalty : {"l1", "elastic-net", "group-l1", "l2", "none"}
        l1 (with l2: the elastic net) chooses single features; group-l1 attributes with all their
        labels; l2 and none keep every feature (all at once, whatever the method, unless
        ``select``, ``max_features`` or ``max_iter`` say otherwise).
    order : {1, 2}
        How many labels before it a label depends on. In second order attributes may also vote for
        a label together with the one before it.
    candidates : {"observed", "all"}
        Features that occur in the training data (as CRFsuite has it), or every attribute with
        every label: then also what never occurs can count against a label.
    min_count : int
        Attributes at fewer positions are left out.
    max_features, max_seconds, max_iter, max_evaluations : optional
        Budgets: active features (or rows), seconds, rounds, evaluations of the loss. A run that
        ends on one says so in its certificate. After features and rounds the weights are still
        solved to ``tol``.
    tol : float, optional
        Accuracy of the optimum, in the units of lam: how far the expected number of a feature in a
        sequence may be from what the optimum asks for. Default: 1e-4, one occurrence in ten
        thousand sequences, or lam where that is less. It is enough for predictions; 1e-6 settles
        which of the weakest features are kept, and takes several times as long.
    n_jobs : int, optional
        Threads; None is every core. Results do not depend on it.
    verbose : int or Observer
        1 writes one line per round to standard error; an Observer is notified of every round.

    Attributes
    ----------
    model_ : ChainModel
        Labels, attributes, weights; predicts and can be saved.
    classes_ : tuple
        The labels.
    n_features_, n_candidates_ : int
        Weights that are not zero; features there were to choose from.
    n_sequences_, n_positions_, n_attributes_ : int
        Of what it was learned from; attributes are counted once each.
    weights_ : DataFrame or list of dict
        One row a weight, the largest first (a DataFrame where pandas is installed).
    certificate_, trace_, lam_, objective_, n_iter_
        As in ``MarkovNetwork``; the objective is loss plus penalty, the loss a mean of sequences.

    Examples
    --------
    >>> X = [[["w=the"], ["w=dog"], ["w=barks"]], [["w=dogs"], ["w=bark"]]] * 20
    >>> y = [["D", "N", "V"], ["N", "V"]] * 20
    >>> crf = ChainCRF(lam=0.01).fit(X, y)
    >>> crf.predict([[["w=the"], ["w=dogs"], ["w=bark"]]])
    [['D', 'N', 'V']]
    >>> crf.certificate_.converged
    True
    """

    @translated
    def __init__(
        self,
        method: ChainMethod | Recipe = "grafting-light",
        *,
        method_options: Mapping[str, Any] | None = None,
        lam: float | None = None,
        l2: float = 0.0,
        select: int | None = None,
        penalty: PenaltyName = "l1",
        order: Literal[1, 2] = 1,
        candidates: Literal["observed", "all"] = "observed",
        min_count: int = 1,
        max_features: int | None = None,
        max_seconds: float | None = None,
        max_iter: int | None = None,
        max_evaluations: int | None = None,
        tol: float | None = None,
        n_jobs: int | None = None,
        verbose: int | Observer | None = 0,
    ) -> None:
        self.method = method
        self.method_options = method_options
        self.lam = lam
        self.l2 = l2
        self.select = select
        self.penalty = penalty
        self.order = order
        self.candidates = candidates
        self.min_count = min_count
        self.max_features = max_features
        self.max_seconds = max_seconds
        self.max_iter = max_iter
        self.max_evaluations = max_evaluations
        self.tol = tol
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any,
        lengths: Any = None,
        sample_weight: Any = None,
        attribute_names: Any = None,
    ) -> Self:
        """Learn from labelled sequences.

        After an interrupt (Ctrl-C) the attributes hold the best model so far, and KeyboardInterrupt
        is raised.

        Parameters
        ----------
        X : list of sequences
            Each a list of items: lists of attributes, or dicts of attributes and their values, as
            python-crfsuite takes them; or each a matrix (positions x attributes). Or one matrix
            (sparse, too) of all positions, with ``lengths``.
        y : list of label sequences
        lengths : sequence of int, optional
            Lengths of the sequences of one matrix.
        sample_weight : (sequences,) array, optional
            Weights of sequences; those of weight zero count as left out.
        attribute_names : sequence, optional
            Names of a matrix's columns, for ``weights_``.
        """
        check_parameters(self)
        X, n_columns = opened(X)
        sequences = as_sequences(X, lengths, names=attribute_names)
        codes, classes = encode_labels(y, sequences)
        weights = check_weights(sample_weight, sequences.n_sequences)
        sequences, codes, classes, weights = with_weight(sequences, codes, classes, weights)
        shape = ChainShape(len(classes), int(self.order))
        data = ChainData.of(sequences, codes, shape, weights)
        features, seen = find_features(
            data, observed=self.candidates == "observed", min_count=int(self.min_count)
        )
        objective = ChainLikelihood(data, features, seen, self.n_jobs)
        compile_kernels(shape)
        lam = self._lambda(objective.total)
        recipe = chain_recipe(self, features.size)
        problem = chain_problem(self, objective, lam)
        outcome = graft(problem, recipe, **chain_options(self, lam))
        self.lam_ = lam
        self.classes_ = classes
        self.n_sequences_, self.n_positions_ = sequences.n_sequences, int(sequences.lengths.sum())
        self.n_attributes_ = sequences.n_attributes
        self.n_candidates_ = features.size
        self.model_ = to_chain_model(
            outcome, features, sequences.names, classes, n_columns, data.label_counts()
        )
        self.certificate_ = outcome.certificate
        self.trace_ = list(outcome.trace)
        self.objective_ = outcome.solution.objective
        self.n_iter_ = len(outcome.trace)
        if outcome.interrupted:
            raise KeyboardInterrupt
        self._warn_if_stalled()
        return self

    @property
    def n_features_(self) -> int:
        """Number of weights that are not zero."""
        check_is_fitted(self)
        return self.model_.n_features

    @property
    def weights_(self) -> Any:
        """The weights, the largest first: a DataFrame where pandas is installed, else a list."""
        check_is_fitted(self)
        return as_frame(self.model_.records(), self.model_.record_names, ["weight"])

    def summary(self, *, top: int = 5) -> str:
        """Return what was learned in plain text, as ``graftwork crf`` prints it.

        Parameters
        ----------
        top : int
            How many weights to name for each label.

        Returns
        -------
        str
            Paragraphs and tables under headings: ``print(crf.summary())``.

        Examples
        --------
        >>> X, y = [[["w=a"], ["w=b"]], [["w=b"]]] * 9, [["A", "B"], ["A"]] * 9
        >>> print(ChainCRF(lam=0.01).fit(X, y).summary())
        Data
          18 sentences with 27 tokens and 2 labels: A, B. 2 attributes.
        ...
        """
        check_is_fitted(self)
        from graftwork.report.chain_summary import chain_summary

        return chain_summary(self, top=top)

    def explore(self, path: str | PathLike[str], *, title: str | None = None) -> Path:
        """Write a page to look at the weights in a browser, and return where it is.

        One HTML file that needs nothing else: the weights of each label, to sort and to search, and
        the moves between labels as a matrix.

        Parameters
        ----------
        path : path-like
            Where to write it, such as "chain.html".
        title : str, optional
            The page's title.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> X, y = [[["w=a"], ["w=b"]], [["w=b"]]] * 9, [["A", "B"], ["A"]] * 9
        >>> crf = ChainCRF(lam=0.01).fit(X, y)
        >>> crf.explore(pathlib.Path(tempfile.mkdtemp(), "chain.html")).name
        'chain.html'
        """
        from graftwork.report.explorer import explore

        check_is_fitted(self)
        return explore(self, path, title=title)

    def predict(self, X: Any, lengths: Any = None) -> list[list[Any]]:
        """Return the most probable labels of each sequence; unknown attributes are left out.

        Of labels that are equally probable, the most frequent one in training is returned: so it
        is where a sequence has no attribute that the model knows. Empty sequences have no labels.
        """
        check_is_fitted(self)
        return self.model_.predict(X, lengths, self.n_jobs)

    def set_predict_request(self, **wishes: bool | str | None) -> Self:
        """Ask for metadata of predict, as in `set_fit_request`."""
        return self._ask("predict", wishes)

    def predict_marginals(self, X: Any, lengths: Any = None) -> list[list[dict[Any, float]]]:
        """Return the probability of each label at each position, as dicts.

        ``model_.marginals`` returns them as arrays, in the order of ``classes_``.
        """
        check_is_fitted(self)
        return self.model_.predict_marginals(X, lengths, self.n_jobs)

    def explain(self, sentence: Any, words: Sequence[Any] | None = None) -> Explanation:
        """Return which features speak for each label of one sequence, and how much.

        Parameters
        ----------
        sentence : list of items, or matrix
            One sequence, in the form of those that `predict` takes a list of.
        words : sequence, optional
            What its positions are called in texts.

        Returns
        -------
        Explanation
            Print it, or see its ``to_frame()``, ``scores`` and ``probabilities``.

        Examples
        --------
        >>> X, y = [[["w=a"], ["w=b"]], [["w=b"]]] * 9, [["A", "B"], ["A"]] * 9
        >>> print(ChainCRF(lam=0.01).fit(X, y).explain([["w=a"], ["w=b"]], ["a", "b"]))
        1 a: A (0.99)
        ...
        """
        check_is_fitted(self)
        return self.model_.explain(sentence, words)

    def score(self, X: Any, y: Any, lengths: Any = None, sample_weight: Any = None) -> float:
        """Return the share of positions whose label is predicted rightly; 1 without any position.

        Labels that were not there to learn from count as wrong.
        """
        check_is_fitted(self)
        return self.model_.score(X, y, lengths, sample_weight, self.n_jobs)

    def score_samples(self, X: Any, y: Any, lengths: Any = None) -> Floats:
        """Return the log-probability of the labels of each sequence, in nats.

        It is minus infinity where a label was not there to learn from: its probability is zero.
        Empty sequences have 0, a probability of one.
        """
        check_is_fitted(self)
        return self.model_.log_prob(X, y, lengths, self.n_jobs)

    def save(self, path: str | PathLike[str], template: Template | None = None) -> None:
        """Write the model, with a record of how it was learned, to one file.

        ``graftwork tag`` needs the template that made the attributes from columns.
        """
        check_is_fitted(self)
        self.model_.save(path, self.info(), template=template)

    def info(self) -> dict[str, Any]:
        """Return how the model was learned, as plain values for files and reports."""
        check_is_fitted(self)
        return {
            "method": self.method if isinstance(self.method, str) else self.method.name,
            "penalty": self.penalty,
            "lam": self.lam_,
            "l2": float(self.l2),
            "order": int(self.order),
            "candidates": self.candidates,
            "min_count": int(self.min_count),
            "n_candidates": self.n_candidates_,
            "objective": self.objective_,
            "certificate": self.certificate_.to_dict(),
        }

    def _lambda(self, total: float) -> float:
        """Return the strength of the penalty."""
        if self.penalty == "none":
            return 0.0
        return 1.0 / total if self.lam is None else float(self.lam)

    def _warn_if_stalled(self) -> None:
        if self.certificate_.stop == "stalled":
            from graftwork.report.describe import certificate_text

            warnings.warn(
                f"The model is usable but was not solved to tol={self.certificate_.tolerance:g}: "
                f"{certificate_text(self.certificate_)}",
                ConvergenceWarning,
                stacklevel=3,
            )


def to_chain_model(
    outcome: Outcome,
    features: ChainFeatures,
    names: tuple[Any, ...],
    classes: tuple[Any, ...],
    n_columns: int | None,
    label_counts: Floats,
) -> ChainModel:
    """Return the model of the features with weights; attributes without any are not kept."""
    layout, weights = outcome.potentials.layout, outcome.potentials.weights
    order = np.argsort(layout.features)
    chosen, weights = layout.features[order], weights[order]
    chosen, weights = chosen[weights != 0], weights[weights != 0]
    shape, votes = features.shape, chosen < features.n_votes
    k, (pairs, triples) = shape.n_labels, features.moves(chosen, weights)
    used, numbers = np.unique(features.attributes[chosen[votes]], return_inverse=True)
    return ChainModel(
        labels=classes,
        attributes=tuple(names[a] for a in used.tolist()),
        order=shape.order,
        vote_attributes=numbers.astype(np.int64),
        vote_outputs=shape.outputs(features.columns[chosen[votes]].astype(np.int64)),
        vote_weights=weights[votes],
        pairs=pairs.reshape(k, k),
        triples=triples.reshape((k, k, k) if shape.order == 2 else (0, 0, 0)),
        columns=None if n_columns is None else used.astype(np.int64),
        n_columns=n_columns,
        label_counts=label_counts,
    )
