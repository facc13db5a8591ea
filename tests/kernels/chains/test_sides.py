"""Chains side by side: each step against numpy, lane by lane."""

import numpy as np
import pytest

from doors.kernels import cache_lines
from doors.kernels import sides as kernel
from support.chain_arrays import LENGTHS, ChainArrays

SIDE = len(kernel.SIDE)
CHAINS = (4, 3, 1, 0)  # of different lengths, in the first lanes
LONGEST = LENGTHS[4]


def lengths():
    return np.array([*(LENGTHS[k] for k in CHAINS), *[0] * (SIDE - len(CHAINS))])


def begins(given):
    return np.array([*(given.starts[k] for k in CHAINS), *[0] * (SIDE - len(CHAINS))])


def scores_of(given):
    """The log-scores of all states, as the kernel fills them, shape (positions, states, lanes)."""
    shape, (indptr, places, values) = given.shape, given.attributes[2:]
    n_states = shape.n_labels**shape.order
    scores = cache_lines((LONGEST * n_states + kernel.SLACK) * SIDE)
    lines, votes = (cache_lines(shape.n_columns * SIDE) for _ in range(2))
    kernel.fill_scores(
        shape.order, shape.n_labels, shape.reach, shape.n_columns, LONGEST, lengths(),
        begins(given), indptr, places, values, given.rows.ravel(), given.pairs, lines, votes,
        scores,
    )  # fmt: skip
    return scores, n_states


def shaped(flat, n_states):
    return flat[: LONGEST * n_states * SIDE].reshape(LONGEST, n_states, SIDE)


@pytest.mark.parametrize("n_labels", [2, 3, 9])
@pytest.mark.parametrize("order", [1, 2])
def test_scores_of_states_are_votes_and_pairs(order, n_labels):
    given = ChainArrays(order, n_labels)
    scores, n_states = scores_of(given)
    found, n = shaped(scores, n_states), n_labels
    for lane, k in enumerate(CHAINS):
        for t in range(LENGTHS[k]):
            votes = given.votes[given.starts[k] + t]
            wanted = votes[:n]
            if order == 2 and t > 0:
                pairs = votes[given.shape.reach :].reshape(n, -1)[:, :n]
                wanted = (wanted + pairs + given.pair_weights).ravel()
            count = n_states if order == 1 or t > 0 else n
            assert np.allclose(found[t, :count, lane], wanted, atol=1e-13)
        assert not found[LENGTHS[k] :, :, lane].any()


def test_scores_become_exponentials_over_the_largest():
    given = ChainArrays(1, 3)
    scores, n_states = scores_of(given)
    logs = shaped(scores, n_states).copy()
    tops, apart = cache_lines(LONGEST * SIDE), np.empty(SIDE)
    kernel.exponentiate_scores(LONGEST, n_states, 3, scores, tops, apart)
    assert np.array_equal(tops.reshape(LONGEST, SIDE), logs.max(axis=1))
    assert np.allclose(shaped(scores, n_states), np.exp(logs - logs.max(axis=1, keepdims=True)))
    assert np.allclose(apart, np.ptp(logs, axis=1).max(axis=0))
    kernel.leave_out(2 * n_states, 1, scores)
    assert (shaped(scores, n_states)[:2, :, 1] == 1.0).all()


@pytest.mark.parametrize("n_labels", [1, 3, 6, 9])
def test_forward_vectors_and_their_totals(n_labels):
    """Of first order: products of moves and scores, scaled to sum 1."""
    rng, n = np.random.default_rng(0), n_labels
    scores = cache_lines((LONGEST * n + kernel.SLACK) * SIDE)
    scores[: LONGEST * n * SIDE] = rng.random(LONGEST * n * SIDE)
    forward, totals = cache_lines(len(scores)), cache_lines(LONGEST * SIDE)
    moves, here = rng.random((n, n)), shaped(scores, n)
    kernel.fill_forward(1, n, LONGEST, scores, moves.ravel(), forward, totals)
    held, found = np.ones((n, SIDE)), totals.reshape(LONGEST, SIDE)
    for t in range(LONGEST):
        held = (held if t == 0 else moves.T @ held) * here[t]
        assert np.allclose(found[t], held.sum(axis=0))
        held = held / held.sum(axis=0)
        assert np.allclose(shaped(forward, n)[t], held)


def test_logs_of_totals_are_summed_over_each_chains_own_positions():
    rng = np.random.default_rng(1)
    totals, tops = np.exp(rng.uniform(-300, 300, (LONGEST, SIDE))), rng.normal(size=(LONGEST, SIDE))
    out = np.empty(SIDE)
    wanted = [
        np.log(totals[:length, lane]).sum() + tops[:length, lane].sum()
        for lane, length in enumerate(lengths())
    ]
    kernel.sum_logs(LONGEST, lengths(), totals.ravel(), tops.ravel(), out)
    assert np.allclose(out, wanted, rtol=1e-12)


@pytest.mark.parametrize("n_labels", [2, 4, 5])
@pytest.mark.parametrize("order", [1, 2])
def test_moves_are_products_of_neighbouring_positions(order, n_labels):
    rng, n = np.random.default_rng(2), n_labels
    groups, n_states, tile = n ** (order - 1), n**order, kernel.tile_size(n)
    padded = -(-n // tile) * tile
    room = (LONGEST * n_states + kernel.SLACK) * SIDE
    forward, after = cache_lines(room), cache_lines(room)
    for numbers in (forward, after):
        numbers[: LONGEST * n_states * SIDE] = rng.random(LONGEST * n_states * SIDE)
    products = cache_lines(padded * groups * padded * SIDE)
    kernel.add_moves(order, n, LONGEST, forward, after, products)
    found = products.reshape(padded, groups, padded, SIDE)[:n, :, :n]
    before = shaped(forward, n_states)[order - 1 : -1].reshape(-1, n, groups, SIDE)
    behind = shaped(after, n_states)[order:].reshape(-1, groups, n, SIDE)
    assert np.allclose(found, np.einsum("tagl,tgcl->agcl", before, behind))
