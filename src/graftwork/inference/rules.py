"""Joint marginals of pairs that message passing has no belief about: three rules.

Edges and pairs of separate components are read off the beliefs. For a connected pair that is no
edge, ``"path"`` chains conditionals along the shortest path, which is exact on forests;
``"product"`` multiplies the two marginals, which never explains indirect dependence away; and
``"exact"`` asks a junction tree of the same potentials, for all pairs.

References
----------
The path rule: S. Lee, V. Ganapathi and D. Koller (2006), Efficient structure learning of Markov
networks using L1-regularization.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from graftwork.errors import TooLargeError
from graftwork.inference.beliefs import Beliefs
from graftwork.inference.elimination import eliminate
from graftwork.inference.junction import JunctionTree, refusal, table_places
from graftwork.inference.layout import Floats, Ints, Potentials
from graftwork.inference.pairs import (
    check_pairs,
    choose_sources,
    fill_known,
    fill_products,
    group_by_source,
    pair_offsets,
)
from graftwork.inference.wiring import Wiring, wire
from graftwork.kernels.bp import path_tables

Rule = Literal["path", "product", "exact"]

#: What to try where the exact rule does not fit.
ADVICE = 'Use rule="path" (exact on forests) or rule="product", or a network with fewer edges.'


def check_rule(rule: str) -> None:
    """Refuse a rule that does not exist.

    Examples
    --------
    >>> check_rule("magic")
    Traceback (most recent call last):
        ...
    ValueError: rule is 'magic'; use "path", "product" or "exact".
    """
    if rule not in get_args(Rule):
        raise ValueError(f'rule is {rule!r}; use "path", "product" or "exact".')


def describe_rule(rule: Rule) -> str:
    """Return how pairs without an edge are answered, in plain words.

    Examples
    --------
    >>> describe_rule("path"), describe_rule("exact")
    ('inactive pairs by the path rule', 'inactive pairs by exact inference (junction tree)')
    """
    how = "exact inference (junction tree)" if rule == "exact" else f"the {rule} rule"
    return f"inactive pairs by {how}"


def marginals_by_rule(
    rule: Rule, potentials: Potentials, beliefs: Beliefs, pairs: Ints
) -> tuple[Floats, bool]:
    """Return the joint marginals of any pairs, flat and row-major, and whether they are exact.

    "Exact" speaks of the tables returned alone: with ``rule="exact"`` they are the marginals of
    the model these potentials define, edges included, even where `beliefs` are approximate.

    Examples
    --------
    >>> from graftwork.inference.layout import Layout
    >>> layout = Layout.of([2, 2], [(0, 1)])
    >>> potentials = Potentials(layout, layout.zeros())
    >>> beliefs = JunctionTree().infer(potentials)
    >>> marginals_by_rule("path", potentials, beliefs, np.array([(1, 0)]))
    (array([0.25, 0.25, 0.25, 0.25]), True)
    """
    layout = beliefs.layout
    pairs = check_pairs(layout, pairs)
    if rule == "exact" and not beliefs.exact:
        return _exact_marginals(potentials, pairs)
    wiring = wire(layout)
    starts = pair_offsets(layout, pairs)
    out = np.zeros(starts[-1])
    opened = fill_known(beliefs, wiring.component, pairs, starts[:-1], out)
    if opened.any() and rule == "product":
        fill_products(beliefs, pairs[opened], starts[:-1][opened], out)
    elif opened.any():
        _fill_paths(beliefs, wiring, pairs[opened], starts[:-1][opened], out)
    return out, beliefs.exact and (rule != "product" or not opened.any())


def _exact_marginals(potentials: Potentials, pairs: Ints) -> tuple[Floats, bool]:
    engine = JunctionTree()
    if not engine.fits(potentials.layout):
        cost = eliminate(potentials.layout).cost
        raise TooLargeError(refusal(cost, engine.limit_cells, ADVICE))
    return engine.pair_marginals(potentials, engine.infer(potentials), pairs)


def _fill_paths(beliefs: Beliefs, wiring: Wiring, pairs: Ints, starts: Ints, out: Floats) -> None:
    """Write the path-rule tables of connected pairs that are not edges."""
    layout = beliefs.layout
    # With loops several shortest paths may join a pair: a fixed end keeps the answer the same
    # whatever else is asked in the batch.
    first = choose_sources(layout.cards, pairs) if wiring.forest else pairs[:, 0] < pairs[:, 1]
    source = np.where(first, pairs[:, 0], pairs[:, 1])
    target = np.where(first, pairs[:, 1], pairs[:, 0])
    places = table_places(layout.cards, pairs, starts, first)
    sources, ptr, order = group_by_source(source, target)
    path_tables(
        beliefs.values, layout.unary_offsets, wiring.indptr, wiring.slots,
        sources, target[order], ptr, places[order], out,
    )  # fmt: skip
