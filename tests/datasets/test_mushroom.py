"""The embedded Mushroom table is the published one."""

from __future__ import annotations

import numpy as np

from graftwork.data import Table
from graftwork.datasets import EMBEDDED, MUSHROOM_MEANINGS, load_mushroom

DECLARED = [2, 6, 4, 10, 2, 9, 4, 3, 2, 12, 2, 6, 4, 4, 9, 9, 2, 4, 3, 8, 9, 6, 7]
OCCURRING = [2, 6, 4, 8, 2, 7, 2, 2, 2, 9, 2, 4, 4, 4, 7, 7, 1, 2, 3, 4, 6, 6, 6]


def test_shape_and_counts():
    table = load_mushroom()
    assert isinstance(table, Table)
    assert table.shape == (5644, 23)
    assert table.cards.tolist() == DECLARED
    observed = table.observed()
    assert [int(np.count_nonzero(counts)) for counts in observed] == OCCURRING
    assert dict(zip(table.states[0], observed[0], strict=True)) == {"e": 3488, "p": 2156}


def test_first_row():
    first = "p,x,s,n,t,p,f,c,n,k,e,e,s,s,w,w,p,w,o,p,k,s,u"
    assert load_mushroom()[0] == tuple(first.split(","))


def test_states_are_declared_in_alphabetical_order():
    table = load_mushroom()
    assert table.names == tuple(MUSHROOM_MEANINGS)
    for name, states in zip(table.names, table.states, strict=True):
        assert states == tuple(sorted(states)) == tuple(MUSHROOM_MEANINGS[name])
        assert "?" not in states


def test_meanings():
    assert MUSHROOM_MEANINGS["class"] == {"e": "edible", "p": "poisonous"}
    assert MUSHROOM_MEANINGS["veil-type"] == {"p": "partial", "u": "universal"}
    assert MUSHROOM_MEANINGS["bruises"] == {"t": "bruises", "f": "no"}
    assert all(len(letter) == 1 for words in MUSHROOM_MEANINGS.values() for letter in words)


def test_registry():
    assert EMBEDDED["mushroom"] is load_mushroom
