"""pgmpy's Markov networks, both ways; pgmpy is imported when it is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from graftwork.errors import DataError
from graftwork.exchange.factors import checked_factors, from_tables, the_network
from graftwork.models import PairwiseMRF


def to_pgmpy(model: Any) -> Any:
    """Return a network as one of pgmpy (``DiscreteMarkovNetwork``), with names and states.

    Parameters
    ----------
    model : PairwiseMRF or fitted MarkovNetwork

    Raises
    ------
    ImportError
        If pgmpy is not installed.
    DataError
        If log-potentials are beyond 700, where factors are not numbers any more.

    Examples
    --------
    >>> network = to_pgmpy(PairwiseMRF({"a": ["no", "yes"]}))  # doctest: +SKIP
    >>> network.get_partition_function()  # doctest: +SKIP
    2.0
    """
    network = the_network(model)
    models, factors = _pgmpy("pgmpy.models"), _pgmpy("pgmpy.factors.discrete")
    kind = getattr(models, "DiscreteMarkovNetwork", None) or models.MarkovNetwork
    out, names, states = kind(), network.names, network.states
    out.add_nodes_from(names)
    out.add_edges_from(network.edges)
    for factor in checked_factors(network):
        own = [names[i] for i in factor.scope]
        listed = {name: list(states[name]) for name in own}
        sizes = [len(states[name]) for name in own]
        out.add_factors(factors.DiscreteFactor(own, sizes, np.exp(factor.table), listed))
    return out


def from_pgmpy(network: Any) -> PairwiseMRF:
    """Return a Markov network of pgmpy as a `PairwiseMRF`, with its names and states.

    Raises
    ------
    DataError
        If a factor of three variables or more is not a product of pairs, or an entry is negative.

    Examples
    --------
    >>> from_pgmpy(to_pgmpy(PairwiseMRF({"a": ["no", "yes"]}))).states  # doctest: +SKIP
    {'a': ('no', 'yes')}
    """
    if not hasattr(network, "get_factors"):
        raise DataError(
            f"a {type(network).__name__} is not a Markov network of pgmpy; a Bayesian network in "
            "which no variable has two or more parents becomes one by its to_markov_model()."
        )
    factors = list(network.get_factors())
    states: dict[Any, list[Any]] = {}
    for factor in factors:
        for name in factor.variables:
            states.setdefault(name, list(factor.state_names[name]))
    missing = [name for name in network.nodes() if name not in states]
    if missing or not states:
        raise DataError(f"the network has no factor with the variable {(missing or ['?'])[0]!r}.")
    ordered = [name for name in network.nodes() if name in states]
    return from_tables(ordered, states, _tables(factors, states))


def _tables(factors: Any, states: dict[Any, list[Any]]) -> Iterator[tuple[list[Any], Any]]:
    """Yield names and values of each factor, the states in one order for all factors."""
    for factor in factors:
        values = np.asarray(factor.values, dtype=np.float64)
        for axis, name in enumerate(factor.variables):
            own = list(factor.state_names[name])
            if sorted(map(repr, own)) != sorted(map(repr, states[name])):
                raise DataError(f"two factors name the states of {name!r} differently.")
            values = values.take([own.index(state) for state in states[name]], axis=axis)
        yield list(factor.variables), values


def _pgmpy(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError("pgmpy is not installed; pip install pgmpy.") from error
