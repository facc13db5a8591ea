"""What scikit-learn expects of an estimator, without importing scikit-learn until it is needed.

``sklearn.base`` takes about a second to import (it loads scipy.stats, and pandas where there is
one), as long as everything else in a process that learns a small network. Nothing in a fit needs
it, so learners do by themselves what its BaseEstimator would do for them.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from functools import update_wrapper
from reprlib import Repr
from types import MethodType
from typing import Any, Self, TypeVar, cast

from graftwork.notebooks import repr_html

# Methods that may take more than X and y.
ROUTED = ("fit", "predict", "score")
_SHORT = Repr()
_SHORT.maxother = _SHORT.maxstring = 60


class Estimator:
    """Parameters by name, tags, clones and words, as scikit-learn has them.

    Examples
    --------
    >>> class Learner(Estimator):
    ...     def __init__(self, lam=0.1, method="best-choice"):
    ...         self.lam, self.method = lam, method
    >>> Learner().set_params(lam=0.2)
    Learner(lam=0.2)
    >>> Learner().get_params()
    {'lam': 0.1, 'method': 'best-choice'}
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return parameters by name; if deep, with those of estimators among them."""
        found: dict[str, Any] = {}
        for name in sorted(inspect.signature(type(self)).parameters):
            value = found[name] = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                found |= {f"{name}__{key}": part for key, part in value.get_params().items()}
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; ``start__lam`` is the parameter lam of the parameter start."""
        known = self.get_params(deep=False)
        for key in sorted(params, key=lambda key: "__" in key):
            name, nested, rest = key.partition("__")
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self}. "
                    f"Valid parameters are: {list(known)!r}."
                )
            if nested:
                getattr(self, name).set_params(**{rest: params[key]})
            else:
                setattr(self, name, params[key])
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        words = {name: _SHORT.repr(value) for name, value in self.get_params(deep=False).items()}
        changed = [
            f"{name}={text}"
            for name, text in words.items()
            if text != _SHORT.repr(defaults[name].default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Return what notebooks show, as text and, if scikit-learn is set to that, as HTML."""
        html = self._repr_html_()
        return {"text/plain": repr(self)} | ({} if html is None else {"text/html": html})

    def _repr_html_(self) -> str | None:
        """Return scikit-learn's diagram, if it is set to draw them; once fitted, what was found."""
        from sklearn import get_config
        from sklearn.utils import estimator_html_repr

        if get_config()["display"] != "diagram":
            return None
        fitted = hasattr(self, "model_")
        return repr_html(self) if fitted else str(estimator_html_repr(self))

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted copy with copies of the parameters.

        A fitted network among the options of a method (to start from) stays fitted.
        """
        from sklearn.base import clone

        params = self.get_params(deep=False)
        copies = {
            name: dict(value) if isinstance(value, dict) else clone(value, safe=False)
            for name, value in params.items()
        }
        twin = type(self)(**copies)
        if "_metadata_request" in vars(self):
            twin._metadata_request = copy.deepcopy(self._metadata_request)
        return twin

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))

    def get_metadata_routing(self) -> Any:
        """Return which metadata (weights, lengths) methods ask of scikit-learn's searches."""
        from sklearn.utils.metadata_routing import MetadataRequest

        if "_metadata_request" in vars(self):
            return copy.deepcopy(self._metadata_request)
        routing = MetadataRequest(owner=type(self).__name__)
        for method in ROUTED:
            for name in _metadata(getattr(type(self), method, None)):
                getattr(routing, method).add_request(param=name, alias=None)
        return routing

    def set_fit_request(self, **wishes: bool | str | None) -> Self:
        """Ask for metadata of fit: True, False, another name for it, or None (refused)."""
        return self._ask("fit", wishes)

    def set_score_request(self, **wishes: bool | str | None) -> Self:
        """Ask for metadata of score, as in `set_fit_request`."""
        return self._ask("score", wishes)

    def _ask(self, method: str, wishes: dict[str, bool | str | None]) -> Self:
        known = _metadata(getattr(type(self), method))
        if not known.issuperset(wishes):
            raise TypeError(f"{method} takes {sorted(known)} besides X and y, not {sorted(wishes)}")
        routing = self.get_metadata_routing()
        for name, wish in wishes.items():
            getattr(routing, method).add_request(param=name, alias=wish)
        self._metadata_request = routing
        return self


def _metadata(method: Any) -> set[str]:
    """Return what a method takes beside X and y."""
    if method is None:
        return set()
    return set(inspect.signature(method).parameters) - {"self", "X", "y"}


def check_is_fitted(estimator: Estimator) -> None:
    """Refuse an estimator that has no model yet, with scikit-learn's error."""
    if not hasattr(estimator, "model_"):
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(
            f"This {type(estimator).__name__} instance is not fitted yet. Call 'fit' with "
            "appropriate arguments before using this estimator."
        )


Method = TypeVar("Method", bound=Callable[..., Any])


def not_of_arrays(method: Method) -> Method:
    """Return a method that fitted estimators have, unless to a NumPy or sparse array.

    scikit-learn takes whatever has ``predict`` for a classifier or a regressor of some y.
    """
    return cast(Method, _NotOfArrays(method))


class _NotOfArrays:
    def __init__(self, method: Callable[..., Any]) -> None:
        self._method = method
        update_wrapper(cast(Any, self), method)

    def __get__(self, estimator: Any, owner: Any = None) -> Any:
        if estimator is None:
            return self._method
        check_is_fitted(estimator)  # what it raises is an AttributeError, too
        if getattr(estimator, "_from_array", False):
            name = self._method.__name__
            raise AttributeError(
                f"a network fitted to a NumPy or sparse array has no {name}; use "
                f"net.model_.{name}(X, target=...), or fit it to a frame with names."
            )
        return MethodType(self._method, estimator)
