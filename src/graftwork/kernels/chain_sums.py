"""Sums over the positions of attributes of chains: expected and seen values of features."""

from __future__ import annotations

import numpy as np
from numba import njit

from graftwork.kernels.row_sums import add_row


@njit(cache=True, nogil=True)
def expected_features(lanes, first, last, col_starts, positions, values, marginals, feature_starts,
                      outputs, out):  # fmt: skip
    """Fill the expected value of each feature of the attributes first:last.

    Attribute ``a`` occurs at ``positions[col_starts[a]:col_starts[a + 1]]``; its features are
    ``feature_starts[a]:feature_starts[a + 1]``, about the outputs of these numbers.
    """
    n_blocks = marginals.shape[1] // len(lanes)
    sums = np.empty(marginals.shape[1])
    for a in range(first, last):
        if feature_starts[a] == feature_starts[a + 1]:
            continue
        for c in range(sums.size):
            sums[c] = 0.0
        for k in range(col_starts[a], col_starts[a + 1]):
            value = values[k] if values.size else 1.0
            for b in range(n_blocks):
                add_row(lanes, value, marginals, positions[k] * n_blocks + b, sums, b)
        for f in range(feature_starts[a], feature_starts[a + 1]):
            out[f] = sums[outputs[f]]


@njit(cache=True, nogil=True)
def count_outputs(col_starts, positions, values, weights, label_columns, pair_columns, n_columns,
                  first, counts, columns, sums, squares):  # fmt: skip
    """Fill what each attribute is seen with: outputs, sums of its values, of their squares.

    A first call with empty ``columns`` fills ``counts`` alone, the number of outputs seen with each
    attribute; ``first`` says where each one's part starts in a second call.
    """
    seen = np.zeros(n_columns, dtype=np.bool_)
    totals, bends = np.zeros(n_columns), np.zeros(n_columns)
    for a in range(len(col_starts) - 1):
        for k in range(col_starts[a], col_starts[a + 1]):
            t = positions[k]
            value = values[k] if values.size else 1.0
            weight = weights[t] if weights.size else 1.0
            seen[label_columns[t]] = True
            totals[label_columns[t]] += weight * value
            bends[label_columns[t]] += weight * value * value
            if pair_columns.size and pair_columns[t] >= 0:
                seen[pair_columns[t]] = True
                totals[pair_columns[t]] += weight * value
                bends[pair_columns[t]] += weight * value * value
        place = 0
        for c in range(n_columns):
            if not seen[c]:
                continue
            if columns.size:
                columns[first[a] + place] = c
                sums[first[a] + place] = totals[c]
                squares[first[a] + place] = bends[c]
            seen[c], totals[c], bends[c] = False, 0.0, 0.0
            place += 1
        counts[a] = place
