"""Sums over the positions of attributes of chains: expected and seen values of features."""

from __future__ import annotations

import numpy as np
from numba import njit

from graftwork.kernels.row_sums import cache_lines, sum_rows


@njit(cache=True, nogil=True)
def add_expected(n_columns, first, last, attributes, col_starts, positions, values, marginals,
                 feature_starts, outputs, out):  # fmt: skip
    """Add the expected values at some positions to those of each feature of their attributes.

    Attribute ``attributes[k]``, for k in first:last, occurs at
    ``positions[col_starts[k]:col_starts[k + 1]]``; the features of attribute ``a`` are
    ``feature_starts[a]:feature_starts[a + 1]``, about the outputs of these numbers. The marginals
    are flat, with ``n_columns`` a position.
    """
    sums = cache_lines(n_columns)
    for k in range(first, last):
        a = attributes[k]
        if feature_starts[a] == feature_starts[a + 1]:
            continue
        sum_rows(n_columns, col_starts[k], col_starts[k + 1], positions, values, marginals, sums,
                 np.int64(0))  # fmt: skip
        for f in range(feature_starts[a], feature_starts[a + 1]):
            out[f] += sums[outputs[f]]


@njit(cache=True, nogil=True)
def spread_marginals(weights, marginals):
    """Replace probabilities p of outputs, times weights, by p (1 - p) times weights."""
    for t in range(len(marginals)):
        scale = 1.0 / weights[t] if weights.size else 1.0
        for c in range(marginals.shape[1]):
            marginals[t, c] *= 1.0 - scale * marginals[t, c]


@njit(cache=True, nogil=True)
def number_rows(chosen, n_votes, attributes, slots):
    """Number the attributes of some features, -1 for all others; return how many there are."""
    slots[:] = -1
    for f in chosen:
        if f < n_votes:
            slots[attributes[f]] = 0
    count = 0
    for a in range(len(slots)):
        if slots[a] == 0:
            slots[a] = count
            count += 1
    return count


@njit(cache=True, nogil=True)
def fill_weights(chosen, weights, n_votes, attributes, columns, slots, rows):
    """Write the weights of some features to the rows of their attributes."""
    for k in range(len(chosen)):
        f = chosen[k]
        if f < n_votes:
            rows[slots[attributes[f]], columns[f]] = weights[k]


@njit(cache=True, nogil=True)
def keep_active(first, last, indptr, indices, values, slots, starts, places, factors):
    """Fill the compressed rows of those attributes that have weights, by the place of these.

    Of the positions first:last, whose rows begin where those of all their attributes do; return
    where they end.
    """
    count = indptr[first]
    for t in range(first, last):
        for k in range(indptr[t], indptr[t + 1]):
            slot = slots[indices[k]]
            places[count] = slot  # written over if there is none: no branch to mispredict
            if values.size:
                factors[count] = values[k]
            count += slot >= 0
        starts[t + 1] = count
    return count


@njit(cache=True, nogil=True)
def count_outputs(col_starts, positions, values, weights, label_columns, pair_columns, n_columns,
                  first, counts, columns, sums, squares):  # fmt: skip
    """Fill what each attribute is seen with: outputs, sums of its values, of their squares.

    A first call with empty ``columns`` fills ``counts`` alone, the number of outputs seen with each
    attribute; ``first`` says where each one's part starts in a second call.
    """
    seen = np.zeros(n_columns, dtype=np.bool_)
    totals, square_totals = np.zeros(n_columns), np.zeros(n_columns)
    for a in range(len(col_starts) - 1):
        for k in range(col_starts[a], col_starts[a + 1]):
            t = positions[k]
            value = values[k] if values.size else 1.0
            weight = weights[t] if weights.size else 1.0
            seen[label_columns[t]] = True
            totals[label_columns[t]] += weight * value
            square_totals[label_columns[t]] += weight * value * value
            if pair_columns.size and pair_columns[t] >= 0:
                seen[pair_columns[t]] = True
                totals[pair_columns[t]] += weight * value
                square_totals[pair_columns[t]] += weight * value * value
        place = 0
        for c in range(n_columns):
            if not seen[c]:
                continue
            if columns.size:
                columns[first[a] + place] = c
                sums[first[a] + place] = totals[c]
                squares[first[a] + place] = square_totals[c]
            seen[c], totals[c], square_totals[c] = False, 0.0, 0.0
            place += 1
        counts[a] = place
