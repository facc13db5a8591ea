"""A stored table beside the table that all rows give in memory."""

import warnings

import numpy as np

from graftwork.errors import DataWarning

from doors.data import missing_last


def whole(stored):
    """Return all rows of a stored table, part after part: codes and weights."""
    parts = [stored.part(k) for k in range(stored.n_parts)]
    assert tuple(part.n_rows for part in parts) == stored.part_rows
    for part in parts:
        assert part.names == stored.names
        assert part.states == stored.states
        assert part.codes.flags.c_contiguous
        assert not part.codes.flags.writeable
    codes = np.concatenate([part.codes for part in parts], axis=1)
    weights = None
    if stored.weighted:
        weights = np.concatenate([part.weights for part in parts])
    return codes, weights


def typed(states):
    return [[(type(state), state) for state in listed] for listed in states]


def assert_same(stored, table):
    """Raise unless both have the same names, states, order, codes, weights and counts."""
    table = missing_last(table) if any("(missing)" in own for own in table.states) else table
    assert stored.names == table.names
    assert typed(stored.states) == typed(table.states)
    codes, weights = whole(stored)
    assert codes.dtype == table.codes.dtype
    assert np.array_equal(codes, table.codes)
    assert (weights is None) == (table.weights is None)
    if weights is not None:
        assert np.array_equal(weights, table.weights)
    assert stored.shape == table.shape
    assert stored.cards.tolist() == table.cards.tolist()
    assert stored.total_weight == np.float64(table.total_weight) or np.isclose(
        stored.total_weight, table.total_weight, rtol=1e-12
    )
    for mine, theirs in zip(stored.state_counts, table.observed(), strict=True):
        assert np.allclose(mine, theirs, rtol=1e-12)
    for mine, row, listed in zip(stored.row_counts, table.codes, table.states, strict=True):
        assert mine.tolist() == np.bincount(row, minlength=len(listed)).tolist()
    mine = None if stored.ordered is None else stored.ordered.scores
    theirs = None if table.ordered is None else table.ordered.scores
    assert mine == theirs


def quiet(action):
    """Return what an action gives, without warnings about columns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return action()
