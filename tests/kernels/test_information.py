"""Mutual information against entropies."""

import numpy as np

from doors.data import table_offsets
from doors.kernels import excess, information_of_tables


def entropy(counts):
    p = counts[counts > 0] / counts.sum()
    return -(p * np.log(p)).sum()


def test_excess_is_its_closed_form_on_both_sides_of_the_series():
    for delta in (-1.0, -0.5, -0.011, 0.011, 0.5, 3.0):
        wanted = 1.0 if delta == -1.0 else (1 + delta) * np.log1p(delta) - delta
        assert np.isclose(excess(delta), wanted, rtol=1e-12)
    for delta in (-1e-3, -1e-9, 0.0, 1e-9, 1e-3):
        wanted = delta**2 / 2 - delta**3 / 6 + delta**4 / 12 - delta**5 / 20
        assert np.isclose(excess(delta), wanted, rtol=1e-12, atol=0.0)


def test_tables_have_the_information_of_their_entropies():
    rng, cards = np.random.default_rng(0), np.array([2, 3, 4])
    codes = rng.integers(0, cards[:, None], (3, 200))
    codes[1] = np.where(rng.random(200) < 0.4, codes[0], codes[1])
    pairs = np.array([[0, 1], [0, 2], [1, 2]])
    starts, out = table_offsets(cards, pairs), np.zeros(3)
    tables = [
        np.histogram2d(codes[i], codes[j], [range(cards[i] + 1), range(cards[j] + 1)])[0]
        for i, j in pairs
    ]
    margins = np.concatenate(
        [np.bincount(row, minlength=s) for row, s in zip(codes, cards, strict=True)]
    )
    offsets = np.concatenate([[0], np.cumsum(cards)])
    counts = np.concatenate([table.ravel() for table in tables]).astype(np.int64)
    information_of_tables(pairs, cards, counts, starts, margins, offsets, 200.0, out)
    wanted = [entropy(t.sum(axis=1)) + entropy(t.sum(axis=0)) - entropy(t.ravel()) for t in tables]
    assert np.allclose(out, wanted, atol=1e-14)
