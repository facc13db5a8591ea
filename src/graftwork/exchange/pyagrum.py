"""pyAgrum's Markov random fields, both ways; pyAgrum is imported when it is asked for."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from graftwork.errors import DataError
from graftwork.exchange.factors import checked_factors, from_tables, the_network
from graftwork.exchange.graphs import node_texts
from graftwork.models import PairwiseMRF


def to_pyagrum(model: Any) -> Any:
    """Return a network as one of pyAgrum (``MarkovRandomField``); names and states become texts.

    Parameters
    ----------
    model : PairwiseMRF or fitted MarkovNetwork

    Raises
    ------
    ImportError
        If pyAgrum is not installed.
    DataError
        If two names, or two states of a variable, are the same text; or if log-potentials are
        beyond 700, where factors are not numbers any more.

    Examples
    --------
    >>> to_pyagrum(PairwiseMRF({"a": ["no", "yes"]})).size()  # doctest: +SKIP
    1
    """
    network = the_network(model)
    gum = _pyagrum()
    out, names = gum.MarkovRandomField(), node_texts(network.names)
    for name, states in zip(names, network.states.values(), strict=True):
        out.add(gum.LabelizedVariable(name, name, node_texts(states)))
    for factor in checked_factors(network):
        own = [names[i] for i in factor.scope]
        tensor = out.addFactor(own)
        # Its first variable is the fastest, and its arrays have the last one first.
        order = [list(tensor.names).index(name) for name in own]
        table = np.transpose(np.exp(factor.table), np.argsort(order))
        tensor.fillWith(table.ravel(order="F").tolist())
    return out


def from_pyagrum(network: Any) -> PairwiseMRF:
    """Return a Markov random field of pyAgrum as a `PairwiseMRF`; states are texts.

    Raises
    ------
    DataError
        If a factor of three variables or more is not a product of pairs.

    Examples
    --------
    >>> from_pyagrum(to_pyagrum(PairwiseMRF({"a": ["no", "yes"]}))).states  # doctest: +SKIP
    {'a': ('no', 'yes')}
    """
    if not hasattr(network, "factors"):
        raise DataError(
            f"a {type(network).__name__} is not a Markov random field of pyAgrum; a Bayesian "
            "network in which no variable has two or more parents becomes one by "
            "MarkovRandomField.fromBN."
        )
    names = [network.variable(i).name() for i in sorted(network.nodes())]
    states = {name: list(network.variable(name).labels()) for name in names}
    tables = []
    for scope in network.factors():
        tensor = network.factor(scope)
        shape = [len(states[name]) for name in tensor.names]
        values = np.array(tensor.toarray(), dtype=np.float64).ravel()
        tables.append((list(tensor.names), values.reshape(shape[::-1]).transpose()))
    return from_tables(names, states, tables)


def _pyagrum() -> Any:
    try:
        return importlib.import_module("pyagrum")
    except ImportError as error:
        raise ImportError("pyAgrum is not installed; pip install pyagrum.") from error
